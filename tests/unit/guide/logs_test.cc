// Logs of real runs on Legion 25.12: what went wrong in each has to be explained first, and nothing
// where nothing did. tests/data/README.md says where they are from.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <re2/re2.h>

#include <functional>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>

#include "groma/guide.h"
#include "support/files.h"
#include "support/guide_rules.h"

namespace groma {
namespace {

using test::rules;

using Json = nlohmann::json;

// Runs that left no text of their cause, and what has to be among the causes that are named. Their
// class is known by the exit code or the time-out alone.
constexpr struct {
  const char* run;
  const char* cause;
} kSilent[] = {
    {"slice.fake_proc", "names a processor that does not exist"},
    {"map.default_instance", "leaves a region argument or a field without an instance"},
    {"map.chosen_too_short", "returns no list of instances"},
    {"map.missing_field", "a field is missing"},
    {"map.own_oom", "making it failed for lack of memory"},
    {"map.own_oom_unchecked", "making it failed for lack of memory"},
    {"map.abort_forever", "map_task of a mapper in C++ gives up every time"},
    {"rt.old_context", "the code of a task reads or writes memory that is not its own"},
    {"rt.segv", "the code of a task reads or writes memory that is not its own"},
    {"options.fake_proc", "select_task_options, slice_task or select_tasks_to_map"},
    {"epoch.no_instance", "the shared region of a must-epoch launch"},
    {"select.never", "select_tasks_to_map of a mapper in C++ holds tasks back"},
    {"select.no_proc", "a utility processor or none"},
    {"select.pingpong", "two mappers in C++ relocate a task to each other"},
    {"select.both", "one maps and relocates a task at once"},
    {"reg.fake_proc", "names a processor that does not exist"},
    {"app.bad_mapper_id", "names a mapper that was never registered"},
    {"task.segv", "the code of a task reads or writes memory that is not its own"},
    {"task.exit", "exit code 3, which the program chose itself"},
    {"startup.bgwork", "no background worker (-ll:bgwork 0)"},
};

std::string silent_cause(const std::string& run) {
  for (const auto& [name, cause] : kSilent) {
    if (run == name) return cause;
  }
  return {};
}

struct RecordedRun {
  std::string name, expect, log;
  GuideContext context;  // how it ended
};

std::vector<RecordedRun> recorded_runs() {
  std::vector<RecordedRun> runs;
  std::istringstream lines(testing::read_text(testing::in_tree("tests/data/legion_logs.jsonl")));
  for (std::string line; std::getline(lines, line);) {
    const Json run = Json::parse(line);
    RecordedRun& one = runs.emplace_back(RecordedRun{run["name"], run["expect"], run["log"], {}});
    if (run.contains("exit")) one.context.exit_code = run["exit"].get<int>();
    one.context.timed_out = run.value("timed_out", false);
  }
  return runs;
}

TEST(Logs, AreExplained) {
  int silent = 0;
  const std::vector<RecordedRun> runs = recorded_runs();
  for (const RecordedRun& run : runs) {
    SCOPED_TRACE(run.name);
    const GuideFeedback feedback = guide_log(rules(), run.log, run.context);
    if (run.expect.empty()) {
      EXPECT_TRUE(feedback.matches.empty()) << feedback.matches.front().rule;
      EXPECT_TRUE(feedback.explain.empty()) << feedback.explain.front();
      EXPECT_EQ(feedback.status, GuideFeedback::Status::kOk);
      continue;
    }
    ASSERT_FALSE(feedback.matches.empty());
    EXPECT_EQ(feedback.matches.front().rule, run.expect);
    EXPECT_FALSE(feedback.explain.empty());
    EXPECT_EQ(feedback.status == GuideFeedback::Status::kError, run.context.exit_code != 0);
    const std::string cause = silent_cause(run.name);
    EXPECT_EQ(run.expect.starts_with("silent."), !cause.empty());
    if (cause.empty()) continue;
    ++silent;
    std::string explained;
    for (const std::string& one : feedback.explain) explained += one + "\n";
    EXPECT_NE(explained.find(cause), std::string::npos) << explained;
    std::string advice;
    for (const std::string& one : feedback.suggest) advice += one;
    EXPECT_NE(advice.find("-lg:safe_mapper"), std::string::npos) << advice;
  }
  EXPECT_EQ(runs.size(), 178U);
  EXPECT_EQ(silent, static_cast<int>(std::size(kSilent)));
}

// ------------------------------------------------------------------- the same mistakes in other
// runs

using Change = std::function<std::string(std::string)>;

Change replacing(const char* pattern, std::string by) {
  return [pattern = std::make_shared<RE2>(pattern), by = std::move(by)](std::string log) {
    EXPECT_TRUE(pattern->ok());
    RE2::GlobalReplace(&log, *pattern, by);
    return log;
  };
}

// Every line begins so, as launchers of several processes have it.
Change tagging(const char* tag) { return replacing("(?m)^", tag); }

// Another process, which is well, writes between.
std::string among_others(const std::string& log) {
  std::istringstream lines(log);
  std::string made;
  for (std::string line; std::getline(lines, line);) {
    made += line +
            "\n[1 - 7f17a9abc000]    0.152855 {2}{task}: task 0x55d863503760 created: func=0 "
            "proc=1d00000000000001 arglen=0 before=0 after=8000000000100008\nstep 3 of 7: ok\n"
            "[2 - 7f1d47ab2000]    0.000056 {4}{threads}: reservation ('utility proc "
            "1d00000000000000') cannot be satisfied\n";
  }
  return made;
}

TEST(Logs, AreExplainedHoweverTheyDiffer) {
  const struct {
    const char* what;
    Change change;
    int differ = 0;  // of which the most frequent warning is another
  } kChanges[] = {
      {"line ends", replacing("\n", "\r\n")},
      {"no line ends", replacing("\n", ""), 1},
      {"no colours", replacing("\x1b\\[[0-9;]*m", "")},
      {"colours", replacing(R"((\w+))", "\x1b[1;31m\\1\x1b[0m")},
      {"colours in words", replacing(R"((\w)(\w))", "\\1\x1b[0m\\2")},
      {"mpirun --tag-output", tagging("[1,3]<stderr>:")},
      {"srun -l", tagging("12: ")},
      {"time stamps", tagging("2026-01-31T03:04:05.678Z ")},
      {"other processes", among_others},
      {"no prefix", replacing(R"(\[\d+ - [0-9a-f]+\] +[\d.]+ \{\d\}\{\w+\}: )", "")},
      {"another node", replacing(R"(\[0 - 7f(\w+)\] +\d+(\.\d+))", R"([137 - 2aaa7f\1] 98765\2)")},
      {"names", replacing(R"(\b(?:work|reduce_cells|top|produce|gpu_kernel|io_task)( ?\(U?ID))",
                          R"(ns::Solver<double,3>.step-2\1)")},
      {"names with spaces", replacing(R"(\b(?:work|top)( ?\(U?ID))", R"(sum of (two) terms\1)")},
      {"mappers", replacing("case_mapper", "My Mapper 2.0")},
      {"operations", replacing(R"((UID:? )([1-9]))", R"(\1471\2)")},
      {"requirements", replacing(R"((requirement )(\d))", R"(\1 3\2)")},
      {"memories", replacing(R"(\b1([de])000000000000(\w\w)\b)", R"(1\1000a0000001f\2)")},
      {"places", replacing(R"((\.cc|\.h|\.inl):\d+)", R"(\1:99999)")},
      {"paths", replacing("(?:legion|realm)-src/", "/home/me/my legion 26/")},
      {"program", replacing("(?m)^app: ", "/scratch/run_7/bin/my_app.exe: ")},
      {"twice", [](const std::string& log) { return log + "\n" + log; }},
      {"more after it", [](const std::string& log) { return log + "\nsome words\nmore words\n"; }},
      {"quotation marks", replacing("['`]", "\xe2\x80\x99")},
      {"an older release", replacing("LEGION [A-Z ]+EXCEPTION: ", "LEGION ERROR: ")},
      {"NUL bytes", replacing(" ", std::string(" \0", 2))},
      {"double spaces", replacing(" ", "  ")},
      {"forgotten spaces", replacing("([a-z]) ([a-z])", R"(\1\2)")},
  };
  const std::vector<RecordedRun> runs = recorded_runs();
  for (const auto& [what, change, differ] : kChanges) {
    int others = 0;
    std::string names;
    for (const RecordedRun& run : runs) {
      const GuideFeedback feedback = guide_log(rules(), change(run.log), run.context);
      const std::string found = feedback.matches.empty() ? "" : feedback.matches.front().rule;
      if (found == run.expect && feedback.explain.empty() == run.expect.empty()) continue;
      ++others;
      names += fmt::format("{}: {}, not {}\n", run.name, found, run.expect);
    }
    EXPECT_EQ(others, differ) << what << "\n" << names;
  }
}

}  // namespace
}  // namespace groma
