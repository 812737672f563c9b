// A Legion program whose tasks rely on what its own mapper decides, without declaring it:
//
//   demanding plain [FLAGS]             prints a line of numbers for each step
//   demanding wrapped FIRST LAST [...]  the same under each drawn mapping of these seeds, above the
//                                       program's mapper (groma::legion::wrapper); says of each
//                                       whether the numbers are those without a mapping
//   demanding draw SEED                 prints the mapping of that seed
//   demanding hooked [FLAGS]            as plain, with a mapper that only overrides a policy hook
//
// A step's task computes an address as a library call would, from a pointer and what its program's
// mapper always chose: an order of dimensions or fields, an alignment, a tight instance, one
// instance for two requirements, one of two variants, a pool of memory, a processor.
#include <legion.h>
#include <mappers/default_mapper.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "groma/diagnostics.h"
#include "groma/legion.h"
#include "groma/program.h"
#include "groma/source.h"
#include "legion/drawn_mappings.h"

namespace {

using Legion::Context;
using Legion::Domain;
using Legion::LogicalPartition;
using Legion::LogicalRegion;
using Legion::PhysicalRegion;
using Legion::Point;
using Legion::Processor;
using Legion::Rect;
using Legion::Runtime;
using Legion::Task;
using Legion::Mapping::DefaultMapper;
using Legion::Mapping::MapperContext;
using Legion::Mapping::PhysicalInstance;
using PhysicalRegions = std::vector<PhysicalRegion>;

enum : Legion::TaskID {
  kTop = 1,
  kRows,     // C order
  kColumns,  // Fortran order of a tight instance
  kBetween,  // the fields between the dimensions
  kAligned,  // 128 bytes
  kSpread,   // relies on nothing; what it writes, `packed` overwrites
  kPacked,   // AOS
  kPair,     // two requirements in one instance
  kEither,   // one of two variants of a kind
  kPooled,   // a pool for what it allocates
  kMeet,     // a concurrent launch, point p on CPU p
  kBranch,   // hands its region on
  kGrow,     // a child of `branch`
  kTotal,    // reduces
  kRead,     // relies on nothing
  kWhole,    // reads all of a line, whose instance the mapper keeps
  kPeek,     // reads one point of it, which the mapper finds in that instance
  kAgain,    // reads all of it from that instance, for which the mapper does not ask again
  kGlance,   // relies on nothing; DefaultMapper finds the instance that was made for `rows`
  kHooked,   // C order, SOA, by a policy hook
  kListed,   // SOA, by a policy hook that says what DefaultMapper would say
};
constexpr std::array<const char*, kListed + 1> kNames = {
    "",      "top",    "rows",   "columns", "between", "aligned", "spread", "packed",
    "pair",  "either", "pooled", "meet",    "branch",  "grow",    "total",  "read",
    "whole", "peek",   "again",  "glance",  "hooked",  "listed"};
constexpr Legion::FieldID kFirst = 10, kSecond = 11;
constexpr Legion::ReductionOpID kSum = 1;
constexpr int kPieces = 4;
constexpr std::int64_t kHeight = 20, kWidth = 24, kLength = 40;  // pieces: 5 x 24, 10
enum : Legion::MappingTagID { kEven = 1, kOdd = 2 };             // for the program's mapper alone

std::vector<Processor> cpus() {
  Legion::Machine::ProcessorQuery query(Legion::Machine::get_machine());
  query.only_kind(Processor::LOC_PROC);
  return {query.begin(), query.end()};
}

// ---- Tasks. Each takes the address of its piece's first point and knows where the others are.

template <int kDimensions>
double* first_of(const PhysicalRegion& region, Legion::FieldID field, Runtime* runtime) {
  const Rect<kDimensions> rect =
      runtime->get_index_space_domain(region.get_logical_region().get_index_space());
  const Legion::FieldAccessor<LEGION_READ_WRITE, double, kDimensions, Legion::coord_t,
                              Realm::AffineAccessor<double, kDimensions, Legion::coord_t>>
      accessor(region, field);
  return accessor.ptr(rect.lo);
}

std::int64_t number(const Task* task) { return task->index_point[0]; }

void rows(const Task* task, const PhysicalRegions& regions, Context, Runtime* runtime) {
  double* const to = first_of<2>(regions[0], kFirst, runtime);
  for (std::int64_t i = 0; i < kHeight / kPieces * kWidth; ++i) {
    to[i] = static_cast<double>(number(task) * 1'000 + i);
  }
}

// As a library's column-major routine with leading dimension 5 would write.
void columns(const Task* task, const PhysicalRegions& regions, Context, Runtime* runtime) {
  constexpr std::int64_t kLeading = kHeight / kPieces;
  double* const to = first_of<2>(regions[0], kSecond, runtime);
  for (std::int64_t c = 0; c < kWidth; ++c) {
    for (std::int64_t r = 0; r < kLeading; ++r) {
      to[c * kLeading + r] = static_cast<double>(number(task) * 100 + r * kWidth + c);
    }
  }
}

// Each row is that of the first field, then that of the second field.
void between(const Task* task, const PhysicalRegions& regions, Context, Runtime* runtime) {
  double* const to = first_of<2>(regions[0], kFirst, runtime);
  for (std::int64_t i = 0; i < kHeight / kPieces * kWidth; ++i) {
    const std::int64_t row = i / kWidth, column = i % kWidth;
    to[2 * row * kWidth + column] = static_cast<double>(number(task) * 500 + i);
    to[(2 * row + 1) * kWidth + column] = static_cast<double>(-i);
  }
}

// As an aligned store of 128 bytes would, which ignores the address's last bits.
void aligned(const Task* task, const PhysicalRegions& regions, Context, Runtime* runtime) {
  double* const first = first_of<1>(regions[0], kFirst, runtime);
  auto* const to = reinterpret_cast<double*>(reinterpret_cast<std::uintptr_t>(first) & ~127ULL);
  for (int i = 0; i < 8; ++i) to[i] = static_cast<double>(number(task) + i);
}

void spread(const Task*, const PhysicalRegions& regions, Context, Runtime* runtime) {
  const Rect<1> rect =
      runtime->get_index_space_domain(regions[0].get_logical_region().get_index_space());
  for (const Legion::FieldID field : {kFirst, kSecond}) {
    const Legion::FieldAccessor<LEGION_READ_WRITE, double, 1> data(regions[0], field);
    for (Legion::PointInRectIterator<1> at(rect); at(); ++at) data[*at] = 7;
  }
}

void packed(const Task* task, const PhysicalRegions& regions, Context, Runtime* runtime) {
  double* const to = first_of<1>(regions[0], kFirst, runtime);
  for (int i = 0; i < 10; ++i) {
    to[2 * i] = static_cast<double>(number(task) * 10 + i);
    to[2 * i + 1] = -to[2 * i];
  }
}

// The second field lies behind the first one's ten numbers, of which the second requirement has no
// address of its own.
void pair(const Task* task, const PhysicalRegions& regions, Context, Runtime* runtime) {
  double* const to = first_of<1>(regions[0], kFirst, runtime);
  for (int i = 0; i < 10; ++i) {
    to[i] = static_cast<double>(number(task) + i);
    to[10 + i] = 2 * to[i];
  }
}

void either(double factor, const Task* task, const PhysicalRegion& region, Runtime* runtime) {
  double* const to = first_of<1>(region, kFirst, runtime);
  to[0] = factor * static_cast<double>(number(task) + 1);
}
void even(const Task* task, const PhysicalRegions& regions, Context, Runtime* runtime) {
  either(task->tag == kEven ? 2 : -1e6, task, regions[0], runtime);
}
void odd(const Task* task, const PhysicalRegions& regions, Context, Runtime* runtime) {
  either(task->tag == kOdd ? 3 : -1e6, task, regions[0], runtime);
}

double pooled(const Task* task, const PhysicalRegions&, Context, Runtime*) {
  Legion::DeferredBuffer<double, 1> buffer(Rect<1>(0, 999), Legion::Memory::SYSTEM_MEM);
  double sum = 0;
  for (int i = 0; i < 1'000; ++i) buffer[i] = static_cast<double>(i * (number(task) + 1));
  for (int i = 0; i < 1'000; ++i) sum += buffer[i];
  return sum;
}

// What a CPU has for the others: a communicator of one process.
std::array<std::int64_t, 64> mailboxes;

double meet(const Task* task, const PhysicalRegions&, Context context, Runtime* runtime) {
  const std::vector<Processor> all = cpus();
  const Processor here = runtime->get_executing_processor(context);
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i] == here) mailboxes[i] = 100 + number(task);
  }
  runtime->concurrent_task_barrier(context);
  const double heard = static_cast<double>(mailboxes[static_cast<std::size_t>(1 - number(task))]);
  runtime->concurrent_task_barrier(context);
  return heard;
}

void branch(const Task* task, const PhysicalRegions& regions, Context context, Runtime* runtime) {
  const LogicalRegion region = regions[0].get_logical_region();
  Legion::TaskLauncher launcher(kGrow, Legion::UntypedBuffer());
  launcher.map_id = task->map_id;
  launcher.add_region_requirement(
      Legion::RegionRequirement(region, LEGION_READ_WRITE, LEGION_EXCLUSIVE, region)
          .add_field(kFirst));
  runtime->execute_task(context, launcher);
}
void grow(const Task*, const PhysicalRegions& regions, Context, Runtime* runtime) {
  double* const to = first_of<1>(regions[0], kFirst, runtime);
  for (int i = 0; i < 10; ++i) to[i] += 0.5 + i;
}

void hooked(const Task* task, const PhysicalRegions& regions, Context, Runtime* runtime) {
  const Rect<2> rect =
      runtime->get_index_space_domain(regions[0].get_logical_region().get_index_space());
  const Legion::FieldAccessor<LEGION_READ_WRITE, double, 2, Legion::coord_t,
                              Realm::AffineAccessor<double, 2, Legion::coord_t>>
      data(regions[0], kFirst);
  for (Legion::coord_t row = rect.lo[0]; row <= rect.hi[0]; ++row) {
    double* const to = data.ptr(Point<2>(row, rect.lo[1]));
    for (std::int64_t c = 0; c < kWidth; ++c) {
      to[c] = static_cast<double>(number(task) * 100 + row * c);
    }
  }
}
void listed(const Task* task, const PhysicalRegions& regions, Context, Runtime* runtime) {
  double* const to = first_of<1>(regions[0], kFirst, runtime);
  for (int i = 0; i < 10; ++i) to[i] = static_cast<double>(number(task) * 20 + i);
}

class Sum {
 public:
  using LHS = double;
  using RHS = double;
  static constexpr double identity = 0;
  template <bool kExclusive>
  static void apply(double& left, double right) {
    if constexpr (kExclusive) {
      left += right;
    } else {
      std::atomic_ref<double>(left).fetch_add(right);
    }
  }
  template <bool kExclusive>
  static void fold(double& left, double right) {
    apply<kExclusive>(left, right);
  }
};

void total(const Task* task, const PhysicalRegions& regions, Context, Runtime*) {
  const Legion::ReductionAccessor<Sum, true, 1, Legion::coord_t,
                                  Realm::AffineAccessor<double, 1, Legion::coord_t>>
      sums(regions[0], kFirst, kSum);
  for (int i = 0; i < kLength; ++i) sums[i] <<= static_cast<double>(number(task) + i);
}

// A sum in which each point and field has a weight of its own. Works with any layout.
double read(const Task*, const PhysicalRegions& regions, Context, Runtime* runtime) {
  double sum = 0;
  const Domain domain =
      runtime->get_index_space_domain(regions[0].get_logical_region().get_index_space());
  std::vector<Legion::FieldID> fields;
  regions[0].get_fields(fields);
  for (const Legion::FieldID field : fields) {
    double weight = field;
    const auto add = [&](double value) { sum += value * (weight += 0.25); };
    if (domain.get_dim() == 1) {
      const Legion::FieldAccessor<LEGION_READ_ONLY, double, 1> data(regions[0], field);
      for (Legion::PointInRectIterator<1> at(domain); at(); ++at) add(data[*at]);
    } else {
      const Legion::FieldAccessor<LEGION_READ_ONLY, double, 2> data(regions[0], field);
      for (Legion::PointInRectIterator<2> at(domain); at(); ++at) add(data[*at]);
    }
  }
  return sum;
}

// ---- The mapper on which they rely

class DemandingMapper final : public DefaultMapper {
 public:
  using DefaultMapper::DefaultMapper;

  void select_task_options(MapperContext context, const Task& task, TaskOptions& output) override {
    DefaultMapper::select_task_options(context, task, output);
    output.initial_proc = cpus().front();
  }
  void slice_task(MapperContext, const Task&, const SliceTaskInput& input,
                  SliceTaskOutput& output) override {
    const std::vector<Processor> all = cpus();
    for (Domain::DomainPointIterator at(input.domain); at; ++at) {
      const auto p = static_cast<std::size_t>(at.p[0]) % all.size();
      output.slices.emplace_back(Domain(at.p, at.p), all[p], false, false);
    }
  }
  void map_task(MapperContext context, const Task& task, const MapTaskInput& input,
                MapTaskOutput& output) override {
    switch (task.task_id) {
      case kRows:
        return map(context, task, {LEGION_DIM_Y, LEGION_DIM_X, LEGION_DIM_F}, 0, output);
      case kColumns:
        return map(context, task, {LEGION_DIM_X, LEGION_DIM_Y, LEGION_DIM_F}, 0, output);
      case kAligned:
        return map(context, task, {LEGION_DIM_X, LEGION_DIM_F}, 128, output);
      case kBetween:
        return map(context, task, {LEGION_DIM_Y, LEGION_DIM_F, LEGION_DIM_X}, 0, output);
      case kPacked:
        return map(context, task, {LEGION_DIM_F, LEGION_DIM_X}, 0, output);
      case kPair:
      case kEither:
      case kGrow:
        return map(context, task, {LEGION_DIM_X, LEGION_DIM_F}, 0, output);
      case kPeek:
        return map(context, task, {LEGION_DIM_X, LEGION_DIM_F}, 0, output);
      case kPooled:
      case kMeet:
        return map(context, task, {}, 0, output);
      case kWhole:
      case kAgain:
        return map_kept(context, task, input, output);
      default:
        DefaultMapper::map_task(context, task, input, output);
    }
  }

 private:
  // All requirements in one tight instance (of `peek` in any) of this order, with the fields of all
  // of them.
  void map(MapperContext context, const Task& task, std::vector<Legion::DimensionKind> order,
           std::size_t alignment, MapTaskOutput& output) {
    output.target_procs = {task.target_proc};
    output.chosen_variant = task.task_id == kEither && task.tag == kOdd ? 2 : 1;
    Legion::Machine::MemoryQuery memories(Legion::Machine::get_machine());
    memories.only_kind(Legion::Memory::SYSTEM_MEM).has_capacity(1);
    if (task.task_id == kPooled) {
      output.leaf_pool_bounds[memories.first()] = Legion::PoolBounds(16'384);
    }
    if (task.regions.empty()) return;
    std::vector<Legion::FieldID> fields;
    std::vector<LogicalRegion> regions;
    for (const Legion::RegionRequirement& one : task.regions) {
      fields.insert(fields.end(), one.privilege_fields.begin(), one.privilege_fields.end());
      if (regions.empty() || regions.back() != one.region) regions.push_back(one.region);
    }
    Legion::LayoutConstraintSet set;
    set.add_constraint(Legion::SpecializedConstraint(LEGION_AFFINE_SPECIALIZE))
        .add_constraint(Legion::FieldConstraint(fields, false))
        .add_constraint(Legion::OrderingConstraint(order, false));
    for (const Legion::FieldID field : fields) {
      if (alignment == 0) continue;
      set.add_constraint(Legion::AlignmentConstraint(field, LEGION_EQ_EK, alignment));
    }
    PhysicalInstance instance;
    bool created = false;
    if (!runtime->find_or_create_physical_instance(context, memories.first(), set, regions,
                                                   instance, created, true, 0,
                                                   task.task_id != kPeek)) {
      std::fprintf(stderr, "no room for %s\n", task.get_task_name());
      std::exit(1);
    }
    for (auto& chosen : output.chosen_instances) chosen = {instance};
  }

  // In the instance that DefaultMapper had made for the region when it was first mapped.
  void map_kept(MapperContext context, const Task& task, const MapTaskInput& input,
                MapTaskOutput& output) {
    PhysicalInstance& kept = kept_[task.regions[0].region];
    if (kept.exists() && runtime->acquire_instance(context, kept)) {
      output.target_procs = {task.target_proc};
      output.chosen_variant = 1;
      output.chosen_instances[0] = {kept};
    } else {
      DefaultMapper::map_task(context, task, input, output);
      kept = output.chosen_instances[0].front();
    }
  }

  std::map<LogicalRegion, PhysicalInstance> kept_;
};

// Chooses the order of all data in a policy hook of DefaultMapper.
class HookingMapper final : public DefaultMapper {
 public:
  using DefaultMapper::DefaultMapper;

  void default_policy_select_constraints(MapperContext context,
                                         Legion::LayoutConstraintSet& constraints,
                                         Legion::Memory memory,
                                         const Legion::RegionRequirement& requirement) override {
    DefaultMapper::default_policy_select_constraints(context, constraints, memory, requirement);
    std::vector<Legion::DimensionKind> order = {LEGION_DIM_X, LEGION_DIM_F};
    if (requirement.region.get_dim() == 2) order = {LEGION_DIM_Y, LEGION_DIM_X, LEGION_DIM_F};
    constraints.add_constraint(Legion::OrderingConstraint(order, false));
  }
};

// ---- The program

struct Data {
  LogicalRegion grid, line, kept;
  LogicalPartition grid_pieces, line_pieces;
};

LogicalPartition cut(Context context, Runtime* runtime, LogicalRegion region, const char* name) {
  const auto colors = runtime->create_index_space(context, Rect<1>(0, kPieces - 1));
  Legion::IndexPartition pieces;
  if (region.get_dim() == 1) {
    pieces = runtime->create_equal_partition(context, region.get_index_space(), colors);
  } else {
    Legion::Transform<2, 1> transform;
    transform[0][0] = kHeight / kPieces;
    transform[1][0] = 0;
    const Rect<2> extent(Point<2>(0, 0), Point<2>(kHeight / kPieces - 1, kWidth - 1));
    pieces = runtime->create_partition_by_restriction(
        context, Legion::IndexSpaceT<2>(region.get_index_space()), Legion::IndexSpaceT<1>(colors),
        transform, extent);
  }
  const LogicalPartition partition = runtime->get_logical_partition(context, region, pieces);
  runtime->attach_name(partition, name);
  return partition;
}

Data make_data(Context context, Runtime* runtime) {
  const auto fields = runtime->create_field_space(context);
  auto allocator = runtime->create_field_allocator(context, fields);
  allocator.allocate_field(sizeof(double), kFirst);
  allocator.allocate_field(sizeof(double), kSecond);
  Data data;
  const auto grid =
      runtime->create_index_space(context, Rect<2>({0, 0}, {kHeight - 1, kWidth - 1}));
  const auto line = runtime->create_index_space(context, Rect<1>(0, kLength - 1));
  data.grid = runtime->create_logical_region(context, grid, fields);
  data.line = runtime->create_logical_region(context, line, fields);
  data.kept = runtime->create_logical_region(context, line, fields);
  runtime->attach_name(data.kept, "kept");
  runtime->attach_name(data.grid, "grid");
  runtime->attach_name(data.line, "line");
  data.grid_pieces = cut(context, runtime, data.grid, "grid_pieces");
  data.line_pieces = cut(context, runtime, data.line, "line_pieces");
  for (const LogicalRegion region : {data.grid, data.line, data.kept}) {
    runtime->fill_field(context, region, region, kFirst, 1.0);
    runtime->fill_field(context, region, region, kSecond, 2.0);
  }
  return data;
}

class Steps {
 public:
  Steps(Context context, Runtime* runtime, Legion::MapperID mapper)
      : context_(context), runtime_(runtime), mapper_(mapper), data_(make_data(context, runtime)) {}

  // What all steps compute, a line each.
  std::vector<std::string> run() {
    launch(kRows, data_.grid, data_.grid_pieces, {{kFirst}});
    const LogicalRegion piece = runtime_->get_logical_subregion_by_color(
        context_, data_.grid_pieces, Legion::DomainPoint(0));
    add("glance", read(kGlance, piece, data_.grid, {kFirst}));
    add("rows", read_all(data_.grid, {kFirst}));
    launch(kColumns, data_.grid, data_.grid_pieces, {{kSecond}});
    add("columns", read_all(data_.grid, {kSecond}));
    launch(kBetween, data_.grid, data_.grid_pieces, {{kFirst, kSecond}});
    add("between", read_all(data_.grid, {kFirst, kSecond}));
    launch(kAligned, data_.line, data_.line_pieces, {{kFirst}});
    const LogicalRegion first = runtime_->get_logical_subregion_by_color(
        context_, data_.line_pieces, Legion::DomainPoint(0));
    add("glance", read(kGlance, first, data_.line, {kFirst}));
    add("aligned", read_all(data_.line, {kFirst, kSecond}));
    launch(kSpread, data_.line, data_.line_pieces, {{kFirst, kSecond}});
    launch(kPacked, data_.line, data_.line_pieces, {{kFirst, kSecond}});
    add("packed", read_all(data_.line, {kFirst, kSecond}));
    launch(kPair, data_.line, data_.line_pieces, {{kFirst}, {kSecond}});
    add("pair", read_all(data_.line, {kFirst, kSecond}));
    for (const Legion::MappingTagID tag : {kEven, kOdd, kEven}) {
      launch(kEither, data_.line, data_.line_pieces, {{kFirst}}, tag);
      add("either", read_all(data_.line, {kFirst}));
    }
    launch(kBranch, data_.line, data_.line_pieces, {{kFirst}});
    add("branch", read_all(data_.line, {kFirst}));
    reduce();
    add("total", read_all(data_.line, {kFirst}));
    add("whole", read(kWhole, data_.kept, data_.kept, {kFirst}));
    peek();
    add("again", read(kAgain, data_.kept, data_.kept, {kFirst}));
    futures("pooled", kPooled, kPieces, false);
    futures("meet", kMeet, 2, true);
    return std::move(lines_);
  }

  // The same of the tasks that rely on HookingMapper.
  std::vector<std::string> run_hooked() {
    launch(kHooked, data_.grid, data_.grid_pieces, {{kFirst, kSecond}});
    add("hooked", read_all(data_.grid, {kFirst, kSecond}));
    launch(kListed, data_.line, data_.line_pieces, {{kFirst, kSecond}});
    add("listed", read_all(data_.line, {kFirst, kSecond}));
    return std::move(lines_);
  }

 private:
  Legion::IndexTaskLauncher launcher_of(Legion::TaskID task, int points) const {
    Legion::IndexTaskLauncher launcher(task, Domain(Rect<1>(0, points - 1)),
                                       Legion::UntypedBuffer(), Legion::ArgumentMap());
    launcher.map_id = mapper_;
    return launcher;
  }
  void launch(Legion::TaskID task, LogicalRegion region, LogicalPartition pieces,
              const std::vector<std::vector<Legion::FieldID>>& requirements,
              Legion::MappingTagID tag = 0) {
    Legion::IndexTaskLauncher launcher = launcher_of(task, kPieces);
    launcher.tag = tag;
    for (const auto& fields : requirements) {
      Legion::RegionRequirement one(pieces, 0, LEGION_READ_WRITE, LEGION_EXCLUSIVE, region);
      for (const Legion::FieldID field : fields) one.add_field(field);
      launcher.add_region_requirement(one);
    }
    runtime_->execute_index_space(context_, launcher);
  }
  void reduce() {
    Legion::IndexTaskLauncher launcher = launcher_of(kTotal, kPieces);
    launcher.add_region_requirement(
        Legion::RegionRequirement(data_.line, 0, kSum, LEGION_EXCLUSIVE, data_.line)
            .add_field(kFirst));
    runtime_->execute_index_space(context_, launcher);
  }
  // Looks at the first point by a partition that does not live long.
  void peek() {
    const auto colors = runtime_->create_index_space(context_, Rect<1>(0, kLength - 1));
    const Legion::IndexPartition points =
        runtime_->create_equal_partition(context_, data_.kept.get_index_space(), colors);
    const LogicalRegion first = runtime_->get_logical_subregion_by_color(
        context_, runtime_->get_logical_partition(context_, data_.kept, points),
        Legion::DomainPoint(0));
    add("peek", read(kPeek, first, data_.kept, {kFirst}));
    runtime_->destroy_index_partition(context_, points);
  }
  double read_all(LogicalRegion region, const std::vector<Legion::FieldID>& fields) {
    return read(kRead, region, region, fields);
  }
  double read(Legion::TaskID task, LogicalRegion region, LogicalRegion parent,
              const std::vector<Legion::FieldID>& fields) {
    Legion::TaskLauncher launcher(task, Legion::UntypedBuffer());
    launcher.map_id = mapper_;
    Legion::RegionRequirement one(region, LEGION_READ_ONLY, LEGION_EXCLUSIVE, parent);
    for (const Legion::FieldID field : fields) one.add_field(field);
    launcher.add_region_requirement(one);
    return runtime_->execute_task(context_, launcher).get_result<double>();
  }
  void futures(const char* name, Legion::TaskID task, int points, bool concurrent) {
    Legion::IndexTaskLauncher launcher = launcher_of(task, points);
    launcher.concurrent = concurrent;
    const Legion::FutureMap found = runtime_->execute_index_space(context_, launcher);
    for (int i = 0; i < points; ++i) add(name, found.get_result<double>(Legion::DomainPoint(i)));
  }
  void add(const char* name, double value) {
    std::array<char, 64> text;
    std::snprintf(text.data(), text.size(), "%s %.6f", name, value);
    lines_.emplace_back(text.data());
  }

  Context context_;
  Runtime* runtime_;
  Legion::MapperID mapper_;
  Data data_;
  std::vector<std::string> lines_;
};

std::uint64_t first_seed = 1, last_seed = 0;  // of `wrapped`
bool is_hooked = false;                       // mode `hooked`

void top(const Task*, const PhysicalRegions&, Context context, Runtime* runtime) {
  Steps steps(context, runtime, 0);
  const std::vector<std::string> own = is_hooked ? steps.run_hooked() : steps.run();
  if (last_seed == 0) {
    for (const std::string& line : own) std::printf("%s\n", line.c_str());
  }
  for (std::uint64_t seed = first_seed; seed <= last_seed; ++seed) {
    std::printf("seed %ju:", static_cast<std::uintmax_t>(seed));
    std::fflush(stdout);
    const auto id = static_cast<Legion::MapperID>(1 + seed - first_seed);
    const std::vector<std::string> mapped = Steps(context, runtime, id).run();
    std::printf(mapped == own ? " the same\n" : " DIFFERENT\n");
    for (std::size_t i = 0; i < own.size() && mapped != own; ++i) {
      std::printf("  %s, mapped %s\n", own[i].c_str(), mapped[i].c_str());
    }
  }
}

groma::legion::Wrap wrap_of(std::uint64_t seed) {
  const std::string name = "seed_" + std::to_string(seed) + ".mapper";
  const groma::Source source(name, groma::legion_test::draw_mapping_of_demanding(seed));
  groma::Diagnostics diags(source);
  const groma::Program program = groma::compile(source, diags);
  if (diags.has_errors()) {
    std::fputs(render(diags).c_str(), stderr);
    std::exit(2);
  }
  return groma::legion::wrapper(program);
}

void register_mappers(Legion::Machine machine, Runtime* runtime, const std::set<Processor>& local) {
  Legion::Mapping::MapperRuntime* const mapping = runtime->get_mapper_runtime();
  const auto own = [&](Processor p) -> DefaultMapper* {
    if (is_hooked) return new HookingMapper(mapping, machine, p, "own");
    return new DemandingMapper(mapping, machine, p, "own");
  };
  for (const Processor p : local) runtime->replace_default_mapper(own(p), p);
  static std::vector<groma::legion::Wrap> wraps;  // which outlive the runtime
  for (std::uint64_t seed = first_seed; seed <= last_seed; ++seed) {
    const groma::legion::Wrap& wrap = wraps.emplace_back(wrap_of(seed));
    const auto id = static_cast<Legion::MapperID>(1 + seed - first_seed);
    for (const Processor p : local) runtime->add_mapper(id, wrap(runtime, p, own(p)), p);
  }
}

template <void (*kBody)(const Task*, const PhysicalRegions&, Context, Runtime*)>
void add(Legion::TaskID id, bool leaf = true, bool inner = false, Legion::VariantID variant = 1) {
  Legion::TaskVariantRegistrar registrar(id, kNames[id]);
  registrar.add_constraint(Legion::ProcessorConstraint(Processor::LOC_PROC));
  registrar.set_leaf(leaf);
  registrar.set_inner(inner);
  Runtime::preregister_task_variant<kBody>(registrar, kNames[id], variant);
}
template <double (*kBody)(const Task*, const PhysicalRegions&, Context, Runtime*)>
void add_valued(Legion::TaskID id) {
  Legion::TaskVariantRegistrar registrar(id, kNames[id]);
  registrar.add_constraint(Legion::ProcessorConstraint(Processor::LOC_PROC));
  registrar.set_leaf(true);
  registrar.set_concurrent(id == kMeet);
  if (id == kMeet) registrar.set_concurrent_barrier(true);
  Runtime::preregister_task_variant<double, kBody>(registrar, kNames[id], 1);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string mode = argc > 1 ? argv[1] : "plain";
  if (mode == "draw" && argc > 2) {
    std::fputs(
        groma::legion_test::draw_mapping_of_demanding(std::strtoull(argv[2], nullptr, 10)).c_str(),
        stdout);
    return 0;
  }
  if (mode == "wrapped" && argc > 3) {
    first_seed = std::strtoull(argv[2], nullptr, 10);
    last_seed = std::strtoull(argv[3], nullptr, 10);
  }
  is_hooked = mode == "hooked";
  Runtime::set_top_level_task_id(kTop);
  Runtime::register_reduction_op<Sum>(kSum);
  add<top>(kTop, false);
  add<rows>(kRows);
  add<columns>(kColumns);
  add<between>(kBetween);
  add<aligned>(kAligned);
  add<spread>(kSpread);
  add<hooked>(kHooked);
  add<listed>(kListed);
  add<packed>(kPacked);
  add<pair>(kPair);
  add<even>(kEither);
  add<odd>(kEither, true, false, 2);
  add<branch>(kBranch, false, true);
  add<grow>(kGrow);
  add<total>(kTotal);
  add_valued<pooled>(kPooled);
  add_valued<meet>(kMeet);
  add_valued<read>(kRead);
  add_valued<read>(kWhole);
  add_valued<read>(kPeek);
  add_valued<read>(kAgain);
  add_valued<read>(kGlance);
  Runtime::add_registration_callback(register_mappers);
  return Runtime::start(argc, argv);
}
