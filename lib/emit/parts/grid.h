// The grid of processors with which a mapping computes. Part of the code that `groma emit` writes
// (lib/emit/parts.cc).
#pragma once

#include <array>
#include <map>
#include <optional>
#include <string_view>
#include <variant>

#include "emit/parts/processor.h"
#include "emit/parts/values.h"
#include "evaluate/machine_view.h"
#include "evaluate/splits.h"

namespace groma::emit {
// @if in_tree
using namespace mapper;
// @end

// @if sets
// An index in one dimension of a Grid: a number, or all indices of the dimension.
struct Axis {
  Axis(Int number) : at(number) {}
  Axis(std::int64_t number) : at(number) {}
  Axis(std::nullopt_t) {}
  std::optional<Int> at;
};
inline constexpr std::nullopt_t kAll = std::nullopt;

// @end
// A grid of processors: Machine(KIND), or the result of split, merge and similar operations on it.
class Grid {
 public:
  Grid() : Grid(ProcKind::kCpu, 1, 0) {}
  Grid(ProcKind kind, std::int64_t nodes, std::int64_t per_node)
      : Grid(MachineView(kind, nodes, per_node), nodes, per_node) {}

  ProcKind kind() const { return view_.kind(); }
  const Tuple& size() const { return size_; }
  Int volume() const { return size_.volume(); }
  Int len() const { return size_.len(); }

  // Returns the processor at an index of the grid.
  Processor at(const Tuple& index) const {
    check_count(index.count());
    Coordinates at;
    for (const Int i : index) {
      const int d = static_cast<int>(at.size());
      if (i < 0 || i >= extent(d)) outside(d, i, extent(d));
      at.push_back(i.value());
    }
    if (per_node_ == 0) outside(0, index.count() == 0 ? Int(0) : at[0], 0);
    const Coordinates base = view_.to_base_index(std::move(at));
    return {kind(), base[0], base[1]};
  }
  // @if sets
  // Returns the processors of a row, a plane, ... of the grid in row-major order.
  Processors all(const List<Axis>& index) const {
    check_count(index.count());
    List<Tuple> places{Tuple{}};
    int d = 0;
    for (const Axis& axis : index) {
      if (!axis.at && extent(d) == 0) outside(d, 0, 0);
      List<Tuple> longer;
      for (const Tuple& place : places) {
        for (Int i = 0; i < (axis.at ? 1 : extent(d)); i = i + 1) {
          longer.add(join<Int>(place, axis.at ? *axis.at : i));
        }
      }
      places = std::move(longer);
      ++d;
    }
    return each(places, [this](const Tuple& place) { return at(place); });
  }
  // @end
  // @if processor
  // Returns the grid index of a processor.
  Tuple place_of(const Processor& processor) const {
    if (processor.node >= nodes_) outside(0, processor.node, nodes_);
    if (processor.index >= per_node_) outside(1, processor.index, per_node_);
    MachineView::CuttingSlice cut;
    const auto index = view_.index_of_processor(processor.node, processor.index, &cut);
    if (!index) outside(cut.dimension, cut.index, cut.size);
    Tuple place;
    for (const std::int64_t i : *index) place.add(i);
    return place;
  }
  // @end
  // @if split

  Grid split(Int dimension, Int factor) const {
    const int d = checked("split", dimension);
    if (factor < 1) fail("`split` with a factor below 1 [bad-split-argument]");
    if (extent(d) % factor != 0) {
      fail(std::to_string(factor.value()) + " does not divide the extent " +
           std::to_string(extent(d).value()) + " [split-not-divisible]");
    }
    return cut(d, {factor.value(), (extent(d) / factor).value()});
  }
  // @end
  // @if merge

  Grid merge(Int first, Int second) const {
    const int a = checked("merge", first), b = checked("merge", second);
    if (a == b) fail("`merge` needs two different dimensions [same-dimension]");
    // The product fails on overflow.
    extent(a) * extent(b);
    return with(view_.merge(a, b));
  }
  // @end
  // @if swap

  Grid swap(Int first, Int second) const {
    const int a = checked("swap", first), b = checked("swap", second);
    if (a == b) fail("`swap` needs two different dimensions [same-dimension]");
    return with(view_.swap(a, b));
  }
  // @end
  // @if reverse

  Grid reverse(Int dimension) const { return with(view_.reverse(checked("reverse", dimension))); }
  // @end
  // @if rotate

  Grid rotate(Int dimension, Int first) const {
    return with(view_.rotate(checked("rotate", dimension), first.value()));
  }
  // @end
  // @if slice

  Grid slice(Int dimension, Int first, Int last) const {
    const int d = checked("slice", dimension);
    if (first < 0 || first > last || last >= extent(d)) {
      fail("no slice from " + std::to_string(first.value()) + " to " +
           std::to_string(last.value()) + " of " + std::to_string(extent(d).value()) +
           " [bad-slice]");
    }
    return with(view_.slice(d, first.value(), last.value()));
  }
  // @end
  // @if balance_split

  Grid balance_split(Int dimension, Int parts) const {
    const int d = checked("balance_split", dimension);
    if (parts < 1 || parts > kMaxGridDimensions) {
      fail("`balance_split` into " + std::to_string(parts.value()) + " [bad-split-argument]");
    }
    return cut(d, groma::mapper::balance_split(extent(d).value(), parts.value()));
  }
  // @end
  // @if greedy_split

  Grid greedy_split(Int dimension, const Tuple& extents) const {
    const int d = checked("greedy_split", dimension);
    return cut(d, groma::mapper::greedy_split(extent(d).value(),
                                              numbers("greedy_split", extents, INT64_MIN)));
  }
  // @end
  // @if auto_split

  Grid auto_split(Int dimension, const Tuple& extents) const {
    const int d = checked("auto_split", dimension);
    const std::int64_t n = extent(d).value();
    thread_local SplitMemo memo;
    return cut(d, memo.get({n, numbers("auto_split", extents, INT64_MIN), {}}, [n](const auto& of) {
      return found(groma::mapper::auto_split(n, of.extents), "auto_split");
    }));
  }
  // @end
  // @if decompose

  Grid decompose(Int dimension, const Tuple& extents) const {
    return decompose(dimension, extents, each(extents, [](Int) { return Int(1); }));
  }
  // `halo`: the widths of the data that neighbours exchange in each dimension.
  Grid decompose(Int dimension, const Tuple& extents, const Tuple& halo) const {
    const int d = checked("decompose", dimension);
    const std::int64_t n = extent(d).value();
    const Coordinates sizes = numbers("decompose", extents, 0);
    if (halo.count() != extents.count()) fail("a `halo` of another length [bad-split-argument]");
    thread_local SplitMemo memo;
    return cut(d, memo.get({n, sizes, numbers("decompose", halo, 0)}, [n](const auto& of) {
      return found(groma::mapper::decompose(n, of.extents, of.halo), "decompose");
    }));
  }
  // @end

 private:
  static constexpr int kMaxGridDimensions = 32;
  // @if auto_split || decompose

  // A cache of split results. Mapping functions split the same way for every point, and a search
  // takes long.
  class SplitMemo {
   public:
    struct Key {
      std::int64_t n;
      Coordinates extents, halo;
      friend auto operator<=>(const Key&, const Key&) = default;
    };
    template <typename Search>
    const Coordinates& get(const Key& key, const Search& search) {
      const auto known = known_.find(key);
      if (known != known_.end()) return known->second;
      if (known_.size() >= 1024) known_.clear();
      return known_[key] = search(key);
    }

   private:
    std::map<Key, Coordinates> known_;
  };
  static Coordinates found(const SplitResult& result, const std::string& who) {
    if (const auto* sizes = std::get_if<Coordinates>(&result)) return *sizes;
    const bool overflow = std::get<SplitError>(result) == SplitError::kOverflow;
    fail("`" + who + "`: " +
         (overflow ? "a product does not fit [overflow]" : "too many factorisations [step-limit]"));
  }
  // @end
  // @if greedy_split || auto_split || decompose
  static Coordinates numbers(const std::string& who, const Tuple& tuple, std::int64_t least) {
    if (tuple.count() < 1 || tuple.count() > kMaxGridDimensions) {
      fail("`" + who + "` into " + std::to_string(tuple.count()) +
           " dimensions [bad-split-argument]");
    }
    Coordinates made;
    for (const Int number : tuple) {
      if (number < least) fail("`" + who + "` with a negative extent [bad-split-argument]");
      made.push_back(number.value());
    }
    return made;
  }
  // @end

  Grid(MachineView view, std::int64_t nodes, std::int64_t per_node)
      : view_(std::move(view)), nodes_(nodes), per_node_(per_node) {
    for (const std::int64_t size : view_.sizes()) size_.add(size);
  }
  Grid with(MachineView view) const {
    if (view.dimensions() > kMaxGridDimensions) {
      fail("the machine view has more than 32 dimensions [machine-limit]");
    }
    return {std::move(view), nodes_, per_node_};
  }
  // @if splits
  Grid cut(int d, Coordinates parts) const { return with(view_.split(d, std::move(parts))); }
  // @end
  Int extent(int d) const { return size_.begin()[d]; }
  // @if views
  int checked(const std::string& who, Int dimension) const {
    if (dimension < 0 || dimension >= len()) {
      fail("`" + who + "` of dimension " + std::to_string(dimension.value()) +
           " in a machine with " + std::to_string(len().value()) + " [bad-dimension]");
    }
    return static_cast<int>(dimension.value());
  }
  // @end
  void check_count(std::size_t indices) const {
    if (indices == size_.count()) return;
    fail("wrong number of indices: " + std::to_string(indices) + " indices for a machine with " +
         std::to_string(size_.count()) + " dimensions [wrong-index-count]");
  }
  [[noreturn]] static void outside(int d, Int index, Int size) {
    fail("index " + std::to_string(d) + " is " + std::to_string(index.value()) +
         ", outside of [0, " + std::to_string(size.value()) + ") [slice-index-out-of-bound]");
  }

  MachineView view_;
  Tuple size_;
  // The number of nodes of the machine, and of processors in each node.
  std::int64_t nodes_, per_node_;
};

}  // namespace groma::emit
