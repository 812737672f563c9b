// Between the two libraries that take a Legion program over without rebuilding it: preload.cc
// stands in LD_PRELOAD, of every process that the program starts, so it needs nothing;
// preload_mapper.cc, which needs Legion, it loads where a Legion starts under a mapping or is
// recorded.
#pragma once

#include <legion.h>

#include <cstdint>

namespace groma::legion {

// The mapping: the path of a file, or a name for messages, a line end and the program's text.
inline constexpr const char* kMappingVariable = "GROMA_MAPPING";
// The file into which what the program does is recorded. With a mapping, under that.
inline constexpr const char* kRecordVariable = "GROMA_RECORD";
// The file into which goes what Legion measures of the run.
inline constexpr const char* kProfileVariable = "GROMA_PROFILE";
// The file into which goes what the mappers decide, in the form of Legion's LoggingWrapper.
inline constexpr const char* kLogVariable = "GROMA_LOG";

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
  // The program's mapper beneath one that is registered, or that itself.
  Legion::Mapping::Mapper* (*unwrap)(Legion::Mapping::Mapper* mapper) = nullptr;
};
inline constexpr const char* kPreloadMapper = "groma_preload_mapper";

}  // namespace groma::legion
