// Maps that keep something for each point: subsets by a condition, and maps by an expression.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>

#include "domain/composed_maps.h"

namespace groma::domains {
namespace {

// ---- Subsets

class Subset final : public PointMap {
 public:
  explicit Subset(PointMapPtr inner) : inner_(std::move(inner)) {
    dimensions_ = inner_->dimensions();
  }

  bool choose(const std::function<int(const Coordinates& point)>& keep) {
    const std::int64_t all = inner_->count();
    words_.assign(static_cast<std::size_t>((all + kBits - 1) / kBits), 0);
    constexpr std::int64_t kBlock = 64;
    std::array<std::int64_t, kBlock * kMaxDimensions> block{};
    const auto dimensions = static_cast<std::size_t>(dimensions_);
    Coordinates point{};
    for (std::int64_t k = 0; k < all; ++k) {
      if (k % kBlock == 0) {
        inner_->unrank_many(k, static_cast<std::size_t>(std::min(kBlock, all - k)), block.data());
      }
      std::copy_n(&block[static_cast<std::size_t>(k % kBlock) * dimensions], dimensions,
                  point.begin());
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
    before_.reserve(words_.size());
    for (std::uint64_t word : words_) {
      // The words in which each kSample-th point lies, so that a search looks at few words.
      while (static_cast<std::int64_t>(samples_.size()) * kSample < sum + std::popcount(word)) {
        samples_.push_back(before_.size());
      }
      before_.push_back(sum);
      sum += std::popcount(word);
    }
    return true;
  }

  void unrank(std::int64_t k, Coordinates& point) const override {
    inner_->unrank(inner_number(k), point);
  }

  void unrank_many(std::int64_t k, std::size_t count, std::int64_t* out) const override {
    if (count == 0) return;
    // Chosen points often follow one another in the inner map.
    for (std::int64_t next = inner_number(k); count > 0;) {
      const std::int64_t first = next;
      std::size_t run = 0;
      for (; run < count && is_chosen(next); ++run) ++next;
      inner_->unrank_many(first, run, out);
      out += run * static_cast<std::size_t>(dimensions_);
      count -= run;
      if (count > 0) next = next_chosen(next);
    }
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
  static constexpr std::int64_t kBits = 64, kSample = 512;

  bool is_chosen(std::int64_t number) const {
    const auto word = static_cast<std::size_t>(number / kBits);
    return word < words_.size() && (words_[word] >> (number % kBits) & 1) != 0;
  }
  // Returns the number of the first chosen point from this one on; there is one.
  std::int64_t next_chosen(std::int64_t number) const {
    auto at = static_cast<std::size_t>(number / kBits);
    std::uint64_t word = words_[at] & (~std::uint64_t{0} << (number % kBits));
    while (word == 0) word = words_[++at];
    return static_cast<std::int64_t>(at) * kBits + std::countr_zero(word);
  }
  // Returns the number that the k-th chosen point has in the inner map.
  std::int64_t inner_number(std::int64_t k) const {
    const auto sample = static_cast<std::size_t>(k / kSample);
    const auto first = before_.begin() + static_cast<std::ptrdiff_t>(samples_[sample]);
    const auto last = sample + 1 < samples_.size()
                          ? before_.begin() + static_cast<std::ptrdiff_t>(samples_[sample + 1]) + 1
                          : before_.end();
    const auto number =
        static_cast<std::size_t>(std::upper_bound(first, last, k) - before_.begin()) - 1;
    std::uint64_t word = words_[number];
    for (std::int64_t i = before_[number]; i < k; ++i) word &= word - 1;
    return static_cast<std::int64_t>(number) * kBits + std::countr_zero(word);
  }

  PointMapPtr inner_;
  // One bit for each point of the inner map, and the chosen points before each word.
  std::vector<std::uint64_t> words_;
  std::vector<std::int64_t> before_;
  std::vector<std::size_t> samples_;
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
    constexpr std::int32_t kNone = -1;
    number_of_.assign(static_cast<std::size_t>(count_), kNone);
    place_of_.reserve(static_cast<std::size_t>(count_));
    Evaluator evaluator;
    for (std::int64_t k = 0; k < count_; ++k) {
      Value value;
      given_.back() = k;
      if (!evaluator.evaluate(value_, given_, &value))
        return MapFault{evaluator.fault(), k, {}, -1};
      const std::int64_t place = inner_->rank(value.items);
      if (place < 0) return MapFault{{}, k, value.items, -1};
      std::int32_t& earlier = number_of_[static_cast<std::size_t>(place)];
      if (earlier != kNone) return MapFault{{}, k, value.items, earlier};
      earlier = static_cast<std::int32_t>(k);
      place_of_.push_back(static_cast<std::int32_t>(place));
    }
    return std::nullopt;
  }

  void unrank(std::int64_t k, Coordinates& point) const override {
    inner_->unrank(place_of_[static_cast<std::size_t>(k)], point);
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
  // k of each point, by its place in the inner map, and the other way round.
  std::vector<std::int32_t> number_of_, place_of_;
};

}  // namespace

PointMapPtr make_subset(PointMapPtr inner,
                        const std::function<int(const Coordinates& point)>& keep) {
  auto subset = std::make_shared<Subset>(std::move(inner));
  return subset->choose(keep) ? subset : nullptr;
}

std::variant<PointMapPtr, MapFault> make_explicit_map(PointMapPtr inner, Expression value,
                                                      std::vector<std::int64_t> parameters) {
  auto map =
      std::make_shared<ExplicitMap>(std::move(inner), std::move(value), std::move(parameters));
  if (const auto fault = map->look_at_all()) return *fault;
  return PointMapPtr(std::move(map));
}

}  // namespace groma::domains
