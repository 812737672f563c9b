// Draws the picture of a report as SVG: panels side by side, three in a row, and a legend below.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "paper/report.h"

namespace groma::paper {
namespace {

// Sizes in pixels. The plot of a panel leaves room for its title and the labels of its axes.
constexpr double kPanelWidth = 360, kPanelHeight = 260, kWidePanelWidth = 900;
constexpr double kLeft = 52, kRight = 12, kTop = 30, kBottom = 46, kLegendLine = 20;
constexpr std::size_t kPanelsInARow = 3;
// Colours that colour-blind readers can tell apart (Okabe and Ito).
constexpr const char* kColors[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                   "#56b4e9", "#e69f00", "#555555", "#000000"};

std::string escaped(std::string_view text) {
  std::string safe;
  for (const char letter : text) {
    if (letter == '&') {
      safe += "&amp;";
    } else if (letter == '<') {
      safe += "&lt;";
    } else {
      safe += letter;
    }
  }
  return safe;
}

// Returns the largest round step (1, 2 or 5 times a power of ten) with at least four steps up to
// `greatest`.
double step_for(double greatest) {
  const double power = std::pow(10, std::floor(std::log10(greatest / 4)));
  for (const double digit : {5.0, 2.0}) {
    if (digit * power <= greatest / 4) return digit * power;
  }
  return power;
}

// Collects the lines of the document.
class SvgWriter {
 public:
  template <typename... Values>
  void put(fmt::format_string<Values...> format, Values&&... values) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<Values>(values)...);
    text_ += '\n';
  }
  void put_text(double x, double y, std::string_view anchor, std::string_view text) {
    put("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>", x, y, anchor,
        escaped(text));
  }
  std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

// Draws one panel with its upper left corner at (x, y).
class PanelDrawing {
 public:
  PanelDrawing(const Chart& chart, const ChartPanel& panel, const std::vector<std::string>& names,
               double x, double y, double width, SvgWriter* svg)
      : chart_(chart), panel_(panel), names_(names), x_(x), y_(y), width_(width), svg_(svg) {
    for (const ChartSeries& series : panel.series) {
      for (const auto& [at, value] : series.points) {
        greatest_x_ = std::max(greatest_x_, at);
        greatest_y_ = std::max(greatest_y_, value);
      }
    }
    greatest_y_ *= 1.05;
  }

  void draw() {
    svg_->put_text(x_ + width_ / 2, y_ + 18, "middle", panel_.title);
    draw_axes();
    for (const ChartSeries& series : panel_.series) {
      if (!series.points.empty()) draw_series(series);
    }
  }

 private:
  double x_of(double value) const {
    const double left = x_ + kLeft, room = width_ - kLeft - kRight;
    if (!panel_.categories.empty()) {
      return left + room * (value + 0.5) / static_cast<double>(panel_.categories.size());
    }
    if (panel_.log_x) return left + room * std::log10(value) / std::log10(greatest_x_);
    return left + room * (value - 1) / (greatest_x_ - 1);
  }
  double y_of(double value) const {
    return y_ + kPanelHeight - kBottom - (kPanelHeight - kBottom - kTop) * value / greatest_y_;
  }

  void draw_axes() {
    const double bottom = y_of(0), left = x_ + kLeft, right = x_ + width_ - kRight;
    const double step = step_for(greatest_y_);
    for (double value = 0; value <= greatest_y_; value += step) {
      svg_->put("<path class=\"grid\" d=\"M{:.1f} {:.1f}H{:.1f}\"/>", left, y_of(value), right);
      svg_->put_text(left - 6, y_of(value) + 4, "end", fmt::format("{:.4g}", value));
    }
    for (std::size_t i = 0; i < panel_.categories.size(); ++i) {
      svg_->put_text(x_of(static_cast<double>(i)), bottom + 16, "middle", panel_.categories[i]);
    }
    if (panel_.categories.empty()) {
      const double unit = panel_.log_x ? 0 : std::max(1.0, step_for(greatest_x_));
      for (double value = 1; value <= greatest_x_;) {
        svg_->put_text(x_of(value), bottom + 16, "middle", fmt::format("{:.0f}", value));
        value = panel_.log_x ? value * 10 : value == 1 && unit > 1 ? unit : value + unit;
      }
    }
    svg_->put_text((left + right) / 2, bottom + 34, "middle", chart_.x_label);
    svg_->put(
        "<text transform=\"translate({:.1f} {:.1f}) rotate(-90)\" text-anchor=\"middle\">{}"
        "</text>",
        x_ + 14, (y_of(0) + y_of(greatest_y_)) / 2, escaped(chart_.y_label));
  }

  void draw_series(const ChartSeries& series) {
    const auto index = static_cast<std::size_t>(
        std::find(names_.begin(), names_.end(), series.name) - names_.begin());
    const char* color = kColors[index % std::size(kColors)];
    // Series at the same category stand beside each other.
    const double shift = panel_.categories.empty() ? 0 : 8 * (static_cast<double>(index) - 1);
    switch (series.kind) {
      case ChartSeries::Kind::kLine: {
        std::string path;
        for (const auto& [at, value] : series.points) {
          path += fmt::format("{}{:.1f} {:.1f}", path.empty() ? 'M' : 'L', x_of(at), y_of(value));
        }
        svg_->put("<path d=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"2\"/>", path, color);
        return;
      }
      case ChartSeries::Kind::kLevel:
        svg_->put("<path d=\"M{:.1f} {:.1f}H{:.1f}\" stroke=\"{}\" stroke-dasharray=\"5 4\"/>",
                  x_ + kLeft, y_of(series.points.front()[1]), x_ + width_ - kRight, color);
        return;
      case ChartSeries::Kind::kMarks:
        for (const auto& [at, value] : series.points) {
          svg_->put("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"4\" fill=\"{}\"/>", x_of(at) + shift,
                    y_of(value), color);
        }
        return;
      case ChartSeries::Kind::kRanges:
        for (std::size_t i = 0; i + 2 < series.points.size(); i += 3) {
          const double x = x_of(series.points[i][0]) + shift;
          svg_->put(
              "<path d=\"M{0:.1f} {1:.1f}V{2:.1f}\" stroke=\"{3}\" stroke-width=\"2\"/>"
              "<circle cx=\"{0:.1f}\" cy=\"{4:.1f}\" r=\"4\" fill=\"{3}\"/>",
              x, y_of(series.points[i][1]), y_of(series.points[i + 2][1]), color,
              y_of(series.points[i + 1][1]));
        }
        return;
    }
  }

  const Chart& chart_;
  const ChartPanel& panel_;
  const std::vector<std::string>& names_;
  double x_, y_, width_;
  SvgWriter* svg_;
  // The greatest values. Axes have some length even if there is nothing to show.
  double greatest_x_ = 2, greatest_y_ = 0.1;
};

}  // namespace

std::string to_svg(const Report& report) {
  const std::vector<ChartPanel>& panels = report.chart.panels;
  // A series has the same colour in all panels.
  std::vector<std::string> names;
  for (const ChartPanel& panel : panels) {
    for (const ChartSeries& series : panel.series) {
      const bool known = std::find(names.begin(), names.end(), series.name) != names.end();
      if (!known && !series.points.empty()) {
        names.push_back(series.name);
      }
    }
  }
  const bool wide = panels.size() == 1;
  const double panel_width = wide ? kWidePanelWidth : kPanelWidth;
  const std::size_t columns = std::min(panels.size(), kPanelsInARow);
  const std::size_t rows = (panels.size() + kPanelsInARow - 1) / kPanelsInARow;
  const double width = panel_width * static_cast<double>(columns);
  const double plots = 30 + kPanelHeight * static_cast<double>(rows);
  const double height = plots + kLegendLine * static_cast<double>(names.size()) + 10;
  SvgWriter svg;
  svg.put(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" "
      "viewBox=\"0 0 {0} {1}\" role=\"img\">",
      width, height);
  svg.put("<title>{}</title>", escaped(report.title));
  svg.put("<style>text{{font:12px sans-serif;fill:#222}}.grid{{stroke:#ddd}}</style>");
  svg.put("<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>");
  svg.put_text(width / 2, 20, "middle", report.title + report.chart.title_end);
  for (std::size_t i = 0; i < panels.size(); ++i) {
    const std::size_t row = i / kPanelsInARow, column = i % kPanelsInARow;
    const double x = panel_width * static_cast<double>(column);
    const double y = 30 + kPanelHeight * static_cast<double>(row);
    PanelDrawing(report.chart, panels[i], names, x, y, panel_width, &svg).draw();
  }
  for (std::size_t i = 0; i < names.size(); ++i) {
    const double y = plots + kLegendLine * (static_cast<double>(i) + 0.5);
    svg.put("<circle cx=\"{}\" cy=\"{:.1f}\" r=\"5\" fill=\"{}\"/>", kLeft, y,
            kColors[i % std::size(kColors)]);
    svg.put_text(kLeft + 12, y + 4, "start", names[i]);
  }
  svg.put("</svg>");
  return svg.take();
}

}  // namespace groma::paper
