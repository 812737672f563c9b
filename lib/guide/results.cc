// Results: compares what a program prints under a mapping with what it printed without one. Only
// what is the same in all reference runs (without a mapping) counts as a result.
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
using guide::Unmatched;
using NumberRole = PrintedNumber::Role;

// Limits on an output that is compared, and on a line that is shown.
constexpr std::size_t kMaxOutputBytes = std::size_t{16} << 20;
constexpr std::int64_t kMaxLines = std::int64_t{1} << 18;
constexpr std::int64_t kMaxNumbers = std::int64_t{1} << 20;
constexpr std::size_t kMaxShownBytes = 160;
// Limit on the lines among which the most similar one is searched for a message.
constexpr std::size_t kMaxCandidates = 64;

// Where a line was printed.
enum class Stream : std::uint8_t {
  kOut,
  kError,        // Groma and Legion may add lines here
  kOverwritten,  // either output, ended by a carriage return: progress that the next line
                 // overwrites
};

// All lines with the same skeleton, which is a line without its numbers.
struct Group {
  Stream stream = Stream::kOut;
  // The lines in the order in which they were printed. After several reference runs, these are the
  // lines of the first one. If the number of lines varies, only lines are kept that all references
  // have and that contain a number which is not an integer.
  std::vector<PrintedLine> lines;
  guide::Columns columns;     // facts about each number of the skeleton, from all references
  bool count_varies = false;  // the references print different numbers of these lines
  bool any_order = false;     // two references print these lines in different orders
  bool may_have_more() const { return count_varies || stream != Stream::kOut; }
};

// Groups of lines. The key is a letter for the stream and the skeleton.
using Groups = std::map<std::string, Group, std::less<>>;

// Matches the level and the logger of a Legion message: `[0 - 7fbc52c29b80]    0.000055
// {4}{threads}: `.
const RE2& logger_pattern() {
  static const RE2 pattern(R"(^\[[0-9]+ - [0-9a-f]+\](?:\s+[0-9.]+)? \{([0-9]+)\}\{([^}]*)\}: )");
  return pattern;
}

// Notes in which columns a reference printed NaN or infinity.
void note_columns(const std::vector<PrintedLine>& lines, guide::Columns& columns) {
  for (const PrintedLine& line : lines) {
    for (std::size_t k = 0; k < line.numbers.size(); ++k) {
      columns[k].had_nan = columns[k].had_nan || line.numbers[k].is_nan();
      columns[k].had_infinity = columns[k].had_infinity || line.numbers[k].is_infinite();
    }
  }
}

// Returns true if the line has a result that is not an integer.
bool has_real(const PrintedLine& line) {
  return std::any_of(line.numbers.begin(), line.numbers.end(), [](const PrintedNumber& number) {
    return number.role == NumberRole::kCounts && number.kind == PrintedNumber::Kind::kReal;
  });
}

bool has_nan(const PrintedLine& line) {
  return std::any_of(line.numbers.begin(), line.numbers.end(),
                     [](const PrintedNumber& number) { return number.is_nan(); });
}

// Returns the largest magnitude of the numbers that are not integers, or 0 if there are none.
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

// Returns true if the order of the lines is a result: the lines hold numbers and nothing else, like
// a printed vector or matrix. Lines that begin with an integer and have more numbers do not count.
// Their integer may say which task printed the line, and tasks print in any order.
bool is_ordered(const Group& group) {
  if (group.stream != Stream::kOut || group.lines.empty() || group.columns.empty()) return false;
  const auto may_name_a_task = [](const PrintedLine& line) {
    return line.numbers.size() > 1 && line.numbers.front().kind != PrintedNumber::Kind::kReal;
  };
  return group.lines.front().text.find_first_not_of("0123456789.eE+-,;[] \t") ==
             std::string_view::npos &&
         !std::all_of(group.lines.begin(), group.lines.end(), may_name_a_task);
}

// Returns true if the line has a result: it has no number at all, or a number that is not a time or
// a location.
bool is_result(const PrintedLine& line) {
  const auto counts = [](const PrintedNumber& number) {
    return number.role == NumberRole::kCounts || number.role == NumberRole::kUnsteady;
  };
  return line.numbers.empty() || std::any_of(line.numbers.begin(), line.numbers.end(), counts);
}

}  // namespace

// The options with their compiled patterns, and what the reference runs printed.
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
  double scale = 0;  // magnitude of the largest number in the references
  int references = 0;

  // Splits both outputs of a run into lines and groups them by skeleton. The text must outlive the
  // groups.
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

  // Reads a line. If the line has carriage returns, the parts between them count as separate lines,
  // because each part overwrites the part before it on a terminal.
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

  // Reads a part of a line, without the prefix of a Legion logger. Drops lines that are not
  // compared.
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

  // Adds a line to the group of its skeleton.
  static void add(std::string_view text, Stream stream, std::int64_t position, bool ignores_times,
                  Groups& groups) {
    PrintedLine line{text, position, {}};
    std::string skeleton(1, "oer"[static_cast<int>(stream)]);
    skeleton += guide::cut_line(text, ignores_times, line.numbers);
    Group& group = groups[std::move(skeleton)];
    group.stream = stream;
    group.columns.resize(line.numbers.size());
    group.lines.push_back(std::move(line));
  }

  // Returns a matcher whose noise is relative to the largest result, but never above kResultsNoise.
  LineMatcher matcher(const guide::Columns& columns, std::int64_t* comparisons) const {
    const double unit = scale > 0 ? std::min(1.0, scale) : 1.0;
    return {{options.tolerance, kResultsNoise * unit, kResultsNoise}, columns, comparisons};
  }

  // Merges another reference run. A value that differs between two runs without a mapping is not a
  // result.
  void join(const Groups& more) {
    for (const auto& [skeleton, group] : more) {
      // A skeleton that only some references print may be printed any number of times.
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

  // Merges the lines of one skeleton with those of another reference run.
  void join(Group& group, const std::vector<PrintedLine>& more) const {
    std::int64_t comparisons = 0;
    const LineMatcher matcher = this->matcher(group.columns, &comparisons);
    std::vector<PrintedLine>& lines = group.lines;
    if (group.count_varies || lines.size() != more.size()) {
      const Unmatched unmatched = matcher.match(lines, more);
      // marks the line as one without a partner
      for (const std::size_t i : unmatched.expected) lines[i].numbers.clear();
      std::erase_if(lines, [](const PrintedLine& line) { return !has_real(line); });
      group.count_varies = true;
      return;
    }
    if (matcher.first_difference(lines, more) < lines.size()) mark_unsteady(matcher, group, more);
  }

  // Marks the numbers that differ between two references as unsteady. The lines may only be in
  // another order. If all lines have a partner once some columns are ignored, those columns are
  // marked. Otherwise, or if this marks more numbers, the numbers that differ line by line are
  // marked.
  static void mark_unsteady(const LineMatcher& matcher, Group& group,
                            const std::vector<PrintedLine>& more) {
    std::vector<PrintedLine>& lines = group.lines;
    const std::vector<bool> columns = matcher.differing_columns(lines, more);
    const bool all_have = matcher.match(lines, more, columns).none();
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

// Compares an output with the references and keeps the most important difference.
class Results::Search {
 public:
  explicit Search(const State& state) : state_(state) {}

  std::optional<ResultsDifference> result() && { return std::move(found_); }

  // Compares the lines of a skeleton that some reference printed, too.
  void compare(const Group& expected, const std::vector<PrintedLine>& got) {
    std::int64_t comparisons = 0;
    const LineMatcher matcher = state_.matcher(expected.columns, &comparisons);
    if (expected.may_have_more()) {
      for (const PrintedLine& line : got) {
        if (matcher.is_worse(line)) note(nullptr, &line);
      }
    }
    if (expected.stream == Stream::kOverwritten) return;
    const std::size_t same = matcher.first_difference(expected.lines, got);
    if (same == expected.lines.size() && (same == got.size() || expected.may_have_more())) return;
    const Unmatched unmatched = matcher.match(expected.lines, got);
    if (!unmatched.expected.empty()) {
      const PrintedLine& line = expected.lines[unmatched.expected.front()];
      note(&line, unmatched.got.empty() ? nullptr : &most_alike(matcher, line, got, unmatched.got));
    } else if (!unmatched.got.empty() && !expected.may_have_more()) {
      note(nullptr, &got[unmatched.got.front()]);
    } else if (!expected.may_have_more() && !expected.any_order && is_ordered(expected)) {
      if (!found_) note(&expected.lines[same], &got[same], true);
    }
  }

  // Notes a difference for a skeleton that no reference printed. Groma and Legion may add lines to
  // standard error, so only standard output and NaN count.
  void take_surplus(const Group& got) {
    const auto is_bad = [&](const PrintedLine& line) {
      return got.stream == Stream::kOut || (got.stream == Stream::kOverwritten && has_nan(line));
    };
    const auto bad = std::find_if(got.lines.begin(), got.lines.end(), is_bad);
    if (bad != got.lines.end()) note(nullptr, &*bad);
  }

 private:
  // Returns the line to show beside the expected one: a line with a new NaN, or else the line with
  // the most equal numbers.
  static const PrintedLine& most_alike(const LineMatcher& matcher, const PrintedLine& expected,
                                       const std::vector<PrintedLine>& lines,
                                       const std::vector<std::size_t>& indices) {
    for (const std::size_t i : indices) {
      if (matcher.is_worse(lines[i])) return lines[i];
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

  // Keeps the more important of two differences: a new NaN first, then a different number, then a
  // missing or extra line.
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

// Checks the options and compiles their patterns.
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

// Adds the output of a run without a mapping. The first one gives the expected results, and later
// ones show what varies between runs.
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

// Returns the options as one line, which is equal for equal options.
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

// Returns true if the output is within the limits of bytes, lines and numbers.
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

// Returns true if a reference printed at least one result.
bool Results::has_results() const {
  return std::any_of(state_->reference.begin(), state_->reference.end(), [](const auto& each) {
    const Group& group = each.second;
    return group.stream != Stream::kOverwritten &&
           std::any_of(group.lines.begin(), group.lines.end(), is_result);
  });
}

// Returns how many lines differ between the references, with an example.
UnsteadyResults Results::unsteady() const {
  UnsteadyResults all;
  for (const auto& [skeleton, group] : state_->reference) {
    // Groma and Legion add lines to the other outputs, so their number may vary.
    if (group.count_varies && group.stream == Stream::kOut) ++all.lines;
    for (const PrintedLine& line : group.lines) {
      if (!guide::has_unsteady(line)) continue;
      if (all.lines++ == 0 || all.example.empty())
        all.example = harmless(line.text, kMaxShownBytes);
    }
  }
  return all;
}

// Returns the most important difference from the references; nullopt if the results are the same or
// there is no reference.
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

// Returns an empty text if nothing varied.
std::string to_text(const UnsteadyResults& unsteady) {
  if (unsteady.lines == 0) return "";
  const bool one = unsteady.lines == 1;
  std::string text = fmt::format("{} line{} that differ{} between runs without the mapping",
                                 unsteady.lines, one ? "" : "s", one ? "s" : "");
  return unsteady.example.empty() ? text : text + fmt::format(", such as `{}`", unsteady.example);
}

// Returns the difference as a clause about the program: "it prints `a` instead of `b`".
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
