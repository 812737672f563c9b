// Passes each hook first to the program's own mapper, then to the adapter, which changes what the
// statements of the mapping decide. Hooks without a corresponding statement (tunables, contexts,
// copies, inline mappings, partitions, sources, ...) only go to the program's mapper.
#include "legion/overlay.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <mutex>
#include <set>
#include <typeinfo>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/name_pattern.h"
#include "legion/adapter.h"
#include "legion/adapter_lock.h"
#include "legion/compatibility.h"
#include "legion/owning_forwarding_mapper.h"
#include "legion/rendezvous.h"
#include "legion/stealing.h"
#include "program/data.h"

namespace groma::legion {
namespace {

using LegionMapper = Legion::Mapping::Mapper;
using MapperContext = Legion::Mapping::MapperContext;
using Legion::Mapping::MapperEvent;

// Keeps ready tasks waiting for the first of two events: an event of the program's mapper or an
// event of the adapter. Legion can wait for one event only, so a third one, `either`, is triggered
// when one of the two is. One object serves all mapper objects of the process, because the program
// may trigger its event in a hook of another object.
class EventWaits {
 public:
  // Notes that `either` must be triggered once `own` or `adapters` (the adapter's event) has been
  // triggered.
  void add(MapperEvent own, MapperEvent adapters, MapperEvent either) {
    const std::lock_guard lock(mutex_);
    waits_.push_back({own, adapters, either});
    any_ = true;
  }
  // Triggers `either` for each pair of events of which one has been triggered. Several hooks may
  // call this function at the same time. The first caller does the work. The others only make it
  // check once more, because their events may have come after its first check.
  void look(Legion::Mapping::MapperRuntime& runtime, MapperContext context) {
    if (!any_) return;
    std::unique_lock lock(mutex_);
    again_ = true;
    if (looking_) return;
    looking_ = true;
    while (std::exchange(again_, false)) {
      std::vector<EventWait> waits = std::exchange(waits_, {});
      // The lock is released, because Legion may let other hooks run during its calls.
      lock.unlock();
      std::erase_if(waits, [&](const EventWait& wait) {
        const bool came = runtime.has_mapper_event_triggered(context, wait.own) ||
                          runtime.has_mapper_event_triggered(context, wait.adapters);
        if (came) runtime.trigger_mapper_event(context, wait.either);
        return came;
      });
      lock.lock();
      waits_.insert(waits_.end(), waits.begin(), waits.end());
    }
    looking_ = false;
    any_ = !waits_.empty();
  }

 private:
  struct EventWait {
    MapperEvent own, adapters, either;
  };
  std::mutex mutex_;
  std::vector<EventWait> waits_;
  bool looking_ = false, again_ = false;
  std::atomic<bool> any_ = false;
};

// Returns the Waits object of the whole process.
EventWaits& waits() {
  static EventWaits all;
  return all;
}

// A mapper for one processor: the program's mapper with an adapter above it.
class OverlayMapper final : public OwningForwardingMapper {
 public:
  OverlayMapper(LegionMapper* own, std::unique_ptr<Adapter> adapter,
                std::shared_ptr<const StatementsByTask> mentions)
      : OwningForwardingMapper(own),
        adapter_(std::move(adapter)),
        mentions_(std::move(mentions)),
        own_order_(chooses_layouts(*own)),
        name_(std::string("groma over ") + own->get_mapper_name()) {
    if (is_concurrent(*own)) turns_ = std::make_unique<AdapterLock>(own->runtime, *adapter_);
  }

  const char* get_mapper_name() const override { return name_.c_str(); }

  // ---- Hooks for a task
  // In every hook below, the program's mapper answers first. Its answer is changed if the mapping
  // has a statement about the task. If the program's mapper is concurrent, the adapter is used by
  // one hook at a time (AdapterLockGuard).
  void select_task_options(MapperContext context, const Legion::Task& task,
                           TaskOptions& output) override {
    adapter_->note_reductions(task.regions);
    mapper->select_task_options(context, task, output);
    if (statements(task).any()) {
      const AdapterLockGuard turn(turns_.get(), context);
      adapter_->overlay_options(context, task, output);
    }
    wake(context);
  }
  void premap_task(MapperContext context, const Legion::Task& task, const PremapTaskInput& input,
                   PremapTaskOutput& output) override {
    mapper->premap_task(context, task, input, output);
    wake(context);
  }
  void postmap_task(MapperContext context, const Legion::Task& task, const PostMapInput& input,
                    PostMapOutput& output) override {
    mapper->postmap_task(context, task, input, output);
    wake(context);
  }
  void select_sharding_functor(MapperContext context, const Legion::Task& task,
                               const SelectShardingFunctorInput& input,
                               SelectShardingFunctorOutput& output) override {
    mapper->select_sharding_functor(context, task, input, output);
    if (has(task, MappingStatement::kIndexTaskMap)) {
      const AdapterLockGuard turn(turns_.get(), context);
      adapter_->overlay_sharding(context, task, input, output);
    }
    wake(context);
  }
  // Replicates a task. A statement about control replication leaves the program's mapper out: that
  // mapper need not be able to answer for a task that it would not replicate itself.
  void replicate_task(MapperContext context, const Legion::Task& task,
                      const ReplicateTaskInput& input, ReplicateTaskOutput& output) override {
    if (!has(task, MappingStatement::kControlReplicate)) {
      mapper->replicate_task(context, task, input, output);
      return wake(context);
    }
    const AdapterLockGuard turn(turns_.get(), context);
    adapter_->replicate_task(context, task, input, output);
  }
  void slice_task(MapperContext context, const Legion::Task& task, const SliceTaskInput& input,
                  SliceTaskOutput& output) override {
    mapper->slice_task(context, task, input, output);
    if (statements(task).any()) {
      const AdapterLockGuard turn(turns_.get(), context);
      adapter_->overlay_slices(context, task, input, output);
    }
    wake(context);
  }
  // Maps a task. The adapter asks Legion for a report of the task's end if it counts the task or if
  // tasks may be stolen. A task that select_tasks_to_map has counted but that gets no such report
  // must stop counting at once.
  void map_task(MapperContext context, const Legion::Task& task, const MapTaskInput& input,
                MapTaskOutput& output) override {
    const RequestedInstances::MapTaskScope call(adapter_->asked_instances(), context, own_order_);
    mapper->map_task(context, task, input, output);
    bool counted = is_scheduled(task);
    if (statements(task).any() && !output.abort_mapping) {
      const bool own_asks =
          !output.task_prof_requests.empty() || !output.copy_prof_requests.empty();
      const AdapterLockGuard turn(turns_.get(), context);
      if (adapter_->overlay_task(context, task, input, output)) {
        const std::lock_guard lock(mutex_);
        reports_[task.get_unique_id()] = {own_asks, 0};
        // The task counts against its limit until its end is reported.
        counted = false;
      }
    }
    // If the task is still counted here, it stops counting: either it was not mapped and becomes
    // ready again, or no mapper will be told when it ends.
    if (counted) {
      const AdapterLockGuard turn(turns_.get(), context);
      adapter_->stop_counting(context, task);
    }
    wake(context);
  }
  // Passes a profiling report to the adapter and the program's mapper, to each only if it requested
  // the report. DefaultMapper would end the process on a report that it did not request.
  void report_profiling(MapperContext context, const Legion::Task& task,
                        const TaskProfilingInfo& input) override {
    bool adapter_asked = false, own_asked = true;
    {
      const std::lock_guard lock(mutex_);
      const auto found = reports_.find(task.get_unique_id());
      if (found != reports_.end()) {
        adapter_asked = true;
        own_asked = found->second.own_asked;
        if (++found->second.heard >= input.total_reports) reports_.erase(found);
      }
    }
    if (adapter_asked && input.task_response) {
      const AdapterLockGuard turn(turns_.get(), context);
      adapter_->report_profiling(context, task, input);
    }
    if (own_asked) mapper->report_profiling(context, task, input);
    wake(context);
  }
  // Decides whether a task may be traced. Legion asks no mapper during the replay of a trace, so
  // tasks that are counted or may be stolen are not traced.
  void memoize_operation(MapperContext context, const Legion::Mappable& operation,
                         const MemoizeInput& input, MemoizeOutput& output) override {
    mapper->memoize_operation(context, operation, input, output);
    const Legion::Task* task = operation.as_task();
    if (output.memoize && task != nullptr && is_scheduled(*task)) output.memoize = false;
    wake(context);
  }

  // Passes a message to the adapter or to the program's mapper. Messages between adapters have
  // kinds that no mapper of a program uses.
  void handle_message(MapperContext context, const MapperMessage& message) override {
    if (!is_adapter_message(message.kind)) {
      mapper->handle_message(context, message);
    } else if (turns_ != nullptr) {
      turns_->deliver_message(context, message);
    } else {
      adapter_->handle_message(context, message);
    }
    wake(context);
  }
  void handle_task_result(MapperContext context, const MapperTaskResult& result) override {
    mapper->handle_task_result(context, result);
    wake(context);
  }

  // ---- Hooks for several tasks
  void select_sharding_functor(MapperContext context, const Legion::MustEpoch& epoch,
                               const SelectShardingFunctorInput& input,
                               MustEpochShardingFunctorOutput& output) override {
    mapper->select_sharding_functor(context, epoch, input, output);
    const bool one_launch = epoch.index_space_tasks.size() == 1 && epoch.individual_tasks.empty();
    if (one_launch && has(*epoch.index_space_tasks.front(), MappingStatement::kIndexTaskMap)) {
      const AdapterLockGuard turn(turns_.get(), context);
      adapter_->overlay_sharding(context, *epoch.index_space_tasks.front(), input, output);
    }
    wake(context);
  }
  // Maps a must epoch. The adapter changes the answer if a statement names any of its tasks.
  void map_must_epoch(MapperContext context, const MapMustEpochInput& input,
                      MapMustEpochOutput& output) override {
    mapper->map_must_epoch(context, input, output);
    const auto is_said = [this](const Legion::Task* task) { return statements(*task).any(); };
    if (std::any_of(input.tasks.begin(), input.tasks.end(), is_said)) {
      const AdapterLockGuard turn(turns_.get(), context);
      adapter_->overlay_must_epoch(context, input, output);
    }
    wake(context);
  }
  void select_tasks_to_map(MapperContext context, const SelectMappingInput& input,
                           SelectMappingOutput& output) override;
  void select_steal_targets(MapperContext context, const SelectStealingInput& input,
                            SelectStealingOutput& output) override {
    mapper->select_steal_targets(context, input, output);
    {
      const AdapterLockGuard turn(turns_.get(), context);
      adapter_->select_steal_targets(context, input, output);
    }
    wake(context);
  }
  void permit_steal_request(MapperContext context, const StealRequestInput& input,
                            StealRequestOutput& output) override;

  void handle_instance_collection(MapperContext context,
                                  const Legion::Mapping::PhysicalInstance& instance) override {
    {
      const AdapterLockGuard turn(turns_.get(), context);
      adapter_->handle_instance_collection(context, instance);
    }
    OwningForwardingMapper::handle_instance_collection(context, instance);
    wake(context);
  }

  // ---- Hooks that only the program's mapper decides. The mapper may trigger an event in any hook.
  // NOLINTBEGIN(bugprone-macro-parentheses): Output is a type
#define GROMA_FORWARD(hook, Operation, Input, Output)                                      \
  void hook(MapperContext context, const Legion::Operation& operation, const Input& input, \
            Output& output) override {                                                     \
    mapper->hook(context, operation, input, output);                                       \
    wake(context);                                                                         \
  }
#define GROMA_FORWARD_REPORT(Operation, Input)                                     \
  void report_profiling(MapperContext context, const Legion::Operation& operation, \
                        const Input& input) override {                             \
    mapper->report_profiling(context, operation, input);                           \
    wake(context);                                                                 \
  }
  GROMA_FORWARD(select_task_variant, Task, SelectVariantInput, SelectVariantOutput)
  GROMA_FORWARD(select_task_sources, Task, SelectTaskSrcInput, SelectTaskSrcOutput)
  GROMA_FORWARD(select_tunable_value, Task, SelectTunableInput, SelectTunableOutput)
  GROMA_FORWARD(select_inline_sources, InlineMapping, SelectInlineSrcInput, SelectInlineSrcOutput)
  GROMA_FORWARD_REPORT(InlineMapping, InlineProfilingInfo)
  GROMA_FORWARD(select_copy_sources, Copy, SelectCopySrcInput, SelectCopySrcOutput)
  GROMA_FORWARD(select_sharding_functor, Copy, SelectShardingFunctorInput,
                SelectShardingFunctorOutput)
  GROMA_FORWARD_REPORT(Copy, CopyProfilingInfo)
  GROMA_FORWARD(select_close_sources, Close, SelectCloseSrcInput, SelectCloseSrcOutput)
  GROMA_FORWARD(select_sharding_functor, Close, SelectShardingFunctorInput,
                SelectShardingFunctorOutput)
  GROMA_FORWARD_REPORT(Close, CloseProfilingInfo)
  GROMA_FORWARD(map_acquire, Acquire, MapAcquireInput, MapAcquireOutput)
  GROMA_FORWARD(select_sharding_functor, Acquire, SelectShardingFunctorInput,
                SelectShardingFunctorOutput)
  GROMA_FORWARD_REPORT(Acquire, AcquireProfilingInfo)
  GROMA_FORWARD(map_release, Release, MapReleaseInput, MapReleaseOutput)
  GROMA_FORWARD(select_release_sources, Release, SelectReleaseSrcInput, SelectReleaseSrcOutput)
  GROMA_FORWARD(select_sharding_functor, Release, SelectShardingFunctorInput,
                SelectShardingFunctorOutput)
  GROMA_FORWARD_REPORT(Release, ReleaseProfilingInfo)
  GROMA_FORWARD(select_partition_projection, Partition, SelectPartitionProjectionInput,
                SelectPartitionProjectionOutput)
  GROMA_FORWARD(map_partition, Partition, MapPartitionInput, MapPartitionOutput)
  GROMA_FORWARD(select_partition_sources, Partition, SelectPartitionSrcInput,
                SelectPartitionSrcOutput)
  GROMA_FORWARD(select_sharding_functor, Partition, SelectShardingFunctorInput,
                SelectShardingFunctorOutput)
  GROMA_FORWARD_REPORT(Partition, PartitionProfilingInfo)
  GROMA_FORWARD(select_sharding_functor, Fill, SelectShardingFunctorInput,
                SelectShardingFunctorOutput)
#undef GROMA_FORWARD
#undef GROMA_FORWARD_REPORT
  // NOLINTEND(bugprone-macro-parentheses)
  void map_inline(MapperContext context, const Legion::InlineMapping& operation,
                  const MapInlineInput& input, MapInlineOutput& output) override {
    adapter_->note_reductions({operation.requirement});
    mapper->map_inline(context, operation, input, output);
    wake(context);
  }
  void map_copy(MapperContext context, const Legion::Copy& operation, const MapCopyInput& input,
                MapCopyOutput& output) override {
    adapter_->note_reductions(operation.dst_requirements);
    mapper->map_copy(context, operation, input, output);
    wake(context);
  }
  void configure_context(MapperContext context, const Legion::Task& task,
                         ContextConfigOutput& output) override {
    mapper->configure_context(context, task, output);
    wake(context);
  }
  void map_future_map_reduction(MapperContext context, const FutureMapReductionInput& input,
                                FutureMapReductionOutput& output) override {
    mapper->map_future_map_reduction(context, input, output);
    wake(context);
  }

 private:
  // The profiling reports of a task for which the adapter requested one.
  struct Reports {
    // True if the program's mapper requested reports, too.
    bool own_asked = false;
    unsigned heard = 0;
  };

  // Returns the kinds of statements that name the task.
  StatementSet statements(const Legion::Task& task) {
    return statements_naming(task) | mentions_->statements_selecting(task);
  }
  // Returns the kinds of statements with the task's name or a pattern of it. The result is cached
  // by task id. A task that no statement names is noted, because its name may be what a misspelt
  // statement meant.
  StatementSet statements_naming(const Legion::Task& task) {
    const std::lock_guard lock(mutex_);
    const auto found = statements_.find(task.task_id);
    if (found != statements_.end()) return found->second;
    const StatementSet made = mentions_->statements_naming(task.get_task_name());
    if (!made.any()) adapter_->note_launched(task.get_task_name());
    return statements_[task.task_id] = made;
  }
  // Returns true if a statement of this kind names the task.
  bool has(const Legion::Task& task, MappingStatement statement) {
    return statements(task)[static_cast<std::size_t>(statement)];
  }
  // Returns true if the adapter decides when the task is mapped, because the task has a limit or
  // may be stolen. If the points of a launch wait for each other, none of them may be held back.
  bool is_scheduled(const Legion::Task& task) {
    return !is_rendezvous(task) &&
           (has(task, MappingStatement::kInstanceLimit) || has(task, MappingStatement::kTaskSteal));
  }

  // Checks again the tasks that wait for one of two events, because this hook may have triggered
  // one. Every hook calls this function at its end.
  void wake(MapperContext context) { waits().look(*mapper->runtime, context); }
  void forget_let_through(MapperContext context, const Legion::Task& task);

  std::unique_ptr<Adapter> adapter_;
  std::shared_ptr<const StatementsByTask> mentions_;
  const bool own_order_;
  std::string name_;
  // Null if the program's mapper is not concurrent.
  std::unique_ptr<AdapterLock> turns_;

  std::mutex mutex_;
  std::unordered_map<Legion::TaskID, StatementSet> statements_;
  std::unordered_map<Legion::UniqueID, Reports> reports_;
  // Ready tasks that the adapter let through within its limits, and that the program's mapper has
  // not mapped yet.
  std::set<const Legion::Task*> let_through_;
};

// Selects the ready tasks that are mapped now. The adapter decides first which of the tasks that it
// schedules may be mapped. The program's mapper then chooses among these and all other tasks. It
// never sees a task that the adapter holds back, because it may count the tasks that it sees. A
// task that the adapter has let through is not given to the adapter again.
void OverlayMapper::select_tasks_to_map(MapperContext context, const SelectMappingInput& input,
                                        SelectMappingOutput& output) {
  // `scheduled` are the tasks about which the adapter decides, `free` the tasks from which the
  // program's mapper chooses. `held` are the scheduled tasks that the adapter has not let through.
  SelectMappingInput scheduled, free;
  copy_processor(input, scheduled);
  copy_processor(input, free);
  std::set<const Legion::Task*> held;
  for (const Legion::Task* task : input.ready_tasks) {
    if (!is_scheduled(*task)) continue;
    const std::lock_guard lock(mutex_);
    if (let_through_.contains(task)) continue;
    scheduled.ready_tasks.push_back(task);
    held.insert(task);
  }
  if (held.empty() && !adapter_->steals()) {
    return mapper->select_tasks_to_map(context, input, output);
  }
  SelectMappingOutput let, own;
  {
    const AdapterLockGuard turn(turns_.get(), context);
    adapter_->select_tasks_to_map(context, scheduled, let);
  }
  for (const Legion::Task* task : let.map_tasks) held.erase(task);
  {
    const std::lock_guard lock(mutex_);
    let_through_.insert(let.map_tasks.begin(), let.map_tasks.end());
  }
  for (const Legion::Task* task : input.ready_tasks) {
    if (!held.contains(task)) free.ready_tasks.push_back(task);
  }
  if (!free.ready_tasks.empty()) mapper->select_tasks_to_map(context, free, own);
  for (const auto& [task, processor] : own.relocate_tasks) forget_let_through(context, *task);
  {
    const std::lock_guard lock(mutex_);
    for (const Legion::Task* task : own.map_tasks) let_through_.erase(task);
  }
  output.map_tasks = std::move(own.map_tasks);
  output.relocate_tasks = std::move(own.relocate_tasks);
  output.relocate_tasks.merge(let.relocate_tasks);
  if (!output.map_tasks.empty() || !output.relocate_tasks.empty()) return;
  // No task is mapped or moved, so Legion needs an event to wait for: that of the adapter, that of
  // the program's mapper, or one that stands for both.
  if (free.ready_tasks.empty()) {
    output.deferral_event = let.deferral_event;
  } else if (!let.deferral_event.exists()) {
    output.deferral_event = own.deferral_event;
  } else {
    output.deferral_event = mapper->runtime->create_mapper_event(context);
    waits().add(own.deferral_event, let.deferral_event, output.deferral_event);
    // One of the two events may have been triggered in the meantime.
    wake(context);
  }
}

// Stops counting a task that the adapter has let through here, because the task goes to another
// processor.
void OverlayMapper::forget_let_through(MapperContext context, const Legion::Task& task) {
  {
    const std::lock_guard lock(mutex_);
    if (let_through_.erase(&task) == 0) return;
  }
  const AdapterLockGuard turn(turns_.get(), context);
  adapter_->stop_counting(context, task);
}

// Answers a steal request. The adapter decides about tasks with a TaskSteal statement, the
// program's mapper about all others.
void OverlayMapper::permit_steal_request(MapperContext context, const StealRequestInput& input,
                                         StealRequestOutput& output) {
  StealRequestInput ours, others;
  ours.thief_proc = others.thief_proc = input.thief_proc;
  for (const Legion::Task* task : input.stealable_tasks) {
    (has(*task, MappingStatement::kTaskSteal) ? ours : others).stealable_tasks.push_back(task);
  }
  StealRequestOutput more;
  if (!ours.stealable_tasks.empty()) {
    const AdapterLockGuard turn(turns_.get(), context);
    adapter_->permit_steal_request(context, ours, output);
  }
  if (!others.stealable_tasks.empty()) mapper->permit_steal_request(context, others, more);
  output.stolen_tasks.merge(more.stolen_tasks);
  for (const Legion::Task* task : output.stolen_tasks) forget_let_through(context, *task);
  wake(context);
}

}  // namespace

// Collects the kinds of statements by the names of the tasks in them.
StatementsByTask::StatementsByTask(const Program& program) : program_(program) {
  const program::ProgramData& data = program.data();
  for (const program::StatementRow& row : data.rows) {
    const NameId task = row.key.task;
    const std::string name(data.names.text(task));
    StatementSet& set = task == kStarName                      ? all_
                        : data.names.selector(task) != nullptr ? selectors_[task]
                        : data.names.is_pattern(task)          ? patterns_[name]
                                                               : names_[name];
    set.set(static_cast<std::size_t>(row.key.table));
  }
}

StatementSet StatementsByTask::statements_naming(const std::string& task) const {
  const auto found = names_.find(task);
  StatementSet set = found == names_.end() ? all_ : all_ | found->second;
  for (const auto& [pattern, statements] : patterns_) {
    if (matches_pattern(task, pattern)) set |= statements;
  }
  return set;
}

StatementSet StatementsByTask::statements_selecting(const Legion::Task& task) const {
  StatementSet set;
  if (selectors_.empty()) return set;
  std::vector<std::string_view> parents;
  const Legion::Task* above = task.get_parent_task();
  while (above != nullptr && parents.size() < kMaxTaskParents) {
    parents.emplace_back(above->get_task_name());
    above = above->get_parent_task();
  }
  const int dimensions = task.is_index_space ? task.index_domain.get_dim() : 0;
  for (const auto& [selector, statements] : selectors_) {
    const NameTable& names = program_.data().names;
    if (names.stands_for_task(selector, task.get_task_name(), parents, dimensions)) {
      set |= statements;
    }
  }
  return set;
}

bool is_concurrent(const LegionMapper& own) {
  return own.get_mapper_sync_model() == LegionMapper::CONCURRENT_MAPPER_MODEL;
}

// Returns true if `own` is DefaultMapper or another mapping. Types are compared by name. Another
// copy of this library in the same process may have made the adapter, and its type would be a
// different object.
bool requests_default_layouts(const LegionMapper& own) {
  const char* const name = typeid(own).name();
  return std::strcmp(name, typeid(Legion::Mapping::DefaultMapper).name()) == 0 ||
         std::strcmp(name, typeid(Adapter).name()) == 0;
}

namespace {

// The table of virtual functions of Legion's DefaultMapper, under its mangled name.
extern "C" const char kDefaultMapperTable[] __asm__("_ZTVN6Legion7Mapping13DefaultMapperE");

// Returns the address of the function that a virtual call of `hook` runs for an object with this
// table of virtual functions. A pointer to a virtual member function holds one more than the offset
// in the table (Itanium C++ ABI).
template <typename Hook>
void* function_in(const char* table, Hook hook) {
  std::ptrdiff_t offset = 0;
  std::memcpy(&offset, &hook, sizeof offset);
  void* function = nullptr;
  std::memcpy(&function, table + offset - 1, sizeof function);
  return function;
}

}  // namespace

// Returns true if the program's mapper overrides a hook of DefaultMapper that can choose layouts.
// The entries of the two virtual function tables differ for such a hook.
bool chooses_layouts(const LegionMapper& own) {
  using Legion::Mapping::DefaultMapper;
  const auto* const derived = dynamic_cast<const DefaultMapper*>(&own);
  if (derived == nullptr || requests_default_layouts(own)) return false;
  // The table of virtual functions of a class begins with two words that are no functions. The
  // pointer in an object points behind them.
  const char* const base = kDefaultMapperTable + 2 * sizeof(void*);
  const char* table = nullptr;
  std::memcpy(&table, static_cast<const void*>(derived), sizeof table);
  const auto overrides = [&](auto hook) {
    return function_in(table, hook) != function_in(base, hook);
  };
  return overrides(&DefaultMapper::default_policy_select_constraints) ||
         overrides(&DefaultMapper::default_policy_select_layout_constraints);
}

std::unique_ptr<LegionMapper> make_overlay(LegionMapper* own, std::unique_ptr<Adapter> adapter,
                                           std::shared_ptr<const StatementsByTask> mentions) {
  return std::make_unique<OverlayMapper>(own, std::move(adapter), std::move(mentions));
}

LegionMapper* mapper_below_overlay(LegionMapper* mapper) {
  const auto* overlay = dynamic_cast<const OverlayMapper*>(mapper);
  return overlay == nullptr ? nullptr : overlay->wrapped_mapper();
}

}  // namespace groma::legion
