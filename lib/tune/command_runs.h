// CommandRunner: writes texts to files, checks them with the user's correctness command, and runs
// the user's command on them.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "groma/evaluators.h"
#include "groma/result.h"
#include "groma/search.h"
#include "groma/system.h"
#include "tune/command_place.h"

namespace groma::tuning {

// The reason that a text has no score.
struct CommandFailure {
  Evaluation::Status status = Evaluation::Status::kFailed;
  // A sentence without its full stop. It is shown if the output does not explain the failure.
  std::string reason;
  CommandOutcome outcome;
  // True if the command exited with code 0, but its output has no value or other results.
  bool has_exited_with_zero = false;
  // The input with which the command failed; empty if the command takes no input.
  std::string input = {};
};

// Runs the user's command and the correctness command, and keeps the files of the incumbent and of
// the last candidate.
class CommandRunner {
 public:
  using Stop = std::function<bool()>;
  using TextPointer = std::shared_ptr<const TextInFile>;

  // The options say what to run, and `place` where. `place` must not be null.
  CommandRunner(CommandEvaluatorOptions options, std::unique_ptr<CommandPlace> place);

  const CommandEvaluatorOptions& options() const { return options_; }
  // Returns the inputs of the options. If there are none, returns one empty input, so that the
  // command runs once.
  std::vector<std::string> inputs() const;

  // Returns the text as a file. If keep_incumbent() or keep_candidate() keeps the text, returns
  // that file. Otherwise writes the text and runs the correctness command, and fails if that
  // command refuses the text.
  Result<TextPointer, CommandFailure> write_and_check(const std::string& text,
                                                      const Stop& stop) const;
  // Returns the text in a new file, without a check.
  Result<TextPointer> write(const std::string& text, const Stop& stop) const {
    return place_->store(text, stop);
  }
  // Keep a text, and with it the files that commands wrote to its folder, until the same function
  // is called again. keep_candidate(nullptr) keeps no candidate.
  void keep_incumbent(TextPointer text) { kept_.front() = std::move(text); }
  void keep_candidate(TextPointer text) { kept_.back() = std::move(text); }

  // Runs the command once on the text, at most `deadline_ms` long. Fails only if the command cannot
  // be started; a command that fails gives an outcome.
  Result<CommandOutcome> run(const TextInFile& text, const std::string& input,
                             std::int64_t deadline_ms, const Stop& stop) const;
  // Runs the command with the time limit of the options. Returns nullopt unless the command exits
  // with code 0.
  std::optional<CommandOutcome> run_successfully(const TextInFile& text, const std::string& input,
                                                 const Stop& stop) const;

 private:
  Result<CommandOutcome> run_script(const std::string& script, const TextInFile& text,
                                    const std::string& input, std::int64_t deadline_ms,
                                    const Stop& stop) const;
  // Runs the correctness command. Returns why it refuses the text; nullopt if it accepts the text
  // or if the options have no such command.
  std::optional<CommandFailure> why_check_refuses(const TextInFile& text, const Stop& stop) const;
  // Returns the kept file with this text; null if no kept file has the text, or if the file was
  // removed.
  TextPointer find_kept_text(const std::string& text) const;

  CommandEvaluatorOptions options_;
  std::unique_ptr<CommandPlace> place_;
  // True if the correctness command contains `{input}`, and therefore runs once for each input.
  bool check_for_each_ = false;
  // The incumbent of the last evaluation, and the last candidate if it looked better.
  std::array<TextPointer, 2> kept_;
};

// Returns how a command ended, as words that follow its name: "ended with exit code 1".
std::string how_it_ended(const CommandOutcome& outcome);

}  // namespace groma::tuning
