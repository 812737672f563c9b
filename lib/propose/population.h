// The texts that the proposer `scientist` has tried, and the pair of them with which an experiment
// begins.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "groma/search.h"

namespace groma::tuning {

// A text that was tried, with its result and the texts that it came from.
struct PopulationMember {
  // The number of the step in which the text was tried.
  std::int64_t id = 0;
  // The ids of the base that was changed and of the reference; 0 if there is none.
  std::int64_t base = 0, reference = 0;
  std::string text;
  // The result of the text. Of its feedback, only the last lines of its output are kept.
  Evaluation evaluation;
};

// The texts that were tried, at most kMaxMembers of them.
class Population {
 public:
  static constexpr std::size_t kMaxMembers = 64;

  // Adds a text. If there are then too many, removes one: the oldest one that failed, or else the
  // worst. Never removes the newest one.
  void add(PopulationMember member);
  // Returns the members in the order in which they were tried.
  const std::vector<PopulationMember>& all() const { return members_; }
  // Returns the members that ran, the best first.
  std::vector<const PopulationMember*> valid() const;

 private:
  std::vector<PopulationMember> members_;
};

// The two texts with which experiments begin: the base that is changed, and a reference. Both
// belong to a population.
struct BaseAndReference {
  // The text to change; null if it is the text with which the search starts.
  const PopulationMember* base = nullptr;
  const PopulationMember* reference = nullptr;
};

// Returns the valid member that differs from `base` most: in the number of segments, and if these
// are whole files, in the number of lines. Null if there is no other member.
const PopulationMember* most_different(const SearchProblem& problem, const PopulationMember& base,
                                       const std::vector<const PopulationMember*>& members);

}  // namespace groma::tuning
