// Shows how to write a proposer and an evaluator, and searches with them for the number of threads
// and the block size with the least cost of a loop. The "program" is a line of text with both
// numbers.
#include <cmath>
#include <cstdio>
#include <string>

#include "groma/tune.h"

// Measures how good a text is. Here it is a formula; a real evaluator runs a program.
class LoopCost : public groma::tuning::Evaluator {
 public:
  // The evaluator gives one value, in seconds, for one input.
  std::vector<std::string> inputs() const override { return {"loop"}; }
  std::string unit() const override { return "s"; }

  groma::tuning::Evaluation evaluate(const groma::tuning::EvaluationRequest& request) override {
    int threads = 0, block = 0;
    // The status is kRefused until the text is known to be valid.
    groma::tuning::Evaluation evaluation;
    if (std::sscanf(request.text.c_str(), "threads %d block %d", &threads, &block) != 2 ||
        threads < 1 || block < 1) {
      evaluation.feedback.explain = {"A text is `threads N block N`, both at least 1."};
      return evaluation;
    }
    const double work = 1.0 / threads + 0.01 * threads;
    const double cache = 1 + std::fabs(std::log2(block / 64.0)) / 4;
    evaluation.status = groma::tuning::Evaluation::Status::kOk;
    evaluation.values = {work * cache};
    evaluation.score = work * cache;
    return evaluation;
  }
};

// Proposes texts: doubles or halves one of the two numbers of the best text so far.
class Doubling : public groma::tuning::Proposer {
 public:
  std::string_view name() const override { return "doubling"; }

  // Returns one proposal. An empty list ends the search: nothing ran, or all four changes were
  // tried in vain.
  std::vector<groma::tuning::Proposal> propose(groma::tuning::SearchRound& round) override {
    if (round.history().best() == nullptr || turn_ == 4) return {};
    int threads = 0, block = 0;
    std::sscanf(round.history().best()->proposal.text.c_str(), "threads %d block %d", &threads,
                &block);
    int& number = turn_ < 2 ? threads : block;
    number = turn_ % 2 == 0 ? number * 2 : number / 2;
    return {{"threads " + std::to_string(threads) + " block " + std::to_string(block),
             turn_ < 2 ? "other threads" : "another block"}};
  }
  // If the last change made the text better, it is tried again; otherwise the next one is tried.
  void learn(const groma::tuning::Step& step) override {
    if (step.evaluation.score < best_) {
      best_ = step.evaluation.score;
    } else {
      ++turn_;
    }
  }

 private:
  // The change to try: 0 and 1 are for the threads, 2 and 3 for the block. Even numbers double.
  int turn_ = 0;
  double best_ = 1e300;
};

// A search needs a problem, an evaluator and a proposer. This one asks no model, so two pointers
// are null.
int main() {
  groma::tuning::SearchProblem problem;
  problem.start = "threads 1 block 8";
  LoopCost evaluator;
  Doubling proposer;
  groma::tuning::TuneOptions options;
  options.budget.evaluations = 20;
  const auto outcome = groma::tuning::tune(problem, evaluator, proposer, nullptr, nullptr, options);
  if (!outcome || !outcome->best) return 1;
  std::printf("%s: %.3f s after %d evaluations\n", outcome->best->proposal.text.c_str(),
              outcome->best->evaluation.score, static_cast<int>(outcome->spent.evaluations));
  return 0;
}
