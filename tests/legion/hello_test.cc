// That the Legion we build against is a real one, and works here: it starts, maps an index launch
// with its default mapper, and runs every point on a CPU.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "legion/start.h"

namespace groma::legion_test {
namespace {

using Legion::Context;
using Legion::Domain;
using Legion::DomainPoint;
using Legion::Machine;
using Legion::PhysicalRegion;
using Legion::Processor;
using Legion::Rect;
using Legion::Task;

constexpr Legion::TaskID kWhere = 1;

// Each point says which processor it ran on.
realm_id_t where(const Task*, const std::vector<PhysicalRegion>&, Context context,
                 Legion::Runtime* runtime) {
  return runtime->get_executing_processor(context).id;
}

const BeforeStart kTasks([] {
  Legion::TaskVariantRegistrar registrar(kWhere, "where");
  registrar.add_constraint(Legion::ProcessorConstraint(Processor::LOC_PROC));
  registrar.set_leaf();
  Legion::Runtime::preregister_task_variant<realm_id_t, where>(registrar, "where");
});

std::set<realm_id_t> cpus() {
  std::set<realm_id_t> ids;
  Machine::ProcessorQuery query(Machine::get_machine());
  for (Processor cpu : query.only_kind(Processor::LOC_PROC)) ids.insert(cpu.id);
  return ids;
}

// What `-ll:cpu` asked for, else 1.
std::size_t cpus_asked() {
  const Legion::InputArgs& args = Legion::Runtime::get_input_args();
  for (int i = 1; i + 1 < args.argc; ++i) {
    if (args.argv[i] == std::string("-ll:cpu")) return std::stoul(args.argv[i + 1]);
  }
  return 1;
}

TEST(Hello, HasTheProcessorsThatWereAskedFor) { EXPECT_EQ(cpus().size(), cpus_asked()); }

TEST(Hello, RunsEveryPointOnACpu) {
  Legion::IndexTaskLauncher launcher(kWhere, Domain(Rect<2>({0, 0}, {7, 7})),
                                     Legion::UntypedBuffer(), Legion::ArgumentMap());
  Legion::FutureMap places = runtime()->execute_index_space(context(), launcher);
  const std::set<realm_id_t> expected = cpus();
  for (Legion::PointInRectIterator<2> point(Rect<2>({0, 0}, {7, 7})); point(); point++) {
    EXPECT_THAT(expected, testing::Contains(places.get_result<realm_id_t>(DomainPoint(*point))));
  }
}

}  // namespace
}  // namespace groma::legion_test
