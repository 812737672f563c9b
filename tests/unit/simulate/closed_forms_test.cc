// simulate where a formula says how long a run takes or why it ends; nonsense of all kinds.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/quantities.h"
#include "support/run_generator.h"

namespace groma::testing {
namespace {

constexpr RunTime kMicrosecond = 1000000;
using Kind = RunRecord::Event::Kind;

// ---- A machine of round figures

// Nodes of one CPU with 1 GFLOP/s, 1 GB/s to its memory, 100 ns away, and a network of 1 GB/s with
// 2 us.
std::shared_ptr<const Machine> machine_of(std::int64_t nodes, std::int64_t capacity = 1 << 30,
                                          std::int64_t cpus = 1, bool network = true) {
  NodeType node;
  ProcessorGroup cpu{ProcKind::kCpu, cpus, 1e9};
  cpu.sustained_fraction = 0.5;
  cpu.launch_latency_s = 1e-6;
  node.processors = {cpu};
  node.memories = {{MemKind::kSysmem, 1, capacity, 4e9}};
  node.affinities = {{ProcKind::kCpu, MemKind::kSysmem, 1e9, 1e-7}};
  if (network) {
    node.channels = {
        {"net", MemKind::kSysmem, MemKind::kSysmem, Channel::Scope::kNetwork, 1, 1e9, 2e-6}};
  }
  auto machine = Machine::make("round", "", {node},
                               std::vector<std::uint32_t>(static_cast<std::size_t>(nodes)));
  EXPECT_TRUE(machine);
  return std::make_shared<Machine>(std::move(*machine));
}

// Point i runs on node i, modulo their number; exact instances with the required fields, or of the
// whole region, different ones for odd points. The first of several sources is taken.
class ByPoint : public Mapper {
 public:
  ByPoint(MapperSite site, LayoutSpec layout, CollectPriority priority)
      : Mapper(std::move(site)), layout_(layout), priority_(priority) {}
  bool selects() const override { return false; }
  void select_task_options(MapperRuntime&, const TaskView&, TaskOptions& answer) override {
    answer.initial = {ProcKind::kCpu, 0, 0};
    answer.valid_instances = false;
  }
  void slice_task(MapperRuntime&, const TaskView&, const Rect& part,
                  SliceTaskOutput& answer) override {
    Point point = part.lower;
    do {
      Rect one{point, part.extents};
      for (int d = 0; d < one.dimensions(); ++d) one.extents[d] = 1;
      const std::int64_t cpus = machine().processor_count(0, ProcKind::kCpu);
      const std::int64_t node = point[0] / cpus % machine().node_count();
      answer.slices.push_back({one, {ProcKind::kCpu, node, point[0] % cpus}});
    } while (next_point(part, &point));
  }
  void map_task(MapperRuntime&, const TaskView& task,
                std::span<const std::span<const InstanceView>>, MapTaskOutput& answer) override {
    answer.processors = {task.current};
    answer.variant = 1;
    answer.requirements.resize(task.requirements.size());
    for (InstanceChoice& choice : answer.requirements) {
      InstanceCandidate candidate;
      candidate.layout = layout_;
      candidate.memory_origin.statement = 7;
      const bool odd = task.point.dimensions() > 0 && task.point[0] % 2 != 0;
      if (!layout_.exact && odd) candidate.layout.dimensions = DimensionOrder::kC;
      choice.add(candidate);
      choice.region =
          layout_.exact ? InstanceChoice::Region::kRequired : InstanceChoice::Region::kShared;
      choice.fields = layout_.fields == FieldOrder::kAos ? InstanceChoice::Fields::kAll
                                                         : InstanceChoice::Fields::kRequired;
      choice.collect_priority = priority_;
    }
  }
  void select_sources(MapperRuntime&, const TaskView&, const InstanceView&,
                      std::span<const InstanceView>, std::vector<std::uint32_t>& answer) override {
    answer = {0};
  }

 private:
  LayoutSpec layout_;
  CollectPriority priority_;
};

LayoutSpec exact() {
  LayoutSpec layout;
  layout.exact = true;
  return layout;
}

RunResult run(const Application& app, const std::shared_ptr<const Machine>& machine,
              SimulateOptions options = {}, LayoutSpec layout = exact(),
              CollectPriority priority = kCollectDefault) {
  const auto workload = Workload::make(app);
  EXPECT_TRUE(workload) << workload.error().message;
  options.record = true;
  return simulate(
      *workload, machine,
      [&](const Processor& local) -> std::unique_ptr<Mapper> {
        MapperSite site;
        site.machine = machine;
        site.local = local;
        return std::make_unique<ByPoint>(std::move(site), layout, priority);
      },
      options);
}

std::string ids_of(const RunResult& result) {
  std::string ids;
  for (const Refusal& refusal : result.refusals) {
    ids += fmt::format("[{}]", name_of(refusal.diagnostic.id));
  }
  return ids;
}

// ---- Applications

AppTask main_task(std::vector<AppStatement> body) {
  AppTask task;
  task.name = "main";
  task.variants = {{}};
  task.variants[0].inner = true;
  task.body = std::move(body);
  return task;
}

AppTask leaf(std::string name, std::vector<AppRequirement> requirements = {}) {
  AppTask task;
  task.name = std::move(name);
  task.variants = {{}};
  task.variants[0].leaf = true;
  task.requirements = std::move(requirements);
  return task;
}

AppRequirement on(const std::string& data, Privilege privilege, Formulas color = {}) {
  AppRequirement requirement;
  requirement.privilege = privilege;
  requirement.fields = {{"x", 8}};
  requirement.data = {data, std::move(color)};
  return requirement;
}

AppLaunch launch_of(std::string task, Formulas domain = {}) {
  AppLaunch made;
  made.task = std::move(task);
  made.domain = std::move(domain);
  if (!made.domain.empty()) made.index = {"i"};
  return made;
}

// A region of 1000 elements for each of `pieces`, of one field of 8 bytes.
Application pieces_of(std::int64_t pieces, std::vector<AppTask> tasks) {
  Application app;
  app.name = "closed";
  app.top_level = "main";
  app.regions = {{"r", {}, {1000 * pieces}, {{"x", 8}}}};
  AppPartition partition;
  partition.name = "p";
  partition.of = "r";
  partition.colors = {pieces};
  app.partitions = {partition};
  app.tasks = std::move(tasks);
  return app;
}

std::vector<RunRecord::Event> events_of(const RunResult& result, Kind kind, int name) {
  std::vector<RunRecord::Event> events;
  for (const RunRecord::Event& event : result.record->events) {
    if (event.kind == kind && event.name == name) events.push_back(event);
  }
  return events;
}

RunTime length_of_only(const RunResult& result, int task) {
  EXPECT_TRUE(result.ok()) << result.raw;
  const auto events = events_of(result, Kind::kTask, task);
  EXPECT_EQ(events.size(), 1U);
  return events.empty() ? -1 : events[0].end - events[0].start;
}

// ---- One task

TEST(Roofline, IsTheLargerOfComputingAndMoving) {
  AppTask work = leaf("work", {on("r", Privilege::kReadWrite)});
  Application app = pieces_of(1, {main_task({{launch_of("work")}}), work});
  // 16000 bytes at 1 GB/s and 100 ns, behind 1 us for the start.
  EXPECT_EQ(length_of_only(run(app, machine_of(1)), 1), 17100000);
  AppVariant& variant = app.tasks[1].variants[0];
  variant.flops = 40000;  // at half of 1 GFLOP/s
  EXPECT_EQ(length_of_only(run(app, machine_of(1)), 1), 81 * kMicrosecond);
  variant.single = true;
  EXPECT_EQ(length_of_only(run(app, machine_of(1)), 1), 41 * kMicrosecond);
  variant.efficiency = 50;
  EXPECT_EQ(length_of_only(run(app, machine_of(1)), 1), 81 * kMicrosecond);
  variant.kernels = 3;
  variant.nanoseconds = 500;  // it takes more anyway
  EXPECT_EQ(length_of_only(run(app, machine_of(1)), 1), (3 + 80) * kMicrosecond);
  variant.nanoseconds = 90'000;
  EXPECT_EQ(length_of_only(run(app, machine_of(1)), 1), (3 + 90) * kMicrosecond);
  variant.traffic = {{0, 100000, Access::kScatter}, {0, "8 * points(0)", Access::kStream}};
  EXPECT_EQ(length_of_only(run(app, machine_of(1)), 1), (3 + 108) * kMicrosecond + 100000);
}

TEST(Roofline, TasksOfOneMemoryShareIt) {
  AppTask work = leaf("work", {on("p", Privilege::kReadOnly, {"0"})});
  const Application app = pieces_of(1, {main_task({{launch_of("work", {8})}}), work});
  const RunResult result = run(app, machine_of(1, 1 << 30, 8));
  // They start 300 us after each other, and take 9.1 us: alone. Without mapping's cost: all at
  // once, the eighth has an eighth of 4 GB/s.
  EXPECT_EQ(
      events_of(result, Kind::kTask, 1).back().end - events_of(result, Kind::kTask, 1).back().start,
      9100000);
  SimulateOptions options;
  options.costs = {0, 0, 0, 0, 0, 0};
  const auto events = events_of(run(app, machine_of(1, 1 << 30, 8), options), Kind::kTask, 1);
  ASSERT_EQ(events.size(), 8U);
  for (std::size_t i = 0; i < 8; ++i) {
    const double bandwidth = std::min(1e9, 4e9 / static_cast<double>(i + 1));
    EXPECT_EQ(events[i].end - events[i].start, std::llround((1.1e-6 + 8000 / bandwidth) * 1e12));
  }
}

// Of three tasks, one after the other: the application's costs, unless the options say otherwise.
TEST(Costs, AreTheApplications) {
  Application app = pieces_of(1, {main_task({{launch_of("work", {2})}}), leaf("work")});
  const auto seconds = [&](const SimulateOptions& options = {}) {
    const RunResult result = run(app, machine_of(1, 1 << 30, 2), options);
    EXPECT_TRUE(result.ok());
    return result.total_seconds;
  };
  const double usual = seconds();
  app.runtime = RuntimeCosts{.map_s = 10e-6};
  EXPECT_NEAR(usual - seconds(), 3 * 290e-6, 1e-9);
  SimulateOptions options;
  options.costs = RuntimeCosts{};
  EXPECT_EQ(seconds(options), usual);
  app.runtime = RuntimeCosts{.map_s = -1e-6};
  EXPECT_FALSE(Workload::make(app).ok());
  app.runtime = RuntimeCosts{.copy_s = 2 * kMaxRuntimeCost};
  EXPECT_FALSE(Workload::make(app).ok());
}

TEST(Layouts, CostWhatTheyMoveMore) {
  Application app;
  app.name = "layouts";
  app.top_level = "main";
  app.regions = {{"r", {}, {100, 10}, {{"x", 8}, {"y", 8}, {"z", 8}, {"w", 8}}}};
  AppTask work = leaf("work", {on("r", Privilege::kReadOnly)});
  work.requirements[0].dimensions = 2;
  app.tasks = {main_task({{launch_of("work")}}), work};
  EXPECT_EQ(length_of_only(run(app, machine_of(1)), 1), 9100000);
  LayoutSpec layout = exact();
  layout.fields = FieldOrder::kAos;  // 32 bytes of each element for 8
  EXPECT_EQ(length_of_only(run(app, machine_of(1), {}, layout), 1), 33100000);
  for (int f = 0; f < 8; ++f) app.regions[0].fields.push_back({fmt::format("f{}", f), 8});
  EXPECT_EQ(length_of_only(run(app, machine_of(1), {}, layout), 1), 65100000);  // a sector
  app.tasks[1].variants[0].loops = DimensionOrder::kC;  // across: a sector for each
  EXPECT_EQ(length_of_only(run(app, machine_of(1)), 1), 65100000);
  layout = exact();
  layout.dimensions = DimensionOrder::kC;
  EXPECT_EQ(length_of_only(run(app, machine_of(1), {}, layout), 1), 9100000);
}

// As Legion 26.06 makes them, by what its instances took.
TEST(Layouts, AlignTheFieldsOfEachPoint) {
  Application app = pieces_of(
      1, {main_task({{launch_of("work")}}), leaf("work", {on("r", Privilege::kReadOnly)})});
  app.regions[0].fields = {{"x", 8}, {"y", 8}};
  app.tasks[1].requirements[0].fields = app.regions[0].fields;
  const auto run_with = [&](FieldOrder fields, AlignOp op, std::int64_t bytes) {
    LayoutSpec layout = exact();
    layout.fields = fields;
    layout.align_op = op;
    layout.align_bytes = bytes;
    return run(app, machine_of(1), {}, layout);
  };
  const auto point = [&](AlignOp op, std::int64_t bytes) {
    return run_with(FieldOrder::kAos, op, bytes).record->memories[0].peak_bytes / 1000;
  };
  EXPECT_EQ(point(AlignOp::kNone, 0), 16);
  EXPECT_EQ(point(AlignOp::kEq, 8), 16);
  EXPECT_EQ(point(AlignOp::kEq, 16), 32);
  EXPECT_EQ(point(AlignOp::kEq, 32), 64);
  EXPECT_EQ(point(AlignOp::kGe, 64), 128);
  EXPECT_EQ(point(AlignOp::kEq, 128), 256);
  EXPECT_EQ(point(AlignOp::kGt, 8), 32);
  EXPECT_EQ(point(AlignOp::kNe, 128), 16);
  EXPECT_EQ(point(AlignOp::kLe, 64), 16);
  // Each field's beginning alone: 8000 bytes are 62 times 128, and 64.
  const RunResult apart = run_with(FieldOrder::kSoa, AlignOp::kEq, 128);
  EXPECT_EQ(apart.record->memories[0].peak_bytes, 63 * 128 + 8000);
  EXPECT_EQ(length_of_only(apart, 1), 17'100'000);
  const auto full = [&](FieldOrder fields) {
    const RunResult result = run_with(fields, AlignOp::kEq, 1 << 30);
    EXPECT_EQ(ids_of(result), "[out-of-memory]");
    return result.refusals[0].diagnostic;
  };
  EXPECT_EQ(
      full(FieldOrder::kAos).message,
      "no room for region 0 (r) of `work`: SYSMEM (needs 1.95 TiB, has 1.00 GiB free, 1.95 TiB too "
      "little)");
  EXPECT_EQ(full(FieldOrder::kAos).helps,
            std::vector<std::string>{
                "unaligned it takes 15.6 KiB: in AOS each field of each point is aligned"});
  EXPECT_EQ(full(FieldOrder::kSoa).helps, std::vector<std::string>{"unaligned it takes 15.6 KiB"});
  // What is between them is moved along: two lines of 64 bytes for the two fields.
  EXPECT_EQ(length_of_only(run_with(FieldOrder::kAos, AlignOp::kEq, 64), 1), 129'100'000);
}

// The same of fields of several sizes, the largest of which come first: each at a multiple of the
// largest power of two in its bytes, a point at one of theirs.
TEST(Layouts, LieAsTheirSizesAsk) {
  const auto bytes = [](const std::vector<std::int64_t>& sizes, FieldOrder order,
                        std::int64_t align = 0) {
    Application app = pieces_of(
        1, {main_task({{launch_of("work")}}), leaf("work", {on("r", Privilege::kReadOnly)})});
    app.regions[0].extents = {100};
    app.regions[0].fields.clear();
    for (std::size_t f = 0; f < sizes.size(); ++f) {
      app.regions[0].fields.push_back({fmt::format("f{}", f), sizes[f]});
    }
    app.tasks[1].requirements[0].fields = app.regions[0].fields;
    LayoutSpec layout = exact();
    layout.fields = order;
    layout.align_op = align == 0 ? AlignOp::kNone : AlignOp::kEq;
    layout.align_bytes = align;
    return run(app, machine_of(1), {}, layout).record->memories[0].peak_bytes;
  };
  using enum FieldOrder;
  EXPECT_EQ(bytes({8, 1}, kAos), 1600);
  EXPECT_EQ(bytes({9, 9}, kAos), 1800);
  EXPECT_EQ(bytes({9, 8, 4}, kAos), 3200);
  EXPECT_EQ(bytes({4, 9, 9}, kAos), 2400);
  EXPECT_EQ(bytes({1, 24}, kAos), 3200);
  EXPECT_EQ(bytes({10, 1}, kAos), 1200);
  EXPECT_EQ(bytes({12, 8}, kAos), 2400);
  EXPECT_EQ(bytes({1, 64}, kAos), 12800);
  EXPECT_EQ(bytes({1, 64}, kAos, 16), 8000);
  EXPECT_EQ(bytes({9, 9, 4}, kAos, 16), 4800);
  EXPECT_EQ(bytes({8, 1}, kSoa), 900);
  EXPECT_EQ(bytes({9, 8, 4}, kSoa), 2104);
  EXPECT_EQ(bytes({9, 8, 4}, kSoa, 64), 2192);
  EXPECT_EQ(bytes({24, 1}, kSoa, 64), 2532);
}

// A core waits for ten lines of 64 bytes at a time: 3.2 GB/s where memory is 200 ns away.
void rows_with_gaps_take_longer(double gap_bandwidth_bytes_per_s, double latency_s) {
  NodeType node;
  ProcessorGroup cpu{ProcKind::kCpu, 1, 1e9};
  cpu.launch_latency_s = 0;
  node.processors = {cpu};
  node.memories = {{MemKind::kSysmem, 1, 1 << 30, 1e11}};
  node.affinities = {
      {ProcKind::kCpu, MemKind::kSysmem, 6.4e9, latency_s, gap_bandwidth_bytes_per_s}};
  const auto machine =
      std::make_shared<const Machine>(Machine::make("far", "", {node}, {0}).value());
  const auto length = [&](std::vector<std::int64_t> colors, DimensionOrder order,
                          std::int64_t edge = 512) {
    Application app;
    app.name = "rows";
    app.top_level = "main";
    app.regions = {{"r", {}, {2 * edge, 2 * edge}, {{"x", 8}}}};
    AppPartition partition;
    partition.name = "p";
    partition.of = "r";
    partition.colors = {colors[0], colors[1]};
    app.partitions = {partition};
    AppTask work = leaf("work", {on("p", Privilege::kReadOnly, {"0", "0"})});
    work.requirements[0].dimensions = 2;
    app.tasks = {main_task({{launch_of("work")}}), work};
    LayoutSpec layout;
    layout.dimensions = order;
    const RunResult result = run(app, machine, {}, layout);
    return length_of_only(result, 1) - static_cast<RunTime>(latency_s * 1e12 + 0.5);
  };
  const std::int64_t half = 512 * 1024 * 8;                                 // bytes, at 6.4 GB/s
  EXPECT_EQ(length({2, 1}, DimensionOrder::kC), half * 10'000 / 64);        // whole rows
  EXPECT_EQ(length({1, 2}, DimensionOrder::kFortran), half * 10'000 / 64);  // whole columns
  EXPECT_EQ(length({1, 2}, DimensionOrder::kC), half * 10'000 / 32);        // 4 KiB of each row
  EXPECT_EQ(length({2, 2}, DimensionOrder::kFortran), half / 2 * 10'000 / 32);
  // Of rows of 16 KiB the first quarter.
  const std::int64_t large = 2048LL * 4096 * 8;
  EXPECT_EQ(length({1, 2}, DimensionOrder::kC, 2048), large * 10'000 / 64 * 5 / 4);
}

TEST(Layouts, RowsWithGapsAreNotForeseen) { rows_with_gaps_take_longer(0, 2e-7); }

// The latency alone would not make these rows slower.
TEST(Layouts, TheMachineMayGiveTheRateOfRowsWithGaps) { rows_with_gaps_take_longer(3.2e9, 1e-9); }

// ---- Copies

// Point i of n writes its piece on node i; then `reads` of them read.
Application exchange(std::int64_t n, const AppRequirement& read) {
  AppLaunch wait = launch_of("read", {n});
  return pieces_of(n, {main_task({{launch_of("write", {n})}, {AppWait{}}, {wait}}),
                       leaf("write", {on("p", Privilege::kWriteDiscard)}), leaf("read", {read})});
}

// 8000 bytes at 1 GB/s, 2 us.
constexpr RunTime kOne = 10 * kMicrosecond;

TEST(Copies, OfARingAllRunAtOnce) {
  AppRequirement read = on("p", Privilege::kReadOnly);
  Application app = exchange(6, read);
  std::get<AppLaunch>(app.tasks[0].body[2].node).data = {{"p", {"(i + 1) % 6"}}};
  const auto copies = events_of(run(app, machine_of(6)), Kind::kCopy, 2);
  ASSERT_EQ(copies.size(), 6U);
  for (const RunRecord::Event& copy : copies) {
    EXPECT_EQ(copy.from, (copy.where + 1) % 6);
    EXPECT_EQ(copy.bytes, 8000);
    EXPECT_EQ(copy.statement, 7);
    // Node 0 launches, so slices of others come 2 us later.
    EXPECT_EQ(copy.start, copies[0].start + (copy.where == 0 ? 0 : 2 * kMicrosecond));
    EXPECT_EQ(copy.end, copy.start + kOne);
  }
}

TEST(Copies, OfABroadcastLeaveTheSourceOneByOne) {
  const AppRequirement read = on("p", Privilege::kReadOnly, {"0"});
  const auto copies = events_of(run(exchange(6, read), machine_of(6)), Kind::kCopy, 2);
  ASSERT_EQ(copies.size(), 5U);
  for (std::size_t i = 0; i < copies.size(); ++i) {
    EXPECT_EQ(copies[i].from, 0);
    EXPECT_EQ(copies[i].ready, copies[0].ready);
    EXPECT_EQ(copies[i].start, copies[0].ready + static_cast<RunTime>(i) * kOne);
  }
}

TEST(Copies, OfAnAllToAllTakeTheirLinksInTurn) {
  SimulateOptions options;
  options.costs.emplace().remote_s = 0;
  const auto copies = events_of(
      run(exchange(3, on("r", Privilege::kReadOnly)), machine_of(3), options), Kind::kCopy, 2);
  // From, to, when: each link carries one at a time, the first that is ready first.
  const std::vector<std::array<RunTime, 3>> expected = {{1, 0, 0}, {2, 0, 1}, {0, 1, 0},
                                                        {2, 1, 2}, {0, 2, 1}, {1, 2, 2}};
  std::int64_t bytes = 0;
  int between = 0;
  for (const RunRecord::Event& copy : copies) {
    if (copy.from == copy.where) continue;  // of its own piece, over no link
    ++between;
    const RunTime when = (copy.start - copies[0].ready) / kOne;
    const std::array<RunTime, 3> found = {copy.from, copy.where, when};
    EXPECT_NE(std::find(expected.begin(), expected.end(), found), expected.end())
        << copy.from << " to " << copy.where << " at " << when;
    bytes += copy.bytes;
  }
  EXPECT_EQ(between, 6);
  EXPECT_EQ(bytes, 3 * 2 * 8000);
}

TEST(Copies, ReductionsFoldOneAfterTheOther) {
  SimulateOptions options;
  options.costs.emplace().remote_s = 0;
  const Application app = pieces_of(1, {main_task({{launch_of("add", {4})}, {launch_of("read")}}),
                                        leaf("add", {on("r", Privilege::kReduce)}),
                                        leaf("read", {on("r", Privilege::kReadOnly)})});
  const RunResult result = run(app, machine_of(4), options);
  EXPECT_TRUE(result.ok()) << result.raw;
  const auto adds = events_of(result, Kind::kTask, 1);
  for (const RunRecord::Event& add : adds) EXPECT_EQ(add.start, adds[0].start);
  const auto folds = events_of(result, Kind::kReduction, 2);
  ASSERT_EQ(folds.size(), 4U);
  for (std::size_t i = 1; i < 4; ++i) EXPECT_EQ(folds[i].start, folds[i - 1].end);
  EXPECT_EQ(folds[0].end - folds[0].start, 4 * kMicrosecond);  // 16000 bytes at 4 GB/s
  EXPECT_EQ(folds[1].end - folds[1].start, kOne);
}

// Two instances reduce, the first to begin in one piece is the second in the other.
TEST(Copies, FoldsThatBeganInDifferentOrderDoNotWaitForEachOther) {
  std::vector<AppStatement> body;
  const std::vector<std::pair<int, int>> order = {{0, 0}, {1, 0}, {1, 1}, {0, 1}};
  for (const auto& [point, color] : order) {
    AppLaunch add = launch_of("add", {1});
    add.lower = {point};
    add.data = {{"p", {color}}};
    body.push_back({add});
  }
  body.push_back({launch_of("read")});
  const Application app =
      pieces_of(2, {main_task(body), leaf("add", {on("p", Privilege::kReduce, {"0"})}),
                    leaf("read", {on("r", Privilege::kReadOnly)})});
  const RunResult result = run(app, machine_of(1, 1 << 30, 2), {}, LayoutSpec{});
  EXPECT_TRUE(result.ok()) << result.raw;
  const auto folds = events_of(result, Kind::kReduction, 2);
  ASSERT_EQ(folds.size(), 2U);
  EXPECT_EQ(folds[0].bytes, 16000);
  EXPECT_EQ(folds[1].start, folds[0].end);
}

TEST(Copies, WithoutAChannelAreAnError) {
  const RunResult result =
      run(exchange(2, on("r", Privilege::kReadOnly)), machine_of(2, 1 << 30, 1, false));
  EXPECT_EQ(result.status, RunStatus::kExecuteError);
  EXPECT_EQ(ids_of(result), "[no-route]");
  EXPECT_EQ(result.refusals[0].origin.statement, 7U);
}

// ---- Programs

// Launched `times` times in a traced loop, on the same data.
Application pipeline(std::int64_t times, std::int64_t nanoseconds) {
  AppLoop loop;
  loop.count = times;
  loop.traced = true;
  loop.body = {{launch_of("work")}};
  Application app =
      pieces_of(1, {main_task({{loop}}), leaf("work", {on("r", Privilege::kReadWrite)})});
  app.tasks[1].variants[0].nanoseconds = nanoseconds;
  app.tasks[1].variants[0].traffic = {{0, 0}};
  return app;
}

TEST(Pipelines, AreBoundByTheirTasksOrByMapping) {
  // main is mapped in 300 us, the first task in 300, others in 10; a task starts in 1 us.
  RunResult result = run(pipeline(100, 999000), machine_of(1));
  EXPECT_EQ(result.record->end, (600 + 100 * 1000) * kMicrosecond);
  EXPECT_EQ(result.tasks, 101);
  result = run(pipeline(100, 1000), machine_of(1));
  EXPECT_EQ(result.record->end, (600 + 99 * 10 + 2) * kMicrosecond);
}

// At most two launches in flight: a third one waits until both are complete.
TEST(Pipelines, StopLaunchingWhileTheirWindowIsFull) {
  class Windowed : public ByPoint {
   public:
    Windowed(MapperSite site, int window, int hysteresis)
        : ByPoint(std::move(site), exact(), kCollectDefault),
          window_(window),
          hysteresis_(hysteresis) {}
    void configure_context(MapperRuntime&, const TaskView& task,
                           ContextConfigOutput& answer) override {
      EXPECT_EQ(task.name, "main");
      EXPECT_EQ(answer.max_window, 1024);
      answer.max_window = window_;
      answer.hysteresis_percent = hysteresis_;
    }

   private:
    int window_, hysteresis_;
  };
  const auto end = [&](bool traced, int window, int hysteresis) {
    Application app = pipeline(10, 999000);
    std::get<AppLoop>(app.tasks[0].body[0].node).traced = traced;
    SimulateOptions options;
    options.record = true;
    const auto machine = machine_of(1);
    const RunResult result = simulate(
        *Workload::make(app), machine,
        [&](const Processor& local) {
          return std::make_unique<Windowed>(MapperSite{machine, local}, window, hysteresis);
        },
        options);
    EXPECT_TRUE(result.ok()) << result.raw;
    return result.record->end / kMicrosecond;
  };
  // Ten tasks of 1 ms. After each two of them main wakes up in 20 us and maps the next one in 300,
  // or in 10 when it replays.
  EXPECT_EQ(end(false, 2, 50), 600 + 10 * 1000 + 4 * 320);
  EXPECT_EQ(end(true, 2, 50), 600 + 10 * 1000 + 4 * 30);
  // Mapping goes on when one of the two is complete, while the other one runs.
  EXPECT_EQ(end(false, 2, 0), 600 + 10 * 1000);
  // The last one of the window is waited for however much of it has to be free.
  EXPECT_EQ(end(false, 1, 100), 600 + 10 * 1000 + 9 * 320);
  EXPECT_EQ(end(false, 0, 100), 600 + 10 * 1000);
  EXPECT_EQ(end(false, -1, 1000), 600 + 10 * 1000);
}

// As if the application said so; loops inside of loops, and of other tasks, stay.
TEST(Pipelines, MayBeCutShort) {
  const auto loop_of = [](std::int64_t times, std::vector<AppStatement> body) {
    AppLoop loop;
    loop.count = times;
    loop.body = std::move(body);
    return loop;
  };
  const auto nested = [&](std::int64_t times) {
    Application app = pipeline(1, 1000);
    app.tasks[0].body = {{loop_of(times, {{loop_of(5, {{launch_of("outer")}})}})}};
    AppTask outer = app.tasks[1];
    outer.name = "outer";
    outer.requirements.clear();
    outer.variants[0].traffic.clear();
    outer.variants[0].leaf = false;
    outer.body = {{loop_of(4, {{launch_of("work")}})}};
    app.tasks.push_back(outer);
    return app;
  };
  SimulateOptions options;
  options.max_iterations = 3;
  const RunResult cut = run(nested(100), machine_of(1), options);
  const RunResult said = run(nested(3), machine_of(1));
  ASSERT_TRUE(cut.ok() && said.ok()) << cut.raw << said.raw;
  EXPECT_EQ(cut.tasks, 1 + 3 * 5 * (1 + 4));
  EXPECT_EQ(cut.seconds, said.seconds);
  EXPECT_EQ(run(nested(2), machine_of(1), options).tasks, 1 + 2 * 5 * (1 + 4));
}

TEST(Pipelines, WaitForAFutureThatComesLast) {
  AppLaunch work = launch_of("work");
  work.gives = "f";
  Application app = pipeline(1, 9000);
  app.tasks[0].body = {{work}, {AppWait{"f"}}, {work}};
  const RunResult result = run(app, machine_of(1));
  EXPECT_TRUE(result.ok()) << result.raw;
  // 10 us of the first, 20 to wake, 300 to map the second, 10 for it.
  EXPECT_EQ(result.record->end, (600 + 10 + 20 + 300 + 10) * kMicrosecond);
}

TEST(Pipelines, PhasesAreTimedByThemselves) {
  AppPhase phase;
  phase.name = "solve";
  phase.body = {{launch_of("work")}};
  Application app = pipeline(1, 9000);
  app.tasks[0].body = {{launch_of("work")}, {phase}, {launch_of("work")}};
  app.metric = {"flops/s", 1000, "solve"};
  const RunResult result = run(app, machine_of(1));
  EXPECT_DOUBLE_EQ(result.seconds, 330e-6);  // mapped, run, woken
  EXPECT_DOUBLE_EQ(result.throughput, 1000 / 330e-6);
  EXPECT_EQ(result.unit, "flops/s");
}

// ---- Why a run ends

TEST(Ends, OutOfMemorySaysWhatFillsIt) {
  const Application app = pieces_of(4, {main_task({{launch_of("write", {4})}}),
                                        leaf("write", {on("p", Privilege::kWriteDiscard)})});
  EXPECT_TRUE(run(app, machine_of(1, 32000)).ok());
  const RunResult result = run(app, machine_of(1, 31999));
  EXPECT_EQ(result.status, RunStatus::kMapError);
  EXPECT_EQ(ids_of(result), "[out-of-memory]");
  const Diagnostic& diagnostic = result.refusals[0].diagnostic;
  EXPECT_EQ(
      diagnostic.message,
      "no room for region 0 (p) of `write`: SYSMEM (needs 7.81 KiB, has 7.81 KiB free, 1 B too "
      "little)");
  ASSERT_EQ(diagnostic.notes.size(), 3U);
  EXPECT_EQ(diagnostic.notes[0].message,
            "SYSMEM (0, 0) needs 31.2 KiB in all, with what lies there, and has 31.2 KiB");
  EXPECT_EQ(diagnostic.notes[1].message,
            "SYSMEM (0, 0) holds 3 instances of `r`, 23.4 KiB, in use");
  EXPECT_EQ(diagnostic.notes[2].message, "point (3) of a launch of `write` over 4, on CPU (0, 0)");
  EXPECT_EQ(result.refusals[0].origin.statement, 7U);
  EXPECT_TRUE(result.raw.starts_with(
      "Default mapper failed allocation of size 8000 bytes for region requirement 0 of task write"))
      << result.raw;
  EXPECT_EQ(result.record->memories[0].peak_bytes, 24000);
}

TEST(Ends, WhatIsValidElsewhereMakesRoom) {
  // Each node in turn reads all four pieces; node 1 has room for one at a time.
  std::vector<AppStatement> body = {{launch_of("write", {4})}, {AppWait{}}};
  for (int i = 0; i < 4; ++i) {
    AppLaunch read = launch_of("read", {1});
    read.lower = {4};
    read.data = {{"p", {i}}};
    body.push_back({read});
    body.push_back({AppWait{}});
  }
  const Application app =
      pieces_of(4, {main_task(body), leaf("write", {on("p", Privilege::kWriteDiscard)}),
                    leaf("read", {on("p", Privilege::kReadOnly, {"0"})})});
  auto types = machine_of(1, 1 << 30, 4)->node_types();
  types.push_back(types[0]);
  types[1].memories[0].capacity_bytes = 8000;
  const auto machine = std::make_shared<const Machine>(*Machine::make("two", "", types, {0, 1}));
  const RunResult result = run(app, machine);
  EXPECT_TRUE(result.ok()) << result.raw;
  EXPECT_EQ(result.copies, 4);
  EXPECT_EQ(result.record->memories[1].peak_bytes, 8000);
  EXPECT_EQ(ids_of(run(app, machine, {}, exact(), kCollectNever)), "[out-of-memory]");
}

// Under the sanitizers: nothing beyond what there is is looked at.
TEST(Ends, RegionsWithoutPointsFillNothing) {
  Application app = pieces_of(
      2, {main_task({{launch_of("work", {2})}}), leaf("work", {on("p", Privilege::kReadWrite)})});
  app.regions[0].extents = {5, 0};
  app.partitions[0].colors = {2, 1};
  app.tasks[1].requirements[0].dimensions = 2;
  AppLaunch& given = std::get<AppLaunch>(app.tasks[0].body[0].node);
  given.data = {{"p", {"i", 0}}};
  const RunResult result = run(app, machine_of(1, 8));
  EXPECT_TRUE(result.ok()) << result.raw;
  EXPECT_EQ(result.tasks, 3);
  EXPECT_EQ(result.record->memories[0].peak_bytes, 0);
}

TEST(Ends, PointsInEachOthersWay) {
  const auto ends = [](Privilege first, Privilege second, Coherence coherence) {
    // Point i is on piece i by the first requirement, on the next by the second.
    AppTask work = leaf("work", {on("p", first), on("p", second)});
    for (AppRequirement& requirement : work.requirements) requirement.coherence = coherence;
    Application app = pieces_of(3, {main_task({{launch_of("work", {3})}}), work});
    std::get<AppLaunch>(app.tasks[0].body[0].node).data = {{"p", {"i"}}, {"p", {"(i + 1) % 3"}}};
    return ids_of(run(app, machine_of(1)));
  };
  using enum Privilege;
  constexpr auto kAlone = Coherence::kExclusive;
  EXPECT_EQ(ends(kReadOnly, kReadOnly, kAlone), "");
  EXPECT_EQ(ends(kReadOnly, kReadWrite, kAlone), "[interfering-points]");
  EXPECT_EQ(ends(kReduce, kReduce, kAlone), "");
  EXPECT_EQ(ends(kWriteDiscard, kReduce, kAlone), "[interfering-points]");
  EXPECT_EQ(ends(kWriteDiscard, kReadOnly, Coherence::kRelaxed), "");
}

TEST(Ends, PointsInEachOthersWayAreNamed) {
  AppTask work = leaf("work", {on("p", Privilege::kReadOnly), on("p", Privilege::kReadWrite)});
  Application app = pieces_of(3, {main_task({{launch_of("work", {3})}}), work});
  std::get<AppLaunch>(app.tasks[0].body[0].node).data = {{"p", {"i"}}, {"p", {"(i + 1) % 3"}}};
  const RunResult result = run(app, machine_of(1));
  ASSERT_EQ(ids_of(result), "[interfering-points]");
  const std::vector<DiagNote>& notes = result.refusals[0].diagnostic.notes;
  ASSERT_EQ(notes.size(), 3U);
  EXPECT_EQ(notes[0].message, "/tasks/0/body/0 of the application");
  EXPECT_EQ(notes[1].message, "point (0) has some of the same data as its region 1");
  EXPECT_EQ(notes[2].message, "point (1) of a launch of `work` over 3, on CPU (0, 0)");
}

// Two points read the piece that the last one writes.
TEST(Ends, PointsInTheWayOfSeveralReaders) {
  for (const Privilege other : {Privilege::kReadOnly, Privilege::kReduce}) {
    AppTask work = leaf("work", {on("p", other), on("p", Privilege::kReadWrite)});
    Application app = pieces_of(4, {main_task({{launch_of("work", {3})}}), work});
    std::get<AppLaunch>(app.tasks[0].body[0].node).data = {{"p", {"i < 2 ? 0 : 3"}},
                                                           {"p", {"2 - i"}}};
    EXPECT_EQ(ids_of(run(app, machine_of(1))), "[interfering-points]");
  }
}

TEST(Ends, RequirementsOfOneTaskInEachOthersWay) {
  const auto ends = [](Privilege first, Privilege second, Coherence coherence, const char* piece) {
    AppTask work = leaf("work", {on("p", first, {"1"}), on("p", second, {piece})});
    for (AppRequirement& requirement : work.requirements) requirement.coherence = coherence;
    const RunResult result =
        run(pieces_of(3, {main_task({{launch_of("work")}}), work}), machine_of(1));
    if (!result.ok()) {
      EXPECT_TRUE(
          result.raw.starts_with("Found aliasing region requirements 0 and 1 of work (UID: "))
          << result.raw;
    }
    return ids_of(result);
  };
  using enum Privilege;
  constexpr auto kAlone = Coherence::kExclusive;
  EXPECT_EQ(ends(kReadOnly, kReadWrite, kAlone, "1"), "[aliased-requirements]");
  EXPECT_EQ(ends(kReadOnly, kReadWrite, kAlone, "2"), "");
  EXPECT_EQ(ends(kReadWrite, kReadWrite, kAlone, "1"), "[aliased-requirements]");
  EXPECT_EQ(ends(kReadOnly, kReduce, kAlone, "1"), "[aliased-requirements]");
  EXPECT_EQ(ends(kReduce, kReduce, kAlone, "1"), "");
  EXPECT_EQ(ends(kReadOnly, kReadOnly, kAlone, "1"), "");
  EXPECT_EQ(ends(kReadWrite, kReadOnly, Coherence::kAtomic, "1"), "");
}

// ---- What applications may say amiss

std::string why(const Application& app, SimulateOptions options = {}) {
  const RunResult result = run(app, machine_of(2), std::move(options));
  const bool limit = result.raw.ends_with("tasks are launched") ||
                     result.raw.ends_with("of memory is needed to simulate it");
  EXPECT_EQ(result.status, limit ? RunStatus::kTooLarge : RunStatus::kExecuteError);
  EXPECT_EQ(ids_of(result), "[cannot-run]");
  return result.raw;
}

Application one_launch(const AppLaunch& given) {
  return pieces_of(4, {main_task({{given}}), leaf("work", {on("p", Privilege::kReadOnly, {"0"})})});
}

TEST(BadInput, LaunchesThatAreTooLarge) {
  EXPECT_EQ(why(one_launch(launch_of("work", {1000000000000}))),
            "more than 67108864 tasks are launched");
  EXPECT_EQ(why(one_launch(launch_of("work", {INT64_MAX}))),
            "more than 67108864 tasks are launched");
  SimulateOptions options;
  options.max_tasks = INT64_MAX;
  EXPECT_EQ(why(one_launch(launch_of("work", {1000000000000})), options),
            "more than 8388608 tasks are under way");
  AppLoop loop;
  loop.count = 3;
  loop.variable = "k";
  loop.body = {{launch_of("work", {"1 - k"})}};
  Application app = one_launch(launch_of("work"));
  app.tasks[0].body = {{loop}};
  EXPECT_EQ(why(app),
            "the domain of its launch: an extent is negative, or there are more than "
            "2^63-1 points");
}

// Of memory: by tasks that wait, what the run remembers of all, data that is told apart, tasks that
// launch.
TEST(BadInput, WhatTakesTooMuchMemory) {
  const auto refused_by = [](const Application& app, std::int64_t bytes) {
    SimulateOptions options;
    options.max_bytes = bytes;
    EXPECT_EQ(why(app, options),
              fmt::format("more than {} of memory is needed to simulate it", format_bytes(bytes)));
  };
  const auto fits = [](const Application& app, std::int64_t bytes) {
    SimulateOptions options;
    options.max_bytes = bytes;
    return run(app, machine_of(2), std::move(options)).ok();
  };
  constexpr std::int64_t kSmall = 1 << 20, kLarge = 1 << 26;
  EXPECT_TRUE(fits(one_launch(launch_of("work", {100})), kSmall));
  refused_by(one_launch(launch_of("work", {100'000})), kSmall);
  const auto one_by_one = [](std::int64_t count) {
    AppLoop loop;
    loop.count = count;
    loop.body = {{launch_of("work")}, {AppWait{}}};
    Application app = one_launch(launch_of("work"));
    app.tasks[0].body = {{loop}};
    return app;
  };
  EXPECT_TRUE(fits(one_by_one(1'000), kSmall));
  refused_by(one_by_one(100'000), kSmall);
  EXPECT_TRUE(fits(one_by_one(100'000), kLarge));
  const auto of_pieces = [](std::int64_t count) {
    return pieces_of(
        count, {main_task({{launch_of("all")}}), leaf("all", {on("r", Privilege::kReadOnly)})});
  };
  EXPECT_TRUE(fits(of_pieces(100), kSmall));
  refused_by(of_pieces(4'000), kSmall);  // their parts alone; of 10,000 the pieces, too
  refused_by(of_pieces(10'000), kSmall);
  EXPECT_TRUE(fits(of_pieces(10'000), kLarge));
  AppTask inner = main_task({{launch_of("work")}});
  inner.name = "inner";
  const Application nested = pieces_of(1, {main_task({{launch_of("inner", {1'000})}}), inner,
                                           leaf("work", {on("r", Privilege::kReadOnly)})});
  refused_by(nested, kSmall);
  EXPECT_TRUE(fits(nested, kLarge));
}

TEST(BadInput, ColoursOutside) {
  AppLaunch given = launch_of("work", {4});
  given.data = {{"p", {"i + 1"}}};
  EXPECT_EQ(why(one_launch(given)), "at point (3): `p` has no piece (4)");
  given.data = {{"p", {"1 / (2 - i)"}}};
  EXPECT_NE(why(one_launch(given)).find("it divides by zero"), std::string::npos);
  const RunResult result = run(one_launch(given), machine_of(2));
  ASSERT_EQ(result.refusals.front().diagnostic.notes.size(), 2U);
  EXPECT_EQ(result.refusals.front().diagnostic.notes[0].message,
            "/tasks/0/body/0 of the application");
}

TEST(BadInput, LoopsWithoutEnd) {
  AppLoop inner;
  inner.count = INT64_MAX;
  AppLoop outer;
  outer.count = INT64_MAX;
  Application app = one_launch(launch_of("work"));
  inner.body = {{AppWait{}}};
  outer.body = {{inner}};
  app.tasks[0].body = {{outer}};
  EXPECT_EQ(why(app), "more than 67108864 statements");
  // That end at once, and can be stopped.
  inner.body = {};
  outer.body = {{inner}};
  app.tasks[0].body = {{outer}};
  SimulateOptions options;
  int asked = 0;
  options.stop = [&] { return ++asked == 3; };
  EXPECT_EQ(run(app, machine_of(1), options).status, RunStatus::kStopped);
  EXPECT_EQ(asked, 3);
}

TEST(BadInput, TasksThatLaunchThemselves) {
  Application app = one_launch(launch_of("work"));
  app.tasks[1].variants[0].leaf = false;
  app.tasks[1].body = {{launch_of("work")}};
  EXPECT_EQ(why(app), "tasks launch each other more than 64 deep");
  app.tasks[1].requirements.clear();
  app.tasks[1].body = {{launch_of("work", {2})}};
  const std::string found = why(app);
  EXPECT_TRUE(found.starts_with("more than ")) << found;
}

TEST(BadInput, TimesBeyondAllMeasure) {
  Application app = pipeline(100, INT64_MAX);
  EXPECT_EQ(why(app), "it takes longer than 13 days, 2^60 picoseconds");
  SimulateOptions options;
  options.costs.emplace().map_s = 1e300;
  app = pieces_of(4, {main_task({{launch_of("work", {100})}}), leaf("work")});
  options.costs->issue_s = -1e300;
  EXPECT_EQ(why(app, options), "it takes longer than 13 days, 2^60 picoseconds");
}

TEST(BadInput, DataThatIsNotDescribed) {
  Application app = one_launch(launch_of("work"));
  app.tasks[1].requirements[0].data = {};
  EXPECT_NE(why(app).find("has no `data`"), std::string::npos);
  app.top_level = "";
  EXPECT_EQ(why(app), "it has no top-level task");
}

TEST(BadInput, NoMapper) {
  const auto workload = Workload::make(one_launch(launch_of("work")));
  const RunResult result =
      simulate(*workload, machine_of(1), [](const Processor&) { return nullptr; });
  EXPECT_EQ(ids_of(result), "[cannot-run]");
}

// ---- The same again

bool same(const RunResult& a, const RunResult& b) {
  if (a.status != b.status || a.seconds != b.seconds || a.tasks != b.tasks ||
      a.copies != b.copies || a.record->events.size() != b.record->events.size()) {
    return false;
  }
  for (std::size_t i = 0; i < a.record->events.size(); ++i) {
    const RunRecord::Event &x = a.record->events[i], &y = b.record->events[i];
    if (x.name != y.name || x.where != y.where || x.start != y.start || x.end != y.end ||
        x.cause != y.cause) {
      return false;
    }
  }
  return true;
}

TEST(Options, AConstantOfTheTimeModelIsAFiniteNumberAboveZero) {
  const Application app = pipeline(3, 100000);
  for (const double bad : {0.0, -1.0, HUGE_VAL, std::nan("")}) {
    for (double TimeModel::*const constant :
         {&TimeModel::host_atomic_factor, &TimeModel::host_atomic_turn}) {
      SimulateOptions options;
      options.model.*constant = bad;
      const RunResult result = run(app, machine_of(1), options);
      EXPECT_EQ(result.status, RunStatus::kExecuteError) << bad;
      EXPECT_EQ(result.raw, "a constant of the time model is not a finite number above 0");
    }
  }
}

TEST(Determinism, NoiseIsDrawnFromItsSeed) {
  const Application app = pipeline(50, 100000);
  SimulateOptions options;
  const RunResult quiet = run(app, machine_of(1), options);
  options.seed = 1;
  EXPECT_TRUE(same(quiet, run(app, machine_of(1), options)));
  options.noise = 0.1;
  const RunResult first = run(app, machine_of(1), options);
  EXPECT_TRUE(same(first, run(app, machine_of(1), options)));
  options.seed = 2;
  EXPECT_FALSE(same(first, run(app, machine_of(1), options)));
  bool shorter = false, longer = false;
  for (const RunRecord::Event& event : events_of(first, Kind::kTask, 1)) {
    const double share = static_cast<double>(event.end - event.start) / 101e6;
    EXPECT_LE(std::abs(share - 1), 0.1 + 1e-9);
    shorter |= share < 0.97;
    longer |= share > 1.03;
  }
  EXPECT_TRUE(shorter && longer);
}

TEST(Determinism, ManyAtOnceAreAsOne) {
  constexpr std::uint64_t kRuns = 60;
  const auto result_of = [](std::uint64_t seed) {
    const GeneratedRun run = generate_run(seed);
    const auto workload = Workload::make(run.app);
    SimulateOptions options;
    options.costs = run.costs;
    options.record = true;
    return simulate(*workload, run.machine, run.mappers(), options);
  };
  std::vector<RunResult> alone;
  for (std::uint64_t seed = 0; seed < kRuns; ++seed) alone.push_back(result_of(seed));
  std::vector<std::thread> threads;
  std::vector<int> different(8);
  for (std::size_t t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      for (std::uint64_t i = 0; i < kRuns; ++i) {
        const std::uint64_t seed = (i * 7 + t) % kRuns;
        different[t] += same(result_of(seed), alone[seed]) ? 0 : 1;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(different, std::vector<int>(8));
}

TEST(Stop, EndsARunNowAndThen) {
  SimulateOptions options;
  int asked = 0;
  options.stop = [&] { return ++asked > 2; };
  const RunResult result = run(pipeline(1000000, 1), machine_of(1), options);
  EXPECT_EQ(result.status, RunStatus::kStopped);
  EXPECT_TRUE(result.refusals.empty());
  EXPECT_EQ(asked, 3);
  // Within one launch, too.
  asked = 0;
  EXPECT_EQ(run(one_launch(launch_of("work", {1 << 20})), machine_of(2), options).status,
            RunStatus::kStopped);
  EXPECT_EQ(asked, 3);
}

// ---- Pieces with holes

AppPartition by_boxes(const std::string& name, std::vector<AppBox> boxes) {
  AppPartition partition;
  partition.name = name;
  partition.of = "r";
  partition.colors = {2};
  partition.boxes = std::move(boxes);
  return partition;
}

// Two pieces of ten points each. Private and shared points of one lie between each other, and the
// ghosts of one are shared points of the other: 11 and 13, and 4.
Application scattered(std::vector<AppTask> tasks) {
  Application app = pieces_of(1, std::move(tasks));
  app.regions[0].extents = {20};
  app.partitions = {
      by_boxes("private", {{{0}, {0}, {3}}, {{0}, {5}, {4}}, {{1}, {12}, {1}}, {{1}, {15}, {5}}}),
      by_boxes("shared", {{{0}, {3}, {2}}, {{0}, {9}, {1}}, {{1}, {10}, {2}}, {{1}, {13}, {2}}}),
      by_boxes("ghost", {{{0}, {11}, {1}}, {{0}, {13}, {1}}, {{1}, {4}, {1}}})};
  return app;
}

TEST(Holes, MoveOnlyThePointsThatPiecesShare) {
  const AppTask fill = leaf(
      "fill", {on("private", Privilege::kWriteDiscard), on("shared", Privilege::kWriteDiscard)});
  AppTask work =
      leaf("work", {on("private", Privilege::kReadWrite), on("shared", Privilege::kReadWrite)});
  AppTask look = leaf("look", {on("ghost", Privilege::kReadOnly)});
  look.variants[0].nanoseconds = "1000000 * points(0) + extent(0, 0)";
  const Application app = scattered(
      {main_task({{launch_of("fill", {2})}, {launch_of("work", {2})}, {launch_of("look", {2})}}),
       fill, work, look});
  const auto machine = machine_of(2);
  const RunResult wide = run(app, machine);
  ASSERT_TRUE(wide.ok()) << wide.raw;  // no point is private and shared
  const auto copies = events_of(wide, Kind::kCopy, 3);
  ASSERT_EQ(copies.size(), 2U);
  EXPECT_EQ(copies[0].bytes + copies[1].bytes, (2 + 1) * 8);
  EXPECT_EQ(copies.size(), static_cast<std::size_t>(wide.copies));
  // A piece has two points in a box of three.
  const auto looks = events_of(wide, Kind::kTask, 3);
  ASSERT_EQ(looks.size(), 2U);
  const RunTime longer = std::max(looks[0].end - looks[0].start, looks[1].end - looks[1].start);
  EXPECT_EQ(longer, kMicrosecond + 2'000'003'000);
  // Instances have all points of the box around a piece, unless they are compact.
  EXPECT_EQ(wide.record->memories[0].peak_bytes, (9 + 7 + 3) * 8);
  EXPECT_EQ(wide.record->memories[1].peak_bytes, (8 + 5 + 1) * 8);
  LayoutSpec compact = exact();
  compact.compact = true;
  const RunResult dense = run(app, machine, {}, compact);
  ASSERT_TRUE(dense.ok()) << dense.raw;
  EXPECT_EQ(dense.record->memories[0].peak_bytes, (7 + 3 + 2) * 8);
  EXPECT_EQ(dense.record->memories[1].peak_bytes, (6 + 4 + 1) * 8);
}

TEST(Holes, OverlapsAreStillErrors) {
  const AppTask work =
      leaf("work", {on("private", Privilege::kReadWrite), on("shared", Privilege::kReadWrite)});
  Application app = scattered({main_task({{launch_of("work", {2})}}), work});
  EXPECT_TRUE(run(app, machine_of(1)).ok());
  app.partitions[1].boxes.push_back({{1}, {19}, {1}});  // is private
  EXPECT_EQ(ids_of(run(app, machine_of(1))), "[aliased-requirements]");
  const AppTask write = leaf("write", {on("ghost", Privilege::kReadWrite)});
  app = scattered({main_task({{launch_of("write", {2})}}), write});
  EXPECT_TRUE(run(app, machine_of(1)).ok());
  app.partitions[2].boxes.push_back({{1}, {13}, {1}});  // is a ghost of the other
  EXPECT_EQ(ids_of(run(app, machine_of(1))), "[interfering-points]");
}

}  // namespace
}  // namespace groma::testing
