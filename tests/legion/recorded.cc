// A Legion program with what is not usual, to be recorded:
//
//   recorded [many N | unnamed | waits | computes | beyond | subregions | kinds | shards |
//             predicates | wave | sparse] [FLAGS]
//
// Projection functors that turn round by an argument of the launch's, colours that begin at 3, a
// partition of pieces, one with holes, single launches in a loop, tasks that launch, a must epoch,
// a copy, launches of one task with other privileges. With `many` N launches, each a trace; with
// `unnamed` no region has a name. With `waits` it waits for each of its launches, with `computes`
// it works between them, 30 ms each. With `beyond` it launches more
// tasks, and in more ways, than are kept, over a domain and on a region that are too large. With
// `subregions` the pieces of a partition are cut by partitions of one name and by ones of several.
// With `kinds` the runs of one task launch different things. With `shards` the top-level task can
// be replicated. With `predicates` every second launch has a predicate that is false. With `wave`
// one diagonal of tiles after the other is launched, by a projection functor; with `sparse` over
// domains with holes.
#include <legion.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

namespace {

using Legion::Context;
using Legion::Domain;
using Legion::DomainPoint;
using Legion::IndexTaskLauncher;
using Legion::LogicalPartition;
using Legion::LogicalRegion;
using Legion::Point;
using Legion::Rect;
using Legion::RegionRequirement;
using Legion::Runtime;
using Legion::TaskLauncher;
using Legion::UntypedBuffer;

enum : Legion::TaskID { kTop = 1, kWork, kTurn, kOuter, kInner, kHoles, kTogether, kLong, kOwn };
constexpr Legion::TaskID kMore = 1000;  // and those after it
constexpr int kTasks = 4100, kRegions = 17;
constexpr Legion::FieldID kX = 10, kY = 11;
constexpr Legion::ProjectionID kNext = 5, kDiagonal = 6;
constexpr int kPieces = 4;
std::string mode;
int count = 0;

// The piece after the point's, by as many as the launch's argument says.
class Next final : public Legion::ProjectionFunctor {
 public:
  using Legion::ProjectionFunctor::project;
  LogicalRegion project(const Legion::Mappable* mappable, unsigned, LogicalPartition above,
                        const DomainPoint& point) override {
    const int by = *static_cast<const int*>(mappable->as_task()->args);
    return runtime->get_logical_subregion_by_color(above, DomainPoint((point[0] + by) % kPieces));
  }
  LogicalRegion project(const Legion::Mappable* mappable, unsigned index, LogicalRegion above,
                        const DomainPoint& point) override {
    (void)mappable;
    (void)index;
    (void)point;
    return above;
  }
  bool is_functional() const override { return false; }
  bool is_exclusive() const override { return true; }
  unsigned get_depth() const override { return 0; }
};

// The tile of a point of a diagonal, whose number is the launch's argument.
class Diagonal final : public Legion::ProjectionFunctor {
 public:
  using Legion::ProjectionFunctor::project;
  LogicalRegion project(const Legion::Mappable* mappable, unsigned, LogicalPartition above,
                        const DomainPoint& point) override {
    const int diagonal = *static_cast<const int*>(mappable->as_task()->args);
    const Point<2> tile(point[0], diagonal - point[0]);
    return runtime->get_logical_subregion_by_color(above, DomainPoint(tile));
  }
  bool is_functional() const override { return false; }
  bool is_exclusive() const override { return true; }
  unsigned get_depth() const override { return 0; }
};

struct Data {
  LogicalRegion region, other;
  LogicalPartition pieces, shifted, finer, holes;
};

void name(Runtime* runtime, LogicalRegion region, const char* is) {
  if (mode != "unnamed") runtime->attach_name(region, is);
}
void name(Runtime* runtime, LogicalPartition partition, const char* is) {
  if (mode != "unnamed") runtime->attach_name(partition, is);
}

Data make_data(Context context, Runtime* runtime) {
  Data data;
  const auto space = runtime->create_index_space(context, Rect<1>(0, 99));
  const auto fields = runtime->create_field_space(context);
  auto allocator = runtime->create_field_allocator(context, fields);
  allocator.allocate_field(sizeof(double), kX);
  allocator.allocate_field(sizeof(int), kY);
  runtime->attach_name(fields, kX, "x");
  data.region = runtime->create_logical_region(context, space, fields);
  data.other = runtime->create_logical_region(context, space, fields);
  name(runtime, data.region, "cells");
  name(runtime, data.other, "cells");
  const auto colors = runtime->create_index_space(context, Rect<1>(0, kPieces - 1));
  const auto cut = runtime->create_equal_partition(context, space, colors);
  data.pieces = runtime->get_logical_partition(context, data.region, cut);
  name(runtime, data.pieces, "pieces");
  // Colours 3 to 6.
  const auto later = runtime->create_index_space(context, Rect<1>(3, 3 + kPieces - 1));
  data.shifted = runtime->get_logical_partition(
      context, data.region, runtime->create_equal_partition(context, space, later));
  name(runtime, data.shifted, "shifted");
  // Each piece in two.
  const auto halves = runtime->create_index_space(context, Rect<1>(0, 1));
  for (int piece = 0; piece < kPieces; ++piece) {
    const auto of = runtime->get_index_subspace(context, cut, DomainPoint(piece));
    const auto finer = runtime->create_equal_partition(context, of, halves, 1, 77);
    const auto region =
        runtime->get_logical_subregion_by_color(context, data.pieces, DomainPoint(piece));
    const auto parts = runtime->get_logical_partition(context, region, finer);
    name(runtime, parts, "halves");
    if (piece == 0) data.finer = parts;
  }
  std::map<DomainPoint, Legion::IndexSpace> sets;
  for (int piece = 0; piece < kPieces; ++piece) {
    std::vector<DomainPoint> points;
    for (int at = piece; at < 100; at += kPieces) points.emplace_back(at);
    sets[DomainPoint(piece)] = runtime->create_index_space(context, points);
  }
  const auto holes =
      runtime->create_pending_partition(context, space, colors, LEGION_DISJOINT_COMPLETE_KIND);
  for (int piece = 0; piece < kPieces; ++piece) {
    runtime->create_index_space_union(context, holes, DomainPoint(piece),
                                      std::vector<Legion::IndexSpace>{sets[DomainPoint(piece)]});
  }
  data.holes = runtime->get_logical_partition(context, data.region, holes);
  name(runtime, data.holes, "holes");
  return data;
}

IndexTaskLauncher over(Legion::TaskID task, int first = 0) {
  return IndexTaskLauncher(task, Domain(Rect<1>(first, first + kPieces - 1)), UntypedBuffer(),
                           Legion::ArgumentMap());
}

void work_a_while() {
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(30);
  while (std::chrono::steady_clock::now() < end) {
  }
}

void wait_or_compute(Context context, Runtime* runtime) {
  for (int i = 0; i < 6; ++i) {
    TaskLauncher launcher(mode == "waits" ? kLong : kWork, UntypedBuffer());
    const Legion::Future done = runtime->execute_task(context, launcher);
    if (mode == "waits") done.get_void_result();
    if (mode == "computes") work_a_while();
  }
}

LogicalRegion region_of(std::int64_t size, Legion::FieldSpace fields, Context context,
                        Runtime* runtime) {
  const auto space = runtime->create_index_space(context, Rect<1>(0, size - 1));
  return runtime->create_logical_region(context, space, fields);
}

// Nothing is mapped for it.
void launch_on(LogicalRegion region, Legion::TaskID task, Context context, Runtime* runtime) {
  TaskLauncher launcher(task, UntypedBuffer());
  launcher.add_region_requirement(
      RegionRequirement(region, LEGION_NO_ACCESS, LEGION_EXCLUSIVE, region).add_field(kX));
  runtime->execute_task(context, launcher);
}

void beyond(Context context, Runtime* runtime) {
  constexpr std::int64_t kLarge = std::int64_t{1} << 60;
  const auto fields = runtime->create_field_space(context);
  runtime->create_field_allocator(context, fields).allocate_field(sizeof(double), kX);
  launch_on(region_of(kLarge, fields, context, runtime), kWork, context, runtime);
  IndexTaskLauncher far(kWork, Domain(Rect<1>(kLarge, kLarge + 3)), UntypedBuffer(),
                        Legion::ArgumentMap());
  runtime->execute_index_space(context, far);
  for (int i = 0; i < kRegions; ++i) {
    const LogicalRegion region = region_of(4, fields, context, runtime);
    for (int task = 0; task < kTasks; ++task) {
      launch_on(region, kMore + static_cast<Legion::TaskID>(task), context, runtime);
    }
    runtime->issue_execution_fence(context).wait();
  }
}

RegionRequirement on(LogicalPartition part, LogicalRegion region, Legion::PrivilegeMode privilege,
                     Legion::ProjectionID projection = 0) {
  return RegionRequirement(part, projection, privilege, LEGION_EXCLUSIVE, region).add_field(kX);
}

// As Regent's circuit has them: all points are private or shared; private ones are cut by pieces,
// shared ones by pieces and once more as ghosts. All of these partitions have colour 0 or 1 in the
// subregion that they cut. `halves` cuts both subregions.
void subregions(Context context, Runtime* runtime) {
  const Data data = make_data(context, runtime);
  const auto space = data.region.get_index_space();
  const auto two = runtime->create_index_space(context, Rect<1>(0, 1));
  const auto privacy = runtime->create_equal_partition(context, space, two);
  const auto all = runtime->get_logical_partition(context, data.region, privacy);
  name(runtime, all, "privacy");
  const auto cut = [&](int of, Legion::Color color, const char* called) {
    const auto part = runtime->get_index_subspace(context, privacy, DomainPoint(of));
    const auto pieces = runtime->create_equal_partition(context, part, two, 1, color);
    const auto made = runtime->get_logical_partition(
        context, runtime->get_logical_subregion_by_color(context, all, DomainPoint(of)), pieces);
    name(runtime, made, called);
    return made;
  };
  const LogicalPartition parts[] = {cut(0, 0, "private"), cut(1, 0, "shared"), cut(1, 1, "ghost"),
                                    cut(0, 2, "both"), cut(1, 2, "both")};
  for (const LogicalPartition& part : parts) {
    IndexTaskLauncher work(kWork, Domain(Rect<1>(0, 1)), UntypedBuffer(), Legion::ArgumentMap());
    work.add_region_requirement(on(part, data.region, LEGION_READ_WRITE));
    runtime->execute_index_space(context, work);
  }
}

// Each run of `own` launches as often as its piece's number says, and that of the other region
// launches something else. At last one of each in a must epoch.
void kinds(Context context, Runtime* runtime) {
  const Data data = make_data(context, runtime);
  static constexpr int kNumbers[] = {0, 1, 2, 3, kPieces};
  const auto launcher = [&](const int& piece) {
    const bool is_other = piece == kPieces;
    const LogicalRegion region = is_other ? data.other
                                          : runtime->get_logical_subregion_by_color(
                                                context, data.pieces, DomainPoint(piece));
    TaskLauncher made(kOwn, UntypedBuffer(&piece, sizeof piece));
    made.add_region_requirement(RegionRequirement(region, LEGION_READ_WRITE, LEGION_EXCLUSIVE,
                                                  is_other ? data.other : data.region)
                                    .add_field(kX));
    return made;
  };
  for (const int& piece : kNumbers) runtime->execute_task(context, launcher(piece));
  Legion::MustEpochLauncher epoch;
  epoch.add_single_task(DomainPoint(0), launcher(kNumbers[1]));
  epoch.add_single_task(DomainPoint(1), launcher(kNumbers[kPieces]));
  epoch.launch_domain = Domain(Rect<1>(0, 1));
  runtime->execute_must_epoch(context, epoch);
}

// Nobody waits for a single task's future, which this Legion does not take in shards of a process.
void shards(Context context, Runtime* runtime) {
  const Data data = make_data(context, runtime);
  IndexTaskLauncher fill = over(kWork);
  fill.add_region_requirement(on(data.pieces, data.region, LEGION_WRITE_DISCARD));
  runtime->execute_index_space(context, fill);
  for (int step = 0; step < 3; ++step) {
    IndexTaskLauncher turn(kTurn, Domain(Rect<1>(0, kPieces - 1)),
                           UntypedBuffer(&step, sizeof step), Legion::ArgumentMap());
    turn.add_region_requirement(on(data.pieces, data.region, LEGION_READ_ONLY, kNext));
    runtime->execute_index_space(context, turn);
  }
}

// Of six tasks and two launches of four points every second one runs.
void predicates(Context context, Runtime* runtime) {
  for (int i = 0; i < 6; ++i) {
    const auto runs = runtime->create_predicate(context, Legion::Future::from_value(i % 2 == 0));
    TaskLauncher work(kWork, UntypedBuffer(), runs);
    runtime->execute_task(context, work);
    if (i >= 2) continue;
    IndexTaskLauncher turn(kInner, Domain(Rect<1>(0, kPieces - 1)), UntypedBuffer(),
                           Legion::ArgumentMap(), runs);
    runtime->execute_index_space(context, turn);
  }
}

// Launches the diagonals of a square of tiles. The first and the last one have one tile each.
void wave(Context context, Runtime* runtime) {
  const auto square = [&](int edge) {
    return runtime->create_index_space(context,
                                       Rect<2>(Point<2>(0, 0), Point<2>(edge - 1, edge - 1)));
  };
  const auto fields = runtime->create_field_space(context);
  runtime->create_field_allocator(context, fields).allocate_field(sizeof(double), kX);
  const auto space = square(16);
  const LogicalRegion matrix = runtime->create_logical_region(context, space, fields);
  name(runtime, matrix, "matrix");
  const auto cut = runtime->create_partition_by_blockify(context, space, Point<2>(4, 4));
  const auto tiles = runtime->get_logical_partition(context, matrix, cut);
  name(runtime, tiles, "tiles");
  for (int diagonal = 0; diagonal < 2 * kPieces - 1; ++diagonal) {
    const int first = std::max(0, diagonal - kPieces + 1), last = std::min(diagonal, kPieces - 1);
    Domain domain = Rect<1>(first, last);
    if (mode == "sparse") {
      std::vector<DomainPoint> points;
      for (int i = first; i <= last; ++i) points.emplace_back(Point<2>(i, diagonal - i));
      domain =
          runtime->get_index_space_domain(context, runtime->create_index_space(context, points));
    }
    IndexTaskLauncher work(kWork, domain, UntypedBuffer(&diagonal, sizeof diagonal),
                           Legion::ArgumentMap());
    work.add_region_requirement(
        on(tiles, matrix, LEGION_READ_WRITE, mode == "sparse" ? 0 : kDiagonal));
    runtime->execute_index_space(context, work);
  }
}

void top(const Legion::Task*, const std::vector<Legion::PhysicalRegion>&, Context context,
         Runtime* runtime) {
  if (mode == "predicates") return predicates(context, runtime);
  if (mode == "subregions") return subregions(context, runtime);
  if (mode == "wave" || mode == "sparse") return wave(context, runtime);
  if (mode == "kinds") return kinds(context, runtime);
  if (mode == "shards") return shards(context, runtime);
  if (mode == "waits" || mode == "computes") return wait_or_compute(context, runtime);
  if (mode == "beyond") return beyond(context, runtime);
  const Data data = make_data(context, runtime);
  const auto on = [&](LogicalPartition part, Legion::PrivilegeMode mode_of,
                      Legion::ProjectionID projection = 0) {
    return ::on(part, data.region, mode_of, projection);
  };
  IndexTaskLauncher fill = over(kWork);
  fill.add_region_requirement(on(data.pieces, LEGION_WRITE_DISCARD));
  runtime->execute_index_space(context, fill);
  if (mode == "many") {
    for (int i = 0; i < count; ++i) {
      int by = 1;
      runtime->begin_trace(context, 1);
      IndexTaskLauncher turn = over(kTurn);
      turn.global_arg = UntypedBuffer(&by, sizeof by);
      turn.add_region_requirement(on(data.pieces, LEGION_READ_ONLY, kNext));
      runtime->execute_index_space(context, turn);
      runtime->end_trace(context, 1);
    }
    return;
  }
  for (int step = 0; step < 8; ++step) {
    IndexTaskLauncher turn(kTurn, Domain(Rect<1>(0, kPieces - 1)),
                           UntypedBuffer(&step, sizeof step), Legion::ArgumentMap());
    turn.add_region_requirement(on(data.pieces, LEGION_READ_ONLY, kNext));
    runtime->execute_index_space(context, turn);
    IndexTaskLauncher work = over(kWork, 3);
    work.add_region_requirement(on(data.shifted, LEGION_READ_WRITE));
    runtime->execute_index_space(context, work);
  }
  for (int piece = 0; piece < kPieces; ++piece) {
    const LogicalRegion own =
        runtime->get_logical_subregion_by_color(context, data.pieces, DomainPoint(piece));
    TaskLauncher outer(kOuter, UntypedBuffer());
    outer.add_region_requirement(
        RegionRequirement(own, LEGION_READ_WRITE, LEGION_EXCLUSIVE, data.region).add_field(kX));
    runtime->execute_task(context, outer);
  }
  TaskLauncher other(kWork, UntypedBuffer());
  other.add_region_requirement(
      RegionRequirement(data.other, LEGION_WRITE_DISCARD, LEGION_EXCLUSIVE, data.other)
          .add_field(kX)
          .add_field(kY));
  runtime->execute_task(context, other);
  IndexTaskLauncher holes = over(kHoles);
  holes.add_region_requirement(on(data.holes, LEGION_READ_ONLY));
  runtime->execute_index_space(context, holes);

  Legion::MustEpochLauncher epoch;
  IndexTaskLauncher together(kTogether, Domain(Rect<1>(0, 1)), UntypedBuffer(),
                             Legion::ArgumentMap());
  int by = 2;
  together.global_arg = UntypedBuffer(&by, sizeof by);
  together.add_region_requirement(on(data.pieces, LEGION_READ_ONLY, kNext));
  epoch.add_index_task(together);
  runtime->execute_must_epoch(context, epoch);

  Legion::CopyLauncher copy;
  copy.add_copy_requirements(
      RegionRequirement(data.region, LEGION_READ_ONLY, LEGION_EXCLUSIVE, data.region).add_field(kX),
      RegionRequirement(data.other, LEGION_WRITE_DISCARD, LEGION_EXCLUSIVE, data.other)
          .add_field(kX));
  runtime->issue_copy_operation(context, copy);
}

// Works on the halves of its own piece.
void outer(const Legion::Task* task, const std::vector<Legion::PhysicalRegion>&, Context context,
           Runtime* runtime) {
  const LogicalRegion own = task->regions[0].region;
  const auto finer = runtime->get_index_partition(context, own.get_index_space(), 77);
  const auto halves = runtime->get_logical_partition(context, own, finer);
  IndexTaskLauncher inner(kInner, Domain(Rect<1>(0, 1)), UntypedBuffer(), Legion::ArgumentMap());
  inner.add_region_requirement(
      RegionRequirement(halves, 0, LEGION_READ_WRITE, LEGION_EXCLUSIVE, own).add_field(kX));
  runtime->execute_index_space(context, inner);
}

// As often as its argument says; of the other region something else.
void own(const Legion::Task* task, const std::vector<Legion::PhysicalRegion>&, Context context,
         Runtime* runtime) {
  const int piece = *static_cast<const int*>(task->args);
  const LogicalRegion own = task->regions[0].region;
  for (int i = 0; i < piece; ++i) {
    TaskLauncher launcher(piece == kPieces ? kHoles : kInner, UntypedBuffer());
    launcher.add_region_requirement(
        RegionRequirement(own, LEGION_READ_WRITE, LEGION_EXCLUSIVE, own).add_field(kX));
    runtime->execute_task(context, launcher);
  }
}

void nothing(const Legion::Task*, const std::vector<Legion::PhysicalRegion>&, Context, Runtime*) {}
void slow(const Legion::Task*, const std::vector<Legion::PhysicalRegion>&, Context, Runtime*) {
  work_a_while();
}

template <void (*body)(const Legion::Task*, const std::vector<Legion::PhysicalRegion>&, Context,
                       Runtime*)>
void add(Legion::TaskID id, const char* task, bool leaf, bool replicable = false) {
  Legion::TaskVariantRegistrar registrar(id, task);
  registrar.add_constraint(Legion::ProcessorConstraint(Legion::Processor::LOC_PROC));
  registrar.set_leaf(leaf);
  registrar.set_replicable(replicable);
  Runtime::preregister_task_variant<body>(registrar, task);
}

}  // namespace

int main(int argc, char** argv) {
  mode = argc > 1 ? argv[1] : "";
  if (mode == "many" && argc > 2) count = std::atoi(argv[2]);
  add<top>(kTop, "top", false, mode == "shards");
  add<own>(kOwn, "own", false);
  add<outer>(kOuter, "outer", false);
  add<nothing>(kWork, "work", true);
  add<nothing>(kTurn, "turn", true);
  add<nothing>(kInner, "inner", true);
  add<nothing>(kHoles, "holes", true);
  add<nothing>(kTogether, "together", true);
  add<slow>(kLong, "long", true);
  for (int i = 0; mode == "beyond" && i < kTasks; ++i) {
    add<nothing>(kMore + static_cast<Legion::TaskID>(i), ("more" + std::to_string(i)).c_str(),
                 true);
  }
  Runtime::preregister_projection_functor(kNext, new Next());
  Runtime::preregister_projection_functor(kDiagonal, new Diagonal());
  Runtime::set_top_level_task_id(kTop);
  return Runtime::start(argc, argv);
}
