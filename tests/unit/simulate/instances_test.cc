// Instances that a mapper makes, finds and names itself: what they take, how long they stay, and
// which names are refused.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "groma/app_builder.h"
#include "groma/simulate.h"
#include "simulate/rehearsal.h"

namespace groma {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::int64_t kPiece = 8000;  // bytes: 1000 elements, of each field
constexpr std::uint32_t kStatement = 5;

// Two nodes with a CPU and a GPU each.
std::shared_ptr<const Machine> machine_of(std::int64_t capacity = 1 << 30) {
  NodeType node;
  node.processors = {{ProcKind::kCpu, 1, 1e9}, {ProcKind::kGpu, 2, 1e9}};
  node.memories = {{MemKind::kSysmem, 1, capacity, 4e9}, {MemKind::kFbmem, 2, capacity, 4e9}};
  node.affinities = {{ProcKind::kCpu, MemKind::kSysmem, 1e9, 0},
                     {ProcKind::kGpu, MemKind::kFbmem, 1e9, 0}};
  using Scope = Channel::Scope;
  node.channels = {{"net", MemKind::kSysmem, MemKind::kSysmem, Scope::kNetwork, 1, 1e9, 0},
                   {"pcie", MemKind::kSysmem, MemKind::kFbmem, Scope::kLocal, 1, 1e9, 0}};
  auto machine = Machine::make("two", "", {node}, {0, 0});
  EXPECT_TRUE(machine);
  return std::make_shared<const Machine>(std::move(*machine));
}

Memory sysmem(std::int64_t node) { return {MemKind::kSysmem, node, 0}; }

// Tasks on r, of which p are four pieces, and s: what they do is their mapper's affair.
Application app_of(std::vector<AppStatement> body) {
  AppBuilder app("app");
  app.region("r", {4000}).field("x", 8).field("y", 8).partition("p", {4});
  app.region("s", {1000}).field("x", 8);
  app.task("both").variant(cpu().leaf()).writes("p", {"x"}, {"0"}).writes("p", {"x"}, {"1"});
  app.task("one").variant(cpu().leaf()).variant(gpu().leaf()).writes("p", {"x"}, {"0"});
  app.task("look").variant(cpu().leaf()).reads("p", {"x"}, {"1"});
  app.task("add").variant(cpu().leaf()).reduces("p", {"x"}, {"0"});
  app.task("all").variant(cpu().leaf()).reads("p", {"x", "y"}, {"0"});
  app.task("other").variant(cpu().leaf()).writes("s", {"x"});
  LayoutDemand c_order;
  c_order.fields = FieldOrder::kAos;
  app.task("aos").variant(cpu().leaf().demand(c_order)).reads("p", {"x", "y"}, {"0"});
  app.task("main").variant(cpu().inner().kernels(0));
  app.body(std::move(body));
  return app.top_level("main").done();
}

struct Scripts {
  using Map = std::function<void(MapperRuntime&, const TaskView&, MapTaskOutput&)>;
  std::map<std::string, Map, std::less<>> map;  // by task
  std::function<void(MapperRuntime&, const TaskView&)> options = {};
  std::function<void(MapperRuntime&)> select = {};
  std::function<void(MapperRuntime&, const InstanceView&, std::span<const InstanceView>)> sources =
      {};
  Processor where = {ProcKind::kCpu, 0, 0};      // all but the top-level task
  std::vector<std::vector<InstanceView>> valid;  // of the last map_task
  std::vector<InstanceId> gone;                  // as told
};

// An exact instance in SYSMEM for each requirement, then what the script says.
class Scripted final : public Mapper {
 public:
  Scripted(MapperSite site, Scripts& scripts) : Mapper(std::move(site)), scripts_(scripts) {}
  bool selects() const override { return scripts_.select != nullptr; }
  void select_task_options(MapperRuntime& runtime, const TaskView& task,
                           TaskOptions& answer) override {
    answer.initial = task.depth == 0 ? Processor{ProcKind::kCpu, 0, 0} : scripts_.where;
    answer.valid_instances = true;
    if (scripts_.options) scripts_.options(runtime, task);
  }
  void select_tasks_to_map(MapperRuntime& runtime, std::span<const TaskView> ready,
                           SelectMappingOutput& answer) override {
    scripts_.select(runtime);
    Mapper::select_tasks_to_map(runtime, ready, answer);
  }
  void map_task(MapperRuntime& runtime, const TaskView& task,
                std::span<const std::span<const InstanceView>> valid,
                MapTaskOutput& answer) override {
    answer.processors = {task.current};
    answer.variant = task.current.kind == ProcKind::kGpu ? 2 : 1;
    answer.requirements.resize(task.requirements.size());
    for (InstanceChoice& choice : answer.requirements) {
      InstanceCandidate candidate;
      candidate.layout.exact = true;
      choice.add(candidate);
      choice.fields = InstanceChoice::Fields::kRequired;
      choice.collect_priority = kCollectDefault;
    }
    scripts_.valid.clear();
    for (const auto& each : valid) scripts_.valid.emplace_back(each.begin(), each.end());
    const auto script = scripts_.map.find(task.name);
    if (script != scripts_.map.end()) script->second(runtime, task, answer);
  }
  void select_sources(MapperRuntime& runtime, const TaskView& task, const InstanceView& target,
                      std::span<const InstanceView> sources,
                      std::vector<std::uint32_t>& answer) override {
    if (scripts_.sources) scripts_.sources(runtime, target, sources);
    Mapper::select_sources(runtime, task, target, sources, answer);
  }
  void handle_instance_collection(MapperRuntime&, InstanceId instance) override {
    scripts_.gone.push_back(instance);
  }

 private:
  Scripts& scripts_;
};

MapperFactory factory(const std::shared_ptr<const Machine>& machine, Scripts& scripts) {
  return [&scripts, machine](const Processor& local) -> std::unique_ptr<Mapper> {
    return std::make_unique<Scripted>(MapperSite{.machine = machine, .local = local}, scripts);
  };
}

RunResult run(const Application& app, const std::shared_ptr<const Machine>& machine,
              Scripts& scripts) {
  return simulate(Workload::make(app).value(), machine, factory(machine, scripts),
                  {.record = true});
}

// What the rehearsal of it says first.
std::string rehearsed(const Application& app, const std::shared_ptr<const Machine>& machine,
                      Scripts& scripts) {
  const auto result =
      sim::rehearse(Workload::make(app).value(), machine, factory(machine, scripts));
  EXPECT_EQ(result.incomplete, "");
  return result.findings.empty() ? "" : result.findings.front().diagnostic.message;
}

std::vector<std::int64_t> allocations(const RunResult& result) {
  std::vector<std::int64_t> bytes;
  for (const auto& each : result.record->allocations) bytes.push_back(each.bytes);
  return bytes;
}

// Of the regions of these requirements, in SYSMEM of node 0.
struct Request {
  explicit Request(const TaskView& task, std::vector<FieldId> of = {0}) : fields(std::move(of)) {
    for (const RequirementView& requirement : task.requirements) {
      regions.push_back(requirement.region);
    }
  }
  operator InstanceRequest() const {  // NOLINT(google-explicit-constructor)
    return {memory, layout, regions, fields, reduction, priority};
  }
  Memory memory = sysmem(0);
  LayoutSpec layout;
  std::vector<RegionId> regions;
  std::vector<FieldId> fields;
  ReductionId reduction = 0;
  CollectPriority priority = kCollectDefault;
};

void name(MapTaskOutput& answer, InstanceId instance) {
  for (InstanceChoice& choice : answer.requirements) {
    choice.instance = instance;
    choice.instance_origin.statement = kStatement;
  }
}

// ---- Making and finding

TEST(Instances, OneOverTwoPiecesServesBothAndIsFoundAgain) {
  const Application app = app_of({launch("both"), launch("both"), launch("look")});
  Scripts scripts;
  std::vector<InstanceId> found;
  scripts.map["both"] = [&](MapperRuntime& runtime, const TaskView& task, MapTaskOutput& answer) {
    EXPECT_TRUE(runtime.capabilities().instances);
    const auto got = runtime.find_or_create_instance(Request(task));
    ASSERT_TRUE(got);
    EXPECT_EQ(got->created, found.empty());
    EXPECT_EQ(got->bytes, 2 * kPiece);
    found.push_back(got->id);
    name(answer, got->id);
  };
  scripts.map["look"] = [&](MapperRuntime&, const TaskView& task, MapTaskOutput& answer) {
    ASSERT_EQ(scripts.valid.size(), 1U);
    ASSERT_EQ(scripts.valid[0].size(), 1U);
    const InstanceView& seen = scripts.valid[0][0];
    found.push_back(seen.id);
    EXPECT_EQ(seen.bytes, 2 * kPiece);
    EXPECT_EQ(seen.region, task.requirements[0].parent);
    EXPECT_THAT(std::vector<FieldId>(seen.fields.begin(), seen.fields.end()), ElementsAre(0));
    name(answer, seen.id);
  };
  const RunResult result = run(app, machine_of(), scripts);
  ASSERT_TRUE(result.ok()) << result.raw;
  EXPECT_THAT(found, ElementsAre(1, 1, 1));
  EXPECT_THAT(allocations(result), ElementsAre(2 * kPiece));
  EXPECT_EQ(result.copies, 0);
  found.clear();
  EXPECT_EQ(rehearsed(app, machine_of(), scripts), "");
  EXPECT_THAT(found, ElementsAre(1, 1, 1));
}

TEST(Instances, AreFilledAsOthersAreAndHaveTheStatementThatNamedThem) {
  const Application app = app_of({launch("one"), launch("look"), launch("both")});
  Scripts scripts;
  scripts.map["both"] = [&](MapperRuntime& runtime, const TaskView& task, MapTaskOutput& answer) {
    const auto made = runtime.create_instance(Request(task));
    ASSERT_TRUE(made && made->created);
    name(answer, made->id);
  };
  const RunResult result = run(app, machine_of(), scripts);
  ASSERT_TRUE(result.ok()) << result.raw;
  // A copy from each of the two that were there.
  EXPECT_EQ(result.copies, 2);
  EXPECT_EQ(result.moved_bytes, 2 * kPiece);
  for (const RunRecord::Event& event : result.record->events) {
    if (event.kind != RunRecord::Event::Kind::kCopy) continue;
    EXPECT_EQ(event.statement, static_cast<std::int32_t>(kStatement));
  }
}

TEST(Instances, AreFoundByLayoutFieldsAndCover) {
  const Application app = app_of({launch("both"), launch("one")});
  Scripts scripts;
  InstanceId made = 0;
  scripts.map["both"] = [&](MapperRuntime& runtime, const TaskView& task, MapTaskOutput&) {
    made = runtime.create_instance(Request(task, {0, 1}))->id;
  };
  const auto id = [](const std::optional<FoundInstance>& found) {
    return found ? found->id : InstanceId{0};
  };
  scripts.map["one"] = [&](MapperRuntime& runtime, const TaskView& task, MapTaskOutput&) {
    Request request(task, {1, 0});
    EXPECT_EQ(id(runtime.find_instance(request)), made);
    Request other = request;
    other.layout.exact = true;  // it has more
    EXPECT_EQ(id(runtime.find_instance(other)), 0U);
    other = request;
    other.layout.dimensions = DimensionOrder::kC;
    EXPECT_EQ(id(runtime.find_instance(other)), 0U);
    other = request;
    other.layout.fields = FieldOrder::kAos;
    EXPECT_EQ(id(runtime.find_instance(other)), 0U);
    other.fields = {1};  // one has no order
    EXPECT_EQ(id(runtime.find_instance(other)), made);
    other = request;
    other.memory = sysmem(1);
    EXPECT_EQ(id(runtime.find_instance(other)), 0U);
    other = request;
    other.reduction = 1;
    EXPECT_EQ(id(runtime.find_instance(other)), 0U);
    other.regions = {task.requirements[0].parent};  // larger than it
    other.reduction = 0;
    EXPECT_EQ(id(runtime.find_instance(other)), 0U);
    other = request;
    other.memory = sysmem(1);
    const auto far = runtime.find_or_create_instance(other);
    ASSERT_TRUE(far);
    EXPECT_TRUE(far->created);
    EXPECT_EQ(far->bytes, 2 * kPiece);
  };
  const RunResult result = run(app, machine_of(), scripts);
  EXPECT_TRUE(result.ok()) << result.raw;
}

TEST(Instances, ThatMakeNoSenseAreNeitherFoundNorMade) {
  const Application app = app_of({launch("one")});
  Scripts scripts;
  bool asked = false;
  scripts.map["one"] = [&](MapperRuntime& runtime, const TaskView& task, MapTaskOutput&) {
    asked = true;
    const std::int64_t before = runtime.free_bytes(sysmem(0));
    const Request good(task);
    const auto nothing = [&](const std::function<void(Request&)>& change) {
      Request request = good;
      change(request);
      EXPECT_FALSE(runtime.find_or_create_instance(request));
    };
    nothing([](Request& r) { r.regions.clear(); });
    nothing([](Request& r) { r.fields.clear(); });
    nothing([](Request& r) { r.fields = {0, 2}; });
    nothing([](Request& r) { r.regions.push_back(2); });  // of another tree
    nothing([](Request& r) { r.regions = {0}; });
    nothing([](Request& r) { r.regions = {3}; });
    nothing([](Request& r) { r.regions[0] += 4; });  // no such piece
    nothing([](Request& r) { r.regions = {std::uint64_t{2} << 40}; });
    nothing([](Request& r) { r.regions = {~std::uint64_t{0}}; });
    nothing([](Request& r) { r.memory.node = 2; });
    nothing([](Request& r) { r.memory.index = -1; });
    nothing([](Request& r) { r.memory.kind = MemKind::kVirtual; });
    nothing([](Request& r) { r.memory.kind = MemKind::kZcmem; });
    nothing([](Request& r) { r.reduction = 2; });
    nothing([](Request& r) {
      r.layout.align_op = AlignOp::kGe;
      r.layout.align_bytes = INT64_MAX;
    });
    EXPECT_EQ(runtime.free_bytes(sysmem(0)), before);
    EXPECT_TRUE(runtime.create_instance(good));
    EXPECT_EQ(runtime.free_bytes(sysmem(0)), before - kPiece);
  };
  EXPECT_TRUE(run(app, machine_of(), scripts).ok());
  EXPECT_TRUE(asked);
}

// ---- How long they stay

TEST(Instances, WithoutRoomThereAreNone) {
  const Application app = app_of({launch("other"), wait(), launch("both")});
  Scripts scripts;
  int made = 0;
  scripts.map["both"] = [&](MapperRuntime& runtime, const TaskView& task, MapTaskOutput& answer) {
    EXPECT_EQ(runtime.free_bytes(sysmem(0)), 2 * kPiece - 1);
    EXPECT_FALSE(runtime.create_instance(Request(task)));  // the data of s is nowhere else
    Request of_one(task);
    of_one.regions.pop_back();
    const auto first = runtime.create_instance(of_one);
    ASSERT_TRUE(first);
    answer.requirements[0].instance = first->id;
    made += 1;
    EXPECT_FALSE(runtime.create_instance(of_one));
    EXPECT_TRUE(runtime.find_instance(of_one));
  };
  const auto machine = machine_of(3 * kPiece - 1);
  const RunResult result = run(app, machine, scripts);
  EXPECT_EQ(made, 1);
  ASSERT_FALSE(result.ok());  // the other requirement finds no room either
  EXPECT_THAT(result.refusals[0].diagnostic.message,
              HasSubstr("no room for region 1 (p) of `both`"));
  EXPECT_EQ(rehearsed(app, machine, scripts), result.refusals[0].diagnostic.message);
}

TEST(Instances, StayUntilTheTaskIsMapped) {
  const Application app = app_of({launch("one"), launch("look")});
  const auto machine = machine_of(2 * kPiece);
  for (const bool released : {false, true}) {
    Scripts scripts;
    scripts.map["one"] = [&](MapperRuntime& runtime, const TaskView& task, MapTaskOutput&) {
      Request request(task);
      request.regions = {2};
      const auto unused = runtime.create_instance(request);
      ASSERT_TRUE(unused);
      request.fields = {0};
      const auto second = runtime.create_instance(request);
      ASSERT_TRUE(second);
      EXPECT_FALSE(runtime.create_instance(request));  // both are held
      if (!released) return;
      runtime.release_instance(unused->id);
      runtime.release_instance(unused->id);  // once is enough
      runtime.release_instance(77);
    };
    const RunResult result = run(app, machine, scripts);
    EXPECT_EQ(result.ok(), released) << result.raw;
    if (!released) {
      EXPECT_THAT(result.refusals[0].diagnostic.message, HasSubstr("no room"));
      continue;
    }
    // What nobody uses goes: for "one", then for "look" the second one.
    EXPECT_THAT(allocations(result), ElementsAre(kPiece, kPiece, -kPiece, kPiece, -kPiece, kPiece));
    EXPECT_THAT(scripts.gone, ElementsAre(1, 2));
  }
}

TEST(Instances, AreAcquiredCollectedAndKept) {
  const Application app = app_of({launch("one"), launch("look"), launch("look")});
  Scripts scripts;
  InstanceId unused = 0, used = 0, kept = 0;
  int looks = 0;
  scripts.map["one"] = [&](MapperRuntime& runtime, const TaskView& task, MapTaskOutput& answer) {
    const Request request(task);
    unused = runtime.create_instance(request)->id;
    used = runtime.create_instance(request)->id;
    Request never = request;
    never.priority = kCollectNever;
    kept = runtime.create_instance(never)->id;
    EXPECT_FALSE(runtime.collect_instance(unused));  // acquired
    name(answer, used);
  };
  scripts.map["look"] = [&](MapperRuntime& runtime, const TaskView&, MapTaskOutput&) {
    if (looks++ == 0) {
      const std::int64_t before = runtime.free_bytes(sysmem(0));
      EXPECT_FALSE(runtime.collect_instance(0));
      EXPECT_FALSE(runtime.collect_instance(99));
      EXPECT_FALSE(runtime.acquire_instance(0));
      EXPECT_FALSE(runtime.acquire_instance(99));
      EXPECT_TRUE(runtime.acquire_instance(unused));
      EXPECT_TRUE(runtime.acquire_instance(unused));
      EXPECT_FALSE(runtime.collect_instance(unused));
      runtime.release_instance(unused);
      EXPECT_TRUE(runtime.collect_instance(unused));
      EXPECT_EQ(runtime.free_bytes(sysmem(0)), before + kPiece);
      EXPECT_TRUE(runtime.collect_instance(unused));
      EXPECT_FALSE(runtime.acquire_instance(unused));
      EXPECT_FALSE(runtime.collect_instance(used));  // the only valid data
      EXPECT_FALSE(runtime.collect_instance(kept));
      runtime.set_collect_priority(unused, 3);
      runtime.set_collect_priority(99, 3);
      EXPECT_THAT(scripts.gone, IsEmpty());  // not within a hook
      return;
    }
    EXPECT_THAT(scripts.gone, ElementsAre(unused));
    const std::int64_t before = runtime.free_bytes(sysmem(0));
    runtime.set_collect_priority(kept, kCollectEager);
    runtime.set_collect_priority(used, kCollectEager);
    EXPECT_EQ(runtime.free_bytes(sysmem(0)), before + kPiece);
    EXPECT_TRUE(runtime.collect_instance(kept));
    EXPECT_TRUE(runtime.acquire_instance(used));
  };
  const RunResult result = run(app, machine_of(), scripts);
  ASSERT_TRUE(result.ok()) << result.raw;
  EXPECT_EQ(looks, 2);
  EXPECT_THAT(scripts.gone, ElementsAre(unused, kept));
}

TEST(Instances, AreNotHeldBesideAMappingAndNotMadeForNoOperation) {
  const Application app = app_of({launch("one")});
  Scripts scripts;
  std::vector<RegionId> piece;
  std::vector<FieldId> x = {0};
  int asked = 0;
  InstanceId made = 0;
  scripts.options = [&](MapperRuntime& runtime, const TaskView& task) {
    if (task.depth == 0) return;
    piece = {std::uint64_t{1} << 40};
    const auto found = runtime.create_instance({sysmem(0), {}, piece, x});
    ASSERT_TRUE(found);
    made = found->id;
    EXPECT_FALSE(runtime.acquire_instance(made));
    EXPECT_TRUE(runtime.find_instance({sysmem(0), {}, piece, x}));
    EXPECT_TRUE(runtime.collect_instance(made));
    ++asked;
  };
  scripts.select = [&](MapperRuntime& runtime) {
    EXPECT_FALSE(runtime.create_instance({sysmem(0), {}, piece, x}));
    ++asked;
  };
  const RunResult result = run(app, machine_of(), scripts);
  EXPECT_TRUE(result.ok()) << result.raw;
  EXPECT_EQ(asked, 2);
}

TEST(Instances, MayBeMadeWhileSourcesAreChosen) {
  // Piece 1 is valid on both nodes when "both" reads it.
  const Application app = app_of({launch("both"), launch("look"), launch("both")});
  Scripts scripts;
  int asked = 0;
  scripts.map["look"] = [&](MapperRuntime& runtime, const TaskView& task, MapTaskOutput& answer) {
    Request request(task);
    request.layout.dimensions = DimensionOrder::kC;
    name(answer, runtime.create_instance(request)->id);
  };
  scripts.map["both"] = [&](MapperRuntime& runtime, const TaskView& task, MapTaskOutput& answer) {
    if (asked++ > 0) name(answer, runtime.create_instance(Request(task))->id);
  };
  std::vector<std::size_t> fields;
  scripts.sources = [&](MapperRuntime& runtime, const InstanceView& target,
                        std::span<const InstanceView> sources) {
    for (const InstanceView& source : sources) fields.push_back(source.fields.size());
    const std::vector<RegionId> all = {2};
    const auto made = runtime.create_instance({sysmem(1), {}, all, target.fields});
    ASSERT_TRUE(made);
    EXPECT_FALSE(runtime.collect_instance(made->id));
  };
  const RunResult result = run(app, machine_of(), scripts);
  EXPECT_TRUE(result.ok()) << result.raw;
  EXPECT_THAT(fields, ElementsAre(1, 1));
}

// ---- Names that are refused

struct Refused {
  std::string message, raw;
};

// What becomes of the last launch when its answer names an instance that "one" made for itself.
Refused refused(
    const std::string& task, const std::function<void(Request&)>& change,
    const std::function<void(MapperRuntime&, InstanceId, MapTaskOutput&)>& answer_with =
        [](MapperRuntime&, InstanceId made, MapTaskOutput& answer) { name(answer, made); }) {
  const Application app = app_of({launch("one"), wait(), launch(task)});
  const auto machine = machine_of();
  Scripts scripts;
  InstanceId made = 0;
  scripts.map["main"] = [&](MapperRuntime&, const TaskView&, MapTaskOutput&) { made = 0; };
  scripts.map["one"] = [&](MapperRuntime& runtime, const TaskView& view, MapTaskOutput& answer) {
    if (made != 0) return answer_with(runtime, made, answer);
    Request request(view);
    change(request);
    made = runtime.create_instance(request)->id;
  };
  if (task != "one") {
    scripts.map[task] = [&](MapperRuntime& runtime, const TaskView&, MapTaskOutput& answer) {
      answer_with(runtime, made, answer);
    };
  }
  const RunResult result = run(app, machine, scripts);
  EXPECT_EQ(result.status, RunStatus::kMapError) << result.raw;
  if (result.refusals.empty()) return {};
  const Refusal& refusal = result.refusals.front();
  EXPECT_EQ(refusal.origin.statement, kStatement);
  EXPECT_EQ(rehearsed(app, machine, scripts), refusal.diagnostic.message);
  return {fmt::format("{} [{}]", refusal.diagnostic.message, name_of(refusal.diagnostic.id)),
          result.raw};
}

TEST(NamedInstances, ThatCannotServeAreRefusedInLegionsWords) {
  const auto as_it_is = [](Request&) {};
  Refused found = refused("look", as_it_is);
  EXPECT_EQ(found.message,
            "region 0 of `look` cannot have instance 1: it does not cover the region "
            "[bad-instance]");
  EXPECT_THAT(found.raw,
              HasSubstr("Mapper specified instance that does not meet region requirement "
                        "0 for task look"));
  found = refused("other", as_it_is);
  EXPECT_THAT(found.message, HasSubstr("it is of `r`, not of `s` [bad-instance]"));
  EXPECT_THAT(found.raw, HasSubstr("from region tree 1 for use with region requirement 0 of task "
                                   "other"));
  found = refused("all", as_it_is);
  EXPECT_THAT(found.message, HasSubstr("it lacks field `y` [bad-instance]"));
  EXPECT_THAT(found.raw, HasSubstr("specify an instance for 1 fields of region requirement 0"));
  found = refused("one", [](Request& request) { request.memory = sysmem(1); });
  EXPECT_THAT(found.message, HasSubstr("CPU (0, 0) does not work in SYSMEM (1, 0) [bad-instance]"));
  EXPECT_THAT(found.raw,
              HasSubstr("in memory 1e00000000000003 which is not visible from the target "
                        "processors for task one"));
  found = refused("one", [](Request& request) { request.memory.kind = MemKind::kFbmem; });
  EXPECT_THAT(found.raw, HasSubstr("1e00000000000001 which is not visible"));
  found = refused("add", as_it_is);
  EXPECT_THAT(found.raw, HasSubstr("failed to choose a specialized reduction instance for region "
                                   "requirement 0 of task add"));
  found = refused("one", [](Request& request) { request.reduction = 1; });
  EXPECT_THAT(found.raw, HasSubstr("selected illegal specialized reduction instance for region "
                                   "requirement 0 of task one"));
  found = refused("aos", [](Request& request) { request.fields = {0, 1}; });
  EXPECT_THAT(found.message, HasSubstr("its variant wants AOS, the mapping says SOA "
                                       "[layout-refused]"));
  EXPECT_THAT(found.raw,
              HasSubstr("fails to satisfy the corresponding Ordering layout constraint"));
}

TEST(NamedInstances, ThatAreNotThereAreRefused) {
  // So that "one" itself does not use it.
  const auto otherwise = [](Request& request) { request.layout.dimensions = DimensionOrder::kC; };
  Refused found =
      refused("one", otherwise, [](MapperRuntime& runtime, InstanceId made, MapTaskOutput& answer) {
        EXPECT_TRUE(runtime.collect_instance(made));
        name(answer, made);
      });
  EXPECT_THAT(found.message, HasSubstr("it has been collected [bad-instance]"));
  EXPECT_THAT(found.raw, HasSubstr("Mapper selected physical instance for region requirement 0 of "
                                   "task one"));
  EXPECT_THAT(found.raw, HasSubstr("which has already been collected"));
  for (const InstanceId id : {InstanceId{1000}, InstanceId{1} << 32 | 1, ~InstanceId{0}}) {
    found = refused("one", otherwise,
                    [&](MapperRuntime&, InstanceId, MapTaskOutput& answer) { name(answer, id); });
    EXPECT_THAT(found.message, HasSubstr("there was never one of that number [bad-instance]"));
  }
  found = refused("one", otherwise, [](MapperRuntime&, InstanceId made, MapTaskOutput& answer) {
    name(answer, made);
    answer.requirements[0].is_virtual = true;
  });
  EXPECT_THAT(found.message, HasSubstr("it is virtual at the same time [bad-instance]"));
}

// All processors of the answer have to reach it.
TEST(NamedInstances, OfOneGpuAreNotForAnother) {
  const Application app = app_of({launch("one")});
  for (const bool both : {false, true}) {
    Scripts scripts;
    scripts.where = {ProcKind::kGpu, 0, 1};
    scripts.map["one"] = [&](MapperRuntime& runtime, const TaskView& task, MapTaskOutput& answer) {
      Request request(task);
      request.memory = {MemKind::kFbmem, 0, 1};
      name(answer, runtime.create_instance(request)->id);
      if (both) answer.processors.push_back({ProcKind::kGpu, 0, 0});
    };
    const RunResult result = run(app, machine_of(), scripts);
    EXPECT_EQ(result.ok(), !both) << result.raw;
    EXPECT_EQ(result.raw.find("not visible from the target processors") != std::string::npos, both);
  }
}

}  // namespace
}  // namespace groma
