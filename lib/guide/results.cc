// Results: compares what a program prints under a mapping with what the program prints without one.
// Only what is the same in all reference runs (runs without a mapping) counts as a result.
#include "groma/results.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>

#include "groma/harmless.h"
#include "guide/line_matching.h"
#include "guide/printed_lines.h"

namespace groma {
namespace {

using guide::LineMatcher;
using guide::PrintedLine;
using guide::PrintedNumber;
using guide::UnmatchedLines;
using NumberRole = PrintedNumber::Role;

// Limits on the bytes, lines and numbers of an output that is compared, and on the bytes of a line
// that is shown in a message.
constexpr std::size_t kMaxOutputBytes = std::size_t{16} << 20;
constexpr std::int64_t kMaxLines = std::int64_t{1} << 18;
constexpr std::int64_t kMaxNumbers = std::int64_t{1} << 20;
constexpr std::size_t kMaxShownBytes = 160;
// Limit on the unmatched lines among which the line most similar to an expected one is searched.
constexpr std::size_t kMaxCandidates = 64;

// Where a program printed a line.
enum class Stream : std::uint8_t {
  // Standard output.
  kOut,
  // Standard error, to which Groma and Legion may add lines.
  kError,
  // Standard output or standard error. The line ends with a carriage return: it shows progress, and
  // the next line overwrites it.
  kOverwritten,
};

// All printed lines that differ only in their numbers. They have the same skeleton, which is a line
// without its numbers.
struct Group {
  Stream stream = Stream::kOut;
  // The lines of the group in the order in which they were printed. After several reference runs,
  // these are the lines of the first run. If the number of lines varies between the runs, only
  // lines are kept that all reference runs have and that contain a number which is not an integer.
  std::vector<PrintedLine> lines;
  // For each number of the skeleton, whether any reference run printed NaN or infinity there.
  guide::Columns columns;
  // True if the reference runs do not all print the same number of lines with the skeleton of this
  // group.
  bool count_varies = false;
  // True if two reference runs print the lines of this group in different orders.
  bool any_order = false;
  bool may_have_more() const { return count_varies || stream != Stream::kOut; }
};

// Groups of printed lines by stream and skeleton. The key is a letter for the stream, followed by
// the skeleton.
using Groups = std::map<std::string, Group, std::less<>>;

// Matches the prefix of a Legion message: `[0 - 7fbc52c29b80]    0.000055 {4}{threads}: `. Its
// groups are the level and the name of the logger.
const RE2& logger_pattern() {
  static const RE2 pattern(R"(^\[[0-9]+ - [0-9a-f]+\](?:\s+[0-9.]+)? \{([0-9]+)\}\{([^}]*)\}: )");
  return pattern;
}

// Records in `columns` at which numbers the lines of a reference run have NaN or infinity.
void note_columns(const std::vector<PrintedLine>& lines, guide::Columns& columns) {
  for (const PrintedLine& line : lines) {
    for (std::size_t k = 0; k < line.numbers.size(); ++k) {
      columns[k].had_nan = columns[k].had_nan || line.numbers[k].is_nan();
      columns[k].had_infinity = columns[k].had_infinity || line.numbers[k].is_infinite();
    }
  }
}

// Returns true if the printed line has a number that counts as a result and is not an integer.
bool has_real(const PrintedLine& line) {
  return std::any_of(line.numbers.begin(), line.numbers.end(), [](const PrintedNumber& number) {
    return number.role == NumberRole::kCounts && number.kind == PrintedNumber::Kind::kReal;
  });
}

bool has_nan(const PrintedLine& line) {
  return std::any_of(line.numbers.begin(), line.numbers.end(),
                     [](const PrintedNumber& number) { return number.is_nan(); });
}

// Returns the largest finite magnitude of the printed results that are not integers, or 0 if there
// are none.
double largest(const Groups& groups) {
  double most = 0;
  for (const auto& [skeleton, group] : groups) {
    for (const PrintedLine& line : group.lines) {
      for (const PrintedNumber& number : line.numbers) {
        if (number.role != NumberRole::kCounts || number.kind != PrintedNumber::Kind::kReal)
          continue;
        if (std::isfinite(number.value)) most = std::max(most, std::abs(number.value));
      }
    }
  }
  return most;
}

// Returns true if the order of the lines counts as a result: the lines have only numbers, like a
// printed vector or matrix. If every line begins with an integer and has more numbers, the order
// does not count, because the integer may say which task printed the line, and tasks print in any
// order.
bool is_ordered(const Group& group) {
  if (group.stream != Stream::kOut || group.lines.empty() || group.columns.empty()) return false;
  const auto may_name_a_task = [](const PrintedLine& line) {
    return line.numbers.size() > 1 && line.numbers.front().kind != PrintedNumber::Kind::kReal;
  };
  return group.lines.front().text.find_first_not_of("0123456789.eE+-,;[] \t") ==
             std::string_view::npos &&
         !std::all_of(group.lines.begin(), group.lines.end(), may_name_a_task);
}

// Returns true if the printed line has a result: the line has no numbers, or has a number that is
// not a time or a location.
bool is_result(const PrintedLine& line) {
  const auto counts = [](const PrintedNumber& number) {
    return number.role == NumberRole::kCounts || number.role == NumberRole::kUnsteady;
  };
  return line.numbers.empty() || std::any_of(line.numbers.begin(), line.numbers.end(), counts);
}

}  // namespace

// The state of a Results object: the options, their compiled patterns, and what the reference runs
// printed.
struct Results::State {
  // The output of the first reference run. The lines in `reference` refer to this text.
  struct Texts {
    std::string out, err;
  };

  ResultsOptions options;
  std::vector<std::unique_ptr<RE2>> same;
  std::unique_ptr<RE2> measure;
  std::unique_ptr<const Texts> texts;
  Groups reference;
  // The largest magnitude of the results in the reference runs that are not integers.
  double scale = 0;
  int references = 0;

  // Splits standard output and standard error of a run into lines, and groups the lines by
  // skeleton. Both texts must outlive the groups.
  Groups read(std::string_view out, std::string_view err) const {
    Groups groups;
    for (const bool is_error : {false, true}) {
      std::string_view output = (is_error ? err : out).substr(0, kMaxOutputBytes);
      for (std::int64_t position = 0; !output.empty(); ++position) {
        const std::size_t end = std::min(output.find('\n'), output.size());
        read_line(output.substr(0, end), is_error, position, groups);
        output.remove_prefix(std::min(end + 1, output.size()));
      }
    }
    return groups;
  }

  // Adds a printed line to the groups. If the line has carriage returns, the parts between them
  // count as separate lines, because on a terminal each part overwrites the part before it.
  void read_line(std::string_view line, bool is_error, std::int64_t position,
                 Groups& groups) const {
    if (is_error && line.starts_with(kOwnLine)) return;
    while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.remove_suffix(1);
    for (std::size_t end = line.find('\r'); end != line.npos; end = line.find('\r')) {
      read_part(line.substr(0, end), Stream::kOverwritten, position, groups);
      line.remove_prefix(end + 1);
    }
    read_part(line, is_error ? Stream::kError : Stream::kOut, position, groups);
  }

  // Adds a line, or a part of one, to the groups, without the prefix of a Legion logger. Drops
  // Legion's own messages, lines with measured values, and lines that match none of the patterns in
  // ResultsOptions::same.
  void read_part(std::string_view line, Stream stream, std::int64_t position,
                 Groups& groups) const {
    int level = 0;
    re2::StringPiece logger, rest(line.data(), line.size());
    if (RE2::Consume(&rest, logger_pattern(), &level, &logger)) {
      if (level >= 4 || logger == "legion" || logger == "runtime") return;
      line = std::string_view(rest.data(), rest.size());
    }
    if (line.empty()) return;
    const re2::StringPiece piece(line.data(), line.size());
    if (measure != nullptr && RE2::PartialMatch(piece, *measure)) return;
    if (same.empty()) return add(line, stream, position, true, groups);
    for (const auto& pattern : same) {
      re2::StringPiece part = piece;
      const bool matches = pattern->NumberOfCapturingGroups() > 0
                               ? RE2::PartialMatch(piece, *pattern, &part)
                               : RE2::PartialMatch(piece, *pattern);
      if (matches) return add({part.data(), part.size()}, stream, position, false, groups);
    }
  }

  // Splits a printed line into skeleton and numbers, and adds the line to the group of its
  // skeleton.
  static void add(std::string_view text, Stream stream, std::int64_t position, bool ignores_times,
                  Groups& groups) {
    PrintedLine line{text, position, {}};
    std::string skeleton(1, "oer"[static_cast<int>(stream)]);
    skeleton += guide::extract_numbers(text, ignores_times, line.numbers);
    Group& group = groups[std::move(skeleton)];
    group.stream = stream;
    group.columns.resize(line.numbers.size());
    group.lines.push_back(std::move(line));
  }

  // Returns an object that compares lines of numbers. Numbers count as 0 below the magnitude
  // kResultsNoise, or below kResultsNoise times the largest result of the reference runs if that
  // result is smaller than 1.
  LineMatcher matcher(const guide::Columns& columns, std::int64_t* comparisons) const {
    const double unit = scale > 0 ? std::min(1.0, scale) : 1.0;
    return {{options.tolerance, kResultsNoise * unit, kResultsNoise}, columns, comparisons};
  }

  // Merges the lines of another reference run into `reference`. A value that differs between two
  // runs without a mapping is then no longer a result.
  void join(const Groups& more) {
    for (const auto& [skeleton, group] : more) {
      // If only some reference runs print a skeleton, the program may print it any number of times.
      const auto [known, is_new] = reference.try_emplace(skeleton);
      if (is_new) {
        known->second.stream = group.stream;
        known->second.columns.resize(group.columns.size());
        known->second.count_varies = true;
      }
      note_columns(group.lines, known->second.columns);
    }
    for (auto& [skeleton, group] : reference) {
      const auto found = more.find(skeleton);
      join(group, found == more.end() ? std::vector<PrintedLine>() : found->second.lines);
    }
  }

  // Merges the lines of one skeleton with the lines of another reference run that have this
  // skeleton.
  void join(Group& group, const std::vector<PrintedLine>& more) const {
    std::int64_t comparisons = 0;
    const LineMatcher matcher = this->matcher(group.columns, &comparisons);
    std::vector<PrintedLine>& lines = group.lines;
    if (group.count_varies || lines.size() != more.size()) {
      const UnmatchedLines unmatched = matcher.find_unmatched_lines(lines, more);
      // Marks a line without a partner by removing its numbers. erase_if() then removes the line.
      for (const std::size_t i : unmatched.expected) lines[i].numbers.clear();
      std::erase_if(lines, [](const PrintedLine& line) { return !has_real(line); });
      group.count_varies = true;
      return;
    }
    if (matcher.first_difference(lines, more) < lines.size()) mark_unsteady(matcher, group, more);
  }

  // Marks the numbers that differ between two reference runs as unsteady. The second run may print
  // the lines in another order. There are two ways to mark them, and the one that marks fewer
  // numbers is taken. The first compares the runs line by line, and marks the numbers that differ.
  // The second assumes another order, and marks all numbers in the columns whose sorted values
  // differ. It is possible only if each line has an equal line in the other run when these columns
  // are ignored.
  static void mark_unsteady(const LineMatcher& matcher, Group& group,
                            const std::vector<PrintedLine>& more) {
    std::vector<PrintedLine>& lines = group.lines;
    const std::vector<bool> columns = matcher.differing_columns(lines, more);
    const bool all_have = matcher.find_unmatched_lines(lines, more, columns).empty();
    std::vector<PrintedNumber*> in_order, by_column;
    for (std::size_t i = 0; i < lines.size(); ++i) {
      for (std::size_t k = 0; k < columns.size(); ++k) {
        PrintedNumber& number = lines[i].numbers[k];
        if (!matcher.equal(number, more[i].numbers[k], k)) in_order.push_back(&number);
        if (columns[k] && number.role == NumberRole::kCounts) by_column.push_back(&number);
      }
    }
    const bool shuffled = all_have && by_column.size() < in_order.size();
    group.any_order = group.any_order || shuffled;
    for (PrintedNumber* number : shuffled ? by_column : in_order) {
      number->role = NumberRole::kUnsteady;
    }
  }
};

// Compares the output of a run with the reference runs and keeps the most important difference.
class Results::Search {
 public:
  explicit Search(const State& state) : state_(state) {}

  std::optional<ResultsDifference> result() && { return std::move(found_); }

  // Compares the lines of one skeleton with the lines of this skeleton in the reference runs.
  void compare(const Group& expected, const std::vector<PrintedLine>& got) {
    std::int64_t comparisons = 0;
    const LineMatcher matcher = state_.matcher(expected.columns, &comparisons);
    if (expected.may_have_more()) {
      for (const PrintedLine& line : got) {
        if (matcher.has_new_nan_or_infinity(line)) note(nullptr, &line);
      }
    }
    if (expected.stream == Stream::kOverwritten) return;
    const std::size_t same = matcher.first_difference(expected.lines, got);
    if (same == expected.lines.size() && (same == got.size() || expected.may_have_more())) return;
    const UnmatchedLines unmatched = matcher.find_unmatched_lines(expected.lines, got);
    if (!unmatched.expected.empty()) {
      const PrintedLine& line = expected.lines[unmatched.expected.front()];
      note(&line, unmatched.got.empty() ? nullptr : &most_alike(matcher, line, got, unmatched.got));
    } else if (!unmatched.got.empty() && !expected.may_have_more()) {
      note(nullptr, &got[unmatched.got.front()]);
    } else if (!expected.may_have_more() && !expected.any_order && is_ordered(expected)) {
      if (!found_) note(&expected.lines[same], &got[same], true);
    }
  }

  // Records a difference for lines with a skeleton that no reference run printed. Lines on standard
  // error do not count, because Groma and Legion may add some. Overwritten lines count only if they
  // have a NaN.
  void take_surplus(const Group& got) {
    const auto is_bad = [&](const PrintedLine& line) {
      return got.stream == Stream::kOut || (got.stream == Stream::kOverwritten && has_nan(line));
    };
    const auto bad = std::find_if(got.lines.begin(), got.lines.end(), is_bad);
    if (bad != got.lines.end()) note(nullptr, &*bad);
  }

 private:
  // Returns the printed line to show in a message beside the expected line: a line with a new NaN
  // or infinity, or else the line with the most equal numbers.
  static const PrintedLine& most_alike(const LineMatcher& matcher, const PrintedLine& expected,
                                       const std::vector<PrintedLine>& lines,
                                       const std::vector<std::size_t>& indices) {
    for (const std::size_t i : indices) {
      if (matcher.has_new_nan_or_infinity(lines[i])) return lines[i];
    }
    const PrintedLine* best = nullptr;
    std::ptrdiff_t most = -1;
    for (std::size_t i = 0; i < std::min(indices.size(), kMaxCandidates); ++i) {
      const PrintedLine& line = lines[indices[i]];
      std::ptrdiff_t alike = 0;
      for (std::size_t k = 0; k < line.numbers.size(); ++k) {
        alike += matcher.equal(expected.numbers[k], line.numbers[k], k) ? 1 : 0;
      }
      if (alike > most) best = &line;
      most = std::max(most, alike);
    }
    return *best;
  }

  // Records a difference, unless a more important one is recorded already. A new NaN is the most
  // important one, then a different number, then a missing or extra line.
  void note(const PrintedLine* expected, const PrintedLine* got, bool is_order = false) {
    const bool nan =
        got != nullptr && has_nan(*got) && (expected == nullptr || !has_nan(*expected));
    const bool both = expected != nullptr && got != nullptr;
    const bool had_both = found_ && !found_->expected.empty() && !found_->got.empty();
    if (found_ && (found_->is_nan || (!nan && (had_both || !both)))) return;
    const auto shown = [](const PrintedLine* line) {
      return line == nullptr ? "" : harmless(line->text, kMaxShownBytes);
    };
    found_ = {shown(expected), shown(got), nan, is_order};
  }

  const State& state_;
  std::optional<ResultsDifference> found_;
};

Results::Results(std::unique_ptr<State> state) : state_(std::move(state)) {}
Results::Results(Results&&) noexcept = default;
Results& Results::operator=(Results&&) noexcept = default;
Results::~Results() = default;

// Checks the options for comparing results, and compiles their patterns.
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

// Adds the output of a reference run, which is a run without a mapping. The first reference run
// gives the expected results, and later ones show what varies between runs.
void Results::add_reference(std::string_view out, std::string_view err) {
  if (state_->references++ > 0) {
    const Groups groups = state_->read(out, err);
    state_->scale = std::max(state_->scale, largest(groups));
    return state_->join(groups);
  }
  state_->texts =
      std::make_unique<const State::Texts>(State::Texts{std::string(out), std::string(err)});
  state_->reference = state_->read(state_->texts->out, state_->texts->err);
  state_->scale = largest(state_->reference);
  for (auto& [skeleton, group] : state_->reference) note_columns(group.lines, group.columns);
}

// Returns the options for comparing results as one line of text. Equal options give equal texts.
std::string Results::key() const {
  const ResultsOptions& options = state_->options;
  std::string key = fmt::format("{}", options.tolerance);
  const auto add = [&key](const std::string& pattern) {
    key += fmt::format(" {}:{}", pattern.size(), pattern);
  };
  add(options.measure);
  for (const std::string& pattern : options.same) add(pattern);
  return key;
}

// Returns true if the output of a run is within the limits of bytes, lines and numbers that can be
// compared.
bool Results::fits(std::string_view out, std::string_view err) {
  if (out.size() > kMaxOutputBytes || err.size() > kMaxOutputBytes) return false;
  std::int64_t lines = 0, numbers = 0;
  for (const std::string_view output : {out, err}) {
    lines +=
        std::count_if(output.begin(), output.end(), [](char c) { return c == '\n' || c == '\r'; });
    if (lines > kMaxLines) return false;
    numbers += guide::count_numbers(output, kMaxNumbers);
    if (numbers > kMaxNumbers) return false;
  }
  return true;
}

bool Results::has_reference() const { return state_->references > 0; }

// Returns true if a reference run printed at least one result.
bool Results::has_results() const {
  return std::any_of(state_->reference.begin(), state_->reference.end(), [](const auto& each) {
    const Group& group = each.second;
    return group.stream != Stream::kOverwritten &&
           std::any_of(group.lines.begin(), group.lines.end(), is_result);
  });
}

// Returns how many printed lines differ between the reference runs, with an example.
UnsteadyResults Results::unsteady() const {
  UnsteadyResults all;
  for (const auto& [skeleton, group] : state_->reference) {
    // Groma and Legion add lines to standard error, so the number of lines there may vary.
    if (group.count_varies && group.stream == Stream::kOut) ++all.lines;
    for (const PrintedLine& line : group.lines) {
      if (!guide::has_unsteady_number(line)) continue;
      if (all.lines++ == 0 || all.example.empty())
        all.example = harmless(line.text, kMaxShownBytes);
    }
  }
  return all;
}

// Returns the most important difference between the output of a run and the reference runs. Returns
// nullopt if the results are the same or there is no reference run.
std::optional<ResultsDifference> Results::compare(std::string_view out,
                                                  std::string_view err) const {
  if (!has_reference()) return std::nullopt;
  const Groups groups = state_->read(out, err);
  Search search(*state_);
  for (const auto& [skeleton, expected] : state_->reference) {
    const auto got = groups.find(skeleton);
    search.compare(expected, got == groups.end() ? std::vector<PrintedLine>() : got->second.lines);
  }
  for (const auto& [skeleton, got] : groups) {
    if (!state_->reference.contains(skeleton)) search.take_surplus(got);
  }
  return std::move(search).result();
}

// Describes how many lines vary between runs without the mapping. Returns an empty text if none do.
std::string to_text(const UnsteadyResults& unsteady) {
  if (unsteady.lines == 0) return "";
  const bool one = unsteady.lines == 1;
  std::string text = fmt::format("{} line{} that differ{} between runs without the mapping",
                                 unsteady.lines, one ? "" : "s", one ? "s" : "");
  return unsteady.example.empty() ? text : text + fmt::format(", such as `{}`", unsteady.example);
}

// Describes a difference of printed results as a clause about the program: "it prints `a` instead
// of `b`".
std::string to_text(const ResultsDifference& difference) {
  if (difference.got.empty()) return fmt::format("it does not print `{}`", difference.expected);
  if (difference.expected.empty()) {
    return fmt::format("it prints `{}`, which it does not print without the mapping",
                       difference.got);
  }
  return fmt::format("it prints `{}` instead of `{}`{}", difference.got, difference.expected,
                     difference.is_order ? ", the same lines of numbers in another order" : "");
}

}  // namespace groma
