// Keeps the copies of a run.
#include "simulate/copies.h"

namespace groma::sim {

std::uint32_t Copies::add(const Fetch& fetch, const TaskRun& run, RunTime mapped) {
  if (free_.empty()) {
    free_.push_back(static_cast<std::uint32_t>(copies_.size()));
    copies_.emplace_back();
  }
  const std::uint32_t number = free_.back();
  free_.pop_back();
  CopyRun& copy = copies_[number];
  copy = {};
  copy.fetch = fetch;
  copy.name = static_cast<std::int32_t>(run.task);
  copy.mapped = mapped;
  if (run.parent != nullptr) copy.since = run.parent->since;
  return number;
}

// The schedules of links are estimated by a fixed size for each copy.
std::int64_t Copies::bytes() const {
  constexpr std::size_t kScheduled = 128;
  return static_cast<std::int64_t>(copies_.size() * (sizeof(CopyRun) + kScheduled));
}

}  // namespace groma::sim
