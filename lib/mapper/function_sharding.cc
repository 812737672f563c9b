#include "mapper/function_sharding.h"

#include <algorithm>

namespace groma::mapper {
namespace {

// Every node has shards of its own, so that what a shard owns is on its node.
bool on_all_nodes(const Machine& machine, const ShardTable& shards) {
  for (std::int64_t node = 0; node < machine.node_count(); ++node) {
    if (shards.count_on(node) == 0) return false;
  }
  return true;
}

std::vector<Processor> owned_on_node(ShardId shard, const Machine& machine,
                                     const ShardTable& shards) {
  std::vector<Processor> owned;
  const std::int64_t node = shards[shard].node;
  for (std::size_t k = 0; k < kProcKindCount; ++k) {
    const auto kind = static_cast<ProcKind>(k);
    for (std::int64_t i = 0; i < machine.processor_count(node, kind); ++i) {
      const Processor processor{kind, node, i};
      if (shards.shard_of(processor) == shard) owned.push_back(processor);
    }
  }
  return owned;
}

// False where the function fails somewhere.
bool give_boxes(LaunchCursor::Open& at, ShardId shard, const Machine& machine,
                const ShardTable& shards, const BoxSink& box, Diagnostics& diags) {
  if (!on_all_nodes(machine, shards)) {
    const auto wanted = [&](const Rect& slice, ProcessorNumber number) {
      if (shards.shard_of(at.cursor.processor(number)) == shard) box(slice);
    };
    return at.cursor.slices(wanted, diags);
  }
  const std::int64_t node = shards[shard].node;
  if (node < 0 || node >= machine.node_count()) return true;
  if (shards.count_on(node) == 1) return at.cursor.boxes_of_node(node, box, diags);
  return at.cursor.boxes_of(owned_on_node(shard, machine, shards), box, diags);
}

}  // namespace

ShardId FunctionSharding::shard(const Point& point, const Rect& domain,
                                const ShardTable& shards) const {
  const auto processor = cursors_->with([&](LaunchCursor& cursor) {
    return cursor.first({function_, task_, domain, std::nullopt}, point);
  });
  return processor ? shards.shard_of(*processor) : 0;
}

void FunctionSharding::boxes_of(ShardId shard, const Rect& domain, const ShardTable& shards,
                                const std::function<void(const Rect&)>& box) const {
  const bool given = cursors_->with([&](LaunchCursor& cursor) {
    LaunchCursor::Open* at = cursor.open({function_, task_, domain, std::nullopt});
    if (at == nullptr) return false;
    if (at->map->proved()) {
      return give_boxes(*at, shard, *machine_, shards, box, cursor.diags());
    }
    std::vector<Rect> mine;
    const auto keep = [&](const Rect& each) { mine.push_back(each); };
    if (!give_boxes(*at, shard, *machine_, shards, keep, cursor.diags())) return false;
    std::for_each(mine.begin(), mine.end(), box);
    return true;
  });
  // As shard() is asked.
  if (!given) ShardingFunctor::boxes_of(shard, domain, shards, box);
}

}  // namespace groma::mapper
