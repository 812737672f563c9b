// What decides when and where ready tasks are mapped, in a real Legion: limits, stealing, traces,
// must epochs. And what running tasks ask of their mapper: tunables, messages, contexts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "groma/legion.h"
#include "groma/program.h"
#include "legion/start.h"

namespace groma::legion_test {
namespace {

using Legion::Context;
using Legion::DomainPoint;
using Legion::PhysicalRegion;

constexpr Legion::TaskID kSlow = 1;
constexpr Legion::TaskID kStolen = 2;
constexpr Legion::MapperID kProgram = 1;

constexpr const char* kText = R"(
m = Machine(CPU);
def first(Task t) { return m[0, 0]; }
Task * CPU;
IndexTaskMap slow,stolen first;
InstanceLimit slow,stolen 1;
TaskSteal stolen CPU SAME_NODE;
)";

std::int64_t cpu_index(Legion::Processor processor) {
  Legion::Machine::ProcessorQuery query(Legion::Machine::get_machine());
  query.only_kind(Legion::Processor::LOC_PROC);
  std::vector<Legion::Processor> cpus(query.begin(), query.end());
  std::sort(cpus.begin(), cpus.end());
  return std::find(cpus.begin(), cpus.end(), processor) - cpus.begin();
}

std::int64_t slow(const Legion::Task*, const std::vector<PhysicalRegion>&, Context context,
                  Legion::Runtime* runtime) {
  std::this_thread::sleep_for(std::chrono::milliseconds(3));
  return cpu_index(runtime->get_executing_processor(context));
}

template <typename Register>
void add_task(Legion::TaskID id, const char* name, Register preregister) {
  Legion::TaskVariantRegistrar registrar(id, name);
  registrar.add_constraint(Legion::ProcessorConstraint(Legion::Processor::LOC_PROC));
  registrar.set_leaf(true);
  preregister(registrar, name);
}

const BeforeStart kSetUp([] {
  for (const auto& [id, name] : {std::pair(kSlow, "slow"), std::pair(kStolen, "stolen")}) {
    add_task(id, name, [](auto& registrar, const char* task) {
      Legion::Runtime::preregister_task_variant<std::int64_t, slow>(registrar, task);
    });
  }
  const Source source("order.mapper", kText);
  Diagnostics diags(source);
  const Program program = compile(source, diags);
  EXPECT_FALSE(diags.has_errors()) << render(diags);
  legion::use(program, {kProgram, nullptr});
});

std::vector<std::int64_t> run(Legion::TaskID task, std::int64_t points) {
  Legion::IndexTaskLauncher launcher(task, Legion::Domain(Legion::Rect<1>(0, points - 1)),
                                     Legion::UntypedBuffer(), Legion::ArgumentMap(),
                                     Legion::Predicate::TRUE_PRED, false, kProgram);
  const auto places = runtime()->execute_index_space(context(), launcher);
  std::vector<std::int64_t> at;
  for (std::int64_t x = 0; x < points; ++x) {
    at.push_back(places.get_result<std::int64_t>(DomainPoint(x)));
  }
  return at;
}

TEST(Stealing, TakesWhatWaits) {
  const auto slow_at = run(kSlow, 40);
  EXPECT_EQ(std::set<std::int64_t>(slow_at.begin(), slow_at.end()), std::set<std::int64_t>{0});
  const auto at = run(kStolen, 40);
  const std::set<std::int64_t> used(at.begin(), at.end());
  EXPECT_GT(used.size(), 1U);
}

}  // namespace
}  // namespace groma::legion_test
