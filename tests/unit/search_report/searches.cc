// Real small searches, and forged journals, for the tests of the report.
#include "unit/search_report/searches.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "groma/benchmarks.h"
#include "groma/evaluators.h"
#include "groma/proposers.h"
#include "groma/system.h"
#include "groma/tune.h"
#include "groma/version.h"

namespace groma::test {
namespace {

using Json = nlohmann::ordered_json;

// A model whose replies differ from question to question.
constexpr std::string_view kModel = R"sh(
n=$(cat | cksum | cut -d' ' -f1)
printf 'PLAN: number %s.\n```task\nTask * GPU, OMP, CPU;\nTask taco_fill OMP, GPU, CPU;\n```\n' "$n"
printf '```limit\nInstanceLimit task_4 %s;\n```\n' "$((n % 1000 + 1))"
)sh";

}  // namespace

tuning::SearchProblem cannon_problem() {
  tuning::SearchProblem problem;
  problem.machine = std::make_shared<const Machine>(make_machine("p100x4").value());
  problem.inputs.push_back(Workload::make(find_benchmark("cannon")->make()).value());
  return problem;
}

tuning::SearchSetup cannon_setup(std::string_view proposer, std::int64_t evaluations) {
  tuning::SearchSetup setup;
  setup.apps = {"cannon"};
  setup.proposer = proposer;
  setup.budget.evaluations = evaluations;
  return setup;
}

void search(const TemporaryFolder& folder, const std::string& directory, std::string_view proposer,
            std::int64_t evaluations) {
  const tuning::SearchProblem problem = cannon_problem();
  llm::ChatOptions chat;
  chat.endpoint = "exec:sh " + folder.write("model.sh", std::string(kModel));
  llm::ChatClient model = llm::ChatClient::make(chat).value();
  const auto evaluator = tuning::make_simulated_evaluator(problem.machine, problem.inputs);
  const auto made = tuning::make_proposer(proposer, problem, 5);
  ASSERT_TRUE(made.ok()) << made.error().message;
  tuning::TuneOptions options;
  options.budget.evaluations = evaluations;
  options.directory = directory;
  options.fingerprint = to_text(cannon_setup(proposer, evaluations));
  const auto outcome = tuning::tune(problem, *evaluator, **made, &model, nullptr, options);
  ASSERT_TRUE(outcome.ok()) << outcome.error().message;
}

std::string forged_search(const TemporaryFolder& folder, const std::string& lines) {
  const std::string directory = folder.path() + "/forged";
  std::filesystem::create_directory(directory);
  folder.write("forged/journal.jsonl", lines);
  return directory;
}

std::string first_line(const std::string& start) {
  const Json line = {{"search",
                      {{"version", kVersion},
                       {"proposer", "anneal"},
                       {"unit", "s"},
                       {"inputs", {"input"}},
                       {"start", start},
                       {"of", ""},
                       {"marks", Json::object()}}}};
  return line.dump() + "\n";
}

std::string step_line(std::int64_t number, double score, const std::string& text,
                      const std::string& why, const std::vector<std::int64_t>& parents) {
  Json step = {{"number", number}, {"text", text}, {"why", why}, {"values", Json::array()}};
  step["status"] = score > 0 ? "ok" : "failed";
  if (score > 0) {
    step["score"] = score;
    step["values"] = {score};
  } else {
    step["execution"] = "it fails";
  }
  if (!parents.empty()) step["parents"] = parents;
  return Json{{"step", step}}.dump() + "\n";
}

}  // namespace groma::test
