// Value: what an expression has at evaluation.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "groma/machine.h"
#include "mapper/machine_view.h"
#include "program/data.h"

namespace groma::mapper {

struct Value;

// Immutable once made and shared. `items` counts those of tuples in it, `depth` how they nest: both
// are bounded, so that what walks through a tuple is.
struct Tuple {
  std::vector<Value> values;
  std::int64_t items = 0;
  int depth = 1;
};

// The task of an evaluation, or its parent.
struct TaskValue {
  bool parent = false;
};

struct ProcessorSet {
  std::vector<Processor> processors;
};

struct Value {
  std::variant<std::monostate, std::int64_t, bool, std::shared_ptr<const Tuple>,
               std::shared_ptr<const std::string>, std::shared_ptr<const MachineView>, TaskValue,
               Processor, std::shared_ptr<const ProcessorSet>, ProcKind, MemKind>
      v;

  template <typename T>
  const T* get() const {
    return std::get_if<T>(&v);
  }
  const Tuple* tuple() const {
    const auto* shared = get<std::shared_ptr<const Tuple>>();
    return shared == nullptr ? nullptr : shared->get();
  }
  const MachineView* machine() const {
    const auto* shared = get<std::shared_ptr<const MachineView>>();
    return shared == nullptr ? nullptr : shared->get();
  }
};

program::Type type_of(const Value& value);

// A tuple's values (shared, since it may be long), or a processor's node and index; null for what
// is no tuple.
std::shared_ptr<const std::vector<Value>> tuple_values(const Value& value);

// About how long to_string's text is: what it costs to make it.
std::int64_t text_bytes(const Value& value);

// As `print` writes it: `(1, 2)`, `true`, `GPU (2, 4)`. `task_name` is what a task is written as.
std::string to_string(const Value& value, std::string_view task_name);

}  // namespace groma::mapper
