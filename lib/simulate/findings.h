// Findings: the errors and warnings that a rehearsal of a program has found so far, and whether the
// rehearsal goes on.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "groma/validate.h"
#include "simulate/rehearsal.h"

namespace groma::sim {

class Findings {
 public:
  // If `first_error` is true, the rehearsal ends at the first error.
  explicit Findings(bool first_error) : first_error_(first_error) {}

  // Adds refusals as findings, except those that were found before. `task` is the name of the
  // refused task, or empty. If `certain` is false, the refusals become warnings.
  void add(std::vector<Refusal> refusals, std::string_view task, bool certain);
  // Adds a warning unchanged, even if an equal warning was found before.
  void add_warning(Refusal warning) { all_.push_back(std::move(warning)); }
  const std::vector<Refusal>& all() const { return all_; }
  // Returns true if there are kMaxErrors findings. Further findings are then dropped by add().
  bool full() const { return all_.size() >= kMaxErrors; }
  bool has_error() const;

  // Notes the reason why the rehearsal does not examine everything. Only the first reason is kept.
  // An empty reason changes nothing.
  void mark_incomplete(std::string why);
  bool complete() const { return incomplete_.empty(); }
  // Ends the rehearsal. If a reason is given, the result is incomplete for that reason.
  void end() { ended_ = true; }
  void end(std::string why);
  bool ended() const { return ended_; }
  // Returns true if the rehearsal has ended because it found an error and only the first error is
  // wanted.
  bool found_enough() const { return found_enough_; }

  // Returns the findings and the reason why they are incomplete. Call this function only once, at
  // the end.
  RehearsalResult take() { return {std::move(all_), std::move(incomplete_)}; }

 private:
  const bool first_error_;
  bool ended_ = false, found_enough_ = false;
  std::string incomplete_;
  std::vector<Refusal> all_;
  std::set<std::tuple<DiagId, std::uint32_t, std::string>> known_;
};

}  // namespace groma::sim
