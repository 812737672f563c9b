// What a resumed search makes of the journal that it finds: of a damaged one, of one that ended
// because of the model, of bytes that are no text.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <thread>

#include "groma/benchmarks.h"
#include "groma/evaluators.h"
#include "groma/search_directory.h"
#include "support/chat_server.h"
#include "support/files.h"
#include "support/temporary_folder.h"
#include "support/tune_round.h"

namespace groma {
namespace {

using test::TemporaryFolder;
using ::testing::AllOf;
using testing::FakeEvaluator;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::read_text;
using End = tuning::TuneOutcome::End;
using Kind = tuning::TuneEvent::Kind;

// A number less one, for which it asks the model.
class Asking : public tuning::Proposer {
 public:
  std::string_view name() const override { return "asking"; }
  GuideDetail reads() const override { return GuideDetail::kExplain; }
  std::vector<tuning::Proposal> propose(tuning::SearchRound& round) override {
    const std::string next = std::to_string(last_ - 1) + suffix;
    std::vector<llm::ChatRequest> requests(questions);
    for (llm::ChatRequest& request : requests) {
      request.messages.push_back({llm::ChatMessage::Role::kUser, "after " + next});
      request.seed = ++asked_;
      request.max_tokens = reply_tokens;
    }
    std::vector<std::string> replies;
    for (const auto& reply : round.ask(requests)) {
      if (reply && reply->text.find("no use") != std::string::npos) {
        round.reject_proposal("it is no use");
      } else if (reply) {
        replies.push_back(reply->text);
      } else if (goes_on_without) {
        replies.emplace_back("without a model");
      } else {
        round.reject("no reply");
      }
    }
    if (replies.size() < requests.size()) return {};
    return {{next, replies.front()}};
  }
  void learn(const tuning::Step& step) override { last_ = std::stoi(step.proposal.text); }

  std::size_t questions = 1;
  int reply_tokens = 16;
  bool goes_on_without = false;
  std::string suffix;

 private:
  int last_ = 0, asked_ = 0;
};

// The number itself; of 13 nothing, unless it is mended, and 17 is refused.
class Numbers : public FakeEvaluator {
 public:
  explicit Numbers(bool mended = false)
      : FakeEvaluator([mended](const std::string& text) {
          return text.starts_with("13") && !mended ? -1.0 : std::stod(text);
        }) {}
  std::optional<tuning::Evaluation> check(const std::string& text, GuideDetail) const override {
    if (!text.starts_with("17")) return std::nullopt;
    tuning::Evaluation refused;
    refused.feedback.execution = "17 is not a number";
    return refused;
  }
};

// A search in a folder, as often as one likes.
class Searched {
 public:
  Searched() { options.directory = folder_.path() + "/search"; }

  // What came of it, or what was wrong.
  Result<tuning::TuneOutcome> run() {
    Numbers numbers(mended);
    Asking proposer;
    proposer.questions = questions;
    proposer.reply_tokens = reply_tokens;
    proposer.goes_on_without = goes_on_without;
    proposer.suffix = problem.start.substr(problem.start.find_first_not_of("0123456789"));
    chat.endpoint =
        endpoint + "request=$(cat); echo asked >> " + folder_.path() + "/asked; " + model;
    if (!endpoint.ends_with(':')) chat.endpoint = endpoint;
    llm::ChatClient client = llm::ChatClient::make(chat).value();
    options.on_event = [this](const tuning::TuneEvent& event) { said.push_back(event.kind); };
    said.clear();
    return tuning::tune(problem, numbers, proposer, &client, nullptr, options);
  }
  std::string error() {
    const auto outcome = run();
    return outcome ? "" : outcome.error().message;
  }
  Result<tuning::TuneOutcome> resume() {
    options.resume = true;
    return run();
  }

  std::string journal() const { return read_text(options.directory + "/journal.jsonl"); }
  void write_journal(const std::string& text) const {
    std::ofstream(options.directory + "/journal.jsonl", std::ios::binary) << text;
  }
  std::string report() const { return read_text(options.directory + "/report.txt"); }
  std::string steps() const { return read_text(options.directory + "/steps.txt"); }
  std::size_t asked() const {
    const std::string lines = read_text(folder_.path() + "/asked");
    return static_cast<std::size_t>(std::count(lines.begin(), lines.end(), '\n'));
  }
  const std::string& folder() const { return folder_.path(); }

  tuning::TuneOptions options;
  tuning::SearchProblem problem{"18 ", nullptr, {}, ""};
  llm::ChatOptions chat;
  std::string endpoint = "exec:", model = "echo well";
  std::size_t questions = 1;
  int reply_tokens = 16;
  bool goes_on_without = false, mended = false;
  std::vector<Kind> said;

 private:
  TemporaryFolder folder_;
};

// Each once in the journal, by another text.
std::string with(std::string journal, std::string_view from, std::string_view to) {
  const std::size_t at = journal.find(from, journal.find('\n'));
  EXPECT_NE(at, journal.npos) << from;
  if (at != journal.npos) journal.replace(at, from.size(), to);
  return journal;
}

TEST(DamagedJournal, IsRefusedWithItsLine) {
  Searched search;
  search.options.budget.evaluations = 8;
  ASSERT_EQ(search.error(), "");
  const std::string journal = search.journal();
  search.options.resume = true;
  const std::string lines[] = {R"({"round":)", R"({"asked":)", R"({"reply":)", R"({"step":)"};
  for (const std::string& line : lines) {
    for (const char* value : {"7",
                              "-1",
                              "1e300",
                              "\"text\"",
                              "null",
                              "true",
                              "{}",
                              "[]",
                              "[7]",
                              "[[]]",
                              "[{}]",
                              "[{},{}]",
                              R"({"messages":7})",
                              R"({"number":2,"text":"17"})",
                              R"({"of":0})",
                              R"({"of":0,"error":99})",
                              R"({"of":0,"text":"a","finish":99})",
                              R"({"of":0,"error":{}})",
                              R"({"of":1,"text":"a"})",
                              R"({"of":-1,"text":"a"})"}) {
      const std::size_t at = journal.find(line) + line.size();
      search.write_journal(journal.substr(0, at) + value +
                           journal.substr(journal.find('\n', at) - 1));
      const bool takes_it = line == lines[0] && std::string_view(value) == "7";
      EXPECT_THAT(search.error(),
                  takes_it ? ::testing::Matcher<std::string>("") : HasSubstr("journal.jsonl:"))
          << line << value;
    }
  }
  for (const auto& [from, to] : std::vector<std::pair<std::string, std::string>>{
           {R"("score":16)", R"("score":-1)"},
           {R"("score":16)", R"("score":0)"},
           {R"("score":16)", R"("score":null)"},
           {R"("score":16)", R"("score":"16")"},
           {R"("values":[16)", R"("values":["a")"},
           {R"("values":[16)", R"("values":[null)"},
           {R"("status":"ok")", R"("status":"well")"},
           {R"("status":"ok")", R"("noise":-1,"status":"ok")"},
           {R"("number":2)", R"("number":5)"},
           {R"("number":2)", R"("number":1e300)"},
           {R"("free":true)", R"("free":"yes")"},
           {R"("free":true)", R"("free":true,"repeated":7)"},
           {R"(,"seconds":)", R"(,"seconds":1e300,"was":)"},
           {R"(,"seconds":)", R"(,"seconds":-1,"was":)"},
           {R"(,"seconds":)", R"(,"seconds":"","was":)"},
           {R"("input_tokens":)", R"("input_tokens":-1,"was":)"},
           {R"("input_tokens":)", R"("input_tokens":9223372036854775807,"was":)"},
           {R"("input_tokens":)", R"("money":-1,"input_tokens":)"},
           {R"("input_tokens":)", R"("money":1e300,"input_tokens":)"},
           {R"("spent_tokens":)", R"("spent_tokens":-1,"was":)"},
           {R"("spent_tokens":)", R"("spent_money":-1,"spent_tokens":)"},
           {R"("text":"well)", R"("text":7,"was":")"},
       }) {
    search.write_journal(with(journal, from, to));
    EXPECT_THAT(search.error(), HasSubstr("journal.jsonl:")) << to;
  }
  // What is left of it can be used.
  search.write_journal(journal.substr(0, journal.find("{\"reply\"")));
  EXPECT_EQ(search.error(), "");
}

// So that what is begun can be gone on with.
TEST(Journal, HoldsNoLineThatItWouldNotRead) {
  Searched search;
  search.problem.start = "18 " + std::string(std::size_t{65} << 20, 'x');
  EXPECT_THAT(search.error(), HasSubstr("journal.jsonl` cannot hold a text"));
  EXPECT_EQ(search.journal(), "");
}

// ------------------------------------------------------------------ searches that the model ended

TEST(ModelEnd, OfAnEndpointThatWasDown) {
  Searched search;
  search.options.budget.evaluations = 5;
  search.endpoint = "http://127.0.0.1:1/v1";
  search.chat.model = "any";
  search.chat.attempts = 1;
  const auto down = search.run();
  ASSERT_TRUE(down.ok());
  EXPECT_EQ(down->end, End::kModel);
  EXPECT_EQ(search.resume()->end, End::kModel);  // still
  search.endpoint = "exec:";
  const auto up = search.resume();
  ASSERT_TRUE(up.ok()) << up.error().message;
  EXPECT_EQ(up->end, End::kBudget);
  EXPECT_EQ(up->spent.evaluations, 5);
  search.options.budget.evaluations = 6;
  const auto further = search.resume();
  ASSERT_TRUE(further.ok()) << further.error().message;
  EXPECT_EQ(further->spent.evaluations, 6);
  EXPECT_EQ(further->spent.model_calls, 8);  // two of them in vain, one for what is refused
}

TEST(ModelEnd, OfRepliesThatWereNoUse) {
  Searched search;
  search.options.budget.evaluations = 5;
  search.model = "echo no use";
  EXPECT_EQ(search.run()->end, End::kRejected);
  EXPECT_EQ(search.asked(), 5U);
  EXPECT_EQ(search.resume()->end, End::kRejected);
  EXPECT_EQ(search.asked(), 10U);
  search.model = "echo well";
  const auto outcome = search.resume();
  ASSERT_TRUE(outcome.ok()) << outcome.error().message;
  EXPECT_EQ(outcome->end, End::kBudget);
  EXPECT_EQ(search.asked(), 15U);
  EXPECT_EQ(outcome->spent.model_calls, 15);
}

// A model that does not write programs is no better in a comparison than one whose programs fail.
TEST(ModelEnd, InAComparisonRepliesOfNoUseCount) {
  Searched search;
  search.options.budget.evaluations = 7;
  search.options.compare = true;
  search.model = "echo no use";
  const auto outcome = search.run();
  ASSERT_TRUE(outcome.ok()) << outcome.error().message;
  EXPECT_EQ(outcome->end, End::kBudget);
  EXPECT_EQ(outcome->spent.evaluations, 7);
  const std::int64_t unusable = outcome->spent.unusable;
  EXPECT_GE(unusable, 6);  // but for the start
  EXPECT_EQ(search.asked(), static_cast<std::size_t>(unusable));
  const auto again = search.resume();
  ASSERT_TRUE(again.ok()) << again.error().message;
  EXPECT_EQ(again->spent.evaluations, 7);
  EXPECT_EQ(again->spent.unusable, unusable);
  EXPECT_EQ(search.asked(), static_cast<std::size_t>(unusable));
}

TEST(ModelEnd, OfAModelThatNeverReplies) {
  Searched search;
  search.options.budget.evaluations = 5;
  search.chat.attempts = 1;
  search.model = "exit 3";
  const auto outcome = search.run();
  ASSERT_TRUE(outcome.ok());
  EXPECT_EQ(outcome->end, End::kModel);
  EXPECT_THAT(outcome->why, HasSubstr("3"));
  EXPECT_EQ(search.asked(), 5U);
  // A single reply, though of no use, says that there is one.
  search.model = "[ $(($(wc -l < " + search.folder() + "/asked) % 5)) = 0 ] || exit 3; echo no use";
  EXPECT_EQ(search.resume()->end, End::kRejected);
  EXPECT_EQ(search.asked(), 10U);
}

// Of the search, and the client's own.
TEST(ModelEnd, OfACeilingThatIsLiftedLater) {
  for (const bool of_client : {false, true}) {
    for (const bool goes_on_without : {false, true}) {
      Searched search;
      search.goes_on_without = goes_on_without;
      search.options.budget.evaluations = 6;
      search.chat.price = llm::ChatPrice{1e6, 1e6};  // a token costs 1
      double& ceiling = of_client ? search.chat.max_money : search.options.budget.money;
      ceiling = 30;  // 19 at most for each question, 5 in truth
      const auto poor = search.run();
      ASSERT_TRUE(poor.ok()) << poor.error().message;
      const std::size_t asked = search.asked();
      EXPECT_GT(asked, 0U);
      EXPECT_LT(asked, 6U);
      EXPECT_EQ(poor->end, End::kBudget);
      EXPECT_EQ(poor->budget, goes_on_without ? "evaluations" : "money");
      if (!goes_on_without) {
        EXPECT_THAT(draw(*poor, Numbers()),
                    AllOf(HasSubstr("ended  by the budget of money: "),
                          HasSubstr(of_client ? "the ceiling is 30" : " of 30 are spent")));
      }
      EXPECT_EQ(poor->spent.model_calls, static_cast<std::int64_t>(asked));
      EXPECT_EQ(poor->spent.evaluations, goes_on_without ? 6 : static_cast<std::int64_t>(asked));
      if (!of_client) {
        const auto still = search.resume();
        ASSERT_TRUE(still.ok()) << still.error().message;
        EXPECT_EQ(search.asked(), asked);
        EXPECT_EQ(still->spent.money, poor->spent.money);
      }
      ceiling = 1e6;
      search.options.budget.evaluations = 8;
      const auto rich = search.resume();
      ASSERT_TRUE(rich.ok()) << rich.error().message;
      EXPECT_EQ(rich->spent.evaluations, 8);
      EXPECT_EQ(search.asked(), goes_on_without ? asked + 2 : 8U);
    }
  }
}

// Each client has one, the search goes on with another.
TEST(ModelEnd, OfTheCeilingOfAClientThatKnowsWhatWasSpentBefore) {
  Searched search;
  search.options.budget.evaluations = 3;
  search.model = "printf '%35000s' well";  // some 10,000 tokens, of which 6,000 are read
  search.reply_tokens = 6'000;
  search.chat.max_tokens = 21'000;
  const auto first = search.run();
  ASSERT_TRUE(first.ok()) << first.error().message;
  EXPECT_EQ(search.asked(), 3U);
  EXPECT_GT(first->spent.tokens, 18'000);
  search.options.budget.evaluations = 5;
  const auto second = search.resume();
  ASSERT_TRUE(second.ok()) << second.error().message;
  EXPECT_EQ(second->end, End::kBudget);
  EXPECT_EQ(search.asked(), 3U);
}

// ------------------------------------------------------------------------------- lost and broken
// off

TEST(Resume, AQuestionThatWasLostIsPaidFor) {
  Searched search;
  search.options.budget.evaluations = 4;
  search.chat.price = llm::ChatPrice{1e6, 1e6};
  const auto whole = search.run();
  ASSERT_TRUE(whole.ok());
  const std::string journal = search.journal();
  const std::size_t cut = journal.find("{\"reply\"", journal.find("\"number\":3"));
  search.write_journal(journal.substr(0, cut));
  for (int time = 0; time < 2; ++time) {  // it stays so
    const auto outcome = search.resume();
    ASSERT_TRUE(outcome.ok()) << outcome.error().message;
    EXPECT_EQ(outcome->best->proposal.text, whole->best->proposal.text);
    EXPECT_EQ(outcome->spent.model_calls, whole->spent.model_calls + 1);
    // "after 15 " in three tokens, 16 of the answer.
    EXPECT_EQ(outcome->spent.tokens, whole->spent.tokens + 19);
    EXPECT_DOUBLE_EQ(outcome->spent.money, whole->spent.money + 19);
  }
}

// What was answered before the stop is not asked again.
TEST(Resume, OfSeveralQuestionsOnlyTheStoppedAreAskedAgain) {
  Searched search;
  search.questions = 3;
  search.options.budget.evaluations = 3;
  const std::string slow = search.folder() + "/slow";
  search.model = "case \"$request\" in *'\"seed\":5'*) [ -e " + slow + " ] || { touch " + slow +
                 "; sleep 100; };; esac; echo well";
  // In the second round, when all of it are on their way.
  search.options.stop = [&] { return std::filesystem::exists(slow) && search.asked() >= 6; };
  EXPECT_EQ(search.run()->end, End::kStopped);
  search.options.stop = {};
  const auto outcome = search.resume();
  ASSERT_TRUE(outcome.ok()) << outcome.error().message;
  EXPECT_EQ(outcome->end, End::kBudget);
  const std::string journal = search.journal();
  std::size_t stopped = 0;
  for (std::size_t at = journal.find("\"error\":3,"); at != journal.npos;
       at = journal.find("\"error\":3,", at + 1)) {
    ++stopped;
  }
  EXPECT_GT(stopped, 0U);
  EXPECT_EQ(search.asked(), 9 + stopped);  // 17 is refused, so three rounds
  EXPECT_EQ(outcome->spent.model_calls, static_cast<std::int64_t>(search.asked()));
  EXPECT_EQ(search.resume()->spent.model_calls, outcome->spent.model_calls);
}

// Eight of them, of which each byte takes six in a journal.
TEST(Resume, RepliesThatAreTooLongAreCut) {
  Searched search;
  search.questions = 8;
  search.reply_tokens = 1'000'000;
  search.options.budget.evaluations = 2;
  search.model = "head -c 1900000 /dev/zero | tr '\\0' '\\001'";
  ASSERT_EQ(search.error(), "");
  EXPECT_EQ(search.asked(), 16U);  // 17 is refused
  EXPECT_THAT(search.steps(), HasSubstr("[851424 further bytes]"));
  search.options.budget.evaluations = 3;
  const auto outcome = search.resume();
  ASSERT_TRUE(outcome.ok()) << outcome.error().message;
  EXPECT_EQ(search.asked(), 24U);
}

// A command reports no tokens, so they are estimated from both texts, now and when it is resumed.
TEST(Resume, EstimatedTokensStayEstimated) {
  Searched search;
  search.options.budget.evaluations = 3;
  search.model = "printf '%700s' well";
  search.reply_tokens = 400;
  const auto outcome = search.run();
  ASSERT_TRUE(outcome.ok()) << outcome.error().message;
  // "after 17 " and so on in three tokens each; 17 is refused without a run.
  EXPECT_EQ(outcome->spent.tokens, 203 * outcome->spent.model_calls);
  EXPECT_TRUE(outcome->spent.estimated);
  EXPECT_THAT(to_json(*outcome), HasSubstr("\"tokens_estimated\":true"));
  EXPECT_THAT(search.report(), HasSubstr(fmt::format("(about {} tokens)", outcome->spent.tokens)));
  const auto again = search.resume();
  ASSERT_TRUE(again.ok()) << again.error().message;
  EXPECT_EQ(again->spent.tokens, outcome->spent.tokens);
  EXPECT_TRUE(again->spent.estimated);

  const testing::ChatServer server;
  Searched counted;
  counted.options.budget.evaluations = 3;
  counted.endpoint = server.at("ok");
  counted.chat.model = "any";
  const auto exact = counted.run();
  ASSERT_TRUE(exact.ok()) << exact.error().message;
  EXPECT_FALSE(exact->spent.estimated);
  EXPECT_THAT(to_json(*exact), Not(HasSubstr("tokens_estimated")));
  EXPECT_THAT(counted.report(), HasSubstr(fmt::format("({} tokens)", exact->spent.tokens)));
}

// What a server's failures may have cost is spent, as its client has it.
TEST(Resume, WhatWasAskedInVainIsPaidFor) {
  const testing::ChatServer server;
  Searched search;
  search.options.budget.evaluations = 3;
  search.endpoint = server.at("first-500");
  search.chat.model = "any";
  search.chat.backoff_ms = 1;
  search.chat.price = llm::ChatPrice{1e6, 1e6};
  const auto outcome = search.run();
  ASSERT_TRUE(outcome.ok()) << outcome.error().message;
  EXPECT_EQ(outcome->spent.model_calls, 3);
  // Three replies, and one that failed: what the journal has of them, and more than its 16 tokens.
  std::int64_t replied = 0;
  for (const char* of : {"\"input_tokens\":", "\"output_tokens\":"}) {
    const std::string journal = search.journal();
    for (std::size_t at = journal.find(of); at != journal.npos; at = journal.find(of, at + 1)) {
      replied += std::stoi(journal.substr(at + std::string(of).size(), 9));
    }
  }
  EXPECT_GT(replied, 0);
  EXPECT_GT(outcome->spent.tokens, replied + 16);
  EXPECT_DOUBLE_EQ(outcome->spent.money, static_cast<double>(outcome->spent.tokens));
  const auto again = search.resume();
  ASSERT_TRUE(again.ok()) << again.error().message;
  EXPECT_EQ(again->spent.tokens, outcome->spent.tokens);
  EXPECT_DOUBLE_EQ(again->spent.money, outcome->spent.money);
}

// A ceiling is one of the whole search.
TEST(ModelEnd, OfACeilingThatFailuresUsedUp) {
  Searched search;
  search.options.budget.evaluations = 3;
  search.chat.max_tokens = 24;  // 19 at most for each question, 4 in truth
  search.model = "exit 3";
  ASSERT_EQ(search.error(), "");
  const std::size_t asked = search.asked();
  EXPECT_GT(asked, 1U);
  const auto outcome = search.resume();
  ASSERT_TRUE(outcome.ok());
  EXPECT_EQ(outcome->end, End::kBudget);
  EXPECT_EQ(search.asked(), asked);
  EXPECT_GT(outcome->spent.model_calls, 0);
  EXPECT_LE(outcome->spent.tokens, 24);
}

TEST(Resume, SaysSoWhateverTheJournalEndsWith) {
  Searched search;
  search.options.budget.evaluations = 4;
  ASSERT_EQ(search.error(), "");
  const std::string journal = search.journal();
  int cuts = 0;
  for (std::size_t at = journal.find('\n') + 1; at < journal.size();
       at = journal.find('\n', at) + 1) {
    search.write_journal(journal.substr(0, at));
    ASSERT_TRUE(search.resume().ok());
    EXPECT_EQ(std::count(search.said.begin(), search.said.end(), Kind::kResumed),
              cuts++ > 0 ? 1 : 0);
  }
  EXPECT_GT(cuts, 15);
}

TEST(Resume, AStopWhileItIsGoneThroughChangesNothing) {
  Searched search;
  search.options.budget.evaluations = 4;
  ASSERT_EQ(search.error(), "");
  const std::string journal = search.journal(), report = search.report();
  search.options.stop = [] { return true; };
  EXPECT_EQ(search.resume()->end, End::kStopped);
  EXPECT_EQ(search.journal(), journal);
  EXPECT_EQ(search.report(), report);
}

TEST(Resume, RemovesWhatAKilledSearchLeftBesideItsFiles) {
  Searched search;
  search.options.budget.evaluations = 4;
  ASSERT_EQ(search.error(), "");
  for (const char* name : tuning::kSearchFiles) {
    std::ofstream(search.options.directory + "/" + name + ".groma-abc123") << "half";
  }
  ASSERT_TRUE(search.resume());
  for (const char* name : tuning::kSearchFiles) {
    EXPECT_FALSE(std::filesystem::exists(search.options.directory + "/" + name + ".groma-abc123"))
        << name;
  }
}

TEST(Resume, ItsTimeMayEndWhileTheJournalIsRead) {
  Searched search;
  search.options.budget.evaluations = 4;
  ASSERT_EQ(search.error(), "");
  const std::string journal = search.journal();
  search.options.budget.seconds = 1e-9;
  EXPECT_EQ(search.resume().error().code, Error::Code::kStopped);
  EXPECT_EQ(search.journal(), journal);
}

// --------------------------------------------------------------------------------------- the texts

TEST(Resume, KeepsEveryByte) {
  for (const std::string& suffix :
       {std::string(" caf\xE9 \xFF\xC3"), std::string(" \xF4\x8F\xBF\xBD"), std::string(" \0 b", 4),
        std::string(" \xEF\xBF\xBD \x80"), std::string(" caf\xC3\xA9")}) {
    Searched search;
    search.problem.start = "18" + suffix;
    search.problem.about = "in Latin-1:" + suffix;
    search.options.fingerprint = suffix;
    search.options.budget.evaluations = 5;
    ASSERT_EQ(search.error(), "");
    const std::string journal = search.journal();
    search.write_journal(journal.substr(0, journal.find("{\"round\"", journal.find("number\":4"))));
    const auto recorded = tuning::recorded_search(search.options.directory);
    ASSERT_TRUE(recorded.ok());
    EXPECT_EQ(recorded->start, "18" + suffix);
    EXPECT_EQ(recorded->fingerprint, suffix);
    const auto outcome = search.resume();
    ASSERT_TRUE(outcome.ok()) << outcome.error().message;
    EXPECT_EQ(outcome->best->proposal.text, "14" + suffix);
    EXPECT_EQ(testing::without_times(search.journal()), testing::without_times(journal));
  }
}

// It is refused before it is parsed, and no search begins with it.
TEST(Resume, ATextToBeginWithHasABound) {
  Searched search;
  search.options.budget.evaluations = 1;
  ASSERT_EQ(search.error(), "");
  std::string journal = search.journal();
  const std::string long_text(9'000'000, ' ');
  const std::string before = R"("start":")";
  journal.insert(journal.find(before) + before.size(), long_text);
  search.write_journal(journal);
  const auto recorded = tuning::recorded_search(search.options.directory);
  ASSERT_FALSE(recorded.ok());
  EXPECT_EQ(recorded.error().code, Error::Code::kTooLarge);
  EXPECT_THAT(recorded.error().message, HasSubstr("says in more than 8 MB what it is"));
  Searched other;
  other.problem.start = "18 " + long_text;
  EXPECT_THAT(other.error(), HasSubstr("cannot hold a text that takes more than 8 MB"));
}

// The name of a loop of links can be opened no more than one that is too long.
TEST(Resume, ADirectoryThatCannotBeLookedUpIsAnError) {
  const test::TemporaryFolder folder;
  const std::string loop = folder.path() + "/loop";
  std::filesystem::create_symlink("loop", loop);
  for (const auto& [directory, why] : {std::pair(std::string(5'000, 'x'), "File name too long"),
                                       {loop, "Too many levels of symbolic links"}}) {
    const auto recorded = tuning::recorded_search(directory);
    ASSERT_FALSE(recorded.ok());
    EXPECT_THAT(recorded.error().message, HasSubstr(why));
    Searched search;
    search.options.directory = directory;
    const auto outcome = search.resume();
    ASSERT_FALSE(outcome.ok());
    EXPECT_THAT(outcome.error().message, HasSubstr(why));
  }
}

// A process that is killed during the start leaves a journal without a step.
TEST(Resume, AStartThatFailedIsTriedAgain) {
  Searched search;
  search.problem.start = "13 ";
  search.options.budget.evaluations = 3;
  search.mended = true;
  ASSERT_EQ(search.error(), "");
  search.write_journal(search.journal().substr(0, search.journal().find('\n') + 1));
  search.mended = false;
  search.options.resume = true;
  EXPECT_EQ(search.error(), "the text to begin with cannot be used: it fails");
  search.mended = true;
  const auto outcome = search.resume();
  ASSERT_TRUE(outcome.ok()) << outcome.error().message;
  EXPECT_EQ(outcome->best->proposal.text, "11 ");
}

TEST(Resume, NamesTheVersionThatBeganIt) {
  Searched search;
  search.options.budget.evaluations = 1;
  ASSERT_EQ(search.error(), "");
  std::string journal = search.journal();
  const std::size_t at = journal.find("\"version\":\"") + 11;
  search.write_journal(journal.substr(0, at) + "0.0.9\x1b" + journal.substr(journal.find('"', at)));
  search.options.resume = true;
  EXPECT_THAT(search.error(), HasSubstr("journal.jsonl:1: the journal is damaged"));
  search.write_journal(journal.replace(at, journal.find('"', at) - at, "0.0.9"));
  EXPECT_THAT(search.error(), HasSubstr("version 0.0.9 began this search, this is "));
}

TEST(Resume, NamesWhatIsNotAsItWas) {
  Searched search;
  search.options.budget.evaluations = 1;
  search.options.marks = {{"p100x4", "1"}, {"app.json", "2"}};
  ASSERT_EQ(search.error(), "");
  search.options.resume = true;
  EXPECT_EQ(search.error(), "");
  search.options.marks[1].second = "3";
  EXPECT_THAT(search.error(),
              HasSubstr("journal.jsonl:1: `app.json` is not what it was when this search began"));
  search.options.marks.clear();
  EXPECT_THAT(search.error(), HasSubstr("this is the journal of another search"));
}

// --------------------------------------------------------------------------------------- estimates

// The best of what is estimated, after asking whether to stop.
class Estimating : public tuning::Proposer {
 public:
  std::string_view name() const override { return "estimating"; }
  std::vector<tuning::Proposal> propose(tuning::SearchRound& round) override {
    std::vector<std::string> texts;
    for (int i = 1; i <= 3; ++i) texts.push_back(std::to_string(last_ - i));
    const auto estimates = round.stop() ? std::vector<tuning::Evaluation>()
                                        : round.estimate(texts, GuideDetail::kNone);
    std::size_t best = 0;
    for (std::size_t i = 1; i < estimates.size(); ++i) {
      if (estimates[i].score < estimates[best].score) best = i;
    }
    return {{texts[best], ""}};
  }
  void learn(const tuning::Step& step) override { last_ = std::stoi(step.proposal.text); }

 private:
  int last_ = 0;
};

TEST(Estimates, AreNotMadeTwice) {
  const TemporaryFolder folder;
  std::int64_t runs = 0;
  const auto search = [&](const std::string& name, std::int64_t evaluations, bool resume,
                          double seconds = 0) {
    Numbers numbers;
    FakeEvaluator estimator([&](const std::string& text) {
      ++runs;
      return text == "30" ? -1 : std::stod(text);
    });
    Estimating proposer;
    tuning::TuneOptions options;
    options.directory = folder.path() + "/" + name;
    options.budget.evaluations = evaluations;
    options.budget.seconds = seconds;
    options.resume = resume;
    options.threads = 1;
    auto outcome =
        tuning::tune({"40", nullptr, {}, ""}, numbers, proposer, nullptr, &estimator, options);
    EXPECT_TRUE(outcome.ok()) << outcome.error().message;
    return outcome ? *std::move(outcome) : tuning::TuneOutcome();
  };
  const tuning::TuneOutcome whole = search("whole", 8, false);
  EXPECT_EQ(runs, 21);
  EXPECT_EQ(whole.spent.estimates, 21);
  runs = 0;
  search("cut", 4, false);
  EXPECT_EQ(runs, 9);
  const tuning::TuneOutcome resumed = search("cut", 8, true);
  EXPECT_EQ(runs, 21);
  EXPECT_EQ(resumed.trajectory, whole.trajectory);
  EXPECT_EQ(resumed.spent.estimates, 21);
  // Those of another text, and those that are none.
  const std::string path = folder.path() + "/cut/journal.jsonl";
  const std::string journal = read_text(path);
  const auto refused = [&](const char* from, const char* to) {
    std::ofstream(path, std::ios::binary) << with(journal, from, to);
    Numbers numbers;
    Estimating proposer;
    tuning::TuneOptions options;
    options.directory = folder.path() + "/cut";
    options.resume = true;
    const auto outcome =
        tuning::tune({"40", nullptr, {}, ""}, numbers, proposer, nullptr, &numbers, options);
    return outcome ? "" : outcome.error().message;
  };
  EXPECT_THAT(refused("{\"texts\":", "{\"texts\":1"), HasSubstr("estimates something else"));
  EXPECT_THAT(refused("\"results\":[", "\"results\":[7,"), HasSubstr("estimates are due"));
  EXPECT_THAT(refused("\"results\":[{", "\"results\":[{\"noise\":\"\","), HasSubstr("is none"));
  // The time is up since long, which is no reason to go another way.
  std::string late = journal;
  const std::size_t last = late.rfind("\"seconds\":") + 10;
  late.replace(last, late.find('}', last) - last, "1000");
  const std::size_t first = late.find("\"seconds\":") + 10;
  late.replace(first, late.find('}', first) - first, "999");
  std::ofstream(path, std::ios::binary) << late;
  runs = 0;
  const tuning::TuneOutcome timed = search("cut", 20, true, 10);
  EXPECT_EQ(timed.end, End::kBudget);
  EXPECT_EQ(timed.trajectory, whole.trajectory);
  EXPECT_EQ(runs, 0);
}

// They may take a third of the time that is left, so that something is evaluated; gone through
// again they end where they did.
TEST(Estimates, LeaveTimeForEvaluations) {
  class Endless : public tuning::Proposer {
   public:
    std::string_view name() const override { return "endless"; }
    std::vector<tuning::Proposal> propose(tuning::SearchRound& round) override {
      const std::string texts[] = {"1", "2", "3"};
      std::size_t made = 3;
      while (made == 3 && !round.stop()) {
        made = round.estimate(texts, GuideDetail::kNone).size();
        estimated += made;
      }
      return {{std::to_string(40 - ++proposed_), ""}};
    }
    std::size_t estimated = 0;

   private:
    int proposed_ = 0;
  };
  const TemporaryFolder folder;
  tuning::TuneOptions options;
  options.directory = folder.path() + "/search";
  options.threads = 2;
  options.budget.estimates = 0;
  const auto go_on = [&](std::int64_t evaluations, double seconds, std::int64_t* runs) {
    options.budget.evaluations = evaluations;
    options.budget.seconds = seconds;
    std::atomic<std::int64_t> made = 0;
    FakeEvaluator estimator([&](const std::string& text) {
      ++made;
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
      return std::stod(text);
    });
    Numbers numbers;
    Endless proposer;
    const auto outcome =
        tuning::tune({"40", nullptr, {}, ""}, numbers, proposer, nullptr, &estimator, options);
    EXPECT_TRUE(outcome.ok()) << outcome.error().message;
    EXPECT_EQ(outcome->spent.estimates, static_cast<std::int64_t>(proposer.estimated));
    options.resume = true;
    *runs = made;
    return outcome->spent.evaluations;
  };
  std::int64_t first = 0, again = 0;
  EXPECT_EQ(go_on(3, 3, &first), 3);
  EXPECT_GT(first, 0);
  EXPECT_EQ(go_on(3, 3, &again), 3);
  EXPECT_EQ(again, 0);
  EXPECT_EQ(go_on(4, 8, &again), 4);
}

// --------------------------------------------------------------------------------- what people
// read

// Reads nothing, and keeps what it is told all the same.
class Blind : public tuning::Proposer {
 public:
  explicit Blind(std::vector<std::string> texts) : texts_(std::move(texts)) {}
  std::string_view name() const override { return "blind"; }
  std::vector<tuning::Proposal> propose(tuning::SearchRound&) override {
    if (next_ == texts_.size()) return {};
    return {{texts_[next_++], "\x1b[31mred\x07"}};
  }
  void learn(const tuning::Step& step) override {
    const GuideFeedback& feedback = step.evaluation.feedback;
    learnt += feedback.execution;
    for (const std::string& each : feedback.explain) learnt += each;
  }
  std::string learnt;

 private:
  std::vector<std::string> texts_;
  std::size_t next_ = 0;
};

TEST(Reasons, AreToldWhoeverReadsThem) {
  const TemporaryFolder folder;
  tuning::CommandEvaluatorOptions how;
  how.command = "sh {file}";
  how.metric_pattern = "value (.*)";
  how.timeout_ms = 300;
  const auto evaluator = tuning::make_command_evaluator(how).value();
  tuning::TuneOptions options;
  std::string said;
  options.on_event = [&](const tuning::TuneEvent& event) { said += to_json(event); };
  int searches = 0;
  const auto search = [&](const std::string& start, std::vector<std::string> texts) {
    Blind proposer(std::move(texts));
    options.directory = folder.path() + "/" + std::to_string(searches++);
    const auto outcome =
        tuning::tune({start, nullptr, {}, ""}, *evaluator, proposer, nullptr, nullptr, options);
    EXPECT_EQ(proposer.learnt, "");
    return outcome ? read_text(options.directory + "/steps.txt")
                   : outcome.error().message + "; " + outcome.error().help;
  };
  EXPECT_EQ(search("exit 3", {}),
            "the text to begin with cannot be used: Execution Error: the command ended with exit "
            "code 3; ");
  EXPECT_THAT(search("echo nothing", {}),
              AllOf(HasSubstr("cannot be used: Execution Error: "), HasSubstr("gives no value")));
  EXPECT_THAT(search("sleep 9", {}), HasSubstr("was still running at its time limit"));
  said.clear();
  const std::string report = search("echo value 2", {"exit 4", "echo value 1"});
  for (const std::string& text : {report, said}) {
    EXPECT_THAT(text, HasSubstr("the command ended with exit code 4"));
  }
  EXPECT_EQ(said.find("Performance Metric"), said.npos);  // the values say it
  EXPECT_THAT(report, HasSubstr("\\u001b[31mred\\u0007"));
  EXPECT_EQ(report.find_first_of("\x1b\x07"), report.npos);
}

TEST(Reasons, OfMappingsAreToldToo) {
  const TemporaryFolder folder;
  tuning::SearchProblem problem;
  problem.machine = std::make_shared<const Machine>(make_machine("p100x4").value());
  problem.inputs.push_back(Workload::make(find_benchmark("stencil")->make()).value());
  problem.start = "Task * GPUS;";
  const auto evaluator = tuning::make_simulated_evaluator(problem.machine, problem.inputs);
  Blind proposer({"Task * CPUS;", ""});
  tuning::TuneOptions options;
  options.directory = folder.path() + "/search";
  const auto outcome = tuning::tune(problem, *evaluator, proposer, nullptr, nullptr, options);
  ASSERT_TRUE(outcome.ok()) << outcome.error().message;
  EXPECT_THAT(draw(*outcome, *evaluator), HasSubstr("start  refused: "));
  const std::string report = read_text(options.directory + "/steps.txt");
  EXPECT_THAT(report, AllOf(HasSubstr("`GPUS`"), HasSubstr("`CPUS`")));
  EXPECT_EQ(proposer.learnt, "");
}

TEST(Report, ShowsAReplyWithoutWhatATerminalObeys) {
  Searched search;
  search.options.budget.evaluations = 2;
  search.model = "printf 'one\\033[31mred\\n\\033]0;two\\007'";
  ASSERT_EQ(search.error(), "");
  EXPECT_THAT(search.steps(), HasSubstr("  < one\\u001b[31mred\n  < \\u001b]0;two\\u0007"));
  for (const std::string& text : {search.report(), search.steps()}) {
    EXPECT_EQ(text.find_first_of("\x1b\x07"), std::string::npos);
  }
  EXPECT_THAT(search.report(), HasSubstr("2 questions to the model"));
  EXPECT_FALSE(std::filesystem::exists(search.options.directory + "/report.txt.next"));
}

TEST(Report, SaysWhyThereIsNoBest) {
  Numbers numbers;
  tuning::TuneOptions options;
  const auto words = [&](const std::string& start, std::vector<std::string> texts) {
    Blind proposer(std::move(texts));
    const auto outcome =
        tuning::tune({start, nullptr, {}, ""}, numbers, proposer, nullptr, nullptr, options);
    return outcome ? draw(*outcome, numbers) : outcome.error().message;
  };
  options.budget.evaluations = 0;
  options.evaluate_start = false;
  EXPECT_THAT(words("20", std::vector<std::string>(300, "17")),
              AllOf(HasSubstr("none: nothing that was tried is valid\n"),
                    HasSubstr("ended  200 proposals in a row were refused or had been tried\n")));
  EXPECT_THAT(words("20", {}), HasSubstr("ended  the proposer has nothing new\n"));
  options.budget.seconds = 1e-9;
  EXPECT_THAT(words("20", {"19"}), HasSubstr("none: nothing was tried\n"));
}

TEST(Evaluations, OfNoScoreAreFailures) {
  FakeEvaluator zero([](const std::string& text) { return text == "0" ? 0.0 : 1.0; });
  Blind proposer({"0"});
  const auto outcome = tuning::tune({"1", nullptr, {}, ""}, zero, proposer, nullptr, nullptr, {});
  ASSERT_TRUE(outcome.ok());
  EXPECT_EQ(outcome->best->proposal.text, "1");
}

}  // namespace
}  // namespace groma
