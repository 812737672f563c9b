#include "support/index_map_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "index_map/specialised_map.h"

namespace groma::testing {
namespace {

std::string text_of(const Point& point) {
  std::string text = "(";
  for (std::int64_t x : point.coordinates()) text += fmt::format("{},", x);
  return text + ")";
}

std::string text_of(const PointTarget& placed) {
  std::string text = placed.is_set ? "set" : "";
  for (const Processor& each : placed.processors) {
    text += fmt::format(" {} {} {}", name_of(each.kind), each.node, each.index);
  }
  return text;
}

std::string errors_of(const Diagnostics& diags) {
  std::string text;
  for (const Diagnostic& each : diags.all()) {
    if (each.severity == Severity::kError) text += render(diags.source(), each);
  }
  return text;
}

// Boxes of a processor or node that are looked at in a launch without end.
constexpr std::size_t kMaxBoxes = 500;
constexpr std::int64_t kMaxStretches = 1'000;  // of a dimension of such a launch
struct EnoughBoxes {};

}  // namespace

ReferenceAnswers::ReferenceAnswers(BoundProgram bound, FunctionId function, const TaskPoint& launch,
                                   std::optional<ProcKind> kind, const Rect& part)
    : bound_(std::move(bound)), function_(function), launch_(launch), kind_(kind), part_(part) {
  if (part.volume() == 0) return;
  FunctionEvaluator evaluator(bound_);
  TaskPoint task = launch;
  Point point = part.lower;
  do {
    // The points of a map over ranks are numbers of points of the launch.
    task.point = launch.points == nullptr ? point : launch.points->point(point[0]);
    Diagnostics diags(bound_.program().source());
    auto placed = evaluator.place(function, task, kind, diags);
    std::string error = placed ? "" : errors_of(diags);
    points_.push_back({point, std::move(placed), std::move(error)});
  } while (next_point(part, &point));
  const auto failed = std::find_if(points_.begin(), points_.end(),
                                   [](const Answer& answer) { return !answer.placed; });
  first_error_ = static_cast<std::size_t>(failed - points_.begin());
}

void ReferenceAnswers::count(const IndexMap& map, IndexMapTally* tally) const {
  tally->launches += 1;
  tally->points += static_cast<int>(points_.size());
  tally->errors += first_error_ < points_.size() ? 1 : 0;
  const auto placed = [](const Answer& answer) { return answer.placed.has_value(); };
  tally->placed += std::any_of(points_.begin(), points_.end(), placed) ? 1 : 0;
  tally->specialised += map.specialised() ? 1 : 0;
  tally->proved += map.proved() ? 1 : 0;
}

// One thread's, by every question.
class Comparison {
 public:
  Comparison(const ReferenceAnswers& answers, std::shared_ptr<const IndexMap> map)
      : answers_(answers), map_(std::move(map)), cursor_(map_) {}

  std::string run() {
    if (map_->proved() && first_error_ < points_.size()) return "proved, but it fails";
    for (const auto part :
         {&Comparison::by_point, &Comparison::by_box, &Comparison::by_row, &Comparison::by_slices,
          &Comparison::by_processor, &Comparison::by_node}) {
      if (std::string text = (this->*part)(); !text.empty()) return text;
    }
    return "";
  }

 private:
  using Answer = ReferenceAnswers::Answer;

  // Whether the boxes of a processor or node can be asked for.
  bool in_bounds(const std::optional<mapper::SeparatedNumber>& apart) const {
    return whole() || (apart && mapper::has_few_runs(map_->map(), *apart, kMaxStretches));
  }
  Diagnostics fresh() const { return Diagnostics(answers_.bound_.program().source()); }
  bool whole() const { return points_.size() == static_cast<std::size_t>(domain_.volume()); }

  std::string differs(std::string_view how, const Answer& answer, ProcessorNumber number) {
    const PointTarget& expected = *answer.placed;
    const bool is_set = cursor_.is_set(number);
    if (cursor_.processor(number) == expected.processors.front() && is_set == expected.is_set &&
        (!is_set || cursor_.placed(number).processors == expected.processors)) {
      return "";
    }
    const std::string got = text_of(cursor_.placed(number));
    return fmt::format("{} {}: {} instead of {}", how, text_of(answer.point), got,
                       text_of(*answer.placed));
  }

  std::string wrong_error(std::string_view how, const Diagnostics& diags, const Answer& answer) {
    const std::string got = errors_of(diags);
    if (got == answer.error) return "";
    return fmt::format("{} {}: the error\n{}\ninstead of\n{}", how, text_of(answer.point), got,
                       answer.error);
  }

  std::string by_point() {
    for (const Answer& answer : points_) {
      Diagnostics diags = fresh();
      const ProcessorNumber number = cursor_.point(answer.point, diags);
      if ((number != kNoProcessor) != answer.placed.has_value()) {
        return fmt::format("point {}: {}", text_of(answer.point), render(diags) + answer.error);
      }
      if (number == kNoProcessor) {
        if (std::string text = wrong_error("point", diags, answer); !text.empty()) return text;
      } else if (std::string text = differs("point", answer, number); !text.empty()) {
        return text;
      }
    }
    return "";
  }

  // Answers from `first` on were to be written to `out`.
  std::string check_written(std::string_view how, bool good, const Diagnostics& diags,
                            std::size_t first, const std::vector<ProcessorNumber>& out) {
    for (std::size_t i = 0; i < out.size(); ++i) {
      const Answer& answer = points_[first + i];
      if (!answer.placed) {
        if (good) return fmt::format("{} {}: no error", how, text_of(answer.point));
        return wrong_error(how, diags, answer);
      }
      if (std::string text = differs(how, answer, out[i]); !text.empty()) return text;
    }
    return good ? "" : std::string(how) + ": an error\n" + render(diags);
  }

  std::string by_box() {
    Diagnostics diags = fresh();
    std::vector<ProcessorNumber> out(points_.size());
    const bool good = cursor_.box(part_, out, diags);
    return check_written("box", good, diags, 0, out);
  }

  // Each row, from its second point on where it has one.
  std::string by_row() {
    if (part_.dimensions() == 0) return "";
    const auto length = static_cast<std::size_t>(part_.extents[part_.dimensions() - 1]);
    for (std::size_t begin = 0; begin < points_.size(); begin += length) {
      const std::size_t skipped = length > 1 ? 1 : 0;
      std::vector<ProcessorNumber> out(length - skipped);
      Diagnostics diags = fresh();
      const bool good = cursor_.row(points_[begin + skipped].point, out, diags);
      std::string text = check_written("row", good, diags, begin + skipped, out);
      if (!text.empty()) return text;
    }
    return "";
  }

  std::size_t place_of(const Point& point) const {
    std::int64_t place = 0;
    for (int d = 0; d < point.dimensions(); ++d) {
      place = place * part_.extents[d] + point[d] - part_.lower[d];
    }
    return static_cast<std::size_t>(place);
  }

  // Calls visit(answer) for every point of the box that is of the part, each once in all.
  template <typename Visit>
  std::string cover(const Rect& box, std::vector<bool>* seen, const Visit& visit) {
    if (box.volume() == 0) return "an empty box";
    Rect common = box;
    for (int d = 0; d < box.dimensions(); ++d) {
      const auto end = [d](const Rect& rect) { return rect.lower[d] + rect.extents[d]; };
      if (box.lower[d] < domain_.lower[d] || end(box) > end(domain_)) {
        return "outside: " + text_of(box.lower);
      }
      common.lower[d] = std::max(box.lower[d], part_.lower[d]);
      common.extents[d] = std::min(end(box), end(part_)) - common.lower[d];
      if (common.extents[d] <= 0) return "";
    }
    Point point = common.lower;
    do {
      const std::size_t place = place_of(point);
      if ((*seen)[place]) return "twice: " + text_of(point);
      (*seen)[place] = true;
      if (std::string text = visit(points_[place]); !text.empty()) return text;
    } while (next_point(common, &point));
    return "";
  }

  std::size_t runs() const {
    const int dimensions = part_.dimensions();
    const auto length =
        dimensions == 0 ? 1U : static_cast<std::size_t>(part_.extents[dimensions - 1]);
    std::size_t count = 0;
    for (std::size_t i = 0; i < points_.size(); ++i) {
      const bool starts = i % length == 0 ||
                          points_[i].placed->processors != points_[i - 1].placed->processors ||
                          points_[i].placed->is_set != points_[i - 1].placed->is_set;
      count += starts ? 1 : 0;
    }
    return count;
  }

  std::string by_slices() {
    std::string text;
    std::vector<bool> seen(points_.size());
    std::size_t count = 0;
    Diagnostics diags = fresh();
    const bool good = cursor_.slices(
        part_,
        [&](const Rect& box, ProcessorNumber number) {
          ++count;
          if (!text.empty()) return;
          text = cover(box, &seen, [&](const Answer& answer) {
            if (!answer.placed) return std::string("a slice with a point that fails");
            return differs("slice", answer, number);
          });
        },
        diags);
    if (!text.empty()) return "slices: " + text;
    if (good != (first_error_ == points_.size())) return "slices: " + render(diags);
    if (!good) {
      return wrong_error("slices", diags, points_[first_error_]);
    }
    if (std::count(seen.begin(), seen.end(), false) > 0) return "slices: a point is missing";
    if (count > runs()) return fmt::format("{} slices of {} runs", count, runs());
    return "";
  }

  template <typename Wanted, typename Ask>
  std::string by(std::string_view how, const Wanted& wanted, const Ask& ask) {
    std::string text;
    std::vector<bool> seen(points_.size());
    std::size_t count = 0;
    Diagnostics diags = fresh();
    const auto look = [&](const Rect& box) {
      if (!text.empty()) return;
      text = cover(box, &seen, [&](const Answer& answer) {
        const bool fits = answer.placed && wanted(answer.placed->processors.front());
        return fits ? std::string() : "not its own: " + text_of(answer.point);
      });
      if (++count == kMaxBoxes && !whole()) throw EnoughBoxes();
    };
    bool good = true;
    try {
      good = ask(look, diags);
    } catch (const EnoughBoxes&) {
      return text;
    }
    if (!text.empty()) return fmt::format("{}: {}", how, text);
    if (good != (first_error_ == points_.size())) return fmt::format("{}: {}", how, render(diags));
    for (std::size_t i = 0; i < points_.size() && good; ++i) {
      if (wanted(points_[i].placed->processors.front()) && !seen[i]) {
        return fmt::format("{}: {} is missing", how, text_of(points_[i].point));
      }
    }
    return "";
  }

  std::string by_processor() {
    if (!in_bounds(map_->map().separated_number)) return "";
    std::vector<Processor> all = {{answers_.kind_.value_or(ProcKind::kGpu), 0, 0}};
    for (const Answer& answer : points_) {
      if (!answer.placed) continue;
      const Processor& first = answer.placed->processors.front();
      if (std::find(all.begin(), all.end(), first) == all.end()) all.push_back(first);
    }
    const auto boxes_of = [&](std::span<const Processor> processors) {
      const auto wanted = [&](const Processor& each) {
        return std::find(processors.begin(), processors.end(), each) != processors.end();
      };
      return by("boxes_of", wanted, [&](const BoxSink& sink, Diagnostics& diags) {
        return cursor_.boxes_of(processors, sink, diags);
      });
    };
    for (const Processor& processor : all) {
      std::string text = boxes_of(std::span(&processor, 1));
      if (!text.empty()) return text;
    }
    return boxes_of(std::span(all).first((all.size() + 1) / 2));
  }

  std::string by_node() {
    if (!in_bounds(map_->map().separated_node)) return "";
    const std::int64_t nodes = answers_.bound_.machine().node_count();
    for (std::int64_t node = 0; node < nodes; ++node) {
      const auto wanted = [&](const Processor& each) { return each.node == node; };
      std::string text = by("boxes_of_node", wanted, [&](const BoxSink& sink, Diagnostics& diags) {
        return cursor_.boxes_of_node(node, sink, diags);
      });
      if (!text.empty()) return text;
    }
    return "";
  }

  const ReferenceAnswers& answers_;
  const std::vector<Answer>& points_ = answers_.points_;
  const std::size_t first_error_ = answers_.first_error_;
  const Rect& part_ = answers_.part_;
  // The domain of the map.
  const Rect domain_ = answers_.launch_.points == nullptr
                           ? answers_.launch_.domain
                           : Rect{{0}, {answers_.launch_.points->count()}};
  std::shared_ptr<const IndexMap> map_;
  IndexMap::Cursor cursor_;
};

std::string ReferenceAnswers::compare(std::shared_ptr<const IndexMap> map) const {
  return Comparison(*this, std::move(map)).run();
}

std::string compare_with_reference(const BoundProgram& bound, FunctionId function,
                                   const TaskPoint& launch, std::optional<ProcKind> kind,
                                   IndexMapTally* tally, std::shared_ptr<const IndexMap> map) {
  if (map == nullptr) {
    Diagnostics diags(bound.program().source());
    auto made = IndexMap::make(bound, function, launch, kind, diags);
    if (!made) return made.error().message;
    if (diags.has_errors()) return "making it: " + render(diags);
    map = *made;
  }
  const ReferenceAnswers answers(bound, function, launch, kind, launch.domain);
  answers.count(*map, tally);
  return answers.compare(std::move(map));
}

}  // namespace groma::testing
