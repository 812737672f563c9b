// A mapper that stands above another mapper and does not change its decisions. It writes each
// decision to a log, in the format of Legion's LoggingWrapper (groma/explain_log.h reads both), and
// whether the run reached its end.
//
// LoggingWrapper itself is not used, for three reasons: it does not forward every hook, it asks
// sharding functors about every point, and its lines are mixed with the program's own messages. It
// also lacks facts that explain_log needs: the names of regions, the launch domain of a point,
// whether a task can be replicated, and which tasks moved to another processor.
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

// The file to which all mappers of one process log their decisions. Thread-safe.
class MapperLogFile {
 public:
  // Creates the log file. It begins with the machine's memories and processors.
  static Result<std::shared_ptr<MapperLogFile>> make(const std::string& path);
  ~MapperLogFile();
  MapperLogFile(const MapperLogFile&) = delete;
  MapperLogFile& operator=(const MapperLogFile&) = delete;

  void on_mapper_start();
  // Called when a logging mapper ends. The last one notes in the log that the run has ended.
  void on_mapper_end();
  // Writes complete lines to the log. The lines of one call stay together.
  void write(const std::string& lines);
  // Returns true if the task has a replicable variant for this processor kind. Legion is asked only
  // once; the answer is cached.
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

// Makes a mapper that logs the decisions of the mapper `own`. The new mapper owns `own`.
std::unique_ptr<Legion::Mapping::Mapper> make_logged(Legion::Mapping::Mapper* own,
                                                     std::shared_ptr<MapperLogFile> file);

// Returns the mapper below a mapper that make_logged() made, or null for any other mapper.
Legion::Mapping::Mapper* mapper_below_logger(Legion::Mapping::Mapper* mapper);

}  // namespace groma::legion
