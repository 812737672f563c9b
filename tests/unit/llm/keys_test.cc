// Keys: where they come from, where they go, and that they are read nowhere else.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <sstream>
#include <utility>
#include <vector>

#include "groma/llm.h"
#include "support/files.h"
#include "support/temporary_folder.h"
#include "unit/llm/chat_fixture.h"

namespace groma {
namespace {

using Code = llm::ChatError::Code;
using ::groma::testing::read_text;
using nlohmann::json;
using test::TemporaryFolder;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

TEST_F(Client, ACertificateThatNobodySignedIsNotTrusted) {
  llm::ChatOptions secure = options("ok");
  secure.endpoint = server_->secure("ok");
  secure.key = key();
  const auto reply = make(secure).ask(hello());
  EXPECT_EQ(reply.error().code, Code::kCertificate);
  EXPECT_EQ(reply.error().attempts, 1);
  secure.ca_file = GROMA_SOURCE_DIR "/tests/data/localhost.pem";
  const auto trusted = make(secure).ask(hello());
  ASSERT_TRUE(trusted.ok()) << trusted.error().message;
  EXPECT_EQ(trusted.value().text, "hello");
}

TEST_F(Client, AKeyFollowsNoRedirect) {
  llm::ChatOptions with_key = options("redirect");
  with_key.key = key();
  const std::size_t before = asked("ok").size();
  EXPECT_EQ(make(with_key).ask(hello()).error().code, Code::kNotFound);
  EXPECT_EQ(asked("redirect").back()["headers"].count("authorization"), 1U);
  EXPECT_EQ(asked("ok").size(), before);
}

// Everything that is written or said, with a server that repeats the key wherever it can.
TEST_F(Client, AKeyAppearsNowhere) {
  const TemporaryFolder folder;
  Lines lines;
  std::string all, shown;
  int number = 0;
  std::string the_key = kKey;
  const auto use = [&](const std::string& behaviour, bool stream, const std::string& text) {
    llm::ChatOptions loud = options(behaviour, stream);
    loud.key = llm::ChatKey::make(the_key).value();
    loud.log = &lines;
    loud.record = folder.path() + "/" + std::to_string(number++);
    llm::ChatRequest request = hello();
    request.messages[0].text = text;
    llm::ChatClient::ReplyWatcher watch;
    watch.on_text = [&shown](std::string_view piece, bool) { shown += piece; };
    const auto reply = make(loud).ask(request, watch);
    all += reply ? reply.value().text + reply.value().reasoning + reply.value().model
                 : reply.error().message + reply.error().help;
    all += read_text(loud.record);
  };
  use("echo", false, std::string("my key is ") + kKey);
  use("echo", false, "fail");
  use("stream-echo", true, "hello");
  use("first-503", false, "hello");
  use("always-500", false, kKey);
  use("redirect", false, "hello");
  use("reasoning-model", true, "hello");
  use("echo-cut", false, "hello");
  use("echo-far", false, "hello");
  use("echo-escaped", false, "hello");
  the_key = "sk-ab/cd/SECRET-01";
  use("echo-escaped", false, "hello");
  const auto wrong = llm::ChatClient::make([&] {
    llm::ChatOptions remote;
    remote.endpoint = "http://example.com/v1";
    remote.key = key();
    return remote;
  }());
  all += wrong.error().message + wrong.error().help;
  all += llm::ChatKey::make(std::string(kKey) + " ").error().message;
  EXPECT_THAT(all, HasSubstr("[key]"));
  EXPECT_THAT(shown, HasSubstr("<[key]>"));
  EXPECT_THAT(lines.text, Not(IsEmpty()));
  for (const std::string* text : {&all, &shown, &lines.text}) {
    EXPECT_THAT(*text, Not(HasSubstr(kKey)));
    EXPECT_THAT(*text, Not(HasSubstr("SECRET")));
  }
}

constexpr const char* kForms[] = {"error",  "fused",   "words",   "plain",   "html",    "detail",
                                  "nested", "name",    "list",    "twice",   "escaped", "percent",
                                  "reply",  "content", "refusal", "tool",    "parts",   "model",
                                  "header", "pieces",  "event",   "comment", "broken",  "cut"};

// A server that repeats a part of the key: `how` names which one (part_of in chat_server.py).
class Leaks : public Client {
 protected:
  // Expects that nothing that is said, logged, shown or recorded `holds` a part of the key.
  void expect_nothing(const std::string& form, int status, const std::string& how,
                      const std::function<bool(const std::string&)>& holds) {
    const std::string behaviour = "leak-" + form + "-" + std::to_string(status) + "-" + how;
    for (const bool stream : {false, true}) {
      Lines lines;
      std::string live;
      llm::ChatOptions loud = options(behaviour, stream);
      loud.key = key();
      loud.log = &lines;
      loud.attempts = 2;
      loud.record = folder_.path() + "/" + std::to_string(number_++);
      llm::ChatClient::ReplyWatcher watch;
      watch.on_text = [&live](std::string_view piece, bool) { live += piece; };
      llm::ChatClient client = make(loud);
      const auto reply = client.ask(hello(), watch);
      std::string said = reply ? reply->text + "|" + reply->reasoning + "|" + reply->model
                               : to_json(reply.error());
      const auto models = client.models();
      if (models) {
        for (const std::string& name : *models) said += name;
      } else {
        said += to_json(models.error());
      }
      const std::string recorded = read_text(loud.record);
      for (const std::string& text : {said, live, lines.text, recorded}) {
        EXPECT_FALSE(holds(text)) << behaviour << ": " << text;
      }
      // What is left is JSON, and the replay says the same.
      std::istringstream exchanges(recorded);
      for (std::string line; std::getline(exchanges, line);) {
        EXPECT_TRUE(json::accept(line)) << behaviour << ": " << line;
      }
      loud.replay = std::exchange(loud.record, "");
      const auto again = make(loud).ask(hello());
      EXPECT_EQ(again ? again->text : again.error().message,
                reply ? reply->text : reply.error().message)
          << behaviour;
      std::filesystem::remove(loud.replay);
    }
  }

 private:
  const TemporaryFolder folder_;
  int number_ = 0;
};

// A key that is cut short, in every place of an answer, with every status: four letters or more of
// it appear nowhere. Its second to fourth letters stand for them, since the first may be escaped.
// Every length is tried with one status, some lengths with the others.
TEST_F(Leaks, ABeginningOfAKeyAppearsNowhere) {
  const std::string the_key = kKey, letters = the_key.substr(1, 3);
  const auto expect_nothing = [&](const char* form, int status, std::size_t count) {
    Leaks::expect_nothing(form, status, std::to_string(count),
                          [&](const std::string& text) { return text.find(letters) != text.npos; });
  };
  for (const char* form : kForms) {
    for (std::size_t count = 4; count <= the_key.size(); ++count) expect_nothing(form, 401, count);
    for (const int status : {200, 500}) {
      for (const std::size_t count : {4U, 5U, 9U, 21U}) expect_nothing(form, status, count);
    }
    for (const int status : {201, 307, 400, 403, 404, 422, 429, 503}) {
      expect_nothing(form, status, 4);
    }
  }
}

// Returns true if eight letters that follow on each other in one of `forms` stand in `text`, in any
// case.
bool holds_part(std::string text, const std::vector<std::string>& forms) {
  const auto lower = [](std::string of) {
    for (char& c : of) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return of;
  };
  text = lower(std::move(text));
  for (const std::string& form : forms) {
    for (std::size_t at = 0; at + 8 <= form.size(); ++at) {
      if (text.find(lower(form.substr(at, 8))) != text.npos) return true;
    }
  }
  return false;
}

// Eight letters or more of the key, wherever they stand in it, in any case and in base64.
TEST_F(Leaks, NoPartOfAKeyAppearsAnywhere) {
  // `kKey`, and its base64 by itself, in a `Bearer` and in a `Basic` header, without the ends,
  // which other bytes share.
  const std::vector<std::string> forms = {kKey, "c2stZ3JvbWEtU0VDUkVULTAxMjM0NTY3OD",
                                          "NrLWdyb21hLVNFQ1JFVC0wMTIzNDU2Nzg5",
                                          "stZ3JvbWEtU0VDUkVULTAxMjM0NTY3OD"};
  ASSERT_TRUE(holds_part("a SECRET-01 b", forms));
  for (const char* form : kForms) {
    for (const int status : {200, 401}) {
      for (const char* how : {"last8", "last12", "last23", "last25", "from1", "from5", "from9",
                              "upper", "lower", "masked", "base64", "bearer", "basic", "url"}) {
        expect_nothing(form, status, how,
                       [&](const std::string& text) { return holds_part(text, forms); });
      }
    }
  }
}

// The same of a command, which may have the key from elsewhere: of all that it writes.
TEST_F(Client, ABeginningOfAKeyIsNotTakenFromACommand) {
  const TemporaryFolder folder;
  const std::string the_key = kKey, letters = the_key.substr(1, 3);
  for (std::size_t count = 4; count <= the_key.size(); ++count) {
    setenv("GROMA_TEST_PART", the_key.substr(0, count).c_str(), 1);
    int number = 0;
    for (const char* script :
         {"echo bad key $GROMA_TEST_PART >&2; exit 1", "printf x$GROMA_TEST_PART >&2; exit 3",
          "echo \"'$GROMA_TEST_PART' is wrong\" >&2; kill -9 $$", "echo a $GROMA_TEST_PART b",
          "printf x$GROMA_TEST_PART", "echo $GROMA_TEST_PART; yes | head -c 3000"}) {
      Lines lines;
      llm::ChatOptions exec = options("ok");
      exec.endpoint = std::string("exec:") + script;
      exec.key = key();
      exec.log = &lines;
      exec.max_reply_bytes = 2000;
      exec.record = folder.path() + "/" + std::to_string(count) + "." + std::to_string(number++);
      const auto reply = make(exec).ask(hello());
      const std::string said = reply ? reply->text : to_json(reply.error());
      for (const std::string& text : {said, lines.text, read_text(exec.record)}) {
        EXPECT_EQ(text.find(letters), text.npos) << script << ": " << text;
      }
    }
  }
  unsetenv("GROMA_TEST_PART");
}

// Of an output that is too long to keep, the middle is left out: the key may stand across both
// ends of what is left.
TEST_F(Client, AKeyIsTakenFromBothEndsOfAnOutput) {
  llm::ChatOptions exec = options("ok");
  exec.key = llm::ChatKey::make("sk-abcdefghijklmnopqrstuvwxyz").value();
  exec.max_reply_bytes = 100;
  exec.endpoint = "exec:for i in 1 2 3 4 5 6 7 8; do printf \"$GROMA_TEST_PART\"; done >&2; exit 1";
  setenv("GROMA_TEST_PART", "sk-abcdefghijklmnopqrstuvwxyz", 1);
  const std::string message = make(exec).ask(hello()).error().message;
  EXPECT_EQ(message.find("wxyz"), message.npos) << message;
  EXPECT_EQ(message.find("abcd"), message.npos) << message;
  unsetenv("GROMA_TEST_PART");
}

// A key that is a word, as local servers take it, changes no word of a reply that only holds it, no
// member's name, and no request.
TEST_F(Client, AWordThatIsAKeyBreaksNothing) {
  const TemporaryFolder folder;
  for (const char* word : {"token-abc123", "model-key", "choices-1", "EMPTY"}) {
    llm::ChatOptions local = options("ok");
    local.key = llm::ChatKey::make(word).value();
    local.record = folder.path() + "/" + word;
    const auto reply = make(local).ask(hello());
    ASSERT_TRUE(reply.ok()) << word << ": " << reply.error().message;
    EXPECT_EQ(reply->text, "hello") << word;
    EXPECT_FALSE(reply->usage.estimated) << word;
    // The driver replays without a key.
    local.replay = std::exchange(local.record, "");
    local.key = {};
    EXPECT_EQ(make(local).ask(hello())->text, "hello") << word;
  }
}

// A stream that gives the key letter by letter is recorded without the letters.
TEST_F(Client, AKeyInPiecesIsNotRecorded) {
  const TemporaryFolder folder;
  llm::ChatOptions loud = options("stream-echo", true);
  loud.key = key();
  loud.record = folder.path() + "/recording";
  EXPECT_EQ(make(loud).ask(hello())->text, "<[key]>");
  const std::string line = read_text(loud.record);
  const std::size_t begin = line.find('\n') + 1;
  const std::string body = json::parse(line.substr(begin))["reply"]["body"];
  std::string text;
  for (std::size_t at = 0; (at = body.find("data: {", at)) != body.npos; ++at) {
    const json event = json::parse(body.substr(at + 6, body.find('\n', at) - at - 6));
    text += event["choices"][0]["delta"].value("content", json("")).is_string()
                ? event["choices"][0]["delta"]["content"].get<std::string>()
                : "";
  }
  EXPECT_EQ(text, "<[key]>");
  loud.replay = loud.record;
  loud.record = "";
  EXPECT_EQ(make(loud).ask(hello())->text, "<[key]>");
}

// A message that quotes a command's words takes the key out before it cuts them.
TEST_F(Client, AKeyIsTakenOutBeforeWordsAreCut) {
  llm::ChatOptions exec = options("ok");
  exec.key = key();
  exec.endpoint = "exec:cat \"$GROMA_TEST_FOLDER/words\" >&2; exit 1";
  const TemporaryFolder folder;
  setenv("GROMA_TEST_FOLDER", folder.path().c_str(), 1);
  folder.write("words", kKey + std::string(187, 'x'));
  EXPECT_THAT(make(exec).ask(hello()).error().message, Not(HasSubstr("0123456789")));
}

TEST_F(Client, AReplyFullOfKeysIsReadAtOnce) {
  llm::ChatOptions loud = options("echo-many");
  loud.key = key();
  EXPECT_EQ(make(loud).ask(hello())->text.size(), 280'000 * std::string("[key]").size());
}

// No proxy stands between us and this computer; for others the environment's rules hold.
TEST_F(Client, AProxyIsForOthers) {
  const std::string proxy = server_->at("");
  setenv("http_proxy", proxy.substr(0, proxy.find('/', 7)).c_str(), 1);
  llm::ChatOptions here = options("ok");
  here.attempts = 1;
  here.key = key();
  EXPECT_EQ(make(here).ask(hello())->text, "hello");
  for (const char* host : {"127.0.0.2", "127.1.2.3"}) {
    here.endpoint =
        "http://" + std::string(host) + ":" + std::to_string(::groma::testing::free_port());
    const auto reply = make(here).ask(hello());
    EXPECT_FALSE(reply.ok()) << host << ": it came from the proxy";
  }
  here.key = {};
  here.endpoint = "http://no-such-host.invalid";
  EXPECT_EQ(make(here).ask(hello())->text, "by the proxy");
  setenv("no_proxy", "no-such-host.invalid", 1);
  EXPECT_THAT(make(here).ask(hello()).error().message, HasSubstr("no such host"));
  unsetenv("no_proxy");
  unsetenv("http_proxy");
}

TEST_F(Client, ACommandHasNoKey) {
  setenv("GROMA_API_KEY", kKey, 1);
  llm::ChatOptions exec = options("ok");
  exec.endpoint = "exec:echo \"<${GROMA_API_KEY-none}>\"";
  EXPECT_EQ(make(exec).ask(hello())->text, "<none>\n");
  unsetenv("GROMA_API_KEY");
}

TEST(ChatKeys, ComeFromAFileThatNobodyElseReads) {
  const TemporaryFolder folder;
  const std::string path = folder.write("key", std::string(kKey) + "\n");
  chmod(path.c_str(), 0644);
  const auto open = llm::find_chat_key(path);
  ASSERT_FALSE(open.ok());
  EXPECT_THAT(open.error().message, HasSubstr("others may read it (mode 644)"));
  EXPECT_EQ(open.error().help, "chmod 600 " + path);
  chmod(path.c_str(), 0600);
  EXPECT_TRUE(llm::find_chat_key(path).ok());
  if (geteuid() == 0) {  // only then can a file be somebody else's
    ASSERT_EQ(chown(path.c_str(), 1, 1), 0);
    EXPECT_THAT(llm::find_chat_key(path).error().message, HasSubstr("somebody else's"));
  }
  const std::string marked = folder.write("marked", "\xEF\xBB\xBF" + std::string(kKey) + "\r\n");
  chmod(marked.c_str(), 0600);
  EXPECT_TRUE(llm::find_chat_key(marked).ok()) << "a byte order mark is none of its letters";
  EXPECT_FALSE(llm::find_chat_key(folder.path()).ok());
  EXPECT_FALSE(llm::find_chat_key(folder.path() + "/none").ok());
  for (const char* text : {"", "abc", "two words here", "line\r\nX-Other: 1", "caf\xC3\xA9-caf",
                           "with\"quote", "with\\slash"}) {
    EXPECT_FALSE(llm::ChatKey::make(text).ok()) << text;
  }
  EXPECT_FALSE(llm::ChatKey::make(std::string(5000, 'k')).ok());
  for (const char* local : {"EMPTY", "none", "ollama", "sk-1234"}) {
    EXPECT_TRUE(llm::ChatKey::make(local).ok()) << local;
  }
}

TEST(ChatKeys, ComeFromTheEnvironment) {
  unsetenv("GROMA_API_KEY");
  EXPECT_TRUE(llm::find_chat_key("").value().empty());
  setenv("GROMA_API_KEY", kKey, 1);
  EXPECT_FALSE(llm::find_chat_key("").value().empty());
  unsetenv("GROMA_API_KEY");
}

TEST(ChatEndpoints, AreMadeWholeOrRefused) {
  const auto made = [](const std::string& endpoint, bool with_key = false) {
    llm::ChatOptions options;
    options.endpoint = endpoint;
    if (with_key) options.key = llm::ChatKey::make(kKey).value();
    const auto client = llm::ChatClient::make(options);
    return client ? client.value().options().endpoint : client.error().message;
  };
  EXPECT_EQ(made("", true), "https://api.openai.com/v1");
  EXPECT_EQ(made("http://h:8080"), "http://h:8080/v1");
  EXPECT_EQ(made("http://h:8080/"), "http://h:8080/v1");
  EXPECT_EQ(made("http://h/v1/"), "http://h/v1");
  EXPECT_EQ(made("http://h/v1/chat/completions"), "http://h/v1");
  EXPECT_EQ(made("https://h/api/v2"), "https://h/api/v2");
  for (const char* wrong : {"h:8080", "ftp://h/v1", "http://", "http://user:pw@h/v1",
                            "http://h/v1?key=1", "http://h/v1#x", "exec: "}) {
    EXPECT_THAT(made(wrong), ::testing::AnyOf(HasSubstr("the endpoint "), HasSubstr("no command")))
        << wrong;
  }
  EXPECT_THAT(made("http://example.com/v1", true), HasSubstr("plain http to another computer"));
  EXPECT_THAT(made("http://127.example.com/v1", true), HasSubstr("plain http"));
  EXPECT_THAT(made("http://localhost.example.com", true), HasSubstr("plain http"));
  for (const char* odd : {"http://127.5.:..", "http://127.0.0.1.5:1", "http://127.0.0.1.:1"}) {
    EXPECT_THAT(made(odd, true), ::testing::StartsWith("the endpoint ")) << odd;
  }
  for (const char* here :
       {"http://localhost:1", "http://127.0.0.1:1", "http://127.0.0.2:1", "http://[::1]:1"}) {
    EXPECT_EQ(made(here, true), std::string(here) + "/v1");
  }
  EXPECT_EQ(made("https://example.com", true), "https://example.com/v1");
}

TEST(ChatPrices, AreTwoNumbers) {
  EXPECT_EQ(llm::parse_chat_price("0.15,0.6").value().output, 0.6);
  for (const char* text : {"", "1", "1,", ",1", "1,2,3", "-1,2", "nan,1", "1 ,2", "inf,1"}) {
    EXPECT_FALSE(llm::parse_chat_price(text).ok()) << text;
  }
}

}  // namespace
}  // namespace groma
