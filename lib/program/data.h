// The contents of a Program: rows for statements with an index from key to row, and functions as
// typed code in flat vectors. Operands come before the code that uses them.
#pragma once

#include <array>
#include <compare>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/names.h"
#include "groma/program.h"
#include "syntax/methods.h"
#include "syntax/token.h"

namespace groma::program {

using syntax::Method;
using syntax::ParamType;

// ------------------------------------------------------------------------------------------ code

// The type of a value, as far as it is known without a machine and a task. kAny is decided at
// evaluation. A processor may stand for a tuple: the pair of its node and index.
enum class Type : std::uint8_t {
  kAny,
  kInt,
  kBool,
  kTuple,
  kString,
  kMachine,
  kTask,
  // The parent of a task. It has fewer members than a task.
  kParent,
  kProcessor,
  kProcessors,
  kProcKind,
  kMemKind,
};
// Returns "an integer", "a processor", ... for messages.
std::string_view describe_type(Type type);

using CodeId = std::uint32_t;
inline constexpr CodeId kNoCode = 0xFFFFFFFF;

// An operation of typed code. The comment of each enumerator says what CodeNode::a, b and c mean
// for it.
enum class Op : std::uint8_t {
  // An integer, whose two halves are `a` and `b`.
  kInt,
  // A truth value; `a` is 0 or 1.
  kBool,
  // A string; `a` is its index in ProgramData::strings.
  kString,
  // A kind of processor, which is `a`.
  kProcKind,
  // A kind of memory, which is `a`.
  kMemKind,
  // A local variable; `a` is its slot.
  kLocal,
  // A global variable; `a` is its index in ProgramData::globals.
  kGlobal,
  // A tuple. Its items are the list that begins at `a` and has `b` entries.
  kTuple,
  // A list element that stands for the items of the tuple `a`.
  kSplice,
  // An index element `*`, which stands for all indices of a dimension.
  kAll,
  // A tuple with the value of item `a` for each value of the variable in slot `c`, which takes the
  // values of range `b`.
  kComprehension,
  kNegate,
  kNot,
  kAdd,
  kSubtract,
  kMultiply,
  kDivide,
  kModulo,
  kEqual,
  kNotEqual,
  kLess,
  kLessEqual,
  kGreater,
  kGreaterEqual,
  kAnd,
  kOr,
  // The value of `b` if the condition `a` is true, otherwise that of `c`.
  kConditional,
  // An item of the machine or tuple `c`. The index is the list that begins at `a` and has `b`
  // entries.
  kIndex,
  // A slice of the tuple, or of the extents of the machine, `c` from `a` to `b`. A missing end is
  // kNoCode.
  kSlice,
  // A call of function number `c`. Its arguments are the list that begins at `a` and has `b`
  // entries.
  kCall,
  // The expression `Machine(KIND)`; `a` is the kind.
  kMachine,
  // A call of `method` on the value `c`. Its arguments are the list that begins at `a` and has `b`
  // entries. `option` is the value of `halo`, or kNoCode.
  kMethod,
  // The member `member` of the value `a`.
  kMember,
  // An expression with a mistake, which may never be evaluated. The evaluation fails with
  // diagnostic number `a` of ProgramData::broken_code_diagnostics.
  kBroken,
};

enum class Member : std::uint8_t {
  // The extents of a machine or of a tuple.
  kSize,
  kVolume,
  kLen,
  // The point of a task within its index launch.
  kIpoint,
  kIspace,
  kIlo,
  // The place of the point among the points of its launch, and their number.
  kIrank,
  kIvolume,
  kParent,
  kName,
};
inline constexpr std::size_t kMemberCount = 10;
// Returns true for members that only the points of index launches have.
constexpr bool needs_index_launch(Member member) {
  return member >= Member::kIpoint && member <= Member::kIvolume;
}
// Returns the member as programs write it.
std::string_view name_of(Member member);

// A node of typed code. The comments of Op say what `a`, `b` and `c` hold.
struct CodeNode {
  Op op = Op::kInt;
  Type type = Type::kAny;
  Method method = Method::kSplit;
  Member member = Member::kSize;
  std::uint32_t a = 0, b = 0, c = 0;
  CodeId option = kNoCode;
  // The range of the whole expression.
  Range range;
  // The range in the source of the operator or the member's name, to which messages point.
  Range focus;
};

// `count` entries of ProgramData::lists, from index `begin` on. If a member of this type refers to
// another vector, the member's comment names that vector.
struct IndexRange {
  std::uint32_t begin = 0;
  std::uint32_t count = 0;
};

// An executable statement of a function's body or of the program's top level.
struct ExecutableStatement {
  enum class Kind : std::uint8_t { kAssign, kPrint, kReturn, kWhen };
  Kind kind = Kind::kAssign;
  // The variable that a kAssign sets. It is a slot of the function; at top level it is a global.
  // For kWhen, the number of the `when` statement (StatementRow::when).
  std::uint32_t target = 0;
  // The code of the value, for kAssign and kReturn, or of the condition, for kWhen.
  CodeId value = kNoCode;
  // The index in ProgramData::strings of the text that a kPrint prints.
  std::uint32_t text = 0;
  // The range in ProgramData::lists of the values that a kPrint prints.
  IndexRange args;
  Range range;
};

struct FunctionParameter {
  ParamType type = ParamType::kAny;
  // The range of the parameter's name in the source.
  Range range;
};

// The first read of a member of its task by a function, directly or through functions that it
// calls.
struct TaskMemberRead {
  bool reads = false;
  // The first member of the task that the function reads. A read of `processor` is stored as
  // kParent, since both exist only for single tasks.
  Member member = Member::kIpoint;
  bool is_processor = false;
  Range range;
};

// A function of the program. The parts of the task that it reads decide which statements may bind
// it.
struct ProgramFunction {
  NameId name = kStarName;
  Range name_range;
  // A range of ProgramData::parameters. Parameter i has slot i.
  IndexRange parameters;
  // A range of ProgramData::actions. In a correct program, its last action is the only kReturn.
  IndexRange body;
  // The number of slots for local variables. Each assignment has a slot of its own.
  std::uint32_t slot_count = 0;
  Type result = Type::kAny;
  // The first read of a member that only index launches have (needs_index_launch()).
  TaskMemberRead index_launch_read;
  // The first read of a member that only single tasks have: parent or processor.
  TaskMemberRead single_task_read;
  // True if the function reads the name of its task, directly or through functions that it calls.
  bool reads_name = false;
  // True if the function reads `irank` or `ivolume`, directly or through functions that it calls.
  bool reads_rank = false;
  // True if a statement uses the function, directly or through other functions.
  bool used = false;
  // True if an error was reported in the parameters.
  bool broken = false;
};

struct GlobalVariable {
  NameId name = kStarName;
  // The range of the global's name in the source.
  Range range;
  // True if only a statement with an error defines the global. Its value is then unknown.
  bool implied = false;
};

// ---------------------------------------------------------------------------------------- tables

// The region in a statement's key: kStarName for `*`, the NameId of the region's name or of a name
// pattern, or the position of the region's requirement with the upper bit set.
using RegionKey = std::uint32_t;
inline constexpr RegionKey position_key(std::uint32_t position) { return 0x80000000U | position; }

// The place to which a statement applies: `*`, a processor kind, or (Layout) a memory kind.
using PlaceKey = std::uint8_t;
inline constexpr PlaceKey kAnyPlace = 0;
inline constexpr PlaceKey place_key(ProcKind kind) {
  return static_cast<PlaceKey>(1 + static_cast<int>(kind));
}
inline constexpr PlaceKey place_key(MemKind kind) {
  return static_cast<PlaceKey>(0x40 + static_cast<int>(kind));
}

// Return the processor kind or the memory kind of a place, or nothing if the place is of another
// sort.
inline std::optional<ProcKind> processor_kind_of(PlaceKey place) {
  if (place == kAnyPlace || place >= 0x40) return std::nullopt;
  return static_cast<ProcKind>(place - 1);
}
inline std::optional<MemKind> memory_kind_of(PlaceKey place) {
  if (place < 0x40) return std::nullopt;
  return static_cast<MemKind>(place - 0x40);
}

// The tables of a program's statements, one for each kind of statement.
enum class TableId : std::uint8_t {
  kTask,
  kRegion,
  kLayout,
  kInstanceLimit,
  kCollectMemory,
  kIndexMap,
  kSingleMap,
  kControlReplicate,
  kTaskSteal,
};

// The key under which a statement is found: the table for its kind, and the processor or memory
// kind, the task and the region that the statement is about. The task and the region are names,
// name patterns or `*`.
struct StatementKey {
  TableId table = TableId::kTask;
  PlaceKey place = kAnyPlace;
  NameId task = kStarName;
  RegionKey region = kStarName;
  friend auto operator<=>(const StatementKey&, const StatementKey&) = default;
};

// An entry of the statement tables: a statement under one of its keys. The table decides what
// `value` and `kinds` hold.
struct StatementRow {
  StatementKey key;
  // The number of the statement in the order of the program's text, from 1, as in DecisionOrigin.
  std::uint32_t statement = 0;
  // The number of the `when` statement in whose block the statement stands, counted in the same
  // way. 0: in none.
  std::uint32_t when = 0;
  // The number of kinds of a kTask or kRegion row. The kinds stand in the order of the statement
  // and without duplicates.
  std::uint8_t kind_count = 0;
  // The kinds. For kInstanceLimit, the first entry is the LimitScope.
  std::array<std::uint8_t, 7> kinds{};
  // For kInstanceLimit the limit, for kTaskSteal the scope, for kIndexMap and kSingleMap the
  // function, for kLayout an index into ProgramData::layouts.
  std::int64_t value = 0;
};

// The selectors and name patterns in the statements of one table, the most specific first.
struct TablePatterns {
  // The selectors whose last word is a name. They are more specific than this name alone.
  std::vector<NameId> selectors;
  // The patterns, and the selectors whose last word is a pattern or `*`.
  std::vector<NameId> tasks, regions;
};

// All data of a program.
struct ProgramData {
  Source source;
  NameTable names;

  // The range of each statement. The statement with DecisionOrigin o is at index o - 1.
  std::vector<Range> statement_ranges;
  // The ranges of the conditions of `when` statements, by the numbers of these statements.
  std::map<std::uint32_t, Range> conditions;
  // The number of the `when` statement around a statement, for the statements in blocks.
  std::map<std::uint32_t, std::uint32_t> whens;
  // The name patterns of each table, by TableId.
  std::array<TablePatterns, 9> patterns;
  // The rows that can decide something: for each key that occurs, the row of the first statement
  // with this key. Before the program is bound to a machine, these are the rows of the statements
  // outside `when` blocks. After that, a row of a block comes before those outside blocks.
  std::vector<StatementRow> rows;
  // The rows that an earlier row with the same key hides, sorted by key and then by their place in
  // the text.
  std::vector<StatementRow> shadowed_rows;
  FlatIndex row_index;
  // The rows of the statements in `when` blocks, in the order of the text. If the program is bound
  // to a machine, only those of the blocks whose conditions do not hold there.
  std::vector<StatementRow> conditional_rows;
  // For a program with `when` blocks that is bound to a machine: the program before that.
  std::shared_ptr<const ProgramData> unbound;
  std::vector<StatedLayout> layouts;

  std::vector<CodeNode> code;
  std::vector<CodeId> lists;
  std::vector<std::string> strings;
  // The actions of all functions.
  std::vector<ExecutableStatement> actions;
  // The actions of the top level, in order.
  std::vector<ExecutableStatement> top_level_actions;
  std::vector<FunctionParameter> parameters;
  std::vector<ProgramFunction> functions;
  std::vector<GlobalVariable> globals;
  // The diagnostics with which instructions of kind Op::kBroken fail.
  std::vector<Diagnostic> broken_code_diagnostics;
  // The number of slots that comprehensions at the top level need.
  std::uint32_t top_level_slot_count = 0;
  bool has_errors = false;

  const TablePatterns& patterns_of(TableId table) const {
    return patterns[static_cast<std::size_t>(table)];
  }
  TablePatterns& patterns_of(TableId table) { return patterns[static_cast<std::size_t>(table)]; }

  // Returns the row with exactly this key, or null.
  const StatementRow* find_row(const StatementKey& key) const;
  // Adds a row and returns null. If the key already has a row, returns that row and adds nothing.
  const StatementRow* add_row(const StatementRow& row);
};

// Returns the numbers of the `when` statements whose conditions hold; none if the program is not
// bound to a machine.
std::set<std::uint32_t> holding_conditions(const ProgramData& program);
// Returns the program as it acts on a machine where the `when` statements hold whose numbers are in
// `holding`. Warns about statements of different blocks that decide the same.
std::shared_ptr<const ProgramData> with_conditions(std::shared_ptr<const ProgramData> program,
                                                   const std::set<std::uint32_t>& holding,
                                                   Diagnostics& diags);

}  // namespace groma::program
