// Findings: what a rehearsal has found so far, and whether it goes on.
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
  // `first_error`: the rehearsal ends at the first error.
  explicit Findings(bool first_error) : first_error_(first_error) {}

  // Adds refusals, except those that were found before. `task` is the refused task, or empty. With
  // `certain` false they become warnings.
  void add(std::vector<Refusal> refusals, std::string_view task, bool certain);
  // Adds one warning as it is.
  void add_warning(Refusal warning) { all_.push_back(std::move(warning)); }
  const std::vector<Refusal>& all() const { return all_; }
  // Returns true if no more findings are kept.
  bool full() const { return all_.size() >= kMaxErrors; }
  bool has_error() const;

  // Notes why not everything is examined. The first reason is kept.
  void leave_incomplete(std::string why);
  bool complete() const { return incomplete_.empty(); }
  // Ends the rehearsal. With a reason, it is incomplete.
  void end() { ended_ = true; }
  void end(std::string why);
  bool ended() const { return ended_; }
  // Returns true if the rehearsal has ended with the only error that is wanted.
  bool found_enough() const { return found_enough_; }

  // Returns the findings and the reason why they are incomplete. To be called once, at the end.
  RehearsalResult take() { return {std::move(all_), std::move(incomplete_)}; }

 private:
  const bool first_error_;
  bool ended_ = false, found_enough_ = false;
  std::string incomplete_;
  std::vector<Refusal> all_;
  std::set<std::tuple<DiagId, std::uint32_t, std::string>> known_;
};

}  // namespace groma::sim
