// Mappers that answer nonsense: an error of the run, never a crash, never a run without end.
// Applications that are too much for any run: whoever asks them to stop need not wait.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <ctime>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "groma/app_builder.h"
#include "groma/evaluate.h"
#include "groma/program_mapper.h"
#include "simulate/rehearsal.h"
#include "support/hostile_apps.h"
#include "support/run_generator.h"
#include "support/sanitized.h"

namespace groma::testing {
namespace {

class Garbage {
 public:
  explicit Garbage(std::uint64_t seed) : seed_(seed * 2 + 1) {}
  std::uint64_t next() { return random_at(seed_, drawn_++); }
  bool one_in(std::uint64_t n) { return next() % n == 0; }
  std::int64_t integer() {
    switch (next() % 5) {
      case 0:
        return static_cast<std::int64_t>(next() % 5) - 2;
      case 1:
        return std::numeric_limits<std::int64_t>::max();
      case 2:
        return std::numeric_limits<std::int64_t>::min();
      case 3:
        return static_cast<std::int64_t>(next() % 1000);
      default:
        return static_cast<std::int64_t>(next());
    }
  }
  int small() { return static_cast<int>(integer()); }
  std::uint32_t index() { return static_cast<std::uint32_t>(integer()); }
  template <typename Kind>
  Kind kind() {  // of the enumeration, or beyond it
    return static_cast<Kind>(one_in(3) ? next() % 256 : next() % 8);
  }
  Processor processor() { return {kind<ProcKind>(), integer(), integer()}; }
  Point point(int dimensions) {
    Point point = Point::zeros(one_in(4) ? static_cast<int>(next() % 10) : dimensions);
    for (int d = 0; d < point.dimensions(); ++d) point[d] = integer();
    return point;
  }
  Rect box(int dimensions) { return {point(dimensions), point(dimensions)}; }

 private:
  std::uint64_t seed_, drawn_ = 0;
};

class GarbageFunctor final : public ShardingFunctor {
 public:
  explicit GarbageFunctor(std::uint64_t seed) : seed_(seed) {}
  ShardId shard(const Point& point, const LaunchDomain&, const ShardTable& shards) const override {
    Garbage garbage(seed_ + static_cast<std::uint64_t>(point[0]));
    return garbage.one_in(4) ? garbage.index()
                             : static_cast<ShardId>(garbage.next() % shards.size());
  }
  void boxes_of(ShardId shard, const LaunchDomain& domain, const ShardTable& shards,
                const std::function<void(const Rect&)>& box) const override {
    Garbage garbage(seed_ + shard);
    if (garbage.one_in(2)) return ShardingFunctor::boxes_of(shard, domain, shards, box);
    for (std::uint64_t n = garbage.next() % 4; n > 0; --n) {
      box(garbage.one_in(2) ? domain.box : garbage.box(domain.box.dimensions()));
    }
  }

 private:
  std::uint64_t seed_;
};

// What the mapper inside answers, and now and then something else.
class HostileMapper final : public Mapper {
 public:
  HostileMapper(std::unique_ptr<Mapper> inside, std::uint64_t seed, std::uint64_t calm)
      : Mapper(inside->site()),
        inside_(std::move(inside)),
        garbage_(seed),
        calm_(calm),
        functor_(seed),
        functors_{&functor_, nullptr} {}

  bool selects() const override { return calm_ % 2 == 0 || inside_->selects(); }
  std::span<const ShardingFunctor* const> sharding_functors() const override { return functors_; }

  void select_task_options(MapperRuntime& runtime, const TaskView& task,
                           TaskOptions& answer) override {
    speak(runtime);
    want(runtime, task);
    inside_->select_task_options(runtime, task, answer);
    if (now()) answer.initial = garbage_.processor();
    if (now()) answer.replicate = !answer.replicate;
    if (now()) answer.map_locally = true;
    if (now()) answer.inline_task = true;
    if (garbage_.one_in(2)) answer.stealable = true;
    if (now()) answer.valid_instances = true;
    if (now()) answer.collective = {garbage_.index()};
    if (now()) answer.parent_priority = garbage_.small();
  }
  ShardingId select_sharding_functor(MapperRuntime& runtime, const TaskView& task,
                                     const ShardTable&) override {
    want(runtime, task);
    return garbage_.one_in(3) ? garbage_.index() : static_cast<ShardingId>(garbage_.next() % 4);
  }
  void replicate_task(MapperRuntime& runtime, const TaskView& task,
                      ReplicateTaskOutput& answer) override {
    want(runtime, task);
    inside_->replicate_task(runtime, task, answer);
    if (now()) answer.variant = garbage_.index();
    if (now()) answer.processors.push_back(garbage_.processor());
    if (now()) answer.processors.clear();
  }
  void slice_task(MapperRuntime& runtime, const TaskView& task, const Rect& part,
                  SliceTaskOutput& answer) override {
    want(runtime, task);
    inside_->slice_task(runtime, task, part, answer);
    for (TaskSlice slice : std::exchange(answer.slices, {})) {
      if (garbage_.one_in(2)) slice.stealable = true;
      if (now()) slice.recurse = true;
      if (now()) slice.processor = garbage_.processor();
      if (now()) slice.box = garbage_.box(part.dimensions());
      answer.slices.push_back(slice);
    }
    if (now()) answer.slices.clear();
    if (now()) answer.slices.push_back({part, task.current});
  }
  void map_task(MapperRuntime& runtime, const TaskView& task,
                std::span<const std::span<const InstanceView>> valid,
                MapTaskOutput& answer) override {
    speak(runtime);
    want(runtime, task);
    for (const auto& each : valid) {
      for (const InstanceView& seen : each) known_.push_back(seen.id);
    }
    inside_->map_task(runtime, task, valid, answer);
    if (now()) answer.processors.push_back(garbage_.processor());
    if (now()) answer.processors.push_back({ProcKind::kCpu, machine().node_count() - 1, 0});
    if (now()) answer.processors.clear();
    if (now()) answer.variant = garbage_.index();
    if (now()) answer.requirements.resize(garbage_.next() % 5);
    if (now()) answer.abort_mapping = true;
    if (now()) answer.task_priority = garbage_.small();
    if (now()) answer.task_profiling = {true, true};
    if (now()) answer.future_memories = {{garbage_.kind<MemKind>(), garbage_.integer(), 0}};
    for (InstanceChoice& choice : answer.requirements) {
      if (now()) choice.candidate_count = static_cast<std::uint8_t>(garbage_.next());
      if (now()) choice.is_virtual = !choice.is_virtual;
      if (now()) choice.fresh = true;
      if (now()) choice.untracked = true;
      if (now()) choice.region = garbage_.kind<InstanceChoice::Region>();
      if (now()) choice.fields = garbage_.kind<InstanceChoice::Fields>();
      if (now()) choice.collect_priority = garbage_.small();
      if (now()) choice.instance = instance();
      if (now()) choice.instance_origin.statement = garbage_.index();
      for (InstanceCandidate& candidate : choice.candidates_in_order) {
        if (now()) candidate.memory = garbage_.kind<MemKind>();
        if (now()) candidate.layout.dimensions = garbage_.kind<DimensionOrder>();
        if (now()) candidate.layout.fields = garbage_.kind<FieldOrder>();
        if (now()) candidate.layout.align_op = garbage_.kind<AlignOp>();
        if (now()) candidate.layout.align_bytes = garbage_.integer();
        if (now()) candidate.memory_origin.statement = garbage_.index();
      }
    }
  }
  void select_sources(MapperRuntime& runtime, const TaskView& task, const InstanceView& target,
                      std::span<const InstanceView> sources,
                      std::vector<std::uint32_t>& answer) override {
    want(runtime, task);
    for (const InstanceView& source : sources) {
      if (garbage_.one_in(2)) runtime.collect_instance(source.id);
    }
    if (now()) runtime.collect_instance(target.id);
    if (now()) runtime.release_instance(target.id);
    for (std::uint64_t n = garbage_.next() % 6; n > 0; --n) answer.push_back(garbage_.index());
  }
  void select_tasks_to_map(MapperRuntime& runtime, std::span<const TaskView> ready,
                           SelectMappingOutput& answer) override {
    want(runtime, ready.front());
    if (calm_ % 4 == 0) {  // never maps anything
      for (std::uint32_t i = 0; i < ready.size() && calm_ % 8 == 0; ++i) {
        answer.relocate.push_back({i, ready[i].current});
      }
      answer.deferral = runtime.create_event();
      return runtime.trigger_event(answer.deferral);
    }
    inside_->select_tasks_to_map(runtime, ready, answer);
    if (now()) answer.map.push_back(garbage_.index());
    if (now()) answer.relocate.push_back({garbage_.index(), garbage_.processor()});
    if (now()) answer.relocate.push_back({0, ready[0].current});
    if (now()) answer.deferral = static_cast<MapperEvent>(garbage_.integer());
    if (now()) answer.map.clear();
  }
  void select_steal_targets(MapperRuntime& runtime, std::span<const Processor> blacklist,
                            std::vector<Processor>& answer) override {
    inside_->select_steal_targets(runtime, blacklist, answer);
    if (now()) answer.push_back(garbage_.processor());
    if (now()) answer.push_back(site().local);
    if (now() && !answer.empty()) answer.push_back(answer.front());
  }
  void permit_steal_request(MapperRuntime& runtime, const Processor& thief,
                            std::span<const TaskView> stealable,
                            std::vector<std::uint32_t>& answer) override {
    if (!stealable.empty()) want(runtime, stealable.front());
    inside_->permit_steal_request(runtime, thief, stealable, answer);
    if (now()) answer.push_back(garbage_.index());
    if (now() && !answer.empty()) answer.push_back(answer.front());
  }
  void report_profiling(MapperRuntime& runtime, const TaskView& task,
                        const ProfilingReport& report) override {
    speak(runtime);
    want(runtime, task);
    inside_->report_profiling(runtime, task, report);
  }
  void handle_message(MapperRuntime& runtime, const Processor& sender, std::uint32_t kind,
                      std::span<const std::byte> message) override {
    runtime.send_message(sender, kind, message);  // for ever
    if (kind == 0) runtime.broadcast(1, message);
    touch(runtime);
  }
  void handle_instance_collection(MapperRuntime& runtime, InstanceId instance) override {
    known_.push_back(instance);
    touch(runtime);
  }

 private:
  bool now() { return garbage_.one_in(calm_); }
  void speak(MapperRuntime& runtime) {
    if (now()) runtime.trigger_event(static_cast<MapperEvent>(garbage_.integer()));
    if (now())
      runtime.free_bytes({garbage_.kind<MemKind>(), garbage_.integer(), garbage_.integer()});
    if (now()) runtime.variants(garbage_.index());
    if (now()) runtime.task_name(garbage_.index());
    if (now()) runtime.find_instance({});
    touch(runtime);
    const std::byte byte{1};
    if (garbage_.one_in(400)) runtime.send_message(garbage_.processor(), 0, {&byte, 1});
    if (garbage_.one_in(2000)) runtime.broadcast(0, {&byte, 1});
  }

  // One that was there, or any number.
  InstanceId instance() {
    if (known_.empty() || garbage_.one_in(4)) return garbage_.next() >> garbage_.next() % 64;
    return known_[garbage_.next() % known_.size()];
  }
  void touch(MapperRuntime& runtime) {
    if (now()) runtime.acquire_instance(instance());
    if (now()) runtime.release_instance(instance());
    if (now()) runtime.collect_instance(instance());
    if (now()) runtime.set_collect_priority(instance(), garbage_.small());
  }
  // An instance of what the task needs, or of anything.
  void want(MapperRuntime& runtime, const TaskView& task) {
    if (!now()) return;
    InstanceRequest request;
    std::vector<RegionId> regions;
    std::vector<FieldId> fields;
    for (const RequirementView& requirement : task.requirements) {
      if (garbage_.one_in(2)) regions.push_back(requirement.region);
      if (garbage_.one_in(8)) regions.push_back(static_cast<RegionId>(garbage_.integer()));
      for (const FieldView& field : requirement.fields) fields.push_back(field.id);
      request.reduction = requirement.reduction;
    }
    if (garbage_.one_in(8)) fields.push_back(garbage_.index());
    request.memory = {garbage_.kind<MemKind>(), task.current.node, 0};
    if (garbage_.one_in(4)) request.memory.node = garbage_.integer();
    if (garbage_.one_in(4)) request.memory.index = garbage_.integer();
    if (garbage_.one_in(8)) request.layout.align_bytes = garbage_.integer();
    if (garbage_.one_in(8)) request.layout.align_op = garbage_.kind<AlignOp>();
    if (garbage_.one_in(8)) request.reduction = garbage_.small();
    request.priority = garbage_.small();
    request.regions = regions;
    request.fields = fields;
    const auto found = garbage_.one_in(2) ? runtime.find_or_create_instance(request)
                                          : runtime.create_instance(request);
    if (found) known_.push_back(found->id);
  }

  std::unique_ptr<Mapper> inside_;
  std::vector<InstanceId> known_;
  Garbage garbage_;
  std::uint64_t calm_;
  GarbageFunctor functor_;
  std::array<const ShardingFunctor*, 2> functors_;
};

TEST(HostileMappers, AreRefused) {
  std::map<std::string, int> ends, in_legions_words;
  for (std::uint64_t seed = 1; seed <= 1500; ++seed) {
    const GeneratedRun run = generate_run(seed);
    const auto workload = Workload::make(run.app);
    ASSERT_TRUE(workload);
    const MapperFactory inside = run.mappers();
    const std::uint64_t calm = seed % 100 == 0 ? 1000 + seed / 100 : 30 + seed % 400 * 2 + 1;
    std::uint64_t made = 0;
    const RunResult result = simulate(*workload, run.machine,
                                      [&](const Processor& local) -> std::unique_ptr<Mapper> {
                                        return std::make_unique<HostileMapper>(
                                            inside(local), seed * 1000 + made++, calm);
                                      },
                                      {.costs = run.costs});
    EXPECT_EQ(result.ok(), result.refusals.empty()) << "seed " << seed;
    for (const Refusal& refusal : result.refusals) {
      ++ends[std::string(name_of(refusal.diagnostic.id))];
      EXPECT_FALSE(refusal.diagnostic.message.empty());
    }
    if (result.ok()) continue;
    const Diagnostic& first = result.refusals.front().diagnostic;
    if (result.raw != first.message) ++in_legions_words[std::string(name_of(first.id))];
  }
  // Each answer was nonsense at least once.
  for (const char* id : {"bad-processor", "mixed-processors", "bad-variant", "missing-choice",
                         "no-memory", "bad-virtual", "bad-slices", "bad-schedule", "bad-steal",
                         "bad-replication", "bad-instance", "cannot-run"}) {
    EXPECT_GT(ends[id], 0) << id;
  }
  for (const char* id :
       {"no-memory", "bad-variant", "bad-slices", "bad-schedule", "bad-sharding", "bad-instance"}) {
    EXPECT_GT(in_legions_words[id], 0) << id;
  }
}

// ---- Applications

double cpu_seconds() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

// Asks to stop after a while, and notes how long it was not asked.
class Impatient {
 public:
  std::function<bool()> stop() {
    return [this] {
      note();
      return last_ - begin_ > kPatience;
    };
  }
  // The longest time without a question, with what came after the last one.
  double longest() {
    note();
    return longest_;
  }

 private:
  static constexpr double kPatience = 0.2;

  void note() {
    const double now = cpu_seconds();
    longest_ = std::max(longest_, now - last_);
    last_ = now;
  }

  double begin_ = cpu_seconds(), last_ = begin_, longest_ = 0;
};

// Of CPU time, which other processes do not stretch. Tools that look at each access do.
constexpr double kPromptly = GROMA_SANITIZED ? 20 : 1;

struct Hostile {
  explicit Hostile(const HostileApp& hostile, std::function<bool()> stop)
      : machine(std::make_shared<const Machine>(*make_machine("p100x4:nodes=2"))) {
    auto made = Workload::make(hostile.app, {}, stop);
    if (!made) return;
    workload = *made;
    const Source source("hostile.mapper", hostile.mapping);
    Diagnostics diags(source);
    const auto bound = bind(compile(source, diags), *machine, diags);
    EXPECT_TRUE(bound) << render(diags);
    shared = ProgramMapper::share(*bound, nullptr, std::move(stop));
    machine = bound->shared_machine();
  }
  MapperFactory mappers() const {
    return [this](const Processor& local) {
      return std::make_unique<ProgramMapper>(shared, MapperSite{machine, local});
    };
  }

  std::shared_ptr<const Machine> machine;
  std::optional<Workload> workload;
  std::shared_ptr<ProgramMapper::Shared> shared;
};

TEST(HostileApplications, StopWhenTheyAreAsked) {
  int stopped = 0;
  for (const HostileApp& each : hostile_apps()) {
    SCOPED_TRACE(each.app.name);
    Impatient impatient;
    {
      const Hostile hostile(each, impatient.stop());
      ASSERT_TRUE(hostile.workload);
      const RunResult result = simulate(*hostile.workload, hostile.machine, hostile.mappers(),
                                        {.record = true, .stop = impatient.stop()});
      EXPECT_FALSE(result.ok());
      stopped += result.status == RunStatus::kStopped ? 1 : 0;
      // What it failed of has nothing to do with its being stopped.
      EXPECT_EQ(result.status == RunStatus::kStopped, result.refusals.empty()) << result.raw;
    }
    EXPECT_LT(impatient.longest(), kPromptly);
  }
  EXPECT_GT(stopped, 10);
}

TEST(HostileApplications, AreCheckedNoLongerThanAskedFor) {
  for (const HostileApp& each : hostile_apps()) {
    SCOPED_TRACE(each.app.name);
    Impatient impatient;
    {
      const Hostile hostile(each, impatient.stop());
      ASSERT_TRUE(hostile.workload);
      const sim::RehearsalResult result = sim::rehearse(
          *hostile.workload, hostile.machine, hostile.mappers(), {.stop = impatient.stop()});
      EXPECT_FALSE(result.incomplete.empty() && result.findings.empty());
    }
    EXPECT_LT(impatient.longest(), kPromptly);
  }
}

// By itself, too, a check ends: it looks at no more than so much.
TEST(HostileApplications, AreNotCheckedToTheEnd) {
  for (const HostileApp& each : hostile_apps()) {
    SCOPED_TRACE(each.app.name);
    const Hostile hostile(each, {});
    ASSERT_TRUE(hostile.workload);
    const double begin = cpu_seconds();
    const sim::RehearsalResult result = sim::rehearse(
        *hostile.workload, hostile.machine, hostile.mappers(), {.max_work = std::int64_t{1} << 24});
    EXPECT_FALSE(result.incomplete.empty() && result.findings.empty());
    EXPECT_LT(cpu_seconds() - begin, 2 * kPromptly);
  }
}

// Two points of a launch write the same 50,000 parts, so that most of the time is spent within the
// call that finds the conflict.
TEST(HostileApplications, StopAtEachMoment) {
  AppBuilder app("conflict");
  app.region("r", {50'000}).field("v", 8).partition("parts", {50'000});
  app.pieces("all", {2}, {"i"}, {0}, {50'000});
  app.task("write").variant(cpu().leaf()).writes("all");
  app.task("main").variant(cpu().inner()).body({launch("write").over({2})});
  const HostileApp conflict = {app.top_level("main").done()};
  const Hostile hostile(conflict, {});
  ASSERT_TRUE(hostile.workload);
  std::size_t questions = 0, stopped = 0;
  for (bool over = false; !over;) {
    ++questions;
    SCOPED_TRACE(questions);
    std::size_t asked = 0;
    const auto stop = [&] { return ++asked >= questions; };
    const RunResult run =
        simulate(*hostile.workload, hostile.machine, hostile.mappers(), {.stop = stop});
    over = run.status != RunStatus::kStopped;
    stopped += over ? 0 : 1;
    ASSERT_EQ(run.refusals.size(), over ? 1U : 0U);
    if (over) {
      EXPECT_EQ(run.refusals.front().diagnostic.id, DiagId::kInterferingPoints);
    }
    asked = 0;
    const sim::RehearsalResult check =
        sim::rehearse(*hostile.workload, hostile.machine, hostile.mappers(), {.stop = stop});
    EXPECT_EQ(check.findings.empty(), !check.incomplete.empty());
  }
  EXPECT_GT(stopped, 5U);
}

// A launch without points counts as a task, so that a loop of such launches ends by itself.
TEST(HostileApplications, LaunchesWithoutPointsAreBounded) {
  AppBuilder app("empty");
  app.task("t").variant(cpu().leaf());
  const AppStatement none = launch("t").over({4, 4}, {"i", "j"}).where("i + j > 100");
  app.task("main").variant(cpu().inner()).body({loop(std::int64_t{1} << 40, {none})});
  const HostileApp hostile_app = {app.top_level("main").done()};
  const Hostile hostile(hostile_app, {});
  ASSERT_TRUE(hostile.workload);
  const RunResult result =
      simulate(*hostile.workload, hostile.machine, hostile.mappers(), {.max_tasks = 10'000});
  EXPECT_EQ(result.status, RunStatus::kTooLarge);
}

TEST(HostileApplications, SayWhyTheyAreNotCheckedToTheEnd) {
  constexpr std::int64_t kEnough = std::int64_t{1} << 31;
  const std::vector<HostileApp> apps = hostile_apps();
  const auto why = [&](std::string_view name, std::int64_t max_bytes) {
    const auto app = std::find_if(apps.begin(), apps.end(),
                                  [&](const HostileApp& each) { return each.app.name == name; });
    const Hostile hostile(*app, {});
    return sim::rehearse(*hostile.workload, hostile.machine, hostile.mappers(),
                         {.max_bytes = max_bytes, .max_work = std::int64_t{1} << 22})
        .incomplete;
  };
  EXPECT_EQ(why("wide_halos", kEnough),
            "its tasks use more parts of its regions than are looked at");
  EXPECT_EQ(why("pieces_by_long_formulas", kEnough), "its partitions have too many pieces");
  EXPECT_EQ(why("millions_of_parts", std::int64_t{1} << 27),
            "more than 128 MiB of memory is needed to simulate it");
}

}  // namespace
}  // namespace groma::testing
