// SpecialisedMap and MapCursor: the implementation of IndexMap and its cursors.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "groma/index_map.h"
#include "index_map/kernel.h"
#include "index_map/point_formula.h"
#include "index_map/specialise.h"

namespace groma::mapper {

// Return the first processor, and all processors, that a number of this shape stands for.
Processor first_processor_of_number(const ResultShape& shape, std::int64_t number);
PointTarget processors_of_number(const ResultShape& shape, std::int64_t number);

// A processor number as the sum of a constant and of parts that each depend on one coordinate.
struct SeparatedNumber {
  struct CoordinatePart {
    int dimension;
    ExprId expression;
  };
  std::int64_t constant = 0;
  std::vector<CoordinatePart> parts;
};
// Returns the number `id` as a sum of parts that each depend on one coordinate, or nullopt if it
// has no such form. Creates the expressions of the parts.
std::optional<SeparatedNumber> split_number_by_coordinate(ExpressionGraph& expressions, ExprId id);

// A number whose terms change at very different rates along a row, such as blocks over nodes and
// cycles within each node. The fast part soon repeats, and the slow part has long runs.
struct FastAndSlowParts {
  // The kernels that compute the two parts of a number. Each has one root.
  ExpressionKernel fast, slow;
  // The period after which the fast part repeats exactly.
  std::int64_t period = 0;
};
// Returns the fast and the slow part of a number, or nullopt if it has no such form. Creates the
// expressions of the parts.
std::optional<FastAndSlowParts> fast_and_slow_parts_of(ExpressionGraph& expressions, ExprId id,
                                                       int dimensions, const Machine* machine);

// A mapping function specialised to a launch, with everything that cursors read.
struct SpecialisedMap {
  BoundProgram bound;
  FunctionId function;
  std::string name, parent_name;
  // The launch to which the function is specialised. The texts to which it refers are `name` and
  // `parent_name`.
  TaskPoint launch;
  // The set to which launch.points refers.
  std::optional<PointSet> points;
  // The domain of the map: launch.domain, or the ranks of `points`.
  Rect domain;
  std::optional<ProcKind> kind;

  // The specialised function. If code.result_number is kNoExpr, the function could not be
  // specialised.
  SpecialisedFunction code;
  // True if it is proved that the function fails at no point of the launch.
  bool never_fails = false;
  // True if some results are sets of processors instead of single ones.
  bool has_sets = false;
  // The kernel that computes the number of the result and the condition code.needs_reference.
  ExpressionKernel kernel;
  // The form that is quick to evaluate at one point. If it is empty, the kernel evaluates points.
  std::optional<PointFormula> form;
  std::optional<FastAndSlowParts> row_parts;
  std::optional<SeparatedNumber> separated_number, separated_node;
  // The period of the processor number along the last dimension. The period is 0 if none is known
  // or useful.
  ValuePeriod period;
  // The map itself assigns the processor numbers below this one. Each cursor assigns higher numbers
  // to sets that only the reference evaluator gives.
  std::int64_t numbers = 0;

  SpecialisedMap(BoundProgram program, FunctionId id, const TaskPoint& of,
                 std::optional<ProcKind> on)
      : bound(std::move(program)),
        function(id),
        name(of.name),
        parent_name(of.parent_name),
        launch(of),
        domain(of.domain),
        kind(on) {
    launch.name = name;
    launch.parent_name = parent_name;
    if (of.points == nullptr) return;
    points = *of.points;
    launch.points = &*points;
    domain = Rect{Point{0}, Point{points->count()}};
  }
  SpecialisedMap(const SpecialisedMap&) = delete;

  bool is_specialised() const { return code.result_number != kNoExpr; }
  int dimensions() const { return domain.dimensions(); }
  const ResultShape& shape_of(std::int64_t number) const;
};

// Returns true if each part of the number has at most `most` runs of coordinates for which it is
// constant. boxes_of() visits these runs.
bool has_few_runs(const SpecialisedMap& map, const SeparatedNumber& apart, std::int64_t most);

// The table that boxes_of() visits: for each dimension, the runs of coordinates that add the same
// value to a processor number.
struct RunsByDimension;

// A box in coordinates relative to the launch's lower corner. In each dimension it goes from
// `begin` to before `end`.
struct RelativeBox {
  std::array<std::int64_t, kMaxDimensions> begin{}, end{};
};

// A set of processor numbers, as ranges in rising order.
class ProcessorNumberSet {
 public:
  struct NumberRange {
    std::int64_t first, last;
  };
  // The ranges may come in any order and may overlap.
  explicit ProcessorNumberSet(std::vector<NumberRange> ranges);

  bool contains(std::int64_t number) const;
  // Calls use(from, to) for each maximal part of 0 .. length - 1 in which `number + i * slope` is
  // in the set for every i, in rising order. `slope` is not 0.
  template <typename Use>
  void for_each_range_in_set(std::int64_t number, std::int64_t slope, std::int64_t length,
                             const Use& use) const;

 private:
  static NumberRange indices_in_range(const NumberRange& range, std::int64_t number,
                                      std::int64_t slope, std::int64_t length);

  // The ranges in rising order. No two ranges touch each other.
  std::vector<NumberRange> ranges_;
};

// The implementation of IndexMap::Cursor, whose comments describe the queries.
class MapCursor {
 public:
  MapCursor(std::shared_ptr<const IndexMap> map, bool warns, std::function<bool()> stop);

  // Must be called before each query, such as place_point() or boxes_of().
  void begin_query();
  // Returns the number of steps that the reference evaluator and the bookkeeping for processor sets
  // have taken so far.
  std::int64_t steps_so_far() const;
  bool stopped() const { return stopped_; }

  ProcessorNumber place_point(const Point& point, Diagnostics& diags);
  bool place_row(const Point& first, std::span<ProcessorNumber> out, Diagnostics& diags);
  bool place_box(const Rect& box, std::span<ProcessorNumber> out, Diagnostics& diags);
  bool cut_slices(const Rect& box, const SliceSink& sink, Diagnostics& diags);
  bool boxes_of_node(std::int64_t node, const BoxSink& sink, Diagnostics& diags);
  bool boxes_of(std::span<const Processor> processors, const BoxSink& sink, Diagnostics& diags);
  const PointTarget& processors_of(ProcessorNumber number);
  // Returns the processors of a number that this cursor assigned because only the reference
  // evaluator gave them.
  const PointTarget& own_processors_of(ProcessorNumber number) const {
    return own_[static_cast<std::size_t>(number - map_.numbers)];
  }

 private:
  // A list of boxes, each with the number of its processor. A launch may have one box for each
  // point, so the boxes are packed: the number, followed by begin and end in each dimension that
  // the list covers.
  class BoxList {
   public:
    void begin_list(std::size_t dimensions) { stride_ = 1 + 2 * dimensions, used_ = 0; }
    void clear() { used_ = 0; }
    std::size_t stride() const { return stride_; }
    std::size_t size() const { return used_ / stride_; }
    const std::int64_t* box_at(std::size_t i) const { return values_.data() + i * stride_; }
    std::int64_t* box_at(std::size_t i) { return values_.data() + i * stride_; }
    // Returns the memory for the numbers of one more box, which the caller writes.
    std::int64_t* add_box() {
      if (values_.size() - used_ < stride_) values_.resize(2 * values_.size() + stride_);
      used_ += stride_;
      return values_.data() + used_ - stride_;
    }

   private:
    std::size_t stride_ = 1, used_ = 0;
    std::vector<std::int64_t> values_;
  };
  // The state in one dimension while a launch is cut into boxes (slices.cc). The dimension is cut
  // into ranges of coordinates, one after another. `fresh` has the boxes of the current range, with
  // the later dimensions only. `open` has boxes, with this and the later dimensions, that the next
  // range may extend.
  struct DimensionCutState {
    BoxList open, joined, fresh, sorted;
    // The range of coordinates of this dimension that is being cut: from `begin` to before `end`.
    std::int64_t begin = 0, end = 0;
  };
  // A run of consecutive points of a row that have the same processor number.
  struct RowRun {
    std::int64_t begin, end;
    ProcessorNumber number;
  };

  RelativeBox relative_to_launch(const Rect& box) const;
  std::int64_t& current_coordinate(int d) { return registers_.value[static_cast<std::size_t>(d)]; }

  // Returns the reference evaluator's answer at the current coordinates, or kNoProcessor if the
  // function fails.
  ProcessorNumber ask_reference_evaluator(Diagnostics& diags);
  bool check_stop(Diagnostics& diags);
  ProcessorNumber number_of_processors(PointTarget placed);
  Processor first_processor(ProcessorNumber number) const;
  void warn_of_several_nodes(ProcessorNumber number, Diagnostics& diags);

  bool fill_box(const RelativeBox& box, int d, ProcessorNumber* out, Diagnostics& diags);
  bool fill_row(std::int64_t begin, std::int64_t end, ProcessorNumber* out, Diagnostics& diags);
  void fill_row_by_fast_and_slow_part(std::int64_t begin, std::int64_t end, ProcessorNumber* out);
  bool fill_row_by_runs(std::int64_t begin, std::int64_t end, ProcessorNumber* out,
                        Diagnostics& diags);
  bool move_to_point(const Point& point);
  void warn_of_sets_on_several_nodes(std::span<const ProcessorNumber> numbers, Diagnostics& diags);

  bool find_boxes(const ProcessorNumberSet& wanted, const BoxSink& sink, Diagnostics& diags);
  bool cut_box(const RelativeBox& box, const SliceSink& sink, Diagnostics& diags);
  bool cut_dimension(const RelativeBox& box, int d, Diagnostics& diags);
  bool cut_row_by_processor(const RelativeBox& box, Diagnostics& diags);
  bool cut_runs(std::int64_t begin, std::int64_t end, Diagnostics& diags);
  void repeat_runs_of_first_period(std::int64_t begin, std::int64_t end);
  void sort_fresh_boxes(DimensionCutState& level);
  void join_fresh_boxes_with_open(int d);
  void finish_box(int d, const std::int64_t* packed_box);
  std::int64_t* add_fresh_box(int d);
  void append_points_to_run(std::int64_t from, std::int64_t to, ProcessorNumber number);
  void end_run();
  void give_box_to_caller(int d, const std::int64_t* packed_box);

  std::shared_ptr<const IndexMap> owner_;
  const SpecialisedMap& map_;
  KernelRegisters registers_, fast_, slow_;
  // The reference evaluator, which is made at its first use.
  std::unique_ptr<FunctionEvaluator> evaluator_;
  // `steps_before_` is the number of evaluation steps before the current query. `asked_` is the
  // number of points that the current query gave to the reference evaluator.
  std::int64_t steps_before_ = 0, asked_ = 0;
  TaskPoint task_;
  const bool warns_;
  const std::function<bool()> stop_;
  // The number of evaluation steps when `stop_` was called last.
  std::int64_t stop_asked_at_ = 0;
  bool stopped_ = false;
  // Sets that only the reference evaluator gives. Their numbers begin at map_.numbers.
  std::vector<PointTarget> own_;
  // The number of processors in the sets of own_.
  std::size_t own_size_ = 0;
  std::int64_t own_steps_ = 0;
  // `cached_sets_` is a cache of the processors for which numbers of the map stand.
  // `cached_processor_count_` is the number of processors in the cache.
  std::unordered_map<ProcessorNumber, PointTarget> cached_sets_;
  std::size_t cached_processor_count_ = 0;

  std::shared_ptr<const RunsByDimension> number_runs_, node_runs_;

  // The state of the current cutting of a box into smaller boxes, for each dimension.
  std::array<DimensionCutState, kMaxDimensions> levels_;
  // The last run of points with one number that was found in the current row.
  RowRun run_{};
  // True if `run_` is valid.
  bool running_ = false;
  bool keeps_runs_ = false;
  // The runs of the first period of the row, kept only if the row repeats them.
  std::vector<RowRun> kept_runs_;
  // The processor numbers whose boxes the current query wants. Null: all numbers.
  const ProcessorNumberSet* wanted_ = nullptr;
  // The box that is given to the caller next.
  Rect box_;
  const SliceSink* sink_ = nullptr;
  Diagnostics* diags_ = nullptr;
};

}  // namespace groma::mapper
