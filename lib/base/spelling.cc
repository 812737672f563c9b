// Near names by edit distance with transpositions, where a difference in case alone counts half.
#include "groma/spelling.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>

namespace groma {
namespace {

constexpr std::size_t kLongestWord = 64;
constexpr std::size_t kMostCompared =
    4096;                 // candidates of a fitting length; later ones are not near
constexpr int kStep = 2;  // one edit; a change of case costs 1

int lower(char c) { return std::tolower(static_cast<unsigned char>(c)); }

int substitution(char a, char b) {
  if (a == b) return 0;
  return lower(a) == lower(b) ? 1 : kStep;
}

// Optimal string alignment distance in half edits.
int distance(std::string_view a, std::string_view b) {
  using Row = std::array<int, kLongestWord + 1>;
  Row before{}, last{}, row{};
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = static_cast<int>(j) * kStep;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = static_cast<int>(i) * kStep;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min(
          {last[j] + kStep, row[j - 1] + kStep, last[j - 1] + substitution(a[i - 1], b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before[j - 2] + kStep);
      }
    }
    before = last;
    last = row;
  }
  return last[b.size()];
}

// The most half edits between two near words of these lengths.
int most_edits(std::size_t a, std::size_t b) {
  return kStep * static_cast<int>(std::max<std::size_t>(1, std::max(a, b) / 3));
}

// Whether a candidate of this length may be near.
bool may_be_near(std::string_view word, std::string_view candidate) {
  if (candidate.empty() || candidate.size() > kLongestWord) return false;
  const std::size_t longer = std::max(word.size(), candidate.size());
  const std::size_t shorter = std::min(word.size(), candidate.size());
  return kStep * static_cast<int>(longer - shorter) <= most_edits(longer, shorter);
}

// Half edits from the word to the candidate; nothing if they are not near.
std::optional<int> edits_between(std::string_view word, std::string_view candidate) {
  if (!may_be_near(word, candidate)) return std::nullopt;
  if (same_letters(word, candidate)) return word == candidate ? 0 : 1;
  const int edits = distance(word, candidate);
  const auto longer = static_cast<int>(std::max(word.size(), candidate.size()));
  const bool all_differ = edits >= kStep * longer;  // one letter and another
  const bool near = edits <= most_edits(word.size(), candidate.size()) && !all_differ;
  return near ? std::optional(edits) : std::nullopt;
}

// The name behind its last `::`; empty if it has none.
std::string_view without_namespace(std::string_view name) {
  const std::size_t at = name.rfind("::");
  return at == name.npos ? std::string_view() : name.substr(at + 2);
}

}  // namespace

bool same_letters(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return lower(x) == lower(y); });
}

std::vector<std::string_view> near_names(std::string_view word,
                                         std::span<const std::string_view> candidates,
                                         std::size_t most) {
  std::vector<std::pair<int, std::string_view>> near;
  std::size_t compared = 0;
  if (word.empty() || word.size() > kLongestWord) return {};
  const bool leaves_out = word.find("::") == word.npos;
  for (std::string_view candidate : candidates) {
    const std::string_view last = leaves_out ? without_namespace(candidate) : std::string_view();
    if (candidate == word || (!may_be_near(word, candidate) && !may_be_near(word, last))) continue;
    if (++compared > kMostCompared) break;
    if (const auto edits = edits_between(word, candidate)) {
      near.emplace_back(*edits, candidate);
    } else if (const auto behind = edits_between(word, last)) {
      near.emplace_back(*behind + 1, candidate);
    }
  }
  std::stable_sort(near.begin(), near.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<std::string_view> names;
  for (const auto& [edits, candidate] : near) {
    if (names.size() == most) break;
    if (std::find(names.begin(), names.end(), candidate) == names.end()) names.push_back(candidate);
  }
  return names;
}

std::string join_names(std::span<const std::string_view> names, std::string_view conjunction) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i > 0) {
      text += i + 1 == names.size() ? " " + std::string(conjunction) + " " : std::string(", ");
    }
    text += "`" + std::string(names[i]) + "`";
  }
  return text;
}

}  // namespace groma
