// guide_run: what it says of runs that fail and of those that are slow; that no change which it
// proposes makes a run slower.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "groma/benchmarks.h"
#include "groma/dsl_files.h"
#include "groma/io.h"
#include "groma/run.h"
#include "groma/search_space.h"

namespace groma {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

const GuideRules& rules() {
  static const GuideRules kRules = std::move(GuideRules::make()).value();
  return kRules;
}

// A run as `groma run` makes it; an empty text is the default mapper.
class MappedRun {
 public:
  MappedRun(const std::string& app, const std::string& text,
            const std::string& machine_spec = "p100x4")
      : machine(std::make_shared<const Machine>(make_machine(machine_spec).value())),
        workload(Workload::make(load_application(app).value()).value()),
        diags(Source("a.mapper", text)) {
    SimulateOptions options;
    options.record = true;
    if (text.empty()) {
      result = run_default(machine, workload, options, diags);
    } else {
      bound = bind(compile(diags.source(), diags), *machine, diags);
      if (!bound) return;
      result = run(*bound, workload, options, diags);
    }
    if (result->ok()) profile = make_profile(result->record);
  }

  Feedback feedback(const GuideLimits& limits = {}) const {
    GuidedRun run;
    run.workload = &workload;
    run.machine = machine;
    run.bound = bound ? &*bound : nullptr;
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
  std::optional<BoundProgram> bound;
  std::optional<RunResult> result;
  std::optional<Profile> profile;
};

// Every change that is proposed, made.
int check_proposals(const std::string& app, const std::string& text) {
  const MappedRun before(app, text);
  const Feedback feedback = before.feedback();
  EXPECT_THAT(feedback.explain, Not(IsEmpty()));
  EXPECT_GE(feedback.suggest.size(), feedback.fixes.size());
  for (std::size_t i = 0; i < feedback.fixes.size(); ++i) {
    SCOPED_TRACE(feedback.suggest[i]);
    const MappedRun after(app, before.mended(feedback.fixes[i]));
    EXPECT_TRUE(after.result && after.result->ok()) << render(after.diags);
    if (!after.result || !after.result->ok()) continue;
    const bool ran = before.result && before.result->ok();
    const double most = ran ? 0.98 * before.result->seconds : after.result->seconds;
    EXPECT_LE(after.result->seconds, most);
    EXPECT_THAT(feedback.suggest[i], HasSubstr(ran ? "simulated " : "it then runs, in "));
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

class Drawn : public ::testing::TestWithParam<std::string> {};

// Those that fail too: of these most can be made to run.
TEST_P(Drawn, ProposalsMakeNoMappingSlower) {
  constexpr int kRan = 23, kFailed = 12;
  const Machine machine = make_machine("p100x4").value();
  const std::string app = GetParam() + ":size=small";
  const Workload workload = Workload::make(load_application(app).value()).value();
  const SearchSpace spaces[] = {{machine, workload, SpaceGrain::kRegions},
                                {machine, workload, SpaceGrain::kArguments}};
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
  EXPECT_GE(helped, 3);
  EXPECT_GE(mended, 3);
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
