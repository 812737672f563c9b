// A program of one task with one region, mapped by the text in its first argument, by the file
// named there (`@my.mapper`, the way from C), or by a mapper that errs: for what ends with our
// message, which CMakeLists.txt lists.
#include <legion.h>

#include <cstdio>
#include <memory>
#include <string_view>

#include "groma/legion.h"
#include "groma/legion_c.h"
#include "legion/map_by.h"

namespace {

constexpr Legion::TaskID kTop = 1;
constexpr Legion::TaskID kLook = 2;
constexpr Legion::FieldID kField = 10;

bool asks_tunable = false;  // that no mapper of ours knows

void look(const Legion::Task*, const std::vector<Legion::PhysicalRegion>&, Legion::Context,
          Legion::Runtime*) {}

void top(const Legion::Task*, const std::vector<Legion::PhysicalRegion>&, Legion::Context context,
         Legion::Runtime* runtime) {
  if (asks_tunable) {
    Legion::TunableLauncher launcher(37);
    runtime->select_tunable_value(context, launcher).get_void_result();
  }
  // 16 MB: more than CMakeLists.txt gives to RDMEM.
  const auto space = runtime->create_index_space(context, Legion::Rect<1>(0, (2 << 20) - 1));
  const auto fields = runtime->create_field_space(context);
  runtime->create_field_allocator(context, fields).allocate_field(sizeof(double), kField);
  const auto region = runtime->create_logical_region(context, space, fields);
  runtime->attach_name(region, "cells");
  runtime->fill_field<double>(context, region, region, kField, 1.0);
  Legion::TaskLauncher launcher(kLook, Legion::UntypedBuffer());
  launcher.add_region_requirement(
      Legion::RegionRequirement(region, LEGION_READ_WRITE, LEGION_EXCLUSIVE, region)
          .add_field(kField));
  runtime->execute_task(context, launcher).get_void_result();
  std::fputs("it ran\n", stderr);
}

// Two shards of the top-level task, and a functor for them that there is not.
class Astray final : public groma::Mapper {
 public:
  using Mapper::Mapper;
  void select_task_options(groma::MapperRuntime& runtime, const groma::TaskView& task,
                           groma::TaskOptions& answer) override {
    Mapper::select_task_options(runtime, task, answer);
    answer.replicate = task.depth == 0;
  }
  void replicate_task(groma::MapperRuntime&, const groma::TaskView& task,
                      groma::ReplicateAnswer& answer) override {
    answer.variant = task.variants.front().id;
    answer.processors = {{groma::ProcKind::kCpu, 0, 0}, {groma::ProcKind::kCpu, 0, 1}};
  }
  groma::ShardingId select_sharding_functor(groma::MapperRuntime&, const groma::TaskView&,
                                            const groma::ShardTable&) override {
    return 7;
  }
};

}  // namespace

int main(int argc, char** argv) {
  using Legion::Runtime;
  const auto add = [](Legion::TaskID id, const char* name, auto preregister) {
    Legion::TaskVariantRegistrar registrar(id, name);
    registrar.add_constraint(Legion::ProcessorConstraint(Legion::Processor::LOC_PROC));
    registrar.set_leaf(id == kLook);
    registrar.set_replicable(id == kTop);
    preregister(registrar, name);
  };
  add(kTop, "top", [](auto& registrar, const char* name) {
    Runtime::preregister_task_variant<top>(registrar, name);
  });
  add(kLook, "look", [](auto& registrar, const char* name) {
    Runtime::preregister_task_variant<look>(registrar, name);
  });
  Runtime::set_top_level_task_id(kTop);
  if (std::string_view(argv[1]) == "astray") {
    groma::legion::use(
        [](const groma::MapperSite& site) { return std::make_unique<Astray>(site); });
    return Runtime::start(argc, argv);
  }
  if (argv[1][0] == '@') {
    const int failed = groma_legion_use_file(argv[1] + 1);
    return failed != 0 ? failed : Runtime::start(argc, argv);
  }
  asks_tunable = std::string_view(argv[1]) == "tunable";
  const groma::Source source("test.mapper", asks_tunable ? "Task * CPU;" : argv[1]);
  groma::Diagnostics diags(source);
  const groma::Program program = groma::compile(source, diags);
  if (diags.has_errors()) std::fputs(groma::render(diags).c_str(), stderr);
  groma::legion_test::map_by(program, 0);
  return Runtime::start(argc, argv);
}
