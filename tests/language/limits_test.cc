// Limits that need a text too large for a file of limits/: what they allow passes, one more is one
// diagnostic, and what is far beyond ends soon.
#include "program/limits.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "groma/inspect.h"
#include "groma/program.h"
#include "syntax/limits.h"

namespace groma {
namespace {

using syntax::kMaxListItems;

// "a0,a1,...": `count` items made by `item(i)`, a line each so that no line is long.
template <typename Item>
std::string list(std::size_t count, const Item& item) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) text += (i == 0 ? "" : ",\n") + item(i);
  return text;
}

std::string repeated(const std::string& piece, std::size_t count) {
  std::string text;
  text.reserve(piece.size() * count);
  for (std::size_t i = 0; i < count; ++i) text += piece;
  return text;
}

// Ids and messages of the errors and of notes about the whole, one a line.
std::string errors_of(const std::string& text) {
  const Source source("limits", text);
  Diagnostics diags(source);
  compile(source, diags);
  std::string all;
  for (const Diagnostic& diagnostic : diags.sorted()) {
    if (diagnostic.severity == Severity::kWarning) continue;
    all += "[" + std::string(name_of(diagnostic.id)) + "] " + diagnostic.message + "\n";
  }
  return all;
}

std::string number(std::size_t i) { return std::to_string(i); }
std::string name(std::size_t i) { return "n" + std::to_string(i); }

TEST(Limits, SourceBytes) {
  const auto path = std::filesystem::temp_directory_path() / "groma_limits_test.mapper";
  std::ofstream(path) << "Task a GPU;";
  std::filesystem::resize_file(path, kMaxSourceBytes + 1);  // with holes
  const Result<Source> large = Source::read(path.string());
  ASSERT_FALSE(large.ok());
  EXPECT_EQ(large.error().code, Error::Code::kTooLarge);
  EXPECT_NE(large.error().message.find("67108864 bytes"), std::string::npos);
  std::filesystem::resize_file(path, kMaxSourceBytes);
  EXPECT_TRUE(Source::read(path.string()).ok());
  std::filesystem::remove(path);
}

TEST(Limits, Statements) {
  const std::string fits = repeated("Task a CPU\n", syntax::kMaxStatements);
  EXPECT_EQ(errors_of(fits), "");
  EXPECT_EQ(errors_of(fits + "Task a CPU\n" + "Task b CPU\n@"),
            "[program-too-large] the mapping has more than 1000000 statements\n");
}

TEST(Limits, PartsOfExpressions) {
  // Each statement is a tuple, its items and nothing else.
  const std::size_t items = 60'000;
  const std::string one = " = (" + repeated("1,", items) + ")\n";
  std::string text;
  for (std::size_t i = 0; i < syntax::kMaxExprs / (items + 1); ++i) text += name(i) + one;
  EXPECT_EQ(errors_of(text), "");
  EXPECT_EQ(errors_of(text + "last" + one),
            "[program-too-large] the mapping has more than 3000000 parts of expressions\n");
}

TEST(Limits, ListItems) {
  struct Row {
    std::string before, after, error;
    std::string (*item)(std::size_t);
  };
  const auto one = [](std::size_t) { return std::string("1"); };
  const auto kind = [](std::size_t i) { return std::string(i % 2 == 0 ? "GPU" : "CPU"); };
  const auto memory = [](std::size_t i) { return std::string(i % 2 == 0 ? "FBMEM" : "ZCMEM"); };
  const Row rows[] = {
      {"Task ", " GPU\n", "names in a list", name},
      {"Region t ", " * FBMEM\n", "regions in a list", name},
      {"Task t ", "\n", "kinds in a list", kind},
      {"Region t * * ", "\n", "kinds in a list", memory},
      {"x = (", ")\n", "items in a tuple", one},
      {"def f(", ") { return 1 }\n", "parameters", name},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(errors_of(row.before + list(kMaxListItems, row.item) + row.after), "") << row.before;
    EXPECT_EQ(errors_of(row.before + list(kMaxListItems + 1, row.item) + row.after),
              "[program-too-large] the mapping has more than 65536 " + row.error + "\n")
        << row.before;
  }
}

TEST(Limits, ListItemsOfCallsAndIndices) {
  const auto one = [](std::size_t) { return std::string("1"); };
  const std::string large = "[program-too-large] the mapping has more than 65536 items in a list\n";
  EXPECT_EQ(errors_of("def f() { return 1 }\nx = f(" + list(kMaxListItems + 1, one) + ")\n"),
            large);
  EXPECT_EQ(errors_of("t = (1, 2)\nx = t[" + list(kMaxListItems + 1, one) + "]\n"), large);
}

TEST(Limits, Constraints) {
  EXPECT_EQ(errors_of("Layout * * * " + repeated("SOA\n", kMaxListItems)), "");
  EXPECT_EQ(errors_of("Layout * * * " + repeated("SOA\n", kMaxListItems + 1)),
            "[program-too-large] the mapping has more than 65536 constraints\n");
}

TEST(Limits, PairsOfTaskAndRegion) {
  const std::string tasks = list(1500, name);
  EXPECT_EQ(errors_of("Region " + tasks + " " + list(1000, number) + " * FBMEM\n"), "");
  const std::string large =
      "[program-too-large] the mapping has more than 1500000 pairs of task and region\n";
  EXPECT_EQ(errors_of("Region " + tasks + " " + list(1001, number) + " * FBMEM\n"), large);
  // The same pair again and again fills no table, yet takes its time.
  const auto same = [](std::size_t) { return std::string("a"); };
  const std::string many = list(kMaxListItems, same);
  EXPECT_EQ(errors_of("Region " + many + " " + many + " * FBMEM\nCollectMemory " + many + " " +
                      many + "\n"),
            large);
}

TEST(Limits, NamePatterns) {
  const auto pattern = [](std::size_t i) { return "n" + std::to_string(i) + "*"; };
  EXPECT_EQ(errors_of("Task " + list(syntax::kMaxPatterns, pattern) + " GPU\n"), "");
  EXPECT_EQ(errors_of("Task " + list(syntax::kMaxPatterns + 1, pattern) + " GPU\n"),
            "[program-too-large] the mapping has more than 1024 name patterns and selectors\n");
  // Many long patterns that are equally specific end soon.
  const std::string tail(20'000, 'x');
  const auto longest = [&](std::size_t i) { return name(i + 1000) + "*" + tail; };
  EXPECT_EQ(errors_of("Task " + list(syntax::kMaxPatterns, longest) + " GPU\n"), "");
}

// f0 returns 1, and each other function calls the one before it.
std::string chain(int length) {
  std::string text = "def f0(int i) { return i }\n";
  for (int i = 1; i < length; ++i) {
    text += "def f" + std::to_string(i) + "(int i) { return f" + std::to_string(i - 1) + "(i) }\n";
  }
  return text + "x = f" + std::to_string(length - 1) + "(7)\n";
}

TEST(Limits, CallDepth) {
  EXPECT_EQ(errors_of(chain(program::kMaxCallDepth)), "");
  EXPECT_EQ(errors_of(chain(program::kMaxCallDepth + 1)),
            "[calls-too-deep] calls nest more than 64 deep in `f64`\n");
  EXPECT_EQ(errors_of(chain(20'000)), "[calls-too-deep] calls nest more than 64 deep in `f64`\n");
}

TEST(Limits, CallDepthIsEnoughToEvaluate) {
  const Source source("limits", chain(program::kMaxCallDepth));
  Diagnostics diags(source);
  EXPECT_TRUE(bind(compile(source, diags), make_machine("p100x4").value(), diags)) << render(diags);
}

TEST(Limits, Errors) {
  const std::string wrong = "Task a GPUS\n";
  EXPECT_EQ(errors_of(repeated(wrong, kMaxErrors - 1)),
            repeated("[unknown-processor] unknown processor kind `GPUS`\n", kMaxErrors - 1));
  EXPECT_EQ(errors_of(repeated(wrong, 5000)),
            repeated("[unknown-processor] unknown processor kind `GPUS`\n", kMaxErrors) +
                "[too-many-errors] stopped after 100 errors\n");
}

TEST(Limits, Warnings) {
  const Source source("limits", repeated("Task a GPU\n", 5000));
  Diagnostics diags(source);
  compile(source, diags);
  EXPECT_EQ(diags.sorted().size(), kMaxErrors);
  EXPECT_FALSE(diags.has_errors());
}

TEST(Limits, NestingFarBeyond) {
  const std::string deep = "[nesting-too-deep] nested more than 256 levels deep\n";
  constexpr std::size_t kFar = 200'000;
  EXPECT_EQ(errors_of("x = " + repeated("(", kFar)), deep);
  EXPECT_EQ(errors_of("x = " + repeated("(", kFar) + "1" + repeated(")", kFar)), deep);
  EXPECT_EQ(errors_of("x = " + repeated("-", kFar) + "1"), deep);
  EXPECT_EQ(errors_of("x = " + repeated("!", kFar) + "true"), deep);
  EXPECT_EQ(errors_of("x = " + repeated("true ? 1 : ", kFar) + "1"), deep);
  EXPECT_EQ(errors_of("x = " + repeated("true ? ", kFar) + "1"), deep);
  EXPECT_EQ(errors_of("x = 1" + repeated(" + 1", kFar)), deep);
  EXPECT_EQ(errors_of("t = (1,)\nx = t" + repeated(".size", kFar)), deep);
  EXPECT_EQ(errors_of("t = (1,)\nx = t" + repeated("[0]", kFar)), deep);
  EXPECT_EQ(errors_of("t = (1,)\nx = t" + repeated("[t", kFar)), deep);
  EXPECT_EQ(errors_of("x = " + repeated("(*", kFar)), deep);
  EXPECT_EQ(errors_of("x = " + repeated("tuple(", kFar)), deep);
}

TEST(Limits, FunctionsInFunctionsFarBeyond) {
  const std::string found = errors_of(repeated("def f() { ", 200'000));
  EXPECT_NE(found.find("[misplaced-statement] the statement `def` is not allowed in a function"),
            std::string::npos);
}

TEST(Limits, ADomainMustBeSmallEnoughToAnswerFor) {
  const Source source("limits", "def f(Task task) { return Machine(GPU)[0, 0] }\n");
  Diagnostics diags(source);
  const auto bound = bind(compile(source, diags), make_machine("p100x4").value(), diags);
  ASSERT_TRUE(bound);
  PlaceQuery query;
  query.function = "f";
  query.domain = Rect::make({kMaxPlacePoints + 1}).value();
  EXPECT_FALSE(place(*bound, query, diags));
  query.domain = Rect::make({std::int64_t{1} << 40}).value();
  EXPECT_FALSE(place(*bound, query, diags));
  EXPECT_EQ(diags.all().size(), 2U);
  for (const Diagnostic& diagnostic : diags.all()) {
    EXPECT_EQ(diagnostic.id, DiagId::kDomainTooLarge);
  }
}

// Ids of what placing `points` points of the function `f` finds.
std::string placing(const std::string& text, const std::string& machine, std::int64_t points) {
  const Source source("limits", text);
  Diagnostics diags(source);
  const auto bound = bind(compile(source, diags), make_machine(machine).value(), diags);
  if (!bound) return render(diags);
  PlaceQuery query;
  query.function = "f";
  query.domain = Rect::make({points}).value();
  const bool placed = place(*bound, query, diags).has_value();
  EXPECT_EQ(placed, diags.all().empty());
  std::string ids;
  for (const Diagnostic& diagnostic : diags.all()) ids += name_of(diagnostic.id);
  return ids;
}

TEST(Limits, StepsOfAPlacement) {
  // Comparing counts the left text's bytes, and texts of two lengths differ at once: some 950,000
  // steps for a point.
  const std::string text =
      "long = \"" + std::string(2'000'000, 'a') + "\"\n" + "t = (" + repeated("1,", 120) + ")\n" +
      "def f(Task task) { x = tuple(long == \"b\" for i in t); return Machine(GPU)[0, 0] }\n";
  EXPECT_EQ(placing(text, "p100x4", 150), "");
  EXPECT_EQ(placing(text, "p100x4", 250), "step-limit");
}

TEST(Limits, ProcessorsInTheSetsOfAPlacement) {
  const std::string text = "def f(Task task) { return Machine(GPU)[0, *] }\n";
  constexpr std::int64_t kInOneSet = 4096, kMost = kMaxPlaceSetItems / kInOneSet;
  EXPECT_EQ(placing(text, "nodes=1,gpu=4096", kMost), "");
  EXPECT_EQ(placing(text, "nodes=1,gpu=4096", kMost + 1), "domain-too-large");
}

}  // namespace
}  // namespace groma
