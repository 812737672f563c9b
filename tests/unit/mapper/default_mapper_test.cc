// The hooks' defaults, hook by hook, as Legion's DefaultMapper decides; every answer is one that
// validate takes.
#include <gmock/gmock.h>

#include <array>
#include <cstring>

#include "groma/mapper.h"
#include "mapper/default_policy.h"
#include "unit/mapper/hooks.h"

namespace groma::test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::unique_ptr<DefaultMapper> default_on(const Processor& local, const Machine& machine,
                                          DefaultSettings settings = {}) {
  return std::make_unique<DefaultMapper>(
      MapperSite{std::make_shared<Machine>(machine), local, settings, nullptr});
}

const Machine& grid_with_gpus() {
  static const Machine machine = machine_of("nodes=2,gpu=2,cpu=4,omp=1");
  return machine;
}

std::vector<Processor> starts(Mapper& mapper, const TaskView& task, int count) {
  std::vector<Processor> starts;
  for (int i = 0; i < count; ++i) {
    const TaskOptions options = options_of(mapper, task);
    EXPECT_THAT(text_of(validate(options, task, mapper.machine())), IsEmpty());
    starts.push_back(options.initial);
  }
  return starts;
}

// ---- Options

TEST(DefaultMapper, KindsByRank) {
  const auto kind = [](std::initializer_list<ProcKind> variants, std::uint64_t tag,
                       const Machine& machine) {
    FakeTask task("t", variants);
    task.base.tag = tag;
    task.base.depth = 2;
    const TaskOptions options = options_of(*default_on(cpu(0, 0), machine), task.view());
    return options.failure ? std::string(text_of(*options.failure))
                           : std::string(name_of(options.initial.kind));
  };
  using enum ProcKind;
  EXPECT_EQ(kind({kCpu, kOmp, kGpu}, 0, grid_with_gpus()), "GPU");
  EXPECT_EQ(kind({kCpu, kOmp, kGpu}, kTagPreferCpu, grid_with_gpus()), "OMP");
  EXPECT_EQ(kind({kCpu, kGpu}, kTagPreferCpu, grid_with_gpus()), "CPU");
  EXPECT_EQ(kind({kGpu}, kTagPreferCpu, grid_with_gpus()), "GPU");
  EXPECT_EQ(kind({kCpu, kOmp, kGpu}, 0, machine_of("nodes=1,cpu=2,gpu=0,omp=0")), "CPU");
  EXPECT_EQ(kind({kGpu}, 0, machine_of("nodes=1,cpu=2,gpu=0,omp=0")),
            "`t` can run on none of its kinds: `GPU` [no-variant]");
  EXPECT_EQ(kind({}, 0, grid_with_gpus()),
            "`t` can run on none of its kinds: it has no variant [no-variant]");
}

TEST(DefaultMapper, WhereTasksStart) {
  FakeTask task("t", {ProcKind::kGpu});
  const auto mapper = default_on(gpu(1, 1), grid_with_gpus());
  task.base.depth = 0;
  EXPECT_THAT(starts(*mapper, task.view(), 2), ElementsAre(gpu(1, 1), gpu(1, 1)));
  task.base.depth = 1;
  EXPECT_THAT(starts(*mapper, task.view(), 5),
              ElementsAre(gpu(0, 0), gpu(0, 1), gpu(1, 0), gpu(1, 1), gpu(0, 0)));
  task.base.depth = 2;
  EXPECT_THAT(starts(*mapper, task.view(), 3), ElementsAre(gpu(1, 0), gpu(1, 1), gpu(1, 0)));
  task.base.depth = 1;
  task.base.tag = kTagSameAddressSpace;
  EXPECT_THAT(starts(*mapper, task.view(), 1), ElementsAre(gpu(1, 1)));
  FakeTask main("main", {ProcKind::kCpu});
  EXPECT_THAT(starts(*mapper, main.view(), 1), ElementsAre(cpu(1, 0)));
}

TEST(DefaultMapper, WhereIndexLaunchesStart) {
  FakeTask task("t", {ProcKind::kGpu});
  task.launch(rect({8})).base.depth = 1;
  EXPECT_THAT(starts(*default_on(gpu(1, 1), grid_with_gpus()), task.view(), 2),
              ElementsAre(gpu(1, 1), gpu(1, 1)));
  EXPECT_THAT(starts(*default_on(cpu(1, 0), grid_with_gpus()), task.view(), 3),
              ElementsAre(gpu(1, 0), gpu(1, 1), gpu(1, 0)));
}

TEST(DefaultMapper, IoTasksStayOnTheirNode) {
  const Processor first{ProcKind::kIo, 1, 0}, second{ProcKind::kIo, 1, 1};
  const auto mapper = default_on(cpu(1, 0), machine_of("nodes=2,cpu=1,gpu=0,omp=0,io=2"));
  FakeTask task("t", {ProcKind::kIo});
  for (int depth : {1, 2}) {
    task.base.depth = depth;
    EXPECT_THAT(starts(*mapper, task.view(), 2), ElementsAre(first, second));
  }
}

TEST(DefaultMapper, UnequalNodes) {
  const Machine machine =
      unequal({"nodes=1,cpu=2,gpu=0,omp=0", "nodes=1,cpu=1,gpu=1,omp=0", "nodes=1,gpu=2"});
  FakeTask task("t", {ProcKind::kGpu});
  const auto mapper = default_on(cpu(0, 0), machine);
  task.base.depth = 0;  // there is none here
  EXPECT_THAT(starts(*mapper, task.view(), 1), ElementsAre(gpu(1, 0)));
  task.base.depth = 2;
  EXPECT_THAT(starts(*mapper, task.view(), 3), ElementsAre(gpu(2, 0), gpu(2, 1), gpu(1, 0)));
  task.launch(rect({6}));
  const SliceTaskOutput answer = slices_of(*mapper, task.at(gpu(1, 0)), rect({6}));
  ASSERT_EQ(answer.slices.size(), 3U);
  EXPECT_EQ(list_of(answer.slices)[0].processor, gpu(1, 0));
  EXPECT_EQ(list_of(answer.slices)[2].processor, gpu(2, 1));
}

TEST(DefaultMapper, SettingsGoIntoOptions) {
  FakeTask task("t", {ProcKind::kCpu});
  task.base.depth = 1;
  DefaultSettings settings;
  settings.map_locally = settings.memoize = true;
  const TaskOptions options =
      options_of(*default_on(cpu(0, 0), grid_with_gpus(), settings), task.view());
  EXPECT_TRUE(options.map_locally);
  EXPECT_TRUE(options.memoize);
  FakeRuntime runtime;
  const auto mapper = default_on(cpu(0, 0), grid_with_gpus(), settings);
  EXPECT_TRUE(mapper->memoize_operation(runtime, {}, true));
  EXPECT_FALSE(mapper->memoize_operation(runtime, {}, false));
  EXPECT_FALSE(options.stealable);
  EXPECT_FALSE(options.replicate);
}

// ---- Replication

TEST(DefaultMapper, TheTopLevelTaskReplicatesOverNodes) {
  FakeTask main("main", {ProcKind::kCpu});
  const auto mapper = default_on(cpu(1, 2), grid_with_gpus());
  EXPECT_FALSE(options_of(*mapper, main.view()).replicate);  // not replicable
  main.variants[0].replicable = true;
  EXPECT_TRUE(options_of(*mapper, main.view()).replicate);
  DefaultSettings locally;
  locally.map_locally = true;
  const TaskOptions options =
      options_of(*default_on(cpu(0, 0), grid_with_gpus(), locally), main.view());
  EXPECT_TRUE(options.replicate);
  EXPECT_FALSE(options.map_locally);
  EXPECT_THAT(text_of(validate(options, main.view(), grid_with_gpus())), IsEmpty());

  FakeRuntime runtime;
  ReplicateTaskOutput answer;
  mapper->replicate_task(runtime, main.at(cpu(1, 2)), answer);
  EXPECT_EQ(answer.variant, 1U);
  EXPECT_THAT(answer.processors, ElementsAre(cpu(0, 0), cpu(1, 2)));
  EXPECT_THAT(text_of(validate(answer, main.at(cpu(1, 2)), grid_with_gpus())), IsEmpty());

  TaskView shard = main.at(cpu(1, 2));
  shard.shard_variant = 1;
  const MapTaskOutput choice = choice_of(*mapper, shard);
  EXPECT_THAT(choice.processors, ElementsAre(cpu(1, 2)));
  EXPECT_THAT(text_of(validate(choice, shard, grid_with_gpus())), IsEmpty());

  main.base.depth = 1;
  EXPECT_FALSE(options_of(*mapper, main.view()).replicate);
  main.base.depth = 0;
  main.region({"r"}, Privilege::kReduce);
  EXPECT_FALSE(options_of(*mapper, main.view()).replicate);
  main.requirements.clear();
  DefaultSettings off;
  off.replicate = false;
  EXPECT_FALSE(options_of(*default_on(cpu(0, 0), grid_with_gpus(), off), main.view()).replicate);
  EXPECT_FALSE(
      options_of(*default_on(cpu(0, 0), machine_of("nodes=1,cpu=2,gpu=0,omp=0")), main.view())
          .replicate);
}

TEST(DefaultMapper, ShardsOnNodesThatHaveTheKind) {
  const Machine machine =
      unequal({"nodes=1,cpu=2,gpu=0,omp=0", "nodes=1,cpu=1,gpu=1,omp=0", "nodes=1,gpu=2"});
  FakeTask main("main", {ProcKind::kGpu, ProcKind::kGpu});
  main.variants[0].replicable = true;
  FakeRuntime runtime;
  ReplicateTaskOutput answer;
  default_on(cpu(0, 0), machine)->replicate_task(runtime, main.at(gpu(2, 1)), answer);
  EXPECT_EQ(answer.variant, 1U);
  EXPECT_THAT(answer.processors, ElementsAre(gpu(1, 0), gpu(2, 1)));
}

// ---- Slices

TEST(DefaultMapper, SlicesAreBlocksOverAllProcessors) {
  FakeTask task("t", {ProcKind::kGpu});
  const auto mapper = default_on(cpu(0, 0), grid_with_gpus());
  for (const Rect& part : {rect({16}), rect({3}), rect({1}), Rect{{-4, 7}, {5, 9}}, rect({2, 3, 4}),
                           rect({1, 1000}), Rect{{-1}, {0}}}) {
    task.launch(part);
    const TaskView view = task.at(gpu(0, 0));
    const SliceTaskOutput answer = slices_of(*mapper, view, part);
    EXPECT_THAT(text_of(validate(answer, view, part, grid_with_gpus())), IsEmpty());
    EXPECT_LE(answer.slices.size(), 4U);
    if (part.volume() >= 16) {
      EXPECT_EQ(answer.slices.size(), 4U);
    }
    for (std::size_t i = 0; i < answer.slices.size(); ++i) {
      const auto n = static_cast<std::int64_t>(i);
      EXPECT_EQ(list_of(answer.slices)[i].processor, gpu(n / 2, n % 2));
    }
  }
}

TEST(DefaultMapper, SlicesThatStayInTheNode) {
  FakeTask task("t", {ProcKind::kGpu});
  task.launch(rect({4})).base.tag = kTagSameAddressSpace;
  const SliceTaskOutput answer =
      slices_of(*default_on(cpu(1, 0), grid_with_gpus()), task.at(gpu(1, 0)), rect({4}));
  ASSERT_EQ(answer.slices.size(), 2U);
  EXPECT_EQ(list_of(answer.slices)[0].processor, gpu(1, 0));
  EXPECT_EQ(list_of(answer.slices)[1].processor, gpu(1, 1));
  EXPECT_EQ(list_of(answer.slices)[1].box.lower, Point({2}));
}

// Each shard deals out its own part: others have theirs.
TEST(DefaultMapper, SlicesOfAReplicatedParentStayInTheNode) {
  FakeTask task("t", {ProcKind::kGpu});
  TaskView parent;
  task.launch(rect({8})).base.parent = &parent;
  const auto mapper = default_on(cpu(1, 0), grid_with_gpus());
  const auto processors = [&](std::uint32_t shards) {
    parent.shards = shards;
    std::vector<Processor> found;
    const TaskView view = task.at(gpu(1, 0));
    const SliceTaskOutput answer = slices_of(*mapper, view, view.domain);
    EXPECT_THAT(text_of(validate(answer, view, view.domain, grid_with_gpus())), IsEmpty());
    for (const TaskSlice& slice : answer.slices) found.push_back(slice.processor);
    return found;
  };
  EXPECT_THAT(processors(1), ElementsAre(gpu(0, 0), gpu(0, 1), gpu(1, 0), gpu(1, 1)));
  EXPECT_THAT(processors(2), ElementsAre(gpu(1, 0), gpu(1, 1)));
  DefaultSettings near;
  near.same_address_space = true;
  const SliceTaskOutput answer =
      slices_of(*default_on(cpu(0, 0), grid_with_gpus(), near), task.at(gpu(0, 0)), rect({8}));
  ASSERT_EQ(answer.slices.size(), 2U);
  EXPECT_EQ(list_of(answer.slices)[1].processor, gpu(0, 1));
}

// ---- One task

// `machine` with so many SOCKMEMs on each node.
Machine with_sockets(const Machine& machine, std::int64_t count) {
  NodeType node = machine.node(0);
  for (MemoryGroup& memory : node.memories) {
    if (memory.kind == MemKind::kSockmem) memory.count = count;
  }
  return *Machine::make("m", "", {node}, std::vector<std::uint32_t>(2, 0));
}

TEST(DefaultMapper, TargetsWithAndWithoutSockets) {
  using enum ProcKind;
  const Machine spec = machine_of("nodes=2,gpu=2,cpu=2,omp=2,io=2,py=2");
  const auto targets = [&](std::int64_t sockets, ProcKind kind, const char* only = nullptr) {
    const Machine machine = with_sockets(spec, sockets);
    const auto mapper = default_on(cpu(1, 0), machine);
    FakeTask task("t", {kind});
    TaskView view = task.at({kind, 1, 1});
    if (only != nullptr) (*only == 'm' ? view.must_epoch : view.concurrent) = true;
    const MapTaskOutput choice = choice_of(*mapper, view);
    EXPECT_THAT(text_of(validate(choice, view, machine)), IsEmpty());
    return choice.processors;
  };
  for (ProcKind kind : {kCpu, kOmp, kIo, kPy}) {
    const Processor first{kind, 1, 0}, second{kind, 1, 1};
    const bool near = kind == kCpu || kind == kOmp;
    EXPECT_THAT(targets(1, kind), ElementsAre(first, second)) << name_of(kind);
    if (near) {
      EXPECT_THAT(targets(2, kind), ElementsAre(second)) << name_of(kind);
    } else {
      EXPECT_THAT(targets(2, kind), ElementsAre(first, second)) << name_of(kind);
    }
    EXPECT_THAT(targets(1, kind, "must epoch"), ElementsAre(second)) << name_of(kind);
    EXPECT_THAT(targets(1, kind, "concurrent"), ElementsAre(second)) << name_of(kind);
  }
  EXPECT_THAT(targets(1, kGpu), ElementsAre(gpu(1, 1)));
}

TEST(DefaultMapper, VariantAndProcessors) {
  FakeTask task("t", {ProcKind::kCpu, ProcKind::kGpu, ProcKind::kCpu});
  const auto mapper = default_on(cpu(1, 0), with_sockets(grid_with_gpus(), 1));
  MapTaskOutput choice = choice_of(*mapper, task.at(cpu(1, 2)));
  EXPECT_EQ(choice.variant, 3U);  // the highest
  EXPECT_THAT(choice.processors, ElementsAre(cpu(1, 0), cpu(1, 1), cpu(1, 2), cpu(1, 3)));
  choice = choice_of(*mapper, task.at(gpu(1, 1)));
  EXPECT_EQ(choice.variant, 2U);
  EXPECT_THAT(choice.processors, ElementsAre(gpu(1, 1)));
  TaskView remote = task.at(cpu(0, 2));
  remote.local = false;
  EXPECT_THAT(choice_of(*mapper, remote).processors, ElementsAre(cpu(0, 2)));
  const Processor omp{ProcKind::kOmp, 0, 0};
  const MapTaskOutput none = choice_of(*mapper, task.at(omp));
  ASSERT_TRUE(none.failure.has_value());
  EXPECT_EQ(none.failure->id, DiagId::kNoVariant);
  FakeRuntime runtime;
  EXPECT_EQ(mapper->select_task_variant(runtime, task.at(cpu(0, 0))), 3U);
  EXPECT_EQ(mapper->select_task_variant(runtime, task.at(omp)), 0U);
}

// Requirement 0 of a task on that processor, which validate takes.
InstanceChoice requirement_on(const FakeTask& task, const Processor& processor,
                              const Machine& machine = grid_with_gpus(),
                              DefaultSettings settings = {}) {
  const MapTaskOutput choice =
      choice_of(*default_on(cpu(0, 0), machine, settings), task.at(processor));
  EXPECT_THAT(text_of(validate(choice, task.at(processor), machine)), IsEmpty());
  return choice.requirements.at(0);
}

TEST(DefaultMapper, MemoryByBandwidth) {
  FakeTask task("t", {ProcKind::kGpu, ProcKind::kCpu, ProcKind::kOmp});
  task.region({"r"});
  const InstanceChoice choice = requirement_on(task, gpu(0, 0));
  EXPECT_EQ(memories_of(choice), "FBMEM");
  EXPECT_FALSE(choice.shares(choice.candidates()[0]));
  EXPECT_EQ(choice.fields, InstanceChoice::Fields::kAll);
  EXPECT_EQ(choice.collect_priority, kCollectLast);
  EXPECT_EQ(choice.candidates()[0].layout, LayoutSpec{});
  EXPECT_FALSE(choice.candidates()[0].memory_origin);
  EXPECT_EQ(memories_of(requirement_on(task, cpu(1, 0))), "SYSMEM");
}

// What neighbours share is in host memory: framebuffers and zero-copy memory hold what a task
// needs.
TEST(DefaultMapper, RegionsByMemory) {
  FakeTask task("t", {ProcKind::kCpu, ProcKind::kGpu});
  RequirementView& region = task.region({"r"});
  const auto shares = [&](const Processor& processor, DefaultSettings settings = {}) {
    const InstanceChoice choice = requirement_on(task, processor, grid_with_gpus(), settings);
    return choice.shares(choice.candidates()[0]);
  };
  EXPECT_TRUE(shares(cpu(0, 0)));
  EXPECT_FALSE(shares(gpu(0, 0)));
  LayoutDemand zero_copy;
  zero_copy.memory = MemKind::kZcmem;
  for (VariantView& variant : task.variants) variant.demands = {&zero_copy, 1};
  EXPECT_FALSE(shares(cpu(0, 0)));
  EXPECT_FALSE(shares(gpu(0, 0)));
  for (VariantView& variant : task.variants) variant.demands = {};
  DefaultSettings exact;
  exact.exact_region = true;
  EXPECT_FALSE(shares(cpu(0, 0), exact));
  region.tag = kTagExactRegion;
  EXPECT_FALSE(shares(cpu(0, 0)));
  region.tag = 0;
  region.privilege = Privilege::kReduce;
  EXPECT_FALSE(shares(cpu(0, 0)));
}

// Candidate by candidate: what falls back to host memory is shared there.
TEST(DefaultMapper, RegionsOfAProgramByMemory) {
  Mapping mapping("Task * GPU; Region * * GPU FBMEM, ZCMEM, SYSMEM; Layout t 1 * Exact;",
                  grid_with_gpus());
  FakeTask task("t", {ProcKind::kGpu});
  task.region({"r"});
  task.region({"s"});
  const MapTaskOutput choice = choice_of(mapping.on(gpu(0, 0)), task.at(gpu(0, 0)));
  const auto shares = [&](std::size_t requirement) {
    std::vector<bool> answers;
    const InstanceChoice& one = choice.requirements.at(requirement);
    for (const InstanceCandidate& candidate : one.candidates())
      answers.push_back(one.shares(candidate));
    return answers;
  };
  EXPECT_THAT(shares(0), ElementsAre(false, false, true));
  EXPECT_THAT(shares(1), ElementsAre(false, false, false));
}

TEST(DefaultMapper, RegisteredMemoryWhereWanted) {
  NodeType node = machine_of("nodes=1,cpu=2,gpu=0,omp=0").node(0);
  ASSERT_NE(node.find(ProcKind::kCpu, MemKind::kRdmem), nullptr);
  const Machine machine = *Machine::make("m", "", {node}, {0});
  NodeType plain = node;
  std::erase_if(plain.affinities, [](const Affinity& a) { return a.memory == MemKind::kRdmem; });
  const Machine without = *Machine::make("m", "", {plain}, {0});
  FakeTask task("t", {ProcKind::kCpu});
  RequirementView& region = task.region({"r"});
  EXPECT_EQ(memories_of(requirement_on(task, cpu(0, 0), machine)), "SYSMEM");
  region.tag = kTagPreferRdma;
  EXPECT_EQ(memories_of(requirement_on(task, cpu(0, 0), machine)), "RDMEM");
  EXPECT_EQ(memories_of(requirement_on(task, cpu(0, 0), without)), "SYSMEM");
  // The better of RDMEM and zero-copy memory: of those two a GPU reaches one.
  FakeTask on_gpu("t", {ProcKind::kGpu});
  on_gpu.region({"r"}).tag = kTagPreferRdma;
  EXPECT_EQ(memories_of(requirement_on(on_gpu, gpu(0, 0))), "ZCMEM");
  const auto with = [&](MemKind better) {
    NodeType faster = node;
    faster.memories.push_back({MemKind::kZcmem, 1, 1 << 30, 1e9});
    std::erase_if(faster.affinities, [](const Affinity& a) { return a.memory == MemKind::kZcmem; });
    const Affinity* registered = faster.find(ProcKind::kCpu, MemKind::kRdmem);
    if (registered == nullptr) {
      ADD_FAILURE();
      return std::string();
    }
    Affinity zero_copy = *registered;
    zero_copy.memory = MemKind::kZcmem;
    zero_copy.bandwidth_bytes_per_s *= better == MemKind::kZcmem ? 2 : 0.5;
    faster.affinities.push_back(zero_copy);
    return memories_of(requirement_on(task, cpu(0, 0), *Machine::make("m", "", {faster}, {0})));
  };
  EXPECT_EQ(with(MemKind::kRdmem), "RDMEM");
  EXPECT_EQ(with(MemKind::kZcmem), "ZCMEM");
}

// Volumes from the requirement's region up to the root.
TEST(DefaultMapper, TheRegionThatNodesShare) {
  using mapper::choose_instance_region;
  EXPECT_EQ(choose_instance_region(std::array<std::int64_t, 1>{16}, 1), 0U);
  EXPECT_EQ(choose_instance_region(std::array<std::int64_t, 3>{1, 4, 16}, 1),
            2U);  // one node: the root
  EXPECT_EQ(choose_instance_region(std::array<std::int64_t, 3>{1, 4, 16}, 4), 1U);
  EXPECT_EQ(choose_instance_region(std::array<std::int64_t, 3>{1, 4, 16}, 3), 1U);
  EXPECT_EQ(choose_instance_region(std::array<std::int64_t, 3>{1, 4, 16}, 5), 0U);
  EXPECT_EQ(choose_instance_region(std::array<std::int64_t, 3>{1, 4, 16}, 2),
            1U);  // not the leaf's
  EXPECT_EQ(choose_instance_region(std::array<std::int64_t, 4>{1, 2, 8, 16}, 4),
            1U);  // by all that shrank
  EXPECT_EQ(choose_instance_region(std::array<std::int64_t, 3>{6, 8, 16}, 4), 0U);  // none: its own
  EXPECT_EQ(choose_instance_region(std::array<std::int64_t, 2>{16, 16}, 2), 0U);
}

TEST(DefaultMapper, VirtualReducedAndEmpty) {
  FakeTask task("t", {ProcKind::kCpu});
  task.variants[0].leaf = false;
  RequirementView& region = task.region({"r"});
  region.tag = kTagVirtualMap;
  EXPECT_EQ(memories_of(requirement_on(task, cpu(0, 0))), "virtual");
  region.tag = 0;
  task.variants[0].inner = true;
  EXPECT_EQ(memories_of(requirement_on(task, cpu(0, 0))), "virtual");
  region.coherence = Coherence::kAtomic;
  EXPECT_EQ(memories_of(requirement_on(task, cpu(0, 0))), "SYSMEM");
  region.coherence = Coherence::kExclusive;
  region.privilege = Privilege::kReduce;
  EXPECT_EQ(memories_of(requirement_on(task, cpu(0, 0))), "virtual");
  task.variants[0].inner = false;
  task.variants[0].leaf = true;
  const InstanceChoice reduced = requirement_on(task, cpu(0, 0));
  EXPECT_EQ(memories_of(reduced), "SYSMEM");
  EXPECT_EQ(reduced.region, InstanceChoice::Region::kRequired);
  EXPECT_EQ(reduced.fields, InstanceChoice::Fields::kRequired);
  EXPECT_EQ(reduced.collect_priority, kCollectFirst);
  region.privilege = Privilege::kNoAccess;
  EXPECT_EQ(memories_of(requirement_on(task, cpu(0, 0))), "");
  region.privilege = Privilege::kReadOnly;
  region.fields = {};
  EXPECT_EQ(memories_of(requirement_on(task, cpu(0, 0))), "");
}

// What a task makes has to lie somewhere, though it is inner.
TEST(DefaultMapper, OutputRegionsAreNotVirtual) {
  FakeTask task("t", {ProcKind::kCpu});
  task.variants[0].leaf = false;
  task.variants[0].inner = true;
  RequirementView& region = task.region({"r"}, Privilege::kWriteDiscard);
  region.output = true;
  region.tag = kTagVirtualMap;
  EXPECT_EQ(memories_of(requirement_on(task, cpu(0, 0))), "SYSMEM");
  Mapping mapping("Region t r * RDMEM", machine_of("nodes=1,cpu=2,gpu=0,omp=0"));
  const MapTaskOutput choice = choice_of(mapping.on(cpu(0, 0)), task.at(cpu(0, 0)));
  EXPECT_THAT(text_of(validate(choice, task.at(cpu(0, 0)), mapping.machine())), IsEmpty());
  EXPECT_EQ(memories_of(choice.requirements.at(0)), "RDMEM");
  Mapping nowhere("Region t r * VIRTUAL", machine_of("nodes=1,cpu=2,gpu=0,omp=0"));
  const MapTaskOutput none = choice_of(nowhere.on(cpu(0, 0)), task.at(cpu(0, 0)));
  EXPECT_THAT(text_of(validate(none, task.at(cpu(0, 0)), nowhere.machine())),
              ElementsAre("region 0 of `t` cannot be virtual: the task makes it, so it has to lie "
                          "somewhere [bad-virtual]"));
}

TEST(DefaultMapper, WhatTheVariantDemands) {
  FakeTask task("t", {ProcKind::kGpu});
  task.region({"r"});
  task.region({"s"});
  LayoutDemand demand;
  demand.memory = MemKind::kZcmem;
  demand.dimensions = DimensionOrder::kC;
  demand.fields = FieldOrder::kAos;
  demand.align_op = AlignOp::kEq;
  demand.align_bytes = 32;
  task.variants[0].demands = {&demand, 1};
  const InstanceChoice choice = requirement_on(task, gpu(0, 0));
  EXPECT_EQ(memories_of(choice), "ZCMEM");
  const LayoutSpec& layout = choice.candidates()[0].layout;
  EXPECT_EQ(layout.dimensions, DimensionOrder::kC);
  EXPECT_EQ(layout.fields, FieldOrder::kAos);
  EXPECT_EQ(layout.align_bytes, 32);
  const MapTaskOutput all = choice_of(*default_on(cpu(0, 0), grid_with_gpus()), task.at(gpu(0, 0)));
  EXPECT_EQ(memories_of(all.requirements[1]), "FBMEM");
}

// ---- Other operations

TEST(DefaultMapper, OtherOperations) {
  const auto mapper = default_on(cpu(1, 0), grid_with_gpus());
  FakeTask inlined("", {});
  inlined.region({"r"}).tag = kTagVirtualMap;
  TaskView parent;
  parent.current = gpu(0, 1);
  TaskView view = inlined.view();
  view.operation = OperationKind::kInline;
  view.parent = &parent;
  FakeRuntime runtime;
  MapOperationOutput choice;
  mapper->map_operation(runtime, view, {}, choice);
  ASSERT_EQ(choice.requirements.size(), 1U);
  EXPECT_EQ(memories_of(choice.requirements[0]), "FBMEM");  // never virtual
  choice.clear();
  view.operation = OperationKind::kPartition;
  mapper->map_operation(runtime, view, {}, choice);
  EXPECT_EQ(memories_of(choice.requirements[0]), "SYSMEM");
  choice.clear();
  view.operation = OperationKind::kCopy;
  mapper->map_operation(runtime, view, {}, choice);
  EXPECT_EQ(memories_of(choice.requirements[0]), "FBMEM");
}

TEST(DefaultMapper, MustEpochs) {
  FakeTask one("a", {ProcKind::kGpu}), two("b", {ProcKind::kCpu}), three("c", {ProcKind::kGpu});
  const std::vector<TaskView> tasks = {one.view(), two.view(), three.view()};
  FakeRuntime runtime;
  MapMustEpochOutput answer;
  default_on(cpu(1, 0), grid_with_gpus())->map_must_epoch(runtime, tasks, answer);
  EXPECT_THAT(answer.processors, ElementsAre(gpu(0, 0), cpu(0, 0), gpu(0, 1)));
  EXPECT_THAT(text_of(validate(answer, tasks, grid_with_gpus())), IsEmpty());
}

TEST(DefaultMapper, SourcesByNearness) {
  const auto mapper = default_on(cpu(0, 0), grid_with_gpus());
  const auto at = [](MemKind kind, std::int64_t node, std::int64_t index) {
    InstanceView instance;
    instance.memory = {kind, node, index};
    return instance;
  };
  const InstanceView target = at(MemKind::kFbmem, 0, 0);
  const std::vector<InstanceView> sources = {at(MemKind::kFbmem, 1, 0), at(MemKind::kSysmem, 0, 0),
                                             at(MemKind::kFbmem, 0, 0), at(MemKind::kSysmem, 1, 0),
                                             at(MemKind::kFbmem, 0, 1)};
  FakeRuntime runtime;
  std::vector<std::uint32_t> order;
  mapper->select_sources(runtime, {}, target, sources, order);
  ASSERT_EQ(order.size(), 5U);
  EXPECT_EQ(order[0], 2U);  // where it is already
  EXPECT_THAT(std::vector(order.begin() + 1, order.begin() + 3),
              ::testing::UnorderedElementsAre(1U, 4U));  // in the node
}

// ---- Order and the rest

TEST(DefaultMapper, AllThatAreReadyOrAsManyAsSaid) {
  FakeTask task("t", {ProcKind::kCpu});
  const std::vector<TaskView> ready(20, task.view());
  FakeRuntime runtime;
  SelectMappingOutput answer;
  default_on(cpu(0, 0), grid_with_gpus())->select_tasks_to_map(runtime, ready, answer);
  EXPECT_EQ(answer.map.size(), 20U);
  EXPECT_THAT(text_of(validate(answer, ready, grid_with_gpus())), IsEmpty());
  answer.clear();
  DefaultSettings eight;
  eight.schedule_count = 8;
  default_on(cpu(0, 0), grid_with_gpus(), eight)->select_tasks_to_map(runtime, ready, answer);
  EXPECT_EQ(answer.map.size(), 8U);
  EXPECT_EQ(answer.map.back(), 7U);
  EXPECT_TRUE(default_on(cpu(0, 0), grid_with_gpus(), eight)->selects());
  EXPECT_FALSE(default_on(cpu(0, 0), grid_with_gpus())->selects());
}

TEST(DefaultMapper, Tunables) {
  const Machine machine = unequal({"nodes=1,cpu=3,gpu=2,omp=1", "nodes=1,cpu=1,gpu=4,omp=0"});
  const auto mapper = default_on(cpu(0, 0), machine);
  FakeRuntime runtime;
  const auto tunable = [&](std::uint32_t id) -> std::int64_t {
    std::vector<std::byte> answer;
    mapper->select_tunable_value(runtime, {}, id, 0, {}, answer);
    std::size_t value = 0;
    if (answer.size() != sizeof value) return -1;
    std::memcpy(&value, answer.data(), sizeof value);
    return static_cast<std::int64_t>(value);
  };
  const std::int64_t expected[] = {2, 3, 2, 0, 1, 0, 4, 6, 0, 1, 0, -1};
  for (std::uint32_t id = 0; id < 12; ++id) EXPECT_EQ(tunable(id), expected[id]) << id;
}

TEST(DefaultMapper, TheRest) {
  const auto mapper = default_on(cpu(0, 0), grid_with_gpus());
  FakeRuntime runtime;
  EXPECT_EQ(mapper->name(), "default");
  EXPECT_EQ(mapper->describe({1}), "");
  EXPECT_THAT(mapper->sharding_functors(), IsEmpty());
  EXPECT_EQ(mapper->select_sharding_functor(runtime, {}, {}), kCyclicSharding);
  EXPECT_FALSE(mapper->memoize_operation(runtime, {}, true));
  const PartitionId open[] = {5, 6};
  EXPECT_EQ(mapper->select_partition_projection(runtime, {}, open), 5U);
  EXPECT_EQ(mapper->select_partition_projection(runtime, {}, {}), 0U);
  std::vector<Processor> targets;
  mapper->select_steal_targets(runtime, {}, targets);
  EXPECT_THAT(targets, IsEmpty());
}

// A runtime that offers nothing says so.
TEST(MapperRuntime, OffersNothing) {
  MapperRuntime runtime;
  EXPECT_FALSE(runtime.find_or_create_instance({}));
  EXPECT_FALSE(runtime.acquire_instance(1));
  EXPECT_FALSE(runtime.collect_instance(1));
  EXPECT_EQ(runtime.free_bytes({}), -1);
  EXPECT_EQ(runtime.create_event(), 0U);
  EXPECT_FALSE(runtime.send_message({}, 0, {}));
  EXPECT_FALSE(runtime.broadcast(0, {}));
  EXPECT_THAT(runtime.variants(0), IsEmpty());
  EXPECT_EQ(runtime.task_name(0), "");
  EXPECT_EQ(name_of(OperationKind::kFutureMapReduction), "future map reduction");
}

}  // namespace
}  // namespace groma::test
