// TaskSlices: any slices come back as they were added; what launches are cut into takes a few bytes
// for a slice, and names every point once.
#include "groma/task_slices.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <random>
#include <string>
#include <vector>

#include "unit/mapper/hooks.h"

namespace groma::test {
namespace {

using ::testing::IsEmpty;

// Mostly like the slice before, now and then anything that a mapper could write.
class AnySlices {
 public:
  explicit AnySlices(std::uint32_t seed) : random_(seed) {}

  TaskSlice next() {
    if (one_in(3)) slice_.box.lower = point(one_in(8) ? below(10) : slice_.box.dimensions());
    if (one_in(4)) slice_.box.extents = point(one_in(8) ? below(10) : slice_.box.dimensions());
    const int last = slice_.box.lower.dimensions() - 1;
    if (one_in(2) && last >= 0) slice_.box.lower[last] += one_in(2) ? 1 : 0;
    if (one_in(3)) slice_.processor.kind = static_cast<ProcKind>(below(one_in(4) ? 256 : 4));
    if (one_in(2)) slice_.processor.node = number();
    if (one_in(2)) slice_.processor.index = number();
    slice_.recurse = one_in(5);
    slice_.stealable = one_in(2);
    return slice_;
  }

 private:
  int below(std::uint32_t n) { return static_cast<int>(random_() % n); }
  bool one_in(std::uint32_t n) { return below(n) == 0; }
  std::int64_t number() {
    switch (below(6)) {
      case 0:
        return std::numeric_limits<std::int64_t>::max();
      case 1:
        return std::numeric_limits<std::int64_t>::min();
      case 2:
        return static_cast<std::int64_t>(std::uint64_t{random_()} << 32 | random_());
      default:
        return below(300) - 150;
    }
  }
  Point point(int dimensions) {
    Point made = Point::zeros(dimensions);
    for (int d = 0; d < dimensions; ++d) made[d] = number() / 4;
    return made;
  }

  std::mt19937 random_;
  TaskSlice slice_;
};

TEST(TaskSlices, GiveBackWhatWasAdded) {
  TaskSlices slices;  // used again and again
  for (std::uint32_t seed = 1; seed <= 300; ++seed) {
    AnySlices any(seed);
    std::vector<TaskSlice> expected;
    for (std::uint32_t i = 0; i < seed % 40; ++i) expected.push_back(any.next());
    slices.clear();
    for (const TaskSlice& slice : expected) slices.push_back(slice);
    EXPECT_EQ(slices.size(), expected.size());
    EXPECT_EQ(slices.empty(), expected.empty());
    EXPECT_EQ(list_of(slices), expected) << "seed " << seed;
    const TaskSlices copy = slices;
    EXPECT_EQ(list_of(copy), expected);
  }
}

TEST(TaskSlices, TakeThreeBytesWhereTheyFollowEachOther) {
  TaskSlices slices;
  for (std::int64_t i = 0; i < 1'000'000; ++i) {
    slices.push_back({{{i}, {1}}, gpu(i / 4 % 16, i % 4), false, false});
  }
  EXPECT_LE(slices.bytes(), 3'000'010U);
}

// Whether every point of the launch is in exactly one slice.
std::string covers_once(const TaskSlices& slices, const Rect& domain) {
  std::vector<bool> seen(static_cast<std::size_t>(domain.volume()));
  for (const TaskSlice& slice : slices) {
    Point point = slice.box.lower;
    do {
      std::int64_t at = 0;
      for (int d = 0; d < point.dimensions(); ++d) {
        at = at * domain.extents[d] + point[d] - domain.lower[d];
      }
      if (!domain.contains(point)) return "a point outside";
      if (seen[static_cast<std::size_t>(at)]) return fmt::format("point {} twice", at);
      seen[static_cast<std::size_t>(at)] = true;
    } while (next_point(slice.box, &point));
  }
  const auto missing = std::find(seen.begin(), seen.end(), false);
  return missing == seen.end() ? "" : fmt::format("not point {}", missing - seen.begin());
}

constexpr std::string_view kCyclic = R"(
Task * GPU;
m = Machine(GPU);
def number(Task t) { return t.ispace.len == 1 ? t.ipoint[0]
                          : t.ispace.len == 2 ? t.ipoint[0] * t.ispace[1] + t.ipoint[1]
                          : (t.ipoint[0] * t.ispace[1] + t.ipoint[1]) * t.ispace[2] + t.ipoint[2]; }
def processors_first(Task t) { i = number(t); return m[i / m.size[1] % m.size[0], i % m.size[1]]; }
def nodes_first(Task t) { i = number(t); return m[i % m.size[0], i / m.size[0] % m.size[1]]; }
def by_column(Task t) { return m[t.ipoint[0] % m.size[0], t.ipoint[0] / m.size[0] % m.size[1]]; }
def scattered(Task t) { i = number(t) * 37 % 1009; return m[i % m.size[0], i % m.size[1]]; }
def backwards(Task t) { i = t.ispace.volume - 1 - number(t); return m[i % m.size[0], i % m.size[1]]; }
IndexTaskMap processors_first processors_first;
IndexTaskMap nodes_first nodes_first;
IndexTaskMap by_column by_column;
IndexTaskMap scattered scattered;
IndexTaskMap backwards backwards;
TaskSteal stolen GPU ANY_NODE;
IndexTaskMap stolen nodes_first;
TaskSteal stolen_blocks GPU ANY_NODE;
)";

TEST(TaskSlices, OfCyclicLaunchesTakeFewBytesAndNameEveryPointOnce) {
  Mapping mapping(std::string(kCyclic), machine_of("nodes=5,gpu=4"));
  ProgramMapper& mapper = mapping.on(gpu(0, 0));
  TaskId id = 1;
  for (const char* name : {"processors_first", "nodes_first", "by_column", "scattered", "backwards",
                           "stolen", "stolen_blocks", "blocks"}) {
    FakeTask task(name, {ProcKind::kGpu}, id++);
    for (const Rect& domain :
         {rect({5'000}), rect({70, 71}), Rect{{-3, 1'000'000}, {40, 130}}, rect({1'300, 3}),
          Rect{{9, -4, 1'000}, {17, 18, 19}}, rect({1, 1, 4'001})}) {
      task.launch(domain);
      const TaskView view = task.at(gpu(0, 0));
      const SliceTaskOutput answer = slices_of(mapper, view, domain);
      ASSERT_FALSE(answer.failure) << name;
      EXPECT_THAT(text_of(validate(answer, view, domain, mapping.machine())), IsEmpty()) << name;
      EXPECT_EQ(covers_once(answer.slices, domain), "") << name;
      // 16 bytes a point are the most; these are all points that differ from their neighbours.
      EXPECT_LT(answer.slices.bytes(), 6 * static_cast<std::size_t>(domain.volume())) << name;
    }
  }
}

}  // namespace
}  // namespace groma::test
