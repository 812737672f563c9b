// DraftMaker: finds out what a mapping can decide about an application, and turns decisions into
// the text of a mapping.
#include "space/draft.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "app/data.h"
#include "explain/explain_query.h"
#include "groma/evaluate.h"
#include "program/data.h"
#include "syntax/lexer.h"

namespace groma::tuning {

std::vector<DraftDecision> decisions_of(const MappingDraft& draft) {
  using What = DraftDecision::What;
  std::vector<DraftDecision> all;
  for (std::size_t t = 0; t < draft.tasks.size(); ++t) {
    const MappingDraft::TaskDecisions& task = draft.tasks[t];
    const auto add = [&](bool is_decided, What what, std::size_t argument = 0) {
      if (is_decided) all.push_back({what, t, argument});
    };
    add(task.kind.has_value(), What::kKind);
    add(task.placement != nullptr, What::kPlacement);
    add(task.single_placement != nullptr, What::kSinglePlacement);
    add(task.instance_limit > 0, What::kInstanceLimit);
    add(task.steal_scope.has_value(), What::kSteal);
    for (std::size_t a = 0; a < task.arguments.size(); ++a) {
      add(!task.arguments[a].memories.empty(), What::kMemories, a);
      add(!task.arguments[a].layout.empty(), What::kLayout, a);
      add(task.arguments[a].collects_early, What::kCollect, a);
    }
  }
  if (draft.replicates_top_level) all.push_back({What::kReplicate});
  return all;
}

void remove_decision(MappingDraft& draft, const DraftDecision& decision) {
  using What = DraftDecision::What;
  if (decision.what == What::kReplicate) {
    draft.replicates_top_level = false;
    return;
  }
  MappingDraft::TaskDecisions& task = draft.tasks[decision.task];
  switch (decision.what) {
    case What::kKind:
      task.kind.reset();
      break;
    case What::kPlacement:
      task.placement.reset();
      break;
    case What::kSinglePlacement:
      task.single_placement.reset();
      break;
    case What::kInstanceLimit:
      task.instance_limit = 0;
      break;
    case What::kSteal:
      task.steal_scope.reset();
      break;
    case What::kMemories:
      task.arguments[decision.argument].memories.clear();
      break;
    case What::kLayout:
      task.arguments[decision.argument].layout = {};
      break;
    case What::kCollect:
      task.arguments[decision.argument].collects_early = false;
      break;
    case What::kReplicate:
      break;
  }
}

// Collects the tasks that a mapping can decide: launched tasks whose names can be written in a
// statement and that have a variant for this machine. The top-level task is only kept for
// ControlReplicate.
DraftMaker::DraftMaker(const Machine& machine, const Workload& workload)
    : machine_(machine), placements_(machine) {
  const app::Data& app = workload.data();
  bool complete = true;
  const std::vector<TaskLaunches> uses = launches_by_task(app, complete);
  std::set<std::string> regions;
  for (std::size_t t = 0; t < app.tasks.size(); ++t) {
    const auto written = syntax::name_as_written(app.tasks[t].name);
    if (!written) continue;
    if (static_cast<int>(t) == app.top_level) {
      top_level_ = *written;
      continue;
    }
    Task task;
    task.name = app.tasks[t].name;
    task.statement_name = *written;
    for (const ProcKind kind : kPreferredKinds) {
      const bool runs =
          std::any_of(app.tasks[t].variants.begin(), app.tasks[t].variants.end(),
                      [&](const app::Variant& variant) { return variant.kind == kind; });
      if (runs && machine.has(kind)) task.kinds.push_back(kind);
    }
    if (task.kinds.empty() || uses[t].launches.empty()) continue;
    // The draft describes one index launch of the task: the first of those that have the fewest
    // dimensions.
    for (const app::DistinctLaunch& use : uses[t].launches) {
      if (!use.domain) {
        task.has_single_launches = task.has_single_launches || use.depth > 0;
      } else if (use.domain->count() == 0) {
        continue;
      } else if (task.dimensions == 0 || use.domain->box.dimensions() < task.dimensions) {
        task.dimensions = use.domain->box.dimensions();
        task.extents.clear();
        for (int d = 0; d < task.dimensions; ++d)
          task.extents.push_back(use.domain->box.extents[d]);
      }
    }
    for (std::size_t r = 0; r < app.tasks[t].requirements.size(); ++r) {
      const app::Requirement& requirement = app.tasks[t].requirements[r];
      if (requirement.fields.empty() || requirement.privilege == Privilege::kNoAccess) continue;
      const app::Names& names = uses[t].name_lists.front()[r];
      task.arguments.push_back({r, names, requirement.privilege == Privilege::kReadOnly});
      if (!names.empty() && regions.insert(names.front()).second) {
        regions_.push_back(names.front());
      }
    }
    tasks_.push_back(std::move(task));
  }
}

std::string DraftMaker::Argument::description_in(const std::string& task) const {
  const std::string data = names.empty() ? fmt::format("region {}", position) : names.front();
  return fmt::format("{} of {}", data, task);
}

// Compiles the base mapping, and notes the kind of processor on which it runs each task. If no Task
// statement gives a usable kind, the default mapper's first kind is used.
MappingDraft DraftMaker::draft_without_decisions(const std::string& text) const {
  Diagnostics ignored(Source("mapping", text));
  Program program = compile(ignored.source(), ignored);
  // The machine decides which `when` blocks act.
  if (program.has_conditions()) {
    const auto bound = bind(program, machine_, ignored);
    if (bound) program = bound->program();
  }
  const auto base = std::make_shared<BaseMapping>(BaseMapping{
      .text = text, .kinds = {}, .program = program, .editable = edit::EditableMapping(program)});
  base->functions = base->editable.definition_keys();
  const NameTable& names = program.data().names;
  for (const program::StatementRow& row : program.data().rows) {
    if (names.selector(row.key.task) == nullptr) continue;
    for (const Task& task : tasks_) {
      if (!names.stands_for(row.key.task, task.name)) continue;
      base->selectors[{static_cast<MappingStatement>(row.key.table), task.statement_name}].emplace(
          names.text(row.key.task));
    }
  }
  MappingDraft draft;
  for (const Task& task : tasks_) {
    draft.tasks.emplace_back().arguments.resize(task.arguments.size());
    // A Task statement lists kinds in the order of preference. The first one on which the task can
    // run counts.
    ProcKind kind = task.kinds.front();
    if (const auto said = base->program.task(task.name)) {
      const auto usable = std::find_first_of(said->kinds.begin(), said->kinds.end(),
                                             task.kinds.begin(), task.kinds.end());
      if (usable != said->kinds.end()) kind = *usable;
    }
    base->kinds.push_back(kind);
  }
  draft.base = base;
  return draft;
}

// Returns the processor kind on which the task runs: the one that the draft decides, or else the
// one in the base mapping.
ProcKind DraftMaker::processor_kind_of(const MappingDraft& draft, std::size_t task) const {
  return draft.tasks[task].kind.value_or(draft.base->kinds[task]);
}

// Changes the processor kind of a task. Discards the draft's decisions for the old kind, because
// memories and mapping functions depend on the kind.
void DraftMaker::set_processor_kind(MappingDraft& draft, std::size_t task, ProcKind kind) const {
  MappingDraft::TaskDecisions& changed = draft.tasks[task];
  changed = {};
  changed.arguments.resize(tasks_[task].arguments.size());
  if (kind != draft.base->kinds[task]) changed.kind = kind;
}

// ----------------------------------------------------------------------------- the text of a draft

namespace {

// Returns the number of bytes of the comment lines with which a program begins.
std::size_t header_bytes(std::string_view text) {
  std::size_t end = 0;
  while (text.substr(end).starts_with('#') || text.substr(end).starts_with("//")) {
    const std::size_t line = text.find('\n', end);
    end = line == text.npos ? text.size() : line + 1;
  }
  return end;
}

}  // namespace

// Writes the decisions of a draft as statements in front of the statements of the base mapping. A
// function that several tasks use is written once.
std::string DraftMaker::text_of(const MappingDraft& draft) const {
  std::string kinds, data, limits, functions, maps;
  // For each mapping function, the names of the tasks that use it.
  std::map<std::string, std::vector<std::string>> users;
  std::set<std::string> defined;
  // Returns the name of the function for the processor kind. Adds its definition if it is not there
  // yet.
  const auto define = [&](const edit::MappingFunction& function, ProcKind kind) {
    std::string name = unused_name(*draft.base, edit::function_name_for(function.name, kind));
    if (defined.insert(name).second) {
      functions += "\n" + edit::function_definition(function, kind, name);
    }
    return name;
  };
  // The statements that only decide if they are written into a `when` block of the base mapping.
  std::vector<edit::StatementParts> in_blocks;
  const auto write = [&](const edit::StatementParts& statement) -> std::string {
    if (draft.base->editable.has_active_block_for(statement)) {
      in_blocks.push_back(statement);
      return "";
    }
    return statement.statement_text() + ";\n";
  };
  // Selectors of the base mapping take precedence over the names of their tasks, so the same is
  // said of them.
  const auto line = [&](const edit::StatementParts& statement) {
    std::string text = write(statement);
    for (const std::string& task : statement.tasks) {
      const auto found = draft.base->selectors.find({statement.kind, task});
      if (found == draft.base->selectors.end()) continue;
      edit::StatementParts selecting = statement;
      for (const std::string& selector : found->second) {
        selecting.tasks = {selector};
        text += write(selecting);
      }
    }
    return text;
  };
  for (std::size_t t = 0; t < tasks_.size(); ++t) {
    const Task& task = tasks_[t];
    const MappingDraft::TaskDecisions& said = draft.tasks[t];
    const ProcKind kind = processor_kind_of(draft, t);
    if (said.kind) {
      edit::StatementParts statement{.tasks = {task.statement_name}, .processors = {kind}};
      // The other processor kinds of the task follow as fallbacks.
      for (const ProcKind other : task.kinds) {
        if (other != kind) statement.processors.push_back(other);
      }
      kinds += line(statement);
    }
    for (std::size_t a = 0; a < said.arguments.size(); ++a) {
      const MappingDraft::ArgumentDecisions& argument = said.arguments[a];
      if (argument == MappingDraft::ArgumentDecisions{}) continue;
      edit::StatementParts statement{.tasks = {task.statement_name},
                                     .regions = {std::to_string(task.arguments[a].position)},
                                     .place = kind,
                                     .memories = argument.memories,
                                     .layout = argument.layout};
      // Adds a statement of the kind `of`, unless the draft leaves that decision open.
      const auto add = [&](bool is_decided, MappingStatement of) {
        statement.kind = of;
        if (is_decided) data += line(statement);
      };
      add(!argument.memories.empty(), MappingStatement::kRegion);
      add(!argument.layout.empty(), MappingStatement::kLayout);
      statement.place = {};
      add(argument.collects_early, MappingStatement::kCollectMemory);
    }
    if (said.instance_limit > 0) {
      limits += line({.kind = MappingStatement::kInstanceLimit,
                      .tasks = {task.statement_name},
                      .limit = said.instance_limit});
    }
    if (said.steal_scope) {
      limits += line({.kind = MappingStatement::kTaskSteal,
                      .tasks = {task.statement_name},
                      .place = kind,
                      .steal_scope = *said.steal_scope});
    }
    if (said.placement) {
      users[define(*said.placement, kind)].push_back(task.statement_name);
    }
    if (said.single_placement) {
      maps += line({.kind = MappingStatement::kSingleTaskMap,
                    .tasks = {task.statement_name},
                    .function = define(*said.single_placement, kind)});
    }
  }
  for (const auto& [function, tasks] : users) {
    maps += line({.kind = MappingStatement::kIndexTaskMap, .tasks = tasks, .function = function});
  }
  if (!maps.empty()) maps.insert(0, "\n");
  std::string text = kinds + data + limits + functions + maps;
  if (draft.replicates_top_level) {
    text += line({.kind = MappingStatement::kControlReplicate, .tasks = {top_level_}});
  }
  if (text.starts_with('\n')) text.erase(0, 1);
  // If the draft decides nothing, or its base mapping has no text, the two texts need not be
  // merged.
  const std::string base_text = draft.base->editable.text_with_in_blocks(in_blocks);
  if (base_text.empty() || text.empty()) return text + base_text;
  // If two statements have the same key, the first one decides. So the new statements are put in
  // front of the base's statements, behind the comment lines at its beginning.
  const std::string_view base = base_text;
  const std::size_t header = header_bytes(base);
  std::string made(base.substr(0, header));
  if (header > 0) made += made.ends_with('\n') ? "\n" : "\n\n";
  std::string_view rest = base.substr(header);
  rest.remove_prefix(std::min(rest.find_first_not_of("\r\n"), rest.size()));
  return made + text + "\n" +
         edit::EditableMapping(rest).text_without(edit::EditableMapping(text).item_keys());
}

std::string DraftMaker::unused_name(const BaseMapping& base, std::string name) {
  while (base.functions.contains(edit::key_of_definition(name))) name += '_';
  return name;
}

}  // namespace groma::tuning
