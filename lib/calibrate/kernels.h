// The loops that are timed: streams, rows with gaps, copies, chains of dependent loads, and
// floating-point operations. Each function runs one loop once, checks what it computed, and returns
// its rate or time, by the processor time of its thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace groma::calibration {

// Three arrays of doubles in one buffer, for a[i] = b[i] + 3 c[i]. The loop runs over rows of
// `row` elements that begin `stride` elements apart. Without gaps, `stride` equals `row`.
struct RowArrays {
  std::span<double> a, b, c;
  std::size_t row = 0, stride = 0;
};

// Returns three arrays of equal sizes in `buffer`, as many whole rows as fit, with a gap of
// `gap_rows` rows behind each row. `row` is in elements. The buffer must have room for three rows
// and their gaps. The elements keep their values.
RowArrays stream_arrays_with_gaps(std::span<double> buffer, std::size_t row, std::size_t gap_rows);
// Returns arrays without gaps that fill the buffer of at least three elements.
RowArrays stream_arrays_in(std::span<double> buffer);

// Computes a[i] = b[i] + 3 c[i] over all rows, `times` times. Returns the bytes that were read and
// written.
double stream(const RowArrays& arrays, std::int64_t times);
// Returns true if every element of `a` is what stream() computes.
bool holds_stream_result(const RowArrays& arrays);

// Runs stream() and returns its bytes per second, or nullopt if it computed a wrong result.
std::optional<double> stream_rate(const RowArrays& arrays, std::int64_t times);

// Copies the first half of the buffer to the second half. Returns the copied bytes per second, each
// byte counted once; nullopt if the copy is not equal.
std::optional<double> copy_rate(std::span<double> buffer);
// Copies the buffer `from` to the buffer `to` of equal size. Returns the copied bytes per second,
// each byte counted once; nullopt if the copy is not equal.
std::optional<double> copy_rate(std::span<const double> from, std::span<double> to);

// A chain of loads for measuring latency: a cycle of cache lines in random order. Each line holds
// the index of the next one.
class LoadChain {
 public:
  // Uses the buffer, which must hold at least two cache lines of 64 bytes. The order depends on
  // `seed` only.
  LoadChain(std::span<double> buffer, std::uint64_t seed);
  std::size_t lines() const { return lines_; }
  // Follows the chain for `loads` loads, from where the last call ended. Returns the mean time of
  // one load, in seconds.
  double seconds_of_a_load(std::int64_t loads);
  // Returns true if the chain visits each line once before it comes back to the first one.
  bool visits_every_line_once() const;

 private:
  std::span<std::uint64_t> words_;
  std::size_t lines_;
  std::uint64_t at_ = 0;
};

// Returns the FP64 operations per second of one core in x = x m + a with independent chains, or
// nullopt if a result is wrong. Uses the widest vectors that the processor has and that the
// compiler knows.
std::optional<double> flops_rate(std::int64_t rounds);
// Returns the name of the vectors that flops_rate() uses: "AVX-512", "AVX2", or "as compiled".
std::string_view vectors_name();

// Maps fresh memory, writes one byte of each page and returns the bytes per second; nullopt if the
// memory cannot be mapped.
std::optional<double> first_touch_rate(std::size_t bytes);

// Returns the processor time of this thread in seconds. It stands still while another program has
// the core, so that other programs disturb the measurements less.
double thread_cpu_seconds();

}  // namespace groma::calibration
