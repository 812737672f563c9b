// Records what Legion's own DefaultMapper decides for drawn launches (drawn_launches.h), or checks
// a recording:
//
//   record_default_mapper --count N -ll:cpu C            prints lines of JSON
//   record_default_mapper --count N -ll:cpu C --check F  compares them with those of F; exit status
//   1
//
// tests/data/README.md says what stands in the lines. Each launch has regions of its own and has
// ended before the next begins, so what a mapper object remembers are its round robin over the
// processors and its caches, which do not change answers here. The top-level task is kept on the
// first CPU, so that one mapper object is asked first for all launches; nothing else of the
// DefaultMapper is touched.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "legion.h"
#include "legion/drawn_launches.h"
#include "mappers/default_mapper.h"

namespace groma::legion_test {
namespace {

using namespace Legion;
using Mapping::DefaultMapper;
using Mapping::MapperContext;

enum TaskIds : TaskID { kTopLevel = 1, kLeaf, kPlain, kInner, kTwin };

struct Options {
  int count = 200;
  std::string check;
};

Options read_options(int argc, char** argv) {
  Options options;
  for (int i = 1; i + 1 < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--count") options.count = std::stoi(argv[i + 1]);
    if (word == "--check") options.check = argv[i + 1];
  }
  return options;
}

// The CPUs in the order of the machine's query: their index is what we print.
const std::vector<Processor>& cpus() {
  static const std::vector<Processor> list = [] {
    Machine::ProcessorQuery query(Machine::get_machine());
    query.only_kind(Processor::LOC_PROC).local_address_space();
    return std::vector<Processor>(query.begin(), query.end());
  }();
  return list;
}

long index_of(Processor processor) {
  const auto found = std::find(cpus().begin(), cpus().end(), processor);
  return found == cpus().end() ? -1 : found - cpus().begin();
}

// What the mapper objects, one for each processor, have decided for the launch that runs.
class Record {
 public:
  void set_options(std::string json) {
    const std::lock_guard lock(mutex_);
    options_ = std::move(json);
  }
  void add_slices(const std::vector<std::string>& slices) {
    const std::lock_guard lock(mutex_);
    slices_.insert(slices_.end(), slices.begin(), slices.end());
  }
  // What a point is given, and where it may run.
  void add_point(const std::string& json, const std::string& targets) {
    const std::lock_guard lock(mutex_);
    ++points_[json];
    targets_.insert(targets);
  }

  // Two lines: what does not depend on the number of CPUs and what does. Clears.
  std::vector<std::string> take(int launch) {
    const std::lock_guard lock(mutex_);
    std::vector<std::string> points;
    for (const auto& [json, count] : points_) {
      points.push_back(fmt::format(R"({{"points":{},{}}})", count, json));
    }
    std::vector<std::string> lines = {
        fmt::format(R"({{"launch":{},"map":[{}]}})", launch, fmt::join(points, ",")),
        fmt::format(R"({{"cpus":{},"launch":{},{},"slices":[{}],"target_procs":[{}]}})",
                    cpus().size(), launch, options_, fmt::join(slices_, ","),
                    fmt::join(targets_, ","))};
    options_.clear();
    slices_.clear();
    points_.clear();
    targets_.clear();
    return lines;
  }

 private:
  std::mutex mutex_;
  std::string options_;
  std::vector<std::string> slices_;
  std::map<std::string, int> points_;  // a decision, and for how many points
  std::set<std::string> targets_;
};

Record& record() {
  static Record one;
  return one;
}

// The names of the flags that are set.
std::string flags(std::initializer_list<std::pair<const char*, bool>> all) {
  std::vector<std::string> names;
  for (const auto& [name, is_set] : all) {
    if (is_set) names.push_back(fmt::format("\"{}\"", name));
  }
  return fmt::format("[{}]", fmt::join(names, ","));
}

std::string slice_json(const Mapping::Mapper::TaskSlice& slice) {
  std::vector<long long> corners;
  for (const DomainPoint& corner : {slice.domain.lo(), slice.domain.hi()}) {
    for (unsigned i = 0; i < static_cast<unsigned>(corner.dim); ++i) corners.push_back(corner[i]);
  }
  std::string text = fmt::format("[{},{}", fmt::join(corners, ","), index_of(slice.proc));
  if (slice.recurse) text += R"(,"recurse")";
  if (slice.stealable) text += R"(,"stealable")";
  return text + "]";
}

std::string order_name(const std::vector<DimensionKind>& order) {
  std::string name;
  for (DimensionKind dimension : order) {
    name += dimension == LEGION_DIM_F ? 'F' : "XYZWVU"[dimension - LEGION_DIM_X];
  }
  return name.empty() ? "-" : name;
}

std::string priority_name(int priority) {
  if (priority == LEGION_GC_NEVER_PRIORITY + 1) return "never+1";
  if (priority == LEGION_GC_FIRST_PRIORITY) return "first";
  return std::to_string(priority);
}

std::string memory_name(Memory memory) {
  return memory.kind() == Memory::SYSTEM_MEM ? "SYSTEM_MEM" : std::to_string(memory.kind());
}

class RecordingMapper : public DefaultMapper {
 public:
  RecordingMapper(Mapping::MapperRuntime* mapper_runtime, Machine all, Processor local)
      : DefaultMapper(mapper_runtime, all, local, "recording") {}

  void select_task_options(MapperContext context, const Task& task, TaskOptions& output) override {
    DefaultMapper::select_task_options(context, task, output);
    if (task.get_depth() == 0) return;
    record().set_options(fmt::format(R"("initial_proc":{},"flags":{},"collective":[{}])",
                                     index_of(output.initial_proc),
                                     flags({{"inline_task", output.inline_task},
                                            {"stealable", output.stealable},
                                            {"map_locally", output.map_locally},
                                            {"valid_instances", output.valid_instances},
                                            {"memoize", output.memoize},
                                            {"replicate", output.replicate}}),
                                     fmt::join(output.check_collective_regions, ",")));
  }

  void slice_task(MapperContext context, const Task& task, const SliceTaskInput& input,
                  SliceTaskOutput& output) override {
    DefaultMapper::slice_task(context, task, input, output);
    std::vector<std::string> slices;
    for (const TaskSlice& slice : output.slices) slices.push_back(slice_json(slice));
    record().add_slices(slices);
  }

  void map_task(MapperContext context, const Task& task, const MapTaskInput& input,
                MapTaskOutput& output) override {
    DefaultMapper::map_task(context, task, input, output);
    if (task.get_depth() == 0) return;
    std::vector<long> targets;
    for (Processor target : output.target_procs) targets.push_back(index_of(target));
    std::vector<std::string> instances;
    for (unsigned i = 0; i < task.regions.size(); ++i) {
      instances.push_back(describe_all(context, task.regions[i], output.chosen_instances[i]));
    }
    record().add_point(fmt::format(R"("variant":{},"priority":{},"flags":{},"instances":[{}])",
                                   output.chosen_variant, output.task_priority,
                                   flags({{"postmap_task", output.postmap_task},
                                          {"untracked", !output.untracked_valid_regions.empty()}}),
                                   fmt::join(instances, ",")),
                       fmt::format("[{}]", fmt::join(targets, ",")));
  }

  Processor default_policy_select_initial_processor(MapperContext context,
                                                    const Task& task) override {
    if (task.get_depth() == 0) return cpus().front();
    return DefaultMapper::default_policy_select_initial_processor(context, task);
  }

  void default_policy_select_target_processors(MapperContext context, const Task& task,
                                               std::vector<Processor>& targets) override {
    if (task.get_depth() == 0) {
      targets.assign(1, task.target_proc);
    } else {
      DefaultMapper::default_policy_select_target_processors(context, task, targets);
    }
  }

 private:
  LogicalRegion root_of(MapperContext context, LogicalRegion region) {
    while (runtime->has_parent_logical_partition(context, region)) {
      region = runtime->get_parent_logical_region(
          context, runtime->get_parent_logical_partition(context, region));
    }
    return region;
  }

  std::string bounds_name(MapperContext context, const RegionRequirement& requirement,
                          const Mapping::PhysicalInstance& instance) {
    const Domain bounds = instance.get_instance_domain();
    const auto domain_of = [&](LogicalRegion region) {
      return runtime->get_index_space_domain(context, region.get_index_space());
    };
    if (domain_of(requirement.region).empty()) return "empty";
    if (bounds == domain_of(root_of(context, requirement.region))) return "root";
    return bounds == domain_of(requirement.region) ? "exact" : "other";
  }

  // Memory, bounds, order of dimensions, fields, kind, collection priority; or virtual.
  std::string describe(MapperContext context, const RegionRequirement& requirement,
                       const Mapping::PhysicalInstance& instance) {
    if (instance.is_virtual_instance()) return "virtual";
    std::set<FieldID> fields;
    instance.get_fields(fields);
    const int priority = default_policy_select_garbage_collection_priority(
        context, TASK_MAPPING, instance.get_location(), instance, true,
        requirement.privilege == LEGION_REDUCE);
    const LayoutConstraintSet& layout =
        runtime->find_layout_constraints(context, instance.get_layout_id());
    return fmt::format("{} {} {} {} {} {}", memory_name(instance.get_location()),
                       bounds_name(context, requirement, instance),
                       order_name(layout.ordering_constraint.ordering), fmt::join(fields, ","),
                       instance.is_reduction_instance() ? "reduction" : "normal",
                       priority_name(priority));
  }

  // The instances of one requirement, as one string.
  std::string describe_all(MapperContext context, const RegionRequirement& requirement,
                           const std::vector<Mapping::PhysicalInstance>& instances) {
    std::vector<std::string> texts;
    for (const Mapping::PhysicalInstance& instance : instances) {
      texts.push_back(describe(context, requirement, instance));
    }
    return fmt::format("\"{}\"",
                       texts.empty() ? "none" : fmt::format("{}", fmt::join(texts, "; ")));
  }
};

Domain domain_of(const DrawnBox& box) {
  DomainPoint lo;
  DomainPoint hi;
  lo.dim = hi.dim = static_cast<int>(box.lo.size());
  for (unsigned i = 0; i < box.lo.size(); ++i) {
    lo[i] = box.lo[i];
    hi[i] = box.hi[i];
  }
  return Domain(lo, hi);
}

PrivilegeMode privilege_of(const std::string& name) {
  if (name == "READ_ONLY") return LEGION_READ_ONLY;
  if (name == "READ_WRITE") return LEGION_READ_WRITE;
  if (name == "WRITE_DISCARD") return LEGION_WRITE_DISCARD;
  return name == "REDUCE" ? LEGION_REDUCE : LEGION_NO_ACCESS;
}

TaskID task_of(const std::string& name) {
  if (name == "leaf") return kLeaf;
  if (name == "plain") return kPlain;
  return name == "inner" ? kInner : kTwin;
}

// Makes what a launch needs, and launches.
class Player {
 public:
  Player(Context context, Runtime* runtime) : context_(context), runtime_(runtime) {}

  void play(const DrawnLaunch& launch) {
    if (launch.is_index) {
      IndexTaskLauncher launcher(task_of(launch.task), domain_of(launch.domain), UntypedBuffer(),
                                 ArgumentMap());
      add_requirements(launch, &launcher);
      runtime_->execute_index_space(context_, launcher);
    } else {
      TaskLauncher launcher(task_of(launch.task), UntypedBuffer());
      add_requirements(launch, &launcher);
      runtime_->execute_task(context_, launcher);
    }
    runtime_->issue_execution_fence(context_).wait();
  }

 private:
  template <typename Launcher>
  void add_requirements(const DrawnLaunch& launch, Launcher* launcher) {
    for (const DrawnRequirement& requirement : launch.requirements) {
      launcher->add_region_requirement(make(launch, requirement));
    }
  }

  LogicalRegion make_region(const DrawnRequirement& drawn) {
    const FieldSpace fields = runtime_->create_field_space(context_);
    FieldAllocator allocator = runtime_->create_field_allocator(context_, fields);
    for (int field = 0; field < drawn.fields; ++field) {
      allocator.allocate_field(sizeof(int), static_cast<FieldID>(field));
    }
    const LogicalRegion region = runtime_->create_logical_region(
        context_, runtime_->create_index_space(context_, domain_of(drawn.bounds)), fields);
    for (int field = 0; field < drawn.fields; ++field) {
      runtime_->fill_field<int>(context_, region, region, static_cast<FieldID>(field), 0);
    }
    return region;
  }

  LogicalPartition split(LogicalRegion region, const Domain& colors) {
    const IndexSpace space = runtime_->create_index_space(context_, colors);
    return runtime_->get_logical_partition(
        context_, region,
        runtime_->create_equal_partition(context_, region.get_index_space(), space));
  }

  RegionRequirement make(const DrawnLaunch& launch, const DrawnRequirement& drawn) {
    const LogicalRegion root = make_region(drawn);
    RegionRequirement requirement(root, LEGION_READ_WRITE, LEGION_EXCLUSIVE, root, drawn.tag);
    if (drawn.projection == "partition") {
      requirement = RegionRequirement(split(root, domain_of(launch.domain)), 0, LEGION_READ_WRITE,
                                      LEGION_EXCLUSIVE, root, drawn.tag);
    } else if (drawn.projection == "piece") {
      const LogicalPartition pieces = split(root, Domain(Rect<1>(0, drawn.pieces - 1)));
      requirement.region =
          runtime_->get_logical_subregion_by_color(context_, pieces, DomainPoint(Point<1>(0)));
    }
    // The constructors refuse REDUCE.
    requirement.privilege = privilege_of(drawn.privilege);
    if (drawn.privilege == "REDUCE") requirement.redop = LEGION_REDOP_SUM_INT32;
    for (int field : drawn.used) requirement.add_field(static_cast<FieldID>(field));
    return requirement;
  }

  Context context_;
  Runtime* runtime_;
};

std::string tunables_line(Context context, Runtime* runtime) {
  std::vector<long long> values;
  for (TunableID id = 0; id < DefaultMapper::DEFAULT_TUNABLE_LAST; ++id) {
    Future value = runtime->select_tunable_value(context, TunableLauncher(id));
    const std::size_t size = value.get_untyped_size();
    values.push_back(size == sizeof(int) ? value.get_result<int>()
                                         : static_cast<long long>(value.get_result<std::size_t>()));
  }
  return fmt::format(R"({{"cpus":{},"tunables":[{}]}})", cpus().size(), fmt::join(values, ","));
}

// The lines of a recording that a run on as many CPUs, with as many launches, prints.
std::set<std::string> expected_lines(const Options& options) {
  std::set<std::string> lines;
  std::ifstream file(options.check);
  const std::string mine = fmt::format(R"({{"cpus":{},)", cpus().size());
  for (std::string line; std::getline(file, line);) {
    const std::string_view name = R"("launch":)";
    const std::size_t at = line.find(name);
    const bool is_wanted =
        at == std::string::npos || std::stoi(line.substr(at + name.size())) < options.count;
    if (is_wanted && (line.starts_with(mine) || !line.starts_with(R"({"cpus")"))) {
      lines.insert(line);
    }
  }
  return lines;
}

// 0 if they are the same.
int compare(const std::set<std::string>& recorded, const std::set<std::string>& now) {
  std::vector<std::string> different;
  std::set_symmetric_difference(recorded.begin(), recorded.end(), now.begin(), now.end(),
                                std::back_inserter(different));
  for (const std::string& line : different) {
    std::cout << (recorded.contains(line) ? "recorded: " : "now:      ") << line << '\n';
  }
  std::cout << now.size() << " lines, " << different.size() << " different\n";
  return different.empty() ? 0 : 1;
}

void top_level(const Task*, const std::vector<PhysicalRegion>&, Context context, Runtime* runtime) {
  const InputArgs& args = Runtime::get_input_args();
  const Options options = read_options(args.argc, args.argv);
  std::vector<std::string> lines = {tunables_line(context, runtime)};
  Player player(context, runtime);
  for (const DrawnLaunch& launch : draw_launches(options.count)) {
    player.play(launch);
    lines.push_back(to_json(launch));
    for (std::string& line : record().take(launch.id)) lines.push_back(std::move(line));
  }
  if (options.check.empty()) {
    std::cout << fmt::format("{}\n", fmt::join(lines, "\n")) << std::flush;
  } else {
    Runtime::set_return_code(compare(expected_lines(options), {lines.begin(), lines.end()}));
    std::cout << std::flush;
  }
}

void nothing(const Task*, const std::vector<PhysicalRegion>&, Context, Runtime*) {}

TaskVariantRegistrar cpu_variant(TaskID id, const char* name) {
  TaskVariantRegistrar registrar(id, name);
  registrar.add_constraint(ProcessorConstraint(Processor::LOC_PROC));
  return registrar;
}

void register_tasks() {
  TaskVariantRegistrar leaf = cpu_variant(kLeaf, "leaf");
  leaf.set_leaf();
  Runtime::preregister_task_variant<nothing>(leaf, "leaf", 1);
  Runtime::preregister_task_variant<nothing>(cpu_variant(kPlain, "plain"), "plain", 1);
  TaskVariantRegistrar inner = cpu_variant(kInner, "inner");
  inner.set_inner();
  Runtime::preregister_task_variant<nothing>(inner, "inner", 1);
  for (VariantID variant : {1U, 2U}) {
    TaskVariantRegistrar twin = cpu_variant(kTwin, "twin");
    twin.set_leaf();
    Runtime::preregister_task_variant<nothing>(twin, "twin", variant);
  }
  Runtime::preregister_task_variant<top_level>(cpu_variant(kTopLevel, "top_level"), "top_level");
  Runtime::set_top_level_task_id(kTopLevel);
}

void register_mappers(Machine machine, Runtime* runtime, const std::set<Processor>& local) {
  for (Processor processor : local) {
    runtime->replace_default_mapper(
        new RecordingMapper(runtime->get_mapper_runtime(), machine, processor), processor);
  }
}

int run(int argc, char** argv) {
  register_tasks();
  Runtime::add_registration_callback(register_mappers);
  return Runtime::start(argc, argv);
}

}  // namespace
}  // namespace groma::legion_test

int main(int argc, char** argv) { return groma::legion_test::run(argc, argv); }
