#include "domain/composed_maps.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <numeric>

#include "domain/description.h"
#include "domain/polynomial.h"

namespace groma::domains {
namespace {

constexpr Int128 kMostCoordinate = Int128{1} << 62;

// ---- Affine images

// The inverse of an affine function: counters = (rows * (coordinates - offsets)) / denominator.
struct Inverse {
  std::vector<std::array<Int128, kMaxDimensions>> rows;
  Int128 denominator = 1;
};

// Returns a left inverse of a matrix of integers by elimination with rational numbers. Returns
// nullopt if its columns are dependent or a number does not fit.
std::optional<Inverse> invert(const std::vector<Coordinates>& factors, std::size_t columns) {
  const std::size_t rows = factors.size();
  // The matrix beside the unit matrix.
  std::vector<std::vector<Rational>> work(rows, std::vector<Rational>(columns + rows));
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = 0; j < columns; ++j) work[i][j] = {factors[i][j], 1};
    work[i][columns + i] = {1, 1};
  }
  for (std::size_t j = 0; j < columns; ++j) {
    std::size_t pivot = j;
    while (pivot < rows && work[pivot][j].is_zero()) ++pivot;
    if (pivot == rows) return std::nullopt;
    std::swap(work[j], work[pivot]);
    const auto scale = make_rational(work[j][j].denominator, work[j][j].numerator);
    if (!scale) return std::nullopt;
    for (Rational& each : work[j]) {
      const auto scaled = multiply(each, *scale);
      if (!scaled) return std::nullopt;
      each = *scaled;
    }
    for (std::size_t i = 0; i < rows; ++i) {
      if (i == j || work[i][j].is_zero()) continue;
      const Rational factor{-work[i][j].numerator, work[i][j].denominator};
      for (std::size_t c = 0; c < work[i].size(); ++c) {
        const auto part = multiply(work[j][c], factor);
        const auto sum = part ? add(work[i][c], *part) : std::nullopt;
        if (!sum) return std::nullopt;
        work[i][c] = *sum;
      }
    }
  }
  Inverse inverse;
  for (std::size_t j = 0; j < columns; ++j) {
    for (std::size_t c = 0; c < rows; ++c) {
      const Int128 other = work[j][columns + c].denominator;
      const Int128 divisor = greatest_common_divisor(inverse.denominator, other);
      if (__builtin_mul_overflow(inverse.denominator, other / divisor, &inverse.denominator)) {
        return std::nullopt;
      }
    }
  }
  for (std::size_t j = 0; j < columns; ++j) {
    std::array<Int128, kMaxDimensions> row{};
    for (std::size_t c = 0; c < rows; ++c) {
      const Rational& each = work[j][columns + c];
      if (__builtin_mul_overflow(each.numerator, inverse.denominator / each.denominator, &row[c]) ||
          row[c] > (Int128{1} << 50) || row[c] < -(Int128{1} << 50)) {
        return std::nullopt;
      }
    }
    inverse.rows.push_back(row);
  }
  return inverse;
}

class AffineImage final : public PointMap {
 public:
  AffineImage(PointMapPtr inner, std::vector<Coordinates> factors, const Coordinates& offsets,
              Inverse inverse)
      : inner_(std::move(inner)),
        factors_(std::move(factors)),
        offsets_(offsets),
        inverse_(std::move(inverse)) {
    count_ = inner_->count();
    dimensions_ = static_cast<int>(factors_.size());
  }

  // Returns false if a coordinate does not fit.
  bool set_bounds() {
    for (std::size_t i = 0; i < factors_.size(); ++i) {
      Int128 low = offsets_[i], high = offsets_[i];
      for (std::size_t j = 0; j < columns(); ++j) {
        const Int128 factor = factors_[i][j];
        const Int128 a = factor * inner_->lower()[j], b = factor * inner_->upper()[j];
        low += std::min(a, b);
        high += std::max(a, b);
      }
      if (count_ > 0 && (low < -kMostCoordinate || high > kMostCoordinate)) return false;
      lower_[i] = static_cast<std::int64_t>(low);
      upper_[i] = static_cast<std::int64_t>(high);
    }
    return true;
  }

  void unrank(std::int64_t k, Coordinates& point) const override {
    Coordinates counters;
    inner_->unrank(k, counters);
    for (std::size_t i = 0; i < factors_.size(); ++i) {
      std::int64_t sum = offsets_[i];
      for (std::size_t j = 0; j < columns(); ++j) sum += factors_[i][j] * counters[j];
      point[i] = sum;
    }
  }

  std::int64_t rank(const Coordinates& point) const override {
    Coordinates counters{};
    for (std::size_t i = 0; i < factors_.size(); ++i) {
      if (point[i] < lower_[i] || point[i] > upper_[i]) return -1;
    }
    for (std::size_t j = 0; j < columns(); ++j) {
      Int128 sum = 0;
      for (std::size_t i = 0; i < factors_.size(); ++i) {
        sum += inverse_.rows[j][i] * (Int128{point[i]} - offsets_[i]);
      }
      if (sum % inverse_.denominator != 0) return -1;
      sum /= inverse_.denominator;
      if (sum < inner_->lower()[j] || sum > inner_->upper()[j]) return -1;
      counters[j] = static_cast<std::int64_t>(sum);
    }
    // With more coordinates than counters, the others must agree too.
    for (std::size_t i = 0; i < factors_.size(); ++i) {
      Int128 sum = offsets_[i];
      for (std::size_t j = 0; j < columns(); ++j) sum += Int128{factors_[i][j]} * counters[j];
      if (sum != point[i]) return -1;
    }
    return inner_->rank(counters);
  }

  Proof proof() const override { return inner_->proof(); }
  MapDescription describe() const override {
    return {ImageDescription{inner_, factors_, offsets_, inverse_.rows, inverse_.denominator}};
  }

  // Returns true if no two images of these functions can meet, whatever the counters are: the
  // functions have the same factors, and no integers make up for the difference of the offsets.
  bool never_meets(const AffineImage& other) const {
    if (factors_ != other.factors_) return false;
    for (std::size_t j = 0; j < columns(); ++j) {
      Int128 sum = 0;
      for (std::size_t i = 0; i < factors_.size(); ++i) {
        sum += inverse_.rows[j][i] * (Int128{other.offsets_[i]} - offsets_[i]);
      }
      if (sum % inverse_.denominator != 0) return true;
    }
    return false;
  }

 private:
  std::size_t columns() const { return static_cast<std::size_t>(inner_->dimensions()); }

  PointMapPtr inner_;
  std::vector<Coordinates> factors_;
  Coordinates offsets_;
  Inverse inverse_;
};

// ---- Subsets

class Subset final : public PointMap {
 public:
  explicit Subset(PointMapPtr inner) : inner_(std::move(inner)) {
    dimensions_ = inner_->dimensions();
  }

  bool choose(const std::function<int(const Coordinates& point)>& keep) {
    const std::int64_t all = inner_->count();
    words_.assign(static_cast<std::size_t>((all + kBits - 1) / kBits), 0);
    Coordinates point{};
    for (std::int64_t k = 0; k < all; ++k) {
      inner_->unrank(k, point);
      const int kept = keep(point);
      if (kept < 0) return false;
      if (kept == 0) continue;
      words_[static_cast<std::size_t>(k / kBits)] |= std::uint64_t{1} << (k % kBits);
      for (std::size_t d = 0; d < static_cast<std::size_t>(dimensions_); ++d) {
        lower_[d] = count_ == 0 ? point[d] : std::min(lower_[d], point[d]);
        upper_[d] = count_ == 0 ? point[d] : std::max(upper_[d], point[d]);
      }
      ++count_;
    }
    std::int64_t sum = 0;
    for (std::uint64_t word : words_) {
      before_.push_back(sum);
      sum += std::popcount(word);
    }
    return true;
  }

  void unrank(std::int64_t k, Coordinates& point) const override {
    const auto after = std::upper_bound(before_.begin(), before_.end(), k);
    const auto number = static_cast<std::size_t>(after - before_.begin()) - 1;
    std::uint64_t word = words_[number];
    for (std::int64_t i = before_[number]; i < k; ++i) word &= word - 1;
    inner_->unrank(static_cast<std::int64_t>(number) * kBits + std::countr_zero(word), point);
  }

  std::int64_t rank(const Coordinates& point) const override {
    const std::int64_t k = inner_->rank(point);
    if (k < 0) return -1;
    const std::uint64_t word = words_[static_cast<std::size_t>(k / kBits)];
    const std::uint64_t bit = std::uint64_t{1} << (k % kBits);
    if ((word & bit) == 0) return -1;
    return before_[static_cast<std::size_t>(k / kBits)] + std::popcount(word & (bit - 1));
  }

  Proof proof() const override {
    return {Proof::Kind::kExhaustive,
            "each point was tested, and the points before each block of 64 were counted"};
  }

 private:
  static constexpr std::int64_t kBits = 64;
  PointMapPtr inner_;
  // One bit for each point of the inner map, and the chosen points before each word.
  std::vector<std::uint64_t> words_;
  std::vector<std::int64_t> before_;
};

// ---- Unions

class Union final : public PointMap {
 public:
  Union(std::vector<PointMapPtr> parts, std::string words, bool is_exhaustive)
      : parts_(std::move(parts)), words_(std::move(words)), is_exhaustive_(is_exhaustive) {
    dimensions_ = parts_.front()->dimensions();
    for (const PointMapPtr& part : parts_) {
      before_.push_back(count_);
      if (part->count() == 0) continue;
      for (std::size_t d = 0; d < static_cast<std::size_t>(dimensions_); ++d) {
        lower_[d] = count_ == 0 ? part->lower()[d] : std::min(lower_[d], part->lower()[d]);
        upper_[d] = count_ == 0 ? part->upper()[d] : std::max(upper_[d], part->upper()[d]);
      }
      count_ += part->count();
    }
  }

  void unrank(std::int64_t k, Coordinates& point) const override {
    const auto after = std::upper_bound(before_.begin(), before_.end(), k);
    const auto number = static_cast<std::size_t>(after - before_.begin()) - 1;
    parts_[number]->unrank(k - before_[number], point);
  }

  std::int64_t rank(const Coordinates& point) const override {
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      const std::int64_t k = parts_[i]->rank(point);
      if (k >= 0) return before_[i] + k;
    }
    return -1;
  }

  Proof proof() const override {
    Proof weakest{is_exhaustive_ ? Proof::Kind::kExhaustive : parts_.front()->proof().kind, ""};
    std::string words;
    for (const PointMapPtr& part : parts_) {
      const Proof proof = part->proof();
      weakest.kind = std::max(weakest.kind, proof.kind);
      if (words.find(proof.words) == std::string::npos) {
        words += (words.empty() ? "" : "; ") + proof.words;
      }
    }
    weakest.words = words + "; " + words_;
    return weakest;
  }
  MapDescription describe() const override { return {UnionDescription{parts_}}; }

 private:
  std::vector<PointMapPtr> parts_;
  std::vector<std::int64_t> before_;
  std::string words_;
  bool is_exhaustive_;
};

// ---- Maps by an expression

class ExplicitMap final : public PointMap {
 public:
  ExplicitMap(PointMapPtr inner, Expression value, std::vector<std::int64_t> parameters)
      : inner_(std::move(inner)), value_(std::move(value)), given_(std::move(parameters)) {
    count_ = inner_->count();
    dimensions_ = inner_->dimensions();
    lower_ = inner_->lower();
    upper_ = inner_->upper();
    given_.push_back(0);
  }

  // Returns the fault if the expression is not a map of the points.
  std::optional<MapFault> look_at_all() {
    constexpr std::int64_t kNone = -1;
    number_of_.assign(static_cast<std::size_t>(count_), kNone);
    Evaluator evaluator;
    for (std::int64_t k = 0; k < count_; ++k) {
      Value value;
      given_.back() = k;
      if (!evaluator.evaluate(value_, given_, &value))
        return MapFault{evaluator.fault(), k, {}, -1};
      const std::int64_t place = inner_->rank(value.items);
      if (place < 0) return MapFault{{}, k, value.items, -1};
      std::int64_t& earlier = number_of_[static_cast<std::size_t>(place)];
      if (earlier != kNone) return MapFault{{}, k, value.items, earlier};
      earlier = k;
    }
    return std::nullopt;
  }

  void unrank(std::int64_t k, Coordinates& point) const override {
    Evaluator evaluator;
    Value value;
    std::vector<std::int64_t> given = given_;
    given.back() = k;
    GROMA_CHECK(evaluator.evaluate(value_, given, &value));
    point = value.items;
  }

  std::int64_t rank(const Coordinates& point) const override {
    const std::int64_t place = inner_->rank(point);
    return place < 0 ? -1 : number_of_[static_cast<std::size_t>(place)];
  }

  Proof proof() const override {
    return {Proof::Kind::kExhaustive,
            fmt::format("the map was evaluated for all {} numbers and gave each point once, for "
                        "these parameters",
                        count_)};
  }

 private:
  PointMapPtr inner_;
  Expression value_;
  // The parameters and a place for k.
  std::vector<std::int64_t> given_;
  // k of each point, by its place in the inner map.
  std::vector<std::int64_t> number_of_;
};

}  // namespace

PointMapPtr make_affine_image(PointMapPtr inner, const std::vector<Coordinates>& factors,
                              const Coordinates& offsets) {
  auto inverse = invert(factors, static_cast<std::size_t>(inner->dimensions()));
  if (!inverse) return nullptr;
  for (const Coordinates& row : factors) {
    for (std::int64_t factor : row) {
      if (factor > (std::int64_t{1} << 40) || factor < -(std::int64_t{1} << 40)) return nullptr;
    }
  }
  auto image =
      std::make_shared<AffineImage>(std::move(inner), factors, offsets, std::move(*inverse));
  return image->set_bounds() ? image : nullptr;
}

PointMapPtr make_subset(PointMapPtr inner,
                        const std::function<int(const Coordinates& point)>& keep) {
  auto subset = std::make_shared<Subset>(std::move(inner));
  return subset->choose(keep) ? subset : nullptr;
}

PointMapPtr make_union(std::vector<PointMapPtr> parts, std::string words, bool is_exhaustive) {
  return std::make_shared<Union>(std::move(parts), std::move(words), is_exhaustive);
}

Overlap find_overlap(const PointMap& a, const PointMap& b) {
  if (a.count() == 0 || b.count() == 0) return {true, {}, false};
  for (std::size_t d = 0; d < static_cast<std::size_t>(a.dimensions()); ++d) {
    if (a.upper()[d] < b.lower()[d] || b.upper()[d] < a.lower()[d]) return {true, {}, false};
  }
  const auto* left = dynamic_cast<const AffineImage*>(&a);
  const auto* right = dynamic_cast<const AffineImage*>(&b);
  if (left != nullptr && right != nullptr && left->never_meets(*right)) return {true, {}, false};
  const bool swapped = a.count() > b.count();
  const PointMap& few = swapped ? b : a;
  const PointMap& many = swapped ? a : b;
  if (few.count() > kMaxCompared) return {};
  Coordinates point{};
  for (std::int64_t k = 0; k < few.count(); ++k) {
    few.unrank(k, point);
    if (many.rank(point) >= 0) return {true, point, true};
  }
  return {true, {}, true};
}

std::variant<PointMapPtr, MapFault> make_explicit_map(PointMapPtr inner, Expression value,
                                                      std::vector<std::int64_t> parameters) {
  auto map =
      std::make_shared<ExplicitMap>(std::move(inner), std::move(value), std::move(parameters));
  if (const auto fault = map->look_at_all()) return *fault;
  return PointMapPtr(std::move(map));
}

}  // namespace groma::domains
