// Orders the name patterns of a program and finds those whose order may surprise.
#include "program/patterns.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string_view>
#include <utility>
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

// For each pattern of a list, the first statement that has it.
using FirstStatements = std::map<NameId, std::uint32_t>;

void note_statement(FirstStatements& first, NameId pattern, std::uint32_t statement) {
  const auto [at, is_new] = first.try_emplace(pattern, statement);
  if (!is_new) at->second = std::min(at->second, statement);
}

// Orders the patterns of a list, and warns about equal ones.
class PatternOrder {
 public:
  PatternOrder(const ProgramData& data, Diagnostics& diags) : data_(data), diags_(diags) {}

  std::vector<NameId> order(const FirstStatements& first) {
    std::vector<NameId> patterns;
    for (const auto& [pattern, statement] : first) patterns.push_back(pattern);
    std::sort(patterns.begin(), patterns.end(), [&](NameId a, NameId b) {
      const std::size_t of_a = specificity(a), of_b = specificity(b);
      return of_a != of_b ? of_a > of_b : std::pair(first.at(a), a) < std::pair(first.at(b), b);
    });
    for (std::size_t i = 0; i < patterns.size(); ++i) {
      for (std::size_t j = i + 1; j < patterns.size(); ++j) {
        if (specificity(patterns[i]) != specificity(patterns[j])) break;
        if (!compare(patterns[i], patterns[j], first)) return patterns;
      }
    }
    return patterns;
  }

 private:
  std::string_view text(NameId pattern) const { return data_.names.text(pattern); }
  std::size_t specificity(NameId pattern) const { return specificity_of(text(pattern)); }

  // Warns if some name matches both patterns, which are equally specific. Returns false if nothing
  // more is to be compared.
  bool compare(NameId a, NameId b, const FirstStatements& first) {
    steps_ -= static_cast<std::int64_t>(text(a).size() * text(b).size());
    if (steps_ < 0 || warnings_ == 0) return false;
    if (!can_match_one_name(text(a), text(b))) return true;
    --warnings_;
    diags_.report(DiagId::kEqualPatterns, data_.statement_ranges[first.at(b) - 1], text(a), text(b))
        .note("this one comes first", data_.statement_ranges[first.at(a) - 1]);
    return true;
  }

  const ProgramData& data_;
  Diagnostics& diags_;
  // Limits on the comparisons and the warnings, because a program may have many long patterns.
  std::int64_t steps_ = 1'000'000;
  int warnings_ = 10;
};

}  // namespace

void order_patterns(ProgramData& data, Diagnostics& diags) {
  if (data.names.patterns().empty()) return;
  std::map<TableId, FirstStatements> tasks, regions;
  for (const auto* rows : {&data.rows, &data.conditional_rows}) {
    for (const StatementRow& row : *rows) {
      const StatementKey& key = row.key;
      if (data.names.is_pattern(key.task)) {
        note_statement(tasks[key.table], key.task, row.statement);
      }
      if (data.names.is_pattern(key.region)) {
        note_statement(regions[key.table], key.region, row.statement);
      }
    }
  }
  PatternOrder order(data, diags);
  for (const auto& [table, first] : tasks) data.patterns_of(table).tasks = order.order(first);
  for (const auto& [table, first] : regions) data.patterns_of(table).regions = order.order(first);
}

}  // namespace groma::program
