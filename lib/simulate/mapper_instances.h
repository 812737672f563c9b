// MapperInstances: the instances that mappers find, make and name themselves, instead of describing
// them in a choice.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "groma/mapper_output.h"
#include "groma/mapper_runtime.h"
#include "simulate/mappers.h"
#include "simulate/outcome.h"
#include "simulate/run_input.h"
#include "simulate/store.h"
#include "simulate/task_run.h"
#include "simulate/views.h"

namespace groma::sim {

class MapperInstances {
 public:
  // The object keeps references to all arguments, so they must outlive it. `runtime` is passed to
  // mappers that are told about a collected instance. The constructor sets store.on_removal.
  MapperInstances(const RunInput& input, InstanceStore& store, const Views& views, Mappers& mappers,
                  Outcome& outcome, MapperRuntime& runtime);
  MapperInstances(const MapperInstances&) = delete;
  MapperInstances& operator=(const MapperInstances&) = delete;

  // ---- The calls of MapperRuntime with the same names
  std::optional<FoundInstance> find_instance(const InstanceRequest& request);
  std::optional<FoundInstance> create_instance(const InstanceRequest& request);
  bool acquire_instance(InstanceId instance);
  void release_instance(InstanceId instance);
  bool collect_instance(InstanceId instance);
  void set_collect_priority(InstanceId instance, CollectPriority priority);
  std::int64_t free_bytes(const Memory& memory);

  // An object of this class exists while one task is mapped. Until its end, the store does not
  // evict the instances that hooks find, make or acquire.
  class MappingScope {
   public:
    explicit MappingScope(MapperInstances& instances) : instances_(instances) {
      instances_.holds_ = true;
    }
    ~MappingScope() {
      instances_.release_held_instances();
      instances_.holds_ = false;
    }
    MappingScope(const MappingScope&) = delete;
    MappingScope& operator=(const MappingScope&) = delete;

   private:
    MapperInstances& instances_;
  };
  // Releases all instances that are held for the task being mapped.
  void release_held_instances();
  // Checks every instance that `choice` names, and holds those instances. Returns false, with a
  // refusal, if one of them cannot be used for its requirement.
  bool check_named(const TaskRun& run, const TaskView& view, const MapTaskOutput& choice);
  // Calls handle_instance_collection of each mapper that was given an instance that is gone now.
  // Must not be called within a hook.
  void report_collected_instances();

  // Returns an instance as mappers see it. The view is valid while the MapperInstances object
  // lives.
  InstanceView view_of(InstanceNumber number);
  // Returns the approximate memory of the shapes of instances of several regions, in bytes.
  std::int64_t bytes() const { return shape_bytes_; }
  // Returns the number of calls in which mappers tried to make or collect an instance, or set its
  // priority.
  std::int64_t changes() const { return changes_; }
  // Returns true if mappers have asked about instances or free memory, so that their answers may
  // depend on the existing instances.
  bool mappers_saw_instances() const { return asked_; }

  // Called when a mapper has tried to make an instance. nullopt: there was no room.
  std::function<void(const InstanceQuery&, std::optional<InstanceNumber>)> on_made;

 private:
  std::optional<InstanceQuery> query(const InstanceRequest& request);
  std::optional<FoundInstance> give_to_mapper(std::optional<InstanceNumber> number, bool created);
  bool is_alive(InstanceId instance);
  void hold(InstanceNumber number);
  bool check_named(const TaskRun& run, const TaskView& view, const MapTaskOutput& choice,
                   std::uint32_t position);

  const RunInput& input_;
  InstanceStore& store_;
  const Views& views_;
  Mappers& mappers_;
  Outcome& outcome_;
  MapperRuntime& runtime_;
  // True while a task is being mapped. Instances that hooks find, make or acquire are then held.
  bool holds_ = false;
  bool asked_ = false;
  std::int64_t changes_ = 0;
  std::vector<InstanceNumber> held_;
  // The shapes of instances that cover several regions.
  std::deque<Piece> shapes_;
  std::int64_t shape_bytes_ = 0;
  // The shape of the request that is being answered, if it covers several regions.
  Piece shape_;
  // For each instance: the processors whose mappers were given it.
  std::unordered_map<InstanceNumber, std::vector<std::int32_t>> given_;
  // Removed instances about which mappers must be told, each with the processor of the mapper.
  std::vector<std::pair<std::int32_t, InstanceNumber>> collected_;
  // The fields that the views of instances list, by region and mask of field groups.
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::vector<FieldId>> fields_;
  // A copy of the mapper's answer in which each instance that is named by its number is replaced by
  // a request that describes this instance.
  MapTaskOutput named_;
};

}  // namespace groma::sim
