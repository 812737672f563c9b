// The rules of the guide. They are read from JSON (docs/guide.md describes the format); their
// patterns are compiled and their literals collected in the prefilter. The only entry point is
// make_rules().
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
#include "guide/prefilter.h"

namespace groma::guide {

inline constexpr std::size_t kMaxRulesBytes = std::size_t{4} << 20;  // limit for one text
inline constexpr std::size_t kMaxRules = 4096;
inline constexpr std::size_t kMaxPatternBytes = 4096;
inline constexpr std::size_t kMinLiteral = 4;

// What a match of a rule says about the run. If rules with different roles match, the role that
// stands earlier in the list is explained.
enum class Role : std::uint8_t {
  kError,        // the cause of a failure
  kGeneral,      // a failure that only its text explains: catch-all rules
  kSilent,       // a run that ended without a message, recognised by exit code or timeout
  kConsequence,  // a consequence of another failure
  kWarning,      // the run continues
  kPerformance,  // the run continues, but slowly
  kMetric,       // a number that the run reports
  kHarmless,     // a message that is not reported
  kSuccess,      // a message that the run ended well; it is not reported
};

// How to correct the statement that a rule blames.
enum class Mend : std::uint8_t {
  kNone,
  kRemove,    // remove the statement
  kMemory,    // Region: choose a memory that the processor kind can address
  kSoa,       // Layout: replace AOS by SOA
  kOrder,     // Layout: use the other order of dimensions
  kFallback,  // Task: add fallback kinds after the named kind
  kWrap,      // IndexTaskMap, SingleTaskMap: keep indices within the machine view
  // IndexTaskMap, SingleTaskMap: move the statement behind the definition of the function that it
  // names
  kBehind,
};

// A sentence of a rule's advice, or a part of one. `text` may contain groups of the rule's pattern,
// such as {task}.
struct Advice {
  std::string text;
  bool joined = false;     // continues the sentence of the advice before it: "...; text"
  bool otherwise = false;  // begins with "else", unless nothing was said before it
  // true: the text names the option {checks}, and is left out if the checks were on
  bool checks = false;
  // true: the text is left out if the machine has no GPU or all tasks prefer GPUs
  bool to_gpu = false;
};

// A possible cause of a run that ended without a message.
struct PossibleCause {
  std::string text;  // the cause as a clause, such as "the code of a task waits for ever"
  // Only a mapping that has one of these statements can be the cause. Empty: any run.
  std::vector<MappingStatement> statements;
  bool mapper = false;   // a fault in the code of a mapper in C++
  bool checked = false;  // true: Legion's checks find it, so it is left out if they were on
  std::string change;    // how to change the statements
};

struct Rule {
  std::string id, hook;
  Role role = Role::kError;
  std::string pattern;  // RE2 syntax; empty for kSilent
  std::string meaning;  // may contain groups of the pattern: {task}
  std::vector<Advice> advice;
  // Texts that replace `meaning` and `advice` if another rule tells how the run failed; empty: they
  // are not replaced.
  std::string meaning_after_failure, advice_after_failure;
  std::vector<std::string> change;    // how to change one of `statements`; may contain groups
  std::string example;                // a line that the pattern matches
  std::vector<std::string> literals;  // every match contains at least one of these texts
  std::vector<std::string> follow;    // beginnings of later lines that belong to the match
  std::string diagnostic;             // id of Groma's own diagnostic with the same meaning
  std::string lacks;                  // a processor kind that the machine lacks if the rule matches
  // Text that the diagnostic's message must contain. If `cause` is set, the text is searched only
  // in logs, and a diagnostic in memory must have the cause.
  std::string says;
  std::optional<DiagCause> cause;
  bool by_groma = false;  // the message is Groma's own, about the mapping or its run
  bool shortage = false;  // the groups `task` and `req` name the argument that had no room
  std::vector<MappingStatement> statements;
  Mend mend = Mend::kNone;
  std::vector<std::int64_t> exit_codes;  // kSilent; empty without a timeout: any code except 0
  bool timed_out = false;                // kSilent: true if the rule matches a timeout
  std::vector<PossibleCause> causes;     // kSilent
  std::string unit;                      // kMetric; empty: the group `unit` has the unit
  double scale = 1;                      // kMetric: factor for the group `value`
  bool higher_is_better = false;         // kMetric
  std::unique_ptr<const RE2> regex;      // null for kSilent
};

class RuleSet {
 public:
  std::vector<Rule> rules;  // if two rules match, the earlier rule wins
  Prefilter prefilter;

  const Rule* find(std::string_view id) const;
  const Rule* of_diagnostic(const Diagnostic& diagnostic) const;
};

// Reads the rules of `texts`, in this order; each text has the form {"rules": [...]}. The rules of
// the first `own` texts must match their own examples and may refer only to groups of their own
// patterns. The tests check Groma's rule files in this way.
Result<std::shared_ptr<const RuleSet>> make_rules(std::span<const Source> texts,
                                                  std::size_t own = 0);

}  // namespace groma::guide
