#include "support/obvious_runtime.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "app/data.h"

namespace groma::testing {
namespace {

using Time = RunTime;

Time picoseconds(double seconds) {
  const double time = seconds / 1e-12;
  if (!(time > 0)) return 0;
  return time >= 0x1p60 ? Time{1} << 60 : static_cast<Time>(std::llround(time));
}

// Thrown where a run cannot go on.
struct Failed {
  RunStatus status;
  DiagId id;
};

std::vector<Point> points_of(const Rect& box) {
  std::vector<Point> points;
  if (box.volume() == 0) return points;
  Point point = box.lower;
  do points.push_back(point);
  while (next_point(box, &point));
  return points;
}

bool covers(const Rect& outer, const Rect& inner) {
  for (const Point& point : points_of(inner)) {
    if (!outer.contains(point)) return false;
  }
  return true;
}

bool same(const Rect& a, const Rect& b) { return a.lower == b.lower && a.extents == b.extents; }

bool without_exact(LayoutSpec a, LayoutSpec b) {
  a.exact = b.exact = false;
  return a == b;
}

std::int64_t row_major(const Rect& box, const Point& point) {
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

void wait_for(Job* job, Job* on) {
  if (on == nullptr || on == job || on->done) return;
  if (!job->missing.insert(on).second) return;
  on->waiting.push_back(job);
}

// ---- Data

struct Instance {
  std::int64_t number = 0;
  std::uint32_t region = 0;
  Memory memory;
  Rect box;
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
  enum class What { kLaunch, kPhase, kPhaseEnd, kWaitAll, kWaitFuture, kFault } what;
  const app::Launch* launch = nullptr;
  std::vector<std::int64_t> frame = {};
  bool replay = false;
  std::size_t number = 0;  // of the phase or future
};

struct Requirement {
  const app::Where* where = nullptr;
  std::optional<Point> color;
  std::optional<Rect> box;  // none: not described
  std::vector<std::uint32_t> fields;
};

struct Task {
  Job job;
  std::uint32_t number = 0;
  const app::Launch* launch = nullptr;
  std::int64_t launch_number = 0;
  Task* parent = nullptr;
  int depth = 0;
  Point point;
  Rect domain;
  std::vector<std::int64_t> arguments;
  std::vector<Requirement> requirements;
  Processor processor;
  bool replay = false;
  bool wants_valid = false;
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
  enum class Blocked { kNo, kAll, kFuture, kData, kMapping } blocked = Blocked::kNo;
  std::size_t awaited = 0;
  std::vector<Time> phases_began;
  std::map<std::size_t, Job*> futures;
  int children = 0;  // not over
  int mapping = 0;   // of the last launch, not mapped
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

class Runtime final : public MapperRuntime {
 public:
  Runtime(const app::Data& data, std::shared_ptr<const Machine> machine, const MapperFactory& make,
          const SimulateOptions& options)
      : data_(data), machine_(std::move(machine)), make_(make), options_(options) {}

  RunResult run();

  Capabilities capabilities() const override {
    Capabilities can;
    can.stealing = can.instances = false;
    return can;
  }
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

 private:
  const app::Data& data_;
  std::shared_ptr<const Machine> machine_;
  const MapperFactory& make_;
  const SimulateOptions& options_;

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
  std::map<Lane, Time> lanes_;
  std::map<MapperEvent, std::vector<Processor>> deferred_;
  std::vector<bool> triggered_;
  std::map<std::size_t, Time> phase_time_;
  std::int64_t launches_ = 0, launched_ = 0, mappings_ = 0;
  int alive_ = 0;
  std::vector<std::vector<VariantView>> variants_;
  std::deque<std::vector<std::string_view>> names_;
  std::deque<std::vector<FieldView>> fields_;
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
  void write_out(const app::Body& body, std::vector<std::int64_t>& frame, bool replay,
                 std::vector<Step>& steps);
  void go_on(Task& task);
  bool keeps_back(const Task& earlier, const app::Launch& launch) const;
  void launch(Task& parent, const Step& step);
  void cut(const Processor& by, const TaskView& view, const Rect& part,
           std::vector<TaskSlice>& slices);
  void place(Task& task, std::vector<std::int64_t> frame);
  void mapped_to_the_end(Task& task);
  void look_at_end(Task& task);

  // Mapping.
  void select(const Processor& processor);
  void map(Task& task);
  void map_requirement(Task& task, const TaskView& view, const RequirementWish& wish,
                       std::size_t position, std::vector<Copy*>& copies);
  Rect wished_box(const Task& task, const RequirementWish& wish, const InstanceWish& candidate,
                  const Requirement& requirement) const;
  Instance* find_or_make(const Requirement& requirement, const RequirementWish& wish,
                         const InstanceWish& candidate, const Memory& memory, const Rect& box,
                         bool reduces);
  bool make_room(const Memory& memory, std::int64_t bytes);
  bool needed(Instance& instance);
  void remove(Instance& instance);
  void release(Instance& instance);
  template <typename Use>
  void each_datum(std::uint32_t region, const Rect& box, const std::vector<std::uint32_t>& fields,
                  const Use& use);
  InstanceView view_of(const Instance& instance) const;
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

std::int32_t Runtime::number(const Processor& wanted) const {
  std::int32_t n = 0;
  for (std::int64_t node = 0; node < machine_->node_count(); ++node) {
    for (std::size_t k = 0; k < kProcKindCount; ++k) {
      const auto kind = static_cast<ProcKind>(k);
      for (std::int64_t i = 0; i < machine_->processor_count(node, kind); ++i, ++n) {
        if (wanted == Processor{kind, node, i}) return n;
      }
    }
  }
  return -1;
}

std::int32_t Runtime::number(const Memory& wanted) const {
  std::int32_t n = 0;
  for (std::int64_t node = 0; node < machine_->node_count(); ++node) {
    for (std::size_t k = 0; k < kMemKindCount; ++k) {
      const auto kind = static_cast<MemKind>(k);
      const MemoryGroup* group = machine_->node(node).find(kind);
      if (group == nullptr || group->capacity_bytes == 0) continue;
      for (std::int64_t i = 0; i < group->count; ++i, ++n) {
        if (wanted == Memory{kind, node, i}) return n;
      }
    }
  }
  return -1;
}

// ---- The run

RunResult Runtime::run() {
  for (const app::Task& task : data_.tasks) {
    std::vector<VariantView>& views = variants_.emplace_back();
    for (const app::Variant& variant : task.variants) {
      VariantView view;
      view.id = static_cast<VariantId>(views.size() + 1);
      view.kind = variant.kind;
      view.leaf = variant.leaf;
      view.inner = variant.inner;
      view.replicable = variant.replicable;
      view.demands = variant.demands;
      views.push_back(view);
    }
  }
  try {
    launch_top();
    settle();
    while (!agenda_.empty()) {
      const auto next = agenda_.extract(agenda_.begin());
      now_ = next.key().first;
      next.mapped()();
      settle();
    }
    if (alive_ > 0) cannot();
  } catch (const Failed& failed) {
    result_.status = failed.status;
    Diagnostic diagnostic;
    diagnostic.id = failed.id;
    result_.refusals.push_back({diagnostic, {}});
  }
  const Time counted =
      data_.metric_phase < 0 ? now_ : phase_time_[static_cast<std::size_t>(data_.metric_phase)];
  result_.total_seconds = static_cast<double>(now_) * kPicosecond;
  result_.seconds = static_cast<double>(counted) * kPicosecond;
  record_->end = now_;
  for (std::int64_t node = 0; node < machine_->node_count(); ++node) {
    for (std::size_t k = 0; k < kMemKindCount; ++k) {
      const auto kind = static_cast<MemKind>(k);
      const MemoryGroup* group = machine_->node(node).find(kind);
      if (group == nullptr || group->capacity_bytes == 0) continue;
      for (std::int64_t i = 0; i < group->count; ++i) {
        const Memory memory{kind, node, i};
        record_->memories.push_back(
            {std::string(name_of(kind)), node, i, group->capacity_bytes, peak_[key(memory)]});
      }
    }
  }
  result_.record = record_;
  return std::move(result_);
}

// ---- Views

TaskView Runtime::view_of_launch(std::uint32_t number, const app::Launch* launch,
                                 std::vector<RequirementView>& requirements) {
  const app::Task& task = data_.tasks[number];
  requirements.clear();
  for (std::size_t r = 0; r < task.requirements.size(); ++r) {
    const app::Requirement& requirement = task.requirements[r];
    const app::Where& where = launch == nullptr ? requirement.data : launch->data[r];
    auto& names = names_.emplace_back(where.names.begin(), where.names.end());
    auto& fields = fields_.emplace_back();
    for (std::size_t f = 0; f < requirement.fields.size(); ++f) {
      const AppField& field = requirement.fields[f];
      fields.push_back({static_cast<FieldId>(where.fields.empty() ? f : where.fields[f]),
                        field.bytes, field.name});
    }
    RequirementView view;
    view.aliases = names;
    view.region_dimensions = requirement.dimensions;
    view.privilege = requirement.privilege;
    view.coherence = requirement.coherence;
    view.reduction = requirement.privilege == Privilege::kReduce ? 1 : 0;
    view.fields = fields;
    view.parent = where.region + 1;
    const bool index = launch != nullptr && launch->is_index;
    if (where.what == app::Where::What::kPartition) {
      view.partition = where.index + 1;
      view.projection = index ? Projection::kPartition : Projection::kSingle;
    } else {
      view.region = where.region + 1;
      view.projection = index ? Projection::kRegion : Projection::kSingle;
    }
    requirements.push_back(view);
  }
  TaskView view;
  view.id = number + 1;
  view.name = task.name;
  view.variants = variants_[number];
  view.requirements = requirements;
  if (launch != nullptr && launch->same_address_space) view.tag = kTagSameAddressSpace;
  return view;
}

TaskView Runtime::view_of(const Task& task, std::vector<RequirementView>& requirements) {
  TaskView view = view_of_launch(task.number, task.launch, requirements);
  for (std::size_t r = 0; r < requirements.size(); ++r) {
    const Requirement& requirement = task.requirements[r];
    if (!requirement.box) continue;
    requirements[r].points = requirement.box->volume();
    if (!requirement.color) continue;
    const app::Partition& partition = data_.partitions[requirement.where->index];
    requirements[r].region =
        (std::uint64_t{requirement.where->index} + 1) << 40 |
        static_cast<std::uint64_t>(row_major(partition.colors, *requirement.color));
  }
  view.current = task.processor;
  view.point = task.point;
  view.shard_variant = task.shard_variant;
  view.depth = task.depth;
  if (task.parent == nullptr) return view;
  view.parent = &task.parent->view;
  view.is_index = task.launch->is_index;
  view.domain = view.sharding_domain = task.domain;
  return view;
}

InstanceView Runtime::view_of(const Instance& instance) const {
  InstanceView view;
  view.id = static_cast<InstanceId>(instance.number) + 1;
  view.memory = instance.memory;
  view.region = instance.region + 1;
  view.layout = instance.layout;
  view.reduction = instance.reduction ? 1 : 0;
  view.bytes = instance.bytes;
  return view;
}

// ---- Launching

void Runtime::launch_top() {
  if (data_.top_level < 0) cannot();
  Task& task = tasks_.emplace_back();
  ++alive_;
  task.job.task = &task;
  task.number = static_cast<std::uint32_t>(data_.top_level);
  if (what(task).arguments > 0) cannot();
  std::optional<Processor> first;
  for (ProcKind kind : {ProcKind::kCpu, ProcKind::kOmp, ProcKind::kGpu, ProcKind::kProc,
                        ProcKind::kIo, ProcKind::kPy}) {
    for (const app::Variant& variant : what(task).variants) {
      for (std::int64_t node = 0; node < machine_->node_count() && !first; ++node) {
        if (variant.kind == kind && machine_->processor_count(node, kind) > 0) {
          first = Processor{kind, node, 0};
        }
      }
    }
  }
  if (!first) cannot();
  task.processor = *first;
  for (const app::Requirement& each : what(task).requirements) {
    Requirement& requirement = task.requirements.emplace_back();
    requirement.where = &each.data;
    requirement.fields = each.data.fields;
    if (each.data.what == app::Where::What::kRegion) {
      requirement.box = data_.regions[each.data.region].box;
    }
  }
  std::vector<RequirementView> requirements;
  TaskView view = view_of(task, requirements);
  TaskOptions options;
  mapper(task.processor).select_task_options(*this, view, options);
  check(validate(options, view, *machine_));
  task.processor = options.initial;
  if (options.replicate) {
    ReplicateAnswer answer;
    view = view_of(task, requirements);
    mapper(task.processor).replicate_task(*this, view, answer);
    check(validate(answer, view, *machine_));
    if (answer.processors.size() > 1) {
      task.shards = ShardTable(answer.processors);
      task.processor = answer.processors.front();
      task.shard_variant = answer.variant;
    }
  }
  map(task);
}

void Runtime::write_out(const app::Body& body, std::vector<std::int64_t>& frame, bool replay,
                        std::vector<Step>& steps) {
  for (const app::Statement& statement : body) {
    if (const auto* launch = std::get_if<app::Launch>(&statement.node)) {
      steps.push_back({Step::What::kLaunch, launch, frame, replay});
    } else if (const auto* loop = std::get_if<app::Loop>(&statement.node)) {
      app::FormulaFault fault = app::FormulaFault::kNone;
      const std::int64_t count = loop->count.value(frame, fault);
      if (fault != app::FormulaFault::kNone) {
        steps.push_back({Step::What::kFault});
        return;
      }
      for (std::int64_t i = 0; i < count; ++i) {
        if (loop->slot >= 0) frame[static_cast<std::size_t>(loop->slot)] = i;
        write_out(loop->body, frame, replay || (loop->traced && i > 0), steps);
      }
    } else if (const auto* phase = std::get_if<app::Phase>(&statement.node)) {
      steps.push_back({Step::What::kPhase});
      write_out(phase->body, frame, replay, steps);
      steps.push_back({Step::What::kPhaseEnd, nullptr, {}, false, phase->phase});
    } else {
      const int future = std::get<app::Wait>(statement.node).future;
      if (future < 0) {
        steps.push_back({Step::What::kWaitAll});
      } else {
        steps.push_back(
            {Step::What::kWaitFuture, nullptr, {}, false, static_cast<std::size_t>(future)});
      }
    }
  }
}

void Runtime::go_on(Task& task) {
  task.blocked = Task::Blocked::kNo;
  for (; task.step < task.steps.size(); ++task.step) {
    const Step& step = task.steps[task.step];
    switch (step.what) {
      case Step::What::kFault:
        cannot();
      case Step::What::kLaunch:
        for (const Task* earlier : task.inner) {
          if (!keeps_back(*earlier, *step.launch)) continue;
          task.blocked = Task::Blocked::kData;
          return;
        }
        ++task.step;
        return launch(task, step);
      case Step::What::kWaitFuture:
        if (const Job* future = task.futures[step.number]; future != nullptr && !future->done) {
          task.blocked = Task::Blocked::kFuture;
          task.awaited = step.number;
          return;
        }
        break;
      default:
        if (task.children > 0) {
          task.blocked = Task::Blocked::kAll;
          return;
        }
        if (step.what == Step::What::kPhase) task.phases_began.push_back(now_);
        if (step.what == Step::What::kPhaseEnd) {
          phase_time_[step.number] += now_ - task.phases_began.back();
          task.phases_began.pop_back();
        }
    }
  }
  task.issued = true;
  look_at_end(task);
}

bool Runtime::keeps_back(const Task& earlier, const app::Launch& launch) const {
  const auto& theirs = what(earlier).requirements;
  const auto& ours = data_.tasks[launch.task].requirements;
  for (std::size_t a = 0; a < theirs.size(); ++a) {
    for (std::size_t b = 0; b < ours.size(); ++b) {
      const app::Where &x = earlier.launch->data[a], &y = launch.data[b];
      if (x.what == app::Where::What::kUnknown || y.what == app::Where::What::kUnknown) continue;
      if (x.region != y.region) continue;
      const Privilege p = theirs[a].privilege, q = ours[b].privilege;
      if (p == Privilege::kNoAccess || q == Privilege::kNoAccess) continue;
      if (p == q && (p == Privilege::kReadOnly || p == Privilege::kReduce)) continue;
      for (std::uint32_t field : x.fields) {
        if (std::find(y.fields.begin(), y.fields.end(), field) != y.fields.end()) return true;
      }
    }
  }
  return false;
}

void Runtime::launch(Task& parent, const Step& step) {
  const app::Launch& launch = *step.launch;
  app::FormulaFault fault = app::FormulaFault::kNone;
  Rect domain;
  if (launch.is_index) {
    const auto found = app::domain_of(launch, step.frame, fault);
    if (!found) cannot();
    domain = *found;
  }
  if (domain.volume() > options_.max_tasks - launched_) cannot();
  launched_ += domain.volume();
  const std::int64_t launch_number = ++launches_;
  parent.mapping = static_cast<int>(domain.volume());
  parent.mapping_ends = now_;
  parent.blocked = Task::Blocked::kMapping;
  Job* future = nullptr;
  if (launch.gives >= 0) {
    future = &futures_.emplace_back();
    future->kind = Job::Kind::kFuture;
    future->task = &parent;
  }
  std::vector<TaskSlice> slices;
  TaskOptions options;
  if (domain.volume() > 0) {
    std::vector<RequirementView> requirements;
    TaskView view = view_of_launch(launch.task, &launch, requirements);
    view.parent = &parent.view;
    view.depth = parent.depth + 1;
    view.current = parent.processor;
    view.is_index = launch.is_index;
    view.domain = view.sharding_domain = domain;
    if (!launch.is_index) view.point = parent.point;
    mapper(parent.processor).select_task_options(*this, view, options);
    check(validate(options, view, *machine_));
    view.current = options.initial;
    if (!launch.is_index) {
      slices.push_back({Rect{}, options.initial});
    } else if (parent.shards.size() == 0) {
      cut(parent.processor, view, domain, slices);
    } else {
      const ShardingId id =
          mapper(parent.processor).select_sharding_functor(*this, view, parent.shards);
      const auto functors = mapper(parent.processor).sharding_functors();
      if (id > functors.size()) cannot();
      const CyclicSharding cyclic;
      const ShardingFunctor& functor = id == kCyclicSharding ? cyclic : *functors[id - 1];
      for (ShardId shard = 0; shard < parent.shards.size(); ++shard) {
        std::vector<Rect> boxes;
        functor.boxes_of(shard, domain, parent.shards,
                         [&](const Rect& box) { boxes.push_back(box); });
        for (const Rect& box : boxes) cut(parent.shards[shard], view, box, slices);
      }
    }
  }
  std::vector<Task*> points;
  for (const TaskSlice& slice : slices) {
    const std::vector<Point> all =
        launch.is_index ? points_of(slice.box) : std::vector<Point>{parent.point};
    for (const Point& point : all) {
      Task& task = tasks_.emplace_back();
      ++alive_;
      task.job.task = &task;
      task.number = launch.task;
      task.launch = &launch;
      task.launch_number = launch_number;
      task.parent = &parent;
      task.depth = parent.depth + 1;
      task.point = point;
      task.domain = domain;
      task.processor = slice.processor;
      task.replay = step.replay;
      task.wants_valid = options.valid_instances;
      task.created = now_;
      place(task, step.frame);
      if (future != nullptr) wait_for(future, &task.job);
      points.push_back(&task);
      if (!what(task).body.empty()) parent.inner.push_back(&task);
      ++parent.children;
      ++parent.unmapped;
    }
  }
  for (Task* task : points) {
    for (std::uint32_t taken : launch.takes) wait_for(&task->job, parent.futures[taken]);
  }
  if (future != nullptr) {
    parent.futures[static_cast<std::size_t>(launch.gives)] = future;
    release(future);
  }
  std::vector<Processor> asked;
  for (Task* task : points) {
    if (!mapper(task->processor).selects()) {
      map(*task);
      continue;
    }
    station(task->processor).unmapped.push_back(task);
    if (std::find(asked.begin(), asked.end(), task->processor) == asked.end()) {
      asked.push_back(task->processor);
    }
  }
  for (const Processor& processor : asked) select(processor);
  if (points.empty()) at(now_ + picoseconds(options_.costs.issue_s), [&] { go_on(parent); });
}

void Runtime::cut(const Processor& by, const TaskView& view, const Rect& part,
                  std::vector<TaskSlice>& slices) {
  SliceAnswer answer;
  mapper(by).slice_task(*this, view, part, answer);
  check(validate(answer, view, part, *machine_));
  for (const TaskSlice& slice : answer.slices) {
    if (slice.recurse) {
      cut(slice.processor, view, slice.box, slices);
    } else {
      slices.push_back(slice);
    }
  }
}

void Runtime::place(Task& task, std::vector<std::int64_t> frame) {
  const app::Launch& launch = *task.launch;
  for (int d = 0; launch.is_index && d < task.point.dimensions(); ++d) {
    frame[static_cast<std::size_t>(launch.point_slot + d)] = task.point[d];
  }
  app::FormulaFault fault = app::FormulaFault::kNone;
  for (const app::Code& code : launch.arguments) {
    task.arguments.push_back(code.value(frame, fault));
  }
  for (const app::Where& where : launch.data) {
    Requirement& requirement = task.requirements.emplace_back();
    requirement.where = &where;
    requirement.fields = where.fields;
    if (where.what == app::Where::What::kUnknown) continue;
    if (where.what == app::Where::What::kRegion) {
      requirement.box = data_.regions[where.region].box;
      continue;
    }
    Point color = task.point;
    if (where.from != app::Where::Color::kPoint) {
      std::vector<std::int64_t> coordinates;
      for (const app::Code& code : where.color) {
        const bool in_frame = where.from == app::Where::Color::kFrame;
        coordinates.push_back(code.value(in_frame ? frame : task.arguments, fault));
      }
      color = Point(coordinates);
    }
    const app::Partition& partition = data_.partitions[where.index];
    if (!partition.colors.contains(color)) cannot();
    requirement.color = color;
    requirement.box = app::piece(data_, partition, color, fault);
  }
  if (fault != app::FormulaFault::kNone) cannot();
}

// The task, with all that it launches.
void Runtime::mapped_to_the_end(Task& task) {
  Task* const parent = task.parent;
  if (parent == nullptr) return;
  --parent->unmapped;
  std::erase(parent->inner, &task);
  const bool last = std::none_of(parent->inner.begin(), parent->inner.end(), [&](Task* each) {
    return each->launch_number == task.launch_number;
  });
  if (task.launches && last && parent->blocked == Task::Blocked::kData) {
    parent->blocked = Task::Blocked::kNo;
    at(now_, [this, parent] { go_on(*parent); });
  }
  if (parent->issued && parent->unmapped == 0 && !parent->told) {
    parent->told = true;
    mapped_to_the_end(*parent);
  }
}

void Runtime::look_at_end(Task& task) {
  if (!task.issued) return;
  if (task.unmapped == 0 && !task.told) {
    task.told = true;
    mapped_to_the_end(task);
  }
  if (task.children == 0 && task.ran) over(task);
}

// ---- Mapping

void Runtime::select(const Processor& processor) {
  std::vector<Task*> waiting;
  waiting.swap(station(processor).unmapped);
  if (waiting.empty()) return;
  std::vector<std::vector<RequirementView>> requirements(waiting.size());
  std::vector<TaskView> views;
  for (std::size_t i = 0; i < waiting.size(); ++i) {
    views.push_back(view_of(*waiting[i], requirements[i]));
  }
  ScheduleAnswer answer;
  mapper(processor).select_tasks_to_map(*this, views, answer);
  check(validate(answer, views, *machine_));
  std::set<std::size_t> taken(answer.map.begin(), answer.map.end());
  for (const auto& move : answer.relocate) taken.insert(move.task);
  for (std::size_t i = 0; i < waiting.size(); ++i) {
    if (!taken.contains(i)) station(processor).unmapped.push_back(waiting[i]);
  }
  if (!station(processor).unmapped.empty()) {
    if (taken.empty() && (answer.deferral == 0 || answer.deferral > triggered_.size())) cannot();
    if (taken.empty() && !triggered_[answer.deferral - 1]) {
      deferred_[answer.deferral].push_back(processor);
    } else {
      at(now_, [this, processor] { select(processor); });
    }
  }
  for (std::uint32_t i : answer.map) map(*waiting[i]);
  for (const auto& move : answer.relocate) {
    Task& task = *waiting[move.task];
    task.processor = move.processor;
    station(task.processor).unmapped.push_back(&task);
    at(now_, [this, there = task.processor] { select(there); });
  }
}

void Runtime::map(Task& task) {
  Task* const parent = task.parent;
  const bool remote = parent != nullptr && parent->shards.size() == 0 &&
                      parent->processor.node != task.processor.node;
  const Time arrives = now_ + (remote ? picoseconds(options_.costs.remote_s) : 0);
  Time& until = mapping_until_[task.processor.node];
  until = std::max(until, arrives) +
          picoseconds(task.replay ? options_.costs.replay_s : options_.costs.map_s);
  task.mapped = until;

  std::vector<RequirementView> requirements;
  const TaskView view = view_of(task, requirements);
  std::vector<std::vector<InstanceView>> holding(requirements.size());
  const bool reads = task.wants_valid && mapper(task.processor).reads_valid();
  for (std::size_t r = 0; r < requirements.size() && reads; ++r) {
    const Requirement& requirement = task.requirements[r];
    if (!requirement.box || requirements[r].empty()) continue;
    std::optional<std::set<std::int64_t>> all;
    each_datum(requirement.where->region, *requirement.box, requirement.fields,
               [&](Datum& datum, std::int64_t) {
                 std::set<std::int64_t> here;
                 for (const auto& [instance, held] : datum.held) {
                   if (held.valid && (!all || all->contains(instance->number))) {
                     here.insert(instance->number);
                   }
                 }
                 all = here;
               });
    if (!all) continue;
    for (std::int64_t n : *all) {
      holding[r].push_back(view_of(instances_[static_cast<std::size_t>(n)]));
    }
  }
  const std::vector<std::span<const InstanceView>> valid(holding.begin(), holding.end());
  TaskWish wish;
  mapper(task.processor).map_task(*this, view, valid, wish);
  check(validate(wish, view, *machine_));
  if (wish.abort_mapping) cannot();
  task.processor = wish.processors.front();
  for (const Processor& processor : wish.processors) {
    if (station(processor).load < station(task.processor).load) task.processor = processor;
  }
  task.variant = wish.variant;
  task.priority = wish.task_priority;
  task.report = wish.task_profiling.any();
  task.launches = !variant(task).leaf && !what(task).body.empty();
  std::vector<Copy*> copies;
  for (std::size_t r = 0; r < requirements.size(); ++r) {
    map_requirement(task, view, wish.requirements[r], r, copies);
  }
  for (Copy* copy : copies) copy->mapped = task.mapped + picoseconds(options_.costs.copy_s);
  for (Copy* copy : copies) release(&copy->job);
  ++station(task.processor).load;
  release(&task.job);
  task.is_mapped = true;
  if (parent == nullptr) return;
  parent->mapping_ends = std::max(parent->mapping_ends, task.mapped);
  if (!task.launches) {
    --parent->unmapped;
    std::erase(parent->inner, &task);
  }
  if (--parent->mapping > 0) return;
  at(std::max(parent->mapping_ends, now_ + picoseconds(options_.costs.issue_s)),
     [this, parent] { go_on(*parent); });
}

void Runtime::map_requirement(Task& task, const TaskView& view, const RequirementWish& wish,
                              std::size_t position, std::vector<Copy*>& copies) {
  const RequirementView& required = view.requirements[position];
  const Requirement& requirement = task.requirements[position];
  if (required.empty()) return task.instances.push_back(nullptr);
  if (!requirement.box) cannot();
  if (wish.is_virtual) return task.instances.push_back(nullptr);
  const NodeType& node = machine_->node(task.processor.node);
  for (const InstanceWish& candidate : wish.candidates()) {
    if (candidate.memory == MemKind::kVirtual) return task.instances.push_back(nullptr);
    if (!machine_->can_address(task.processor.node, task.processor.kind, candidate.memory)) {
      continue;
    }
    const std::int64_t index = task.processor.index * node.find(candidate.memory)->count /
                               node.find(task.processor.kind)->count;
    const Memory memory{candidate.memory, task.processor.node, index};
    Instance* const instance = find_or_make(requirement, wish, candidate, memory,
                                            wished_box(task, wish, candidate, requirement),
                                            required.privilege == Privilege::kReduce);
    if (instance == nullptr) continue;
    ++instance->users;
    task.instances.push_back(instance);
    return use(task, view, requirement, required.privilege, required.coherence, wish.untracked,
               *instance, copies);
  }
  throw Failed{RunStatus::kMapError, DiagId::kOutOfMemory};
}

Rect Runtime::wished_box(const Task&, const RequirementWish& wish, const InstanceWish& candidate,
                         const Requirement& requirement) const {
  if (!wish.shares(candidate) || !requirement.color) return *requirement.box;
  const Rect whole = data_.regions[requirement.where->region].box;
  if (machine_->node_count() == 1) return whole;
  Rect found = *requirement.box;
  Point color = *requirement.color;
  for (int p = static_cast<int>(requirement.where->index); p >= 0;) {
    const app::Partition& partition = data_.partitions[static_cast<std::size_t>(p)];
    app::FormulaFault fault = app::FormulaFault::kNone;
    const Rect box = app::piece(data_, partition, color, fault);
    if (box.volume() <= whole.volume() / machine_->node_count()) found = box;
    const int outer = color.dimensions() - partition.own_colors.dimensions();
    color = Point(color.coordinates().first(static_cast<std::size_t>(outer)));
    p = partition.outer;
  }
  return whole.volume() <= whole.volume() / machine_->node_count() ? whole : found;
}

Instance* Runtime::find_or_make(const Requirement& requirement, const RequirementWish& wish,
                                const InstanceWish& candidate, const Memory& memory,
                                const Rect& box, bool reduces) {
  const std::uint32_t region = requirement.where->region;
  ++mappings_;
  const auto fits = [&](const Instance& each) {
    return each.alive && each.region == region && each.memory == memory &&
           each.reduction == reduces && without_exact(each.layout, candidate.layout) &&
           std::all_of(requirement.fields.begin(), requirement.fields.end(),
                       [&](std::uint32_t field) { return each.fields.contains(field); });
  };
  Instance* found = nullptr;
  for (Instance& each : instances_) {
    if (found == nullptr && fits(each) && same(each.box, box)) found = &each;
  }
  for (Instance& each : instances_) {
    if (found == nullptr && fits(each) && !reduces && !candidate.layout.exact &&
        covers(each.box, *requirement.box)) {
      found = &each;
    }
  }
  if (found != nullptr && !wish.fresh) {
    found->mapped = mappings_;
    found->priority = wish.collect_priority;
    return found;
  }
  std::set<std::uint32_t> fields(requirement.fields.begin(), requirement.fields.end());
  const std::vector<AppField>& all = data_.regions[region].fields;
  for (std::uint32_t f = 0; f < all.size(); ++f) {
    if (wish.fields == RequirementWish::Fields::kAll && !reduces) fields.insert(f);
  }
  std::int64_t bytes = 0;
  for (std::uint32_t f : fields) bytes += all[f].bytes * box.volume();
  const std::int64_t align = candidate.layout.align_bytes;
  if (candidate.layout.align_op != AlignOp::kNone && align > 1) {
    if (bytes > INT64_MAX - align) return nullptr;
    while (bytes % align != 0) ++bytes;
  }
  if (!make_room(memory, bytes)) return nullptr;
  Instance& made = instances_.emplace_back();
  made.number = static_cast<std::int64_t>(instances_.size()) - 1;
  made.region = region;
  made.memory = memory;
  made.box = box;
  made.fields = fields;
  made.layout = candidate.layout;
  made.reduction = reduces;
  made.bytes = bytes;
  made.priority = wish.collect_priority;
  made.mapped = mappings_;
  used_[key(memory)] += bytes;
  peak_[key(memory)] = std::max(peak_[key(memory)], used_[key(memory)]);
  return &made;
}

bool Runtime::make_room(const Memory& memory, std::int64_t bytes) {
  if (bytes > group(memory).capacity_bytes) return false;
  std::set<Instance*> looked_at;
  while (room(memory) < bytes) {
    Instance* next = nullptr;
    const auto before = [](const Instance& a, const Instance& b) {
      return a.priority != b.priority ? a.priority > b.priority : a.mapped < b.mapped;
    };
    for (Instance& each : instances_) {
      if (!each.alive || !(each.memory == memory) || each.users > 0 ||
          each.priority == kCollectNever || looked_at.contains(&each)) {
        continue;
      }
      if (next == nullptr || before(each, *next)) next = &each;
    }
    if (next == nullptr) return false;
    looked_at.insert(next);
    if (!needed(*next)) remove(*next);
  }
  return true;
}

template <typename Use>
void Runtime::each_datum(std::uint32_t region, const Rect& box,
                         const std::vector<std::uint32_t>& fields, const Use& use) {
  std::vector<std::uint32_t> sorted = fields;
  std::sort(sorted.begin(), sorted.end());
  for (const Point& point : points_of(box)) {
    for (std::uint32_t field : sorted) {
      use(data_of_[{region, row_major(data_.regions[region].box, point), field}],
          data_.regions[region].fields[field].bytes);
    }
  }
}

// Whether something of what it holds is nowhere else.
bool Runtime::needed(Instance& instance) {
  bool needed = false;
  const std::vector<std::uint32_t> fields(instance.fields.begin(), instance.fields.end());
  each_datum(instance.region, instance.box, fields, [&](Datum& datum, std::int64_t) {
    for (const Datum::Pending& pending : datum.pending) needed |= pending.instance == &instance;
    if (!datum.held[&instance].valid) return;
    bool elsewhere = false;
    for (const auto& [other, held] : datum.held) elsewhere |= held.valid && other != &instance;
    needed |= !elsewhere;
  });
  return needed;
}

void Runtime::remove(Instance& instance) {
  const std::vector<std::uint32_t> fields(instance.fields.begin(), instance.fields.end());
  each_datum(instance.region, instance.box, fields,
             [&](Datum& datum, std::int64_t) { datum.held.erase(&instance); });
  instance.alive = false;
  used_[key(instance.memory)] -= instance.bytes;
}

void Runtime::release(Instance& instance) {
  if (--instance.users == 0 && instance.priority == kCollectEager && !needed(instance)) {
    remove(instance);
  }
}

void Runtime::wait(Job* job, Job* on, const Task& task) {
  for (const Task* around = task.parent; around != nullptr; around = around->parent) {
    if (on == &around->job) return;
  }
  wait_for(job, on);
}

void Runtime::use(Task& task, const TaskView& view, const Requirement& requirement,
                  Privilege privilege, Coherence coherence, bool untracked, Instance& target,
                  std::vector<Copy*>& copies) {
  const bool reduces = privilege == Privilege::kReduce;
  const bool writes = privilege == Privilege::kReadWrite || privilege == Privilege::kWriteDiscard;
  const bool reads = privilege == Privilege::kReadOnly || privilege == Privilege::kReadWrite;
  const std::uint32_t region = requirement.where->region;
  const auto each = [&](const auto& visit) {
    each_datum(region, *requirement.box, requirement.fields, visit);
  };
  // Points in each other's way.
  if (coherence == Coherence::kExclusive && task.launch != nullptr && task.launch->is_index) {
    bool clash = false;
    each([&](Datum& datum, std::int64_t) {
      const auto others = [&](const Datum::Touched& touched) {
        return touched.launch == task.launch_number &&
               touched.points.size() > touched.points.count(&task);
      };
      clash |= others(datum.written) || (writes && others(datum.read));
      Datum::Touched& touched = writes ? datum.written : datum.read;
      if (touched.launch != task.launch_number) touched = {task.launch_number, {}};
      touched.points.insert(&task);
    });
    if (clash) throw Failed{RunStatus::kExecuteError, DiagId::kInterferingPoints};
  }
  // From where.
  std::set<std::int64_t> oldest_first;
  each([&](Datum& datum, std::int64_t) {
    if (!reads || datum.held[&target].valid) return;
    for (const auto& [instance, held] : datum.held) {
      if (held.valid) oldest_first.insert(instance->number);
    }
  });
  std::vector<Instance*> sources;
  for (std::int64_t n : oldest_first) sources.push_back(&instances_[static_cast<std::size_t>(n)]);
  if (sources.size() > 1) {
    std::vector<InstanceView> views;
    for (const Instance* source : sources) views.push_back(view_of(*source));
    std::vector<std::uint32_t> answer;
    mapper(view.current).select_sources(*this, view, view_of(target), views, answer);
    std::vector<Instance*> ranked;
    for (std::uint32_t i : answer) {
      if (i < sources.size()) ranked.push_back(sources[i]);
    }
    ranked.insert(ranked.end(), sources.begin(), sources.end());
    sources = ranked;
  }
  std::map<std::pair<Instance*, bool>, Copy*> made;
  const auto copy_from = [&](Instance* from, bool fold) -> Copy& {
    Copy*& copy = made[{from, fold}];
    if (copy == nullptr) {
      copy = &copies_.emplace_back();
      copy->job.kind = Job::Kind::kCopy;
      copy->job.task = &task;
      copy->job.copy = copies_.size() - 1;
      copy->from = from;
      copy->to = &target;
      copy->fold = fold;
      copy->task = &task;
      ++from->users;
      ++target.users;
      wait_for(&task.job, &copy->job);
      copies.push_back(copy);
    }
    return *copy;
  };
  each([&](Datum& datum, std::int64_t bytes) {
    Datum::Held& mine = datum.held[&target];
    if (reduces) {
      const auto there = std::find_if(datum.pending.begin(), datum.pending.end(),
                                      [&](const auto& other) { return other.instance == &target; });
      if (there != datum.pending.end()) return there->reducers.push_back(&task.job);
      for (Job* user : mine.users) wait(&task.job, user, task);
      mine.users.clear();
      datum.pending.push_back({&target, {&task.job}});
      return;
    }
    if (reads && !mine.valid) {
      const auto source = std::find_if(sources.begin(), sources.end(), [&](Instance* from) {
        const auto held = datum.held.find(from);
        return held != datum.held.end() && held->second.valid;
      });
      if (source != sources.end()) {
        Copy& copy = copy_from(*source, false);
        copy.bytes += bytes;
        Datum::Held& theirs = datum.held[*source];
        wait(&copy.job, theirs.there, task);
        wait(&copy.job, mine.there, task);
        for (Job* user : mine.users) wait(&copy.job, user, task);
        mine.users.clear();
        mine.there = &copy.job;
        theirs.users.push_back(&copy.job);
      }
      mine.valid = true;
    }
    if (reads && !datum.pending.empty()) {
      std::sort(datum.pending.begin(), datum.pending.end(), [](const auto& a, const auto& b) {
        return a.instance->number < b.instance->number;
      });
      for (Datum::Pending& pending : datum.pending) {
        Copy& fold = copy_from(pending.instance, true);
        fold.bytes += bytes;
        for (Job* reducer : pending.reducers) wait(&fold.job, reducer, task);
        wait(&fold.job, mine.there, task);
        for (Job* user : mine.users) wait(&fold.job, user, task);
        mine.users.clear();
        mine.there = &fold.job;
        datum.held[pending.instance].users.push_back(&fold.job);
      }
      datum.pending.clear();
      for (auto& [other, held] : datum.held) held.valid = other == &target;
    }
    wait(&task.job, mine.there, task);
    if (!writes) {
      mine.users.push_back(&task.job);
      bool elsewhere = false;
      for (const auto& [other, held] : datum.held) elsewhere |= held.valid && other != &target;
      if (untracked && elsewhere) mine.valid = false;
      return;
    }
    for (Job* user : mine.users) wait(&task.job, user, task);
    mine.users.clear();
    datum.pending.clear();
    mine.there = &task.job;
    for (auto& [other, held] : datum.held) held.valid = other == &target;
  });
}

// ---- Running

void Runtime::settle() {
  while (!became_ready_.empty()) {
    Job* const job = became_ready_.front();
    became_ready_.pop_front();
    ready(job);
  }
}

void Runtime::done(Job* job) {
  job->done = true;
  for (Job* waiting : job->waiting) {
    waiting->missing.erase(job);
    if (waiting->missing.empty() && waiting->released) became_ready_.push_back(waiting);
  }
}

void Runtime::ready(Job* job) {
  Task& task = *job->task;
  if (job->kind == Job::Kind::kFuture) {
    done(job);
    if (task.blocked == Task::Blocked::kFuture && task.futures[task.awaited] == job) {
      task.blocked = Task::Blocked::kNo;
      at(now_ + picoseconds(options_.costs.future_s), [&] { go_on(task); });
    }
    return;
  }
  const Time mapped = job->kind == Job::Kind::kCopy ? copies_[job->copy].mapped : task.mapped;
  if (mapped > now_) return at(mapped, [this, job] { ready(job); });
  if (job->kind == Job::Kind::kCopy) return start_copy(copies_[job->copy]);
  task.ready = now_;
  station(task.processor).ready.emplace_back(task.priority, turn_++, &task);
  start_next(task.processor);
}

void Runtime::start_copy(Copy& copy) {
  const std::optional<Way> way = this->way(copy.from->memory, copy.to->memory);
  if (!way) throw Failed{RunStatus::kExecuteError, DiagId::kNoRoute};
  Time start = now_;
  for (const Lane& lane : way->lanes) start = std::max(start, lanes_[lane]);
  const Time end =
      start + picoseconds(way->latency + static_cast<double>(copy.bytes) * way->seconds_per_byte);
  for (const Lane& lane : way->lanes) lanes_[lane] = end;
  RunRecord::Event event;
  event.kind = copy.fold ? RunRecord::Event::Kind::kReduction : RunRecord::Event::Kind::kCopy;
  event.name = static_cast<std::int32_t>(copy.task->number);
  event.where = number(copy.to->memory);
  event.from = number(copy.from->memory);
  event.region = static_cast<std::int32_t>(copy.to->region);
  event.bytes = copy.bytes;
  event.mapped = copy.mapped;
  event.ready = now_;
  event.start = start;
  event.end = end;
  record_->events.push_back(event);
  at(end, [this, &copy] {
    ++result_.copies;
    release(*copy.from);
    release(*copy.to);
    done(&copy.job);
  });
}

std::optional<Way> Runtime::hop(const Memory& from, const Memory& to) const {
  if (from == to) return Way{};
  using Scope = Channel::Scope;
  Scope scope = Scope::kNetwork;
  if (from.node == to.node) scope = from.kind == to.kind ? Scope::kPeer : Scope::kLocal;
  const NodeType &here = machine_->node(from.node), &there = machine_->node(to.node);
  const Channel* best = nullptr;
  for (const Channel& channel : here.channels) {
    if (channel.scope != scope) continue;
    const bool joins = (channel.from == from.kind && channel.to == to.kind) ||
                       (channel.from == to.kind && channel.to == from.kind);
    if (!joins) continue;
    if (best == nullptr || channel.bandwidth_bytes_per_s > best->bandwidth_bytes_per_s) {
      best = &channel;
    }
  }
  if (best == nullptr) return std::nullopt;
  const auto lane = [&](const NodeType& node, const Memory& memory, bool out) {
    const std::int64_t index = memory.index * best->links / node.find(memory.kind)->count;
    return Lane{memory.node, best->name, index, out};
  };
  Way way;
  way.latency = best->latency_s;
  way.seconds_per_byte = 1 / best->bandwidth_bytes_per_s;
  if (scope == Scope::kLocal) {
    const bool source = here.find(from.kind)->count >= here.find(to.kind)->count;
    way.lanes.insert(lane(here, source ? from : to, from.kind < to.kind));
  } else {
    way.lanes.insert(lane(here, from, true));
    way.lanes.insert(lane(there, to, false));
  }
  return way;
}

std::optional<Way> Runtime::way(const Memory& from, const Memory& to) const {
  if (from == to) {
    const double bandwidth = group(from).bandwidth_bytes_per_s;
    return Way{{}, 0, bandwidth > 0 ? 2 / bandwidth : 0};
  }
  const auto near = [&](const Memory& end) {
    std::vector<Memory> found;
    const NodeType& node = machine_->node(end.node);
    for (const MemoryGroup& each : node.memories) {
      if (each.capacity_bytes == 0 || each.kind == end.kind) continue;
      found.push_back({each.kind, end.node, end.index * each.count / node.find(end.kind)->count});
    }
    return found;
  };
  std::vector<std::vector<Memory>> all = {{from, to}};
  for (const Memory& a : near(from)) {
    all.push_back({from, a, to});
    for (const Memory& b : near(to)) all.push_back({from, a, b, to});
  }
  for (const Memory& b : near(to)) all.push_back({from, b, to});
  std::optional<Way> quickest;
  double least = std::numeric_limits<double>::infinity();
  for (const std::vector<Memory>& stops : all) {
    Way way;
    bool possible = true;
    for (std::size_t i = 0; i + 1 < stops.size(); ++i) {
      const std::optional<Way> part = hop(stops[i], stops[i + 1]);
      if (!part) {
        possible = false;
        break;
      }
      way.latency += part->latency;
      way.seconds_per_byte = std::max(way.seconds_per_byte, part->seconds_per_byte);
      way.lanes.insert(part->lanes.begin(), part->lanes.end());
    }
    const double seconds = way.latency + 1048576 * way.seconds_per_byte;
    if (!possible || seconds >= least) continue;
    least = seconds;
    quickest = way;
  }
  return quickest;
}

void Runtime::start_next(const Processor& processor) {
  Station& here = station(processor);
  if (here.busy || here.ready.empty()) return;
  const auto first =
      std::min_element(here.ready.begin(), here.ready.end(), [](const auto& a, const auto& b) {
        return std::pair(-std::int64_t{std::get<0>(a)}, std::get<1>(a)) <
               std::pair(-std::int64_t{std::get<0>(b)}, std::get<1>(b));
      });
  Task& task = *std::get<2>(*first);
  here.ready.erase(first);
  here.busy = true;
  start(task);
}

void Runtime::start(Task& task) {
  task.started = now_;
  const Time ends = now_ + picoseconds(seconds(task));
  RunRecord::Event event;
  event.name = static_cast<std::int32_t>(task.number);
  event.where = number(task.processor);
  event.mapped = task.mapped;
  event.ready = task.ready;
  event.start = now_;
  event.end = ends;
  record_->events.push_back(event);
  at(ends, [this, &task] { end(task); });
  if (!task.launches) return;
  if (task.depth > 64) cannot();
  task.view = view_of(task, task.view_requirements);
  task.view.shards = static_cast<std::uint32_t>(std::max<std::size_t>(1, task.shards.size()));
  task.view.requirements = task.view_requirements;
  std::vector<std::int64_t> frame = task.arguments;
  frame.resize(static_cast<std::size_t>(what(task).frame_size));
  write_out(what(task).body, frame, false, task.steps);
  at(now_, [this, &task] { go_on(task); });
}

double Runtime::seconds(Task& task) {
  const app::Variant& variant = this->variant(task);
  const NodeType& node = machine_->node(task.processor.node);
  const ProcessorGroup& processor = *node.find(task.processor.kind);
  const bool gpu = task.processor.kind == ProcKind::kGpu;
  std::vector<Rect> boxes;
  for (const Requirement& each : task.requirements) boxes.push_back(each.box.value_or(Rect{}));
  app::FormulaFault fault = app::FormulaFault::kNone;
  const auto value = [&](const app::Code& code) {
    return static_cast<double>(std::max<std::int64_t>(0, code.value(task.arguments, fault, boxes)));
  };
  std::vector<std::pair<Memory, double>> moved;
  for (std::size_t r = 0; r < task.requirements.size(); ++r) {
    const app::Requirement& requirement = what(task).requirements[r];
    const Instance* instance = task.instances[r];
    double element = 0;
    for (const AppField& field : requirement.fields) element += static_cast<double>(field.bytes);
    std::vector<std::pair<double, Access>> traffic;
    for (const app::Traffic& each : variant.traffic) {
      if (each.requirement == r) traffic.emplace_back(value(each.bytes), each.access);
    }
    if (traffic.empty() && !variant.inner && instance != nullptr) {
      const bool once = requirement.privilege == Privilege::kReadOnly ||
                        requirement.privilege == Privilege::kWriteDiscard;
      traffic.emplace_back((once ? 1 : 2) * element * static_cast<double>(boxes[r].volume()),
                           Access::kStream);
    }
    for (auto [bytes, access] : traffic) {
      if (instance == nullptr || bytes <= 0) continue;
      const double sector = gpu ? 32 : 64;
      const auto fields = static_cast<double>(requirement.fields.size());
      double factor = 1;
      if (access == Access::kStream && instance->layout.fields == FieldOrder::kAos) {
        double structure = 0;
        for (std::uint32_t f : instance->fields) {
          structure += static_cast<double>(data_.regions[instance->region].fields[f].bytes);
        }
        const double takes = structure <= sector ? structure : std::min(structure, fields * sector);
        factor = std::max(1.0, takes / element);
      }
      if (access == Access::kStream && variant.loops && boxes[r].dimensions() > 1 &&
          *variant.loops != instance->layout.dimensions) {
        factor = std::max(factor, sector * fields / element);
      }
      if (access == Access::kAtomic && gpu && instance->memory.kind != MemKind::kFbmem) {
        factor = 10;
      }
      const auto known = std::find_if(moved.begin(), moved.end(), [&](const auto& each) {
        return each.first == instance->memory;
      });
      if (known == moved.end()) {
        moved.emplace_back(instance->memory, bytes * factor);
      } else {
        known->second += bytes * factor;
      }
    }
  }
  double memories = 0;
  for (const auto& [memory, bytes] : moved) {
    task.streams.push_back(memory);
    const auto sharing = static_cast<double>(++streaming_[key(memory)]);
    const Affinity& affinity = *node.find(task.processor.kind, memory.kind);
    const double bandwidth =
        std::min(affinity.bandwidth_bytes_per_s, group(memory).bandwidth_bytes_per_s / sharing);
    memories = std::max(memories, affinity.latency_s + bytes / bandwidth);
  }
  const double flops = value(variant.flops);
  const double efficiency = std::max(1.0, value(variant.efficiency)) / 100;
  const double rate =
      processor.flops_per_s * processor.sustained_fraction * efficiency * (variant.single ? 2 : 1);
  const double seconds = value(variant.kernels) * processor.launch_latency_s +
                         std::max(flops / rate, memories) + value(variant.nanoseconds) * 1e-9;
  if (fault != app::FormulaFault::kNone) cannot();
  return seconds;
}

void Runtime::end(Task& task) {
  task.ran = true;
  for (const Memory& memory : task.streams) --streaming_[key(memory)];
  if (task.launches) {
    look_at_end(task);
  } else {
    over(task);
  }
  station(task.processor).busy = false;
  start_next(task.processor);
}

void Runtime::over(Task& task) {
  ++result_.tasks;
  --alive_;
  --station(task.processor).load;
  if (task.report) {
    std::vector<RequirementView> requirements;
    const TaskView view = view_of(task, requirements);
    ProfilingReport report;
    report.created_ns = task.created / 1000;
    report.ready_ns = task.ready / 1000;
    report.started_ns = task.started / 1000;
    report.ended_ns = now_ / 1000;
    report.processor = task.processor;
    mapper(task.processor).report_profiling(*this, view, report);
  }
  for (Instance* instance : task.instances) {
    if (instance != nullptr) release(*instance);
  }
  done(&task.job);
  Task* const parent = task.parent;
  if (parent == nullptr) return;
  --parent->children;
  if (parent->blocked == Task::Blocked::kAll && parent->children == 0) {
    parent->blocked = Task::Blocked::kNo;
    at(now_ + picoseconds(options_.costs.future_s), [this, parent] { go_on(*parent); });
  }
  look_at_end(*parent);
}

}  // namespace

RunResult simulate_obviously(const Workload& workload, std::shared_ptr<const Machine> machine,
                             const MapperFactory& make, const SimulateOptions& options) {
  return Runtime(workload.data(), std::move(machine), make, options).run();
}

}  // namespace groma::testing
