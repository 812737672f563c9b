// Goes through logs once, piece by piece, and gathers what the rules find: each rule's first match
// and how many there were. Memory is bounded by the rules, not by the log.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "guide/rules.h"

namespace groma::guide {

inline constexpr std::size_t kBlockBytes = std::size_t{256} << 10;
// A line of at most this length is one message.
inline constexpr std::size_t kLineBytes = 1024;
// Of a longer one a rule looks at parts around its literal, not farther than this from it: Realm
// cuts its own lines there.
inline constexpr std::size_t kWindowBytes = 4096;
inline constexpr std::size_t kLastLines = 8;

// All matches of one rule.
struct Found {
  std::int64_t count = 0;
  std::string log;
  std::int64_t line = 0;
  std::int64_t offset = 0;  // of the first, in all that was read
  std::string text;         // what the pattern is matched against once more, for its groups
  std::string last_text;    // kMetric: of the last one
  Role role = Role::kError;
  std::vector<std::string> follow;  // lines that belong to the first
};

class Scanner {
 public:
  explicit Scanner(const RuleSet& rules);

  void begin(std::string name);
  void read(std::string_view bytes);
  // Takes what is left as the last line.
  void finish();

  const std::vector<Found>& found() const { return found_; }  // by rule
  bool empty() const { return bytes_ == 0; }
  // Of everything; cut, fit to be shown, no empty and no harmless ones.
  std::vector<std::string> last_lines() const;
  bool is_binary() const;  // what they are made of

 private:
  struct Span {
    std::int64_t begin, end;  // offsets in all that was read
  };
  struct Window {
    std::size_t begin, end;  // in the block
  };

  void take();
  void scan(std::string_view block, std::size_t from, std::size_t until);
  void match_window(std::string_view block, Window window, bool whole_line);
  bool matches(std::uint32_t rule, std::string_view text) const;
  bool counted_on(std::uint32_t rule);
  bool is_harmless(std::string_view line) const;
  bool match_rule(std::uint32_t number, std::string_view text, std::int64_t offset,
                  bool whole_line);
  void add(std::uint32_t number, std::string_view text, std::size_t begin, std::size_t end,
           std::int64_t offset);
  bool taken(Span span) const;
  void read_follow(std::string_view lines);
  static void clean(std::string* text);

  const RuleSet& rules_;
  std::vector<Found> found_;
  std::string log_;
  std::string buffer_;
  std::size_t seen_ = 0;  // of the buffer: hits that end in here were dealt with
  std::int64_t buffer_offset_ = 0;
  std::int64_t lines_ = 0;  // whole ones before the buffer, of this log
  std::int64_t line_ = 0;   // of the match at hand
  std::int64_t bytes_ = 0;
  std::string tail_;
  std::vector<Prefilter::Hit> hits_;
  std::vector<std::uint32_t> candidates_;
  std::vector<Span> spans_;  // of the line at hand
  std::string_view rest_;    // of the block, after the line at hand
  std::optional<std::uint32_t> following_;
  int follow_lines_ = 0;
};

}  // namespace groma::guide
