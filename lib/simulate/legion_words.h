// Legion's messages for refused answers (from 24.12 to 26.6, with their misspellings). With them
// the output of a simulated run reads like that of a real run.
#pragma once

#include <string>
#include <string_view>

#include "groma/validate.h"
#include "simulate/machine_index.h"

namespace groma::sim {

// A refused answer.
struct Refused {
  const TaskView& task;
  std::string_view mapper;              // name of the mapper
  const MapTaskOutput* wish = nullptr;  // set for map_task
};

// Return Legion's numbers of a memory and of a processor.
std::uint64_t memory_id(std::int32_t memory);
std::uint64_t processor_id(std::int32_t processor);

// Messages about an instance that an answer of map_task names.
struct NamedInstance {
  Refused answer;
  std::uint32_t position = 0;  // position of the requirement

  std::string other_region(std::uint32_t found, std::uint32_t wanted) const;
  std::string missing_fields(std::size_t count) const;
  std::string collected() const;
  std::string not_visible(std::int32_t memory) const;
  std::string too_small() const;
  std::string reduction(bool reduces) const;
};

// Returns Legion's message. Empty if Legion crashes, aborts or waits without a message; validate.cc
// says in which cases.
std::string legion_words(const Refusal& refusal, const Refused& answer, const Memories& memories);

}  // namespace groma::sim
