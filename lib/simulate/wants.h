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
#include "groma/validate.h"
#include "groma/wish.h"
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
  WantedInstances(const RunInput& input, const Store& store) : input_(input), store_(store) {}

  // Notes the instances that a requirement may get on each processor in `places`, where the task
  // may run. Returns false if these processors use different memories for one candidate, or only
  // some of them can address one, so that the run decides.
  bool note_requirement(const TaskRun& run, const RequirementView& requirement,
                        const RequirementWish& wish, std::span<const Processor> places,
                        std::uint32_t position);
  // Notes an instance that a mapper asked for while it mapped `task`. nullopt: there was no room.
  // The instance takes room, whether it is used or not.
  void note_made(std::uint32_t task, const InstanceQuery& query,
                 std::optional<InstanceNumber> made);
  std::size_t size() const { return all_.size(); }
  // Returns the approximate memory of the object itself, in bytes.
  std::int64_t bytes() const { return bytes_; }

  // Adds a warning for each memory that may be too small: all instances that may be made there,
  // each counted once, exceed its capacity. A later candidate of a requirement counts only if an
  // earlier one may have no room. The limits of the run may end it meanwhile.
  void find_small_memories(Outcome& outcome, Findings& findings) const;
  // Returns the error for a copy that may be needed between two memories that no channel connects;
  // nullopt if there is none. The limits of the run may end it meanwhile.
  std::optional<Refusal> find_missing_route(Outcome& outcome, Links& links) const;

 private:
  // An instance that a requirement may get. A requirement has choices for each candidate of its
  // wish, in their order (`stage`). A candidate has a choice for each memory that it may mean,
  // which depends on where the task runs.
  struct Choice {
    std::uint64_t key;
    std::int32_t memory, stage;
    std::int64_t bytes;
    std::uint32_t region;
    Origin origin;
    // False if a processor where the task may run can address no memory of the candidate, so that
    // the next candidate counts there.
    bool is_for_all = true;
  };
  struct Want {
    std::vector<Choice> choices;
    // True if the requirement may go without an instance if no choice has room.
    bool may_be_virtual = false;
    std::uint32_t task = 0, position = 0;
  };
  // The bytes that tasks may want in each memory, by the memory's number.
  struct Demand {
    std::vector<std::int64_t> bytes;
    // For each memory: whether tasks may want more bytes than its capacity.
    std::vector<bool> full;
  };
  // A memory in which a region may lie, and the statement that puts it there.
  struct Place {
    std::int32_t memory;
    Origin origin;
  };
  // For each region: the memories in which it may lie.
  using Places = std::map<std::uint32_t, std::vector<Place>>;

  bool add_choices(InstanceQuery query, const InstanceWish& candidate, std::int32_t stage,
                   std::span<const Processor> places);
  void add(Want want);
  template <typename Use>
  static bool for_choices(const Want& want, const std::vector<bool>& full, const Use& use);
  bool add_up(Outcome& outcome, Demand& demand) const;
  Diagnostic small_memory_warning(std::int32_t memory, const Demand& demand) const;
  bool collect_places(Outcome& outcome, Places& places) const;

  const RunInput& input_;
  const Store& store_;
  std::vector<Want> all_;
  std::unordered_set<std::uint64_t> known_;
  // The memory of `all_` and `known_` in bytes.
  std::int64_t bytes_ = 0;
  // The number of noted instances that must not be shared (InstanceQuery::fresh).
  std::uint64_t fresh_ = 0;
  // Buffers, kept so that their memory is reused.
  std::vector<Choice> choices_;
  std::vector<std::int32_t> seen_;
};

// Returns whether the data of this task alone exceeds the memory that requirement `position` needs,
// wherever the task runs. Only requirements with a single possible memory count. Each kind of
// instance counts once.
bool task_exceeds_memory(const RunInput& input, const TaskRun& run, const TaskView& view,
                         const MapTaskOutput& wish, std::span<const Processor> places,
                         std::uint32_t position);

}  // namespace groma::sim
