// check() finds mistakes in a mapping without a run. This file also converts the diagnostics of
// several sources to JSON.
#include <fmt/format.h>

#include "explain/json.h"
#include "groma/inspect.h"
#include "inspect/idle_statements.h"

namespace groma {

// Checks the text, then the names, then what the machine lacks, then the answers of the mapping in
// a rehearsed run. Each check needs the results of those before it, so an error ends the sequence.
// Returns the bound program, or nullopt without a machine or after an error.
std::optional<BoundProgram> check(const Source& source, const Machine* machine, const Workload* app,
                                  Diagnostics& diags, LogSink* log, const CheckOptions& options) {
  auto bound = check_text(source, machine, app, diags, log);
  if (bound && app != nullptr) check_run(*bound, *app, diags, options);
  return bound;
}

std::optional<BoundProgram> check_text(const Source& source, const Machine* machine,
                                       const Workload* app, Diagnostics& diags, LogSink* log) {
  const Program program = compile(source, diags);
  if (app != nullptr) check_names(program, *app, diags);
  const bool when = program.has_conditions() && machine != nullptr;
  if (app != nullptr && !when) {
    inspect::warn_of_replication_without_effect(program, machine, *app, diags);
    inspect::warn_of_maps_for_other_launches(program, *app, diags);
    inspect::warn_of_selectors_without_launches(program, *app, diags);
  }
  if (machine == nullptr || diags.has_errors()) return std::nullopt;
  // The machine decides which `when` blocks act, so the program is bound before it is compared with
  // the machine.
  if (!program.has_conditions()) inspect::warn_of_missing_kinds(program, *machine, diags);
  auto bound = bind(program, *machine, diags, log);
  if (bound && program.has_conditions()) {
    inspect::warn_of_missing_kinds(bound->program(), *machine, diags);
    if (app != nullptr) {
      inspect::warn_of_replication_without_effect(bound->program(), machine, *app, diags);
      inspect::warn_of_maps_for_other_launches(bound->program(), *app, diags);
      inspect::warn_of_selectors_without_launches(bound->program(), *app, diags);
    }
  }
  return bound;
}

// Warns if a parameter of the application states another number of nodes than the machine has. The
// mapping would then be checked or run for a case that the user does not mean.
void check_nodes(const Machine& machine, const Application& app, Diagnostics& diags) {
  for (const AppParameter& parameter : app.parameters) {
    if (!parameter.counts_nodes || parameter.value == machine.node_count()) continue;
    diags
        .report(DiagId::kNodesDiffer, std::nullopt, app.name, parameter.value,
                parameter.value == 1 ? "" : "s", machine.name(), machine.node_count())
        .help(fmt::format("`{}={}` behind the application is for that machine", parameter.name,
                          machine.node_count()));
  }
}

// Returns the diagnostics of all sources in one list.
std::string to_json(const std::vector<const Diagnostics*>& all) {
  OrderedJson list = OrderedJson::array();
  for (const Diagnostics* diags : all) {
    for (OrderedJson& diagnostic : json_of(*diags)) list.push_back(std::move(diagnostic));
  }
  return json_line({{"diagnostics", std::move(list)}});
}

}  // namespace groma
