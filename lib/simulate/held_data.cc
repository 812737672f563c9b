// Compares the requirements of a launched task with those of the task that launched it.
#include "simulate/held_data.h"

#include <fmt/format.h>

#include <cstdint>

namespace groma::sim {
namespace {

// Returns whether a task that has privilege `held` on some data may launch a task with privilege
// `used` on that data.
bool allows(Privilege held, Privilege used) {
  const bool all = held == Privilege::kReadWrite || held == Privilege::kWriteDiscard;
  return all || held == used;
}

// Returns a bit mask of field groups: those that requirement `position` of the task uses, but for
// which the parent task `by` has no requirement with a sufficient privilege that covers the whole
// piece.
std::uint64_t groups_not_held(const RunInput& input, const TaskRun& run, std::uint32_t position,
                              const TaskRun& by) {
  const app::RequirementData& used = data_of_requirement(input.data, run, position);
  if (used.privilege == Privilege::kNoAccess || used.fields.empty()) return 0;
  if (run.pieces[position] == nullptr) return 0;
  std::uint64_t missing = field_groups_of(input.spaces, run, position);
  for (std::uint32_t h = 0; h < by.pieces.size() && missing != 0; ++h) {
    const app::RequirementData& held = data_of_requirement(input.data, by, h);
    const bool holds = by.pieces[h] != nullptr && held.region == used.region &&
                       allows(held.privilege, used.privilege) &&
                       is_covered_by(*run.pieces[position], *by.pieces[h]);
    if (holds) missing &= ~field_groups_of(input.spaces, by, h);
  }
  return missing;
}

}  // namespace

// The message names the region of the first requirement whose data the parent task does not hold.
std::string why_parent_lacks_data(const RunInput& input, const TaskRun& run) {
  const TaskRun& by = *run.parent->run;
  if (by.parent == nullptr) return {};
  for (std::uint32_t r = 0; r < run.pieces.size(); ++r) {
    if (groups_not_held(input, run, r, by) == 0) continue;
    const std::uint32_t region = data_of_requirement(input.data, run, r).region;
    return fmt::format(
        "`{}` launches `{}` on data of `{}` that it does not hold itself, so they may come to wait "
        "for each other",
        input.data.tasks[by.task].name, input.data.tasks[run.task].name,
        input.data.regions[region].name);
  }
  return {};
}

}  // namespace groma::sim
