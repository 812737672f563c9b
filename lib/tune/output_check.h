// OutputCheck: decides by the output of a command that exited with code 0 whether the run was
// right. The output must not report a failure, and must have the results that the first text
// printed.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>

#include "groma/guide.h"
#include "groma/results.h"
#include "tune/command_runs.h"

namespace groma::tuning {

// Returns true if the guide recognised a failure in an output, and not only that the output ends
// without a known message.
bool is_known_failure(const GuideFeedback& feedback);

// Compares each run with the first successful run for the same input. One object serves one search.
class OutputCheck {
 public:
  // Checks nothing if the options of the commands have no `results`. Both arguments must outlive
  // the object.
  OutputCheck(const CommandRunner& commands, const GuideRules& rules)
      : commands_(commands), rules_(rules) {}

  // Returns why a run that ended well is wrong. Returns nullopt if the run is right, or if there is
  // no earlier run to compare it with. May run the command again, to see which results change from
  // run to run.
  std::optional<CommandFailure> why_output_is_wrong(const TextInFile& text,
                                                    const std::string& input,
                                                    const CommandOutcome& outcome,
                                                    const CommandRunner::Stop& stop);
  // Returns the output without the lines that the command also prints for an empty text. Removes
  // only lines that why_output_is_wrong() has already found.
  std::string without_usual_lines(const std::string& printed, const std::string& input) const;

 private:
  using Lines = std::set<std::string, std::less<>>;
  // The results that the command should print for one input, learnt from reference runs.
  struct ExpectedOutput {
    Results results;
    // The reference text, whose runs gave these results.
    std::string text;
    // The number of reference runs.
    int runs = 0;
  };

  // Returns true if the guide recognises a failure in the output.
  bool reports_failure(const std::string& printed) const;
  // Runs the command again with the reference text and adds the output to the expected results.
  // Such a run finds values that change from run to run but were equal by chance so far. Returns
  // false if the run fails or the limit of runs is reached.
  bool add_reference(ExpectedOutput& expected, const std::string& input,
                     const CommandRunner::Stop& stop) const;
  // Finds the usual lines of the input unless they are known. An empty mapping decides nothing, so
  // a message in its output that looks like a failure is normal for the command.
  void find_usual_lines(const std::string& input, const CommandRunner::Stop& stop);
  // Returns the lines that the command prints for an empty text; empty if the command fails.
  Lines lines_for_empty_text(const std::string& input, const CommandRunner::Stop& stop) const;

  const CommandRunner& commands_;
  const GuideRules& rules_;
  // The expected results of each input.
  std::map<std::string, ExpectedOutput> expected_;
  // For each input, the lines that the command prints for an empty text.
  std::map<std::string, Lines> usual_;
};

}  // namespace groma::tuning
