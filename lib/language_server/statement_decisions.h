// What one statement of a mapping decides about an application, collected from an Explanation.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "groma/explain.h"
#include "groma/program.h"

namespace groma::language_server {

// Limit on the tasks and regions that are listed behind one decision. The rest is counted.
inline constexpr std::size_t kMaxListedSubjects = 8;
// Limit on the different decisions of a statement that are collected.
inline constexpr std::size_t kMaxDecisionLines = 100;

// One decision in words, and the tasks or regions for which it is made.
struct DecisionLine {
  std::string words;
  std::vector<std::string> subjects;
};

struct StatementDecisions {
  // What the statement decides.
  std::vector<DecisionLine> decides;
  // The statements that decide instead of it, where it matches too.
  std::vector<DecisionLine> overruled;
};

// Returns what the statement decides, in the order of the tasks.
StatementDecisions decisions_of(const Explanation& explanation, const Program& program,
                                DecisionOrigin statement);

// Returns a line as "kind GPU: a, b and 3 more".
std::string text_of(const DecisionLine& line);

}  // namespace groma::language_server
