// Code for nested loops: roots of the polynomials that count the points, and loops that go on from
// any point.
#include <fmt/format.h>

#include <algorithm>

#include "domain_emission/map_code.h"

namespace groma::domains {
namespace {

// A nest with its bounds and counts as integer polynomials.
struct Nest {
  struct Loop {
    std::string name;
    // The first and the last value of the counter.
    IntegerTerms first, last;
    // The points before an iteration, times `denominator`.
    IntegerTerms before;
    Int128 denominator = 1;
    std::int64_t lower = 0, upper = 0;
  };
  std::vector<Loop> loops;
  // Bounds of the counters.
  std::vector<Int128> most;
  // The width that holds every step of an evaluation.
  Width width = Width::k32;
  Int128 count = 0;
};

Nest read(const PointMap& map, const LoopsDescription& description, const Names& names) {
  Nest nest;
  nest.count = map.count();
  Int128 largest = multiply_bounds(nest.count, 1);
  for (std::size_t l = 0; l < names.size(); ++l) {
    // A counter may be one behind the last one.
    nest.most.push_back(
        add_bounds(std::max(std::abs(map.lower()[l]), std::abs(map.upper()[l])), 1));
  }
  for (std::size_t l = 0; l < names.size(); ++l) {
    Nest::Loop loop;
    loop.name = names[l];
    loop.first = scale(description.first[l], 1);
    loop.last = scale(description.end[l], 1);
    loop.last[{}] -= 1;
    const Polynomial& before = description.before[l];
    loop.denominator = before.denominator().value_or(1);
    loop.before = scale(before, loop.denominator);
    loop.lower = map.lower()[l];
    loop.upper = map.upper()[l];
    for (const IntegerTerms* terms : {&loop.first, &loop.last, &loop.before}) {
      largest = std::max(largest, add_bounds(bound(*terms, nest.most), 2));
    }
    largest = std::max(largest, multiply_bounds(loop.denominator, nest.count));
    nest.loops.push_back(std::move(loop));
  }
  nest.width = width_for(largest);
  return nest;
}

// Counters up to this size are found by a root of 24 bits, with an error below 1.
constexpr std::int64_t kMostForFloat = std::int64_t{1} << 20;

class LoopsWriter {
 public:
  LoopsWriter(const Dialect& dialect, const Nest& nest, std::string base)
      : dialect_(dialect), nest_(nest), base_(std::move(base)), type_(dialect.integer(nest.width)) {
    for (const auto& loop : nest.loops) names_.push_back(loop.name);
  }

  std::string text(const IntegerTerms& terms) const { return formula(terms, names_, type_).text; }
  std::string product(const IntegerTerms& terms) const {
    return formula(terms, names_, type_).bracketed();
  }
  // Returns the names of the counters outside of loop l that functions of the loop need.
  Names needed(std::size_t l, std::initializer_list<const IntegerTerms*> formulas) const {
    Names used;
    for (std::size_t i = 0; i < l; ++i) {
      if (std::any_of(formulas.begin(), formulas.end(),
                      [&](const IntegerTerms* terms) { return degree(*terms, i) > 0; })) {
        used.push_back(names_[i]);
      }
    }
    return used;
  }
  Names needed_before(std::size_t l) const { return needed(l, {&nest_.loops[l].before}); }
  Names needed_find(std::size_t l) const {
    const Nest::Loop& loop = nest_.loops[l];
    if (needs_root(l)) return needed(l, {&loop.before, &loop.first, &loop.last});
    return needed(l, {&loop.before, &loop.first});
  }

  // Returns the call of the function that counts the points before an iteration of loop l.
  std::string before_call(std::size_t l, const std::string& counter) const {
    Names arguments = needed_before(l);
    arguments.push_back(counter);
    return fmt::format("{}_before_{}({})", base_, names_[l], joined(arguments));
  }
  // Returns the call of the function that finds the counter of loop l.
  std::string find_call(std::size_t l, const std::string& target) const {
    Names arguments = needed_find(l);
    arguments.push_back(target);
    return fmt::format("{}_find_{}({})", base_, names_[l], joined(arguments));
  }
  std::string before_function(std::size_t l) const {
    const Nest::Loop& loop = nest_.loops[l];
    Names parameters = needed_before(l);
    parameters.push_back(loop.name);
    return fmt::format("// The number of points before an iteration of the loop over {}{}.\n",
                       loop.name,
                       loop.denominator == 1
                           ? ""
                           : fmt::format(", times {}", number_text(loop.denominator, type_))) +
           fmt::format("{}{} {}_before_{}({}) {{\n  return {};\n}}\n\n", dialect_.function(), type_,
                       base_, loop.name, joined(parameters, type_ + " "), text(loop.before));
  }

  bool needs_root(std::size_t l) const { return degree(nest_.loops[l].before, l) > 1; }

  // Returns the function that finds the counter of loop l.
  std::string find_function(std::size_t l) const {
    const Nest::Loop& loop = nest_.loops[l];
    Names parameters = needed_find(l);
    parameters.push_back("target");
    std::string code = fmt::format(
        "// Returns the largest {0} whose {1}_before_{0} is at most `target`.\n"
        "{2}{3} {1}_find_{0}({4}) {{\n",
        loop.name, base_, dialect_.function(), type_, joined(parameters, type_ + " "));
    if (!needs_root(l)) {
      const std::string first = text(loop.first);
      return code +
             fmt::format(
                 "  const {0} first = {1};\n  return first + (target - {2}) / ({3});\n}}\n\n",
                 type_, first, before_call(l, "first"), text(coefficient(loop.before, l, 1)));
    }
    code += fmt::format("  {0} low = {1}, high = {2};\n", type_, text(loop.first), text(loop.last));
    code += guess(l);
    code += fmt::format(
        "  // The guess may be wrong by its rounding, so whole numbers decide.\n"
        "  for (int step = 0; step < 3; ++step) {{\n"
        "    if ({0} > target) {{\n      high = at - 1;\n      at = high;\n"
        "    }} else if (at < high && {1} <= target) {{\n      low = at + 1;\n      at = low;\n"
        "    }} else {{\n      return at;\n    }}\n  }}\n"
        "  while (low < high) {{\n"
        "    const {2} middle = low + (high - low + 1) / 2;\n"
        "    if ({3} <= target) {{\n      low = middle;\n    }} else {{\n      high = middle - 1;\n"
        "    }}\n  }}\n  return low;\n}}\n\n",
        before_call(l, "at"), before_call(l, "at + 1"), type_, before_call(l, "middle"));
    return code;
  }

 private:
  // Returns statements that set `guess`, the counter as a number with a fraction, and `at`, the
  // whole number below it.
  std::string guess(std::size_t l) const {
    const Nest::Loop& loop = nest_.loops[l];
    const int n = degree(loop.before, l);
    const bool is_small = loop.upper <= kMostForFloat && loop.lower >= -kMostForFloat;
    const std::string real = dialect_.real(dialect_.is_cuda() && is_small);
    std::string code = n == 2 ? quadratic_guess(l, real) : power_guess(l, n, real);
    code += fmt::format(
        "  {} at = low;\n  if (guess >= {}) {{\n    at = high;\n  }} else if (guess > {}) {{\n"
        "    at = {};\n    if (at > high) at = high;\n  }}\n",
        type_, dialect_.cast(real, "high"), dialect_.cast(real, "low"),
        dialect_.cast(type_, "guess"));
    const bool is_rough = dialect_.is_opencl() && !is_small;
    if (is_rough) code += newton(l);
    return code;
  }

  std::string quadratic_guess(std::size_t l, const std::string& real) const {
    const IntegerTerms& before = nest_.loops[l].before;
    const IntegerTerms a = coefficient(before, l, 2), b = coefficient(before, l, 1),
                       c = coefficient(before, l, 0);
    const Int128 target = multiply_bounds(nest_.loops[l].denominator, nest_.count);
    const Int128 most_b = bound(b, nest_.most);
    const Int128 square = add_bounds(
        multiply_bounds(most_b, most_b),
        multiply_bounds(4 * bound(a, nest_.most), add_bounds(target, bound(c, nest_.most))));
    // Whole numbers under the root, if they fit: then a root of few bits is precise enough.
    const bool is_exact = width_for(square) != Width::k128;
    const std::string type =
        is_exact ? dialect_.integer(std::max(width_for(square), nest_.width)) : real;
    const auto value = [&](const IntegerTerms& terms) {
      return is_exact ? text(terms) : dialect_.cast(real, text(terms));
    };
    const std::string number = is_exact ? "target" : dialect_.cast(real, "target");
    std::string code =
        fmt::format("  const {} a = {}, b = {}, c = {};\n", type, value(a), value(b), value(c));
    code += fmt::format("  const {} square = b * b + 4 * a * ({} - c);\n", type, number);
    const auto as_real = [&](const std::string& text) {
      return is_exact ? dialect_.cast(real, text) : "(" + text + ")";
    };
    return code + fmt::format(
                      "  const {0} root = square > 0 ? {1}({2}) : 0;\n"
                      "  const {0} guess = (root - {3}) / {4};\n",
                      real, dialect_.math("sqrt"), as_real("square"), as_real("b"),
                      as_real("2 * a"));
  }

  // Returns true for a number that a conversion to `float` does not round.
  static bool is_short(const std::string& value) {
    return value.size() < 7 && value.find_first_not_of("0123456789") == value.npos;
  }

  // The leading term and the next one: c (x + b / (n c))^n is right up to lower terms.
  std::string power_guess(std::size_t l, int n, const std::string& real) const {
    const IntegerTerms& before = nest_.loops[l].before;
    const auto value = [&](int exponent) {
      const std::string number = text(coefficient(before, l, exponent));
      return is_short(number) ? number : dialect_.cast(real, number);
    };
    const std::string least = value(0), target = dialect_.cast(real, "target");
    std::string code = fmt::format("  const {0} a = {1}, b = {2};\n", real, value(n), value(n - 1));
    code += fmt::format("  const {0} power = {1} / a;\n", real,
                        least == "0" ? target : fmt::format("({} - {})", target, least));
    const std::string root = n == 3 ? dialect_.math("cbrt") + "(power)"
                                    : fmt::format("{}(power, {} / {})", dialect_.math("pow"),
                                                  dialect_.cast(real, "1"), n);
    return code +
           fmt::format("  const {} guess = (power > 0 ? {} : 0) - b / ({} * a);\n", real, root, n);
  }

  // Two steps of Newton's method in whole numbers. They make up for a guess of 24 bits.
  std::string newton(std::size_t l) const {
    return fmt::format(
        "  for (int step = 0; step < 2; ++step) {{\n"
        "    const {0} value = {1};\n    const {0} slope = {2} - value;\n"
        "    if (slope <= 0) break;\n"
        "    at += (target - value) / slope;\n"
        "    if (at < low) at = low;\n    if (at > high) at = high;\n  }}\n",
        type_, before_call(l, "at"), before_call(l, "at + 1"));
  }

  const Dialect& dialect_;
  const Nest& nest_;
  std::string base_, type_;
  Names names_;
};

std::string divided(const std::string& value, Int128 denominator, const std::string& type) {
  return denominator == 1 ? value : fmt::format("{} / {}", value, number_text(denominator, type));
}

// Returns the statements that go from one iteration of loop l to the next, at any depth.
std::string advance(const LoopsWriter& writer, const Nest& nest, std::size_t l,
                    const std::string& indent) {
  const Nest::Loop& loop = nest.loops[l];
  std::string code = fmt::format("{}++{};\n", indent, loop.name);
  if (l == 0) return code;
  code += fmt::format("{}while ({} > {}) {{\n", indent, loop.name, writer.text(loop.last));
  code += advance(writer, nest, l - 1, indent + "  ");
  return code + fmt::format("{0}  {1} = {2};\n{0}}}\n", indent, loop.name, writer.text(loop.first));
}

// Returns the function that goes through a range of points by loops.
std::string for_body(const LoopsWriter& writer, const Nest& nest, const std::string& base,
                     const Names& names) {
  const Nest::Loop& inner = nest.loops.back();
  std::string code = fmt::format(
      "  if (begin >= end) return;\n  std::int64_t {};\n  {}_point(begin, {});\n"
      "  for (std::int64_t k = begin;;) {{\n"
      "    std::int64_t row_end = k + ({} - {} + 1);\n    if (row_end > end) row_end = end;\n"
      "    for (; k < row_end; ++k, ++{}) f(k, {});\n    if (k == end) return;\n",
      joined(names), base, joined(names, "&"), writer.product(inner.last), inner.name, inner.name,
      joined(names));
  if (nest.loops.size() > 1) {
    code += "    do {\n" + advance(writer, nest, nest.loops.size() - 2, "      ");
    code += fmt::format("      {0} = {1};\n    }} while ({0} > {2});\n", inner.name,
                        writer.text(inner.first), writer.text(inner.last));
  }
  return code + "  }\n}\n\n";
}

}  // namespace

std::optional<Error> MapCode::write_form(const PointMap& map, const LoopsDescription& loops,
                                         const std::string& base, const Names& names) {
  const Nest nest = read(map, loops, names);
  for (const Nest::Loop& loop : nest.loops) {
    for (const IntegerTerms* terms : {&loop.first, &loop.last}) {
      if (width_for(2 * bound(*terms, nest.most)) == Width::k128) {
        return Error{Error::Code::kTooLarge, "a bound of a loop does not fit 62 bits"};
      }
    }
  }
  const std::string type = integer(nest.width);
  const LoopsWriter writer(dialect_, nest, base);
  const std::size_t depth = names.size();
  for (std::size_t l = 0; l + 1 < depth; ++l) {
    text_ += writer.before_function(l) + writer.find_function(l);
    needs_real_ = needs_real_ || writer.needs_root(l);
  }

  text_ += point_head(base, names);
  text_ += fmt::format("  {}{} rest = {};\n", depth == 1 ? "const " : "", type,
                       dialect_.cast(type, "k"));
  for (std::size_t l = 0; l + 1 < depth; ++l) {
    const Nest::Loop& loop = nest.loops[l];
    const std::string target = loop.denominator == 1
                                   ? "rest"
                                   : fmt::format("rest * {}", number_text(loop.denominator, type));
    text_ += fmt::format("  const {} {} = {};\n", type, loop.name, writer.find_call(l, target));
    text_ += fmt::format("  rest -= {};\n",
                         divided(writer.before_call(l, loop.name), loop.denominator, type));
  }
  const auto to_long = [&](const std::string& value) {
    return nest.width == Width::k128 ? dialect_.cast(long_type(), value) : value;
  };
  for (std::size_t l = 0; l + 1 < depth; ++l) {
    text_ += fmt::format("  *to_{0} = {1};\n", names[l], to_long(names[l]));
  }
  const std::string first = writer.text(nest.loops.back().first);
  text_ += fmt::format("  *to_{} = {};\n}}\n\n", names.back(),
                       to_long(first == "0" ? "rest" : first + " + rest"));

  // The arguments have 64 bits; once they are known to be in range, they are narrowed or widened.
  Names given;
  for (const std::string& name : names) given.push_back(name + "_");
  const Names& arguments = nest.width == Width::k64 ? names : given;
  text_ += rank_head(base, arguments) + bounds_check(map, arguments);
  if (nest.width != Width::k64) {
    for (std::size_t l = 0; l < depth; ++l) {
      text_ +=
          fmt::format("  const {} {} = {};\n", type, names[l], dialect_.cast(type, arguments[l]));
    }
  }
  std::string sum;
  for (std::size_t l = 0; l < depth; ++l) {
    const Nest::Loop& loop = nest.loops[l];
    const std::string low = writer.text(loop.first), high = writer.text(loop.last);
    std::string outside;
    if (low != number_text(loop.lower)) outside = fmt::format("{} < {}", loop.name, low);
    if (high != number_text(loop.upper)) {
      outside += fmt::format("{}{} > {}", outside.empty() ? "" : " || ", loop.name, high);
    }
    if (!outside.empty()) text_ += fmt::format("  if ({}) return -1;\n", outside);
    const bool is_inner = l + 1 == depth;
    sum += l == 0 ? "" : " + ";
    if (is_inner) {
      sum +=
          low == "0" ? loop.name : fmt::format("({} - {})", loop.name, writer.product(loop.first));
    } else {
      sum += divided(writer.before_call(l, loop.name), loop.denominator, type);
    }
  }
  text_ += fmt::format("  return {};\n}}\n\n", to_long(sum));
  if (dialect_.is_cpp()) text_ += for_head(base) + for_body(writer, nest, base, names);
  return std::nullopt;
}

}  // namespace groma::domains
