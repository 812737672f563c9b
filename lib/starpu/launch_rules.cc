// Reads launch rules, and computes points from tags and coordinates.
#include "starpu/launch_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace groma::starpu {
namespace {

// Returns the text without spaces and line ends at its beginning and end.
std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\n");
  if (begin == text.npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\n") - begin + 1);
}

// Splits a text at each separator.
std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t at = text.find(separator);
    parts.push_back(text.substr(0, at));
    if (at == text.npos) return parts;
    text.remove_prefix(at + 1);
  }
}

// Reads numbers of 1 to `most`, separated by `separator`. Returns nullopt if there is something
// else.
std::optional<std::vector<std::int64_t>> read_numbers(std::string_view text, char separator,
                                                      std::int64_t most) {
  std::vector<std::int64_t> numbers;
  for (std::string_view part : split(text, separator)) {
    std::int64_t number = 0;
    const auto read = std::from_chars(part.data(), part.data() + part.size(), number);
    if (read.ec != std::errc() || read.ptr != part.data() + part.size()) return std::nullopt;
    if (number < 1 || number > most) return std::nullopt;
    numbers.push_back(number);
  }
  return numbers;
}

// Reads the part of a rule behind the name. Returns false if it is malformed.
bool read_source(std::string_view text, LaunchRule& rule) {
  if (text == "none") {
    rule.source = LaunchRule::Source::kNone;
    return true;
  }
  const std::size_t at = text.find('@');
  if (at == text.npos) return false;
  const auto extents = read_numbers(text.substr(0, at), 'x', std::int64_t{1} << 32);
  if (!extents || extents->size() > kMaxDimensions) return false;
  rule.extents = Point(*extents);
  if (!Rect::make(rule.extents)) return false;
  const std::string_view source = text.substr(at + 1);
  if (source == "data") {
    rule.source = LaunchRule::Source::kData;
    return true;
  }
  rule.source = LaunchRule::Source::kTag;
  if (source == "tag") return true;
  if (!source.starts_with("tag:")) return false;
  const auto bits = read_numbers(source.substr(4), ',', 63);
  if (!bits || bits->size() != extents->size()) return false;
  rule.tag_bits.assign(bits->begin(), bits->end());
  std::int64_t all = 0;
  for (std::int64_t one : *bits) all += one;
  return all <= 64;
}

}  // namespace

Result<LaunchRules> LaunchRules::parse(std::string_view text) {
  LaunchRules rules;
  for (std::string_view part : split(text, ';')) {
    part = trimmed(part);
    if (part.empty()) continue;
    LaunchRule rule;
    const std::size_t equals = part.rfind('=');
    if (equals != part.npos) rule.name = trimmed(part.substr(0, equals));
    if (rule.name.empty() || !read_source(trimmed(part.substr(equals + 1)), rule)) {
      return Error{Error::Code::kMalformed,
                   fmt::format("`{}` is not a launch: write NAME=EXTENTS@tag, "
                               "NAME=EXTENTS@tag:BITS,..., NAME=EXTENTS@data or NAME=none, such "
                               "as `update=8x8@tag:16,16`",
                               part)};
    }
    rules.rules_.push_back(std::move(rule));
  }
  return rules;
}

const LaunchRule* LaunchRules::find(std::string_view name) const {
  const auto found = std::find_if(rules_.begin(), rules_.end(),
                                  [&](const LaunchRule& rule) { return rule.name == name; });
  return found == rules_.end() ? nullptr : &*found;
}

std::optional<Point> LaunchRule::point_of_tag(std::uint64_t tag) const {
  Point point = Point::zeros(extents.dimensions());
  for (int i = extents.dimensions() - 1; i >= 0; --i) {
    const auto extent = static_cast<std::uint64_t>(extents[i]);
    std::uint64_t value = tag;
    if (tag_bits.empty()) {
      value = i > 0 ? tag % extent : tag;
      tag /= extent;
    } else {
      const int bits = tag_bits[static_cast<std::size_t>(i)];
      value = tag & ((std::uint64_t{1} << bits) - 1);
      tag >>= bits;
    }
    if (value >= extent) return std::nullopt;
    point[i] = static_cast<std::int64_t>(value);
  }
  return point;
}

std::optional<Point> LaunchRule::point_of_coordinates(const int* coordinates,
                                                      unsigned count) const {
  if (count != static_cast<unsigned>(extents.dimensions())) return std::nullopt;
  Point point = Point::zeros(extents.dimensions());
  for (int i = 0; i < extents.dimensions(); ++i) {
    point[i] = coordinates[i];
    if (point[i] < 0 || point[i] >= extents[i]) return std::nullopt;
  }
  return point;
}

}  // namespace groma::starpu
