// Wrapped: each hook to the adapter or to the program's own mapper.
#include "legion/wrapped.h"

#include <algorithm>
#include <deque>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

#include "legion/above.h"
#include "legion/stealing.h"
#include "program/data.h"

namespace groma::legion {
namespace {

using LegionMapper = Legion::Mapping::Mapper;
using MapperContext = Legion::Mapping::MapperContext;

// The adapter's calls above a concurrent mapper: one at a time, the others wait as Legion has it.
// Legion's own lock of a mapper is the program's.
class Turns {
 public:
  Turns(Legion::Mapping::MapperRuntime* runtime, LegionMapper& adapter)
      : runtime_(runtime), adapter_(adapter) {}

  void take(MapperContext context) {
    if (!take_or_join(nullptr)) {
      const Legion::Mapping::MapperEvent turn = runtime_->create_mapper_event(context);
      if (take_or_join(&turn)) {
        runtime_->trigger_mapper_event(context, turn);
      } else {
        runtime_->wait_on_mapper_event(context, turn);
      }
    }
  }
  void give(MapperContext context) {
    std::unique_lock lock(mutex_);
    while (!messages_.empty()) {
      const Message next = std::move(messages_.front());
      messages_.pop_front();
      lock.unlock();
      LegionMapper::MapperMessage message = next.head;
      message.message = next.bytes.data();
      adapter_.handle_message(context, message);
      lock.lock();
    }
    is_taken_ = !waiting_.empty();
    if (!is_taken_) return;
    const Legion::Mapping::MapperEvent next = waiting_.front();
    waiting_.pop_front();
    lock.unlock();
    runtime_->trigger_mapper_event(context, next);
  }
  // A message between adapters, which Legion may bring while its sender has its own turn, in a call
  // within that one: nobody may wait for a turn there, so who has this one hands it over at its
  // end.
  void hear(MapperContext context, const LegionMapper::MapperMessage& message) {
    {
      const std::lock_guard lock(mutex_);
      if (is_taken_) {
        const char* bytes = static_cast<const char*>(message.message);
        messages_.push_back({message, std::vector<char>(bytes, bytes + message.size)});
        return;
      }
      is_taken_ = true;
    }
    adapter_.handle_message(context, message);
    give(context);
  }

 private:
  struct Message {
    LegionMapper::MapperMessage head;  // without its bytes
    std::vector<char> bytes;
  };

  // Whether it is the caller's turn now; else, with an event, the event tells when it is.
  bool take_or_join(const Legion::Mapping::MapperEvent* turn) {
    const std::lock_guard lock(mutex_);
    if (!is_taken_) return is_taken_ = true;
    if (turn != nullptr) waiting_.push_back(*turn);
    return false;
  }

  Legion::Mapping::MapperRuntime* runtime_;
  LegionMapper& adapter_;
  std::mutex mutex_;
  bool is_taken_ = false;
  std::deque<Legion::Mapping::MapperEvent> waiting_;
  std::deque<Message> messages_;
};

// A mapper to call, and while it lives its turn where it needs one.
class Call {
 public:
  Call(LegionMapper& mapper, Turns* turns, MapperContext context)
      : mapper_(mapper), turns_(turns), context_(context) {
    if (turns_ != nullptr) turns_->take(context_);
  }
  ~Call() {
    if (turns_ != nullptr) turns_->give(context_);
  }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;
  LegionMapper* operator->() const { return &mapper_; }

 private:
  LegionMapper& mapper_;
  Turns* turns_;
  MapperContext context_;
};

// Tunables, contexts, messages of its own and what a trace remembers are the program's mapper's: a
// mapping says nothing of them, and the numbers in them are the program's.
class Wrapped final : public Above {
 public:
  Wrapped(LegionMapper* own, std::unique_ptr<LegionMapper> adapter,
          std::shared_ptr<const Mentions> mentions)
      : Above(own),
        adapter_(std::move(adapter)),
        mentions_(std::move(mentions)),
        name_(std::string("groma over ") + own->get_mapper_name()) {
    if (is_concurrent(*own)) turns_ = std::make_unique<Turns>(own->runtime, *adapter_);
  }

  const char* get_mapper_name() const override { return name_.c_str(); }

  // ---- Of a task.
  void select_task_options(MapperContext context, const Legion::Task& task,
                           TaskOptions& output) override {
    of(context, task)->select_task_options(context, task, output);
  }
  void premap_task(MapperContext context, const Legion::Task& task, const PremapTaskInput& input,
                   PremapTaskOutput& output) override {
    of(context, task)->premap_task(context, task, input, output);
  }
  void slice_task(MapperContext context, const Legion::Task& task, const SliceTaskInput& input,
                  SliceTaskOutput& output) override {
    of(context, task)->slice_task(context, task, input, output);
  }
  void map_task(MapperContext context, const Legion::Task& task, const MapTaskInput& input,
                MapTaskOutput& output) override {
    of(context, task)->map_task(context, task, input, output);
  }
  void replicate_task(MapperContext context, const Legion::Task& task,
                      const ReplicateTaskInput& input, ReplicateTaskOutput& output) override {
    of(context, task)->replicate_task(context, task, input, output);
  }
  void select_task_variant(MapperContext context, const Legion::Task& task,
                           const SelectVariantInput& input, SelectVariantOutput& output) override {
    of(context, task)->select_task_variant(context, task, input, output);
  }
  void postmap_task(MapperContext context, const Legion::Task& task, const PostMapInput& input,
                    PostMapOutput& output) override {
    of(context, task)->postmap_task(context, task, input, output);
  }
  void select_task_sources(MapperContext context, const Legion::Task& task,
                           const SelectTaskSrcInput& input, SelectTaskSrcOutput& output) override {
    of(context, task)->select_task_sources(context, task, input, output);
  }
  void report_profiling(MapperContext context, const Legion::Task& task,
                        const TaskProfilingInfo& input) override {
    of(context, task)->report_profiling(context, task, input);
  }
  void select_sharding_functor(MapperContext context, const Legion::Task& task,
                               const SelectShardingFunctorInput& input,
                               SelectShardingFunctorOutput& output) override {
    of(context, task)->select_sharding_functor(context, task, input, output);
  }

  void handle_message(MapperContext context, const MapperMessage& message) override {
    if (!is_steal_message(message.kind)) return mapper->handle_message(context, message);
    if (turns_ != nullptr) return turns_->hear(context, message);
    adapter_->handle_message(context, message);
  }

  // ---- Of an operation that a task issues.
  void map_inline(MapperContext context, const Legion::InlineMapping& operation,
                  const MapInlineInput& input, MapInlineOutput& output) override {
    of(context, operation)->map_inline(context, operation, input, output);
  }
  void select_inline_sources(MapperContext context, const Legion::InlineMapping& operation,
                             const SelectInlineSrcInput& input,
                             SelectInlineSrcOutput& output) override {
    of(context, operation)->select_inline_sources(context, operation, input, output);
  }
  void report_profiling(MapperContext context, const Legion::InlineMapping& operation,
                        const InlineProfilingInfo& input) override {
    of(context, operation)->report_profiling(context, operation, input);
  }
  void map_copy(MapperContext context, const Legion::Copy& operation, const MapCopyInput& input,
                MapCopyOutput& output) override {
    of(context, operation)->map_copy(context, operation, input, output);
  }
  void select_copy_sources(MapperContext context, const Legion::Copy& operation,
                           const SelectCopySrcInput& input, SelectCopySrcOutput& output) override {
    of(context, operation)->select_copy_sources(context, operation, input, output);
  }
  void report_profiling(MapperContext context, const Legion::Copy& operation,
                        const CopyProfilingInfo& input) override {
    of(context, operation)->report_profiling(context, operation, input);
  }
  void select_sharding_functor(MapperContext context, const Legion::Copy& operation,
                               const SelectShardingFunctorInput& input,
                               SelectShardingFunctorOutput& output) override {
    of(context, operation)->select_sharding_functor(context, operation, input, output);
  }
  void select_close_sources(MapperContext context, const Legion::Close& operation,
                            const SelectCloseSrcInput& input,
                            SelectCloseSrcOutput& output) override {
    of(context, operation)->select_close_sources(context, operation, input, output);
  }
  void report_profiling(MapperContext context, const Legion::Close& operation,
                        const CloseProfilingInfo& input) override {
    of(context, operation)->report_profiling(context, operation, input);
  }
  void select_sharding_functor(MapperContext context, const Legion::Close& operation,
                               const SelectShardingFunctorInput& input,
                               SelectShardingFunctorOutput& output) override {
    of(context, operation)->select_sharding_functor(context, operation, input, output);
  }
  void map_acquire(MapperContext context, const Legion::Acquire& operation,
                   const MapAcquireInput& input, MapAcquireOutput& output) override {
    of(context, operation)->map_acquire(context, operation, input, output);
  }
  void report_profiling(MapperContext context, const Legion::Acquire& operation,
                        const AcquireProfilingInfo& input) override {
    of(context, operation)->report_profiling(context, operation, input);
  }
  void select_sharding_functor(MapperContext context, const Legion::Acquire& operation,
                               const SelectShardingFunctorInput& input,
                               SelectShardingFunctorOutput& output) override {
    of(context, operation)->select_sharding_functor(context, operation, input, output);
  }
  void map_release(MapperContext context, const Legion::Release& operation,
                   const MapReleaseInput& input, MapReleaseOutput& output) override {
    of(context, operation)->map_release(context, operation, input, output);
  }
  void select_release_sources(MapperContext context, const Legion::Release& operation,
                              const SelectReleaseSrcInput& input,
                              SelectReleaseSrcOutput& output) override {
    of(context, operation)->select_release_sources(context, operation, input, output);
  }
  void report_profiling(MapperContext context, const Legion::Release& operation,
                        const ReleaseProfilingInfo& input) override {
    of(context, operation)->report_profiling(context, operation, input);
  }
  void select_sharding_functor(MapperContext context, const Legion::Release& operation,
                               const SelectShardingFunctorInput& input,
                               SelectShardingFunctorOutput& output) override {
    of(context, operation)->select_sharding_functor(context, operation, input, output);
  }
  void select_partition_projection(MapperContext context, const Legion::Partition& operation,
                                   const SelectPartitionProjectionInput& input,
                                   SelectPartitionProjectionOutput& output) override {
    of(context, operation)->select_partition_projection(context, operation, input, output);
  }
  void map_partition(MapperContext context, const Legion::Partition& operation,
                     const MapPartitionInput& input, MapPartitionOutput& output) override {
    of(context, operation)->map_partition(context, operation, input, output);
  }
  void select_partition_sources(MapperContext context, const Legion::Partition& operation,
                                const SelectPartitionSrcInput& input,
                                SelectPartitionSrcOutput& output) override {
    of(context, operation)->select_partition_sources(context, operation, input, output);
  }
  void report_profiling(MapperContext context, const Legion::Partition& operation,
                        const PartitionProfilingInfo& input) override {
    of(context, operation)->report_profiling(context, operation, input);
  }
  void select_sharding_functor(MapperContext context, const Legion::Partition& operation,
                               const SelectShardingFunctorInput& input,
                               SelectShardingFunctorOutput& output) override {
    of(context, operation)->select_sharding_functor(context, operation, input, output);
  }
  void select_sharding_functor(MapperContext context, const Legion::Fill& operation,
                               const SelectShardingFunctorInput& input,
                               SelectShardingFunctorOutput& output) override {
    of(context, operation)->select_sharding_functor(context, operation, input, output);
  }

  // ---- Of several tasks.
  void select_sharding_functor(MapperContext context, const Legion::MustEpoch& epoch,
                               const SelectShardingFunctorInput& input,
                               MustEpochShardingFunctorOutput& output) override {
    const bool ours = all_ours(epoch.individual_tasks) && all_ours(epoch.index_space_tasks);
    call(context, ours)->select_sharding_functor(context, epoch, input, output);
  }
  void map_must_epoch(MapperContext context, const MapMustEpochInput& input,
                      MapMustEpochOutput& output) override {
    call(context, all_ours(input.tasks))->map_must_epoch(context, input, output);
  }
  void select_tasks_to_map(MapperContext context, const SelectMappingInput& input,
                           SelectMappingOutput& output) override;
  void select_steal_targets(MapperContext context, const SelectStealingInput& input,
                            SelectStealingOutput& output) override {
    call(context, true)->select_steal_targets(context, input, output);
    mapper->select_steal_targets(context, input, output);
  }
  void permit_steal_request(MapperContext context, const StealRequestInput& input,
                            StealRequestOutput& output) override;

  void handle_instance_collection(MapperContext context,
                                  const Legion::Mapping::PhysicalInstance& instance) override {
    call(context, true)->handle_instance_collection(context, instance);
    Above::handle_instance_collection(context, instance);
  }

 private:
  bool is_ours(const Legion::Task& task) {
    {
      const std::lock_guard lock(mutex_);
      const auto found = ours_.find(task.task_id);
      if (found != ours_.end()) return found->second;
    }
    const bool ours = (*mentions_)(task.get_task_name());
    const std::lock_guard lock(mutex_);
    return ours_[task.task_id] = ours;
  }
  bool all_ours(const std::vector<const Legion::Task*>& tasks) {
    return std::all_of(tasks.begin(), tasks.end(),
                       [this](const Legion::Task* task) { return is_ours(*task); });
  }
  Call call(MapperContext context, bool ours) {
    return {ours ? *adapter_ : *mapper, ours ? turns_.get() : nullptr, context};
  }
  Call of(MapperContext context, const Legion::Task& task) { return call(context, is_ours(task)); }
  Call of(MapperContext context, const Legion::Mappable& operation) {
    const Legion::Task* parent = operation.get_parent_task();
    return call(context, parent != nullptr && is_ours(*parent));
  }

  std::unique_ptr<LegionMapper> adapter_;
  std::shared_ptr<const Mentions> mentions_;
  std::string name_;
  std::unique_ptr<Turns> turns_;  // where calls come at once
  std::mutex mutex_;
  std::unordered_map<Legion::TaskID, bool> ours_;
};

// Where both would wait, what the program's mapper would wait for is not waited for: nobody waits
// for one of two events, and of its tasks one may have to run before ours end.
void Wrapped::select_tasks_to_map(MapperContext context, const SelectMappingInput& input,
                                  SelectMappingOutput& output) {
  SelectMappingInput ours, others;
  ours.processor = others.processor = input.processor;
  for (const Legion::Task* task : input.ready_tasks) {
    (is_ours(*task) ? ours : others).ready_tasks.push_back(task);
  }
  if (!ours.ready_tasks.empty()) call(context, true)->select_tasks_to_map(context, ours, output);
  if (others.ready_tasks.empty()) return;
  SelectMappingOutput more;
  mapper->select_tasks_to_map(context, others, more);
  const bool waits = more.map_tasks.empty() && more.relocate_tasks.empty();
  if (waits && ours.ready_tasks.empty()) {
    output.deferral_event = more.deferral_event;
  } else if (waits && output.map_tasks.empty() && output.relocate_tasks.empty()) {
    output.map_tasks.insert(others.ready_tasks.begin(), others.ready_tasks.end());
  }
  output.map_tasks.merge(more.map_tasks);
  output.relocate_tasks.merge(more.relocate_tasks);
  if (!output.map_tasks.empty() || !output.relocate_tasks.empty()) output.deferral_event = {};
}

void Wrapped::permit_steal_request(MapperContext context, const StealRequestInput& input,
                                   StealRequestOutput& output) {
  StealRequestInput ours, others;
  ours.thief_proc = others.thief_proc = input.thief_proc;
  for (const Legion::Task* task : input.stealable_tasks) {
    (is_ours(*task) ? ours : others).stealable_tasks.push_back(task);
  }
  StealRequestOutput more;
  if (!ours.stealable_tasks.empty()) {
    call(context, true)->permit_steal_request(context, ours, output);
  }
  if (!others.stealable_tasks.empty()) mapper->permit_steal_request(context, others, more);
  output.stolen_tasks.merge(more.stolen_tasks);
}

}  // namespace

Mentions::Mentions(const Program& program) {
  const program::Data& data = program.data();
  for (const program::Row& row : data.rows) {
    all_ = all_ || row.key.task == kStarName;
    names_.emplace(data.names.text(row.key.task));
  }
}

bool is_concurrent(const LegionMapper& own) {
  return own.get_mapper_sync_model() == LegionMapper::CONCURRENT_MAPPER_MODEL;
}

std::unique_ptr<LegionMapper> make_wrapped(LegionMapper* own, std::unique_ptr<LegionMapper> adapter,
                                           std::shared_ptr<const Mentions> mentions) {
  return std::make_unique<Wrapped>(own, std::move(adapter), std::move(mentions));
}

LegionMapper* own_of(LegionMapper* mapper) {
  const auto* wrapped = dynamic_cast<const Wrapped*>(mapper);
  return wrapped == nullptr ? nullptr : wrapped->own();
}

}  // namespace groma::legion
