// Code for maps that are known point by point: a table of rows. A row is a run of points in which
// one coordinate grows by 1.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "domain_emission/map_code.h"

namespace groma::domains {
namespace {

// Limit on the points that are looked at.
constexpr std::int64_t kMaxListed = std::int64_t{1} << 28;

struct Row {
  // The number of the first point of the row, and the point.
  std::int64_t first = 0;
  Coordinates point{};
};

// Returns true if `b` is `a` with 1 added to the coordinate d.
bool follows(const Coordinates& a, const Coordinates& b, std::size_t d, std::size_t dimensions) {
  for (std::size_t i = 0; i < dimensions; ++i) {
    if (b[i] != a[i] + (i == d ? 1 : 0)) return false;
  }
  return true;
}

// Returns the coordinate that grows by 1 most often among the first points.
std::size_t direction_of(const PointMap& map) {
  constexpr std::int64_t kLooked = 1 << 16;
  const auto dimensions = static_cast<std::size_t>(map.dimensions());
  std::vector<std::int64_t> times(dimensions, 0);
  Coordinates before{}, point{};
  map.unrank(0, before);
  for (std::int64_t k = 1; k < std::min(map.count(), kLooked); ++k) {
    map.unrank(k, point);
    for (std::size_t d = 0; d < dimensions; ++d) {
      if (follows(before, point, d, dimensions)) ++times[d];
    }
    before = point;
  }
  return static_cast<std::size_t>(std::max_element(times.begin(), times.end()) - times.begin());
}

// Returns the rows, or at most `limit` + 1 of them.
std::vector<Row> rows_of(const PointMap& map, std::size_t direction, std::size_t limit) {
  const auto dimensions = static_cast<std::size_t>(map.dimensions());
  std::vector<Row> rows;
  Coordinates before{}, point{};
  for (std::int64_t k = 0; k < map.count() && rows.size() <= limit; ++k) {
    map.unrank(k, point);
    if (k == 0 || !follows(before, point, direction, dimensions)) rows.push_back({k, point});
    before = point;
  }
  return rows;
}

}  // namespace

std::optional<Error> MapCode::write_form(const PointMap& map, const ListDescription&,
                                         const std::string& base, const Names& names) {
  const std::size_t dimensions = names.size();
  const Error too_large = {
      Error::Code::kTooLarge,
      fmt::format("{} is known point by point only, and its table of rows is larger than 1 MiB",
                  dialect_.name()),
      "declare it by `loops`, `digits` and `then` without `where`, `or`, `except` and `by`, or "
      "give "
      "its parameters smaller values"};
  if (map.count() > kMaxListed) return too_large;
  const std::size_t direction = direction_of(map);
  const std::vector<Row> rows = rows_of(map, direction, kMaxTableBytes / 4);

  std::vector<std::int64_t> firsts;
  std::vector<std::vector<std::int64_t>> points(dimensions);
  for (const Row& row : rows) {
    firsts.push_back(row.first);
    for (std::size_t d = 0; d < dimensions; ++d) points[d].push_back(row.point[d]);
  }
  // The inverse looks for a row by the other coordinates, in the order in which the rows are sorted
  // already if there is one, and then by the coordinate that grows.
  const auto less_by = [&](const std::vector<std::size_t>& keys) {
    return [&rows, keys](std::int64_t a, std::int64_t b) {
      const Coordinates& left = rows[static_cast<std::size_t>(a)].point;
      const Coordinates& right = rows[static_cast<std::size_t>(b)].point;
      for (const std::size_t key : keys) {
        if (left[key] != right[key]) return left[key] < right[key];
      }
      return false;
    };
  };
  std::vector<std::size_t> keys;
  for (std::size_t d = 0; d < dimensions; ++d) {
    if (d != direction) keys.push_back(d);
  }
  std::vector<std::size_t> reversed(keys.rbegin(), keys.rend());
  keys.push_back(direction);
  reversed.push_back(direction);
  std::vector<std::int64_t> order(rows.size());
  std::iota(order.begin(), order.end(), 0);
  if (std::is_sorted(order.begin(), order.end(), less_by(reversed))) keys = reversed;
  const bool is_sorted = std::is_sorted(order.begin(), order.end(), less_by(keys));
  if (!is_sorted) std::sort(order.begin(), order.end(), less_by(keys));

  std::int64_t bytes = Dialect::item_bytes(firsts) + (is_sorted ? 0 : Dialect::item_bytes(order));
  for (const auto& each : points) bytes += Dialect::item_bytes(each);
  if (bytes * static_cast<std::int64_t>(rows.size()) > kMaxTableBytes) return too_large;

  text_ += fmt::format(
      "// The rows of the domain, in which {} grows by 1: the number of the first point and the "
      "point"
      ".\n",
      names[direction]);
  text_ += dialect_.table(base + "_row_first", firsts);
  for (std::size_t d = 0; d < dimensions; ++d) {
    text_ += dialect_.table(fmt::format("{}_row_{}", base, names[d]), points[d]);
  }
  if (!is_sorted) {
    text_ += "// The rows sorted by their coordinates.\n";
    text_ += dialect_.table(base + "_row_order", order);
  }

  const std::string unsigned32 = dialect_.unsigned_integer(Width::k32);
  const auto item = [&](const std::string& table, const std::string& index) {
    return dialect_.table_item(base + "_row_" + table, index);
  };
  text_ += fmt::format(
      "\n// Returns the row of point k.\n{0}{1} {2}_row({3} k) {{\n"
      "  {1} low = 0, high = {4};\n"
      "  while (low < high) {{\n    const {1} middle = low + (high - low + 1) / 2;\n"
      "    if ({5} <= k) {{\n      low = middle;\n    }} else {{\n"
      "      high = middle - 1;\n    }}\n  }}\n  return low;\n}}\n\n",
      dialect_.function(), unsigned32, base, long_type(), rows.size() - 1, item("first", "middle"));
  text_ += point_head(base, names);
  text_ += fmt::format("  const {} row = {}_row(k);\n", unsigned32, base);
  for (std::size_t d = 0; d < dimensions; ++d) {
    text_ += fmt::format("  *to_{} = {}{};\n", names[d], item(names[d], "row"),
                         d == direction ? fmt::format(" + (k - {})", item("first", "row")) : "");
  }
  text_ += "}\n\n" + rank_head(base, names) + bounds_check(map, names);
  text_ += fmt::format(
      "  {0} low = 0, high = {1};\n"
      "  while (low < high) {{\n    const {0} middle = low + (high - low + 1) / 2;\n"
      "    const {0} row = {2};\n",
      unsigned32, rows.size() - 1, is_sorted ? "middle" : item("order", "middle"));
  std::string before;
  for (std::size_t i = keys.size(); i-- > 0;) {
    const std::string& name = names[keys[i]];
    const std::string value = item(name, "row");
    before = i + 1 == keys.size()
                 ? fmt::format("{} <= {}", value, name)
                 : fmt::format("{0} < {1} || ({0} == {1} && ({2}))", value, name, before);
  }
  text_ += fmt::format(
      "    if ({}) {{\n      low = middle;\n    }} else {{\n"
      "      high = middle - 1;\n    }}\n  }}\n  const {} row = {};\n",
      before, unsigned32, is_sorted ? "low" : item("order", "low"));
  for (const std::size_t key : keys) {
    text_ += fmt::format("  if ({} {} {}) return -1;\n", names[key],
                         key == direction ? "<" : "!=", item(names[key], "row"));
  }
  text_ += fmt::format(
      "  const {0} k = {1} + ({2} - {3});\n"
      "  const {0} end = row == {4} ? {5} : {6};\n"
      "  return k < end ? k : -1;\n}}\n\n",
      long_type(), item("first", "row"), names[direction], item(names[direction], "row"),
      rows.size() - 1, map.count(), item("first", "row + 1"));
  if (!dialect_.is_cpp()) return std::nullopt;
  Names values;
  for (std::size_t d = 0; d < dimensions; ++d) {
    values.push_back(d == direction ? fmt::format("{} + (k - first)", names[d]) : names[d]);
  }
  text_ += for_head(base);
  text_ += fmt::format(
      "  if (begin >= end) return;\n  std::uint32_t row = {0}_row(begin);\n"
      "  for (std::int64_t k = begin; k < end; ++row) {{\n"
      "    const std::int64_t first = {0}_row_first[row];\n",
      base);
  for (const std::string& name : names) {
    text_ += fmt::format("    const std::int64_t {0} = {1}_row_{0}[row];\n", name, base);
  }
  text_ += fmt::format(
      "    std::int64_t stop = row == {0} ? {1} : {2}_row_first[row + 1];\n"
      "    if (stop > end) stop = end;\n    for (; k < stop; ++k) f(k, {3});\n  }}\n}}\n\n",
      rows.size() - 1, map.count(), base, joined(values));
  return std::nullopt;
}

}  // namespace groma::domains
