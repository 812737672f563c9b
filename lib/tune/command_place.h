// CommandPlace: the computer on which the commands of an evaluator run. Everything that depends on
// it stands here: where texts are stored, how a command is started, and how it is ended.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "groma/evaluators.h"
#include "groma/result.h"
#include "groma/system.h"
#include "groma/text_files.h"

namespace groma::tuning {

// Limit on each output of a command. The middle of a longer output is dropped.
inline constexpr std::size_t kMaxCommandOutputBytes = std::size_t{1} << 20;

// A text that a CommandPlace stored in a file, in a folder of its own, or in several files if it
// stands for these (text_files.h). The destructor removes the folder with everything in it.
class TextInFile {
 public:
  virtual ~TextInFile() = default;
  TextInFile(const TextInFile&) = delete;
  TextInFile& operator=(const TextInFile&) = delete;

  const std::string& text() const { return text_; }
  // Returns the absolute path of the file at its place, of the first one if there are several.
  const std::string& file_path() const { return file_; }
  // Returns true if the file still exists. A command may have removed it.
  virtual bool exists() const = 0;
  // Returns the output of a command with `{file}` in place of the name of this text's file, so that
  // the outputs of two texts can be compared.
  std::string without_file_name(std::string printed) const;

 protected:
  TextInFile(std::string text, std::string file) : text_(std::move(text)), file_(std::move(file)) {}

 private:
  std::string text_, file_;
};

// Returns the files as which a text is stored: those that it stands for, or else one file with this
// name ("text" if the name is empty).
Result<std::vector<NamedText>> files_to_store(const std::string& text, const std::string& name);

// A shell script to run on a text.
struct PlacedCommand {
  std::string script;
  // The values of GROMA_FILE and GROMA_INPUT.
  std::string file_path, input;
  // The time limit of the run.
  std::int64_t deadline_ms = 0;
  // Asked about every 50 ms. The run ends when it returns true.
  std::function<bool()> stop = {};
};

// A place runs one command at a time. Its texts may be destroyed after it.
class CommandPlace {
 public:
  virtual ~CommandPlace() = default;
  // Connects to the place, or connects again after the connection was lost. Texts that were stored
  // before are then gone. Must be called before the other functions. The error of kUnknown says
  // that a further attempt would fail as well.
  virtual std::optional<Error> start(const std::function<bool()>& stop) = 0;
  // Returns why the connection was lost, as a sentence without a full stop; nullopt if it was not.
  // What store() and run() returned since the last start() then says nothing about a text.
  virtual std::optional<std::string> why_lost() const { return std::nullopt; }
  // Begins to disconnect. The destructor waits for the end.
  virtual void hang_up() {}
  // Writes a text to new files.
  virtual Result<std::shared_ptr<const TextInFile>> store(const std::string& text,
                                                          const std::function<bool()>& stop) = 0;
  // Runs a script with `sh -c` until it ends, its time is over or it is stopped. Then all processes
  // of its group are killed. Fails if the script cannot be run; a script that fails gives an
  // outcome.
  virtual Result<CommandOutcome> run(const PlacedCommand& command) = 0;
};

// Return the place on this computer, and the place to which `connect` connects: a shell command
// that starts a POSIX shell, which reads its standard input. `worker` is the value of GROMA_WORKER.
// The folder, the memory limit and the name of the file are those of the options. A folder that the
// other computer does not have is ignored.
std::unique_ptr<CommandPlace> make_local_place(const CommandEvaluatorOptions& options, int worker);
std::unique_ptr<CommandPlace> make_shell_place(const CommandEvaluatorOptions& options, int worker,
                                               std::string connect);

}  // namespace groma::tuning
