// How n processors are cut into a grid: the four splitting operations of a machine view as pure
// functions of numbers. The results are the sizes of the new dimensions, the first of which runs
// fastest (LANGUAGE, "Machines").
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <variant>
#include <vector>

namespace groma::mapper {

// Why there is no split.
enum class SplitError : std::uint8_t {
  kOverflow,  // a product or cost does not fit (extents: 2^63-1, costs: 128 bits)
  kTooMany,   // more factorisations than kMaxFactorisations would have to be looked at
};
using SplitResult = std::variant<std::vector<std::int64_t>, SplitError>;

// Looked at in one call at most, so that a call ends within a tenth of a second or so.
inline constexpr std::int64_t kMaxFactorisations = 10'000'000;

// All take 0 <= n <= 2^40; n = 0 and n = 1 give sizes of 1, no extents give no sizes. Anything
// outside what is said here is the caller's fault and ends the process: a negative extent or halo
// of `decompose` is to be reported before.

// k sizes, falling, whose product is n: the prime factors, from the smallest, each to the smallest
// size. k >= 1.
std::vector<std::int64_t> balance_split(std::int64_t n, std::int64_t k);

// The prime factors of n, from the largest, each to the dimension with the largest extent left (a
// double; the first at a tie), which it divides. As Legion's DefaultMapper selects blocks. Any
// extents.
std::vector<std::int64_t> greedy_split(std::int64_t n, std::span<const std::int64_t> extents);

// The ordered factorisation n = o_0 * ... * o_{k-1} with the smallest sum of o_i / extent_i, in the
// original's floating point and with its ties, all within 1e-6; greedy_split's result where it is
// among the tied, else the first in the original's order. Any extents; 0 counts as 1. kTooMany
// (also for more than 32 extents), never kOverflow.
SplitResult auto_split(std::int64_t n, std::span<const std::int64_t> extents);

// The factorisation with the least communication of a nearest-neighbour exchange: the smallest
//   sum_i halo_i * (o_i - 1) * prod_{j != i} extent_j,
// then the smallest surface of the largest block, b_i = ceil(extent_i / o_i):
//   sum_i halo_i * prod_{j != i} b_j,
// then the lexicographically smallest (o_0, ..). Exact. extents >= 0 (0 counts as 1), halo >= 0, as
// many as extents. kOverflow where the product of the extents is above 2^63-1, whatever n, or where
// even the best sum does not fit. kTooMany for more than 32 extents and where a vast number of
// splits tie in the first sum.
SplitResult decompose(std::int64_t n, std::span<const std::int64_t> extents,
                      std::span<const std::int64_t> halo);

// How many factorisations of n into k sizes there are, at most kMaxFactorisations + 1: what
// auto_split looks at.
std::int64_t count_factorisations(std::int64_t n, std::size_t k);

}  // namespace groma::mapper
