// Writes the points of a domain as nested choices, one coordinate after the other. Neighbouring
// values of a coordinate that have the same points behind them share a choice.
#include "recording/listed_rows.h"

#include <fmt/format.h>

#include <cstdint>
#include <span>
#include <utility>

namespace groma::app {
namespace {

class RowWriter {
 public:
  RowWriter(const LaunchDomain& domain, const std::vector<std::string>& index)
      : domain_(domain), index_(index) {}

  // Returns the condition for the coordinates from `d` on, where `point` has the earlier ones.
  // Sets is_too_long_ if it is longer than a formula may be.
  std::string condition(int d, Point point) {
    if (d == domain_.box.dimensions()) return domain_.contains(point) ? "1" : "0";
    std::vector<Part> parts;
    const std::int64_t begin = domain_.box.lower[d], end = begin + domain_.box.extents[d];
    std::size_t length = 0;
    for (std::int64_t x = begin; x < end && !is_too_long_; ++x) {
      point[d] = x;
      std::string text = condition(d + 1, point);
      if (!parts.empty() && parts.back().text == text) continue;
      length += text.size();
      parts.push_back({x, std::move(text)});
      is_too_long_ = is_too_long_ || length > kMaxFormulaBytes;
    }
    return is_too_long_ ? "0" : choice(parts, index_[static_cast<std::size_t>(d)]);
  }

  bool is_too_long() const { return is_too_long_; }

 private:
  // A condition that holds from this value of the coordinate on.
  struct Part {
    std::int64_t begin = 0;
    std::string text;
  };

  static std::string choice(std::span<const Part> parts, const std::string& name) {
    if (parts.empty()) return "0";
    if (parts.size() == 1) return parts.front().text;
    const auto is = [&](std::size_t part, const char* text) { return parts[part].text == text; };
    if (parts.size() == 2 && is(0, "0") && is(1, "1")) {
      return fmt::format("({} >= {})", name, parts[1].begin);
    }
    if (parts.size() == 2 && is(0, "1") && is(1, "0")) {
      return fmt::format("({} < {})", name, parts[1].begin);
    }
    const std::size_t middle = parts.size() / 2;
    return fmt::format("({} < {} ? {} : {})", name, parts[middle].begin,
                       choice(parts.first(middle), name), choice(parts.subspan(middle), name));
  }

  const LaunchDomain& domain_;
  const std::vector<std::string>& index_;
  bool is_too_long_ = false;
};

}  // namespace

std::optional<Formula> condition_of_rows(const LaunchDomain& domain,
                                         const std::vector<std::string>& index) {
  RowWriter writer(domain, index);
  std::string text = writer.condition(0, domain.box.lower);
  if (writer.is_too_long() || text.size() > kMaxFormulaBytes) return std::nullopt;
  return Formula(std::move(text));
}

}  // namespace groma::app
