// The names that an application has: which of a program's it does not have, and a grammar of no
// others.
#include <algorithm>
#include <set>
#include <string_view>
#include <vector>

#include "app/data.h"
#include "groma/explain.h"
#include "groma/inspect.h"
#include "syntax/parser.h"
#include "syntax/tree.h"

namespace groma {
namespace {

struct AppNames {
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

class NameChecker {
 public:
  NameChecker(const Program& program, const app::Data& app, Diagnostics& diags)
      : app_(app),
        names_(app),
        diags_(diags),
        ignored_(program.source()),
        tree_(syntax::parse(program.source(), ignored_)) {}

  void check() {
    for (const syntax::Statement& statement : tree_.statements) {
      std::visit([this](const auto& node) { look_at(node); }, statement.node);
    }
  }

 private:
  template <typename Node>
  void look_at(const Node& node) {
    if constexpr (requires { node.names; }) {
      for (const syntax::Name& name : tree_.names_of(node.names)) {
        look_at(DiagId::kUnknownTask, name.id, name.range, names_.tasks, seen_tasks_);
      }
    }
    if constexpr (requires { node.which; }) {
      for (const syntax::Which& region : syntax::Tree::slice(tree_.which, node.which)) {
        if (region.is_position) continue;
        look_at(DiagId::kUnknownRegion, region.value, region.range, names_.regions, seen_regions_);
      }
    }
  }

  void look_at(DiagId id, NameId name, Range range, const std::set<std::string_view>& known,
               std::set<NameId>& seen) {
    const std::string_view text = tree_.table.text(name);
    if (name == kStarName || known.contains(text)) return;
    if (seen.size() == kMaxErrors || !seen.insert(name).second) return;
    const std::vector<std::string_view> candidates(known.begin(), known.end());
    Diagnostic& diagnostic = diags_.report(id, range, app_.name, text);
    suggest(diagnostic.lower_to(Severity::kWarning), text, candidates);
  }

  const app::Data& app_;
  const AppNames names_;
  Diagnostics& diags_;
  Diagnostics ignored_;  // compile said it
  syntax::Tree tree_;
  std::set<NameId> seen_tasks_, seen_regions_;
};

}  // namespace

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
