// RequestedInstances: stores the requests with which the mappers of a Legion program got instances.
// Only the preload library observes these requests (preload.cc).
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

// A request of a mapper for an instance: the arguments of the call, and who made it.
struct InstanceRequestRecord {
  Legion::LayoutConstraintSet constraints;
  std::vector<Legion::LogicalRegion> regions;
  // The garbage collection priority of the instance, which Legion calls GCPriority.
  int priority = 0;
  // True if the instance must cover these regions and nothing around them (Legion:
  // tight_region_bounds).
  bool tight = false;
  // True if the request asked for a new instance, so that no existing one was acceptable (Legion:
  // create_physical_instance).
  bool wants_new_instance = false;
  // True if the program's own code made the request, false if Legion's DefaultMapper did.
  bool by_program = false;
  // False if nobody observed the request. Its contents are then derived from the instance.
  bool seen = true;
  // True if an adapter made the instance in place of the one that the program chose.
  bool made_by_adapter = false;
  // True if the program's code may have chosen the order of dimensions and fields, even if this
  // order is the one that DefaultMapper would choose.
  bool own_order = false;
  // The layout that the program's mapper demands. Its member `requirement` (the position of a
  // region requirement) is always 0 and means nothing here. A statement of the mapping may have
  // changed other parts of `constraints` since the request.
  LayoutDemand demand;
};

// Returns the layout that the program's mapper demands with its request: the order of dimensions
// and fields, the alignment and the exactness. What Legion's DefaultMapper adds by itself (SOA,
// Fortran order) is not a demand.
LayoutDemand mapper_layout_demand(const InstanceRequestRecord& asked);

// Returns true if tasks may rely on fields without gaps between them, because the program's own
// code requested several fields, or contiguous ones. `fields`: the number of fields that the task
// uses.
bool demands_no_gaps(const InstanceRequestRecord& asked, std::size_t fields);
// Tells which parts of an order no Layout statement can name. `dimensions`: the dimensions are in
// neither Fortran nor C order. `fields`: the fields stand between the dimensions.
struct UnnamedOrder {
  bool dimensions = false, fields = false;
};
// Returns the parts of the order of dimensions and fields that the program's own code requested and
// that no Layout statement can name.
UnnamedOrder demanded_unnamed_order(const InstanceRequestRecord& asked);
// Returns everything that the request demands of the layout, for a task that uses `fields` fields
// of the instance in these regions. A recording can hold only LayoutDemands, so two demands are
// expressed indirectly: fields without gaps become an upper bound of the alignment, and an order
// that no statement can name becomes two demands for both orders that have a name.
std::vector<LayoutDemand> layout_demands_of_request(
    const InstanceRequestRecord& asked, std::size_t fields,
    const std::vector<Legion::LogicalRegion>& regions);
// Returns true if the program's mapper demands any part of the layout.
bool has_layout_demand(const InstanceRequestRecord& asked);
// Returns true if the requested instance covers more than these regions.
bool covers_more_regions(const InstanceRequestRecord& asked,
                         const std::vector<Legion::LogicalRegion>& regions);

// Returns true if an instance that was made with the constraints `made` has the alignments and
// offsets of the request `asked`. Legion does not compare these when it looks for an instance.
// `as_new`: true if the layout must be that of a new instance, so that the order, the gaps between
// the fields and the stride between points are compared, too.
bool satisfies_layout(const Legion::LayoutConstraintSet& asked,
                      const Legion::LayoutConstraintSet& made, bool as_new);

// The arguments of a request for an instance, for find_or_make_suitable().
struct InstanceQuery {
  Legion::Memory memory;
  const Legion::LayoutConstraintSet& constraints;
  const std::vector<Legion::LogicalRegion>& regions;
  int priority = 0;
  bool tight = false;
  bool acquire = true;
  // False if only an existing instance is wanted.
  bool may_make = true;
};
// Replaces the instance `found`, which Legion found for the request although it lacks a part of the
// layout. Takes an existing instance for which `suits` returns true, or else makes one. Releases
// the old instance if it was acquired. If there is no instance, returns false and sets `bytes` to
// the size that a new one needs.
bool find_or_make_suitable(
    const Legion::Mapping::MapperRuntime& runtime, Legion::Mapping::MapperContext context,
    const InstanceQuery& query,
    const std::function<bool(const Legion::Mapping::PhysicalInstance&)>& suits,
    Legion::Mapping::PhysicalInstance& found, bool& made, std::size_t* bytes);

// Stores the instance requests of all mappers of one process. Thread-safe. The number of entries is
// limited: beyond the limit, each new entry evicts the oldest.
class RequestedInstances {
 public:
  using MapperContext = Legion::Mapping::MapperContext;

  // Marks a call of the hook map_task. While the object lives, requests in its mapper context are
  // noted as requests of this call. A second object for the same context begins no new call.
  // `own_order`: true if the program's code may have chosen the order of dimensions and fields
  // (InstanceRequestRecord::own_order).
  class MapTaskScope {
   public:
    MapTaskScope(RequestedInstances& instances, MapperContext context, bool own_order = false);
    ~MapTaskScope();
    MapTaskScope(const MapTaskScope&) = delete;
    MapTaskScope& operator=(const MapTaskScope&) = delete;

   private:
    RequestedInstances& instances_;
    const MapperContext context_;
    const bool is_first_;
  };

  // Stores a request for an instance. A request of the program's own code stays known when Legion's
  // DefaultMapper, or a weaker request, finds the instance later.
  void record_request(MapperContext context, const Legion::Mapping::PhysicalInstance& instance,
                      InstanceRequestRecord asked);
  // Notes that Legion's DefaultMapper took an existing instance without a request for a layout.
  void note_found(MapperContext context, const Legion::Mapping::PhysicalInstance& instance);
  // Returns the request with which the instance was made or found. If DefaultMapper found the
  // instance in this call of map_task, requests of the program's own code for another task do not
  // count as a demand. Returns null if no request for the instance was observed.
  std::shared_ptr<const InstanceRequestRecord> find(
      MapperContext context, const Legion::Mapping::PhysicalInstance& instance) const;
  // Returns true if an adapter made the instance in place of the one that the program chose.
  bool is_made_by_adapter(const Legion::Mapping::PhysicalInstance& instance) const;
  // Returns true if a MapTaskScope object with this mapper context has `own_order` set. Returns
  // false if there is no such object.
  bool may_choose_order(MapperContext context) const;
  // Returns true if any request was evicted, so that the request for an unknown instance may be
  // lost.
  bool has_evicted_requests() const;
  // Removes all stored requests. Call this before the runtime ends.
  void clear();

 private:
  // Tells who requested an instance in one call of map_task: the program's own code, or Legion's
  // DefaultMapper.
  struct InstanceRequester {
    // The layout that DefaultMapper demanded, if DefaultMapper got the instance. Empty if the
    // program's own code requested the instance.
    std::optional<LayoutDemand> by_default;
    // The regions in the latest request that the program's own code made for the instance.
    std::vector<Legion::LogicalRegion> regions = {};
  };
  struct MapTaskCallState {
    bool own_order = false;
    std::map<Legion::Mapping::PhysicalInstance, InstanceRequester> got;
  };

  mutable std::mutex mutex_;
  // The calls of map_task that are in progress, by their mapper contexts.
  std::map<MapperContext, MapTaskCallState> calls_;
  std::map<Legion::Mapping::PhysicalInstance, std::shared_ptr<const InstanceRequestRecord>> asked_;
  // The instances in asked_, in the order in which their first requests were stored.
  std::deque<Legion::Mapping::PhysicalInstance> oldest_;
  bool has_forgotten_ = false;
};

}  // namespace groma::legion
