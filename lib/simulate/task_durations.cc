// Implements TaskDurations, which computes how long tasks run.
#include "simulate/task_durations.h"

#include <algorithm>

namespace groma::sim {
namespace {

// Returns the bytes that one point of the data takes in all fields of the requirement together.
double point_bytes(const app::Data& data, const app::RequirementData& where) {
  double bytes = 0;
  for (const std::uint32_t field : where.fields) {
    bytes += static_cast<double>(data.regions[where.region].fields[field].bytes);
  }
  return bytes;
}

}  // namespace

// Returns the bytes that one point takes in an instance with all its fields, with gaps.
double TaskDurations::structure_bytes(const Instance& instance) const {
  return static_cast<double>(
      input_.spaces.region(instance.region).point_bytes(instance.groups, instance.layout));
}

// Returns how many bytes the memory moves for each byte that the task uses. The result is at least
// 1. In an AOS layout, all fields of a point are moved. If the variant's loops run in another order
// of the dimensions than the layout, a whole sector is moved for each element.
double TaskDurations::bytes_moved_per_byte_used(const TaskRun& run, std::size_t requirement,
                                                const Instance& instance) const {
  const app::RequirementData& wants = data_of_requirement(input_.data, run, requirement);
  const double sector = sector_bytes(run.processor->kind);
  const double used = point_bytes(input_.data, wants);
  const auto count = static_cast<double>(wants.fields.size());
  double factor = 1;
  if (instance.layout.fields == FieldOrder::kAos) {
    const double whole = structure_bytes(instance);
    const double moved = whole <= sector ? whole : std::min(whole, count * sector);
    factor = std::max(1.0, moved / used);
  }
  if (loops_differ_from_layout(run, requirement, instance)) {
    factor = std::max(factor, std::max(1.0, sector * count / used));
  }
  return factor;
}

// Returns true if the loops of the variant go through the dimensions in another order than the
// instance stores them.
bool TaskDurations::loops_differ_from_layout(const TaskRun& run, std::size_t requirement,
                                             const Instance& instance) const {
  const auto& loops = run.variant->loops;
  return loops && run.pieces[requirement]->box.dimensions() > 1 &&
         *loops != instance.layout.dimensions;
}

// Returns which share, from 0 to 1, of the streamed bytes no hardware prefetcher fetches in time.
// The share is 0 on GPU and OMP processors, because they have enough threads to hide the waiting of
// each one.
double TaskDurations::share_not_prefetched(const TaskRun& run, std::size_t requirement,
                                           const Instance& instance) const {
  const ProcKind kind = run.processor->kind;
  if (kind == ProcKind::kGpu || kind == ProcKind::kOmp) return 0;
  const Rect &box = run.pieces[requirement]->box, &whole = instance.shape->box;
  const int n = box.dimensions();
  if (n < 2 || loops_differ_from_layout(run, requirement, instance)) return 0;
  const app::RequirementData& wants = data_of_requirement(input_.data, run, requirement);
  // The number of bytes of a row of the piece that lie one after the other in memory, and the
  // number of such rows.
  double row = 0, rows = 1;
  if (instance.layout.fields == FieldOrder::kAos) {
    row = structure_bytes(instance);
  } else {
    row = point_bytes(input_.data, wants) / static_cast<double>(wants.fields.size());
  }
  bool in_row = true;
  for (int i = 0; i < n; ++i) {
    const int d = instance.layout.dimensions == DimensionOrder::kC ? n - 1 - i : i;
    (in_row ? row : rows) *= static_cast<double>(box.extents[d]);
    in_row = in_row && box.extents[d] == whole.extents[d];
  }
  return rows > 1 && row > 0 ? std::min(1.0, model_.unforeseen_bytes / row) : 0;
}

// Adds the bytes that a task moves for one requirement to the traffic of the memory in which the
// instance of the requirement lies.
void TaskDurations::add_load(const TaskRun& run, std::size_t requirement, double bytes,
                             Access access, TaskWork& work) const {
  const InstanceNumber number = run.instances[requirement];
  if (number == kVirtual || bytes <= 0) return;
  const Instance& instance = store_.instance(number);
  const MemKind kind = input_.memories[instance.memory].kind;
  double unforeseen = 0;
  if (access == Access::kStream) {
    bytes *= bytes_moved_per_byte_used(run, requirement, instance);
    unforeseen = bytes * share_not_prefetched(run, requirement, instance);
  }
  double host_bytes = bytes;
  if (run.processor->kind == ProcKind::kGpu) {
    if (access == Access::kAtomic) host_bytes *= model_.host_atomic_factor;
    if (access == Access::kScatter) host_bytes *= model_.host_scatter_factor;
  }
  if (by_requirement_) {
    work.by_requirement.push_back({static_cast<std::int32_t>(requirement), bytes, host_bytes});
  }
  if (kind != MemKind::kFbmem) bytes = host_bytes;
  std::vector<TaskWork::MemoryTraffic>& loads = work.loads;
  const auto known = std::find_if(
      loads.begin(), loads.end(),
      [&](const TaskWork::MemoryTraffic& load) { return load.memory == instance.memory; });
  if (known == loads.end()) {
    loads.push_back({instance.memory, bytes, unforeseen, 0});
  } else {
    known->bytes += bytes;
    known->unforeseen += unforeseen;
  }
}

// Notes how many of the GPU's atomic updates of one requirement happen one after the other, because
// they are in the same line of a memory outside the framebuffer. `bytes` counts a sector for each
// update. The updates are spread evenly over the lines of the requirement's piece.
void TaskDurations::add_updates_in_turn(const TaskRun& run, std::size_t requirement, double bytes,
                                        TaskWork& work) const {
  constexpr double kSectorBytes = 32, kLineBytes = 128;
  const InstanceNumber number = run.instances[requirement];
  if (number == kVirtual || bytes <= 0 || run.processor->kind != ProcKind::kGpu) return;
  const Instance& instance = store_.instance(number);
  if (input_.memories[instance.memory].kind == MemKind::kFbmem) return;
  const double element =
      instance.layout.fields == FieldOrder::kAos
          ? structure_bytes(instance)
          : point_bytes(input_.data, data_of_requirement(input_.data, run, requirement));
  // A piece that begins within a line touches one line more than its size says.
  const double lines =
      1 + static_cast<double>(size_of(run.pieces[requirement]).points) * element / kLineBytes;
  for (TaskWork::MemoryTraffic& load : work.loads) {
    if (load.memory != instance.memory) continue;
    load.updates_in_turn = std::max(load.updates_in_turn, bytes / kSectorBytes / lines);
  }
}

// Returns the time that the memory traffic of the task takes, in seconds: the longest of the times
// of its memories. The bandwidth of a memory is divided among the tasks that use it, as
// `count_users` counts them.
double TaskDurations::memory_seconds(TaskRun& run, std::span<const TaskWork::MemoryTraffic> loads,
                                     const CountUsers& count_users) {
  const NodeType& node = input_.machine->node(run.processor->node);
  double longest = 0;
  run.streams = 0;
  for (const TaskWork::MemoryTraffic& load : loads) {
    run.streams |=
        static_cast<std::uint16_t>(1U << static_cast<unsigned>(input_.memories[load.memory].kind));
    const auto sharing = static_cast<double>(count_users(load.memory));
    const Affinity* affinity = node.find(run.processor->kind, input_.memories[load.memory].kind);
    if (affinity == nullptr || affinity->bandwidth_bytes_per_s <= 0) continue;
    const double alone = affinity->bandwidth_bytes_per_s;
    const double all = input_.memories.group(load.memory).bandwidth_bytes_per_s;
    const double bandwidth = all > 0 ? std::min(alone, all / sharing) : alone;
    // The additional seconds for each byte that no prefetcher fetches in time. The core waits for
    // these bytes, because only a limited number of cache lines can be under way.
    const double gap = affinity->gap_bandwidth_bytes_per_s;
    const double waits =
        (gap > 0
             ? 1 / gap
             : affinity->latency_s / (model_.lines_awaited * sector_bytes(run.processor->kind))) -
        1 / alone;
    const double in_turn = load.updates_in_turn * model_.host_atomic_turn * affinity->latency_s;
    const double moving =
        std::max({load.bytes / bandwidth,
                  load.bytes / alone + load.unforeseen * std::max(0.0, waits), in_turn});
    longest = std::max(longest, affinity->latency_s + moving);
  }
  return longest;
}

// Computes the work of a task from the formulas of its variant and from the traffic of its
// requirements.
void TaskDurations::compute(const TaskRun& run, TaskWork& work, app::FormulaFault& fault) {
  const app::Variant& variant = *run.variant;
  const ProcessorGroup& group =
      *input_.machine->node(run.processor->node).find(run.processor->kind);
  sizes_.clear();
  for (const Piece* piece : run.pieces) sizes_.push_back(size_of(piece));
  const auto value = [&](const app::CompiledFormula& code) {
    return std::max<double>(0, static_cast<double>(code.value(run.arguments, fault, sizes_)));
  };
  const double flops = value(variant.flops);
  const double efficiency = std::max(1.0, value(variant.efficiency)) / 100;
  work.overhead_s = value(variant.kernels) * group.launch_latency_s;
  work.computing_s = 0;
  if (flops > 0 && group.flops_per_s > 0) {
    work.computing_s = flops / (group.flops_per_s * group.sustained_fraction * efficiency *
                                (variant.single ? model_.single_precision_speedup : 1));
  }
  work.loads.clear();
  work.by_requirement.clear();
  work.recorded = -1;
  const std::vector<app::Requirement>& requirements = input_.data.tasks[run.task].requirements;
  for (std::size_t r = 0; r < requirements.size(); ++r) {
    bool listed = false;
    double updated = 0;
    for (const app::Traffic& traffic : variant.traffic) {
      if (traffic.requirement != r) continue;
      listed = true;
      const double bytes = value(traffic.bytes);
      add_load(run, r, bytes, traffic.access, work);
      if (traffic.access == Access::kAtomic) updated += bytes;
    }
    add_updates_in_turn(run, r, updated, work);
    if (listed || run.pieces[r] == nullptr || variant.inner) continue;
    const app::RequirementData& where = data_of_requirement(input_.data, run, r);
    const double bytes = point_bytes(input_.data, where) * static_cast<double>(sizes_[r].points);
    const Privilege privilege = where.privilege;
    const bool twice = privilege == Privilege::kReadWrite || privilege == Privilege::kReduce;
    if (privilege != Privilege::kNoAccess) {
      add_load(run, r, twice ? 2 * bytes : bytes, Access::kStream, work);
    }
  }
  work.computing_s = std::max(work.computing_s, value(variant.nanoseconds) * 1e-9);
}

// Returns the work of a task. If the plan of the task is kept, so is its work, for the next task
// with the same instances and arguments.
TaskWork& TaskDurations::work_of(const TaskRun& run, app::FormulaFault& fault) {
  const auto same = [](const auto& kept, const auto& now) {
    return std::equal(kept.begin(), kept.end(), now.begin(), now.end());
  };
  CachedTaskMapping* const plan = plan_of(run);
  // All processors of a plan have the same kind and the same memories, so the work is the same on
  // each.
  const bool is_planned = plan != nullptr && plan->variant == run.variant &&
                          has_same_pieces(*plan, run) &&
                          std::find(plan->processors.begin(), plan->processors.end(), run.number) !=
                              plan->processors.end();
  if (!is_planned) {
    compute(run, work_, fault);
    return work_;
  }
  TaskWork& work = plan->work;
  if (work.known && same(work.instances, run.instances) && same(work.arguments, run.arguments)) {
    return work;
  }
  compute(run, work, fault);
  work.known = fault == app::FormulaFault::kNone;
  work.instances.assign(run.instances.begin(), run.instances.end());
  work.arguments.assign(run.arguments.begin(), run.arguments.end());
  return work;
}

double TaskDurations::begin(TaskRun& run, app::FormulaFault& fault) {
  return seconds_with(
      run, [this](std::int32_t memory) { return ++streaming_[static_cast<std::size_t>(memory)]; },
      fault);
}

// The duration follows the roofline model: the operations of the processor and the traffic of each
// memory happen at the same time, and the longest of them counts. The kernel launch latency is
// added.
double TaskDurations::seconds_with(TaskRun& run, const CountUsers& count_users,
                                   app::FormulaFault& fault) {
  TaskWork& work = work_of(run, fault);
  last_work_ = &work;
  return work.overhead_s + std::max(work.computing_s, memory_seconds(run, work.loads, count_users));
}

// If a task has several instances in memories of one kind, they lie in the same memory, so one bit
// for each kind is enough.
void TaskDurations::end(const TaskRun& run) {
  unsigned left = run.streams;
  for (InstanceNumber number : run.instances) {
    if (number == kVirtual || left == 0) continue;
    const std::int32_t memory = store_.instance(number).memory;
    const unsigned kind = 1U << static_cast<unsigned>(input_.memories[memory].kind);
    if ((left & kind) != 0) --streaming_[static_cast<std::size_t>(memory)];
    left &= ~kind;
  }
}

}  // namespace groma::sim
