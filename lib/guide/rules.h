// The guide's rules: data read from JSON (docs/guide.md has the form), patterns compiled, literals
// gathered into the prefilter. make_rules is the only way in.
#pragma once

#include <re2/re2.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "groma/program.h"
#include "groma/result.h"
#include "groma/source.h"
#include "guide/prefilter.h"

namespace groma::guide {

inline constexpr std::size_t kMaxRulesBytes = std::size_t{4} << 20;  // of one text
inline constexpr std::size_t kMaxRules = 4096;
inline constexpr std::size_t kMaxPatternBytes = 4096;
inline constexpr std::size_t kMinLiteral = 4;

// What a match says about the run: the first that occur win over all that follow.
enum class Role : std::uint8_t {
  kError,        // the cause of a failure
  kGeneral,      // a failure, of which the text alone says why: catch-alls
  kSilent,       // how a run ended that left no text; by exit code or time-out
  kConsequence,  // what follows from a failure
  kWarning,      // the run goes on
  kPerformance,  // the run goes on, but slowly
  kMetric,       // a figure that the run reports
  kHarmless,     // stays out
  kSuccess,      // stays out; the run says that it ended well
};

// How the statement that a rule blames can be mended.
enum class Mend : std::uint8_t {
  kNone,
  kRemove,    // the statement
  kMemory,    // Region: one that the kind of processor can address
  kSoa,       // Layout: AOS becomes SOA
  kOrder,     // Layout: the other order of the dimensions
  kFallback,  // Task: kinds after the one that it names
  kWrap,      // IndexTaskMap, SingleTaskMap: indices inside the machine view
  kBehind,    // IndexTaskMap, SingleTaskMap: the statement behind its function
};

struct Rule {
  std::string id, hook;
  Role role = Role::kError;
  std::string pattern;                // as RE2 reads it; empty for kSilent
  std::string meaning;                // may name groups of the pattern: {task}
  std::vector<std::string> advice;    // likewise
  std::vector<std::string> change;    // likewise: how to change one of `statements`
  std::string example;                // a line that it matches
  std::vector<std::string> literals;  // one of which it needs
  std::vector<std::string> follow;    // how lines begin that belong to it
  std::string diagnostic;             // of ours, that says the same
  std::string lacks;                  // a kind of processor that the machine then does not have
  std::string says;                   // what the diagnostic's message has to contain
  std::vector<MappingStatement> statements;
  Mend mend = Mend::kNone;
  std::vector<std::int64_t> exit_codes;  // kSilent; none and no time-out: any but 0
  bool timed_out = false;                // kSilent
  std::string unit;                      // kMetric; else what the group `unit` holds
  double scale = 1;                      // kMetric: of the group `value`
  bool higher_is_better = false;         // kMetric
  std::unique_ptr<const RE2> regex;      // null for kSilent
};

class RuleSet {
 public:
  std::vector<Rule> rules;  // an earlier one wins where both match
  Prefilter prefilter;

  const Rule* find(std::string_view id) const;
  const Rule* of_diagnostic(std::string_view id, std::string_view message = {}) const;
};

// Of these texts, each {"rules": [...]}, in this order. Rules of the first `own` are held to their
// examples and to the groups of their patterns (tests do so with ours).
Result<std::shared_ptr<const RuleSet>> make_rules(std::span<const Source> texts,
                                                  std::size_t own = 0);

}  // namespace groma::guide
