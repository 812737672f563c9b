// RunLog: the log of a run under the policy, with one line of JSON for each task that ran.
#pragma once

#include <starpu.h>

#include <cstdio>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "groma/mapper.h"
#include "groma/result.h"
#include "starpu/task_chooser.h"
#include "starpu/workers.h"

namespace groma::starpu {

// Thread-safe. The first line describes the run; docs/starpu.md has the members of each line. A
// task that the program put on a worker itself has no members but "task" and those of its worker.
// The first line is written with the first task, since StarPU names its workers late.
class RunLog {
 public:
  // Opens the file. Fails with kUnreadable.
  static Result<std::unique_ptr<RunLog>> open(const std::string& path, std::string_view mapping,
                                              std::shared_ptr<const Workers> workers);
  ~RunLog();
  RunLog(const RunLog&) = delete;
  RunLog& operator=(const RunLog&) = delete;

  // Keeps what was chosen for a task until the task runs.
  void note_choice(const starpu_task* task, const Choice& choice, const Mapper& mapper);
  // Writes the line of a task that begins to run on this worker.
  void note_start(const starpu_task* task, WorkerId worker);

 private:
  // What was chosen for a task that has not started.
  struct ChosenTask {
    // The members of its line that do not depend on the worker.
    std::string members;
    std::vector<MemKind> memories;
  };

  RunLog(std::FILE* file, std::string_view mapping, std::shared_ptr<const Workers> workers)
      : file_(file), mapping_(mapping), workers_(std::move(workers)) {}
  void write_first_line();

  std::mutex mutex_;
  std::FILE* file_;
  std::string mapping_;
  bool has_first_line_ = false;
  std::shared_ptr<const Workers> workers_;
  std::unordered_map<const starpu_task*, ChosenTask> chosen_;
};

}  // namespace groma::starpu
