// What a program asks for and a runtime cannot do.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "groma/log.h"
#include "groma/mapper_runtime.h"
#include "groma/program.h"

namespace groma::mapper {

// A line for each statement that has no effect there.
void log_unhonoured(const Program& program, const Capabilities& can, LogSink& log);

// What a run had.
struct NamesOfRun {
  std::map<std::string, std::size_t, std::less<>> tasks;  // and the most regions of one launch
  std::set<std::string, std::less<>> regions;
  bool all_regions = true;  // false: there were too many to know them all

  void merge(const NamesOfRun& other);
};

// A line for each task and region that statements name and the run did not have, with near names
// of those that it had, and for each position that no launch of the task had. `where` ends each
// line's claim (" in the first process"): `run` is then what was seen there.
void log_unknown_names(const Program& program, const NamesOfRun& run, LogSink& log,
                       std::string_view where = "");

// Whether there is an InstanceLimit statement.
bool limits_any(const Program& program);

// The kinds and scopes of all TaskSteal statements.
std::vector<std::pair<ProcKind, StealScope>> steal_statements(const Program& program);

}  // namespace groma::mapper
