// Orders the name patterns of a program and finds those whose order may surprise.
#include "program/patterns.h"

#include <algorithm>
#include <string_view>
#include <vector>

namespace groma::program {
namespace {

std::size_t specificity_of(std::string_view pattern) {
  return pattern.size() - static_cast<std::size_t>(std::count(pattern.begin(), pattern.end(), '*'));
}

// Returns true if some name matches both patterns. Takes a.size() * b.size() steps.
bool can_match_one_name(std::string_view a, std::string_view b) {
  // common[j]: some text matches the beginning of `a` that was read so far and b's first j
  // characters.
  std::vector<bool> common(b.size() + 1);
  common[0] = true;
  for (std::size_t j = 0; j < b.size() && b[j] == '*'; ++j) common[j + 1] = true;
  for (const char c : a) {
    std::vector<bool> next(b.size() + 1);
    next[0] = common[0] && c == '*';
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const char d = b[j - 1];
      next[j] = c == '*' || d == '*' ? common[j] || next[j - 1] : c == d && common[j - 1];
    }
    common = std::move(next);
  }
  return common.back();
}

}  // namespace

void order_patterns(ProgramData& data, Diagnostics& diags) {
  data.patterns = data.names.patterns();
  const auto specificity = [&](NameId id) { return specificity_of(data.names.text(id)); };
  std::stable_sort(data.patterns.begin(), data.patterns.end(),
                   [&](NameId a, NameId b) { return specificity(a) > specificity(b); });
  // The places of the patterns in the statements: the first row of a task or of a region.
  struct Place {
    std::uint32_t statement = 0;
    bool names_task = false;
  };
  const auto place_of = [&](NameId id, bool task) {
    Place first;
    for (const auto* rows : {&data.rows, &data.conditional_rows}) {
      for (const StatementRow& row : *rows) {
        if ((task ? row.key.task : row.key.region) != id) continue;
        if (first.statement == 0 || row.statement < first.statement) first = {row.statement, task};
      }
    }
    return first;
  };
  // The comparisons are limited, because a program may have many long patterns. Patterns with equal
  // specificity and a common name are rare.
  std::int64_t steps = 1'000'000;
  int warnings = 10;
  for (std::size_t i = 0; i < data.patterns.size(); ++i) {
    const std::string_view a = data.names.text(data.patterns[i]);
    for (std::size_t j = i + 1; j < data.patterns.size(); ++j) {
      const std::string_view b = data.names.text(data.patterns[j]);
      if (specificity_of(a) != specificity_of(b)) break;
      steps -= static_cast<std::int64_t>(a.size() * b.size());
      if (steps < 0 || warnings == 0) return;
      if (!can_match_one_name(a, b)) continue;
      for (const bool task : {true, false}) {
        const Place first = place_of(data.patterns[i], task);
        const Place second = place_of(data.patterns[j], task);
        if (first.statement == 0 || second.statement == 0) continue;
        --warnings;
        diags.report(DiagId::kEqualPatterns, data.statement_ranges[second.statement - 1], a, b)
            .note("this one comes first", data.statement_ranges[first.statement - 1]);
      }
    }
  }
}

}  // namespace groma::program
