// Names of a program that an application does not have.
#include <set>
#include <string_view>
#include <vector>

#include "app/data.h"
#include "groma/explain.h"
#include "syntax/parser.h"
#include "syntax/tree.h"

namespace groma {
namespace {

class NameChecker {
 public:
  NameChecker(const Program& program, const app::Data& app, Diagnostics& diags)
      : app_(app),
        diags_(diags),
        ignored_(program.source()),
        tree_(syntax::parse(program.source(), ignored_)) {
    for (const app::Task& task : app.tasks) {
      tasks_.insert(task.name);
      for (const app::Requirement& requirement : task.requirements) add(requirement.data.names);
    }
    for (const app::Region& region : app.regions) add(region.names);
    for (const app::Partition& partition : app.partitions) add(partition.names);
  }

  void check() {
    for (const syntax::Statement& statement : tree_.statements) {
      std::visit([this](const auto& node) { look_at(node); }, statement.node);
    }
  }

 private:
  void add(const app::Names& names) { regions_.insert(names.begin(), names.end()); }
  template <typename Node>
  void look_at(const Node& node) {
    if constexpr (requires { node.names; }) {
      for (const syntax::Name& name : tree_.names_of(node.names)) {
        look_at(DiagId::kUnknownTask, name.id, name.range, tasks_, seen_tasks_);
      }
    }
    if constexpr (requires { node.which; }) {
      for (const syntax::Which& region : syntax::Tree::slice(tree_.which, node.which)) {
        if (region.is_position) continue;
        look_at(DiagId::kUnknownRegion, region.value, region.range, regions_, seen_regions_);
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
  Diagnostics& diags_;
  Diagnostics ignored_;  // compile said it
  syntax::Tree tree_;
  std::set<std::string_view> tasks_, regions_;
  std::set<NameId> seen_tasks_, seen_regions_;
};

}  // namespace

void check_names(const Program& program, const Workload& app, Diagnostics& diags) {
  NameChecker(program, app.data(), diags).check();
}

}  // namespace groma
