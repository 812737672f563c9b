// SpecialisedMap and MapCursor: what an IndexMap and its cursors are made of.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "groma/index_map.h"
#include "mapper/kernel.h"
#include "mapper/point_form.h"
#include "mapper/specialise.h"

namespace groma::mapper {

// A number's processors; the first of them.
Processor first_in(const Shape& shape, std::int64_t number);
Placed placed_in(const Shape& shape, std::int64_t number);

// A sum of parts of which each depends on one coordinate.
struct Separated {
  struct Part {
    int dimension;
    ExprId expression;
  };
  std::int64_t constant = 0;
  std::vector<Part> parts;
};
// Nothing where `id` is no such sum. Makes the expressions of the parts.
std::optional<Separated> separate(Expressions& expressions, ExprId id);

// A number whose terms along a row change at very different paces: blocks over nodes and cycles in
// each. One part repeats at once, the other one has long stretches.
struct RowParts {
  Kernel fast, slow;        // one root each
  std::int64_t period = 0;  // of the fast part, without a drift
};
// Nothing where the number is none. Makes the expressions of the parts.
std::optional<RowParts> row_parts_of(Expressions& expressions, ExprId id, int dimensions,
                                     const Machine* machine);

struct SpecialisedMap {
  BoundProgram bound;
  FunctionId function;
  std::string name, parent_name;
  TaskPoint launch;  // its texts are the two above
  std::optional<ProcKind> kind;

  Specialised code;  // code.id == kNoExpr: not specialised
  bool proved = false;
  bool has_sets = false;
  Kernel kernel;                  // roots: the number, unsure
  std::optional<PointForm> form;  // of the number, where it is all there is to a point
  std::optional<RowParts> row_parts;
  std::optional<Separated> numbers_apart, nodes_apart;
  Period period;             // of the number along the last dimension; 0 where that is of no use
  std::int64_t numbers = 0;  // those above it are a cursor's own

  SpecialisedMap(BoundProgram program, FunctionId id, const TaskPoint& of,
                 std::optional<ProcKind> on)
      : bound(std::move(program)),
        function(id),
        name(of.name),
        parent_name(of.parent_name),
        launch(of),
        kind(on) {
    launch.name = name;
    launch.parent_name = parent_name;
  }
  SpecialisedMap(const SpecialisedMap&) = delete;

  bool specialised() const { return code.id != kNoExpr; }
  int dimensions() const { return launch.domain.dimensions(); }
  const Shape& shape_of(std::int64_t number) const;
};

// Whether no part has more stretches than that: they are what boxes_of looks at.
bool few_stretches(const SpecialisedMap& map, const Separated& apart, std::int64_t most);

// What boxes_of looks at: in each dimension, where its part of a number has which value.
struct PartRuns;

// A box in coordinates from the launch's lower corner: where each dimension begins, and the first
// coordinate behind it.
struct Cell {
  std::array<std::int64_t, kMaxDimensions> begin{}, end{};
};

// Numbers of processors that somebody asks for, as ranges in rising order.
class NumberSet {
 public:
  struct Range {
    std::int64_t first, last;
  };
  explicit NumberSet(std::vector<Range> ranges);  // in any order; they may overlap

  bool contains(std::int64_t number) const;
  // Calls use(from, to) for the longest parts of 0 .. length - 1 in which every i has the number
  // `number + i * slope` in the set, from the first on; `slope` is not 0.
  template <typename Use>
  void for_hits(std::int64_t number, std::int64_t slope, std::int64_t length, const Use& use) const;

 private:
  static Range hits(const Range& range, std::int64_t number, std::int64_t slope,
                    std::int64_t length);

  std::vector<Range> ranges_;  // no two touch
};

class MapCursor {
 public:
  MapCursor(std::shared_ptr<const IndexMap> map, bool warns, std::function<bool()> stop);

  // Before each of the questions below.
  void begin_question();
  // Of the reference, and of keeping and finding its sets.
  std::int64_t steps() const;
  bool stopped() const { return stopped_; }

  ProcessorNumber point(const Point& point, Diagnostics& diags);
  bool row(const Point& first, std::span<ProcessorNumber> out, Diagnostics& diags);
  bool box(const Rect& box, std::span<ProcessorNumber> out, Diagnostics& diags);
  bool slices(const Rect& box, const SliceSink& sink, Diagnostics& diags);
  bool boxes_of_node(std::int64_t node, const BoxSink& sink, Diagnostics& diags);
  bool boxes_of(std::span<const Processor> processors, const BoxSink& sink, Diagnostics& diags);
  const Placed& placed(ProcessorNumber number);
  // Of a number that only the reference told.
  const Placed& own(ProcessorNumber number) const {
    return own_[static_cast<std::size_t>(number - map_.numbers)];
  }

 private:
  // Boxes of one number, packed since a launch may have one for each point: of each the number,
  // then where it begins and ends in every dimension from one on.
  class CellList {
   public:
    void begin(std::size_t dimensions) { stride_ = 1 + 2 * dimensions, used_ = 0; }
    void clear() { used_ = 0; }
    std::size_t stride() const { return stride_; }
    std::size_t size() const { return used_ / stride_; }
    const std::int64_t* cell(std::size_t i) const { return values_.data() + i * stride_; }
    std::int64_t* cell(std::size_t i) { return values_.data() + i * stride_; }
    // Room for one more, to be written.
    std::int64_t* add() {
      if (values_.size() - used_ < stride_) values_.resize(2 * values_.size() + stride_);
      used_ += stride_;
      return values_.data() + used_ - stride_;
    }

   private:
    std::size_t stride_ = 1, used_ = 0;
    std::vector<std::int64_t> values_;
  };
  // Of the cut in one dimension, see slices.cc. `open`: in the dimensions from this one on, those
  // that the next step may go on with. `fresh`: in the dimensions behind this one, of the step at
  // hand.
  struct Level {
    CellList open, joined, fresh, sorted;
    std::int64_t begin = 0, end = 0;  // of the step at hand
  };
  // Points of a row that follow each other and have one number.
  struct RowRun {
    std::int64_t begin, end;
    ProcessorNumber number;
  };

  Cell relative(const Rect& box) const;
  std::int64_t& coordinate(int d) { return registers_.value[static_cast<std::size_t>(d)]; }

  // The reference's answer where the coordinates stand; kNoProcessor where it fails.
  ProcessorNumber ask(Diagnostics& diags);
  bool stops(Diagnostics& diags);
  ProcessorNumber number_of(Placed placed);
  Processor first(ProcessorNumber number) const;
  void warn_of_nodes(ProcessorNumber number, Diagnostics& diags);

  bool fill(const Cell& box, int d, ProcessorNumber* out, Diagnostics& diags);
  bool fill_row(std::int64_t begin, std::int64_t end, ProcessorNumber* out, Diagnostics& diags);
  void fill_parts(std::int64_t begin, std::int64_t end, ProcessorNumber* out);
  bool fill_stretches(std::int64_t begin, std::int64_t end, ProcessorNumber* out,
                      Diagnostics& diags);
  bool stand_at(const Point& point);
  void warn_of_sets(std::span<const ProcessorNumber> numbers, Diagnostics& diags);

  bool find_boxes(const NumberSet& wanted, const BoxSink& sink, Diagnostics& diags);
  bool cut_all(const Cell& box, const SliceSink& sink, Diagnostics& diags);
  bool cut(const Cell& box, int d, Diagnostics& diags);
  bool cut_row(const Cell& box, Diagnostics& diags);
  bool cut_stretches(std::int64_t begin, std::int64_t end, Diagnostics& diags);
  void repeat_runs(std::int64_t begin, std::int64_t end);
  void sort_fresh(Level& level);
  void join(int d);
  void put(int d, const std::int64_t* cell);
  std::int64_t* add_fresh(int d);
  void extend(std::int64_t from, std::int64_t to, ProcessorNumber number);
  void end_run();
  void emit(int d, const std::int64_t* cell);

  std::shared_ptr<const IndexMap> owner_;
  const SpecialisedMap& map_;
  Registers registers_, fast_, slow_;
  std::unique_ptr<FunctionEvaluator> evaluator_;  // made when it is first needed
  // Before the question that is under way, and the points at which the reference told for it.
  std::int64_t steps_before_ = 0, asked_ = 0;
  TaskPoint task_;
  const bool warns_;
  const std::function<bool()> stop_;
  std::int64_t stop_asked_at_ = 0;  // in steps
  bool stopped_ = false;
  std::vector<Placed> own_;   // numbers from map_.numbers: sets that only the reference tells
  std::size_t own_size_ = 0;  // processors in them
  std::int64_t own_steps_ = 0;
  // The others that were asked for, and how many processors these have.
  std::unordered_map<ProcessorNumber, Placed> made_;
  std::size_t made_size_ = 0;

  std::shared_ptr<const PartRuns> number_runs_, node_runs_;

  // Of the cut that is under way.
  std::array<Level, kMaxDimensions> levels_;
  RowRun run_{};          // the last one of the row so far
  bool running_ = false;  // there is a run
  bool keeps_runs_ = false;
  std::vector<RowRun> kept_runs_;      // of the row so far, where they are kept
  const NumberSet* wanted_ = nullptr;  // null: all numbers
  Rect box_;                           // that is given
  const SliceSink* sink_ = nullptr;
  Diagnostics* diags_ = nullptr;
};

}  // namespace groma::mapper
