// The grammar of the language as a table of productions. Reserved words come from the table in
// token.cc and operators from the parser's, so the grammar cannot differ from what the parser
// reads.
#include "syntax/grammar.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "base/characters.h"
#include "groma/kinds.h"
#include "syntax/lexer.h"
#include "syntax/limits.h"
#include "syntax/methods.h"
#include "syntax/token.h"
#include "syntax/tree.h"

namespace groma::syntax {
namespace {

using Kind = GrammarItem::Kind;

// ------------------------------------------------------------------------------ grammar items

// The next functions build items: a fixed text, the use of a production, one character.
GrammarItem text(std::string_view text) { return {Kind::kText, std::string(text), {}, {}, 0}; }
GrammarItem rule(std::string_view name) { return {Kind::kRule, std::string(name), {}, {}, 0}; }
GrammarItem chars(std::vector<CharRange> ranges) {
  return {Kind::kChars, {}, std::move(ranges), {}, 0};
}
// Builds a compound item and keeps it flat: a sequence inside a sequence, or a choice inside a
// choice, is replaced by its items. A sequence or choice of one item is that item. `most` is for
// kUpTo only.
GrammarItem compound(Kind kind, std::vector<GrammarItem> items, int most = 0) {
  const bool flat = kind == Kind::kSequence || kind == Kind::kChoice;
  std::vector<GrammarItem> parts;
  for (GrammarItem& item : items) {
    if (flat && item.kind == kind) {
      std::move(item.items.begin(), item.items.end(), std::back_inserter(parts));
    } else {
      parts.push_back(std::move(item));
    }
  }
  if (flat && parts.size() == 1) return std::move(parts[0]);
  return {kind, {}, {}, std::move(parts), most};
}

template <typename... Items>
GrammarItem seq(Items... items) {
  return compound(Kind::kSequence, {std::move(items)...});
}
template <typename... Items>
GrammarItem one_of(Items... items) {
  return compound(Kind::kChoice, {std::move(items)...});
}
// The next functions build repetitions: at most one, any number, at least one, at most `most`.
GrammarItem optional(GrammarItem item) { return compound(Kind::kOptional, {std::move(item)}); }
GrammarItem many(GrammarItem item) { return compound(Kind::kMany, {std::move(item)}); }
GrammarItem some(GrammarItem item) { return compound(Kind::kSome, {std::move(item)}); }
GrammarItem up_to(int most, GrammarItem item) {
  return compound(Kind::kUpTo, {std::move(item)}, most);
}
// Returns one or more items with `, ` between them.
GrammarItem list(const GrammarItem& item) { return seq(item, many(seq(text(", "), item))); }

// Returns a choice between fixed texts.
GrammarItem texts(const std::vector<std::string>& words) {
  std::vector<GrammarItem> items;
  for (const std::string& word : words) items.push_back(text(word));
  return compound(Kind::kChoice, std::move(items));
}

// Returns the reserved words of one token kind, in the order of the table.
std::vector<std::string> words(TokenKind kind) {
  std::vector<std::string> found;
  for (const ReservedWord& word : reserved_words()) {
    if (word.kind == kind) found.emplace_back(word.text);
  }
  return found;
}

// Returns a fixed text: a reserved word followed by `after`. If several words have this token kind,
// the text is the first one in the table of reserved words, which the printer writes, too.
GrammarItem word(TokenKind kind, std::string_view after = "") {
  return text(words(kind)[0] + std::string(after));
}
GrammarItem word(StatementKind kind, std::string_view after = " ") {
  return text(std::string(spelling_of(kind)) + std::string(after));
}
// Returns a fixed text: the reserved word of this kind between two spaces.
GrammarItem spaced(TokenKind kind) { return text(" " + words(kind)[0] + " "); }

// Returns the words of the processor or memory kinds in `kinds`. An empty `kinds` stands for all.
template <typename Kind>
std::vector<std::string> kind_words(TokenKind token, const std::vector<Kind>& kinds) {
  std::vector<std::string> all = words(token);
  std::erase_if(all, [&kinds](const std::string& word) {
    return !kinds.empty() && std::none_of(kinds.begin(), kinds.end(),
                                          [&](Kind kind) { return name_of(kind) == word; });
  });
  return all;
}

// Returns a choice between task or region names, quoted where necessary. Without names, what the
// rule `any` says is allowed. Returns nothing if there are names but none of them can be written.
std::optional<GrammarItem> names_of(const std::vector<std::string>& names, const char* any) {
  if (names.empty()) return rule(any);
  std::vector<std::string> written;
  for (const std::string& name : names) {
    if (auto text = name_as_written(name)) written.push_back(*std::move(text));
  }
  return written.empty() ? std::nullopt : std::optional(texts(written));
}

// ------------------------------------------------------------------------------------ free names

// kWordChars are the characters of a word, in ascending order. kInitials are those with which a
// free name may begin: a name without quotes that is not a reserved word.
constexpr std::string_view kWordChars =
    "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz";
constexpr std::string_view kInitials = "_abcdefghijklmnopqrstuvwxyz";

// Returns an item that stands for one character of `among` that is not in `without`. The characters
// of `among` must be in ascending order.
GrammarItem chars_of(std::string_view among, std::string_view without = "") {
  std::vector<CharRange> ranges;
  for (const char c : among) {
    if (without.find(c) != std::string_view::npos) continue;
    const auto code = static_cast<char32_t>(c);
    if (!ranges.empty() && ranges.back().last + 1 == code) {
      ranges.back().last = code;
    } else {
      ranges.push_back({code, code});
    }
  }
  return chars(std::move(ranges));
}

// Returns every character that follows `prefix` in some reserved word, in ascending order.
std::string next_chars(std::string_view prefix) {
  std::string next;
  for (const ReservedWord& word : reserved_words()) {
    if (word.text.size() <= prefix.size() || !word.text.starts_with(prefix)) continue;
    const char c = word.text[prefix.size()];
    if (next.find(c) == std::string::npos) next += c;
  }
  std::sort(next.begin(), next.end());
  return next;
}

// Returns an item for the rest of a free name (one without quotes) that begins with `prefix`, where
// `prefix` also begins a reserved word. A free name must not be a reserved word, so this walks the
// prefix tree of the reserved words:
//
// * A name that has left the tree continues with any characters.
// * A name that is still in the tree may end here, unless `prefix` is itself a reserved word.
GrammarItem after(const std::string& prefix) {
  const bool reserved = find_reserved_word(prefix) != nullptr;
  const std::string next = next_chars(prefix);
  if (next.empty()) return some(rule("word-char"));
  std::vector<GrammarItem> ways;
  for (const char c : next) ways.push_back(seq(text(std::string(1, c)), after(prefix + c)));
  ways.push_back(seq(chars_of(kWordChars, next), many(rule("word-char"))));
  GrammarItem item = compound(Kind::kChoice, std::move(ways));
  return reserved ? item : optional(std::move(item));
}

// Adds `free-name` and one production for each small letter with which a reserved word begins.
void add_free_names(std::vector<Production>& table) {
  std::vector<GrammarItem> ways;
  std::vector<Production> by_letter;
  std::string letters;
  for (const char c : next_chars("")) {
    if (kInitials.find(c) == std::string_view::npos) continue;
    letters += c;
    const std::string initial(1, c);
    by_letter.push_back({"name-" + initial, seq(text(initial), after(initial)), true, ""});
    ways.push_back(rule("name-" + initial));
  }
  ways.insert(ways.begin(), seq(chars_of(kInitials, letters), many(rule("word-char"))));
  table.push_back({"free-name", compound(Kind::kChoice, std::move(ways)), true,
                   "Names: a small letter or `_` first, no reserved word"});
  std::move(by_letter.begin(), by_letter.end(), std::back_inserter(table));
}

// Adds the names of tasks, regions, variables and functions. A path such as `a.b` may contain
// reserved words; a single word must be free or quoted.
void add_names(std::vector<Production>& table) {
  const GrammarItem separator = one_of(text("."), text("::"));
  const GrammarItem path = seq(rule("word"), some(seq(separator, rule("word"))));
  add_free_names(table);
  table.push_back({"word-char", chars_of(kWordChars), true, ""});
  table.push_back({"word",
                   seq(chars({{'A', 'Z'}, {'_', '_'}, {'a', 'z'}}), many(rule("word-char"))), true,
                   ""});
  // A pattern has one `*`, which may stand for the last part of a path.
  table.push_back({"path", path, false, ""});
  table.push_back(
      {"path-start", seq(rule("word"), many(seq(separator, rule("word"))), separator), false, ""});
  table.push_back({"pattern",
                   seq(one_of(rule("free-name"), rule("path"), rule("path-start")), text("*"),
                       optional(rule("free-name"))),
                   false, ""});
  table.push_back({"path-name",
                   one_of(rule("free-name"), rule("path"), rule("quoted-name"), rule("pattern")),
                   false, ""});
  // A task may be selected by the tasks above it and by the dimensions of its launch.
  const GrammarItem below = seq(text(" > "), one_of(rule("path-name"), text("*")));
  const GrammarItem form = seq(text("[dim="), chars({{'0', '9'}}), text("]"));
  table.push_back({"selected-task",
                   one_of(seq(rule("path-name"), many(below), optional(form)),
                          seq(text("*"), some(below), optional(form)), seq(text("*"), form)),
                   false, ""});
}

// ------------------------------------------------------------------------------------ statements

// Adds the start of the grammar: lines, comments, and the choice between all statements.
void add_program(std::vector<Production>& table) {
  const GrammarItem blank = optional(text("\n"));
  const GrammarItem code =
      one_of(seq(rule("statement"), rule("end")), rule("function"), rule("when"));
  const GrammarItem comment = seq(rule("comment"), text("\n"));
  table.push_back(
      {"program", seq(rule("line"), many(seq(blank, rule("line")))), false,
       "Programs: a statement, function or comment a line, with one blank line between"});
  table.push_back({"line", one_of(code, comment), false, ""});
  table.push_back({"end", seq(text(";"), rule("line-end")), false, ""});
  table.push_back(
      {"line-end", seq(optional(seq(text("  "), rule("comment"))), text("\n")), false, ""});
  table.push_back(
      {"statement", one_of(rule("decision"), rule("assign"), rule("print")), false, ""});
  std::vector<GrammarItem> decisions;
  for (const char* name : {"task", "region", "layout", "limit", "collect", "index-map",
                           "single-map", "replicate", "steal"}) {
    decisions.push_back(rule(name));
  }
  table.push_back({"decision", compound(Kind::kChoice, std::move(decisions)), false, ""});
  // A block of statements that act on some machines only.
  const GrammarItem inner = seq(text("  "), rule("when-line"));
  table.push_back({"when",
                   seq(text("when "), rule("expr"), text(" {"), rule("line-end"), inner,
                       many(seq(blank, inner)), text("}"), rule("line-end")),
                   false, ""});
  table.push_back({"when-line", one_of(seq(rule("decision"), rule("end")), comment), false, ""});
}

// Adds the statements that decide something: `Task`, `Region`, `Layout` and so on.
void add_decisions(std::vector<Production>& table) {
  const GrammarItem names = rule("names");
  const GrammarItem which = seq(text(" "), rule("which"));
  const GrammarItem any_kind = one_of(rule("proc"), text("*"));
  // IndexTaskMap and SingleTaskMap bind tasks or a processor kind.
  const GrammarItem who = one_of(names, rule("proc"));
  const auto add = [&](std::string_view name, StatementKind kind, GrammarItem rest) {
    table.push_back({std::string(name), seq(word(kind), std::move(rest)), false, ""});
  };
  add("task", StatementKind::kTask, seq(names, text(" "), list(rule("proc"))));
  table.back().heading = "Statements";
  add("region", StatementKind::kRegion,
      seq(names, which, text(" "), any_kind, text(" "), list(rule("mem"))));
  add("layout", StatementKind::kLayout,
      seq(names, which, text(" "), rule("layout-place"), many(seq(text(" "), rule("constraint")))));
  add("limit", StatementKind::kInstanceLimit,
      seq(names, optional(seq(text(" "), rule("proc"))), text(" "), rule("integer"),
          optional(one_of(text(" SAME_NODE"), text(" Machine")))));
  add("collect", StatementKind::kCollectMemory, seq(names, which));
  add("index-map", StatementKind::kIndexTaskMap, seq(who, text(" "), rule("free-name")));
  add("single-map", StatementKind::kSingleTaskMap, seq(who, text(" "), rule("free-name")));
  add("replicate", StatementKind::kControlReplicate, names);
  add("steal", StatementKind::kTaskSteal,
      seq(names, text(" "), rule("proc"), text(" "), texts(words(TokenKind::kScopeWord))));
}

// Adds assignments, `print` and functions. The body of a function has at least one `return`.
void add_functions(std::vector<Production>& table) {
  const GrammarItem expr = rule("expr");
  const GrammarItem gap = optional(text("\n"));
  const GrammarItem parameters = optional(list(rule("parameter")));
  table.push_back({"assign", seq(rule("free-name"), text(" = "), expr), false, ""});
  table.push_back({"print",
                   seq(word(StatementKind::kPrint, "("), rule("string"),
                       many(seq(text(", "), expr)), text(")")),
                   false, ""});
  table.push_back({"function",
                   seq(word(StatementKind::kDef), rule("free-name"), text("("), parameters,
                       text(") {"), rule("line-end"), rule("body"), text("}"), rule("line-end")),
                   false, "Functions"});
  std::vector<std::string> types = words(TokenKind::kTypeWord);
  types.emplace_back(spelling_of(ParamType::kTask));
  table.push_back(
      {"parameter", seq(optional(seq(texts(types), text(" "))), rule("free-name")), false, ""});
  table.push_back({"body",
                   seq(many(seq(rule("step"), gap)), rule("return"),
                       many(seq(gap, one_of(rule("step"), rule("return"))))),
                   false, ""});
  const GrammarItem action = seq(one_of(rule("assign"), rule("print")), rule("end"));
  table.push_back(
      {"step", seq(text("  "), one_of(action, seq(rule("comment"), text("\n")))), false, ""});
  const std::string indented = "  " + std::string(spelling_of(StatementKind::kReturn)) + " ";
  table.push_back({"return", seq(text(indented), expr, rule("end")), false, ""});
}

// ------------------------------------------------------------------------- parts of statements

// Adds the parts of statements: names, kinds, layout constraints. `names` narrows the choice to the
// tasks, regions, kinds and positions that a caller knows.
void add_parts(const GrammarNames& names, std::vector<Production>& table) {
  const auto add = [&](std::string_view name, GrammarItem item) {
    table.push_back({std::string(name), std::move(item), false, ""});
  };
  // If no task has requirements, the grammar allows no positions. If none of the given names can be
  // written, it allows only `*`.
  const bool positions = names.requirements != 0;
  const std::optional<GrammarItem> tasks = names_of(names.tasks, "selected-task");
  const std::optional<GrammarItem> regions = names_of(names.regions, "path-name");
  std::vector<GrammarItem> requirements;
  if (positions) requirements.push_back(rule("position"));
  if (regions) requirements.push_back(rule("region-name"));
  const GrammarItem all = text("*");
  add("names", tasks ? one_of(all, list(rule("task-name"))) : all);
  table.back().heading = "Their parts";
  const bool any = !requirements.empty();
  add("which", any ? one_of(all, list(compound(Kind::kChoice, std::move(requirements)))) : all);
  const std::vector<std::string> memories = kind_words(TokenKind::kMemWord, names.memories);
  std::vector<std::string> places = kind_words(TokenKind::kProcWord, names.processors);
  if (tasks) add("task-name", *tasks);
  if (regions) add("region-name", *regions);
  add("proc", texts(places));
  add("mem", texts(memories));
  for (const std::string& memory : memories) {
    // VIRTUAL is left out, because a virtual instance has no layout.
    if (memory != name_of(MemKind::kVirtual)) places.push_back(memory);
  }
  places.emplace_back("*");
  add("layout-place", texts(places));
  std::vector<std::string> constraints = words(TokenKind::kConstraintWord);
  std::erase(constraints, spelling_of(ConstraintWord::kAlign));
  std::vector<std::string> comparisons;
  for (TokenKind sign : {TokenKind::kEqual, TokenKind::kNotEqual, TokenKind::kLess,
                         TokenKind::kLessEqual, TokenKind::kGreater, TokenKind::kGreaterEqual}) {
    comparisons.emplace_back(spelling_of(sign));
  }
  const GrammarItem align =
      seq(text(spelling_of(ConstraintWord::kAlign)), texts(comparisons), rule("alignment"));
  add("constraint", one_of(texts(constraints), align));
  std::vector<std::string> powers;
  for (int shift = 0; shift <= 21; ++shift) powers.push_back(std::to_string(1 << shift));
  add("alignment", texts(powers));
}

// ------------------------------------------------------------------------------------ expressions

// Adds one production for each precedence of binary operators, beginning with the loosest. The
// operands of each are the next tighter production.
void add_binary(std::vector<Production>& table) {
  constexpr std::string_view kLevels[] = {"disjunction", "conjunction", "equality", "comparison",
                                          "sum",         "product",     "prefix"};
  for (int level = 1; level < static_cast<int>(std::size(kLevels)); ++level) {
    std::vector<std::string> signs;
    for (Operator op = Operator::kOr; op < Operator::kNegate;
         op = static_cast<Operator>(static_cast<int>(op) + 1)) {
      if (precedence_of(op) == level) signs.push_back(" " + std::string(spelling_of(op)) + " ");
    }
    const GrammarItem operand = rule(kLevels[level]);
    table.push_back({std::string(kLevels[level - 1]),
                     seq(operand, many(seq(texts(signs), operand))), false, ""});
  }
}

// Adds the members after a `.`: properties, methods, and methods with a named option. Members are
// not reserved words.
void add_members(std::vector<Production>& table) {
  const GrammarItem arguments = optional(rule("arguments"));
  std::vector<std::string> plain;
  std::vector<GrammarItem> calls = {rule("property"),
                                    seq(rule("operation"), text("("), arguments, text(")"))};
  for (const MethodInfo& method : kMethods) {
    if (method.option.empty()) {
      plain.emplace_back(method.name);
      continue;
    }
    const GrammarItem option = seq(text(std::string(method.option) + "="), rule("expr"));
    calls.push_back(seq(text(std::string(method.name) + "("),
                        list(one_of(rule("argument"), option)), text(")")));
  }
  table.push_back({"member", seq(text("."), compound(Kind::kChoice, std::move(calls))), false, ""});
  table.push_back({"property",
                   texts({"size", "volume", "len", "ipoint", "ispace", "ilo", "irank", "ivolume",
                          "parent", "name"}),
                   false, ""});
  table.push_back({"operation", texts(plain), false, ""});
}

// Adds the expressions without operators: literals, names, calls, tuples and comprehensions.
void add_primaries(std::vector<Production>& table) {
  const GrammarItem expr = rule("expr");
  const GrammarItem arguments = optional(rule("arguments"));
  const GrammarItem name = seq(rule("free-name"), optional(seq(text("("), arguments, text(")"))));
  const GrammarItem machine = seq(word(TokenKind::kMachine, "("), expr, text(")"));
  const GrammarItem comprehension = seq(text("tuple("), expr, spaced(TokenKind::kFor),
                                        rule("free-name"), spaced(TokenKind::kIn), expr, text(")"));
  const GrammarItem truth = one_of(word(TokenKind::kTrue), word(TokenKind::kFalse));
  table.push_back({"primary",
                   one_of(rule("integer"), truth, rule("string"), rule("proc"), rule("mem"), name,
                          machine, comprehension, rule("tuple")),
                   false, ""});
  // One expression in parentheses is not a tuple. A tuple of one item needs a comma or a `*`.
  const GrammarItem items = seq(text(", "), rule("arguments"));
  const GrammarItem contents =
      one_of(seq(expr, optional(one_of(text(","), items))), seq(text("*"), expr, optional(items)));
  table.push_back({"tuple", seq(text("("), optional(contents), text(")")), false, ""});
  table.push_back({"arguments", list(rule("argument")), false, ""});
  table.push_back({"argument", seq(optional(text("*")), expr), false, ""});
}

// Adds all expressions, from the conditional down to the primaries.
void add_expressions(std::vector<Production>& table) {
  const GrammarItem expr = rule("expr");
  table.push_back({"expr",
                   seq(rule("disjunction"), optional(seq(text(" ? "), expr, text(" : "), expr))),
                   false, "Expressions"});
  add_binary(table);
  const GrammarItem signs =
      one_of(text(spelling_of(Operator::kNegate)), text(spelling_of(Operator::kNot)));
  table.push_back({"prefix", one_of(seq(signs, rule("prefix")), rule("postfix")), false, ""});
  table.push_back(
      {"postfix", seq(rule("primary"), many(one_of(rule("member"), rule("index")))), false, ""});
  add_members(table);
  const GrammarItem element = one_of(rule("argument"), text("*"));
  const GrammarItem slice = seq(optional(expr), text(":"), optional(expr));
  table.push_back({"index", seq(text("["), one_of(list(element), slice), text("]")), false, ""});
  add_primaries(table);
}

// ------------------------------------------------------------------------------------ tokens

// The largest number of requirements whose positions the grammar lists. If a task has more, the
// grammar allows any position.
constexpr std::size_t kListedPositions = 64;

// Returns the characters beyond ASCII that a program may contain. Surrogates, U+FFFE, U+FFFF and
// hidden characters are left out. The loop relies on the ascending order of kHidden.
std::vector<CharRange> shown_beyond_ascii() {
  std::vector<CharRange> shown;
  for (CharRange rest :
       {CharRange{0x80, 0xD7FF}, CharRange{0xE000, 0xFFFD}, CharRange{0x10000, 0x10FFFF}}) {
    for (const CharacterRange& hidden : kHidden) {
      if (hidden.last < rest.first || hidden.first > rest.last) continue;
      if (hidden.first > rest.first) shown.push_back({rest.first, hidden.first - 1});
      rest.first = hidden.last + 1;
    }
    if (rest.first <= rest.last) shown.push_back(rest);
  }
  return shown;
}

// Adds integers, positions, strings, quoted names and comments.
void add_tokens(const GrammarNames& names, std::vector<Production>& table) {
  const auto add = [&](std::string_view name, GrammarItem item) {
    table.push_back({std::string(name), std::move(item), true, ""});
  };
  const GrammarItem digit = chars({{'0', '9'}});
  const GrammarItem zero = text("0"), first_digit = chars({{'1', '9'}}), quote = text("\"");
  // Integers have up to 18 digits, so that they fit in 64 bits. Positions have up to four.
  static_assert(9'999 <= kMaxPosition);
  add("integer", one_of(zero, seq(first_digit, up_to(17, digit))));
  table.back().heading = "Tokens";
  std::vector<std::string> positions;
  for (int i = 0; i < names.requirements.value_or(0) && positions.size() <= kListedPositions; ++i) {
    positions.push_back(std::to_string(i));
  }
  const bool any = positions.empty() || positions.size() > kListedPositions;
  add("position", any ? one_of(zero, seq(first_digit, up_to(3, digit))) : texts(positions));
  const std::vector<CharRange> beyond_ascii = shown_beyond_ascii();
  const auto with = [&beyond_ascii](std::vector<CharRange> ascii) {
    ascii.insert(ascii.end(), beyond_ascii.begin(), beyond_ascii.end());
    return chars(std::move(ascii));
  };
  const GrammarItem escaped = seq(text("\\"), one_of(text(" "), rule("visible")));
  const GrammarItem simple_escape = one_of(text("\\\""), text("\\\\"));
  add("visible", with({{'!', '~'}}));
  add("plain", with({{' ', '!'}, {'#', '['}, {']', '~'}}));
  add("string", seq(quote, many(one_of(rule("plain"), escaped)), quote));
  // A quoted name must not be "*" alone because `*` stands for all names.
  const GrammarItem no_star = with({{' ', '!'}, {'#', ')'}, {'+', '['}, {']', '~'}});
  const GrammarItem in_name = one_of(rule("plain"), simple_escape);
  add("quoted-name",
      seq(quote,
          one_of(seq(one_of(no_star, simple_escape), many(in_name)), seq(text("*"), some(in_name))),
          quote));
  add("comment", seq(one_of(text("#"), text("//")), many(seq(many(text(" ")), rule("visible")))));
}

// ------------------------------------------------------------------------------------ the table

// Adds to `used` the name of every production that `item` uses, directly or through other
// productions.
void find_used(const GrammarItem& item, const std::vector<Production>& table,
               std::set<std::string>& used) {
  for (const GrammarItem& part : item.items) find_used(part, table, used);
  if (item.kind != Kind::kRule || !used.insert(item.text).second) return;
  const auto found =
      std::find_if(table.begin(), table.end(),
                   [&item](const Production& production) { return production.name == item.text; });
  find_used(found->item, table, used);
}

// Removes the productions that the first production of the table does not use, directly or through
// others. There are such productions if the grammar allows only given names.
void prune(std::vector<Production>& table) {
  std::set<std::string> used = {table[0].name};
  find_used(table[0].item, table, used);
  std::vector<Production> kept;
  for (Production& production : table) {
    if (used.contains(production.name)) kept.push_back(std::move(production));
  }
  table = std::move(kept);
}

}  // namespace

// Returns the table with the start of the grammar as its first production.
std::vector<Production> grammar_productions(const GrammarNames& names) {
  std::vector<Production> table;
  add_program(table);
  add_decisions(table);
  add_functions(table);
  add_parts(names, table);
  add_expressions(table);
  add_names(table);
  add_tokens(names, table);
  prune(table);
  return table;
}

}  // namespace groma::syntax
