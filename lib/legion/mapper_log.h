// A mapper above another mapper, whose decisions it does not change. It writes each decision in the
// format of Legion's LoggingWrapper (groma/explain_log.h reads both), and whether the run reached
// its end.
//
// LoggingWrapper itself is not used, for three reasons. It does not forward every hook. It asks
// sharding functors about every point. Its lines are mixed with the program's own messages. It also
// lacks facts that explain_log needs: the names of regions, the launch domain of a point, whether a
// task can be replicated, and which tasks moved to another processor.
#pragma once

#include <legion.h>

#include <cstdio>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "groma/result.h"

namespace groma::legion {

// The log file of one process. Thread-safe.
class MapperLogFile {
 public:
  // Creates the file. It begins with the machine's memories and processors.
  static Result<std::shared_ptr<MapperLogFile>> make(const std::string& path);
  ~MapperLogFile();
  MapperLogFile(const MapperLogFile&) = delete;
  MapperLogFile& operator=(const MapperLogFile&) = delete;

  void mapper_begins();
  // When the last writer has left, the end of the run is noted and everything is on disk.
  void mapper_ends();
  // Writes complete lines. The lines of one call stay together.
  void write(const std::string& lines);
  // Returns true if the task has a replicable variant for this processor kind. Legion is asked only
  // once.
  bool has_replicable_variant(Legion::Mapping::MapperRuntime* runtime,
                              Legion::Mapping::MapperContext context, Legion::TaskID task,
                              Legion::Processor::Kind kind);

 private:
  MapperLogFile(std::FILE* file, std::string path) : file_(file), path_(std::move(path)) {}

  std::mutex mutex_;
  std::FILE* file_;
  const std::string path_;
  int writers_ = 0;
  bool failed_ = false, ended_ = false;
  std::map<std::pair<Legion::TaskID, Legion::Processor::Kind>, bool> replicable_;
};

// Makes a mapper that logs the decisions of `own` and owns it.
std::unique_ptr<Legion::Mapping::Mapper> make_logged(Legion::Mapping::Mapper* own,
                                                     std::shared_ptr<MapperLogFile> file);

// Returns the `own` of a mapper that make_logged() made, or null for any other mapper.
Legion::Mapping::Mapper* own_of_logger(Legion::Mapping::Mapper* mapper);

}  // namespace groma::legion
