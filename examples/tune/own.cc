// A proposer and an evaluator of one's own, and a search with them: for which number of threads and
// which size of block is a loop's cost least? The "program" is a line of text with both.
#include <cmath>
#include <cstdio>
#include <string>

#include "groma/tune.h"

// How good a text is. Here a formula; yours runs something.
class LoopCost : public groma::Evaluator {
 public:
  std::vector<std::string> inputs() const override { return {"loop"}; }
  std::string unit() const override { return "s"; }

  groma::Evaluation evaluate(const groma::EvaluationRequest& request) override {
    int threads = 0, block = 0;
    groma::Evaluation evaluation;  // refused, until it is known to be fine
    if (std::sscanf(request.text.c_str(), "threads %d block %d", &threads, &block) != 2 ||
        threads < 1 || block < 1) {
      evaluation.feedback.explain = {"A text is `threads N block N`, both at least 1."};
      return evaluation;
    }
    const double work = 1.0 / threads + 0.01 * threads;
    const double cache = 1 + std::fabs(std::log2(block / 64.0)) / 4;
    evaluation.status = groma::Evaluation::Status::kOk;
    evaluation.values = {work * cache};
    evaluation.score = work * cache;
    return evaluation;
  }
};

// What to try next: twice or half of one of the numbers of the best so far, in turn.
class Doubling : public groma::Proposer {
 public:
  std::string_view name() const override { return "doubling"; }

  std::vector<groma::Proposal> propose(groma::Round& round) override {
    if (round.history().best() == nullptr || turn_ == 4) return {};  // nothing more: the end
    int threads = 0, block = 0;
    std::sscanf(round.history().best()->proposal.text.c_str(), "threads %d block %d", &threads,
                &block);
    int& number = turn_ < 2 ? threads : block;
    number = turn_ % 2 == 0 ? number * 2 : number / 2;
    return {{"threads " + std::to_string(threads) + " block " + std::to_string(block),
             turn_ < 2 ? "other threads" : "another block"}};
  }
  // As long as it gets better the same again, else the next.
  void learn(const groma::Step& step) override {
    if (step.evaluation.score < best_) {
      best_ = step.evaluation.score;
    } else {
      ++turn_;
    }
  }

 private:
  int turn_ = 0;
  double best_ = 1e300;
};

int main() {
  groma::Problem problem;
  problem.start = "threads 1 block 8";
  LoopCost evaluator;
  Doubling proposer;
  groma::TuneOptions options;
  options.budget.evaluations = 20;
  const auto outcome = groma::tune(problem, evaluator, proposer, nullptr, nullptr, options);
  if (!outcome || !outcome->best) return 1;
  std::printf("%s: %.3f s after %d evaluations\n", outcome->best->proposal.text.c_str(),
              outcome->best->evaluation.score, static_cast<int>(outcome->spent.evaluations));
  return 0;
}
