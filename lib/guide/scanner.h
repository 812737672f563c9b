// Scanner: reads logs once, block by block, and keeps the first match and the number of matches of
// each rule. The memory that it needs depends on the rules, not on the size of the log.
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
// In a longer line, a rule looks only at the text around its literal, at most this many bytes away.
// Realm cuts its own lines at this length.
inline constexpr std::size_t kWindowBytes = 4096;
inline constexpr std::size_t kLastLines = 8;

// All matches of one rule.
struct RuleMatches {
  std::int64_t count = 0;
  std::string log;
  std::int64_t line = 0;
  std::int64_t offset = 0;  // offset of the first match in everything read so far
  std::string text;       // text of the first match; the pattern runs on it again to get its groups
  std::string last_text;  // kMetric: text of the last match
  Role role = Role::kError;
  std::vector<std::string> follow;  // lines that belong to the first match
};

class Scanner {
 public:
  explicit Scanner(const RuleSet& rules);

  // Begins another log. `name` is shown with the matches.
  void begin(std::string name);
  // Reads the next bytes of the log, which may end anywhere.
  void read(std::string_view bytes);
  // Treats what is left in the buffer as the last line.
  void finish();

  const std::vector<RuleMatches>& found() const { return found_; }  // the matches of each rule
  bool empty() const { return bytes_ == 0; }
  // Returns the last lines of everything that was read, shortened and safe to show. Empty lines and
  // lines that a rule calls harmless are left out.
  std::vector<std::string> last_lines() const;
  bool is_binary() const;  // true if the last lines contain binary data

 private:
  struct Span {
    std::int64_t begin, end;  // a part of the text, by offsets in everything read so far
  };
  struct Window {
    std::size_t begin, end;  // a part of the block that is scanned, by offsets in the block
  };

  void scan_buffer();
  void scan(std::string_view block, std::size_t from, std::size_t until);
  void match_window(std::string_view block, Window window, bool whole_line);
  bool matches(std::uint32_t rule, std::string_view text) const;
  bool count_without_details(std::uint32_t rule);
  bool is_harmless(std::string_view line) const;
  bool match_rule(std::uint32_t number, std::string_view text, std::int64_t offset,
                  bool whole_line);
  void add(std::uint32_t number, std::string_view text, std::size_t begin, std::size_t end,
           std::int64_t offset);
  bool overlaps_match(Span span) const;
  void read_following_lines(std::string_view lines);
  static void clean(std::string* text);

  const RuleSet& rules_;
  std::vector<RuleMatches> found_;
  std::string log_;
  std::string buffer_;
  std::size_t seen_ = 0;  // hits that end before this offset of the buffer have been handled
  std::int64_t buffer_offset_ = 0;
  std::int64_t lines_ = 0;  // number of complete lines of this log before the buffer
  std::int64_t line_ = 0;   // line number of the current match
  std::int64_t bytes_ = 0;
  std::string tail_;
  std::vector<Prefilter::Hit> hits_;
  std::vector<std::uint32_t> candidates_;
  std::vector<Span> spans_;  // matched parts of the current line
  std::string_view rest_;    // the block after the current line
  std::optional<std::uint32_t> following_;
  int follow_lines_ = 0;
};

}  // namespace groma::guide
