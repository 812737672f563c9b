// From tokens to a tree. Entry point: parse, at the end. The rules of LANGUAGE stand as comments over
// the functions that read them.
//
// Recovery: the first mistake in a statement sets panic_, which silences all others and makes every
// function return at once; finish_statement then skips to where the next statement begins.
#include "syntax/parser.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "groma/spelling.h"
#include "syntax/limits.h"

namespace groma::syntax {

std::string_view spelling(Operator op) {
  constexpr std::string_view kSpellings[] = {"||", "&&", "==", "!=", "<", "<=", ">", ">=",
                                             "+",  "-",  "*",  "/",  "%", "-",  "!"};
  return kSpellings[static_cast<std::size_t>(op)];
}

int precedence(Operator op) {
  constexpr int kPrecedences[] = {1, 2, 3, 3, 4, 4, 4, 4, 5, 5, 6, 6, 6, 7, 7};
  return kPrecedences[static_cast<std::size_t>(op)];
}

namespace {

std::optional<Operator> binary_operator(TokenKind kind) {
  switch (kind) {
    case TokenKind::kOr: return Operator::kOr;
    case TokenKind::kAnd: return Operator::kAnd;
    case TokenKind::kEqual: return Operator::kEqual;
    case TokenKind::kNotEqual: return Operator::kNotEqual;
    case TokenKind::kLess: return Operator::kLess;
    case TokenKind::kLessEqual: return Operator::kLessEqual;
    case TokenKind::kGreater: return Operator::kGreater;
    case TokenKind::kGreaterEqual: return Operator::kGreaterEqual;
    case TokenKind::kPlus: return Operator::kAdd;
    case TokenKind::kMinus: return Operator::kSubtract;
    case TokenKind::kStar: return Operator::kMultiply;
    case TokenKind::kSlash: return Operator::kDivide;
    case TokenKind::kPercent: return Operator::kModulo;
    default: return std::nullopt;
  }
}

std::optional<AlignOp> align_operator(TokenKind kind) {
  switch (kind) {
    case TokenKind::kEqual: return AlignOp::kEq;
    case TokenKind::kNotEqual: return AlignOp::kNe;
    case TokenKind::kLess: return AlignOp::kLt;
    case TokenKind::kLessEqual: return AlignOp::kLe;
    case TokenKind::kGreater: return AlignOp::kGt;
    case TokenKind::kGreaterEqual: return AlignOp::kGe;
    default: return std::nullopt;
  }
}

bool is_word(TokenKind kind) {
  return kind == TokenKind::kName ||
         (kind >= TokenKind::kStatementWord && kind <= TokenKind::kMachine);
}

class Parser {
 public:
  Parser(const Source& source, Diagnostics& diags, bool keep_comments)
      : diags_(diags), lexer_(source, diags, keep_comments ? &tree_.comments : nullptr) {
    tree_.source = source;
    // Room for an ordinary text of this size, so that the vectors need not grow step by step.
    const std::size_t bytes = std::min<std::size_t>(source.text().size(), std::size_t{1} << 20);
    tree_.exprs.reserve(bytes / 10);
    tree_.lists.reserve(bytes / 40);
    tree_.names.reserve(bytes / 40);
    tree_.words.reserve(bytes / 40);
    tree_.statements.reserve(bytes / 32);
    tree_.table.reserve(bytes / 32);
    token_ = lexer_.next();
    next_ = lexer_.next();
  }

  Tree run() {
    while (token_.kind != TokenKind::kEnd) {
      if (token_.kind == TokenKind::kRightBrace) {
        if (expected_braces_ > 0) {
          --expected_braces_;
        } else if (!recovered_) {
          report_expected("a statement");
        }
        panic_ = false;
        recovered_ = true;
        advance();
        continue;
      }
      statement(tree_.statements, false);
    }
    if (tree_.statements.empty() && !diags_.has_errors()) {
      diags_.report(DiagId::kEmptyProgram, std::nullopt)
          .note("every decision is then the default mapper's");
    }
    return std::move(tree_);
  }

 private:
  // ------------------------------------------------------------------------------------ tokens

  void advance() {
    last_end_ = token_.range.end;
    if (diags_.full() || stopped_) {
      token_ = next_ = Token{TokenKind::kEnd, 0, true, {last_end_, last_end_}};
      return;
    }
    token_ = next_;
    next_ = lexer_.next();
  }

  bool at(TokenKind kind) const { return token_.kind == kind; }
  bool at_word(StatementKind kind) const {
    return at(TokenKind::kStatementWord) && token_.value == static_cast<std::uint8_t>(kind);
  }
  bool accept(TokenKind kind) {
    if (!at(kind)) return false;
    advance();
    return true;
  }
  // Reads `kind` or reports that it is missing.
  bool expect(TokenKind kind) {
    if (panic_) return false;
    if (accept(kind)) return true;
    report_expected(fmt::format("`{}`", spelling(kind)));
    return false;
  }

  std::string_view text(Range range) const { return tree_.source.text(range); }

  // The token in words, for "found ...".
  std::string describe(const Token& token) const {
    if (token.kind == TokenKind::kEnd) return "the end of the file";
    const std::string_view shown = text(token.range);
    if (shown.size() <= 40) return fmt::format("`{}`", shown);
    if (token.kind == TokenKind::kString) return "a string";
    return token.kind == TokenKind::kInt ? "an integer" : "a long name";
  }

  // A token that begins a statement wherever it stands in a line.
  bool begins_statement() const {
    return at(TokenKind::kStatementWord) ||
           (at(TokenKind::kName) && next_.kind == TokenKind::kAssign);
  }
  // One at a line's start outside brackets: what is missing before it is one mistake.
  bool at_next_statement() const {
    return token_.line_start && brackets_ == 0 && begins_statement();
  }

  // ------------------------------------------------------------------------------------ mistakes

  // Reports and panics; null when a mistake in this statement was reported before.
  template <typename... Args>
  Diagnostic* report(DiagId id, Range range, const Args&... args) {
    if (panic_) return nullptr;
    panic_ = true;
    return &diags_.report(id, range, args...);
  }

  void report_expected(std::string_view what) {
    if (at(TokenKind::kError)) panic_ = true;  // the lexer has spoken
    report(DiagId::kExpectedToken, token_.range, what, describe(token_));
  }

  void report_too_large(std::size_t limit, std::string_view what) {
    report(DiagId::kProgramTooLarge, token_.range, limit, what);
    stopped_ = true;
  }

  // The words that could stand for the mistyped one, as a help and a fix; sure when only case differs.
  void suggest(Diagnostic& diagnostic, Range range, std::span<const std::string_view> candidates) {
    const std::string_view word = text(range);
    const auto near = near_names(word, candidates);
    if (near.empty()) {
      diagnostic.note(fmt::format("there are {}", join_names(candidates, "and")));
      return;
    }
    diagnostic.help(fmt::format("did you mean {}?", join_names(near)));
    const bool same_letters =
        near[0].size() == word.size() &&
        std::equal(word.begin(), word.end(), near[0].begin(), [](char a, char b) {
          return std::tolower(static_cast<unsigned char>(a)) ==
                 std::tolower(static_cast<unsigned char>(b));
        });
    diagnostic.fix({fmt::format("write `{}`", near[0]), {{range, std::string(near[0])}},
                    same_letters});
  }

  void suggest(Diagnostic& diagnostic, Range range, TokenKind kind) {
    std::vector<std::string_view> candidates;
    for (const ReservedWord& word : reserved_words()) {
      if (word.kind == kind) candidates.push_back(word.text);
    }
    suggest(diagnostic, range, candidates);
  }

  // Skips to where the next statement can begin.
  void synchronize(bool in_body) {
    while (!at(TokenKind::kEnd) && !at(TokenKind::kRightBrace)) {
      if (accept(TokenKind::kSemicolon)) return;
      if (token_.line_start && begins_statement()) return;
      // In the middle of a line `Task` may be a parameter's type.
      if (at(TokenKind::kStatementWord) && !at_word(StatementKind::kTask) &&
          (in_body || !at_word(StatementKind::kReturn))) {
        return;
      }
      advance();
    }
  }

  // A statement ends at `;`, before `}`, or at a line's end.
  void finish_statement(bool in_body) {
    recovered_ = panic_;
    brackets_ = 0;
    if (panic_) {
      panic_ = false;
      synchronize(in_body);
      return;
    }
    if (accept(TokenKind::kSemicolon)) return;
    if (at(TokenKind::kRightBrace) || at(TokenKind::kEnd) || token_.line_start) return;
    if (begins_statement()) {
      diags_.report(DiagId::kMissingSemicolon, token_.range, describe(token_))
          .note("two statements on one line need a `;` between them")
          .fix({"insert `;`", {{{last_end_, last_end_}, ";"}}, true});
      return;
    }
    report_expected("`;` or the end of the line");
    finish_statement(in_body);
  }

  // ------------------------------------------------------------------------------------ statements

  void statement(std::vector<Statement>& into, bool in_body) {
    if (++statement_count_ > kMaxStatements) {
      report_too_large(kMaxStatements, "statements");
      advance();
      return;
    }
    const std::uint32_t begin = token_.range.begin;
    Statement made;
    const bool known = in_body ? body_statement(made) : top_statement(made);
    const bool complete = known && !panic_;
    const bool body_read = std::holds_alternative<DefStatement>(made.node) && !panic_;
    made.range = {begin, std::max(begin, last_end_)};
    if (!body_read) finish_statement(in_body);
    made.end = std::max(begin, last_end_);
    if (complete) into.push_back(std::move(made));
  }

  bool top_statement(Statement& made) {
    if (begins_statement() && at(TokenKind::kName)) return assign(made);
    if (reserved_target()) return assign(made);
    if (!at(TokenKind::kStatementWord)) return unknown_statement();
    const auto kind = static_cast<StatementKind>(token_.value);
    if (kind == StatementKind::kReturn) {
      report(DiagId::kMisplacedStatement, token_.range, "return", "outside a function");
      advance();  // else it would begin the next statement, and so on
      return false;
    }
    advance();
    switch (kind) {
      case StatementKind::kTask: return task(made);
      case StatementKind::kRegion: return region(made);
      case StatementKind::kLayout: return layout(made);
      case StatementKind::kInstanceLimit: return instance_limit(made);
      case StatementKind::kCollectMemory: return collect_memory(made);
      case StatementKind::kIndexTaskMap: return task_map(made, true);
      case StatementKind::kSingleTaskMap: return task_map(made, false);
      case StatementKind::kControlReplicate: return control_replicate(made);
      case StatementKind::kTaskSteal: return task_steal(made);
      case StatementKind::kPrint: return print(made);
      case StatementKind::kDef: return def(made);
      case StatementKind::kReturn:
      case StatementKind::kAssign: break;
    }
    return false;
  }

  // body : assign | print | return
  bool body_statement(Statement& made) {
    if (begins_statement() && at(TokenKind::kName)) return assign(made);
    if (reserved_target()) return assign(made);
    if (at_word(StatementKind::kPrint)) {
      advance();
      return print(made);
    }
    if (at_word(StatementKind::kReturn)) {
      advance();
      ReturnStatement node;
      node.value = expression();
      made.node = node;
      return true;
    }
    if (at(TokenKind::kStatementWord)) {
      report(DiagId::kMisplacedStatement, token_.range, text(token_.range), "in a function");
      advance();
      return false;
    }
    return unknown_statement();
  }

  // A reserved word where an assignment's target is due: `GPU = 3`.
  bool reserved_target() const {
    return is_word(token_.kind) && next_.kind == TokenKind::kAssign;
  }

  bool unknown_statement() {
    if (at(TokenKind::kError)) panic_ = true;
    if (Diagnostic* diagnostic =
            report(DiagId::kUnknownStatement, token_.range, describe(token_))) {
      if (at(TokenKind::kName)) {
        suggest(*diagnostic, token_.range, TokenKind::kStatementWord);
      }
      if (at(TokenKind::kEqual)) diagnostic->help("remove this line; a comment begins with `#`");
      if (at(TokenKind::kSemicolon)) diagnostic->fix({"remove it", {{token_.range, ""}}, true});
    }
    advance();
    return false;
  }

  // task : Task NAMES PROC (',' PROC)*
  bool task(Statement& made) {
    TaskStatement node;
    node.names = names("task", token_is_proc());
    node.procs = word_list(TokenKind::kProcWord);
    made.node = node;
    return true;
  }

  // region : Region NAMES WHICH PLACE MEM (',' MEM)*
  bool region(Statement& made) {
    RegionStatement node;
    node.names = names("task");
    node.which = which();
    node.place = place(false);
    node.memories = word_list(TokenKind::kMemWord);
    made.node = node;
    return true;
  }

  // layout : Layout NAMES WHICH PLACE constraint*
  bool layout(Statement& made) {
    LayoutStatement node;
    node.names = names("task");
    node.which = which();
    node.place = place(true);
    node.constraints = constraints();
    made.node = node;
    return true;
  }

  // limit : InstanceLimit NAMES [PROC] INT
  bool instance_limit(Statement& made) {
    InstanceLimitStatement node;
    node.names = names("task", token_is_proc());
    if (!panic_ && !at(TokenKind::kInt)) node.proc = kind_word(TokenKind::kProcWord);
    node.limit = integer("the most instances, an integer");
    made.node = node;
    return true;
  }

  // collect : CollectMemory NAMES WHICH
  bool collect_memory(Statement& made) {
    CollectMemoryStatement node;
    node.names = names("task");
    node.which = which();
    made.node = node;
    return true;
  }

  // indexmap : IndexTaskMap (NAMES | PROC) NAME, and singlemap
  bool task_map(Statement& made, bool index) {
    TaskMapStatement node;
    node.index = index;
    const bool path = next_.kind == TokenKind::kDot || next_.kind == TokenKind::kColonColon;
    if (at(TokenKind::kProcWord) && !path) {
      node.proc = kind_word(TokenKind::kProcWord);
    } else {
      node.names = names("task");
    }
    node.function = plain_name("function");
    made.node = node;
    return true;
  }

  // replicate : ControlReplicate NAMES
  bool control_replicate(Statement& made) {
    ControlReplicateStatement node;
    node.names = names("task");
    made.node = node;
    return true;
  }

  // steal : TaskSteal NAMES PROC (SAME_NODE | ANY_NODE)
  bool task_steal(Statement& made) {
    TaskStealStatement node;
    node.names = names("task", token_is_proc());
    node.proc = kind_word(TokenKind::kProcWord);
    if (!panic_) {
      if (at(TokenKind::kScopeWord)) {
        node.scope = static_cast<StealScope>(token_.value);
        advance();
      } else {
        report_expected("`SAME_NODE` or `ANY_NODE`");
      }
    }
    made.node = node;
    return true;
  }

  // assign : NAME '=' expr
  bool assign(Statement& made) {
    AssignStatement node;
    node.target = plain_name("variable");
    expect(TokenKind::kAssign);
    node.value = expression();
    made.node = node;
    return true;
  }

  // print : print '(' STRING (',' expr)* ')'
  bool print(Statement& made) {
    PrintStatement node;
    const std::uint32_t open = token_.range.begin;
    if (!expect(TokenKind::kLeftParen)) return true;
    ++brackets_;
    node.text = token_.range;
    if (at(TokenKind::kString)) {
      advance();
    } else {
      report_expected("a string between double quotes");
    }
    const std::size_t first = pending_.size();
    while (!panic_ && accept(TokenKind::kComma)) pending_.push_back(expression());
    node.args = take_pending(first);
    close(TokenKind::kRightParen, open);
    made.node = node;
    return true;
  }

  // def : def NAME '(' [param (',' param)*] ')' ( '{' body* '}' | ':' body* return )
  bool def(Statement& made) {
    DefStatement node;
    node.name = plain_name("function");
    node.params = params();
    if (panic_ && !skip_to_body()) return true;
    const bool header_failed = panic_;
    panic_ = false;
    std::vector<Statement> body;
    const auto first_expr = static_cast<std::uint32_t>(tree_.exprs.size());
    const Token opening = token_;
    if (accept(TokenKind::kLeftBrace)) {
      braced_body(body, opening);
    } else if (accept(TokenKind::kColon)) {
      colon_body(body, opening, node.name);
    } else {
      report_expected("`{`");
    }
    node.body = {static_cast<std::uint32_t>(tree_.bodies.size()),
                 static_cast<std::uint32_t>(body.size())};
    node.exprs = {first_expr, static_cast<std::uint32_t>(tree_.exprs.size()) - first_expr};
    std::move(body.begin(), body.end(), std::back_inserter(tree_.bodies));
    made.node = node;
    return !header_failed;
  }

  // After a mistake in a function's head: to its `{`, if that comes before the next statement.
  bool skip_to_body() {
    while (!at(TokenKind::kEnd) && !at(TokenKind::kRightBrace) && !at(TokenKind::kSemicolon)) {
      if (at(TokenKind::kLeftBrace)) return true;
      if (token_.line_start && begins_statement()) return false;
      advance();
    }
    return false;
  }

  void braced_body(std::vector<Statement>& body, const Token& opening) {
    while (!at(TokenKind::kEnd) && !at(TokenKind::kRightBrace)) {
      if (token_.line_start && at(TokenKind::kStatementWord) && !at_word(StatementKind::kPrint) &&
          !at_word(StatementKind::kReturn)) {
        break;  // `Region` and its like never stand in a body: the brace is missing
      }
      statement(body, true);
    }
    if (accept(TokenKind::kRightBrace)) return;
    diags_.report(DiagId::kUnclosedBracket, token_.range, "}", describe(token_))
        .note("the function's body begins here", opening.range);
    ++expected_braces_;
    recovered_ = true;
  }

  // The paper's form: up to the first return.
  void colon_body(std::vector<Statement>& body, const Token& opening, const Name& name) {
    bool returned = false;
    while (!returned && !at(TokenKind::kEnd) && !at(TokenKind::kRightBrace)) {
      const bool body_word = at_word(StatementKind::kPrint) || at_word(StatementKind::kReturn);
      if (at(TokenKind::kStatementWord) && !body_word) break;
      const bool is_return = at_word(StatementKind::kReturn);
      statement(body, true);
      returned = is_return;
    }
    if (recovered_ && !returned) return;
    if (!returned) {
      diags_.report(DiagId::kMissingReturn, name.range, text(name.range))
          .note("a body after `:` ends with its first `return`, and there is none");
      body.clear();
      panic_ = recovered_ = true;
      return;
    }
    diags_.report(DiagId::kColonBody, opening.range)
        .note("the original language does not take this form")
        .fix({"write braces",
              {{opening.range, " {"}, {{last_end_, last_end_}, "\n}"}},
              true});
  }

  // ------------------------------------------------------------------------------------ their parts

  bool token_is_proc() const { return at(TokenKind::kProcWord); }

  // NAMES : '*' | name (',' name)*. A kind that stands directly before `,`, `;` or the end is more
  // likely the kind of a statement whose name was left out (`kind_follows`).
  List names(std::string_view of_what, bool kind_follows = false) {
    List list{static_cast<std::uint32_t>(tree_.names.size()), 0};
    if (panic_) return list;
    if (at(TokenKind::kStar)) {
      tree_.names.push_back({kStarName, token_.range});
      advance();
      list.count = 1;
      if (at(TokenKind::kComma)) report_expected("nothing after `*`, which means all");
      return list;
    }
    const bool name_missing = kind_follows && (next_.kind == TokenKind::kSemicolon ||
                                               next_.kind == TokenKind::kEnd || next_.line_start ||
                                               next_.kind == TokenKind::kInt);
    if (name_missing) {
      report_expected(fmt::format("the name of a {} or `*`", of_what));
      return list;
    }
    do {
      if (list.count == kMaxListItems) report_too_large(kMaxListItems, "names in a list");
      if (panic_) break;
      tree_.names.push_back(path_name(of_what));
      ++list.count;
    } while (!panic_ && accept(TokenKind::kComma));
    return list;
  }

  // name : WORD (('.' | '::') WORD)* | STRING
  Name path_name(std::string_view of_what) {
    Name name;
    name.range = token_.range;
    if (at_next_statement()) {
      report_expected(fmt::format("the name of a {}", of_what));
      return name;
    }
    if (at(TokenKind::kString)) {
      name.id = tree_.table.own(string_value(text(token_.range)));
      if (name.id == kStarName) report(DiagId::kKindAsName, token_.range, "*", of_what);
      advance();
      return name;
    }
    const bool path = next_.kind == TokenKind::kDot || next_.kind == TokenKind::kColonColon;
    if (!at(TokenKind::kName) && !(is_word(token_.kind) && path)) return bad_name(of_what);
    advance();
    bool contiguous = true;
    while (at(TokenKind::kDot) || at(TokenKind::kColonColon)) {
      contiguous = contiguous && token_.range.begin == last_end_ && next_.range.begin == token_.range.end;
      advance();
      if (!is_word(token_.kind)) {
        report_expected("a name");
        return name;
      }
      advance();
    }
    name.range.end = last_end_;
    name.id = contiguous ? tree_.table.intern(text(name.range)) : spaced_path(name.range);
    return name;
  }

  // A path with white space or comments inside: the name is what is left without them.
  NameId spaced_path(Range range) {
    std::string joined;
    const Source piece("", std::string(text(range)));
    Diagnostics silent(piece);
    Lexer pieces(piece, silent, nullptr);
    for (Token t = pieces.next(); t.kind != TokenKind::kEnd; t = pieces.next()) {
      joined += piece.text(t.range);
    }
    return tree_.table.own(joined);
  }

  Name bad_name(std::string_view of_what) {
    Name name;
    name.range = token_.range;
    if (!is_word(token_.kind)) {
      report_expected(fmt::format("the name of a {}", of_what));
      return name;
    }
    // Go on as though it were quoted.
    const std::string_view word = text(token_.range);
    if (!panic_) {
      diags_.report(DiagId::kKindAsName, token_.range, word, of_what)
          .help(fmt::format("quote it: `\"{}\"`", word))
          .fix({"quote it", {{token_.range, quoted(word)}}, true});
    }
    name.id = tree_.table.intern(word);
    advance();
    return name;
  }

  // The free name of a variable, parameter or function.
  Name plain_name(std::string_view of_what) {
    Name name;
    name.range = token_.range;
    if (panic_) return name;
    if (at(TokenKind::kName) && !(at_next_statement() && of_what == "function")) {
      name.id = tree_.table.intern(text(token_.range));
      advance();
    } else if (is_word(token_.kind) && !at_next_statement()) {
      report(DiagId::kReservedName, token_.range, text(token_.range), of_what)
          ->help("choose another name");
      advance();
    } else {
      report_expected(fmt::format("the name of a {}", of_what));
    }
    return name;
  }

  // WHICH : '*' | (INT | name) (',' (INT | name))*
  List which() {
    List list{static_cast<std::uint32_t>(tree_.which.size()), 0};
    if (panic_) return list;
    if (at(TokenKind::kStar)) {
      tree_.which.push_back({false, kStarName, token_.range});
      advance();
      list.count = 1;
      return list;
    }
    do {
      if (list.count == kMaxListItems) report_too_large(kMaxListItems, "regions in a list");
      if (panic_) break;
      tree_.which.push_back(one_which());
      ++list.count;
    } while (!panic_ && accept(TokenKind::kComma));
    return list;
  }

  Which one_which() {
    if (!at(TokenKind::kInt)) {
      if (!at(TokenKind::kString) && !is_word(token_.kind)) {
        report_expected("a region's name or position, or `*`");
        return {};
      }
      const Name name = path_name("region");
      return {false, name.id, name.range};
    }
    const Range range = token_.range;
    const std::int64_t position = integer("a position");
    if (position > kMaxPosition) {
      report(DiagId::kPositionTooLarge, range, position, kMaxPosition);
    }
    return {true, static_cast<std::uint32_t>(std::min(position, kMaxPosition)), range};
  }

  // PLACE : '*' | PROC | MEM
  Place place(bool memory_too) {
    Place place;
    place.word.range = token_.range;
    if (panic_ || accept(TokenKind::kStar)) return place;
    if (at(TokenKind::kMemWord) && !memory_too) {
      report_expected("a processor kind or `*` before the memories");
      return place;
    }
    const bool memory = at(TokenKind::kMemWord);
    place.word = kind_word(memory ? TokenKind::kMemWord : TokenKind::kProcWord);
    place.kind = memory ? Place::Kind::kMem : Place::Kind::kProc;
    if (memory && static_cast<MemKind>(place.word.value) == MemKind::kVirtual) {
      report(DiagId::kVirtualLayout, place.word.range);
    }
    return place;
  }

  // One PROC or MEM. An unknown word in its place is taken for one, so that the rest can be read.
  KindWord kind_word(TokenKind kind) {
    KindWord word{token_.value, token_.range};
    if (panic_) return word;
    const bool processor = kind == TokenKind::kProcWord;
    if (at(kind)) {
      advance();
    } else if (at(TokenKind::kName) && !at_next_statement()) {
      word.value = 0;
      suggest(diags_.report(processor ? DiagId::kUnknownProcessor : DiagId::kUnknownMemory,
                            token_.range, text(token_.range)),
              token_.range, kind);
      advance();
      const bool ends = at(TokenKind::kComma) || at(TokenKind::kSemicolon) || token_.line_start;
      if (!ends && !at(TokenKind::kRightBrace)) panic_ = true;
    } else {
      report_expected(processor ? "a processor kind" : "a memory kind");
    }
    return word;
  }

  // PROC (',' PROC)* and MEM (',' MEM)*
  List word_list(TokenKind kind) {
    List list{static_cast<std::uint32_t>(tree_.words.size()), 0};
    while (!panic_) {
      if (list.count == kMaxListItems) report_too_large(kMaxListItems, "kinds in a list");
      if (panic_) break;
      tree_.words.push_back(kind_word(kind));
      ++list.count;
      if (at(kind) && !token_.line_start && !panic_) {
        diags_.report(DiagId::kExpectedToken, token_.range, "`,`", describe(token_))
            .fix({"insert `,`", {{{last_end_, last_end_}, ","}}, true});
      } else if (!accept(TokenKind::kComma)) {
        break;
      }
    }
    return list;
  }

  // constraint : SOA AOS C_order F_order Compact Exact No_Align | Align (== != < <= > >=) INT
  List constraints() {
    List list{static_cast<std::uint32_t>(tree_.constraints.size()), 0};
    while (!panic_ && at(TokenKind::kConstraintWord)) {
      if (list.count == kMaxListItems) report_too_large(kMaxListItems, "constraints");
      if (panic_) break;
      Constraint constraint;
      constraint.word = static_cast<ConstraintWord>(token_.value);
      constraint.range = token_.range;
      advance();
      if (constraint.word == ConstraintWord::kAlign) alignment(constraint);
      constraint.range.end = last_end_;
      tree_.constraints.push_back(constraint);
      ++list.count;
    }
    if (!panic_ && at(TokenKind::kName) && !token_.line_start) {
      suggest(*report(DiagId::kUnknownConstraint, token_.range, text(token_.range)), token_.range,
              TokenKind::kConstraintWord);
    }
    return list;
  }

  void alignment(Constraint& constraint) {
    const auto op = align_operator(token_.kind);
    if (!op) {
      const bool assigned = at(TokenKind::kAssign);
      const Range sign = token_.range;
      if (Diagnostic* diagnostic =
              report(DiagId::kExpectedToken, sign, "`==`, `!=`, `<`, `<=`, `>` or `>=`",
                     describe(token_))) {
        if (assigned) diagnostic->fix({"write `==`", {{sign, "=="}}, true});
      }
      return;
    }
    constraint.op = *op;
    advance();
    const Range number = token_.range;
    constraint.bytes = integer("a number of bytes");
    const std::int64_t bytes = constraint.bytes;
    if (!panic_ && (bytes <= 0 || (bytes & (bytes - 1)) != 0)) {
      report(DiagId::kBadAlignment, number, bytes)->help("such as 16, 64 or 128");
    }
  }

  std::int64_t integer(std::string_view what) {
    if (panic_) return 0;
    if (!at(TokenKind::kInt)) {
      report_expected(what);
      return 0;
    }
    const std::int64_t value = integer_value(token_.range);
    advance();
    return value;
  }

  std::int64_t integer_value(Range range) {
    const std::string_view digits = text(range);
    std::int64_t value = 0;
    const auto [end, status] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (status == std::errc()) return value;
    // Not fatal to the rest of the statement.
    diags_
        .report(DiagId::kIntegerTooLarge, range,
                digits.size() <= 40 ? std::string(digits) : std::string(digits.substr(0, 37)) + "...")
        .note("the largest is 9223372036854775807");
    return 0;
  }

  // '(' [param (',' param)*] ')'; param : [TYPE] NAME
  List params() {
    List list{static_cast<std::uint32_t>(tree_.params.size()), 0};
    const std::uint32_t open = token_.range.begin;
    if (!expect(TokenKind::kLeftParen)) return list;
    ++brackets_;
    while (!panic_ && !at(TokenKind::kRightParen)) {
      if (list.count == kMaxListItems) report_too_large(kMaxListItems, "parameters");
      if (panic_) break;
      Param param;
      if (at(TokenKind::kTypeWord)) {
        param.type = static_cast<ParamType>(token_.value);
        advance();
      } else if (at_word(StatementKind::kTask)) {
        param.type = ParamType::kTask;
        advance();
      } else if (at(TokenKind::kName) && next_.kind == TokenKind::kName) {
        constexpr std::array<std::string_view, 6> kTypes = {"int",    "bool",   "IPoint",
                                                            "ISpace", "MSpace", "Task"};
        suggest(*report(DiagId::kExpectedToken, token_.range, "a type", describe(token_)),
                token_.range, kTypes);
        break;
      }
      param.name = plain_name("parameter");
      tree_.params.push_back(param);
      ++list.count;
      if (!accept(TokenKind::kComma)) break;
      if (at(TokenKind::kRightParen)) report_expected("another parameter");
    }
    close(TokenKind::kRightParen, open);
    return list;
  }

  // ------------------------------------------------------------------------------------ expressions

  ExprId add(Expr expr) {
    if (tree_.exprs.size() >= kMaxExprs) report_too_large(kMaxExprs, "parts of expressions");
    if (expr.height >= kMaxNesting) {
      report(DiagId::kNestingTooDeep, expr.range, kMaxNesting)
          ->help("give parts of it names in statements of their own");
    }
    if (panic_) return kNoExpr;
    tree_.exprs.push_back(expr);
    return static_cast<ExprId>(tree_.exprs.size() - 1);
  }

  int height(ExprId id) const { return id == kNoExpr ? 0 : tree_.exprs[id].height; }
  std::uint32_t begin_of(ExprId id) const { return tree_.exprs[id].range.begin; }
  static std::uint16_t above(int height) { return static_cast<std::uint16_t>(height + 1); }

  int height(List list) const {
    int most = 0;
    for (ExprId id : tree_.exprs_of(list)) most = std::max(most, height(id));
    return most;
  }

  List take_pending(std::size_t first) {
    const List list{static_cast<std::uint32_t>(tree_.lists.size()),
                    static_cast<std::uint32_t>(pending_.size() - first)};
    tree_.lists.insert(tree_.lists.end(), pending_.begin() + static_cast<std::ptrdiff_t>(first),
                       pending_.end());
    pending_.resize(first);
    return list;
  }

  // Reads the bracket that closes the one at `open`.
  void close(TokenKind kind, std::uint32_t open) {
    --brackets_;
    if (panic_ || accept(kind)) return;
    if (at(TokenKind::kError)) {
      panic_ = true;
    } else if (at(TokenKind::kEnd) || at(TokenKind::kSemicolon) || token_.line_start) {
      report(DiagId::kUnclosedBracket, token_.range, spelling(kind), describe(token_))
          ->note("to close this one", Range{open, open + 1});
    } else {
      report_expected(fmt::format("`,` or `{}`", spelling(kind)));
    }
  }

  // One level of recursion; refuses to go deeper than kMaxNesting.
  class Level {
   public:
    explicit Level(Parser& parser) : parser_(parser) {
      if (++parser_.depth_ <= kMaxNesting) return;
      if (Diagnostic* diagnostic =
              parser_.report(DiagId::kNestingTooDeep, parser_.token_.range, kMaxNesting)) {
        diagnostic->help("give parts of it names in statements of their own");
      }
    }
    ~Level() { --parser_.depth_; }
    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;

   private:
    Parser& parser_;
  };

  // expr : or-expr ['?' expr ':' expr], right to left
  ExprId expression() {
    Level level(*this);
    const ExprId condition = binary(1);
    if (panic_ || !at(TokenKind::kQuestion)) return condition;
    const std::uint32_t question = token_.range.begin;
    advance();
    const ExprId yes = expression();
    if (panic_ || !expect(TokenKind::kColon)) return kNoExpr;
    const ExprId no = expression();
    if (panic_) return kNoExpr;
    Expr expr{ExprKind::kConditional};
    expr.range = {begin_of(condition), last_end_};
    expr.at = question;
    expr.a = condition, expr.b = yes, expr.c = no;
    expr.height = above(std::max({height(condition), height(yes), height(no)}));
    return add(expr);
  }

  // Binary operators that bind at least as tightly as `least`, each level left to right.
  ExprId binary(int least) {
    ExprId left = unary();
    while (!panic_) {
      const auto op = binary_operator(token_.kind);
      if (!op || precedence(*op) < least) break;
      Expr expr{ExprKind::kBinary, *op};
      expr.at = token_.range.begin;
      advance();
      expr.a = left;
      expr.b = binary(precedence(*op) + 1);
      if (panic_) break;
      expr.range = {begin_of(left), last_end_};
      expr.height = above(std::max(height(expr.a), height(expr.b)));
      left = add(expr);
    }
    return panic_ ? kNoExpr : left;
  }

  // prefix '-' and '!'
  ExprId unary() {
    if (!at(TokenKind::kMinus) && !at(TokenKind::kBang)) return postfix();
    Level level(*this);
    if (panic_) return kNoExpr;
    Expr expr{ExprKind::kUnary, at(TokenKind::kMinus) ? Operator::kNegate : Operator::kNot};
    expr.at = token_.range.begin;
    advance();
    expr.a = unary();
    if (panic_) return kNoExpr;
    expr.range = {expr.at, last_end_};
    expr.height = above(height(expr.a));
    return add(expr);
  }

  // postfix : primary ( '(' args ')' | '[' elements ']' | '[' [expr] ':' [expr] ']' | '.' NAME )*
  ExprId postfix() {
    ExprId base = primary();
    while (!panic_) {
      if (at(TokenKind::kLeftParen)) {
        base = call(base);
      } else if (at(TokenKind::kLeftBracket)) {
        base = index_or_slice(base);
      } else if (at(TokenKind::kDot)) {
        base = member(base);
      } else {
        break;
      }
    }
    return panic_ ? kNoExpr : base;
  }

  ExprId call(ExprId callee) {
    const std::uint32_t open = token_.range.begin;
    Expr expr{ExprKind::kCall};
    expr.at = open;
    advance();
    const List list = elements(TokenKind::kRightParen, open, true);
    if (panic_) return kNoExpr;
    expr.a = list.begin, expr.b = list.count, expr.c = callee;
    expr.range = {begin_of(callee), last_end_};
    expr.height = above(std::max(height(callee), height(list)));
    return add(expr);
  }

  ExprId index_or_slice(ExprId base) {
    const std::uint32_t open = token_.range.begin;
    advance();
    ++brackets_;
    ExprId first = kNoExpr;
    if (!at(TokenKind::kColon)) first = element(false);
    if (!panic_ && at(TokenKind::kColon)) return slice(base, first, open);
    --brackets_;
    const std::size_t mark = pending_.size();
    if (!panic_) pending_.push_back(first);
    const List list = more_elements(mark, TokenKind::kRightBracket, open, false);
    if (panic_) return kNoExpr;
    Expr expr{ExprKind::kIndex};
    expr.at = open;
    expr.a = list.begin, expr.b = list.count, expr.c = base;
    expr.range = {begin_of(base), last_end_};
    expr.height = above(std::max(height(base), height(list)));
    return add(expr);
  }

  ExprId slice(ExprId base, ExprId from, std::uint32_t open) {
    if (from != kNoExpr && (tree_.exprs[from].kind == ExprKind::kSplice ||
                            tree_.exprs[from].kind == ExprKind::kAll)) {
      report(DiagId::kStrayStar, tree_.exprs[from].range);
    }
    advance();
    Expr expr{ExprKind::kSlice};
    expr.at = open;
    expr.a = from;
    expr.b = at(TokenKind::kRightBracket) ? kNoExpr : expression();
    close(TokenKind::kRightBracket, open);
    if (panic_) return kNoExpr;
    expr.c = base;
    expr.range = {begin_of(base), last_end_};
    expr.height = above(std::max({height(base), height(expr.a), height(expr.b)}));
    return add(expr);
  }

  ExprId member(ExprId base) {
    advance();
    if (!is_word(token_.kind)) {
      report_expected("the name of a member");
      return kNoExpr;
    }
    Expr expr{ExprKind::kMember};
    expr.a = base;
    expr.c = tree_.table.intern(text(token_.range));
    expr.at = token_.range.begin;
    advance();
    expr.range = {begin_of(base), last_end_};
    expr.height = above(height(base));
    return add(expr);
  }

  // element : expr | '*' expr | '*'; in calls also NAME '=' expr
  ExprId element(bool in_call) {
    if (at(TokenKind::kStar)) return star_element();
    if (in_call && at(TokenKind::kName) && next_.kind == TokenKind::kAssign) return option();
    return expression();
  }

  ExprId star_element() {
    Level level(*this);
    Expr expr{ExprKind::kAll};
    expr.range = token_.range;
    advance();
    const bool bare = at(TokenKind::kComma) || at(TokenKind::kRightBracket) ||
                      at(TokenKind::kRightParen) || at(TokenKind::kColon);
    if (!bare) {
      expr.kind = ExprKind::kSplice;
      expr.a = expression();
      if (panic_) return kNoExpr;
      expr.range.end = last_end_;
      expr.height = above(height(expr.a));
    }
    return add(expr);
  }

  ExprId option() {
    Expr expr{ExprKind::kOption};
    expr.c = tree_.table.intern(text(token_.range));
    expr.range = token_.range;
    advance();
    advance();
    expr.a = expression();
    if (panic_) return kNoExpr;
    expr.at = expr.range.end;
    expr.range.end = last_end_;
    expr.height = above(height(expr.a));
    return add(expr);
  }

  // Elements up to the closing bracket; the opening one has been read.
  List elements(TokenKind closing, std::uint32_t open, bool in_call) {
    const std::size_t first = pending_.size();
    if (!at(closing)) {
      ++brackets_;
      const ExprId id = element(in_call);
      --brackets_;
      check_star(id, closing);
      if (!panic_) pending_.push_back(id);
    }
    return more_elements(first, closing, open, in_call);
  }

  // What follows the element that was read; a comma before the closing bracket is fine in a tuple.
  List more_elements(std::size_t first, TokenKind closing, std::uint32_t open, bool in_call) {
    ++brackets_;
    while (!panic_ && accept(TokenKind::kComma)) {
      if (pending_.size() - first >= kMaxListItems) {
        report_too_large(kMaxListItems, "items in a list");
        break;
      }
      const ExprId id = element(in_call);
      check_star(id, closing);
      if (!panic_) pending_.push_back(id);
    }
    close(closing, open);
    if (panic_) pending_.resize(std::min(pending_.size(), first));
    return panic_ ? List{} : take_pending(first);
  }

  // A bare `*` is an index and nothing else.
  void check_star(ExprId id, TokenKind closing) {
    if (panic_ || closing == TokenKind::kRightBracket) return;
    if (tree_.exprs[id].kind != ExprKind::kAll) return;
    report(DiagId::kStrayStar, tree_.exprs[id].range)
        ->note("a bare `*` means all, as an index of a machine")
        .help("put a tuple behind it to splice that in");
  }

  ExprId leaf(ExprKind kind, std::uint32_t a = 0, std::uint32_t b = 0) {
    Expr expr{kind};
    expr.range = token_.range;
    expr.at = token_.range.begin;
    expr.a = a, expr.b = b;
    advance();
    return add(expr);
  }

  // primary : INT | bool | NAME | PROC | MEM | STRING | '(' ... ')' | tuple '(' expr for NAME in expr ')'
  ExprId primary() {
    if (panic_) return kNoExpr;
    if (at_next_statement()) {
      report_expected("an expression");
      return kNoExpr;
    }
    switch (token_.kind) {
      case TokenKind::kInt: {
        const auto value = static_cast<std::uint64_t>(integer_value(token_.range));
        return leaf(ExprKind::kInt, static_cast<std::uint32_t>(value),
                    static_cast<std::uint32_t>(value >> 32));
      }
      case TokenKind::kTrue: return leaf(ExprKind::kBool, 1);
      case TokenKind::kFalse: return leaf(ExprKind::kBool, 0);
      case TokenKind::kString: return leaf(ExprKind::kString);
      case TokenKind::kProcWord: return leaf(ExprKind::kProc, token_.value);
      case TokenKind::kMemWord: return leaf(ExprKind::kMem, token_.value);
      case TokenKind::kMachine: return leaf(ExprKind::kMachine);
      case TokenKind::kName: {
        const std::string_view name = text(token_.range);
        if (name == "tuple" && next_.kind == TokenKind::kLeftParen) return tuple_or_call();
        return leaf(ExprKind::kName, tree_.table.intern(name));
      }
      case TokenKind::kLeftParen: return parenthesized();
      case TokenKind::kStar:
        report(DiagId::kStrayStar, token_.range)
            ->note("`*` splices a tuple at the front of an element of a tuple, an index or a call");
        return kNoExpr;
      default: report_expected("an expression"); return kNoExpr;
    }
  }

  // `(x)` is x; with a comma or a spliced item a tuple; `()` the empty one.
  ExprId parenthesized() {
    const std::uint32_t open = token_.range.begin;
    Level level(*this);
    if (panic_) return kNoExpr;
    advance();
    const std::size_t first = pending_.size();
    bool comma = false;
    ++brackets_;
    while (!panic_ && !at(TokenKind::kRightParen)) {
      if (pending_.size() - first >= kMaxListItems) {
        report_too_large(kMaxListItems, "items in a tuple");
        break;
      }
      const ExprId id = element(false);
      check_star(id, TokenKind::kRightParen);
      if (!panic_) pending_.push_back(id);
      if (panic_ || !accept(TokenKind::kComma)) break;
      comma = true;
    }
    close(TokenKind::kRightParen, open);
    if (panic_) {
      pending_.resize(first);
      return kNoExpr;
    }
    Expr expr;
    expr.range = {open, last_end_};
    const bool single = pending_.size() == first + 1 && !comma &&
                        tree_.exprs[pending_[first]].kind != ExprKind::kSplice;
    if (single) {
      expr.kind = ExprKind::kParen;
      expr.a = pending_[first];
      expr.height = above(height(expr.a));
      pending_.resize(first);
    } else {
      expr.kind = ExprKind::kTuple;
      const List list = take_pending(first);
      expr.a = list.begin, expr.b = list.count;
      expr.height = above(height(list));
    }
    return add(expr);
  }

  // `tuple ( expr for NAME in expr )`; without `for` a call of a function named `tuple`.
  ExprId tuple_or_call() {
    const Token word = token_;
    const std::uint32_t open = next_.range.begin;
    advance();
    advance();
    ++brackets_;
    const bool empty = at(TokenKind::kRightParen);
    const ExprId item = empty ? kNoExpr : element(true);
    --brackets_;
    if (!panic_ && at(TokenKind::kFor)) return comprehension(word, item, open);
    Expr callee{ExprKind::kName};
    callee.range = word.range;
    callee.a = tree_.table.intern(text(word.range));
    const ExprId function = add(callee);
    const std::size_t first = pending_.size();
    if (!empty) {
      check_star(item, TokenKind::kRightParen);
      if (!panic_) pending_.push_back(item);
    }
    const List list = more_elements(first, TokenKind::kRightParen, open, true);
    if (panic_) return kNoExpr;
    Expr expr{ExprKind::kCall};
    expr.at = open;
    expr.a = list.begin, expr.b = list.count, expr.c = function;
    expr.range = {word.range.begin, last_end_};
    expr.height = above(height(list));
    return add(expr);
  }

  ExprId comprehension(const Token& word, ExprId item, std::uint32_t open) {
    if (tree_.exprs[item].kind == ExprKind::kSplice || tree_.exprs[item].kind == ExprKind::kAll) {
      report(DiagId::kStrayStar, tree_.exprs[item].range);
      return kNoExpr;
    }
    advance();
    ++brackets_;
    const Name variable = plain_name("variable");
    expect(TokenKind::kIn);
    const ExprId range = expression();
    close(TokenKind::kRightParen, open);
    if (panic_) return kNoExpr;
    Expr expr{ExprKind::kComprehension};
    expr.range = {word.range.begin, last_end_};
    expr.at = variable.range.begin;
    expr.a = item, expr.b = range, expr.c = variable.id;
    expr.height = above(std::max(height(item), height(range)));
    return add(expr);
  }

  Diagnostics& diags_;
  Tree tree_;
  Lexer lexer_;
  Token token_, next_;
  std::uint32_t last_end_ = 0;  // of the token before token_
  std::vector<ExprId> pending_; // items of the lists that are being read
  std::size_t statement_count_ = 0;
  int brackets_ = 0;  // open ( and [ of this statement
  int depth_ = 0;     // of recursion
  int expected_braces_ = 0;  // `}` whose absence was reported, so that a later one is no mistake
  bool panic_ = false;       // a mistake in this statement was reported
  bool recovered_ = false;   // the statement before had one
  bool stopped_ = false;     // a limit was passed
};

}  // namespace

Tree parse(const Source& source, Diagnostics& diags, bool keep_comments) {
  return Parser(source, diags, keep_comments).run();
}

}  // namespace groma::syntax
