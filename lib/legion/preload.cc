// Loaded before Legion (LD_PRELOAD) in a program that was not built with Groma. It replaces the
// functions with which a program starts Legion, registers mappers and launches tasks. It does
// nothing in programs without Legion, or if neither GROMA_MAPPING nor GROMA_RECORD is set.
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

bool is_wanted() {
  return std::getenv(groma::legion::kMappingVariable) != nullptr ||
         std::getenv(groma::legion::kRecordVariable) != nullptr;
}

[[noreturn]] void refuse(const std::string& why) {
  std::fprintf(stderr, "groma: not mapped: %s\n", why.c_str());
  std::fflush(nullptr);
  _exit(1);
}

// Returns the address and the mangled name of one of the functions below. The address of a member
// function is the first word of its pointer.
template <class Function>
Dl_info self(Function function) {
  void* address = nullptr;
  std::memcpy(&address, &function, sizeof address);
  Dl_info info{};
  dladdr(address, &info);
  return info;
}

std::string version_here() {
  using Version = const char*();
  auto* const version =
      reinterpret_cast<Version*>(dlsym(RTLD_DEFAULT, "_ZN6Legion7Runtime18get_legion_versionEv"));
  return version == nullptr ? "another version" : version();
}

// These functions replace the functions of a Legion like the one that they were built with.
// `legion_runtime_start` exists in every Legion.
__attribute__((constructor)) void check_legion() {
  if (!is_wanted() || dlsym(RTLD_DEFAULT, "legion_runtime_start") == nullptr) return;
  const char* const start = self(&Legion::Runtime::start).dli_sname;
  if (dlsym(RTLD_NEXT, start) == nullptr || version_here() != LEGION_VERSION) {
    refuse("the program has Legion " + version_here() + ", this library is for " LEGION_VERSION);
  }
}

// Returns the mapping library (preload_mapper.cc). It is loaded once; the process ends if that
// fails.
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

const PreloadMapper& library() {  // functions of the mapping library
  static const auto* const found =
      static_cast<const PreloadMapper*>(dlsym(mapper_library(), groma::legion::kPreloadMapper));
  return *found;
}

// Returns Legion's own function of this name. It comes after ours in the search order. If Legion
// was loaded separately (Python), it is found through the mapping library, which needs Legion too.
template <class Wanted, class Function>
Wanted* next(Function function) {
  const char* const name = self(function).dli_sname;
  void* found = dlsym(RTLD_NEXT, name);
  if (found == nullptr) found = dlsym(mapper_library(), name);
  return reinterpret_cast<Wanted*>(found);
}

void before_start() {
  if (!is_wanted()) return;
  check_legion();  // Legion may have been loaded later
  library().begin();
}

Mapper* wrap(Legion::Runtime* runtime, Legion::MapperID id, Mapper* mapper,
             Legion::Processor processor) {
  return !is_wanted() ? mapper : library().wrap(runtime, id, mapper, processor);
}

// Measures the time of a launch while the object lives. A launch that may run the task inline is
// not measured, because its time tells nothing about Legion.
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
  using Said = decltype(PreloadMapper::called);
  static Said wanted() {
    static const Said said =
        std::getenv(groma::legion::kRecordVariable) == nullptr ? nullptr : library().called;
    return said;
  }

  Said said_;
  Clock::time_point begin_;
};

// The same for const member functions of MapperRuntime.
template <class Returned, class... Arguments>
auto* next_of(Returned (Legion::Mapping::MapperRuntime::*function)(Arguments...) const) {
  using Next = Returned(const Legion::Mapping::MapperRuntime*, Arguments...);
  return next<Next>(function);
}

// Returns the start address of the library that contains the address.
void* file_of(void* address) {
  Dl_info info{};
  dladdr(address, &info);
  return info.dli_fbase;
}

// Reports to the mapping library that Legion's DefaultMapper took existing instances. `caller` is
// an address in the code that took them.
template <class Function>
void note_found(Legion::Mapping::MapperContext context,
                const std::vector<Legion::Mapping::PhysicalInstance>& instances, Function* legions,
                void* caller) {
  static const auto noted = is_wanted() ? library().found : decltype(PreloadMapper::found)(nullptr);
  if (noted == nullptr) return;
  static void* const legions_file = file_of(reinterpret_cast<void*>(legions));
  if (file_of(caller) != legions_file) return;
  for (const Legion::Mapping::PhysicalInstance& instance : instances) noted(context, instance);
}

// Reports to the mapping library that a mapper requested an instance. `caller` is an address in the
// code that made the request.
template <class Function>
void note_asked(const Legion::Mapping::MapperRuntime& runtime,
                Legion::Mapping::MapperContext context, const groma::legion::InstanceCall& call,
                Function* legions, void* caller) {
  static const auto noted = is_wanted() ? library().asked : decltype(PreloadMapper::asked)(nullptr);
  if (noted == nullptr) return;
  void* const from = file_of(caller);
  // A request of the mapping library itself.
  if (from == file_of(reinterpret_cast<void*>(noted))) return;
  noted(runtime, context, call, from != file_of(reinterpret_cast<void*>(legions)));
}

// Replaces the instance `call.result` that Legion found for a mapper, if it does not suit. Then
// returns false if there is no instance, otherwise true. See PreloadMapper::suits.
template <class Function>
bool keep_or_replace(const Legion::Mapping::MapperRuntime& runtime,
                     Legion::Mapping::MapperContext context,
                     const groma::legion::InstanceCall& call, Legion::Memory memory, bool acquire,
                     bool may_make, Legion::Mapping::PhysicalInstance& result, bool& made,
                     std::size_t* bytes, Function* legions, void* caller) {
  static const auto suits = is_wanted() ? library().suits : decltype(PreloadMapper::suits)(nullptr);
  if (suits == nullptr) return true;
  void* const from = file_of(caller);
  if (from == file_of(reinterpret_cast<void*>(suits))) return true;
  const bool by_program = from != file_of(reinterpret_cast<void*>(legions));
  if (suits(runtime, context, call, by_program)) return true;
  return library().replace(runtime, context, call, by_program, memory, acquire, may_make, result,
                           made, bytes);
}

// Removes the instances from `before` on that do not suit the request. See PreloadMapper::suits.
template <class Function>
void remove_unsuitable(const Legion::Mapping::MapperRuntime& runtime,
                       Legion::Mapping::MapperContext context,
                       const Legion::LayoutConstraintSet* constraints,
                       Legion::LayoutConstraintID layout,
                       const std::vector<Legion::LogicalRegion>& regions, bool tight, bool acquire,
                       std::size_t before, std::vector<Legion::Mapping::PhysicalInstance>& results,
                       Function* legions, void* caller) {
  static const auto suits = is_wanted() ? library().suits : decltype(PreloadMapper::suits)(nullptr);
  if (suits == nullptr) return;
  void* const from = file_of(caller);
  if (from == file_of(reinterpret_cast<void*>(suits))) return;
  const bool by_program = from != file_of(reinterpret_cast<void*>(legions));
  library().filter(runtime, context, constraints, layout, regions, tight, by_program, acquire,
                   before, results);
}

}  // namespace

namespace Legion {

#if __has_include(<legion/api/runtime.h>)  // from 25.12 on
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

Mapper* Runtime::get_mapper(Context context, MapperID id, Processor target) {
  using Next = Mapper*(Runtime*, Context, MapperID, Processor);
  Mapper* const found = next<Next>(&Runtime::get_mapper)(this, context, id, target);
  return !is_wanted() ? found : library().unwrap(found);
}

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

using Regions = std::vector<LogicalRegion>;

// The MapperRuntime functions with which a mapper gets instances. Each takes constraints or the
// number of a registered layout.
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
      note_asked(*this, context, {set, id, regions, result, priority, tight, true}, legions,  \
                 __builtin_return_address(0));                                                \
    }                                                                                         \
    return made;                                                                              \
  }
GROMA_LAYOUTS(GROMA_CREATE)
#undef GROMA_CREATE

#define GROMA_FIND_OR_CREATE(Layout, set, id, constraints)                                       \
  bool MapperRuntime::find_or_create_physical_instance(                                          \
      MapperContext context, Memory memory, Layout constraints, const Regions& regions,          \
      PhysicalInstance& result, bool& created, bool acquire, GCPriority priority, bool tight,    \
      std::size_t* footprint, const LayoutConstraint** unsat) const {                            \
    static auto* const legions =                                                                 \
        next_of<bool, MapperContext, Memory, Layout, const Regions&, PhysicalInstance&, bool&,   \
                bool, GCPriority, bool, std::size_t*, const LayoutConstraint**>(                 \
            &MapperRuntime::find_or_create_physical_instance);                                   \
    bool made = legions(this, context, memory, constraints, regions, result, created, acquire,   \
                        priority, tight, footprint, unsat);                                      \
    if (made && !created) {                                                                      \
      made = keep_or_replace(*this, context, {set, id, regions, result, priority, tight, false}, \
                             memory, acquire, true, result, created, footprint, legions,         \
                             __builtin_return_address(0));                                       \
    }                                                                                            \
    if (made) {                                                                                  \
      note_asked(*this, context, {set, id, regions, result, priority, tight, false}, legions,    \
                 __builtin_return_address(0));                                                   \
    }                                                                                            \
    return made;                                                                                 \
  }
GROMA_LAYOUTS(GROMA_FIND_OR_CREATE)
#undef GROMA_FIND_OR_CREATE

#define GROMA_FIND(Layout, set, id, constraints)                                                   \
  bool MapperRuntime::find_physical_instance(                                                      \
      MapperContext context, Memory memory, Layout constraints, const Regions& regions,            \
      PhysicalInstance& result, bool acquire, bool tight) const {                                  \
    static auto* const legions =                                                                   \
        next_of<bool, MapperContext, Memory, Layout, const Regions&, PhysicalInstance&, bool,      \
                bool>(&MapperRuntime::find_physical_instance);                                     \
    bool found = legions(this, context, memory, constraints, regions, result, acquire, tight);     \
    if (found) {                                                                                   \
      bool made = false;                                                                           \
      found = keep_or_replace(*this, context, {set, id, regions, result, 0, tight, false}, memory, \
                              acquire, false, result, made, nullptr, legions,                      \
                              __builtin_return_address(0));                                        \
    }                                                                                              \
    if (found) {                                                                                   \
      note_asked(*this, context, {set, id, regions, result, 0, tight, false}, legions,             \
                 __builtin_return_address(0));                                                     \
    }                                                                                              \
    return found;                                                                                  \
  }                                                                                                \
  void MapperRuntime::find_physical_instances(                                                     \
      MapperContext context, Memory memory, Layout constraints, const Regions& regions,            \
      std::vector<PhysicalInstance>& results, bool acquire, bool tight) const {                    \
    static auto* const legions = next_of<void, MapperContext, Memory, Layout, const Regions&,      \
                                         std::vector<PhysicalInstance>&, bool, bool>(              \
        &MapperRuntime::find_physical_instances);                                                  \
    const std::size_t before = results.size();                                                     \
    legions(this, context, memory, constraints, regions, results, acquire, tight);                 \
    remove_unsuitable(*this, context, set, id, regions, tight, acquire, before, results, legions,  \
                      __builtin_return_address(0));                                                \
    for (const PhysicalInstance& result : results) {                                               \
      note_asked(*this, context, {set, id, regions, result, 0, tight, false}, legions,             \
                 __builtin_return_address(0));                                                     \
    }                                                                                              \
  }
GROMA_LAYOUTS(GROMA_FIND)
#undef GROMA_FIND
#undef GROMA_LAYOUTS

// DefaultMapper takes valid instances, and those of its cached task mappings, through these two
// functions.
bool MapperRuntime::acquire_and_filter_instances(MapperContext context,
                                                 std::vector<PhysicalInstance>& instances,
                                                 bool filter_acquired) const {
  static auto* const legions = next_of<bool, MapperContext, std::vector<PhysicalInstance>&, bool>(
      &MapperRuntime::acquire_and_filter_instances);
  const bool all = legions(this, context, instances, filter_acquired);
  note_found(context, instances, legions, __builtin_return_address(0));
  return all;
}

bool MapperRuntime::acquire_and_filter_instances(
    MapperContext context, std::vector<std::vector<PhysicalInstance>>& instances,
    bool filter_acquired) const {
  static auto* const legions =
      next_of<bool, MapperContext, std::vector<std::vector<PhysicalInstance>>&, bool>(
          &MapperRuntime::acquire_and_filter_instances);
  const bool all = legions(this, context, instances, filter_acquired);
  for (const auto& each : instances) {
    note_found(context, each, legions, __builtin_return_address(0));
  }
  return all;
}

}  // namespace Legion::Mapping
