// Makes the facts of tasks and the choices of their requirements, and keeps them in caches.
#include "mapper/task_facts.h"

#include <utility>

#include "evaluate/processors.h"
#include "program/data.h"

namespace groma::mapper {
namespace {

// The largest number of cached facts. A full cache is emptied, because the application may use any
// number of task names.
constexpr std::size_t kMaxFacts = 4'096;
constexpr std::size_t kMaxPlans = 64;  // At most this many lists of choices are kept for one task.

// Returns the processor whose mapper object counts the instances of a task: the first processor of
// the kind on the node or on the machine. Returns nothing if every processor counts its own.
std::optional<Processor> keeper_of(const LimitDecision& limit, ProcKind kind,
                                   const MapperSite& site) {
  switch (limit.scope) {
    case LimitScope::kProcessor:
      return std::nullopt;
    case LimitScope::kNode:
      return Processor{kind, site.local.node, 0};
    case LimitScope::kMachine:
      return first_processor_from(*site.machine, kind, 0);
  }
  return std::nullopt;
}

// Asks the program for the decisions about a task.
TaskFacts make_facts(const Program& program, const MapperSite& site, const TaskView& task) {
  TaskFacts made;
  made.name = task.name;
  made.variant_count = task.variants.size();
  made.kind = decide_kind(program, task, *site.machine);
  if (!made.kind) return made;
  const ProcKind kind = made.kind->kind;
  made.function = decide_function(program, task, kind);
  if (made.function) {
    const program::ProgramFunction& function = program.data().functions[made.function->function];
    made.reads_name = function.reads_name;
    made.reads_rank = function.reads_rank;
  }
  const TaskWords words(program, task);
  if (const auto limit = program.instance_limit(words, kind)) {
    made.limit = {std::uint64_t{limit->origin.statement} << 32 | task.id, limit->limit,
                  keeper_of(*limit, kind, site)};
  }
  made.steal = program.task_steal(words, kind);
  return made;
}

}  // namespace

// ---- Cached choices for the requirements of tasks

// Decides the choices for all requirements of a task and caches them with the key by which they are
// found again.
const std::vector<InstanceChoice>& ChoiceCache::add_choice_list(
    const Program& program, const TaskView& task, const VariantView& variant, const Processor& at,
    const Machine& machine, const DefaultSettings& settings) {
  if (plans_.size() >= kMaxPlans) plans_.clear();
  CachedChoiceList& plan = plans_.emplace_back();
  plan.variant = variant.id;
  plan.leaf = variant.leaf;
  plan.inner = variant.inner;
  plan.kind = at.kind;
  plan.node = at.node;
  for (std::uint32_t i = 0; i < task.requirements.size(); ++i) {
    const auto names = task.requirements[i].aliases;
    plan.keys.push_back(RequirementKey::key_of(task.requirements[i]));
    if (plan.keys.back().names > 0) plan.names.insert(plan.names.end(), names.begin(), names.end());
    plan.choices.push_back(decide_requirement(program, task, i, variant, at, machine, settings));
  }
  return plan.choices;
}

// ---- Cached facts of tasks

// Returns true if the runtime can count the instances of the task. Messages are needed only if
// another mapper object keeps the count.
bool TaskFacts::can_count_instances(const TaskView& task, const MapperRuntime& runtime) const {
  const Capabilities can = runtime.capabilities();
  return !task.rendezvous && can.events && (can.messages || !limit.keeper);
}

// Returns the number of the task's context. Contexts that were forgotten get new numbers, under
// which no facts are known.
std::uint32_t TaskFactsCache::find_context(const TaskView& task) {
  std::vector<TaskId> context{static_cast<TaskId>(task.domain.dimensions())};
  for (const TaskView* above = task.parent; above != nullptr && context.size() <= kMaxTaskParents;
       above = above->parent) {
    context.push_back(above->id);
  }
  if (contexts_.size() >= kMaxFacts) contexts_.clear();
  const auto [found, is_new] = contexts_.try_emplace(std::move(context), last_context_ + 1);
  if (is_new) ++last_context_;
  return found->second;
}

// Makes the facts of a task and caches them in place of facts that are out of date.
TaskFacts& TaskFactsCache::add_task_facts(const TaskFactsKey& key, const Program& program,
                                          const MapperSite& site, const TaskView& task) {
  if (known_.size() >= kMaxFacts) known_.clear();
  return known_.insert_or_assign(key, make_facts(program, site, task)).first->second;
}

}  // namespace groma::mapper
