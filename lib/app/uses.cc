// Lists the launches of an application by walking through the bodies of its tasks, without running
// the tasks.
#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "app/data.h"
#include "base/saturating.h"

namespace groma::app {
namespace {

// Limit on the depth to which tasks launch tasks.
constexpr int kMaxNestedTasks = 64;
// Limit on the visited statements and points of launches.
constexpr std::int64_t kMaxSteps = 1 << 18;
// The cost of a launch's condition, in units of Budget, that counts as one step. All launches
// together then have some 4 million points in their boxes at most, which bounds the memory for the
// points that they keep.
constexpr std::int64_t kPointsPerStep = 16;
// The number of points of a condition whose cost is counted at once.
constexpr std::int64_t kPointsPerCount = 64;

using Coordinates = std::vector<std::int64_t>;

// Walks from the top-level task through all launched tasks and collects each launch once.
class LaunchCollector {
 public:
  LaunchCollector(const Data& data, std::size_t most) : data_(data), most_(most) {}

  // Returns the launches, the top-level task first. Sets `complete` to false if a limit ended the
  // walk.
  std::vector<DistinctLaunch> walk(bool& complete) {
    if (data_.top_level >= 0) {
      const auto top = static_cast<std::uint32_t>(data_.top_level);
      uses_.push_back({nullptr, top, -1, std::nullopt, 0});
      if (data_.tasks[top].arguments == 0) task(top, {}, 0);
    }
    complete = complete_;
    return std::move(uses_);
  }

 private:
  // Counts one step. Returns false once the walk has reached its limit.
  bool step() {
    if (++steps_ > kMaxSteps) complete_ = false;
    return complete_;
  }

  // Visits the body of a task, once for each list of arguments and for each depth that a mapper can
  // distinguish (top level or deeper). Tasks that launch themselves end at kMaxNestedTasks.
  void task(std::uint32_t number, Coordinates arguments, int depth) {
    const Task& task = data_.tasks[number];
    if (task.body.empty() || depth >= kMaxNestedTasks) return;
    if (!walked_.insert({number, arguments, std::min(depth, 1)}).second) return;
    arguments.resize(static_cast<std::size_t>(task.frame_size));
    body(number, task.body, arguments, depth);
  }

  // Visits the statements of a body. `frame` holds the values of the arguments and of the loop
  // variables, and changes during the walk.
  void body(std::uint32_t parent, const Body& body, Coordinates& frame, int depth) {
    for (const Statement& statement : body) {
      if (!step()) return;
      if (const auto* launch = std::get_if<Launch>(&statement.node)) {
        this->launch(parent, *launch, frame, depth);
      } else if (const auto* loop = std::get_if<Loop>(&statement.node)) {
        FormulaFault fault = FormulaFault::kNone;
        const std::int64_t count = loop->count.value(frame, fault);
        // A body that does not depend on the loop variable is the same in each iteration.
        const std::int64_t times = loop->slot < 0 ? std::min<std::int64_t>(count, 1) : count;
        const std::int64_t around = iterations_;
        if (loop->slot < 0) iterations_ = saturating_multiply(iterations_, count);
        for (std::int64_t i = 0; i < times && step(); ++i) {
          if (loop->slot >= 0) frame[static_cast<std::size_t>(loop->slot)] = i;
          this->body(parent, loop->body, frame, depth);
        }
        iterations_ = around;
      } else if (const auto* phase = std::get_if<Phase>(&statement.node)) {
        this->body(parent, phase->body, frame, depth);
      }
    }
  }

  // Notes a launch if no launch with the same statement, depth and domain was noted before. Then
  // visits the launched task for each point of the domain, because its arguments may depend on the
  // point.
  void launch(std::uint32_t parent, const Launch& launch, Coordinates& frame, int depth) {
    FormulaFault fault = FormulaFault::kNone;
    DistinctLaunch use{&launch, launch.task, static_cast<int>(parent), std::nullopt,
                       std::min(depth + 1, 2)};
    Coordinates key{static_cast<std::int64_t>(launch.number), use.depth};
    if (launch.is_index) {
      // The cost counts even if the condition has no value somewhere.
      const std::optional<Rect> box = box_of(launch, frame, fault);
      if (!box) return;
      steps_ += cost_of_domain(launch, *box) / kPointsPerStep;
      if (!step()) return;
      use.domain = domain_of(launch, frame, fault);
      if (!use.domain) return;
      use.add_domain_to(key);
    }
    // If a formula of the launch's domain has no value, the launch is left out here. A run of the
    // application reports that formula.
    if (fault != FormulaFault::kNone) return;
    const auto [seen, is_new] = seen_.emplace(std::move(key), uses_.size());
    if (is_new) {
      if (uses_.size() >= most_) {
        complete_ = false;
        return;
      }
      uses_.push_back(use);
    }
    // The body of a deeper task is visited only once, however often the task runs.
    if (depth == 0 && seen->second < uses_.size()) {
      std::int64_t& times = uses_[seen->second].times;
      times = saturating_add(times, iterations_);
    }
    if (data_.tasks[launch.task].body.empty()) return;
    if (use.domain && use.domain->count() == 0) return;
    Point point = use.domain ? use.domain->first_point() : Point();
    do {
      if (!step()) return;
      for (int d = 0; d < point.dimensions(); ++d) {
        frame[static_cast<std::size_t>(launch.point_slot) + static_cast<std::size_t>(d)] = point[d];
      }
      Coordinates arguments;
      for (const CompiledFormula& code : launch.arguments)
        arguments.push_back(code.value(frame, fault));
      if (fault == FormulaFault::kNone) task(launch.task, std::move(arguments), depth + 1);
      // Without arguments, the launched task does the same at all points, so one point is enough.
      if (launch.arguments.empty()) return;
    } while (use.domain && next_point(*use.domain, &point));
  }

  const Data& data_;
  std::size_t most_;
  std::vector<DistinctLaunch> uses_;
  // The index in `uses_` of each launch there, by its statement, depth and domain.
  std::map<Coordinates, std::size_t> seen_;
  // The task, arguments and depth of each body that was visited.
  std::set<std::tuple<std::uint32_t, Coordinates, int>> walked_;
  std::int64_t steps_ = 0;
  // How often the statement that is visited now runs: the product of the iterations of the loops
  // around it whose bodies are visited only once.
  std::int64_t iterations_ = 1;
  bool complete_ = true;
};

}  // namespace

// Returns the box of an index launch. Returns nullopt and sets `fault` if a formula has no value
// or if the extents do not make a box.
std::optional<Rect> box_of(const Launch& launch, std::span<const std::int64_t> frame,
                           FormulaFault& fault) {
  Point lower = Point::zeros(static_cast<int>(launch.domain.size())), extents = lower;
  for (std::size_t d = 0; d < launch.domain.size(); ++d) {
    lower[static_cast<int>(d)] = launch.lower[d].value(frame, fault);
    extents[static_cast<int>(d)] = launch.domain[d].value(frame, fault);
  }
  std::optional<Rect> box = Rect::make(lower, extents);
  if (!box && fault == FormulaFault::kNone) fault = FormulaFault::kNoBox;
  return fault == FormulaFault::kNone ? box : std::nullopt;
}

// Evaluates the condition at each point of the box. A condition that always holds is a constant,
// and the domain is then the box itself.
std::optional<LaunchDomain> domain_of(const Launch& launch, std::span<const std::int64_t> frame,
                                      FormulaFault& fault, const SpendFunction& spend) {
  const std::optional<Rect> box = box_of(launch, frame, fault);
  if (!box) return std::nullopt;
  if (!launch.has_condition()) return LaunchDomain(*box);
  if (box->volume() > kMaxConditionPoints) {
    fault = FormulaFault::kTooManyPoints;
    return std::nullopt;
  }
  const auto slot = static_cast<std::size_t>(launch.point_slot);
  const auto dimensions = static_cast<std::size_t>(box->dimensions());
  Coordinates variables(frame.begin(), frame.end());
  variables.resize(std::max(variables.size(), slot + dimensions));
  // The number of points whose cost was counted and that are not evaluated yet.
  std::int64_t paid = 0;
  bool may_go_on = true;
  Result<PointSet> points = PointSet::from_predicate(*box, [&](const Point& point) {
    if (fault != FormulaFault::kNone || !may_go_on) return false;
    if (spend && paid-- == 0) {
      paid = kPointsPerCount - 1;
      may_go_on = spend(kPointsPerCount * (1 + launch.where.evaluation_cost()));
      if (!may_go_on) return false;
    }
    std::copy_n(point.coordinates().begin(), dimensions, variables.begin() + launch.point_slot);
    return launch.where.value(variables, fault) != 0;
  });
  if (!points) fault = FormulaFault::kTooManyPoints;
  if (!may_go_on) return std::nullopt;
  if (fault != FormulaFault::kNone) return std::nullopt;
  // The box is the one around the points, as that of a sparse index space in Legion.
  return LaunchDomain(points->count() > 0 ? points->bounds() : *box, *points);
}

void DistinctLaunch::add_domain_to(std::vector<std::int64_t>& key) const {
  if (!domain) return;
  for (const Point* corner : {&domain->box.lower, &domain->box.extents}) {
    key.insert(key.end(), corner->coordinates().begin(), corner->coordinates().end());
  }
  if (domain->points) key.push_back(static_cast<std::int64_t>(domain->points->hash()));
}

std::int64_t cost_of_domain(const Launch& launch, const Rect& box) {
  if (!launch.has_condition() || box.volume() > kMaxConditionPoints) return 0;
  return box.volume() * (1 + launch.where.evaluation_cost());
}

std::vector<DistinctLaunch> list_launches(const Data& data, std::size_t most, bool& complete) {
  return LaunchCollector(data, most).walk(complete);
}

}  // namespace groma::app
