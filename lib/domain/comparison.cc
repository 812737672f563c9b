// Compares the map of a domain with an enumeration of its declaration.
#include <fmt/format.h>

#include "base/point_text.h"
#include "domain/enumeration.h"
#include "groma/domain.h"

namespace groma::domains {
namespace {

// How often the caller is asked whether to go on.
constexpr std::int64_t kOften = 1 << 12;

}  // namespace

Comparison Declaration::compare(const Domain& domain, const ParameterValues& given,
                                const CompareOptions& options) const {
  Comparison result;
  Diagnostics ignored(library_->source());
  const auto values = read_values(given, ignored);
  GROMA_REQUIRE(values.has_value(), "a domain is compared with the values that it was made for");
  const auto goes_on = [&](std::int64_t done, std::int64_t all) {
    if (done % kOften != 0 || !options.progress || options.progress(done, all)) return true;
    result.was_stopped = true;
    return false;
  };

  const auto back_and_forth = [&](std::int64_t k, const Point& point) -> bool {
    if (!goes_on(k, domain.count())) return false;
    const auto back = domain.rank(point);
    if (back != k) {
      result.difference =
          fmt::format("point {} is {}, but {} {}", k, text_of(point), text_of(point),
                      back ? fmt::format("is point {}", *back) : "is not in the domain");
      return false;
    }
    ++result.mapped;
    return true;
  };
  domain.for_each(0, std::min(domain.count(), options.max_mapped), back_and_forth);
  if (result.was_stopped || !result.difference.empty()) return result;

  if (domain.count() <= options.max_enumerated) {
    const auto width = static_cast<std::size_t>(domain.dimensions());
    std::int64_t k = 0;
    const EnumerationEnd end =
        enumerate_points(library_->trees_, *tree_, *values, [&](const Coordinates& coordinates) {
          if (!goes_on(k, domain.count())) return false;
          const Point expected(std::span<const std::int64_t>(coordinates.data(), width));
          if (k == domain.count() || domain.point(k) != expected) {
            result.difference =
                fmt::format("point {} of the declaration is {}, but {}", k, text_of(expected),
                            k == domain.count() ? fmt::format("the map has {} points", k)
                                                : "that of the map is " + text_of(domain.point(k)));
            return false;
          }
          ++k;
          return true;
        });
    if (result.was_stopped || !result.difference.empty()) return result;
    if (end == EnumerationEnd::kComplete) {
      result.enumerated = k;
      result.was_enumerated = k == domain.count();
      if (!result.was_enumerated) {
        result.difference =
            fmt::format("the declaration has {} points, but the map has {}", k, domain.count());
        return result;
      }
    }
  }

  const Rect& box = domain.bounds();
  const auto fits = Rect::make(box.lower, box.extents);
  if (!fits || box.volume() > options.max_box) return result;
  std::int64_t inside = 0;
  Point point = box.lower;
  for (bool more = box.volume() > 0; more; more = next_point(box, &point)) {
    if (!goes_on(result.box, box.volume())) return result;
    inside += domain.contains(point) ? 1 : 0;
    ++result.box;
  }
  if (inside != domain.count()) {
    result.difference = fmt::format("{} points of the box are in the domain, but the map has {}",
                                    inside, domain.count());
  }
  return result;
}

}  // namespace groma::domains
