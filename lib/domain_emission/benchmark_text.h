// The part of the benchmark program that is the same for all domains.
#pragma once

#include <string_view>

namespace groma::domains {

inline constexpr std::string_view kBenchmarkHead =
    R"bench(// Measures ways to go through domains. Written by
// `groma domain bench`. c++ -std=c++17 -O3 -march=native; the argument `quick` takes few samples.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <string>
#include <vector>

namespace {

// Operations a point. kWrite stands for one write to memory instead.
constexpr int kWrite = -1;
constexpr int kWorks[] = {0, 16, 128, 1000, kWrite};
constexpr int kWorkCount = 5;
enum Way { kBox, kPoint, kBlock, kNest, kWays };
constexpr const char* kWayNames[] = {"box", "map", "block", "nest"};
constexpr std::int64_t kChunk = 16384;
constexpr std::int64_t kMaxWritten = std::int64_t{1} << 26;

bool quick = false;

// The work of one point: `kWork` steps of a linear congruential generator. The barriers keep the
// compiler from joining steps, and from doing several points at once in some of the ways only.
template <int kWork>
inline std::uint32_t work(std::uint32_t value) {
  for (int i = 0; i < kWork; ++i) {
    value = value * 1664525U + 1013904223U;
    asm volatile("" : "+r"(value));
  }
  return value;
}

// Returns the processor time of this thread, in s. It stands still while others have the processor.
double now() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

// Returns the energy in J that the processor has used, or a negative number if it is not known.
double energy() {
  std::FILE* file = std::fopen("/sys/class/powercap/intel-rapl:0/energy_uj", "r");
  if (file == nullptr) return -1;
  double micro = -1;
  if (std::fscanf(file, "%lf", &micro) != 1) micro = -1;
  std::fclose(file);
  return micro < 0 ? -1 : micro * 1e-6;
}

struct Sample {
  double seconds = 0, joules = -1;
};

// Returns the median time of one call after a call that does not count. A sample has as many calls
// as fit its time.
template <typename F>
Sample measure(F run) {
  const double at_least = quick ? 0.002 : 0.02;
  const int samples = quick ? 3 : 11;
  double begin = now();
  run();
  int calls = 1;
  for (double took = now() - begin; took < at_least;) {
    calls = std::max(calls + 1, static_cast<int>(calls * std::min(100.0, at_least / (took + 1e-9))));
    begin = now();
    for (int i = 0; i < calls; ++i) run();
    took = now() - begin;
  }
  std::vector<double> times;
  const double before = energy();
  for (int s = 0; s < samples; ++s) {
    begin = now();
    for (int i = 0; i < calls; ++i) run();
    times.push_back((now() - begin) / calls);
  }
  const double after = energy();
  std::sort(times.begin(), times.end());
  return {times[times.size() / 2],
          before < 0 || after < before ? -1 : (after - before) / (samples * calls)};
}

struct Result {
  std::string title;
  double volume = 0, count = 0, block_waste = 0, warp_waste = 0;
  Sample samples[kWays][kWorkCount];
};

bool failed = false;

// Runs one way with one kind of work. Returns the checksum.
template <typename D, int kWay, int kWork>
std::uint64_t run_once(std::uint32_t* out) {
  std::uint64_t sum = 0;
  D::template go<kWay>([&sum, out](auto... coordinates) {
    const std::uint32_t value = work<kWork>(D::seed(coordinates...));
    if constexpr (kWork == kWrite) {
      out[D::cell(coordinates...)] = value;
    } else {
      sum += value;
    }
  });
  return sum;
}

template <typename D, int kWay, int kIndex>
void measure_work(Result* result, std::vector<std::uint32_t>* out, std::uint64_t* expected,
                  std::vector<std::uint32_t>* expected_out) {
  constexpr int kWork = kWorks[kIndex];
  if (kWork == kWrite && D::kVolume > kMaxWritten) return;
  if (kWork == kWrite) std::fill(out->begin(), out->end(), 0U);
  volatile std::uint64_t sink = 0;
  const std::uint64_t sum = run_once<D, kWay, kWork>(out->data());
  if (kWay == kBox) {
    expected[kIndex] = sum;
    if (kWork == kWrite) *expected_out = *out;
  } else if (sum != expected[kIndex] || (kWork == kWrite && *out != *expected_out)) {
    std::fprintf(stderr, "%s: %s computed another result than the box\n", D::kTitle,
                 kWayNames[kWay]);
    failed = true;
  }
  result->samples[kWay][kIndex] = measure([&] { sink = run_once<D, kWay, kWork>(out->data()); });
}

template <typename D, int kWay>
void measure_way(Result* result, std::vector<std::uint32_t>* out, std::uint64_t* expected,
                 std::vector<std::uint32_t>* expected_out) {
  measure_work<D, kWay, 0>(result, out, expected, expected_out);
  measure_work<D, kWay, 1>(result, out, expected, expected_out);
  measure_work<D, kWay, 2>(result, out, expected, expected_out);
  measure_work<D, kWay, 3>(result, out, expected, expected_out);
  measure_work<D, kWay, 4>(result, out, expected, expected_out);
}

// Returns the cells in groups of `size` neighbours with a live cell, as a multiple of the points.
template <typename D>
double waste(std::int64_t size) {
  std::vector<bool> lives(static_cast<std::size_t>((D::kVolume + size - 1) / size));
  D::template go<kNest>([&](auto... coordinates) {
    lives[static_cast<std::size_t>(D::cell(coordinates...) / size)] = true;
  });
  const auto groups = std::count(lives.begin(), lives.end(), true);
  return static_cast<double>(groups) * static_cast<double>(size) / static_cast<double>(D::kCount);
}

template <typename D>
void measure_domain(std::vector<Result>* results) {
  std::fprintf(stderr, "%s\n", D::kTitle);
  Result result;
  result.title = D::kTitle;
  result.volume = static_cast<double>(D::kVolume);
  result.count = static_cast<double>(D::kCount);
  result.block_waste = waste<D>(256);
  result.warp_waste = waste<D>(32);
  std::vector<std::uint32_t> out, expected_out;
  if (D::kVolume <= kMaxWritten) out.resize(static_cast<std::size_t>(D::kVolume));
  std::uint64_t expected[kWorkCount] = {};
  measure_way<D, kBox>(&result, &out, expected, &expected_out);
  measure_way<D, kPoint>(&result, &out, expected, &expected_out);
  measure_way<D, kBlock>(&result, &out, expected, &expected_out);
  measure_way<D, kNest>(&result, &out, expected, &expected_out);
  results->push_back(result);
}

// The costs of the model: a test of a cell, and of a point: each way and each kind of work.
struct Costs {
  double way[kWays] = {};
  double work[kWorkCount] = {};
  double time(const Result& result, int way_, int work_) const {
    return (way_ == kBox ? result.volume : result.count) * way[way_] + result.count * work[work_];
  }
};

// Fits the costs to the times of one domain, by least squares of relative errors.
Costs fit(const Result& result) {
  constexpr int kUnknown = kWays + kWorkCount - 1;
  double matrix[kUnknown][kUnknown + 1] = {};
  for (int w = 0; w < kWays; ++w) {
    for (int i = 0; i < kWorkCount; ++i) {
      const double time = result.samples[w][i].seconds;
      if (time <= 0) continue;
      double row[kUnknown] = {};
      row[w] = (w == kBox ? result.volume : result.count) / time;
      if (i > 0) row[kWays + i - 1] = result.count / time;
      for (int a = 0; a < kUnknown; ++a) {
        for (int b = 0; b < kUnknown; ++b) matrix[a][b] += row[a] * row[b];
        matrix[a][kUnknown] += row[a];
      }
    }
  }
  for (int a = 0; a < kUnknown; ++a) {
    matrix[a][a] = matrix[a][a] > 0 ? matrix[a][a] : 1;
    for (int b = 0; b < kUnknown; ++b) {
      if (a == b) continue;
      const double factor = matrix[b][a] / matrix[a][a];
      for (int c = 0; c <= kUnknown; ++c) matrix[b][c] -= factor * matrix[a][c];
    }
  }
  Costs costs;
  for (int a = 0; a < kUnknown; ++a) {
    (a < kWays ? costs.way[a] : costs.work[a - kWays + 1]) = matrix[a][kUnknown] / matrix[a][a];
  }
  return costs;
}

std::string work_name(int work) {
  return work == kWrite ? "write" : std::to_string(work);
}

void print_waste(const std::vector<Result>& results) {
  std::printf("| domain | points | W box | W block of 256 | W warp of 32 |\n|---|---|---|---|---|\n");
  for (const Result& result : results) {
    std::printf("| `%s` | %.0f | %.2f | %.2f | %.2f |\n", result.title.c_str(), result.count,
                result.volume / result.count, result.block_waste, result.warp_waste);
  }
}

void print_costs(const std::vector<Result>& results, const std::vector<Costs>& costs) {
  std::printf("\nFitted, in ns a cell (c_test) or a point:\n\n"
              "| domain | c_test | c_map | c_block | c_nest |");
  for (int i = 1; i < kWorkCount; ++i) std::printf(" c_work %s |", work_name(kWorks[i]).c_str());
  std::printf("\n|---|---|---|---|---|---|---|---|---|\n");
  for (std::size_t r = 0; r < results.size(); ++r) {
    std::printf("| `%s` |", results[r].title.c_str());
    for (const double cost : costs[r].way) std::printf(" %.2f |", cost * 1e9);
    for (int i = 1; i < kWorkCount; ++i) std::printf(" %.2f |", costs[r].work[i] * 1e9);
    std::printf("\n");
  }
}

void print_times(const std::vector<Result>& results, const std::vector<Costs>& costs) {
  const bool has_energy = results[0].samples[kBox][0].joules >= 0;
  std::printf("\n| domain | work | box, us | map, us | block, us | nest, us | S map | model | S block | "
              "model | of the model |%s\n|---|---|---|---|---|---|---|---|---|---|---|%s\n",
              has_energy ? " box, mJ | block, mJ |" : "", has_energy ? "---|---|" : "");
  for (std::size_t r = 0; r < results.size(); ++r) {
    const Result& result = results[r];
    for (int i = 0; i < kWorkCount; ++i) {
      const std::string name = work_name(kWorks[i]);
      const double box = result.samples[kBox][i].seconds;
      if (box <= 0) {
        std::printf("| `%s` | %s | not run: the box is too large |\n", result.title.c_str(),
                    name.c_str());
        continue;
      }
      const double map = result.samples[kPoint][i].seconds;
      const double block = result.samples[kBlock][i].seconds;
      const double model_map = costs[r].time(result, kBox, i) / costs[r].time(result, kPoint, i);
      const double model_block = costs[r].time(result, kBox, i) / costs[r].time(result, kBlock, i);
      std::printf("| `%s` | %s | %.1f | %.1f | %.1f | %.1f | %.2f | %.2f | %.2f | %.2f | %.0f %% |",
                  result.title.c_str(), name.c_str(), box * 1e6, map * 1e6, block * 1e6,
                  result.samples[kNest][i].seconds * 1e6, box / map, model_map, box / block,
                  model_block, 100 * box / block / model_block);
      if (has_energy) {
        std::printf(" %.3f | %.3f |", result.samples[kBox][i].joules * 1e3,
                    result.samples[kBlock][i].joules * 1e3);
      }
      std::printf("\n");
    }
  }
}

// Says for how many rows the speedup of the block form is at least 90 % of the model's.
void print_summary(const std::vector<Result>& results, const std::vector<Costs>& costs) {
  int near = 0, all = 0;
  for (std::size_t r = 0; r < results.size(); ++r) {
    for (int i = 0; i < kWorkCount; ++i) {
      const double box = results[r].samples[kBox][i].seconds;
      if (box <= 0) continue;
      const double model = costs[r].time(results[r], kBox, i) / costs[r].time(results[r], kBlock, i);
      ++all;
      near += box / results[r].samples[kBlock][i].seconds >= 0.9 * model ? 1 : 0;
    }
  }
  std::printf("\nS is the time of the box divided by that of the map. S block is at least 90 %% of "
              "the model in %d of %d rows.\n",
              near, all);
  if (energy() < 0) {
    std::printf("Energy was not measured: /sys/class/powercap/intel-rapl:0/energy_uj cannot be "
                "read here.\n");
  }
}

}  // namespace
)bench";

inline constexpr std::string_view kBenchmarkDomain = R"bench(
struct @B@_bench {
  static constexpr const char* kTitle = "@TITLE@";
  static constexpr std::int64_t kCount = @COUNT@, kVolume = @VOLUME@;
  static std::int64_t cell(@LONG_XY@) { return @CELL@; }
  static std::uint32_t seed(@LONG_XY@) { return @SEED@; }
  template <int kWay, typename F>
  static void go(F f) {
    if constexpr (kWay == kBox) {
@LOOPS@      if (@B@_inside(@XY@)) f(@XY@);
@ENDS@    } else if constexpr (kWay == kPoint) {
      for (std::int64_t k = 0; k < kCount; ++k) {
        std::int64_t @XY@;
        @B@_point(k, @AND_XY@);
        f(@XY@);
      }
    } else if constexpr (kWay == kBlock) {
      for (std::int64_t begin = 0; begin < kCount; begin += kChunk) {
        @B@_for(begin, std::min(begin + kChunk, kCount),
                [&f](std::int64_t, @LONG_XY@) { f(@XY@); });
      }
    } else {
      @B@_each([&f](@LONG_XY@) {
        f(@XY@);
        return true;
      });
    }
  }
};
)bench";

}  // namespace groma::domains
