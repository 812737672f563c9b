// The search space of the nine benchmarks: what it says as a program is read back from the compiled
// tables, its functions from where they send points; the sampler by its frequencies.
#include "groma/search_space.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "app/data.h"
#include "groma/benchmarks.h"
#include "groma/inspect.h"
#include "groma/syntax.h"
#include "support/files.h"

namespace groma {
namespace {

using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::Each;
using ::testing::HasSubstr;
using testing::in_tree;
using ::testing::Not;
using testing::read_text;

constexpr tuning::SearchGranularity kGrains[] = {tuning::SearchGranularity::kRegions,
                                                 tuning::SearchGranularity::kArguments};

Machine machine_of(std::string_view spec) {
  auto machine = make_machine(spec);
  EXPECT_TRUE(machine.ok()) << spec;
  return *machine;
}

Workload workload_of(std::string_view name) {
  auto workload = Workload::make(find_benchmark(name)->make());
  EXPECT_TRUE(workload.ok()) << name;
  return *workload;
}

// Checked against machine and application; fails on errors, and on what the language warns about.
std::optional<BoundProgram> bound_of(const std::string& text, const Machine& machine,
                                     std::vector<std::string>* warnings = nullptr) {
  Diagnostics diags(Source("drawn.mapper", text));
  auto bound = check(diags.source(), &machine, diags);
  EXPECT_TRUE(bound.has_value()) << render(diags) << text;
  for (const Diagnostic& diagnostic : diags.all()) {
    if (warnings != nullptr) warnings->emplace_back(name_of(diagnostic.id));
  }
  return bound;
}

std::string formatted(const std::string& text) {
  Diagnostics diags(Source("drawn.mapper", text));
  return format(diags.source(), diags).value_or(render(diags));
}

// The place of the decision that begins so.
std::size_t decision_of(const tuning::SearchSpace& space, std::string_view head) {
  std::size_t d = 0;
  while (d < space.decisions().size() && space.decisions()[d].head != head) ++d;
  EXPECT_LT(d, space.decisions().size()) << head;
  return d;
}

std::uint32_t option_of(const tuning::Decision& decision, std::string_view option) {
  std::uint32_t o = 0;
  while (o < decision.options.size() && decision.options[o] != option) ++o;
  EXPECT_LT(o, decision.options.size()) << decision.head << " " << option;
  return o;
}

TEST(SearchSpace, EveryDrawnMappingIsAFormattedProgramWithoutMistakes) {
  for (const char* spec : {"p100x4", "p100x4:nodes=2", "nodes=1,gpu=2,cpu=4,omp=1,io=1,py=1"}) {
    const Machine machine = machine_of(spec);
    for (const Benchmark& benchmark : benchmarks()) {
      const Workload workload = workload_of(benchmark.name);
      for (tuning::SearchGranularity grain : kGrains) {
        const tuning::SearchSpace space(machine, workload, grain);
        for (std::uint64_t seed = 0; seed < 5; ++seed) {
          const std::string text = space.sample_text(seed);
          EXPECT_EQ(formatted(text), text);
          EXPECT_THAT(text, HasSubstr(fmt::format("seed {}.", seed)));
          std::vector<std::string> warnings;
          bound_of(text, machine, &warnings);
          // Of the kinds of memory a processor addresses some, which the space does not look at.
          EXPECT_THAT(warnings, Each(AnyOf("unaddressable-memory", "original-differs"))) << text;
        }
      }
    }
  }
}

TEST(SearchSpace, NamesAreThoseOfTheApplication) {
  const Machine machine = machine_of("p100x4");
  for (const Benchmark& benchmark : benchmarks()) {
    const Workload workload = workload_of(benchmark.name);
    for (tuning::SearchGranularity grain : kGrains) {
      const tuning::SearchSpace space(machine, workload, grain);
      Diagnostics diags(Source("drawn.mapper", space.sample_text(1)));
      Diagnostics unknown(diags.source());
      check_names(compile(diags.source(), diags), workload, unknown);
      EXPECT_TRUE(unknown.all().empty()) << render(unknown);
    }
  }
}

// Alone among first options each makes a program of its own.
TEST(SearchSpace, DecisionsSayWhatTheyAreAbout) {
  const Workload workload = workload_of("circuit");
  for (const tuning::SearchGranularity grain : kGrains) {
    const tuning::SearchSpace space(machine_of("p100x4"), workload, grain);
    std::map<MappingStatement, int> tasks, regions, kinds;
    for (const tuning::Decision& decision : space.decisions()) {
      std::string head = decision.head + ' ';
      const auto says = [&](std::string_view name) {
        return head.find(' ' + std::string(name) + ' ') != std::string::npos;
      };
      if (decision.task >= 0) {
        EXPECT_TRUE(says(workload.data().tasks[static_cast<std::size_t>(decision.task)].name));
        ++tasks[decision.statement];
      }
      if (!decision.region.empty()) {
        EXPECT_TRUE(says(decision.region)) << head;
        ++regions[decision.statement];
      }
      if (decision.kind) {
        EXPECT_TRUE(says(name_of(*decision.kind))) << head;
        ++kinds[decision.statement];
      }
    }
    const bool by_region = grain == tuning::SearchGranularity::kRegions;
    EXPECT_EQ(tasks[MappingStatement::kTask], 11);
    EXPECT_EQ(tasks[MappingStatement::kRegion], by_region ? 0 : kinds[MappingStatement::kRegion]);
    EXPECT_EQ(regions[MappingStatement::kRegion], by_region ? 39 : 0);
    EXPECT_EQ(kinds[MappingStatement::kTaskSteal], 3);
    EXPECT_EQ(kinds[MappingStatement::kLayout] == 0, by_region);
  }
}

TEST(SearchSpace, EveryOptionIsWritten) {
  const Machine machine = machine_of("p100x4");
  for (tuning::SearchGranularity grain : kGrains) {
    const tuning::SearchSpace space(machine, workload_of("solomonik"), grain);
    std::set<std::string> texts = {space.text_of(tuning::Choice(space.decisions().size()))};
    for (std::size_t d = 0; d < space.decisions().size(); ++d) {
      const tuning::Decision& decision = space.decisions()[d];
      ASSERT_GE(decision.options.size(), 2U) << decision.head;
      for (std::uint32_t o = 1; o < decision.options.size(); ++o) {
        tuning::Choice choice(space.decisions().size());
        choice[d] = o;
        const std::string text = space.text_of(choice);
        const bool is_map = decision.statement == MappingStatement::kIndexTaskMap ||
                            decision.statement == MappingStatement::kSingleTaskMap;
        EXPECT_TRUE(texts.insert(text).second) << decision.head << " " << decision.options[o];
        EXPECT_THAT(text, HasSubstr(decision.head + " ")) << text;
        EXPECT_THAT(text, HasSubstr(decision.options[o] + (is_map ? "_gpu;" : ""))) << text;
        bound_of(text, machine);
      }
    }
  }
}

TEST(SearchSpace, AChoiceIsReadBackFromTheProgram) {
  const Machine machine = machine_of("p100x4");
  const tuning::SearchSpace space(machine, workload_of("circuit"));
  tuning::Choice choice(space.decisions().size());
  const auto set = [&](std::string_view head, std::string_view option) {
    for (std::size_t d = decision_of(space, head); space.decisions()[d].head == head; ++d) {
      for (std::uint32_t o = 0; o < space.decisions()[d].options.size(); ++o) {
        if (space.decisions()[d].options[o] == option) choice[d] = o;
      }
    }
  };
  set("Task update_voltages", "OMP, GPU");
  set("Region * rp_shared GPU", "ZCMEM");
  set("Layout * * *", "AOS");
  set("Layout * * *", "Align==128");
  set("InstanceLimit distribute_charge", "4");
  set("CollectMemory distribute_charge", "*");
  set("ControlReplicate", "*");
  set("TaskSteal * GPU", "ANY_NODE");
  const auto bound = bound_of(space.text_of(choice), machine);
  ASSERT_TRUE(bound.has_value());
  const Program& program = bound->program();

  using Kinds = std::vector<ProcKind>;
  EXPECT_EQ(program.task("update_voltages")->kinds, (Kinds{ProcKind::kOmp, ProcKind::kGpu}));
  EXPECT_EQ(program.task("distribute_charge")->kinds,
            (Kinds{ProcKind::kGpu, ProcKind::kOmp, ProcKind::kCpu}));
  const std::string_view shared = "rp_shared", wires = "rp_wires";
  const auto memory = [&](std::string_view name) {
    return program.memories("update_voltages", {0, {&name, 1}}, ProcKind::kGpu).front().memory;
  };
  EXPECT_EQ(memory(shared), MemKind::kZcmem);
  EXPECT_EQ(memory(wires), MemKind::kFbmem);
  const LayoutSpec layout =
      program.layout("update_voltages", {0, {&wires, 1}}, ProcKind::kGpu, MemKind::kFbmem)->layout;
  EXPECT_EQ(layout, (LayoutSpec{.dimensions = DimensionOrder::kC,
                                .fields = FieldOrder::kAos,
                                .align_op = AlignOp::kEq,
                                .align_bytes = 128}));
  EXPECT_EQ(program.instance_limit("distribute_charge", ProcKind::kGpu)->limit, 4);
  EXPECT_FALSE(program.instance_limit("update_voltages", ProcKind::kGpu));
  EXPECT_TRUE(program.collect_memory("distribute_charge", {0, {&wires, 1}}));
  EXPECT_FALSE(program.collect_memory("update_voltages", {0, {&wires, 1}}));
  EXPECT_TRUE(program.replicates_any());
  EXPECT_EQ(program.task_steal("update_voltages", ProcKind::kGpu)->scope, StealScope::kAnyNode);
  EXPECT_FALSE(program.task_steal("update_voltages", ProcKind::kCpu));
}

TEST(SearchSpace, ArgumentsHaveTheirOwnMemoryAndLayout) {
  const Machine machine = machine_of("p100x4");
  const tuning::SearchSpace space(machine, workload_of("stencil"),
                                  tuning::SearchGranularity::kArguments);
  // Requirement 1 has no fields: nothing to place.
  for (const tuning::Decision& decision : space.decisions()) {
    EXPECT_THAT(decision.head, Not(HasSubstr("stencil 1 ")));
  }
  tuning::Choice choice(space.decisions().size());
  const auto set = [&](std::string_view head, std::size_t more, std::string_view option) {
    const std::size_t d = decision_of(space, head) + more;
    choice[d] = option_of(space.decisions()[d], option);
  };
  set("Region stencil 2 GPU", 0, "ZCMEM");
  set("Layout stencil 2 GPU", 1, "F_order");
  const auto bound = bound_of(space.text_of(choice), machine);
  ASSERT_TRUE(bound.has_value());
  const auto memory = [&](std::int64_t position) {
    return bound->program().memories("stencil", {position, {}}, ProcKind::kGpu).front().memory;
  };
  EXPECT_EQ(memory(2), MemKind::kZcmem);
  EXPECT_EQ(memory(3), MemKind::kFbmem);
  const auto order = [&](std::int64_t position) {
    return bound->program()
        .layout("stencil", {position, {}}, ProcKind::kGpu, MemKind::kFbmem)
        ->layout.dimensions;
  };
  EXPECT_EQ(order(2), DimensionOrder::kFortran);
  EXPECT_EQ(order(3), DimensionOrder::kC);
}

// Each function on two nodes of four GPUs, by hand.
TEST(SearchSpace, FunctionsSendPointsWhereTheirNamesSay) {
  const Machine machine = machine_of("p100x4:nodes=2");
  const tuning::SearchSpace space(machine, workload_of("solomonik"));
  const std::size_t d = decision_of(space, "IndexTaskMap task_5");
  const Rect domain = Rect{{0, 0, 0}, {2, 3, 4}};
  const auto numbered = [&](const Point& p) {
    return std::map<std::string, std::int64_t>{{"first", p[0]},
                                               {"row3", (p[0] * 3 + p[1]) * 4 + p[2]},
                                               {"column3", p[0] + 2 * (p[1] + 3 * p[2])},
                                               {"sum3", p[0] + p[1] + p[2]},
                                               {"weighted3", p[0] * 2 + p[2]}};
  };
  std::set<std::string> seen;
  for (std::uint32_t o = 1; o < space.decisions()[d].options.size(); ++o) {
    const std::string option = space.decisions()[d].options[o];
    tuning::Choice choice(space.decisions().size());
    choice[d] = o;
    const auto bound = bound_of(space.text_of(choice), machine);
    ASSERT_TRUE(bound.has_value());
    FunctionEvaluator evaluator(*bound);
    const auto function = bound->program().find_function(option + "_gpu");
    ASSERT_TRUE(function.has_value()) << option;
    seen.insert(option);
    for (std::int64_t v = 0; v < 24; ++v) {
      TaskPoint task;
      task.name = "task_5";
      task.domain = domain;
      task.point = Point{v / 12, v / 4 % 3, v % 4};
      Diagnostics diags(bound->program().source());
      const auto placed = evaluator.place(*function, task, ProcKind::kGpu, diags);
      Processor expected{ProcKind::kGpu, 0, 0};
      if (option == "grid") continue;  // below
      const std::size_t cut = option.find('_');
      const std::int64_t i = numbered(task.point).at(option.substr(0, cut));
      const std::string deal = option.substr(cut + 1);
      if (deal == "cyclic") {
        expected = {ProcKind::kGpu, i % 2, i % 4};
      } else if (deal == "cyclic1d") {
        expected = {ProcKind::kGpu, i % 2, i / 2 % 4};
      } else if (deal == "linearblock") {
        expected = {ProcKind::kGpu, i / 4, i % 4};
      } else {
        const std::int64_t p = i * 8 / (option.starts_with("first") ? 2 : 24);
        expected = {ProcKind::kGpu, p / 4, p % 4};
      }
      if (expected.node >= 2) {
        EXPECT_FALSE(placed.has_value()) << option;
        EXPECT_THAT(render(diags), HasSubstr("[slice-index-out-of-bound]"));
      } else {
        ASSERT_TRUE(placed.has_value()) << option << render(diags);
        EXPECT_EQ(placed->processors.front(), expected) << option << " " << v;
      }
    }
  }
  EXPECT_EQ(seen.size(), 5U * 3 + 3 + 1);
}

// Of 2 x 2 x 2 points on as many GPUs each has its own, the first coordinate running fastest.
TEST(SearchSpace, GridCutsEveryDimension) {
  const tuning::SearchSpace space(machine_of("p100x4:nodes=2"), workload_of("solomonik"));
  const std::size_t d = decision_of(space, "IndexTaskMap task_5");
  tuning::Choice choice(space.decisions().size());
  choice[d] = option_of(space.decisions()[d], "grid");
  const auto bound = bound_of(space.text_of(choice), machine_of("p100x4:nodes=2"));
  ASSERT_TRUE(bound.has_value());
  FunctionEvaluator evaluator(*bound);
  for (std::int64_t v = 0; v < 8; ++v) {
    TaskPoint task;
    task.name = "task_5";
    task.domain = Rect{{0, 0, 0}, {2, 2, 2}};
    task.point = Point{v % 2, v / 2 % 2, v / 4};
    Diagnostics diags(bound->program().source());
    const auto placed =
        evaluator.place(*bound->program().find_function("grid_gpu"), task, ProcKind::kGpu, diags);
    ASSERT_TRUE(placed.has_value()) << render(diags);
    EXPECT_EQ(placed->processors.front(), (Processor{ProcKind::kGpu, v / 4, v % 4})) << v;
  }
}

// A function is written for the kind on which its task runs: the first of its list with a variant.
TEST(SearchSpace, FunctionsFollowTheTask) {
  const Machine machine = machine_of("p100x4");
  const tuning::SearchSpace space(machine, workload_of("circuit"));
  const std::size_t task = decision_of(space, "Task update_voltages");
  const std::size_t map = decision_of(space, "IndexTaskMap update_voltages");
  const auto line = [&](std::string_view list) {
    tuning::Choice choice(space.decisions().size());
    choice[task] = option_of(space.decisions()[task], list);
    choice[map] = option_of(space.decisions()[map], "first_cyclic");
    return space.text_of(choice);
  };
  EXPECT_THAT(line(""), HasSubstr("IndexTaskMap update_voltages first_cyclic_gpu;"));
  EXPECT_THAT(line("CPU, GPU"), HasSubstr("IndexTaskMap update_voltages first_cyclic_cpu;"));
  EXPECT_THAT(line("OMP, GPU"), HasSubstr("IndexTaskMap update_voltages first_cyclic_gpu;"));
  EXPECT_THAT(line("OMP"), HasSubstr("IndexTaskMap update_voltages first_cyclic_omp;"));
}

TEST(SearchSpace, TheSamplerIsUniform) {
  const tuning::SearchSpace space(machine_of("p100x4"), workload_of("johnson"));
  constexpr std::uint64_t kDraws = 20'000;
  std::vector<std::vector<double>> counts;
  for (const tuning::Decision& decision : space.decisions())
    counts.emplace_back(decision.options.size());
  double together = 0;  // of two decisions, both at their first
  for (std::uint64_t seed = 0; seed < kDraws; ++seed) {
    const tuning::Choice choice = space.sample(seed);
    ASSERT_EQ(choice.size(), counts.size());
    for (std::size_t d = 0; d < choice.size(); ++d) ++counts[d].at(choice[d]);
    if (choice[0] == 0 && choice[1] == 0) ++together;
  }
  for (std::size_t d = 0; d < counts.size(); ++d) {
    const double expected = static_cast<double>(kDraws) / static_cast<double>(counts[d].size());
    double chi_square = 0;
    for (double count : counts[d]) {
      EXPECT_GT(count, 0);
      chi_square += (count - expected) * (count - expected) / expected;
    }
    const double freedom = static_cast<double>(counts[d].size() - 1);
    // Five standard deviations of the distribution beyond its mean.
    EXPECT_LT(chi_square, freedom + 5 * std::sqrt(2 * freedom)) << space.decisions()[d].head;
  }
  const double expected = static_cast<double>(kDraws) / 256;
  EXPECT_NEAR(together, expected, 5 * std::sqrt(expected));
}

// What a seed gives is published (docs/search_space.md): it may not change by the way.
TEST(SearchSpace, ASeedGivesThisMapping) {
  const Machine machine = machine_of("p100x4");
  const tuning::SearchSpace space(machine, workload_of("cosma"));
  EXPECT_EQ(space.sample_text(7),
            tuning::SearchSpace(machine, workload_of("cosma")).sample_text(7));
  EXPECT_NE(space.sample(7), space.sample(8));
  EXPECT_THAT(read_text(in_tree("docs/search_space.md")),
              HasSubstr("```\n" + space.sample_text(7) + "```\n"));
}

// Only the statement that the program's own mapper contradicts becomes a comment.
TEST(WithoutContradictedLayouts, PutsThemIntoComments) {
  const Machine machine = machine_of("p100x4");
  Application app = find_benchmark("cannon")->make();
  const auto task = std::ranges::find_if(
      app.tasks, [](const AppTask& one) { return !one.requirements.empty() && one.body.empty(); });
  ASSERT_NE(task, app.tasks.end());
  const std::string head =
      "Layout " + task->name + " 0 " + std::string(name_of(task->variants[0].kind)) + " ";
  const std::string text = "Task " + task->name + " " +
                           std::string(name_of(task->variants[0].kind)) + ";\nLayout * * * SOA;\n" +
                           head + "C_order;\n";
  const auto result = [&] {
    const auto workload = Workload::make(app);
    EXPECT_TRUE(workload.ok());
    return tuning::without_contradicted_layouts(text, machine, *workload);
  };
  task->variants[0].demands.clear();
  EXPECT_EQ(result(), text);
  LayoutDemand demand;
  demand.dimensions = DimensionOrder::kFortran;
  demand.source = DemandSource::kMapper;
  task->variants[0].demands = {demand};
  EXPECT_THAT(result(),
              AllOf(HasSubstr("SOA;\n# The program's own mapper asks for another layout."),
                    Not(HasSubstr("C_order"))));
}

}  // namespace
}  // namespace groma
