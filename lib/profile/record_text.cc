// Writes a RunRecord as text and reads the text back. One list of the fields (visit) serves both
// writing and reading, so that these cannot disagree.
#include "profile/record_text.h"

#include <algorithm>

#include "base/archive.h"

namespace groma::profile {
namespace {

using archive::transfer_list;
using Event = RunRecord::Event;

constexpr std::string_view kMagic = "groma run 4\n";
// Limit on the depth of nested lists in the text of a record.
constexpr int kMaxDepth = 2;
// Limit on the times in a record, in picoseconds: 26 days.
constexpr RunTime kMaxTime = RunTime{1} << 61;

// Passes the fields of an event to the archive, which writes or reads them. The order of the fields
// is the file format. If the order changes, kMagic needs a new number.
template <typename Archive>
void visit(Archive& archive, Event& event) {
  archive(event.kind);
  archive(event.name);
  archive(event.point);
  archive(event.where);
  archive(event.from);
  archive(event.region);
  archive(event.statement);
  archive(event.route);
  archive(event.bytes);
  archive(event.mapping);
  archive(event.mapped);
  archive(event.ready);
  archive(event.start);
  archive(event.end);
  archive(event.cause);
  archive(event.after);
  archive(event.after_start);
  archive(event.continues);
}

// Passes every field of a run's record to the archive, which is an ArchiveWriter or an
// ArchiveReader.
template <typename Archive>
void visit(Archive& archive, RunRecord& record) {
  const auto one_value = [&](auto& value) { archive(value); };
  transfer_list(archive, record.tasks, one_value);
  transfer_list(archive, record.regions, one_value);
  transfer_list(archive, record.phase_names, one_value);
  transfer_list(archive, record.points, one_value);
  transfer_list(archive, record.processors, [&](RunRecord::Processor& one) {
    archive(one.kind);
    archive(one.node);
    archive(one.index);
  });
  transfer_list(archive, record.memories, [&](RunRecord::Memory& one) {
    archive(one.kind);
    archive(one.node);
    archive(one.index);
    archive(one.capacity_bytes);
    archive(one.peak_bytes);
  });
  transfer_list(archive, record.links, [&](RunRecord::Link& one) {
    archive(one.channel);
    archive(one.node);
    archive(one.number);
    archive(one.out);
  });
  transfer_list(archive, record.routes,
                [&](auto& route) { transfer_list(archive, route, one_value); });
  transfer_list(archive, record.events, [&](Event& event) { visit(archive, event); });
  transfer_list(archive, record.allocations, [&](RunRecord::Allocation& one) {
    archive(one.time);
    archive(one.memory);
    archive(one.region);
    archive(one.bytes);
  });
  transfer_list(archive, record.phases, [&](RunRecord::Phase& one) {
    archive(one.name);
    archive(one.begin);
    archive(one.end);
  });
  archive(record.end);
  archive(record.is_beginning);
  transfer_list(archive, record.notes, one_value);
}

// Returns true if a time is from 0 to the limit kMaxTime.
bool is_valid(RunTime time) { return time >= 0 && time <= kMaxTime; }

// Returns true if an event is valid: its times are within the limits, neither its mapping nor its
// execution ends before it begins, and the events it refers to are earlier ones. `number` is the
// number of the event.
bool is_valid(const Event& event, std::int64_t number) {
  const bool times = is_valid(event.mapping) && is_valid(event.mapped) && is_valid(event.ready) &&
                     is_valid(event.start) && is_valid(event.end);
  // Because every cause is an earlier event, following the causes cannot lead into a cycle.
  return times && event.kind <= Event::Kind::kReduction && event.mapping <= event.mapped &&
         event.start <= event.end && event.bytes >= 0 && event.cause < number &&
         event.after < number && event.continues < number;
}

// Returns true if all events, allocations and phases of a run's record are valid.
bool is_valid(const RunRecord& record) {
  for (std::size_t i = 0; i < record.events.size(); ++i) {
    if (!is_valid(record.events[i], static_cast<std::int64_t>(i))) return false;
  }
  return is_valid(record.end) &&
         std::all_of(record.allocations.begin(), record.allocations.end(),
                     [](const auto& one) { return is_valid(one.time); }) &&
         std::all_of(record.phases.begin(), record.phases.end(), [](const auto& one) {
           return is_valid(one.begin) && is_valid(one.end) && one.begin <= one.end;
         });
}

}  // namespace

std::string text_of(const RunRecord& record) {
  archive::ArchiveWriter writer(kMagic);
  // The const_cast is safe, because the ArchiveWriter only reads the record.
  visit(writer, const_cast<RunRecord&>(record));
  return writer.take();
}

// Fails on damaged text, on an interval that ends before it begins, and on an event whose cause is
// not an earlier event, because a profile relies on valid records.
Result<RunRecord> run_record_from(std::string_view text) {
  RunRecord record;
  archive::ArchiveReader reader(text, kMagic, kMaxDepth);
  visit(reader, record);
  if (!reader.ok() || !reader.is_at_end() || !is_valid(record)) {
    return Error{Error::Code::kMalformed, "what was measured of the run is damaged"};
  }
  return record;
}

}  // namespace groma::profile
