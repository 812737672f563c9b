// Writes the decisions of the mappers to a file, in the format of Legion's LoggingWrapper. Each
// hook passes the call to the program's mapper and logs its answer.
#include "legion/mapper_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <utility>
#include <vector>

#include "groma/harmless.h"
#include "legion/owning_forwarding_mapper.h"
#include "legion/task_views.h"

namespace groma::legion {
namespace {

using LegionMapper = Legion::Mapping::Mapper;
using Legion::Mapping::PhysicalInstance;

// Returns Realm's name of a processor kind or a memory kind. Kinds that are not in Realm's list
// become "?", which is enough because mappings cannot name them.
const char* name_of(Legion::Processor::Kind kind) {
  switch (kind) {
#define GROMA_NAME(name, ...)   \
  case Legion::Processor::name: \
    return #name;
    REALM_PROCESSOR_KINDS(GROMA_NAME)
#undef GROMA_NAME
    default:
      return "?";
  }
}
const char* name_of(Legion::Memory::Kind kind) {
  switch (kind) {
#define GROMA_NAME(name, ...) \
  case Legion::Memory::name:  \
    return #name;
    REALM_MEMORY_KINDS(GROMA_NAME)
#undef GROMA_NAME
    default:
      return "?";
  }
}

// Returns the lines that list the memories and processors of each process.
std::string machine_lines() {
  const Legion::Machine machine = Legion::Machine::get_machine();
  std::string text;
  const auto add = [&text](const auto& query, const char* heading, const auto& line) {
    std::vector all(query.begin(), query.end());
    std::sort(all.begin(), all.end());
    for (std::size_t i = 0; i < all.size(); ++i) {
      const auto rank = all[i].address_space();
      if (i == 0 || all[i - 1].address_space() != rank) {
        text += fmt::format("{} on rank {}:\n", heading, rank);
      }
      text += line(all[i]);
    }
  };
  add(Legion::Machine::MemoryQuery(machine), "Memories", [](Legion::Memory m) {
    return fmt::format("  {:x} ({}): {} bytes\n", m.id, name_of(m.kind()), m.capacity());
  });
  add(Legion::Machine::ProcessorQuery(machine), "Processors",
      [](Legion::Processor p) { return fmt::format("  {:x} ({})\n", p.id, name_of(p.kind())); });
  return text;
}

// Returns the coordinates of a point as text, for example "3,0".
std::string words_of(const Point& point) {
  return fmt::format("{}", fmt::join(point.coordinates(), ","));
}

// Returns the first and the last point of a rectangle, for example "<0,0>..<3,7>". The last point
// belongs to the rectangle.
std::string words_of(const Rect& rect) {
  Point last = rect.lower;
  for (int d = 0; d < last.dimensions(); ++d) last[d] += rect.extents[d] - 1;
  return fmt::format("<{}>..<{}>", words_of(rect.lower), words_of(last));
}

// Returns what a log says of a sparse domain behind the box around it: the number of its points and
// the id of its sparsity map, for example " OF 10 e000000000000001". Returns "" for a dense domain.
std::string words_of_holes(const Legion::Domain& domain) {
  if (domain.dense()) return {};
  return fmt::format(" OF {} {:x}", domain.get_volume(), domain.is_id);
}

// Returns the first 200 bytes of a name, made safe for a line of the log. A quotation mark would
// end a name, so it becomes `?`.
std::string line_part(std::string_view name) {
  constexpr std::size_t kMostBytes = 200;
  std::string text = harmless(name, kMostBytes);
  std::replace(text.begin(), text.end(), '"', '?');
  return text;
}

// Returns the text for a task in the log: its name, its point if it is a point task, and its unique
// id.
std::string words_of(const Legion::Task& task) {
  const std::string point =
      task.is_index_space && task.index_point.get_dim() > 0
          ? fmt::format("(index_point=({}))", words_of(point_of(task.index_point)))
          : "";
  return fmt::format("{}{}<{}>", line_part(task.get_task_name()), point, task.get_unique_id());
}

// The mapper of one processor that logs decisions. It stands above a mapper object of the program.
class Logged final : public OwningForwardingMapper {
 public:
  Logged(LegionMapper* own, std::shared_ptr<MapperLogFile> file)
      : OwningForwardingMapper(own), file_(std::move(file)) {
    file_->on_mapper_start();
  }
  ~Logged() override { file_->on_mapper_end(); }

  // Logs the options of a task. The line also tells whether the task could be replicated, so that
  // explain_log can suggest it.
  void select_task_options(MapperContext context, const Legion::Task& task,
                           TaskOptions& output) override {
    mapper->select_task_options(context, task, output);
    file_->write(fmt::format(
        "SELECT_TASK_OPTIONS for {}<{}>: initial_proc={:x}{}{}{}\n",
        line_part(task.get_task_name()), task.get_unique_id(), output.initial_proc.id,
        output.stealable ? " stealable=true" : "", output.replicate ? " replicate=true" : "",
        can_replicate(context, task, output.initial_proc.kind()) ? " replicable=true"
                                                                 : " replicable=false"));
  }

  // Logs which tasks move to another processor, for example by stealing.
  void select_tasks_to_map(MapperContext context, const SelectMappingInput& input,
                           SelectMappingOutput& output) override {
    mapper->select_tasks_to_map(context, input, output);
    if (output.relocate_tasks.empty()) return;
    std::string text = "SELECT_TASKS_TO_MAP\n";
    for (const auto& [task, processor] : output.relocate_tasks) {
      text += fmt::format("  RELOCATE {} -> {:x}\n", words_of(*task), processor.id);
    }
    file_->write(text);
  }

  // Logs the processor of each shard of a replicated task.
  void replicate_task(MapperContext context, const Legion::Task& task,
                      const ReplicateTaskInput& input, ReplicateTaskOutput& output) override {
    mapper->replicate_task(context, task, input, output);
    std::string text = fmt::format("MAP_REPLICATE_TASK for {}\n", words_of(task));
    for (std::size_t i = 0; i < output.target_processors.size(); ++i) {
      text += fmt::format("  REPLICANT {} -> {:x}\n", i, output.target_processors[i].id);
    }
    file_->write(text);
  }

  // Logs the domain of an index launch and the processor of each slice.
  void slice_task(MapperContext context, const Legion::Task& task, const SliceTaskInput& input,
                  SliceTaskOutput& output) override {
    mapper->slice_task(context, task, input, output);
    std::string text =
        fmt::format("SLICE_TASK for {}<{}>\n  LAUNCH {}\n", line_part(task.get_task_name()),
                    task.get_unique_id(), words_of(rect_of(task.index_domain)));
    for (const TaskSlice& slice : output.slices) {
      text += fmt::format("  {} -> {:x}\n", words_of(rect_of(slice.domain)), slice.proc.id);
    }
    file_->write(text);
  }

  // Logs where the task runs, and for each region requirement the instances with their memories and
  // layouts. An answer that the mapper gave up is not logged.
  void map_task(MapperContext context, const Legion::Task& task, const MapTaskInput& input,
                MapTaskOutput& output) override {
    mapper->map_task(context, task, input, output);
    if (output.abort_mapping) return;
    std::string text = fmt::format("MAP_TASK for {}\n", words_of(task));
    if (task.is_index_space) {
      text += fmt::format("  LAUNCH {}{}\n", words_of(rect_of(task.index_domain)),
                          words_of_holes(task.index_domain));
    }
    text += "  TARGET PROCS:";
    for (const Legion::Processor p : output.target_procs) text += fmt::format(" {:x}", p.id);
    text += "\n  CHOSEN INSTANCES:\n";
    for (std::size_t i = 0; i < task.regions.size(); ++i) {
      if (i >= output.chosen_instances.size() || output.chosen_instances[i].empty()) continue;
      text += requirement_lines(context, task.regions[i], i);
      for (const PhysicalInstance& each : output.chosen_instances[i]) {
        text += instance_line(context, each);
      }
    }
    file_->write(text);
  }

 private:
  // Returns true if the task has a replicable variant and Legion would replicate it. Legion does
  // not replicate, or refuses to replicate, tasks that reduce, tasks of must epochs or of
  // concurrent launches, and tasks with output regions. The adapter has the same rule.
  bool can_replicate(MapperContext context, const Legion::Task& task,
                     Legion::Processor::Kind kind) {
    const bool reduces = std::any_of(
        task.regions.begin(), task.regions.end(),
        [](const auto& requirement) { return privilege_of(requirement) == Privilege::kReduce; });
    return !reduces && !task.must_epoch_task && !task.concurrent_task &&
           task.output_regions.empty() &&
           file_->has_replicable_variant(mapper->runtime, context, task.task_id, kind);
  }

  // Returns two lines about a region requirement: one with the privilege (hexadecimal), the handles
  // and the fields, and one with its names.
  std::string requirement_lines(MapperContext context, const Legion::RegionRequirement& requirement,
                                std::size_t i) {
    const Legion::LogicalRegion region = requirement.region;
    std::string text = fmt::format(
        "    Requirement[{}](privilege={:x},region=({},({},{}),{}),fields={})\n", i,
        static_cast<unsigned>(requirement.privilege), region.get_tree_id(),
        region.get_index_space().get_id(), region.get_index_space().get_tree_id(),
        region.get_field_space().get_id(), fmt::join(requirement.privilege_fields, "+"));
    text += "      NAMES";
    for (const std::string& name : names(context, requirement)) text += " \"" + name + "\"";
    return text + "\n";
  }

  // Returns the names by which a mapping can refer to a region requirement: those of its region,
  // its partition and its parent.
  std::vector<std::string> names(MapperContext context,
                                 const Legion::RegionRequirement& requirement) {
    std::vector<std::string> found;
    const auto add = [&](const auto& handle) {
      std::string shown = line_part(attached_name(mapper->runtime, context, handle));
      if (!shown.empty() && std::find(found.begin(), found.end(), shown) == found.end()) {
        found.push_back(std::move(shown));
      }
    };
    if (requirement.region.exists()) {
      for_each_ancestor(mapper->runtime, context, requirement.region, add);
    }
    return found;
  }

  // Returns the log line of one instance. A virtual instance has no memory and no layout.
  std::string instance_line(MapperContext context, const PhysicalInstance& instance) {
    if (instance.is_virtual_instance()) return "      Instance(VIRTUAL)\n";
    return fmt::format("      Instance[{:x}](memory={:x},layout={})\n", instance.get_instance_id(),
                       instance.get_location().id, layout(context, instance));
  }

  // Returns the layout of an instance, the order of its fields and dimensions, for example
  // "SoA:YX". The slowest dimension stands first, as in the lines of LoggingWrapper.
  std::string layout(MapperContext context, const PhysicalInstance& instance) {
    constexpr std::string_view kLetters = "XYZWVUTSR";
    const Legion::LayoutConstraintSet& set =
        mapper->runtime->find_layout_constraints(context, instance.get_layout_id());
    const auto& order = set.ordering_constraint.ordering;
    std::string letters;
    bool fields_first = false;
    for (std::size_t i = order.size(); i-- > 0;) {
      if (order[i] == LEGION_DIM_F) {
        fields_first = i == 0 && order.size() > 1;
        continue;
      }
      const auto d = static_cast<std::size_t>(order[i] - LEGION_DIM_X);
      letters += d < kLetters.size() ? kLetters[d] : '?';
    }
    return fmt::format("{}:{}", fields_first ? "AoS" : "SoA", letters);
  }

  std::shared_ptr<MapperLogFile> file_;
};

}  // namespace

// Creates the log file. Child processes do not inherit it (mode "e"). Its first lines describe the
// machine.
Result<std::shared_ptr<MapperLogFile>> MapperLogFile::make(const std::string& path) {
  std::FILE* const file = std::fopen(path.c_str(), "we");
  if (file == nullptr) {
    return Error{Error::Code::kUnreadable,
                 fmt::format("cannot write `{}`: {}", path, std::strerror(errno))};
  }
  std::shared_ptr<MapperLogFile> made(new MapperLogFile(file, path));
  made->write("RUN begins\n" + machine_lines());
  return made;
}

MapperLogFile::~MapperLogFile() { std::fclose(file_); }

void MapperLogFile::on_mapper_start() {
  const std::lock_guard lock(mutex_);
  ++writers_;
}

// Called when a logging mapper ends. The last one ends the log. The line "RUN ends" is written only
// once, even if more mappers begin and end later.
void MapperLogFile::on_mapper_end() {
  {
    const std::lock_guard lock(mutex_);
    if (--writers_ > 0 || std::exchange(ended_, true)) return;
  }
  write("RUN ends\n");
  if (failed_) std::fprintf(stderr, "groma: `%s` is not whole: no room\n", path_.c_str());
}

void MapperLogFile::write(const std::string& lines) {
  const std::lock_guard lock(mutex_);
  failed_ = std::fwrite(lines.data(), 1, lines.size(), file_) != lines.size() || failed_;
  // The file is flushed, because even a run that is killed must leave complete lines.
  failed_ = std::fflush(file_) != 0 || failed_;
}

// Returns true if the task has a replicable variant for this processor kind. Two threads may ask
// Legion about the same task at the same time and then get the same answer.
bool MapperLogFile::has_replicable_variant(Legion::Mapping::MapperRuntime* runtime,
                                           Legion::Mapping::MapperContext context,
                                           Legion::TaskID task, Legion::Processor::Kind kind) {
  {
    const std::lock_guard lock(mutex_);
    const auto known = replicable_.find({task, kind});
    if (known != replicable_.end()) return known->second;
  }
  // The lock is not held while Legion is called.
  std::vector<Legion::VariantID> variants;
  runtime->find_valid_variants(context, task, variants, kind);
  const bool any = std::any_of(variants.begin(), variants.end(), [&](Legion::VariantID variant) {
    return runtime->is_replicable_variant(context, task, variant);
  });
  const std::lock_guard lock(mutex_);
  return replicable_[{task, kind}] = any;
}

std::unique_ptr<LegionMapper> make_logged(LegionMapper* own, std::shared_ptr<MapperLogFile> file) {
  return std::make_unique<Logged>(own, std::move(file));
}

LegionMapper* mapper_below_logger(LegionMapper* mapper) {
  const auto* logged = dynamic_cast<const Logged*>(mapper);
  return logged == nullptr ? nullptr : logged->wrapped_mapper();
}

}  // namespace groma::legion
