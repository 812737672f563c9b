// The reports of Table 2, Tables A1 and A2, and the random mappings.
#include <algorithm>

#include "paper/report_parts.h"
#include "paper_tables.h"

namespace groma::paper {
namespace {

using Verdict = WritingResult::Verdict;
using Row = std::vector<std::string>;

// Returns the verdict on a strategy: a word for one run, "3/5" for several.
std::string verdict_words(const std::vector<const Cell*>& runs) {
  if (runs.empty()) return kNone;
  std::size_t passed = 0;
  for (const Cell* cell : runs) {
    const Verdict verdict = std::get<WritingResult>(cell->result).verdict;
    if (runs.size() == 1 && verdict != Verdict::kPassed) {
      return verdict == Verdict::kFailed ? "FAIL" : "none";
    }
    passed += verdict == Verdict::kPassed ? 1 : 0;
  }
  return runs.size() == 1 ? "pass" : fmt::format("{}/{}", passed, runs.size());
}

// Returns the success rate of a method over all strategies and runs in percent. A negative number
// if there are no runs.
double success_percent(const Plan& plan, const CellsFile& cells, const Method& method) {
  double passed = 0, all = 0;
  for (const std::string& subject : plan.subjects) {
    for (const Cell* cell : cells_of(cells, method, subject)) {
      ++all;
      passed += std::get<WritingResult>(cell->result).verdict == Verdict::kPassed ? 1 : 0;
    }
  }
  return all == 0 ? -1 : 100 * passed / all;
}

// Returns mean, standard deviation, worst, median and best.
Row statistics_words(const std::vector<double>& values) {
  if (values.empty()) return Row(5, kNone);
  const auto [worst, best] = std::minmax_element(values.begin(), values.end());
  return {two_digits(mean(values)), two_digits(deviation(values)), two_digits(*worst),
          two_digits(median(values)), two_digits(*best)};
}

// Adds the bar from the worst to the best value at `x`.
void add_range(double x, double worst, double middle, double best, ChartSeries* series) {
  series->points.insert(series->points.end(), {{x, worst}, {x, middle}, {x, best}});
}

// Returns how many iterations of all runs ran, failed and had an unusable reply.
Row count_words(const Runs& runs) {
  if (runs.empty()) return Row(3, kNone);
  std::int64_t ran = 0, failed = 0, unusable = 0;
  for (const SearchResult* run : runs.all()) {
    ran += run->ran;
    failed += run->failed;
    unusable += run->unusable;
  }
  return {fmt::format("{}", ran), fmt::format("{}", failed), fmt::format("{}", unusable)};
}

}  // namespace

void add_strategies(const Plan& plan, const CellsFile& cells, Report* report) {
  ReportTable table{"", {"who", "mappings"}, {}};
  for (std::size_t i = 1; i <= plan.names.size(); ++i)
    table.columns.push_back(fmt::format("{}", i));
  table.columns.emplace_back("success rate");
  report->chart = {"", "success rate, %", {{"strategies that pass", {}, false, {}}}};
  ChartPanel& panel = report->chart.panels.front();
  ChartSeries ours{ChartSeries::Kind::kMarks, "here", {}};
  ChartSeries theirs{ChartSeries::Kind::kMarks, "the paper", {}};
  for (const Method& method : plan.methods) {
    Row row = {"here", method.title};
    for (const std::string& subject : plan.subjects) {
      row.push_back(verdict_words(cells_of(cells, method, subject)));
    }
    const double percent = success_percent(plan, cells, method);
    row.push_back(percent < 0 ? kNone : fmt::format("{:.0f} %", percent));
    const auto x = static_cast<double>(panel.categories.size());
    if (percent >= 0) ours.points.push_back({x, percent});
    panel.categories.push_back(method.title);
    table.rows.push_back(std::move(row));
  }
  const std::pair<const char*, int> paper[] = {{"DSL (single trial)", kPaperDslSingle},
                                               {"DSL (iterative refine)", kPaperDslRefined},
                                               {"C++ (single trial)", kPaperCppSingle},
                                               {"C++ (iterative refine)", kPaperCppRefined}};
  for (const auto& [name, percent] : paper) {
    Row row = {"the paper", name};
    row.resize(2 + plan.names.size(), percent == 100 ? "pass" : kNone);
    row.push_back(fmt::format("{} %", percent));
    const auto known = std::find(panel.categories.begin(), panel.categories.end(), name);
    theirs.points.push_back(
        {static_cast<double>(known - panel.categories.begin()), static_cast<double>(percent)});
    if (known == panel.categories.end()) panel.categories.emplace_back(name);
    table.rows.push_back(std::move(row));
  }
  panel.series = {std::move(ours), std::move(theirs)};
  report->tables.push_back(std::move(table));
}

void add_statistics(const Plan& plan, const CellsFile& cells, Report* report) {
  const bool trace = plan.artefact.artefact == Artefact::kTableA1;
  const std::span<const PaperRow> paper =
      trace ? std::span<const PaperRow>(kPaperTrace) : std::span<const PaperRow>(kPaperOpenTuner);
  const std::string paper_name = trace ? "the paper's Trace" : "the paper's OpenTuner";
  ReportTable table{"",
                    {"benchmark", "search", "mean", "std dev", "worst", "median", "best", "ran",
                     "failed", "unreadable replies"},
                    {}};
  ChartPanel panel{"worst, median and best of the runs", plan.names, false, {}};
  for (const Method& method : plan.methods) {
    panel.series.push_back({ChartSeries::Kind::kRanges, method.title, {}});
  }
  ChartSeries theirs{ChartSeries::Kind::kRanges, paper_name, {}};
  for (std::size_t i = 0; i < plan.names.size(); ++i) {
    const auto x = static_cast<double>(i);
    for (std::size_t m = 0; m < plan.methods.size(); ++m) {
      const Runs runs(cells, plan.methods[m], plan.subjects[i]);
      const std::vector<double> values = runs.throughputs();
      Row row = {plan.names[i], plan.methods[m].title};
      for (const Row& words : {statistics_words(values), count_words(runs)}) {
        row.insert(row.end(), words.begin(), words.end());
      }
      table.rows.push_back(std::move(row));
      if (values.empty()) continue;
      const auto [worst, best] = std::minmax_element(values.begin(), values.end());
      add_range(x, *worst, median(values), *best, &panel.series[m]);
    }
    const PaperRow* row = paper_row(paper, plan.names[i]);
    if (row == nullptr) continue;
    table.rows.push_back({plan.names[i], paper_name, two_digits(row->mean),
                          two_digits(row->deviation), two_digits(row->worst),
                          two_digits(row->median), two_digits(row->best), kNone, kNone, kNone});
    add_range(x, row->worst, row->median, row->best, &theirs);
  }
  panel.series.push_back(std::move(theirs));
  report->tables.push_back(std::move(table));
  report->chart = {"", "throughput by the expert's", {std::move(panel)}};
}

void add_random_mappings(const Plan& plan, const CellsFile& cells, Report* report) {
  ReportTable table{"", {"benchmark", "mappings", "ran", "mean", "best"}, {}};
  ChartPanel panel{"random mappings", plan.names, false, {}};
  ChartSeries marks{ChartSeries::Kind::kMarks, "a mapping", {}};
  std::size_t all = 0, ran = 0;
  for (std::size_t i = 0; i < plan.names.size(); ++i) {
    const std::vector<double> values =
        Runs(cells, plan.methods.front(), plan.subjects[i]).throughputs();
    const auto valid = static_cast<std::size_t>(
        std::count_if(values.begin(), values.end(), [](double value) { return value > 0; }));
    all += values.size();
    ran += valid;
    table.rows.push_back({plan.names[i], fmt::format("{}", values.size()), fmt::format("{}", valid),
                          two_digits(mean(values)),
                          two_digits(*std::max_element(values.begin(), values.end()))});
    for (const double value : values) marks.points.push_back({static_cast<double>(i), value});
  }
  const auto percent = [](std::size_t part, std::size_t whole) {
    return fmt::format("{} ({:.1f} %)", part,
                       100 * static_cast<double>(part) / static_cast<double>(whole));
  };
  table.rows.push_back({"all", fmt::format("{}", all), percent(ran, all), kNone, kNone});
  table.rows.push_back({"the paper", fmt::format("{}", kPaperRandomMappings),
                        percent(kPaperRandomMappings - kPaperRandomFailures, kPaperRandomMappings),
                        kNone, kNone});
  panel.series.push_back(std::move(marks));
  report->tables.push_back(std::move(table));
  report->chart = {"", "throughput by the expert's", {std::move(panel)}};
}

}  // namespace groma::paper
