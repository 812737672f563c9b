// Interface between the two libraries with which Groma takes over a Legion program without a
// rebuild. preload.cc is in LD_PRELOAD of every process that the program starts, so it depends on
// nothing else. It loads preload_mapper.cc, which needs Legion, when Legion starts under a mapping
// or is recorded.
#pragma once

#include <legion.h>

#include <cstdint>
#include <vector>

namespace groma::legion {

// An environment variable. Any value means: a launcher started `groma` once for each process, so
// each process reports its own actions. Without the variable, the first process reports for all.
inline constexpr const char* kEachProcessVariable = "GROMA_EACH_PROCESS";
// The environment variable that names the mapping. Its value is the path of a file; or it is a name
// for messages, a line end, and the text of the mapping program.
inline constexpr const char* kMappingVariable = "GROMA_MAPPING";
// The environment variable with the task names of Options::override_layouts, one in each line.
inline constexpr const char* kOverrideLayoutsVariable = "GROMA_OVERRIDE_LAYOUTS";
// The environment variable with the path of the file for the recording of the run. If there is a
// mapping too, the run under this mapping is recorded.
inline constexpr const char* kRecordVariable = "GROMA_RECORD";
// The environment variable that asks to record only blocks of the program. Any value means:
// launches are recorded only between groma_record_block(1) and groma_record_block(0), a function
// that preload_mapper.cc exports for the program.
inline constexpr const char* kRecordBlocksVariable = "GROMA_RECORD_BLOCKS";
// The environment variable with the path of the file for the profile: Legion's measurements of the
// run.
inline constexpr const char* kProfileVariable = "GROMA_PROFILE";
// The environment variable with the path of the log file for the decisions of the mappers, in the
// format of Legion's LoggingWrapper.
inline constexpr const char* kLogVariable = "GROMA_LOG";

// The arguments and the result of a call with which a mapper gets an instance, such as
// MapperRuntime::create_physical_instance.
struct InstanceCall {
  // The layout constraints of the instance. Null if the constraints are those of the registered
  // `layout`.
  const Legion::LayoutConstraintSet* constraints;
  Legion::LayoutConstraintID layout;
  const std::vector<Legion::LogicalRegion>& regions;
  const Legion::Mapping::PhysicalInstance& result;
  int priority;
  bool tight;
  // True if the mapper called create_physical_instance, false if it called a function that may
  // return an existing instance.
  bool fresh;
};

// The functions of the mapping library (preload_mapper.cc), which it exports as the symbol
// kPreloadMapper.
struct PreloadMapper {
  // Called when the Legion runtime is about to start. Adds Groma's registration callback as the
  // last one.
  void (*begin)() = nullptr;
  // Returns the mapper to register in place of `mapper`, which the program registers under this id.
  Legion::Mapping::Mapper* (*wrap)(Legion::Runtime* runtime, Legion::MapperID id,
                                   Legion::Mapping::Mapper* mapper,
                                   Legion::Processor processor) = nullptr;
  // Reports the time that a call took with which a task launches something.
  void (*record_call_time)(std::int64_t nanoseconds) = nullptr;
  // Reports that a mapper got an instance, inside the hook with this context. `by_program`: the
  // program's own code made the request, not Legion's DefaultMapper.
  void (*record_request)(const Legion::Mapping::MapperRuntime& runtime,
                         Legion::Mapping::MapperContext context, const InstanceCall& call,
                         bool by_program) = nullptr;
  // Returns true if `call.result`, the instance that Legion found, may serve the request. An
  // instance that an adapter made for a statement is suitable only if it has every part of the
  // requested layout.
  bool (*suits)(const Legion::Mapping::MapperRuntime& runtime,
                Legion::Mapping::MapperContext context, const InstanceCall& call,
                bool by_program) = nullptr;
  // Replaces the unsuitable instance `call.result` by `result`: another existing instance, or if
  // `may_make` a new one. Returns false if there is none. `made` tells whether the instance is new.
  bool (*replace)(const Legion::Mapping::MapperRuntime& runtime,
                  Legion::Mapping::MapperContext context, const InstanceCall& call, bool by_program,
                  Legion::Memory memory, bool acquire, bool may_make,
                  Legion::Mapping::PhysicalInstance& result, bool& made,
                  std::size_t* bytes) = nullptr;
  // Removes unsuitable instances from the list `results`, from position `before` on. Releases them
  // if they were acquired.
  void (*filter)(const Legion::Mapping::MapperRuntime& runtime,
                 Legion::Mapping::MapperContext context,
                 const Legion::LayoutConstraintSet* constraints, Legion::LayoutConstraintID layout,
                 const std::vector<Legion::LogicalRegion>& regions, bool tight, bool by_program,
                 bool acquire, std::size_t before,
                 std::vector<Legion::Mapping::PhysicalInstance>& results) = nullptr;
  // Reports that Legion's DefaultMapper took an existing instance, inside the hook with this
  // context.
  void (*record_default_find)(Legion::Mapping::MapperContext context,
                              const Legion::Mapping::PhysicalInstance& instance) = nullptr;
  // Returns the program's mapper below a registered mapper, or that mapper itself if there is none.
  Legion::Mapping::Mapper* (*unwrap)(Legion::Mapping::Mapper* mapper) = nullptr;
};
inline constexpr const char* kPreloadMapper = "groma_preload_mapper";

}  // namespace groma::legion
