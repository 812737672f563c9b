// Expression: an integer expression of the domain language. The language is total: every evaluation
// ends with a value or with a fault, after a bounded number of steps.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "groma/geometry.h"
#include "groma/source.h"

namespace groma::domains {

// The value of an expression: one integer, or a tuple of `width` integers.
struct Value {
  int width = 1;
  std::array<std::int64_t, kMaxDimensions> items{};
};

enum class Operation : std::uint8_t {
  kNumber,      // `number`
  kName,        // `names`; after resolve(): the slot in `number`
  kNegate,      // children: the operand
  kNot,         // children: the operand; 1 if it is 0
  kComplement,  // children: the operand; all bits inverted
  // From kAdd to kShiftRight: two operands. Tuples are combined item by item; an integer is
  // combined with each item of a tuple. Division rounds down.
  kAdd,
  kSubtract,
  kMultiply,
  kDivide,
  kRemainder,
  kBitAnd,
  kBitOr,
  kBitXor,
  kShiftLeft,
  kShiftRight,
  // From kLess to kNotEqual: two integers; the value is 0 or 1.
  kLess,
  kLessEqual,
  kEqual,
  kNotEqual,
  kAnd,     // the second operand is evaluated only if the first is not 0
  kOr,      // the second operand is evaluated only if the first is 0
  kSelect,  // condition, value if it is not 0, value if it is 0
  kTuple,   // children: the items
  kIndex,   // tuple or table, index
  kTable,   // children: the entries, all of them constant
  kLet,     // children: the bound value, the body; `number`: the first slot of the bound names
  kMin,
  kMax,
  kAbs,
  kSquareRoot,  // isqrt(e): the largest m with m * m <= e
  kCubeRoot,    // icbrt(e)
  kLogarithm,   // ilog(b, e): the largest m with b^m <= e
  kBitCount,    // popc(e)
  // root(m => f, e): the largest m >= 0 with f <= e. Children: f, e. `number`: the slot of m.
  kRoot,
  // fold(e, s, r, start, (a, q, i) => f): begins with `start` and computes f for each of the r
  // digits q of e in base s, the lowest first. Children: e, s, r, start, f. `number`: the first
  // slot of a, q and i.
  kFold,
  // horner(b, e, s, T): the sum of T[q_i] * b^i over the digits q_i of e in base s. Children: b, e,
  // s, T.
  kHorner,
};

// One node of an expression tree. Nodes refer to their children by number.
struct Node {
  Operation operation = Operation::kNumber;
  Range range;
  std::int64_t number = 0;
  // The number of integers in the value; 0 until resolve() has found it out. For a table, the
  // number of integers of an entry.
  int width = 0;
  bool is_table = false;
  std::vector<std::uint32_t> children;
  // kName: the name. kLet, kRoot and kFold: the names that the node binds.
  std::vector<std::string> names;
};

// A tree of nodes; children come before their parents. `root` is the number of the top node.
struct Expression {
  std::vector<Node> nodes;
  std::uint32_t root = 0;
  // The number of nodes from the top to the deepest one.
  int depth = 0;
  // The number of slots that an evaluation needs. Known after resolve().
  int slots = 0;

  const Node& top() const { return nodes[root]; }
  int width() const { return top().width; }
};

// Why an expression has no value.
enum class FaultKind : std::uint8_t {
  kNone,
  kDivisionByZero,
  kOverflow,
  // The index of a tuple or a table is out of range.
  kIndex,
  // A shift by less than 0 or more than 62 bits.
  kShift,
  // A root, a logarithm or digits of a number for which there are none.
  kNoRoot,
  // The function below a root decreases.
  kNotMonotone,
  // The evaluation takes more steps than it may.
  kTooManySteps,
  // All evaluations together take more steps than they may.
  kTooManyStepsInAll,
};
struct Fault {
  FaultKind kind = FaultKind::kNone;
  Range range;
};
// Returns the fault in words, such as "it divides by zero".
std::string words_of(FaultKind kind);

// Evaluates expressions. Keeps the memory between evaluations. Not thread-safe.
class Evaluator {
 public:
  // Limit on the steps of one evaluation. A step is one node.
  static constexpr std::int64_t kMaxSteps = 1 << 20;
  // The usual limit on the steps of all evaluations by one evaluator.
  static constexpr std::int64_t kMaxStepsInAll = std::int64_t{1} << 30;

  explicit Evaluator(std::int64_t max_steps_in_all = kMaxStepsInAll)
      : left_in_all_(max_steps_in_all) {}

  // Evaluates the expression. `given` are the values of the first slots. Returns false and sets
  // fault() if there is no value.
  bool evaluate(const Expression& expression, std::span<const std::int64_t> given, Value* value);
  const Fault& fault() const { return fault_; }
  // The steps of the last evaluation.
  std::int64_t steps() const { return kMaxSteps - left_; }

 private:
  bool run(std::uint32_t number, Value* value);
  bool run_scalar(std::uint32_t number, std::int64_t* value);
  bool combine(const Node& node, const Value& a, const Value& b, Value* value);
  bool index(const Node& node, Value* value);
  bool root(const Node& node, Value* value);
  bool fold(const Node& node, Value* value);
  bool horner(const Node& node, Value* value);
  bool fail(FaultKind kind, const Node& node);

  const Expression* expression_ = nullptr;
  std::vector<std::int64_t> slots_;
  std::int64_t left_ = 0, left_in_all_ = 0;
  Fault fault_;
};

// The exact integer roots of n >= 0.
std::int64_t floor_square_root(std::int64_t n);
std::int64_t floor_cube_root(std::int64_t n);

// Return the quotient rounded down, and what is then left. `b` is not 0, and not both a is the
// smallest number and b is -1.
inline std::int64_t floor_divide(std::int64_t a, std::int64_t b) {
  const std::int64_t quotient = a / b;
  return quotient - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
}
inline std::int64_t floor_remainder(std::int64_t a, std::int64_t b) {
  const std::int64_t rest = a % b;
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

}  // namespace groma::domains
