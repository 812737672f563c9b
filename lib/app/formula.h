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

// Why a formula has no value.
enum class FormulaFault : std::uint8_t { kNone, kDivisionByZero, kOverflow, kOutOfRange, kNoBox };
// Returns text such as "it divides by zero".
std::string_view words_of(FormulaFault fault);

// The sizes of a requirement's piece, which points() and extent() read.
struct PieceSize {
  const Rect* box = nullptr;  // smallest box around its points
  std::int64_t points = 0;
};
using Pieces = std::span<const PieceSize>;

// A compiled formula.
class Code {
 public:
  Code() = default;
  explicit Code(std::int64_t value) : value_(value) {}

  bool is_constant() const { return ops_.empty() && slot_ < 0; }
  // Returns true if the formula reads no variable and no piece, so that its value (if it has one)
  // is known.
  bool is_closed() const;
  std::int64_t constant() const { return value_; }
  // Returns the approximate cost of value(), in units of Budget.
  std::int64_t work() const { return static_cast<std::int64_t>(ops_.size() / 2); }
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
    kExtent,  // the kinds up to here push a value
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
    kNotEqual,  // the operators from kAdd to this one combine the two topmost values
    kJump,
    kJumpIfZero,  // jumps go to op `operand`; kJumpIfZero pops a value
  };
  struct Op {
    Kind kind;
    std::int32_t dimension = 0;  // for kExtent
    std::int64_t operand = 0;    // a constant, slot, requirement or op
  };
  std::int64_t run(std::span<const std::int64_t> frame, FormulaFault& fault, Pieces pieces) const;

  std::vector<Op> ops_;  // empty: a constant or a variable
  int slot_ = -1;
  std::int64_t value_ = 0;
};

// The meanings of the names in a formula. Later names hide earlier ones.
class Scope {
 public:
  void constant(std::string_view name, std::int64_t value) { names_.push_back({name, -1, value}); }
  // Adds a variable and returns its slot: the number of variables before it.
  int variable(std::string_view name) {
    names_.push_back({name, variables_, 0});
    return variables_++;
  }
  int variables() const { return variables_; }

  // The number of names at one moment. remove_names_since() removes the names that were added
  // since, when a loop or a launch ends.
  struct Mark {
    std::size_t names;
    int variables;
  };
  Mark mark() const { return {names_.size(), variables_}; }
  void remove_names_since(Mark mark) {
    names_.resize(mark.names);
    variables_ = mark.variables;
  }

  struct Name {
    std::string_view name;
    int slot;  // slot of a variable; -1: the name is a constant
    std::int64_t value;
  };
  const Name* find(std::string_view name) const;
  std::vector<std::string_view> all() const;

 private:
  std::vector<Name> names_;
  int variables_ = 0;
};

// The number of dimensions of each requirement, where points() and extent() are allowed.
using PieceShapes = std::span<const int>;

struct FormulaError {
  std::string message;  // "`m` is not known here"
  std::string help;     // may be empty
};
// Compiles `formula`. Returns nullopt and fills `error` if it cannot.
std::optional<Code> compile(const Formula& formula, const Scope& scope, FormulaError& error,
                            std::optional<PieceShapes> pieces = std::nullopt);

// Returns true if `name` can be the name of a parameter, a definition or a variable.
bool is_formula_name(std::string_view name);

}  // namespace groma::app
