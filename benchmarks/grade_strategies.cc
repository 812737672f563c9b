// Grades mappings for the ten strategies of the paper (A.7): those that a language model writes
// from the sentences, or those in a folder. A mapping passes if it decides as the reference mapping
// in dsl/strategies does, on a dozen machines (tests/support/strategy_grades.h). The model gets the
// sentence and the statements that the paper fixes, and repairs its mapping as in `groma write`.
#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <string>

#include "arguments.h"
#include "groma/dsl_files.h"
#include "groma/llm.h"
#include "groma/source.h"
#include "groma/write.h"
#include "strategy_problem.h"
#include "support/strategy_grades.h"

namespace {

using namespace groma;

constexpr std::string_view kUsage =
    "groma_grade_strategies NAME=VALUE...\n"
    "  mappings=FOLDER  grade FOLDER/strategy01.mapper to strategy10.mapper, without a model\n"
    "  endpoint=E       let this chat endpoint write the mappings: https://host/v1, exec:CMD\n"
    "  model=M          its model (default: the first one that the endpoint lists)\n"
    "  api=A            openai (default) or anthropic\n"
    "  key-file=F       the file with the key (default: the variable GROMA_API_KEY)\n"
    "  record=F         write all requests and replies to this new file\n"
    "  replay=F         take the replies from such a file\n"
    "  repairs=N        limit the rounds after the first one (default 3)\n"
    "  out=FOLDER       write the mappings of the model to this folder, which must exist\n"
    "One of mappings, endpoint and replay is needed. Exit code 0 if all mappings could be "
    "graded.\n";

constexpr std::string_view kNames[] = {"mappings", "endpoint", "model",   "api", "key-file",
                                       "record",   "replay",   "repairs", "out"};

// Returns the arguments NAME=VALUE by their names.
std::map<std::string, std::string, std::less<>> read_arguments(int argc, char** argv) {
  std::map<std::string, std::string, std::less<>> values;
  for (const std::string& argument : bench::arguments_of(argc, argv, kUsage)) {
    const std::size_t equals = argument.find('=');
    const std::string name = argument.substr(0, equals);
    if (equals == argument.npos ||
        std::find(std::begin(kNames), std::end(kNames), name) == std::end(kNames)) {
      bench::refuse("there is no argument `" + argument + "`", kUsage);
    }
    values[name] = argument.substr(equals + 1);
  }
  if (values["mappings"].empty() && values["endpoint"].empty() && values["replay"].empty()) {
    bench::refuse("what shall be graded?", kUsage);
  }
  return values;
}

// A mapping to grade. `failure` says why there is none.
struct Written {
  std::string text, failure;
  int rounds = 0;
};

Written read_mapping(const std::string& folder, const DslFile& strategy) {
  const std::string path = fmt::format("{}/{}.mapper", folder, strategy.name);
  auto text = read_file(path, kMaxSourceBytes);
  if (!text) return {"", text.error().message};
  return {std::move(text).value(), ""};
}

// Lets the model write the mapping for a strategy.
Written write_mapping(llm::ChatClient& client, const DslFile& strategy, int repairs) {
  tuning::WritingOptions options;
  options.repairs = repairs;
  const tuning::WrittenMapping written =
      tuning::write_mapping(client, bench::writing_problem_of(strategy), options);
  Written result{written.text, "", written.rounds};
  if (written.text.empty()) {
    result.failure = written.error ? written.error->message : "no mapping: " + written.refusal;
  }
  return result;
}

llm::ChatClient make_client(std::map<std::string, std::string, std::less<>>& values) {
  llm::ChatOptions options;
  options.endpoint = values["endpoint"];
  options.model = values["model"];
  options.record = values["record"];
  options.replay = values["replay"];
  if (values["api"] == "anthropic") {
    options.api = llm::ChatApi::kAnthropic;
  } else if (!values["api"].empty() && values["api"] != "openai") {
    bench::refuse("api is openai or anthropic", kUsage);
  }
  if (options.replay.empty()) {
    auto key = llm::find_chat_key(values["key-file"]);
    if (!key) bench::refuse(key.error().message, kUsage);
    options.key = std::move(key).value();
  }
  auto client = llm::ChatClient::make(std::move(options));
  if (!client) bench::refuse(client.error().message, kUsage);
  return std::move(client).value();
}

}  // namespace

int main(int argc, char** argv) {
  auto values = read_arguments(argc, argv);
  const std::int64_t repairs =
      values["repairs"].empty() ? 3 : bench::number_of("repairs", values["repairs"], 0, kUsage);
  std::optional<llm::ChatClient> client;
  if (values["mappings"].empty()) client = make_client(values);
  int passed = 0, graded = 0;
  for (const DslFile& strategy : strategies()) {
    const Written written = client ? write_mapping(*client, strategy, static_cast<int>(repairs))
                                   : read_mapping(values["mappings"], strategy);
    const std::string rounds =
        client ? fmt::format("  {} round{}", written.rounds, written.rounds == 1 ? "" : "s") : "";
    if (!written.failure.empty()) {
      fmt::print("{}  none{}  {}\n", strategy.name, rounds, written.failure);
      continue;
    }
    ++graded;
    if (!values["out"].empty()) {
      std::ofstream(fmt::format("{}/{}.mapper", values["out"], strategy.name)) << written.text;
    }
    const auto grade = testing::StrategyGrader(strategy).grade(written.text);
    passed += grade.passed;
    fmt::print("{}  {}{}{}{}\n", strategy.name, grade.passed ? "pass" : "FAIL", rounds,
               grade.passed ? "" : "  ", grade.difference);
  }
  fmt::print("{} of {} pass\n", passed, strategies().size());
  return graded == static_cast<int>(strategies().size()) ? 0 : 1;
}
