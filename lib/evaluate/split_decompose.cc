// decompose: finds the split with the least communication by dynamic programming. A partial problem
// consists of a dimension and the product that its size and the sizes of the later dimensions must
// have.
#include <algorithm>
#include <cstddef>
#include <limits>
#include <numeric>
#include <utility>

#include "evaluate/split_factors.h"
#include "evaluate/splits.h"
#include "groma/result.h"

namespace groma::mapper {
namespace {

__extension__ typedef unsigned __int128 Cost;

using Sizes = std::vector<std::int64_t>;

// The largest number of tails (choices of sizes for the last dimensions) that one call examines. It
// is below the limit of auto_split on factorisations, because each tail costs a search of divisors
// and a sort.
constexpr std::int64_t kMaxTails = kMaxFactorisations / 5;

// The cost that stands for an impossible split, and for a cost that does not fit in the type Cost.
// It is the largest value of the type.
constexpr Cost kNoCost = ~Cost{0};

// Add or multiply two costs; the result is kNoCost if it does not fit.
Cost add(Cost a, Cost b) {
  Cost sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? kNoCost : sum;
}

Cost multiply(Cost a, Cost b) {
  Cost product = 0;
  return __builtin_mul_overflow(a, b, &product) ? kNoCost : product;
}

// The sizes of dimensions i..k-1 in a split that has the least crossing cost (the first sum of
// decompose() in splits.h).
struct TailSizes {
  Cost volume;       // The product of the extents b_j of the largest block, for j = i..k-1.
  Cost surface;      // Sum over j = i..k-1 of halo_j * (product of the other b's from b_i on).
  std::size_t size;  // Index of the divisor o_i, the size of dimension i.
  std::size_t next;  // Index of the tail of dimension i + 1 that holds the later sizes.
};

// Searches for the best split. The crossing cost is a sum of costs that each depend on the size of
// one dimension. So its minimum for dimensions i..k-1 with a given product of sizes follows from
// the minima for dimensions i+1..k-1.
//
// The surface of the largest block is not such a sum. If the sizes of the dimensions before i are
// fixed, the block's surface is c1 * (surface of the tail) + c2 * (volume of the tail). c1 is
// positive, and c2 is not negative. So for each dimension and product, only those tails are kept
// that no other tail beats in both surface and volume. They are few.
class Decomposition {
 public:
  // All `extents` are above 0, and `volume` is their product.
  Decomposition(const Divisors& divisors, const Sizes& extents, std::span<const std::int64_t> halo,
                std::int64_t volume)
      : divisors_(divisors),
        extents_(extents),
        halo_(halo),
        dimensions_(extents.size()),
        choices_(divisors.count()),
        least_((dimensions_ + 1) * divisors.count(), kNoCost),
        tails_((dimensions_ + 1) * divisors.count()) {
    for (std::size_t i = 0; i < dimensions_; ++i) {
      const Cost face = multiply(unsigned_of(halo_[i]), unsigned_of(volume / extents_[i]));
      for (std::size_t d = 0; d < divisors_.count(); ++d) {
        crossing_.push_back(multiply(face, unsigned_of(divisors_.divisor_value(d) - 1)));
      }
    }
    least_[at(dimensions_, 0)] = 0;
    tails_[at(dimensions_, 0)] = {{1, 0, 0, 0}};
  }

  // Returns the best split, or why there is none.
  SplitResult run() {
    find_least();
    if (least_[at(0, divisors_.index_of_number())] == kNoCost) return SplitError::kOverflow;
    const std::vector<TailSizes>& best = tails(0, divisors_.index_of_number());
    if (too_many_) return SplitError::kTooMany;
    if (best.front().surface == kNoCost) return SplitError::kOverflow;
    return sizes_of(best.front());
  }

 private:
  static Cost unsigned_of(std::int64_t value) { return static_cast<Cost>(value); }

  // Returns the position in crossing_, least_ and tails_ of the entry for a dimension and for the
  // divisor with the index `left`.
  std::size_t at(std::size_t dimension, std::size_t left) const {
    return dimension * divisors_.count() + left;
  }

  // Fills least_ in the order of the divisors' indices. If one number divides another, its index is
  // not the larger one. So the entries that least_of() reads are already complete. choices_[left],
  // one list of divisors, serves all dimensions.
  void find_least() {
    for (std::size_t left = 0; left < divisors_.count(); ++left) {
      choices_[left] = rising_divisors_of(left);
      for (std::size_t i = dimensions_; i-- > 0;) least_[at(i, left)] = least_of(i, left);
    }
  }

  // Returns the indices of the divisors of the number with the index `left`, in rising order of
  // their values.
  std::vector<std::size_t> rising_divisors_of(std::size_t left) const {
    std::vector<std::size_t> sizes = divisors_.divisors_of(left);
    std::sort(sizes.begin(), sizes.end(), [&](std::size_t a, std::size_t b) {
      return divisors_.divisor_value(a) < divisors_.divisor_value(b);
    });
    return sizes;
  }

  // Returns the least crossing cost of dimensions i..k-1 if the product of their sizes is the
  // divisor with the index `left`.
  Cost least_of(std::size_t i, std::size_t left) const {
    Cost least = kNoCost;
    for (std::size_t size : choices_[left]) {
      // The crossing cost of dimension i rises with its size, so no later size can be better.
      if (crossing_[at(i, size)] >= least) break;
      least = std::min(least, crossing_with(i, left, size));
    }
    return least;
  }

  // Returns the least crossing cost of dimensions i..k-1 if the product of their sizes is the
  // divisor with the index `left`, and the size of dimension i is the divisor with the index
  // `size`.
  Cost crossing_with(std::size_t i, std::size_t left, std::size_t size) const {
    return add(crossing_[at(i, size)], least_[at(i + 1, left - size)]);
  }

  // Returns the sizes of dimension i for which the crossing cost of dimensions i..k-1 can be the
  // least. The product of the sizes of these dimensions is the divisor with the index `left`. The
  // returned sizes are indices of divisors, in rising order of their values.
  std::vector<std::size_t> best_sizes(std::size_t i, std::size_t left) const {
    const Cost least = least_[at(i, left)];
    std::vector<std::size_t> sizes;
    for (std::size_t size : choices_[left]) {
      if (crossing_[at(i, size)] > least) break;
      if (crossing_with(i, left, size) == least) sizes.push_back(size);
    }
    return sizes;
  }

  // Returns the tails that choose sizes for dimensions i..k-1 and can be part of the best split, in
  // lexicographic order. The product of the sizes is the divisor with the index `left`. The first
  // call computes the list, and later calls return the same list. It is empty only if the least
  // cost is kNoCost or if too many tails were examined.
  const std::vector<TailSizes>& tails(std::size_t i, std::size_t left) {
    std::vector<TailSizes>& result = tails_[at(i, left)];
    if (!result.empty()) return result;
    std::vector<TailSizes> candidates;
    for (std::size_t size : best_sizes(i, left)) {
      const std::vector<TailSizes>& rests = tails(i + 1, left - size);
      looked_at_ += static_cast<std::int64_t>(rests.size());
      too_many_ = too_many_ || looked_at_ > kMaxTails;
      if (too_many_) return result;
      for (std::size_t next = 0; next < rests.size(); ++next) {
        candidates.push_back(extend(i, size, rests[next], next));
      }
    }
    result = unbeaten(candidates, i);
    return result;
  }

  // A tail is a choice of sizes for the last dimensions. Returns the tail that gives dimension i
  // the divisor with the index `size`, and the later dimensions the sizes of the tail `rest`.
  // `next` is the index of `rest` among the tails of dimension i + 1.
  TailSizes extend(std::size_t i, std::size_t size, const TailSizes& rest, std::size_t next) const {
    const std::int64_t parts = divisors_.divisor_value(size);
    const Cost block = unsigned_of((extents_[i] - 1) / parts + 1);
    const Cost face = multiply(unsigned_of(halo_[i]), rest.volume);
    return {multiply(block, rest.volume), add(multiply(block, rest.surface), face), size, next};
  }

  // Returns those of the tails `candidates`, which begin at dimension i, that can be part of the
  // best split. The candidates and the result are in lexicographic order.
  //
  // * If no dimension before i has a halo, only the surface of a tail counts, not its volume.
  // * Otherwise both surface and volume count. A tail that is worse in one of them and equal in the
  //   other is worse, whatever the sizes of the dimensions before i are.
  //
  // Among tails that are equal in what counts, the first is kept.
  std::vector<TailSizes> unbeaten(const std::vector<TailSizes>& candidates, std::size_t i) const {
    const auto before = halo_.first(i);
    if (std::all_of(before.begin(), before.end(), [](std::int64_t halo) { return halo == 0; })) {
      return {*std::min_element(candidates.begin(), candidates.end(), has_less_surface)};
    }
    std::vector<std::size_t> order(candidates.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return std::pair(candidates[a].surface, candidates[a].volume) <
             std::pair(candidates[b].surface, candidates[b].volume);
    });
    std::vector<std::size_t> kept;
    // The loop visits the tails in rising order of their surface. So it keeps a tail only if its
    // volume is smaller than that of all tails before.
    for (std::size_t index : order) {
      if (kept.empty() || candidates[index].volume < candidates[kept.back()].volume) {
        kept.push_back(index);
      }
    }
    std::sort(kept.begin(), kept.end());
    std::vector<TailSizes> result;
    for (std::size_t index : kept) result.push_back(candidates[index]);
    return result;
  }

  static bool has_less_surface(const TailSizes& a, const TailSizes& b) {
    return a.surface < b.surface;
  }

  // Returns the sizes that a tail of dimension 0 stands for: it holds the size of its own dimension
  // and the index of the tail that holds the next one.
  Sizes sizes_of(TailSizes tail) const {
    Sizes sizes;
    std::size_t left = divisors_.index_of_number();
    for (std::size_t i = 0; i < dimensions_; ++i) {
      sizes.push_back(divisors_.divisor_value(tail.size));
      left -= tail.size;
      tail = tails_[at(i + 1, left)][tail.next];
    }
    return sizes;
  }

  const Divisors& divisors_;
  const Sizes& extents_;
  std::span<const std::int64_t> halo_;
  std::size_t dimensions_;
  // For the index of each divisor: the indices of all divisors of this divisor, in rising order of
  // their values.
  std::vector<std::vector<std::size_t>> choices_;
  // The crossing cost of one dimension whose size is o: halo * (o - 1) * (product of the other
  // extents). It stands at [dimension][index of o among the divisors].
  std::vector<Cost> crossing_;
  // The least crossing cost of dimensions i..k-1 if their sizes have a given product. It stands at
  // [i][index of the product among the divisors].
  std::vector<Cost> least_;
  // The result of tails(i, left), at [i][left]. An empty list was not computed yet.
  std::vector<std::vector<TailSizes>> tails_;
  std::int64_t looked_at_ = 0;
  bool too_many_ = false;
};

// Returns the product of the extents, which are above 0. Returns 0 if it exceeds 2^63-1.
std::int64_t volume_of(const Sizes& extents) {
  std::int64_t volume = 1;
  for (std::int64_t extent : extents) {
    if (extent > std::numeric_limits<std::int64_t>::max() / volume) return 0;
    volume *= extent;
  }
  return volume;
}

}  // namespace

// Checks the arguments, and searches for the split with the least communication.
SplitResult decompose(std::int64_t n, std::span<const std::int64_t> extents,
                      std::span<const std::int64_t> halo) {
  GROMA_CHECK(n >= 0 && n <= kMaxSplit && halo.size() == extents.size());
  for (std::int64_t extent : extents) GROMA_CHECK(extent >= 0);
  for (std::int64_t width : halo) GROMA_CHECK(width >= 0);
  const Sizes positive = replace_zeros_by_ones(extents);
  const std::int64_t volume = volume_of(positive);
  if (volume == 0) return SplitError::kOverflow;
  if (n <= 1 || extents.empty()) return Sizes(extents.size(), 1);
  if (extents.size() > kMaxNewDimensions) return SplitError::kTooMany;
  const Divisors divisors(n);
  return Decomposition(divisors, positive, halo, volume).run();
}

}  // namespace groma::mapper
