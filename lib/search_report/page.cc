// Writes the report of a search as one HTML page: the gain, the best mapping with its explanation,
// the chart, the steps, and the comparison of two mappings.
#include <fmt/format.h>

#include <iterator>

#include "base/append_format.h"
#include "groma/version.h"
#include "profile/html.h"
#include "search_report/sections.h"
#include "search_report/words.h"

namespace groma::tuning {
namespace {

using profile::add_html_list;
using profile::html_lines;
using profile::html_sentence;
using profile::html_text;

// The beginning of a page, by which another report recognises the file that it may replace.
constexpr std::string_view kDocumentType = "<!doctype html>\n";
constexpr std::string_view kMark = "<!-- groma report -->\n";

// Writes the parts of the page that stand above the chart, and calls the functions of the others.
class SearchPageWriter {
 public:
  explicit SearchPageWriter(const SearchReport& report) : report_(report) {}

  std::string write() {
    const std::string head = profile::html_head(
        "Search: " + subject(), fmt::format("{}{}", search_page_style(), lineage_style()));
    // The mark stands behind the document type, which must come first.
    html_ = kDocumentType;
    html_ += kMark;
    html_ += head.substr(kDocumentType.size());
    header();
    notes();
    best();
    add_chart(report_, &html_);
    add_lineage(report_, &html_);
    add_steps(report_, &html_);
    add_comparison(report_, &html_);
    append_format(
        &html_,
        "<footer class=\"dim\">Written by <code>groma report</code> {} from <code>{}</code>. The "
        "texts come from the search's journal; nothing on this page was run, except simulated runs "
        "of the best mapping.</footer>\n</main>\n<script>{}{}</script>\n</body>\n</html>\n",
        kVersion, html_text(report_.directory), search_page_script(),
        report_.steps_with_parents > 0 ? lineage_script() : std::string_view());
    return std::move(html_);
  }

 private:
  // Returns what the search is about: its inputs, and the machine if they are mapped to one.
  std::string subject() const {
    std::string words;
    for (const std::string& input : report_.inputs) words += (words.empty() ? "" : ", ") + input;
    if (!report_.is_mapping()) words = fmt::format("{}", fmt::join(report_.setup->files, ", "));
    const bool has_machine = report_.setup && report_.is_mapping() && !report_.setup->on_legion;
    if (has_machine) words += " on " + report_.setup->machine;
    return words.empty() ? "a text" : words;
  }

  void header() {
    const auto start = report_.start, best = report_.best;
    const bool has_start = start.has_value();
    const std::string gain = gain_words(report_);
    append_format(&html_,
                  "<header>\n<p class=\"dim\">Search for a {} {} with the proposer <b>{}</b></p>\n",
                  report_.is_mapping() && !report_.higher_is_better ? "faster" : "better",
                  report_.is_mapping() ? "mapping" : "text", html_text(report_.proposer));
    if (!best) {
      append_format(&html_, "<h1>{}</h1>\n",
                    report_.results.empty() ? "Nothing was tried yet" : "No step was valid");
    } else {
      append_format(&html_, "<h1>{}</h1>\n",
                    report_.kept_start ? std::string("Nothing is worth changing")
                    : gain.empty()     ? std::string("Nothing is better than the start")
                                       : gain);
    }
    append_format(&html_, "<p class=\"lead\">{}</p>\n", html_text(subject()));
    html_ += "<dl class=\"tiles\">\n";
    const char* simulated = report_.simulated() ? "simulated" : "";
    if (has_start) tile("Start", result_words(report_.results[*start], report_), simulated);
    if (best) {
      tile("Best", result_words(report_.results[*best], report_),
           fmt::format("{}{}step {}", simulated, *simulated != 0 ? ", " : "",
                       report_.results[*best].number));
    }
    if (const auto& beside = report_.beside_start) {
      tile("Best, measured again",
           beside->ok() ? result_words(report_.higher_is_better ? 1 / beside->score : beside->score,
                                       report_.unit)
                        : std::string("failed"),
           "at the end, beside the start");
    }
    spending();
    html_ += "</dl>\n";
    append_format(&html_, "<p>{}</p>\n", end_words(report_));
    if (!report_.closing_words.empty()) {
      append_format(
          &html_,
          "<details{}><summary>The summary that the search wrote</summary>\n<pre>{}</pre>\n"
          "</details>\n",
          end_words(report_).ends_with(':') ? " open" : "", html_lines(report_.closing_words));
    }
    html_ += "</header>\n";
  }

  // Writes one figure with its name and a remark.
  void tile(std::string_view name, std::string_view value, std::string_view remark) {
    profile::add_html_tile(name, value, remark, &html_);
  }

  // Writes the figures about what the search spent, beside its budgets.
  void spending() {
    const TuneSpending& spent = report_.spent;
    const TuneBudget budget = report_.setup ? report_.setup->budget : TuneBudget{0, 0};
    const auto of = [](bool limited, const std::string& limit) {
      return limited ? "of " + limit : std::string();
    };
    std::size_t failed = 0;
    for (const ReportedResult& result : report_.results) {
      failed += result.status != Evaluation::Status::kOk;
    }
    std::string remark = of(budget.evaluations > 0, counted(budget.evaluations, ""));
    if (failed > 0) {
      remark += fmt::format("{}{} refused or failed", remark.empty() ? "" : "; ",
                            counted(static_cast<std::int64_t>(failed), "step"));
    }
    tile("Evaluations", counted(spent.evaluations, ""), remark);
    if (spent.estimates > 0) tile("Simulated beside them", counted(spent.estimates, "run"), "");
    if (spent.model_calls > 0) {
      const std::string about = spent.estimated ? "about " : "";
      std::string cost = about + counted(spent.tokens, "token");
      if (budget.tokens > 0) cost += " of " + counted(budget.tokens, "");
      if (spent.money > 0) cost += fmt::format("; {}{:.4g} of money", about, spent.money);
      tile("Questions to the model", counted(spent.model_calls, ""), cost);
    }
    tile("Time", duration_words(spent.seconds),
         of(budget.seconds > 0, duration_words(budget.seconds)));
  }

  void notes() {
    if (report_.notes.empty()) return;
    html_ += "<ul class=\"notes\">\n";
    for (const std::string& note : report_.notes)
      append_format(&html_, "<li>{}</li>\n", html_text(note));
    html_ += "</ul>\n";
  }

  void best() {
    if (!report_.best_text) return;
    append_format(&html_, "<section>\n<h2 id=\"best\">The best {}</h2>\n",
                  report_.is_mapping() ? "mapping" : "text");
    const std::string& text = *report_.best_text;
    const bool has_decisions = report_.explained && !report_.explained->tasks.empty();
    append_format(&html_, "<div class=\"{}\">\n<div>\n", has_decisions ? "columns" : "");
    if (report_.best_is_simplified) {
      html_ +=
          "<p class=\"dim\">When the search ended, it removed statements that were worth "
          "nothing. This is the text without them.</p>\n";
    }
    if (report_.kept_start) {
      html_ +=
          "<p class=\"dim\">Nothing is worth changing: the best step gains so little that the "
          "search "
          "kept the text with which it began.</p>\n";
    }
    if (text.empty()) {
      html_ += "<p>It is empty: the default mapper decides everything.</p>\n";
    } else if (report_.start_text.empty()) {
      html_ +=
          "<p class=\"dim\">The search began with the default mapper, so every statement is "
          "new.</p>\n";
      add_difference(text, text, true, "line-", &html_);
    } else {
      html_ += "<p class=\"dim\">Compared with the text with which the search began.</p>\n";
      add_difference(report_.start_text, text, report_.is_mapping(), "line-", &html_);
    }
    html_ += "</div>\n";
    if (has_decisions) decisions(*report_.explained);
    html_ += "</div>\n";
    explanation();
    feedback();
    html_ += "</section>\n";
  }

  // Writes the decisions of the best mapping in sentences. A line number refers to the text.
  void decisions(const BestExplained& explained) {
    html_ += "<div class=\"decisions\" tabindex=\"0\">\n<h3>What it decides</h3>\n";
    for (const BestExplained::Task& task : explained.tasks) {
      append_format(&html_, "<p class=\"label\"><code>{}</code></p>\n<ul>\n", html_text(task.task));
      for (const auto& [words, line] : task.decisions) {
        append_format(&html_, "<li>{} <a href=\"#line-{}\">line {}</a></li>\n",
                      html_sentence(words), line, line);
      }
      html_ += "</ul>\n";
    }
    if (explained.left_out_tasks > 0) {
      append_format(&html_, "<p class=\"dim\">{} are not listed.</p>\n",
                    counted(static_cast<std::int64_t>(explained.left_out_tasks), "further task"));
    }
    html_ += "<p class=\"dim\">The default mapper decides everything else.</p>\n</div>\n";
  }

  void explanation() {
    if (!report_.why_not_explained.empty()) {
      append_format(&html_, "<p class=\"dim\">{}</p>\n", html_sentence(report_.why_not_explained));
    }
    if (!report_.explained) return;
    const auto folded = [this](std::string_view title, const std::string& text) {
      if (text.empty()) return;
      append_format(&html_, "<details><summary>{}</summary>\n<pre>{}</pre>\n</details>\n", title,
                    html_lines(text));
    };
    folded("What differs from the start, and what each difference costs",
           report_.explained->difference);
    folded("Every decision, with the statement behind it", report_.explained->all_decisions);
  }

  // Writes what the guide says about the best run. The feedback of a run for this report has more
  // detail than the journal.
  void feedback() {
    const GuideFeedback* found = nullptr;
    if (report_.explained && report_.explained->feedback) found = &*report_.explained->feedback;
    const bool was_run = found != nullptr;
    for (const ReportedStep& step : report_.steps) {
      if (was_run || !report_.best) break;
      if (step.step.number == report_.results[*report_.best].number) {
        found = &step.step.evaluation.feedback;
      }
    }
    if (found == nullptr || (found->explain.empty() && found->suggest.empty())) return;
    html_ += "<h3>What its run says</h3>\n";
    const std::string cause = main_cause_words(*found);
    if (!cause.empty())
      append_format(&html_, "<p>What took the most time: {}.</p>\n", html_sentence(cause));
    add_html_list("Explain", found->explain, &html_);
    add_html_list("Suggest", found->suggest, &html_);
    if (was_run) {
      html_ += "<p class=\"dim\">From a simulated run that was made for this page.</p>\n";
    }
  }

  const SearchReport& report_;
  std::string html_;
};

}  // namespace

std::string to_html(const SearchReport& report) { return SearchPageWriter(report).write(); }

bool is_search_page(std::string_view text) {
  return text.starts_with(kDocumentType) && text.substr(kDocumentType.size()).starts_with(kMark);
}

}  // namespace groma::tuning
