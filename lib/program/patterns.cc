// Orders the selectors and name patterns of a program and finds those whose order may surprise.
#include "program/patterns.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

namespace groma::program {
namespace {

std::size_t characters_of(std::string_view pattern) {
  return pattern.size() - static_cast<std::size_t>(std::count(pattern.begin(), pattern.end(), '*'));
}

// How specific a pattern or selector is. The first difference counts.
struct Specificity {
  // The characters of the pattern, or of the last word of the selector, besides `*`.
  std::size_t characters = 0;
  // The parts of the selector before its last one, and one more if it names the form of the launch.
  std::size_t above = 0;
  // The number of names among the parts before the last one, and the number of characters besides
  // `*` in all these parts.
  std::size_t names_above = 0, characters_above = 0;
  friend auto operator<=>(const Specificity&, const Specificity&) = default;
};

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
      const Specificity of_a = specificity(a), of_b = specificity(b);
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
  Specificity specificity(NameId pattern) const {
    const TaskSelector* const selector = data_.names.selector(pattern);
    if (selector == nullptr) return {characters_of(text(pattern))};
    Specificity found{characters(selector->path.back()), selector->path.size() - 1};
    for (std::size_t i = 0; i < found.above; ++i) {
      if (data_.names.is_name(selector->path[i])) ++found.names_above;
      found.characters_above += characters(selector->path[i]);
    }
    if (selector->dimensions >= 0) ++found.above;
    return found;
  }
  // Returns the characters of a word besides `*`. In a quoted name, `*` is a character like others.
  std::size_t characters(NameId word) const {
    return data_.names.is_name(word) ? text(word).size() : characters_of(text(word));
  }
  // Returns true if both can stand for one task.
  bool can_meet(NameId a, NameId b) const {
    const TaskSelector of_a = selector_of(a), of_b = selector_of(b);
    if (of_a.dimensions >= 0 && of_b.dimensions >= 0 && of_a.dimensions != of_b.dimensions) {
      return false;
    }
    // The paths end at the same task.
    return std::equal(of_a.path.rbegin(),
                      of_a.path.rbegin() +
                          static_cast<std::ptrdiff_t>(std::min(of_a.path.size(), of_b.path.size())),
                      of_b.path.rbegin(), [this](NameId one, NameId other) {
                        return data_.names.is_name(one) && data_.names.is_name(other)
                                   ? one == other
                                   : can_match_one_name(text(one), text(other));
                      });
  }
  TaskSelector selector_of(NameId pattern) const {
    const TaskSelector* const selector = data_.names.selector(pattern);
    return selector == nullptr ? TaskSelector{{pattern}} : *selector;
  }

  // Warns if some name matches both patterns, which are equally specific. Returns false if nothing
  // more is to be compared.
  bool compare(NameId a, NameId b, const FirstStatements& first) {
    steps_ -= static_cast<std::int64_t>(text(a).size() * text(b).size());
    if (steps_ < 0 || warnings_ == 0) return false;
    if (!can_meet(a, b)) return true;
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
  for (const auto& [table, first] : tasks) {
    TablePatterns& made = data.patterns_of(table);
    for (const NameId pattern : order.order(first)) {
      const TaskSelector* const selector = data.names.selector(pattern);
      const bool is_named = selector != nullptr && data.names.is_name(selector->path.back());
      (is_named ? made.selectors : made.tasks).push_back(pattern);
    }
  }
  for (const auto& [table, first] : regions) data.patterns_of(table).regions = order.order(first);
}

}  // namespace groma::program
