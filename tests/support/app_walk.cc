#include "support/app_walk.h"

#include <gtest/gtest.h>

#include <utility>

#include "app/pieces.h"

namespace groma::test {
namespace {

using app::FormulaFault;
using Frame = std::vector<std::int64_t>;

bool contains(const Rect& rect, const Point& point) {
  if (rect.dimensions() != point.dimensions()) return false;
  for (int d = 0; d < point.dimensions(); ++d) {
    if (point[d] < rect.lower[d] || point[d] >= rect.lower[d] + rect.extents[d]) return false;
  }
  return true;
}

class Walk {
 public:
  Walk(const app::Data& data, const std::function<void(const Visit&)>& see)
      : data_(data), see_(see) {}

  void task(const app::Task& task, Frame arguments) {
    arguments.resize(static_cast<std::size_t>(task.frame_size));
    body(task.body, arguments);
  }

 private:
  void body(const app::Body& body, Frame& frame) {
    for (const app::Statement& statement : body) {
      if (const auto* launch = std::get_if<app::Launch>(&statement.node)) {
        this->launch(*launch, frame);
      } else if (const auto* loop = std::get_if<app::Loop>(&statement.node)) {
        const std::int64_t count = value(loop->count, frame);
        for (std::int64_t i = 0; i < count; ++i) {
          if (loop->slot >= 0) frame[static_cast<std::size_t>(loop->slot)] = i;
          this->body(loop->body, frame);
        }
      } else if (const auto* phase = std::get_if<app::Phase>(&statement.node)) {
        ++phases_;
        this->body(phase->body, frame);
        --phases_;
      }
    }
  }

  void launch(const app::Launch& launch, Frame& frame) {
    FormulaFault fault = FormulaFault::kNone;
    const auto domain = launch.is_index ? app::domain_of(launch, frame, fault) : std::nullopt;
    ASSERT_EQ(launch.is_index, domain.has_value());
    Point point = domain ? domain->box.lower : Point();
    if (domain && domain->count() == 0) return;
    do {
      if (domain && !domain->contains(point)) continue;
      for (int d = 0; d < point.dimensions(); ++d) {
        frame[static_cast<std::size_t>(launch.point_slot + d)] = point[d];
      }
      Frame arguments;
      for (const app::CompiledFormula& code : launch.arguments)
        arguments.push_back(value(code, frame));
      const app::Task& task = data_.tasks[launch.task];
      Visit visit{&launch, &task, point, {}, {}, {}, phases_ > 0, parent_};
      for (const app::RequirementData& where : launch.data) {
        visit.colors.push_back(color(where, point, frame, arguments));
        add_piece(where, visit.colors.back(), visit);
      }
      see_(visit);
      if (task.body.empty()) continue;
      const Visit* const outer = std::exchange(parent_, &visit);
      this->task(task, arguments);
      parent_ = outer;
    } while (domain && next_point(domain->box, &point));
  }

  Point color(const app::RequirementData& where, const Point& point, const Frame& frame,
              const Frame& arguments) {
    if (where.kind == app::RequirementData::Kind::kRegion) return {};
    if (where.from == app::RequirementData::Color::kPoint) return point;
    const bool of_launch = where.from == app::RequirementData::Color::kFrame;
    Point color = Point::zeros(static_cast<int>(where.color.size()));
    for (int d = 0; d < color.dimensions(); ++d) {
      color[d] = value(where.color[static_cast<std::size_t>(d)], of_launch ? frame : arguments);
    }
    return color;
  }

  void add_piece(const app::RequirementData& where, const Point& color, Visit& visit) {
    if (where.kind == app::RequirementData::Kind::kRegion) {
      visit.pieces.push_back(data_.regions[where.index].box);
      visit.boxes.push_back({visit.pieces.back()});
      return;
    }
    EXPECT_EQ(where.kind, app::RequirementData::Kind::kPartition);
    const app::Partition& partition = data_.partitions[where.index];
    EXPECT_TRUE(contains(partition.colors, color)) << partition.name;
    FormulaFault fault = FormulaFault::kNone;
    visit.pieces.push_back(app::bounds_of_piece(data_, partition, color, fault));
    visit.boxes.push_back(app::boxes_of_piece(data_, partition, color, fault).boxes());
    EXPECT_EQ(fault, FormulaFault::kNone) << partition.name;
  }

  std::int64_t value(const app::CompiledFormula& code, const Frame& frame) {
    FormulaFault fault = FormulaFault::kNone;
    const std::int64_t value = code.value(frame, fault);
    EXPECT_EQ(fault, FormulaFault::kNone);
    return value;
  }

  const app::Data& data_;
  const std::function<void(const Visit&)>& see_;
  int phases_ = 0;
  const Visit* parent_ = nullptr;
};

}  // namespace

void walk(const app::Data& data, const std::function<void(const Visit&)>& see) {
  ASSERT_GE(data.top_level, 0);
  Walk(data, see).task(data.tasks[static_cast<std::size_t>(data.top_level)], {});
}

}  // namespace groma::test
