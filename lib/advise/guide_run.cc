// guide_run(): returns the guide's feedback about a run. The function tries changes of the mapping
// in the embedded runtime (a simulator), and suggests only changes that helped.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <set>
#include <utility>

#include "advise/changes.h"
#include "explain/words.h"
#include "groma/advise.h"
#include "groma/run.h"
#include "guide/advice.h"
#include "guide/profile_advice.h"
#include "program/data.h"

namespace groma {
namespace {

using inspect::ProposedChange;

// A change that shall make a run faster is suggested only if the run then takes at most this
// fraction of its time before.
constexpr double kWorthSaying = 0.98;
// Limit on the changes that are suggested.
constexpr std::size_t kSuggested = 3;
// Limit on the number of successive changes that together make a failing run possible.
constexpr std::size_t kMostSteps = 6;
// A trial is a simulated run of a changed mapping. A trial with this limit on the iterations of
// each loop runs all iterations, so it is a whole run.
constexpr std::int64_t kWhole = INT64_MAX;
// A shortened trial runs at least two iterations of each loop, because the first iteration of a
// trace differs from the others.
constexpr std::int64_t kLeastIterations = 2;
// Trials are shortened so that all of them together stay within the limit on tasks. If even the
// shortest trials are too long for this, at least this many trials must be possible, else trials
// are not shortened.
constexpr std::int64_t kFewTrials = 4;
constexpr double kAnyTime = std::numeric_limits<double>::infinity();

// Describes how much faster a run became: "1.8 times as fast" or, for small gains, "6 % faster".
// `before` and `after` are times in seconds.
std::string gain_words(double before, double after) {
  const double gain = before / std::max(after, kPicosecond);
  return gain >= 1.095 ? fmt::format("{:.1f} times as fast", gain)
                       : fmt::format("{:.0f} % faster", 100 * (gain - 1));
}

// Returns a fix with one edit that turns the text `from` into `to`: the edit replaces the part
// between their common beginning and their common end. UTF-8 characters are not split.
Fix difference(const Source& from, std::string_view to, std::string title) {
  const std::string_view text = from.text();
  const std::size_t most = std::min(text.size(), to.size());
  std::size_t begin = 0, end = 0;
  while (begin < most && text[begin] == to[begin]) ++begin;
  while (end < most - begin && text[text.size() - 1 - end] == to[to.size() - 1 - end]) ++end;
  // Returns true if the offset `at` is inside a UTF-8 character of the text.
  const auto within = [&](std::size_t at) {
    return at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80;
  };
  while (begin > 0 && within(begin)) --begin;
  while (end > 0 && within(text.size() - end)) --end;
  const Range range{static_cast<std::uint32_t>(begin),
                    static_cast<std::uint32_t>(text.size() - end)};
  return {
      std::move(title), {{range, std::string(to.substr(begin, to.size() - end - begin))}}, false};
}

// Tries changes of a mapping in the simulator, within the limits on runs and tasks, and adds the
// changes that helped to the feedback.
class Adviser {
 public:
  // Copies the description of the run, but switches off recording and noise in the copy. Marks the
  // text of the run's mapping as tried, so that no change leads back to it.
  Adviser(const GuidedRun& run, const GuideLimits& limits)
      : run_(run),
        noisy_(run.options.noise > 0),
        failed_(run.result == nullptr || !run.result->ok()),
        app_(run.workload->data()),
        most_tasks_(limits.tasks),
        runs_left_(limits.runs),
        whole_left_(limits.whole_runs),
        tasks_left_(limits.tasks) {
    run_.options.record = false;
    // Random noise in the simulated times must not favour one mapping over another.
    run_.options.noise = 0;
    std::size_t applied = 0;
    seen_.insert(apply_fixes(source(), {}, &applied));
  }

  // Returns true if changes of the mapping may be tried. If the run was too large, no change helps,
  // because the size of a run does not depend on the mapping.
  bool may_try() const {
    return runs_left_ > 0 && run_.result != nullptr && run_.result->status != RunStatus::kTooLarge;
  }

  // Tries changes for the tasks and regions that take the most time, and suggests the fastest
  // changes. If the run has too many tasks for trials of the whole run, the trials are shortened,
  // and the best ones are repeated as whole runs.
  void make_faster(GuideFeedback* feedback) {
    const std::int64_t whole = run_.result->tasks;
    const double before = noisy_ ? run_without_noise(kWhole).seconds : run_.result->seconds;
    double of_trials = before;
    // The number of point tasks in one trial.
    std::int64_t tasks = whole;
    if (whole > tasks_left_ / static_cast<std::int64_t>(runs_left_)) shorten(&of_trials, &tasks);
    if (tasks > tasks_left_) return say_why_not(feedback);
    const Program program = this->program();
    const std::string measured = profile_words_of(*run_.workload, *run_.machine, nullptr).measured;
    std::vector<TriedChange> found;
    bool all = true;
    // The suggestions from the profile come first. Those that are not tried are still made.
    std::vector<guide::ProfileSuggestion> suggestions =
        guide::profile_suggestions(*feedback->profile, &program);
    std::vector<ProposedChange> changes;
    for (const auto& each : suggestions) changes.push_back(each.change);
    for (ProposedChange& each :
         inspect::faster_changes({program, *run_.machine, app_, uses_}, *run_.profile, measured)) {
      changes.push_back(std::move(each));
    }
    std::size_t tried = 0;
    for (ProposedChange& change : changes) {
      all = tasks_left_ >= tasks;
      if (!all) break;
      ++tried;
      auto attempt = this->attempt(source(), change.fix);
      if (!attempt || !attempt->result.ok()) continue;
      if (attempt->result.seconds > kWorthSaying * of_trials) continue;
      found.push_back({std::move(change), std::move(*attempt)});
    }
    const bool promising = !found.empty();
    found = best(std::move(found), kWorthSaying * before);
    const bool any = !found.empty();
    // A suggestion that was tried without success is not made.
    feedback->suggest.clear();
    for (std::size_t i = tried; i < suggestions.size(); ++i) {
      guide::add_sentence(guide::sentence_of(suggestions[i]), &feedback->suggest);
    }
    suggest(std::move(found), feedback, [&](double seconds) {
      return fmt::format("simulated {} ({})", gain_words(before, seconds), seconds_words(seconds));
    });
    if (!any && all) feedback->tried = true;
    if (tried_ > 0 && (!any || iterations_ != kWhole)) {
      feedback->explain.push_back(outcome_words(any, promising));
    }
    if (!all) {
      feedback->explain.push_back(
          fmt::format("Further changes were not tried: {} {} point tasks, and all trials together "
                      "may have {}.",
                      iterations_ == kWhole ? "the run has" : "even the shortened run has", tasks,
                      most_tasks_));
    }
  }

  // Searches for successive changes that together make a failing run possible. After each change
  // except the last, the run fails for another reason, which the next change addresses. After the
  // last change, the run succeeds.
  void make_possible(GuideFeedback* feedback) {
    std::string titles;
    // The titles of all changes so far, joined by "; then ", without the "add " at the beginning.
    // Empty if the first change does more than add statements.
    std::string added;
    std::vector<Edit> edits;
    Source at = source();
    std::vector<Refusal> why = run_.result->refusals;
    for (std::size_t step = 0; step < kMostSteps && !why.empty(); ++step) {
      Diagnostics diags(at);
      const Program program = compile(at, diags);
      std::vector<TriedChange> found;
      std::optional<TriedChange> further;
      std::vector<ProposedChange> changes =
          inspect::repairing_changes({program, *run_.machine, app_, uses_}, why.front());
      if (why.front().diagnostic.id == DiagId::kOutOfMemory) {
        changes = inspect::ordered_by_rehearsal(std::move(changes), at, run_, why.front());
      }
      // A third of the trials is kept for the next step, if there is one.
      const std::size_t kept = runs_left_ / 3;
      for (ProposedChange& change : changes) {
        if (further && found.empty() && runs_left_ <= kept) break;
        auto attempt = this->attempt(at, change.fix);
        if (!attempt) continue;
        if (attempt->result.ok()) {
          found.push_back({std::move(change), std::move(*attempt)});
        } else if (is_another(attempt->result, why.front()) &&
                   (!further || attempt->result.tasks > further->attempt.result.tasks)) {
          // The change with which the most tasks ran before the failure is the best first step.
          further = {std::move(change), std::move(*attempt)};
        }
      }
      found = best(std::move(found), kAnyTime);
      if (!found.empty()) {
        for (TriedChange& each : found) {
          if (step == 0) continue;
          each.change.added =
              added.empty() ? "" : fmt::format("{}; then {}", added, each.change.fix.title);
          each.change.fix = steps(edits, each.change.fix.edits, each.attempt.source.text(),
                                  fmt::format("{}; then {}", titles, each.change.fix.title));
        }
        return suggest(std::move(found), feedback, runs_words);
      }
      if (!further) break;
      if (titles.empty()) {
        added = further->change.added;
      } else if (!added.empty()) {
        added += "; then " + further->change.fix.title;
      }
      titles += (titles.empty() ? "" : "; then ") + further->change.fix.title;
      edits = steps(edits, further->change.fix.edits, further->attempt.source.text(), "").edits;
      at = further->attempt.source;
      why = further->attempt.result.refusals;
    }
    if (tried_ > 0 && !unknown_) {
      feedback->explain.push_back(
          fmt::format("None of {} changed mappings that were tried runs either.", tried_));
    }
  }

  // Suggests the fixes that the diagnostics of a mapping propose, if the mapping with all fixes
  // runs. Of several fixes that overlap, only the first one is applied.
  void make_readable(GuideFeedback* feedback) {
    std::vector<Fix> fixes;
    Fix whole;
    for (const Diagnostic& diagnostic : run_.diags->sorted()) {
      if (diagnostic.severity != Severity::kError || diagnostic.fixes.empty()) continue;
      fixes.push_back(diagnostic.fixes.front());
      std::size_t applied = 0;
      apply_fixes(source(), fixes, &applied);
      // The fix overlaps an earlier fix and is dropped.
      if (applied < fixes.size()) {
        fixes.pop_back();
        continue;
      }
      const Fix& fix = fixes.back();
      whole.edits.insert(whole.edits.end(), fix.edits.begin(), fix.edits.end());
      whole.title += fmt::format("{}in line {} {}", whole.title.empty() ? "" : "; ",
                                 source().position(fix.edits.front().range.begin).line, fix.title);
    }
    auto attempt = fixes.empty() ? std::nullopt : this->attempt(source(), whole);
    if (!attempt || !attempt->result.ok()) return;
    suggest(best({{{"", std::move(whole)}, std::move(*attempt)}}, kAnyTime), feedback, runs_words);
  }

 private:
  // A changed mapping program and the result of its simulated run.
  struct Attempt {
    Source source;
    RunResult result;
  };
  // A change of the mapping, and the simulated run that tried the change.
  struct TriedChange {
    ProposedChange change;
    Attempt attempt;
  };

  const Source& source() const { return run_.diags->source(); }

  // Returns the mapping program that was run. If there is no bound program, compiles the text
  // again.
  Program program() const {
    if (run_.bound != nullptr) return run_.bound->program();
    Diagnostics ignored(source());
    return compile(source(), ignored);
  }

  // Returns one fix of the original program that has the effect of the edits `first` followed by
  // the edits `second`. `text` is the resulting text.
  Fix steps(const std::vector<Edit>& first, const std::vector<Edit>& second, std::string_view text,
            std::string title) const {
    auto edits = edit::join_edits(first, second);
    std::size_t applied = 0;
    if (!edits || apply_fixes(source(), {{"", *edits, false}}, &applied) != text) {
      return difference(source(), text, std::move(title));
    }
    return {std::move(title), *std::move(edits), false};
  }

  // Simulates the unchanged mapping without noise, with a limit on the iterations of each loop and
  // on the tasks. The times of trials are compared with the time of this run.
  RunResult run_without_noise(std::int64_t iterations, std::int64_t most_tasks = INT64_MAX) const {
    Diagnostics ignored(source());
    SimulateOptions options = run_.options;
    options.max_iterations = iterations;
    options.max_tasks = std::min(options.max_tasks, most_tasks);
    return run_.bound != nullptr ? groma::run(*run_.bound, *run_.workload, options, ignored)
                                 : run_default(run_.machine, *run_.workload, options, ignored);
  }

  // Limits the iterations in a trial so that the limit on tasks suffices for all trials, or at
  // least for a few. A trial runs at least two iterations of each loop. If this is impossible,
  // trials stay whole runs. Sets `*seconds` and `*tasks` to the time and the number of tasks of a
  // trial.
  void shorten(double* seconds, std::int64_t* tasks) {
    const std::int64_t share = most_tasks_ / static_cast<std::int64_t>(runs_left_);
    for (std::int64_t iterations = kLeastIterations; tasks_left_ > 0; iterations *= 2) {
      const std::int64_t most =
          iterations == kLeastIterations ? std::max(share, most_tasks_ / kFewTrials) : share;
      const RunResult run = run_without_noise(iterations, most);
      tasks_left_ -= std::max<std::int64_t>(1, run.tasks);
      if (!run.ok() || run.tasks == run_.result->tasks) return;
      iterations_ = iterations;
      *seconds = run.seconds;
      *tasks = run.tasks;
    }
  }

  void say_why_not(GuideFeedback* feedback) const {
    feedback->explain.push_back(fmt::format(
        "No change was tried: the run has {} point tasks, more than the {} of all trials together; "
        "a run of fewer steps or pieces can be tried.",
        run_.result->tasks, most_tasks_));
  }

  // Returns a sentence that says how many changed mappings were tried and whether one of them helps
  // (`any`). `promising` is true if a trial was faster.
  std::string outcome_words(bool any, bool promising) const {
    std::string text = fmt::format("Of {} changed mappings, one statement each, ", tried_);
    if (any) {
      text = fmt::format("{} changed mappings, one statement each, were tried ", tried_);
    } else if (!promising) {
      text += "none is simulated as 2 % faster or more";
    } else {
      text += "none is simulated as 2 % faster or more in the whole run";
    }
    if (iterations_ == kWhole) return text + ".";
    text += fmt::format("{}{} iterations of each outer loop",
                        any ? "with " : "; they were tried with ", iterations_);
    if (promising) text += ", the best of them then in the whole run";
    return text + ".";
  }

  // Applies a fix to the mapping `from` and simulates the result. Returns nullopt if the changed
  // text is not valid or was tried before, if no trials are left, or if the run was stopped or too
  // large.
  std::optional<Attempt> attempt(const Source& from, const Fix& fix) {
    std::size_t applied = 0;
    std::string text = apply_fixes(from, {fix}, &applied);
    if (runs_left_ == 0 || tasks_left_ <= 0 || applied != 1 || !seen_.insert(text).second)
      return std::nullopt;
    Source source(from.name(), std::move(text));
    Diagnostics diags(source);
    const auto bound = bind(compile(source, diags), *run_.machine, diags);
    if (!bound) return std::nullopt;
    RunResult result = trial(*bound);
    if (result.status == RunStatus::kTooLarge && iterations_ == kWhole && failed_) {
      iterations_ = kLeastIterations;
      result = trial(*bound);
    }
    --runs_left_;
    if (result.status == RunStatus::kStopped || result.status == RunStatus::kTooLarge) {
      unknown_ = true;
      if (result.status == RunStatus::kStopped) runs_left_ = 0;
      return std::nullopt;
    }
    ++tried_;
    return Attempt{std::move(source), std::move(result)};
  }

  // Simulates a mapping as a trial, and subtracts the number of its tasks from the limit on tasks
  // of all trials. If the original run failed, the length of a successful run is unknown. A trial
  // then gets at most half of the remaining tasks, so that a shorter trial can follow.
  RunResult trial(const BoundProgram& bound) {
    SimulateOptions options = run_.options;
    options.max_iterations = iterations_;
    const bool halve = iterations_ == kWhole && failed_;
    options.max_tasks = std::min(options.max_tasks, halve ? (tasks_left_ + 1) / 2 : tasks_left_);
    Diagnostics ignored(bound.program().source());
    RunResult result = groma::run(bound, *run_.workload, options, ignored);
    tasks_left_ -= std::max<std::int64_t>(1, result.tasks);
    return result;
  }

  // Returns true if a run was refused for another reason than `before`, which counts as progress.
  static bool is_another(const RunResult& result, const Refusal& before) {
    if (result.refusals.empty()) return false;
    const Diagnostic& now = result.refusals.front().diagnostic;
    return now.id != before.diagnostic.id || now.args != before.diagnostic.args;
  }

  static std::string runs_words(double seconds) {
    return fmt::format("it then runs, in {} simulated", seconds_words(seconds));
  }

  // Returns the fastest kSuggested changes that were tried, at most one for each changed decision.
  // If trials are shortened, each of these changes is tried again in a whole run, and is dropped if
  // that run takes more than `most_seconds`.
  std::vector<TriedChange> best(std::vector<TriedChange> found, double most_seconds) {
    const auto by_seconds = [](const TriedChange& a, const TriedChange& b) {
      return a.attempt.result.seconds < b.attempt.result.seconds;
    };
    std::stable_sort(found.begin(), found.end(), by_seconds);
    std::set<std::string> about;
    std::vector<TriedChange> best;
    for (TriedChange& each : found) {
      if (best.size() == kSuggested) break;
      if (about.contains(each.change.decision_key)) continue;
      if (iterations_ != kWhole) {
        if (whole_left_ == 0) break;
        --whole_left_;
        Diagnostics diags(each.attempt.source);
        const auto bound = bind(compile(each.attempt.source, diags), *run_.machine, diags);
        each.attempt.result = groma::run(*bound, *run_.workload, run_.options, diags);
        const RunResult& whole = each.attempt.result;
        if (!whole.ok() || whole.seconds > most_seconds) continue;
      }
      about.insert(each.change.decision_key);
      best.push_back(std::move(each));
    }
    std::stable_sort(best.begin(), best.end(), by_seconds);
    return best;
  }

  // Replaces the guide's suggestions by the changes in `found`, which were tried. Does nothing if
  // `found` is empty.
  template <typename Words>
  void suggest(std::vector<TriedChange> found, GuideFeedback* feedback, const Words& words) {
    std::vector<std::string> said;
    for (TriedChange& each : found) {
      std::string text = each.change.fix.title;
      if (source().text().empty() && !each.change.added.empty()) {
        text = "Write a mapping with " + each.change.added;
      } else if (!source().name().empty()) {
        text = fmt::format("{}: {}", harmless(source().name()), text);
      }
      const std::string& reason = each.change.reason;
      said.push_back(fmt::format("{}: {}{}{}.", text, words(each.attempt.result.seconds),
                                 reason.empty() ? "" : "; ", reason));
      feedback->fixes.push_back(std::move(each.change.fix));
    }
    if (said.size() > 1) {
      said.emplace_back("Each of these was simulated by itself, without the others.");
    }
    if (said.empty()) return;
    feedback->suggest = std::move(said);
    feedback->tried = true;
  }

  // The run to improve. Recording and noise are switched off in its options.
  GuidedRun run_;
  bool noisy_, failed_;
  const app::Data& app_;
  bool complete_ = true;
  const std::vector<TaskLaunches> uses_ = launches_by_task(app_, complete_);
  const std::int64_t most_tasks_;
  std::size_t runs_left_, whole_left_, tried_ = 0;
  std::int64_t tasks_left_;
  // Limit on the iterations of each loop in a trial.
  std::int64_t iterations_ = kWhole;
  // True if some trial was stopped or too large, so that its result is unknown.
  bool unknown_ = false;
  // The texts of the mappings that were tried.
  std::set<std::string> seen_;
};

}  // namespace

// Returns the names of the kinds of processors and memories that the machine does not have.
std::vector<std::string> missing_machine_kinds(const Machine& machine) {
  std::vector<std::string> names;
  for (std::size_t k = 0; k < kProcKindCount; ++k) {
    const auto kind = static_cast<ProcKind>(k);
    if (!machine.has(kind)) names.emplace_back(name_of(kind));
  }
  for (std::size_t m = 0; m < kMemKindCount; ++m) {
    const auto memory = static_cast<MemKind>(m);
    const bool there = memory == MemKind::kVirtual ||
                       std::any_of(machine.node_types().begin(), machine.node_types().end(),
                                   [&](const NodeType& node) { return node.find(memory); });
    if (!there) names.emplace_back(name_of(memory));
  }
  return names;
}

// Explains a run by the guide's rules and by its profile, then tries changes of the mapping. After
// a successful run, the changes may make the run faster. After a failed run, they may make it
// possible.
GuideFeedback guide_run(const GuidedRun& run, const GuideLimits& limits, const GuideRules* rules) {
  const Program* program = run.bound != nullptr ? &run.bound->program() : nullptr;
  Adviser adviser(run, limits);
  if (run.result != nullptr && run.result->ok()) {
    const ProfileFacts facts =
        facts_of(*run.profile, profile_words_of(*run.workload, *run.machine, program));
    GuideFeedback feedback;
    feedback.status = GuideFeedback::Status::kOk;
    feedback.known = true;
    feedback.profile = facts;
    guide::explain_profile(facts, program, run.machine->has(ProcKind::kGpu), &feedback);
    if (adviser.may_try()) adviser.make_faster(&feedback);
    return feedback;
  }
  std::optional<GuideRules> own;
  if (rules == nullptr) own = std::move(GuideRules::make()).value();
  GuideContext context;
  context.exit_code = 1;
  context.program = program;
  const bool stopped = run.result != nullptr && run.result->status == RunStatus::kStopped;
  // The output of a stopped run says why it was stopped, so its diagnostics are not needed.
  if (!stopped) context.diags = run.diags;
  context.lacking = missing_machine_kinds(*run.machine);
  GuideFeedback feedback = guide_log(rules == nullptr ? *own : *rules,
                                     run.result == nullptr ? "" : run.result->raw, context);
  feedback.fixes.clear();
  if (run.result == nullptr) {
    adviser.make_readable(&feedback);
  } else if (adviser.may_try()) {
    adviser.make_possible(&feedback);
  }
  return feedback;
}

}  // namespace groma
