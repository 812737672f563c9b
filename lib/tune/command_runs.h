// CommandRuns: runs the user's command on texts that are written to files, and checks the texts
// with the correctness command before.
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

namespace groma::tuning {

// A text in a file in its own folder. The destructor removes both.
class PlacedText {
 public:
  static Result<std::shared_ptr<const PlacedText>> make(const std::string& text,
                                                        const std::string& suffix);
  PlacedText(ScratchFolder folder, std::string text, const std::string& suffix)
      : folder_(std::move(folder)),
        file_(folder_.path() + "/text" + suffix),
        text_(std::move(text)) {}

  const std::string& text() const { return text_; }
  const std::string& file() const { return file_; }
  // Returns what a command printed for the text, with `{file}` in place of the file's name.
  std::string without_file_name(std::string printed) const;

 private:
  ScratchFolder folder_;
  std::string file_, text_;
};

// The reason that a text has no score.
struct CommandFailure {
  Evaluation::Status status = Evaluation::Status::kFailed;
  std::string what;  // a sentence without full stop, used if the output says no more
  CommandOutcome outcome;
  bool has_ended_well = false;  // only the output lacks something
  std::string input = {};       // the input, if there are several
};

class CommandRuns {
 public:
  using Stop = std::function<bool()>;
  using Text = std::shared_ptr<const PlacedText>;

  explicit CommandRuns(CommandEvaluatorOptions options);

  const CommandEvaluatorOptions& options() const { return options_; }
  // Returns the inputs; an empty one if the command has none.
  std::vector<std::string> inputs() const;

  // Returns the text in a file: a kept one, or a new one that the correctness command accepts.
  Result<Text, CommandFailure> prepared(const std::string& text, const Stop& stop) const;
  // Keep a text with the files that its commands left, until the function is called again.
  // keep_candidate(nullptr) keeps none.
  void keep_incumbent(Text text) { kept_.front() = std::move(text); }
  void keep_candidate(Text text) { kept_.back() = std::move(text); }

  // Runs the command. Fails if it cannot be started.
  Result<CommandOutcome> run(const PlacedText& text, const std::string& input,
                             std::int64_t deadline_ms, const Stop& stop) const;
  // Runs the command with the time limit of the options. Returns nothing unless it ends well.
  std::optional<CommandOutcome> run_well(const PlacedText& text, const std::string& input,
                                         const Stop& stop) const;

 private:
  Result<CommandOutcome> run_script(const std::string& script, const PlacedText& text,
                                    const std::string& input, std::int64_t deadline_ms,
                                    const Stop& stop) const;
  // Runs the correctness command. Returns nullopt if the text is correct as far as that command
  // knows.
  std::optional<CommandFailure> why_incorrect(const PlacedText& text, const Stop& stop) const;
  // Returns a kept text; null if it is not kept or its file was removed.
  Text kept(const std::string& text) const;

  CommandEvaluatorOptions options_;
  bool check_for_each_ = false;  // the correctness command takes each input
  // The incumbent of the last evaluation, and the last text if it looked better.
  std::array<Text, 2> kept_;
};

// Returns how a command ended: "ended with exit code 1".
std::string how_it_ended(const CommandOutcome& outcome);

}  // namespace groma::tuning
