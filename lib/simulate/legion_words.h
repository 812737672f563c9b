// What Legion says where it refuses an answer (its messages of 24.12 to 26.6, with their
// misspellings), so that a run's output reads as a real one's.
#pragma once

#include <string>
#include <string_view>

#include "groma/validate.h"
#include "simulate/links.h"

namespace groma::sim {

// The answer that was refused.
struct Refused {
  const TaskView& task;
  std::string_view mapper;         // its name
  const TaskWish* wish = nullptr;  // of map_task
};

// Legion's number of a memory, of a processor.
std::uint64_t memory_id(std::int32_t memory);
std::uint64_t processor_id(std::int32_t processor);

// What is wrong with an instance that an answer of map_task names.
struct NamedInstance {
  Refused answer;
  std::uint32_t position = 0;  // of the requirement

  std::string other_region(std::uint32_t found, std::uint32_t wanted) const;
  std::string missing_fields(std::size_t count) const;
  std::string collected() const;
  std::string not_visible(std::int32_t memory) const;
  std::string too_small() const;
  std::string reduction(bool reduces) const;
};

// Empty where Legion crashes, aborts or waits without a word; validate.cc says where.
std::string legion_words(const Refusal& refusal, const Refused& answer, const Memories& memories);

}  // namespace groma::sim
