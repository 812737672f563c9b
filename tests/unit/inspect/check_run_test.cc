// check_run: what it finds, where and in which words; and against the embedded runtime, over random
// mappings: what it passes runs, what it refuses is refused.
#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <iostream>
#include <string>
#include <thread>
#include <vector>

#include "app/data.h"
#include "base/random.h"
#include "groma/app_builder.h"
#include "groma/benchmarks.h"
#include "groma/inspect.h"
#include "groma/run.h"
#include "groma/search_space.h"
#include "support/run_generator.h"

namespace groma {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

// ---- What is found

Workload made(AppBuilder& app) {
  auto made = Workload::make(app.top_level("main").done());
  EXPECT_TRUE(made.ok()) << made.error().message;
  return *made;
}

// `rounds` rounds of `work` over 8 points, each of a piece of 1,000,000 elements of x and of all of
// y, after `init`, which writes both.
Workload stencil(const Formula& rounds = 10, const Formula& points = 8) {
  AppBuilder app("app");
  app.region("x", {8'000'000}).field("a", 8).field("b", 8).partition("parts", {8});
  app.region("y", {1'000}).field("c", 4);
  LayoutDemand demand;
  demand.requirement = 0;
  demand.fields = FieldOrder::kSoa;
  app.task("init").variant(cpu().leaf()).discards("parts").ignores("y");
  app.task("set").variant(cpu().leaf()).discards("y");
  app.task("work").variant(gpu().leaf().demand(demand)).variant(omp().leaf());
  app.writes("parts").reads("y");
  app.task("main").variant(cpu().inner());
  app.body({launch("init").over({8}), launch("set"), wait(),
            loop(rounds,
                 {launch("work").over({points}, {"i"}).on("parts", {"i % 8"}).on("y"), wait()})});
  return made(app);
}

std::string checked(const std::string& text, const Workload& app,
                    const Machine& machine = *make_machine("p100x4"),
                    const CheckOptions& options = {}) {
  const Source source("a.mapper", text);
  Diagnostics diags(source);
  const auto bound = bind(compile(source, diags), machine, diags);
  EXPECT_TRUE(bound) << render(diags);
  diags.clear();  // of the program by itself
  if (bound) check_run(*bound, app, diags, options);
  return render(diags);
}

// p100x4 with so many bytes in a memory.
Machine with(MemKind kind, std::int64_t bytes) {
  NodeType type = make_machine("p100x4")->node(0);
  for (MemoryGroup& memory : type.memories) {
    if (memory.kind == kind) memory.capacity_bytes = bytes;
  }
  return *Machine::make("small", "", {std::move(type)}, {0});
}

TEST(CheckRun, FindsNothingInWhatRuns) {
  EXPECT_THAT(checked("Task * GPU, OMP, CPU;\nRegion * * GPU FBMEM, ZCMEM;", stencil()), IsEmpty());
}

TEST(CheckRun, SaysWhereWhyAndWhatToDo) {
  EXPECT_EQ(checked("Task * GPU, CPU;\nRegion work parts GPU SYSMEM;", stencil()),
            "a.mapper:2:1: error: region 0 of `work` has no possible memory: SYSMEM (GPU cannot "
            "address it) "
            "[no-memory]\n"
            "    2 | Region work parts GPU SYSMEM;\n"
            "      | ^~~~~~~~~~~~~~~~~~~~~~~~~~~~\n"
            "note: point (0) of a launch of `work` over 8, on GPU (0, 0)\n"
            "help: name a memory that its processor can address in a `Region` statement\n");
}

// The user knows the launch's own coordinates, the function sees them from its lower corner on.
TEST(CheckRun, SaysWhereALaunchBegins) {
  AppBuilder app("app");
  app.region("x", {100}).field("a", 8);
  app.task("work").variant(gpu().leaf()).reads("x");
  app.task("main").variant(cpu().inner());
  AppLaunch work;
  work.task = "work";
  work.domain = {2, 7};
  work.lower = {3, -1};
  app.body({{work}});
  const std::string found = checked(
      "Task * GPU, CPU;\nm = Machine(GPU);\n"
      "def f(Task t) { return m[0, t.ipoint[1]]; }\nIndexTaskMap work f;\n",
      made(app));
  EXPECT_THAT(found, HasSubstr("index 1 is 4, outside of [0, 4) [slice-index-out-of-bound]"));
  EXPECT_THAT(found,
              HasSubstr("note: while `f` maps point (3, 3) of a launch of (2, 7) that begins "
                        "at (3, -1), where `ipoint` is (0, 4)\n"));
  EXPECT_THAT(checked("Task * GPU, CPU;\nRegion work x GPU SYSMEM;", made(app)),
              HasSubstr("note: point (3, -1) of a launch of `work` over 2 x 7 from (3, -1), on GPU "
                        "(0, 0)\n"));
}

// `work` has two variants for GPUs, which demand C order and Fortran order of the region.
Workload of_two_variants(bool cpu_was_chosen, bool first_was_chosen) {
  AppBuilder app("app");
  app.region("x", {100, 100}).field("a", 8);
  LayoutDemand demand;
  demand.dimensions = DimensionOrder::kC;
  AppVariant on_cpu = cpu().leaf(), first = gpu().leaf().demand(demand);
  on_cpu.chosen_by_mapper = cpu_was_chosen;
  first.chosen_by_mapper = first_was_chosen;
  demand.dimensions = DimensionOrder::kFortran;
  app.task("work").variant(on_cpu).variant(first).variant(gpu().leaf().demand(demand)).reads("x");
  app.task("main").variant(cpu().inner());
  app.body({launch("work").over({8}), launch("work")});
  return made(app);
}

TEST(CheckRun, HoldsALayoutToTheVariantsThatTheProgramsMapperChose) {
  const std::string c_order = "Task * GPU, CPU;\nLayout work 0 * C_order;\n";
  // Without such a mapper the last variant runs.
  EXPECT_THAT(checked(c_order, of_two_variants(false, false)), HasSubstr("[layout-refused]"));
  EXPECT_THAT(checked(c_order, of_two_variants(true, true)), IsEmpty());
  EXPECT_THAT(checked("Task * GPU, CPU;\nLayout work 0 * F_order;\n", of_two_variants(true, true)),
              HasSubstr("its variant wants C_order, the mapping says F_order [layout-refused]"));
  // What stays open follows whichever variant runs.
  EXPECT_THAT(
      checked("Task * GPU, CPU;\nLayout work 0 * Align==128;\n", of_two_variants(true, true)),
      IsEmpty());
}

TEST(CheckRun, SaysOnceThatItDoesNotKnowTheVariant) {
  const Workload app = of_two_variants(true, false);
  EXPECT_EQ(checked("Task * GPU, CPU;\nLayout work 0 * C_order;\n", app),
            "a.mapper:2:1: warning: region 0 of `work`: only some of its GPU variants accept this "
            "layout, and the recording does not tell which one the program's own mapper takes "
            "[variant-unknown]\n"
            "    2 | Layout work 0 * C_order;\n"
            "      | ^~~~~~~~~~~~~~~~~~~~~~~\n");
  EXPECT_THAT(checked("Task * CPU;\nLayout work 0 * C_order;\n", app), IsEmpty());
  EXPECT_THAT(checked("Task * GPU, CPU;\nLayout work 0 * Align==128;\n", app), IsEmpty());
}

TEST(CheckRun, FindsAllThatIsWrongNotOnlyWhatComesFirst) {
  const std::string found =
      checked("Task * GPU, CPU;\nTask set GPU;\nRegion init * CPU FBMEM;\nLayout work 0 * AOS;\n",
              stencil());
  EXPECT_THAT(found, HasSubstr("a.mapper:2:1: error: `set` can run on none of its kinds: `GPU` "
                               "[no-variant]"));
  EXPECT_THAT(
      found, HasSubstr("a.mapper:3:1: error: region 0 of `init` has no possible memory: FBMEM (CPU "
                       "cannot address it) [no-memory]"));
  EXPECT_THAT(found,
              HasSubstr("a.mapper:4:1: error: region 0 of `work`: its variant wants SOA, the "
                        "mapping says AOS [layout-refused]"));
}

TEST(CheckRun, FindsMemoriesThatTheMachineLacks) {
  EXPECT_THAT(
      checked("Task * OMP, CPU;\nRegion work 1 OMP SOCKMEM;", stencil(),
              with(MemKind::kSockmem, 0)),
      HasSubstr(
          "a.mapper:2:1: error: region 1 of `work` has no possible memory: SOCKMEM (node 0 has "
          "none) [no-memory]"));
}

TEST(CheckRun, FindsVirtualDataThatALeafTouches) {
  EXPECT_THAT(
      checked("Region work y * VIRTUAL;", stencil()),
      HasSubstr("a.mapper:1:1: error: region 1 of `work` cannot be virtual: the variant is a "
                "leaf, so nobody else maps it [bad-virtual]"));
}

TEST(CheckRun, FindsThePointThatAFunctionSendsBeyondTheMachine) {
  const std::string found = checked(
      "m = Machine(GPU);\ndef f(Task task) { return m[0, task.ipoint[0]]; }\nIndexTaskMap work f;",
      stencil());
  EXPECT_THAT(found, HasSubstr("a.mapper:2:32: error: index 1 is 4, outside of [0, 4) "
                               "[slice-index-out-of-bound]"));
  EXPECT_THAT(found, HasSubstr("note: in a launch of `work`"));
}

TEST(CheckRun, FindsFunctionsThatTakeForEver) {
  EXPECT_THAT(
      checked(
          "t = (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);\n"
          "def f(Task task) {\n"
          "  n = tuple(tuple(tuple(tuple(tuple(1 for a in t).len for b in t).len for c in t).len "
          "for d in t).len for e in t);\n"
          "  return Machine(GPU)[0, n.len - 16];\n}\nIndexTaskMap work f;",
          stencil()),
      HasSubstr("[step-limit]"));
}

TEST(CheckRun, FindsTaskThatNeedsMoreThanItsMemoryHas) {
  EXPECT_THAT(
      checked("Region work parts GPU FBMEM;", stencil(), with(MemKind::kFbmem, 15'000'000)),
      AllOf(HasSubstr("a.mapper:1:1: error: no room for region 0 (parts) of `work`: FBMEM "
                      "(needs 15.3 MiB, has 14.3 MiB free, 977 KiB too little) [out-of-memory]"),
            HasSubstr("note: FBMEM (0, 0) needs 15.3 MiB in all, with what lies there, and "
                      "has 14.3 MiB\n"),
            HasSubstr("help: name a memory with more room")));
}

TEST(CheckRun, FindsDataThatIsNowhereElse) {
  // 8 pieces of 16 MB are written on one GPU; none may go before it was copied, and nobody copies.
  const std::string text =
      "m = Machine(GPU);\ndef f(Task task) { return m[0, 0]; }\nIndexTaskMap work f;\n"
      "Region work parts GPU FBMEM;";
  EXPECT_THAT(checked(text, stencil(), with(MemKind::kFbmem, 120'000'000)),
              HasSubstr("a.mapper:4:1: error: no room for region 0 (parts) of `work`"));
  EXPECT_THAT(checked(text, stencil(), with(MemKind::kFbmem, 130'000'000)), IsEmpty());
}

TEST(CheckRun, WarnsWhereTheOrderOfTasksDecides) {
  // All read on one GPU, which has room for some: those before may go once their tasks are over.
  AppBuilder app("app");
  app.region("x", {8'000'000}).field("a", 8).partition("parts", {8});
  app.task("init").variant(cpu().leaf()).discards("parts");
  app.task("work").variant(gpu().leaf()).reads("parts");
  app.task("main").variant(cpu().inner());
  app.body({launch("init").over({8}), wait(), launch("work").over({8})});
  const Workload reads = made(app);
  const std::string text =
      "m = Machine(GPU);\ndef f(Task task) { return m[0, 0]; }\nIndexTaskMap work f;\n"
      "Region work parts GPU FBMEM;\n";
  EXPECT_EQ(checked(text, reads, with(MemKind::kFbmem, 20'000'000)),
            "a.mapper:4:1: warning: FBMEM (0, 0) may be too small for the data of the mapping: "
            "61.0 MiB needed in all, 19.1 MiB available [may-not-fit]\n"
            "    4 | Region work parts GPU FBMEM;\n"
            "      | ^~~~~~~~~~~~~~~~~~~~~~~~~~~\n"
            "note: 42.0 MiB too little, if no instance is given up before another is needed\n"
            "note: 8 instances of `x`, 61.0 MiB, first for region 0 of `work`\n"
            "help: name a memory with more room, or one more after it, in the `Region` statement; "
            "`CollectMemory` lets go what was only read\n");
  // An alignment changes the size of an instance only a little.
  EXPECT_THAT(checked(text + "Layout work parts GPU SOA Align==4096;\n", reads,
                      with(MemKind::kFbmem, 20'000'000)),
              HasSubstr("61.0 MiB needed in all, 19.1 MiB available [may-not-fit]"));
  // What comes after it has room.
  EXPECT_THAT(
      checked("m = Machine(GPU);\ndef f(Task task) { return m[0, 0]; }\nIndexTaskMap work f;\n"
              "Region work parts GPU FBMEM, ZCMEM;\n",
              reads, with(MemKind::kFbmem, 20'000'000)),
      IsEmpty());
  // Less than a task needs is certain.
  EXPECT_THAT(checked(text, reads, with(MemKind::kFbmem, 7'000'000)), HasSubstr("[out-of-memory]"));
}

// The node of p100x4 with one GPU.
NodeType one_gpu() { return make_machine("p100x4:gpu=1")->node(0); }

NodeType without_zcmem_for_gpus(NodeType node) {
  std::erase_if(node.affinities, [](const Affinity& each) {
    return each.processor == ProcKind::kGpu && each.memory == MemKind::kZcmem;
  });
  return node;
}

NodeType without_channels_of_zcmem(NodeType node) {
  std::erase_if(node.channels, [](const Channel& each) {
    return each.from == MemKind::kZcmem || each.to == MemKind::kZcmem;
  });
  return node;
}

// Checks tasks that start on the GPU of the first node and that the GPU of the second node may
// steal. They take ZCMEM, or else FBMEM.
std::string checked_with_thief(NodeType first, NodeType thiefs) {
  return checked(
      "m = Machine(GPU);\ndef f(Task task) { return m[0, 0]; }\nIndexTaskMap work f;\n"
      "InstanceLimit work GPU 1;\nTaskSteal work GPU ANY_NODE;\n"
      "Region work * GPU ZCMEM, FBMEM;\n",
      stencil(), *Machine::make("unequal", "", {std::move(first), std::move(thiefs)}, {0, 1}));
}

TEST(CheckRun, LooksAtTheMemoriesThatAThiefCanAddress) {
  // The thief takes FBMEM, so its node's ZCMEM does not count.
  NodeType thiefs = without_zcmem_for_gpus(without_channels_of_zcmem(one_gpu()));
  EXPECT_THAT(checked_with_thief(one_gpu(), thiefs), IsEmpty());
  // This FBMEM counts, even though the tasks need none on the first node.
  for (MemoryGroup& memory : thiefs.memories) {
    if (memory.kind == MemKind::kFbmem) memory.capacity_bytes = 1'000'000;
  }
  EXPECT_THAT(checked_with_thief(one_gpu(), thiefs),
              HasSubstr("warning: FBMEM (1, 0) may be too small"));
  // The thief's ZCMEM counts, even though the first node's GPU cannot address its own.
  EXPECT_THAT(
      checked_with_thief(without_zcmem_for_gpus(one_gpu()), without_channels_of_zcmem(one_gpu())),
      HasSubstr("ZCMEM of node 1"));
}

TEST(CheckRun, WaitsLetGoWhatWasRead) {
  // As above, but the tasks before are over when the next needs room.
  AppBuilder app("app");
  app.region("x", {8'000'000}).field("a", 8).partition("parts", {8});
  app.task("init").variant(cpu().leaf()).discards("parts");
  app.task("work", {"k"}).variant(gpu().leaf()).reads("parts", {}, {"k"});
  app.task("main").variant(cpu().inner());
  app.body({launch("init").over({8}), wait(), loop(8, {launch("work").with({"k"}), wait()}, "k")});
  const Workload one_by_one = made(app);
  const std::string text =
      "m = Machine(GPU);\ndef f(Task task) { return m[0, 0]; }\nSingleTaskMap work f;\n"
      "Region work parts GPU FBMEM;\n";
  EXPECT_THAT(checked(text, one_by_one, with(MemKind::kFbmem, 20'000'000)), IsEmpty());
}

TEST(CheckRun, FindsPiecesThatThereAreNot) {
  AppBuilder app("app");
  app.region("x", {80}).field("a", 8).partition("parts", {8});
  app.task("work").variant(cpu().leaf()).reads("parts");
  app.task("main").variant(cpu());
  app.body({launch("work").over({8}, {"i"}).on("parts", {"i + i / 7"})});
  EXPECT_THAT(checked("Task * CPU;", made(app)),
              HasSubstr("error: `work` cannot be run: at point (7): `parts` has no piece (8) "
                        "[cannot-run]"));
}

TEST(CheckRun, FindsRequirementsInEachOthersWay) {
  AppBuilder app("app");
  app.region("x", {80}).field("a", 8);
  app.task("work").variant(cpu().leaf()).writes("x").reads("x");
  app.task("main").variant(cpu());
  app.body({launch("work")});
  EXPECT_THAT(checked("Region work * CPU SYSMEM;", made(app)),
              HasSubstr("requirements 0 and 1 of `work` conflict"));
}

// Whether they have instances or hand on what they share.
TEST(CheckRun, FindsPointsInEachOthersWayThatAreVirtual) {
  AppBuilder app("app");
  app.region("x", {80}).field("a", 8);
  app.task("part").variant(cpu().leaf()).writes("x");
  app.task("work").variant(cpu().inner()).writes("x").body({launch("part")});
  app.task("main").variant(cpu());
  app.body({launch("work").over({2})});
  for (const char* text : {"Region work * CPU SYSMEM;", "Region work * CPU VIRTUAL;"}) {
    EXPECT_THAT(checked(text, made(app)), HasSubstr("[interfering-points]")) << text;
  }
}

// ---- How long it takes

TEST(CheckRun, LooksAtRoundsUntilTheyRepeat) {
  CheckOptions few;
  few.max_steps = 100;
  // 2^22 rounds of 8 points are many, but not more than run.
  EXPECT_THAT(checked("Task * GPU, CPU;", stencil(1 << 22), *make_machine("p100x4"), few),
              IsEmpty());
  EXPECT_THAT(
      checked("Task * GPU, CPU;", stencil(std::int64_t{1} << 40), *make_machine("p100x4"), few),
      HasSubstr("more than 67108864 tasks are launched [cannot-run]"));
}

TEST(CheckRun, SaysWhatItDidNotLookAt) {
  EXPECT_THAT(checked("Task * GPU, CPU;", stencil(1, std::int64_t{1} << 40)),
              HasSubstr("more than 67108864 tasks are launched [cannot-run]"));
  EXPECT_THAT(checked("Task * GPU, CPU;", stencil(1, 1 << 21)),
              HasSubstr("warning: not all of `app` was checked: it takes more than 1048576 steps, "
                        "statements and points of launches [check-incomplete]"));
  CheckOptions stopped;
  stopped.stop = [] { return true; };
  EXPECT_THAT(
      checked("Task * GPU, CPU;", stencil(1, 1 << 10), *make_machine("p100x4"), stopped),
      HasSubstr("warning: not all of `app` was checked: it was stopped [check-incomplete]"));
}

TEST(CheckRun, LooksNoFurtherThanTheFirstErrorIfThatIsEnough) {
  const std::string text = "Task * GPU, CPU;\nRegion work * GPU SYSMEM;\nRegion init * CPU FBMEM;";
  const std::string all = checked(text, stencil());
  EXPECT_THAT(all, AllOf(HasSubstr("of `init`"), HasSubstr("of `work`")));
  CheckOptions enough;
  enough.first_error = true;
  const std::string first = checked(text, stencil(), *make_machine("p100x4"), enough);
  EXPECT_THAT(first, AllOf(HasSubstr("error: "), Not(HasSubstr("of `work`"))));
  EXPECT_THAT(all, HasSubstr(first));
  // A warning is not an error.
  EXPECT_EQ(checked("Task * GPU, CPU;", stencil(1, 1 << 21), *make_machine("p100x4"), enough),
            checked("Task * GPU, CPU;", stencil(1, 1 << 21)));
}

TEST(CheckRun, ThreadsShareABinding) {
  const Source source("a.mapper", "Task * GPU, CPU;\nRegion work parts GPU SYSMEM;");
  Diagnostics diags(source);
  const auto bound = bind(compile(source, diags), *make_machine("p100x4"), diags);
  const Workload app = stencil();
  std::array<std::string, 4> found;
  std::vector<std::thread> threads;
  for (std::string& each : found) {
    threads.emplace_back([&] {
      Diagnostics own(source);
      check_run(*bound, app, own);
      each = render(own);
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::string& each : found) {
    EXPECT_EQ(each, checked(std::string(source.text()), app));
  }
}

// ---- Random mappings

// Draws a mapping of any application: every statement, names that the application has, memories and
// layouts that often do and sometimes do not suit.
class MappingDraws {
 public:
  MappingDraws(const app::Data& app, std::uint64_t seed) : app_(app), seed_(seed * 2 + 1) {}

  std::string draw() {
    hostile_ = percent(30);
    text_ = "mgpu = Machine(GPU);\nmcpu = Machine(CPU);\n";
    text_ +=
        "def spread(Task task) {\n  i = task.ipoint[0];\n"
        "  return mgpu[i / mgpu.size[1] % mgpu.size[0], i % mgpu.size[1]];\n}\n"
        "def reversed(Task task) {\n"
        "  return mgpu[0, mgpu.size[1] - 1 - task.ipoint[0] % mgpu.size[1]];\n}\n"
        "def beyond(Task task) { return mgpu[0, task.ipoint[0]]; }\n"
        "def together(Task task) { return mgpu[0, 0]; }\n"
        "def hosts(Task task) { return mcpu[0, task.ipoint[0] % mcpu.size[1]]; }\n"
        "def any(Task task) { return mgpu.slice(1, task.ipoint[0] % 2, 2); }\n"
        "def near(Task task) { return mgpu[*task.parent.processor(mgpu)]; }\n";
    if (percent(90))
      line("Task * " + of({"GPU, OMP, CPU", "OMP, CPU, GPU", "CPU, OMP, GPU"}) + ";");
    for (const app::Task& task : app_.tasks) {
      if (!percent(20)) continue;
      line("Task " + task.name + " " + of({"CPU, GPU", "GPU, OMP, CPU", "OMP, CPU, GPU"}) + ";");
      if (hostile_ && percent(20)) line("Task " + task.name + " " + of({"CPU", "GPU"}) + ";");
    }
    if (percent(70)) line("Region * * GPU " + memories(true) + ";");
    if (percent(50)) line("Region * * CPU " + memories(false) + ";");
    order_ = of({" C_order", " F_order"});
    if (percent(80)) line("Layout * * * SOA" + order_ + of({"", " Align==64", " Compact"}) + ";");
    for (int n = below(6); n > 0; --n) {
      line("Region " + task() + " " + region() + " GPU " + memories(true) + ";");
    }
    for (int n = below(3); n > 0; --n) {
      line("Region " + task() + " " + region() + " CPU " + memories(false) + ";");
    }
    for (int n = below(4); n > 0; --n) {
      line("Layout " + task() + " " + region() + " * " + layout() + ";");
    }
    for (int n = below(3); n > 0; --n) line("CollectMemory " + task() + " " + region() + ";");
    for (int n = below(4); n > 0; --n) {
      line("IndexTaskMap " + task() + " " +
           of(hostile_ ? std::vector<std::string>{"beyond", "hosts"}
                       : std::vector<std::string>{"spread", "reversed", "together", "any"}) +
           ";");
    }
    if (percent(hostile_ ? 20 : 4)) line("SingleTaskMap " + task() + " near;");
    if (percent(15)) line("InstanceLimit " + task() + " " + std::to_string(1 + below(4)) + ";");
    if (percent(10)) line("ControlReplicate " + task() + ";");
    if (percent(20)) {
      const std::string stolen = task();
      line("InstanceLimit " + stolen + " " + std::to_string(1 + below(2)) + ";");
      line("TaskSteal " + stolen + of({" GPU", " GPU", " CPU"}) +
           of({" SAME_NODE;", " ANY_NODE;"}));
    }
    return text_;
  }

 private:
  int below(int n) {
    return static_cast<int>(random_at(seed_, drawn_++) % static_cast<std::uint64_t>(n));
  }
  bool percent(int chance) { return below(100) < chance; }
  std::string of(const std::vector<std::string>& all) {
    return all[static_cast<std::size_t>(below(static_cast<int>(all.size())))];
  }
  void line(const std::string& text) { text_ += text + "\n"; }
  std::string task() {
    if (percent(15)) return "*";
    return app_.tasks[static_cast<std::size_t>(below(static_cast<int>(app_.tasks.size())))].name;
  }
  std::string region() {
    std::vector<std::string> names = {"*", "0", "1", "2"};
    for (const app::Region& each : app_.regions) names.push_back(each.name);
    for (const app::Partition& each : app_.partitions) names.push_back(each.name);
    return of(names);
  }
  std::string memories(bool device) {
    if (hostile_ && percent(20)) return "VIRTUAL";
    if (hostile_ && percent(20)) device = !device;
    if (device) return of({"FBMEM", "FBMEM", "ZCMEM", "FBMEM, ZCMEM", "ZCMEM, FBMEM"});
    return of({"SYSMEM", "SYSMEM", "ZCMEM", "SOCKMEM", "SOCKMEM, SYSMEM", "ZCMEM, SYSMEM"});
  }
  std::string layout() {
    const std::string rest = of({"", "", "", " Align==128", " Exact", " Compact"});
    return hostile_ ? of({"SOA", "AOS"}) + of({" C_order", " F_order"}) + rest
                    : "SOA" + order_ + rest;
  }

  const app::Data& app_;
  std::uint64_t seed_, drawn_ = 0;
  std::string text_, order_;
  bool hostile_ = false;  // says more often what nobody can do
};

// The machine with so much less memory of each kind that an application of so many bytes is often
// too much for it.
Machine tight(const Machine& machine, std::int64_t bytes, int seed) {
  std::vector<NodeType> types;
  std::vector<std::uint32_t> nodes(static_cast<std::size_t>(machine.node_count()), 0);
  NodeType type = machine.node(0);
  for (MemoryGroup& memory : type.memories) {
    const std::int64_t tenths = 2 + (seed * 7 + static_cast<int>(memory.kind) * 5) % 19;
    const std::int64_t part = memory.kind == MemKind::kFbmem ? 4 : 1;
    memory.capacity_bytes = std::max<std::int64_t>(1, bytes / part / 10 * tenths);
  }
  types.push_back(std::move(type));
  return *Machine::make(machine.name(), "", std::move(types), std::move(nodes));
}

std::int64_t bytes_of(const app::Data& data) {
  std::int64_t bytes = 0;
  for (const app::Region& region : data.regions) {
    for (const AppField& field : region.fields) bytes += field.bytes * region.box.volume();
  }
  return bytes;
}

struct Counts {
  int mappings = 0, refused = 0, may_not_fit = 0, may_fail = 0, failed = 0;

  std::string text() const {
    return std::to_string(mappings) + " mappings, " + std::to_string(refused) + " refused; " +
           std::to_string(may_not_fit) + " may not fit, " + std::to_string(may_fail) +
           " may fail otherwise, of which " + std::to_string(failed) + " do";
  }
};

// One mapping both ways: what is passed runs, what is refused is refused; of what may be either is
// counted.
void compare(const std::string& text, const Workload& app, const Machine& machine,
             const std::string& what, Counts& counts) {
  const Source source("drawn.mapper", text);
  Diagnostics diags(source);
  const auto bound = bind(compile(source, diags), machine, diags);
  if (!bound) return;  // without a GPU, say
  Diagnostics checked(source), ran(source);
  check_run(*bound, app, checked);
  const RunResult result = run(*bound, app, {}, ran);
  ++counts.mappings;
  if (checked.has_errors() || checked.all().empty()) {
    counts.refused += checked.has_errors() ? 1 : 0;
    EXPECT_EQ(result.ok(), !checked.has_errors()) << what << "\n"
                                                  << text << "checked:\n"
                                                  << render(checked) << "ran:\n"
                                                  << render(ran);
    return;
  }
  const bool memory =
      std::any_of(checked.all().begin(), checked.all().end(),
                  [](const Diagnostic& each) { return each.id == DiagId::kMayNotFit; });
  (memory ? counts.may_not_fit : counts.may_fail) += 1;
  counts.failed += result.ok() ? 0 : 1;
}

Workload small(const Benchmark& app, const std::string& more) {
  auto with = with_values(app.make(), "size=small" + more);
  EXPECT_TRUE(with.ok());
  return *Workload::make(*with);
}

// Half of the mappings from the search space, half from everywhere; every other on the machine with
// little memory.
void compare_benchmarks(const std::string& machine, const std::string& values, int draws) {
  const Machine whole = *make_machine(machine);
  for (const Benchmark& app : benchmarks()) {
    const Workload workload = small(app, values);
    const tuning::SearchSpace space(whole, workload, tuning::SearchGranularity::kArguments);
    const std::int64_t bytes = bytes_of(workload.data());
    Counts counts;
    for (int seed = 0; seed < draws && !::testing::Test::HasFailure(); ++seed) {
      const auto number = static_cast<std::uint64_t>(seed);
      const std::string text =
          seed % 4 < 2 ? space.sample_text(number) : MappingDraws(workload.data(), number).draw();
      compare(text, workload, seed % 2 == 0 ? whole : tight(whole, bytes, seed / 2),
              std::string(app.name) + ", draw " + std::to_string(seed), counts);
    }
    std::cout << app.name << " on " << machine << ": " << counts.text() << "\n";
    EXPECT_GT(counts.mappings - counts.refused, draws / 20);
    EXPECT_GT(counts.refused, draws / 20);
  }
}

TEST(CheckAgainstRun, BenchmarksOnOneNode) { compare_benchmarks("p100x4", "", 200); }

TEST(CheckAgainstRun, BenchmarksOnTwoNodes) {
  compare_benchmarks("p100x4:nodes=2", ",nodes=2", 100);
}

// Tasks in tasks, unequal nodes, missing channels, little memory.
TEST(CheckAgainstRun, RandomApplications) {
  Counts counts;
  for (std::uint64_t seed = 0; seed < 2'000 && !::testing::Test::HasFailure(); ++seed) {
    const testing::GeneratedRun run = testing::generate_run(seed);
    const auto app = Workload::make(run.app);
    if (!app.ok()) continue;
    compare(MappingDraws(app->data(), seed).draw(), *app, *run.machine,
            "run " + std::to_string(seed), counts);
  }
  std::cout << counts.text() << "\n";
  EXPECT_GT(counts.mappings, 500);
}

}  // namespace
}  // namespace groma
