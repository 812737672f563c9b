// The value that a command prints: where it stands, and reading it.
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

class Metric {
 public:
  // One of the two, or neither for the seconds that the command took.
  static Result<Metric> make(const std::string& pattern, const std::string& pointer);

  // Finite and above 0; else why there is none, a sentence without its full stop.
  Result<double, std::string> read(const CommandOutcome& outcome) const;
  bool is_seconds() const { return pattern_ == nullptr && pointer_.empty(); }

 private:
  std::shared_ptr<const re2::RE2> pattern_;
  std::vector<std::string> pointer_;  // the keys, unescaped
  std::string text_;                  // as it was given
};

}  // namespace groma::tuning
