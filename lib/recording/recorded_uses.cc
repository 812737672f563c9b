// Drops the pieces of large partitions that no recorded launch uses.
#include "recording/recorded_uses.h"

#include <algorithm>
#include <cstddef>
#include <set>
#include <span>
#include <vector>

namespace groma::app {
namespace {

// A partition with fewer pieces than this keeps all of them.
constexpr std::size_t kFewestPieces = 64;
// Pieces are dropped if at most one piece in kUnusedShare is used.
constexpr std::size_t kUnusedShare = 4;
// Limit on the used pieces. A partition of which more pieces are used keeps all of them.
constexpr std::size_t kMaxUsed = 1 << 12;

using Color = std::vector<std::int64_t>;

// The colours of a partition that launches use.
struct UsedColors {
  // If true, all pieces of the partition are kept, because too many are used or because it is
  // unknown which are used.
  bool all = false;
  std::set<Color> colors;

  void add(Color color) {
    if (all) return;
    colors.insert(std::move(color));
    all = colors.size() > kMaxUsed;
  }
};

// Notes the pieces that one launch uses, for each of its requirements. The numbers of a launch hold
// the domain, then the single colours and prefixes (`next`), then the tables with a colour for each
// point (`table`).
void note_launch(const Events& events, const Events::Launch& launch,
                 std::vector<UsedColors>& used) {
  const Events::LaunchShape& shape = events.shapes[launch.shape];
  const std::size_t dimensions = shape.dimensions;
  const std::span<const std::int64_t> numbers = launch.numbers;
  const LaunchDomain domain = events.domain_of(launch);
  std::size_t next = 2 * dimensions, table = next;
  for (const Events::Requirement& each : shape.requirements) {
    table += events.count_given_color_coordinates(each, dimensions);
  }
  for (const Events::Requirement& each : shape.requirements) {
    if (each.color_rule == Events::ColorRule::kWhole) continue;
    const auto partition = static_cast<std::size_t>(each.partition);
    const std::size_t given = events.count_given_color_coordinates(each, dimensions);
    const auto first = numbers.subspan(next, given);
    const std::size_t colors = events.color_dimensions(each);
    next += given;
    UsedColors& to = used[partition];
    if (each.color_rule == Events::ColorRule::kFixed) {
      to.add(Color(first.begin(), first.end()));
      continue;
    }
    if (domain.count() == 0) continue;
    const Point& lower = events.partitions[partition].colors.lower;
    Point point = domain.first_point();
    do {
      Color color(first.begin(), first.end());
      if (each.color_rule == Events::ColorRule::kMapped) {
        const auto mapped = numbers.subspan(table, colors);
        color.assign(mapped.begin(), mapped.end());
        table += colors;
        to.all = to.all || std::find(color.begin(), color.end(), kNoNumber) != color.end();
      } else {
        for (std::size_t d = 0; d < dimensions; ++d) {
          const int own = lower.dimensions() - static_cast<int>(dimensions - d);
          color.push_back(point[static_cast<int>(d)] - (own >= 0 ? lower[own] : 0));
        }
        if (to.all) break;
      }
      to.add(std::move(color));
    } while (next_point(domain, &point));
  }
}

}  // namespace

// Drops the unused pieces of each partition of which few pieces are used. A piece whose parts are
// used by an inner partition counts as used.
void drop_unused_pieces(Events& events) {
  std::vector<UsedColors> used(events.partitions.size());
  for (const Events::Launch& launch : events.launches) note_launch(events, launch, used);
  // A partition comes after the partition that it cuts, so this loop visits inner partitions first.
  for (std::size_t i = events.partitions.size(); i-- > 0;) {
    Events::Partition& partition = events.partitions[i];
    const std::size_t count = partition.pieces.size();
    UsedColors& own = used[i];
    const bool few =
        !own.all && count >= kFewestPieces && own.colors.size() * kUnusedShare <= count;
    if (few) {
      partition.has_only_used_pieces = true;
      // In an application, a partition that lists no boxes means equal blocks. So if no piece is
      // used, the first piece is kept.
      const auto first_color = partition.pieces.front().color.coordinates();
      if (own.colors.empty()) own.colors.emplace(first_color.begin(), first_color.end());
      std::erase_if(partition.pieces, [&](const Events::Piece& piece) {
        const auto color = piece.color.coordinates();
        return !own.colors.contains(Color(color.begin(), color.end()));
      });
    }
    if (partition.outer < 0) continue;
    UsedColors& outer = used[static_cast<std::size_t>(partition.outer)];
    const auto dimensions = static_cast<std::size_t>(partition.colors.dimensions());
    for (const Events::Piece& piece : partition.pieces) {
      const auto color = piece.color.coordinates();
      outer.add(Color(color.begin(), color.end() - static_cast<std::ptrdiff_t>(dimensions)));
    }
  }
}

}  // namespace groma::app
