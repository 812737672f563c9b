// Profile: where the time of a run went, computed from its record. It covers tasks, processors,
// memories and channels, the moved data with the statement that caused each move, and the critical
// path. It can be written as text, JSON, a trace for Chrome and Perfetto, or a page. All times are
// whole picoseconds (RunTime), so that sums are exact. docs/commands.md explains each figure and
// describes the JSON.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "groma/run_record.h"

namespace groma {

// Limits on the entries that the written forms of a profile list. Entries beyond a limit are
// counted in a sum or mentioned in words. This limit is on the segments of the critical path in the
// JSON, which lists the longest ones.
inline constexpr std::size_t kMaxPathSegments = 1000;
// Limit on the flows between memories in the JSON, which lists the largest ones.
inline constexpr std::size_t kMaxProfileFlows = 10000;
inline constexpr std::size_t kMaxTraceEvents = 250000;
inline constexpr std::size_t kMaxPageEvents = 100000;

// A statement of the mapping for people: its text and its place, "a.mapper:6:1".
struct StatementText {
  std::string text;
  std::string place;
};

// The profile of a run. Immutable, and safe to read from any thread. Tasks, processors, memories,
// links and regions are indices into the record's lists; -1: unknown.
struct Profile {
  // The activity of the run at a moment of the critical path.
  enum class Doing : std::uint8_t { kTask, kCopy, kReduction, kRuntime };
  // The reason why the next step of the critical path had to wait for this step.
  enum class Reason : std::uint8_t {
    // The run ended, so no step came next.
    kEnd,
    // The next step needed the result of this step, or the data that it copied.
    kData,
    // The next step ran on the same processor.
    kProcessor,
    // The next copy used the same channel.
    kChannel,
    // The next step was launched and mapped only then, or the task that launched it waited for this
    // step.
    kMapping,
    // The next step was ready, and no known event used its processor or channel. Only kRuntime has
    // this reason.
    kStart,
  };
  static constexpr std::size_t kReasons = 6;

  // All runs of one task on one kind of processor.
  struct Task {
    std::int32_t task = -1;
    std::string kind;
    std::int64_t runs = 0;
    // The time of all runs of the task together.
    RunTime time = 0;
    // The time of the longest run.
    RunTime longest = 0;
    // The time for which the runs were ready but waited for a processor, summed over all runs.
    RunTime waited = 0;

    // Returns the mean time of a run. A task may have a time without a run: a record may hold only
    // the later parts of a run that paused.
    RunTime mean() const { return time / std::max<std::int64_t>(runs, 1); }
  };
  struct Processor {
    std::int32_t processor = -1;
    std::int64_t runs = 0;
    RunTime busy = 0;
  };
  // All processors of one kind.
  struct Kind {
    std::string kind;
    std::int64_t processors = 0, used = 0, runs = 0;
    // The busy and the idle time of all processors of the kind together.
    RunTime busy = 0, idle = 0;
    // The least and the greatest busy time of a single processor.
    RunTime least = 0, most = 0;
  };
  struct Memory {
    std::int32_t memory = -1;
    // The bytes that copies and reductions moved into and out of the memory.
    std::int64_t in_bytes = 0, out_bytes = 0;
    // The time at which the memory first reached its peak.
    RunTime peak_time = 0;
  };
  // One link of a channel.
  struct Channel {
    std::int32_t link = -1;
    std::int64_t copies = 0, bytes = 0;
    RunTime busy = 0;
  };
  // The runtime processor of a node.
  struct Runtime {
    std::int64_t node = 0, mapped = 0;
    RunTime busy = 0;
  };
  // All copies that have the same cause: the region, the memory kinds and the statement.
  struct CopyGroup {
    std::int32_t region = -1;
    // The kinds of the source and of the target memory.
    std::string from, to;
    // True for copies between two nodes.
    bool other_node = false;
    // True for copies within one memory.
    bool same_memory = false;
    // The statement that caused the copies. 0 stands for the default mapper.
    std::int32_t statement = 0;
    bool reduction = false;
    std::int64_t number = 0, bytes = 0;
    // The sum of the times of all copies, including concurrent ones.
    RunTime time = 0;
    // The time for which the copies were ready but waited for a channel, summed over all copies.
    RunTime waited = 0;
  };
  // The data that was moved from one memory to another.
  struct Flow {
    std::int32_t from = -1, to = -1;
    std::int64_t number = 0, bytes = 0;
  };
  // All occurrences of the phases with one name.
  struct Phase {
    std::string name;
    std::int64_t times = 0;
    RunTime time = 0;
  };
  // One part of the critical path.
  struct Segment {
    Doing doing = Doing::kRuntime;
    Reason reason = Reason::kEnd;
    // The event of the segment. For kRuntime, this is the event that was launched and mapped. -1
    // stands for the end of the run.
    std::int64_t event = -1;
    RunTime begin = 0, end = 0;
    // The cause of the segment, as an index into `path_causes`.
    std::int32_t cause = -1;
  };
  // Segments with the same cause: a task, the copies of one Move, or the runtime.
  struct PathCause {
    Doing doing = Doing::kRuntime;
    Reason reason = Reason::kEnd;
    // The index of the task, for segments of kind kTask.
    std::int32_t task = -1;
    // The index of the copies in `moves`, for segments of kind kCopy and kReduction.
    std::int32_t move = -1;
    std::int64_t segments = 0;
    RunTime time = 0;
    // For segments of kind kTask: the index of the other task that came next on the path for more
    // than half of the time. -1: there is none.
    std::int32_t before = -1;
  };

  std::shared_ptr<const RunRecord> record;
  RunTime total = 0;
  std::int64_t task_runs = 0, copies = 0, reductions = 0, moved_bytes = 0;
  // The time of all tasks together, and of all copies and reductions together.
  RunTime task_time = 0, copy_time = 0;
  // The tasks, with the longest time first.
  std::vector<Task> tasks;
  // The processors that ran something, in the order of the record.
  std::vector<Processor> processors;
  // The kinds that ran something, with the busiest first.
  std::vector<Kind> kinds;
  // The memories that were used, in the order of the record.
  std::vector<Memory> memories;
  // The links that were used, in the order of the record.
  std::vector<Channel> channels;
  // The runtime processors that mapped something, in the order of their nodes.
  std::vector<Runtime> runtimes;
  // The moves, with the largest number of bytes first.
  std::vector<CopyGroup> moves;
  // The flows, with the largest number of bytes first.
  std::vector<Flow> flows;
  // The phases, sorted by the end of the first phase of each name.
  std::vector<Phase> phases;

  // The critical path, from the beginning to the end without gaps. The lengths add up to `total`.
  std::vector<Segment> path;
  // The causes, with the longest first. Their times add up to `total`.
  std::vector<PathCause> path_causes;
  // The time on the critical path, by Doing and Reason. The times add up to `total`.
  std::array<std::array<RunTime, kReasons>, 4> path_time = {};

  // Returns the time that one activity takes on the critical path, over all reasons.
  RunTime time_on_path(Doing doing) const;
  // Returns, for each of `path_causes`, the part of its time that lies within phases with the name
  // `phase`.
  std::vector<RunTime> path_times_in_phase(const std::string& phase) const;
  // Returns the busy time of the busiest processor divided by the mean over all processors of that
  // kind on the machine. 1 means even load.
  static double imbalance(const Kind& kind);
};

// Makes the profile of a record. Accepts any record: events beyond the record's end are cut off,
// invalid references count as unknown, and sums saturate. Takes time linear in the record.
Profile make_profile(std::shared_ptr<const RunRecord> record);

// Names that the written forms of a profile use.
struct ProfileWords {
  // The title, such as "circuit on p100x4 by a.mapper".
  std::string title;
  // Returns the text and the place of the statement with this number. The function may be empty.
  std::function<StatementText(std::int32_t)> statement;
  // The phase that the application's metric measures. Empty: the whole run.
  std::string measured = {};
  // A hash that identifies the mapping (mapping_mark of groma/program.h); may be empty.
  std::string mapping = {};
};

// Returns text for a terminal with 80 columns, at most about 60 lines: the time and its parts, then
// the largest entries of each list. `color` adds ANSI colours. Ends with a line end; has no other
// control characters.
std::string draw(const Profile& profile, const ProfileWords& words, bool color = false);
// Returns the profile as one line of JSON, with its line end.
std::string to_json(const Profile& profile, const ProfileWords& words);
// Returns JSON in the trace event format that chrome://tracing and ui.perfetto.dev read. Nodes
// appear as processes. Processors, links and runtime processors appear as threads, the contents of
// memories as counters, and the critical path as a separate thread. Has the longest kMaxTraceEvents
// events of each run.
std::string to_trace(const Profile& profile, const ProfileWords& words);
// Returns one HTML file that needs no network and no other file. The longest kMaxPageEvents events
// are drawn.
std::string to_html(const Profile& profile, const ProfileWords& words);

}  // namespace groma
