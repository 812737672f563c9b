// How tasks are mapped; instances, and who has which data.
#include "support/obvious_parts.h"

namespace groma::testing::obvious {

void Runtime::select(const Processor& processor) {
  std::vector<Task*> waiting;
  waiting.swap(station(processor).unmapped);
  if (waiting.empty()) return;
  std::vector<std::vector<RequirementView>> requirements(waiting.size());
  std::vector<TaskView> views;
  for (std::size_t i = 0; i < waiting.size(); ++i) {
    views.push_back(view_of(*waiting[i], requirements[i]));
  }
  SelectMappingOutput answer;
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
  for (const auto& move : answer.relocate) {
    if (!waiting[move.task]->stealable) continue;
    at(now_, [this] { all_steal(); });
    break;
  }
}

std::vector<Processor> Runtime::all_processors() const {
  std::vector<Processor> all;
  for (std::int64_t node = 0; node < machine_->node_count(); ++node) {
    for (std::size_t k = 0; k < kProcKindCount; ++k) {
      const auto kind = static_cast<ProcKind>(k);
      for (std::int64_t i = 0; i < machine_->processor_count(node, kind); ++i) {
        all.push_back({kind, node, i});
      }
    }
  }
  return all;
}

std::vector<Task*> Runtime::may_steal(const Processor& thief, const Processor& victim) {
  std::vector<Task*> found;
  for (Task* task : station(victim).unmapped) {
    const auto& variants = what(*task).variants;
    const bool runs = std::any_of(variants.begin(), variants.end(),
                                  [&](const auto& v) { return v.kind == thief.kind; });
    if (task->stealable && runs) found.push_back(task);
  }
  return found;
}

void Runtime::all_steal() {
  for (const Processor& p : all_processors()) steal(p);
}

void Runtime::steal(const Processor& thief) {
  if (!is_idle(thief)) return;
  std::vector<Processor> blacklist;
  std::size_t others = 0;
  for (const Processor& p : all_processors()) {
    if (may_steal(thief, p).empty()) {
      blacklist.push_back(p);
    } else {
      ++others;
    }
  }
  while (others > 0 && is_idle(thief)) {
    std::vector<Processor> victims;
    mapper(thief).select_steal_targets(*this, blacklist, victims);
    check(validate_steal_targets(victims, thief, *machine_));
    std::size_t asked = 0;
    for (const Processor& victim : victims) {
      if (std::find(blacklist.begin(), blacklist.end(), victim) != blacklist.end()) continue;
      ++asked;
      blacklist.push_back(victim);
      const std::vector<Task*> offered = may_steal(thief, victim);
      std::vector<std::vector<RequirementView>> requirements(offered.size());
      std::vector<TaskView> views;
      for (std::size_t i = 0; i < offered.size(); ++i) {
        views.push_back(view_of(*offered[i], requirements[i]));
      }
      std::vector<std::uint32_t> stolen;
      mapper(victim).permit_steal_request(*this, thief, views, stolen);
      check(validate_stolen(stolen, views));
      for (std::uint32_t i : stolen) {
        std::erase(station(victim).unmapped, offered[i]);
        station(thief).unmapped.push_back(offered[i]);
        offered[i]->processor = thief;
        if (victim.node == thief.node) continue;
        offered[i]->arrives = now_ + 2 * picoseconds(costs_.remote_s);
      }
    }
    if (asked == 0) break;
    others -= asked;
  }
  select(thief);
}

void Runtime::map(Task& task) {
  Task* const parent = task.parent;
  const bool remote = parent != nullptr && parent->shards.size() == 0 &&
                      parent->processor.node != task.processor.node;
  const Time arrives = now_ + (remote ? picoseconds(costs_.remote_s) : 0);
  Time& until = mapping_until_[task.processor.node];
  until = std::max({until, arrives, task.arrives}) +
          picoseconds(task.replay ? costs_.replay_s : costs_.map_s);
  task.mapped = until;

  std::vector<RequirementView> requirements;
  const TaskView view = view_of(task, requirements);
  std::vector<std::vector<InstanceView>> holding(requirements.size());
  const bool reads = task.wants_valid && mapper(task.processor).reads_valid();
  for (std::size_t r = 0; r < requirements.size() && reads; ++r) {
    const Requirement& requirement = task.requirements[r];
    if (!requirement.shape || requirements[r].empty()) continue;
    std::optional<std::set<std::int64_t>> all;
    each_datum(requirement.where->region, *requirement.shape, requirement.fields,
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
  MapTaskOutput choice;
  mapping_now_ = true;
  mapper(task.processor).map_task(*this, view, valid, choice);
  check(validate(choice, view, *machine_));
  if (choice.abort_mapping) cannot();
  for (std::size_t r = 0; r < requirements.size(); ++r) {
    const bool is_named = choice.requirements[r].instance != 0 && !requirements[r].empty();
    if (is_named && task.requirements[r].shape) hold(named(task, choice, r));
  }
  task.processor = choice.processors.front();
  for (const Processor& processor : choice.processors) {
    if (station(processor).load < station(task.processor).load) task.processor = processor;
  }
  task.variant = choice.variant;
  task.priority = choice.task_priority;
  task.report = choice.task_profiling.any();
  task.launches = !variant(task).leaf && !what(task).body.empty();
  std::vector<Copy*> copies;
  for (std::size_t r = 0; r < requirements.size(); ++r) {
    map_requirement(task, view, choice.requirements[r], r, copies);
  }
  for (Instance* instance : held_) release(*instance);
  held_.clear();
  mapping_now_ = false;
  for (Copy* copy : copies) copy->mapped = task.mapped + picoseconds(costs_.copy_s);
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
  at(std::max(parent->mapping_ends, now_ + picoseconds(costs_.issue_s)),
     [this, parent] { go_on(*parent); });
}

void Runtime::map_requirement(Task& task, const TaskView& view, const InstanceChoice& choice,
                              std::size_t position, std::vector<Copy*>& copies) {
  const RequirementView& required = view.requirements[position];
  const Requirement& requirement = task.requirements[position];
  if (required.empty()) return task.instances.push_back(nullptr);
  if (!requirement.shape) cannot();
  const auto hand_on = [&] {
    task.instances.push_back(nullptr);
    touch(task, requirement, required.privilege, required.coherence);
  };
  if (choice.is_virtual) return hand_on();
  const auto take = [&](Instance& instance) {
    instance.mapped = ++mappings_;
    ++instance.users;
    task.instances.push_back(&instance);
    use(task, view, requirement, required.privilege, required.coherence, choice.untracked, instance,
        copies);
  };
  if (choice.instance != 0) return take(*of(choice.instance));
  const bool reduces = required.privilege == Privilege::kReduce;
  for (const InstanceCandidate& candidate : choice.candidates()) {
    if (candidate.memory == MemKind::kVirtual) return hand_on();
    if (!machine_->can_address(task.processor.node, task.processor.kind, candidate.memory)) {
      continue;
    }
    Wanted wanted;
    wanted.region = requirement.where->region;
    wanted.needs = *requirement.shape;
    wanted.shape = chosen_shape(task, choice, candidate, requirement);
    wanted.fields = {requirement.fields.begin(), requirement.fields.end()};
    wanted.new_fields = wanted.fields;
    for (std::uint32_t f = 0; f < data_.regions[wanted.region].fields.size(); ++f) {
      if (choice.fields == InstanceChoice::Fields::kAll && !reduces) wanted.new_fields.insert(f);
    }
    wanted.memory = nearest(task.processor, candidate.memory);
    wanted.layout = candidate.layout;
    if (wanted.new_fields.size() == 1) wanted.layout.fields = FieldOrder::kSoa;
    wanted.reduces = reduces;
    wanted.priority = choice.collect_priority;
    Instance* instance = choice.fresh ? nullptr : find(wanted);
    if (instance != nullptr) {
      instance->priority = choice.collect_priority;
    } else {
      instance = make(wanted);
    }
    if (instance != nullptr) return take(*instance);
  }
  throw Failed{RunStatus::kMapError, DiagId::kOutOfMemory};
}

Shape Runtime::chosen_shape(const Task&, const InstanceChoice& choice,
                            const InstanceCandidate& candidate,
                            const Requirement& requirement) const {
  if (!choice.shares(candidate) || !requirement.color) return *requirement.shape;
  const Shape whole = shape_of(data_.regions[requirement.where->region].box);
  if (machine_->node_count() == 1) return whole;
  Shape found = *requirement.shape;
  Point color = *requirement.color;
  for (int p = static_cast<int>(requirement.where->index); p >= 0;) {
    const app::Partition& partition = data_.partitions[static_cast<std::size_t>(p)];
    app::FormulaFault fault = app::FormulaFault::kNone;
    const Shape shape = shape_of(data_, partition, color, fault);
    if (shape.count() <= whole.count() / machine_->node_count()) found = shape;
    const int outer = color.dimensions() - partition.own_colors.dimensions();
    color = Point(color.coordinates().first(static_cast<std::size_t>(outer)));
    p = partition.outer;
  }
  return whole.count() <= whole.count() / machine_->node_count() ? whole : found;
}

Instance* Runtime::find(const Wanted& wanted) {
  const auto fits = [&](const Instance& each) {
    return each.alive && each.region == wanted.region && each.memory == wanted.memory &&
           each.reduction == wanted.reduces && without_exact(each.layout, wanted.layout) &&
           std::all_of(wanted.fields.begin(), wanted.fields.end(),
                       [&](std::uint32_t field) { return each.fields.contains(field); });
  };
  for (Instance& each : instances_) {
    if (fits(each) && same(each.shape, wanted.shape)) return &each;
  }
  for (Instance& each : instances_) {
    if (fits(each) && !wanted.reduces && !wanted.layout.exact && covers(each.shape, wanted.needs)) {
      return &each;
    }
  }
  return nullptr;
}

Instance* Runtime::make(const Wanted& wanted) {
  const std::vector<AppField>& all = data_.regions[wanted.region].fields;
  std::vector<AppField> fields;
  for (std::uint32_t f : wanted.new_fields) fields.push_back(all[f]);
  const std::int64_t points =
      wanted.layout.compact ? wanted.shape.count() : wanted.shape.box.volume();
  const std::int64_t bytes = wanted.layout.fields == FieldOrder::kAos
                                 ? points * point_bytes(fields, wanted.layout)
                                 : bytes_of(fields, points, wanted.layout);
  if (asked_alignment(wanted.layout) > group(wanted.memory).capacity_bytes) return nullptr;
  if (!make_room(wanted.memory, bytes)) return nullptr;
  Instance& made = instances_.emplace_back();
  made.number = static_cast<std::int64_t>(instances_.size()) - 1;
  made.region = wanted.region;
  made.memory = wanted.memory;
  made.shape = wanted.shape;
  made.fields = wanted.new_fields;
  made.layout = wanted.layout;
  made.reduction = wanted.reduces;
  made.bytes = bytes;
  made.priority = wanted.priority;
  made.mapped = ++mappings_;
  used_[key(made.memory)] += bytes;
  peak_[key(made.memory)] = std::max(peak_[key(made.memory)], used_[key(made.memory)]);
  return &made;
}

Memory Runtime::nearest(const Processor& p, MemKind kind) const {
  const NodeType& node = machine_->node(p.node);
  return {kind, p.node, p.index * node.find(kind)->count / node.find(p.kind)->count};
}

// ---- What mappers ask for

std::optional<Wanted> Runtime::wanted(const InstanceRequest& request) {
  Wanted wanted;
  if (number(request.memory) < 0 || request.regions.empty() || request.fields.empty()) return {};
  std::vector<std::pair<std::uint32_t, Shape>> found;
  for (RegionId id : request.regions) {
    for (std::uint32_t r = 0; r < data_.regions.size(); ++r) {
      if (id == r + 1) found.emplace_back(r, shape_of(data_.regions[r].box));
    }
    for (std::uint32_t p = 0; p < data_.partitions.size(); ++p) {
      const app::Partition& partition = data_.partitions[p];
      for (const Point& color : points_of(partition.colors)) {
        if (id != ((std::uint64_t{p} + 1) << 40 |
                   static_cast<std::uint64_t>(row_major(partition.colors, color)))) {
          continue;
        }
        app::FormulaFault fault = app::FormulaFault::kNone;
        found.emplace_back(partition.region, shape_of(data_, partition, color, fault));
      }
    }
  }
  if (found.size() != request.regions.size()) return {};
  wanted.region = found[0].first;
  wanted.shape = found[0].second;
  std::vector<Rect> boxes;  // of each that has points, or of all of these points
  for (const auto& [region, shape] : found) {
    if (region != wanted.region) return {};
    if (shape.points.empty()) continue;
    if (!has_holes(data_, region)) boxes.push_back(shape.box);
    for (const Point& point : shape.points) {
      if (!has_holes(data_, region)) break;
      Rect one{point, point};
      for (int d = 0; d < point.dimensions(); ++d) one.extents[d] = 1;
      boxes.push_back(one);
    }
  }
  const int dimensions = data_.regions[wanted.region].box.dimensions();
  if (!boxes.empty()) {
    wanted.shape = shape_of(boxes, dimensions);
    if (!has_holes(data_, wanted.region)) wanted.shape = shape_of(wanted.shape.box);
  }
  wanted.needs = wanted.shape;
  wanted.fields = {request.fields.begin(), request.fields.end()};
  if (*wanted.fields.rbegin() >= data_.regions[wanted.region].fields.size()) return {};
  wanted.new_fields = wanted.fields;
  wanted.memory = request.memory;
  wanted.layout = request.layout;
  if (wanted.new_fields.size() == 1) wanted.layout.fields = FieldOrder::kSoa;
  wanted.reduces = request.reduction != 0;
  wanted.priority = request.priority;
  return wanted;
}

Instance* Runtime::of(InstanceId id) {
  return id == 0 || id > instances_.size() ? nullptr : &instances_[id - 1];
}

void Runtime::hold(Instance& instance) {
  if (std::find(held_.begin(), held_.end(), &instance) != held_.end()) return;
  held_.push_back(&instance);
  ++instance.users;
}

std::optional<FoundInstance> Runtime::hand_out(Instance* instance, bool created) {
  if (instance == nullptr) return {};
  if (mapping_now_) hold(*instance);
  return FoundInstance{static_cast<InstanceId>(instance->number) + 1, created, instance->bytes};
}

std::optional<FoundInstance> Runtime::find_instance(const InstanceRequest& request) {
  const auto wanted = this->wanted(request);
  return wanted ? hand_out(find(*wanted), false) : std::nullopt;
}

std::optional<FoundInstance> Runtime::create_instance(const InstanceRequest& request) {
  const auto wanted = this->wanted(request);
  return wanted ? hand_out(make(*wanted), true) : std::nullopt;
}

bool Runtime::acquire_instance(InstanceId id) {
  Instance* const instance = of(id);
  if (instance == nullptr || !instance->alive || !mapping_now_) return false;
  hold(*instance);
  return true;
}

void Runtime::release_instance(InstanceId id) {
  if (std::erase(held_, of(id)) > 0) release(*of(id));
}

bool Runtime::collect_instance(InstanceId id) {
  Instance* const instance = of(id);
  if (instance == nullptr) return false;
  if (!instance->alive) return true;
  if (instance->users > 0 || instance->priority == kCollectNever || needed(*instance)) return false;
  remove(*instance);
  return true;
}

void Runtime::set_collect_priority(InstanceId id, CollectPriority priority) {
  Instance* const instance = of(id);
  if (instance == nullptr || !instance->alive) return;
  instance->priority = priority;
  if (priority == kCollectEager) collect_instance(id);
}

Instance& Runtime::named(const Task& task, const MapTaskOutput& choice, std::size_t position) {
  Instance* const instance = of(choice.requirements[position].instance);
  const Requirement& requirement = task.requirements[position];
  const bool reduces = requirement.where->privilege == Privilege::kReduce;
  bool fits = instance != nullptr && instance->alive &&
              instance->region == requirement.where->region && instance->reduction == reduces &&
              covers(instance->shape, *requirement.shape);
  for (std::uint32_t field : requirement.fields) fits = fits && instance->fields.contains(field);
  for (const Processor& p : choice.processors) {
    fits = fits && machine_->can_address(p.node, p.kind, instance->memory.kind) &&
           nearest(p, instance->memory.kind) == instance->memory;
  }
  if (!fits) throw Failed{RunStatus::kMapError, DiagId::kBadInstance};
  return *instance;
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
void Runtime::each_datum(std::uint32_t region, const Shape& shape,
                         const std::vector<std::uint32_t>& fields, const Use& use) {
  std::vector<std::uint32_t> sorted = fields;
  std::sort(sorted.begin(), sorted.end());
  for (const Point& point : shape.points) {
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
  each_datum(instance.region, instance.shape, fields, [&](Datum& datum, std::int64_t) {
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
  each_datum(instance.region, instance.shape, fields,
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
  if (on == &task.job) return;
  for (const Task* around = task.parent; around != nullptr; around = around->parent) {
    if (on == &around->job) return;
  }
  wait_for(job, on);
}

// Points in each other's way.
void Runtime::touch(Task& task, const Requirement& requirement, Privilege privilege,
                    Coherence coherence) {
  if (coherence != Coherence::kExclusive || task.launch == nullptr || !task.launch->is_index)
    return;
  const bool writes = privilege == Privilege::kReadWrite || privilege == Privilege::kWriteDiscard;
  bool clash = false;
  each_datum(requirement.where->region, *requirement.shape, requirement.fields,
             [&](Datum& datum, std::int64_t) {
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

void Runtime::use(Task& task, const TaskView& view, const Requirement& requirement,
                  Privilege privilege, Coherence coherence, bool untracked, Instance& target,
                  std::vector<Copy*>& copies) {
  const bool reduces = privilege == Privilege::kReduce;
  const bool writes = privilege == Privilege::kReadWrite || privilege == Privilege::kWriteDiscard;
  const bool reads = privilege == Privilege::kReadOnly || privilege == Privilege::kReadWrite;
  const std::uint32_t region = requirement.where->region;
  const auto each = [&](const auto& visit) {
    each_datum(region, *requirement.shape, requirement.fields, visit);
  };
  touch(task, requirement, privilege, coherence);
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

}  // namespace groma::testing::obvious
