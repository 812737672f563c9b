// Reads the -dm: flags through the fields of Legion's DefaultMapper.
#include "legion/default_flags.h"

#include <mappers/default_mapper.h>

namespace groma::legion {
namespace {

class Flags final : public Legion::Mapping::DefaultMapper {
 public:
  using DefaultMapper::DefaultMapper;
  DefaultSettings settings() const {
    DefaultSettings settings;
    settings.exact_region = exact_region;
    settings.same_address_space = same_address_space;
    settings.map_locally = map_locally;
    settings.memoize = memoize;
    settings.replicate = replication_enabled;
    return settings;
  }
};

}  // namespace

DefaultSettings default_settings(Legion::Mapping::MapperRuntime* runtime,
                                 const Legion::Machine& machine, Legion::Processor processor) {
  return Flags(runtime, machine, processor, "groma").settings();
}

}  // namespace groma::legion
