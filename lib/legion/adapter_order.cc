// Decides when and where ready tasks are mapped. Also answers Legion's questions about running
// tasks: settings of their contexts, tunable values, traces and messages.
#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "base/one_diagnostic.h"
#include "legion/adapter.h"

namespace groma::legion {

// ---- Scheduling of ready tasks

// Asks the mapper which of the ready tasks are to be mapped now. All points of a launch may be
// ready at once and a view is large, so the mapper gets the tasks in lists of at most 256.
void Adapter::select_tasks_to_map(MapperContext context, const SelectMappingInput& input,
                                  SelectMappingOutput& output) {
  if (!mapper_->selects()) {
    output.map_tasks.insert(input.ready_tasks.begin(), input.ready_tasks.end());
    return;
  }
  constexpr std::size_t kPart = 256;
  HookBufferPool::BufferUse call(calls_, context, HookSubject::kNoOperation);
  // The mapper gets the ready tasks in several lists, one after the other. No other hook may start
  // between two of these lists. It could trigger a mapper event that the mapper made for one list
  // before the mapper uses this event for the next list.
  const ReentrancyGuard alone = calls_.guard_reentrancy(context);
  MapperEvent deferral = 0;
  std::size_t waiting = 0;
  // The stealable ones among the ready tasks that the mapper neither maps nor moves.
  std::vector<const Legion::Task*> stealable;
  TaskList& ready = call->tasks;
  ready.clear();
  // Asks the mapper about the ready tasks collected so far and merges its answer into `output`. A
  // task that is neither mapped nor moved goes on waiting.
  const auto ask = [&] {
    groma::SelectMappingOutput& answer = call->schedule;
    answer.clear();
    mapper_->select_tasks_to_map(call->hands, ready.views(), answer);
    fail_if_refused(validate(answer, ready.views(), mapper_->machine()));
    for (std::uint32_t index : answer.map) output.map_tasks.insert(ready[index]);
    for (const groma::SelectMappingOutput::Relocation& move : answer.relocate) {
      output.relocate_tasks[ready[move.task]] = realm_processor(move.processor);
    }
    if (answer.deferral != 0) deferral = answer.deferral;
    for (std::uint32_t i = 0; i < ready.size(); ++i) {
      const Legion::Task* task = ready[i];
      if (output.map_tasks.contains(task) || output.relocate_tasks.contains(task)) continue;
      ++waiting;
      if (registration_->is_stealable(*task)) stealable.push_back(task);
    }
    ready.clear();
  };
  for (const Legion::Task* task : input.ready_tasks) {
    // Legion asks about a top-level task twice: on the first processor, which sends the task on,
    // and on its target processor. The task is mapped on the target, so it is not counted here.
    if (task->get_parent_task() == nullptr && task->target_proc != local_proc) {
      output.map_tasks.insert(task);
      continue;
    }
    ready.add(views_, context, *task, groma_processor(task->target_proc));
    if (ready.size() == kPart) ask();
  }
  if (ready.size() > 0) ask();
  // Requests for work that have no answer yet are forgotten. The processor may then ask again when
  // it is idle.
  stealing_.unanswered_requests = 0;
  stealing_.has_ready = waiting > 0;
  if (!stealable.empty() || stealing_.has_stealable) {
    give_or_offer_tasks(context, *call, stealable, output);
  }
  // If no task is mapped or moved, Legion must be given an event to wait for. Otherwise it would
  // call this hook again at once.
  const bool idle = output.map_tasks.empty() && output.relocate_tasks.empty();
  const auto event = events_.open.find(deferral);
  if (idle && event != events_.open.end()) output.deferral_event = event->second;
  deferral_ = idle ? deferral : 0;
}

// ---- Settings of running tasks, messages of other mapper objects

// Handles a message of another mapper object. A message about stealing is for the adapter, any
// other for the mapper.
void Adapter::handle_message(MapperContext context, const MapperMessage& message) {
  HookBufferPool::BufferUse call(calls_, context, HookSubject::kNoOperation);
  const Processor sender = groma_processor(message.sender);
  if (handle_steal_message(context, *call, sender, message.kind)) return;
  mapper_->handle_message(call->hands, sender, message.kind,
                          std::span(static_cast<const std::byte*>(message.message), message.size));
}

// Lets the mapper change the settings of a task's context, such as the number of operations in
// flight. The defaults are those that Legion filled in from its flags, for example -lg:window and
// -lg:sched. A negative number counts as 0.
void Adapter::configure_context(MapperContext context, const Legion::Task& task,
                                ContextConfigOutput& output) {
  HookBufferPool::BufferUse call(calls_, context);
  const TaskView& view = views_.make(context, task, groma_processor(task.current_proc),
                                     TaskViews::Regions::kNone, call->storage);
  const auto count = [](int to) { return static_cast<unsigned>(std::max(0, to)); };
  const auto value = [](unsigned from) { return static_cast<int>(from); };
  groma::ContextConfigOutput answer;
  answer.max_window = value(output.max_window_size);
  answer.hysteresis_percent = value(output.hysteresis_percentage);
  answer.max_outstanding_frames = value(output.max_outstanding_frames);
  answer.min_tasks_to_schedule = value(output.min_tasks_to_schedule);
  answer.min_frames_to_schedule = value(output.min_frames_to_schedule);
  answer.meta_task_vector_width = value(output.meta_task_vector_width);
  answer.max_templates_per_trace = value(output.max_templates_per_trace);
  answer.mutable_priority = output.mutable_priority;
  mapper_->configure_context(call->hands, view, answer);
  output.max_window_size = count(answer.max_window);
  output.hysteresis_percentage = count(answer.hysteresis_percent);
  output.max_outstanding_frames = count(answer.max_outstanding_frames);
  output.min_tasks_to_schedule = count(answer.min_tasks_to_schedule);
  output.min_frames_to_schedule = count(answer.min_frames_to_schedule);
  output.meta_task_vector_width = count(answer.meta_task_vector_width);
  output.max_templates_per_trace = count(answer.max_templates_per_trace);
  output.mutable_priority = answer.mutable_priority;
}

// Decides whether Legion may record the operation in a trace and replay it later without asking a
// mapper.
void Adapter::memoize_operation(MapperContext context, const Legion::Mappable& operation,
                                const MemoizeInput&, MemoizeOutput& output) {
  HookBufferPool::BufferUse call(calls_, context);
  const TaskView& view = views_.make(context, operation, mapper_->site().local, call->storage);
  output.memoize = mapper_->memoize_operation(call->hands, view, true);
}

// Gives the program the value of a tunable. An empty answer is not allowed, because Legion would
// take it for a value and the program would read beyond its end.
void Adapter::select_tunable_value(MapperContext context, const Legion::Task& task,
                                   const SelectTunableInput& input, SelectTunableOutput& output) {
  HookBufferPool::BufferUse call(calls_, context);
  const TaskView& view = views_.make(context, task, groma_processor(task.current_proc),
                                     TaskViews::Regions::kNone, call->storage);
  std::vector<std::byte>& answer = call->bytes;
  answer.clear();
  mapper_->select_tunable_value(call->hands, view, input.tunable_id, input.mapping_tag,
                                std::span(static_cast<const std::byte*>(input.args), input.size),
                                answer);
  if (answer.empty()) {
    registration_->fail(diagnostic_without_source(DiagId::kNoTunable, view.name, input.tunable_id),
                        {}, mapper_.get());
  }
  output.size = answer.size();
  // `output.value` comes from malloc, because Legion frees it.
  output.value = std::malloc(answer.size());
  std::memcpy(output.value, answer.data(), answer.size());
}

}  // namespace groma::legion
