// check(), and mend(), which applies the fixes that are certain.
#include <fmt/format.h>

#include "groma/inspect.h"

namespace groma {

std::optional<BoundProgram> check(const Source& source, const Machine* machine, const Workload* app,
                                  Diagnostics& diags, LogSink* log, const CheckOptions& options) {
  const Program program = compile(source, diags);
  if (app != nullptr) check_names(program, *app, diags);
  if (machine == nullptr || diags.has_errors()) return std::nullopt;
  auto bound = bind(program, *machine, diags, log);
  if (bound && app != nullptr) check_run(*bound, *app, diags, options);
  return bound;
}

// Warns if a parameter of the application states another number of nodes than the machine has.
void check_nodes(const Machine& machine, const Application& app, Diagnostics& diags) {
  for (const AppParameter& parameter : app.parameters) {
    const bool meant = parameter.meaning.starts_with("nodes of the machine");
    if (!meant || parameter.value == machine.node_count()) continue;
    diags
        .report(DiagId::kNodesDiffer, std::nullopt, app.name, parameter.value,
                parameter.value == 1 ? "" : "s", machine.name(), machine.node_count())
        .help(fmt::format("`{}={}` behind the application is for that machine", parameter.name,
                          machine.node_count()));
  }
}

// Applies the certain fixes until none is left. `made` receives their number.
Source mend(const Source& source, std::size_t* made) {
  constexpr int kMaxRounds = 20;  // far more rounds than fixes that depend on each other
  Source text = source;
  *made = 0;
  for (int round = 0; round < kMaxRounds; ++round) {
    Diagnostics diags(text);
    compile(text, diags);
    std::vector<Fix> sure;
    for (const Diagnostic& diagnostic : diags.all()) {
      for (const Fix& fix : diagnostic.fixes) {
        if (fix.sure) sure.push_back(fix);
      }
    }
    std::size_t done = 0;
    std::string next = apply_fixes(text, sure, &done);
    if (done == 0) break;
    *made += done;
    text = Source(source.name(), std::move(next));
  }
  return text;
}

}  // namespace groma
