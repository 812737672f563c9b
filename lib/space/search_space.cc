// SearchSpace: the decisions of an application on a machine, and the mapping for a choice of
// options.
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

namespace groma {
namespace {

constexpr std::array kBeginningKinds = {ProcKind::kGpu, ProcKind::kOmp, ProcKind::kCpu};

// Returns the statements at the beginning of every mapping, from the mappers printed in the paper
// (A4, A6, A7).
std::string beginning() {
  const edit::Statement kinds{.tasks = {"*"},
                              .processors = {kBeginningKinds.begin(), kBeginningKinds.end()}};
  edit::Statement region{
      .kind = MappingStatement::kRegion, .tasks = {"*"}, .regions = {"*"}, .place = ProcKind::kGpu};
  region.memories = {MemKind::kFbmem};
  std::string text = fmt::format("{};\n{};\n", kinds.str(), region.str());
  region.place = {};
  region.memories = {MemKind::kSockmem, MemKind::kSysmem};
  return text + region.str() + ";\n";
}

// Returns every list of distinct elements of `kinds`, in every order, shortest lists first.
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
  return lists;
}

std::vector<ProcKind> kinds_of(const Machine& machine) {
  std::vector<ProcKind> kinds;
  for (std::size_t k = 0; k < kProcKindCount; ++k) {
    if (machine.has(static_cast<ProcKind>(k))) kinds.push_back(static_cast<ProcKind>(k));
  }
  return kinds;
}

std::vector<std::string> memories_of(const Machine& machine) {
  std::vector<std::string> names = {""};
  for (std::size_t k = 0; k < kMemKindCount; ++k) {
    const auto kind = static_cast<MemKind>(k);
    const auto has = [&](const NodeType& node) { return node.find(kind) != nullptr; };
    const std::vector<NodeType>& nodes = machine.node_types();
    if (std::any_of(nodes.begin(), nodes.end(), has)) names.emplace_back(name_of(kind));
  }
  return names;
}

const std::vector<std::string> kOrders = {"", "SOA", "AOS"};
const std::vector<std::string> kDimensions = {"", "C_order", "F_order"};
const std::vector<std::string> kAlignments = {"", "Align==64", "Align==128"};

bool is_mapped(const app::Requirement& requirement) {
  return !requirement.fields.empty() && requirement.privilege != Privilege::kNoAccess;
}

}  // namespace

// Makes the decisions: for each kind of statement, the decisions of all tasks. The order is that in
// which the paper's agent joins statements (A.6); statements that the agent omits come last.
class SearchSpace::Maker {
 public:
  Maker(SearchSpace& space, const Machine& machine, const app::Data& app)
      : space_(space), app_(app), kinds_(kinds_of(machine)), memories_(memories_of(machine)) {
    bool complete = true;
    uses_ = uses_by_task(app, complete);
    const bool knows = std::any_of(uses_.begin(), uses_.end(),
                                   [](const TaskUses& uses) { return !uses.uses.empty(); });
    for (std::uint32_t t = 0; t < app.tasks.size(); ++t) {
      if (static_cast<int>(t) == app.top_level || (knows && uses_[t].uses.empty())) continue;
      const std::optional<std::string> name = syntax::written_name(app.tasks[t].name);
      if (!name) continue;
      Task& task = space.tasks_.emplace_back();
      task.name = *name;
      for (const app::Variant& variant : app.tasks[t].variants) {
        if (machine.has(variant.kind)) task.variants.push_back(variant.kind);
      }
      numbers_.push_back(t);
    }
  }

  // Makes all decisions in the order of the statements.
  void make(SpaceGrain grain) {
    space_.kind_lists_ = lists_of(kinds_);
    std::vector<std::string> lists;
    for (const std::vector<ProcKind>& list : space_.kind_lists_) lists.push_back(edit::str(list));
    for_each_task([&](std::uint32_t t, const std::string& name) {
      space_.tasks_[t].decision = static_cast<std::uint32_t>(space_.decisions_.size());
      add({.tasks = {name}}, t, lists);
    });
    add_regions(grain);
    add_layouts(grain);
    for_each_task([&](std::uint32_t t, const std::string& name) {
      add({.kind = MappingStatement::kInstanceLimit, .tasks = {name}}, t, {"", "1", "2", "4", "8"});
    });
    for_each_task([&](std::uint32_t t, const std::string& name) { add_functions(t, name); });
    for_each_task([&](std::uint32_t t, const std::string& name) {
      add({.kind = MappingStatement::kCollectMemory, .tasks = {name}}, t, {"", "*"});
    });
    add({.kind = MappingStatement::kControlReplicate}, kNoTask, {"", "*"});
    for (ProcKind kind : kinds_) {
      add({.kind = MappingStatement::kTaskSteal, .tasks = {"*"}, .place = kind}, kNoTask,
          {"", "SAME_NODE", "ANY_NODE"});
    }
  }

 private:
  static constexpr std::uint32_t kNoTask = 0xFFFFFFFF;

  // Adds a decision about what a statement says. The statement only has the parts that come first.
  Decision& add(const edit::Statement& about, std::uint32_t task,
                std::vector<std::string> options) {
    Decision& made =
        space_.decisions_.emplace_back(Decision{about.kind, about.key(), std::move(options)});
    if (const auto* kind = std::get_if<ProcKind>(&about.place)) made.kind = *kind;
    if (task != kNoTask) made.task = static_cast<std::int32_t>(numbers_[task]);
    space_.task_of_.push_back(task);
    return made;
  }

  template <typename Visit>
  void for_each_task(const Visit& visit) {
    for (std::uint32_t t = 0; t < space_.tasks_.size(); ++t) visit(t, space_.tasks_[t].name);
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

  // Adds Region decisions by argument or by name, as the grain says.
  void add_regions(SpaceGrain grain) {
    const auto add_kinds = [&](std::uint32_t task, const std::string& name,
                               const std::string& which, const std::string& region) {
      for (ProcKind kind : kinds_) {
        add({.kind = MappingStatement::kRegion, .tasks = {name}, .regions = {which}, .place = kind},
            task, memories_)
            .region = region;
      }
    };
    if (grain == SpaceGrain::kArguments) {
      for_each_argument([&](std::uint32_t task, const std::string& name, const std::string& which) {
        add_kinds(task, name, which, "");
      });
    } else {
      for (const auto& [name, text] : region_names()) add_kinds(kNoTask, "*", text, name);
    }
  }

  // Adds Layout decisions: by argument if the grain says so, then those for all tasks.
  void add_layouts(SpaceGrain grain) {
    edit::Statement about{.kind = MappingStatement::kLayout};
    if (grain == SpaceGrain::kArguments) {
      for_each_argument([&](std::uint32_t task, const std::string& name, const std::string& which) {
        for (ProcKind kind : kinds_) {
          about.tasks = {name};
          about.regions = {which};
          about.place = kind;
          for (const auto& options : {kOrders, kDimensions, kAlignments}) {
            add(about, task, options);
          }
        }
      });
    }
    about.tasks = about.regions = {"*"};
    about.place = {};
    add(about, kNoTask, {"SOA", "AOS"});
    add(about, kNoTask, {"C_order", "F_order"});
    add(about, kNoTask, {"", "Compact"});
    add(about, kNoTask, {"", "Exact"});
    add(about, kNoTask, kAlignments);
  }

  // Adds the decisions about mapping functions of one task.
  void add_functions(std::uint32_t t, const std::string& name) {
    int dimensions = 0;  // smallest number of dimensions among the task's index launches
    bool single = false;
    for (const app::Use& use : uses_[numbers_[t]].uses) {
      if (!use.domain) {
        single = true;
      } else if (dimensions == 0 || use.domain->dimensions() < dimensions) {
        dimensions = use.domain->dimensions();
      }
    }
    if (dimensions > 0) {
      std::vector<std::string> options = edit::index_functions(dimensions);
      options.insert(options.begin(), "");
      add({.kind = MappingStatement::kIndexTaskMap, .tasks = {name}}, t, std::move(options));
    }
    if (single) {
      add({.kind = MappingStatement::kSingleTaskMap, .tasks = {name}}, t,
          {"", std::string(edit::kSamePoint)});
    }
  }

  // Returns every name that launches use for a mapped region, with its spelling in statements, in
  // the order of the launches' tasks.
  std::vector<std::pair<std::string, std::string>> region_names() const {
    std::vector<std::pair<std::string, std::string>> names;
    std::set<std::string> seen;
    for (std::uint32_t number : numbers_) {
      const std::vector<app::Requirement>& requirements = app_.tasks[number].requirements;
      for (std::size_t r = 0; r < requirements.size(); ++r) {
        if (!is_mapped(requirements[r])) continue;
        for (const app::LaunchNames& launch : uses_[number].names) {
          for (const std::string& name : launch[r]) {
            const std::optional<std::string> text = syntax::written_name(name);
            if (text && seen.insert(*text).second) names.emplace_back(name, *text);
          }
        }
      }
    }
    return names;
  }

  SearchSpace& space_;
  const app::Data& app_;
  std::vector<ProcKind> kinds_;
  std::vector<std::string> memories_;
  std::vector<TaskUses> uses_;
  std::vector<std::uint32_t> numbers_;  // index in the application, by task of the space
};

SearchSpace::SearchSpace(const Machine& machine, const Workload& workload, SpaceGrain grain) {
  Maker(*this, machine, workload.data()).make(grain);
}

// Returns the first kind of the chosen list for which the task has a variant. Without such a kind,
// returns the first of the list, which no machine can run.
ProcKind SearchSpace::kind_of(const Task& task, const Choice& choice) const {
  const std::vector<ProcKind>& chosen = kind_lists_[choice[task.decision]];
  const std::span<const ProcKind> list = chosen.empty() ? std::span<const ProcKind>(kBeginningKinds)
                                                        : std::span<const ProcKind>(chosen);
  for (ProcKind kind : list) {
    if (std::find(task.variants.begin(), task.variants.end(), kind) != task.variants.end()) {
      return kind;
    }
  }
  return list.front();
}

// Writes the statements, then the functions that they use, then the maps, then the rest.
std::string SearchSpace::text_of(const Choice& choice) const {
  std::string statements = beginning(), maps, rest;
  std::map<std::string, std::string> functions;  // by name, so that each function is written once
  for (std::size_t d = 0; d < decisions_.size();) {
    const Decision& first = decisions_[d];
    std::string words;
    for (; d < decisions_.size() && decisions_[d].head == first.head; ++d) {
      const std::string& option = decisions_[d].options[choice[d]];
      if (option.empty()) continue;
      words += ' ';
      if (first.statement == MappingStatement::kIndexTaskMap ||
          first.statement == MappingStatement::kSingleTaskMap) {
        const ProcKind kind = kind_of(tasks_[task_of_[d]], choice);
        const std::string name = edit::name_for(option, kind);
        functions.emplace(name, edit::definition(edit::named_function(option), kind, name));
        words += name;
      } else {
        words += option;
      }
    }
    if (words.empty()) continue;
    std::string& part = first.statement <= MappingStatement::kInstanceLimit ? statements
                        : first.statement == MappingStatement::kIndexTaskMap ||
                                first.statement == MappingStatement::kSingleTaskMap
                            ? maps
                            : rest;
    part += first.head + words + ";\n";
  }
  std::string text = std::move(statements);
  for (const auto& [name, definition] : functions) text += "\n" + definition;
  if (!maps.empty()) text += "\n" + maps;
  if (!rest.empty()) text += "\n" + rest;
  return text;
}

Choice SearchSpace::sample(std::uint64_t seed) const {
  Choice choice;
  for (std::size_t d = 0; d < decisions_.size(); ++d) {
    choice.push_back(below(random_at(seed, d), decisions_[d].options.size()));
  }
  return choice;
}

std::string SearchSpace::sample_text(std::uint64_t seed) const {
  return fmt::format("# Drawn at random, seed {}.\n\n", seed) + text_of(sample(seed));
}

}  // namespace groma
