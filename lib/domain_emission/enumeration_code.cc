#include "domain_emission/enumeration_code.h"

#include <fmt/format.h>

#include <set>

namespace groma::domains {
namespace {

std::string each_head(const std::string& base) {
  return fmt::format("template <typename F>\nbool {}_each(F&& visit) {{\n", base);
}
std::string longs(const Names& names) { return joined(names, "std::int64_t "); }

// Returns the first and the last value of the counter of each loop.
std::vector<std::pair<std::string, std::string>> bounds_of(const LoopsDescription& loops,
                                                           const Names& names) {
  std::vector<std::pair<std::string, std::string>> bounds;
  for (std::size_t l = 0; l < names.size(); ++l) {
    IntegerTerms last = scale(loops.end[l], 1);
    last[{}] -= 1;
    bounds.emplace_back(formula(scale(loops.first[l], 1), names).text, formula(last, names).text);
  }
  return bounds;
}

std::string each_form(const LoopsDescription& loops, const std::string& base, const Names& names) {
  std::string text = each_head(base), indent = "  ";
  const auto bounds = bounds_of(loops, names);
  for (std::size_t l = 0; l < names.size(); ++l) {
    text += fmt::format("{0}for (std::int64_t {1} = {2}; {1} <= {3}; ++{1}) {{\n", indent, names[l],
                        bounds[l].first, bounds[l].second);
    indent += "  ";
  }
  text += fmt::format("{}if (!visit({})) return false;\n", indent, joined(names));
  for (std::size_t l = names.size(); l-- > 0;) {
    indent.resize(indent.size() - 2);
    text += indent + "}\n";
  }
  return text + "  return true;\n}\n\n";
}

std::string each_form(const DigitsDescription& digits, const std::string& base,
                      const Names& names) {
  std::string table;
  for (const Coordinates& entry : digits.table) {
    Names items;
    for (std::size_t d = 0; d < names.size(); ++d) items.push_back(fmt::format("{}", entry[d]));
    table += fmt::format("{}{{{}}}", table.empty() ? "" : ", ", joined(items));
  }
  Names next;
  for (std::size_t d = 0; d < names.size(); ++d) {
    next.push_back(fmt::format("{} * {} + digits[{}]", names[d], digits.base, d));
  }
  const Names zeros(names.size(), "0");
  return fmt::format(
             "template <int kLevels, typename F>\nbool {0}_each_level({1}, F& visit) {{\n"
             "  if constexpr (kLevels == 0) {{\n    return visit({2});\n  }} else {{\n"
             "    static constexpr std::int64_t kDigits[{3}][{4}] = {{{5}}};\n"
             "    for (const auto& digits : kDigits) {{\n"
             "      if (!{0}_each_level<kLevels - 1>({6}, visit)) return false;\n    }}\n"
             "    return true;\n  }}\n}}\n",
             base, longs(names), joined(names), digits.table.size(), names.size(), table,
             joined(next)) +
         each_head(base) +
         fmt::format("  return {}_each_level<{}>({}, visit);\n}}\n\n", base, digits.levels,
                     joined(zeros));
}

std::string row_text(const Coordinates& factors, std::int64_t offset, const Names& names) {
  IntegerTerms terms;
  for (std::size_t i = 0; i < names.size(); ++i) {
    Polynomial::Exponents exponents{};
    exponents[i] = 1;
    if (factors[i] != 0) terms[exponents] = factors[i];
  }
  if (offset != 0) terms[{}] = offset;
  return formula(terms, names).text;
}

std::string each_form(const ImageDescription& image, const std::string& base, const Names& names) {
  const Names counters = counter_names(image.inner->dimensions());
  Names values;
  for (std::size_t i = 0; i < names.size(); ++i) {
    values.push_back(row_text(image.factors[i], image.offsets[i], counters));
  }
  return each_code(*image.inner, base + "_inner", counters) + each_head(base) +
         fmt::format("  return {}_inner_each([&]({}) {{ return visit({}); }});\n}}\n\n", base,
                     longs(counters), joined(values));
}

std::string each_form(const UnionDescription& parts, const std::string& base, const Names& names) {
  std::string text, calls;
  int number = 0;
  for (const PointMapPtr& part : parts.parts) {
    if (part->count() == 0) continue;
    const std::string name = fmt::format("{}_part{}", base, ++number);
    text += each_code(*part, name, names);
    calls += fmt::format("{}{}_each(visit)", calls.empty() ? "" : " && ", name);
  }
  return text + each_head(base) + "  return " + calls + ";\n}\n\n";
}

// ---- The test of a point

using Inside = std::optional<std::string>;

std::string inside_function(const std::string& base, const Names& names, const std::string& body) {
  return fmt::format("inline bool {}_inside({}) {{\n{}}}\n\n", base, longs(names), body);
}

Inside inside_form(const PointMap&, const LoopsDescription& loops, const std::string& base,
                   const Names& names) {
  const auto bounds = bounds_of(loops, names);
  std::string condition;
  for (std::size_t l = 0; l < names.size(); ++l) {
    condition += fmt::format("{0}{1} >= {2} && {1} <= {3}", l == 0 ? "" : " && ", names[l],
                             bounds[l].first, bounds[l].second);
  }
  return inside_function(base, names, "  return " + condition + ";\n");
}

// A set of digit vectors of base 2: those with `bits` at the places of `care`.
struct Pattern {
  unsigned care = 0, bits = 0;
  auto operator<=>(const Pattern&) const = default;
};

// Returns the largest patterns that together are the given vectors (prime implicants).
std::set<Pattern> patterns_of(const std::set<unsigned>& vectors, unsigned all_bits) {
  std::set<Pattern> current, primes;
  for (const unsigned each : vectors) current.insert({all_bits, each});
  while (!current.empty()) {
    std::set<Pattern> next, merged;
    for (const Pattern& pattern : current) {
      for (unsigned bit = 1; bit <= all_bits; bit <<= 1) {
        const Pattern twin{pattern.care, pattern.bits ^ bit};
        if ((pattern.care & bit) == 0 || !current.contains(twin)) continue;
        next.insert({pattern.care & ~bit, pattern.bits & ~bit});
        merged.insert(pattern);
      }
    }
    for (const Pattern& pattern : current) {
      if (!merged.contains(pattern)) primes.insert(pattern);
    }
    current = std::move(next);
  }
  return primes;
}

// Returns a test of all binary digits at once: for each pattern of bits that is not there, whether
// some place has it.
std::string binary_test(const DigitsDescription& digits, const Names& names) {
  const unsigned all_bits = (1U << names.size()) - 1;
  std::set<unsigned> missing;
  for (unsigned each = 0; each <= all_bits; ++each) missing.insert(each);
  for (const Coordinates& entry : digits.table) {
    unsigned bits = 0;
    for (std::size_t d = 0; d < names.size(); ++d) bits |= static_cast<unsigned>(entry[d]) << d;
    missing.erase(bits);
  }
  std::string sum;
  for (const Pattern& pattern : patterns_of(missing, all_bits)) {
    std::string product;
    for (std::size_t d = 0; d < names.size(); ++d) {
      if ((pattern.care >> d & 1U) == 0) continue;
      product += fmt::format("{}{}{}", product.empty() ? "" : " & ",
                             (pattern.bits >> d & 1U) != 0 ? "" : "~", names[d]);
    }
    sum += fmt::format("{}({})", sum.empty() ? "" : " | ", product);
  }
  return fmt::format("  return (({}) & {}) == 0;\n", sum.empty() ? "0" : sum,
                     (std::int64_t{1} << digits.levels) - 1);
}

Inside inside_form(const PointMap& map, const DigitsDescription& digits, const std::string& base,
                   const Names& names) {
  std::string text;
  for (std::size_t d = 0; d < names.size(); ++d) {
    text += fmt::format("  if ({0} < 0 || {0} > {1}) return false;\n", names[d], map.upper()[d]);
  }
  constexpr std::size_t kMaxBinary = 4;
  if (digits.base == 2 && names.size() <= kMaxBinary) {
    return inside_function(base, names, text + binary_test(digits, names));
  }
  std::int64_t cells = 1;
  for (std::size_t d = 0; d < names.size(); ++d) cells *= digits.base;
  std::vector<int> is_there(static_cast<std::size_t>(cells), 0);
  for (const Coordinates& entry : digits.table) {
    std::int64_t cell = 0;
    for (std::size_t d = names.size(); d-- > 0;) cell = cell * digits.base + entry[d];
    is_there[static_cast<std::size_t>(cell)] = 1;
  }
  std::string cell = fmt::format("{} % {}", names.back(), digits.base);
  for (std::size_t d = names.size() - 1; d-- > 0;) {
    cell = fmt::format("({}) * {} + {} % {}", cell, digits.base, names[d], digits.base);
  }
  text += fmt::format("  static constexpr bool kIsThere[{}] = {{{}}};\n", cells,
                      fmt::join(is_there, ", "));
  text += fmt::format(
      "  for (int level = 0; level < {}; ++level) {{\n"
      "    if (!kIsThere[{}]) return false;\n",
      digits.levels, cell);
  for (const std::string& name : names) text += fmt::format("    {} /= {};\n", name, digits.base);
  return inside_function(base, names, text + "  }\n  return true;\n");
}

Inside inside_form(const PointMap& map, const ImageDescription& image, const std::string& base,
                   const Names& names) {
  const Names counters = counter_names(image.inner->dimensions());
  const Inside inner = inside_code(*image.inner, base + "_inner", counters);
  if (!inner || names.size() != counters.size()) return std::nullopt;
  std::string text;
  constexpr Int128 kMost = Int128{1} << 20, kMostCoordinate = Int128{1} << 40;
  for (std::size_t j = 0; j < counters.size(); ++j) {
    Coordinates row{};
    Int128 constant = 0;
    for (std::size_t i = 0; i < names.size(); ++i) {
      const Int128 factor = image.inverse[j][i];
      if (factor > kMost || factor < -kMost || image.offsets[i] > kMostCoordinate ||
          image.offsets[i] < -kMostCoordinate || map.upper()[i] > kMostCoordinate ||
          map.lower()[i] < -kMostCoordinate) {
        return std::nullopt;
      }
      row[i] = static_cast<std::int64_t>(factor);
      constant -= factor * image.offsets[i];
    }
    std::string value = row_text(row, static_cast<std::int64_t>(constant), names);
    if (image.denominator != 1) {
      const std::string divisor = number_text(image.denominator);
      text += fmt::format("  if (({}) % {} != 0) return false;\n", value, divisor);
      value = fmt::format("({}) / {}", value, divisor);
    }
    text += fmt::format("  const std::int64_t {} = {};\n", counters[j], value);
  }
  text += fmt::format("  return {}_inner_inside({});\n", base, joined(counters));
  return *inner + inside_function(base, names, text);
}

Inside inside_form(const PointMap&, const UnionDescription& parts, const std::string& base,
                   const Names& names) {
  std::string text, calls;
  int number = 0;
  for (const PointMapPtr& part : parts.parts) {
    if (part->count() == 0) continue;
    const std::string name = fmt::format("{}_part{}", base, ++number);
    const Inside inside = inside_code(*part, name, names);
    if (!inside) return std::nullopt;
    text += *inside;
    calls += fmt::format("{}{}_inside({})", calls.empty() ? "" : " || ", name, joined(names));
  }
  return text + inside_function(base, names, "  return " + calls + ";\n");
}

}  // namespace

std::string each_code(const PointMap& map, const std::string& base, const Names& names) {
  const MapDescription description = map.describe();
  return std::visit(
      [&](const auto& form) -> std::string {
        if constexpr (std::is_same_v<std::decay_t<decltype(form)>, ListDescription>) {
          return each_head(base) +
                 fmt::format(
                     "  for (std::int64_t k = 0; k < {0}; ++k) {{\n"
                     "    std::int64_t {1};\n    {2}_point(k, {3});\n"
                     "    if (!visit({1})) return false;\n  }}\n  return true;\n}}\n\n",
                     map.count(), joined(names), base, joined(names, "&"));
        } else {
          return each_form(form, base, names);
        }
      },
      description.form);
}

std::optional<std::string> inside_code(const PointMap& map, const std::string& base,
                                       const Names& names) {
  const MapDescription description = map.describe();
  return std::visit(
      [&](const auto& form) -> Inside {
        if constexpr (std::is_same_v<std::decay_t<decltype(form)>, ListDescription>) {
          return std::nullopt;
        } else {
          return inside_form(map, form, base, names);
        }
      },
      description.form);
}

std::string fill(std::string text, const std::vector<std::pair<std::string, std::string>>& values) {
  for (const auto& [word, value] : values) {
    const std::string mark = "@" + word + "@";
    for (std::size_t at = 0; (at = text.find(mark, at)) != text.npos; at += value.size()) {
      text.replace(at, mark.size(), value);
    }
  }
  return text;
}

}  // namespace groma::domains
