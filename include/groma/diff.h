// diff: which decisions about an application differ between two mappings, and what each costs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "groma/diagnostics.h"
#include "groma/evaluate.h"
#include "groma/inspect.h"
#include "groma/program.h"
#include "groma/simulate.h"
#include "groma/workload.h"

namespace groma {

// Runs of one diff(): of statements as a whole first, then of single differences. What is beyond is
// listed without a cost.
inline constexpr std::size_t kMaxDiffRuns = 1024;

// One decision that two mappings, A and B, take differently.
struct MappingDifference {
  enum class What : std::uint8_t {
    kKind,         // of processor, and with it where the task runs and where its data lies
    kPlacement,    // which processors of the kind
    kMemory,       // of a requirement, and with it its layouts
    kLayout,       // of a requirement, in the same memories
    kCollection,   // of a requirement
    kLimit,        // of all tasks together: A's limits are exchanged for B's
    kReplication,  // of a task
    kStealing,
  };
  struct Side {
    std::string decision;  // "FBMEM, else ZCMEM"
    Origin by;             // 0: the default mapper
    friend bool operator==(const Side&, const Side&) = default;
  };
  What what = What::kKind;
  std::string task;  // kLimit: of the first that differs
  std::uint32_t position = 0;
  std::vector<std::string> names;  // of the requirement
  Side a, b;
  // kPlacement: points of the task's index launches, each launch once; those that B has elsewhere.
  std::int64_t points = 0, moved_points = 0;

  // What changes when A decides this alone as B does; negative is better. Nothing where A does not
  // run, where A so changed does not (`alone`), or beyond kMaxDiffRuns.
  struct Cost {
    double seconds = 0;  // of RunResult::seconds; simulated
    std::int64_t moved_bytes = 0;
  };
  std::optional<Cost> cost;
  std::string alone;  // why A so changed does not run
};

// All that one statement decides differently. Its parts alone may cost what the whole does not:
// data that one task has elsewhere than the next is copied between them.
struct StatementDifference {
  // A statement of B; or, if B leaves the decision to the default mapper, the statement of A that
  // makes it; 0 if both leave it to the default mapper.
  Origin by;
  bool is_of_a = false;
  std::vector<std::size_t> parts;  // of MappingDiff::differences
  // What changes when A decides all parts as B does, as MappingDifference::cost.
  std::optional<MappingDifference::Cost> cost;
  std::string alone;  // why A so changed does not run
};

struct MappingDiff {
  RunResult a, b;  // without records
  // In the order of the application's tasks and of MappingDifference::What, those of a requirement
  // by its position.
  std::vector<MappingDifference> differences;
  std::vector<StatementDifference> statements;  // each difference is of one; by their first
};

// Both must be bound to one machine. An empty program stands for the default mapper. What is wrong
// with A or B goes to its own diagnostics; a mapping that does not run has its differences still.
// `options.record` is ignored. Asked `options.stop` says true, the rest has no cost
// (RunStatus::kStopped where A or B were not finished). `progress` hears how many of the runs were
// made; false ends it likewise.
MappingDiff diff(const BoundProgram& a, const BoundProgram& b, const Workload& workload,
                 const SimulateOptions& options, Diagnostics& diags_a, Diagnostics& diags_b,
                 const Progress& progress = {});

// Whether all decisions about the application are the same, found without a run; both must be bound
// to one machine. False, too, where there is more than is looked at.
bool decides_alike(const BoundProgram& a, const BoundProgram& b, const Workload& workload);

std::string_view name_of(MappingDifference::What what);  // "placement"

// For a person: ends with a line end; the costliest statement first, its parts that are decided
// alike together.
// `color`: ANSI colours.
std::string draw(const MappingDiff& diff, const Program& a, const Program& b, bool color = false);
// docs/commands.md gives the shape.
std::string to_json(const MappingDiff& diff, const Program& a, const Program& b,
                    const Diagnostics& diags_a, const Diagnostics& diags_b);

}  // namespace groma
