// What the obvious runtime is made of: obvious_runtime.cc has the run and what mappers see,
// obvious_launches.cc what tasks launch, obvious_mapping.cc how it is mapped, obvious_running.cc
// how copies and tasks run.
#pragma once

#include <algorithm>
#include <cmath>
#include <deque>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "app/pieces.h"
#include "support/obvious_runtime.h"

namespace groma::testing::obvious {

using Time = RunTime;

inline Time picoseconds(double seconds) {
  const double time = seconds / 1e-12;
  if (!(time > 0)) return 0;
  return time >= 0x1p60 ? Time{1} << 60 : static_cast<Time>(std::llround(time));
}

// Thrown where a run cannot go on.
struct Failed {
  RunStatus status;
  DiagId id;
};

inline std::vector<Point> points_of(const Rect& box) {
  std::vector<Point> points;
  if (box.volume() == 0) return points;
  Point point = box.lower;
  do points.push_back(point);
  while (next_point(box, &point));
  return points;
}

// What a piece, a region or an instance has: points in row-major order, and the box around them.
struct Shape {
  Rect box;
  std::vector<Point> points;
  std::int64_t count() const { return static_cast<std::int64_t>(points.size()); }
  bool has(const Point& point) const {
    return std::find(points.begin(), points.end(), point) != points.end();
  }
};

inline bool covers(const Shape& outer, const Shape& inner) {
  return std::all_of(inner.points.begin(), inner.points.end(),
                     [&](const Point& point) { return outer.has(point); });
}

inline bool same(const Shape& a, const Shape& b) {
  return a.box.lower == b.box.lower && a.box.extents == b.box.extents && a.points == b.points;
}

inline Shape shape_of(const Rect& box) { return {box, points_of(box)}; }

// The union of boxes; without points it is at the origin.
inline Shape shape_of(const std::vector<Rect>& boxes, int dimensions) {
  std::map<std::vector<std::int64_t>, Point> sorted;
  for (const Rect& box : boxes) {
    for (const Point& point : points_of(box)) {
      sorted[{point.coordinates().begin(), point.coordinates().end()}] = point;
    }
  }
  Shape shape{{Point::zeros(dimensions), Point::zeros(dimensions)}, {}};
  for (const auto& [coordinates, point] : sorted) shape.points.push_back(point);
  for (int d = 0; d < dimensions && !sorted.empty(); ++d) {
    std::int64_t least = INT64_MAX, most = INT64_MIN;
    for (const Point& point : shape.points) {
      least = std::min(least, point[d]);
      most = std::max(most, point[d]);
    }
    shape.box.lower[d] = least;
    shape.box.extents[d] = most - least + 1;
  }
  return shape;
}

// Whether pieces of the region may have holes.
inline bool has_holes(const app::Data& data, std::uint32_t region) {
  return std::any_of(data.partitions.begin(), data.partitions.end(), [&](const auto& partition) {
    return partition.region == region && partition.by_boxes;
  });
}

inline Shape shape_of(const app::Data& data, const app::Partition& partition, const Point& color,
                      app::FormulaFault& fault) {
  if (!has_holes(data, partition.region)) {
    return shape_of(app::bounds_of_piece(data, partition, color, fault));
  }
  return shape_of(app::boxes_of_piece(data, partition, color, fault).boxes(),
                  data.regions[partition.region].box.dimensions());
}

inline bool without_exact(LayoutSpec a, LayoutSpec b) {
  a.exact = b.exact = false;
  return a == b;
}

// What a layout asks of addresses; 1: nothing.
inline std::int64_t asked_alignment(const LayoutSpec& layout) {
  const std::int64_t to = layout.align_bytes;
  if (layout.align_op == AlignOp::kEq || layout.align_op == AlignOp::kGe) return to;
  if (layout.align_op == AlignOp::kGt) return 2 * to;
  return layout.align_op == AlignOp::kNe && to == 1 ? 2 : 1;
}

// What its address is a multiple of, in an instance with that layout.
inline std::int64_t alignment(const AppField& field, const LayoutSpec& layout) {
  std::int64_t multiple = asked_alignment(layout);
  if (multiple > 1) return multiple;
  while (field.bytes % (2 * multiple) == 0) multiple *= 2;
  return multiple;
}

// Arrays of so many elements of these fields: the largest come first.
inline std::int64_t bytes_of(std::vector<AppField> fields, std::int64_t elements,
                             const LayoutSpec& layout) {
  std::stable_sort(fields.begin(), fields.end(),
                   [](const AppField& a, const AppField& b) { return a.bytes > b.bytes; });
  std::int64_t end = 0;
  for (const AppField& field : fields) {
    while (end % alignment(field, layout) != 0) ++end;
    end += field.bytes * elements;
  }
  return end;
}

// From one point to the next where its fields are together.
inline std::int64_t point_bytes(const std::vector<AppField>& fields, const LayoutSpec& layout) {
  std::int64_t bytes = bytes_of(fields, 1, layout);
  for (const AppField& field : fields) {
    while (bytes % alignment(field, layout) != 0) ++bytes;
  }
  return bytes;
}

inline std::int64_t row_major(const Rect& box, const Point& point) {
  std::int64_t at = 0;
  for (int d = 0; d < point.dimensions(); ++d) at = at * box.extents[d] + point[d] - box.lower[d];
  return at;
}

// ---- What waits for what

struct Task;

struct Job {
  enum class Kind { kTask, kCopy, kFuture } kind = Kind::kTask;
  bool done = false, released = false;
  std::set<Job*> missing;
  std::vector<Job*> waiting;  // in the order in which they began to wait
  // A task or the task that the copy or future is for.
  Task* task = nullptr;
  std::size_t copy = 0;
};

inline void wait_for(Job* job, Job* on) {
  if (on == nullptr || on == job || on->done) return;
  if (!job->missing.insert(on).second) return;
  on->waiting.push_back(job);
}

// ---- Data

struct Instance {
  std::int64_t number = 0;
  std::uint32_t region = 0;
  Memory memory;
  Shape shape;
  std::set<std::uint32_t> fields;
  LayoutSpec layout;
  bool reduction = false, alive = true;
  std::int64_t bytes = 0;
  int users = 0;
  CollectPriority priority = 0;
  std::int64_t mapped = 0;  // when last, counted
};

// One field of one point.
struct Datum {
  struct Held {
    bool valid = false;
    Job* there = nullptr;     // after which it is there
    std::vector<Job*> users;  // that use it since
  };
  std::map<Instance*, Held> held;
  struct Pending {
    Instance* instance;
    std::vector<Job*> reducers;
  };
  std::vector<Pending> pending;
  // The last index launch that read or reduced, that wrote, and its points that did.
  struct Touched {
    std::int64_t launch = 0;
    std::set<Task*> points;
  } read, written;
};

struct Copy {
  Job job;
  Instance* from = nullptr;
  Instance* to = nullptr;
  bool fold = false;
  std::int64_t bytes = 0;
  Task* task = nullptr;
  Time mapped = 0;
};

// ---- Tasks

// What a task does when it runs, one after the other: its body with loops written out.
struct Step {
  enum class What { kLaunch, kPhase, kPhaseEnd, kWaitAll, kWaitFuture, kTrace, kFault } what;
  const app::Launch* launch = nullptr;
  std::vector<std::int64_t> frame = {};
  bool replay = false;
  std::size_t number = 0;  // of the phase or future
};

struct Requirement {
  const app::RequirementData* where = nullptr;
  std::optional<Point> color;
  std::optional<Shape> shape;  // none: not described
  std::vector<std::uint32_t> fields;
};

struct Task {
  Job job;
  std::uint32_t number = 0;
  const app::Launch* launch = nullptr;
  std::int64_t launch_number = 0;
  std::size_t launch_of_parent = 0;  // of left_of_launch
  Task* parent = nullptr;
  int depth = 0;
  Point point;
  LaunchDomain domain;
  std::vector<std::int64_t> arguments;
  std::vector<Requirement> requirements;
  Processor processor;
  bool replay = false;
  bool wants_valid = false, stealable = false;
  Time arrives = 0;  // stolen from another node
  VariantId shard_variant = 0;
  ShardTable shards;
  // Mapped.
  bool is_mapped = false;
  VariantId variant = 0;
  std::vector<Instance*> instances;
  int priority = 0;
  bool report = false;
  Time created = 0, mapped = 0, ready = 0, started = 0;
  std::vector<Memory> streams;
  // Running, and launching.
  bool launches = false, ran = false, issued = false, told = false;
  std::vector<Step> steps;
  std::size_t step = 0;
  enum class Blocked { kNo, kAll, kFuture, kData, kMapping, kWindow } blocked = Blocked::kNo;
  std::size_t awaited = 0;
  std::vector<Time> phases_began;
  std::map<std::size_t, Job*> futures;
  int children = 0;  // not over
  // How many tasks of each launch with tasks are not over, and the limits on launches in flight.
  std::vector<std::int64_t> left_of_launch;
  // When each launch that is not in flight left the window, and how many of them no longer count
  // whenever they left.
  std::vector<Time> left_at;
  std::int64_t not_counted = 0;
  ContextConfigOutput config;
  int mapping = 0;  // of the last launch, not mapped
  Time mapping_ends = 0;
  std::vector<Task*> inner;  // children with a body, not mapped to the end
  int unmapped = 0;          // children not mapped to the end
  // Its view, for what it launches.
  TaskView view;
  std::vector<RequirementView> view_requirements;
};

struct Station {
  std::unique_ptr<Mapper> mapper;
  std::vector<std::tuple<int, std::int64_t, Task*>> ready;  // priority, turn
  bool busy = false;
  int load = 0;
  std::vector<Task*> unmapped;
};

using Lane = std::tuple<std::int64_t, std::string, std::int64_t, bool>;
struct Way {
  std::set<Lane> lanes;
  double latency = 0, seconds_per_byte = 0;
};

// An instance that is wanted: to hold `needs` of these fields, made of `shape` and `new_fields`.
struct Wanted {
  std::uint32_t region = 0;
  Shape needs, shape;
  std::set<std::uint32_t> fields, new_fields;
  Memory memory;
  LayoutSpec layout;
  bool reduces = false;
  CollectPriority priority = 0;
};

class Runtime final : public MapperRuntime {
 public:
  Runtime(const app::Data& data, std::shared_ptr<const Machine> machine, const MapperFactory& make,
          const SimulateOptions& options)
      : data_(data),
        machine_(std::move(machine)),
        make_(make),
        options_(options),
        costs_(options.costs.value_or(data.runtime.value_or(RuntimeCosts{}))) {}

  RunResult run();

  std::optional<FoundInstance> find_instance(const InstanceRequest& request) override;
  std::optional<FoundInstance> create_instance(const InstanceRequest& request) override;
  bool acquire_instance(InstanceId instance) override;
  void release_instance(InstanceId instance) override;
  bool collect_instance(InstanceId instance) override;
  void set_collect_priority(InstanceId instance, CollectPriority priority) override;
  std::int64_t free_bytes(const Memory& memory) override {
    if (memory.node < 0 || memory.node >= machine_->node_count()) return -1;
    const MemoryGroup* group = machine_->node(memory.node).find(memory.kind);
    if (group == nullptr || memory.index < 0 || memory.index >= group->count) return -1;
    return group->capacity_bytes == 0 ? -1 : room(memory);
  }
  MapperEvent create_event() override {
    triggered_.push_back(false);
    return triggered_.size();
  }
  void trigger_event(MapperEvent event) override {
    if (event == 0 || event > triggered_.size()) return;
    triggered_[event - 1] = true;
    for (const Processor& processor : deferred_[event]) {
      at(now_, [this, processor] { select(processor); });
    }
    deferred_[event].clear();
  }
  bool send_message(const Processor& target, std::uint32_t kind,
                    std::span<const std::byte> message) override {
    at(now_, [this, from = speaking_, target, kind,
              bytes = std::vector<std::byte>(message.begin(), message.end())] {
      mapper(target).handle_message(*this, from, kind, bytes);
    });
    return true;
  }

 private:
  const app::Data& data_;
  std::shared_ptr<const Machine> machine_;
  const MapperFactory& make_;
  const SimulateOptions& options_;
  const RuntimeCosts costs_;

  std::map<std::pair<Time, std::int64_t>, std::function<void()>> agenda_;
  std::int64_t turn_ = 0;
  Time now_ = 0;
  std::deque<Job*> became_ready_;
  std::deque<Task> tasks_;
  std::deque<Job> futures_;
  std::deque<Copy> copies_;
  std::deque<Instance> instances_;
  std::map<std::tuple<std::uint32_t, std::int64_t, std::uint32_t>, Datum> data_of_;
  std::map<std::tuple<std::int64_t, ProcKind, std::int64_t>, Station> stations_;
  std::map<std::int64_t, Time> mapping_until_;  // by node
  std::map<std::tuple<std::int64_t, MemKind, std::int64_t>, std::int64_t> used_, peak_, streaming_;
  std::map<Lane, std::vector<std::pair<Time, Time>>> lanes_;  // when they are taken
  std::map<MapperEvent, std::vector<Processor>> deferred_;
  std::vector<bool> triggered_;
  std::map<std::size_t, Time> phase_time_;
  std::int64_t launches_ = 0, launched_ = 0, mappings_ = 0;
  int alive_ = 0;
  std::vector<std::vector<VariantView>> variants_;
  std::deque<std::vector<std::string_view>> names_;
  std::deque<std::vector<FieldView>> fields_;
  std::deque<std::vector<FieldId>> field_ids_;
  bool mapping_now_ = false;
  std::vector<Instance*> held_;  // by the task that is being mapped
  Processor speaking_;           // whose mapper was called last
  RunResult result_;
  std::shared_ptr<RunRecord> record_ = std::make_shared<RunRecord>();

  void at(Time time, std::function<void()> what) {
    agenda_.emplace(std::pair(time, turn_++), std::move(what));
  }
  [[noreturn]] static void cannot() { throw Failed{RunStatus::kExecuteError, DiagId::kCannotRun}; }
  static void check(const std::vector<Refusal>& refusals) {
    if (!refusals.empty()) throw Failed{RunStatus::kMapError, refusals.front().diagnostic.id};
  }
  static std::tuple<std::int64_t, ProcKind, std::int64_t> key(const Processor& p) {
    return {p.node, p.kind, p.index};
  }
  static std::tuple<std::int64_t, MemKind, std::int64_t> key(const Memory& m) {
    return {m.node, m.kind, m.index};
  }
  Station& station(const Processor& p) { return stations_[key(p)]; }
  Mapper& mapper(const Processor& p) {
    Station& at = station(p);
    if (!at.mapper) at.mapper = make_(p);
    speaking_ = p;
    return *at.mapper;
  }
  const MemoryGroup& group(const Memory& m) const { return *machine_->node(m.node).find(m.kind); }
  std::int64_t room(const Memory& m) { return group(m).capacity_bytes - used_[key(m)]; }
  std::int32_t number(const Processor& wanted) const;
  std::int32_t number(const Memory& wanted) const;
  const app::Task& what(const Task& task) const { return data_.tasks[task.number]; }
  const app::Variant& variant(const Task& task) const {
    return what(task).variants[task.variant - 1];
  }

  // Views.
  TaskView view_of_launch(std::uint32_t task, const app::Launch* launch,
                          std::vector<RequirementView>& requirements);
  TaskView view_of(const Task& task, std::vector<RequirementView>& requirements);

  // Launching.
  void launch_top();
  // How many launches of the task are in flight: those from the first one that is not over.
  static std::int64_t in_flight(const Task& task);
  // How many count as in flight for the task: also those that left the window just now.
  std::int64_t counted(const Task& task) const;
  static std::int64_t resume_at(const Task& task);
  // Lets the task wait if its window is full.
  bool waits_for_window(Task& task);
  void write_out(const app::Body& body, std::vector<std::int64_t>& frame, bool replay,
                 std::vector<Step>& steps);
  void go_on(Task& task);
  bool keeps_back(const Task& earlier, const app::Launch& launch) const;
  void launch(Task& parent, const Step& step);
  PointSet chosen_points(const app::Launch& launch, const Rect& box,
                         std::vector<std::int64_t> frame);
  void cut_part(const Processor& by, const TaskView& view, const std::vector<Rect>& boxes,
                std::vector<TaskSlice>& slices);
  void cut(const Processor& by, const TaskView& view, const Rect& part,
           std::vector<TaskSlice>& slices);
  void place(Task& task, std::vector<std::int64_t> frame);
  bool in_the_way(const Task& task, std::size_t a, std::size_t b) const;
  void mapped_to_the_end(Task& task);
  void look_at_end(Task& task);

  // Mapping.
  void select(const Processor& processor);
  std::vector<Processor> all_processors() const;
  bool is_idle(const Processor& p) { return station(p).load == 0 && station(p).unmapped.empty(); }
  std::vector<Task*> may_steal(const Processor& thief, const Processor& victim);
  void steal(const Processor& thief);
  void all_steal();
  void map(Task& task);
  void map_requirement(Task& task, const TaskView& view, const InstanceChoice& choice,
                       std::size_t position, std::vector<Copy*>& copies);
  Shape chosen_shape(const Task& task, const InstanceChoice& choice,
                     const InstanceCandidate& candidate, const Requirement& requirement) const;
  Instance* find(const Wanted& wanted);
  Instance* make(const Wanted& wanted);
  std::optional<Wanted> wanted(const InstanceRequest& request);
  std::optional<FoundInstance> hand_out(Instance* instance, bool created);
  Instance* of(InstanceId id);
  void hold(Instance& instance);
  Instance& named(const Task& task, const MapTaskOutput& choice, std::size_t position);
  Memory nearest(const Processor& p, MemKind kind) const;
  bool make_room(const Memory& memory, std::int64_t bytes);
  bool needed(Instance& instance);
  void remove(Instance& instance);
  void release(Instance& instance);
  template <typename Use>
  void each_datum(std::uint32_t region, const Shape& shape,
                  const std::vector<std::uint32_t>& fields, const Use& use);
  InstanceView view_of(const Instance& instance);
  void touch(Task& task, const Requirement& requirement, Privilege privilege, Coherence coherence);
  void use(Task& task, const TaskView& view, const Requirement& requirement, Privilege privilege,
           Coherence coherence, bool untracked, Instance& target, std::vector<Copy*>& copies);
  void wait(Job* job, Job* on, const Task& task);

  // Running.
  void settle();
  void release(Job* job) {
    job->released = true;
    if (job->missing.empty()) became_ready_.push_back(job);
  }
  void done(Job* job);
  void ready(Job* job);
  void start_copy(Copy& copy);
  std::optional<Way> hop(const Memory& from, const Memory& to) const;
  std::optional<Way> way(const Memory& from, const Memory& to) const;
  void start_next(const Processor& processor);
  void start(Task& task);
  double seconds(Task& task);
  void end(Task& task);
  void over(Task& task);
};

}  // namespace groma::testing::obvious
