// Program: a checked mapping program, independent of any machine. Statements are tables with one
// question each; functions are typed code that a binding to a machine evaluates (evaluate.h).
#pragma once

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
struct Data;
}

// The statement that took a decision: its number, counted from 1 in the order of the text. 0: none,
// the decision is the default mapper's.
struct Origin {
  std::uint32_t statement = 0;
  explicit operator bool() const { return statement != 0; }
  friend bool operator==(const Origin&, const Origin&) = default;
};

// A function of the program, by its place among the `def`s.
using FunctionId = std::uint32_t;

// How a task's region requirement is named: its position, and the names of the region, its
// partition and its parent, in this order (Legion: semantic names).
struct RegionNames {
  std::int64_t position = 0;
  std::span<const std::string_view> aliases;
};

struct TaskDecision {
  std::vector<ProcKind> kinds;  // in order of preference
  Origin origin;
};
struct MemoryCandidate {
  MemKind memory;
  Origin origin;
};
struct LayoutDecision {
  LayoutSpec layout;
  LayoutAspects named;
  Origin origin;
};
struct FunctionDecision {
  FunctionId function;
  Origin origin;
};
struct LimitDecision {
  std::int64_t limit;  // 0: none
  LimitScope scope;
  Origin origin;
};
struct StealDecision {
  StealScope scope;
  Origin origin;
};

// The statements that decide by a key: in the order of program::TableId.
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

// Asks for the statements of a kind that speak of a task. What a kind does not look at is ignored.
struct MatchQuery {
  MappingStatement statement = MappingStatement::kTask;
  std::string_view task;
  RegionNames region;             // Region, Layout, CollectMemory
  std::optional<ProcKind> kind;   // on which the task runs
  std::optional<MemKind> memory;  // Layout: where the data lies
};
inline constexpr std::size_t kMaxShadowed = 64;
struct Match {
  Origin origin;
  bool shadowed = false;  // an earlier statement says the same, so this one never counts
};

// Cheap to copy; immutable; safe to read from any thread.
class Program {
 public:
  Program();

  const Source& source() const;

  // Where the statement stands. `origin` must be of this program and not 0.
  Range range(Origin origin) const;

  // ---- "Which statement decides" of docs/language.md, a question each. Nothing where no statement
  // does: the default mapper decides.

  // Task: the list of the exact name, else of `*`.
  std::optional<TaskDecision> task(std::string_view name) const;
  // Region: every candidate memory in order, from the most specific statement to `* *`.
  std::vector<MemoryCandidate> memories(std::string_view task, const RegionNames& region,
                                        ProcKind kind) const;
  // Layout: the one statement that matches first, for data in `memory` of a task that runs on
  // `kind`.
  std::optional<LayoutDecision> layout(std::string_view task, const RegionNames& region,
                                       ProcKind kind, MemKind memory) const;
  // IndexTaskMap, SingleTaskMap: the exact name, else the kind (when it is known), else `*`.
  std::optional<FunctionDecision> index_function(std::string_view task,
                                                 std::optional<ProcKind> kind) const;
  std::optional<FunctionDecision> single_function(std::string_view task,
                                                  std::optional<ProcKind> kind) const;
  // InstanceLimit: the exact name with the kind, without one, then `*` likewise. 0 is no limit.
  std::optional<LimitDecision> instance_limit(std::string_view task, ProcKind kind) const;
  // CollectMemory.
  std::optional<Origin> collect_memory(std::string_view task, const RegionNames& region) const;
  // ControlReplicate. replicates_any: whether there is such a statement at all.
  std::optional<Origin> control_replicate(std::string_view task) const;
  bool replicates_any() const;
  // TaskSteal.
  std::optional<StealDecision> task_steal(std::string_view task, ProcKind kind) const;

  // Every statement that speaks of it, most specific first: the first that is not shadowed decides,
  // but of Region, where within one key (task, region) the exact kind beats `*` and all others add
  // candidates. None twice, at most kMaxShadowed shadowed ones.
  std::vector<Match> matches(const MatchQuery& query) const;

  // ---- Functions.
  std::size_t function_count() const;
  std::string_view function_name(FunctionId function) const;
  Range function_range(FunctionId function) const;  // of its name
  std::optional<FunctionId> find_function(std::string_view name) const;
  // Whether the function takes the task and nothing else, as a mapping function does.
  bool is_mapping_function(FunctionId function) const;

  // For the stages after this one; lib/program/data.h.
  const program::Data& data() const { return *data_; }
  explicit Program(std::shared_ptr<const program::Data> data) : data_(std::move(data)) {}

 private:
  std::shared_ptr<const program::Data> data_;
};

// Reads and checks a program. Always returns one: of what could be read, when `diags` has errors;
// it is then good for looking at, but not for binding.
Program compile(const Source& source, Diagnostics& diags);

// A word that is the same for programs which differ in comments and spaces alone, on any platform;
// of others it differs, as far as 64 bits can.
std::string mapping_mark(const Program& program);

}  // namespace groma
