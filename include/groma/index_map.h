// IndexMap: a mapping function specialised to a machine and a launch. It gives the same results and
// errors as a FunctionEvaluator at every point. It computes whole rows and boxes of points at once.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "groma/evaluate.h"

namespace groma {

namespace mapper {
struct SpecialisedMap;
class MapCursor;
class PointFormula;
}  // namespace mapper

// A number that stands for a processor of the bound machine or for a set of processors.
// IndexMap::processor and Cursor::placed give the processors. Equal numbers mean equal processors
// (or sets). The processors of one node have consecutive numbers.
using ProcessorNumber = std::uint32_t;
inline constexpr ProcessorNumber kNoProcessor = 0xFFFFFFFF;

// Limit on the steps of the reference evaluator, and on the bookkeeping for sets, that a cursor
// takes for one question: about ten seconds and 100 MB, the same as for one `groma place`. A
// question that needs more ends with `step-limit`.
inline constexpr std::int64_t kMaxQuestionSteps = 200'000'000;

// A callback that receives a box of launch points that all go to one processor. `box` has the
// launch's coordinates.
using SliceSink = std::function<void(const Rect& box, ProcessorNumber processor)>;
using BoxSink = std::function<void(const Rect& box)>;

// A mapping function that is specialised to one launch. Immutable, and safe to use from any thread
// if each thread has its own Cursor. Making one takes some microseconds, however large the launch
// is. `decompose` and `auto_split` in the function add their own time.
class IndexMap {
 public:
  // Specialises `function`, which must be a mapping function.
  // * For a launch: the domain of the map is `launch.domain`. `launch.point` is ignored, and texts
  //   are copied.
  // * For a launch with `launch.points`: the points of the map are the ranks of the launch's
  // points,
  //   so its domain has one dimension. Only functions that read `irank` or `ivolume` need such a
  //   map (Program::reads_rank); other functions are specialised quicker without `launch.points`.
  // * For a single task: `launch.processor` and `launch.parent` describe the task.
  // `kind` is as in FunctionEvaluator::place. `diags` gets warnings about the machine. Fails with
  // kTooLarge on a machine with more than 2^31 processors.
  static Result<std::shared_ptr<const IndexMap>> make(BoundProgram bound, FunctionId function,
                                                      const TaskPoint& launch,
                                                      std::optional<ProcKind> kind,
                                                      Diagnostics& diags);
  ~IndexMap();

  // Returns the domain of the map.
  const Rect& domain() const;
  // Returns true if the function was specialised. If it was not, each point is evaluated
  // separately. Reasons are that it takes too many steps, splits by a value that depends on the
  // point, or fails at every point.
  bool specialised() const;
  // Returns true if no point of the launch needs the reference evaluator, so that nothing can fail.
  bool proved() const;
  // Returns the processor with this number, or the first one of a set. The number must come from
  // this map. If the map is not proved, the number must not stand for a set; Cursor::processor
  // takes every number.
  Processor processor(ProcessorNumber number) const;
  // Returns the number of a single processor of the bound machine.
  ProcessorNumber number(const Processor& processor) const;

  // Evaluates an IndexMap for one thread; each call asks a question about points. A cursor keeps
  // its buffers, so that a question allocates for a point only if the reference evaluator is
  // needed. A question ends at the first point at which the function fails. `diags` then has the
  // error that a FunctionEvaluator gives there, and the results before it remain valid. A question
  // also ends at the point at which it has taken more than kMaxQuestionSteps steps or `stop`
  // returns true.
  class Cursor {
   public:
    // If `warns` is true, `diags` gets the warning about sets on several nodes. `stop` (may be
    // null) is asked every few milliseconds of reference evaluation. Once `stop` returns true,
    // every point that needs the reference evaluator fails with `step-limit`.
    explicit Cursor(std::shared_ptr<const IndexMap> map, bool warns = true,
                    std::function<bool()> stop = {});
    ~Cursor();
    Cursor(Cursor&&) noexcept;
    Cursor& operator=(Cursor&&) noexcept;

    // Returns the number of the point's processor, or kNoProcessor if the function fails. Here and
    // below, all points must lie in the launch's domain.
    ProcessorNumber point(const Point& point, Diagnostics& diags) {
      if (evaluate_ == nullptr) return formless_point(point, diags);
      return static_cast<ProcessorNumber>(evaluate_(*form_, point));
    }
    // Evaluates out.size() points: `first` and those that follow it in the last dimension.
    bool row(const Point& first, std::span<ProcessorNumber> out, Diagnostics& diags);
    // Evaluates all points of `box` in row-major order. `out` has one element for each point.
    bool box(const Rect& box, std::span<ProcessorNumber> out, Diagnostics& diags);

    // Cuts `box` into boxes that each go to one processor, in no particular order. There are at
    // most as many boxes as there are runs of equal processors in all rows of `box`. A block map
    // gives one box for each processor's block. The memory need grows with the part of `box` at one
    // coordinate of the first dimension, not with the launch. One point of each run is visited.
    bool slices(const Rect& box, const SliceSink& sink, Diagnostics& diags);
    bool slices(const SliceSink& sink, Diagnostics& diags);

    // Finds the boxes of the launch that go to one of these processors, or to any processor of a
    // node. `processors` must not contain duplicates. A set counts for its first processor. Boxes
    // do not overlap; one box may hold points of several of the processors. A processor or node
    // that does not exist has no boxes.
    // If the map is proved and every dimension decides separately, points of other processors are
    // not visited. Otherwise the launch is searched row by row. Gives no warning about sets.
    bool boxes_of(std::span<const Processor> processors, const BoxSink& sink, Diagnostics& diags);
    bool boxes_of(const Processor& processor, const BoxSink& sink, Diagnostics& diags) {
      return boxes_of(std::span(&processor, 1), sink, diags);
    }
    bool boxes_of_node(std::int64_t node, const BoxSink& sink, Diagnostics& diags);

    // Returns the processors for a number that this cursor gave. The reference is valid until the
    // next question.
    const PointTarget& placed(ProcessorNumber number);
    // Returns the processor for a number, or the first one of a set.
    Processor processor(ProcessorNumber number) const;
    // Returns true if the number stands for a set of processors.
    bool is_set(ProcessorNumber number) const;

    // Returns the steps of all questions so far. They are the steps that kMaxQuestionSteps limits.
    std::int64_t steps() const;
    // Returns true if `stop` has returned true.
    bool stopped() const;

   private:
    ProcessorNumber formless_point(const Point& point, Diagnostics& diags);

    mapper::MapCursor& cursor();
    // Returns cursor(), prepared for the next question.
    mapper::MapCursor& question();

    std::shared_ptr<const IndexMap> map_;
    bool warns_;
    std::function<bool()> stop_;
    // The implementation of the cursor, which is made when it is first needed.
    std::unique_ptr<mapper::MapCursor> cursor_;
    // The form of the map that is quick to evaluate at one point; null if the map has none.
    const mapper::PointFormula* form_ = nullptr;
    std::int64_t (*evaluate_)(const mapper::PointFormula& form, const Point& point) = nullptr;
  };

  // Returns the implementation, which lib/index_map/specialised_map.h defines.
  const mapper::SpecialisedMap& map() const { return *map_; }
  explicit IndexMap(std::unique_ptr<const mapper::SpecialisedMap> map);

 private:
  std::unique_ptr<const mapper::SpecialisedMap> map_;
};

}  // namespace groma
