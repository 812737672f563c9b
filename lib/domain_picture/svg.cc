// The SVG picture of a domain: its points twice, coloured by the processors that get them by rank
// and by blocks of the box, and bars with the numbers of points.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/append_format.h"
#include "domain_picture/picture_parts.h"
#include "domain_picture/shares.h"
#include "profile/html.h"

namespace groma::domains {
namespace {

using profile::html_text;

// Sizes in the units of the picture.
constexpr double kPictureWidth = 800, kPanel = 372, kGap = 40, kPanelTop = 76;
constexpr double kBarsHeight = 150;
// Limits on the cells of a panel.
constexpr std::int64_t kMostCells = 1 << 15, kMostExtent = 186;
// The order is drawn as a line, or as numbers if cells are large enough.
constexpr std::size_t kMostInLine = 2500;
constexpr double kNumberedCell = 21;
constexpr std::size_t kMostBars = 128;

// The element sets its own colours, so that it looks the same alone and in a page.
constexpr std::string_view kPictureStyle =
    ".domain-picture{--ink:#1b1b1b;--faint:#595959;--edge:#d0d0d0;--paper:#fff;--rank:#2f6db5;"
    "--box:#c95f00;font:13px system-ui,sans-serif}"
    "@media (prefers-color-scheme:dark){.domain-picture{--ink:#e8e8e8;--faint:#a8a8a8;"
    "--edge:#43464d;--paper:#16181c;--rank:#78aef0;--box:#ffa35c}}"
    ".domain-picture text{fill:var(--ink)}.domain-picture .faint{fill:var(--faint)}"
    ".domain-picture .paper{fill:var(--paper)}.domain-picture .frame{fill:none;stroke:var(--edge)}"
    ".domain-picture .order{fill:none;stroke:var(--ink);stroke-linejoin:round}"
    ".domain-picture .start{fill:var(--ink)}.domain-picture .rank{fill:var(--rank)}"
    ".domain-picture .box{fill:var(--box)}.domain-picture .number{text-anchor:middle}"
    ".domain-picture .cells{shape-rendering:crispEdges}"
    ".domain-picture .mean{stroke:var(--ink);stroke-dasharray:4 3}";

// Appends one path for each processor: the cells that it gets. Cells beside each other in a row are
// joined.
void add_cells(const PictureCells& picture, const std::vector<std::int64_t>& processors,
               const std::vector<std::int64_t>& shares, double left, double size,
               std::string* svg) {
  std::map<std::int64_t, std::vector<std::pair<std::int64_t, std::int64_t>>> places;
  for (std::size_t i = 0; i < picture.cells.size(); ++i) {
    const auto& at = picture.cells[i].at;
    places[processors[i]].emplace_back(at[1], at[0]);
  }
  for (auto& [processor, cells] : places) {
    std::sort(cells.begin(), cells.end());
    append_format(svg, "<path class=\"cells\" fill=\"{}\" d=\"", processor_color(processor));
    for (std::size_t i = 0; i < cells.size();) {
      std::size_t end = i + 1;
      while (end < cells.size() && cells[end].first == cells[i].first &&
             cells[end].second == cells[end - 1].second + 1) {
        ++end;
      }
      const double wide = size * static_cast<double>(end - i);
      append_format(svg, "M{:.7g} {:.7g}h{:.7g}v{:.7g}h{:.7g}z",
                    left + size * static_cast<double>(cells[i].second),
                    kPanelTop + size * static_cast<double>(cells[i].first), wide, size, -wide);
      i = end;
    }
    const std::int64_t share = shares[static_cast<std::size_t>(processor)];
    append_format(svg, "\"><title>processor {}: {} point{}</title></path>\n", processor, share,
                  share == 1 ? "" : "s");
  }
}

// Appends the order of the points: numbers, or a line through the cells.
void add_order(const PictureCells& picture, const std::vector<std::int64_t>& processors,
               double size, std::string* svg) {
  if (picture.side > 1) return;
  if (size >= kNumberedCell) {
    for (std::size_t i = 0; i < picture.cells.size(); ++i) {
      const auto& at = picture.cells[i].at;
      append_format(svg,
                    "<text class=\"number\" x=\"{:.4g}\" y=\"{:.4g}\" style=\"fill:{};"
                    "font-size:{:.3g}px\">{}</text>\n",
                    size * (static_cast<double>(at[0]) + 0.5),
                    kPanelTop + size * (static_cast<double>(at[1]) + 0.5) + 4,
                    has_dark_text(processors[i]) ? "#000" : "#fff", std::min(13.0, size * 0.45),
                    picture.cells[i].first);
    }
    return;
  }
  if (picture.cells.size() > kMostInLine || picture.cells.empty()) return;
  std::string line;
  const auto place = [&](const PictureCell& cell) {
    return fmt::format("{:.4g} {:.4g}", size * (static_cast<double>(cell.at[0]) + 0.5),
                       kPanelTop + size * (static_cast<double>(cell.at[1]) + 0.5));
  };
  for (const PictureCell& cell : picture.cells) {
    line += (line.empty() ? "M" : "L") + place(cell);
  }
  append_format(svg, "<path class=\"order\" d=\"{}\" stroke-width=\"{:.3g}\"/>\n", line,
                std::clamp(size / 12, 0.3, 1.2));
  append_format(svg, "<circle class=\"start\" r=\"{:.3g}\" cx=\"{:.4g}\" cy=\"{:.4g}\"/>\n",
                std::clamp(size / 4, 1.0, 4.0),
                size * (static_cast<double>(picture.cells.front().at[0]) + 0.5),
                kPanelTop + size * (static_cast<double>(picture.cells.front().at[1]) + 0.5));
}

// Appends the names and the ranges of the coordinates beside both panels.
void add_axes(const Domain& domain, const std::vector<std::string>& axes, double wide, double high,
              std::string* svg) {
  const Rect& box = domain.bounds();
  for (int d = 0; d < box.dimensions() && d < static_cast<int>(axes.size()); ++d) {
    const std::string words =
        fmt::format("{}: {} to {} \u2192", html_text(axes[static_cast<std::size_t>(d)]),
                    box.lower[d], box.lower[d] + box.extents[d] - 1);
    for (const double left : {0.0, kPanel + kGap}) {
      if (d == 0) {
        append_format(svg, "<text class=\"faint\" x=\"{:.4g}\" y=\"{:.4g}\">{}</text>\n", left,
                      kPanelTop + high + 14, words);
      } else {
        append_format(svg,
                      "<text class=\"faint\" transform=\"translate({:.4g} {:.4g}) rotate(90)\" "
                      "style=\"font-size:11px\">{}</text>\n",
                      left + wide + 4, kPanelTop, words);
      }
    }
  }
}

// Appends the bars below `top`: two for each processor. Of many processors, neighbours share a bar,
// which shows the largest of their shares.
void add_bars(const PointShares& shares, double top, std::string* svg) {
  const std::size_t count = shares.by_rank.size();
  const std::size_t grouped = (count + kMostBars - 1) / kMostBars;
  std::int64_t most = 1;
  for (const auto* each : {&shares.by_rank, &shares.by_box}) {
    most = std::max(most, *std::max_element(each->begin(), each->end()));
  }
  const std::size_t slots = (count + grouped - 1) / grouped;
  const double slot = kPictureWidth / static_cast<double>(slots);
  constexpr double kLegend = 44;
  const double plot = kBarsHeight - kLegend, bottom = top + kBarsHeight;
  const auto legend = [&](std::string_view name, double y, std::string_view words) {
    append_format(svg,
                  "<rect class=\"{}\" x=\"0\" y=\"{:.4g}\" width=\"11\" height=\"11\"/>"
                  "<text class=\"faint\" x=\"18\" y=\"{:.4g}\">{}</text>\n",
                  name, y - 10, y, words);
  };
  legend("rank", top + 10, "points per processor by rank: " + share_words(shares.by_rank));
  legend("box", top + 28,
         "by blocks: " + share_words(shares.by_box) + (shares.is_exact ? "" : " (estimated)"));
  const auto bar = [&](const std::vector<std::int64_t>& values, const char* name, double part) {
    append_format(svg, "<path class=\"{}\" d=\"", name);
    for (std::size_t s = 0; s < slots; ++s) {
      std::int64_t value = 0;
      for (std::size_t p = s * grouped; p < std::min(count, (s + 1) * grouped); ++p) {
        value = std::max(value, values[p]);
      }
      if (value == 0) continue;
      const double high = plot * static_cast<double>(value) / static_cast<double>(most);
      append_format(svg, "M{:.5g} {:.5g}h{:.4g}v{:.4g}h{:.4g}z",
                    slot * (static_cast<double>(s) + part), bottom - high, slot * 0.38, high,
                    -slot * 0.38);
    }
    *svg += "\"/>\n";
  };
  bar(shares.by_rank, "rank", 0.1);
  bar(shares.by_box, "box", 0.52);
  double sum = 0;
  for (const std::int64_t share : shares.by_rank) sum += static_cast<double>(share);
  const double mean = bottom - plot * sum / static_cast<double>(count) / static_cast<double>(most);
  append_format(svg,
                "<path class=\"mean\" d=\"M0 {0:.5g}H{1}\"><title>the mean</title></path>\n"
                "<path class=\"frame\" d=\"M0 {2:.5g}H{1}\"/>\n",
                mean, kPictureWidth, bottom);
  if (grouped > 1) {
    append_format(svg,
                  "<text class=\"faint\" x=\"0\" y=\"{:.4g}\">Each bar shows the largest of {} "
                  "processors.</text>\n",
                  bottom + 16, grouped);
  }
}

// `above`: the height that the content needs above 0.
std::string element(double above, double height, std::string_view label, std::string_view content) {
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"domain-picture\" viewBox=\"-12 {} {} "
      "{:.4g}\" role=\"img\" aria-label=\"{}\">\n<style>{}</style>\n"
      "<rect class=\"paper\" x=\"-12\" y=\"{}\" width=\"{}\" height=\"{:.4g}\"/>\n{}</svg>\n",
      -above - 12, kPictureWidth + 24, above + height + 24, html_text(label), kPictureStyle,
      -above - 12, kPictureWidth + 24, above + height + 24, content);
}

// Splits a sentence into lines of at most `most` characters.
std::vector<std::string> wrapped(std::string_view words, std::size_t most) {
  std::vector<std::string> lines;
  while (words.size() > most) {
    const std::size_t end = std::min(words.rfind(' ', most), most);
    lines.emplace_back(words.substr(0, end));
    words.remove_prefix(std::min(end + 1, words.size()));
  }
  if (!words.empty()) lines.emplace_back(words);
  return lines;
}

}  // namespace

std::string bars_element(const PointShares& shares) {
  std::string content;
  add_bars(shares, 0, &content);
  return element(0, kBarsHeight + 8, "points per processor", content);
}

std::string svg_element(const Domain& domain, const PictureOptions& options,
                        const PointShares& shares) {
  const PictureCells picture = picture_cells(domain, kMostCells, kMostExtent);
  std::vector<std::int64_t> by_rank, by_box;
  for (const std::int64_t rank : row_major_ranks(domain, picture)) {
    by_rank.push_back(processor_by_rank(domain, options.processors, rank));
  }
  for (const PictureCell& cell : picture.cells) {
    by_box.push_back(processor_by_box(domain, shares.box_parts, domain.point(cell.first)));
  }
  const double size = std::min({kPanel / static_cast<double>(picture.extents[0]),
                                kPanel / static_cast<double>(picture.extents[1]), 60.0});
  const double wide = size * static_cast<double>(picture.extents[0]),
               high = size * static_cast<double>(picture.extents[1]);
  const std::string title = size_words(domain, options.title);
  std::string svg;
  const std::vector<std::string> lines = wrapped(title, 95);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    // The last line is always at the same height above the panels.
    append_format(&svg, "<text x=\"0\" y=\"{}\" font-weight=\"600\">{}</text>\n",
                  14 - 18 * static_cast<int>(lines.size() - 1 - i), html_text(lines[i]));
  }
  append_format(&svg,
                "<text x=\"0\" y=\"44\">{0} processor{1} by rank</text>\n"
                "<text class=\"faint\" x=\"0\" y=\"62\">task.irank * {0} / {2}; numbers "
                "and lines show the order of the domain</text>\n"
                "<text x=\"{3}\" y=\"44\">{0} processor{1} by blocks of the box</text>\n"
                "<text class=\"faint\" x=\"{3}\" y=\"62\">{4} block{1} of equal size</text>\n",
                options.processors, options.processors == 1 ? "" : "s", domain.count(),
                kPanel + kGap, extents_words(shares.box_parts));
  add_cells(picture, by_rank, shares.by_rank, 0, size, &svg);
  add_order(picture, by_rank, size, &svg);
  add_cells(picture, by_box, shares.by_box, kPanel + kGap, size, &svg);
  for (const double left : {0.0, kPanel + kGap}) {
    append_format(&svg,
                  "<rect class=\"frame\" x=\"{:.4g}\" y=\"{:.4g}\" width=\"{:.4g}\" "
                  "height=\"{:.4g}\"/>\n",
                  left, kPanelTop, wide, high);
  }
  add_axes(domain, options.axes, wide, high, &svg);
  double below = kPanelTop + high + (options.axes.empty() ? 20 : 36);
  for (const std::string& line : wrapped(coarseness_words(domain, picture), 110)) {
    append_format(&svg, "<text class=\"faint\" x=\"0\" y=\"{:.4g}\">{}</text>\n", below, line);
    below += 18;
  }
  add_bars(shares, below + 4, &svg);
  return element(18 * static_cast<double>(lines.size() - 1), below + kBarsHeight + 24, title, svg);
}

Result<std::string> domain_svg(const Domain& domain, const PictureOptions& options) {
  if (domain.dimensions() > 2) {
    return Error{Error::Code::kTooLarge,
                 fmt::format("`{}` has {} dimensions, and an SVG picture shows 2", domain.name(),
                             domain.dimensions()),
                 domain.dimensions() == 3 ? "write a page with a picture that can be turned: name "
                                            "a file that ends with .html"
                                          : ""};
  }
  return svg_element(domain, options, share_points(domain, options.processors));
}

}  // namespace groma::domains
