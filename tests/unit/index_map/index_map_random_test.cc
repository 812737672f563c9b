// IndexMap against the reference: random programs, on several machines, for several launches, each
// asked by eight threads at once.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <deque>
#include <string>
#include <thread>
#include <vector>

#include "groma/machine.h"
#include "groma/program.h"
#include "mapper/function_maps.h"
#include "support/index_map_check.h"
#include "support/program_generator.h"
#include "support/program_tokens.h"

namespace groma::testing {
namespace {

using mapper::IndexMapCache;

constexpr std::uint64_t kPrograms = 1'000;
constexpr std::uint64_t kShards = 10;
constexpr int kLaunches = 20'000;  // compared in all, at least
constexpr int kLarge = 3'000;      // of more points than can be looked at, too

class RandomIndexMaps : public ::testing::TestWithParam<std::uint64_t> {
 protected:
  // The generator's launches, and a longer one for each number of dimensions.
  static std::vector<Rect> launches_of(const GeneratedProgram& program, Random& random) {
    std::vector<Rect> launches = program.launches;
    for (int dimensions = 1; dimensions <= 4; ++dimensions) {
      Point lower = Point::zeros(dimensions), extents = lower;
      for (int d = 0; d < dimensions; ++d) {
        lower[d] = random.chance(50) ? random.between(-9, 9) : 0;
        extents[d] =
            random.between(1, std::array{50, 9, 5, 4}[static_cast<std::size_t>(dimensions - 1)]);
      }
      if (random.chance(3)) extents[dimensions - 1] = 0;
      launches.push_back(*Rect::make(lower, extents));
    }
    return launches;
  }

  // 10^6 to 10^12 points, and a box in it that has some of them, at an end now and then.
  static Rect large_launch(int dimensions, Random& random) {
    Point lower = Point::zeros(dimensions), extents = lower;
    const int bits = random.between(20, 40);
    for (int d = 0, rest = bits; d < dimensions; ++d) {
      const int mine = d + 1 == dimensions ? rest : random.between(0, rest);
      rest -= mine;
      const std::int64_t least = std::int64_t{1} << mine;
      extents[d] = least + static_cast<std::int64_t>(random.below(static_cast<std::size_t>(least)));
      lower[d] = random.chance(50) ? random.between(-1'000'000, 1'000'000) : 0;
    }
    return *Rect::make(lower, extents);
  }
  static Rect part_of(const Rect& launch, Random& random) {
    Rect part = launch;
    for (int d = 0; d < launch.dimensions(); ++d) {
      const std::int64_t most =
          std::array{60, 8, 4, 3}[static_cast<std::size_t>(launch.dimensions() - 1)];
      part.extents[d] = std::min(launch.extents[d], most);
      const std::int64_t room = launch.extents[d] - part.extents[d];
      const auto skipped =
          static_cast<std::int64_t>(random.below(static_cast<std::size_t>(room) + 1));
      part.lower[d] += random.chance(20) ? room : skipped;
    }
    return part;
  }

  static std::optional<ProcKind> kind_of(Random& random) {
    if (random.chance(60)) return std::nullopt;
    return random.chance(90) ? ProcKind::kGpu : ProcKind::kCpu;
  }

  void add_cases(const BoundProgram& bound, const GeneratedProgram& generated, Random& random) {
    const IndexMapCache& maps = maps_.emplace_back(bound);
    for (const GeneratedFunction& function : generated.functions) {
      const FunctionId id = *bound.program().find_function(function.name);
      TaskPoint launch;
      launch.name = "t";
      if (function.single) {
        launch.processor = launch.parent = kStands.processor;
        launch.parent_name = kStands.parent_name;
        cases_.emplace_back(maps, id, launch, kind_of(random), launch.domain);
        continue;
      }
      for (const Rect& domain : launches_of(generated, random)) {
        // Points of too few coordinates end in one error; a few of those are enough.
        if (domain.dimensions() != function.dimensions && !random.chance(20)) continue;
        launch.domain = domain;
        cases_.emplace_back(maps, id, launch, kind_of(random), domain);
        if (random.chance(30)) add_case_with_holes(maps, id, launch, random);
      }
      if (!random.chance(50)) continue;
      launch.domain = large_launch(random.chance(10) ? 4 : function.dimensions, random);
      ++large_;
      cases_.emplace_back(maps, id, launch, kind_of(random), part_of(launch.domain, random));
    }
  }

  // A launch of some of the points of a domain.
  void add_case_with_holes(const IndexMapCache& maps, FunctionId id, TaskPoint launch,
                           Random& random) {
    const PointSet& points =
        sets_.emplace_back(PointSet::from_predicate(launch.domain, [&](const Point&) {
                             return random.chance(60);
                           }).value());
    if (points.count() == 0) return;
    launch.points = &points;
    cases_.emplace_back(maps, id, launch, kind_of(random), Rect{{0}, {points.count()}});
  }

  struct Case {
    const IndexMapCache& maps;
    FunctionId function;
    std::optional<ProcKind> kind;
    ReferenceAnswers answers;

    Case(const IndexMapCache& from, FunctionId id, const TaskPoint& launch,
         std::optional<ProcKind> on, const Rect& part)
        : maps(from), function(id), kind(on), answers(from.bound(), id, launch, on, part) {}

    // The map that all threads share; whoever comes first makes it.
    std::shared_ptr<const IndexMap> map() const {
      const TaskPoint& launch = answers.launch();
      Diagnostics diags(maps.bound().program().source());
      return maps.find_map({function, launch.name, launch.domain, kind,
                            launch.processor ? &kStands : nullptr, launch.points},
                           diags);
    }
    std::string compare() const {
      const std::string text = answers.compare(map());
      if (text.empty()) return text;
      return fmt::format("{} on {}: {}", maps.bound().program().function_name(function),
                         maps.bound().machine().name(), text);
    }
  };

  // Eight threads, each with cursors of its own, ask the same maps.
  void compare_from_threads() {
    std::array<std::string, 8> differences;
    std::vector<std::thread> threads;
    for (std::string& text : differences) {
      threads.emplace_back([&text, this] {
        for (const Case& each : cases_) {
          if (text.empty()) text = each.compare();
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    for (const std::string& text : differences) EXPECT_EQ(text, "");
  }

  static constexpr mapper::SingleTaskProcessors<std::string_view> kStands{
      {ProcKind::kGpu, 0, 0}, {ProcKind::kGpu, 0, 0}, "main"};

  std::deque<IndexMapCache> maps_;
  // The sets to which cases refer.
  std::deque<PointSet> sets_;
  std::vector<Case> cases_;
  int large_ = 0;
  IndexMapTally tally_, tally_with_holes_;
};

TEST_P(RandomIndexMaps, EqualTheReference) {
  constexpr std::uint64_t kEach = kPrograms / kShards;
  for (std::uint64_t seed = GetParam() * kEach; seed < (GetParam() + 1) * kEach; ++seed) {
    const GeneratedProgram generated = generate_program(seed);
    const Source source(fmt::format("seed{}", seed), generated.text);
    Diagnostics diags(source);
    const Program program = compile(source, diags);
    Random random(seed);
    cases_.clear();
    maps_.clear();
    sets_.clear();
    for (const std::string_view machine : {"", "nodes=4,gpu=4,cpu=2,omp=2", "nodes=3,gpu=5",
                                           "nodes=1,gpu=7,cpu=1", "nodes=16,gpu=8,cpu=2"}) {
      Diagnostics errors(source);
      const auto made = make_machine(machine.empty() ? generated.machine : machine);
      if (const auto bound = bind(program, made.value(), errors)) {
        add_cases(*bound, generated, random);
      }
    }
    compare_from_threads();
    if (HasFailure()) {
      ADD_FAILURE() << "seed " << seed << "\n" << generated.text;
      return;
    }
    for (const Case& each : cases_) {
      const bool holes = each.answers.launch().points != nullptr;
      each.answers.count(*each.map(), holes ? &tally_with_holes_ : &tally_);
    }
  }
  EXPECT_GE(tally_with_holes_.launches, 100);
  EXPECT_GT(tally_with_holes_.proved, 0);
  EXPECT_GE(tally_.launches, (kLaunches + kLarge) / static_cast<int>(kShards));
  EXPECT_GE(large_, kLarge / static_cast<int>(kShards));
  EXPECT_GT(tally_.errors, tally_.launches / 20);
  // Else it would be the reference that is compared with itself.
  EXPECT_GE(tally_.specialised, tally_.placed * 95 / 100);
  EXPECT_GE(tally_.proved, tally_.placed * 85 / 100);
  fmt::print(
      "{} launches, {} of them large, {} points, {} with an error, {} placed, "
      "{} specialised, {} proved\n",
      tally_.launches, large_, tally_.points, tally_.errors, tally_.placed, tally_.specialised,
      tally_.proved);
}

INSTANTIATE_TEST_SUITE_P(Shard, RandomIndexMaps, ::testing::Range(std::uint64_t{0}, kShards),
                         [](const auto& each) { return std::to_string(each.param); });

}  // namespace
}  // namespace groma::testing
