// Which data tasks stream from which memory, what other memories would change, and how evenly tasks
// are spread: on small records whose figures can be worked out by hand.
#include "profile/data_streams.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "profile/task_spreads.h"
#include "unit/profile/records.h"

namespace groma::profile {
namespace {

using Event = RunRecord::Event;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// A run of one task on one GPU for 1 us: 0.2 us to launch it, then 0.8 us for 8000 bytes from ZCMEM
// at 10 GB/s. At the same time it moves 10,000 bytes in FBMEM at 100 GB/s and computes for 50 ns.
std::shared_ptr<RunRecord> one_task() {
  auto record = std::make_shared<RunRecord>();
  record->tasks = {"t"};
  record->regions = {"r", "s"};
  record->phase_names = {"timed"};
  record->processors = {{"GPU", 0, 0}};
  record->memories = {{"FBMEM", 0, 0, 1000, 100}, {"ZCMEM", 0, 0, 1000, 500}};
  record->reaches = {{"GPU", "FBMEM", 100e9}, {"GPU", "ZCMEM", 10e9}};
  record->descriptions = {{{"GPU"}, {{{"r"}, 0}, {{"s"}, 1}}}};
  record->costs = {{200'000, 50'000, {{0, 1, 3, 8000, 8000}, {1, 0, 0, 10000, 10000}}}};
  record->allocations = {{0, 1, 0, 500}};
  Event event;
  event.name = 0;
  event.where = 0;
  event.end = 1'000'000;
  event.cost = 0;
  record->events = {event};
  record->end = 1'000'000;
  return record;
}

std::vector<DataStream> streams_of(const std::shared_ptr<RunRecord>& record) {
  const Profile profile = make_profile(record);
  return data_streams(profile, measured_spans(profile, "timed"));
}

TEST(DataStreams, SplitTheTimeByMemoryAndSayWhatAnotherWouldTake) {
  const std::vector<DataStream> streams = streams_of(one_task());
  ASSERT_THAT(streams, SizeIs(2));
  EXPECT_EQ(streams[0].memory, "ZCMEM");
  EXPECT_EQ(streams[0].statement, 3);
  EXPECT_EQ(streams[0].time, 800'000);
  EXPECT_EQ(streams[0].bytes, 8000);
  EXPECT_EQ(streams[0].task_time, 1'000'000);
  ASSERT_THAT(streams[0].alternatives, SizeIs(1));
  EXPECT_EQ(streams[0].alternatives[0].memory, "FBMEM");
  // 0.2 us to launch it and 18,000 bytes at 100 GB/s.
  EXPECT_EQ(streams[0].alternatives[0].task_time, 380'000);
  EXPECT_TRUE(streams[0].alternatives[0].has_room);
  EXPECT_EQ(streams[1].memory, "FBMEM");
  EXPECT_EQ(streams[1].time, 0);
  EXPECT_EQ(streams[1].alternatives[0].task_time, 2'000'000);
}

TEST(DataStreams, GpusMoveOtherBytesInOtherMemories) {
  const auto record = one_task();
  record->costs[0].streams[0].bytes = 1000;
  const std::vector<DataStream> streams = streams_of(record);
  EXPECT_EQ(streams[0].bytes, 8000);
  // 0.2 us to launch it and 11,000 bytes at 100 GB/s.
  EXPECT_EQ(streams[0].alternatives[0].task_time, 310'000);
}

TEST(DataStreams, AFullMemoryHasNoRoom) {
  const auto record = one_task();
  record->memories[0].peak_bytes = 501;
  EXPECT_FALSE(streams_of(record)[0].alternatives[0].has_room);
  // Two memories of the kind share what one memory held.
  record->memories.push_back({"FBMEM", 0, 1, 1000, 100});
  EXPECT_TRUE(streams_of(record)[0].alternatives[0].has_room);
}

TEST(DataStreams, OnlyTheMeasuredPhaseCounts) {
  const auto record = one_task();
  record->phases = {{0, 0, 250'000}, {0, 500'000, 750'000}};
  const std::vector<DataStream> streams = streams_of(record);
  EXPECT_EQ(streams[0].time, 400'000);
  EXPECT_EQ(streams[0].task_time, 500'000);
}

// A record of a real program, or an old one, says nothing about the costs of tasks.
TEST(DataStreams, WithoutCostsThereAreNone) {
  const auto record = one_task();
  record->costs.clear();
  EXPECT_THAT(streams_of(record), IsEmpty());
  const std::string json = to_json(make_profile(record), {});
  EXPECT_EQ(json.find("\"streams\""), std::string::npos);
}

// Numbers that refer to nothing are ignored.
TEST(DataStreams, NonsenseIsIgnored) {
  for (std::uint64_t seed = 1; seed < 20; ++seed) {
    const auto record = test::nonsense(seed, 200);
    record->costs = {{-5, INT64_MAX, {{-1, 99, -7, INT64_MAX, -1}, {5, 0, 1, 1, 1}}}};
    record->reaches = {{"GPU", "FBMEM", -1}, {"CPU", "SYSMEM", 1e300}};
    std::int32_t cost = -3;
    for (Event& event : record->events) event.cost = cost++ % 3;
    EXPECT_FALSE(to_json(make_profile(record), {}).empty());
  }
}

TEST(TaskSpreads, CountThePointsOfTheBusiestProcessor) {
  auto record = one_task();
  record->processors = {{"GPU", 0, 0}, {"GPU", 0, 1}};
  record->points = {"(0, 0)", "(0, 1)", "(1, 0)", "(1, 1)"};
  record->events.clear();
  for (std::int32_t i = 0; i < 4; ++i) {
    Event event;
    event.name = 0;
    event.point = i;
    event.where = 0;
    event.start = i * RunTime{100};
    event.end = event.start + 100;
    event.cost = 0;
    record->events.push_back(event);
  }
  record->end = 400;
  const auto spreads_of = [&] {
    const Profile profile = make_profile(record);
    return task_spreads(profile, measured_spans(profile, ""));
  };
  TaskSpread spread = spreads_of().at(0);
  EXPECT_EQ(spread.used, 1);
  EXPECT_EQ(spread.processors, 2);
  EXPECT_EQ(spread.points, 4);
  EXPECT_EQ(spread.dimensions, 2);
  EXPECT_EQ(spread.lost, 200);
  // Two points on each: nothing is to gain, also if one takes longer.
  record->events[1].where = record->events[2].where = 1;
  record->events[0].end = 150;
  EXPECT_EQ(spreads_of().at(0).lost, 0);
}

// Launches over different domains, such as those of a factorisation, place the same coordinates
// differently. Their points are counted launch by launch: the second GPU runs 4 of 7 points.
TEST(TaskSpreads, CountPointsOfLaunchesOverDifferentDomains) {
  auto record = one_task();
  record->processors = {{"GPU", 0, 0}, {"GPU", 0, 1}};
  record->points = {"(0, 0)", "(0, 1)", "(1, 1)"};
  record->events.clear();
  const std::pair<std::int32_t, std::int32_t> kRuns[] = {{0, 0}, {1, 0}, {2, 1}, {1, 0},
                                                         {2, 1}, {2, 1}, {1, 1}};
  for (const auto& [point, where] : kRuns) {
    Event event;
    event.name = 0;
    event.point = point;
    event.where = where;
    event.start = static_cast<RunTime>(record->events.size()) * 100;
    event.end = event.start + 100;
    event.cost = 0;
    record->events.push_back(event);
  }
  record->end = 700;
  const Profile profile = make_profile(record);
  const TaskSpread spread = task_spreads(profile, measured_spans(profile, "")).at(0);
  EXPECT_TRUE(spread.counts_all_launches);
  EXPECT_EQ(spread.points, 7);
  EXPECT_EQ(spread.busiest, 1);
  EXPECT_EQ(spread.busiest_point_count, 4);
  EXPECT_EQ(spread.lost, 0);
}

// Eight points on two processors; the first takes as long as the other seven together.
std::shared_ptr<RunRecord> uneven_points() {
  auto record = one_task();
  record->processors = {{"GPU", 0, 0}, {"GPU", 1, 0}};
  record->points.clear();
  record->events.clear();
  for (std::int32_t i = 0; i < 8; ++i) {
    record->points.push_back("(" + std::to_string(i) + ")");
    Event event;
    event.name = 0;
    event.point = i;
    event.where = i % 2;
    event.start = i * RunTime{100};
    event.end = event.start + (i == 0 ? 70 : 10);
    event.cost = 0;
    record->events.push_back(event);
  }
  record->end = 800;
  return record;
}

TEST(TaskSpreads, WeighPointsOfOneDimensionByTheirTime) {
  auto record = uneven_points();
  const auto spread = [&] {
    const Profile profile = make_profile(record);
    return task_spreads(profile, measured_spans(profile, "")).at(0);
  };
  EXPECT_EQ(spread().busiest, 0);
  EXPECT_EQ(spread().busiest_point_count, 4);
  EXPECT_EQ(spread().busiest_points.front(), 0);
  ASSERT_THAT(spread().heavy_points, SizeIs(1));
  EXPECT_EQ(spread().heavy_points[0].point, 0);
  EXPECT_DOUBLE_EQ(spread().heavy_points[0].weight, 4);
  // Blocks of four would give the first processor 100 too.
  EXPECT_EQ(spread().lost, 0);
  for (Event& event : record->events) event.where = 0;
  EXPECT_EQ(spread().lost, 40);
}

TEST(TasksApart, CountPointsOnDifferentNodes) {
  auto record = uneven_points();
  record->tasks = {"load", "use"};
  record->descriptions = {{{"GPU"}, {{{"r"}, 0}}}, {{"GPU"}, {{{"q"}, 1}, {{"r"}, 0}}}};
  for (std::int32_t i = 0; i < 8; ++i) {
    Event event = record->events[static_cast<std::size_t>(i)];
    event.name = 1;
    event.where = i / 4;
    record->events.push_back(event);
  }
  const std::vector<TasksApart> apart = tasks_apart(*record);
  ASSERT_EQ(apart.size(), 1U);
  EXPECT_EQ(apart[0].points, 8);
  EXPECT_EQ(apart[0].apart, 4);
  EXPECT_THAT(apart[0].regions, ::testing::ElementsAre(0));
  record->descriptions[1] = {{"GPU"}, {{{"q"}, 1}}};
  EXPECT_THAT(tasks_apart(*record), IsEmpty());
}

// Single tasks whose parents are points can run where their parents do.
TEST(TaskSpreads, NestedTasksAreToldApart) {
  auto record = one_task();
  record->tasks = {"inner", "point"};
  record->processors = {{"GPU", 0, 0}, {"GPU", 0, 1}};
  record->points = {"(0)", "(1)"};
  Event parent = record->events[0];
  parent.name = 1;
  parent.point = 0;
  parent.end = 10;
  Event child = record->events[0];
  child.after = 0;
  child.after_start = true;
  child.end = 100;
  record->events = {parent, child, child};
  record->end = 200;
  record->events[2].start = 100;
  record->events[2].end = 200;
  const Profile profile = make_profile(record);
  const std::vector<TaskSpread> spreads = task_spreads(profile, measured_spans(profile, ""));
  EXPECT_EQ(spreads.at(0).task, 0);
  EXPECT_EQ(spreads.at(0).nested_runs, 2);
  EXPECT_EQ(spreads.at(0).lost, 100);
  EXPECT_EQ(spreads.at(1).nested_runs, 0);
}

}  // namespace
}  // namespace groma::profile
