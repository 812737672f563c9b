// MachineView: Machine(KIND) and what split, merge and the like make of it: a grid whose indices
// lead back to a processor of the grid (nodes, processors in each node).
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "groma/kinds.h"

namespace groma::mapper {

using Coordinates = std::vector<std::int64_t>;

// Immutable; each operation makes a new view. The caller has checked arguments and limits.
class MachineView {
 public:
  // The base grid.
  MachineView(ProcKind kind, std::int64_t nodes, std::int64_t per_node)
      : kind_(kind), sizes_{nodes, per_node} {}

  ProcKind kind() const { return kind_; }
  const Coordinates& sizes() const { return sizes_; }
  int dimensions() const { return static_cast<int>(sizes_.size()); }
  std::size_t operations() const { return steps_.size(); }

  // Dimension d becomes parts.size() dimensions, the first of which runs fastest:
  // p_d = q_d + parts[0] * (q_{d+1} + parts[1] * (...)).
  MachineView split(int d, Coordinates parts) const;
  // Dimensions a and b become one at a (at a - 1 where a > b), in which b runs fastest.
  MachineView merge(int a, int b) const;
  MachineView swap(int a, int b) const;
  MachineView reverse(int d) const;
  // Index i is what (i + k) % n was, where n is the extent of d; any k.
  MachineView rotate(int d, std::int64_t k) const;
  // Both ends included.
  MachineView slice(int d, std::int64_t lo, std::int64_t hi) const;

  // The (node, processor) of an index, each coordinate of which must lie within sizes().
  Coordinates to_base(Coordinates index) const;
  // The index of (node, processor); nothing where a slice has cut it off, which `cut` says.
  struct Cut {
    int dimension = 0;  // of the slice
    std::int64_t index = 0, size = 0;
  };
  std::optional<Coordinates> from_base(std::int64_t node, std::int64_t processor, Cut* cut) const;

  // One of the operations above, for those who follow them with other numbers than integers.
  struct Step {
    enum class Kind : std::uint8_t { kSplit, kMerge, kSwap, kReverse, kRotate, kSlice };
    Kind kind;
    int a = 0, b = 0;
    // Extents before. kRotate: k within [0, n), and n; kSlice: lo, and the new extent.
    std::int64_t size_a = 0, size_b = 0;
    Coordinates parts;  // kSplit
  };
  const std::vector<Step>& steps() const { return steps_; }

 private:
  static void step_back(const Step& step, Coordinates& index);
  static bool step_forward(const Step& step, Coordinates& index);
  MachineView with(Step step, Coordinates sizes) const;

  ProcKind kind_;
  Coordinates sizes_;
  std::vector<Step> steps_;
};

}  // namespace groma::mapper
