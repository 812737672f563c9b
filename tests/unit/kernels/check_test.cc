// examples/kernel/check.h: the numbers, the comparison and the output of the driver programs.
#include "kernel/check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace kernel_check {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

Options options_of(std::vector<const char*> words) {
  words.insert(words.begin(), "driver");
  return parse_options(static_cast<int>(words.size()), const_cast<char**>(words.data()));
}

TEST(KernelCheck, ReadsOptions) {
  const Options both = options_of({});
  EXPECT_TRUE(both.check && both.time && !both.library);
  const Options time =
      options_of({"time", "--json", "--kernel", "a.cl", "--seconds", "0.5", "3x4x5"});
  EXPECT_TRUE(time.time && time.json && !time.check);
  EXPECT_EQ(time.kernel, "a.cl");
  EXPECT_EQ(time.seconds, 0.5);
  EXPECT_THAT(time.words, ::testing::ElementsAre("3x4x5"));
  EXPECT_EQ(options_of({"--kernel"}).error, "--kernel needs a value");
  EXPECT_EQ(options_of({"--seconds", "soon"}).error, "--seconds does not take 'soon'");
  EXPECT_EQ(options_of({"--fast"}).error, "there is no option --fast");
}

TEST(KernelCheck, ReadsShapes) {
  EXPECT_THAT(parse_shape("3x40x5", 3, 40), ::testing::ElementsAre(3, 40, 5));
  for (const char* wrong :
       {"", "3", "3x4", "3x4x5x6", "3x4x", "0x4x5", "3x41x5", "-3x4x5", "3 x4x5"}) {
    EXPECT_TRUE(parse_shape(wrong, 3, 40).empty()) << wrong;
  }
}

TEST(KernelCheck, SmallTypesHaveTheirValues) {
  EXPECT_EQ(decode(0x3c01, Type::kHalf), 1 + epsilon_of(Type::kHalf));
  EXPECT_EQ(decode(0x7bff, Type::kHalf), 65504);
  EXPECT_EQ(decode(0xfc00, Type::kHalf), -kInfinity);
  EXPECT_EQ(decode(0x0001, Type::kHalf), std::ldexp(1, -24));
  EXPECT_EQ(decode(0x3f80, Type::kBfloat16), 1);
  EXPECT_EQ(decode(0x7e, Type::kFp8E4m3), 448);
  EXPECT_TRUE(std::isnan(decode(0x7f, Type::kFp8E4m3)));
  EXPECT_EQ(decode(0x7b, Type::kFp8E5m2), 57344);
}

TEST(KernelCheck, EncodingGoesBackAndRoundsToNearest) {
  for (const Type type : {Type::kHalf, Type::kBfloat16, Type::kFp8E4m3, Type::kFp8E5m2}) {
    const bool is_byte = type == Type::kFp8E4m3 || type == Type::kFp8E5m2;
    for (std::uint32_t bits = 0; bits < (is_byte ? 256U : 65536U); ++bits) {
      const double value = decode(bits, type);
      if (std::isnan(value)) {
        ASSERT_TRUE(std::isnan(decode(encode(value, type), type)));
        continue;
      }
      ASSERT_EQ(encode(value, type), bits);
      const double next = decode(bits + 1, type);
      if (!std::isfinite(value) || !(std::abs(next) < kInfinity) || value * next <= 0) continue;
      ASSERT_EQ(encode(value + (next - value) * 0.4, type), bits);
      ASSERT_EQ(encode(value + (next - value) * 0.6, type), bits + 1);
      ASSERT_EQ(encode((value + next) / 2, type), bits + (bits & 1U)) << bits;
    }
  }
  EXPECT_EQ(decode(encode(1e9, Type::kHalf), Type::kHalf), kInfinity);
  EXPECT_TRUE(std::isnan(decode(encode(1e9, Type::kFp8E4m3), Type::kFp8E4m3)));
}

TEST(KernelCheck, NamesTheFirstWrongElement) {
  std::vector<double> value(20, 1.5);
  const auto compared = [&] {
    return compare(
        "c", {4, 5}, [&](std::size_t i) { return value[i]; }, [](std::size_t) { return 1.5; },
        {1e-6, 0});
  };
  EXPECT_EQ(compared(), "");
  value[17] = 1.25;
  EXPECT_EQ(compared(), "c[3][2] is 1.25, expected 1.5");
  value[3] = kNan;
  EXPECT_EQ(compared(), "c[0][3] is nan, expected 1.5");
  EXPECT_FALSE(is_near(kNan, kNan, {kInfinity, 0}));
}

TEST(KernelCheck, ToleranceGrowsWithTheSumAndTheType) {
  const Tolerance single = tolerance_of_sum(100, Type::kFloat, Type::kFloat);
  EXPECT_NEAR(single.absolute, 4 * 101 * std::ldexp(1, -23), 1e-12);
  EXPECT_EQ(single.relative, 0);
  const Tolerance half = tolerance_of_sum(100, Type::kFloat, Type::kHalf);
  EXPECT_EQ(half.absolute, single.absolute);
  EXPECT_EQ(half.relative, std::ldexp(1, -10));
}

TEST(KernelCheck, GuardElementsAreWatched) {
  Guarded<float> values(10, 0, 12345);
  values.begin()[3] = 7;
  EXPECT_EQ(values.error("c"), "");
  values.begin()[12] = 0;
  EXPECT_EQ(values.error("c"), "c[12] was written, which lies behind the end of the array");
  values.begin()[-1] = static_cast<float>(kNan);
  EXPECT_EQ(values.error("c"), "c[-1] was written, which lies before the array");
}

TEST(KernelCheck, ALargeProductIsCheckedByRows) {
  constexpr std::size_t kRows = 30, kColumns = 20, kDepth = 10;
  const std::vector<double> a = random_values(kRows * kDepth, 1),
                            b = random_values(kDepth * kColumns, 2);
  std::vector<double> c(kRows * kColumns);
  for (std::size_t i = 0; i < c.size(); ++i) {
    for (std::size_t k = 0; k < kDepth; ++k) {
      c[i] += a[i / kColumns * kDepth + k] * b[k * kColumns + i % kColumns];
    }
  }
  const auto wrong_row = [&] {
    return find_wrong_row(
        kRows, kColumns, kDepth, [&](std::size_t i, std::size_t k) { return a[i * kDepth + k]; },
        [&](std::size_t k, std::size_t j) { return b[k * kColumns + j]; },
        [&](std::size_t i, std::size_t j) { return c[i * kColumns + j]; },
        tolerance_of_sum(kDepth, Type::kDouble, Type::kDouble));
  };
  EXPECT_EQ(wrong_row(), "");
  c[17 * kColumns + 3] += 1e-6;
  EXPECT_EQ(wrong_row(), "row 17 of the timed product is wrong");
  c[5] = kNan;
  EXPECT_EQ(wrong_row(), "row 0 of the timed product is wrong");
}

}  // namespace
}  // namespace kernel_check
