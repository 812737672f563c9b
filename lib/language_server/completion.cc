// Finds the statement at the cursor by its tokens, and which part of the statement comes next.
#include "language_server/completion.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "language_server/word_help.h"
#include "syntax/lexer.h"
#include "syntax/methods.h"
#include "syntax/token.h"

namespace groma::language_server {
namespace {

using syntax::StatementKind;
using syntax::Token;
using syntax::TokenKind;

// Limit on the bytes before the cursor that are read. Functions and statements are shorter.
constexpr std::size_t kMaxLookBack = std::size_t{64} << 10;

bool is_word(TokenKind kind) { return kind >= TokenKind::kName && kind <= TokenKind::kMachine; }
bool is_path_sign(TokenKind kind) {
  return kind == TokenKind::kDot || kind == TokenKind::kColonColon;
}

// The text before the cursor as tokens.
struct Before {
  std::vector<Token> tokens;
  bool in_comment = false;
};

Before read_before(const Source& source, std::size_t offset) {
  Before before;
  std::size_t begin = 0;
  if (offset > kMaxLookBack) {
    begin = source.text().find('\n', offset - kMaxLookBack);
    begin = begin < offset ? begin + 1 : offset;
  }
  const Source part("", std::string(source.text().substr(begin, offset - begin)));
  Diagnostics ignored(part);
  std::vector<syntax::SourceComment> comments;
  syntax::Lexer lexer(part, ignored, &comments);
  for (Token token = lexer.next_token(); token.kind != TokenKind::kEnd;
       token = lexer.next_token()) {
    token.range.begin += static_cast<std::uint32_t>(begin);
    token.range.end += static_cast<std::uint32_t>(begin);
    before.tokens.push_back(token);
  }
  before.in_comment = !comments.empty() &&
                      part.text().find('\n', comments.back().range.begin) == std::string_view::npos;
  return before;
}

// What may stand at the cursor.
struct Place {
  bool statement = false;
  // In the body of a function, or in a `when` block.
  bool body = false, block = false;
  bool tasks = false, regions = false, processors = false, memories = false, constraints = false;
  bool functions = false, expression = false, types = false, all = false;
  bool limit_scopes = false, steal_scopes = false;
  // Behind a `.`: the kind of value before it, if it is known.
  bool members = false;
  std::optional<MemberOf> members_of;
};

// Returns true if a token belongs to the same name pattern as the token before it.
bool continues_pattern(const Token& before, const Token& token) {
  const bool is_adjacent = before.range.end == token.range.begin;
  return is_adjacent &&
         (token.kind == TokenKind::kStar ? is_word(before.kind)
                                         : before.kind == TokenKind::kStar && is_word(token.kind));
}

// Returns the part of a statement in which the cursor stands: 0 for the first one behind the word
// of the statement. The parts are separated by spaces; the items of one part by commas.
std::size_t part_at_cursor(const std::vector<Token>& tokens, std::size_t first) {
  std::size_t part = 0;
  bool item_is_open = false;
  for (std::size_t i = first; i < tokens.size(); ++i) {
    const TokenKind kind = tokens[i].kind;
    // `main > step[dim=2]` is one item.
    if (kind == TokenKind::kComma || kind == TokenKind::kGreater) {
      item_is_open = false;
    } else if (kind == TokenKind::kLeftBracket) {
      while (i < tokens.size() && tokens[i].kind != TokenKind::kRightBracket) ++i;
    } else if (is_path_sign(kind)) {
      ++i;  // the next word belongs to the same name
    } else if (i > first && continues_pattern(tokens[i - 1], tokens[i])) {
      continue;
    } else {
      if (item_is_open) ++part;
      item_is_open = true;
    }
  }
  return item_is_open ? part + 1 : part;
}

// Returns true for the word with which a `when` block begins. It is not reserved.
bool is_when(const Source& source, const Token& token) {
  return token.kind == TokenKind::kName && token.line_start &&
         source.text(token.range) == help_for_when().word;
}

// Returns the index of the first token of the statement at the cursor; the number of tokens if a
// new statement begins there. Sets `*inside` if the cursor is inside of brackets.
std::size_t begin_of_statement(const Source& source, const std::vector<Token>& tokens,
                               bool* inside) {
  int closed = 0;  // brackets that are closed between the token and the cursor
  for (std::size_t begin = tokens.size(); begin > 0; --begin) {
    const TokenKind kind = tokens[begin - 1].kind;
    if (kind == TokenKind::kRightParen || kind == TokenKind::kRightBracket) ++closed;
    if (kind == TokenKind::kLeftParen || kind == TokenKind::kLeftBracket) {
      if (--closed < 0) *inside = true;
    }
    if (kind == TokenKind::kSemicolon || kind == TokenKind::kLeftBrace ||
        kind == TokenKind::kRightBrace) {
      return begin;
    }
    const TokenKind previous = begin >= 2 ? tokens[begin - 2].kind : TokenKind::kEnd;
    // `Task` may also be the type of a parameter.
    const bool is_type = previous == TokenKind::kLeftParen || previous == TokenKind::kComma;
    if (kind == TokenKind::kStatementWord && !is_type) return begin - 1;
    if (kind == TokenKind::kAssign && previous == TokenKind::kName &&
        tokens[begin - 2].line_start) {
      return begin - 2;
    }
    if (is_when(source, tokens[begin - 1])) return begin - 1;
  }
  return 0;
}

// Fills in what may stand in the given part of a statement about tasks or data.
void add_parts(StatementKind kind, std::size_t part, Place& place) {
  place.tasks = place.all = part == 0;
  switch (kind) {
    case StatementKind::kTask:
      place.processors = part == 1;
      break;
    case StatementKind::kRegion:
      place.regions = part == 1;
      place.processors = part == 2;
      place.memories = part == 3;
      place.all = part <= 2;
      break;
    case StatementKind::kLayout:
      place.regions = part == 1;
      place.processors = place.memories = part == 2;
      place.constraints = part >= 3;
      place.all = part <= 2;
      break;
    case StatementKind::kCollectMemory:
      place.regions = part == 1;
      place.all = part <= 1;
      break;
    case StatementKind::kInstanceLimit:
      place.processors = part == 1;
      place.limit_scopes = part >= 2;
      break;
    case StatementKind::kIndexTaskMap:
    case StatementKind::kSingleTaskMap:
      place.processors = part == 0;
      place.functions = part == 1;
      break;
    case StatementKind::kTaskSteal:
      place.processors = part == 1;
      place.steal_scopes = part == 2;
      break;
    default:
      break;
  }
}

class Completer {
 public:
  Completer(const Source& source, std::size_t offset, const CompletionNames& names)
      : source_(source), offset_(offset), names_(names) {}

  Completion complete() {
    result_.replaced = {static_cast<std::uint32_t>(offset_), static_cast<std::uint32_t>(offset_)};
    Before before = read_before(source_, offset_);
    if (before.in_comment) return std::move(result_);
    std::vector<Token>& tokens = before.tokens;
    // A quotation that is still open is a mistake for the lexer.
    if (!tokens.empty() &&
        (tokens.back().kind == TokenKind::kError ||
         (tokens.back().kind == TokenKind::kString && tokens.back().range.end == offset_))) {
      return std::move(result_);
    }
    // A pattern that is being written names nothing that could be offered.
    const bool in_pattern = tokens.size() >= 2 && tokens.back().range.end == offset_ &&
                            continues_pattern(tokens[tokens.size() - 2], tokens.back());
    if (in_pattern) return std::move(result_);
    // The word that is being written does not count as written.
    if (!tokens.empty() && is_word(tokens.back().kind) && tokens.back().range.end == offset_) {
      result_.replaced.begin = tokens.back().range.begin;
      tokens.pop_back();
    }
    const Place place = find_place(tokens);
    prefix_ = std::string(source_.text(result_.replaced));
    add_entries(place);
    return std::move(result_);
  }

 private:
  // Returns true if the cursor is on a new line.
  bool on_new_line(const std::vector<Token>& tokens) const {
    if (tokens.empty()) return true;
    const std::uint32_t from = tokens.back().range.end;
    return source_.text({from, result_.replaced.begin}).find('\n') != std::string_view::npos;
  }

  Place find_place(std::vector<Token>& tokens) {
    bool inside = false;
    const std::size_t begin = begin_of_statement(source_, tokens, &inside);
    // The braces of a `when` block are no body of a function.
    bool in_body = false, in_block = false, after_def = false;
    for (std::size_t i = 0; i < begin; ++i) {
      after_def = after_def || is_def(tokens[i]);
      if (tokens[i].kind == TokenKind::kLeftBrace) {
        in_body = std::exchange(after_def, false);
        in_block = !in_body;
      }
      if (tokens[i].kind == TokenKind::kRightBrace) in_body = in_block = false;
    }
    Place place;
    place.body = in_body;
    place.block = in_block;
    if (in_body && names_.symbols != nullptr) function_ = names_.symbols->function_before(offset_);
    const bool starts = begin < tokens.size() && tokens[begin].kind == TokenKind::kStatementWord;
    const TokenKind last = tokens.empty() ? TokenKind::kEnd : tokens.back().kind;
    if (begin == tokens.size() || (on_new_line(tokens) && ends_item(last) && !inside)) {
      // A new line may go on with the constraints or the scope of the statement before it, but
      // people begin a statement there.
      place.statement = true;
      return place;
    }
    if (!starts) {
      place.expression = begin + 1 == tokens.size() && is_when(source_, tokens[begin]);
      return place.expression ? place : expression_place(tokens, place);
    }
    const auto kind = static_cast<StatementKind>(tokens[begin].value);
    if (kind == StatementKind::kDef) {
      place.types = last == TokenKind::kLeftParen || last == TokenKind::kComma;
      return place;
    }
    if (kind == StatementKind::kPrint || kind == StatementKind::kReturn) {
      return expression_place(tokens, place);
    }
    // In a selector such as `update[dim=2]`, nothing can be offered.
    if (inside) return place;
    // The part of a path before the cursor belongs to the name.
    std::size_t end = tokens.size();
    while (end >= begin + 3 && is_path_sign(tokens[end - 1].kind)) {
      result_.replaced.begin = tokens[end - 2].range.begin;
      end -= 2;
    }
    tokens.resize(end);
    add_parts(kind, part_at_cursor(tokens, begin + 1), place);
    return place;
  }

  static bool is_def(const Token& token) {
    return token.kind == TokenKind::kStatementWord &&
           static_cast<StatementKind>(token.value) == StatementKind::kDef;
  }

  // Returns true if a statement may end behind this token.
  static bool ends_item(TokenKind kind) {
    return is_word(kind) || kind == TokenKind::kStar || kind == TokenKind::kRightParen ||
           kind == TokenKind::kRightBracket || kind == TokenKind::kRightBrace ||
           kind == TokenKind::kSemicolon || kind == TokenKind::kEnd;
  }

  // Fills in what may stand in an expression: a member behind `.`, a kind in `Machine(`, or a
  // value.
  Place expression_place(const std::vector<Token>& tokens, Place place) {
    const auto kind_at = [&](std::size_t from_end) {
      return tokens.size() >= from_end ? tokens[tokens.size() - from_end].kind : TokenKind::kEnd;
    };
    if (kind_at(1) == TokenKind::kDot) {
      place.members = true;
      if (kind_at(2) == TokenKind::kName) {
        place.members_of = members_of(source_.text(tokens[tokens.size() - 2].range));
      } else if (kind_at(2) == TokenKind::kRightParen) {
        place.members_of = MemberOf::kMachine;
      }
      return place;
    }
    if (kind_at(1) == TokenKind::kLeftParen && kind_at(2) == TokenKind::kMachine) {
      place.processors = true;
      return place;
    }
    if (kind_at(1) == TokenKind::kLeftParen && kind_at(2) == TokenKind::kName &&
        kind_at(3) == TokenKind::kDot &&
        source_.text(tokens[tokens.size() - 2].range) == syntax::name_of(syntax::Method::kHas)) {
      place.memories = true;
      return place;
    }
    const TokenKind last = kind_at(1);
    const bool value_follows =
        !is_word(last) || last == TokenKind::kIn || last == TokenKind::kStatementWord;
    place.expression =
        value_follows && last != TokenKind::kRightParen && last != TokenKind::kRightBracket;
    return place;
  }

  // Returns the kind of value that a variable has, if its declaration as a parameter tells.
  std::optional<MemberOf> members_of(std::string_view name) const {
    if (names_.symbols == nullptr) return std::nullopt;
    for (const Symbol& symbol : names_.symbols->symbols) {
      if (symbol.name != name || symbol.kind != SymbolKind::kParameter || !is_visible(symbol)) {
        continue;
      }
      if (symbol.type == syntax::ParamType::kTask) return MemberOf::kTask;
      if (symbol.type == syntax::ParamType::kMSpace) return MemberOf::kMachine;
    }
    return std::nullopt;
  }

  void add(std::string_view text, CompletionKind kind, std::string_view detail = {},
           std::string_view description = {}) {
    // A client shows only what begins like the word; a long list is cut to that here.
    if (text.empty() || !seen_.emplace(text, kind).second) return;
    if (!prefix_.empty() && !begins_alike(text)) return;
    if (result_.entries.size() >= kMaxCompletions) {
      result_.complete = false;
      return;
    }
    result_.entries.push_back(
        {std::string(text), kind, std::string(detail), std::string(description)});
  }
  // Compares without regard to case. A quoted name begins behind its quote.
  bool begins_alike(std::string_view text) const {
    if (text.starts_with('"')) text.remove_prefix(1);
    const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
    return text.size() >= prefix_.size() &&
           std::equal(prefix_.begin(), prefix_.end(), text.begin(),
                      [&](char a, char b) { return lower(a) == lower(b); });
  }
  void add_reserved(TokenKind kind, CompletionKind as) {
    for (const syntax::ReservedWord& word : syntax::reserved_words()) {
      if (word.kind != kind) continue;
      const auto help = help_for_reserved(word);
      add(word.text, as, help ? help->form : "", help ? help->description : "");
    }
  }
  void add_kind(std::string_view name, CompletionKind as) {
    const auto help = help_for_reserved(*syntax::find_reserved_word(name));
    add(name, as, "", help ? help->description : "");
  }
  void add_names(const std::vector<std::string>& known, SymbolKind used, CompletionKind as) {
    const auto add_name = [&](const std::string& name) {
      if (const auto written = syntax::name_as_written(name)) add(*written, as);
    };
    for (const std::string& name : known) add_name(name);
    for_symbols(used, add_name);
  }
  template <typename Add>
  void for_symbols(SymbolKind kind, const Add& add_name) const {
    if (names_.symbols == nullptr) return;
    for (const Symbol& symbol : names_.symbols->symbols) {
      if (symbol.kind == kind && is_visible(symbol)) add_name(symbol.name);
    }
  }
  // Returns false for variables of other functions than the one at the cursor.
  bool is_visible(const Symbol& symbol) const {
    return !symbol.function || symbol.function == function_;
  }

  void add_entries(const Place& place) {
    const auto plain = [this](CompletionKind as) {
      return [this, as](const std::string& name) { add(name, as); };
    };
    if (place.statement) add_statements(place);
    if (place.all) add("*", CompletionKind::kKeyword, "", "All.");
    if (place.tasks) add_names(names_.known.tasks, SymbolKind::kTask, CompletionKind::kTask);
    if (place.regions) {
      add_names(names_.known.regions, SymbolKind::kRegion, CompletionKind::kRegion);
    }
    if (place.processors) {
      for (ProcKind kind : names_.known.processors) {
        add_kind(name_of(kind), CompletionKind::kProcessor);
      }
    }
    if (place.memories) {
      for (MemKind kind : names_.known.memories) add_kind(name_of(kind), CompletionKind::kMemory);
    }
    if (place.constraints) add_reserved(TokenKind::kConstraintWord, CompletionKind::kLayout);
    if (place.functions) for_symbols(SymbolKind::kFunction, plain(CompletionKind::kFunction));
    if (place.limit_scopes) {
      add_kind(syntax::spelling_of(LimitScope::kNode), CompletionKind::kKeyword);
      add_kind(syntax::spelling_of(LimitScope::kMachine), CompletionKind::kKeyword);
    }
    if (place.steal_scopes) add_reserved(TokenKind::kScopeWord, CompletionKind::kKeyword);
    if (place.types) {
      add_reserved(TokenKind::kTypeWord, CompletionKind::kType);
      add(spelling_of(syntax::ParamType::kTask), CompletionKind::kType);
    }
    if (place.members) add_members(place.members_of);
    if (place.expression) {
      for_symbols(SymbolKind::kParameter, plain(CompletionKind::kVariable));
      for_symbols(SymbolKind::kLocal, plain(CompletionKind::kVariable));
      for_symbols(SymbolKind::kGlobal, plain(CompletionKind::kVariable));
      for_symbols(SymbolKind::kFunction, plain(CompletionKind::kFunction));
      add_reserved(TokenKind::kMachine, CompletionKind::kFunction);
      add("tuple", CompletionKind::kFunction, "tuple(E for i in R)",
          "A tuple with E for each item i of R.");
      add_reserved(TokenKind::kTrue, CompletionKind::kKeyword);
      add_reserved(TokenKind::kFalse, CompletionKind::kKeyword);
    }
  }

  // Adds the words that begin a statement: in a body or a block only those that may stand there.
  void add_statements(const Place& place) {
    for (const syntax::ReservedWord& word : syntax::reserved_words()) {
      if (word.kind != TokenKind::kStatementWord) continue;
      const auto kind = static_cast<StatementKind>(word.value);
      const bool in_body = kind == StatementKind::kPrint || kind == StatementKind::kReturn;
      const bool in_block = !in_body && kind != StatementKind::kDef;
      if (place.body ? !in_body : place.block ? !in_block : kind == StatementKind::kReturn)
        continue;
      const auto help = help_for_reserved(word);
      add(word.text, CompletionKind::kKeyword, help->form, help->description);
    }
    if (place.body || place.block) return;
    const WordHelp when = help_for_when();
    add(when.word, CompletionKind::kKeyword, when.form, when.description);
  }

  void add_members(std::optional<MemberOf> of) {
    for (const MemberHelp& member : member_help()) {
      if (of && member.of != *of) continue;
      add(member.word, member.is_operation ? CompletionKind::kOperation : CompletionKind::kMember,
          member.form, member.description);
    }
  }

  const Source& source_;
  std::size_t offset_;
  const CompletionNames& names_;
  // The function at the cursor, if the cursor is in the body of one.
  std::optional<std::uint32_t> function_;
  std::string prefix_;
  std::set<std::pair<std::string, CompletionKind>, std::less<>> seen_;
  Completion result_;
};

}  // namespace

Completion complete(const Source& source, std::size_t offset, const CompletionNames& names) {
  return Completer(source, std::min(offset, source.text().size()), names).complete();
}

}  // namespace groma::language_server
