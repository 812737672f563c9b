// Splits launches into parts with shorter conditions, and replaces their numbers wherever a run of
// a task has them.
#include "recording/sparse_launches.h"

#include <fmt/format.h>

#include <map>
#include <string>
#include <utility>

#include "recording/listed_rows.h"

namespace groma::app {
namespace {

using Numbers = std::vector<std::int64_t>;

std::vector<Rect> runs_of(const PointSet& points, std::int64_t begin, std::int64_t end) {
  std::vector<Rect> runs;
  points.for_each_run(begin, end, [&](const Rect& run, std::int64_t) { runs.push_back(run); });
  return runs;
}

// Returns the runs as parts, in their order, each of which has a condition that lists its rows.
std::vector<std::vector<Rect>> parts_with_conditions(const std::vector<Rect>& runs) {
  const PointSet points = PointSet::from_boxes(runs).value();
  const std::vector<std::string> names(static_cast<std::size_t>(points.dimensions()), "i0");
  const bool fits = condition_of_rows({points.bounds(), points}, names).has_value();
  if (fits || runs.size() == 1) return {runs};
  const auto middle = runs.begin() + static_cast<std::ptrdiff_t>(runs.size() / 2);
  auto parts = parts_with_conditions({runs.begin(), middle});
  for (auto& part : parts_with_conditions({middle, runs.end()})) parts.push_back(std::move(part));
  return parts;
}

class LaunchSplitter {
 public:
  LaunchSplitter(Events& events, const std::set<std::int32_t>& domains)
      : events_(events), domains_(domains) {}

  // Splits the launches. Returns false if there are too many launches or numbers then.
  bool split() {
    std::size_t numbers = 0;
    for (const Events::Launch& launch : events_.launches) numbers += launch.numbers.size();
    const std::size_t count = events_.launches.size();
    for (std::uint32_t number = 0; number < count; ++number) {
      if (!domains_.contains(events_.launches[number].sparse_domain)) continue;
      // A copy, because the list of launches grows.
      const Events::Launch launch = events_.launches[number];
      std::vector<FoldedElement>& parts = parts_[number];
      for (const std::int32_t domain : parts_of(launch.sparse_domain)) {
        parts.push_back({static_cast<std::uint32_t>(events_.launches.size())});
        events_.launches.push_back(
            part_of(launch, part_domains_[static_cast<std::size_t>(domain)]));
        numbers += events_.launches.back().numbers.size();
        if (numbers > 2 * kMaxEventNumbers || events_.launches.size() > kMaxEventLaunches) {
          return false;
        }
      }
    }
    std::uint64_t launches = 0;
    for (Events::TaskRunGroup& context : events_.contexts) {
      context.launches = with_parts(context.launches);
      launches += unfolded_size(context.launches, kMaxEventLaunches);
      if (launches > kMaxEventLaunches) return false;
    }
    return true;
  }

  // Returns how many executions of launches were split, by the task that they launch.
  const std::map<std::uint32_t, std::int64_t>& split_executions() const { return executions_; }

 private:
  // A part of a domain: its points, and their number in Events::sparse_domains or -1.
  struct PartDomain {
    LaunchDomain domain;
    std::int32_t sparse = -1;
  };

  // Returns the parts of a sparse domain, as positions in part_domains_: as few as have conditions.
  // A domain that has a condition itself, but got none among the others of its loop, is split into
  // its runs.
  const std::vector<std::int32_t>& parts_of(std::int32_t sparse) {
    const auto [known, is_new] = parts_of_domain_.try_emplace(sparse);
    if (!is_new) return known->second;
    const PointSet points =
        PointSet::from_boxes(events_.sparse_domains[static_cast<std::size_t>(sparse)]).value();
    const std::vector<Rect> runs = runs_of(points, 0, points.count());
    std::vector<std::vector<Rect>> parts = parts_with_conditions(runs);
    if (parts.size() == 1) {
      parts.clear();
      for (const Rect& run : runs) parts.push_back({run});
    }
    for (std::vector<Rect>& part : parts) {
      const PointSet some = PointSet::from_boxes(part).value();
      known->second.push_back(static_cast<std::int32_t>(part_domains_.size()));
      if (some.count() == some.bounds().volume()) {
        part_domains_.push_back({LaunchDomain(some.bounds())});
        continue;
      }
      part_domains_.push_back({LaunchDomain(some.bounds(), some),
                               static_cast<std::int32_t>(events_.sparse_domains.size())});
      events_.sparse_domains.push_back(std::move(part));
    }
    return known->second;
  }

  // Returns the launch of one part: its box, the colours and prefixes of the whole launch, and the
  // entries of its tables for the points of the part.
  Events::Launch part_of(const Events::Launch& launch, const PartDomain& part) const {
    const Events::LaunchShape& shape = events_.shapes[launch.shape];
    const Rect& box = part.domain.box;
    Numbers numbers;
    for (const Point& corner : {box.lower, box.extents}) {
      numbers.insert(numbers.end(), corner.coordinates().begin(), corner.coordinates().end());
    }
    auto from = launch.numbers.begin() + static_cast<std::ptrdiff_t>(numbers.size());
    const LaunchDomain domain = events_.domain_of(launch);
    for (const Events::Requirement& each : shape.requirements) {
      const auto given = static_cast<std::ptrdiff_t>(
          events_.count_given_color_coordinates(each, shape.dimensions));
      numbers.insert(numbers.end(), from, from + given);
      from += given;
    }
    for (const Events::Requirement& each : shape.requirements) {
      if (each.color_rule != Events::ColorRule::kMapped) continue;
      const auto colors = static_cast<std::ptrdiff_t>(events_.color_dimensions(each));
      Point point = part.domain.first_point();
      do {
        const auto entry = from + colors * static_cast<std::ptrdiff_t>(domain.rank(point));
        numbers.insert(numbers.end(), entry, entry + colors);
      } while (next_point(part.domain, &point));
      from += colors * static_cast<std::ptrdiff_t>(domain.count());
    }
    return {launch.shape, std::move(numbers), part.sparse};
  }

  // Returns the launches of a run with the parts of the launches that were split.
  std::vector<FoldedElement> with_parts(const std::vector<FoldedElement>& launches,
                                        std::int64_t repeats = 1) {
    std::vector<FoldedElement> made;
    for (const FoldedElement& each : launches) {
      const std::int64_t times = repeats * each.count;
      if (!each.body.empty()) {
        made.push_back({0, each.count, with_parts(each.body, times)});
        continue;
      }
      const auto parts = parts_.find(each.symbol);
      if (parts == parts_.end()) {
        made.push_back(each);
        continue;
      }
      executions_[events_.shapes[events_.launches[each.symbol].shape].task] += times;
      if (each.count == 1) {
        made.insert(made.end(), parts->second.begin(), parts->second.end());
      } else {
        made.push_back({0, each.count, parts->second});
      }
    }
    return made;
  }

  Events& events_;
  const std::set<std::int32_t>& domains_;
  std::vector<PartDomain> part_domains_;
  // The parts of each sparse domain that was split, as positions in part_domains_.
  std::map<std::int32_t, std::vector<std::int32_t>> parts_of_domain_;
  // For each launch that was split, by its number: the launches of its parts.
  std::map<std::uint32_t, std::vector<FoldedElement>> parts_;
  std::map<std::uint32_t, std::int64_t> executions_;
};

}  // namespace

std::optional<Error> split_sparse_launches(Events& events, const std::set<std::int32_t>& domains,
                                           std::vector<std::string>& notes) {
  LaunchSplitter splitter(events, domains);
  if (!splitter.split()) {
    return Error{Error::Code::kTooLarge,
                 "too many launches over domains with holes that no condition describes"};
  }
  for (const auto& [task, executions] : splitter.split_executions()) {
    notes.push_back(fmt::format(
        "no condition was found for all points of {} launch{} of `{}` over domains with holes: "
        "each "
        "is described as several launches, in which `irank` counts the points of a part",
        executions, executions == 1 ? "" : "es", events.tasks[task].name));
  }
  return std::nullopt;
}

}  // namespace groma::app
