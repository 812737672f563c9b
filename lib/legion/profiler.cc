// Measures the tasks and copies of a run through Legion's profiling requests, and writes a
// RunRecord when the run ends. A Profiler stands above each mapper object and adds the requests;
// one RunMeasurements collects the results.
#include "legion/profiler.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "base/point_text.h"
#include "groma/system.h"
#include "legion/owning_forwarding_mapper.h"
#include "profile/record_text.h"

namespace groma::legion {
namespace {

using LegionMapper = Legion::Mapping::Mapper;
using Legion::Mapping::PhysicalInstance;
using Legion::Mapping::ProfilingRequest;
using Event = RunRecord::Event;
using Use = profile::MeasuredEvent::InstanceUse;
using What = RunMeasurements::MeasuredKind;
namespace measurements = Legion::Mapping::ProfilingMeasurements;

// The largest number of uses of instances that are kept for one task or copy.
constexpr std::size_t kMostUses = 64;
// The largest number of times that the name of a region is looked up.
constexpr int kMostLooks = 64;
// The largest number of region trees with a name in the record.
constexpr std::size_t kMostTrees = 4096;
// The number of picoseconds in a nanosecond: a RunTime counts picoseconds.
constexpr RunTime kNanosecond = 1000;
// A limit in nanoseconds (1 ms). A task counts as stalled by Legion if its time on the processor
// exceeds its measured work by more than this.
constexpr long long kStallNs = 1'000'000;

// Returns the present time of the clock that Legion's measurements use, in nanoseconds.
long long now_ns() { return Realm::Clock::current_time_in_nanoseconds(); }

// Returns a set of fields as 64 bits. Fields whose ids differ by a multiple of 64 share a bit, so
// two sets may seem to overlap when they do not.
template <typename Fields>
std::uint64_t bits_of(const Fields& fields) {
  std::uint64_t bits = 0;
  for (const auto field : fields) bits |= std::uint64_t{1} << (static_cast<unsigned>(field) % 64);
  return bits;
}

// Requests the measurements of a copy: its times, memories and bytes, and the instances that it
// reads and writes.
void measure_copies(ProfilingRequest& request) {
  request.add_measurement<measurements::OperationTimeline>();
  request.add_measurement<measurements::OperationMemoryUsage>();
  request.add_measurement<measurements::OperationCopyInfo>();
}

// Appends one use for each instance of a region requirement. A use tells which fields of the
// instance are accessed, and whether they are written.
void add_uses(const Legion::RegionRequirement& requirement,
              const std::vector<PhysicalInstance>& instances, std::vector<Use>& uses) {
  const bool writes = (requirement.privilege & (LEGION_WRITE_PRIV | LEGION_REDUCE_PRIV)) != 0;
  for (const PhysicalInstance& instance : instances) {
    if (instance.is_virtual_instance() || uses.size() == kMostUses) continue;
    uses.push_back({instance.get_instance_id(), bits_of(requirement.privilege_fields), writes});
  }
}

// The times of a task or copy in nanoseconds. A time that Legion did not measure is replaced by the
// next later one. `end` is when the work on the processor or channel ended.
struct Times {
  long long created = 0, ready = 0, start = 0, end = 0;
};
// Fills in `times` from Legion's measurements. Returns false if the start or the end is unknown;
// the task or copy can then not be recorded.
bool read_times(const measurements::OperationTimeline& timeline, bool on_gpu, Times& times) {
  constexpr auto kNone = measurements::OperationTimeline::INVALID_TIMESTAMP;
  times = {timeline.create_time, timeline.ready_time, timeline.start_time, timeline.end_time};
  // The GPU kernels of a task end after the task's body.
  if (times.end == kNone || on_gpu) times.end = timeline.complete_time;
  if (times.start == kNone || times.end == kNone) return false;
  if (times.ready == kNone) times.ready = times.start;
  if (times.created == kNone) times.created = times.ready;
  return true;
}

// A mapper for one processor that has Legion measure what the mapper below it maps.
class Profiler final : public OwningForwardingMapper {
 public:
  Profiler(LegionMapper* own, std::shared_ptr<RunMeasurements> watch)
      : OwningForwardingMapper(own), watch_(std::move(watch)) {
    watch_->on_mapper_start();
  }
  ~Profiler() override { watch_->on_mapper_end(); }

  // Notes a launch and keeps the task out of traces (`memoize`), because tasks that a trace replays
  // would not be measured.
  void select_task_options(MapperContext context, const Legion::Task& task,
                           TaskOptions& output) override {
    watch_->add_launch(task);
    mapper->select_task_options(context, task, output);
    output.memoize = false;
  }
  // Keeps operations out of traces. No mapper sees the operations that a trace replays, so these
  // would not be measured.
  void memoize_operation(MapperContext context, const Legion::Mappable& operation,
                         const MemoizeInput& input, MemoizeOutput& output) override {
    mapper->memoize_operation(context, operation, input, output);
    output.memoize = false;
  }

  // Maps a task: adds profiling requests to those of the program's mapper, and notes the task's
  // regions and instances. Legion reports the measurements later, so RunMeasurements keeps these
  // facts until then.
  void map_task(MapperContext context, const Legion::Task& task, const MapTaskInput& input,
                MapTaskOutput& output) override {
    RunMeasurements::MappedOperation what;
    what.task = task.get_unique_id();
    what.begin_ns = now_ns();
    mapper->map_task(context, task, input, output);
    what.end_ns = now_ns();
    if (output.abort_mapping) return;
    what.own_tasks = !output.task_prof_requests.empty();
    what.own_copies = !output.copy_prof_requests.empty();
    if (!watch_->has_room_for_measurements(true)) {
      if (!what.own_tasks && !what.own_copies) return;
    } else {
      output.task_prof_requests.add_measurement<measurements::OperationTimeline>();
      output.task_prof_requests.add_measurement<measurements::OperationProcessorUsage>();
      output.task_prof_requests.add_measurement<measurements::RuntimeOverhead>();
      if (watch_->measures_copies()) measure_copies(output.copy_prof_requests);
      what.name = watch_->name_of(task);
      what.point = watch_->point_number(task);
    }
    for (std::size_t i = 0; i < task.regions.size(); ++i) {
      what.regions.push_back(watch_->region_of(mapper->runtime, context, task.regions[i]));
      if (i >= output.chosen_instances.size()) continue;
      add_uses(task.regions[i], output.chosen_instances[i], what.uses);
      look_at(context, output.chosen_instances[i], what.regions.back());
    }
    watch_->mapped(std::move(what));
  }

  // Records a measurement, and passes the report on only if the program's mapper requested it.
  void report_profiling(MapperContext context, const Legion::Task& task,
                        const TaskProfilingInfo& input) override {
    const What what = input.task_response   ? What::kTask
                      : input.fill_response ? What::kFill
                                            : What::kCopy;
    const bool own =
        watch_->add_measurement(task.get_unique_id(), what, input.region_requirement_index,
                                input.total_reports, input.profiling_responses);
    if (own) mapper->report_profiling(context, task, input);
  }

  // ---- Operations other than tasks, measured for the copies that they make
  void map_copy(MapperContext context, const Legion::Copy& operation, const MapCopyInput& input,
                MapCopyOutput& output) override {
    mapper->map_copy(context, operation, input, output);
    measure(context, operation, operation.dst_requirements, output.profiling_requests);
  }
  void report_profiling(MapperContext context, const Legion::Copy& operation,
                        const CopyProfilingInfo& input) override {
    if (reported(operation, input.dst_index, input)) {
      mapper->report_profiling(context, operation, input);
    }
  }
  void map_inline(MapperContext context, const Legion::InlineMapping& operation,
                  const MapInlineInput& input, MapInlineOutput& output) override {
    mapper->map_inline(context, operation, input, output);
    measure(context, operation, {operation.requirement}, output.profiling_requests);
    look_at(context, output.chosen_instances,
            watch_->region_of(mapper->runtime, context, operation.requirement));
  }
  void report_profiling(MapperContext context, const Legion::InlineMapping& operation,
                        const InlineProfilingInfo& input) override {
    if (reported(operation, 0, input)) mapper->report_profiling(context, operation, input);
  }
  using OwningForwardingMapper::report_profiling;

  void handle_instance_collection(MapperContext context,
                                  const PhysicalInstance& instance) override {
    watch_->remove_instance(instance);
    OwningForwardingMapper::handle_instance_collection(context, instance);
  }

 private:
  // Notes instances that are seen for the first time, and has Legion report when they are
  // collected.
  void look_at(MapperContext context, const std::vector<PhysicalInstance>& instances,
               std::int32_t region) {
    for (const PhysicalInstance& instance : instances) {
      if (watch_->add_new_instance(instance, region)) mapper->runtime->subscribe(context, instance);
    }
  }

  // Requests measurements of the copies of an operation that is not a task.
  void measure(MapperContext context, const Legion::Mappable& operation,
               const std::vector<Legion::RegionRequirement>& requirements,
               ProfilingRequest& request) {
    const bool own = !request.empty();
    if (!watch_->measures_copies() || !watch_->has_room_for_measurements(false)) {
      if (!own) return;
    } else {
      measure_copies(request);
    }
    std::vector<std::int32_t> regions;
    for (const Legion::RegionRequirement& each : requirements) {
      regions.push_back(watch_->region_of(mapper->runtime, context, each));
    }
    watch_->operation(operation, std::move(regions), own);
  }
  // Records the measurement of an operation that is not a task. Returns true if the program's
  // mapper wants the report too.
  template <typename Info>
  bool reported(const Legion::Mappable& operation, std::size_t requirement, const Info& info) {
    return watch_->add_measurement(operation.get_unique_id(),
                                   info.fill_response ? What::kFill : What::kCopy, requirement,
                                   info.total_reports, info.profiling_responses);
  }

  std::shared_ptr<RunMeasurements> watch_;
};

}  // namespace

// Prepares the record. The number of a processor or memory in the record is its position in the
// order of the ids.
RunMeasurements::RunMeasurements(std::string file, std::shared_ptr<const MachineMap> machine)
    : file_(std::move(file)), machine_(std::move(machine)) {
  // Only the processors and memories of this process are in the record. Those of other processes
  // are not measured, so they would seem idle or empty.
  const Legion::Machine realm = Legion::Machine::get_machine();
  Legion::Machine::ProcessorQuery here(realm);
  here.local_address_space();
  const auto is_here = [space = here.first().address_space()](const auto& one) {
    return one.address_space() == space;
  };
  Legion::Machine::ProcessorQuery processors(realm);
  std::vector<Legion::Processor> all(processors.begin(), processors.end());
  std::sort(all.begin(), all.end());
  for (const Legion::Processor p : all) {
    const auto known = machine_->processor(p);
    if (!known || !is_here(p)) continue;
    processors_[p.id] = static_cast<std::int32_t>(record_.processors.size());
    record_.processors.push_back(
        {std::string(groma::name_of(known->kind)), known->node, known->index});
  }
  Legion::Machine::MemoryQuery memories(realm);
  std::vector<Legion::Memory> places(memories.begin(), memories.end());
  std::sort(places.begin(), places.end());
  for (const Legion::Memory m : places) {
    const auto known = machine_->memory(m);
    if (!known || !is_here(m)) continue;
    memories_[m.id] = static_cast<std::int32_t>(record_.memories.size());
    record_.memories.push_back({std::string(groma::name_of(known->kind)), known->node, known->index,
                                static_cast<std::int64_t>(m.capacity())});
  }
  held_bytes_.resize(record_.memories.size());
}

void RunMeasurements::on_mapper_start() {
  const std::lock_guard lock(mutex_);
  ++profilers_;
}

// Called when a profiler ends. The last one writes the record to the file, after it has released
// mutex_.
void RunMeasurements::on_mapper_end() {
  std::string text;
  {
    const std::lock_guard lock(mutex_);
    if (--profilers_ > 0) return;
    text = profile::text_of(finished());
  }
  if (const auto error = write_file(file_, text)) {
    std::fprintf(stderr, "groma: not measured: %s\n", error->message.c_str());
  }
}

// Notes which statement placed the data of a task's region requirement. The note is kept until the
// task is mapped.
void RunMeasurements::record_memory_origin(Legion::UniqueID task, std::size_t requirement,
                                           DecisionOrigin origin) {
  const std::lock_guard lock(mutex_);
  if (heard_.size() >= profile::kMaxRecordedEvents) return;
  heard_[{task, requirement}] = static_cast<std::int32_t>(origin.statement);
}

// Counts the launched points, to tell at the end how many of them were not measured. Also notes the
// time at which a task made the launch.
void RunMeasurements::add_launch(const Legion::Task& task) {
  const Legion::Task* parent = task.get_parent_task();
  const auto points =
      task.is_index_space ? static_cast<std::int64_t>(task.index_domain.get_volume()) : 1;
  const std::lock_guard lock(mutex_);
  // All shards of a replicated task make the same launches; only the first counts.
  if (parent == nullptr || parent->get_shard_id() == 0) points_launched_ += points;
  if (parent == nullptr || launches_.size() >= profile::kMaxRecordedEvents) return;
  launches_.push_back({parent->get_unique_id(), time_since_first_mapped(now_ns())});
}

// Converts a clock time in nanoseconds to the time since the first task was mapped. Earlier times
// become 0.
RunTime RunMeasurements::time_since_first_mapped(long long ns) const {
  return begin_ns_ < 0 ? 0 : std::max<RunTime>(0, (ns - begin_ns_) * kNanosecond);
}

// Returns true if one more event can be kept. Events that are still pending count too, so that each
// of them can be kept when it is reported.
bool RunMeasurements::has_room() {
  return events_.size() + pending_.size() < profile::kMaxRecordedEvents;
}

bool RunMeasurements::has_room_for_measurements(bool is_task) {
  const std::lock_guard lock(mutex_);
  if (is_task) ++points_mapped_;
  if (has_room()) return true;
  ++(is_task ? left_out_ : left_out_copies_);
  return false;
}

// Notes that a task was mapped, with the statements that placed its data (-1: no statement). Times
// in the record are counted from the first mapped task.
void RunMeasurements::mapped(MappedOperation what) {
  const std::lock_guard lock(mutex_);
  if (begin_ns_ < 0) begin_ns_ = what.begin_ns;
  for (std::size_t i = 0; i < what.regions.size(); ++i) {
    const auto found = heard_.find({what.task, i});
    what.statements.push_back(found == heard_.end() ? -1 : found->second);
    if (found != heard_.end()) heard_.erase(found);
  }
  const Legion::UniqueID task = what.task;
  pending_[task] = std::move(what);
}

// Notes an operation, not a task, whose copies are measured. No statement decides about such an
// operation.
void RunMeasurements::operation(const Legion::Mappable& operation,
                                std::vector<std::int32_t> regions, bool own) {
  MappedOperation what;
  what.task = operation.get_unique_id();
  what.statements.resize(regions.size(), -1);
  what.regions = std::move(regions);
  what.own_copies = own;
  const std::lock_guard lock(mutex_);
  const Legion::UniqueID task = what.task;
  pending_[task] = std::move(what);
}

// Returns the number of the task in the record, and adds the task if it is new.
std::int32_t RunMeasurements::name_of(const Legion::Task& task) {
  const std::lock_guard lock(mutex_);
  const auto [found, is_new] =
      names_.try_emplace(task.task_id, static_cast<std::int32_t>(record_.tasks.size()));
  if (is_new) record_.tasks.emplace_back(task.get_task_name());
  return found->second;
}

// Returns the number of the task's point in the record. Equal points of different launches share a
// number.
std::int32_t RunMeasurements::point_number(const Legion::Task& task) {
  if (!task.is_index_space) return -1;
  const std::string point = text_of(point_of(task.index_point));
  const std::lock_guard lock(mutex_);
  const auto [found, is_new] =
      points_.try_emplace(point, static_cast<std::int32_t>(record_.points.size()));
  if (is_new) record_.points.push_back(point);
  return found->second;
}

// Returns the number of the requirement's region tree in the record, or -1 if there are too many
// trees. The tree has the name of its root, otherwise that of a region or partition below the root,
// otherwise its number. A tree without a name is looked up again at later calls, because the
// program may attach a name at any time.
std::int32_t RunMeasurements::region_of(Legion::Mapping::MapperRuntime* runtime,
                                        MapperContext context,
                                        const Legion::RegionRequirement& requirement) {
  const Legion::LogicalRegion parent = requirement.parent;
  const Legion::RegionTreeID tree = parent.get_tree_id();
  {
    const std::lock_guard lock(mutex_);
    const auto known = regions_.find(tree);
    if (known != regions_.end() && known->second.looked_for >= kMostLooks) {
      return known->second.number;
    }
  }
  std::string name;
  // The root region comes last, so its name replaces the others.
  for (const Legion::LogicalRegion region : region_and_ancestors(runtime, context, parent)) {
    const std::string_view own = attached_name(runtime, context, region);
    if (!own.empty()) name = own;
  }
  if (name.empty() && requirement.partition.exists()) {
    name = attached_name(runtime, context, requirement.partition);
  }
  const std::lock_guard lock(mutex_);
  const auto [found, is_new] =
      regions_.try_emplace(tree, Tree{static_cast<std::int32_t>(record_.regions.size()), 0});
  Tree& known = found->second;
  if (is_new && record_.regions.size() >= kMostTrees) known = {-1, kMostLooks};
  if (known.number < 0) return -1;
  if (is_new) record_.regions.push_back(fmt::format("region tree {}", tree));
  // The program may name the region later. Once a name was found, the tree is not looked up again.
  known.looked_for = name.empty() ? known.looked_for + 1 : kMostLooks;
  if (!name.empty()) record_.regions[static_cast<std::size_t>(known.number)] = std::move(name);
  return known.number;
}

// ---- The contents of memories

// Returns the memory's number in the record, or -1 for a memory of another process.
std::int32_t RunMeasurements::memory_of(Legion::Memory memory) const {
  const auto found = memories_.find(memory.id);
  return found == memories_.end() ? -1 : found->second;
}

// Notes that the number of bytes in a memory changed by `bytes` (negative if an instance is gone),
// and updates the peak of that memory.
void RunMeasurements::allocate(RunTime time, std::int32_t memory, std::int32_t region,
                               std::int64_t bytes) {
  if (record_.allocations.size() >= profile::kMaxRecordedAllocations) {
    ++unplaced_;
    return;
  }
  record_.allocations.push_back({time, memory, region, bytes});
  std::int64_t& held = held_bytes_[static_cast<std::size_t>(memory)];
  held += bytes;
  std::int64_t& peak = record_.memories[static_cast<std::size_t>(memory)].peak_bytes;
  peak = std::max(peak, held);
}

// Notes an instance and returns true if it is new. Virtual instances hold no data, and the memory
// of external instances belongs to the program. Both are left out.
bool RunMeasurements::add_new_instance(const PhysicalInstance& instance, std::int32_t region) {
  if (instance.is_virtual_instance() || instance.is_external_instance()) return false;
  const std::int32_t memory = memory_of(instance.get_location());
  if (memory < 0) return false;
  const auto bytes = static_cast<std::int64_t>(instance.get_instance_size());
  const std::lock_guard lock(mutex_);
  if (!instances_.try_emplace(instance.get_instance_id(), memory, bytes).second) return false;
  allocate(time_since_first_mapped(now_ns()), memory, region, bytes);
  return true;
}

// Notes that an instance was destroyed. An instance that was never seen is ignored.
void RunMeasurements::remove_instance(const PhysicalInstance& instance) {
  const std::lock_guard lock(mutex_);
  const auto found = instances_.find(instance.get_instance_id());
  if (found == instances_.end()) return;
  allocate(time_since_first_mapped(now_ns()), found->second.first, -1, -found->second.second);
  instances_.erase(found);
}

// ---- Legion's measurements

// Adds a measurement. Legion reports a task or operation in `total` parts: the task itself, each
// copy and each fill. After the last part, the entry is removed.
bool RunMeasurements::add_measurement(Legion::UniqueID id, MeasuredKind what,
                                      std::size_t requirement, std::uint64_t total,
                                      const Responses& responses) {
  const std::lock_guard lock(mutex_);
  const auto found = pending_.find(id);
  if (found == pending_.end()) return false;
  MappedOperation& of = found->second;
  const bool own = what == MeasuredKind::kTask ? of.own_tasks : of.own_copies;
  if (what == MeasuredKind::kTask) {
    add_task(of, responses);
  } else if (what == MeasuredKind::kCopy) {
    add_copy(of, requirement, responses);
  } else {
    ++fills_;
  }
  if (++of.reports >= total) pending_.erase(found);
  return own;
}

// Adds the event of a task that ended. Nothing is added if its times are incomplete. The caller
// holds mutex_.
void RunMeasurements::add_task(const MappedOperation& of, const Responses& responses) {
  measurements::OperationTimeline timeline;
  measurements::OperationProcessorUsage on;
  if (!responses.get_measurement(timeline) || !responses.get_measurement(on)) return;
  // The record had no room for this task.
  if (of.name < 0) return;
  if (events_.size() >= profile::kMaxRecordedEvents) {
    ++left_out_;
    return;
  }
  profile::MeasuredEvent made;
  Times times;
  const bool on_gpu = on.proc.kind() == Legion::Processor::TOC_PROC;
  if (!read_times(timeline, on_gpu, times)) return;
  const auto where = processors_.find(on.proc.id);
  made.event.name = of.name;
  made.event.point = of.point;
  made.event.where = where == processors_.end() ? -1 : where->second;
  made.event.mapping = time_since_first_mapped(of.begin_ns);
  made.event.mapped = time_since_first_mapped(of.end_ns);
  made.event.ready = time_since_first_mapped(times.ready);
  made.event.start = time_since_first_mapped(times.start);
  measurements::RuntimeOverhead overhead;
  if (responses.get_measurement(overhead)) {
    made.own_time = overhead.application_time * kNanosecond;
    // After the first tasks, Legion initialises itself for about 100 ms on the processor. That time
    // does not belong to the task, so a task with such a gap ends after its measured work.
    const auto worked = overhead.application_time + overhead.runtime_time + overhead.wait_time;
    if (!on_gpu && times.end - times.start > worked + kStallNs) times.end = times.start + worked;
  }
  made.event.end = std::max(made.event.start, time_since_first_mapped(times.end));
  made.creation_time = time_since_first_mapped(times.created);
  made.task = of.task;
  made.uses = of.uses;
  events_.push_back(std::move(made));
}

// Adds the event of a copy that ended, with its memories, bytes and instances as far as Legion
// measured them. The caller holds mutex_.
void RunMeasurements::add_copy(const MappedOperation& of, std::size_t requirement,
                               const Responses& responses) {
  measurements::OperationTimeline timeline;
  measurements::OperationMemoryUsage usage;
  measurements::OperationCopyInfo info;
  Times times;
  if (!responses.get_measurement(timeline) || !read_times(timeline, false, times)) return;
  if (events_.size() >= profile::kMaxRecordedEvents) {
    ++left_out_copies_;
    return;
  }
  profile::MeasuredEvent made;
  made.event.kind = Event::Kind::kCopy;
  made.event.name = of.name;
  if (responses.get_measurement(usage)) {
    made.event.from = memory_of(usage.source);
    made.event.where = memory_of(usage.target);
    made.event.bytes = static_cast<std::int64_t>(usage.size);
  }
  if (responses.get_measurement(info)) {
    using Info = measurements::OperationCopyInfo;
    for (const auto& part : info.inst_info) {
      if (part.request_type == Info::REDUCE) made.event.kind = Event::Kind::kReduction;
      for (const auto& from : part.src_insts) {
        made.uses.push_back({from.id, bits_of(part.src_fields), false});
      }
      for (const auto& to : part.dst_insts) {
        made.uses.push_back({to.id, bits_of(part.dst_fields), true});
      }
    }
    if (made.uses.size() > kMostUses) made.uses.resize(kMostUses);
  }
  made.event.region = requirement < of.regions.size() ? of.regions[requirement] : -1;
  made.event.statement = requirement < of.statements.size() ? of.statements[requirement] : -1;
  made.event.ready = time_since_first_mapped(times.ready);
  made.event.start = time_since_first_mapped(times.start);
  made.event.end = std::max(made.event.start, time_since_first_mapped(times.end));
  made.creation_time = time_since_first_mapped(times.created);
  made.task = of.task;
  events_.push_back(std::move(made));
}

// ---- The record at the end of the run

// Returns the record of the run. The notes in it tell what was left out and why.
RunRecord RunMeasurements::finished() {
  RunRecord record = record_;
  profile::add_events_with_causes(events_, launches_, record);
  record.is_beginning = left_out_ > 0;
  const auto say = [&](std::int64_t count, const char* what) {
    if (count > 0) record.notes.push_back(fmt::format("{} {}", count, what));
  };
  say(left_out_, "tasks came when there was no room any more: this is the run's beginning");
  say(left_out_copies_, "operations and copies were too many to be kept");
  say(points_launched_ - points_mapped_,
      "tasks were launched and not measured, since no mapper here was asked for them: a trace "
      "replayed them, a predicate was false, or another process has them");
  say(fills_, "fills are not in it");
  if (!measures_copies()) {
    record.notes.emplace_back(
        "copies are not in it: Legion cannot measure them in several processes");
  }
  say(unplaced_, "times that instances came or went are not in it: they were too many");
  return record;
}

std::unique_ptr<LegionMapper> make_profiler(LegionMapper* own,
                                            std::shared_ptr<RunMeasurements> watch) {
  return std::make_unique<Profiler>(own, std::move(watch));
}

LegionMapper* mapper_below_profiler(LegionMapper* mapper) {
  const auto* profiler = dynamic_cast<const Profiler*>(mapper);
  return profiler == nullptr ? nullptr : profiler->wrapped_mapper();
}

}  // namespace groma::legion
