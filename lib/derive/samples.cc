// Reads samples from CSV.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>

#include "groma/domain_derivation.h"
#include "groma/harmless.h"

namespace groma::domains {
namespace {

// The words that begin a clause of a declaration, and the names that derivations use themselves.
constexpr std::string_view kWordsOfDeclarations[] = {
    "domain", "in",    "loops", "digits", "base", "levels", "of",     "then", "or",
    "except", "where", "by",    "let",    "root", "fold",   "horner", "n",    "r",
    "i",      "j",     "k",     "l",      "min",  "max",    "abs",    "popc"};

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r'; }

// One cell of a line, without spaces around it.
struct Cell {
  Range range;
  std::string_view text;
};

bool is_name(std::string_view text) {
  const auto is_letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  };
  return !text.empty() && is_letter(text.front()) &&
         std::all_of(text.begin(), text.end(),
                     [&](char c) { return is_letter(c) || (c >= '0' && c <= '9'); });
}

// Returns names for coordinates that have none.
std::vector<std::string> usual_names(std::size_t dimensions) {
  if (dimensions == 4) return {"w", "x", "y", "z"};
  const std::vector<std::string> names = {"x", "y", "z"};
  return {names.begin(), names.begin() + static_cast<std::ptrdiff_t>(dimensions)};
}

class SampleReader {
 public:
  explicit SampleReader(Diagnostics& diags) : diags_(diags), text_(diags.source().text()) {}

  std::optional<Samples> read() {
    for (std::size_t at = 0; at < text_.size() && !failed_;) {
      const std::size_t end = std::min(text_.find('\n', at), text_.size());
      line(at, end);
      at = end + 1;
    }
    if (failed_) return std::nullopt;
    if (rows_.empty()) return fail(std::nullopt, "there are no samples");
    return finish();
  }

 private:
  struct Row {
    Range range;
    std::vector<std::int64_t> numbers;
  };

  template <typename... Arguments>
  std::nullopt_t fail(std::optional<Range> range, fmt::format_string<Arguments...> format,
                      Arguments&&... arguments) {
    diags_.report(DiagId::kDomainSamples, range,
                  fmt::format(format, std::forward<Arguments>(arguments)...));
    failed_ = true;
    return std::nullopt;
  }

  std::vector<Cell> cells(std::size_t begin, std::size_t end) {
    std::vector<Cell> all;
    for (std::size_t at = begin; at <= end;) {
      std::size_t comma = std::min(text_.find(',', at), end);
      std::size_t first = at, last = comma;
      while (first < last && is_space(text_[first])) ++first;
      while (last > first && is_space(text_[last - 1])) --last;
      const Range range{static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(last)};
      all.push_back({range, text_.substr(first, last - first)});
      at = comma + 1;
      // More columns than samples can have; the line is refused for its length.
      if (all.size() > kMaxSampleDimensions + 2) break;
    }
    return all;
  }

  void line(std::size_t begin, std::size_t end) {
    const std::vector<Cell> row = cells(begin, end);
    const Range whole{row.front().range.begin, row.back().range.end};
    if (text_[begin] == '#' || (row.size() == 1 && row.front().text.empty())) return;
    if (width_ == 0) {
      width_ = row.size();
      if (width_ > kMaxSampleDimensions + 1) {
        fail(whole, "samples have at most {} columns: k and {} coordinates",
             kMaxSampleDimensions + 1, kMaxSampleDimensions);
        return;
      }
      if (std::all_of(row.begin(), row.end(),
                      [](const Cell& cell) { return is_name(cell.text); })) {
        header_ = row;
        return;
      }
    }
    if (row.size() != width_) {
      fail(whole, "this line has {} columns, and the lines above have {}", row.size(), width_);
      return;
    }
    if (rows_.size() == kMaxSamples) {
      fail(whole, "there are more than {} samples", kMaxSamples);
      return;
    }
    Row numbers{whole, {}};
    for (const Cell& cell : row) {
      std::int64_t value = 0;
      const char* const last = cell.text.data() + cell.text.size();
      const auto [next, status] = std::from_chars(cell.text.data(), last, value);
      const bool is_large = status == std::errc::result_out_of_range ||
                            value > kMaxSampleCoordinate || value < -kMaxSampleCoordinate;
      if (!is_large && (status != std::errc() || next != last)) {
        fail(cell.range.begin < cell.range.end ? cell.range : whole, "`{}` is not a whole number",
             harmless(cell.text.substr(0, 40)));
        return;
      }
      if (is_large) {
        fail(cell.range, "`{}` is larger than {}", harmless(cell.text.substr(0, 40)),
             kMaxSampleCoordinate);
        return;
      }
      numbers.numbers.push_back(value);
    }
    rows_.push_back(std::move(numbers));
  }

  // Returns true if the first column has the numbers of the points.
  bool has_numbers() const {
    if (width_ == 1) return false;
    if (!header_.empty()) return header_.front().text == "k" || header_.front().text == "index";
    if (rows_.front().numbers.front() != 0) return false;
    for (std::size_t i = 1; i < rows_.size(); ++i) {
      if (rows_[i].numbers.front() <= rows_[i - 1].numbers.front()) return false;
    }
    return true;
  }

  std::optional<Samples> finish() {
    const std::size_t first = has_numbers() ? 1 : 0;
    if (width_ - first > kMaxSampleDimensions) {
      return fail(rows_.front().range, "points have at most {} coordinates, and these have {}",
                  kMaxSampleDimensions, width_ - first);
    }
    if (first == 1) {
      std::stable_sort(rows_.begin(), rows_.end(), [](const Row& a, const Row& b) {
        return a.numbers.front() < b.numbers.front();
      });
      std::int64_t next = 0;
      for (std::size_t i = 0; i < rows_.size(); ++i, ++next) {
        const std::int64_t k = rows_[i].numbers.front();
        if (k == next) continue;
        if (i > 0 && k == next - 1) {
          diags_
              .report(DiagId::kDomainSamples, rows_[i].range,
                      fmt::format("k = {} has two answers", k))
              .note("the other one", rows_[i - 1].range);
          return std::nullopt;
        }
        return fail(rows_[i].range, "k = {} is missing before this line", next);
      }
    }
    Samples samples;
    samples.names = usual_names(width_ - first);
    bool names_fit = !header_.empty();
    for (std::size_t d = 0; d < samples.names.size() && names_fit; ++d) {
      const std::string_view name = header_[first + d].text;
      names_fit =
          name.size() <= 40 &&
          std::count(std::begin(kWordsOfDeclarations), std::end(kWordsOfDeclarations), name) == 0 &&
          std::count_if(header_.begin(), header_.end(),
                        [&](const Cell& cell) { return cell.text == name; }) == 1;
    }
    if (names_fit) {
      for (std::size_t d = 0; d < samples.names.size(); ++d) {
        samples.names[d] = header_[first + d].text;
      }
    }
    std::map<std::vector<std::int64_t>, std::size_t> places;
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      const std::span<const std::int64_t> point = std::span(rows_[i].numbers).subspan(first);
      const auto [place, is_new] = places.emplace(std::vector(point.begin(), point.end()), i);
      if (!is_new) {
        diags_
            .report(DiagId::kDomainSamples, rows_[i].range,
                    fmt::format("the point ({}) is there twice", fmt::join(point, ", ")))
            .note("the first time", rows_[place->second].range);
        return std::nullopt;
      }
      samples.points.emplace_back(point);
    }
    return samples;
  }

  Diagnostics& diags_;
  const std::string_view text_;
  std::size_t width_ = 0;
  std::vector<Cell> header_;
  std::vector<Row> rows_;
  bool failed_ = false;
};

}  // namespace

Samples Samples::first(std::size_t count) const {
  Samples some{names, points};
  some.points.resize(std::min(count, points.size()));
  return some;
}

std::optional<Samples> read_samples(Diagnostics& diags) { return SampleReader(diags).read(); }

}  // namespace groma::domains
