// Groups the runs of a task by what they launched, and fits a formula that computes the group of a
// run from its arguments.
#include "recording/run_kinds.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "recording/fit_formula.h"
#include "recording/recorded_data.h"

namespace groma::app {
namespace {

// Limit on the kinds of runs that a body distinguishes.
constexpr std::size_t kMostKinds = 64;

// Returns a formula for the number of a run's kind. `kind_of` has such a formula for each shape of
// launch. If all of them are constants, each launch passes its constant as the argument kWhich. If
// there is one shape, its formula is the result. Otherwise each launch passes the position of its
// shape as kWhich, and the result chooses the formula by kWhich. `numbers` gets the values that
// launches pass.
std::string kind_number(const std::map<std::uint32_t, Formula>& kind_of,
                        std::map<std::uint32_t, std::int64_t>& numbers) {
  const auto is_number = [](const auto& each) {
    return each.second.text().find_first_not_of("-0123456789") == std::string::npos;
  };
  std::string number;
  if (std::all_of(kind_of.begin(), kind_of.end(), is_number)) {
    for (const auto& [shape, kind] : kind_of) numbers[shape] = constant_of(kind);
    number = kWhich;
  } else if (kind_of.size() == 1) {
    number = kind_of.begin()->second.text();
  } else {
    for (const auto& [shape, kind] : kind_of) {
      const auto place = static_cast<std::int64_t>(numbers.size());
      numbers[shape] = place;
      const bool is_last = numbers.size() == kind_of.size();
      number += is_last ? fmt::format("({})", kind.text())
                        : fmt::format("{} == {} ? ({}) : ", kWhich, place, kind.text());
    }
  }
  return number == kWhich ? number : fmt::format("({})", number);
}

}  // namespace

// Groups the runs. Runs are of one kind if their launches have the same shapes in the same order
// and if their arguments have the same layout.
std::vector<RunKind> run_kinds(const Events& events,
                               const std::vector<const Events::TaskRunGroup*>& contexts) {
  std::map<std::pair<std::vector<std::size_t>, std::vector<std::uint32_t>>, RunKind> alike;
  for (const Events::TaskRunGroup* each : contexts) {
    std::vector<std::uint32_t> shapes;
    unfold(each->launches, shapes);
    for (std::uint32_t& launch : shapes) launch = events.launches[launch].shape;
    RunKind& same = alike[{events.argument_part_lengths(*each), std::move(shapes)}];
    same.contexts.push_back(each);
    same.count += each->count;
  }
  std::vector<RunKind> kinds;
  for (auto& [key, kind] : alike) {
    kinds.push_back(std::move(kind));
    kinds.back().shapes = key.second;
  }
  std::stable_sort(kinds.begin(), kinds.end(),
                   [](const RunKind& a, const RunKind& b) { return a.count > b.count; });
  return kinds;
}

std::string argument_name(std::size_t position) { return fmt::format("p{}", position); }

// For each shape of launch, fits a formula that computes the number of the kind from the arguments.
// A shape whose tasks launched nothing has the number -1, which is the number of no kind.
std::optional<RunKindCondition> find_run_kind_condition(const Events& events, std::uint32_t task,
                                                        const std::vector<RunKind>& kinds) {
  if (kinds.size() > kMostKinds) return std::nullopt;
  // The samples of each shape that launches this task: the arguments of a run, and the number of
  // its kind as the value. Shapes without samples launched tasks that launched nothing.
  std::map<std::uint32_t, Samples> samples;
  for (std::size_t k = 0; k < kinds.size(); ++k) {
    for (const Events::TaskRunGroup* context : kinds[k].contexts) {
      // The launch of this run is unknown, so it cannot pass kWhich.
      if (context->shape < 0) return std::nullopt;
      Samples& of_shape = samples[static_cast<std::uint32_t>(context->shape)];
      while (of_shape.names.size() < context->run_arguments.size()) {
        of_shape.names.push_back(argument_name(of_shape.names.size()));
      }
      if (of_shape.count() >= kMostSamples) return std::nullopt;
      of_shape.add(context->run_arguments, static_cast<std::int64_t>(k));
    }
  }
  std::map<std::uint32_t, Formula> kind_of;
  for (std::uint32_t shape = 0; shape < events.shapes.size(); ++shape) {
    if (events.shapes[shape].task != task) continue;
    const auto of_shape = samples.find(shape);
    const auto formula =
        of_shape == samples.end() ? std::optional<Formula>(-1) : fit_formula(of_shape->second);
    if (!formula) return std::nullopt;
    kind_of.emplace(shape, *formula);
  }
  RunKindCondition test;
  test.without_runs = kind_of.size() - samples.size();
  if (kinds.size() == 1 && test.without_runs == 0) return test;
  const std::string number = kind_number(kind_of, test.which_values);
  for (std::size_t k = 0; k < kinds.size(); ++k) {
    test.is_kind.emplace_back(fmt::format("{} == {}", number, k));
    if (test.is_kind.back().text().size() > kMaxFormulaBytes) return std::nullopt;
  }
  return test;
}

}  // namespace groma::app
