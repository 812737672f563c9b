// Routes, copies and tasks as they run.
#include "support/obvious_parts.h"

namespace groma::testing::obvious {

namespace {

// Stretches of memory without a gap that the points of `box` take of an instance with `whole`.
double rows_in(const Rect& box, const Rect& whole, DimensionOrder order) {
  std::set<std::int64_t> places;
  Point point = box.lower;
  do {
    std::int64_t at = 0;
    for (int i = 0; i < point.dimensions(); ++i) {
      const int d = order == DimensionOrder::kC ? i : point.dimensions() - 1 - i;
      at = at * whole.extents[d] + point[d] - whole.lower[d];
    }
    places.insert(at);
  } while (next_point(box, &point));
  double rows = 0;
  for (const std::int64_t at : places) rows += places.contains(at - 1) ? 0 : 1;
  return rows;
}

double structure_of(const Instance& instance, const app::Data& data) {
  std::vector<AppField> fields;
  for (std::uint32_t f : instance.fields) {
    fields.push_back(data.regions[instance.region].fields[f]);
  }
  return static_cast<double>(point_bytes(fields, instance.layout));
}

}  // namespace

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
      at(now_ + picoseconds(costs_.future_s), [&] { go_on(task); });
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
  const Time takes =
      picoseconds(way->latency + static_cast<double>(copy.bytes) * way->seconds_per_byte);
  // A copy can only begin when it is ready or another one ends.
  std::set<Time> ends = {now_};
  for (const Lane& lane : way->lanes) {
    for (const auto& [from, until] : lanes_[lane]) ends.insert(std::max(now_, until));
  }
  const Time start = *std::find_if(ends.begin(), ends.end(), [&](Time time) {
    return std::all_of(way->lanes.begin(), way->lanes.end(), [&](const Lane& lane) {
      return std::all_of(lanes_[lane].begin(), lanes_[lane].end(), [&](const auto& taken) {
        return taken.second <= time || taken.first >= time + takes;
      });
    });
  });
  const Time end = start + takes;
  if (takes > 0) {
    for (const Lane& lane : way->lanes) lanes_[lane].emplace_back(start, end);
  }
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
    return Way{{}, 0, bandwidth > 0 ? options_.model.copy_passes / bandwidth : 0};
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
    const double seconds = way.latency + options_.model.route_bytes * way.seconds_per_byte;
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
  mapper(task.processor).configure_context(*this, task.view, task.config);
  std::vector<std::int64_t> frame = task.arguments;
  frame.resize(static_cast<std::size_t>(what(task).frame_size));
  write_out(what(task).body, frame, false, task.steps);
  at(now_, [this, &task] { go_on(task); });
}

double Runtime::seconds(Task& task) {
  const TimeModel& model = options_.model;
  const app::Variant& variant = this->variant(task);
  const NodeType& node = machine_->node(task.processor.node);
  const ProcessorGroup& processor = *node.find(task.processor.kind);
  const bool gpu = task.processor.kind == ProcKind::kGpu;
  const Rect none;
  std::vector<app::PieceSize> pieces;
  for (const Requirement& each : task.requirements) {
    pieces.push_back(each.shape ? app::PieceSize{&each.shape->box, each.shape->count()}
                                : app::PieceSize{&none, none.volume()});
  }
  app::FormulaFault fault = app::FormulaFault::kNone;
  const auto value = [&](const app::CompiledFormula& code) {
    return static_cast<double>(
        std::max<std::int64_t>(0, code.value(task.arguments, fault, pieces)));
  };
  const double sector = gpu ? model.gpu_sector_bytes : model.cpu_line_bytes;
  std::vector<std::pair<Memory, double>> moved;
  std::map<decltype(key(Memory{})), double> unforeseen;   // bytes
  std::vector<double> in_turn(task.requirements.size());  // updates of one line
  for (std::size_t r = 0; r < task.requirements.size(); ++r) {
    const app::RequirementData& where = *task.requirements[r].where;
    const Instance* instance = task.instances[r];
    double element = 0;
    for (std::uint32_t field : where.fields) {
      element += static_cast<double>(data_.regions[where.region].fields[field].bytes);
    }
    std::vector<std::pair<double, Access>> traffic;
    for (const app::Traffic& each : variant.traffic) {
      if (each.requirement == r) traffic.emplace_back(value(each.bytes), each.access);
    }
    if (traffic.empty() && !variant.inner && instance != nullptr) {
      const bool once =
          where.privilege == Privilege::kReadOnly || where.privilege == Privilege::kWriteDiscard;
      traffic.emplace_back((once ? 1 : 2) * element * static_cast<double>(pieces[r].points),
                           Access::kStream);
    }
    for (auto [bytes, access] : traffic) {
      if (instance == nullptr || bytes <= 0) continue;
      const auto fields = static_cast<double>(where.fields.size());
      double factor = 1;
      if (access == Access::kStream && instance->layout.fields == FieldOrder::kAos) {
        const double structure = structure_of(*instance, data_);
        const double takes = structure <= sector ? structure : std::min(structure, fields * sector);
        factor = std::max(1.0, takes / element);
      }
      if (access == Access::kStream && variant.loops && pieces[r].box->dimensions() > 1 &&
          *variant.loops != instance->layout.dimensions) {
        factor = std::max(factor, sector * fields / element);
      }
      if (access == Access::kStream &&
          (!variant.loops || *variant.loops == instance->layout.dimensions) &&
          task.processor.kind != ProcKind::kGpu && task.processor.kind != ProcKind::kOmp) {
        double structure = element / fields;
        if (instance->layout.fields == FieldOrder::kAos) {
          structure = structure_of(*instance, data_);
        }
        const auto rows = rows_in(*pieces[r].box, instance->shape.box, instance->layout.dimensions);
        const double row = structure * static_cast<double>(pieces[r].box->volume()) / rows;
        if (rows > 1)
          unforeseen[key(instance->memory)] +=
              bytes * factor * std::min(1.0, model.unforeseen_bytes / row);
      }
      if (gpu && instance->memory.kind != MemKind::kFbmem) {
        if (access == Access::kAtomic) {
          factor = model.host_atomic_factor;
          const double wide = instance->layout.fields == FieldOrder::kAos
                                  ? structure_of(*instance, data_)
                                  : element;
          in_turn[r] += bytes / 32 / (1 + wide * static_cast<double>(pieces[r].points) / 128);
        }
        if (access == Access::kScatter) factor = model.host_scatter_factor;
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
    // Seconds for each byte after a gap.
    const double slow = affinity.gap_bandwidth_bytes_per_s > 0
                            ? 1 / affinity.gap_bandwidth_bytes_per_s
                            : affinity.latency_s / (model.lines_awaited * sector);
    const double alone = 1 / affinity.bandwidth_bytes_per_s;
    const double of_core = bytes * alone + unforeseen[key(memory)] * std::max(0.0, slow - alone);
    double waiting = 0;
    for (std::size_t r = 0; r < task.requirements.size(); ++r) {
      if (task.instances[r] == nullptr || !(task.instances[r]->memory == memory)) continue;
      waiting = std::max(waiting, in_turn[r] * model.host_atomic_turn * affinity.latency_s);
    }
    memories =
        std::max(memories, affinity.latency_s + std::max({bytes / bandwidth, of_core, waiting}));
  }
  const double flops = value(variant.flops);
  const double efficiency = std::max(1.0, value(variant.efficiency)) / 100;
  const double rate = processor.flops_per_s * processor.sustained_fraction * efficiency *
                      (variant.single ? model.single_precision_speedup : 1);
  const double seconds = value(variant.kernels) * processor.launch_latency_s +
                         std::max({flops / rate, memories, value(variant.nanoseconds) * 1e-9});
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
  const bool waits = std::any_of(stations_.begin(), stations_.end(), [](const auto& at) {
    const std::vector<Task*>& there = at.second.unmapped;
    return std::any_of(there.begin(), there.end(),
                       [](const Task* each) { return each->stealable; });
  });
  if (waits) at(now_, [this, thief = task.processor] { steal(thief); });
  for (Instance* instance : task.instances) {
    if (instance != nullptr) release(*instance);
  }
  done(&task.job);
  Task* const parent = task.parent;
  if (parent == nullptr) return;
  --parent->children;
  --parent->left_of_launch[task.launch_of_parent];
  const auto launches = static_cast<std::int64_t>(parent->left_of_launch.size());
  parent->left_at.resize(static_cast<std::size_t>(launches - in_flight(*parent)), now_);
  const bool has_room = in_flight(*parent) + 1 <= resume_at(*parent);
  if ((parent->blocked == Task::Blocked::kAll && parent->children == 0) ||
      (parent->blocked == Task::Blocked::kWindow && has_room)) {
    if (parent->blocked == Task::Blocked::kWindow) {
      parent->not_counted = launches - in_flight(*parent);
    }
    parent->blocked = Task::Blocked::kNo;
    at(now_ + picoseconds(costs_.future_s), [this, parent] { go_on(*parent); });
  }
  look_at_end(*parent);
}

}  // namespace groma::testing::obvious
