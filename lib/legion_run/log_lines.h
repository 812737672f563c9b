// Parses the parts of a line of a mapper log: numbers, domains and tasks.
#pragma once

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "groma/explain_log.h"
#include "groma/geometry.h"

namespace groma::inspect {

// The largest length of the name of a task or region, in bytes.
inline constexpr std::size_t kMaxLoggedName = 4096;

// If the text begins with `begin`, removes `begin` from the text and returns true.
bool take(std::string_view& text, std::string_view begin);
// Removes the text before `mark` and the mark itself, and returns the text before it. Returns
// nullopt if there is no mark.
std::optional<std::string_view> take_until(std::string_view& text, std::string_view mark);

// Parses a text that is a number and nothing else. Returns nullopt for any other text.
template <typename Number>
std::optional<Number> read_number(std::string_view text, int base = 10) {
  Number value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (code != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// Parses the hexadecimal id of a processor or memory: "1d00000000000001".
std::optional<std::uint64_t> read_id(std::string_view text);
// Parses a launch domain: "<0,0>..<3,3>".
std::optional<Rect> read_domain(std::string_view text);
// Parses a launch domain that may have holes: "<0,0>..<3,3> OF 10 e000000000000001", with the
// number of its points and the id of its index space.
std::optional<MapperLog::LaunchedDomain> read_launched_domain(std::string_view text);
// Returns the box from the first point to the last, or nullopt if this is not a box or is too
// large.
std::optional<Rect> box_between(const Point& first, const Point& last);

// A task as a log line names it: "write(index_point=(0))<20> @ provenance".
struct LoggedTask {
  std::string name;
  std::optional<Point> point;
  std::uint64_t uid = 0;
  // The rest of the log line, after the text of the task.
  std::string_view rest;

  // Returns the text for the task in a message: "write (0) <20>".
  std::string words() const;
};

// Parses the name, the point and the unique id of a task. Returns nullopt if the text names no
// task.
std::optional<LoggedTask> read_task(std::string_view text);

}  // namespace groma::inspect
