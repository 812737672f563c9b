// Profiles against sums made plainly, and the critical path against its own rules.
#include "groma/profile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <numeric>
#include <ostream>
#include <set>

#include "unit/profile/records.h"

namespace groma {
namespace {

using Doing = Profile::Doing;
using Event = RunRecord::Event;
using Reason = Profile::Reason;

template <typename List>
const auto& at(const List& list, std::int64_t i) {
  return list[static_cast<std::size_t>(i)];
}

// Every sum made again in the plainest way.
void expect_sums(const Profile& profile) {
  const RunRecord& record = *profile.record;
  std::map<std::pair<std::string, std::string>, std::array<std::int64_t, 4>> tasks;
  std::map<std::int32_t, RunTime> busy;
  std::map<std::int32_t, std::int64_t> link_bytes, in, out;
  std::map<std::tuple<std::int32_t, std::string, std::string, bool, bool, std::int32_t, bool>,
           std::array<std::int64_t, 4>>
      moves;
  std::map<std::pair<std::int32_t, std::int32_t>, std::int64_t> flows;
  for (const Event& event : record.events) {
    const RunTime time = event.end - event.start;
    if (event.kind == Event::Kind::kTask) {
      auto& sum = tasks[{at(record.tasks, event.name), at(record.processors, event.where).kind}];
      sum[0] += 1;
      sum[1] += time;
      sum[2] = std::max(sum[2], time);
      sum[3] += event.start - event.ready;
      busy[event.where] += time;
      continue;
    }
    const auto &from = at(record.memories, event.from), &to = at(record.memories, event.where);
    auto& sum =
        moves[{event.region, from.kind, to.kind, from.node != to.node, event.from == event.where,
               event.statement, event.kind == Event::Kind::kReduction}];
    sum[0] += 1;
    sum[1] += event.bytes;
    sum[2] += time;
    sum[3] += event.start - event.ready;
    out[event.from] += event.bytes;
    in[event.where] += event.bytes;
    flows[{event.from, event.where}] += event.bytes;
    for (std::int32_t link : at(record.routes, event.route)) link_bytes[link] += event.bytes;
  }

  ASSERT_EQ(profile.tasks.size(), tasks.size());
  for (const auto& task : profile.tasks) {
    EXPECT_EQ((tasks[{at(record.tasks, task.task), task.kind}]),
              (std::array<std::int64_t, 4>{task.runs, task.time, task.longest, task.waited}));
  }
  ASSERT_EQ(profile.processors.size(), busy.size());
  for (const auto& each : profile.processors) EXPECT_EQ(each.busy, busy[each.processor]);
  ASSERT_EQ(profile.moves.size(), moves.size());
  for (const auto& move : profile.moves) {
    EXPECT_EQ((moves[{move.region, move.from, move.to, move.other_node, move.same_memory,
                      move.statement, move.reduction}]),
              (std::array<std::int64_t, 4>{move.number, move.bytes, move.time, move.waited}));
  }
  for (const auto& phase : profile.phases) {  // the path has no gap
    const std::vector<RunTime> within = profile.path_times_in_phase(phase.name);
    EXPECT_EQ(std::accumulate(within.begin(), within.end(), RunTime{0}), phase.time);
  }
  ASSERT_EQ(profile.flows.size(), flows.size());
  for (const auto& flow : profile.flows) EXPECT_EQ(flow.bytes, (flows[{flow.from, flow.to}]));
  ASSERT_EQ(profile.channels.size(), link_bytes.size());
  for (const auto& channel : profile.channels) EXPECT_EQ(channel.bytes, link_bytes[channel.link]);
  for (const auto& memory : profile.memories) {
    EXPECT_EQ(memory.in_bytes, in[memory.memory]);
    EXPECT_EQ(memory.out_bytes, out[memory.memory]);
  }
}

// The lists against each other and the whole.
void expect_adds_up(const Profile& profile) {
  RunTime tasks = 0, processors = 0, kinds = 0, runtime = 0;
  std::int64_t runs = 0, bytes = 0, flow_bytes = 0, number = 0;
  for (const auto& task : profile.tasks) tasks += task.time, runs += task.runs;
  for (const auto& each : profile.processors) processors += each.busy;
  for (const auto& kind : profile.kinds) {
    kinds += kind.busy;
    EXPECT_EQ(kind.busy + kind.idle, profile.total * kind.processors);
    EXPECT_GE(Profile::imbalance(kind), 1 - 1e-12);
    EXPECT_LE(kind.least * kind.processors, kind.busy);
    EXPECT_GE(kind.most * kind.processors, kind.busy);
  }
  for (const auto& move : profile.moves) bytes += move.bytes, number += move.number;
  for (const auto& flow : profile.flows) flow_bytes += flow.bytes;
  EXPECT_EQ(runs, profile.task_runs);
  EXPECT_EQ(tasks, profile.task_time);
  EXPECT_EQ(processors, tasks);
  EXPECT_EQ(kinds, tasks);
  EXPECT_EQ(bytes, profile.moved_bytes);
  EXPECT_EQ(flow_bytes, bytes);
  EXPECT_EQ(number, profile.copies + profile.reductions);
  for (const auto& each : profile.runtimes) {
    EXPECT_LE(each.busy, profile.total);
    runtime += each.mapped;
  }
  EXPECT_LE(runtime, profile.task_runs);
}

// Without a gap from the beginning to the end, and summed up to the whole.
void expect_whole_path(const Profile& profile) {
  RunTime now = 0, by_reason = 0, by_cause = 0;
  for (const auto& segment : profile.path) {
    ASSERT_EQ(segment.begin, now);
    ASSERT_LT(segment.begin, segment.end);
    now = segment.end;
  }
  EXPECT_EQ(now, profile.total);
  for (const auto& row : profile.path_time) {
    for (RunTime time : row) by_reason += time;
  }
  std::int64_t segments = 0;
  for (const auto& cause : profile.path_causes) by_cause += cause.time, segments += cause.segments;
  EXPECT_EQ(by_reason, profile.total);
  EXPECT_EQ(by_cause, profile.total);
  EXPECT_EQ(segments, static_cast<std::int64_t>(profile.path.size()));
  EXPECT_EQ(profile.time_on_path(Doing::kTask) + profile.time_on_path(Doing::kCopy) +
                profile.time_on_path(Doing::kReduction) + profile.time_on_path(Doing::kRuntime),
            profile.total);
}

bool shares(const RunRecord& record, const Event& a, const Event& b) {
  if (a.kind == Event::Kind::kTask || b.kind == Event::Kind::kTask) {
    return a.kind == b.kind && a.where == b.where;
  }
  for (std::int32_t link : at(record.routes, a.route)) {
    for (std::int32_t other : at(record.routes, b.route)) {
      if (link == other) return true;
    }
  }
  return false;
}

// What holds in every run that went well: each segment is the whole of an event, and its reason is
// true of the event that comes next.
void expect_true_reasons(const Profile& profile) {
  const RunRecord& record = *profile.record;
  for (std::size_t i = 0; i < profile.path.size(); ++i) {
    const Profile::Segment& segment = profile.path[i];
    const bool last = i + 1 == profile.path.size();
    if (segment.doing == Doing::kRuntime) continue;
    const Event& event = at(record.events, segment.event);
    EXPECT_EQ(segment.begin, event.start);
    EXPECT_EQ(segment.end, event.end);
    if (segment.reason == Reason::kEnd || segment.reason == Reason::kMapping || last) continue;
    const Profile::Segment& next = profile.path[i + 1];
    if (next.doing == Doing::kRuntime) continue;  // a task of no length is between
    const Event& follower = at(record.events, next.event);
    if (follower.cause != segment.event) continue;  // the same
    if (segment.reason == Reason::kData) {
      EXPECT_EQ(follower.ready, segment.end);
      EXPECT_EQ(follower.start, follower.ready);
    } else {
      EXPECT_TRUE(shares(record, event, follower));
      EXPECT_GT(follower.start, follower.ready);
      EXPECT_EQ(follower.start, segment.end);
      EXPECT_EQ(segment.reason == Reason::kProcessor, event.kind == Event::Kind::kTask);
    }
  }
}

// ---- By hand

// A task on each of two processors; the second waits for a copy of what the first made, then a
// third for the second's processor. Node 0's runtime takes 10 for each.
std::shared_ptr<RunRecord> small_run() {
  auto record = std::make_shared<RunRecord>();
  record->tasks = {"make", "use"};
  record->regions = {"grid"};
  record->processors = {{"CPU", 0, 0}, {"GPU", 0, 0}, {"GPU", 0, 1}};
  record->memories = {
      {"SYSMEM", 0, 0, 1000, 400}, {"FBMEM", 0, 0, 500, 500}, {"ZCMEM", 0, 0, 500, 0}};
  record->links = {{"pcie", 0, 0, true}};
  record->routes = {{0}};
  Event make;
  make.name = 0;
  make.where = 0;
  make.mapped = make.ready = make.start = 10;
  make.end = 110;
  Event copy;
  copy.kind = Event::Kind::kCopy;
  copy.name = 1;
  copy.where = 1;
  copy.from = 0;
  copy.region = 0;
  copy.statement = 7;
  copy.route = 0;
  copy.bytes = 4096;
  copy.mapped = 20;
  copy.ready = copy.start = 110;
  copy.end = 150;
  copy.cause = 0;
  Event use;
  use.name = 1;
  use.where = 1;
  use.mapping = 10;
  use.mapped = 20;
  use.ready = use.start = 150;
  use.end = 350;
  use.cause = 1;
  Event again = use;
  again.mapping = 20;
  again.mapped = 30;
  again.ready = 200;
  again.start = 350;
  again.end = 400;
  again.cause = 2;
  record->events = {make, copy, use, again};
  record->allocations = {{10, 0, 0, 400}, {20, 1, 0, 500}, {350, 0, 0, -400}};
  record->end = 420;
  return record;
}

TEST(Profile, SaysWhereTheTimeOfASmallRunWent) {
  const Profile profile = make_profile(small_run());
  EXPECT_EQ(profile.total, 420);
  EXPECT_EQ(profile.task_runs, 3);
  EXPECT_EQ(profile.copies, 1);
  EXPECT_EQ(profile.moved_bytes, 4096);
  ASSERT_EQ(profile.tasks.size(), 2U);
  EXPECT_EQ(profile.tasks[0].task, 1);
  EXPECT_EQ(profile.tasks[0].time, 250);
  EXPECT_EQ(profile.tasks[0].longest, 200);
  EXPECT_EQ(profile.tasks[0].waited, 150);
  ASSERT_EQ(profile.kinds.size(), 2U);
  EXPECT_EQ(profile.kinds[0].kind, "GPU");
  EXPECT_EQ(profile.kinds[0].processors, 2);
  EXPECT_EQ(profile.kinds[0].used, 1);
  EXPECT_EQ(profile.kinds[0].idle, 2 * 420 - 250);
  EXPECT_DOUBLE_EQ(Profile::imbalance(profile.kinds[0]), 2);
  ASSERT_EQ(profile.runtimes.size(), 1U);
  EXPECT_EQ(profile.runtimes[0].busy, 30);
  ASSERT_EQ(profile.memories.size(), 2U);  // ZCMEM is not used
  EXPECT_EQ(profile.memories[1].peak_time, 20);
  ASSERT_EQ(profile.channels.size(), 1U);
  EXPECT_EQ(profile.channels[0].busy, 40);

  ASSERT_EQ(profile.path.size(), 6U);
  const auto is = [&](std::size_t i, Doing doing, Reason reason, RunTime begin, RunTime end) {
    EXPECT_EQ(profile.path[i].doing, doing) << i;
    EXPECT_EQ(profile.path[i].reason, reason) << i;
    EXPECT_EQ(profile.path[i].begin, begin) << i;
    EXPECT_EQ(profile.path[i].end, end) << i;
  };
  is(0, Doing::kRuntime, Reason::kMapping, 0, 10);
  is(1, Doing::kTask, Reason::kData, 10, 110);
  is(2, Doing::kCopy, Reason::kData, 110, 150);
  is(3, Doing::kTask, Reason::kProcessor, 150, 350);
  is(4, Doing::kTask, Reason::kEnd, 350, 400);
  is(5, Doing::kRuntime, Reason::kEnd, 400, 420);
  EXPECT_EQ(profile.path_causes.front().time, 200);
  EXPECT_EQ(profile.path_causes.front().task, 1);
  expect_sums(profile);
  expect_whole_path(profile);
}

// What a run that was given up had begun, or only planned, is cut at its end.
TEST(Profile, CutsWhatIsBeyondTheEnd) {
  const auto record = small_run();
  record->end = 170;
  const Profile profile = make_profile(record);
  EXPECT_EQ(profile.tasks[1].time, 20);
  expect_adds_up(profile);
  expect_whole_path(profile);
  EXPECT_EQ(profile.path.back().event, 2);
}

TEST(Profile, OfNothingIsNothing) {
  const Profile profile = make_profile(std::make_shared<RunRecord>());
  EXPECT_EQ(profile.total, 0);
  EXPECT_TRUE(profile.path.empty());
  EXPECT_TRUE(profile.tasks.empty());
}

// ---- At random

class RandomProfile : public ::testing::TestWithParam<std::uint64_t> {};

TEST_P(RandomProfile, AddsUp) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(seed);
    const Profile profile = make_profile(
        test::random_run(1000 * GetParam() + seed, 1 + static_cast<std::int64_t>(seed) * 3));
    expect_sums(profile);
    expect_adds_up(profile);
    expect_whole_path(profile);
    expect_true_reasons(profile);
    // Everything started as early as it could, so only mapping is the runtime's.
    for (const auto& segment : profile.path) {
      if (segment.doing != Doing::kRuntime) continue;
      EXPECT_EQ(segment.end, at(profile.record->events, segment.event).mapped);
    }
    if (HasFailure()) return;
  }
}

TEST_P(RandomProfile, TakesAnyRecord) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(seed);
    const Profile profile =
        make_profile(test::nonsense(1000 * GetParam() + seed, static_cast<std::int64_t>(seed)));
    expect_whole_path(profile);
    EXPECT_FALSE(draw(profile, {}).empty());
    EXPECT_FALSE(to_json(profile, {}).empty());
    EXPECT_FALSE(to_trace(profile, {}).empty());
    EXPECT_FALSE(to_html(profile, {}).empty());
    if (HasFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomProfile, ::testing::Range<std::uint64_t>(0, 4));

// ---- Of real runs

struct Simulated {
  const char* machine;
  int pieces, steps;
  bool nested;
};

std::ostream& operator<<(std::ostream& out, const Simulated& run) {
  return out << run.machine << (run.nested ? " nested" : "");
}

class SimulatedRuns : public ::testing::TestWithParam<Simulated> {};

TEST_P(SimulatedRuns, AddsUp) {
  const Simulated run = GetParam();
  const auto record = test::simulated(run.machine, run.pieces, run.steps, run.nested);
  ASSERT_NE(record, nullptr);
  const Profile profile = make_profile(record);
  EXPECT_GT(profile.copies, 0);
  ASSERT_FALSE(profile.phases.empty());
  EXPECT_LE(profile.phases[0].time, profile.total);
  expect_sums(profile);
  expect_adds_up(profile);
  expect_whole_path(profile);
  expect_true_reasons(profile);
}

// One tile and a wait after each round: one leaf task after the other, so all are on the path, and
// what lies between them, copies aside, is launching, mapping and waking up.
TEST(SimulatedProfile, LeadsThroughWaitsFuturesAndInnerTasks) {
  const auto record = test::simulated("p100x4", 1, 5, true);
  ASSERT_NE(record, nullptr);
  const Profile profile = make_profile(record);
  RunTime leaves = 0;
  for (const Profile::Task& task : profile.tasks) {
    if (task.kind == "GPU") leaves += task.time;
  }
  EXPECT_EQ(profile.task_runs, 1 + 1 + 2 + 2 * 5 * 2 + 1);
  EXPECT_EQ(profile.time_on_path(Doing::kTask), leaves);
  // Mapped while nothing else went on: main, init, solve, its first step, the first of 4 more
  // rounds in each solve, main's own step. Woken: 8 times between rounds, at the phase's beginning
  // and end, and twice at the end of solve, for what follows.
  const RunTime map = 300'000'000, wake = 20'000'000;
  EXPECT_EQ(profile.time_on_path(Doing::kRuntime), 13 * map + 12 * wake);
  EXPECT_EQ(profile.time_on_path(Doing::kTask) + profile.time_on_path(Doing::kRuntime) +
                profile.time_on_path(Doing::kCopy),
            record->end);
  expect_whole_path(profile);
  expect_true_reasons(profile);
}

// What the walk relies on.
TEST_P(SimulatedRuns, RecordsSayWhatEachEventWaitedFor) {
  const Simulated run = GetParam();
  const auto record = test::simulated(run.machine, run.pieces, run.steps, run.nested);
  ASSERT_NE(record, nullptr);
  std::set<std::int64_t> later;  // tasks that were over later than they ran
  std::int64_t waited = 0, data = 0, launched = 0;
  for (std::size_t i = 0; i < record->events.size(); ++i) {
    SCOPED_TRACE(i);
    const Event& event = record->events[i];
    const auto number = static_cast<std::int64_t>(i);
    ASSERT_LE(event.mapping, event.mapped);
    ASSERT_LE(event.mapped, event.ready);
    ASSERT_LE(event.ready, event.start);
    ASSERT_LE(event.start, event.end);
    ASSERT_LE(event.end, record->end);
    ASSERT_LT(event.cause, number);
    ASSERT_LT(event.after, number);
    if (event.start > event.ready) {
      ++waited;
      ASSERT_GE(event.cause, 0);
      const Event& holder = at(record->events, event.cause);
      EXPECT_EQ(holder.end, event.start);
      EXPECT_TRUE(shares(*record, holder, event));
    } else if (event.ready > event.mapped) {
      ++data;
      ASSERT_GE(event.cause, 0);
      EXPECT_EQ(at(record->events, event.cause).end, event.ready);
    }
    if (event.after >= 0) {
      ++launched;
      const Event& after = at(record->events, event.after);
      EXPECT_LE(event.after_start ? after.start : after.end, event.mapped);
    }
    EXPECT_EQ(event.route >= 0, event.kind != Event::Kind::kTask);
  }
  EXPECT_GT(waited, 0);
  EXPECT_GT(data, 0);
  EXPECT_GT(launched, 0);
  std::vector<std::int64_t> used(record->memories.size()), most(used);
  for (const auto& each : record->allocations) {
    const auto m = static_cast<std::size_t>(each.memory);
    used[m] += each.bytes;
    most[m] = std::max(most[m], used[m]);
  }
  for (std::size_t m = 0; m < most.size(); ++m) EXPECT_EQ(most[m], record->memories[m].peak_bytes);
}

INSTANTIATE_TEST_SUITE_P(Profile, SimulatedRuns,
                         ::testing::Values(Simulated{"p100x4", 16, 6, false},
                                           Simulated{"p100x4:nodes=2", 32, 3, false},
                                           Simulated{"lassen:nodes=4", 40, 5, false},
                                           Simulated{"p100x4:nodes=2", 24, 4, true}));

}  // namespace
}  // namespace groma
