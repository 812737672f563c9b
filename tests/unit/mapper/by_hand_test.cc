// The mappers of examples/mappers, written by hand, against the compiled programs: the same answers
// to every hook, for machines and launches of all sorts.
#include <gmock/gmock.h>

#include <functional>
#include <map>

#include "groma/benchmarks.h"
#include "groma/workload.h"
#include "mappers/experts.h"
#include "mappers/figure2a.h"
#include "mappers/solomonik_a7.h"
#include "support/app_tasks.h"
#include "unit/mapper/hooks.h"

namespace groma::test {
namespace {

using ::testing::IsEmpty;

BoundProgram bound_file(const std::string& file, const Machine& machine) {
  const auto source = Source::read(std::string(GROMA_SOURCE_DIR) + "/dsl/mappers/" + file);
  EXPECT_TRUE(source.ok());
  return bound_to(std::string(source->text()), machine);
}

bool same(const InstanceChoice& a, const InstanceChoice& b) {
  if (a.candidate_count != b.candidate_count || a.is_virtual != b.is_virtual ||
      a.fresh != b.fresh || a.region != b.region || a.fields != b.fields ||
      a.collect_priority != b.collect_priority || a.untracked != b.untracked) {
    return false;
  }
  for (std::size_t i = 0; i < a.candidate_count; ++i) {
    const InstanceCandidate& x = a.candidates()[i];
    const InstanceCandidate& y = b.candidates()[i];
    if (x.memory != y.memory || x.layout != y.layout ||
        bool{x.memory_origin} != bool{y.memory_origin} ||
        bool{x.layout_origin} != bool{y.layout_origin}) {
      return false;
    }
  }
  return true;
}

std::map<std::vector<std::int64_t>, Processor> owners(const SliceTaskOutput& answer) {
  std::map<std::vector<std::int64_t>, Processor> owners;
  for (const TaskSlice& slice : answer.slices) {
    Point at = slice.box.lower;
    do {
      const auto coordinates = at.coordinates();
      owners.emplace(std::vector(coordinates.begin(), coordinates.end()), slice.processor);
    } while (next_point(slice.box, &at));
  }
  return owners;
}

using MakeMapper = std::function<std::unique_ptr<Mapper>(MapperSite)>;
template <typename ByHand>
std::unique_ptr<Mapper> make(MapperSite site) {
  return std::make_unique<ByHand>(std::move(site));
}

// A program and a mapper by hand, on the same processor of the same machine.
class Both {
 public:
  Both(const std::string& file, const MakeMapper& by_hand, const Machine& machine,
       DefaultSettings settings)
      : mapping_(std::make_unique<test::Mapping>(bound_file(file, machine))),
        program_(&mapping_->on(cpu(0, 0), settings)),
        hand_(by_hand(program_->site())) {}

  int answered = 0;  // tasks that were placed

  void compare(const TaskView& asked) {
    TaskView task = asked;
    const TaskOptions a = options_of(*program_, task), b = options_of(*hand_, task);
    EXPECT_EQ(a.failure.has_value(), b.failure.has_value());
    if (a.failure || b.failure) return;
    EXPECT_EQ(a.initial, b.initial);
    EXPECT_EQ(a.replicate, b.replicate);
    EXPECT_EQ(a.map_locally, b.map_locally);
    EXPECT_EQ(a.stealable, b.stealable);
    EXPECT_EQ(a.memoize, b.memoize);
    EXPECT_EQ(bool{a.kind_origin}, bool{b.kind_origin});
    task.current = a.initial;
    if (a.replicate) compare_replication(task);
    compare_sharding(task);
    if (!task.is_index) return compare_choices(task);
    compare_slices(task, task.domain);
    Rect part = task.domain;  // a shard's
    part.lower[0] += part.extents[0] / 2;
    part.extents[0] -= part.extents[0] / 2;
    compare_slices(task, part);
  }

 private:
  void compare_slices(const TaskView& task, const Rect& part) {
    const SliceTaskOutput a = slices_of(*program_, task, part);
    const SliceTaskOutput b = slices_of(*hand_, task, part);
    ASSERT_EQ(a.failure.has_value(), b.failure.has_value());
    if (a.failure) return;
    EXPECT_THAT(text_of(validate(a, task, part, mapping_->machine())), IsEmpty());
    EXPECT_THAT(text_of(validate(b, task, part, mapping_->machine())), IsEmpty());
    EXPECT_EQ(bool{a.origin}, bool{b.origin});
    const auto by_program = owners(a);
    EXPECT_EQ(by_program, owners(b));
    for (const auto& [point, processor] : by_program) {
      TaskView at = task;
      at.point = Point(point);
      at.current = processor;
      compare_choices(at);
    }
  }

  void compare_choices(const TaskView& task) {
    const MapTaskOutput a = choice_of(*program_, task), b = choice_of(*hand_, task);
    ASSERT_FALSE(a.failure || b.failure);
    ++answered;
    EXPECT_EQ(a.processors, b.processors);
    EXPECT_EQ(a.variant, b.variant);
    EXPECT_EQ(bool{a.processor_origin}, bool{b.processor_origin});
    EXPECT_EQ(bool{a.kind_origin}, bool{b.kind_origin});
    ASSERT_EQ(a.requirements.size(), b.requirements.size());
    for (std::size_t i = 0; i < a.requirements.size(); ++i) {
      EXPECT_TRUE(same(a.requirements[i], b.requirements[i])) << "requirement " << i;
    }
    EXPECT_EQ(text_of(validate(a, task, mapping_->machine())),
              text_of(validate(b, task, mapping_->machine())));
    SelectMappingOutput x, y;
    program_->select_tasks_to_map(runtime_, {&task, 1}, x);
    hand_->select_tasks_to_map(runtime_, {&task, 1}, y);
    EXPECT_EQ(x.map, y.map);
  }

  void compare_replication(const TaskView& task) {
    ReplicateTaskOutput a, b;
    program_->replicate_task(runtime_, task, a);
    hand_->replicate_task(runtime_, task, b);
    EXPECT_EQ(a.variant, b.variant);
    EXPECT_EQ(a.processors, b.processors);
  }

  void compare_sharding(const TaskView& task) {
    std::vector<Processor> cpus;
    for (std::int64_t n = 0; n < mapping_->machine().node_count(); ++n) cpus.push_back(cpu(n, 0));
    const ShardTable shards(std::move(cpus));
    const ShardingId a = program_->select_sharding_functor(runtime_, task, shards);
    const ShardingId b = hand_->select_sharding_functor(runtime_, task, shards);
    ASSERT_EQ(a == kCyclicSharding, b == kCyclicSharding);
    if (a == kCyclicSharding) return;
    const ShardingFunctor& x = *program_->sharding_functors()[a - 1];
    const ShardingFunctor& y = *hand_->sharding_functors()[b - 1];
    Point at = task.domain.lower;
    do {
      EXPECT_EQ(x.shard(at, task.domain, shards), y.shard(at, task.domain, shards));
    } while (next_point(task.domain, &at));
  }

  std::unique_ptr<Mapping> mapping_;
  ProgramMapper* program_;
  std::unique_ptr<Mapper> hand_;
  FakeRuntime runtime_;
};

const std::vector<Machine>& machines() {
  static const std::vector<Machine> machines = {
      machine_of("p100x4:nodes=1"),
      machine_of("nodes=2,gpu=2,cpu=4,omp=2"),
      machine_of("nodes=3,gpu=4,cpu=1"),
      machine_of("nodes=2,cpu=3,gpu=0,omp=0"),
      unequal({"nodes=1,cpu=2,gpu=3", "nodes=1,cpu=4,gpu=2,omp=1"}),
      unequal({"nodes=1,cpu=2,gpu=0,omp=0", "nodes=1,cpu=1,gpu=1,omp=0"}),
  };
  return machines;
}

void compare_all(const std::string& file, const MakeMapper& by_hand,
                 const std::vector<std::string>& names) {
  using enum ProcKind;
  const std::vector<std::vector<ProcKind>> variants = {
      {kCpu}, {kGpu}, {kCpu, kGpu, kGpu}, {kOmp, kCpu}, {kIo}};
  const std::vector<Rect> launches = {rect({1}), rect({10}), Rect{{-3, 2}, {4, 3}}, rect({2, 3, 4}),
                                      Rect{{5, 5, 5}, {3, 3, 1}}};
  int answered = 0;
  for (const Machine& machine : machines()) {
    DefaultSettings settings;
    settings.exact_region = answered % 2 == 0;
    Both both(file, by_hand, machine, settings);
    TaskId id = 0;
    for (const std::string& name : names) {
      for (const auto& kinds : variants) {
        FakeTask task(name, kinds, ++id);
        for (VariantView& variant : task.variants) variant.replicable = true;
        task.region({"r", "ghost_region"}, Privilege::kReadOnly, 1);
        task.region({"s"}, Privilege::kReduce, 2);
        task.region({"ghost_region"}, Privilege::kNoAccess, 3);
        task.region({"q"}, Privilege::kWriteDiscard);
        for (int depth = 0; depth < 3; ++depth) {
          task.base.depth = depth;
          both.compare(task.view());
        }
        task.variants[0].leaf = false;
        task.variants[0].inner = true;
        both.compare(task.view());
        task.requirements.pop_back();
        for (const Rect& launch : launches) {
          task.launch(launch);
          both.compare(task.view());
        }
      }
    }
    answered += both.answered;
  }
  EXPECT_GT(answered, 2000);
}

TEST(ByHand, Figure2a) {
  compare_all("figure2a.mapper", make<examples::Figure2aMapper>, {"task0", "task4", "other"});
}

TEST(ByHand, Solomonik) {
  compare_all("solomonik_a7.mapper", make<examples::SolomonikA7Mapper>,
              {"task_1", "task_2", "task_4", "task_5"});
}

MakeMapper expert(std::string_view name) {
  return [name](MapperSite site) { return examples::expert_mapper(name, std::move(site)); };
}

// Tasks and launches of all sorts under the names that a mapping tells apart.
TEST(ByHand, Experts) {
  const std::vector<std::string> regent = {"calculate_new_currents", "init_piece"};
  const std::vector<std::string> matrix = {"init_cublas", "taco_fill", "task_1",
                                           "task_4",      "task_5",    "task_7"};
  for (const Benchmark& benchmark : benchmarks()) {
    SCOPED_TRACE(benchmark.name);
    const bool of_regent =
        benchmark.name == "circuit" || benchmark.name == "stencil" || benchmark.name == "pennant";
    compare_all(std::string(benchmark.name) + ".mapper", expert(benchmark.name),
                of_regent ? regent : matrix);
  }
}

// Every launch of the benchmarks themselves, with their regions' names.
TEST(ByHand, ExpertsOnTheirBenchmarks) {
  for (const Benchmark& benchmark : benchmarks()) {
    SCOPED_TRACE(benchmark.name);
    for (std::int64_t nodes : {1, 4}) {
      const auto workload = Workload::make(benchmark.make(), {{"nodes", nodes}});
      ASSERT_TRUE(workload.ok());
      bool complete = false;
      const auto uses = app::list_launches(workload->data(), 1'000, complete);
      ASSERT_TRUE(complete);
      for (const Machine& machine : {machine_of("p100x4"), machine_of("lassen:nodes=4")}) {
        Both both(std::string(benchmark.name) + ".mapper", expert(benchmark.name), machine, {});
        for (const app::DistinctLaunch& use : uses) {
          const auto task = test::fake_task(workload->data(), use);
          SCOPED_TRACE(task->view().name);
          both.compare(task->view());
        }
        EXPECT_GE(both.answered, static_cast<int>(uses.size()));
      }
    }
  }
}

// A mapper by hand can name what it decided as a program can.
TEST(ByHand, Describe) {
  const auto machine = std::make_shared<Machine>(machine_of("nodes=1,gpu=2"));
  examples::Figure2aMapper figure({machine, cpu(0, 0), {}, nullptr});
  FakeTask task("task0", {ProcKind::kGpu});
  EXPECT_EQ(figure.describe(options_of(figure, task.view()).kind_origin), "task0 runs on GPUs");
  EXPECT_EQ(figure.describe({}), "");
  examples::SolomonikA7Mapper solomonik({machine, cpu(0, 0), {}, nullptr});
  EXPECT_EQ(solomonik.describe(options_of(solomonik, task.view()).kind_origin),
            "GPUs first, then OpenMP, then single cores");
}

}  // namespace
}  // namespace groma::test
