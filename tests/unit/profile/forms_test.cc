// Profiles as text, JSON and trace.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>

#include "groma/profile.h"
#include "profile/timeline.h"
#include "unit/profile/records.h"

namespace groma {
namespace {

using Json = nlohmann::json;
using ::testing::HasSubstr;
using ::testing::StartsWith;

ProfileWords some_words() {
  return {"stencil on p100x4 by a.mapper", [](std::int32_t statement) {
            return StatementText{"Region * * GPU FBMEM",
                                 "a.mapper:" + std::to_string(statement) + ":1"};
          }};
}

ProfileWords hostile_words() {
  return {test::kHostileNames[0], [](std::int32_t statement) {
            return StatementText{test::kHostileNames[static_cast<std::uint32_t>(statement) % 6],
                                 test::kHostileNames[4]};
          }};
}

std::shared_ptr<RunRecord> hostile_run() {
  auto record = test::random_run(5, 400);
  record->tasks.assign(test::kHostileNames, test::kHostileNames + 3);
  record->regions.assign(test::kHostileNames + 3, test::kHostileNames + 6);
  for (auto& event : record->events) event.region = event.name;
  for (auto& link : record->links) link.channel = test::kHostileNames[1];
  for (auto& memory : record->memories) memory.kind = test::kHostileNames[0] + memory.kind;
  for (auto& processor : record->processors) processor.kind = test::kHostileNames[3];
  record->phase_names.assign(1, test::kHostileNames[2]);
  for (auto& phase : record->phases) phase.name = 0;
  return record;
}

// The only event of a task is the later part of a run whose beginning the record lacks.
std::shared_ptr<RunRecord> run_without_a_beginning() {
  auto record = test::random_run(5, 2);
  record->events[0].kind = RunRecord::Event::Kind::kCopy;
  record->events[1].kind = RunRecord::Event::Kind::kTask;
  record->events[1].continues = 0;
  return record;
}

std::size_t characters(const std::string& line) {
  return static_cast<std::size_t>(std::count_if(line.begin(), line.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  }));
}

std::string without_colors(const std::string& text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\x1b') {
      i = text.find('m', i);
    } else {
      plain += text[i];
    }
  }
  return plain;
}

// ---- Text

TEST(ProfileText, IsShortAndFitsATerminal) {
  for (const bool hostile : {false, true}) {
    const Profile profile = make_profile(hostile ? hostile_run() : test::random_run(3, 5000));
    const std::string text = draw(profile, hostile ? hostile_words() : some_words());
    std::istringstream lines(text);
    int count = 0;
    for (std::string line; std::getline(lines, line); ++count) {
      EXPECT_LE(characters(line), 80U) << line;
      EXPECT_FALSE(line.ends_with(' ')) << line;
      for (char c : line) EXPECT_GE(static_cast<unsigned char>(c), 0x20) << line;
    }
    EXPECT_LE(count, 60);
    EXPECT_TRUE(text.ends_with('\n'));
    EXPECT_EQ(without_colors(draw(profile, hostile ? hostile_words() : some_words(), true)), text);
  }
}

TEST(ProfileText, SaysFirstTheTimeAndWhatItIsMadeOf) {
  auto record = std::make_shared<RunRecord>();
  record->tasks = {"main", "step"};
  record->regions = {"grid"};
  record->processors = {{"CPU", 0, 0}, {"GPU", 0, 0}};
  record->memories = {{"SYSMEM", 0, 0, std::int64_t{4} << 30, std::int64_t{1} << 30},
                      {"FBMEM", 0, 0, std::int64_t{1} << 30, std::int64_t{1} << 30}};
  record->links = {{"pcie", 0, 0, true}};
  record->routes = {{0}};
  RunRecord::Event copy;
  copy.kind = RunRecord::Event::Kind::kCopy;
  copy.name = 1;
  copy.where = 1;
  copy.from = 0;
  copy.region = 0;
  copy.statement = 6;
  copy.route = 0;
  copy.bytes = std::int64_t{1} << 30;
  copy.mapped = copy.ready = copy.start = 1'000'000'000;
  copy.end = 4'000'000'000;
  RunRecord::Event step;
  step.name = 1;
  step.where = 1;
  step.mapped = 1'000'000'000;
  step.ready = step.start = 4'000'000'000;
  step.end = 10'000'000'000;
  step.cause = 0;
  record->events = {copy, step};
  record->phase_names = {"loop"};
  record->phases = {{0, 0, 5'000'000'000}, {0, 5'000'000'000, 9'000'000'000}};
  record->end = 10'000'000'000;
  EXPECT_EQ(draw(make_profile(record), some_words()),
            R"(stencil on p100x4 by a.mapper: 10.0 ms
  phase loop                       9.00 ms  2 times

What the time is made of (the critical path)
  tasks                            6.00 ms  60 %  ############
  copies                           3.00 ms  30 %  ######
  the runtime                      1.00 ms  10 %  ##

Its largest causes
    6.00 ms  60 %  task step
                   the run ended with it
    3.00 ms  30 %  copy of grid, SYSMEM to FBMEM
                   the next step needed its data
                   by a.mapper:6:1: Region * * GPU FBMEM
    1.00 ms  10 %  launching and mapping step

Tasks                     runs      time      mean   longest share of all tasks
  step          GPU          1   6.00 ms   6.00 ms   6.00 ms ####################

Processors, busy of the whole time
  GPU            1 of 1 used   60 %, the least  60 %, the most  60 %  ############
  the runtime      on node 0   10 %                                   ##

Memories at their fullest
  FBMEM (0, 0)         1.00 GiB of  1.00 GiB 100 %  ####################
  SYSMEM (0, 0)        1.00 GiB of  4.00 GiB  25 %  #####

Moved: 1.00 GiB by 1 copies and 0 reductions
   1.00 GiB 100 %  copy of grid, SYSMEM to FBMEM
                   1 times 3.00 ms; by a.mapper:6:1: Region * * GPU FBMEM

Channels, busy of the whole time
  pcie (0, 0) out                   1.00 GiB   30 %  ######
)");
  // Where the file's folders would leave no room for the statement, they go.
  const ProfileWords far = {
      "", [](std::int32_t) {
        return StatementText{"Region * * GPU FBMEM", "some/folders/deep/down/of/mine/a.mapper:6:1"};
      }};
  EXPECT_THAT(draw(make_profile(record), far),
              HasSubstr("   by a.mapper:6:1: Region * * GPU FBMEM\n"));
}

// A copy of 8 bytes from SYSMEM to RDMEM that takes 1 ms from `start` on.
RunRecord::Event small_copy(RunTime start) {
  RunRecord::Event copy;
  copy.kind = RunRecord::Event::Kind::kCopy;
  copy.name = copy.region = copy.from = 0;
  copy.where = 1;
  copy.route = -1;
  copy.bytes = 8;
  copy.mapped = copy.ready = copy.start = start;
  copy.end = start + 1'000'000'000;
  return copy;
}

// A run that ends with this copy and has no other event.
std::shared_ptr<const RunRecord> run_of(const RunRecord::Event& copy) {
  auto record = std::make_shared<RunRecord>();
  record->tasks = {"step"};
  record->regions = {"grid"};
  record->processors = {{"CPU", 0, 0}};
  record->memories = {{"SYSMEM", 0, 0, 10, 10}, {"RDMEM", 0, 0, 10, 10}};
  record->events = {copy};
  record->end = copy.end;
  return record;
}

// A copy that no task needs, as for an inline mapping, waited for the runtime.
TEST(ProfileText, ACopyOfNoTaskIsCalledACopy) {
  RunRecord::Event copy = small_copy(3'000'000'000);
  copy.name = -1;
  EXPECT_THAT(draw(make_profile(run_of(copy)), some_words()),
              HasSubstr("    3.00 ms  75 %  launching and mapping a copy or reduction\n"));
}

TEST(ProfileText, WithoutAStatementTheProgramsOwnMapperDecided) {
  RunRecord::Event copy = small_copy(0);
  copy.statement = -1;
  EXPECT_THAT(draw(make_profile(run_of(copy)), some_words()),
              HasSubstr("by the program's own mapper (or unknown)\n"));
}

TEST(ProfileText, ATaskMayHaveTimeWithoutARun) {
  const Profile profile = make_profile(run_without_a_beginning());
  ASSERT_EQ(profile.tasks.size(), 1U);
  EXPECT_EQ(profile.tasks[0].runs, 0);
  EXPECT_EQ(profile.tasks[0].mean(), profile.tasks[0].time);
  EXPECT_THAT(draw(profile, some_words()), HasSubstr("Tasks"));
  EXPECT_THAT(to_html(profile, some_words()), HasSubstr("</html>"));
}

TEST(ProfileText, LongNamesOfTasksLoseTheirNamespaces) {
  auto record = std::make_shared<RunRecord>();
  record->tasks = {"cupynumeric::BinaryOpTask", "cupynumeric::ScalarUnaryRedTask", "a::b"};
  record->processors = {{"CPU", 0, 0}};
  for (std::int32_t task = 0; task < 3; ++task) {
    RunRecord::Event event;
    event.name = task;
    event.where = 0;
    event.start = event.mapped = event.ready = task * 1'000'000'000;
    event.end = event.start + 1'000'000'000 - task;
    record->events.push_back(event);
  }
  record->end = 3'000'000'000;
  const std::string text = draw(make_profile(record), some_words());
  EXPECT_THAT(text, HasSubstr("\nTasks                          runs      time "));
  EXPECT_THAT(text, HasSubstr("\n  BinaryOpTask       CPU          1   1.00 ms "));
  EXPECT_THAT(text, HasSubstr("\n  ScalarUnaryRedTask CPU          1   1.00 ms "));
  EXPECT_THAT(text, HasSubstr("\n  a::b               CPU          1   1.00 ms "));
}

// ---- JSON

TEST(ProfileJson, HoldsTheProfile) {
  const Profile profile = make_profile(test::random_run(7, 3000));
  const std::string text = to_json(profile, some_words());
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1);
  const Json json = Json::parse(text).at("profile");
  EXPECT_EQ(json.at("time_ps"), profile.total);
  RunTime path = 0, causes = 0, shown = json.at("path").at("left_out").at("time_ps");
  for (const Json& part : json.at("path").at("by_reason"))
    path += part.at("time_ps").get<RunTime>();
  for (const Json& cause : json.at("path").at("causes"))
    causes += cause.at("time_ps").get<RunTime>();
  for (const Json& segment : json.at("path").at("segments")) {
    shown += segment.at("end_ps").get<RunTime>() - segment.at("begin_ps").get<RunTime>();
  }
  EXPECT_EQ(path, profile.total);
  EXPECT_EQ(causes, profile.total);
  EXPECT_EQ(shown, profile.total);
  std::int64_t moved = 0, flows = json.at("flows_left_out").at("bytes");
  for (const Json& move : json.at("moves")) {
    moved += move.at("bytes").get<std::int64_t>();
    if (move.at("by").is_null()) continue;
    EXPECT_THAT(move.at("by").at("place"), StartsWith("a.mapper:"));
  }
  for (const Json& flow : json.at("flows")) flows += flow.at("bytes").get<std::int64_t>();
  EXPECT_EQ(moved, profile.moved_bytes);
  EXPECT_EQ(flows, profile.moved_bytes);
  for (const Json& cause : json.at("path").at("causes")) {
    if (!cause.contains("move")) continue;
    EXPECT_LT(cause.at("move").get<std::size_t>(), profile.moves.size());
  }
}

TEST(ProfileJson, TakesHostileNames) {
  const std::string text = to_json(make_profile(hostile_run()), hostile_words());
  const Json json = Json::parse(text).at("profile");
  EXPECT_EQ(json.at("title"), test::kHostileNames[0]);
  for (char c : text.substr(0, text.size() - 1)) EXPECT_GE(static_cast<unsigned char>(c), 0x20);
}

// ---- Trace

// The rules of the format that viewers rely on.
std::map<std::string, std::int64_t> check_trace(const Json& trace) {
  std::map<std::string, std::int64_t> seen;
  std::map<std::pair<std::int64_t, std::int64_t>, double> until;
  std::map<std::pair<std::int64_t, std::int64_t>, std::vector<std::pair<double, double>>> spans;
  std::set<std::pair<std::int64_t, std::int64_t>> named;  // threads
  for (const Json& event : trace.at("traceEvents")) {
    const std::string phase = event.at("ph");
    ++seen[phase];
    if (phase == "M") {
      if (event.at("name") == "thread_name") named.emplace(event.at("pid"), event.at("tid"));
      EXPECT_TRUE(event.at("args").contains("name") || event.at("args").contains("sort_index"));
      continue;
    }
    EXPECT_GE(event.at("ts").get<double>(), 0);
    if (phase == "C") {
      EXPECT_TRUE(event.at("args").at("bytes").is_number());
      continue;
    }
    EXPECT_EQ(phase, "X");
    ++seen[event.at("cat")];
    if (event.at("args").contains("by")) ++seen[event.at("args").at("by")];
    spans[{event.at("pid"), event.at("tid")}].emplace_back(event.at("ts").get<double>(),
                                                           event.at("dur").get<double>());
  }
  for (auto& [thread, all] : spans) {
    EXPECT_TRUE(named.contains(thread)) << "thread without a name: " << thread.second;
    std::sort(all.begin(), all.end());
    for (std::size_t i = 0; i + 1 < all.size(); ++i) {
      EXPECT_LE(all[i].first + all[i].second, all[i + 1].first + 1e-9) << "they overlap";
    }
  }
  return seen;
}

TEST(ProfileTrace, HasEveryEventOnItsThreads) {
  const auto record = test::simulated("p100x4:nodes=2", 16, 3, false);
  ASSERT_NE(record, nullptr);
  const Profile profile = make_profile(record);
  const Json trace = Json::parse(to_trace(profile, some_words()));
  auto seen = check_trace(trace);
  const auto long_ones = std::count_if(
      record->events.begin(), record->events.end(), [](const RunRecord::Event& event) {
        return event.kind == RunRecord::Event::Kind::kTask && event.end > event.start;
      });
  EXPECT_EQ(seen["task"], long_ones);
  EXPECT_EQ(seen["mapping"], profile.task_runs);
  EXPECT_GE(seen["copy"], profile.copies);
  EXPECT_EQ(seen["path"], static_cast<std::int64_t>(profile.path.size()));
  EXPECT_EQ(seen["the default mapper"], seen["copy"] + seen["reduction"]);
  EXPECT_GT(seen["C"], 0);
  EXPECT_EQ(trace.at("otherData").at("left_out"), "nothing");
}

TEST(ProfileTrace, TellsPointsAndMemories) {
  const auto record = test::simulated("p100x4:nodes=2", 16, 3, false);
  ASSERT_NE(record, nullptr);
  const Json trace = Json::parse(to_trace(make_profile(record), some_words()));
  std::set<std::string> points;
  std::int64_t copies = 0;
  for (const Json& event : trace.at("traceEvents")) {
    if (event.at("ph") != "X") continue;
    const Json& args = event.at("args");
    if (event.at("cat") == "task" && args.contains("point")) points.insert(args.at("point"));
    if (event.at("cat") != "copy") continue;
    ++copies;
    const RunRecord::Event& one = record->events[args.at("event")];
    const RunRecord::Memory& from = record->memories[static_cast<std::size_t>(one.from)];
    EXPECT_EQ(args.at("from"), fmt::format("{} ({}, {})", from.kind, from.node, from.index));
    EXPECT_TRUE(args.at("to").is_string());
  }
  EXPECT_EQ(points.size(), 16U);
  EXPECT_TRUE(points.contains("(0, 0)") && points.contains("(15, 0)"));
  EXPECT_GT(copies, 0);
}

// If not all events can be drawn, the short ones outside the critical path are left out.
TEST(ProfileTrace, KeepsTheEventsOfTheCriticalPath) {
  const Profile profile = make_profile(test::random_run(3, 300));
  std::set<std::int64_t> on_path, drawn;
  for (const Profile::Segment& segment : profile.path) {
    if (segment.doing != Profile::Doing::kRuntime) on_path.insert(segment.event);
  }
  ASSERT_GT(on_path.size(), 1U);
  const profile::Timeline lanes = profile::make_timeline(profile, on_path.size());
  for (const profile::TimelineLane& lane : lanes.lanes) {
    for (const profile::EventSpan& span : lane.spans) drawn.insert(span.event);
  }
  EXPECT_EQ(drawn, on_path);
  EXPECT_EQ(lanes.left_out, 300 - static_cast<std::int64_t>(on_path.size()));
}

TEST(ProfileTrace, TakesHostileNames) {
  const Json trace = Json::parse(to_trace(make_profile(hostile_run()), hostile_words()));
  auto seen = check_trace(trace);
  EXPECT_GT(seen["task"], 0);
  EXPECT_EQ(trace.at("otherData").at("title"), test::kHostileNames[0]);
}

// ---- Bounds

TEST(ProfileBounds, AMillionEventsAreCutWithAWordAboutIt) {
  const Profile profile = make_profile(test::random_run(11, 1'000'000));
  EXPECT_LT(draw(profile, some_words()).size(), 8U << 10);
  EXPECT_LT(to_json(profile, some_words()).size(), 2U << 20);

  const std::string trace = to_trace(profile, some_words());
  EXPECT_THAT(trace.substr(0, 300),
              HasSubstr("750000 of 1000000 tasks and copies, none longer than"));
  EXPECT_LT(trace.size(), 200U << 20);
  auto seen = check_trace(Json::parse(trace));
  EXPECT_LE(seen["task"], static_cast<std::int64_t>(kMaxTraceEvents));

  const std::string page = to_html(profile, some_words());
  EXPECT_THAT(page, HasSubstr(" Of 1000000 tasks and copies the 100000 longest are drawn"));
  EXPECT_LT(page.size(), 16U << 20);
}

}  // namespace
}  // namespace groma
