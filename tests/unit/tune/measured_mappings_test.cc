// Mappings that are measured with a command and checked by the embedded runtime, and the commands
// that measure a Legion program.
#include <gmock/gmock.h>

#include "groma/benchmarks.h"
#include "groma/evaluators.h"
#include "support/files.h"
#include "support/temporary_folder.h"

namespace groma {
namespace {

using test::TemporaryFolder;
using ::testing::ElementsAre;
using testing::read_text;

TEST(MeasuredMappings, AreRunByTheCommandOnlyIfTheRuntimeTakesThem) {
  const TemporaryFolder folder;
  const auto machine = std::make_shared<const Machine>(*make_machine("p100x4"));
  const auto runtime = tuning::make_simulated_evaluator(
      machine, {*Workload::make(find_benchmark("circuit")->make())});
  tuning::CommandEvaluatorOptions options;
  options.command = "cat {file} >> seen; echo time: 2 s";
  options.metric_pattern = "time: (\\S+) s";
  options.unit = "steps";
  options.repeats = 1;
  options.folder = folder.path();
  auto command = tuning::make_command_evaluator(options);
  ASSERT_TRUE(command.ok()) << command.error().message;
  const auto evaluator =
      tuning::make_measured_mappings_evaluator(std::move(command).value(), *runtime);
  EXPECT_EQ(evaluator->unit(), "steps");
  EXPECT_FALSE(evaluator->simulated());
  const std::string good = "Task * CPU;\n";
  EXPECT_TRUE(evaluator->check("Task * NOWHERE;\n", GuideDetail::kNone));
  EXPECT_FALSE(evaluator->check(good, GuideDetail::kNone));
  EXPECT_EQ(evaluator->canonical("Task  *  CPU ;  # a comment\n"), evaluator->canonical(good));
  EXPECT_EQ(evaluator->evaluate({good}).values, std::vector<double>{2});
  EXPECT_EQ(read_text(folder.path() + "/seen"), good);
}

TEST(LegionCommands, QuoteTheirWordsForTheShell) {
  tuning::CommandEvaluatorOptions options;
  options.repeats = 7;
  options = tuning::with_legion_commands(std::move(options), "/opt/it's here/groma",
                                         {"cannon:n=64", "circuit"}, {"-ll:cpu", "2", "$(rm)"});
  EXPECT_EQ(options.repeats, 7);
  EXPECT_THAT(options.inputs, ElementsAre("cannon:n=64", "circuit"));
  EXPECT_EQ(options.metric_pointer, "/seconds");
  EXPECT_EQ(options.command,
            "'/opt/it'\\''s here/groma' run {file} --on legion --app {input} --json --checks never "
            "-- '-ll:cpu' '2' '$(rm)'");
  EXPECT_EQ(options.check_command,
            "'/opt/it'\\''s here/groma' run {file} --on legion --app {input} --checks always "
            "-- '-ll:cpu' '2' '$(rm)'");
}

}  // namespace
}  // namespace groma
