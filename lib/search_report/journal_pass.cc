// Reads the lines of a journal within limits.
#include "search_report/journal_pass.h"

#include <fmt/format.h>

namespace groma::tuning {

Result<JournalPass> read_journal(
    const std::string& path, const JournalPassLimits& limits,
    const std::function<LineVerdict(const std::string& name, const Json& value)>& visit) {
  auto reader = JournalLineReader::open(path);
  if (!reader) return reader.error();
  JournalPass pass;
  for (std::string line; !reader->at_end();) {
    if (limits.stop && limits.stop()) {
      return Error{Error::Code::kStopped,
                   fmt::format("`{}` was not read to its end, at line {}", path, pass.lines + 1)};
    }
    pass.reached_limit = pass.lines >= limits.lines || pass.bytes >= limits.bytes;
    if (pass.reached_limit || !reader->read_line(&line)) break;
    ++pass.lines;
    pass.bytes += static_cast<std::int64_t>(line.size()) + 1;
    // The reader has cut off the line, and would continue within it.
    if (reader->too_long()) {
      pass.too_long_line = pass.lines;
      break;
    }
    if (!reader->has_line_end()) break;
    const Json read = parse_journal_line(line);
    const bool is_object = read.is_object() && !read.empty();
    const LineVerdict verdict =
        is_object ? visit(read.begin().key(), read.begin().value()) : LineVerdict::kDamaged;
    if (verdict == LineVerdict::kEnough) {
      pass.reached_limit = !reader->at_end();
      break;
    }
    if (verdict == LineVerdict::kDamaged && pass.damaged++ == 0) pass.first_damaged = pass.lines;
  }
  return pass;
}

}  // namespace groma::tuning
