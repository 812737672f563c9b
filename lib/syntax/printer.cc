// Writes a tree as formatted text. The tree knows the place of every word in the source; before a
// word is written, the comments that stood before it are written.
#include "syntax/printer.h"

#include <algorithm>
#include <span>

namespace groma::syntax {
namespace {

// Formats one tree. The member functions append to out_ in the order of the source.
class Printer {
 public:
  Printer(const Tree& tree, bool with_comments) : tree_(tree), with_comments_(with_comments) {}

  // Returns the whole program, with the comments after the last statement.
  std::string program() {
    // The head of a `when` block also prints the statements of the block.
    for (const Statement& statement : tree_.statements) {
      if (statement.when == 0) print_statement(statement);
    }
    flush_own_lines(static_cast<std::uint32_t>(tree_.source.text().size()) + 1);
    return std::move(out_);
  }

  // Returns one expression.
  std::string expression(ExprId id) {
    print_expr(id, 0);
    return std::move(out_);
  }

 private:
  std::string_view text(NameId id) const { return tree_.name_table.text(id); }

  // ---- layout

  // Begins a new line of the formatted text with the current indentation.
  void line() {
    out_ += '\n';
    out_.append(indent_ * 2, ' ');
    at_line_start_ = true;
  }

  // Writes a word that stood at byte `begin` of the source, after the comments before it.
  void put(std::uint32_t begin, std::string_view word) {
    flush_inside(begin);
    put(word);
  }
  // Writes a word, which may begin with a space. At the beginning of a line this space is left out.
  void put(std::string_view word) {
    if (at_line_start_ && !word.empty() && word.front() == ' ') word.remove_prefix(1);
    if (word.empty()) return;
    out_ += word;
    at_line_start_ = false;
  }

  // Returns true if a comment that was not written yet begins before byte `offset`.
  bool comment_before(std::uint32_t offset) const {
    return with_comments_ && comment_ < tree_.comments.size() &&
           tree_.comments[comment_].range.begin < offset;
  }

  // Writes comments in the middle of a statement. Each comment ends its line, and the rest of the
  // statement is indented by two more steps.
  void flush_inside(std::uint32_t offset) {
    while (comment_before(offset)) {
      const SourceComment& comment = tree_.comments[comment_++];
      if (!inside_broken_) indent_ += 2;
      inside_broken_ = true;
      if (comment.own_line && !at_line_start_) line();
      if (!at_line_start_ && out_.back() != ' ') out_ += ' ';
      out_ += tree_.source.text(comment.range);
      line();
      last_end_ = comment.range.end;
    }
  }

  // Writes comments between statements, each on a line of its own.
  void flush_own_lines(std::uint32_t offset) {
    while (comment_before(offset)) {
      const SourceComment& comment = tree_.comments[comment_++];
      begin_line(comment.range.begin);
      out_ += tree_.source.text(comment.range);
      end_line(comment.range.end);
    }
  }

  // Writes comments that follow the last statement on its line with only blanks between.
  void flush_trailing() {
    while (comment_before(0xFFFFFFFF) && !tree_.comments[comment_].own_line &&
           only_blanks(last_end_, tree_.comments[comment_].range.begin)) {
      append_comment();
    }
  }

  // Writes a comment behind the statement, on the same line. If another comment already ends that
  // line, the comment gets a line of its own.
  void append_comment() {
    const SourceComment& comment = tree_.comments[comment_++];
    const std::size_t step = inside_broken_ ? indent_ - 2 : indent_;
    out_ += comment_ends_line_ ? "\n" + std::string(step * 2, ' ') : "  ";
    out_ += tree_.source.text(comment.range);
    comment_ends_line_ = true;
    last_end_ = comment.range.end;
  }

  // Returns true if only white space without a line feed stands between two byte offsets of the
  // source.
  bool only_blanks(std::uint32_t begin, std::uint32_t end) const {
    return begin >= end ||
           tree_.source.text({begin, end}).find_first_not_of(" \t\r\a") == std::string_view::npos;
  }

  // Returns the number of line ends between two bytes of the source.
  std::ptrdiff_t newlines(std::uint32_t begin, std::uint32_t end) const {
    if (begin >= end) return 0;
    const std::string_view between = tree_.source.text({begin, end});
    return std::count(between.begin(), between.end(), '\n');
  }

  // Begins a line for a word that stood at byte `begin` of the source. If there were blank lines
  // before the word, one of them is kept, except after a `{` and at the beginning of the text.
  void begin_line(std::uint32_t begin) {
    const bool first = out_.empty() || opened_;
    if (!first && newlines(last_end_, begin) > 1) out_ += '\n';
    out_.append(indent_ * 2, ' ');
    opened_ = false;
    at_line_start_ = true;
  }
  // Ends a line whose last word ended at byte `end` of the source.
  void end_line(std::uint32_t end) {
    out_ += '\n';
    last_end_ = end;
    at_line_start_ = true;
  }

  // ---- statements

  // Writes a statement on lines of its own, with the comments around it.
  void print_statement(const Statement& statement) {
    flush_own_lines(statement.range.begin);
    begin_line(statement.range.begin);
    std::visit([&](const auto& node) { print_node(node, statement); }, statement.node);
    if (inside_broken_) indent_ -= 2;
    inside_broken_ = false;
    last_end_ = statement.end;
    flush_trailing();
    comment_ends_line_ = false;
    end_line(last_end_);
  }

  // The next functions write one kind of statement each. The function `put` without an offset is
  // for words before which no comment can stand.
  void print_node(const TaskStatement& node, const Statement& statement) {
    put("Task");
    print_names(node.names);
    print_words<ProcKind>(node.procs);
    end_with_semicolon(statement);
  }

  void print_node(const RegionStatement& node, const Statement& statement) {
    put("Region");
    print_names(node.names);
    print_which(node.which);
    print_place(node.place);
    print_words<MemKind>(node.memories);
    end_with_semicolon(statement);
  }

  void print_node(const LayoutStatement& node, const Statement& statement) {
    put("Layout");
    print_names(node.names);
    print_which(node.which);
    print_place(node.place);
    for (const LayoutConstraint& constraint :
         Tree::entries_of(tree_.constraints, node.constraints)) {
      flush_inside(constraint.range.begin);
      put(" ");
      put(spelling_of(constraint.word));
      if (constraint.word == ConstraintWord::kAlign) {
        put(spelling_of(constraint.op));
        put(std::to_string(constraint.bytes));
      }
    }
    end_with_semicolon(statement);
  }

  void print_node(const InstanceLimitStatement& node, const Statement& statement) {
    put("InstanceLimit");
    print_names(node.names);
    if (node.proc) print_word<ProcKind>(*node.proc, " ");
    put(" ");
    put(std::to_string(node.limit));
    if (node.scope != LimitScope::kProcessor) {
      put(" ");
      put(spelling_of(node.scope));
    }
    end_with_semicolon(statement);
  }

  void print_node(const CollectMemoryStatement& node, const Statement& statement) {
    put("CollectMemory");
    print_names(node.names);
    print_which(node.which);
    end_with_semicolon(statement);
  }

  void print_node(const TaskMapStatement& node, const Statement& statement) {
    put(node.index ? "IndexTaskMap" : "SingleTaskMap");
    if (node.proc) {
      print_word<ProcKind>(*node.proc, " ");
    } else {
      print_names(node.names);
    }
    flush_inside(node.function.range.begin);
    put(" ");
    put(text(node.function.id));
    end_with_semicolon(statement);
  }

  void print_node(const ControlReplicateStatement& node, const Statement& statement) {
    put("ControlReplicate");
    print_names(node.names);
    end_with_semicolon(statement);
  }

  void print_node(const TaskStealStatement& node, const Statement& statement) {
    put("TaskSteal");
    print_names(node.names);
    print_word<ProcKind>(node.proc, " ");
    put(" ");
    put(spelling_of(node.scope));
    end_with_semicolon(statement);
  }

  void print_node(const AssignStatement& node, const Statement& statement) {
    put(text(node.target.id));
    put(" = ");
    print_expr(node.value, 0);
    end_with_semicolon(statement);
  }

  void print_node(const PrintStatement& node, const Statement& statement) {
    put("print(");
    put(node.text.begin, tree_.source.text(node.text));
    for (ExprId id : tree_.exprs_of(node.args)) {
      put(",");
      print_after(id, " ");
    }
    put(")");
    end_with_semicolon(statement);
  }

  void print_node(const ReturnStatement& node, const Statement& statement) {
    put("return");
    print_after(node.value, " ");
    end_with_semicolon(statement);
  }

  // Writes a function. Each statement of its body is on a line, indented by one step.
  void print_node(const DefStatement& node, const Statement& statement) {
    put("def ");
    put(text(node.name.id));
    put("(");
    std::string_view separator;
    for (const Param& param : Tree::entries_of(tree_.params, node.params)) {
      put(separator);
      flush_inside(param.name.range.begin);
      if (param.type != ParamType::kAny) {
        put(spelling_of(param.type));
        put(" ");
      }
      put(text(param.name.id));
      separator = ", ";
    }
    put(") {");
    print_block(Tree::entries_of(tree_.body_statements, node.body),
                node.params.count == 0
                    ? node.name.range.end
                    : tree_.params[node.params.begin + node.params.count - 1].name.range.end,
                statement);
  }

  void print_node(const WhenStatement& node, const Statement& statement) {
    put("when");
    print_after(node.condition, " ");
    put(" {");
    const auto number = static_cast<std::size_t>(&statement - tree_.statements.data());
    print_block(std::span(tree_.statements).subspan(number + 1, node.count),
                tree_.exprs[node.condition].range.end, statement);
  }

  // Writes the statements of a block behind its `{`, each on a line that is indented by one step,
  // and the `}`. The head of the block ends at byte `head_end` of the source; blank lines and
  // comments of the block are counted from there.
  void print_block(std::span<const Statement> body, std::uint32_t head_end,
                   const Statement& statement) {
    if (inside_broken_) indent_ -= 2;
    inside_broken_ = false;
    opened_ = true;
    last_end_ = head_end;
    flush_after_brace(body.empty() ? statement.range.end : body.front().range.begin);
    out_ += '\n';
    opened_ = true;
    ++indent_;
    for (const Statement& inner : body) print_statement(inner);
    flush_own_lines(statement.range.end);
    --indent_;
    opened_ = false;
    out_.append(indent_ * 2, ' ');
    put("}");
  }

  // Writes comments that stand on the line of the opening brace; they stay on that line.
  void flush_after_brace(std::uint32_t first_statement) {
    while (comment_before(first_statement) && !tree_.comments[comment_].own_line) {
      const SourceComment& comment = tree_.comments[comment_++];
      out_ += "  ";
      out_ += tree_.source.text(comment.range);
      last_end_ = comment.range.end;
      if (comment_before(first_statement) && !tree_.comments[comment_].own_line) out_ += '\n';
    }
  }

  // Writes `;`. A comment between the last word and the `;` moves behind the `;`.
  void end_with_semicolon(const Statement& statement) {
    put(";");
    while (comment_before(statement.end)) append_comment();
  }

  // ---- parts of statements

  // Writes the task names of a statement.
  void print_names(IndexRange list) {
    std::string_view separator = " ";
    for (const NameUse& name : tree_.names_of(list)) {
      print_name(name.id, name.range, separator);
      separator = ", ";
    }
  }

  // Writes one name of a list. `separator` is ", " for every name except the first.
  void print_name(NameId id, Range range, std::string_view separator) {
    const auto comma = separator.find(',');
    if (comma != std::string_view::npos) put(",");
    flush_inside(range.begin);
    put(" ");
    // A quoted name stays quoted. A path loses the white space that may stand inside it. The text
    // of a pattern or selector is its standard form.
    const bool quoted_name =
        !tree_.name_table.is_pattern(id) && tree_.source.text(range).starts_with('"');
    put(quoted_name ? quote_string(text(id)) : std::string(text(id)));
  }

  // Writes the regions of a statement: positions and names.
  void print_which(IndexRange list) {
    std::string_view separator = " ";
    for (const RegionRef& which : Tree::entries_of(tree_.region_refs, list)) {
      if (which.is_position) {
        if (separator == ", ") put(",");
        flush_inside(which.range.begin);
        put(" ");
        put(std::to_string(which.value));
      } else {
        print_name(which.value, which.range, separator);
      }
      separator = ", ";
    }
  }

  template <typename Kind>
  void print_word(const KindWord& word, std::string_view separator) {
    if (separator == ", ") put(",");
    flush_inside(word.range.begin);
    put(" ");
    put(name_of(static_cast<Kind>(word.value)));
  }

  template <typename Kind>
  void print_words(IndexRange list) {
    std::string_view separator = " ";
    for (const KindWord& word : Tree::entries_of(tree_.kind_words, list)) {
      print_word<Kind>(word, separator);
      separator = ", ";
    }
  }

  // Writes the place of a Region or Layout statement.
  void print_place(const StatementPlace& place) {
    switch (place.kind) {
      case StatementPlace::Kind::kAny:
        flush_inside(place.word.range.begin);
        put(" *");
        break;
      case StatementPlace::Kind::kProc:
        print_word<ProcKind>(place.word, " ");
        break;
      case StatementPlace::Kind::kMem:
        print_word<MemKind>(place.word, " ");
        break;
    }
  }

  // ---- expressions

  // Writes an expression behind `separator`. Comments before its first word come first.
  void print_after(ExprId id, std::string_view separator) {
    flush_inside(tree_.exprs[id].range.begin);
    put(separator);
    print_expr(id, 0);
  }

  // Returns how tightly an expression binds: 0 for a conditional, 1 to 6 for binary operators, 7
  // for prefix operators, 8 for everything else.
  static int tightness(const Expr& expr) {
    switch (expr.kind) {
      case ExprKind::kConditional:
        return 0;
      case ExprKind::kBinary:
        return precedence_of(expr.op);
      case ExprKind::kUnary:
        return 7;
      default:
        return 8;
    }
  }

  // Writes an expression, in parentheses if it binds more loosely than `least`.
  // Prints nothing for the missing expression of a text with errors.
  void print_expr(ExprId id, int least) {
    if (id == kNoExpr) return;
    const Expr& expr = tree_.exprs[id];
    flush_inside(expr.range.begin);
    const bool parens = tightness(expr) < least;
    if (parens) put("(");
    print_bare(expr);
    if (parens) put(")");
  }

  // Writes an expression without adding parentheses around it. Parentheses of the source are nodes
  // of kind kParen, and are written.
  void print_bare(const Expr& expr) {
    switch (expr.kind) {
      case ExprKind::kError:
        break;
      case ExprKind::kInt:
        put(std::to_string(expr.value()));
        break;
      case ExprKind::kBool:
        put(expr.a != 0 ? "True" : "False");
        break;
      case ExprKind::kString:
        put(tree_.source.text(expr.range));
        break;
      case ExprKind::kName:
        put(text(expr.a));
        break;
      case ExprKind::kProc:
        put(name_of(static_cast<ProcKind>(expr.a)));
        break;
      case ExprKind::kMem:
        put(name_of(static_cast<MemKind>(expr.a)));
        break;
      case ExprKind::kMachine:
        put("Machine");
        break;
      case ExprKind::kParen:
        put("(");
        print_expr(expr.a, 0);
        put(")");
        break;
      case ExprKind::kTuple:
        print_tuple(expr);
        break;
      case ExprKind::kComprehension:
        print_comprehension(expr);
        break;
      case ExprKind::kUnary:
        print_unary(expr);
        break;
      case ExprKind::kBinary:
        print_binary(expr);
        break;
      case ExprKind::kConditional:
        print_expr(expr.a, 1);
        put(expr.focus_offset, " ? ");
        print_expr(expr.b, 0);
        put(" : ");
        print_expr(expr.c, 0);
        break;
      case ExprKind::kCall:
        print_expr(expr.c, 8);
        print_elements(expr, "(", ")");
        break;
      case ExprKind::kOption:
        put(text(expr.c));
        put("=");
        print_expr(expr.a, 0);
        break;
      case ExprKind::kIndex:
        print_expr(expr.c, 8);
        print_elements(expr, "[", "]");
        break;
      case ExprKind::kSlice:
        print_expr(expr.c, 8);
        put("[");
        if (expr.a != kNoExpr) print_expr(expr.a, 0);
        put(":");
        if (expr.b != kNoExpr) print_expr(expr.b, 0);
        put("]");
        break;
      case ExprKind::kMember:
        print_expr(expr.a, 8);
        put(".");
        put(expr.focus_offset, text(expr.c));
        break;
      case ExprKind::kSplice:
        put("*");
        print_expr(expr.a, 0);
        break;
      case ExprKind::kAll:
        put("*");
        break;
    }
  }

  // Writes the items of a tuple, a call or an index between two brackets.
  void print_elements(const Expr& expr, std::string_view open, std::string_view close) {
    put(open);
    bool first = true;
    for (ExprId id : tree_.elements_of(expr)) {
      if (!first) put(",");
      flush_inside(tree_.exprs[id].range.begin);
      if (!first) put(" ");
      print_expr(id, 0);
      first = false;
    }
    put(close);
  }

  // Writes a tuple. A tuple of one item keeps a comma, unless the item is spliced.
  void print_tuple(const Expr& expr) {
    const auto items = tree_.elements_of(expr);
    const bool needs_comma = items.size() == 1 && tree_.exprs[items[0]].kind != ExprKind::kSplice;
    print_elements(expr, "(", needs_comma ? ",)" : ")");
  }

  // Writes `tuple(item for variable in range)`.
  void print_comprehension(const Expr& expr) {
    put("tuple(");
    print_expr(expr.a, 0);
    put(expr.focus_offset, " for ");
    put(text(expr.c));
    put(" in ");
    print_expr(expr.b, 0);
    put(")");
  }

  void print_unary(const Expr& expr) {
    put(spelling_of(expr.op));
    print_expr(expr.a, 7);
  }

  // Writes a binary expression. A right operand of the same precedence needs parentheses, because
  // operators group from the left.
  void print_binary(const Expr& expr) {
    print_expr(expr.a, precedence_of(expr.op));
    flush_inside(expr.focus_offset);
    put(" ");
    put(spelling_of(expr.op));
    flush_inside(tree_.exprs[expr.b].range.begin);
    put(" ");
    print_expr(expr.b, precedence_of(expr.op) + 1);
  }

  const Tree& tree_;
  bool with_comments_;
  std::string out_;
  // The index in the tree's list of comments of the next comment to write.
  std::size_t comment_ = 0;
  // The end in the source of the last word that was written.
  std::uint32_t last_end_ = 0;
  // The indentation in steps of two columns.
  std::size_t indent_ = 0;
  bool at_line_start_ = true;
  // True if the last word that was written is the `{` of a function. No blank line follows it.
  bool opened_ = false;
  // True if a comment broke the current statement into lines.
  bool inside_broken_ = false;
  // True if a comment already ends the current line.
  bool comment_ends_line_ = false;
};

}  // namespace

std::string_view spelling_of(StealScope scope) {
  return scope == StealScope::kSameNode ? "SAME_NODE" : "ANY_NODE";
}

std::string_view spelling_of(AlignOp op) {
  constexpr std::string_view kSigns[] = {"", "==", "!=", "<", "<=", ">", ">="};
  return kSigns[static_cast<std::size_t>(op)];
}

std::string print_tree(const Tree& tree) { return Printer(tree, true).program(); }

std::string print_tree(const Tree& tree, ExprId id) { return Printer(tree, false).expression(id); }

}  // namespace groma::syntax
