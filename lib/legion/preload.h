// Between the two libraries that take a Legion program over without rebuilding it: preload.cc
// stands in LD_PRELOAD, of every process that the program starts, so it needs nothing;
// preload_mapper.cc, which needs Legion, it loads where a Legion starts under a mapping or is
// recorded.
#pragma once

#include <legion.h>

#include <cstdint>
#include <vector>

namespace groma::legion {

// Set to anything: `groma` was started by a launcher, once for each process, so that each says what
// it does. Otherwise the first process speaks for all.
inline constexpr const char* kEachProcessVariable = "GROMA_EACH_PROCESS";
// The mapping: the path of a file, or a name for messages, a line end and the program's text.
inline constexpr const char* kMappingVariable = "GROMA_MAPPING";
// The tasks of Options::override_layouts, a line each.
inline constexpr const char* kOverrideLayoutsVariable = "GROMA_OVERRIDE_LAYOUTS";
// The file into which what the program does is recorded. With a mapping, under that.
inline constexpr const char* kRecordVariable = "GROMA_RECORD";
// The file into which goes what Legion measures of the run.
inline constexpr const char* kProfileVariable = "GROMA_PROFILE";
// The file into which goes what the mappers decide, in the form of Legion's LoggingWrapper.
inline constexpr const char* kLogVariable = "GROMA_LOG";

// Arguments and result of MapperRuntime::create_physical_instance and the other functions by which
// a mapper gets an instance.
struct InstanceCall {
  const Legion::LayoutConstraintSet* constraints;  // null: those of `layout`
  Legion::LayoutConstraintID layout;
  const std::vector<Legion::LogicalRegion>& regions;
  const Legion::Mapping::PhysicalInstance& result;
  int priority;
  bool tight;
  bool fresh;  // create_physical_instance, not find_or_create_physical_instance
};

// What preload_mapper.cc offers, under the name kPreloadMapper.
struct PreloadMapper {
  // The runtime is about to start: the last registration callback is ours.
  void (*begin)() = nullptr;
  // What is registered in place of `mapper`, which the program registers under the id.
  Legion::Mapping::Mapper* (*wrap)(Legion::Runtime* runtime, Legion::MapperID id,
                                   Legion::Mapping::Mapper* mapper,
                                   Legion::Processor processor) = nullptr;
  // A task launched something by a call that took so long.
  void (*called)(std::int64_t nanoseconds) = nullptr;
  // A mapper got an instance. `by_program`: the program's own code asked, not Legion's
  // DefaultMapper. The call is made inside the hook with that context.
  void (*asked)(const Legion::Mapping::MapperRuntime& runtime,
                Legion::Mapping::MapperContext context, const InstanceCall& call,
                bool by_program) = nullptr;
  // Legion's DefaultMapper took an instance that was there, inside the hook with that context.
  void (*found)(Legion::Mapping::MapperContext context,
                const Legion::Mapping::PhysicalInstance& instance) = nullptr;
  // The program's mapper beneath one that is registered, or that itself.
  Legion::Mapping::Mapper* (*unwrap)(Legion::Mapping::Mapper* mapper) = nullptr;
};
inline constexpr const char* kPreloadMapper = "groma_preload_mapper";

}  // namespace groma::legion
