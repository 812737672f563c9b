// Builds typed code from expressions. A type that cannot fit is reported here, once. A value of
// unknown type (kAny) is checked during evaluation.
#include <fmt/format.h>

#include <algorithm>

#include "groma/spelling.h"
#include "program/builder.h"

namespace groma::program {

using syntax::Expr;
using syntax::ExprKind;
using syntax::kNoExpr;

namespace {

std::string quote(std::string_view text) { return fmt::format("`{}`", text); }

bool is_any(Type type) { return type == Type::kAny; }
// A processor can stand for a tuple, because it is the pair of its node and index.
bool is_pair_like(Type type) { return type == Type::kTuple || type == Type::kProcessor; }

std::optional<Method> find_method(std::string_view name) {
  for (const syntax::MethodInfo& info : syntax::kMethods) {
    if (info.name == name) return info.method;
  }
  return std::nullopt;
}

std::optional<Member> find_member(std::string_view name) {
  for (std::size_t i = 0; i < kMemberCount; ++i) {
    if (name_of(static_cast<Member>(i)) == name) return static_cast<Member>(i);
  }
  return std::nullopt;
}

// Returns the type of a value that a method takes or returns.
Type value_type(syntax::Operand operand) {
  switch (operand) {
    case syntax::Operand::kNone:
      break;
    case syntax::Operand::kMachine:
      return Type::kMachine;
    case syntax::Operand::kProcessor:
      return Type::kProcessor;
    case syntax::Operand::kTask:
      return Type::kTask;
    case syntax::Operand::kMemory:
      return Type::kMemKind;
    case syntax::Operand::kDimension:
    case syntax::Operand::kInteger:
      return Type::kInt;
    case syntax::Operand::kIntegers:
      return Type::kTuple;
    case syntax::Operand::kTruth:
      return Type::kBool;
  }
  return Type::kAny;
}

// Members from kIpoint on belong to tasks, the earlier ones to machines and tuples.
bool of_task(Member member) { return member >= Member::kIpoint; }

// Returns true if a value of the type has the member or method. A value of unknown type may have
// any.
bool has(Type type, Member member) {
  if (is_any(type)) return true;
  if (type == Type::kTask) return of_task(member);
  if (type == Type::kParent) return member == Member::kName;
  return (type == Type::kMachine || is_pair_like(type)) && !of_task(member);
}

bool has(Type type, Method method) {
  if (is_any(type)) return true;
  const Type receiver = value_type(syntax::info_of(method).receiver);
  return type == receiver || (receiver == Type::kTask && type == Type::kParent);
}

// Returns all members and methods of a type, for messages.
std::vector<std::string_view> names_after_dot(Type type) {
  std::vector<std::string_view> names;
  for (std::size_t i = 0; i < kMemberCount; ++i) {
    const auto member = static_cast<Member>(i);
    if (has(type, member)) names.push_back(name_of(member));
  }
  for (const syntax::MethodInfo& info : syntax::kMethods) {
    if (has(type, info.method)) names.push_back(info.name);
  }
  return names;
}

Type member_type(Member member) {
  switch (member) {
    case Member::kVolume:
    case Member::kLen:
      return Type::kInt;
    case Member::kParent:
      return Type::kParent;
    case Member::kName:
      return Type::kString;
    default:
      return Type::kTuple;
  }
}

constexpr Op kBinaryOps[] = {Op::kOr,    Op::kAnd,       Op::kEqual,    Op::kNotEqual,
                             Op::kLess,  Op::kLessEqual, Op::kGreater,  Op::kGreaterEqual,
                             Op::kAdd,   Op::kSubtract,  Op::kMultiply, Op::kDivide,
                             Op::kModulo};

}  // namespace

CodeId Builder::add(Code code) {
  data_.code.push_back(code);
  return static_cast<CodeId>(data_.code.size() - 1);
}

CodeId Builder::make(Op op, Type type, Range range, std::uint32_t a, std::uint32_t b,
                     std::uint32_t c) {
  Code code;
  code.op = op;
  code.type = type;
  code.range = code.focus = range;
  code.a = a, code.b = b, code.c = c;
  return add(code);
}

// Returns an instruction that fails, when it is evaluated, with the last diagnostic that was
// reported.
CodeId Builder::broken(Range range) {
  // Only a report that was lowered to a warning can be evaluated, and at most kMaxErrors of them
  // are kept.
  if (data_.failures.size() < kMaxErrors) data_.failures.push_back(last_);
  return make(Op::kBroken, Type::kAny, range,
              static_cast<std::uint32_t>(data_.failures.size() - 1));
}

// Builds an expression and returns the id of its code. Broken expressions become kBroken.
CodeId Builder::build(ExprId id) {
  if (id == kNoExpr) return broken({});
  const Expr& expr = expr_of(id);
  switch (expr.kind) {
    case ExprKind::kInt:
      return make(Op::kInt, Type::kInt, expr.range, expr.a, expr.b);
    case ExprKind::kBool:
      return make(Op::kBool, Type::kBool, expr.range, expr.a);
    case ExprKind::kString:
      data_.strings.push_back(syntax::string_value(tree_.source.text(expr.range)));
      return make(Op::kString, Type::kString, expr.range,
                  static_cast<std::uint32_t>(data_.strings.size() - 1));
    case ExprKind::kName:
      return name(expr);
    case ExprKind::kProc:
      return make(Op::kProcKind, Type::kProcKind, expr.range, expr.a);
    case ExprKind::kMem:
      return make(Op::kMemKind, Type::kMemKind, expr.range, expr.a);
    case ExprKind::kMachine:
      report(DiagId::kWrongArgumentCount, expr.range,
             {std::string("Machine"), std::string("a processor kind"), std::string("nothing")})
          .help("write `Machine(GPU)`, with parentheses");
      return broken(expr.range);
    case ExprKind::kParen:
      return build(expr.a);
    case ExprKind::kTuple:
      return tuple(expr);
    case ExprKind::kComprehension:
      return comprehension(expr);
    case ExprKind::kUnary:
      return unary(expr);
    case ExprKind::kBinary:
      return binary(expr);
    case ExprKind::kConditional:
      return conditional(expr);
    case ExprKind::kCall:
      return call(expr);
    case ExprKind::kIndex:
      return index(expr);
    case ExprKind::kSlice:
      return slice(expr);
    case ExprKind::kMember:
      return member(expr);
    case ExprKind::kError:
    case ExprKind::kOption:
    case ExprKind::kSplice:
    case ExprKind::kAll:
      break;
  }
  return broken(expr.range);
}

// Builds the use of a variable. A local hides a global; a function's name alone is not a value.
CodeId Builder::name(const Expr& expr) {
  if (const Local* local = find_local(expr.a)) {
    return make(Op::kLocal, local->type, expr.range, local->slot);
  }
  const std::string_view spelled = text(expr.a);
  const Symbol symbol = definitions_.symbols[expr.a];
  if (symbol.kind == Symbol::Kind::kGlobal) {
    if (current_ == nullptr && symbol.index >= current_global_) {
      report(DiagId::kUseBeforeStatement, expr.range, {std::string(spelled)})
          .note("it is assigned here", data_.globals[symbol.index].range);
    }
    return make(Op::kGlobal, Type::kAny, expr.range, symbol.index);
  }
  if (symbol.kind == Symbol::Kind::kFunction) {
    report(DiagId::kTypeMismatch, expr.range,
           {std::string("an expression"), std::string("a value"),
            fmt::format("the function `{}`", spelled)})
        .help(fmt::format("call it: `{}(...)`", spelled));
    return broken(expr.range);
  }
  if (diags_.full()) return broken(expr.range);
  // An unknown name is reported once in a function. A report from inside a branch of `?:` is only a
  // warning, so the name is reported again outside of branches.
  const bool sure = branches_ == 0;
  for (const auto& [name, was_sure] : unknown_) {
    if (name == expr.a && (was_sure || !sure)) return broken(expr.range);
  }
  unknown_.emplace_back(expr.a, sure);
  Diagnostic& diagnostic = report(DiagId::kUnknownName, expr.range, {std::string(spelled)});
  std::vector<std::string_view> candidates;
  for (const Local& local : locals_) candidates.push_back(text(local.name));
  for (const Global& global : data_.globals) candidates.push_back(text(global.name));
  for (const syntax::ReservedWord& word : syntax::reserved_words()) {
    using syntax::TokenKind;
    const bool value = word.kind == TokenKind::kProcWord || word.kind == TokenKind::kMemWord ||
                       word.kind == TokenKind::kTrue || word.kind == TokenKind::kFalse;
    if (value) candidates.push_back(word.text);
  }
  suggest(diagnostic, spelled, candidates, expr.range);
  return broken(expr.range);
}

// Builds the elements of a tuple, an index or a call:
//
// * `*t` becomes kSplice and a bare `*` becomes kAll.
// * The value of the option `option_name` is stored in `*option`; another option is an error.
// * An empty `callee` means that the called function is unknown, so options are not checked.
List Builder::elements(const Expr& expr, std::string_view option_name, std::string_view callee,
                       CodeId* option) {
  const std::size_t first = pending_.size();
  bool unknown_option = false;
  for (ExprId id : tree_.elements(expr)) {
    const Expr& element = expr_of(id);
    if (element.kind == ExprKind::kAll) {
      pending_.push_back(make(Op::kAll, Type::kAny, element.range));
    } else if (element.kind == ExprKind::kSplice) {
      const CodeId inner = build(element.a);
      if (!is_any(type_of(inner)) && !is_pair_like(type_of(inner))) {
        mismatch(range_of(inner), "`*` before an expression", "a tuple", type_of(inner));
      }
      pending_.push_back(make(Op::kSplice, type_of(inner), element.range, inner));
    } else if (element.kind == ExprKind::kOption) {
      const CodeId value = build(element.a);
      if (callee.empty()) continue;  // the options of the callee are unknown
      if (!option_name.empty() && text(element.c) == option_name) {
        *option = value;
      } else {
        report(DiagId::kUnknownOption, {element.range.begin, element.at},
               {std::string(callee), std::string(text(element.c))});
        unknown_option = true;
      }
    } else {
      const CodeId built = build(id);
      pending_.push_back(built);
    }
  }
  unknown_option_ = unknown_option;
  return take_pending(first);
}

// Moves the pending items from `first` on into Data::lists and returns them as a list.
List Builder::take_pending(std::size_t first) {
  const List list{static_cast<std::uint32_t>(data_.lists.size()),
                  static_cast<std::uint32_t>(pending_.size() - first)};
  data_.lists.insert(data_.lists.end(), pending_.begin() + static_cast<std::ptrdiff_t>(first),
                     pending_.end());
  pending_.resize(first);
  return list;
}

// Returns true if the list has a spliced item, so that its length is unknown before evaluation.
bool Builder::has_splice(List list) const {
  for (std::uint32_t i = 0; i < list.count; ++i) {
    if (data_.code[data_.lists[list.begin + i]].op == Op::kSplice) return true;
  }
  return false;
}

CodeId Builder::tuple(const Expr& expr) {
  const List list = elements(expr, "", "", nullptr);
  return make(Op::kTuple, Type::kTuple, expr.range, list.begin, list.count);
}

// Builds `tuple(item for variable in range)`. The variable's slot is visible only in `item`.
CodeId Builder::comprehension(const Expr& expr) {
  const CodeId range = build(expr.b);
  if (!is_any(type_of(range)) && !is_pair_like(type_of(range))) {
    mismatch(range_of(range), "`tuple(... for ... in ...)`", "a tuple to go through",
             type_of(range));
  }
  const std::uint32_t slot = slots_++;
  push_local(expr.c, slot, Type::kAny);
  const CodeId item = build(expr.a);
  // The variable's scope ends here. An expression cannot assign, so nothing else needs to be
  // removed.
  pop_local();
  return make(Op::kComprehension, Type::kTuple, expr.range, item, range, slot);
}

// Builds `-x` or `!x`. A tuple is negated item by item.
CodeId Builder::unary(const Expr& expr) {
  const CodeId operand = build(expr.a);
  const Type type = type_of(operand);
  Code code;
  code.range = expr.range;
  code.focus = {expr.at, expr.at + 1};
  code.a = operand;
  if (expr.op == syntax::Operator::kNot) {
    code.op = Op::kNot;
    code.type = Type::kBool;
    if (!is_any(type) && type != Type::kBool) {
      mismatch(range_of(operand), "`!`", "a bool", type);
    }
  } else {
    code.op = Op::kNegate;
    code.type = type == Type::kInt ? Type::kInt : is_pair_like(type) ? Type::kTuple : Type::kAny;
    if (!is_any(type) && type != Type::kInt && !is_pair_like(type)) {
      mismatch(range_of(operand), "`-`", "an integer or a tuple", type);
    }
  }
  return add(code);
}

// Builds `a OP b` for the arithmetic, comparing and logical operators.
CodeId Builder::binary(const Expr& expr) {
  const CodeId left = build(expr.a);
  const CodeId right = build(expr.b);
  const std::string_view sign = syntax::spelling(expr.op);
  Code code;
  code.op = kBinaryOps[static_cast<std::size_t>(expr.op)];
  code.range = expr.range;
  code.focus = {expr.at, expr.at + static_cast<std::uint32_t>(syntax::spelling(expr.op).size())};
  code.a = left, code.b = right;
  if (code.op >= Op::kAdd && code.op <= Op::kModulo) {
    code.type = arithmetic_type(code, left, right, sign);
  } else {
    code.type = comparison_type(code, left, right, sign);
  }
  return add(code);
}

// Returns the type of an arithmetic operator. A tuple on one side makes the result a tuple.
Type Builder::arithmetic_type(const Code&, CodeId left, CodeId right, std::string_view sign) {
  bool fits = true;
  for (CodeId side : {left, right}) {
    const Type type = type_of(side);
    if (is_any(type) || type == Type::kInt || is_pair_like(type)) continue;
    if (fits) mismatch(range_of(side), quote(sign), "integers or tuples", type);
    fits = false;
  }
  if (!fits) return Type::kAny;
  if (is_pair_like(type_of(left)) || is_pair_like(type_of(right))) return Type::kTuple;
  return type_of(left) == Type::kInt && type_of(right) == Type::kInt ? Type::kInt : Type::kAny;
}

// Checks the operands of a comparison or a logical operator; the result is always a bool. Machines,
// tasks and sets of processors cannot be compared.
Type Builder::comparison_type(const Code& code, CodeId left, CodeId right, std::string_view sign) {
  if (code.op == Op::kEqual || code.op == Op::kNotEqual) {
    const Type a = type_of(left), b = type_of(right);
    const auto comparable = [](Type type) {
      return type != Type::kMachine && type != Type::kTask && type != Type::kParent &&
             type != Type::kProcessors;
    };
    for (CodeId side : {left, right}) {
      if (comparable(type_of(side))) continue;
      mismatch(range_of(side), quote(sign), "values that can be compared", type_of(side));
      return Type::kBool;
    }
    const bool same = a == b || is_any(a) || is_any(b) || (is_pair_like(a) && is_pair_like(b));
    if (!same) {
      report(DiagId::kTypeMismatch, code.focus,
             {quote(sign), std::string("two values of one type"),
              fmt::format("{} and {}", describe(a), describe(b))});
    }
    return Type::kBool;
  }
  const bool logical = code.op == Op::kAnd || code.op == Op::kOr;
  const Type wanted = logical ? Type::kBool : Type::kInt;
  for (CodeId side : {left, right}) {
    if (is_any(type_of(side)) || type_of(side) == wanted) continue;
    mismatch(range_of(side), quote(sign), logical ? "bools" : "integers", type_of(side));
    break;
  }
  return Type::kBool;
}

// Builds `condition ? yes : no`. The result has a known type only if both branches have the same.
CodeId Builder::conditional(const Expr& expr) {
  const Expr& condition = expr_of(bare(expr.a));
  if (expr_of(expr.c).kind == ExprKind::kConditional) {
    diags_.add(DiagId::kOriginalDiffers, expr_of(expr.c).range,
               {std::string("`?:` groups to the right; the original groups to the left"),
                std::string("D9")});
  }
  // A branch that a literal condition excludes is never evaluated, so mistakes in it do not matter.
  if (condition.kind == ExprKind::kBool) return build(condition.a != 0 ? expr.b : expr.c);
  const CodeId test = build(expr.a);
  ++branches_;
  const CodeId yes = build(expr.b);
  const CodeId no = build(expr.c);
  --branches_;
  if (!is_any(type_of(test)) && type_of(test) != Type::kBool) {
    mismatch(range_of(test), "the condition of `?:`", "a bool", type_of(test));
  }
  const Type type = type_of(yes) == type_of(no) ? type_of(yes) : Type::kAny;
  return make(Op::kConditional, type, expr.range, test, yes, no);
}

// Builds an index: one processor of a machine, several processors if an index is a bare `*`, or one
// item of a tuple. A machine accepts a whole tuple as its index.
CodeId Builder::index(const Expr& expr) {
  const CodeId base = build(expr.c);
  const List list = elements(expr, "", "", nullptr);
  const Type type = type_of(base);
  Type result = Type::kAny;
  bool all = false;
  for (std::uint32_t i = 0; i < list.count; ++i) {
    const Code& element = data_.code[data_.lists[list.begin + i]];
    const Type found = element.type;
    if (element.op == Op::kAll) {
      all = true;
      if (is_pair_like(type)) report(DiagId::kStrayStar, element.range, {});
      continue;
    }
    const bool whole = type != Type::kTuple && list.count == 1 && is_pair_like(found);
    if (element.op != Op::kSplice && data_.code[base].op != Op::kBroken && !is_any(found) &&
        found != Type::kInt && !whole) {
      mismatch(element.range, "an index", "an integer", found);
    }
  }
  if (type == Type::kMachine) {
    result = all ? Type::kProcessors : Type::kProcessor;
  } else if (is_pair_like(type)) {
    if (list.count != 1 && !has_splice(list)) {
      report(DiagId::kWrongIndexCount, {expr.at, expr.range.end},
             {fmt::format("{} indices", list.count), std::string("a tuple, which takes one")});
    }
  } else if (!is_any(type)) {
    mismatch(range_of(base), "an index", "a machine or a tuple before it", type);
  }
  Code code;
  code.op = Op::kIndex;
  code.type = result;
  code.range = expr.range;
  code.focus = {expr.at, expr.range.end};
  code.a = list.begin, code.b = list.count, code.c = base;
  return add(code);
}

// Builds a slice of a tuple or a machine. A missing end becomes kNoCode. A literal 0 as the second
// end is reported because the original takes it for the tuple's end (D3).
CodeId Builder::slice(const Expr& expr) {
  const CodeId base = build(expr.c);
  const Type type = type_of(base);
  if (!is_any(type) && !is_pair_like(type) && type != Type::kMachine) {
    mismatch(range_of(base), "a slice", "a tuple or a machine before it", type);
  }
  CodeId ends[2] = {kNoCode, kNoCode};
  for (int i = 0; i < 2; ++i) {
    const ExprId end = i == 0 ? expr.a : expr.b;
    if (end == kNoExpr) continue;
    ends[i] = build(end);
    if (!fits(ends[i], Type::kInt)) {
      mismatch(range_of(ends[i]), "the end of a slice", "an integer", type_of(ends[i]));
    }
  }
  if (expr.b != kNoExpr) {
    const Expr& end = expr_of(bare(expr.b));
    if (end.kind == ExprKind::kInt && end.value() == 0) {
      report(DiagId::kSliceEndZero, end.range, {})
          .note("the original takes 0 for the tuple's end (D3)")
          .help("leave the 0 out for all up to the end");
    }
  }
  return make(Op::kSlice, Type::kTuple, expr.range, ends[0], ends[1], base);
}

// Returns words for the value before a wrong member: its type, or its text if the type is unknown.
// A text of more than 40 bytes or several lines is "this value".
std::string Builder::owner_words(CodeId base) const {
  if (!is_any(type_of(base))) return std::string(describe(type_of(base)));
  constexpr std::size_t kLongest = 40;
  const std::string_view text = tree_.source.text(range_of(base));
  const bool is_short = text.size() <= kLongest && text.find('\n') == std::string_view::npos;
  return is_short ? fmt::format("`{}`", text) : "this value";
}

// Reports that the value has no such member, and lists the members that it has.
CodeId Builder::no_member(CodeId base, std::string_view spelled, Range focus, Range range) {
  const Type type = type_of(base);
  Diagnostic& diagnostic =
      report(DiagId::kUnknownMember, focus, {owner_words(base), std::string(spelled)});
  const auto names = names_after_dot(type);
  if (!suggest(diagnostic, spelled, names, focus) && !names.empty()) {
    diagnostic.note(fmt::format("it has {}", join_names(names, "and")));
  }
  return broken(range);
}

// Builds the reading of a member. Reads of task members are noted, because some are valid only for
// index launches and others only for single tasks.
CodeId Builder::member(const Expr& expr) {
  const CodeId base = build(expr.a);
  const Type type = type_of(base);
  const std::string_view spelled = text(expr.c);
  const Range focus{expr.at, expr.range.end};
  const auto found = find_member(spelled);
  if (!found || !has(type, *found)) {
    const auto method = find_method(spelled);
    if (type == Type::kParent && (found || (method && !has(type, *method)))) {
      report(DiagId::kParentMember, focus, {std::string(spelled)});
      return broken(expr.range);
    }
    if (!method || !has(type, *method)) return no_member(base, spelled, focus, expr.range);
    report(DiagId::kUnknownMember, focus, {owner_words(base), std::string(spelled)})
        .help(fmt::format("call it: `{}(...)`", spelled));
    return broken(expr.range);
  }
  if (of_task(*found) && type != Type::kParent && *found != Member::kName) {
    const TaskRead read{true, *found, false, focus};
    note_read(*found == Member::kParent ? &Function::single_only : &Function::index_only, read);
  }
  if (*found == Member::kName && current_ != nullptr) current_->reads_name = true;
  Code code;
  code.op = Op::kMember;
  code.type = member_type(*found);
  code.member = *found;
  code.range = expr.range;
  code.focus = focus;
  code.a = base;
  return add(code);
}

// Builds a call of `Machine`, a method or a function. A name that cannot be called is reported,
// with a suggestion if it looks like a member written as a function.
CodeId Builder::call(const Expr& expr) {
  const Expr& callee = expr_of(expr.c);
  if (callee.kind == ExprKind::kMachine) return call_machine(expr);
  if (callee.kind == ExprKind::kMember) return call_method(expr, callee);
  if (callee.kind != ExprKind::kName) {
    report(DiagId::kNotCallable, callee.range, {std::string("an expression")})
        .note("functions are called by their names");
    return broken_call(expr);
  }
  const std::string_view spelled = text(callee.a);
  const Symbol symbol = definitions_.symbols[callee.a];
  const bool global = symbol.kind == Symbol::Kind::kGlobal;
  if (find_local(callee.a) != nullptr || global) {
    if (!global || !data_.globals[symbol.index].implied) {
      report(DiagId::kNotCallable, callee.range, {fmt::format("the variable `{}`", spelled)});
    }
    return broken_call(expr);
  }
  if (symbol.kind == Symbol::Kind::kFunction) return call_function(expr, symbol.index);
  if (diags_.full()) return broken(expr.range);
  Diagnostic& diagnostic = report(DiagId::kUnknownFunction, callee.range, {std::string(spelled)});
  std::vector<std::string_view> candidates = {"Machine", "tuple"};
  for (const Function& function : data_.functions) candidates.push_back(text(function.name));
  const auto args = tree_.elements(expr);
  if (spelled == "not") {
    diagnostic.help("write `!`");
  } else if ((find_member(spelled) && args.size() == 1) ||
             (find_method(spelled) && !args.empty())) {
    const std::string_view base = tree_.source.text(expr_of(args[0]).range);
    diagnostic.help(fmt::format("write `{}.{}{}`", base.size() <= 40 ? base : "...", spelled,
                                find_member(spelled) ? "" : "(...)"));
  } else {
    suggest(diagnostic, spelled, candidates, callee.range);
  }
  return broken_call(expr);
}

// Builds the arguments after a mistake in the callee, so that mistakes in the arguments are
// reported too. The failure of the code stays the first mistake.
CodeId Builder::broken_call(const Expr& expr) {
  const Diagnostic about = last_;
  elements(expr, "", "", nullptr);
  last_ = about;
  return broken(expr.range);
}

// Builds a call of a function of the program and checks its arguments against the parameters.
CodeId Builder::call_function(const Expr& expr, FunctionId id) {
  const std::string_view callee = text(data_.functions[id].name);
  const List args = elements(expr, "", callee, nullptr);
  const syntax::DefStatement& def = *definitions_.defs[id];
  if (def.head_broken) return broken(expr.range);
  const bool count_fits = check_arguments(callee, args, def.params.count, expr.range);
  const auto params = syntax::Tree::slice(tree_.params, def.params);
  for (std::uint32_t i = 0; count_fits && i < args.count && !has_splice(args); ++i) {
    constexpr Type kTypes[] = {Type::kAny,   Type::kInt,     Type::kBool, Type::kTuple,
                               Type::kTuple, Type::kMachine, Type::kTask};
    const CodeId argument = data_.lists[args.begin + i];
    const Type wanted = kTypes[static_cast<std::size_t>(params[i].type)];
    if (fits(argument, wanted)) continue;
    mismatch(range_of(argument), fmt::format("`{}` of `{}`", text(params[i].name.id), callee),
             describe(wanted), type_of(argument));
  }
  // The caller counts as reading every member of the task that the called function reads.
  note_read(&Function::index_only, data_.functions[id].index_only);
  note_read(&Function::single_only, data_.functions[id].single_only);
  if (current_ != nullptr && data_.functions[id].reads_name) current_->reads_name = true;
  const CodeId made =
      make(Op::kCall, data_.functions[id].result, expr.range, args.begin, args.count, id);
  data_.code[made].focus = expr_of(expr.c).range;
  return made;
}

// Builds `Machine(KIND)`.
CodeId Builder::call_machine(const Expr& expr) {
  const List args = elements(expr, "", "Machine", nullptr);
  check_arguments("Machine", args, 1, expr.range);
  if (args.count != 1) return broken(expr.range);
  const CodeId kind = data_.lists[args.begin];
  if (data_.code[kind].op == Op::kSplice) {
    report(DiagId::kStrayStar, range_of(kind), {});
    return broken(expr.range);
  }
  check_type(kind, "Machine", Type::kProcKind);
  return make(Op::kMachine, Type::kMachine, expr.range, kind);
}

// Builds a method call such as `m.split(0, 2)` and checks its arguments against the table kMethods.
CodeId Builder::call_method(const Expr& expr, const Expr& callee) {
  const std::string_view spelled = text(callee.c);
  const Range focus{callee.at, callee.range.end};
  const auto method = find_method(spelled);
  const CodeId base = build(callee.a);
  const Type type = type_of(base);
  if (!method || !has(type, *method)) {
    const auto known = find_member(spelled);
    if (!known || !has(type, *known)) {
      no_member(base, spelled, focus, expr.range);
    } else {
      report(DiagId::kNotCallable, focus, {fmt::format("the member `{}`", spelled)})
          .help(fmt::format("write `.{}` without parentheses", spelled));
    }
    return broken_call(expr);
  }
  const syntax::MethodInfo& info = syntax::info_of(*method);
  CodeId option = kNoCode;
  const List args = elements(expr, info.option, spelled, &option);
  const Range call{callee.at, expr.range.end};
  const bool count_fits = check_arguments(spelled, args, info.parameter_count(), call);
  for (std::uint32_t i = 0; count_fits && i < args.count && !has_splice(args); ++i) {
    check_type(data_.lists[args.begin + i], spelled, value_type(info.parameters[i].type));
  }
  if (option != kNoCode) check_type(option, info.option, Type::kTuple);
  if (*method == Method::kProcessor && type != Type::kParent) {
    note_read(&Function::single_only, {true, Member::kParent, true, focus});
  }
  Code code;
  code.op = Op::kMethod;
  code.method = *method;
  code.type = value_type(info.result);
  code.range = expr.range;
  code.focus = focus;
  code.a = args.begin, code.b = args.count, code.c = base;
  code.option = option;
  return add(code);
}

// Returns false after reporting a wrong number of arguments. The caller then does not check the
// types, because it is not known which argument is missing.
bool Builder::check_arguments(std::string_view callee, List args, std::size_t wanted, Range range) {
  if (args.count == wanted || has_splice(args)) return true;
  if (unknown_option_) return false;
  const auto count = [](std::size_t n) {
    return fmt::format("{} argument{}", n, n == 1 ? "" : "s");
  };
  report(DiagId::kWrongArgumentCount, range,
         {std::string(callee), count(wanted), std::to_string(args.count)});
  return false;
}

// Returns true if a value may have the wanted type: unknown types fit, a processor fits as a tuple,
// and a task's parent fits as a task.
bool Builder::fits(CodeId id, Type wanted) const {
  const Type found = type_of(id);
  if (is_any(wanted) || is_any(found) || found == wanted) return true;
  return (wanted == Type::kTuple && found == Type::kProcessor) ||
         (wanted == Type::kTask && found == Type::kParent);
}

void Builder::check_type(CodeId id, std::string_view callee, Type wanted) {
  if (!fits(id, wanted)) mismatch(range_of(id), quote(callee), describe(wanted), type_of(id));
}

}  // namespace groma::program
