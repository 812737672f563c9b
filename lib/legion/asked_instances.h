// AskedInstances: what the mappers of a Legion program asked for when they had instances made. Only
// the preload library sees these calls (preload.cc).
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

// The arguments with which an instance was asked for.
struct AskedInstance {
  Legion::LayoutConstraintSet constraints;
  std::vector<Legion::LogicalRegion> regions;
  int priority = 0;         // Legion: GCPriority
  bool tight = false;       // tight_region_bounds: covers these regions and nothing around them
  bool fresh = false;       // create_physical_instance: no other instance would have done
  bool by_program = false;  // the program's own code asked, not Legion's DefaultMapper
  bool seen = true;         // false: nobody saw who asked, and how
  bool by_groma = false;    // an adapter had it made in place of the program's choice
  // What the program's mapper demands of the layout, of requirement 0. A statement may have changed
  // the rest of `constraints` since.
  LayoutDemand demand;
};

// What the program's mapper demands: the order of dimensions and fields, the alignment and the
// exactness that it asked for. What Legion's DefaultMapper fills in by itself (SOA, Fortran order)
// is not a demand.
LayoutDemand demand_of_mapper(const AskedInstance& asked);

// One for a process. Thread-safe. When it holds too many, it forgets the oldest for each new one.
class AskedInstances {
 public:
  using MapperContext = Legion::Mapping::MapperContext;

  // A call of `map_task`. While it lives, what its context asks for is told apart from what others
  // asked for. A second one of the same context does nothing.
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

  // What the program's own code asked for stays known when Legion's DefaultMapper, or a request
  // that asks for less, finds the instance.
  void note(MapperContext context, const Legion::Mapping::PhysicalInstance& instance,
            AskedInstance asked);
  // Legion's DefaultMapper took an instance that was there, without asking for any layout.
  void note_found(MapperContext context, const Legion::Mapping::PhysicalInstance& instance);
  // What was asked for when the instance was made or found. Where DefaultMapper found it in this
  // call, what the program's own code asked for another task is no demand. Null for an instance
  // that nobody was seen to ask for.
  std::shared_ptr<const AskedInstance> find(
      MapperContext context, const Legion::Mapping::PhysicalInstance& instance) const;
  // Whether an instance of which nothing is known may have been forgotten.
  bool has_forgotten() const;
  // Lets go of all instances, which must not outlive the runtime.
  void clear();

 private:
  // Of the instances that one call asked for or found, what DefaultMapper demands of them. None:
  // the program's own code asked.
  using Found = std::map<Legion::Mapping::PhysicalInstance, std::optional<LayoutDemand>>;

  mutable std::mutex mutex_;
  std::map<MapperContext, Found> calls_;  // that are under way
  std::map<Legion::Mapping::PhysicalInstance, std::shared_ptr<const AskedInstance>> asked_;
  std::deque<Legion::Mapping::PhysicalInstance> oldest_;  // the keys, the oldest first
  bool has_forgotten_ = false;
};

}  // namespace groma::legion
