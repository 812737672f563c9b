// The mapper that reports launches, mapped tasks, demands and times to RunEvents. It stands above
// every other mapper and changes no decision.
#include "legion/recorder.h"

#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "legion/owning_forwarding_mapper.h"

namespace groma::legion {
namespace {

using LegionMapper = Legion::Mapping::Mapper;
namespace measurements = Legion::Mapping::ProfilingMeasurements;

// A mapper for one processor that records. It stands above all other mappers of the processor.
class Recorder final : public OwningForwardingMapper {
 public:
  Recorder(LegionMapper* own, std::shared_ptr<RunEvents> events, bool is_programs_own,
           std::shared_ptr<RequestedInstances> instances, bool own_order)
      : OwningForwardingMapper(own),
        events_(std::move(events)),
        is_programs_own_(is_programs_own),
        instances_(std::move(instances)),
        own_order_(own_order) {
    events_->on_mapper_start();
  }
  ~Recorder() override { events_->on_mapper_end(); }

  // Notes the launch of a task, then asks the program's mapper. The launch time counts from the
  // moment when that mapper has answered, so that the recorder's work before it is not measured.
  void select_task_options(MapperContext context, const Legion::Task& task,
                           TaskOptions& output) override {
    HookTimes times;
    events_->launched(mapper->runtime, context, task);
    times.begin_program_mapper();
    mapper->select_task_options(context, task, output);
    times.end_program_mapper();
    events_->costs().issued(task, times);
    if (!output.inline_task) events_->expected(task);
  }
  // Maps a task, and notes its regions, its chosen variant and the layouts that were requested for
  // it. Requests the task's time until enough runs of the task are measured.
  void map_task(MapperContext context, const Legion::Task& task, const MapTaskInput& input,
                MapTaskOutput& output) override {
    HookTimes times;
    events_->mapped(mapper->runtime, context, task);
    events_->task_was_mapped(task);
    std::optional<RequestedInstances::MapTaskScope> call;
    if (instances_ != nullptr) call.emplace(*instances_, context, own_order_);
    times.begin_program_mapper();
    mapper->map_task(context, task, input, output);
    times.end_program_mapper();
    if (!output.abort_mapping &&
        !mapper->runtime->is_leaf_variant(context, task.task_id, output.chosen_variant)) {
      events_->may_launch(mapper->runtime, context, task);
    }
    // Remembers whether the program's mapper requested reports, before the recorder's own requests
    // are added.
    if (!output.task_prof_requests.empty() || !output.copy_prof_requests.empty()) {
      const std::lock_guard lock(mutex_);
      asked_.try_emplace(task.get_unique_id());
    }
    if (events_->tasks().wants_run_time(task)) {
      output.task_prof_requests.add_measurement<measurements::OperationTimeline>();
      output.task_prof_requests.add_measurement<measurements::RuntimeOverhead>();
    }
    events_->costs().mapped(task, times);
    if (is_programs_own_) events_->tasks().add_chosen_variant(task, output.chosen_variant);
    if (instances_ != nullptr) note_demands(context, task, output);
  }
  // Maps a must epoch. Legion asks for all its tasks at once, before map_task.
  void map_must_epoch(MapperContext context, const MapMustEpochInput& input,
                      MapMustEpochOutput& output) override {
    for (const Legion::Task* task : input.tasks) events_->mapped(mapper->runtime, context, *task);
    mapper->map_must_epoch(context, input, output);
  }
  // Notes that the program uses traces. Some tasks are then replayed and no mapper sees them.
  void memoize_operation(MapperContext context, const Legion::Mappable& mappable,
                         const MemoizeInput& input, MemoizeOutput& output) override {
    mapper->memoize_operation(context, mappable, input, output);
    if (output.memoize) events_->note_traces_used();
  }
  // Records the run time of a task. The report is passed on only if the program's mapper requested
  // it, because DefaultMapper ends the process on any other report.
  void report_profiling(MapperContext context, const Legion::Task& task,
                        const TaskProfilingInfo& input) override {
    if (input.task_response) measure(task, input.profiling_responses);
    {
      const std::lock_guard lock(mutex_);
      const auto asked = asked_.find(task.get_unique_id());
      if (asked == asked_.end()) return;
      if (++asked->second >= input.total_reports) asked_.erase(asked);
    }
    mapper->report_profiling(context, task, input);
  }

  // ---- Operations that are counted but not recorded
  void map_copy(MapperContext context, const Legion::Copy& operation, const MapCopyInput& input,
                MapCopyOutput& output) override {
    events_->count_omitted("copies that the program makes");
    mapper->map_copy(context, operation, input, output);
  }
  void map_inline(MapperContext context, const Legion::InlineMapping& operation,
                  const MapInlineInput& input, MapInlineOutput& output) override {
    events_->count_omitted("inline mappings");
    mapper->map_inline(context, operation, input, output);
  }
  void map_acquire(MapperContext context, const Legion::Acquire& operation,
                   const MapAcquireInput& input, MapAcquireOutput& output) override {
    events_->count_omitted("acquires");
    mapper->map_acquire(context, operation, input, output);
  }

 private:
  // Records the layouts that the program's mapper requested for the instances of this task. If an
  // instance serves several region requirements, each of them gets the demand, with the fields of
  // all.
  void note_demands(MapperContext context, const Legion::Task& task, const MapTaskOutput& output) {
    std::map<Legion::Mapping::PhysicalInstance, std::vector<std::size_t>> places;
    for (std::size_t i = 0; i < output.chosen_instances.size(); ++i) {
      for (const auto& instance : output.chosen_instances[i]) places[instance].push_back(i);
    }
    for (const auto& [instance, requirements] : places) {
      const auto asked = instances_->find(context, instance);
      if (asked == nullptr) continue;
      std::set<Legion::FieldID> fields;
      std::vector<Legion::LogicalRegion> regions;
      for (const std::size_t i : requirements) {
        const Legion::RegionRequirement& one = task.regions[i];
        fields.insert(one.privilege_fields.begin(), one.privilege_fields.end());
        regions.push_back(one.region);
      }
      for (const std::size_t i : requirements) {
        for (LayoutDemand demand : layout_demands_of_request(*asked, fields.size(), regions)) {
          demand.requirement = static_cast<std::uint32_t>(i);
          events_->tasks().add_layout_demand(task, output.chosen_variant, demand);
        }
      }
    }
  }

  // Records the work time of a task in nanoseconds, without waiting and without work in Legion. GPU
  // kernels end after the task's body, so for a GPU the time from the start to the end of the last
  // kernel counts.
  void measure(const Legion::Task& task, const Legion::Mapping::ProfilingResponse& responses) {
    const Legion::Processor::Kind kind = task.target_proc.kind();
    measurements::OperationTimeline timeline;
    measurements::RuntimeOverhead overhead;
    if (kind != Legion::Processor::TOC_PROC && responses.get_measurement(overhead)) {
      events_->tasks().add_run_time(task, kind, overhead.application_time);
    } else if (responses.get_measurement(timeline)) {
      events_->tasks().add_run_time(task, kind, timeline.complete_time - timeline.start_time);
    }
  }

  std::shared_ptr<RunEvents> events_;
  const bool is_programs_own_;
  std::shared_ptr<RequestedInstances> instances_;
  const bool own_order_;
  std::mutex mutex_;
  // The number of profiling reports that have come, for each task whose reports the program's
  // mapper requested.
  std::map<Legion::UniqueID, unsigned> asked_;
};

}  // namespace

std::unique_ptr<LegionMapper> make_recorder(LegionMapper* own, std::shared_ptr<RunEvents> events,
                                            bool is_programs_own,
                                            std::shared_ptr<RequestedInstances> asked,
                                            bool own_order) {
  return std::make_unique<Recorder>(own, std::move(events), is_programs_own, std::move(asked),
                                    own_order);
}

LegionMapper* mapper_below_recorder(LegionMapper* mapper) {
  const auto* recorder = dynamic_cast<const Recorder*>(mapper);
  return recorder == nullptr ? nullptr : recorder->wrapped_mapper();
}

}  // namespace groma::legion
