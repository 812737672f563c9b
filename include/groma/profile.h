// Profile: where the time of a run went, made from its record: by task, processor, memory and
// channel; what was moved, and because of which statement; the critical path. And its forms: text,
// JSON, a trace for Chrome and Perfetto, a page. All times are whole picoseconds (RunTime), so that
// everything adds up exactly; docs/commands.md says what each figure means and gives the JSON.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "groma/run_record.h"

namespace groma {

// Bounds of what is listed; what is beyond is counted in a sum or in words.
inline constexpr std::size_t kMaxPathSegments = 1000;   // in JSON; the longest
inline constexpr std::size_t kMaxProfileFlows = 10000;  // in JSON; the largest
inline constexpr std::size_t kMaxTraceEvents = 250000;
inline constexpr std::size_t kMaxPageEvents = 100000;

// A statement of the mapping, for people: its text and its place, "a.mapper:6:1".
struct StatementText {
  std::string text;
  std::string place;
};

// Immutable once made; safe to read from any thread. Tasks, processors, memories, links and regions
// are numbers of the record's; -1: not known.
struct Profile {
  // What the run was doing at a moment of the critical path.
  enum class Doing : std::uint8_t { kTask, kCopy, kReduction, kRuntime };
  // Why what came next on the path had to wait for it.
  enum class Reason : std::uint8_t {
    kEnd,        // nothing came next: the run was over
    kData,       // it needed the result, or the data that was copied
    kProcessor,  // it ran on the same processor
    kChannel,    // it was copied over the same channel
    kMapping,    // it was launched and mapped then, or its launching task waited for it
    kStart,      // kRuntime: it was ready, and nothing that is known had its processor or channel
  };
  static constexpr std::size_t kReasons = 6;

  struct Task {  // of one name on one kind of processor
    std::int32_t task = -1;
    std::string kind;
    std::int64_t runs = 0;
    RunTime time = 0;     // of all runs
    RunTime longest = 0;  // of one
    RunTime waited = 0;   // ready, for a processor; of all
  };
  struct Processor {
    std::int32_t processor = -1;
    std::int64_t runs = 0;
    RunTime busy = 0;
  };
  struct Kind {  // of processors
    std::string kind;
    std::int64_t processors = 0, used = 0, runs = 0;
    RunTime busy = 0, idle = 0;   // of all
    RunTime least = 0, most = 0;  // of one
  };
  struct Memory {
    std::int32_t memory = -1;
    std::int64_t in_bytes = 0, out_bytes = 0;  // by copies and reductions
    RunTime peak_time = 0;                     // when it was first as full as it ever was
  };
  struct Channel {  // a link
    std::int32_t link = -1;
    std::int64_t copies = 0, bytes = 0;
    RunTime busy = 0;
  };
  struct Runtime {  // of a node: its runtime processor
    std::int64_t node = 0, mapped = 0;
    RunTime busy = 0;
  };
  struct Move {  // copies of one cause
    std::int32_t region = -1;
    std::string from, to;        // kinds of memory
    bool other_node = false;     // from one node to another
    bool same_memory = false;    // within one memory
    std::int32_t statement = 0;  // 0: the default mapper
    bool reduction = false;
    std::int64_t number = 0, bytes = 0;
    RunTime time = 0;    // of all, however many went side by side
    RunTime waited = 0;  // ready, for a channel; of all
  };
  struct Flow {  // between two memories
    std::int32_t from = -1, to = -1;
    std::int64_t number = 0, bytes = 0;
  };
  struct Phase {  // all of one name
    std::string name;
    std::int64_t times = 0;
    RunTime time = 0;
  };
  struct Segment {  // of the critical path
    Doing doing = Doing::kRuntime;
    Reason reason = Reason::kEnd;
    std::int64_t event = -1;  // kRuntime: that was launched and mapped; -1: the end of the run
    RunTime begin = 0, end = 0;
    std::int32_t cause = -1;  // of `path_causes`
  };
  struct PathCause {  // segments of one kind: of a task, of copies of one Move, or the runtime
    Doing doing = Doing::kRuntime;
    Reason reason = Reason::kEnd;
    std::int32_t task = -1;  // kTask
    std::int32_t move = -1;  // kCopy, kReduction: of `moves`
    std::int64_t segments = 0;
    RunTime time = 0;
  };

  std::shared_ptr<const RunRecord> record;
  RunTime total = 0;
  std::int64_t task_runs = 0, copies = 0, reductions = 0, moved_bytes = 0;
  RunTime task_time = 0, copy_time = 0;  // of all
  std::vector<Task> tasks;               // the longest time first
  std::vector<Processor> processors;     // that ran something, in order
  std::vector<Kind> kinds;               // of which something ran, the busiest first
  std::vector<Memory> memories;          // that were used, in order
  std::vector<Channel> channels;         // that were used, in order
  std::vector<Runtime> runtimes;         // that mapped something, in order
  std::vector<Move> moves;               // the most bytes first
  std::vector<Flow> flows;               // the most bytes first
  std::vector<Phase> phases;             // in the order in which they first ended

  // From the beginning to the end without a gap: the lengths add up to `total`.
  std::vector<Segment> path;
  std::vector<PathCause> path_causes;  // the longest first; they too add up to `total`
  std::array<std::array<RunTime, kReasons>, 4> path_time = {};  // by Doing and Reason; so do these

  RunTime path_doing(Doing doing) const;
  // Of each of `path_causes`, the time of it that lies within phases of that name.
  std::vector<RunTime> path_within(const std::string& phase) const;
  // Busiest processor over the mean of those of its kind that the machine has; 1 is even.
  static double imbalance(const Kind& kind);
};

// What is beyond the record's end is cut off, what refers to what is not there counts as unknown,
// and sums stop at the largest number, so that any record will do. Linear in the record.
Profile make_profile(std::shared_ptr<const RunRecord> record);

struct ProfileWords {
  std::string title;  // "circuit on p100x4 by a.mapper"
  // What is known of a statement; may be empty.
  std::function<StatementText(std::int32_t)> statement;
  // The phase that the application's metric measures; empty: the whole run.
  std::string measured = {};
  // What tells the mapping from others (mapping_mark of groma/program.h); may be empty.
  std::string mapping = {};
};

// For a terminal, 80 columns, at most some 60 lines: the time and what it is made of, then the
// largest of everything. `color`: ANSI colours. Ends with a line end; no control characters but
// these.
std::string draw(const Profile& profile, const ProfileWords& words, bool color = false);
// One line with its end.
std::string to_json(const Profile& profile, const ProfileWords& words);
// JSON in the trace event format that chrome://tracing and ui.perfetto.dev read: nodes as
// processes; processors, links and runtime processors as threads; what memories hold as counters;
// the critical path as a thread of its own. The longest kMaxTraceEvents of each run.
std::string to_trace(const Profile& profile, const ProfileWords& words);
// One HTML file that needs no network and no other file. The longest kMaxPageEvents are drawn.
std::string to_html(const Profile& profile, const ProfileWords& words);

}  // namespace groma
