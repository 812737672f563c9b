// Compiles the text of a mapping into a Program: parse, declare names, order calls, build code,
// fill the tables of statements, check dimensions. Entry point: compile, at the end.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "groma/program.h"
#include "program/builder.h"
#include "program/calls.h"
#include "program/data.h"
#include "program/dimensions.h"
#include "program/patterns.h"
#include "syntax/parser.h"

namespace groma {
namespace program {
namespace {

using syntax::NameUse;
using syntax::Statement;
using syntax::Tree;

// Compiles one text. All stages run even after mistakes, so that every mistake is reported.
class Compiler {
 public:
  Compiler(const Source& source, Diagnostics& diags)
      : diags_(diags), tree_(syntax::parse(source, diags)) {}

  // Runs all stages and returns the data of the program, including what could be built despite
  // mistakes.
  std::shared_ptr<const ProgramData> run() {
    data_->source = tree_.source;
    // The sizes of the tree's lists tell about how many entries the program will have, so that its
    // vectors seldom need to grow.
    data_->code.reserve(tree_.exprs.size());
    data_->lists.reserve(tree_.expr_lists.size());
    data_->statement_ranges.reserve(tree_.statements.size());
    data_->rows.reserve(tree_.names.size());
    data_->row_index.reserve(tree_.names.size());
    declare();
    const CallOrder calls = order_calls(tree_, definitions_, diags_);
    for (FunctionId f = 0; f < calls.used.size(); ++f) data_->functions[f].used = calls.used[f];
    build(calls.order);
    // Number the statements from 1, and fill the tables in the order of the text. If several
    // statements have the same key, the first of them decides.
    std::uint32_t number = 0;
    for (const Statement& statement : tree_.statements) {
      data_->statement_ranges.push_back(statement.range);
      origin_ = ++number;
      when_ = statement.when;
      if (when_ != 0) data_->whens[number] = when_;
      std::visit([this](const auto& node) { enter(node); }, statement.node);
    }
    std::stable_sort(data_->shadowed_rows.begin(), data_->shadowed_rows.end(),
                     [](const StatementRow& a, const StatementRow& b) { return a.key < b.key; });
    // The tree is not needed any more, so the names move to the program.
    data_->names = std::move(tree_.name_table);
    order_patterns(*data_, diags_);
    check_dimensions(*data_, calls.order, diags_);
    data_->has_errors = diags_.has_errors();
    return data_;
  }

 private:
  std::string_view text(NameId id) const { return tree_.name_table.text(id); }

  // ------------------------------------------------------------------------------------ names

  // Enters every function and global into the name space of the program.
  void declare() {
    definitions_.symbols.assign(tree_.name_table.size(), {});
    for (const Statement& statement : tree_.statements) {
      if (const auto* def = std::get_if<syntax::DefStatement>(&statement.node)) {
        definitions_.defs.push_back(def);
        ProgramFunction function;
        function.name = def->name.id;
        function.name_range = def->name.range;
        data_->functions.push_back(function);
        define(def->name, Symbol::Kind::kFunction, data_->functions.size() - 1);
      } else if (const auto* assign = std::get_if<syntax::AssignStatement>(&statement.node)) {
        data_->globals.push_back({assign->target.id, assign->target.range, assign->implied});
        define(assign->target, Symbol::Kind::kGlobal, data_->globals.size() - 1);
      }
    }
  }

  // Enters one name. A second definition of a name is reported. A global that is only implied by a
  // broken statement gives way to any other definition.
  void define(const NameUse& name, Symbol::Kind kind, std::size_t index) {
    Symbol& symbol = definitions_.symbols[name.id];
    const auto implied = [this](Symbol::Kind of, std::size_t i) {
      return of == Symbol::Kind::kGlobal && data_->globals[i].implied;
    };
    if (symbol.kind == Symbol::Kind::kNone || implied(symbol.kind, symbol.index)) {
      symbol = {kind, static_cast<std::uint32_t>(index)};
      return;
    }
    if (implied(kind, index)) return;
    // The name is defined already. The message says whether as a function or a global, and points
    // to the definition.
    const bool function = symbol.kind == Symbol::Kind::kFunction;
    const Range first =
        function ? data_->functions[symbol.index].name_range : data_->globals[symbol.index].range;
    Diagnostic& diagnostic = diags_.report(DiagId::kDuplicateName, name.range, text(name.id));
    diagnostic.note(fmt::format("it is a {} already, from here", function ? "function" : "global"),
                    first);
    if (function && kind == symbol.kind) {
      diagnostic.note("the original silently takes the first (D13)");
    }
  }

  // Builds the functions, callees first, then the actions of the top level in the order of the
  // text.
  void build(const std::vector<FunctionId>& order) {
    CodeBuilder builder(tree_, definitions_, *data_, diags_);
    for (FunctionId function : order) builder.build_function(function);
    std::uint32_t global = 0, number = 0;
    for (const Statement& statement : tree_.statements) {
      ++number;
      if (const auto* assign = std::get_if<syntax::AssignStatement>(&statement.node)) {
        builder.build_top_assignment(*assign, global++, statement.range);
      } else if (const auto* print = std::get_if<syntax::PrintStatement>(&statement.node)) {
        builder.build_top_print(*print, statement.range);
      } else if (const auto* when = std::get_if<syntax::WhenStatement>(&statement.node)) {
        builder.build_condition(*when, number, statement.range);
        data_->conditions[number] = data_->code[data_->top_level_actions.back().value].range;
      }
    }
  }

  // ------------------------------------------------------------------------------------ tables

  // Adds a row to the tables of statements. If its key already has a row, warns at `range` that an
  // earlier statement decides `what`. The new row is then kept in `shadowed_rows`, unless the
  // earlier row belongs to the same statement. Each `when` block has keys of its own.
  template <typename What>
  void add(StatementRow row, Range range, const What& what) {
    row.statement = origin_;
    row.when = when_;
    const StatementRow* known = nullptr;
    if (when_ == 0) {
      known = data_->add_row(row);
    } else {
      const auto [first, is_new] = conditional_.try_emplace({when_, row.key}, row);
      if (!is_new) known = &first->second;
      if (known == nullptr || known->statement != origin_) data_->conditional_rows.push_back(row);
    }
    if (known == nullptr) return;
    if (when_ == 0 && known->statement != origin_) data_->shadowed_rows.push_back(row);
    const Range first =
        known->statement == origin_ ? range : data_->statement_ranges[known->statement - 1];
    Diagnostic& diagnostic =
        diags_.report(DiagId::kShadowedStatement, range, what())
            .note(known->statement == origin_ ? "by the same statement" : "by this statement",
                  first);
    // Users often expect that two Layout statements are combined, so the help says that they are
    // not.
    if (row.key.table == TableId::kLayout) {
      diagnostic.help("`Layout` statements are not put together: write all words in the first");
    }
  }

  // Returns a task for messages: "`foo`" or "every task". A pattern is shown as it is written.
  std::string task_words(NameId task) const {
    return task == kStarName ? std::string("every task") : fmt::format("`{}`", text(task));
  }
  // Returns a region for messages: "every region", "region 2" or its name.
  std::string region_words(RegionKey region) const {
    if (region == kStarName) return "every region";
    if ((region & 0x80000000U) != 0) return fmt::format("region {}", region & 0x7FFFFFFFU);
    return fmt::format("`{}`", text(region));
  }
  // Returns a place for messages, such as " on `GPU`". The place `*` has no words.
  static std::string place_words(const syntax::StatementPlace& place) {
    switch (place.kind) {
      case syntax::StatementPlace::Kind::kAny:
        return "";
      case syntax::StatementPlace::Kind::kProc:
        return fmt::format(" on `{}`", name_of(static_cast<ProcKind>(place.word.value)));
      case syntax::StatementPlace::Kind::kMem:
        return fmt::format(" in `{}`", name_of(static_cast<MemKind>(place.word.value)));
    }
    return "";
  }

  // Copies the kinds of a statement into the row, in order and without duplicates.
  void set_kinds(StatementRow& row, syntax::IndexRange words) const {
    for (const syntax::KindWord& word : Tree::entries_of(tree_.kind_words, words)) {
      const auto end = row.kinds.begin() + row.kind_count;
      if (std::find(row.kinds.begin(), end, word.value) == end) {
        row.kinds[row.kind_count++] = word.value;
      }
    }
  }

  // Returns the key of the place to which a Region or Layout statement applies.
  static PlaceKey place_of(const syntax::StatementPlace& place) {
    switch (place.kind) {
      case syntax::StatementPlace::Kind::kAny:
        return kAnyPlace;
      case syntax::StatementPlace::Kind::kProc:
        return place_key(static_cast<ProcKind>(place.word.value));
      case syntax::StatementPlace::Kind::kMem:
        return place_key(static_cast<MemKind>(place.word.value));
    }
    return kAnyPlace;
  }

  // Returns the key of a region: its name or its position.
  static RegionKey region_key(const syntax::RegionRef& which) {
    return which.is_position ? position_key(which.value) : which.value;
  }

  // Adds the row under every pair of a task and a region. `what` and `where` are words for the
  // warning: `what` says what the statement decides, `where` at which place.
  void add_regions(StatementRow row, syntax::IndexRange names, syntax::IndexRange which,
                   std::string_view what, std::string_view where) {
    for (const NameUse& name : tree_.names_of(names)) {
      for (const syntax::RegionRef& region : Tree::entries_of(tree_.region_refs, which)) {
        // The error that there are too many pairs is reported only once, at the first pair beyond
        // the limit.
        if (pairs_ == kMaxPairs) {
          diags_.report(DiagId::kProgramTooLarge, name.range, kMaxPairs,
                        "pairs of task and region");
        }
        if (++pairs_ > kMaxPairs) return;
        row.key.task = name.id;
        row.key.region = region_key(region);
        const Range range =
            Tree::entries_of(tree_.region_refs, which).size() > 1 ? region.range : name.range;
        add(row, range, [&] {
          return fmt::format("{} of {} of {}{}", what, region_words(row.key.region),
                             task_words(row.key.task), where);
        });
      }
    }
  }

  // Adds the rows of a Task statement to its table: one for each task that it names.
  void enter(const syntax::TaskStatement& node) {
    StatementRow row;
    row.key.table = TableId::kTask;
    set_kinds(row, node.procs);
    for (const NameUse& name : tree_.names_of(node.names)) {
      row.key.task = name.id;
      add(row, name.range, [&] { return fmt::format("where {} runs", task_words(name.id)); });
    }
  }

  // Adds the rows of a Region statement to its table: one for each pair of a task and a region.
  void enter(const syntax::RegionStatement& node) {
    StatementRow row;
    row.key.table = TableId::kRegion;
    row.key.place = place_of(node.place);
    set_kinds(row, node.memories);
    add_regions(row, node.names, node.which, "the memory", place_words(node.place));
  }

  // Adds the rows of a Layout statement to its table: one for each pair of a task and a region.
  void enter(const syntax::LayoutStatement& node) {
    StatementRow row;
    row.key.table = TableId::kLayout;
    row.key.place = place_of(node.place);
    row.value = static_cast<std::int64_t>(data_->layouts.size());
    data_->layouts.push_back(layout_of(node));
    add_regions(row, node.names, node.which, "the layout", place_words(node.place));
  }

  // Collects the constraints of a Layout statement and notes which properties it names. Warns about
  // combinations that the original language treats differently (differences D10 and D18 in
  // docs/language.md).
  StatedLayout layout_of(const syntax::LayoutStatement& node) {
    StatedLayout stated;
    LayoutSpec& layout = stated.layout;
    const syntax::LayoutConstraint* exact = nullptr;
    for (const syntax::LayoutConstraint& constraint :
         Tree::entries_of(tree_.constraints, node.constraints)) {
      using syntax::ConstraintWord;
      switch (constraint.word) {
        case ConstraintWord::kSoa:
          layout.fields = FieldOrder::kSoa;
          stated.named.fields = true;
          break;
        case ConstraintWord::kAos:
          layout.fields = FieldOrder::kAos;
          stated.named.fields = true;
          break;
        case ConstraintWord::kCOrder:
          layout.dimensions = DimensionOrder::kC;
          stated.named.dimensions = true;
          break;
        case ConstraintWord::kFOrder:
          layout.dimensions = DimensionOrder::kFortran;
          stated.named.dimensions = true;
          break;
        case ConstraintWord::kCompact:
          layout.compact = true;
          break;
        case ConstraintWord::kExact:
          layout.exact = true;
          stated.named.exact = true;
          exact = &constraint;
          break;
        case ConstraintWord::kNoAlign:
          layout.align_op = AlignOp::kNone;
          layout.align_bytes = 0;
          break;
        case ConstraintWord::kAlign:
          layout.align_op = constraint.op;
          layout.align_bytes = constraint.bytes;
          stated.named.alignment = true;
          break;
      }
    }
    if (exact != nullptr && !layout.compact) {
      diags_.report(DiagId::kOriginalDiffers, exact->range,
                    "`Exact` acts alone; in the original it needs `Compact`", "D18");
    }
    if (layout.fields == FieldOrder::kAos && layout.dimensions == DimensionOrder::kFortran) {
      diags_.report(DiagId::kOriginalDiffers, node_range(node),
                    "`F_order AOS` of a 2-D region is [F, X, Y]; the original makes it [F, Y, Z]",
                    "D10");
    }
    return stated;
  }

  // Returns the range from the first to the last constraint of the statement, which must have one.
  Range node_range(const syntax::LayoutStatement& node) const {
    const auto constraints = Tree::entries_of(tree_.constraints, node.constraints);
    return {constraints.front().range.begin, constraints.back().range.end};
  }

  // Adds the rows of an InstanceLimit statement to its table. The first entry of a row's `kinds`
  // holds the scope of the limit.
  void enter(const syntax::InstanceLimitStatement& node) {
    StatementRow row;
    row.key.table = TableId::kInstanceLimit;
    row.value = node.limit;
    row.kinds[0] = static_cast<std::uint8_t>(node.scope);
    if (node.proc) row.key.place = place_key(static_cast<ProcKind>(node.proc->value));
    for (const NameUse& name : tree_.names_of(node.names)) {
      row.key.task = name.id;
      add(row, name.range, [&] { return fmt::format("the limit of {}", task_words(name.id)); });
    }
  }

  // Adds the rows of a CollectMemory statement to its table: one for each pair of a task and a
  // region.
  void enter(const syntax::CollectMemoryStatement& node) {
    StatementRow row;
    row.key.table = TableId::kCollectMemory;
    add_regions(row, node.names, node.which, "the collection", "");
  }

  // Adds the rows of a ControlReplicate statement to its table: one for each task.
  void enter(const syntax::ControlReplicateStatement& node) {
    StatementRow row;
    row.key.table = TableId::kControlReplicate;
    for (const NameUse& name : tree_.names_of(node.names)) {
      row.key.task = name.id;
      add(row, name.range,
          [&] { return fmt::format("the replication of {}", task_words(name.id)); });
    }
  }

  // Adds the rows of a TaskSteal statement to its table: one for each task, with its kind and
  // scope.
  void enter(const syntax::TaskStealStatement& node) {
    StatementRow row;
    row.key.table = TableId::kTaskSteal;
    row.key.place = place_key(static_cast<ProcKind>(node.proc.value));
    row.value = static_cast<std::int64_t>(node.scope);
    for (const NameUse& name : tree_.names_of(node.names)) {
      row.key.task = name.id;
      add(row, name.range, [&] { return fmt::format("the stealing of {}", task_words(name.id)); });
    }
  }

  // Adds the rows of a statement that binds a mapping function to tasks or to a processor kind.
  void enter(const syntax::TaskMapStatement& node) {
    const auto function = mapping_function(node);
    if (!function) return;
    StatementRow row;
    row.key.table = node.index ? TableId::kIndexMap : TableId::kSingleMap;
    row.value = *function;
    const std::string_view what = node.index ? "the index map" : "the single map";
    if (node.proc) {
      const auto kind = static_cast<ProcKind>(node.proc->value);
      row.key.place = place_key(kind);
      add(row, node.proc->range, [&] { return fmt::format("{} of `{}`", what, name_of(kind)); });
      return;
    }
    for (const NameUse& name : tree_.names_of(node.names)) {
      row.key.task = name.id;
      if (name.id == kStarName && node.index) {
        diags_.report(DiagId::kOriginalDiffers, name.range,
                      "`IndexTaskMap *` acts, after names and kinds; the original ignores it",
                      "D14");
      }
      add(row, name.range, [&] { return fmt::format("{} of {}", what, task_words(name.id)); });
    }
  }

  // Returns the function that a statement binds. Reports and returns nothing if there is no such
  // function or it does not take one task.
  std::optional<FunctionId> mapping_function(const syntax::TaskMapStatement& node) {
    const Symbol symbol = definitions_.symbols[node.function.id];
    const std::string_view name = text(node.function.id);
    if (symbol.kind != Symbol::Kind::kFunction) {
      // A global that only a statement with an error defines may be meant as a function, so its use
      // is not reported.
      const bool global = symbol.kind == Symbol::Kind::kGlobal;
      if (diags_.full() || (global && data_->globals[symbol.index].implied)) return std::nullopt;
      Diagnostic& diagnostic = diags_.report(DiagId::kUnknownFunction, node.function.range, name);
      if (symbol.kind == Symbol::Kind::kGlobal) {
        diagnostic.note("it is a global", data_->globals[symbol.index].range);
      }
      std::vector<std::string_view> candidates;
      for (const ProgramFunction& function : data_->functions)
        candidates.push_back(text(function.name));
      suggest(diagnostic, name, candidates, node.function.range);
      return std::nullopt;
    }
    // A mapping function takes the task as its only parameter.
    const ProgramFunction& function = data_->functions[symbol.index];
    // The errors in a broken function were already reported, so its use is not reported again.
    if (function.broken) return symbol.index;
    const IndexRange parameters = function.parameters;
    const ParamType type =
        parameters.count == 1 ? data_->parameters[parameters.begin].type : ParamType::kAny;
    if (parameters.count != 1 || (type != ParamType::kTask && type != ParamType::kAny)) {
      const std::string takes =
          parameters.count == 1 ? fmt::format("a parameter of type `{}`", syntax::spelling_of(type))
                                : fmt::format("{} parameters", parameters.count);
      diags_.report(DiagId::kMappingSignature, node.function.range, name, takes)
          .note("it is defined here", function.name_range)
          .help(fmt::format("write `def {}(Task task)`", name));
      return std::nullopt;
    }
    check_reads(node, function);
    check_result(node, function);
    return symbol.index;
  }

  // Warns if the result of a mapping function is known not to be a processor. Such a function fails
  // at every point; the original language finds out only there.
  void check_result(const syntax::TaskMapStatement& node, const ProgramFunction& function) {
    const Type type = function.result;
    if (type == Type::kAny || type == Type::kProcessor || type == Type::kProcessors) return;
    diags_
        .report(DiagId::kNotAProcessor, node.function.range, text(function.name),
                describe_type(type))
        .lower_to(Severity::kWarning)
        .note("it is an error at the first point that is mapped", function.name_range)
        .help("index a machine: `m[node, index]`, with `m = Machine(GPU)` or the like");
  }

  // Reports a function bound with the wrong statement: it reads a member that only single tasks
  // have, or one that only index launches have.
  void check_reads(const syntax::TaskMapStatement& node, const ProgramFunction& function) {
    const TaskMemberRead& read =
        node.index ? function.single_task_read : function.index_launch_read;
    if (!read.reads) return;
    const std::string_view member = read.is_processor ? "processor" : name_of(read.member);
    diags_
        .report(node.index ? DiagId::kNeedsSingleTask : DiagId::kNeedsIndexTask,
                node.function.range, text(function.name), fmt::format("task.{}", member))
        .note("it is read here", read.range)
        .help(node.index ? "bind it with `SingleTaskMap`"
                         : "bind it with `IndexTaskMap` if the task is an index launch; a single "
                           "task has no such member");
  }

  // These kinds of statements have no row in the tables. declare() and build() have handled them.
  void enter(const syntax::AssignStatement&) {}
  void enter(const syntax::PrintStatement&) {}
  void enter(const syntax::ReturnStatement&) {}
  void enter(const syntax::DefStatement&) {}
  void enter(const syntax::WhenStatement&) {}

  // Limit on the pairs of task and region in all statements together, because long lists multiply.
  // Pairs that are named twice count twice.
  static constexpr std::size_t kMaxPairs = 1'500'000;

  Diagnostics& diags_;
  Tree tree_;
  std::shared_ptr<ProgramData> data_ = std::make_shared<ProgramData>();
  ProgramDefinitions definitions_;
  std::uint32_t origin_ = 0;
  // The number of the `when` statement in whose block the statement stands (StatementRow::when).
  std::uint32_t when_ = 0;
  // The first row for each key in each `when` block.
  std::map<std::pair<std::uint32_t, StatementKey>, StatementRow> conditional_;
  std::size_t pairs_ = 0;
};

}  // namespace
}  // namespace program

Program compile(const Source& source, Diagnostics& diags) {
  return Program(program::Compiler(source, diags).run());
}

}  // namespace groma
