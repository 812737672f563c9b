// Logs the parts of a program that have no effect: features that the runtime lacks, and names that
// the run does not have.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "groma/layout_overrides.h"
#include "groma/log.h"
#include "groma/mapper_runtime.h"
#include "groma/program.h"

namespace groma::mapper {

// Logs a line for each statement that has no effect on a runtime with these capabilities.
void log_unsupported_statements(const Program& program, const Capabilities& can, LogSink& log);

// The names that occurred in a run.
struct NamesOfRun {
  // The launched tasks, each with the largest number of regions in one of its launches.
  std::map<std::string, std::size_t, std::less<>> tasks;
  std::set<std::string, std::less<>> regions;
  // False if there were too many regions to list them all.
  bool all_regions = true;

  void merge_names(const NamesOfRun& other);
};

// Logs a line for each task and region that statements name but the run did not have, with similar
// names of the run. Also logs each position that no launch of the task had. `where`, such as " in
// the first process", is added to each line if `run` has only the names that a part of the run
// used.
void log_unknown_names(const Program& program, const NamesOfRun& run, LogSink& log,
                       std::string_view where = "");

// Logs a line for each task of `--override-layouts` that the run did not launch.
void log_unknown_overrides(const LayoutOverrides& overrides, const NamesOfRun& run, LogSink& log,
                           std::string_view where = "");

// Returns true if the program has an InstanceLimit statement.
bool has_instance_limit(const Program& program);

// Returns the kinds and scopes of all TaskSteal statements.
std::vector<std::pair<ProcKind, StealScope>> steal_statements(const Program& program);

}  // namespace groma::mapper
