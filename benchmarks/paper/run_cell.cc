// Runs a search or grades a mapping. Only here are the experts' mappings read.
#include "paper/run_cell.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>

#include "experiment.h"
#include "groma/benchmarks.h"
#include "groma/dsl_files.h"
#include "groma/evaluators.h"
#include "groma/machine.h"
#include "groma/proposers.h"
#include "groma/tune.h"
#include "groma/workload.h"
#include "groma/write.h"
#include "strategy_problem.h"

namespace groma::paper {
namespace {

using bench::need;

enum class Family : std::uint8_t { kRegent, k2D, kNot2D };

// Returns the family of a benchmark (section A.3 of the paper for the multiplications).
Family family_of(std::string_view benchmark) {
  for (const std::string_view name : {"circuit", "stencil", "pennant"}) {
    if (name == benchmark) return Family::kRegent;
  }
  for (const std::string_view name : {"cannon", "summa", "pumma"}) {
    if (name == benchmark) return Family::k2D;
  }
  return Family::kNot2D;
}

tuning::SearchProblem problem_of(const CellSettings& settings) {
  const std::size_t colon = settings.subject.find(':');
  const std::string name = settings.subject.substr(0, colon);
  const Benchmark* benchmark = find_benchmark(name);
  GROMA_CHECK(benchmark != nullptr && colon != std::string::npos);
  tuning::SearchProblem problem;
  problem.machine = std::make_shared<const Machine>(need(make_machine(kMachine)));
  problem.inputs.push_back(need(
      Workload::make(need(with_values(benchmark->make(), settings.subject.substr(colon + 1))))));
  problem.examples = examples_for(name, settings.examples);
  return problem;
}

// Returns the error of a search that ended because of its model, nullopt for any other end.
std::optional<Error> model_error(const tuning::TuneOutcome& outcome) {
  using End = tuning::TuneOutcome::End;
  const bool ceiling = outcome.end == End::kBudget && outcome.budget != "evaluations";
  if (outcome.end != End::kModel && !ceiling) return std::nullopt;
  return Error{Error::Code::kUnreadable, fmt::format("the model: {}", outcome.why)};
}

// Every proposal counts, and so does every reply that cannot be read (TuneOptions::compare). The
// search begins with the default mapper, which is not evaluated.
Result<std::optional<Cell>> run_search(const CellSettings& settings, const RunContext& context) {
  const tuning::SearchProblem problem = problem_of(settings);
  const auto evaluator = tuning::make_simulated_evaluator(problem.machine, problem.inputs);
  const std::string name = settings.subject.substr(0, settings.subject.find(':'));
  const tuning::Evaluation expert = evaluator->evaluate({std::string(bench::expert_mapping(name))});
  if (!expert.ok()) bench::fail(fmt::format("the expert's mapping for {} fails", name));
  const auto seed = static_cast<std::uint64_t>(settings.run);
  // The only iteration of kDefaultMapper is the start, so nothing is proposed.
  const bool only_start = settings.method == kDefaultMapper;
  auto proposer = tuning::make_proposer(only_start ? std::string(kRandomMapping) : settings.method,
                                        problem, seed, context.ask);
  if (!proposer) return proposer.error();

  SearchResult result;
  result.expert_seconds = expert.score;
  tuning::TuneOptions options;
  options.budget.evaluations = settings.iterations;
  options.seed = seed;
  options.feedback = guide_detail(settings.feedback).value();
  options.compare = true;
  options.evaluate_start = only_start;
  options.threads = 1;
  options.stop = context.stop;
  options.on_event = [&result](const tuning::TuneEvent& event) {
    if (event.kind != tuning::TuneEvent::Kind::kEvaluated) return;
    ++(event.step->evaluation.ok() ? result.ran : result.failed);
  };
  llm::ChatClient* model = settings.model.empty() ? nullptr : context.model;
  const auto outcome = tuning::tune(problem, *evaluator, **proposer, model, nullptr, options);
  if (!outcome) return outcome.error();
  if (outcome->end == tuning::TuneOutcome::End::kStopped) return std::optional<Cell>();
  if (auto error = model_error(*outcome)) return *error;
  for (const auto& [iteration, seconds] : outcome->trajectory) {
    result.improvements.push_back({iteration, seconds});
  }
  result.unusable = outcome->spent.unusable;
  return std::optional<Cell>({settings, std::move(result)});
}

// Returns true if the model replied, but the reply has no text that could be a mapping. It counts
// as a mapping that does not compile.
bool is_useless_reply(const llm::ChatError& error) {
  using Code = llm::ChatError::Code;
  return error.code == Code::kNoText || error.code == Code::kRefusal ||
         error.code == Code::kTooLarge;
}

// Asks the model for the mapping of a strategy, with a repair for each further question. A mapping
// passes if it decides as the reference mapping does.
Result<std::optional<Cell>> run_strategy(const CellSettings& settings, const RunContext& context) {
  const auto strategy =
      std::find_if(strategies().begin(), strategies().end(),
                   [&](const DslFile& file) { return file.name == settings.subject; });
  GROMA_CHECK(strategy != strategies().end());
  WritingResult result{WritingResult::Verdict::kNotCompiled};
  std::string text(strategy->text);
  if (settings.method == kWriting) {
    tuning::WritingOptions options;
    options.repairs = static_cast<int>(settings.iterations) - 1;
    options.reply_tokens = context.ask.max_tokens;
    options.temperature = context.ask.temperature.value_or(options.temperature);
    options.check.stop = context.stop;
    const tuning::WrittenMapping written = tuning::write_mapping(
        *context.model, bench::writing_problem_of(*strategy), options, {context.stop, {}});
    if (context.stop && context.stop()) return std::optional<Cell>();
    if (written.error && !is_useless_reply(*written.error)) {
      return Error{Error::Code::kUnreadable, fmt::format("the model: {}", written.error->message)};
    }
    result.questions = written.rounds;
    if (!written.ok()) return std::optional<Cell>({settings, result});
    text = written.text;
  }
  result.verdict = testing::StrategyGrader(*strategy).grade(text).passed
                       ? WritingResult::Verdict::kPassed
                       : WritingResult::Verdict::kFailed;
  return std::optional<Cell>({settings, result});
}

}  // namespace

std::vector<std::string> examples_for(std::string_view benchmark, int count) {
  std::vector<std::string> other, same;
  for (const Benchmark& each : benchmarks()) {
    if (each.name == benchmark) continue;
    auto& list = family_of(each.name) == family_of(benchmark) ? same : other;
    list.emplace_back(bench::expert_mapping(each.name));
  }
  other.insert(other.end(), same.begin(), same.end());
  other.resize(std::min(other.size(), static_cast<std::size_t>(count)));
  return other;
}

Result<std::optional<Cell>> run_cell(const CellSettings& settings, const RunContext& context) {
  const bool writes = settings.method == kWriting || settings.method == kReference;
  return writes ? run_strategy(settings, context) : run_search(settings, context);
}

std::optional<Error> run_cells(const std::vector<CellSettings>& settings, const RunContext& context,
                               int jobs, CellsFile* file,
                               const std::function<void(std::size_t done)>& on_progress) {
  std::atomic<std::size_t> next = 0;
  std::atomic<bool> failed = false;
  // Guards the file and the variables below.
  std::mutex mutex;
  std::condition_variable changed;
  std::optional<Error> first_error;
  std::size_t done = 0, working = 0;

  RunContext shared = context;
  shared.stop = [&] { return failed || (context.stop && context.stop()); };
  const auto work = [&] {
    for (std::size_t i = next++; i < settings.size() && !shared.stop(); i = next++) {
      Result<std::optional<Cell>> cell = run_cell(settings[i], shared);
      const std::lock_guard lock(mutex);
      std::optional<Error> error;
      if (!cell) {
        error = cell.error();
      } else if (*cell) {
        error = file->add(std::move(**cell));
        ++done;
      }
      if (error && !failed.exchange(true)) first_error = std::move(error);
      changed.notify_one();
    }
    const std::lock_guard lock(mutex);
    --working;
    changed.notify_one();
  };
  working = std::min(settings.size(), static_cast<std::size_t>(std::max(1, jobs)));
  std::vector<std::thread> threads(working);
  for (std::thread& thread : threads) thread = std::thread(work);
  {
    std::unique_lock lock(mutex);
    while (working > 0) {
      changed.wait_for(lock, std::chrono::milliseconds(200));
      on_progress(done);
    }
  }
  for (std::thread& thread : threads) thread.join();
  return first_error;
}

}  // namespace groma::paper
