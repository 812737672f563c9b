// What a program asks for and a runtime cannot do.
#pragma once

#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "groma/log.h"
#include "groma/mapper_runtime.h"
#include "groma/program.h"

namespace groma::mapper {

// A line for each statement that has no effect there.
void log_unhonoured(const Program& program, const Capabilities& can, LogSink& log);

// A line for each task that statements name and that is none of `known`, with near names of those.
void log_unknown_tasks(const Program& program, const std::set<std::string_view>& known,
                       LogSink& log);

// Whether there is an InstanceLimit statement.
bool limits_any(const Program& program);

// The kinds and scopes of all TaskSteal statements.
std::vector<std::pair<ProcKind, StealScope>> steal_statements(const Program& program);

}  // namespace groma::mapper
