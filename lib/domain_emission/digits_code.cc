// Code for self-similar sets: tables for several digits at a time, in both directions.
#include <fmt/format.h>

#include <algorithm>

#include "base/saturating.h"
#include "domain_emission/map_code.h"

namespace groma::domains {
namespace {

// Limit on the entries of a table for several digits.
constexpr std::int64_t kMaxEntries = 512, kMaxGroupedCells = 1024;

// A digit table for several levels at a time.
struct Group {
  std::int64_t levels = 1;
  std::vector<Coordinates> entries;
};

// Returns the table for the most levels with which it has at most `limit` entries.
Group group(const DigitsDescription& digits, std::int64_t limit) {
  constexpr std::int64_t kMaxExtent = std::int64_t{1} << 16;
  Group grouped{1, digits.table};
  const auto size = static_cast<std::int64_t>(digits.table.size());
  while (grouped.levels < digits.levels &&
         static_cast<std::int64_t>(grouped.entries.size()) * size <= limit &&
         saturating_power(digits.base, grouped.levels + 1) <= kMaxExtent) {
    std::vector<Coordinates> longer;
    const std::int64_t weight = saturating_power(digits.base, grouped.levels);
    for (const Coordinates& high : digits.table) {
      for (Coordinates entry : grouped.entries) {
        for (std::size_t d = 0; d < entry.size(); ++d) entry[d] += weight * high[d];
        longer.push_back(entry);
      }
    }
    grouped.entries = std::move(longer);
    ++grouped.levels;
  }
  return grouped;
}

// Returns the number of a cell of a cube with this side.
std::int64_t cell_of(const Coordinates& entry, std::int64_t side, std::size_t dimensions) {
  std::int64_t cell = 0;
  for (std::size_t d = dimensions; d-- > 0;) cell = cell * side + entry[d];
  return cell;
}

// Returns for each cell the place of the entry in the group, or -1.
std::vector<std::int64_t> places(const Group& group, std::int64_t base, std::size_t dimensions) {
  const std::int64_t side = saturating_power(base, group.levels);
  std::vector<std::int64_t> place(
      static_cast<std::size_t>(saturating_power(side, static_cast<std::int64_t>(dimensions))), -1);
  for (std::size_t i = 0; i < group.entries.size(); ++i) {
    place[static_cast<std::size_t>(cell_of(group.entries[i], side, dimensions))] =
        static_cast<std::int64_t>(i);
  }
  return place;
}

// Returns the largest group whose cells fit a table for the inverse.
Group cell_group(const DigitsDescription& digits, std::size_t dimensions) {
  const std::int64_t cells = saturating_power(digits.base, static_cast<std::int64_t>(dimensions));
  std::int64_t levels = 1;
  while (levels < digits.levels && saturating_power(cells, levels + 1) <= kMaxGroupedCells)
    ++levels;
  DigitsDescription some = digits;
  some.levels = levels;
  return group(some, INT64_MAX / 2 / static_cast<std::int64_t>(digits.table.size()));
}

}  // namespace

std::optional<Error> MapCode::write_form(const PointMap& map, const DigitsDescription& digits,
                                         const std::string& base, const Names& names) {
  const std::size_t dimensions = names.size();
  const auto size = static_cast<std::int64_t>(digits.table.size());
  const std::string counter =
      dialect_.unsigned_integer(map.count() <= INT32_MAX ? Width::k32 : Width::k64);
  const bool is_small = std::all_of(map.upper().begin(), map.upper().begin() + map.dimensions(),
                                    [](std::int64_t each) { return each <= INT32_MAX; });
  const std::string coordinate = dialect_.unsigned_integer(is_small ? Width::k32 : Width::k64);
  if (digits.levels == 0) {
    text_ += point_head(base, names) + "  (void)k;\n";
    for (const std::string& name : names) text_ += fmt::format("  *to_{} = 0;\n", name);
    text_ += "}\n\n" + rank_head(base, names) + bounds_check(map, names) + "  return 0;\n}\n\n";
    if (dialect_.is_cpp()) {
      const Names zeros(dimensions, "std::int64_t{0}");
      text_ +=
          for_head(base) + fmt::format("  if (begin < end) f(begin, {});\n}}\n\n", joined(zeros));
    }
    return std::nullopt;
  }

  const Group forward = group(digits, kMaxEntries), inverse = cell_group(digits, dimensions);
  const auto entries = static_cast<std::int64_t>(forward.entries.size());
  const std::int64_t steps = (digits.levels + forward.levels - 1) / forward.levels;
  const std::int64_t rest = digits.levels % inverse.levels;
  std::int64_t bytes = 0;
  const auto add_table = [&](const std::string& name, const std::vector<std::int64_t>& items) {
    bytes += Dialect::item_bytes(items) * static_cast<std::int64_t>(items.size());
    text_ += dialect_.table(name, items);
  };
  text_ += fmt::format(
      "// The digits of k in base {} choose the digits of the coordinates in base {}. The tables\n"
      "// have {} of each at a time.\n",
      size, digits.base, forward.levels);
  for (std::size_t d = 0; d < dimensions; ++d) {
    std::vector<std::int64_t> items;
    for (const Coordinates& entry : forward.entries) items.push_back(entry[d]);
    add_table(fmt::format("{}_digits_{}", base, names[d]), items);
  }
  text_ +=
      "// The inverse: for the digits of the coordinates, the first coordinate the fastest, those "
      "of k.\n";
  add_table(base + "_places", places(inverse, digits.base, dimensions));
  if (rest > 0) {
    add_table(base + "_places_one", places({1, digits.table}, digits.base, dimensions));
  }
  if (bytes > kMaxTableBytes) {
    return Error{
        Error::Code::kTooLarge,
        fmt::format("its tables of digits need {} bytes; at most 1 MiB is written", bytes)};
  }

  // The missing digits of the last step are 0 in k. They choose the first entry of the table, which
  // is taken away again. Unsigned numbers wrap around, so the result is exact.
  const auto missing = [&](std::size_t d) {
    std::uint64_t sum = 0, weight = 1;
    for (std::int64_t i = 0; i < steps * forward.levels; ++i) {
      if (i >= digits.levels) sum += weight * static_cast<std::uint64_t>(digits.table[0][d]);
      weight *= static_cast<std::uint64_t>(digits.base);
    }
    return is_small ? sum & UINT32_MAX : sum;
  };
  const char* const suffix = dialect_.is_opencl() && !is_small ? "UL" : "U";
  text_ += "\n" + point_head(base, names);
  text_ += fmt::format("  {} rest = {};\n", counter, dialect_.cast(counter, "k"));
  std::string zeros;
  for (const std::string& name : names) zeros += (zeros.empty() ? "" : ", ") + name + " = 0";
  if (steps > 1) {
    text_ += fmt::format("  {} {}, weight = 1;\n", coordinate, zeros);
    text_ += fmt::format(
        "  for (int step = 0; step < {}; ++step) {{\n"
        "    const {} digit = {};\n    rest /= {}U;\n",
        steps, dialect_.unsigned_integer(Width::k32),
        dialect_.cast(dialect_.unsigned_integer(Width::k32), fmt::format("rest % {}U", entries)),
        entries);
    for (const std::string& name : names) {
      text_ += fmt::format("    {} += weight * {};\n", name,
                           dialect_.table_item(fmt::format("{}_digits_{}", base, name), "digit"));
    }
    text_ +=
        fmt::format("    weight *= {}U;\n  }}\n", saturating_power(digits.base, forward.levels));
  } else {
    for (const std::string& name : names) {
      text_ += fmt::format("  {}{} {} = {};\n", "const ", coordinate, name,
                           dialect_.table_item(fmt::format("{}_digits_{}", base, name), "rest"));
    }
  }
  for (std::size_t d = 0; d < dimensions; ++d) {
    const std::uint64_t extra = steps > 1 ? missing(d) : 0;
    if (extra != 0) text_ += fmt::format("  {} -= {}{};\n", names[d], extra, suffix);
    text_ += fmt::format("  *to_{0} = {1};\n", names[d], dialect_.cast(long_type(), names[d]));
  }
  text_ += "}\n\n";

  Names given;
  for (const std::string& name : names) given.push_back(name + "_");
  text_ += rank_head(base, given) + bounds_check(map, given);
  for (std::size_t d = 0; d < dimensions; ++d) {
    text_ +=
        fmt::format("  {} {} = {};\n", coordinate, names[d], dialect_.cast(coordinate, given[d]));
  }
  text_ += fmt::format("  {} rank = 0, weight = 1;\n", counter);
  const auto take = [&](std::int64_t times, std::int64_t levels, const std::string& table) {
    const std::int64_t side = saturating_power(digits.base, levels);
    std::string cell = fmt::format("{} % {}U", names.back(), side);
    for (std::size_t d = dimensions - 1; d-- > 0;) {
      cell = fmt::format("({}) * {}U + {} % {}U", cell, side, names[d], side);
    }
    text_ += fmt::format("  for (int step = 0; step < {}; ++step) {{\n    const {} place = {};\n",
                         times, dialect_.integer(Width::k32), dialect_.table_item(table, cell));
    text_ += "    if (place < 0) return -1;\n";
    text_ += fmt::format("    rank += weight * {};\n    weight *= {}U;\n",
                         dialect_.cast(counter, "place"), saturating_power(size, levels));
    for (const std::string& name : names) text_ += fmt::format("    {} /= {}U;\n", name, side);
    text_ += "  }\n";
  };
  if (rest > 0) take(rest, 1, base + "_places_one");
  take(digits.levels / inverse.levels, inverse.levels, base + "_places");
  text_ += fmt::format("  return {};\n}}\n\n", dialect_.cast(long_type(), "rank"));

  if (!dialect_.is_cpp()) return std::nullopt;
  // The points of one block have the same digits but the lowest ones.
  text_ += for_head(base);
  text_ += fmt::format(
      "  for (std::int64_t k = begin; k < end;) {{\n"
      "    const std::int64_t block = k - k % {0};\n"
      "    std::int64_t stop = block + {0};\n    if (stop > end) stop = end;\n"
      "    std::int64_t {1};\n    {2}_point(block, {3});\n",
      entries, joined(names), base, joined(names, "&"));
  Names items;
  for (std::size_t d = 0; d < dimensions; ++d) {
    const std::int64_t first = forward.entries[0][d];
    if (first != 0) text_ += fmt::format("    {} -= {};\n", names[d], first);
    items.push_back(fmt::format("{0} + {1}_digits_{0}[k - block]", names[d], base));
  }
  text_ += fmt::format("    for (; k < stop; ++k) f(k, {});\n  }}\n}}\n\n", joined(items));
  return std::nullopt;
}

}  // namespace groma::domains
