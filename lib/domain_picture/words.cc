#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "domain_picture/picture_parts.h"

namespace groma::domains {
namespace {

struct PictureColor {
  int red, green, blue;
};

// A step of the golden ratio makes the hues of neighbours differ; three degrees of lightness make
// processors with similar hues differ.
PictureColor color_of(std::int64_t processor) {
  const auto number = static_cast<double>(processor);
  const double hue = std::fmod(0.58 + 0.618034 * number, 1.0);
  const double light = 0.47 + 0.08 * static_cast<double>(processor % 3);
  const auto channel = [&](double offset) {
    const double k = std::fmod(offset + hue * 12, 12.0);
    const double value =
        light - 0.55 * std::min(light, 1 - light) * std::max(-1.0, std::min({k - 3, 9 - k, 1.0}));
    return static_cast<int>(std::lround(255 * value));
  };
  return {channel(0), channel(8), channel(4)};
}

}  // namespace

std::string processor_color(std::int64_t processor) {
  const PictureColor color = color_of(processor);
  return fmt::format("#{:02x}{:02x}{:02x}", color.red, color.green, color.blue);
}

bool has_dark_text(std::int64_t processor) {
  const PictureColor color = color_of(processor);
  return 0.3 * color.red + 0.59 * color.green + 0.11 * color.blue > 140;
}

std::string extents_words(const Point& extents) {
  return fmt::format("{}", fmt::join(extents.coordinates(), " x "));
}

std::string size_words(const Domain& domain, std::string_view title) {
  std::string words =
      fmt::format("{}: {} point{}", title, domain.count(), domain.count() == 1 ? "" : "s");
  if (domain.count() == 0) return words;
  double volume = 1;
  for (const std::int64_t extent : domain.bounds().extents.coordinates()) {
    volume *= static_cast<double>(extent);
  }
  return words + fmt::format(" in a box of {}, which has {:.4g} times as many",
                             extents_words(domain.bounds().extents),
                             volume / static_cast<double>(domain.count()));
}

std::string coarseness_words(const Domain& domain, const PictureCells& picture) {
  std::string words;
  if (picture.side > 1) {
    words = fmt::format(
        "Drawn coarser: a cell stands for {}{} points and is drawn if one of them "
        "is in the domain.",
        picture.side,
        domain.dimensions() == 1   ? ""
        : domain.dimensions() == 2 ? fmt::format(" x {}", picture.side)
                                   : fmt::format(" x {0} x {0}", picture.side));
  }
  if (picture.looked_at < domain.count()) {
    words += fmt::format("{}Only {} of the {} points were looked at, evenly spread.",
                         words.empty() ? "" : " ", picture.looked_at, domain.count());
  }
  return words;
}

std::string share_words(const std::vector<std::int64_t>& shares) {
  const auto [least, most] = std::minmax_element(shares.begin(), shares.end());
  const auto idle = std::count(shares.begin(), shares.end(), 0);
  std::string words = *least == *most ? fmt::format("{} point{} each", *most, *most == 1 ? "" : "s")
                                      : fmt::format("{} to {} points", *least, *most);
  words += fmt::format(", max/mean {:.4g}", imbalance(shares));
  if (idle > 0) words += fmt::format(", {} of {} without any", idle, shares.size());
  return words;
}

}  // namespace groma::domains
