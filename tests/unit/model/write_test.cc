// write_mapping(): what the model is asked, which replies are read, and how mistakes are repaired.
// Scripts answer in place of a model.
#include "groma/write.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "groma/benchmarks.h"
#include "support/scripted_model.h"

namespace groma {
namespace {

using ::testing::AllOf;
using testing::fenced;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::ScriptedModel;
using ::testing::StartsWith;
using tuning::to_json;
using tuning::WritingOptions;
using tuning::WritingProblem;
using tuning::WrittenMapping;

const std::string kSentence = "Place the ghost regions onto GPU zero-copy memory.";
const std::string kGood = "Task * GPU, CPU;\nRegion * rp_ghost GPU ZCMEM;\n";
const std::string kSyntaxError = "Task * GPU, CPU;\nRegion * rp_ghost GPU;\n";
const std::string kIdle = kGood + "Region * rp_gost GPU FBMEM;\n";

const Workload& circuit() {
  static const Workload workload =
      Workload::make(with_values(find_benchmark("circuit")->make(), "size=small").value()).value();
  return workload;
}

WritingProblem circuit_problem() {
  WritingProblem problem;
  problem.sentence = kSentence;
  problem.machine = std::make_shared<const Machine>(make_machine("p100x4").value());
  problem.app = &circuit();
  return problem;
}

WrittenMapping write_with(const ScriptedModel& model, const WritingProblem& problem,
                          const WritingOptions& options = {}) {
  llm::ChatClient client = model.client();
  return tuning::write_mapping(client, problem, options);
}

TEST(Write, AsksOnceForAGoodMapping) {
  const ScriptedModel model({"Here it is:\n\n" + fenced(kGood) + "\nIt places the ghosts.\n"});
  const WrittenMapping written = write_with(model, circuit_problem());
  ASSERT_TRUE(written.ok()) << render(written.diags) << written.refusal;
  EXPECT_EQ(written.text, "# " + kSentence + "\n\n" + kGood);
  EXPECT_EQ(written.rounds, 1);
  EXPECT_EQ(model.questions(), 1);
  EXPECT_GT(written.usage.input_tokens, 0);
  EXPECT_FALSE(written.error);
  EXPECT_THAT(draw(written), AllOf(StartsWith("This mapping decides for circuit on p100x4:\n"),
                                   HasSubstr("  on GPU: calculate_new_currents, distribute_charge, "
                                             "update_voltages\n"),
                                   HasSubstr("  ZCMEM, SOA F_order: rp_ghost\n"),
                                   Not(HasSubstr("decide nothing"))));
}

TEST(Write, TheQuestionHasTheCardTheMachineTheTasksAndTheSentence) {
  const ScriptedModel model({fenced(kGood)});
  WritingProblem problem = circuit_problem();
  problem.start = "Task * GPU;\n";
  ASSERT_TRUE(write_with(model, problem).ok());
  EXPECT_THAT(
      model.question(0),
      AllOf(HasSubstr("REFERENCE CARD"), HasSubstr("4 GPU"), HasSubstr("calculate_new_currents"),
            HasSubstr("rp_ghost"), HasSubstr("SENTENCE\n" + kSentence),
            HasSubstr("CURRENT MAPPING"), HasSubstr("in one fenced block")));
}

TEST(Write, AConstrainedReplyKeepsToTheGrammarOfTheApplication) {
  const ScriptedModel model({kGood});
  ASSERT_TRUE(write_with(model, circuit_problem(), {.constrain = true, .temperature = 0.5}).ok());
  EXPECT_THAT(model.request(0)["grammar"].get<std::string>(),
              AllOf(HasSubstr("root ::="), HasSubstr("rp_ghost"), Not(HasSubstr("\"OMP\""))));
  EXPECT_EQ(model.request(0)["temperature"], 0.5);
  EXPECT_THAT(model.question(0), HasSubstr("Reply with the whole program and nothing else."));
}

TEST(Write, ShowsTheModelItsErrors) {
  const ScriptedModel model({fenced(kSyntaxError), fenced("Task * GPUS;\n"), fenced(kGood)});
  const WrittenMapping written = write_with(model, circuit_problem());
  EXPECT_TRUE(written.ok()) << render(written.diags);
  EXPECT_EQ(written.rounds, 3);
  EXPECT_THAT(model.question(1),
              AllOf(HasSubstr("user: "), HasSubstr("assistant: ```\n" + kSyntaxError),
                    HasSubstr("Your mapping has mistakes:\n<mapping>:2:"),
                    HasSubstr("Region * rp_ghost GPU;")));
  // Only the last reply is repeated.
  EXPECT_THAT(model.question(2), AllOf(HasSubstr("GPUS"), Not(HasSubstr("rp_ghost GPU;"))));
}

TEST(Write, ShowsTheErrorsOfAProgramWithoutABlock) {
  for (const std::string& reply : {kSyntaxError, "# Ghosts\n" + kSyntaxError}) {
    const ScriptedModel model({reply, kGood});
    EXPECT_TRUE(write_with(model, circuit_problem()).ok());
    EXPECT_THAT(model.question(1), HasSubstr("Your mapping has mistakes:\n<mapping>:"));
  }
  // Between sentences, only the mistake is told.
  const ScriptedModel model({"I write:\n" + kSyntaxError + "Good?\n", kGood});
  EXPECT_TRUE(write_with(model, circuit_problem()).ok());
  EXPECT_THAT(model.question(1), AllOf(HasSubstr("Your reply could not be used: "),
                                       HasSubstr("Region * rp_ghost GPU;")));
}

TEST(Write, ShowsTheModelWhatARunWouldRefuse) {
  const ScriptedModel model({fenced("Task * GPU, CPU;\nRegion * * GPU SYSMEM;\n"), fenced(kGood)});
  EXPECT_TRUE(write_with(model, circuit_problem()).ok());
  EXPECT_THAT(model.question(1), HasSubstr("error: "));
}

TEST(Write, KeepsTheLastErrorsAfterTheRepairs) {
  const ScriptedModel model({fenced("Task * GPUS;\n"), fenced(kSyntaxError), fenced(kGood)});
  const WrittenMapping written = write_with(model, circuit_problem(), {.repairs = 1});
  EXPECT_FALSE(written.ok());
  EXPECT_EQ(written.rounds, 2);
  EXPECT_THAT(written.text, HasSubstr("Region * rp_ghost GPU;"));
  EXPECT_TRUE(written.diags.has_errors());
  EXPECT_FALSE(written.explanation);
  const ScriptedModel once({fenced(kSyntaxError), fenced(kGood)});
  EXPECT_FALSE(write_with(once, circuit_problem(), {.repairs = 0}).ok());
  EXPECT_EQ(once.questions(), 1);
}

TEST(Write, TellsTheModelOnceOfStatementsThatDecideNothing) {
  const ScriptedModel model({fenced(kIdle), fenced(kIdle), fenced(kGood)});
  const WrittenMapping written = write_with(model, circuit_problem());
  EXPECT_TRUE(written.ok());
  EXPECT_EQ(written.rounds, 2);
  EXPECT_THAT(model.question(1),
              AllOf(HasSubstr("valid, but there are warnings"), HasSubstr("rp_gost"),
                    HasSubstr("decide nothing for the application"),
                    HasSubstr("no task, region or launch matches it")));
  EXPECT_THAT(draw(written), HasSubstr("Statements that decide nothing here\n  <mapping>:5:1: "
                                       "Region * rp_gost GPU FBMEM"));
}

TEST(Write, ARepairWithErrorsDoesNotReplaceAMappingWithout) {
  const ScriptedModel model({fenced(kIdle), fenced(kSyntaxError), fenced(kGood)});
  const WrittenMapping written = write_with(model, circuit_problem());
  EXPECT_TRUE(written.ok());
  EXPECT_THAT(written.text, HasSubstr("rp_gost"));
  EXPECT_EQ(model.questions(), 2);
  const ScriptedModel prose({fenced(kIdle), "This is what the sentence means."});
  EXPECT_TRUE(write_with(prose, circuit_problem()).ok());
}

TEST(Write, ReadsTheFormsInWhichModelsReply) {
  for (const std::string& reply : std::vector<std::string>{
           kGood, "<think>ghosts...</think>\n" + fenced(kGood),
           "```task\nTask * GPU, CPU;\n```\n```region\nRegion * rp_ghost GPU ZCMEM;\n```\n",
           std::string("{\"task\": \"Task * GPU, CPU;\", \"region\": \"Region * rp_ghost GPU "
                       "ZCMEM;\"}"),
           "I use these statements.\n" + kGood + "That is all.\n"}) {
    const ScriptedModel model({reply});
    const WrittenMapping written = write_with(model, circuit_problem(), {.repairs = 0});
    EXPECT_TRUE(written.ok()) << reply << written.refusal;
    EXPECT_THAT(written.text, AllOf(HasSubstr("\n\nTask * GPU, CPU;\n"),
                                    HasSubstr("\nRegion * rp_ghost GPU ZCMEM;\n")))
        << reply;
  }
}

TEST(Write, AsksAgainAfterAReplyWithoutAMapping) {
  const ScriptedModel model({"I cannot do that.", fenced(kGood)});
  EXPECT_TRUE(write_with(model, circuit_problem()).ok());
  EXPECT_THAT(model.question(1), AllOf(HasSubstr("assistant: I cannot do that."),
                                       HasSubstr("Your reply could not be used: ")));
  const ScriptedModel never({"No.", "No!"});
  const WrittenMapping nothing = write_with(never, circuit_problem(), {.repairs = 1});
  EXPECT_FALSE(nothing.ok());
  EXPECT_EQ(nothing.text, "");
  EXPECT_NE(nothing.refusal, "");
  EXPECT_EQ(nothing.rounds, 2);
  const ScriptedModel endless({fenced(std::string(100'000, '#') + "\n" + kGood)});
  EXPECT_THAT(
      write_with(endless, circuit_problem(), {.repairs = 0, .reply_tokens = 100'000}).refusal,
      HasSubstr("100047 bytes"));
  const ScriptedModel cut({fenced(std::string(100'000, '#') + "\n" + kGood)});
  EXPECT_THAT(write_with(cut, circuit_problem(), {.repairs = 0}).refusal,
              HasSubstr("it was cut off at the limit of tokens"));
}

TEST(Write, ReportsAnEndpointThatFails) {
  const WrittenMapping nothing = write_with(ScriptedModel({}), circuit_problem());
  EXPECT_FALSE(nothing.ok());
  ASSERT_TRUE(nothing.error);
  EXPECT_EQ(nothing.rounds, 0);
  // The mapping of the first round stays.
  const WrittenMapping first = write_with(ScriptedModel({fenced(kIdle)}), circuit_problem());
  EXPECT_TRUE(first.ok());
  EXPECT_TRUE(first.error);
}

TEST(Write, WithoutAnApplicationOnlyTheTextIsChecked) {
  const ScriptedModel model({fenced("Task anything GPU;\n")});
  const WrittenMapping written = write_with(model, {.sentence = "anything on\nGPUs"});
  EXPECT_TRUE(written.ok());
  EXPECT_EQ(written.text, "# anything on\n# GPUs\n\nTask anything GPU;\n");
  EXPECT_FALSE(written.explanation);
  EXPECT_THAT(draw(written), StartsWith("Only the text of this mapping was checked."));
  EXPECT_THAT(model.question(0), HasSubstr("APPLICATION: not known."));
  // A machine alone is checked.
  WritingProblem problem = circuit_problem();
  problem.app = nullptr;
  problem.machine =
      std::make_shared<const Machine>(make_machine("nodes=1,gpu=0,cpu=2,omp=0").value());
  const ScriptedModel gpus({fenced("m = Machine(GPU);\n" + kGood), fenced(kGood)});
  write_with(gpus, problem);
  EXPECT_EQ(gpus.questions(), 2);
}

TEST(Write, ASentenceWithHiddenCharactersAndLongLinesIsAHarmlessComment) {
  const ScriptedModel model({fenced(kGood)});
  WritingProblem problem = circuit_problem();
  problem.sentence = "all \x1b[31mtasks\n";
  for (int i = 0; i < 40; ++i) problem.sentence += "\ngo to GPUs";
  problem.sentence += " " + std::string(300, 'x') + " " + std::string(90, 'y') + " zz zz zz zz";
  const WrittenMapping written = write_with(model, problem);
  EXPECT_TRUE(written.ok()) << render(written.diags);
  EXPECT_THAT(written.text, AllOf(StartsWith("# all \\u001b[31mtasks\n#\n# go to GPUs\n"),
                                  HasSubstr(" zz zz\n# zz zz\n\nTask"), Not(HasSubstr("\x1b"))));
}

TEST(Write, AsJson) {
  const ScriptedModel model({fenced(kGood)});
  const auto good = nlohmann::json::parse(to_json(write_with(model, circuit_problem())));
  EXPECT_EQ(good["status"], "ok");
  EXPECT_THAT(good["mapping"].get<std::string>(), HasSubstr(kGood));
  EXPECT_EQ(good["decisions"]["application"], "circuit");
  EXPECT_GT(good["decisions"]["tasks"].size(), 3U);
  EXPECT_EQ(good["rounds"], 1);
  EXPECT_GT(good["tokens"]["input"], 0);
  EXPECT_EQ(good["error"], nullptr);
  const ScriptedModel bad({fenced(kSyntaxError)});
  const auto invalid =
      nlohmann::json::parse(to_json(write_with(bad, circuit_problem(), {.repairs = 0})));
  EXPECT_EQ(invalid["status"], "invalid");
  EXPECT_EQ(invalid["decisions"], nullptr);
  EXPECT_EQ(invalid["diagnostics"].size(), 1U);
  const auto none =
      nlohmann::json::parse(to_json(write_with(ScriptedModel({}), circuit_problem())));
  EXPECT_EQ(none["status"], "no-mapping");
  EXPECT_EQ(none["mapping"], nullptr);
  EXPECT_NE(none["error"]["message"], "");
}

}  // namespace
}  // namespace groma
