// Formats the result of a program's run: as JSON for a tool, and as a line and a drawing for a
// person.
#include <fmt/format.h>

#include <string>
#include <string_view>

#include "explain/json.h"
#include "explain/words.h"
#include "groma/harmless.h"
#include "groma/run_program.h"
#include "guide/printed.h"
#include "profile/json_text.h"
#include "profile/words.h"

namespace groma {
namespace {

using Same = ProgramResult::ResultComparison;

// Returns a word for JSON that says why the results were not compared. Returns "" if they were
// compared or if no comparison was wanted.
std::string_view reason(ProgramResult::ResultComparison same) {
  switch (same) {
    case Same::kUnknown:
      return "fails";
    case Same::kTooLong:
      return "too_long";
    case Same::kNothing:
      return "nothing";
    case Same::kKnown:
      return "known";
    case Same::kLaunched:
      return "launcher";
    case Same::kNotCompared:
    case Same::kSame:
    case Same::kDifferent:
      return "";
  }
  return "";
}

// Returns the end of a sentence that tells people whether the results were compared, and why not.
// It follows the time of the run.
std::string_view comparison_words(ProgramResult::ResultComparison same) {
  switch (same) {
    case Same::kSame:
      return "; it prints what it prints without it";
    case Same::kUnknown:
      return "; without it the program fails";
    case Same::kTooLong:
      return "; it prints too much to be compared with what it prints without it";
    case Same::kNothing:
      return "; whether its results are right is not known, since it prints none but times: use "
             "`--check-command`";
    case Same::kKnown:
      return "; not compared with a run without it, since the program ran well under it in the "
             "last 7 days (`--checks always` compares)";
    case Same::kLaunched:
      return "; not compared with a run without it, since a launcher started Groma";
    case Same::kNotCompared:
    case Same::kDifferent:
      return "";
  }
  return "";
}

// Returns the end of a sentence about lines that were not compared because they change from run to
// run. It follows comparison_words().
std::string unsteady_words(const UnsteadyResults& unsteady) {
  return unsteady.lines == 0 ? "" : ", except for " + to_text(unsteady);
}

}  // namespace

// Returns the result as one line of JSON. docs/commands.md documents the fields. `seconds` is the
// time that the program measured, if that is known, and otherwise the time from its start to its
// end. `profile` may be null.
std::string to_json(const ProgramResult& result, const Diagnostics& diags, const Profile* profile,
                    const ProfileWords& words) {
  OrderedJson json;
  const GuideFeedback& feedback = result.feedback;
  json["status"] = result.ok() ? "ok" : "error";
  if (!result.ok()) {
    json["stage"] = result.stage == ProgramResult::Stage::kMap ? "map" : "execute";
    json["raw"] = feedback.execution;
  }
  if (result.measured) {
    json["seconds"] = result.measured->seconds;
    json["throughput"] = result.measured->throughput;
    json["unit"] = result.measured->unit;
    json["runtime"] = "legion";
    json["total_seconds"] = result.seconds;
  } else {
    json["seconds"] = result.seconds;
    json["runtime"] = "legion";
  }
  json["exit_code"] = result.exit_code;
  json["timed_out"] = result.timed_out;
  json["checked"] = result.checked;
  const bool compared =
      result.same_results == Same::kSame || result.same_results == Same::kDifferent;
  json["same_results"] = compared ? OrderedJson(result.same_results == Same::kSame) : OrderedJson();
  const std::string_view why = reason(result.same_results);
  json["not_compared"] = why.empty() ? OrderedJson() : OrderedJson(why);
  json["unsteady_lines"] = result.unsteady.lines;
  json["score"] = nullptr;
  if (feedback.score) {
    json["score"] = {{"value", feedback.score->value},
                     {"unit", feedback.score->unit},
                     {"higher_is_better", feedback.score->higher_is_better}};
  }
  json["explain"] = feedback.explain;
  json["suggest"] = feedback.suggest;
  json["tried"] = false;
  json["fixes"] = OrderedJson::array();
  for (const Fix& fix : feedback.fixes) json["fixes"].push_back(json_of(diags.source(), fix));
  if (profile != nullptr) json["profile"] = profile::json_of(*profile, words);
  json["diagnostics"] = json_of(diags);
  return json_line(json);
}

// Returns the line with the time of a run that went well, and with its rate if the application is
// known. Returns "" for a failed run.
std::string run_time_text(const ProgramResult& result, const Program& mapping,
                          const ProgramRun& run) {
  if (!result.ok()) return "";
  const std::string checks =
      fmt::format("{}{}{}", result.checked ? ", with Legion's checks" : "",
                  comparison_words(result.same_results), unsteady_words(result.unsteady));
  const std::string mapper = harmless(mapping.source().name());
  if (!result.measured) {
    return fmt::format("{} under {}: {}{}\n", harmless(run.words.front()), mapper,
                       seconds_words(result.seconds), checks);
  }
  return fmt::format("{} on Legion by {}: {} measured, {}{}\n", harmless(run.app->name()), mapper,
                     seconds_words(result.measured->seconds),
                     rate_words(result.measured->throughput, harmless(result.measured->unit)),
                     checks);
}

RunSummary summary_of(const ProgramResult& result, const Program& mapping, const ProgramRun& run) {
  RunSummary summary;
  summary.application = run.app == nullptr ? program_name(run.words) : run.app->name();
  summary.machine = "Legion";
  summary.mapping = mapping.source().name();
  if (result.measured) {
    summary.time = seconds_words(result.measured->seconds);
    summary.time_of = "The part that the application measures";
    summary.rate = rate_words(result.measured->throughput, result.measured->unit);
  } else {
    summary.time = seconds_words(result.seconds);
    summary.time_of = "The whole program";
  }
  summary.explain = result.feedback.explain;
  summary.suggest = guide::printed_suggestions(result.feedback);
  return summary;
}

// Returns the feedback on a failed run as text for a person. For a run that went well, returns the
// advice and the profile instead; `profile` may be null.
std::string draw(const ProgramResult& result, const Program& mapping, const ProgramRun& run,
                 const Profile* profile, bool color) {
  if (!result.ok()) return draw(result.feedback, color);
  std::string text = draw_advice(result.feedback, color);
  if (profile == nullptr) return text;
  ProfileWords words = profile_words_of(run, mapping);
  words.title = profile->record->is_beginning ? "the tasks and copies of the run's beginning"
                                              : "the tasks and copies of the run";
  return text + "\n" + groma::draw(*profile, words, color);
}

}  // namespace groma
