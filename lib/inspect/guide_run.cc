// guide_run: the guide's words about a run, and changes of its mapping that were tried.
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "groma/run.h"
#include "inspect/changes.h"
#include "inspect/words.h"
#include "program/data.h"

namespace groma {
namespace {

using inspect::Change;

constexpr double kWorthSaying = 0.98;  // of the time that it was
constexpr std::size_t kSuggested = 3;
constexpr std::size_t kMostSteps = 6;  // that together make a run possible

// "1.8 times as fast", "6 % faster"
std::string gain_words(double before, double after) {
  const double gain = before / std::max(after, kPicosecond);
  return gain >= 1.095 ? fmt::format("{:.1f} times as fast", gain)
                       : fmt::format("{:.0f} % faster", 100 * (gain - 1));
}

// What lies between what both texts begin and end with.
Fix difference(const Source& from, std::string_view to, std::string title) {
  const std::string_view text = from.text();
  const std::size_t most = std::min(text.size(), to.size());
  std::size_t begin = 0, end = 0;
  while (begin < most && text[begin] == to[begin]) ++begin;
  while (end < most - begin && text[text.size() - 1 - end] == to[to.size() - 1 - end]) ++end;
  const auto within = [&](std::size_t at) {  // a character
    return at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80;
  };
  while (begin > 0 && within(begin)) --begin;
  while (end > 0 && within(text.size() - end)) --end;
  const Range range{static_cast<std::uint32_t>(begin),
                    static_cast<std::uint32_t>(text.size() - end)};
  return {
      std::move(title), {{range, std::string(to.substr(begin, to.size() - end - begin))}}, false};
}

// The edits of `first`, then those that `second` makes of what comes out, as edits of one text.
// Nothing where the second changes across the border of what the first wrote.
std::optional<std::vector<Edit>> joined(std::vector<Edit> first, const std::vector<Edit>& second) {
  std::stable_sort(first.begin(), first.end(),
                   [](const Edit& a, const Edit& b) { return a.range.begin < b.range.begin; });
  const std::vector<Edit> written = first;
  std::vector<Edit> all;
  for (const Edit& edit : second) {
    const std::int64_t begin = edit.range.begin, end = edit.range.end;
    std::int64_t shift = 0;
    bool inside = false;
    for (std::size_t i = 0; i < written.size() && !inside; ++i) {
      const Range range = written[i].range;
      const std::int64_t from = range.begin + shift;
      const std::int64_t to = from + static_cast<std::int64_t>(written[i].text.size());
      if (end <= from) break;
      if (begin >= to) {
        shift += to - from - static_cast<std::int64_t>(range.end - range.begin);
        continue;
      }
      if (begin < from || end > to || first[i].text != written[i].text) return std::nullopt;
      first[i].text.replace(static_cast<std::size_t>(begin - from),
                            static_cast<std::size_t>(end - begin), edit.text);
      inside = true;
    }
    if (inside) continue;
    all.push_back(
        {{static_cast<std::uint32_t>(begin - shift), static_cast<std::uint32_t>(end - shift)},
         edit.text});
  }
  all.insert(all.end(), first.begin(), first.end());
  return all;
}

class Adviser {
 public:
  Adviser(const GuidedRun& run, const GuideLimits& limits)
      : run_(run),
        noisy_(run.options.noise > 0),
        app_(run.workload->data()),
        most_tasks_(limits.tasks),
        runs_left_(limits.runs),
        tasks_left_(limits.tasks) {
    run_.options.record = false;
    run_.options.noise = 0;  // which is no reason to change a mapping
    std::size_t applied = 0;
    seen_.insert(apply_fixes(source(), {}, &applied));
  }

  // Whether anything can be tried at all.
  bool may_try() const {
    return runs_left_ > 0 && run_.result != nullptr && run_.result->tasks <= tasks_left_;
  }

  // Where nothing can be for the size of the run.
  void say_why_not(Feedback* feedback) const {
    if (run_.result->tasks <= tasks_left_) return;
    feedback->explain.push_back(fmt::format(
        "No change was tried: the run has {} point tasks, more than the {} of all trials together; "
        "a run of fewer steps or pieces can be tried.",
        run_.result->tasks, tasks_left_));
  }

  void make_faster(Feedback* feedback) {
    const Program program = this->program();
    const std::string measured = words_of(*run_.workload, *run_.machine, nullptr).measured;
    const double before = noisy_ ? seconds_without_noise() : run_.result->seconds;
    std::vector<Tried> found;
    std::size_t tried = 0;
    bool all = true;
    for (Change& change :
         inspect::faster_changes({program, *run_.machine, app_, uses_}, *run_.profile, measured)) {
      all = tasks_left_ >= run_.result->tasks;
      if (!all) break;
      auto attempt = this->attempt(source(), change.fix);
      if (!attempt) continue;
      ++tried;
      if (!attempt->result.ok() || attempt->result.seconds > kWorthSaying * before) continue;
      found.push_back({std::move(change), std::move(*attempt)});
    }
    const std::size_t said = suggest(std::move(found), feedback, [&](double seconds) {
      return fmt::format("simulated {} ({})", gain_words(before, seconds), seconds_words(seconds));
    });
    if (said == 0 && all) feedback->suggest.clear();  // what was not tried
    if (said == 0 && tried > 0) {
      feedback->explain.push_back(
          fmt::format("Of {} changed mappings, one statement each, none is simulated as 2 % faster "
                      "or more.",
                      tried));
    }
    if (!all) {
      feedback->explain.push_back(
          fmt::format("Further changes were not tried: the run has {} point tasks, and all trials "
                      "together may have {}.",
                      run_.result->tasks, most_tasks_));
    }
  }

  // Each step is a change after which the run fails of something else, the last those with which it
  // does not fail.
  void make_possible(Feedback* feedback) {
    std::string titles;
    std::vector<Edit> edits;
    Source at = source();
    std::vector<Refusal> why = run_.result->refusals;
    for (std::size_t step = 0; step < kMostSteps && !why.empty(); ++step) {
      Diagnostics diags(at);
      const Program program = compile(at, diags);
      std::vector<Tried> found;
      std::optional<Tried> further;
      for (Change& change :
           inspect::mending_changes({program, *run_.machine, app_, uses_}, why.front())) {
        auto attempt = this->attempt(at, change.fix);
        if (!attempt) continue;
        if (attempt->result.ok()) {
          found.push_back({std::move(change), std::move(*attempt)});
        } else if (!further && is_another(attempt->result, why.front())) {
          further = {std::move(change), std::move(*attempt)};
        }
      }
      if (!found.empty()) {
        for (Tried& each : found) {
          if (step == 0) continue;
          each.change.fix = steps(edits, each.change.fix.edits, each.attempt.source.text(),
                                  fmt::format("{}; then {}", titles, each.change.fix.title));
        }
        suggest(std::move(found), feedback, runs_words);
        return;
      }
      if (!further) break;
      titles += (titles.empty() ? "" : "; then ") + further->change.fix.title;
      edits = steps(edits, further->change.fix.edits, further->attempt.source.text(), "").edits;
      at = further->attempt.source;
      why = further->attempt.result.refusals;
    }
    if (tried_ > 0) {
      feedback->explain.push_back(
          fmt::format("None of {} changed mappings that were tried runs either.", tried_));
    }
  }

  // The corrections that the diagnostics of a program propose.
  void make_readable(Feedback* feedback) {
    std::vector<Fix> fixes;
    Fix whole;
    for (const Diagnostic& diagnostic : run_.diags->sorted()) {
      if (diagnostic.severity != Severity::kError || diagnostic.fixes.empty()) continue;
      fixes.push_back(diagnostic.fixes.front());
      std::size_t applied = 0;
      apply_fixes(source(), fixes, &applied);
      if (applied < fixes.size()) {  // in the way of one before
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
    suggest({{{"", std::move(whole)}, std::move(*attempt)}}, feedback, runs_words);
  }

 private:
  struct Attempt {
    Source source;
    RunResult result;
  };
  struct Tried {
    Change change;
    Attempt attempt;
  };

  const Source& source() const { return run_.diags->source(); }

  Program program() const {
    if (run_.bound != nullptr) return run_.bound->program();
    Diagnostics ignored(source());
    return compile(source(), ignored);
  }

  // Of the program, what these edits do one after the other, after which it is `text`.
  Fix steps(const std::vector<Edit>& first, const std::vector<Edit>& second, std::string_view text,
            std::string title) const {
    auto edits = joined(first, second);
    std::size_t applied = 0;
    if (!edits || apply_fixes(source(), {{"", *edits, false}}, &applied) != text) {
      return difference(source(), text, std::move(title));
    }
    return {std::move(title), *std::move(edits), false};
  }

  double seconds_without_noise() const {
    Diagnostics ignored(source());
    return (run_.bound != nullptr
                ? groma::run(*run_.bound, *run_.workload, run_.options, ignored)
                : run_default(run_.machine, *run_.workload, run_.options, ignored))
        .seconds;
  }

  // Nothing where it is no new mapping, or none at all.
  std::optional<Attempt> attempt(const Source& from, const Fix& fix) {
    std::size_t applied = 0;
    std::string text = apply_fixes(from, {fix}, &applied);
    if (runs_left_ == 0 || tasks_left_ <= 0 || applied != 1 || !seen_.insert(text).second)
      return std::nullopt;
    Source source(from.name(), std::move(text));
    Diagnostics diags(source);
    const auto bound = bind(compile(source, diags), *run_.machine, diags);
    if (!bound) return std::nullopt;
    SimulateOptions options = run_.options;
    options.max_tasks = std::min(options.max_tasks, tasks_left_);
    RunResult result = groma::run(*bound, *run_.workload, options, diags);
    tasks_left_ -= std::max<std::int64_t>(1, result.tasks);
    const bool cut_off =
        options.max_tasks < run_.options.max_tasks && !result.refusals.empty() &&
        result.refusals.front().diagnostic.message.find(
            fmt::format("more than {} tasks are launched", options.max_tasks)) != std::string::npos;
    if (result.status == RunStatus::kStopped || cut_off) {
      runs_left_ = tried_ = 0;  // what it would have been is not known
      return std::nullopt;
    }
    --runs_left_;
    ++tried_;
    return Attempt{std::move(source), std::move(result)};
  }

  static bool is_another(const RunResult& result, const Refusal& before) {
    return !result.refusals.empty() &&
           result.refusals.front().diagnostic.message != before.diagnostic.message;
  }

  static std::string runs_words(double seconds) {
    return fmt::format("it then runs, in {} simulated", seconds_words(seconds));
  }

  // The fastest, of changes of one thing only that; instead of what was not tried. How many.
  template <typename Words>
  std::size_t suggest(std::vector<Tried> found, Feedback* feedback, const Words& words) {
    std::stable_sort(found.begin(), found.end(), [](const Tried& a, const Tried& b) {
      return a.attempt.result.seconds < b.attempt.result.seconds;
    });
    std::set<std::string> about;
    std::vector<std::string> said;
    for (Tried& each : found) {
      if (said.size() == kSuggested) break;
      if (!about.insert(each.change.about).second) continue;
      std::string text = each.change.fix.title;
      if (source().text().empty() && text.starts_with("add ")) {
        text = "Write a mapping with " + text.substr(4);
      } else if (!source().name().empty()) {
        text = fmt::format("{}: {}", harmless(source().name()), text);
      }
      said.push_back(fmt::format("{}: {}.", text, words(each.attempt.result.seconds)));
      feedback->fixes.push_back(std::move(each.change.fix));
    }
    if (said.size() > 1) {
      said.emplace_back("Each of these was simulated by itself, without the others.");
    }
    if (!said.empty()) feedback->suggest = std::move(said);
    return feedback->fixes.size();
  }

  GuidedRun run_;  // without record and noise
  bool noisy_;
  const app::Data& app_;
  bool complete_ = true;
  const std::vector<TaskUses> uses_ = uses_by_task(app_, complete_);
  const std::int64_t most_tasks_;
  std::size_t runs_left_, tried_ = 0;
  std::int64_t tasks_left_;
  std::set<std::string> seen_;  // texts
};

std::vector<std::string> lacking(const Machine& machine) {
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

}  // namespace

Feedback guide_run(const GuidedRun& run, const GuideLimits& limits, const GuideRules* rules) {
  const Program* program = run.bound != nullptr ? &run.bound->program() : nullptr;
  Adviser adviser(run, limits);
  if (run.result != nullptr && run.result->ok()) {
    const ProfileFacts facts =
        facts_of(*run.profile, words_of(*run.workload, *run.machine, program));
    Feedback feedback = guide_profile(facts, program);
    if (adviser.may_try()) {
      adviser.make_faster(&feedback);
    } else {
      adviser.say_why_not(&feedback);
    }
    return feedback;
  }
  std::optional<GuideRules> own;
  if (rules == nullptr) own = std::move(GuideRules::make()).value();
  GuideContext context;
  context.exit_code = 1;
  context.program = program;
  const bool stopped = run.result != nullptr && run.result->status == RunStatus::kStopped;
  if (!stopped) context.diags = run.diags;  // else its own words say more
  context.lacking = lacking(*run.machine);
  Feedback feedback = guide_log(rules == nullptr ? *own : *rules,
                                run.result == nullptr ? "" : run.result->raw, context);
  feedback.fixes.clear();
  if (run.result == nullptr) {
    adviser.make_readable(&feedback);
  } else if (adviser.may_try()) {
    adviser.make_possible(&feedback);
  } else if (!stopped) {
    adviser.say_why_not(&feedback);
  }
  return feedback;
}

}  // namespace groma
