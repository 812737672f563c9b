// Writes the summary of a search's report as JSON.
#include <algorithm>

#include "groma/search_report.h"
#include "search_report/words.h"
#include "tune/recorded.h"

namespace groma::tuning {
namespace {

// Returns a result as JSON: its step, its status and its value.
Json json_of(const ReportedResult& result) {
  constexpr const char* kStatuses[] = {"ok", "refused", "failed", "timed out"};
  Json json = {{"step", result.number},
               {"status", kStatuses[static_cast<std::size_t>(result.status)]}};
  if (result.status == Evaluation::Status::kOk) json["value"] = result.value;
  return json;
}

// Returns what the search recorded about the descent of its steps; null if it recorded nothing. A
// long line of the best is cut at its beginning.
Json lineage_of(const SearchReport& report) {
  if (report.steps_with_parents == 0) return nullptr;
  const std::vector<std::size_t>& line = report.line_of_best;
  Json json = {{"steps_with_parents", report.steps_with_parents}, {"line_of_best", Json::array()}};
  const std::size_t left_out = line.size() - std::min(line.size(), kMaxTreeSteps);
  for (std::size_t i = left_out; i < line.size(); ++i) {
    const ReportedResult& result = report.results[line[i]];
    Json& step = json["line_of_best"].emplace_back(json_of(result));
    step["parents"] = Json::array();
    for (const std::uint32_t parent : result.parents) {
      step["parents"].push_back(report.results[parent].number);
    }
  }
  json["left_out"] = left_out;
  return json;
}

}  // namespace

// A member that is not known is null.
std::string to_json(const SearchReport& report, const std::string& page) {
  constexpr const char* kStates[] = {"ended", "running", "interrupted"};
  const TuneSpending& spent = report.spent;
  Json json = {{"directory", report.directory},
               {"page", page},
               {"state", kStates[static_cast<std::size_t>(report.state)]},
               {"proposer", report.proposer},
               {"simulated", report.simulated()},
               {"unit", report.unit},
               {"higher_is_better", report.higher_is_better},
               {"inputs", report.inputs},
               {"start", nullptr},
               {"best", nullptr},
               {"gain", nullptr},
               {"steps", report.results.size()},
               {"steps_in_page", report.steps.size()}};
  if (report.start) json["start"] = json_of(report.results[*report.start]);
  if (report.best) json["best"] = json_of(report.results[*report.best]);
  json["lineage"] = lineage_of(report);
  if (const auto gain = report.gain()) json["gain"] = *gain;
  json["spent"] = {{"evaluations", spent.evaluations},
                   {"estimates", spent.estimates},
                   {"model_calls", spent.model_calls},
                   {"tokens", spent.tokens},
                   {"money", spent.money},
                   {"seconds", spent.seconds}};
  if (spent.estimated) json["spent"]["tokens_estimated"] = true;
  json["notes"] = report.notes;
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace groma::tuning
