// check_kinds() and check_replication(): statements that can have no effect.
#include "inspect/idle_statements.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "app/view.h"
#include "explain/explain_query.h"
#include "mapper/decisions.h"
#include "mapper/default_policy.h"
#include "program/data.h"

namespace groma::inspect {
namespace {

using program::Row;
using program::TableId;

// The kinds of processors and memories that the statements of a program can use.
class UsableKinds {
 public:
  explicit UsableKinds(const Machine& machine) {
    memories_[static_cast<std::size_t>(MemKind::kVirtual)] = true;
    for (std::size_t p = 0; p < kProcKindCount; ++p) {
      const auto kind = static_cast<ProcKind>(p);
      processors_[p] = machine.has(kind);
      for (std::size_t m = 0; m < kMemKindCount && processors_[p]; ++m) {
        for (std::int64_t node = 0; node < machine.node_count() && !memories_[m]; ++node) {
          memories_[m] = machine.can_address(node, kind, static_cast<MemKind>(m));
        }
      }
    }
  }

  bool has(ProcKind kind) const { return processors_[static_cast<std::size_t>(kind)]; }
  bool has(MemKind kind) const { return memories_[static_cast<std::size_t>(kind)]; }

 private:
  std::array<bool, kProcKindCount> processors_{};
  std::array<bool, kMemKindCount> memories_{};  // that some processor can address
};

// Returns the memory kind because of which a statement has no effect: the memory of a Layout
// statement, or the first memory of a Region statement whose memories no processor can address.
std::optional<MemKind> useless_memory(const Row& row, const UsableKinds& usable) {
  if (const auto memory = program::memory_of(row.key.place)) {
    return usable.has(*memory) ? std::nullopt : memory;
  }
  if (row.key.table != TableId::kRegion || row.key.place != program::kAnyPlace) return std::nullopt;
  for (std::size_t i = 0; i < row.kind_count; ++i) {
    if (usable.has(static_cast<MemKind>(row.kinds[i]))) return std::nullopt;
  }
  return static_cast<MemKind>(row.kinds[0]);
}

// Returns why a launch of the task is not replicated, or an empty string if it may be. If `machine`
// is null, the variants for all processor kinds are considered.
std::string why_not(const TaskView& task, const Program& program, const Machine* machine) {
  if (const char* const reason = mapper::why_not_replicated(task)) return reason;
  std::optional<ProcKind> kind;
  if (machine != nullptr) {
    const auto decision = mapper::decide_kind(program, task, *machine);
    if (!decision) return "";  // the task runs nowhere, which is reported elsewhere
    kind = decision->kind;
  }
  const auto fits = [kind](const VariantView& variant) {
    return variant.replicable && (!kind || variant.kind == *kind);
  };
  if (std::any_of(task.variants.begin(), task.variants.end(), fits)) return "";
  return kind ? fmt::format("its variant for {} is not replicable", name_of(*kind))
              : "none of its variants is replicable";
}

// Returns why no launch of the task is replicated, or an empty string if one may be.
std::string why_never(const app::Data& data, std::uint32_t number, const TaskUses& uses,
                      const Program& program, const Machine* machine) {
  const app::AppView views(data, number, uses.names.front());
  if (uses.uses.empty()) return why_not(views.view({.task = number}), program, machine);
  std::string why;
  for (const app::LaunchUse& use : uses.uses) {
    why = why_not(views.view(use), program, machine);
    if (why.empty()) return "";
  }
  return why;
}

}  // namespace

// Reports each statement once, even if it has several useless rows.
void check_kinds(const Program& program, const Machine& machine, Diagnostics& diags) {
  const UsableKinds usable(machine);
  std::set<std::uint32_t> reported;  // numbers of statements; a statement may have many rows
  for (const Row& row : program.data().rows) {
    if (reported.size() == kMaxErrors) return;
    const auto kind = program::processor_of(row.key.place);
    const auto memory = useless_memory(row, usable);
    const bool is_useless = (kind && !usable.has(*kind)) || memory;
    if (!is_useless || !reported.insert(row.statement).second) continue;
    const Range range = program.range({row.statement});
    Diagnostic& diagnostic =
        memory ? diags.report(DiagId::kUnaddressableMemory, range, "processor", machine.name(),
                              name_of(*memory), "")
               : diags.report(DiagId::kKindNotOnMachine, range, machine.name(), name_of(*kind));
    diagnostic.note("the statement has no effect on this machine");
  }
}

// Skips unknown tasks, which check_names() reports.
void check_replication(const Program& program, const Machine* machine, const Workload& app,
                       Diagnostics& diags) {
  const app::Data& data = app.data();
  bool complete = true;
  std::vector<TaskUses> uses;
  for (const Row& row : program.data().rows) {
    if (row.key.table != TableId::kControlReplicate || row.key.task == kStarName) continue;
    const std::string_view name = program.data().names.text(row.key.task);
    const int number = data.find_task(name);
    if (number < 0) continue;  // an unknown task, which is reported elsewhere
    if (uses.empty()) uses = uses_by_task(data, complete);
    if (!complete) return;
    const std::string why = why_never(data, static_cast<std::uint32_t>(number),
                                      uses[static_cast<std::size_t>(number)], program, machine);
    if (why.empty()) continue;
    diags.report(DiagId::kNeverReplicated, program.range({row.statement}), name, why)
        .note("the statement still keeps the tasks that it does not name from being replicated");
  }
}

}  // namespace groma::inspect
