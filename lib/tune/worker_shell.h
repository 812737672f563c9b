// WorkerShell: speaks with a shell on another computer, through the standard input and output of a
// command such as `ssh host sh`.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "groma/result.h"
#include "groma/system.h"
#include "groma/text_files.h"
#include "system/piped_process.h"

namespace groma::tuning {

// A shell that stays, and stores texts and runs commands in a temporary folder of its computer. It
// removes the folder when its input ends. After the first failure of the connection, lost() has the
// reason and every further call fails.
//
// One thread at a time.
class WorkerShell {
 public:
  using Stop = std::function<bool()>;

  // Runs `connect.words`, and waits until the shell behind it answers. Only `stop` limits the wait,
  // because the command may stand in a queue. From then on, an answer may take `answer_ms`. Fails
  // with kUnknown if there is no such command or if the computer lacks a program.
  static Result<std::unique_ptr<WorkerShell>> start(const Command& connect, std::int64_t answer_ms,
                                                    const Stop& stop);

  // A command to run on the worker.
  struct Job {
    std::string script;
    // "NAME=VALUE" for each variable.
    std::vector<std::string> environment;
    // The working folder, if the worker has such a folder.
    std::string folder;
    std::int64_t deadline_ms = 0, memory_bytes = 0;
    Stop stop = {};
  };
  // Runs a job to its end. At its deadline, or when it is stopped, its process group is killed. The
  // outcome has the times of the worker's clock. If more than 512 kB of an output are missing in
  // its middle, the outcome says that at least one byte is missing.
  Result<CommandOutcome> run(const Job& job);
  // Writes the files to a new folder. Returns the path of the first one.
  Result<std::string> store(std::span<const NamedText> files, const Stop& stop);
  // Returns true if the file exists.
  bool has_file(const std::string& path);
  // Removes the folder of a file that store() wrote.
  void remove_folder_of(const std::string& path);
  // Closes the input of the shell, which then ends.
  void hang_up() { process_->close_input(); }

  const std::optional<std::string>& lost() const { return lost_; }

 private:
  WorkerShell(std::unique_ptr<system::PipedProcess> process, std::int64_t answer_ms)
      : process_(std::move(process)), answer_ms_(answer_ms) {}

  // Called about every 20 ms while the shell does not answer. Returns false to give up the wait.
  using Tick = std::function<bool()>;
  // Waits for the line that begins with the nonce, and returns the rest of it. Other lines are
  // skipped. Returns nullopt, with lost(), if the shell ends, stays silent for `silent_ms` (0: no
  // limit), or prints too much else. Returns nullopt without lost() if `tick` gives up.
  std::optional<std::string> answer(const std::string& nonce, std::int64_t silent_ms,
                                    const Tick& tick);
  // Takes the next line of the output that begins with the nonce; nullopt if it is not there yet.
  std::optional<std::string> take_line(const std::string& nonce);
  // Reads the bytes that follow a line. Returns nullopt, with lost(), if they do not come.
  std::optional<std::string> read_bytes(std::size_t count);
  // Sends one line that the shell runs.
  void send_line(const std::string& line) { process_->send(line + "\n"); }
  // Sets lost(), with the last words of the connection.
  void lose(std::string why);
  Error lost_error() const { return {Error::Code::kUnreadable, lost_.value_or("")}; }
  // Reads the bytes of the four parts of the outputs.
  Result<CommandOutcome> outcome_of(const std::string& end_line, const std::string& nonce);

  std::unique_ptr<system::PipedProcess> process_;
  std::int64_t answer_ms_;
  std::string folder_;
  std::int64_t stored_ = 0;
  // The bytes of lines that were skipped since the last answer.
  std::size_t skipped_bytes_ = 0;
  std::optional<std::string> lost_;
};

}  // namespace groma::tuning
