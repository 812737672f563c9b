// Expressions and kernels against plain integers: random formulas, with numbers of any size. What
// is simplified has the same values, within the interval; runs and periods hold at every
// point.
#include "index_map/expressions.h"

#include <gtest/gtest.h>

#include <vector>

#include "index_map/kernel.h"
#include "support/program_tokens.h"

namespace groma::mapper {
namespace {

using testing::Random;

// A value of every point of a launch, as an expression and as numbers.
struct Formula {
  ExprId id = 0;
  std::vector<std::int64_t> values;
};

class RandomFormulas : public ::testing::TestWithParam<std::uint64_t> {
 protected:
  explicit RandomFormulas() : random_(GetParam()) {
    for (int d = 0; d < 2; ++d) extents_[d] = random_.between(1, d == 0 ? 7 : 60);
    for (int d = 0; d < 2; ++d) {
      Formula made;
      made.id = expressions_.make_coordinate(d, extents_[d]);
      for_each_point(
          [&](std::int64_t x, std::int64_t y) { made.values.push_back(d == 0 ? x : y); });
      formulas_.push_back(made);
    }
  }

  template <typename Visit>
  void for_each_point(const Visit& visit) const {
    for (std::int64_t x = 0; x < extents_[0]; ++x) {
      for (std::int64_t y = 0; y < extents_[1]; ++y) visit(x, y);
    }
  }

  void add_constant() {
    Formula made;
    std::int64_t value = random_.between(-3, 12);
    if (random_.chance(10)) value = std::int64_t{1} << random_.between(20, 62);
    if (random_.chance(3)) value = INT64_MIN;
    made.id = expressions_.make_constant(value);
    made.values.assign(formulas_[0].values.size(), value);
    formulas_.push_back(made);
  }

  template <typename Make, typename Plain>
  void add(const Make& make, const Plain& plain) {
    const Formula &a = random_.pick(formulas_), &b = random_.pick(formulas_);
    Formula made;
    made.id = (expressions_.*make)(a.id, b.id);
    for (std::size_t i = 0; i < a.values.size(); ++i) {
      made.values.push_back(plain(a.values[i], b.values[i]));
    }
    formulas_.push_back(made);
  }

  void add_random() {
    using Wrapped = std::uint64_t;
    const auto wrapped = [](Wrapped value) { return static_cast<std::int64_t>(value); };
    const auto fails = [](std::int64_t a, std::int64_t b) {
      return b == 0 || (a == INT64_MIN && b == -1);
    };
    switch (random_.below(11)) {
      case 0:
      case 1:
        return add(&ExpressionGraph::make_add,
                   [&](auto a, auto b) { return wrapped(Wrapped(a) + Wrapped(b)); });
      case 2:
        return add(&ExpressionGraph::make_subtract,
                   [&](auto a, auto b) { return wrapped(Wrapped(a) - Wrapped(b)); });
      case 3:
      case 4:
        return add(&ExpressionGraph::make_multiply,
                   [&](auto a, auto b) { return wrapped(Wrapped(a) * Wrapped(b)); });
      case 5:
      case 6:
        return add(&ExpressionGraph::make_divide,
                   [&](auto a, auto b) { return fails(a, b) ? 0 : a / b; });
      case 7:
      case 8:
        return add(&ExpressionGraph::make_modulo,
                   [&](auto a, auto b) { return fails(a, b) ? 0 : a % b; });
      case 9:
        return add(&ExpressionGraph::make_less, [](auto a, auto b) { return std::int64_t{a < b}; });
      default:
        return add(&ExpressionGraph::make_equal,
                   [](auto a, auto b) { return std::int64_t{a == b}; });
    }
  }

  void check(const Formula& formula) const {
    const ExpressionKernel kernel(expressions_, std::span(&formula.id, 1), 2, nullptr);
    KernelRegisters registers = kernel.make_registers();
    const Expression& expression = expressions_[formula.id];
    std::size_t i = 0;
    for_each_point([&](std::int64_t x, std::int64_t y) {
      registers.value[0] = x, registers.value[1] = y;
      kernel.evaluate_registers(registers);
      ASSERT_EQ(registers.value[kernel.root_register(0)], formula.values[i]) << x << " " << y;
      ASSERT_LE(expression.low, formula.values[i]);
      ASSERT_GE(expression.high, formula.values[i]);
      ++i;
    });
    if (HasFatalFailure()) return;
    for (std::int64_t x = 0; x < extents_[0]; ++x) check_row(kernel, x, formula);
  }

  void check_row(const ExpressionKernel& kernel, std::int64_t x, const Formula& formula) const {
    const std::int64_t* row = &formula.values[static_cast<std::size_t>(x * extents_[1])];
    KernelRegisters registers = kernel.make_registers();
    registers.value[0] = x;
    kernel.evaluate_registers(registers, 1);
    for (std::int64_t y = 0; y < extents_[1];) {
      registers.value[1] = y;
      const std::int64_t length = kernel.evaluate_run(1, extents_[1] - y, registers);
      ASSERT_GE(length, 1);
      ASSERT_LE(length, extents_[1] - y);
      for (std::int64_t k = 0; k < length; ++k) {
        ASSERT_EQ(
            registers.value[kernel.root_register(0)] + k * registers.slope[kernel.root_register(0)],
            row[y + k])
            << x << " " << y << " " << k;
      }
      y += length;
    }
    const ValuePeriod period = kernel.period_of_root(0, 1);
    for (std::int64_t y = 0; period.period > 0 && y < extents_[1] - period.period; ++y) {
      ASSERT_EQ(row[y + period.period], row[y] + period.drift) << x << " " << y;
    }
  }

  Random random_;
  std::int64_t extents_[2];
  ExpressionGraph expressions_;
  std::vector<Formula> formulas_;
};

TEST_P(RandomFormulas, KeepTheirValues) {
  for (int i = 0; i < 6; ++i) add_constant();
  for (int i = 0; i < 25; ++i) add_random();
  for (const Formula& formula : formulas_) {
    check(formula);
    if (HasFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(Seed, RandomFormulas,
                         ::testing::Range(std::uint64_t{0}, std::uint64_t{40}),
                         [](const auto& each) { return std::to_string(each.param); });

TEST(Expressions, SimplifyBlocks) {
  ExpressionGraph e;
  const ExprId x = e.make_coordinate(0, 1'000), y = e.make_coordinate(1, 64);
  const auto n = [&](std::int64_t value) { return e.make_constant(value); };
  const ExprId linear = e.make_add(e.make_multiply(x, n(64)), y);
  EXPECT_EQ(e.make_divide(linear, n(64)), x);
  EXPECT_EQ(e.make_modulo(linear, n(64)), y);
  EXPECT_EQ(e.make_divide(linear, n(128)), e.make_divide(x, n(2)));
  EXPECT_EQ(e.make_add(e.make_multiply(e.make_divide(x, n(7)), n(7)), e.make_modulo(x, n(7))), x);
  EXPECT_EQ(e.make_divide(e.make_divide(x, n(3)), n(5)), e.make_divide(x, n(15)));
  EXPECT_EQ(e.make_divide(x, n(1'000)), n(0));
  EXPECT_EQ(e.make_modulo(y, n(64)), y);
}

// Round robin over the processors of each node, then over the nodes, of points numbered row by row:
// written with two digits of the number it is the same expression as written with the number, also
// where sizes divide each other.
TEST(Expressions, JoinTheDigitsOfOneNumber) {
  for (std::int64_t width = 1; width <= 24; ++width) {
    for (std::int64_t nodes = 1; nodes <= 9; ++nodes) {
      for (std::int64_t processors = 1; processors <= 8; ++processors) {
        for (const std::int64_t run : {1, 2, 3}) {
          ExpressionGraph e;
          const auto n = [&](std::int64_t value) { return e.make_constant(value); };
          const ExprId x = e.make_coordinate(0, 1'000), y = e.make_coordinate(1, width);
          const ExprId i = e.make_divide(e.make_add(e.make_multiply(x, n(width)), y), n(run));
          const ExprId node = e.make_modulo(e.make_divide(i, n(processors)), n(nodes));
          const ExprId digits =
              e.make_add(e.make_multiply(node, n(processors)), e.make_modulo(i, n(processors)));
          EXPECT_EQ(digits, e.make_modulo(i, n(nodes * processors)))
              << width << " wide, " << nodes << " nodes of " << processors << ", runs of " << run;
          // The number may have been cut before.
          const ExprId rest = e.make_modulo(i, n(nodes * processors));
          EXPECT_EQ(e.make_add(e.make_multiply(e.make_divide(rest, n(processors)), n(processors)),
                               e.make_modulo(rest, n(processors))),
                    rest);
        }
      }
    }
  }
}

TEST(Divider, DividesNumbersOfAnySize) {
  Random random(1);
  for (int i = 0; i < 100'000; ++i) {
    const std::int64_t divisor =
        2 + (static_cast<std::int64_t>(random.below(SIZE_MAX) >> 1) >> random.between(0, 61)) / 2;
    std::int64_t n =
        static_cast<std::int64_t>(random.below(SIZE_MAX) >> 1) >> random.between(0, 62);
    if (random.chance(30)) n = n / divisor * divisor;
    if (random.chance(30) && n > 0) --n;
    ASSERT_EQ(ConstantDivider(divisor).quotient(n), n / divisor) << n << " / " << divisor;
  }
}

}  // namespace
}  // namespace groma::mapper
