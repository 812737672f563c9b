// Speed of domain maps, beside formulas written by hand for one domain each (the paper's root in
// floating point with a correction, loops over digits, word operations) and beside the plain nested
// loops. Each case first checks that all agree, then times them in turn; the figures are medians,
// in ns a point. `point` and `rank`: at random numbers; `walk`: Domain::for_each.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "groma/domain.h"

namespace groma::benchmarks {
namespace {

using domains::Domain;
using Triple = std::array<std::int64_t, 3>;

// ---- Formulas by hand, for k below 2^52

std::int64_t triangular(std::int64_t y) { return y * (y + 1) / 2; }
std::int64_t tetrahedral(std::int64_t z) { return z * (z + 1) / 2 * (z + 2) / 3; }

Triple triangle_by_hand(std::int64_t k) {
  auto y = static_cast<std::int64_t>(std::sqrt(2 * static_cast<double>(k)));
  if (triangular(y) > k) --y;
  return {k - triangular(y), y, 0};
}
Triple tetrahedron_by_hand(std::int64_t k) {
  auto z = static_cast<std::int64_t>(std::cbrt(6 * static_cast<double>(k)));
  while (tetrahedral(z) > k) --z;
  while (tetrahedral(z + 1) <= k) ++z;
  Triple point = triangle_by_hand(k - tetrahedral(z));
  point[2] = z;
  return point;
}
// The digits of the sponge, one level after the other, by a constant table.
Triple menger_by_hand(std::int64_t k) {
  static constexpr std::array<std::array<std::int8_t, 3>, 20> kTable = {
      {{0, 0, 0}, {1, 0, 0}, {2, 0, 0}, {0, 1, 0}, {2, 1, 0}, {0, 2, 0}, {1, 2, 0},
       {2, 2, 0}, {0, 0, 1}, {2, 0, 1}, {0, 2, 1}, {2, 2, 1}, {0, 0, 2}, {1, 0, 2},
       {2, 0, 2}, {0, 1, 2}, {2, 1, 2}, {0, 2, 2}, {1, 2, 2}, {2, 2, 2}}};
  Triple point{};
  for (std::int64_t weight = 1; k > 0; weight *= 3, k /= 20) {
    const auto& digit = kTable[static_cast<std::size_t>(k % 20)];
    for (std::size_t d = 0; d < 3; ++d) point[d] += weight * digit[d];
  }
  return point;
}
// Morton compaction in five steps.
std::int64_t every_other_bit(std::uint64_t x) {
  x &= 0x5555'5555'5555'5555;
  x = (x | x >> 1) & 0x3333'3333'3333'3333;
  x = (x | x >> 2) & 0x0F0F'0F0F'0F0F'0F0F;
  x = (x | x >> 4) & 0x00FF'00FF'00FF'00FF;
  x = (x | x >> 8) & 0x0000'FFFF'0000'FFFF;
  return static_cast<std::int64_t>((x | x >> 16) & 0xFFFF'FFFF);
}
Triple sierpinski_by_hand(std::int64_t k) {
  const auto low = static_cast<std::uint64_t>(k), high = low >> 1;
  return {every_other_bit(low & ~high), every_other_bit(high & ~low), every_other_bit(low & high)};
}

// ---- Plain loops

template <typename Function>
void triangle_loops(std::int64_t n, const Function& f) {
  for (std::int64_t y = 0; y < n; ++y) {
    for (std::int64_t x = 0; x <= y; ++x) f(Triple{x, y, 0});
  }
}
template <typename Function>
void tetrahedron_loops(std::int64_t n, const Function& f) {
  for (std::int64_t z = 0; z < n; ++z) {
    for (std::int64_t y = 0; y <= z; ++y) {
      for (std::int64_t x = 0; x <= y; ++x) f(Triple{x, y, z});
    }
  }
}

struct Case {
  std::string domain, parameter;
  std::int64_t value = 0;
  std::function<Triple(std::int64_t)> by_hand = {};
  // Returns the sum of all coordinates; the loops are in it, so that the compiler sees them.
  std::function<std::int64_t()> by_loops = {};
};

class Timer {
 public:
  template <typename Work>
  void add(std::int64_t points, const Work& work) {
    const auto begin = std::chrono::steady_clock::now();
    work();
    const std::chrono::duration<double, std::nano> time = std::chrono::steady_clock::now() - begin;
    times_.push_back(time.count() / static_cast<double>(points));
  }
  double median() {
    if (times_.empty()) return 0;
    std::sort(times_.begin(), times_.end());
    return times_[times_.size() / 2];
  }

 private:
  std::vector<double> times_;
};

std::int64_t sum_of(const Point& point) {
  std::int64_t sum = 0;
  for (int d = 0; d < point.dimensions(); ++d) sum += point[d];
  return sum;
}

void measure(benchmark::State& state, const Case& each) {
  Diagnostics diags(domains::known_domains()->source());
  const Domain domain =
      *domains::known_domains()->find(each.domain)->make({{each.parameter, each.value}}, diags);
  constexpr std::int64_t kNumbers = 1 << 12, kMostWalked = 1 << 20;
  std::mt19937_64 random(1);
  std::vector<std::int64_t> numbers;
  std::vector<Point> points;
  for (std::int64_t i = 0; i < kNumbers; ++i) {
    numbers.push_back(
        static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(domain.count())));
    points.push_back(domain.point(numbers.back()));
    if (domain.rank(points.back()) != numbers.back()) return state.SkipWithError("wrong rank");
    if (!each.by_hand) continue;
    const Triple expected = each.by_hand(numbers.back());
    for (int d = 0; d < domain.dimensions(); ++d) {
      if (points.back()[d] != expected[static_cast<std::size_t>(d)]) {
        return state.SkipWithError("wrong point");
      }
    }
  }
  const std::int64_t walked = std::min(domain.count(), kMostWalked);
  const auto walk = [&](std::int64_t end) {
    std::int64_t sum = 0;
    domain.for_each(0, end, [&](std::int64_t, const Point& p) -> void { sum += sum_of(p); });
    return sum;
  };
  if (each.by_loops && each.by_loops() != walk(domain.count())) {
    return state.SkipWithError("wrong walk");
  }
  Timer point, rank, for_each, hand, loops;
  for (auto _ : state) {
    point.add(kNumbers, [&] {
      std::int64_t sum = 0;
      for (const std::int64_t k : numbers) sum += sum_of(domain.point(k));
      benchmark::DoNotOptimize(sum);
    });
    rank.add(kNumbers, [&] {
      std::int64_t sum = 0;
      for (const Point& p : points) sum += *domain.rank(p);
      benchmark::DoNotOptimize(sum);
    });
    for_each.add(walked, [&] { benchmark::DoNotOptimize(walk(walked)); });
    if (each.by_hand) {
      hand.add(kNumbers, [&] {
        std::int64_t sum = 0;
        for (const std::int64_t k : numbers) {
          const Triple p = each.by_hand(k);
          sum += p[0] + p[1] + p[2];
        }
        benchmark::DoNotOptimize(sum);
      });
    }
    if (each.by_loops) {
      loops.add(domain.count(), [&] { benchmark::DoNotOptimize(each.by_loops()); });
    }
  }
  state.counters["point"] = point.median();
  state.counters["rank"] = rank.median();
  state.counters["walk"] = for_each.median();
  if (each.by_hand) {
    state.counters["by_hand"] = hand.median();
    state.counters["point_per_hand"] = point.median() / hand.median();
  }
  if (each.by_loops) {
    state.counters["loops"] = loops.median();
    state.counters["point_per_loops"] = point.median() / loops.median();
  }
}

// Sums what the loops give; each coordinate passes through a register that the compiler knows
// nothing about, as if work were done with it.
template <typename Loops>
std::int64_t sum_of_loops(const Loops& loops) {
  std::int64_t sum = 0;
  loops([&](const Triple& point) {
    std::int64_t part = point[0] + point[1] + point[2];
    benchmark::DoNotOptimize(part);
    sum += part;
  });
  return sum;
}

const bool kRegistered = [] {
  const std::int64_t n = 1000, m = 150;
  const std::vector<Case> cases = {
      {"triangle", "n", n, triangle_by_hand,
       [n] { return sum_of_loops([n](const auto& f) { triangle_loops(n, f); }); }},
      {"triangle", "n", 90'000'000, triangle_by_hand},
      {"triangle", "n", 4294967295},
      {"upper_triangle", "n", 100000},
      {"tetrahedron", "n", m, tetrahedron_by_hand,
       [m] { return sum_of_loops([m](const auto& f) { tetrahedron_loops(m, f); }); }},
      {"tetrahedron", "n", 100000, tetrahedron_by_hand},
      {"tetrahedron", "n", 3810777},
      {"simplex4", "n", 1000},
      {"pyramid", "n", 2000},
      {"diamond", "r", 10000},
      {"band", "n", 100000},
      {"frame", "n", 1000000},
      {"disk", "r", 1000},
      {"folded_triangle", "n", 1000},
      {"gasket", "r", 39},
      {"carpet", "r", 20},
      {"sierpinski3", "r", 31, sierpinski_by_hand},
      {"menger", "r", 6, menger_by_hand},
      {"menger", "r", 14, menger_by_hand},
      {"cantor3", "r", 20},
  };
  for (const Case& each : cases) {
    const std::string name = each.domain + "/" + std::to_string(each.value);
    benchmark::RegisterBenchmark(name.c_str(), [each](benchmark::State& state) {
      measure(state, each);
    })->Unit(benchmark::kMillisecond);
  }
  return true;
}();

}  // namespace
}  // namespace groma::benchmarks
