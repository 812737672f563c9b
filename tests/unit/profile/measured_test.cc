// Measured runs: what their events waited for, and the text in which they come.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "profile/causes.h"
#include "profile/record_text.h"
#include "unit/profile/records.h"

namespace groma::profile {
namespace {

using Event = RunRecord::Event;
using Use = MeasuredEvent::InstanceUse;
using test::random_run;
using test::simulated;

constexpr std::uint64_t kTop = 1;

// A task on a processor that was made when it was launched.
MeasuredEvent task(std::uint64_t number, std::int32_t processor, RunTime created, RunTime ready,
                   RunTime start, RunTime end, std::vector<Use> uses = {}) {
  MeasuredEvent made;
  made.event.name = 0;
  made.event.where = processor;
  made.event.mapping = made.event.mapped = created;
  made.event.ready = ready;
  made.event.start = start;
  made.event.end = end;
  made.creation_time = created;
  made.task = number;
  made.uses = std::move(uses);
  return made;
}
MeasuredEvent copy(std::uint64_t of, RunTime created, RunTime ready, RunTime start, RunTime end,
                   std::vector<Use> uses) {
  MeasuredEvent made = task(of, 0, created, ready, start, end, std::move(uses));
  made.event.kind = Event::Kind::kCopy;
  made.event.mapping = made.event.mapped = 0;
  made.event.bytes = 8;
  return made;
}

RunRecord record_of(std::vector<MeasuredEvent> events, std::vector<Launch> launches = {}) {
  RunRecord record;
  record.tasks = {"work"};
  record.processors = {{"CPU", 0, 0}, {"CPU", 0, 1}};
  record.memories = {{"SYSMEM", 0, 0, 1 << 20}};
  add_events_with_causes(std::move(events), std::move(launches), record);
  return record;
}

TEST(Causes, ATaskThatTheProcessorKeptWaitedForTheOneBefore) {
  const RunRecord record = record_of({task(2, 0, 0, 0, 10, 50), task(3, 0, 5, 20, 51, 60)});
  EXPECT_EQ(record.events[1].cause, 0);
  EXPECT_EQ(record.events[1].ready, 20);  // it waited for the processor
  const Profile profile = make_profile(std::make_shared<RunRecord>(record));
  EXPECT_EQ(profile.tasks[0].waited, 10 + 31);  // for the first nobody knows for what
  EXPECT_EQ(profile.total, 60);
}

// Of what ended before it was ready, the one that wrote what it uses, though another ended later.
TEST(Causes, SharedInstancesComeFirst) {
  const Use writes{7, 1, true}, reads{7, 1, false}, other_field{7, 2, true}, elsewhere{8, 1, true};
  const RunRecord record =
      record_of({task(2, 0, 0, 0, 1, 40, {writes}), task(3, 1, 0, 0, 2, 44, {elsewhere}),
                 copy(4, 0, 0, 3, 45, {other_field}), task(4, 0, 5, 46, 47, 60, {reads})});
  EXPECT_EQ(record.events[3].cause, 0);
  // No processor kept it.
  const Profile profile = make_profile(std::make_shared<RunRecord>(record));
  using Doing = Profile::Doing;
  using Reason = Profile::Reason;
  EXPECT_EQ(profile.path_time[static_cast<int>(Doing::kRuntime)][static_cast<int>(Reason::kStart)],
            1 + 1);
}

TEST(Causes, ElseTheLastThatEndedInBetween) {
  const RunRecord record =
      record_of({task(2, 0, 0, 0, 1, 40), task(3, 1, 0, 0, 2, 44), task(4, 0, 5, 46, 47, 60)});
  EXPECT_EQ(record.events[2].cause, 1);
}

TEST(Causes, NothingThatEndedBeforeItWasMade) {
  const RunRecord record = record_of({task(2, 0, 0, 0, 1, 40), task(3, 1, 50, 60, 61, 70)});
  EXPECT_EQ(record.events[1].cause, -1);
}

// A task that launches ends where it begins to. What was mapped when a child had ended came after
// that, what was mapped meanwhile with it did not.
TEST(Causes, MappingsComeAfterWhatEndedBeforeThem) {
  const RunRecord record = record_of(
      {task(kTop, 0, 1, 1, 2, 500), task(2, 1, 12, 12, 13, 90), task(3, 0, 14, 14, 15, 60),
       task(4, 1, 102, 102, 103, 140), task(5, 0, 112, 112, 113, 130)},
      {{kTop, 10}});
  EXPECT_EQ(record.events[0].end, 10);
  EXPECT_EQ(record.events[1].after, 0);
  EXPECT_EQ(record.events[2].after, 0);
  EXPECT_EQ(record.events[3].after, 1);
  EXPECT_EQ(record.events[4].after, 1);
  EXPECT_EQ(record.end, 500);
}

// It worked before its second launch from when the child had ended, and at its end.
TEST(Causes, ALaunchingTaskGoesOn) {
  auto top = task(kTop, 0, 1, 1, 2, 500);
  top.own_time = 8 + 110 + 250;
  const auto made = [&](RunTime own) {
    top.own_time = own;
    return record_of({top, task(2, 1, 12, 12, 13, 90), task(3, 1, 205, 205, 206, 250)},
                     {{kTop, 200}, {kTop, 10}});
  };
  const RunRecord all = made(8 + 110 + 250);
  ASSERT_EQ(all.events.size(), 5U);
  const Event& before = all.events[2];
  EXPECT_EQ(std::pair(before.start, before.end), std::pair(RunTime{90}, RunTime{200}));
  EXPECT_EQ(before.continues, 0);
  EXPECT_EQ(before.after, 1);
  EXPECT_EQ(all.events[3].after, 2);  // what was launched then
  const Event& at_end = all.events[4];
  EXPECT_EQ(std::pair(at_end.start, at_end.end), std::pair(RunTime{250}, RunTime{500}));
  const Profile profile = make_profile(std::make_shared<RunRecord>(all));
  EXPECT_EQ(profile.task_runs, 3);
  EXPECT_EQ(profile.tasks[0].longest, 368);
  EXPECT_EQ(profile.time_on_path(Profile::Doing::kTask), 500 - 2 - 3 - 6);
  // Less of its own time than the gaps have: the longest has it.
  const RunRecord some = made(8 + 100);
  ASSERT_EQ(some.events.size(), 4U);
  EXPECT_EQ(some.events.back().start, 400);
  // None that it was launching in while its processor ran another.
  top.event.where = 1;
  EXPECT_EQ(record_of({top, task(2, 1, 12, 12, 13, 490)}, {{kTop, 10}, {kTop, 200}}).events.size(),
            2U + 1U);
  top.event.where = 0;
  // Before its first launch, too, what is not its own is the runtime's.
  const RunRecord little = made(3);
  ASSERT_EQ(little.events.size(), 3U);
  EXPECT_EQ(std::pair(little.events[0].start, little.events[0].end),
            std::pair(RunTime{2}, RunTime{5}));
  EXPECT_EQ(make_profile(std::make_shared<RunRecord>(little)).tasks[0].longest, 77);
}

// Whatever was measured, the path is without a gap and adds up.
TEST(Causes, ThePathOfAnyRunAddsUp) {
  std::mt19937_64 random(5);
  const auto below = [&](std::int64_t n) {
    return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(n));
  };
  for (int run = 0; run < 200; ++run) {
    std::vector<MeasuredEvent> events;
    std::vector<Launch> launches;
    for (std::uint64_t i = 1; i < 40; ++i) {
      const RunTime created = below(1000), ready = below(1000), start = below(1000);
      const std::vector<Use> uses = {{static_cast<std::uint64_t>(below(4)), 1, below(2) == 0}};
      auto made = task(i, static_cast<std::int32_t>(below(3)) - 1, created, ready, start,
                       start + below(200), uses);
      if (below(3) == 0) made.event.kind = Event::Kind::kCopy;
      events.push_back(made);
      if (below(4) == 0) launches.push_back({i, below(1000)});
    }
    const RunRecord record = record_of(events, launches);
    for (std::size_t i = 0; i < record.events.size(); ++i) {
      ASSERT_LT(record.events[i].cause, static_cast<std::int64_t>(i));
      ASSERT_LT(record.events[i].after, static_cast<std::int64_t>(i));
    }
    const Profile profile = make_profile(std::make_shared<RunRecord>(record));
    RunTime now = 0;
    for (const Profile::Segment& segment : profile.path) {
      ASSERT_EQ(segment.begin, now);
      now = segment.end;
    }
    ASSERT_EQ(now, profile.total);
    EXPECT_TRUE(run_record_from(text_of(record)).ok());
  }
}

// ---- The text

TEST(RecordText, ReadsWhatItWrites) {
  RunRecord record = *simulated("nodes=2,gpu=2,cpu=2", 4, 3, true);
  record.notes = {"3 fills are not in it", "a name with\nall \"kinds\" of 7:signs"};
  const std::string text = text_of(record);
  const auto read = run_record_from(text);
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(text_of(*read), text);
  EXPECT_EQ(read->notes, record.notes);
  EXPECT_EQ(read->events.size(), record.events.size());
}

TEST(RecordText, RefusesWhatIsDamaged) {
  const RunRecord good = *random_run(3, 20);
  const std::string text = text_of(good);
  for (std::size_t size = 0; size < text.size(); ++size) {
    EXPECT_FALSE(run_record_from(text.substr(0, size)).ok()) << size;
  }
  EXPECT_FALSE(run_record_from(text + "0 ").ok());
  EXPECT_FALSE(run_record_from("groma run 1\n99999999999 ").ok());
  const auto with = [&](const auto& change) {
    RunRecord bad = good;
    change(bad.events[5]);
    return run_record_from(text_of(bad)).ok();
  };
  EXPECT_TRUE(with([](Event&) {}));
  EXPECT_FALSE(with([](Event& event) { event.cause = 5; }));
  EXPECT_FALSE(with([](Event& event) { event.after = 6; }));
  EXPECT_FALSE(with([](Event& event) { event.end = event.start - 1; }));
  EXPECT_FALSE(with([](Event& event) { event.bytes = -1; }));
  EXPECT_FALSE(with([](Event& event) { event.end = std::numeric_limits<RunTime>::max(); }));
}

// What is read although a byte was changed makes a profile and all its forms.
TEST(RecordText, AnyTextIsOfNoHarm) {
  const std::string text = text_of(*random_run(4, 60));
  std::mt19937_64 random(11);
  int good = 0;
  for (int i = 0; i < 3000; ++i) {
    std::string bad = text;
    for (int changes = 0; changes < 1 + i % 3; ++changes) {
      bad[random() % bad.size()] = "0123456789-: \n"[random() % 14];
    }
    auto read = run_record_from(bad);
    if (!read) continue;
    ++good;
    const auto record = std::make_shared<const RunRecord>(std::move(read).value());
    const Profile profile = make_profile(record);
    if (good % 20 != 0) continue;
    EXPECT_FALSE(draw(profile, {}).empty());
    EXPECT_FALSE(to_json(profile, {}).empty());
    EXPECT_FALSE(to_trace(profile, {}).empty());
    EXPECT_FALSE(to_html(profile, {}).empty());
  }
  EXPECT_GT(good, 100);
}

// What a run does not say stands in every form.
TEST(Notes, AreShown) {
  auto record = random_run(2, 10);
  record->notes = {"7 fills are not in it <b>"};
  record->events.back().kind = Event::Kind::kCopy;
  record->events.back().statement = -1;
  const Profile profile = make_profile(record);
  EXPECT_THAT(draw(profile, {}), ::testing::HasSubstr("What is not in it\n  7 fills"));
  EXPECT_THAT(to_json(profile, {}),
              ::testing::HasSubstr("\"notes\":[\"7 fills are not in it <b>\"]"));
  EXPECT_THAT(to_html(profile, {}),
              ::testing::HasSubstr("Not in it: 7 fills are not in it &lt;b&gt;"));
  EXPECT_THAT(to_json(profile, {}), ::testing::HasSubstr("\"text\":\"not known\""));
}

}  // namespace
}  // namespace groma::profile
