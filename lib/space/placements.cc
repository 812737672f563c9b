// Makes mapping functions for index launches, and compares the processors to which they send the
// points.
#include "space/placements.h"

#include <algorithm>
#include <array>

#include "base/random.h"
#include "groma/evaluate.h"
#include "groma/index_map.h"
#include "groma/program.h"
#include "space/factorisations.h"

namespace groma::tuning {
namespace {

// The limit on the number of mapping functions for one launch.
constexpr std::size_t kMostFunctions = 32;
// The limit on the number of points for which the chosen processors of two functions are compared.
constexpr std::size_t kMostCompared = 4096;

}  // namespace

PlacementFunctionCache::PlacementFunctionCache(const Machine& machine) : machine_(machine) {
  for (const std::string_view name : {edit::kSamePoint, edit::kFirstProcessor}) {
    single_.push_back(std::make_shared<const edit::MappingFunction>(edit::named_function(name)));
  }
}

const PlacementFunction& PlacementFunctionCache::on_first_node(int dimensions) const {
  PlacementFunction& known = on_first_node_[dimensions];
  if (known == nullptr) {
    known = std::make_shared<const edit::MappingFunction>(edit::first_node_function(dimensions));
  }
  return known;
}

// Compiles the function for this launch, and evaluates it for the first kMostCompared points.
std::optional<PlacementFunctionCache::ChosenProcessors>
PlacementFunctionCache::processors_chosen_by(const edit::MappingFunction& function,
                                             const Rect& launch, ProcKind kind) const {
  const std::string name = edit::function_name_for(function.name, kind);
  const Source source(name, edit::function_definition(function, kind, name));
  Diagnostics ignored(source);
  const auto bound = bind(compile(source, ignored), machine_, ignored);
  if (!bound) return std::nullopt;
  TaskPoint task;
  task.domain = launch;
  auto map = IndexMap::make(*bound, FunctionId{0}, task, kind, ignored);
  if (!map.ok()) return std::nullopt;
  IndexMap::Cursor cursor(std::move(map).value(), /*warns=*/false);
  ChosenProcessors where;
  Point point = launch.lower;
  do {
    where.push_back(cursor.point(point, ignored));
    if (where.back() == kNoProcessor) return std::nullopt;
  } while (where.size() < kMostCompared && next_point(launch, &point));
  return where;
}

// Calls make_functions() only once for each combination of arguments, because make_functions()
// compiles and evaluates every function.
const PlacementFunctionCache::KnownFunctions& PlacementFunctionCache::known_functions(
    const std::vector<std::int64_t>& extents, ProcKind kind) const {
  const auto [known, is_new] = known_.try_emplace({extents, kind});
  if (is_new) known->second = make_functions(extents, kind);
  return known->second;
}

const std::vector<PlacementFunction>& PlacementFunctionCache::functions_for(
    const std::vector<std::int64_t>& extents, ProcKind kind) const {
  return known_functions(extents, kind).all;
}

// Makes the functions for launches of this size: those with a name, then linear orders of the
// points, then grids of processors. Of several functions that send all points to the same
// processors, only the first is kept.
PlacementFunctionCache::KnownFunctions PlacementFunctionCache::make_functions(
    const std::vector<std::int64_t>& extents, ProcKind kind) const {
  const std::size_t dimensions = extents.size();
  const std::int64_t nodes = machine_.node_count();
  const std::int64_t processors = machine_.processors_per_node(kind);
  KnownFunctions known;
  std::vector<PlacementFunction>& all = known.all;
  const auto launch = Rect::make(Point(std::span<const std::int64_t>(extents)));
  if (nodes * processors == 0 || !launch) return known;
  const auto add = [&](edit::MappingFunction made) {
    if (all.size() == kMostFunctions) return;
    auto where = processors_chosen_by(made, *launch, kind);
    // In a larger launch, functions that agree about the first points may differ later.
    const bool is_whole = launch->volume() <= static_cast<std::int64_t>(kMostCompared);
    if (where && (!is_whole || known.by_processors.emplace(*std::move(where), all.size()).second)) {
      all.push_back(std::make_shared<const edit::MappingFunction>(std::move(made)));
    }
  };
  for (const std::string& name : edit::common_index_functions(static_cast<int>(dimensions))) {
    add(edit::named_function(name));
  }
  // Adds two functions that number the points by a weighted sum of their coordinates. Both
  // distribute blocks of `run` points: one over the processors of one node after the other, one
  // over the nodes in turn.
  const auto line = [&](const std::vector<std::int64_t>& weights, std::int64_t run) {
    for (const bool nodes_first : {false, true}) {
      add(edit::weighted_sum_function({weights, nodes_first, std::max<std::int64_t>(run, 1)}));
    }
  };
  std::int64_t volume = 1;
  for (const std::int64_t extent : extents) volume *= extent;
  const std::int64_t run = (volume + nodes * processors - 1) / (nodes * processors);
  // Adds row-major and column-major order, each distributed point by point and in blocks. Then adds
  // functions of a single coordinate, and of the sum of the coordinates.
  for (const bool rows : {true, false}) {
    std::vector<std::int64_t> weights(dimensions, 1);
    std::int64_t stride = 1;
    for (std::size_t i = 0; i < dimensions; ++i) {
      const std::size_t d = rows ? dimensions - 1 - i : i;
      weights[d] = stride;
      stride *= extents[d];
    }
    line(weights, 1);
    line(weights, run);
  }
  for (std::size_t d = 0; d < dimensions && dimensions > 1; ++d) {
    std::vector<std::int64_t> weights(dimensions, 0);
    weights[d] = 1;
    line(weights, 1);
  }
  if (dimensions > 1) line(std::vector<std::int64_t>(dimensions, 1), 1);
  // In one dimension, a grid of processors is the same as a linear order.
  if (dimensions == 1) return known;
  for (const auto& outer : factorisations(nodes, static_cast<int>(dimensions), 64)) {
    for (const auto& inner : factorisations(processors, static_cast<int>(dimensions), 64)) {
      for (const bool cyclic : {false, true}) {
        if (all.size() == kMostFunctions) return known;
        add(edit::grid_function({outer, inner, std::vector<bool>(dimensions, cyclic), false}));
      }
    }
  }
  return known;
}

PlacementFunction PlacementFunctionCache::random_function(const std::vector<std::int64_t>& extents,
                                                          ProcKind kind,
                                                          std::uint64_t random) const {
  auto drawn = draw_function(extents, kind, random);
  if (!drawn) return nullptr;
  const auto launch = Rect::make(Point(std::span<const std::int64_t>(extents)));
  if (launch && launch->volume() <= static_cast<std::int64_t>(kMostCompared)) {
    const KnownFunctions& known = known_functions(extents, kind);
    if (const auto where = processors_chosen_by(*drawn, *launch, kind)) {
      const auto same = known.by_processors.find(*where);
      if (same != known.by_processors.end()) return known.all[same->second];
    }
  }
  return std::make_shared<const edit::MappingFunction>(*std::move(drawn));
}

// Draws a grid of processors or a linear order. With more than one dimension, two of three draws
// give a grid.
std::optional<edit::MappingFunction> PlacementFunctionCache::draw_function(
    const std::vector<std::int64_t>& extents, ProcKind kind, std::uint64_t random) const {
  const std::size_t dimensions = extents.size();
  const std::int64_t nodes = machine_.node_count();
  const std::int64_t processors = machine_.processors_per_node(kind);
  if (nodes * processors == 0) return std::nullopt;
  RandomNumbers draws(random);
  const auto draw = [&](std::size_t count) { return random_below(draws.bits(), count); };
  if (dimensions > 1 && draw(3) > 0) {
    const auto outer = factorisations(nodes, static_cast<int>(dimensions), 4096);
    const auto inner = factorisations(processors, static_cast<int>(dimensions), 4096);
    edit::GridShape shape{outer[draw(outer.size())], inner[draw(inner.size())], {}, false};
    for (std::size_t d = 0; d < dimensions; ++d) shape.cyclic.push_back(draw(2) == 1);
    shape.interleaved = draw(2) == 1;
    return edit::grid_function(shape);
  }
  edit::WeightedNumbering shape;
  for (std::size_t d = 0; d < dimensions; ++d) {
    const std::array<std::int64_t, 5> weights = {0, 1, 2, processors, extents[d]};
    shape.weights.push_back(weights[draw(weights.size())]);
  }
  // With all weights 0, every point would run on the same processor.
  if (std::all_of(shape.weights.begin(), shape.weights.end(), [](auto w) { return w == 0; })) {
    shape.weights[draw(dimensions)] = 1;
  }
  shape.nodes_first = nodes > 1 && draw(2) == 1;
  const std::array<std::int64_t, 4> runs = {1, 1, 2, processors};
  shape.run = runs[draw(runs.size())];
  return edit::weighted_sum_function(shape);
}

}  // namespace groma::tuning
