// The place behind a command such as `ssh host sh`: a shell there stores the texts and runs the
// commands.
#include <utility>

#include "tune/command_place.h"
#include "tune/worker_shell.h"

namespace groma::tuning {
namespace {

// A text in a file of the worker. If the shell has ended, it has removed the file.
class ShellText final : public TextInFile {
 public:
  ShellText(std::weak_ptr<WorkerShell> shell, std::string text, std::string path)
      : TextInFile(std::move(text), std::move(path)), shell_(std::move(shell)) {}
  ~ShellText() override {
    if (const auto shell = shell_.lock()) shell->remove_folder_of(file_path());
  }
  bool exists() const override {
    const auto shell = shell_.lock();
    return shell && shell->has_file(file_path());
  }

 private:
  std::weak_ptr<WorkerShell> shell_;
};

class ShellPlace final : public CommandPlace {
 public:
  ShellPlace(const CommandEvaluatorOptions& options, int worker, std::string connect)
      : folder_(options.folder),
        file_name_(options.file_name),
        worker_("GROMA_WORKER=" + std::to_string(worker)),
        connect_(std::move(connect)),
        memory_bytes_(options.memory_bytes),
        answer_ms_(options.patience.answer_ms) {}

  // The old connection ends before the new one begins, so that a device is not used twice.
  std::optional<Error> start(const std::function<bool()>& stop) override {
    shell_.reset();
    Command connect;
    connect.words = {"sh", "-c", connect_};
    connect.folder = folder_;
    connect.environment = {"GROMA_API_KEY", worker_};
    auto shell = WorkerShell::start(connect, answer_ms_, stop);
    if (!shell) return shell.error();
    shell_ = std::move(*shell);
    return std::nullopt;
  }
  std::optional<std::string> why_lost() const override {
    return shell_ == nullptr ? "it was not started" : shell_->lost();
  }
  void hang_up() override {
    if (shell_ != nullptr) shell_->hang_up();
  }

  Result<std::shared_ptr<const TextInFile>> store(const std::string& text,
                                                  const std::function<bool()>& stop) override {
    const auto files = files_to_store(text, file_name_);
    if (!files) return files.error();
    auto path = shell_->store(*files, stop);
    if (!path) return path.error();
    return std::shared_ptr<const TextInFile>(
        std::make_shared<ShellText>(shell_, text, *std::move(path)));
  }

  Result<CommandOutcome> run(const PlacedCommand& command) override {
    WorkerShell::Job job;
    job.script = command.script;
    job.environment = {"GROMA_FILE=" + command.file_path, "GROMA_INPUT=" + command.input, worker_};
    job.folder = folder_;
    job.deadline_ms = command.deadline_ms;
    job.memory_bytes = memory_bytes_;
    job.stop = command.stop;
    return shell_->run(job);
  }

 private:
  std::string folder_, file_name_, worker_, connect_;
  std::int64_t memory_bytes_, answer_ms_;
  std::shared_ptr<WorkerShell> shell_;
};

}  // namespace

std::unique_ptr<CommandPlace> make_shell_place(const CommandEvaluatorOptions& options, int worker,
                                               std::string connect) {
  return std::make_unique<ShellPlace>(options, worker, std::move(connect));
}

}  // namespace groma::tuning
