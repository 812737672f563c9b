// What the embedded runtime would refuse of a program's answers, and what to write instead.
#include <fmt/format.h>

#include "groma/inspect.h"
#include "groma/program_mapper.h"
#include "inspect/locate.h"
#include "simulate/rehearsal.h"

namespace groma {
namespace {

const char* cure_of(DiagId id) {
  switch (id) {
    case DiagId::kNoVariant:
      return "name a kind for which it has a variant in its `Task` statement";
    case DiagId::kNoMemory:
      return "name a memory that its processor can address in a `Region` statement";
    case DiagId::kBadVirtual:
      return "name a memory instead of `VIRTUAL` in its `Region` statement";
    case DiagId::kLayoutRefused:
      return "write what its variant wants in its `Layout` statement";
    case DiagId::kOutOfMemory:
    case DiagId::kMayNotFit:
      return "name a memory with more room, or one more after it, in the `Region` statement; "
             "`CollectMemory` lets go what was only read";
    case DiagId::kNoRoute:
      return "keep the data in memories between which there is a channel (`groma machines`)";
    default:
      return nullptr;
  }
}

}  // namespace

void check_run(const BoundProgram& bound, const Workload& app, Diagnostics& diags,
               const CheckOptions& options) {
  const auto shared = ProgramMapper::share(bound);
  const auto machine = bound.shared_machine();
  sim::RehearsalOptions rehearsal;
  rehearsal.max_steps = options.max_steps;
  rehearsal.stop = options.stop;
  sim::RehearsalResult result = sim::rehearse(
      app, machine,
      [&](const Processor& local) {
        return std::make_unique<ProgramMapper>(shared, MapperSite{machine, local});
      },
      rehearsal);
  for (Refusal& refusal : result.findings) {
    const char* cure = cure_of(refusal.diagnostic.id);
    if (cure != nullptr && refusal.diagnostic.helps.empty()) refusal.diagnostic.help(cure);
    add_located(bound.program(), refusal, diags);
  }
  if (!result.incomplete.empty()) {
    diags.report(DiagId::kCheckIncomplete, std::nullopt, app.name(), result.incomplete);
  }
}

}  // namespace groma
