// Writes a syntax tree as nested lists in parentheses, one line for each statement. Tests compare
// this form, and it helps when debugging the parser.
#include <fmt/format.h>

#include "syntax/printer.h"

namespace groma::syntax {
namespace {

// Turns the nodes of one syntax tree into text. Each function `inner` returns a statement without
// its parentheses: a word for the kind of statement, then its parts.
class Dumper {
 public:
  explicit Dumper(const Tree& tree) : tree_(tree) {}

  std::string program() const {
    std::string text;
    for (const Statement& statement : tree_.statements) text += dump(statement) + "\n";
    return text;
  }

 private:
  std::string_view text(NameId id) const { return tree_.name_table.text(id); }

  // Returns a statement in parentheses.
  std::string dump(const Statement& statement) const {
    return std::visit([this](const auto& node) { return "(" + inner(node) + ")"; }, statement.node);
  }

  std::string inner(const TaskStatement& n) const {
    return fmt::format("task {} {}", names(n.names), words<ProcKind>(n.procs));
  }
  std::string inner(const RegionStatement& n) const {
    return fmt::format("region {} {} {} {}", names(n.names), which(n.which), place(n.place),
                       words<MemKind>(n.memories));
  }
  std::string inner(const LayoutStatement& n) const {
    std::string list;
    for (const LayoutConstraint& c : Tree::entries_of(tree_.constraints, n.constraints)) {
      list += fmt::format(" {}", spelling_of(c.word));
      if (c.word == ConstraintWord::kAlign) {
        list += fmt::format("/{}/{}", static_cast<int>(c.op), c.bytes);
      }
    }
    return fmt::format("layout {} {} {}{}", names(n.names), which(n.which), place(n.place), list);
  }
  std::string inner(const InstanceLimitStatement& n) const {
    const std::string_view kind = n.proc ? name_of(static_cast<ProcKind>(n.proc->value)) : "*";
    const std::string_view scope = spelling_of(n.scope);
    return fmt::format("limit {} {} {}{}{}", names(n.names), kind, n.limit,
                       scope.empty() ? "" : " ", scope);
  }
  std::string inner(const CollectMemoryStatement& n) const {
    return fmt::format("collect {} {}", names(n.names), which(n.which));
  }
  std::string inner(const TaskMapStatement& n) const {
    const std::string bound =
        n.proc ? std::string(name_of(static_cast<ProcKind>(n.proc->value))) : names(n.names);
    return fmt::format("{} {} {}", n.index ? "index-map" : "single-map", bound,
                       text(n.function.id));
  }
  std::string inner(const ControlReplicateStatement& n) const {
    return fmt::format("replicate {}", names(n.names));
  }
  std::string inner(const TaskStealStatement& n) const {
    return fmt::format("steal {} {} {}", names(n.names),
                       name_of(static_cast<ProcKind>(n.proc.value)), static_cast<int>(n.scope));
  }
  std::string inner(const AssignStatement& n) const {
    return fmt::format("= {} {}", text(n.target.id), expr(n.value));
  }
  std::string inner(const PrintStatement& n) const {
    return fmt::format("print {}{}", tree_.source.text(n.text), exprs(tree_.exprs_of(n.args)));
  }
  std::string inner(const ReturnStatement& n) const {
    return fmt::format("return {}", expr(n.value));
  }
  std::string inner(const DefStatement& n) const {
    std::string list;
    for (const Param& param : Tree::entries_of(tree_.params, n.params)) {
      list += fmt::format(" ({} {})", spelling_of(param.type), text(param.name.id));
    }
    std::string body;
    for (const Statement& s : Tree::entries_of(tree_.body_statements, n.body))
      body += " " + dump(s);
    return fmt::format("def {} ({}){}", text(n.name.id), list, body);
  }

  std::string inner(const WhenStatement& n) const {
    return fmt::format("when {} {}", expr(n.condition), n.count);
  }

  // Returns the task names of a statement, in parentheses and separated by spaces.
  std::string names(IndexRange list) const {
    std::string joined;
    for (const NameUse& name : tree_.names_of(list)) joined += fmt::format(" {}", text(name.id));
    return fmt::format("({})", joined.empty() ? joined : joined.substr(1));
  }
  // Returns the regions of a statement in parentheses. `#2` is the requirement at position 2;
  // anything else is a region's name.
  std::string which(IndexRange list) const {
    std::string joined;
    for (const RegionRef& w : Tree::entries_of(tree_.region_refs, list)) {
      joined += w.is_position ? fmt::format(" #{}", w.value) : fmt::format(" {}", text(w.value));
    }
    return fmt::format("({})", joined.empty() ? joined : joined.substr(1));
  }
  // Returns the processor or memory kinds of a statement, in parentheses and separated by spaces.
  template <typename Kind>
  std::string words(IndexRange list) const {
    std::string joined;
    for (const KindWord& word : Tree::entries_of(tree_.kind_words, list)) {
      joined += fmt::format(" {}", name_of(static_cast<Kind>(word.value)));
    }
    return fmt::format("({})", joined.empty() ? joined : joined.substr(1));
  }
  // Returns the place of a Region or Layout statement, which is its third word: `*`, a processor
  // kind or a memory kind.
  static std::string place(const StatementPlace& place) {
    switch (place.kind) {
      case StatementPlace::Kind::kAny:
        return "*";
      case StatementPlace::Kind::kProc:
        return std::string(name_of(static_cast<ProcKind>(place.word.value)));
      case StatementPlace::Kind::kMem:
        return std::string(name_of(static_cast<MemKind>(place.word.value)));
    }
    return "";
  }

  // Returns the expressions, each with a space before it.
  std::string exprs(std::span<const ExprId> ids) const {
    std::string joined;
    for (ExprId id : ids) joined += " " + expr(id);
    return joined;
  }

  // Returns an expression in prefix form, such as `(+ a 1)`. A missing expression is `-`, a broken
  // one is `?`. Parentheses of the source are dropped because the nesting shows the order.
  std::string expr(ExprId id) const {
    if (id == kNoExpr) return "-";
    const Expr& e = tree_.exprs[id];
    switch (e.kind) {
      case ExprKind::kError:
        return "?";
      case ExprKind::kInt:
        return std::to_string(e.value());
      case ExprKind::kBool:
        return e.a != 0 ? "true" : "false";
      case ExprKind::kString:
        return std::string(tree_.source.text(e.range));
      case ExprKind::kName:
        return std::string(text(e.a));
      case ExprKind::kProc:
        return std::string(name_of(static_cast<ProcKind>(e.a)));
      case ExprKind::kMem:
        return std::string(name_of(static_cast<MemKind>(e.a)));
      case ExprKind::kMachine:
        return "Machine";
      case ExprKind::kParen:
        return expr(e.a);
      case ExprKind::kTuple:
        return fmt::format("(tuple{})", exprs(tree_.elements_of(e)));
      case ExprKind::kComprehension:
        return fmt::format("(for {} {} {})", text(e.c), expr(e.a), expr(e.b));
      case ExprKind::kUnary:
        return fmt::format("({} {})", spelling_of(e.op), expr(e.a));
      case ExprKind::kBinary:
        return fmt::format("({} {} {})", spelling_of(e.op), expr(e.a), expr(e.b));
      case ExprKind::kConditional:
        return fmt::format("(? {} {} {})", expr(e.a), expr(e.b), expr(e.c));
      case ExprKind::kCall:
        return fmt::format("(call {}{})", expr(e.c), exprs(tree_.elements_of(e)));
      case ExprKind::kOption:
        return fmt::format("(option {} {})", text(e.c), expr(e.a));
      case ExprKind::kIndex:
        return fmt::format("(index {}{})", expr(e.c), exprs(tree_.elements_of(e)));
      case ExprKind::kSlice:
        return fmt::format("(slice {} {} {})", expr(e.c), expr(e.a), expr(e.b));
      case ExprKind::kMember:
        return fmt::format("(. {} {})", expr(e.a), text(e.c));
      case ExprKind::kSplice:
        return fmt::format("(splice {})", expr(e.a));
      case ExprKind::kAll:
        return "*";
    }
    return "";
  }

  const Tree& tree_;
};

}  // namespace

std::string dump_tree(const Tree& tree) { return Dumper(tree).program(); }

}  // namespace groma::syntax
