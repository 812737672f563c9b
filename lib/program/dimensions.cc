// Follows the number of dimensions of machines, the number of items of tuples, and constant
// integers through the code of a program. Whatever depends on a parameter, a machine or a task is
// unknown.
#include "program/dimensions.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

namespace groma::program {
namespace {

// `Machine(KIND)` has two dimensions: the nodes, and the processors in each node.
constexpr std::int64_t kGridDimensions = 2;
// The evaluation refuses a machine or a tuple beyond these limits, so a larger size counts as
// unknown.
constexpr std::int64_t kMaxMachineDimensions = 32, kMaxTupleItems = 65'536;

// What the analysis knows about the value of an expression if its evaluation succeeds.
struct KnownValue {
  enum class Kind : std::uint8_t {
    kNothing,
    kInteger,
    kMachine,
    // A tuple, or a processor, which can stand for the pair of its node and index.
    kTuple,
    // The tuple of a machine's extents.
    kSizes,
  };
  Kind kind = Kind::kNothing;
  // If the value is an integer: the integer. If it is a machine: the number of its dimensions. If
  // it is a tuple: the number of its items.
  std::int64_t number = 0;

  bool is_integer() const { return kind == Kind::kInteger; }
  bool is_machine() const { return kind == Kind::kMachine; }
  bool is_tuple() const { return kind == Kind::kTuple || kind == Kind::kSizes; }
  friend bool operator==(const KnownValue&, const KnownValue&) = default;
};

KnownValue integer(std::int64_t value) { return {KnownValue::Kind::kInteger, value}; }

// Returns what is known about a machine or a tuple of this size, or nothing if no such value can
// exist.
KnownValue sized(KnownValue::Kind kind, std::int64_t size) {
  const bool machine = kind == KnownValue::Kind::kMachine;
  const std::int64_t least = machine ? 1 : 0;
  const std::int64_t most = machine ? kMaxMachineDimensions : kMaxTupleItems;
  return size < least || size > most ? KnownValue{} : KnownValue{kind, size};
}

// Returns the known result of an operator on two integers, or nothing if the operator fails.
KnownValue integer_result(Op op, std::int64_t left, std::int64_t right) {
  std::int64_t result = 0;
  switch (op) {
    case Op::kAdd:
      return __builtin_add_overflow(left, right, &result) ? KnownValue{} : integer(result);
    case Op::kSubtract:
      return __builtin_sub_overflow(left, right, &result) ? KnownValue{} : integer(result);
    case Op::kMultiply:
      return __builtin_mul_overflow(left, right, &result) ? KnownValue{} : integer(result);
    default:
      if (right == 0 || (left == INT64_MIN && right == -1)) return {};
      return integer(op == Op::kDivide ? left / right : left % right);
  }
}

// Returns what is known about the result of an arithmetic operator. A tuple on one side decides the
// size of the result.
KnownValue arithmetic(Op op, const KnownValue& left, const KnownValue& right) {
  if (left.is_integer() && right.is_integer()) {
    return integer_result(op, left.number, right.number);
  }
  if (left.is_tuple()) return sized(KnownValue::Kind::kTuple, left.number);
  if (right.is_tuple()) return sized(KnownValue::Kind::kTuple, right.number);
  return {};
}

// Returns what is known about the result of a method of a machine with that many dimensions. `args`
// are the arguments.
KnownValue operation_result(Method method, std::int64_t dimensions,
                            const std::vector<KnownValue>& args) {
  switch (method) {
    case Method::kSplit:
      return sized(KnownValue::Kind::kMachine, dimensions + 1);
    case Method::kMerge:
      return sized(KnownValue::Kind::kMachine, dimensions - 1);
    case Method::kSwap:
    case Method::kReverse:
    case Method::kRotate:
    case Method::kSlice:
      return sized(KnownValue::Kind::kMachine, dimensions);
    case Method::kBalanceSplit:
    case Method::kGreedySplit:
    case Method::kAutoSplit:
    case Method::kDecompose: {
      // The second argument is the number of new dimensions, or a tuple with an item for each.
      const KnownValue& parts = args[1];
      const bool fits = parts.number >= 1 && parts.number <= kMaxMachineDimensions;
      return fits ? sized(KnownValue::Kind::kMachine, dimensions - 1 + parts.number) : KnownValue{};
    }
    case Method::kHas:
    case Method::kProcessor:
      break;
  }
  return {};
}

// Evaluates the code of a program with values of which only sizes and constant integers are known.
class DimensionCheck {
 public:
  DimensionCheck(const ProgramData& data, Diagnostics& diags)
      : data_(data),
        diags_(diags),
        globals_(data.globals.size()),
        results_(data.functions.size()),
        calls_(data.functions.size() + 1) {}

  // Checks the top level first, because functions read its globals. Calls there have unknown
  // results.
  void run(std::span<const FunctionId> order) {
    current_ = top_level();
    slots_.assign(data_.top_level_slot_count, {});
    for (const ExecutableStatement& action : data_.top_level_actions) visit(action);
    for (FunctionId function : order) {
      const ProgramFunction& code = data_.functions[function];
      current_ = function;
      slots_.assign(code.slot_count, {});
      for (std::uint32_t i = 0; i < code.body.count; ++i) {
        visit(data_.actions[code.body.begin + i]);
      }
    }
    report();
  }

 private:
  // A mistake that was found. It is kept until it is known which functions are certainly called.
  struct Finding {
    FunctionId function;
    bool in_branch;
    DiagId id;
    Range range;
    std::vector<DiagArg> args;
    std::string note;
  };

  // Returns the number of the top level, which counts as one more function.
  FunctionId top_level() const { return static_cast<FunctionId>(data_.functions.size()); }
  CodeId entry(IndexRange list, std::uint32_t i) const { return data_.lists[list.begin + i]; }

  void visit(const ExecutableStatement& action);
  KnownValue visit(CodeId id);
  KnownValue visit_in_branch(CodeId id);
  std::vector<KnownValue> visit_list(IndexRange list);
  KnownValue index(const CodeNode& node);
  KnownValue index_machine(const CodeNode& node, std::int64_t dimensions,
                           const std::vector<KnownValue>& items);
  KnownValue slice(const CodeNode& node);
  KnownValue method(const CodeNode& node);
  KnownValue member(const CodeNode& node);
  bool check_operation(const CodeNode& node, const KnownValue& base,
                       const std::vector<KnownValue>& args);

  std::optional<std::int64_t> count_of(IndexRange list, const std::vector<KnownValue>& items) const;
  bool has_entry(IndexRange list, Op op) const;
  void find(DiagId id, Range range, std::vector<DiagArg> args, std::string note = {});
  std::vector<bool> certainly_run() const;
  void report();

  const ProgramData& data_;
  Diagnostics& diags_;
  FunctionId current_ = 0;
  // The number of branches around the current code. Code in a branch may never be evaluated.
  int branches_ = 0;
  // What is known about each global, about each variable of the current function, and about the
  // result of each function.
  std::vector<KnownValue> globals_, slots_, results_;
  // For each function: the functions that it calls whenever it runs.
  std::vector<std::vector<FunctionId>> calls_;
  std::vector<Finding> findings_;
};

// Visits the expressions of a statement, and notes what is known about an assigned variable.
void DimensionCheck::visit(const ExecutableStatement& action) {
  switch (action.kind) {
    case ExecutableStatement::Kind::kPrint:
      visit_list(action.args);
      break;
    case ExecutableStatement::Kind::kWhen:
      visit(action.value);
      break;
    case ExecutableStatement::Kind::kReturn:
      results_[current_] = visit(action.value);
      break;
    case ExecutableStatement::Kind::kAssign: {
      const KnownValue value = visit(action.value);
      (current_ == top_level() ? globals_ : slots_)[action.target] = value;
    }
  }
}

// Visits every part of an expression once and returns what is certain about its value.
KnownValue DimensionCheck::visit(CodeId id) {
  const CodeNode& node = data_.code[id];
  switch (node.op) {
    case Op::kInt:
      return integer(static_cast<std::int64_t>((std::uint64_t{node.b} << 32) | node.a));
    case Op::kLocal:
      return slots_[node.a];
    case Op::kGlobal:
      return globals_[node.a];
    case Op::kTuple: {
      const IndexRange list{node.a, node.b};
      const auto count = count_of(list, visit_list(list));
      return count ? sized(KnownValue::Kind::kTuple, *count) : KnownValue{};
    }
    case Op::kComprehension: {
      // The expression of the items is certainly evaluated only if the range is known to have
      // items.
      const KnownValue range = visit(node.b);
      if (range.is_tuple() && range.number > 0) {
        visit(node.a);
      } else {
        visit_in_branch(node.a);
      }
      return range.is_tuple() ? sized(KnownValue::Kind::kTuple, range.number) : KnownValue{};
    }
    case Op::kNegate:
      return arithmetic(Op::kSubtract, integer(0), visit(node.a));
    case Op::kNot:
      visit(node.a);
      return {};
    case Op::kAdd:
    case Op::kSubtract:
    case Op::kMultiply:
    case Op::kDivide:
    case Op::kModulo: {
      const KnownValue left = visit(node.a);
      return arithmetic(node.op, left, visit(node.b));
    }
    case Op::kEqual:
    case Op::kNotEqual:
    case Op::kLess:
    case Op::kLessEqual:
    case Op::kGreater:
    case Op::kGreaterEqual:
      visit(node.a);
      visit(node.b);
      return {};
    // The right side of `&&` and `||` may not be evaluated.
    case Op::kAnd:
    case Op::kOr:
      visit(node.a);
      visit_in_branch(node.b);
      return {};
    case Op::kConditional: {
      visit(node.a);
      // The result is known only if the same is known about the values of both branches.
      const KnownValue yes = visit_in_branch(node.b);
      return yes == visit_in_branch(node.c) ? yes : KnownValue{};
    }
    case Op::kIndex:
      return index(node);
    case Op::kSlice:
      return slice(node);
    case Op::kCall:
      visit_list({node.a, node.b});
      // A call in a branch may never be executed, so it is not a call that always happens.
      if (branches_ == 0) calls_[current_].push_back(node.c);
      return results_[node.c];
    case Op::kMachine:
      visit(node.a);
      return sized(KnownValue::Kind::kMachine, kGridDimensions);
    case Op::kMethod:
      return method(node);
    case Op::kMember:
      return member(node);
    case Op::kBool:
    case Op::kString:
    case Op::kProcKind:
    case Op::kMemKind:
    case Op::kBroken:
    case Op::kSplice:
    case Op::kAll:
      break;
  }
  return {};
}

// Visits an expression that may not be evaluated.
KnownValue DimensionCheck::visit_in_branch(CodeId id) {
  ++branches_;
  const KnownValue value = visit(id);
  --branches_;
  return value;
}

// Visits the entries of a list and returns what is known about each: the tuple for `*t`, nothing
// for `*`.
std::vector<KnownValue> DimensionCheck::visit_list(IndexRange list) {
  std::vector<KnownValue> items;
  for (std::uint32_t i = 0; i < list.count; ++i) {
    const CodeNode& node = data_.code[entry(list, i)];
    items.push_back(visit(node.op == Op::kSplice ? node.a : entry(list, i)));
  }
  return items;
}

// Returns the number of items of a list, including the items of spliced tuples `*t`, if it is
// known.
std::optional<std::int64_t> DimensionCheck::count_of(IndexRange list,
                                                     const std::vector<KnownValue>& items) const {
  std::int64_t count = 0;
  for (std::uint32_t i = 0; i < list.count; ++i) {
    const bool splice = data_.code[entry(list, i)].op == Op::kSplice;
    if (splice && !items[i].is_tuple()) return std::nullopt;
    count += splice ? items[i].number : 1;
  }
  return count;
}

// Returns true if the list has an entry with the operation `op`.
bool DimensionCheck::has_entry(IndexRange list, Op op) const {
  for (std::uint32_t i = 0; i < list.count; ++i) {
    if (data_.code[entry(list, i)].op == op) return true;
  }
  return false;
}

// Checks an index of a machine, or the position in a tuple. How many indices a tuple gets was
// checked when the code was built.
KnownValue DimensionCheck::index(const CodeNode& node) {
  const KnownValue base = visit(node.c);
  const IndexRange list{node.a, node.b};
  const std::vector<KnownValue> items = visit_list(list);
  if (base.is_machine()) return index_machine(node, base.number, items);
  const bool checked = base.is_tuple() && items.size() == 1 && items[0].is_integer();
  if (!checked) return {};
  const std::int64_t at = items[0].number;
  if (at >= -base.number && at < base.number) return {};
  const bool sizes = base.kind == KnownValue::Kind::kSizes;
  find(DiagId::kIndexOutOfRange, data_.code[entry(list, 0)].range, {at, base.number},
       sizes ? fmt::format("the machine has {}; dimensions count from 0",
                           dimensions_text(base.number))
             : "");
  return {};
}

// Checks the number of indices of a machine. A single tuple stands for all indices.
KnownValue DimensionCheck::index_machine(const CodeNode& node, std::int64_t dimensions,
                                         const std::vector<KnownValue>& items) {
  const IndexRange list{node.a, node.b};
  auto count = count_of(list, items);
  if (count == 1 && !has_entry(list, Op::kAll)) {
    const CodeNode& single = data_.code[entry(list, 0)];
    if (items.size() > 1 || single.op == Op::kSplice) {
      // The single item of a tuple may itself be a tuple.
      count.reset();
    } else if (items[0].is_tuple()) {
      count = items[0].number;
    } else if (!items[0].is_integer() && single.type != Type::kInt) {
      count.reset();
    }
  }
  if (count && *count != dimensions) {
    find(DiagId::kWrongIndexCount, node.focus,
         {indices_text(*count), fmt::format("a machine with {}", dimensions_text(dimensions))});
  }
  // A processor can stand for the pair of its node and index. A set of processors cannot.
  return has_entry(list, Op::kAll) ? KnownValue{} : sized(KnownValue::Kind::kTuple, 2);
}

// Returns what is known about a slice of a tuple or of the extents of a machine. An end beyond the
// number of items counts as this number, and a negative end counts from the back.
KnownValue DimensionCheck::slice(const CodeNode& node) {
  const KnownValue base = visit(node.c);
  const KnownValue from = node.a == kNoCode ? integer(0) : visit(node.a);
  const KnownValue to = node.b == kNoCode ? integer(base.number) : visit(node.b);
  const bool sized_base = base.is_machine() || base.is_tuple();
  if (!sized_base || !from.is_integer() || !to.is_integer()) return {};
  const auto cut = [size = base.number](std::int64_t end) {
    return std::clamp<std::int64_t>(end < 0 ? end + size : end, 0, size);
  };
  return sized(KnownValue::Kind::kTuple,
               std::max<std::int64_t>(0, cut(to.number) - cut(from.number)));
}

// Returns what is known about `size` and `len` of a machine or a tuple.
KnownValue DimensionCheck::member(const CodeNode& node) {
  const KnownValue base = visit(node.a);
  if (!base.is_machine() && !base.is_tuple()) return {};
  if (node.member == Member::kLen) return integer(base.number);
  if (node.member != Member::kSize) return {};
  return sized(base.is_machine() ? KnownValue::Kind::kSizes : base.kind, base.number);
}

// Checks an operation on a machine and returns the machine that it makes.
KnownValue DimensionCheck::method(const CodeNode& node) {
  const KnownValue base = visit(node.c);
  const IndexRange list{node.a, node.b};
  const std::vector<KnownValue> args = visit_list(list);
  if (node.option != kNoCode) visit(node.option);
  const bool known_args = args.size() == syntax::info_of(node.method).parameter_count() &&
                          !has_entry(list, Op::kSplice);
  if (!known_args) return {};
  if (node.method == Method::kProcessor) {
    return args[0].is_machine() ? sized(KnownValue::Kind::kTuple, args[0].number) : KnownValue{};
  }
  if (!check_operation(node, base, args) || !base.is_machine()) return {};
  return operation_result(node.method, base.number, args);
}

// Returns false after finding a dimension that the machine lacks, or a dimension twice.
bool DimensionCheck::check_operation(const CodeNode& node, const KnownValue& base,
                                     const std::vector<KnownValue>& args) {
  // The table of methods says which arguments are dimensions.
  const syntax::MethodInfo& info = syntax::info_of(node.method);
  std::vector<std::int64_t> dimensions;
  for (std::uint32_t i = 0; i < args.size(); ++i) {
    if (info.parameters[i].type != syntax::OperandType::kDimension || !args[i].is_integer())
      continue;
    const std::int64_t d = args[i].number;
    if (base.is_machine() && (d < 0 || d >= base.number)) {
      const std::string count = dimensions_text(base.number);
      find(DiagId::kBadDimension, data_.code[entry({node.a, node.b}, i)].range,
           {std::string(info.name), d, count},
           fmt::format("the machine has {}; dimensions count from 0", count));
      return false;
    }
    dimensions.push_back(d);
  }
  if (dimensions.size() < 2 || dimensions[0] != dimensions[1]) return true;
  find(DiagId::kSameDimension, node.focus, {std::string(info.name), dimensions[0]});
  return false;
}

// ------------------------------------------------------------------------------------ reports

// Stores a mistake for report(). No more than kMaxErrors mistakes are stored, because Diagnostics
// would drop the others.
void DimensionCheck::find(DiagId id, Range range, std::vector<DiagArg> args, std::string note) {
  if (findings_.size() >= kMaxErrors) return;
  findings_.push_back({current_, branches_ > 0, id, range, std::move(args), std::move(note)});
}

// Returns for each function whether every run of the program evaluates it: a statement that decides
// binds it, or code that is always evaluated calls it.
std::vector<bool> DimensionCheck::certainly_run() const {
  std::vector<bool> certain(data_.functions.size() + 1);
  std::vector<FunctionId> open;
  const auto add = [&](FunctionId function) {
    if (certain[function]) return;
    certain[function] = true;
    open.push_back(function);
  };
  // The code of the top level runs whenever the program is bound to a machine.
  add(top_level());
  for (const StatementRow& row : data_.rows) {
    const bool map = row.key.table == TableId::kIndexMap || row.key.table == TableId::kSingleMap;
    if (map) add(static_cast<FunctionId>(row.value));
  }
  while (!open.empty()) {
    const FunctionId function = open.back();
    open.pop_back();
    for (FunctionId callee : calls_[function]) add(callee);
  }
  return certain;
}

// Reports the mistakes. A mistake in code that may never run is a warning.
void DimensionCheck::report() {
  const std::vector<bool> certain = certainly_run();
  for (Finding& finding : findings_) {
    Diagnostic& diagnostic = diags_.add(finding.id, finding.range, std::move(finding.args));
    if (!finding.note.empty()) diagnostic.note(finding.note);
    if (certain[finding.function] && !finding.in_branch) continue;
    diagnostic.lower_to(Severity::kWarning);
    if (finding.function != top_level() && !data_.functions[finding.function].used) {
      const NameId name = data_.functions[finding.function].name;
      diagnostic.note(
          fmt::format("nothing uses `{}`, so this is not an error yet", data_.names.text(name)));
    } else {
      diagnostic.note("it is an error where this part is evaluated");
    }
  }
}

}  // namespace

void check_dimensions(const ProgramData& data, std::span<const FunctionId> order,
                      Diagnostics& diags) {
  DimensionCheck(data, diags).run(order);
}

std::string dimensions_text(std::int64_t n) {
  return fmt::format("{} dimension{}", n, n == 1 ? "" : "s");
}

std::string indices_text(std::int64_t n) {
  return fmt::format("{} ind{}", n, n == 1 ? "ex" : "ices");
}

}  // namespace groma::program
