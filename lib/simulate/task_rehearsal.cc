// Rehearses single tasks: asks their mappers, takes instances, and checks copies and formulas.
#include "simulate/task_rehearsal.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "simulate/refusals.h"

namespace groma::sim {

// Instances that mappers make are noted as wants, too.
TaskRehearsal::TaskRehearsal(const app::Data& data, const Spaces& spaces,
                             std::shared_ptr<const Machine> machine, const MapperFactory& make,
                             const RehearsalOptions& options, bool notes_wants)
    : Mapping(data, spaces, std::move(machine), make, options.max_bytes),
      options_(options),
      notes_wants_(notes_wants),
      findings_(options.first_error),
      wants_(input_, store_),
      links_(*input_.machine, input_.memories) {
  if (!notes_wants) return;
  instances_.on_made = [this](const InstanceQuery& query, std::optional<InstanceNumber> made) {
    wants_.note_made(asking_, query, made);
  };
}

// The limit of work keeps a rehearsal short. The caller may stop it earlier.
bool TaskRehearsal::stops() {
  return outcome_.budget().spent() > options_.max_work || (options_.stop && options_.stop());
}

// Mappers are told about collected instances after the hooks of the task.
bool TaskRehearsal::map(TaskRun& run, const std::vector<Processor>& may,
                        std::vector<Processor>& places) {
  places.clear();
  const bool mapped = take_instances(run, may, places);
  instances_.tell_collected();
  return mapped;
}

// Does the work of map(), which then tells mappers about collected instances.
bool TaskRehearsal::take_instances(TaskRun& run, const std::vector<Processor>& may,
                                   std::vector<Processor>& places) {
  asking_ = run.task;
  const MapperInstances::Holding holding(instances_);
  const Processor first = *run.processor;
  ask_on_others(run, may, places);
  run.hold_on(input_.processors, first);
  const TaskView view = views_.view_of(run, views_kept_);
  if (!ask(run, view, mapper_of(first))) {
    // The refusal is certain unless the task may start on another node.
    const bool here = std::all_of(may.begin(), may.end(),
                                  [&](const Processor& p) { return p.node == first.node; });
    collect(run.launch, &run, here && knows_instances());
    return false;
  }
  places.insert(places.begin(), wish_.processors.begin(), wish_.processors.end());
  if (wish_.task_profiling.any()) {
    limited_ = true;
    limited_inside_ |= run.parent != nullptr && run.parent->run->parent != nullptr;
  }
  if (limited_) certain_ = ordered_ = false;
  take(run, wish_.processors.front());
  check_formulas(run);
  fetches_.clear();
  for (std::uint32_t r = 0; r < view.requirements.size(); ++r) {
    if (!take_instance(run, view, places, r)) return false;
  }
  for (const Fetch& fetch : fetches_) check_copy(run, fetch);
  return true;
}

// Asks about the task on each processor in `may` except its own, and adds the processors of the
// answers to `places`. Nothing is taken. Leaves run.processor as the last one that was asked.
void TaskRehearsal::ask_on_others(TaskRun& run, const std::vector<Processor>& may,
                                  std::vector<Processor>& places) {
  const Processor first = *run.processor;
  const std::int64_t changes = instances_.changes();
  for (const Processor& other : may) {
    if (other == first || std::find(places.begin(), places.end(), other) != places.end()) {
      continue;
    }
    run.hold_on(input_.processors, other);
    const bool well = ask(run, views_.view_of(run, views_kept_), mapper_of(other));
    if (instances_.changes() > changes) certain_ = false;  // the answer may never be carried out
    if (!well) {
      collect(run.launch, &run, other.node == first.node && knows_instances());
      continue;
    }
    places.insert(places.end(), wish_.processors.begin(), wish_.processors.end());
  }
}

// Returns whether the last refusal is independent of instances that may or may not exist.
bool TaskRehearsal::knows_instances() const {
  if (outcome_.budget().exceeded()) return false;
  return !refused_for(DiagId::kBadInstance) ||
         (certain_ && !store_.doubts().guessed && !store_.doubts().keeps_eager);
}
// Returns whether this is the reason of the last refusal.
bool TaskRehearsal::refused_for(DiagId id) const {
  return !outcome_.result().refusals.empty() &&
         outcome_.result().refusals.front().diagnostic.id == id;
}

// Notes what requirement `r` wants and takes an instance as the run would. Returns false if the
// task is refused. If a memory is full and the store is uncertain, judge_wants() decides
// later.
bool TaskRehearsal::take_instance(TaskRun& run, const TaskView& view,
                                  const std::vector<Processor>& places, std::uint32_t r) {
  const RequirementWish& wish = wish_.requirements[r];
  if (!view.requirements[r].empty() && run.pieces[r] == nullptr) {
    // The run refuses this with any mapping. The rehearsal goes on to check the rest.
    if (findings_.complete()) {
      findings_.leave_incomplete(fmt::format(
          "requirement {} of `{}` (/tasks/{}/requirements/{}) has no `data`, without which it "
          "cannot be run",
          r, view.name, run.task, r));
    }
    run.instances.add(kVirtual, lists_);
    return true;
  }
  const bool real = !view.requirements[r].empty() && !wish.is_virtual;
  if (real && (notes_wants_ || places.size() > 1) &&
      !wants_.note(run, view.requirements[r], wish, places, r)) {
    certain_ = false;  // the load in the run decides between the memories
  }
  if (!map_requirement(run, view, wish, r)) {
    if (outcome_.budget().exceeded()) {
      collect(run.launch, &run);
      return false;
    }
    const bool no_room = refused_for(DiagId::kOutOfMemory);
    if (no_room && !(certain_ && !store_.doubts().guessed) &&
        !exceeds_alone(input_, run, view, wish_, places, r)) {
      outcome_.resume();  // judge_wants() decides later
      run.instances.add(kVirtual, lists_);
      certain_ = false;
      return true;
    }
    collect(run.launch, &run);
    leave_all(run);
    return false;
  }
  if (store_.doubts().guessed || store_.doubts().forked) certain_ = false;
  const bool launches = !input_.data.tasks[run.task].body.empty();
  if (wish.untracked && launches && run.instances.back() != kVirtual && findings_.complete()) {
    findings_.leave_incomplete(fmt::format(
        "region {} of `{}` is not kept, and another task may have it copied again while the "
        "tasks that `{}` launches read it",
        r, view.name, view.name));
  }
  if (certain_) sign(run.instances.back());
  return true;
}

// The task's op is over at once, since a rehearsal has no time.
void TaskRehearsal::leave(TaskRun& run) {
  for (InstanceNumber instance : run.instances) {
    if (instance != kVirtual) store_.leave(instance);
  }
  ops_.complete(run.op, [](Op) {});
}

// The task is not used any more.
void TaskRehearsal::release_lists(TaskRun& run) {
  run.arguments.release(lists_);
  run.pieces.release(lists_);
  run.instances.release(lists_);
}

// Ends the task and its copies after a refusal.
void TaskRehearsal::leave_all(TaskRun& run) {
  for (const Fetch& fetch : fetches_) leave(fetch);
  fetches_.clear();
  leave(run);
}
// Ends a copy: both instances may be free from now on.
void TaskRehearsal::leave(const Fetch& fetch) {
  store_.leave(fetch.from);
  store_.leave(fetch.to);
  ops_.complete(fetch.op, [](Op) {});
}

// Adds a copy to the signature, checks that a route exists, and ends the copy.
void TaskRehearsal::check_copy(const TaskRun& run, const Fetch& fetch) {
  const Instance &from = store_.instance(fetch.from), &to = store_.instance(fetch.to);
  if (certain_) {
    sign(std::uint64_t{fetch.from} << 32 | fetch.to);
    sign(static_cast<std::uint64_t>(fetch.bytes) * 2 + (fetch.reduction ? 1 : 0));
  }
  if (links_.route(from.memory, to.memory) == nullptr) {
    outcome_.refuse(RunStatus::kExecuteError, {no_route(input_.memories, from, to)}, "");
    collect(run.launch, &run, certain_);
  }
  leave(fetch);
}

// Checks the formulas of the task's variant with the values that a run computes at its start.
void TaskRehearsal::check_formulas(const TaskRun& run) {
  sizes_.clear();
  for (const Piece* piece : run.pieces) sizes_.push_back(size_of(piece));
  app::FormulaFault fault = app::FormulaFault::kNone;
  const app::Variant& variant = *run.variant;
  for (const app::Code* code :
       {&variant.flops, &variant.efficiency, &variant.kernels, &variant.nanoseconds}) {
    code->value(run.arguments, fault, sizes_);
  }
  for (const app::Traffic& traffic : variant.traffic) {
    traffic.bytes.value(run.arguments, fault, sizes_);
  }
  if (fault == app::FormulaFault::kNone) return;
  fail_formula(outcome_, input_.data, run, fault);
  collect(run.launch, &run);
}

// ---- What was found

// Work that was cut off by a limit leaves the rehearsal incomplete.
void TaskRehearsal::collect(const app::Launch* launch, const TaskRun* run, bool certain) {
  const bool too_large = outcome_.over() && outcome_.result().status == RunStatus::kTooLarge;
  std::vector<Refusal> refusals = std::move(outcome_.result().refusals);
  outcome_.resume();
  if (too_large) return findings_.end(too_little_memory(options_.max_bytes));
  if (outcome_.budget().exceeded()) {
    return findings_.end(outcome_.budget().spent() > options_.max_work
                             ? "its tasks use more parts of its regions than are looked at"
                             : "it was stopped");
  }
  note_launch(input_.data, launch, run, refusals);
  findings_.add(std::move(refusals), run == nullptr ? "" : input_.data.tasks[run->task].name,
                certain);
  certain_ = false;
  sign(findings_.all().size());
}

// Both judgements count work, so a limit may end them.
void TaskRehearsal::judge_wants() {
  wants_.find_small_memories(outcome_, findings_);
  if (outcome_.over()) collect(nullptr, nullptr);
  auto refusal = wants_.find_missing_route(outcome_, links_);
  if (refusal) outcome_.refuse(RunStatus::kExecuteError, {std::move(*refusal)}, "");
  if (outcome_.over()) collect(nullptr, nullptr, false);
}

// Adds the reasons for which a run may differ that are known only at the end.
RehearsalResult TaskRehearsal::finish() {
  const Store::Doubts& doubts = store_.doubts();
  const bool unsure = !findings_.has_error() && (!certain_ || doubts.guessed || doubts.keeps_eager);
  if (instances_.were_asked_for() && unsure) {
    findings_.leave_incomplete(
        "its mapper looks at instances, and which of them are there depends on the order in which "
        "tasks run");
  }
  // A waiting task occupies a place in its limit, which the tasks that it waits for may need.
  if (limited_inside_) {
    findings_.leave_incomplete(
        "tasks that tasks launch have an `InstanceLimit`, so they may come to wait for each other");
  }
  return findings_.take();
}

}  // namespace groma::sim
