// Functions that inspect a mapping program: its errors, the places of a launch's points, and the
// statements that decide (explain.h). Each gives a value, text and pictures for a person, and JSON
// for a tool (docs/commands.md describes the shapes).
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
#include "groma/point_set.h"
#include "groma/program.h"
#include "groma/simulate.h"
#include "groma/syntax.h"
#include "groma/workload.h"

namespace groma {

// Limits on how much of an application check() examines. Beyond a limit it gives up and reports
// `check-incomplete`.
struct CheckOptions {
  // The limit on the number of statements and launch points that are examined. The default takes
  // about half a second.
  std::int64_t max_steps = std::int64_t{1} << 20;
  // The limit on memory in bytes, as in SimulateOptions.
  std::int64_t max_bytes = std::int64_t{1} << 31;
  // A function that is called about once a millisecond. The check ends when it returns true. An
  // empty function never ends the check.
  std::function<bool()> stop = {};
  // True if the check ends at the first error.
  bool first_error = false;
  // The constants with which check_run() estimates the time of the run. nullopt: no time is
  // estimated.
  std::optional<EstimateConstants> estimate = {};
};

// Finds everything that is wrong with a program. `machine` and `app` may be null.
// * The text itself is always checked.
// * With an application: names that the application does not have.
// * With a machine: errors of binding the program to the machine.
// * With both: errors that a run of the application on the machine would have (check_run).
// Returns the bound program. Returns nullopt if there is no machine or the text has an error.
std::optional<BoundProgram> check(const Source& source, const Machine* machine, const Workload* app,
                                  Diagnostics& diags, LogSink* log = nullptr,
                                  const CheckOptions& options = {});
inline std::optional<BoundProgram> check(const Source& source, const Machine* machine,
                                         Diagnostics& diags, LogSink* log = nullptr) {
  return check(source, machine, nullptr, diags, log);
}

// Checks a program as check() does, but without check_run().
std::optional<BoundProgram> check_text(const Source& source, const Machine* machine,
                                       const Workload* app, Diagnostics& diags,
                                       LogSink* log = nullptr);

// Finds what the embedded runtime would refuse (simulate.h), without a run. Each message is at the
// statement that caused it and names the first task, launch and point with the problem. `diags` is
// of the program's source.
// * An error means that run() fails.
// * No error and no warning means that run() does not fail, unless the run exceeds the simulator's
//   limits.
// * A warning means that the result depends on the timing of the run: `may-not-fit` for memories,
//   otherwise the id of the refusal.
// * The warning `check-incomplete` means that not everything could be examined.
// Takes a third to two thirds of the time of a run. May be called from any thread; several calls
// may use the same BoundProgram. With `options.estimate`, returns the estimated time of the run in
// seconds (RunResult::seconds). It is rough, since tasks are taken in the order of the program:
// good for the choice among many mappings, not for a figure. Returns nullopt if no time is wanted,
// the run is refused or the check ends early.
std::optional<double> check_run(const BoundProgram& bound, const Workload& app, Diagnostics& diags,
                                const CheckOptions& options = {});

// Adds a note if a parameter that counts the nodes (AppParameter::counts_nodes) gives another
// number of nodes than the machine has. Nodes may then be idle or shared.
void check_nodes(const Machine& machine, const Application& app, Diagnostics& diags);

// The largest launch that place() accepts: 2^20 points, which take some seconds and 60 MB.
inline constexpr std::int64_t kMaxPlacePoints = 1 << 20;
// Limit on the processors that the sets in one Placement hold together: about 100 MB.
inline constexpr std::int64_t kMaxPlaceSetItems = 1 << 22;

// A question for place(). Set either `task` or `function`.
struct PlaceQuery {
  // The name of a task, whose function the program's statements choose.
  std::string task;
  // The names of the tasks above it, the launching task first, for statements that select the task
  // by them. May be empty.
  std::vector<std::string> parents = {};
  // The name of a mapping function.
  std::string function;
  // The domain of the index launch.
  LaunchDomain domain;
  // The kind on which the task runs, used if no Task statement decides it.
  std::optional<ProcKind> from;
  // Set for a single task instead of a launch: the processor of the parent task, by its node and
  // its index in that node. The task is on the same node.
  struct Parent {
    std::int64_t node = 0;
    std::int64_t index = 0;
  };
  std::optional<Parent> parent;
};

// Sets the task of a query and the tasks above it. In the words of statements, `main > step >
// update` is the task `update` that `step` launched, which `main` launched. Any other text is the
// name of a task. Returns an error for a path that does not name one task.
std::optional<Error> set_task(const std::string& path, PlaceQuery* query);

// The result of place(): the processor of each point of a launch.
struct Placement {
  // The task of the query. Empty if the query names a function instead.
  std::string task;
  FunctionId function = 0;
  std::string function_name;
  ProcKind kind = ProcKind::kGpu;
  // The launch domain. It has 0 dimensions for a single task.
  LaunchDomain domain;
  // The processor of each point of the launch, in row-major order. For a set, this is its first
  // processor.
  std::vector<Processor> points;
  // The sets, parallel to `points`, if a function returned sets. Otherwise empty.
  std::vector<std::vector<Processor>> sets;
  // The statements that chose the kind and the function.
  std::vector<DecisionOrigin> decided_by;
  // The number of points on each processor of `kind`, node by node. A point that goes to a set of
  // processors counts only for the first processor of the set.
  std::vector<std::vector<std::int64_t>> loads;

  // Return the number of processors of `kind`, and the largest and the smallest number of points on
  // one of them.
  std::int64_t processor_count() const;
  std::int64_t max_load() const;
  std::int64_t min_load() const;
};

// Called from time to time with the number of finished points. If it returns false, the work stops.
using Progress = std::function<bool(std::int64_t done, std::int64_t all)>;

// Finds where every point of the launch goes. Returns nullopt if a point fails, no statement
// decides, the domain is empty or larger than kMaxPlacePoints, or `progress` returned false.
// `diags` has the reason, except in the last case.
std::optional<Placement> place(const BoundProgram& bound, const PlaceQuery& query,
                               Diagnostics& diags, LogSink* log = nullptr,
                               const Progress& progress = {});

// The largest launch that place_numbers() accepts: 2^28 points, which take 1 GiB.
inline constexpr std::int64_t kMaxNumberedPoints = std::int64_t{1} << 28;

// The result of place_numbers(): the processor of each point of a launch, in four bytes.
struct NumberedPlacement {
  std::string task;
  FunctionId function = 0;
  std::string function_name;
  ProcKind kind = ProcKind::kGpu;
  LaunchDomain domain;
  // For each point of the launch, in row-major order: the number of its processor among all
  // processors of `kind` on the machine, counted node by node from 0. For a set of processors, this
  // is the first one.
  std::vector<std::int32_t> points;
  // True if the function returned a set of processors for some point.
  bool has_sets = false;
  // The statements that chose the kind and the function.
  std::vector<DecisionOrigin> decided_by;
};

// Returns the processor of every point of an index launch. The launch may have kMaxNumberedPoints
// points. This function is many times faster than place(), because it computes whole rows at once
// (index_map.h). It drops what the mapping functions print. `query.parent` must not be set. Returns
// nullopt as place() does.
std::optional<NumberedPlacement> place_numbers(const BoundProgram& bound, const PlaceQuery& query,
                                               Diagnostics& diags, const Progress& progress = {});

// Options of a picture in text.
struct DrawOptions {
  // Use ANSI colours. If false, the picture has only letters.
  bool color = false;
  // The width of the terminal. A wider picture is cut and says so.
  int columns = 80;
  // The largest number of rows that are drawn of each layer. A layer is a plane of the last two
  // dimensions of the launch.
  int rows = 64;
};

// Returns a picture, the load of each processor, and the statements that decided. A picture of one
// or two dimensions is a grid; more dimensions give layers of the last two. Ends with a line end.
std::string draw(const Placement& placement, const BoundProgram& bound,
                 const DrawOptions& options = {});
// Returns the picture of a placement as a stand-alone SVG document.
std::string draw_svg(const Placement& placement, const BoundProgram& bound);

// Returns the placement as JSON: {"task": ..., "points": ..., "loads": ..., "diagnostics": [...]}
std::string to_json(const Placement& placement, const Diagnostics& diags);
// Describes an application for a person: its parameters, sizes, regions with their partitions, and
// tasks. `name` is the argument of --app. Long formulas are cut. Ends with a line end.
std::string draw(const Application& app, std::string_view name);

// Returns the diagnostics of any number of program texts as JSON: {"diagnostics": [...]}
std::string to_json(const std::vector<const Diagnostics*>& all);

}  // namespace groma
