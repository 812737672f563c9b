// The evaluator that runs the user's command. It gives each text to a free worker, and to another
// one if that worker fails.
#include <fmt/format.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "groma/evaluators.h"
#include "groma/harmless.h"
#include "tune/command_options.h"
#include "tune/command_worker.h"
#include "tune/metric.h"
#include "tune/worker_pool.h"

namespace groma::tuning {
namespace {

// A text fails if this number of workers die in a row while they run it.
constexpr int kMaxDeathsOfText = 3;

// Returns an evaluation without a result.
Evaluation stopped_evaluation() {
  Evaluation evaluation;
  evaluation.status = Evaluation::Status::kFailed;
  return evaluation;
}

class CommandEvaluator final : public Evaluator {
 public:
  CommandEvaluator(CommandEvaluatorOptions options, Metric metric, GuideRules rules)
      : options_(std::move(options)),
        metric_(std::move(metric)),
        rules_(std::move(rules)),
        pool_(make_workers(), options_.patience) {}

  std::vector<std::string> inputs() const override {
    return options_.inputs.empty() ? std::vector<std::string>{"the command"} : options_.inputs;
  }
  std::string unit() const override { return options_.unit; }
  bool higher_is_better() const override { return options_.higher_is_better; }
  int parallel() const override { return pool_.size(); }
  std::optional<Error> error() const override { return pool_.error(); }
  std::vector<std::string> take_notes() override { return pool_.take_notes(); }

  // Repeats the evaluation with other workers until one of them has evaluated the text.
  Evaluation evaluate(const EvaluationRequest& request) override {
    for (int deaths = 0;;) {
      CommandWorker* const worker = pool_.take_free(request.stop);
      // The search is stopped, or error() says why there is no worker. It ignores the result.
      if (worker == nullptr) return stopped_evaluation();
      auto evaluation = worker->evaluate(request);
      if (evaluation) {
        pool_.release(worker);
        return *std::move(evaluation);
      }
      const WorkerFailure& failure = evaluation.error();
      deaths = failure.during_text ? deaths + 1 : 0;
      // The evaluation is made before another thread can take the worker.
      std::optional<Evaluation> blamed;
      if (deaths == kMaxDeathsOfText) {
        const std::string reason = fmt::format(
            "the worker died {} times while it ran the text, each time after the best "
            "text had run well: {}",
            deaths, failure.reason);
        blamed = worker->failed({Evaluation::Status::kFailed, reason, {}}, request.detail);
      }
      pool_.lose(worker, failure.reason);
      if (blamed) return *std::move(blamed);
    }
  }

 private:
  // Makes a worker for each element of the options, or several for a number.
  std::vector<std::unique_ptr<CommandWorker>> make_workers() const {
    const std::vector<std::string> connections = connections_of(options_.workers);
    std::vector<std::unique_ptr<CommandWorker>> workers;
    for (const std::string& connect : connections) {
      const auto number = static_cast<int>(workers.size());
      auto place = connect.empty() ? make_local_place(options_, number)
                                   : make_shell_place(options_, number, connect);
      std::string name = connect.empty() ? std::to_string(number)
                                         : fmt::format("{} (`{}`)", number, harmless(connect));
      workers.push_back(std::make_unique<CommandWorker>(options_, metric_, rules_, std::move(place),
                                                        std::move(name), connections.size() > 1));
    }
    return workers;
  }

  CommandEvaluatorOptions options_;
  Metric metric_;
  GuideRules rules_;
  WorkerPool pool_;
};

}  // namespace

// Reads the value with the evaluator's own metric. The verification uses the function for runs that
// it made itself.
Result<double> measured_value(const CommandEvaluatorOptions& options,
                              const CommandOutcome& outcome) {
  const auto metric = Metric::make(options.metric_pattern, options.metric_pointer);
  if (!metric) return metric.error();
  const auto value = metric->read(outcome);
  if (!value) return Error{Error::Code::kUnknown, value.error()};
  return *value;
}

// Reports invalid options before it runs anything.
Result<std::unique_ptr<Evaluator>> make_command_evaluator(CommandEvaluatorOptions options) {
  if (auto error = why_invalid(options)) return *error;
  auto metric = Metric::make(options.metric_pattern, options.metric_pointer);
  if (!metric) return metric.error();
  auto rules = GuideRules::make();
  if (!rules) return rules.error();
  return std::unique_ptr<Evaluator>(
      new CommandEvaluator(std::move(options), std::move(*metric), std::move(*rules)));
}

}  // namespace groma::tuning
