// MachineExpressions: makes, changes and indexes machines for the interpreter.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "evaluate/evaluation.h"
#include "evaluate/view_operations.h"
#include "groma/machine.h"

namespace groma::mapper {

class MachineExpressions {
 public:
  using Code = program::CodeNode;

  // All arguments must outlive this object.
  MachineExpressions(const program::ProgramData& data, const Machine& machine, Evaluation& run)
      : data_(data), machine_(machine), run_(run) {}

  // All public functions of this class return monostate or nullopt after a failure. `node` is the
  // typed code of the expression that they evaluate.
  //
  // Evaluates `Machine(KIND)`: a grid whose two dimensions are the nodes and the processors of this
  // kind in each node. Warns once for each kind if nodes have different numbers of processors.
  ProgramValue make_machine(const Code& node, const ProgramValue& kind);
  // Evaluates `m[index]`: the processor at the index, or a set of processors if an item is `*`.
  ProgramValue index_machine(const Code& node, const MachineView& view,
                             std::vector<EvaluatedItem> index);

  // Converts the evaluated arguments of an operation on a machine, without its option.
  std::optional<OperationArguments> convert_arguments(const Code& node, const MachineView& view,
                                                      const std::vector<EvaluatedItem>& args);
  // Evaluates `m.operation(args)`. `given` holds the same arguments as convert_arguments() returns
  // them, and the value of the option.
  ProgramValue apply_operation(program::CodeId id, const Code& node, const MachineView& view,
                               const std::vector<EvaluatedItem>& args,
                               const OperationArguments& given);

  // Evaluates `p.has(MEMORY)`: whether the processor can address such a memory.
  ProgramValue has_memory(const Code& node, const ProgramValue& base, const EvaluatedItem& memory);
  // Evaluates `task.processor(m)`: the coordinates in `m` of the node and index of the task's or
  // its parent's processor. The kinds of the processor and of `m` may differ.
  ProgramValue index_of_task_processor(const Code& node, const ProgramValue& base,
                                       const EvaluatedItem& machine);

 private:
  // The last result of a search for a split, at one place of the program. Mapping functions split
  // in the same way for every point.
  struct CachedSplit {
    program::CodeId code = program::kNoCode;
    // The extent that is split.
    std::int64_t n = 0;
    OperationArguments given;
    Coordinates parts;
  };

  Range range_of(program::CodeId id) const { return data_.code[id].range; }
  ProgramValue make_machine_value(const Code& node, MachineView view);
  bool check_index(const Code& node, const MachineView& view,
                   const std::vector<EvaluatedItem>& index);
  std::optional<Processor> processor_at(const Code& node, const MachineView& view,
                                        const Coordinates& index);
  ProgramValue value_of_operation(const Code& node, const std::vector<EvaluatedItem>& args,
                                  OperationResult applied);

  const program::ProgramData& data_;
  const Machine& machine_;
  Evaluation& run_;
  std::array<CachedSplit, 8> cached_splits_;
  std::size_t next_memo_ = 0;
  // True for the kinds for which make_machine() has checked whether the nodes are unequal.
  std::array<bool, kProcKindCount> checked_kinds_{};
};

}  // namespace groma::mapper
