// What tasks launch, and where it goes.
#include "support/obvious_parts.h"

namespace groma::testing::obvious {

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
    if (each.data.kind == app::RequirementData::Kind::kRegion) {
      requirement.shape = shape_of(data_.regions[each.data.region].box);
    }
  }
  std::vector<RequirementView> requirements;
  TaskView view = view_of(task, requirements);
  TaskOptions options;
  mapper(task.processor).select_task_options(*this, view, options);
  check(validate(options, view, *machine_));
  task.processor = options.initial;
  if (options.replicate) {
    ReplicateTaskOutput answer;
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
        if (loop->traced && i > 0 && !replay) steps.push_back({Step::What::kTrace});
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

std::int64_t Runtime::in_flight(const Task& task) {
  const auto first = std::find_if(task.left_of_launch.begin(), task.left_of_launch.end(),
                                  [](std::int64_t left) { return left > 0; });
  return task.left_of_launch.end() - first;
}

std::int64_t Runtime::counted(const Task& task) const {
  const auto before = std::count_if(task.left_at.begin(), task.left_at.end(),
                                    [this](Time left) { return left < now_; });
  return static_cast<std::int64_t>(task.left_of_launch.size()) -
         std::max<std::int64_t>(before, task.not_counted);
}

std::int64_t Runtime::resume_at(const Task& task) {
  const std::int64_t kept = 100 - std::clamp(task.config.hysteresis_percent, 0, 100);
  return std::max<std::int64_t>(1, kept * std::max(0, task.config.max_window) / 100);
}

bool Runtime::waits_for_window(Task& task) {
  if (task.config.max_window <= 0 || counted(task) + 1 <= task.config.max_window) return false;
  if (in_flight(task) + 1 > resume_at(task)) {
    task.blocked = Task::Blocked::kWindow;
    return true;
  }
  // The launches that have left at this very time make room. As many of them as the task needs to
  // go on no longer count.
  task.not_counted = static_cast<std::int64_t>(task.left_of_launch.size()) + 1 - resume_at(task);
  task.blocked = Task::Blocked::kMapping;
  at(now_ + picoseconds(costs_.future_s), [this, &task] { go_on(task); });
  return true;
}

void Runtime::go_on(Task& task) {
  task.blocked = Task::Blocked::kNo;
  for (; task.step < task.steps.size(); ++task.step) {
    const Step& step = task.steps[task.step];
    switch (step.what) {
      case Step::What::kFault:
        cannot();
      case Step::What::kTrace:
        if (waits_for_window(task)) return;
        break;
      case Step::What::kLaunch:
        if (!step.replay && waits_for_window(task)) return;
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
  for (std::size_t a = 0; a < earlier.launch->data.size(); ++a) {
    for (std::size_t b = 0; b < launch.data.size(); ++b) {
      const app::RequirementData &x = earlier.launch->data[a], &y = launch.data[b];
      if (x.kind == app::RequirementData::Kind::kUnknown ||
          y.kind == app::RequirementData::Kind::kUnknown)
        continue;
      if (x.region != y.region) continue;
      const Privilege p = x.privilege, q = y.privilege;
      if (p == Privilege::kNoAccess || q == Privilege::kNoAccess) continue;
      if (p == q && (p == Privilege::kReadOnly || p == Privilege::kReduce)) continue;
      for (std::uint32_t field : x.fields) {
        if (std::find(y.fields.begin(), y.fields.end(), field) != y.fields.end()) return true;
      }
    }
  }
  return false;
}

// Asks the condition of the launch about one point after the other.
PointSet Runtime::chosen_points(const app::Launch& launch, const Rect& box,
                                std::vector<std::int64_t> frame) {
  std::vector<Point> chosen;
  app::FormulaFault fault = app::FormulaFault::kNone;
  for (const Point& point : points_of(box)) {
    for (int d = 0; d < point.dimensions(); ++d) {
      frame[static_cast<std::size_t>(launch.point_slot) + static_cast<std::size_t>(d)] = point[d];
    }
    if (launch.where.value(frame, fault) != 0) chosen.push_back(point);
  }
  if (fault != app::FormulaFault::kNone) cannot();
  if (!chosen.empty()) return PointSet::from_points(chosen).value();
  return PointSet::from_predicate(box, [](const Point&) { return false; }).value();
}

void Runtime::launch(Task& parent, const Step& step) {
  const app::Launch& launch = *step.launch;
  app::FormulaFault fault = app::FormulaFault::kNone;
  LaunchDomain domain;
  if (launch.is_index) {
    const auto found = app::box_of(launch, step.frame, fault);
    if (!found) cannot();
    domain.box = *found;
    if (!(launch.where.is_constant() && launch.where.constant() == 1)) {
      domain.points = chosen_points(launch, *found, step.frame);
      if (domain.points->count() > 0) domain.box = domain.points->bounds();
    }
  }
  if (domain.count() > options_.max_tasks - launched_) cannot();
  launched_ += domain.count();
  const std::int64_t launch_number = ++launches_;
  parent.mapping = static_cast<int>(domain.count());
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
  if (domain.count() > 0) {
    std::vector<RequirementView> requirements;
    TaskView view = view_of_launch(launch.task, &launch, requirements);
    view.parent = &parent.view;
    view.depth = parent.depth + 1;
    view.current = parent.processor;
    view.is_index = launch.is_index;
    view.domain = domain.box;
    view.points = domain.some_points();
    if (!launch.is_index) view.point = parent.point;
    mapper(parent.processor).select_task_options(*this, view, options);
    check(validate(options, view, *machine_));
    view.current = options.initial;
    if (!launch.is_index) {
      slices.push_back({Rect{}, options.initial, false, options.stealable});
    } else if (parent.shards.size() == 0 && !domain.points) {
      cut(parent.processor, view, domain.box, slices);
    } else if (parent.shards.size() == 0) {
      std::vector<Rect> runs;
      domain.for_each_box(domain.box, [&](const Rect& run) { runs.push_back(run); });
      cut_part(parent.processor, view, runs, slices);
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
        cut_part(parent.shards[shard], view, boxes, slices);
      }
    }
  }
  if (domain.count() > 0) parent.left_of_launch.push_back(domain.count());
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
      task.launch_of_parent = parent.left_of_launch.size() - 1;
      task.parent = &parent;
      task.depth = parent.depth + 1;
      task.point = point;
      task.domain = domain;
      task.processor = slice.processor;
      task.replay = step.replay;
      task.wants_valid = options.valid_instances;
      task.stealable = slice.stealable;
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
  bool steal = false;
  for (Task* task : points) {
    if (!mapper(task->processor).selects()) {
      map(*task);
      continue;
    }
    station(task->processor).unmapped.push_back(task);
    steal |= task->stealable;
    if (std::find(asked.begin(), asked.end(), task->processor) == asked.end()) {
      asked.push_back(task->processor);
    }
  }
  for (const Processor& processor : asked) select(processor);
  if (steal) at(now_, [this] { all_steal(); });
  if (points.empty()) at(now_ + picoseconds(costs_.issue_s), [&] { go_on(parent); });
}

// Blocks that nobody decided on are of the box around all of the part.
void Runtime::cut_part(const Processor& by, const TaskView& view, const std::vector<Rect>& boxes,
                       std::vector<TaskSlice>& slices) {
  SliceTaskOutput answer;
  if (boxes.size() > 1) mapper(by).slice_task(*this, view, boxes.front(), answer);
  if (!answer.by_default) {
    for (const Rect& box : boxes) cut(by, view, box, slices);
    return;
  }
  Rect all = boxes.front();
  for (const Rect& box : boxes) {
    for (int d = 0; d < box.dimensions(); ++d) {
      const std::int64_t end =
          std::max(all.lower[d] + all.extents[d], box.lower[d] + box.extents[d]);
      all.lower[d] = std::min(all.lower[d], box.lower[d]);
      all.extents[d] = end - all.lower[d];
    }
  }
  answer.clear();
  mapper(by).slice_task(*this, view, all, answer);
  TaskView whole = view;
  whole.points = nullptr;
  check(validate(answer, whole, all, *machine_));
  std::vector<Processor> turns;
  for (const TaskSlice& slice : answer.slices) {
    if (turns.empty() || !(turns.back() == slice.processor)) turns.push_back(slice.processor);
  }
  std::size_t turn = 0;
  const std::vector<TaskSlice> all_slices(answer.slices.begin(), answer.slices.end());
  for (std::size_t i = 0; i < all_slices.size();) {
    std::vector<TaskSlice> block;  // consecutive slices of one processor
    for (; i < all_slices.size() &&
           (block.empty() || block.front().processor == all_slices[i].processor);
         ++i) {
      block.push_back(all_slices[i]);
    }
    bool any = false;
    for (const Rect& box : boxes) {
      for (const Point& point : points_of(box)) {
        for (const TaskSlice& slice : block) {
          if (!slice.box.contains(point)) continue;
          Rect one{point, point};
          for (int d = 0; d < point.dimensions(); ++d) one.extents[d] = 1;
          slices.push_back({one, turns[turn], false, slice.stealable});
          any = true;
        }
      }
    }
    turn += any ? 1 : 0;
  }
}

void Runtime::cut(const Processor& by, const TaskView& view, const Rect& part,
                  std::vector<TaskSlice>& slices) {
  SliceTaskOutput answer;
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

bool Runtime::in_the_way(const Task& task, std::size_t a, std::size_t b) const {
  const Requirement &x = task.requirements[a], &y = task.requirements[b];
  const app::Requirement &p = what(task).requirements[a], &q = what(task).requirements[b];
  if (!x.shape || !y.shape || x.where->region != y.where->region) return false;
  if (p.coherence != Coherence::kExclusive && q.coherence != Coherence::kExclusive) return false;
  const Privilege first = x.where->privilege, second = y.where->privilege;
  const auto writes = [](Privilege one) {
    return one == Privilege::kReadWrite || one == Privilege::kWriteDiscard;
  };
  const auto touches = [](Privilege one) { return one != Privilege::kNoAccess; };
  const bool may_not = (writes(first) && touches(second)) || (touches(first) && writes(second)) ||
                       (first == Privilege::kReduce && second == Privilege::kReadOnly) ||
                       (first == Privilege::kReadOnly && second == Privilege::kReduce);
  if (!may_not) return false;
  for (std::uint32_t field : x.fields) {
    if (std::find(y.fields.begin(), y.fields.end(), field) == y.fields.end()) continue;
    for (const Point& point : x.shape->points) {
      if (y.shape->has(point)) return true;
    }
  }
  return false;
}

void Runtime::place(Task& task, std::vector<std::int64_t> frame) {
  const app::Launch& launch = *task.launch;
  for (int d = 0; launch.is_index && d < task.point.dimensions(); ++d) {
    frame[static_cast<std::size_t>(launch.point_slot) + static_cast<std::size_t>(d)] =
        task.point[d];
  }
  app::FormulaFault fault = app::FormulaFault::kNone;
  for (const app::CompiledFormula& code : launch.arguments) {
    task.arguments.push_back(code.value(frame, fault));
  }
  for (const app::RequirementData& where : launch.data) {
    Requirement& requirement = task.requirements.emplace_back();
    requirement.where = &where;
    requirement.fields = where.fields;
    if (where.kind == app::RequirementData::Kind::kUnknown) continue;
    if (where.kind == app::RequirementData::Kind::kRegion) {
      requirement.shape = shape_of(data_.regions[where.region].box);
      continue;
    }
    Point color = task.point;
    if (where.from != app::RequirementData::Color::kPoint) {
      std::vector<std::int64_t> coordinates;
      for (const app::CompiledFormula& code : where.color) {
        const bool in_frame = where.from == app::RequirementData::Color::kFrame;
        coordinates.push_back(code.value(in_frame ? frame : task.arguments, fault));
      }
      color = Point(coordinates);
    }
    const app::Partition& partition = data_.partitions[where.index];
    if (!partition.colors.contains(color)) cannot();
    requirement.color = color;
    requirement.shape = shape_of(data_, partition, color, fault);
  }
  if (fault != app::FormulaFault::kNone) cannot();
  for (std::size_t a = 0; a < task.requirements.size(); ++a) {
    for (std::size_t b = 0; b < a; ++b) {
      if (in_the_way(task, a, b)) {
        throw Failed{RunStatus::kExecuteError, DiagId::kAliasedRequirements};
      }
    }
  }
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

}  // namespace groma::testing::obvious
