// The decisions of DefaultMapper, one function for each. ProgramMapper uses them where no statement
// decides.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "groma/diagnostics.h"
#include "groma/mapper.h"

namespace groma::mapper {

// Returns the processor kinds in the order in which the default mapper prefers them. `tag` is the
// tag of the launch.
const std::array<ProcKind, kProcKindCount>& kinds_by_preference(std::uint64_t tag);

// Returns the task's variant with the highest id for the processor kind, or null if there is none.
// If the program's own mapper chose variants of that kind, only those count.
const VariantView* best_variant(const TaskView& task, ProcKind kind);

// Returns the variant by which the task runs. For a shard it is the one that replicate_task chose,
// otherwise the best for the kind of `task.current`.
const VariantView* variant_to_run(const TaskView& task);

// Returns the reason why no runtime replicates the task, whatever its variants are, or null.
const char* why_not_replicated(const TaskView& task);

// Returns true if the task may be replicated and has a replicable variant for the kind.
bool can_replicate(const TaskView& task, ProcKind kind);

// Appends the processors of `task.current`'s node that may run the task: all IO or PY processors,
// or, with at most one SOCKMEM, all CPUs or OMP processors. In all other cases only `task.current`
// may run it. That also holds for a shard, in a must epoch, for a concurrent launch, and on the
// node of another process.
void target_processors(const TaskView& task, const Machine& machine,
                       std::vector<Processor>& answer);

// Returns the default mapper's choice for requirement `position` of a task that runs `variant` on
// `processor`.
InstanceChoice default_choice_of_requirement(const RequirementView& requirement,
                                             const VariantView& variant, std::uint32_t position,
                                             const Processor& processor, const Machine& machine,
                                             const DefaultSettings& settings);

// Chooses the region that an instance covers so that neighbours share it. `volumes` has the numbers
// of points of the regions from the requirement's own up to the root. On one node it is the root.
// On several nodes it is the first region, from the root down, of which a node holds at most its
// share. If there is none, it is the requirement's own region. Returns an index into `volumes`.
std::size_t choose_instance_region(std::span<const std::int64_t> volumes, std::int64_t nodes);

// Finds the requirements of an index launch in which all points read, or all reduce to, the same
// whole region. Writes their positions to `answer`.
void find_collective_requirements(const TaskView& task, std::vector<std::uint32_t>& answer);

// Returns the layout that a variant demands for a requirement, or SOA F_order.
LayoutSpec demanded_layout(const VariantView& variant, std::uint32_t position);

// Puts a shard on each node that has a processor of `near`'s kind: `near` itself on its node, the
// first processor elsewhere. Leaves `answer` empty if there is no replicable variant.
void replicate_over_nodes(const TaskView& task, const Processor& near, const Machine& machine,
                          ReplicateTaskOutput& answer);

// Returns the bandwidth of a copy over the fastest channel, in bytes per second; 0 if the machine
// has no channel. Within one memory it is infinite.
double copy_bandwidth(const Machine& machine, const Memory& from, const Memory& to);

// Returns the error for a task that has no variant for any kind of the machine, or none for `kind`.
Diagnostic no_variant_error(const TaskView& task, const Machine& machine,
                            std::optional<ProcKind> kind = {});
// Adds a help to the error that a task has no usable variant: which kinds a Task statement can
// name, or that only another machine can run the task.
void add_no_variant_help(const TaskView& task, const Machine& machine, Diagnostic& diagnostic);
// Adds a help to the refusal of an answer if it has none yet. To a `layout-demanded` error it also
// adds a note that the task may rely on the layout, since its own program chose it.
void add_refusal_help(Diagnostic& diagnostic);

}  // namespace groma::mapper
