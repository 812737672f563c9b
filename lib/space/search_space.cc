// SearchSpace: the decisions that a mapping of an application can make on a machine, and the text
// of the mapping for a choice of options.
#include "groma/search_space.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <span>

#include "app/data.h"
#include "base/random.h"
#include "edit/functions.h"
#include "edit/statement.h"
#include "explain/explain_query.h"
#include "explain/words.h"
#include "syntax/lexer.h"

namespace groma::tuning {
namespace {

constexpr std::array kBeginningKinds = {ProcKind::kGpu, ProcKind::kOmp, ProcKind::kCpu};

// Returns the statements with which every mapping of the space begins. They are those of the
// mappers that the paper on agent-system interfaces prints (A4, A6, A7).
std::string beginning() {
  const edit::StatementParts kinds{.tasks = {"*"},
                                   .processors = {kBeginningKinds.begin(), kBeginningKinds.end()}};
  edit::StatementParts region{
      .kind = MappingStatement::kRegion, .tasks = {"*"}, .regions = {"*"}, .place = ProcKind::kGpu};
  region.memories = {MemKind::kFbmem};
  std::string text = fmt::format("{};\n{};\n", kinds.statement_text(), region.statement_text());
  region.place = {};
  region.memories = {MemKind::kSockmem, MemKind::kSysmem};
  return text + region.statement_text() + ";\n";
}

// Returns every non-empty list of distinct elements of `kinds` in every order, the shortest lists
// first: {a}, {b}, {a, b}, {b, a}.
std::vector<std::vector<ProcKind>> lists_of(const std::vector<ProcKind>& kinds) {
  std::vector<std::vector<ProcKind>> lists = {{}};
  for (std::size_t i = 0; i < lists.size(); ++i) {
    for (ProcKind kind : kinds) {
      std::vector<ProcKind> longer = lists[i];
      if (std::find(longer.begin(), longer.end(), kind) != longer.end()) continue;
      longer.push_back(kind);
      lists.push_back(std::move(longer));
    }
  }
  lists.erase(lists.begin());
  return lists;
}

// Returns the processor kinds that the machine has.
std::vector<ProcKind> kinds_of(const Machine& machine) {
  std::vector<ProcKind> kinds;
  for (std::size_t k = 0; k < kProcKindCount; ++k) {
    if (machine.has(static_cast<ProcKind>(k))) kinds.push_back(static_cast<ProcKind>(k));
  }
  return kinds;
}

// Returns one list for each kind of memory that the machine has. Each list holds only that kind.
std::vector<std::vector<MemKind>> memories_of(const Machine& machine) {
  std::vector<std::vector<MemKind>> memories;
  for (std::size_t k = 0; k < kMemKindCount; ++k) {
    const auto kind = static_cast<MemKind>(k);
    const auto has = [&](const NodeType& node) { return node.find(kind) != nullptr; };
    const std::vector<NodeType>& nodes = machine.node_types();
    if (std::any_of(nodes.begin(), nodes.end(), has)) memories.push_back({kind});
  }
  return memories;
}

using syntax::ConstraintWord;

// The alternatives for the parts of a Layout statement, which has at most one of each group.
const std::vector<edit::LayoutWords> kFieldOrders = {{{ConstraintWord::kSoa}},
                                                     {{ConstraintWord::kAos}}};
const std::vector<edit::LayoutWords> kDimensionOrders = {{{ConstraintWord::kCOrder}},
                                                         {{ConstraintWord::kFOrder}}};
const std::vector<edit::LayoutWords> kAlignments = {{{ConstraintWord::kAlign, AlignOp::kEq, 64}},
                                                    {{ConstraintWord::kAlign, AlignOp::kEq, 128}}};

// Returns true if the runtime makes an instance for the requirement.
bool is_mapped(const app::Requirement& requirement) {
  return !requirement.fields.empty() && requirement.privilege != Privilege::kNoAccess;
}

// Returns true if statements of this kind name a mapping function.
bool is_map(MappingStatement kind) {
  return kind == MappingStatement::kIndexTaskMap || kind == MappingStatement::kSingleTaskMap;
}

}  // namespace

// The tasks of the search space, and the statement that each option of each decision writes.
struct SearchSpace::Parts {
  struct Task {
    // The name of the task as statements write it.
    std::string name;
    // The index of the decision about the Task statement of this task.
    std::uint32_t decision = 0;
    std::vector<ProcKind> variants;
  };
  std::vector<Task> tasks;
  // For each decision, the index of the task that it belongs to; kNoTask if it belongs to none.
  std::vector<std::uint32_t> task_of;
  // For each option of each decision, the statement that it writes; nullopt if it writes none.
  std::vector<std::vector<std::optional<edit::StatementParts>>> statements;

  // Returns the first kind of the chosen list for which the task has a variant. If there is none,
  // returns the first kind of the list; such a mapping fails.
  ProcKind kind_of(const Task& task, const Choice& choice) const {
    const auto& said = statements[task.decision][choice[task.decision]];
    const std::span<const ProcKind> list =
        said ? std::span(said->processors) : std::span<const ProcKind>(kBeginningKinds);
    const auto usable =
        std::find_first_of(list.begin(), list.end(), task.variants.begin(), task.variants.end());
    return usable == list.end() ? list.front() : *usable;
  }
};

// Makes the decisions: for each kind of statement, those of all tasks. The statements have the
// order in which the agent of the paper joins them (A.6). Statements that the agent does not use
// come last.
class SearchSpace::Maker {
 public:
  // Collects the tasks that a mapping can decide: all except the top-level task and, if the
  // application's launches are known, tasks that are never launched.
  Maker(std::vector<Decision>& decisions, const Machine& machine, const app::Data& app)
      : decisions_(decisions),
        app_(app),
        kinds_(kinds_of(machine)),
        memories_(memories_of(machine)) {
    bool complete = true;
    uses_ = launches_by_task(app, complete);
    const bool knows = std::any_of(uses_.begin(), uses_.end(),
                                   [](const TaskLaunches& uses) { return !uses.launches.empty(); });
    for (std::uint32_t t = 0; t < app.tasks.size(); ++t) {
      if (static_cast<int>(t) == app.top_level || (knows && uses_[t].launches.empty())) continue;
      const std::optional<std::string> name = syntax::name_as_written(app.tasks[t].name);
      if (!name) continue;
      Parts::Task& task = parts_.tasks.emplace_back();
      task.name = *name;
      for (const app::Variant& variant : app.tasks[t].variants) {
        if (machine.has(variant.kind)) task.variants.push_back(variant.kind);
      }
      numbers_.push_back(t);
    }
  }

  // Makes all decisions in the order of the statements. With the grain kArguments, memories and
  // layouts are decided for each argument, and otherwise for each name of data.
  Parts make(SearchGranularity grain) && {
    const std::vector<std::vector<ProcKind>> lists = lists_of(kinds_);
    for_each_task([&](std::uint32_t t, const std::string& name) {
      parts_.tasks[t].decision = static_cast<std::uint32_t>(decisions_.size());
      add({.tasks = {name}}, t, &Statement::processors, lists);
    });
    add_regions(grain);
    add_layouts(grain);
    for_each_task([&](std::uint32_t t, const std::string& name) {
      add({.kind = MappingStatement::kInstanceLimit, .tasks = {name}}, t, &Statement::limit,
          {1, 2, 4, 8});
    });
    for_each_task([&](std::uint32_t t, const std::string& name) { add_functions(t, name); });
    for_each_task([&](std::uint32_t t, const std::string& name) {
      add({.kind = MappingStatement::kCollectMemory, .tasks = {name}}, t, &Statement::regions,
          {{"*"}});
    });
    add({.kind = MappingStatement::kControlReplicate}, kNoTask, &Statement::tasks, {{"*"}});
    for (ProcKind kind : kinds_) {
      add({.kind = MappingStatement::kTaskSteal, .tasks = {"*"}, .place = kind}, kNoTask,
          &Statement::steal_scope, {StealScope::kSameNode, StealScope::kAnyNode});
    }
    return std::move(parts_);
  }

 private:
  static constexpr std::uint32_t kNoTask = 0xFFFFFFFF;
  using Statement = edit::StatementParts;

  // Adds a decision. Each of its options is the statement `about`, with one of `values` in its data
  // member `member`. If `may_be_left_out` is true, the first option is to write no statement.
  template <typename Value>
  Decision& add(const Statement& about, std::uint32_t task, Value Statement::*member,
                const std::vector<std::type_identity_t<Value>>& values,
                bool may_be_left_out = true) {
    Decision& made = decisions_.emplace_back(Decision{about.kind, about.statement_key(), {}});
    auto& statements = parts_.statements.emplace_back();
    if (may_be_left_out) {
      made.options.emplace_back();
      statements.emplace_back();
    }
    for (const Value& value : values) {
      Statement statement = about;
      statement.*member = value;
      made.options.push_back(statement.statement_text().substr(made.head.size() + 1));
      statements.emplace_back(std::move(statement));
    }
    if (const auto* kind = std::get_if<ProcKind>(&about.place)) made.kind = *kind;
    if (task != kNoTask) made.task = static_cast<std::int32_t>(numbers_[task]);
    parts_.task_of.push_back(task);
    return made;
  }

  template <typename Visit>
  void for_each_task(const Visit& visit) {
    for (std::uint32_t t = 0; t < parts_.tasks.size(); ++t) visit(t, parts_.tasks[t].name);
  }
  // Calls visit(task, its name, position) for each requirement that gets an instance.
  template <typename Visit>
  void for_each_argument(const Visit& visit) {
    for_each_task([&](std::uint32_t t, const std::string& name) {
      const std::vector<app::Requirement>& all = app_.tasks[numbers_[t]].requirements;
      for (std::size_t r = 0; r < all.size(); ++r) {
        if (is_mapped(all[r])) visit(t, name, std::to_string(r));
      }
    });
  }

  // Adds Region decisions for each kind of processor: one for each argument or, with another grain,
  // one for each name of data.
  void add_regions(SearchGranularity grain) {
    const auto add_kinds = [&](std::uint32_t task, const std::string& name,
                               const std::string& which, const std::string& region) {
      for (ProcKind kind : kinds_) {
        add({.kind = MappingStatement::kRegion, .tasks = {name}, .regions = {which}, .place = kind},
            task, &Statement::memories, memories_)
            .region = region;
      }
    };
    if (grain == SearchGranularity::kArguments) {
      for_each_argument([&](std::uint32_t task, const std::string& name, const std::string& which) {
        add_kinds(task, name, which, "");
      });
    } else {
      for (const auto& [name, text] : region_names()) add_kinds(kNoTask, "*", text, name);
    }
  }

  // Adds Layout decisions. With the grain kArguments there is one for each argument and kind of
  // processor. Those for all tasks follow.
  void add_layouts(SearchGranularity grain) {
    Statement about{.kind = MappingStatement::kLayout};
    if (grain == SearchGranularity::kArguments) {
      for_each_argument([&](std::uint32_t task, const std::string& name, const std::string& which) {
        for (ProcKind kind : kinds_) {
          about.tasks = {name};
          about.regions = {which};
          about.place = kind;
          for (const auto& words : {kFieldOrders, kDimensionOrders, kAlignments}) {
            add(about, task, &Statement::layout, words);
          }
        }
      });
    }
    about.tasks = about.regions = {"*"};
    about.place = {};
    add(about, kNoTask, &Statement::layout, kFieldOrders, /*may_be_left_out=*/false);
    add(about, kNoTask, &Statement::layout, kDimensionOrders, /*may_be_left_out=*/false);
    add(about, kNoTask, &Statement::layout, {{{ConstraintWord::kCompact}}});
    add(about, kNoTask, &Statement::layout, {{{ConstraintWord::kExact}}});
    add(about, kNoTask, &Statement::layout, kAlignments);
  }

  // Adds the decisions about the mapping functions of one task: for its index launches, and for its
  // single launches.
  void add_functions(std::uint32_t t, const std::string& name) {
    const TaskLaunches& uses = uses_[numbers_[t]];
    const int dimensions = uses.least_dimensions();
    const bool single = std::any_of(uses.launches.begin(), uses.launches.end(),
                                    [](const app::DistinctLaunch& use) { return !use.domain; });
    if (dimensions > 0) {
      add({.kind = MappingStatement::kIndexTaskMap, .tasks = {name}}, t, &Statement::function,
          edit::index_functions(dimensions, uses.has_holes()));
    }
    if (single) {
      add({.kind = MappingStatement::kSingleTaskMap, .tasks = {name}}, t, &Statement::function,
          {std::string(edit::kSamePoint)});
    }
  }

  // Returns every name that launches use for a region which gets an instance, with its spelling in
  // statements. The order is that of the tasks.
  std::vector<std::pair<std::string, std::string>> region_names() const {
    std::vector<std::pair<std::string, std::string>> names;
    std::set<std::string> seen;
    for (std::uint32_t number : numbers_) {
      const std::vector<app::Requirement>& requirements = app_.tasks[number].requirements;
      for (std::size_t r = 0; r < requirements.size(); ++r) {
        if (!is_mapped(requirements[r])) continue;
        for (const app::LaunchNames& launch : uses_[number].name_lists) {
          for (const std::string& name : launch[r]) {
            const std::optional<std::string> text = syntax::name_as_written(name);
            if (text && seen.insert(*text).second) names.emplace_back(name, *text);
          }
        }
      }
    }
    return names;
  }

  std::vector<Decision>& decisions_;
  Parts parts_;
  const app::Data& app_;
  std::vector<ProcKind> kinds_;
  std::vector<std::vector<MemKind>> memories_;
  std::vector<TaskLaunches> uses_;
  // The index in the application of each task of the space.
  std::vector<std::uint32_t> numbers_;
};

SearchSpace::SearchSpace(const Machine& machine, const Workload& workload,
                         SearchGranularity grain) {
  parts_ = std::make_shared<const Parts>(Maker(decisions_, machine, workload.data()).make(grain));
}

// Writes the statements up to InstanceLimit, then the mapping functions that are used, then the
// statements that name them, then all other statements. A function must stand before the statement
// that names it.
std::string SearchSpace::text_of(const Choice& choice) const {
  std::string statements = beginning(), maps, rest;
  // The definitions of the mapping functions by name, so that each function is written once.
  std::map<std::string, std::string> functions;
  for (std::size_t d = 0; d < decisions_.size();) {
    const Decision& first = decisions_[d];
    std::optional<edit::StatementParts> made;
    std::size_t next = d;
    for (; next < decisions_.size() && decisions_[next].head == first.head; ++next) {
      const auto& part = parts_->statements[next][choice[next]];
      // Only Layout statements consist of several decisions.
      if (part && made) {
        made->layout.insert(made->layout.end(), part->layout.begin(), part->layout.end());
      } else if (part) {
        made = part;
      }
    }
    if (made && is_map(first.statement)) {
      const ProcKind kind = parts_->kind_of(parts_->tasks[parts_->task_of[d]], choice);
      const std::string name = edit::function_name_for(made->function, kind);
      functions.emplace(
          name, edit::function_definition(edit::named_function(made->function), kind, name));
      made->function = name;
    }
    d = next;
    if (!made) continue;
    std::string& text = first.statement <= MappingStatement::kInstanceLimit ? statements
                        : is_map(first.statement)                           ? maps
                                                                            : rest;
    text += made->statement_text() + ";\n";
  }
  std::string text = std::move(statements);
  for (const auto& [name, definition] : functions) text += "\n" + definition;
  if (!maps.empty()) text += "\n" + maps;
  if (!rest.empty()) text += "\n" + rest;
  return text;
}

// Each decision has its own random number, which depends only on the seed and on the position of
// the decision.
Choice SearchSpace::sample(std::uint64_t seed) const {
  Choice choice;
  for (std::size_t d = 0; d < decisions_.size(); ++d) {
    choice.push_back(random_below(random_at(seed, d), decisions_[d].options.size()));
  }
  return choice;
}

std::string SearchSpace::sample_text(std::uint64_t seed) const {
  return fmt::format("# Drawn at random, seed {}.\n\n", seed) + text_of(sample(seed));
}

}  // namespace groma::tuning
