// Walks the syntax tree with the rules of the language for names: variables of a function hide
// globals and functions, but only from their first assignment on.
#include "language_server/symbols.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "groma/harmless.h"
#include "syntax/lexer.h"
#include "syntax/parser.h"

namespace groma::language_server {
namespace {

using syntax::Expr;
using syntax::ExprId;
using syntax::ExprKind;
using syntax::NameUse;
using syntax::Statement;
using syntax::Tree;

class SymbolFinder {
 public:
  explicit SymbolFinder(const Tree& tree) : tree_(tree) {}

  Symbols find() {
    declare_globals();
    std::uint32_t function = 0;
    for (const Statement& statement : tree_.statements) {
      if (const auto* def = std::get_if<syntax::DefStatement>(&statement.node)) {
        symbols_.functions.push_back(statement.range);
        visit_function(*def, function++);
      } else {
        visit_top_level(statement);
      }
    }
    // The names in selectors such as `main > step`.
    for (const NameUse& word : tree_.selected_names) {
      if (word.id != kStarName) add_foreign(SymbolKind::kTask, tasks_, word.id, word.range);
    }
    auto& all = symbols_.occurrences;
    std::stable_sort(all.begin(), all.end(), [](const Occurrence& a, const Occurrence& b) {
      return a.range.begin < b.range.begin;
    });
    return std::move(symbols_);
  }

 private:
  using Scope = std::map<NameId, std::uint32_t>;

  std::uint32_t add_symbol(SymbolKind kind, NameId name, std::optional<Range> definition) {
    symbols_.symbols.push_back(
        {kind, std::string(tree_.name_table.text(name)), definition, function_});
    return static_cast<std::uint32_t>(symbols_.symbols.size() - 1);
  }
  void add(Range range, std::uint32_t symbol, bool writes = false) {
    if (range.end > range.begin) symbols_.occurrences.push_back({range, symbol, writes});
  }

  // Enters the functions and the globals. The first definition of a name is the one that counts. A
  // global of a statement with an error counts last.
  void declare_globals() {
    for (const bool implied : {false, true}) {
      for (const Statement& statement : tree_.statements) {
        if (const auto* def = std::get_if<syntax::DefStatement>(&statement.node)) {
          if (!implied) declare(SymbolKind::kFunction, def->name);
        } else if (const auto* assign = std::get_if<syntax::AssignStatement>(&statement.node)) {
          if (assign->implied == implied) declare(SymbolKind::kGlobal, assign->target);
        }
      }
    }
  }
  void declare(SymbolKind kind, const NameUse& name) {
    if (!globals_.contains(name.id)) globals_[name.id] = add_symbol(kind, name.id, name.range);
  }

  void visit_function(const syntax::DefStatement& def, std::uint32_t number) {
    add(def.name.range, globals_[def.name.id], true);
    function_ = number;
    for (const syntax::Param& param : Tree::entries_of(tree_.params, def.params)) {
      const std::uint32_t symbol =
          add_symbol(SymbolKind::kParameter, param.name.id, param.name.range);
      symbols_.symbols[symbol].type = param.type;
      locals_[param.name.id] = symbol;
      add(param.name.range, symbol, true);
    }
    for (const Statement& statement : Tree::entries_of(tree_.body_statements, def.body)) {
      visit_body(statement);
    }
    locals_.clear();
    function_.reset();
  }

  void visit_body(const Statement& statement) {
    if (const auto* assign = std::get_if<syntax::AssignStatement>(&statement.node)) {
      visit(assign->value);
      auto found = locals_.find(assign->target.id);
      if (found == locals_.end()) {
        const std::uint32_t symbol =
            add_symbol(SymbolKind::kLocal, assign->target.id, assign->target.range);
        found = locals_.emplace(assign->target.id, symbol).first;
      }
      add(assign->target.range, found->second, true);
    } else if (const auto* print = std::get_if<syntax::PrintStatement>(&statement.node)) {
      for (ExprId id : tree_.exprs_of(print->args)) visit(id);
    } else if (const auto* result = std::get_if<syntax::ReturnStatement>(&statement.node)) {
      visit(result->value);
    }
  }

  void visit_top_level(const Statement& statement) {
    const auto& node = statement.node;
    if (const auto* assign = std::get_if<syntax::AssignStatement>(&node)) {
      visit(assign->value);
      add(assign->target.range, globals_[assign->target.id], true);
    } else if (const auto* print = std::get_if<syntax::PrintStatement>(&node)) {
      for (ExprId id : tree_.exprs_of(print->args)) visit(id);
    } else if (const auto* when = std::get_if<syntax::WhenStatement>(&node)) {
      visit(when->condition);
    } else if (const auto* task = std::get_if<syntax::TaskStatement>(&node)) {
      visit_tasks(task->names);
    } else if (const auto* region = std::get_if<syntax::RegionStatement>(&node)) {
      visit_tasks(region->names);
      visit_regions(region->which);
    } else if (const auto* layout = std::get_if<syntax::LayoutStatement>(&node)) {
      visit_tasks(layout->names);
      visit_regions(layout->which);
    } else if (const auto* limit = std::get_if<syntax::InstanceLimitStatement>(&node)) {
      visit_tasks(limit->names);
    } else if (const auto* collect = std::get_if<syntax::CollectMemoryStatement>(&node)) {
      visit_tasks(collect->names);
      visit_regions(collect->which);
    } else if (const auto* map = std::get_if<syntax::TaskMapStatement>(&node)) {
      visit_tasks(map->names);
      use(map->function);
    } else if (const auto* replicate = std::get_if<syntax::ControlReplicateStatement>(&node)) {
      visit_tasks(replicate->names);
    } else if (const auto* steal = std::get_if<syntax::TaskStealStatement>(&node)) {
      visit_tasks(steal->names);
    }
  }

  void visit_tasks(syntax::IndexRange names) {
    for (const NameUse& name : tree_.names_of(names)) {
      if (name.id != kStarName) add_foreign(SymbolKind::kTask, tasks_, name.id, name.range);
    }
  }
  void visit_regions(syntax::IndexRange which) {
    for (const syntax::RegionRef& region : Tree::entries_of(tree_.region_refs, which)) {
      if (region.is_position || region.value == kStarName) continue;
      add_foreign(SymbolKind::kRegion, regions_, region.value, region.range);
    }
  }
  // Adds a name that the application defines. A pattern is not a name, and the names in a selector
  // are added on their own.
  void add_foreign(SymbolKind kind, Scope& scope, NameId name, Range range) {
    if (tree_.name_table.is_pattern(name)) return;
    const auto found = scope.find(name);
    const std::uint32_t symbol =
        found != scope.end() ? found->second : add_symbol(kind, name, std::nullopt);
    scope[name] = symbol;
    add(range, symbol);
  }

  // Adds the use of a variable or function, if it is defined.
  void use(const NameUse& name) {
    for (const Scope* scope : {&locals_, &globals_}) {
      const auto found = scope->find(name.id);
      if (found == scope->end()) continue;
      add(name.range, found->second);
      return;
    }
  }

  // Visits an expression. Its depth is limited by the parser.
  void visit(ExprId id) {
    if (id == syntax::kNoExpr) return;
    const Expr& expr = tree_.exprs[id];
    switch (expr.kind) {
      case ExprKind::kName:
        use({expr.a, expr.range});
        break;
      case ExprKind::kParen:
      case ExprKind::kUnary:
      case ExprKind::kMember:
      case ExprKind::kSplice:
      case ExprKind::kOption:
        visit(expr.a);
        break;
      case ExprKind::kBinary:
        visit(expr.a);
        visit(expr.b);
        break;
      case ExprKind::kConditional:
        visit(expr.a);
        visit(expr.b);
        visit(expr.c);
        break;
      case ExprKind::kCall:
      case ExprKind::kIndex:
        visit(expr.c);
        for (ExprId element : tree_.elements_of(expr)) visit(element);
        break;
      case ExprKind::kTuple:
        for (ExprId element : tree_.elements_of(expr)) visit(element);
        break;
      case ExprKind::kSlice:
        visit(expr.c);
        visit(expr.a);
        visit(expr.b);
        break;
      case ExprKind::kComprehension:
        visit_comprehension(expr);
        break;
      default:
        break;
    }
  }

  // The variable of a comprehension is visible in its item only.
  void visit_comprehension(const Expr& expr) {
    visit(expr.b);
    const auto length = static_cast<std::uint32_t>(tree_.name_table.text(expr.c).size());
    const Range range{expr.focus_offset, expr.focus_offset + length};
    const std::uint32_t symbol = add_symbol(SymbolKind::kLocal, expr.c, range);
    const auto hidden = locals_.find(expr.c);
    const std::optional<std::uint32_t> outer =
        hidden == locals_.end() ? std::nullopt : std::optional(hidden->second);
    locals_[expr.c] = symbol;
    visit(expr.a);
    if (outer) {
      locals_[expr.c] = *outer;
    } else {
      locals_.erase(expr.c);
    }
    add(range, symbol, true);
  }

  const Tree& tree_;
  Symbols symbols_;
  Scope globals_, locals_, tasks_, regions_;
  std::optional<std::uint32_t> function_;
};

bool is_foreign(SymbolKind kind) {
  return kind == SymbolKind::kTask || kind == SymbolKind::kRegion;
}

// Returns true if the text is a single name that is not reserved.
bool is_free_name(const std::string& text) {
  Source source("", text);
  Diagnostics diags(source);
  syntax::Lexer lexer(source, diags, nullptr);
  const syntax::Token token = lexer.next_token();
  return token.kind == syntax::TokenKind::kName && token.range.begin == 0 &&
         token.range.end == text.size() && diags.all().empty();
}

}  // namespace

const Occurrence* Symbols::at(std::size_t offset) const {
  // The first occurrence that begins behind the offset; the one before it may contain the offset.
  const auto after = std::upper_bound(
      occurrences.begin(), occurrences.end(), offset,
      [](std::size_t where, const Occurrence& each) { return where < each.range.begin; });
  if (after == occurrences.begin()) return nullptr;
  const Occurrence& found = *(after - 1);
  return offset <= found.range.end ? &found : nullptr;
}

std::optional<std::uint32_t> Symbols::function_before(std::size_t offset) const {
  std::optional<std::uint32_t> found;
  for (std::size_t i = 0; i < functions.size() && functions[i].begin < offset; ++i) {
    found = static_cast<std::uint32_t>(i);
  }
  return found;
}

std::vector<Occurrence> Symbols::of(std::uint32_t symbol) const {
  std::vector<Occurrence> found;
  for (const Occurrence& each : occurrences) {
    if (each.symbol == symbol) found.push_back(each);
  }
  return found;
}

Symbols find_symbols(const Tree& tree) { return SymbolFinder(tree).find(); }

// Renames, reads the new text and compares: the renamed symbol must have the same places as before,
// and every other name must still mean what it meant.
Renaming rename_symbol(const Source& source, const Symbols& symbols, const Occurrence& at,
                       const std::string& new_name) {
  const Symbol& symbol = symbols.symbols[at.symbol];
  Renaming renaming;
  if (is_foreign(symbol.kind)) {
    const auto written = syntax::name_as_written(new_name);
    if (written) renaming.text = *written;
  } else if (is_free_name(new_name)) {
    renaming.text = new_name;
  }
  if (renaming.text.empty()) {
    renaming.problem = syntax::find_reserved_word(new_name) != nullptr
                           ? fmt::format("`{}` is a reserved word", harmless(new_name, 60))
                           : fmt::format("`{}` is not a name in a mapping", harmless(new_name, 60));
    return renaming;
  }
  std::string text;
  std::size_t copied = 0;
  for (const Occurrence& place : symbols.of(at.symbol)) {
    renaming.places.push_back(place.range);
    text += source.text().substr(copied, place.range.begin - copied);
    text += renaming.text;
    copied = place.range.end;
  }
  text += source.text().substr(copied);
  const Source renamed(source.name(), std::move(text));
  Diagnostics ignored(renamed);
  const Symbols after = find_symbols(syntax::parse(renamed, ignored));
  bool same = after.occurrences.size() == symbols.occurrences.size();
  std::map<std::uint32_t, std::uint32_t> new_of, old_of;
  for (std::size_t i = 0; same && i < after.occurrences.size(); ++i) {
    const std::uint32_t before = symbols.occurrences[i].symbol;
    const std::uint32_t now = after.occurrences[i].symbol;
    same = new_of.emplace(before, now).first->second == now &&
           old_of.emplace(now, before).first->second == before;
  }
  if (!same) {
    renaming.places.clear();
    renaming.problem =
        fmt::format("`{}` already means something else here", harmless(new_name, 60));
  }
  return renaming;
}

}  // namespace groma::language_server
