// A directory of a search that a stranger made: its journal may say anything. Going on with it
// starts no process and writes nothing outside of it, unless the user says that he trusts it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "command/run.h"
#include "support/sanitized.h"

namespace groma {
namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;
using test::Outcome;
using test::read_text;
using test::run;
using test::TemporaryFolder;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

// Every file, folder and link below a folder with its content, except what lies below `but`.
std::map<std::string, std::string> tree_below(const std::string& folder, const std::string& but) {
  std::map<std::string, std::string> tree;
  for (auto entry = fs::recursive_directory_iterator(folder);
       entry != fs::recursive_directory_iterator(); ++entry) {
    const fs::path& path = entry->path();
    if (path == but) {
      entry.disable_recursion_pending();
      continue;
    }
    std::string& content = tree[path.string()];
    if (entry->is_symlink()) {
      content = "-> " + fs::read_symlink(path).string();
    } else {
      content = entry->is_regular_file() ? read_text(path.string()) : "folder";
    }
  }
  return tree;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

// A user's folder with things worth having, and a search in it that was begun by a stranger.
class Forged : public ::testing::Test {
 protected:
  void SetUp() override {
    if (GROMA_SANITIZED) GTEST_SKIP() << "a sanitizer wants to be preloaded first";
    fs::create_directory(home());
    fs::create_directory(theirs());
    for (const std::string& folder : {home(), theirs()}) {
      std::ofstream(folder + "/precious") << "precious\n";
      for (const char* name : {"sh", "groma", "program", "cannon"}) {
        std::ofstream(folder + "/" + name) << "#!/bin/sh\ntouch " << folder << "/ran\n";
        fs::permissions(folder + "/" + name, fs::perms::all);
      }
    }
    std::ofstream(home() + "/text") << "value 4  # groma: one of 1 2 3 4 5 6 7 8\n";
  }

  std::string home() const { return folder_.path() + "/home"; }
  std::string theirs() const { return folder_.path() + "/theirs"; }
  std::string search() const { return theirs() + "/search"; }
  std::string started_file() const { return folder_.path() + "/started"; }

  // Runs it as the user, in the user's folder; started() is what was started.
  Outcome as_user(const std::string& line) {
    fs::remove(started_file());
    return run("cd " + home() + " && unset GROMA_API_KEY && export GROMA_API_KEY=" + key_ +
               " && timeout 100 env LD_PRELOAD=" GROMA_COUNT_PROCESSES " GROMA_PROCESSES=" +
               started_file() + " " + line);
  }
  std::vector<std::string> started() const { return lines_of(read_text(started_file())); }

  // A journal whose first line is this.
  void write_journal(const ordered_json& first, const std::string& rest = "") const {
    fs::remove_all(search());
    fs::create_directory(search());
    std::ofstream(search() + "/journal.jsonl") << first.dump() << "\n" << rest;
  }

  // Goes on without trust, and looks whether anything happened that should not.
  void expect_harmless(const std::string& what, const std::string& options = "") {
    const auto before = tree_below(folder_.path(), search());
    const Outcome outcome =
        as_user("groma tune --evaluations 2 --time 20 " + options + " --resume " + search());
    EXPECT_THAT(started(), IsEmpty()) << what << "\n" << outcome.err;
    auto after = tree_below(folder_.path(), search());
    after.erase(started_file());
    EXPECT_EQ(after, before) << what;
    for (const auto& entry : fs::directory_iterator(search())) {
      const std::string name = entry.path().filename().string();
      const bool known = name == "journal.jsonl" || name == "lock" || name == "best.mapper" ||
                         name == "best.txt" || name == "report.txt" || name == "steps.txt" ||
                         name == "findings.txt";
      EXPECT_TRUE(known && entry.is_regular_file() && !entry.is_symlink()) << what << ": " << name;
    }
    const std::string all = outcome.out + outcome.err;
    EXPECT_TRUE(outcome.exit_code == 0 || outcome.exit_code == 1) << what << "\n" << all;
    ++forged_;
  }

  // Each word of the first line's member `of`, replaced and said a second time, and each member
  // beside it, with values that may do harm.
  void expect_harmless_however_forged(const ordered_json& first, const std::string& rest) {
    const std::string canary = theirs() + "/ran";
    const std::vector<std::string> values = {"touch " + canary + " # {file}",
                                             theirs(),
                                             "legion",
                                             "-logfile",
                                             home() + "/precious",
                                             "1",
                                             "trace",
                                             "x'; touch " + canary + "; '"};
    const std::vector<std::string> words =
        lines_of(first["search"]["of"].get_ref<const std::string&>());
    for (std::size_t i = 0; i < words.size(); ++i) {
      const std::string name = words[i].substr(0, words[i].find(' '));
      for (std::size_t k = 0; k < 2 * values.size(); ++k) {
        const bool again = k >= values.size();
        if (again && k % 3 != i % 3) continue;
        const std::string word = name + " " + values[k % values.size()];
        std::vector<std::string> changed = words;
        if (again) changed.push_back(word);
        if (!again) changed[i] = word;
        ordered_json forged = first;
        forged["search"]["of"] = joined(changed);
        write_journal(forged, rest);
        expect_harmless((again ? "also " : "") + word);
      }
    }
    for (const auto& [name, member] : first["search"].items()) {
      if (name == "of") continue;
      for (std::size_t k = 0; k < values.size(); k += 2) {
        ordered_json forged = first;
        forged["search"][name] = values[k];
        write_journal(forged, rest);
        expect_harmless(name + ": " + values[k]);
      }
    }
  }

  // What stands in a journal that this search leaves.
  std::pair<ordered_json, std::string> begun(const std::string& line) {
    EXPECT_EQ(run("cd " + theirs() + " && " + line + " --out " + search()).exit_code, 0) << line;
    const std::string journal = read_text(search() + "/journal.jsonl");
    const std::size_t end = journal.find('\n');
    fs::remove(theirs() + "/ran");
    return {ordered_json::parse(journal.substr(0, end)), journal.substr(end + 1)};
  }

  // What `groma tune --on legion` leaves, with a flag of Legion that overwrites a file of the
  // user's. Where this build has no Legion the journal is written by hand.
  std::pair<ordered_json, std::string> begun_on_legion() {
    has_legion_ = run("groma tune --on legion --app stencil:edge=20,loops=1 --evaluations 1 "
                      "--repeats 1 --estimates 0 --out " +
                      search() + " -- -ll:cpu 1 -logfile " + home() + "/precious")
                      .exit_code == 0;
    std::ofstream(home() + "/precious") << "precious\n";
    if (has_legion_) {
      const std::string journal = read_text(search() + "/journal.jsonl");
      const std::size_t end = journal.find('\n');
      return {ordered_json::parse(journal.substr(0, end)), journal.substr(end + 1)};
    }
    auto [first, rest] = begun("groma tune --app cannon:size=small --evaluations 1");
    std::string of = first["search"]["of"];
    const auto put = [&of](const std::string& from, const std::string& to) {
      const std::size_t at = of.find(from);
      ASSERT_NE(at, of.npos) << of;
      of.replace(at, from.size(), to);
    };
    put("machine p100x4\n", "machine \n");
    put("on simulator\n",
        "on legion\nflag -ll:cpu\nflag 1\nflag -logfile\nflag " + home() + "/precious\n");
    put("command \n", "command touch " + theirs() + "/ran; groma run {file} --app {input}\n");
    first["search"]["of"] = of;
    return {first, rest};
  }

  TemporaryFolder folder_;
  std::string key_;  // the user's
  int forged_ = 0;
  bool has_legion_ = false;
};

// What counts processes does count them, and what is trusted does run.
TEST_F(Forged, IsRunWhereItIsTrusted) {
  begun(
      "groma tune --file ../home/text --command 'touch ran; cat {file}' --metric 'value (\\d)' "
      "--evaluations 2 --repeats 1");
  const Outcome shown = as_user("groma tune --evaluations 3 --resume " + search());
  EXPECT_EQ(shown.exit_code, 1);
  EXPECT_THAT(shown.err, HasSubstr("runs `touch ran; cat {file}` in `" + theirs() + "`"));
  EXPECT_THAT(started(), IsEmpty());
  EXPECT_FALSE(fs::exists(theirs() + "/ran"));
  const Outcome trusted = as_user("groma tune --trust --evaluations 3 --resume " + search());
  EXPECT_EQ(trusted.exit_code, 0) << trusted.err;
  EXPECT_THAT(trusted.err, HasSubstr("runs `touch ran; cat {file}` in `" + theirs() + "`"));
  EXPECT_GT(started().size(), 1U);
  EXPECT_TRUE(fs::exists(theirs() + "/ran"));
}

// The words of the command line are none of a search that goes on: to give the same command again
// would say nothing of the folder, the inputs and the texts that stand in the directory.
TEST_F(Forged, TheSameCommandIsNoTrust) {
  begun(
      "groma tune --file ../home/text --command 'touch ran; cat {file}' --metric 'value (\\d)' "
      "--evaluations 2 --repeats 1");
  const Outcome outcome =
      as_user("groma tune --evaluations 3 --command 'touch ran; cat {file}' --resume " + search());
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(started(), IsEmpty());
  EXPECT_FALSE(fs::exists(theirs() + "/ran") || fs::exists(home() + "/ran"));
}

TEST_F(Forged, FlagsOfLegionAreNotTakenFromAJournal) {
  const auto [first, rest] = begun_on_legion();
  write_journal(first, rest);
  const Outcome outcome = as_user("groma tune --evaluations 2 --resume " + search());
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("'-logfile' '" + home() + "/precious'"));
  EXPECT_THAT(outcome.err, HasSubstr("`--trust`"));
  EXPECT_THAT(started(), IsEmpty());
  EXPECT_EQ(read_text(home() + "/precious"), "precious\n");
  if (!has_legion_) return;
  const Outcome trusted = as_user("groma tune --trust --evaluations 2 --resume " + search());
  EXPECT_EQ(trusted.exit_code, 0) << trusted.err;
  EXPECT_GT(started().size(), 1U);
  EXPECT_NE(read_text(home() + "/precious"), "precious\n") << "the user said that it may";
}

TEST_F(Forged, WordsOfASimulatedSearch) {
  const auto [first, rest] =
      begun("groma tune --app cannon:size=small --evaluations 1 --estimates 20");
  expect_harmless_however_forged(first, rest);
  EXPECT_GT(forged_, 300);
}

TEST_F(Forged, WordsOfASearchByACommand) {
  const auto [first, rest] = begun(
      "groma tune --file ../home/text --about 'what it is' --command 'touch ran; cat {file} "
      "{input}' --check-command true --input ../home/text --metric 'value (\\d)' --memory 4000 "
      "--evaluations 1 --repeats 1");
  expect_harmless_however_forged(first, rest);
  EXPECT_GT(forged_, 300);
}

TEST_F(Forged, WordsOfASearchOnLegion) {
  const auto [first, rest] = begun_on_legion();
  expect_harmless_however_forged(first, rest);
  EXPECT_GT(forged_, 300);
}

// Lines that follow the first: texts, scores, replies. What is proposed decides, not what is
// written down, so most of these are another search's.
TEST_F(Forged, LinesThatFollow) {
  const auto [first, rest] =
      begun("groma tune --app cannon:size=small --evaluations 3 --estimates 20");
  const std::string canary = theirs() + "/ran";
  for (const std::string& line : lines_of(rest)) {
    const ordered_json read = ordered_json::parse(line);
    for (const auto& [name, member] : read.items()) {
      if (!member.is_object()) continue;
      for (const auto& [key, value] : member.items()) {
        for (const ordered_json& other :
             {ordered_json("touch " + canary), ordered_json(-1), ordered_json({home()}),
              ordered_json({{"exec", "touch " + canary}})}) {
          ordered_json forged = read;
          forged[name][key] = other;
          std::string all = rest;
          all.replace(all.find(line), line.size(), forged.dump());
          write_journal(first, all);
          expect_harmless(name + "." + key);
        }
      }
    }
  }
  EXPECT_GT(forged_, 50);
}

// What waits for somebody, or never ends, is not read because a journal says so.
TEST_F(Forged, InputsThatAreNoFilesAreNotRead) {
  const auto [first, rest] = begun("groma tune --app cannon:size=small --evaluations 1");
  ASSERT_EQ(mkfifo((theirs() + "/pipe").c_str(), 0600), 0);
  fs::create_symlink("/proc/version", theirs() + "/link");
  for (const char* member : {"app cannon:size=small", "machine p100x4"}) {
    const std::string name = std::string(member).substr(0, std::string(member).find(' ') + 1);
    for (const char* input :
         {"-", "-:n=1", "./pipe", "./link", "/proc/version", "/proc/version:n=1",
          "/sys/kernel/uevent_seqnum", "/dev/null", "/dev/stdin"}) {
      ordered_json forged = first;
      std::string of = forged["search"]["of"];
      of.replace(of.find(member), std::string(member).size(), name + input);
      forged["search"]["of"] = of;
      write_journal(forged, rest);
      const Outcome outcome = as_user("groma tune --resume " + search() + " < /dev/zero");
      EXPECT_EQ(outcome.exit_code, 1) << name << input;
      EXPECT_THAT(outcome.err, HasSubstr("a pipe or a device cannot be read again"))
          << name << input;
    }
  }
}

// With the user's own model: the command line names it, and it is the only thing that is started.
TEST_F(Forged, AModelIsAskedOnlyWhereTheUserNamesIt) {
  key_ = "sk-SECRET-123456";
  auto first = begun("groma tune --app cannon:size=small --evaluations 1").first;
  std::string of = first["search"]["of"];
  of.replace(of.find("proposer guided"), 15, "proposer trace");
  first["search"]["of"] = of;
  first["search"]["proposer"] = "trace";
  write_journal(first);
  const std::string resume = "groma tune --evaluations 2 --resume " + search();
  const Outcome outcome = as_user(resume);
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("uses a model\nhelp: name it with"));
  const Outcome named =
      as_user(resume + " --endpoint 'exec:cat > /dev/null; touch " + home() + "/asked; echo Task'");
  EXPECT_TRUE(fs::exists(home() + "/asked")) << named.err;
  EXPECT_FALSE(fs::exists(theirs() + "/ran") || fs::exists(home() + "/ran"));
}

// --verify runs the program of the command line, where the user is.
TEST_F(Forged, AVerifiedProgramIsTheUsers) {
  const auto [first, rest] = begun("groma tune --app cannon:size=small --evaluations 1");
  std::vector<std::string> words = lines_of(first["search"]["of"].get_ref<const std::string&>());
  for (std::string& word : words) {
    if (word.starts_with("folder ")) word = "folder " + theirs();
  }
  ordered_json forged = first;
  forged["search"]["of"] = joined(words);
  write_journal(forged, rest);
  for (const std::string& folder : {home(), theirs()}) {
    std::ofstream(folder + "/program") << "#!/bin/sh\ntouch ran\n";
    fs::permissions(folder + "/program", fs::perms::owner_all);
  }
  const Outcome outcome =
      as_user("groma tune --evaluations 1 --verify --resume " + search() + " -- ./program");
  EXPECT_FALSE(fs::exists(theirs() + "/ran"));
  const bool can_run = outcome.err.find("no library for Legion programs") == std::string::npos;
  EXPECT_EQ(fs::exists(home() + "/ran"), can_run) << outcome.err;
}

// Otherwise a stranger could make a mapping change what the user's program computes.
TEST_F(Forged, LayoutsOfAVerifiedProgramAreOverriddenByItsUser) {
  const auto [first, rest] = begun("groma tune --app cannon:size=small --evaluations 1");
  ordered_json forged = first;
  forged["search"]["of"] = first["search"]["of"].get<std::string>() + "override-layouts-of *\n";
  write_journal(forged, rest);
  const std::string verify = "groma tune --evaluations 1 --verify --resume " + search();
  const Outcome untold = as_user(verify + " -- ./program");
  EXPECT_EQ(untold.exit_code, 1);
  EXPECT_THAT(untold.err, HasSubstr("was started with `--override-layouts=*`"));
  EXPECT_FALSE(fs::exists(home() + "/ran"));
  const Outcome told = as_user(verify + " --override-layouts -- ./program");
  EXPECT_THAT(told.err, Not(HasSubstr("was begun with")));
}

TEST_F(Forged, ManyApplicationsEndSoon) {
  const auto [first, rest] = begun("groma tune --app cannon:size=small --evaluations 1");
  ordered_json forged = first;
  std::string words = first["search"]["of"];
  for (int i = 0; i < 40'000; ++i) words += "app cannon:size=small\n";
  forged["search"]["of"] = words;
  write_journal(forged, rest);
  const Outcome outcome = as_user("groma tune --time 2 --resume " + search());
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("what the search was begun with cannot be read"));
}

TEST_F(Forged, ObjectsWithManyKeysAreRefused) {
  ordered_json wide;
  for (int key = 0; key < 9'999; ++key) wide[std::to_string(key)] = 0;
  ordered_json forged = {{"search", ordered_json::array()}};
  for (int i = 0; i < 70; ++i) forged["search"].push_back(wide);
  write_journal(forged);
  const Outcome outcome = as_user("groma tune --time 2 --resume " + search());
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("there is no search in"));
}

}  // namespace
}  // namespace groma
