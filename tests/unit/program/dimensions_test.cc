// Constant dimensions, positions and numbers of indices that a machine or a tuple cannot have: what
// compiling finds, and that evaluation agrees.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "groma/evaluate.h"
#include "groma/machine.h"
#include "groma/program.h"
#include "syntax/methods.h"

namespace groma::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Returns "error: message [id]" of every error and warning, in the order of the text.
std::vector<std::string> problems(std::string text) {
  const Source source("test", std::move(text));
  Diagnostics diags(source);
  static_cast<void>(compile(source, diags));
  std::vector<std::string> found;
  for (const Diagnostic& diagnostic : diags.sorted()) {
    if (diagnostic.severity == Severity::kNote) continue;
    found.push_back(fmt::format("{}: {} [{}]", name_of(diagnostic.severity), diagnostic.message,
                                name_of(diagnostic.id)));
  }
  return found;
}

// Returns the problems of a bound function with this body, which can use the global machine `m`.
std::vector<std::string> in_function(std::string_view body) {
  return problems(
      fmt::format("m = Machine(GPU)\ndef f(Task task) {{ {} }}\nIndexTaskMap work f\n", body));
}

constexpr char kSplit3[] =
    "error: `split` of dimension 3 in a machine with 3 dimensions [bad-dimension]";

TEST(Dimensions, FollowEveryOperation) {
  const auto indices = [](std::string_view operation, int count) {
    std::string index = "0";
    for (int i = 1; i < count; ++i) index += ", 0";
    return in_function(fmt::format("return m{}[{}];", operation, index));
  };
  std::string followed;
  for (const auto& [operation, dimensions] : std::vector<std::pair<std::string_view, int>>{
           {"", 2},
           {".split(0, 2)", 3},
           {".merge(1, 0)", 1},
           {".swap(0, 1)", 2},
           {".reverse(1)", 2},
           {".rotate(1, -1)", 2},
           {".slice(1, 0, 0)", 2},
           {".balance_split(0, 3)", 4},
           {".greedy_split(1, (2, 2))", 3},
           {".auto_split(1, (4,))", 2},
           {".decompose(1, (8, 8, 8), halo=(1, 1, 1))", 4},
           {".decompose(1, m.size)", 3},
           {".decompose(1, (*m.size, *m[:1]))", 4},
           {".merge(0, 1).decompose(0, tuple(i * 2 for i in (1, 2, 3)) + 1)", 3},
           {".balance_split(0, m.len + 1).merge(m.len - 1, 2)", 3},
       }) {
    EXPECT_THAT(indices(operation, dimensions), IsEmpty()) << operation;
    EXPECT_THAT(indices(operation, dimensions + 1),
                ElementsAre(fmt::format("error: wrong number of indices: {} indices for a machine "
                                        "with {} dimension{} [wrong-index-count]",
                                        dimensions + 1, dimensions, dimensions == 1 ? "" : "s")))
        << operation;
    followed += operation;
  }
  for (const syntax::MethodInfo& method : syntax::kMethods) {
    if (method.result == syntax::OperandType::kMachine) {
      EXPECT_THAT(followed, HasSubstr(fmt::format(".{}(", method.name)));
    }
  }
}

TEST(Dimensions, FollowVariablesFunctionsAndBranches) {
  EXPECT_THAT(in_function("g = m.split(0, 2); return g.split(3, 1)[0, 0, 0, 0];"),
              ElementsAre(kSplit3));
  EXPECT_THAT(in_function("g = m; g = g.split(0, 2); return g.split(3, 1)[0, 0, 0, 0];"),
              ::testing::Contains(kSplit3));
  EXPECT_THAT(in_function("d = 3; g = task.ipoint[0] == 0 ? m.split(0, 2) : m.split(1, 2);"
                          "return g.split(d, 1)[0, 0, 0, 0];"),
              ElementsAre(kSplit3));
  EXPECT_THAT(problems("m = Machine(GPU)\ndef grid() { return m.split(0, 2); }\n"
                       "def f(Task task) { return grid().split(3, 1)[0, 0, 0, 0]; }\n"
                       "IndexTaskMap work f\n"),
              ElementsAre(kSplit3));
}

TEST(Dimensions, StayUnknown) {
  for (const std::string_view body : {
           "g = task.ipoint[0] == 0 ? m : m.merge(0, 1); return g[(0,)];",
           "return m.decompose(0, task.ispace)[0, 0, 0, 0];",
           "return m.balance_split(0, m.size[0])[0, 0, 0, 0];",
           "return m.merge(0, task.ipoint.len)[0];",
           "return m[*task.ipoint, 0, 0];",
           "return m[task.ipoint];",
           "return m[*(task.ipoint,)];",
           "return m[0, m.size[-1] - 1];",
           "return m[m[0, 0]];",
           "return m.split(*(0, 1))[0, 0, 0];",
           "return m[0, 9223372036854775807 + m.size[0]];",
       }) {
    EXPECT_THAT(in_function(body), IsEmpty()) << body;
  }
  EXPECT_THAT(problems("def f(Task task, m) { return m.split(5, 1)[0]; }\n"
                       "def g(Task task) { return f(task, Machine(GPU)); }\n"
                       "IndexTaskMap work g\n"),
              IsEmpty());
}

TEST(Dimensions, PositionsOfTuples) {
  EXPECT_THAT(in_function("return m[0, m.size[5]];"),
              ElementsAre("error: no item 5 in a tuple of 2 [index-out-of-range]"));
  EXPECT_THAT(in_function("return m[0, m.size[-3]];"),
              ElementsAre("error: no item -3 in a tuple of 2 [index-out-of-range]"));
  EXPECT_THAT(in_function("return m[m[0, 0][2], 0];"),
              ElementsAre("error: no item 2 in a tuple of 2 [index-out-of-range]"));
  EXPECT_THAT(in_function("return m[0, (0, 0)[m.len]];"),
              ElementsAre("error: no item 2 in a tuple of 2 [index-out-of-range]"));
  EXPECT_THAT(in_function("return m[0, m.size[1] - m.size[-2]];"), IsEmpty());
}

TEST(Dimensions, SameDimensionOfAnyMachine) {
  EXPECT_THAT(
      problems("def f(Task task, x) { return x.swap(1, 1)[0, 0]; }\n"
               "def g(Task task) { return f(task, Machine(GPU)); }\n"
               "IndexTaskMap work g\n"),
      ElementsAre("error: `swap` needs two different dimensions, not 1 twice [same-dimension]"));
}

// Code that may never be evaluated is no reason to refuse a program.
TEST(Dimensions, OnlyWarnInCodeThatMayNotRun) {
  const std::string warning =
      "warning: `reverse` of dimension 2 in a machine with 2 dimensions [bad-dimension]";
  for (const std::string_view body : {
           "return task.ipoint[0] == 0 ? m.reverse(2)[0, 0] : m[0, 0];",
           "return m[0, task.ipoint[0] > 0 && m.reverse(2).len == 2 ? 1 : 0];",
           "return m[0, task.ipoint[0] > 0 || m.reverse(2).len == 2 ? 1 : 0];",
           "return m[0, tuple(m.reverse(2).len for i in task.ipoint)[0]];",
       }) {
    EXPECT_THAT(in_function(body), ElementsAre(warning)) << body;
  }
  const std::string bad = "def bad(Task task) { return Machine(GPU).reverse(2)[0, 0]; }\n";
  EXPECT_THAT(problems(bad), ElementsAre(warning));
  EXPECT_THAT(problems(bad + "def f(Task task) { return task.ipoint[0] == 0 ? bad(task) : "
                             "Machine(GPU)[0, 0]; }\nIndexTaskMap work f\n"),
              ElementsAre(warning));
  // The second statement decides nothing.
  EXPECT_THAT(problems(bad + "def f(Task task) { return Machine(GPU)[0, 0]; }\n"
                             "IndexTaskMap work f\nIndexTaskMap work bad\n"),
              ::testing::Contains(warning));
  // Called by a function that runs, and at the top level.
  const std::string error = "error" + warning.substr(warning.find(':'));
  EXPECT_THAT(problems(bad + "def f(Task task) { return bad(task); }\nIndexTaskMap work f\n"),
              ElementsAre(error));
  EXPECT_THAT(problems("def bad() { return Machine(GPU).reverse(2); }\nx = bad()\n"),
              ElementsAre(error));
  EXPECT_THAT(problems("x = tuple(Machine(GPU).reverse(2).len for i in (1, 2))\n"),
              ElementsAre(error));
}

// ---------------------------------------------------------------------------- against evaluation

// A drawn function of constants, some of which are wrong. Nothing binds the function, so mistakes
// in it are warnings and it can be evaluated.
class Drawing {
 public:
  explicit Drawing(unsigned seed) : random_(seed) {}

  std::string text() {
    std::string made =
        "m0 = Machine(GPU).balance_split(1, 2);\nt0 = m0.size;\ndef f(Task task) {\n";
    for (int i = between(0, 4); i > 0; --i) {
      const bool makes_tuple = between(0, 1) == 0;
      const std::string value = makes_tuple ? tuple() : machine();
      made += fmt::format("  {}{} = {};\n", makes_tuple ? 't' : 'm',
                          makes_tuple ? tuples_++ : machines_++, value);
    }
    const std::string indexed = machine();
    return made + fmt::format("  return {}[{}];\n}}\n", indexed, indices());
  }

 private:
  int between(int low, int high) { return std::uniform_int_distribution(low, high)(random_); }

  std::string machine() {
    std::string made = "Machine(GPU)";
    if (between(0, 2) > 0) made = fmt::format("m{}", between(0, machines_ - 1));
    for (int i = between(0, 2); i > 0; --i) made += operation();
    return made;
  }

  std::string dimension() {
    if (between(0, 9) == 0) return fmt::format("{}.len - {}", sequence(), between(1, 2));
    return std::to_string(between(0, 9) == 0 ? between(-2, 4) : between(0, 1));
  }

  std::string operation() {
    const std::string d = dimension();
    switch (between(0, 8)) {
      case 0:
        return fmt::format(".split({}, 1)", d);
      case 1:
        return fmt::format(".merge({}, {})", d, dimension());
      case 2:
        return fmt::format(".swap({}, {})", d, dimension());
      case 3:
        return fmt::format(".reverse({})", d);
      case 4:
        return fmt::format(".slice({}, 0, 0)", d);
      case 5:
        return fmt::format(".balance_split({}, {})", d, between(1, 3));
      case 6:
        return fmt::format(".greedy_split({}, {})", d, tuple());
      case 7:
        return fmt::format(".decompose({}, {})", d, tuple());
      default:
        return fmt::format(".rotate({}, {})", d, between(-1, 9));
    }
  }

  std::string sequence() {
    const int which = between(0, 2);
    if (which == 0) return fmt::format("m{}", between(0, machines_ - 1));
    if (which == 1) return fmt::format("t{}", between(0, tuples_ - 1));
    return "(1, 2)";
  }

  std::string tuple() {
    switch (between(0, 5)) {
      case 0:
        return "(4, 4)";
      case 1:
        return fmt::format("({}.size[{}], 1)", sequence(), between(-2, 2));
      case 2:
        return fmt::format("({}.size * 2 + 1)", sequence());
      case 3:
        return fmt::format("{}[{}:{}]", sequence(), between(-3, 3), between(1, 3));
      case 4:
        return fmt::format("(*{}.size, 2)", sequence());
      default:
        return fmt::format("tuple(i + 1 for i in {}.size)", sequence());
    }
  }

  std::string indices() {
    if (between(0, 3) == 0) return fmt::format("tuple(0 for i in {}.size)", sequence());
    std::string made = between(0, 4) == 0 ? "*" : "0";
    for (int i = between(0, 3); i > 0; --i) made += ", 0";
    return made;
  }

  std::mt19937 random_;
  int machines_ = 1, tuples_ = 1;  // variables so far
};

bool is_checked(DiagId id) {
  return id == DiagId::kBadDimension || id == DiagId::kSameDimension ||
         id == DiagId::kWrongIndexCount || id == DiagId::kIndexOutOfRange;
}

// Compiling finds the mistake at which evaluation fails, and none where evaluation succeeds.
TEST(Dimensions, AgreeWithEvaluation) {
  const Machine machine = make_machine("nodes=2,gpu=4").value();
  int right = 0, wrong = 0;
  for (unsigned seed = 0; seed < 20'000; ++seed) {
    const Source source(fmt::format("seed{}", seed), Drawing(seed).text());
    Diagnostics found(source);
    const Program program = compile(source, found);
    Diagnostics failed(source);
    const auto bound = bind(program, machine, failed);
    ASSERT_TRUE(bound) << source.text() << render(found);
    TaskPoint task;
    task.domain = *Rect::make(Point{0}, Point{1});
    task.point = task.domain.lower;
    static_cast<void>(FunctionEvaluator(*bound).place(0, task, {}, failed));
    if (!failed.has_errors()) {
      ++right;
      EXPECT_THAT(found.all(), IsEmpty()) << source.text() << render(found);
      continue;
    }
    const Diagnostic& failure = failed.all().front();
    if (!is_checked(failure.id)) continue;
    ++wrong;
    const bool known =
        std::any_of(found.all().begin(), found.all().end(), [&](const Diagnostic& diagnostic) {
          return diagnostic.id == failure.id && diagnostic.range == failure.range &&
                 diagnostic.message == failure.message;
        });
    EXPECT_TRUE(known) << source.text() << render(failed) << render(found);
    if (HasFailure()) return;
  }
  EXPECT_GE(right, 2'000);
  EXPECT_GE(wrong, 2'000);
}

}  // namespace
}  // namespace groma::testing
