// Splits: cut n processors into a grid. The four splitting operations of a machine view are here as
// pure functions of numbers. They return the sizes of the new dimensions, the first of which is the
// fastest (docs/language.md, "Machines").
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <variant>
#include <vector>

namespace groma::mapper {

// The reason why a number of processors cannot be split.
enum class SplitError : std::uint8_t {
  // A product of extents exceeds 2^63-1, or a cost does not fit in 128 bits.
  kOverflow,
  // The search would have to try more than kMaxFactorisations factorisations.
  kTooMany,
};
using SplitResult = std::variant<std::vector<std::int64_t>, SplitError>;

// Limit on the factorisations that one call tries, so that a call takes at most about a tenth of a
// second.
inline constexpr std::int64_t kMaxFactorisations = 10'000'000;

// All splitting functions take 0 <= n <= 2^40. n = 0 and n = 1 give sizes of 1; no extents give no
// sizes. Arguments outside these limits are an error of the caller and end the process. The caller
// must report a negative extent or halo of `decompose` before.

// Returns k sizes in falling order whose product is n. It multiplies the prime factors, from the
// smallest on, each into the smallest size. k >= 1.
std::vector<std::int64_t> balance_split(std::int64_t n, std::int64_t k);

// Gives each prime factor of n, from the largest on, to the dimension with the largest remaining
// extent and divides that extent by it. Extents are doubles; at a tie the first dimension wins.
// Legion's DefaultMapper selects blocks in this way. Any extents are allowed.
std::vector<std::int64_t> greedy_split(std::int64_t n, std::span<const std::int64_t> extents);

// Returns the ordered factorisation n = o_0 * ... * o_{k-1} with the smallest sum of o_i /
// extent_i. It uses the floating point arithmetic of the original and treats sums within 1e-6 as
// ties, as the original does. Among ties it returns the result of greedy_split if that is one of
// them, otherwise the first in the original's order. Any extents are allowed; 0 counts as 1. Fails
// with kTooMany (also for more than 32 extents), never with kOverflow.
SplitResult auto_split(std::int64_t n, std::span<const std::int64_t> extents);

// Returns the factorisation with the least communication in a nearest-neighbour exchange. It
// minimises exactly, in this order:
// * sum_i halo_i * (o_i - 1) * prod_{j != i} extent_j
// * the surface of the largest block, sum_i halo_i * prod_{j != i} b_j, with b_i = ceil(extent_i /
//   o_i)
// * (o_0, ..) in lexicographic order
// extents >= 0 (0 counts as 1); halo >= 0, one for each extent. Fails with kOverflow if the product
// of the extents exceeds 2^63-1, whatever n is, or if even the best sum does not fit. Fails with
// kTooMany for more than 32 extents, and if very many splits tie in the first sum.
SplitResult decompose(std::int64_t n, std::span<const std::int64_t> extents,
                      std::span<const std::int64_t> halo);

// Returns the number of factorisations of n into k sizes, which auto_split tries; at most
// kMaxFactorisations + 1.
std::int64_t count_factorisations(std::int64_t n, std::size_t k);

}  // namespace groma::mapper
