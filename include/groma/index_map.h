// IndexMap: a mapping function specialised to a machine and a launch. It gives what an
// FunctionEvaluator gives, point by point and error by error, for whole rows and boxes of points at
// once.
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
class PointForm;
}  // namespace mapper

// A processor of the bound machine as a number, or a set of them: IndexMap::processor and
// Cursor::placed tell which. Equal numbers are equal processors (or sets); the processors of a node
// have numbers in a row.
using ProcessorNumber = std::uint32_t;
inline constexpr ProcessorNumber kNoProcessor = 0xFFFFFFFF;

// Steps of the reference that a cursor takes for one question, and of keeping the sets that it
// told: some ten seconds and 100 MB, as one `groma place`. A question that needs more ends with
// `step-limit`.
inline constexpr std::int64_t kMaxQuestionSteps = 200'000'000;

// Part of a launch that goes to one processor; `box` in the launch's coordinates.
using SliceSink = std::function<void(const Rect& box, ProcessorNumber processor)>;
using BoxSink = std::function<void(const Rect& box)>;

// Immutable; safe to use from any thread, each with a Cursor of its own. Takes some microseconds to
// make, however large the launch; where the function splits the machine by `decompose` or
// `auto_split`, also the time of those.
class IndexMap {
 public:
  // `function`, which must be a mapping function, for the launch `launch.domain` (`launch.point` is
  // not read, texts are copied), or for the single task of which `launch.processor` and `parent`
  // are. `kind`: as FunctionEvaluator::place. `diags` gets warnings about the machine. Fails
  // (kTooLarge) on a machine of more than 2^31 processors.
  static Result<std::shared_ptr<const IndexMap>> make(BoundProgram bound, FunctionId function,
                                                      const TaskPoint& launch,
                                                      std::optional<ProcKind> kind,
                                                      Diagnostics& diags);
  ~IndexMap();

  const Rect& domain() const;
  // Whether the function was specialised. Where it was not (it takes too many steps, splits by what
  // depends on the point, fails at every point, ...) each point is evaluated as it stands.
  bool specialised() const;
  // Whether no point of the launch needs a look at the reference: nothing can fail.
  bool proved() const;
  // The processor of that number, of a set the first. The number must be one that this map gave; of
  // a map that is not proved, one of no set: Cursor::processor knows all.
  Processor processor(ProcessorNumber number) const;
  // The number of a single processor of the bound machine.
  ProcessorNumber number(const Processor& processor) const;

  // What one thread asks with. It keeps what it needs, so that no question allocates for a point
  // but where the reference is asked.
  // A point at which the function fails ends the question: `diags` then has the error that an
  // FunctionEvaluator gives there, and what was given before it stands. So does the point at which
  // the question has taken more than kMaxQuestionSteps, or `stop` says true.
  class Cursor {
   public:
    // `warns`: whether `diags` are to get the warning about sets on several nodes. `stop`: asked
    // every few milliseconds that the reference takes; once it says true, every point that needs
    // the reference fails with `step-limit`. Null: never.
    explicit Cursor(std::shared_ptr<const IndexMap> map, bool warns = true,
                    std::function<bool()> stop = {});
    ~Cursor();
    Cursor(Cursor&&) noexcept;
    Cursor& operator=(Cursor&&) noexcept;

    // All points, here and below, must lie in the launch's domain.
    // kNoProcessor where the function fails.
    ProcessorNumber point(const Point& point, Diagnostics& diags) {
      if (evaluate_ == nullptr) return formless_point(point, diags);
      return static_cast<ProcessorNumber>(evaluate_(*form_, point));
    }
    // The points `first`, and those that follow it in the last dimension: `out.size()` of them.
    bool row(const Point& first, std::span<ProcessorNumber> out, Diagnostics& diags);
    // All of `box`, in row-major order. `out` has as many places as it has points.
    bool box(const Rect& box, std::span<ProcessorNumber> out, Diagnostics& diags);

    // `box` cut into boxes of one processor each, in no order. There are never more than rows have
    // runs of equal processor, and one for each processor's block in a map by blocks. Holds what
    // one step of the first dimension gives, not the launch, and visits one point of each run.
    bool slices(const Rect& box, const SliceSink& sink, Diagnostics& diags);
    bool slices(const SliceSink& sink, Diagnostics& diags);

    // The boxes of the launch that go to one of these processors (in sets: to it as the first),
    // none of which is there twice, or to any of a node. Boxes do not overlap; one may hold points
    // of several of the processors. A processor or node that does not exist has none. Where the map
    // is proved and every dimension decides for itself, the points of others are not looked at;
    // elsewhere the launch is looked through row by row. Gives no warning about sets.
    bool boxes_of(std::span<const Processor> processors, const BoxSink& sink, Diagnostics& diags);
    bool boxes_of(const Processor& processor, const BoxSink& sink, Diagnostics& diags) {
      return boxes_of(std::span(&processor, 1), sink, diags);
    }
    bool boxes_of_node(std::int64_t node, const BoxSink& sink, Diagnostics& diags);

    // What a number that this cursor gave stands for; it stays until the next question.
    const Placed& placed(ProcessorNumber number);
    // The same of one processor, of a set the first.
    Processor processor(ProcessorNumber number) const;
    bool is_set(ProcessorNumber number) const;

    // Steps for all questions so far, as kMaxQuestionSteps counts them.
    std::int64_t steps() const;
    // Whether `stop` said true.
    bool stopped() const;

   private:
    ProcessorNumber formless_point(const Point& point, Diagnostics& diags);

    mapper::MapCursor& cursor();
    mapper::MapCursor& question();  // the same, for one more

    std::shared_ptr<const IndexMap> map_;
    bool warns_;
    std::function<bool()> stop_;
    std::unique_ptr<mapper::MapCursor> cursor_;  // made when it is first needed
    const mapper::PointForm* form_ = nullptr;    // of the map
    std::int64_t (*evaluate_)(const mapper::PointForm& form, const Point& point) = nullptr;
  };

  // lib/mapper/specialised_map.h
  const mapper::SpecialisedMap& map() const { return *map_; }
  explicit IndexMap(std::unique_ptr<const mapper::SpecialisedMap> map);

 private:
  std::unique_ptr<const mapper::SpecialisedMap> map_;
};

}  // namespace groma
