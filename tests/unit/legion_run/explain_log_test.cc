// explain_log: what LoggingWrapper wrote of a real run (tests/legion/stranger.cc, `logged`), as it
// is and changed, against mappings.
#include "groma/explain_log.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <random>
#include <string>

#include "groma/io.h"

namespace groma {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using State = LoggedStatement::State;

constexpr std::string_view kThread = "[0 - 7f54a8f1a000]    3.823930 {2}{mapper}: ";

std::string prefixed(std::string_view lines, std::string_view thread = kThread) {
  std::string text;
  while (!lines.empty()) {
    const std::size_t end = lines.find('\n');
    text += fmt::format("{}{}\n", thread, lines.substr(0, end));
    lines.remove_prefix(end + 1);
  }
  return text;
}

constexpr std::string_view kMachine =
    "Memories on rank 0:\n"
    "  1e00000000000000 (SYSTEM_MEM): 536870912 bytes\n"
    "  1e00000000000001 (SYSTEM_MEM): 0 bytes\n"
    "  1e00000000000002 (FILE_MEM): 0 bytes\n"
    "  1e00000000000003 (REGDMA_MEM): 1048576 bytes\n"
    "Processors on rank 0:\n"
    "  1d00000000000000 (UTIL_PROC) can see 1e00000000000000(bw=100) 1e00000000000001(bw=100)\n"
    "  1d00000000000001 (LOC_PROC) can see 1e00000000000000(bw=100) 1e00000000000001(bw=100)\n"
    "  1d00000000000002 (LOC_PROC) can see 1e00000000000000(bw=100) 1e00000000000001(bw=100)\n";

constexpr std::string_view kRun =
    "SELECT_TASK_OPTIONS for top<2>: initial_proc=1d00000000000001\n"
    "MAP_TASK for top<2>\n"
    "  TARGET PROCS: 1d00000000000001 \n"
    "  CHOSEN INSTANCES:\n"
    "  MEMORY POOLS:\n"
    "SELECT_TASK_OPTIONS for write<17>: initial_proc=1d00000000000001\n"
    "SLICE_TASK for write<17>\n"
    "  <0>..<1> -> 1d00000000000002\n"
    "MAP_TASK for write(index_point=(0))<20> @ a program.cc:12\n"
    "  TARGET PROCS: 1d00000000000002 \n"
    "  CHOSEN INSTANCES:\n"
    "    "
    "Requirement[0](privilege=WRITE_DISCARD,region=(27,(39,3),26),domain=<0>..<4>,fields=10+11)\n"
    "      Instance[4000000000000000](region=(27,*,26),memory=1e00000000000000,domain=<0>..<9>,"
    "fields=10,layout=SoA:YX)\n"
    "  MEMORY POOLS:\n"
    "MAP_TASK for write(index_point=(1))<21>\n"
    "  TARGET PROCS: 1d00000000000002 \n"
    "  CHOSEN INSTANCES:\n"
    "    "
    "Requirement[0](privilege=WRITE_DISCARD,region=(27,(40,3),26),domain=<5>..<9>,fields=10+11)\n"
    "      Instance[4000000000000000](region=(27,*,26),memory=1e00000000000000,domain=<0>..<9>,"
    "fields=10,layout=SoA:YX)\n"
    "  MEMORY POOLS:\n";

std::string whole() { return prefixed(kMachine) + prefixed(kRun); }

Result<MapperLog> read(std::string_view text) {
  MapperLogReader reader;
  reader.read(text);
  return reader.finish();
}

// Of several processes, one behind the other.
TEST(MapperLog, BrokeOffWhereOneOfItsRunsDid) {
  const std::string begun = "RUN begins\n" + whole(), ended = begun + "RUN ends\n";
  EXPECT_FALSE(read(whole())->broken_off);
  EXPECT_FALSE(read(ended + ended)->broken_off);
  EXPECT_TRUE(read(begun)->broken_off);
  EXPECT_TRUE(read(begun + ended)->broken_off);
  EXPECT_TRUE(read(ended + begun)->broken_off);
}

struct Judged {
  Program program;
  LogExplanation explanation;
  Diagnostics diags;
  const LoggedStatement& at(std::size_t i) const { return explanation.statements.at(i); }
};

Judged judge(const std::string& mapping, const MapperLog& log, const Workload* app = nullptr) {
  const Source source("a.mapper", mapping);
  Diagnostics diags(source);
  Program program = compile(source, diags);
  EXPECT_FALSE(diags.has_errors()) << render(diags);
  LogExplanation made = explain_log(program, log, "run.log", app, diags);
  return {std::move(program), std::move(made), std::move(diags)};
}

TEST(MapperLog, ReadsWhatWasMapped) {
  const auto log = read(whole());
  ASSERT_TRUE(log.ok());
  EXPECT_EQ(log->mapped, 3);
  EXPECT_EQ(log->unreadable, 0);
  ASSERT_EQ(log->tasks.size(), 2U);
  EXPECT_EQ(log->tasks[1].name, "write");
  EXPECT_EQ(log->tasks[1].count, 2);
  EXPECT_EQ(log->tasks[1].kind, ProcKind::kCpu);
  ASSERT_EQ(log->data.size(), 1U);
  EXPECT_EQ(log->data[0].count, 2);
  EXPECT_EQ(log->data[0].memory, MemKind::kSysmem);
  EXPECT_EQ(log->data[0].layout, "SoA:YX");
  EXPECT_FALSE(log->data[0].has_names);
  ASSERT_EQ(log->points.size(), 2U);
  EXPECT_EQ(log->points[1].processor, (Processor{ProcKind::kCpu, 0, 1}));
  ASSERT_TRUE(log->machine);
  EXPECT_TRUE(log->machine->has(ProcKind::kCpu));
  EXPECT_FALSE(log->machine->has(ProcKind::kGpu));
}

TEST(MapperLog, PiecesAndInterleavedThreadsAreOne) {
  const auto whole_log = read(whole());
  MapperLogReader reader;
  for (const char c : whole()) reader.read({&c, 1});
  EXPECT_EQ(reader.finish()->mapped, whole_log->mapped);
  // Each line of one thread behind one of the other.
  const std::string a = prefixed(kRun), b = prefixed(kRun, "[0 - 1]  0.1 {2}{mapper}: ");
  std::string both = prefixed(kMachine);
  for (std::size_t i = 0, j = 0; i < a.size();) {
    const std::size_t end_a = a.find('\n', i) + 1, end_b = b.find('\n', j) + 1;
    both += a.substr(i, end_a - i) + b.substr(j, end_b - j);
    i = end_a;
    j = end_b;
  }
  const auto log = read(both);
  ASSERT_TRUE(log.ok());
  EXPECT_EQ(log->mapped, 6);
  EXPECT_EQ(log->unreadable, 0);
  EXPECT_EQ(log->data[0].count, 4);
}

TEST(ExplainLog, SaysWhatBecameOfEachStatement) {
  const auto log = read(whole());
  const Judged judged = judge(
      "Task * CPU;\n"
      "Task write GPU;\n"
      "Region * 0 CPU SYSMEM;\n"
      "Region write 0 CPU RDMEM;\n"
      "Layout * * * C_order;\n"
      "Task nobody CPU;\n"
      "InstanceLimit write 2;\n"
      "ControlReplicate top;\n",
      *log);
  EXPECT_EQ(judged.at(0).state, State::kActed);  // of `top`
  EXPECT_EQ(judged.at(0).acted, 1);
  EXPECT_EQ(judged.at(1).state, State::kNotHonoured);
  EXPECT_EQ(judged.at(1).refused, 2);
  EXPECT_EQ(judged.at(1).differences.at(0).wanted, "GPU");
  EXPECT_EQ(judged.at(1).differences.at(0).got, "CPU");
  EXPECT_EQ(judged.at(2).state, State::kActed);
  EXPECT_EQ(judged.at(2).acted, 2);
  EXPECT_EQ(judged.at(3).state, State::kNotHonoured);
  EXPECT_EQ(judged.at(3).differences.at(0).wanted, "RDMEM");
  EXPECT_EQ(judged.at(3).differences.at(0).got, "SYSMEM");
  EXPECT_EQ(judged.at(4).state, State::kNotHonoured);
  EXPECT_EQ(judged.at(4).differences.at(0).got, "SOA F_order");
  EXPECT_EQ(judged.at(5).state, State::kUnmatched);
  EXPECT_EQ(judged.at(6).state, State::kNotShown);
  EXPECT_EQ(judged.at(7).state, State::kNotHonoured);
}

TEST(ExplainLog, TheSameDifferenceIsCountedTogether) {
  const auto log = read(whole());
  const Judged judged = judge("Task * GPU;\n", *log);  // `top` runs once, `write` twice
  EXPECT_EQ(judged.at(0).state, State::kNotHonoured);
  EXPECT_EQ(judged.at(0).refused, 3);
  ASSERT_EQ(judged.at(0).differences.size(), 1U);
  EXPECT_EQ(judged.at(0).differences[0].count, 3);
  EXPECT_THAT(
      draw(judged.explanation, judged.program),
      HasSubstr("    It says GPU, but the run took CPU 3 times, for example for top <2>\n"));
}

// "SoA:YX" says nothing of these; of the order it does.
TEST(ExplainLog, AlignmentExactnessAndCompactnessAreNotShown) {
  const auto log = read(whole());
  for (const char* layout : {"F_order Align==4096", "Exact", "Compact"}) {
    const Judged judged = judge("Layout * * * " + std::string(layout) + ";\n", *log);
    EXPECT_EQ(judged.at(0).state, State::kNotShown) << layout;
  }
  EXPECT_EQ(judge("Layout * * * C_order Exact;\n", *log).at(0).state, State::kNotHonoured);
}

TEST(ExplainLog, OverruledIsNotUnmatched) {
  const auto log = read(whole());
  const Judged judged = judge("Task write CPU;\nTask top CPU;\nTask * IO;\n", *log);
  EXPECT_EQ(judged.at(0).state, State::kActed);
  EXPECT_EQ(judged.at(2).state, State::kOverruled);
}

TEST(ExplainLog, NoWarningIsOfWhatIsNotRead) {
  const auto log = read(whole());
  const Judged judged = judge(
      "Region * * CPU SYSMEM;\nm = Machine(CPU);\ndef f(Task t) { return m[0, 0]; }\n"
      "IndexTaskMap write f;\n",
      *log);
  EXPECT_TRUE(judged.diags.all().empty()) << render(judged.diags);
}

TEST(ExplainLog, HoldsPointsToTheirFunctions) {
  const auto log = read(whole());
  constexpr std::string_view kFunctions =
      "m = Machine(CPU);\n"
      "def last(Task task) { return m[0, 1]; }\n"
      "def spread(Task task) { return m[0, task.ipoint[0]]; }\n";
  const Judged last = judge(std::string(kFunctions) + "IndexTaskMap write last;\n", *log);
  EXPECT_EQ(last.at(0).state, State::kActed);
  EXPECT_EQ(last.at(0).acted, 2);
  const Judged spread = judge(std::string(kFunctions) + "IndexTaskMap write spread;\n", *log);
  EXPECT_EQ(spread.at(0).state, State::kNotHonoured);
  EXPECT_EQ(spread.at(0).acted, 1);
  EXPECT_EQ(spread.at(0).refused, 1);
  EXPECT_EQ(spread.at(0).differences.at(0).wanted, "CPU (0, 0)");
  EXPECT_EQ(spread.at(0).differences.at(0).got, "CPU (0, 1)");
}

// ---- What `groma run --log` writes

constexpr std::string_view kTwoNodes =
    "Memories on rank 0:\n"
    "  1e00000000000000 (SYSTEM_MEM): 536870912 bytes\n"
    "Memories on rank 1:\n"
    "  1e00010000000000 (SYSTEM_MEM): 536870912 bytes\n"
    "Processors on rank 0:\n"
    "  1d00000000000001 (LOC_PROC)\n"
    "Processors on rank 1:\n"
    "  1d00010000000001 (LOC_PROC)\n";
constexpr const char* kByNode =
    "m = Machine(CPU);\n"
    "def node(Task task) { return m[task.ipoint[0] * m.size[0] / task.ispace[0], 0]; }\n"
    "IndexTaskMap write node;\n";

// A point of `write`, as our log has it.
std::string mapped(int point, int uid, const std::string& launch, int node) {
  return fmt::format(
      "MAP_TASK for write(index_point=({}))<{}>\n  LAUNCH {}\n  TARGET PROCS: 1d000{}0000000001\n",
      point, uid, launch, node);
}

// The points of a launch that was cut by shards are in the logs of both processes.
TEST(ExplainLog, HoldsPointsOfSeveralProcessesToTheirFunctions) {
  const std::string first = "RUN begins\n" + std::string(kTwoNodes) +
                            "MAP_REPLICATE_TASK for top<2>\n"
                            "SLICE_TASK for write<20>\n  LAUNCH <0>..<3>\n  <0>..<1> -> "
                            "1d00000000000001\n" +
                            mapped(0, 30, "<0>..<3>", 0) + mapped(1, 32, "<0>..<3>", 0) +
                            "RUN ends\n";
  const std::string second = "RUN begins\n" + std::string(kTwoNodes) +
                             mapped(2, 11, "<0>..<3>", 1) + mapped(3, 13, "<0>..<3>", 0) +
                             "RUN ends\n";
  MapperLogReader reader;
  EXPECT_EQ(reader.missing_processes(), 0);
  reader.read(first);
  EXPECT_EQ(reader.missing_processes(), 1);
  reader.read(second);
  EXPECT_EQ(reader.missing_processes(), 0);
  const auto log = reader.finish();
  ASSERT_TRUE(log.ok());
  const Judged judged = judge(kByNode, *log);
  EXPECT_EQ(judged.at(0).state, State::kNotHonoured);
  EXPECT_EQ(judged.at(0).acted, 3);
  EXPECT_EQ(judged.at(0).refused, 1);
  EXPECT_EQ(judged.at(0).differences.at(0).wanted, "CPU (1, 0)");
}

// The ranks of a sparse launch are known if the log has all of its points.
TEST(ExplainLog, HoldsPointsOfSparseLaunchesToTheirRanks) {
  const std::string function =
      "m = Machine(CPU);\n"
      "def rank(Task task) { return m[task.irank * m.size[0] / task.ivolume, 0]; }\n"
      "IndexTaskMap write rank;\n";
  const std::string launch = "<0>..<8> OF 4 e000000000000001";
  const std::string begin = "RUN begins\n" + std::string(kTwoNodes);
  // The points 0, 1, 2 and 8 have the ranks 0 to 3.
  const std::string three =
      mapped(0, 30, launch, 0) + mapped(1, 31, launch, 0) + mapped(2, 32, launch, 1);
  const Judged all =
      judge(function, *read(begin + three + mapped(8, 33, launch, 1) + "RUN ends\n"));
  EXPECT_EQ(all.at(0).state, State::kActed);
  EXPECT_EQ(all.at(0).acted, 4);
  const Judged wrong =
      judge(function, *read(begin + three + mapped(8, 33, launch, 0) + "RUN ends\n"));
  EXPECT_EQ(wrong.at(0).state, State::kNotHonoured);
  EXPECT_EQ(wrong.at(0).refused, 1);
  const Judged some = judge(function, *read(begin + three + "RUN ends\n"));
  EXPECT_EQ(some.at(0).state, State::kNotShown);
  EXPECT_EQ(some.at(0).why, "the log does not list all points of a sparse launch");
  // Another launch over the same box has points of its own.
  const std::string other = "<0>..<8> OF 1 e000000000000002";
  const Judged two = judge(function, *read(begin + three + mapped(8, 33, launch, 1) +
                                           mapped(5, 34, other, 0) + "RUN ends\n"));
  EXPECT_EQ(two.at(0).acted, 5);
  for (const char* text :
       {"<0>..<8> OF 10 e1", "<0>..<8> OF -1 e1", "<0>..<8> OF 4", "<0>..<8> OF"}) {
    EXPECT_EQ(read(begin + mapped(0, 30, text, 0) + "RUN ends\n")->unreadable, 1) << text;
  }
}

// LoggingWrapper shows slices only. The box around them may have more points than the launch, so
// that nothing is said about ranks. A function that reads points only is judged as before.
TEST(ExplainLog, RanksAreNotJudgedBySlices) {
  const std::string text = std::string(kTwoNodes) +
                           "SLICE_TASK for write<20>\n  <0>..<2> -> 1d00000000000001\n"
                           "  <8>..<8> -> 1d00000000000001\n" +
                           "MAP_TASK for write(index_point=(8))<30>\n"
                           "  TARGET PROCS: 1d00010000000001\n";
  const std::string function =
      "m = Machine(CPU);\n"
      "def place(Task task) {{ return m[{}, 0]; }}\n"
      "IndexTaskMap write place;\n";
  const Judged by_rank = judge(
      fmt::format(fmt::runtime(function), "task.irank * m.size[0] / task.ivolume"), *read(text));
  EXPECT_EQ(by_rank.at(0).state, State::kNotShown);
  EXPECT_THAT(by_rank.at(0).why, HasSubstr("shows only slices of it"));
  const Judged by_point =
      judge(fmt::format(fmt::runtime(function), "task.ipoint[0] / 8"), *read(text));
  EXPECT_EQ(by_point.at(0).state, State::kActed);
  EXPECT_EQ(by_point.at(0).acted, 1);
}

// A point is held to the launch that it is of, whichever others are under way.
TEST(ExplainLog, LaunchesOfOneTaskInFlight) {
  const std::string slices =
      "SLICE_TASK for write<20>\n  <0>..<3> -> 1d00000000000001\n"
      "SLICE_TASK for write<21>\n  <0>..<1> -> 1d00000000000001\n";
  const std::string ours =
      "RUN begins\n" + std::string(kTwoNodes) + slices + mapped(0, 30, "<0>..<3>", 0) +
      mapped(1, 31, "<0>..<3>", 0) + mapped(1, 32, "<0>..<1>", 1) + mapped(2, 33, "<0>..<3>", 1) +
      mapped(0, 34, "<0>..<1>", 0) + mapped(3, 35, "<0>..<3>", 1) + "RUN ends\n";
  const Judged judged = judge(kByNode, *read(ours));
  EXPECT_EQ(judged.at(0).state, State::kActed);
  EXPECT_EQ(judged.at(0).acted, 6);
  // LoggingWrapper does not say of which launch a point is: then no point is judged of which both
  // launches may be.
  std::string foreign;
  for (std::size_t begin = 0; begin < ours.size();) {
    const std::size_t end = ours.find('\n', begin) + 1;
    const std::string line = ours.substr(begin, end - begin);
    begin = end;
    if (line.find("LAUNCH") == line.npos && line.find("RUN") == line.npos) foreign += line;
  }
  const Judged guessed = judge(kByNode, *read(foreign));
  EXPECT_EQ(guessed.at(0).state, State::kActed);
  EXPECT_EQ(guessed.at(0).acted, 2);  // 2 and 3, which are of the first launch alone
}

TEST(ExplainLog, WhatCannotBeReplicatedIsNotMissed) {
  const std::string run = std::string(kTwoNodes) +
                          "SELECT_TASK_OPTIONS for top<2>: initial_proc=1d00000000000001 "
                          "replicate=true replicable=true\n"
                          "SELECT_TASK_OPTIONS for write<17>: initial_proc=1d00000000000001 "
                          "replicable=false\n" +
                          mapped(0, 30, "<0>..<1>", 0);
  const auto log = read("RUN begins\n" + run + "RUN ends\n");
  const Judged all = judge("ControlReplicate *;\n", *log);
  EXPECT_EQ(all.at(0).state, State::kActed);
  EXPECT_EQ(all.at(0).acted, 1);
  const Judged named = judge("ControlReplicate write;\n", *log);
  EXPECT_EQ(named.at(0).state, State::kNotHonoured);
  EXPECT_EQ(named.at(0).differences.at(0).got, "not replicated");
  EXPECT_EQ(named.at(0).differences.at(0).kind,
            LoggedStatement::Difference::Kind::kCannotReplicate);
  // In a log that does not say it nothing is missed either.
  const auto foreign = read(whole());
  EXPECT_EQ(judge("ControlReplicate *;\n", *foreign).at(0).state, State::kNotShown);
  EXPECT_EQ(judge("ControlReplicate top;\n", *foreign).at(0).state, State::kNotHonoured);
}

TEST(ExplainLog, StolenPointsAreTaskSteals) {
  const std::string run = "RUN begins\n" + std::string(kTwoNodes) +
                          "SELECT_TASKS_TO_MAP\n  RELOCATE write<25> -> 1d00010000000001\n" +
                          mapped(0, 30, "<0>..<3>", 1) + mapped(1, 31, "<0>..<3>", 0) +
                          mapped(2, 32, "<0>..<3>", 1) + mapped(3, 33, "<0>..<3>", 1) +
                          "RUN ends\n";
  const Judged judged = judge(std::string(kByNode) + "TaskSteal * CPU ANY_NODE;\n", *read(run));
  EXPECT_EQ(judged.at(0).state, State::kActed);
  EXPECT_EQ(judged.at(0).acted, 3);
  EXPECT_EQ(judged.at(1).state, State::kActed);
  EXPECT_EQ(judged.at(1).acted, 1);
  // What did not move is held to its function, and without a statement so is what did.
  EXPECT_EQ(judge(kByNode, *read(run)).at(0).state, State::kNotHonoured);
  const std::string nothing_moved =
      "RUN begins\n" + std::string(kTwoNodes) + mapped(0, 30, "<0>..<3>", 0) + "RUN ends\n";
  const Judged idle =
      judge(std::string(kByNode) + "TaskSteal * CPU ANY_NODE;\n", *read(nothing_moved));
  EXPECT_EQ(idle.at(1).state, State::kNotShown);
  EXPECT_EQ(idle.at(1).why, "nothing was stolen");
}

TEST(ExplainLog, NamesOfRegionsComeFromTheLogOrTheApplication) {
  const std::string mapping = "Region write cells CPU SYSMEM;\n";
  const auto nameless = read(whole());
  EXPECT_EQ(judge(mapping, *nameless).at(0).state, State::kNotShown);
  const auto app = Workload::make(application_from_json(
                                      R"({"top_level": "top", "tasks": [
              {"name": "top", "variants": [{"kind": "CPU"}], "body": [{"launch": "write", "domain": [2]}]},
              {"name": "write", "variants": [{"kind": "CPU"}],
               "requirements": [{"names": ["cells"], "privilege": "read-write"}]}]})",
                                      "app")
                                      .value());
  ASSERT_TRUE(app.ok());
  EXPECT_EQ(judge(mapping, *nameless, &*app).at(0).state, State::kActed);
  std::string named = whole();
  for (std::size_t at = 0; (at = named.find("fields=10+11)\n", at)) != named.npos;) {
    at += 14;
    named.insert(at, prefixed("      NAMES \"pieces\" \"cells\"\n"));
  }
  const auto log = read(named);
  EXPECT_EQ(judge(mapping, *log).at(0).state, State::kActed);
  EXPECT_EQ(judge("Region write other CPU SYSMEM;\n", *log).at(0).state, State::kUnmatched);
}

TEST(ExplainLog, TextAndJson) {
  const auto log = read(whole());
  const Judged judged = judge("Task write GPU;\nTask nobody CPU;\n", *log);
  const std::string text = draw(judged.explanation, judged.program);
  EXPECT_THAT(text, HasSubstr("run.log: 3 tasks and 2 regions mapped\n"));
  EXPECT_THAT(text,
              HasSubstr("Statements that were not honoured:\n  a.mapper:1:1: Task write GPU"));
  EXPECT_THAT(text, HasSubstr("    It says GPU, but the run took CPU 2 times, for example for "
                              "write (0) <20>\n"));
  EXPECT_THAT(text, HasSubstr("nothing in the run matches:\n  a.mapper:2:1: Task nobody CPU"));
  const auto json =
      nlohmann::json::parse(to_json(judged.explanation, nullptr, judged.program, judged.diags));
  const auto& statements = json.at("log").at("statements");
  EXPECT_EQ(statements.at(0).at("state"), "not-honoured");
  EXPECT_EQ(statements.at(0).at("statement").at("line"), 1);
  EXPECT_EQ(statements.at(1).at("state"), "unmatched");
  EXPECT_EQ(json.at("log").at("tasks"), 3);
}

TEST(ExplainLog, EveryDifferenceIsASentence) {
  using Difference = LoggedStatement::Difference;
  using Kind = Difference::Kind;
  const Judged judged = judge("Task write GPU;\n", *read(whole()));
  const auto drawn = [&](const Difference& difference) {
    LogExplanation log = judged.explanation;
    log.statements.at(0).differences = {difference};
    std::string text = draw(log, judged.program);
    text.pop_back();
    return text.substr(text.rfind('\n') + 1);
  };
  const auto says = [&](std::string_view wanted, std::string_view got, Kind kind) {
    return Difference{std::string(wanted), std::string(got), 2, "write (0) <20>", kind};
  };
  // What Judge says of kinds of processors, memories, layouts and processors.
  for (const std::string_view wanted : {"GPU, OMP", "RDMEM", "SOA C_order", "CPU (0, 0)"}) {
    for (const std::string_view got :
         {"CPU", "a utility processor", "another memory", "AOS F_order", "CPU (0, 1)"}) {
      EXPECT_EQ(drawn(says(wanted, got, Kind::kOtherValue)),
                fmt::format("    It says {}, but the run took {} 2 times, for example for write "
                            "(0) <20>",
                            wanted, got));
    }
  }
  EXPECT_EQ(drawn(says("replicated", "not replicated", Kind::kNotReplicated)),
            "    A task that it names was not replicated 2 times, for example write (0) <20>");
  EXPECT_EQ(drawn(says("replicated", "not replicated", Kind::kCannotReplicate)),
            "    Legion could not replicate a task that it names 2 times, for example write (0) "
            "<20>");
  EXPECT_EQ(drawn({"GPU", "CPU", 1, "top", Kind::kOtherValue}),
            "    It says GPU, but the run took CPU 1 time, for example for top");
}

// ---- Logs that are none, or foreign.

TEST(MapperLog, ALogWithoutTasksIsAnErrorWithACure) {
  for (const std::string& text :
       {std::string(), std::string("hello\nworld\n"), prefixed(kMachine)}) {
    const auto log = read(text);
    ASSERT_FALSE(log.ok());
    EXPECT_THAT(log.error().help, HasSubstr("groma run --map FILE --log LOG"));
  }
  const auto no_machine = read(prefixed(kRun));
  ASSERT_FALSE(no_machine.ok());
  EXPECT_THAT(no_machine.error().message, HasSubstr("processors"));
}

TEST(MapperLog, LinesThatCannotBeReadAreCounted) {
  const auto log =
      read(whole() + prefixed("MAP_TASK for \nSLICE_TASK for x<1>\n  nonsense -> 1\n") +
           std::string(1 << 20, 'x') + "\n" + prefixed(kRun));
  ASSERT_TRUE(log.ok());
  EXPECT_EQ(log->unreadable, 3);
  EXPECT_EQ(log->mapped, 6);
}

TEST(MapperLog, ManyThingsAreBounded) {
  std::string text = prefixed(kMachine);
  for (std::size_t i = 0; i < kMaxLogEntries + 10; ++i) {
    text += fmt::format("MAP_TASK for t{}<{}>\n  TARGET PROCS: 1d00000000000001\n", i, i);
  }
  const auto log = read(text);
  ASSERT_TRUE(log.ok());
  EXPECT_EQ(log->tasks.size(), kMaxLogEntries);
  EXPECT_EQ(log->left_out, 10);
}

// However many things there are, their names take no more than this.
TEST(MapperLog, LongNamesAreBounded) {
  constexpr std::size_t kEach = 4096;
  const std::size_t kept = kMaxLogNames / (3 * kEach), most = kept + 5;
  std::string text = prefixed(kMachine);
  for (std::size_t i = 0; i < most; ++i) {
    text += fmt::format("MAP_TASK for {:0{}}<{}>\n  TARGET PROCS: 1d00000000000001\n", i, kEach, i);
  }
  const auto log = read(text);
  ASSERT_TRUE(log.ok());
  EXPECT_EQ(log->tasks.size(), kept);
  EXPECT_EQ(log->left_out, 5);
  const auto longer = read(prefixed(kMachine) + prefixed(kRun) + "MAP_TASK for " +
                           std::string(kEach + 1, 't') + "<1>\n");
  ASSERT_TRUE(longer.ok());
  EXPECT_EQ(longer->unreadable, 1);
}

// Boxes that no box is, and points beyond one, by numbers at the ends of their range.
TEST(MapperLog, NumbersAtTheirEndsDoNotWrap) {
  const std::string before = prefixed(kMachine) + prefixed(kRun);
  const auto with = [&](const std::string& slices, const std::string& point) {
    return read(before + "SLICE_TASK for wide<40>\n" + slices + "MAP_TASK for wide(index_point=(" +
                point + "))<41>\n  TARGET PROCS: 1d00000000000001\n");
  };
  const auto united = with(
      "  <-9223372036854775807>..<-9223372036854775800> -> 1d00000000000001\n"
      "  <9223372036854775800>..<9223372036854775805> -> 1d00000000000001\n",
      "-9223372036854775805");
  ASSERT_TRUE(united.ok());
  EXPECT_EQ(united->unreadable, 1);
  const Rect kept = united->launches.back().box;
  EXPECT_EQ(kept.lower[0], -9223372036854775807);
  EXPECT_EQ(kept.extents[0], 8);
  const auto beyond = with("  LAUNCH <-5>..<5>\n", "9223372036854775807");
  ASSERT_TRUE(beyond.ok());
  EXPECT_FALSE(beyond->points.back().launch);
}

TEST(MapperLog, AnyTextIsOfNoHarm) {
  const std::string text = whole();
  std::mt19937_64 random(3);
  for (int i = 0; i < 3000; ++i) {
    std::string bad = text;
    for (int changes = 0; changes < 1 + i % 8; ++changes) {
      const std::size_t at = random() % bad.size();
      if (random() % 4 == 0) {
        bad.erase(at, random() % 40);
      } else {
        bad[at] = "0123456789<>()[],.= \n\"-ae"[random() % 25];
      }
    }
    const auto log = read(bad);
    if (!log || i % 10 != 0) continue;
    judge("Task * CPU;\nRegion * * * SYSMEM;\nLayout * * * C_order;\n", *log);
  }
}

}  // namespace
}  // namespace groma
