// explain_log: what a real run did with the statements of a mapping, from the log of its mappers.
// The log comes from Legion's LoggingWrapper (`-level mapper=2`) or from `groma run --log`. The
// latter writes the same lines and also the names of regions.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "groma/diagnostics.h"
#include "groma/explain.h"
#include "groma/machine.h"
#include "groma/program.h"
#include "groma/result.h"
#include "groma/workload.h"

namespace groma {

// Limits on what is kept of a log. Entries beyond a limit are only counted.
// Limit on the bytes of one line of a log. The rest of a longer line is skipped.
inline constexpr std::size_t kMaxLogLine = 1 << 16;
// Limit on each list of different entries that is kept of a log: about tasks, data, options and
// moves.
inline constexpr std::size_t kMaxLogEntries = 1 << 16;
// Limit on the points whose processors are kept.
inline constexpr std::size_t kMaxLogPoints = 1 << 18;
inline constexpr std::size_t kMaxLogLaunches = 1 << 16;
inline constexpr std::size_t kMaxLogThreads = 1 << 12;
// Limit on the bytes of all names together.
inline constexpr std::size_t kMaxLogNames = 1 << 26;

// The contents of a log. Equal entries are counted together.
struct MapperLog {
  // Runs of one task on one kind of processor.
  struct Task {
    std::string name;
    // The processor kind of the runs; nullopt if the mapping language does not have the kind.
    std::optional<ProcKind> kind;
    bool is_index = false;
    std::int64_t count = 0;
    // The name that the log gives one of these runs, such as "write (0) <20>".
    std::string example;
  };
  // The data of one region argument of a task, in runs on one kind of processor.
  struct Data {
    std::string task;
    std::optional<ProcKind> kind;
    std::int64_t position = 0;
    // The names of the region, its partition and its parent.
    std::vector<std::string> names;
    // False if the log does not tell the names of the region.
    bool has_names = false;
    // The memory kind of the data; nullopt if the mapping language does not have the kind.
    std::optional<MemKind> memory;
    // The layout: "SoA:YX", from the slowest to the fastest dimension.
    std::string layout;
    bool one_field = false;
    std::int64_t count = 0;
    std::string example;
  };
  // One point of an index launch.
  struct Point {
    // The task of the point, as an index into `tasks`.
    std::size_t task = 0;
    // Index into `launches`; nullopt: the log does not say which launch.
    std::optional<std::size_t> launch;
    groma::Point point;
    Processor processor;
  };
  struct Options {
    std::int64_t count = 0, replicated = 0;
    // The number of runs that Legion would not replicate. It is counted only if by_groma is true.
    std::int64_t not_replicable = 0;
  };
  // Moves of ready tasks to another processor, for example by a mapper that steals. They are known
  // only if by_groma is true.
  struct TaskMove {
    std::string task;
    Processor to;
    std::int64_t count = 0;
  };

  // The machine with the processors and memories that the log lists.
  std::optional<Machine> machine;
  std::vector<Task> tasks;
  std::vector<Data> data;
  // The domain of a launch.
  struct LaunchedDomain {
    Rect box;
    // The number of points of a launch that does not have every point of the box, and the runtime's
    // id of its index space. nullopt: it has every point.
    std::optional<std::int64_t> some_points;
    std::uint64_t id = 0;
    // True if the log shows only slices of the launch. `box` is then the box around them, and the
    // launch need not have every point of it.
    bool is_from_slices = false;
  };
  // The launch domains. Launches with equal domains are listed once.
  std::vector<LaunchedDomain> launches;
  std::vector<Point> points;
  // The answers of select_task_options, by the name of the task.
  std::map<std::string, Options> options;
  std::vector<TaskMove> moves;
  // True if `groma run --log` wrote the log.
  bool by_groma = false;
  // True if the process of `groma run --log` ended before it had written the whole log.
  bool broken_off = false;
  // The numbers of lines that were read, and of tasks that were mapped.
  std::int64_t lines = 0, mapped = 0;
  // The number of lines that begin like a line of a mapper but cannot be read.
  std::int64_t unreadable = 0;
  // The number of entries beyond the limits.
  std::int64_t left_out = 0;
};

// Reads a log piece by piece. Any input is safe.
class MapperLogReader {
 public:
  MapperLogReader();
  ~MapperLogReader();
  MapperLogReader(MapperLogReader&&) noexcept;
  MapperLogReader& operator=(MapperLogReader&&) noexcept;

  // Reads the next bytes of the log.
  void read(std::string_view bytes);
  // Returns the number of the run's processes whose logs have not been read; 0 for logs that are
  // not from `groma run --log`. With `groma run --log LOG` every process writes a log: the first
  // process `LOG`, the others `LOG.1` and so on.
  std::int64_t missing_processes() const;
  // Returns the contents of the log. Fails with kMalformed if the log maps no task; the error says
  // what to do.
  Result<MapperLog> finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// The result of comparing a statement of a mapping with what a run did.
struct LoggedStatement {
  enum class State : std::uint8_t {
    kActed,
    // At least once, the run did something else than the statement says.
    kNotHonoured,
    // Other statements decided about everything that this statement matches.
    kOverruled,
    // The run has nothing that the statement matches.
    kUnmatched,
    // The log cannot show what became of the statement: its kind does not report this, or the log
    // is incomplete.
    kNotShown,
  };
  struct Difference {
    enum class Kind : std::uint8_t {
      // The run used another kind of processor, memory or layout, or another processor.
      kOtherValue,
      // The run did not replicate the task.
      kNotReplicated,
      // Legion could not replicate the task.
      kCannotReplicate
    };
    std::string wanted, got;
    std::int64_t count = 0;
    std::string example;
    Kind kind = Kind::kOtherValue;
  };
  DecisionOrigin origin;
  State state = State::kUnmatched;
  // The things that `acted` and `refused` count: "task", "region" or "point".
  std::string of;
  std::int64_t acted = 0, refused = 0;
  // What the run did instead of what the statement says: at most 5 differences.
  std::vector<Difference> differences;
  // The reason why the log cannot show what became of the statement (kNotShown).
  std::string why;
};

// The result of comparing all statements of a program with what a run did.
struct LogExplanation {
  // The name of the log, for messages.
  std::string log;
  // One entry for each statement that decides about tasks or data, in the order of the text.
  std::vector<LoggedStatement> statements;
  // The number of mapped tasks, and of regions that were mapped to a memory.
  std::int64_t tasks = 0, regions = 0;
  bool broken_off = false;
  std::int64_t lines = 0, unreadable = 0, left_out = 0;
};

// Compares the log with the program. `app` (may be null) gives the names of regions that the log
// does not name. The program is bound to the log's machine. If that fails, `diags` gets the errors
// and no mapping function is compared.
LogExplanation explain_log(const Program& program, const MapperLog& log, std::string name,
                           const Workload* app, Diagnostics& diags);

// Returns the explanation as text for a person, which ends with a line end.
std::string draw(const LogExplanation& explanation, const Program& program, bool color = false);
// Returns one line of JSON: {"log": {...}, "diagnostics": [...]}. If `explanation` is not null, its
// members are added (docs/commands.md).
std::string to_json(const LogExplanation& log, const Explanation* explanation,
                    const Program& program, const Diagnostics& diags);

}  // namespace groma
