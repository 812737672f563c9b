// How launches get mapped: the hooks, and what their answers come to.
#include <fmt/format.h>

#include <algorithm>

#include "base/one_diagnostic.h"
#include "base/point_text.h"
#include "groma/sharding.h"
#include "mapper/default_policy.h"
#include "simulate/engine.h"

namespace groma::sim {
namespace {

constexpr int kMaxRecursion = 32;                         // of slices that want to be cut again
constexpr std::int64_t kMaxLive = std::int64_t{1} << 23;  // tasks, for their memory
// How often mappers are asked about tasks that wait before one of them is mapped.
constexpr std::int64_t kMaxInVain = std::int64_t{1} << 20;
constexpr std::size_t kShownInstances = 4;

bool is_empty(const Rect& box) {
  const auto extents = box.extents.coordinates();
  return std::find(extents.begin(), extents.end(), 0) != extents.end();
}

}  // namespace

std::int32_t Engine::number_of(const Processor& p) const {
  if (p.node < 0 || p.node >= machine_->node_count() || p.index < 0 ||
      p.index >= machine_->processor_count(p.node, p.kind)) {
    return -1;
  }
  return first_station_[static_cast<std::size_t>(p.node)][static_cast<std::size_t>(p.kind)] +
         static_cast<std::int32_t>(p.index);
}

Mapper& Engine::mapper(std::int32_t processor) {
  Station& station = stations_[static_cast<std::size_t>(processor)];
  if (!station.mapper) {
    const Processor& local = processors_[static_cast<std::size_t>(processor)];
    station.mapper = make_(local);
    if (!station.mapper) {
      fail(data_.name, "there is no mapper for one of its processors");
      station.mapper =
          std::make_unique<DefaultMapper>(MapperSite{.machine = machine_, .local = local});
    }
  }
  speaking_ = processors_[static_cast<std::size_t>(processor)];
  return *station.mapper;
}

TaskRun& Engine::new_run() {
  ++live_;
  if (free_runs_.empty()) {
    runs_.emplace_back();
    return runs_.back();
  }
  TaskRun& run = *free_runs_.back();
  free_runs_.pop_back();
  run.parent = nullptr;
  run.launch = nullptr;
  run.ended = false;
  run.cause = run.record = -1;
  run.priority = 0;
  run.shard_variant = 0;
  run.arguments.clear();
  run.colors.clear();
  run.pieces.clear();
  run.instances.clear();
  return run;
}

// ---- The top-level task

bool Engine::launch_top() {
  if (data_.top_level < 0) {
    fail(data_.name, "it has no top-level task");
    return false;
  }
  const auto number = static_cast<std::uint32_t>(data_.top_level);
  const app::Task& task = data_.tasks[number];
  if (task.arguments > 0) {
    fail(task.name, "the top-level task has arguments, which nobody gives it");
    return false;
  }
  // Asked of the first processor for which it has a variant.
  std::int32_t first = -1;
  for (const ProcKind kind : {ProcKind::kCpu, ProcKind::kOmp, ProcKind::kGpu, ProcKind::kProc,
                              ProcKind::kIo, ProcKind::kPy}) {
    const bool has = std::any_of(task.variants.begin(), task.variants.end(),
                                 [kind](const app::Variant& v) { return v.kind == kind; });
    for (std::size_t p = 0; p < processors_.size() && first < 0 && has; ++p) {
      if (processors_[p].kind == kind) first = static_cast<std::int32_t>(p);
    }
  }
  if (first < 0) {
    fail(task.name, "no processor of the machine has a variant of it");
    return false;
  }
  TaskRun& run = new_run();
  run.task = number;
  run.processor = processors_[static_cast<std::size_t>(first)];
  for (const app::Requirement& requirement : task.requirements) {
    run.colors.push_back(0);
    const app::Where& where = requirement.data;
    run.pieces.push_back(
        where.what == app::Where::What::kRegion ? &spaces_.region(where.region).whole : nullptr);
  }
  TaskView view = view_of(run, launch_views_);
  task_options_.clear();
  mapper(first).select_task_options(*this, view, task_options_);
  if (!accepts(validate(task_options_, view, *machine_))) return false;
  run.processor = task_options_.initial;
  run.valid_instances = false;
  if (task_options_.replicate) {
    ReplicateAnswer answer;
    view = view_of(run, launch_views_);
    mapper(number_of(run.processor)).replicate_task(*this, view, answer);
    if (!accepts(validate(answer, view, *machine_))) return false;
    if (answer.processors.size() > 1) {
      top_shards_ = ShardTable(answer.processors);
      run.processor = answer.processors.front();
      run.shard_variant = answer.variant;
    }
  }
  run.number = number_of(run.processor);
  return map(run);
}

// ---- Launches

void Engine::launch(Context& context, const app::Launch& launch) {
  const std::string& name = data_.tasks[launch.task].name;
  app::FormulaFault fault = app::FormulaFault::kNone;
  Rect domain;
  if (launch.is_index) {
    const auto found = app::domain_of(launch, context.frame, fault);
    if (!found) {
      return fail(name, fmt::format("the domain of its launch: {}", app::words_of(fault)));
    }
    domain = *found;
  }
  const std::int64_t points = domain.volume();
  if (points > options_.max_tasks - launched_) {
    return fail(name, fmt::format("more than {} tasks are launched", options_.max_tasks));
  }
  if (points > kMaxLive - live_) {
    return fail(name, fmt::format("more than {} tasks are under way", kMaxLive));
  }
  launched_ += points;
  ++launches_;
  const Op join = launch.gives >= 0 ? ops_.add() : kBeginning;
  if (join != kBeginning) {
    uses_.resize(ops_.size());
    uses_[join] = {OpUse::Kind::kJoin, 0, context.run};
  }
  context.mapping = points;
  context.stage_end = now_;
  TaskView view = views_.view(launch.task, &launch, launch_views_);
  view.parent = &context.view;
  view.depth = context.view.depth + 1;
  view.current = context.run->processor;
  view.is_index = launch.is_index;
  view.domain = view.sharding_domain = domain;
  if (!launch.is_index) view.point = context.run->point;
  const Processor by = context.run->processor;
  slices_.clear();
  if (points > 0) {
    task_options_.clear();
    mapper(number_of(by)).select_task_options(*this, view, task_options_);
    if (!accepts(validate(task_options_, view, *machine_))) return;
    view.current = task_options_.initial;
    if (!launch.is_index) {
      slices_.push_back({Rect{}, task_options_.initial});
    } else if (!cut(context, view, domain, slices_)) {
      return;
    }
  }
  const bool inner = !data_.tasks[launch.task].body.empty();
  if (inner && points > 0) context.inner.emplace_back(&launch, points);
  context.outstanding += points;
  context.unmapped += points;
  const bool valid_instances = task_options_.valid_instances;  // as far as its mapper reads them
  std::vector<TaskRun*> runs;
  runs.swap(launched_runs_);
  runs.clear();
  for (const TaskSlice& slice : slices_) {
    Point point = slice.box.lower;
    do {
      TaskRun& run = new_run();
      run.launch = &launch;
      run.launch_number = launches_;
      run.task = launch.task;
      run.parent = &context;
      run.point = launch.is_index ? point : context.run->point;
      run.domain = domain;
      run.processor = slice.processor;
      run.number = number_of(slice.processor);
      run.created = now_;
      run.valid_instances = valid_instances;
      run.op = ops_.add();
      if (!place(run)) return;
      if (join != kBeginning) ops_.depend(join, run.op);
      runs.push_back(&run);
    } while (launch.is_index && next_point(slice.box, &point));
  }
  uses_.resize(ops_.size());
  for (TaskRun* run : runs) {
    uses_[run->op] = {OpUse::Kind::kTask, 0, run};
    for (std::uint32_t future : launch.takes) ops_.depend(run->op, context.futures[future]);
  }
  if (join != kBeginning) {
    context.futures[static_cast<std::size_t>(launch.gives)] = join;
    if (ops_.release(join)) ready_.emplace_back(join, -1);
  }
  context.blocked = Context::Blocked::kMapping;
  std::vector<std::int32_t> asked;
  for (TaskRun* run : runs) {
    if (over_) return;
    if (!mapper(run->number).selects()) {
      if (!map(*run)) return;
      continue;
    }
    stations_[static_cast<std::size_t>(run->number)].unmapped.push_back(run);
    if (std::find(asked.begin(), asked.end(), run->number) == asked.end()) {
      asked.push_back(run->number);
    }
  }
  for (std::int32_t processor : asked) select(processor);
  runs.swap(launched_runs_);
  if (points == 0) wake(context, now_ + to_time(options_.costs.issue_s));
}

// The arguments, and the pieces that the requirements are on.
bool Engine::place(TaskRun& run) {
  const app::Launch& launch = *run.launch;
  Context& context = *run.parent;
  std::vector<std::int64_t>& frame = context.frame;
  for (int d = 0; launch.is_index && d < run.point.dimensions(); ++d) {
    frame[static_cast<std::size_t>(launch.point_slot) + static_cast<std::size_t>(d)] = run.point[d];
  }
  app::FormulaFault fault = app::FormulaFault::kNone;
  for (const app::Code& code : launch.arguments) run.arguments.push_back(code.value(frame, fault));
  for (const app::Where& where : launch.data) {
    if (where.what != app::Where::What::kPartition) {
      run.colors.push_back(0);
      run.pieces.push_back(
          where.what == app::Where::What::kRegion ? &spaces_.region(where.region).whole : nullptr);
      continue;
    }
    const app::Partition& partition = data_.partitions[where.index];
    Point color = run.point;
    if (where.from != app::Where::Color::kPoint) {
      const auto& variables = where.from == app::Where::Color::kFrame ? frame : run.arguments;
      color = Point::zeros(static_cast<int>(where.color.size()));
      for (std::size_t d = 0; d < where.color.size(); ++d) {
        color[static_cast<int>(d)] = where.color[d].value(variables, fault);
      }
    }
    const auto index = color_index(partition, color);
    if (fault == app::FormulaFault::kNone && !index) {
      const std::string why = fmt::format("`{}` has no piece {}", partition.name, text_of(color));
      fail(data_.tasks[run.task].name,
           launch.is_index ? fmt::format("at point {}: {}", text_of(run.point), why) : why);
      return false;
    }
    if (fault != app::FormulaFault::kNone) break;
    run.colors.push_back(*index);
    run.pieces.push_back(&spaces_.piece(where.index, *index));
  }
  if (fault == app::FormulaFault::kNone) return true;
  fail(data_.tasks[run.task].name, fmt::format("at point {}: a formula of its launch: {}",
                                               text_of(run.point), app::words_of(fault)));
  return false;
}

// Into slices: by shard where the task that launches is replicated.
bool Engine::cut(const Context& context, const TaskView& view, const Rect& domain,
                 std::vector<TaskSlice>& slices) {
  const Processor by = context.run->processor;
  if (context.shards.size() < 2) return cut_part(by, view, domain, 0, slices);
  const ShardingId id = mapper(number_of(by)).select_sharding_functor(*this, view, context.shards);
  const auto functors = mapper(number_of(by)).sharding_functors();
  static const CyclicSharding cyclic;
  const ShardingFunctor* functor = &cyclic;
  if (id != kCyclicSharding) {
    if (id > functors.size()) {
      fail(view.name, fmt::format("select_sharding_functor answers {}, which is no functor", id));
      return false;
    }
    functor = functors[id - 1];
  }
  if (functor == nullptr) {
    fail(view.name, fmt::format("sharding functor {} is null", id));
    return false;
  }
  SliceAnswer parts;
  for (ShardId shard = 0; shard < context.shards.size(); ++shard) {
    functor->boxes_of(shard, domain, context.shards, [&](const Rect& box) {
      if (!is_empty(box)) parts.slices.push_back({box, context.shards[shard]});
    });
  }
  TaskView any_kind = view;  // a shard's processor need not have a variant of it
  any_kind.variants = {};
  if (!accepts(validate(parts, any_kind, domain, *machine_))) return false;
  for (const TaskSlice& part : parts.slices) {
    if (!cut_part(part.processor, view, part.box, 0, slices)) return false;
  }
  return true;
}

bool Engine::cut_part(const Processor& by, const TaskView& view, const Rect& part, int depth,
                      std::vector<TaskSlice>& slices) {
  SliceAnswer answer;
  mapper(number_of(by)).slice_task(*this, view, part, answer);
  if (!accepts(validate(answer, view, part, *machine_))) return false;
  for (const TaskSlice& slice : answer.slices) {
    if (!slice.recurse) {
      slices.push_back(slice);
      continue;
    }
    if (depth == kMaxRecursion) {
      fail(view.name,
           fmt::format("slice_task wants slices cut again more than {} times", kMaxRecursion));
      return false;
    }
    if (!cut_part(slice.processor, view, slice.box, depth + 1, slices)) return false;
  }
  return true;
}

// ---- Order

void Engine::select(std::int32_t processor) {
  Station& station = stations_[static_cast<std::size_t>(processor)];
  if (station.unmapped.empty() || over_) return;
  asked_in_vain_ += static_cast<std::int64_t>(station.unmapped.size());
  if (asked_in_vain_ > kMaxInVain + 16 * live_) {
    return fail(data_.tasks[station.unmapped.front()->task].name,
                "select_tasks_to_map puts it off for ever");
  }
  std::vector<TaskRun*> waiting;
  waiting.swap(station.unmapped);
  std::vector<std::vector<RequirementView>> requirements(waiting.size());
  std::vector<TaskView> views;
  for (std::size_t i = 0; i < waiting.size(); ++i) {
    views.push_back(view_of(*waiting[i], requirements[i]));
  }
  ScheduleAnswer answer;
  mapper(processor).select_tasks_to_map(*this, views, answer);
  if (!accepts(validate(answer, views, *machine_))) return;
  std::vector<bool> taken(waiting.size());
  for (std::uint32_t i : answer.map) taken[i] = true;
  for (const auto& [i, target] : answer.relocate) taken[i] = true;
  for (std::size_t i = 0; i < waiting.size(); ++i) {
    if (!taken[i]) station.unmapped.push_back(waiting[i]);
  }
  if (!station.unmapped.empty() && answer.map.empty() && answer.relocate.empty()) {
    const auto made = events_made_.find(answer.deferral);
    if (made == events_made_.end()) {
      return fail(views.front().name, "select_tasks_to_map defers it to no event");
    }
    if (made->second) {
      push(now_, Event::Kind::kSelect, nullptr, processor);
    } else {
      deferred_[answer.deferral].push_back(processor);
    }
  } else if (!station.unmapped.empty()) {
    push(now_, Event::Kind::kSelect, nullptr, processor);
  }
  for (std::uint32_t i : answer.map) {
    if (!map(*waiting[i])) return;
  }
  for (const auto& [i, target] : answer.relocate) {
    waiting[i]->processor = target;
    waiting[i]->number = number_of(target);
    stations_[static_cast<std::size_t>(waiting[i]->number)].unmapped.push_back(waiting[i]);
    push(now_, Event::Kind::kSelect, nullptr, waiting[i]->number);
  }
}

// ---- One task

TaskView Engine::view_of(TaskRun& run, std::vector<RequirementView>& requirements) {
  TaskView view = views_.view(run.task, run.launch, requirements);
  for (std::size_t r = 0; r < requirements.size(); ++r) {
    if (run.pieces[r] == nullptr) continue;
    Views::set_piece(where_of(run, r), run.colors[r], *run.pieces[r], requirements[r]);
  }
  view.unique_id = run.op;
  view.current = run.processor;
  view.point = run.point;
  view.shard_variant = run.shard_variant;
  if (run.parent == nullptr) return view;
  view.parent = &run.parent->view;
  view.depth = run.parent->view.depth + 1;
  view.is_index = run.launch->is_index;
  view.domain = view.sharding_domain = run.domain;
  return view;
}

bool Engine::map(TaskRun& run) {
  if (stopped()) return false;
  asked_in_vain_ = 0;
  if (run.op == kBeginning || run.launch == nullptr) {
    run.op = ops_.add();
    uses_.resize(ops_.size());
    uses_[run.op] = {OpUse::Kind::kTask, 0, &run};
  }
  // The node's runtime processor, one task after the other.
  const bool replay = run.parent != nullptr && run.parent->replaying > 0;
  const bool remote = run.parent != nullptr && run.parent->shards.size() < 2 &&
                      run.parent->run->processor.node != run.processor.node;
  RunTime& free = utility(run.processor.node);
  const RunTime arrives = now_ + (remote ? to_time(options_.costs.remote_s) : 0);
  run.mapping = std::max(free, arrives);
  run.mapped = free =
      run.mapping + to_time(replay ? options_.costs.replay_s : options_.costs.map_s);
  if (free > kLongest) {
    fail(data_.name, "it takes longer than 13 days, 2^60 picoseconds");
    return false;
  }

  const TaskView view = view_of(run, point_views_);
  std::vector<std::vector<InstanceView>> valid_kept;
  std::vector<std::span<const InstanceView>> valid(view.requirements.size());
  if (run.valid_instances && mapper(run.number).reads_valid()) {
    valid_kept.resize(valid.size());
    for (std::size_t r = 0; r < valid.size(); ++r) {
      if (run.pieces[r] == nullptr || view.requirements[r].empty()) continue;
      std::vector<InstanceNumber> found;
      store_.valid_for(where_of(run, r).region, *run.pieces[r],
                       spaces_.groups(run.launch->number, r), found);
      for (InstanceNumber number : found) valid_kept[r].push_back(instance_view(number));
      valid[r] = valid_kept[r];
    }
  }
  wish_.clear();
  mapper(run.number).map_task(*this, view, valid, wish_);
  if (!accepts(validate(wish_, view, *machine_))) return false;
  if (wish_.abort_mapping) {
    fail(view.name, "map_task gives up, and nothing says when to ask again");
    return false;
  }
  // The least loaded of those that it may have.
  for (const Processor& processor : wish_.processors) {
    const std::int32_t number = number_of(processor);
    const auto load = [&](std::int32_t n) { return stations_[static_cast<std::size_t>(n)].load; };
    const bool first = &processor == wish_.processors.data();
    if (first || load(number) < load(run.number)) {
      run.number = number;
      run.processor = processor;
    }
  }
  run.variant = &data_.tasks[run.task].variants[wish_.variant - 1];
  run.priority = wish_.task_priority;
  run.profiling = wish_.task_profiling;
  fetches_.clear();
  for (std::uint32_t r = 0; r < view.requirements.size(); ++r) {
    if (!map_requirement(run, view, wish_.requirements[r], r)) return false;
  }
  uses_.resize(ops_.size());
  for (const Fetch& fetch : fetches_) {
    std::uint32_t index = 0;
    if (free_copies_.empty()) {
      index = static_cast<std::uint32_t>(copies_.size());
      copies_.emplace_back();
    } else {
      index = free_copies_.back();
      free_copies_.pop_back();
    }
    copies_[index] = {};
    copies_[index].fetch = fetch;
    copies_[index].name = static_cast<std::int32_t>(run.task);
    copies_[index].mapped = run.mapped + to_time(options_.costs.copy_s);
    if (run.parent != nullptr) copies_[index].since = run.parent->since;
    uses_[fetch.op] = {OpUse::Kind::kCopy, index, nullptr};
  }
  for (const Fetch& fetch : fetches_) {
    if (ops_.release(fetch.op)) ready_.emplace_back(fetch.op, -1);
  }
  ++stations_[static_cast<std::size_t>(run.number)].load;
  if (ops_.release(run.op)) ready_.emplace_back(run.op, -1);
  after_mapping(run);
  return true;
}

void Engine::after_mapping(TaskRun& run) {
  Context* const parent = run.parent;
  if (parent == nullptr) return;
  parent->stage_end = std::max(parent->stage_end, run.mapped);
  const bool launches = !run.variant->leaf && !data_.tasks[run.task].body.empty();
  if (!launches) subtree_mapped(run, {});
  if (--parent->mapping > 0) return;
  wake(*parent, std::max(parent->stage_end, now_ + to_time(options_.costs.issue_s)));
}

const Piece* Engine::shape_of(const RequirementWish& wish, const InstanceWish& candidate,
                              const TaskRun& run, std::uint32_t position) const {
  const Piece* piece = run.pieces[position];
  const app::Where& where = where_of(run, position);
  if (!wish.shares(candidate) || where.what != app::Where::What::kPartition) return piece;
  // Itself, what it was cut from, ..., the whole.
  std::array<const Piece*, kMaxAppPartitionDepth + 1> above;
  std::array<std::int64_t, kMaxAppPartitionDepth + 1> volumes;
  std::size_t count = 0;
  std::int64_t color = run.colors[position];
  for (int at = static_cast<int>(where.index); at >= 0;) {
    const app::Partition& partition = data_.partitions[static_cast<std::size_t>(at)];
    above[count++] = &spaces_.piece(static_cast<std::uint32_t>(at), color);
    color /= partition.own_colors.volume();
    at = partition.outer;
  }
  above[count++] = &spaces_.region(where.region).whole;
  for (std::size_t i = 0; i < count; ++i) volumes[i] = above[i]->box.volume();
  return above[mapper::shared_region(std::span(volumes).first(count), machine_->node_count())];
}

bool Engine::map_requirement(TaskRun& run, const TaskView& view, const RequirementWish& wish,
                             std::uint32_t position) {
  const RequirementView& requirement = view.requirements[position];
  if (requirement.empty()) {
    run.instances.push_back(kVirtual);
    return true;
  }
  const app::Where& where = where_of(run, position);
  if (run.pieces[position] == nullptr) {
    fail(view.name, fmt::format("the data of its requirement {} is not described, so it can be "
                                "explained but not run",
                                position));
    return false;
  }
  if (wish.is_virtual) {
    run.instances.push_back(kVirtual);
    return true;
  }
  const std::uint64_t groups = run.launch == nullptr ? spaces_.groups_of_top_level(position)
                                                     : spaces_.groups(run.launch->number, position);
  const bool reduces = requirement.privilege == Privilege::kReduce;
  std::string tried;
  Origin origin;
  for (const InstanceWish& candidate : wish.candidates()) {
    if (candidate.memory == MemKind::kVirtual) {
      run.instances.push_back(kVirtual);
      return true;
    }
    const std::int32_t memory = memories_.nearest(run.processor, candidate.memory);
    if (memory < 0 ||
        !machine_->can_address(run.processor.node, run.processor.kind, candidate.memory)) {
      continue;
    }
    InstanceQuery query;
    query.region = where.region;
    query.memory = memory;
    query.piece = run.pieces[position];
    query.shape = shape_of(wish, candidate, run, position);
    query.groups = groups;
    query.new_groups = wish.fields == RequirementWish::Fields::kAll && !reduces
                           ? spaces_.region(where.region).all_groups
                           : groups;
    query.layout = candidate.layout;
    query.reduction = reduces;
    query.fresh = wish.fresh;
    query.priority = wish.collect_priority;
    query.statement = static_cast<std::int32_t>(candidate.memory_origin.statement);
    const auto found = store_.find_or_make(query);
    if (!found) {
      const std::int64_t bytes =
          spaces_.region(where.region).bytes_of(query.new_groups) * query.shape->box.volume();
      tried += fmt::format("{}{} ({} bytes wanted, {} free)", tried.empty() ? "" : ", ",
                           name_of(candidate.memory), bytes, store_.free_bytes(memory));
      if (!origin) origin = candidate.memory_origin;
      full_memory_ = memory;
      wanted_bytes_ = bytes;
      continue;
    }
    store_.acquire(*found);
    run.instances.push_back(*found);
    Use use;
    use.task = run.op;
    use.instance = *found;
    use.piece = run.pieces[position];
    use.groups = groups;
    use.privilege = requirement.privilege;
    use.shares = requirement.coherence == Coherence::kSimultaneous ||
                 requirement.coherence == Coherence::kRelaxed ||
                 requirement.coherence == Coherence::kAtomic;
    use.untracked = wish.untracked;
    use.launch = run.launch != nullptr && run.launch->is_index ? run.launch_number : 0;
    if (run.parent != nullptr) use.ancestors = run.parent->ancestors;
    const bool well = store_.use(
        use,
        [&](InstanceNumber target, std::vector<InstanceNumber>& sources) {
          rank(view, target, sources);
        },
        fetches_);
    if (well) return true;
    refuse(RunStatus::kExecuteError,
           {{one_diagnostic(DiagId::kInterferingPoints, view.name, position), {}}},
           "index space launch with interfering requirements");
    return false;
  }
  refuse_memory(run, view, position, tried, origin);
  return false;
}

void Engine::refuse_memory(const TaskRun& run, const TaskView& view, std::uint32_t position,
                           const std::string& tried, Origin origin) {
  const RequirementView& requirement = view.requirements[position];
  const std::string region(requirement.aliases.empty() ? std::string_view("?")
                                                       : requirement.aliases.front());
  Diagnostic diagnostic =
      one_diagnostic(DiagId::kOutOfMemory, fmt::format("{} ({})", position, region), view.name,
                     tried.empty() ? "its processor reaches none of the memories" : tried);
  std::string raw;
  if (!tried.empty()) {
    const Memory memory = memories_[full_memory_];
    for (InstanceNumber number : store_.fill(full_memory_, kShownInstances)) {
      const Instance& instance = store_.instance(number);
      diagnostic.note(fmt::format("{} ({}, {}) holds {} bytes of `{}`{}", name_of(memory.kind),
                                  memory.node, memory.index, instance.bytes,
                                  data_.regions[instance.region].name,
                                  instance.users > 0 ? ", in use" : ""));
    }
    raw = fmt::format(
        "Default mapper failed allocation of size {} bytes for region requirement {} of task {} "
        "(UID {}) in memory {:x} ({}) for processor {:x} ({}). This means the working set of your "
        "application is too big for the allotted capacity of the given memory under the default "
        "mapper's mapping scheme.",
        wanted_bytes_, position, view.name, run.op,
        0x1e00000000000000 + static_cast<std::uint64_t>(full_memory_), name_of(memory.kind),
        0x1d00000000000000 + static_cast<std::uint64_t>(run.number), name_of(run.processor.kind));
  } else {
    raw = diagnostic.message;
  }
  refuse(RunStatus::kMapError, {{std::move(diagnostic), origin}}, std::move(raw));
}

InstanceView Engine::instance_view(InstanceNumber number) const {
  const Instance& instance = store_.instance(number);
  InstanceView view;
  view.id = number + 1;
  view.memory = memories_[instance.memory];
  view.region = instance.region + 1;
  view.layout = instance.layout;
  view.reduction = instance.reduction ? 1 : 0;
  view.bytes = instance.bytes;
  return view;
}

void Engine::rank(const TaskView& view, InstanceNumber target,
                  std::vector<InstanceNumber>& sources) {
  source_views_.clear();
  source_ranks_.clear();
  for (InstanceNumber source : sources) source_views_.push_back(instance_view(source));
  mapper(number_of(view.current))
      .select_sources(*this, view, instance_view(target), source_views_, source_ranks_);
  // What it names, then the rest.
  ranked_.clear();
  const auto add = [&](InstanceNumber source) {
    if (std::find(ranked_.begin(), ranked_.end(), source) == ranked_.end()) {
      ranked_.push_back(source);
    }
  };
  for (std::uint32_t i : source_ranks_) {
    if (i < sources.size()) add(sources[i]);
  }
  for (InstanceNumber source : sources) add(source);
  sources.swap(ranked_);
}

}  // namespace groma::sim
