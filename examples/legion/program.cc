// Reads parameters, registers tasks, makes regions and measures times for all programs in this
// folder.

#include "program.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <map>
#include <string>

#ifdef GROMA_CUDA
#include "gpu.h"
#endif

namespace program {

using namespace Legion;

namespace {

// The flags of Legion and of its lower layers that contain no colon.
constexpr std::array kFlags = {"-logfile", "-level", "-errlevel", "-cat"};

}  // namespace

bool read_parameters(int argc, char** argv, std::initializer_list<Parameter> parameters) {
  // A flag of Legion contains a colon or is in kFlags. Words that do not begin with `-` are the
  // values of such flags.
  for (int i = 1; i < argc; ++i) {
    const char* const flag = argv[i];
    const auto is_flag = [flag](const char* other) { return std::strcmp(flag, other) == 0; };
    if (flag[0] != '-' || std::strchr(flag, ':') != nullptr) continue;
    const auto parameter =
        std::find_if(parameters.begin(), parameters.end(),
                     [flag](const Parameter& one) { return std::strcmp(flag + 1, one.name) == 0; });
    const char* const text = ++i < argc ? argv[i] : "";
    if (parameter != parameters.end()) {
      const char* const end = text + std::strlen(text);
      const auto [stop, error] = std::from_chars(text, end, *parameter->value);
      if (error != std::errc() || stop != end || *parameter->value < parameter->least ||
          *parameter->value > parameter->most) {
        std::fprintf(stderr, "%s: %s takes a number from %lld to %lld, not `%s`\n", argv[0], flag,
                     static_cast<long long>(parameter->least),
                     static_cast<long long>(parameter->most), text);
        return false;
      }
    } else if (std::none_of(kFlags.begin(), kFlags.end(), is_flag)) {
      std::fprintf(stderr, "%s: no parameter %s; there are", argv[0], flag);
      for (const Parameter& one : parameters) std::fprintf(stderr, " -%s", one.name);
      std::fprintf(stderr, ", and Legion's own (-ll:cpu 2)\n");
      return false;
    }
  }
  return true;
}

// Returns the id of the layout. The first call registers the layouts of both orders, which must
// happen before Runtime::start.
LayoutConstraintID constraint(Order order) {
  const auto make = [](const char* name, DimensionKind first, DimensionKind second) {
    LayoutConstraintRegistrar layout(FieldSpace::NO_SPACE, name);
    layout.add_constraint(OrderingConstraint({first, second, LEGION_DIM_F}, /*contiguous=*/false));
    return Runtime::preregister_layout(layout);
  };
  static const LayoutConstraintID columns = make("column_order", LEGION_DIM_X, LEGION_DIM_Y);
  static const LayoutConstraintID rows = make("row_order", LEGION_DIM_Y, LEGION_DIM_X);
  return order == Order::kColumns ? columns : rows;
}

// Returns the registrar of a task variant. `kind` is told to Legion: a leaf, inner or replicable
// task.
TaskVariantRegistrar registrar(TaskID id, const char* name, Processor::Kind processor, Kind kind) {
  TaskVariantRegistrar variant(id, name);
  variant.add_constraint(ProcessorConstraint(processor));
  variant.set_leaf(kind == Kind::kLeaf);
  variant.set_inner(kind == Kind::kInner);
  variant.set_replicable(kind == Kind::kReplicable);
  return variant;
}

LogicalRegion make_region(Context context, Runtime* runtime, const Domain& space, const char* name,
                          const std::vector<Field>& fields) {
  const FieldSpace field_space = runtime->create_field_space(context);
  FieldAllocator allocator = runtime->create_field_allocator(context, field_space);
  for (const Field& field : fields) {
    allocator.allocate_field(field.bytes, field.id);
    runtime->attach_name(field_space, field.id, field.name);
  }
  const LogicalRegion region = runtime->create_logical_region(
      context, runtime->create_index_space(context, space), field_space);
  runtime->attach_name(region, name);
  for (const Field& field : fields) {
    // Fill every field with zero bytes.
    const std::vector<char> zero(field.bytes);
    runtime->fill_field(context, region, region, field.id, zero.data(), zero.size());
  }
  return region;
}

// Legion chooses the bounds of the pieces, which are numbered from 0.
LogicalPartition cut_equal(Context context, Runtime* runtime, LogicalRegion region, coord_t parts,
                           const char* name) {
  const IndexPartition partition =
      runtime->create_equal_partition(context, region.get_index_space(),
                                      runtime->create_index_space(context, Rect<1>(0, parts - 1)));
  const LogicalPartition pieces = runtime->get_logical_partition(context, region, partition);
  runtime->attach_name(pieces, name);
  return pieces;
}

Rect<1> block(coord_t size, coord_t parts, coord_t part) {
  return {part * size / parts, (part + 1) * size / parts - 1};
}

LogicalPartition cut(Context context, Runtime* runtime, LogicalRegion region, coord_t parts,
                     const char* name, const std::function<Domain(coord_t)>& piece,
                     PartitionKind kind) {
  std::map<DomainPoint, Domain> pieces;
  for (coord_t i = 0; i < parts; ++i) pieces[Point<1>(i)] = piece(i);
  const IndexPartition partition = runtime->create_partition_by_domain(
      context, region.get_index_space(), pieces,
      runtime->create_index_space(context, Rect<1>(0, parts - 1)), /*perform_intersections=*/true,
      kind);
  const LogicalPartition made = runtime->get_logical_partition(context, region, partition);
  runtime->attach_name(made, name);
  return made;
}

namespace {

// Adds the fields to a requirement. Without access, the fields are not part of an instance.
RegionRequirement with(RegionRequirement requirement, const std::vector<FieldID>& fields) {
  for (const FieldID field : fields) {
    requirement.add_field(field, /*instance=*/requirement.privilege != LEGION_NO_ACCESS);
  }
  return requirement;
}

template <PrivilegeMode mode>
using Times =
    FieldAccessor<mode, std::int64_t, 1, coord_t, Realm::AffineAccessor<std::int64_t, 1, coord_t>>;

}  // namespace

RegionRequirement needs(LogicalPartition pieces, LogicalRegion region, PrivilegeMode privilege,
                        const std::vector<FieldID>& fields) {
  return with(RegionRequirement(pieces, /*projection=*/0, privilege, LEGION_EXCLUSIVE, region),
              fields);
}

RegionRequirement needs(LogicalRegion region, PrivilegeMode privilege,
                        const std::vector<FieldID>& fields) {
  return with(RegionRequirement(region, privilege, LEGION_EXCLUSIVE, region), fields);
}

LogicalRegion make_times(Context context, Runtime* runtime, coord_t points, const char* name) {
  return make_region(context, runtime, Rect<1>(0, points - 1), name,
                     {{kStart, "start", 8}, {kStop, "stop", 8}});
}

// `times` is the region of one point task. It has a single element, in which this function stores
// the current time.
void set_time(const PhysicalRegion& times, FieldID field) {
  const Rect<1> point = times.get_bounds<1, coord_t>().bounds;
  Times<LEGION_READ_WRITE>(times, field)[point.lo] = Realm::Clock::current_time_in_nanoseconds();
}

#ifdef GROMA_CUDA
void set_time_on_gpu(const PhysicalRegion& times, FieldID field) {
  const Rect<1> point = times.get_bounds<1, coord_t>().bounds;
  gpu::store(Realm::Clock::current_time_in_nanoseconds(),
             Times<LEGION_READ_WRITE>(times, field).ptr(point.lo));
}
#endif

// Returns the time from the earliest start to the latest stop of all points.
long long get_elapsed(const Task*, const std::vector<PhysicalRegion>& regions, Context, Runtime*) {
  const Times<LEGION_READ_ONLY> start(regions[0], kStart), stop(regions[0], kStop);
  const Rect<1> points = regions[0].get_bounds<1, coord_t>().bounds;
  std::int64_t first = start[points.lo], last = stop[points.lo];
  for (PointInRectIterator<1> at(points); at(); at++) {
    first = std::min(first, start[*at]);
    last = std::max(last, stop[*at]);
  }
  return last - first;
}

void nothing(const Task*, const std::vector<PhysicalRegion>&, Context, Runtime*) {}

void wait_for_all(Context context, Runtime* runtime) {
  runtime->issue_execution_fence(context).wait();
}

long long time_after_all(Context context, Runtime* runtime) {
  return runtime->get_current_time_in_nanoseconds(context, runtime->issue_execution_fence(context))
      .get_result<long long>();
}

void report(Context context, Runtime* runtime, long long nanoseconds, std::int64_t wrong) {
  // print_once() prints only in one of several shards.
  char text[100];
  if (wrong > 0) {
    std::snprintf(text, sizeof text, "wrong: %lld results are not those of the serial reference\n",
                  static_cast<long long>(wrong));
    runtime->print_once(context, stderr, text);
    Runtime::set_return_code(1);
    return;
  }
  std::snprintf(text, sizeof text, "elapsed %.3f ms\n", static_cast<double>(nanoseconds) * 1e-6);
  runtime->print_once(context, stdout, text);
}

}  // namespace program
