// How many bytes instances of fields of several sizes take, in a real Legion and in the embedded
// runtime.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "groma/legion.h"
#include "groma/machine.h"
#include "groma/program.h"
#include "groma/run.h"
#include "legion/start.h"

namespace groma::legion_test {
namespace {

using Legion::Context;
using Legion::PhysicalRegion;

constexpr Legion::TaskID kLook = 1;
constexpr Legion::FieldID kFirst = 10;
constexpr std::int64_t kPoints = 100;
constexpr std::array kLayouts = {"SOA", "SOA Align==64", "AOS", "AOS Align==4", "AOS Align>16"};

std::string mapping(const std::string& layout) {
  return "Task * CPU;\nRegion * * CPU SYSMEM;\nLayout * * * " + layout + ";\n";
}

// From the first byte of the instance to behind the last, all of the last point of AOS included.
std::int64_t look(const Legion::Task* task, const std::vector<PhysicalRegion>& regions, Context,
                  Legion::Runtime*) {
  const auto* sizes = static_cast<const std::int64_t*>(task->args);
  std::int64_t lowest = INT64_MAX, end = 0, stride = 0, largest = 0;
  for (Legion::FieldID field : task->regions[0].instance_fields) {
    const auto bytes = static_cast<std::size_t>(sizes[field - kFirst]);
    using Accessor = Legion::FieldAccessor<LEGION_READ_WRITE, char, 1, Legion::coord_t,
                                           Realm::AffineAccessor<char, 1, Legion::coord_t>>;
    const Accessor accessor(regions[0], field, bytes);
    const auto at = [&](std::int64_t point) {
      return static_cast<std::int64_t>(
          reinterpret_cast<std::uintptr_t>(accessor.ptr(Legion::Point<1>(point))));
    };
    lowest = std::min(lowest, at(0));
    end = std::max(end, at(kPoints - 1) + sizes[field - kFirst]);
    stride = at(1) - at(0);
    largest = std::max(largest, sizes[field - kFirst]);
  }
  return stride > largest ? kPoints * stride : end - lowest;
}

const BeforeStart kSetUp([] {
  Legion::TaskVariantRegistrar registrar(kLook, "look");
  registrar.add_constraint(Legion::ProcessorConstraint(Legion::Processor::LOC_PROC));
  registrar.set_leaf(true);
  Legion::Runtime::preregister_task_variant<std::int64_t, look>(registrar, "look");
  for (std::size_t i = 0; i < kLayouts.size(); ++i) {
    const Source source("sizes.mapper", mapping(kLayouts[i]));
    Diagnostics diags(source);
    legion::use(compile(source, diags), {static_cast<Legion::MapperID>(i + 1), nullptr});
  }
});

std::int64_t real(const std::vector<std::int64_t>& sizes, Legion::MapperID mapper) {
  const auto space = runtime()->create_index_space(context(), Legion::Rect<1>(0, kPoints - 1));
  const auto fields = runtime()->create_field_space(context());
  auto allocator = runtime()->create_field_allocator(context(), fields);
  const auto region = runtime()->create_logical_region(context(), space, fields);
  Legion::RegionRequirement requirement(region, LEGION_READ_WRITE, LEGION_EXCLUSIVE, region);
  for (std::size_t f = 0; f < sizes.size(); ++f) {
    const auto field = static_cast<Legion::FieldID>(kFirst + f);
    const std::string zeros(static_cast<std::size_t>(sizes[f]), '\0');
    allocator.allocate_field(zeros.size(), field);
    runtime()->fill_field(context(), region, region, field, zeros.data(), zeros.size());
    requirement.add_field(field);
  }
  Legion::TaskLauncher launcher(kLook,
                                Legion::UntypedBuffer(sizes.data(), sizes.size() * sizeof sizes[0]),
                                Legion::Predicate::TRUE_PRED, mapper);
  launcher.add_region_requirement(requirement);
  return runtime()->execute_task(context(), launcher).get_result<std::int64_t>();
}

std::int64_t simulated(const std::vector<std::int64_t>& sizes, const std::string& layout) {
  Application app;
  app.name = "sizes";
  app.top_level = "main";
  app.regions = {{"r", {}, {kPoints}, {}}};
  for (std::size_t f = 0; f < sizes.size(); ++f) {
    app.regions[0].fields.push_back({fmt::format("f{}", f), sizes[f]});
  }
  AppTask main, look;
  main.name = "main";
  main.variants = {{}};
  main.variants[0].inner = true;
  AppLaunch launch;
  launch.task = "look";
  main.body = {{launch}};
  look.name = "look";
  look.variants = {{}};
  AppRequirement requirement;
  requirement.privilege = Privilege::kReadWrite;
  requirement.fields = app.regions[0].fields;
  requirement.data = {"r", {}};
  look.requirements = {requirement};
  app.tasks = {main, look};
  const Source source("sizes.mapper", mapping(layout));
  Diagnostics diags(source);
  const auto bound = bind(compile(source, diags), make_machine("p100x4").value(), diags);
  SimulateOptions options;
  options.record = true;
  const RunResult result = run(*bound, Workload::make(app).value(), options, diags);
  EXPECT_TRUE(result.ok()) << result.raw;
  std::int64_t bytes = 0;
  for (const auto& memory : result.record->memories) bytes += memory.peak_bytes;
  return bytes;
}

TEST(Sizes, AreTheSame) {
  const std::vector<std::vector<std::int64_t>> all = {
      {8, 1}, {1, 8}, {9, 9, 4}, {4, 9, 8}, {1, 24}, {10, 1}, {12, 8}, {64, 1}, {2, 2, 1}, {8, 8}};
  for (const std::vector<std::int64_t>& sizes : all) {
    for (std::size_t i = 0; i < kLayouts.size(); ++i) {
      EXPECT_EQ(real(sizes, static_cast<Legion::MapperID>(i + 1)), simulated(sizes, kLayouts[i]))
          << kLayouts[i] << ", fields of " << ::testing::PrintToString(sizes);
    }
  }
}

}  // namespace
}  // namespace groma::legion_test
