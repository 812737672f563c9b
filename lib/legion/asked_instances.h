// AskedInstances: stores what the mappers of a Legion program requested when they had instances
// made. Only the preload library observes these calls (preload.cc).
#pragma once

#include <legion.h>

#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "groma/kinds.h"

namespace groma::legion {

// The arguments of a request for an instance.
struct AskedInstance {
  Legion::LayoutConstraintSet constraints;
  std::vector<Legion::LogicalRegion> regions;
  int priority = 0;         // Legion: GCPriority
  bool tight = false;       // tight_region_bounds: covers these regions and nothing around them
  bool fresh = false;       // create_physical_instance: an existing instance is not acceptable
  bool by_program = false;  // the program's own code asked, not Legion's DefaultMapper
  bool seen = true;         // false: nobody observed who asked for it and how
  bool by_groma = false;    // an adapter made it in place of the program's choice
  // What the program's mapper demands of the layout of requirement 0. A statement may have changed
  // the rest of `constraints` since.
  LayoutDemand demand;
};

// Returns what the program's mapper demands: the order of dimensions and fields, the alignment and
// the exactness in its request. What Legion's DefaultMapper adds by itself (SOA, Fortran order) is
// not a demand.
LayoutDemand demand_of_mapper(const AskedInstance& asked);

// One object for a process. Thread-safe. A limit bounds the number of entries: beyond it, each new
// entry evicts the oldest.
class AskedInstances {
 public:
  using MapperContext = Legion::Mapping::MapperContext;

  // Marks a call of `map_task`. While the object lives, requests of its context are kept apart from
  // other requests. A second object for the same context does nothing.
  class Call {
   public:
    Call(AskedInstances& instances, MapperContext context);
    ~Call();
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;

   private:
    AskedInstances& instances_;
    const MapperContext context_;
    const bool is_first_;
  };

  // Stores a request. A request of the program's own code stays known when Legion's DefaultMapper,
  // or a weaker request, finds the instance later.
  void note(MapperContext context, const Legion::Mapping::PhysicalInstance& instance,
            AskedInstance asked);
  // Notes that Legion's DefaultMapper took an existing instance without a request for a layout.
  void note_found(MapperContext context, const Legion::Mapping::PhysicalInstance& instance);
  // Returns the request with which the instance was made or found. If DefaultMapper found it in
  // this call, requests of the program's own code for another task do not count as a demand.
  // Returns null if no request for the instance was observed.
  std::shared_ptr<const AskedInstance> find(
      MapperContext context, const Legion::Mapping::PhysicalInstance& instance) const;
  // Returns true if the request for an unknown instance may have been evicted.
  bool has_forgotten() const;
  // Removes all instances. Call this before the runtime ends.
  void clear();

 private:
  // Instances that one call requested or found, with DefaultMapper's demand for each. No demand:
  // the program's own code asked.
  using Found = std::map<Legion::Mapping::PhysicalInstance, std::optional<LayoutDemand>>;

  mutable std::mutex mutex_;
  std::map<MapperContext, Found> calls_;  // calls in progress
  std::map<Legion::Mapping::PhysicalInstance, std::shared_ptr<const AskedInstance>> asked_;
  std::deque<Legion::Mapping::PhysicalInstance> oldest_;  // the keys of asked_, oldest first
  bool has_forgotten_ = false;
};

}  // namespace groma::legion
