// The library that is loaded before Legion (LD_PRELOAD) into a program that was not built with
// Groma. It replaces the functions with which a program starts Legion, registers mappers, launches
// tasks and gets instances. Each replacement calls Legion's own function. The library does nothing
// in programs without Legion, or if neither GROMA_MAPPING nor GROMA_RECORD is set.
#include "legion/preload.h"

#include <dlfcn.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace {

using groma::legion::PreloadMapper;
using Legion::Mapping::Mapper;

// Returns true if the environment variables ask for a mapping or a recording.
bool is_wanted() {
  return std::getenv(groma::legion::kMappingVariable) != nullptr ||
         std::getenv(groma::legion::kRecordVariable) != nullptr;
}

// Ends the process with a message that the program is not mapped. Otherwise the run would be
// mistaken for a run with the mapping.
[[noreturn]] void refuse(const std::string& why) {
  std::fprintf(stderr, "groma: not mapped: %s\n", why.c_str());
  std::fflush(nullptr);
  _exit(1);
}

// Returns the address and the mangled name of one of this library's replacements, or of the library
// itself. The address of a member function is the first word of a pointer to it.
template <class Function>
Dl_info self(Function function) {
  void* address = nullptr;
  std::memcpy(&address, &function, sizeof address);
  Dl_info info{};
  dladdr(address, &info);
  return info;
}

// Returns the version of the Legion that this process has loaded, such as "25.12.0", or "another
// version" if Legion does not tell it. The function of Legion is looked up by name, because a
// direct call would reach this library.
std::string version_here() {
  using Version = const char*();
  auto* const version =
      reinterpret_cast<Version*>(dlsym(RTLD_DEFAULT, "_ZN6Legion7Runtime18get_legion_versionEv"));
  return version == nullptr ? "another version" : version();
}

// Ends the process if its Legion has another version than the one with which this library was
// built. The replaced functions would then have other arguments. `legion_runtime_start` exists in
// every Legion, so a process without it has no Legion.
__attribute__((constructor)) void check_legion() {
  if (!is_wanted() || dlsym(RTLD_DEFAULT, "legion_runtime_start") == nullptr) return;
  const char* const start = self(&Legion::Runtime::start).dli_sname;
  if (dlsym(RTLD_NEXT, start) == nullptr || version_here() != LEGION_VERSION) {
    refuse("the program has Legion " + version_here() + ", this library is for " LEGION_VERSION);
  }
}

// Returns the mapping library (preload_mapper.cc), a file in the same folder as this library. It is
// loaded once; the process ends if that fails.
void* mapper_library() {
  static void* const library = [] {
    std::string path = self(&check_legion).dli_fname;
    path = path.substr(0, path.rfind('/') + 1) + "libgroma_preload_mapper.so";
    void* const loaded = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (loaded == nullptr) refuse(std::string("cannot load what maps: ") + dlerror());
    return loaded;
  }();
  return library;
}

// Returns the functions of the mapping library.
const PreloadMapper& library() {
  static const auto* const found =
      static_cast<const PreloadMapper*>(dlsym(mapper_library(), groma::legion::kPreloadMapper));
  return *found;
}

// Returns the functions of the mapping library, or null if the environment variables ask for no
// mapping and no recording.
const PreloadMapper* wanted_library() {
  static const PreloadMapper* const found = is_wanted() ? &library() : nullptr;
  return found;
}

// Returns Legion's own function with the name of the replacement `function`. It comes after the
// replacement in the search order of the loader. If Legion was loaded separately (Python), the
// search goes through the mapping library, which needs Legion too.
template <class Wanted, class Function>
Wanted* next(Function function) {
  const char* const name = self(function).dli_sname;
  void* found = dlsym(RTLD_NEXT, name);
  if (found == nullptr) found = dlsym(mapper_library(), name);
  return reinterpret_cast<Wanted*>(found);
}

// Calls the begin() function of the mapping library, just before Legion starts.
void before_start() {
  if (!is_wanted()) return;
  // The version of Legion is checked only now, because Legion may have been loaded after this
  // library.
  check_legion();
  library().begin();
}

// Returns the mapper to register in place of `mapper`, which the program registers.
Mapper* wrap(Legion::Runtime* runtime, Legion::MapperID id, Mapper* mapper,
             Legion::Processor processor) {
  const PreloadMapper* const library = wanted_library();
  return library == nullptr ? mapper : library->wrap(runtime, id, mapper, processor);
}

// Measures the time of a call that launches something, from the constructor to the destructor. A
// launch that may run the task inline is not measured, because its time would include the task's
// own.
class Launch {
 public:
  explicit Launch(bool runs_inline) : said_(runs_inline ? nullptr : wanted()) {
    if (said_ != nullptr) begin_ = Clock::now();
  }
  ~Launch() {
    if (said_ == nullptr) return;
    said_(std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - begin_).count());
  }
  Launch(const Launch&) = delete;
  Launch& operator=(const Launch&) = delete;

 private:
  using Clock = std::chrono::steady_clock;
  using Said = decltype(PreloadMapper::record_call_time);
  static Said wanted() {
    static const Said said = std::getenv(groma::legion::kRecordVariable) == nullptr
                                 ? nullptr
                                 : library().record_call_time;
    return said;
  }

  Said said_;
  Clock::time_point begin_;
};

// Returns Legion's own function, as next() does, for a replaced const member function of
// MapperRuntime.
template <class Returned, class... Arguments>
auto* next_of(Returned (Legion::Mapping::MapperRuntime::*function)(Arguments...) const) {
  using Next = Returned(const Legion::Mapping::MapperRuntime*, Arguments...);
  return next<Next>(function);
}

// Returns the start address of the library that contains this address. Two addresses with the same
// result are in the same library.
void* file_of(void* address) {
  Dl_info info{};
  dladdr(address, &info);
  return info.dli_fbase;
}

// A mapper's request for instances, after Legion has answered it. The address of the caller tells
// who made the request: the mapping library (then nothing is reported), Legion's DefaultMapper, or
// the program's own code.
class Request {
 public:
  using MapperContext = Legion::Mapping::MapperContext;
  using MapperRuntime = Legion::Mapping::MapperRuntime;
  using PhysicalInstance = Legion::Mapping::PhysicalInstance;
  using InstanceCall = groma::legion::InstanceCall;

  // `legions` is the function of Legion that answered the request, `caller` an address in the code
  // that made the request.
  template <class Function>
  Request(const MapperRuntime& runtime, MapperContext context, Function* legions, void* caller)
      : runtime_(runtime), context_(context), library_(wanted_library()) {
    if (library_ == nullptr) return;
    static void* const own_file = file_of(reinterpret_cast<void*>(library_->record_request));
    static void* const legions_file = file_of(reinterpret_cast<void*>(legions));
    void* const from = file_of(caller);
    if (from == own_file) library_ = nullptr;
    by_program_ = from != legions_file;
  }

  // Reports the request and its instance to the mapping library.
  void note(const InstanceCall& call) const {
    if (library_ != nullptr) library_->record_request(runtime_, context_, call, by_program_);
  }

  // Reports existing instances to the mapping library, if Legion's DefaultMapper took them.
  void note_found(const std::vector<PhysicalInstance>& instances) const {
    if (library_ == nullptr || by_program_) return;
    for (const PhysicalInstance& instance : instances)
      library_->record_default_find(context_, instance);
  }

  // Replaces the instance `call.result` that Legion found, if it is not suitable. In that case
  // returns false if there is no other instance, otherwise true. See PreloadMapper::suits and
  // PreloadMapper::replace.
  bool keep_or_replace(const InstanceCall& call, Legion::Memory memory, bool acquire, bool may_make,
                       PhysicalInstance& result, bool& made, std::size_t* bytes) const {
    return library_ == nullptr || library_->suits(runtime_, context_, call, by_program_) ||
           library_->replace(runtime_, context_, call, by_program_, memory, acquire, may_make,
                             result, made, bytes);
  }

  // Removes the unsuitable instances from the list, from the position `before` on. See
  // PreloadMapper::suits.
  void remove_unsuitable(const Legion::LayoutConstraintSet* constraints,
                         Legion::LayoutConstraintID layout,
                         const std::vector<Legion::LogicalRegion>& regions, bool tight,
                         bool acquire, std::size_t before,
                         std::vector<PhysicalInstance>& results) const {
    if (library_ == nullptr) return;
    library_->filter(runtime_, context_, constraints, layout, regions, tight, by_program_, acquire,
                     before, results);
  }

 private:
  const MapperRuntime& runtime_;
  MapperContext context_;
  // The functions of the mapping library. Null if the request is ignored.
  const PreloadMapper* library_;
  // True if the program's own code made the request, false if DefaultMapper did.
  bool by_program_ = false;
};

}  // namespace

namespace Legion {

// The header named below exists only in Legion 25.12 and later, where Runtime::start() has more
// parameters.
#if __has_include(<legion/api/runtime.h>)
int Runtime::start(int argc, char** argv, bool background, bool supply_default_mapper, bool filter,
                   bool initialize_network, bool configure_machine) {
  before_start();
  return next<decltype(start)>(&Runtime::start)(argc, argv, background, supply_default_mapper,
                                                filter, initialize_network, configure_machine);
}
#else
int Runtime::start(int argc, char** argv, bool background, bool supply_default_mapper,
                   bool filter) {
  before_start();
  return next<decltype(start)>(&Runtime::start)(argc, argv, background, supply_default_mapper,
                                                filter);
}
#endif

void Runtime::replace_default_mapper(Mapper* mapper, Processor processor) {
  using Next = void(Runtime*, Mapper*, Processor);
  next<Next> (&Runtime::replace_default_mapper)(this, wrap(this, 0, mapper, processor), processor);
}

void Runtime::add_mapper(MapperID id, Mapper* mapper, Processor processor) {
  using Next = void(Runtime*, MapperID, Mapper*, Processor);
  next<Next> (&Runtime::add_mapper)(this, id, wrap(this, id, mapper, processor), processor);
}

// Returns the mapper that the program registered. A program may convert the result to its own
// mapper class, so it must not get the mapper that was registered in its place.
Mapper* Runtime::get_mapper(Context context, MapperID id, Processor target) {
  using Next = Mapper*(Runtime*, Context, MapperID, Processor);
  Mapper* const found = next<Next>(&Runtime::get_mapper)(this, context, id, target);
  const PreloadMapper* const library = wanted_library();
  return library == nullptr ? found : library->unwrap(found);
}

// The three functions that launch tasks call Legion's own functions and measure their time.
Future Runtime::execute_task(Context context, const TaskLauncher& launcher,
                             std::vector<OutputRequirement>* outputs) {
  using Self = Future (Runtime::*)(Context, const TaskLauncher&, std::vector<OutputRequirement>*);
  using Next = Future(Runtime*, Context, const TaskLauncher&, std::vector<OutputRequirement>*);
  static auto* const legions = next<Next>(static_cast<Self>(&Runtime::execute_task));
  const Launch timed(launcher.enable_inlining);
  return legions(this, context, launcher, outputs);
}

FutureMap Runtime::execute_index_space(Context context, const IndexTaskLauncher& launcher,
                                       std::vector<OutputRequirement>* outputs) {
  using Self =
      FutureMap (Runtime::*)(Context, const IndexTaskLauncher&, std::vector<OutputRequirement>*);
  using Next =
      FutureMap(Runtime*, Context, const IndexTaskLauncher&, std::vector<OutputRequirement>*);
  static auto* const legions = next<Next>(static_cast<Self>(&Runtime::execute_index_space));
  const Launch timed(launcher.enable_inlining);
  return legions(this, context, launcher, outputs);
}

Future Runtime::execute_index_space(Context context, const IndexTaskLauncher& launcher,
                                    ReductionOpID reduction, bool ordered,
                                    std::vector<OutputRequirement>* outputs) {
  using Self = Future (Runtime::*)(Context, const IndexTaskLauncher&, ReductionOpID, bool,
                                   std::vector<OutputRequirement>*);
  using Next = Future(Runtime*, Context, const IndexTaskLauncher&, ReductionOpID, bool,
                      std::vector<OutputRequirement>*);
  static auto* const legions = next<Next>(static_cast<Self>(&Runtime::execute_index_space));
  const Launch timed(launcher.enable_inlining);
  return legions(this, context, launcher, reduction, ordered, outputs);
}

}  // namespace Legion

namespace Legion::Mapping {

using groma::legion::InstanceCall;
using Regions = std::vector<LogicalRegion>;

// The functions of MapperRuntime with which a mapper gets instances. Each has two overloads: one
// takes constraints, the other the number of a registered layout. Each calls Legion's own function,
// then lets the mapping library check and note the instances.
#define GROMA_LAYOUTS(Define)                                        \
  Define(const LayoutConstraintSet&, (&constraints), 0, constraints) \
      Define(LayoutConstraintID, nullptr, constraints, constraints)

#define GROMA_CREATE(Layout, set, id, constraints)                                            \
  bool MapperRuntime::create_physical_instance(                                               \
      MapperContext context, Memory memory, Layout constraints, const Regions& regions,       \
      PhysicalInstance& result, bool acquire, GCPriority priority, bool tight,                \
      std::size_t* footprint, const LayoutConstraint** unsat) const {                         \
    static auto* const legions =                                                              \
        next_of<bool, MapperContext, Memory, Layout, const Regions&, PhysicalInstance&, bool, \
                GCPriority, bool, std::size_t*, const LayoutConstraint**>(                    \
            &MapperRuntime::create_physical_instance);                                        \
    const bool made = legions(this, context, memory, constraints, regions, result, acquire,   \
                              priority, tight, footprint, unsat);                             \
    if (made) {                                                                               \
      Request(*this, context, legions, __builtin_return_address(0))                           \
          .note({set, id, regions, result, priority, tight, true});                           \
    }                                                                                         \
    return made;                                                                              \
  }
GROMA_LAYOUTS(GROMA_CREATE)
#undef GROMA_CREATE

#define GROMA_FIND_OR_CREATE(Layout, set, id, constraints)                                        \
  bool MapperRuntime::find_or_create_physical_instance(                                           \
      MapperContext context, Memory memory, Layout constraints, const Regions& regions,           \
      PhysicalInstance& result, bool& created, bool acquire, GCPriority priority, bool tight,     \
      std::size_t* footprint, const LayoutConstraint** unsat) const {                             \
    static auto* const legions =                                                                  \
        next_of<bool, MapperContext, Memory, Layout, const Regions&, PhysicalInstance&, bool&,    \
                bool, GCPriority, bool, std::size_t*, const LayoutConstraint**>(                  \
            &MapperRuntime::find_or_create_physical_instance);                                    \
    if (!legions(this, context, memory, constraints, regions, result, created, acquire, priority, \
                 tight, footprint, unsat)) {                                                      \
      return false;                                                                               \
    }                                                                                             \
    const Request request(*this, context, legions, __builtin_return_address(0));                  \
    const InstanceCall call{set, id, regions, result, priority, tight, false};                    \
    const bool keeps = created || request.keep_or_replace(call, memory, acquire, true, result,    \
                                                          created, footprint);                    \
    if (keeps) request.note(call);                                                                \
    return keeps;                                                                                 \
  }
GROMA_LAYOUTS(GROMA_FIND_OR_CREATE)
#undef GROMA_FIND_OR_CREATE

#define GROMA_FIND(Layout, set, id, constraints)                                              \
  bool MapperRuntime::find_physical_instance(                                                 \
      MapperContext context, Memory memory, Layout constraints, const Regions& regions,       \
      PhysicalInstance& result, bool acquire, bool tight) const {                             \
    static auto* const legions =                                                              \
        next_of<bool, MapperContext, Memory, Layout, const Regions&, PhysicalInstance&, bool, \
                bool>(&MapperRuntime::find_physical_instance);                                \
    if (!legions(this, context, memory, constraints, regions, result, acquire, tight)) {      \
      return false;                                                                           \
    }                                                                                         \
    const Request request(*this, context, legions, __builtin_return_address(0));              \
    const InstanceCall call{set, id, regions, result, 0, tight, false};                       \
    bool made = false;                                                                        \
    const bool keeps =                                                                        \
        request.keep_or_replace(call, memory, acquire, false, result, made, nullptr);         \
    if (keeps) request.note(call);                                                            \
    return keeps;                                                                             \
  }                                                                                           \
  void MapperRuntime::find_physical_instances(                                                \
      MapperContext context, Memory memory, Layout constraints, const Regions& regions,       \
      std::vector<PhysicalInstance>& results, bool acquire, bool tight) const {               \
    static auto* const legions = next_of<void, MapperContext, Memory, Layout, const Regions&, \
                                         std::vector<PhysicalInstance>&, bool, bool>(         \
        &MapperRuntime::find_physical_instances);                                             \
    const std::size_t before = results.size();                                                \
    legions(this, context, memory, constraints, regions, results, acquire, tight);            \
    const Request request(*this, context, legions, __builtin_return_address(0));              \
    request.remove_unsuitable(set, id, regions, tight, acquire, before, results);             \
    for (const PhysicalInstance& result : results) {                                          \
      request.note({set, id, regions, result, 0, tight, false});                              \
    }                                                                                         \
  }
GROMA_LAYOUTS(GROMA_FIND)
#undef GROMA_FIND
#undef GROMA_LAYOUTS

// DefaultMapper takes valid instances, and those of its cached task mappings, through the two
// overloads of acquire_and_filter_instances(). Both overloads report the instances and leave
// Legion's answer unchanged.
bool MapperRuntime::acquire_and_filter_instances(MapperContext context,
                                                 std::vector<PhysicalInstance>& instances,
                                                 bool filter_acquired) const {
  static auto* const legions = next_of<bool, MapperContext, std::vector<PhysicalInstance>&, bool>(
      &MapperRuntime::acquire_and_filter_instances);
  const bool all = legions(this, context, instances, filter_acquired);
  Request(*this, context, legions, __builtin_return_address(0)).note_found(instances);
  return all;
}

bool MapperRuntime::acquire_and_filter_instances(
    MapperContext context, std::vector<std::vector<PhysicalInstance>>& instances,
    bool filter_acquired) const {
  static auto* const legions =
      next_of<bool, MapperContext, std::vector<std::vector<PhysicalInstance>>&, bool>(
          &MapperRuntime::acquire_and_filter_instances);
  const bool all = legions(this, context, instances, filter_acquired);
  const Request request(*this, context, legions, __builtin_return_address(0));
  for (const auto& each : instances) request.note_found(each);
  return all;
}

}  // namespace Legion::Mapping
