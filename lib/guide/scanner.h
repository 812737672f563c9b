// LogScanner: reads logs once, block by block, and keeps the first match and the number of matches
// of each rule of the guide. The needed memory depends on the rules, not on the size of the log.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "guide/rules.h"

namespace groma::guide {

inline constexpr std::size_t kBlockBytes = std::size_t{256} << 10;
// A line of at most this many bytes is treated as one message.
inline constexpr std::size_t kLineBytes = 1024;
// In a longer line, the pattern of a rule is matched only in the text around the rule's literal, at
// most this many bytes away. Realm cuts its own lines at this length.
inline constexpr std::size_t kWindowBytes = 4096;
inline constexpr std::size_t kLastLines = 8;

// What is known about all matches of one rule in the logs.
struct RuleMatches {
  std::int64_t count = 0;
  std::string log;
  std::int64_t line = 0;
  // The offset of the first match in the bytes of all logs together.
  std::int64_t offset = 0;
  // The line, or part of a line, with the first match. The pattern is matched in it again to get
  // its groups.
  std::string text;
  // For the role kMetric, the line, or part of a line, with the last match.
  std::string last_text;
  RuleRole role = RuleRole::kError;
  // The lines after the first match that belong to it, such as notes.
  std::vector<std::string> follow;
};

class LogScanner {
 public:
  explicit LogScanner(const RuleSet& rules);

  // Begins another log. `name` is the name of the log in the list of matches.
  void begin_log(std::string name);
  // Reads the next bytes of the log, which may end anywhere.
  void read(std::string_view bytes);
  // Ends the log: scans the rest of the buffer as the last line.
  void finish_log();

  // Returns the matches of each rule, in the order of the rules.
  const std::vector<RuleMatches>& matches_by_rule() const { return found_; }
  bool empty() const { return bytes_ == 0; }
  // Returns the last lines of all logs, shortened and with control characters escaped. Empty lines
  // and lines that a rule calls harmless are left out.
  std::vector<std::string> last_lines() const;
  // Returns true if the last kilobytes of the logs are binary data.
  bool is_binary() const;

 private:
  // A matched part of the logs. The offsets count the bytes of all logs together.
  struct Span {
    std::int64_t begin, end;
  };
  // A part of the block that is being scanned. The offsets count from the beginning of the block.
  struct Window {
    std::size_t begin, end;
  };

  void scan_buffer();
  void scan(std::string_view block, std::size_t from, std::size_t until);
  void match_window(std::string_view block, Window window, bool whole_line);
  bool matches(std::uint32_t rule, std::string_view text) const;
  bool count_repeated_match(std::uint32_t rule);
  bool is_harmless(std::string_view line) const;
  bool match_rule(std::uint32_t number, std::string_view text, std::int64_t offset,
                  bool whole_line);
  void add_match(std::uint32_t number, std::string_view text, std::size_t begin, std::size_t end,
                 std::int64_t offset);
  bool overlaps_match(Span span) const;
  void read_following_lines(std::string_view lines);
  static void remove_escape_sequences(std::string* text);

  const RuleSet& rules_;
  std::vector<RuleMatches> found_;
  std::string log_;
  std::string buffer_;
  // The rules whose literals end at or before this offset of the buffer have been tried.
  std::size_t scanned_until_ = 0;
  std::int64_t buffer_offset_ = 0;
  // The number of line ends of this log that have been counted so far.
  std::int64_t lines_ = 0;
  // The line number of the current match, from 1.
  std::int64_t line_ = 0;
  std::int64_t bytes_ = 0;
  std::string tail_;
  std::vector<LiteralFinder::LiteralMatch> hits_;
  std::vector<std::uint32_t> candidates_;
  // The parts of the current line that rules have matched.
  std::vector<Span> spans_;
  // The part of the block after the current line.
  std::string_view block_after_line_;
  std::optional<std::uint32_t> following_;
  int follow_lines_ = 0;
};

}  // namespace groma::guide
