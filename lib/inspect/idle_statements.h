// Warns about statements that can have no effect on the given machine or application.
#pragma once

#include "groma/diagnostics.h"
#include "groma/machine.h"
#include "groma/program.h"
#include "groma/workload.h"

namespace groma::inspect {

// Warns about statements for a kind of processor or memory that the machine lacks.
void warn_of_missing_kinds(const Program& program, const Machine& machine, Diagnostics& diags);

// Warns about each ControlReplicate statement that names a task which is never replicated. With a
// machine, only the task's variants for the processor kind that the program chooses are considered.
// If `machine` is null, all variants are.
void warn_of_replication_without_effect(const Program& program, const Machine* machine,
                                        const Workload& app, Diagnostics& diags);

// Warns about each IndexTaskMap statement that names a task which is never launched as an index
// launch, and about each SingleTaskMap statement for a task that is never launched as a single
// task.
void warn_of_maps_for_other_launches(const Program& program, const Workload& app,
                                     Diagnostics& diags);

// Warns about each selector (`main > step[dim=2]`) that stands for no launch of the application,
// although the application has tasks with these names.
void warn_of_selectors_without_launches(const Program& program, const Workload& app,
                                        Diagnostics& diags);

}  // namespace groma::inspect
