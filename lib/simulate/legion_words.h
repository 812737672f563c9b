// The error messages of Legion 24.12 to 26.6, with their misspellings, for refused answers of
// mappers. With them the output of a simulated run reads like that of a real run.
#pragma once

#include <string>
#include <string_view>

#include "groma/validate.h"
#include "simulate/machine_index.h"

namespace groma::sim {

// A refused answer of a mapper: the task that the answer is about, the mapper, and the answer.
struct RefusedAnswer {
  const TaskView& task;
  // The name of the mapper that gave the answer.
  std::string_view mapper;
  // The answer itself if the refused answer is one of map_task; null for any other hook.
  const MapTaskOutput* choice = nullptr;
};

// Return the ids that Legion gives a memory and a processor.
std::uint64_t memory_id(std::int32_t memory);
std::uint64_t processor_id(std::int32_t processor);

// Writes Legion's messages about an instance that an answer of map_task names by its id.
struct NamedInstance {
  RefusedAnswer answer;
  // The position of the requirement for which the answer names the instance.
  std::uint32_t position = 0;

  std::string wrong_region_message(std::uint32_t found, std::uint32_t wanted) const;
  std::string missing_fields(std::size_t count) const;
  std::string collected() const;
  std::string not_visible(std::int32_t memory) const;
  std::string too_small() const;
  // Returns the message that the instance has a reduction operator but the task does not reduce
  // (`task_reduces` is false), or that the task reduces but the instance has no such operator.
  std::string reduction_mismatch_message(bool task_reduces) const;
};

// Returns Legion's message for a refusal. Returns an empty string if Legion crashes, aborts or
// waits without a message; validate.cc says in which cases.
std::string legion_error_message(const Refusal& refusal, const RefusedAnswer& answer,
                                 const Memories& memories);

}  // namespace groma::sim
