// Compiled formulas: names are checked, constants are folded, and the rest is a short program for a
// stack of integers.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "groma/app.h"

namespace groma::app {

// The reasons why a formula has no value. kOutOfRange: the formula asks for a piece or a dimension
// that does not exist. kNoBox: the values of several formulas are not the extents of a box.
enum class FormulaFault : std::uint8_t {
  kNone,
  kDivisionByZero,
  kOverflow,
  kOutOfRange,
  kNoBox,
  kTooManyPoints
};
// Returns text such as "it divides by zero".
std::string_view words_of(FormulaFault fault);

// The sizes of the piece of one requirement. The functions points() and extent() of formulas read
// them.
struct PieceSize {
  // The smallest box around the points of the piece.
  const Rect* box = nullptr;
  std::int64_t points = 0;
};
using Pieces = std::span<const PieceSize>;

// A compiled formula: a constant, a single variable, or a program for a stack machine.
class CompiledFormula {
 public:
  CompiledFormula() = default;
  explicit CompiledFormula(std::int64_t value) : value_(value) {}

  bool is_constant() const { return ops_.empty() && slot_ < 0; }
  // Returns true if the formula reads no variable and no piece, so that its value (if it has one)
  // is known.
  bool reads_no_input() const;
  // Returns true if the formula reads the variable in that slot.
  bool reads(int slot) const;
  std::int64_t constant() const { return value_; }
  // Returns the approximate cost of value(), in units of Budget.
  std::int64_t evaluation_cost() const { return static_cast<std::int64_t>(ops_.size() / 2); }
  // Returns the slot if the formula is a single variable, otherwise -1.
  int slot() const { return ops_.empty() ? slot_ : -1; }

  // Returns the value. `frame` holds the variables by slot. If there is no value, sets `fault`,
  // unless it already holds an earlier fault.
  std::int64_t value(std::span<const std::int64_t> frame, FormulaFault& fault,
                     Pieces pieces = {}) const {
    if (!ops_.empty()) return run(frame, fault, pieces);
    return slot_ < 0 ? value_ : frame[static_cast<std::size_t>(slot_)];
  }

 private:
  friend class FormulaParser;
  enum class Kind : std::uint8_t {
    kConstant,
    kSlot,
    kPoints,
    // The kinds up to kExtent push a value.
    kExtent,
    kAdd,
    kSubtract,
    kMultiply,
    kDivide,
    kRemainder,
    kMin,
    kMax,
    kLess,
    kLessEqual,
    kEqual,
    // The operators from kAdd to kNotEqual combine the two values that were pushed last.
    kNotEqual,
    kJump,
    // A jump continues at the operation with the index `operand`. kJumpIfZero pops a value and
    // jumps if the value is zero.
    kJumpIfZero,
  };
  struct Op {
    Kind kind;
    // The dimension whose extent the operation kExtent reads.
    std::int32_t dimension = 0;
    // The operand of the operation. By its kind, it is a constant, the slot of a variable, the
    // number of a requirement or the index of an operation.
    std::int64_t operand = 0;
  };
  std::int64_t run(std::span<const std::int64_t> frame, FormulaFault& fault, Pieces pieces) const;

  // The operations. Empty: the formula is a constant or a single variable.
  std::vector<Op> ops_;
  int slot_ = -1;
  std::int64_t value_ = 0;
};

// The meanings of the names in a formula. Later names hide earlier ones.
class Scope {
 public:
  void add_constant(std::string_view name, std::int64_t value) {
    names_.push_back({name, -1, value});
  }
  // Adds a variable and returns its slot: the number of variables before it.
  int add_variable(std::string_view name) {
    names_.push_back({name, variables_, 0});
    return variables_++;
  }
  int variables() const { return variables_; }

  // A moment of the parse, given by the number of names and variables at that moment.
  // remove_names_since() removes all names that were added later. Builder calls it where a task, a
  // loop or a launch ends.
  struct ScopeMark {
    std::size_t names;
    int variables;
  };
  ScopeMark mark() const { return {names_.size(), variables_}; }
  void remove_names_since(ScopeMark mark) {
    names_.resize(mark.names);
    variables_ = mark.variables;
  }

  struct Name {
    std::string_view name;
    // The slot of a variable. -1: the name is a constant.
    int slot;
    std::int64_t value;
  };
  const Name* find(std::string_view name) const;
  std::vector<std::string_view> names() const;

 private:
  std::vector<Name> names_;
  int variables_ = 0;
};

// The number of dimensions of each requirement of a task. Formulas of the task's variants need it
// to check points() and extent().
using PieceShapes = std::span<const int>;

struct FormulaError {
  // Why the formula cannot be compiled, such as "`m` is not known here".
  std::string message;
  // A suggestion how to correct the formula. Empty if there is none.
  std::string help;
};
// Compiles `formula`. If the formula is not valid, returns nullopt and fills `error`.
std::optional<CompiledFormula> compile(const Formula& formula, const Scope& scope,
                                       FormulaError& error,
                                       std::optional<PieceShapes> pieces = std::nullopt);

// Returns true if `name` can be the name of a parameter, a definition or a variable.
bool is_formula_name(std::string_view name);

}  // namespace groma::app
