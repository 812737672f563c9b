// What DefaultMapper decides, decision by decision; ProgramMapper falls back on them where no
// statement speaks.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "groma/diagnostics.h"
#include "groma/mapper.h"

namespace groma::mapper {

// Kinds in the order in which they are preferred. `tag` is the launch's.
const std::array<ProcKind, kProcKindCount>& rank_kinds(std::uint64_t tag);

// The variant with the highest id for the kind, of those that the program's own mapper chose if
// there are any; null when there is none.
const VariantView* best_variant(const TaskView& task, ProcKind kind);

// Of a shard the variant that replicate_task chose, else the best for the kind of `task.current`.
const VariantView* variant_to_run(const TaskView& task);

// Why no runtime replicates the task, whatever its variants; null when one may.
const char* why_not_replicated(const TaskView& task);

// Whether it may be replicated and has a replicable variant for the kind.
bool can_replicate(const TaskView& task, ProcKind kind);

// Processors of `task.current`'s node on which it may as well run: all IO or PY processors, where
// there is no more than one SOCKMEM all CPUs or OMP processors; else that one alone, and so for a
// shard, in a must epoch, of a concurrent launch and on another process's node.
void target_processors(const TaskView& task, const Machine& machine,
                       std::vector<Processor>& answer);

// Requirement `position` of a task that runs on `processor`, by this variant.
RequirementWish default_requirement(const RequirementView& requirement, const VariantView& variant,
                                    std::uint32_t position, const Processor& processor,
                                    const Machine& machine, const DefaultSettings& settings);

// Of the regions from a requirement's own up to the root, whose numbers of points these are, the
// one that an instance covers for neighbours to share: the root; on several nodes, from the root
// down, the first in which a node has no more than its share; the own one if there is none.
std::size_t shared_region(std::span<const std::int64_t> volumes, std::int64_t nodes);

// The requirements of an index launch of which all points read, or all reduce to, the same region
// as a whole.
void find_collective(const TaskView& task, std::vector<std::uint32_t>& answer);

// What a variant demands of a requirement's layout, or SOA F_order.
LayoutSpec demanded_layout(const VariantView& variant, std::uint32_t position);

// A shard on each node that has a processor of `near`'s kind: `near` itself on its node, the first
// elsewhere. No answer without a replicable variant.
void replicate_over_nodes(const TaskView& task, const Processor& near, const Machine& machine,
                          ReplicateAnswer& answer);

// Bytes a second of a copy, over the best channel; 0 where the machine has none. Inside one memory:
// the memory's own.
double copy_bandwidth(const Machine& machine, const Memory& from, const Memory& to);

// The error for a task that has no variant for a kind of the machine, or for `kind`.
Diagnostic no_variant(const TaskView& task, const Machine& machine,
                      std::optional<ProcKind> kind = {});
// What to write, or that only another machine will do.
void add_variant_cure(const TaskView& task, const Machine& machine, Diagnostic& diagnostic);
// Adds what to write to the refusal of an answer that has no help yet, and to a `layout-demanded`
// error why the program's own mapper counts.
void add_cure(Diagnostic& diagnostic);

}  // namespace groma::mapper
