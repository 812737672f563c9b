// What the tuner's loop costs by itself, with its journal and without: an evaluator and a proposer
// that cost nothing, texts of 1 KB, and of the feedback a profile. By the length of the search, so
// that it is seen whether time or memory grows with it.
#include <benchmark/benchmark.h>
#include <stdlib.h>

#include <array>
#include <filesystem>
#include <string>

#include "groma/tune.h"
#include "process_memory.h"

namespace {

using namespace groma;

std::string text_of(std::int64_t number) {
  std::string text = "number " + std::to_string(number) + "\n";
  return text + std::string(1024 - text.size(), 'x');
}

class Free : public tuning::Evaluator {
 public:
  Free() {
    done_.status = tuning::Evaluation::Status::kOk;
    done_.values = {1.0};
    done_.score = 1.0;
    done_.feedback.execution = "Performance Metric: 1 s";
    done_.feedback.explain = {"The application measures its phase `timed`.", "All of it is tasks."};
    auto& facts = done_.feedback.profile.emplace();
    facts.causes.resize(8, {"task", "work", "x", "", "", "Task * GPU", "a.mapper:1:1", false, 0.1});
    facts.by_task.resize(8, {"work", "GPU", 0.1});
  }
  std::vector<std::string> inputs() const override { return {"nothing"}; }
  std::string unit() const override { return "s"; }
  bool simulated() const override { return true; }
  tuning::Evaluation evaluate(const tuning::EvaluationRequest&) override { return done_; }

 private:
  tuning::Evaluation done_;
};

class Counter : public tuning::Proposer {
 public:
  std::string_view name() const override { return "counter"; }
  GuideDetail reads() const override { return GuideDetail::kProfile; }
  std::vector<tuning::Proposal> propose(tuning::SearchRound&) override {
    return {{text_of(++next_), "the next"}};
  }
  void learn(const tuning::Step& step) override { valid_ += step.evaluation.ok() ? 1 : 0; }
  std::int64_t valid() const { return valid_; }

 private:
  std::int64_t next_ = 0, valid_ = 0;
};

void loops(benchmark::State& state, bool writes) {
  const std::int64_t count = state.range(0);
  std::string folder = (std::filesystem::temp_directory_path() / "groma-XXXXXX").string();
  if (mkdtemp(folder.data()) == nullptr) return state.SkipWithError("there is no folder");
  double memory_mb = 0;
  int search = 0;
  for (auto _ : state) {
    Free evaluator;
    Counter proposer;
    tuning::SearchProblem problem;
    problem.start = text_of(0);
    tuning::TuneOptions options;
    options.budget.evaluations = count;
    if (writes) options.directory = folder + "/" + std::to_string(++search);
    options.on_event = [&](const tuning::TuneEvent& event) {
      if (event.spent.evaluations == count) memory_mb = process_memory_mb("VmRSS:");
    };
    const auto outcome = tuning::tune(problem, evaluator, proposer, nullptr, nullptr, options);
    if (!outcome || proposer.valid() != count) state.SkipWithError("it does not come to its end");
    std::error_code ignored;
    std::filesystem::remove_all(options.directory, ignored);
  }
  std::filesystem::remove_all(folder);
  state.counters["s_per_evaluation"] =
      benchmark::Counter(static_cast<double>(count * state.iterations()),
                         benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
  state.counters["MB"] = memory_mb;
}

BENCHMARK_CAPTURE(loops, in_memory, false)->Arg(1'000)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(loops, with_journal, true)
    ->Arg(1'000)
    ->Arg(10'000)
    ->Unit(benchmark::kMillisecond);
// Longer than what it remembers (2^17 texts).
BENCHMARK_CAPTURE(loops, far, false)
    ->Arg(200'000)
    ->Arg(400'000)
    ->Iterations(1)
    ->Unit(benchmark::kMillisecond);

}  // namespace
