// What a real run did with a mapping's statements, from what its mappers logged: Legion's
// LoggingWrapper (`-level mapper=2`), or `groma run --log`, which writes the same lines and the
// names of regions besides.
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

// Bounds of what is kept of a log; what is beyond is counted.
inline constexpr std::size_t kMaxLogLine = 1 << 16;    // bytes; the rest of a line is passed over
inline constexpr std::size_t kMaxLogKinds = 1 << 16;   // things that differ in what is decided
inline constexpr std::size_t kMaxLogPoints = 1 << 18;  // points whose places are kept
inline constexpr std::size_t kMaxLogLaunches = 1 << 16;
inline constexpr std::size_t kMaxLogThreads = 1 << 12;
inline constexpr std::size_t kMaxLogNames = 1 << 26;  // bytes of all names

// What a log says, alike things counted together.
struct MapperLog {
  struct Task {  // runs of a task on a kind of processor
    std::string name;
    std::optional<ProcKind> kind;  // none: one that no mapping names
    bool is_index = false;
    std::int64_t count = 0;
    std::string example;  // "write (0) <20>"
  };
  struct Data {  // a requirement of them
    std::string task;
    std::optional<ProcKind> kind;
    std::int64_t position = 0;
    std::vector<std::string> names;  // of the region, its partition, its parent
    bool has_names = false;          // else the log does not say
    std::optional<MemKind> memory;   // none: one that no mapping names
    std::string layout;              // "SoA:YX", from the slowest to the fastest
    bool one_field = false;
    std::int64_t count = 0;
    std::string example;
  };
  struct Point {                        // of an index launch
    std::size_t task = 0;               // of `tasks`
    std::optional<std::size_t> launch;  // of `launches`; nothing: the log does not tell which
    groma::Point point;
    Processor processor;
  };
  struct Options {
    std::int64_t count = 0, replicated = 0;
    std::int64_t not_replicable = 0;  // that Legion would not replicate; only if by_groma
  };
  struct Move {  // of ready tasks to another processor, by a mapper that steals, say; only if
                 // by_groma
    std::string task;
    Processor to;
    std::int64_t count = 0;
  };

  std::optional<Machine> machine;  // processors and memories that are listed
  std::vector<Task> tasks;
  std::vector<Data> data;
  std::vector<Rect> launches;  // their domains, of launches alike once
  std::vector<Point> points;
  std::map<std::string, Options> options;  // by task
  std::vector<Move> moves;
  bool by_groma = false;               // written by `groma run --log`
  bool broken_off = false;             // `groma run --log`: it did not come to its end
  std::int64_t lines = 0, mapped = 0;  // tasks
  std::int64_t unreadable = 0;         // lines that begin well
  std::int64_t left_out = 0;           // beyond the bounds
};

// Reads a log piece by piece; whatever is in it is of no harm.
class MapperLogReader {
 public:
  MapperLogReader();
  ~MapperLogReader();
  MapperLogReader(MapperLogReader&&) noexcept;
  MapperLogReader& operator=(MapperLogReader&&) noexcept;

  void read(std::string_view bytes);
  // `groma run --log LOG` has every process write a log: the first `LOG`, the others `LOG.1` and so
  // on. Returns the number of processes of the run whose logs have not been read; 0 for other logs.
  std::int64_t missing_processes() const;
  // Fails (kMalformed), with what to do, where no task is mapped in it.
  Result<MapperLog> finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

struct LoggedStatement {
  enum class State : std::uint8_t {
    kActed,
    kNotHonoured,  // somewhere something else was done
    kOverruled,    // what it speaks of was decided by others
    kUnmatched,    // nothing in the run is what it speaks of
    kNotShown,     // such a log does not tell, or the run broke off before
  };
  struct Difference {
    enum class Kind : std::uint8_t {
      kOtherValue,      // another kind of processor, memory, layout or processor
      kNotReplicated,   // the task was not replicated
      kCannotReplicate  // Legion could not replicate the task
    };
    std::string wanted, got;
    std::int64_t count = 0;
    std::string example;
    Kind kind = Kind::kOtherValue;
  };
  Origin origin;
  State state = State::kUnmatched;
  std::string of;  // what is counted: "task", "region", "point"
  std::int64_t acted = 0, refused = 0;
  std::vector<Difference> differences;  // at most 5
  std::string why;                      // of kNotShown
};

struct LogExplanation {
  std::string log;                          // its name
  std::vector<LoggedStatement> statements;  // that decide by a key, in the order of the text
  std::int64_t tasks = 0, regions = 0;      // that were mapped, these to a memory
  bool broken_off = false;
  std::int64_t lines = 0, unreadable = 0, left_out = 0;
};

// `app` (may be null) gives the names of regions where the log has none. `diags` gets what fails
// when the program is bound to the log's machine: then no function is held to it.
LogExplanation explain_log(const Program& program, const MapperLog& log, std::string name,
                           const Workload* app, Diagnostics& diags);

// For a person: ends with a line end.
std::string draw(const LogExplanation& explanation, const Program& program, bool color = false);
// {"log": {...}, "diagnostics": [...]}, with what the explanation says besides where it is not null
// (docs/commands.md). One line.
std::string to_json(const LogExplanation& log, const Explanation* explanation,
                    const Program& program, const Diagnostics& diags);

}  // namespace groma
