// Builds a GuideFeedback from what the guide's rules matched in a run's output, from Groma's
// diagnostics and from the run's profile. Causes come before consequences, and errors before
// warnings.
#include "groma/guide.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>

#include "groma/harmless.h"
#include "guide/advice.h"
#include "guide/detail.h"
#include "guide/metric_advice.h"
#include "guide/scanner.h"
#include "guide/shortages.h"
#include "guide/words.h"

namespace groma {

// A level of detail includes all lower levels, so a part of the feedback is kept if `detail` is at
// least the level of that part.
void remove_details_above(GuideDetail detail, GuideFeedback* feedback) {
  if (detail < GuideDetail::kProfile) feedback->profile.reset();
  if (detail < GuideDetail::kSuggest) {
    feedback->suggest.clear();
    feedback->fixes.clear();
  }
  if (detail < GuideDetail::kExplain) feedback->explain.clear();
  if (detail < GuideDetail::kExecution) {
    feedback->execution.clear();
    feedback->shortage.reset();
    feedback->last_lines.clear();
    feedback->matches.clear();
  }
}

namespace guide {
namespace {

// Limit on the findings that a feedback explains.
constexpr std::size_t kMaxExplained = 4;
constexpr std::size_t kShownText = 300;
constexpr std::size_t kShownStatement = 100;

// A line of a log that follows a message and belongs to that message, such as a note.
struct FollowingLine {
  enum class Kind : std::uint8_t { kNote, kHelp, kWhat, kOther } kind;
  // The text of the line without the prefix that marks its kind, such as "note: ".
  std::string text;
};

// Returns the kind and the text of a log line that follows a message. The prefix of the line, such
// as "note: ", decides the kind.
FollowingLine following_line(std::string_view line) {
  using Kind = FollowingLine::Kind;
  constexpr std::pair<std::string_view, Kind> kMarks[] = {
      {"note: ", Kind::kNote}, {"help: ", Kind::kHelp}, {"what():", Kind::kWhat}};
  for (const auto& [mark, kind] : kMarks) {
    if (line.starts_with(mark)) return {kind, std::string(line.substr(mark.size()))};
  }
  return {Kind::kOther, std::string(line)};
}

// Something that is known about a run: a rule that matched in the log, a diagnostic of Groma, or
// how the run ended.
struct Finding {
  // The rule that matched. Null for a diagnostic of Groma for which there is no rule.
  const Rule* rule = nullptr;
  GuideMatch match;
  RuleRole role = RuleRole::kError;
  std::int64_t order = 0;
  CapturedGroups groups;
  std::vector<FollowingLine> follow;
  // The source range that a diagnostic of Groma blames. Empty for matches in a log.
  std::optional<Range> range = {};
  std::optional<MemoryShortage> shortage = {};
};

// Returns true if a finding with this role means that the run failed.
bool fails(RuleRole role) {
  return role == RuleRole::kError || role == RuleRole::kGeneral || role == RuleRole::kSilent ||
         role == RuleRole::kConsequence;
}

// Builds the feedback about one run. Each object builds only one feedback.
class Composer {
 public:
  Composer(const RuleSet& rules, const LogScanner& scanner, const GuideContext& context)
      : rules_(rules), scanner_(scanner), context_(context) {}

  // Collects the findings about the run, sorts them by rank, and explains the most important ones.
  // Failures of the same rank stay in the order of the log. Warnings are sorted by how often they
  // occurred.
  GuideFeedback compose() {
    add_diagnostics();
    add_found();
    add_silent();
    std::stable_sort(findings_.begin(), findings_.end(), [](const Finding& a, const Finding& b) {
      if (rank(a) != rank(b)) return rank(a) < rank(b);
      const bool by_count = !fails(a.role) && a.match.count != b.match.count;
      return by_count ? a.match.count > b.match.count : a.order < b.order;
    });
    feedback_.score = context_.score ? context_.score : score_;
    set_status();
    feedback_.known = !findings_.empty() || ended_well_ || context_.profile != nullptr;
    explain();
    for (Finding& finding : findings_) feedback_.matches.push_back(std::move(finding.match));
    if (context_.profile != nullptr) feedback_.profile = *context_.profile;
    remove_details_above(context_.detail, &feedback_);
    return std::move(feedback_);
  }

 private:
  // Returns the rank of a finding; a smaller rank is more important. Only the findings with the
  // smallest rank are explained. Warnings and performance problems share a rank.
  static int rank(const Finding& finding) {
    return finding.role == RuleRole::kPerformance ? static_cast<int>(RuleRole::kWarning)
                                                  : static_cast<int>(finding.role);
  }

  // Adds a finding for each error and warning that Groma reported when it checked or ran the
  // mapping.
  void add_diagnostics() {
    if (context_.diags == nullptr) return;
    for (const Diagnostic& diagnostic : context_.diags->sorted()) {
      if (diagnostic.severity == Severity::kNote) continue;
      Finding finding;
      finding.rule = rules_.find_rule_for_diagnostic(diagnostic);
      finding.shortage = shortage_of(diagnostic);
      finding.match.from = GuideMatch::MatchSource::kGroma;
      finding.match.rule = finding.rule != nullptr
                               ? finding.rule->id
                               : fmt::format("groma.{}", name_of(diagnostic.id));
      finding.match.text = harmless(diagnostic.message);
      finding.role =
          diagnostic.severity == Severity::kError ? RuleRole::kError : RuleRole::kWarning;
      finding.order = static_cast<std::int64_t>(findings_.size());
      const Source& source = context_.diags->source();
      if (diagnostic.range) {
        const bool compile = finding.rule != nullptr && finding.rule->hook == "compile";
        if (!compile) finding.range = diagnostic.range;
        const Position at = source.position(diagnostic.range->begin);
        finding.groups["place"] = fmt::format("{}:{}:{}", source.name(), at.line, at.column);
      }
      finding.groups["message"] = finding.match.text;
      for (const DiagNote& note : diagnostic.notes) {
        finding.follow.push_back({FollowingLine::Kind::kNote, harmless(note.message)});
      }
      for (const std::string& help : diagnostic.helps) {
        finding.follow.push_back({FollowingLine::Kind::kHelp, harmless(help)});
      }
      for (const Fix& fix : diagnostic.fixes) feedback_.fixes.push_back(fix);
      if (!findings_.empty() && finding.range && finding.rule == findings_.back().rule &&
          same(*finding.range, findings_.back().range)) {
        // The same statement causes the same problem for another region requirement. The problem is
        // reported once and counted.
        ++findings_.back().match.count;
        continue;
      }
      findings_.push_back(std::move(finding));
    }
  }

  // Adds a finding for each rule that matched in the logs, except for rules about harmless messages
  // and success.
  void add_found() {
    const auto known = static_cast<std::int64_t>(findings_.size());
    const bool explained = context_.diags != nullptr && context_.diags->has_errors();
    for (std::size_t i = 0; i < scanner_.matches_by_rule().size(); ++i) {
      const RuleMatches& found = scanner_.matches_by_rule()[i];
      const Rule& rule = rules_.rules[i];
      if (found.count > 0 && rule.role == RuleRole::kSuccess) ended_well_ = true;
      if (found.count > 0 && !rule.lacking_processor_kind.empty())
        said_lacking_.insert(rule.lacking_processor_kind);
      const bool stays_out = rule.role == RuleRole::kHarmless || rule.role == RuleRole::kSuccess;
      if (found.count == 0 || stays_out) continue;
      // Groma's diagnostics explain the failure better than the runtime's message about the same
      // failure.
      if (explained && fails(found.role)) continue;
      Finding finding;
      finding.rule = &rule;
      finding.role = found.role;
      // The output of a run that ended well may contain words that a catch-all rule or a rule about
      // consequences matches. The match is then only a warning.
      const bool vague = found.role == RuleRole::kGeneral || found.role == RuleRole::kConsequence;
      if (vague && context_.exit_code == 0 && !context_.timed_out)
        finding.role = RuleRole::kWarning;
      finding.order = known + found.offset;
      for (const std::string& line : found.follow) finding.follow.push_back(following_line(line));
      const bool metric = rule.role == RuleRole::kMetric;
      finding.groups = captured_groups(rule, metric ? found.last_text : found.text);
      const std::string text = shown(metric ? found.last_text : found.text);
      finding.match = {
          rule.id,
          found.log,
          found.line,
          found.count,
          text,
          rule.by_groma ? GuideMatch::MatchSource::kGroma : GuideMatch::MatchSource::kProgram};
      finding.shortage = shortage_of(rule, finding.groups);
      if (!rule.diagnostic.empty()) {
        finding.match.text = fill_template("{place|error}: {message}", finding.groups);
      }
      if (metric) read_score(rule, finding.groups);
      findings_.push_back(std::move(finding));
    }
  }

  // Returns true if both source ranges are equal.
  static bool same(const Range& a, const std::optional<Range>& b) {
    return b && a.begin == b->begin && a.end == b->end;
  }

  // Returns a matched log text for a person: shortened, with control characters escaped, and
  // without the prefix of Realm's loggers, such as "[0 - 7f2c] 1.2 {5}{legion}: ".
  static std::string shown(std::string_view text) {
    const std::size_t level = text.find("}{");
    const std::size_t begin = text.starts_with("[") ? text.find("}: ", std::min(level, text.size()))
                                                    : std::string_view::npos;
    if (begin != std::string_view::npos) text.remove_prefix(begin + 3);
    while (text.starts_with(' ')) text.remove_prefix(1);
    return harmless(text, kShownText);
  }

  // Reads the score of the run from a match of a metric rule. The first metric rule that matched
  // decides the score. Times are converted to seconds.
  void read_score(const Rule& rule, const CapturedGroups& groups) {
    if (score_) return;
    std::string digits = groups.contains("value") ? groups.at("value") : "";
    std::erase(digits, ',');
    double value = 0;
    const auto end = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (end.ec != std::errc()) return;
    std::string unit = rule.unit;
    if (unit.empty() && groups.contains("unit")) unit = groups.at("unit");
    double scale = rule.scale;
    if (unit == "seconds" || unit == "sec") unit = "s";
    if (unit == "ms" || unit == "us" || unit == "ns") {
      scale *= unit == "ms" ? 1e-3 : unit == "us" ? 1e-6 : 1e-9;
      unit = "s";
    }
    score_ = MeasuredScore{value * scale, unit, rule.higher_is_better};
  }

  // If the run failed but its output has no error message, adds a finding from the exit code or the
  // timeout.
  void add_silent() {
    if (std::any_of(findings_.begin(), findings_.end(), [](const Finding& finding) {
          return finding.role == RuleRole::kError || finding.role == RuleRole::kGeneral;
        })) {
      return;
    }
    int code = context_.exit_code.value_or(0);
    if (code == 0 && !context_.timed_out) return;
    // Some tools report the death by a signal as the negative number of the signal. A shell reports
    // 128 plus the number.
    if (code < 0 && code > -128) code = 128 - code;
    const Rule* found = nullptr;
    for (const Rule& rule : rules_.rules) {
      if (rule.role != RuleRole::kSilent || found != nullptr) continue;
      const std::vector<std::int64_t>& codes = rule.exit_codes;
      // A rule without exit codes and without a timeout matches every exit code except 0.
      const bool any = codes.empty() && !rule.timed_out;
      const bool one = std::find(codes.begin(), codes.end(), code) != codes.end();
      if (context_.timed_out ? rule.timed_out : one || any) found = &rule;
    }
    if (found == nullptr) return;
    Finding finding;
    finding.rule = found;
    finding.role = RuleRole::kSilent;
    finding.groups["exit"] = fmt::format("{}", code);
    finding.match.rule = found->id;
    finding.match.from = GuideMatch::MatchSource::kEnd;
    finding.match.text = context_.timed_out ? "time-out" : fmt::format("exit code {}", code);
    findings_.push_back(std::move(finding));
  }

  // Sets the status of the feedback. A run without an exit code counts as successful only if its
  // output has a score or says that the run ended well.
  void set_status() {
    const bool failed = !findings_.empty() && fails(findings_.front().role);
    const bool ended = context_.exit_code == 0 || ended_well_ || feedback_.score.has_value();
    feedback_.status = failed  ? GuideFeedback::Status::kError
                       : ended ? GuideFeedback::Status::kOk
                               : GuideFeedback::Status::kUnknown;
  }

  // Explains the findings with the smallest rank, and writes how the run ended into
  // feedback_.execution.
  void explain() {
    if (findings_.empty() || findings_.front().role == RuleRole::kMetric) {
      explain_success();
      explain_no_end();
      return;
    }
    const Finding& first = findings_.front();
    if (fails(first.role)) {
      feedback_.execution = execution_of(first);
    } else {
      execution_of_success();
    }
    std::size_t said = 0;
    for (const Finding& finding : findings_) {
      // If a run ended without an error message, findings of other ranks may explain why, such as
      // earlier warnings.
      const bool hint = first.role == RuleRole::kSilent && finding.role != RuleRole::kMetric;
      if (rank(finding) != rank(first) && !hint) continue;
      if (said++ == kMaxExplained) break;
      explain(finding);
    }
    if (!fails(first.role)) {
      explain_success();
      explain_no_end();
    }
    if (first.role == RuleRole::kSilent) feedback_.last_lines = scanner_.last_lines();
    // GuideFeedback::shortage is taken from the first failure whose message names a task argument
    // for which a memory had no room.
    for (const Finding& finding : findings_) {
      if (!fails(finding.role) || finding.rule == nullptr || feedback_.shortage) continue;
      feedback_.shortage = finding.shortage;
    }
  }

  // Explains one finding: adds the meaning, the possible causes and the advice of its rule to the
  // feedback. Then names the statements of the mapping that the rule blames.
  void explain(const Finding& finding) {
    if (finding.rule == nullptr) {
      explain_own(finding);
      return;
    }
    const Rule& rule = *finding.rule;
    if (!rule.meaning_after_failure.empty() && has_other_failure(rule)) {
      add_sentence(fill_template(rule.meaning_after_failure, finding.groups), &feedback_.explain);
      add_suggestion(fill_template(rule.advice_after_failure, finding.groups));
      return;
    }
    if (!rule.meaning.empty()) {
      std::string text = as_sentence(fill_template(rule.meaning, finding.groups));
      if (finding.match.count > 1) text += fmt::format(" (Said {} times.)", finding.match.count);
      add_sentence(std::move(text), &feedback_.explain);
    }
    const std::vector<PossibleCause> causes = causes_of(rule);
    explain_causes(causes, finding.groups);
    explain_place(finding);
    explain_follow(finding);
    add_advice(rule.advice, finding.groups);
    for (const PossibleCause& cause : causes)
      add_suggestion(fill_template(cause.change, finding.groups));
    // Legion's checks find the errors that a wrong mapping statement can cause. If a run crashed
    // without a message although the checks were on, no statement is blamed.
    const bool cleared =
        rule.role == RuleRole::kSilent && !rule.timed_out && context_.checks.empty();
    if (cleared || context_.maps_itself) return;
    if (context_.program == nullptr || has_statement_of_kinds(*context_.program, rule.statements)) {
      for (const std::string& change : rule.change)
        add_suggestion(fill_template(change, finding.groups));
    }
    if (context_.program == nullptr) return;
    suggest_statement_changes(rule, finding.groups, *context_.program, &feedback_);
    if (rule.role == RuleRole::kMetric) suggest_for_metric(rule);
  }

  // Only a figure is known of a run that ended well. Suggests changes of the statements that decide
  // what the rule's advice is about.
  void suggest_for_metric(const Rule& rule) {
    const bool advises_gpus = std::any_of(rule.advice.begin(), rule.advice.end(),
                                          [](const Advice& each) { return each.advises_gpus; });
    if (advises_gpus && !lacks("GPU")) suggest_gpus_for_tasks(*context_.program, &feedback_);
    if (rule.higher_is_better) suggest_other_places(*context_.program, &feedback_);
  }

  // Returns true if a rule other than `rule` matched a message that says how the run failed.
  bool has_other_failure(const Rule& rule) const {
    return std::any_of(findings_.begin(), findings_.end(), [&](const Finding& finding) {
      return finding.rule != &rule &&
             (finding.role == RuleRole::kError || finding.role == RuleRole::kGeneral);
    });
  }

  // Returns the possible causes listed in a rule that can apply to this run, the most likely ones
  // first. If the mapping is known, causes in its statements come first, and faults in the code of
  // a C++ mapper come last.
  std::vector<PossibleCause> causes_of(const Rule& rule) const {
    std::vector<PossibleCause> causes;
    for (const PossibleCause& cause : rule.causes) {
      // A cause that Legion's checks find is left out if the checks were on.
      if (cause.is_found_by_checks && context_.checks.empty()) continue;
      if (!cause.statements.empty()) {
        if (context_.maps_itself) continue;
        if (context_.program != nullptr &&
            !has_statement_of_kinds(*context_.program, cause.statements))
          continue;
      }
      causes.push_back(cause);
    }
    if (context_.program == nullptr && !context_.maps_itself) return causes;
    std::stable_sort(causes.begin(), causes.end(), [](const auto& a, const auto& b) {
      const auto rank = [](const PossibleCause& cause) {
        return cause.is_mapper_bug ? 2 : cause.statements.empty() ? 1 : 0;
      };
      return rank(a) < rank(b);
    });
    return causes;
  }

  // Adds one sentence to the explanations that lists the possible causes of a failure.
  void explain_causes(const std::vector<PossibleCause>& causes, const CapturedGroups& groups) {
    std::string all;
    for (const PossibleCause& cause : causes) {
      all += fmt::format("{}{}", all.empty() ? "" : "; ", fill_template(cause.text, groups));
    }
    if (all.empty()) return;
    add_sentence(fmt::format("Under Legion, {} may be the cause: {}",
                             causes.size() == 1 ? "this" : "one of these", all),
                 &feedback_.explain);
  }

  // Adds the advice of a rule to the suggestions, without the parts that do not suit the run. Parts
  // that are marked as joined become one sentence.
  void add_advice(const std::vector<Advice>& all, CapturedGroups groups) {
    groups["checks"] = context_.checks;
    for (auto advice = all.begin(); advice != all.end();) {
      std::string sentence;
      do {
        if (is_pointless(*advice)) continue;
        const std::string text = fill_template(advice->text, groups);
        if (!sentence.empty()) {
          sentence += fmt::format("; {}{}", advice->begins_with_else ? "else " : "", text);
        } else {
          const bool otherwise =
              advice->begins_with_else && !advice->continues_sentence && !feedback_.suggest.empty();
          sentence = (otherwise ? "Else " : "") + text;
        }
      } while (++advice != all.end() && advice->continues_sentence);
      add_suggestion(std::move(sentence));
    }
  }

  // Returns true if the advice is to switch on checks that were on already, or to use GPUs that the
  // machine lacks or that the mapping already prefers.
  bool is_pointless(const Advice& advice) const {
    if (advice.advises_checks && context_.checks.empty()) return true;
    return advice.advises_gpus &&
           (lacks("GPU") || (context_.program != nullptr && prefers_gpus(*context_.program)));
  }

  // Adds a suggestion to the feedback, unless the code in its text (between backquotes) names a
  // processor or memory kind that the machine lacks.
  void add_suggestion(std::string text) {
    if (!text.empty() && may_be_written(text)) add_sentence(std::move(text), &feedback_.suggest);
  }

  // Explains a diagnostic of Groma for which there is no rule by the message of the diagnostic.
  void explain_own(const Finding& finding) {
    add_sentence(finding.match.text, &feedback_.explain);
    explain_place(finding);
    explain_follow(finding);
  }

  // Names the line of the statement that a diagnostic of Groma blames.
  void explain_place(const Finding& finding) {
    if (!finding.range) return;
    const Source& source = context_.diags->source();
    const std::string_view text = source.text(*finding.range);
    add_sentence(
        fmt::format("line {} of {} says so: `{}`", source.position(finding.range->begin).line,
                    harmless(source.name()), harmless(text, kShownStatement)),
        &feedback_.explain);
  }

  // Returns true if the machine has no processor of this kind, according to the caller or the log.
  bool lacks(std::string_view kind) const {
    const std::vector<std::string>& lacking = context_.lacking;
    return std::find(lacking.begin(), lacking.end(), kind) != lacking.end() ||
           said_lacking_.contains(kind);
  }

  // Returns false if the code in the advice (between backquotes) names a processor or memory kind
  // that the machine lacks.
  bool may_be_written(std::string_view advice) const {
    bool code = false;
    std::string word;
    for (const char c : fmt::format("{} ", advice)) {
      if (c >= 'A' && c <= 'Z') {
        word += c;
        continue;
      }
      if (code && lacks(word)) return false;
      word.clear();
      if (c == '`') code = !code;
    }
    return true;
  }

  // Adds the lines that followed a finding's message to the feedback. A "help:" line becomes a
  // suggestion. Every other line becomes an explanation.
  void explain_follow(const Finding& finding) {
    using Kind = FollowingLine::Kind;
    for (const FollowingLine& line : finding.follow) {
      const bool help = line.kind == Kind::kHelp;
      std::string text = line.text;
      if (line.kind == Kind::kWhat) {
        text = "it says: " + text.substr(std::min(text.find_first_not_of(' '), text.size()));
      }
      text = as_sentence(std::move(text));
      if (help && !may_be_written(text)) continue;
      add_sentence(std::move(text), help ? &feedback_.suggest : &feedback_.explain);
    }
  }

  // Describes a failed run in one line: by the message of the failure, or by how the run ended.
  static std::string execution_of(const Finding& finding) {
    if (finding.role == RuleRole::kSilent) {
      return fmt::format("Execution Error: {}, and no text says why", finding.match.text);
    }
    for (const char* prefix : {"Execution Error:", "Compile Error:", "Performance Metric:"}) {
      if (finding.match.text.starts_with(prefix)) return finding.match.text;
    }
    const bool compile = finding.rule != nullptr && finding.rule->hook == "compile";
    return fmt::format("{} Error: {}", compile ? "Compile" : "Execution", finding.match.text);
  }

  // Describes a run that did not fail in one line of the feedback: by its score, or by how it
  // ended.
  void execution_of_success() {
    if (feedback_.score) {
      feedback_.execution = fmt::format("Performance Metric: {:.6g} {}", feedback_.score->value,
                                        feedback_.score->unit);
    } else if (context_.exit_code == 0) {
      feedback_.execution = "The run ended well";
    } else if (ended_well_) {
      feedback_.execution = "The run says that it ended well";
    } else {
      feedback_.execution = "The output does not say how the run ended (its exit code would)";
    }
  }

  // Explains what may be wrong if a run hung but no timeout was reported: nothing says how the run
  // ended. The possible causes are those of a timeout.
  void explain_no_end() {
    const bool may_hang = feedback_.status == GuideFeedback::Status::kUnknown &&
                          !context_.exit_code && context_.profile == nullptr && !scanner_.empty();
    const auto hang = std::find_if(rules_.rules.begin(), rules_.rules.end(), [](const Rule& rule) {
      return rule.role == RuleRole::kSilent && rule.timed_out;
    });
    if (!may_hang || hang == rules_.rules.end()) return;
    add_sentence(fmt::format("if the run had to be stopped: {}", fill_template(hang->meaning, {})),
                 &feedback_.explain);
    explain_causes(causes_of(*hang), {});
    add_advice(hang->advice, {});
  }

  // Explains a run that did not fail: by its profile if there is one, otherwise by the general
  // advice of a metric rule.
  void explain_success() {
    execution_of_success();
    const bool metric = !findings_.empty() && findings_.back().role == RuleRole::kMetric;
    if (context_.profile != nullptr) {
      explain_profile(*context_.profile, context_.program, !lacks("GPU"), &feedback_);
    } else if (metric) {
      for (const Finding& finding : findings_) {
        if (finding.role != RuleRole::kMetric) continue;
        explain(finding);
        break;
      }
    }
    // If no rule matched anything in the output and there is no profile, the last lines of the
    // output are shown.
    if (!findings_.empty() || context_.profile != nullptr) return;
    if (ended_well_) return;
    if (context_.exit_code != 0 || !scanner_.empty()) {
      feedback_.execution += "; nothing in it is known as a failure or a time";
      if (scanner_.is_binary()) {
        feedback_.execution += ": it is binary, no text";
      } else {
        feedback_.last_lines = scanner_.last_lines();
      }
    }
  }

  const RuleSet& rules_;
  const LogScanner& scanner_;
  const GuideContext& context_;
  std::vector<Finding> findings_;
  // The processor kinds that the machine lacks according to the log.
  std::set<std::string, std::less<>> said_lacking_;
  std::optional<MeasuredScore> score_;
  // True if the run's output says that the run ended well.
  bool ended_well_ = false;
  GuideFeedback feedback_;
};

}  // namespace
}  // namespace guide

// The list of names has the order of the enum GuideDetail.
std::optional<GuideDetail> guide_detail(std::string_view name) {
  constexpr std::string_view kNames[] = {"none", "execution", "explain", "suggest", "profile"};
  const auto found = std::find(std::begin(kNames), std::end(kNames), name);
  if (found == std::end(kNames)) return std::nullopt;
  return static_cast<GuideDetail>(found - std::begin(kNames));
}

// A GuideReader passes the log to a Scanner, which stores what the rules matched. feedback() builds
// the feedback from these matches.
GuideReader::GuideReader(GuideRules rules)
    : rules_(std::move(rules)), scanner_(std::make_unique<guide::LogScanner>(rules_.set())) {}
GuideReader::~GuideReader() = default;
GuideReader::GuideReader(GuideReader&&) noexcept = default;
GuideReader& GuideReader::operator=(GuideReader&&) noexcept = default;

void GuideReader::begin(std::string name) { scanner_->begin_log(std::move(name)); }
void GuideReader::read(std::string_view bytes) { scanner_->read(bytes); }

GuideFeedback GuideReader::feedback(const GuideContext& context) {
  scanner_->finish_log();
  return guide::Composer(rules_.set(), *scanner_, context).compose();
}

GuideFeedback guide_log(const GuideRules& rules, std::string_view log,
                        const GuideContext& context) {
  GuideReader reader(rules);
  reader.read(log);
  return reader.feedback(context);
}

// Only a run that ended well has a profile, so the status of the feedback is kOk.
GuideFeedback guide_profile(const ProfileFacts& facts, const Program* program) {
  GuideFeedback feedback;
  feedback.status = GuideFeedback::Status::kOk;
  feedback.known = true;
  feedback.profile = facts;
  guide::explain_profile(facts, program, /*has_gpus=*/true, &feedback);
  return feedback;
}

}  // namespace groma
