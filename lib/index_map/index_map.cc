// Makes index maps, and implements the public interface of their cursors.
#include "groma/index_map.h"

#include <fmt/format.h>

#include <algorithm>

#include "index_map/specialised_map.h"

namespace groma {
namespace mapper {
namespace {

// The upper limit of the processor numbers that a map assigns. Each cursor assigns numbers above
// those of the map to sets that it makes itself, so that the two kinds of numbers never collide.
constexpr std::int64_t kMaxNumbers = std::int64_t{1} << 31;

}  // namespace

// Returns the first processor of the set, or the processor, that a number stands for.
Processor first_processor_of_number(const ResultShape& shape, std::int64_t number) {
  const std::int64_t within = number - shape.base;
  return {shape.kind, within / shape.stride, within % shape.stride};
}

// Returns all processors that a number stands for: one, or those of a set. The processors of a set
// are in row-major order over the dimensions in which the index of the set is `*`.
PointTarget processors_of_number(const ResultShape& shape, std::int64_t number) {
  const Processor first = first_processor_of_number(shape, number);
  if (!shape.is_set) return {{first}, false};
  PointTarget placed;
  placed.is_set = true;
  MachineView::CuttingSlice cut;
  auto index = shape.view->index_of_processor(first.node, first.index, &cut);
  GROMA_CHECK(index);
  std::int64_t count = 1;
  for (std::size_t d : shape.star_dimensions) count *= shape.view->sizes()[d];
  for (std::int64_t k = 0; k < count; ++k) {
    // The position of the processor in row-major order over the dimensions in which the index is
    // `*`.
    std::int64_t rest = k;
    for (std::size_t i = shape.star_dimensions.size(); i-- > 0;) {
      const std::int64_t size = shape.view->sizes()[shape.star_dimensions[i]];
      (*index)[shape.star_dimensions[i]] = rest % size;
      rest /= size;
    }
    const Coordinates base = shape.view->to_base_index(*index);
    placed.processors.push_back({shape.kind, base[0], base[1]});
  }
  return placed;
}

// Returns the shape (an entry of code.shapes) to which a number belongs.
const ResultShape& SpecialisedMap::shape_of(std::int64_t number) const {
  const auto after = std::upper_bound(
      code.shapes.begin(), code.shapes.end(), number,
      [](std::int64_t value, const ResultShape& shape) { return value < shape.base; });
  auto shape = after - 1;
  // A shape without numbers has the same `base` as the next shape, and no number belongs to it.
  while (shape->count == 0) --shape;
  return *shape;
}

}  // namespace mapper

// --------------------------------------------------------------------------- the public face

using mapper::kNoExpr;
using mapper::SpecialisedMap;

IndexMap::IndexMap(std::unique_ptr<const SpecialisedMap> map) : map_(std::move(map)) {}
IndexMap::~IndexMap() = default;

// Specialises the function for the launch and prepares the fast ways to evaluate it. If the
// function cannot be specialised, cursors evaluate it point by point. Fails if the machine has too
// many processors.
Result<std::shared_ptr<const IndexMap>> IndexMap::make(BoundProgram bound, FunctionId function,
                                                       const TaskPoint& launch,
                                                       std::optional<ProcKind> kind,
                                                       Diagnostics& diags) {
  GROMA_REQUIRE(bound.program().is_mapping_function(function),
                "an index map needs a mapping function of the bound program");
  auto map = std::make_unique<SpecialisedMap>(std::move(bound), function, launch, kind);
  SpecialisedMap& made = *map;
  const auto end_of = [](const std::vector<mapper::ResultShape>& shapes) {
    return shapes.back().base + shapes.back().count;
  };
  // Even if the function cannot be specialised, the map assigns a number to each processor.
  made.code.shapes = mapper::shapes_of_single_processors(made.bound.machine());
  made.numbers = end_of(made.code.shapes);
  if (made.numbers > mapper::kMaxNumbers) {
    return Error{Error::Code::kTooLarge,
                 fmt::format("`{}` has more than {} processors", made.bound.machine().name(),
                             mapper::kMaxNumbers)};
  }
  if (made.domain.volume() > 0) {
    mapper::SpecialisedFunction code =
        mapper::specialise_function(made.bound, function, made.launch, kind, diags);
    if (code.result_number != kNoExpr && end_of(code.shapes) <= mapper::kMaxNumbers) {
      made.code = std::move(code);
    }
  }
  if (made.is_specialised()) {
    const mapper::SpecialisedFunction& code = made.code;
    const int dimensions = made.dimensions();
    const mapper::ExprId roots[] = {code.result_number, code.needs_reference};
    made.kernel =
        mapper::ExpressionKernel(code.expressions, roots, dimensions, &made.bound.machine());
    made.never_fails = code.expressions.has_value(code.needs_reference, 0);
    made.has_sets = code.shapes.size() > kProcKindCount;
    made.numbers = end_of(code.shapes);
    // If the function cannot fail, its number may be a sum of parts that each depend on one
    // coordinate, which makes boxes_of() fast.
    if (made.never_fails) {
      made.separated_number =
          mapper::split_number_by_coordinate(made.code.expressions, code.result_number);
      if (code.node != kNoExpr) {
        made.separated_node = mapper::split_number_by_coordinate(made.code.expressions, code.node);
      }
    }
    if (made.never_fails && dimensions > 0) {
      made.period = made.kernel.period_of_root(0, dimensions - 1);
      made.row_parts = mapper::fast_and_slow_parts_of(made.code.expressions, code.result_number,
                                                      dimensions, &made.bound.machine());
      if (!made.has_sets)
        made.form = mapper::PointFormula::make(code.expressions, code.result_number, made.domain);
    }
  }
  return std::shared_ptr<const IndexMap>(std::make_shared<IndexMap>(std::move(map)));
}

const Rect& IndexMap::domain() const { return map_->domain; }
bool IndexMap::specialised() const { return map_->is_specialised(); }
bool IndexMap::proved() const { return map_->never_fails; }

Processor IndexMap::processor(ProcessorNumber number) const {
  GROMA_REQUIRE(number < map_->numbers, "the number must be a processor number of this index map");
  return mapper::first_processor_of_number(map_->shape_of(number), number);
}

ProcessorNumber IndexMap::number(const Processor& processor) const {
  const mapper::ResultShape& shape = map_->code.shapes[static_cast<std::size_t>(processor.kind)];
  return static_cast<ProcessorNumber>(shape.base + processor.node * shape.stride + processor.index);
}

using Cursor = IndexMap::Cursor;

// Makes a cursor. Single points of a map with a point form need no MapCursor, so the MapCursor is
// made only when it is needed.
Cursor::Cursor(std::shared_ptr<const IndexMap> map, bool warns, std::function<bool()> stop)
    : map_(std::move(map)), warns_(warns), stop_(std::move(stop)) {
  if (!map_->map().form) return;
  form_ = &*map_->map().form;
  evaluate_ = form_->evaluation_method();
}
Cursor::~Cursor() = default;
Cursor::Cursor(Cursor&&) noexcept = default;
Cursor& Cursor::operator=(Cursor&&) noexcept = default;

mapper::MapCursor& Cursor::cursor() {
  if (cursor_ == nullptr) cursor_ = std::make_unique<mapper::MapCursor>(map_, warns_, stop_);
  return *cursor_;
}

// Returns the cursor's MapCursor, ready for a new query.
mapper::MapCursor& Cursor::question() {
  cursor().begin_query();
  return *cursor_;
}

bool Cursor::stopped() const { return cursor_ != nullptr && cursor_->stopped(); }

std::int64_t Cursor::steps() const { return cursor_ == nullptr ? 0 : cursor_->steps_so_far(); }

// Returns the number at a point for a map that has no point form.
ProcessorNumber Cursor::formless_point(const Point& point, Diagnostics& diags) {
  return question().place_point(point, diags);
}

bool Cursor::row(const Point& first, std::span<ProcessorNumber> out, Diagnostics& diags) {
  return question().place_row(first, out, diags);
}

bool Cursor::box(const Rect& box, std::span<ProcessorNumber> out, Diagnostics& diags) {
  return question().place_box(box, out, diags);
}

bool Cursor::slices(const Rect& box, const SliceSink& sink, Diagnostics& diags) {
  return question().cut_slices(box, sink, diags);
}

bool Cursor::slices(const SliceSink& sink, Diagnostics& diags) {
  return question().cut_slices(map_->domain(), sink, diags);
}

bool Cursor::boxes_of(std::span<const Processor> processors, const BoxSink& sink,
                      Diagnostics& diags) {
  return question().boxes_of(processors, sink, diags);
}

bool Cursor::boxes_of_node(std::int64_t node, const BoxSink& sink, Diagnostics& diags) {
  return question().boxes_of_node(node, sink, diags);
}

// Returns true if the number stands for a set of processors. Numbers that are not those of the map
// come only from the reference evaluation, in a MapCursor that exists.
bool Cursor::is_set(ProcessorNumber number) const {
  const mapper::SpecialisedMap& map = map_->map();
  return number >= map.numbers || (map.has_sets && map.shape_of(number).is_set);
}

// Returns the processor of a number, or the first processor of a set.
Processor Cursor::processor(ProcessorNumber number) const {
  const bool own = number >= map_->map().numbers;
  return own ? cursor_->own_processors_of(number).processors.front() : map_->processor(number);
}

const PointTarget& Cursor::placed(ProcessorNumber number) { return cursor().processors_of(number); }

}  // namespace groma
