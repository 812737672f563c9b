#include "mapper/function_sharding.h"

namespace groma::mapper {

ShardId FunctionSharding::shard(const Point& point, const Rect& domain, ShardTable shards) const {
  MapCursor cursor(maps_);
  std::vector<Processor> processors;
  const Launch launch{function_, "", domain, std::nullopt};
  if (cursor.place(launch, point, processors)) return 0;
  return shard_of(processors.front(), shards);
}

}  // namespace groma::mapper
