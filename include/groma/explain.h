// explain: every decision of a mapping program about an application on a machine, with the
// statement that took it and those that it beat. A value that text and JSON show alike.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "groma/diagnostics.h"
#include "groma/evaluate.h"
#include "groma/geometry.h"
#include "groma/kinds.h"
#include "groma/machine.h"
#include "groma/program.h"
#include "groma/workload.h"

namespace groma {

// Blocks of all launches of one explain() together that go to one processor each (points, where a
// function is too odd for groma/index_map.h; those by at most kMaxPlaceSteps steps); launches
// beyond it are explained without their loads.
inline constexpr std::int64_t kMaxExplainPoints = 1 << 20;
// Launches that differ in task, domain or place in the program; those beyond are left out.
inline constexpr std::size_t kMaxExplainLaunches = 1 << 14;

// Which part of the application; empty: all.
struct ExplainQuery {
  std::string task;
  std::string region;  // a name, or a position
};

// A statement that speaks of the same, and why it did not decide.
struct BeatenStatement {
  enum class Reason : std::uint8_t {
    kPrecedence,  // another one is more specific
    kShadowed,    // an earlier one has the same key
    kNothingNew,  // Region: more specific ones name its memories already, or VIRTUAL
    kInner,       // Region, Layout: an inner variant's regions are virtual, whatever they say
    kVirtual,     // Layout: virtual data has none
    kPrivilege,   // CollectMemory: the region is not read-only
  };
  Origin origin;
  Reason reason = Reason::kPrecedence;
};

// Who decided. `by` 0: the default mapper.
struct Decided {
  Origin by;
  std::vector<BeatenStatement> beaten;  // in the order in which they count
};

struct ExplainedKind : Decided {
  std::optional<ProcKind> kind;  // none: the task can run nowhere, which is an error
  struct Passed {
    ProcKind kind = ProcKind::kCpu;
    std::string why;  // "the task has no variant for it"
  };
  std::vector<Passed> passed;  // of the statement's list, before `kind`
};

// Points on each processor of the task's kind.
struct ExplainedLoads {
  std::int64_t points = 0;
  std::int64_t processors = 0;  // of that kind, on the whole machine
  std::int64_t used = 0;        // of them
  std::int64_t min = 0, max = 0;
};

struct ExplainedLaunch : Decided {
  std::optional<Rect> domain;  // of an index launch
  bool is_index = false;       // also where the application does not say how it is launched
  int depth = 1;               // 0: the top-level task, 1: launched by it, 2: all that is deeper
  std::string parent;          // empty: the top-level task, or not known
  std::string function;        // by which its points go; empty: the default mapper's
  std::optional<ExplainedLoads> loads;  // where the domain is known, not too large, and no error
  // Where a single task goes by its function when its parent stands on the first processor of its
  // kind.
  std::optional<Processor> example;
};

struct ExplainedMemory {
  enum class State : std::uint8_t {
    kPassed,    // the processor cannot have it: `why`
    kTaken,     // where there is room
    kFallback,  // when those before have no room
  };
  MemKind memory = MemKind::kSysmem;
  State state = State::kTaken;
  std::string why;
  Origin by;  // the Region statement
  LayoutSpec layout;
  Decided layout_decided;  // by a Layout statement; by 0: what the variant demands or SOA F_order
  bool demanded_by_mapper =
      false;  // no statement decides the layout, the program's own mapper does
};

struct ExplainedRequirement {
  std::uint32_t position = 0;
  std::vector<std::string> names;
  Privilege privilege = Privilege::kReadWrite;
  // Where nodes of the machine differ in what is decided: the first node of which this is said.
  std::optional<std::int64_t> node;
  bool is_mapped = true;                  // no instance is needed: no access, or no fields
  bool is_virtual = false;                // no instance: the children map their parts
  bool inner = false;                     // virtual because the variant is inner
  std::vector<ExplainedMemory> memories;  // in order
  std::vector<BeatenStatement> beaten;    // Region, and of a virtual region Layout
  bool collected = false;                 // as soon as the task is done
  Decided collection;
};

struct ExplainedTask {
  std::string name;
  ExplainedKind kind;
  // The rest only where there is a kind.
  std::vector<ExplainedLaunch> launches;
  // By position; one for each of the sets of names that launches give it, and again for nodes that
  // differ.
  std::vector<ExplainedRequirement> requirements;
  std::int64_t limit = 0;                           // 0: none
  LimitScope limit_scope = LimitScope::kProcessor;  // of a limit
  Decided limit_decided;
  bool replicated = false;
  Decided replication;
  std::string why_not_replicated;   // where a statement would have it
  std::optional<StealScope> steal;  // none: not stolen
  Decided stealing;
};

struct Explanation {
  std::string application;
  std::string machine;
  std::vector<ExplainedTask> tasks;  // in the application's order
  bool all_launches = true;          // else there are too many, and the first are explained
  // Of the whole application, whatever the query: statements that no task, region, kind or launch
  // matches, and those that match but are beaten each time. In the order of the text.
  std::vector<Origin> unmatched;
  std::vector<Origin> never_decide;
};

// Explains; `diags` (of the program's source) gets what would fail: tasks that can run nowhere,
// regions that can go nowhere, functions that fail, layouts that a variant refuses; and warnings of
// check_names. Nothing when the query names what the application does not have.
std::optional<Explanation> explain(const BoundProgram& bound, const Workload& app,
                                   const ExplainQuery& query, Diagnostics& diags);

// Warns of tasks and regions that the program names and the application does not have, each name
// once, and of regions that none of a statement's tasks has; with the nearest name.
void check_names(const Program& program, const Workload& app, Diagnostics& diags);

// For a person: ends with a line end. `color`: ANSI colours.
std::string draw(const Explanation& explanation, const Program& program, bool color = false);
// docs/commands.md gives the shape.
std::string to_json(const Explanation& explanation, const Program& program,
                    const Diagnostics& diags);

// What the default mapper does with the application on the machine, as a commented program. Bound
// there it decides the same for every launch of the application, but for what its comments say.
// Nothing when the query names what the application does not have (`diags`).
std::optional<std::string> default_mapping(const Workload& app, const Machine& machine,
                                           const ExplainQuery& query, Diagnostics& diags);

}  // namespace groma
