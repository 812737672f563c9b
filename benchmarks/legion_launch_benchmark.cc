// What mapping costs in a real Legion: empty tasks, launched by 10^3 to 10^5 points, with no region
// and with two (one read, one written, a piece of each for a point), under Legion's DefaultMapper
// as it comes, DefaultMapper that schedules all ready tasks at once (-dm:sched), a mapper written
// by hand for this program and a program of ours that decides the same; turn by turn in one
// process.
//
// Launches of --least (10^3) points and ten times as many, up to --most (10^5; DefaultMapper leaves
// out what would take it minutes). Prints microseconds of wall time a point, from the launch to an
// execution fence (medians of N launches, 5, after one that does not count), the share of these
// turns in which ours was the fastest of the four, and what of its time passes inside our own
// hooks.
#include <legion.h>
#include <mappers/default_mapper.h>
#include <mappers/forwarding_mapper.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <map>
#include <string_view>
#include <vector>

#include "arguments.h"
#include "base/median.h"
#include "legion/adapter.h"

namespace {

using Clock = std::chrono::steady_clock;
using Legion::Mapping::MapperContext;

constexpr Legion::TaskID kTop = 1;
constexpr Legion::TaskID kEmpty = 2;
constexpr Legion::MapperID kAsItComes = 0;
constexpr Legion::MapperID kAllAtOnce = 1;
constexpr Legion::MapperID kByHand = 2;
constexpr Legion::MapperID kOurs = 3;
constexpr Legion::MapperID kOursTimed = 4;  // the same, its hooks timed
constexpr std::array kMappers = {kAsItComes, kAllAtOnce, kByHand, kOurs, kOursTimed};
constexpr Legion::FieldID kField = 1;
std::int64_t least_points = 1'000, most_points = 100'000;
int repeats = 5;

constexpr const char* kProgram = R"(
m = Machine(CPU);
def block(Task t) { return m[0, t.ipoint[0] * m.size[1] / t.ispace[0]]; }
Task * CPU;
IndexTaskMap * block;
)";

class AllAtOnce final : public Legion::Mapping::DefaultMapper {
 public:
  AllAtOnce(Legion::Mapping::MapperRuntime* rt, Legion::Machine m, Legion::Processor p)
      : DefaultMapper(rt, m, p, "all at once") {
    max_schedule_count = 1'000'000;
  }
};

// What somebody who knows the program writes: blocks of points on the CPUs, an instance of each
// whole region made once in the system memory and used again.
class ByHand final : public Legion::Mapping::DefaultMapper {
 public:
  ByHand(Legion::Mapping::MapperRuntime* rt, Legion::Machine m, Legion::Processor p)
      : DefaultMapper(rt, m, p, "by hand"),
        memory_(Legion::Machine::MemoryQuery(m)
                    .only_kind(Legion::Memory::SYSTEM_MEM)
                    .has_affinity_to(p)
                    .has_capacity(1)
                    .first()) {}

  void slice_task(MapperContext, const Legion::Task& task, const SliceTaskInput& input,
                  SliceTaskOutput& output) override {
    const Legion::Rect<1> whole = input.domain;
    const auto cpus = static_cast<Legion::coord_t>(local_cpus.size());
    const auto points = static_cast<Legion::coord_t>(task.index_domain.get_volume());
    for (Legion::coord_t c = 0; c < cpus; ++c) {
      // Points p with p * cpus / points == c.
      const Legion::Rect<1> block((c * points + cpus - 1) / cpus,
                                  ((c + 1) * points + cpus - 1) / cpus - 1);
      const Legion::Rect<1> mine = whole.intersection(block);
      if (mine.empty()) continue;
      output.slices.emplace_back(mine, local_cpus[static_cast<std::size_t>(c)], false, false);
    }
  }
  void select_tasks_to_map(MapperContext, const SelectMappingInput& input,
                           SelectMappingOutput& output) override {
    output.map_tasks.insert(input.ready_tasks.begin(), input.ready_tasks.end());
  }
  void map_task(MapperContext context, const Legion::Task& task, const MapTaskInput&,
                MapTaskOutput& output) override {
    if (variant_ == 0) {
      std::vector<Legion::VariantID> variants;
      runtime->find_valid_variants(context, task.task_id, variants, Legion::Processor::LOC_PROC);
      variant_ = variants.front();
    }
    output.chosen_variant = variant_;
    output.target_procs = {task.target_proc};
    for (std::size_t r = 0; r < task.regions.size(); ++r) {
      output.chosen_instances[r] = {instance(context, task.regions[r].parent)};
    }
  }

 private:
  Legion::Mapping::PhysicalInstance instance(MapperContext context, Legion::LogicalRegion region) {
    auto& made = made_[region];
    if (made.exists() && runtime->acquire_instance(context, made)) return made;
    Legion::LayoutConstraintSet set;
    set.add_constraint(Legion::SpecializedConstraint(LEGION_AFFINE_SPECIALIZE))
        .add_constraint(Legion::FieldConstraint(std::vector{kField}, false))
        .add_constraint(Legion::OrderingConstraint({LEGION_DIM_X, LEGION_DIM_F}, false));
    bool created = false;
    if (!runtime->find_or_create_physical_instance(context, memory_, set, {region}, made,
                                                   created)) {
      std::fprintf(stderr, "the system memory is full (-ll:csize)\n");
      std::exit(1);
    }
    return made;
  }

  Legion::Memory memory_;
  Legion::VariantID variant_ = 0;
  std::map<Legion::LogicalRegion, Legion::Mapping::PhysicalInstance> made_;
};

// A counter for each mapper object, whose calls come one after the other.
struct HookTimes {
  std::int64_t slice = 0, select = 0, map = 0;  // ns
};
std::deque<HookTimes> hook_times;

// Adds up what passes in the hooks of a launch.
class Timed final : public Legion::Mapping::ForwardingMapper {
 public:
  Timed(Legion::Mapping::Mapper* timed, HookTimes* times)
      : ForwardingMapper(timed), times_(times) {}

  void slice_task(MapperContext context, const Legion::Task& task, const SliceTaskInput& input,
                  SliceTaskOutput& output) override {
    const Span span{&times_->slice};
    ForwardingMapper::slice_task(context, task, input, output);
  }
  void select_tasks_to_map(MapperContext context, const SelectMappingInput& input,
                           SelectMappingOutput& output) override {
    const Span span{&times_->select};
    ForwardingMapper::select_tasks_to_map(context, input, output);
  }
  void map_task(MapperContext context, const Legion::Task& task, const MapTaskInput& input,
                MapTaskOutput& output) override {
    const Span span{&times_->map};
    ForwardingMapper::map_task(context, task, input, output);
  }

 private:
  struct Span {
    std::int64_t* ns;
    Clock::time_point begin = Clock::now();
    ~Span() {
      *ns += std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - begin).count();
    }
  };
  HookTimes* times_;
};

std::atomic<std::int64_t> runs{0};
void empty(const Legion::Task*, const std::vector<Legion::PhysicalRegion>&, Legion::Context,
           Legion::Runtime*) {
  runs.fetch_add(1, std::memory_order_relaxed);
}

// Two regions of `points` elements in as many pieces; or none.
struct Data {
  Legion::LogicalRegion read, written;
  Legion::LogicalPartition read_pieces, written_pieces;
};

Data make_data(Legion::Context context, Legion::Runtime* runtime, std::int64_t points) {
  const Legion::IndexSpace space =
      runtime->create_index_space(context, Legion::Rect<1>(0, points - 1));
  const Legion::IndexPartition pieces = runtime->create_equal_partition(context, space, space);
  const Legion::FieldSpace fields = runtime->create_field_space(context);
  runtime->create_field_allocator(context, fields).allocate_field(sizeof(double), kField);
  Data data;
  const auto make = [&](Legion::LogicalRegion* region, Legion::LogicalPartition* partition) {
    *region = runtime->create_logical_region(context, space, fields);
    *partition = runtime->get_logical_partition(context, *region, pieces);
    runtime->fill_field<double>(context, *region, *region, kField, 1.0);
  };
  make(&data.read, &data.read_pieces);
  make(&data.written, &data.written_pieces);
  return data;
}

double us_a_point(Legion::Context context, Legion::Runtime* runtime, std::int64_t points,
                  Legion::MapperID mapper, const Data* data) {
  const Legion::Domain domain(Legion::Rect<1>(0, points - 1));
  Legion::IndexTaskLauncher launcher(kEmpty, domain, Legion::UntypedBuffer(), Legion::ArgumentMap(),
                                     Legion::Predicate::TRUE_PRED, false, mapper);
  if (data != nullptr) {
    launcher
        .add_region_requirement(Legion::RegionRequirement(data->read_pieces, 0, LEGION_READ_ONLY,
                                                          LEGION_EXCLUSIVE, data->read))
        .add_field(kField);
    launcher
        .add_region_requirement(Legion::RegionRequirement(
            data->written_pieces, 0, LEGION_READ_WRITE, LEGION_EXCLUSIVE, data->written))
        .add_field(kField);
  }
  runs = 0;
  const auto begin = Clock::now();
  runtime->execute_index_space(context, launcher);
  runtime->issue_execution_fence(context).wait();
  const std::chrono::duration<double, std::micro> passed = Clock::now() - begin;
  if (runs != points) {
    std::fprintf(stderr, "%lld of %lld points ran\n", static_cast<long long>(runs.load()),
                 static_cast<long long>(points));
    std::exit(1);
  }
  return passed.count() / static_cast<double>(points);
}

double median(const std::vector<double>& values) {
  return values.empty() ? 0 : groma::median(values);
}

// DefaultMapper as it comes looks at all ready tasks for every eight that it maps; with regions a
// point takes ever longer even where all are mapped at once.
bool takes_minutes(Legion::MapperID mapper, std::int64_t points, bool regions) {
  return points > 10'000 && (mapper == kAsItComes || (mapper == kAllAtOnce && regions));
}

void compare(Legion::Context context, Legion::Runtime* runtime, std::int64_t points, bool regions) {
  std::array<std::vector<double>, kMappers.size()> times;
  std::array<std::vector<double>, 3> hooks;  // slice, select, map
  std::array<Data, kMappers.size()> data;    // its own: nobody finds another's instances
  if (regions) {
    for (Data& one : data) one = make_data(context, runtime, points);
  }
  int first = 0;
  for (int repeat = -1; repeat < repeats; ++repeat) {
    double others = HUGE_VAL;
    std::fill(hook_times.begin(), hook_times.end(), HookTimes());
    for (const Legion::MapperID mapper : kMappers) {
      if (takes_minutes(mapper, points, regions)) continue;
      const double passed =
          us_a_point(context, runtime, points, mapper, regions ? &data[mapper] : nullptr);
      if (repeat < 0) continue;  // the first launch is slower
      times[mapper].push_back(passed);
      if (mapper < kOurs) others = std::min(others, passed);
      if (mapper == kOurs && passed <= others) ++first;
    }
    HookTimes all;
    for (const HookTimes& one : hook_times) {
      all.slice += one.slice;
      all.select += one.select;
      all.map += one.map;
    }
    if (repeat < 0) continue;
    const double us = 1e-3 / static_cast<double>(points);
    hooks[0].push_back(us * static_cast<double>(all.slice));
    hooks[1].push_back(us * static_cast<double>(all.select));
    hooks[2].push_back(us * static_cast<double>(all.map));
  }
  std::printf("%8lld %7d", static_cast<long long>(points), regions ? 2 : 0);
  for (const Legion::MapperID mapper : {kAsItComes, kAllAtOnce, kByHand, kOurs}) {
    const std::vector<double>& one = times[mapper];
    if (one.empty()) {
      std::printf(" %12s", "-");
    } else {
      std::printf(" %9.2f us", median(one));
    }
  }
  std::printf(" %3d of %2d", first, repeats);
  for (const std::vector<double>& one : hooks) std::printf(" %7.3f us", median(one));
  std::printf("\n");
  std::fflush(stdout);
}

void top(const Legion::Task*, const std::vector<Legion::PhysicalRegion>&, Legion::Context context,
         Legion::Runtime* runtime) {
  std::printf("%8s %7s %12s %12s %12s %12s %9s %10s %10s %10s\n", "points", "regions", "default",
              "default, all", "by hand", "groma", "fastest", "slice", "select", "map");
  for (const bool regions : {false, true}) {
    for (std::int64_t points = std::min(least_points, most_points); points <= most_points;
         points *= 10) {
      compare(context, runtime, points, regions);
    }
  }
}

void register_mappers(Legion::Machine machine, Legion::Runtime* runtime,
                      const std::set<Legion::Processor>& local) {
  static const auto registration = [] {
    const groma::Source source("blocks", kProgram);
    groma::Diagnostics diags(source);
    auto made = std::make_shared<groma::legion::Registration>();
    made->factory = groma::legion::factory_of(groma::compile(source, diags), nullptr);
    return made;
  }();
  for (Legion::Processor p : local) {
    Legion::Mapping::MapperRuntime* hands = runtime->get_mapper_runtime();
    runtime->add_mapper(kAllAtOnce, new AllAtOnce(hands, machine, p), p);
    runtime->add_mapper(kByHand, new ByHand(hands, machine, p), p);
    auto* ours = groma::legion::make_adapter(registration, runtime, machine, p);
    if (ours == nullptr) continue;
    runtime->add_mapper(kOurs, ours, p);
    hook_times.emplace_back();
    runtime->add_mapper(kOursTimed,
                        new Timed(groma::legion::make_adapter(registration, runtime, machine, p),
                                  &hook_times.back()),
                        p);
  }
}

}  // namespace

namespace {

constexpr std::string_view kUsage =
    "groma_legion_launch_benchmark [--least POINTS] [--most POINTS] [--repeats N] [FLAGS]\n"
    "  --least, --most  launches of so many points, and of ten times as many up to so many; 1000 "
    "and\n"
    "                   100000 unless given\n"
    "  --repeats        launches of each, whose median counts; 5 unless given\n"
    "  FLAGS            Legion's: -ll:cpu 2 -ll:csize 3000 -logfile stderr\n";

// Options with two hyphens are ours, those with one are Legion's, with at most one value.
void read_arguments(int argc, char** argv) {
  groma::bench::help_if_asked(argc, argv, kUsage);
  for (int i = 1; i < argc; ++i) {
    const std::string option = argv[i];
    const bool is_value = i > 1 && std::string_view(argv[i - 1]).starts_with('-');
    if (!option.starts_with('-') && !is_value) {
      groma::bench::refuse("`" + option + "` belongs to no option", kUsage);
    }
    if (!option.starts_with("--")) continue;
    const auto number = [&] {
      return groma::bench::number_of(option, i + 1 < argc ? argv[++i] : "", 1, kUsage);
    };
    if (option == "--least") {
      least_points = number();
    } else if (option == "--most") {
      most_points = number();
    } else if (option == "--repeats") {
      repeats = static_cast<int>(number());
    } else {
      groma::bench::refuse("there is no option `" + option + "`", kUsage);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  using Legion::Runtime;
  read_arguments(argc, argv);
  const auto add = [](Legion::TaskID id, const char* name, auto preregister) {
    Legion::TaskVariantRegistrar registrar(id, name);
    registrar.add_constraint(Legion::ProcessorConstraint(Legion::Processor::LOC_PROC));
    registrar.set_leaf(id == kEmpty);
    preregister(registrar, name);
  };
  add(kTop, "top", [](auto& registrar, const char* name) {
    Runtime::preregister_task_variant<top>(registrar, name);
  });
  add(kEmpty, "empty", [](auto& registrar, const char* name) {
    Runtime::preregister_task_variant<empty>(registrar, name);
  });
  Runtime::set_top_level_task_id(kTop);
  Runtime::add_registration_callback(register_mappers);
  return Runtime::start(argc, argv);
}
