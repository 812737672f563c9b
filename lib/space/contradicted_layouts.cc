// Replaces Layout statements that contradict what the program's own mapper demands by comments, so
// that a random mapping does not fail because of them.
#include <algorithm>
#include <string>
#include <vector>

#include "app/data.h"
#include "groma/diagnostics.h"
#include "groma/inspect.h"
#include "groma/kinds.h"
#include "groma/search_space.h"
#include "groma/source.h"

namespace groma::tuning {
namespace {

// Returns true if the program's own mapper demands a layout for some task.
bool has_demands_of_mapper(const app::Data& app) {
  return std::ranges::any_of(app.tasks, [](const app::Task& task) {
    return std::ranges::any_of(task.variants, [](const app::Variant& variant) {
      return std::ranges::any_of(variant.demands, app::is_mapper_demand);
    });
  });
}

}  // namespace

// Repeats until nothing changes: checks the text, and replaces the statements that the check
// blames.
std::string without_contradicted_layouts(std::string text, const Machine& machine,
                                         const Workload& workload) {
  if (!has_demands_of_mapper(workload.data())) return text;
  while (true) {
    const Source source("sample", text);
    Diagnostics diags(source);
    check(source, &machine, &workload, diags);
    std::vector<Fix> fixes;
    for (const Diagnostic& diagnostic : diags.all()) {
      if (diagnostic.id != DiagId::kLayoutDemanded || !diagnostic.range) continue;
      const Range statement = *diagnostic.range;
      fixes.push_back(
          {"", {{statement, "# The program's own mapper asks for another layout."}}, true});
    }
    std::size_t replaced = 0;
    text = apply_fixes(source, fixes, &replaced);
    // Every replacement removes a statement, so the loop ends.
    if (replaced == 0) return text;
  }
}

}  // namespace groma::tuning
