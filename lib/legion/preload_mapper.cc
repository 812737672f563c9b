// The library that preload.cc loads into a Legion program. It puts the mapping that the environment
// names above each mapper that the program registers. If the program registers none, the mapping
// stands alone. Above both come the mappers that log, profile or record the run, as the environment
// asks.
#include <mappers/default_mapper.h>

#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <set>
#include <sstream>
#include <string>
#include <utility>

#include "groma/legion.h"
#include "legion/asked_instances.h"
#include "legion/mapper_log.h"
#include "legion/overlay.h"
#include "legion/preload.h"
#include "legion/profiler.h"
#include "legion/recorder.h"

namespace groma::legion {
namespace {

using LegionMapper = Legion::Mapping::Mapper;

// Ends the process with a message that the program cannot be mapped as the environment variables
// ask.
[[noreturn]] void refuse(const std::string& why) {
  std::fprintf(stderr, "groma: not mapped: %s\n", why.c_str());
  std::fflush(nullptr);
  std::_Exit(1);
}

// Returns the text of the mapping: the value of the environment variable if it has a line end,
// otherwise the contents of the file that the variable names.
Source source() {
  const char* const given = std::getenv(kMappingVariable);
  const std::string value = given == nullptr ? "" : given;
  const std::size_t line_end = value.find('\n');
  if (line_end != value.npos) return Source(value.substr(0, line_end), value.substr(line_end + 1));
  auto read = Source::read(value);
  if (!read) refuse(read.error().message);
  return std::move(read).value();
}

// Returns the tasks whose Layout statements may contradict the program's mapper, one in each line
// of the environment variable.
LayoutOverrides layout_overrides() {
  LayoutOverrides overrides;
  const char* const given = std::getenv(kOverrideLayoutsVariable);
  std::istringstream lines(given == nullptr ? "" : given);
  for (std::string task; std::getline(lines, task);) overrides.tasks.push_back(task);
  return overrides;
}

// Returns true in the process with Legion's address space 0, which runs the top-level task.
bool is_first_process() {
  Legion::Machine::ProcessorQuery here(Legion::Machine::get_machine());
  here.local_address_space();
  return here.first().address_space() == 0;
}

// Returns true if this process prints messages itself. Otherwise the first process prints for all.
bool speaks() {
  static const bool does = is_first_process() || std::getenv(kEachProcessVariable) != nullptr;
  return does;
}

// Compiles the mapping. Prints its warnings, and ends the process if it has errors.
Program program() {
  Diagnostics diags(source());
  Program compiled = compile(diags.source(), diags);
  // Warnings are printed once for a run, by this library instead of `groma run`. Notes are printed
  // only by `groma check`.
  for (const Diagnostic& each : diags.sorted()) {
    if (each.severity == Severity::kNote || (each.severity != Severity::kError && !speaks())) {
      continue;
    }
    std::fputs(render(diags.source(), each).c_str(), stderr);
  }
  if (diags.has_errors()) refuse("`" + diags.source().name() + "` has errors");
  return compiled;
}

// The log of a process for which the first process prints: errors go to standard error, everything
// else is dropped.
class Errors final : public LogSink {
 public:
  void log(LogLevel level, std::string_view line) override {
    if (level != LogLevel::kError) return;
    const bool ends = line.ends_with('\n');
    std::fprintf(stderr, "%.*s%s", static_cast<int>(line.size()), line.data(), ends ? "" : "\n");
  }
};

// Prints the message from which people and `groma run` learn that the program is mapped.
void announce(const Program& program, const Machine& on) {
  if (!speaks()) return;
  std::fprintf(stderr, "groma: mapped by %s, Legion %s, %s\n", program.source().name().c_str(),
               LEGION_VERSION, machine_line(on).c_str());
}

// Returns the object that records the run. Returns null if no recording is wanted, or in a process
// other than the first, which alone runs the top-level task.
std::shared_ptr<RunEvents> recording(const std::shared_ptr<const MachineMap>& machine) {
  const char* const file = std::getenv(kRecordVariable);
  if (file == nullptr) return nullptr;
  if (!is_first_process()) {
    if (speaks()) std::fputs("groma: the first process records\n", stderr);
    return nullptr;
  }
  const Machine& on = *machine->machine();
  std::fprintf(stderr, "groma: records, Legion %s, %s\n", LEGION_VERSION, machine_line(on).c_str());
  auto events = std::make_shared<RunEvents>(file, machine);
  if (std::getenv(kRecordBlocksVariable) != nullptr) events->record_block(false);
  return events;
}

// Returns the object that measures the run for a profile, or null if no profile is wanted or this
// process is not the first.
std::shared_ptr<RunMeasurements> watch(const std::shared_ptr<const MachineMap>& machine) {
  const char* const file = std::getenv(kProfileVariable);
  if (file == nullptr || !is_first_process()) return nullptr;
  return std::make_shared<RunMeasurements>(file, machine);
}

// Opens this process's log file: `LOG` for the first process, `LOG.1` and so on for others.
std::shared_ptr<MapperLogFile> log_file() {
  const char* const file = std::getenv(kLogVariable);
  if (file == nullptr) return nullptr;
  Legion::Machine::ProcessorQuery here(Legion::Machine::get_machine());
  here.local_address_space();
  const auto rank = here.first().address_space();
  auto made = MapperLogFile::make(rank == 0 ? file : file + ("." + std::to_string(rank)));
  if (!made) refuse(made.error().message);
  return *made;
}

// Returns the machine of the running Legion. Ends the process if Groma cannot describe it.
std::shared_ptr<const MachineMap> machine() {
  auto made = MachineMap::make();
  if (!made) refuse(made.error().message);
  return *made;
}

// The state of the mapping library. There is one object for the process, made when the first mapper
// is registered.
struct PreloadedLibrary {
  const std::shared_ptr<const MachineMap> map = machine();
  const std::shared_ptr<RunEvents> events = recording(map);
  const std::shared_ptr<RunMeasurements> measures = watch(map);
  const std::shared_ptr<MapperLogFile> log = log_file();
  const std::shared_ptr<RequestedInstances> asked = std::make_shared<RequestedInstances>();
  const Wrap wrap = [this]() -> Wrap {
    if (std::getenv(kMappingVariable) == nullptr) return nullptr;
    const Program compiled = program();
    announce(compiled, *map->machine());
    RecordMemoryOrigin heard;
    if (measures != nullptr) {
      heard = [to = measures](Legion::UniqueID task, std::size_t requirement,
                              DecisionOrigin origin) {
        to->record_memory_origin(task, requirement, origin);
      };
    }
    Options options;
    options.override_layouts = layout_overrides();
    static Errors errors;
    if (!speaks()) options.log = &errors;
    return wrapper(compiled, options, std::move(heard), asked);
  }();
  std::mutex mutex;
  // The processors whose default mapper the program replaced. NO_PROC stands for all processors.
  std::set<Legion::Processor> replaced;
};

PreloadedLibrary& takeover() {
  // The Takeover object is never deleted, because Legion may use what it holds until the process
  // ends.
  static PreloadedLibrary* const one = new PreloadedLibrary;
  return *one;
}

// Puts the mapping and the observers above `own`, a mapper of the program, and returns the topmost
// mapper. If `own` is null, the program has no mapper, so the mapping, or else Legion's
// DefaultMapper, stands in its place. The order from the bottom up: own mapper, mapping, log,
// profiler, recorder.
LegionMapper* over(Legion::Runtime* runtime, Legion::Processor processor, LegionMapper* own) {
  const PreloadedLibrary& all = takeover();
  const bool is_programs_own = own != nullptr;
  const bool demands = is_programs_own && !requests_default_layouts(*own);
  LegionMapper* mapper = all.wrap == nullptr ? own : all.wrap(runtime, processor, own);
  if (all.events == nullptr && all.measures == nullptr && all.log == nullptr) return mapper;
  if (mapper == nullptr) {
    mapper = new Legion::Mapping::DefaultMapper(
        runtime->get_mapper_runtime(), Legion::Machine::get_machine(), processor, "default");
  }
  if (all.log != nullptr) mapper = make_logged(mapper, all.log).release();
  if (all.measures != nullptr) mapper = make_profiler(mapper, all.measures).release();
  if (all.events != nullptr) {
    const bool own_order = is_programs_own && chooses_layouts(*own);
    mapper =
        make_recorder(mapper, all.events, is_programs_own, demands ? all.asked : nullptr, own_order)
            .release();
  }
  return mapper;
}

// True while this thread registers Groma's mappers.
thread_local bool ours = false;

// Implements PreloadMapper::wrap. A default mapper (id 0) of the program is remembered, so that
// replace_rest() does not replace it.
LegionMapper* wrap(Legion::Runtime* runtime, Legion::MapperID id, LegionMapper* mapper,
                   Legion::Processor processor) {
  if (ours) return mapper;
  if (id == 0) {
    const std::lock_guard lock(takeover().mutex);
    takeover().replaced.insert(processor);
  }
  return over(runtime, processor, mapper);
}

// Implements PreloadMapper::record_call_time: notes the time of a call that launches something.
void called(std::int64_t nanoseconds) {
  if (takeover().events != nullptr) takeover().events->costs().add_launch_call_time(nanoseconds);
}

// Returns a request for an instance in the form that RequestedInstances stores.
InstanceRequestRecord noted_of(const Legion::Mapping::MapperRuntime& runtime,
                               Legion::Mapping::MapperContext context, const InstanceCall& call,
                               bool by_program) {
  InstanceRequestRecord noted;
  noted.constraints = call.constraints != nullptr
                          ? *call.constraints
                          : runtime.find_layout_constraints(context, call.layout);
  // A request without an order of dimensions and fields gets the order that Legion chose. The tasks
  // see this order and may rely on it.
  if (noted.constraints.ordering_constraint.ordering.empty()) {
    noted.constraints.ordering_constraint =
        runtime.find_layout_constraints(context, call.result.get_layout_id()).ordering_constraint;
    noted.constraints.ordering_constraint.contiguous = false;
  }
  noted.regions = call.regions;
  noted.priority = call.priority;
  noted.tight = call.tight;
  noted.wants_new_instance = call.fresh;
  noted.by_program = by_program;
  noted.own_order = takeover().asked->may_choose_order(context);
  noted.demand = mapper_layout_demand(noted);
  return noted;
}

void asked(const Legion::Mapping::MapperRuntime& runtime, Legion::Mapping::MapperContext context,
           const InstanceCall& call, bool by_program) {
  takeover().asked->record_request(context, call.result,
                                   noted_of(runtime, context, call, by_program));
}

// Implements PreloadMapper::suits. Only an instance that an adapter made can be unsuitable, because
// the statement that caused it does not hold for every task.
bool suits(const Legion::Mapping::MapperRuntime& runtime, Legion::Mapping::MapperContext context,
           const InstanceCall& call, bool by_program) {
  if (!takeover().asked->is_made_by_adapter(call.result)) return true;
  const InstanceRequestRecord asked = noted_of(runtime, context, call, by_program);
  return satisfies_layout(asked.constraints,
                          runtime.find_layout_constraints(context, call.result.get_layout_id()),
                          has_layout_demand(asked));
}

// Implements PreloadMapper::replace: exchanges an unsuitable instance for another one.
bool replace(const Legion::Mapping::MapperRuntime& runtime, Legion::Mapping::MapperContext context,
             const InstanceCall& call, bool by_program, Legion::Memory memory, bool acquire,
             bool may_make, Legion::Mapping::PhysicalInstance& result, bool& made,
             std::size_t* bytes) {
  const Legion::LayoutConstraintSet& constraints =
      call.constraints != nullptr ? *call.constraints
                                  : runtime.find_layout_constraints(context, call.layout);
  const auto suits_too = [&](const Legion::Mapping::PhysicalInstance& one) {
    return suits(
        runtime, context,
        {call.constraints, call.layout, call.regions, one, call.priority, call.tight, call.fresh},
        by_program);
  };
  return find_or_make_suitable(
      runtime, context,
      {memory, constraints, call.regions, call.priority, call.tight, acquire, may_make}, suits_too,
      result, made, bytes);
}

// Implements PreloadMapper::filter: removes unsuitable instances. Those before position `before`
// were in the list already and stay.
void filter(const Legion::Mapping::MapperRuntime& runtime, Legion::Mapping::MapperContext context,
            const Legion::LayoutConstraintSet* constraints, Legion::LayoutConstraintID layout,
            const std::vector<Legion::LogicalRegion>& regions, bool tight, bool by_program,
            bool acquire, std::size_t before,
            std::vector<Legion::Mapping::PhysicalInstance>& results) {
  std::vector<Legion::Mapping::PhysicalInstance> kept;
  for (std::size_t i = 0; i < results.size(); ++i) {
    const Legion::Mapping::PhysicalInstance& one = results[i];
    const bool suitable =
        i < before ||
        suits(runtime, context, {constraints, layout, regions, one, 0, tight, false}, by_program);
    if (suitable) {
      kept.push_back(one);
    } else if (acquire) {
      runtime.release_instance(context, one);
    }
  }
  results = std::move(kept);
}

void found(Legion::Mapping::MapperContext context,
           const Legion::Mapping::PhysicalInstance& instance) {
  takeover().asked->note_found(context, instance);
}

// Implements PreloadMapper::unwrap: finds the program's mapper below the mappers that over() put
// above it, from the top down. A mapper that is not there is skipped.
LegionMapper* unwrap(LegionMapper* mapper) {
  for (const auto below :
       {mapper_below_recorder, mapper_below_profiler, mapper_below_logger, mapper_below_overlay}) {
    LegionMapper* const own = below(mapper);
    if (own != nullptr) mapper = own;
  }
  return mapper;
}

// Registers the mapping on each processor whose default mapper the program did not replace. Runs
// after all other registration callbacks.
void replace_rest(const Legion::RegistrationCallbackArgs& args) {
  const auto has_own = [](Legion::Processor p) {
    const std::lock_guard lock(takeover().mutex);
    const auto& replaced = takeover().replaced;
    return replaced.contains(p) || replaced.contains(Legion::Processor::NO_PROC);
  };
  ours = true;
  for (const Legion::Processor p : args.local_procs) {
    if (has_own(p)) continue;
    LegionMapper* const mapper = over(args.runtime, p, nullptr);
    if (mapper != nullptr) args.runtime->replace_default_mapper(mapper, p);
  }
  ours = false;
}

// Implements PreloadMapper::begin. Callbacks run in the order in which they were added, so this one
// runs last.
void begin() {
  Legion::Runtime::add_registration_callback(replace_rest, Legion::UntypedBuffer(), false);
}

}  // namespace
}  // namespace groma::legion

extern "C" {
// NOLINTBEGIN(readability-identifier-naming): a symbol that is looked up by its name
extern const groma::legion::PreloadMapper groma_preload_mapper;
const groma::legion::PreloadMapper groma_preload_mapper = {
    groma::legion::begin,  groma::legion::wrap,  groma::legion::called,
    groma::legion::asked,  groma::legion::suits, groma::legion::replace,
    groma::legion::filter, groma::legion::found, groma::legion::unwrap};

// Called by the program (groma.record() in Python) where a block that is to be recorded begins (1)
// or ends (0). Has no effect in a run that is not recorded.
void groma_record_block(int is_inside);
void groma_record_block(int is_inside) {
  const auto& events = groma::legion::takeover().events;
  if (events != nullptr) events->record_block(is_inside != 0);
}
// NOLINTEND(readability-identifier-naming)
}
