// Decides which lines of two runs are compared, and which properties of the reference runs count.
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

constexpr std::size_t kMaxOutputBytes = std::size_t{16} << 20;
constexpr std::int64_t kMaxLines = std::int64_t{1} << 18;
constexpr std::int64_t kMaxNumbers = std::int64_t{1} << 20;
constexpr std::size_t kMaxShownBytes = 160;
// limit on the lines among which the most similar one is searched
constexpr std::size_t kMaxCandidates = 64;

// The output that a line was printed to.
enum class Stream : std::uint8_t {
  kOut,
  kError,        // Groma and Legion may add lines here
  kOverwritten,  // either output, ended by a carriage return: progress that the next line
                 // overwrites
};

// The lines with one skeleton.
struct Group {
  Stream stream = Stream::kOut;
  // The lines in the order in which they were printed. With several references they are the lines
  // of the first reference. If the counts vary, only lines are kept that all references have and
  // that contain a number which is not an integer.
  std::vector<PrintedLine> lines;
  guide::Columns columns;     // facts about each number of the skeleton, from all references
  bool count_varies = false;  // the references print different numbers of these lines
  bool any_order = false;     // two references print these lines in different orders
  bool may_have_more() const { return count_varies || stream != Stream::kOut; }
};

// Groups of lines, by stream and skeleton.
using Groups = std::map<std::string, Group, std::less<>>;

// Matches the level and the logger of a Legion message: `[0 - 7fbc52c29b80]    0.000055
// {4}{threads}: `.
const RE2& logger_pattern() {
  static const RE2 pattern(R"(^\[[0-9]+ - [0-9a-f]+\](?:\s+[0-9.]+)? \{([0-9]+)\}\{([^}]*)\}: )");
  return pattern;
}

void note_columns(const std::vector<PrintedLine>& lines, guide::Columns& columns) {
  for (const PrintedLine& line : lines) {
    for (std::size_t k = 0; k < line.numbers.size(); ++k) {
      columns[k].had_nan = columns[k].had_nan || line.numbers[k].is_nan();
      columns[k].had_infinity = columns[k].had_infinity || line.numbers[k].is_infinite();
    }
  }
}

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

// Returns true if the order of the lines is a result: they hold numbers and nothing else, as a
// printed vector or matrix does. Lines with several numbers, the first an integer, are different:
// the integer may say which task printed the line, and tasks print when they run.
bool is_ordered(const Group& group) {
  if (group.stream != Stream::kOut || group.lines.empty() || group.columns.empty()) return false;
  const auto may_name_a_task = [](const PrintedLine& line) {
    return line.numbers.size() > 1 && line.numbers.front().kind != PrintedNumber::Kind::kReal;
  };
  return group.lines.front().text.find_first_not_of("0123456789.eE+-,;[] \t") ==
             std::string_view::npos &&
         !std::all_of(group.lines.begin(), group.lines.end(), may_name_a_task);
}

// Returns true if the line says something: it has a text, or a number that is not a time or a
// place.
bool is_result(const PrintedLine& line) {
  const auto counts = [](const PrintedNumber& number) {
    return number.role == NumberRole::kCounts || number.role == NumberRole::kUnsteady;
  };
  return line.numbers.empty() || std::any_of(line.numbers.begin(), line.numbers.end(), counts);
}

}  // namespace

struct Results::State {
  // The output of the first reference. The lines of `reference` refer to it.
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

  // Splits the output of a run into lines and groups them by skeleton.
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

  LineMatcher matcher(const guide::Columns& columns, std::int64_t* comparisons) const {
    const double unit = scale > 0 ? std::min(1.0, scale) : 1.0;
    return {{options.tolerance, kResultsNoise * unit, kResultsNoise}, columns, comparisons};
  }

  // Merges another reference. Whatever differs between two runs without a mapping is not a result.
  void join(const Groups& more) {
    for (const auto& [skeleton, group] : more) {
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

  // Merges the lines of one skeleton with those of another reference.
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

  // Marks the numbers that differ. If the order of the lines differs, too, marks the columns
  // without which all lines have a partner. Otherwise, or if this marks fewer numbers, marks the
  // numbers that differ line by line.
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

// Searches for the worst difference.
class Results::Search {
 public:
  explicit Search(const State& state) : state_(state) {}

  std::optional<ResultsDifference> result() && { return std::move(found_); }

  // Compares the lines of a skeleton that a reference printed, too.
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

  // Notes a difference if lines of a skeleton that no reference printed count as results.
  void take_surplus(const Group& got) {
    const auto is_bad = [&](const PrintedLine& line) {
      return got.stream == Stream::kOut || (got.stream == Stream::kOverwritten && has_nan(line));
    };
    const auto bad = std::find_if(got.lines.begin(), got.lines.end(), is_bad);
    if (bad != got.lines.end()) note(nullptr, &*bad);
  }

 private:
  // Returns the line that contains NaN, or else the line with the most numbers that are as
  // expected.
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

  // Keeps the more important difference: NaN first, then a different number, then a missing or
  // extra line.
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

// Adds the output of a run without a mapping. Later references mark what varies between runs.
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

// Returns the options in one line.
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

// Returns true if the output is within the limits for bytes, lines and numbers.
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

bool Results::has_results() const {
  return std::any_of(state_->reference.begin(), state_->reference.end(), [](const auto& each) {
    const Group& group = each.second;
    return group.stream != Stream::kOverwritten &&
           std::any_of(group.lines.begin(), group.lines.end(), is_result);
  });
}

// Returns the numbers and lines that differ between references.
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

// Returns the worst difference from the references, or nothing if the results are the same.
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

std::string to_text(const UnsteadyResults& unsteady) {
  if (unsteady.lines == 0) return "";
  const bool one = unsteady.lines == 1;
  std::string text = fmt::format("{} line{} that differ{} between runs without the mapping",
                                 unsteady.lines, one ? "" : "s", one ? "s" : "");
  return unsteady.example.empty() ? text : text + fmt::format(", such as `{}`", unsteady.example);
}

// Returns a sentence about the difference.
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
