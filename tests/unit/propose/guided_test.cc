// guided: every move is a mapping that the checker accepts or knows why not, and the search finds
// what is worth finding.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <set>

#include "groma/app_builder.h"
#include "groma/benchmarks.h"
#include "groma/evaluate.h"
#include "groma/evaluators.h"
#include "groma/inspect.h"
#include "groma/proposers.h"
#include "groma/syntax.h"
#include "space/draft.h"
#include "space/factorisations.h"
#include "support/temporary_folder.h"
#include "support/tune_round.h"

namespace groma::tuning {
namespace {

using test::TemporaryFolder;
using ::testing::ElementsAre;

SearchProblem problem_of(const std::string& app, const std::string& machine) {
  SearchProblem problem;
  problem.machine = std::make_shared<const Machine>(make_machine(machine).value());
  problem.inputs.push_back(
      Workload::make(with_values(find_benchmark(app)->make(), "size=small").value()).value());
  return problem;
}

TEST(Factorisations, AreAllThereAre) {
  EXPECT_EQ(factorisations(1, 3, 100).size(), 1U);
  EXPECT_THAT(factorisations(4, 2, 100),
              ElementsAre(ElementsAre(1, 4), ElementsAre(2, 2), ElementsAre(4, 1)));
  EXPECT_EQ(factorisations(12, 3, 100).size(), 18U);
  EXPECT_EQ(factorisations(12, 3, 5).size(), 5U);
  for (const auto& each : factorisations(360, 4, 10'000)) {
    EXPECT_EQ(each[0] * each[1] * each[2] * each[3], 360);
  }
}

TEST(DraftMaker, EveryMoveIsAnotherProgramInTheLanguage) {
  for (const char* app : {"circuit", "solomonik", "stencil"}) {
    const SearchProblem problem = problem_of(app, "lassen:nodes=4");
    const DraftMaker drafts(*problem.machine, problem.inputs.front());
    EXPECT_EQ(drafts.text_of(drafts.draft_without_decisions()), "");
    MappingDraft at = drafts.draft_without_decisions();
    std::set<std::string> texts;
    for (std::uint64_t step = 0; step < 4; ++step) {
      const std::string before = drafts.text_of(at);
      std::size_t same = 0, moves = 0;
      for (const DraftChange& move : drafts.single_changes(at, nullptr)) {
        ++moves;
        const std::string text = drafts.text_of(move.draft);
        same += text == before ? 1U : 0U;
        if (!texts.insert(text).second) continue;
        Diagnostics diags(Source("move.mapper", text));
        ASSERT_TRUE(check(diags.source(), problem.machine.get(), diags).has_value())
            << render(diags) << text;
        EXPECT_FALSE(move.description.empty());
      }
      EXPECT_GT(moves, 100U);
      EXPECT_LT(same, moves / 2) << app;
      at = drafts.random_change(at, step).draft;
      at = drafts.random_change(at, step + 100).draft;
    }
  }
}

// A statement in a block that acts takes precedence, so a decision is written there.
TEST(DraftMaker, DecidesAlsoWhatBlocksDecide) {
  const SearchProblem problem = problem_of("stencil", "p100x4");
  const DraftMaker maker(*problem.machine, problem.inputs.front());
  const MappingDraft start = maker.draft_without_decisions(
      "Task * GPU;\nwhen Machine(GPU).volume > 0 {\n  Task stencil CPU;\n}\n"
      "when Machine(GPU).volume == 0 { Task stencil OMP; }\n");
  std::set<std::string> kinds;
  for (const DraftChange& change : maker.single_changes(start, nullptr)) {
    if (change.aspect != DraftChange::Aspect::kKind) continue;
    const std::string text = maker.text_of(change.draft);
    Diagnostics diags(Source("a.mapper", text));
    const auto bound = bind(compile(diags.source(), diags), *problem.machine, diags);
    ASSERT_TRUE(bound) << render(diags) << text;
    EXPECT_TRUE(diags.all().empty()) << render(diags) << text;
    kinds.insert(std::string(name_of(bound->program().task("stencil")->kinds.front())));
    EXPECT_NE(text.find("when Machine(GPU).volume == 0 { Task stencil OMP; }"), text.npos) << text;
  }
  EXPECT_TRUE(kinds.contains("GPU"));
}

// A selector is more specific than a name, so a decision is also made about what it selects.
TEST(DraftMaker, DecidesAlsoWhatSelectorsDecide) {
  const SearchProblem problem = problem_of("stencil", "p100x4");
  const DraftMaker maker(*problem.machine, problem.inputs.front());
  const MappingDraft start =
      maker.draft_without_decisions("Task * GPU;\nTask main > stencil CPU;\n");
  std::set<std::string> texts;
  for (const DraftChange& change : maker.single_changes(start, nullptr)) {
    if (change.aspect == DraftChange::Aspect::kKind) texts.insert(maker.text_of(change.draft));
  }
  EXPECT_TRUE(
      texts.contains("Task stencil CPU, GPU;\nTask main > stencil CPU, GPU;\n\nTask * GPU;\n"))
      << ::testing::PrintToString(texts);
  for (const std::string& text : texts) {
    Diagnostics diags(Source("a.mapper", text));
    const auto bound = bind(compile(diags.source(), diags), *problem.machine, diags);
    ASSERT_TRUE(bound) << render(diags) << text;
    EXPECT_TRUE(diags.all().empty()) << render(diags) << text;
  }
}

TEST(DraftMaker, WhatCostsMostWeighsMost) {
  const SearchProblem problem = problem_of("circuit", "p100x4");
  const DraftMaker drafts(*problem.machine, problem.inputs.front());
  ProfileFacts facts;
  facts.causes.emplace_back();
  facts.causes.back().doing = "copy";
  facts.causes.back().region = "rp_shared";
  facts.causes.back().share = 0.7;
  facts.copies = 0.7;
  const auto moves = drafts.single_changes(drafts.draft_without_decisions(), &facts);
  const auto heaviest = std::max_element(
      moves.begin(), moves.end(),
      [](const DraftChange& a, const DraftChange& b) { return a.weight < b.weight; });
  EXPECT_NE(heaviest->description.find("rp_shared"), std::string::npos) << heaviest->description;
}

TuneOutcome search(const SearchProblem& problem, bool estimates, std::uint64_t seed) {
  auto evaluator = make_simulated_evaluator(problem.machine, problem.inputs);
  auto estimator = make_simulated_evaluator(problem.machine, problem.inputs);
  auto proposer = make_proposer("guided", problem, seed).value();
  TuneOptions options;
  options.seed = seed;
  options.budget.evaluations = 10;
  options.budget.estimates = 300;
  return tune(problem, *evaluator, *proposer, nullptr, estimates ? estimator.get() : nullptr,
              options)
      .value();
}

TEST(Guided, IsFasterThanTheDefaultMapperInTenEvaluations) {
  const SearchProblem problem = problem_of("solomonik", "p100x4");
  const TuneOutcome outcome = search(problem, false, 1);
  ASSERT_TRUE(outcome.best && outcome.start);
  EXPECT_LT(outcome.best->evaluation.score, 0.97 * outcome.start->evaluation.score);
  EXPECT_EQ(outcome.spent.evaluations, 10);
  EXPECT_EQ(search(problem, false, 1).best->proposal.text, outcome.best->proposal.text);
}

TEST(Guided, AsksTheEstimatesFirst) {
  const SearchProblem problem = problem_of("solomonik", "p100x4");
  const TuneOutcome outcome = search(problem, true, 1), again = search(problem, true, 1);
  ASSERT_TRUE(outcome.best && outcome.start);
  EXPECT_LE(outcome.spent.estimates, 300);
  EXPECT_GT(outcome.spent.estimates, 100);
  // The first that it proposes is the best that the estimates know.
  EXPECT_EQ(outcome.best->number, 2);
  EXPECT_LT(outcome.best->evaluation.score, outcome.start->evaluation.score);
  EXPECT_EQ(again.trajectory, outcome.trajectory);
  const TuneOutcome without = search(problem, false, 1);
  EXPECT_LE(outcome.best->evaluation.score, without.best->evaluation.score);
}

// It asks for a profile where it may see one, and for nothing else where it may not.
TEST(Guided, SeesNoMoreThanTheFeedbackThatIsAllowed) {
  const SearchProblem problem = problem_of("solomonik", "p100x4");
  class Few : public testing::FakeRound {
   public:
    using FakeRound::FakeRound;
    std::vector<Evaluation> estimate(std::span<const std::string> texts,
                                     GuideDetail detail) override {
      most_detail = std::max(most_detail, detail);
      return ++calls > 20 ? std::vector<Evaluation>() : FakeRound::estimate(texts, detail);
    }
    GuideDetail most_detail = GuideDetail::kNone;
    int calls = 0;
  };
  for (const GuideDetail level :
       {GuideDetail::kNone, GuideDetail::kSuggest, GuideDetail::kProfile}) {
    const auto evaluator = make_simulated_evaluator(problem.machine, problem.inputs);
    Few round(problem, *evaluator);
    round.shown = level;
    round.estimates = true;
    const auto proposer = make_proposer("guided", problem, 1).value();
    EXPECT_EQ(round.play(*proposer), 1U);
    EXPECT_EQ(round.calls, 0);  // the start comes first
    EXPECT_EQ(round.play(*proposer), 1U);
    EXPECT_EQ(round.most_detail, level);
  }
}

// The first move is the failure's: what had no room may lie in the next memory, and nothing else.
TEST(Guided, MakesRoomForWhatFailedForWantOfIt) {
  const struct {
    const char* app;
    const char* machine;
    std::string start, added;
  } kCases[] = {{"circuit", "p100x4:fbmem=1", "",
                 "Region calculate_new_currents 3 GPU FBMEM, ZCMEM;\n"
                 "Region calculate_new_currents 4 GPU FBMEM, ZCMEM;\n"
                 "Region distribute_charge 3 GPU FBMEM, ZCMEM;\n"},
                {"cannon", "p100x4:fbmem=5", "", "Region taco_fill 0 GPU FBMEM, ZCMEM;\n"},
                {"circuit", "p100x4:zcmem=1", "Region * * GPU ZCMEM;\n",
                 "Region distribute_charge 3 GPU ZCMEM, FBMEM;\n"}};
  for (const auto& each : kCases) {
    SCOPED_TRACE(std::string(each.app) + " " + each.machine);
    SearchProblem problem = problem_of(each.app, each.machine);
    problem.start = each.start;
    for (const bool estimates : {false, true}) {
      if (!problem.start.empty()) continue;  // a search is not begun with what cannot run
      const TuneOutcome outcome = search(problem, estimates, 1);
      ASSERT_TRUE(outcome.start && outcome.best);
      EXPECT_FALSE(outcome.start->evaluation.ok());
    }
    const auto evaluator = make_simulated_evaluator(problem.machine, problem.inputs);
    testing::FakeRound round(problem, *evaluator);
    const auto proposer = make_proposer("guided", problem, 1).value();
    for (int steps = 0; steps < 2; ++steps)
      ASSERT_EQ(round.play(*proposer), 1U);  // after the start
    const std::string text = round.past.last()->proposal.text;
    EXPECT_THAT(text, ::testing::HasSubstr(each.added));
    EXPECT_THAT(round.past.last()->proposal.why, ::testing::HasSubstr("where there is room"));
    // What only the run finds is answered, too.
    for (int steps = 0; steps < 3 && round.past.best() == nullptr; ++steps) {
      ASSERT_EQ(round.play(*proposer), 1U);
    }
    EXPECT_NE(round.past.best(), nullptr) << text;
  }
}

// From what the journal says it goes on as it went.
TEST(Guided, MakesTheSameRoomWhenResumed) {
  const TemporaryFolder folder;
  const SearchProblem problem = problem_of("circuit", "p100x4:fbmem=1");
  const auto search = [&](const std::string& name, std::int64_t evaluations, bool resume) {
    auto evaluator = make_simulated_evaluator(problem.machine, problem.inputs);
    auto proposer = make_proposer("guided", problem, 1).value();
    TuneOptions options;
    options.directory = folder.path() + "/" + name;
    options.budget.evaluations = evaluations;
    options.resume = resume;
    return tune(problem, *evaluator, *proposer, nullptr, nullptr, options).value();
  };
  const TuneOutcome whole = search("whole", 6, false);
  search("cut", 1, false);
  EXPECT_EQ(search("cut", 6, true).trajectory, whole.trajectory);
  EXPECT_FALSE(whole.trajectory.empty());
}

// Ten evaluations with rehearsals, without any simulated run beside them.
TuneOutcome search_with_rehearsals(const SearchProblem& problem, std::uint64_t seed,
                                   double least_gain = 0) {
  auto evaluator = make_simulated_evaluator(problem.machine, problem.inputs);
  auto estimator = make_rehearsed_estimator(problem.machine, problem.inputs);
  auto proposer = make_proposer("guided", problem, seed).value();
  TuneOptions options;
  options.seed = seed;
  options.budget.evaluations = 10;
  options.budget.estimates = 400;
  options.least_gain = least_gain;
  return tune(problem, *evaluator, *proposer, nullptr, estimator.get(), options).value();
}

TEST(Guided, FindsAGoodMappingByRehearsals) {
  const SearchProblem problem = problem_of("cosma", "lassen:nodes=4");
  const TuneOutcome outcome = search_with_rehearsals(problem, 1);
  ASSERT_TRUE(outcome.best && outcome.start);
  EXPECT_LT(outcome.best->evaluation.score, 0.6 * outcome.start->evaluation.score);
  EXPECT_EQ(outcome.spent.evaluations, 10);
  EXPECT_EQ(search_with_rehearsals(problem, 1).trajectory, outcome.trajectory);
}

// The record of a search has its estimates, so a search that was cut ends like the whole one.
TEST(Guided, EndsTheSameWhenResumedWithRehearsals) {
  const SearchProblem problem = problem_of("stencil", "p100x4");
  const TemporaryFolder folder;
  const auto tuned = [&](const std::string& name, std::int64_t evaluations, bool resume) {
    const auto evaluator = make_simulated_evaluator(problem.machine, problem.inputs);
    const auto estimator = make_rehearsed_estimator(problem.machine, problem.inputs);
    const auto proposer = make_proposer("guided", problem, 3).value();
    TuneOptions options;
    options.budget.evaluations = evaluations;
    options.budget.estimates = 200;
    options.directory = folder.path() + "/" + name;
    options.resume = resume;
    return tune(problem, *evaluator, *proposer, nullptr, estimator.get(), options).value();
  };
  const TuneOutcome whole = tuned("whole", 6, false);
  tuned("cut", 3, false);
  const TuneOutcome resumed = tuned("cut", 6, true);
  EXPECT_EQ(resumed.trajectory, whole.trajectory);
  EXPECT_EQ(resumed.spent.estimates, whole.spent.estimates);
  EXPECT_EQ(resumed.best->proposal.text, whole.best->proposal.text);
}

// A poor start must not hide what the default mapper does well.
TEST(Guided, IsNoWorseThanTheDefaultMapperFromAPoorStart) {
  SearchProblem problem = problem_of("stencil", "p100x4");
  const double plain = search_with_rehearsals(problem, 1).start->evaluation.score;
  problem.start =
      "Task * CPU;\nRegion * * * SYSMEM;\n"
      "def one(Task t) { return Machine(CPU)[0, 0]; }\nIndexTaskMap * one;\n";
  const TuneOutcome outcome = search_with_rehearsals(problem, 1);
  EXPECT_GT(outcome.start->evaluation.score, 5 * plain);
  EXPECT_LE(outcome.best->evaluation.score, 1.001 * plain);
}

// What it proposes from the estimates has no statement without which the estimate is as good.
TEST(Guided, ProposesNoStatementThatGainsNothing) {
  const SearchProblem problem = problem_of("solomonik", "p100x4");
  const auto evaluator = make_simulated_evaluator(problem.machine, problem.inputs);
  const auto estimator = make_rehearsed_estimator(problem.machine, problem.inputs);
  const auto proposer = make_proposer("guided", problem, 2).value();
  TuneOptions options;
  options.budget.evaluations = 2;  // the start, and the first proposal
  options.budget.estimates = 400;
  options.compare = true;  // nothing is simplified after the search
  std::string text;
  options.on_event = [&](const TuneEvent& event) {
    if (event.kind == TuneEvent::Kind::kProposed) text = event.proposal->text;
  };
  ASSERT_TRUE(tune(problem, *evaluator, *proposer, nullptr, estimator.get(), options).ok());
  const edit::EditableMapping mapping(text);
  ASSERT_FALSE(mapping.items().empty());
  const double score = estimator->evaluate({text}).score;
  for (std::size_t i = 0; i < mapping.items().size(); ++i) {
    if (!mapping.items()[i].statement) continue;
    EXPECT_GT(estimator->evaluate({mapping.text_without(i)}).score, score)
        << mapping.text_without(i);
  }
}

// A rehearsal of so many points ends early. The search then goes on as without estimates.
TEST(Guided, GoesOnWithoutEstimatesOfALargeApplication) {
  const SearchProblem problem = problem_of("solomonik", "p100x4");
  class None : public Evaluator {
   public:
    std::vector<std::string> inputs() const override { return {"none"}; }
    std::string unit() const override { return "s"; }
    Evaluation evaluate(const EvaluationRequest&) override { return {}; }
  };
  const auto evaluator = make_simulated_evaluator(problem.machine, problem.inputs);
  None none;
  const auto proposer = make_proposer("guided", problem, 1).value();
  TuneOptions options;
  options.seed = 1;
  const TuneOutcome outcome = tune(problem, *evaluator, *proposer, nullptr, &none, options).value();
  EXPECT_EQ(outcome.spent.estimates, 1);
  EXPECT_EQ(outcome.trajectory, search(problem, false, 1).trajectory);
}

TEST(Guided, KeepsAStartThatIsNearlyAsGood) {
  const SearchProblem problem = problem_of("solomonik", "p100x4");
  const TuneOutcome found = search_with_rehearsals(problem, 1);
  const double gain = 1 - found.best->evaluation.score / found.start->evaluation.score;
  ASSERT_GT(gain, 0);
  const TuneOutcome kept = search_with_rehearsals(problem, 1, gain + 0.01);
  ASSERT_TRUE(kept.best && kept.too_little);
  EXPECT_EQ(kept.best->number, kept.start->number);
  EXPECT_EQ(kept.too_little->evaluation.score, found.best->evaluation.score);
  const auto evaluator = make_simulated_evaluator(problem.machine, problem.inputs);
  EXPECT_THAT(draw(kept, *evaluator), ::testing::HasSubstr("nothing is worth changing: step"));
  EXPECT_THAT(to_json(kept), ::testing::HasSubstr("\"too_little\""));
  const TuneOutcome changed = search_with_rehearsals(problem, 1, gain - 0.01);
  EXPECT_FALSE(changed.too_little);
  EXPECT_EQ(changed.best->proposal.text, found.best->proposal.text);
}

// A function that does what a function with a name does gets that name, since it reads better.
TEST(PlacementFunctions, HaveTheNameThatReadsBest) {
  const Machine machine = make_machine("p100x4").value();
  const PlacementFunctionCache functions(machine);
  const std::vector<std::int64_t> extents = {4, 4};
  const auto& known = functions.functions_for(extents, ProcKind::kGpu);
  const auto common = edit::common_index_functions(2);
  EXPECT_EQ(known.front()->name, common.front());
  std::set<std::string> names;
  for (std::uint64_t draw = 0; draw < 300; ++draw) {
    names.insert(functions.random_function(extents, ProcKind::kGpu, draw)->name);
  }
  EXPECT_TRUE(std::any_of(common.begin(), common.end(),
                          [&](const std::string& name) { return names.contains(name); }));
  EXPECT_GT(names.size(), 20U);
}

TEST(DraftMaker, CanRunEverythingOnOneProcessor) {
  const SearchProblem problem = problem_of("cannon", "lassen:nodes=4");
  const DraftMaker drafts(*problem.machine, problem.inputs.front());
  const auto moves = drafts.single_changes(drafts.draft_without_decisions(), nullptr);
  const auto one = std::find_if(moves.begin(), moves.end(), [](const DraftChange& move) {
    return move.description == "everything on the first processor of its kind";
  });
  ASSERT_NE(one, moves.end());
  const std::string text = drafts.text_of(one->draft);
  EXPECT_NE(text.find("SingleTaskMap task_4 first_processor_gpu"), std::string::npos) << text;
  EXPECT_NE(text.find("first_processor_gpu;\n"), std::string::npos) << text;
  // Without its decisions it is the default mapper again.
  MappingDraft draft = one->draft;
  for (const DraftDecision& decision : decisions_of(draft)) remove_decision(draft, decision);
  EXPECT_EQ(drafts.text_of(draft), "");
}

TEST(Guided, BeginsWithTheStart) {
  SearchProblem problem = problem_of("circuit", "p100x4");
  problem.start = "Region * * GPU ZCMEM;\n\ndef grid_1_of_4_b_gpu(Task task) {\n  return 0;\n}\n";
  const TuneOutcome outcome = search(problem, false, 1);
  ASSERT_TRUE(outcome.best && outcome.start);
  EXPECT_GT(outcome.best->number, 1);
  EXPECT_LT(outcome.best->evaluation.score, outcome.start->evaluation.score);
  EXPECT_NE(outcome.best->proposal.text.find("Region * * GPU ZCMEM;"), std::string::npos)
      << outcome.best->proposal.text;
}

// A start that is a mapping of guided's own has its functions already.
TEST(DraftMaker, AddToAnotherMapping) {
  const SearchProblem problem = problem_of("circuit", "p100x4");
  const DraftMaker drafts(*problem.machine, problem.inputs.front());
  std::string text = "Task * CPU;\n";
  for (std::uint64_t step = 0; step < 12; ++step) {
    const MappingDraft at = drafts.random_change(drafts.draft_without_decisions(text), step).draft;
    const std::string next = drafts.text_of(at);
    EXPECT_NE(next, text);
    Diagnostics diags(Source("draft", next));
    check(diags.source(), problem.machine.get(), diags);
    EXPECT_FALSE(diags.has_errors()) << render(diags) << next;
    text = next;
  }
  EXPECT_NE(text.find("Task * CPU;"), std::string::npos);
}

// Nodes without GPUs: no function can name one.
TEST(DraftMaker, StandBelowTheHeaderOfAnotherMapping) {
  const SearchProblem problem = problem_of("circuit", "p100x4");
  const DraftMaker drafts(*problem.machine, problem.inputs.front());
  const auto limited = [&](const std::string& base) {
    MappingDraft draft = drafts.draft_without_decisions(base);
    draft.tasks[0].instance_limit = 2;
    return drafts.text_of(draft);
  };
  const std::string added = limited("");
  ASSERT_THAT(added, ::testing::StartsWith("InstanceLimit "));
  const std::string rest = "Task * GPU;\n";
  EXPECT_EQ(limited(rest), added + "\n" + rest);
  for (const char* header : {"# Mine.\n", "# Mine.\n#\n// All of it.\n"}) {
    const std::string whole = fmt::format("{}\n{}\n{}", header, added, rest);
    EXPECT_EQ(limited(header + rest), whole);
    EXPECT_EQ(limited(fmt::format("{}\n{}", header, rest)), whole);
  }
}

TEST(DraftMaker, UnequalNodesHaveNoFunctions) {
  std::vector<NodeType> types = make_machine("p100x4").value().node_types();
  types.push_back(types.front());
  std::erase_if(types.back().processors,
                [](const ProcessorGroup& group) { return group.kind == ProcKind::kGpu; });
  std::erase_if(types.back().affinities,
                [](const Affinity& affinity) { return affinity.processor == ProcKind::kGpu; });
  const Machine machine = Machine::make("unequal", "", types, {0, 1}).value();
  const SearchProblem problem = problem_of("circuit", "p100x4");
  const DraftMaker drafts(machine, problem.inputs.front());
  EXPECT_FALSE(drafts.single_changes(drafts.draft_without_decisions(), nullptr).empty());
  for (std::uint64_t random = 0; random < 100; ++random) {
    EXPECT_EQ(drafts.text_of(drafts.random_change(drafts.draft_without_decisions(), random).draft)
                  .find("def grid"),
              std::string::npos);
  }
}

TEST(Guided, LaunchesWithoutPointsAreNoLaunches) {
  AppBuilder app("empty");
  app.task("work").variant(gpu().leaf()).variant(cpu().leaf());
  app.task("main").variant(cpu()).body({launch("work").over({0, 4}), launch("work").over({4})});
  app.top_level("main");
  SearchProblem problem = problem_of("circuit", "p100x4");
  problem.inputs = {Workload::make(app.done()).value()};
  EXPECT_TRUE(search(problem, false, 1).best.has_value());
}

// Of whose texts those that say CPU, or nothing, may fail.
class Doubtful : public Evaluator {
 public:
  explicit Doubtful(const SearchProblem& problem, bool start_may_fail = false)
      : start_may_fail_(start_may_fail),
        evaluator_(make_simulated_evaluator(problem.machine, problem.inputs)) {}
  std::vector<std::string> inputs() const override { return evaluator_->inputs(); }
  std::string unit() const override { return "s"; }
  bool may_fail(const std::string& text) const override {
    return text.empty() ? start_may_fail_ : text.find("CPU") != text.npos;
  }
  Evaluation evaluate(const EvaluationRequest& request) override {
    doubtful += !request.text.empty() && may_fail(request.text) ? 1 : 0;
    return evaluator_->evaluate(request);
  }
  int doubtful = 0;

 private:
  bool start_may_fail_;
  std::unique_ptr<Evaluator> evaluator_;
};

TEST(Guided, TakesARiskOnlyWhereItIsTakenAlready) {
  const SearchProblem problem = problem_of("circuit", "p100x4");
  for (const bool estimates : {false, true}) {
    for (const bool start_may_fail : {false, true}) {
      Doubtful evaluator(problem, start_may_fail);
      auto estimator = make_simulated_evaluator(problem.machine, problem.inputs);
      auto proposer = make_proposer("guided", problem, 1).value();
      TuneOptions options;
      options.budget.evaluations = estimates ? 20 : 60;
      options.budget.estimates = 100;
      const TuneOutcome outcome = tune(problem, evaluator, *proposer, nullptr,
                                       estimates ? estimator.get() : nullptr, options)
                                      .value();
      EXPECT_EQ(outcome.spent.evaluations, options.budget.evaluations);
      if (!start_may_fail) {
        EXPECT_EQ(evaluator.doubtful, 0);
      } else if (!estimates) {
        EXPECT_GT(evaluator.doubtful, 0);
      }
    }
  }
}

}  // namespace
}  // namespace groma::tuning
