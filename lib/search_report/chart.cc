// The chart of a search as inline SVG. The picture is stretched to the width of the page; points
// are drawn as the round ends of lines without length, which stay round. The labels are HTML.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <vector>

#include "base/append_format.h"
#include "groma/harmless.h"
#include "profile/html.h"
#include "search_report/sections.h"
#include "search_report/words.h"

namespace groma::tuning {
namespace {

using profile::html_text;

// The size of the picture in its own units. Failed steps are drawn in a strip at its lower end.
constexpr double kWidth = 1000, kHeight = 300, kPlotTop = 12, kPlotBottom = 262, kFailedY = 287;
// From this ratio of the greatest to the smallest value on, the axis is logarithmic.
constexpr double kLogarithmicFrom = 3;

// The vertical axis: maps values to heights.
class ValueAxis {
 public:
  ValueAxis(double least, double greatest)
      : is_log_(greatest / least >= kLogarithmicFrom), from_(put(least)), to_(put(greatest)) {
    // Some room above and below. If all values are equal, they are in the middle.
    const double room =
        to_ > from_ ? 0.06 * (to_ - from_) : std::max(std::abs(from_) * 0.05, 1e-300);
    from_ -= room;
    to_ += room;
  }
  double y_of(double value) const {
    const double part = (put(value) - from_) / (to_ - from_);
    return kPlotBottom - (kPlotBottom - kPlotTop) * std::clamp(part, 0.0, 1.0);
  }
  bool is_log() const { return is_log_; }
  // Returns at most about eight round values within the axis.
  std::vector<double> ticks() const;

 private:
  double put(double value) const { return is_log_ ? std::log10(value) : value; }

  bool is_log_;
  double from_, to_;
};

std::vector<double> ValueAxis::ticks() const {
  std::vector<double> all;
  if (is_log_) {
    // 1, 2 and 5 of each power of ten; only each n-th power of ten if the axis spans many.
    const double powers = to_ - from_;
    const int stride = std::max(1, static_cast<int>(powers / 6));
    for (int power = static_cast<int>(std::floor(from_)); power <= to_; ++power) {
      for (const double digit : {1.0, 2.0, 5.0}) {
        if (powers > 2.5 && (digit != 1 || power % stride != 0)) continue;
        const double value = digit * std::pow(10, power);
        if (put(value) >= from_ && put(value) <= to_) all.push_back(value);
      }
    }
    return all;
  }
  const double raw = (to_ - from_) / 4;
  const double power = std::pow(10, std::floor(std::log10(raw)));
  double step = 10 * power;
  for (const double digit : {5.0, 2.0, 1.0}) {
    if (digit * power >= raw) step = digit * power;
  }
  for (double value = std::ceil(from_ / step) * step; value <= to_ && all.size() < 12;
       value += step)
    all.push_back(value);
  return all;
}

// Returns the indices of the results that are drawn: all, or those with a line of text and the
// improvements.
std::vector<std::size_t> drawn_results(const SearchReport& report) {
  std::vector<std::size_t> all;
  const std::size_t count = report.results.size();
  for (std::size_t i = 0; i < count; ++i) {
    const bool has_text = i < report.changes.size() && !report.changes[i].empty();
    if (count <= kMaxChartPoints || has_text || report.results[i].is_improvement) all.push_back(i);
  }
  // A forged journal may consist of improvements. The last one is the best and is always drawn.
  constexpr std::size_t kMaxDrawn = 4 * kMaxChartPoints;
  if (all.size() <= kMaxDrawn) return all;
  const std::size_t stride = all.size() / kMaxDrawn + 1;
  std::vector<std::size_t> some;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (i % stride == 0 || report.best == all[i]) some.push_back(all[i]);
  }
  return some;
}

}  // namespace

void add_chart(const SearchReport& report, std::string* html) {
  double least = HUGE_VAL, greatest = 0;
  for (const ReportedResult& result : report.results) {
    if (result.status != Evaluation::Status::kOk || !(result.value > 0)) continue;
    least = std::min(least, result.value);
    greatest = std::max(greatest, result.value);
  }
  *html += "<section>\n<h2 id=\"trajectory\">How the search went</h2>\n";
  if (greatest <= 0) {
    *html += "<p class=\"dim\">No step has a valid result yet.</p>\n</section>\n";
    return;
  }
  const ValueAxis axis(least, greatest);
  const double last = std::max<double>(1, static_cast<double>(report.results.size()) - 1);
  const auto x_of = [last](std::size_t i) {
    return 6 + (kWidth - 12) * static_cast<double>(i) / last;
  };
  append_format(
      html,
      "<p class=\"dim\">Each point is a step; the line is the best so far. {} is better{}.</p>\n",
      report.higher_is_better ? "Higher" : "Lower",
      axis.is_log() ? "; the scale is logarithmic" : "");

  std::string start, valid, better, failed, best, data;
  for (const std::size_t i : drawn_results(report)) {
    const ReportedResult& result = report.results[i];
    const bool ok = result.status == Evaluation::Status::kOk;
    const double x = x_of(i), y = ok ? axis.y_of(result.value) : kFailedY;
    const bool is_start = report.start == i;
    std::string& path = !ok ? failed : is_start ? start : result.is_improvement ? better : valid;
    path += fmt::format("M{:.1f} {:.1f}h0", x, y);
    if (result.is_improvement) {
      best +=
          best.empty() ? fmt::format("M{:.1f} {:.1f}", x, y) : fmt::format("H{:.1f}V{:.1f}", x, y);
    }
    const std::string_view change =
        i < report.changes.size() ? std::string_view(report.changes[i]) : std::string_view();
    data += fmt::format("{}[{},{:.1f},{:.1f},{},{}]", data.empty() ? "" : ",\n", result.number, x,
                        y, profile::script_json(result_words(result, report)),
                        profile::script_json(harmless(change)));
  }
  if (!best.empty()) best += fmt::format("H{:.1f}", kWidth - 6);
  // The ticks of the vertical axis.
  std::string grid, labels;
  for (const double value : axis.ticks()) {
    const double y = axis.y_of(value);
    grid += fmt::format("M0 {0:.1f}H{1}", y, kWidth);
    labels += fmt::format("<span style=\"top:{:.2f}%\">{}</span>", 100 * y / kHeight,
                          html_text(result_words(value, report.unit)));
  }
  append_format(
      html, "<div class=\"chart\">\n<div class=\"ys\" aria-hidden=\"true\">{}{}</div>\n", labels,
      failed.empty() ? ""
                     : fmt::format("<span class=\"bad\" style=\"top:{:.2f}%\">failed</span>",
                                   100 * kFailedY / kHeight));
  append_format(
      html,
      "<div class=\"plot\" id=\"plot\" tabindex=\"0\" role=\"img\" aria-label=\"The result of each "
      "step and the best so far. The arrow keys go from step to step; the list of steps below has "
      "the same results.\">\n<svg viewBox=\"0 0 {} {}\" preserveAspectRatio=\"none\" "
      "aria-hidden=\"true\"><path class=\"grid\" d=\"{}\"/><path class=\"valid\" d=\"{}\"/>"
      "<path class=\"best\" d=\"{}\"/><path class=\"better\" d=\"{}\"/>"
      "<path class=\"start\" d=\"{}\"/><path class=\"failed\" d=\"{}\"/></svg><span id=\"mark\" "
      "hidden></span></div>\n",
      kWidth, kHeight, grid, valid, best, better, start, failed);
  append_format(
      html,
      "<div class=\"xs\" aria-hidden=\"true\"><span>step {}</span><span>step {}</span></div>\n"
      "</div>\n",
      report.results.front().number, report.results.back().number);
  *html += "<p class=\"legend\">";
  if (!start.empty()) *html += "<span class=\"key start\">the start</span> ";
  if (!better.empty()) *html += "<span class=\"key better\">an improvement</span> ";
  *html += "<span class=\"key valid\">another step</span>";
  if (!failed.empty()) *html += " <span class=\"key failed\">refused or failed</span>";
  append_format(
      html,
      "</p>\n<p id=\"point\" aria-live=\"polite\">Point at a step, or use the arrow keys.</p>\n"
      "<script type=\"application/json\" id=\"chart-data\">[{}]</script>\n</section>\n",
      data);
}

}  // namespace groma::tuning
