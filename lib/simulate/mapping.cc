// Maps tasks: asks map_task, takes instances for the answer, and answers the calls of mappers.
#include "simulate/mapping.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "base/one_diagnostic.h"
#include "base/point_text.h"
#include "simulate/candidates.h"
#include "simulate/machine_index.h"
#include "simulate/refusals.h"

namespace groma::sim {

// Joins the parts of the run. The limits ask for the memory and the end of the whole run.
Mapping::Mapping(const app::Data& data, const Spaces& spaces,
                 std::shared_ptr<const Machine> machine, const MapperFactory& make,
                 std::int64_t max_bytes)
    : input_(data, spaces, std::move(machine)),
      outcome_(data.name, {max_bytes, [this] { return bytes(); }, [this] { return stops(); }}),
      store_(data.regions.size(), spaces, input_.memories, outcome_.budget()),
      valid_data_(data.regions.size(), spaces, ops_, store_, lists_, max_bytes, outcome_.budget()),
      views_(data, spaces),
      mappers_(input_, make, outcome_),
      instances_(input_, store_, views_, mappers_, outcome_, *this),
      launcher_(input_, views_, mappers_, outcome_, *this, lists_),
      given_bytes_(spaces.bytes() + machine_bytes(*input_.machine)) {}

Mapping::~Mapping() = default;

// Returns about how many bytes of memory the mapping state uses.
std::int64_t Mapping::bytes() const {
  return given_bytes_ + ops_.bytes() + store_.bytes() + valid_data_.bytes() + launcher_.bytes() +
         instances_.bytes();
}

bool Mapping::within_limits(std::uint32_t task, std::int64_t more) {
  return outcome_.within_limits(input_.data.tasks[task].name, more);
}

// ---- Calls for mappers

std::optional<FoundInstance> Mapping::find_instance(const InstanceRequest& request) {
  return instances_.find_instance(request);
}

std::optional<FoundInstance> Mapping::create_instance(const InstanceRequest& request) {
  return instances_.create_instance(request);
}

bool Mapping::acquire_instance(InstanceId instance) {
  return instances_.acquire_instance(instance);
}

void Mapping::release_instance(InstanceId instance) { instances_.release_instance(instance); }

bool Mapping::collect_instance(InstanceId instance) {
  return instances_.collect_instance(instance);
}

void Mapping::set_collect_priority(InstanceId instance, CollectPriority priority) {
  instances_.set_collect_priority(instance, priority);
}

std::int64_t Mapping::free_bytes(const Memory& memory) { return instances_.free_bytes(memory); }

std::span<const VariantView> Mapping::variants(TaskId task) {
  if (task == 0 || task > input_.data.tasks.size()) return {};
  return views_.variants(task - 1);
}

std::string_view Mapping::task_name(TaskId task) {
  if (task == 0 || task > input_.data.tasks.size()) return {};
  return input_.data.tasks[task - 1].name;
}

// ---- One task

// Sets `valid_` to the valid instances of each requirement, if the launch asked for them and the
// mapper reads them.
void Mapping::show_valid_instances(const TaskRun& run, const TaskView& view) {
  valid_kept_.assign(valid_.size(), {});
  for (std::uint32_t r = 0; r < valid_.size(); ++r) {
    if (run.pieces[r] == nullptr || view.requirements[r].empty()) continue;
    std::vector<InstanceNumber> found;
    valid_data_.valid_for(where_of(input_.data, run, r).region, *run.pieces[r],
                          groups_of(input_.spaces, run, r), found);
    for (InstanceNumber number : found) valid_kept_[r].push_back(instances_.view_of(number));
    valid_[r] = valid_kept_[r];
  }
}

// Fails if the answer is refused, or if the mapper gives up.
bool Mapping::ask(TaskRun& run, const TaskView& view, Mapper& mapper) {
  // Count the work of the hook and of the checks of its answer.
  if (!outcome_.spend(16 + 8 * static_cast<std::int64_t>(view.requirements.size()))) return false;
  valid_.assign(view.requirements.size(), {});
  if (run.of != nullptr && run.of->valid_instances && mapper.reads_valid()) {
    show_valid_instances(run, view);
  }
  wish_.clear();
  instances_.let_go();
  mapper.map_task(*this, view, valid_, wish_);
  if (!mappers_.accepts(validate(wish_, view, *input_.machine), view, &wish_)) return false;
  if (!wish_.abort_mapping && !instances_.check_named(run, view, wish_)) return false;
  return !wish_.abort_mapping ||
         outcome_.fail(view.name, "map_task gives up, and nothing says when to ask again");
}

// The variant has been checked with the wish. Variants are numbered from 1 there.
void Mapping::take(TaskRun& run, const Processor& processor) {
  run.hold_on(input_.processors, processor);
  run.variant = &input_.data.tasks[run.task].variants[wish_.variant - 1];
  run.wishes.priority = wish_.task_priority;
  run.wishes.profiling = wish_.task_profiling;
}

// Empty and virtual requirements take no instance.
bool Mapping::map_requirement(TaskRun& run, const TaskView& view, const RequirementWish& wish,
                              std::uint32_t position) {
  const RequirementView& requirement = view.requirements[position];
  if (requirement.empty()) {
    run.instances.add(kVirtual, lists_);
    return true;
  }
  if (run.pieces[position] == nullptr) {
    return refuse(missing_data(run, view, position), RunStatus::kExecuteError);
  }
  if (wish.is_virtual) return hand_on(run, view, position);
  if (wish.instance != 0) {
    const auto number = static_cast<InstanceNumber>(wish.instance - 1);
    store_.take(number, static_cast<std::int32_t>(wish.instance_origin.statement));
    return use_instance(run, view, wish, position, number);
  }
  FullCandidates full;
  for (const InstanceWish& candidate : wish.candidates()) {
    if (candidate.memory == MemKind::kVirtual) return hand_on(run, view, position);
    const auto query = query_for(input_, run, requirement, wish, candidate, position);
    if (!query) continue;
    const auto found = store_.find_or_make(*query);
    if (found) return use_instance(run, view, wish, position, *found);
    full.add(store_, candidate, *query);
  }
  return refuse(out_of_memory(input_, store_, run, view, position, full), RunStatus::kMapError);
}

// Returns how the task uses the data of a requirement. The instance is left open.
Use Mapping::use_of(const TaskRun& run, const TaskView& view, std::uint32_t position) const {
  const RequirementView& requirement = view.requirements[position];
  Use use;
  use.task = run.op;
  use.piece = run.pieces[position];
  use.groups = groups_of(input_.spaces, run, position);
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
  run.instances.add(kVirtual, lists_);
  if (valid_data_.touch(where_of(input_.data, run, position).region, use_of(run, view, position))) {
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
  run.instances.add(number, lists_);
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

// Ends the run with this error. Returns false.
bool Mapping::refuse(RefusedTask refused, RunStatus status) {
  outcome_.refuse(status, {std::move(refused.refusal)}, std::move(refused.raw));
  return false;
}

// Ends the run because two points of a launch conflict on this requirement. A note names the other
// point, if it is found.
void Mapping::refuse_point(const TaskRun& run, const TaskView& view, std::uint32_t position) {
  const bool refused =
      outcome_.refuse(RunStatus::kExecuteError,
                      {{one_diagnostic(DiagId::kInterferingPoints, view.name, position), {}}},
                      "index space launch with interfering requirements");
  if (!refused) return;
  Diagnostic& diagnostic = outcome_.result().refusals.front().diagnostic;
  diagnostic.note(fmt::format("{} of the application", run.launch->place));
  const auto other = launcher_.conflicting_point(run, position);
  if (!other) return;
  diagnostic.note(fmt::format("point {} has some of the same data as its region {}",
                              text_of(other->first), other->second));
}

// Asks select_sources and sorts `sources` by its answer, best first. Sources that the answer does
// not name follow in their old order.
void Mapping::rank(const TaskView& view, InstanceNumber target,
                   std::vector<InstanceNumber>& sources) {
  source_views_.clear();
  source_ranks_.clear();
  for (InstanceNumber source : sources) source_views_.push_back(instances_.view_of(source));
  mappers_.of(view.current)
      .select_sources(*this, view, instances_.view_of(target), source_views_, source_ranks_);
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
