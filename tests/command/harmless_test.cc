// Hidden characters in names, files, arguments, prints and whatever else a stranger writes: none of
// them reaches standard output or standard error, whatever the command.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "command/run.h"

namespace groma {
namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;
using test::Outcome;
using test::read_text;
using test::run;
using test::TemporaryFolder;
using ::testing::HasSubstr;

// One of each sort, by what it does. As UTF-8, so that JSON can hold it.
const std::vector<std::string> kSorts = {"\x1b[31m",          // ESC: a colour
                                         "\x1b]0;title\x07",  // and a window's title, with BEL
                                         "\x7f",              // DEL
                                         "\b\b",              // BS
                                         "\x0c",              // form feed
                                         "\xC2\x9B"
                                         "2J",            // C1: CSI
                                         "\xC2\x85",      // C1: next line
                                         "\xC2\xAD",      // a soft hyphen
                                         "\xCD\x8F",      // a grapheme joiner
                                         "\xD8\x9C",      // U+061C
                                         "\xE1\xA0\x8E",  // U+180E
                                         "\xE2\x80\x8B",  // U+200B to U+200F
                                         "\xE2\x80\x8C",
                                         "\xE2\x80\x8D",
                                         "\xE2\x80\x8E",
                                         "\xE2\x80\x8F",
                                         "\xE2\x80\xA8",
                                         "\xE2\x80\xA9",  // separators of lines and paragraphs
                                         "\xE2\x80\xAA",
                                         "\xE2\x80\xAB",
                                         "\xE2\x80\xAC",
                                         "\xE2\x80\xAD",
                                         "\xE2\x80\xAE",  // to U+202E
                                         "\xE2\x81\xA0",
                                         "\xE2\x81\xA4",  // U+2060, U+2064
                                         "\xE2\x81\xA6",
                                         "\xE2\x81\xA7",
                                         "\xE2\x81\xA8",
                                         "\xE2\x81\xA9",  // U+2066 to U+2069
                                         "\xE2\x81\xAA",
                                         "\xEF\xBB\xBF",
                                         "\xEF\xBF\xB9",  // U+206A, U+FEFF, U+FFF9
                                         "\xF0\x9D\x85\xB3",
                                         "\xF3\xA0\x80\x81",
                                         "\xF3\xA0\x81\x81"};  // U+1D173, U+E0001, U+E0041

std::string all_sorts() {
  std::string all = "h";
  for (const std::string& sort : kSorts) all += sort + "i";
  return all;
}

// For a file's name and an argument, which may be any bytes. `'` does not occur.
std::string all_bytes() {
  return all_sorts() +
         "\x9B"
         "1m\xFF\r\xE2\x80z";
}

std::string hex(std::string_view text) {
  std::string shown;
  for (const char c : text) shown += fmt::format("{:02x} ", static_cast<unsigned char>(c));
  return shown;
}

// What stands in `text` that should not; empty: nothing.
std::string hidden_in(const std::string& text) {
  for (std::size_t at = 0; at < text.size();) {
    const auto first = static_cast<unsigned char>(text[at]);
    const std::size_t length = first < 0x80 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
    char32_t code = length == 1 ? first : first & (0xFFU >> (length + 1));
    bool broken = (first >= 0x80 && first < 0xC2) || first > 0xF4 || at + length > text.size();
    for (std::size_t i = 1; i < length && !broken; ++i) {
      const auto next = static_cast<unsigned char>(text[at + i]);
      broken = (next & 0xC0U) != 0x80U;
      code = code << 6U | (next & 0x3FU);
    }
    const auto in = [code](char32_t from, char32_t to) { return code >= from && code <= to; };
    const bool hidden = (code < 0x20 && code != '\n' && code != '\t') || in(0x7F, 0x9F) ||
                        code == 0xAD || code == 0x34F || code == 0x61C || in(0x180B, 0x180F) ||
                        in(0x200B, 0x200F) || in(0x2028, 0x202E) || in(0x2060, 0x206F) ||
                        code == 0xFEFF || in(0xFFF9, 0xFFFB) || in(0x1D173, 0x1D17A) ||
                        in(0xE0000, 0xE0FFF);
    if (broken || hidden) return hex(text.substr(at, 4)) + "in: " + text.substr(0, at);
    at += length;
  }
  return "";
}

class Hidden : public ::testing::Test {
 protected:
  void SetUp() override {
    name_ = all_sorts();
    folder_ = outside_.path() + "/" + all_bytes();
    fs::create_directory(folder_);
  }

  std::string write(const std::string& name, const std::string& text) const {
    const std::string path = folder_ + "/" + name;
    std::ofstream(path, std::ios::binary) << text;
    return quoted(path);
  }
  static std::string quoted(const std::string& word) { return "'" + word + "'"; }

  // Runs it, and looks at what it prints. With JSON every line, or all of it, is JSON.
  Outcome expect_harmless(const std::string& line, int exit_code, bool is_json = false) {
    const Outcome outcome = run("groma " + line);
    EXPECT_EQ(hidden_in(outcome.out), "") << line;
    EXPECT_EQ(hidden_in(outcome.err), "") << line;
    EXPECT_EQ(outcome.exit_code, exit_code) << line << "\n" << outcome.out << outcome.err;
    if (!is_json || ordered_json::accept(outcome.out)) return outcome;
    std::istringstream lines(outcome.out);
    for (std::string each; std::getline(lines, each);) {
      EXPECT_TRUE(ordered_json::accept(each)) << line << "\n" << each;
    }
    return outcome;
  }

  // An application whose every name and word is hostile. Formulas name parameters, so these are
  // not.
  std::string application() const {
    const auto named = [this](const char* what) { return what + name_; };
    const ordered_json variants = {{{"kind", "CPU"}, {"leaf", true}, {"flops", 1000}},
                                   {{"kind", "GPU"}, {"leaf", true}, {"flops", 1000}}};
    const ordered_json requirements = {
        {{"privilege", "read-write"}, {"data", named("piece")}, {"fields", {named("field")}}}};
    const ordered_json app = {
        {"name", named("app")},
        {"description", named("what")},
        {"parameters", {{{"name", "n"}, {"value", 64}, {"meaning", named("meaning")}}}},
        {"sizes", {{{"name", "small"}, {"reason", named("reason")}, {"values", {{"n", 32}}}}}},
        {"metric", {{"unit", named("unit")}, {"work", "n"}, {"phase", named("phase")}}},
        {"regions",
         {{{"name", named("data")},
           {"extents", {"n"}},
           {"fields", {{{"name", named("field")}, {"bytes", 8}}}}}}},
        {"partitions", {{{"name", named("piece")}, {"of", named("data")}, {"colors", {4}}}}},
        {"top_level", named("top")},
        {"tasks",
         {{{"name", named("top")},
           {"variants", {{{"kind", "CPU"}, {"inner", true}}}},
           {"body",
            {{{"phase", named("phase")},
              {"body", {{{"launch", named("work")}, {"domain", {4}}}}}}}}},
          {{"name", named("work")}, {"variants", variants}, {"requirements", requirements}}}}};
    return app.dump();
  }

  TemporaryFolder outside_;
  std::string name_, folder_;
};

TEST_F(Hidden, TheTestSeesThem) {
  for (const std::string& sort : kSorts) EXPECT_NE(hidden_in("a" + sort), "") << hex(sort);
  for (const char* bytes : {"\x9B", "\xFF", "\r", "\xE2\x80"}) EXPECT_NE(hidden_in(bytes), "");
  EXPECT_EQ(hidden_in("a\tb\n\xC3\xA9 \xE6\x97\xA5 \xF0\x9F\x98\x80"), "");
}

TEST_F(Hidden, InArguments) {
  const std::string word = quoted(all_bytes());
  for (const char* before : {"",
                             "help ",
                             "--",
                             "check --",
                             "check --machine ",
                             "check README.md --app ",
                             "machines ",
                             "machines local ",
                             "apps ",
                             "strategies ",
                             "grammar --format ",
                             "grammar --app ",
                             "grammar --machine ",
                             "emit --class ",
                             "format ",
                             "explain --app ",
                             "place --domain ",
                             "place - --task x --from CPU --parent ",
                             "run --on ",
                             "run --app ",
                             "run --app cannon --seed ",
                             "diff ",
                             "guide ",
                             "guide --detail ",
                             "guide --exit-code ",
                             "tune --app ",
                             "tune --proposer ",
                             "tune --app cannon --proposer ",
                             "tune --resume ",
                             "tune --money ",
                             "llm ",
                             "llm check --api ",
                             "llm check --price ",
                             "llm check --replay ",
                             "llm check --endpoint ",
                             "write x --app ",
                             "write x --repairs ",
                             "write x --replay ",
                             "write x --endpoint ",
                             "record -- ",
                             "record --map ",
                             "run --map dsl/mappers/cannon.mapper -- ",
                             "tune --app cannon --verify -- "}) {
    const Outcome outcome =
        run("GROMA_API_KEY= groma " + std::string(before) + word + " < /dev/null");
    EXPECT_EQ(hidden_in(outcome.out), "") << before;
    EXPECT_EQ(hidden_in(outcome.err), "") << before;
    EXPECT_NE(outcome.exit_code, 0) << before;
    EXPECT_NE(outcome.out + outcome.err, "") << before;
  }
}

TEST_F(Hidden, InProgramsAndTheirFilesNames) {
  const std::string good = write("good.mapper", "Task * GPU, OMP, CPU;\n  Region * * GPU FBMEM;\n");
  const std::string comment = write("comment.mapper", "Task * GPU; # " + all_bytes() + "\n");
  const std::string text = write("text.mapper", "Task \"" + all_bytes() + "\" GPU;\nx = y;\n");
  const std::string token = write("token.mapper", "Task " + all_bytes() + " GPU;\n");
  const std::string printed = write("print.mapper", "print(\"" + name_ + "\");\nTask * GPU;\n");
  const std::string wrong = write("wrong.mapper", "Task * GPUS;\n");
  for (const std::string& file : {comment, text, token, printed, wrong}) {
    expect_harmless("check " + file, 1);
    expect_harmless("check --json " + file, 1, true);
    expect_harmless("check --machine p100x4 " + file, 1);
    expect_harmless("format " + file, 1);
    expect_harmless("emit " + file, 1);
    expect_harmless("explain --app cannon:size=small " + file, 1);
    expect_harmless("explain --json --app cannon:size=small " + file, 1, true);
    expect_harmless("place --task task_1 --domain 4 " + file, 1);
    expect_harmless("run --app cannon:size=small " + file, 1);
    expect_harmless("run --json --app cannon:size=small " + file, 1, true);
    expect_harmless("diff --app cannon:size=small " + good + " " + file, 1);
    expect_harmless(
        "tune --app cannon:size=small --out " + quoted(folder_ + "/t") + " --start " + file, 1);
    expect_harmless("guide --exit-code 1 --program " + file, 0);
    expect_harmless("run --map " + file + " -- true", 1);
  }
  expect_harmless("check " + good, 0);
  expect_harmless("format " + good, 0);
  expect_harmless("format --check --diff " + good, 1);
  expect_harmless("emit " + good, 0);
  expect_harmless("explain --app cannon:size=small " + good, 0);
  expect_harmless("explain --json --app cannon:size=small " + good, 0, true);
  expect_harmless("explain --as-mapping --app cannon:size=small " + good, 0);
  expect_harmless("run --app cannon:size=small " + good, 0);
  expect_harmless("run --json --app cannon:size=small " + good, 0, true);
  expect_harmless("diff --app cannon:size=small " + good, 0);
  expect_harmless("diff --json --app cannon:size=small " + good, 0, true);
  // Files that are written, and that cannot be.
  for (const char* file : {"/no/such", "/page"}) {
    const std::string path = quoted(folder_ + file);
    const int code = std::string(file) == "/page" ? 0 : 1;
    expect_harmless("run --app cannon:size=small --report " + path, code);
    expect_harmless("emit " + good + " --out " + path, code);
  }
  // A program that has none when it is mended.
  const std::string mended = write("mended.mapper", "Task * GPU; # " + name_ + "\n");
  expect_harmless("check --fix " + mended, 0);
  expect_harmless("format " + mended, 0);
  EXPECT_EQ(hidden_in(read_text(folder_ + "/mended.mapper")), "");
}

TEST_F(Hidden, InApplications) {
  const std::string app = " --app " + write("app.json", application()) + " ";
  const std::string bare = write("app.json", application());
  const std::string mapping = write("a.mapper",
                                    "m = Machine(GPU);\ndef f(Task task) {\n  print(\"{} runs\", "
                                    "task.name);\n  return m[0, 0];\n}\n"
                                    "IndexTaskMap * f;\nTask * GPU, CPU;\nRegion * * GPU FBMEM;\n");
  const std::string task = quoted("work" + name_);
  expect_harmless("apps " + bare, 0);
  const Outcome outcome = expect_harmless("apps --json " + bare, 0, true);
  EXPECT_EQ(ordered_json::parse(outcome.out)["name"], "app" + name_)
      << "the name is still the name";
  expect_harmless("check --machine p100x4" + app + mapping, 0);
  expect_harmless("check --json --machine p100x4" + app + mapping, 0, true);
  expect_harmless("explain" + app + mapping, 0);
  expect_harmless("explain --json" + app + mapping, 0, true);
  expect_harmless("explain --as-mapping" + app, 0);
  expect_harmless("explain --task " + task + app + mapping, 0);
  expect_harmless("explain --task " + quoted("no" + name_) + app + mapping, 1);
  expect_harmless("explain --region " + quoted("piece" + name_) + app + mapping, 0);
  expect_harmless("place --trace --task " + task + app + mapping, 0);
  expect_harmless("place --trace --json --task " + task + app + mapping, 0, true);
  expect_harmless("place --svg - --task " + task + " --domain 4 " + mapping, 0);
  EXPECT_THAT(expect_harmless("run" + app + mapping, 0).err, HasSubstr("\\u202e")) << "it prints";
  expect_harmless("run --json" + app + mapping, 0, true);
  expect_harmless("run" + app, 0);
  expect_harmless("run --fit --time 5" + app, 1);
  expect_harmless("diff" + app + mapping, 0);
  expect_harmless("diff --json" + app + mapping, 0, true);
  expect_harmless("grammar" + app, 0);
  expect_harmless("grammar --format gbnf" + app, 0);
  expect_harmless("run --machine nodes=1,gpu=0,cpu=1,sysmem=1,sockmem=0" + app + mapping, 1);
  // Broken ones: what is wrong is quoted.
  std::string broken = application();
  for (const char* change : {"\"launch\":\"", "\"data\":\"", "\"of\":\"", "\"kind\":\"",
                             "\"work\":\"", "\"privilege\":\"", "\"name\":\""}) {
    std::string text = broken;
    text.replace(text.find(change), 0, "\"x" + name_ + "\":1,");
    // ... and escaped as JSON wants it.
    std::string valid;
    for (const char c : text) {
      valid += static_cast<unsigned char>(c) < 0x20
                   ? fmt::format("\\u{:04x}", static_cast<unsigned>(c))
                   : std::string(1, c);
    }
    expect_harmless("run --app " + write("broken.json", valid), 1);
    const std::size_t at = text.find(change) + std::string(change).size();
    expect_harmless("run --app " + write("raw.json", text.insert(at, name_ + "\xFF")), 1);
  }
  // Files: a page, a trace.
  const std::string page = folder_ + "/page.html", trace = folder_ + "/trace.json";
  expect_harmless("run" + app + mapping + " --report " + quoted(page) + " --trace " + quoted(trace),
                  0);
  EXPECT_EQ(hidden_in(read_text(page)), "");
  EXPECT_EQ(hidden_in(read_text(trace)), "");
  EXPECT_TRUE(ordered_json::accept(read_text(trace)));
}

TEST_F(Hidden, InMachines) {
  const ordered_json machine = ordered_json::parse(run("groma machines p100x4 --json").out);
  for (const char* key : {"name", "description"}) {
    ordered_json hostile = machine;
    hostile[key] = name_;
    const std::string file = write("machine.json", hostile.dump());
    expect_harmless("machines " + file, 0);
    expect_harmless("machines --json " + file, 0, true);
    expect_harmless("run --app cannon:size=small --machine " + file, 0);
    expect_harmless("explain dsl/mappers/cannon.mapper --app cannon:size=small --machine " + file,
                    0);
    expect_harmless("place dsl/mappers/block2d.mapper --task dgemm --domain 4x4 --machine " + file,
                    0);
    expect_harmless(
        "place dsl/mappers/block2d.mapper --svg - --task dgemm --domain 4x4 --machine " + file, 0);
  }
  ordered_json hostile = machine;
  hostile["x" + name_] = name_;
  expect_harmless("machines " + write("wrong.json", hostile.dump()), 1);
  expect_harmless("machines " + write("none.json", "{\"nodes\": [" + all_bytes()), 1);
}

TEST_F(Hidden, InLogs) {
  const std::string line =
      "Execution Error: LEGION MAPPER EXCEPTION: Invalid mapper output from "
      "invocation of 'map_task' on mapper groma. Mapper selected an instance "
      "for region requirement 2 in memory 1e00000000000000 which is not visible "
      "from the target processors for " +
      all_bytes() + " (UID: 31).\n";
  const std::string log = write("run.log", line + all_bytes() + "\n" + all_bytes());
  const std::string rules =
      write("rules.json", ordered_json{{"rules",
                                        {{{"id", "mine"},
                                          {"pattern", "cannot hold <number> of <task>"},
                                          {"meaning", "{task} " + name_},
                                          {"advice", {name_}}}}}}
                              .dump());
  const std::string held = write("held.log", "cannot hold 4 of " + all_bytes() + "\n");
  expect_harmless("guide " + log, 0);
  expect_harmless("guide --json " + log, 0, true);
  expect_harmless("guide " + log + " " + held, 0);
  expect_harmless("guide --rules " + rules + " " + held, 0);
  expect_harmless("guide --json --rules " + rules + " " + held, 0, true);
  for (const char* wrong :
       {"{\"rules\":[{\"id\":\"%\"}]}", "{\"rules\":[{\"id\":\"a\",\"pattern\":\"(%\"}]}",
        "{\"%\":1}", "%", "{\"rules\":[{\"id\":\"a\",\"pattern\":\"%\",\"role\":\"%\"}]}"}) {
    std::string text = wrong;
    for (std::size_t at = 0; (at = text.find('%', at)) != text.npos; at += name_.size()) {
      text.replace(at, 1, name_);
    }
    expect_harmless("guide --rules " + write("wrong.json", text) + " " + held, 1);
  }
  expect_harmless("guide --profile " + write("profile.json", all_bytes()), 1);
  const std::string mapper_log =
      write("mapper.log", "SELECT_TASK_OPTIONS for " + all_bytes() +
                              "<7>: initial_proc=1d00000000000001\n" + all_bytes() + "\n");
  run("true");
  const Outcome explained = run("groma explain dsl/mappers/cannon.mapper --log " + mapper_log);
  EXPECT_EQ(hidden_in(explained.out + explained.err), "");
}

TEST_F(Hidden, InSearches) {
  const std::string app = write("app.json", application());
  const std::string out = folder_ + "/found";
  const auto expect_clean_files = [&] {
    for (const auto& entry : fs::directory_iterator(out)) {
      if (entry.path().filename() == "best.txt") continue;  // the text itself
      EXPECT_EQ(hidden_in(read_text(entry.path().string())), "") << entry.path().filename();
    }
  };
  expect_harmless("tune --app " + app + " --evaluations 3 --out " + quoted(out), 0);
  expect_clean_files();
  expect_harmless("tune --evaluations 4 --resume " + quoted(out), 0);
  expect_harmless("tune --json --evaluations 5 --resume " + quoted(out), 0, true);
  fs::remove_all(out);
  // Any other text, judged by a command that says such things.
  const std::string text =
      write("text", "# groma: begin " + name_ + "\nvalue 4  # groma: one of 4 5" + all_bytes() +
                        "\n# groma: end\n");
  const std::string words = " --about " + quoted(name_) + " --unit " + quoted(name_) + " --input " +
                            quoted(name_) + " --input b --repeats 1 --evaluations 3 --out " +
                            quoted(out) + " --file " + text;
  expect_harmless("tune --metric 'value (\\d)' --command 'cat {file}; echo {input}'" + words, 0);
  expect_clean_files();
  expect_harmless("tune --resume " + quoted(out), 1);
  expect_harmless("tune --json --resume " + quoted(out), 1, true);
  fs::remove_all(out);
  expect_harmless("tune --command 'cat {file}; echo {input}; exit 3'" + words, 1);
  fs::remove_all(out);
  // A model that says such things.
  write("reply", "```task\nTask * GPU, OMP, CPU; # " + name_ + "\n```\n" + all_bytes());
  const std::string model = " --endpoint \"exec:cat '" + folder_ + "/reply'\" ";
  // A scientist can use no such reply. `trace` asks until replies are of no use, `hybrid` goes on
  // without a model.
  for (const auto& [proposer, exit_code] :
       {std::pair("trace", 1), {"scientist", 1}, {"hybrid", 0}}) {
    expect_harmless("tune --app cannon:size=small --evaluations 3 --proposer " +
                        std::string(proposer) + model + "--out " + quoted(out),
                    exit_code);
    expect_clean_files();
    fs::remove_all(out);
  }
}

TEST_F(Hidden, InModels) {
  const std::string said = write("said", all_bytes());
  const std::string record = folder_ + "/recording";
  expect_harmless("llm check --endpoint \"exec:cat " + said + "\" --record " + quoted(record), 0);
  const std::string recorded = read_text(record);
  EXPECT_EQ(hidden_in(recorded), "");
  expect_harmless("llm check --json --replay " + quoted(record), 0, true);
  expect_harmless("llm check --endpoint \"exec:cat " + said + " >&2; exit 1\"", 1);
  const std::string program =
      write("program", "```\nTask * GPU; # " + all_bytes() + "\n```\n" + all_bytes());
  for (const std::string& reply : {said, program}) {
    const std::string model = " --repairs 1 --endpoint \"exec:cat " + reply + "\" ";
    expect_harmless("write x" + model, 1);
    expect_harmless("write x --json" + model, 1, true);
  }
  expect_harmless("llm check --json --endpoint \"exec:cat " + said + " >&2; exit 1\"", 1, true);
  expect_harmless("llm check --model " + quoted(all_bytes()) + " --replay " + quoted(record), 1);
  expect_harmless("llm check --model x --replay docs/examples/chat_check.jsonl --temperature 0.5",
                  1);
  std::string lines = read_text("docs/examples/chat_check.jsonl");
  const std::string head =
      ordered_json{{"groma_chat_recording", 1}, {"api", "openai"}, {"endpoint", "https://" + name_}}
          .dump();
  const std::string exchange = ordered_json{
      {"request", {{"method", "GET"}, {"path", "/models"}}},
      {"reply",
       {{"status", 500},
        {"body", name_},
        {"elapsed_ms", 1},
        {"location", name_},
        {"failure", "reset"},
        {"detail", name_}}}}.dump();
  expect_harmless("llm check --replay " + write("hostile", head + "\n" + exchange + "\n"), 1);
  expect_harmless("llm check --json --replay " + write("hostile", head + "\n" + exchange + "\n"), 1,
                  true);
  expect_harmless("llm check --replay " + write("broken", all_bytes() + "\n"), 1);
}

// On a terminal colours are ours alone.
TEST_F(Hidden, OnATerminal) {
  if (run("command -v script").exit_code != 0)
    GTEST_SKIP() << "no `script` to make a terminal with";
  const std::string app = write("app.json", application());
  const std::string wrong = write("wrong.mapper", "Task " + name_ + " GPUS;\n");
  for (const std::string& line :
       {"groma check " + wrong, "groma run --app " + app, "groma apps " + quoted(all_bytes()),
        "groma tune --app " + app + " --evaluations 3 --out " + quoted(folder_ + "/found")}) {
    std::ofstream(outside_.path() + "/script") << line << "\n";
    std::string shown =
        run("TERM=xterm script -qec 'sh " + outside_.path() + "/script' /dev/null").out;
    EXPECT_NE(shown, "");
    // Ours: colours of the names that we give them, the line that is written over, line ends.
    for (const char* ours : {"\x1b[0m", "\x1b[1m", "\x1b[2m", "\x1b[1;31m", "\x1b[1;32m",
                             "\x1b[1;35m", "\x1b[1;36m", "\x1b[31m", "\x1b[32m", "\x1b[33m",
                             "\x1b[34m", "\x1b[35m", "\x1b[36m", "\r\x1b[K", "\r\n"}) {
      for (std::size_t at = 0; (at = shown.find(ours, at)) != shown.npos;) {
        shown.replace(at, std::string(ours).size(), "\n");
      }
    }
    EXPECT_EQ(hidden_in(shown), "") << line;
    EXPECT_THAT(shown, HasSubstr("\\u001b[31m")) << line << ": the hostile colour is written out";
  }
}

}  // namespace
}  // namespace groma
