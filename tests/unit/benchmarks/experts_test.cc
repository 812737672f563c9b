// The expert mappings of the benchmarks, dsl/mappers/<name>.mapper: every launch is placed, and as
// the description says.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <sstream>

#include "groma/benchmarks.h"
#include "groma/dsl_files.h"
#include "groma/evaluate.h"
#include "groma/workload.h"
#include "mapper/decisions.h"
#include "support/app_tasks.h"
#include "support/files.h"

namespace groma {
namespace {

using ::testing::ElementsAre;

BoundProgram expert(std::string_view benchmark, std::string_view machine) {
  for (const DslFile& file : mappers()) {
    if (file.name != benchmark) continue;
    const Source source(std::string(file.name) + ".mapper", std::string(file.text));
    Diagnostics diags(source);
    const Program program = compile(source, diags);
    auto bound = bind(program, test::machine_of(machine), diags);
    EXPECT_TRUE(diags.all().empty()) << render(diags);
    return *bound;
  }
  ADD_FAILURE() << "no mapping for " << benchmark;
  std::abort();
}

// Where the points of a launch go, in their order. Empty: no function decides.
std::vector<Processor> places(const BoundProgram& bound, const TaskView& task) {
  const auto kind = mapper::decide_kind(bound.program(), task, bound.machine());
  EXPECT_TRUE(kind.has_value()) << task.name;
  const auto function = mapper::decide_function(bound.program(), task, kind->kind);
  std::vector<Processor> processors;
  if (!function) return processors;
  FunctionEvaluator evaluator(bound);
  TaskPoint point;
  point.name = task.name;
  point.domain = task.domain;
  point.point = task.domain.lower;
  do {
    Diagnostics diags(bound.program().source());
    const auto placed = evaluator.place(function->function, point, kind->kind, diags);
    EXPECT_TRUE(placed) << render(diags);
    if (!placed) return processors;
    const Processor& at = placed->processors.front();
    EXPECT_LT(at.index, bound.machine().processor_count(at.node, at.kind));
    processors.push_back(at);
  } while (next_point(task.domain, &point.point));
  return processors;
}

struct Launched {
  std::string task;
  Rect domain;
  std::vector<Processor> processors;
};

std::vector<Launched> launches(std::string_view benchmark, std::string_view machine,
                               std::vector<AppValue> values) {
  const BoundProgram bound = expert(benchmark, machine);
  const auto workload = Workload::make(find_benchmark(benchmark)->make(), values);
  EXPECT_TRUE(workload.ok());
  bool complete = false;
  std::vector<Launched> launches;
  for (const app::DistinctLaunch& use : app::list_launches(workload->data(), 10'000, complete)) {
    if (!use.domain) continue;
    const auto task = test::fake_task(workload->data(), use);
    auto processors = places(bound, task->view());
    launches.push_back({std::string(task->view().name), use.domain->box, std::move(processors)});
  }
  EXPECT_TRUE(complete);
  return launches;
}

// Points by GPU, numbered node by node.
std::vector<int> loads(const Launched& launched, std::int64_t gpus_per_node, std::int64_t gpus) {
  std::vector<int> loads(static_cast<std::size_t>(gpus));
  for (const Processor& p : launched.processors) {
    ++loads[static_cast<std::size_t>(p.node * gpus_per_node + p.index)];
  }
  return loads;
}

TEST(Experts, PlaceEveryPointOfEveryLaunch) {
  for (const Benchmark& benchmark : benchmarks()) {
    for (const AppSize& size : benchmark.make().sizes) {
      for (std::int64_t nodes : {1, 4}) {
        auto values = size.values;
        values.emplace_back("nodes", nodes);
        for (const char* machine : {"p100x4", "lassen:nodes=4", "p100x4:nodes=3"}) {
          SCOPED_TRACE(
              fmt::format("{} {} of {} nodes on {}", benchmark.name, size.name, nodes, machine));
          for (const Launched& launched : launches(benchmark.name, machine, values)) {
            // Only what stays in its node has no function.
            EXPECT_EQ(launched.processors.empty(),
                      launched.task == "task_5" && benchmark.name != "solomonik")
                << launched.task;
          }
        }
      }
    }
  }
}

// On as many nodes as it is for: as many points to each GPU. (Owners of tiles are numbered, which
// does not spread them evenly.)
TEST(Experts, SpreadPointsEvenly) {
  for (const auto& [machine, nodes] : {std::pair{"p100x4", 1}, {"lassen:nodes=4", 4}}) {
    for (const Benchmark& benchmark : benchmarks()) {
      int even = 0;
      for (const Launched& launched : launches(benchmark.name, machine, {{"nodes", nodes}})) {
        const bool numbered = (benchmark.name == "johnson" || benchmark.name == "cosma") &&
                              launched.task != "task_4" && launched.task != "init_cublas";
        if (numbered || launched.processors.empty()) continue;
        if (launched.processors.front().kind != ProcKind::kGpu) continue;
        SCOPED_TRACE(fmt::format("{} of {} on {}", launched.task, benchmark.name, machine));
        const std::int64_t gpus = 4 * nodes;
        ASSERT_EQ(launched.domain.volume() % gpus, 0);
        EXPECT_THAT(loads(launched, 4, gpus),
                    ::testing::Each(static_cast<int>(launched.domain.volume() / gpus)));
        ++even;
      }
      EXPECT_GE(even, 2) << benchmark.name;
    }
  }
}

std::vector<Processor> placed(std::string_view benchmark, std::string_view machine,
                              std::int64_t nodes, std::string_view task) {
  for (Launched& launched : launches(benchmark, machine, {{"nodes", nodes}})) {
    if (launched.task == task) return std::move(launched.processors);
  }
  ADD_FAILURE() << task;
  return {};
}

// "0.1": node 0, processor 1.
std::string text_of(const std::vector<Processor>& processors) {
  std::string text;
  for (const Processor& p : processors) {
    text += fmt::format("{}{}.{}", text.empty() ? "" : " ", p.node, p.index);
  }
  return text;
}

// What the logs of the originals' runs show.
TEST(Experts, PlaceAsTheOriginalsDid) {
  // Circuit and stencil: blocks. Pennant: round the nodes.
  const char* const two = "lassen:nodes=2";
  EXPECT_EQ(text_of(placed("circuit", two, 2, "calculate_new_currents")),
            "0.0 0.1 0.2 0.3 1.0 1.1 1.2 1.3");
  EXPECT_EQ(text_of(placed("stencil", two, 2, "stencil")), "0.0 0.1 0.2 0.3 1.0 1.1 1.2 1.3");
  EXPECT_EQ(text_of(placed("pennant", two, 2, "calc_work")), "0.0 1.0 0.1 1.1 0.2 1.2 0.3 1.3");
  // CPUs of the node that has the piece.
  for (const Processor& cpu : placed("circuit", two, 2, "init_piece")) {
    EXPECT_EQ(cpu.kind, ProcKind::kCpu);
  }
  // Cannon on 2 nodes, tiles of 4 x 2 (the last coordinate runs fastest): node 0 has the first two
  // rows; a node's GPUs are (0,0), (1,0), (0,1), (1,1).
  EXPECT_EQ(text_of(placed("cannon", two, 2, "task_1")), "0.0 0.2 0.1 0.3 1.0 1.2 1.1 1.3");
  EXPECT_EQ(text_of(placed("cannon", two, 2, "task_7")), "0.0 1.0");
  // Johnson on 8 ranks: point (i, j, k) on rank i + 2 j + 4 k.
  EXPECT_EQ(text_of(placed("johnson", two, 2, "task_4")), "0.0 1.0 0.2 1.2 0.1 1.1 0.3 1.3");
  // Solomonik on 2 nodes: (0,0,0) and (0,1,0) of task_1 on node 0.
  EXPECT_EQ(text_of(placed("solomonik", two, 2, "task_1")), "0.0 0.1 1.0 1.1");
}

// On 16 ranks Johnson's tiles crowd: B on ranks 0 to 3, C on 0, 4, 8 and 12.
TEST(Experts, JohnsonsOwners) {
  const auto launched = launches("johnson", "lassen:nodes=4", {{"nodes", 4}});
  for (const Launched& launch : launched) {
    if (launch.task == "task_2") {
      EXPECT_THAT(loads(launch, 4, 16),
                  ElementsAre(4, 4, 4, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0));
    } else if (launch.task == "task_3") {
      EXPECT_THAT(loads(launch, 4, 16),
                  ElementsAre(4, 0, 0, 0, 4, 0, 0, 0, 4, 0, 0, 0, 4, 0, 0, 0));
    }
  }
}

// Neither empty nor a comment.
int lines_of(const std::string& path, std::string_view comment) {
  std::istringstream text(testing::read_text(testing::in_tree(path)));
  int lines = 0;
  for (std::string line; std::getline(text, line);) {
    const std::size_t begin = line.find_first_not_of(' ');
    if (begin != std::string::npos && !line.substr(begin).starts_with(comment)) ++lines;
  }
  return lines;
}

// The tables of docs/benchmarks.md.
TEST(Experts, LinesAreAsDocumented) {
  const std::string page = testing::read_text(testing::in_tree("docs/benchmarks.md"));
  for (const Benchmark& benchmark : benchmarks()) {
    const std::string name(benchmark.name);
    const bool two_level = name == "cannon" || name == "summa" || name == "pumma";
    const std::string row =
        fmt::format("| {} | {} | {} |\n", name, lines_of("dsl/mappers/" + name + ".mapper", "#"),
                    lines_of("examples/mappers/" + (two_level ? "two_level" : name) + ".cc", "//"));
    EXPECT_THAT(page, ::testing::HasSubstr(row));
  }
  int shared = 0;
  for (const char* file :
       {"formula.h", "formula.cc", "grid.h", "grid.cc", "regent.h", "matrix.h"}) {
    shared += lines_of(std::string("examples/mappers/") + file, "//");
  }
  EXPECT_THAT(page,
              ::testing::HasSubstr(fmt::format("share these parts, {} lines in all", shared)));
}

}  // namespace
}  // namespace groma
