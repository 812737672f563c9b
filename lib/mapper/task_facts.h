// TaskFacts: the decisions of a program that a mapper object needs again for every launch of a
// task, and the caches that keep them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "groma/mapper.h"
#include "groma/program.h"
#include "mapper/decisions.h"
#include "mapper/instance_limits.h"

namespace groma::mapper {

// A cache of the choices for a task's requirements. The key is the variant, the kind and node of
// the processor, and the requirements. map_task then only copies the choices.
class ChoiceCache {
 public:
  // Returns the choice for each requirement of a task that runs `variant` on `at`. The result is
  // valid until the next call.
  const std::vector<InstanceChoice>& choices_of(const Program& program, const TaskView& task,
                                                const VariantView& variant, const Processor& at,
                                                const Machine& machine,
                                                const DefaultSettings& settings) {
    for (const CachedChoiceList& plan : plans_) {
      if (plan.is_for(task, variant, at)) return plan.choices;
    }
    return add_choice_list(program, task, variant, at, machine, settings);
  }

 private:
  // The fields of a requirement that its choice depends on. The names of a requirement without an
  // alias key are compared separately.
  struct RequirementKey {
    std::uint64_t aliases = 0;
    // The number of names that the requirement has. It is set only if the requirement has no alias
    // key.
    std::size_t names = 0;
    std::uint64_t tag = 0;
    Privilege privilege = Privilege::kNoAccess;
    Coherence coherence = Coherence::kExclusive;
    bool empty = false;
    bool collective = false;
    friend bool operator==(const RequirementKey&, const RequirementKey&) = default;

    static RequirementKey key_of(const RequirementView& requirement) {
      const bool keyed = requirement.aliases_key != 0;
      return {requirement.aliases_key, keyed ? 0 : requirement.aliases.size(),
              requirement.tag,         requirement.privilege,
              requirement.coherence,   requirement.empty(),
              requirement.collective};
    }
  };
  struct CachedChoiceList {
    VariantId variant = 0;
    // The properties `leaf` and `inner` of the variant.
    bool leaf = false, inner = false;
    ProcKind kind = ProcKind::kCpu;
    std::int64_t node = 0;
    std::vector<RequirementKey> keys;
    // The names of those requirements that have no number for their list of names
    // (RequirementView::aliases_key), in the order of the requirements.
    std::vector<std::string> names;
    std::vector<InstanceChoice> choices;

    // Returns true if these choices are those of this task for this variant and processor.
    bool is_for(const TaskView& task, const VariantView& chosen, const Processor& at) const {
      if (variant != chosen.id || leaf != chosen.leaf || inner != chosen.inner || node != at.node ||
          kind != at.kind || keys.size() != task.requirements.size()) {
        return false;
      }
      auto name = names.begin();
      for (std::size_t i = 0; i < keys.size(); ++i) {
        const RequirementView& requirement = task.requirements[i];
        if (!(keys[i] == RequirementKey::key_of(requirement))) return false;
        for (std::size_t k = 0; k < keys[i].names; ++k) {
          if (*name++ != requirement.aliases[k]) return false;
        }
      }
      return true;
    }
  };

  const std::vector<InstanceChoice>& add_choice_list(const Program& program, const TaskView& task,
                                                     const VariantView& variant,
                                                     const Processor& at, const Machine& machine,
                                                     const DefaultSettings& settings);

  std::vector<CachedChoiceList> plans_;
};

// The decisions that depend on a task's name and on the form of its launch.
struct TaskFacts {
  std::string name;
  // The number of variants when the facts were made. A runtime may register more while it runs.
  std::size_t variant_count = 0;
  std::optional<ProcessorKindDecision> kind;
  std::optional<MappingFunctionDecision> function;
  // True if the mapping function reads the name of its task.
  bool reads_name = false;
  // True if the function reads ranks, so that it must know the points of its launches.
  bool reads_rank = false;
  InstanceLimits::TaskLimit limit;
  std::optional<StealDecision> steal;
  ChoiceCache choices;

  // Returns true if an InstanceLimit applies to the task on this runtime. Counting needs reports of
  // ended tasks, and messages if several processors count together. Points that wait for each other
  // have no limit, since they would wait for ever.
  bool has_limit(const TaskView& task, const MapperRuntime& runtime) const {
    return limit.most > 0 && can_count_instances(task, runtime);
  }
  // Returns true if a TaskSteal applies to the task on this runtime.
  bool has_steal(const MapperRuntime& runtime) const {
    return steal.has_value() && runtime.capabilities().stealing;
  }

 private:
  bool can_count_instances(const TaskView& task, const MapperRuntime& runtime) const;
};

// The facts of all tasks that one mapper object is asked about. The key is the task's id, whether
// the launch is an index launch, its tag, the kind that the program's own mapper chose and, if the
// program has selectors, the tasks above and the dimensions of the launch.
class TaskFactsCache {
 public:
  // Returns the facts of a task, which are valid until the next call. They are made again if the
  // task has another name or another number of variants than before.
  TaskFacts& facts_of(const Program& program, const MapperSite& site, const TaskView& task) {
    const TaskFactsKey key{task.id, task.is_index, task.tag, task.own_kind,
                           program.has_selectors() ? find_context(task) : 0};
    const auto found = known_.find(key);
    const bool holds = found != known_.end() && found->second.name == task.name &&
                       found->second.variant_count == task.variants.size();
    return holds ? found->second : add_task_facts(key, program, site, task);
  }

 private:
  struct TaskFactsKey {
    TaskId task = 0;
    bool is_index = false;
    std::uint64_t tag = 0;
    std::optional<ProcKind> own_kind;
    // The number of the tasks above and the dimensions of the launch. 0: they do not matter.
    std::uint32_t context = 0;
    friend bool operator==(const TaskFactsKey&, const TaskFactsKey&) = default;
  };
  struct TaskFactsKeyHash {
    std::size_t operator()(const TaskFactsKey& key) const {
      const std::uint64_t mixed =
          (std::uint64_t{key.task} * 2 + (key.is_index ? 1 : 0)) * 0x9E3779B97F4A7C15U ^ key.tag ^
          std::uint64_t{key.context} * 0xBF58476D1CE4E5B9U ^
          (key.own_kind ? static_cast<std::uint64_t>(*key.own_kind) + 1 : 0) << 32;
      return static_cast<std::size_t>(mixed ^ (mixed >> 29));
    }
  };

  std::uint32_t find_context(const TaskView& task);
  TaskFacts& add_task_facts(const TaskFactsKey& key, const Program& program, const MapperSite& site,
                            const TaskView& task);

  std::unordered_map<TaskFactsKey, TaskFacts, TaskFactsKeyHash> known_;
  // The numbers of contexts: the dimensions of the launch, then the ids of the tasks above.
  std::map<std::vector<TaskId>, std::uint32_t> contexts_;
  std::uint32_t last_context_ = 0;
};

}  // namespace groma::mapper
