// ExpressionKernel: expressions of a launch's coordinates as a straight line of instructions,
// grouped by the innermost coordinate that each one depends on. It evaluates a point, or a run of
// points along one dimension at once. For a run, every register is a linear function (value and
// slope); the run lasts as long as all of them are linear.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "groma/geometry.h"
#include "groma/machine.h"
#include "index_map/expressions.h"

namespace groma::mapper {

// Convert an integer to an unsigned number, whose arithmetic wraps around on overflow, and back.
inline std::uint64_t to_unsigned(std::int64_t value) { return static_cast<std::uint64_t>(value); }
inline std::int64_t to_signed(std::uint64_t value) { return static_cast<std::int64_t>(value); }

// Divides 0 <= n < 2^63 by a constant d >= 2 with a multiplication (Granlund and Montgomery 1994,
// "Division by Invariant Integers using Multiplication", section 4).
class ConstantDivider {
 public:
  ConstantDivider() = default;
  explicit ConstantDivider(std::int64_t divisor);
  std::int64_t quotient(std::int64_t n) const {
    __extension__ typedef unsigned __int128 Wide;
    const auto high =
        static_cast<std::uint64_t>(Wide{multiplier_} * static_cast<std::uint64_t>(n) >> 64);
    return static_cast<std::int64_t>(high >> shift_);
  }

 private:
  std::uint64_t multiplier_ = 0;
  std::uint32_t shift_ = 0;
};

// The working memory of a kernel: a value and a slope for each register. Each thread needs its own,
// which ExpressionKernel::make_registers() makes.
struct KernelRegisters {
  std::vector<std::int64_t> value;
  std::vector<std::int64_t> slope;
};

// The period of a value along a dimension: value(x + period) = value(x) + drift, if both points lie
// in the launch. A period of 0 means that none is known.
struct ValuePeriod {
  std::int64_t period = 0;
  std::int64_t drift = 0;
};

class ExpressionKernel {
 public:
  using Register = std::uint16_t;

  ExpressionKernel() = default;
  // Makes the kernel that computes `roots`, for a launch with that many dimensions. `machine` must
  // outlive the kernel.
  ExpressionKernel(const ExpressionGraph& expressions, std::span<const ExprId> roots,
                   int dimensions, const Machine* machine);

  // Returns registers for the first use, with the constants in place.
  KernelRegisters make_registers() const {
    return {initial_, std::vector<std::int64_t>(initial_.size())};
  }
  // Returns the register of root i, which is expression number i of those that the kernel computes.
  // (Register i holds coordinate i.)
  Register root_register(std::size_t i) const { return roots_[i]; }

  // Computes all registers from the coordinates, or those that depend only on the first
  // `dimensions` coordinates.
  void evaluate_registers(KernelRegisters& registers) const {
    evaluate_registers(registers, dimensions_);
  }
  void evaluate_registers(KernelRegisters& registers, int dimensions) const;
  // Computes the registers that depend on `dimension` and on no later coordinate, for a run of
  // points that begins at the current coordinate. Returns the length of the run, 1 .. `most`.
  // Within the run each register changes by its slope from point to point.
  std::int64_t evaluate_run(int dimension, std::int64_t most, KernelRegisters& registers) const;
  // Returns true if the run that evaluate_run() evaluated leaves unchanged every register that
  // depends on `dimension` and either holds a result of the kernel or is read in later dimensions.
  bool exported_registers_constant(int dimension, const KernelRegisters& registers) const;
  // Sets the slopes of the registers that depend on this dimension to 0. The slope of a register is
  // its change from one point to the next. A row of points along the next dimension then sees the
  // values at the first point of the row along this one.
  void clear_slopes(int dimension, KernelRegisters& registers) const;

  bool uses_dimension(int dimension) const { return uses_[static_cast<std::size_t>(dimension)]; }
  // Returns the period along one dimension of a root, which is one of the expressions that the
  // kernel computes.
  ValuePeriod period_of_root(std::size_t root, int dimension) const;

 private:
  using Op = Expression::Op;
  struct KernelInstruction {
    Op op = Op::kConstant;
    // True if an operand or the result may be too large for arithmetic on linear functions.
    bool may_overflow = false;
    Register to = 0, a = 0, b = 0, c = 0;
    std::uint16_t dimensions = 0;
    // The constant of the operation. For kSum, it is the index of the first term in terms_.
    std::int64_t constant = 0;
    ConstantDivider divider;
  };
  struct RegisterTerm {
    std::int64_t factor;
    Register of;
  };
  // A value that changes by `slope` from point to point for `length` points.
  struct LinearRun {
    std::int64_t value = 0, slope = 0;
    std::int64_t length = 0;
  };

  std::int64_t compute_value(const KernelInstruction& instruction, const std::int64_t* value) const;
  void compute_run(const KernelInstruction& instruction, KernelRegisters& registers,
                   std::int64_t* length) const;
  LinearRun run_of_sum(const KernelInstruction& instruction,
                       const KernelRegisters& registers) const;
  LinearRun run_of_division(const KernelInstruction& instruction,
                            const KernelRegisters& registers) const;
  LinearRun run_of_comparison(const KernelInstruction& instruction,
                              const KernelRegisters& registers) const;
  ValuePeriod period_of_instruction(const KernelInstruction& instruction,
                                    const std::vector<ValuePeriod>& known) const;
  void add_instruction(const ExpressionGraph& expressions, ExprId id, std::vector<Register>& place);
  void find_exported_registers(const ExpressionGraph& expressions);

  const Machine* machine_ = nullptr;
  int dimensions_ = 0;
  std::vector<KernelInstruction> code_;
  // The index of the first instruction of each dimension.
  std::array<std::uint32_t, kMaxDimensions + 1> begin_{};
  std::array<bool, kMaxDimensions> uses_{};
  std::vector<RegisterTerm> terms_;
  std::vector<std::int64_t> initial_;
  std::vector<Register> roots_;
  // The registers of each dimension that exported_registers_constant() compares.
  std::array<std::vector<Register>, kMaxDimensions> exports_;
};

}  // namespace groma::mapper
