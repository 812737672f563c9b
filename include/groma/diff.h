// diff: finds the decisions about an application that differ between two mappings, and the cost of
// each difference.
#pragma once

#include <cstdint>
#include <memory>
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

// Limit on the simulated runs of one diff(). Whole statements are run first, then single
// differences. Differences beyond the limit are listed without a cost.
inline constexpr std::size_t kMaxDiffRuns = 1024;

// One decision that two mappings, A and B, make differently.
struct MappingDifference {
  enum class Aspect : std::uint8_t {
    // The mappings choose different processor kinds for the task. So the task runs elsewhere, and
    // its data lies elsewhere.
    kKind,
    // The mappings send the task's points to different processors of one kind.
    kPlacement,
    // The mappings list different memories for a region requirement, and so other layouts.
    kMemory,
    // The mappings give the data of a requirement different layouts in the same memories.
    kLayout,
    // The mappings differ in whether unused instances of a requirement are collected.
    kCollection,
    // The mappings limit the running instances of tasks differently. All limits are one difference:
    // B's limits replace A's.
    kLimit,
    // Only one of the mappings replicates the task.
    kReplication,
    kStealing,
  };
  struct SideDecision {
    // The decision as text, such as "FBMEM, else ZCMEM".
    std::string decision;
    // The statement that made the decision. 0 if the default mapper made it.
    DecisionOrigin by;
    friend bool operator==(const SideDecision&, const SideDecision&) = default;
  };
  Aspect what = Aspect::kKind;
  // The task. For kLimit, this is the first task whose limit differs.
  std::string task;
  // If selectors tell launches of the task apart: which launches, as ExplainedTask::selected and
  // ExplainedTask::launch_class say it.
  std::string selected = {}, launch_class = {};
  // The position of the requirement, for decisions about one.
  std::uint32_t position = 0;
  // The names by which a mapping can refer to the requirement.
  std::vector<std::string> names;
  SideDecision a, b;
  // For kPlacement: the number of points of the task's index launches (each launch counts once),
  // and the number of points that B places elsewhere.
  std::int64_t points = 0, moved_points = 0;

  // How the run of A changes if only this decision is made as in B; negative is better. nullopt if
  // A does not run, if the changed mapping does not run (see `alone`), or beyond kMaxDiffRuns.
  struct Cost {
    // The change of RunResult::seconds, in simulated seconds.
    double seconds = 0;
    // The change of RunResult::moved_bytes, the bytes that copies move.
    std::int64_t moved_bytes = 0;
  };
  std::optional<Cost> cost;
  // The reason why a run of mapping A with this decision of mapping B fails. Empty if the run does
  // not fail.
  std::string alone;
};

// All differing decisions of two mappings that come from one statement. A single decision may cost
// more or less than all of them together: data is copied between tasks that keep it in different
// memories.
struct StatementDifference {
  // The statement of A or of B that makes the decisions. 0 if both mappings leave them to the
  // default mapper.
  DecisionOrigin by;
  // True if `by` is a statement of mapping A. False if it is a statement of mapping B, or 0.
  bool is_of_a = false;
  // The differences that the statement makes, as ascending indices into MappingDiff::differences. A
  // difference can belong to a statement of A and to one of B.
  std::vector<std::size_t> parts;
  // The statement of A that makes all these decisions and at least one more, as an index into
  // MappingDiff::statements. nullopt if there is none.
  std::optional<std::size_t> within;
  // How the run of A changes if all these decisions are made as in B (see MappingDifference::cost).
  // One run measures all of them together.
  std::optional<MappingDifference::Cost> cost;
  // The reason why a run of mapping A with these decisions of mapping B fails. Empty if the run
  // does not fail.
  std::string alone;
};

// The result of diff(), which compares two mappings.
struct MappingDiff {
  // The runs of both mappings, without their records.
  RunResult a, b;
  // Sorted by task (in the application's order), then by MappingDifference::Aspect, then by the
  // position of the requirement.
  std::vector<MappingDifference> differences;
  // The differences, grouped by the statement that makes them. The groups are
  // * every statement of B that makes a decision,
  // * every statement of A that makes a decision, unless one statement of B makes all its
  //   decisions,
  // * the decisions that both mappings leave to the default mapper.
  // A group with an earlier first difference comes first; of several, the largest.
  std::vector<StatementDifference> statements;
};

// Compares the mappings `a` and `b`, which must be bound to the same machine. An empty program
// stands for the default mapper.
// * Errors in A or B go to that mapping's own diagnostics. The differences of a mapping that does
//   not run are still found.
// * `options.record` is ignored.
// * Once `options.stop` returns true, the remaining differences get no cost. The status is
//   RunStatus::kStopped if A or B had not finished.
// * `progress` is called with the number of finished runs. If it returns false, the comparison
//   stops as if `options.stop` had returned true.
MappingDiff diff(const BoundProgram& a, const BoundProgram& b, const Workload& workload,
                 const SimulateOptions& options, Diagnostics& diags_a, Diagnostics& diags_b,
                 const Progress& progress = {});

// All decisions of one mapping about an application, for comparisons with other mappings. A mapping
// that is compared several times is examined only once. Any thread may call the const functions.
class MappingDecisions {
 public:
  // `workload` must outlive the object.
  MappingDecisions(const BoundProgram& bound, const Workload& workload);
  MappingDecisions(MappingDecisions&&) noexcept;
  MappingDecisions& operator=(MappingDecisions&&) noexcept;
  ~MappingDecisions();

  // Returns true if another mapping of the same workload makes the same decisions. Finds the answer
  // without a run. Both programs must be bound to the same machine. Returns false also if the
  // application exceeds the limits of the comparison.
  bool are_same_as(const MappingDecisions& other) const;
  // Returns the first decision in which this mapping (A) differs from another mapping (B) of the
  // same workload. MappingDiff says in which order; no cost is measured. Returns nullopt if there
  // is no difference among the decisions that are compared. Both programs must be bound to the same
  // machine.
  std::optional<MappingDifference> first_difference_from(const MappingDecisions& other) const;
  // Returns all decisions in which this mapping (A) differs from another mapping (B), as
  // first_difference_from() returns the first one.
  std::vector<MappingDifference> differences_from(const MappingDecisions& other) const;
  // Returns false if the application has more launches than are compared.
  bool are_complete() const;

 private:
  struct Parts;
  std::unique_ptr<const Parts> parts_;
};

// Returns true if the costs of a statement's parts do not explain the cost of the statement: their
// sum misses it by more than half of it and by more than 1 % of the time of A, or A does not run
// with one of the parts alone. Returns false if a run is missing.
bool parts_interact(const MappingDiff& diff, const StatementDifference& statement);

// Returns a word for the aspect, such as "placement".
std::string_view name_of(MappingDifference::Aspect what);
// Returns the task of a difference and, if it is about data, the region argument of the task: "task
// `a`" or "region argument 2 (rp_ghost) of task `a`".
std::string subject_of(const MappingDifference& difference);

// Returns the differences as text for a person, which ends with a line end. The costliest statement
// comes first; its parts with the same decision stand together. `color` adds ANSI colours.
std::string draw(const MappingDiff& diff, const Program& a, const Program& b, bool color = false);
// Returns the differences as JSON. docs/commands.md describes the shape.
std::string to_json(const MappingDiff& diff, const Program& a, const Program& b,
                    const Diagnostics& diags_a, const Diagnostics& diags_b);

}  // namespace groma
