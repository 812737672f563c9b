// A mapper above another one, which decides as before. It writes what is decided, in the lines of
// Legion's LoggingWrapper (groma/explain_log.h reads both), and whether the run came to its end.
// LoggingWrapper itself is not used: it does not forward every hook, it asks sharding functors for
// every point, and its lines go where the program's own messages are. It also lacks what
// explain_log needs: the names of regions, the domain of the launch that a point is of, whether a
// task can be replicated, which tasks moved to another processor.
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

// One for a process. Thread-safe.
class MapperLogFile {
 public:
  // Begins with the machine's memories and processors.
  static Result<std::shared_ptr<MapperLogFile>> make(const std::string& path);
  ~MapperLogFile();
  MapperLogFile(const MapperLogFile&) = delete;
  MapperLogFile& operator=(const MapperLogFile&) = delete;

  void enter();
  void leave();  // after the last, all is on disk
  // Whole lines, which stay together.
  void write(const std::string& lines);
  // Whether a variant of the task for that kind of processor is replicable. Legion is asked once.
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

// `own` ends with what is returned.
std::unique_ptr<Legion::Mapping::Mapper> make_logged(Legion::Mapping::Mapper* own,
                                                     std::shared_ptr<MapperLogFile> file);

// The `own` of such a mapper; null for any other.
Legion::Mapping::Mapper* logged_by(Legion::Mapping::Mapper* mapper);

}  // namespace groma::legion
