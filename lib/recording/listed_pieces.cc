// Looks up the recorded piece of each point of a launch and lists its boxes.
#include "recording/listed_pieces.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "recording/recorded_data.h"

namespace groma::app {

// Makes the partition. It cuts the region itself, even if the recorded partition cuts another
// partition, because the pieces of a launch need not lie in one outer piece.
std::optional<AppPartition> partition_by_listed_boxes(const Events& events, const Application& app,
                                                      const Events::Launch& launch,
                                                      const Events::Requirement& from,
                                                      const ColorTable& table) {
  const Events::LaunchShape& shape = events.shapes[launch.shape];
  const Events::Partition& recorded = events.partitions[static_cast<std::size_t>(from.partition)];
  const AppPartition& cut = app.partitions[static_cast<std::size_t>(from.partition)];
  const Rect& bounds = events.regions[recorded.region].bounds;
  std::map<std::vector<std::int64_t>, const Events::Piece*> pieces;
  for (const Events::Piece& piece : recorded.pieces) {
    const auto color = piece.color.coordinates();
    pieces.emplace(std::vector(color.begin(), color.end()), &piece);
  }
  // The limit on boxes holds for all partitions together, and the name must be new among all
  // partitions and regions.
  std::size_t room = kMaxAppBoxes;
  std::set<std::string> names;
  for (const AppPartition& each : app.partitions) {
    room -= std::min(room, each.boxes.size());
    names.insert(each.name);
  }
  for (const AppRegion& each : app.regions) names.insert(each.name);
  if (app.partitions.size() >= kMaxAppRegions) return std::nullopt;

  AppPartition made;
  const std::string base =
      fmt::format("{}_of_{}", cut.name, app.tasks[shape.task].name).substr(0, kMaxAppNameBytes / 2);
  made.name = base;
  for (int next = 2; names.contains(made.name); ++next)
    made.name = fmt::format("{}_{}", base, next);
  // A mapping refers to the data by the name of the recorded partition, which becomes an alias.
  made.unnamed = true;
  made.aliases = cut.aliases;
  if (!cut.unnamed) made.aliases.push_back(cut.name);
  made.of = app.regions[from.region].name;
  const LaunchDomain domain = events.domain_of(launch);
  if (domain.count() == 0) return std::nullopt;
  for (const std::int64_t extent : domain.box.extents.coordinates()) {
    made.colors.emplace_back(extent);
  }
  auto number = launch.numbers.begin() +
                static_cast<std::ptrdiff_t>(
                    table.begin + table.before * static_cast<std::size_t>(domain.count()));
  Point point = domain.first_point();
  do {
    const std::vector<std::int64_t> color(number,
                                          number + static_cast<std::ptrdiff_t>(table.colors));
    number += static_cast<std::ptrdiff_t>(table.colors);
    const auto piece = pieces.find(color);
    // The piece was not recorded, or the colour of the point was not seen.
    if (piece == pieces.end()) return std::nullopt;
    for (const Rect& box : boxes_of(*piece->second, bounds)) {
      if (made.boxes.size() == room) return std::nullopt;
      AppBox& to = made.boxes.emplace_back();
      for (int d = 0; d < point.dimensions(); ++d) {
        to.color.push_back(point[d] - domain.box.lower[d]);
      }
      to.lower.assign(box.lower.coordinates().begin(), box.lower.coordinates().end());
      to.extents.assign(box.extents.coordinates().begin(), box.extents.coordinates().end());
    }
  } while (next_point(domain, &point));
  if (made.boxes.empty()) return std::nullopt;
  return made;
}

}  // namespace groma::app
