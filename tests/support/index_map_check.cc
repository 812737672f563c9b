#include "support/index_map_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace groma::testing {
namespace {

std::string text_of(const Point& point) {
  std::string text = "(";
  for (std::int64_t x : point.coordinates()) text += fmt::format("{},", x);
  return text + ")";
}

std::string text_of(const Placed& placed) {
  std::string text = placed.is_set ? "set" : "";
  for (const Processor& each : placed.processors) {
    text += fmt::format(" {} {} {}", name_of(each.kind), each.node, each.index);
  }
  return text;
}

class Comparison {
 public:
  Comparison(const BoundProgram& bound, FunctionId function, const TaskPoint& launch,
             std::optional<ProcKind> kind, std::shared_ptr<const IndexMap> map)
      : bound_(bound),
        function_(function),
        task_(launch),
        kind_(kind),
        map_(std::move(map)),
        cursor_(map_),
        evaluator_(bound) {}

  std::string run(IndexMapTally* tally) {
    ask_reference();
    tally->launches += 1;
    tally->points += static_cast<int>(points_.size());
    tally->errors += first_error_ < points_.size() ? 1 : 0;
    const auto placed = [](const Answer& answer) { return answer.placed.has_value(); };
    tally->placed += std::any_of(points_.begin(), points_.end(), placed) ? 1 : 0;
    tally->specialised += map_->specialised() ? 1 : 0;
    tally->proved += map_->proved() ? 1 : 0;
    if (map_->proved() && first_error_ < points_.size()) return "proved, but it fails";
    for (const auto part :
         {&Comparison::by_point, &Comparison::by_box, &Comparison::by_row, &Comparison::by_slices,
          &Comparison::by_processor, &Comparison::by_node}) {
      if (std::string text = (this->*part)(); !text.empty()) return text;
    }
    return "";
  }

 private:
  struct Answer {
    Point point;
    std::optional<Placed> placed;
    std::string errors;
  };

  Diagnostics fresh() const { return Diagnostics(bound_.program().source()); }

  void ask_reference() {
    const Rect& domain = task_.domain;
    if (domain.volume() == 0) return;
    task_.point = domain.lower;
    do {
      Diagnostics diags = fresh();
      auto placed = evaluator_.place(function_, task_, kind_, diags);
      points_.push_back({task_.point, std::move(placed), render(diags)});
    } while (next_point(domain, &task_.point));
    const auto failed = std::find_if(points_.begin(), points_.end(),
                                     [](const Answer& answer) { return !answer.placed; });
    first_error_ = static_cast<std::size_t>(failed - points_.begin());
  }

  std::string differs(std::string_view how, const Answer& answer, ProcessorNumber number) {
    const std::string got = text_of(cursor_.placed(number));
    if (got == text_of(*answer.placed)) return "";
    return fmt::format("{} {}: {} instead of {}", how, text_of(answer.point), got,
                       text_of(*answer.placed));
  }

  std::string wrong_error(std::string_view how, const Diagnostics& diags, const Answer& answer) {
    const std::string got = render(diags);
    if (got == answer.errors) return "";
    return fmt::format("{} {}: the error\n{}\ninstead of\n{}", how, text_of(answer.point), got,
                       answer.errors);
  }

  std::string by_point() {
    for (const Answer& answer : points_) {
      Diagnostics diags = fresh();
      const ProcessorNumber number = cursor_.point(answer.point, diags);
      if ((number != kNoProcessor) != answer.placed.has_value()) {
        return fmt::format("point {}: {}", text_of(answer.point), render(diags) + answer.errors);
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
        return wrong_error(how, without_warnings(diags), error_of(first + i));
      }
      if (std::string text = differs(how, answer, out[i]); !text.empty()) return text;
    }
    return good ? "" : std::string(how) + ": an error\n" + render(diags);
  }

  // Points before the one that failed may have warned.
  Diagnostics without_warnings(const Diagnostics& diags) const {
    Diagnostics result = fresh();
    for (const Diagnostic& each : diags.all()) {
      if (each.severity == Severity::kError) result.add(each.id, each.range, each.args) = each;
    }
    return result;
  }
  Answer error_of(std::size_t i) {
    task_.point = points_[i].point;
    Diagnostics diags = fresh();
    evaluator_.place(function_, task_, kind_, diags);
    return {task_.point, std::nullopt, render(without_warnings(diags))};
  }

  std::string by_box() {
    Diagnostics diags = fresh();
    std::vector<ProcessorNumber> out(points_.size());
    const bool good = cursor_.box(task_.domain, out, diags);
    return check_written("box", good, diags, 0, out);
  }

  // Each row, from its second point on where it has one.
  std::string by_row() {
    const Rect& domain = task_.domain;
    if (domain.dimensions() == 0) return "";
    const auto length = static_cast<std::size_t>(domain.extents[domain.dimensions() - 1]);
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
      place = place * task_.domain.extents[d] + point[d] - task_.domain.lower[d];
    }
    return static_cast<std::size_t>(place);
  }

  // Calls visit(answer) for every point of the box, each once in all.
  template <typename Visit>
  std::string cover(const Rect& box, std::vector<bool>* seen, const Visit& visit) {
    Point point = box.lower;
    if (box.volume() == 0) return "an empty box";
    do {
      if (!task_.domain.contains(point)) return "outside: " + text_of(point);
      const std::size_t place = place_of(point);
      if ((*seen)[place]) return "twice: " + text_of(point);
      (*seen)[place] = true;
      if (std::string text = visit(points_[place]); !text.empty()) return text;
    } while (next_point(box, &point));
    return "";
  }

  std::size_t runs() const {
    const int dimensions = task_.domain.dimensions();
    const auto length =
        dimensions == 0 ? 1U : static_cast<std::size_t>(task_.domain.extents[dimensions - 1]);
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
      return wrong_error("slices", without_warnings(diags), error_of(first_error_));
    }
    if (std::count(seen.begin(), seen.end(), false) > 0) return "slices: a point is missing";
    if (count > runs()) return fmt::format("{} slices of {} runs", count, runs());
    return "";
  }

  template <typename Wanted, typename Ask>
  std::string by(std::string_view how, const Wanted& wanted, const Ask& ask) {
    std::string text;
    std::vector<bool> seen(points_.size());
    Diagnostics diags = fresh();
    const bool good = ask(
        [&](const Rect& box) {
          if (!text.empty()) return;
          text = cover(box, &seen, [&](const Answer& answer) {
            const bool fits = answer.placed && wanted(answer.placed->processors.front());
            return fits ? std::string() : "not there: " + text_of(answer.point);
          });
        },
        diags);
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
    std::vector<Processor> all = {{kind_.value_or(ProcKind::kGpu), 0, 0}};
    for (const Answer& answer : points_) {
      if (!answer.placed) continue;
      const Processor& first = answer.placed->processors.front();
      if (std::find(all.begin(), all.end(), first) == all.end()) all.push_back(first);
    }
    for (const Processor& processor : all) {
      const auto wanted = [&](const Processor& each) { return each == processor; };
      std::string text = by("boxes_of", wanted, [&](const BoxSink& sink, Diagnostics& diags) {
        return cursor_.boxes_of(processor, sink, diags);
      });
      if (!text.empty()) return text;
    }
    return "";
  }

  std::string by_node() {
    for (std::int64_t node = 0; node < bound_.machine().node_count(); ++node) {
      const auto wanted = [&](const Processor& each) { return each.node == node; };
      std::string text = by("boxes_of_node", wanted, [&](const BoxSink& sink, Diagnostics& diags) {
        return cursor_.boxes_of_node(node, sink, diags);
      });
      if (!text.empty()) return text;
    }
    return "";
  }

  const BoundProgram& bound_;
  const FunctionId function_;
  TaskPoint task_;
  const std::optional<ProcKind> kind_;
  std::shared_ptr<const IndexMap> map_;
  IndexMap::Cursor cursor_;
  Evaluator evaluator_;
  std::vector<Answer> points_;
  std::size_t first_error_ = 0;
};

}  // namespace

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
  return Comparison(bound, function, launch, kind, std::move(map)).run(tally);
}

}  // namespace groma::testing
