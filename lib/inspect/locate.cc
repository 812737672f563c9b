#include "inspect/locate.h"

namespace groma {
namespace {

const char* cure_of(DiagId id) {
  switch (id) {
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

void add(const Diagnostic& from, const std::optional<Range>& range, Diagnostics& diags) {
  Diagnostic& to = diags.add(from.id, range, from.args);
  to.lower_to(from.severity);
  to.notes = from.notes;
  to.helps = from.helps;
  const char* const cure = cure_of(from.id);
  if (cure != nullptr && to.helps.empty()) to.help(cure);
}

}  // namespace

void add_located(const Program& program, const Refusal& refusal, Diagnostics& diags) {
  std::optional<Range> range = refusal.diagnostic.range;
  if (!range && refusal.origin) range = program.range(refusal.origin);
  add(refusal.diagnostic, range, diags);
}

void add_unlocated(const Refusal& refusal, Diagnostics& diags) {
  add(refusal.diagnostic, std::nullopt, diags);
}

}  // namespace groma
