// Parses the parts of a line of a mapper log: numbers, points, domains and tasks. Any input is
// safe, because a log may come from a stranger.
#include "legion_run/log_lines.h"

#include <vector>

namespace groma::inspect {
namespace {

// The largest number of digits of a task's unique id, which a log writes in `<>`.
constexpr std::size_t kMaxDigits = 20;

// Reads a point, such as "0,1". Returns nullopt if a coordinate is not a number or if there are too
// many.
std::optional<Point> read_point(std::string_view text) {
  std::vector<std::int64_t> coordinates;
  for (std::size_t begin = 0;;) {
    const std::size_t comma = text.find(',', begin);
    std::string_view one = text.substr(begin, comma - begin);
    while (one.starts_with(' ')) one.remove_prefix(1);
    const auto value = read_number<std::int64_t>(one);
    if (!value || coordinates.size() == kMaxDimensions) return std::nullopt;
    coordinates.push_back(*value);
    if (comma == text.npos) return Point(coordinates);
    begin = comma + 1;
  }
}

}  // namespace

// If the text begins with `begin`, removes `begin` from the text and returns true. Callers read a
// line step by step with calls of take() and take_until().
bool take(std::string_view& text, std::string_view begin) {
  if (!text.starts_with(begin)) return false;
  text.remove_prefix(begin.size());
  return true;
}

// Removes and returns the text before the mark. The text stays as it is if it does not contain the
// mark.
std::optional<std::string_view> take_until(std::string_view& text, std::string_view mark) {
  const std::size_t at = text.find(mark);
  if (at == text.npos) return std::nullopt;
  const std::string_view before = text.substr(0, at);
  text.remove_prefix(at + mark.size());
  return before;
}

// Parses an id, which Legion writes as a hexadecimal number.
std::optional<std::uint64_t> read_id(std::string_view text) {
  return read_number<std::uint64_t>(text, 16);
}

// Returns the box from the first point to the last point, both included. A log may hold any
// numbers, so the extents may overflow.
std::optional<Rect> box_between(const Point& first, const Point& last) {
  Point extents = last;
  for (int d = 0; d < extents.dimensions(); ++d) {
    if (__builtin_sub_overflow(last[d], first[d], &extents[d]) ||
        __builtin_add_overflow(extents[d], 1, &extents[d])) {
      return std::nullopt;
    }
  }
  auto made = Rect::make(first, extents);
  return made ? std::optional<Rect>(*made) : std::nullopt;
}

// Reads a domain, such as "<0,0>..<3,3>". The two points must have the same number of coordinates.
std::optional<Rect> read_domain(std::string_view text) {
  if (!take(text, "<")) return std::nullopt;
  const auto lower = take_until(text, ">..<"), upper = take_until(text, ">");
  if (!lower || !upper || !text.empty()) return std::nullopt;
  const auto from = read_point(*lower), to = read_point(*upper);
  if (!from || !to || from->dimensions() != to->dimensions()) return std::nullopt;
  return box_between(*from, *to);
}

std::optional<MapperLog::LaunchedDomain> read_launched_domain(std::string_view text) {
  MapperLog::LaunchedDomain made;
  const std::size_t end = text.find(" OF ");
  const auto box = read_domain(text.substr(0, end));
  if (!box) return std::nullopt;
  made.box = *box;
  if (end == text.npos) return made;
  std::string_view holes = text.substr(end + 4);
  const auto count = take_until(holes, " ");
  const auto points = count ? read_number<std::int64_t>(*count) : std::nullopt;
  const auto id = read_id(holes);
  if (!points || *points < 0 || *points > box->volume() || !id) return std::nullopt;
  made.some_points = points;
  made.id = *id;
  return made;
}

// Returns the task as messages show it: "write (0) <20>".
std::string LoggedTask::words() const {
  std::string text = name;
  if (point) {
    text += " (";
    for (int d = 0; d < point->dimensions(); ++d) {
      text += (d == 0 ? "" : ",") + std::to_string((*point)[d]);
    }
    text += ")";
  }
  return text + " <" + std::to_string(uid) + ">";
}

// Parses a task, such as "write(index_point=(0))<20> @ file:3". A name may contain `<` itself (a
// C++ template). So the unique id is the first number in `<>` after which the text ends or
// continues with " @ " or ":".
std::optional<LoggedTask> read_task(std::string_view text) {
  for (std::size_t at = text.find('<'); at != text.npos; at = text.find('<', at + 1)) {
    const std::string_view inside = text.substr(at + 1, kMaxDigits + 1);
    const std::size_t digits = inside.find('>');
    if (digits == inside.npos) continue;
    const auto uid = read_number<std::uint64_t>(inside.substr(0, digits));
    const std::string_view rest = text.substr(at + 1 + digits + 1);
    const bool ends = rest.empty() || rest.starts_with(" @ ") || rest.starts_with(":");
    if (!uid || !ends) continue;
    LoggedTask made;
    made.uid = *uid;
    made.rest = rest;
    std::string_view name = text.substr(0, at);
    constexpr std::string_view kPoint = "(index_point=(";
    const std::size_t of = name.rfind(kPoint);
    if (of != name.npos && name.ends_with("))")) {
      made.point =
          read_point(name.substr(of + kPoint.size(), name.size() - of - kPoint.size() - 2));
      if (!made.point) return std::nullopt;
      name = name.substr(0, of);
    }
    if (name.size() > kMaxLoggedName) return std::nullopt;
    made.name = name;
    return made;
  }
  return std::nullopt;
}

}  // namespace groma::inspect
