// The operations of the language on machines, with their checks. The interpreter and the
// specialiser share them. Only the interpreter reports why an operation was refused.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "evaluate/machine_view.h"
#include "groma/diagnostics.h"
#include "syntax/methods.h"

namespace groma::mapper {

// The arguments of an operation, sorted by the types in the table of methods. Dimensions are those
// of the machine before the operation.
struct OperationArguments {
  // The integers and dimensions among the arguments, each at the index of its parameter. The other
  // entries are 0.
  std::array<std::int64_t, syntax::kMaxMethodParameters> numbers = {};
  // The tuple among the arguments, such as the extents of a launch.
  Coordinates tuple;
  // The value of the option `halo`.
  std::optional<Coordinates> option;

  std::size_t dimension_argument(std::size_t position) const {
    return static_cast<std::size_t>(numbers[position]);
  }
  friend bool operator==(const OperationArguments&, const OperationArguments&) = default;
};

// The reason why an operation gives no machine. `at` is the place of the error: the position of an
// argument, or kCall or kOption.
struct RefusedOperation {
  static constexpr int kCall = -1, kOption = -2;
  DiagId id;
  std::vector<DiagArg> arguments;
  int argument_position = kCall;
  std::string note = {}, help = {};
};
using OperationResult = std::variant<MachineView, RefusedOperation>;

// Returns true if the view has this dimension. Dimensions count from 0.
bool has_dimension(const MachineView& view, std::int64_t dimension);

// Applies `method` to `view`. `method` must be an operation on machines.
OperationResult apply_method(syntax::Method method, const MachineView& view,
                             const OperationArguments& given);

// Returns `view` with its dimension `dimension` split into dimensions with the extents `parts`, or
// a refusal if the result would exceed a limit on views.
OperationResult split_view(const MachineView& view, int dimension, Coordinates parts);

// Returns true if the operation searches for a split. Its results are worth caching, because a
// search takes long.
bool searches_for_split(syntax::Method method);

// Returns the evaluation steps that the search of `auto_split` or `decompose` counts for; 0 if
// `method` does not search for a split. A step stands for some tens of nanoseconds.
std::int64_t search_steps(syntax::Method method, const MachineView& view,
                          const OperationArguments& given);

}  // namespace groma::mapper
