// Applies the decisions of a program to a machine and to the variants of a task (docs/language.md,
// "Which statement decides").
#include "mapper/decisions.h"

#include <algorithm>
#include <string>
#include <vector>

#include "evaluate/processors.h"
#include "groma/spelling.h"
#include "mapper/default_policy.h"
#include "mapper/demands.h"

namespace groma::mapper {

TaskWords::TaskWords(const Program& program, const TaskView& task) : task_(task.name) {
  if (!program.has_selectors()) return;
  std::size_t count = 0;
  for (const TaskView* above = task.parent; above != nullptr && count < parents_.size();
       above = above->parent) {
    parents_[count++] = above->name;
  }
  const int dimensions = task.domain.dimensions();
  const int unknown = -1;
  task_ = {task.name, std::span(parents_).first(count),
           !task.is_index   ? 0
           : dimensions > 0 ? dimensions
                            : unknown};
}

// Returns the first kind that the machine has and for which the task has a variant. A Task
// statement gives the order of the kinds; without one, the kind that the program's own mapper chose
// comes first, then the order of the default mapper.
std::optional<ProcessorKindDecision> decide_kind(const Program& program, const TaskView& task,
                                                 const Machine& machine) {
  const auto decision = program.task(TaskWords(program, task));
  const auto usable = [&](ProcKind kind) {
    return machine.has(kind) && best_variant(task, kind) != nullptr;
  };
  if (decision) {
    for (ProcKind kind : decision->kinds) {
      if (usable(kind)) return ProcessorKindDecision{kind, decision->origin};
    }
    return std::nullopt;
  }
  if (task.own_kind) return ProcessorKindDecision{*task.own_kind, {}};
  for (ProcKind kind : kinds_by_preference(task.tag)) {
    if (usable(kind)) return ProcessorKindDecision{kind, {}};
  }
  return std::nullopt;
}

// Returns the error for a task that no processor can run. The notes list the variants of the task
// and the kinds of the machine.
Diagnostic no_kind_error(const Program& program, const TaskView& task, const Machine& machine) {
  const auto decision = program.task(TaskWords(program, task));
  if (!decision) return no_variant_error(task, machine);
  std::vector<std::string_view> wanted;
  std::vector<std::string_view> variants;
  std::vector<std::string_view> present;
  for (ProcKind kind : decision->kinds) wanted.push_back(name_of(kind));
  for (std::size_t k = 0; k < kProcKindCount; ++k) {
    const auto kind = static_cast<ProcKind>(k);
    if (best_variant(task, kind) != nullptr) variants.push_back(name_of(kind));
    if (machine.has(kind)) present.push_back(name_of(kind));
  }
  const auto list = [](const std::vector<std::string_view>& names) {
    return names.empty() ? std::string("none") : join_names(names, "and");
  };
  Diagnostics diags(program.source());
  Diagnostic& diagnostic = diags.report(DiagId::kNoVariant, program.range(decision->origin),
                                        task.name, join_names(wanted, "and"));
  diagnostic.note("it has variants for " + list(variants))
      .note("`" + machine.name() + "` has " + list(present));
  add_no_variant_help(task, machine, diagnostic);
  return diags.all().front();
}

namespace {

// Replaces the candidates of the choice with the memories of the Region statements, each memory
// once. Returns false, and changes nothing, if no statement names a memory.
bool add_candidates(const Program& program, const LaunchedTask& task, const RegionNames& names,
                    ProcKind kind, const LayoutSpec& otherwise, InstanceChoice* choice) {
  const std::vector<MemoryCandidate> memories = program.memories(task, names, kind);
  if (memories.empty()) return false;
  choice->candidate_count = 0;
  for (const MemoryCandidate& memory : memories) {
    const auto same = [&](const InstanceCandidate& other) { return other.memory == memory.memory; };
    const auto so_far = choice->candidates();
    if (std::any_of(so_far.begin(), so_far.end(), same)) continue;
    choice->add({memory.memory, memory.origin, otherwise, {}});
    // VIRTUAL always has room, so the memories after it are never used.
    if (memory.memory == MemKind::kVirtual) break;
  }
  return true;
}

// Sets the layout of each candidate from the Layout statements, joined with what the variant
// demands.
void decide_layouts(const Program& program, const LaunchedTask& task, const RegionNames& names,
                    ProcKind kind, const LayoutSpec& demanded, InstanceChoice* choice) {
  for (std::size_t i = 0; i < choice->candidate_count; ++i) {
    InstanceCandidate& candidate = choice->candidates_in_order[i];
    if (candidate.memory == MemKind::kVirtual) continue;
    const auto layout = program.layout(task, names, kind, candidate.memory);
    if (!layout) continue;
    candidate.layout = complete_layout({layout->layout, layout->named}, demanded);
    candidate.layout_origin = layout->origin;
    candidate.layout_named = layout->named;
  }
}

// Returns true if VIRTUAL comes before every memory that the processor can address. The region then
// gets a virtual instance.
bool virtual_first(const InstanceChoice& choice, const Processor& processor,
                   const Machine& machine) {
  for (const InstanceCandidate& candidate : choice.candidates()) {
    if (candidate.memory == MemKind::kVirtual) return true;
    if (machine.can_address(processor.node, processor.kind, candidate.memory)) return false;
  }
  return false;
}

}  // namespace

// Decides a requirement: begins with the default mapper's choice and replaces the parts that
// statements decide. An inner variant does not use the data of its exclusive regions, so these keep
// the default choice (virtual). Reductions and outputs are exceptions.
InstanceChoice decide_requirement(const Program& program, const TaskView& task,
                                  std::uint32_t position, const VariantView& variant,
                                  const Processor& processor, const Machine& machine,
                                  const DefaultSettings& settings) {
  const RequirementView& requirement = task.requirements[position];
  InstanceChoice choice =
      default_choice_of_requirement(requirement, variant, position, processor, machine, settings);
  if (requirement.empty()) return choice;
  const RegionNames names{position, requirement.aliases};
  const TaskWords words(program, task);
  const auto collect = program.collect_memory(words, names);
  if (collect && requirement.privilege == Privilege::kReadOnly) {
    choice.untracked = true;
    choice.collect_priority = kCollectFirst;
    choice.collect_origin = *collect;
  }
  const bool untouched = variant.inner && requirement.coherence == Coherence::kExclusive &&
                         requirement.privilege != Privilege::kReduce && !requirement.output;
  if (untouched) return choice;
  const LayoutSpec demanded = demanded_layout(variant, position);
  const bool said = add_candidates(program, words, names, processor.kind, demanded, &choice);
  if (said) {
    choice.is_virtual = virtual_first(choice, processor, machine);
    if (choice.is_virtual) choice.virtual_origin = choice.candidates().back().memory_origin;
  }
  if (!choice.is_virtual) decide_layouts(program, words, names, processor.kind, demanded, &choice);
  return choice;
}

// Returns the mapping function for a task. A statement about a kind of processor counts only if
// `kind` is known.
std::optional<MappingFunctionDecision> decide_function(const Program& program, const TaskView& task,
                                                       std::optional<ProcKind> kind) {
  const TaskWords words(program, task);
  return task.is_index ? program.index_function(words, kind) : program.single_function(words, kind);
}

// Returns the decision of ControlReplicate. If the program has such statements, a task that none of
// them names does not replicate.
std::optional<ReplicateDecision> decide_replication(const Program& program, const TaskView& task,
                                                    ProcKind kind) {
  if (!program.replicates_any()) return std::nullopt;
  const auto origin = program.control_replicate(TaskWords(program, task));
  if (!origin) return ReplicateDecision{};
  return ReplicateDecision{can_replicate(task, kind), *origin};
}

}  // namespace groma::mapper
