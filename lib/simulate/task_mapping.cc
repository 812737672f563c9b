// Asks how a task is mapped, and takes instances for the answer.
#include "simulate/task_mapping.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "base/one_diagnostic.h"
#include "base/point_text.h"
#include "simulate/candidates.h"
#include "simulate/machine_index.h"
#include "simulate/refusals.h"

namespace groma::sim {

// Sets `valid_` to the valid instances of each requirement, if the launch asked for them and the
// mapper reads them.
void TaskMapping::show_valid_instances(const TaskRun& run, const TaskView& view) {
  valid_kept_.assign(valid_.size(), {});
  for (std::uint32_t r = 0; r < valid_.size(); ++r) {
    if (run.pieces[r] == nullptr || view.requirements[r].empty()) continue;
    std::vector<InstanceNumber> found;
    parts_.valid_data.valid_for(where_of(parts_.input.data, run, r).region, *run.pieces[r],
                                groups_of(parts_.input.spaces, run, r), found);
    for (InstanceNumber number : found) valid_kept_[r].push_back(parts_.instances.view_of(number));
    valid_[r] = valid_kept_[r];
  }
}

// Fails if the answer is refused, or if the mapper gives up.
bool TaskMapping::ask(TaskRun& run, const TaskView& view, Mapper& mapper) {
  // Count the work of the hook and of the checks of its answer.
  if (!parts_.outcome.spend(16 + 8 * static_cast<std::int64_t>(view.requirements.size())))
    return false;
  valid_.assign(view.requirements.size(), {});
  if (run.of != nullptr && run.of->valid_instances && mapper.reads_valid()) {
    show_valid_instances(run, view);
  }
  answer_.clear();
  parts_.instances.let_go();
  mapper.map_task(parts_.calls, view, valid_, answer_);
  if (!parts_.mappers.accepts(validate(answer_, view, *parts_.input.machine), view, &answer_))
    return false;
  if (!answer_.abort_mapping && !parts_.instances.check_named(run, view, answer_)) return false;
  return !answer_.abort_mapping ||
         parts_.outcome.fail(view.name, "map_task gives up, and nothing says when to ask again");
}

// The variant has been checked with the wish. Variants are numbered from 1 there.
void TaskMapping::take(TaskRun& run, const Processor& processor) {
  fetches_.clear();
  run.hold_on(parts_.input.processors, processor);
  run.variant = &parts_.input.data.tasks[run.task].variants[answer_.variant - 1];
  run.wishes.priority = answer_.task_priority;
  run.wishes.profiling = answer_.task_profiling;
}

// Empty and virtual requirements take no instance.
bool TaskMapping::map_requirement(TaskRun& run, const TaskView& view, std::uint32_t position) {
  const RequirementWish& wish = answer_.requirements[position];
  const RequirementView& requirement = view.requirements[position];
  if (requirement.empty()) {
    run.instances.add(kVirtual, parts_.lists);
    return true;
  }
  if (run.pieces[position] == nullptr) {
    return refuse(missing_data(run, view, position), RunStatus::kExecuteError);
  }
  if (wish.is_virtual) return hand_on(run, view, position);
  if (wish.instance != 0) {
    const auto number = static_cast<InstanceNumber>(wish.instance - 1);
    parts_.store.take(number, static_cast<std::int32_t>(wish.instance_origin.statement));
    return use_instance(run, view, wish, position, number);
  }
  FullCandidates full;
  for (const InstanceWish& candidate : wish.candidates()) {
    if (candidate.memory == MemKind::kVirtual) return hand_on(run, view, position);
    const auto query = query_for(parts_.input, run, requirement, wish, candidate, position);
    if (!query) continue;
    const auto found = parts_.store.find_or_make(*query);
    if (found) return use_instance(run, view, wish, position, *found);
    full.add(parts_.store, candidate, *query);
  }
  return refuse(out_of_memory(parts_.input, parts_.store, run, view, position, full),
                RunStatus::kMapError);
}

// Returns how the task uses the data of a requirement. The instance is left open.
Use TaskMapping::use_of(const TaskRun& run, const TaskView& view, std::uint32_t position) const {
  const RequirementView& requirement = view.requirements[position];
  Use use;
  use.task = run.op;
  use.piece = run.pieces[position];
  use.groups = groups_of(parts_.input.spaces, run, position);
  use.privilege = requirement.privilege;
  use.shares = requirement.coherence == Coherence::kSimultaneous ||
               requirement.coherence == Coherence::kRelaxed ||
               requirement.coherence == Coherence::kAtomic;
  use.launch = run.launch != nullptr && run.launch->is_index ? run.of->number : 0;
  if (run.parent != nullptr) use.ancestors = run.parent->ancestors;
  return use;
}

// Maps a requirement without an instance, because the tasks that this task launches map their
// parts. Returns false, with a refusal, if points of the launch conflict.
bool TaskMapping::hand_on(TaskRun& run, const TaskView& view, std::uint32_t position) {
  run.instances.add(kVirtual, parts_.lists);
  if (parts_.valid_data.touch(where_of(parts_.input.data, run, position).region,
                              use_of(run, view, position))) {
    return parts_.within_limits(run.task);
  }
  refuse_point(run, view, position);
  return false;
}

// Makes the task use the instance, and adds the copies that are needed before to `fetches_`.
// Returns false, with a refusal, if points of the launch conflict.
bool TaskMapping::use_instance(TaskRun& run, const TaskView& view, const RequirementWish& wish,
                               std::uint32_t position, InstanceNumber number) {
  parts_.store.acquire(number);
  run.instances.add(number, parts_.lists);
  Use use = use_of(run, view, position);
  use.instance = number;
  use.untracked = wish.untracked;
  const bool well = parts_.valid_data.use(
      use,
      [&](InstanceNumber target, std::vector<InstanceNumber>& sources) {
        rank(view, target, sources);
      },
      fetches_);
  if (well) return parts_.within_limits(run.task);
  refuse_point(run, view, position);
  return false;
}

// Ends the run with this error. Returns false.
bool TaskMapping::refuse(RefusedTask refused, RunStatus status) {
  parts_.outcome.refuse(status, {std::move(refused.refusal)}, std::move(refused.raw));
  return false;
}

// Ends the run because two points of a launch conflict on this requirement. A note names the other
// point, if it is found.
void TaskMapping::refuse_point(const TaskRun& run, const TaskView& view, std::uint32_t position) {
  const bool refused =
      parts_.outcome.refuse(RunStatus::kExecuteError,
                            {{one_diagnostic(DiagId::kInterferingPoints, view.name, position), {}}},
                            "index space launch with interfering requirements");
  if (!refused) return;
  Diagnostic& diagnostic = parts_.outcome.result().refusals.front().diagnostic;
  diagnostic.note(fmt::format("{} of the application", run.launch->place));
  const auto other = parts_.launcher.conflicting_point(run, position);
  if (!other) return;
  diagnostic.note(fmt::format("point {} has some of the same data as its region {}",
                              text_of(other->first), other->second));
}

// Asks select_sources and sorts `sources` by its answer, best first. Sources that the answer does
// not name follow in their old order.
void TaskMapping::rank(const TaskView& view, InstanceNumber target,
                       std::vector<InstanceNumber>& sources) {
  source_views_.clear();
  source_ranks_.clear();
  for (InstanceNumber source : sources) source_views_.push_back(parts_.instances.view_of(source));
  parts_.mappers.of(view.current)
      .select_sources(parts_.calls, view, parts_.instances.view_of(target), source_views_,
                      source_ranks_);
  // The sources that the mapper names come first.
  ranked_.clear();
  const auto add = [&](InstanceNumber source) {
    if (std::find(ranked_.begin(), ranked_.end(), source) == ranked_.end()) {
      ranked_.push_back(source);
    }
  };
  for (std::uint32_t i : source_ranks_) {
    if (i < sources.size()) add(sources[i]);
  }
  for (InstanceNumber source : sources) add(source);
  sources.swap(ranked_);
}

}  // namespace groma::sim
