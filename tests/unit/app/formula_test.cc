// Formulas: the grammar by examples, and values against a second evaluator on drawn expressions.
#include "app/formula.h"

#include <gtest/gtest.h>

#include <array>
#include <optional>
#include <random>
#include <string>
#include <vector>

namespace groma::app {
namespace {

// With n = 10, two variables i and j, and pieces of requirements of 1 and 2 dimensions.
constexpr std::int64_t kN = 10;
constexpr int kShapes[] = {1, 2};

Scope scope() {
  Scope scope;
  scope.add_constant("n", kN);
  scope.add_variable("i");
  scope.add_variable("j");
  return scope;
}

std::string value(const std::string& text, std::int64_t i = 3, std::int64_t j = -2) {
  FormulaError error;
  const auto code = compile(text, scope(), error, PieceShapes(kShapes));
  if (!code) return error.message + (error.help.empty() ? "" : " [" + error.help + "]");
  const std::int64_t frame[] = {i, j};
  const Rect pieces[] = {*Rect::make({5}), *Rect::make({4, 7})};
  FormulaFault fault = FormulaFault::kNone;
  const std::array<PieceSize, 2> sizes = {{{&pieces[0], 5}, {&pieces[1], 28}}};
  const std::int64_t value = code->value(frame, fault, sizes);
  if (fault != FormulaFault::kNone) return std::string(words_of(fault));
  EXPECT_EQ(code->reads_no_input(), text.find_first_of("ijpx") == text.npos) << text;
  return std::to_string(value);
}

TEST(Formula, Values) {
  EXPECT_EQ(value("1 + 2 * 3 - 4"), "3");
  EXPECT_EQ(value("(1 + 2) * 3"), "9");
  EXPECT_EQ(value("10 - 3 - 2"), "5");
  EXPECT_EQ(value("-7 / 2"), "-4");
  EXPECT_EQ(value("7 / -2"), "-4");
  EXPECT_EQ(value("-7 % 2"), "1");
  EXPECT_EQ(value("7 % -2"), "-1");
  EXPECT_EQ(value("- - 5"), "5");
  EXPECT_EQ(value("2 * -3"), "-6");
  EXPECT_EQ(value("(i - 4) % n"), "9");
  EXPECT_EQ(value("i * j + n"), "4");
  EXPECT_EQ(value("i < 3 ? 1 : i == 3 ? 2 : 3"), "2");
  EXPECT_EQ(value("(i >= 3) + (i > 3) + (j <= -2) + (j != -2)"), "2");
  EXPECT_EQ(value("min(i, j) * max(i, j)"), "-6");
  EXPECT_EQ(value("points(0) + points(1)"), "33");
  EXPECT_EQ(value("extent(1, 0) * 10 + extent(1, 1)"), "47");
  EXPECT_EQ(value("\t9223372036854775807 "), "9223372036854775807");
  EXPECT_EQ(value("-9223372036854775808"), "-9223372036854775808");
}

TEST(Formula, TheOtherBranchIsNotLookedAt) {
  EXPECT_EQ(value("i == 3 ? 1 : 1 / 0"), "1");
  EXPECT_EQ(value("n == 10 ? 1 : 1 / 0"), "1");
  EXPECT_EQ(value("(0 ? 9223372036854775807 + 1 : 4) + 1"), "5");
}

TEST(Formula, WhatHasNoValue) {
  EXPECT_EQ(value("1 / 0"), "it divides by zero");
  EXPECT_EQ(value("i % (i - 3)"), "it divides by zero");
  EXPECT_EQ(value("9223372036854775807 + 1"), "its value does not fit 64 bits");
  EXPECT_EQ(value("-9223372036854775808 - 1"), "its value does not fit 64 bits");
  EXPECT_EQ(value("-9223372036854775808 / -1"), "its value does not fit 64 bits");
  EXPECT_EQ(value("-9223372036854775808 % -1"), "0");
  EXPECT_EQ(value("4611686018427387904 * 2"), "its value does not fit 64 bits");
}

TEST(Formula, WhatIsNone) {
  const std::string language =
      " [a formula has whole numbers, names, `+ - * / %`, comparisons, `a ? b : c`, `min(a, b)`, "
      "`max(a, b)` and parentheses]";
  EXPECT_EQ(value(""), "the formula ends too early" + language);
  EXPECT_EQ(value("1 +"), "the formula ends too early" + language);
  EXPECT_EQ(value("1 2"), "`2` is not expected in a formula" + language);
  EXPECT_EQ(value("1.5"), "`.5` is not expected in a formula" + language);
  EXPECT_EQ(value("1e9"), "`e9` is not expected in a formula" + language);
  EXPECT_EQ(value("(1"), "`)` is expected at the end");
  EXPECT_EQ(value("1 ? 2"), "`:` is expected at the end");
  EXPECT_EQ(value("i < j < 3"), "`< 3` is not expected in a formula" + language);
  EXPECT_EQ(value("i = 3"), "`= 3` is not expected in a formula" + language);
  EXPECT_EQ(value("min(1)"), "`,` is expected before `)`");
  EXPECT_EQ(value("k"), "`k` is not known here");
  EXPECT_EQ(value("mni(i, j)"), "`mni` is not known here");
  EXPECT_EQ(value("points(2)"), "the task has no requirement 2");
  EXPECT_EQ(value("extent(1, 2)"), "requirement 1 has no dimension 2");
  EXPECT_EQ(value("points(i)"), "a plain number is expected: `i)` is not expected in a formula");
  EXPECT_EQ(value("9223372036854775808"), "a number does not fit 64 bits");
  EXPECT_EQ(value("99999999999999999999"), "a number does not fit 64 bits");
  EXPECT_EQ(value(std::string(100, '(') + "1" + std::string(100, ')')), "it is nested too deeply");
  EXPECT_EQ(value(std::string(1000, '-') + "i"), "it is nested too deeply");
  EXPECT_EQ(value(std::string(5000, '1')), "a formula of 5000 bytes; at most 4096");
  FormulaError error;
  EXPECT_FALSE(compile("points(0)", scope(), error).has_value());
  EXPECT_EQ(error.message, "`points` has no meaning here");
}

TEST(Formula, Names) {
  for (const char* good : {"n", "_", "n2", "Points"}) EXPECT_TRUE(is_formula_name(good)) << good;
  for (const char* bad : {"", "2n", "a b", "min", "extent", "a-b", "\xc3\xa4"}) {
    EXPECT_FALSE(is_formula_name(bad)) << bad;
  }
  Scope hiding = scope();
  const Scope::ScopeMark mark = hiding.mark();
  EXPECT_EQ(hiding.add_variable("n"), 2);
  FormulaError error;
  EXPECT_EQ(compile("n", hiding, error)->slot(), 2);
  hiding.remove_names_since(mark);
  EXPECT_EQ(compile("n", hiding, error)->constant(), kN);
}

// A tree is drawn, written as text with as many parentheses as it takes, and its value found here
// in 128 bits, rounding down by counting.
class Drawn {
 public:
  using Value = std::optional<std::int64_t>;  // none: a fault
  explicit Drawn(unsigned seed) : random_(seed) {}

  struct Expression {
    std::string text;
    Value value;
    int level;  // of the grammar: 0 choice, 1 comparison, 2 sum, 3 product, 4 value
  };

  Expression draw(int depth, const std::int64_t (&frame)[2]) {
    if (depth == 0) return leaf(frame);
    switch (below(7)) {
      case 0:
        return choice(depth, frame);
      case 1:
        return comparison(depth, frame);
      case 2:
        return extreme(depth, frame);
      case 3:
        return leaf(frame);
      case 4:
        return negated(depth, frame);
      default:
        return arithmetic(depth, frame);
    }
  }

 private:
  __extension__ typedef __int128 Wide;

  int below(int n) { return std::uniform_int_distribution<int>(0, n - 1)(random_); }
  static Value fit(Wide value) {
    if (value > INT64_MAX || value < INT64_MIN) return std::nullopt;
    return static_cast<std::int64_t>(value);
  }
  // As it may stand where the grammar wants at least `level`.
  static std::string at(const Expression& e, int level) {
    return e.level < level ? "(" + e.text + ")" : e.text;
  }

  Expression leaf(const std::int64_t (&frame)[2]) {
    switch (below(4)) {
      case 0:
        return {"i", frame[0], 4};
      case 1:
        return {"j", frame[1], 4};
      case 2:
        return {"n", kN, 4};
      default: {
        const std::int64_t number = below(8) == 0 ? INT64_MAX - below(3) : below(5);
        return {std::to_string(number), number, 4};
      }
    }
  }

  Expression arithmetic(int depth, const std::int64_t (&frame)[2]) {
    const Expression a = draw(depth - 1, frame), b = draw(depth - 1, frame);
    constexpr char kSigns[] = "+-*/%";
    const char sign = kSigns[below(5)];
    const int level = sign == '+' || sign == '-' ? 2 : 3;
    Expression whole{at(a, level) + " " + sign + " " + at(b, level + 1), std::nullopt, level};
    if (!a.value || !b.value) return whole;
    const Wide x = *a.value, y = *b.value;
    if (sign == '+') whole.value = fit(x + y);
    if (sign == '-') whole.value = fit(x - y);
    if (sign == '*') whole.value = fit(x * y);
    if ((sign == '/' || sign == '%') && y != 0) {
      Wide rest = x % y;
      if (rest != 0 && (rest < 0) != (y < 0)) rest += y;  // of the divisor's sign
      whole.value = sign == '%' ? fit(rest) : fit((x - rest) / y);
    }
    return whole;
  }

  Expression negated(int depth, const std::int64_t (&frame)[2]) {
    const Expression a = draw(depth - 1, frame);
    return {"-" + at(a, 4), a.value ? fit(-Wide{*a.value}) : std::nullopt, 3};
  }

  Expression comparison(int depth, const std::int64_t (&frame)[2]) {
    const Expression a = draw(depth - 1, frame), b = draw(depth - 1, frame);
    constexpr const char* kSigns[] = {"<", "<=", ">", ">=", "==", "!="};
    const int sign = below(6);
    Expression whole{at(a, 2) + kSigns[sign] + at(b, 2), std::nullopt, 1};
    if (!a.value || !b.value) return whole;
    const std::int64_t x = *a.value, y = *b.value;
    const bool all[] = {x<y, x <= y, x> y, x >= y, x == y, x != y};
    whole.value = all[sign] ? 1 : 0;
    return whole;
  }

  Expression extreme(int depth, const std::int64_t (&frame)[2]) {
    const Expression a = draw(depth - 1, frame), b = draw(depth - 1, frame);
    const bool least = below(2) == 0;
    Expression whole{(least ? "min(" : "max(") + a.text + ", " + b.text + ")", std::nullopt, 4};
    if (a.value && b.value) {
      whole.value = least ? std::min(*a.value, *b.value) : std::max(*a.value, *b.value);
    }
    return whole;
  }

  Expression choice(int depth, const std::int64_t (&frame)[2]) {
    const Expression a = draw(depth - 1, frame), b = draw(depth - 1, frame),
                     c = draw(depth - 1, frame);
    Expression whole{at(a, 1) + " ? " + b.text + " : " + c.text, std::nullopt, 0};
    if (a.value) whole.value = *a.value != 0 ? b.value : c.value;
    return whole;
  }

  std::mt19937 random_;
};

TEST(Formula, DrawnOnesHaveTheValueOfASecondEvaluator) {
  int faults = 0, values = 0;
  for (unsigned seed = 0; seed < 20'000; ++seed) {
    const std::int64_t frame[] = {static_cast<std::int64_t>(seed % 7) - 3,
                                  static_cast<std::int64_t>(seed % 5) - 2};
    Drawn drawn(seed);
    const Drawn::Expression expected = drawn.draw(static_cast<int>(seed % 5), frame);
    FormulaError error;
    const auto code = compile(expected.text, scope(), error);
    if (!code) {
      ASSERT_TRUE(error.message == "it is nested too deeply" ||
                  error.message.starts_with("a formula of "))
          << expected.text << ": " << error.message;
      continue;
    }
    FormulaFault fault = FormulaFault::kNone;
    const std::int64_t value = code->value(frame, fault);
    ASSERT_EQ(fault == FormulaFault::kNone, expected.value.has_value()) << expected.text;
    ASSERT_EQ(value, expected.value.value_or(0)) << expected.text;
    ++(expected.value ? values : faults);
  }
  EXPECT_GT(faults, 1000);
  EXPECT_GT(values, 10'000);
}

}  // namespace
}  // namespace groma::app
