// Reads the rules of the guide from JSON, checks them, compiles their patterns and collects the
// literals for the literal finder.
#include "guide/rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <unordered_set>

#include "base/json_bounds.h"
#include "groma/guide.h"
#include "groma/harmless.h"
#include "guide/literals.h"
#include "guide/rule_files.h"

namespace groma {
namespace guide {
namespace {

using Json = nlohmann::ordered_json;

// Tables of the words that rule files use for roles, corrections, statements and causes.
constexpr std::pair<std::string_view, RuleRole> kRoles[] = {
    {"error", RuleRole::kError},     {"general", RuleRole::kGeneral},
    {"silent", RuleRole::kSilent},   {"consequence", RuleRole::kConsequence},
    {"warning", RuleRole::kWarning}, {"performance", RuleRole::kPerformance},
    {"metric", RuleRole::kMetric},   {"harmless", RuleRole::kHarmless},
    {"success", RuleRole::kSuccess},
};
constexpr std::pair<std::string_view, StatementCorrection> kMends[] = {
    {"remove", StatementCorrection::kRemove}, {"memory", StatementCorrection::kMemory},
    {"soa", StatementCorrection::kSoa},       {"fallback", StatementCorrection::kFallback},
    {"wrap", StatementCorrection::kWrap},     {"order", StatementCorrection::kOrder},
    {"behind", StatementCorrection::kBehind},
};
constexpr std::pair<std::string_view, MappingStatement> kStatements[] = {
    {"Task", MappingStatement::kTask},
    {"Region", MappingStatement::kRegion},
    {"Layout", MappingStatement::kLayout},
    {"InstanceLimit", MappingStatement::kInstanceLimit},
    {"CollectMemory", MappingStatement::kCollectMemory},
    {"IndexTaskMap", MappingStatement::kIndexTaskMap},
    {"SingleTaskMap", MappingStatement::kSingleTaskMap},
    {"ControlReplicate", MappingStatement::kControlReplicate},
    {"TaskSteal", MappingStatement::kTaskSteal},
};

constexpr std::pair<std::string_view, DiagCause> kCauses[] = {
    {"no-processors", DiagCause::kNoProcessors},
    {"negative-index", DiagCause::kNegativeIndex},
    {"memory-absent", DiagCause::kMemoryAbsent},
    {"virtual-first", DiagCause::kVirtualFirst},
    {"gpu-cannot-address", DiagCause::kGpuCannotAddress},
};

// Returns the value with this name in a table of (name, value) pairs, or nullopt if there is none.
template <typename Table>
auto named(const Table& table, std::string_view name)
    -> std::optional<std::decay_t<decltype(table[0].second)>> {
  for (const auto& [of, value] : table) {
    if (of == name) return value;
  }
  return std::nullopt;
}

// Shorthands for the patterns of rules: each <name> is replaced by a regular expression. For
// example, <task> matches the forms in which Legion writes a task: `task f (ID 3)`, `f (UID 3)` or
// `f(UID: 3)`.
constexpr std::pair<std::string_view, std::string_view> kShorthands[] = {
    {"task", R"((?:(?:task|operation) )?(?P<task>\S.*?) \(U?ID:? (?P<uid>\d+)\))"},
    {"mapper", R"((?P<mapper>.+?))"},
    {"req", R"((?P<req>\d+))"},
    {"mem", R"((?P<mem>[0-9a-f]+))"},
    {"proc", R"((?P<proc>[0-9a-f]+))"},
    {"memkind", R"((?P<memkind>.+?))"},
    {"bytes", R"((?P<bytes>[\d,]+))"},
    {"number", R"((?P<value>[0-9][0-9.,]*(?:[eE][-+]?[0-9]+)?))"},
    // Matches any quotation mark, ASCII or not.
    {"q", R"((?:[`'"]|\xe2\x80.))"},
};

// Expands the pattern of a rule to a regular expression: replaces its shorthands. A space becomes `
// *`, because some of Legion's messages lack spaces. ` and ' become an expression for any quotation
// mark. Character classes and escapes stay as they are.
std::string written_out(std::string_view pattern) {
  std::string text;
  bool in_class = false;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    const char c = pattern[i];
    if (c == '\\' && i + 1 < pattern.size()) {
      text += pattern.substr(i++, 2);
    } else if (in_class) {
      in_class = c != ']';
      text += c;
    } else if (c == '[') {
      in_class = true;
      text += c;
    } else if (c == ' ') {
      const bool counted = i + 1 < pattern.size() &&
                           std::string_view("?*+").find(pattern[i + 1]) != std::string_view::npos;
      text += " *";
      i += counted ? 1 : 0;
    } else if (c == '\'' || c == '`') {
      text += *named(kShorthands, "q");
    } else if (c == '<' && !text.ends_with("?P")) {
      const std::size_t end = pattern.find('>', i);
      const std::string_view name =
          end == std::string_view::npos ? "" : pattern.substr(i + 1, end - i - 1);
      const auto stands_for = named(kShorthands, name);
      text += stands_for ? written_out(*stands_for) : std::string(1, c);
      if (stands_for) i = end;
    } else {
      text += c;
    }
  }
  return text;
}

// Returns a regular expression that matches a printed Groma diagnostic with this id, as text or as
// JSON. If `says` is not empty, the message of the diagnostic must contain it.
std::string pattern_of_diagnostic(const std::string& id, const std::string& says) {
  std::string words = RE2::QuoteMeta(says);
  for (std::size_t at; (at = words.find("\\ ")) != words.npos;) words.erase(at, 1);
  const auto with = [&](std::string_view any) {
    return words.empty() ? std::string(any) : fmt::format("{}{}{}", any, words, any);
  };
  return fmt::format(
      R"re((?:(?P<place>[^\s"]+:\d+:\d+): )?(?:error|warning): (?P<message>{1}) \[{0}\]$)re"
      R"re(|"id": ?"{0}", ?"severity": ?"(?:error|warning)", ?)re"
      R"re("message": ?"(?P<quoted>{2})")re",
      id, with(R"re([^\n]*)re"), with(R"re((?:[^"\\]|\\.)*)re"));
}

// Reads the guide's rules from one JSON text. Keeps only the first error.
class RuleReader {
 public:
  // Prepares to append the rules in the JSON text `source` to `set`. If `own` is true, each rule
  // must match its own example, and its texts may refer only to the groups of its regular
  // expression.
  RuleReader(const Source& source, bool own, RuleSet* set)
      : source_(source), own_(own), set_(set) {}

  std::optional<Error> read() {
    if (source_.text().size() > kMaxRulesBytes) {
      return Error{Error::Code::kTooLarge,
                   fmt::format("`{}` has more than {} bytes", source_.name(), kMaxRulesBytes)};
    }
    Json json;
    if (within_json_bounds(source_.text())) json = Json::parse(source_.text(), nullptr, false);
    if (!json.is_object() || !json.contains("rules") || !json["rules"].is_array()) {
      return Error{Error::Code::kMalformed,
                   fmt::format("`{}` is not a JSON object with a list of `rules`", source_.name()),
                   "docs/guide.md has an example"};
    }
    for (const Json& one : json["rules"]) {
      if (!one.is_object()) {
        fail("a rule is not an object");
      } else {
        read_rule(one);
      }
      if (error_) return error_;
      if (set_->rules.size() > kMaxRules) {
        return Error{Error::Code::kTooLarge, fmt::format("more than {} rules", kMaxRules)};
      }
    }
    return std::nullopt;
  }

 private:
  // Records an error with the name of the JSON text and the id of the rule, unless there was an
  // error before.
  void fail(const std::string& why) {
    if (error_) return;
    error_ = Error{Error::Code::kMalformed,
                   id_.empty() ? fmt::format("`{}`: {}", source_.name(), why)
                               : fmt::format("`{}`: rule `{}`: {}", source_.name(), id_, why)};
  }

  // Returns the string with this key in a JSON object. A list of strings is joined, so that rule
  // files can break long lines. Returns an empty text if the key is missing.
  std::string text(const Json& of, const char* key) {
    if (!of.contains(key)) return {};
    const Json& value = of[key];
    if (value.is_string()) return value.get<std::string>();
    std::string all;
    for (const Json& part : value) {
      if (!value.is_array() || !part.is_string()) {
        fail(fmt::format("`{}` is not a text or a list of texts", key));
        return {};
      }
      all += part.get<std::string>();
    }
    return all;
  }

  // Returns the strings in the JSON list with this key. An item that is itself a list of strings is
  // joined to one string. Returns an empty list if the key is missing.
  std::vector<std::string> texts(const Json& of, const char* key) {
    if (!of.contains(key)) return {};
    if (!of[key].is_array()) return {text(of, key)};
    std::vector<std::string> all;
    for (const Json& item : of[key]) all.push_back(text(Json{{key, item}}, key));
    return all;
  }

  // Returns the bool with this key in a JSON object, or false if the key is missing.
  bool truth(const Json& of, const char* key) {
    if (!of.contains(key)) return false;
    if (!of[key].is_boolean()) fail(fmt::format("`{}` is not a bool", key));
    return of[key].is_boolean() && of[key].get<bool>();
  }

  // Reads one item of a rule's `advice`: a string, a list of strings that are joined, or an object.
  Advice advice_in(const Json& item) {
    constexpr std::string_view kAdviceKeys[] = {"text", "joined", "else", "checks", "to_gpu"};
    if (!item.is_object()) return {harmless(text(Json{{"advice", item}}, "advice"))};
    for (const auto& [key, value] : item.items()) {
      if (std::find(std::begin(kAdviceKeys), std::end(kAdviceKeys), key) == std::end(kAdviceKeys)) {
        fail(fmt::format("`advice` has no key `{}`", key));
      }
    }
    return {harmless(text(item, "text")), truth(item, "joined"), truth(item, "else"),
            truth(item, "checks"), truth(item, "to_gpu")};
  }

  // Reads the member `advice` of a rule, which is one item or a list of items.
  std::vector<Advice> read_advice(const Json& json) {
    std::vector<Advice> all;
    if (!json.contains("advice")) return all;
    const Json& advice = json["advice"];
    if (!advice.is_array()) return {advice_in(advice)};
    for (const Json& item : advice) all.push_back(advice_in(item));
    return all;
  }

  // Reads the member `possible_causes` of a rule. Only a rule with the role `silent` may have
  // causes.
  std::vector<PossibleCause> read_causes(const Json& json, RuleRole role) {
    constexpr std::string_view kCauseKeys[] = {"text", "statement", "mapper", "checked", "change"};
    std::vector<PossibleCause> all;
    if (!json.contains("possible_causes")) return all;
    if (role != RuleRole::kSilent) fail("`possible_causes` is for a `silent` rule");
    for (const Json& item : json["possible_causes"]) {
      if (!json["possible_causes"].is_array() || !item.is_object()) {
        fail("`possible_causes` is not a list of objects");
        return all;
      }
      for (const auto& [key, value] : item.items()) {
        if (std::find(std::begin(kCauseKeys), std::end(kCauseKeys), key) == std::end(kCauseKeys)) {
          fail(fmt::format("`possible_causes` has no key `{}`", key));
        }
      }
      PossibleCause cause{harmless(text(item, "text")), statements_in(item), truth(item, "mapper"),
                          truth(item, "checked"), harmless(text(item, "change"))};
      if (cause.text.empty()) fail("a possible cause has no `text`");
      if (!cause.change.empty() && cause.statements.empty()) {
        fail("a possible cause with a `change` needs a `statement`");
      }
      all.push_back(std::move(cause));
    }
    return all;
  }

  // Reads the kinds of mapping statements that a rule or a possible cause blames.
  std::vector<MappingStatement> statements_in(const Json& json) {
    std::vector<MappingStatement> all;
    for (const std::string& name : texts(json, "statement")) {
      all.push_back(choice(kStatements, name, "statement"));
    }
    return all;
  }

  // Returns the value that the word `name` stands for in the table. An unknown word is an error;
  // the first value of the table is then returned.
  template <typename Table>
  auto choice(const Table& table, const std::string& name, const char* key)
      -> std::decay_t<decltype(table[0].second)> {
    const auto found = named(table, name);
    if (!found) fail(fmt::format("`{}` cannot be `{}`", key, name));
    return found.value_or(table[0].second);
  }

  // Reads one rule from its JSON object and adds the rule to the set. An unknown key is an error,
  // because the key is probably misspelt.
  void read_rule(const Json& json) {
    constexpr std::string_view kKeys[] = {
        "id",           "role",      "hook",    "pattern",  "diagnostic",       "meaning",
        "advice",       "example",   "literal", "follow",   "statement",        "mend",
        "exit",         "timed_out", "unit",    "scale",    "higher_is_better", "says",
        "change",       "lacks",     "cause",   "by_groma", "shortage",         "possible_causes",
        "after_failure"};
    Rule rule;
    id_ = rule.id = text(json, "id");
    if (rule.id.empty()) return fail("a rule has no `id`");
    for (const auto& [key, value] : json.items()) {
      if (std::find(std::begin(kKeys), std::end(kKeys), key) == std::end(kKeys)) {
        return fail(fmt::format("there is no key `{}`", key));
      }
    }
    if (!ids_.insert(rule.id).second) return fail("it is there twice");
    rule.role = choice(kRoles, json.contains("role") ? text(json, "role") : "error", "role");
    rule.hook = text(json, "hook");
    rule.meaning = harmless(text(json, "meaning"));
    rule.advice = read_advice(json);
    read_after_failure(json, &rule);
    for (const std::string& change : texts(json, "change")) rule.change.push_back(harmless(change));
    rule.example = text(json, "example");
    rule.follow_line_prefixes = texts(json, "follow");
    rule.lacking_processor_kind = text(json, "lacks");
    const std::optional<ProcKind> kind = find_proc_kind(rule.lacking_processor_kind);
    if (!rule.lacking_processor_kind.empty() && !kind)
      return fail("`lacks` is not a kind of processor");
    rule.diagnostic = text(json, "diagnostic");
    rule.required_message_text = text(json, "says");
    if (json.contains("cause")) rule.cause = choice(kCauses, text(json, "cause"), "cause");
    rule.by_groma = truth(json, "by_groma") || !rule.diagnostic.empty();
    rule.is_memory_shortage = truth(json, "shortage");
    if (!rule.diagnostic.empty() && rule.follow_line_prefixes.empty())
      rule.follow_line_prefixes = {"note: ", "help: "};
    rule.statements = statements_in(json);
    rule.causes = read_causes(json, rule.role);
    if (json.contains("mend")) rule.mend = choice(kMends, text(json, "mend"), "mend");
    read_numbers(json, &rule);
    read_pattern(json, &rule);
    if (own_ && !error_) check_texts(rule);
    if (!error_) set_->rules.push_back(std::move(rule));
  }

  // Reads the texts that replace a rule's `meaning` and `advice` if another rule tells how the run
  // failed.
  void read_after_failure(const Json& json, Rule* rule) {
    if (!json.contains("after_failure")) return;
    const Json& texts = json["after_failure"];
    if (!texts.is_object()) return fail("`after_failure` is not an object");
    for (const auto& [key, value] : texts.items()) {
      if (key != "meaning" && key != "advice") {
        return fail(fmt::format("`after_failure` has no key `{}`", key));
      }
    }
    rule->meaning_after_failure = harmless(text(texts, "meaning"));
    rule->advice_after_failure = harmless(text(texts, "advice"));
    if (rule->meaning_after_failure.empty()) fail("`after_failure` has no `meaning`");
  }

  // Reads the unit of a rule's metric, the factor for its value and whether higher values are
  // better. Then reads the exit codes that the rule explains and whether it explains a timeout.
  void read_numbers(const Json& json, Rule* rule) {
    rule->unit = text(json, "unit");
    if (json.contains("scale")) {
      if (!json["scale"].is_number()) return fail("`scale` is not a number");
      rule->scale = json["scale"].get<double>();
    }
    rule->timed_out = truth(json, "timed_out");
    rule->higher_is_better = truth(json, "higher_is_better");
    if (!json.contains("exit")) return;
    for (const Json& code : json["exit"]) {
      if (!json["exit"].is_array() || !code.is_number_integer()) {
        return fail("`exit` is not a list of integers");
      }
      rule->exit_codes.push_back(code.get<std::int64_t>());
    }
  }

  // Reads the pattern of a rule and compiles it. A rule about Groma's own diagnostic needs no
  // pattern. A rule for runs that print nothing has none.
  void read_pattern(const Json& json, Rule* rule) {
    if (rule->role == RuleRole::kSilent) return;
    std::string pattern = text(json, "pattern");
    if (pattern.empty() && !rule->diagnostic.empty()) {
      pattern = pattern_of_diagnostic(rule->diagnostic, rule->required_message_text);
    }
    if (pattern.empty()) return fail("it has no `pattern`");
    if (pattern.size() > kMaxPatternBytes) return fail("its pattern is too long");
    rule->pattern = written_out(pattern);
    RE2::Options options;
    options.set_log_errors(false);
    // Logs may contain bytes that are not UTF-8.
    options.set_encoding(RE2::Options::EncodingLatin1);
    options.set_max_mem(std::int64_t{1} << 20);
    rule->regex = std::make_unique<const RE2>(rule->pattern, options);
    if (!rule->regex->ok()) return fail(rule->regex->error());
    if (rule->role == RuleRole::kMetric && !rule->regex->NamedCapturingGroups().contains("value")) {
      return fail("a metric's pattern needs a group `value`");
    }
    read_literals(json, rule);
  }

  // Checks that a rule has a meaning or advice if its role needs one, that its pattern matches its
  // example, and that its texts refer only to groups of its pattern.
  void check_texts(const Rule& rule) {
    const bool speaks = rule.role != RuleRole::kMetric && rule.role != RuleRole::kHarmless &&
                        rule.role != RuleRole::kSuccess;
    if (speaks && rule.meaning.empty() && rule.advice.empty()) {
      return fail("it has neither `meaning` nor `advice`");
    }
    std::set<std::string, std::less<>> groups = {"exit"};
    if (rule.regex != nullptr) {
      groups.clear();
      for (const auto& [name, number] : rule.regex->NamedCapturingGroups()) {
        groups.insert(name);
        if (name == "prockind" || name == "memkind") groups.insert("flag");
      }
      if (!rule.example.empty() && !RE2::PartialMatch(rule.example, *rule.regex)) {
        return fail("its pattern does not match its `example`");
      }
    }
    check_groups(rule.meaning, groups);
    if (rule.is_memory_shortage && !(groups.contains("task") && groups.contains("req"))) {
      return fail("`shortage` needs the groups `task` and `req`");
    }
    for (const Advice& advice : rule.advice) {
      auto known = groups;
      if (advice.advises_checks) known.insert("checks");
      check_groups(advice.text, known);
    }
    for (const std::string& change : rule.change) check_groups(change, groups);
    check_groups(rule.meaning_after_failure, groups);
    check_groups(rule.advice_after_failure, groups);
    for (const PossibleCause& cause : rule.causes) {
      check_groups(cause.text, groups);
      check_groups(cause.change, groups);
    }
  }

  // Checks that every {name} in a rule's text is one of the names in `groups`.
  void check_groups(std::string_view text, const std::set<std::string, std::less<>>& groups) {
    for (std::size_t at = text.find('{'); at != text.npos; at = text.find('{', at + 1)) {
      const std::size_t end = text.find('}', at);
      if (end == text.npos) return;
      std::string_view name = text.substr(at + 1, end - at - 1);
      name = name.substr(0, name.find('|'));
      if (!groups.contains(name)) {
        return fail(fmt::format("`{{{}}}`: its pattern has no group of that name", name));
      }
    }
  }

  // Reads a rule's literals for the literal finder, or derives them from the rule's pattern. Fails
  // if a literal is too short to exclude most lines of a log.
  void read_literals(const Json& json, Rule* rule) {
    for (const std::string& literal : texts(json, "literal")) {
      rule->literals.push_back(lower_case_without_spaces(literal));
    }
    if (rule->literals.empty()) rule->literals = required_literals(rule->pattern);
    const bool short_one =
        std::any_of(rule->literals.begin(), rule->literals.end(),
                    [](const std::string& literal) { return literal.size() < kMinLiteral; });
    if (rule->literals.empty() || short_one) {
      fail(
          fmt::format("nothing of {} characters stands in all that its pattern matches; name it "
                      "as `literal`",
                      kMinLiteral));
    }
  }

  const Source& source_;
  bool own_;
  RuleSet* set_;
  std::string id_;
  // The ids of the rules in this JSON text. A rule in a user's text may have the id of one of
  // Groma's rules.
  std::unordered_set<std::string> ids_;
  std::optional<Error> error_;
};

}  // namespace

const Rule* RuleSet::find(std::string_view id) const {
  const auto found =
      std::find_if(rules.begin(), rules.end(), [&](const Rule& rule) { return rule.id == id; });
  return found == rules.end() ? nullptr : &*found;
}

// Returns the first rule about the diagnostic, or null if there is none. A rule may require a cause
// of the diagnostic, or certain words in its message.
const Rule* RuleSet::find_rule_for_diagnostic(const Diagnostic& diagnostic) const {
  const std::string_view id = name_of(diagnostic.id);
  const auto found = std::find_if(rules.begin(), rules.end(), [&](const Rule& rule) {
    if (rule.diagnostic != id) return false;
    if (rule.cause) return diagnostic.has(*rule.cause);
    // A rule may require that the message contains certain words. For other rules,
    // required_message_text is empty, and every message contains the empty text.
    return diagnostic.message.find(rule.required_message_text) != std::string::npos;
  });
  return found == rules.end() ? nullptr : &*found;
}

// The rules stay in the order of the texts, because the first of several matching rules wins.
Result<std::shared_ptr<const RuleSet>> make_rules(std::span<const Source> texts, std::size_t own) {
  auto set = std::make_shared<RuleSet>();
  for (std::size_t i = 0; i < texts.size(); ++i) {
    if (const auto error = RuleReader(texts[i], i < own, set.get()).read()) return *error;
  }
  std::vector<std::pair<std::string, std::uint32_t>> literals;
  for (std::uint32_t i = 0; i < set->rules.size(); ++i) {
    for (const std::string& literal : set->rules[i].literals) {
      if (!literal.empty()) literals.emplace_back(literal, i);
    }
  }
  if (!set->literal_finder.build(literals)) {
    return Error{Error::Code::kTooLarge, "the rules' literals are too many"};
  }
  return std::shared_ptr<const RuleSet>(std::move(set));
}

}  // namespace guide

// The user's rules come first, so they win over those that come with Groma.
Result<GuideRules> GuideRules::make(std::span<const Source> own) {
  std::vector<Source> texts(own.begin(), own.end());
  for (const guide::RuleFile& file : guide::rule_files()) {
    texts.emplace_back(std::string(file.name), std::string(file.text));
  }
  auto set = guide::make_rules(texts, own.size());
  if (!set) return set.error();
  return GuideRules(std::move(set).value());
}

std::size_t GuideRules::size() const { return set_->rules.size(); }

}  // namespace groma
