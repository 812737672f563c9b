// Every statement through the hook that takes it, and what a mapper object remembers.
#include "groma/program_mapper.h"

#include <gmock/gmock.h>

#include <thread>

#include "unit/mapper/hooks.h"

namespace groma::test {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Machine grid() { return machine_of("nodes=2,gpu=2,cpu=4,omp=2"); }

// ---- Task

TEST(ProgramMapper, TaskPicksTheFirstKindThatThereIs) {
  Mapping mapping("Task * GPU,OMP,CPU;\nTask host CPU;\nTask py PY,OMP;\n", grid());
  ProgramMapper& mapper = mapping.on(cpu(0, 0));
  const auto kind = [&](const char* name, std::initializer_list<ProcKind> variants) {
    FakeTask task(name, variants, static_cast<TaskId>(name[0]));
    const TaskOptions options = options_of(mapper, task.view());
    if (options.failure) return text_of(*options.failure);
    EXPECT_THAT(text_of(validate(options, task.view(), mapping.machine())), IsEmpty());
    return std::string(name_of(options.initial.kind)) + " " + mapper.describe(options.kind_origin);
  };
  using enum ProcKind;
  EXPECT_EQ(kind("any", {kCpu, kOmp, kGpu}), "GPU test.mapper:1:1: `Task * GPU,OMP,CPU`");
  EXPECT_EQ(kind("any", {kCpu, kOmp}), "OMP test.mapper:1:1: `Task * GPU,OMP,CPU`");
  EXPECT_EQ(kind("host", {kGpu, kCpu}), "CPU test.mapper:2:1: `Task host CPU`");
  EXPECT_EQ(kind("py", {kPy, kOmp, kGpu}), "OMP test.mapper:3:1: `Task py PY,OMP`");
  EXPECT_EQ(kind("host", {kGpu}), "`host` can run on none of its kinds: `CPU` [no-variant]");
}

TEST(ProgramMapper, NoVariantNamesStatementVariantsAndMachine) {
  Mapping mapping("Task host CPU;\n", machine_of("nodes=1,gpu=1,cpu=1,omp=0"));
  FakeTask task("host", {ProcKind::kGpu});
  const TaskOptions options = options_of(mapping.on(cpu(0, 0)), task.view());
  ASSERT_TRUE(options.failure.has_value());
  const std::string text = render(mapping.bound.program().source(), *options.failure);
  EXPECT_THAT(text, HasSubstr("test.mapper:1:1: error:"));
  EXPECT_THAT(text, HasSubstr("it has variants for `GPU`"));
  EXPECT_THAT(text, HasSubstr("has `CPU` and `GPU`"));
  const MapTaskOutput choice = choice_of(mapping.on(cpu(0, 0)), task.at(cpu(0, 0)));
  ASSERT_TRUE(choice.failure.has_value());
  EXPECT_EQ(choice.failure->id, DiagId::kNoVariant);
}

TEST(ProgramMapper, WithoutStatementsItIsTheDefaultMapper) {
  const Machine machine = unequal({"nodes=1,cpu=2,gpu=1", "nodes=1,cpu=1,gpu=4"});
  Mapping mapping("", machine);
  ProgramMapper& mapper = mapping.on(cpu(1, 0));
  DefaultMapper plain({std::make_shared<Machine>(machine), cpu(1, 0), {}, nullptr});
  for (int depth = 0; depth < 3; ++depth) {
    FakeTask task("t", {ProcKind::kCpu, ProcKind::kGpu});
    task.variants[0].replicable = true;
    task.base.depth = depth;
    task.region({"r"});
    task.region({"s"}, Privilege::kReduce);
    for (int round = 0; round < 4; ++round) {
      const TaskOptions a = options_of(mapper, task.view()), b = options_of(plain, task.view());
      EXPECT_EQ(a.initial, b.initial);
      EXPECT_EQ(a.replicate, b.replicate);
    }
    task.launch(rect({9, 4}));
    const SliceTaskOutput a = slices_of(mapper, task.at(gpu(0, 0)), rect({9, 4}));
    const SliceTaskOutput b = slices_of(plain, task.at(gpu(0, 0)), rect({9, 4}));
    ASSERT_EQ(a.slices.size(), b.slices.size());
    for (std::size_t i = 0; i < a.slices.size(); ++i) {
      EXPECT_EQ(list_of(a.slices)[i].box.lower, list_of(b.slices)[i].box.lower);
      EXPECT_EQ(list_of(a.slices)[i].processor, list_of(b.slices)[i].processor);
    }
    for (const Processor& p : {cpu(0, 1), gpu(1, 3)}) {
      const MapTaskOutput x = choice_of(mapper, task.at(p)), y = choice_of(plain, task.at(p));
      EXPECT_EQ(x.variant, y.variant);
      EXPECT_EQ(x.processors, y.processors);
      for (std::size_t i = 0; i < 2; ++i) {
        EXPECT_EQ(memories_of(x.requirements[i]), memories_of(y.requirements[i]));
        EXPECT_EQ(x.requirements[i].region, y.requirements[i].region);
        EXPECT_EQ(x.requirements[i].collect_priority, y.requirements[i].collect_priority);
      }
    }
  }
  EXPECT_EQ(mapper.describe({}), "");
}

// ---- Region

TEST(ProgramMapper, RegionCandidatesInOrder) {
  Mapping mapping(
      "Region * * GPU ZCMEM;\n"
      "Region t r GPU FBMEM;\n"
      "Region * r * SYSMEM,FBMEM;\n"
      "Region t 1 GPU RDMEM,ZCMEM;\n",
      grid());
  FakeTask task("t", {ProcKind::kGpu, ProcKind::kCpu});
  task.region({"r", "p", "parent"});
  task.region({"q"});
  task.region({"x", "r"});  // by its partition's name
  ProgramMapper& mapper = mapping.on(cpu(0, 0));
  const MapTaskOutput choice = choice_of(mapper, task.at(gpu(0, 0)));
  EXPECT_EQ(memories_of(choice.requirements[0]), "FBMEM SYSMEM ZCMEM");
  EXPECT_EQ(memories_of(choice.requirements[1]), "RDMEM ZCMEM");
  EXPECT_EQ(memories_of(choice.requirements[2]), "FBMEM SYSMEM ZCMEM");
  EXPECT_EQ(mapper.describe(choice.requirements[0].candidates()[1].memory_origin),
            "test.mapper:3:1: `Region * r * SYSMEM,FBMEM`");
  EXPECT_THAT(text_of(validate(choice, task.at(gpu(0, 0)), mapping.machine())), IsEmpty());
  const MapTaskOutput host = choice_of(mapper, task.at(cpu(0, 0)));
  EXPECT_EQ(memories_of(host.requirements[0]), "SYSMEM FBMEM");
  EXPECT_EQ(memories_of(host.requirements[1]), "SYSMEM");  // the default's
  EXPECT_FALSE(host.requirements[1].candidates()[0].memory_origin);
}

TEST(ProgramMapper, RegionThatNothingAddresses) {
  Mapping mapping("Region * r GPU SOCKMEM,SYSMEM;\n", grid());
  FakeTask task("t", {ProcKind::kGpu});
  task.region({"r"});
  ProgramMapper& mapper = mapping.on(cpu(0, 0));
  const MapTaskOutput choice = choice_of(mapper, task.at(gpu(0, 0)));
  const auto refusals = validate(choice, task.at(gpu(0, 0)), mapping.machine());
  EXPECT_THAT(
      text_of(refusals),
      ElementsAre("region 0 of `t` has no possible memory: SOCKMEM (GPU cannot address it), SYSMEM "
                  "(GPU cannot address it) [no-memory]"));
  EXPECT_EQ(mapper.describe(refusals[0].origin),
            "test.mapper:1:1: `Region * r GPU SOCKMEM,SYSMEM`");
  EXPECT_THAT(render(refusals[0], mapper),
              AllOf(HasSubstr("error: region 0 of `t` has no possible memory: SOCKMEM"),
                    HasSubstr("note: decided by test.mapper:"), HasSubstr("\n    ")));
}

TEST(ProgramMapper, RegionVirtual) {
  Mapping mapping(
      "Region t v GPU VIRTUAL;\n"
      "Region t last GPU FBMEM,VIRTUAL,ZCMEM;\n"
      "Region t far GPU SOCKMEM,VIRTUAL;\n",
      grid());
  FakeTask task("t", {ProcKind::kGpu});
  task.variants[0].leaf = false;
  task.region({"v"});
  task.region({"last"});
  task.region({"far"});
  ProgramMapper& mapper = mapping.on(cpu(0, 0));
  MapTaskOutput choice = choice_of(mapper, task.at(gpu(0, 0)));
  EXPECT_EQ(memories_of(choice.requirements[0]), "virtual");
  EXPECT_EQ(choice.requirements[0].virtual_origin, DecisionOrigin{1});
  EXPECT_EQ(memories_of(choice.requirements[1]), "FBMEM VIRTUAL");
  EXPECT_EQ(memories_of(choice.requirements[2]), "virtual");
  EXPECT_EQ(choice.requirements[2].virtual_origin, DecisionOrigin{3});
  EXPECT_THAT(text_of(validate(choice, task.at(gpu(0, 0)), mapping.machine())), IsEmpty());
  task.variants[0].leaf = true;
  choice = choice_of(mapper, task.at(gpu(0, 0)));
  const auto refusals = validate(choice, task.at(gpu(0, 0)), mapping.machine());
  EXPECT_THAT(
      text_of(refusals),
      ElementsAre(::testing::StartsWith("region 0 of `t` cannot be virtual: the variant is"),
                  ::testing::StartsWith("region 2 of `t` cannot be virtual: the variant is")));
  EXPECT_EQ(refusals[0].origin, DecisionOrigin{1});
}

TEST(ProgramMapper, AnInnerVariantsRegionsAreVirtual) {
  Mapping mapping("Region * * * ZCMEM;\n", grid());
  FakeTask task("t", {ProcKind::kGpu});
  task.variants[0].leaf = false;
  task.variants[0].inner = true;
  task.region({"r"});
  task.region({"s"}, Privilege::kReduce);
  task.region({"q"}).coherence = Coherence::kSimultaneous;
  const MapTaskOutput choice = choice_of(mapping.on(cpu(0, 0)), task.at(gpu(0, 0)));
  EXPECT_EQ(memories_of(choice.requirements[0]), "virtual");
  EXPECT_FALSE(choice.requirements[0].virtual_origin);
  EXPECT_EQ(memories_of(choice.requirements[1]), "ZCMEM");
  EXPECT_EQ(memories_of(choice.requirements[2]), "ZCMEM");
}

TEST(ProgramMapper, TagsActWhereNoStatementSpeaks) {
  Mapping mapping("Region * said * ZCMEM;\n", grid());
  FakeTask task("t", {ProcKind::kGpu});
  task.region({"said"}).tag = kTagVirtualMap | kTagExactRegion;
  task.region({"other"}).tag = kTagVirtualMap;
  const MapTaskOutput choice = choice_of(mapping.on(cpu(0, 0)), task.at(gpu(0, 0)));
  EXPECT_EQ(memories_of(choice.requirements[0]), "ZCMEM");
  EXPECT_EQ(choice.requirements[0].region, InstanceChoice::Region::kRequired);
  EXPECT_EQ(memories_of(choice.requirements[1]), "virtual");
}

// ---- Layout

TEST(ProgramMapper, LayoutByMemoryThenKind) {
  Mapping mapping(
      "Region * * GPU FBMEM,ZCMEM;\n"
      "Layout * * * C_order;\n"
      "Layout * * GPU AOS;\n"
      "Layout * * ZCMEM Align==64 Compact;\n"
      "Layout t s GPU F_order Exact;\n",
      grid());
  FakeTask task("t", {ProcKind::kGpu, ProcKind::kCpu});
  task.region({"r"});
  task.region({"s"});
  ProgramMapper& mapper = mapping.on(cpu(0, 0));
  const MapTaskOutput choice = choice_of(mapper, task.at(gpu(0, 0)));
  const auto& in_fb = choice.requirements[0].candidates()[0];
  EXPECT_EQ(in_fb.layout, (LayoutSpec{.fields = FieldOrder::kAos}));  // the one statement
  EXPECT_EQ(in_fb.layout_origin, DecisionOrigin{3});
  const auto& in_zc = choice.requirements[0].candidates()[1];
  EXPECT_EQ(in_zc.layout,
            (LayoutSpec{.compact = true, .align_op = AlignOp::kEq, .align_bytes = 64}));
  EXPECT_EQ(in_zc.layout_origin, DecisionOrigin{4});
  for (const InstanceCandidate& candidate : choice.requirements[1].candidates()) {
    EXPECT_TRUE(candidate.layout.exact);
    EXPECT_EQ(candidate.layout_origin, DecisionOrigin{5});
  }
  const MapTaskOutput host = choice_of(mapper, task.at(cpu(0, 0)));
  EXPECT_EQ(host.requirements[0].candidates()[0].layout,
            (LayoutSpec{.dimensions = DimensionOrder::kC}));
}

TEST(ProgramMapper, LayoutThatTheVariantRefuses) {
  Mapping mapping("Layout * * * C_order;\n", grid());
  FakeTask task("t", {ProcKind::kGpu});
  LayoutDemand demand;
  demand.dimensions = DimensionOrder::kFortran;
  task.variants[0].demands = {&demand, 1};
  task.region({"r"});
  const MapTaskOutput choice = choice_of(mapping.on(cpu(0, 0)), task.at(gpu(0, 0)));
  const auto refusals = validate(choice, task.at(gpu(0, 0)), mapping.machine());
  ASSERT_EQ(refusals.size(), 1U);
  EXPECT_EQ(refusals[0].diagnostic.id, DiagId::kLayoutRefused);
  EXPECT_EQ(refusals[0].origin, DecisionOrigin{1});
}

TEST(ProgramMapper, LayoutLeavesWhatTheVariantDemands) {
  Mapping mapping("Layout t 0 * C_order;\nLayout t 1 * Align>=64;\n", grid());
  FakeTask task("t", {ProcKind::kGpu});
  std::vector<LayoutDemand> demands(2);
  demands[1].requirement = 1;
  for (LayoutDemand& demand : demands) {
    demand.exact = true;
    demand.align_op = AlignOp::kEq;
    demand.align_bytes = 128;
  }
  task.variants[0].demands = demands;
  task.region({"r"});
  task.region({"s"});
  const MapTaskOutput choice = choice_of(mapping.on(cpu(0, 0)), task.at(gpu(0, 0)));
  EXPECT_EQ(choice.requirements[0].candidates()[0].layout,
            (LayoutSpec{.dimensions = DimensionOrder::kC,
                        .exact = true,
                        .align_op = AlignOp::kEq,
                        .align_bytes = 128}));
  EXPECT_EQ(choice.requirements[1].candidates()[0].layout,
            (LayoutSpec{.exact = true, .align_op = AlignOp::kGe, .align_bytes = 64}));
  EXPECT_THAT(validate(choice, task.at(gpu(0, 0)), mapping.machine()), IsEmpty());
}

// The processors of a must epoch are all different, whatever a function says.
TEST(ProgramMapper, MustEpochs) {
  Mapping mapping(
      "Task a CPU, GPU;\nm = Machine(GPU);\ndef f(Task t) { return m[1, 1]; }\n"
      "SingleTaskMap b f;\n",
      grid());
  FakeTask a("a", {ProcKind::kGpu, ProcKind::kCpu}), b("b", {ProcKind::kGpu});
  const std::vector<TaskView> tasks = {a.view(), b.view(), b.view(), a.view()};
  FakeRuntime runtime;
  MapMustEpochOutput answer;
  mapping.on(cpu(0, 0)).map_must_epoch(runtime, tasks, answer);
  EXPECT_THAT(answer.processors, ElementsAre(cpu(0, 0), gpu(1, 1), gpu(0, 0), cpu(0, 1)));
  EXPECT_THAT(validate(answer, tasks, mapping.machine()), IsEmpty());
}

// ---- CollectMemory

TEST(ProgramMapper, CollectMemoryOfReadOnlyRegions) {
  Mapping mapping("CollectMemory t r;\nCollectMemory t 2;\n", grid());
  FakeTask task("t", {ProcKind::kGpu});
  task.region({"r"}, Privilege::kReadOnly);
  task.region({"s"}, Privilege::kReadOnly);
  task.region({"q"}, Privilege::kReadWrite);
  const MapTaskOutput choice = choice_of(mapping.on(cpu(0, 0)), task.at(gpu(0, 0)));
  EXPECT_TRUE(choice.requirements[0].untracked);
  EXPECT_EQ(choice.requirements[0].collect_priority, kCollectFirst);
  EXPECT_EQ(choice.requirements[0].collect_origin, DecisionOrigin{1});
  for (std::size_t i : {1U, 2U}) {
    EXPECT_FALSE(choice.requirements[i].untracked);
    EXPECT_EQ(choice.requirements[i].collect_priority, kCollectLast);
  }
}

// ---- IndexTaskMap, SingleTaskMap

constexpr std::string_view kMaps = R"(
Task * GPU;
m = Machine(GPU);
def cyclic(Task task) {
  i = task.ipoint[0];
  return m[i % m.size[0], i / m.size[0] % m.size[1]];
}
def spread(Task task) { return m[task.ipoint[0] % m.size[0], *]; }
def beyond(Task task) { return m[task.ipoint[0], 0]; }
def on_last(Task task) { return m[m.size[0] - 1, *]; }
def with_parent(Task task) { return m[*task.parent.processor(m)]; }
def host(Task task) { return Machine(CPU)[0, 0]; }
IndexTaskMap c cyclic;
IndexTaskMap s spread;
IndexTaskMap b beyond;
IndexTaskMap h host;
SingleTaskMap c on_last;
SingleTaskMap p with_parent;
SingleTaskMap h host;
)";

TEST(ProgramMapper, IndexTaskMapCutsAndPlaces) {
  Mapping mapping(std::string(kMaps), grid());
  ProgramMapper& mapper = mapping.on(cpu(0, 0));
  FakeTask task("c", {ProcKind::kGpu});
  const Rect domain{{3, -1}, {9, 2}};
  task.launch(domain);
  for (const Rect& part : {domain, Rect{{5, 0}, {4, 1}}, Rect{{5, 0}, {0, 1}}}) {
    const SliceTaskOutput answer = slices_of(mapper, task.at(gpu(0, 0)), part);
    EXPECT_THAT(text_of(validate(answer, task.at(gpu(0, 0)), part, mapping.machine())), IsEmpty());
    for (const TaskSlice& slice : answer.slices) {
      EXPECT_EQ(mapper.describe(answer.origin), "test.mapper:13:1: `IndexTaskMap c cyclic`");
      EXPECT_FALSE(slice.stealable);
      Point at = slice.box.lower;
      do {
        const std::int64_t i = at[0] - 3;  // from the launch's corner, not the part's
        EXPECT_EQ(slice.processor, gpu(i % 2, i / 2 % 2));
        TaskView point = task.at(slice.processor);
        point.point = at;
        EXPECT_THAT(choice_of(mapper, point).processors, ElementsAre(slice.processor));
      } while (next_point(slice.box, &at));
    }
  }
}

TEST(ProgramMapper, ASetOfProcessors) {
  Mapping mapping(std::string(kMaps), grid());
  ProgramMapper& mapper = mapping.on(cpu(0, 0));
  FakeTask task("s", {ProcKind::kGpu});
  task.launch(rect({2}));
  const SliceTaskOutput answer = slices_of(mapper, task.at(gpu(0, 0)), rect({2}));
  ASSERT_EQ(answer.slices.size(), 2U);
  EXPECT_EQ(list_of(answer.slices)[1].processor, gpu(1, 0));
  TaskView point = task.at(gpu(1, 0));
  point.point = {1};
  const MapTaskOutput choice = choice_of(mapper, point);
  EXPECT_THAT(choice.processors, ElementsAre(gpu(1, 0), gpu(1, 1)));
  EXPECT_EQ(choice.processor_origin, answer.origin);
}

TEST(ProgramMapper, AFunctionThatFails) {
  Mapping mapping(std::string(kMaps), grid());
  ProgramMapper& mapper = mapping.on(cpu(0, 0));
  FakeTask task("b", {ProcKind::kGpu});
  task.launch(rect({3}));
  const SliceTaskOutput answer = slices_of(mapper, task.at(gpu(0, 0)), rect({3}));
  ASSERT_TRUE(answer.failure.has_value());
  EXPECT_EQ(answer.failure->id, DiagId::kSliceIndexOutOfBound);
  EXPECT_TRUE(answer.slices.empty());
  EXPECT_EQ(validate(answer, task.view(), rect({3}), mapping.machine()).size(), 1U);
  TaskView point = task.at(gpu(0, 0));
  point.point = {2};
  EXPECT_TRUE(choice_of(mapper, point).failure.has_value());

  FakeTask wrong("h", {ProcKind::kGpu});
  const TaskOptions options = options_of(mapper, wrong.view());
  ASSERT_TRUE(options.failure.has_value());
  EXPECT_EQ(options.failure->id, DiagId::kProcessorKindMismatch);
}

// Where only the reference tells, each point takes most of the steps that it may.
TEST(ProgramMapper, AFunctionThatTakesTooLongForALaunch) {
  Mapping mapping(std::string(kSlow), grid());
  ProgramMapper& mapper = mapping.on(cpu(0, 0));
  FakeTask task("t", {ProcKind::kGpu});
  task.launch(rect({1'000'000'000}));
  const auto cut = [&](std::int64_t points) {
    return slices_of(mapper, task.at(gpu(0, 0)), rect({points}));
  };
  const SliceTaskOutput answer = cut(1'000'000'000);
  ASSERT_TRUE(answer.failure.has_value());
  EXPECT_EQ(answer.failure->id, DiagId::kStepLimit);
  EXPECT_EQ(answer.failure->message, "evaluation takes more than 200000000 steps");
  ASSERT_EQ(answer.failure->notes.size(), 1U);
  EXPECT_EQ(answer.failure->notes[0].message, "for 306 of 1000000000 points");
  EXPECT_TRUE(answer.slices.empty());
  // Each question has steps of its own.
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(cut(150).failure.has_value());
  TaskView point = task.at(gpu(0, 0));
  for (point.point = {0}; point.point[0] < 400; ++point.point[0]) {
    ASSERT_FALSE(choice_of(mapper, point).failure.has_value());
  }
}

TEST(ProgramMapper, SingleTaskMapStartsAndStays) {
  Mapping mapping(std::string(kMaps), grid());
  ProgramMapper& mapper = mapping.on(cpu(0, 0));
  FakeTask task("c", {ProcKind::kGpu});
  const TaskOptions options = options_of(mapper, task.view());
  EXPECT_EQ(options.initial, gpu(1, 0));
  EXPECT_EQ(mapper.describe(options.processor_origin),
            "test.mapper:17:1: `SingleTaskMap c on_last`");
  EXPECT_THAT(choice_of(mapper, task.at(gpu(1, 0))).processors, ElementsAre(gpu(1, 0), gpu(1, 1)));
  EXPECT_THAT(choice_of(mapper, task.at(gpu(0, 1))).processors, ElementsAre(gpu(0, 1)));  // moved

  FakeTask child("p", {ProcKind::kGpu});
  const TaskView parent = task.at(gpu(1, 1));
  TaskView view = child.at(gpu(0, 0));
  view.parent = &parent;
  EXPECT_EQ(options_of(mapper, view).initial, gpu(1, 1));
}

TEST(ProgramMapper, MapsByKindAndStar) {
  Mapping mapping(
      "Task a,b GPU;\nTask c CPU;\n"
      "def on_gpu(Task t) { return Machine(GPU)[1, 1]; }\n"
      "def on_cpu(Task t) { return Machine(CPU)[1, 2]; }\n"
      "def a_gpu(Task t) { return Machine(GPU)[0, 1]; }\n"
      "IndexTaskMap GPU on_gpu;\nIndexTaskMap * on_cpu;\nIndexTaskMap a a_gpu;\n",
      grid());
  ProgramMapper& mapper = mapping.on(cpu(0, 0));
  const auto goes_to = [&](const char* name) {
    FakeTask task(name, {ProcKind::kGpu, ProcKind::kCpu}, static_cast<TaskId>(name[0]));
    task.launch(rect({1}));
    return slices_of(mapper, task.at(gpu(0, 0)), rect({1})).slices.begin()->processor;
  };
  EXPECT_EQ(goes_to("a"), gpu(0, 1));
  EXPECT_EQ(goes_to("b"), gpu(1, 1));
  EXPECT_EQ(goes_to("c"), cpu(1, 2));
}

// A point that stands elsewhere than its function says is planned for where it goes.
TEST(ProgramMapper, MemoriesAreThoseOfTheNodeWhereItRuns) {
  NodeType poor = machine_of("nodes=1,gpu=1").node(0);
  std::erase_if(poor.memories, [](const MemoryGroup& m) { return m.kind == MemKind::kFbmem; });
  std::erase_if(poor.affinities, [](const Affinity& a) { return a.memory == MemKind::kFbmem; });
  std::erase_if(poor.channels, [](const Channel& c) {
    return c.from == MemKind::kFbmem || c.to == MemKind::kFbmem;
  });
  const Result<Machine> machine =
      Machine::make("m", "", {machine_of("nodes=1,gpu=1").node(0), poor}, {0, 1});
  ASSERT_TRUE(machine.ok()) << machine.error().message;
  Mapping mapping(
      "m = Machine(GPU);\ndef f(Task t) { return m[t.ipoint[0], 0]; }\nIndexTaskMap * f;\n",
      *machine);
  FakeTask task("t", {ProcKind::kGpu});
  task.launch(rect({2})).region({"r"});
  ProgramMapper& mapper = mapping.on(cpu(0, 0));
  TaskView point = task.at(gpu(0, 0));  // a runtime that does not slice
  for (const std::int64_t i : {0, 1, 0}) {
    point.point = {i};
    const MapTaskOutput choice = choice_of(mapper, point);
    EXPECT_THAT(choice.processors, ElementsAre(gpu(i, 0)));
    EXPECT_EQ(memories_of(choice.requirements[0]), i == 0 ? "FBMEM" : "ZCMEM");
    EXPECT_THAT(text_of(validate(choice, point, *machine)), IsEmpty());
  }
}

TEST(ProgramMapper, UnequalNodes) {
  Mapping mapping(
      "m = Machine(GPU);\ndef f(Task t) { return m[t.ipoint[0] % m.size[0], t.ipoint[0] % "
      "m.size[1]]; }\nIndexTaskMap t f;\n",
      unequal({"nodes=1,cpu=2,gpu=3", "nodes=1,cpu=1,gpu=2"}));
  FakeTask task("t", {ProcKind::kGpu});
  task.launch(rect({8}));
  const SliceTaskOutput answer = slices_of(mapping.on(cpu(0, 0)), task.at(gpu(0, 0)), rect({8}));
  EXPECT_THAT(text_of(validate(answer, task.view(), rect({8}), mapping.machine())), IsEmpty());
  for (const TaskSlice& slice : answer.slices) EXPECT_LT(slice.processor.index, 2);
}

// ---- InstanceLimit

class Limits : public ::testing::Test {
 protected:
  Limits() : mapper_(mapping_.on(gpu(0, 0))), limited_("l", {ProcKind::kGpu}, 1) {}

  std::vector<std::uint32_t> ask(const std::vector<TaskView>& ready) {
    SelectMappingOutput answer;
    mapper_.select_tasks_to_map(runtime_, ready, answer);
    EXPECT_THAT(text_of(validate(answer, ready, mapping_.machine())), IsEmpty());
    deferral_ = answer.deferral;
    return answer.map;
  }
  void end(const FakeTask& task) { mapper_.report_profiling(runtime_, task.view(), {}); }

  Mapping mapping_{"InstanceLimit l GPU 2;\n", grid()};
  ProgramMapper& mapper_;
  FakeRuntime runtime_;
  FakeTask limited_;
  FakeTask free_{"f", {ProcKind::kGpu}, 2};
  MapperEvent deferral_ = 0;
};

TEST_F(Limits, HoldBackUntilOneEnds) {
  const std::vector<TaskView> ready(3, limited_.view());
  EXPECT_THAT(ask(ready), ElementsAre(0U, 1U));
  EXPECT_THAT(ask({limited_.view()}), IsEmpty());
  EXPECT_EQ(deferral_, 1U);
  EXPECT_THAT(ask({limited_.view(), free_.view()}), ElementsAre(1U));  // others pass
  EXPECT_THAT(ask({limited_.view()}), IsEmpty());
  EXPECT_EQ(deferral_, 1U);  // it waits for the same event
  end(free_);
  EXPECT_THAT(runtime_.triggered, IsEmpty());
  end(limited_);
  EXPECT_THAT(runtime_.triggered, ElementsAre(1U));
  EXPECT_THAT(ask({limited_.view(), limited_.view()}), ElementsAre(0U));
  end(limited_);
  EXPECT_THAT(runtime_.triggered, ElementsAre(1U));  // nobody waits
  EXPECT_THAT(ask({limited_.view(), limited_.view()}), ElementsAre(0U));
  EXPECT_THAT(ask({limited_.view()}), IsEmpty());
  EXPECT_EQ(deferral_, 2U);
}

TEST_F(Limits, AskForReportsAndKeepToTheProcessor) {
  const MapTaskOutput choice = choice_of(mapper_, limited_.at(gpu(0, 0)), runtime_);
  EXPECT_TRUE(choice.task_profiling.any());
  EXPECT_FALSE(choice_of(mapper_, free_.at(gpu(0, 0)), runtime_).task_profiling.any());
  Mapping on_cpu("InstanceLimit l 1;\n", grid());
  FakeTask task("l", {ProcKind::kCpu});
  EXPECT_THAT(choice_of(on_cpu.on(cpu(0, 2)), task.at(cpu(0, 2))).processors,
              ElementsAre(cpu(0, 2)));
}

TEST_F(Limits, CutLaunchesIntoPoints) {
  limited_.launch(rect({4, 3}));
  const SliceTaskOutput answer = slices_of(mapper_, limited_.at(gpu(0, 0)), rect({4, 3}));
  EXPECT_EQ(answer.slices.size(), 12U);
  EXPECT_THAT(text_of(validate(answer, limited_.view(), rect({4, 3}), mapping_.machine())),
              IsEmpty());
}

TEST_F(Limits, ReportsOfOtherOperationsDoNotCount) {
  EXPECT_THAT(ask({limited_.view(), limited_.view()}), ElementsAre(0U, 1U));
  TaskView copy = limited_.view();
  copy.operation = OperationKind::kCopy;
  mapper_.report_profiling(runtime_, copy, {});
  ProfilingReport of_its_copy;
  of_its_copy.operation = OperationKind::kCopy;
  mapper_.report_profiling(runtime_, limited_.view(), of_its_copy);
  EXPECT_THAT(ask({limited_.view()}), IsEmpty());
}

TEST_F(Limits, WithoutEventsThereAreNone) {
  runtime_.can.events = false;
  const std::vector<TaskView> ready(5, limited_.view());
  EXPECT_EQ(ask(ready).size(), 5U);
  EXPECT_EQ(ask(ready).size(), 5U);
  EXPECT_FALSE(choice_of(mapper_, limited_.at(gpu(0, 0)), runtime_).task_profiling.any());
}

// Says that it has events, and has none.
TEST_F(Limits, NothingHangsWhenNoEventIsToBeHad) {
  MapperRuntime nothing;
  const std::vector<TaskView> ready(3, limited_.view());
  SelectMappingOutput answer;
  mapper_.select_tasks_to_map(nothing, ready, answer);
  answer.clear();
  mapper_.select_tasks_to_map(nothing, ready, answer);
  EXPECT_EQ(answer.map.size(), 3U);
}

TEST(ProgramMapper, LimitsOfOneKindOnlyAndZero) {
  Mapping mapping("Task l CPU;\nInstanceLimit l GPU 1;\nInstanceLimit z 0;\n", grid());
  FakeTask task("l", {ProcKind::kGpu, ProcKind::kCpu}), zero("z", {ProcKind::kCpu}, 2);
  FakeRuntime runtime;
  SelectMappingOutput answer;
  const std::vector<TaskView> ready = {task.view(), task.view(), zero.view(), zero.view()};
  mapping.on(cpu(0, 0)).select_tasks_to_map(runtime, ready, answer);
  EXPECT_EQ(answer.map.size(), 4U);
}

// Limits over several processors: their mapper objects, and what they send each other.
class SharedLimits : public ::testing::Test {
 protected:
  struct Message {
    Processor from, to;
    std::uint32_t kind;
    std::vector<std::byte> bytes;
  };
  class Runtime final : public FakeRuntime {
   public:
    Runtime(SharedLimits& test, const Processor& speaking) : test_(test), speaking_(speaking) {}
    bool send_message(const Processor& target, std::uint32_t kind,
                      std::span<const std::byte> bytes) override {
      test_.messages_.push_back({speaking_, target, kind, {bytes.begin(), bytes.end()}});
      return true;
    }

   private:
    SharedLimits& test_;
    Processor speaking_;
  };
  struct Object {
    ProgramMapper& mapper;
    Runtime runtime;
  };

  void bind(const std::string& text, const Machine& machine) {
    mapping_ = std::make_unique<Mapping>(text, machine);
    objects_.clear();
    messages_.clear();
  }
  Object& on(const Processor& p) {
    for (Object& object : objects_) {
      if (object.mapper.site().local == p) return object;
    }
    return objects_.emplace_back(Object{mapping_->on(p), Runtime(*this, p)});
  }
  // Until nobody says anything more.
  void deliver() {
    while (!messages_.empty()) {
      const Message message = messages_.front();
      messages_.pop_front();
      Object& to = on(message.to);
      to.mapper.handle_message(to.runtime, message.from, message.kind, message.bytes);
    }
  }
  // How many of so many ready tasks are mapped now.
  std::size_t map(const Processor& p, std::size_t ready) {
    SelectMappingOutput answer;
    const std::vector<TaskView> tasks(ready, task_.at(p));
    on(p).mapper.select_tasks_to_map(on(p).runtime, tasks, answer);
    EXPECT_EQ(answer.map.empty(), answer.deferral != 0);
    return answer.map.size();
  }
  void end(const Processor& p) { on(p).mapper.report_profiling(on(p).runtime, task_.at(p), {}); }
  // Maps all that it can in turn on these processors, each of which has some ready.
  std::vector<std::size_t> map_all(const std::vector<Processor>& processors) {
    std::vector<std::size_t> counts(processors.size());
    for (int round = 0; round < 10; ++round) {
      for (std::size_t i = 0; i < processors.size(); ++i) counts[i] += map(processors[i], 5);
      deliver();
    }
    return counts;
  }

  std::unique_ptr<Mapping> mapping_;
  std::deque<Object> objects_;
  std::deque<Message> messages_;
  FakeTask task_{"l", {ProcKind::kGpu}, 7};
};

TEST_F(SharedLimits, OfTheMachineCountsOnAllNodes) {
  bind("InstanceLimit l 3 Machine;\n", grid());
  const std::vector<Processor> all = {gpu(0, 0), gpu(0, 1), gpu(1, 0), gpu(1, 1)};
  EXPECT_THAT(map_all(all), ElementsAre(1U, 1U, 1U, 0U));  // each in its turn
  EXPECT_THAT(map_all(all), ElementsAre(0U, 0U, 0U, 0U));
  end(gpu(1, 0));
  deliver();
  EXPECT_THAT(on(gpu(1, 1)).runtime.triggered, ::testing::SizeIs(1));  // who asked first is next
  EXPECT_THAT(on(gpu(0, 0)).runtime.triggered, ::testing::SizeIs(1));  // by its own first place
  EXPECT_THAT(map_all(all), ElementsAre(0U, 0U, 0U, 1U));
}

TEST_F(SharedLimits, OfANodeCountsOnThatNode) {
  bind("InstanceLimit * GPU 2 SAME_NODE;\n", grid());
  const std::vector<Processor> all = {gpu(0, 0), gpu(0, 1), gpu(1, 1)};
  EXPECT_THAT(map_all(all), ElementsAre(1U, 1U, 2U));
}

// The limit is over all from the first on, though one of them counts.
TEST_F(SharedLimits, NoProcessorTakesAllPlacesAtOnce) {
  bind("InstanceLimit l 2 Machine;\n", grid());
  EXPECT_EQ(map(gpu(0, 0), 9), 0U);
  deliver();
  EXPECT_EQ(map(gpu(0, 0), 9), 1U);
}

TEST_F(SharedLimits, AProcessorThatExpectsAPlaceKeepsATaskForIt) {
  bind("InstanceLimit l 1 Machine;\nTaskSteal l GPU ANY_NODE;\n", grid());
  const std::vector<TaskView> one(1, task_.at(gpu(0, 1)));
  std::vector<std::uint32_t> given;
  const auto give = [&] {
    given.clear();
    on(gpu(0, 1)).mapper.permit_steal_request(on(gpu(0, 1)).runtime, gpu(0, 0), one, given);
    return given.size();
  };
  EXPECT_EQ(give(), 1U);
  EXPECT_EQ(map(gpu(0, 1), 1), 0U);
  EXPECT_EQ(give(), 0U);
  deliver();
  EXPECT_EQ(give(), 0U);
  EXPECT_EQ(map(gpu(0, 1), 1), 1U);
  EXPECT_EQ(give(), 1U);
}

TEST_F(SharedLimits, MessagesOfOthersAreIgnored) {
  bind("InstanceLimit l 1 Machine;\n", grid());
  Object& object = on(gpu(0, 0));
  const std::array<std::byte, 16> bytes{};
  for (const std::uint32_t kind : {0U, 7U, 0xFFFFFF00U, 0xFFFFFF10U, 0xFFFFFF11U, 0xFFFFFF12U}) {
    for (const std::size_t size : {0U, 1U, 15U}) {
      object.mapper.handle_message(object.runtime, gpu(1, 1), kind, std::span(bytes).first(size));
    }
  }
  // A place that nobody asked for.
  object.mapper.handle_message(object.runtime, gpu(1, 1), 0xFFFFFF11U, bytes);
  deliver();
  EXPECT_EQ(map(gpu(0, 0), 1), 0U);
}

TEST_F(SharedLimits, WithoutMessagesThereAreNone) {
  bind("InstanceLimit l 1 Machine;\n", grid());
  on(gpu(0, 1)).runtime.can.messages = false;
  EXPECT_EQ(map(gpu(0, 1), 4), 4U);
}

// ---- ControlReplicate

TEST(ProgramMapper, ControlReplicate) {
  Mapping mapping("Task * CPU;\nControlReplicate work;\n", grid());
  ProgramMapper& mapper = mapping.on(cpu(1, 2));
  FakeTask work("work", {ProcKind::kGpu, ProcKind::kCpu}), main("main", {ProcKind::kCpu}, 2);
  for (VariantView& variant : work.variants) variant.replicable = true;
  main.variants[0].replicable = true;
  main.base.depth = 0;
  work.base.depth = 1;
  const TaskOptions options = options_of(mapper, work.view());
  EXPECT_TRUE(options.replicate);
  EXPECT_EQ(options.replicate_origin, DecisionOrigin{2});
  EXPECT_FALSE(options_of(mapper, main.view()).replicate);  // no others

  FakeRuntime runtime;
  ReplicateTaskOutput answer;
  mapper.replicate_task(runtime, work.at(cpu(1, 2)), answer);
  EXPECT_THAT(answer.processors, ElementsAre(cpu(0, 0), cpu(1, 2)));
  EXPECT_EQ(answer.variant, 2U);
  EXPECT_EQ(answer.origin, DecisionOrigin{2});
  EXPECT_THAT(text_of(validate(answer, work.at(cpu(1, 2)), mapping.machine())), IsEmpty());

  TaskView shard = work.at(cpu(1, 2));
  shard.shard_variant = 2;
  const MapTaskOutput choice = choice_of(mapper, shard);
  EXPECT_THAT(choice.processors, ElementsAre(cpu(1, 2)));
  EXPECT_THAT(text_of(validate(choice, shard, mapping.machine())), IsEmpty());

  work.variants[1].replicable = false;  // the GPU's is, but it runs on a CPU
  EXPECT_FALSE(options_of(mapper, work.view()).replicate);
  work.variants[1].replicable = true;
  work.region({"r"}, Privilege::kReduce);
  EXPECT_FALSE(options_of(mapper, work.view()).replicate);
}

TEST(ProgramMapper, ControlReplicateOnOneNode) {
  Mapping mapping("ControlReplicate *;\n", machine_of("nodes=1,cpu=3,gpu=0,omp=0"));
  DefaultSettings locally;
  locally.map_locally = true;
  ProgramMapper& mapper = mapping.on(cpu(0, 0), locally);
  FakeTask main("main", {ProcKind::kCpu});
  main.variants[0].replicable = true;
  const TaskOptions options = options_of(mapper, main.view());
  EXPECT_TRUE(options.replicate);
  EXPECT_THAT(text_of(validate(options, main.view(), mapping.machine())), IsEmpty());
  FakeRuntime runtime;
  ReplicateTaskOutput answer;
  mapper.replicate_task(runtime, main.at(cpu(0, 1)), answer);
  EXPECT_THAT(answer.processors, ElementsAre(cpu(0, 0), cpu(0, 1), cpu(0, 2)));
  EXPECT_THAT(text_of(validate(answer, main.at(cpu(0, 1)), mapping.machine())), IsEmpty());
}

// ---- TaskSteal

constexpr std::string_view kSteal =
    "Task * GPU;\nTaskSteal near GPU SAME_NODE;\nTaskSteal far GPU ANY_NODE;\n";

TEST(ProgramMapper, StealableTasks) {
  Mapping mapping(std::string(kSteal), grid());
  ProgramMapper& mapper = mapping.on(gpu(0, 0));
  FakeTask near("near", {ProcKind::kGpu}, 1), other("other", {ProcKind::kGpu}, 2);
  const TaskOptions options = options_of(mapper, near.view());
  EXPECT_TRUE(options.stealable);
  EXPECT_EQ(options.steal_origin, DecisionOrigin{2});
  EXPECT_FALSE(options_of(mapper, other.view()).stealable);
  near.launch(rect({6}));
  const SliceTaskOutput answer = slices_of(mapper, near.at(gpu(0, 0)), rect({6}));
  EXPECT_EQ(answer.slices.size(), 6U);  // points move one by one
  for (const TaskSlice& slice : answer.slices) EXPECT_TRUE(slice.stealable);
  FakeRuntime runtime;
  runtime.can.stealing = false;
  SliceTaskOutput whole;
  mapper.slice_task(runtime, near.at(gpu(0, 0)), rect({6}), whole);
  EXPECT_EQ(whole.slices.size(), 4U);
  EXPECT_FALSE(whole.slices.begin()->stealable);
}

TEST(ProgramMapper, AThiefAsksEachInItsTurn) {
  Mapping any(std::string(kSteal), grid());
  const auto targets = [](ProgramMapper& mapper, std::vector<Processor> blacklist) {
    FakeRuntime runtime;
    std::vector<Processor> answer;
    mapper.select_steal_targets(runtime, blacklist, answer);
    return answer;
  };
  ProgramMapper& thief = any.on(gpu(0, 1));
  EXPECT_THAT(targets(thief, {}), ElementsAre(gpu(1, 0)));
  EXPECT_THAT(targets(thief, {}), ElementsAre(gpu(1, 1)));
  EXPECT_THAT(targets(thief, {}), ElementsAre(gpu(0, 0)));
  EXPECT_THAT(targets(thief, {gpu(1, 0)}), ElementsAre(gpu(1, 1)));
  EXPECT_THAT(targets(thief, {gpu(1, 0), gpu(0, 0), gpu(1, 1)}), IsEmpty());
  EXPECT_THAT(targets(any.on(cpu(0, 0)), {}), IsEmpty());  // no statement for CPUs

  Mapping same("TaskSteal * GPU SAME_NODE;\n", grid());
  ProgramMapper& local = same.on(gpu(1, 0));
  EXPECT_THAT(targets(local, {}), ElementsAre(gpu(1, 1)));
  EXPECT_THAT(targets(local, {}), ElementsAre(gpu(1, 1)));
  EXPECT_THAT(targets(local, {gpu(1, 1)}), IsEmpty());
  Mapping alone("TaskSteal * GPU ANY_NODE;\n", machine_of("nodes=1,gpu=1"));
  EXPECT_THAT(targets(alone.on(gpu(0, 0)), {}), IsEmpty());
}

TEST(ProgramMapper, AVictimGivesHalfOfWhatTheThiefMayHave) {
  Mapping mapping(std::string(kSteal) + "TaskSteal far CPU ANY_NODE;\n", grid());
  ProgramMapper& victim = mapping.on(gpu(0, 0));
  FakeTask near("near", {ProcKind::kGpu}, 1), far("far", {ProcKind::kGpu, ProcKind::kCpu}, 2),
      kept("kept", {ProcKind::kGpu}, 3);
  const std::vector<TaskView> stealable = {near.view(), kept.view(), far.view(), far.view(),
                                           near.view()};
  const auto given = [&](const Processor& thief) {
    FakeRuntime runtime;
    std::vector<std::uint32_t> answer;
    victim.permit_steal_request(runtime, thief, stealable, answer);
    return answer;
  };
  EXPECT_THAT(given(gpu(0, 1)), ElementsAre(0U, 2U));
  EXPECT_THAT(given(gpu(1, 1)), ElementsAre(2U));
  EXPECT_THAT(given(cpu(0, 1)), IsEmpty());  // Task says GPU
}

TEST(ProgramMapper, AStolenTaskStaysWithTheThief) {
  Mapping mapping(
      "Task * GPU;\nm = Machine(GPU);\ndef f(Task t) { return m[0, *]; }\n"
      "IndexTaskMap t f;\nSingleTaskMap t f;\nTaskSteal t GPU ANY_NODE;\n",
      grid());
  FakeTask task("t", {ProcKind::kGpu});
  ProgramMapper& thief = mapping.on(gpu(1, 1));
  EXPECT_THAT(choice_of(thief, task.at(gpu(1, 1))).processors, ElementsAre(gpu(1, 1)));
  task.launch(rect({4})).base.point = {2};
  EXPECT_THAT(choice_of(thief, task.at(gpu(1, 1))).processors, ElementsAre(gpu(1, 1)));
}

// ---- What is remembered

TEST(ProgramMapper, OneTaskWithDifferentRegionsAndPrivileges) {
  Mapping mapping(
      "Region t a GPU ZCMEM;\nRegion t b GPU FBMEM;\nCollectMemory t *;\n"
      "Layout t b GPU AOS;\n",
      grid());
  ProgramMapper& mapper = mapping.on(cpu(0, 0));
  // The same requirements again and again: with a key, without, changed in each part.
  struct Case {
    std::string_view name;
    std::uint64_t key;
    Privilege privilege;
    std::string memories;
    bool untracked;
  };
  const std::vector<Case> cases = {
      {"a", 1, Privilege::kReadOnly, "ZCMEM", true},
      {"b", 2, Privilege::kReadOnly, "FBMEM", true},
      {"a", 1, Privilege::kReadWrite, "ZCMEM", false},
      {"a", 0, Privilege::kReadOnly, "ZCMEM", true},
      {"b", 0, Privilege::kReadOnly, "FBMEM", true},
      {"c", 3, Privilege::kReduce, "FBMEM", false},
      {"a", 1, Privilege::kNoAccess, "", false},
  };
  for (int round = 0; round < 3; ++round) {
    for (const Case& one : cases) {
      FakeTask task("t", {ProcKind::kGpu});
      task.region({one.name}, one.privilege, one.key);
      const MapTaskOutput choice = choice_of(mapper, task.at(gpu(round % 2, 0)));
      ASSERT_EQ(choice.requirements.size(), 1U);
      EXPECT_EQ(memories_of(choice.requirements[0]), one.memories) << one.name;
      EXPECT_EQ(choice.requirements[0].untracked, one.untracked) << one.name;
    }
  }
}

TEST(ProgramMapper, MorePlansThanItKeeps) {
  Mapping mapping("Region t special GPU ZCMEM;\n", grid());
  ProgramMapper& mapper = mapping.on(cpu(0, 0));
  for (int round = 0; round < 2; ++round) {
    for (std::uint64_t key = 1; key < 200; ++key) {
      FakeTask task("t", {ProcKind::kGpu});
      task.region({key == 77 ? "special" : "plain"}, Privilege::kReadOnly, key);
      EXPECT_EQ(memories_of(choice_of(mapper, task.at(gpu(0, 0))).requirements[0]),
                key == 77 ? "ZCMEM" : "FBMEM");
    }
  }
}

TEST(ProgramMapper, MoreTasksThanItKeeps) {
  Mapping mapping("Task t5000 CPU;\n", grid());
  ProgramMapper& mapper = mapping.on(cpu(0, 0));
  for (TaskId id = 0; id < 6000; ++id) {
    FakeTask task("t" + std::to_string(id), {ProcKind::kGpu, ProcKind::kCpu}, id);
    EXPECT_EQ(options_of(mapper, task.view()).initial.kind,
              id == 5000 ? ProcKind::kCpu : ProcKind::kGpu);
  }
}

TEST(ProgramMapper, ATasksFormTagNameAndVariantsCount) {
  Mapping mapping(
      "Task renamed CPU;\nSingleTaskMap one f;\ndef f(Task t) { return "
      "Machine(GPU)[1, 1]; }\n",
      grid());
  ProgramMapper& mapper = mapping.on(cpu(0, 0));
  const auto start = [&](const char* name, std::uint64_t tag, bool index,
                         std::initializer_list<ProcKind> variants) {
    FakeTask task(name, variants, 1);  // the same id throughout
    task.base.depth = 2;
    task.base.tag = tag;
    if (index) task.launch(rect({2}));
    return options_of(mapper, task.view()).initial;
  };
  using enum ProcKind;
  EXPECT_EQ(start("one", 0, false, {kCpu, kGpu}), gpu(1, 1));
  EXPECT_EQ(start("one", 0, true, {kCpu, kGpu}), gpu(0, 0));
  EXPECT_EQ(start("renamed", 0, false, {kCpu, kGpu}), cpu(0, 0));
  EXPECT_EQ(start("other", kTagPreferCpu, false, {kCpu, kGpu}).kind, kCpu);
  EXPECT_EQ(start("other", 0, false, {kCpu, kGpu}).kind, kGpu);
  EXPECT_EQ(start("late", 0, false, {kCpu}).kind, kCpu);
  EXPECT_EQ(start("late", 0, false, {kCpu, kGpu}).kind, kGpu);  // registered since
}

// Kinds that only some nodes have.
TEST(ProgramMapper, KindsMissingOnSomeNodes) {
  Mapping mapping("Task * GPU,CPU;\nRegion * * GPU FBMEM;\n",
                  unequal({"nodes=1,cpu=2,gpu=0,omp=0", "nodes=1,cpu=2,gpu=2", "nodes=1,gpu=1"}));
  FakeTask task("t", {ProcKind::kGpu, ProcKind::kCpu});
  task.region({"r"});
  task.base.depth = 1;
  ProgramMapper& mapper = mapping.on(cpu(0, 0));
  std::vector<Processor> starts;
  for (int i = 0; i < 4; ++i) starts.push_back(options_of(mapper, task.view()).initial);
  EXPECT_THAT(starts, ElementsAre(gpu(1, 0), gpu(1, 1), gpu(2, 0), gpu(1, 0)));
  for (const Processor& p : starts) {
    const MapTaskOutput choice = choice_of(mapper, task.at(p));
    EXPECT_THAT(text_of(validate(choice, task.at(p), mapping.machine())), IsEmpty());
  }
}

// ---- What a runtime cannot do

TEST(ProgramMapper, WhatIsNotHonouredIsSaidOnce) {
  LineLog log;
  Mapping mapping(
      "InstanceLimit a,b 4;\nCollectMemory * *;\nControlReplicate main;\n"
      "TaskSteal * GPU ANY_NODE;\nLayout * * * C_order Align==64;\nLayout a * * Compact;\n"
      "Task * GPU;\n",
      grid(), &log);
  FakeRuntime runtime;
  runtime.can = {.layouts = true,
                 .alignment = false,
                 .compact = false,
                 .collection = false,
                 .replication = false,
                 .stealing = false,
                 .events = false};
  const std::vector<ProgramMapper*> mappers = {&mapping.on(gpu(0, 0)), &mapping.on(gpu(0, 1)),
                                               &mapping.on(gpu(1, 0)), &mapping.on(cpu(0, 0))};
  {
    std::vector<std::jthread> threads;
    for (ProgramMapper* mapper : mappers) {
      threads.emplace_back([mapper, &runtime] {
        FakeTask task("a", {ProcKind::kGpu});
        task.region({"r"});
        for (int i = 0; i < 50; ++i) {
          TaskOptions options;
          mapper->select_task_options(runtime, task.view(), options);
          MapTaskOutput choice;
          mapper->map_task(runtime, task.at(options.initial), {}, choice);
          EXPECT_EQ(choice.requirements.size(), 1U);
        }
      });
    }
  }
  EXPECT_THAT(
      log.lines(),
      ElementsAre("test.mapper:1: `InstanceLimit a,b 4` has no effect here: the runtime cannot "
                  "wait for a task to end",
                  "test.mapper:2: `CollectMemory * *` has no effect here: the runtime does not "
                  "collect instances early",
                  "test.mapper:3: `ControlReplicate main` has no effect here: the runtime does "
                  "not replicate tasks",
                  "test.mapper:4: `TaskSteal * GPU ANY_NODE` has no effect here: the runtime does "
                  "not move ready tasks",
                  "test.mapper:5: `Layout * * * C_order Align==64` has no effect here: the "
                  "runtime cannot align instances",
                  "test.mapper:6: `Layout a * * Compact` has no effect here: the runtime has no "
                  "compact instances"));
}

TEST(ProgramMapper, SaysThatLimitsOverSeveralProcessorsNeedMessages) {
  LineLog log;
  Mapping mapping("InstanceLimit a 4;\nInstanceLimit b 4 Machine;\n", grid(), &log);
  FakeRuntime runtime;
  runtime.can.messages = false;
  FakeTask task("a", {ProcKind::kGpu});
  TaskOptions options;
  mapping.on(gpu(0, 0)).select_task_options(runtime, task.view(), options);
  EXPECT_THAT(log.lines(),
              ElementsAre("test.mapper:2: `InstanceLimit b 4 Machine` has no effect here: the "
                          "runtime does not send the messages with which mappers count together"));
}

TEST(ProgramMapper, WhatIsHonouredIsNotSpokenOf) {
  LineLog log;
  Mapping mapping("InstanceLimit a 4;\nLayout * * * C_order Align==64;\n", grid(), &log);
  FakeTask task("a", {ProcKind::kGpu});
  options_of(mapping.on(gpu(0, 0)), task.view());
  EXPECT_THAT(log.lines(), IsEmpty());
}

TEST(ProgramMapper, WhoItIs) {
  Mapping mapping("Task * GPU;\nLayout * * *\n  C_order\n  AOS;\n", grid());
  ProgramMapper& mapper = mapping.on(cpu(0, 0));
  EXPECT_EQ(mapper.name(), "groma");
  EXPECT_EQ(mapper.describe({}), "");
  EXPECT_EQ(mapper.describe({1}), "test.mapper:1:1: `Task * GPU`");
  EXPECT_THAT(mapper.describe({2}), HasSubstr("test.mapper:2:1: `Layout * * *"));
  EXPECT_EQ(&mapper.machine(), &mapping.machine());
  EXPECT_EQ(mapper.program().source().name(), "test.mapper");
}

TEST(ProgramMapper, SelectsWhereSomethingIsLimited) {
  Mapping open("Task * GPU;", grid());
  EXPECT_FALSE(open.on(cpu(0, 0)).selects());
  Mapping limited("InstanceLimit t 2;", grid());
  EXPECT_TRUE(limited.on(cpu(0, 0)).selects());
}

// ---- Mistakes of the caller

TEST(ProgramMapper, AnEqualMachineWillDo) {
  const Mapping mapping("Task * GPU;\n", grid());
  const auto equal = std::make_shared<const Machine>(grid());
  ProgramMapper mapper(ProgramMapper::share(mapping.bound), MapperSite{equal, cpu(0, 0)});
  EXPECT_EQ(&mapper.machine(), &mapping.bound.machine());
}

TEST(ProgramMapperDeathTest, NamesWhatTheCallerHasToPass) {
  const Mapping mapping("Task * GPU;\n", grid());
  const auto made = [&](MapperSite site) {
    const ProgramMapper mapper(ProgramMapper::share(mapping.bound), std::move(site));
  };
  const auto other = std::make_shared<const Machine>(machine_of("nodes=1,cpu=4"));
  EXPECT_DEATH(made({other, cpu(0, 0)}),
               "wrong use of the library: MapperSite::machine must equal the machine that the "
               "program is bound to");
  EXPECT_DEATH(made({nullptr, cpu(0, 0)}), "MapperSite::machine must equal");
  EXPECT_DEATH(made({mapping.bound.shared_machine(), cpu(0, 4)}),
               "MapperSite::local must be a processor of MapperSite::machine");
}

}  // namespace
}  // namespace groma::test
