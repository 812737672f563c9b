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

// The arguments of a call, by the table of methods. The dimensions refer to the machine.
struct OperationArguments {
  // The integers and dimensions, each at its position among the parameters. Other positions are 0.
  std::array<std::int64_t, syntax::kMaxMethodParameters> numbers = {};
  Coordinates tuple;                  // the tuple parameter
  std::optional<Coordinates> option;  // `halo`

  std::size_t dimension(std::size_t position) const {
    return static_cast<std::size_t>(numbers[position]);
  }
  friend bool operator==(const OperationArguments&, const OperationArguments&) = default;
};

// Why an operation gives no machine: a diagnostic and its place. The place is the position of an
// argument, the call, or the option.
struct RefusedOperation {
  static constexpr int kCall = -1, kOption = -2;
  DiagId id;
  std::vector<DiagArg> arguments;
  int at = kCall;
  std::string note = {}, help = {};
};
using Applied = std::variant<MachineView, RefusedOperation>;

bool has_dimension(const MachineView& view, std::int64_t dimension);

// Applies `method` to `view`. `method` must be an operation on machines.
Applied apply(syntax::Method method, const MachineView& view, const OperationArguments& given);

// Returns `view` with the dimension split into `parts`, unless a limit of views forbids it.
Applied split_into(const MachineView& view, int dimension, Coordinates parts);

// Returns true if the operation searches for a split. Its results are worth caching, because a
// search takes long.
bool searches(syntax::Method method);

// Returns the evaluation steps that the search of `auto_split` or `decompose` counts for; 0 if
// `apply` does not search. A step stands for some tens of nanoseconds.
std::int64_t search_steps(syntax::Method method, const MachineView& view,
                          const OperationArguments& given);

}  // namespace groma::mapper
