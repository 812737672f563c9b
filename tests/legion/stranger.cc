// A Legion program that knows nothing of Groma:
//
//   stranger MODE [FLAGS]   MODE: plain, own, shared, beside, concurrent, defers, asks, data,
//   logged,
//                           hang, talk, crash, abort
//
// It launches `kept` and `moved`, 4 points each, and says on which CPU each ran. With `own` each
// processor has a mapper of the program's, with `shared` all have one, with `beside` it is
// registered under an id of its own, with `concurrent` Legion may call it at once, and it locks
// itself: it puts all points on the last CPU. What the program and its
// mapper tell each other is said, too. With `asks` it is as with `own`, and has Legion measure the
// points of `kept`. With `data` two points of `write` and two of `read` have pieces of a region,
// `cells`; with `logged`, too, where Legion's LoggingWrapper is around the program's mapper. With
// `defers` the program's mapper defers `kept` until it is asked for a tunable, and each point of
// `moved` waits for `kept`. With `outputs` four points of `make` each make a part of a region.
#include <legion.h>
#include <mappers/default_mapper.h>
#include <mappers/logging_wrapper.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <set>
#include <string>
#include <vector>

namespace {

using Legion::Processor;
using Legion::Runtime;
using Legion::Mapping::DefaultMapper;
using Legion::Mapping::MapperContext;

enum : Legion::TaskID { kTop = 1, kKept, kMoved, kWrite, kRead, kMake };
constexpr Legion::FieldID kField = 10;
constexpr Legion::MapperID kBeside = 7;
constexpr Legion::TunableID kTunable = 77;
constexpr std::chrono::milliseconds kWork(200);
std::string mode;
Legion::MapperID mapper_id = 0;

std::vector<Processor> cpus() {
  Legion::Machine::ProcessorQuery query(Legion::Machine::get_machine());
  query.only_kind(Processor::LOC_PROC);
  return {query.begin(), query.end()};
}

class OwnMapper final : public DefaultMapper {
 public:
  using DefaultMapper::DefaultMapper;

  MapperSyncModel get_mapper_sync_model() const override {
    return mode == "concurrent" ? CONCURRENT_MAPPER_MODEL : DefaultMapper::get_mapper_sync_model();
  }
  void select_task_options(MapperContext context, const Legion::Task& task,
                           TaskOptions& output) override {
    if (mode == "concurrent") runtime->lock_mapper(context);
    DefaultMapper::select_task_options(context, task, output);
    if (mode == "concurrent") runtime->unlock_mapper(context);
  }
  void slice_task(MapperContext, const Legion::Task& task, const SliceTaskInput& input,
                  SliceTaskOutput& output) override {
    std::fprintf(stderr, "own mapper: slices %s\n", task.get_task_name());
    output.slices.emplace_back(input.domain, cpus().back(), false, false);
  }
  void map_task(MapperContext context, const Legion::Task& task, const MapTaskInput& input,
                MapTaskOutput& output) override {
    ++mapped;
    DefaultMapper::map_task(context, task, input, output);
    output.target_procs = {task.target_proc};
    // The other CPU, on which no point of `moved` waits.
    if (mode == "defers" && task.task_id == kKept) output.target_procs = {cpus().front()};
    if (mode != "asks" || task.task_id != kKept) return;
    using namespace Legion::Mapping::ProfilingMeasurements;
    output.task_prof_requests.add_measurement<OperationStatus>();
  }
  using DefaultMapper::report_profiling;
  void report_profiling(MapperContext, const Legion::Task& task,
                        const TaskProfilingInfo& input) override {
    Legion::Mapping::ProfilingMeasurements::OperationStatus status;
    const bool measured = input.profiling_responses.get_measurement(status);
    std::fprintf(stderr, "own mapper: hears of %s%s\n", task.get_task_name(),
                 measured ? "" : ", not what it asked for");
  }
  void select_tasks_to_map(MapperContext context, const SelectMappingInput& input,
                           SelectMappingOutput& output) override {
    if (mode != "defers" || is_open) {
      return DefaultMapper::select_tasks_to_map(context, input, output);
    }
    for (const Legion::Task* task : input.ready_tasks) {
      if (task->task_id != kKept) output.map_tasks.insert(task);
    }
    if (!opens.exists()) opens = runtime->create_mapper_event(context);
    if (output.map_tasks.empty()) output.deferral_event = opens;
  }
  void map_inline(MapperContext context, const Legion::InlineMapping& operation,
                  const MapInlineInput& input, MapInlineOutput& output) override {
    std::fprintf(stderr, "own mapper: maps inline\n");
    DefaultMapper::map_inline(context, operation, input, output);
  }
  void select_tunable_value(MapperContext context, const Legion::Task& task,
                            const SelectTunableInput& input, SelectTunableOutput& output) override {
    if (input.tunable_id != kTunable) {
      return DefaultMapper::select_tunable_value(context, task, input, output);
    }
    if (mode == "defers") {
      is_open = true;
      runtime->trigger_mapper_event(context, opens);
    }
    output.value = std::malloc(sizeof(int));
    output.size = sizeof(int);
    *static_cast<int*>(output.value) = 42;
  }

  std::atomic<int> mapped{0};

 private:
  // All mapper objects share these; Legion calls one object at a time.
  static inline std::atomic<bool> is_open = false;
  static inline Legion::Mapping::MapperEvent opens;
};

std::atomic<int> kept_ran = 0, moved_began = 0;

int where(const Legion::Task*, const std::vector<Legion::PhysicalRegion>&, Legion::Context context,
          Runtime* runtime) {
  const std::vector<Processor> all = cpus();
  const Processor here = runtime->get_executing_processor(context);
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i] == here) return static_cast<int>(i);
  }
  return -1;
}

template <typename Done>
bool wait_until(const Done& done) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (!done() && std::chrono::steady_clock::now() < end) {
  }
  return done();
}

int keep(const Legion::Task* task, const std::vector<Legion::PhysicalRegion>& regions,
         Legion::Context context, Runtime* runtime) {
  ++kept_ran;
  return where(task, regions, context, runtime);
}
// 1 if `kept` ran meanwhile.
int move(const Legion::Task* task, const std::vector<Legion::PhysicalRegion>& regions,
         Legion::Context context, Runtime* runtime) {
  if (mode != "defers") return where(task, regions, context, runtime);
  ++moved_began;
  return wait_until([] { return kept_ran == 4; }) ? 1 : 0;
}

Legion::FutureMap begin(Legion::TaskID task, Legion::Context context, Runtime* runtime) {
  Legion::IndexTaskLauncher launcher(task, Legion::Domain(Legion::Rect<1>(0, 3)),
                                     Legion::UntypedBuffer(), Legion::ArgumentMap());
  launcher.map_id = mapper_id;
  return runtime->execute_index_space(context, launcher);
}

void say(const char* name, const Legion::FutureMap& found) {
  std::printf("%s:", name);
  for (int point = 0; point < 4; ++point) {
    std::printf(" %d", found.get_result<int>(Legion::DomainPoint(point)));
  }
  std::printf("\n");
}

void launch(Legion::TaskID task, const char* name, Legion::Context context, Runtime* runtime) {
  say(name, begin(task, context, runtime));
}

// Two points of `moved` are held back by a limit of one, and `kept` by the program's mapper, when
// that is asked for the tunable.
void defer(Legion::Context context, Runtime* runtime) {
  const Legion::FutureMap moved = begin(kMoved, context, runtime);
  const Legion::FutureMap kept = begin(kKept, context, runtime);
  wait_until([] { return moved_began > 0; });
  Legion::TunableLauncher tunable(kTunable, mapper_id);
  runtime->select_tunable_value(context, tunable).get_void_result();
  say("kept", kept);
  say("moved", moved);
}

void touch(const Legion::Task*, const std::vector<Legion::PhysicalRegion>&, Legion::Context,
           Runtime*) {}

// On two pieces of the region.
void launch_data(Legion::LogicalRegion region, Legion::Context context, Runtime* runtime) {
  runtime->attach_name(region, "cells");
  const auto colors = runtime->create_index_space(context, Legion::Rect<1>(0, 1));
  const auto cut = runtime->create_equal_partition(context, region.get_index_space(), colors);
  const auto pieces = runtime->get_logical_partition(context, region, cut);
  for (const auto& [task, privilege] :
       {std::pair(kWrite, LEGION_WRITE_DISCARD), std::pair(kRead, LEGION_READ_ONLY)}) {
    Legion::IndexTaskLauncher launcher(task, Legion::Domain(Legion::Rect<1>(0, 1)),
                                       Legion::UntypedBuffer(), Legion::ArgumentMap());
    launcher.add_region_requirement(
        Legion::RegionRequirement(pieces, 0, privilege, LEGION_EXCLUSIVE, region)
            .add_field(kField));
    runtime->execute_index_space(context, launcher).wait_all_results();
  }
}

void make(const Legion::Task* task, const std::vector<Legion::PhysicalRegion>&,
          Legion::Context context, Runtime* runtime) {
  std::vector<Legion::OutputRegion> outputs;
  runtime->get_output_regions(context, outputs);
  const auto value = static_cast<double>(task->index_point[0]);
  outputs[0].create_buffer<double, 1>(Legion::Point<1>(3), kField, &value, true);
}

void launch_outputs(Legion::FieldSpace fields, Legion::Context context, Runtime* runtime) {
  Legion::IndexTaskLauncher launcher(kMake, Legion::Domain(Legion::Rect<1>(0, 3)),
                                     Legion::UntypedBuffer(), Legion::ArgumentMap());
  std::vector<Legion::OutputRequirement> outputs = {
      Legion::OutputRequirement(fields, {kField}, 1, true)};
  runtime->execute_index_space(context, launcher, &outputs).wait_all_results();
  std::printf("made: %zu\n",
              runtime->get_index_space_domain(outputs[0].parent.get_index_space()).get_volume());
}

void work_for(std::chrono::milliseconds time) {
  const auto end = std::chrono::steady_clock::now() + time;
  while (std::chrono::steady_clock::now() < end) {
  }
}

void top(const Legion::Task*, const std::vector<Legion::PhysicalRegion>&, Legion::Context context,
         Runtime* runtime) {
  if (mode == "hang") pause();
  while (mode == "talk") std::puts("on and on");
  if (mode == "crash") *static_cast<volatile int*>(nullptr) = 1;
  if (mode == "abort") std::abort();
  if (mode == "defers") return defer(context, runtime);
  launch(kKept, "kept", context, runtime);
  if (mode == "works") work_for(kWork);
  launch(kMoved, "moved", context, runtime);
  if (mode == "works") return work_for(kWork);

  const auto space = runtime->create_index_space(context, Legion::Rect<1>(0, 9));
  const auto fields = runtime->create_field_space(context);
  runtime->create_field_allocator(context, fields).allocate_field(sizeof(double), kField);
  const auto region = runtime->create_logical_region(context, space, fields);
  Legion::InlineLauncher inline_launcher(
      Legion::RegionRequirement(region, LEGION_WRITE_DISCARD, LEGION_EXCLUSIVE, region)
          .add_field(kField));
  inline_launcher.map_id = mapper_id;
  Legion::PhysicalRegion mapped = runtime->map_region(context, inline_launcher);
  mapped.wait_until_valid();
  runtime->unmap_region(context, mapped);

  if (mode == "data" || mode == "logged") launch_data(region, context, runtime);
  if (mode == "outputs") return launch_outputs(fields, context, runtime);
  if (mode == "plain" || mode == "data" || mode == "logged") return;
  Legion::TunableLauncher tunable(kTunable, mapper_id);
  std::printf("tunable: %d\n", runtime->select_tunable_value(context, tunable).get_result<int>());
  int all = 0;
  for (const Processor cpu : cpus()) {
    auto* const mapper = dynamic_cast<OwnMapper*>(runtime->get_mapper(context, mapper_id, cpu));
    all = mapper == nullptr ? -1 : mode == "shared" ? mapper->mapped.load() : all + mapper->mapped;
    if (mapper == nullptr) break;
  }
  std::printf("own mapper mapped: %d\n", all);
}

void register_mappers(Legion::Machine machine, Runtime* runtime, const std::set<Processor>& local) {
  Legion::Mapping::MapperRuntime* const mapping = runtime->get_mapper_runtime();
  if (mode == "shared") {
    runtime->replace_default_mapper(new OwnMapper(mapping, machine, *local.begin(), "own"));
    return;
  }
  for (const Processor p : local) {
    auto* const mapper = new OwnMapper(mapping, machine, p, "own");
    if (mode == "logged") {
      runtime->replace_default_mapper(new Legion::Mapping::LoggingWrapper(mapper), p);
    } else if (mapper_id == 0) {
      runtime->replace_default_mapper(mapper, p);
    } else {
      runtime->add_mapper(mapper_id, mapper, p);
    }
  }
}

void add(Legion::TaskVariantRegistrar* registrar, bool leaf) {
  registrar->add_constraint(Legion::ProcessorConstraint(Processor::LOC_PROC));
  registrar->set_leaf(leaf);
}

}  // namespace

int main(int argc, char** argv) {
  mode = argc > 1 ? argv[1] : "plain";
  if (mode == "beside") mapper_id = kBeside;
  Legion::TaskVariantRegistrar top_registrar(kTop, "top"), kept(kKept, "kept"),
      moved(kMoved, "moved"), writes(kWrite, "write"), reads(kRead, "read"), makes(kMake, "make");
  add(&top_registrar, false);
  add(&kept, true);
  add(&moved, true);
  add(&writes, true);
  add(&reads, true);
  add(&makes, true);
  Runtime::preregister_task_variant<top>(top_registrar, "top");
  Runtime::preregister_task_variant<int, keep>(kept, "kept");
  Runtime::preregister_task_variant<int, move>(moved, "moved");
  Runtime::preregister_task_variant<touch>(writes, "write");
  Runtime::preregister_task_variant<touch>(reads, "read");
  Runtime::preregister_task_variant<make>(makes, "make");
  Runtime::set_top_level_task_id(kTop);
  const std::set<std::string> own = {"asks",   "logged", "own",       "shared",
                                     "beside", "defers", "concurrent"};
  if (own.contains(mode)) {
    Runtime::add_registration_callback(register_mappers);
  }
  return Runtime::start(argc, argv);
}
