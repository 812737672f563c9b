// Checks the slices of a launch: each point must be in exactly one slice. The cost does not depend
// on the number of points.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "base/point_text.h"
#include "evaluate/processors.h"
#include "groma/validate.h"
#include "mapper/default_policy.h"
#include "mapper/refusals.h"

namespace groma {
namespace {

using mapper::Refusals;
using mapper::text_of;

// A hash of a set of boxes. Two sets have the same hash if they hold every point equally often.
// Otherwise their hashes are equal only with a chance of 2^-57.
//
// Each coordinate of each dimension has a random weight modulo a prime. The weight of a point is
// the product of its coordinates' weights, so the weight of a box is a product with one factor for
// each dimension, whatever its number of points. The chance follows from the lemma of Schwartz and
// Zippel, for 9 dimensions.
class BoxFingerprint {
 public:
  // Adds the weight of a box.
  void add(const Rect& box) {
    std::uint64_t weight = 1;
    for (int d = 0; d < box.dimensions(); ++d) {
      BoxSide& side = sides_[static_cast<std::size_t>(d)];
      const std::int64_t begin = box.lower[d], end = box.lower[d] + box.extents[d];
      if (!side.known || begin != side.begin || end != side.end) {
        // Most slices begin where the last one ends.
        const bool follows = side.known && begin == side.end;
        const std::uint64_t below = follows ? side.below_end : weight_below(d, begin);
        const std::uint64_t below_end = weight_below(d, end);
        side = {true, begin, end, below_end, below_end + kPrime - below};
      }
      weight = reduce(static_cast<Wide>(weight) * side.weight);
    }
    sum_ = reduce(static_cast<Wide>(sum_) + weight);
  }
  friend bool operator==(const BoxFingerprint& a, const BoxFingerprint& b) {
    return a.sum_ == b.sum_;
  }

 private:
  __extension__ typedef unsigned __int128 Wide;
  static constexpr std::uint64_t kPrime = (std::uint64_t{1} << 61) - 1;

  // One dimension of the box that was added last.
  struct BoxSide {
    bool known = false;
    std::int64_t begin = 0, end = 0;
    std::uint64_t below_end = 0;  // The weight of all coordinates below `end`.
    std::uint64_t weight = 0;     // The weight of all coordinates from `begin` up to `end`.
  };

  // Returns the remainder modulo the prime. The prime is one less than a power of two, so the high
  // part of a number can be added to its low part.
  static std::uint64_t reduce(Wide value) {
    const Wide once = (value & kPrime) + (value >> 61);
    const auto twice = static_cast<std::uint64_t>((once & kPrime) + (once >> 61));
    return twice >= kPrime ? twice - kPrime : twice;
  }
  // Returns the weight of all coordinates of dimension d below x together (splitmix64).
  static std::uint64_t weight_below(int d, std::int64_t x) {
    std::uint64_t z = static_cast<std::uint64_t>(x) + 0x9E3779B97F4A7C15U;
    for (int round = 0; round < 2; ++round) {
      z += static_cast<std::uint64_t>(d + 1) * 0xD1342543DE82EF95U;
      z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
      z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
      z ^= z >> 31;
    }
    return z % kPrime;
  }

  std::array<BoxSide, kMaxDimensions> sides_;
  std::uint64_t sum_ = 0;
};

// Returns true if a box is not empty and lies in the domain.
bool inside(const Rect& box, const Rect& domain) {
  if (box.dimensions() != domain.dimensions()) return false;
  for (int d = 0; d < box.dimensions(); ++d) {
    if (box.extents[d] <= 0 || box.extents[d] > domain.extents[d]) return false;
    const std::int64_t last = domain.lower[d] + (domain.extents[d] - box.extents[d]);
    if (box.lower[d] < domain.lower[d] || box.lower[d] > last) return false;
  }
  return true;
}

}  // namespace

// Checks an answer of slice_task. If no slice leaves the part, the volumes add up and the hashes
// are equal, then every point of the launch in the part is in exactly one slice.
std::vector<Refusal> validate(const SliceTaskOutput& answer, const TaskView& task, const Rect& part,
                              const Machine& machine) {
  Refusals refusals(task.name, machine);
  const auto refuse = [&](const std::string& what, RefusalCause cause = RefusalCause::kOther) {
    refusals.add_refusal(DiagId::kBadSlices, answer.origin, task.name, what);
    refusals.set_cause(cause);
    return refusals.take();
  };
  if (answer.failure) return {{*answer.failure, answer.origin}};
  std::int64_t volume = 0, points = 0;
  BoxFingerprint whole, slices;
  task.launch_domain().for_each_box(part, [&](const Rect& box) {
    volume += box.volume();
    whole.add(box);
  });
  std::vector<Processor> used;
  // The processor kind of the slice before. The variants are not looked up again for a slice of the
  // same kind.
  std::optional<ProcKind> known;
  for (const TaskSlice& slice : answer.slices) {
    if (!refusals.check_processor("slice_task", slice.processor, answer.origin))
      return refusals.take();
    if (!inside(slice.box, part)) {  // Only a debug build of Legion reports such a slice.
      return refuse(fmt::format("the slice at {} is empty or leaves what was to be cut",
                                text_of(slice.box.lower)));
    }
    const std::int64_t here = slice.box.volume();
    if (here > volume - points) {
      return refuse("two slices hold the same point", RefusalCause::kSlicesOverlap);
    }
    if (slice.recurse && here == volume) {  // Legion would recurse for ever and crash.
      return refuse("a slice that is to be cut again is all that there was to cut");
    }
    const ProcKind kind = slice.processor.kind;
    if (known != kind && !task.variants.empty() && mapper::best_variant(task, kind) == nullptr) {
      return refuse(fmt::format("the slice at {} goes to {}, for which there is no variant",
                                text_of(slice.box.lower), name_of(kind)));
    }
    known = kind;
    // The points of a concurrent launch run at the same time, so each needs a processor for itself.
    // Otherwise Legion reports an error, or the points wait for each other for ever. In a must
    // epoch, map_must_epoch decides instead.
    if (task.concurrent && !task.must_epoch && !slice.recurse) {
      const bool shared = std::find(used.begin(), used.end(), slice.processor) != used.end();
      if (shared || here > 1) {
        return refuse(
            fmt::format("two points of a concurrent launch go to {}", text_of(slice.processor)));
      }
      used.push_back(slice.processor);
    }
    points += here;
    slices.add(slice.box);
  }
  if (points < volume) {  // Legion would wait for the missing points for ever.
    return refuse(fmt::format("at least {} of {} points are in no slice", volume - points, volume));
  }
  if (!(slices == whole)) {
    return refuse("two slices hold the same point, another is in none",
                  RefusalCause::kSlicesOverlap);
  }
  return refusals.take();
}

}  // namespace groma
