// Implements Wants: collects the instances that requirements may get, and finds from them which
// memories and copies may fail.
#include "simulate/wants.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <tuple>
#include <utility>

#include "base/one_diagnostic.h"
#include "base/quantities.h"
#include "base/saturating.h"
#include "evaluate/processors.h"
#include "simulate/bytes.h"
#include "simulate/candidates.h"
#include "simulate/hash.h"
#include "simulate/refusals.h"

namespace groma::sim {
namespace {

// Returns a hash of the instance that a query would make. Queries with equal keys may share an
// instance.
std::uint64_t key_of(const InstanceQuery& query) {
  std::uint64_t key =
      combine_hash(combine_hash(1, query.region), static_cast<std::uint64_t>(query.memory));
  key = combine_hash(key, query.shape->box);
  if (query.shape->set != nullptr) key = combine_hash(key, query.shape->set->key);
  const LayoutSpec& layout = query.layout;
  key = combine_hash(key, query.new_groups);
  key = combine_hash(key, static_cast<std::uint64_t>(layout.align_bytes));
  return combine_hash(key, static_cast<std::uint64_t>(layout.dimensions) << 16 |
                               static_cast<std::uint64_t>(layout.fields) << 12 |
                               static_cast<std::uint64_t>(layout.align_op) << 4 |
                               (layout.compact ? 2U : 0U) | (query.reduction ? 1U : 0U));
}

// Returns the hash of an instance that a choice names by its number.
std::uint64_t key_of_named(InstanceNumber number) { return combine_hash(2, number); }

// If the processor of the task can address exactly one candidate of the requirement, returns the
// query for that candidate. Otherwise, or if the requirement may go without an instance, returns
// nullopt.
std::optional<InstanceQuery> only_query(const RunInput& input, const TaskRun& run,
                                        const TaskView& view, const MapTaskOutput& answer,
                                        std::uint32_t position) {
  const InstanceChoice& choice = answer.requirements[position];
  const RequirementView& requirement = view.requirements[position];
  if (requirement.empty() || choice.is_virtual || run.pieces[position] == nullptr) return {};
  if (choice.instance != 0) return {};
  std::optional<InstanceQuery> found;
  for (const InstanceCandidate& candidate : choice.candidates()) {
    if (candidate.memory == MemKind::kVirtual) return {};
    const auto query = query_for(input, run, requirement, choice, candidate, position);
    if (!query) continue;
    if (found) return {};
    found = query;
  }
  return found;
}

}  // namespace

// ---- Noting

// Notes the want of a requirement, unless an equal want was noted before.
bool WantedInstances::note_requirement(const TaskRun& run, const RequirementView& requirement,
                                       const InstanceChoice& choice,
                                       std::span<const Processor> places, std::uint32_t position) {
  WantedInstance want;
  want.task = run.task;
  want.position = position;
  bool one_memory = true;
  choices_.clear();
  if (choice.instance != 0) {
    const auto number = static_cast<InstanceNumber>(choice.instance - 1);
    const Instance& instance = store_.instance(number);
    choices_.push_back({key_of_named(number), instance.memory, 0, instance.bytes, instance.region,
                        choice.instance_origin});
  } else {
    std::int32_t stage = 0;
    for (const InstanceCandidate& candidate : choice.candidates()) {
      if (candidate.memory == MemKind::kVirtual) {
        want.may_be_virtual = true;
        break;
      }
      const auto query = query_in(-1, input_, run, requirement, choice, candidate, position);
      one_memory = add_choices_of_candidate(query, candidate, stage++, places) && one_memory;
    }
  }
  std::uint64_t key = 1;
  for (const Choice& each : choices_) {
    key = combine_hash(key, each.key + static_cast<std::uint64_t>(each.stage));
    key = combine_hash(key, each.is_for_all ? std::uint64_t{1} : std::uint64_t{0});
  }
  if (choices_.empty() || !known_.insert(key).second) return one_memory;
  want.choices = choices_;
  add(std::move(want));
  return one_memory;
}

// Adds a choice for each memory that the candidate stands for on one of the processors in `places`.
// Returns false if these processors use several memories, or if only some of them can address one.
bool WantedInstances::add_choices_of_candidate(InstanceQuery query,
                                               const InstanceCandidate& candidate,
                                               std::int32_t stage,
                                               std::span<const Processor> places) {
  const std::size_t begin = choices_.size();
  bool is_for_all = true;
  seen_.clear();
  for (const Processor& place : places) {
    query.memory = input_.memories.nearest(place, candidate.memory);
    if (query.memory < 0) {
      is_for_all = false;
      continue;
    }
    if (std::find(seen_.begin(), seen_.end(), query.memory) != seen_.end()) continue;
    seen_.push_back(query.memory);
    const std::uint64_t key = key_of(query) + (query.fresh ? ++fresh_ : 0);
    choices_.push_back(
        {key, query.memory, stage, store_.bytes_of(query), query.region, candidate.memory_origin});
  }
  for (std::size_t i = begin; i < choices_.size(); ++i) choices_[i].is_for_all = is_for_all;
  return seen_.empty() || (seen_.size() == 1 && is_for_all);
}

// An instance that a mapper asks for is noted each time, since each call may make another instance.
void WantedInstances::note_instance_made_by_mapper(std::uint32_t task, const InstanceQuery& query,
                                                   std::optional<InstanceNumber> made) {
  const std::uint64_t key = made ? key_of_named(*made) : key_of(query);
  add({{{key, query.memory, 0, store_.bytes_of(query), query.region, {}}}, true, task, 0});
}

// Adds a want to the list, and counts the memory that it takes.
void WantedInstances::add(WantedInstance want) {
  // The bytes that an entry of `known_` takes.
  constexpr std::int64_t kKnown = 64;
  all_.push_back(std::move(want));
  bytes_ += static_cast<std::int64_t>(2 * sizeof(WantedInstance)) + kKnown +
            heap_bytes(all_.back().choices);
}

// ---- Memories that may be too small

// Calls use(choice) for those choices of a want that a run may try. A later candidate of the want
// is tried only if a memory of the candidate before may be full, or if some processor can address
// no memory of the candidate before. Returns true if one of the candidates surely has room.
template <typename Use>
bool WantedInstances::for_choices_a_run_may_try(const WantedInstance& want,
                                                const std::vector<bool>& full, const Use& use) {
  bool room = true;
  for (std::size_t i = 0; i < want.choices.size(); ++i) {
    const Choice& choice = want.choices[i];
    if (i > 0 && choice.stage != want.choices[i - 1].stage) {
      if (room) return true;
      room = true;
    }
    use(choice);
    room = room && choice.is_for_all && !full[static_cast<std::size_t>(choice.memory)];
  }
  return room;
}

// For each memory, adds up the bytes of all instances that may be wanted there. If the sum exceeds
// the capacity, the memory counts as full, and the later candidates of its wants count, too. These
// may fill other memories, so the sums are computed again until no further memory becomes full.
// Returns false if a limit ended the run.
bool WantedInstances::add_up_wanted_bytes(Outcome& outcome, MemoryDemand& demand) const {
  const std::size_t memories = input_.memories.size();
  demand.full.assign(memories, false);
  for (bool more = true; more;) {
    if (!outcome.spend(static_cast<std::int64_t>(memories + 16 * all_.size()))) return false;
    demand.bytes.assign(memories, 0);
    std::unordered_set<std::uint64_t> counted;
    for (const WantedInstance& want : all_) {
      for_choices_a_run_may_try(want, demand.full, [&](const Choice& choice) {
        if (!counted.insert(choice.key).second) return;
        std::int64_t& sum = demand.bytes[static_cast<std::size_t>(choice.memory)];
        sum = saturating_add(sum, choice.bytes);
      });
    }
    more = false;
    for (std::size_t m = 0; m < memories; ++m) {
      const MemoryGroup& group = input_.memories.group(static_cast<std::int32_t>(m));
      if (!demand.full[m] && demand.bytes[m] > group.capacity_bytes) demand.full[m] = more = true;
    }
  }
  return true;
}

// There is no warning for a want that surely has room, or whose requirement may go without an
// instance.
void WantedInstances::find_small_memories(Outcome& outcome, Findings& findings) const {
  MemoryDemand demand;
  if (!add_up_wanted_bytes(outcome, demand)) return;
  // For each pair of a kind of memory and a statement of the mapping, there is only one warning,
  // since the memories of one kind are often full together.
  std::set<std::pair<MemKind, std::uint32_t>> told;
  for (const Refusal& refusal : findings.all()) {
    if (refusal.diagnostic.id != DiagId::kOutOfMemory) continue;
    for (std::size_t k = 0; k < kMemKindCount; ++k) {
      told.emplace(static_cast<MemKind>(k), refusal.origin.statement);
    }
  }
  for (const WantedInstance& want : all_) {
    const Choice* last = nullptr;
    const bool fits = for_choices_a_run_may_try(want, demand.full, [&](const Choice& choice) {
      if (demand.full[static_cast<std::size_t>(choice.memory)]) last = &choice;
    });
    if (fits || want.may_be_virtual || last == nullptr || findings.full()) continue;
    const MemKind kind = input_.memories[last->memory].kind;
    if (!told.emplace(kind, last->origin.statement).second) continue;
    findings.add_warning({small_memory_warning(last->memory, demand), last->origin});
  }
}

// Returns the warning for a memory that may be too small. Notes list the regions with the most
// bytes.
Diagnostic WantedInstances::small_memory_warning(std::int32_t memory,
                                                 const MemoryDemand& demand) const {
  const std::int64_t wanted = demand.bytes[static_cast<std::size_t>(memory)];
  const std::int64_t capacity = input_.memories.group(memory).capacity_bytes;
  Diagnostic diagnostic =
      diagnostic_without_source(DiagId::kMayNotFit, mapper::text_of(input_.memories[memory]),
                                format_bytes(wanted), format_bytes(capacity));
  struct RegionDemand {
    std::int64_t bytes = 0, count = 0;
    std::uint32_t task = 0, position = 0;
  };
  // For each region: the number and the bytes of its instances that may be wanted in the memory,
  // and the first requirement that wants one.
  std::map<std::uint32_t, RegionDemand> parts;
  std::unordered_set<std::uint64_t> counted;
  for (const WantedInstance& want : all_) {
    for_choices_a_run_may_try(want, demand.full, [&](const Choice& choice) {
      if (choice.memory != memory || !counted.insert(choice.key).second) return;
      RegionDemand& part = parts[choice.region];
      if (part.count++ == 0) part = {0, 1, want.task, want.position};
      part.bytes = saturating_add(part.bytes, choice.bytes);
    });
  }
  std::vector<std::pair<std::uint32_t, RegionDemand>> largest(parts.begin(), parts.end());
  std::stable_sort(largest.begin(), largest.end(),
                   [](const auto& a, const auto& b) { return a.second.bytes > b.second.bytes; });
  if (largest.size() > kShownRegions) largest.resize(kShownRegions);
  diagnostic.note(fmt::format("{} too little, if no instance is given up before another is needed",
                              format_bytes(wanted - capacity)));
  for (const auto& [region, part] : largest) {
    diagnostic.note(fmt::format("{} instance{} of `{}`, {}, first for region {} of `{}`",
                                part.count, part.count == 1 ? "" : "s",
                                input_.data.regions[region].name, format_bytes(part.bytes),
                                part.position, input_.data.tasks[part.task].name));
  }
  return diagnostic;
}

// ---- Copies that may have no route

// For each region, collects the memories in which it may lie. Memories of one kind on nodes of one
// type have the same routes. So of each kind only three memories are kept: two in one node, and one
// in another node. Returns false if a limit ended the run.
bool WantedInstances::collect_memories_of_regions(Outcome& outcome, Places& places) const {
  struct SimilarMemories {
    std::int64_t node, in_node, elsewhere;
  };
  std::map<std::tuple<std::uint32_t, const NodeType*, MemKind>, SimilarMemories> known;
  for (const WantedInstance& want : all_) {
    if (!outcome.spend(8 * static_cast<std::int64_t>(want.choices.size()))) return false;
    for (const Choice& choice : want.choices) {
      const Memory& memory = input_.memories[choice.memory];
      std::vector<PossibleMemory>& here = places[choice.region];
      const bool is_there = std::any_of(here.begin(), here.end(), [&](const PossibleMemory& place) {
        return place.memory == choice.memory;
      });
      if (is_there) continue;
      const std::tuple kind(choice.region, &input_.machine->node(memory.node), memory.kind);
      SimilarMemories& alike =
          known.try_emplace(kind, SimilarMemories{memory.node, 0, 0}).first->second;
      const bool in_node = memory.node == alike.node;
      if (++(in_node ? alike.in_node : alike.elsewhere) <= (in_node ? 2 : 1)) {
        here.push_back({choice.memory, choice.origin});
      }
    }
  }
  return true;
}

// Looks for a route between any two memories in which the same region may lie.
std::optional<Refusal> WantedInstances::find_missing_route(Outcome& outcome, Links& links) const {
  Places places;
  if (!collect_memories_of_regions(outcome, places)) return std::nullopt;
  for (const auto& [region, here] : places) {
    for (const PossibleMemory& from : here) {
      for (const PossibleMemory& to : here) {
        if (from.memory == to.memory || links.route(from.memory, to.memory) != nullptr) continue;
        Instance a, b;
        a.memory = from.memory;
        b.memory = to.memory;
        b.statement = static_cast<std::int32_t>(to.origin.statement);
        return no_route(input_.memories, a, b);
      }
    }
  }
  return std::nullopt;
}

// ---- One task

// Counts for each requirement only the bytes that it needs at least: those of its own fields and
// points, even if a new instance would be larger.
bool task_exceeds_memory(const RunInput& input, const TaskRun& run, const TaskView& view,
                         const MapTaskOutput& choice, std::span<const Processor> places,
                         std::uint32_t position) {
  const auto mine = only_query(input, run, view, choice, position);
  if (!mine || choice.processors.size() > 1) return false;
  // The key stands for one kind of instance that several requirements may share. The value is the
  // size in bytes that the largest of these requirements needs.
  std::map<std::uint64_t, std::int64_t> least;
  for (std::uint32_t r = 0; r <= position; ++r) {
    auto query = only_query(input, run, view, choice, r);
    if (!query || query->memory != mine->memory) continue;
    const std::int64_t bytes = input.spaces.region(query->region)
                                   .instance_bytes(query->groups, query->layout,
                                                   query->piece->points_with_room(query->layout));
    static const Piece kNone;
    query->shape = &kNone;
    query->new_groups = 0;
    std::int64_t& known = least[key_of(*query)];
    known = std::max(known, bytes);
  }
  std::int64_t sum = 0;
  for (const auto& [key, bytes] : least) sum = saturating_add(sum, bytes);
  return std::all_of(places.begin(), places.end(), [&](const Processor& place) {
    const std::int32_t memory = input.memories.nearest(place, input.memories[mine->memory].kind);
    return memory < 0 || sum > input.memories.group(memory).capacity_bytes;
  });
}

}  // namespace groma::sim
