// Searches by the proposers that ask a model, resumed: their prompts come out again as they were.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <filesystem>

#include "groma/benchmarks.h"
#include "groma/evaluators.h"
#include "groma/proposers.h"
#include "groma/system.h"
#include "support/files.h"
#include "support/temporary_folder.h"

namespace groma {
namespace {

using test::TemporaryFolder;

// A model that writes what the request makes it, different for each.
constexpr std::string_view kModel = R"sh(
asked=$(cat)
n=$(printf %s "$asked" | cksum | cut -d' ' -f1)
case $asked in
  *'\"avenues\"'*)
    printf '{"experiments": [{"description": "a", "rubric": "", "gain": [1, 2], "innovation": 3},'
    printf ' {"description": "b", "rubric": "", "gain": [0, 9], "innovation": 2}]}' ;;
  *'\"base\"'*) printf '{"base": 1, "reference": 2}' ;;
  *) printf 'PLAN: number %s.\n```task\nTask * GPU, CPU;\nTask stencil CPU;\n```\n' "$n"
     printf '```limit\nInstanceLimit increment %s;\n```\n' "$((n % 1000 + 1))" ;;
esac
)sh";

class Resumed {
 public:
  Resumed() {
    problem_.machine = std::make_shared<const Machine>(make_machine("p100x4").value());
    problem_.inputs.push_back(Workload::make(find_benchmark("stencil")->make()).value());
    EXPECT_FALSE(write_file(folder_.path() + "/model.sh", kModel));
  }

  tuning::TuneOutcome run(std::string_view name, const std::string& directory,
                          std::int64_t evaluations, bool resume) {
    llm::ChatOptions chat;
    chat.endpoint = "exec:sh " + folder_.path() + "/model.sh";
    llm::ChatClient model = llm::ChatClient::make(chat).value();
    const auto evaluator = tuning::make_simulated_evaluator(problem_.machine, problem_.inputs);
    auto proposer = tuning::make_proposer(name, problem_, 5).value();
    tuning::TuneOptions options;
    options.budget.evaluations = evaluations;
    options.directory = folder_.path() + "/" + directory;
    options.resume = resume;
    auto outcome = tuning::tune(problem_, *evaluator, *proposer, &model, nullptr, options);
    EXPECT_TRUE(outcome.ok()) << name << ": " << outcome.error().message;
    return outcome ? std::move(*outcome) : tuning::TuneOutcome();
  }

  std::string findings(const std::string& directory) const {
    return testing::read_text(folder_.path() + "/" + directory + "/findings.txt");
  }
  void cut_journal(const std::string& directory, double part) const {
    const std::string path = folder_.path() + "/" + directory + "/journal.jsonl";
    const auto size = static_cast<double>(std::filesystem::file_size(path));
    std::filesystem::resize_file(path, static_cast<std::uintmax_t>(size * part));
  }

 private:
  TemporaryFolder folder_;
  tuning::SearchProblem problem_;
};

TEST(ModelResume, ASearchThatIsCutOffAnywhereEndsAsItWouldHave) {
  Resumed search;
  for (const tuning::ProposerInfo& info : tuning::proposers()) {
    if (!info.asks_model) continue;
    const std::string name(info.name);
    const tuning::TuneOutcome whole = search.run(name, name, 9, false);
    EXPECT_GT(whole.spent.model_calls, 2) << name;
    ASSERT_TRUE(whole.best) << name;
    const std::string findings = search.findings(name);
    EXPECT_EQ(!findings.empty(), name == "scientist");
    for (const double part : {0.3, 0.6, 0.9}) {
      const std::string cut = fmt::format("{}-{}", name, part);
      search.run(name, cut, 9, false);
      search.cut_journal(cut, part);
      const tuning::TuneOutcome resumed = search.run(name, cut, 9, true);
      ASSERT_TRUE(resumed.best) << cut;
      EXPECT_EQ(resumed.best->proposal.text, whole.best->proposal.text) << cut;
      EXPECT_EQ(resumed.trajectory, whole.trajectory) << cut;
      EXPECT_EQ(search.findings(cut), findings) << cut;
      EXPECT_EQ(resumed.spent.evaluations, whole.spent.evaluations) << cut;
    }
  }
}

}  // namespace
}  // namespace groma
