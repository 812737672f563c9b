// Ranks and unranks the points of self-similar sets, several digits at a time.
#include "domain/digit_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>

#include "base/saturating.h"
#include "domain/description.h"

namespace groma::domains {
namespace {

// Limits on the entries of a table for several digits, so that it stays in a fast cache: of the
// table of vectors and of the table of cells.
constexpr std::int64_t kMaxEntries = 1 << 13, kMaxGroupedCells = 1 << 15;
// Limit on the base of several digits.
constexpr std::int64_t kMaxGroupBase = std::int64_t{1} << 31;

// Divides numbers from 0 to 2^63-1 by a divisor from 2 to 2^62: a product with a rounded up
// reciprocal of 64 bits is exact for dividends of 63 bits (Granlund and Montgomery, PLDI 1994).
class Reciprocal {
 public:
  Reciprocal() = default;
  explicit Reciprocal(std::int64_t divisor) : divisor_(static_cast<std::uint64_t>(divisor)) {
    // 2^(shift - 1) < divisor <= 2^shift.
    const int shift = 64 - std::countl_zero(divisor_ - 1);
    const Unsigned128 power = Unsigned128{1} << (63 + shift);
    factor_ = static_cast<std::uint64_t>((power + divisor_ - 1) / divisor_);
    shift_ = shift - 1;
  }
  // Divides the number and returns the remainder.
  std::uint64_t divide(std::uint64_t& number) const {
    const auto quotient =
        static_cast<std::uint64_t>((Unsigned128{number} * factor_) >> 64) >> shift_;
    const std::uint64_t rest = number - quotient * divisor_;
    number = quotient;
    return rest;
  }

 private:
  __extension__ using Unsigned128 = unsigned __int128;
  std::uint64_t divisor_ = 2, factor_ = std::uint64_t{1} << 63;
  int shift_ = 0;
};

// Divides by a power of two.
class ShiftDivision {
 public:
  ShiftDivision() = default;
  explicit ShiftDivision(std::int64_t divisor)
      : shift_(std::countr_zero(static_cast<std::uint64_t>(divisor))) {}
  std::uint64_t divide(std::uint64_t& number) const {
    const std::uint64_t rest = number & ((std::uint64_t{1} << shift_) - 1);
    number >>= shift_;
    return rest;
  }

 private:
  int shift_ = 0;
};

bool is_power_of_two(std::int64_t number) {
  return std::has_single_bit(static_cast<std::uint64_t>(number));
}

// The vectors for several digits at a time: the vector for digits q0, q1, ... is the sum of
// table[q_i] * base^i.
struct DigitGroup {
  std::int64_t digits = 1;             // how many at a time
  std::int64_t entries = 0, base = 0;  // powers of the number of vectors and of the base
  std::vector<std::uint32_t> vectors;  // one behind the other

  DigitGroup(std::int64_t first_base, std::size_t dimensions, const std::vector<Coordinates>& table)
      : entries(static_cast<std::int64_t>(table.size())), base(first_base) {
    for (const Coordinates& each : table) {
      for (std::size_t d = 0; d < dimensions; ++d) {
        vectors.push_back(static_cast<std::uint32_t>(each[d]));
      }
    }
  }
  // Adds a digit, the most significant one.
  void extend(std::int64_t first_base, std::size_t dimensions,
              const std::vector<Coordinates>& table) {
    std::vector<std::uint32_t> longer;
    longer.reserve(vectors.size() * table.size());
    for (const Coordinates& high : table) {
      for (std::size_t i = 0; i < vectors.size(); ++i) {
        longer.push_back(static_cast<std::uint32_t>(vectors[i] + base * high[i % dimensions]));
      }
    }
    vectors = std::move(longer);
    entries *= static_cast<std::int64_t>(table.size());
    base *= first_base;
    ++digits;
  }
  // Returns for each cell of the group its entry, or -1.
  std::vector<std::int32_t> cells(std::size_t dimensions) const {
    std::int64_t count = 1;
    for (std::size_t d = 0; d < dimensions; ++d) count *= base;
    std::vector<std::int32_t> all(static_cast<std::size_t>(count), -1);
    for (std::int64_t i = 0; i < entries; ++i) {
      std::int64_t cell = 0;
      for (std::size_t d = dimensions; d-- > 0;) {
        cell = cell * base + vectors[static_cast<std::size_t>(i) * dimensions + d];
      }
      all[static_cast<std::size_t>(cell)] = static_cast<std::int32_t>(i);
    }
    return all;
  }
};

// Division by the entries of a group and by the base of a group. The number of dimensions is known
// when the program is compiled, except for kMany.
template <typename DivideEntries, typename DivideBase, std::size_t kDimensions>
class DigitMap : public PointMap {
 public:
  DigitMap(std::int64_t base, std::int64_t levels, int dimensions,
           const std::vector<Coordinates>& table)
      : base_(base),
        levels_(levels),
        digits_(static_cast<std::int64_t>(table.size())),
        table_(table) {
    dimensions_ = dimensions;
    count_ = saturating_power(digits_, levels);
    const std::int64_t extent = saturating_power(base, levels);
    for (std::size_t d = 0; d < width(); ++d) {
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
    group_vectors();
    group_cells();
  }

  void unrank(std::int64_t k, Coordinates& point) const override {
    std::array<std::uint64_t, kDimensions> sums = origin_;
    std::uint64_t rest = static_cast<std::uint64_t>(k);
    for (std::size_t step = 0; step < vector_weights_.size(); ++step) {
      add_vector(entries_divisor_.divide(rest), vector_weights_[step], sums);
    }
    for (std::size_t d = 0; d < width(); ++d) point[d] = static_cast<std::int64_t>(sums[d]);
  }

  // The points of one entry of the higher digits differ only by the vectors of the lowest group.
  void unrank_many(std::int64_t k, std::size_t count, std::int64_t* out) const override {
    while (count > 0) {
      std::uint64_t rest = static_cast<std::uint64_t>(k);
      const std::uint64_t first = vector_weights_.empty() ? 0 : entries_divisor_.divide(rest);
      std::array<std::uint64_t, kDimensions> sums = origin_;
      for (std::size_t step = 1; step < vector_weights_.size(); ++step) {
        add_vector(entries_divisor_.divide(rest), vector_weights_[step], sums);
      }
      if (vector_weights_.empty()) {
        std::fill_n(out, width(), 0);
        return;
      }
      const std::size_t here = std::min(count, static_cast<std::size_t>(entries_ - first));
      const std::uint32_t* entry = &vectors_[first * width()];
      for (std::size_t i = 0; i < here; ++i, entry += width()) {
        for (std::size_t d = 0; d < width(); ++d) {
          *out++ = static_cast<std::int64_t>(sums[d] + entry[d]);
        }
      }
      k += static_cast<std::int64_t>(here);
      count -= here;
    }
  }

  std::int64_t rank(const Coordinates& point) const override {
    std::array<std::uint64_t, kDimensions> rest{};
    for (std::size_t d = 0; d < width(); ++d) {
      if (point[d] < lower_[d] || point[d] > upper_[d]) return -1;
      rest[d] = static_cast<std::uint64_t>(point[d]);
    }
    std::uint64_t k = 0;
    for (const std::uint64_t weight : cell_weights_) {
      std::uint64_t cell = 0;
      for (std::size_t d = 0; d < width(); ++d) {
        cell += base_divisor_.divide(rest[d]) * cell_strides_[d];
      }
      const std::int32_t entry = cells_[cell];
      if (entry < 0) return -1;
      k += weight * static_cast<std::uint64_t>(entry);
    }
    if (!last_cells_.empty()) {
      // Digits above the last level would be beyond the bounds.
      std::uint64_t cell = 0;
      for (std::size_t d = width(); d-- > 0;) cell = cell * last_base_ + rest[d];
      const std::int32_t entry = last_cells_[cell];
      if (entry < 0) return -1;
      k += last_weight_ * static_cast<std::uint64_t>(entry);
    }
    return static_cast<std::int64_t>(k);
  }

  Proof proof() const override {
    return {Proof::Kind::kDigitTable,
            fmt::format("the {} digit vectors are distinct and below the base {}, which makes the "
                        "map a bijection for every number of levels",
                        digits_, base_)};
  }
  MapDescription describe() const override {
    return {DigitsDescription{base_, levels_, {table_.begin(), table_.end()}}};
  }

 protected:
  std::size_t width() const {
    return kDimensions == kMaxDimensions ? static_cast<std::size_t>(dimensions_) : kDimensions;
  }

 private:
  void add_vector(std::uint64_t entry, std::uint64_t weight,
                  std::array<std::uint64_t, kDimensions>& sums) const {
    const std::uint32_t* vector = &vectors_[entry * width()];
    for (std::size_t d = 0; d < width(); ++d) sums[d] += weight * vector[d];
  }

  void group_vectors() {
    DigitGroup group(base_, width(), table_);
    while (group.digits < levels_ && group.entries * digits_ <= kMaxEntries &&
           group.base * base_ <= kMaxGroupBase) {
      group.extend(base_, width(), table_);
    }
    vectors_ = std::move(group.vectors);
    entries_ = static_cast<std::uint64_t>(group.entries);
    entries_divisor_ = DivideEntries(group.entries);
    // Sums may wrap around; only the result has to fit.
    std::uint64_t weight = 1;
    std::int64_t level = 0;
    for (; level < levels_; level += group.digits) {
      vector_weights_.push_back(weight);
      weight *= static_cast<std::uint64_t>(group.base);
    }
    // The last step may have fewer digits. It then adds the first vector for each digit that is
    // missing; the origin makes up for that.
    weight = 1;
    for (std::int64_t i = 0; i < level; ++i) {
      for (std::size_t d = 0; d < width() && i >= levels_; ++d) {
        origin_[d] -= weight * static_cast<std::uint64_t>(table_.front()[d]);
      }
      weight *= static_cast<std::uint64_t>(base_);
    }
  }

  void group_cells() {
    const auto cells_of = [&](std::int64_t base) { return saturating_power(base, dimensions_); };
    DigitGroup group(base_, width(), table_);
    const std::int64_t most = std::max<std::int64_t>(levels_, 1);
    while (group.digits < most && cells_of(group.base * base_) <= kMaxGroupedCells) {
      group.extend(base_, width(), table_);
    }
    cells_ = group.cells(width());
    base_divisor_ = DivideBase(group.base);
    for (std::size_t d = 0; d < width(); ++d) {
      cell_strides_[d] = d == 0 ? 1 : cell_strides_[d - 1] * static_cast<std::uint64_t>(group.base);
    }
    std::uint64_t weight = 1;
    for (std::int64_t level = 0; level + group.digits <= levels_; level += group.digits) {
      cell_weights_.push_back(weight);
      weight *= static_cast<std::uint64_t>(group.entries);
    }
    const std::int64_t left = levels_ % group.digits;
    if (left == 0) return;
    DigitGroup last(base_, width(), table_);
    while (last.digits < left) last.extend(base_, width(), table_);
    last_cells_ = last.cells(width());
    last_base_ = static_cast<std::uint64_t>(last.base);
    last_weight_ = weight;
  }

  std::int64_t base_, levels_, digits_;
  std::vector<Coordinates> table_;
  // k to point: the vectors of a group, and for each step the weight of its vector.
  std::vector<std::uint32_t> vectors_;
  std::uint64_t entries_ = 0;
  DivideEntries entries_divisor_;
  std::vector<std::uint64_t> vector_weights_;
  std::array<std::uint64_t, kDimensions> origin_{};
  // Point to k: the entry of each cell of a group, and for each step the weight of its entry. The
  // highest digits may be fewer; they have a table of their own, which is empty if there are none.
  std::vector<std::int32_t> cells_, last_cells_;
  DivideBase base_divisor_;
  std::array<std::uint64_t, kDimensions> cell_strides_{};
  std::vector<std::uint64_t> cell_weights_;
  std::uint64_t last_base_ = 0, last_weight_ = 0;
};

// Returns a number made of every other bit, from the lowest one on.
std::uint64_t compact_bits(std::uint64_t x) {
  x &= 0x5555'5555'5555'5555;
  x = (x | x >> 1) & 0x3333'3333'3333'3333;
  x = (x | x >> 2) & 0x0F0F'0F0F'0F0F'0F0F;
  x = (x | x >> 4) & 0x00FF'00FF'00FF'00FF;
  x = (x | x >> 8) & 0x0000'FFFF'0000'FFFF;
  return (x | x >> 16) & 0xFFFF'FFFF;
}
// The inverse, for numbers of 32 bits.
std::uint64_t spread_bits(std::uint64_t x) {
  x = (x | x << 16) & 0x0000'FFFF'0000'FFFF;
  x = (x | x << 8) & 0x00FF'00FF'00FF'00FF;
  x = (x | x << 4) & 0x0F0F'0F0F'0F0F'0F0F;
  x = (x | x << 2) & 0x3333'3333'3333'3333;
  return (x | x << 1) & 0x5555'5555'5555'5555;
}

// Four vectors in base 2: all levels at once by operations on words. The two bits of each digit of
// k become two words; a bit of a coordinate is a function of the bits at its place in them.
template <std::size_t kDimensions>
class WordDigitMap final : public DigitMap<ShiftDivision, ShiftDivision, kDimensions> {
 public:
  WordDigitMap(std::int64_t levels, int dimensions, const std::vector<Coordinates>& table)
      : DigitMap<ShiftDivision, ShiftDivision, kDimensions>(2, levels, dimensions, table),
        mask_((std::uint64_t{1} << levels) - 1) {
    for (std::size_t d = 0; d < this->width(); ++d) {
      const auto bit = [&](std::size_t entry) { return table[entry][d] == 1; };
      const auto word = [&](bool is_set) { return is_set ? mask_ : 0; };
      // The coordinate is a sum without carries of products of the two bits.
      factors_[d] = {word(bit(0)), word(bit(0) != bit(1)), word(bit(0) != bit(2)),
                     word((bit(0) != bit(1)) != (bit(2) != bit(3)))};
      for (std::size_t entry = 0; entry < kEntries; ++entry) {
        differs_[entry][d] = bit(entry) ? 0 : ~std::uint64_t{0};
      }
    }
  }

  void unrank(std::int64_t k, Coordinates& point) const override {
    const auto bits = static_cast<std::uint64_t>(k);
    const std::uint64_t low = compact_bits(bits), high = compact_bits(bits >> 1);
    for (std::size_t d = 0; d < this->width(); ++d) {
      const auto& factor = factors_[d];
      point[d] = static_cast<std::int64_t>(factor[0] ^ (factor[1] & low) ^ (factor[2] & high) ^
                                           (factor[3] & low & high));
    }
  }

  std::int64_t rank(const Coordinates& point) const override {
    // The places at which the digits are each entry.
    std::array<std::uint64_t, kEntries> places;
    places.fill(mask_);
    for (std::size_t d = 0; d < this->width(); ++d) {
      const auto bits = static_cast<std::uint64_t>(point[d]);
      if ((bits & ~mask_) != 0) return -1;
      for (std::size_t entry = 0; entry < kEntries; ++entry) {
        places[entry] &= bits ^ differs_[entry][d];
      }
    }
    if ((places[0] | places[1] | places[2] | places[3]) != mask_) return -1;
    return static_cast<std::int64_t>(spread_bits(places[1] | places[3]) |
                                     spread_bits(places[2] | places[3]) << 1);
  }

 private:
  static constexpr std::size_t kEntries = 4;
  // A 1 for each level.
  std::uint64_t mask_;
  std::array<std::array<std::uint64_t, kEntries>, kDimensions> factors_{};
  // All bits if the entry has a 0 in this coordinate.
  std::array<std::array<std::uint64_t, kDimensions>, kEntries> differs_{};
};

template <typename DivideEntries, typename DivideBase>
PointMapPtr make_map(std::int64_t base, std::int64_t levels, int dimensions,
                     const std::vector<Coordinates>& table) {
  switch (dimensions) {
    case 2:
      return std::make_shared<DigitMap<DivideEntries, DivideBase, 2>>(base, levels, dimensions,
                                                                      table);
    case 3:
      return std::make_shared<DigitMap<DivideEntries, DivideBase, 3>>(base, levels, dimensions,
                                                                      table);
    default:
      return std::make_shared<DigitMap<DivideEntries, DivideBase, kMaxDimensions>>(
          base, levels, dimensions, table);
  }
}

}  // namespace

std::variant<PointMapPtr, DigitFaultAt> make_digit_map(std::int64_t base, std::int64_t levels,
                                                       int dimensions,
                                                       const std::vector<Coordinates>& table) {
  if (base < 2 || saturating_power(base, dimensions) > kMaxCells)
    return DigitFaultAt{DigitFault::kBadBase};
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
  while (most < levels && saturating_power(base, most + 1) != INT64_MAX &&
         saturating_power(digits, most + 1) != INT64_MAX) {
    ++most;
  }
  if (most < levels) return DigitFaultAt{DigitFault::kTooLarge, most};
  if (base == 2 && digits == 4 && dimensions == 2) {
    return std::make_shared<WordDigitMap<2>>(levels, dimensions, table);
  }
  if (base == 2 && digits == 4 && dimensions == 3) {
    return std::make_shared<WordDigitMap<3>>(levels, dimensions, table);
  }
  // One vector alone is a power of two, too: the shift is by 0.
  const bool shift_entries = is_power_of_two(digits), shift_base = is_power_of_two(base);
  if (shift_entries && shift_base)
    return make_map<ShiftDivision, ShiftDivision>(base, levels, dimensions, table);
  if (shift_entries) return make_map<ShiftDivision, Reciprocal>(base, levels, dimensions, table);
  if (shift_base) return make_map<Reciprocal, ShiftDivision>(base, levels, dimensions, table);
  return make_map<Reciprocal, Reciprocal>(base, levels, dimensions, table);
}

}  // namespace groma::domains
