// WinningDecisions: the decisions by which one mapping became better than another, so that a
// proposer does not take them back at once.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>

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

  // Returns true if a mapping makes one of the decisions as the mapping before the best one did,
  // and not as the best one does. Compares what the mappings decide, such as the processors of the
  // points, not the names of functions.
  // Returns false if the text is not a valid mapping.
  bool are_undone_by(const std::string& text) const;

 private:
  // What a decision is about: its aspect, its task and the position of its requirement.
  using Subject = std::tuple<MappingDifference::Aspect, std::string, std::uint32_t>;
  static std::set<Subject> subjects_of_differences(const MappingDecisions& a,
                                                   const MappingDecisions& b);

  WinningDecisions(const SearchProblem& problem, MappingDecisions best, MappingDecisions before)
      : problem_(&problem),
        best_(std::move(best)),
        before_(std::move(before)),
        won_(subjects_of_differences(best_, before_)) {}

  const SearchProblem* problem_;
  MappingDecisions best_, before_;
  // What the best mapping decides differently from the mapping before it.
  std::set<Subject> won_;
};

}  // namespace groma::tuning
