// An evaluator of mappings that checks a text by the embedded runtime, without a run, and measures
// it with a user's command.
#include <utility>

#include "groma/evaluators.h"

namespace groma::tuning {
namespace {

// `measure_` gives the values. `runtime_` knows the language of mappings, so it checks, normalises
// and repairs the texts.
class MeasuredMappings final : public Evaluator {
 public:
  MeasuredMappings(std::unique_ptr<Evaluator> measure, const Evaluator& runtime)
      : measure_(std::move(measure)), runtime_(runtime) {}

  std::vector<std::string> inputs() const override { return measure_->inputs(); }
  std::string unit() const override { return measure_->unit(); }
  bool higher_is_better() const override { return measure_->higher_is_better(); }
  int parallel() const override { return measure_->parallel(); }
  std::optional<Error> error() const override { return measure_->error(); }
  std::vector<std::string> take_notes() override { return measure_->take_notes(); }
  std::string canonical(const std::string& text) const override { return runtime_.canonical(text); }
  std::string repaired(const std::string& text) const override { return runtime_.repaired(text); }
  std::optional<Evaluation> check(const std::string& text, GuideDetail detail) const override {
    return runtime_.check(text, detail);
  }
  bool may_fail(const std::string& text) const override { return runtime_.may_fail(text); }
  Evaluation evaluate(const EvaluationRequest& request) override {
    return measure_->evaluate(request);
  }

 private:
  std::unique_ptr<Evaluator> measure_;
  const Evaluator& runtime_;
};

}  // namespace

std::unique_ptr<Evaluator> make_measured_mappings_evaluator(std::unique_ptr<Evaluator> measure,
                                                            const Evaluator& runtime) {
  return std::make_unique<MeasuredMappings>(std::move(measure), runtime);
}

}  // namespace groma::tuning
