// Writes texts to files and runs the user's shell commands on them. The commands get the names in
// the variables GROMA_FILE and GROMA_INPUT.
#include "tune/command_runs.h"

#include <fmt/format.h>

#include <cstring>

namespace groma::tuning {
namespace {

using CommandEnd = CommandOutcome::End;
using Status = Evaluation::Status;

// Replaces every occurrence of `what` in the text by `by`.
void replace(std::string& text, std::string_view what, std::string_view by) {
  for (std::size_t at = text.find(what); at != text.npos; at = text.find(what, at + by.size())) {
    text.replace(at, what.size(), by);
  }
}

}  // namespace

// Names the reason for the end of a command: an exit code, a signal, the user's stop, or the time
// limit.
std::string how_it_ended(const CommandOutcome& outcome) {
  if (outcome.end == CommandEnd::kExited)
    return fmt::format("ended with exit code {}", outcome.code);
  if (outcome.end == CommandEnd::kSignalled) {
    return fmt::format("was ended by signal {} ({})", outcome.code, strsignal(outcome.code));
  }
  if (outcome.end == CommandEnd::kStopped) return "was stopped";
  return fmt::format("was still running at its time limit, after {:.3g} s", outcome.seconds);
}

// Commands name the file and the input through quoted variables, so that the shell does not
// interpret their characters.
CommandRunner::CommandRunner(CommandEvaluatorOptions options, std::unique_ptr<CommandPlace> place)
    : options_(std::move(options)), place_(std::move(place)) {
  check_for_each_ = options_.check_command.find("{input}") != std::string::npos;
  for (std::string* command : {&options_.command, &options_.check_command}) {
    replace(*command, "{file}", "\"$GROMA_FILE\"");
    replace(*command, "{input}", "\"$GROMA_INPUT\"");
  }
}

// A command without inputs runs once, with an empty input.
std::vector<std::string> CommandRunner::inputs() const {
  return options_.inputs.empty() ? std::vector<std::string>{""} : options_.inputs;
}

Result<CommandOutcome> CommandRunner::run_script(const std::string& script, const TextInFile& text,
                                                 const std::string& input, std::int64_t deadline_ms,
                                                 const Stop& stop) const {
  return place_->run({script, text.file_path(), input, deadline_ms, stop});
}

// Runs the measured command once. Each run may have its own deadline.
Result<CommandOutcome> CommandRunner::run(const TextInFile& text, const std::string& input,
                                          std::int64_t deadline_ms, const Stop& stop) const {
  return run_script(options_.command, text, input, deadline_ms, stop);
}

// Makes a run that is not measured, such as a reference run. Its failure needs no explanation.
std::optional<CommandOutcome> CommandRunner::run_successfully(const TextInFile& text,
                                                              const std::string& input,
                                                              const Stop& stop) const {
  auto outcome = run(text, input, options_.timeout_ms, stop);
  if (!outcome || !outcome->ended_well()) return std::nullopt;
  return *std::move(outcome);
}

// A correctness command without `{input}` gives the same result for all inputs and therefore runs
// only once.
std::optional<CommandFailure> CommandRunner::why_check_refuses(const TextInFile& text,
                                                               const Stop& stop) const {
  if (options_.check_command.empty()) return std::nullopt;
  for (const std::string& input : inputs()) {
    const auto outcome = run_script(options_.check_command, text, input, options_.timeout_ms, stop);
    if (!outcome) return CommandFailure{Status::kRefused, outcome.error().message, {}};
    if (!outcome->ended_well()) {
      return CommandFailure{Status::kRefused, "the correctness command " + how_it_ended(*outcome),
                            *outcome, false, check_for_each_ ? input : ""};
    }
    if (!check_for_each_) break;
  }
  return std::nullopt;
}

// The command of a user may remove the file of its text. Such a text is not returned, and
// write_and_check() writes it again.
CommandRunner::TextPointer CommandRunner::find_kept_text(const std::string& text) const {
  for (const TextPointer& placed : kept_) {
    if (placed != nullptr && placed->text() == text && placed->exists()) return placed;
  }
  return nullptr;
}

// The correctness command does not run for a kept text, because the text passed that check when it
// was written.
Result<CommandRunner::TextPointer, CommandFailure> CommandRunner::write_and_check(
    const std::string& text, const Stop& stop) const {
  if (auto known = find_kept_text(text)) return known;
  auto placed = write(text, stop);
  if (!placed) return CommandFailure{Status::kFailed, placed.error().message, {}};
  if (auto failure = why_check_refuses(**placed, stop)) return *std::move(failure);
  return *std::move(placed);
}

}  // namespace groma::tuning
