// Metric: reads the value of a run from what the command printed.
#include "tune/metric.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <charconv>
#include <cmath>
#include <optional>

#include "groma/harmless.h"
#include "llm/json.h"

namespace groma::tuning {
namespace {

// Limit on the bytes of foreign text in a message.
constexpr std::size_t kShownText = 60;
// Limit on the bytes of a pattern or a JSON pointer.
constexpr std::size_t kMaxMetricBytes = 1000;
// Limit on the memory of a compiled pattern, in bytes.
constexpr std::int64_t kPatternMemory = std::int64_t{8} << 20;

using Read = Result<double, std::string>;

// Returns the text for a message: shortened, without characters that could change a terminal.
std::string shown(std::string_view text) { return harmless(text, kShownText); }

// Limits for a measured value, so that products and quotients of two values stay finite and above
// 0.
constexpr double kLeastValue = 1e-150, kMostValue = 1e150;

// Returns the value if it is finite, above 0 and within the limits; otherwise the reason.
Read checked(double value) {
  if (!std::isfinite(value) || value <= 0) {
    return fmt::format("the value is {}, not a finite number above 0", value);
  }
  if (value >= kLeastValue && value <= kMostValue) return value;
  return fmt::format("the value is {}, too {} to compare: have it printed in another unit", value,
                     value < 1 ? "small" : "large");
}

// Removes the commas between thousands: "1,234.5" becomes "1234.5". Other commas stay, because
// "3,5" may mean 3.5, and a wrong value is worse than an error.
std::string without_commas(std::string_view text) {
  static const re2::RE2 kThousands(R"([+-]?\d{1,3}(,\d{3})+(\.\d*)?([eE][+-]?\d+)?)");
  std::string digits(text);
  if (re2::RE2::FullMatch(digits, kThousands)) std::erase(digits, ',');
  return digits;
}

// Parses the whole text as a number. A leading `+` is skipped, because from_chars() does not accept
// it.
Read number_in(std::string_view text) {
  const std::string digits = without_commas(text);
  const char* begin = digits.data() + (digits.starts_with('+') ? 1 : 0);
  const char* end = digits.data() + digits.size();
  double value = 0;
  const auto [stopped, code] = std::from_chars(begin, end, value);
  if (code != std::errc() || stopped != end) {
    return fmt::format("the value is `{}`, which is not a number", shown(text));
  }
  return checked(value);
}

// Returns what the group of the pattern matches in the last match of the pattern; nullopt if
// nothing matches. Programs print a final value last.
std::optional<std::string_view> last_match(const re2::RE2& pattern, const std::string& text) {
  std::optional<std::string_view> found;
  const re2::StringPiece piece(text);
  std::size_t at = 0;
  while (at <= text.size()) {
    re2::StringPiece match[2];
    if (!pattern.Match(piece, at, text.size(), re2::RE2::UNANCHORED, match, 2)) break;
    const auto begin = static_cast<std::size_t>(match[0].data() - text.data());
    found = std::string_view(match[1].data(), match[1].size());
    // The search moves on by at least one byte, even after an empty match, so that the loop ends.
    at = begin + std::max<std::size_t>(match[0].size(), 1);
  }
  return found;
}

// Splits a JSON pointer into its unescaped keys (RFC 6901): "~1" stands for "/", "~0" for "~".
Result<std::vector<std::string>> keys_of(const std::string& pointer) {
  const auto failure = [&](std::string_view why) {
    return Error{Error::Code::kMalformed,
                 fmt::format("`{}` is not a JSON pointer: {}", shown(pointer), why)};
  };
  if (!pointer.starts_with('/')) return failure("it begins with `/`");
  std::vector<std::string> keys;
  for (std::size_t i = 0; i < pointer.size(); ++i) {
    const char next = i + 1 < pointer.size() ? pointer[i + 1] : '\0';
    if (pointer[i] == '/') {
      keys.emplace_back();
    } else if (pointer[i] != '~') {
      keys.back() += pointer[i];
    } else if (next == '0' || next == '1') {
      keys.back() += next == '0' ? '~' : '/';
      ++i;
    } else {
      return failure("after `~` stands `0` or `1`");
    }
  }
  return keys;
}

// Returns the value at the keys; null if there is none. In an array, the key is a decimal index.
const llm::json* found_in(const llm::json& value, const std::vector<std::string>& keys) {
  const llm::json* at = &value;
  for (const std::string& key : keys) {
    if (at->is_object()) {
      const auto member = at->find(key);
      if (member == at->end()) return nullptr;
      at = &*member;
      continue;
    }
    std::size_t index = 0;
    const char* end = key.data() + key.size();
    const auto [stopped, code] = std::from_chars(key.data(), end, index);
    if (!at->is_array() || code != std::errc() || stopped != end || index >= at->size()) {
      return nullptr;
    }
    at = &(*at)[index];
  }
  return at;
}

}  // namespace

// Checks the pattern or pointer before any run. A pattern has exactly one group, which matches the
// number, and works on bytes.
Result<Metric> Metric::make(const std::string& pattern, const std::string& pointer) {
  const auto failure = [](std::string message, std::string help = "") {
    return Error{Error::Code::kMalformed, std::move(message), std::move(help)};
  };
  Metric metric;
  metric.text_ = pattern.empty() ? pointer : pattern;
  if (!pattern.empty() && !pointer.empty()) {
    return failure("the metric is either a pattern or a JSON pointer");
  }
  if (metric.text_.size() > kMaxMetricBytes) return failure("the metric is too long");
  if (!pointer.empty()) {
    auto keys = keys_of(pointer);
    if (!keys) return keys.error();
    metric.pointer_ = std::move(*keys);
  }
  if (pattern.empty()) return metric;
  // The pattern matches bytes, because the output may not be UTF-8.
  re2::RE2::Options options(re2::RE2::Latin1);
  options.set_log_errors(false);
  options.set_max_mem(kPatternMemory);
  const auto made = std::make_shared<const re2::RE2>(pattern, options);
  if (!made->ok()) {
    return failure(
        fmt::format("the metric `{}` is not a pattern: {}", shown(pattern), made->error()));
  }
  if (made->NumberOfCapturingGroups() != 1) {
    return failure(fmt::format("the metric `{}` has {} groups, not one", shown(pattern),
                               made->NumberOfCapturingGroups()),
                   "put brackets round the number alone: `time: ([0-9.]+) s`");
  }
  metric.pattern_ = made;
  return metric;
}

// Looks for a pattern in standard output first, then in standard error. A JSON pointer applies to
// standard output only.
Read Metric::read(const CommandOutcome& outcome) const {
  if (is_run_time()) return checked(outcome.seconds);
  if (pattern_ != nullptr) {
    for (const CommandOutput* output : {&outcome.out, &outcome.err}) {
      const auto found = last_match(*pattern_, output->text);
      if (found) return number_in(*found);
    }
    // The value may have stood in the dropped part of a long output, which the message then says.
    const std::size_t left_out = outcome.out.left_out_bytes + outcome.err.left_out_bytes;
    if (left_out > 0) {
      return fmt::format(
          "it printed too much: {} bytes in the middle are left out, and nothing of the rest "
          "matches `{}`",
          left_out, shown(text_));
    }
    return fmt::format("nothing that was printed matches `{}`", shown(text_));
  }
  if (outcome.out.left_out_bytes > 0) return std::string("it printed too much to be read as JSON");
  const llm::json value = llm::parse_json(outcome.out.text);
  if (value.is_discarded()) return std::string("what was printed is not JSON");
  const llm::json* found = found_in(value, pointer_);
  if (found == nullptr) return fmt::format("the JSON that was printed has no `{}`", shown(text_));
  if (!found->is_number())
    return fmt::format("`{}` is not a number in what was printed", shown(text_));
  return checked(found->get<double>());
}

}  // namespace groma::tuning
