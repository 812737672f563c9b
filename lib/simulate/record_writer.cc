// Writes tasks, copies, phases and allocations to the record of a run.
#include "simulate/record_writer.h"

#include "base/point_text.h"
#include "simulate/bytes.h"

namespace groma::sim {

// Writes the names of tasks, regions, processors and memories, to which the events of the record
// refer.
RecordWriter::RecordWriter(const RunInput& input, Outcome& outcome, bool wanted)
    : input_(input), outcome_(outcome) {
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
  }
}

std::int64_t RecordWriter::bytes() const {
  if (!record_) return 0;
  // The memory of a point in bytes. The text of a point is stored twice.
  constexpr std::size_t kPoint = 160;
  return heap_bytes(record_->events) + heap_bytes(record_->allocations) +
         heap_bytes(record_->phases) + static_cast<std::int64_t>(record_->points.size() * kPoint);
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

// The record stores the point of a task of an index launch as an index into its list of points.
void RecordWriter::add_task(const TaskRun& run, RunTime end) {
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
  if (run.parent != nullptr) {
    event.after = run.parent->since.event;
    event.after_start = run.parent->since.start;
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
