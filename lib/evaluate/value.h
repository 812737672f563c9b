// ProgramValue: the result of evaluating an expression, and the types that it can hold.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "evaluate/machine_view.h"
#include "groma/machine.h"
#include "program/data.h"

namespace groma::mapper {

struct ProgramValue;

// A tuple. Immutable and shared. `items` includes the items of nested tuples, and `depth` is the
// nesting. Both are limited, so that the work for a tuple is bounded.
struct TupleValue {
  std::vector<ProgramValue> values;
  std::int64_t items = 0;
  int depth = 1;
};

// The task of an evaluation, or its parent.
struct TaskValue {
  bool is_parent = false;
};

// The processors on any of which a task may run, in the order of the index that made the set.
struct ProcessorSet {
  std::vector<Processor> processors;
};

// A value of the mapping language. monostate stands for the value of a failed evaluation, and for a
// global before its statement is executed.
struct ProgramValue {
  std::variant<std::monostate, std::int64_t, bool, std::shared_ptr<const TupleValue>,
               std::shared_ptr<const std::string>, std::shared_ptr<const MachineView>, TaskValue,
               Processor, std::shared_ptr<const ProcessorSet>, ProcKind, MemKind>
      contents;

  template <typename T>
  const T* get() const {
    return std::get_if<T>(&contents);
  }
  const TupleValue* as_tuple() const {
    const auto* shared = get<std::shared_ptr<const TupleValue>>();
    return shared == nullptr ? nullptr : shared->get();
  }
  const MachineView* as_machine() const {
    const auto* shared = get<std::shared_ptr<const MachineView>>();
    return shared == nullptr ? nullptr : shared->get();
  }
};

// Returns the type of a value.
program::Type type_of(const ProgramValue& value);

// Returns the values of a tuple, or the node and index of a processor. Returns null for any other
// value. A tuple's values are shared and not copied, because there may be many.
std::shared_ptr<const std::vector<ProgramValue>> tuple_values(const ProgramValue& value);

// Returns the approximate length in bytes of the text that to_string() makes, which is charged as
// steps.
std::int64_t printed_bytes(const ProgramValue& value);

// Returns the text that `print` writes: `(1, 2)`, `true`, `GPU (2, 4)`. A task is written as
// `task_name`.
std::string to_string(const ProgramValue& value, std::string_view task_name);

}  // namespace groma::mapper
