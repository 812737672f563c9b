// AskedInstances: stores the requests with which the mappers of a Legion program had instances made
// or found. Only the preload library observes these requests (preload.cc).
#pragma once

#include <legion.h>

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "groma/kinds.h"

namespace groma::legion {

// A mapper's request for an instance.
struct AskedInstance {
  Legion::LayoutConstraintSet constraints;
  std::vector<Legion::LogicalRegion> regions;
  int priority = 0;  // Legion calls this priority GCPriority.
  // The instance covers these regions and nothing around them (Legion: tight_region_bounds).
  bool tight = false;
  bool fresh = false;  // No existing instance is acceptable (Legion: create_physical_instance).
  bool by_program = false;  // The program's own code made the request, not Legion's DefaultMapper.
  bool seen = true;         // False: nobody observed the request.
  // An adapter made the instance in place of the one that the program chose.
  bool by_groma = false;
  // The program's code may have chosen the order, even if it is the one that DefaultMapper would
  // choose.
  bool own_order = false;
  // The layout that the program's mapper demands. Its `requirement` is always 0. A statement may
  // have changed other parts of `constraints` since the request.
  LayoutDemand demand;
};

// Returns what the program's mapper demands: the order of dimensions and fields, the alignment and
// the exactness in its request. What Legion's DefaultMapper adds by itself (SOA, Fortran order) is
// not a demand.
LayoutDemand demand_of_mapper(const AskedInstance& asked);

// Returns true if the tasks may rely on fields without gaps between them: the program's own code
// asked for several fields, or for contiguous ones. `fields`: number of fields that the task uses.
bool demands_no_gaps(const AskedInstance& asked, std::size_t fields);
// An order that no Layout statement can name. `dimensions`: the dimensions are in neither Fortran
// nor C order. `fields`: the fields stand between the dimensions.
struct UnnamedOrder {
  bool dimensions = false, fields = false;
};
// Returns the parts of the order that the program's own code asked for and that no Layout statement
// can name.
UnnamedOrder demanded_unnamed_order(const AskedInstance& asked);
// Returns everything that the request demands for a task that uses `fields` fields of the instance
// in these regions. A recording can hold only LayoutDemands, so two demands are expressed
// indirectly: fields without gaps become an upper bound of the alignment, and an order that no
// statement can name becomes two demands for both orders that have a name.
std::vector<LayoutDemand> demands_of(const AskedInstance& asked, std::size_t fields,
                                     const std::vector<Legion::LogicalRegion>& regions);
// Returns true if the program's mapper demands any part of the layout.
bool has_demand(const AskedInstance& asked);
// Returns true if the request is for an instance that covers more than these regions.
bool asks_for_more(const AskedInstance& asked, const std::vector<Legion::LogicalRegion>& regions);

// Returns true if an instance that was made with the constraints `made` has the alignments and
// offsets of the request `asked`. Legion does not compare these when it looks for an instance.
// `as_new`: the layout has to be the same as that of a new instance, so the order, the gaps between
// the fields and the stride between points are compared, too.
bool has_layout_of(const Legion::LayoutConstraintSet& asked,
                   const Legion::LayoutConstraintSet& made, bool as_new);

// The arguments of a request for an instance, for take_another().
struct InstanceQuery {
  Legion::Memory memory;
  const Legion::LayoutConstraintSet& constraints;
  const std::vector<Legion::LogicalRegion>& regions;
  int priority = 0;
  bool tight = false;
  bool acquire = true;
  bool may_make = true;  // False: only an existing instance is wanted.
};
// Replaces the instance `found`, which Legion found for the request although it lacks a part of the
// layout. Takes an existing instance for which `suits` returns true, or else makes one. Releases
// the old instance if it was acquired. Returns false if there is no instance; `bytes` is then the
// size that a new one needs.
bool take_another(const Legion::Mapping::MapperRuntime& runtime,
                  Legion::Mapping::MapperContext context, const InstanceQuery& query,
                  const std::function<bool(const Legion::Mapping::PhysicalInstance&)>& suits,
                  Legion::Mapping::PhysicalInstance& found, bool& made, std::size_t* bytes);

// The requests of all mappers of one process. Thread-safe. The number of entries is limited: beyond
// the limit, each new entry evicts the oldest.
class AskedInstances {
 public:
  using MapperContext = Legion::Mapping::MapperContext;

  // Marks a call of `map_task`. While the object lives, requests of its context are kept apart from
  // other requests. A second object for the same context does nothing. `own_order`: see
  // AskedInstance.
  class Call {
   public:
    Call(AskedInstances& instances, MapperContext context, bool own_order = false);
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
  // Returns true if an adapter made the instance in place of the program's choice.
  bool is_by_groma(const Legion::Mapping::PhysicalInstance& instance) const;
  // Returns the `own_order` of the call in progress.
  bool has_own_order(MapperContext context) const;
  // Returns true if the request for an unknown instance may have been evicted.
  bool has_forgotten() const;
  // Removes all instances. Call this before the runtime ends.
  void clear();

 private:
  // The way in which one call of map_task got an instance.
  struct Got {
    // DefaultMapper's demand. None: the program's own code asked.
    std::optional<LayoutDemand> by_default;
    // The regions of the latest request of the program's own code.
    std::vector<Legion::LogicalRegion> regions = {};
  };
  struct CallState {
    bool own_order = false;
    std::map<Legion::Mapping::PhysicalInstance, Got> got;
  };

  mutable std::mutex mutex_;
  std::map<MapperContext, CallState> calls_;  // The calls of map_task that are in progress.
  std::map<Legion::Mapping::PhysicalInstance, std::shared_ptr<const AskedInstance>> asked_;
  std::deque<Legion::Mapping::PhysicalInstance> oldest_;  // The keys of asked_, oldest first.
  bool has_forgotten_ = false;
};

}  // namespace groma::legion
