// MappingProblem: collects the inputs of a search for mappings, and checks before the search that
// it can succeed at all.
#include "groma/mapping_problem.h"

#include <algorithm>
#include <utility>

#include "groma/evaluate.h"
#include "groma/explain.h"
#include "groma/program.h"

namespace groma::tuning {
namespace {

// Returns the diagnostics if some task of the workload has no variant for any processor of the
// machine, so that no mapping could run it. Otherwise returns nullopt.
std::optional<Diagnostics> cannot_begin(const Machine& machine, const Workload& workload,
                                        const std::string& name, CheckOptions options) {
  Diagnostics diags(Source(name, ""));
  const auto bound = bind(compile(diags.source(), diags), machine, diags);
  if (!bound) return diags;
  // The empty program is the default mapper. It is checked because a task that has no usable
  // variant fails under every mapping. The warning that the program has no statements is dropped.
  diags.clear();
  options.first_error = true;
  check_run(*bound, workload, diags, options);
  const auto& all = diags.all();
  const bool without = std::any_of(
      all.begin(), all.end(), [](const Diagnostic& each) { return each.id == DiagId::kNoVariant; });
  return without ? std::optional(std::move(diags)) : std::nullopt;
}

// Returns the errors of a start as warnings if all of them are about lack of memory, and nullopt if
// there is another error. A search can find a mapping that needs less memory.
std::optional<Diagnostics> lack_of_memory(const Diagnostics& said) {
  Diagnostics warnings(said.source());
  for (const Diagnostic& each : said.all()) {
    const bool is_error = each.severity == Severity::kError;
    if (is_error && each.id != DiagId::kOutOfMemory) return std::nullopt;
    Diagnostic& warning = warnings.add(each.id, each.range, each.args);
    warning.lower_to(Severity::kWarning);
    warning.notes = each.notes;
  }
  return warnings;
}

}  // namespace

MappingProblem::MappingProblem(std::optional<Source> start, CheckOptions check, bool check_names)
    : start_(std::move(start)), check_(std::move(check)), check_names_(check_names) {
  if (start_) problem.start = std::string(start_->text());
}

// Adds an input: an application on a machine with its parameters. Returns diagnostics if the search
// cannot begin with this input. Remarks that do not prevent the search are added to `notes`.
std::optional<Diagnostics> MappingProblem::add(const std::string& name, const Machine& machine,
                                               const Application& app, const Workload& workload) {
  if (!problem.machine) problem.machine = std::make_shared<const Machine>(machine);
  problem.inputs.push_back(workload);
  if (auto why = cannot_begin(machine, workload, name, check_)) return why;
  Diagnostics nodes(Source(name, ""));
  check_nodes(machine, app, nodes);
  if (!nodes.all().empty()) notes.push_back(std::move(nodes));
  return start_ ? check_start(machine, workload) : std::nullopt;
}

// Checks the text with which the search begins against one input. Returns the diagnostics if it has
// errors, except a lack of memory, which becomes a warning in `notes`.
std::optional<Diagnostics> MappingProblem::check_start(const Machine& machine,
                                                       const Workload& workload) {
  Diagnostics said(*start_);
  check(*start_, &machine, &workload, said, nullptr, check_);
  if (said.has_errors()) {
    auto warnings = lack_of_memory(said);
    if (!warnings) return said;
    notes.push_back(*std::move(warnings));
  }
  // A name in the mapping that the application does not have is allowed, but probably a mistake.
  if (!check_names_) return std::nullopt;
  said.clear();
  Diagnostics names(*start_);
  groma::check_names(compile(*start_, said), workload, names);
  if (!names.all().empty()) notes.push_back(std::move(names));
  return std::nullopt;
}

}  // namespace groma::tuning
