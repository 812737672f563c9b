// Uses the names of an application: warns about names in a program that the application does not
// have, and collects the names for a grammar that allows no other names.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <vector>

#include "app/data.h"
#include "base/name_pattern.h"
#include "explain/explain_query.h"
#include "groma/explain.h"
#include "groma/spelling.h"
#include "syntax/parser.h"
#include "syntax/tree.h"

namespace groma {
namespace {

// The names of an application: those of its tasks, and those of its regions and partitions
// together.
struct AppNames {
  // Collects also the names that a task gives to its requirements.
  explicit AppNames(const app::Data& app) {
    for (const app::Task& task : app.tasks) {
      tasks.insert(task.name);
      for (const app::Requirement& requirement : task.requirements) add(requirement.data.names);
    }
    for (const app::Region& region : app.regions) add(region.names);
    for (const app::Partition& partition : app.partitions) add(partition.names);
  }
  void add(const app::Names& names) { regions.insert(names.begin(), names.end()); }

  std::set<std::string_view> tasks, regions;
};

// Warns about names in the statements of a program. Works on the syntax tree, because the checked
// program does not have the place of each name.
class NameChecker {
 public:
  // Parses the program again and collects the names of the regions of each task, over all its
  // launches.
  NameChecker(const Program& program, const app::Data& app, Diagnostics& diags)
      : app_(app),
        names_(app),
        diags_(diags),
        ignored_(program.source()),
        tree_(syntax::parse(program.source(), ignored_)) {
    bool complete = true;
    uses_ = launches_by_task(app, complete);
    for (std::size_t t = 0; t < app.tasks.size(); ++t) {
      const app::Task& task = app.tasks[t];
      Regions& own = of_task_[task.name];
      own.count = static_cast<std::uint32_t>(task.requirements.size());
      for (const app::Requirement& requirement : task.requirements) {
        own.names.insert(requirement.data.names.begin(), requirement.data.names.end());
      }
      for (const app::LaunchNames& launch : uses_[t].name_lists) {
        for (const app::Names& names : launch) own.names.insert(names.begin(), names.end());
      }
      own.all = complete;
    }
  }

  // Checks all statements in the order of the text.
  void check() {
    for (const syntax::NameUse& word : tree_.selected_names) {
      look_at(DiagId::kUnknownTask, word.id, word.range, names_.tasks, seen_tasks_);
    }
    for (const syntax::Statement& statement : tree_.statements) {
      std::visit([this](const auto& node) { look_at(node); }, statement.node);
    }
  }

 private:
  // Checks the task and region names of a statement. The kind of the statement decides which names
  // it has.
  template <typename Node>
  void look_at(const Node& node) {
    if constexpr (requires { node.names; }) {
      for (const syntax::NameUse& name : tree_.names_of(node.names)) {
        look_at(DiagId::kUnknownTask, name.id, name.range, names_.tasks, seen_tasks_);
      }
    }
    if constexpr (requires { node.which; }) {
      for (const syntax::RegionRef& region :
           syntax::Tree::entries_of(tree_.region_refs, node.which)) {
        if (!region.is_position) {
          look_at(DiagId::kUnknownRegion, region.value, region.range, names_.regions,
                  seen_regions_);
        }
        look_at(tree_.names_of(node.names), region);
      }
    }
  }

  // Warns if none of the tasks that the statement names has the region. Says nothing if the
  // statement is about all tasks, or if no task of the application has the region, because another
  // warning says that.
  void look_at(std::span<const syntax::NameUse> tasks, const syntax::RegionRef& region) {
    const bool star = !region.is_position && region.value == kStarName;
    const std::string_view name = region.is_position ? "" : tree_.name_table.text(region.value);
    if (star || (!region.is_position && !names_.regions.contains(name))) return;
    std::set<std::string_view> without;
    for (const syntax::NameUse& task : tasks) {
      if (!tree_.name_table.is_name(task.id) || --pairs_ < 0) return;
      const auto found = of_task_.find(tree_.name_table.text(task.id));
      if (found == of_task_.end()) continue;
      const Regions& has = found->second;
      if (!has.all) return;
      if (region.is_position ? region.value < has.count : has.names.contains(name)) return;
      without.insert(found->first);
    }
    if (without.empty() || idle_++ >= kMaxErrors) return;
    constexpr std::size_t kListed = 8;
    std::vector<std::string_view> listed, candidates;
    for (const std::string_view task : without) {
      if (listed.size() == kListed) break;
      listed.push_back(task);
      const auto& names = of_task_.at(task).names;
      candidates.insert(candidates.end(), names.begin(), names.end());
    }
    Diagnostic& diagnostic = diags_.report(
        DiagId::kMatchesNothing, region.range,
        fmt::format("{} {}", join_names(listed, "and"), listed.size() == 1 ? "has" : "have"),
        region.is_position ? std::to_string(region.value) : fmt::format("`{}`", name));
    std::sort(candidates.begin(), candidates.end());
    candidates.erase(std::unique(candidates.begin(), candidates.end()), candidates.end());
    if (suggest(diagnostic, name, candidates) || candidates.empty()) return;
    if (candidates.size() <= kListed)
      diagnostic.note("its regions are " + join_names(candidates, "and"));
  }

  // Warns about a name that is not in `known` or a pattern that matches nothing in `known`, once
  // for each name (`seen`).
  void look_at(DiagId id, NameId name, Range range, const std::set<std::string_view>& known,
               std::set<NameId>& seen) {
    const std::string_view text = tree_.name_table.text(name);
    const bool pattern = tree_.name_table.is_pattern(name);
    if (name == kStarName || (!pattern && known.contains(text))) return;
    // The words of a selector are looked at one by one.
    if (tree_.name_table.selector(name) != nullptr) return;
    if (seen.contains(name)) return;
    if (pattern && std::any_of(known.begin(), known.end(), [&](std::string_view each) {
          return matches_pattern(each, text);
        })) {
      return;
    }
    if (seen.size() == kMaxErrors || !seen.insert(name).second) return;
    const std::vector<std::string_view> candidates(known.begin(), known.end());
    Diagnostic& diagnostic = diags_.report(id, range, app_.name, text).lower_to(Severity::kWarning);
    const bool is_region = id == DiagId::kUnknownRegion;
    if (pattern) {
      diagnostic.note(
          fmt::format("no {} has a name that this pattern matches", is_region ? "region" : "task"));
    }
    if (is_region && add_help_for_description_name(diagnostic, text, app_, uses_)) return;
    suggest(diagnostic, text, candidates);
  }

  // The names and the number of a task's region requirements.
  struct Regions {
    std::set<std::string_view> names;
    std::uint32_t count = 0;
    // True if all launches of the task are known. Otherwise another launch may use any region.
    bool all = true;
  };

  const app::Data& app_;
  const AppNames names_;
  // The launches of each task. The texts of the names in of_task_ belong to these launches.
  std::vector<TaskLaunches> uses_;
  Diagnostics& diags_;
  // Errors of the parser are dropped, because compile() has reported them.
  Diagnostics ignored_;
  syntax::Tree tree_;
  std::map<std::string_view, Regions> of_task_;
  std::set<NameId> seen_tasks_, seen_regions_;
  std::size_t idle_ = 0;
  // Limit on the pairs of a task and a region that are examined.
  std::int64_t pairs_ = std::int64_t{1} << 20;
};

}  // namespace

// Collects the names. If `app` is null, all kinds of processors of the machine are allowed. VIRTUAL
// is always allowed.
GrammarNames grammar_names(const Workload* app, const Machine* machine) {
  GrammarNames names;
  std::set<ProcKind> variants;
  if (app != nullptr) {
    const AppNames known(app->data());
    names.tasks.assign(known.tasks.begin(), known.tasks.end());
    names.regions.assign(known.regions.begin(), known.regions.end());
    std::size_t most = 0;
    for (const app::Task& task : app->data().tasks) {
      most = std::max(most, task.requirements.size());
      for (const app::Variant& variant : task.variants) variants.insert(variant.kind);
    }
    names.requirements = static_cast<int>(most);
  }
  for (std::size_t i = 0; i < kProcKindCount; ++i) {
    const auto kind = static_cast<ProcKind>(i);
    const bool wanted = app == nullptr || variants.contains(kind);
    const bool there = machine == nullptr || machine->has(kind);
    if (wanted && there) names.processors.push_back(kind);
  }
  if (machine == nullptr) return names;
  for (std::size_t i = 0; i < kMemKindCount; ++i) {
    const auto kind = static_cast<MemKind>(i);
    const auto& types = machine->node_types();
    const bool there = std::any_of(types.begin(), types.end(), [kind](const NodeType& type) {
      const MemoryGroup* group = type.find(kind);
      return group != nullptr && group->capacity_bytes > 0;
    });
    if (there || kind == MemKind::kVirtual) names.memories.push_back(kind);
  }
  return names;
}

void check_names(const Program& program, const Workload& app, Diagnostics& diags) {
  NameChecker(program, app.data(), diags).check();
}

}  // namespace groma
