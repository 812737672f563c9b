// The evaluator that estimates the time of mappings from rehearsals of their runs.
#include <algorithm>
#include <thread>

#include "groma/evaluate.h"
#include "groma/evaluators.h"
#include "groma/inspect.h"

namespace groma::tuning {
namespace {

// The limit on the work of one rehearsal, in statements and points of launches. A larger
// application is not estimated.
constexpr std::int64_t kMaxRehearsedSteps = std::int64_t{1} << 17;
// The limit on the number of rehearsals at the same time. Each may use an equal share of the
// memory, which does not depend on the computer: the same search makes the same estimates
// everywhere.
constexpr int kMaxParallel = 8;
// Lower bound of an estimate in seconds, so that a score is never 0.
constexpr double kLeastEstimate = 1e-12;

// Any thread may call evaluate(), since each call has its own rehearsal.
class RehearsedEstimator final : public Evaluator {
 public:
  RehearsedEstimator(std::shared_ptr<const Machine> machine, std::vector<Workload> inputs,
                     SimulateOptions options)
      : machine_(std::move(machine)), inputs_(std::move(inputs)), options_(std::move(options)) {}

  std::vector<std::string> inputs() const override {
    std::vector<std::string> names;
    for (const Workload& input : inputs_) names.push_back(input.name());
    return names;
  }
  std::string unit() const override { return "s"; }
  int parallel() const override {
    return std::clamp(static_cast<int>(std::thread::hardware_concurrency()), 1, kMaxParallel);
  }
  bool simulated() const override { return true; }

  // An estimate has no feedback. A mapping that would be refused, and one that cannot be rehearsed
  // to the end, is refused.
  Evaluation evaluate(const EvaluationRequest& request) override {
    Evaluation evaluation;
    Diagnostics diags(Source("mapping", request.text));
    const auto bound = bind(compile(diags.source(), diags), *machine_, diags);
    if (!bound) return evaluation;
    CheckOptions options;
    options.max_steps = kMaxRehearsedSteps;
    options.max_bytes = options_.max_bytes / kMaxParallel;
    options.stop = request.stop;
    options.first_error = true;
    options.estimate = EstimateConstants{options_.costs, options_.model};
    for (const Workload& input : inputs_) {
      diags.clear();
      const std::optional<double> seconds = check_run(*bound, input, diags, options);
      if (!seconds) {
        evaluation.values.clear();
        return evaluation;
      }
      evaluation.values.push_back(std::max(*seconds, kLeastEstimate));
    }
    evaluation.status = Evaluation::Status::kOk;
    evaluation.score = geometric_mean(evaluation.values);
    return evaluation;
  }

 private:
  std::shared_ptr<const Machine> machine_;
  std::vector<Workload> inputs_;
  SimulateOptions options_;
};

}  // namespace

std::unique_ptr<Evaluator> make_rehearsed_estimator(std::shared_ptr<const Machine> machine,
                                                    std::vector<Workload> inputs,
                                                    SimulateOptions options) {
  return std::make_unique<RehearsedEstimator>(std::move(machine), std::move(inputs),
                                              std::move(options));
}

}  // namespace groma::tuning
