// A program of one task with one region, mapped by the text in its first argument, by the file
// named there (`@my.mapper`, the way from C), or by a mapper that errs (`astray`, `namer`): for
// what ends with our message, which CMakeLists.txt lists. `-as HOW` says how the task is launched.
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
constexpr Legion::TaskID kOutput = 3;
constexpr Legion::FieldID kField = 10;
constexpr Legion::FieldID kOther = 11;

constexpr Legion::ReductionOpID kPlus = 1;
constexpr Legion::coord_t kPoints = 4;

std::string_view how = "single";

void look(const Legion::Task*, const std::vector<Legion::PhysicalRegion>&, Legion::Context,
          Legion::Runtime*) {}

void output(const Legion::Task*, const std::vector<Legion::PhysicalRegion>&,
            Legion::Context context, Legion::Runtime* runtime) {
  std::vector<Legion::OutputRegion> outputs;
  runtime->get_output_regions(context, outputs);
  const double value = 2;
  outputs[0].create_buffer<double, 1>(Legion::Point<1>(5), kField, &value, true);
}

Legion::RegionRequirement requirement_of(const Legion::LogicalRegion& region) {
  if (how == "demanding_two") {
    Legion::RegionRequirement both(region, LEGION_READ_WRITE, LEGION_EXCLUSIVE, region);
    return both.add_field(kField).add_field(kOther);
  }
  if (how == "reduce") {
    return Legion::RegionRequirement(region, kPlus, LEGION_EXCLUSIVE, region).add_field(kField);
  }
  const auto coherence = how == "atomic"  ? LEGION_ATOMIC
                         : how == "epoch" ? LEGION_SIMULTANEOUS
                                          : LEGION_EXCLUSIVE;
  return Legion::RegionRequirement(region, LEGION_READ_WRITE, coherence, region).add_field(kField);
}

void launch_points(Legion::Context context, Legion::Runtime* runtime) {
  Legion::IndexTaskLauncher launcher(kLook, Legion::Domain(Legion::Rect<1>(0, kPoints - 1)),
                                     Legion::UntypedBuffer(), Legion::ArgumentMap());
  launcher.concurrent = how == "concurrent";
  runtime->execute_index_space(context, launcher).wait_all_results();
}

void launch_epoch(Legion::Context context, Legion::Runtime* runtime,
                  const Legion::TaskLauncher& launcher) {
  Legion::MustEpochLauncher epoch;
  for (Legion::coord_t p = 0; p < kPoints; ++p) {
    epoch.add_single_task(Legion::DomainPoint(p), launcher);
  }
  runtime->execute_must_epoch(context, epoch).wait_all_results();
}

void launch_output(Legion::Context context, Legion::Runtime* runtime) {
  const auto fields = runtime->create_field_space(context);
  runtime->create_field_allocator(context, fields).allocate_field(sizeof(double), kField);
  std::vector<Legion::OutputRequirement> outputs;
  outputs.emplace_back(fields, std::set<Legion::FieldID>{kField}, 1, true);
  Legion::TaskLauncher launcher(kOutput, Legion::UntypedBuffer());
  runtime->execute_task(context, launcher, &outputs).get_void_result();
}

void top(const Legion::Task*, const std::vector<Legion::PhysicalRegion>&, Legion::Context context,
         Legion::Runtime* runtime) {
  if (how == "tunable") {  // that no mapper of ours knows
    Legion::TunableLauncher launcher(37);
    runtime->select_tunable_value(context, launcher).get_void_result();
  }
  // 16 MB: more than CMakeLists.txt gives to RDMEM.
  const auto space = runtime->create_index_space(context, Legion::Rect<1>(0, (2 << 20) - 1));
  const auto fields = runtime->create_field_space(context);
  Legion::FieldAllocator allocator = runtime->create_field_allocator(context, fields);
  allocator.allocate_field(sizeof(double), kField);
  if (how == "demanding_two" || how == "colocated") {
    allocator.allocate_field(sizeof(double), kOther);
  }
  const auto region = runtime->create_logical_region(context, space, fields);
  runtime->attach_name(region, "cells");
  runtime->fill_field<double>(context, region, region, kField, 1.0);
  Legion::TaskLauncher launcher(kLook, Legion::UntypedBuffer());
  launcher.add_region_requirement(requirement_of(region));
  if (how == "colocated") {
    launcher.add_region_requirement(
        Legion::RegionRequirement(region, LEGION_WRITE_DISCARD, LEGION_EXCLUSIVE, region)
            .add_field(kOther));
  }
  if (how == "index" || how == "concurrent") {
    launch_points(context, runtime);
  } else if (how == "epoch") {
    launch_epoch(context, runtime, launcher);
  } else if (how == "output") {
    launch_output(context, runtime);
  } else {
    runtime->execute_task(context, launcher).get_void_result();
  }
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
                      groma::ReplicateTaskOutput& answer) override {
    answer.variant = task.variants.front().id;
    answer.processors = {{groma::ProcKind::kCpu, 0, 0}, {groma::ProcKind::kCpu, 0, 1}};
  }
  groma::ShardingId select_sharding_functor(groma::MapperRuntime&, const groma::TaskView&,
                                            const groma::ShardTable&) override {
    return 7;
  }
};

// Names an instance of its own for `look`, which cannot have it; `-as` says why.
class Namer final : public groma::Mapper {
 public:
  using Mapper::Mapper;
  void map_task(groma::MapperRuntime& runtime, const groma::TaskView& task,
                std::span<const std::span<const groma::InstanceView>> valid,
                groma::MapTaskOutput& answer) override {
    Mapper::map_task(runtime, task, valid, answer);
    if (task.name != "look") return;
    const groma::RequirementView& of = task.requirements[0];
    const groma::FieldId other = kOther;
    const groma::FieldId own = kField;
    groma::InstanceRequest request;
    request.memory = {groma::MemKind::kSysmem, 0, 0};
    request.regions = {&of.region, 1};
    request.fields = {how == "demanding_two" ? &other : &own, 1};
    request.reduction = how == "reduce" ? 0 : kPlus;
    const auto made = how == "single" ? std::nullopt : runtime.create_instance(request);
    answer.requirements[0].instance = made ? made->id : 99;
  }
};

}  // namespace

int main(int argc, char** argv) {
  using Legion::Runtime;
  for (int i = 2; i + 1 < argc; ++i) {
    if (std::string_view(argv[i]) == "-as") how = argv[i + 1];
  }
  const auto add = [](Legion::TaskID id, const char* name, auto preregister) {
    Legion::TaskVariantRegistrar registrar(id, name);
    registrar.add_constraint(Legion::ProcessorConstraint(Legion::Processor::LOC_PROC));
    registrar.set_leaf(id != kTop);
    registrar.set_replicable(id == kTop);
    registrar.set_concurrent(how == "concurrent" && id == kLook);
    if (how.starts_with("demanding") && id == kLook) {  // fields before points
      Legion::LayoutConstraintRegistrar layout;
      layout.add_constraint(Legion::OrderingConstraint({LEGION_DIM_F, LEGION_DIM_X}, false));
      registrar.add_layout_constraint_set(0, Runtime::preregister_layout(layout));
    }
    if (how == "colocated" && id == kLook) {
      registrar.execution_constraints.add_constraint(Legion::ColocationConstraint(0, 1));
    }
    preregister(registrar, name);
  };
  add(kTop, "top", [](auto& registrar, const char* name) {
    Runtime::preregister_task_variant<top>(registrar, name);
  });
  add(kLook, "look", [](auto& registrar, const char* name) {
    Runtime::preregister_task_variant<look>(registrar, name);
  });
  add(kOutput, "output", [](auto& registrar, const char* name) {
    Runtime::preregister_task_variant<output>(registrar, name);
  });
  Runtime::register_reduction_op<Legion::SumReduction<double>>(kPlus);
  Runtime::set_top_level_task_id(kTop);
  if (std::string_view(argv[1]) == "astray") {
    groma::legion::use(
        [](const groma::MapperSite& site) { return std::make_unique<Astray>(site); });
    return Runtime::start(argc, argv);
  }
  if (std::string_view(argv[1]) == "namer") {
    groma::legion::use([](const groma::MapperSite& site) { return std::make_unique<Namer>(site); });
    return Runtime::start(argc, argv);
  }
  if (argv[1][0] == '@') {
    const int failed = groma_legion_use_file(argv[1] + 1);
    return failed != 0 ? failed : Runtime::start(argc, argv);
  }
  const groma::Source source("test.mapper", argv[1]);
  groma::Diagnostics diags(source);
  const groma::Program program = groma::compile(source, diags);
  if (diags.has_errors()) std::fputs(groma::render(diags).c_str(), stderr);
  groma::legion_test::map_by(program, 0);
  return Runtime::start(argc, argv);
}
