// OutputCheck: decides by its output whether a command that ended well was right. It must not
// report a failure, and must print the results that the first text printed.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>

#include "groma/guide.h"
#include "groma/results.h"
#include "tune/command_runs.h"

namespace groma::tuning {

// Returns true if the guide recognised a failure, and not only that the output ends.
bool is_known_failure(const Feedback& feedback);

class OutputCheck {
 public:
  // Both must outlive this object. Checks nothing if the options have no `results`.
  OutputCheck(const CommandRuns& commands, const GuideRules& rules)
      : commands_(commands), rules_(rules) {}

  // Returns why a run that ended well is wrong. Returns nullopt if it is right, or if there is
  // nothing to compare with yet. May run the command again to see which results change from run to
  // run.
  std::optional<CommandFailure> why_wrong(const PlacedText& text, const std::string& input,
                                          const CommandOutcome& outcome,
                                          const CommandRuns::Stop& stop);
  // Returns the output without the lines that the command also prints for an empty text, as far as
  // why_wrong() has found these.
  std::string without_usual_lines(const std::string& printed, const std::string& input) const;

 private:
  using Lines = std::set<std::string, std::less<>>;
  // The expected results of the command for one input.
  struct Expected {
    Results results;
    std::string text;  // the text that gave these results
    int runs = 0;
  };

  bool says_failure(const std::string& printed) const;
  // Runs the command again with the reference text, because values that vary from run to run may
  // have been equal by chance. Returns false if the run fails or the limit is reached.
  bool add_reference(Expected& expected, const std::string& input,
                     const CommandRuns::Stop& stop) const;
  // Finds the usual lines of the input unless they are known. An empty mapping decides nothing, so
  // a failure among the lines that the command prints for it is normal for the command.
  void find_usual_lines(const std::string& input, const CommandRuns::Stop& stop);
  // Returns the lines that the command prints for an empty text; empty if the command fails.
  Lines lines_under_nothing(const std::string& input, const CommandRuns::Stop& stop) const;

  const CommandRuns& commands_;
  const GuideRules& rules_;
  std::map<std::string, Expected> expected_;  // by input
  std::map<std::string, Lines> usual_;        // by input: lines printed for an empty text
};

}  // namespace groma::tuning
