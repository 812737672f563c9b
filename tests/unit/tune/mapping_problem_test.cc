// The problem of a search for mappings: what prevents a search, and what is only noted.
#include "groma/mapping_problem.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "groma/benchmarks.h"

namespace groma {
namespace {

class MappingProblemTest : public ::testing::Test {
 protected:
  // Adds a benchmark with these values for its parameters.
  std::optional<Diagnostics> add(tuning::MappingProblem& problem, const std::string& name,
                                 const std::string& machine, const std::string& values) {
    const auto app = with_values(find_benchmark(name)->make(), values);
    GROMA_CHECK(app.ok());
    return problem.add(name, *make_machine(machine), *app, *Workload::make(*app));
  }
  static std::vector<DiagId> ids_of(const Diagnostics& diags) {
    std::vector<DiagId> ids;
    for (const Diagnostic& each : diags.all()) ids.push_back(each.id);
    return ids;
  }
};

TEST_F(MappingProblemTest, HasTheMachineAndTheApplications) {
  tuning::MappingProblem made(std::nullopt, {}, false);
  EXPECT_FALSE(made.problem.is_mapping());
  EXPECT_FALSE(add(made, "cannon", "p100x4", "size=small"));
  EXPECT_FALSE(add(made, "summa", "p100x4", "size=small"));
  EXPECT_TRUE(made.problem.is_mapping());
  EXPECT_EQ(made.problem.inputs.size(), 2U);
  EXPECT_EQ(made.problem.start, "");
  EXPECT_TRUE(made.notes.empty());
}

TEST_F(MappingProblemTest, ATaskWithoutAProcessorPreventsTheSearch) {
  tuning::MappingProblem made(std::nullopt, {}, false);
  const auto why = add(made, "cannon", "gpu=0", "size=small");
  ASSERT_TRUE(why);
  EXPECT_EQ(why->source().name(), "cannon");
  EXPECT_THAT(ids_of(*why), ::testing::Contains(DiagId::kNoVariant));
}

TEST_F(MappingProblemTest, OtherNodesAreNoted) {
  tuning::MappingProblem made(std::nullopt, {}, false);
  EXPECT_FALSE(add(made, "cannon", "p100x4:nodes=2", "size=small"));
  ASSERT_EQ(made.notes.size(), 1U);
  EXPECT_THAT(ids_of(made.notes[0]), ::testing::ElementsAre(DiagId::kNodesDiffer));
}

TEST_F(MappingProblemTest, AnErrorOfTheStartPreventsTheSearch) {
  tuning::MappingProblem made(Source("a.mapper", "Task * NOWHERE;\n"), {}, true);
  const auto why = add(made, "cannon", "p100x4", "size=small");
  ASSERT_TRUE(why);
  EXPECT_EQ(why->source().name(), "a.mapper");
  EXPECT_TRUE(why->has_errors());
}

TEST_F(MappingProblemTest, AStartThatLacksMemoryIsNoted) {
  const std::string start = "Region * * GPU ZCMEM;\n";
  tuning::MappingProblem made(Source("a.mapper", start), {}, true);
  EXPECT_FALSE(add(made, "circuit", "p100x4:zcmem=1", "size=small"));
  EXPECT_EQ(made.problem.start, start);
  ASSERT_EQ(made.notes.size(), 1U);
  EXPECT_THAT(ids_of(made.notes[0]), ::testing::Contains(DiagId::kOutOfMemory));
  EXPECT_FALSE(made.notes[0].has_errors());
}

TEST_F(MappingProblemTest, NamesThatTheApplicationLacksAreNotedIfAsked) {
  for (const bool check_names : {true, false}) {
    tuning::MappingProblem made(Source("a.mapper", "Task task_44 GPU,CPU;\n"), {}, check_names);
    EXPECT_FALSE(add(made, "cannon", "p100x4", "size=small"));
    EXPECT_EQ(made.notes.size(), check_names ? 1U : 0U);
  }
}

}  // namespace
}  // namespace groma
