// Implements TaskMapping: asks mappers how a task is mapped, and takes instances as they answer.
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

void TaskMapping::begin(TaskRun& run) {
  run_ = &run;
  asked_ = run.number;
  has_view_ = false;
  fetches_.clear();
  requirements_done_.clear();
  queries_.clear();
}

// The view is made when it is first asked for. It always shows the processor on which the task was
// held at begin(), even after take() has assigned another one.
const TaskView& TaskMapping::view() {
  if (has_view_) return view_;
  view_ = parts_.views.view_of(*run_, requirements_);
  view_.current = parts_.input.processors[asked_];
  has_view_ = true;
  return view_;
}

// For each requirement of the task, sets `valid_` to the instances that hold valid data of its
// piece. The mapper gets this list with map_task.
void TaskMapping::show_valid_instances() {
  const TaskRun& run = *run_;
  const TaskView& view = this->view();
  valid_kept_.assign(valid_.size(), {});
  for (std::uint32_t r = 0; r < valid_.size(); ++r) {
    if (run.pieces[r] == nullptr || view.requirements[r].empty()) continue;
    std::vector<InstanceNumber> found;
    parts_.valid_data.find_valid_instances(data_of_requirement(parts_.input.data, run, r).region,
                                           *run.pieces[r],
                                           field_groups_of(parts_.input.spaces, run, r), found);
    for (InstanceNumber number : found) valid_kept_[r].push_back(parts_.instances.view_of(number));
    valid_[r] = valid_kept_[r];
  }
}

// Fails if the answer is refused, or if the mapper gives up.
bool TaskMapping::ask(Mapper& mapper) {
  const TaskRun& run = *run_;
  const TaskView& view = this->view();
  // Count the work of calling the hook and of checking its answer on the budget.
  if (!parts_.outcome.spend(16 + 8 * static_cast<std::int64_t>(view.requirements.size())))
    return false;
  valid_.assign(view.requirements.size(), {});
  if (run.of != nullptr && run.of->valid_instances && mapper.reads_valid()) {
    show_valid_instances();
  }
  answer_.clear();
  parts_.instances.release_held_instances();
  mapper.map_task(parts_.calls, view, valid_, answer_);
  if (!parts_.mappers.end_run_if_refused(validate(answer_, view, *parts_.input.machine), view,
                                         &answer_))
    return false;
  if (!answer_.abort_mapping && !parts_.instances.check_named(run, view, answer_)) return false;
  return !answer_.abort_mapping ||
         parts_.outcome.fail(view.name, "map_task gives up, and nothing says when to ask again");
}

// The variant number is valid, since it was checked together with the rest of the answer. Mappers
// number the variants of a task from 1.
void TaskMapping::take(const Processor& processor) {
  TaskRun& run = *run_;
  run.hold_on(parts_.input.processors, processor);
  run.variant = &parts_.input.data.tasks[run.task].variants[answer_.variant - 1];
  run.choices = {answer_.task_priority, answer_.task_profiling};
}

// Empty and virtual requirements take no instance.
bool TaskMapping::map_requirement(std::uint32_t position) {
  TaskRun& run = *run_;
  const TaskView& view = this->view();
  const InstanceChoice& choice = answer_.requirements[position];
  const RequirementView& requirement = view.requirements[position];
  CachedTaskMapping::Requirement& done = requirements_done_.emplace_back();
  done.untracked = choice.untracked;
  done.is_empty = requirement.empty();
  if (done.is_empty) {
    run.instances.add(kVirtual, parts_.lists);
    return true;
  }
  if (run.pieces[position] == nullptr) {
    return refuse(missing_data(run, view, position), RunStatus::kExecuteError);
  }
  done.is_handed_on = choice.is_virtual;
  if (done.is_handed_on) return map_virtually(position);
  if (choice.instance != 0) {
    const auto number = static_cast<InstanceNumber>(choice.instance - 1);
    parts_.store.mark_taken(number, static_cast<std::int32_t>(choice.instance_origin.statement));
    return use_instance(position, number, choice.untracked);
  }
  CandidatesWithoutRoom full;
  for (const InstanceCandidate& candidate : choice.candidates()) {
    done.is_handed_on = candidate.memory == MemKind::kVirtual;
    if (done.is_handed_on) return map_virtually(position);
    const auto query = query_for(parts_.input, run, requirement, choice, candidate, position);
    if (!query) continue;
    queries_.push_back(*query);
    ++done.queries;
    const auto found = parts_.store.find_or_make(*query);
    if (found) return use_instance(position, *found, choice.untracked);
    full.add(parts_.store, candidate, *query);
  }
  return refuse(out_of_memory(parts_.input, parts_.store, run, view, position, full),
                RunStatus::kMapError);
}

// ---- Plans

bool TaskMapping::is_plan_for_task(const CachedTaskMapping& plan) const {
  return plan.asked == asked_ && has_same_pieces(plan, *run_);
}

void TaskMapping::take(const CachedTaskMapping& plan, std::int32_t processor) {
  run_->hold_on(parts_.input.processors, processor);
  run_->variant = plan.variant;
  run_->choices = plan.choices;
}

// If there is no room for an instance, the plan cannot be followed further, so the mapper is asked
// about this requirement and those after it. It gives the same answer again, from which the error
// of the run is made.
bool TaskMapping::map_by_plan(const CachedTaskMapping& plan, std::int32_t processor) {
  if (!parts_.outcome.spend(16 + static_cast<std::int64_t>(plan.requirements.size()))) return false;
  take(plan, processor);
  const InstanceQuery* query = plan.queries.data();
  for (std::uint32_t r = 0; r < plan.requirements.size(); ++r) {
    const CachedTaskMapping::Requirement& requirement = plan.requirements[r];
    if (requirement.is_empty) {
      run_->instances.add(kVirtual, parts_.lists);
      continue;
    }
    const InstanceQuery* const end = query + requirement.queries;
    std::optional<InstanceNumber> found;
    for (; query != end && !found; ++query) found = parts_.store.find_or_make(*query);
    query = end;
    if (found) {
      if (!use_instance(r, *found, requirement.untracked)) return false;
    } else if (requirement.is_handed_on) {
      if (!map_virtually(r)) return false;
    } else {
      if (!ask(parts_.mappers.mapper_of(asked_))) return false;
      for (; r < plan.requirements.size(); ++r) {
        if (!map_requirement(r)) return false;
      }
    }
  }
  return true;
}

// Returns true if, for each kind of memory in the answer, all these processors use the same memory
// of that kind.
bool TaskMapping::shares_memories(std::span<const Processor> processors) const {
  const Memories& memories = parts_.input.memories;
  for (const Processor& other : processors.subspan(1)) {
    for (const InstanceChoice& choice : answer_.requirements) {
      for (const InstanceCandidate& candidate : choice.candidates()) {
        if (memories.nearest(other, candidate.memory) !=
            memories.nearest(processors.front(), candidate.memory)) {
          return false;
        }
      }
    }
  }
  return true;
}

void TaskMapping::fill_plan(CachedTaskMapping& plan) const {
  const int plans = plan.plans + 1;
  plan = {};
  plan.plans = plans;
  if (!shares_memories(answer_.processors)) return;
  for (const InstanceChoice& choice : answer_.requirements) {
    if (choice.instance != 0) return;
  }
  plan.requirements = requirements_done_;
  plan.queries = queries_;
  plan.pieces.assign(run_->pieces.begin(), run_->pieces.end());
  for (const Processor& each : answer_.processors) {
    plan.processors.push_back(parts_.input.processors.number_of(each));
  }
  plan.variant = run_->variant;
  plan.choices = run_->choices;
  plan.asked = asked_;
  // The work of the task is computed only when the task starts. The memory for it is reserved here,
  // so that it is counted with the plan.
  plan.work.instances.reserve(run_->pieces.size());
  plan.work.loads.reserve(run_->pieces.size());
  plan.work.arguments.reserve(run_->arguments.size());
}

// ---- Instances

InstanceUse describe_data_use(const RunInput& input, std::uint32_t task, const app::Launch* launch,
                              std::size_t position, const Piece* piece) {
  const app::Task& called = input.data.tasks[task];
  const Coherence coherence = called.requirements[position].coherence;
  InstanceUse use;
  use.piece = piece;
  use.groups = field_groups_of(input.spaces, launch, position);
  use.privilege = app::data_of_requirement(called, launch, position).privilege;
  use.shares = coherence == Coherence::kSimultaneous || coherence == Coherence::kRelaxed ||
               coherence == Coherence::kAtomic;
  return use;
}

// Returns how the task uses the data of a requirement. The caller has to set the member `instance`
// of the result.
InstanceUse TaskMapping::use_of(std::uint32_t position) const {
  const TaskRun& run = *run_;
  InstanceUse use =
      sim::describe_data_use(parts_.input, run.task, run.launch, position, run.pieces[position]);
  use.task = run.op;
  use.launch = run.launch != nullptr && run.launch->is_index ? run.of->number : 0;
  if (run.parent != nullptr) use.ancestors = run.parent->ancestors;
  return use;
}

// Maps a requirement without an instance, because the tasks that this task launches take instances
// for their parts of the data. Returns false, with a refusal, if points of the launch conflict.
bool TaskMapping::map_virtually(std::uint32_t position) {
  TaskRun& run = *run_;
  run.instances.add(kVirtual, parts_.lists);
  if (parts_.valid_data.note_virtual_use(
          data_of_requirement(parts_.input.data, run, position).region, use_of(position))) {
    return parts_.within_limits(run.task);
  }
  refuse_point(position);
  return false;
}

// Takes the instance for the requirement of the task. The copies that are needed before the task
// starts are added to `fetches_`. Returns false, with a refusal, if points of the launch conflict.
bool TaskMapping::use_instance(std::uint32_t position, InstanceNumber number, bool untracked) {
  TaskRun& run = *run_;
  parts_.store.acquire(number);
  run.instances.add(number, parts_.lists);
  InstanceUse use = use_of(position);
  use.instance = number;
  use.untracked = untracked;
  const bool well = parts_.valid_data.apply_use(
      use,
      [&](InstanceNumber target, std::vector<InstanceNumber>& sources) { rank(target, sources); },
      fetches_);
  if (well) return parts_.within_limits(run.task);
  refuse_point(position);
  return false;
}

// Ends the run with the error of a refused task. Returns false.
bool TaskMapping::refuse(RefusedTask refused, RunStatus status) {
  parts_.outcome.refuse(status, {std::move(refused.refusal)}, std::move(refused.raw));
  return false;
}

// Ends the run because two points of a launch conflict on this requirement. A note names the other
// point, if it is found.
void TaskMapping::refuse_point(std::uint32_t position) {
  const TaskRun& run = *run_;
  const TaskView& view = this->view();
  const bool refused = parts_.outcome.refuse(
      RunStatus::kExecuteError,
      {{diagnostic_without_source(DiagId::kInterferingPoints, view.name, position), {}}},
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
void TaskMapping::rank(InstanceNumber target, std::vector<InstanceNumber>& sources) {
  const TaskView& view = this->view();
  source_views_.clear();
  source_ranks_.clear();
  for (InstanceNumber source : sources) source_views_.push_back(parts_.instances.view_of(source));
  parts_.mappers.mapper_of(view.current)
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
