// The thread that examines texts: first the checks of all documents, then the explanations.
#include "language_server/background.h"

#include <fmt/format.h>

#include <filesystem>
#include <new>
#include <system_error>
#include <utility>

#include "groma/inspect.h"
#include "groma/io.h"
#include "language_server/workspace_file.h"

namespace groma::language_server {
namespace {

// Returns the size and the time of the files that the specs name. If they change, the inputs are
// loaded again.
std::string stamp_of(const Specs& specs) {
  std::string stamp;
  for (const std::string& spec : {specs.machine, specs.app}) {
    const std::string file = file_of_spec(spec);
    std::error_code code;
    if (file.empty()) continue;
    const auto time = std::filesystem::last_write_time(file, code);
    const auto ticks = code ? 0 : time.time_since_epoch().count();
    const auto size = std::filesystem::file_size(file, code);
    stamp += fmt::format("{} {} {};", file, ticks, code ? 0 : size);
  }
  return stamp;
}

std::string words_of(const Error& error) {
  return error.help.empty() ? error.message : error.message + "\nhelp: " + error.help;
}

}  // namespace

Background::Background(Deliver deliver, LogSink* log)
    : deliver_(std::move(deliver)), log_(log), thread_([this] { run(); }) {}

Background::~Background() {
  {
    const std::lock_guard lock(mutex_);
    end_ = true;
    stop_current_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

// Ends the work for a document. The caller holds the lock.
void Background::abandon(const std::string& uri) {
  to_check_.erase(uri);
  to_explain_.erase(uri);
  if (current_ == uri) stop_current_ = true;
}

void Background::submit(BackgroundJob job) {
  {
    const std::lock_guard lock(mutex_);
    abandon(job.uri);
    // A check is more urgent than the explanation of another document, which is then begun anew.
    if (explaining_) stop_current_ = true;
    std::string uri = job.uri;
    to_check_.insert_or_assign(std::move(uri), std::move(job));
  }
  wake_.notify_all();
}

void Background::forget(const std::string& uri) {
  const std::lock_guard lock(mutex_);
  abandon(uri);
}

void Background::run() {
  std::unique_lock lock(mutex_);
  while (true) {
    wake_.wait(lock, [this] { return end_ || !to_check_.empty() || !to_explain_.empty(); });
    if (end_) return;
    stop_current_ = false;
    explaining_ = to_check_.empty();
    try {
      if (!explaining_) {
        const BackgroundJob job = std::move(to_check_.extract(to_check_.begin()).mapped());
        current_ = job.uri;
        lock.unlock();
        Checked checked = check(job);
        lock.lock();
        if (checked != nullptr && !checked->complete && !stop_current_) {
          to_explain_[checked->uri] = std::move(checked);
        }
      } else {
        const Checked checked = to_explain_.begin()->second;
        current_ = checked->uri;
        lock.unlock();
        explain(checked);
        lock.lock();
        // An explanation that was interrupted by another document stays in the queue.
        const auto waiting = to_explain_.find(checked->uri);
        const bool same = waiting != to_explain_.end() && waiting->second == checked;
        if (same && !stop_current_) to_explain_.erase(waiting);
      }
    } catch (const std::bad_alloc&) {
      // The computer has too little memory for this text. The next one may be smaller.
      if (!lock.owns_lock()) lock.lock();
      to_explain_.erase(current_);
    }
    current_.clear();
    explaining_ = false;
  }
}

// Checks a text as `groma check` does, and delivers what was found. Returns null if the work was
// stopped.
Background::Checked Background::check(const BackgroundJob& job) {
  auto result = std::make_shared<BackgroundResult>();
  result->uri = job.uri;
  result->revision = job.revision;
  result->source = job.source;
  result->inputs = load(job.specs);
  const Machine* machine = result->inputs->machine ? &*result->inputs->machine : nullptr;
  const Workload* app = result->inputs->workload ? &*result->inputs->workload : nullptr;
  CheckOptions options;
  options.max_steps = kMaxCheckSteps;
  options.max_bytes = kMaxCheckBytes;
  options.stop = [this] { return stop_current_.load(); };
  Diagnostics diags(job.source);
  result->bound = groma::check(job.source, machine, app, diags, nullptr, options);
  if (machine != nullptr && app != nullptr) check_nodes(*machine, *result->inputs->app, diags);
  if (stop_current_) return nullptr;
  result->diagnostics = diags.sorted();
  result->complete = !result->bound || app == nullptr;
  deliver_(result);
  return result;
}

// Explains the decisions of a checked text, and delivers the result once more with them.
void Background::explain(const Checked& checked) {
  Diagnostics ignored(checked->source);
  auto explanation = groma::explain(*checked->bound, *checked->inputs->workload, {}, ignored,
                                    [this] { return stop_current_.load(); });
  if (stop_current_) return;
  auto result = std::make_shared<BackgroundResult>(*checked);
  result->explanation = std::move(explanation);
  result->complete = true;
  deliver_(std::move(result));
}

// Loads a machine and an application, or returns them from the cache.
std::shared_ptr<const LoadedInputs> Background::load(const Specs& specs) {
  const std::string stamp = stamp_of(specs);
  for (const CachedInputs& cached : cache_) {
    if (cached.stamp == stamp && cached.inputs->specs == specs) return cached.inputs;
  }
  auto inputs = std::make_shared<LoadedInputs>();
  inputs->specs = specs;
  // A newer text does not end the loading, since it needs the same inputs.
  const auto stop = [this] { return end_.load(); };
  if (!specs.machine.empty()) {
    inputs->machine_problem = why_refused(specs.machine);
    if (inputs->machine_problem.empty()) {
      auto machine = load_machine(specs.machine, log_);
      if (machine) {
        inputs->machine = std::move(*machine);
      } else {
        inputs->machine_problem = words_of(machine.error());
      }
    }
  }
  if (!specs.app.empty()) {
    inputs->app_problem = why_refused(specs.app);
    if (inputs->app_problem.empty()) {
      auto app = load_application(specs.app, stop);
      auto workload = app ? Workload::make(*app, {}, stop) : Result<Workload>(app.error());
      if (workload) {
        inputs->app = std::move(*app);
        inputs->workload = std::move(*workload);
      } else {
        inputs->app_problem = words_of(workload.error());
      }
    }
  }
  if (cache_.size() >= kMaxLoadedInputs) cache_.erase(cache_.begin());
  cache_.push_back({stamp, inputs});
  return inputs;
}

}  // namespace groma::language_server
