// Interface between the two libraries with which Groma takes over a Legion program without a
// rebuild. preload.cc is in LD_PRELOAD of every process that the program starts, so it depends on
// nothing else. It loads preload_mapper.cc, which needs Legion, when Legion starts under a mapping
// or is recorded.
#pragma once

#include <legion.h>

#include <cstdint>
#include <vector>

namespace groma::legion {

// Any value means: a launcher started `groma` once for each process, so each process reports its
// own actions. Without the variable, the first process reports for all.
inline constexpr const char* kEachProcessVariable = "GROMA_EACH_PROCESS";
// The mapping. The value is the path of a file, or a name for messages, a line end, and the text of
// the mapping program.
inline constexpr const char* kMappingVariable = "GROMA_MAPPING";
// The names in Options::override_layouts, one in each line.
inline constexpr const char* kOverrideLayoutsVariable = "GROMA_OVERRIDE_LAYOUTS";
// The path of the file for the recording of the run. If there is a mapping too, the run under this
// mapping is recorded.
inline constexpr const char* kRecordVariable = "GROMA_RECORD";
// The path of the file for Legion's measurements of the run.
inline constexpr const char* kProfileVariable = "GROMA_PROFILE";
// The path of the file for the decisions of the mappers, in the format of Legion's LoggingWrapper.
inline constexpr const char* kLogVariable = "GROMA_LOG";

// The arguments and the result of a call with which a mapper gets an instance, such as
// MapperRuntime::create_physical_instance.
struct InstanceCall {
  const Legion::LayoutConstraintSet* constraints;  // Null: the constraints are those of `layout`.
  Legion::LayoutConstraintID layout;
  const std::vector<Legion::LogicalRegion>& regions;
  const Legion::Mapping::PhysicalInstance& result;
  int priority;
  bool tight;
  // True: the mapper called create_physical_instance. False: it called a function that may return
  // an existing instance.
  bool fresh;
};

// The functions of preload_mapper.cc, exported under the name kPreloadMapper.
struct PreloadMapper {
  // Called when the runtime is about to start. Adds Groma's registration callback as the last one.
  void (*begin)() = nullptr;
  // Returns the mapper to register in place of `mapper`, which the program registers under this id.
  Legion::Mapping::Mapper* (*wrap)(Legion::Runtime* runtime, Legion::MapperID id,
                                   Legion::Mapping::Mapper* mapper,
                                   Legion::Processor processor) = nullptr;
  // Reports that a task's call to launch something took this long.
  void (*called)(std::int64_t nanoseconds) = nullptr;
  // Reports that a mapper got an instance. `by_program`: the program's own code made the request,
  // not Legion's DefaultMapper. The call happens inside the hook with this context.
  void (*asked)(const Legion::Mapping::MapperRuntime& runtime,
                Legion::Mapping::MapperContext context, const InstanceCall& call,
                bool by_program) = nullptr;
  // Returns true if the request may have `instance`, which Legion found for it. An instance that
  // an adapter made for a statement suits only if it has every part of the requested layout.
  bool (*suits)(const Legion::Mapping::MapperRuntime& runtime,
                Legion::Mapping::MapperContext context, const InstanceCall& call,
                bool by_program) = nullptr;
  // Replaces `call.result`, which does not suit, by `result`: another existing instance, or if
  // `may_make` a new one. Returns false if there is none. `made` tells whether it is new.
  bool (*replace)(const Legion::Mapping::MapperRuntime& runtime,
                  Legion::Mapping::MapperContext context, const InstanceCall& call, bool by_program,
                  Legion::Memory memory, bool acquire, bool may_make,
                  Legion::Mapping::PhysicalInstance& result, bool& made,
                  std::size_t* bytes) = nullptr;
  // Removes the instances from position `before` on that do not suit the request. Releases them if
  // they were acquired.
  void (*filter)(const Legion::Mapping::MapperRuntime& runtime,
                 Legion::Mapping::MapperContext context,
                 const Legion::LayoutConstraintSet* constraints, Legion::LayoutConstraintID layout,
                 const std::vector<Legion::LogicalRegion>& regions, bool tight, bool by_program,
                 bool acquire, std::size_t before,
                 std::vector<Legion::Mapping::PhysicalInstance>& results) = nullptr;
  // Reports that Legion's DefaultMapper took an existing instance, inside the hook with this
  // context.
  void (*found)(Legion::Mapping::MapperContext context,
                const Legion::Mapping::PhysicalInstance& instance) = nullptr;
  // Returns the program's mapper below a registered mapper, or that mapper itself if there is none.
  Legion::Mapping::Mapper* (*unwrap)(Legion::Mapping::Mapper* mapper) = nullptr;
};
inline constexpr const char* kPreloadMapper = "groma_preload_mapper";

}  // namespace groma::legion
