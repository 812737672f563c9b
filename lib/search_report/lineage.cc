// The section of the page that shows which step was made from which: the family tree as inline SVG,
// and the line of the best as a list.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <vector>

#include "base/append_format.h"
#include "groma/harmless.h"
#include "profile/html.h"
#include "search_report/family_tree.h"
#include "search_report/sections.h"
#include "search_report/words.h"

namespace groma::tuning {
namespace {

using profile::html_text;

// The space to the left of the line of the best, for the labels of its steps.
constexpr double kLabelWidth = 132;
// The number of colours for the values of steps. The first one is for the best fifth of them.
constexpr std::size_t kValueColours = 5;
// Limits on the first and on the last steps in the list of the line of the best. A list with at
// most kMaxOpenLine steps is open at first.
constexpr std::size_t kMaxLineBegin = 10, kMaxLineEnd = 30, kMaxOpenLine = 12;

bool is_valid(const ReportedResult& result) { return result.status == Evaluation::Status::kOk; }

// Returns how the value of a step differs from that of its first parent, such as "-3.2 %" or
// "39 times". Empty unless both are valid.
std::string change_words(const ReportedResult& result, const SearchReport& report) {
  if (result.parents.empty()) return "";
  const ReportedResult& parent = report.results[result.parents.front()];
  if (!is_valid(result) || !is_valid(parent) || !(parent.value > 0)) return "";
  const double times = result.value / parent.value, percent = 100 * (times - 1);
  if (!std::isfinite(times)) return "";
  if (times >= 10) return fmt::format("{:.3g} times", times);
  if (std::abs(percent) < 0.005) return "±0 %";
  return fmt::format("{:+.{}f} %", percent, std::abs(percent) < 1 ? 2 : 1);
}

// Returns the change of a step in one line, if the report has it.
std::string why_of(std::size_t index, const SearchReport& report) {
  return index < report.changes.size() ? harmless(report.changes[index]) : std::string();
}

// Writes the section about the descent of the steps.
class LineageWriter {
 public:
  LineageWriter(const SearchReport& report, std::string* html)
      : report_(report), html_(*html), tree_(family_tree(report, kLabelWidth)) {}

  void write() {
    find_thresholds();
    html_ += "<section>\n<h2 id=\"lineage\">Which step was made from which</h2>\n";
    const bool has_line = report_.line_of_best.size() > 1;
    const bool has_others =
        std::any_of(tree_.nodes.begin(), tree_.nodes.end(),
                    [this](const FamilyTree::Node& node) { return !other_parents(node).empty(); });
    append_format(
        &html_,
        "<p class=\"dim\">Each point is a step, and lines lead down from a step to the steps that "
        "were made from it. A box holds steps from which nothing else was made.{}{}{}</p>\n",
        has_line ? " The thick line at the left leads to the best." : "",
        has_others ? " A dashed line comes from another parent." : "", left_out_words());
    picture();
    legend();
    html_ +=
        "<p id=\"kin\" aria-live=\"polite\">Point at a step, or use the arrow keys: up to the "
        "parent, down to a child, left and right to a neighbour.</p>\n";
    line_of_best();
    data();
    html_ += "</section>\n";
  }

 private:
  const ReportedResult& result_of(const FamilyTree::Node& node) const {
    return report_.results[node.result];
  }

  std::string left_out_words() const {
    if (tree_.nodes.size() == report_.results.size()) return "";
    return fmt::format(
        " Of {} steps {} are in the tree; a dotted line stands for steps in between that are left "
        "out.",
        counted(static_cast<std::int64_t>(report_.results.size()), ""),
        counted(static_cast<std::int64_t>(tree_.nodes.size()), ""));
  }

  // Sets the values that divide the valid steps of the tree into parts of equal size.
  void find_thresholds() {
    for (const FamilyTree::Node& node : tree_.nodes) {
      if (is_valid(result_of(node))) values_.push_back(result_of(node).value);
    }
    std::sort(values_.begin(), values_.end());
    if (report_.higher_is_better) std::reverse(values_.begin(), values_.end());
  }
  // Returns the number of the colour of a valid step; 0 is that of the best.
  std::size_t colour_of(const ReportedResult& result) const {
    const auto place = std::lower_bound(
        values_.begin(), values_.end(), result.value,
        [this](double a, double b) { return report_.higher_is_better ? a > b : a < b; });
    return static_cast<std::size_t>(place - values_.begin()) * kValueColours / values_.size();
  }

  // Returns the path from a parent down to a child in the row at `row_y`, with rounded corners.
  static std::string edge(double from_x, double from_y, double to_x, double to_y, double row_y) {
    const double bend = row_y - 19, dx = to_x - from_x;
    if (std::abs(dx) < 1) return fmt::format("M{:.0f} {:.0f}V{:.0f}", from_x, from_y, to_y);
    const double r = std::min(7.0, std::abs(dx) / 2), side = dx > 0 ? r : -r;
    return fmt::format(
        "M{:.0f} {:.0f}V{:.0f}q0 {:.0f} {:.0f} {:.0f}H{:.0f}q{:.0f} 0 {:.0f} "
        "{:.0f}V{:.0f}",
        from_x, from_y, bend - r, r, side, r, to_x - side, side, side, r, to_y);
  }

  void picture() {
    append_format(
        &html_,
        "<div class=\"tree\" id=\"tree\" tabindex=\"0\" role=\"img\" aria-label=\"The family tree "
        "of the steps. The arrow keys go from step to step. The list of steps below names the "
        "parents of each step.\">\n<svg width=\"{0:.0f}\" height=\"{1:.0f}\" viewBox=\"0 0 {0:.0f} "
        "{1:.0f}\" aria-hidden=\"true\">",
        tree_.width, tree_.height);
    edges();
    html_ += "<path id=\"kin-line\" d=\"\"/><path id=\"kin-other\" d=\"\"/>";
    for (const FamilyTree::Node& node : tree_.nodes) point(node);
    html_ += "<circle id=\"kin-mark\" r=\"10\" visibility=\"hidden\"/></svg>\n</div>\n";
  }

  void edges() {
    std::string plain, gaps, line, others;
    for (const FamilyTree::Box& box : tree_.boxes) {
      append_format(
          &html_,
          "<rect class=\"kids\" x=\"{:.0f}\" y=\"{:.0f}\" width=\"{:.0f}\" height=\"{:.0f}\" "
          "rx=\"8\"/>",
          box.x - 11, box.y - 11, static_cast<double>(box.columns - 1) * FamilyTree::kCell + 22,
          static_cast<double>(box.rows - 1) * FamilyTree::kCell + 22);
      if (!box.parent) continue;
      const FamilyTree::Node& parent = tree_.nodes[*box.parent];
      plain += edge(parent.x, parent.y, box.x, box.y - 11, box.y);
    }
    for (const FamilyTree::Node& node : tree_.nodes) {
      others += other_parents(node);
      if (!node.parent || node.is_in_box) continue;
      const FamilyTree::Node& parent = tree_.nodes[*node.parent];
      std::string& path = node.left_out > 0 ? gaps : node.is_on_line_of_best ? line : plain;
      path += edge(parent.x, parent.y, node.x, node.y, node.y);
    }
    append_format(
        &html_,
        "<path class=\"kin\" d=\"{}\"/><path class=\"kin gap\" d=\"{}\"/><path class=\"kin other\" "
        "d=\"{}\"/><path class=\"kin line\" d=\"{}\"/>",
        plain, gaps, others, line);
  }

  // Returns the indices in the tree of the further parents of a step.
  std::vector<std::size_t> other_parents_of(const FamilyTree::Node& node) const {
    std::vector<std::size_t> found;
    const auto& parents = result_of(node).parents;
    for (std::size_t i = 1; i < parents.size(); ++i) {
      const auto at = std::lower_bound(
          tree_.nodes.begin(), tree_.nodes.end(), parents[i],
          [](const FamilyTree::Node& one, std::size_t result) { return one.result < result; });
      if (at != tree_.nodes.end() && at->result == parents[i]) {
        found.push_back(static_cast<std::size_t>(at - tree_.nodes.begin()));
      }
    }
    return found;
  }
  // Returns the dashed lines from the further parents of a step. Only the steps on the line of the
  // best have such lines, so that the picture stays readable.
  std::string other_parents(const FamilyTree::Node& node) const {
    std::string path;
    if (!node.is_on_line_of_best) return path;
    for (const std::size_t other : other_parents_of(node)) {
      const FamilyTree::Node& from = tree_.nodes[other];
      // Within a row the curve goes above the steps in between.
      const double bow = from.y == node.y ? 26 : 0;
      path += fmt::format("M{:.0f} {:.0f}Q{:.0f} {:.0f} {:.0f} {:.0f}", from.x, from.y,
                          (from.x + node.x) / 2 + 24, (from.y + node.y) / 2 - bow, node.x, node.y);
    }
    return path;
  }

  // Writes the point of a step, as a link to the step, and its label if it is on the line of the
  // best.
  void point(const FamilyTree::Node& node) {
    const ReportedResult& result = result_of(node);
    const std::string words = result_words(result, report_);
    append_format(&html_, "<a href=\"#step-{0}\" tabindex=\"-1\"><title>Step {0}: {1}</title>",
                  result.number, html_text(words));
    if (!is_valid(result)) {
      append_format(&html_, "<path class=\"bad\" d=\"M{:.0f} {:.0f}l8 8m0-8l-8 8\"/>", node.x - 4,
                    node.y - 4);
    } else {
      const bool is_best = report_.best == node.result, is_start = report_.start == node.result;
      append_format(&html_, "<circle class=\"v{}{}\" cx=\"{:.0f}\" cy=\"{:.0f}\" r=\"{}\"/>",
                    colour_of(result),
                    is_best    ? " top"
                    : is_start ? " first"
                               : "",
                    node.x, node.y, is_best || is_start ? "6.5" : "5.5");
    }
    if (node.is_on_line_of_best && node.x < kLabelWidth + 1) {
      append_format(&html_,
                    "<text x=\"{:.0f}\" y=\"{:.0f}\"><tspan class=\"at\">{}</tspan> {}</text>",
                    node.x - 16, node.y + 4, result.number, html_text(beginning(words, 24)));
    }
    html_ += "</a>";
  }

  void legend() {
    html_ += "<p class=\"legend\">";
    if (values_.size() > 1) {
      html_ += "<span class=\"scale\">the best fifth";
      for (std::size_t i = 0; i < kValueColours; ++i)
        append_format(&html_, "<i class=\"v{}\"></i>", i);
      html_ += "the worst fifth</span> ";
    }
    if (report_.best) html_ += "<span class=\"ring top\">the best</span> ";
    if (report_.start) html_ += "<span class=\"ring first\">the start</span> ";
    if (values_.size() < tree_.nodes.size()) {
      html_ += "<span class=\"cross\">refused or failed</span>";
    }
    html_ += "</p>\n";
  }

  void line_of_best() {
    const std::vector<std::size_t>& line = report_.line_of_best;
    if (line.size() < 2) return;
    append_format(
        &html_,
        "<details class=\"descent\"{}><summary>From step {} to the best in {}</summary>\n<ol>\n",
        line.size() <= kMaxOpenLine ? " open" : "", report_.results[line.front()].number,
        counted(static_cast<std::int64_t>(line.size()) - 1, "change"));
    for (std::size_t i = 0; i < line.size(); ++i) {
      if (i == kMaxLineBegin && line.size() > kMaxLineBegin + kMaxLineEnd) {
        const std::size_t left_out = line.size() - kMaxLineBegin - kMaxLineEnd;
        append_format(&html_, "<li class=\"dim\">{} left out</li>\n",
                      left_out == 1
                          ? std::string("1 step is")
                          : counted(static_cast<std::int64_t>(left_out), "step") + " are");
        i += left_out;
      }
      const ReportedResult& result = report_.results[line[i]];
      append_format(
          &html_,
          "<li><a href=\"#step-{0}\">step {0}</a><b>{1}</b><span>{2}</span><span>{3}</span></li>\n",
          result.number, html_text(result_words(result, report_)), change_words(result, report_),
          html_text(why_of(line[i], report_)));
    }
    html_ += "</ol>\n</details>\n";
  }

  // Writes what the script needs of each step: its number, its position, the index of its parent
  // (-1: none), a sentence, and the indices of its further parents.
  void data() {
    html_ += "<script type=\"application/json\" id=\"tree-data\">[";
    for (std::size_t i = 0; i < tree_.nodes.size(); ++i) {
      const FamilyTree::Node& node = tree_.nodes[i];
      append_format(&html_, "{}[{},{:.0f},{:.0f},{},{}", i == 0 ? "" : ",\n",
                    result_of(node).number, node.x, node.y,
                    node.parent ? static_cast<std::int64_t>(*node.parent) : -1,
                    profile::script_json(sentence(node)));
      for (const std::size_t other : other_parents_of(node)) append_format(&html_, ",{}", other);
      html_ += "]";
    }
    html_ += "]</script>\n";
  }

  std::string sentence(const FamilyTree::Node& node) const {
    const ReportedResult& result = result_of(node);
    std::string words = fmt::format("Step {}, generation {}: {}", result.number, node.generation,
                                    harmless(result_words(result, report_)));
    // The change is only that against the first parent.
    const std::string change = change_words(result, report_);
    for (std::size_t i = 0; i < result.parents.size(); ++i) {
      std::string_view link = " and step ";
      if (i == 0) link = change.empty() ? "from step " : " against step ";
      if (i == 1 && !change.empty()) link = "; also made from step ";
      words += fmt::format("{}{}{}", i == 0 ? ", " + change : std::string(), link,
                           report_.results[result.parents[i]].number);
    }
    const std::string why = why_of(node.result, report_);
    return words + (why.empty() ? "" : " — " + why);
  }

  const SearchReport& report_;
  std::string& html_;
  const FamilyTree tree_;
  // The values of the valid steps of the tree, the best first.
  std::vector<double> values_;
};

}  // namespace

void add_lineage(const SearchReport& report, std::string* html) {
  if (report.steps_with_parents > 0) LineageWriter(report, html).write();
}

}  // namespace groma::tuning
