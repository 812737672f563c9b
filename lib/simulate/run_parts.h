// RunParts: the objects that a simulated run and a rehearsal of it have in common. Engine and
// Rehearsal each own a RunParts and decide in which order these objects are used.
#pragma once

#include <cstdint>
#include <memory>

#include "groma/simulate.h"
#include "simulate/arena.h"
#include "simulate/launcher.h"
#include "simulate/mapper_calls.h"
#include "simulate/mapper_instances.h"
#include "simulate/mappers.h"
#include "simulate/op_graph.h"
#include "simulate/outcome.h"
#include "simulate/run_input.h"
#include "simulate/spaces.h"
#include "simulate/store.h"
#include "simulate/valid_data.h"
#include "simulate/views.h"

namespace groma::sim {

// The work of one event, one statement or one point of a launch, in units of Budget.
inline constexpr std::int64_t kStepWork = 64;
// The largest number of statements that a run may execute, so that a long loop whose body launches
// nothing ends, too.
inline constexpr std::uint64_t kMaxStatements = std::uint64_t{1} << 26;
// The largest number of unfinished tasks of a run. It limits the memory of the tasks.
inline constexpr std::int64_t kMaxLive = std::int64_t{1} << 23;

struct RunParts {
  // `data`, `spaces` and `make` must outlive the object. The limits hold for the whole run.
  RunParts(const app::Data& data, const DataSpaces& spaces, std::shared_ptr<const Machine> machine,
           const MapperFactory& make, const Outcome::Limits& limits);
  RunParts(const RunParts&) = delete;
  RunParts& operator=(const RunParts&) = delete;

  // Returns true if the run may go on with `more` additional bytes, which the task needs. Otherwise
  // ends the run and returns false.
  bool within_limits(std::uint32_t task, std::int64_t more = 0) {
    return outcome.within_limits(input.data.tasks[task].name, more);
  }
  // Returns the approximate memory of these objects, of the application and of the machine, in
  // bytes.
  std::int64_t bytes() const;

  const RunInput input;
  Outcome outcome;
  OpGraph ops;
  // Provides the memory of the lists of tasks and of the cells of regions.
  Arena lists;
  InstanceStore store;
  ValidData valid_data;
  Views views;
  // The functions that mappers may call during a hook.
  MapperCalls calls;
  Mappers mappers;
  MapperInstances instances;
  Launcher launcher;

 private:
  // The memory of the application and of the machine, in bytes.
  const std::int64_t given_bytes_;
};

}  // namespace groma::sim
