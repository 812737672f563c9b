// Ranks and unranks the points of self-similar sets, several digits at a time.
#include "domain/digit_map.h"

#include <fmt/format.h>

#include <algorithm>

#include "domain/description.h"

namespace groma::domains {
namespace {

// Returns base^exponent, or 2^63-1 if it does not fit.
std::int64_t power(std::int64_t base, std::int64_t exponent) {
  std::int64_t result = 1;
  for (std::int64_t i = 0; i < exponent; ++i) {
    if (__builtin_mul_overflow(result, base, &result)) return INT64_MAX;
  }
  return result;
}

// Limit on the entries of a table for several digits, so that it stays in a fast cache.
constexpr std::int64_t kMaxEntries = 1 << 12;

class DigitMap final : public PointMap {
 public:
  DigitMap(std::int64_t base, std::int64_t levels, int dimensions,
           const std::vector<Coordinates>& table)
      : base_(base), levels_(levels), digits_(static_cast<std::int64_t>(table.size())) {
    dimensions_ = dimensions;
    count_ = power(digits_, levels);
    const std::int64_t extent = power(base, levels);
    for (std::size_t d = 0; d < static_cast<std::size_t>(dimensions); ++d) {
      std::int64_t low = base, high = 0;
      for (const Coordinates& each : table) {
        low = std::min(low, each[d]);
        high = std::max(high, each[d]);
      }
      // The digit d at each of the levels is d * (b^r - 1) / (b - 1).
      const std::int64_t ones = (extent - 1) / (base - 1);
      lower_[d] = low * ones;
      upper_[d] = high * ones;
    }
    group_digits(table);
  }

  void unrank(std::int64_t k, Coordinates& point) const override {
    const auto dimensions = static_cast<std::size_t>(dimensions_);
    std::fill_n(point.begin(), dimensions, 0);
    std::int64_t weight = 1;
    // A step takes `grouped_` digits. The last step may have fewer: the digits above are then
    // missing and must not add the first entry of the table.
    std::int64_t left = levels_;
    for (; left >= grouped_; left -= grouped_) {
      const std::int64_t digit = k % group_digits_;
      k /= group_digits_;
      const std::int64_t* entry = &groups_[static_cast<std::size_t>(digit) * dimensions];
      for (std::size_t d = 0; d < dimensions; ++d) point[d] += weight * entry[d];
      weight *= group_base_;
    }
    for (; left > 0; --left) {
      const std::int64_t digit = k % digits_;
      k /= digits_;
      const std::int64_t* entry = &table_[static_cast<std::size_t>(digit) * dimensions];
      for (std::size_t d = 0; d < dimensions; ++d) point[d] += weight * entry[d];
      weight *= base_;
    }
  }

  std::int64_t rank(const Coordinates& point) const override {
    const auto dimensions = static_cast<std::size_t>(dimensions_);
    Coordinates rest = point;
    for (std::size_t d = 0; d < dimensions; ++d) {
      if (rest[d] < lower_[d] || rest[d] > upper_[d]) return -1;
    }
    std::int64_t k = 0, weight = 1;
    for (std::int64_t level = 0; level < levels_; ++level) {
      std::int64_t cell = 0;
      for (std::size_t d = dimensions; d-- > 0;) {
        cell = cell * base_ + rest[d] % base_;
        rest[d] /= base_;
      }
      const std::int32_t digit = digit_of_cell_[static_cast<std::size_t>(cell)];
      if (digit < 0) return -1;
      k += weight * digit;
      weight *= digits_;
    }
    return k;
  }

  Proof proof() const override {
    return {Proof::Kind::kDigitTable,
            fmt::format("the {} digit vectors are distinct and below the base {}, which makes the "
                        "map a bijection for every number of levels",
                        digits_, base_)};
  }

  MapDescription describe() const override {
    DigitsDescription digits{base_, levels_, {}};
    const auto dimensions = static_cast<std::size_t>(dimensions_);
    for (std::size_t i = 0; i < table_.size(); i += dimensions) {
      std::copy_n(table_.begin() + static_cast<std::ptrdiff_t>(i), dimensions,
                  digits.table.emplace_back().begin());
    }
    return {std::move(digits)};
  }

 private:
  void group_digits(const std::vector<Coordinates>& table) {
    const auto dimensions = static_cast<std::size_t>(dimensions_);
    std::int64_t cells = 1;
    for (std::size_t d = 0; d < dimensions; ++d) cells *= base_;
    digit_of_cell_.assign(static_cast<std::size_t>(cells), -1);
    for (std::size_t i = 0; i < table.size(); ++i) {
      std::int64_t cell = 0;
      for (std::size_t d = dimensions; d-- > 0;) cell = cell * base_ + table[i][d];
      digit_of_cell_[static_cast<std::size_t>(cell)] = static_cast<std::int32_t>(i);
      table_.insert(table_.end(), table[i].begin(), table[i].begin() + dimensions_);
    }
    groups_ = table_;
    group_digits_ = digits_;
    group_base_ = base_;
    while (grouped_ < levels_ && group_digits_ * digits_ <= kMaxEntries) {
      // The next digit is the most significant one.
      std::vector<std::int64_t> longer;
      for (std::size_t high = 0; high < table.size(); ++high) {
        for (std::size_t i = 0; i < groups_.size(); ++i) {
          longer.push_back(groups_[i] + group_base_ * table[high][i % dimensions]);
        }
      }
      groups_ = std::move(longer);
      group_digits_ *= digits_;
      group_base_ *= base_;
      ++grouped_;
    }
  }

  std::int64_t base_, levels_, digits_;
  // The coordinates of the entries of the table, one entry behind the other.
  std::vector<std::int64_t> table_;
  // For each cell of a level, its place in the table; -1: it is not there.
  std::vector<std::int32_t> digit_of_cell_;
  // The table for `grouped_` digits at a time, its entries and its base.
  std::vector<std::int64_t> groups_;
  std::int64_t grouped_ = 1, group_digits_ = 0, group_base_ = 0;
};

}  // namespace

std::variant<PointMapPtr, DigitFaultAt> make_digit_map(std::int64_t base, std::int64_t levels,
                                                       int dimensions,
                                                       const std::vector<Coordinates>& table) {
  if (base < 2 || power(base, dimensions) > kMaxCells) return DigitFaultAt{DigitFault::kBadBase};
  if (levels < 0) return DigitFaultAt{DigitFault::kBadLevels};
  if (table.empty()) return DigitFaultAt{DigitFault::kEmptyTable};
  std::vector<Coordinates> sorted = table;
  std::sort(sorted.begin(), sorted.end());
  for (std::size_t i = 0; i < table.size(); ++i) {
    for (int d = 0; d < dimensions; ++d) {
      const std::int64_t digit = table[i][static_cast<std::size_t>(d)];
      if (digit < 0 || digit >= base) {
        return DigitFaultAt{DigitFault::kBadEntry, static_cast<std::int64_t>(i)};
      }
    }
    const auto [first, last] = std::equal_range(sorted.begin(), sorted.end(), table[i]);
    if (last - first > 1) {
      return DigitFaultAt{DigitFault::kRepeatedEntry, static_cast<std::int64_t>(i)};
    }
  }
  const auto digits = static_cast<std::int64_t>(table.size());
  // One level more would not matter if there is only one digit; the coordinates limit it then.
  std::int64_t most = 0;
  while (most < levels && power(base, most + 1) != INT64_MAX &&
         power(digits, most + 1) != INT64_MAX) {
    ++most;
  }
  if (most < levels) return DigitFaultAt{DigitFault::kTooLarge, most};
  return PointMapPtr(std::make_shared<DigitMap>(base, levels, dimensions, table));
}

}  // namespace groma::domains
