// The rules of the guide, which explain messages in the output of a run. make_rules() reads the
// rules from JSON (docs/guide.md describes the format), compiles their patterns, and collects their
// literals in the literal finder.
#pragma once

#include <re2/re2.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "groma/diagnostics.h"
#include "groma/program.h"
#include "groma/result.h"
#include "groma/source.h"
#include "guide/literal_finder.h"

namespace groma::guide {

// Limit on the bytes of one JSON text with rules.
inline constexpr std::size_t kMaxRulesBytes = std::size_t{4} << 20;
inline constexpr std::size_t kMaxRules = 4096;
inline constexpr std::size_t kMaxPatternBytes = 4096;
inline constexpr std::size_t kMinLiteral = 4;

// What a match of a rule says about the run. If rules with different roles match, the role that
// stands first in this list is explained.
enum class RuleRole : std::uint8_t {
  // The matched message is the cause of a failure.
  kError,
  // The message is about a failure that only the message itself explains (a catch-all rule).
  kGeneral,
  // The run failed without a message. The rule is chosen by the exit code or the timeout.
  kSilent,
  // The message is a consequence of another failure.
  kConsequence,
  // The message is a warning, and the run continues.
  kWarning,
  // The message is about slow execution.
  kPerformance,
  // The message has a number that the run reports, such as its time.
  kMetric,
  // The message is harmless and is not reported.
  kHarmless,
  // The message says that the run ended well. The message itself is not reported.
  kSuccess,
};

// How to correct the mapping statement that a rule blames.
enum class StatementCorrection : std::uint8_t {
  // The rule has no correction.
  kNone,
  // Remove the statement.
  kRemove,
  // In a Region statement, choose a memory that the processor kind can address.
  kMemory,
  // In a Layout statement, replace AOS (array of structures) by SOA (structure of arrays).
  kSoa,
  // In a Layout statement, use the other order of dimensions (C_order or F_order).
  kOrder,
  // In a Task statement, add CPU as the last processor kind.
  kFallback,
  // Keep the indices in the mapping function of an IndexTaskMap or SingleTaskMap statement within
  // the machine view.
  kWrap,
  // Move an IndexTaskMap or SingleTaskMap statement behind the definition of its function.
  kBehind,
};

// A sentence of a rule's advice, or a part of a sentence. `text` may contain groups of the rule's
// pattern, such as {task}.
struct Advice {
  std::string text;
  // True if the text continues the sentence of the previous advice: "...; text".
  bool continues_sentence = false;
  // True if the text gets "else" in front of it, unless it is the first suggestion.
  bool begins_with_else = false;
  // True if the text names the option {checks}, which switches on Legion's checks. The text is left
  // out if the checks were on.
  bool advises_checks = false;
  // True if the text advises to use GPUs. The text is left out if the machine has no GPU or if all
  // tasks prefer GPUs.
  bool advises_gpus = false;
};

// A possible cause of a run that failed without a message.
struct PossibleCause {
  // The cause as a clause, such as "the code of a task waits for ever".
  std::string text;
  // The cause applies only to a mapping that has one of these kinds of statements. Empty: the cause
  // applies to any run.
  std::vector<MappingStatement> statements;
  // True if the cause is a fault in the code of a mapper in C++.
  bool is_mapper_bug = false;
  // True if Legion's checks find this cause. The cause is left out if the checks were on.
  bool is_found_by_checks = false;
  // Advice on how to change the mapping statements.
  std::string change;
};

// A rule of the guide: recognises a message in the output of a run and explains it.
struct Rule {
  std::string id, hook;
  RuleRole role = RuleRole::kError;
  // The regular expression (RE2 syntax) of the message. Empty if the role is kSilent.
  std::string pattern;
  // What the message means. The text may contain groups of the pattern, such as {task}.
  std::string meaning;
  std::vector<Advice> advice;
  // Texts that replace `meaning` and `advice` if another rule tells how the run failed. If
  // `meaning_after_failure` is empty, nothing is replaced.
  std::string meaning_after_failure, advice_after_failure;
  // Advice on how to change one of the blamed `statements`. May contain groups of the pattern.
  std::vector<std::string> change;
  // A line of output that the pattern matches.
  std::string example;
  // Every match of the pattern contains at least one of these texts.
  std::vector<std::string> literals;
  // The prefixes of the log lines after a match that belong to the match, such as "note: ".
  std::vector<std::string> follow_line_prefixes;
  // The id of the Groma diagnostic that the rule explains. Empty for other rules.
  std::string diagnostic;
  // The processor kind that the machine lacks if the rule matches. Empty if the rule says nothing
  // about this.
  std::string lacking_processor_kind;
  // Text that the message of the Groma diagnostic must contain. A rule with a `cause` requires the
  // text only of a diagnostic that was printed in a log. Of a diagnostic that is passed as an
  // object, it requires the cause instead.
  std::string required_message_text;
  std::optional<DiagCause> cause;
  // True if Groma itself prints the message, about the mapping or its run.
  bool by_groma = false;
  // True if the pattern's groups `task` and `req` name the task argument that had no room in
  // memory.
  bool is_memory_shortage = false;
  // The kinds of mapping statements that may cause the message.
  std::vector<MappingStatement> statements;
  StatementCorrection mend = StatementCorrection::kNone;
  // For the role kSilent, the exit codes that the rule explains. If the list is empty and
  // `timed_out` is false, the rule explains every exit code except 0.
  std::vector<std::int64_t> exit_codes;
  // For the role kSilent, true if the rule explains a timeout.
  bool timed_out = false;
  // For the role kSilent, the possible causes of the failure.
  std::vector<PossibleCause> causes;
  // For the role kMetric, the unit of the number. If it is empty, the group `unit` of the pattern
  // has the unit.
  std::string unit;
  // For the role kMetric, the factor by which the group `value` is multiplied.
  double scale = 1;
  // For the role kMetric, true if a higher number is better.
  bool higher_is_better = false;
  // The compiled pattern. Null if the role is kSilent.
  std::unique_ptr<const RE2> regex;
};

// All rules of the guide, in their order of precedence.
class RuleSet {
 public:
  // The rules. If two rules match the same words, the earlier rule wins.
  std::vector<Rule> rules;
  LiteralFinder literal_finder;

  const Rule* find(std::string_view id) const;
  const Rule* find_rule_for_diagnostic(const Diagnostic& diagnostic) const;
};

// Reads the guide's rules from JSON texts, in this order. Each text has the form {"rules": [...]}.
// A rule in the first `own` texts must match its own example, and its texts may refer only to
// groups of its own pattern. The tests check Groma's rule files in this way.
Result<std::shared_ptr<const RuleSet>> make_rules(std::span<const Source> texts,
                                                  std::size_t own = 0);

}  // namespace groma::guide
