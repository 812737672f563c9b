// The place on this computer: texts are stored in temporary folders, and commands are child
// processes.
#include <filesystem>
#include <string_view>

#include "tune/command_place.h"

namespace groma::tuning {
namespace {

// A text in a temporary folder of this computer.
class LocalText final : public TextInFile {
 public:
  LocalText(ScratchFolder folder, std::string text, const std::string& name)
      : TextInFile(std::move(text), folder.path() + "/" + name), folder_(std::move(folder)) {}

  const std::string& folder() const { return folder_.path(); }

  bool exists() const override {
    std::error_code none;
    return std::filesystem::exists(file_path(), none);
  }

 private:
  ScratchFolder folder_;
};

class LocalPlace final : public CommandPlace {
 public:
  LocalPlace(const CommandEvaluatorOptions& options, int worker)
      : folder_(options.folder),
        file_name_(options.file_name),
        worker_(std::to_string(worker)),
        memory_bytes_(options.memory_bytes) {}

  std::optional<Error> start(const std::function<bool()>& /*stop*/) override {
    return std::nullopt;
  }

  // If a file cannot be written, the folder is removed with the object.
  Result<std::shared_ptr<const TextInFile>> store(const std::string& text,
                                                  const std::function<bool()>& /*stop*/) override {
    const auto files = files_to_store(text, file_name_);
    if (!files) return files.error();
    auto folder = ScratchFolder::make();
    if (!folder) return folder.error();
    auto stored = std::make_shared<LocalText>(std::move(folder).value(), text, files->front().name);
    for (const NamedText& file : *files) {
      if (auto error = write_file(stored->folder() + "/" + file.name, file.text)) return *error;
    }
    return std::shared_ptr<const TextInFile>(std::move(stored));
  }

  // The name GROMA_API_KEY without a value removes that variable, so that the user's commands do
  // not see the key of the model.
  Result<CommandOutcome> run(const PlacedCommand& placed) override {
    Command command;
    command.words = {"sh", "-c", placed.script};
    command.folder = folder_;
    command.environment = {"GROMA_API_KEY", "GROMA_FILE=" + placed.file_path,
                           "GROMA_INPUT=" + placed.input, "GROMA_WORKER=" + worker_};
    command.deadline_ms = placed.deadline_ms;
    command.memory_bytes = memory_bytes_;
    command.max_output_bytes = kMaxCommandOutputBytes;
    command.stop = placed.stop;
    return run_command(command);
  }

 private:
  std::string folder_, file_name_, worker_;
  std::int64_t memory_bytes_;
};

}  // namespace

Result<std::vector<NamedText>> files_to_store(const std::string& text, const std::string& name) {
  auto files = split_files(text);
  if (files && files->front().name.empty()) files->front().name = name.empty() ? "text" : name;
  return files;
}

// Replaces the name of the file by `{file}`. Compilers and Groma print that name in front of their
// messages, and it differs from text to text.
std::string TextInFile::without_file_name(std::string printed) const {
  constexpr std::string_view kName = "{file}";
  for (std::size_t at = printed.find(file_); at != printed.npos;
       at = printed.find(file_, at + kName.size())) {
    printed.replace(at, file_.size(), kName);
  }
  return printed;
}

std::unique_ptr<CommandPlace> make_local_place(const CommandEvaluatorOptions& options, int worker) {
  return std::make_unique<LocalPlace>(options, worker);
}

}  // namespace groma::tuning
