// Where the points of a launch go, a point at a time and by rows: IndexMap, a functor written by
// hand, the reference evaluation. Each case first checks that all agree in every point, then times
// them in turn; the figures are medians, in ns a point. `slice`: ns for each box that the launch is
// cut into; `boxes_of_us`: us to find the boxes of one processor; `bind_us`: us to make an
// IndexMap.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <string>

#include "evaluate/splits.h"
#include "groma/index_map.h"
#include "groma/machine.h"
#include "groma/program.h"
#include "index_map_functors.h"

namespace groma::benchmarks {
namespace {

struct Case {
  std::string function;
  std::string machine;
  Rect domain;
};

class Measurement {
 public:
  explicit Measurement(const Case& each)
      : domain_(each.domain), bound_(bound_to(each.machine)), evaluator_(bound_) {
    task_.name = "task";
    task_.domain = domain_;
    function_ = *bound_.program().find_function(each.function);
    map_ = make_map();
    cursor_.emplace(map_);
    const std::int64_t nodes = bound_.machine().node_count();
    const std::int64_t gpus = bound_.machine().processors_per_node(ProcKind::kGpu);
    functor_ = make_functor(each.function, nodes, gpus, domain_, grids(each.function, nodes, gpus));
    first_ = map_->number({ProcKind::kGpu, 0, 0});
    Point point = domain_.lower;
    do points_.push_back(point);
    while (next_point(domain_, &point));
    out_.resize(points_.size());
  }

  // Whether functor, reference and every way to ask the map agree.
  bool agrees() {
    Diagnostics diags(bound_.program().source());
    std::vector<ProcessorNumber> box(points_.size());
    if (!map_->proved() || !cursor_->box(domain_, box, diags) || !by_row()) return false;
    for (std::size_t i = 0; i < points_.size(); ++i) {
      const auto expected =
          static_cast<ProcessorNumber>(first_ + functor_->place(points_[i], domain_));
      task_.point = points_[i];
      const auto placed = evaluator_.place(function_, task_, ProcKind::kGpu, diags);
      if (!placed || map_->number(placed->processors[0]) != expected) return false;
      if (box[i] != expected || out_[i] != expected) return false;
      if (cursor_->point(points_[i], diags) != expected) return false;
    }
    return true;
  }

  void by_functor() {
    std::int64_t sum = 0;
    for (const Point& point : points_) sum += functor_->place(point, domain_);
    benchmark::DoNotOptimize(sum);
  }
  void by_point() {
    Diagnostics diags(bound_.program().source());
    std::int64_t sum = 0;
    for (const Point& point : points_) sum += cursor_->point(point, diags);
    benchmark::DoNotOptimize(sum);
  }
  bool by_row() {
    Diagnostics diags(bound_.program().source());
    const auto length = static_cast<std::size_t>(domain_.extents[domain_.dimensions() - 1]);
    bool good = true;
    for (std::size_t i = 0; i < points_.size(); i += length) {
      good = cursor_->row(points_[i], std::span(out_).subspan(i, length), diags) && good;
    }
    benchmark::DoNotOptimize(out_.data());
    return good;
  }
  void by_box() {
    Diagnostics diags(bound_.program().source());
    cursor_->box(domain_, out_, diags);
    benchmark::DoNotOptimize(out_.data());
  }
  void by_reference() {  // of the first points: it is slow
    Diagnostics diags(bound_.program().source());
    for (std::size_t i = 0; i < reference_points(); ++i) {
      task_.point = points_[i];
      benchmark::DoNotOptimize(evaluator_.place(function_, task_, ProcKind::kGpu, diags));
    }
  }
  // The launch cut into boxes of one processor each; how many there are.
  std::size_t by_slices() {
    Diagnostics diags(bound_.program().source());
    std::size_t count = 0;
    cursor_->slices([&](const Rect&, ProcessorNumber) { ++count; }, diags);
    return count;
  }
  // The boxes of one processor in the middle of the machine.
  void by_boxes_of() {
    Diagnostics diags(bound_.program().source());
    const Processor middle{ProcKind::kGpu, bound_.machine().node_count() / 2, 1};
    std::size_t count = 0;
    cursor_->boxes_of(
        middle, [&](const Rect&) { ++count; }, diags);
    benchmark::DoNotOptimize(count);
  }
  std::shared_ptr<const IndexMap> make_map() {
    Diagnostics diags(bound_.program().source());
    return IndexMap::make(bound_, function_, task_, ProcKind::kGpu, diags).value();
  }

  std::size_t points() const { return points_.size(); }
  std::size_t reference_points() const { return std::min<std::size_t>(points_.size(), 1'000); }

 private:
  static BoundProgram bound_to(const std::string& machine) {
    const auto source =
        Source::read(std::string(GROMA_SOURCE_DIR) + "/benchmarks/index_maps.mapper");
    Diagnostics diags(*source);
    auto bound = bind(compile(*source, diags), make_machine(machine).value(), diags);
    GROMA_CHECK(bound && !diags.has_errors());
    return *bound;
  }

  Grids grids(std::string_view function, std::int64_t nodes, std::int64_t gpus) const {
    const auto space = domain_.extents.coordinates();
    const std::vector<std::int64_t> halo(space.size(), 1);
    const bool decomposed = function == "block_decompose";
    const auto split = [&](std::int64_t n, std::span<const std::int64_t> extents) {
      const auto result =
          decomposed ? mapper::decompose(n, extents, halo) : mapper::auto_split(n, extents);
      return std::get<std::vector<std::int64_t>>(result);
    };
    Grids made;
    made.nodes = split(nodes, space);
    std::vector<std::int64_t> inside(space.begin(), space.end());
    for (std::size_t d = 0; d < inside.size(); ++d) {
      inside[d] = (inside[d] + (decomposed ? made.nodes[d] - 1 : 0)) / made.nodes[d];
    }
    made.gpus = split(gpus, inside);
    return made;
  }

  Rect domain_;
  BoundProgram bound_;
  FunctionEvaluator evaluator_;
  FunctionId function_ = 0;
  TaskPoint task_;
  std::shared_ptr<const IndexMap> map_;
  std::optional<IndexMap::Cursor> cursor_;
  std::unique_ptr<Functor> functor_;
  std::int64_t first_ = 0;
  std::vector<Point> points_;
  std::vector<ProcessorNumber> out_;
};

constexpr int kMakes = 20;

class Timer {
 public:
  template <typename Work>
  void add(const Work& work) {
    const auto begin = std::chrono::steady_clock::now();
    work();
    const std::chrono::duration<double, std::nano> time = std::chrono::steady_clock::now() - begin;
    times_.push_back(time.count());
  }
  double median() {
    std::sort(times_.begin(), times_.end());
    return times_[times_.size() / 2];
  }
  // From the first to the third quartile, of the median.
  double spread() { return (times_[times_.size() * 3 / 4] - times_[times_.size() / 4]) / median(); }

 private:
  std::vector<double> times_;
};

void measure(benchmark::State& state, const Case& each) {
  Measurement measurement(each);
  if (!measurement.agrees()) return state.SkipWithError("wrong processors");
  Timer functor, point, row, box, slices, boxes_of, reference, make;
  std::size_t slice_count = 0;
  for (auto _ : state) {
    functor.add([&] { measurement.by_functor(); });
    point.add([&] { measurement.by_point(); });
    row.add([&] { measurement.by_row(); });
    box.add([&] { measurement.by_box(); });
    slices.add([&] { slice_count = measurement.by_slices(); });
    boxes_of.add([&] { measurement.by_boxes_of(); });
    reference.add([&] { measurement.by_reference(); });
    make.add([&] {
      for (int i = 0; i < kMakes; ++i) benchmark::DoNotOptimize(measurement.make_map());
    });
  }
  const auto points = static_cast<double>(measurement.points());
  state.counters["functor"] = functor.median() / points;
  state.counters["point"] = point.median() / points;
  state.counters["row"] = row.median() / points;
  state.counters["box"] = box.median() / points;
  state.counters["slice"] = slices.median() / static_cast<double>(slice_count);
  state.counters["boxes_of_us"] = boxes_of.median() / 1'000;
  state.counters["reference"] =
      reference.median() / static_cast<double>(measurement.reference_points());
  state.counters["x_point"] = functor.median() / point.median();
  state.counters["x_row"] = functor.median() / row.median();
  state.counters["bind_us"] = make.median() / 1'000 / kMakes;
  state.counters["spread"] = std::max(functor.spread(), row.spread());
}

Rect box_of(std::initializer_list<std::int64_t> extents) { return *Rect::make(Point(extents)); }

const bool kRegistered = [] {
  const std::string machine = "nodes=4,gpu=4", uneven = "nodes=6,gpu=6";
  const std::vector<Case> cases = {
      {"cyclic1", machine, box_of({65'536})},
      {"cyclic1", uneven, box_of({65'536})},
      {"cyclic2", uneven, box_of({256, 256})},
      {"cyclic3", uneven, box_of({40, 40, 40})},
      {"row_cyclic", machine, box_of({256, 256})},
      {"row_cyclic_merged", machine, box_of({256, 256})},
      {"row_cyclic", uneven, box_of({250, 250})},
      {"row_cyclic_merged", uneven, box_of({250, 250})},
      {"row_cyclic", machine, box_of({1000, 1000})},
      {"row_cyclic_merged", machine, box_of({1000, 1000})},
      {"row_cyclic", "nodes=8,gpu=8", box_of({40, 40, 40})},
      {"row_cyclic_merged", "nodes=8,gpu=8", box_of({40, 40, 40})},
      {"row_cyclic_nodes", machine, box_of({256, 256})},
      {"row_cyclic_nodes", uneven, box_of({250, 250})},
      {"block1", machine, box_of({65'536})},
      {"block1", uneven, box_of({65'000})},
      {"linearblock", "nodes=16384,gpu=4", box_of({65'536})},
      {"block_decompose", machine, box_of({65'536})},
      {"block_decompose", machine, box_of({256, 256})},
      {"block_decompose", uneven, box_of({250, 250})},
      {"block_decompose", "nodes=8,gpu=8", box_of({16, 64, 64})},
      {"block_auto_split", machine, box_of({65'536})},
      {"block_auto_split", machine, box_of({256, 256})},
      {"block_auto_split", uneven, box_of({250, 250})},
      {"block_auto_split", "nodes=8,gpu=8", box_of({16, 64, 64})},
  };
  for (const Case& each : cases) {
    std::string name = each.function + "/" + each.machine + "/";
    for (int d = 0; d < each.domain.dimensions(); ++d) {
      name += (d == 0 ? "" : "x") + std::to_string(each.domain.extents[d]);
    }
    benchmark::RegisterBenchmark(name.c_str(), [each](benchmark::State& state) {
      measure(state, each);
    })->Unit(benchmark::kMillisecond);
  }
  return true;
}();

}  // namespace
}  // namespace groma::benchmarks
