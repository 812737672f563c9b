// Program: a checked mapping program, independent of any machine. Its statements are tables, each
// of which answers one question. Its functions are typed code, which a binding to a machine
// evaluates (evaluate.h).
#pragma once

#include <concepts>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "groma/diagnostics.h"
#include "groma/kinds.h"
#include "groma/source.h"

namespace groma {

namespace program {
struct ProgramData;
}

// The statement that made a decision: its number in the order of the text, from 1. 0: no statement;
// the decision is the default mapper's.
struct DecisionOrigin {
  std::uint32_t statement = 0;
  explicit operator bool() const { return statement != 0; }
  friend bool operator==(const DecisionOrigin&, const DecisionOrigin&) = default;
};

// A function of the program: its index among the `def`s.
using FunctionId = std::uint32_t;

// The ways to refer to a region requirement of a task: its position, and the names of the region,
// its partition and its parent, in this order (Legion: semantic names).
struct RegionNames {
  std::int64_t position = 0;
  std::span<const std::string_view> aliases;
};

// The decisions that the functions of Program return, each with the statement that made it.
struct TaskDecision {
  // The processor kinds of the task, in the order of preference.
  std::vector<ProcKind> kinds;
  DecisionOrigin origin;
};
struct MemoryCandidate {
  MemKind memory;
  DecisionOrigin origin;
};
struct LayoutDecision {
  LayoutSpec layout;
  LayoutAspects named;
  DecisionOrigin origin;
};
struct MappingFunctionDecision {
  FunctionId function;
  DecisionOrigin origin;
};
struct LimitDecision {
  // The largest number of instances of the task that may run at once on the processors of `scope`.
  // 0 stands for no limit.
  std::int64_t limit;
  LimitScope scope;
  DecisionOrigin origin;
};
struct StealDecision {
  StealScope scope;
  DecisionOrigin origin;
};

// Limit on the tasks above a task that a statement can name.
inline constexpr std::size_t kMaxTaskParents = 7;
// A task of which the statements that decide are looked for. Statements may name it alone, or, as
// in `main > step[dim=2]`, with the tasks above it and the form of its launch.
struct LaunchedTask {
  std::string_view name;
  // The names of the tasks above it, its launching task first; at most kMaxTaskParents are looked
  // at. The views must stay valid.
  std::span<const std::string_view> parents = {};
  // The number of dimensions of its launch domain, and 0 for a single task. -1: not known, so
  // statements with `dim` do not match.
  int dimensions = -1;

  LaunchedTask() = default;
  // Any text is a task of which nothing else is known.
  template <typename Name>
  requires std::convertible_to<const Name&, std::string_view> LaunchedTask(const Name& text)
      : name(text) {}  // NOLINT(google-explicit-constructor)
  LaunchedTask(std::string_view text, std::span<const std::string_view> above, int launch)
      : name(text), parents(above), dimensions(launch) {}
};

// The kinds of statements that decide about tasks or data, in the order of program::TableId.
enum class MappingStatement : std::uint8_t {
  kTask,
  kRegion,
  kLayout,
  kInstanceLimit,
  kCollectMemory,
  kIndexTaskMap,
  kSingleTaskMap,
  kControlReplicate,
  kTaskSteal,
};

// Selects the statements of one kind that match a task. Members that the kind of statement does not
// use are ignored.
struct MatchQuery {
  MappingStatement statement = MappingStatement::kTask;
  LaunchedTask task;
  // The names of the region. Used by Region, Layout and CollectMemory.
  RegionNames region;
  // The processor kind on which the task runs.
  std::optional<ProcKind> kind;
  // The memory kind of the data. Used by Layout.
  std::optional<MemKind> memory;
};
// The limit on the shadowed statements that Program::matches() returns.
inline constexpr std::size_t kMaxShadowed = 64;
// A statement that matches a MatchQuery.
struct Match {
  DecisionOrigin origin;
  // True if another statement names the same task, region and kinds, so that this one never counts:
  // an earlier statement or, if `by_condition` is true, one in a `when` block.
  bool shadowed = false;
  bool by_condition = false;
};

// A checked program. Cheap to copy, immutable, and safe to read from any thread.
class Program {
 public:
  Program();

  const Source& source() const;

  // Returns the range of the statement in the source. `origin` must belong to this program and not
  // be 0.
  Range range(DecisionOrigin origin) const;

  // Returns the `when` statement in whose block the statement stands. 0: it stands in no block.
  DecisionOrigin when_of(DecisionOrigin origin) const;
  // Returns the range of the condition of a `when` statement in the source.
  Range condition_range(DecisionOrigin when) const;

  // Returns true if the program has a `when` block. Before such a program is bound to a machine,
  // the functions below know only the statements outside blocks. BoundProgram::program() is the
  // program as it acts on the machine.
  bool has_conditions() const;

  // Returns true if a statement selects a task by the tasks above it or by the form of its launch.
  // Otherwise tasks of the same name have the same decisions.
  bool has_selectors() const;

  // ---- The rules "Which statement decides" of docs/language.md. If no statement decides, these
  // functions return nothing, and the default mapper decides.

  // Returns the kinds of the Task statement for this task.
  std::optional<TaskDecision> task(const LaunchedTask& task) const;
  // Returns the memories of all matching Region statements, from the most specific statement to `*
  // *`.
  std::vector<MemoryCandidate> memories(const LaunchedTask& task, const RegionNames& region,
                                        ProcKind kind) const;
  // Returns the layout of the first matching Layout statement, for data in `memory` of a task that
  // runs on `kind`.
  std::optional<LayoutDecision> layout(const LaunchedTask& task, const RegionNames& region,
                                       ProcKind kind, MemKind memory) const;
  // Return the function of the IndexTaskMap (SingleTaskMap) statement for this name, otherwise of
  // the one for the kind (if known), otherwise of the one for `*`.
  std::optional<MappingFunctionDecision> index_function(const LaunchedTask& task,
                                                        std::optional<ProcKind> kind) const;
  std::optional<MappingFunctionDecision> single_function(const LaunchedTask& task,
                                                         std::optional<ProcKind> kind) const;
  // Returns the limit of the InstanceLimit statement for this name and kind, otherwise for this
  // name, otherwise for `*` and the kind, otherwise for `*`. A limit of 0 means no limit.
  std::optional<LimitDecision> instance_limit(const LaunchedTask& task, ProcKind kind) const;
  // Returns the CollectMemory statement by which this region is collected.
  std::optional<DecisionOrigin> collect_memory(const LaunchedTask& task,
                                               const RegionNames& region) const;
  // Returns the ControlReplicate statement for this task. replicates_any() returns true if the
  // program has any such statement.
  std::optional<DecisionOrigin> control_replicate(const LaunchedTask& task) const;
  bool replicates_any() const;
  // Returns the scope of the TaskSteal statement for this task and kind.
  std::optional<StealDecision> task_steal(const LaunchedTask& task, ProcKind kind) const;

  // Returns every statement that matches, the most specific first. The first one that is not
  // shadowed decides. Region differs: within one key (task, region) the exact kind beats `*`, and
  // all other statements add candidates. Contains no statement twice and at most kMaxShadowed
  // shadowed ones.
  std::vector<Match> matches(const MatchQuery& query) const;

  // ---- Functions.
  std::size_t function_count() const;
  std::string_view function_name(FunctionId function) const;
  // Returns the range of the function's name in its definition.
  Range function_source_range(FunctionId function) const;
  std::optional<FunctionId> find_function(std::string_view name) const;
  // Returns true if the function takes only the task, as a mapping function does.
  bool is_mapping_function(FunctionId function) const;

  // Returns the statements as tables and the functions as code (lib/program/data.h), for
  // evaluation.
  const program::ProgramData& data() const { return *data_; }
  // Returns data() for code that keeps it longer than the Program.
  const std::shared_ptr<const program::ProgramData>& shared_data() const { return data_; }
  explicit Program(std::shared_ptr<const program::ProgramData> data) : data_(std::move(data)) {}

 private:
  std::shared_ptr<const program::ProgramData> data_;
};

// Reads and checks a program. Always returns a program. If `diags` has errors, it holds what could
// be read: it can be inspected but not bound.
Program compile(const Source& source, Diagnostics& diags);

// Returns a short hash of the program. It ignores comments and spaces and is the same on any
// platform. Other programs have other hashes, except for collisions of 64 bits.
std::string mapping_mark(const Program& program);

}  // namespace groma
