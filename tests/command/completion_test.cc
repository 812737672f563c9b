// groma completion: what it offers, beside `--help` and the lists of other commands, and how real
// shells show it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "command/run.h"

namespace groma {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

struct Offer {
  std::set<std::string> words;
  // The last line, which says whether paths may follow.
  std::string paths;
};

Offer offer(const std::string& words) {
  const test::Outcome outcome = test::run("groma completion -- " + words);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  Offer offer;
  std::istringstream lines(outcome.out);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(':')) {
      offer.paths = line;
    } else {
      offer.words.insert(line.substr(0, line.find('\t')));
    }
  }
  return offer;
}

std::set<std::string> listed(const std::string& command, const char* list) {
  std::set<std::string> names;
  const auto all = nlohmann::json::parse(test::run(command).out);
  for (const auto& item : all[list]) names.insert(item["name"]);
  return names;
}

// Every option in the help text is offered, and every command below it exists.
void compare_with_help(const std::string& command, int* commands) {
  ++*commands;
  const test::Outcome help = test::run("groma " + command + " --help");
  ASSERT_EQ(help.exit_code, 0) << command;
  const std::set<std::string> options = offer(command + " -").words;
  std::istringstream lines(help.out);
  std::set<std::string> in_help;
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("  -")) continue;
    const std::size_t begin = line.find("--");
    in_help.insert(line.substr(begin, line.find_first_of(" \n", begin) - begin));
  }
  for (const std::string& option : in_help) EXPECT_THAT(options, Contains(option)) << command;
  for (const std::string& option : options) {
    if (option == "--") continue;
    EXPECT_THAT(in_help, Contains(option)) << command;
  }
  for (const std::string& name : offer("help " + command + " ''").words) {
    compare_with_help(command + " " + name, commands);
  }
}

TEST(Completion, OffersWhatTheHelpShows) {
  int commands = 0;
  compare_with_help("", &commands);
  EXPECT_GT(commands, 25);
}

TEST(Completion, OffersValuesThatTheCommandKnows) {
  EXPECT_EQ(offer("apps ''").words, listed("groma apps --json", "applications"));
  EXPECT_EQ(offer("strategies ''").words, listed("groma strategies --json", "strategies"));
  auto machines = listed("groma machines --json", "machines");
  machines.insert("local");
  EXPECT_EQ(offer("run --machine ''").words, machines);
  EXPECT_THAT(offer("grammar --format ''").words, ElementsAre("ebnf", "gbnf", "lark"));
  EXPECT_THAT(offer("domain emit triangle --language c").words, ElementsAre("c++", "cuda"));
  EXPECT_THAT(offer("tune --proposer gui").words, ElementsAre("guided"));
  EXPECT_THAT(offer("domain show tri").words, ElementsAre("triangle", "triples"));
  EXPECT_THAT(offer("manual domain em").words, ElementsAre("emit"));
}

TEST(Completion, OffersParametersAndSizes) {
  EXPECT_THAT(offer("run --app cannon:").words,
              ElementsAre("cannon:n=", "cannon:nodes=", "cannon:repeats=", "cannon:size="));
  EXPECT_THAT(offer("run --app cannon:n=4,n").words, ElementsAre("cannon:n=4,nodes="));
  EXPECT_THAT(offer("run --app=cannon:size=m").words, ElementsAre("--app=cannon:size=middle"));
  EXPECT_THAT(offer("run --machine lassen:no").words, ElementsAre("lassen:nodes="));
}

TEST(Completion, OffersTasksOfTheApplication) {
  const std::string tasks = "place my.mapper --app docs/examples/circuit.json --task up";
  EXPECT_THAT(offer(tasks).words, ElementsAre("update_voltages"));
  EXPECT_THAT(offer("place my.mapper --task ''").words, IsEmpty());
}

TEST(Completion, SaysWhichPathsMayFollow) {
  EXPECT_EQ(offer("check ''").paths, ":files 0 mapper");
  EXPECT_EQ(offer("check a.mapper ''").paths, ":files 0 mapper");
  EXPECT_EQ(offer("run --app ''").paths, ":files 0 json");
  EXPECT_EQ(offer("tune --out=").paths, ":folders 6");
  EXPECT_EQ(offer("run --map a.mapper -- ''").paths, ":program 4");
  EXPECT_EQ(offer("run --seed ''").paths, ":none 0");
}

TEST(Completion, LeavesOutWhatIsGivenOrExcluded) {
  EXPECT_THAT(offer("format --check --").words,
              AllOf(Contains("--diff"), Not(Contains("--check")), Not(Contains("--in-place"))));
  EXPECT_THAT(offer("tune --app cannon --").words, Contains("--app"));
}

// An application of a stranger: a pipe that nobody writes to, and a name that a terminal would
// obey.
TEST(Completion, DoesNotWaitAndShowsNoHiddenCharacters) {
  const test::TemporaryFolder folder;
  const std::string pipe = folder.path() + "/pipe", file = folder.path() + "/a.json";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_THAT(offer("place x --app '" + pipe + "' --task ''").words, IsEmpty());
  EXPECT_THAT(offer("place x --app - --task ''").words, IsEmpty());
  auto app = nlohmann::json::parse(test::run("groma apps cannon --json").out);
  const std::string old = app["tasks"][0]["name"];
  std::string text = app.dump();
  for (std::size_t at = 0; (at = text.find('"' + old + '"', at)) != std::string::npos;) {
    text.replace(at, old.size() + 2, "\"\\u001b[2J\"");
  }
  std::ofstream(file) << text;
  const test::Outcome outcome =
      test::run("groma completion -- place x --app '" + file + "' --task ''");
  EXPECT_EQ(outcome.out.find('\x1b'), std::string::npos);
  EXPECT_THAT(outcome.out, Not(HasSubstr("u001b")));
}

TEST(Completion, RefusesWrongUsage) {
  EXPECT_EQ(test::run("groma completion").exit_code, 2);
  EXPECT_EQ(test::run("groma completion tcsh").exit_code, 2);
  EXPECT_EQ(test::run("groma completion bash -- tune ''").exit_code, 2);
  EXPECT_EQ(offer("no-such-command --no-such-option ''").words.count("check"), 0U);
}

// ---- Real shells

// `words` is the line as bash divides it for a completion function: at spaces, colons and `=`.
std::string in_bash(const std::string& line, const std::string& words) {
  return test::run("bash -c 'source <(groma completion bash); COMP_LINE=\"" + line +
                   "\"; COMP_POINT=${#COMP_LINE}; COMP_WORDS=(" + words +
                   "); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _groma; echo \"${COMPREPLY[@]}\"'")
      .out;
}

TEST(CompletionOfBash, CompletesWordsAndFiles) {
  EXPECT_EQ(in_bash("groma gu", "groma gu"), "guide\n");
  EXPECT_EQ(in_bash("groma run --app cannon:si", "groma run --app cannon : si"), "size=\n");
  EXPECT_EQ(in_bash("groma run --app=cannon:size=mi", "groma run --app = cannon : size = mi"),
            "middle\n");
  EXPECT_EQ(in_bash("groma check dsl/mappers/canno", "groma check dsl/mappers/canno"),
            "dsl/mappers/cannon.mapper\n");
  EXPECT_EQ(in_bash("groma tune --out=do", "groma tune --out = do"), "docs\n");
  EXPECT_THAT(in_bash("groma run --map a -- ls", "groma run --map a -- ls"), HasSubstr("ls"));
}

std::string in_fish(const std::string& line) {
  return test::run("fish -c 'groma completion fish | source; complete -C \"" + line + "\"'").out;
}

TEST(CompletionOfFish, CompletesWordsAndFiles) {
  if (!test::is_installed("fish")) GTEST_SKIP() << "there is no fish";
  EXPECT_THAT(in_fish("groma gu"), testing::StartsWith("guide\tExplain the output"));
  EXPECT_THAT(in_fish("groma run --app cannon:size=mi"), HasSubstr("cannon:size=middle\t"));
  EXPECT_EQ(in_fish("groma check dsl/mappers/canno"), "dsl/mappers/cannon.mapper\n");
  EXPECT_EQ(in_fish("groma tune --out=do"), "--out=docs/\n");
  EXPECT_THAT(in_fish("groma run --map a -- ls"), HasSubstr("ls\t"));
}

void expect_in_zsh(const std::string& line, const std::string& shown) {
  const test::Outcome outcome =
      test::run("zsh -f tests/command/complete.zsh \"$PWD\" '" + line + "' '" + shown + "'");
  EXPECT_THAT(outcome.out, HasSubstr(shown)) << outcome.err;
}

TEST(CompletionOfZsh, CompletesWordsAndFiles) {
  if (!test::is_installed("zsh")) GTEST_SKIP() << "there is no zsh";
  expect_in_zsh("groma gu", "guide");
  expect_in_zsh("groma run --app cannon:size=mi", "middle");
  expect_in_zsh("groma check dsl/mappers/canno", "cannon.mapper");
}

}  // namespace
}  // namespace groma
