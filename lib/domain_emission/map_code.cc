#include "domain_emission/map_code.h"

#include <fmt/format.h>

namespace groma::domains {

Names coordinate_names(int dimensions) {
  Names names;
  for (int d = 0; d < dimensions; ++d) {
    names.push_back(dimensions <= 3 ? std::string(1, static_cast<char>('x' + d))
                                    : fmt::format("x{}", d));
  }
  return names;
}

Names counter_names(int dimensions) {
  Names names;
  for (int d = 0; d < dimensions; ++d) names.push_back(fmt::format("i{}", d));
  return names;
}

std::string joined(const Names& names, const std::string& prefix, const std::string& suffix) {
  std::string text;
  for (const std::string& name : names) {
    text += (text.empty() ? "" : ", ") + prefix + name + suffix;
  }
  return text;
}

std::optional<Error> MapCode::write(const PointMap& map, const std::string& base,
                                    const Names& names) {
  const MapDescription description = map.describe();
  return std::visit([&](const auto& form) { return write_form(map, form, base, names); },
                    description.form);
}

std::string MapCode::point_head(const std::string& base, const Names& names) const {
  return fmt::format("{}void {}_point({} k, {}) {{\n", dialect_.function(), base, long_type(),
                     joined(names, long_type() + "* to_"));
}

std::string MapCode::rank_head(const std::string& base, const Names& names) const {
  return fmt::format("{}{} {}_rank({}) {{\n", dialect_.function(), long_type(), base,
                     joined(names, long_type() + " "));
}

std::string MapCode::for_head(const std::string& base) const {
  return fmt::format(
      "template <typename F>\ninline void {}_for(std::int64_t begin, std::int64_t end, F&& f) {{\n",
      base);
}

std::string MapCode::bounds_check(const PointMap& map, const Names& names) const {
  std::string text;
  for (std::size_t d = 0; d < names.size(); ++d) {
    text += fmt::format("  if ({0} < {1} || {0} > {2}) return -1;\n", names[d], map.lower()[d],
                        map.upper()[d]);
  }
  return text;
}

std::string MapCode::integer(Width width) {
  needs_wide_ = needs_wide_ || width == Width::k128;
  return dialect_.integer(width);
}

}  // namespace groma::domains
