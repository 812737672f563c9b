// Ranks and unranks the points of unions and differences of boxes by the numbers of points before
// intervals of coordinates.
#include "domain/box_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

namespace groma::domains {
namespace {

// Values of a coordinate for which the rest of the set is the same.
struct BoxInterval {
  std::int64_t begin = 0, end = 0;  // `end` is not in the interval
  // The number of points before `begin` in the node, and the points for one value.
  std::int64_t before = 0, inside = 0;
  // The node of the rest of the set. Without meaning for the innermost coordinate.
  std::size_t rest = 0;
};

// The cuts of one coordinate: the place of its intervals in a common list.
struct BoxNode {
  std::size_t first = 0, last = 0;
};

// Cuts boxes into intervals. Equal rests become one node.
class BoxCutter {
 public:
  BoxCutter(const std::vector<Box>& in, const std::vector<Box>& out,
            const std::vector<std::size_t>& order)
      : in_(in), out_(out), order_(order) {}

  // Returns false if there are too many intervals.
  bool run() {
    std::vector<std::size_t> all_in(in_.size()), all_out(out_.size());
    for (std::size_t i = 0; i < all_in.size(); ++i) all_in[i] = i;
    for (std::size_t i = 0; i < all_out.size(); ++i) all_out[i] = i;
    root_ = cut(0, all_in, all_out).node;
    return !failed_;
  }

  std::vector<BoxInterval> intervals;
  std::vector<BoxNode> nodes;
  std::size_t root() const { return root_; }

 private:
  struct Rest {
    std::int64_t count = 0;
    std::size_t node = 0;
  };
  using Numbers = std::vector<std::size_t>;

  // Returns the rest of the set for the coordinates from `depth` on, if these boxes contain the
  // outer coordinates.
  Rest cut(std::size_t depth, const Numbers& in, const Numbers& out) {
    if (depth == order_.size()) return {out.empty() ? 1 : 0, 0};
    constexpr std::size_t kMaxCuts = std::size_t{1} << 17;
    failed_ = failed_ || ++cuts_ > kMaxCuts || intervals.size() > kMaxIntervals;
    if (failed_) return {};
    const std::size_t c = order_[depth];
    std::vector<std::int64_t> ends;
    const auto add_ends = [&](const std::vector<Box>& boxes, const Numbers& numbers) {
      for (std::size_t i : numbers) {
        ends.push_back(boxes[i].lower[c]);
        ends.push_back(boxes[i].upper[c] + 1);
      }
    };
    add_ends(in_, in);
    add_ends(out_, out);
    std::sort(ends.begin(), ends.end());
    ends.erase(std::unique(ends.begin(), ends.end()), ends.end());
    std::vector<BoxInterval> found;
    std::int64_t count = 0;
    for (std::size_t e = 0; e + 1 < ends.size(); ++e) {
      const Numbers here = covering(in_, in, c, ends[e]);
      if (here.empty()) continue;
      const Rest rest = cut(depth + 1, here, covering(out_, out, c, ends[e]));
      if (rest.count == 0) continue;
      if (!found.empty() && found.back().end == ends[e] && found.back().rest == rest.node) {
        found.back().end = ends[e + 1];
      } else {
        found.push_back({ends[e], ends[e + 1], count, rest.count, rest.node});
      }
      count += rest.count * (ends[e + 1] - ends[e]);
    }
    return {count, node_of(depth, found)};
  }

  static Numbers covering(const std::vector<Box>& boxes, const Numbers& numbers, std::size_t c,
                          std::int64_t value) {
    Numbers all;
    std::copy_if(numbers.begin(), numbers.end(), std::back_inserter(all), [&](std::size_t i) {
      return boxes[i].lower[c] <= value && value <= boxes[i].upper[c];
    });
    return all;
  }

  std::size_t node_of(std::size_t depth, const std::vector<BoxInterval>& found) {
    std::vector<std::int64_t> key = {static_cast<std::int64_t>(depth)};
    for (const BoxInterval& each : found) {
      key.insert(key.end(), {each.begin, each.end, static_cast<std::int64_t>(each.rest)});
    }
    const auto [entry, is_new] = known_.emplace(std::move(key), nodes.size());
    if (is_new) {
      nodes.push_back({intervals.size(), intervals.size() + found.size()});
      intervals.insert(intervals.end(), found.begin(), found.end());
    }
    return entry->second;
  }

  const std::vector<Box>&in_, &out_;
  const std::vector<std::size_t>& order_;
  std::map<std::vector<std::int64_t>, std::size_t> known_;
  std::size_t root_ = 0, cuts_ = 0;
  bool failed_ = false;
};

class BoxMap final : public PointMap {
 public:
  BoxMap(BoxCutter cutter, int dimensions, std::vector<std::size_t> order)
      : intervals_(std::move(cutter.intervals)),
        nodes_(std::move(cutter.nodes)),
        root_(cutter.root()),
        order_(std::move(order)) {
    dimensions_ = dimensions;
    if (nodes_[root_].first == nodes_[root_].last) return;
    const BoxInterval& last = intervals_[nodes_[root_].last - 1];
    count_ = last.before + last.inside * (last.end - last.begin);
    lower_.fill(INT64_MAX);
    upper_.fill(INT64_MIN);
    std::vector<bool> seen(nodes_.size());
    set_bounds(0, root_, seen);
  }

  void unrank(std::int64_t k, Coordinates& point) const override { find(k, point); }

  void unrank_many(std::int64_t k, std::size_t count, std::int64_t* out) const override {
    const auto width = static_cast<std::size_t>(dimensions_);
    const std::size_t inner = order_.back();
    Coordinates point;
    while (count > 0) {
      const BoxInterval& last = find(k, point);
      const auto here = static_cast<std::size_t>(
          std::min(static_cast<std::int64_t>(count), last.end - point[inner]));
      for (std::size_t i = 0; i < here; ++i, ++point[inner]) {
        for (std::size_t d = 0; d < width; ++d) *out++ = point[d];
      }
      k += static_cast<std::int64_t>(here);
      count -= here;
    }
  }

  std::int64_t rank(const Coordinates& point) const override {
    std::int64_t k = 0;
    std::size_t node = root_;
    for (const std::size_t c : order_) {
      const auto first = intervals_.begin() + static_cast<std::ptrdiff_t>(nodes_[node].first);
      const auto last = intervals_.begin() + static_cast<std::ptrdiff_t>(nodes_[node].last);
      const auto found = std::partition_point(
          first, last, [&](const BoxInterval& each) { return each.end <= point[c]; });
      if (found == last || point[c] < found->begin) return -1;
      k += found->before + (point[c] - found->begin) * found->inside;
      node = found->rest;
    }
    return k;
  }

  Proof proof() const override {
    return {Proof::Kind::kBoxes,
            fmt::format("the boxes were cut into {} intervals of coordinates, which share no "
                        "value, and the points before each interval were counted",
                        intervals_.size())};
  }

  std::optional<std::vector<Box>> boxes() const override {
    std::vector<Box> all;
    Box box;
    if (!collect(0, root_, box, all)) return std::nullopt;
    return all;
  }
  std::vector<std::size_t> loop_order() const override { return order_; }

 private:
  // Writes the k-th point. Returns the interval of its innermost coordinate.
  const BoxInterval& find(std::int64_t k, Coordinates& point) const {
    std::size_t node = root_;
    const BoxInterval* interval = nullptr;
    for (const std::size_t c : order_) {
      const auto first = intervals_.begin() + static_cast<std::ptrdiff_t>(nodes_[node].first);
      const auto last = intervals_.begin() + static_cast<std::ptrdiff_t>(nodes_[node].last);
      interval = &*(std::partition_point(
                        first, last, [&](const BoxInterval& each) { return each.before <= k; }) -
                    1);
      k -= interval->before;
      const std::int64_t steps = interval->inside == 1 ? k : k / interval->inside;
      point[c] = interval->begin + steps;
      k -= steps * interval->inside;
      node = interval->rest;
    }
    return *interval;
  }

  void set_bounds(std::size_t depth, std::size_t node, std::vector<bool>& seen) {
    // Nodes belong to one depth; an innermost interval has no rest.
    if (depth == order_.size() || seen[node]) return;
    seen[node] = true;
    const std::size_t c = order_[depth];
    for (std::size_t i = nodes_[node].first; i < nodes_[node].last; ++i) {
      lower_[c] = std::min(lower_[c], intervals_[i].begin);
      upper_[c] = std::max(upper_[c], intervals_[i].end - 1);
      set_bounds(depth + 1, intervals_[i].rest, seen);
    }
  }

  // Appends the boxes of a node. Returns false if there are too many.
  bool collect(std::size_t depth, std::size_t node, Box& box, std::vector<Box>& all) const {
    if (depth == order_.size()) {
      all.push_back(box);
      return all.size() <= kMaxBoxes;
    }
    for (std::size_t i = nodes_[node].first; i < nodes_[node].last; ++i) {
      box.lower[order_[depth]] = intervals_[i].begin;
      box.upper[order_[depth]] = intervals_[i].end - 1;
      if (!collect(depth + 1, intervals_[i].rest, box, all)) return false;
    }
    return true;
  }

  std::vector<BoxInterval> intervals_;
  std::vector<BoxNode> nodes_;
  std::size_t root_;
  std::vector<std::size_t> order_;
};

}  // namespace

PointMapPtr make_box_map(const std::vector<Box>& in, const std::vector<Box>& out, int dimensions,
                         const std::vector<std::size_t>& order) {
  BoxCutter cutter(in, out, order);
  if (!cutter.run()) return nullptr;
  return std::make_shared<BoxMap>(std::move(cutter), dimensions, order);
}

PointMapPtr PointMap::without(const std::vector<Box>& out) const {
  const std::vector<std::size_t> order = loop_order();
  const auto in = order.empty() ? std::nullopt : boxes();
  return in ? make_box_map(*in, out, dimensions_, order) : nullptr;
}

std::optional<Coordinates> shared_point(const std::vector<Box>& a, const std::vector<Box>& b,
                                        int dimensions) {
  for (const Box& left : a) {
    for (const Box& right : b) {
      Coordinates point{};
      bool is_shared = true;
      for (std::size_t d = 0; d < static_cast<std::size_t>(dimensions) && is_shared; ++d) {
        point[d] = std::max(left.lower[d], right.lower[d]);
        is_shared = point[d] <= std::min(left.upper[d], right.upper[d]);
      }
      if (is_shared) return point;
    }
  }
  return std::nullopt;
}

}  // namespace groma::domains
