// Code for affine images and unions.
#include <fmt/format.h>

#include "domain_emission/map_code.h"

namespace groma::domains {
namespace {

// Returns a linear function as a polynomial.
template <typename Row>
IntegerTerms linear(const Row& factors, std::size_t count, Int128 constant) {
  IntegerTerms terms;
  for (std::size_t i = 0; i < count; ++i) {
    if (factors[i] == 0) continue;
    Polynomial::Exponents exponents{};
    exponents[i] = 1;
    terms[exponents] = factors[i];
  }
  if (constant != 0) terms[{}] = constant;
  return terms;
}

}  // namespace

std::optional<Error> MapCode::write_form(const PointMap& map, const ImageDescription& image,
                                         const std::string& base, const Names& names) {
  const std::string inner = base + "_inner";
  const auto columns = static_cast<std::size_t>(image.inner->dimensions());
  const std::size_t rows = names.size();
  const Names counters = counter_names(image.inner->dimensions());
  if (auto error = write(*image.inner, inner, counters)) return error;

  std::vector<Int128> most_counters, most_coordinates;
  for (std::size_t j = 0; j < columns; ++j) {
    most_counters.push_back(
        std::max(absolute(image.inner->lower()[j]), absolute(image.inner->upper()[j])));
  }
  for (std::size_t i = 0; i < rows; ++i) {
    most_coordinates.push_back(std::max(absolute(map.lower()[i]), absolute(map.upper()[i])));
  }
  // Returns the name of the type in which a linear function is computed.
  const auto type_for = [&](const IntegerTerms& terms, const std::vector<Int128>& most) {
    return integer(std::max(Width::k64, width_for(bound(terms, most))));
  };
  const auto widened = [&](const Names& all, const std::string& type) {
    if (type == long_type()) return all;
    Names wide;
    for (const std::string& name : all) wide.push_back(dialect_.cast(type, name));
    return wide;
  };

  std::vector<std::string> coordinates, types;
  for (std::size_t i = 0; i < rows; ++i) {
    const IntegerTerms terms = linear(image.factors[i], columns, image.offsets[i]);
    types.push_back(type_for(terms, most_counters));
    coordinates.push_back(formula(terms, widened(counters, types[i]), types[i]).text);
  }
  text_ += point_head(base, names);
  text_ += fmt::format("  {} {};\n  {}_point(k, {});\n", long_type(), joined(counters), inner,
                       joined(counters, "&"));
  for (std::size_t i = 0; i < rows; ++i) {
    text_ += fmt::format(
        "  *to_{} = {};\n", names[i],
        types[i] == long_type() ? coordinates[i] : dialect_.cast(long_type(), coordinates[i]));
  }
  text_ += "}\n\n" + rank_head(base, names) + bounds_check(map, names);
  for (std::size_t j = 0; j < columns; ++j) {
    Int128 constant = 0;
    for (std::size_t i = 0; i < rows; ++i) constant -= image.inverse[j][i] * image.offsets[i];
    const IntegerTerms terms = linear(image.inverse[j], rows, constant);
    const std::string type = type_for(terms, most_coordinates);
    std::string value = formula(terms, widened(names, type), type).text;
    if (image.denominator != 1) {
      const std::string divisor = number_text(image.denominator, type);
      text_ +=
          fmt::format("  const {0} scaled_{1} = {2};\n  if (scaled_{1} % {3} != 0) return -1;\n",
                      type, counters[j], value, divisor);
      value = fmt::format("scaled_{} / {}", counters[j], divisor);
    }
    if (type != long_type()) {
      // The inner map tests its bounds; this one must fit 64 bits before.
      text_ += fmt::format(
          "  const {0} wide_{1} = {2};\n  if (wide_{1} < {3} || wide_{1} > {4}) return -1;\n", type,
          counters[j], value, image.inner->lower()[j], image.inner->upper()[j]);
      value = dialect_.cast(long_type(), "wide_" + counters[j]);
    }
    text_ += fmt::format("  const {} {} = {};\n", long_type(), counters[j], value);
  }
  // With more coordinates than counters, the others must agree too.
  for (std::size_t i = 0; rows > columns && i < rows; ++i) {
    text_ += fmt::format("  if ({} != {}) return -1;\n", names[i], coordinates[i]);
  }
  text_ += fmt::format("  return {}_rank({});\n}}\n\n", inner, joined(counters));
  if (dialect_.is_cpp()) {
    Names values;
    for (std::size_t i = 0; i < rows; ++i) {
      values.push_back(types[i] == long_type() ? coordinates[i]
                                               : dialect_.cast(long_type(), coordinates[i]));
    }
    text_ += for_head(base) +
             fmt::format("  {}_for(begin, end, [&](std::int64_t k, {}) {{ f(k, {}); }});\n}}\n\n",
                         inner, joined(counters, "std::int64_t "), joined(values));
  }
  return std::nullopt;
}

std::optional<Error> MapCode::write_form(const PointMap&, const UnionDescription& parts,
                                         const std::string& base, const Names& names) {
  struct Part {
    std::string base;
    std::int64_t before = 0, count = 0;
  };
  std::vector<Part> all;
  std::int64_t before = 0;
  for (const PointMapPtr& part : parts.parts) {
    if (part->count() == 0) continue;
    all.push_back({fmt::format("{}_part{}", base, all.size() + 1), before, part->count()});
    if (auto error = write(*part, all.back().base, names)) return error;
    before += part->count();
  }
  text_ += point_head(base, names);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::string call =
        fmt::format("{}_point(k{}, {});", all[i].base,
                    i == 0 ? "" : fmt::format(" - {}", all[i].before), joined(names, "to_"));
    if (i + 1 == all.size()) {
      text_ += fmt::format("  {}\n", call);
    } else {
      text_ += fmt::format("  if (k < {}) {{\n    {}\n    return;\n  }}\n",
                           all[i].before + all[i].count, call);
    }
  }
  text_ += "}\n\n" + rank_head(base, names);
  text_ += fmt::format("  {} rank = {}_rank({});\n", long_type(), all[0].base, joined(names));
  for (std::size_t i = 1; i < all.size(); ++i) {
    text_ += fmt::format("  if (rank >= 0) return rank{};\n  rank = {}_rank({});\n",
                         i == 1 ? "" : fmt::format(" + {}", all[i - 1].before), all[i].base,
                         joined(names));
  }
  text_ += all.size() == 1
               ? "  return rank;\n}\n\n"
               : fmt::format("  return rank < 0 ? -1 : rank + {};\n}}\n\n", all.back().before);
  if (!dialect_.is_cpp()) return std::nullopt;
  text_ += for_head(base);
  for (const Part& part : all) {
    const std::int64_t end = part.before + part.count;
    text_ += fmt::format(
        "  if (begin < {0} && end > {1}) {{\n    const std::int64_t from = begin > {1} ? begin : "
        "{1};\n"
        "    const std::int64_t to = end < {0} ? end : {0};\n"
        "    {2}_for(from - {1}, to - {1}, [&](std::int64_t k, {3}) {{ f(k + {1}, {4}); }});\n"
        "  }}\n",
        end, part.before, part.base, joined(names, "std::int64_t "), joined(names));
  }
  text_ += "}\n\n";
  return std::nullopt;
}

}  // namespace groma::domains
