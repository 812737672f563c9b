// A mapping above a mapper of the program's own: what becomes of that mapper's answers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <mappers/default_mapper.h>

#include <set>
#include <utility>
#include <vector>

#include "groma/legion.h"
#include "groma/program.h"
#include "legion/owning_forwarding_mapper.h"
#include "legion/start.h"

namespace groma::legion_test {
namespace {

using Legion::Mapping::DefaultMapper;
using Legion::Mapping::MapperContext;
using ::testing::ElementsAre;

constexpr Legion::MapperID kWrapped = 53;
constexpr Legion::TaskID kLimited = 61;
constexpr Legion::TaskID kStolen = 62;

constexpr const char* kMapping =
    "Task * CPU;\n"
    "InstanceLimit limited CPU 2;\n"
    "TaskSteal stolen CPU ANY_NODE;\n";

bool own_stealable = false;  // what the program's mapper says of its slices

// Sends all points of a launch to its own processor.
class OwnMapper final : public DefaultMapper {
 public:
  using DefaultMapper::DefaultMapper;

  void slice_task(MapperContext, const Legion::Task&, const SliceTaskInput& input,
                  SliceTaskOutput& output) override {
    output.slices.emplace_back(input.domain, local_proc, false, own_stealable);
  }
};

std::vector<bool> stealable_slices;  // whether each slice of the last launch is stealable

// Notes the slices that the mapper below it gives to Legion.
class Watching final : public legion::OwningForwardingMapper {
 public:
  using OwningForwardingMapper::OwningForwardingMapper;

  void slice_task(MapperContext context, const Legion::Task& task, const SliceTaskInput& input,
                  SliceTaskOutput& output) override {
    mapper->slice_task(context, task, input, output);
    stealable_slices.clear();
    for (const TaskSlice& slice : output.slices) {
      EXPECT_EQ(slice.domain.get_volume(), 1U);
      stealable_slices.push_back(slice.stealable);
    }
  }
};

void nothing(const Legion::Task*, const std::vector<Legion::PhysicalRegion>&, Legion::Context,
             Legion::Runtime*) {}

void register_mappers(Legion::Machine machine, Legion::Runtime* runtime,
                      const std::set<Legion::Processor>& local) {
  const Source source("test.mapper", kMapping);
  Diagnostics diags(source);
  const legion::Wrap wrap = legion::wrapper(compile(source, diags));
  for (const Legion::Processor p : local) {
    auto* const own = new OwnMapper(runtime->get_mapper_runtime(), machine, p, "own");
    runtime->add_mapper(kWrapped, new Watching(wrap(runtime, p, own)), p);
  }
}

const BeforeStart kSetUp([] {
  for (const auto& [id, name] : {std::pair(kLimited, "limited"), std::pair(kStolen, "stolen")}) {
    Legion::TaskVariantRegistrar registrar(id, name);
    registrar.add_constraint(Legion::ProcessorConstraint(Legion::Processor::LOC_PROC));
    registrar.set_leaf();
    Legion::Runtime::preregister_task_variant<nothing>(registrar, name);
  }
  Legion::Runtime::add_registration_callback(register_mappers);
});

// Returns for each slice of a launch of three points whether it is stealable.
std::vector<bool> slices_of(Legion::TaskID task, bool own) {
  own_stealable = own;
  const Legion::IndexTaskLauncher launcher(task, Legion::Domain(Legion::Rect<1>(0, 2)),
                                           Legion::UntypedBuffer(), Legion::ArgumentMap(),
                                           Legion::Predicate::TRUE_PRED, false, kWrapped);
  runtime()->execute_index_space(context(), launcher).wait_all_results();
  return stealable_slices;
}

// A limit keeps what the program's mapper says; a TaskSteal statement adds to it.
TEST(OverlayMapper, SlicesAreStealableByTheMapperOrByAStatement) {
  EXPECT_THAT(slices_of(kLimited, false), ElementsAre(false, false, false));
  EXPECT_THAT(slices_of(kLimited, true), ElementsAre(true, true, true));
  EXPECT_THAT(slices_of(kStolen, false), ElementsAre(true, true, true));
  EXPECT_THAT(slices_of(kStolen, true), ElementsAre(true, true, true));
}

}  // namespace
}  // namespace groma::legion_test
