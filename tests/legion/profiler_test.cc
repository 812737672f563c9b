// RunMeasurements: what a record of a run says about what it leaves out.
#include "legion/profiler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <mappers/default_mapper.h>

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "groma/source.h"
#include "legion/start.h"
#include "profile/record_text.h"
#include "support/temporary_folder.h"

namespace groma::legion_test {
namespace {

using legion::RunMeasurements;
using Legion::Mapping::MapperContext;
using Legion::Mapping::PhysicalInstance;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::StartsWith;

constexpr Legion::MapperID kShowing = 52;
constexpr Legion::FieldID kField = 10;
constexpr Legion::TaskID kChild = 60;
std::function<void(const PhysicalInstance&)> show;
std::function<void(const Legion::Task&)> show_task;

// Shows the task itself. Only the first point of a launch does.
void child(const Legion::Task* task, const std::vector<Legion::PhysicalRegion>&, Legion::Context,
           Legion::Runtime*) {
  if (!task->is_index_space || task->index_point[0] == 0) show_task(*task);
}

// Shows the instances of inline mappings.
class Showing final : public Legion::Mapping::DefaultMapper {
 public:
  using DefaultMapper::DefaultMapper;

  void map_inline(MapperContext context, const Legion::InlineMapping& operation,
                  const MapInlineInput& input, MapInlineOutput& output) override {
    DefaultMapper::map_inline(context, operation, input, output);
    for (const PhysicalInstance& instance : output.chosen_instances) show(instance);
  }
};

void register_mappers(Legion::Machine machine, Legion::Runtime* runtime,
                      const std::set<Legion::Processor>& local) {
  for (const Legion::Processor p : local) {
    runtime->add_mapper(kShowing,
                        new Showing(runtime->get_mapper_runtime(), machine, p, "showing"));
  }
}

const BeforeStart kSetUp([] {
  Legion::TaskVariantRegistrar registrar(kChild, "child");
  registrar.add_constraint(Legion::ProcessorConstraint(Legion::Processor::LOC_PROC));
  registrar.set_leaf();
  Legion::Runtime::preregister_task_variant<child>(registrar, "child");
  Legion::Runtime::add_registration_callback(register_mappers);
});

// Calls `use` with an instance.
void with_instance(const std::function<void(const PhysicalInstance&)>& use) {
  Legion::Runtime* const legion = runtime();
  const auto space = legion->create_index_space(context(), Legion::Rect<1>(0, 9));
  const auto fields = legion->create_field_space(context());
  legion->create_field_allocator(context(), fields).allocate_field(sizeof(double), kField);
  const auto region = legion->create_logical_region(context(), space, fields);
  show = use;
  Legion::InlineLauncher launcher(
      Legion::RegionRequirement(region, LEGION_WRITE_DISCARD, LEGION_EXCLUSIVE, region)
          .add_field(kField));
  launcher.map_id = kShowing;
  Legion::PhysicalRegion mapped = legion->map_region(context(), launcher);
  mapped.wait_until_valid();
  legion->unmap_region(context(), mapped);
  legion->destroy_logical_region(context(), region);
}

class Profiler : public testing::Test {
 protected:
  // The record of a run that the watch saw through `see`.
  RunRecord record(const std::function<void(RunMeasurements&)>& see) const {
    const std::string file = folder_.path() + "/record";
    RunMeasurements watch(file, legion::MachineMap::make().value());
    watch.on_mapper_start();
    see(watch);
    watch.on_mapper_end();
    auto read = profile::run_record_from(read_file(file, profile::kMaxRecordBytes).value());
    EXPECT_TRUE(read.ok()) << read.error().message;
    return std::move(read).value();
  }
  test::TemporaryFolder folder_;
};

TEST_F(Profiler, NothingIsLeftOut) {
  const RunRecord all = record([](RunMeasurements& watch) {
    watch.add_launch(*runtime()->get_local_task(context()));
    EXPECT_TRUE(watch.has_room_for_measurements(true));
    EXPECT_TRUE(watch.has_room_for_measurements(false));
  });
  EXPECT_THAT(all.notes, IsEmpty());
  EXPECT_FALSE(all.is_beginning);
}

TEST_F(Profiler, CountsFillsAndTasksThatWereNotMapped) {
  const RunRecord some = record([](RunMeasurements& watch) {
    for (int i = 0; i < 5; ++i) watch.add_launch(*runtime()->get_local_task(context()));
    for (int i = 0; i < 2; ++i) EXPECT_TRUE(watch.has_room_for_measurements(true));
    RunMeasurements::MappedOperation task;
    task.task = 7;
    watch.mapped(task);
    const Legion::Mapping::ProfilingResponse nothing;
    for (int i = 0; i < 4; ++i)
      watch.add_measurement(7, RunMeasurements::MeasuredKind::kFill, 0, 5, nothing);
  });
  EXPECT_THAT(some.notes,
              ElementsAre("3 tasks were launched and not measured, since no mapper here was asked "
                          "for them: a trace replayed them, a predicate was false, or another "
                          "process has them",
                          "4 fills are not in it"));
  EXPECT_FALSE(some.is_beginning);
}

TEST_F(Profiler, CountsTheLaunchesOfATask) {
  const RunRecord some = record([](RunMeasurements& watch) {
    show_task = [&](const Legion::Task& task) { watch.add_launch(task); };
    runtime()->execute_task(context(), {kChild, {}}).wait();
    const Legion::Domain points(Legion::Rect<1>(0, 3));
    runtime()
        ->execute_index_space(context(), {kChild, points, {}, Legion::ArgumentMap()})
        .wait_all_results();
  });
  ASSERT_EQ(some.notes.size(), 1U);
  EXPECT_THAT(some.notes[0], StartsWith("5 tasks were launched and not measured"));
}

TEST_F(Profiler, CountsWhatHasNoRoom) {
  const RunRecord beginning = record([](RunMeasurements& watch) {
    for (std::size_t i = 0; i < profile::kMaxRecordedEvents; ++i) {
      RunMeasurements::MappedOperation task;
      task.task = i + 1;
      watch.mapped(std::move(task));
    }
    for (int i = 0; i < 3; ++i) EXPECT_FALSE(watch.has_room_for_measurements(true));
    for (int i = 0; i < 2; ++i) EXPECT_FALSE(watch.has_room_for_measurements(false));
  });
  EXPECT_THAT(beginning.notes,
              ElementsAre("3 tasks came when there was no room any more: this is the run's "
                          "beginning",
                          "2 operations and copies were too many to be kept"));
  EXPECT_TRUE(beginning.is_beginning);
}

// Instances without room do not make a record the beginning of its run.
TEST_F(Profiler, CountsInstancesThatHaveNoRoom) {
  const RunRecord full = record([](RunMeasurements& watch) {
    with_instance([&](const PhysicalInstance& instance) {
      for (std::size_t i = 0; i < profile::kMaxRecordedAllocations; i += 2) {
        EXPECT_TRUE(watch.add_new_instance(instance, -1));
        watch.remove_instance(instance);
      }
      EXPECT_TRUE(watch.add_new_instance(instance, -1));
      EXPECT_FALSE(watch.add_new_instance(instance, -1));
      watch.remove_instance(instance);
      EXPECT_TRUE(watch.add_new_instance(instance, -1));
    });
  });
  EXPECT_EQ(full.allocations.size(), profile::kMaxRecordedAllocations);
  EXPECT_THAT(full.notes,
              ElementsAre("3 times that instances came or went are not in it: they were too many"));
  EXPECT_FALSE(full.is_beginning);
}

}  // namespace
}  // namespace groma::legion_test
