// Finds names that are spelled like another, by edit distance with transpositions. A difference in
// case counts as half an edit.
#include "groma/spelling.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>

namespace groma {
namespace {

constexpr std::size_t kLongestWord = 64;
// At most this many candidates of a suitable length are compared. Further ones are ignored.
constexpr std::size_t kMostCompared = 4096;
// The cost of one edit, in half edits. A change between a capital and a small letter costs one half
// edit.
constexpr int kStep = 2;

int lower(char c) { return std::tolower(static_cast<unsigned char>(c)); }

// Returns the cost of replacing one letter by another, in half edits.
int substitution(char a, char b) {
  if (a == b) return 0;
  return lower(a) == lower(b) ? 1 : kStep;
}

// Returns the optimal string alignment distance in half edits. Both words must have at most
// kLongestWord bytes.
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

// Returns the largest distance, in half edits, at which two words of `a` and `b` bytes count as
// similar.
int most_edits(std::size_t a, std::size_t b) {
  return kStep * static_cast<int>(std::max<std::size_t>(1, std::max(a, b) / 3));
}

// Returns true if the lengths of the word and the candidate allow them to be similar. The test is
// cheap and avoids most computations of distances.
bool may_be_near(std::string_view word, std::string_view candidate) {
  if (candidate.empty() || candidate.size() > kLongestWord) return false;
  const std::size_t longer = std::max(word.size(), candidate.size());
  const std::size_t shorter = std::min(word.size(), candidate.size());
  return kStep * static_cast<int>(longer - shorter) <= most_edits(longer, shorter);
}

// Returns the distance between two words in half edits, or nothing if they are not similar.
std::optional<int> edits_between(std::string_view word, std::string_view candidate) {
  if (!may_be_near(word, candidate)) return std::nullopt;
  if (same_letters(word, candidate)) return word == candidate ? 0 : 1;
  const int edits = distance(word, candidate);
  const auto longer = static_cast<int>(std::max(word.size(), candidate.size()));
  // Two short words may have no letter in common although few edits change one into the other.
  const bool all_differ = edits >= kStep * longer;
  const bool near = edits <= most_edits(word.size(), candidate.size()) && !all_differ;
  return near ? std::optional(edits) : std::nullopt;
}

// Returns the part of a name behind its last `::`, or "" if it has none.
std::string_view without_namespace(std::string_view name) {
  const std::size_t at = name.rfind("::");
  return at == name.npos ? std::string_view() : name.substr(at + 2);
}

}  // namespace

bool same_letters(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return lower(x) == lower(y); });
}

// Returns at most `most` similar candidates, the nearest first. A word without `::` is also
// compared with the last part of candidates such as `ns::name`, which then count half an edit more.
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

// Returns the names in backticks, such as "`a`, `b` and `c`".
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
