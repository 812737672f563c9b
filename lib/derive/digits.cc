// Finds self-similar sets: q(k) = b q(k / s) + q(k % s), where q(k) is the k-th point minus the
// first one, b is the base and s the number of digit vectors.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "derive/candidate.h"
#include "domain/digit_map.h"

namespace groma::domains {
namespace {

// Limit on the entries of a table. Larger tables describe nothing.
constexpr std::size_t kMaxEntries = 1024;
// Limit on a base that no sample confirms.
constexpr std::int64_t kMaxGuessedBase = 4;

// A base and its digit vectors, the first point, and the number of levels, or 0 if it is unknown.
struct DigitForm {
  std::int64_t base = 0;
  std::vector<Coordinates> table;
  Coordinates first{};
  std::int64_t levels = 0;
};

Coordinates minus(const Coordinates& a, const Coordinates& b) {
  Coordinates result{};
  for (std::size_t d = 0; d < result.size(); ++d) result[d] = a[d] - b[d];
  return result;
}

// Returns (base^levels - 1) / (base - 1), or nullopt if it is larger than coordinates of samples.
std::optional<std::int64_t> repeated_ones(std::int64_t base, std::int64_t levels) {
  std::int64_t sum = 0;
  for (std::int64_t i = 0; i < levels; ++i) {
    sum = sum * base + 1;
    if (sum > kMaxSampleCoordinate) return std::nullopt;
  }
  return sum;
}

// Returns the number of levels with which the set has at least `count` points.
std::int64_t levels_for(std::size_t entries, std::size_t count) {
  std::int64_t levels = 0;
  for (std::size_t points = 1; points < count; points *= entries) ++levels;
  return levels;
}

// Returns "x" or "x + 3".
std::string shifted(const std::string& name, std::int64_t by) {
  if (by == 0) return name;
  return fmt::format("{} {} {}", name, by < 0 ? "-" : "+", by < 0 ? -by : by);
}

// Returns the candidate without its evidence, or nullopt if no declaration has this form. `count`
// is the number of samples.
std::optional<Candidate> digit_candidate(const std::vector<std::string>& names, DigitForm form,
                                         std::size_t count) {
  const std::size_t dimensions = names.size();
  Coordinates lowest{};
  for (const Coordinates& entry : form.table) {
    for (std::size_t d = 0; d < dimensions; ++d) lowest[d] = std::min(lowest[d], entry[d]);
  }
  for (Coordinates& entry : form.table) entry = minus(entry, lowest);
  const Coordinates zeroth = form.table.front();
  const bool begins_at_zero = zeroth == Coordinates{};
  // The first point of the declaration is the repeated first entry, so that the rest is an offset.
  // It depends on the number of levels, unless the first entry is 0.
  const auto offset_at = [&](std::int64_t levels) -> std::optional<Coordinates> {
    if (begins_at_zero) return form.first;
    const auto ones = repeated_ones(form.base, levels);
    if (!ones) return std::nullopt;
    Coordinates offset{};
    for (std::size_t d = 0; d < dimensions; ++d) offset[d] = form.first[d] - zeroth[d] * *ones;
    return offset;
  };
  const bool knows_levels = form.levels > 0;
  std::int64_t levels = knows_levels ? form.levels : levels_for(form.table.size(), count);
  auto offset = offset_at(levels);
  if (!offset) return std::nullopt;
  bool is_exact = begins_at_zero;
  const std::int64_t most_levels = knows_levels ? levels : 62;
  for (std::int64_t more = levels; !is_exact && more <= most_levels; ++more) {
    const auto other = offset_at(more);
    if (!other) break;
    is_exact = *other == Coordinates{};
    if (is_exact) std::tie(offset, levels) = std::pair(other, more);
  }
  std::vector<std::string> head, entries;
  for (std::size_t d = 0; d < dimensions; ++d) head.push_back(shifted(names[d], (*offset)[d]));
  for (const Coordinates& entry : form.table) {
    entries.push_back(fmt::format(
        "({})",
        fmt::join(entry.begin(), entry.begin() + static_cast<std::ptrdiff_t>(dimensions), ", ")));
  }
  Candidate candidate;
  const bool has_parameter = is_exact;
  candidate.size_parameter = has_parameter && begins_at_zero ? "r" : "";
  candidate.text = fmt::format(
      "{} = ({}) in digits base {} levels {} of {};",
      has_parameter ? fmt::format("(r = {})", levels) : "", fmt::join(head, ", "), form.base,
      has_parameter ? "r" : fmt::format("{}", levels), fmt::join(entries, ", "));
  candidate.description = static_cast<std::int64_t>((form.table.size() + 1) * dimensions + 2);
  if (!is_exact && !knows_levels) {
    candidate.remarks.push_back(fmt::format(
        "the samples do not show how many levels there are; {} levels hold all of them", levels));
  }
  return candidate;
}

}  // namespace

std::vector<Candidate> find_digit_maps(const SampleView& samples) {
  const std::size_t count = samples.size(), dimensions = samples.dimensions();
  std::vector<Candidate> found;
  if (count < 2) return found;
  std::vector<Coordinates> q;
  for (const Coordinates& point : samples.points) q.push_back(minus(point, samples.points[0]));
  const auto moved = static_cast<std::size_t>(
      std::find_if(q[1].begin(), q[1].end(), [](std::int64_t each) { return each != 0; }) -
      q[1].begin());
  if (moved >= dimensions) return found;
  const auto entries_of = [&](std::size_t s) {
    return std::vector(q.begin(), q.begin() + static_cast<std::ptrdiff_t>(s));
  };
  Coordinates least = q[0], most = q[0];
  std::vector<std::pair<std::size_t, std::int64_t>> accepted;
  for (std::size_t s = 2; s <= std::min(count, kMaxEntries); ++s) {
    std::int64_t extent = 0;
    for (std::size_t d = 0; d < dimensions; ++d) {
      least[d] = std::min(least[d], q[s - 1][d]);
      most[d] = std::max(most[d], q[s - 1][d]);
      extent = std::max(extent, most[d] - least[d] + 1);
    }
    if (s == count) {
      // All samples as one table, whose base is guessed as the extent of a cube.
      std::int64_t cells = 1;
      bool is_cube = true;
      for (std::size_t d = 0; d < dimensions; ++d) {
        is_cube = is_cube && most[d] - least[d] + 1 == extent;
        if (cells <= static_cast<std::int64_t>(count)) cells *= extent;
      }
      if (!is_cube || extent > kMaxGuessedBase || dimensions == 1 ||
          cells <= static_cast<std::int64_t>(count))
        break;
      auto guess =
          digit_candidate(samples.names, {extent, entries_of(s), samples.points[0], 0}, count);
      if (!guess) break;
      guess->remarks.push_back(
          fmt::format("the {} samples are taken for the whole table of digits, and the base for "
                      "its extent; no further sample confirms it",
                      count));
      found.push_back(std::move(*guess));
      break;
    }
    if (q[s][moved] % q[1][moved] != 0) continue;
    const std::int64_t base = q[s][moved] / q[1][moved];
    if (base < 2 || base < extent || base > kMaxCells) continue;
    bool holds = true;
    for (std::size_t k = s; k < count && holds; ++k) {
      for (std::size_t d = 0; d < dimensions && holds; ++d) {
        holds = q[k][d] == base * q[k / s][d] + q[k % s][d];
      }
    }
    if (!holds) continue;
    // The square of an accepted map is the same map.
    const bool is_power = std::any_of(accepted.begin(), accepted.end(), [&](const auto& smaller) {
      std::size_t power = smaller.first;
      std::int64_t base_power = smaller.second;
      while (power < s && base_power < base) {
        power *= smaller.first;
        base_power *= smaller.second;
      }
      return power == s && base_power == base;
    });
    if (is_power) continue;
    accepted.emplace_back(s, base);
    auto candidate =
        digit_candidate(samples.names, {base, entries_of(s), samples.points[0], 0}, count);
    if (!candidate) continue;
    // One equation determines the base.
    candidate->evidence = static_cast<std::int64_t>((count - s) * dimensions) - 1;
    candidate->least_evidence = candidate->evidence;
    candidate->is_confirmed = candidate->evidence > 0;
    found.push_back(std::move(*candidate));
  }
  return found;
}

std::vector<Candidate> find_digit_set(const SampleView& samples) {
  const std::size_t dimensions = samples.dimensions();
  Coordinates least = samples.points[0], most = least;
  for (const Coordinates& point : samples.points) {
    for (std::size_t d = 0; d < dimensions; ++d) {
      least[d] = std::min(least[d], point[d]);
      most[d] = std::max(most[d], point[d]);
    }
  }
  std::int64_t extent = 0;
  for (std::size_t d = 0; d < dimensions; ++d) extent = std::max(extent, most[d] - least[d] + 1);
  std::vector<Candidate> found;
  constexpr std::int64_t kMaxBase = 16;
  for (std::int64_t base = 2; base <= kMaxBase && base * base <= extent; ++base) {
    std::int64_t levels = 1, highest = 1;
    while (highest * base < extent) {
      highest *= base;
      ++levels;
    }
    if (highest * base != extent || levels < 2) continue;
    std::set<std::vector<std::int64_t>> table;  // the last coordinate first, so that x runs fastest
    const auto digits = [&](const Coordinates& point, std::int64_t weight) {
      std::vector<std::int64_t> entry;
      for (std::size_t d = dimensions; d-- > 0;) {
        entry.push_back((point[d] - least[d]) / weight % base);
      }
      return entry;
    };
    for (const Coordinates& point : samples.points) table.insert(digits(point, highest));
    std::size_t power = 1;
    for (std::int64_t i = 0; i < levels && power <= samples.size(); ++i) power *= table.size();
    if (power != samples.size() || table.size() < 2) continue;
    const bool holds =
        std::all_of(samples.points.begin(), samples.points.end(), [&](const Coordinates& point) {
          for (std::int64_t weight = 1; weight < highest; weight *= base) {
            if (table.count(digits(point, weight)) == 0) return false;
          }
          return true;
        });
    if (!holds) continue;
    DigitForm form{base, {}, least, levels};
    for (const auto& entry : table) {
      Coordinates coordinates{};
      for (std::size_t d = 0; d < dimensions; ++d) coordinates[d] = entry[dimensions - 1 - d];
      form.table.push_back(coordinates);
    }
    // The first point is the repeated first entry, as the set begins at `least`.
    const auto ones = repeated_ones(base, levels);
    if (!ones) continue;
    for (std::size_t d = 0; d < dimensions; ++d) form.first[d] += form.table[0][d] * *ones;
    auto candidate = digit_candidate(samples.names, form, samples.size());
    if (!candidate) continue;
    candidate->evidence =
        static_cast<std::int64_t>((samples.size() - table.size()) * dimensions) - 1;
    candidate->least_evidence = candidate->evidence;
    candidate->is_confirmed = candidate->evidence > 0;
    found.push_back(std::move(*candidate));
  }
  return found;
}

}  // namespace groma::domains
