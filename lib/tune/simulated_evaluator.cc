// The evaluator that runs mappings in the simulator (the embedded runtime), so no real machine is
// needed.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <span>
#include <thread>

#include "groma/advise.h"
#include "groma/diff.h"
#include "groma/evaluators.h"
#include "groma/inspect.h"
#include "groma/run.h"
#include "search/recent.h"
#include "syntax/lexer.h"

namespace groma::tuning {
namespace {

// Time limit of a run. Mappings are untrusted, and one may cause a run of hours.
constexpr auto kLongestRun = std::chrono::seconds(60);
// The limits of the guide forbid it to try changes of a mapping by runs of its own, because no
// budget would count these runs.
constexpr GuideLimits kNoTrials = {0, std::int64_t{1} << 62};
// Lower bound of a run time, in seconds, so that a score is never 0.
constexpr double kShortest = 1e-12;

// Returns the name of an input with its parameters: "cannon:n=8000,nodes=4".
std::string name_of(const Workload& workload) {
  std::string name = workload.name();
  char separator = ':';
  for (const auto& [parameter, value] : workload.values()) {
    name += fmt::format("{}{}={}", std::exchange(separator, ','), parameter, value);
  }
  return name;
}

// Returns true if one of the diagnostics is a warning or an error.
bool has_warning(std::span<const Diagnostic> diagnostics) {
  return std::any_of(diagnostics.begin(), diagnostics.end(), [](const Diagnostic& diagnostic) {
    return diagnostic.severity < Severity::kNote;
  });
}

// Evaluates mappings on one machine with several inputs. Any thread may call its functions.
class SimulatedEvaluator : public Evaluator {
 public:
  SimulatedEvaluator(std::shared_ptr<const Machine> machine, std::vector<Workload> inputs,
                     SimulateOptions options)
      : machine_(std::move(machine)), inputs_(std::move(inputs)), options_(std::move(options)) {}

  std::vector<std::string> inputs() const override {
    std::vector<std::string> names;
    for (const Workload& input : inputs_) names.push_back(name_of(input));
    return names;
  }
  std::string unit() const override { return "s"; }
  // Each simulated run uses one thread and does not disturb the others.
  int parallel() const override {
    return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  }
  bool simulated() const override { return true; }

  // Returns the tokens of the text, separated by spaces, without comments. Two mappings with the
  // same tokens mean the same.
  std::string canonical(const std::string& text) const override {
    const Source source("", text);
    Diagnostics ignored(source);
    syntax::Lexer lexer(source, ignored, nullptr);
    std::string words;
    for (syntax::Token token = lexer.next_token(); token.kind != syntax::TokenKind::kEnd;
         token = lexer.next_token()) {
      words += source.text(token.range);
      words += ' ';
    }
    return words;
  }

  // Applies only fixes that are certain.
  std::string repaired(const std::string& text) const override {
    const std::shared_ptr<const CompiledText> known = compiled(text);
    const auto& said = known->said.all();
    if (std::none_of(said.begin(), said.end(), has_certain_fix)) return text;
    std::size_t made = 0;
    return std::string(apply_certain_fixes(Source("mapping", text), &made).text());
  }

  // Checks the text with every input, without a timed run. Texts without errors are remembered,
  // because proposers check a text before they propose it.
  std::optional<Evaluation> check(const std::string& text, GuideDetail detail) const override {
    const std::uint64_t hash = hash_of(text);
    if (known_may_fail(hash)) return std::nullopt;
    CheckOptions options = check_options();
    // With this detail or less, the feedback shows only one error, so the check ends at the first
    // one, and warnings about names are not needed.
    options.first_error = detail <= GuideDetail::kExecution;
    const std::shared_ptr<const CompiledText> known = compiled(text);
    const bool is_brief = options.first_error && known->bound;
    bool may_fail = false;
    // A check needs the share of the memory of one run, so it waits while a run uses all of the
    // memory.
    const std::shared_lock memory(memory_);
    for (const Workload& input : inputs_) {
      Diagnostics diags = is_brief ? known->said : Diagnostics(known->said.source());
      const std::optional<BoundProgram> bound =
          is_brief ? known->bound : check_text(diags.source(), machine_.get(), &input, diags);
      const std::size_t of_text = diags.all().size();
      if (bound) check_run(*bound, input, diags, options);
      may_fail = may_fail || has_warning(std::span(diags.all()).subspan(of_text));
      if (bound && !diags.has_errors()) continue;
      last_ran_ = false;
      Evaluation evaluation;
      evaluation.status = Evaluation::Status::kRefused;
      if (detail != GuideDetail::kNone) {
        GuideContext context;
        context.exit_code = 1;
        context.diags = &diags;
        context.detail = detail;
        evaluation.feedback = guide_log(rules(), "", context);
      }
      return evaluation;
    }
    const std::lock_guard lock(mutex_);
    fine_.add(hash, may_fail);
    return std::nullopt;
  }

  // Returns true if the text cannot be bound, or if a check of some input finds an error or a
  // warning. The answer is known for a text that check() passed recently.
  bool may_fail(const std::string& text) const override {
    if (const auto known = known_may_fail(hash_of(text))) return *known;
    const std::shared_ptr<const CompiledText> known = compiled(text);
    if (!known->bound) return true;
    Diagnostics diags(known->said.source());
    const std::shared_lock memory(memory_);
    for (const Workload& input : inputs_) {
      check_run(*known->bound, input, diags, check_options());
    }
    return has_warning(diags.all());
  }

  // A mapping that a check refuses cannot run. So if the last mapping ran, the next one is run at
  // once, and the check is saved if it runs, too. Most random mappings are refused, and a check
  // finds that faster.
  bool runs_before_check() const override { return last_ran_; }

  // Compares the decisions of both mappings about every input.
  bool acts_alike(const std::string& a, const std::string& b) const override {
    const std::shared_ptr<const Decisions> first = decisions_of(a), second = decisions_of(b);
    return !first->empty() && !second->empty() &&
           std::equal(first->begin(), first->end(), second->begin(),
                      [](const MappingDecisions& one, const MappingDecisions& other) {
                        return one.are_same_as(other);
                      });
  }

  // Runs the inputs in their order, and stops at the first one that fails. The score is the
  // geometric mean of the run times in seconds.
  Evaluation evaluate(const EvaluationRequest& request) override {
    Evaluation evaluation;
    for (const Workload& input : inputs_) {
      if (!run_on(input, request, &evaluation)) {
        evaluation.values.clear();
        return evaluation;
      }
    }
    evaluation.status = Evaluation::Status::kOk;
    evaluation.score = geometric_mean(evaluation.values);
    last_ran_ = true;
    return evaluation;
  }

 private:
  // A text that was compiled and bound to the machine.
  struct CompiledText {
    // What there is to say about the text itself.
    Diagnostics said;
    // nullopt if the text has errors.
    std::optional<BoundProgram> bound;
  };
  // Compiles a text. Keeps the last ones, because a search uses each text several times.
  std::shared_ptr<const CompiledText> compiled(const std::string& text) const {
    const std::uint64_t hash = hash_of(text);
    {
      const std::lock_guard lock(mutex_);
      const auto* const known = compiled_.find(hash);
      if (known != nullptr && (*known)->said.source().text() == text) return *known;
    }
    CompiledText made{Diagnostics(Source("mapping", text)), {}};
    made.bound = bind(compile(made.said.source(), made.said), *machine_, made.said);
    auto kept = std::make_shared<const CompiledText>(std::move(made));
    const std::lock_guard lock(mutex_);
    compiled_.add(hash, kept);
    return kept;
  }
  static bool has_certain_fix(const Diagnostic& diagnostic) {
    return std::any_of(diagnostic.fixes.begin(), diagnostic.fixes.end(),
                       [](const Fix& fix) { return fix.sure; });
  }

  // The decisions of one mapping, for each input.
  using Decisions = std::vector<MappingDecisions>;

  // Returns the decisions of a mapping; empty if the text cannot be bound. Keeps those that were
  // used last, because a proposer compares many changes with the same few mappings.
  std::shared_ptr<const Decisions> decisions_of(const std::string& text) const {
    const std::uint64_t hash = hash_of(text);
    {
      const std::lock_guard lock(mutex_);
      if (const auto* known = decisions_.find(hash)) {
        // Adds the entry again, so that it is the last one to be evicted.
        auto decisions = *known;
        decisions_.erase(hash);
        decisions_.add(hash, decisions);
        return decisions;
      }
    }
    Decisions made;
    if (const std::optional<BoundProgram> bound = compiled(text)->bound) {
      for (const Workload& input : inputs_) made.emplace_back(*bound, input);
    }
    auto decisions = std::make_shared<const Decisions>(std::move(made));
    const std::lock_guard lock(mutex_);
    decisions_.add(hash, decisions);
    return decisions;
  }
  // Returns what may_fail() answers for a text that check() passed recently, by the hash of the
  // text.
  std::optional<bool> known_may_fail(std::uint64_t hash) const {
    const std::lock_guard lock(mutex_);
    const bool* const known = fine_.find(hash);
    return known == nullptr ? std::nullopt : std::optional(*known);
  }
  // Several runs are concurrent, and each may use an equal share of the memory. A run that needs
  // more is repeated while no other runs, and may then use all of the memory.
  std::int64_t share_of_memory() const { return options_.max_bytes / parallel(); }
  CheckOptions check_options() const {
    CheckOptions options;
    options.max_bytes = share_of_memory();
    options.stop = options_.stop;
    return options;
  }
  // Runs one input within its share of the memory. If the share is too small, runs the input again
  // with all of the memory while no other run is active.
  RunResult run_in_memory(const BoundProgram& bound, const Workload& input,
                          SimulateOptions* options, Diagnostics& diags) const {
    {
      const std::shared_lock memory(memory_);
      Diagnostics said = diags;
      RunResult result = groma::run(bound, input, *options, said);
      if (result.status != RunStatus::kTooLarge || options->max_bytes == options_.max_bytes) {
        diags = std::move(said);
        return result;
      }
    }
    const std::unique_lock memory(memory_);
    options->max_bytes = options_.max_bytes;
    return groma::run(bound, input, *options, diags);
  }

  // Compiles the rules of the guide when they are first needed, once for all threads.
  const GuideRules& rules() const {
    std::call_once(once_, [this] { rules_ = std::move(GuideRules::make()).value(); });
    return *rules_;
  }

  // Runs one input and appends its run time to the values. Returns false if the run fails;
  // `evaluation` then says why. Only the first input is recorded for the profile, since recording
  // costs time.
  bool run_on(const Workload& input, const EvaluationRequest& request,
              Evaluation* evaluation) const {
    const std::shared_ptr<const CompiledText> known = compiled(request.text);
    const std::optional<BoundProgram>& bound = known->bound;
    Diagnostics diags = known->said;
    const bool explains = request.detail > GuideDetail::kExecution;
    const bool is_first = evaluation->values.empty();
    const auto end = std::chrono::steady_clock::now() + kLongestRun;
    GuidedRun guided{&input, machine_, bound ? &*bound : nullptr, options_, &diags};
    guided.options.stop = [&] {
      return (request.stop && request.stop()) || std::chrono::steady_clock::now() > end;
    };
    guided.options.max_bytes = share_of_memory();
    guided.options.record = explains && is_first;
    std::optional<RunResult> result;
    if (bound) result = run_in_memory(*bound, input, &guided.options, diags);
    guided.result = result ? &*result : nullptr;
    if (result && result->ok()) {
      evaluation->values.push_back(std::max(result->seconds, kShortest));
      if (!guided.options.record) return true;
      const Profile profile = make_profile(result->record);
      guided.profile = &profile;
      evaluation->feedback = guide_run(guided, kNoTrials);
      name(input, &evaluation->feedback);
      return true;
    }
    // A run that was stopped exceeded its time limit, or the search ended.
    const bool stopped = result && result->status == RunStatus::kStopped;
    evaluation->status = !result   ? Evaluation::Status::kRefused
                         : stopped ? Evaluation::Status::kTimedOut
                                   : Evaluation::Status::kFailed;
    if (request.detail != GuideDetail::kNone) {
      evaluation->feedback = guide_run(guided, kNoTrials, &rules());
      name(input, &evaluation->feedback);
    }
    return false;
  }

  // Appends the name of the input to the feedback if there are several inputs.
  void name(const Workload& input, GuideFeedback* feedback) const {
    if (inputs_.size() > 1) feedback->execution += fmt::format(" (of {})", name_of(input));
  }

  std::shared_ptr<const Machine> machine_;
  std::vector<Workload> inputs_;
  SimulateOptions options_;
  // Limit on the number of texts for which fine_ is known. The search checks a text again soon
  // after a proposer has checked it, so a few suffice.
  static constexpr std::size_t kRemembered = 256;
  mutable std::mutex mutex_;
  // A run holds this lock exclusively while it may use all of the memory.
  mutable std::shared_mutex memory_;
  // For texts that have no errors, by hash: the answer of may_fail().
  mutable RecentMap<bool> fine_{kRemembered};
  // What compiled() returned for the last texts, by the hash of the text.
  mutable RecentMap<std::shared_ptr<const CompiledText>> compiled_{kRemembered};
  // True if the last text that was checked or run did run.
  mutable std::atomic<bool> last_ran_ = false;
  // What decisions_of() returned for the last texts, by the hash of the text. Only a few are kept,
  // because the decisions about an application with many launches take megabytes.
  static constexpr std::size_t kRememberedDecisions = 16;
  mutable RecentMap<std::shared_ptr<const Decisions>> decisions_{kRememberedDecisions};
  mutable std::once_flag once_;
  mutable std::optional<GuideRules> rules_;
};

}  // namespace

double geometric_mean(std::span<const double> values) {
  // A single value is returned as it is, without the rounding of log and exp.
  if (values.size() == 1) return values.front();
  double sum = 0;
  for (const double value : values) sum += std::log(value);
  return std::exp(sum / static_cast<double>(values.size()));
}

std::unique_ptr<Evaluator> make_simulated_evaluator(std::shared_ptr<const Machine> machine,
                                                    std::vector<Workload> inputs,
                                                    SimulateOptions options) {
  return std::make_unique<SimulatedEvaluator>(std::move(machine), std::move(inputs),
                                              std::move(options));
}

}  // namespace groma::tuning
