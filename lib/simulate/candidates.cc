// Translates the candidates in mappers' answers into queries for instances of the store.
#include "simulate/candidates.h"

#include <array>
#include <span>

#include "mapper/default_policy.h"

namespace groma::sim {
namespace {

// Returns the piece that a new instance for the candidate covers: the piece of the requirement, or
// an enclosing piece if neighbouring tasks may share the instance (InstanceChoice::shares).
const Piece* shape_of(const RunInput& input, const InstanceChoice& choice,
                      const InstanceCandidate& candidate, const TaskRun& run,
                      std::uint32_t position) {
  const Piece* piece = run.pieces[position];
  const app::RequirementData& where = data_of_requirement(input.data, run, position);
  if (!choice.shares(candidate) || where.kind != app::RequirementData::Kind::kPartition)
    return piece;
  // The list `above` holds the piece itself, then the pieces of the enclosing partitions from the
  // inside to the outside, and at the end the whole region.
  std::array<const Piece*, kMaxAppPartitionDepth + 1> above;
  std::array<std::int64_t, kMaxAppPartitionDepth + 1> volumes;
  std::size_t count = 0;
  std::int64_t color = input.spaces.color_of(where.index, *piece);
  for (int at = static_cast<int>(where.index); at >= 0;) {
    const app::Partition& partition = input.data.partitions[static_cast<std::size_t>(at)];
    above[count++] = &input.spaces.piece(static_cast<std::uint32_t>(at), color);
    color /= partition.own_colors.volume();
    at = partition.outer;
  }
  above[count++] = &input.spaces.region(where.region).whole;
  for (std::size_t i = 0; i < count; ++i) volumes[i] = above[i]->points();
  return above[mapper::choose_instance_region(std::span(volumes).first(count),
                                              input.machine->node_count())];
}

}  // namespace

// The candidate names only a kind of memory. The instance has to lie in the memory of that kind
// that the processor of the task uses.
std::optional<InstanceQuery> query_for(const RunInput& input, const TaskRun& run,
                                       const RequirementView& requirement,
                                       const InstanceChoice& choice,
                                       const InstanceCandidate& candidate, std::uint32_t position) {
  const std::int32_t memory = input.memories.nearest(*run.processor, candidate.memory);
  if (memory < 0) return std::nullopt;
  return query_in(memory, input, run, requirement, choice, candidate, position);
}

// If the mapper's choice for the requirement allows it, a new instance gets more fields and covers
// a larger piece than the requirement needs.
InstanceQuery query_in(std::int32_t memory, const RunInput& input, const TaskRun& run,
                       const RequirementView& requirement, const InstanceChoice& choice,
                       const InstanceCandidate& candidate, std::uint32_t position) {
  const bool reduces = requirement.privilege == Privilege::kReduce;
  InstanceQuery query;
  query.region = data_of_requirement(input.data, run, position).region;
  query.memory = memory;
  query.piece = run.pieces[position];
  query.shape = shape_of(input, choice, candidate, run, position);
  query.groups = field_groups_of(input.spaces, run, position);
  query.new_groups = choice.fields == InstanceChoice::Fields::kAll && !reduces
                         ? input.spaces.region(query.region).all_groups
                         : query.groups;
  query.layout = input.spaces.region(query.region).layout(candidate.layout, query.new_groups);
  query.reduction = reduces;
  query.fresh = choice.fresh;
  query.priority = choice.collect_priority;
  query.statement = static_cast<std::int32_t>(candidate.memory_origin.statement);
  return query;
}

}  // namespace groma::sim
