// Writes the events and the outcome of a search as lines of JSON, for a tool that follows the
// search.
#include "groma/tune.h"
#include "tune/journal.h"

namespace groma::tuning {
namespace {

// Adds the numbers of the steps from which a step was made, if the proposer says them.
void add_parents(const Step& step, Json* json) {
  if (!step.proposal.parents.empty()) (*json)["parents"] = step.proposal.parents;
}

}  // namespace

// Returns an event as one line of JSON. Every event also has the numbers of evaluations, model
// calls and tokens that were spent so far.
std::string to_json(const TuneEvent& event) {
  using Kind = TuneEvent::Kind;
  Json json;
  switch (event.kind) {
    case Kind::kProposed:
      json = {{"event", "proposed"}, {"why", event.proposal->why}};
      break;
    case Kind::kEvaluated: {
      const Evaluation& evaluation = event.step->evaluation;
      json = {{"event", "evaluated"},
              {"number", event.step->number},
              {"valid", evaluation.ok()},
              {"values", evaluation.values}};
      if (evaluation.ok()) json["score"] = evaluation.score;
      if (evaluation.noise > 0) json["noise"] = evaluation.noise;
      if (const auto& measured = evaluation.measured; measured && !event.from_cache) {
        json["worker"] = measured->worker;
        if (measured->incumbent_value > 0) json["incumbent"] = measured->incumbent_value;
        json["drift"] = measured->drift;
      }
      json["best"] = event.is_best;
      if (event.within_noise) json["within_noise"] = true;
      if (event.from_cache) json["repeated"] = true;
      if (event.in_front) json["front"] = true;
      json["why"] = event.step->proposal.why;
      add_parents(*event.step, &json);
      const GuideFeedback& feedback = evaluation.feedback;
      if (!evaluation.ok()) json["execution"] = feedback.execution;
      if (!feedback.last_lines.empty()) json["last_lines"] = feedback.last_lines;
      json["explain"] = feedback.explain;
      json["suggest"] = feedback.suggest;
      break;
    }
    case Kind::kAsking:
      json = {{"event", "asking"}};
      break;
    case Kind::kRejected:
      json = {{"event", "rejected"}, {"why", event.text}};
      break;
    case Kind::kResumed:
      json = {{"event", "resumed"}};
      break;
    case Kind::kWorker:
      json = {{"event", "worker"}, {"text", event.text}};
      break;
    case Kind::kEstimating:
      json = {{"event", "estimating"}, {"estimates", event.spent.estimates}};
      if (event.most_estimates > 0) json["of"] = event.most_estimates;
      break;
  }
  json["evaluations"] = event.spent.evaluations;
  json["model_calls"] = event.spent.model_calls;
  json["tokens"] = event.spent.tokens;
  if (event.spent.estimated) json["tokens_estimated"] = true;
  return to_journal_line(json);
}

// Returns the outcome of a search as one line of JSON. Members without a value are not written.
std::string to_json(const TuneOutcome& outcome) {
  constexpr const char* kEnds[] = {"budget", "exhausted", "stopped", "rejected", "model"};
  Json json = {{"event", "end"}, {"end", kEnds[static_cast<int>(outcome.end)]}};
  if (!outcome.budget.empty()) json["budget"] = outcome.budget;
  if (!outcome.why.empty()) json["why"] = outcome.why;
  if (outcome.start && outcome.start->evaluation.ok()) {
    json["start"] = outcome.start->evaluation.score;
  }
  if (outcome.best) {
    json["best"] = {{"number", outcome.best->number},
                    {"score", outcome.best->evaluation.score},
                    {"values", outcome.best->evaluation.values},
                    {"text", outcome.best->proposal.text}};
    add_parents(*outcome.best, &json["best"]);
  }
  for (const Step& step : outcome.front) {
    json["front"].push_back({{"number", step.number},
                             {"score", step.evaluation.score},
                             {"values", step.evaluation.values},
                             {"text", step.proposal.text}});
  }
  if (outcome.beside_start) {
    json["beside_start"] = {{"valid", outcome.beside_start->ok()}};
    if (outcome.beside_start->ok()) {
      json["beside_start"]["score"] = outcome.beside_start->score;
      json["beside_start"]["noise"] = outcome.beside_start->noise;
    }
  }
  if (outcome.too_little) {
    json["too_little"] = {{"number", outcome.too_little->number},
                          {"score", outcome.too_little->evaluation.score},
                          {"text", outcome.too_little->proposal.text}};
  }
  if (!outcome.dropped.empty()) json["dropped"] = outcome.dropped;
  for (const TuneOutcome::Worker& worker : outcome.workers) {
    json["workers"].push_back({{"name", worker.name},
                               {"evaluations", worker.evaluations},
                               {"drift", worker.drift},
                               {"least_drift", worker.least_drift},
                               {"greatest_drift", worker.greatest_drift}});
  }
  json["trajectory"] = outcome.trajectory;
  if (outcome.spent_before) json["spent_before"] = true;
  const TuneSpending& spent = outcome.spent;
  json["spent"] = {{"evaluations", spent.evaluations},
                   {"failed", spent.failed},
                   {"again", spent.again},
                   {"unusable", spent.unusable},
                   {"estimates", spent.estimates},
                   {"model_calls", spent.model_calls},
                   {"tokens", spent.tokens},
                   {"money", spent.money},
                   {"seconds", spent.seconds}};
  if (spent.estimated) json["spent"]["tokens_estimated"] = true;
  return to_journal_line(json);
}

}  // namespace groma::tuning
