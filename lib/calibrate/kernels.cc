// The timed loops that stream over memory, copy it, and follow chains of loads.
#include "calibrate/kernels.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <ctime>
#include <random>

namespace groma::calibration {
namespace {

// The number of 64-bit words in a cache line of 64 bytes.
constexpr std::size_t kLineWords = 8;
constexpr double kFactor = 3;

// Prevents the compiler from removing or moving the writes to this memory.
void use_memory(const void* memory) { asm volatile("" : : "g"(memory) : "memory"); }

// The inner loop is a function of its own, so that the compiler knows that the rows do not overlap.
void stream_row(double* __restrict a, const double* __restrict b, const double* __restrict c,
                std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) a[i] = b[i] + kFactor * c[i];
}

}  // namespace

double thread_cpu_seconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

// The three arrays lie one after the other in the buffer. The size of each is a multiple of the
// stride.
RowArrays stream_arrays_with_gaps(std::span<double> buffer, std::size_t row, std::size_t gap_rows) {
  const std::size_t stride = row * (1 + gap_rows);
  const std::size_t size = buffer.size() / 3 / stride * stride;
  return {buffer.subspan(0, size), buffer.subspan(size, size), buffer.subspan(2 * size, size), row,
          stride};
}

RowArrays stream_arrays_in(std::span<double> buffer) {
  return stream_arrays_with_gaps(buffer, buffer.size() / 3, 0);
}

double stream(const RowArrays& arrays, std::int64_t times) {
  std::size_t elements = 0;
  for (std::int64_t t = 0; t < times; ++t) {
    for (std::size_t at = 0; at + arrays.row <= arrays.a.size(); at += arrays.stride) {
      stream_row(&arrays.a[at], &arrays.b[at], &arrays.c[at], arrays.row);
      elements += arrays.row;
    }
    use_memory(arrays.a.data());
  }
  return 3.0 * sizeof(double) * static_cast<double>(elements);
}

bool holds_stream_result(const RowArrays& arrays) {
  for (std::size_t at = 0; at + arrays.row <= arrays.a.size(); at += arrays.stride) {
    for (std::size_t i = at; i < at + arrays.row; ++i) {
      if (arrays.a[i] != arrays.b[i] + kFactor * arrays.c[i]) return false;
    }
  }
  return true;
}

std::optional<double> stream_rate(const RowArrays& arrays, std::int64_t times) {
  const double begin = thread_cpu_seconds();
  const double bytes = stream(arrays, times);
  const double seconds = thread_cpu_seconds() - begin;
  if (!holds_stream_result(arrays) || seconds <= 0) return std::nullopt;
  return bytes / seconds;
}

std::optional<double> copy_rate(std::span<double> buffer) {
  const std::size_t half = buffer.size() / 2;
  return copy_rate(buffer.subspan(0, half), buffer.subspan(half, half));
}

std::optional<double> copy_rate(std::span<const double> from, std::span<double> to) {
  const std::size_t bytes = from.size_bytes();
  const double begin = thread_cpu_seconds();
  std::memcpy(to.data(), from.data(), bytes);
  use_memory(to.data());
  const double seconds = thread_cpu_seconds() - begin;
  if (std::memcmp(to.data(), from.data(), bytes) != 0 || seconds <= 0) return std::nullopt;
  return static_cast<double>(bytes) / seconds;
}

// Sattolo's shuffle makes a permutation that is one cycle.
LoadChain::LoadChain(std::span<double> buffer, std::uint64_t seed)
    : words_(reinterpret_cast<std::uint64_t*>(buffer.data()), buffer.size()),  // NOLINT
      lines_(buffer.size() / kLineWords) {
  for (std::size_t i = 0; i < lines_; ++i) words_[i * kLineWords] = i * kLineWords;
  std::mt19937_64 draws(seed);
  for (std::size_t i = lines_ - 1; i > 0; --i) {
    std::swap(words_[i * kLineWords], words_[draws() % i * kLineWords]);
  }
}

double LoadChain::seconds_of_a_load(std::int64_t loads) {
  std::uint64_t at = at_;
  const double begin = thread_cpu_seconds();
  for (std::int64_t i = 0; i < loads; ++i) at = words_[at];
  use_memory(&at);
  const double seconds = thread_cpu_seconds() - begin;
  at_ = at;
  return seconds / static_cast<double>(loads);
}

bool LoadChain::visits_every_line_once() const {
  std::uint64_t at = words_[0];
  std::size_t visited = 1;
  for (; at != 0 && visited <= lines_; ++visited) at = words_[at];
  return at == 0 && visited == lines_;
}

std::optional<double> first_touch_rate(std::size_t bytes) {
  void* const memory =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return std::nullopt;
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const double begin = thread_cpu_seconds();
  for (std::size_t at = 0; at < bytes; at += page) static_cast<volatile char*>(memory)[at] = 1;
  const double seconds = thread_cpu_seconds() - begin;
  munmap(memory, bytes);
  if (seconds <= 0) return std::nullopt;
  return static_cast<double>(bytes) / seconds;
}

}  // namespace groma::calibration
