// The timed loops: what they compute, and that their rates are plausible.
#include "calibrate/kernels.h"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

namespace groma::calibration {
namespace {

TEST(Kernels, RowsFillTheBuffer) {
  std::vector<double> buffer(3 * 64 + 5);
  const RowArrays whole = stream_arrays_in(buffer);
  EXPECT_EQ(whole.a.size(), 65U);
  EXPECT_EQ(whole.stride, whole.row);
  const RowArrays rows = stream_arrays_with_gaps(buffer, 8, 1);
  EXPECT_EQ(rows.a.size(), 64U);
  EXPECT_EQ(rows.stride, 16U);
  EXPECT_EQ(rows.b.data(), rows.a.data() + 64);
  EXPECT_EQ(rows.c.data(), rows.b.data() + 64);
}

TEST(Kernels, StreamsLeaveGapsAlone) {
  std::vector<double> buffer(3 * 64, 2.0);
  const RowArrays rows = stream_arrays_with_gaps(buffer, 8, 1);
  EXPECT_FALSE(holds_stream_result(rows));
  EXPECT_EQ(stream(rows, 3), 3 * 3 * 8.0 * 32);
  EXPECT_TRUE(holds_stream_result(rows));
  for (std::size_t i = 0; i < rows.a.size(); ++i) EXPECT_EQ(rows.a[i], i % 16 < 8 ? 8.0 : 2.0) << i;
  buffer[7] = 1;
  EXPECT_FALSE(holds_stream_result(rows));
}

TEST(Kernels, RatesArePlausible) {
  std::vector<double> buffer(1 << 20, 1.0);
  // A computer that runs many other tests may be slow.
  const auto is_rate = [](std::optional<double> rate) {
    return rate && *rate > 1e6 && *rate < 1e13;
  };
  EXPECT_TRUE(is_rate(stream_rate(stream_arrays_in(buffer), 2)));
  EXPECT_TRUE(is_rate(copy_rate(buffer)));
  EXPECT_TRUE(is_rate(first_touch_rate(4 << 20)));
  EXPECT_TRUE(is_rate(flops_rate(100'000)));
  EXPECT_FALSE(vectors_name().empty());
}

TEST(Kernels, CopiesAreEqual) {
  std::vector<double> buffer(1000);
  std::iota(buffer.begin(), buffer.end(), 0.0);
  ASSERT_TRUE(copy_rate(buffer));
  for (std::size_t i = 0; i < 500; ++i) EXPECT_EQ(buffer[500 + i], buffer[i]);
}

TEST(Kernels, AChainVisitsEachLineOnce) {
  for (const std::size_t lines : {2U, 3U, 1000U}) {
    std::vector<double> buffer(8 * lines);
    LoadChain chain(buffer, 7);
    EXPECT_EQ(chain.lines(), lines);
    EXPECT_TRUE(chain.visits_every_line_once());
    EXPECT_GE(chain.seconds_of_a_load(5000), 0);
  }
}

// Neighbouring lines must not follow each other often, or a prefetcher guesses them.
TEST(Kernels, AChainHasARandomOrder) {
  constexpr std::size_t kLines = 4096;
  std::vector<double> buffer(8 * kLines);
  const LoadChain chain(buffer, 1);
  const auto* words = reinterpret_cast<const std::uint64_t*>(buffer.data());
  int neighbours = 0;
  for (std::size_t i = 0; i < kLines; ++i) {
    const auto next = static_cast<std::int64_t>(words[8 * i] / 8),
               here = static_cast<std::int64_t>(i);
    if (std::abs(next - here) <= 4) ++neighbours;
  }
  EXPECT_LT(neighbours, 40);
}

}  // namespace
}  // namespace groma::calibration
