// Instance: a physical instance, which holds part of the data of a region in a memory.
// InstanceQuery: a request for an instance.
#pragma once

#include <cstdint>

#include "groma/mapper_output.h"
#include "simulate/spaces.h"

namespace groma::sim {

// Identifies an instance within a run. Instances are numbered from 0 in the order in which they are
// made.
using InstanceNumber = std::uint32_t;
// Stands for no instance, for example for a requirement that is empty or mapped virtually.
inline constexpr InstanceNumber kVirtual = 0xFFFFFFFF;

struct Instance {
  std::uint32_t region = 0;
  std::int32_t memory = 0;
  // The part of the region that the instance covers.
  const Piece* shape = nullptr;
  std::uint64_t groups = 0;
  LayoutSpec layout;
  bool reduction = false;
  bool alive = true;
  std::int64_t bytes = 0;
  // The number of unfinished tasks and copies that use the instance.
  std::int32_t users = 0;
  CollectPriority priority = kCollectDefault;
  // The time at which the instance was last taken for a task, counted in calls: each call of the
  // InstanceStore that takes an instance advances this time by one.
  std::int64_t used = 0;
  // The number of pairs of a cell and a field group that would lose data with this instance: only
  // this instance holds the valid data, or it holds reductions that nobody has read yet. 0:
  // evicting the instance loses no data.
  std::int64_t needed = 0;
  // The number of calls of InstanceStore::note_all_tasks_over() before the last call of
  // InstanceStore::release_at_unknown_time() for this instance. -1: there was no such call.
  std::int64_t left = -1;
  // The statement of the mapping that placed the instance in its memory. 0: none is recorded.
  std::int32_t statement = 0;
  // Used by InstanceIndex, which links the instances with equal boxes in a list, from the oldest to
  // the newest: the next newer instance in that list. kVirtual: this is the newest one.
  InstanceNumber next = kVirtual;
};

// A request for an instance, either an existing one that fits or a new one.
struct InstanceQuery {
  std::uint32_t region = 0;
  std::int32_t memory = 0;
  // The part of the region that the instance must cover.
  const Piece* piece = nullptr;
  // The part of the region that a new instance covers.
  const Piece* shape = nullptr;
  // A bit mask of the field groups that the instance must hold.
  std::uint64_t groups = 0;
  // A bit mask of the field groups that a new instance holds.
  std::uint64_t new_groups = 0;
  LayoutSpec layout;
  bool reduction = false;
  bool fresh = false;
  CollectPriority priority = kCollectDefault;
  std::int32_t statement = 0;
};

}  // namespace groma::sim
