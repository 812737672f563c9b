#include "support/app_trace.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "app/pieces.h"
#include "base/point_text.h"
#include "support/app_walk.h"

namespace groma::test {
namespace {

using app::Events;
using app::RequirementData;

// Returns true if `point` comes after `before` in row-major order.
bool is_after(const Point& point, const Point& before) {
  const auto a = before.coordinates(), b = point.coordinates();
  return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end());
}

// Makes events of visits: a launch begins with a new statement, or with a point that does not come
// after the point before.
class Seer {
 public:
  explicit Seer(const app::Data& data) : data_(data) {
    events_.runtime = "a test";
    events_.top_level = static_cast<std::uint32_t>(data.top_level);
    for (const app::Task& task : data.tasks) {
      Events::Task& to = events_.tasks.emplace_back();
      to.name = task.name;
      for (const app::Variant& from : task.variants) {
        to.variants.push_back({from.kind, from.leaf, from.inner, from.replicable, from.demands});
      }
    }
    for (const app::Region& region : data.regions) {
      Events::Region& to = events_.regions.emplace_back();
      to.name = region.name;
      to.bounds = region.box;
      to.points = region.box.volume();
      for (const AppField& field : region.fields) to.fields.push_back({field.name, field.bytes});
    }
    for (const app::Partition& partition : data.partitions) {
      Events::Partition& to = events_.partitions.emplace_back();
      to.name = partition.name;
      to.region = partition.region;
      to.outer = partition.outer;
      to.colors = partition.own_colors;
      Point color = partition.colors.lower;
      do {
        app::FormulaFault fault = app::FormulaFault::kNone;
        if (partition.pieces.empty()) {
          const Rect piece = app::bounds_of_piece(data, partition, color, fault);
          to.pieces.push_back({color, piece, piece.volume()});
          continue;
        }
        const app::BoxUnion piece = app::boxes_of_piece(data, partition, color, fault);
        const std::int64_t points = app::points_of(data, partition, color, fault);
        to.pieces.push_back({color, piece.bounding_box(), points});
        if (points < piece.bounding_box().volume()) to.pieces.back().boxes = piece.boxes();
      } while (next_point(partition.colors, &color));
    }
    walk(data, [this](const Visit& visit) { see(visit); });
    while (!open_.empty()) close(open_.begin()->first);
    for (const auto& [key, count] : contexts_) {
      const auto& [task, shape, given, launches] = key;
      events_.contexts.push_back({task, shape, given, count, app::fold_into_loops(launches)});
    }
  }

  Events take() { return std::move(events_); }

 private:
  struct Open {
    std::uint32_t task = 0;
    std::int32_t shape = -1;
    std::vector<std::int64_t> given;
    const app::Launch* last = nullptr;
    std::vector<Visit> visits;  // of the last launch
    std::vector<std::uint32_t> launches;
  };

  std::uint32_t number_of(const app::Task* task) const {
    return static_cast<std::uint32_t>(task - data_.tasks.data());
  }

  void see(const Visit& visit) {
    close(&visit);  // where another visit was: what that launched
    Open& open = open_[visit.parent];
    open.task = visit.parent == nullptr ? events_.top_level : number_of(visit.parent->task);
    if (visit.parent != nullptr && open.shape < 0) {
      open.shape = static_cast<std::int32_t>(number_of(shape_of(*visit.parent)));
      const auto add = [&](const Point& point) {
        open.given.insert(open.given.end(), point.coordinates().begin(), point.coordinates().end());
      };
      add(visit.parent->point);
      for (const Point& color : visit.parent->colors) add(color);
    }
    if (open.last != visit.launch || !visit.launch->is_index ||
        !is_after(visit.point, open.visits.back().point)) {
      end_launch(open);
    }
    open.last = visit.launch;
    open.visits.push_back(visit);
  }

  void close(const Visit* of) {
    const auto found = open_.find(of);
    if (found == open_.end()) return;
    end_launch(found->second);
    const Open& open = found->second;
    ++contexts_[{open.task, open.shape, open.given, open.launches}];
    open_.erase(found);
  }

  Events::LaunchShape shape_of(const Visit& visit) const {
    Events::LaunchShape shape;
    shape.task = number_of(visit.task);
    if (visit.launch->is_index) {
      shape.dimensions = static_cast<std::uint32_t>(visit.point.dimensions());
    }
    for (std::size_t r = 0; r < visit.task->requirements.size(); ++r) {
      const app::Requirement& from = visit.task->requirements[r];
      const RequirementData& where = visit.launch->data[r];
      Events::Requirement to{Events::ColorRule::kWhole, where.region,   -1,
                             where.privilege,           from.coherence, where.fields};
      if (where.kind == RequirementData::Kind::kPartition) {
        to.partition = static_cast<std::int32_t>(where.index);
        to.color_rule = where.from == RequirementData::Color::kPoint ? Events::ColorRule::kPoint
                        : visit.launch->is_index                     ? Events::ColorRule::kMapped
                                                                     : Events::ColorRule::kFixed;
      }
      shape.requirements.push_back(std::move(to));
    }
    return shape;
  }

  void end_launch(Open& open) {
    if (open.visits.empty()) return;
    const Visit& first = open.visits.front();
    Events::LaunchShape shape = shape_of(first);
    Events::Launch launch;
    if (first.launch->is_index) {
      std::vector<Rect> points;
      for (const Visit& visit : open.visits) points.push_back(box_of(visit.point));
      const Rect box = PointSet::from_boxes(points).value().bounds();
      for (const Point* corner : {&box.lower, &box.extents}) {
        launch.numbers.insert(launch.numbers.end(), corner->coordinates().begin(),
                              corner->coordinates().end());
      }
      if (static_cast<std::int64_t>(points.size()) < box.volume()) {
        launch.sparse_domain = sparse_domain_of(open.visits);
      }
    }
    std::vector<std::int64_t> tables;
    for (std::size_t r = 0; r < shape.requirements.size(); ++r) {
      const Events::ColorRule how = shape.requirements[r].color_rule;
      if (how == Events::ColorRule::kFixed) {
        const auto color = first.colors[r].coordinates();
        launch.numbers.insert(launch.numbers.end(), color.begin(), color.end());
      }
      for (const Visit& visit : open.visits) {
        if (how != Events::ColorRule::kMapped) break;
        const auto color = visit.colors[r].coordinates();
        tables.insert(tables.end(), color.begin(), color.end());
      }
    }
    launch.numbers.insert(launch.numbers.end(), tables.begin(), tables.end());
    launch.shape = number_of(std::move(shape));
    const auto [known, is_new] = launches_.try_emplace(
        {launch.shape, launch.sparse_domain, launch.numbers}, events_.launches.size());
    if (is_new) events_.launches.push_back(std::move(launch));
    open.launches.push_back(static_cast<std::uint32_t>(known->second));
    open.visits.clear();
  }

  static Rect box_of(const Point& point) {
    Rect box{point, point};
    for (int d = 0; d < point.dimensions(); ++d) box.extents[d] = 1;
    return box;
  }

  // Returns the number of the domain that has these points.
  std::int32_t sparse_domain_of(const std::vector<Visit>& visits) {
    std::vector<std::int64_t> key;
    std::vector<Rect> boxes;
    for (const Visit& visit : visits) {
      const auto point = visit.point.coordinates();
      key.insert(key.end(), point.begin(), point.end());
      boxes.push_back(box_of(visit.point));
    }
    const auto [known, is_new] = sparse_domains_.try_emplace(key, events_.sparse_domains.size());
    if (is_new) events_.sparse_domains.push_back(std::move(boxes));
    return static_cast<std::int32_t>(known->second);
  }

  // Shapes are alike that are written alike.
  std::uint32_t number_of(Events::LaunchShape shape) {
    Events alone;
    alone.shapes = {std::move(shape)};
    const auto [known, is_new] = shapes_.try_emplace(app::text_of(alone), events_.shapes.size());
    if (is_new) events_.shapes.push_back(std::move(alone.shapes[0]));
    return static_cast<std::uint32_t>(known->second);
  }

  const app::Data& data_;
  Events events_;
  std::map<const Visit*, Open> open_;
  std::map<std::string, std::size_t> shapes_;
  std::map<std::tuple<std::uint32_t, std::int32_t, std::vector<std::int64_t>>, std::size_t>
      launches_;
  std::map<std::vector<std::int64_t>, std::size_t> sparse_domains_;
  std::map<std::tuple<std::uint32_t, std::int32_t, std::vector<std::int64_t>,
                      std::vector<std::uint32_t>>,
           std::int64_t>
      contexts_;
};

}  // namespace

std::vector<std::string> trace_of(const app::Data& data) {
  std::vector<std::string> lines;
  walk(data, [&](const Visit& visit) {
    std::string line;
    if (visit.parent != nullptr) {
      line = fmt::format("{} {}: ", visit.parent->task->name, text_of(visit.parent->point));
    }
    line += fmt::format("{} {}", visit.task->name, text_of(visit.point));
    for (std::size_t r = 0; r < visit.pieces.size(); ++r) {
      const app::Requirement& requirement = visit.task->requirements[r];
      std::int64_t bytes = 0;
      for (const AppField& field : requirement.fields) bytes += field.bytes;
      line += fmt::format(", {} {} {} bytes of ", name_of(requirement.privilege),
                          data.regions[visit.launch->data[r].region].name, bytes);
      std::string boxes;
      for (const Rect& box : visit.boxes[r]) {
        boxes += fmt::format("{}{} at {}", boxes.empty() ? "" : " and ", text_of(box.extents),
                             text_of(box.lower));
      }
      line += boxes.empty() ? "nothing" : boxes;
    }
    lines.push_back(std::move(line));
  });
  return lines;
}

app::Events events_of(const app::Data& data) { return Seer(data).take(); }

}  // namespace groma::test
