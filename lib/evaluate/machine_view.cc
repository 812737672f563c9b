// The operations on a grid of processors. Each operation can be undone for one index, so that an
// index of the last grid leads back to a processor.
#include "evaluate/machine_view.h"

#include <algorithm>
#include <utility>

namespace groma::mapper {
namespace {

// Return where the coordinate of dimension d stands in a list of coordinates: at() returns an
// iterator, slot() returns an index.
Coordinates::iterator at(Coordinates& index, int d) { return index.begin() + d; }
std::size_t slot(int d) { return static_cast<std::size_t>(d); }

}  // namespace

// Returns a copy of the view with one more operation.
MachineView MachineView::with_operation(ViewOperation step, Coordinates sizes) const {
  MachineView view = *this;
  view.operations_.push_back(std::move(step));
  view.sizes_ = std::move(sizes);
  return view;
}

// Replaces dimension `d` by as many dimensions as there are `parts`.
MachineView MachineView::split(int d, Coordinates parts) const {
  Coordinates sizes = sizes_;
  sizes.erase(at(sizes, d));
  sizes.insert(at(sizes, d), parts.begin(), parts.end());
  return with_operation({ViewOperation::Kind::kSplit, d, 0, sizes_[slot(d)], 0, std::move(parts)},
                        std::move(sizes));
}

// Merges dimensions `a` and `b` into one, in which `b` changes fastest.
MachineView MachineView::merge(int a, int b) const {
  Coordinates sizes = sizes_;
  sizes[slot(a)] = sizes_[slot(a)] * sizes_[slot(b)];
  sizes.erase(at(sizes, b));
  return with_operation({ViewOperation::Kind::kMerge, a, b, sizes_[slot(a)], sizes_[slot(b)], {}},
                        std::move(sizes));
}

MachineView MachineView::swap(int a, int b) const {
  Coordinates sizes = sizes_;
  std::swap(sizes[slot(a)], sizes[slot(b)]);
  return with_operation({ViewOperation::Kind::kSwap, a, b, 0, 0, {}}, std::move(sizes));
}

MachineView MachineView::reverse(int d) const {
  return with_operation({ViewOperation::Kind::kReverse, d, 0, sizes_[slot(d)], 0, {}}, sizes_);
}

// Rotates dimension d by k, after bringing k into the range from 0 to n - 1.
MachineView MachineView::rotate(int d, std::int64_t k) const {
  const std::int64_t n = sizes_[slot(d)];
  const std::int64_t first = n == 0 ? 0 : (k % n + n) % n;
  return with_operation({ViewOperation::Kind::kRotate, d, 0, first, n, {}}, sizes_);
}

MachineView MachineView::slice(int d, std::int64_t lo, std::int64_t hi) const {
  Coordinates sizes = sizes_;
  sizes[slot(d)] = hi - lo + 1;
  return with_operation({ViewOperation::Kind::kSlice, d, 0, lo, hi - lo + 1, {}}, std::move(sizes));
}

// Changes `index` from an index of the grid after the operation to that of the grid before it.
void MachineView::undo_operation(const ViewOperation& step, Coordinates& index) {
  switch (step.kind) {
    case ViewOperation::Kind::kSplit: {
      std::int64_t flat = 0;
      for (std::size_t i = step.parts.size(); i-- > 0;) {
        flat = flat * step.parts[i] + index[slot(step.a) + i];
      }
      index.erase(at(index, step.a), at(index, step.a) + static_cast<int>(step.parts.size()));
      index.insert(at(index, step.a), flat);
      break;
    }
    case ViewOperation::Kind::kMerge: {
      const std::int64_t flat = index[slot(step.a > step.b ? step.a - 1 : step.a)];
      index.insert(at(index, step.b), flat % step.size_b);
      index[slot(step.a)] = flat / step.size_b;
      break;
    }
    case ViewOperation::Kind::kSwap:
      std::swap(index[slot(step.a)], index[slot(step.b)]);
      break;
    case ViewOperation::Kind::kReverse:
      index[slot(step.a)] = step.size_a - 1 - index[slot(step.a)];
      break;
    case ViewOperation::Kind::kRotate:
      index[slot(step.a)] = (index[slot(step.a)] + step.size_a) % step.size_b;
      break;
    case ViewOperation::Kind::kSlice:
      index[slot(step.a)] += step.size_a;
      break;
  }
}

// Changes `index` from an index of the grid before the operation to that of the grid after it.
// Returns false if the operation is a slice that has cut the index off. Swapping and reversing are
// their own inverses.
bool MachineView::apply_operation(const ViewOperation& step, Coordinates& index) {
  switch (step.kind) {
    case ViewOperation::Kind::kSplit: {
      std::int64_t flat = index[slot(step.a)];
      Coordinates cut;
      for (std::int64_t part : step.parts) {
        cut.push_back(flat % part);
        flat /= part;
      }
      index.erase(at(index, step.a));
      index.insert(at(index, step.a), cut.begin(), cut.end());
      return true;
    }
    case ViewOperation::Kind::kMerge:
      index[slot(step.a)] = index[slot(step.a)] * step.size_b + index[slot(step.b)];
      index.erase(at(index, step.b));
      return true;
    case ViewOperation::Kind::kSwap:
    case ViewOperation::Kind::kReverse:
      undo_operation(step, index);
      return true;
    case ViewOperation::Kind::kRotate:
      index[slot(step.a)] = (index[slot(step.a)] + step.size_b - step.size_a) % step.size_b;
      return true;
    case ViewOperation::Kind::kSlice:
      index[slot(step.a)] -= step.size_a;
      return index[slot(step.a)] >= 0 && index[slot(step.a)] < step.size_b;
  }
  return false;
}

// Changes an index of this view to an index of the base grid: undoes the view's operations from the
// last to the first.
Coordinates MachineView::to_base_index(Coordinates index) const {
  for (auto step = operations_.rbegin(); step != operations_.rend(); ++step)
    undo_operation(*step, index);
  return index;
}

// Applies all operations in order to the place of a processor: its node and its index there.
// Returns nothing if a slice has cut the processor off; `cut` then describes the slice.
std::optional<Coordinates> MachineView::index_of_processor(std::int64_t node,
                                                           std::int64_t processor,
                                                           CuttingSlice* cut) const {
  Coordinates index = {node, processor};
  for (const ViewOperation& step : operations_) {
    if (apply_operation(step, index)) continue;
    *cut = {step.a, index[slot(step.a)], step.size_b};
    return std::nullopt;
  }
  return index;
}

}  // namespace groma::mapper
