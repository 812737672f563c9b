// Looking at a mapping program: what is wrong with it, where the points of a launch go, and who
// decides what (explain.h); as values, as text and pictures for a person, as JSON for a tool
// (docs/commands.md gives the shapes).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "groma/app.h"
#include "groma/diagnostics.h"
#include "groma/evaluate.h"
#include "groma/explain.h"
#include "groma/geometry.h"
#include "groma/machine.h"
#include "groma/program.h"
#include "groma/syntax.h"
#include "groma/workload.h"

namespace groma {

// What check() looks at of an application before it says that it did not look at all.
struct CheckOptions {
  std::int64_t max_steps = std::int64_t{1} << 20;  // statements and points: half a second
  std::int64_t max_bytes = std::int64_t{1} << 31;  // of memory, as SimulateOptions has it
  std::function<bool()> stop = {};                 // asked about every millisecond: true ends it
  bool first_error = false;                        // look no further
};

// Everything that is wrong with a program: its text, with an application (else null) the names that
// it does not have, with a machine (else null) what would fail when it is bound there, with both
// what would fail when the application runs there (check_run). The result is bound only when there
// was a machine and its text has no error.
std::optional<BoundProgram> check(const Source& source, const Machine* machine, const Workload* app,
                                  Diagnostics& diags, LogSink* log = nullptr,
                                  const CheckOptions& options = {});
inline std::optional<BoundProgram> check(const Source& source, const Machine* machine,
                                         Diagnostics& diags, LogSink* log = nullptr) {
  return check(source, machine, nullptr, diags, log);
}

// What the embedded runtime would refuse (simulate.h), found without running: each at the statement
// that caused it, with the task, launch and point where it shows first. `diags` is of the program's
// source. An error: run() fails. No error and no warning: it does not, unless it takes longer than
// the simulator counts. Where it depends on the run's timing, a warning: `may-not-fit` of memories,
// the refusal's own id else; `check-incomplete` where not everything could be looked at. Takes some
// tenth of the time of a run. From any thread, any number at once with one binding.
void check_run(const BoundProgram& bound, const Workload& app, Diagnostics& diags,
               const CheckOptions& options = {});

// What grammar() is narrowed to for an application and a machine, null where any will do: its tasks
// and every name of its data; kinds of processors that the machine has and some task a variant for;
// the machine's memories and VIRTUAL.
GrammarNames grammar_names(const Workload* app, const Machine* machine);

// Notes that a parameter that says the machine's nodes (its meaning begins with "nodes of the
// machine") says another number than there are: nodes may stay without work, or share it.
void check_nodes(const Machine& machine, const Application& app, Diagnostics& diags);

// The text with all fixes made that are sure, again and again while there are some, since one may
// uncover another; *made is their number.
Source mend(const Source& source, std::size_t* made);

// The largest launch that place() answers for: 2^20 points, some seconds and 60 MB.
inline constexpr std::int64_t kMaxPlacePoints = 1 << 20;
// Steps of all evaluations of one place() together: some ten seconds.
inline constexpr std::int64_t kMaxPlaceSteps = 200'000'000;
// Processors in all the sets of one place() together: 100 MB.
inline constexpr std::int64_t kMaxPlaceSetItems = 1 << 22;

struct PlaceQuery {
  std::string task;      // either this, looked up in the program's statements,
  std::string function;  // or this, the function itself
  Rect domain;           // of an index launch
  // The kind on which the task runs, where no Task statement says so.
  std::optional<ProcKind> from;
  // A single task instead of a launch: its parent's (and its own) node and processor in the node.
  struct Parent {
    std::int64_t node = 0;
    std::int64_t index = 0;
  };
  std::optional<Parent> parent;
};

struct Placement {
  std::string task;  // empty when the question was about a function
  FunctionId function = 0;
  std::string function_name;
  ProcKind kind = ProcKind::kGpu;
  Rect domain;                    // of 0 dimensions for a single task
  std::vector<Processor> points;  // row-major, the last coordinate fastest: the first of each set
  std::vector<std::vector<Processor>>
      sets;                        // beside points, when a function returned sets; else empty
  std::vector<Origin> decided_by;  // the statements that chose kind and function
  // Points on each processor of `kind`, node by node; single tasks and `points` alone count.
  std::vector<std::vector<std::int64_t>> loads;

  std::int64_t processor_count() const;
  std::int64_t max_load() const;
  std::int64_t min_load() const;
};

// Called now and then with the number of points done; false stops.
using Progress = std::function<bool(std::int64_t done, std::int64_t all)>;

// Where every point of the launch goes. Nothing when a point fails, nothing decides, the domain is
// empty or larger than kMaxPlacePoints, or `progress` said stop; `diags` says why (not for the
// last).
std::optional<Placement> place(const BoundProgram& bound, const PlaceQuery& query,
                               Diagnostics& diags, LogSink* log = nullptr,
                               const Progress& progress = {});

struct DrawOptions {
  bool color = false;  // ANSI colours; else letters alone
  int columns = 80;    // of the terminal; wider pictures are cut, which is said
  int rows = 64;       // of each layer
};

// A picture (1-D and 2-D: a grid; more: layers of the last two dimensions), the load of each
// processor, and the statements that decided. Ends with a line end.
std::string draw(const Placement& placement, const BoundProgram& bound,
                 const DrawOptions& options = {});
// The same picture as a stand-alone SVG document.
std::string draw_svg(const Placement& placement, const BoundProgram& bound);

// {"task": ..., "points": ..., "loads": ..., "diagnostics": [...]}
std::string to_json(const Placement& placement, const Diagnostics& diags);
// What there is of an application, for a person: parameters, sizes, regions and how they are cut,
// tasks. `name` is how --app calls it. Long formulas are cut. Ends with a line end.
std::string draw(const Application& app, std::string_view name);

// {"diagnostics": [...]} for any number of texts.
std::string to_json(const std::vector<const Diagnostics*>& all);

}  // namespace groma
