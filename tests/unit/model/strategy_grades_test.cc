// The grades of mappings for the paper's ten strategies: the references pass, mappings with one
// other decision fail at this decision, and other texts with the same decisions pass.
#include "support/strategy_grades.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "groma/dsl_files.h"

namespace groma {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::StrategyGrade;
using testing::StrategyGrader;

const DslFile& strategy(std::size_t number) { return strategies()[number - 1]; }

// Grades a mapping for a strategy with the number 1 to 10.
StrategyGrade grade(std::size_t number, const std::string& mapping) {
  return StrategyGrader(strategy(number)).grade(mapping);
}

// Returns the reference mapping with `from` replaced by `to`. `from` must occur.
std::string with_replaced(std::size_t number, std::string_view from, std::string_view to) {
  std::string text(strategy(number).text);
  const std::size_t at = text.rfind(from);
  EXPECT_NE(at, text.npos) << from;
  return at == text.npos ? text : text.replace(at, from.size(), to);
}

// Returns the fixed statements of a strategy with further statements below them.
std::string fixed_and(std::size_t number, const std::string& statements) {
  return testing::fixed_statements_of(strategy(number)) + statements;
}

TEST(StrategyGrades, TheReferenceMappingsPass) {
  for (std::size_t number = 1; number <= 10; ++number) {
    const StrategyGrade result = grade(number, std::string(strategy(number).text));
    EXPECT_TRUE(result.passed) << number << ": " << result.difference;
  }
}

TEST(StrategyGrades, TheFixedStatementsAloneDoNotPass) {
  for (std::size_t number = 1; number <= 10; ++number) {
    const StrategyGrade result = grade(number, fixed_and(number, ""));
    // Here the default mapper decides what the fourth sentence says.
    if (number == 4) {
      EXPECT_TRUE(result.passed) << result.difference;
      continue;
    }
    EXPECT_FALSE(result.passed) << number;
    EXPECT_NE(result.difference, "") << number;
  }
}

TEST(StrategyGrades, AnotherDecisionFailsAtThisDecision) {
  struct Mutant {
    std::size_t number;
    std::string_view from, to, difference;
  };
  for (const Mutant& each : std::initializer_list<Mutant>{
           {1, "linear.size[0] / task.ispace[0]", "(linear.size[0] - 1) / task.ispace[0]",
            "placement of task `calculate_new_currents`"},
           {1, ",distribute_charge,update_voltages linearblock", " linearblock",
            "placement of task `distribute_charge`"},
           {2, "Region * rp_ghost GPU ZCMEM;", "", "memory of region argument 2 (rp_ghost)"},
           {3, "AOS", "AOS C_order", "layout of region argument"},
           {4, "F_order", "C_order", "layout of region argument"},
           {5, "64", "128", "layout of region argument"},
           {6, "Task calculate_new_currents CPU", "Task distribute_charge CPU",
            "kind of task `calculate_new_currents`: expected `CPU`, got `GPU`"},
           {7, "CollectMemory calculate_new_currents", "CollectMemory update_voltages",
            "collection of region argument"},
           {8, "4 Machine", "4", "limit of task `calculate_new_currents`"},
           {8, "4 Machine", "5 Machine", "limit of task `calculate_new_currents`"},
           {9, "distribute_charge 1 GPU", "distribute_charge 2 GPU",
            "memory of region argument 1 (rp_shared) of task `distribute_charge`"},
           {10, "ip[0] / mgpu.size[0] % mgpu.size[1]", "ip[0] % mgpu.size[1]",
            "placement of task `calculate_new_currents`"}}) {
    const StrategyGrade result = grade(each.number, with_replaced(each.number, each.from, each.to));
    EXPECT_FALSE(result.passed) << each.number << each.to;
    EXPECT_THAT(result.difference,
                AllOf(HasSubstr("circuit:size=small,"), HasSubstr(std::string(each.difference))));
  }
}

TEST(StrategyGrades, OtherTextsWithTheSameDecisionsPass) {
  const std::string tasks = "calculate_new_currents, distribute_charge, update_voltages";
  for (const auto& [number, statements] :
       std::initializer_list<std::pair<std::size_t, std::string>>{
           {1,
            "def spread(Task task) {\n"
            "  i = task.ipoint[0] * (mgpu.size[0] * mgpu.size[1]) / task.ispace[0];\n"
            "  return mgpu[i / mgpu.size[1], i % mgpu.size[1]];\n"
            "}\n"
            "IndexTaskMap GPU spread;\n"},
           {2,
            "Region calculate_new_currents,distribute_charge,update_voltages rp_shared,rp_ghost "
            "GPU ZCMEM;\n"},
           {3, "Layout * * GPU AOS;\nLayout * * CPU AOS;\n"},
           {5, "Layout * * * F_order Align==64;\n"},
           {6, "Task calculate_new_currents CPU, OMP;\n"},
           {8, "InstanceLimit calculate_new_currents 4 Machine;\nInstanceLimit * 0;\n"},
           {9, "Region distribute_charge rp_shared GPU ZCMEM;\n"},
           {10,
            "def deal(Task task) {\n"
            "  flat = mgpu.swap(0, 1).merge(0, 1);\n"
            "  return flat[task.ipoint[0] % flat.size[0]];\n"
            "}\n"
            "IndexTaskMap " +
                tasks + " deal;\n"}}) {
    const StrategyGrade result = grade(number, fixed_and(number, statements));
    EXPECT_TRUE(result.passed) << number << ": " << result.difference;
  }
}

TEST(StrategyGrades, AMappingWithErrorsFailsWithItsFirstError) {
  EXPECT_THAT(grade(2, "Task * GPUS;\n").difference, HasSubstr("`GPUS`"));
  EXPECT_THAT(grade(2, fixed_and(2, "Region * rp_ghost GPU SYSMEM;\n")).difference,
              HasSubstr("circuit:size=small,nodes=1,gpus=4 on p100x4: "));
}

}  // namespace
}  // namespace groma
