// Names of a program that an application does not have.
#include <set>
#include <string_view>
#include <vector>

#include "groma/explain.h"
#include "syntax/parser.h"
#include "syntax/tree.h"

namespace groma {
namespace {

class NameChecker {
 public:
  NameChecker(const Program& program, const Application& app, Diagnostics& diags)
      : app_(app),
        diags_(diags),
        ignored_(program.source()),
        tree_(syntax::parse(program.source(), ignored_)) {
    for (const AppTask& task : app.tasks) {
      tasks_.insert(task.name);
      for (const AppRequirement& requirement : task.requirements) {
        regions_.insert(requirement.names.begin(), requirement.names.end());
      }
    }
  }

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

  const Application& app_;
  Diagnostics& diags_;
  Diagnostics ignored_;  // compile said it
  syntax::Tree tree_;
  std::set<std::string_view> tasks_, regions_;
  std::set<NameId> seen_tasks_, seen_regions_;
};

}  // namespace

void check_names(const Program& program, const Application& app, Diagnostics& diags) {
  NameChecker(program, app, diags).check();
}

}  // namespace groma
