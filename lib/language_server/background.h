// Background: the work that may take long, in a thread of its own: it reads machines and
// applications, finds what a run would refuse, and explains decisions. Newer texts end the work for
// older ones.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "groma/app.h"
#include "groma/diagnostics.h"
#include "groma/evaluate.h"
#include "groma/explain.h"
#include "groma/log.h"
#include "groma/machine.h"
#include "groma/source.h"
#include "groma/workload.h"

namespace groma::language_server {

// The machine and the application of a mapping, as load_machine() and load_application() take them.
struct Specs {
  std::string machine, app;
  friend bool operator==(const Specs&, const Specs&) = default;
};

// The machine and the application that were loaded, or why they could not be.
struct LoadedInputs {
  Specs specs;
  std::optional<Machine> machine;
  std::optional<Application> app;
  std::optional<Workload> workload;
  std::string machine_problem, app_problem;
};

// A text to examine. `revision` identifies the text among all texts of the session.
struct BackgroundJob {
  std::string uri;
  std::uint64_t revision = 0;
  Source source;
  Specs specs;
};

// What is known about a text. It is delivered twice: when the text is checked, and when its
// decisions are explained.
struct BackgroundResult {
  std::string uri;
  std::uint64_t revision = 0;
  Source source;
  std::shared_ptr<const LoadedInputs> inputs;
  // All diagnostics of the text, those of a run included.
  std::vector<Diagnostic> diagnostics;
  // The program on the machine. nullopt without a machine, or if the text has errors.
  std::optional<BoundProgram> bound;
  std::optional<Explanation> explanation;
  // True if nothing more will be delivered for this revision.
  bool complete = false;
};

// Limits on the check for what a run would refuse, and on the applications that are kept.
inline constexpr std::int64_t kMaxCheckSteps = std::int64_t{1} << 20;
inline constexpr std::int64_t kMaxCheckBytes = std::int64_t{1} << 29;
inline constexpr std::size_t kMaxLoadedInputs = 4;

class Background {
 public:
  using Deliver = std::function<void(std::shared_ptr<const BackgroundResult>)>;

  // `deliver` is called by the thread of this object. `log` may be null.
  Background(Deliver deliver, LogSink* log);
  // Ends the work.
  ~Background();
  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;

  // Examines a text. Ends the work for an older text of the same document.
  void submit(BackgroundJob job);
  // Ends the work for a document.
  void forget(const std::string& uri);

 private:
  // A job whose text is checked and whose decisions are not explained yet.
  using Checked = std::shared_ptr<const BackgroundResult>;

  void run();
  Checked check(const BackgroundJob& job);
  void explain(const Checked& checked);
  std::shared_ptr<const LoadedInputs> load(const Specs& specs);
  void abandon(const std::string& uri);

  Deliver deliver_;
  LogSink* log_;
  std::mutex mutex_;
  std::condition_variable wake_;
  // The texts that wait for their check or for their explanation, by document. Checks come first.
  std::map<std::string, BackgroundJob> to_check_;
  std::map<std::string, Checked> to_explain_;
  // The document of the work in progress, and whether this work must stop.
  std::string current_;
  bool explaining_ = false;
  std::atomic<bool> stop_current_ = false;
  std::atomic<bool> end_ = false;

  // The inputs that were loaded last, the newest last, each with the state of its files.
  struct CachedInputs {
    std::string stamp;
    std::shared_ptr<const LoadedInputs> inputs;
  };
  std::vector<CachedInputs> cache_;
  std::thread thread_;
};

}  // namespace groma::language_server
