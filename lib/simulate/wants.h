// WantedInstances: all instances that the requirements of a rehearsal may get, in whatever order
// its tasks run. They show which memories may be too small and which copies may have no route.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <unordered_set>
#include <vector>

#include "groma/diagnostics.h"
#include "groma/mapper_output.h"
#include "groma/validate.h"
#include "simulate/findings.h"
#include "simulate/instance.h"
#include "simulate/links.h"
#include "simulate/outcome.h"
#include "simulate/run_input.h"
#include "simulate/store.h"
#include "simulate/task_run.h"

namespace groma::sim {

class WantedInstances {
 public:
  // The object keeps references to both arguments, so they must outlive it.
  WantedInstances(const RunInput& input, const InstanceStore& store)
      : input_(input), store_(store) {}

  // Notes the instances that a requirement may get on each processor in `places`, where the task
  // may run. Returns false if these processors use different memories for one candidate, or only
  // some of them can address one, so that the run decides.
  bool note_requirement(const TaskRun& run, const RequirementView& requirement,
                        const InstanceChoice& choice, std::span<const Processor> places,
                        std::uint32_t position);
  // Notes an instance that a mapper asked for by a call of its own while it mapped `task`. `made`
  // is nullopt if there was no room. The instance counts as taking room, whether it is used or not.
  void note_instance_made_by_mapper(std::uint32_t task, const InstanceQuery& query,
                                    std::optional<InstanceNumber> made);
  std::size_t size() const { return all_.size(); }
  // Returns the approximate memory of the object itself, in bytes.
  std::int64_t bytes() const { return bytes_; }

  // Adds a warning for each memory whose capacity is exceeded by the sum of all instances that may
  // be made there, each counted once. A later candidate of a requirement counts only if there may
  // be no room for an earlier one. The limits on the run may end this search early.
  void find_small_memories(Outcome& outcome, Findings& findings) const;
  // Looks for a copy that may be needed between two memories that no channel connects. Returns its
  // error, or nullopt if there is none. The limits on the run may end this search early.
  std::optional<Refusal> find_missing_route(Outcome& outcome, Links& links) const;

 private:
  // An instance that a requirement may get. The mapper's choice for a requirement lists candidates
  // in order; `stage` is the position of the candidate. A candidate names a kind of memory, which
  // may mean several memories, depending on where the task runs. There is one choice for each of
  // them.
  struct Choice {
    std::uint64_t key;
    std::int32_t memory, stage;
    std::int64_t bytes;
    std::uint32_t region;
    DecisionOrigin origin;
    // True if every processor where the task may run can address a memory of the candidate.
    // Otherwise the next candidate counts, too.
    bool is_for_all = true;
  };
  struct WantedInstance {
    std::vector<Choice> choices;
    // True if the requirement may go without an instance if no choice has room.
    bool may_be_virtual = false;
    std::uint32_t task = 0, position = 0;
  };
  // The bytes that tasks may want in each memory, by the memory's number.
  struct MemoryDemand {
    std::vector<std::int64_t> bytes;
    // For each memory: true if tasks may want more bytes there than the capacity of the memory.
    std::vector<bool> full;
  };
  // A memory in which a region may lie, and the statement that puts it there.
  struct PossibleMemory {
    std::int32_t memory;
    DecisionOrigin origin;
  };
  // For each region: the memories in which it may lie.
  using Places = std::map<std::uint32_t, std::vector<PossibleMemory>>;

  bool add_choices_of_candidate(InstanceQuery query, const InstanceCandidate& candidate,
                                std::int32_t stage, std::span<const Processor> places);
  void add(WantedInstance want);
  template <typename Use>
  static bool for_choices_a_run_may_try(const WantedInstance& want, const std::vector<bool>& full,
                                        const Use& use);
  bool add_up_wanted_bytes(Outcome& outcome, MemoryDemand& demand) const;
  Diagnostic small_memory_warning(std::int32_t memory, const MemoryDemand& demand) const;
  bool collect_memories_of_regions(Outcome& outcome, Places& places) const;

  const RunInput& input_;
  const InstanceStore& store_;
  std::vector<WantedInstance> all_;
  std::unordered_set<std::uint64_t> known_;
  // The memory of `all_` and `known_` in bytes.
  std::int64_t bytes_ = 0;
  // The number of noted instances that must not be shared (InstanceQuery::fresh).
  std::uint64_t fresh_ = 0;
  // Buffers that are members only so that their memory is used again by later calls.
  std::vector<Choice> choices_;
  std::vector<std::int32_t> seen_;
};

// Returns true if this task alone needs more bytes than fit into a memory, wherever the task runs.
// The memory is the one in which the instance of requirement `position` has to lie. The bytes are
// the sum over the requirements 0 to `position` that can lie only in that memory. Requirements that
// can share an instance count once.
bool task_exceeds_memory(const RunInput& input, const TaskRun& run, const TaskView& view,
                         const MapTaskOutput& choice, std::span<const Processor> places,
                         std::uint32_t position);

}  // namespace groma::sim
