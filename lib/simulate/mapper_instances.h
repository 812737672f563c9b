// MapperInstances: the instances that mappers find, make and name themselves, instead of describing
// them in a wish.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "groma/mapper_runtime.h"
#include "groma/wish.h"
#include "simulate/mappers.h"
#include "simulate/outcome.h"
#include "simulate/run_input.h"
#include "simulate/store.h"
#include "simulate/task_run.h"
#include "simulate/views.h"

namespace groma::sim {

class MapperInstances {
 public:
  // Refers to all arguments, so they must outlive it. `runtime` is passed to mappers that are told
  // about a collected instance. Sets store.on_removal.
  MapperInstances(const RunInput& input, Store& store, const Views& views, Mappers& mappers,
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

  // While this object lives, a task is being mapped: instances that the hooks find, make or acquire
  // stay.
  class Holding {
   public:
    explicit Holding(MapperInstances& instances) : instances_(instances) {
      instances_.holds_ = true;
    }
    ~Holding() {
      instances_.let_go();
      instances_.holds_ = false;
    }
    Holding(const Holding&) = delete;
    Holding& operator=(const Holding&) = delete;

   private:
    MapperInstances& instances_;
  };
  // Releases all instances that are held for the task being mapped.
  void let_go();
  // Checks every instance that `wish` names and holds those instances. Returns false, with a
  // refusal, if one of them cannot be used for its requirement.
  bool check_named(const TaskRun& run, const TaskView& view, const MapTaskOutput& wish);
  // Calls handle_instance_collection of each mapper that was given an instance that is gone now.
  // Must not be called within a hook.
  void tell_collected();

  // Returns an instance as mappers see it. Valid while this object lives.
  InstanceView view_of(InstanceNumber number);
  // Returns the memory for the shapes of instances, approximately.
  std::int64_t bytes() const { return shape_bytes_; }
  // Returns the number of instances that mappers' calls made, collected or gave a priority.
  std::int64_t changes() const { return changes_; }
  // Returns true if mappers asked for instances, so that answers may depend on the existing
  // instances.
  bool were_asked_for() const { return asked_; }

  // Called when a mapper has asked for an instance; nullopt: there was no room.
  std::function<void(const InstanceQuery&, std::optional<InstanceNumber>)> on_made;

 private:
  std::optional<InstanceQuery> query(const InstanceRequest& request);
  std::optional<FoundInstance> hand_out(std::optional<InstanceNumber> number, bool created);
  bool is_alive(InstanceId instance);
  void hold(InstanceNumber number);
  bool check_named(const TaskRun& run, const TaskView& view, const MapTaskOutput& wish,
                   std::uint32_t position);

  const RunInput& input_;
  Store& store_;
  const Views& views_;
  Mappers& mappers_;
  Outcome& outcome_;
  MapperRuntime& runtime_;
  bool holds_ = false;  // a task is being mapped
  bool asked_ = false;
  std::int64_t changes_ = 0;
  std::vector<InstanceNumber> held_;
  std::deque<Piece> shapes_;  // shapes of instances of several regions
  std::int64_t shape_bytes_ = 0;
  Piece shape_;  // shape of the current request
  // Processors whose mappers know the instance.
  std::unordered_map<InstanceNumber, std::vector<std::int32_t>> given_;
  // The processor to tell, and the instance.
  std::vector<std::pair<std::int32_t, InstanceNumber>> collected_;
  // Fields by region and groups.
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::vector<FieldId>> fields_;
  MapTaskOutput named_;  // a wish with named instances as if they were requested
};

}  // namespace groma::sim
