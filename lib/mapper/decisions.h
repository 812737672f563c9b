// The decisions of a program about a task on a machine. Where the program does not decide, they are
// those of the default mapper. All functions are pure; ProgramMapper answers hooks with them, and
// `explain` shows them.
#pragma once

#include <array>
#include <optional>
#include <string_view>

#include "groma/machine.h"
#include "groma/mapper.h"
#include "groma/program.h"

namespace groma::mapper {

// The words by which statements select the task of a view: its name and, if the program has
// selectors, the tasks above it and the form of its launch. Refers to the view.
class TaskWords {
 public:
  TaskWords(const Program& program, const TaskView& task);
  TaskWords(const TaskWords&) = delete;
  TaskWords& operator=(const TaskWords&) = delete;
  operator const LaunchedTask&() const { return task_; }  // NOLINT(google-explicit-constructor)

 private:
  std::array<std::string_view, kMaxTaskParents> parents_;
  LaunchedTask task_;
};

struct ProcessorKindDecision {
  ProcKind kind = ProcKind::kCpu;
  DecisionOrigin origin;
};

// Returns the first kind of the Task statement that the machine has and for which the task has a
// variant. Without a statement, returns the kind that the program's own mapper chose, otherwise the
// default's. Returns nullopt if there is none.
std::optional<ProcessorKindDecision> decide_kind(const Program& program, const TaskView& task,
                                                 const Machine& machine);

// Returns the error (of program.source()) for a task for which decide_kind returns nullopt.
Diagnostic no_kind_error(const Program& program, const TaskView& task, const Machine& machine);

// Decides memories, layouts and early collection for requirement `position` of a task that runs
// `variant` on `processor`, by the statements Region, Layout and CollectMemory.
InstanceChoice decide_requirement(const Program& program, const TaskView& task,
                                  std::uint32_t position, const VariantView& variant,
                                  const Processor& processor, const Machine& machine,
                                  const DefaultSettings& settings);

// Returns the decision of IndexTaskMap for an index launch, of SingleTaskMap for a single task.
std::optional<MappingFunctionDecision> decide_function(const Program& program, const TaskView& task,
                                                       std::optional<ProcKind> kind);

// The decision of ControlReplicate. decide_replication returns nullopt if the default mapper
// decides, that is, if the program has no such statement. `kind` is the processor kind on which the
// task runs.
struct ReplicateDecision {
  bool replicate = false;
  DecisionOrigin origin;
};
std::optional<ReplicateDecision> decide_replication(const Program& program, const TaskView& task,
                                                    ProcKind kind);

}  // namespace groma::mapper
