// explain: every decision of a mapping program about an application on a machine, with the
// statement that made it and the statements that lost against it. Text and JSON show the same
// value.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "groma/diagnostics.h"
#include "groma/evaluate.h"
#include "groma/geometry.h"
#include "groma/kinds.h"
#include "groma/machine.h"
#include "groma/point_set.h"
#include "groma/program.h"
#include "groma/syntax.h"
#include "groma/workload.h"

namespace groma {

// Limit on the blocks of all launches in one explain(); a block is the points that go to one
// processor. If groma/index_map.h cannot describe a function, each of its points counts as a block,
// and their evaluation takes at most kMaxPlaceSteps steps. Launches beyond the limit are explained
// without their loads.
inline constexpr std::int64_t kMaxExplainPoints = 1 << 20;
// Limit on the launches that differ in task, domain or place in the program. Further launches are
// left out.
inline constexpr std::size_t kMaxExplainLaunches = 1 << 14;
// Limit on the steps of all evaluations in one explain() or place(): about ten seconds.
inline constexpr std::int64_t kMaxPlaceSteps = 200'000'000;

// The part of the application to explain. An empty member means all tasks or all regions.
struct ExplainQuery {
  // The name of the task, or a name pattern such as `calc_*`.
  std::string task;
  // The name or a name pattern of the region, or the position of the requirement.
  std::string region;
  // Launches of a task that the selectors of these programs tell apart are explained separately,
  // too, as those are that the explained program's own selectors tell apart.
  std::vector<Program> also_selected_by = {};
};

// A statement that matches what the deciding statement matches, and why it did not decide.
struct OverruledStatement {
  enum class Reason : std::uint8_t {
    // Another statement that matches is more specific.
    kPrecedence,
    // An earlier statement names the same task, region and kinds.
    kShadowed,
    // More specific Region statements already list the memories of this one, or list VIRTUAL.
    kNothingNew,
    // This Region or Layout statement has no effect, because the regions of an inner variant are
    // always virtual.
    kInner,
    // This Layout statement has no effect, because virtual data has no layout.
    kVirtual,
    // This CollectMemory statement has no effect, because the task does not only read the region.
    kPrivilege,
    // A statement in a `when` block names the same task, region and kinds.
    kCondition,
  };
  DecisionOrigin origin;
  Reason reason = Reason::kPrecedence;
};

// The statement that made a decision. `by` is 0 if the default mapper decided.
struct DecidingStatement {
  DecisionOrigin by;
  // The other statements that match, in the order of precedence.
  std::vector<OverruledStatement> beaten;
};

// The processor kind on which a task runs.
struct ExplainedKind : DecidingStatement {
  // The kind. nullopt if the task cannot run anywhere, which is an error.
  std::optional<ProcKind> kind;
  struct SkippedKind {
    ProcKind kind = ProcKind::kCpu;
    // The reason why the mapper skipped the kind, such as "the task has no variant for it".
    std::string why;
  };
  // The kinds of the statement's list that were skipped before `kind`.
  std::vector<SkippedKind> passed;
};

// The number of points on each processor of the task's kind.
struct ExplainedLoads {
  std::int64_t points = 0;
  // The number of all processors of that kind on the machine.
  std::int64_t processors = 0;
  // The number of processors with at least one point.
  std::int64_t used = 0;
  // The smallest and the largest number of points on one processor.
  std::int64_t min = 0, max = 0;
  // The number of nodes with at least one point.
  std::int64_t nodes_used = 0;
};

// The placement of the points of one launch.
struct ExplainedLaunch : DecidingStatement {
  // The domain of an index launch, if it is known.
  std::optional<LaunchDomain> domain;
  // True for an index launch. Also true if the application does not describe the launch.
  bool is_index = false;
  // 0 for the top-level task, 1 for a task that it launches, 2 for all deeper tasks.
  int depth = 1;
  // The launching task. Empty for the top-level task, or if it is unknown.
  std::string parent;
  // The function that places the points. Empty if the default mapper places them.
  std::string function;
  // True if the default mapper keeps the points on the node of the launching task, because the
  // launch has Legion's tag SAME_ADDRESS_SPACE.
  bool stays_on_node = false;
  // The loads of the processors. Set if the domain is known and not too large, and no point fails.
  std::optional<ExplainedLoads> loads;
  // The processor that the function gives a single task whose parent is on the first processor of
  // its kind.
  std::optional<Processor> example;
};

// One memory of a requirement's list, and the layout of the data in it.
struct ExplainedMemory {
  enum class State : std::uint8_t {
    // The processor cannot use this memory. `why` gives the reason.
    kPassed,
    // The mapper uses this memory if it has room.
    kTaken,
    // The mapper uses this memory if the memories before it in the list have no room.
    kFallback,
  };
  MemKind memory = MemKind::kSysmem;
  State state = State::kTaken;
  std::string why;
  // The Region statement that names the memory.
  DecisionOrigin by;
  LayoutSpec layout;
  // The statement that decided the layout. If `by` is 0, the layout is the one that the variant
  // demands, or SOA F_order.
  DecidingStatement layout_decided;
  // True if no statement decides the layout but the program's own mapper does.
  bool demanded_by_mapper = false;
  // If no statement decides the layout: the other layouts that launches get, because the program's
  // own mapper chooses other variants for them.
  std::vector<LayoutSpec> other_layouts = {};
};

// The decisions about one region argument of a task.
struct ExplainedRequirement {
  std::uint32_t position = 0;
  std::vector<std::string> names;
  Privilege privilege = Privilege::kReadWrite;
  // Set if the decision differs between nodes: the first node to which this entry applies.
  std::optional<std::int64_t> node;
  // False if no instance is needed, because there is no access or no field.
  bool is_mapped = true;
  // True if no instance is made, and the child tasks map their parts.
  bool is_virtual = false;
  // True if the region is virtual because the task runs an inner variant.
  bool inner = false;
  // The memories in the order in which the mapper tries them.
  std::vector<ExplainedMemory> memories;
  // The Region statements that lost. For a virtual region also the Layout statements.
  std::vector<OverruledStatement> beaten;
  // True if the instance is freed when the task is done.
  bool collected = false;
  DecidingStatement collection;
};

// All decisions of a mapping about one task.
struct ExplainedTask {
  std::string name;
  // The number of the task in the application.
  std::uint32_t number = 0;
  // If selectors such as `main > step` tell launches of the task apart, there is one ExplainedTask
  // for each group of launches, and this says which: "launched by main". Otherwise empty.
  std::string selected;
  // A text that is equal for launches that no selector tells apart.
  std::string launch_class = {};
  // The names of the tasks above these launches, the launching task first. Empty if they do not
  // matter.
  std::vector<std::string> above = {};
  ExplainedKind kind;
  // The following members are set only if the task has a processor kind on which it can run.
  std::vector<ExplainedLaunch> launches;
  // The region requirements, in the order of their positions. A requirement has one entry for each
  // set of names that launches give it, and further entries for nodes that differ.
  std::vector<ExplainedRequirement> requirements;
  // The largest number of instances of the task that may run at once on the processors of
  // `limit_scope` (InstanceLimit). 0 if there is no limit.
  std::int64_t limit = 0;
  // The processors over which `limit` counts the instances.
  LimitScope limit_scope = LimitScope::kProcessor;
  DecidingStatement limit_decided;
  bool replicated = false;
  DecidingStatement replication;
  // If a statement asks for replication that is not possible: the reason.
  std::string why_not_replicated;
  // The scope of stealing. nullopt if the task is not stolen.
  std::optional<StealScope> steal;
  DecidingStatement stealing;
};

// The result of explain(): all decisions of a mapping about an application.
struct Explanation {
  std::string application;
  std::string machine;
  // The tasks in the application's order.
  std::vector<ExplainedTask> tasks;
  // False: there are too many launches, and only the first ones are explained.
  bool all_launches = true;
  // For the whole application, whatever the query: the statements that match no task, region, kind
  // or launch, and the statements that match but always lose. In the order of the text.
  std::vector<DecisionOrigin> unmatched;
  std::vector<DecisionOrigin> never_decide;
  // The statements in `when` blocks whose conditions do not hold on the machine.
  std::vector<DecisionOrigin> inactive;
};

// Explains the decisions that `query` selects. Returns nullopt if the query names something that
// the application does not have. `diags` (of the program's source) gets the warnings of check_names
// and the errors that a run would have: tasks that cannot run anywhere, regions without a possible
// memory, functions that fail, and layouts that a variant refuses. `stop` (null: never) is asked
// for each launch and every few points; once it returns true, explain() returns nullopt.
std::optional<Explanation> explain(const BoundProgram& bound, const Workload& app,
                                   const ExplainQuery& query, Diagnostics& diags,
                                   const std::function<bool()>& stop = {});

// Warns about tasks and regions that the program names but the application does not have, once for
// each name. Also warns about a statement's region that none of the statement's tasks has. Each
// warning suggests the nearest name.
void check_names(const Program& program, const Workload& app, Diagnostics& diags);

// Returns the names to which grammar() is narrowed for an application and a machine; null means
// any.
// * The application gives its tasks and all names of its data.
// * Processor kinds are those that the machine has and for which some task has a variant.
// * Memories are those of the machine, and VIRTUAL.
GrammarNames grammar_names(const Workload* app, const Machine* machine);

// Returns the explanation as text for a person, which ends with a line end. `color` adds ANSI
// colours.
std::string draw(const Explanation& explanation, const Program& program, bool color = false);
// Returns a short text about the same decisions, in lines of at most about 100 bytes, which ends
// with a line end. It says which tasks run on which processors, how the points of launches are
// spread, where the data lies, and which limits there are. Tasks and regions with the same decision
// stand together. The statements that made the decisions are left out.
std::string draw_summary(const Explanation& explanation);
// Returns the explanation as JSON. docs/commands.md describes the shape.
std::string to_json(const Explanation& explanation, const Program& program,
                    const Diagnostics& diags);

// Returns the decisions of the default mapper for the application on the machine, as a commented
// program. Bound to this machine, the program makes the same decision for every launch of the
// application, except as its comments say. Returns nullopt if the query names something that the
// application does not have (see `diags`).
std::optional<std::string> default_mapping(const Workload& app, const Machine& machine,
                                           const ExplainQuery& query, Diagnostics& diags);

}  // namespace groma
