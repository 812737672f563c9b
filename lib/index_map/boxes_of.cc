// Finds the boxes of points that go to one processor or node. If the processor number is a sum of
// parts that each depend on one coordinate, every dimension is searched by itself: the values of
// each part are listed, and combinations of values that add up to the wanted number are boxes.
//
// Otherwise the launch is cut as for slices, and only the wanted boxes are kept (slices.cc).
#include <algorithm>
#include <bit>
#include <numeric>

#include "index_map/specialised_map.h"

namespace groma::mapper {
namespace {

// The largest number of runs of equal values that are listed for one dimension. If there are more,
// the launch is cut as for slices.
constexpr std::int64_t kMaxStretches = 1'000'000;
constexpr std::size_t kMaxKeptRuns = 1 << 17;  // One cursor keeps at most this many runs (3 MB).

// A run of coordinates of one dimension. `value` is what the coordinates from `begin` to before
// `end` add to a processor number. The run recurs in every period of the dimension.
struct Run {
  std::int64_t value, begin, end;
};

// One dimension, with the runs of coordinates that add the same value to a processor number.
// `period` is the number of coordinates after which the runs recur.
struct Dimension {
  int index = 0;
  std::int64_t extent = 0, period = 0;
  std::vector<Run> runs;  // The runs are sorted by value, then by begin.
  // The least and the greatest sum of the values of this dimension and those after it. All these
  // sums differ by multiples of `step`. If `step` is 0, there is one sum.
  std::int64_t low = 0, high = 0, step = 0;
};

// Lists the runs of coordinates for which an expression of one coordinate is constant. Returns
// false if the kernel cuts the dimension into more than `most` pieces. Pieces are counted before
// neighbouring pieces with the same value are joined.
bool note_runs(const ExpressionKernel& kernel, std::int64_t most, Dimension& dimension) {
  const ValuePeriod period = kernel.period_of_root(0, dimension.index);
  const bool repeats = period.period > 0 && period.drift == 0 && period.period < dimension.extent;
  dimension.period = repeats ? period.period : dimension.extent;
  KernelRegisters registers = kernel.make_registers();
  for (std::int64_t x = 0; x < dimension.period;) {
    if (most-- == 0) return false;
    registers.value[static_cast<std::size_t>(dimension.index)] = x;
    std::int64_t length = kernel.evaluate_run(dimension.index, dimension.period - x, registers);
    // If the value changes from point to point, each point is a run.
    if (registers.slope[kernel.root_register(0)] != 0) length = 1;
    const std::int64_t value = registers.value[kernel.root_register(0)];
    if (!dimension.runs.empty() && dimension.runs.back().value == value) {
      dimension.runs.back().end = x + length;
    } else {
      dimension.runs.push_back({value, x, x + length});
    }
    x += length;
  }
  std::stable_sort(dimension.runs.begin(), dimension.runs.end(),
                   [](const Run& a, const Run& b) { return a.value < b.value; });
  return true;
}

// Computes the bounds and the common step of all sums of one value from dimension `i` and one from
// each dimension after it.
void note_sums(std::vector<Dimension>& dimensions, std::size_t i) {
  Dimension& dimension = dimensions[i];
  const auto& runs = dimension.runs;
  dimension.low = runs.front().value, dimension.high = runs.back().value;
  for (const Run& run : runs) dimension.step = std::gcd(dimension.step, run.value - runs[0].value);
  if (i + 1 == dimensions.size()) return;
  const Dimension& next = dimensions[i + 1];
  dimension.low += next.low;
  dimension.high += next.high;
  dimension.step = std::gcd(dimension.step, next.step);
}

}  // namespace

struct RunsByDimension {
  std::vector<Dimension> dimensions;
};

namespace {

// For each part of a processor number, returns the runs of coordinates for which the part is
// constant. Returns null if there are more than `most` such runs for one part.
std::shared_ptr<const RunsByDimension> runs_of(const SpecialisedMap& map,
                                               const SeparatedNumber& apart, std::int64_t most) {
  auto runs = std::make_shared<RunsByDimension>();
  for (const auto& [d, expression] : apart.parts) {
    Dimension& made = runs->dimensions.emplace_back();
    made.index = d;
    made.extent = map.domain.extents[d];
    const ExpressionKernel kernel(map.code.expressions, std::span(&expression, 1), map.dimensions(),
                                  &map.bound.machine());
    if (!note_runs(kernel, most, made)) return nullptr;
  }
  for (std::size_t i = runs->dimensions.size(); i-- > 0;) note_sums(runs->dimensions, i);
  return runs;
}

// Returns the cached runs (`kept`) of a processor number's parts. If there are none, computes the
// runs and caches them if they are few.
std::shared_ptr<const RunsByDimension> runs_of(const SpecialisedMap& map,
                                               const std::optional<SeparatedNumber>& apart,
                                               std::shared_ptr<const RunsByDimension>& kept) {
  if (!apart || kept) return kept;
  auto made = runs_of(map, *apart, kMaxStretches);
  std::size_t count = 0;
  for (std::size_t i = 0; made && i < made->dimensions.size(); ++i) {
    count += made->dimensions[i].runs.size();
  }
  if (count <= kMaxKeptRuns) kept = made;
  return made;
}

// Searches for combinations of runs whose values add up to a number.
class RunCombinationSearch {
 public:
  RunCombinationSearch(const Rect& domain, const std::vector<Dimension>& dimensions,
                       const BoxSink& sink)
      : domain_(domain), dimensions_(dimensions), sink_(sink), box_(domain) {
    chosen_.resize(dimensions_.size());
  }

  // Passes to the sink the boxes in which the parts of the number add up to `sum`.
  void find(std::int64_t sum) { choose(0, sum); }

 private:
  // Returns true if one value from dimension `i` and one from each dimension after it may add up to
  // `rest`. If not, the search goes no further.
  bool possible(std::size_t i, std::int64_t rest) const {
    if (i == dimensions_.size()) return rest == 0;
    const Dimension& dimension = dimensions_[i];
    if (rest < dimension.low || rest > dimension.high) return false;
    return dimension.step == 0 || (rest - dimension.low) % dimension.step == 0;
  }

  // Tries every value of dimension `i`, and for each the values of the dimensions after it. The
  // last dimension needs one certain value, which is found by binary search.
  void choose(std::size_t i, std::int64_t rest) {
    if (!possible(i, rest)) return;
    if (i == dimensions_.size()) return give(0);
    const auto& runs = dimensions_[i].runs;
    const auto by_value = [](const Run& run, std::int64_t value) { return run.value < value; };
    auto run = runs.begin();
    if (i + 1 == dimensions_.size()) run = std::lower_bound(run, runs.end(), rest, by_value);
    while (run != runs.end()) {
      auto end = run;
      while (end != runs.end() && end->value == run->value) ++end;
      chosen_[i] = {run, end};
      choose(i + 1, rest - run->value);
      if (i + 1 == dimensions_.size()) return;
      run = end;
    }
  }

  // Passes on one box for each combination of runs, one in each dimension, that have the chosen
  // values. The runs of a dimension occur again in each of its periods.
  void give(std::size_t i) {
    if (i == dimensions_.size()) return sink_(box_);
    const Dimension& dimension = dimensions_[i];
    for (std::int64_t from = 0; from < dimension.extent;) {
      for (auto run = chosen_[i].first; run != chosen_[i].second; ++run) {
        if (run->begin >= dimension.extent - from) break;
        box_.lower[dimension.index] = domain_.lower[dimension.index] + from + run->begin;
        box_.extents[dimension.index] = std::min(run->end, dimension.extent - from) - run->begin;
        give(i + 1);
      }
      if (dimension.period >= dimension.extent - from) break;
      from += dimension.period;
    }
  }

  using Runs = std::vector<Run>::const_iterator;
  const Rect& domain_;
  const std::vector<Dimension>& dimensions_;
  const BoxSink& sink_;
  Rect box_;
  std::vector<std::pair<Runs, Runs>> chosen_;
};

}  // namespace

// Splits a sum by the coordinate on which each term depends. Returns nothing if a term depends on
// several.
std::optional<SeparatedNumber> split_number_by_coordinate(ExpressionGraph& expressions, ExprId id) {
  const LinearSum whole = expressions.as_linear_sum(id);
  SeparatedNumber made;
  made.constant = whole.constant;
  std::array<LinearSum, kMaxDimensions> sums;
  for (const SumTerm& term : whole.terms) {
    const std::uint16_t dimensions = expressions[term.of].dimensions;
    if (std::popcount(dimensions) != 1) return std::nullopt;
    sums[static_cast<std::size_t>(std::countr_zero(dimensions))].terms.push_back(term);
  }
  for (std::size_t d = 0; d < sums.size(); ++d) {
    if (sums[d].terms.empty()) continue;
    const ExprId part = expressions.make_sum(sums[d]);
    if (part == kNoExpr || expressions.is_full()) return std::nullopt;
    made.parts.push_back({static_cast<int>(d), part});
  }
  return made;
}

// Returns true if boxes_of() can be fast, because every part of the number has few runs of
// coordinates for which it is constant.
bool has_few_runs(const SpecialisedMap& map, const SeparatedNumber& apart, std::int64_t most) {
  return runs_of(map, apart, most) != nullptr;
}

// Returns the processor that the number stands for, or the first processor of its set. The number
// comes from the map, or is one that this cursor gave to a set.
Processor MapCursor::first_processor(ProcessorNumber number) const {
  return number >= map_.numbers ? own_processors_of(number).processors.front()
                                : first_processor_of_number(map_.shape_of(number), number);
}

// Calls use(number) for the number that stands for `processor`, and for every number that stands
// for a set whose first processor is `processor`. Does nothing if the machine has no such
// processor.
template <typename Use>
void for_numbers(const SpecialisedMap& map, const Processor& processor, const Use& use) {
  for (const ResultShape& shape : map.code.shapes) {
    const bool exists = shape.kind == processor.kind && processor.index >= 0 &&
                        processor.index < shape.stride && processor.node >= 0 &&
                        processor.node < map.bound.machine().node_count();
    if (exists) use(shape.base + processor.node * shape.stride + processor.index);
  }
}

// Passes on the boxes whose first processor is one of `processors`. Returns false if the function
// fails.
bool MapCursor::boxes_of(std::span<const Processor> processors, const BoxSink& sink,
                         Diagnostics& diags) {
  if (const auto runs = runs_of(map_, map_.separated_number, number_runs_)) {
    RunCombinationSearch search(map_.domain, runs->dimensions, sink);
    for (const Processor& processor : processors) {
      for_numbers(map_, processor, [&](std::int64_t number) {
        search.find(number - map_.separated_number->constant);
      });
    }
    return true;
  }
  std::vector<ProcessorNumberSet::NumberRange> wanted;
  for (const Processor& processor : processors) {
    for_numbers(map_, processor, [&](std::int64_t number) { wanted.push_back({number, number}); });
  }
  return find_boxes(ProcessorNumberSet(std::move(wanted)), sink, diags);
}

// Passes on the boxes whose first processor is on the node. Returns false if the function fails.
bool MapCursor::boxes_of_node(std::int64_t node, const BoxSink& sink, Diagnostics& diags) {
  if (const auto runs = runs_of(map_, map_.separated_node, node_runs_)) {
    RunCombinationSearch(map_.domain, runs->dimensions, sink)
        .find(node - map_.separated_node->constant);
    return true;
  }
  std::vector<ProcessorNumberSet::NumberRange> wanted;
  const bool exists = node >= 0 && node < map_.bound.machine().node_count();
  for (const ResultShape& shape : map_.code.shapes) {
    const std::int64_t begin = shape.base + node * shape.stride;
    if (exists && shape.count > 0) wanted.push_back({begin, begin + shape.stride - 1});
  }
  return find_boxes(ProcessorNumberSet(std::move(wanted)), sink, diags);
}

}  // namespace groma::mapper
