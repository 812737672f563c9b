// Finds statements that can have no effect on the machine or for the application.
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
#include "explain/task_contexts.h"
#include "mapper/decisions.h"
#include "mapper/default_policy.h"
#include "program/data.h"

namespace groma::inspect {
namespace {

using program::StatementRow;
using program::TableId;

// The kinds of processors and memories that statements can use on a machine: the processors that it
// has, the memories that some processor can address, and VIRTUAL.
class UsableKinds {
 public:
  // A memory is usable if some processor of some node can address it.
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
  // True for each kind of memory that some processor can address.
  std::array<bool, kMemKindCount> memories_{};
};

// Returns the kind of memory because of which a statement has no effect, or nullopt. For a Layout
// statement, it is the memory of the statement if no processor can address it. For a Region
// statement about all processors, it is the first of its memories if no processor can address any
// of them.
std::optional<MemKind> useless_memory(const StatementRow& row, const UsableKinds& usable) {
  if (const auto memory = program::memory_kind_of(row.key.place)) {
    return usable.has(*memory) ? std::nullopt : memory;
  }
  if (row.key.table != TableId::kRegion || row.key.place != program::kAnyPlace) return std::nullopt;
  for (std::size_t i = 0; i < row.kind_count; ++i) {
    if (usable.has(static_cast<MemKind>(row.kinds[i]))) return std::nullopt;
  }
  return static_cast<MemKind>(row.kinds[0]);
}

// Returns why a launch of the task is not replicated, or "" if it may be. If `machine` is null, the
// variants for all kinds of processors are considered.
std::string why_not(const TaskView& task, const Program& program, const Machine* machine) {
  if (const char* const reason = mapper::why_not_replicated(task)) return reason;
  std::optional<ProcKind> kind;
  if (machine != nullptr) {
    const auto decision = mapper::decide_kind(program, task, *machine);
    // The task runs nowhere, which another check reports.
    if (!decision) return "";
    kind = decision->kind;
  }
  const auto fits = [kind](const VariantView& variant) {
    return variant.replicable && (!kind || variant.kind == *kind);
  };
  if (std::any_of(task.variants.begin(), task.variants.end(), fits)) return "";
  return kind ? fmt::format("its variant for {} is not replicable", name_of(*kind))
              : "none of its variants is replicable";
}

// Returns why no launch of the task is replicated, or "" if one of them may be.
std::string why_never(const app::Data& data, std::uint32_t number, const TaskLaunches& uses,
                      const Program& program, const Machine* machine) {
  const app::AppView views(data, number, uses.name_lists.front());
  if (uses.launches.empty()) return why_not(views.view({.task = number}), program, machine);
  std::string why;
  for (const app::DistinctLaunch& use : uses.launches) {
    why = why_not(views.view(use), program, machine);
    if (why.empty()) return "";
  }
  return why;
}

// A task that a statement names.
struct NamedTask {
  std::string_view name;
  // The index of the task in the application.
  std::uint32_t number;
  const TaskLaunches& launches;
};

// Calls visit(row, task) for each row that `concerns` returns true for and that names a task of the
// application. A statement for several tasks has a row for each. Visits nothing if the application
// has too many launches to list.
template <typename Concerns, typename Visit>
void for_rows_of_tasks(const Program& program, const Workload& app, const Concerns& concerns,
                       const Visit& visit) {
  bool complete = true;
  std::vector<TaskLaunches> uses;
  for (const StatementRow& row : program.data().rows) {
    const NameTable& names = program.data().names;
    if (!concerns(row) || !names.is_name(row.key.task)) continue;
    const std::string_view name = names.text(row.key.task);
    const int number = app.data().find_task(name);
    if (number < 0) continue;
    if (uses.empty()) uses = launches_by_task(app.data(), complete);
    if (!complete) return;
    visit(row, NamedTask{name, static_cast<std::uint32_t>(number),
                         uses[static_cast<std::size_t>(number)]});
  }
}

}  // namespace

// Warns about statements for kinds that the machine does not have. A statement may have several
// rows in the tables of the program, but is reported once.
void warn_of_missing_kinds(const Program& program, const Machine& machine, Diagnostics& diags) {
  const UsableKinds usable(machine);
  // The numbers of the statements that were reported.
  std::set<std::uint32_t> reported;
  for (const StatementRow& row : program.data().rows) {
    if (reported.size() == kMaxErrors) return;
    const auto kind = program::processor_kind_of(row.key.place);
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

// check_names() reports unknown tasks.
void warn_of_replication_without_effect(const Program& program, const Machine* machine,
                                        const Workload& app, Diagnostics& diags) {
  const auto concerns = [](const StatementRow& row) {
    return row.key.table == TableId::kControlReplicate;
  };
  for_rows_of_tasks(program, app, concerns, [&](const StatementRow& row, const NamedTask& task) {
    const std::string why = why_never(app.data(), task.number, task.launches, program, machine);
    if (why.empty()) return;
    diags.report(DiagId::kNeverReplicated, program.range({row.statement}), task.name, why)
        .note("the statement still keeps the tasks that it does not name from being replicated");
  });
}

// check_names() reports selectors with names that no task has.
void warn_of_selectors_without_launches(const Program& program, const Workload& app,
                                        Diagnostics& diags) {
  if (!program.has_selectors()) return;
  bool complete = true;
  const std::vector<TaskLaunches> uses = launches_by_task(app.data(), complete);
  if (!complete) return;
  const NameTable& names = program.data().names;
  // The selectors that stand for tasks of the application, and those that stand for launches.
  std::set<NameId> with_tasks, with_launches;
  for (std::uint32_t t = 0; t < app.data().tasks.size(); ++t) {
    const std::string& name = app.data().tasks[t].name;
    const std::vector<TaskContext> contexts = contexts_of(app.data(), uses, t, {program});
    for (const auto& [id, selector] : names.selectors()) {
      if (!names.stands_for(id, name)) continue;
      with_tasks.insert(id);
      const auto stands_for = [&names, id = id, &name](const TaskContext& context) {
        const std::vector<std::string_view> above(context.above.begin(), context.above.end());
        return names.stands_for_task(id, name, above, dimensions_of(context));
      };
      if (std::any_of(contexts.begin(), contexts.end(), stands_for)) with_launches.insert(id);
    }
  }
  std::size_t warned = 0;
  for (const StatementRow& row : program.data().rows) {
    const NameId id = row.key.task;
    // Each selector is reported once, at the first row that has it.
    if (with_launches.contains(id) || with_tasks.erase(id) == 0) continue;
    if (++warned > kMaxErrors) return;
    diags
        .report(DiagId::kUnknownTask, program.range({row.statement}), app.data().name,
                names.text(id))
        .lower_to(Severity::kWarning)
        .note("no launch of the task has these tasks above it and this form");
  }
}

void warn_of_maps_for_other_launches(const Program& program, const Workload& app,
                                     Diagnostics& diags) {
  const auto concerns = [](const StatementRow& row) {
    return row.key.table == TableId::kIndexMap || row.key.table == TableId::kSingleMap;
  };
  std::size_t warned = 0;
  for_rows_of_tasks(program, app, concerns, [&](const StatementRow& row, const NamedTask& task) {
    const bool index = row.key.table == TableId::kIndexMap;
    const auto& launches = task.launches.launches;
    // The runtime launches the top-level task, which depends on no such statement.
    const auto may_be_decided = [index](const app::DistinctLaunch& launch) {
      return launch.depth == 0 || index == launch.domain.has_value();
    };
    if (launches.empty() || std::any_of(launches.begin(), launches.end(), may_be_decided)) return;
    if (++warned > kMaxErrors) return;
    diags
        .report(DiagId::kOtherLaunches, program.range({row.statement}),
                index ? "IndexTaskMap" : "SingleTaskMap", task.name,
                index ? "a single task" : "an index launch")
        .help(fmt::format("`{}` decides where `{}` runs{}",
                          index ? "SingleTaskMap" : "IndexTaskMap", task.name,
                          index ? ", by a function that reads `task.parent`" : ""));
  });
}

}  // namespace groma::inspect
