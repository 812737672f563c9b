// Ten thousand random programs that are right, and ten thousand broken ones, through all stages.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "groma/evaluate.h"
#include "groma/machine.h"
#include "groma/program.h"
#include "support/program_checks.h"
#include "support/program_generator.h"
#include "syntax/methods.h"

namespace groma::testing {
namespace {

constexpr std::uint64_t kPrograms = 10'000;
constexpr std::uint64_t kShards = 10;

std::vector<LaunchCheck> checks_of(const GeneratedProgram& program, bool output) {
  std::vector<LaunchCheck> checks;
  for (const Rect& domain : program.launches) checks.push_back({domain});
  LaunchCheck single;
  single.domain = *Rect::make(Point());
  single.parent = {ProcKind::kGpu, 0, 0};
  checks.push_back(single);
  for (LaunchCheck& check : checks) check.output = output;
  return checks;
}

Machine machine_of(const GeneratedProgram& program) {
  return make_machine(program.machine).value();
}

// A shard of the programs; each has a seed that a failure names.
class RandomPrograms : public ::testing::TestWithParam<std::uint64_t> {
 protected:
  template <typename Check>
  static void for_each_seed(const Check& check) {
    constexpr std::uint64_t kEach = kPrograms / kShards;
    for (std::uint64_t seed = GetParam() * kEach; seed < (GetParam() + 1) * kEach; ++seed) {
      check(seed);
      if (HasFailure()) return;
    }
  }
};

std::string numbered(const ::testing::TestParamInfo<std::uint64_t>& each) {
  return std::to_string(each.param);
}

// How far the first launch that a function is made for got.
struct Tally {
  int functions = 0;
  int placed = 0;  // the first point got a processor
  int bound = 0, programs = 0;

  void count(const GeneratedProgram& generated, const Program& program) {
    ++programs;
    Diagnostics diags(program.source());
    const auto on = bind(program, machine_of(generated), diags);
    if (!on) return;
    ++bound;
    for (const GeneratedFunction& function : generated.functions) {
      TaskPoint task;
      task.name = "t";
      if (function.single) {
        task.processor = task.parent = Processor{ProcKind::kGpu, 0, 0};
      } else {
        task.domain = generated.launches[static_cast<std::size_t>(function.dimensions - 1)];
        task.point = task.domain.lower;
      }
      Diagnostics errors(program.source());
      ++functions;
      FunctionEvaluator evaluator(*on);
      if (evaluator.place(*program.find_function(function.name), task, {}, errors)) ++placed;
    }
  }
};

TEST_P(RandomPrograms, ThatAreRightGoThrough) {
  Tally tally;
  for_each_seed([&](std::uint64_t seed) {
    const GeneratedProgram generated = generate_program(seed);
    const Source source(fmt::format("seed{}", seed), generated.text);
    Diagnostics diags(source);
    const Program program = compile(source, diags);
    for (const Diagnostic& diagnostic : diags.all()) {
      EXPECT_NE(entry_of(diagnostic.id).severity, Severity::kError)
          << render(source, diagnostic) << generated.text;
    }
    EXPECT_EQ(
        check_text(generated.text, {machine_of(generated)}, checks_of(generated, seed % 16 == 0)),
        "")
        << "seed " << seed << "\n"
        << generated.text;
    tally.count(generated, program);
  });
  // Else the programs would be too wild to say anything of evaluation.
  EXPECT_GE(tally.bound, tally.programs * 7 / 10);
  EXPECT_GE(tally.placed, tally.functions * 7 / 10);
}

TEST_P(RandomPrograms, ThatAreBrokenEndInDiagnostics) {
  for_each_seed([](std::uint64_t seed) {
    const std::string text = generate_broken_program(seed);
    const GeneratedProgram unbroken = generate_program(seed);
    EXPECT_EQ(check_text(text, {machine_of(unbroken)}, checks_of(unbroken, false)), "")
        << "seed " << seed << "\n"
        << text;
  });
}

INSTANTIATE_TEST_SUITE_P(Shard, RandomPrograms, ::testing::Range(std::uint64_t{0}, kShards),
                         numbered);

TEST(ProgramGenerator, RepeatsItselfAndVaries) {
  EXPECT_EQ(generate_program(7).text, generate_program(7).text);
  EXPECT_EQ(generate_broken_program(7), generate_broken_program(7));
  EXPECT_NE(generate_program(7).text, generate_program(8).text);
}

// Every statement, operator, operation and member comes up.
TEST(ProgramGenerator, UsesTheWholeLanguage) {
  std::string all;
  for (std::uint64_t seed = 0; seed < 500; ++seed) all += generate_program(seed).text;
  for (const std::string_view word : {"Task ",
                                      "Region",
                                      "Layout",
                                      "InstanceLimit",
                                      "CollectMemory",
                                      "IndexTaskMap",
                                      "SingleTaskMap",
                                      "ControlReplicate",
                                      "TaskSteal",
                                      "print",
                                      "def ",
                                      "return",
                                      "CPU",
                                      "GPU",
                                      "OMP",
                                      "IO",
                                      "PY",
                                      "PROC",
                                      "SYSMEM",
                                      "FBMEM",
                                      "ZCMEM",
                                      "SOCKMEM",
                                      "RDMEM",
                                      "REGSOCKMEM",
                                      "VIRTUAL",
                                      "SOA",
                                      "AOS",
                                      "C_order",
                                      "F_order",
                                      "Compact",
                                      "Exact",
                                      "No_Align",
                                      "Align",
                                      "SAME_NODE",
                                      "ANY_NODE",
                                      "int ",
                                      "bool ",
                                      "IPoint",
                                      "ISpace",
                                      "MSpace",
                                      "for ",
                                      "in ",
                                      "true",
                                      "False",
                                      "Machine",
                                      "tuple",
                                      "volume",
                                      "len",
                                      "ipoint",
                                      "ispace",
                                      "ilo",
                                      "irank",
                                      "ivolume",
                                      "parent",
                                      "name",
                                      "?",
                                      "||",
                                      "&&",
                                      "==",
                                      "!=",
                                      "<=",
                                      ">=",
                                      "//",
                                      "#",
                                      "\"",
                                      "::",
                                      "[*",
                                      "(*",
                                      "[:"}) {
    EXPECT_NE(all.find(word), std::string::npos) << word;
  }
  for (const syntax::MethodInfo& method : syntax::kMethods) {
    EXPECT_NE(all.find(fmt::format(".{}(", method.name)), std::string::npos) << method.name;
    EXPECT_NE(all.find(method.option), std::string::npos) << method.option;
  }
}

}  // namespace
}  // namespace groma::testing
