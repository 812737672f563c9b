// Writes Legion's error messages for refused answers of mappers, word for word and with their
// misspellings.
#include "simulate/legion_words.h"

#include <fmt/format.h>

#include <algorithm>

namespace groma::sim {
namespace {

// Returns argument `i` of the diagnostic as a number, or 0 if it has no such argument.
std::int64_t number(const Diagnostic& diagnostic, std::size_t i) {
  const auto* value =
      i < diagnostic.args.size() ? std::get_if<std::int64_t>(&diagnostic.args[i]) : nullptr;
  return value == nullptr ? 0 : *value;
}

// Returns argument `i` of the diagnostic as text, or an empty text if it has no such argument.
std::string_view text(const Diagnostic& diagnostic, std::size_t i) {
  const auto* value =
      i < diagnostic.args.size() ? std::get_if<std::string>(&diagnostic.args[i]) : nullptr;
  return value == nullptr ? std::string_view() : *value;
}

// Returns the name that Realm gives a kind of processor.
std::string_view legion_name(ProcKind kind) {
  switch (kind) {
    case ProcKind::kCpu:
      return "LOC_PROC";
    case ProcKind::kGpu:
      return "TOC_PROC";
    case ProcKind::kOmp:
      return "OMP_PROC";
    case ProcKind::kIo:
      return "IO_PROC";
    case ProcKind::kPy:
      return "PY_PROC";
    case ProcKind::kProc:
      return "PROC_SET";
  }
  return "NO_KIND";
}

// Returns the beginning of Legion's message about a bad answer of the hook `hook`, for example
// "Invalid mapper output from invocation of 'map_task' on mapper groma. "
std::string from(std::string_view hook, const RefusedAnswer& answer) {
  return fmt::format("Invalid mapper output from invocation of '{}' on mapper {}. ", hook,
                     answer.mapper);
}

// Returns Legion's message for a memory that the processor cannot address. The message names the
// memory that was tried first. Returns an empty string if the node has no such memory, because
// Realm then fails an assertion.
std::string not_visible(const Diagnostic& diagnostic, const RefusedAnswer& answer,
                        const Memories& memories) {
  const auto position = static_cast<std::size_t>(number(diagnostic, 0));
  if (answer.choice == nullptr || position >= answer.choice->requirements.size()) return {};
  const InstanceChoice& choice = answer.choice->requirements[position];
  if (choice.candidate_count == 0 || answer.choice->processors.empty()) return {};
  const std::int32_t memory = memories.number_of(
      {choice.candidates().front().memory, answer.choice->processors.front().node, 0});
  if (memory < 0) return {};
  return NamedInstance{answer, static_cast<std::uint32_t>(position)}.not_visible(memory);
}

// Returns Legion's message for an instance whose layout the variant does not accept.
std::string layout_refused(const Refusal& refusal, const RefusedAnswer& answer) {
  const Diagnostic& diagnostic = refusal.diagnostic;
  const std::string_view constraint = refusal.cause == RefusalCause::kLayoutAlignment ? "Alignment"
                                      : refusal.cause == RefusalCause::kLayoutOrder   ? "Ordering"
                                                                                      : "Memory";
  return fmt::format(
      "Invalid mapper output. Mapper {} selected variant {} for task {} (ID {}). But instance "
      "selected for region requirement {} fails to satisfy the corresponding {} layout "
      "constraint.",
      answer.mapper, answer.choice == nullptr ? 0 : answer.choice->variant, answer.task.name,
      answer.task.unique_id, number(diagnostic, 0), constraint);
}

// Returns Legion's message for a variant that does not exist or does not run on the chosen
// processor. The words depend on the hook that answered: replicate_task or map_task.
std::string bad_variant(const Diagnostic& diagnostic, const RefusedAnswer& answer) {
  const std::string_view hook = text(diagnostic, 0);
  const std::int64_t id = number(diagnostic, 2);
  const TaskView& task = answer.task;
  const bool there =
      std::any_of(task.variants.begin(), task.variants.end(),
                  [id](const VariantView& v) { return static_cast<std::int64_t>(v.id) == id; });
  if (hook == "replicate_task") {
    if (there) return {};
    return from(hook, answer) +
           fmt::format(
               "Mapper selected an invalid task variant {} for task {} (UID {}) that was "
               "chosen to be replicated.",
               id, task.name, task.unique_id);
  }
  if (!there) {
    return from(hook, answer) +
           fmt::format(
               "Mapper failed to specify a valid task variant or generator capable of "
               "create a variant implementation of task {} (ID {}).",
               task.name, task.unique_id);
  }
  if (answer.choice == nullptr || answer.choice->processors.empty()) return {};
  return fmt::format(
      "Invalid mapper output. Mapper {} selected variant {} for task {} (ID {}). However, this "
      "variant does not permit running on processors of kind {}.",
      answer.mapper, id, task.name, task.unique_id,
      legion_name(answer.choice->processors.front().kind));
}

// Returns Legion's message for two slices with a common point. Legion has no message for other bad
// slices.
std::string bad_slices(const Refusal& refusal, const RefusedAnswer& answer) {
  if (refusal.cause != RefusalCause::kSlicesOverlap) return {};
  return from("slice_task", answer) +
         fmt::format(
             "Mapper returned multilple slices that contained the same point for task {} "
             "(ID {})",
             answer.task.name, answer.task.unique_id);
}

// Returns Legion's message for a variant that is not replicable, or for shards without a processor
// on the mapping node. Returns an empty string for other bad answers of replicate_task.
std::string bad_replication(const Refusal& refusal, const RefusedAnswer& answer) {
  const TaskView& task = answer.task;
  if (refusal.cause == RefusalCause::kVariantNotReplicable) {
    return from("replicate_task", answer) +
           fmt::format(
               "Mapper failed to pick an valid task variant for task {} (UID {}) that was "
               "chosen to be replicated. Task variants selected for replication must be "
               "marked as replicable variants.",
               task.name, task.unique_id);
  }
  if (refusal.cause == RefusalCause::kNoLocalShard) {
    return from("replicate_task", answer) +
           fmt::format(
               "Mapper did not provide a local processor when replicating task {} (UID "
               "{}).",
               task.name, task.unique_id);
  }
  return {};
}

}  // namespace

// In Legion, the upper bits of an id tell the type of the object: here a memory or a processor.
std::uint64_t memory_id(std::int32_t memory) {
  return 0x1e00000000000000 + static_cast<std::uint64_t>(memory);
}

std::uint64_t processor_id(std::int32_t processor) {
  return 0x1d00000000000000 + static_cast<std::uint64_t>(processor);
}

std::string NamedInstance::wrong_region_message(std::uint32_t found, std::uint32_t wanted) const {
  return from("map_task", answer) +
         fmt::format(
             "Mapper specified an instance from region tree {} for use with region requirement {} "
             "of task {} (ID {}) whose region is from region tree {}.",
             found, position, answer.task.name, answer.task.unique_id, wanted);
}

std::string NamedInstance::missing_fields(std::size_t count) const {
  return from("map_task", answer) +
         fmt::format(
             "Mapper failed to specify an instance for {} fields of region requirement {} on task "
             "{} (ID {}). The missing fields are listed below.",
             count, position, answer.task.name, answer.task.unique_id);
}

std::string NamedInstance::collected() const {
  return fmt::format(
      "Invalid mapper output from 'map_task' invocation on mapper {}. Mapper selected physical "
      "instance for region requirement {} of task {} (ID {}) which has already been collected. If "
      "the mapper had properly acquired this instance as part of the mapper call it would have "
      "detected this.",
      answer.mapper, position, answer.task.name, answer.task.unique_id);
}

std::string NamedInstance::not_visible(std::int32_t memory) const {
  return from("map_task", answer) +
         fmt::format(
             "Mapper selected an instance for region requirement {} in memory {:x} which "
             "is not visible from the target processors for task {} (ID {}).",
             position, memory_id(memory), answer.task.name, answer.task.unique_id);
}

std::string NamedInstance::too_small() const {
  return from("map_task", answer) +
         fmt::format(
             "Mapper specified instance that does not meet region requirement {} for task {} (ID "
             "{}). The index space for the instance has insufficient space for the requested "
             "logical region.",
             position, answer.task.name, answer.task.unique_id);
}

// Returns Legion's message for a normal instance where a reduction instance is needed
// (`task_reduces`), or for a reduction instance where a normal instance is needed.
std::string NamedInstance::reduction_mismatch_message(bool task_reduces) const {
  return from("map_task", answer) +
         fmt::format(
             "Mapper {} for region requirement {} of task {} (ID {}) which {} reduction "
             "privileges.",
             task_reduces ? "failed to choose a specialized reduction instance"
                          : "selected illegal specialized reduction instance",
             position, answer.task.name, answer.task.unique_id,
             task_reduces ? "has" : "does not have");
}

// Chooses Legion's message by the id of the diagnostic. Returns an empty string if Legion has no
// message for it.
std::string legion_error_message(const Refusal& refusal, const RefusedAnswer& answer,
                                 const Memories& memories) {
  const Diagnostic& diagnostic = refusal.diagnostic;
  switch (diagnostic.id) {
    case DiagId::kNoMemory:
      return not_visible(diagnostic, answer, memories);
    case DiagId::kLayoutRefused:
      return layout_refused(refusal, answer);
    case DiagId::kBadVariant:
      return bad_variant(diagnostic, answer);
    case DiagId::kBadSlices:
      return bad_slices(refusal, answer);
    case DiagId::kBadReplication:
      return bad_replication(refusal, answer);
    case DiagId::kBadSchedule:
      if (refusal.cause != RefusalCause::kNothingScheduled) return {};
      return fmt::format(
          "Mapper {} failed to specify an output MapperEvent when returning from a call to "
          "'select_tasks_to_map' that performed no other actions.",
          answer.mapper);
    case DiagId::kBadSharding:
      return fmt::format("Unable to find registered sharding functor ID {}.",
                         number(diagnostic, 1));
    default:
      return {};
  }
}

}  // namespace groma::sim
