// Makes the facts of tasks and the wishes of their requirements, and keeps them in caches.
#include "mapper/task_facts.h"

#include <utility>

#include "evaluate/processors.h"
#include "program/data.h"

namespace groma::mapper {
namespace {

// A cache is emptied when it is this full, because the application may use any number of names.
constexpr std::size_t kMaxFacts = 4'096;
constexpr std::size_t kMaxPlans = 64;  // for one task

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
      return first_from(*site.machine, kind, 0);
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
    made.reads_name = program.data().functions[made.function->function].reads_name;
  }
  if (const auto limit = program.instance_limit(task.name, kind)) {
    made.limit = {limit->limit, keeper_of(*limit, kind, site)};
  }
  made.steal = program.task_steal(task.name, kind);
  return made;
}

}  // namespace

// ---- Wishes

// Returns the cache key of a requirement.
PlannedWishes::RequirementKey PlannedWishes::key_of(const RequirementView& requirement) {
  const bool keyed = requirement.aliases_key != 0;
  return {requirement.aliases_key, keyed ? 0 : requirement.aliases.size(),
          requirement.tag,         requirement.privilege,
          requirement.coherence,   requirement.empty(),
          requirement.collective};
}

// Returns whether a plan answers for this task, variant and processor.
bool PlannedWishes::fits(const Plan& plan, const TaskView& task, const VariantView& variant,
                         const Processor& at) {
  if (plan.variant != variant.id || plan.leaf != variant.leaf || plan.inner != variant.inner ||
      plan.node != at.node || plan.kind != at.kind ||
      plan.keys.size() != task.requirements.size()) {
    return false;
  }
  auto name = plan.names.begin();
  for (std::size_t i = 0; i < plan.keys.size(); ++i) {
    const RequirementView& requirement = task.requirements[i];
    if (!(plan.keys[i] == key_of(requirement))) return false;
    for (std::size_t k = 0; k < plan.keys[i].names; ++k) {
      if (*name++ != requirement.aliases[k]) return false;
    }
  }
  return true;
}

// Searches the plans from the first on: a task has few of them.
const std::vector<RequirementWish>& PlannedWishes::of(const Program& program, const TaskView& task,
                                                      const VariantView& variant,
                                                      const Processor& at, const Machine& machine,
                                                      const DefaultSettings& settings) {
  for (const Plan& plan : plans_) {
    if (fits(plan, task, variant, at)) return plan.wishes;
  }
  if (plans_.size() >= kMaxPlans) plans_.clear();
  Plan& plan = plans_.emplace_back();
  plan.variant = variant.id;
  plan.leaf = variant.leaf;
  plan.inner = variant.inner;
  plan.kind = at.kind;
  plan.node = at.node;
  for (std::uint32_t i = 0; i < task.requirements.size(); ++i) {
    const auto names = task.requirements[i].aliases;
    plan.keys.push_back(key_of(task.requirements[i]));
    if (plan.keys.back().names > 0) plan.names.insert(plan.names.end(), names.begin(), names.end());
    plan.wishes.push_back(decide_requirement(program, task, i, variant, at, machine, settings));
  }
  return plan.wishes;
}

// ---- Facts

// Counting with messages is only needed if another mapper object keeps the count.
bool TaskFacts::limits(const TaskView& task, const MapperRuntime& runtime) const {
  const Capabilities can = runtime.capabilities();
  return limit.most > 0 && !task.rendezvous && can.events && (can.messages || !limit.keeper);
}

bool TaskFacts::steals(const MapperRuntime& runtime) const {
  return steal.has_value() && runtime.capabilities().stealing;
}

std::size_t FactsCache::Hash::operator()(const Key& key) const {
  const std::uint64_t mixed =
      (std::uint64_t{key.task} * 2 + (key.is_index ? 1 : 0)) * 0x9E3779B97F4A7C15U ^ key.tag ^
      (key.own_kind ? static_cast<std::uint64_t>(*key.own_kind) + 1 : 0) << 32;
  return static_cast<std::size_t>(mixed ^ (mixed >> 29));
}

// Facts no longer hold if the task has another name or another number of variants.
TaskFacts& FactsCache::of(const Program& program, const MapperSite& site, const TaskView& task) {
  const Key key{task.id, task.is_index, task.tag, task.own_kind};
  const auto found = known_.find(key);
  if (found != known_.end() && found->second.name == task.name &&
      found->second.variant_count == task.variants.size()) {
    return found->second;
  }
  if (known_.size() >= kMaxFacts) known_.clear();
  return known_.insert_or_assign(key, make_facts(program, site, task)).first->second;
}

}  // namespace groma::mapper
