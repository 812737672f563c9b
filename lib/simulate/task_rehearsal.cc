// Rehearses single tasks: asks their mappers, takes instances, and checks copies and formulas.
#include "simulate/task_rehearsal.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "simulate/refusals.h"

namespace groma::sim {

// Maps the task, and then tells the mappers about collected instances, after the hooks of the task.
bool TaskRehearsal::map(TaskRun& run, RoughClock::LaunchingBody* launcher,
                        const std::vector<Processor>& may, std::vector<Processor>& places) {
  places.clear();
  const bool mapped = take_instances(run, launcher, may, places);
  parts_.instances.report_collected_instances();
  return mapped;
}

// Does the work of map() except that mappers are not told about collected instances.
bool TaskRehearsal::take_instances(TaskRun& run, RoughClock::LaunchingBody* launcher,
                                   const std::vector<Processor>& may,
                                   std::vector<Processor>& places) {
  state_.asking = run.task;
  const MapperInstances::MappingScope holding(parts_.instances);
  const Processor first = *run.processor;
  ask_on_others(run, may, places);
  run.hold_on(parts_.input.processors, first);
  mapping_.begin(run);
  const TaskView& view = mapping_.view();
  if (!mapping_.ask(mapper_of(first))) {
    // If the task could start only on processors of this node, a run refuses it in the same way. If
    // it may start on another node, the mapper there may answer otherwise.
    const bool here = std::all_of(may.begin(), may.end(),
                                  [&](const Processor& p) { return p.node == first.node; });
    state_.collect_refusals(run.launch, &run, here && last_refusal_is_certain());
    return false;
  }
  places.insert(places.begin(), mapping_.answer().processors.begin(),
                mapping_.answer().processors.end());
  if (mapping_.answer().task_profiling.any()) {
    state_.limited = true;
    state_.limited_inside |= run.parent != nullptr && run.parent->run->parent != nullptr;
  }
  if (state_.limited) state_.certain = state_.ordered = false;
  mapping_.take(mapping_.answer().processors.front());
  check_formulas(run);
  for (std::uint32_t r = 0; r < view.requirements.size(); ++r) {
    if (!take_instance(run, view, places, r)) return false;
  }
  if (state_.clock) {
    state_.clock->add_task(run, launcher, mapping_.answer().processors, mapping_.fetches());
  }
  for (const NeededCopy& fetch : mapping_.fetches()) check_copy(run, fetch);
  return true;
}

// Asks mappers about the task on each processor in `may` except its own, and adds the processors of
// the answers to `places`. Nothing is taken. Leaves run.processor as the last processor that was
// asked.
void TaskRehearsal::ask_on_others(TaskRun& run, const std::vector<Processor>& may,
                                  std::vector<Processor>& places) {
  const Processor first = *run.processor;
  const std::int64_t changes = parts_.instances.changes();
  for (const Processor& other : may) {
    if (other == first || std::find(places.begin(), places.end(), other) != places.end()) {
      continue;
    }
    run.hold_on(parts_.input.processors, other);
    mapping_.begin(run);
    const bool well = mapping_.ask(mapper_of(other));
    if (parts_.instances.changes() > changes)
      // A run may never ask this mapper, and then these changes of instances do not happen.
      state_.certain = false;
    if (!well) {
      state_.collect_refusals(run.launch, &run,
                              other.node == first.node && last_refusal_is_certain());
      continue;
    }
    places.insert(places.end(), mapping_.answer().processors.begin(),
                  mapping_.answer().processors.end());
  }
}

// Returns true if the last refusal does not depend on which instances exist, or if it is certain
// which instances exist.
bool TaskRehearsal::last_refusal_is_certain() const {
  if (parts_.outcome.budget().exceeded()) return false;
  return !last_refusal_has_id(DiagId::kBadInstance) ||
         (state_.certain && !parts_.store.doubts().guessed && !parts_.store.doubts().keeps_eager);
}
// Returns true if the run was refused last with this diagnostic id.
bool TaskRehearsal::last_refusal_has_id(DiagId id) const {
  return !parts_.outcome.result().refusals.empty() &&
         parts_.outcome.result().refusals.front().diagnostic.id == id;
}

// Notes which instance requirement `r` wants, and takes one as the run would. Returns false if the
// task is refused. If a memory is full and the state of the store is uncertain, this is not an
// error yet: warn_about_wants() decides at the end.
bool TaskRehearsal::take_instance(TaskRun& run, const TaskView& view,
                                  const std::vector<Processor>& places, std::uint32_t r) {
  const InstanceChoice& choice = mapping_.answer().requirements[r];
  if (!view.requirements[r].empty() && run.pieces[r] == nullptr) {
    // A run refuses a requirement without data, whatever the mapping. The rehearsal goes on to
    // check the rest.
    if (state_.findings.complete()) {
      state_.findings.mark_incomplete(fmt::format(
          "requirement {} of `{}` (/tasks/{}/requirements/{}) has no `data`, without which it "
          "cannot be run",
          r, view.name, run.task, r));
    }
    run.instances.add(kVirtual, parts_.lists);
    return true;
  }
  const bool real = !view.requirements[r].empty() && !choice.is_virtual;
  if (real && (state_.notes_wants || places.size() > 1) &&
      !state_.wants.note_requirement(run, view.requirements[r], choice, places, r)) {
    // The possible processors use different memories, or some of them can address none. In a run,
    // the load of the processors decides on which of them the task runs, so from here on the store
    // is uncertain.
    state_.certain = false;
  }
  if (!mapping_.map_requirement(r)) {
    if (parts_.outcome.budget().exceeded()) {
      state_.collect_refusals(run.launch, &run);
      return false;
    }
    const bool no_room = last_refusal_has_id(DiagId::kOutOfMemory);
    if (no_room && !(state_.certain && !parts_.store.doubts().guessed) &&
        !task_exceeds_memory(parts_.input, run, view, mapping_.answer(), places, r)) {
      // This refusal is ignored, since warn_about_wants() decides at the end whether the memory may
      // be too small.
      parts_.outcome.resume();
      run.instances.add(kVirtual, parts_.lists);
      state_.certain = false;
      return true;
    }
    state_.collect_refusals(run.launch, &run);
    end_refused_task(run);
    return false;
  }
  if (parts_.store.doubts().guessed || parts_.store.doubts().forked) state_.certain = false;
  const bool launches = !parts_.input.data.tasks[run.task].body.empty();
  if (choice.untracked && launches && run.instances.back() != kVirtual &&
      state_.findings.complete()) {
    state_.findings.mark_incomplete(fmt::format(
        "region {} of `{}` is not kept, and another task may have it copied again while the "
        "tasks that `{}` launches read it",
        r, view.name, view.name));
  }
  if (state_.certain) state_.add_to_signature(run.instances.back());
  return true;
}

// A rehearsal has no time, so the op of the task is marked as done as soon as the task is mapped.
void TaskRehearsal::leave(TaskRun& run) {
  for (InstanceNumber instance : run.instances) {
    if (instance != kVirtual) parts_.store.release_at_unknown_time(instance);
  }
  parts_.ops.complete(run.op, [](Op) {});
}

// Frees the lists of the task's object, so the object must not be used afterwards.
void TaskRehearsal::release_lists(TaskRun& run) {
  run.arguments.release(parts_.lists);
  run.pieces.release(parts_.lists);
  run.instances.release(parts_.lists);
}

// After a refusal, ends the task and the copies that were added for it.
void TaskRehearsal::end_refused_task(TaskRun& run) {
  for (const NeededCopy& fetch : mapping_.fetches()) leave(fetch);
  mapping_.fetches().clear();
  leave(run);
}
// Ends a copy. From now on, its source and target instances may be free.
void TaskRehearsal::leave(const NeededCopy& fetch) {
  parts_.store.release_at_unknown_time(fetch.from);
  parts_.store.release_at_unknown_time(fetch.to);
  parts_.ops.complete(fetch.op, [](Op) {});
}

// Adds a copy to the signature, checks that a route exists, and ends the copy.
void TaskRehearsal::check_copy(const TaskRun& run, const NeededCopy& fetch) {
  const Instance &from = parts_.store.instance(fetch.from), &to = parts_.store.instance(fetch.to);
  if (state_.certain) {
    state_.add_to_signature(std::uint64_t{fetch.from} << 32 | fetch.to);
    state_.add_to_signature(static_cast<std::uint64_t>(fetch.bytes) * 2 +
                            (fetch.reduction ? 1 : 0));
  }
  if (state_.links.route(from.memory, to.memory) == nullptr) {
    parts_.outcome.refuse(RunStatus::kExecuteError, {no_route(parts_.input.memories, from, to)},
                          "");
    state_.collect_refusals(run.launch, &run, state_.certain);
  }
  leave(fetch);
}

// Checks the formulas of the task's variant with the values that a run computes at its start.
void TaskRehearsal::check_formulas(const TaskRun& run) {
  sizes_.clear();
  for (const Piece* piece : run.pieces) sizes_.push_back(size_of(piece));
  app::FormulaFault fault = app::FormulaFault::kNone;
  const app::Variant& variant = *run.variant;
  for (const app::CompiledFormula* code :
       {&variant.flops, &variant.efficiency, &variant.kernels, &variant.nanoseconds}) {
    code->value(run.arguments, fault, sizes_);
  }
  for (const app::Traffic& traffic : variant.traffic) {
    traffic.bytes.value(run.arguments, fault, sizes_);
  }
  if (fault == app::FormulaFault::kNone) return;
  fail_formula(parts_.outcome, parts_.input.data, run, fault);
  state_.collect_refusals(run.launch, &run);
}

}  // namespace groma::sim
