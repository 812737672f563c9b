// Metric: finds and reads the value that a run of a command printed.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "groma/result.h"
#include "groma/system.h"

namespace re2 {
class RE2;
}

namespace groma::tuning {

// The rule by which the value of a run is found: a pattern, a JSON pointer, or the run's time.
class Metric {
 public:
  // Makes a metric from a pattern (RE2, one group) or from a JSON pointer. If both are empty, the
  // metric is the run time of the command in seconds. Fails (kMalformed) if both are given or one
  // is invalid.
  static Result<Metric> make(const std::string& pattern, const std::string& pointer);

  // Returns the value of a run, which is finite and above 0. If there is none, returns the reason
  // as a sentence without its full stop.
  Result<double, std::string> read(const CommandOutcome& outcome) const;
  // Returns true if the value is the run time of the command.
  bool is_run_time() const { return pattern_ == nullptr && pointer_.empty(); }

 private:
  std::shared_ptr<const re2::RE2> pattern_;
  // The keys of the JSON pointer, unescaped.
  std::vector<std::string> pointer_;
  // The pattern or the JSON pointer as the user gave it.
  std::string text_;
};

}  // namespace groma::tuning
