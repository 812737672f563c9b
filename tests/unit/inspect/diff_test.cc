// diff and fit. That all differences are found, and each is exchanged alone, is shown by exchanging
// all of them: then A runs exactly as B.
#include "groma/diff.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

#include "groma/benchmarks.h"
#include "groma/dsl_files.h"
#include "groma/explain.h"
#include "groma/fit.h"
#include "groma/inspect.h"
#include "groma/io.h"
#include "groma/program_mapper.h"
#include "groma/run.h"
#include "groma/search_space.h"
#include "inspect/mixed_mapper.h"
#include "inspect/statement_groups.h"

namespace groma {
namespace {

using Aspect = MappingDifference::Aspect;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// One node with so many GPUs, of so many bytes each; with p100x4's figures.
Machine machine(std::int64_t gpus, std::int64_t fbmem) {
  const Machine whole = make_machine(fmt::format("p100x4:gpu={}", gpus)).value();
  std::vector<NodeType> types = whole.node_types();
  for (NodeType& type : types) {
    for (MemoryGroup& memory : type.memories) {
      if (memory.kind == MemKind::kFbmem) memory.capacity_bytes = fbmem;
    }
  }
  return Machine::make("small", "", std::move(types), {0}).value();
}
Machine p100x4() { return make_machine("p100x4").value(); }

struct Bound {
  explicit Bound(const std::string& text, const Machine& on = p100x4(),
                 const std::string& name = "a.mapper")
      : diags(Source(name, text)),
        program(bind(compile(diags.source(), diags), on, diags).value()) {}
  Diagnostics diags;
  BoundProgram program;
};

Workload small(const std::string& app) {
  return Workload::make(load_application(app + ":size=small").value()).value();
}

MappingDiff diff_of(Bound& a, Bound& b, const Workload& workload) {
  return diff(a.program, b.program, workload, {}, a.diags, b.diags);
}

RunResult run_mixed(const Bound& a, const Bound& b, const SecondMapperDecisions& mix,
                    const Workload& workload) {
  const auto first = ProgramMapper::share(a.program), second = ProgramMapper::share(b.program);
  const auto mapper = [](const Bound& bound, const auto& shared, const Processor& local) {
    return std::make_unique<ProgramMapper>(shared,
                                           MapperSite{bound.program.shared_machine(), local});
  };
  return simulate(workload, a.program.shared_machine(), [&](const Processor& local) {
    return std::make_unique<MapperWithReplacedDecisions>(mapper(a, first, local),
                                                         mapper(b, second, local), mix);
  });
}

void expect_same(const RunResult& a, const RunResult& b, const std::string& what) {
  ASSERT_EQ(a.status, b.status) << what << ": " << a.raw << " | " << b.raw;
  EXPECT_EQ(a.total_seconds, b.total_seconds) << what;
  EXPECT_EQ(a.copies, b.copies) << what;
  EXPECT_EQ(a.moved_bytes, b.moved_bytes) << what;
}

TEST(MappingDecisions, TellTheFirstDifference) {
  const Workload workload = small("circuit");
  const Bound a("Task * GPU, CPU;"), b("Task * GPU, CPU;\nLayout distribute_charge 1 * AOS;"),
      c("Task * GPU, CPU, OMP;");
  const MappingDecisions of_a(a.program, workload), of_b(b.program, workload),
      of_c(c.program, workload);
  EXPECT_TRUE(of_a.are_complete());
  EXPECT_TRUE(of_a.are_same_as(of_c));
  EXPECT_FALSE(of_a.first_difference_from(of_c));
  EXPECT_FALSE(of_a.are_same_as(of_b));
  const auto difference = of_a.first_difference_from(of_b);
  ASSERT_TRUE(difference);
  EXPECT_EQ(name_of(difference->what), "layout");
  EXPECT_EQ(subject_of(*difference), "region argument 1 (rp_shared) of task `distribute_charge`");
  EXPECT_EQ(difference->a.decision, "FBMEM SOA F_order");
  EXPECT_EQ(difference->b.decision, "FBMEM AOS F_order");
  const Bound d("Task * CPU;");
  const auto kind = of_a.first_difference_from(MappingDecisions(d.program, workload));
  ASSERT_TRUE(kind);
  EXPECT_EQ(subject_of(*kind), "task `calculate_new_currents`");
}

class EveryBenchmark : public ::testing::TestWithParam<std::string_view> {};

TEST_P(EveryBenchmark, WithAllDifferencesExchangedOneMappingIsTheOther) {
  const std::string app(GetParam());
  const Workload workload = small(app);
  std::vector<std::string> texts = {"", R"(
    m = Machine(GPU)
    def last(Task task) { return m[m.size[0] - 1, m.size[1] - 1]; }
    def flat(Task task) {
      n = 0;
      return m[n, (task.ipoint[0]) % m.size[1]];
    }
    IndexTaskMap task_4 flat
    IndexTaskMap * last
    SingleTaskMap task_5 last
    Region * * GPU ZCMEM
    Layout * 1 GPU AOS F_order
    CollectMemory * *
    InstanceLimit * 2
    TaskSteal * GPU SAME_NODE)"};
  const std::string stolen = R"(
    m = Machine(GPU)
    def first(Task task) { return m[0, 0]; }
    IndexTaskMap GPU first
    InstanceLimit * 1
    TaskSteal * GPU )";
  for (const char* scope : {"SAME_NODE", "ANY_NODE"}) texts.push_back(stolen + scope);
  for (const DslFile& file : mappers()) {
    if (file.name == app || file.name == "cannon" || file.name == "solomonik") {
      texts.emplace_back(file.text);
    }
  }
  const tuning::SearchSpace space(p100x4(), workload);
  for (std::uint64_t seed = 0; seed < 6; ++seed) texts.push_back(space.sample_text(seed));
  int compared = 0;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    Bound a(texts[i % 2]), b(texts[i]);
    const MappingDiff found = diff_of(a, b, workload);
    SecondMapperDecisions all;
    for (const MappingDifference& each : found.differences) add_differing_decision(each, all);
    const std::string what = "mapping " + std::to_string(i);
    expect_same(run_mixed(a, b, {}, workload), found.a, what + ", nothing exchanged");
    expect_same(run_mixed(a, b, all, workload), found.b, what + ", all exchanged");
    compared += found.differences.empty() ? 0 : 1;
  }
  EXPECT_GE(compared, 2);
}

INSTANTIATE_TEST_SUITE_P(Diff, EveryBenchmark,
                         ::testing::Values("circuit", "stencil", "pennant", "cannon", "summa",
                                           "pumma", "johnson", "solomonik", "cosma"),
                         [](const auto& each) { return std::string(each.param); });

TEST(Diff, OfAMappingAndItselfThereIsNothing) {
  Bound a(std::string(mappers()[0].text)), b(std::string(mappers()[0].text));
  const MappingDiff found = diff_of(a, b, small("circuit"));
  EXPECT_TRUE(found.differences.empty());
  EXPECT_EQ(found.a.seconds, found.b.seconds);
  EXPECT_THAT(draw(found, a.program.program(), b.program.program()),
              HasSubstr("Every decision about this application is the same."));
}

TEST(Diff, ASingleDifferenceCostsWhatTheRunsDiffer) {
  Bound a(""), b("Region distribute_charge rp_ghost GPU ZCMEM");
  std::int64_t runs = 0;
  const auto count_runs = [&runs](std::int64_t, std::int64_t all) {
    runs = all;
    return true;
  };
  const MappingDiff found =
      diff(a.program, b.program, small("circuit"), {}, a.diags, b.diags, count_runs);
  EXPECT_EQ(runs, 1);  // the statement is not run again by itself
  ASSERT_EQ(found.differences.size(), 1U);
  const MappingDifference& one = found.differences[0];
  EXPECT_EQ(one.what, Aspect::kMemory);
  EXPECT_EQ(one.task, "distribute_charge");
  EXPECT_EQ(one.position, 2U);
  EXPECT_EQ(one.a, (MappingDifference::SideDecision{"FBMEM SOA F_order", {}}));
  EXPECT_EQ(one.b, (MappingDifference::SideDecision{"ZCMEM SOA F_order", {1}}));
  ASSERT_TRUE(one.cost);
  EXPECT_NE(one.cost->seconds, 0);
  EXPECT_EQ(one.cost->seconds, found.b.seconds - found.a.seconds);
  EXPECT_EQ(one.cost->moved_bytes, found.b.moved_bytes - found.a.moved_bytes);
}

// `main` launches `update` twice, `step` once. Each difference is that of some launches only.
TEST(Diff, LaunchesThatSelectorsTellApartAreExchangedAlone) {
  const Workload nested = Workload::make(application_from_json(R"({
    "name": "nested", "top_level": "main", "regions": [{"name": "r", "extents": [1000000]}],
    "tasks": [
      {"name": "main", "variants": [{"kind": "CPU"}],
       "body": [{"launch": "step"}, {"launch": "update"}, {"launch": "update"}]},
      {"name": "step", "variants": [{"kind": "CPU"}], "body": [{"launch": "update"}]},
      {"name": "update", "variants": [{"kind": "CPU", "flops": "1000000000"},
                                      {"kind": "GPU", "flops": "1000000000"}]}]})",
                                                               "app")
                                             .value())
                              .value();
  Bound a("Task update GPU"), b("Task update GPU\nTask main > update CPU", p100x4(), "b.mapper");
  const MappingDiff found = diff_of(a, b, nested);
  ASSERT_TRUE(found.a.ok() && found.b.ok());
  ASSERT_EQ(found.differences.size(), 1U);
  EXPECT_EQ(found.differences[0].task, "update");
  EXPECT_EQ(found.differences[0].selected, "launched by main");
  ASSERT_TRUE(found.differences[0].cost);
  EXPECT_NE(found.b.seconds, found.a.seconds);
  EXPECT_EQ(found.differences[0].cost->seconds, found.b.seconds - found.a.seconds);
  const auto json = nlohmann::json::parse(
      to_json(found, a.program.program(), b.program.program(), a.diags, b.diags));
  EXPECT_EQ(json["differences"].at(0)["selected"], "launched by main");
}

// What one statement decides costs nothing where it is decided alike for all tasks, and much where
// one task has its data elsewhere than the others.
TEST(Diff, AStatementIsExchangedAsAWholeFirst) {
  Bound a(""), b("Layout * * * C_order", p100x4(), "b.mapper");
  const MappingDiff found = diff_of(a, b, small("circuit"));
  ASSERT_TRUE(found.a.ok() && found.b.ok());
  ASSERT_EQ(found.statements.size(), 1U);
  const StatementDifference& all = found.statements[0];
  EXPECT_EQ(all.by, DecisionOrigin{1});
  EXPECT_FALSE(all.is_of_a);
  ASSERT_GT(found.differences.size(), 1U);
  EXPECT_EQ(all.parts.size(), found.differences.size());
  ASSERT_TRUE(all.cost);
  EXPECT_EQ(all.cost->seconds, found.b.seconds - found.a.seconds);
  EXPECT_EQ(all.cost->moved_bytes, found.b.moved_bytes - found.a.moved_bytes);
  std::int64_t sum = 0;
  for (const MappingDifference& each : found.differences) {
    ASSERT_TRUE(each.cost);
    sum += each.cost->moved_bytes;
  }
  EXPECT_GT(sum, all.cost->moved_bytes);
  const std::string text = draw(found, a.program.program(), b.program.program());
  EXPECT_THAT(text, HasSubstr("\nwith B's b.mapper:1:1: Layout * * * C_order\n"));
  EXPECT_THAT(
      text, HasSubstr(fmt::format(" moved  its {} parts together\n  layout\n", all.parts.size())));
  const auto json = nlohmann::json::parse(
      to_json(found, a.program.program(), b.program.program(), a.diags, b.diags));
  const auto& one = json["statements"].at(0);
  EXPECT_EQ(one["of"], "b");
  EXPECT_EQ(one["by"]["line"], 1);
  EXPECT_EQ(one["differences"].size(), all.parts.size());
  EXPECT_EQ(one["seconds"], all.cost->seconds);
}

TEST(Diff, AStatementThatBLacksIsOfA) {
  Bound a("Region * * GPU ZCMEM", p100x4(), "a.mapper"), b("");
  const MappingDiff found = diff_of(a, b, small("circuit"));
  ASSERT_EQ(found.statements.size(), 1U);
  EXPECT_TRUE(found.statements[0].is_of_a);
  EXPECT_EQ(found.statements[0].by, DecisionOrigin{1});
  ASSERT_TRUE(found.statements[0].cost);
  EXPECT_EQ(found.statements[0].cost->seconds, found.b.seconds - found.a.seconds);
  EXPECT_THAT(draw(found, a.program.program(), b.program.program()),
              HasSubstr("\nwithout A's a.mapper:1:1: Region * * GPU ZCMEM\n"));
}

// Each of B's statements keeps the data of one task away from the other task and so costs time,
// although A's statement costs time as a whole.
TEST(Diff, AStatementOfAIsExchangedAsAWholeToo) {
  Bound a("Region * * GPU ZCMEM", p100x4(), "a.mapper"),
      b("Region stencil * GPU FBMEM\nRegion increment * GPU FBMEM", p100x4(), "b.mapper");
  const MappingDiff found = diff_of(a, b, small("stencil"));
  ASSERT_TRUE(found.a.ok() && found.b.ok());
  ASSERT_EQ(found.statements.size(), 3U);
  const StatementDifference& all = found.statements[0];
  EXPECT_TRUE(all.is_of_a);
  EXPECT_FALSE(all.within);
  EXPECT_EQ(all.parts.size(), found.differences.size());
  ASSERT_TRUE(all.cost);
  EXPECT_EQ(all.cost->seconds, found.b.seconds - found.a.seconds);
  EXPECT_LT(all.cost->seconds, 0);
  for (const std::size_t i : {1U, 2U}) {
    EXPECT_FALSE(found.statements[i].is_of_a);
    EXPECT_EQ(found.statements[i].within, 0U);
    ASSERT_TRUE(found.statements[i].cost);
    EXPECT_GT(found.statements[i].cost->seconds, 0);
  }
  const std::string text = draw(found, a.program.program(), b.program.program());
  EXPECT_THAT(text, HasSubstr("\nwithout A's a.mapper:1:1: Region * * GPU ZCMEM\n"));
  EXPECT_THAT(text, HasSubstr("  B decides all of them by statements of its own\n\nwith B's "));
  EXPECT_THAT(text, HasSubstr("Region increment * GPU FBMEM (in place of A's statement above)\n"));
  const auto json = nlohmann::json::parse(
      to_json(found, a.program.program(), b.program.program(), a.diags, b.diags));
  EXPECT_EQ(json["statements"].at(0)["of"], "a");
  EXPECT_FALSE(json["statements"].at(0).contains("within"));
  EXPECT_EQ(json["statements"].at(1)["within"], 0);
}

// One task whose data lies elsewhere than that of the other costs more than the whole statement, so
// the effects of the parts are not listed.
TEST(Diff, FoldsThePartsThatDependOnEachOther) {
  Bound a(""), b("Region * * GPU ZCMEM", p100x4(), "b.mapper");
  MappingDiff found = diff_of(a, b, small("stencil"));
  ASSERT_EQ(found.statements.size(), 1U);
  ASSERT_TRUE(found.statements[0].cost);
  double sum = 0;
  for (const MappingDifference& each : found.differences) {
    ASSERT_TRUE(each.cost);
    sum += each.cost->seconds;
  }
  EXPECT_GT(sum, 1.5 * found.statements[0].cost->seconds);
  EXPECT_TRUE(parts_interact(found, found.statements[0]));
  const auto text = [&] { return draw(found, a.program.program(), b.program.program()); };
  EXPECT_THAT(text(), HasSubstr(" together\n  the parts depend on each other: alone they change "));
  EXPECT_THAT(text(), Not(HasSubstr("moved  stencil 0")));
  EXPECT_THAT(text(), HasSubstr("stencil 0 private"));
  EXPECT_THAT(text(), HasSubstr("Effects do not add up"));
  const auto json = nlohmann::json::parse(
      to_json(found, a.program.program(), b.program.program(), a.diags, b.diags));
  EXPECT_EQ(json["statements"].at(0)["parts_interact"], true);
  EXPECT_TRUE(json["differences"].at(0).contains("seconds"));
  // The effects of independent parts are listed, and the small ones share a line.
  found.statements[0].cost->seconds = sum;
  EXPECT_FALSE(parts_interact(found, found.statements[0]));
  EXPECT_THAT(text(), HasSubstr("moved  stencil 0 private"));
  EXPECT_THAT(text(), HasSubstr("  changes little: "));
  // Missing runs say nothing about the parts.
  found.statements[0].cost->seconds = 0;
  found.differences[0].cost.reset();
  EXPECT_FALSE(parts_interact(found, found.statements[0]));
  found.differences[0].alone = "no room";
  EXPECT_TRUE(parts_interact(found, found.statements[0]));
  EXPECT_THAT(text(),
              HasSubstr(fmt::format(", 1 of {} alone does not run\n", found.differences.size())));
}

TEST(Diff, CountsThePointsThatStandElsewhere) {
  Bound a(R"(m = Machine(GPU)
             def block(Task task) { return m[0, task.ipoint[0] * m.size[1] / task.ispace[0]]; }
             IndexTaskMap update_voltages block)"),
      b(R"(m = Machine(GPU)
           def swapped(Task task) {
             g = task.ipoint[0] * m.size[1] / task.ispace[0];
             return m[0, g < 2 ? 1 - g : g];
           }
           IndexTaskMap update_voltages swapped)");
  const MappingDiff found = diff_of(a, b, small("circuit"));
  ASSERT_EQ(found.differences.size(), 1U);
  EXPECT_EQ(found.differences[0].what, Aspect::kPlacement);
  EXPECT_EQ(found.differences[0].points, 4);
  EXPECT_EQ(found.differences[0].moved_points, 2);
  EXPECT_EQ(found.differences[0].a.decision, "block");
  EXPECT_EQ(found.differences[0].b.decision, "swapped");
}

// Any of several processors may run a point where the first of them would.
TEST(Diff, SeveralProcessorsAreNotTheFirstOfThem) {
  const auto text = [](const char* cpus) {
    return fmt::format(
        "Task * CPU\nm = Machine(CPU)\ndef f(Task task) {{ return m[0, {}]; }}\n"
        "IndexTaskMap update_voltages f\nSingleTaskMap parse_input f",
        cpus);
  };
  Bound all(text("*")), one(text("0")), limited(text("*") + "\nInstanceLimit * 1");
  const MappingDiff found = diff_of(all, one, small("circuit"));
  std::vector<std::string> tasks;
  for (const MappingDifference& each : found.differences) {
    EXPECT_EQ(each.what, Aspect::kPlacement);
    EXPECT_EQ(each.moved_points, each.points);
    tasks.push_back(each.task);
  }
  EXPECT_THAT(tasks, ::testing::UnorderedElementsAre("update_voltages", "parse_input"));
  EXPECT_NE(found.a.seconds, found.b.seconds);
  // What is limited stays where it is: that is the difference.
  for (const MappingDifference& each : diff_of(all, limited, small("circuit")).differences) {
    EXPECT_EQ(each.what, Aspect::kLimit);
  }
}

// What another name of a function places alike is no difference.
TEST(Diff, LooksAtPlacesNotAtNames) {
  Bound a(R"(m = Machine(GPU)
             def one(Task task) { return m[0, task.ipoint[0] % m.size[1]]; }
             IndexTaskMap * one)"),
      b(R"(m = Machine(GPU)
           def other(Task task) { return m[0, (task.ipoint[0] + m.size[1]) % m.size[1]]; }
           IndexTaskMap * other)");
  EXPECT_TRUE(diff_of(a, b, small("circuit")).differences.empty());
}

// The default mapper replicates the top level over nodes, and cuts each shard's part by itself.
TEST(Diff, SeesWhereShardsPutPoints) {
  const Machine lassen = make_machine("lassen:nodes=4").value();
  const Workload circuit =
      Workload::make(load_application("circuit:nodes=4,size=small").value()).value();
  Bound standard("", lassen);
  Diagnostics diags{Source()};
  Bound whole(default_mapping(circuit, lassen, {}, diags).value(), lassen);
  const MappingDiff found = diff_of(standard, whole, circuit);
  std::int64_t moved = 0;
  for (const MappingDifference& one : found.differences) moved += one.moved_points;
  EXPECT_GT(moved, 0);
  EXPECT_NE(found.a.seconds, found.b.seconds);
  // All processors are used either way.
  EXPECT_NEAR(found.a.seconds / found.b.seconds, 1, 0.2);
}

TEST(Diff, SaysWhyAChangeAloneDoesNotRun) {
  const Machine on = machine(2, 1 << 20);
  Bound a("Region * * GPU ZCMEM", on), b("Region * * GPU FBMEM", on);
  const Workload workload = Workload::make(load_application("circuit:gpus=2").value()).value();
  const MappingDiff found = diff_of(a, b, workload);
  EXPECT_TRUE(found.a.ok());
  EXPECT_FALSE(found.b.ok());
  EXPECT_TRUE(b.diags.has_errors());
  EXPECT_FALSE(a.diags.has_errors());
  bool told = false;
  for (const MappingDifference& each : found.differences) {
    EXPECT_NE(each.cost.has_value(), !each.alone.empty());
    if (each.alone.empty()) continue;
    EXPECT_THAT(each.alone, HasSubstr("no room for region"));
    told = true;
  }
  EXPECT_TRUE(told);
  const std::string text = draw(found, a.program.program(), b.program.program());
  EXPECT_THAT(text, HasSubstr("B does not run"));
  EXPECT_THAT(text, HasSubstr("alone it does not run"));
}

// The limits of all tasks are exchanged together. Each block says which limits differ, of which
// tasks, and that its cost is that of all limits.
TEST(Diff, ShowsTheLimitsOfEachTask) {
  Bound a("InstanceLimit distribute_charge 3", p100x4(), "a.mapper"),
      b("InstanceLimit calculate_new_currents 1 Machine\nInstanceLimit update_voltages 2\n"
        "InstanceLimit distribute_charge 2",
        p100x4(), "b.mapper");
  const MappingDiff found = diff_of(a, b, small("circuit"));
  ASSERT_EQ(found.differences.size(), 3U);
  const std::string text = draw(found, a.program.program(), b.program.program());
  EXPECT_THAT(text, HasSubstr("The effect of a statement is measured by "));
  EXPECT_THAT(text, HasSubstr(" one run measures the limits\nof all tasks together."));
  EXPECT_THAT(text, HasSubstr("    A  no limit\n"));
  EXPECT_THAT(text, HasSubstr("    B  at most 1 instance at a time on the whole machine\n"));
  EXPECT_THAT(text, HasSubstr("    A  at most 3 instances at a time on a processor\n"));
  EXPECT_THAT(text, HasSubstr("    B  at most 2 instances at a time on a processor\n"));
  EXPECT_THAT(text, HasSubstr(" moved  the limits of all tasks together\n"
                              "  limited: calculate_new_currents\n"));
  const std::string elsewhere = "; the cost is only known for the limits of all tasks together\n";
  EXPECT_THAT(text, HasSubstr("  limited: update_voltages" + elsewhere));
  EXPECT_THAT(text, HasSubstr("  limited: distribute_charge" + elsewhere));
}

TEST(Diff, SaysIfNothingWasMeasured) {
  const Machine tiny = machine(4, 1);
  Bound a("Region * * GPU FBMEM", tiny, "a.mapper"), b("Task * CPU", tiny, "b.mapper");
  const MappingDiff found = diff_of(a, b, small("circuit"));
  ASSERT_FALSE(found.a.ok());
  ASSERT_FALSE(found.differences.empty());
  const std::string text = draw(found, a.program.program(), b.program.program());
  EXPECT_THAT(text, HasSubstr(" decided differently. No effect was measured, because A does not "
                              "run.\n"));
  EXPECT_THAT(text, Not(HasSubstr("is measured")));
}

// Statement s of B replaces decision s of statement s / 2 of A.
TEST(Diff, FindsTheStatementsOfAThatContainThoseOfB) {
  constexpr std::uint32_t kStatements = 20'000;
  MappingDiff found;
  found.differences.resize(kStatements);
  for (std::uint32_t s = 0; s < kStatements; ++s) {
    found.differences[s].a.by.statement = 1 + s / 2;
    found.differences[s].b.by.statement = 1 + s;
  }
  found.statements = group_by_statement(found.differences);
  ASSERT_EQ(found.statements.size(), kStatements / 2 * 3);
  std::size_t inner = 0;
  for (const StatementDifference& each : found.statements) {
    if (each.is_of_a) {
      EXPECT_FALSE(each.within);
      continue;
    }
    ++inner;
    ASSERT_TRUE(each.within);
    const StatementDifference& outer = found.statements[*each.within];
    EXPECT_TRUE(outer.is_of_a);
    EXPECT_EQ(outer.parts.front(), each.parts.front() / 2 * 2);
  }
  EXPECT_EQ(inner, kStatements);
}

TEST(Diff, SaysThatDifferencesGainTogetherAlone) {
  Bound a(""), b("Region distribute_charge rp_ghost GPU ZCMEM", p100x4(), "b.mapper");
  MappingDiff found = diff_of(a, b, small("circuit"));
  ASSERT_TRUE(found.a.ok() && found.b.ok());
  ASSERT_EQ(found.differences.size(), 1U);
  ASSERT_TRUE(found.differences[0].cost);
  found.b.seconds = found.a.seconds / 2;
  found.differences[0].cost->seconds = 1e-3;
  const auto text = [&] { return draw(found, a.program.program(), b.program.program()); };
  EXPECT_THAT(text(), HasSubstr("\nNone of them gains alone: together they do.\n"));
  found.differences[0].cost->seconds = -1e-3;
  EXPECT_THAT(text(), Not(HasSubstr("None of them")));
}

TEST(Diff, ListsTheTasksForWhichADifferenceChangesNothing) {
  Bound a(""), b("Region distribute_charge rp_ghost GPU ZCMEM");
  MappingDiff found = diff_of(a, b, small("circuit"));
  ASSERT_EQ(found.differences.size(), 1U);
  const auto text = [&] { return draw(found, a.program.program(), b.program.program()); };
  EXPECT_THAT(text(), Not(HasSubstr("changes nothing")));
  found.differences[0].cost = MappingDifference::Cost{};
  EXPECT_THAT(text(), HasSubstr("  changes nothing: distribute_charge 2 rp_ghost\n"));
}

TEST(Diff, JsonHasBothRunsAndEveryDifference) {
  Bound a(""), b("Region distribute_charge rp_ghost GPU ZCMEM", p100x4(), "b.mapper");
  const MappingDiff found = diff_of(a, b, small("circuit"));
  const auto json = nlohmann::json::parse(
      to_json(found, a.program.program(), b.program.program(), a.diags, b.diags));
  EXPECT_EQ(json["a"]["seconds"], found.a.seconds);
  EXPECT_EQ(json["b"]["moved_bytes"], found.b.moved_bytes);
  const auto& one = json["differences"].at(0);
  EXPECT_EQ(one["what"], "memory");
  EXPECT_EQ(one["position"], 2);
  EXPECT_EQ(one["a"]["by"], nullptr);
  EXPECT_EQ(one["b"]["by"]["file"], "b.mapper");
  EXPECT_EQ(one["b"]["by"]["line"], 1);
  EXPECT_EQ(one["seconds"], found.differences[0].cost->seconds);
}

TEST(Diff, StopsWhenItIsAsked) {
  Bound a(""), b("Region * * GPU ZCMEM");
  SimulateOptions options;
  options.stop = [] { return true; };
  const MappingDiff found = diff(a.program, b.program, small("pennant"), options, a.diags, b.diags);
  EXPECT_EQ(found.a.status, RunStatus::kStopped);
  EXPECT_FALSE(found.differences.empty());
}

// rp_shared and rp_ghost have points in common, and what was read for one is not kept for the
// other.
TEST(Run, ATaskThatReadsTwiceDoesNotWaitForItself) {
  Bound bound("Task calculate_new_currents CPU; CollectMemory calculate_new_currents *");
  const RunResult result = run(bound.program, small("circuit"), {}, bound.diags);
  EXPECT_TRUE(result.ok()) << result.raw;
}

// The most tasks of that name that were mapped and unfinished at a time.
std::int64_t most_at_once(const RunRecord& record, const std::string& task) {
  std::vector<std::pair<RunTime, int>> changes;  // ends before beginnings
  for (const RunRecord::Event& event : record.events) {
    const bool counts = event.kind == RunRecord::Event::Kind::kTask &&
                        record.tasks[static_cast<std::size_t>(event.name)] == task;
    if (!counts) continue;
    changes.emplace_back(event.mapped, 1);
    changes.emplace_back(event.end, -1);
  }
  std::sort(changes.begin(), changes.end());
  std::int64_t now = 0, most = 0;
  for (const auto& [time, change] : changes) most = std::max(most, now += change);
  return most;
}

// "Ensure that at most 4 tasks of calculate_new_currents can be run at the same time": on four
// GPUs, or eight of two nodes, whose pieces are more than four.
TEST(Run, Strategy8LetsFourTasksRunAtATime) {
  std::string strategy;
  for (const DslFile& file : strategies()) {
    if (file.name == "strategy08") strategy = file.text;
  }
  const std::string statement = "InstanceLimit calculate_new_currents 4 Machine;";
  ASSERT_THAT(strategy, HasSubstr(statement));
  const auto with = [&](const std::string& other) {
    std::string text = strategy;
    return text.replace(text.find(statement + "\n"), statement.size(), other);
  };
  for (const char* machine : {"p100x4", "p100x4:nodes=2"}) {
    const Machine on = make_machine(machine).value();
    const std::int64_t gpus = 4 * on.node_count();
    const std::string app =
        fmt::format("circuit:size=small,nodes={},gpus=16", on.node_count());  // points of a node
    const Workload circuit = Workload::make(load_application(app).value()).value();
    const auto most = [&](const std::string& text) {
      Bound bound(text, on);
      SimulateOptions options;
      options.record = true;
      const RunResult result = run(bound.program, circuit, options, bound.diags);
      EXPECT_TRUE(result.ok()) << result.raw;
      return result.ok() ? most_at_once(*result.record, "calculate_new_currents") : 0;
    };
    EXPECT_EQ(most(strategy), 4) << machine;
    EXPECT_LE(most(with("InstanceLimit calculate_new_currents 4 SAME_NODE;")), gpus) << machine;
    EXPECT_GT(most(with("InstanceLimit calculate_new_currents 4;")), gpus) << machine;
  }
}

TEST(Describe, AnApplicationListsItsSizesIfItHasSome) {
  Application app = load_application("circuit").value();
  ASSERT_FALSE(app.sizes.empty());
  const auto heading = HasSubstr("\nSizes: values of parameters (as in --app circuit:size=");
  EXPECT_THAT(draw(app, "circuit"), heading);
  app.sizes.clear();
  EXPECT_THAT(draw(app, "circuit"), Not(heading));
}

// A launch needs an IndexTaskMap statement. Only a SingleTaskMap statement is a likely mistake.
TEST(Place, SaysWhyNoFunctionPlacesALaunch) {
  PlaceQuery query;
  query.task = "work";
  query.domain = *Rect::make({0}, {4});
  const auto refused = [&query](const std::string& text) {
    Bound bound(text);
    bound.diags.clear();
    EXPECT_FALSE(place(bound.program, query, bound.diags));
    return render(bound.diags);
  };
  const auto for_single_tasks = HasSubstr("note: a SingleTaskMap statement does");
  const auto by_default = HasSubstr("note: the default mapper decides then");
  const std::string function = "m = Machine(GPU);\ndef f(Task t) { return m[0, 0]; }\n";
  EXPECT_THAT(refused(function), ::testing::AllOf(by_default, Not(for_single_tasks)));
  EXPECT_THAT(refused(function + "SingleTaskMap work f;\n"),
              ::testing::AllOf(for_single_tasks, Not(by_default)));
}

TEST(Run, RefusesInLegionsWords) {
  const auto raw = [](const std::string& program) {
    Bound bound(program);
    return run(bound.program, small("cannon"), {}, bound.diags).raw;
  };
  EXPECT_EQ(raw("Region task_1 * GPU SYSMEM"),
            "Invalid mapper output from invocation of 'map_task' on mapper groma. Mapper selected "
            "an instance for region requirement 0 in memory 1e00000000000000 which is not visible "
            "from the target processors for task task_1 (ID 18).");
  EXPECT_EQ(raw("Layout task_4 2 * F_order"),
            "Invalid mapper output. Mapper groma selected variant 1 for task task_4 (ID 36). But "
            "instance selected for region requirement 2 fails to satisfy the corresponding "
            "Ordering layout constraint.");
}

// ---- fit

// A task that reads a region of n elements of 8 bytes, and one of 3 m.
constexpr std::string_view kOneTask = R"({
  "name": "one", "top_level": "main",
  "parameters": [{"name": "n", "value": 1000, "most": 1000000000},
                 {"name": "m", "value": 500, "most": 1000000000}],
  "sizes": [{"name": "small", "values": {"n": 10, "m": 500}},
            {"name": "large", "values": {"n": 1000, "m": 500}}],
  "regions": [{"name": "r", "extents": ["n"], "fields": [{"name": "f", "bytes": 8}]},
              {"name": "s", "extents": ["3 * m"], "fields": [{"name": "g", "bytes": 8}]}],
  "tasks": [
    {"name": "main", "variants": [{"kind": "CPU", "inner": true}], "body": [{"launch": "t"}]},
    {"name": "t", "variants": [{"kind": "GPU", "leaf": true}],
     "requirements": [{"privilege": "write-discard", "fields": [{"name": "f"}],
                       "data": {"of": "r"}},
                      {"privilege": "write-discard", "fields": [{"name": "g"}],
                       "data": {"of": "s"}}]}]})";

Result<Fit> fit_one(const std::vector<std::string>& parameters, const Machine& on) {
  const Application app = application_from_json(std::string(kOneTask), "app").value();
  const auto shared = std::make_shared<const Machine>(on);
  return fit(app, parameters, [&](const Workload& workload) {
    Diagnostics diags(Source("", ""));
    return run_default(shared, workload, {}, diags);
  });
}

TEST(Fit, FindsTheLastSizeThatFits) {
  const auto found = fit_one({"n"}, machine(1, 1 << 20));
  ASSERT_TRUE(found) << found.error().message;
  // 8 n + 24 * 500 <= 2^20
  ASSERT_TRUE(found->fits && found->beyond);
  EXPECT_THAT(found->fits->values, ElementsAre(AppValue("n", ((1 << 20) - 12000) / 8)));
  EXPECT_THAT(found->beyond->values, ElementsAre(AppValue("n", ((1 << 20) - 12000) / 8 + 1)));
  EXPECT_TRUE(found->fits->result.ok());
  EXPECT_THAT(found->beyond->result.raw, HasSubstr("failed allocation"));
}

TEST(Fit, GrowsParametersInProportion) {
  const auto found = fit_one({"n", "m"}, machine(1, 1 << 20));
  ASSERT_TRUE(found && found->fits);
  const std::int64_t n = found->fits->values[0].second, m = found->fits->values[1].second;
  EXPECT_EQ(m, (n + 1) / 2);
  EXPECT_LE(8 * n + 24 * m, 1 << 20);
  EXPECT_GT(8 * (n + 1) + 24 * ((n + 2) / 2), 1 << 20);
}

TEST(Fit, ShrinksWhatDoesNotFit) {
  const auto found = fit_one({"n"}, machine(1, 16000));
  ASSERT_TRUE(found && found->fits);
  EXPECT_EQ(found->fits->values[0].second, 500);
}

TEST(Fit, SaysThatNothingFits) {
  const auto found = fit_one({"n"}, machine(1, 100));
  ASSERT_TRUE(found);
  EXPECT_FALSE(found->fits);
  ASSERT_TRUE(found->beyond);
  EXPECT_EQ(found->beyond->values[0].second, 1);
}

TEST(Fit, EndsWhereTheParameterDoes) {
  const auto found = fit_one({"n"}, machine(1, std::int64_t{1} << 40));
  ASSERT_TRUE(found && found->fits);
  EXPECT_EQ(found->fits->values[0].second, 1000000000);
  EXPECT_FALSE(found->beyond);
}

TEST(Fit, WithoutNamesItGrowsWhatTheLastSizesDifferIn) {
  const Application app = application_from_json(std::string(kOneTask), "app").value();
  EXPECT_THAT(growing_parameters(app).value(), ElementsAre("n"));
  Application without = app;
  without.sizes.clear();
  EXPECT_THAT(growing_parameters(without).error().message, HasSubstr("no two sizes"));
  const auto unknown = fit_one({"nn"}, machine(1, 1 << 20));
  ASSERT_FALSE(unknown);
  EXPECT_THAT(unknown.error().message, HasSubstr("no parameter `nn`"));
  EXPECT_THAT(unknown.error().help, HasSubstr("`n`"));
}

TEST(Fit, OfAnErrorThatIsNoMatterOfMemoryThereIsNoAnswer) {
  const auto found = fit_one({"n"}, make_machine("nodes=1,gpu=0,cpu=1").value());
  ASSERT_FALSE(found);
}

}  // namespace
}  // namespace groma
