// Recognises numbers, times and locations in the lines that programs print.
#include "guide/printed_lines.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <charconv>
#include <limits>

namespace groma::guide {
namespace {

using Kind = PrintedNumber::Kind;
using NumberRole = PrintedNumber::Role;

// The number of bytes before and after a printed number that decide the number's role (result, time
// or location).
constexpr std::size_t kRoleBytes = 64;

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_word(char c) { return is_digit(c) || is_letter(c) || c == '_'; }

bool matches(std::string_view text, const RE2& pattern) {
  return RE2::PartialMatch(re2::StringPiece(text.data(), text.size()), pattern);
}

// ---- Patterns

// Matches words before a number that is a time or a speed. `performance`, `speed`, `date` and `Hz`
// are missing on purpose: they also occur before results of physics.
const RE2& time_words() {
  static const RE2 pattern(
      R"((?i)(?:\b|_)(?:time|elapsed|took|duration|throughput|bandwidth|speedup|walltime)"
      R"(|wallclock|runtime|[munp]?secs?|seconds?|(?:milli|micro|nano)seconds?)"
      R"(|[kmgtp]?flops?)(?:\b|_)|[(\[_][munp]?s\b|per second\b|[kmgtp]?flop/s|[kmgtp]?i?b/s)"
      R"(|\b(?:it|iter|iteration|step)s?/s\b)");
  return pattern;
}

// Matches names of results that contain `time` but are not measured times, such as `half-time` and
// `time step`.
const RE2& other_times() {
  static const RE2 pattern(
      R"((?i)time[-_ ]?(?:averag|step|integr|evol|depend|constant|scale|series|order|dilat))"
      R"(|(?:half|life|dead)[-_ ]?time)");
  return pattern;
}

// Matches words which tell that a number of seconds after them was measured, such as `took`.
const RE2& measured_words() {
  static const RE2 pattern(
      R"((?i)(?:\b|_)(?:time|times|in|within|took|takes|taken|spent|needed|wall|real|user|sys)"
      R"(|finished|completed|done|ran|run|elapsed|duration|runtime|walltime)(?:\b|_))");
  return pattern;
}

// Matches a unit of time directly after a number: seconds, minutes or hours. The number may be a
// measured time or a result of a simulation.
const RE2& seconds_unit() {
  static const RE2 pattern(R"((?i)^ ?(?:s|secs?|seconds?|min|minutes?|hours?)\b)");
  return pattern;
}

// Matches a unit directly after a number that is always a measurement: fractions of seconds, or
// speeds of program execution, such as GFLOPS. `m/s` is not included.
const RE2& measure_unit() {
  static const RE2 pattern(
      R"((?i)^ ?(?:(?:[munp]s|[munp]secs?|(?:milli|micro|nano)seconds?)\b)"
      R"(|[kmgtp]?flops?(?:/s)?\b|[kmgtp]?i?b(?:ytes?|its?)?/s)"
      R"(|(?:it|iter|iteration|step|timestep|op|operation|update|cell|point|particle|element|edge)"
      R"(|node|wire|task|launch|vertex|vertice|sample|image|item|row|frame|flop|byte|bit|lup|token)"
      R"(|query|word|request|event|message|zone|atom)(?:e?s)?)"
      R"((?:/s(?:ec(?:ond)?)?\b| per sec(?:ond)?\b)|x (?:faster|slower|speedup)\b))");
  return pattern;
}

// Pattern of the words that, in front of a number, always mean a location: a processor, a thread or
// a process.
constexpr std::string_view kPlaces = "(?:cpu|gpu|omp|processor|proc|thread|pid|tid)[ :=#]*";
// Pattern of the words that, in front of a number, may mean a location, but mean something else in
// many programs (`matrix rank 3`, a node of a graph).
constexpr std::string_view kPossiblePlaces = "(?:core|node|rank|shard|memory|device|host)[ :=#]*";

// Matches a word such as `CPU` or `thread` at the end of the text before a number. The number is
// then a location.
const RE2& place_words() {
  static const RE2 pattern(fmt::format(R"((?i)\b{}$)", kPlaces));
  return pattern;
}

// Matches the text before a number in which words such as `node` or `rank` surely mean a location:
// `on node 3`, `[rank 0]` and `SYSMEM of node 1`.
const RE2& placed_words() {
  static const RE2 pattern(fmt::format(
      R"((?i)(?:\b(?:on|in|at|from|to|[a-z_]*mem(?:ory)? of)|[\[(<]) ?{}$)", kPossiblePlaces));
  return pattern;
}

// Matches a word such as `node` or `rank` at the end of the text before a number. The number is a
// location if another location follows (next_place()).
const RE2& possible_place() {
  static const RE2 pattern(fmt::format(R"((?i)\b{}$)", kPossiblePlaces));
  return pattern;
}

// Matches a location such as `CPU 0` directly after another number, as in `node 1 CPU 0`.
const RE2& next_place() {
  static const RE2 pattern(fmt::format(R"((?i)^[ ,;:/.]*{}[0-9])", kPlaces));
  return pattern;
}

// Matches a word such as `node` directly after another location, as in `CPU 1, node 0`.
const RE2& further_place() {
  static const RE2 pattern(fmt::format(R"((?i)^[ ,;:/.]*{}$)", kPossiblePlaces));
  return pattern;
}

// Matches words before a number that name an error or a difference, such as `residual`.
const RE2& residue_words() {
  static const RE2 pattern(
      R"((?i)err(?:or)?\b|errors\b|resid|differ|\bdiff\b|delta|deviation|discrepancy|defect)");
  return pattern;
}

// ---- Numbers

// Returns true if `text` may be a whole number although `rest` follows it directly. A unit may
// follow a number with a point, and any letters may follow an integer, because its digits are
// compared anyway. The characters `1e-12ab` are part of a hash and not a number.
bool may_end_before(std::string_view rest, std::string_view text, Kind kind) {
  if (rest.empty() || !is_word(rest.front()) || kind == Kind::kInteger) return true;
  const std::size_t letters = static_cast<std::size_t>(
      std::find_if_not(rest.begin(), rest.end(), is_letter) - rest.begin());
  if (letters < rest.size() && is_word(rest[letters])) return false;
  const bool is_imaginary = letters == 1 && (rest.front() == 'j' || rest.front() == 'i');
  // Behind a number without a point, such as 1e-5 or nan, the only letter may be the imaginary unit
  // `i` or `j`.
  if (text.find('.') == text.npos) return is_imaginary;
  // The length of the longest unit, GFLOPS.
  constexpr std::size_t kLongestUnit = 6;
  return letters <= kLongestUnit;
}

// Reads the number that begins at offset `at` of a line, and returns the offset of its end. Returns
// `at` if no number begins there. `after_number` is true if another number, or another number and
// spaces, end at `at`. A sign at `at` then belongs to the new number, as in `3.0-1.2e-17j`.
std::size_t number_end(std::string_view line, std::size_t at, bool after_number,
                       PrintedNumber* number) {
  const char* const begin = line.data() + at;
  const char* const end = line.data() + line.size();
  const char* from = begin;
  const bool has_sign = *from == '-' || *from == '+';
  const bool inside_word = at > 0 && is_word(line[at - 1]);
  if (inside_word && !(has_sign && after_number)) return at;
  if (has_sign) ++from;
  while (has_sign && after_number && from < end && *from == ' ') ++from;
  if (from == end || *from == '-') return at;
  if (!is_digit(*from) && *from != '.' && (*from | 0x20) != 'n' && (*from | 0x20) != 'i') return at;
  const auto [stop, code] = std::from_chars(from, end, number->value);
  if (code == std::errc::invalid_argument) return at;
  std::string_view text(from, static_cast<std::size_t>(stop - from));
  const std::string_view rest(stop, static_cast<std::size_t>(end - stop));
  std::string_view digits = text.substr(0, text.size() - (text.ends_with('.') ? 1 : 0));
  number->is_negative = *begin == '-';
  // A number with a point but no decimals, such as `5.`, counts as an integer.
  if (digits.find_first_not_of("0123456789") == digits.npos) {
    number->kind = Kind::kInteger;
    digits.remove_prefix(std::min(digits.find_first_not_of('0'), digits.size()));
    number->is_negative = number->is_negative && !digits.empty();
    if (code != std::errc()) number->value = std::numeric_limits<double>::max();
  } else if (code != std::errc()) {
    number->kind = Kind::kText;
    number->value = 0;
    digits = text;
  } else {
    // C, Fortran and Python print a number with an exponent either with a point or with a sign of
    // the exponent. `100000001e5` has neither, so it is something else, such as a hash.
    const std::size_t exponent = is_digit(*from) ? text.find_first_of("eE") : text.npos;
    if (exponent != text.npos && exponent + 1 < text.size() && is_digit(text[exponent + 1]) &&
        text.find('.') == text.npos) {
      return at;
    }
  }
  if (!may_end_before(rest, text, number->kind)) return at;
  number->digits = digits;
  if (number->is_negative) number->value = -number->value;
  return at + static_cast<std::size_t>(stop - begin);
}

// Returns the end of a hexadecimal address such as `0x7ffe12` that begins at offset `at`, or `at`
// if no address begins there.
std::size_t address_end(std::string_view line, std::size_t at) {
  if ((at > 0 && is_word(line[at - 1])) || !line.substr(at).starts_with("0x")) return at;
  return std::min(line.find_first_not_of("0123456789abcdefABCDEF", at + 2), line.size());
}

// Calls `take_number(begin, end, number)` for each number of a line, and `take_text(begin, end)`
// for the text between the numbers. Skips spaces after a number, and the digits of addresses
// (`0x7f`). Stops if take_number returns false.
template <typename TakeNumber, typename TakeText>
void scan(std::string_view line, const TakeNumber& take_number, const TakeText& take_text) {
  std::size_t after_number = line.npos;
  for (std::size_t i = 0; i < line.size();) {
    if (const std::size_t end = address_end(line, i); end != i) {
      take_text(i, i + 2);
      i = end;
      continue;
    }
    PrintedNumber number;
    const std::size_t end = number_end(line, i, i == after_number, &number);
    if (end == i) {
      take_text(i, i + 1);
      ++i;
      continue;
    }
    if (!take_number(i, end, number)) return;
    i = after_number = std::min(line.find_first_not_of(' ', end), line.size());
  }
}

// Returns the last kRoleBytes bytes of the text before a number, which may decide the number's
// role.
std::string_view last_bytes(std::string_view text) {
  return text.substr(text.size() - std::min(text.size(), kRoleBytes));
}

// Decides for each number of a printed line whether it is a result, a time or a location.
class NumberRoles {
 public:
  NumberRoles(std::string_view line, bool ignores_times)
      : line_(line), ignores_times_(ignores_times) {}

  // Decides the role of one number of the line. The numbers must be passed in the order of the
  // line, because the words since the previous number decide the role.
  void add(std::size_t begin, std::size_t end, PrintedNumber& number) {
    const std::string_view words = last_bytes(line_.substr(last_, begin - last_));
    const std::string_view behind = line_.substr(end, kRoleBytes);
    const bool has_words = std::any_of(words.begin(), words.end(), is_letter);
    is_place_ = number.kind == Kind::kInteger && has_words && is_place(begin, words, behind);
    const std::size_t letter = behind.starts_with(' ') ? 1 : 0;
    const bool has_unit = letter < behind.size() && is_letter(behind[letter]);
    std::size_t unit_bytes = 0;
    const bool is_time = is_measured(words, has_words, has_unit ? behind : "", &unit_bytes);
    if (is_place_ || (is_time && ignores_times_)) number.role = NumberRole::kIgnored;
    number.is_residual = has_words && matches(words, residue_words());
    last_ = end + unit_bytes;
  }

 private:
  // Returns true if the number is a location, such as the number of a processor or a node.
  bool is_place(std::size_t begin, std::string_view words, std::string_view behind) const {
    const std::string_view before = last_bytes(line_.substr(0, begin));
    return matches(before, place_words()) || matches(before, placed_words()) ||
           (is_place_ && matches(words, further_place())) ||
           (matches(before, possible_place()) && matches(behind, next_place()));
  }

  // Returns true if the words before a number or the unit behind it tell that the number is a time
  // or a speed. Sets `*unit_bytes` to the length of the unit, which does not belong to the words
  // before the next number.
  static bool is_measured(std::string_view words, bool has_words, std::string_view behind,
                          std::size_t* unit_bytes) {
    const bool speaks_of_time =
        has_words && matches(words, time_words()) && !matches(words, other_times());
    if (behind.empty()) return speaks_of_time;
    re2::StringPiece rest(behind.data(), behind.size());
    if (RE2::Consume(&rest, measure_unit())) {
      *unit_bytes = behind.size() - rest.size();
      return true;
    }
    if (!RE2::Consume(&rest, seconds_unit())) return speaks_of_time;
    *unit_bytes = behind.size() - rest.size();
    return speaks_of_time || !has_words ||
           (matches(words, measured_words()) && !matches(words, other_times()));
  }

  std::string_view line_;
  bool ignores_times_;
  // True if the previous number of the line is a location.
  bool is_place_ = false;
  // The offset of the end of the previous number and its unit.
  std::size_t last_ = 0;
};

}  // namespace

std::string extract_numbers(std::string_view text, bool ignores_times,
                            std::vector<PrintedNumber>& numbers) {
  std::string skeleton;
  NumberRoles roles(text, ignores_times);
  scan(
      text,
      [&](std::size_t begin, std::size_t end, PrintedNumber number) {
        roles.add(begin, end, number);
        skeleton.erase(skeleton.find_last_not_of(' ') + 1);
        skeleton += kNumberMark;
        numbers.push_back(number);
        return true;
      },
      [&](std::size_t begin, std::size_t end) { skeleton += text.substr(begin, end - begin); });
  return skeleton;
}

std::int64_t count_numbers(std::string_view text, std::int64_t most) {
  std::int64_t count = 0;
  scan(
      text, [&](std::size_t, std::size_t, const PrintedNumber&) { return ++count <= most; },
      [](std::size_t, std::size_t) {});
  return count;
}

}  // namespace groma::guide
