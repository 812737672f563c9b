// check(), and the conversion of its diagnostics to JSON.
#include <fmt/format.h>

#include "explain/json.h"
#include "groma/inspect.h"
#include "inspect/idle_statements.h"

namespace groma {

// Each check needs the ones before it: text, then names, then the machine, then a rehearsed run.
std::optional<BoundProgram> check(const Source& source, const Machine* machine, const Workload* app,
                                  Diagnostics& diags, LogSink* log, const CheckOptions& options) {
  const Program program = compile(source, diags);
  if (app != nullptr) check_names(program, *app, diags);
  if (app != nullptr) inspect::check_replication(program, machine, *app, diags);
  if (machine == nullptr || diags.has_errors()) return std::nullopt;
  inspect::check_kinds(program, *machine, diags);
  auto bound = bind(program, *machine, diags, log);
  if (bound && app != nullptr) check_run(*bound, *app, diags, options);
  return bound;
}

// Warns if a parameter of the application states another number of nodes than the machine has.
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

std::string to_json(const std::vector<const Diagnostics*>& all) {
  OrderedJson list = OrderedJson::array();
  for (const Diagnostics* diags : all) {
    for (OrderedJson& diagnostic : json_of(*diags)) list.push_back(std::move(diagnostic));
  }
  return json_line({{"diagnostics", std::move(list)}});
}

}  // namespace groma
