// The text that `emit` makes. That it decides what the mapping says is tests/emit's.
#include "groma/emit.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "groma/dsl_files.h"

namespace groma {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

struct Emitted {
  std::string text;         // empty: nothing
  std::string diagnostics;  // rendered
};

Emitted emitted(const std::string& program_text, const EmitOptions& options = {}) {
  const Source source("dir/my-test.mapper", program_text);
  Diagnostics diags(source);
  const Program program = compile(source, diags);
  EXPECT_FALSE(diags.has_errors()) << render(diags);
  diags.clear();
  const auto text = emit(program, options, diags);
  return {text.value_or(""), render(diags)};
}

std::string function(const std::string& body) {
  return "m = Machine(GPU);\ndef f(Task t) {\n" + body + "\n}\nIndexTaskMap work f;\n";
}

TEST(Emit, NamesFollowTheFile) {
  const std::string text = emitted("Task * GPU;").text;
  EXPECT_THAT(text, HasSubstr("class MyTestMapper : public Legion::Mapping::DefaultMapper"));
  EXPECT_THAT(text, HasSubstr("namespace my_test_mapper {"));
  EXPECT_THAT(text, HasSubstr("void use_my_test_mapper(unsigned mapper_id) {"));
  EXPECT_THAT(emitted("Task * GPU;", {"Placement"}).text, HasSubstr("class Placement : public"));
}

TEST(Emit, NamesOfClasses) {
  for (const char* name : {"Placement", "My_mapper2"}) EXPECT_TRUE(is_class_name(name)) << name;
  for (const char* name : {"", "2d", "a b", "class", "Grid", "_Own", "MAPPER", "a__b", "Legion",
                           "DefaultMapper", "MapTaskOutput"}) {
    EXPECT_FALSE(is_class_name(name)) << name;
  }
}

TEST(Emit, WithoutTheMapperThereIsNoLegion) {
  const std::string text = emitted(function("return m[t.ipoint[0], 0]"), {"", false}).text;
  EXPECT_THAT(text, HasSubstr("struct Mapping {"));
  EXPECT_THAT(text, Not(HasSubstr("legion.h")));
  EXPECT_THAT(text, Not(HasSubstr("DefaultMapper")));
}

std::string without_comments(const std::string& text) {
  std::string code;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string line = text.substr(at, end - at);
    code += line.substr(0, line.find("//")) + "\n";
    at = end + 1;
  }
  return code;
}

// Nothing of ours is needed, and nothing is interpreted: statements are cited in comments alone.
TEST(Emit, StandsAlone) {
  for (const auto& files : {strategies(), mappers()}) {
    for (const DslFile& file : files) {
      const std::string text = emitted(std::string(file.text)).text;
      EXPECT_THAT(text, Not(HasSubstr("groma/"))) << file.name;
      EXPECT_THAT(text, Not(HasSubstr("groma::"))) << file.name;
      EXPECT_THAT(text, Not(HasSubstr("GROMA_"))) << file.name;
      EXPECT_THAT(text, Not(HasSubstr("// @"))) << file.name;
      const std::string code = without_comments(text);
      for (const char* ours : {"TaskMap ", "\ndef ", "Task *", "Region *", "Layout *"}) {
        EXPECT_THAT(code, Not(HasSubstr(ours))) << file.name;
      }
    }
  }
}

TEST(Emit, HasWhatTheProgramNeedsAlone) {
  const std::string plain = emitted("Task * GPU, CPU;").text;
  for (const char* part : {"class Grid", "Tuple", "map_task(", "slice_task", "report_profiling"}) {
    EXPECT_THAT(plain, Not(HasSubstr(part)));
  }
  const std::string placed = emitted(function("return m.merge(0, 1)[t.ipoint[0]]")).text;
  EXPECT_THAT(placed, HasSubstr("Grid merge("));
  EXPECT_THAT(placed, HasSubstr("slice_task"));
  for (const char* part : {"auto_split", "decompose", "factorise", "map_task(", "Grid reverse("}) {
    EXPECT_THAT(placed, Not(HasSubstr(part))) << part;
  }
  EXPECT_THAT(emitted("InstanceLimit work 4;").text, HasSubstr("report_profiling"));
  EXPECT_THAT(emitted("Region work 0 GPU FBMEM;").text, Not(HasSubstr("class Reductions")));
  EXPECT_THAT(emitted("CollectMemory work 0;").text, HasSubstr("class Reductions"));
}

TEST(Emit, ExpressionsReadAsTheyStand) {
  EXPECT_THAT(
      emitted(function("ip = t.ipoint;\nreturn m[ip[0] % m.size[0], (ip[0] + 1) / 2]")).text,
      HasSubstr("    here(3, 1);\n"
                "    const Tuple ip = t.ipoint;\n"
                "    here(4, 1);\n"
                "    return m.at({ip[0] % m.size()[0], (ip[0] + 1) / 2});\n"));
  EXPECT_THAT(emitted(function("g = m.split(0, 2);\nreturn g[*t.ipoint, 1]")).text,
              HasSubstr("return g.at(join<Int>(t.ipoint, Int(1)));"));
  EXPECT_THAT(emitted(function("return m[0, *]")).text, HasSubstr("return m.all({0, kAll});"));
  EXPECT_THAT(emitted(function("p = (0, t.ipoint[0]);\nreturn m[p]")).text,
              HasSubstr("return m.at(p);"));
}

// Compilers warn of `a && b || c` without parentheses.
TEST(Emit, MixedLogicHasParentheses) {
  const auto condition = [](const std::string& text) {
    return emitted(function("a = t.ipoint[0] == 1;\nb = t.ipoint[0] == 2;\nc = t.ipoint[0] == 3;\n"
                            "return " +
                            text + " ? m[0, 0] : m[0, 1]"))
        .text;
  };
  EXPECT_THAT(condition("a && b || c"), HasSubstr("return (a && b) || c ?"));
  EXPECT_THAT(condition("a && (b || c)"), HasSubstr("return a && (b || c) ?"));
  EXPECT_THAT(condition("a && b && c"), HasSubstr("return a && b && c ?"));
}

// C++ after an expression that only fails would never run.
TEST(Emit, NothingFollowsAFailure) {
  const std::string text =
      emitted(function("x = t.ipoint[0] < 4 ? m[0, true] : m[0, false];\nreturn m[0, t.ipoint[0]]"))
          .text;
  EXPECT_THAT(text, HasSubstr("    here(3, 1);\n"
                              "    fail(\"an index needs an integer, not a bool "
                              "[type-mismatch]\");\n  }\n"));
}

// What stands behind a call is the caller's again.
TEST(Emit, FunctionsCallOthersAndGoOn) {
  const std::string text = emitted(
                               "m = Machine(GPU);\n"
                               "def half(int n) { k = n / 2; return k; }\n"
                               "def f(Task t) {\n"
                               "a = t.ipoint[0];\n"
                               "b = half(a);\n"
                               "return m[b % m.size[0], a % m.size[1]];\n"
                               "}\n"
                               "IndexTaskMap work f;\n")
                               .text;
  EXPECT_THAT(text, HasSubstr("const Int b = half(a);"));
  EXPECT_THAT(text, HasSubstr("return m.at({b % m.size()[0], a % m.size()[1]});"));
}

// A local of a global's name, words of C++ and of the parts.
TEST(Emit, NamesDoNotClash) {
  const std::string text = emitted(function("m = m.reverse(0);\nint_ = 1;\nclass = 2;\nTuple = 3;\n"
                                            "return m[int_ - 1, class - Tuple + 1]"))
                               .text;
  EXPECT_THAT(text, HasSubstr("const Grid m_2 = m.reverse(0);"));
  EXPECT_THAT(text, HasSubstr("const Int class_2 = 2;"));
  EXPECT_THAT(text, HasSubstr("m_2.at({int_ - 1, class_2 - Tuple_2 + 1})"));
}

TEST(Emit, StatementsAreConditions) {
  const std::string text = emitted(
                               "Task a, b GPU;\nTask * CPU, OMP;\n"
                               "Region a rp GPU ZCMEM, FBMEM;\nRegion * 2 * SYSMEM;\n"
                               "Layout * * FBMEM AOS Align==64;\n")
                               .text;
  EXPECT_THAT(text, HasSubstr("    if (task == \"a\" || task == \"b\") {\n"
                              "      return {kGpu};  // 1:1 Task a, b GPU\n"
                              "    }\n"));
  EXPECT_THAT(text, HasSubstr("        if (name == \"rp\") {\n"
                              "          if (kind == kGpu) add({kZcmem, kFbmem});  // 3:1 Region a "
                              "rp GPU ZCMEM, FBMEM\n"));
  EXPECT_THAT(text, HasSubstr("    if (region.position == 2) {\n"
                              "      add({kSysmem});  // 4:1 Region * 2 * SYSMEM\n"));
  EXPECT_THAT(text,
              HasSubstr("    // 5:1 Layout * * FBMEM AOS Align==64\n"
                        "    if (memory == kFbmem) return StatedLayout{{.fields = kAos, "
                        ".align_op = kEq, .align_bytes = 64}, {false, true, false, true}};\n"));
}

void expect_refused(const std::string& body, const std::string& message) {
  const Emitted made = emitted(function(body));
  EXPECT_EQ(made.text, "");
  EXPECT_THAT(made.diagnostics, HasSubstr("cannot write C++ for " + message + " [not-emitted]"));
  EXPECT_THAT(made.diagnostics, HasSubstr("\nhelp: "));
}

TEST(Emit, RefusesWhatHasNoType) {
  expect_refused("x = t.ipoint[0] == 0 ? 1 : (1, 2);\nreturn m[0, x]",
                 "`?:` with an integer and a tuple of integers");
  expect_refused("x = (1, true);\nreturn m[0, x[0]]", "a tuple with an integer and a bool");
  expect_refused(
      "x = tuple(m[0, i] for i in (0, 1));\nreturn x[0] == (0, 1) && x + x == (1,) ? "
      "m[0, 0] : m[0, 1]",
      "`+` of tuples of processors");
  expect_refused("x = (0, 2);\nreturn m.split(*x)[0, 0, 0]", "a spliced argument of `split`");
  expect_refused("return m[0, t.ispace[*t.ipoint]]", "a spliced index of a tuple");
  expect_refused("x = ((1, 2), (3, 4));\nreturn x == (1, 2) ? m[0, 0] : m[0, 1]",
                 "`==` of a tuple of tuples and a tuple of integers");
}

TEST(Emit, RefusesAGlobalThatIsReadTooEarly) {
  const Emitted made = emitted("def late(int x) { return x + size; }\na = late(1);\nsize = 2;\n");
  EXPECT_EQ(made.text, "");
  EXPECT_THAT(made.diagnostics,
              HasSubstr("cannot write C++ for `size` before its statement [not-emitted]"));
}

// One that nobody can misread, whatever the statement has in it.
TEST(Emit, CommentsCiteStatements) {
  const std::string text = emitted("Task a,  # why \\\n  b GPU;\nTaskSteal a GPU SAME_NODE;").text;
  EXPECT_THAT(text, HasSubstr("return {kGpu};  // 1:1 Task a, # why / b GPU\n"));
  EXPECT_THAT(text,
              HasSubstr("if (kind == kGpu) return Steal::kSameNode;  // 3:1 TaskSteal a GPU"));
}

// What can only fail is an error where it is reached, as in the library.
TEST(Emit, BranchesThatOnlyFail) {
  const std::string text =
      emitted(function("return t.ipoint[0] < 4 ? m[0, t.ipoint[0]] : m[0, true]")).text;
  EXPECT_THAT(text, HasSubstr("t.ipoint[0] < 4 ? m.at({0, t.ipoint[0]}) : "
                              "failed<Processor>(\"an index needs an integer, not a bool "
                              "[type-mismatch]\")"));
}

}  // namespace
}  // namespace groma
