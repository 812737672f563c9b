// Finds the collections of an application (the data that its tasks take as arguments) and the
// overlaps between them.
#include "space/collections.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "app/data.h"
#include "base/boxes.h"
#include "explain/explain_query.h"

namespace groma::tuning {
namespace {

// The limit on the pieces (subregions) of a partition. Partitions with more pieces count as their
// whole region, because all pairs of pieces are compared.
constexpr std::int64_t kMaxPieces = 512;

// The data that one launch passes to a task for one region requirement.
struct LaunchData {
  std::uint32_t region = 0;
  std::vector<std::uint32_t> fields;
  std::vector<app::Piece> pieces;
};

// Returns the number of points of a piece of a region. The piece is a box or a list of cells.
double points_of(const app::Piece& piece) {
  if (piece.cells != nullptr) return static_cast<double>(piece.cells->points);
  double points = 1;
  for (int d = 0; d < piece.box.dimensions(); ++d) {
    points *= static_cast<double>(piece.box.extents[d]);
  }
  return points;
}

// Returns how many points two pieces of the region have in common.
double common_points(const app::Region& region, const app::Piece& one, const app::Piece& other) {
  if (one.cells != nullptr) {
    return static_cast<double>(app::common_points(region.cell_points, *one.cells, *other.cells));
  }
  double points = 1;
  const Rect both = common_box(one.box, other.box);
  for (const std::int64_t extent : both.extents.coordinates()) {
    points *= static_cast<double>(extent);
  }
  return points;
}

// Returns the pieces of data that the points of a launch may use. A partition of more than
// kMaxPieces pieces counts as one piece, the whole region.
std::vector<app::Piece> pieces_of(const app::Data& data, const app::RequirementData& where) {
  const app::Region& region = data.regions[where.region];
  if (where.kind == app::RequirementData::Kind::kRegion ||
      data.partitions[where.index].colors.volume() > kMaxPieces) {
    return {{region.box, region.all_cells}};
  }
  const app::Partition& partition = data.partitions[where.index];
  if (!partition.pieces.empty() || partition.colors.volume() == 0) return partition.pieces;
  std::vector<app::Piece> pieces;
  Point color = partition.colors.lower;
  do {
    app::FormulaFault fault{};
    pieces.push_back({app::bounds_of_piece(data, partition, color, fault), nullptr});
  } while (next_point(partition.colors, &color));
  return pieces;
}

// Returns the number of bytes that these fields take for one point of the region.
double bytes_of(const app::Data& data, std::uint32_t region,
                const std::vector<std::uint32_t>& fields) {
  double bytes = 0;
  for (std::uint32_t field : fields) {
    bytes += static_cast<double>(data.regions[region].fields[field].bytes);
  }
  return bytes;
}

// Returns the size in bytes of the data that one launch passes for a region requirement. Points in
// several pieces are counted several times.
double bytes_of(const app::Data& data, const LaunchData& part) {
  double points = 0;
  for (const app::Piece& piece : part.pieces) points += points_of(piece);
  return points * bytes_of(data, part.region, part.fields);
}

// Returns how many bytes the data of two region requirements have in common: their common fields in
// their common points. Pieces of one partition may overlap, so the sum is limited to the smaller of
// the two sizes.
double common_bytes(const app::Data& data, const LaunchData& a, const LaunchData& b) {
  if (a.region != b.region) return 0;
  std::vector<std::uint32_t> fields;
  for (std::uint32_t field : a.fields) {
    if (std::find(b.fields.begin(), b.fields.end(), field) != b.fields.end()) {
      fields.push_back(field);
    }
  }
  double points = 0;
  for (const app::Piece& x : a.pieces) {
    for (const app::Piece& y : b.pieces) points += common_points(data.regions[a.region], x, y);
  }
  return std::min(
      {points * bytes_of(data, a.region, fields), bytes_of(data, a), bytes_of(data, b)});
}

}  // namespace

// The size of a collection is the size of the largest data that a launch passes for it. The size of
// an overlap is the largest number of bytes that two such data have in common.
Collections collections_of(const Workload& workload) {
  const app::Data& data = workload.data();
  Collections collections;
  collections.arguments_of_task.resize(data.tasks.size());
  std::map<std::string, std::uint32_t> by_name;
  // For each collection, the different data that launches pass for it.
  std::vector<std::vector<LaunchData>> parts;
  std::set<std::tuple<std::uint32_t, app::RequirementData::Kind, std::uint32_t,
                      std::vector<std::uint32_t>>>
      seen;
  bool complete = true;
  const std::vector<TaskLaunches> uses = launches_by_task(data, complete);
  for (std::uint32_t t = 0; t < data.tasks.size(); ++t) {
    const app::Task& task = data.tasks[t];
    std::vector<std::uint32_t>& arguments = collections.arguments_of_task[t];
    // Adds the arguments of one launch. The set `seen` keeps data that several launches pass from
    // being counted twice. `launch` is null if the application does not say how the task is
    // launched.
    const auto add = [&](const app::LaunchNames& names, const app::Launch* launch) {
      for (std::size_t r = 0; r < task.requirements.size(); ++r) {
        const app::Requirement& requirement = task.requirements[r];
        if (names[r].empty() || requirement.fields.empty() ||
            requirement.privilege == Privilege::kNoAccess) {
          continue;
        }
        const auto [found, is_new] =
            by_name.emplace(names[r].front(), static_cast<std::uint32_t>(collections.all.size()));
        const std::uint32_t number = found->second;
        if (is_new) {
          collections.all.push_back({names[r]});
          parts.emplace_back();
        }
        if (std::find(arguments.begin(), arguments.end(), number) == arguments.end()) {
          arguments.push_back(number);
        }
        const app::RequirementData& where = app::data_of_requirement(task, launch, r);
        if (where.kind == app::RequirementData::Kind::kUnknown ||
            !seen.emplace(number, where.kind, where.index, where.fields).second) {
          continue;
        }
        parts[number].push_back({where.region, where.fields, pieces_of(data, where)});
      }
    };
    for (std::size_t u = 0; u < uses[t].launches.size(); ++u) {
      add(uses[t].name_lists[uses[t].name_list_of_launch[u]], uses[t].launches[u].launch);
    }
    if (uses[t].launches.empty()) add(uses[t].name_lists.front(), nullptr);
  }
  for (std::uint32_t a = 0; a < parts.size(); ++a) {
    for (const LaunchData& part : parts[a]) {
      collections.all[a].bytes = std::max(collections.all[a].bytes, bytes_of(data, part));
    }
    // A collection overlaps itself, because two arguments of a task may be the same collection.
    collections.overlaps.push_back({a, a, collections.all[a].bytes});
    for (std::uint32_t b = a + 1; b < parts.size(); ++b) {
      double most = 0;
      for (const LaunchData& x : parts[a]) {
        for (const LaunchData& y : parts[b]) most = std::max(most, common_bytes(data, x, y));
      }
      if (most > 0) collections.overlaps.push_back({a, b, most});
    }
  }
  const auto bytes = [&](std::uint32_t number) { return collections.all[number].bytes; };
  for (std::vector<std::uint32_t>& arguments : collections.arguments_of_task) {
    std::stable_sort(arguments.begin(), arguments.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return bytes(a) > bytes(b); });
  }
  std::stable_sort(
      collections.overlaps.begin(), collections.overlaps.end(),
      [](const CollectionOverlap& a, const CollectionOverlap& b) { return a.bytes < b.bytes; });
  return collections;
}

}  // namespace groma::tuning
