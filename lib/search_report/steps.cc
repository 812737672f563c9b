// The list of steps on the page of a search, and the comparison of two of them.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <vector>

#include "base/append_format.h"
#include "groma/harmless.h"
#include "groma/line_edits.h"
#include "profile/html.h"
#include "search_report/sections.h"
#include "search_report/words.h"

namespace groma::tuning {
namespace {

using profile::add_html_list;
using profile::html_lines;
using profile::html_sentence;
using profile::html_text;
using profile::script_json;

// Limit on the work of line_edits(): the number of lines of one text times that of the other.
constexpr std::size_t kMaxCells = 250'000;
// Limits on the lines of a difference that are shown, for a step and for the best text, and the
// number of equal lines that are shown around a changed one.
constexpr std::size_t kMaxDifferenceLines = 400, kMaxBestLines = 5000, kContext = 2;

// Returns for each edit whether it is shown: changed lines and the equal lines near them.
std::vector<bool> shown_edits(const std::vector<LineEdit>& edits, bool whole) {
  std::vector<bool> shown(edits.size(), whole);
  for (std::size_t i = 0; i < edits.size() && !whole; ++i) {
    if (edits[i].sign == ' ') continue;
    const std::size_t end = std::min(edits.size(), i + kContext + 1);
    for (std::size_t near = i - std::min(i, kContext); near < end; ++near) shown[near] = true;
  }
  return shown;
}

// Appends one question and its reply, folded.
void add_exchange(const ReportedExchange& exchange, std::size_t number, std::size_t all,
                  std::string* html) {
  std::string title = all > 1 ? fmt::format("Question {} of {} to the model", number, all)
                              : std::string("The question to the model");
  if (exchange.tokens > 0) {
    title += fmt::format(" ({}{})", exchange.estimated ? "about " : "",
                         counted(exchange.tokens, "token"));
  }
  append_format(html, "<details class=\"ask\"><summary>{}{}</summary>\n", title,
                exchange.failed ? ": no reply" : "");
  for (const std::string& message : exchange.prompt) {
    append_format(html, "<pre class=\"prompt\">{}</pre>\n", html_lines(message));
  }
  append_format(html, "<p class=\"label\">{}</p>\n<pre class=\"reply\">{}</pre>\n</details>\n",
                exchange.failed ? "Why there is no reply" : "Reply", html_lines(exchange.reply));
}

// Returns what is special about a step, in sentences.
std::string remarks_on(const ReportedStep& step) {
  std::string words;
  if (step.within_noise) words += "It is better than the best only within the noise. ";
  if (step.repeated) words += "Its text had been tried before. ";
  if (step.again) words += "It looked better, so it was measured again. ";
  if (step.free && !step.repeated) words += "It did not count as an evaluation. ";
  if (step.step.evaluation.noise > 0) {
    words += fmt::format("The noise of its result is {:.1f} %. ", 100 * step.step.evaluation.noise);
  }
  if (step.seconds > 0) words += fmt::format("After {}.", duration_words(step.seconds));
  return words;
}

// Appends from which steps a step was made, and a link to the comparison with the first of them.
// Links lead only to steps in the list, whose numbers are `listed` in ascending order.
void add_parents(const ReportedStep& step, const std::vector<std::int64_t>& listed,
                 std::string* html) {
  const std::vector<std::int64_t>& parents = step.step.proposal.parents;
  if (parents.empty()) return;
  const auto is_listed = [&](std::int64_t number) {
    return std::binary_search(listed.begin(), listed.end(), number);
  };
  *html += "<p>Made from ";
  for (std::size_t i = 0; i < parents.size(); ++i) {
    if (i > 0) *html += i + 1 == parents.size() ? " and " : ", ";
    if (is_listed(parents[i])) {
      append_format(html, "<a href=\"#step-{0}\">step {0}</a>", parents[i]);
    } else {
      append_format(html, "step {}", parents[i]);
    }
  }
  *html += ".";
  if (is_listed(parents.front())) {
    append_format(html, " <a href=\"#compare-{0}-{1}\">Compare it with step {0}</a>",
                  parents.front(), step.step.number);
  }
  *html += "</p>\n";
}

// Returns the parents of a step in a few characters: "from 12, 7". Empty if there are none.
std::string from_words(const ReportedStep& step) {
  std::string words;
  for (const std::int64_t parent : step.step.proposal.parents) {
    words += fmt::format("{}{}", words.empty() ? "from " : ", ", parent);
  }
  return words;
}

// Appends what is shown when a step is opened. `asked_at` is the number of the last step before
// this one that has questions to the model; 0 if there is none. `listed` as in add_parents().
void add_body(const ReportedStep& step, const std::vector<std::int64_t>& listed,
              std::int64_t asked_at, std::string* html) {
  const GuideFeedback& feedback = step.step.evaluation.feedback;
  *html += "<div class=\"body\">\n";
  if (const std::string remarks = remarks_on(step); !remarks.empty()) {
    append_format(html, "<p class=\"dim\">{}</p>\n", remarks);
  }
  add_parents(step, listed, html);
  if (!feedback.execution.empty()) {
    append_format(html, "<p class=\"said\">{}</p>\n", html_sentence(feedback.execution));
  }
  add_html_list("Explain", feedback.explain, html);
  add_html_list("Suggest", feedback.suggest, html);
  if (!feedback.last_lines.empty()) {
    *html += "<p class=\"label\">Last lines of its output</p>\n<pre>";
    for (const std::string& line : feedback.last_lines) *html += html_text(line) + "\n";
    *html += "</pre>\n";
  }
  if (step.best_before) {
    append_format(html, "<p class=\"label\">Text, compared with step {}, the best before it</p>\n",
                  step.best_before_number);
    add_difference(*step.best_before, step.step.proposal.text, false, "", html);
  } else if (!step.step.proposal.text.empty()) {
    *html += "<p class=\"label\">Text</p>\n";
    add_difference(step.step.proposal.text, step.step.proposal.text, true, "", html);
  } else {
    *html += "<p class=\"dim\">Its text is empty: the default mapper decides.</p>\n";
  }
  if (step.left_out_bytes > 0) {
    append_format(html, "<p class=\"dim\">The text has {} more, which are left out.</p>\n",
                  counted(static_cast<std::int64_t>(step.left_out_bytes), "byte"));
  }
  for (std::size_t i = 0; i < step.exchanges.size(); ++i) {
    add_exchange(step.exchanges[i], i + 1, step.exchanges.size(), html);
  }
  if (step.exchanges.empty() && asked_at > 0) {
    append_format(html,
                  "<p class=\"dim\">The last questions to the model before this step are at "
                  "<a href=\"#step-{0}\">step {0}</a>.</p>\n",
                  asked_at);
  }
  *html += "</div>\n";
}

// Returns the result of a step that is shown in full.
ReportedResult result_of(const ReportedStep& step, const SearchReport& report) {
  const Evaluation& evaluation = step.step.evaluation;
  ReportedResult result;
  result.number = step.step.number;
  result.status = evaluation.status;
  if (evaluation.ok()) {
    result.value = report.higher_is_better ? 1 / evaluation.score : evaluation.score;
  }
  return result;
}

}  // namespace

void add_difference(std::string_view before, std::string_view after, bool whole,
                    std::string_view prefix, std::string* html) {
  const std::vector<LineEdit> edits = line_edits(before, after, kMaxCells);
  const std::vector<bool> shown = shown_edits(edits, whole);
  if (std::find(shown.begin(), shown.end(), true) == shown.end()) {
    *html += "<p class=\"dim\">The texts are the same.</p>\n";
    return;
  }
  *html += "<pre class=\"code\">";
  std::size_t line = 0, written = 0, hidden = 0;
  const auto end_gap = [&] {
    if (hidden > 0) {
      append_format(html, "<span class=\"gap\">{}</span>",
                    counted(static_cast<std::int64_t>(hidden), "equal line"));
    }
    hidden = 0;
  };
  for (std::size_t i = 0; i < edits.size(); ++i) {
    if (edits[i].sign != '-') ++line;
    if (!shown[i]) {
      ++hidden;
      continue;
    }
    end_gap();
    if (++written > (prefix.empty() ? kMaxDifferenceLines : kMaxBestLines)) {
      append_format(html, "<span class=\"gap\">{} left out</span>",
                    counted(static_cast<std::int64_t>(edits.size() - i), "further line"));
      break;
    }
    const char sign = edits[i].sign;
    const std::string_view text = edits[i].line.substr(0, edits[i].line.find('\n'));
    std::string id;
    if (!prefix.empty() && sign != '-') id = fmt::format(" id=\"{}{}\"", prefix, line);
    append_format(html, "<span class=\"{}\"{}><i>{}</i><b>{}</b>{}\n</span>",
                  sign == '+'   ? "add"
                  : sign == '-' ? "del"
                                : "same",
                  id, sign == '-' ? std::string() : fmt::format("{}", line), sign, html_text(text));
  }
  end_gap();
  *html += "</pre>\n";
}

void add_steps(const SearchReport& report, std::string* html) {
  *html +=
      "<section>\n<h2 id=\"steps\">Steps</h2>\n"
      "<p class=\"dim\">Open a step for its text, its feedback and, if a model was asked, the "
      "questions and replies.</p>\n";
  const bool has_causes =
      std::any_of(report.steps.begin(), report.steps.end(), [](const ReportedStep& step) {
        return !main_cause_words(step.step.evaluation.feedback).empty();
      });
  append_format(
      html,
      "<div class=\"tools\" id=\"filter\" hidden><label><input type=\"checkbox\" id=\"only\"> "
      "only the improvements</label></div>\n<div class=\"list{}\">\n"
      "<div class=\"columns-head\" id=\"sort\" role=\"group\" aria-label=\"Sort the steps by\">"
      "<button data-key=\"number\" aria-pressed=\"true\">Step</button>"
      "<button data-key=\"value\" aria-pressed=\"false\">Result</button>"
      "<button data-key=\"change\" aria-pressed=\"false\">Change</button>{}</div>\n"
      "<div id=\"list\">\n",
      has_causes ? " causes" : "",
      has_causes ? "<button data-key=\"cause\" aria-pressed=\"false\">What took the most time"
                   "</button>"
                 : "");
  std::vector<std::int64_t> listed;
  for (const ReportedStep& step : report.steps) listed.push_back(step.step.number);
  std::sort(listed.begin(), listed.end());
  std::int64_t position = 0, asked_at = 0;
  for (const ReportedStep& step : report.steps) {
    const bool is_start = report.start && step.step.number == report.results.front().number;
    const ReportedResult result = result_of(step, report);
    const bool ok = result.status == Evaluation::Status::kOk;
    const std::string cause = main_cause_words(step.step.evaluation.feedback);
    const std::string from = from_words(step);
    // Failed steps are sorted behind all others.
    append_format(
        html,
        "<details class=\"step{}{}\" id=\"step-{}\" data-at=\"{}\" data-value=\"{}\">"
        "<summary><span class=\"no\">{}</span><span class=\"result\">{}</span>"
        "<span class=\"change\">{}{}</span>",
        is_start              ? " start"
        : step.is_improvement ? " better"
                              : "",
        ok ? "" : " failed", result.number, position++,
        ok ? fmt::format("{:.9g}", report.higher_is_better ? -result.value : result.value) : "",
        result.number, html_text(result_words(result, report)), html_text(step.step.proposal.why),
        from.empty() ? from : fmt::format(" <span class=\"from\">{}</span>", from));
    if (has_causes) append_format(html, "<span class=\"cause\">{}</span>", html_sentence(cause));
    *html += "</summary>\n";
    add_body(step, listed, asked_at, html);
    if (!step.exchanges.empty()) asked_at = step.step.number;
    *html += "</details>\n";
  }
  *html += "</div>\n</div>\n";
  if (!report.last_exchanges.empty()) {
    *html += "<p class=\"label\">Questions after the last step</p>\n";
    const std::size_t all = report.last_exchanges.size();
    for (std::size_t i = 0; i < all; ++i) {
      add_exchange(report.last_exchanges[i], i + 1, all, html);
    }
  }
  *html += "</section>\n";
}

void add_comparison(const SearchReport& report, std::string* html) {
  if (report.steps.size() < 2) return;
  append_format(
      html,
      "<section class=\"compare\">\n<h2 id=\"compare\">Compare two {}</h2>\n"
      "<div class=\"tools\"><label>Left <select id=\"left\"></select></label>"
      "<label>Right <select id=\"right\"></select></label></div>\n"
      "<div id=\"sides\"></div>\n<noscript><p>The comparison needs JavaScript.</p></noscript>\n"
      "<script type=\"application/json\" id=\"texts\">[",
      report.is_mapping() ? "mappings" : "texts");
  bool first = true;
  // The script finds a step by its number; 0 stands for a text that is not that of a step.
  const auto add = [&](std::string_view name, std::string_view text, std::int64_t number) {
    append_format(html, "{}[{},{},{}]", first ? "" : ",\n", script_json(name),
                  script_json(harmless_lines(text)), number);
    first = false;
  };
  if (report.best_is_simplified) add("the best, simplified", *report.best_text, 0);
  for (std::size_t i = 0; i < report.steps.size(); ++i) {
    const ReportedStep& step = report.steps[i];
    std::string name =
        fmt::format("step {}: {}", step.step.number, result_words(result_of(step, report), report));
    const bool is_start = report.start && i == 0;
    if (is_start || step.is_improvement) name += is_start ? ", the start" : ", an improvement";
    add(name, step.step.proposal.text, step.step.number);
  }
  // The script selects the start and the best first.
  std::size_t best = report.steps.size() - 1;
  for (std::size_t i = 0; i < report.steps.size(); ++i) {
    if (report.best && report.steps[i].step.number == report.results[*report.best].number) best = i;
  }
  const std::size_t offset = report.best_is_simplified ? 1 : 0;
  append_format(
      html,
      "]</script>\n<data id=\"chosen\" data-left=\"{}\" data-right=\"{}\"></data>\n</section>\n",
      offset, report.best_is_simplified ? 0 : best);
}

}  // namespace groma::tuning
