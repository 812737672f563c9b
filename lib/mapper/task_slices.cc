// Packs slices into bytes. Each slice is a byte that says what changed since the slice before,
// followed by the changes.
#include "groma/task_slices.h"

namespace groma {
namespace {

// The first byte of a packed slice holds flags. kFollows: the slice begins where the slice before
// it ends in the last dimension.
constexpr unsigned kFollows = 1;
// kSameExtents: the extents and the number of dimensions are those of the slice before.
constexpr unsigned kSameExtents = 2;
// kSameKind, kSameNode, kSameIndex: the kind, the node or the index of the processor is that of the
// slice before.
constexpr unsigned kSameKind = 4;
constexpr unsigned kSameNode = 8;
constexpr unsigned kSameIndex = 16;
constexpr unsigned kRecurse = 32;
constexpr unsigned kStealable = 64;

// Returns the difference modulo 2^64, so that any two numbers have one.
std::uint64_t difference(std::int64_t to, std::int64_t from) {
  return static_cast<std::uint64_t>(to) - static_cast<std::uint64_t>(from);
}
std::int64_t moved(std::int64_t from, std::uint64_t difference) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(from) + difference);
}

// folded() maps small numbers of either sign to small numbers (zigzag encoding), and unfolded()
// does the reverse.
std::uint64_t folded(std::uint64_t change) { return change << 1 ^ (0 - (change >> 63)); }
std::uint64_t unfolded(std::uint64_t folded) { return folded >> 1 ^ (0 - (folded & 1)); }

// Returns a coordinate of the point, or 0 in a dimension that the point does not have.
std::int64_t coordinate(const Point& point, int d) { return d < point.dimensions() ? point[d] : 0; }

bool same(const Point& a, const Point& b) {
  bool equal = a.dimensions() == b.dimensions();
  for (int d = 0; d < a.dimensions() && equal; ++d) equal = a[d] == b[d];
  return equal;
}

// Moves `lower` along the last dimension by the extent of a box.
void step_over(const Point& extents, Point& lower) {
  const int last = extents.dimensions() - 1;
  lower[last] = moved(lower[last], static_cast<std::uint64_t>(extents[last]));
}

// Returns true if a box with the lower corner `lower` begins where the box `before` ends in the
// last dimension, and where it begins in all other dimensions.
bool follows(const Point& lower, const Rect& before) {
  const int last = before.dimensions() - 1;
  if (last < 0 || lower.dimensions() != before.dimensions()) return false;
  for (int d = 0; d < last; ++d) {
    if (lower[d] != before.lower[d]) return false;
  }
  const auto extent = static_cast<std::uint64_t>(before.extents[last]);
  return lower[last] == moved(before.lower[last], extent);
}

}  // namespace

// Appends a number with seven bits in each byte, the lowest bits first. The eighth bit says that
// more bytes follow.
void TaskSlices::add_number(std::uint64_t change) {
  std::uint64_t number = folded(change);
  for (; number >= 128; number >>= 7) packed_.push_back(static_cast<std::uint8_t>(number | 128));
  packed_.push_back(static_cast<std::uint8_t>(number));
}

// Appends a slice. Only what differs from the last slice is stored.
void TaskSlices::push_back(const TaskSlice& slice) {
  const Point &lower = slice.box.lower, &extents = slice.box.extents;
  const Processor &to = slice.processor, &from = last_.processor;
  const bool same_extents =
      same(extents, last_.box.extents) && lower.dimensions() == last_.box.lower.dimensions();
  const bool goes_on = same_extents && follows(lower, last_.box);
  const unsigned flags = (goes_on ? kFollows : 0U) | (same_extents ? kSameExtents : 0U) |
                         (to.kind == from.kind ? kSameKind : 0U) |
                         (to.node == from.node ? kSameNode : 0U) |
                         (to.index == from.index ? kSameIndex : 0U) |
                         (slice.recurse ? kRecurse : 0U) | (slice.stealable ? kStealable : 0U);
  packed_.push_back(static_cast<std::uint8_t>(flags));
  if ((flags & kSameKind) == 0) packed_.push_back(static_cast<std::uint8_t>(to.kind));
  if ((flags & kSameNode) == 0) add_number(difference(to.node, from.node));
  if ((flags & kSameIndex) == 0) add_number(difference(to.index, from.index));
  if (!same_extents) {
    packed_.push_back(static_cast<std::uint8_t>(extents.dimensions()));
    packed_.push_back(static_cast<std::uint8_t>(lower.dimensions()));
    for (const std::int64_t x : extents.coordinates()) add_number(difference(x, 0));
  }
  for (int d = 0; d < lower.dimensions() && !goes_on; ++d) {
    add_number(difference(lower[d], coordinate(last_.box.lower, d)));
  }
  last_ = slice;
  ++count_;
}

void TaskSlices::clear() {
  packed_.clear();
  count_ = 0;
  last_ = {};
}

// Reads the next slice, as push_back() wrote it.
void TaskSlices::const_iterator::unpack() {
  const auto number = [this] {
    std::uint64_t folded = 0;
    for (int shift = 0;; shift += 7) {
      const std::uint64_t byte = *at_++;
      folded |= (byte & 127) << shift;
      if (byte < 128) return unfolded(folded);
    }
  };
  const unsigned flags = *at_++;
  Processor& processor = slice_.processor;
  if ((flags & kSameKind) == 0) processor.kind = static_cast<ProcKind>(*at_++);
  if ((flags & kSameNode) == 0) processor.node = moved(processor.node, number());
  if ((flags & kSameIndex) == 0) processor.index = moved(processor.index, number());
  slice_.recurse = (flags & kRecurse) != 0;
  slice_.stealable = (flags & kStealable) != 0;
  Point &lower = slice_.box.lower, &extents = slice_.box.extents;
  if ((flags & kFollows) != 0) {
    step_over(extents, lower);
    return;
  }
  const Point before = lower;
  if ((flags & kSameExtents) == 0) {
    extents = Point::zeros(*at_++);
    lower = Point::zeros(*at_++);
    for (int d = 0; d < extents.dimensions(); ++d) extents[d] = moved(0, number());
  }
  for (int d = 0; d < lower.dimensions(); ++d) lower[d] = moved(coordinate(before, d), number());
}

}  // namespace groma
