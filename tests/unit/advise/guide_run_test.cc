// guide_run: what it says of runs that fail and of those that are slow; that no change which it
// proposes makes a run slower.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "groma/advise.h"
#include "groma/benchmarks.h"
#include "groma/dsl_files.h"
#include "groma/evaluators.h"
#include "groma/io.h"
#include "groma/run.h"
#include "groma/search_space.h"
#include "guide/profile_advice.h"
#include "support/guide_rules.h"
#include "support/sanitized.h"
#include "support/temporary_folder.h"

namespace groma {
namespace {

using test::rules;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

// A run as `groma run` makes it; an empty text is the default mapper.
class MappedRun {
 public:
  MappedRun(const std::string& app, const std::string& text,
            const std::string& machine_spec = "p100x4", double noise = 0)
      : machine(std::make_shared<const Machine>(make_machine(machine_spec).value())),
        workload(Workload::make(load_application(app).value()).value()),
        diags(Source("a.mapper", text)) {
    options.record = true;
    options.noise = noise;
    if (text.empty()) {
      result = run_default(machine, workload, options, diags);
    } else {
      bound = bind(compile(diags.source(), diags), *machine, diags);
      if (!bound) return;
      result = run(*bound, workload, options, diags);
    }
    if (result->ok()) profile = make_profile(result->record);
  }

  GuideFeedback feedback(const GuideLimits& limits = {}) const {
    GuidedRun run;
    run.workload = &workload;
    run.machine = machine;
    run.bound = bound ? &*bound : nullptr;
    run.options = options;
    run.diags = &diags;
    run.result = result ? &*result : nullptr;
    run.profile = profile ? &*profile : nullptr;
    return guide_run(run, limits, &rules());
  }

  // With the fix made.
  std::string mended(const Fix& fix) const {
    std::size_t applied = 0;
    std::string text = apply_fixes(diags.source(), {fix}, &applied);
    EXPECT_EQ(applied, 1U);
    return text;
  }

  std::shared_ptr<const Machine> machine;
  Workload workload;
  Diagnostics diags;
  SimulateOptions options;
  std::optional<BoundProgram> bound;
  std::optional<RunResult> result;
  std::optional<Profile> profile;
};

bool says_once(const std::vector<std::string>& sentences) {
  return std::set<std::string>(sentences.begin(), sentences.end()).size() == sentences.size();
}

// Every change that is proposed, made.
int check_proposals(const std::string& app, const std::string& text) {
  const MappedRun before(app, text);
  const GuideFeedback feedback = before.feedback();
  EXPECT_THAT(feedback.explain, Not(IsEmpty()));
  EXPECT_GE(feedback.suggest.size(), feedback.fixes.size());
  EXPECT_TRUE(says_once(feedback.explain) && says_once(feedback.suggest));
  for (std::size_t i = 0; i < feedback.fixes.size(); ++i) {
    SCOPED_TRACE(feedback.suggest[i]);
    const MappedRun after(app, before.mended(feedback.fixes[i]));
    EXPECT_TRUE(after.result && after.result->ok()) << render(after.diags);
    if (!after.result || !after.result->ok()) continue;
    const bool ran = before.result && before.result->ok();
    const double most = ran ? 0.98 * before.result->seconds : after.result->seconds;
    EXPECT_LE(after.result->seconds, most);
    if (!ran) {
      EXPECT_THAT(feedback.suggest[i], HasSubstr("it then runs, in "));
      continue;
    }
    const double gain = before.result->seconds / after.result->seconds;
    const std::string words = gain >= 1.095 ? fmt::format("{:.1f} times as fast", gain)
                                            : fmt::format("{:.0f} % faster", 100 * (gain - 1));
    EXPECT_THAT(feedback.suggest[i], ::testing::AllOf(HasSubstr("simulated "), HasSubstr(words)));
  }
  return static_cast<int>(feedback.fixes.size());
}

TEST(Proposals, MakeNoBenchmarkSlower) {
  int proposed = 0;
  for (const Benchmark& benchmark : benchmarks()) {
    const std::string name(benchmark.name);
    SCOPED_TRACE(name);
    proposed += check_proposals(name, "");
    for (const DslFile& file : mappers()) {
      if (file.name == name) proposed += check_proposals(name, std::string(file.text));
    }
  }
  EXPECT_GE(proposed, 20);
}

// ------------------------------------------------------------------------------ runs that succeed

TEST(FasterMappings, TheDefaultMapperGetsAMappingToBeginWith) {
  const MappedRun run("cannon", "");
  const GuideFeedback feedback = run.feedback();
  ASSERT_THAT(feedback.fixes, Not(IsEmpty()));
  EXPECT_THAT(feedback.suggest.front(),
              ::testing::StartsWith("Write a mapping with `SingleTaskMap task_4 same_point_gpu;`"));
  EXPECT_THAT(run.mended(feedback.fixes.front()),
              ::testing::AllOf(HasSubstr("def same_point_gpu(Task task) {\n"),
                               HasSubstr("SingleTaskMap task_4 same_point_gpu;\n")));
}

// Changes are tried and compared without it.
TEST(FasterMappings, NoiseIsNoReason) {
  for (const char* app : {"circuit", "cannon"}) {
    const MappedRun quiet(app, ""), noisy(app, "", "p100x4", 0.9);
    const GuideFeedback feedback = noisy.feedback();
    EXPECT_EQ(feedback.fixes.empty(), quiet.feedback().fixes.empty()) << app;
    for (const Fix& fix : feedback.fixes) {
      EXPECT_LE(MappedRun(app, noisy.mended(fix)).result->seconds, 0.98 * quiet.result->seconds);
    }
  }
}

TEST(FasterMappings, StatementsThatSlowItDownAreNamed) {
  const MappedRun run("circuit",
                      "Task * GPU,OMP,CPU;\n"
                      "Region * rp_shared GPU ZCMEM;\n"
                      "Region * rp_ghost GPU ZCMEM;\n");
  EXPECT_THAT(run.feedback().suggest,
              Contains(HasSubstr("in line 3 write `Region * rp_ghost GPU FBMEM` for `Region * "
                                 "rp_ghost GPU ZCMEM`: simulated ")));
}

// Where one task alone would only move its data to and fro.
TEST(FasterMappings, TasksOfOneStatementAreMovedTogether) {
  const MappedRun run("stencil", "Task stencil, increment OMP,CPU;\nTask * CPU;\n");
  EXPECT_THAT(run.feedback().suggest,
              Contains(HasSubstr("in line 1 write `Task stencil, increment GPU, OMP, CPU`")));
  const MappedRun two("stencil", "Task stencil CPU;\nTask increment CPU;\n");
  EXPECT_THAT(two.feedback().suggest,
              Contains(::testing::AllOf(HasSubstr("in line 1 write `Task stencil GPU, CPU`"),
                                        HasSubstr("; in line 2 write `Task increment GPU, CPU`"))));
}

// Where each task alone on another processor would only fetch its data from there.
TEST(FasterMappings, TasksOfOneFunctionArePlacedTogether) {
  const MappedRun run("stencil",
                      "m = Machine(GPU);\ndef f(Task task) { return m[0, 0]; }\n"
                      "IndexTaskMap stencil f;\nIndexTaskMap increment f;\n");
  ASSERT_TRUE(run.result && run.result->ok());
  EXPECT_THAT(run.feedback().suggest,
              Contains(HasSubstr("in line 3 remove `IndexTaskMap stencil f`; in line 4 remove")));
}

TEST(FasterMappings, ANameThatIsTakenIsNotTakenTwice) {
  const MappedRun run("cannon",
                      "def same_point_gpu(Task task) { return Machine(GPU)[0, 0]; }\n"
                      "IndexTaskMap task_4 same_point_gpu;\n");
  EXPECT_THAT(run.feedback().suggest, Contains(HasSubstr("SingleTaskMap task_4 same_point_gpu_2")));
}

// What is not measured is no reason for advice.
TEST(FasterMappings, TimeOutsideThePhaseDoesNotCount) {
  const GuideFeedback feedback = MappedRun("circuit", "").feedback();
  EXPECT_THAT(feedback.explain.front(), HasSubstr("The application measures its phase `timed`"));
  EXPECT_THAT(feedback.explain, Not(Contains(HasSubstr("init_"))));
}

TEST(FasterMappings, WithoutTriesTheGuidesWordsHaveTheirPriceAndNoFix) {
  const MappedRun run("circuit", "Task * GPU,CPU;\nTask distribute_charge CPU;\n");
  ASSERT_TRUE(run.result->ok());
  GuideLimits none;
  none.runs = 0;
  GuideLimits few;
  few.tasks = run.result->tasks - 1;
  for (const GuideLimits& limits : {none, few}) {
    const GuideFeedback feedback = run.feedback(limits);
    EXPECT_THAT(feedback.fixes, IsEmpty());
    EXPECT_THAT(feedback.suggest,
                Contains(HasSubstr("write `Task distribute_charge GPU, CPU` for `Task ")));
  }
  EXPECT_THAT(run.feedback(few).explain, Contains(HasSubstr("No change was tried: the run has ")));
  EXPECT_THAT(run.feedback(none).explain, Not(Contains(HasSubstr("No change was tried"))));
}

// Where that is too much for the limits, loops are cut short; what is said is of the whole run.
TEST(FasterMappings, LongRunsAreTriedShortened) {
  const std::string app = "circuit:loops=200";
  const std::string text = "Task * GPU,CPU;\nTask distribute_charge CPU;\n";
  const MappedRun run(app, text);
  ASSERT_GT(run.result->tasks, 2000);
  GuideLimits limits;
  limits.tasks = run.result->tasks - 1;  // not one whole run
  const GuideFeedback feedback = run.feedback(limits);
  ASSERT_THAT(feedback.fixes, Not(IsEmpty()));
  EXPECT_LE(feedback.fixes.size(), limits.whole_runs);
  EXPECT_THAT(feedback.explain, Contains(HasSubstr("iterations of each outer loop, the best of "
                                                   "them then in the whole run.")));
  for (std::size_t i = 0; i < feedback.fixes.size(); ++i) {
    const MappedRun after(app, run.mended(feedback.fixes[i]));
    EXPECT_LE(after.result->seconds, 0.98 * run.result->seconds);
    EXPECT_THAT(feedback.suggest[i],
                HasSubstr(fmt::format("({:.3g} ms)", 1000 * after.result->seconds)));
  }
  // One that the whole run does not confirm is not proposed.
  limits.whole_runs = 0;
  EXPECT_THAT(run.feedback(limits).fixes, IsEmpty());
  EXPECT_THAT(run.feedback(limits).explain,
              Contains(HasSubstr("none is simulated as 2 % faster or more in the whole run")));
}

TEST(FasterMappings, WhatTheLimitsLeaveOutIsSaid) {
  const MappedRun run("cannon:repeats=1", "", "lassen:nodes=4");
  GuideLimits limits;
  limits.tasks = 3 * run.result->tasks;  // nothing to shorten
  EXPECT_THAT(run.feedback(limits).explain,
              Contains(HasSubstr("Further changes were not tried: the run has ")));
}

TEST(FasterMappings, NothingIsSuggestedWhereNothingHelps) {
  const GuideFeedback feedback = MappedRun("johnson", "").feedback();
  EXPECT_THAT(feedback.fixes, IsEmpty());
  EXPECT_THAT(feedback.suggest, IsEmpty());
  EXPECT_THAT(feedback.explain.back(), HasSubstr("none is simulated as 2 % faster"));
}

// --------------------------------------------------------------- suggestions that were not tried

// A mapping that keeps data in a slow memory.
constexpr const char* kZeroCopy =
    "Task * GPU,OMP,CPU;\nRegion * rp_shared GPU ZCMEM;\nRegion * rp_ghost GPU ZCMEM;\n";

GuideLimits no_trials() {
  GuideLimits limits;
  limits.runs = 0;
  return limits;
}

TEST(ProfileSuggestions, NameTaskDataMemoryAndStatement) {
  const MappedRun run("circuit", kZeroCopy);
  EXPECT_THAT(run.feedback(no_trials()).suggest.front(),
              ::testing::AllOf(HasSubstr(" stream `rp_ghost` from ZCMEM at "),
                               HasSubstr(" GB/s: put it in FBMEM (in line 3 write `Region * "
                                         "rp_ghost GPU FBMEM` for `Region * rp_ghost GPU ZCMEM`); "
                                         "this saves at most ")));
  // What was tried says why, and by how much the run became faster.
  EXPECT_THAT(run.feedback().suggest,
              Contains(::testing::AllOf(HasSubstr("for `Region * rp_ghost GPU ZCMEM`: simulated "),
                                        HasSubstr(" stream `rp_ghost` from ZCMEM at "))));
}

// `groma run`, `groma guide` and `groma tune` say the same.
TEST(ProfileSuggestions, AreTheSameEverywhere) {
  for (const char* text : {kZeroCopy, "Task * GPU,CPU;\nTask distribute_charge CPU;\n"}) {
    const MappedRun run("circuit", text);
    const std::vector<std::string> said = run.feedback(no_trials()).suggest;
    ASSERT_THAT(said, Not(IsEmpty()));
    const Program& program = run.bound->program();
    const auto facts = read_profile_facts(
        to_json(*run.profile, profile_words_of(run.workload, *run.machine, &program)));
    ASSERT_TRUE(facts);
    EXPECT_EQ(guide_profile(*facts, &program).suggest, said);
    GuideContext context;
    context.exit_code = 0;
    context.program = &program;
    context.profile = &*facts;
    EXPECT_EQ(guide_log(rules(), "circuit on p100x4: 46.4 ms simulated\n", context).suggest, said);
    const auto evaluator = tuning::make_simulated_evaluator(run.machine, {run.workload}, {});
    tuning::EvaluationRequest request;
    request.text = text;
    request.detail = GuideDetail::kProfile;
    EXPECT_EQ(evaluator->evaluate(request).feedback.suggest, said);
  }
}

// Each is a change of the mapping that binds and runs, and none is made twice.
TEST(ProfileSuggestions, CanBeCarriedOut) {
  // Each run takes ten times as long under the sanitizers.
  const std::uint64_t kSeeds = GROMA_SANITIZED ? 6 : 40;
  int made = 0, ran = 0;
  for (const char* spec : {"p100x4", "lassen:nodes=2"}) {
    const Machine machine = make_machine(spec).value();
    for (const char* name : {"circuit", "stencil", "pennant", "cannon", "cosma"}) {
      const std::string app = std::string(name) + ":size=small";
      const Workload workload = Workload::make(load_application(app).value()).value();
      const tuning::SearchSpace space(machine, workload, tuning::SearchGranularity::kArguments);
      for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
        const std::string text = seed == 0 ? "" : space.sample_text(seed);
        const MappedRun run(app, text, spec);
        if (!run.result || !run.result->ok()) continue;
        const GuideFeedback feedback = run.feedback(no_trials());
        EXPECT_TRUE(says_once(feedback.suggest));
        const Program empty;
        std::set<std::string> subjects;
        for (const auto& each : guide::profile_suggestions(
                 *feedback.profile, run.bound ? &run.bound->program() : &empty)) {
          SCOPED_TRACE(app + " " + spec + " " + guide::sentence_of(each) + "\n" + text);
          for (const std::string& subject : each.subjects) {
            EXPECT_TRUE(subjects.insert(subject).second) << subject;
          }
          const std::string changed = run.mended(each.change.fix);
          EXPECT_NE(changed, text);
          const MappedRun after(app, changed, spec);
          EXPECT_TRUE(after.bound) << render(after.diags);
          ++made;
          ran += after.result && after.result->ok() ? 1 : 0;
        }
      }
    }
  }
  EXPECT_GT(made, GROMA_SANITIZED ? 2 : 15);
  EXPECT_EQ(ran, made);
}

// ------------------------------------------------------------------------------------------- edits

TEST(Edits, CommentsStayWithTheirStatements) {
  const MappedRun run("circuit",
                      "# Where tasks run.\n"
                      "Task * GPU,OMP,CPU;\n"
                      "Region * rp_shared GPU # seen by all\n  ZCMEM;\n"
                      "Region * rp_ghost GPU ZCMEM; # these, too\n");
  const GuideFeedback feedback = run.feedback();
  ASSERT_THAT(feedback.fixes, Not(IsEmpty()));
  for (const Fix& fix : feedback.fixes) {
    const std::string text = run.mended(fix);
    EXPECT_THAT(text, HasSubstr("# Where tasks run.\nTask * GPU,OMP,CPU;\n"));
    EXPECT_THAT(text, HasSubstr("Region * rp_shared GPU # seen by all\n  ZCMEM;\n"));
    EXPECT_THAT(text, HasSubstr("; # these, too\n"));
  }
}

TEST(Edits, LinesEndAsInTheFile) {
  const MappedRun run("cannon", "Task * GPU,OMP,CPU;\r\nCollectMemory task_4 *;\r\n");
  const GuideFeedback feedback = run.feedback();
  ASSERT_THAT(feedback.fixes, Not(IsEmpty()));
  for (const Fix& fix : feedback.fixes) {
    const std::string text = run.mended(fix);
    EXPECT_EQ(std::count(text.begin(), text.end(), '\n'),
              std::count(text.begin(), text.end(), '\r'));
    EXPECT_THAT(text, Not(HasSubstr("\r\n\r\n"))) << "a line is removed whole";
  }
}

TEST(Edits, OfSeveralMistakesAreSeveral) {
  std::string text = "Task * GPUS,CPU;\n";
  for (int i = 0; i < 100; ++i) text += fmt::format("Task t{} GPU, CPU;\n", i);
  const MappedRun words("circuit", text + "Region * * GPUS FBMEM;\n");
  ASSERT_THAT(words.feedback().fixes, SizeIs(1));
  EXPECT_THAT(words.feedback().fixes.front().edits, SizeIs(2));
  // A step after the other.
  const MappedRun steps("circuit", "Task * GPU;\n" + text.substr(17) + "Region * * GPU SYSMEM;\n");
  ASSERT_THAT(steps.feedback().fixes, Not(IsEmpty()));
  for (const Fix& fix : steps.feedback().fixes) {
    for (const Edit& edit : fix.edits) EXPECT_LT(edit.range.end - edit.range.begin, 60U);
  }
}

// ---------------------------------------------------------------------------------- runs that fail

TEST(Possible, TheStatementIsNamedWithWhatMakesItRun) {
  const struct {
    const char* text;
    const char* explain;
    const char* suggest;
  } kCases[] = {
      {"Task * GPU;\n", "Line 1 of a.mapper says so: `Task * GPU`.",
       "in line 1 write `Task * GPU, OMP, CPU` for `Task * GPU`: it then runs, in 10.6 ms"},
      {"Task * GPU,CPU;\nRegion * * GPU SYSMEM;\n", "(Said 6 times.)",
       "in line 2 write `Region * * GPU FBMEM, ZCMEM` for `Region * * GPU SYSMEM`"},
      {"Region * * GPU VIRTUAL;\n", "cannot be virtual", "in line 1 remove `"},
      {"m = Machine(GPU);\ndef f(Task task) { ip = task.ipoint; return m[0, ip[0] + 1]; }\n"
       "IndexTaskMap calculate_new_currents f;\n",
       "outside of its machine view", "write `(ip[0] + 1) % m.size[1]` for `ip[0] + 1`"},
      {"m = Machine(GPU);\ndef f(Task task) { return m[task.ipoint[0], 0]; }\n"
       "IndexTaskMap calculate_new_currents f;\n",
       "outside of its machine view", "write `task.ipoint[0] % m.size[0]` for `task.ipoint[0]`"},
      // `%` keeps the sign.
      {"m = Machine(GPU);\ndef f(Task task) { return m[0, task.ipoint[0] % 4 - 1]; }\n"
       "IndexTaskMap calculate_new_currents f;\n",
       "computed an index below 0",
       "write `((task.ipoint[0] % 4 - 1) % m.size[1] + m.size[1]) % m.size[1]` for "},
      {"m = Machine(GPU);\ndef f(Task task) { return m[0, (task.ipoint[0] - 1) % m.size[1]]; }\n"
       "IndexTaskMap calculate_new_currents f;\n",
       "computed an index below 0",
       "write `((task.ipoint[0] - 1) % m.size[1] + m.size[1]) % m.size[1]` for "},
      {"m = Machine(CPU);\ndef f(Task task) { return m[0, 0]; }\n"
       "IndexTaskMap calculate_new_currents f;\n",
       "returned a CPU processor", "it then runs"},
      // Two mistakes.
      {"Task * GPU;\nRegion * * GPU SYSMEM;\n", "can run on none of its kinds", "; then in line 2"},
      {"Task * GPUS,CPU;\n", "Unknown processor kind `GPUS`.",
       "in line 1 write `GPU`: it then runs"},
  };
  for (const auto& [text, explain, suggest] : kCases) {
    SCOPED_TRACE(text);
    const MappedRun run("circuit", text);
    const GuideFeedback feedback = run.feedback();
    EXPECT_EQ(feedback.status, GuideFeedback::Status::kError);
    EXPECT_THAT(feedback.explain, Contains(HasSubstr(explain)));
    EXPECT_THAT(feedback.suggest, Contains(HasSubstr(suggest)));
    EXPECT_LE(feedback.suggest.size(), feedback.fixes.size() + 1);  // nothing that was not tried
    EXPECT_GE(check_proposals("circuit", text), 1);
  }
}

TEST(Possible, AFullMemoryNamesWhatFillsItAndWhoPutItThere) {
  const std::string text = "Region * * GPU ZCMEM;\n";
  const MappedRun run("cannon:n=30000", text);
  const GuideFeedback feedback = run.feedback();
  EXPECT_THAT(feedback.explain, Contains(HasSubstr("no room for region")));
  EXPECT_THAT(feedback.explain, Contains("Line 1 of a.mapper says so: `Region * * GPU ZCMEM`."));
  EXPECT_THAT(feedback.explain, Contains(HasSubstr("ZCMEM (0, 0) holds ")));
  EXPECT_GE(check_proposals("cannon:n=30000", text), 1);
}

// Twelve shots write a snapshot on GPUs in each of 14 steps, and read all of them back. Tasks are
// mapped as soon as the program launches them, so that more snapshots are in use than fit.
constexpr std::string_view kShots = R"({
  "name": "shots", "top_level": "main",
  "regions": [
    {"name": "wave", "extents": [12, 64000000], "fields": [{"name": "p", "bytes": 8}]},
    {"name": "snapshots", "extents": [12, 14, 64000000], "fields": [{"name": "p", "bytes": 8}]}],
  "partitions": [
    {"name": "wave_of", "of": "wave", "colors": [12], "index": ["k"],
     "lower": ["k", 0], "extents": [1, 64000000]},
    {"name": "snap_of", "of": "snapshots", "colors": [12, 14], "index": ["k", "t"],
     "lower": ["k", "t", 0], "extents": [1, 1, 64000000]}],
  "tasks": [
    {"name": "main", "variants": [{"kind": "CPU", "inner": true}], "body": [
      {"launch": "clear", "domain": [12]},
      {"repeat": 14, "variable": "t", "body": [
        {"launch": "snap", "domain": [12], "index": ["k"],
         "data": [{}, {"of": "snap_of", "color": ["k", "t"]}]},
        {"launch": "spool", "domain": [12], "index": ["k"],
         "data": [{"of": "snap_of", "color": ["k", "t"]}]}]},
      {"repeat": 14, "variable": "t", "body": [
        {"launch": "sum", "domain": [12], "index": ["k"],
         "data": [{}, {"of": "snap_of", "color": ["k", "t"]}]}]}]},
    {"name": "clear", "variants": [{"kind": "CPU", "leaf": true}, {"kind": "GPU", "leaf": true}],
     "requirements": [{"privilege": "write-discard", "data": "wave_of"}]},
    {"name": "snap", "variants": [{"kind": "CPU", "leaf": true}, {"kind": "GPU", "leaf": true}],
     "requirements": [{"privilege": "read-write", "data": "wave_of"},
                      {"privilege": "write-discard", "data": "snap_of"}]},
    {"name": "sum", "variants": [{"kind": "CPU", "leaf": true}, {"kind": "GPU", "leaf": true}],
     "requirements": [{"privilege": "read-write", "data": "wave_of"},
                      {"privilege": "read-only", "data": "snap_of"}]},
    {"name": "spool", "variants": [{"kind": "CPU", "leaf": true}],
     "requirements": [{"privilege": "read-only", "data": "snap_of"}]}]})";

// No change of one task helps: all tasks that use the snapshots must be limited, or run elsewhere.
TEST(Possible, AFullMemoryIsRelievedByAllTasksThatFillIt) {
  const test::TemporaryFolder folder;
  const std::string app = folder.write("shots.json", std::string(kShots));
  for (const std::string text : {"", "Region * * GPU FBMEM;\n"}) {
    const MappedRun run(app, text);
    ASSERT_FALSE(run.result->ok());
    const GuideFeedback feedback = run.feedback();
    EXPECT_THAT(feedback.suggest, Contains(HasSubstr("`InstanceLimit snap, ")))
        << fmt::format("{}", fmt::join(feedback.suggest, "\n"));
    EXPECT_THAT(feedback.suggest, Contains(HasSubstr("snap, sum CPU;`")));
    EXPECT_GE(check_proposals(app, text), 2);
  }
}

// One task uses so many regions that eight of them must leave the memory of the GPU. Changes of one
// region at a time would be too many.
TEST(Possible, AllDataMayGetASecondMemory) {
  std::string regions, requirements;
  for (int r = 0; r < 76; ++r) {
    regions += fmt::format(
        R"({}{{"name": "r{}", "extents": [31250000], "fields": [{{"name": "p", "bytes": 8}}]}})",
        r == 0 ? "" : ", ", r);
    requirements +=
        fmt::format(R"({}{{"privilege": "write-discard", "data": "r{}"}})", r == 0 ? "" : ", ", r);
  }
  const test::TemporaryFolder folder;
  const std::string app = folder.write("many.json", fmt::format(R"({{
    "name": "many", "top_level": "main", "regions": [{}],
    "tasks": [
      {{"name": "main", "variants": [{{"kind": "CPU", "inner": true}}], "body": [{{"launch": "t"}}]}},
      {{"name": "t", "variants": [{{"kind": "GPU", "leaf": true}}], "requirements": [{}]}}]}})",
                                                                regions, requirements));
  const MappedRun run(app, "");
  ASSERT_FALSE(run.result->ok());
  EXPECT_THAT(run.feedback().suggest, Contains(HasSubstr("`Region * * GPU FBMEM, ZCMEM;`")));
}

// Statements about very many tasks name them by `*`.
TEST(Possible, ProposalsDoNotNameManyTasks) {
  std::string tasks, body;
  for (int t = 0; t < 40; ++t) {
    body += fmt::format(R"({}{{"launch": "t{}"}})", t == 0 ? "" : ", ", t);
    tasks += fmt::format(
        R"(, {{"name": "t{}", "variants": [{{"kind": "CPU", "leaf": true}}, {{"kind": "GPU", "leaf": true}}],
            "requirements": [{{"privilege": "read-write", "data": "grid"}}]}})",
        t);
  }
  const test::TemporaryFolder folder;
  const std::string app = folder.write("grid.json", fmt::format(R"({{
    "name": "grid", "top_level": "main",
    "regions": [{{"name": "grid", "extents": [1000000000], "fields": [{{"name": "p", "bytes": 8}}]}}],
    "tasks": [
      {{"name": "main", "variants": [{{"kind": "CPU", "inner": true}}], "body": [{}]}}{}]}})",
                                                                body, tasks));
  const MappedRun run(app, "Task * GPU;\nRegion * * GPU ZCMEM;\n");
  ASSERT_FALSE(run.result->ok());
  const GuideFeedback feedback = run.feedback();
  EXPECT_THAT(feedback.fixes, Not(IsEmpty()));
  for (const std::string& each : feedback.suggest) EXPECT_LT(each.size(), 300U) << each;
}

// What does not fit by any order of the tasks is tried last.
TEST(Possible, RehearsalsPutChangesThatRunFirst) {
  // One instance of `grid` fits into the memory of a GPU, but not into the part of the host's
  // memory that GPUs reach.
  const test::TemporaryFolder folder;
  const std::string app = folder.write("grid.json", R"({
    "name": "grid", "top_level": "main",
    "regions": [{"name": "grid", "extents": [1000000000], "fields": [{"name": "p", "bytes": 20}]}],
    "tasks": [
      {"name": "main", "variants": [{"kind": "CPU", "inner": true}], "body": [{"launch": "t"}]},
      {"name": "t", "variants": [{"kind": "CPU", "leaf": true}, {"kind": "GPU", "leaf": true}],
       "requirements": [{"privilege": "write-discard", "data": "grid"}]}]})");
  const MappedRun run(app, "");
  ASSERT_FALSE(run.result->ok());
  GuideLimits limits;
  limits.runs = 1;
  EXPECT_THAT(run.feedback(limits).suggest, Contains(HasSubstr("`Task t CPU;`")));
}

// A run that is too long to be tried is not said to fail.
TEST(Possible, TriesAreCutOff) {
  const MappedRun run("circuit", "Task * GPU;\n");
  GuideLimits limits;
  limits.tasks = 10;
  const GuideFeedback feedback = run.feedback(limits);
  EXPECT_THAT(feedback.fixes, IsEmpty());
  EXPECT_THAT(feedback.explain, Not(Contains(HasSubstr("runs either"))));
  EXPECT_THAT(MappedRun("cannon:n=60000", "").feedback().explain,
              Contains(HasSubstr("that were tried runs either")));
}

TEST(Possible, LongRunsAreTriedShortenedAndThenRun) {
  const std::string app = "circuit:loops=400", text = "Task * GPU;\n";
  const MappedRun run(app, text);
  GuideLimits limits;
  limits.tasks = 2000;
  const GuideFeedback feedback = run.feedback(limits);
  ASSERT_THAT(feedback.fixes, Not(IsEmpty()));
  const MappedRun after(app, run.mended(feedback.fixes.front()));
  ASSERT_TRUE(after.result->ok());
  EXPECT_GT(after.result->tasks, limits.tasks);
  EXPECT_THAT(feedback.suggest.front(),
              HasSubstr(fmt::format("it then runs, in {:.3g} ms", 1000 * after.result->seconds)));
}

// Edits are of whole characters.
TEST(Possible, StepsLeaveCharactersWhole) {
  const std::string text =
      "# \xc3\xa9\nTask * GPU; # \xc3\xa9\nRegion * * GPU SYSMEM; # \xc3\xa8\n";
  const MappedRun run("circuit", text);
  for (const Fix& fix : run.feedback().fixes) {
    for (const Edit& edit : fix.edits) {
      EXPECT_NE(text[edit.range.begin] & 0xC0, 0x80);
      EXPECT_NE(text[edit.range.end] & 0xC0, 0x80);
    }
  }
  EXPECT_GE(check_proposals("circuit", text), 1);
}

TEST(Possible, NothingIsToBeWrittenThatTheMachineLacks) {
  const MappedRun run("stencil", "Task * GPU;\n", "nodes=1,gpu=0,cpu=4,omp=0");
  const GuideFeedback feedback = run.feedback();
  EXPECT_THAT(feedback.fixes, Not(IsEmpty()));
  EXPECT_THAT(feedback.suggest, Not(Contains(HasSubstr("`Task * GPU,OMP,CPU;`"))));
  const MappedRun on_gpus("stencil", "Task * OMP;\n", "nodes=1,gpu=1,cpu=4,omp=2");
  GuideLimits none;
  none.runs = 0;
  EXPECT_THAT(on_gpus.feedback(none).suggest, Contains(HasSubstr("`Task * GPU,OMP,CPU;`")));
  // Nor is it to move to GPUs, nor into their memories, nor by the size of what is not there.
  const char* const no_gpus = "nodes=1,gpu=0,cpu=4,omp=0";
  const MappedRun on_cpus("stencil", "Task * CPU;\n", no_gpus);
  ASSERT_TRUE(on_cpus.result->ok());
  EXPECT_THAT(on_cpus.feedback(none).suggest, Not(Contains(HasSubstr("GPU"))));
  const MappedRun nowhere("stencil", "Region * * CPU FBMEM;\n", no_gpus);
  EXPECT_THAT(nowhere.feedback(none).suggest, Contains(HasSubstr("SYSMEM for CPUs")));
  EXPECT_THAT(nowhere.feedback(none).suggest, Not(Contains(HasSubstr("`FBMEM`"))));
  const MappedRun of_none("stencil",
                          "Task * CPU;\nm = Machine(GPU);\n"
                          "def f(Task task) { return m[0, 0]; }\nIndexTaskMap * f;\n",
                          no_gpus);
  EXPECT_THAT(of_none.feedback(none).suggest,
              Contains(HasSubstr("Take the `Machine(...)` of a kind that the machine has")));
  EXPECT_THAT(of_none.feedback(none).suggest, Not(Contains(HasSubstr("% m.size"))));
}

TEST(LackingKinds, AreThoseThatNoNodeHas) {
  const auto of_cpus = missing_machine_kinds(make_machine("nodes=1,gpu=0,cpu=4,omp=0").value());
  for (const char* kind : {"GPU", "OMP", "FBMEM", "ZCMEM"}) EXPECT_THAT(of_cpus, Contains(kind));
  // Virtual data needs no memory.
  for (const char* kind : {"CPU", "SYSMEM", "VIRTUAL"}) {
    EXPECT_THAT(of_cpus, Not(Contains(kind)));
  }
  const auto of_gpus = missing_machine_kinds(make_machine("p100x4").value());
  for (const char* kind : {"GPU", "FBMEM"}) EXPECT_THAT(of_gpus, Not(Contains(kind)));
}

TEST(Forms, TheRunsJsonHasWordsAndFixes) {
  const MappedRun run("cannon", "Task * GPU,OMP,CPU;\n");
  const GuideFeedback feedback = run.feedback();
  const ProfileWords words = profile_words_of(run.workload, *run.machine, &run.bound->program());
  const auto json = nlohmann::json::parse(
      to_json(*run.result, &feedback, &*run.profile, nullptr, run.diags, words));
  EXPECT_EQ(json["explain"].size(), feedback.explain.size());
  EXPECT_EQ(json["suggest"][0], feedback.suggest[0]);
  EXPECT_EQ(json["fixes"].size(), feedback.fixes.size());
  EXPECT_EQ(json["fixes"][0]["edits"][0]["start"]["line"], 1);
  // The guide reads it again, and repeats what was tried.
  const auto facts = read_profile_facts(json.dump());
  ASSERT_TRUE(facts);
  EXPECT_EQ(guide_profile(*facts).suggest, feedback.suggest);
}

TEST(Forms, AFailedRunsJsonIsALog) {
  const MappedRun run("circuit", "Task * GPU;\n");
  const GuideFeedback feedback = run.feedback();
  const std::string json = to_json(*run.result, &feedback, nullptr, nullptr, run.diags, {});
  EXPECT_FALSE(read_profile_facts(json));
  const auto log = log_of_failed_run(json);
  ASSERT_TRUE(log);
  const GuideFeedback again = guide_log(rules(), *log);
  EXPECT_EQ(again.status, GuideFeedback::Status::kError);
  EXPECT_EQ(again.matches.front().rule, "groma.no-variant");
  for (const std::string& each : feedback.suggest) EXPECT_THAT(again.suggest, Contains(each));
  EXPECT_FALSE(log_of_failed_run(R"({"status": "ok"})"));
  EXPECT_FALSE(log_of_failed_run("["));
  EXPECT_EQ(log_of_failed_run(R"({"status": "error", "diagnostics": [3, {"start": 4}], "raw": 5})"),
            ": :  []\n: :  []\n");
}

// Draws are few under the sanitizers, where each takes ten times as long.
#if GROMA_SANITIZED
constexpr int kRan = 4, kFailed = 4;
#else
constexpr int kRan = 23, kFailed = 12;
#endif

class Drawn : public ::testing::TestWithParam<std::string> {};

// Those that fail too: of these most can be made to run.
TEST_P(Drawn, ProposalsMakeNoMappingSlower) {
  const Machine machine = make_machine("p100x4").value();
  const std::string app = GetParam() + ":size=small";
  const Workload workload = Workload::make(load_application(app).value()).value();
  const tuning::SearchSpace spaces[] = {{machine, workload, tuning::SearchGranularity::kRegions},
                                        {machine, workload, tuning::SearchGranularity::kArguments}};
  int ran = 0, failed = 0, helped = 0, mended = 0;
  for (std::uint64_t seed = 1; ran < kRan || failed < kFailed; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    const std::string text = spaces[seed % 2].sample_text(seed);
    const MappedRun run(app, text);
    ASSERT_TRUE(run.result);
    const bool ok = run.result->ok();
    if (++(ok ? ran : failed) > (ok ? kRan : kFailed)) continue;
    (ok ? helped : mended) += check_proposals(app, text) > 0 ? 1 : 0;
  }
  EXPECT_GE(helped + mended, (kRan + kFailed) / 5);
}

std::vector<std::string> names_of_benchmarks() {
  std::vector<std::string> names;
  for (const Benchmark& benchmark : benchmarks()) names.emplace_back(benchmark.name);
  return names;
}

INSTANTIATE_TEST_SUITE_P(Benchmarks, Drawn, ::testing::ValuesIn(names_of_benchmarks()),
                         [](const auto& name) { return name.param; });

}  // namespace
}  // namespace groma
