// Arranges the family tree of a search, without recursion: a tree may be as deep as it has steps.
#include "search_report/family_tree.h"

#include <algorithm>
#include <cmath>

namespace groma::tuning {
namespace {

// Half of the width that a step and the border of a box need, and the gap between two blocks, in
// pixels.
constexpr double kHalfNode = 9, kBoxBorder = 12, kBlockGap = 7;
// The distance between two rows of a tree with at most kMaxWideRows rows, and of a deeper one.
constexpr double kWideRow = 40, kNarrowRow = 28;
constexpr std::size_t kMaxWideRows = 16;
// The space above the first row and below the last one.
constexpr double kTreeMargin = 18;
// Siblings without children get a box if there are more of them than this.
constexpr std::size_t kMaxSingles = 3;
constexpr std::size_t kMaxBoxColumns = 24;

// The space that a block of the tree takes in one row, relative to the block's position.
struct RowExtent {
  double left = 0, right = 0;
};
// The rows of a block, the lowest one first.
using Contour = std::vector<RowExtent>;

// Returns how far a block must be moved to the right so that it does not touch `placed`. The last
// elements of both contours are about the same row.
double offset_beside(const Contour& placed, const Contour& block) {
  double offset = 0;
  for (std::size_t i = 1; i <= std::min(placed.size(), block.size()); ++i) {
    offset = std::max(offset,
                      placed[placed.size() - i].right + kBlockGap - block[block.size() - i].left);
  }
  return offset;
}

// Adds a block that was moved by `offset` to the contour of what stands to the left of it.
void add_block(const Contour& block, double offset, Contour* placed) {
  if (block.size() > placed->size()) {
    const auto deeper = static_cast<std::ptrdiff_t>(block.size() - placed->size());
    placed->insert(placed->begin(), block.begin(), block.begin() + deeper);
    for (auto row = placed->begin(); row != placed->begin() + deeper; ++row) {
      row->left += offset;
      row->right += offset;
    }
    for (std::size_t i = static_cast<std::size_t>(deeper); i < block.size(); ++i) {
      (*placed)[i].right = block[i].right + offset;
    }
    return;
  }
  for (std::size_t i = 1; i <= block.size(); ++i) {
    (*placed)[placed->size() - i].right = block[block.size() - i].right + offset;
  }
}

class TreeLayout {
 public:
  TreeLayout(const SearchReport& report, double left) : report_(report), left_(left) {}

  FamilyTree make() {
    choose_nodes();
    find_parents();
    find_offsets();
    place();
    return std::move(tree_);
  }

 private:
  // The children of a node, as the blocks in which they are drawn. The last element of `families_`
  // holds the nodes without a parent.
  struct Family {
    std::vector<std::size_t> children, boxed;
    double box_offset = 0;
    std::size_t box_columns = 0;
    std::size_t descendants = 0;
  };

  void choose_nodes();
  void find_parents();
  void find_offsets();
  Contour contour_of(Family& family);
  void place();

  const SearchReport& report_;
  const double left_;
  FamilyTree tree_;
  std::vector<Family> families_;
  std::vector<Contour> contours_;
  // The horizontal distance of each node from its parent.
  std::vector<double> offsets_;
};

// If the report shows too many steps, keeps the start, the end of the line of the best, and the
// last steps.
void TreeLayout::choose_nodes() {
  std::vector<bool> is_on_line(report_.results.size()), is_kept(report_.results.size());
  std::size_t kept = 0;
  const auto keep = [&](std::size_t index) {
    if (kept < kMaxTreeSteps && !is_kept[index]) {
      is_kept[index] = true;
      ++kept;
    }
  };
  const std::vector<std::size_t>& line = report_.line_of_best;
  std::vector<bool> is_shown(report_.results.size());
  for (const ReportedStep& step : report_.steps) is_shown[step.index] = true;
  for (const std::size_t index : line) is_on_line[index] = true;
  if (!report_.steps.empty()) keep(report_.steps.front().index);
  for (std::size_t i = line.size(); i-- > 0 && kept < kMaxTreeSteps / 2;) {
    if (is_shown[line[i]]) keep(line[i]);
  }
  for (std::size_t i = report_.steps.size(); i-- > 0;) keep(report_.steps[i].index);
  for (std::size_t i = 0; i < is_kept.size(); ++i) {
    if (!is_kept[i]) continue;
    FamilyTree::Node& node = tree_.nodes.emplace_back();
    node.result = i;
    node.is_on_line_of_best = is_on_line[i];
  }
}

// Parents stand before their children in the results, so one pass finds the nearest ancestor in the
// tree of every result.
void TreeLayout::find_parents() {
  struct Ancestry {
    std::optional<std::size_t> node;
    std::size_t left_out = 0, generation = 0;
  };
  std::vector<Ancestry> above(report_.results.size());
  std::vector<std::optional<std::size_t>> node_of(report_.results.size());
  for (std::size_t i = 0; i < tree_.nodes.size(); ++i) node_of[tree_.nodes[i].result] = i;
  families_.resize(tree_.nodes.size() + 1);
  for (std::size_t i = 0; i < report_.results.size(); ++i) {
    const auto& parents = report_.results[i].parents;
    if (!parents.empty()) {
      const std::size_t parent = parents.front();
      above[i] = node_of[parent] ? Ancestry{node_of[parent], 0, 0}
                                 : Ancestry{above[parent].node, above[parent].left_out + 1, 0};
      above[i].generation = above[parent].generation + 1;
    }
    if (!node_of[i]) continue;
    FamilyTree::Node& node = tree_.nodes[*node_of[i]];
    node.parent = above[i].node;
    node.left_out = above[i].left_out;
    node.generation = above[i].generation;
    families_[node.parent.value_or(tree_.nodes.size())].children.push_back(*node_of[i]);
  }
}

// Works from the children to their parents.
void TreeLayout::find_offsets() {
  offsets_.resize(tree_.nodes.size());
  contours_.resize(tree_.nodes.size());
  for (std::size_t i = tree_.nodes.size(); i-- > 0;) {
    contours_[i] = contour_of(families_[i]);
    contours_[i].push_back({-kHalfNode, kHalfNode});
  }
  contour_of(families_.back());
}

// Puts the blocks of a family side by side. First comes the child on the line of the best, or else
// the one with the most descendants; then the children without children; then the others.
Contour TreeLayout::contour_of(Family& family) {
  std::optional<std::size_t> first;
  std::vector<std::size_t> leaves, others;
  const auto rank = [&](std::size_t child) {
    return std::pair(tree_.nodes[child].is_on_line_of_best, families_[child].descendants);
  };
  for (const std::size_t child : family.children) {
    family.descendants += 1 + families_[child].descendants;
    if (rank(child) > std::pair<bool, std::size_t>(false, 0) &&
        (!first || rank(child) > rank(*first)))
      first = child;
  }
  for (const std::size_t child : family.children) {
    if (first == child) continue;
    (families_[child].descendants == 0 ? leaves : others).push_back(child);
  }
  Contour placed;
  const auto put = [&](std::size_t child) {
    offsets_[child] = offset_beside(placed, contours_[child]);
    add_block(contours_[child], offsets_[child], &placed);
    contours_[child] = {};
  };
  if (first) put(*first);
  if (leaves.size() > kMaxSingles) {
    const double wanted = std::ceil(std::sqrt(2.5 * static_cast<double>(leaves.size())));
    family.box_columns = std::clamp(static_cast<std::size_t>(wanted), kMaxSingles, kMaxBoxColumns);
    const double right = static_cast<double>(family.box_columns - 1) * FamilyTree::kCell;
    const Contour box = {{-kBoxBorder, right + kBoxBorder}};
    family.box_offset = offset_beside(placed, box);
    add_block(box, family.box_offset, &placed);
    family.boxed = std::move(leaves);
  } else {
    for (const std::size_t leaf : leaves) put(leaf);
  }
  for (const std::size_t other : others) put(other);
  return placed;
}

// Works from the parents to their children: first the rows and x, then the heights of the rows.
void TreeLayout::place() {
  std::vector<std::size_t> row(tree_.nodes.size());
  std::vector<double> extra;
  struct PlacedBox {
    std::size_t family = 0, row = 0;
  };
  std::vector<PlacedBox> boxes;
  const auto visit_box = [&](std::size_t family, double x, std::size_t at) {
    const Family& of = families_[family];
    if (of.boxed.empty()) return;
    FamilyTree::Box& box = tree_.boxes.emplace_back();
    if (family < tree_.nodes.size()) box.parent = family;
    box.x = x + of.box_offset;
    box.columns = std::min(of.box_columns, of.boxed.size());
    box.rows = (of.boxed.size() + of.box_columns - 1) / of.box_columns;
    boxes.push_back({family, at});
    extra.resize(std::max(extra.size(), at + 1));
    extra[at] = std::max(extra[at], static_cast<double>(box.rows - 1) * FamilyTree::kCell + 8);
  };
  for (const auto& family : families_) {
    for (const std::size_t node : family.boxed) tree_.nodes[node].is_in_box = true;
  }
  visit_box(tree_.nodes.size(), left_, 0);
  std::size_t rows = 1;
  for (std::size_t i = 0; i < tree_.nodes.size(); ++i) {
    FamilyTree::Node& node = tree_.nodes[i];
    if (node.parent) row[i] = row[*node.parent] + 1;
    rows = std::max(rows, row[i] + 1);
    if (node.is_in_box) continue;
    node.x = (node.parent ? tree_.nodes[*node.parent].x : left_) + offsets_[i];
    tree_.width = std::max(tree_.width, node.x + kHalfNode);
    visit_box(i, node.x, row[i] + 1);
  }
  extra.resize(rows);
  std::vector<double> top(rows, kTreeMargin);
  const double distance = rows > kMaxWideRows ? kNarrowRow : kWideRow;
  for (std::size_t r = 1; r < rows; ++r) top[r] = top[r - 1] + extra[r - 1] + distance;
  for (std::size_t i = 0; i < tree_.nodes.size(); ++i) tree_.nodes[i].y = top[row[i]];
  for (std::size_t b = 0; b < boxes.size(); ++b) {
    FamilyTree::Box& box = tree_.boxes[b];
    box.y = top[boxes[b].row];
    const std::vector<std::size_t>& boxed = families_[boxes[b].family].boxed;
    for (std::size_t i = 0; i < boxed.size(); ++i) {
      FamilyTree::Node& node = tree_.nodes[boxed[i]];
      node.x = box.x + static_cast<double>(i % box.columns) * FamilyTree::kCell;
      node.y = box.y + static_cast<double>(i / box.columns) * FamilyTree::kCell;
    }
    tree_.width = std::max(
        tree_.width, box.x + static_cast<double>(box.columns - 1) * FamilyTree::kCell + kBoxBorder);
  }
  tree_.width += kTreeMargin;
  tree_.height = top.back() + extra.back() + kTreeMargin;
}

}  // namespace

FamilyTree family_tree(const SearchReport& report, double left) {
  return TreeLayout(report, left).make();
}

}  // namespace groma::tuning
