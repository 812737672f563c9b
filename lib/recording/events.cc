// Reads and writes app::Events as text. Each function `visit` lists the parts of a type in order. A
// Writer writes these parts and a Reader reads them, so both directions share one description. A
// check of the consistency follows the reading.
#include "recording/events.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <span>

#include "base/archive.h"
#include "base/boxes.h"
#include "groma/app.h"

namespace groma::app {
namespace {

constexpr std::string_view kMagic = "groma events 4\n";

using archive::Number;

// Writes numbers and strings. The class stands in this namespace so that argument-dependent lookup
// finds the functions `visit`.
struct Writer : archive::ArchiveWriter {
  using archive::ArchiveWriter::ArchiveWriter;
  void coordinate(const std::int64_t& value) { (*this)(value); }
};

// Reads events. Fails if a number is beyond kMostEventNumber, so that sums of a few numbers fit 64
// bits.
class Reader : public archive::ArchiveReader {
 public:
  using archive::ArchiveReader::ArchiveReader;
  using archive::ArchiveReader::operator();

  // Reads a number and checks that it is within the limit. The number kNoNumber is allowed here;
  // coordinate() refuses it.
  template <Number T>
  void operator()(T& value) {
    archive::ArchiveReader::operator()(value);
    const auto read = static_cast<std::int64_t>(value);
    if (read != kNoNumber && (read > kMostEventNumber || read < -kMostEventNumber)) {
      too_large_ = true;
      fail();
    }
  }
  void coordinate(std::int64_t& value) {
    (*this)(value);
    if (value == kNoNumber) fail();
  }

  // Returns true if a number exceeded the limit, so that the caller can tell this error from
  // damage.
  bool too_large() const { return too_large_; }

 private:
  bool too_large_ = false;
};

template <typename Archive, Number T>
void visit(Archive& archive, T& value) {
  archive(value);
}
template <typename Archive>
void visit(Archive& archive, std::string& value) {
  archive(value);
}
template <typename Archive>
void visit(Archive& archive, Point& point);
template <typename Archive>
void visit(Archive& archive, Rect& rect);
template <typename Archive>
void visit(Archive& archive, LayoutDemand& demand);
template <typename Archive>
void visit(Archive& archive, FoldedElement& repeat);

// Defines `visit` for a type of Events. The arguments are its members, in the order of the text.
#define GROMA_VISIT(Type, ...)                                               \
  template <typename Archive>                                                \
  void visit(Archive& archive, Events::Type& of) {                           \
    const auto each = [&](auto&... parts) { (visit(archive, parts), ...); }; \
    each(__VA_ARGS__);                                                       \
  }

template <typename Archive, typename T>
void visit(Archive& archive, std::vector<T>& items) {
  archive::transfer_list(archive, items, [&](T& item) { visit(archive, item); });
}
// Writes or reads an optional value. A missing value is written as -1.
template <typename Archive, typename T>
void visit(Archive& archive, std::optional<T>& value) {
  std::int64_t coded = value ? static_cast<std::int64_t>(*value) : -1;
  archive(coded);
  if (coded >= 0) value = static_cast<T>(coded);
}
// Writes or reads the number of dimensions and then the coordinates.
template <typename Archive>
void visit(Archive& archive, Point& point) {
  int dimensions = point.dimensions();
  archive(dimensions);
  archive.check_at_most(dimensions, kMaxDimensions);
  if (dimensions < 0 || dimensions > kMaxDimensions) return;
  Point made = Point::zeros(dimensions);
  for (int d = 0; d < dimensions; ++d) {
    made[d] = d < point.dimensions() ? point[d] : 0;
    archive.coordinate(made[d]);
  }
  point = made;
}
template <typename Archive>
void visit(Archive& archive, Rect& rect) {
  visit(archive, rect.lower);
  visit(archive, rect.extents);
}
// A new member of LayoutDemand needs a line here and a new number in kMagic.
template <typename Archive>
void visit(Archive& archive, LayoutDemand& demand) {
  archive(demand.requirement);
  archive(demand.source);
  visit(archive, demand.dimensions);
  visit(archive, demand.fields);
  visit(archive, demand.memory);
  archive(demand.exact);
  archive(demand.not_exact);
  archive(demand.align_op);
  archive(demand.align_bytes);
}
template <typename Archive>
void visit(Archive& archive, FoldedElement& repeat) {
  archive(repeat.symbol);
  archive(repeat.count);
  visit(archive, repeat.body);
}

GROMA_VISIT(Variant, of.kind, of.leaf, of.inner, of.replicable, of.demands, of.chosen_by_mapper)
GROMA_VISIT(Task, of.name, of.variants)
GROMA_VISIT(Field, of.name, of.bytes)
GROMA_VISIT(Region, of.name, of.bounds, of.points, of.fields)
GROMA_VISIT(Piece, of.color, of.bounds, of.points, of.boxes)
GROMA_VISIT(Partition, of.name, of.region, of.outer, of.colors, of.pieces)
GROMA_VISIT(Requirement, of.color_rule, of.region, of.partition, of.privilege, of.coherence,
            of.fields)
GROMA_VISIT(LaunchShape, of.task, of.dimensions, of.requirements)
GROMA_VISIT(Launch, of.shape, of.sparse_domain, of.numbers)
GROMA_VISIT(TaskRunGroup, of.task, of.shape, of.run_arguments, of.count, of.launches)
GROMA_VISIT(TaskTime, of.task, of.kind, of.count, of.nanoseconds)
GROMA_VISIT(Cost, of.count, of.nanoseconds)
GROMA_VISIT(CountedOperations, of.what, of.count)
#undef GROMA_VISIT

template <typename Archive>
void visit(Archive& archive, Events& events) {
  visit(archive, events.runtime);
  visit(archive, events.top_level);
  visit(archive, events.tasks);
  visit(archive, events.regions);
  visit(archive, events.partitions);
  visit(archive, events.shapes);
  visit(archive, events.sparse_domains);
  visit(archive, events.launches);
  visit(archive, events.contexts);
  visit(archive, events.times);
  visit(archive, events.issue);
  visit(archive, events.map);
  visit(archive, events.undescribed_operations);
}

// ---- Consistency checks of what was read

template <typename Items>
bool among(std::uint64_t number, const Items& items) {
  return number < items.size();
}

// Each good() returns true if a part of the events is consistent: numbers refer to something, and
// lists have the required lengths.
bool good(const Rect& rect) { return rect.dimensions() > 0 && is_within_event_limits(rect); }

// Every enumerator of a variant and of its demands must exist.
bool good(const Events::Variant& variant) {
  bool fine = static_cast<std::size_t>(variant.kind) < kProcKindCount;
  for (const LayoutDemand& demand : variant.demands) {
    fine = fine && demand.align_op <= AlignOp::kGe && demand.source <= DemandSource::kMapper &&
           (!demand.dimensions || *demand.dimensions <= DimensionOrder::kC) &&
           (!demand.fields || *demand.fields <= FieldOrder::kAos) &&
           (!demand.memory || *demand.memory < MemKind::kVirtual);
  }
  return fine;
}

// A partition must come after the partition whose pieces it cuts, and both must cut the same
// region.
bool good(const Events& events, const Events::Partition& partition, std::size_t number) {
  if (!among(partition.region, events.regions) || !good(partition.colors)) return false;
  if (partition.outer >= static_cast<std::int64_t>(number) || partition.outer < -1) return false;
  if (partition.outer >= 0 &&
      events.partitions[static_cast<std::size_t>(partition.outer)].region != partition.region) {
    return false;
  }
  const int colors = events.color_dimensions(partition);
  if (colors > kMaxDimensions || partition.pieces.size() > kMaxEventPieces) return false;
  const int dimensions = events.regions[partition.region].bounds.dimensions();
  for (const Events::Piece& piece : partition.pieces) {
    if (piece.color.dimensions() != colors || !good(piece.bounds) ||
        piece.bounds.dimensions() != dimensions) {
      return false;
    }
    for (const Rect& box : piece.boxes) {
      if (!good(box) || box.dimensions() != dimensions) return false;
    }
  }
  return true;
}

// The fields and the partition of a requirement must belong to its region.
bool good(const Events& events, const Events::Requirement& requirement) {
  if (!among(requirement.region, events.regions)) return false;
  for (const std::uint32_t field : requirement.fields) {
    if (!among(field, events.regions[requirement.region].fields)) return false;
  }
  if (requirement.color_rule > Events::ColorRule::kMapped ||
      static_cast<std::size_t>(requirement.privilege) >= kPrivilegeCount ||
      requirement.coherence > Coherence::kRelaxed) {
    return false;
  }
  if (requirement.color_rule == Events::ColorRule::kWhole) return requirement.partition == -1;
  if (requirement.partition < 0) return false;
  const auto number = static_cast<std::size_t>(requirement.partition);
  return among(number, events.partitions) && events.partitions[number].region == requirement.region;
}

// The smallest box around the points of a sparse domain, and their number.
struct SparseExtent {
  Rect box;
  std::int64_t points = 0;
};

// Returns the extent of a sparse domain. Returns nullopt if its boxes overlap or are empty, or if
// the box around them is too large for a condition.
std::optional<SparseExtent> extent_of(const std::vector<Rect>& boxes) {
  if (boxes.empty()) return std::nullopt;
  SparseExtent made{boxes.front()};
  for (const Rect& box : boxes) {
    if (!good(box) || box.volume() == 0 || box.dimensions() != made.box.dimensions()) {
      return std::nullopt;
    }
    made.box = box_around(made.box, box);
    if (!is_within_event_limits(made.box)) return std::nullopt;
    made.points += box.volume();
    if (made.points > kMaxConditionPoints) return std::nullopt;
  }
  if (made.box.volume() > kMaxConditionPoints || !PointSet::from_boxes(boxes)) return std::nullopt;
  return made;
}

// Returns the extents of all sparse domains, or nullopt if one is not consistent or they have too
// many points together.
std::optional<std::vector<SparseExtent>> extents_of_sparse_domains(const Events& events) {
  std::vector<SparseExtent> all;
  std::int64_t points = 0;
  for (const std::vector<Rect>& boxes : events.sparse_domains) {
    const auto each = extent_of(boxes);
    if (!each || (points += each->box.volume()) > kMaxSparsePoints) return std::nullopt;
    all.push_back(*each);
  }
  return all;
}

// A launch must have exactly as many numbers as its shape and its domain need. `due` counts them.
bool good(const Events& events, const std::vector<SparseExtent>& sparse,
          const Events::Launch& launch) {
  if (!among(launch.shape, events.shapes)) return false;
  const Events::LaunchShape& shape = events.shapes[launch.shape];
  const std::size_t dimensions = shape.dimensions;
  if (dimensions > kMaxDimensions || launch.numbers.size() < 2 * dimensions) return false;
  const std::span numbers(launch.numbers);
  const auto domain =
      Rect::make(Point(numbers.first(dimensions)), Point(numbers.subspan(dimensions, dimensions)));
  if (!domain || domain->volume() > kMaxEventPoints) return false;
  std::int64_t points = domain->volume();
  if (launch.sparse_domain != -1) {
    if (launch.sparse_domain < 0 ||
        !among(static_cast<std::size_t>(launch.sparse_domain), sparse)) {
      return false;
    }
    const SparseExtent& of = sparse[static_cast<std::size_t>(launch.sparse_domain)];
    if (of.box.lower != domain->lower || of.box.extents != domain->extents) return false;
    points = of.points;
  }
  std::size_t due = 2 * dimensions;
  for (const Events::Requirement& requirement : shape.requirements) {
    if (requirement.color_rule == Events::ColorRule::kWhole) continue;
    const std::size_t colors = events.color_dimensions(requirement);
    if (requirement.color_rule == Events::ColorRule::kFixed) {
      due += colors;
    } else if (requirement.color_rule == Events::ColorRule::kPoint) {
      if (dimensions == 0 || colors < dimensions) return false;
      due += colors - dimensions;
    } else {
      if (dimensions == 0) return false;
      due += colors * static_cast<std::size_t>(points);
    }
    if (due > launch.numbers.size()) return false;
  }
  return due == launch.numbers.size();
}

// Each loop must be repeated at least once, and each symbol must be the number of an existing
// launch.
bool good(const Events& events, const std::vector<FoldedElement>& folded) {
  for (const FoldedElement& each : folded) {
    if (each.count == 0 || !among(each.symbol, events.launches)) return false;
    if (!good(events, each.body)) return false;
  }
  return true;
}

// Checks all lists of the events. A context is checked after the shapes and partitions to which it
// refers.
bool good(const Events& events) {
  if (!among(events.top_level, events.tasks)) return false;
  bool fine = true;
  std::int64_t runs = 0;
  for (const Events::Task& task : events.tasks) {
    for (const Events::Variant& variant : task.variants) fine = fine && good(variant);
  }
  for (const Events::Region& region : events.regions) fine = fine && good(region.bounds);
  for (std::size_t i = 0; i < events.partitions.size() && fine; ++i) {
    fine = good(events, events.partitions[i], i);
  }
  for (std::size_t i = 0; i < events.shapes.size() && fine; ++i) {
    fine = among(events.shapes[i].task, events.tasks);
    for (const auto& each : events.shapes[i].requirements) fine = fine && good(events, each);
  }
  const auto sparse = extents_of_sparse_domains(events);
  fine = fine && sparse;
  for (std::size_t i = 0; i < events.launches.size() && fine; ++i) {
    fine = good(events, *sparse, events.launches[i]);
  }
  for (std::size_t i = 0; i < events.contexts.size() && fine; ++i) {
    const Events::TaskRunGroup& context = events.contexts[i];
    fine = among(context.task, events.tasks) && good(events, context.launches) &&
           context.shape >= -1 &&
           (context.shape == -1 || among(static_cast<std::size_t>(context.shape), events.shapes));
    if (!fine) break;
    const std::vector<std::size_t> layout = events.argument_part_lengths(context);
    fine = context.count > 0 && !__builtin_add_overflow(runs, context.count, &runs) &&
           std::accumulate(layout.begin(), layout.end(), std::size_t{0}) ==
               context.run_arguments.size();
  }
  for (const Events::TaskTime& time : events.times) {
    fine = fine && among(time.task, events.tasks) &&
           static_cast<std::size_t>(time.kind) < kProcKindCount;
  }
  return fine;
}

}  // namespace

// Returns true if the coordinates, the extents and the volume of the box are within the limit of a
// recording.
bool is_within_event_limits(const Rect& rect) {
  const auto small = [](std::int64_t n) { return n >= -kMostEventNumber && n <= kMostEventNumber; };
  const auto lower = rect.lower.coordinates(), extents = rect.extents.coordinates();
  return std::all_of(lower.begin(), lower.end(), small) &&
         std::all_of(extents.begin(), extents.end(), small) &&
         Rect::make(rect.lower, rect.extents).has_value() && rect.volume() <= kMostEventNumber;
}

LaunchDomain Events::domain_of(const Launch& launch) const {
  const std::size_t dimensions = shapes[launch.shape].dimensions;
  const std::span numbers(launch.numbers);
  const Rect box{Point(numbers.first(dimensions)), Point(numbers.subspan(dimensions, dimensions))};
  if (launch.sparse_domain < 0) return LaunchDomain(box);
  return {
      box,
      PointSet::from_boxes(sparse_domains[static_cast<std::size_t>(launch.sparse_domain)]).value()};
}

// Returns the number of dimensions of a partition's colours, which is the sum over the partition
// and its outer partitions.
int Events::color_dimensions(const Partition& partition) const {
  int dimensions = partition.colors.dimensions();
  for (std::int32_t outer = partition.outer; outer >= 0;) {
    const Partition& of = partitions[static_cast<std::size_t>(outer)];
    dimensions += of.colors.dimensions();
    outer = of.outer;
  }
  return dimensions;
}

std::size_t Events::color_dimensions(const Requirement& requirement) const {
  if (requirement.color_rule == ColorRule::kWhole) return 0;
  return static_cast<std::size_t>(
      color_dimensions(partitions[static_cast<std::size_t>(requirement.partition)]));
}

// With kFixed, the launch's numbers hold all coordinates of a colour. With kPoint, the launch's
// point gives the last coordinates of the colour, so the numbers hold only the coordinates before
// them.
std::size_t Events::count_given_color_coordinates(const Requirement& requirement,
                                                  std::size_t dimensions) const {
  if (requirement.color_rule != ColorRule::kFixed && requirement.color_rule != ColorRule::kPoint)
    return 0;
  const std::size_t colors = color_dimensions(requirement);
  return requirement.color_rule == ColorRule::kFixed ? colors : colors - dimensions;
}

// Returns the lengths of the parts of TaskRunGroup::run_arguments: the dimensions of the point,
// then those of the colour of each requirement. The list is empty if the runtime started the runs.
std::vector<std::size_t> Events::argument_part_lengths(const TaskRunGroup& context) const {
  if (context.shape < 0) return {};
  const LaunchShape& shape = shapes[static_cast<std::size_t>(context.shape)];
  std::vector<std::size_t> layout = {shape.dimensions};
  for (const Requirement& each : shape.requirements) layout.push_back(color_dimensions(each));
  return layout;
}

std::string text_of(const Events& events) {
  Writer writer(kMagic);
  // A Writer only reads the events, so they stay as they are.
  visit(writer, const_cast<Events&>(events));
  return writer.take();
}

// Reads the events of a run, checks that they are consistent, and checks the limits on their
// counts. The nesting of values is limited, because visit() calls itself for each level.
Result<Events> parse_events(std::string_view text) {
  Events events;
  Reader reader(text, kMagic, 2 * kMaxRepeatDepth);
  visit(reader, events);
  if (reader.too_large()) {
    return Error{Error::Code::kTooLarge,
                 fmt::format("what was recorded has numbers beyond {}", kMostEventNumber)};
  }
  if (!reader.ok() || !reader.is_at_end() || !good(events)) {
    return Error{Error::Code::kMalformed, "what was recorded is damaged"};
  }
  if (events.tasks.size() > kMaxEventTasks || events.shapes.size() > kMaxEventShapes ||
      events.regions.size() > kMaxEventRegions || events.partitions.size() > kMaxEventRegions) {
    return Error{Error::Code::kTooLarge, "too many tasks, regions or kinds of launches"};
  }
  std::size_t boxes = 0;
  for (const Events::Partition& partition : events.partitions) {
    for (const Events::Piece& piece : partition.pieces) boxes += piece.boxes.size();
  }
  if (boxes > kMaxEventBoxes) {
    return Error{Error::Code::kTooLarge, "too many boxes of pieces were recorded"};
  }
  std::uint64_t launches = 0;
  for (const Events::TaskRunGroup& context : events.contexts) {
    launches += unfolded_size(context.launches, kMaxEventLaunches);
    if (launches > kMaxEventLaunches) {
      return Error{Error::Code::kTooLarge, "too many launches were recorded"};
    }
  }
  return events;
}

}  // namespace groma::app
