// MachineView: a grid of processors: Machine(KIND), or what split, merge and similar operations
// make of it. Each index of a view leads back to a processor of the base grid (nodes, processors in
// each node).
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "groma/kinds.h"

namespace groma::mapper {

using Coordinates = std::vector<std::int64_t>;

// A grid of processors that does not change: each operation makes a new view. The callers have
// checked the arguments and the limits.
class MachineView {
 public:
  // Makes the base grid.
  MachineView(ProcKind kind, std::int64_t nodes, std::int64_t per_node)
      : kind_(kind), sizes_{nodes, per_node} {}

  ProcKind kind() const { return kind_; }
  const Coordinates& sizes() const { return sizes_; }
  int dimensions() const { return static_cast<int>(sizes_.size()); }
  std::size_t operation_count() const { return operations_.size(); }

  // Splits dimension d into parts.size() dimensions, the first of which is the fastest: p_d = q_d +
  // parts[0] * (q_{d+1} + parts[1] * (...)), for an index p of this view and q of the result.
  MachineView split(int d, Coordinates parts) const;
  // Merges dimensions a and b into one at a (at a - 1 if a > b), in which b is the fastest.
  MachineView merge(int a, int b) const;
  MachineView swap(int a, int b) const;
  MachineView reverse(int d) const;
  // Rotates dimension d of extent n: index i of the result is index (i + k) % n of this view. Any k
  // is allowed.
  MachineView rotate(int d, std::int64_t k) const;
  // Keeps the indices lo to hi of dimension d, both included.
  MachineView slice(int d, std::int64_t lo, std::int64_t hi) const;

  // Returns the node and the processor within the node, of the base grid, to which an index leads.
  // Each coordinate must lie within sizes().
  Coordinates to_base_index(Coordinates index) const;
  // index_of_processor() returns the index of (node, processor). If a slice has cut the processor
  // off, it returns nullopt and sets `cut` to the slice.
  struct CuttingSlice {
    // The dimension of which the slice keeps only a part.
    int dimension = 0;
    std::int64_t index = 0, size = 0;
  };
  std::optional<Coordinates> index_of_processor(std::int64_t node, std::int64_t processor,
                                                CuttingSlice* cut) const;

  // One of the operations that made the view. Other code reads these operations to apply them to
  // symbolic expressions instead of integers.
  struct ViewOperation {
    enum class Kind : std::uint8_t { kSplit, kMerge, kSwap, kReverse, kRotate, kSlice };
    Kind kind;
    int a = 0, b = 0;
    // Numbers whose meaning depends on the kind of operation. kMerge: the extents of dimensions a
    // and b before it. kSplit and kReverse: size_a is the extent of dimension a before it.
    // kRotate: size_a is the rotation k within [0, n), and size_b is the extent n of dimension a.
    // kSlice: size_a is the first index that is kept, and size_b is the new extent.
    std::int64_t size_a = 0, size_b = 0;
    // The extents of the new dimensions. Only kSplit has them.
    Coordinates parts;
  };
  const std::vector<ViewOperation>& operations() const { return operations_; }

 private:
  static void undo_operation(const ViewOperation& step, Coordinates& index);
  static bool apply_operation(const ViewOperation& step, Coordinates& index);
  MachineView with_operation(ViewOperation step, Coordinates sizes) const;

  ProcKind kind_;
  Coordinates sizes_;
  std::vector<ViewOperation> operations_;
};

}  // namespace groma::mapper
