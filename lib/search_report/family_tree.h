// The family tree of a search: which step was made from which, and where each step is drawn. Only
// the first parent of a step counts here. Parents are above their children.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "groma/search_report.h"

namespace groma::tuning {

struct FamilyTree {
  // The distance between two steps beside each other in a box, in pixels.
  static constexpr double kCell = 16;

  // A step in the tree. Parents stand before their children.
  struct Node {
    // The index of the step in SearchReport::results.
    std::size_t result = 0;
    // The index in `nodes` of the nearest ancestor in the tree; nullopt if there is none.
    std::optional<std::size_t> parent;
    // How many steps between this one and that ancestor are not in the tree.
    std::size_t left_out = 0;
    // How many ancestors the step has, counting only first parents.
    std::size_t generation = 0;
    // True for the best step and its ancestors.
    bool is_on_line_of_best = false;
    // True if the step is drawn in a box with its siblings.
    bool is_in_box = false;
    // The position in pixels.
    double x = 0, y = 0;
  };
  // A rectangle around steps without children that have the same parent.
  struct Box {
    std::optional<std::size_t> parent;
    // The position of the first step in the box.
    double x = 0, y = 0;
    std::size_t columns = 0, rows = 0;
  };
  std::vector<Node> nodes;
  std::vector<Box> boxes;
  // The size of the picture in pixels.
  double width = 0, height = 0;
};

// Arranges the steps that the report shows with their texts, at most kMaxTreeSteps of them. The
// line of the best is a vertical line at x = `left`; all other steps are to the right of it.
// Subtrees do not overlap.
FamilyTree family_tree(const SearchReport& report, double left);

}  // namespace groma::tuning
