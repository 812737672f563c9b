// Clears the answers of hooks, so that they can be used again. The memory of their lists is kept,
// because a hook is called for every task and must not allocate each time.
#include "groma/mapper_output.h"

#include <utility>

namespace groma {
namespace {

// Returns an empty list that has the memory of the given one. The given list has none afterwards.
template <typename Vector>
Vector emptied(Vector& buffer) {
  buffer.clear();
  return std::move(buffer);
}

}  // namespace

// Resets the answer: the lists are taken out, everything else is set to its default, and the lists
// are put back.
void TaskOptions::clear() {
  auto kept = emptied(collective);
  *this = {};
  collective = std::move(kept);
}

// Resets the answer. Every member is set alone, because TaskSlices keeps its memory in clear().
void SliceTaskOutput::clear() {
  slices.clear();
  by_default = false;
  origin = {};
  failure.reset();
}

void MapTaskOutput::clear() {
  auto kept_processors = emptied(processors);
  auto kept_requirements = emptied(requirements);
  auto kept_memories = emptied(future_memories);
  *this = {};
  processors = std::move(kept_processors);
  requirements = std::move(kept_requirements);
  future_memories = std::move(kept_memories);
}

void MapOperationOutput::clear() {
  auto kept = emptied(requirements);
  *this = {};
  requirements = std::move(kept);
}

void ReplicateTaskOutput::clear() {
  variant = 0;
  processors.clear();
  origin = {};
}

void SelectMappingOutput::clear() {
  map.clear();
  relocate.clear();
  deferral = 0;
}

void MapMustEpochOutput::clear() {
  processors.clear();
  constraints.clear();
}

}  // namespace groma
