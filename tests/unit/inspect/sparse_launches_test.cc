// The launches of cholesky are triangles that shrink from step to step. explain(), place() and the
// embedded runtime place each of their points alike.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "groma/benchmarks.h"
#include "groma/explain.h"
#include "groma/inspect.h"
#include "groma/program_mapper.h"
#include "groma/simulate.h"
#include "groma/workload.h"

namespace groma {
namespace {

// How often a point ran on a processor, by their texts.
using Runs = std::map<std::string, int>;

std::string run_words(const std::string& point, const std::string& kind, std::int64_t node,
                      std::int64_t index) {
  return fmt::format("{} on {} {}.{}", point, kind, node, index);
}

class SparseLaunches : public ::testing::TestWithParam<const char*> {
 protected:
  static constexpr int kTiles = 7;

  SparseLaunches()
      : source_("m", fmt::format("m = Machine(GPU);\nTask * GPU, CPU;\n"
                                 "def f(Task task) {{ p = {}; return m[p / 2, p % 2]; }}\n"
                                 "IndexTaskMap update f;\n",
                                 GetParam())),
        diags_(source_),
        bound_(
            *bind(compile(source_, diags_), make_machine("nodes=2,gpu=2,cpu=1").value(), diags_)),
        workload_(Workload::make(with_values(find_benchmark("cholesky")->make(),
                                             fmt::format("tiles={},edge=64", kTiles))
                                     .value())
                      .value()) {}

  Source source_;
  Diagnostics diags_;
  BoundProgram bound_;
  Workload workload_;
};

TEST_P(SparseLaunches, ArePlacedAlikeInThreeWays) {
  const auto explained = explain(bound_, workload_, {}, diags_);
  ASSERT_TRUE(explained);
  const auto task = std::find_if(explained->tasks.begin(), explained->tasks.end(),
                                 [](const ExplainedTask& each) { return each.name == "update"; });
  ASSERT_NE(task, explained->tasks.end());
  Runs placed;
  std::int64_t points = 0;
  for (const ExplainedLaunch& launch : task->launches) {
    ASSERT_TRUE(launch.domain);
    if (launch.domain->count() == 0) continue;
    PlaceQuery query;
    query.task = "update";
    query.domain = *launch.domain;
    const auto placement = place(bound_, query, diags_);
    ASSERT_TRUE(placement) << render(diags_);
    std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> loads;
    Point point = launch.domain->first_point();
    std::size_t rank = 0;
    do {
      const Processor at = placement->points.at(rank++);
      ++loads[{at.node, at.index}];
      ++placed[run_words(fmt::format("({}, {})", point[0], point[1]), "GPU", at.node, at.index)];
    } while (next_point(*launch.domain, &point));
    points += static_cast<std::int64_t>(rank);
    ASSERT_TRUE(launch.loads);
    EXPECT_EQ(launch.loads->used, std::ssize(loads));
    std::int64_t most = 0;
    for (const auto& [processor, count] : loads) most = std::max(most, count);
    EXPECT_EQ(launch.loads->max, most);
  }
  // One triangle for each step.
  EXPECT_EQ(points, (kTiles - 1) * kTiles * (kTiles + 1) / 6);

  const auto shared = ProgramMapper::share(bound_);
  const RunResult result = simulate(
      workload_, bound_.shared_machine(),
      [&](const Processor& local) {
        return std::make_unique<ProgramMapper>(shared, MapperSite{bound_.shared_machine(), local});
      },
      {.record = true});
  ASSERT_TRUE(result.ok()) << result.raw;
  const RunRecord& record = *result.record;
  Runs ran;
  for (const RunRecord::Event& event : record.events) {
    if (event.kind != RunRecord::Event::Kind::kTask || event.continues >= 0) continue;
    if (record.tasks.at(static_cast<std::size_t>(event.name)) != "update") continue;
    const auto& at = record.processors.at(static_cast<std::size_t>(event.where));
    ++ran[run_words(record.points.at(static_cast<std::size_t>(event.point)), at.kind, at.node,
                    at.index)];
  }
  EXPECT_EQ(ran, placed);
}

INSTANTIATE_TEST_SUITE_P(Functions, SparseLaunches,
                         ::testing::Values("task.irank * m.volume / task.ivolume",
                                           "task.irank % m.volume",
                                           "(task.ipoint[0] + task.ipoint[1]) % m.volume"));

}  // namespace
}  // namespace groma
