// Implements Launcher: computes the domains, arguments and pieces of launches, and asks mappers
// where launches start.
#include "simulate/launcher.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/boxes.h"
#include "base/one_diagnostic.h"
#include "base/point_text.h"
#include "mapper/default_policy.h"
#include "mapper/launch_cutter.h"

namespace groma::sim {

// A new object has not started any launch.
Launcher::Launcher(const RunInput& input, Views& views, Mappers& mappers, Outcome& outcome,
                   MapperRuntime& runtime, Arena& lists)
    : input_(input),
      views_(views),
      mappers_(mappers),
      outcome_(outcome),
      runtime_(runtime),
      lists_(lists) {}

// Returns the first processor for which the task has a variant, or -1 if there is none. The mapper
// of this processor is asked where the top-level task starts. The kinds of processors are tried in
// the order of kTopLevelKinds.
std::int32_t Launcher::first_top_level_processor(std::uint32_t task) const {
  for (const ProcKind kind : mapper::kTopLevelKinds) {
    if (!input_.has_variant(task, kind)) continue;
    const auto first = std::find_if(input_.processors.begin(), input_.processors.end(),
                                    [kind](const Processor& p) { return p.kind == kind; });
    if (first != input_.processors.end()) {
      return static_cast<std::int32_t>(first - input_.processors.begin());
    }
  }
  return -1;
}

// Fails if there is no top-level task, if it has arguments, or if no processor can run it. Asks
// replicate_task only if the answer of select_task_options wants it.
bool Launcher::place_top_level_task(TaskRun& run) {
  if (input_.data.top_level < 0) {
    return outcome_.fail(input_.data.name, "it has no top-level task");
  }
  const auto number = static_cast<std::uint32_t>(input_.data.top_level);
  const app::Task& task = input_.data.tasks[number];
  if (task.arguments > 0) {
    return outcome_.fail(task.name, "the top-level task has arguments, which nobody gives it");
  }
  const std::int32_t first = first_top_level_processor(number);
  if (first < 0) {
    return outcome_.fail(task.name, "no processor of the machine has a variant of it");
  }
  run.task = number;
  run.hold_on(input_.processors, first);
  for (const app::Requirement& requirement : task.requirements) {
    const app::RequirementData& where = requirement.data;
    run.pieces.add(where.kind == app::RequirementData::Kind::kRegion
                       ? &input_.spaces.region(where.region).whole
                       : nullptr,
                   lists_);
  }
  TaskView view = views_.view_of(run, requirements_);
  start_.options.clear();
  mappers_.mapper_of(first).select_task_options(runtime_, view, start_.options);
  if (!mappers_.end_run_if_refused(validate(start_.options, view, *input_.machine), view))
    return false;
  run.hold_on(input_.processors, start_.options.initial);
  if (start_.options.replicate) {
    ReplicateTaskOutput answer;
    view = views_.view_of(run, requirements_);
    mappers_.mapper_of(run.number).replicate_task(runtime_, view, answer);
    if (!mappers_.end_run_if_refused(validate(answer, view, *input_.machine), view)) return false;
    if (answer.processors.size() > 1) {
      top_shards_ = ShardTable(answer.processors);
      run.hold_on(input_.processors, answer.processors.front());
      run.shard_variant = answer.variant;
    }
  }
  return true;
}

// Fails if tasks are nested more than kMaxTaskDepth deep. Asks the mapper of the task how many
// launches may be in flight.
bool Launcher::fill_context(LaunchingTask& context, TaskRun& run) {
  const app::Task& task = input_.data.tasks[run.task];
  if (run.parent != nullptr && run.parent->view.depth >= kMaxTaskDepth) {
    return outcome_.fail(task.name,
                         fmt::format("tasks launch each other more than {} deep", kMaxTaskDepth));
  }
  context.run = &run;
  context.view = views_.view_of(run, context.requirements);
  context.view.requirements = context.requirements;
  context.frame.assign(run.arguments.begin(), run.arguments.end());
  context.frame.resize(static_cast<std::size_t>(task.frame_size));
  if (run.parent != nullptr) context.ancestors = run.parent->ancestors;
  context.ancestors.push_back(run.op);
  if (run.parent == nullptr) context.shards = top_shards_;
  context.view.shards = static_cast<std::uint32_t>(std::max<std::size_t>(1, context.shards.size()));
  ContextConfigOutput answer;
  mappers_.mapper_of(run.number).configure_context(runtime_, context.view, answer);
  context.window.set_limits(answer);
  return true;
}

// Fails if the formula for the number of iterations has no value.
bool Launcher::count_iterations(const LaunchingTask& context, const app::Loop& loop,
                                std::int64_t& count) {
  app::FormulaFault fault = app::FormulaFault::kNone;
  count = loop.count.value(context.frame, fault);
  return fault == app::FormulaFault::kNone ||
         outcome_.fail(input_.data.tasks[context.run->task].name,
                       fmt::format("the count of a loop: {}", app::words_of(fault)), loop.place);
}

// Fails if a formula of the launch domain has no value.
bool Launcher::domain_of(const LaunchingTask& context, const app::Launch& launch,
                         LaunchDomain& domain) {
  if (!launch.is_index) return true;
  app::FormulaFault fault = app::FormulaFault::kNone;
  const auto spend = [this](std::int64_t units) { return outcome_.spend(units); };
  if (auto found = domains_.domain_of(launch, context.frame, fault, spend)) {
    domain = *std::move(found);
    return true;
  }
  if (fault == app::FormulaFault::kNone) return false;
  return outcome_.fail(input_.data.tasks[launch.task].name,
                       fmt::format("the domain of its launch: {}", app::words_of(fault)),
                       launch.place);
}

// Returns the launch as its mapper sees it before it chooses where the launch starts.
TaskView Launcher::view_of_launch(const LaunchingTask& context, const app::Launch& launch,
                                  const LaunchDomain& domain) {
  TaskView view = views_.view(launch.task, &launch, requirements_);
  view.parent = &context.view;
  view.depth = context.view.depth + 1;
  view.current = *context.run->processor;
  view.is_index = launch.is_index;
  view.domain = domain.box;
  view.points = domain.some_points();
  if (!launch.is_index) view.point = point_of(*context.run);
  return view;
}

const TaskOptions* Launcher::ask_in_advance(const LaunchingTask& context, const app::Launch& launch,
                                            const LaunchDomain& domain) {
  const TaskView view = view_of_launch(context, launch, domain);
  TaskOptions& options = advance_.emplace_back();
  mappers_.mapper_of(context.run->number).select_task_options(runtime_, view, options);
  return validate(options, view, *input_.machine).empty() ? &options : nullptr;
}

// Asks select_task_options of the launching task's mapper. An index launch is then cut into slices;
// a single task gets one slice.
bool Launcher::start_launch(const LaunchingTask& context, const app::Launch& launch,
                            const LaunchDomain& domain, CachedLaunchMapping* plan,
                            const TaskOptions* known) {
  TaskView view = view_of_launch(context, launch, domain);
  start_.slices.clear();
  start_.options.clear();
  Mapper& mapper = mappers_.mapper_of(context.run->number);
  if (known != nullptr) {
    start_.options = *known;
  } else if (advance_.empty()) {
    mapper.select_task_options(runtime_, view, start_.options);
  } else {
    start_.options = std::move(advance_.front());
    advance_.pop_front();
  }
  if (!mappers_.end_run_if_refused(validate(start_.options, view, *input_.machine), view))
    return false;
  view.current = start_.options.initial;
  if (launch.is_index) return slice_domain(context, view, plan);
  start_.slices.push_back({Rect{}, start_.options.initial, false, start_.options.stealable});
  return true;
}

// If the launch is not an index launch, `point` is ignored, and the task gets the point of the task
// that launches it.
bool Launcher::make_task_of_point(TaskRun& run, LaunchingTask& context, const app::Launch& launch,
                                  LaunchRun* of, const TaskSlice& slice, const Point& point,
                                  bool as_planned) {
  run.launch = &launch;
  run.of = of;
  run.task = launch.task;
  run.parent = &context;
  run.hold_on(input_.processors, slice.processor);
  run.stealable = slice.stealable;
  run.place =
      launch.is_index ? static_cast<std::uint32_t>(row_major_position(of->domain.box, point)) : 0;
  const Point its_point = launch.is_index ? point : point_of(*context.run);
  if (!find_arguments(run, its_point)) return false;
  if (!as_planned || launch.data.empty()) return find_pieces(run, its_point);
  for (const Piece* piece : plan_of(run)->pieces) run.pieces.add(piece, lists_);
  return true;
}

// Computes the arguments of the task from the frame of the launching task, in which it sets the
// coordinates of the point. Returns false, with a refusal, if a formula has no value.
bool Launcher::find_arguments(TaskRun& run, const Point& point) {
  const app::Launch& launch = *run.launch;
  std::vector<std::int64_t>& frame = run.parent->frame;
  for (int d = 0; launch.is_index && d < point.dimensions(); ++d) {
    frame[static_cast<std::size_t>(launch.point_slot) + static_cast<std::size_t>(d)] = point[d];
  }
  app::FormulaFault fault = app::FormulaFault::kNone;
  std::int64_t work = 8;
  for (const app::CompiledFormula& code : launch.arguments) {
    run.arguments.add(code.value(frame, fault), lists_);
    work += 1 + code.evaluation_cost();
  }
  if (!outcome_.spend(work)) return false;
  return fault == app::FormulaFault::kNone || end_by_formula_fault(run, point, fault);
}

// Finds the piece of a region that each requirement of the task uses. The arguments of the task
// must be known. Returns false, with a refusal, if a formula has no value, if a partition has no
// piece for the point, or if two requirements conflict.
bool Launcher::find_pieces(TaskRun& run, const Point& point) {
  const app::Launch& launch = *run.launch;
  app::FormulaFault fault = app::FormulaFault::kNone;
  std::int64_t work = 0;
  for (const app::RequirementData& where : launch.data) {
    work += 4;
    if (where.kind != app::RequirementData::Kind::kPartition) {
      run.pieces.add(where.kind == app::RequirementData::Kind::kRegion
                         ? &input_.spaces.region(where.region).whole
                         : nullptr,
                     lists_);
      continue;
    }
    const app::Partition& partition = input_.data.partitions[where.index];
    Point color = point;
    if (where.from != app::RequirementData::Color::kPoint) {
      const std::span<const std::int64_t> variables =
          where.from == app::RequirementData::Color::kFrame
              ? std::span<const std::int64_t>(run.parent->frame)
              : std::span<const std::int64_t>(run.arguments);
      color = Point::zeros(static_cast<int>(where.color.size()));
      for (std::size_t d = 0; d < where.color.size(); ++d) {
        color[static_cast<int>(d)] = where.color[d].value(variables, fault);
        work += 1 + where.color[d].evaluation_cost();
      }
    }
    if (fault != app::FormulaFault::kNone) break;
    const auto index = color_index(partition, color);
    if (!index) {
      const std::string why = fmt::format("`{}` has no piece {}", partition.name, text_of(color));
      return outcome_.fail(
          input_.data.tasks[run.task].name,
          launch.is_index ? fmt::format("at point {}: {}", text_of(point), why) : why,
          launch.place);
    }
    run.pieces.add(&input_.spaces.piece(where.index, *index), lists_);
  }
  if (!outcome_.spend(work)) return false;
  return fault == app::FormulaFault::kNone ? check_aliasing(run)
                                           : end_by_formula_fault(run, point, fault);
}

// Ends the run because a formula of the launch has no value at that point. Returns false.
bool Launcher::end_by_formula_fault(const TaskRun& run, const Point& point,
                                    app::FormulaFault fault) {
  return outcome_.fail(
      input_.data.tasks[run.task].name,
      fmt::format("at point {}: a formula of its launch: {}", text_of(point), app::words_of(fault)),
      run.launch->place);
}

// Returns false, with a refusal, if two requirements of the task conflict and their pieces overlap.
bool Launcher::check_aliasing(const TaskRun& run) {
  const DataSpaces::Pairs& pairs = input_.spaces.conflicting_requirements(run.launch->number);
  if (!outcome_.spend(static_cast<std::int64_t>(pairs.size()))) return false;
  for (const auto& [a, b] : pairs) {
    if (!overlap(*run.pieces[a], *run.pieces[b])) continue;
    const std::string& name = input_.data.tasks[run.task].name;
    outcome_.refuse(
        RunStatus::kExecuteError,
        {{diagnostic_without_source(DiagId::kAliasedRequirements, a, b, name), {}}},
        fmt::format("Found aliasing region requirements {} and {} of {} (UID: {}). Individual "
                    "task launches are not permitted  to have interfering region requirements.",
                    a, b, name, run.op));
    return false;
  }
  return true;
}

// If the plan holds slices that were made at a processor of the same kind in the same node, takes
// these slices. Otherwise has mappers slice the domain, and stores the slices in the plan if all
// mappers repeat their answers.
bool Launcher::slice_domain(const LaunchingTask& context, const TaskView& view,
                            CachedLaunchMapping* plan) {
  const Processor& from = view.current;
  if (plan != nullptr && plan->slices && plan->initial.kind == from.kind &&
      plan->initial.node == from.node) {
    start_.slices = *plan->slices;
    return true;
  }
  if (!cut(context, view)) return false;
  if (plan != nullptr && mappers_.all_repeat()) {
    plan->initial = from;
    plan->slices = start_.slices;
  }
  return true;
}

// Cuts the domain of an index launch into slices by calls of slice_task. If the launching task is
// replicated, its domain is first divided among the shards.
bool Launcher::cut(const LaunchingTask& context, const TaskView& view) {
  const mapper::LaunchCutter cutter{
      *input_.machine, runtime_,
      [this](const Processor& p) -> Mapper& { return mappers_.mapper_of(p); },
      [&](std::vector<Refusal> refusals) {
        return mappers_.end_run_if_refused(std::move(refusals), view);
      },
      [&](const std::string& why) { return outcome_.fail(view.name, why); }};
  return cutter.cut(view, *context.run->processor, context.shards, start_.slices);
}

// For each other point of the launch, computes the pieces and compares them with the task's piece
// of this requirement. In a whole run, only a limited number of pieces is computed in this way.
std::optional<std::pair<Point, std::uint32_t>> Launcher::conflicting_point(const TaskRun& run,
                                                                           std::uint32_t position) {
  const std::size_t requirements = input_.data.tasks[run.task].requirements.size();
  const app::RequirementData& mine = data_of_requirement(input_.data, run, position);
  const auto clashes = [&](const TaskRun& other, std::uint32_t r) {
    const app::RequirementData& theirs = data_of_requirement(input_.data, run, r);
    return app::must_keep_order(mine.privilege, theirs.privilege) && other.pieces[r] != nullptr &&
           theirs.region == mine.region &&
           (field_groups_of(input_.spaces, run, r) &
            field_groups_of(input_.spaces, run, position)) != 0 &&
           overlap(*other.pieces[r], *run.pieces[position]);
  };
  const Point its_point = point_of(run);
  const LaunchDomain& domain = run.of->domain;
  Point point = domain.first_point();
  TaskRun other;
  do {
    pieces_to_look_at_ -= static_cast<std::int64_t>(requirements);
    if (point == its_point) continue;
    other.clear();
    other.launch = run.launch;
    other.of = run.of;
    other.task = run.task;
    other.parent = run.parent;
    if (find_arguments(other, point)) find_pieces(other, point);
    // Skip a point whose pieces cannot be computed.
    if (other.pieces.size() < requirements) continue;
    for (std::uint32_t r = 0; r < other.pieces.size(); ++r) {
      if (clashes(other, r)) return std::pair(point, r);
    }
  } while (pieces_to_look_at_ > 0 && next_point(domain, &point));
  return std::nullopt;
}

}  // namespace groma::sim
