// What the embedded runtime would refuse of a program's answers.
#include <atomic>

#include "groma/index_map.h"
#include "groma/inspect.h"
#include "groma/program_mapper.h"
#include "inspect/locate.h"
#include "simulate/rehearsal.h"

namespace groma {
namespace {

// As many as two launches at the limit have (kMaxQuestionSteps): some twenty seconds.
constexpr int kMostAsked = static_cast<int>(2 * kMaxQuestionSteps >> 16);

}  // namespace

void check_run(const BoundProgram& bound, const Workload& app, Diagnostics& diags,
               const CheckOptions& options) {
  // How often functions that take long asked whether to stop: once in 2^16 steps.
  std::atomic<int> asked = 0;
  const auto stops = [&] { return asked > kMostAsked || (options.stop && options.stop()); };
  const auto shared = ProgramMapper::share(bound, nullptr, [&] {
    ++asked;
    return stops();
  });
  const auto machine = bound.shared_machine();
  sim::RehearsalOptions rehearsal;
  rehearsal.max_steps = options.max_steps;
  rehearsal.max_bytes = options.max_bytes;
  rehearsal.stop = stops;
  rehearsal.first_error = options.first_error;
  sim::RehearsalResult result = sim::rehearse(
      app, machine,
      [&](const Processor& local) {
        return std::make_unique<ProgramMapper>(shared, MapperSite{machine, local});
      },
      rehearsal);
  for (const Refusal& refusal : result.findings) add_located(bound.program(), refusal, diags);
  if (asked > kMostAsked) result.incomplete = "its mapping functions take too long";
  if (!result.incomplete.empty()) {
    diags.report(DiagId::kCheckIncomplete, std::nullopt, app.name(), result.incomplete);
  }
}

}  // namespace groma
