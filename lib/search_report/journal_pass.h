// Reads the lines of a journal for the report. Unlike a resumed search, the report continues behind
// a damaged line.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "groma/result.h"
#include "tune/journal.h"

namespace groma::tuning {

// The limits of one pass over a journal.
struct JournalPassLimits {
  std::int64_t bytes = 0;
  // The number of lines after which the pass ends. A second pass over the journal of a running
  // search must not read more than the first one.
  std::int64_t lines = 0;
  // Asked before each line. The pass fails with kStopped if it returns true.
  std::function<bool()> stop = {};
};

// What one pass over a journal has read.
struct JournalPass {
  std::int64_t lines = 0, bytes = 0;
  // The number of lines that Groma cannot have written, and the number of the first one (from 1).
  std::int64_t damaged = 0, first_damaged = 0;
  // True if a limit ended the pass before the end of the file, and the number of the line that is
  // too long to be read (0: none).
  bool reached_limit = false;
  std::int64_t too_long_line = 0;
};

// What a visitor says about a line.
enum class LineVerdict : std::uint8_t {
  kFine,
  // Groma cannot have written the line.
  kDamaged,
  // The pass ends before the next line.
  kEnough,
};

// Calls `visit` with the name and the value of each line, such as "step". A last line without a
// line end is ignored, because a search may be writing it.
Result<JournalPass> read_journal(
    const std::string& path, const JournalPassLimits& limits,
    const std::function<LineVerdict(const std::string& name, const Json& value)>& visit);

}  // namespace groma::tuning
