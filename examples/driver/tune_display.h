// What `groma tune` prints: the progress of a search, and why a search cannot begin.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "console.h"
#include "groma/diagnostics.h"
#include "groma/tune.h"

namespace driver {

// Shows the progress of a search. On a terminal, one line is overwritten: best value, trajectory,
// cost and current step.
class Display {
 public:
  // `notes` are shown when the search begins.
  Display(const groma::tuning::Evaluator& evaluator, std::vector<groma::Diagnostics> notes,
          bool json);
  ~Display() { clear(); }
  Display(const Display&) = delete;
  Display& operator=(const Display&) = delete;

  void operator()(const groma::tuning::TuneEvent& event);
  // Removes the line of progress from the terminal.
  void clear();
  // Returns true if everything could be printed. A failure to print is reported once.
  bool fine() const { return fine_; }
  void say(std::string_view text) { fine_ = fine_ && print(text) == kFine; }

 private:
  bool due();
  std::string line(const groma::tuning::TuneEvent& event) const;
  void say_better(const groma::tuning::TuneEvent& event);

  const groma::tuning::Evaluator& evaluator_;
  std::vector<groma::Diagnostics> notes_;
  bool json_, live_, shown_ = false, fine_ = true;
  // The last better value that was shown.
  std::string said_;
  std::vector<double> scores_;
  // The time from which on estimates may be shown again.
  std::chrono::steady_clock::time_point due_;
};

// Print the reason why the search cannot begin, with --json as one line of JSON. Return the exit
// code.
int refuse_search(const groma::Error& error, bool json);
int refuse_search(const groma::Diagnostics& diags, bool json);

}  // namespace driver
