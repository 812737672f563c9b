// Scans logs in blocks: the literal finder finds the positions of literals at which a rule may
// match, then the patterns of those rules are matched around these positions.
#include "guide/scanner.h"

#include <algorithm>
#include <cctype>
#include <cstring>

#include "groma/harmless.h"

namespace groma::guide {
namespace {

// The number of lines after a match in which lines that belong to the match are searched.
constexpr int kFollowLines = 12;
// Limits on the following lines that are kept for a match, on the bytes of each kept line, and on
// the matched parts of a line that are remembered.
constexpr std::size_t kMaxFollow = 8;
constexpr std::size_t kShownBytes = 400;
constexpr std::size_t kSpans = 64;

bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20; }

// Returns the end of the terminal escape sequence that begins at `at`, or npos if the text ends
// within the sequence. If no valid sequence begins there, only the ESC byte counts as the sequence.
std::size_t escape_end(const std::string& text, std::size_t at) {
  constexpr std::size_t kLongest = 256;
  if (at + 1 >= text.size()) return std::string::npos;
  const char kind = text[at + 1];
  // `ESC ]` begins a sequence that sets the title of the terminal. A sequence such as `ESC ( B` has
  // characters from 0x20 to 0x2F after ESC.
  const bool title = kind == ']', letters = kind >= 0x20 && kind <= 0x2F;
  if (kind != '[' && !title && !letters) return at + (is_control(kind) ? 1 : 2);
  for (std::size_t i = at + 2; i < text.size(); ++i) {
    const char c = text[i];
    // If no end of the sequence is found within kLongest bytes, the text is not an escape sequence.
    if (i - at > kLongest) return at + 1;
    if (title && c == '\x1b' && i + 1 == text.size()) return std::string::npos;
    // BEL or `ESC \` ends a title sequence and belongs to it. Any other control character ends the
    // sequence and does not belong to it.
    if (title && is_control(c)) {
      return c == '\a' ? i + 1 : text.compare(i, 2, "\x1b\\") == 0 ? i + 2 : i;
    }
    if (title) continue;
    if (is_control(c)) return letters ? i : at + 1;
    if (c >= (letters ? 0x30 : 0x40) && c <= 0x7E) return i + 1;
  }
  return text.size() - at > kLongest ? at + 1 : std::string::npos;
}

// Returns the log level in the last prefix of a Realm message before `at`: 5 for `[0 - 7f2c] 1.2
// {5}{legion}: `. Returns 0 if there is no prefix. Level 4 is a warning, level 5 is an error.
int realm_level(std::string_view text, std::size_t at) {
  const std::size_t found = text.substr(0, at).rfind("}{");
  if (found == std::string_view::npos || found < 2 || text[found - 2] != '{') return 0;
  const char digit = text[found - 1];
  return digit >= '0' && digit <= '6' ? digit - '0' : 0;
}

// Returns the role of a rule, corrected by the severity of the matched message in the log. Groma's
// diagnostics may have been lowered to warnings. A warning of one Legion release may be an error in
// another release, or with -lg:werror.
RuleRole role_there(const Rule& rule, std::string_view text, std::size_t begin, std::size_t end) {
  const RuleRole role = rule.role;
  if (!rule.diagnostic.empty()) {
    const std::string_view match = text.substr(begin, end - begin);
    const auto first = [&](std::string_view a, std::string_view b) {
      return std::min(match.find(a), match.find(b));
    };
    return first("warning: ", "\"warning\"") < first("error: ", "\"error\"") ? RuleRole::kWarning
                                                                             : RuleRole::kError;
  }
  const int level = realm_level(text, begin);
  if (level == 0 || text.substr(0, end).rfind("LEGION WARNING") == std::string_view::npos) {
    return role;
  }
  const bool failure = role == RuleRole::kError || role == RuleRole::kGeneral;
  if (failure && level <= 4) return RuleRole::kWarning;
  if ((role == RuleRole::kWarning || role == RuleRole::kPerformance) && level >= 5)
    return RuleRole::kError;
  return role;
}

// Counts the line ends in a text, in blocks of 128 bytes. The count of a block fits into a byte, so
// that the compiler can vectorise the loop.
std::int64_t line_ends(std::string_view text) {
  constexpr std::size_t kPiece = 128;
  std::int64_t count = 0;
  for (std::size_t i = 0; i < text.size(); i += kPiece) {
    std::uint8_t some = 0;
    for (const char c : text.substr(i, kPiece)) {
      some = static_cast<std::uint8_t>(some + (c == '\n' ? 1 : 0));
    }
    count += some;
  }
  return count;
}

std::string_view without_return(std::string_view line) {
  while (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

}  // namespace

LogScanner::LogScanner(const RuleSet& rules) : rules_(rules), found_(rules.rules.size()) {
  buffer_.reserve(kBlockBytes);
}

// The line numbers of each log begin with 1.
void LogScanner::begin_log(std::string name) {
  finish_log();
  log_ = std::move(name);
  lines_ = 0;
}

void LogScanner::read(std::string_view bytes) {
  bytes_ += static_cast<std::int64_t>(bytes.size());
  while (!bytes.empty()) {
    const std::size_t some = std::min(bytes.size(), kBlockBytes - buffer_.size());
    buffer_.append(bytes.substr(0, some));
    bytes.remove_prefix(some);
    if (buffer_.size() == kBlockBytes) scan_buffer();
  }
}

// If the log does not end with a line end, one is added.
void LogScanner::finish_log() {
  if (!buffer_.empty() && buffer_.back() != '\n') buffer_ += '\n';
  scan_buffer();
  spans_.clear();
  scanned_until_ = 0;
  following_.reset();
}

// Scans the complete lines of the buffer and removes them. If a single line fills the buffer, scans
// only the part that is followed by at least kWindowBytes bytes.
void LogScanner::scan_buffer() {
  if (buffer_.empty()) return;
  remove_escape_sequences(&buffer_);
  const std::string_view block(buffer_);
  const std::size_t line_end = block.rfind('\n');
  std::size_t until = line_end + 1, drop = until, seen = 0;
  if (line_end == std::string_view::npos) {
    // Removing escape sequences has made room in the buffer, so more text is read first.
    if (block.size() < 3 * kWindowBytes) return;
    until = block.size() - kWindowBytes;
    drop = until - kWindowBytes;
    seen = kWindowBytes;
  }
  scan(block, scanned_until_, until);
  tail_.append(block.substr(drop - std::min(drop, kWindowBytes), std::min(drop, kWindowBytes)));
  if (tail_.size() > 2 * kWindowBytes) tail_.erase(0, tail_.size() - kWindowBytes);
  buffer_.erase(0, drop);
  buffer_offset_ += static_cast<std::int64_t>(drop);
  scanned_until_ = seen;
}

// Finds the literals in a block of the log that end in (from, until]. Finds the line around each
// literal, and tries the rules that need the literals in this line.
void LogScanner::scan(std::string_view block, std::size_t from, std::size_t until) {
  if (following_) read_following_lines(block.substr(0, until));
  rules_.literal_finder.scan(block, &hits_);
  // The line ends before this offset of the block were already added to lines_.
  std::size_t counted = 0;
  for (std::size_t i = 0; i < hits_.size();) {
    const std::size_t at = hits_[i].end;
    if (at <= from || at > until) {
      ++i;
      continue;
    }
    // Find the line around the literal, up to kWindowBytes in each direction.
    std::size_t begin = at - 1;
    const std::size_t farthest = at - std::min(at, kWindowBytes);
    while (begin > farthest && block[begin - 1] != '\n') --begin;
    const std::size_t reach = std::min(kWindowBytes, block.size() - at);
    const void* newline = std::memchr(block.data() + at, '\n', reach);
    std::size_t end =
        newline == nullptr
            ? at + reach
            : static_cast<std::size_t>(static_cast<const char*>(newline) - block.data());
    const bool begins = begin == 0 ? from == 0 : block[begin - 1] == '\n';
    const bool whole_line = begins && newline != nullptr && end - begin <= kLineBytes;
    // All literals that end before this offset are handled together.
    std::size_t group_end = end;
    // In a long line, patterns are matched only in the text around the literals.
    if (whole_line) {
      spans_.clear();
    } else {
      begin = std::max(begin, at - std::min(at, kWindowBytes / 4));
      group_end = std::min(end, at + kWindowBytes / 16);
      end = std::min(end, group_end + kWindowBytes / 4);
    }
    candidates_.clear();
    for (; i < hits_.size() && hits_[i].end <= group_end && hits_[i].end <= until; ++i) {
      const auto rules = rules_.literal_finder.rules_needing_literal(hits_[i]);
      candidates_.insert(candidates_.end(), rules.begin(), rules.end());
    }
    std::sort(candidates_.begin(), candidates_.end());
    candidates_.erase(std::unique(candidates_.begin(), candidates_.end()), candidates_.end());
    if (begin > counted) lines_ += line_ends(block.substr(counted, begin - counted));
    counted = std::max(counted, begin);
    line_ = lines_ + 1;
    const std::size_t next_line = std::min(end + 1, until);
    block_after_line_ = block.substr(next_line, until - next_line);
    match_window(block, {begin, end}, whole_line);
  }
  const std::size_t gone = block.rfind('\n') == std::string_view::npos ? counted : until;
  if (gone > counted) lines_ += line_ends(block.substr(counted, gone - counted));
}

// Tries the rules in candidates_ on a part of the block. In a complete line, catch-all rules are
// tried only if no other rule matched. In a long line, they may not match words that another rule
// matched.
void LogScanner::match_window(std::string_view block, Window window, bool whole_line) {
  const std::string_view text =
      without_return(block.substr(window.begin, window.end - window.begin));
  const std::int64_t offset = buffer_offset_ + static_cast<std::int64_t>(window.begin);
  const auto last_resort =
      std::stable_partition(candidates_.begin(), candidates_.end(), [&](std::uint32_t rule) {
        const RuleRole role = rules_.rules[rule].role;
        return role != RuleRole::kGeneral && role != RuleRole::kConsequence;
      });
  auto end = last_resort;
  // For a complete line, first tests whether a pattern matches, because that is faster than finding
  // where it matches.
  if (whole_line) {
    end = std::remove_if(candidates_.begin(), last_resort,
                         [&](std::uint32_t rule) { return !matches(rule, text); });
    const bool one = end - candidates_.begin() == 1;
    const bool harmless = one && rules_.rules[candidates_.front()].role == RuleRole::kHarmless;
    if (one && !harmless && count_repeated_match(candidates_.front())) return;
  }
  bool any = false;
  for (auto rule = candidates_.begin(); rule != end; ++rule) {
    const bool matched = match_rule(*rule, text, offset, whole_line);
    // Several messages may stand in one line if line ends were lost. A harmless match therefore
    // keeps catch-all rules only from matching the same words, and not from the whole line.
    any = any || (matched && rules_.rules[*rule].role != RuleRole::kHarmless);
  }
  for (auto rule = last_resort; rule != candidates_.end() && !(whole_line && any); ++rule) {
    if (whole_line && !matches(*rule, text)) continue;
    if (whole_line && spans_.empty() && count_repeated_match(*rule)) return;
    any = match_rule(*rule, text, offset, whole_line) || any;
  }
}

// Returns true if the pattern of the rule with this number matches anywhere in the text.
bool LogScanner::matches(std::uint32_t rule, std::string_view text) const {
  const re2::StringPiece piece(text.data(), text.size());
  return rules_.rules[rule].regex->Match(piece, 0, text.size(), RE2::UNANCHORED, nullptr, 0);
}

// If the rule has matched before and is not a metric rule, only increments the number of its
// matches and returns true. Otherwise returns false, and the caller must add the match together
// with its text.
bool LogScanner::count_repeated_match(std::uint32_t rule) {
  if (found_[rule].count == 0 || rules_.rules[rule].role == RuleRole::kMetric) return false;
  ++found_[rule].count;
  return true;
}

// Tries a rule on a part of the log, and adds its matches. In a complete line, a rule matches at
// most once. In a part of a longer line, a rule matches as often as possible.
bool LogScanner::match_rule(std::uint32_t number, std::string_view text, std::int64_t offset,
                            bool whole_line) {
  const re2::StringPiece piece(text.data(), text.size());
  bool any = false;
  for (std::size_t from = 0; from < text.size();) {
    re2::StringPiece match;
    if (!rules_.rules[number].regex->Match(piece, from, text.size(), RE2::UNANCHORED, &match, 1)) {
      return any;
    }
    const auto begin = static_cast<std::size_t>(match.data() - text.data());
    const std::size_t end = begin + match.size();
    const Span span{offset + static_cast<std::int64_t>(begin),
                    offset + static_cast<std::int64_t>(end)};
    from = std::max(end, begin + 1);
    // Words that stand in two overlapping windows of a long line count once.
    if (overlaps_match(span)) continue;
    any = true;
    if (spans_.size() >= kSpans) spans_.erase(spans_.begin(), spans_.begin() + kSpans / 2);
    spans_.push_back(span);
    add_match(number, text, begin, end, span.begin);
    if (whole_line) return any;
  }
  return any;
}

// Returns true if this part of the line overlaps a part that a rule has already matched.
bool LogScanner::overlaps_match(Span span) const {
  return std::any_of(spans_.begin(), spans_.end(), [&](const Span& other) {
    return span.begin < other.end && other.begin < span.end;
  });
}

// Adds a match of a rule. Keeps the details of the rule's first match only, and, for a metric, also
// the text of the last match.
void LogScanner::add_match(std::uint32_t number, std::string_view text, std::size_t begin,
                           std::size_t end, std::int64_t offset) {
  const Rule& rule = rules_.rules[number];
  RuleMatches& found = found_[number];
  if (rule.role == RuleRole::kMetric) found.last_text = text;
  if (found.count++ > 0) return;
  found.log = log_;
  found.line = line_;
  found.offset = offset;
  found.text = text;
  found.role = role_there(rule, text, begin, end);
  if (rule.follow_line_prefixes.empty()) return;
  following_ = number;
  follow_lines_ = kFollowLines;
  read_following_lines(block_after_line_);
}

// Collects the lines after a match that begin with one of the prefixes in Rule::follow. Stops at
// the next error or warning, or after kFollowLines lines.
void LogScanner::read_following_lines(std::string_view lines) {
  RuleMatches& found = found_[*following_];
  while (!lines.empty() && follow_lines_ > 0) {
    const std::size_t end = std::min(lines.find('\n'), lines.size());
    std::string_view line = without_return(lines.substr(0, end));
    lines.remove_prefix(std::min(end + 1, lines.size()));
    --follow_lines_;
    if (line.find(": error: ") != std::string_view::npos ||
        line.find(": warning: ") != std::string_view::npos) {
      follow_lines_ = 0;
      break;
    }
    while (!line.empty() && std::isspace(static_cast<unsigned char>(line.front())) != 0) {
      line.remove_prefix(1);
    }
    for (const std::string& prefix : rules_.rules[*following_].follow_line_prefixes) {
      if (!line.starts_with(prefix) || found.follow.size() >= kMaxFollow) continue;
      found.follow.push_back(harmless(line, kShownBytes));
    }
  }
  if (follow_lines_ <= 0) following_.reset();
}

// Removes terminal escape sequences and replaces NUL bytes by spaces, so that patterns match the
// text that a person sees.
void LogScanner::remove_escape_sequences(std::string* text) {
  if (text->find('\x1b') == std::string::npos && text->find('\0') == std::string::npos) {
    return;
  }
  std::size_t kept = 0;
  for (std::size_t i = 0; i < text->size();) {
    const char c = (*text)[i];
    if (c == '\x1b') {
      const std::size_t end = escape_end(*text, i);
      // The rest of the escape sequence has not been read yet, so its beginning stays.
      if (end == std::string::npos) {
        text->erase(kept, i - kept);
        return;
      }
      i = end;
      continue;
    }
    (*text)[kept++] = c == '\0' ? ' ' : c;
    ++i;
  }
  text->resize(kept);
}

// Returns true if a rule with the role kHarmless matches the line.
bool LogScanner::is_harmless(std::string_view line) const {
  std::vector<LiteralFinder::LiteralMatch> hits;
  rules_.literal_finder.scan(line, &hits);
  for (const LiteralFinder::LiteralMatch& hit : hits) {
    for (const std::uint32_t rule : rules_.literal_finder.rules_needing_literal(hit)) {
      if (rules_.rules[rule].role == RuleRole::kHarmless && matches(rule, line)) return true;
    }
  }
  return false;
}

// The last text of a log counts as binary if more than one byte in twenty is a control character.
bool LogScanner::is_binary() const {
  const auto controls = std::count_if(tail_.begin(), tail_.end(), [](char c) {
    return static_cast<unsigned char>(c) < ' ' && c != '\t' && c != '\n' && c != '\r';
  });
  return 20 * static_cast<std::size_t>(controls) > tail_.size();
}

// Collects the last lines of the log, going backwards from the end of the text that was kept.
std::vector<std::string> LogScanner::last_lines() const {
  std::vector<std::string> lines;
  std::string_view rest(tail_);
  while (!rest.empty() && lines.size() < kLastLines) {
    const std::size_t end = rest.find_last_not_of("\r\n");
    if (end == std::string_view::npos) break;
    const std::size_t before = rest.substr(0, end + 1).rfind('\n');
    const std::size_t begin = before == std::string_view::npos ? 0 : before + 1;
    const std::string_view line = rest.substr(begin, end + 1 - begin);
    const bool blank = line.find_first_not_of(" \t\r") == std::string_view::npos;
    if (!blank && !is_harmless(line)) lines.push_back(harmless(line, kShownBytes));
    rest = rest.substr(0, begin);
  }
  std::reverse(lines.begin(), lines.end());
  return lines;
}

}  // namespace groma::guide
