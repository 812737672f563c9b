// Applications of a few hundred bytes that are too much for any run, and one as `groma record`
// writes them: every command ends when it is told to, and when its time or memory is over.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include "command/run.h"
#include "groma/app_builder.h"
#include "groma/io.h"
#include "groma/recording.h"
#include "recording/events.h"
#include "support/hostile_apps.h"
#include "support/sanitized.h"

namespace groma::test {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::Not;

// Far above a second by the clock, so that a busy computer does not fail a test, and far below what
// these applications would take.
constexpr double kSoon = GROMA_SANITIZED ? 120 : 40;

// 1,000 launches of 4,096 points, of which each reads half of a region.
Application recorded() {
  app::Events events;
  events.runtime = "a test";
  events.tasks = {{"main", {{}}}, {"work", {{}}}};
  events.regions = {{"x", {Point{0}, Point{409'600}}, 409'600, {{"v", 8}}}};
  app::Events::Partition partition{"ghosts", 0, -1, {Point{0}, Point{4'096}}, {}};
  for (std::int64_t c = 0; c < 4'096; ++c) {
    const std::int64_t begin = std::max<std::int64_t>(0, 100 * c - 100'000);
    const std::int64_t end = std::min<std::int64_t>(409'600, 100 * c + 100'100);
    partition.pieces.push_back({Point{c}, {Point{begin}, Point{end - begin}}, end - begin});
  }
  events.partitions = {partition};
  events.shapes = {{1,
                    1,
                    {{app::Events::ColorRule::kPoint,
                      0,
                      0,
                      Privilege::kReadWrite,
                      Coherence::kSimultaneous,
                      {0}}}}};
  events.launches = {{0, {0, 4'096}}};
  events.contexts = {{0, -1, {}, 1, {{0, 1'000, {{0}}}}}};
  auto made = recorded_application(app::text_of(events), "recorded");
  EXPECT_TRUE(made.ok()) << made.error().message;
  return made->app;
}

class HostileApplications : public ::testing::Test {
 protected:
  HostileApplications() {
    const auto all = testing::hostile_apps();
    for (const testing::HostileApp& each : all) add(each.app, each.mapping);
    add(recorded(), "Task * CPU;\n");
  }

  struct File {
    std::string name, app, mapping;
  };
  const File& file(std::string_view name) const {
    return *std::find_if(files_.begin(), files_.end(),
                         [name](const File& each) { return each.name == name; });
  }
  // Some that are hard in different places. The others are tests of the library
  // (tests/unit/simulate/hostile_test.cc).
  std::vector<File> some() const {
    return {file("wide_halos"), file("many_fields"), file("pieces_by_long_formulas"),
            file("limited_launch"), file("recorded")};
  }

  // What the line printed, which it does soon.
  static Outcome run_soon(const std::string& line) {
    const auto begin = std::chrono::steady_clock::now();
    Outcome outcome = run(line);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    EXPECT_LT(took.count(), kSoon) << line;
    return outcome;
  }
  static Outcome interrupted(const std::string& line) {
    return run_soon("timeout -s INT --preserve-status 1 groma " + line);
  }

  TemporaryFolder folder_;
  std::vector<File> files_;

 private:
  void add(const Application& app, const std::string& mapping) {
    files_.push_back({app.name, folder_.write(app.name + ".json", application_to_json(app)),
                      folder_.write(app.name + ".mapper", mapping)});
  }
};

TEST_F(HostileApplications, EndARunWithItsTime) {
  for (const File& each : some()) {
    const Outcome outcome = run_soon("groma run " + each.mapping + " --app " + each.app +
                                     " --machine p100x4:nodes=2 --time 1");
    EXPECT_EQ(outcome.exit_code, 1) << each.name;
    EXPECT_THAT(outcome.err, HasSubstr("[cannot-run]")) << each.name;
    EXPECT_THAT(outcome.err, AnyOf(HasSubstr("the run takes longer than `--time` allows"),
                                   HasSubstr("of memory is needed to simulate it"),
                                   HasSubstr("requirements 0 and 1 of")))
        << each.name;
  }
}

TEST_F(HostileApplications, EndWithCtrlC) {
  for (const File& each : {file("wide_halos"), file("recorded")}) {
    for (const std::string& line :
         {"run " + each.mapping + " --app " + each.app,
          "diff " + each.mapping + " --app " + each.app,
          "check " + each.mapping + " --machine p100x4 --app " + each.app,
          "tune --app " + each.app + " --out " + folder_.path() + "/tuned_" + each.name}) {
      const Outcome outcome = interrupted(line);
      // A check may be over before.
      const bool is_check = line.starts_with("check");
      EXPECT_TRUE(outcome.exit_code == 130 || (is_check && outcome.exit_code <= 1)) << line;
    }
  }
}

TEST_F(HostileApplications, AreCheckedAndExplainedInBoundedTime) {
  for (const File& each : some()) {
    const Outcome check =
        run_soon("groma check " + each.mapping + " --machine p100x4:nodes=2 --app " + each.app);
    EXPECT_LE(check.exit_code, 1) << each.name << check.err;
    EXPECT_THAT(check.out, AnyOf(HasSubstr("[check-incomplete]"), HasSubstr("error: ")))
        << each.name;
    const Outcome explain = run_soon("groma explain " + each.mapping + " --app " + each.app);
    EXPECT_LE(explain.exit_code, 1) << each.name << explain.err;
    const Outcome as_mapping = run_soon("groma explain --as-mapping --app " + each.app);
    EXPECT_LE(as_mapping.exit_code, 1) << each.name << as_mapping.err;
    EXPECT_EQ(run_soon("groma apps " + each.app).exit_code, 0) << each.name;
  }
}

TEST_F(HostileApplications, EndACheckWithItsTime) {
  const File& large = file("one_large_launch");
  const Outcome outcome = run_soon("groma check " + large.mapping + " --app " + large.app +
                                   " --machine p100x4 --time 0.3");
  EXPECT_THAT(outcome.out, AnyOf(HasSubstr("was checked: it was stopped [check-incomplete]"),
                                 HasSubstr("reading it takes longer than `--time` allows")));
}

// A machine of 33 million processors is refused, or the command says that the computer has too
// little memory for it.
TEST_F(HostileApplications, EndOnMachinesThatAreTooLarge) {
  const std::string mapping = folder_.write("any.mapper", "Task * GPU, CPU;\n");
  const std::string on = mapping + " --app circuit --machine nodes=262144,gpu=64,cpu=64 ";
  const std::string needs =
      "GiB of memory is needed to simulate it on 262144 nodes, and 2.00 GiB is allowed";
  const Outcome run = run_soon("groma run " + on);
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_THAT(run.err, HasSubstr(needs + " [cannot-run]"));
  const Outcome check = run_soon("groma check " + on);
  EXPECT_EQ(check.exit_code, 0);
  EXPECT_THAT(check.out, HasSubstr(needs + " [check-incomplete]"));
  if (GROMA_SANITIZED) return;  // which take more address space
  const Outcome allowed = run_soon("ulimit -v 1000000; groma run " + on + " --memory 1000000");
  EXPECT_EQ(allowed.exit_code, 1);
  EXPECT_THAT(allowed.err, HasSubstr("groma: this computer has too little memory for that\nhelp:"));
}

TEST_F(HostileApplications, EndASearchWithItsTime) {
  for (const File& each : some()) {
    const std::string found = folder_.path() + "/found_" + each.name;
    const Outcome outcome =
        run_soon("groma tune --app " + each.app + " --evaluations 0 --time 1 --out " + found);
    EXPECT_LE(outcome.exit_code, 1) << each.name << outcome.err;
    EXPECT_THAT(outcome.err, Not(HasSubstr("internal error"))) << each.name;
  }
}

// Reading and checking the inputs is a part of the search's time.
TEST_F(HostileApplications, TakeTimeFromTheSearch) {
  AppBuilder app("many_parts");
  app.task("t").variant(cpu().leaf()).variant(gpu().leaf());
  for (int i = 0; i < 40; ++i) {
    const std::string name = "p" + std::to_string(i);
    app.region("r" + std::to_string(i), {1'000'000}).field("v", 8).partition(name, {100'000});
    app.writes(name);
  }
  app.task("main").variant(cpu().inner());
  app.body({loop(1'000, {launch("t").over({100'000})})});
  const std::string file =
      folder_.write("many_parts.json", application_to_json(app.top_level("main").done()));
  const Outcome outcome =
      run_soon("groma tune --app " + file + " --time 0.2 --command 'true {file}' " +
               "--json --out " + folder_.path() + "/late");
  EXPECT_EQ(outcome.exit_code, 1) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("\"evaluations\":0")) << outcome.err;
  EXPECT_THAT(outcome.out, Not(HasSubstr("\"event\":\"evaluated\"")));
}

// What a program leaves in place of its recording is looked at, not waited for.
TEST_F(HostileApplications, AProgramThatLeavesAPipeIsNotWaitedFor) {
  for (const char* left : {"mkfifo \"$GROMA_RECORD\"", "ln -s /dev/zero \"$GROMA_RECORD\""}) {
    const std::string program = folder_.write(
        "program", std::string("#!/bin/sh\necho 'groma: records, nodes=1,gpu=0,cpu=1' >&2\n"
                               "rm -f \"$GROMA_RECORD\"\n") +
                       left + "\n");
    const Outcome outcome = run_soon("chmod +x " + program + " && timeout 30 groma record --out " +
                                     folder_.path() + "/app.json -- " + program);
    if (outcome.err.find("no library for Legion programs") != std::string::npos) GTEST_SKIP();
    EXPECT_EQ(outcome.exit_code, 1) << left;
    EXPECT_THAT(outcome.err, HasSubstr("the run wrote no recording")) << left;
  }
}

TEST_F(HostileApplications, AreToldWhatMemoryTheyMayHave) {
  const std::string app = file("millions_of_parts").app;
  const std::string needs = "more than 64.0 MiB of memory is needed to simulate it";
  const Outcome run = run_soon("groma run --app " + app + " --memory 64");
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_THAT(run.err, HasSubstr("cannot be run: " + needs + " [cannot-run]"));
  EXPECT_THAT(run.err,
              HasSubstr("help: a smaller machine, fewer pieces, fields or points need less; "
                        "`--memory` allows more\n"));
  const Outcome check =
      run_soon("echo 'Task * CPU;' | groma check - --machine p100x4 --memory 64 --app " + app);
  EXPECT_EQ(check.exit_code, 0);
  EXPECT_THAT(check.out, HasSubstr("was checked: " + needs + " [check-incomplete]"));
  const Outcome diff = run_soon("echo 'Task * CPU;' | groma diff - --memory 64 --app " + app);
  EXPECT_EQ(diff.exit_code, 1);
  EXPECT_THAT(diff.err + diff.out, HasSubstr(needs));
  const Outcome tune = run_soon("groma tune --memory 64 --evaluations 2 --app " + app + " --out " +
                                folder_.path() + "/small");
  EXPECT_EQ(tune.exit_code, 1);
  EXPECT_THAT(read_text(folder_.path() + "/small/report.txt"), HasSubstr(needs));
  for (const char* wrong : {"0", "-1", "x", "9999999999"}) {
    EXPECT_EQ(run_soon("groma run --app cannon --memory " + std::string(wrong)).exit_code, 2);
  }
}

}  // namespace
}  // namespace groma::test
