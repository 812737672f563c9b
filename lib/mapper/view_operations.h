// The operations of the language on machines, with their checks: what the interpreter and the
// specialiser both do. Only the interpreter tells the user why an operation was refused.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "groma/diagnostics.h"
#include "mapper/machine_view.h"
#include "syntax/methods.h"

namespace groma::mapper {

// What a call gives, by the table of methods. Its dimensions are dimensions of the machine.
struct OperationArguments {
  // The integers and dimensions, each at its own position among the parameters; 0 elsewhere.
  std::array<std::int64_t, syntax::kMaxMethodParameters> numbers = {};
  Coordinates tuple;                  // the parameter that is a tuple
  std::optional<Coordinates> option;  // `halo`

  std::size_t dimension(std::size_t position) const {
    return static_cast<std::size_t>(numbers[position]);
  }
  friend bool operator==(const OperationArguments&, const OperationArguments&) = default;
};

// Why an operation gives no machine: a diagnostic and its place, which is an argument's position,
// the call, or the option.
struct Refused {
  static constexpr int kCall = -1, kOption = -2;
  DiagId id;
  std::vector<DiagArg> arguments;
  int at = kCall;
  std::string note = {}, help = {};
};
using Applied = std::variant<MachineView, Refused>;

bool has_dimension(const MachineView& view, std::int64_t dimension);

// `method` is an operation on machines: its receiver is one.
Applied apply(syntax::Method method, const MachineView& view, const OperationArguments& given);

// `view` with the dimension split into `parts`, unless the limits of views forbid it.
Applied split_into(const MachineView& view, int dimension, Coordinates parts);

// How many evaluation steps the search of `auto_split` or `decompose` counts for; 0 where `apply`
// searches nothing. A step stands for some tens of nanoseconds.
std::int64_t search_steps(syntax::Method method, const MachineView& view,
                          const OperationArguments& given);

}  // namespace groma::mapper
