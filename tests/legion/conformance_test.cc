// What `explain` and `place` say of drawn programs is what a real Legion does under them: the
// processor, the memories, the order and alignment of the fields that each task got.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <mappers/default_mapper.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "groma/evaluate.h"
#include "groma/explain.h"
#include "groma/legion.h"
#include "legion/drawn_mappings.h"
#include "legion/machine_map.h"
#include "legion/map_by.h"
#include "legion/start.h"
#include "legion/task_views.h"

namespace groma::legion_test {
namespace {

using Legion::Context;
using Legion::LogicalRegion;
using Legion::PhysicalRegion;

constexpr Legion::MapperID kPrograms = 40;  // the ids from 1 on
constexpr std::array<Legion::FieldID, 2> kFields = {10, 11};
constexpr std::int64_t kElement = sizeof(double);

// ---- The application

struct RegionCase {
  const char* name;
  std::vector<std::int64_t> extents;
  std::vector<std::int64_t> block;  // of a piece
};
const std::map<std::string, RegionCase> kRegions = {{"line", {"line", {24}, {4}}},
                                                    {"plane", {"plane", {8, 12}, {4, 4}}},
                                                    {"other", {"other", {8, 12}, {4, 4}}},
                                                    {"cube", {"cube", {4, 4, 6}, {2, 4, 2}}}};

struct TaskCase {
  Legion::TaskID id;
  const char* name;
  std::vector<std::string> regions;
  bool is_index;
};
const std::vector<TaskCase> kTasks = {{1, "lines", {"line"}, true},
                                      {2, "planes", {"plane", "other"}, true},
                                      {3, "cubes", {"cube"}, true},
                                      {4, "alone", {"plane", "cube", "line"}, false}};
constexpr Legion::TaskID kDriver = 5;

// ---- What tasks see

struct SeenRegion {
  MemKind memory = MemKind::kSysmem;
  std::vector<std::int64_t> lower, extents;  // of what the task may read
  std::vector<std::int64_t> steps;           // in bytes, to the next in each dimension
  std::array<std::int64_t, 2> addresses{};   // of the fields of the first point
};
struct Seen {
  Processor processor;
  std::vector<SeenRegion> regions;
};

std::mutex seen_mutex;
std::map<Legion::MapperID, std::map<std::pair<std::string, std::vector<std::int64_t>>, Seen>> seen;

const legion::MachineMap& machine() {
  static const auto map = legion::MachineMap::make();
  return **map;
}

template <int kDimensions>
SeenRegion see(const PhysicalRegion& region, Legion::Runtime* runtime) {
  SeenRegion saw;
  std::set<Legion::Memory> memories;
  region.get_memories(memories);
  saw.memory = *legion::kind_of(memories.begin()->kind());
  const Legion::Rect<kDimensions> rect =
      runtime->get_index_space_domain(region.get_logical_region().get_index_space());
  using Accessor =
      Legion::FieldAccessor<LEGION_READ_ONLY, double, kDimensions, Legion::coord_t,
                            Realm::AffineAccessor<double, kDimensions, Legion::coord_t>>;
  const auto at = [&](const Accessor& accessor, const Legion::Point<kDimensions>& point) {
    return static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(accessor.ptr(point)));
  };
  const Accessor first(region, kFields[0]), second(region, kFields[1]);
  saw.addresses = {at(first, rect.lo), at(second, rect.lo)};
  for (int d = 0; d < kDimensions; ++d) {
    Legion::Point<kDimensions> next = rect.lo;
    ++next[d];
    saw.lower.push_back(rect.lo[d]);
    saw.extents.push_back(rect.hi[d] - rect.lo[d] + 1);
    saw.steps.push_back(at(first, next) - saw.addresses[0]);
  }
  return saw;
}

void look(const Legion::Task* task, const std::vector<PhysicalRegion>& regions, Context context,
          Legion::Runtime* runtime) {
  Seen saw;
  saw.processor = *machine().processor(runtime->get_executing_processor(context));
  for (const PhysicalRegion& region : regions) {
    switch (region.get_logical_region().get_dim()) {
      case 1:
        saw.regions.push_back(see<1>(region, runtime));
        break;
      case 2:
        saw.regions.push_back(see<2>(region, runtime));
        break;
      default:
        saw.regions.push_back(see<3>(region, runtime));
    }
  }
  std::vector<std::int64_t> point;
  for (int d = 0; d < task->index_point.get_dim() && task->is_index_space; ++d) {
    point.push_back(task->index_point[static_cast<unsigned>(d)]);
  }
  const std::lock_guard lock(seen_mutex);
  seen[task->map_id][{task->get_task_name(), point}] = std::move(saw);
}

// ---- Launches

struct MadeRegion {
  LogicalRegion region;
  Legion::LogicalPartition pieces;
  Legion::Domain colors;
};

template <int kDimensions>
MadeRegion make_region(const RegionCase& of, Context context, Legion::Runtime* runtime) {
  Legion::Rect<kDimensions> bounds;
  Legion::Point<kDimensions> block;
  for (int d = 0; d < kDimensions; ++d) {
    bounds.lo[d] = 0;
    bounds.hi[d] = of.extents[static_cast<std::size_t>(d)] - 1;
    block[d] = of.block[static_cast<std::size_t>(d)];
  }
  const auto space = runtime->create_index_space(context, bounds);
  const auto fields = runtime->create_field_space(context);
  auto allocator = runtime->create_field_allocator(context, fields);
  for (Legion::FieldID field : kFields) allocator.allocate_field(sizeof(double), field);
  MadeRegion made;
  made.region = runtime->create_logical_region(context, space, fields);
  runtime->attach_name(made.region, of.name);
  for (Legion::FieldID field : kFields) {
    runtime->fill_field<double>(context, made.region, made.region, field, 1.0);
  }
  const auto pieces = runtime->create_partition_by_blockify(context, space, block);
  made.pieces = runtime->get_logical_partition(context, made.region, pieces);
  made.colors = runtime->get_index_partition_color_space(context, pieces);
  return made;
}

void driver(const Legion::Task* task, const std::vector<PhysicalRegion>&, Context context,
            Legion::Runtime* runtime) {
  std::map<std::string, MadeRegion> regions;
  for (const auto& [name, of] : kRegions) {
    regions[name] = of.extents.size() == 1   ? make_region<1>(of, context, runtime)
                    : of.extents.size() == 2 ? make_region<2>(of, context, runtime)
                                             : make_region<3>(of, context, runtime);
  }
  const auto with_fields = [](Legion::RegionRequirement requirement) {
    for (Legion::FieldID field : kFields) requirement.add_field(field);
    return requirement;
  };
  for (const TaskCase& one : kTasks) {
    if (one.is_index) {
      Legion::IndexTaskLauncher launcher(one.id, regions[one.regions.front()].colors,
                                         Legion::UntypedBuffer(), Legion::ArgumentMap(),
                                         Legion::Predicate::TRUE_PRED, false, task->map_id);
      for (const std::string& name : one.regions) {
        const MadeRegion& made = regions[name];
        launcher.add_region_requirement(with_fields(Legion::RegionRequirement(
            made.pieces, 0, LEGION_READ_ONLY, LEGION_EXCLUSIVE, made.region)));
      }
      runtime->execute_index_space(context, launcher);
    } else {
      Legion::TaskLauncher launcher(one.id, Legion::UntypedBuffer(), Legion::Predicate::TRUE_PRED,
                                    task->map_id);
      for (const std::string& name : one.regions) {
        const LogicalRegion region = regions[name].region;
        launcher.add_region_requirement(with_fields(
            Legion::RegionRequirement(region, LEGION_READ_ONLY, LEGION_EXCLUSIVE, region)));
      }
      runtime->execute_task(context, launcher);
    }
  }
  runtime->issue_execution_fence(context).wait();
}

Program program_of(Legion::MapperID id) {
  const Source source("drawn.mapper", draw_mapping(id));
  Diagnostics diags(source);
  Program program = compile(source, diags);
  EXPECT_FALSE(diags.has_errors()) << render(diags);
  return program;
}

class Silence final : public LogSink {
 public:
  void log(LogLevel level, std::string_view line) override {
    if (level == LogLevel::kError) std::fprintf(stderr, "%.*s", int(line.size()), line.data());
  }
};

// ---- Run by `groma run --map`, with one of the programs, which is all that is looked at then

Legion::MapperID number_of(const char* text) {
  return static_cast<Legion::MapperID>(std::strtoul(text, nullptr, 10));
}
// Which, 0: none.
Legion::MapperID from_outside() {
  const char* number = std::getenv("GROMA_TEST_OUTSIDE");
  return number == nullptr ? 0 : number_of(number);
}

// A mapper of the program's own, which the mapping then wraps.
// Whether the program has a mapper of its own, which decides what no statement does.
bool has_own() { return std::getenv("GROMA_TEST_OWN") != nullptr; }

class Own final : public Legion::Mapping::DefaultMapper {
 public:
  using Legion::Mapping::DefaultMapper::DefaultMapper;
};

void use_own(const Legion::RegistrationCallbackArgs& args) {
  for (const Legion::Processor p : args.local_procs) {
    args.runtime->replace_default_mapper(
        new Own(args.runtime->get_mapper_runtime(), args.machine, p, "own"), p);
  }
}

const BeforeStart kSetUp([] {
  const auto add = [](Legion::TaskID id, const char* name, Legion::Processor::Kind kind,
                      auto preregister) {
    Legion::TaskVariantRegistrar registrar(id, name);
    registrar.add_constraint(Legion::ProcessorConstraint(kind));
    registrar.set_leaf(id != kDriver);
    registrar.set_replicable(id == kDriver);
    preregister(registrar, name);
  };
  for (const TaskCase& one : kTasks) {
    for (auto kind : {Legion::Processor::LOC_PROC, Legion::Processor::IO_PROC}) {
      add(one.id, one.name, kind, [](auto& registrar, const char* name) {
        Legion::Runtime::preregister_task_variant<look>(registrar, name);
      });
    }
  }
  add(kDriver, "driver", Legion::Processor::LOC_PROC, [](auto& registrar, const char* name) {
    Legion::Runtime::preregister_task_variant<driver>(registrar, name);
  });
  if (const char* written = std::getenv("GROMA_TEST_WRITE")) {
    std::fputs(draw_mapping(number_of(written)).c_str(), stdout);
    std::exit(0);
  }
  if (from_outside() != 0) {
    if (!has_own()) return;
    return Legion::Runtime::add_registration_callback(use_own, Legion::UntypedBuffer(), false);
  }
  static Silence silence;
  for (Legion::MapperID id = 1; id <= kPrograms; ++id) map_by(program_of(id), id, &silence);
});

// ---- What the library says

struct Said {
  Program program;
  BoundProgram bound;
  Explanation explanation;
};

Said said_of(Legion::MapperID id, Diagnostics& diags) {
  Application app;
  app.name = "test";
  for (const TaskCase& one : kTasks) {
    AppTask task;
    task.name = one.name;
    for (ProcKind kind : {ProcKind::kCpu, ProcKind::kIo}) {
      AppVariant variant;
      variant.kind = kind;
      variant.leaf = true;
      task.variants.push_back(variant);
    }
    for (const std::string& name : one.regions) {
      const auto dimensions = static_cast<int>(kRegions.at(name).extents.size());
      task.requirements.push_back({{name},
                                   Privilege::kReadOnly,
                                   Coherence::kExclusive,
                                   dimensions,
                                   {AppField{}, AppField{}}});
    }
    app.tasks.push_back(task);
  }
  const Program program = program_of(id);
  const auto bound = bind(program, *machine().machine(), diags);
  return {program, *bound, *explain(*bound, Workload::make(app).value(), {}, diags)};
}

// Of the dimensions, from the fastest to the slowest, what lies between two points in bytes.
void check_region(const SeenRegion& saw, const ExplainedRequirement& said, const RegionCase& of) {
  const auto taken = std::find_if(
      said.memories.begin(), said.memories.end(),
      [](const ExplainedMemory& memory) { return memory.state == ExplainedMemory::State::kTaken; });
  ASSERT_NE(taken, said.memories.end());
  EXPECT_EQ(saw.memory, taken->memory);
  const LayoutSpec& layout = taken->layout;
  const std::size_t dimensions = saw.steps.size();
  const bool fortran = layout.dimensions == DimensionOrder::kFortran;
  std::size_t fastest = fortran ? 0 : dimensions - 1;
  const std::int64_t apart = saw.addresses[1] - saw.addresses[0];
  const std::int64_t element = saw.steps[fastest];
  std::int64_t step = element;
  for (std::size_t d = 0; d < dimensions; ++d) {
    const std::size_t at = fortran ? d : dimensions - 1 - d;
    EXPECT_EQ(saw.steps[at], step) << "dimension " << at;
    step *= layout.exact ? saw.extents[at] : of.extents[at];
  }
  const std::int64_t aligned = layout.align_op == AlignOp::kNone ? 1
                               : layout.align_op == AlignOp::kGt ? 2 * layout.align_bytes
                                                                 : layout.align_bytes;
  if (layout.fields == FieldOrder::kAos) {
    EXPECT_EQ(apart, (kElement + aligned - 1) / aligned * aligned);
    EXPECT_EQ(element, 2 * apart);
  } else {
    EXPECT_EQ(element, kElement);
    EXPECT_GE(apart, step);
  }
  // Realm's registered memory begins at a multiple of 64 bytes only.
  const bool begins = layout.exact || saw.lower == std::vector<std::int64_t>(dimensions, 0);
  if (!begins || (saw.memory == MemKind::kRdmem && aligned > 64)) return;
  EXPECT_EQ(saw.addresses[0] % aligned, 0);
  EXPECT_EQ(saw.addresses[1] % aligned, 0);
}

void check_processor(const Seen& saw, const ExplainedTask& said, const TaskCase& task,
                     const std::vector<std::int64_t>& point, const Said& all, Diagnostics& diags) {
  ASSERT_TRUE(said.kind.kind);
  const ProcKind kind = *said.kind.kind;
  EXPECT_EQ(saw.processor.kind, kind);
  if (said.steal && said.limit > 0) return;  // any may have taken it
  const auto function = task.is_index ? all.program.index_function(task.name, kind)
                                      : all.program.single_function(task.name, kind);
  if (!function) return;
  TaskPoint at;
  at.name = task.name;
  if (task.is_index) {
    const RegionCase& of = kRegions.at(task.regions.front());
    const auto dimensions = static_cast<int>(of.extents.size());
    at.domain = {Point::zeros(dimensions), Point::zeros(dimensions)};
    at.point = Point::zeros(dimensions);
    for (int d = 0; d < dimensions; ++d) {
      const auto k = static_cast<std::size_t>(d);
      at.domain.extents[d] = of.extents[k] / of.block[k];
      at.point[d] = point[k];
    }
  }
  FunctionEvaluator evaluator(all.bound);
  const auto placed = evaluator.place(function->function, at, kind, diags);
  ASSERT_TRUE(placed) << render(diags);
  EXPECT_EQ(saw.processor, placed->processors.front());
}

// Whether statements decide the memory and the whole layout of a requirement.
bool is_decided(const Program& program, const TaskCase& task, std::size_t position, ProcKind kind) {
  const std::string_view name = task.regions[position];
  const RegionNames names{static_cast<std::int64_t>(position), {&name, 1}};
  const auto memories = program.memories(task.name, names, kind);
  if (memories.empty()) return false;
  const auto layout = program.layout(task.name, names, kind, memories.front().memory);
  return layout && layout->named.dimensions && layout->named.fields;
}

class Conformance : public testing::TestWithParam<Legion::MapperID> {};

TEST_P(Conformance, WhatIsSaidIsWhatIsDone) {
  const Legion::MapperID id = GetParam();
  const Legion::MapperID mapper = from_outside() == 0 ? id : 0;
  Legion::TaskLauncher launcher(kDriver, Legion::UntypedBuffer(), Legion::Predicate::TRUE_PRED,
                                mapper);
  runtime()->execute_task(context(), launcher).get_void_result();
  const Program program = program_of(id);
  Diagnostics diags(program.source());
  const Said said = said_of(id, diags);
  SCOPED_TRACE(draw_mapping(id));
  const std::lock_guard lock(seen_mutex);
  std::map<std::string, std::size_t> points;
  for (const auto& [key, saw] : seen[mapper]) {
    const auto& [name, point] = key;
    ++points[name];
    SCOPED_TRACE(name + " " + testing::PrintToString(point));
    const auto task =
        std::find_if(kTasks.begin(), kTasks.end(),
                     [&name = name](const TaskCase& one) { return one.name == name; });
    const ExplainedTask& explained =
        said.explanation.tasks[static_cast<std::size_t>(task - kTasks.begin())];
    check_processor(saw, explained, *task, point, said, diags);
    for (std::size_t r = 0; r < task->regions.size(); ++r) {
      SCOPED_TRACE(task->regions[r]);
      if (has_own() && !is_decided(said.program, *task, r, *explained.kind.kind)) continue;
      check_region(saw.regions[r], explained.requirements[r], kRegions.at(task->regions[r]));
    }
  }
  EXPECT_THAT(points,
              testing::UnorderedElementsAre(testing::Pair("lines", 6), testing::Pair("planes", 6),
                                            testing::Pair("cubes", 6), testing::Pair("alone", 1)));
}

INSTANTIATE_TEST_SUITE_P(Drawn, Conformance, testing::Range(Legion::MapperID{1}, kPrograms + 1));

}  // namespace
}  // namespace groma::legion_test
