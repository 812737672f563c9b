// Maps tasks: calls the hooks, checks their answers, and takes instances. The calls that mappers
// make by themselves are in instances.cc.
#include "simulate/mapping.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/one_diagnostic.h"
#include "base/point_text.h"
#include "base/quantities.h"
#include "base/saturating.h"
#include "evaluate/processors.h"
#include "mapper/cut.h"
#include "mapper/default_policy.h"
#include "simulate/legion_words.h"

namespace groma::sim {
namespace {

// How many regions a message about a full memory lists.
constexpr std::size_t kShownRegions = 4;

// Bytes of a run for each node, processor and memory of its machine: the sum over the arrays of
// Mapping, Memories, Store, Links, Engine and RunRecord that have an entry for each.
constexpr std::int64_t kNodeBytes = 128, kProcessorBytes = 160, kMemoryBytes = 208;

// What a machine, or one of its nodes, has.
struct Counts {
  std::int64_t processors = 0, memories = 0;
};

Counts counts_of(const NodeType& node) {
  Counts counts;
  for (const ProcessorGroup& group : node.processors) counts.processors += group.count;
  for (const MemoryGroup& group : node.memories) counts.memories += group.count;
  return counts;
}

// Counts each type of node once, since there may be a million nodes.
Counts counts_of(const Machine& machine) {
  std::vector<Counts> by_type;
  for (const NodeType& type : machine.node_types()) by_type.push_back(counts_of(type));
  Counts all;
  for (const std::uint32_t type : machine.nodes()) {
    all.processors += by_type[type].processors;
    all.memories += by_type[type].memories;
  }
  return all;
}

// Returns " from (1, 1)" for a launch that does not begin at 0, else nothing.
std::string corner_text(const Point& lower) {
  const bool at_zero = lower == Point::zeros(lower.dimensions());
  return at_zero ? std::string() : " from " + text_of(lower);
}

}  // namespace

std::int64_t machine_bytes(const Machine& machine) {
  const Counts counts = counts_of(machine);
  return machine.node_count() * kNodeBytes + counts.processors * kProcessorBytes +
         counts.memories * kMemoryBytes;
}

std::string why_too_large(const Machine& machine, std::int64_t bytes, std::int64_t max_bytes) {
  const Counts counts = counts_of(machine);
  if (std::max(counts.processors, counts.memories) > INT32_MAX) {
    return fmt::format("its machine has more than {} processors or memories", INT32_MAX);
  }
  const std::int64_t needs = saturating_add(bytes, machine_bytes(machine));
  if (needs <= max_bytes) return "";
  return fmt::format("{} of memory is needed to simulate it on {} node{}, and {} is allowed",
                     bytes_words(needs), machine.node_count(), machine.node_count() == 1 ? "" : "s",
                     bytes_words(max_bytes));
}

// Resets the fields that the next user of this object does not set itself.
void TaskRun::clear() {
  parent = nullptr;
  launch = nullptr;
  of = nullptr;
  ended = false;
  cause = record = -1;
  priority = 0;
  shard_variant = 0;
  arguments.clear();
  pieces.clear();
  instances.clear();
}

// Numbers the processors: nodes in order, then kinds, then indices. Their mappers are made when
// they are first asked.
Mapping::Mapping(const app::Data& data, const Spaces& spaces,
                 std::shared_ptr<const Machine> machine, const MapperFactory& make,
                 std::int64_t max_bytes)
    : data_(data),
      spaces_(spaces),
      machine_(std::move(machine)),
      make_(make),
      max_bytes_(max_bytes),
      given_bytes_(spaces.bytes() + machine_bytes(*machine_)),
      memories_(*machine_),
      budget_([this] { return stops() || bytes() > max_bytes_; }),
      store_(data.regions.size(), spaces, memories_, budget_),
      valid_data_(data.regions.size(), spaces, ops_, store_, max_bytes, budget_),
      views_(data) {
  store_.on_removal = [this](InstanceNumber number) {
    const auto given = given_.find(number);
    if (given == given_.end()) return;
    for (std::int32_t processor : given->second) collected_.emplace_back(processor, number);
    given_.erase(given);
  };
  first_processor_.resize(static_cast<std::size_t>(machine_->node_count()));
  processors_.reserve(static_cast<std::size_t>(counts_of(*machine_).processors));
  for (std::int64_t node = 0; node < machine_->node_count(); ++node) {
    for (std::size_t k = 0; k < kProcKindCount; ++k) {
      const auto kind = static_cast<ProcKind>(k);
      first_processor_[static_cast<std::size_t>(node)][k] =
          static_cast<std::int32_t>(processors_.size());
      for (std::int64_t i = 0; i < machine_->processor_count(node, kind); ++i) {
        processors_.push_back({kind, node, i});
      }
    }
  }
  mappers_.resize(processors_.size());
}

Mapping::~Mapping() = default;

// Returns the number of a processor, or -1 if the machine has no such processor.
std::int32_t Mapping::number_of(const Processor& p) const {
  if (p.node < 0 || p.node >= machine_->node_count() || p.index < 0 ||
      p.index >= machine_->processor_count(p.node, p.kind)) {
    return -1;
  }
  return first_processor_[static_cast<std::size_t>(p.node)][static_cast<std::size_t>(p.kind)] +
         static_cast<std::int32_t>(p.index);
}

// Returns the number of a memory, or -1 if the machine has no such memory or the memory is empty.
std::int32_t Mapping::number_of(const Memory& memory) const {
  if (memory.node < 0 || memory.node >= machine_->node_count()) return -1;
  const MemoryGroup* group = machine_->node(memory.node).find(memory.kind);
  if (group == nullptr || memory.index < 0 || memory.index >= group->count) return -1;
  return memories_.find(memory.node, memory.kind, memory.index);
}

// Returns the mapper of a processor and notes that this processor speaks. If the factory makes no
// mapper, the run fails and a default mapper is returned, so that callers need no check.
Mapper& Mapping::mapper(std::int32_t processor) {
  std::unique_ptr<Mapper>& mapper = mappers_[static_cast<std::size_t>(processor)];
  const Processor& local = processors_[static_cast<std::size_t>(processor)];
  if (!mapper) {
    mapper = make_(local);
    if (!mapper) {
      fail(data_.name, "there is no mapper for one of its processors");
      mapper = std::make_unique<DefaultMapper>(MapperSite{.machine = machine_, .local = local});
    }
  }
  speaking_ = local;
  for_operation_ = true;
  return *mapper;
}

// Returns the mapper for a hook that is not about an operation. Such a hook cannot make instances.
Mapper& Mapping::scheduler(std::int32_t processor) {
  Mapper& mapper = this->mapper(processor);
  for_operation_ = false;
  return mapper;
}

// Returns whether a task has a variant for a kind of processor.
bool Mapping::has_variant(std::uint32_t task, ProcKind kind) const {
  const std::vector<app::Variant>& variants = data_.tasks[task].variants;
  return std::any_of(variants.begin(), variants.end(),
                     [kind](const app::Variant& v) { return v.kind == kind; });
}

// Ends the run if the answer of the mapper that speaks was refused. The run's output has Legion's
// words, or our message if Legion has none. Returns true if there are no refusals.
bool Mapping::accepts(std::vector<Refusal> refusals, const TaskView& task, const TaskWish* wish) {
  if (refusals.empty()) return true;
  std::string raw =
      legion_words(refusals.front(), {task, mapper(number_of(speaking_)).name(), wish}, memories_);
  if (raw.empty()) raw = refusals.front().diagnostic.message;
  refuse(RunStatus::kMapError, std::move(refusals), std::move(raw));
  return false;
}

// Ends the run. Only the first call counts.
bool Mapping::refuse(RunStatus status, std::vector<Refusal> refusals, std::string raw) {
  if (over_) return false;
  // A mapper that was stopped refuses answers that it would otherwise give, so ask the budget
  // first.
  if (budget_.ask()) {
    end_by_budget();
    return false;
  }
  over_ = true;
  result_.status = status;
  result_.refusals = std::move(refusals);
  result_.raw = std::move(raw);
  return true;
}

// Ends the run with the diagnostic `cannot-run`. Always returns false.
bool Mapping::fail(std::string_view task, const std::string& why, std::string_view place,
                   RunStatus status) {
  Diagnostic diagnostic = one_diagnostic(DiagId::kCannotRun, task, why);
  if (!place.empty()) diagnostic.note(fmt::format("{} of the application", place));
  refuse(status, {{std::move(diagnostic), {}}}, why);
  return false;
}

// Adds a note to each refusal that names the launch, or the point and its processor. Always returns
// false.
bool Mapping::noted(const app::Launch* launch, const TaskRun* run) {
  std::string note;
  if (run != nullptr && run->launch != nullptr) {
    const std::string on = mapper::text_of(run->processor);
    const std::string& name = data_.tasks[run->task].name;
    note = !run->launch->is_index
               ? fmt::format("`{}` on {}", name, on)
               : fmt::format("point {} of a launch of `{}` over {}{}, on {}", text_of(run->point),
                             name, fmt::join(run->of->domain.extents.coordinates(), " x "),
                             corner_text(run->of->domain.lower), on);
  } else if (launch != nullptr) {
    note = fmt::format("in a launch of `{}`", data_.tasks[launch->task].name);
  }
  for (Refusal& refusal : result_.refusals) {
    if (!note.empty()) refusal.diagnostic.note(note);
  }
  return false;
}

// Returns about how many bytes of memory the mapping state uses.
std::int64_t Mapping::bytes() const {
  return given_bytes_ + ops_.bytes() + store_.bytes() + valid_data_.bytes() +
         heap_bytes(slices_.bytes()) + shape_bytes_;
}

// Returns false, and ends the run, if the budget is exceeded or if `more` bytes would exceed the
// memory limit.
bool Mapping::within_limits(std::uint32_t task, std::int64_t more) {
  if (budget_.exceeded()) {
    end_by_budget();
    return false;
  }
  const std::int64_t bytes = this->bytes();
  if (bytes <= max_bytes_ && more <= max_bytes_ - bytes) return true;
  return fail_of_memory(data_.tasks[task].name);
}

bool Mapping::spend(std::int64_t units) {
  if (!budget_.spend(units)) return true;
  end_by_budget();
  return false;
}

// Ends the run as too large, with the memory limit in the message. Always returns false.
bool Mapping::fail_of_memory(std::string_view task) {
  if (over_) return false;
  const std::string why = too_little_memory(max_bytes_);
  Diagnostic diagnostic = one_diagnostic(DiagId::kCannotRun, task, why);
  diagnostic.help(std::string(kHelpWithMemory));
  over_ = true;
  result_.status = RunStatus::kTooLarge;
  result_.refusals = {{std::move(diagnostic), {}}};
  result_.raw = why;
  return false;
}

// Ends the run because its budget is exceeded: as too large if it needs too much memory, else as
// stopped.
void Mapping::end_by_budget() {
  if (over_) return;
  if (bytes() > max_bytes_) {
    fail_of_memory(data_.name);
    return;
  }
  over_ = true;
  result_.status = RunStatus::kStopped;
}

// ---- Tasks that launch, and what they launch

// Asks the mapper where the top-level task starts and whether it is replicated. The mapper asked is
// that of the first processor with a variant for the task. Returns false, with a refusal, if the
// task cannot start.
bool Mapping::place_top(TaskRun& run) {
  if (data_.top_level < 0) {
    return fail(data_.name, "it has no top-level task");
  }
  const auto number = static_cast<std::uint32_t>(data_.top_level);
  const app::Task& task = data_.tasks[number];
  if (task.arguments > 0) {
    return fail(task.name, "the top-level task has arguments, which nobody gives it");
  }
  // Find the first processor that has a variant of the task. Its mapper is asked.
  std::int32_t first = -1;
  for (const ProcKind kind : mapper::kTopLevelKinds) {
    const bool has = has_variant(number, kind);
    for (std::size_t p = 0; p < processors_.size() && first < 0 && has; ++p) {
      if (processors_[p].kind == kind) first = static_cast<std::int32_t>(p);
    }
  }
  if (first < 0) {
    return fail(task.name, "no processor of the machine has a variant of it");
  }
  run.task = number;
  run.processor = processors_[static_cast<std::size_t>(first)];
  for (const app::Requirement& requirement : task.requirements) {
    const app::Where& where = requirement.data;
    run.pieces.push_back(
        where.what == app::Where::What::kRegion ? &spaces_.region(where.region).whole : nullptr);
  }
  TaskView view = view_of(run, launch_views_);
  task_options_.clear();
  mapper(first).select_task_options(*this, view, task_options_);
  if (!accepts(validate(task_options_, view, *machine_), view)) return false;
  run.processor = task_options_.initial;
  if (task_options_.replicate) {
    ReplicateAnswer answer;
    view = view_of(run, launch_views_);
    mapper(number_of(run.processor)).replicate_task(*this, view, answer);
    if (!accepts(validate(answer, view, *machine_), view)) return false;
    if (answer.processors.size() > 1) {
      top_shards_ = ShardTable(answer.processors);
      run.processor = answer.processors.front();
      run.shard_variant = answer.variant;
    }
  }
  run.number = number_of(run.processor);
  return true;
}

// Fills in the context of a task that is about to launch tasks. Returns false if tasks are nested
// more than kMaxTaskDepth deep.
bool Mapping::open(Context& context, TaskRun& run) {
  const app::Task& task = data_.tasks[run.task];
  if (run.parent != nullptr && run.parent->view.depth >= kMaxTaskDepth) {
    return fail(task.name, fmt::format("tasks launch each other more than {} deep", kMaxTaskDepth));
  }
  context.run = &run;
  context.view = view_of(run, context.requirements);
  context.view.requirements = context.requirements;
  context.frame = run.arguments;
  context.frame.resize(static_cast<std::size_t>(task.frame_size));
  if (run.parent != nullptr) context.ancestors = run.parent->ancestors;
  context.ancestors.push_back(run.op);
  if (run.parent == nullptr) context.shards = top_shards_;
  context.view.shards = static_cast<std::uint32_t>(std::max<std::size_t>(1, context.shards.size()));
  return true;
}

// Computes the number of iterations. Returns false, with a refusal, if the formula has no value.
bool Mapping::count(const Context& context, const app::Loop& loop, std::int64_t& count) {
  app::FormulaFault fault = app::FormulaFault::kNone;
  count = loop.count.value(context.frame, fault);
  return fault == app::FormulaFault::kNone ||
         fail(data_.tasks[context.run->task].name,
              fmt::format("the count of a loop: {}", app::words_of(fault)), loop.place);
}

// Computes the launch domain of an index launch. Returns false, with a refusal, if the formula has
// no value. A single task leaves `domain` as it is.
bool Mapping::domain_of(const Context& context, const app::Launch& launch, Rect& domain) {
  if (!launch.is_index) return true;
  app::FormulaFault fault = app::FormulaFault::kNone;
  const auto found = app::domain_of(launch, context.frame, fault);
  if (found) domain = *found;
  return found.has_value() ||
         fail(data_.tasks[launch.task].name,
              fmt::format("the domain of its launch: {}", app::words_of(fault)), launch.place);
}

// Asks select_task_options of the launching task's mapper. An index launch is then cut into slices;
// a single task gets one slice. Returns false if an answer is refused.
bool Mapping::start_launch(Context& context, const app::Launch& launch, const Rect& domain) {
  TaskView view = views_.view(launch.task, &launch, launch_views_);
  view.parent = &context.view;
  view.depth = context.view.depth + 1;
  view.current = context.run->processor;
  view.is_index = launch.is_index;
  view.domain = view.sharding_domain = domain;
  if (!launch.is_index) view.point = context.run->point;
  slices_.clear();
  task_options_.clear();
  mapper(context.run->number).select_task_options(*this, view, task_options_);
  if (!accepts(validate(task_options_, view, *machine_), view)) return false;
  view.current = task_options_.initial;
  if (launch.is_index) return cut(context, view, domain, slices_);
  slices_.push_back({Rect{}, task_options_.initial, false, task_options_.stealable});
  return true;
}

// Sets up `run` as one point of the launch in that slice. Returns false, with a refusal, if
// find_pieces() fails.
bool Mapping::place(TaskRun& run, Context& context, const app::Launch& launch,
                    const std::shared_ptr<const LaunchRun>& of, const TaskSlice& slice,
                    const Point& point) {
  run.launch = &launch;
  run.of = of;
  run.task = launch.task;
  run.parent = &context;
  run.point = launch.is_index ? point : context.run->point;
  run.processor = slice.processor;
  run.number = number_of(slice.processor);
  run.stealable = slice.stealable;
  return find_pieces(run);
}

// Computes the arguments of the task, and the piece of each requirement. Returns false, with a
// refusal, if a formula has no value, if a partition has no piece for the point, or if two
// requirements conflict.
bool Mapping::find_pieces(TaskRun& run) {
  const app::Launch& launch = *run.launch;
  Context& context = *run.parent;
  std::vector<std::int64_t>& frame = context.frame;
  for (int d = 0; launch.is_index && d < run.point.dimensions(); ++d) {
    frame[static_cast<std::size_t>(launch.point_slot) + static_cast<std::size_t>(d)] = run.point[d];
  }
  app::FormulaFault fault = app::FormulaFault::kNone;
  std::int64_t work = 8;
  for (const app::Code& code : launch.arguments) {
    run.arguments.push_back(code.value(frame, fault));
    work += 1 + code.work();
  }
  for (const app::Where& where : launch.data) {
    work += 4;
    if (where.what != app::Where::What::kPartition) {
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
        work += 1 + where.color[d].work();
      }
    }
    const auto index = color_index(partition, color);
    if (fault == app::FormulaFault::kNone && !index) {
      const std::string why = fmt::format("`{}` has no piece {}", partition.name, text_of(color));
      return fail(data_.tasks[run.task].name,
                  launch.is_index ? fmt::format("at point {}: {}", text_of(run.point), why) : why,
                  launch.place);
    }
    if (fault != app::FormulaFault::kNone) break;
    run.pieces.push_back(&spaces_.piece(where.index, *index));
  }
  if (!spend(work)) return false;
  if (fault == app::FormulaFault::kNone) return keeps_apart(run);
  return fail(data_.tasks[run.task].name,
              fmt::format("at point {}: a formula of its launch: {}", text_of(run.point),
                          app::words_of(fault)),
              launch.place);
}

// Returns false, with a refusal, if two requirements of the task conflict and their pieces overlap.
bool Mapping::keeps_apart(const TaskRun& run) {
  const Spaces::Pairs& pairs = spaces_.clashes(run.launch->number);
  if (!spend(static_cast<std::int64_t>(pairs.size()))) return false;
  for (const auto& [a, b] : pairs) {
    if (!meet(*run.pieces[a], *run.pieces[b])) continue;
    const std::string& name = data_.tasks[run.task].name;
    refuse(RunStatus::kExecuteError,
           {{one_diagnostic(DiagId::kAliasedRequirements, a, b, name), {}}},
           fmt::format("Found aliasing region requirements {} and {} of {} (UID: {}). Individual "
                       "task launches are not permitted  to have interfering region requirements.",
                       a, b, name, run.op));
    return false;
  }
  return true;
}

// Cuts the domain of an index launch into slices, by sharding if the task is replicated, and by
// slice_task.
bool Mapping::cut(const Context& context, const TaskView& view, const Rect& domain,
                  TaskSlices& slices) {
  const mapper::Cutter cutter{
      *machine_, *this, [this](const Processor& p) -> Mapper& { return mapper(number_of(p)); },
      [&](std::vector<Refusal> refusals) { return accepts(std::move(refusals), view); },
      [&](const std::string& why) { return fail(view.name, why); }};
  return cutter.cut(view, context.run->processor, domain, context.shards, slices);
}

// ---- One task

// Returns the task as mappers see it. `requirements` holds the memory of the view's requirements.
TaskView Mapping::view_of(TaskRun& run, std::vector<RequirementView>& requirements) {
  TaskView view = views_.view(run.task, run.launch, requirements);
  for (std::size_t r = 0; r < requirements.size(); ++r) {
    if (run.pieces[r] == nullptr) continue;
    Views::set_piece(where_of(run, r), *run.pieces[r], spaces_, requirements[r]);
  }
  view.unique_id = run.op;
  view.current = run.processor;
  view.point = run.point;
  view.shard_variant = run.shard_variant;
  if (run.parent == nullptr) return view;
  view.parent = &run.parent->view;
  view.depth = run.parent->view.depth + 1;
  view.is_index = run.launch->is_index;
  view.domain = view.sharding_domain = run.of->domain;
  return view;
}

// Asks map_task and checks its answer, which is kept in `wish_`. The mapper sees the valid
// instances of each requirement if it asked for them and reads them. Returns false if the answer is
// refused or gives up.
bool Mapping::ask(TaskRun& run, const TaskView& view, Mapper& mapper) {
  // Count the work of the hook and of the checks of its answer.
  if (!spend(16 + 8 * static_cast<std::int64_t>(view.requirements.size()))) return false;
  valid_.assign(view.requirements.size(), {});
  if (run.of != nullptr && run.of->valid_instances && mapper.reads_valid()) {
    valid_kept_.assign(valid_.size(), {});
    for (std::uint32_t r = 0; r < valid_.size(); ++r) {
      if (run.pieces[r] == nullptr || view.requirements[r].empty()) continue;
      std::vector<InstanceNumber> found;
      valid_data_.valid_for(where_of(run, r).region, *run.pieces[r], groups_of(run, r), found);
      for (InstanceNumber number : found) valid_kept_[r].push_back(instance_view(number));
      valid_[r] = valid_kept_[r];
    }
  }
  wish_.clear();
  let_go();
  mapper.map_task(*this, view, valid_, wish_);
  if (!accepts(validate(wish_, view, *machine_), view, &wish_)) return false;
  if (!wish_.abort_mapping && !check_named(run, view)) return false;
  return !wish_.abort_mapping ||
         fail(view.name, "map_task gives up, and nothing says when to ask again");
}

// Sets the processor, variant, priority and profiling of the task from `wish_`.
void Mapping::take(TaskRun& run, const Processor& processor) {
  run.processor = processor;
  run.number = number_of(processor);
  run.variant = &data_.tasks[run.task].variants[wish_.variant - 1];
  run.priority = wish_.task_priority;
  run.profiling = wish_.task_profiling;
}

// Returns the field groups that a requirement of the task uses.
std::uint64_t Mapping::groups_of(const TaskRun& run, std::uint32_t position) const {
  return run.launch == nullptr ? spaces_.groups_of_top_level(position)
                               : spaces_.groups(run.launch->number, position);
}

// Returns the piece that a new instance for the candidate covers. It is the requirement's own
// piece, or a larger one above it if neighbours may share the instance (RequirementWish::shares).
const Piece* Mapping::shape_of(const RequirementWish& wish, const InstanceWish& candidate,
                               const TaskRun& run, std::uint32_t position) const {
  const Piece* piece = run.pieces[position];
  const app::Where& where = where_of(run, position);
  if (!wish.shares(candidate) || where.what != app::Where::What::kPartition) return piece;
  // Collect the piece itself, the pieces that it was cut from, and the whole region at the end.
  std::array<const Piece*, kMaxAppPartitionDepth + 1> above;
  std::array<std::int64_t, kMaxAppPartitionDepth + 1> volumes;
  std::size_t count = 0;
  std::int64_t color = spaces_.color_of(where.index, *piece);
  for (int at = static_cast<int>(where.index); at >= 0;) {
    const app::Partition& partition = data_.partitions[static_cast<std::size_t>(at)];
    above[count++] = &spaces_.piece(static_cast<std::uint32_t>(at), color);
    color /= partition.own_colors.volume();
    at = partition.outer;
  }
  above[count++] = &spaces_.region(where.region).whole;
  for (std::size_t i = 0; i < count; ++i) volumes[i] = above[i]->points();
  return above[mapper::shared_region(std::span(volumes).first(count), machine_->node_count())];
}

// Translates a candidate of a wish into a query of the store. Returns nothing if the processor of
// the task does not reach the memory of the candidate.
std::optional<InstanceQuery> Mapping::query(const TaskRun& run, const RequirementView& requirement,
                                            const RequirementWish& wish,
                                            const InstanceWish& candidate,
                                            std::uint32_t position) const {
  const std::int32_t memory = memories_.nearest(run.processor, candidate.memory);
  if (memory < 0) return std::nullopt;
  const bool reduces = requirement.privilege == Privilege::kReduce;
  InstanceQuery query;
  query.region = where_of(run, position).region;
  query.memory = memory;
  query.piece = run.pieces[position];
  query.shape = shape_of(wish, candidate, run, position);
  query.groups = groups_of(run, position);
  query.new_groups = wish.fields == RequirementWish::Fields::kAll && !reduces
                         ? spaces_.region(query.region).all_groups
                         : query.groups;
  query.layout = spaces_.region(query.region).layout(candidate.layout, query.new_groups);
  query.reduction = reduces;
  query.fresh = wish.fresh;
  query.priority = wish.collect_priority;
  query.statement = static_cast<std::int32_t>(candidate.memory_origin.statement);
  return query;
}

// Takes an instance for one requirement: the named one, or the first candidate that exists or has
// room. Empty and virtual requirements take none. Returns false, with a refusal, if no candidate
// works.
bool Mapping::map_requirement(TaskRun& run, const TaskView& view, const RequirementWish& wish,
                              std::uint32_t position) {
  const RequirementView& requirement = view.requirements[position];
  if (requirement.empty()) {
    run.instances.push_back(kVirtual);
    return true;
  }
  if (run.pieces[position] == nullptr) {
    const std::string why = fmt::format("its requirement {} has no `data`", position);
    Diagnostic diagnostic = one_diagnostic(DiagId::kCannotRun, view.name, why);
    diagnostic.note(
        fmt::format("/tasks/{}/requirements/{} of the application", run.task, position));
    diagnostic.help("`data` names the region or partition that it is on; explain does without");
    refuse(RunStatus::kExecuteError, {{std::move(diagnostic), {}}}, why);
    return false;
  }
  if (wish.is_virtual) return hand_on(run, view, position);
  if (wish.instance != 0) {
    const auto number = static_cast<InstanceNumber>(wish.instance - 1);
    store_.take(number, static_cast<std::int32_t>(wish.instance_origin.statement));
    return use_instance(run, view, wish, position, number);
  }
  std::string tried;
  std::optional<InstanceQuery> full;  // the last query that had no room
  Origin origin;
  for (const InstanceWish& candidate : wish.candidates()) {
    if (candidate.memory == MemKind::kVirtual) return hand_on(run, view, position);
    const auto query = this->query(run, requirement, wish, candidate, position);
    if (!query) continue;
    const auto found = store_.find_or_make(*query);
    if (!found) {
      const std::int64_t needs = store_.bytes_of(*query);
      const std::int64_t free = store_.free_bytes(query->memory);
      tried += fmt::format("{}{} (needs {}, has {} free, {} too little)", tried.empty() ? "" : ", ",
                           name_of(candidate.memory), bytes_words(needs), bytes_words(free),
                           bytes_words(needs - free));
      if (!origin) origin = candidate.memory_origin;
      full = query;
      continue;
    }
    return use_instance(run, view, wish, position, *found);
  }
  refuse_memory(run, view, position, tried, full, origin);
  return false;
}

// Returns how the task uses the data of a requirement. The instance is left open.
Use Mapping::use_of(const TaskRun& run, const TaskView& view, std::uint32_t position) const {
  const RequirementView& requirement = view.requirements[position];
  Use use;
  use.task = run.op;
  use.piece = run.pieces[position];
  use.groups = groups_of(run, position);
  use.privilege = requirement.privilege;
  use.shares = requirement.coherence == Coherence::kSimultaneous ||
               requirement.coherence == Coherence::kRelaxed ||
               requirement.coherence == Coherence::kAtomic;
  use.launch = run.launch != nullptr && run.launch->is_index ? run.of->number : 0;
  if (run.parent != nullptr) use.ancestors = run.parent->ancestors;
  return use;
}

// Maps a requirement without an instance, because the tasks that this task launches map their
// parts. Returns false, with a refusal, if points of the launch conflict.
bool Mapping::hand_on(TaskRun& run, const TaskView& view, std::uint32_t position) {
  run.instances.push_back(kVirtual);
  if (valid_data_.touch(where_of(run, position).region, use_of(run, view, position))) {
    return within_limits(run.task);
  }
  refuse_point(run, view, position);
  return false;
}

// Makes the task use the instance, and adds the copies that are needed before to `fetches_`.
// Returns false, with a refusal, if points of the launch conflict.
bool Mapping::use_instance(TaskRun& run, const TaskView& view, const RequirementWish& wish,
                           std::uint32_t position, InstanceNumber number) {
  store_.acquire(number);
  run.instances.push_back(number);
  Use use = use_of(run, view, position);
  use.instance = number;
  use.untracked = wish.untracked;
  const bool well = valid_data_.use(
      use,
      [&](InstanceNumber target, std::vector<InstanceNumber>& sources) {
        rank(view, target, sources);
      },
      fetches_);
  if (well) return within_limits(run.task);
  refuse_point(run, view, position);
  return false;
}

// Ends the run because two points of a launch conflict on this requirement. A note names the other
// point, if it is found among the first pieces; `pieces_to_look_at_` limits this search for the
// whole run.
void Mapping::refuse_point(TaskRun& run, const TaskView& view, std::uint32_t position) {
  const bool refused =
      refuse(RunStatus::kExecuteError,
             {{one_diagnostic(DiagId::kInterferingPoints, view.name, position), {}}},
             "index space launch with interfering requirements");
  if (!refused) return;
  const std::vector<app::Requirement>& requirements = data_.tasks[run.task].requirements;
  const auto clashes = [&](const TaskRun& other, std::uint32_t r) {
    return app::interfere(where_of(run, position).privilege, where_of(run, r).privilege) &&
           other.pieces[r] != nullptr &&
           where_of(run, r).region == where_of(run, position).region &&
           (groups_of(run, r) & groups_of(run, position)) != 0 &&
           meet(*other.pieces[r], *run.pieces[position]);
  };
  Diagnostic& diagnostic = result_.refusals.front().diagnostic;
  diagnostic.note(fmt::format("{} of the application", run.launch->place));
  Point point = run.of->domain.lower;
  do {
    pieces_to_look_at_ -= static_cast<std::int64_t>(requirements.size());
    if (point == run.point) continue;
    TaskRun other;
    other.launch = run.launch;
    other.of = run.of;
    other.task = run.task;
    other.parent = run.parent;
    other.point = point;
    find_pieces(other);
    if (other.pieces.size() < requirements.size()) continue;  // the other point has no pieces
    for (std::uint32_t r = 0; r < other.pieces.size(); ++r) {
      if (!clashes(other, r)) continue;
      diagnostic.note(
          fmt::format("point {} has some of the same data as its region {}", text_of(point), r));
      return;
    }
  } while (pieces_to_look_at_ > 0 && next_point(run.of->domain, &point));
}

// Ends the run because no candidate has room for the requirement. The notes list what the last
// memory holds. A help line says how much an instance without alignment needs, if that is at most
// half.
void Mapping::refuse_memory(const TaskRun& run, const TaskView& view, std::uint32_t position,
                            const std::string& tried, const std::optional<InstanceQuery>& full,
                            Origin origin) {
  const RequirementView& requirement = view.requirements[position];
  const std::string region(requirement.aliases.empty() ? std::string_view("?")
                                                       : requirement.aliases.front());
  Diagnostic diagnostic =
      one_diagnostic(DiagId::kOutOfMemory, RegionArg{position, region}, view.name,
                     tried.empty() ? "its processor reaches none of the memories" : tried);
  std::string raw;
  if (full) {
    const Memory memory = memories_[full->memory];
    const std::int64_t wanted = store_.bytes_of(*full);
    const std::int64_t capacity = memories_.group(full->memory).capacity_bytes;
    const std::int64_t in_all = saturating_add(capacity - store_.free_bytes(full->memory), wanted);
    diagnostic.note(fmt::format("{} needs {} in all, with what lies there, and has {}",
                                mapper::text_of(memory), bytes_words(in_all),
                                bytes_words(capacity)));
    for (const Store::Held& held : store_.contents(full->memory, kShownRegions)) {
      const std::string used = held.used == held.count ? ", in use"
                               : held.used > 0 ? fmt::format(", {} of them in use", held.used)
                                               : "";
      diagnostic.note(fmt::format("{} holds {} instance{} of `{}`, {}{}", mapper::text_of(memory),
                                  held.count, held.count == 1 ? "" : "s",
                                  data_.regions[held.region].name, bytes_words(held.bytes), used));
    }
    InstanceQuery unaligned = *full;
    unaligned.layout.align_op = AlignOp::kNone;
    const std::int64_t least = store_.bytes_of(unaligned);
    if (wanted / 2 >= least) {
      const bool together = full->layout.fields == FieldOrder::kAos;
      diagnostic.help(fmt::format("unaligned it takes {}{}", bytes_words(least),
                                  together ? ": in AOS each field of each point is aligned" : ""));
    }
    raw = fmt::format(
        "Default mapper failed allocation of size {} bytes for region requirement {} of task {} "
        "(UID {}) in memory {:x} ({}) for processor {:x} ({}). This means the working set of your "
        "application is too big for the allotted capacity of the given memory under the default "
        "mapper's mapping scheme.",
        wanted, position, view.name, run.op, memory_id(full->memory), name_of(memory.kind),
        processor_id(run.number), name_of(run.processor.kind));
  } else {
    raw = diagnostic.message;
  }
  refuse(RunStatus::kMapError, {{std::move(diagnostic), origin}}, std::move(raw));
}

// Returns the refusal for a copy between memories that no channel connects.
Refusal Mapping::no_route(const Instance& from, const Instance& to) const {
  const Memory &a = memories_[from.memory], &b = memories_[to.memory];
  return {one_diagnostic(DiagId::kNoRoute, fmt::format("{} of node {}", name_of(a.kind), a.node),
                         fmt::format("{} of node {}", name_of(b.kind), b.node)),
          Origin{static_cast<std::uint32_t>(to.statement)}};
}

// Ends the run if a formula of the task's variant has no value.
void Mapping::fail_formula(const TaskRun& run, app::FormulaFault fault) {
  if (fault == app::FormulaFault::kNone) return;
  fail(data_.tasks[run.task].name,
       fmt::format("a formula of its variant for {}: {}", name_of(run.variant->kind),
                   app::words_of(fault)),
       run.variant->place);
}

// Asks select_sources and sorts `sources` by its answer, best first. Sources that the answer does
// not name follow in their old order.
void Mapping::rank(const TaskView& view, InstanceNumber target,
                   std::vector<InstanceNumber>& sources) {
  source_views_.clear();
  source_ranks_.clear();
  for (InstanceNumber source : sources) source_views_.push_back(instance_view(source));
  mapper(number_of(view.current))
      .select_sources(*this, view, instance_view(target), source_views_, source_ranks_);
  // The sources that the mapper names come first.
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
