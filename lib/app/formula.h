// Formulas, compiled: checked names, constants folded, a short program for a stack of integers.
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
std::string_view words_of(FormulaFault fault);  // "it divides by zero"

// What points() and extent() read: the pieces of a task's requirements.
struct PieceSize {
  const Rect* box = nullptr;  // the smallest around its points
  std::int64_t points = 0;
};
using Pieces = std::span<const PieceSize>;

class Code {
 public:
  Code() = default;
  explicit Code(std::int64_t value) : value_(value) {}

  bool is_constant() const { return ops_.empty() && slot_ < 0; }
  // Whether it reads no variable and no piece, so that its value, if it has one, is known.
  bool is_closed() const;
  std::int64_t constant() const { return value_; }
  // About how long value() takes, in units of Budget.
  std::int64_t work() const { return static_cast<std::int64_t>(ops_.size() / 2); }
  // The slot, when it is a variable and nothing else; -1.
  int slot() const { return ops_.empty() ? slot_ : -1; }

  // `frame` holds the variables, by slot. `fault` is left alone where there is a value; the first
  // fault stays.
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
    kExtent,  // push
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
    kNotEqual,  // of the two on top
    kJump,
    kJumpIfZero,  // to op `operand`; the second takes what is on top
  };
  struct Op {
    Kind kind;
    std::int32_t dimension = 0;  // of kExtent
    std::int64_t operand = 0;    // constant, slot, requirement, op
  };
  std::int64_t run(std::span<const std::int64_t> frame, FormulaFault& fault, Pieces pieces) const;

  std::vector<Op> ops_;  // none: a constant or a variable
  int slot_ = -1;
  std::int64_t value_ = 0;
};

// What the names in a formula mean. Later ones hide earlier ones.
class Scope {
 public:
  void constant(std::string_view name, std::int64_t value) { names_.push_back({name, -1, value}); }
  // Its slot: the number of variables before it.
  int variable(std::string_view name) {
    names_.push_back({name, variables_, 0});
    return variables_++;
  }
  int variables() const { return variables_; }

  // To go back to where it was, when a loop or a launch ends.
  struct Mark {
    std::size_t names;
    int variables;
  };
  Mark mark() const { return {names_.size(), variables_}; }
  void back(Mark mark) {
    names_.resize(mark.names);
    variables_ = mark.variables;
  }

  struct Name {
    std::string_view name;
    int slot;  // -1: a constant
    std::int64_t value;
  };
  const Name* find(std::string_view name) const;
  std::vector<std::string_view> all() const;

 private:
  std::vector<Name> names_;
  int variables_ = 0;
};

// The dimensions of each requirement, where points() and extent() may stand.
using PieceShapes = std::span<const int>;

struct FormulaError {
  std::string message;  // "`m` is not known here"
  std::string help;     // may be empty
};
// The program of `formula`, or why there is none, in `error`.
std::optional<Code> compile(const Formula& formula, const Scope& scope, FormulaError& error,
                            std::optional<PieceShapes> pieces = std::nullopt);

// Whether it can be a parameter's, a definition's or a variable's.
bool is_formula_name(std::string_view name);

}  // namespace groma::app
