// Translates expressions to instructions, and evaluates the instructions for one point.
#include "index_map/kernel.h"

#include <algorithm>
#include <bit>
#include <numeric>

#include "groma/result.h"

namespace groma::mapper {
namespace {

__extension__ typedef unsigned __int128 UnsignedWide;
using Op = Expression::Op;

// Returns the innermost dimension whose bit is set, or -1 if none is.
int innermost(std::uint16_t dimensions) { return std::bit_width(dimensions) - 1; }

// Calls visit(id) for every operand of an expression.
template <typename Visit>
void for_each_operand(const ExpressionGraph& expressions, const Expression& expression,
                      const Visit& visit) {
  switch (expression.op) {
    case Op::kConstant:
    case Op::kCoordinate:
      return;
    case Op::kSum:
      for (const SumTerm& term : expressions.terms_of(expression)) visit(term.of);
      return;
    case Op::kDivideBy:
    case Op::kModuloBy:
    case Op::kNot:
    case Op::kAddressable:
      return visit(expression.a);
    case Op::kSelect:
      visit(expression.c);
      [[fallthrough]];
    default:
      visit(expression.a);
      visit(expression.b);
  }
}

}  // namespace

// Computes the multiplier and the shift for the divisor (Granlund and Montgomery 1994, section 4).
ConstantDivider::ConstantDivider(std::int64_t divisor) {
  const auto d = static_cast<std::uint64_t>(divisor);
  // The number of bits for which 2^(bits_of - 1) < d <= 2^bits_of.
  const auto bits_of = static_cast<int>(std::bit_width(d - 1));
  multiplier_ = static_cast<std::uint64_t>(((UnsignedWide{1} << (63 + bits_of)) - 1) / d + 1);
  shift_ = static_cast<std::uint32_t>(bits_of - 1);
}

// Gives a register to each expression that the roots need, and orders the instructions by the
// innermost dimension on which they depend. Instructions of an outer dimension are then evaluated
// once for all points of the inner ones. Instructions that depend on no coordinate are evaluated
// here.
ExpressionKernel::ExpressionKernel(const ExpressionGraph& expressions,
                                   std::span<const ExprId> roots, int dimensions,
                                   const Machine* machine)
    : machine_(machine), dimensions_(dimensions) {
  // Mark what the roots need. Operands have smaller ids than the expressions that use them.
  std::vector<bool> needed(expressions.size());
  ExprId last = 0;
  for (ExprId root : roots) needed[root] = true, last = std::max(last, root);
  for (ExprId id = last + 1; id-- > 0;) {
    if (!needed[id]) continue;
    for_each_operand(expressions, expressions[id], [&](ExprId operand) { needed[operand] = true; });
  }
  std::vector<Register> place(last + 1U);
  initial_.resize(static_cast<std::size_t>(dimensions));
  for (ExprId id = 0; id <= last; ++id) {
    const Expression& each = expressions[id];
    if (!needed[id]) continue;
    if (each.op == Expression::Op::kCoordinate) {
      place[id] = static_cast<Register>(each.a);
    } else {
      place[id] = static_cast<Register>(initial_.size());
      initial_.push_back(each.constant);
    }
  }
  // First come the instructions that depend on no coordinate of the launch (level -1), then those
  // of each dimension.
  for (int level = -1; level < dimensions; ++level) {
    if (level >= 0)
      begin_[static_cast<std::size_t>(level)] = static_cast<std::uint32_t>(code_.size());
    for (ExprId id = 0; id <= last; ++id) {
      if (!needed[id] || innermost(expressions[id].dimensions) != level) continue;
      if (level >= 0) uses_[static_cast<std::size_t>(level)] = true;
      add_instruction(expressions, id, place);
    }
  }
  begin_[static_cast<std::size_t>(dimensions)] = static_cast<std::uint32_t>(code_.size());
  for (ExprId root : roots) roots_.push_back(place[root]);
  find_exported_registers(expressions);
  KernelRegisters first = make_registers();
  for (std::uint32_t i = 0; i < begin_[0]; ++i) {
    first.value[code_[i].to] = compute_value(code_[i], first.value.data());
  }
  initial_ = std::move(first.value);
}

// Appends the instruction of an expression. Constants and coordinates are in their registers
// already and need none. `place` maps expressions to registers.
void ExpressionKernel::add_instruction(const ExpressionGraph& expressions, ExprId id,
                                       std::vector<Register>& place) {
  const Expression& each = expressions[id];
  if (each.op == Op::kConstant || each.op == Op::kCoordinate) return;
  KernelInstruction made;
  made.op = each.op;
  made.to = place[id];
  made.dimensions = each.dimensions;
  made.constant = each.constant;
  // Slopes of large values could overflow, so such an instruction is computed point by point.
  made.may_overflow = !each.is_within_sum_limit();
  for_each_operand(expressions, each, [&](ExprId operand) {
    made.may_overflow = made.may_overflow || !expressions[operand].is_within_sum_limit();
  });
  if (each.op == Op::kSum) {
    made.a = static_cast<Register>(terms_.size());
    made.b = static_cast<Register>(each.b);
    for (const SumTerm& term : expressions.terms_of(each))
      terms_.push_back({term.factor, place[term.of]});
  } else {
    made.a = place[each.a];
    made.b = each.b < place.size() ? place[each.b] : Register{0};
    made.c = each.c < place.size() ? place[each.c] : Register{0};
  }
  if (each.op == Op::kDivideBy || each.op == Op::kModuloBy)
    made.divider = ConstantDivider(each.constant);
  code_.push_back(made);
}

// Lists, for each dimension, those of its registers that are read elsewhere: the roots, and
// registers that instructions of later dimensions read.
void ExpressionKernel::find_exported_registers(const ExpressionGraph&) {
  // First find the dimension of each register, then the registers that later dimensions read.
  std::vector<int> own(initial_.size(), -1);
  std::vector<bool> exported(initial_.size());
  for (int d = 0; d < dimensions_; ++d) own[static_cast<std::size_t>(d)] = d;
  for (const KernelInstruction& each : code_) own[each.to] = innermost(each.dimensions);
  for (const KernelInstruction& each : code_) {
    const int level = innermost(each.dimensions);
    const auto read = [&](Register from) {
      if (own[from] < level) exported[from] = true;
    };
    if (each.op == Op::kSum) {
      for (Register i = 0; i < each.b; ++i) read(terms_[each.a + std::size_t{i}].of);
    } else {
      // If an operation has fewer operands than three, the others are register 0 or repeat a
      // register. Register 0 is a coordinate; counting it as read would keep it for nothing.
      read(each.a);
      const bool unary = each.op == Op::kDivideBy || each.op == Op::kModuloBy ||
                         each.op == Op::kNot || each.op == Op::kAddressable;
      if (!unary) read(each.b);
      if (each.op == Op::kSelect) read(each.c);
    }
  }
  for (Register root : roots_) exported[root] = true;
  for (std::size_t i = 0; i < exported.size(); ++i) {
    if (exported[i] && own[i] >= 0) {
      exports_[static_cast<std::size_t>(own[i])].push_back(static_cast<Register>(i));
    }
  }
}

// Returns the value of one instruction. Every operation is total: see expressions.h.
std::int64_t ExpressionKernel::compute_value(const KernelInstruction& each,
                                             const std::int64_t* value) const {
  const std::int64_t a = value[each.a], b = value[each.b];
  std::int64_t unused = 0;
  switch (each.op) {
    case Op::kSum: {
      std::uint64_t sum = to_unsigned(each.constant);
      const RegisterTerm* term = &terms_[each.a];
      for (Register i = 0; i < each.b; ++i)
        sum += to_unsigned(term[i].factor) * to_unsigned(value[term[i].of]);
      return to_signed(sum);
    }
    case Op::kDivideBy:
      return each.divider.quotient(a);
    case Op::kModuloBy:
      return a - each.divider.quotient(a) * each.constant;
    case Op::kAdd:
      return to_signed(to_unsigned(a) + to_unsigned(b));
    case Op::kSubtract:
      return to_signed(to_unsigned(a) - to_unsigned(b));
    case Op::kMultiply:
      return to_signed(to_unsigned(a) * to_unsigned(b));
    case Op::kDivide:
      return b == 0 || (a == INT64_MIN && b == -1) ? 0 : a / b;
    case Op::kModulo:
      return b == 0 || (a == INT64_MIN && b == -1) ? 0 : a % b;
    case Op::kEqual:
      return a == b ? 1 : 0;
    case Op::kLess:
      return a < b ? 1 : 0;
    case Op::kLessEqual:
      return a <= b ? 1 : 0;
    case Op::kAnd:
      return a & b;
    case Op::kOr:
      return a | b;
    case Op::kNot:
      return 1 - a;
    case Op::kSelect:
      return a != 0 ? b : value[each.c];
    case Op::kAddOverflows:
      return __builtin_add_overflow(a, b, &unused) ? 1 : 0;
    case Op::kSubtractOverflows:
      return __builtin_sub_overflow(a, b, &unused) ? 1 : 0;
    case Op::kMultiplyOverflows:
      return __builtin_mul_overflow(a, b, &unused) ? 1 : 0;
    case Op::kAddressable: {
      const auto kind = static_cast<ProcKind>(each.constant / 16);
      const auto memory = static_cast<MemKind>(each.constant % 16);
      const bool known = a >= 0 && a < machine_->node_count();
      return known && machine_->can_address(a, kind, memory) ? 1 : 0;
    }
    case Op::kConstant:
    case Op::kCoordinate:
      break;
  }
  return 0;
}

// Executes the instructions in their order, in which operands come before their users.
void ExpressionKernel::evaluate_registers(KernelRegisters& registers, int dimensions) const {
  std::int64_t* value = registers.value.data();
  const KernelInstruction* const end = code_.data() + begin_[static_cast<std::size_t>(dimensions)];
  for (const KernelInstruction* each = code_.data() + begin_[0]; each != end; ++each) {
    value[each->to] = compute_value(*each, value);
  }
}

// Returns true if every register of the dimension that is a root, or that later dimensions read,
// stays the same along the run of points that evaluate_run() has evaluated.
bool ExpressionKernel::exported_registers_constant(int dimension,
                                                   const KernelRegisters& registers) const {
  const auto& exports = exports_[static_cast<std::size_t>(dimension)];
  return std::all_of(exports.begin(), exports.end(),
                     [&](Register each) { return registers.slope[each] == 0; });
}

void ExpressionKernel::clear_slopes(int dimension, KernelRegisters& registers) const {
  for (Register each : exports_[static_cast<std::size_t>(dimension)]) registers.slope[each] = 0;
}

}  // namespace groma::mapper
