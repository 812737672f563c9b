// Finds loop nests. In a nest whose bounds are sums of multiples of outer counters, each loop adds
// the same vector to the point in each iteration. So the samples are cut into runs with the same
// difference, the first points of the runs are cut into runs again, and so on. The lengths of the
// runs must be such sums, too.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>

#include "derive/affine.h"
#include "derive/candidate.h"

namespace groma::domains {
namespace {

// Limit on the differences that are tried for one loop, the most frequent first.
constexpr std::size_t kMaxSteps = 3;
// Limits for two joined nests: the samples that are looked at, and the places of the joint.
constexpr std::size_t kMaxJoinedSamples = 512;
constexpr std::size_t kMaxJoints = 96;
// So many samples tell that there is no nest, before all of them are looked at.
constexpr std::size_t kFirstLook = 256;

using Step = Coordinates;
using PointSpan = std::span<const Coordinates>;

Step difference(const Coordinates& a, const Coordinates& b) {
  Step step{};
  for (std::size_t d = 0; d < step.size(); ++d) step[d] = b[d] - a[d];
  return step;
}

// One loop: the vector that each iteration adds, and the number of iterations of each of its runs.
struct LoopRuns {
  Step step{};
  std::vector<std::int64_t> lengths;
};

// The loops of a nest, and how they are confirmed. forms[l] is the length of loop l, for l > 0.
struct Nest {
  Coordinates first{};
  std::vector<LoopRuns> loops;
  std::vector<AffineForm> forms;
  std::int64_t evidence = 0, description = 0;
  // The redundant equations of the least confirmed step or length.
  std::int64_t least_evidence = kWithoutNumbers;

  static constexpr std::int64_t kWithoutNumbers = INT64_MAX;
  bool is_confirmed() const { return least_evidence > 0; }
};

// Returns the differences between neighbours, the most frequent first.
std::vector<Step> frequent_steps(PointSpan points) {
  std::map<Step, std::size_t> counts;
  for (std::size_t i = 1; i < points.size(); ++i) ++counts[difference(points[i - 1], points[i])];
  std::vector<std::pair<std::size_t, Step>> sorted;
  for (const auto& [step, count] : counts) sorted.emplace_back(count, step);
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<Step> steps;
  for (const auto& [count, step] : sorted) steps.push_back(step);
  return steps;
}

// Fits the lengths of the loops. `is_complete`: the samples end where the nest ends. Returns false
// if the lengths are not sums of multiples of the counters.
bool fit_lengths(std::size_t dimensions, bool is_complete, Nest* nest) {
  nest->forms.assign(nest->loops.size(), {});
  nest->description = static_cast<std::int64_t>(dimensions);
  std::vector<Counters> prefixes = {Counters{}};
  for (std::size_t l = 0; l < nest->loops.size(); ++l) {
    const LoopRuns& loop = nest->loops[l];
    std::int64_t pairs = 0;
    for (const std::int64_t length : loop.lengths) pairs += length - 1;
    // The first pair determines the step.
    const std::int64_t redundant = std::max<std::int64_t>(0, pairs - 1);
    nest->evidence += redundant * static_cast<std::int64_t>(dimensions);
    nest->least_evidence = std::min(nest->least_evidence, redundant);
    for (const std::int64_t each : loop.step) nest->description += each != 0 ? 2 : 0;
    if (l > 0) {
      const std::size_t whole = loop.lengths.size() - (is_complete ? 0 : 1);
      bool fits = false;
      for (const std::size_t variables : {std::size_t{0}, l}) {
        AffineFit fit(variables);
        fits = true;
        for (std::size_t i = 0; i < whole && fits; ++i) {
          fits = fit.add(prefixes[i], loop.lengths[i]);
        }
        const auto form = fits ? fit.form() : std::nullopt;
        // The last run may be cut off by the end of the samples.
        fits = form && (is_complete || form->value(prefixes[whole]) >= loop.lengths[whole]);
        if (!fits) continue;
        nest->forms[l] = *form;
        nest->evidence += fit.redundant();
        nest->least_evidence = std::min(nest->least_evidence, fit.redundant());
        nest->description += form->description();
        break;
      }
      if (!fits) return false;
    }
    ++nest->description;
    std::vector<Counters> next;
    for (std::size_t run = 0; run < loop.lengths.size(); ++run) {
      for (std::int64_t i = 0; i < loop.lengths[run]; ++i) {
        next.push_back(prefixes[run]);
        next.back()[l] = i;
      }
    }
    prefixes = std::move(next);
  }
  return true;
}

// Cuts points into runs, and their first points again, up to one loop for each dimension. Calls
// `found` for each nest. `inner` has the loops that were found before, the innermost first.
void cut_into_runs(PointSpan points, std::size_t dimensions, bool is_complete,
                   std::vector<LoopRuns>* inner, const std::function<void(Nest)>& found) {
  const std::vector<Step> steps = frequent_steps(points);
  if (steps.size() <= 1) {
    Nest nest;
    nest.first = points.front();
    if (points.size() > 1) {
      nest.loops.push_back({steps.front(), {static_cast<std::int64_t>(points.size())}});
    }
    nest.loops.insert(nest.loops.end(), inner->rbegin(), inner->rend());
    if (nest.loops.size() <= dimensions && fit_lengths(dimensions, is_complete, &nest)) {
      found(std::move(nest));
    }
    return;
  }
  if (inner->size() + 1 >= dimensions) return;
  for (std::size_t s = 0; s < std::min(steps.size(), kMaxSteps); ++s) {
    LoopRuns loop{steps[s], {}};
    std::vector<Coordinates> starts;
    for (std::size_t i = 0; i < points.size(); ++i) {
      if (i > 0 && difference(points[i - 1], points[i]) == loop.step) {
        ++loop.lengths.back();
        continue;
      }
      starts.push_back(points[i]);
      loop.lengths.push_back(1);
    }
    inner->push_back(std::move(loop));
    cut_into_runs(starts, dimensions, is_complete, inner, found);
    inner->pop_back();
  }
}

std::vector<Nest> find_nests(PointSpan points, std::size_t dimensions, bool is_complete) {
  std::vector<Nest> nests;
  std::vector<LoopRuns> inner;
  cut_into_runs(points, dimensions, is_complete, &inner,
                [&](Nest nest) { nests.push_back(std::move(nest)); });
  return nests;
}

// The better nest: confirmed, then short, then with more evidence.
bool is_better(const Nest& a, const Nest& b) {
  return std::tuple(!a.is_confirmed(), a.description, -a.evidence) <
         std::tuple(!b.is_confirmed(), b.description, -b.evidence);
}

// ---- Text

// A nest as text: the point, and the loops. The variables of the loops are coordinates if each loop
// adds 1 to a coordinate that the loops inside it leave alone; otherwise i, j, k, l.
class NestText {
 public:
  // The end of the outermost loop is `outer_end`, or the number of its iterations if that is empty.
  NestText(const Nest& nest, const std::vector<std::string>& names, const std::string& outer_end)
      : nest_(nest), names_(names) {
    const std::size_t depth = nest.loops.size();
    for (std::size_t l = 0; l < depth; ++l) {
      uses_coordinates_ = uses_coordinates_ && coordinate_of(l) != kNone;
    }
    for (std::size_t l = 0; l < depth; ++l) add_loop(l, outer_end);
    if (depth == 0) add_single_point();
  }

  std::string text() const {
    std::vector<std::string> head;
    for (std::size_t d = 0; d < names_.size(); ++d) head.push_back(coordinate(d));
    const std::string point =
        head.size() == 1 ? head.front() : fmt::format("({})", fmt::join(head, ", "));
    return fmt::format("{} in loops {}", point, loops_);
  }
  // The value of the outermost variable in its first iteration; 0 without loops.
  std::int64_t outer_first() const { return outer_first_; }

 private:
  static constexpr std::size_t kNone = 99;

  // Returns the coordinate that can be the variable of loop l, or kNone.
  std::size_t coordinate_of(std::size_t l) const {
    for (std::size_t d = 0; d < names_.size(); ++d) {
      if (nest_.loops[l].step[d] != 1) continue;
      const bool stays =
          std::all_of(nest_.loops.begin() + static_cast<std::ptrdiff_t>(l) + 1, nest_.loops.end(),
                      [d](const LoopRuns& inner) { return inner.step[d] == 0; });
      if (stays) return d;
    }
    return kNone;
  }

  // Returns the coordinate in terms of the variables, with all loops below `loops`.
  AffineForm position(std::size_t d, std::size_t loops) const {
    AffineForm form;
    form.constant = nest_.first[d];
    for (std::size_t l = 0; l < loops; ++l) form = form.plus(counters_[l], nest_.loops[l].step[d]);
    return form;
  }
  // Replaces the counters of a form by what they are in terms of the variables.
  AffineForm in_variables(const AffineForm& form) const {
    AffineForm result;
    result.constant = form.constant;
    for (std::size_t l = 0; l < counters_.size(); ++l) {
      result = result.plus(counters_[l], form.factors[l]);
    }
    return result;
  }

  void add_single_point() {
    for (std::size_t d = 0; d < names_.size(); ++d) {
      loops_ += fmt::format("{}{} <= {} < {}", d > 0 ? ", " : "", nest_.first[d], names_[d],
                            nest_.first[d] + 1);
      variables_.push_back(names_[d]);
      coordinates_.push_back(d);
    }
  }

  void add_loop(std::size_t l, const std::string& outer_end) {
    static constexpr const char* kCounterNames[] = {"i", "j", "k", "l"};
    const std::size_t d = uses_coordinates_ ? coordinate_of(l) : kNone;
    const AffineForm low = d == kNone ? AffineForm{} : position(d, l);
    const std::string name = d == kNone ? kCounterNames[l] : names_[d];
    std::string end;
    if (l == 0) {
      outer_first_ = low.constant;
      end = outer_end.empty() ? fmt::format("< {}", low.constant + nest_.loops[0].lengths[0])
                              : "< " + outer_end;
    } else {
      AffineForm high = low.plus(in_variables(nest_.forms[l]), 1);
      const bool has_variables = high.factors != Counters{};
      if (has_variables && high.constant > 0) {
        --high.constant;
        end = "<= " + high.text(variables_);
      } else {
        end = "< " + high.text(variables_);
      }
    }
    if (!loops_.empty()) loops_ += ", ";
    if (low != AffineForm{}) loops_ += low.text(variables_) + " <= ";
    loops_ += fmt::format("{} {}", name, end);
    // The counter is the variable minus its first value.
    AffineForm counter;
    counter.factors[l] = 1;
    counters_.push_back(counter.plus(low, -1));
    variables_.push_back(name);
    coordinates_.push_back(d);
  }

  std::string coordinate(std::size_t d) const {
    for (std::size_t l = 0; l < coordinates_.size(); ++l) {
      if (coordinates_[l] == d) return variables_[l];
    }
    return position(d, nest_.loops.size()).text(variables_);
  }

  const Nest& nest_;
  const std::vector<std::string>& names_;
  bool uses_coordinates_ = true;
  std::string loops_;
  std::int64_t outer_first_ = 0;
  // For each loop: its variable, the coordinate that is the variable, and its counter in terms of
  // the variables.
  std::vector<std::string> variables_;
  std::vector<std::size_t> coordinates_;
  std::vector<AffineForm> counters_;
};

Candidate nest_candidate(const Nest& nest, const std::vector<std::string>& names) {
  Candidate candidate;
  const NestText text(nest, names, nest.loops.empty() ? "" : "n");
  const std::int64_t seen = nest.loops.empty() ? 0 : nest.loops.front().lengths.front();
  candidate.text = fmt::format("(n = {}) = {};", text.outer_first() + seen, text.text());
  candidate.size_parameter = "n";
  candidate.evidence = nest.is_confirmed() ? nest.evidence : 0;
  candidate.description = nest.description;
  candidate.is_confirmed = nest.is_confirmed();
  candidate.least_evidence = nest.least_evidence;
  candidate.is_flat = nest.loops.size() < names.size();
  if (!nest.is_confirmed()) {
    candidate.remarks.push_back(
        "the step or the length of a loop follows from the samples, but no further sample "
        "confirms it");
  }
  return candidate;
}

// Returns two nests behind one another, or nothing. The first one is complete.
std::vector<Candidate> find_joined_nests(const SampleView& samples) {
  const PointSpan points = samples.points.first(std::min(samples.size(), kMaxJoinedSamples));
  const std::size_t dimensions = samples.dimensions();
  std::vector<Candidate> found;
  std::size_t joints = 0;
  Step before{};
  for (std::size_t at = 1; at + 3 <= points.size() && joints < kMaxJoints; ++at) {
    // The second nest begins where the difference changes.
    const Step step = difference(points[at - 1], points[at]);
    const bool changes = at == 1 || step != before;
    before = step;
    if (!changes) continue;
    ++joints;
    std::vector<Nest> heads = find_nests(points.first(at), dimensions, true);
    std::erase_if(heads, [](const Nest& nest) { return !nest.is_confirmed(); });
    if (heads.empty()) continue;
    std::vector<Nest> tails = find_nests(points.subspan(at), dimensions, false);
    std::erase_if(tails, [](const Nest& nest) { return !nest.is_confirmed(); });
    if (tails.empty()) continue;
    const Nest& head = *std::min_element(heads.begin(), heads.end(), is_better);
    if (samples.size() > points.size()) {
      tails = find_nests(samples.points.subspan(at), dimensions, false);
      if (tails.empty()) continue;
    }
    const Nest& tail = *std::min_element(tails.begin(), tails.end(), is_better);
    // A tail of fewer loops is the begin of a row rather than a rule.
    if (tail.loops.size() < dimensions) continue;
    const NestText first(head, samples.names, ""), second(tail, samples.names, "n");
    Candidate candidate;
    candidate.text = fmt::format("(n = {}) = {} then {};",
                                 second.outer_first() + tail.loops.front().lengths.front(),
                                 first.text(), second.text());
    candidate.size_parameter = "n";
    candidate.evidence = head.evidence + tail.evidence;
    candidate.description = head.description + tail.description + 1;
    candidate.is_confirmed = true;
    candidate.least_evidence = std::min(head.least_evidence, tail.least_evidence);
    found.push_back(std::move(candidate));
  }
  return found;
}

}  // namespace

std::vector<Candidate> find_loop_nests(const SampleView& samples, bool is_complete) {
  std::vector<Candidate> found;
  const std::size_t dimensions = samples.dimensions();
  if (samples.size() < 2) return found;
  bool has_confirmed = false;
  const bool is_promising =
      samples.size() <= kFirstLook ||
      !find_nests(samples.points.first(kFirstLook), dimensions, false).empty();
  if (is_promising) {
    for (const Nest& nest : find_nests(samples.points, dimensions, is_complete)) {
      has_confirmed = has_confirmed || nest.is_confirmed();
      found.push_back(nest_candidate(nest, samples.names));
    }
  }
  if (!has_confirmed && !is_complete) {
    for (Candidate& joined : find_joined_nests(samples)) found.push_back(std::move(joined));
  }
  return found;
}

}  // namespace groma::domains
