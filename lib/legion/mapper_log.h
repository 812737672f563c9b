// A mapper above another one, which decides as before: it writes what is decided, in the lines of
// Legion's LoggingWrapper (groma/explain_log.h reads both), and whether the run came to its end.
// That is not used itself: it has no names of regions, it asks sharding functors for every point,
// it forwards not every hook, and its lines go where the program's own messages are.
#pragma once

#include <legion.h>

#include <cstdio>
#include <memory>
#include <mutex>
#include <string>

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

 private:
  MapperLogFile(std::FILE* file, std::string path) : file_(file), path_(std::move(path)) {}

  std::mutex mutex_;
  std::FILE* file_;
  const std::string path_;
  int writers_ = 0;
  bool failed_ = false, ended_ = false;
};

// `own` ends with what is returned.
std::unique_ptr<Legion::Mapping::Mapper> make_logged(Legion::Mapping::Mapper* own,
                                                     std::shared_ptr<MapperLogFile> file);

// The `own` of such a mapper; null for any other.
Legion::Mapping::Mapper* logged_by(Legion::Mapping::Mapper* mapper);

}  // namespace groma::legion
