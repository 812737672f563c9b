// Reports refusals, which are diagnostics of a runtime about a mapper's answer, at the statements
// that caused them.
#include "explain/locate.h"

#include "mapper/default_policy.h"

namespace groma {
namespace {

// Adds a copy of a refusal's diagnostic, with its notes and helps, at `range`. Also adds the
// suggestion that fits the diagnostic, if there is one.
void add(const Diagnostic& from, const std::optional<Range>& range, Diagnostics& diags) {
  Diagnostic& to = diags.add(from.id, range, from.args);
  to.lower_to(from.severity);
  to.causes = from.causes;
  to.notes = from.notes;
  to.helps = from.helps;
  mapper::add_refusal_help(to);
}

}  // namespace

// Adds the diagnostic of a refusal. If it has no range of its own, it stands at the whole
// statement.
void add_refusal_at_statement(const Program& program, const Refusal& refusal, Diagnostics& diags) {
  std::optional<Range> range = refusal.diagnostic.range;
  if (!range && refusal.origin) range = program.range(refusal.origin);
  add(refusal.diagnostic, range, diags);
}

void add_refusal_without_place(const Refusal& refusal, Diagnostics& diags) {
  add(refusal.diagnostic, std::nullopt, diags);
}

}  // namespace groma
