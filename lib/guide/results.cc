// Outputs as sets of lines whose numbers are cut out, for comparison.
#include "groma/results.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <utility>

#include "groma/harmless.h"

namespace groma {
namespace {

constexpr std::size_t kMaxOutputBytes = std::size_t{16} << 20;
constexpr std::int64_t kMaxLines = std::int64_t{1} << 18;
constexpr std::size_t kMaxLineBytes = 4'096;  // of a line, its beginning
constexpr std::size_t kMaxShownBytes = 160;

// A number in a line.
struct Number {
  double value = 0;
  bool is_integer = false;
  bool ignored = false;   // a time, a place: may be any number, but no NaN where there was none
  bool unsteady = false;  // changes from run to run: may be anything
};

struct Line {
  std::string text;       // as printed, harmless
  bool is_error = false;  // of standard error, to which Groma and Legion may add lines
  std::vector<Number> numbers;
};

// Lines by their output and their text with `#` for each number, in the order in which they came.
using Lines = std::map<std::string, std::vector<Line>, std::less<>>;

bool is_word(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

const RE2& time_pattern() {
  static const RE2 pattern(
      R"((?i)(\b(time|elapsed|took|duration|throughput|bandwidth|performance|speed|speedup)\b)"
      R"(|\b(seconds?|secs?|minutes?|hours?|msecs?|usecs?|milliseconds?|microseconds?)\b)"
      R"(|[0-9.] ?[munp]?s\b|\b[kmgtp]?flops?\b|[kmgtp]?flop/s|[kmgtp]?i?b/s)"
      R"(|\bper second\b|[0-9a-z]/s(ec)?\b|\b[kmg]?hz\b|\b(date|pid|tid|thread)\b))");
  return pattern;
}

// A unit of time or speed, directly behind a number.
const RE2& unit_pattern() {
  static const RE2 pattern(
      R"((?i)^ ?(([munp]?s|seconds?|secs?|minutes?|min|hours?|msecs?|usecs?|milliseconds?)\b)"
      R"(|microseconds?\b|[kmgtp]?flops?\b|[kmgtp]?flop/s|[kmgtp]?i?b/s|[0-9a-z]+/s(ec)?\b)"
      R"(|[a-z]+ per second\b|[kmg]?hz\b|x\b))");
  return pattern;
}

// What stands before the number of a place where something runs or lies.
const RE2& place_pattern() {
  static const RE2 pattern(
      R"((?i)\b(cpu|gpu|omp|processor|proc|core|node|rank|shard|thread|memory|device|host)[ :=#]*$)");
  return pattern;
}

// `[0 - 7fbc52c29b80]    0.000055 {4}{threads}: `: the level and the logger of a Legion message.
const RE2& logger_pattern() {
  static const RE2 pattern(R"(^\[[0-9]+ - [0-9a-f]+\](?:\s+[0-9.]+)? \{([0-9]+)\}\{([^}]*)\}: )");
  return pattern;
}

// The end of a number that begins at `at`; `at` where none does.
std::size_t number_end(std::string_view line, std::size_t at, Number* number) {
  const char* const begin = line.data() + at;
  const char* const end = line.data() + line.size();
  const char* from = begin;
  const bool sign = *from == '-' || *from == '+';
  if (sign && (at == 0 || !is_word(line[at - 1]))) ++from;
  const auto [stop, code] = std::from_chars(from, end, number->value);
  if (code == std::errc::invalid_argument ||
      (stop < end && is_word(*stop) && *stop != '_' && !std::isfinite(number->value))) {
    return at;  // a word that begins with nan or inf
  }
  if (code == std::errc::result_out_of_range) number->value = HUGE_VAL;
  if (*begin == '-' && from != begin) number->value = -number->value;
  const std::string_view text(from, static_cast<std::size_t>(stop - from));
  number->is_integer = text.find_first_not_of("0123456789") == text.npos;
  return at + static_cast<std::size_t>(stop - begin);
}

// Cuts a line into its text and its numbers. Blanks beside a number are not text: a program that
// pads its columns prints more of them before a shorter number. Of a line that speaks of time a
// number is ignored if the words before it, behind the last number, speak of time, or a unit of
// time follows it.
std::string skeleton_of(std::string_view line, bool is_time, std::vector<Number>& numbers) {
  std::string skeleton;
  std::size_t last = 0;  // where the number before ends
  for (std::size_t i = 0; i < line.size();) {
    const bool inside_word = i > 0 && is_word(line[i - 1]);
    if (!inside_word && line.substr(i).starts_with("0x")) {  // an address
      skeleton += "0x";
      i = std::min(line.find_first_not_of("0123456789abcdefABCDEF", i + 2), line.size());
      continue;
    }
    Number number;
    const std::size_t end = inside_word ? i : number_end(line, i, &number);
    if (end == i) {
      skeleton += line[i++];
      continue;
    }
    const re2::StringPiece before(line.data(), i), words(line.data() + last, i - last);
    const re2::StringPiece behind(line.data() + end, line.size() - end);
    number.ignored = number.is_integer && RE2::PartialMatch(before, place_pattern());
    if (is_time) {
      number.ignored = number.ignored || RE2::PartialMatch(words, time_pattern()) ||
                       RE2::PartialMatch(behind, unit_pattern());
    }
    last = end;
    skeleton.erase(skeleton.find_last_not_of(' ') + 1);
    skeleton += '#';
    numbers.push_back(number);
    i = std::min(line.find_first_not_of(' ', end), line.size());
  }
  return skeleton;
}

bool equal(const Number& a, const Number& b, double tolerance) {
  if (a.unsteady || b.unsteady) return true;
  if (std::isnan(a.value) || std::isnan(b.value)) return std::isnan(a.value) && std::isnan(b.value);
  if (a.ignored || b.ignored) return true;
  if (a.value == b.value) return true;
  if (std::isinf(a.value) || std::isinf(b.value)) return false;
  if (a.is_integer && b.is_integer) return false;
  const double most = std::max(std::abs(a.value), std::abs(b.value));
  return most < kResultsNoise || std::abs(a.value - b.value) <= tolerance * most;
}

bool equal(const Line& a, const Line& b, double tolerance) {
  return std::equal(a.numbers.begin(), a.numbers.end(), b.numbers.begin(), b.numbers.end(),
                    [&](const Number& x, const Number& y) { return equal(x, y, tolerance); });
}

bool has_nan(const Line& line) {
  return std::any_of(line.numbers.begin(), line.numbers.end(), [](const Number& number) {
    return !number.unsteady && std::isnan(number.value);
  });
}

// By numbers, NaN last.
std::vector<Line> sorted(std::vector<Line> lines) {
  const auto before = [](const Number& a, const Number& b) {
    if (std::isnan(a.value) || std::isnan(b.value))
      return std::isnan(b.value) > std::isnan(a.value);
    return a.value < b.value;
  };
  std::stable_sort(lines.begin(), lines.end(), [&](const Line& a, const Line& b) {
    return std::lexicographical_compare(a.numbers.begin(), a.numbers.end(), b.numbers.begin(),
                                        b.numbers.end(), before);
  });
  return lines;
}

}  // namespace

struct Results::State {
  ResultsOptions options;
  std::vector<std::unique_ptr<RE2>> same;
  std::unique_ptr<RE2> measure;
  Lines reference;
  // Texts of lines that some references print and others do not, or not as often.
  std::map<std::string, bool, std::less<>> unsteady;
  int references = 0;

  Lines read(std::string_view out, std::string_view err) const {
    Lines lines;
    for (const bool is_error : {false, true}) {
      std::string_view output = (is_error ? err : out).substr(0, kMaxOutputBytes);
      while (!output.empty()) {
        const std::size_t end = std::min(output.find('\n'), output.size());
        read_line(output.substr(0, std::min(end, kMaxLineBytes)), is_error, lines);
        output.remove_prefix(std::min(end + 1, output.size()));
      }
    }
    return lines;
  }

  void read_line(std::string_view line, bool is_error, Lines& lines) const {
    if (is_error && line.starts_with(kOwnLine)) return;
    while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.remove_suffix(1);
    int level = 0;
    re2::StringPiece logger, rest(line.data(), line.size());
    if (RE2::Consume(&rest, logger_pattern(), &level, &logger)) {
      if (level >= 4 || logger == "legion" || logger == "runtime") return;
      line = std::string_view(rest.data(), rest.size());
    }
    if (line.empty()) return;
    const re2::StringPiece piece(line.data(), line.size());
    if (measure != nullptr && RE2::PartialMatch(piece, *measure)) return;
    if (!same.empty()) {
      for (const auto& pattern : same) {
        re2::StringPiece part = piece;
        const bool matches = pattern->NumberOfCapturingGroups() > 0
                                 ? RE2::PartialMatch(piece, *pattern, &part)
                                 : RE2::PartialMatch(piece, *pattern);
        if (!matches) continue;
        return add({part.data(), part.size()}, is_error, false, lines);
      }
      return;
    }
    add(line, is_error, RE2::PartialMatch(piece, time_pattern()), lines);
  }

  static void add(std::string_view text, bool is_error, bool is_time, Lines& lines) {
    Line line;
    line.is_error = is_error;
    std::string skeleton = (is_error ? "err " : "out ") + skeleton_of(text, is_time, line.numbers);
    line.text = harmless(text, kMaxShownBytes);
    lines[std::move(skeleton)].push_back(std::move(line));
  }

  // What differs between two runs without a mapping is not a result.
  void join(Lines more) {
    for (const auto& [skeleton, lines] : more) {
      if (!reference.contains(skeleton)) unsteady[skeleton] = true;
    }
    for (auto& [skeleton, lines] : reference) {
      const auto found = more.find(skeleton);
      if (found == more.end() || found->second.size() != lines.size()) {
        unsteady[skeleton] = true;
        continue;
      }
      const bool in_order =
          std::equal(lines.begin(), lines.end(), found->second.begin(),
                     [&](const Line& a, const Line& b) { return equal(a, b, options.tolerance); });
      if (in_order) continue;
      std::vector<Line> first = sorted(lines), second = sorted(found->second);
      for (std::size_t i = 0; i < first.size(); ++i) {
        for (std::size_t k = 0; k < first[i].numbers.size(); ++k) {
          Number& number = first[i].numbers[k];
          if (!equal(number, second[i].numbers[k], options.tolerance)) number.unsteady = true;
        }
      }
      lines = std::move(first);
    }
  }
};

Results::Results(std::unique_ptr<State> state) : state_(std::move(state)) {}
Results::Results(Results&&) noexcept = default;
Results& Results::operator=(Results&&) noexcept = default;
Results::~Results() = default;

Result<Results> Results::make(ResultsOptions options) {
  auto state = std::make_unique<State>();
  if (!(options.tolerance >= 0)) {
    return Error{
        Error::Code::kMalformed,
        fmt::format("a tolerance of {} for results: it has to be 0 or more", options.tolerance)};
  }
  const auto compile = [](const std::string& text) -> Result<std::unique_ptr<RE2>> {
    auto pattern = std::make_unique<RE2>(text, RE2::Quiet);
    if (pattern->ok()) return pattern;
    return Error{Error::Code::kMalformed,
                 fmt::format("`{}` is not a pattern: {}", harmless(text), pattern->error())};
  };
  for (const std::string& text : options.same) {
    auto pattern = compile(text);
    if (!pattern) return pattern.error();
    state->same.push_back(std::move(pattern).value());
  }
  if (!options.measure.empty()) {
    auto pattern = compile(options.measure);
    if (!pattern) return pattern.error();
    state->measure = std::move(pattern).value();
  }
  state->options = std::move(options);
  return Results(std::move(state));
}

void Results::add_reference(std::string_view out, std::string_view err) {
  Lines lines = state_->read(out, err);
  if (state_->references++ == 0) {
    state_->reference = std::move(lines);
  } else {
    state_->join(std::move(lines));
  }
}

std::string Results::key() const {
  const ResultsOptions& options = state_->options;
  return fmt::format("{} {} {}", options.tolerance, options.measure, fmt::join(options.same, " "));
}

bool Results::fits(std::string_view out, std::string_view err) {
  return out.size() <= kMaxOutputBytes && err.size() <= kMaxOutputBytes &&
         std::count(out.begin(), out.end(), '\n') + std::count(err.begin(), err.end(), '\n') <=
             kMaxLines;
}

bool Results::has_reference() const { return state_->references > 0; }

std::optional<ResultsDifference> Results::compare(std::string_view out,
                                                  std::string_view err) const {
  if (!has_reference()) return std::nullopt;
  const double tolerance = state_->options.tolerance;
  const Lines lines = state_->read(out, err);
  std::optional<ResultsDifference> found;
  // NaN says most, then another number, then a line too many or too few.
  const auto worse = [&](const Line* expected, const Line* got) {
    const bool nan =
        got != nullptr && has_nan(*got) && (expected == nullptr || !has_nan(*expected));
    const bool both = expected != nullptr && got != nullptr;
    const bool had_both = found && !found->expected.empty() && !found->got.empty();
    if (found && (found->is_nan || (!nan && (had_both || !both)))) return;
    found = {expected == nullptr ? "" : expected->text, got == nullptr ? "" : got->text, nan};
  };
  for (const auto& [skeleton, expected] : state_->reference) {
    if (state_->unsteady.contains(skeleton)) continue;
    const auto at = lines.find(skeleton);
    const std::size_t count = at == lines.end() ? 0 : at->second.size();
    if (count < expected.size()) worse(&expected[count], nullptr);
    if (count > expected.size() && !at->second.front().is_error) {
      worse(nullptr, &at->second[expected.size()]);
    }
    if (count != expected.size()) continue;
    const auto differs = [&](const std::vector<Line>& a, const std::vector<Line>& b) {
      std::size_t i = 0;
      while (i < a.size() && equal(a[i], b[i], tolerance)) ++i;
      return i;
    };
    if (differs(expected, at->second) == count) continue;
    const std::vector<Line> first = sorted(expected), second = sorted(at->second);
    const std::size_t i = differs(first, second);
    if (i < count) worse(&first[i], &second[i]);
  }
  for (const auto& [skeleton, got] : lines) {
    if (got.front().is_error) continue;
    if (!state_->reference.contains(skeleton) && !state_->unsteady.contains(skeleton)) {
      worse(nullptr, &got.front());
    }
  }
  return found;
}

std::string to_text(const ResultsDifference& difference) {
  if (difference.got.empty()) return fmt::format("it does not print `{}`", difference.expected);
  if (difference.expected.empty()) {
    return fmt::format("it prints `{}`, which it does not print without the mapping",
                       difference.got);
  }
  return fmt::format("it prints `{}` instead of `{}`", difference.got, difference.expected);
}

}  // namespace groma
