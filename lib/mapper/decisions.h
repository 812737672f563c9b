// What a program decides of a task on a machine, the default mapper's choice where it says nothing.
// Pure functions; ProgramMapper answers hooks with them, `explain` shows them.
#pragma once

#include <optional>

#include "groma/machine.h"
#include "groma/mapper.h"
#include "groma/program.h"

namespace groma::mapper {

struct KindDecision {
  ProcKind kind = ProcKind::kCpu;
  Origin origin;
};

// The first kind of the Task statement that the machine has and the task has a variant for. Without
// a statement, the kind that the program's own mapper chose, else the default's. Nothing when there
// is none.
std::optional<KindDecision> decide_kind(const Program& program, const TaskView& task,
                                        const Machine& machine);

// The error where decide_kind has no answer, of program.source().
Diagnostic no_kind(const Program& program, const TaskView& task, const Machine& machine);

// Requirement `position` of a task that runs on `processor` by that variant: Region, Layout and
// CollectMemory.
RequirementWish decide_requirement(const Program& program, const TaskView& task,
                                   std::uint32_t position, const VariantView& variant,
                                   const Processor& processor, const Machine& machine,
                                   const DefaultSettings& settings);

// IndexTaskMap for an index launch, SingleTaskMap for a single task.
std::optional<FunctionDecision> decide_function(const Program& program, const TaskView& task,
                                                std::optional<ProcKind> kind);

// ControlReplicate: whether the task replicates, once such a statement is written; nothing when the
// default mapper decides. `kind` is what the task runs on.
struct ReplicateDecision {
  bool replicate = false;
  Origin origin;
};
std::optional<ReplicateDecision> decide_replication(const Program& program, const TaskView& task,
                                                    ProcKind kind);

}  // namespace groma::mapper
