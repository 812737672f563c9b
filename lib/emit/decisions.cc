// Translates the statements of a mapping into C++ functions that decide. The key of a statement is
// a task, a region and a place (a processor kind or a memory). The tests in a function go from the
// most specific key to `*`, which stands for any.
#include "emit/decisions.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>

namespace groma::emitting {
namespace {

using program::kAnyPlace;
using program::memory_kind_of;
using program::PlaceKey;
using program::processor_kind_of;
using program::ProgramData;
using program::StatementRow;
using program::TableId;

// Writes one C++ function for each kind of statement that the program has.
class Decisions {
 public:
  Decisions(const Program& program, FunctionTranslator& functions, Features& features)
      : program_(program), data_(program.data()), functions_(functions), features_(features) {
    // Statements in `when` blocks come first, because they are tested first.
    for (const auto* rows : {&data_.conditional_rows, &data_.rows}) {
      for (const StatementRow& row : *rows) tables_[row.key.table].push_back(&row);
    }
    if (!data_.conditional_rows.empty()) features_.insert("conditions");
    if (!data_.names.selectors().empty()) {
      features_.insert("selectors");
      features_.insert("patterns");
    }
  }

  // Returns the text of all functions. place() comes after both calls of maps(), because it writes
  // a case for each mapping function that these have named.
  std::string all() {
    kinds_of();
    memories_of();
    layout_of();
    collects();
    maps(TableId::kIndexMap, "index_function", "IndexTaskMap: where points of its launches go");
    maps(TableId::kSingleMap, "single_function", "SingleTaskMap: where it goes");
    place();
    limit_of();
    replicates();
    steals();
    return std::move(out_);
  }

 private:
  using Rows = std::vector<const StatementRow*>;

  // Returns the statements of one kind (the rows of a table) and notes that the emitted text needs
  // `feature`. Returns null if the program has no such statement.
  const Rows* rows_of(TableId table, std::string_view feature) {
    const auto found = tables_.find(table);
    if (found == tables_.end()) return nullptr;
    features_.insert(std::string(feature));
    return &found->second;
  }

  // Appends one line of C++ to the emitted text.
  template <typename... Args>
  void line(int indent, fmt::format_string<Args...> format, Args&&... args) {
    out_.append(static_cast<std::size_t>(indent), ' ');
    out_ += fmt::format(format, std::forward<Args>(args)...);
    out_ += '\n';
  }

  // Appends the code for one statement, with a comment that cites the statement: beside the code if
  // there is room, else above it.
  void decided(int indent, const std::string& code, const StatementRow& row) {
    const std::string from = "// " + cite_source(data_.source, program_.range({row.statement}));
    const auto room = static_cast<std::size_t>(100 - indent);
    const bool beside = code.size() + from.size() + 2 <= room;
    if (!beside) line(indent, "{}", from.substr(0, room));
    line(indent, "{}{}", code, beside ? "  " + from : "");
  }

  // Returns a name in the mapping program as a C++ string literal.
  std::string name(NameId id) const { return string_literal(data_.names.text(id)); }

  // Returns the C++ condition of a statement in a `when` block, or "".
  std::string condition_of(const StatementRow& row) const {
    return row.when == 0 ? "" : functions_.condition_variable(row.when);
  }
  // Returns true if one of the statements stands in a `when` block, so that the emitted function
  // reads a member of `Mapping`.
  static bool depends_on_machine(const Rows& rows) {
    return std::any_of(rows.begin(), rows.end(),
                       [](const StatementRow* row) { return row->when != 0; });
  }

  // The statements about one task, without the task's name. Tasks with equal values can share one
  // test.
  using Sense = std::vector<std::tuple<std::uint32_t, PlaceKey, program::RegionKey>>;

  // Returns the C++ test whether a pattern or selector stands for the task.
  std::string test_of(NameId pattern) {
    features_.insert("patterns");
    const TaskSelector* const selector = data_.names.selector(pattern);
    if (selector == nullptr) return fmt::format("matches_pattern(task, {})", name(pattern));
    std::vector<std::string> path;
    for (const NameId word : selector->path) {
      // A name with `*` is marked, because it is no pattern.
      const std::string_view written = data_.names.text(word);
      const bool marked = data_.names.is_name(word) && written.find_first_of("*\"") != written.npos;
      path.push_back(string_literal(fmt::format("{}{}", marked ? "\"" : "", written)));
    }
    return fmt::format("selects({{{}}}, {}, task)", fmt::join(path, ", "), selector->dimensions);
  }

  // Calls use(rows, indent) for the statements (rows) about each selector of a name, then for those
  // about each named task, then for those about each pattern, the most specific first, then for
  // those about `*`. Tasks with equal statements share one `if`.
  template <typename Use>
  void by_task(const Rows& rows, const Use& use) {
    // Groups the rows by task, then the tasks by their rows. `order` keeps the groups in the order
    // of the program's text.
    std::map<NameId, Rows> tasks;
    for (const StatementRow* row : rows) tasks[row->key.task].push_back(row);
    std::map<Sense, std::vector<NameId>> alike;
    std::vector<Sense> order;
    for (const StatementRow* row : rows) {
      const NameId task = row->key.task;
      if (!data_.names.is_name(task)) continue;
      if (tasks[task].front() != row) continue;
      Sense sense;
      for (const StatementRow* own : tasks[task]) {
        sense.emplace_back(own->statement, own->key.place, own->key.region);
      }
      if (alike[sense].empty()) order.push_back(sense);
      alike[sense].push_back(task);
    }
    const auto write_patterns = [&](const std::vector<NameId>& patterns) {
      for (const NameId pattern : patterns) {
        const auto found = tasks.find(pattern);
        if (found == tasks.end()) continue;
        line(4, "if ({}) {{", test_of(pattern));
        use(found->second, 6);
        line(4, "}}");
      }
    };
    const program::TablePatterns& patterns = data_.patterns_of(rows.front()->key.table);
    write_patterns(patterns.selectors);
    for (const Sense& sense : order) {
      const std::vector<NameId>& names = alike[sense];
      std::string condition = "    if (";
      // The offset in `condition` at which its last line begins.
      std::size_t begin = 0;
      for (const NameId task : names) {
        const std::string test = "task == " + name(task);
        if (task != names.front()) condition += " ||";
        if (condition.size() - begin + test.size() > 90) {
          begin = condition.size();
          condition += "\n        ";
        } else if (task != names.front()) {
          condition += ' ';
        }
        condition += test;
      }
      out_ += condition + ") {\n";
      use(tasks[names.front()], 6);
      line(4, "}}");
    }
    write_patterns(patterns.tasks);
    const auto any = tasks.find(kStarName);
    if (any != tasks.end()) use(any->second, 4);
  }

  // Appends an `if` for each place in the statements of one key: memories, then processor kinds,
  // then any place. For each place, statements in `when` blocks come first. `result(row)` returns
  // the C++ statement for a row.
  template <typename Result>
  void by_place(const Rows& rows, int indent, const Result& result) {
    // Statements that return need no `else` between their tests. Those that add to a result do,
    // because only one place may count.
    const auto write = [&](const StatementRow& row, const std::string& place) {
      const std::string when = condition_of(row);
      const std::string condition = when + (when.empty() || place.empty() ? "" : " && ") + place;
      if (!condition.empty()) {
        decided(indent, fmt::format("{}if ({}) {}", else_ ? "else " : "", condition, result(row)),
                row);
      } else {
        decided(indent, fmt::format("{}{}", else_ ? "else " : "", result(row)), row);
      }
      else_ = adds_;
    };
    else_ = false;
    for (const StatementRow* row : rows) {
      if (const auto memory = memory_kind_of(row->key.place)) {
        write(*row, fmt::format("memory == {}", enumerator_of(*memory)));
      }
    }
    for (const StatementRow* row : rows) {
      if (const auto kind = processor_kind_of(row->key.place)) {
        write(*row, fmt::format("kind == {}", enumerator_of(*kind)));
      }
    }
    for (const StatementRow* row : rows) {
      if (row->key.place == kAnyPlace) write(*row, "");
    }
  }

  // Appends the tests for the regions in the statements about one task: by position, by name in the
  // order of the region's names, by pattern, then any region.
  template <typename Result>
  void by_region(const Rows& rows, int indent, const Result& result) {
    std::map<program::RegionKey, Rows> regions;
    std::vector<program::RegionKey> order;
    for (const StatementRow* row : rows) {
      if (regions[row->key.region].empty()) order.push_back(row->key.region);
      regions[row->key.region].push_back(row);
    }
    // The highest bit of a region's key marks a position; all other keys are names or patterns.
    bool named = false;
    for (const program::RegionKey region : order) {
      const bool position = (region & 0x80000000U) != 0;
      const bool pattern = !position && data_.names.is_pattern(region);
      named = named || (!position && !pattern && region != kStarName);
      if (!position) continue;
      line(indent, "if (region.position == {}) {{", region & 0x7FFFFFFFU);
      by_place(regions[region], indent + 2, result);
      line(indent, "}}");
    }
    if (named) {
      line(indent, "for (const std::string& name : region.names) {{");
      for (const program::RegionKey region : order) {
        if ((region & 0x80000000U) != 0 || region == kStarName) continue;
        if (data_.names.is_pattern(region)) continue;
        line(indent + 2, "if (name == {}) {{", name(region));
        by_place(regions[region], indent + 4, result);
        line(indent + 2, "}}");
      }
      line(indent, "}}");
    }
    for (const NameId pattern : data_.patterns_of(rows.front()->key.table).regions) {
      if (!regions.contains(pattern)) continue;
      features_.insert("patterns");
      features_.insert("region_patterns");
      line(indent, "if (any_matches(region.names, {})) {{", name(pattern));
      by_place(regions[pattern], indent + 2, result);
      line(indent, "}}");
    }
    const auto any = regions.find(kStarName);
    if (any != regions.end()) by_place(any->second, indent, result);
  }

  // Begins an emitted function with its comment and its head.
  void begin(std::string_view comment, std::string_view head) {
    line(2, "// {}", comment);
    line(2, "{} {{", head);
  }
  // Begins an emitted function that decides by these statements. It is static unless it depends on
  // the machine.
  void begin_decision(const Rows& rows, std::string_view comment, std::string_view head) {
    const bool member = depends_on_machine(rows);
    begin(comment, fmt::format("{}{}{}", member ? "" : "static ", head, member ? " const" : ""));
  }
  // Ends an emitted function. `otherwise` is its default result. It is empty if a statement for `*`
  // has returned, because then no case is left for a default.
  void end(std::string_view otherwise) {
    // If a statement for `*` has returned, no case is left for a default result.
    if (!otherwise.empty()) line(4, "return {};", otherwise);
    out_ += "  }\n\n";
  }

  // Returns true if a statement applies to every task, region and place, so that the emitted
  // function needs no default result.
  static bool has_any(const Rows& rows) {
    return std::any_of(rows.begin(), rows.end(), [](const StatementRow* row) {
      return row->key.task == kStarName && row->key.region == kStarName &&
             row->key.place == kAnyPlace && row->when == 0;
    });
  }
  // Return true if an emitted function for these statements reads its kind, memory, task or region
  // parameter.
  static bool asks_kind(const Rows& rows) {
    return std::any_of(rows.begin(), rows.end(), [](const StatementRow* row) {
      return processor_kind_of(row->key.place).has_value();
    });
  }
  static bool asks_memory(const Rows& rows) {
    return std::any_of(rows.begin(), rows.end(), [](const StatementRow* row) {
      return memory_kind_of(row->key.place).has_value();
    });
  }
  static bool asks_task(const Rows& rows) {
    return std::any_of(rows.begin(), rows.end(),
                       [](const StatementRow* row) { return row->key.task != kStarName; });
  }
  static bool asks_region(const Rows& rows) {
    return std::any_of(rows.begin(), rows.end(),
                       [](const StatementRow* row) { return row->key.region != kStarName; });
  }
  // Returns the text of a parameter, without its name if the emitted function does not use it.
  static std::string parameter(std::string_view type, std::string_view name, bool asked) {
    return asked ? fmt::format("{} {}", type, name) : std::string(type);
  }
  // Return the text of the task, region or kind parameter of an emitted function for these
  // statements.
  std::string task(const Rows& rows) const {
    const bool selects = !data_.names.selectors().empty();
    return parameter(selects ? "const LaunchedTask&" : "std::string_view", "task", asks_task(rows));
  }
  static std::string region(const Rows& rows) {
    return parameter("const Region&", "region", asks_region(rows));
  }
  static std::string kind(const Rows& rows) {
    return parameter("ProcKind", "kind", asks_kind(rows));
  }

  // Returns the kinds that a statement lists as a braced C++ list.
  template <typename Kind>
  static std::string kinds_text(const StatementRow& row) {
    std::string text;
    for (std::size_t i = 0; i < row.kind_count; ++i) {
      text +=
          fmt::format("{}{}", i == 0 ? "" : ", ", enumerator_of(static_cast<Kind>(row.kinds[i])));
    }
    return "{" + text + "}";
  }

  // Writes the emitted function `kinds_of`, from the Task statements.
  void kinds_of() {
    const Rows* rows = rows_of(TableId::kTask, "kinds");
    if (rows == nullptr) return;
    begin_decision(*rows,
                   "Task: the kinds of processors that it may run on, the best first; none: any.",
                   fmt::format("std::vector<ProcKind> kinds_of({})", task(*rows)));
    by_task(*rows, [&](const Rows& of, int indent) {
      by_place(of, indent,
               [](const StatementRow& row) { return "return " + kinds_text<ProcKind>(row) + ";"; });
    });
    end(has_any(*rows) ? "" : "{}");
  }

  // Writes the emitted function `memories_of`, from the Region statements. Several statements may
  // apply, so each of them adds its memories to a list.
  void memories_of() {
    const Rows* rows = rows_of(TableId::kRegion, "regions");
    if (rows == nullptr) return;
    begin_decision(
        *rows, "Region: the memories for its data on such a processor, the best first; none: any.",
        fmt::format("std::vector<MemKind> memories_of({}, {}, {})", task(*rows), region(*rows),
                    kind(*rows)));
    line(4, "std::vector<MemKind> found;");
    line(4, "const auto add = [&](std::initializer_list<MemKind> memories) {{");
    line(4, "  found.insert(found.end(), memories);");
    line(4, "}};");
    adds_ = true;
    by_task(*rows, [&](const Rows& of, int indent) {
      by_region(of, indent,
                [](const StatementRow& row) { return "add(" + kinds_text<MemKind>(row) + ");"; });
    });
    adds_ = false;
    end("found");
  }

  // Returns the C++ statement that returns the layout of a Layout statement, with the aspects that
  // the statement names.
  std::string layout_text(const StatementRow& row) const {
    const auto& [layout, named] = data_.layouts[static_cast<std::size_t>(row.value)];
    std::string text;
    const auto add = [&](std::string_view word) {
      text += fmt::format("{}{}", text.empty() ? "" : ", ", word);
    };
    if (layout.dimensions == DimensionOrder::kC) add(".dimensions = kC");
    if (layout.fields == FieldOrder::kAos) add(".fields = kAos");
    if (layout.compact) add(".compact = true");
    if (layout.exact) add(".exact = true");
    if (layout.align_op != AlignOp::kNone) {
      constexpr std::string_view kWords[] = {"kNone", "kEq", "kNe", "kLt", "kLe", "kGt", "kGe"};
      add(fmt::format(".align_op = {}, .align_bytes = {}",
                      kWords[static_cast<std::size_t>(layout.align_op)], layout.align_bytes));
    }
    return fmt::format("return StatedLayout{{{{{}}}, {{{}, {}, {}, {}}}}};", text, named.dimensions,
                       named.fields, named.exact, named.alignment);
  }

  // Writes the emitted function `layout_of`, from the Layout statements.
  void layout_of() {
    const Rows* rows = rows_of(TableId::kLayout, "layouts");
    if (rows == nullptr) return;
    begin_decision(
        *rows, "Layout: how its data lies in that memory; nothing: as the variant or Legion likes.",
        fmt::format("std::optional<StatedLayout> layout_of({}, {}, {}, {})", task(*rows),
                    region(*rows), kind(*rows),
                    parameter("MemKind", "memory", asks_memory(*rows))));
    by_task(*rows, [&](const Rows& of, int indent) {
      by_region(of, indent, [&](const StatementRow& row) { return layout_text(row); });
    });
    end(has_any(*rows) ? "" : "std::nullopt");
  }

  // Writes the emitted function `collects`, from the CollectMemory statements.
  void collects() {
    const Rows* rows = rows_of(TableId::kCollectMemory, "collects");
    if (rows == nullptr) return;
    begin_decision(*rows, "CollectMemory: whether what it only reads may go as soon as it is done.",
                   fmt::format("bool collects({}, {})", task(*rows), region(*rows)));
    by_task(*rows, [&](const Rows& of, int indent) {
      by_region(of, indent, [](const StatementRow&) { return "return true;"; });
    });
    end(has_any(*rows) ? "" : "false");
  }

  // Writes the emitted function that chooses a mapping function for a task. `table` is that of
  // IndexTaskMap or SingleTaskMap statements.
  void maps(TableId table, std::string_view name_of_function, std::string_view comment) {
    const Rows* rows = rows_of(table, name_of_function);
    if (rows == nullptr) return;
    features_.insert("functions");
    begin_decision(*rows, fmt::format("{}; none: where Legion's default mapper likes.", comment),
                   fmt::format("Function {}({}, {})", name_of_function, task(*rows), kind(*rows)));
    const auto result = [&](const StatementRow& row) {
      const auto function = static_cast<FunctionId>(row.value);
      return fmt::format("return Function::{};", bound(function));
    };
    by_task(*rows, [&](const Rows& of, int indent) { by_place(of, indent, result); });
    end(has_any(*rows) ? "" : "Function::none");
  }

  // Returns the emitted enumerator of a mapping function. The function is translated when the first
  // statement names it.
  std::string bound(FunctionId function) {
    const auto known = bound_.find(function);
    if (known != bound_.end()) return known->second.name;
    const FunctionTranslator::MappingFunction mapped = functions_.mapping_function(function);
    order_.push_back(function);
    return bound_.emplace(function, mapped).first->second.name;
  }

  // Writes the emitted function `place`, which calls the chosen mapping function. Also puts the
  // enumeration of mapping functions before everything else, because the other functions use it.
  void place() {
    if (bound_.empty()) return;
    begin("Calls the function: the processors on any of which the task may run.",
          "Processors place(Function function, const Task& task) const");
    line(4, "switch (function) {{");
    std::string names;
    for (const FunctionId function : order_) {
      const FunctionTranslator::MappingFunction& mapped = bound_.at(function);
      names += ", " + mapped.name;
      line(6, "case Function::{}:", mapped.name);
      if (!mapped.failure.empty()) {
        line(8, "fail({});", mapped.failure);
      } else if (mapped.is_set) {
        line(8, "return {}(task);", mapped.name);
      } else {
        line(8, "return {{{}(task)}};", mapped.name);
      }
    }
    line(6, "case Function::none:");
    line(8, "break;");
    line(4, "}}");
    line(4, "return {{}};");
    end("");
    out_ = fmt::format("  enum class Function {{ none{} }};\n\n", names) + out_;
  }

  // Writes the emitted function `limit_of` from the InstanceLimit statements, and `limit_scope_of`
  // if a limit counts several processors together.
  void limit_of() {
    const Rows* rows = rows_of(TableId::kInstanceLimit, "limits");
    if (rows == nullptr) return;
    begin_decision(*rows, "InstanceLimit: how many may be mapped and unfinished; 0: any number.",
                   fmt::format("std::int64_t limit_of({}, {})", task(*rows), kind(*rows)));
    by_task(*rows, [&](const Rows& of, int indent) {
      by_place(of, indent,
               [](const StatementRow& row) { return fmt::format("return {};", row.value); });
    });
    end(has_any(*rows) ? "" : "0");
    if (!data_.names.selectors().empty()) {
      begin_decision(
          *rows, "InstanceLimit: the number of the statement, whose launches are counted together.",
          fmt::format("std::uint32_t limit_statement_of({}, {})", task(*rows), kind(*rows)));
      by_task(*rows, [&](const Rows& of, int indent) {
        by_place(of, indent,
                 [](const StatementRow& row) { return fmt::format("return {};", row.statement); });
      });
      end(has_any(*rows) ? "" : "0");
    }
    const auto counts_together = [](const StatementRow* row) {
      return scope_of(*row) != kOneProcessor;
    };
    if (std::none_of(rows->begin(), rows->end(), counts_together)) return;
    features_.insert("shared_limits");
    begin_decision(*rows, "InstanceLimit: over which processors they are counted together.",
                   fmt::format("LimitScope limit_scope_of({}, {})", task(*rows), kind(*rows)));
    by_task(*rows, [&](const Rows& of, int indent) {
      by_place(of, indent, [](const StatementRow& row) {
        constexpr std::string_view kScopes[] = {"kProcessor", "kNode", "kMachine"};
        return fmt::format("return LimitScope::{};",
                           kScopes[static_cast<std::size_t>(scope_of(row))]);
      });
    });
    end(has_any(*rows) ? "" : "LimitScope::kProcessor");
  }

  static constexpr LimitScope kOneProcessor = LimitScope::kProcessor;
  static LimitScope scope_of(const StatementRow& row) {
    return static_cast<LimitScope>(row.kinds[0]);
  }

  // Writes the emitted function `replicates`, from the ControlReplicate statements.
  void replicates() {
    const Rows* rows = rows_of(TableId::kControlReplicate, "replicates");
    if (rows == nullptr) return;
    begin_decision(*rows,
                   "ControlReplicate: whether it runs as several shards, where a variant can.",
                   fmt::format("bool replicates({})", task(*rows)));
    by_task(*rows, [&](const Rows& of, int indent) {
      by_place(of, indent, [](const StatementRow&) { return "return true;"; });
    });
    end(has_any(*rows) ? "" : "false");
    const auto always = [](const StatementRow* row) { return row->when == 0; };
    if (std::any_of(rows->begin(), rows->end(), always)) return;
    features_.insert("conditional_replicates");
    std::set<std::string> conditions;
    for (const StatementRow* row : *rows) conditions.insert(condition_of(*row));
    begin("ControlReplicate: whether a statement about replication acts on this machine.",
          "bool replicates_any() const");
    end(fmt::format("{}", fmt::join(conditions, " || ")));
  }

  // Returns the C++ statement that returns which processors may steal a task: those of its node, or
  // any.
  static std::string steal_text(const StatementRow& row) {
    const bool near = static_cast<StealScope>(row.value) == StealScope::kSameNode;
    return near ? "return Steal::kSameNode;" : "return Steal::kAnyNode;";
  }

  // Writes the emitted functions `steal_of`, which tells who may steal a task, and `steals_from`,
  // which tells from where a processor may steal.
  void steals() {
    const Rows* rows = rows_of(TableId::kTaskSteal, "steals");
    if (rows == nullptr) return;
    begin_decision(*rows, "TaskSteal: who may take it while it waits; nothing: nobody.",
                   fmt::format("std::optional<Steal> steal_of({}, {})", task(*rows), kind(*rows)));
    by_task(*rows, [&](const Rows& of, int indent) {
      by_place(of, indent, [](const StatementRow& row) { return steal_text(row); });
    });
    end("std::nullopt");
    // For each processor kind, find the statement with the widest scope.
    std::map<PlaceKey, const StatementRow*> widest;
    // The statements in `when` blocks, those with the widest scope first.
    Rows each;
    for (const StatementRow* row : *rows) {
      const bool any_node = static_cast<StealScope>(row->value) == StealScope::kAnyNode;
      if (row->when != 0) {
        each.insert(any_node ? each.begin() : each.end(), row);
        continue;
      }
      const StatementRow*& known = widest[row->key.place];
      if (known == nullptr || any_node) known = row;
    }
    begin_decision(*rows, "From whom a processor of that kind may take any.",
                   fmt::format("std::optional<Steal> steals_from({})", kind(*rows)));
    for (const auto& [place, row] : widest) each.push_back(row);
    by_place(each, 4, [](const StatementRow& row) { return steal_text(row); });
    end("std::nullopt");
  }

  const Program& program_;
  const ProgramData& data_;
  FunctionTranslator& functions_;
  Features& features_;
  std::map<TableId, Rows> tables_;
  std::map<FunctionId, FunctionTranslator::MappingFunction> bound_;
  std::vector<FunctionId> order_;
  // True if the statements of the emitted function add to a result instead of returning it. The
  // next test then needs `else`.
  bool adds_ = false;
  // True if the next test begins with `else`.
  bool else_ = false;
  std::string out_;
};

}  // namespace

std::string decision_functions(const Program& program, FunctionTranslator& functions,
                               Features& features) {
  return Decisions(program, functions, features).all();
}

}  // namespace groma::emitting
