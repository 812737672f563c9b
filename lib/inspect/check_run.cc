// What the embedded runtime would refuse of a program's answers.
#include "groma/inspect.h"
#include "groma/program_mapper.h"
#include "inspect/locate.h"
#include "simulate/rehearsal.h"

namespace groma {
void check_run(const BoundProgram& bound, const Workload& app, Diagnostics& diags,
               const CheckOptions& options) {
  const auto shared = ProgramMapper::share(bound);
  const auto machine = bound.shared_machine();
  sim::RehearsalOptions rehearsal;
  rehearsal.max_steps = options.max_steps;
  rehearsal.stop = options.stop;
  rehearsal.first_error = options.first_error;
  sim::RehearsalResult result = sim::rehearse(
      app, machine,
      [&](const Processor& local) {
        return std::make_unique<ProgramMapper>(shared, MapperSite{machine, local});
      },
      rehearsal);
  for (const Refusal& refusal : result.findings) add_located(bound.program(), refusal, diags);
  if (!result.incomplete.empty()) {
    diags.report(DiagId::kCheckIncomplete, std::nullopt, app.name(), result.incomplete);
  }
}

}  // namespace groma
