// IndexMap: the paper's functions on many machines, slices of the number that they should be, the
// boxes of one processor, launches of any size, errors, sets, single tasks, threads.
#include "groma/index_map.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "groma/dsl_files.h"
#include "groma/machine.h"
#include "groma/program.h"
#include "index_map/specialised_map.h"
#include "support/index_map_check.h"

namespace groma::testing {
namespace {

// A program on a machine, and what is asked of it.
struct Bound {
  Program program;
  std::optional<BoundProgram> bound;

  Bound(std::string_view text, std::string_view machine) {
    const Source source("test.mapper", std::string(text));
    Diagnostics diags(source);
    program = compile(source, diags);
    bound = bind(program, make_machine(machine).value(), diags);
    EXPECT_TRUE(bound) << render(diags);
  }

  FunctionId function(std::string_view name) const { return *program.find_function(name); }
  Diagnostics diags() const { return Diagnostics(program.source()); }

  std::shared_ptr<const IndexMap> map(std::string_view name, const Rect& domain) const {
    TaskPoint launch;
    launch.name = "t";
    launch.domain = domain;
    Diagnostics errors = diags();
    auto made = IndexMap::make(*bound, function(name), launch, ProcKind::kGpu, errors);
    EXPECT_FALSE(errors.has_errors()) << render(errors);
    return made.value();
  }

  std::string compare(std::string_view name, const Rect& domain, IndexMapTally* tally) const {
    TaskPoint launch;
    launch.name = "t";
    launch.domain = domain;
    return compare_with_reference(*bound, function(name), launch, std::nullopt, tally);
  }
};

Rect at(const Point& lower, const Point& extents) { return *Rect::make(lower, extents); }

struct Slice {
  Rect box;
  Processor processor;
};

std::vector<Slice> slices_of(const std::shared_ptr<const IndexMap>& map, const Bound& bound) {
  std::vector<Slice> slices;
  IndexMap::Cursor cursor(map);
  Diagnostics diags = bound.diags();
  EXPECT_TRUE(cursor.slices(
      [&](const Rect& box, ProcessorNumber number) {
        slices.push_back({box, map->processor(number)});
      },
      diags))
      << render(diags);
  return slices;
}

std::vector<Rect> boxes_of(const std::shared_ptr<const IndexMap>& map, const Bound& bound,
                           const Processor& processor) {
  std::vector<Rect> boxes;
  IndexMap::Cursor cursor(map);
  Diagnostics diags = bound.diags();
  EXPECT_TRUE(cursor.boxes_of(
      processor, [&](const Rect& box) { boxes.push_back(box); }, diags));
  return boxes;
}

// Blocks, cycles and both, in any number of dimensions.
constexpr std::string_view kMaps = R"(
m = Machine(GPU)
line = m.merge(0, 1)
def block(Task task) { return line[task.ipoint[0] * line.size[0] / task.ispace[0]]; }
def cyclic(Task task) { return m[task.ipoint[0] % m.size[0], task.ipoint[0] / m.size[0] % m.size[1]]; }
def linearblock(Task task) { return m[task.ipoint[0] / m.size[1], task.ipoint[0] % m.size[1]]; }
def diagonal(Task task) {
  i = task.ipoint[0] + task.ipoint[1];
  return m[i % m.size[0], i / 2 % m.size[1]];
}
def rows(Task task) {
  i = task.ipoint[0] * task.ispace[1] + task.ipoint[1];
  return line[i * line.size[0] / task.ispace.volume];
}
def row_cyclic(Task task) {
  i = task.ipoint[0] * task.ispace[1] + task.ipoint[1];
  return m[i / m.size[1] % m.size[0], i % m.size[1]];
}
def row_cyclic_merged(Task task) {
  i = task.ipoint[0] * task.ispace[1] + task.ipoint[1];
  return line[i % line.volume];
}
def row_cyclic_nodes(Task task) {
  i = task.ipoint[0] * task.ispace[1] + task.ipoint[1];
  return m[i % m.size[0], i / m.size[0] % m.size[1]];
}
def row_cyclic_back(Task task) {
  i = task.ispace.volume - 1 - task.ipoint[0] * task.ispace[1] - task.ipoint[1];
  return line[i % line.volume];
}
def row_cyclic_sets(Task task) { return m[(task.ipoint[0] + task.ipoint[1]) % m.size[0], *]; }
def blocks(Task task) {
  space = task.ispace;
  k = space.len;
  nodes = m.decompose(0, space);
  grid = nodes.decompose(k, (space + nodes.size[:k] - 1) / nodes.size[:k]);
  outer = (space + grid.size[:k] - 1) / grid.size[:k];
  inner = (outer + grid.size[k:] - 1) / grid.size[k:];
  return grid[*task.ipoint / outer, *task.ipoint % outer / inner];
}
def mixed(Task task) {
  space = task.ispace;
  k = space.len;
  nodes = m.auto_split(0, space);
  grid = nodes.auto_split(k, space / nodes.size[:k]);
  return grid[*task.ipoint * grid.size[:k] / space, *task.ipoint % grid.size[k:]];
}
def backwards(Task task) {
  i = task.ispace[0] - 1 - task.ipoint[0];
  return m.reverse(1)[i % m.size[0], i / m.size[0] % m.size[1]];
}
def rotated(Task task) {
  ring = m.merge(0, 1).rotate(0, 3);
  return ring[task.ipoint[0] * ring.size[0] / task.ispace[0]];
}
def corner(Task task) { return m[task.ipoint[0] < 3 ? 0 : 1, task.ipoint[0] == 7 ? 1 : 0]; }
def node_set(Task task) { return m[task.ipoint[0] % m.size[0], *]; }
def column_set(Task task) { return m[*, task.ipoint[0] % m.size[1]]; }
def either(Task task) { return task.ipoint[0] < 5 ? m[0, *] : m[0, 0]; }
def one(Task task) { return m[0, 0]; }
def divides(Task task) { return m[12 / (task.ipoint[0] - 4) % 2 * 0, 0]; }
def wraps(Task task) { return m[task.ipoint[0] * 4611686018427387904 % 2, 0]; }
def chosen(Task task) { return m[0, (0, 1, 1, 0)[task.ipoint[0]]]; }
def from_end(Task task) { return m[0, (1, 0)[task.ipoint[0] - 4]]; }
def split(Task task) { return m.split(0, task.ipoint[0] + 1)[0, 0, 0]; }
def falling(Task task) {
  d = task.ipoint[0] % 4 + 1;
  return line[(40 - task.ipoint[1]) / d % line.volume];
}
def falling_by_more(Task task) {
  return m[(41 - 2 * task.ipoint[1]) / (task.ipoint[0] % 3 + 1) % m.size[0], 0];
}
def unknown_slice(Task task) { return m[0, (5, 5)[:task.ipoint[0] % 2].len]; }
def tuple_before_index(Task task) { return m[task.ipoint[:2] * 0, 0]; }
def kinds(Task task) { return task.ipoint[0] < 5 ? Machine(CPU)[0, 0] : m[1, 0]; }
def printing(Task task) { print("{}", task.ipoint[0] / (task.ispace[0] - 9)); return m[0, 0]; }
)";

// -------- the same as the reference

TEST(IndexMap, EqualsTheReferenceForTheListings) {
  std::vector<DslFile> files(strategies().begin(), strategies().end());
  files.insert(files.end(), mappers().begin(), mappers().end());
  const std::vector<Rect> launches = {
      at({0}, {1}),
      at({-5}, {37}),
      at({1'000'000'007}, {40}),
      at({0, 0}, {4, 4}),
      at({3, -7}, {5, 3}),
      at({-1, 1}, {1, 11}),
      at({0, 0}, {13, 17}),
      at({-2, 9, 1}, {5, 1, 3}),
      at({0, 0, 0}, {4, 3, 5}),
  };
  IndexMapTally tally;
  for (const DslFile& file : files) {
    for (const std::string_view machine : {"nodes=4,gpu=4", "nodes=3,gpu=2", "nodes=7,gpu=5"}) {
      const Bound bound(file.text, fmt::format("{},cpu=2,omp=1", machine));
      for (std::size_t f = 0; f < bound.program.function_count(); ++f) {
        const auto name = bound.program.function_name(static_cast<FunctionId>(f));
        if (name == "same_point") continue;
        for (const Rect& launch : launches) {
          ASSERT_EQ(bound.compare(name, launch, &tally), "") << file.name << " on " << machine;
        }
      }
    }
  }
  EXPECT_GT(tally.proved, 50);
}

TEST(IndexMap, EqualsTheReferenceForItsOwnMaps) {
  IndexMapTally tally;
  for (const std::string_view machine : {"nodes=4,gpu=4", "nodes=3,gpu=2", "nodes=6,gpu=6"}) {
    const Bound bound(kMaps, fmt::format("{},cpu=2", machine));
    for (std::size_t f = 0; f < bound.program.function_count(); ++f) {
      const auto name = bound.program.function_name(static_cast<FunctionId>(f));
      for (const Rect& launch :
           {at({0}, {9}), at({-3}, {300}), at({7}, {1'000}), at({0, 0}, {9, 11}),
            at({1, 2}, {33, 50}), at({0, -1, 5}, {6, 7, 9})}) {
        ASSERT_EQ(bound.compare(name, launch, &tally), "") << name << " on " << machine;
      }
    }
  }
}

TEST(IndexMap, MapsSingleTasks) {
  const Bound bound(R"(
m = Machine(GPU)
def same(Task task) { return m[*task.parent.processor(m)]; }
def beside(Task task) { return m[task.processor(m)[0], task.name == "t" ? 1 : 0]; }
def outside(Task task) { return m[task.parent.processor(m)[0] + 1, 0]; }
)",
                    "nodes=4,gpu=4");
  IndexMapTally tally;
  for (const std::string_view name : {"same", "beside", "outside"}) {
    for (std::int64_t node = 0; node < 4; ++node) {
      TaskPoint task;
      task.name = "t";
      task.parent_name = "main";
      task.parent = Processor{ProcKind::kGpu, node, 3};
      task.processor = Processor{ProcKind::kGpu, 1, 0};
      EXPECT_EQ(
          compare_with_reference(*bound.bound, bound.function(name), task, ProcKind::kGpu, &tally),
          "");
    }
  }
  EXPECT_EQ(tally.proved, 11);
  EXPECT_EQ(tally.errors, 1);
}

// -------- slices

TEST(IndexMap, CutsBlocksIntoOneBoxEach) {
  const Bound bound(kMaps, "nodes=4,gpu=4");
  for (const Rect& launch : {at({0}, {1'600}), at({0, 0}, {64, 64}), at({5, -9}, {64, 128}),
                             at({0, 0, 0}, {16, 32, 64})}) {
    EXPECT_EQ(slices_of(bound.map("blocks", launch), bound).size(), 16U);
  }
  EXPECT_EQ(slices_of(bound.map("block", at({3}, {1'000'000'000})), bound).size(), 16U);
  // A launch's points in a row, cut where no row ends: whole rows between two parts of one.
  EXPECT_EQ(slices_of(bound.map("rows", at({0, 0}, {16, 10})), bound).size(), 16U);
  EXPECT_EQ(slices_of(bound.map("one", at({0, 0, 0}, {1'000, 1'000, 1'000})), bound).size(), 1U);
}

TEST(IndexMap, JoinsNoMoreThanRuns) {
  const Bound bound(kMaps, "nodes=3,gpu=2");
  EXPECT_EQ(slices_of(bound.map("cyclic", at({0}, {100})), bound).size(), 100U);
  // Columns of a cyclic map go through all rows.
  EXPECT_EQ(slices_of(bound.map("cyclic", at({0, 0}, {100, 7})), bound).size(), 100U);
  EXPECT_EQ(slices_of(bound.map("corner", at({0, 0}, {9, 7})), bound).size(), 4U);
}

TEST(IndexMap, CutsPartsOfALaunch) {
  const Bound bound(kMaps, "nodes=4,gpu=4");
  const auto map = bound.map("blocks", at({0, 0}, {64, 64}));
  IndexMap::Cursor cursor(map);
  Diagnostics diags = bound.diags();
  std::int64_t points = 0;
  int boxes = 0;
  const auto add = [&](const Rect& box, ProcessorNumber) { points += box.volume(), ++boxes; };
  EXPECT_TRUE(cursor.slices(at({10, 20}, {20, 30}), add, diags));
  EXPECT_EQ(points, 600);
  EXPECT_EQ(boxes, 6);
  EXPECT_TRUE(cursor.slices(at({10, 20}, {0, 30}), add, diags));
  EXPECT_EQ(boxes, 6);
}

// -------- boxes of one processor

TEST(IndexMap, FindsBlocksOfAProcessor) {
  const Bound bound(kMaps, "nodes=4,gpu=4");
  const auto map = bound.map("blocks", at({0, 0, 0}, {1'000, 1'000, 1'000}));
  const auto boxes = boxes_of(map, bound, {ProcKind::kGpu, 2, 3});
  ASSERT_EQ(boxes.size(), 1U);
  for (const Slice& slice : slices_of(map, bound)) {
    if (slice.processor != Processor{ProcKind::kGpu, 2, 3}) continue;
    EXPECT_EQ(slice.box.lower, boxes[0].lower);
    EXPECT_EQ(slice.box.extents, boxes[0].extents);
  }
  EXPECT_EQ(boxes_of(map, bound, {ProcKind::kGpu, 4, 0}).size(), 0U);
  EXPECT_EQ(boxes_of(map, bound, {ProcKind::kCpu, 0, 0}).size(), 0U);
}

TEST(IndexMap, FindsTheCyclesOfAProcessor) {
  const Bound bound(kMaps, "nodes=4,gpu=4");
  const auto map = bound.map("cyclic", at({0}, {1'600}));
  const auto boxes = boxes_of(map, bound, {ProcKind::kGpu, 3, 2});
  ASSERT_EQ(boxes.size(), 100U);
  for (std::size_t i = 0; i < boxes.size(); ++i) {
    EXPECT_EQ(boxes[i].lower[0], static_cast<std::int64_t>(16 * i + 11));
    EXPECT_EQ(boxes[i].extents[0], 1);
  }
}

TEST(IndexMap, FindsTheBoxesOfANode) {
  const Bound bound(kMaps, "nodes=4,gpu=4");
  IndexMap::Cursor cursor(bound.map("blocks", at({0, 0}, {1'024, 1'024})));
  Diagnostics diags = bound.diags();
  std::vector<Rect> boxes;
  EXPECT_TRUE(cursor.boxes_of_node(
      1, [&](const Rect& box) { boxes.push_back(box); }, diags));
  ASSERT_EQ(boxes.size(), 1U);
  EXPECT_EQ(boxes[0].volume(), 1'024 * 1'024 / 4);
}

// Where dimensions do not decide separately, the boxes are those of slices() that are wanted, and
// of several processors those that go together.
TEST(IndexMap, FindsTheBoxesOfRowsThatGoOn) {
  const Bound bound(kMaps, "nodes=4,gpu=4");
  const auto map = bound.map("row_cyclic", at({-7, 3}, {50, 30}));
  ASSERT_FALSE(map->map().separated_number);
  const Processor wanted{ProcKind::kGpu, 2, 1};
  std::vector<Rect> expected;
  for (const Slice& slice : slices_of(map, bound)) {
    if (slice.processor == wanted) expected.push_back(slice.box);
  }
  const auto boxes = boxes_of(map, bound, wanted);
  ASSERT_EQ(boxes.size(), expected.size());
  for (std::size_t i = 0; i < boxes.size(); ++i) {
    EXPECT_EQ(boxes[i].lower, expected[i].lower);
    EXPECT_EQ(boxes[i].extents, expected[i].extents);
  }
  IndexMap::Cursor cursor(map);
  Diagnostics diags = bound.diags();
  std::int64_t count = 0, points = 0;
  const auto add = [&](const Rect& box) { ++count, points += box.volume(); };
  EXPECT_TRUE(cursor.boxes_of_node(2, add, diags));
  EXPECT_EQ(points, 376);  // 94 runs of four numbers: 8 to 11, 24 to 27, ..., 1,496 to 1,499
  EXPECT_LT(count, 150);   // a box for each run, two where a row ends in it
  // Blocks of whole rows stay whole.
  EXPECT_LE(boxes_of(bound.map("rows", at({0, 0}, {50, 30})), bound, wanted).size(), 3U);
}

TEST(IndexMap, FindsNoBoxesOfWhatDoesNotExist) {
  const Bound bound(kMaps, "nodes=4,gpu=4,cpu=2");
  for (const std::string_view name : {"row_cyclic", "cyclic", "node_set"}) {
    const auto map = bound.map(name, at({0, 0}, {50, 30}));
    for (const Processor& processor :
         {Processor{ProcKind::kGpu, 4, 0}, Processor{ProcKind::kGpu, -1, 0},
          Processor{ProcKind::kGpu, 0, 4}, Processor{ProcKind::kGpu, 1, -1},
          Processor{ProcKind::kOmp, 0, 0}, Processor{ProcKind::kCpu, 0, 0}}) {
      EXPECT_EQ(boxes_of(map, bound, processor).size(), 0U) << name;
    }
    IndexMap::Cursor cursor(map);
    Diagnostics diags = bound.diags();
    for (const std::int64_t node : {-1, 4, 5}) {
      EXPECT_TRUE(cursor.boxes_of_node(
          node, [&](const Rect&) { ADD_FAILURE() << name << " " << node; }, diags));
    }
  }
}

// Where a point goes is a sum of digits also where sizes divide each other, and the same one
// whether the machine's dimensions are merged or not.
TEST(IndexMap, MakesShortFormsOfRowMajorRoundRobin) {
  for (const std::string_view machine : {"nodes=4,gpu=4", "nodes=6,gpu=5", "nodes=3,gpu=8"}) {
    const Bound bound(kMaps, machine);
    for (const Rect& launch : {at({0, 0}, {250, 250}), at({5, -1}, {100, 40}), at({0, 0}, {9, 48}),
                               at({0, 0}, {100, 7}), at({0, 0}, {1'000, 2})}) {
      const auto digits = bound.map("row_cyclic", launch);
      const auto merged = bound.map("row_cyclic_merged", launch);
      for (const auto& map : {digits, merged, bound.map("row_cyclic_nodes", launch)}) {
        EXPECT_TRUE(map->map().form) << machine;
        EXPECT_GT(map->map().period.period, 0) << machine;
      }
      EXPECT_EQ(digits->map().period.period, merged->map().period.period) << machine;
      EXPECT_EQ(digits->map().row_parts.has_value(), merged->map().row_parts.has_value());
    }
  }
}

// -------- any size

TEST(IndexMap, ServesLaunchesOfAnySize) {
  const Bound bound(kMaps, "nodes=4,gpu=4");
  const std::int64_t much = std::int64_t{1} << 40;
  const auto map = bound.map("block", at({-much}, {3 * much}));
  EXPECT_TRUE(map->proved());
  EXPECT_EQ(slices_of(map, bound).size(), 16U);
  IndexMap::Cursor cursor(map);
  Diagnostics diags = bound.diags();
  EXPECT_EQ(map->processor(cursor.point({2 * much - 1}, diags)), (Processor{ProcKind::kGpu, 3, 3}));
  // So large that the product in `block` overflows at some points: those are errors, as ever.
  const std::int64_t most = std::int64_t{1} << 60;
  const auto large = bound.map("block", at({0}, {most}));
  EXPECT_FALSE(large->proved());
  IndexMap::Cursor asking(large);
  EXPECT_EQ(large->processor(asking.point({17}, diags)), (Processor{ProcKind::kGpu, 0, 0}));
  EXPECT_EQ(asking.point({most - 1}, diags), kNoProcessor);
  EXPECT_EQ(diags.all().size(), 1U);
}

TEST(IndexMap, TakesMachinesWithinItsNumbers) {
  const Bound bound("def f(Task task) { return Machine(GPU)[0, 0]; }",
                    "nodes=1048576,gpu=1,cpu=4096");
  TaskPoint launch;
  launch.domain = at({0}, {4});
  Diagnostics diags = bound.diags();
  const auto made = IndexMap::make(*bound.bound, bound.function("f"), launch, {}, diags);
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, Error::Code::kTooLarge);
}

// -------- what is proved and what is not

TEST(IndexMap, ProvesWhatCannotFail) {
  const Bound bound(kMaps, "nodes=4,gpu=4");
  for (const std::string_view name :
       {"block", "cyclic", "blocks", "mixed", "backwards", "corner", "rotated"}) {
    EXPECT_TRUE(bound.map(name, at({0}, {1'000}))->proved()) << name;
  }
  EXPECT_TRUE(bound.map("linearblock", at({0}, {16}))->proved());
  EXPECT_FALSE(bound.map("linearblock", at({0}, {17}))->proved());
  EXPECT_TRUE(bound.map("linearblock", at({0}, {17}))->specialised());
  EXPECT_FALSE(bound.map("split", at({0}, {4}))->specialised());
}

TEST(IndexMap, GivesWholeSets) {
  const Bound bound(kMaps, "nodes=4,gpu=4");
  IndexMap::Cursor cursor(bound.map("node_set", at({0}, {10})));
  Diagnostics diags = bound.diags();
  const PointTarget placed = cursor.placed(cursor.point({6}, diags));
  EXPECT_TRUE(placed.is_set);
  ASSERT_EQ(placed.processors.size(), 4U);
  EXPECT_EQ(placed.processors[3], (Processor{ProcKind::kGpu, 2, 3}));
}

// Sets that only the reference tells, another one at each point: a question holds no more of them
// than it may, and the next has room again.
TEST(IndexMap, HoldsSoManySets) {
  const Bound bound(
      "m = Machine(GPU).merge(0, 1);\n"
      "def f(Task t) {\n"
      "  i = t.ipoint[0];\n"
      "  return m.slice(0, i % 61, 8000 + i / 61 + m.balance_split(0, 1 + i % 2).size[0] * 0)[*];\n"
      "}",
      "nodes=4096,gpu=4");
  IndexMap::Cursor cursor(bound.map("f", at({0}, {100'000})));
  Diagnostics diags = bound.diags();
  std::int64_t points = 0;
  const auto count = [&](const Rect& box, ProcessorNumber) { points += box.volume(); };
  EXPECT_FALSE(cursor.slices(count, diags));
  EXPECT_EQ(diags.all().back().id, DiagId::kStepLimit) << render(diags);
  EXPECT_LT(points * 8000 * 64, kMaxQuestionSteps);
  diags.clear();
  const ProcessorNumber number = cursor.point({122}, diags);
  ASSERT_NE(number, kNoProcessor) << render(diags);
  EXPECT_EQ(cursor.placed(number).processors.size(), 8003U);
  EXPECT_TRUE(cursor.slices(at({0}, {100}), count, diags)) << render(diags);
}

// -------- threads

TEST(IndexMap, IsSharedByThreads) {
  const Bound bound(kMaps, "nodes=6,gpu=6");
  const std::vector<std::string_view> names = {"blocks",   "mixed", "cyclic", "linearblock",
                                               "node_set", "split", "divides"};
  TaskPoint launch;
  launch.name = "t";
  launch.domain = at({-2}, {40});
  std::vector<std::shared_ptr<const IndexMap>> maps;
  for (const std::string_view name : names) {
    Diagnostics diags = bound.diags();
    maps.push_back(IndexMap::make(*bound.bound, bound.function(name), launch, {}, diags).value());
  }
  std::vector<std::string> differences(8);
  std::vector<std::thread> threads;
  for (std::string& text : differences) {
    threads.emplace_back([&] {
      IndexMapTally tally;
      for (int round = 0; round < 5 && text.empty(); ++round) {
        for (std::size_t i = 0; i < names.size() && text.empty(); ++i) {
          text = compare_with_reference(*bound.bound, bound.function(names[i]), launch, {}, &tally,
                                        maps[i]);
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::string& text : differences) EXPECT_EQ(text, "");
}

// [unequal-nodes] Once for each kind of a program, however often and wherever it says
// Machine(KIND).
TEST(IndexMap, UnequalNodesAreToldOfOnce) {
  const NodeType small = make_machine("gpu=2,cpu=2")->node(0),
                 large = make_machine("gpu=4")->node(0);
  const Source source(
      "test.mapper",
      "m = Machine(GPU);\nc = Machine(CPU);\nn = Machine(GPU);\n"
      "def f(Task t) { a = Machine(GPU); return Machine(GPU)[t.ipoint[0] % a.size[0], 0]; }\n");
  Diagnostics diags(source);
  const auto told = [](const Diagnostics& by) {
    return std::count_if(by.all().begin(), by.all().end(),
                         [](const Diagnostic& each) { return each.id == DiagId::kUnequalNodes; });
  };
  const auto bound =
      bind(compile(source, diags), *Machine::make("uneven", "", {small, large}, {0, 1}), diags);
  ASSERT_TRUE(bound);
  EXPECT_EQ(told(diags), 2);  // of GPU, of CPU
  TaskPoint task;
  task.name = "t";
  task.domain = at({0}, {4});
  FunctionEvaluator evaluator(*bound);
  Diagnostics fresh(source), fresh_too(source);
  for (Diagnostics* each : {&diags, &fresh}) {
    for (std::int64_t x = 0; x < 4; ++x) {
      task.point = {x};
      EXPECT_TRUE((each == &diags ? evaluator : *std::make_unique<FunctionEvaluator>(*bound))
                      .place(0, task, ProcKind::kGpu, *each));
    }
  }
  EXPECT_TRUE(IndexMap::make(*bound, 0, task, ProcKind::kGpu, diags).ok());
  EXPECT_TRUE(IndexMap::make(*bound, 0, task, ProcKind::kGpu, fresh_too).ok());
  EXPECT_EQ(told(diags), 2);
  EXPECT_EQ(told(fresh), 1);
  EXPECT_EQ(told(fresh_too), 1);
}

TEST(IndexMapDeathTest, NamesWhatTheCallerHasToPass) {
  const Bound bound(
      "m = Machine(GPU);\ndef f(Task t) {\n  return m[0, t.ipoint[0] % 2];\n}\n"
      "IndexTaskMap t f;\n",
      "nodes=1,gpu=2");
  const auto map = bound.map("f", at({2}, {4}));
  Diagnostics diags = bound.diags();
  IndexMap::Cursor cursor(map);
  const auto point = [&](const Point& where) { (void)cursor.point(where, diags); };
  EXPECT_DEATH(point({1}), "wrong use of the library: the point must lie inside the domain");
  EXPECT_DEATH(point({6}), "the point must lie inside the domain");
  EXPECT_DEATH(point({3, 0}), "the point must lie inside the domain");
  std::vector<ProcessorNumber> numbers(3);
  EXPECT_DEATH((void)cursor.row({4}, numbers, diags), "a row must end inside the domain");
  EXPECT_DEATH((void)cursor.box(at({3}, {4}), numbers, diags),
               "the box must lie inside the domain");
  EXPECT_DEATH((void)cursor.box(at({3}, {2}), numbers, diags), "one item for each point");
  EXPECT_DEATH((void)map->processor(100), "a processor number of this index map");
}

}  // namespace
}  // namespace groma::testing
