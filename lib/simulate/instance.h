// Instance: a part of a region's data in a memory, and the request for one.
#pragma once

#include <cstdint>

#include "groma/wish.h"
#include "simulate/spaces.h"

namespace groma::sim {

// The number of an instance in the run, in the order in which they are made.
using InstanceNumber = std::uint32_t;
inline constexpr InstanceNumber kVirtual = 0xFFFFFFFF;  // no instance

struct Instance {
  std::uint32_t region = 0;
  std::int32_t memory = 0;
  const Piece* shape = nullptr;  // the data that it holds
  std::uint64_t groups = 0;
  LayoutSpec layout;
  bool reduction = false;
  bool alive = true;
  std::int64_t bytes = 0;
  std::int32_t users = 0;  // unfinished tasks that are mapped to it, and copies
  CollectPriority priority = kCollectDefault;
  std::int64_t used = 0;  // time of the last mapping, counted in calls
  // The number of cells and groups for which only this instance holds valid data, or reductions
  // that nobody has read.
  std::int64_t needed = 0;
  std::int64_t left = -1;          // Store::leave: number of all_over() calls before it
  std::int32_t statement = 0;      // the statement of the mapping that put it there
  InstanceNumber next = kVirtual;  // InstanceIndex: the next newer instance in the same chain
};

// A request for an instance.
struct InstanceQuery {
  std::uint32_t region = 0;
  std::int32_t memory = 0;
  const Piece* piece = nullptr;  // must be covered
  const Piece* shape = nullptr;  // covered by a new instance
  std::uint64_t groups = 0;      // must be held
  std::uint64_t new_groups = 0;  // held by a new instance
  LayoutSpec layout;
  bool reduction = false;
  bool fresh = false;
  CollectPriority priority = kCollectDefault;
  std::int32_t statement = 0;
};

}  // namespace groma::sim
