// Prints the progress of a search as text, as a line that is overwritten, or as JSON.

#include "tune_display.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "groma/columns.h"
#include "groma/inspect.h"

namespace driver {
namespace {

using nlohmann::ordered_json;

// The most and the fewest letters that show the trajectory of scores.
constexpr std::size_t kShown = 30, kLeastShown = 5;
// The number of columns of the progress line that are kept for the description of the current step,
// even if this leaves fewer letters for the trajectory of scores.
constexpr std::size_t kDoing = 24;

// Returns an event in JSON with all diagnostics, and the most severe one as its message.
std::string event_of(const char* event, const groma::Diagnostics& diags) {
  const ordered_json all = ordered_json::parse(groma::to_json({&diags}))["diagnostics"];
  const auto error = std::find_if(
      all.begin(), all.end(), [](const ordered_json& each) { return each["severity"] == "error"; });
  const ordered_json& first = error == all.end() ? all.front() : *error;
  return ordered_json{{"event", event}, {"message", first["message"]}, {"diagnostics", all}}
             .dump() +
         "\n";
}

// Returns words for what the search is trying or waiting for.
std::string doing(const groma::tuning::TuneEvent& event) {
  using Kind = groma::tuning::TuneEvent::Kind;
  switch (event.kind) {
    case Kind::kProposed:
      return event.proposal->why;
    case Kind::kEvaluated:
      return event.step->proposal.why;
    case Kind::kAsking:
      return "asking the model";
    case Kind::kRejected:
    case Kind::kWorker:
      return event.text;
    case Kind::kResumed:
      return "going on";
    case Kind::kEstimating:
      return fmt::format("estimating {} of {}", event.spent.estimates, event.most_estimates);
  }
  return "";
}

// Returns words for what the search has spent: runs, tokens, money and time.
std::string cost(const groma::tuning::TuneSpending& spent) {
  std::string words = fmt::format("{} run{}", spent.evaluations, spent.evaluations == 1 ? "" : "s");
  if (spent.failed > 0) words += fmt::format(" ({} failed)", spent.failed);
  if (spent.model_calls > 0) {
    words += fmt::format(", {} asked, {}", spent.model_calls, spent.estimated ? "about " : "");
    words += spent.tokens < 10'000 ? fmt::format("{} tokens", spent.tokens)
                                   : fmt::format("{}k tokens", spent.tokens / 1000);
  }
  if (spent.money > 0) words += fmt::format(", {:.2f}", spent.money);
  return words + fmt::format(", {:.0f} s", spent.seconds);
}

}  // namespace

Display::Display(const groma::tuning::Evaluator& evaluator, std::vector<groma::Diagnostics> notes,
                 bool json)
    : evaluator_(evaluator),
      notes_(std::move(notes)),
      json_(json),
      live_(!json && can_rewrite_lines()) {}

// Shows one event of the search. Before the first event, shows the diagnostics in notes_. With
// --json, prints the event as a line of JSON; otherwise prints each improvement and updates the
// progress line.
void Display::operator()(const groma::tuning::TuneEvent& event) {
  using Kind = groma::tuning::TuneEvent::Kind;
  for (const groma::Diagnostics& each : std::exchange(notes_, {})) {
    if (json_) say(event_of("note", each));
    if (!json_) show_diagnostics(each);
  }
  if (event.kind == Kind::kEstimating && !due()) return;
  if (json_) return say(groma::tuning::to_json(event));
  if (event.kind == Kind::kWorker) {
    clear();
    print_error(fmt::format("groma: {}\n", groma::harmless(event.text)));
    return;
  }
  // Only the last scores are kept, because the line shows no more.
  if (event.kind == Kind::kEvaluated) {
    scores_.push_back(event.step->evaluation.score);
    if (scores_.size() > kShown) scores_.erase(scores_.begin());
    if (event.is_best || event.within_noise) say_better(event);
  }
  if (!live_) return;
  rewrite_line(line(event));
  shown_ = true;
}

void Display::clear() {
  if (shown_) rewrite_line("");
  shown_ = false;
}

// Returns true if an estimate may be shown now: twice a second in JSON, ten times a second on a
// terminal. Hundreds of estimates may come in a second.
bool Display::due() {
  const auto now = std::chrono::steady_clock::now();
  if (now < due_) return false;
  due_ = now + std::chrono::milliseconds(json_ ? 500 : 100);
  return true;
}

// Returns the line of progress. The trajectory is shortened so that the line fits the terminal.
std::string Display::line(const groma::tuning::TuneEvent& event) const {
  const std::size_t columns = error_columns() - 1;
  // The line is: the best value, the trajectory, the cost, and what is being tried.
  const double best = event.best_score;
  const std::string first =
      std::isfinite(best) ? fmt::format("best {} ", groma::tuning::value_words(evaluator_, best))
                          : "no best yet ";
  const std::string last = fmt::format(" {}: ", cost(event.spent)), trying = doing(event);
  const std::size_t used =
      groma::columns_of(first + last) + std::min(groma::columns_of(trying), kDoing);
  const std::size_t letters = std::clamp(columns - std::min(used, columns), kLeastShown, kShown);
  return groma::cut_to_columns(
      first + groma::tuning::sparkline(scores_, letters, evaluator_.higher_is_better()) + last +
          trying,
      columns);
}

// Prints the step that found a better value. If the improvement is within the noise, says that the
// step was not accepted.
void Display::say_better(const groma::tuning::TuneEvent& event) {
  clear();
  const groma::tuning::Step& step = *event.step;
  const std::string not_taken =
      event.within_noise
          ? fmt::format(" (not accepted: within the noise, {:.{}f} %)", 100 * step.evaluation.noise,
                        step.evaluation.noise < 0.1 ? 1 : 0)
          : "";
  const auto value = [&](int digits) {
    return groma::tuning::value_words(evaluator_, step.evaluation.score, digits);
  };
  // Two values that look alike with four digits are shown with seven.
  const bool looks_alike = value(4) == std::exchange(said_, value(4));
  const std::string words = fmt::format("{:>5}  {}  {}{}", step.number, value(looks_alike ? 7 : 4),
                                        step.proposal.why, not_taken);
  say(groma::harmless(words) + "\n");
}

// The JSON has the form of an event, because a reader of --json expects events.
int refuse_search(const groma::Error& error, bool json) {
  if (!json) return refuse(error);
  static_cast<void>(
      print(ordered_json{{"event", "error"}, {"message", error.message}, {"help", error.help}}.dump(
                -1, ' ', false, ordered_json::error_handler_t::replace) +
            "\n"));
  return kWrongInput;
}

int refuse_search(const groma::Diagnostics& diags, bool json) {
  if (!json) return fail(diags, false);
  static_cast<void>(print(event_of("error", diags)));
  return kWrongInput;
}

}  // namespace driver
