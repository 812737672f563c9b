// Affine images and unions of maps; whether maps share points.
#include "domain/composed_maps.h"

#include <algorithm>

#include "domain/box_map.h"
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
    columns_ = static_cast<std::size_t>(inner_->dimensions());
    find_permutation();
  }

  // Returns false if a coordinate does not fit.
  bool set_bounds() {
    for (std::size_t i = 0; i < factors_.size(); ++i) {
      Int128 low = offsets_[i], high = offsets_[i];
      for (std::size_t j = 0; j < columns_; ++j) {
        const Int128 factor = factors_[i][j];
        const Int128 a = factor * inner_->lower()[j], b = factor * inner_->upper()[j];
        low += std::min(a, b);
        high += std::max(a, b);
      }
      if (count_ > 0 && (low < -kMostCoordinate || high > kMostCoordinate)) return false;
      lower_[i] = static_cast<std::int64_t>(low);
      upper_[i] = static_cast<std::int64_t>(high);
    }
    // Each sum of find_counters() is at most this.
    constexpr Int128 kMostSum = Int128{1} << 62;
    is_small_ = true;
    for (const auto& row : inverse_.rows) {
      Int128 sum = 0;
      for (std::size_t i = 0; i < factors_.size(); ++i) {
        const Int128 far =
            std::max(Int128{upper_[i]} - offsets_[i], Int128{offsets_[i]} - lower_[i]);
        sum += (row[i] < 0 ? -row[i] : row[i]) * std::max<Int128>(far, 0);
      }
      is_small_ = is_small_ && sum < kMostSum;
    }
    return true;
  }

  void unrank(std::int64_t k, Coordinates& point) const override {
    Coordinates counters;
    inner_->unrank(k, counters);
    map_counters(counters.data(), point.data());
  }

  void unrank_many(std::int64_t k, std::size_t count, std::int64_t* out) const override {
    constexpr std::size_t kBlock = 64;
    std::array<std::int64_t, kBlock * kMaxDimensions> counters;
    for (std::size_t done = 0; done < count; done += kBlock) {
      const std::size_t here = std::min(kBlock, count - done);
      inner_->unrank_many(k + static_cast<std::int64_t>(done), here, counters.data());
      if (is_permutation_) {
        for (std::size_t d = 0; d < columns_; ++d) {
          const std::int64_t* from = &counters[source_[d]];
          const std::int64_t offset = offsets_[d];
          for (std::size_t i = 0; i < here; ++i)
            out[i * columns_ + d] = from[i * columns_] + offset;
        }
      } else {
        for (std::size_t i = 0; i < here; ++i) {
          map_counters(&counters[i * columns_], out + i * factors_.size());
        }
      }
      out += here * factors_.size();
    }
  }

  std::int64_t rank(const Coordinates& point) const override {
    Coordinates counters;
    for (std::size_t i = 0; i < factors_.size(); ++i) {
      if (point[i] < lower_[i] || point[i] > upper_[i]) return -1;
    }
    if (is_permutation_) {
      for (std::size_t i = 0; i < columns_; ++i) counters[source_[i]] = point[i] - offsets_[i];
      return inner_->rank(counters);
    }
    if (!(is_small_ ? find_counters<std::int64_t>(point, counters)
                    : find_counters<Int128>(point, counters))) {
      return -1;
    }
    return inner_->rank(counters);
  }

  Proof proof() const override { return inner_->proof(); }
  MapDescription describe() const override {
    return {ImageDescription{inner_, factors_, offsets_, inverse_.rows, inverse_.denominator}};
  }

  std::optional<std::vector<Box>> boxes() const override {
    if (count_ == 0) return std::vector<Box>{};
    auto all = is_permutation_ ? inner_->boxes() : std::nullopt;
    if (!all) return std::nullopt;
    for (Box& box : *all) {
      const Box counters = box;
      for (std::size_t i = 0; i < columns_; ++i) {
        box.lower[i] = counters.lower[source_[i]] + offsets_[i];
        box.upper[i] = counters.upper[source_[i]] + offsets_[i];
      }
    }
    return all;
  }
  std::vector<std::size_t> loop_order() const override {
    if (!is_permutation_) return {};
    std::vector<std::size_t> order;
    for (const std::size_t counter : inner_->loop_order()) {
      const auto* const found = std::find(source_.begin(), source_.begin() + columns_, counter);
      order.push_back(static_cast<std::size_t>(found - source_.begin()));
    }
    return order;
  }

  // Returns true if no two images of these functions can meet, whatever the counters are: the
  // functions have the same factors, and no integers make up for the difference of the offsets.
  bool never_meets(const AffineImage& other) const {
    if (factors_ != other.factors_) return false;
    for (std::size_t j = 0; j < columns_; ++j) {
      Int128 sum = 0;
      for (std::size_t i = 0; i < factors_.size(); ++i) {
        sum += inverse_.rows[j][i] * (Int128{other.offsets_[i]} - offsets_[i]);
      }
      if (sum % inverse_.denominator != 0) return true;
    }
    return false;
  }

 private:
  // Finds out whether each coordinate is another counter plus an offset.
  void find_permutation() {
    is_permutation_ = columns_ == factors_.size();
    std::array<bool, kMaxDimensions> used{};
    for (std::size_t i = 0; i < factors_.size() && is_permutation_; ++i) {
      const auto one = std::find(factors_[i].begin(), factors_[i].end(), 1);
      source_[i] = static_cast<std::size_t>(one - factors_[i].begin());
      is_permutation_ = one != factors_[i].end() && !used[source_[i]] &&
                        std::count(factors_[i].begin(), factors_[i].end(), 0) ==
                            static_cast<std::ptrdiff_t>(factors_[i].size()) - 1;
      if (is_permutation_) used[source_[i]] = true;
    }
  }

  void map_counters(const std::int64_t* counters, std::int64_t* point) const {
    if (is_permutation_) {
      for (std::size_t i = 0; i < columns_; ++i) point[i] = counters[source_[i]] + offsets_[i];
      return;
    }
    for (std::size_t i = 0; i < factors_.size(); ++i) {
      std::int64_t sum = offsets_[i];
      for (std::size_t j = 0; j < columns_; ++j) sum += factors_[i][j] * counters[j];
      point[i] = sum;
    }
  }

  // Returns false if the point, which is within the bounds, is no image of counters within theirs.
  template <typename Int>
  bool find_counters(const Coordinates& point, Coordinates& counters) const {
    const auto denominator = static_cast<Int>(inverse_.denominator);
    for (std::size_t j = 0; j < columns_; ++j) {
      Int sum = 0;
      for (std::size_t i = 0; i < factors_.size(); ++i) {
        sum += static_cast<Int>(inverse_.rows[j][i]) * (static_cast<Int>(point[i]) - offsets_[i]);
      }
      if (denominator != 1) {
        if (sum % denominator != 0) return false;
        sum /= denominator;
      }
      if (sum < inner_->lower()[j] || sum > inner_->upper()[j]) return false;
      counters[j] = static_cast<std::int64_t>(sum);
    }
    if (factors_.size() == columns_) return true;
    // With more coordinates than counters, the others must agree too.
    for (std::size_t i = 0; i < factors_.size(); ++i) {
      Int128 sum = offsets_[i];
      for (std::size_t j = 0; j < columns_; ++j) sum += Int128{factors_[i][j]} * counters[j];
      if (sum != point[i]) return false;
    }
    return true;
  }

  PointMapPtr inner_;
  std::size_t columns_ = 0;
  // If each coordinate is a counter plus an offset: the number of the counter.
  bool is_permutation_ = false;
  std::array<std::size_t, kMaxDimensions> source_{};
  // True if 64 bits suffice to find the counters of a point.
  bool is_small_ = false;
  std::vector<Coordinates> factors_;
  Coordinates offsets_;
  Inverse inverse_;
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

  void unrank_many(std::int64_t k, std::size_t count, std::int64_t* out) const override {
    for (std::size_t i = 0; i < parts_.size() && count > 0; ++i) {
      const std::int64_t in_part = k - before_[i];
      if (in_part >= parts_[i]->count()) continue;
      const std::size_t here = static_cast<std::size_t>(
          std::min(static_cast<std::int64_t>(count), parts_[i]->count() - in_part));
      parts_[i]->unrank_many(in_part, here, out);
      out += here * static_cast<std::size_t>(dimensions_);
      k += static_cast<std::int64_t>(here);
      count -= here;
    }
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

  std::optional<std::vector<Box>> boxes() const override {
    std::vector<Box> all;
    for (const PointMapPtr& part : parts_) {
      const auto more = part->boxes();
      if (!more || all.size() + more->size() > kMaxBoxes) return std::nullopt;
      all.insert(all.end(), more->begin(), more->end());
    }
    return all;
  }
  PointMapPtr without(const std::vector<Box>& out) const override {
    std::vector<PointMapPtr> rest;
    for (const PointMapPtr& part : parts_) {
      rest.push_back(part->without(out));
      if (rest.back() == nullptr) return nullptr;
    }
    return std::make_shared<Union>(std::move(rest), words_, is_exhaustive_);
  }

 private:
  std::vector<PointMapPtr> parts_;
  std::vector<std::int64_t> before_;
  std::string words_;
  bool is_exhaustive_;
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

PointMapPtr make_union(std::vector<PointMapPtr> parts, std::string words, bool is_exhaustive) {
  return std::make_shared<Union>(std::move(parts), std::move(words), is_exhaustive);
}

Overlap find_overlap(const PointMap& a, const PointMap& b) {
  if (a.count() == 0 || b.count() == 0) return {true, {}, false};
  for (std::size_t d = 0; d < static_cast<std::size_t>(a.dimensions()); ++d) {
    if (a.upper()[d] < b.lower()[d] || b.upper()[d] < a.lower()[d]) return {true, {}, false};
  }
  const auto left_boxes = a.boxes(), right_boxes = left_boxes ? b.boxes() : std::nullopt;
  if (right_boxes) return {true, shared_point(*left_boxes, *right_boxes, a.dimensions()), false};
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

}  // namespace groma::domains
