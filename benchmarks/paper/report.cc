// Chooses the parts of a report, and writes its title and its notes.
#include "paper/report.h"

#include <algorithm>

#include "paper/report_parts.h"
#include "paper/run_cell.h"

namespace groma::paper {
namespace {

constexpr const char* kSimulated =
    "All times here are simulated by the embedded runtime on `{}`, size `{}`. The paper's were "
    "measured on a node with four P100 GPUs.";
constexpr const char* kThroughput =
    "A throughput is divided by the throughput of the expert's mapping. A mapping that does not "
    "run and a reply that cannot be read count as an iteration with throughput 0.";
constexpr const char* kStart =
    "A search begins with the default mapper, which is not evaluated. In the paper the first "
    "iteration of Trace is a mapping that the unchanged agent draws at random.";
constexpr const char* kNoModel =
    "No model was asked: give --endpoint or --model for the columns with dashes.";
constexpr const char* kFeedback =
    "`trace` and `opro` see the feedback of the paper (execution, explain and suggest). `guided` "
    "sees the profile; `opentuner` and `random` see only the time. An iteration is one mapping, "
    "also for `opro`, which draws eight at once in `groma tune`.";
constexpr const char* kNoCpp =
    "The C++ rows have only the paper's results, because C++ mappers that a model writes would "
    "have "
    "to be compiled and run with Legion.";

std::string title_of(const Plan& plan) {
  switch (plan.artefact.artefact) {
    case Artefact::kTable2:
      return "Table 2: mappings that a model writes from a sentence";
    case Artefact::kTableA1:
      return "Table A1: what Trace finds";
    case Artefact::kTableA2:
      return "Table A2: what OpenTuner finds";
    case Artefact::kFigure4:
      return "Figure 4: the searches side by side";
    case Artefact::kFigure5:
      return "Figure 5: Trace beside OpenTuner with more iterations";
    case Artefact::kFigure6:
      return "Figure 6: Trace with less feedback";
    case Artefact::kRandom:
      return "Random mappings (section 5.1)";
  }
  return "";
}

}  // namespace

const Method* find_method(const Plan& plan, std::string_view title) {
  const auto found = std::find_if(plan.methods.begin(), plan.methods.end(),
                                  [title](const Method& method) { return method.title == title; });
  return found == plan.methods.end() ? nullptr : &*found;
}

Report make_report(const Plan& plan, const CellsFile& cells) {
  Report report;
  report.title = title_of(plan);
  const Artefact artefact = plan.artefact.artefact;
  if (artefact == Artefact::kTable2) {
    report.notes.emplace_back(
        "A mapping passes if it decides as the reference mapping of its strategy does, on a dozen "
        "machines. `none`: it does not compile.");
    report.notes.emplace_back(kNoCpp);
  } else {
    report.notes.push_back(fmt::format(fmt::runtime(kSimulated), kMachine, plan.size));
    report.notes.emplace_back(kThroughput);
  }
  const bool asks = std::any_of(plan.methods.begin(), plan.methods.end(),
                                [](const Method& method) { return method.asks_model; });
  if (asks && artefact != Artefact::kTable2) report.notes.emplace_back(kStart);
  if (asks && artefact != Artefact::kTable2 && artefact != Artefact::kFigure6) {
    report.notes.emplace_back(kFeedback);
  }
  if (asks && !plan.has_model) report.notes.emplace_back(kNoModel);
  switch (artefact) {
    case Artefact::kTable2:
      add_strategies(plan, cells, &report);
      break;
    case Artefact::kTableA1:
    case Artefact::kTableA2:
      add_statistics(plan, cells, &report);
      break;
    case Artefact::kFigure4:
      add_trajectories(plan, cells, &report);
      break;
    case Artefact::kFigure5:
      add_long_searches(plan, cells, &report);
      break;
    case Artefact::kFigure6:
      add_feedback_levels(plan, cells, &report);
      break;
    case Artefact::kRandom:
      add_random_mappings(plan, cells, &report);
      break;
  }
  if (artefact != Artefact::kTable2) {
    report.chart.title_end = "; times are simulated, the paper's are measured";
  }
  return report;
}

}  // namespace groma::paper
