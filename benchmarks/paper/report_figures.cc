// The reports of Figures 4, 5 and 6: how searches get better from iteration to iteration.
#include <algorithm>
#include <cmath>

#include "paper/report_parts.h"
#include "paper_tables.h"

namespace groma::paper {
namespace {

using Row = std::vector<std::string>;

constexpr const char* kThroughput = "throughput by the expert's";

// Returns the iterations that a table shows: all up to ten, otherwise 1, 2, 5, 10, 20, ... and the
// last one.
std::vector<std::int64_t> shown_iterations(std::int64_t last) {
  std::vector<std::int64_t> shown;
  if (last <= 10) {
    for (std::int64_t i = 1; i <= last; ++i) shown.push_back(i);
    return shown;
  }
  for (std::int64_t power = 1; power <= last; power *= 10) {
    for (const std::int64_t digit : {1, 2, 5}) {
      if (digit * power < last) shown.push_back(digit * power);
    }
  }
  shown.push_back(last);
  return shown;
}

// Returns the number of iterations of the longest search of the plan.
std::int64_t most_iterations(const Plan& plan) {
  std::int64_t most = 1;
  for (const Method& method : plan.methods) most = std::max(most, method.settings.iterations);
  return most;
}

// Returns the mean over the runs after this many iterations, or a dash: there are no runs, or the
// search is over by then.
std::string mean_words(const Runs& runs, std::int64_t iterations) {
  if (runs.empty() || iterations > runs.iterations()) return kNone;
  return two_digits(mean(runs.throughputs(iterations)));
}
std::string best_words(const Runs& runs) {
  if (runs.empty()) return kNone;
  const std::vector<double> values = runs.throughputs();
  return two_digits(*std::max_element(values.begin(), values.end()));
}

// Returns the curve of the mean over the runs. A search of one iteration is a level.
ChartSeries curve_of(const std::string& name, const Runs& runs) {
  ChartSeries curve{ChartSeries::Kind::kLine, name, {}};
  if (runs.empty()) return curve;
  if (runs.iterations() == 1) curve.kind = ChartSeries::Kind::kLevel;
  for (std::int64_t i = 1; i <= runs.iterations(); ++i) {
    curve.points.push_back({static_cast<double>(i), mean(runs.throughputs(i))});
  }
  return curve;
}

// Returns true if the method only has one result, and no iterations.
bool is_single_result(const Method& method) {
  return method.settings.method == kRandomMapping || method.settings.method == kDefaultMapper;
}

// Adds a table with a row for each benchmark and each search that was made, and a column for each
// shown iteration.
void add_iterations(const Plan& plan, const CellsFile& cells, Report* report) {
  ReportTable table{"Mean of the runs after N iterations", {"benchmark", "search"}, {}};
  const std::vector<std::int64_t> shown = shown_iterations(most_iterations(plan));
  for (const std::int64_t i : shown) table.columns.push_back(fmt::format("{}", i));
  for (std::size_t a = 0; a < plan.names.size(); ++a) {
    for (const Method& method : plan.methods) {
      const Runs runs(cells, method, plan.subjects[a]);
      if (is_single_result(method) || runs.empty()) continue;
      Row row = {plan.names[a], method.title};
      for (const std::int64_t i : shown) row.push_back(mean_words(runs, i));
      table.rows.push_back(std::move(row));
    }
  }
  report->tables.push_back(std::move(table));
}

// Adds a picture for each benchmark with the curves of all methods.
void add_panels(const Plan& plan, const CellsFile& cells, Report* report) {
  report->chart.x_label = "iterations";
  report->chart.y_label = kThroughput;
  for (std::size_t a = 0; a < plan.names.size(); ++a) {
    ChartPanel& panel = report->chart.panels.emplace_back();
    panel.title = plan.names[a];
    panel.series.push_back({ChartSeries::Kind::kLevel, "expert", {{1, 1}}});
    for (const Method& method : plan.methods) {
      const Runs runs(cells, method, plan.subjects[a]);
      ChartSeries curve = curve_of(method.title, runs);
      if (!curve.points.empty()) panel.series.push_back(std::move(curve));
    }
  }
}

}  // namespace

void add_trajectories(const Plan& plan, const CellsFile& cells, Report* report) {
  const std::int64_t last = most_iterations(plan);
  ReportTable table{
      fmt::format("After {} iterations", last), {"benchmark", "expert, simulated ms"}, {}};
  for (const Method& method : plan.methods) {
    const bool random = method.settings.method == kRandomMapping;
    table.columns.push_back(random ? fmt::format("mean of {} random", method.runs)
                            : is_single_result(method) ? method.title
                                                       : "mean of " + method.title);
  }
  for (const char* best : {"guided", "trace"})
    table.columns.push_back(fmt::format("best {}", best));
  for (const char* paper : {"mean OpenTuner", "mean Trace", "best Trace"}) {
    table.columns.push_back(fmt::format("paper: {}", paper));
  }
  add_panels(plan, cells, report);
  for (std::size_t a = 0; a < plan.names.size(); ++a) {
    const std::string& subject = plan.subjects[a];
    const Runs first(cells, plan.methods.front(), subject);
    Row row = {plan.names[a], fmt::format("{:.4g}", 1e3 * first.all().front()->expert_seconds)};
    for (const Method& method : plan.methods) {
      const Runs runs(cells, method, subject);
      row.push_back(mean_words(runs, runs.iterations()));
    }
    for (const char* best : {"guided", "trace"}) {
      row.push_back(best_words(Runs(cells, *find_method(plan, best), subject)));
    }
    const PaperRow* tuner = paper_row(kPaperOpenTuner, plan.names[a]);
    const PaperRow* trace = paper_trace(plan.names[a]);
    row.push_back(tuner == nullptr ? kNone : two_digits(tuner->mean));
    row.push_back(trace == nullptr ? kNone : two_digits(trace->mean));
    row.push_back(trace == nullptr ? kNone : two_digits(trace->best));
    table.rows.push_back(std::move(row));
    if (tuner == nullptr || trace == nullptr) continue;
    std::vector<ChartSeries>& series = report->chart.panels[a].series;
    const auto mark = [&](const char* name, double value) {
      series.push_back({ChartSeries::Kind::kMarks, name, {{10, value}}});
    };
    mark("paper: OpenTuner, mean", tuner->mean);
    mark("paper: Trace, mean", trace->mean);
    mark("paper: Trace, best", trace->best);
  }
  report->tables.push_back(std::move(table));
  add_iterations(plan, cells, report);
  report->notes.emplace_back(
      "The paper prints no figures in Figure 4. Its columns are from Tables A1 and A2, after ten "
      "iterations; its curves of OPRO and its random mappings are only in the picture.");
}

void add_long_searches(const Plan& plan, const CellsFile& cells, Report* report) {
  // Returns the mean over all benchmarks of the means over the runs. NaN if there are no runs.
  const auto overall = [&](const Method& method, std::int64_t iterations) {
    std::vector<double> means;
    for (const std::string& subject : plan.subjects) {
      const Runs runs(cells, method, subject);
      if (runs.empty() || iterations > runs.iterations()) return std::nan("");
      means.push_back(mean(runs.throughputs(iterations)));
    }
    return mean(means);
  };
  const auto words = [](double value) { return std::isfinite(value) ? two_digits(value) : kNone; };
  ReportTable table{
      fmt::format("Mean over {} benchmarks and the runs", plan.names.size()), {"iterations"}, {}};
  for (const Method& method : plan.methods) table.columns.push_back(method.title);
  const std::int64_t last = most_iterations(plan);
  for (const std::int64_t i : shown_iterations(last)) {
    Row row = {fmt::format("{}", i)};
    for (const Method& method : plan.methods) row.push_back(words(overall(method, i)));
    table.rows.push_back(std::move(row));
  }
  report->tables.push_back(std::move(table));

  const Method& tuner = *find_method(plan, "opentuner");
  ReportTable ratios{"Throughput after ten iterations, divided by OpenTuner's after N",
                     {"N", "guided", "trace", "the paper's Trace"},
                     {}};
  for (const std::int64_t n : {std::int64_t{10}, std::int64_t{1000}}) {
    if (n > last) continue;
    Row row = {fmt::format("{}", n)};
    for (const char* title : {"guided", "trace"}) {
      row.push_back(words(overall(*find_method(plan, title), 10) / overall(tuner, n)));
    }
    row.push_back(
        fmt::format("{}", n == 10 ? kPaperTraceByOpenTuner10 : kPaperTraceByOpenTuner1000));
    ratios.rows.push_back(std::move(row));
  }
  if (!ratios.rows.empty()) report->tables.push_back(std::move(ratios));

  report->chart = {"iterations", kThroughput, {{"mean over the benchmarks", {}, true, {}}}};
  for (const Method& method : plan.methods) {
    ChartSeries curve{ChartSeries::Kind::kLine, method.title, {}};
    // About twenty points for each power of ten.
    const std::int64_t most = method.settings.iterations;
    for (std::int64_t i = 1; i <= most;) {
      const double value = overall(method, i);
      if (!std::isnan(value)) curve.points.push_back({static_cast<double>(i), value});
      i = i == most ? most + 1 : std::min(most, std::max(i + 1, i * 9 / 8));
    }
    if (!curve.points.empty()) report->chart.panels.front().series.push_back(std::move(curve));
  }
}

void add_feedback_levels(const Plan& plan, const CellsFile& cells, Report* report) {
  report->notes.emplace_back(
      "The paper's Figure 6 prints no figures and its text does not name its three benchmarks. "
      "The examples of 5-shot are experts' mappings of other benchmarks. `+ profile` and `guided` "
      "are not in the paper.");
  ReportTable table{
      fmt::format("Mean of the runs after {} iterations, of a shot after one question",
                  most_iterations(plan)),
      {"benchmark"},
      {}};
  for (const Method& method : plan.methods) table.columns.push_back(method.title);
  for (std::size_t a = 0; a < plan.names.size(); ++a) {
    Row row = {plan.names[a]};
    for (const Method& method : plan.methods) {
      const Runs runs(cells, method, plan.subjects[a]);
      row.push_back(mean_words(runs, runs.iterations()));
    }
    table.rows.push_back(std::move(row));
  }
  report->tables.push_back(std::move(table));
  add_iterations(plan, cells, report);
  add_panels(plan, cells, report);
}

}  // namespace groma::paper
