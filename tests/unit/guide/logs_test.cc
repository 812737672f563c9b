// Logs of real runs on Legion 25.12: what went wrong in each has to be explained first, and nothing
// where nothing did. tests/data/README.md says where they are from.
#include <gtest/gtest.h>

#include <iterator>
#include <nlohmann/json.hpp>
#include <sstream>

#include "groma/guide.h"
#include "support/files.h"

namespace groma {
namespace {

using Json = nlohmann::json;

// Runs that left no text of their cause, and what has to be among the causes that are named. Their
// class is known by the exit code or the time-out alone.
constexpr struct {
  const char* run;
  const char* cause;
} kSilent[] = {
    {"slice.fake_proc", "a processor is named that does not exist"},
    {"map.default_instance", "leaves a region argument or a field without an instance"},
    {"map.chosen_too_short", "map_task returns no list of instances"},
    {"map.missing_field", "a field is missing"},
    {"map.own_oom", "making it failed for lack of memory"},
    {"map.own_oom_unchecked", "making it failed for lack of memory"},
    {"map.abort_forever", "map_task gives up every time"},
    {"rt.old_context", "the fault is in the code of a task or mapper"},
    {"rt.segv", "the fault is in the code of a task or mapper"},
    {"options.fake_proc", "a processor is named that does not exist (in select_task_options"},
    {"epoch.no_instance", "the shared instances of a must-epoch launch"},
    {"select.never", "tasks are held back (InstanceLimit, select_tasks_to_map)"},
    {"select.no_proc", "when a task is relocated"},
    {"select.pingpong", "two mappers relocate it to each other"},
    {"select.both", "a task is mapped and relocated at once"},
    {"reg.fake_proc", "a processor is named that does not exist"},
    {"app.bad_mapper_id", "a launch names a mapper that was never registered"},
    {"task.segv", "the fault is in the code of a task or mapper"},
    {"task.exit", "exit code 3, which the program chose itself"},
    {"startup.bgwork", "no background worker (-ll:bgwork 0)"},
};

std::string silent_cause(const std::string& run) {
  for (const auto& [name, cause] : kSilent) {
    if (run == name) return cause;
  }
  return {};
}

TEST(Logs, AreExplained) {
  const GuideRules rules = std::move(GuideRules::make()).value();
  std::istringstream lines(testing::read_text(testing::in_tree("tests/data/legion_logs.jsonl")));
  int count = 0, silent = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    const Json run = Json::parse(line);
    SCOPED_TRACE(run["name"].get<std::string>());
    GuideContext context;
    if (run.contains("exit")) context.exit_code = run["exit"].get<int>();
    context.timed_out = run.value("timed_out", false);
    const Feedback feedback = guide_log(rules, run["log"].get<std::string>(), context);
    const auto expected = run["expect"].get<std::string>();
    if (expected.empty()) {
      EXPECT_TRUE(feedback.matches.empty()) << feedback.matches.front().rule;
      EXPECT_TRUE(feedback.explain.empty()) << feedback.explain.front();
      EXPECT_EQ(feedback.status, Feedback::Status::kOk);
      continue;
    }
    ASSERT_FALSE(feedback.matches.empty());
    EXPECT_EQ(feedback.matches.front().rule, expected);
    EXPECT_FALSE(feedback.explain.empty());
    EXPECT_EQ(feedback.status == Feedback::Status::kError, context.exit_code != 0);
    const std::string cause = silent_cause(run["name"].get<std::string>());
    EXPECT_EQ(expected.starts_with("silent."), !cause.empty());
    if (cause.empty()) continue;
    ++silent;
    EXPECT_NE(feedback.explain.front().find(cause), std::string::npos) << feedback.explain.front();
    std::string advice;
    for (const std::string& one : feedback.suggest) advice += one;
    EXPECT_NE(advice.find("-lg:safe_mapper"), std::string::npos) << advice;
  }
  EXPECT_EQ(count, 178);
  EXPECT_EQ(silent, static_cast<int>(std::size(kSilent)));
}

}  // namespace
}  // namespace groma
