// IndexMap against the reference: random programs, on several machines, for several launches.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "groma/machine.h"
#include "groma/program.h"
#include "support/index_map_check.h"
#include "support/program_generator.h"
#include "support/program_tokens.h"

namespace groma::testing {
namespace {

constexpr std::uint64_t kPrograms = 1'000;
constexpr std::uint64_t kShards = 10;
constexpr int kLaunches = 20'000;  // compared in all, at least

class RandomIndexMaps : public ::testing::TestWithParam<std::uint64_t> {
 protected:
  // The generator's launches, and a longer one for each number of dimensions.
  static std::vector<Rect> launches_of(const GeneratedProgram& program, Random& random) {
    std::vector<Rect> launches = program.launches;
    for (int dimensions = 1; dimensions <= 3; ++dimensions) {
      Point lower = Point::zeros(dimensions), extents = lower;
      for (int d = 0; d < dimensions; ++d) {
        lower[d] = random.chance(50) ? random.between(-9, 9) : 0;
        extents[d] = random.between(1, dimensions == 1 ? 50 : dimensions == 2 ? 9 : 5);
      }
      if (random.chance(3)) extents[dimensions - 1] = 0;
      launches.push_back(*Rect::make(lower, extents));
    }
    return launches;
  }

  static std::optional<ProcKind> kind_of(Random& random) {
    if (random.chance(60)) return std::nullopt;
    return random.chance(90) ? ProcKind::kGpu : ProcKind::kCpu;
  }

  void compare(const BoundProgram& bound, const GeneratedProgram& generated, Random& random) {
    for (const GeneratedFunction& function : generated.functions) {
      const FunctionId id = *bound.program().find_function(function.name);
      TaskPoint launch;
      launch.name = "t";
      if (function.single) {
        launch.processor = Processor{ProcKind::kGpu, 0, 0};
        launch.parent = Processor{ProcKind::kGpu, 0, 0};
        launch.parent_name = "main";
        one(bound, id, launch, random);
        continue;
      }
      for (const Rect& domain : launches_of(generated, random)) {
        // Points of too few coordinates end in one error; a few of those are enough.
        if (domain.dimensions() != function.dimensions && !random.chance(20)) continue;
        launch.domain = domain;
        one(bound, id, launch, random);
      }
    }
  }

  void one(const BoundProgram& bound, FunctionId id, const TaskPoint& launch, Random& random) {
    const auto kind = kind_of(random);
    if (shared_) {
      Diagnostics diags(bound.program().source());
      cases_.push_back(
          {bound, id, launch, kind, IndexMap::make(bound, id, launch, kind, diags).value()});
      return;
    }
    const std::string text = compare_with_reference(bound, id, launch, kind, &tally_);
    EXPECT_EQ(text, "") << bound.program().function_name(id) << " on " << bound.machine().name();
  }

  // What threads go through together.
  struct Case {
    BoundProgram bound;
    FunctionId function;
    TaskPoint launch;
    std::optional<ProcKind> kind;
    std::shared_ptr<const IndexMap> map;
  };
  bool shared_ = false;
  std::vector<Case> cases_;
  IndexMapTally tally_;
};

TEST_P(RandomIndexMaps, EqualTheReference) {
  constexpr std::uint64_t kEach = kPrograms / kShards;
  for (std::uint64_t seed = GetParam() * kEach; seed < (GetParam() + 1) * kEach; ++seed) {
    const GeneratedProgram generated = generate_program(seed);
    const Source source(fmt::format("seed{}", seed), generated.text);
    Diagnostics diags(source);
    const Program program = compile(source, diags);
    Random random(seed);
    for (const std::string_view machine : {"", "nodes=4,gpu=4,cpu=2,omp=2", "nodes=3,gpu=5",
                                           "nodes=1,gpu=7,cpu=1", "nodes=16,gpu=8,cpu=2"}) {
      Diagnostics errors(source);
      const auto made = make_machine(machine.empty() ? generated.machine : machine);
      const auto bound = bind(program, made.value(), errors);
      if (bound) compare(*bound, generated, random);
      if (HasFailure()) {
        ADD_FAILURE() << "seed " << seed << " on '" << machine << "'\n" << generated.text;
        return;
      }
    }
  }
  EXPECT_GE(tally_.launches, kLaunches / static_cast<int>(kShards));
  EXPECT_GT(tally_.errors, tally_.launches / 20);
  // Else it would be the reference that is compared with itself.
  EXPECT_GE(tally_.specialised, tally_.placed * 95 / 100);
  EXPECT_GE(tally_.proved, tally_.placed * 85 / 100);
  fmt::print("{} launches, {} points, {} with an error, {} placed, {} specialised, {} proved\n",
             tally_.launches, tally_.points, tally_.errors, tally_.placed, tally_.specialised,
             tally_.proved);
}

// Eight threads, each with cursors of its own, ask the same maps.
TEST_P(RandomIndexMaps, ServeThreads) {
  shared_ = true;
  for (std::uint64_t seed = 100'000 + GetParam() * 5; seed < 100'005 + GetParam() * 5; ++seed) {
    const GeneratedProgram generated = generate_program(seed);
    const Source source(fmt::format("seed{}", seed), generated.text);
    Diagnostics diags(source);
    Random random(seed);
    const auto bound = bind(compile(source, diags), make_machine(generated.machine).value(), diags);
    if (bound) compare(*bound, generated, random);
  }
  std::vector<std::string> differences(8);
  std::vector<std::thread> threads;
  for (std::string& text : differences) {
    threads.emplace_back([&text, this] {
      IndexMapTally tally;
      for (const Case& each : cases_) {
        if (!text.empty()) return;
        text = compare_with_reference(each.bound, each.function, each.launch, each.kind, &tally,
                                      each.map);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::string& text : differences) EXPECT_EQ(text, "");
}

INSTANTIATE_TEST_SUITE_P(Shard, RandomIndexMaps, ::testing::Range(std::uint64_t{0}, kShards),
                         [](const auto& each) { return std::to_string(each.param); });

}  // namespace
}  // namespace groma::testing
