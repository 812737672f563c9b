// What statements and a mapper written by hand say of regions, in a real Legion: tasks look at
// their instances. And what such a mapper sees.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "groma/legion.h"
#include "groma/program.h"
#include "legion/map_by.h"
#include "legion/start.h"

namespace groma::legion_test {
namespace {

using Legion::Context;
using Legion::LogicalRegion;
using Legion::PhysicalRegion;
using Legion::RegionRequirement;
using testing::ElementsAre;

constexpr Legion::TaskID kOuter = 1;
constexpr Legion::TaskID kStrides = 2;
constexpr Legion::TaskID kDistance = 3;
constexpr Legion::TaskID kAdd = 4;
constexpr Legion::TaskID kMake = 5;
constexpr Legion::TaskID kLate = 6;
constexpr Legion::TaskID kSum = 7;
constexpr Legion::TaskID kDouble = 8;
constexpr Legion::TaskID kShare = 9;
constexpr Legion::TaskID kSpoil = 10;
constexpr Legion::TaskID kMeet = 11;
constexpr Legion::TaskID kFill = 12;
constexpr Legion::MapperID kProgram = 1;
constexpr Legion::MapperID kCurious = 2;
constexpr Legion::MapperID kKeeper = 9;
constexpr Legion::MapperID kRanker = 10;
constexpr Legion::MapperID kFinder = 11;
constexpr Legion::FieldID kField = 10;
constexpr Legion::FieldID kOther = 11;
constexpr Legion::ReductionOpID kPlus = 1;

template <typename Accessor>
std::int64_t address(const Accessor& accessor, Legion::coord_t x, Legion::coord_t y) {
  return static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(accessor.ptr({x, y})));
}

// Of an instance in F order: bytes from a row to the next.
std::int64_t strides(const Legion::Task*, const std::vector<PhysicalRegion>& regions, Context,
                     Legion::Runtime*) {
  const Legion::FieldAccessor<LEGION_READ_ONLY, double, 2, Legion::coord_t,
                              Realm::AffineAccessor<double, 2, Legion::coord_t>>
      accessor(regions[0], kField);
  return address(accessor, 0, 1) - address(accessor, 0, 0);
}

// Of the points 0 and 1000, which have none between them.
std::int64_t distance(const Legion::Task*, const std::vector<PhysicalRegion>& regions, Context,
                      Legion::Runtime*) {
  const Legion::FieldAccessor<LEGION_READ_ONLY, double, 1, Legion::coord_t,
                              Realm::MultiAffineAccessor<double, 1, Legion::coord_t>>
      accessor(regions[0], kField);
  const auto at = [&](Legion::coord_t x) {
    return static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(accessor.ptr(x)));
  };
  return std::abs(at(1000) - at(0));
}

int kind_of_memory(const PhysicalRegion& region) {
  std::set<Legion::Memory> memories;
  region.get_memories(memories);
  return static_cast<int>(memories.begin()->kind());
}

int add(const Legion::Task*, const std::vector<PhysicalRegion>& regions, Context,
        Legion::Runtime*) {
  const Legion::ReductionAccessor<Legion::SumReduction<double>, true, 2, Legion::coord_t,
                                  Realm::AffineAccessor<double, 2, Legion::coord_t>>
      accessor(regions[0], kField, kPlus);
  accessor[{1, 2}] <<= 0.5;
  return kind_of_memory(regions[0]);
}

double sum(const Legion::Task*, const std::vector<PhysicalRegion>& regions, Context,
           Legion::Runtime* runtime) {
  const Legion::FieldAccessor<LEGION_READ_ONLY, double, 2> accessor(regions[0], kField);
  const Legion::Rect<2> rect = Legion::Domain(
      runtime->get_index_space_domain(regions[0].get_logical_region().get_index_space()));
  double total = 0;
  for (Legion::PointInRectIterator<2> point(rect); point(); point++) total += accessor[*point];
  return total;
}

void twice(const Legion::Task*, const std::vector<PhysicalRegion>& regions, Context,
           Legion::Runtime* runtime) {
  const Legion::FieldAccessor<LEGION_READ_WRITE, double, 2> accessor(regions[0], kField);
  const Legion::Rect<2> rect = Legion::Domain(
      runtime->get_index_space_domain(regions[0].get_logical_region().get_index_space()));
  for (Legion::PointInRectIterator<2> point(rect); point(); point++) {
    accessor[*point] = 2 * accessor[*point];
  }
}

// Leaves a mark in the instance that it got, which it may only read: Legion takes it for as good as
// the others.
void spoil(const Legion::Task*, const std::vector<PhysicalRegion>& regions, Context,
           Legion::Runtime*) {
  const Legion::FieldAccessor<LEGION_READ_ONLY, double, 2, Legion::coord_t,
                              Realm::AffineAccessor<double, 2, Legion::coord_t>>
      accessor(regions[0], kField);
  *const_cast<double*>(accessor.ptr({0, 0})) += 1000;
}

struct Shared {
  std::uint64_t processor = 0;
  std::int64_t address = 0;
  int memory = 0;
};

// Ends when both are here.
Shared share(const Legion::Task*, const std::vector<PhysicalRegion>& regions, Context context,
             Legion::Runtime* runtime) {
  static std::atomic<int> here = 0;
  ++here;
  while (here % 2 != 0) std::this_thread::yield();
  const Legion::FieldAccessor<LEGION_READ_WRITE, double, 2, Legion::coord_t,
                              Realm::AffineAccessor<double, 2, Legion::coord_t>>
      accessor(regions[0], kField);
  return {runtime->get_executing_processor(context).id, address(accessor, 0, 0),
          kind_of_memory(regions[0])};
}

// Ends when both are here, and does not touch its region.
std::int64_t meet(const Legion::Task*, const std::vector<PhysicalRegion>&, Context context,
                  Legion::Runtime* runtime) {
  static std::atomic<int> here = 0;
  ++here;
  while (here % 2 != 0) std::this_thread::yield();
  return static_cast<std::int64_t>(runtime->get_executing_processor(context).id);
}

// Every point writes all of the region. Returns where its instance lies.
std::int64_t fill(const Legion::Task*, const std::vector<PhysicalRegion>& regions, Context,
                  Legion::Runtime*) {
  const Legion::FieldAccessor<LEGION_WRITE_DISCARD, double, 2, Legion::coord_t,
                              Realm::AffineAccessor<double, 2, Legion::coord_t>>
      accessor(regions[0], kField);
  for (Legion::PointInRectIterator<2> point(Legion::Rect<2>({0, 0}, {7, 15})); point(); point++) {
    accessor[*point] = 3;
  }
  return address(accessor, 0, 0);
}

// Does not touch its region, but hands it on.
double outer(const Legion::Task* task, const std::vector<PhysicalRegion>& regions, Context context,
             Legion::Runtime* runtime) {
  if (regions[0].is_mapped()) return -1;
  Legion::TaskLauncher launcher(kSum, Legion::UntypedBuffer(), Legion::Predicate::TRUE_PRED,
                                task->map_id);
  const LogicalRegion region = task->regions[0].region;
  launcher.add_region_requirement(
      RegionRequirement(region, LEGION_READ_ONLY, LEGION_EXCLUSIVE, region).add_field(kField));
  return runtime->execute_task(context, launcher).get_result<double>();
}

int make(const Legion::Task*, const std::vector<PhysicalRegion>&, Context context,
         Legion::Runtime* runtime) {
  std::vector<Legion::OutputRegion> outputs;
  runtime->get_output_regions(context, outputs);
  const double value = 2;
  outputs[0].create_buffer<double, 1>(Legion::Point<1>(5), kField, &value, true);
  return static_cast<int>(outputs[0].target_memory().kind());
}

template <int kAnswer>
int answer(const Legion::Task*, const std::vector<PhysicalRegion>&, Context, Legion::Runtime*) {
  return kAnswer;
}

// ---- A mapper that notes what it sees and chooses what no program does

struct Noted {
  std::vector<std::string> tasks;
  std::map<std::string, RegionId> regions;  // by their first name
  std::vector<OperationKind> reports;
};
std::mutex noted_mutex;
Noted noted;

class Curious final : public Mapper {
 public:
  using Mapper::Mapper;

  void slice_task(MapperRuntime& runtime, const TaskView& task, const Rect& part,
                  SliceTaskOutput& answer) override {
    note("slice", task);
    Mapper::slice_task(runtime, task, part, answer);
  }
  void map_task(MapperRuntime& runtime, const TaskView& task,
                std::span<const std::span<const InstanceView>> valid,
                MapTaskOutput& answer) override {
    note("map", task);
    Mapper::map_task(runtime, task, valid, answer);
    answer.task_profiling.timeline = answer.copy_profiling.timeline = true;
    for (InstanceChoice& choice : answer.requirements) choice.fresh = true;
    if (!task.futures.empty()) answer.future_memories = {{MemKind::kRdmem, 0, 0}};
  }
  void map_operation(MapperRuntime& runtime, const TaskView& operation,
                     std::span<const std::span<const InstanceView>> valid,
                     MapOperationOutput& answer) override {
    note(std::string(name_of(operation.operation)), operation);
    Mapper::map_operation(runtime, operation, valid, answer);
    for (InstanceChoice& choice : answer.requirements) {
      choice = {};
      choice.add({MemKind::kRdmem, {}, {}, {}});
    }
    answer.profiling.timeline = true;
  }
  void report_profiling(MapperRuntime&, const TaskView&, const ProfilingReport& report) override {
    const std::lock_guard lock(noted_mutex);
    noted.reports.push_back(report.operation);
  }

 private:
  static void note(const std::string& hook, const TaskView& task) {
    std::string text = hook + " " + std::string(task.name) + (task.local ? " local" : "");
    const std::lock_guard lock(noted_mutex);
    for (const RequirementView& requirement : task.requirements) {
      text += " [";
      for (std::string_view alias : requirement.aliases) text += std::string(alias) + " ";
      text += std::to_string(requirement.region_dimensions) + "D";
      if (requirement.points > 0) text += " " + std::to_string(requirement.points) + " points";
      if (requirement.partition != 0) text += " partition";
      if (requirement.output) text += " output";
      if (requirement.region == requirement.parent) text += " whole";
      for (const FieldView& field : requirement.fields) {
        text += " " + std::string(field.name) + ":" + std::to_string(field.bytes);
      }
      text += "]";
      if (!requirement.aliases.empty()) {
        noted.regions[std::string(requirement.aliases[0])] = requirement.region;
      }
    }
    noted.tasks.push_back(text);
  }
};

// Keeps an instance of its own in RDMEM for what a task reads or reduces to.
class Keeper final : public Mapper {
 public:
  using Mapper::Mapper;

  void select_tasks_to_map(MapperRuntime& runtime, std::span<const TaskView> ready,
                           SelectMappingOutput& answer) override {
    Mapper::select_tasks_to_map(runtime, ready, answer);
    EXPECT_FALSE(asked_ && runtime.create_instance(request_));  // for no operation
  }
  void map_task(MapperRuntime& runtime, const TaskView& task,
                std::span<const std::span<const InstanceView>> valid,
                MapTaskOutput& answer) override {
    Mapper::map_task(runtime, task, valid, answer);
    // Of a task before, which lets go of it some time after it was mapped.
    if (spare_ != 0 && runtime.collect_instance(spare_)) {
      EXPECT_FALSE(runtime.acquire_instance(spare_));
      spare_ = 0;
      ++collected;
    }
    const RequirementView& of = task.requirements[0];
    region_ = of.region;
    request_.memory = {MemKind::kRdmem, 0, 0};
    request_.regions = {&region_, 1};
    request_.fields = {&kValue, 1};
    request_.reduction = of.reduction;
    asked_ = true;
    const auto kept = runtime.find_or_create_instance(request_);
    ASSERT_TRUE(kept);
    EXPECT_GE(kept->bytes, of.points * 8);
    EXPECT_TRUE(runtime.acquire_instance(kept->id));
    if (kept->created) ++created;
    answer.requirements[0].instance = kept->id;
    if (spare_ == 0) {
      const auto spare = runtime.create_instance(request_);
      ASSERT_TRUE(spare);
      EXPECT_NE(spare->id, kept->id);
      EXPECT_FALSE(runtime.collect_instance(spare->id));  // it is held
      runtime.set_collect_priority(spare->id, kCollectFirst);
      spare_ = spare->id;
    }
    refuses(runtime);
  }
  void handle_instance_collection(MapperRuntime&, InstanceId) override { ++told; }

  inline static std::atomic<int> created = 0, collected = 0, told = 0;

 private:
  void refuses(MapperRuntime& runtime) const {
    InstanceRequest none = request_;
    none.memory = {MemKind::kFbmem, 0, 0};
    EXPECT_FALSE(runtime.find_or_create_instance(none));
    none = request_;
    const RegionId nowhere = 999'999'999;
    none.regions = {&nowhere, 1};
    EXPECT_FALSE(runtime.find_or_create_instance(none));
    none = request_;
    none.fields = {&kNoField, 1};
    EXPECT_FALSE(runtime.find_or_create_instance(none));
    none.fields = {};
    EXPECT_FALSE(runtime.find_or_create_instance(none));
    EXPECT_FALSE(runtime.acquire_instance(12345));
    EXPECT_FALSE(runtime.collect_instance(12345));
  }

  static constexpr FieldId kValue = kField, kNoField = 77;
  bool asked_ = false;
  RegionId region_ = 0;
  InstanceRequest request_;
  InstanceId spare_ = 0;
};

// Has a region where the tag says, and makes new instances from the memory that it says.
class Ranker final : public Mapper {
 public:
  enum Tag : Legion::MappingTagID { kToSysmem, kToRdmem, kOfSysmem, kOfRdmem };
  using Mapper::Mapper;

  void map_task(MapperRuntime& runtime, const TaskView& task,
                std::span<const std::span<const InstanceView>> valid,
                MapTaskOutput& answer) override {
    Mapper::map_task(runtime, task, valid, answer);
    for (InstanceChoice& choice : answer.requirements) choice = where(task);
  }
  void map_operation(MapperRuntime& runtime, const TaskView& operation,
                     std::span<const std::span<const InstanceView>> valid,
                     MapOperationOutput& answer) override {
    Mapper::map_operation(runtime, operation, valid, answer);
    answer.requirements.back() = where(operation);
    if (operation.operation == OperationKind::kCopy) {  // the other one: from wherever it is
      answer.requirements.front() = {};
      answer.requirements.front().is_virtual = true;
    }
  }
  void select_sources(MapperRuntime& runtime, const TaskView& operation, const InstanceView& target,
                      std::span<const InstanceView> sources,
                      std::vector<std::uint32_t>& answer) override {
    Mapper::select_sources(runtime, operation, target, sources, answer);
    const auto first = operation.tag == kOfRdmem ? MemKind::kRdmem : MemKind::kSysmem;
    std::stable_partition(answer.begin(), answer.end(), [&](std::uint32_t source) {
      return sources[source].memory.kind == first;
    });
    answer.insert(answer.begin(), {1000, answer.front()});
    // It is while the operation is mapped: what is found is acquired.
    const RegionId region = target.region;
    const FieldId field = kField;
    InstanceRequest request;
    request.memory = {MemKind::kRdmem, 0, 0};
    request.regions = {&region, 1};
    request.fields = {&field, 1};
    const auto found = runtime.find_instance(request);
    EXPECT_TRUE(!found || runtime.acquire_instance(found->id));
    std::string text = std::string(name_of(operation.operation)) + ": " + describe(target) + " of";
    std::set<std::string> all;
    for (const InstanceView& source : sources) all.insert(" " + describe(source));
    for (const std::string& source : all) text += source;
    const std::lock_guard lock(noted_mutex);
    told.push_back(text);
  }

  inline static std::vector<std::string> told;

 private:
  static InstanceChoice where(const TaskView& operation) {
    InstanceChoice choice;
    choice.fresh = operation.tag >= kOfSysmem;
    choice.add({operation.tag == kToRdmem ? MemKind::kRdmem : MemKind::kSysmem, {}, {}, {}});
    return choice;
  }
  static std::string describe(const InstanceView& instance) {
    EXPECT_NE(instance.region, 0U);
    EXPECT_THAT(instance.fields, ElementsAre(kField));
    return std::string(name_of(instance.memory.kind)) + ":" + std::to_string(instance.bytes);
  }
};

// Makes an instance of two fields, and finds it by one.
class Finder final : public Mapper {
 public:
  using Mapper::Mapper;

  void map_task(MapperRuntime& runtime, const TaskView& task,
                std::span<const std::span<const InstanceView>> valid,
                MapTaskOutput& answer) override {
    Mapper::map_task(runtime, task, valid, answer);
    constexpr std::array kBoth = {kField, kOther};
    const RegionId region = task.requirements[0].region;
    InstanceRequest request;
    request.memory = {MemKind::kRdmem, 0, 0};
    request.regions = {&region, 1};
    request.fields = kBoth;
    request.layout.fields = FieldOrder::kAos;
    const auto made = runtime.create_instance(request);
    ASSERT_TRUE(made);
    for (std::size_t first = 0; first < kBoth.size(); ++first) {
      request.fields = std::span(kBoth).subspan(first, 1);
      request.layout.fields = FieldOrder::kAos;
      const auto found = runtime.find_instance(request);
      ASSERT_TRUE(found);
      EXPECT_EQ(found->id, made->id);
      request.layout.fields = FieldOrder::kSoa;
      EXPECT_FALSE(runtime.find_instance(request));
    }
    answer.requirements[0].instance = made->id;
  }
};

template <typename Register>
void add_task(Legion::TaskID id, const char* name, Register preregister) {
  Legion::TaskVariantRegistrar registrar(id, name);
  registrar.add_constraint(Legion::ProcessorConstraint(Legion::Processor::LOC_PROC));
  registrar.set_leaf(id != kOuter);
  preregister(registrar, name);
}

const BeforeStart kSetUp([] {
  using Legion::Runtime;
  const auto task = [](Legion::TaskID id, const char* name, auto preregister) {
    add_task(id, name, preregister);
  };
#define GROMA_TASK(ID, RESULT, FUNCTION)                                  \
  task(ID, #FUNCTION, [](auto& registrar, const char* name) {             \
    Runtime::preregister_task_variant<RESULT, FUNCTION>(registrar, name); \
  })
  GROMA_TASK(kOuter, double, outer);
  GROMA_TASK(kStrides, std::int64_t, strides);
  GROMA_TASK(kDistance, std::int64_t, distance);
  GROMA_TASK(kAdd, int, add);
  GROMA_TASK(kMake, int, make);
  GROMA_TASK(kSum, double, sum);
  GROMA_TASK(kShare, Shared, share);
  GROMA_TASK(kMeet, std::int64_t, meet);
  GROMA_TASK(kFill, std::int64_t, fill);
#undef GROMA_TASK
  task(kDouble, "twice", [](auto& registrar, const char* name) {
    Runtime::preregister_task_variant<twice>(registrar, name);
  });
  task(kSpoil, "spoil", [](auto& registrar, const char* name) {
    Runtime::preregister_task_variant<spoil>(registrar, name);
  });
  task(kLate, "late", [](auto& registrar, const char* name) {
    Runtime::preregister_task_variant<int, answer<1>>(registrar, name);
  });
  Runtime::register_reduction_op<Legion::SumReduction<double>>(kPlus);
  map_by(GROMA_SOURCE_DIR "/tests/legion/regions.mapper", kProgram);
  legion::use([](const MapperSite& site) { return std::make_unique<Curious>(site); },
              {kCurious, nullptr});
  legion::use([](const MapperSite& site) { return std::make_unique<Keeper>(site); },
              {kKeeper, nullptr});
  legion::use([](const MapperSite& site) { return std::make_unique<Ranker>(site); },
              {kRanker, nullptr});
  legion::use([](const MapperSite& site) { return std::make_unique<Finder>(site); },
              {kFinder, nullptr});
});

// ---- Tests

template <typename Space>
LogicalRegion region_of(const Space& space, const char* name) {
  const auto fields = runtime()->create_field_space(context());
  runtime()->create_field_allocator(context(), fields).allocate_field(sizeof(double), kField);
  runtime()->attach_name(fields, kField, "value");
  const auto region = runtime()->create_logical_region(context(), space, fields);
  runtime()->attach_name(region, name);
  runtime()->fill_field<double>(context(), region, region, kField, 1.0);
  return region;
}

LogicalRegion rows(const char* name) {
  return region_of(runtime()->create_index_space(context(), Legion::Rect<2>({0, 0}, {7, 15})),
                   name);
}

// Halves along x.
Legion::LogicalPartition halves(LogicalRegion region) {
  const auto colors = runtime()->create_index_space(context(), Legion::Rect<1>(0, 1));
  Legion::Transform<2, 1> transform;
  transform[0][0] = 4;
  transform[1][0] = 0;
  const auto parts = runtime()->create_partition_by_restriction(
      context(), Legion::IndexSpaceT<2>(region.get_index_space()), Legion::IndexSpaceT<1>(colors),
      transform, Legion::Rect<2>({0, 0}, {3, 15}));
  return runtime()->get_logical_partition(context(), region, parts);
}

Legion::TaskLauncher launcher_of(Legion::TaskID task, Legion::MapperID mapper = kProgram) {
  return {task, Legion::UntypedBuffer(), Legion::Predicate::TRUE_PRED, mapper};
}

template <typename Result>
Result run(Legion::TaskID task, LogicalRegion region, LogicalRegion parent,
           Legion::MapperID mapper = kProgram) {
  Legion::TaskLauncher launcher = launcher_of(task, mapper);
  launcher.add_region_requirement(
      RegionRequirement(region, LEGION_READ_ONLY, LEGION_EXCLUSIVE, parent).add_field(kField));
  return runtime()->execute_task(context(), launcher).get_result<Result>();
}

TEST(Regions, AVirtualRegionIsMappedByTheChildren) {
  const LogicalRegion region = rows("cells");
  EXPECT_EQ(run<double>(kOuter, region, region), 8 * 16.0);
}

TEST(Regions, ExactIsThePartAlone) {
  for (const bool exact : {false, true}) {
    const LogicalRegion region = rows(exact ? "exact" : "shared");
    const LogicalRegion part =
        runtime()->get_logical_subregion_by_color(context(), halves(region), 0);
    EXPECT_EQ(run<std::int64_t>(kStrides, part, region), (exact ? 4 : 8) * 8);
  }
}

TEST(Regions, CompactLeavesHolesOut) {
  const std::vector<Legion::Point<1>> points = {0, 1000};
  for (const bool compact : {false, true}) {
    const LogicalRegion region =
        region_of(runtime()->create_index_space(context(), points), compact ? "compact" : "affine");
    const auto bytes = run<std::int64_t>(kDistance, region, region);
    if (compact) {
      EXPECT_LT(bytes, 1000 * 8);
    } else {
      EXPECT_EQ(bytes, 1000 * 8);
    }
  }
}

TEST(Regions, AMapperByHandFindsAnInstanceByOneOfItsFields) {
  const auto fields = runtime()->create_field_space(context());
  auto allocator = runtime()->create_field_allocator(context(), fields);
  for (const Legion::FieldID field : {kField, kOther}) {
    allocator.allocate_field(sizeof(double), field);
  }
  const LogicalRegion region = runtime()->create_logical_region(
      context(), runtime()->create_index_space(context(), Legion::Rect<2>({0, 0}, {7, 15})),
      fields);
  for (const Legion::FieldID field : {kField, kOther}) {
    runtime()->fill_field<double>(context(), region, region, field, field == kField ? 1.0 : 3.0);
  }
  EXPECT_EQ(run<double>(kSum, region, region, kFinder), 8 * 16.0);
}

// Which instance a new one was copied from is told by a mark in one of two that Legion takes to be
// the same.
TEST(Regions, AMapperByHandSaysWhereCopiesComeFrom) {
  const auto launch = [&](LogicalRegion region, Legion::TaskID task, Legion::PrivilegeMode mode,
                          Ranker::Tag tag) {
    Legion::TaskLauncher launcher(task, Legion::UntypedBuffer(), Legion::Predicate::TRUE_PRED,
                                  kRanker, tag);
    launcher.add_region_requirement(
        RegionRequirement(region, mode, LEGION_EXCLUSIVE, region).add_field(kField));
    return runtime()->execute_task(context(), launcher);
  };
  const auto by_task = [&](LogicalRegion region, Ranker::Tag tag) {
    return launch(region, kSum, LEGION_READ_ONLY, tag).get_result<double>();
  };
  const auto by_inline_mapping = [&](LogicalRegion region, Ranker::Tag tag) {
    const Legion::InlineLauncher launcher(
        RegionRequirement(region, LEGION_READ_ONLY, LEGION_EXCLUSIVE, region).add_field(kField),
        kRanker, tag);
    const PhysicalRegion mapped = runtime()->map_region(context(), launcher);
    const double total = sum(nullptr, {mapped}, context(), runtime());
    runtime()->unmap_region(context(), mapped);
    return total;
  };
  const auto by_copy = [&](LogicalRegion region, Ranker::Tag tag) {
    const LogicalRegion copied = rows("copied");
    Legion::CopyLauncher launcher(Legion::Predicate::TRUE_PRED, kRanker, tag);
    launcher.add_copy_requirements(
        RegionRequirement(region, LEGION_READ_ONLY, LEGION_EXCLUSIVE, region).add_field(kField),
        RegionRequirement(copied, LEGION_WRITE_DISCARD, LEGION_EXCLUSIVE, copied)
            .add_field(kField));
    runtime()->issue_copy_operation(context(), launcher);
    return launch(copied, kSum, LEGION_READ_ONLY, Ranker::kToSysmem).get_result<double>();
  };
  const auto total = [&](const auto& make, Ranker::Tag tag) {
    const LogicalRegion region = rows("ranked");
    launch(region, kDouble, LEGION_READ_WRITE, Ranker::kToSysmem).get_void_result();
    launch(region, kSpoil, LEGION_READ_ONLY, Ranker::kToRdmem).get_void_result();
    return make(region, tag);
  };
  constexpr double kAll = 2 * 8 * 16;
  EXPECT_EQ(total(by_task, Ranker::kOfSysmem), kAll);
  EXPECT_EQ(total(by_task, Ranker::kOfRdmem), kAll + 1000);
  EXPECT_EQ(total(by_inline_mapping, Ranker::kOfSysmem), kAll);
  EXPECT_EQ(total(by_inline_mapping, Ranker::kOfRdmem), kAll + 1000);
  EXPECT_EQ(total(by_copy, Ranker::kOfSysmem), kAll);
  EXPECT_EQ(total(by_copy, Ranker::kOfRdmem), kAll + 1000);
  const std::lock_guard lock(noted_mutex);
  for (const char* operation : {"task", "inline mapping", "copy"}) {
    EXPECT_THAT(Ranker::told, testing::Contains(std::string(operation) +
                                                ": SYSMEM:1024 of RDMEM:1024 SYSMEM:1024"))
        << testing::PrintToString(Ranker::told);
  }
}

// The program's own array, which nobody may copy behind its back (restricted) or which may be.
TEST(Regions, AttachedArraysAreReadAndWritten) {
  for (const bool restricted : {false, true}) {
    for (const auto coherence : {LEGION_EXCLUSIVE, LEGION_SIMULTANEOUS}) {
      const auto fields = runtime()->create_field_space(context());
      runtime()->create_field_allocator(context(), fields).allocate_field(sizeof(double), kField);
      const auto region = runtime()->create_logical_region(
          context(), runtime()->create_index_space(context(), Legion::Rect<2>({0, 0}, {3, 7})),
          fields);
      runtime()->attach_name(region, "attached");
      std::vector<double> data(32, 2.0);
      Legion::AttachLauncher launcher(LEGION_EXTERNAL_INSTANCE, region, region, restricted, false);
      launcher.initialize_constraints(true, true, {kField});
      launcher.privilege_fields = {kField};
      const Realm::ExternalMemoryResource memory(data.data(), data.size() * sizeof(double));
      launcher.external_resource = &memory;
      const PhysicalRegion attached = runtime()->attach_external_resource(context(), launcher);
      Legion::TaskLauncher doubles = launcher_of(kDouble);
      doubles.add_region_requirement(
          RegionRequirement(region, LEGION_READ_WRITE, coherence, region).add_field(kField));
      runtime()->execute_task(context(), doubles).get_void_result();
      runtime()->detach_external_resource(context(), attached).get_void_result();
      EXPECT_THAT(data, testing::Each(4.0)) << restricted << " " << coherence;
      // The array is gone, and nobody takes it for an instance that is there.
      runtime()->fill_field<double>(context(), region, region, kField, 3.0);
      for (int cpu = 0; cpu < 2; ++cpu) {
        runtime()->execute_task(context(), doubles).get_void_result();
      }
      EXPECT_EQ(run<double>(kSum, region, region), 12.0 * 32);
      EXPECT_THAT(data, testing::Each(4.0)) << restricted << " " << coherence;
    }
  }
}

// The instance of the first launch has no room for it.
TEST(Regions, AFieldThatIsAddedLaterIsMapped) {
  constexpr Legion::FieldID kLater = 11;
  const LogicalRegion region = rows("grown");
  const auto on_all = [](const auto& look) {  // in turn, each with a mapper of its own
    for (int cpu = 0; cpu < 4; ++cpu) look();
  };
  on_all([&] { EXPECT_EQ(run<double>(kSum, region, region), 8 * 16.0); });
  runtime()
      ->create_field_allocator(context(), region.get_field_space())
      .allocate_field(sizeof(double), kLater);
  runtime()->fill_field<double>(context(), region, region, kLater, 2.0);
  Legion::TaskLauncher launcher = launcher_of(kSum);
  launcher.add_region_requirement(
      RegionRequirement(region, LEGION_READ_ONLY, LEGION_EXCLUSIVE, region).add_field(kField));
  launcher.region_requirements[0].add_field(kLater);
  on_all([&] {
    EXPECT_EQ(runtime()->execute_task(context(), launcher).get_result<double>(), 8 * 16.0);
  });
}

// What a point found serves the others of its launch, and never a later one: the field may be
// another one under the same number.
TEST(Regions, AFieldThatComesAnewIsMapped) {
  for (const bool epoch : {false, true}) {
    const LogicalRegion region = rows("renewed");
    auto fields = runtime()->create_field_allocator(context(), region.get_field_space());
    Legion::IndexTaskLauncher launcher(kSum, Legion::Domain(Legion::Rect<1>(0, 1)),
                                       Legion::UntypedBuffer(), Legion::ArgumentMap(),
                                       Legion::Predicate::TRUE_PRED, false, kProgram);
    for (int requirement = 0; requirement < 2; ++requirement) {
      launcher.add_region_requirement(
          RegionRequirement(region, 0, LEGION_READ_ONLY, LEGION_EXCLUSIVE, region)
              .add_field(kField));
    }
    for (int time = 1; time <= 4; ++time) {
      Legion::MustEpochLauncher together(kProgram);
      together.add_index_task(launcher);
      const auto sums = epoch ? runtime()->execute_must_epoch(context(), together)
                              : runtime()->execute_index_space(context(), launcher);
      for (const Legion::coord_t point : {0, 1}) {
        EXPECT_EQ(sums.get_result<double>(Legion::DomainPoint(point)), 8 * 16.0 * time) << epoch;
      }
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"  // programs still do
      fields.free_field(kField);
#pragma GCC diagnostic pop
      runtime()->issue_execution_fence(context()).wait();  // now its number is free
      fields.allocate_field(sizeof(double), kField);
      runtime()->fill_field<double>(context(), region, region, kField, time + 1.0);
    }
  }
}

// One for all tasks that read, whichever processor's mapper asks.
TEST(Regions, AMapperFindsAndMakesInstances) {
  const LogicalRegion region = rows("kept");
  Keeper::created = Keeper::collected = Keeper::told = 0;
  for (int i = 0; i < 1'000 && Keeper::collected < 2; ++i) {
    EXPECT_EQ(run<double>(kSum, region, region, kKeeper), 8 * 16.0);
  }
  EXPECT_GE(Keeper::collected, 2);
  EXPECT_EQ(Keeper::created, 1);
  Legion::TaskLauncher adds = launcher_of(kAdd, kKeeper);
  adds.add_region_requirement(
      RegionRequirement(region, kPlus, LEGION_EXCLUSIVE, region).add_field(kField));
  EXPECT_EQ(runtime()->execute_task(context(), adds).get_result<int>(), Legion::Memory::REGDMA_MEM);
  EXPECT_EQ(run<double>(kSum, region, region), 8 * 16.0 + 0.5);
  for (int i = 0; i < 1'000 && Keeper::told < 2; ++i) {  // Legion says so when it gets to it
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  EXPECT_GE(Keeper::told, 2);
}

// Runs the task twice at once, as points 0 and 1, on a region that both may write.
Legion::FutureMap run_both(Legion::TaskID task, const LogicalRegion& region,
                           Legion::RegionFlags flags = LEGION_NO_FLAG) {
  Legion::MustEpochLauncher epoch(kProgram);
  for (const Legion::coord_t point : {0, 1}) {
    Legion::TaskLauncher launcher = launcher_of(task);
    launcher.add_region_requirement(
        RegionRequirement(region, LEGION_READ_WRITE, LEGION_SIMULTANEOUS, region)
            .add_field(kField)
            .add_flags(flags));
    epoch.add_single_task(Legion::DomainPoint(point), launcher);
  }
  return runtime()->execute_must_epoch(context(), epoch);
}

// Two tasks at once, that share what both may write: on processors of their own, with the same
// instance, which lies where the statement says.
TEST(Regions, MustEpochsShare) {
  const auto shared = run_both(kShare, rows("shared"));
  const auto first = shared.get_result<Shared>(Legion::DomainPoint(0));
  const auto second = shared.get_result<Shared>(Legion::DomainPoint(1));
  EXPECT_NE(first.processor, second.processor);
  EXPECT_EQ(first.address, second.address);
  EXPECT_EQ(first.memory, Legion::Memory::REGDMA_MEM);
}

// As SPMD programs have them: the regions are for what the tasks launch, so each needs an instance,
// but none of the two is in the other's way.
TEST(Regions, MustEpochsOfTasksWithoutAccess) {
  const auto where = run_both(kMeet, rows("handed"), LEGION_NO_ACCESS_FLAG);
  EXPECT_NE(where.get_result<std::int64_t>(Legion::DomainPoint(0)),
            where.get_result<std::int64_t>(Legion::DomainPoint(1)));
}

// Legion wants an instance for each point.
TEST(Regions, PointsThatWriteTheSameTogether) {
  const LogicalRegion region = rows("written");
  for (int time = 0; time < 2; ++time) {
    Legion::IndexTaskLauncher launcher(kFill, Legion::Domain(Legion::Rect<1>(0, 3)),
                                       Legion::UntypedBuffer(), Legion::ArgumentMap(),
                                       Legion::Predicate::TRUE_PRED, false, kProgram);
    launcher.add_region_requirement(
        RegionRequirement(region, 0, LEGION_WRITE_DISCARD, LEGION_COLLECTIVE_EXCLUSIVE, region)
            .add_field(kField));
    const auto addresses = runtime()->execute_index_space(context(), launcher);
    std::set<std::int64_t> different;
    for (const Legion::coord_t point : {0, 1, 2, 3}) {
      different.insert(addresses.get_result<std::int64_t>(Legion::DomainPoint(point)));
    }
    EXPECT_EQ(different.size(), 4U);
    EXPECT_EQ(run<double>(kSum, region, region), 8 * 16 * 3.0);
  }
}

// A program leaves them to Legion's DefaultMapper; a mapper written by hand is asked.
TEST(Operations, GoWhereTheMapperSays) {
  const LogicalRegion from = rows("from");
  noted = {};
  const auto inline_memory = [&](Legion::MapperID mapper) {
    Legion::RegionRequirement requirement(from, LEGION_READ_ONLY, LEGION_EXCLUSIVE, from);
    requirement.add_field(kField);
    Legion::InlineLauncher launcher(requirement, mapper);
    PhysicalRegion mapped = runtime()->map_region(context(), launcher);
    mapped.wait_until_valid();
    const int kind = kind_of_memory(mapped);
    runtime()->unmap_region(context(), mapped);
    return kind;
  };
  EXPECT_EQ(inline_memory(kProgram), Legion::Memory::SYSTEM_MEM);
  EXPECT_EQ(inline_memory(kCurious), Legion::Memory::REGDMA_MEM);
  runtime()->issue_execution_fence(context()).wait();
  const std::lock_guard lock(noted_mutex);
  EXPECT_THAT(noted.tasks, ElementsAre("inline mapping  local [from 2D 128 points whole value:8]"));
}

// Also through a region that says which points are meant.
TEST(Operations, CopiesGoWhereTheMapperSays) {
  for (const bool indirect : {false, true}) {
    const auto line = [](const char* name, auto value) {
      const auto fields = runtime()->create_field_space(context());
      runtime()->create_field_allocator(context(), fields).allocate_field(sizeof value, kField);
      const auto region = runtime()->create_logical_region(
          context(), runtime()->create_index_space(context(), Legion::Rect<1>(0, 7)), fields);
      runtime()->attach_name(region, name);
      runtime()->fill_field(context(), region, region, kField, value);
      return region;
    };
    const LogicalRegion from = line("from", 3.0), to = line("to", 1.0);
    const LogicalRegion which = line("which", Legion::Point<1>(5));
    noted = {};
    Legion::CopyLauncher launcher(Legion::Predicate::TRUE_PRED, kCurious);
    launcher.add_copy_requirements(
        RegionRequirement(from, LEGION_READ_ONLY, LEGION_EXCLUSIVE, from),
        RegionRequirement(to, LEGION_READ_WRITE, LEGION_EXCLUSIVE, to));
    launcher.add_src_field(0, kField);
    launcher.add_dst_field(0, kField);
    if (indirect)
      launcher.add_src_indirect_field(
          kField, RegionRequirement(which, LEGION_READ_ONLY, LEGION_EXCLUSIVE, which));
    runtime()->issue_copy_operation(context(), launcher);

    Legion::InlineLauncher look(
        RegionRequirement(to, LEGION_READ_ONLY, LEGION_EXCLUSIVE, to).add_field(kField), kCurious);
    const PhysicalRegion mapped = runtime()->map_region(context(), look);
    const Legion::FieldAccessor<LEGION_READ_ONLY, double, 1> accessor(mapped, kField);
    for (Legion::coord_t x = 0; x < 8; ++x) EXPECT_EQ(accessor[x], 3.0);
    runtime()->unmap_region(context(), mapped);
    runtime()->issue_execution_fence(context()).wait();
    const std::lock_guard lock(noted_mutex);
    EXPECT_THAT(noted.tasks, testing::Contains(testing::StartsWith("copy ")));
    EXPECT_THAT(noted.reports, testing::Contains(OperationKind::kCopy));
  }
}

TEST(Regions, ReductionsGoWhereTheStatementSays) {
  const LogicalRegion region = rows("cells");
  Legion::IndexTaskLauncher launcher(kAdd, Legion::Domain(Legion::Rect<1>(0, 3)),
                                     Legion::UntypedBuffer(), Legion::ArgumentMap(),
                                     Legion::Predicate::TRUE_PRED, false, kProgram);
  launcher.add_region_requirement(
      RegionRequirement(region, 0, kPlus, LEGION_EXCLUSIVE, region).add_field(kField));
  const auto memories = runtime()->execute_index_space(context(), launcher);
  for (int point = 0; point < 4; ++point) {
    EXPECT_EQ(memories.get_result<int>(Legion::DomainPoint(point)), Legion::Memory::REGDMA_MEM);
  }
  EXPECT_EQ(run<double>(kSum, region, region), 8 * 16 + 4 * 0.5);
}

// More data than the memory holds, a task after the other: there is room while each copy goes when
// its reader has ended, for the region's valid data are the fill.
TEST(Regions, CollectedInstancesMakeRoom) {
  for (int i = 0; i < 5; ++i) {
    const LogicalRegion region =
        region_of(runtime()->create_index_space(context(), Legion::Rect<2>({0, 0}, {1023, 3071})),
                  "collected");
    EXPECT_EQ(run<double>(kSum, region, region), 1024.0 * 3072);  // 24 of 64 MB
  }
}

// Legion would lose what was reduced, if it were not to remember the instance that is read next.
TEST(Regions, ReductionsOutliveCollectedReaders) {
  const LogicalRegion region = rows("collected");
  Legion::TaskLauncher adds = launcher_of(kAdd), doubles = launcher_of(kDouble);
  adds.add_region_requirement(
      RegionRequirement(region, kPlus, LEGION_EXCLUSIVE, region).add_field(kField));
  doubles.add_region_requirement(
      RegionRequirement(region, LEGION_READ_WRITE, LEGION_EXCLUSIVE, region).add_field(kField));
  runtime()->execute_task(context(), adds);
  EXPECT_EQ(run<double>(kSum, region, region), 8 * 16 + 0.5);
  runtime()->execute_task(context(), doubles);
  EXPECT_EQ(run<double>(kSum, region, region), 2 * (8 * 16 + 0.5));
}

TEST(Regions, OutputsGoWhereTheStatementSays) {
  const auto fields = runtime()->create_field_space(context());
  runtime()->create_field_allocator(context(), fields).allocate_field(sizeof(double), kField);
  std::vector<Legion::OutputRequirement> outputs = {
      Legion::OutputRequirement(fields, {kField}, 1, true)};
  Legion::TaskLauncher launcher = launcher_of(kMake);
  EXPECT_EQ(runtime()->execute_task(context(), launcher, &outputs).get_result<int>(),
            Legion::Memory::REGDMA_MEM);
}

TEST(Regions, AVariantThatComesLaterIsNoticed) {
  const auto late = [] {
    return runtime()->execute_task(context(), launcher_of(kLate)).get_result<int>();
  };
  EXPECT_EQ(late(), 1);
  add_task(kLate, "late", [](auto& registrar, const char*) {
    registrar.global_registration = false;
    runtime()->register_task_variant<int, answer<2>>(registrar, 1000);  // the highest is taken
  });
  EXPECT_EQ(late(), 2);
}

TEST(Views, SayWhatLegionKnows) {
  const LogicalRegion region = rows("cells");
  const Legion::LogicalPartition parts = halves(region);
  runtime()->attach_name(parts, "tiles");
  noted = {};
  Legion::IndexTaskLauncher launcher(kSum, Legion::Domain(Legion::Rect<1>(0, 1)),
                                     Legion::UntypedBuffer(), Legion::ArgumentMap(),
                                     Legion::Predicate::TRUE_PRED, false, kCurious);
  launcher.add_region_requirement(
      RegionRequirement(parts, 0, LEGION_READ_ONLY, LEGION_EXCLUSIVE, region).add_field(kField));
  launcher.add_future(Legion::Future::from_value(7));
  const auto sums = runtime()->execute_index_space(context(), launcher);
  for (int half = 0; half < 2; ++half) {
    EXPECT_EQ(sums.get_result<double>(Legion::DomainPoint(half)), 4 * 16.0);
  }
  EXPECT_EQ(run<double>(kSum, region, region, kCurious), 8 * 16.0);
  runtime()->issue_execution_fence(context()).wait();
  const std::lock_guard lock(noted_mutex);
  EXPECT_THAT(noted.tasks, ElementsAre("slice sum local [tiles cells 2D partition value:8]",
                                       "map sum local [tiles cells 2D 64 points value:8]",
                                       "map sum local [tiles cells 2D 64 points value:8]",
                                       "map sum local [cells 2D 128 points whole value:8]"));
  EXPECT_NE(noted.regions["cells"], 0U);
  EXPECT_NE(noted.regions["cells"], noted.regions["tiles"]);
  using testing::Contains;
  EXPECT_THAT(noted.reports, Contains(OperationKind::kTask).Times(3));
  EXPECT_THAT(noted.reports, Contains(testing::AnyOf(OperationKind::kCopy, OperationKind::kFill)));
}

}  // namespace
}  // namespace groma::legion_test
