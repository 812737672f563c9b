// Describes a task of StarPU as a TaskView, calls the hooks and checks the answers.
#include "starpu/task_chooser.h"

#include <fmt/format.h>
#include <starpu_scheduler.h>

#include <algorithm>
#include <utility>

namespace groma::starpu {
namespace {

// Limits on what a chooser keeps. Beyond them it forgets and asks again.
constexpr std::size_t kMaxNames = 4'096;
constexpr std::int64_t kMaxTablePoints = 1 << 22;
constexpr std::size_t kMaxTables = 64;  // for tasks of one name
constexpr std::size_t kMaxCachedChoices = 1 << 14;

constexpr VariantId kCpuVariant = 1;
constexpr VariantId kGpuVariant = 2;

// StarPU as mappers see it. It moves data between memories itself, in the one layout that the
// program gave it.
class StarpuRuntime final : public MapperRuntime {
 public:
  Capabilities capabilities() const override {
    Capabilities can;
    can.layouts = can.alignment = can.compact = can.collection = false;
    can.replication = can.stealing = can.events = can.messages = can.instances = false;
    return can;
  }
};

Privilege privilege_of(starpu_data_access_mode mode) {
  if ((mode & STARPU_REDUX) != 0) return Privilege::kReduce;
  if ((mode & STARPU_RW) == STARPU_RW) return Privilege::kReadWrite;
  if ((mode & (STARPU_W | STARPU_SCRATCH)) != 0) return Privilege::kWriteDiscard;
  return (mode & STARPU_R) != 0 ? Privilege::kReadOnly : Privilege::kNoAccess;
}

// The one field of all data.
constexpr FieldView kField{1, 1, "data"};

// Returns the position of the point in row-major order.
std::size_t index_of(const Point& point, const Point& extents) {
  std::int64_t index = 0;
  for (int i = 0; i < point.dimensions(); ++i) index = index * extents[i] + point[i];
  return static_cast<std::size_t>(index);
}

}  // namespace

std::string_view task_name_of(const starpu_task& task) {
  const starpu_codelet& codelet = *task.cl;
  if (codelet.name != nullptr) return codelet.name;
  if (codelet.model != nullptr && codelet.model->symbol != nullptr) return codelet.model->symbol;
  return task.name != nullptr ? task.name : "unnamed";
}

TaskChooser::TaskChooser(std::unique_ptr<Mapper> mapper, std::shared_ptr<const Workers> workers,
                         const LaunchRules& rules, const DataFacts& facts, Messages& messages)
    : mapper_(std::move(mapper)),
      workers_(std::move(workers)),
      rules_(rules),
      facts_(facts),
      messages_(messages),
      runtime_(std::make_unique<StarpuRuntime>()) {
  const auto& gpus = workers_->workers_of(ProcKind::kGpu);
  has_mixed_gpus_ = std::any_of(gpus.begin(), gpus.end(), [&](WorkerId worker) {
    return starpu_worker_get_type(worker) != starpu_worker_get_type(gpus.front());
  });
  main_.name = "main";
  main_.current = mapper_->site().local;
  view_.parent = &main_;
  view_.depth = 1;
}

// ---- What a task is

// Returns what is known about the tasks of this name.
TaskChooser::NamedTasks& TaskChooser::tasks_named(std::string_view name) {
  if (const auto found = known_.find(name); found != known_.end()) return found->second;
  if (known_.size() >= kMaxNames) {
    known_.clear();
    table_points_ = 0;
  }
  NamedTasks& made = known_[std::string(name)];
  made.name = name;
  made.rule = rules_.find(name);
  for (unsigned kinds = 0; kinds < made.forms.size(); ++kinds) {
    TaskForm& form = made.forms[kinds];
    form.id = next_id_++;
    const auto add = [&](ProcKind kind, VariantId id) {
      if ((kinds & 1U << static_cast<unsigned>(kind)) == 0) return;
      VariantView variant;
      variant.id = id;
      variant.kind = kind;
      variant.leaf = true;
      form.variants.push_back(variant);
    };
    add(ProcKind::kCpu, kCpuVariant);
    add(ProcKind::kGpu, kGpuVariant);
  }
  return made;
}

void TaskChooser::add_names(mapper::NamesOfRun& names) const {
  for (const auto& [name, tasks] : known_) {
    std::size_t& most = names.tasks[name];
    most = std::max(most, tasks.most_data);
  }
}

bool TaskChooser::can_run(WorkerId worker, starpu_task* task, const Members& members) const {
  return members[static_cast<std::size_t>(worker)].load(std::memory_order_relaxed) &&
         starpu_worker_can_execute_task_first_impl(static_cast<unsigned>(worker), task, nullptr) !=
             0;
}

// Returns the kinds for which a task has an implementation: those of its codelet, without the kinds
// of which no worker of the context can run it.
unsigned TaskChooser::kinds_of(starpu_task* task, const Members& members,
                               bool is_restricted) const {
  unsigned kinds = Workers::kinds_of(static_cast<std::uint32_t>(task->where));
  if (!is_restricted) return kinds;
  for (ProcKind kind : {ProcKind::kCpu, ProcKind::kGpu}) {
    const auto& workers = workers_->workers_of(kind);
    const bool any = std::any_of(workers.begin(), workers.end(),
                                 [&](WorkerId worker) { return can_run(worker, task, members); });
    if (!any) kinds &= ~(1U << static_cast<unsigned>(kind));
  }
  return kinds;
}

// Describes the data of a task as region requirements.
void TaskChooser::view_data(starpu_task* task) {
  const std::size_t count = STARPU_TASK_GET_NBUFFERS(task);
  requirements_.resize(count);
  data_keys_.resize(count);
  written_.reset();
  piece_ = pieces_ = {};
  for (std::size_t i = 0; i < count; ++i) {
    RequirementView& requirement = requirements_[i];
    requirement.aliases = {};
    requirement.aliases_key = 0;
    requirement.fields = {&kField, 1};
    requirement.region = reinterpret_cast<std::uintptr_t>(STARPU_TASK_GET_HANDLE(task, i));
    requirement.privilege = privilege_of(STARPU_TASK_GET_MODE(task, i));
    const bool writes = requirement.privilege != Privilege::kReadOnly &&
                        requirement.privilege != Privilege::kNoAccess;
    requirement.reduction = requirement.privilege == Privilege::kReduce ? 1 : 0;
    if (writes && !written_) written_ = i;
    data_keys_[i] = static_cast<std::uint64_t>(requirement.privilege);
  }
  if (facts_.empty() || count == 0) return;
  facts_.look_up(STARPU_TASK_GET_HANDLES(task), count, [&](std::size_t i, const DataFact* fact) {
    if (fact == nullptr) return;
    if (fact->names != nullptr) {
      requirements_[i].aliases = fact->names->aliases;
      requirements_[i].aliases_key = fact->names->key;
      data_keys_[i] += fact->names->key * kPrivilegeCount;
    }
    if (i != written_) return;
    piece_ = fact->piece;
    pieces_ = fact->pieces;
  });
}

// Finds the point of an index launch that the task is. Returns false for a single task.
bool TaskChooser::find_point(const NamedTasks& named, starpu_task* task) {
  const LaunchRule* const rule = named.rule;
  const auto source = rule == nullptr ? LaunchRule::Source::kPieces : rule->source;
  std::optional<Point> point;
  view_.domain = {};
  view_.point = {};
  if (source == LaunchRule::Source::kNone) return false;
  if (source == LaunchRule::Source::kPieces) {
    const auto domain = Rect::make(pieces_);
    if (pieces_.dimensions() == 0 || !domain) return false;
    point = piece_;
    view_.domain = *domain;
  } else if (source == LaunchRule::Source::kTag) {
    point = rule->point_of_tag(task->tag_id);
  } else if (written_) {
    std::array<int, kMaxDimensions> at{};
    const unsigned count = starpu_data_get_coordinates_array(
        STARPU_TASK_GET_HANDLE(task, *written_), kMaxDimensions, at.data());
    point = rule->point_of_coordinates(at.data(), count);
  }
  if (!point) {
    messages_.warn(
        fmt::format("a task `{}` is not a point of its launch in GROMA_STARPU_LAUNCHES; "
                    "it is placed as a single task",
                    named.name));
    return false;
  }
  if (rule != nullptr) {
    view_.domain = {Point::zeros(rule->extents.dimensions()), rule->extents};
  }
  view_.point = *point;
  if (view_.domain.volume() > kMaxTablePoints) {
    messages_.warn(
        fmt::format("the launch of `{}` has more than {} points; its tasks are placed "
                    "as single tasks",
                    named.name, kMaxTablePoints));
    view_.domain = {};
    view_.point = {};
    return false;
  }
  return true;
}

// ---- What the mapper answers

// Ends the process if the mapper's answer was refused. Only the first reason is reported.
void TaskChooser::refuse_if(const std::vector<Refusal>& refusals) const {
  if (!refusals.empty()) refuse(render(refusals.front(), *mapper_));
}

// Returns the processors to which the mapper sends the points of the launch that view_ describes.
// The launch is cut once, and the answer kept.
const TaskChooser::LaunchTable& TaskChooser::table_of_launch(NamedTasks& named) {
  const Point& extents = view_.domain.extents;
  for (const LaunchTable& table : named.tables) {
    if (table.task == view_.id && table.extents == extents) return table;
  }
  const bool is_full = named.tables.size() >= kMaxTables;
  if (is_full || table_points_ + view_.domain.volume() > kMaxTablePoints) {
    for (auto& [name, tasks] : known_) tasks.tables.clear();
    table_points_ = 0;
  }
  table_points_ += view_.domain.volume();
  const Point point = std::exchange(view_.point, {});
  options_.clear();
  mapper_->select_task_options(*runtime_, view_, options_);
  refuse_if(validate(options_, view_, mapper_->machine()));
  view_.current = options_.initial;
  slices_.clear();
  mapper_->slice_task(*runtime_, view_, view_.domain, slices_);
  refuse_if(validate(slices_, view_, view_.domain, mapper_->machine()));
  LaunchTable& table = named.tables.emplace_back();
  table.task = view_.id;
  table.extents = extents;
  table.first_number = next_number_;
  next_number_ += static_cast<std::uint64_t>(view_.domain.volume());
  table.processors.resize(static_cast<std::size_t>(view_.domain.volume()));
  for (const TaskSlice& slice : slices_.slices) {
    Point at = slice.box.lower;
    do {
      table.processors[index_of(at, extents)] = slice.processor;
    } while (next_point(slice.box, &at));
  }
  view_.point = point;
  return table;
}

// Takes the first memory that the mapper wants for each data and that the processor can address.
// The mapper's answer is valid, so there is one.
void TaskChooser::choose_memories() {
  const Processor& at = output_.processors.front();
  const Machine& machine = mapper_->machine();
  const bool has_numa = machine.node(0).find(MemKind::kSockmem) != nullptr;
  // For data without an instance: the worker's own memory.
  const MemKind own_memory = at.kind == ProcKind::kGpu ? MemKind::kFbmem
                             : has_numa                ? MemKind::kSockmem
                                                       : MemKind::kSysmem;
  for (const InstanceChoice& wanted : output_.requirements) {
    MemKind memory = own_memory;
    for (const InstanceCandidate& candidate : wanted.candidates()) {
      if (candidate.memory == MemKind::kVirtual) continue;
      if (!machine.can_address(at.node, at.kind, candidate.memory)) continue;
      memory = candidate.memory;
      break;
    }
    // SYSMEM is the worker's own memory unless there are several NUMA nodes.
    if (has_numa && memory == MemKind::kSysmem) {
      choice_.nodes.resize(output_.requirements.size(), -1);
      choice_.nodes[choice_.memories.size()] = STARPU_MAIN_RAM;
    }
    choice_.memories.push_back(memory);
  }
}

// Turns the mapper's processors into workers that can run the task.
void TaskChooser::choose_workers(starpu_task* task, const Members& members, bool is_restricted) {
  const ProcKind kind = output_.processors.front().kind;
  const auto& all = workers_->workers_of(kind);
  choice_.whole_kind = !is_restricted && output_.processors.size() == all.size();
  for (const Processor& processor : output_.processors) {
    const WorkerId worker = workers_->worker(processor);
    if (!is_restricted || can_run(worker, task, members)) choice_.workers.push_back(worker);
  }
  if (!choice_.workers.empty()) return;
  for (WorkerId worker : all) {
    if (can_run(worker, task, members)) choice_.workers.push_back(worker);
  }
  // Without a statement, any worker of the kind is as good as another.
  if (!output_.processor_origin) return;
  messages_.warn(fmt::format("`{}` cannot run on {} {}, where {} puts it; it runs on another {}",
                             view_.name, name_of(kind), output_.processors.front().index,
                             mapper_->describe(output_.processor_origin), name_of(kind)));
}

// Chooses all workers that can run the task, without asking the mapper.
void TaskChooser::fall_back(starpu_task* task, const Members& members) {
  for (WorkerId worker = 0; worker < static_cast<WorkerId>(workers_->count()); ++worker) {
    if (can_run(worker, task, members)) choice_.workers.push_back(worker);
  }
}

// Sets the members of a choice that describe the task at hand.
Choice& TaskChooser::named_choice(Choice& choice, std::string_view name) const {
  choice.name = name;
  choice.domain = view_.is_index ? &view_.domain : nullptr;
  choice.point = view_.is_index ? &view_.point : nullptr;
  return choice;
}

// Asks the mapper for the processors and the memories of the task on view_.current.
void TaskChooser::decide(starpu_task* task, const Members& members, bool is_restricted) {
  output_.clear();
  mapper_->map_task(*runtime_, view_, {}, output_);
  refuse_if(validate(output_, view_, mapper_->machine()));
  choice_.priority = output_.task_priority;
  choice_.origin = output_.processor_origin ? output_.processor_origin : output_.kind_origin;
  choose_memories();
  choose_workers(task, members, is_restricted);
}

const Choice& TaskChooser::choose(starpu_task* task, const Members& members, bool all_are_members) {
  choice_.workers.clear();
  choice_.nodes.clear();
  choice_.memories.clear();
  choice_.whole_kind = false;
  choice_.priority = 0;
  choice_.origin = {};
  const std::string_view name = task_name_of(*task);
  const bool is_restricted = !all_are_members || has_mixed_gpus_ ||
                             task->cl->can_execute != nullptr || task->workerids_len != 0;
  const unsigned kinds = kinds_of(task, members, is_restricted);
  // StarPU's own tasks, and those for devices that Groma does not know.
  if (kinds == 0 || (task->type & STARPU_TASK_TYPE_INTERNAL) != 0) {
    view_.is_index = false;
    fall_back(task, members);
    return named_choice(choice_, name);
  }
  NamedTasks& named = tasks_named(name);
  const TaskForm& form = named.forms[kinds];
  view_data(task);
  named.most_data = std::max(named.most_data, requirements_.size());
  view_.id = form.id;
  view_.unique_id = starpu_task_get_job_id(task);
  view_.name = named.name;
  view_.variants = form.variants;
  view_.requirements = requirements_;
  view_.current = mapper_->site().local;
  view_.is_index = find_point(named, task);
  std::uint64_t subject = kSingleTask + form.id;
  if (view_.is_index) {
    const LaunchTable& table = table_of_launch(named);
    const std::size_t index = index_of(view_.point, table.extents);
    view_.current = table.processors[index];
    subject = table.first_number + index;
  }
  const bool may_cache = !is_restricted && mapper_->repeats_answers();
  if (may_cache) {
    const auto found = cache_.find(subject);
    if (found != cache_.end() && found->second.data == data_keys_) {
      return named_choice(found->second.choice, name);
    }
  }
  if (!view_.is_index) {
    options_.clear();
    mapper_->select_task_options(*runtime_, view_, options_);
    refuse_if(validate(options_, view_, mapper_->machine()));
    view_.current = options_.initial;
  }
  decide(task, members, is_restricted);
  // The first processor of a single task comes in turn, unless a statement decides. So the choice
  // is made again only if the first processor does not matter.
  if (may_cache && (view_.is_index || choice_.whole_kind || options_.processor_origin)) {
    if (cache_.size() >= kMaxCachedChoices) cache_.clear();
    cache_[subject] = {data_keys_, choice_};
  }
  return named_choice(choice_, name);
}

}  // namespace groma::starpu
