// RegionEvents: records the regions and partitions of a run, and finds the place of each Legion
// region among them.
#pragma once

#include <legion.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "legion/machine_map.h"
#include "legion/not_recorded.h"
#include "legion/task_views.h"
#include "recording/events.h"

namespace groma::legion {

// A recorded root region or a subregion of it. A subregion is described by its partition and by the
// colours that lead to it from the root, each counted from 0. A partition of -1 means the whole
// region.
struct RecordedRegionPath {
  std::uint32_t region = 0;
  std::int32_t partition = -1;
  std::vector<std::int64_t> colors;
};

// Records regions and partitions. Thread-safe. No lock is held during calls to Legion.
class RegionEvents {
 public:
  // `not_recorded` counts the subregions that are left out. It must outlive this object.
  explicit RegionEvents(NotRecorded& not_recorded) : not_recorded_(not_recorded) {}

  // Returns the place of a Legion region among the recorded regions. Adds the region and the
  // partitions above it if they are new. Returns nothing if the limits do not allow that.
  std::optional<RecordedRegionPath> place_of(Legion::Mapping::MapperRuntime* runtime,
                                             MapperContext context, Legion::LogicalRegion region);
  // Returns the number of a partition. `around` is the place of the region that it divides. Adds
  // the partition if it is new. Returns nothing if the limits do not allow that.
  std::optional<std::int32_t> partition_of(Legion::Mapping::MapperRuntime* runtime,
                                           MapperContext context,
                                           Legion::LogicalPartition partition,
                                           const RecordedRegionPath& around);
  // Returns the positions of these fields in the list of fields of the recorded region.
  std::vector<std::uint32_t> fields_of(std::uint32_t region,
                                       const std::set<Legion::FieldID>& fields) const;
  // Adds the recorded regions and partitions to `events`.
  void add_to(app::Events& events) const;

 private:
  // The key of partitions that are recorded as one, because they divide different subregions of one
  // partition alike: they have the same name and colour. The key has the root region, the enclosing
  // partition, the colour and the name.
  using AlikeKey = std::tuple<std::uint32_t, std::int32_t, Legion::Color, std::string>;

  std::optional<std::uint32_t> region_of(Legion::Mapping::MapperRuntime* runtime,
                                         MapperContext context, Legion::LogicalRegion root);
  // Appends subregions to a partition. The caller holds mutex_.
  void add_pieces(std::vector<app::Events::Piece> pieces, app::Events::Partition& to);

  NotRecorded& not_recorded_;
  mutable std::mutex mutex_;
  std::vector<app::Events::Region> regions_;
  std::vector<app::Events::Partition> partitions_;
  std::map<Legion::RegionTreeID, std::uint32_t> region_numbers_;
  // The sorted field ids of each region.
  std::map<std::uint32_t, std::vector<Legion::FieldID>> fields_;
  std::map<Legion::LogicalPartition, std::int32_t> partition_numbers_;
  std::map<AlikeKey, std::int32_t> alike_partitions_;
  // A cache of the results of place_of().
  std::map<Legion::LogicalRegion, RecordedRegionPath> places_;
  // The numbers of recorded subregions and of their boxes, over all partitions.
  std::size_t pieces_ = 0, boxes_ = 0;
};

}  // namespace groma::legion
