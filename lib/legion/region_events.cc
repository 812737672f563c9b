// Asks Legion for regions, partitions and their subregions (pieces), and numbers them for a
// recording.
#include "legion/region_events.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/boxes.h"

namespace groma::legion {
namespace {

using app::Events;
using Runtime = Legion::Mapping::MapperRuntime;

// The largest number of regions whose places are cached. Beyond it, the cache is cleared.
constexpr std::size_t kMaxCachedPlaces = 65'536;
constexpr const char* kTooManyBoxes = "holes of pieces, of which there are too many";

// Describes a root region and its fields: name, bounds, number of points, and the name and size
// (bytes) of each field. A field without a name gets one made from its id.
Events::Region describe(Runtime* runtime, MapperContext context, Legion::LogicalRegion root,
                        const std::vector<Legion::FieldID>& fields) {
  Events::Region made;
  made.name = attached_name(runtime, context, root);
  const Legion::Domain domain = runtime->get_index_space_domain(context, root.get_index_space());
  made.bounds = rect_of(domain);
  made.points = static_cast<std::int64_t>(domain.get_volume());
  const Legion::FieldSpace space = root.get_field_space();
  for (const Legion::FieldID id : fields) {
    std::string name(attached_name(runtime, context, space, id));
    if (name.empty()) name = fmt::format("field_{}", id);
    const std::size_t bytes = runtime->get_field_size(context, space, id);
    made.fields.push_back({std::move(name), static_cast<std::int64_t>(bytes)});
  }
  return made;
}

// The pieces (subregions) of a partition, and the numbers of those that were left out.
struct Pieces {
  std::vector<Events::Piece> pieces;
  // The number of pieces that are left out.
  std::int64_t too_large = 0;
  // The number of pieces whose holes are left out.
  std::int64_t too_many_boxes = 0;
};

// Reads the pieces (subregions) of a partition from Legion.
class PieceReader {
 public:
  // `path`: the colours that lead from the root region to the region that the partition divides.
  // The colour path of each piece begins with them. The last colour of the path, the piece's own,
  // is counted from `first`. At most `max_boxes` boxes are kept.
  PieceReader(Runtime* runtime, MapperContext context, std::vector<std::int64_t> path,
              const Point& first, std::size_t max_boxes)
      : runtime_(runtime),
        context_(context),
        path_(std::move(path)),
        first_(first),
        room_(max_boxes) {}

  // Returns the pieces of a partition. `colors` is the domain of their colours.
  Pieces read(Legion::IndexPartition partition, const Legion::Domain& colors) {
    Pieces all;
    if (colors.get_volume() == 0) return all;
    for_each_box(colors, [&](const Rect& box) {
      Point color = box.lower;
      do {
        add(partition, color, all);
      } while (next_point(box, &color));
    });
    return all;
  }

 private:
  // Adds the piece of one colour to `all`. Its colour path is that of the enclosing piece followed
  // by its own colour.
  void add(Legion::IndexPartition partition, const Point& color, Pieces& all) {
    const Legion::IndexSpace piece =
        runtime_->get_index_subspace(context_, partition, realm_point(color));
    const Legion::Domain domain = runtime_->get_index_space_domain(context_, piece);
    std::vector<std::int64_t> path = path_;
    for (int d = 0; d < color.dimensions(); ++d) path.push_back(color[d] - first_[d]);
    Events::Piece made{Point(path), rect_of(domain),
                       static_cast<std::int64_t>(domain.get_volume())};
    if (!app::is_within_event_limits(made.bounds)) {
      ++all.too_large;
      return;
    }
    if (made.points > 0 && made.points < made.bounds.volume() && !add_boxes(domain, made)) {
      ++all.too_many_boxes;
    }
    all.pieces.push_back(std::move(made));
  }

  // Adds the boxes of a piece with holes. If there are too many boxes, adds none and returns false.
  bool add_boxes(const Legion::Domain& domain, Events::Piece& piece) {
    for_each_box(domain, [&](const Rect& each) {
      if (piece.boxes.size() <= room_) piece.boxes.push_back(each);
    });
    if (piece.boxes.size() > room_) {
      piece.boxes.clear();
      return false;
    }
    room_ -= piece.boxes.size();
    return true;
  }

  Runtime* runtime_;
  MapperContext context_;
  std::vector<std::int64_t> path_;
  Point first_;
  // The number of boxes that can still be kept.
  std::size_t room_;
};

}  // namespace

// Returns the number of a region tree, and adds its root if the tree is new. Returns nothing if
// there are too many trees or the root is too large. Legion is called without the lock, so another
// thread may add the tree meanwhile; the second look-up finds it.
std::optional<std::uint32_t> RegionEvents::region_of(Runtime* runtime, MapperContext context,
                                                     Legion::LogicalRegion root) {
  {
    const std::lock_guard lock(mutex_);
    const auto known = region_numbers_.find(root.get_tree_id());
    if (known != region_numbers_.end()) return known->second;
    if (regions_.size() >= app::kMaxEventRegions) return std::nullopt;
  }
  std::vector<Legion::FieldID> fields;
  runtime->get_field_space_fields(context, root.get_field_space(), fields);
  std::sort(fields.begin(), fields.end());
  Events::Region made = describe(runtime, context, root, fields);
  if (!app::is_within_event_limits(made.bounds)) return std::nullopt;
  const std::lock_guard lock(mutex_);
  const auto known = region_numbers_.find(root.get_tree_id());
  if (known != region_numbers_.end()) return known->second;
  if (regions_.size() >= app::kMaxEventRegions) return std::nullopt;
  const auto number = static_cast<std::uint32_t>(regions_.size());
  fields_[number] = std::move(fields);
  regions_.push_back(std::move(made));
  return region_numbers_[root.get_tree_id()] = number;
}

// Returns the number of a partition. Reads its pieces without the lock, then checks whether another
// thread has added the partition meanwhile. If there are too many pieces, the partition is kept
// without them and the omission is counted.
std::optional<std::int32_t> RegionEvents::partition_of(Runtime* runtime, MapperContext context,
                                                       Legion::LogicalPartition partition,
                                                       const RecordedRegionPath& around_it) {
  {
    const std::lock_guard lock(mutex_);
    const auto known = partition_numbers_.find(partition);
    if (known != partition_numbers_.end()) return known->second;
  }
  const Legion::IndexPartition cut = partition.get_index_partition();
  const Legion::Domain colors = runtime->get_index_partition_color_space(context, cut);
  const Rect bounds = rect_of(colors);
  if (!app::is_within_event_limits(bounds)) return std::nullopt;
  if (around_it.colors.size() + static_cast<std::size_t>(bounds.dimensions()) > kMaxDimensions) {
    return std::nullopt;
  }
  const AlikeKey key{around_it.region, around_it.partition,
                     runtime->get_index_partition_color(context, cut),
                     std::string(attached_name(runtime, context, partition))};
  // The colour that becomes colour 0 in the recording.
  Point first = bounds.lower;
  bool has_room = false;
  std::size_t max_boxes = 0;
  {
    // If a partition with the same key is recorded already, this partition shares its colours, so
    // colours are counted from the first colour of that one.
    const std::lock_guard lock(mutex_);
    const auto known = alike_partitions_.find(key);
    if (known != alike_partitions_.end()) {
      const Rect& shared = partitions_[static_cast<std::size_t>(known->second)].colors;
      if (shared.dimensions() != bounds.dimensions()) return std::nullopt;
      first = shared.lower;
    }
    has_room = pieces_ + colors.get_volume() <= app::kMaxEventPieces;
    max_boxes = app::kMaxEventBoxes - boxes_;
  }
  Pieces made;
  if (has_room) {
    made = PieceReader(runtime, context, around_it.colors, first, max_boxes).read(cut, colors);
  }
  const std::lock_guard lock(mutex_);
  if (const auto known = partition_numbers_.find(partition); known != partition_numbers_.end()) {
    return known->second;
  }
  if (!has_room) not_recorded_.add("partitions with too many pieces to look at");
  if (made.too_large > 0) not_recorded_.add("pieces that are too large", made.too_large);
  if (made.too_many_boxes > 0) not_recorded_.add(kTooManyBoxes, made.too_many_boxes);
  // Partitions with the same key divide different pieces of one partition alike. They get one
  // number, and their pieces are collected in one list.
  const auto [found, is_new] =
      alike_partitions_.try_emplace(key, static_cast<std::int32_t>(partitions_.size()));
  const std::int32_t number = found->second;
  if (is_new && partitions_.size() >= app::kMaxEventRegions) {
    alike_partitions_.erase(found);
    return std::nullopt;
  }
  if (is_new) {
    partitions_.push_back(
        {std::get<std::string>(key), around_it.region, around_it.partition, bounds, {}});
  }
  Events::Partition& to = partitions_[static_cast<std::size_t>(number)];
  // If several partitions are recorded as one, its colours are the box around the colours of all of
  // them.
  const Rect all = box_around(to.colors, bounds);
  if (!app::is_within_event_limits(all)) return std::nullopt;
  to.colors = all;
  add_pieces(std::move(made.pieces), to);
  return partition_numbers_[partition] = number;
}

// Appends pieces to a partition. The limit on boxes holds for all partitions together.
void RegionEvents::add_pieces(std::vector<Events::Piece> pieces, Events::Partition& to) {
  pieces_ += pieces.size();
  for (Events::Piece& piece : pieces) {
    // Other threads may have added boxes since the pieces were read.
    if (piece.boxes.size() > app::kMaxEventBoxes - boxes_) {
      piece.boxes.clear();
      not_recorded_.add(kTooManyBoxes);
    }
    boxes_ += piece.boxes.size();
    to.pieces.push_back(std::move(piece));
  }
}

// Returns the place of a region: its root region, and the partition and the colours that lead to
// it. It is found by recursion: the place of a subregion is that of the region that its partition
// divides, with this partition and one more colour. The result is cached.
std::optional<RecordedRegionPath> RegionEvents::place_of(Runtime* runtime, MapperContext context,
                                                         Legion::LogicalRegion region) {
  {
    const std::lock_guard lock(mutex_);
    const auto known = places_.find(region);
    if (known != places_.end()) return known->second;
  }
  std::optional<RecordedRegionPath> place;
  if (!runtime->has_parent_logical_partition(context, region)) {
    const auto root = region_of(runtime, context, region);
    if (root) place = RecordedRegionPath{*root, -1, {}};
  } else {
    const auto partition = runtime->get_parent_logical_partition(context, region);
    place = place_of(runtime, context, runtime->get_parent_logical_region(context, partition));
    const auto number = place ? partition_of(runtime, context, partition, *place) : std::nullopt;
    if (!number) return std::nullopt;
    place->partition = *number;
    const Point color = point_of(runtime->get_logical_region_color_point(context, region));
    const std::lock_guard lock(mutex_);
    const Rect& colors = partitions_[static_cast<std::size_t>(*number)].colors;
    if (colors.dimensions() != color.dimensions()) return std::nullopt;
    for (int d = 0; d < color.dimensions(); ++d) {
      place->colors.push_back(color[d] - colors.lower[d]);
    }
  }
  if (!place) return std::nullopt;
  const std::lock_guard lock(mutex_);
  if (places_.size() >= kMaxCachedPlaces) places_.clear();
  places_[region] = *place;
  return place;
}

// Returns the positions of fields in the sorted list of the region's field ids. Fields that were
// allocated after the region was first seen are left out.
std::vector<std::uint32_t> RegionEvents::fields_of(std::uint32_t region,
                                                   const std::set<Legion::FieldID>& fields) const {
  std::vector<std::uint32_t> positions;
  const std::lock_guard lock(mutex_);
  const std::vector<Legion::FieldID>& ids = fields_.at(region);
  for (const Legion::FieldID id : fields) {
    const auto known = std::lower_bound(ids.begin(), ids.end(), id);
    if (known != ids.end() && *known == id) {
      positions.push_back(static_cast<std::uint32_t>(known - ids.begin()));
    }
  }
  return positions;
}

void RegionEvents::add_to(Events& events) const {
  const std::lock_guard lock(mutex_);
  events.regions = regions_;
  events.partitions = partitions_;
}

}  // namespace groma::legion
