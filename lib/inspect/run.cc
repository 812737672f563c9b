// run(): simulates an application under a mapping. This file also writes the result as text and as
// JSON.
#include "groma/run.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/data.h"
#include "explain/json.h"
#include "explain/locate.h"
#include "explain/words.h"
#include "groma/program_mapper.h"
#include "guide/printed.h"
#include "inspect/changed_lines.h"
#include "profile/json_text.h"
#include "profile/words.h"

namespace groma {
namespace {

OrderedJson json_of(const std::vector<AppValue>& values) {
  OrderedJson json = OrderedJson::object();
  for (const auto& [name, value] : values) json[name] = value;
  return json;
}

// Returns the largest size that fits and the reason why a larger one does not.
OrderedJson json_of(const Fit& fit) {
  OrderedJson json = {{"parameters", nullptr}};
  if (fit.fits)
    json = {{"parameters", json_of(fit.fits->values)}, {"seconds", fit.fits->result.seconds}};
  if (fit.beyond) {
    json["beyond"] = {{"parameters", json_of(fit.beyond->values)}, {"raw", fit.beyond->result.raw}};
  }
  if (!fit.other_bound.empty()) json["bound"] = fit.other_bound;
  json["stopped"] = fit.stopped;
  return json;
}

// Adds the guide's feedback to the JSON of a run. `feedback` may be null.
void add_words(const GuideFeedback* feedback, const Source& source, OrderedJson& json) {
  if (feedback == nullptr) return;
  json["explain"] = feedback->explain;
  json["suggest"] = feedback->suggest;
  json["tried"] = feedback->tried;
  json["fixes"] = OrderedJson::array();
  for (const Fix& fix : feedback->fixes) json["fixes"].push_back(json_of(source, fix));
}

}  // namespace

// Simulates the application under the mapping, and reports the refusals of the runtime at the
// statements that caused them.
RunResult run(const BoundProgram& bound, const Workload& workload, const SimulateOptions& options,
              Diagnostics& diags, LogSink* log) {
  const auto shared = ProgramMapper::share(bound, log, options.stop);
  const auto machine = bound.shared_machine();
  RunResult result = simulate(
      workload, machine,
      [&](const Processor& local) {
        return std::make_unique<ProgramMapper>(shared, MapperSite{machine, local, {}, log});
      },
      options);
  for (const Refusal& refusal : result.refusals)
    add_refusal_at_statement(bound.program(), refusal, diags);
  return result;
}

// Simulates the application under the default mapper. There is no program, so refusals have no
// location.
RunResult run_default(std::shared_ptr<const Machine> machine, const Workload& workload,
                      const SimulateOptions& options, Diagnostics& diags) {
  RunResult result = simulate(
      workload, machine,
      [&](const Processor& local) {
        return std::make_unique<DefaultMapper>(MapperSite{machine, local});
      },
      options);
  for (const Refusal& refusal : result.refusals) add_refusal_without_place(refusal, diags);
  return result;
}

// Returns what the reports about the profile of a simulated run print besides the measurements: the
// title, the measured phase, and the texts of the mapping statements. `program` is null for the
// default mapper.
ProfileWords profile_words_of(const Workload& workload, const Machine& machine,
                              const Program* program) {
  ProfileWords words =
      profile_words_of(fmt::format("{} on {}", workload.name(), machine.name()), program);
  const int measured = workload.data().metric_phase;
  if (measured >= 0) words.measured = workload.data().phases[static_cast<std::size_t>(measured)];
  return words;
}

RunSummary summary_of(const RunResult& result, const Workload& workload, const Machine& machine,
                      const Program* program, const GuideFeedback& feedback) {
  RunSummary summary;
  summary.application = workload.name();
  summary.machine = machine.name();
  if (program != nullptr) summary.mapping = program->source().name();
  summary.simulated = true;
  summary.time = seconds_words(result.seconds);
  summary.rate = rate_words(result.throughput, result.unit);
  const int measured = workload.data().metric_phase;
  if (measured >= 0) {
    summary.time_of = fmt::format("The measured phase, {}",
                                  workload.data().phases[static_cast<std::size_t>(measured)]);
  }
  summary.explain = feedback.explain;
  summary.suggest = guide::printed_suggestions(feedback);
  // Each change that was tried belongs to the suggestion with its number.
  if (feedback.tried && feedback.fixes.size() <= feedback.suggest.size()) {
    const Source source = program == nullptr ? Source("", "") : program->source();
    for (const Fix& fix : feedback.fixes) summary.changes.push_back(changed_lines(source, fix));
  }
  return summary;
}

// Returns the JSON of a run that began. `feedback`, `profile` and `fit` may be null.
std::string to_json(const RunResult& result, const GuideFeedback* feedback, const Profile* profile,
                    const Fit* fit, const Diagnostics& diags, const ProfileWords& words) {
  OrderedJson json;
  json["status"] = result.ok() ? "ok" : "error";
  if (result.ok()) {
    json["seconds"] = result.seconds;
    json["throughput"] = result.throughput;
    json["unit"] = result.unit;
    json["runtime"] = "simulator";
    json["total_seconds"] = result.total_seconds;
    json["tasks"] = result.tasks;
    json["copies"] = result.copies;
    add_words(feedback, diags.source(), json);
    if (profile != nullptr) json["profile"] = profile::json_of(*profile, words);
  } else {
    json["stage"] = result.status == RunStatus::kMapError ? "map" : "execute";
    json["raw"] = result.raw;
    add_words(feedback, diags.source(), json);
  }
  if (fit != nullptr) json["fit"] = json_of(*fit);
  json["diagnostics"] = json_of(diags);
  return json_line(json);
}

// Returns the JSON of a run that did not begin, because the mapping has errors. `raw` is the first
// error.
std::string check_failed_json(const Diagnostics& diags, const GuideFeedback* feedback) {
  OrderedJson json = {{"status", "error"}, {"stage", "check"}};
  json["raw"] = "";
  for (const Diagnostic& diagnostic : diags.all()) {
    if (diagnostic.severity != Severity::kError) continue;
    json["raw"] = diagnostic.message;
    break;
  }
  add_words(feedback, diags.source(), json);
  json["diagnostics"] = json_of(diags);
  return json_line(json);
}

// Returns the simulated time and throughput, then the profile of the whole run if `profile` is not
// null. Returns "" for a run that failed.
std::string draw(const RunResult& result, const Profile* profile, const ProfileWords& words,
                 bool color) {
  if (!result.ok()) return {};
  std::string text =
      fmt::format("{}: {} simulated, {}\n", harmless(words.title), seconds_words(result.seconds),
                  rate_words(result.throughput, harmless(result.unit)));
  if (profile == nullptr) return text;
  ProfileWords rest = words;
  rest.title = "the whole run";
  return text + "\n" + draw(*profile, rest, color);
}

}  // namespace groma
