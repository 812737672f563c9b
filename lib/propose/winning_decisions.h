// WinningDecisions: the decisions by which one mapping became better than another, so that a
// proposer does not take them back at once.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "groma/diff.h"
#include "groma/search.h"

namespace groma::tuning {

class WinningDecisions {
 public:
  // Compares the text of the best mapping with that of the best one before it, on the first input
  // of the problem. Returns nullopt if one of the texts is not a valid mapping. `problem` must
  // outlive the object.
  static std::optional<WinningDecisions> between(const SearchProblem& problem,
                                                 const std::string& before,
                                                 const std::string& best);

  // Returns true if a mapping makes one of the decisions as the mapping before the best one did.
  // Returns false if the text is not a valid mapping.
  bool are_undone_by(const std::string& text) const;

 private:
  WinningDecisions(const SearchProblem& problem, MappingDecisions best,
                   std::vector<MappingDifference> undone)
      : problem_(&problem), best_(std::move(best)), undone_(std::move(undone)) {}

  const SearchProblem* problem_;
  MappingDecisions best_;
  // The differences from the best mapping (A) to the mapping before it (B).
  std::vector<MappingDifference> undone_;
};

}  // namespace groma::tuning
