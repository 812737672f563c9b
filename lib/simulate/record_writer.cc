// Writes tasks, copies, phases and allocations to the record of a run.
#include "simulate/record_writer.h"

#include "base/point_text.h"
#include "simulate/bytes.h"

namespace groma::sim {

// Writes the names of tasks, regions, processors and memories, to which the events of the record
// refer.
RecordWriter::RecordWriter(const RunInput& input, const InstanceStore& store, Outcome& outcome,
                           bool wanted)
    : input_(input), outcome_(outcome), store_(store) {
  if (!wanted) return;
  record_ = std::make_shared<RunRecord>();
  for (const app::Task& task : input.data.tasks) record_->tasks.push_back(task.name);
  for (const app::Region& region : input.data.regions) record_->regions.push_back(region.name);
  record_->phase_names = input.data.phases;
  record_->processors.reserve(input.processors.size());
  for (const Processor& p : input.processors) {
    record_->processors.push_back({std::string(name_of(p.kind)), p.node, p.index});
  }
  record_->memories.reserve(input.memories.size());
  for (std::size_t m = 0; m < input.memories.size(); ++m) {
    const auto number = static_cast<std::int32_t>(m);
    const Memory& memory = input.memories[number];
    record_->memories.push_back({std::string(name_of(memory.kind)), memory.node, memory.index,
                                 input.memories.group(number).capacity_bytes, 0});
    std::int32_t& first = first_memory_[static_cast<std::size_t>(memory.kind)];
    if (first < 0) first = number;
  }
  describe_machine_and_tasks();
}

// Writes which processor kinds address which memory kinds, and which processor kinds the tasks can
// run on. If node types differ, the first one that has an affinity counts.
void RecordWriter::describe_machine_and_tasks() {
  for (const NodeType& node : input_.machine->node_types()) {
    for (const Affinity& affinity : node.affinities) {
      const std::string_view processor = name_of(affinity.processor),
                             memory = name_of(affinity.memory);
      const bool is_known =
          std::any_of(record_->reaches.begin(), record_->reaches.end(), [&](const auto& reach) {
            return reach.processor == processor && reach.memory == memory;
          });
      if (is_known || node.find(affinity.processor) == nullptr ||
          node.find(affinity.memory) == nullptr) {
        continue;
      }
      record_->reaches.push_back(
          {std::string(processor), std::string(memory), affinity.bandwidth_bytes_per_s});
    }
  }
  for (const app::Task& task : input_.data.tasks) {
    RunRecord::TaskDescription& description = record_->descriptions.emplace_back();
    for (const app::Variant& variant : task.variants) {
      const std::string kind(name_of(variant.kind));
      const bool is_known = std::find(description.kinds.begin(), description.kinds.end(), kind) !=
                            description.kinds.end();
      if (!is_known && input_.machine->has(variant.kind)) description.kinds.push_back(kind);
    }
    for (const app::Requirement& requirement : task.requirements) {
      const bool is_known = requirement.data.kind != app::RequirementData::Kind::kUnknown;
      description.requirements.push_back(
          {requirement.names.empty() ? requirement.data.names : requirement.names,
           is_known ? static_cast<std::int32_t>(requirement.data.region) : -1});
    }
  }
  if (input_.data.top_level < 0) return;
  const app::Task& top = input_.data.tasks[static_cast<std::size_t>(input_.data.top_level)];
  if (std::any_of(top.variants.begin(), top.variants.end(),
                  [](const app::Variant& variant) { return variant.replicable; })) {
    record_->could_replicate = input_.data.top_level;
  }
}

std::int64_t RecordWriter::bytes() const {
  if (!record_) return 0;
  // The memory of a point in bytes. The text of a point is stored twice.
  constexpr std::size_t kPoint = 160;
  // The memory of the cost of a task in bytes. Each cost is stored twice, with some four streams.
  constexpr std::size_t kCost = 512;
  return heap_bytes(record_->events) + heap_bytes(record_->allocations) +
         heap_bytes(record_->phases) + static_cast<std::int64_t>(record_->points.size() * kPoint) +
         static_cast<std::int64_t>(record_->costs.size() * kCost);
}

// Appends an entry to a list of the record. If the memory limit of the run leaves no room for the
// list to grow, ends the run.
template <typename Entry>
void RecordWriter::append(std::vector<Entry>& list, const std::type_identity_t<Entry>& entry) {
  if (list.size() == list.capacity()) {
    // While the list grows, both its old and its new array take memory.
    const std::int64_t room = outcome_.bytes_left() / static_cast<std::int64_t>(sizeof(Entry));
    const auto size = static_cast<std::int64_t>(list.size());
    if (room <= size + size / 8) {
      outcome_.fail_of_memory(input_.data.name);
      return;
    }
    list.reserve(static_cast<std::size_t>(std::min(room, std::max<std::int64_t>(64, 2 * size))));
  }
  list.push_back(entry);
}

// Returns the number of a point in the list of points of the record. New points are added.
std::int32_t RecordWriter::point_number(const Point& point) {
  const auto number = static_cast<std::int32_t>(record_->points.size());
  const auto [known, is_new] = point_numbers_.try_emplace(text_of(point), number);
  if (is_new) record_->points.push_back(known->first);
  return known->second;
}

// Adds the names and the regions of requirements that only the launches of a task describe.
void RecordWriter::describe_requirements(const TaskRun& run) {
  RunRecord::TaskDescription& description = record_->descriptions[run.task];
  for (std::size_t r = 0; r < description.requirements.size(); ++r) {
    RunRecord::TaskDescription::Requirement& requirement = description.requirements[r];
    if (requirement.region >= 0) continue;
    const app::RequirementData& data = data_of_requirement(input_.data, run, r);
    if (data.kind == app::RequirementData::Kind::kUnknown) continue;
    requirement.region = static_cast<std::int32_t>(data.region);
    if (requirement.names.empty()) requirement.names = data.names;
  }
}

// Returns the index in RunRecord::costs of the cost of a task, which is added if it is new.
std::int32_t RecordWriter::cost_number(const TaskRun& run, const TaskWork& work) {
  RunRecord::TaskCost cost;
  cost.launching = to_picoseconds(work.overhead_s);
  cost.computing = to_picoseconds(work.computing_s);
  for (const TaskWork::RequirementTraffic& traffic : work.by_requirement) {
    const Instance& instance =
        store_.instance(run.instances[static_cast<std::size_t>(traffic.requirement)]);
    const MemKind kind = input_.memories[instance.memory].kind;
    RunRecord::TaskCost::Stream stream{
        traffic.requirement, first_memory_[static_cast<std::size_t>(kind)], instance.statement,
        static_cast<std::int64_t>(traffic.bytes), static_cast<std::int64_t>(traffic.host_bytes)};
    if (!cost.streams.empty() && cost.streams.back().requirement == traffic.requirement) {
      cost.streams.back().bytes += stream.bytes;
      cost.streams.back().host_bytes += stream.host_bytes;
    } else {
      cost.streams.push_back(stream);
    }
  }
  const auto number = static_cast<std::int32_t>(record_->costs.size());
  const auto [known, is_new] = cost_numbers_.emplace(std::move(cost), number);
  if (is_new) {
    record_->costs.push_back(known->first);
    describe_requirements(run);
  }
  return known->second;
}

// The record stores the point of a task of an index launch as an index into its list of points.
void RecordWriter::add_task(const TaskRun& run, RunTime end, TaskWork& work) {
  if (!record_) return;
  RunRecord::Event event;
  event.kind = RunRecord::Event::Kind::kTask;
  event.name = static_cast<std::int32_t>(run.task);
  if (run.launch != nullptr && run.launch->is_index) event.point = point_number(point_of(run));
  event.where = run.number;
  event.mapping = run.times.mapping;
  event.mapped = run.times.mapped;
  event.ready = run.times.ready;
  event.start = run.times.start;
  event.end = end;
  event.cause = run.records.cause;
  if (work.recorded < 0) work.recorded = cost_number(run, work);
  event.cost = work.recorded;
  if (run.parent != nullptr) {
    event.after = run.parent->since.event;
    event.after_start = run.parent->since.start;
  } else if (run.shard_variant != 0) {
    record_->could_replicate = -1;
  }
  append(record_->events, event);
}

// The recorded copy belongs to the memory into which it copies.
void RecordWriter::add_copy(const CopyRun& copy, const Instance& from, const Instance& to,
                            const Route& route, RunTime end) {
  if (!record_) return;
  RunRecord::Event event;
  event.kind =
      copy.fetch.reduction ? RunRecord::Event::Kind::kReduction : RunRecord::Event::Kind::kCopy;
  event.name = copy.name;
  event.where = to.memory;
  event.from = from.memory;
  event.region = static_cast<std::int32_t>(to.region);
  event.statement = to.statement;
  event.route = route.number;
  event.bytes = copy.fetch.bytes;
  event.mapped = copy.mapped;
  event.ready = copy.ready;
  event.start = copy.start;
  event.end = end;
  event.cause = copy.cause;
  event.after = copy.since.event;
  event.after_start = copy.since.start;
  append(record_->events, event);
}

void RecordWriter::add_phase(int phase, RunTime start, RunTime end) {
  if (record_) append(record_->phases, {phase, start, end});
}

// If the instance is freed, the record gets the negative number of its bytes.
void RecordWriter::add_allocation(RunTime now, const Instance& instance, bool made) {
  if (!record_) return;
  append(record_->allocations, {now, instance.memory, static_cast<std::int32_t>(instance.region),
                                made ? instance.bytes : -instance.bytes});
}

// Adds what is known only at the end of the run: the time, the peak use of memories, and the used
// links.
std::shared_ptr<const RunRecord> RecordWriter::finish(RunTime end, const InstanceStore& store,
                                                      const Links& links) {
  if (!record_) return nullptr;
  record_->end = end;
  for (std::size_t m = 0; m < input_.memories.size(); ++m) {
    record_->memories[m].peak_bytes = store.peak_bytes(static_cast<std::int32_t>(m));
  }
  links.write_links_and_routes(*record_);
  return record_;
}

}  // namespace groma::sim
