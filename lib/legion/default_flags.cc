// Reads the -dm: flags of a Legion program's command line. Legion's DefaultMapper parses them in
// its constructor and keeps them in protected members, so a class derived from it can read them.
#include "legion/default_flags.h"

#include <mappers/default_mapper.h>

namespace groma::legion {
namespace {

// A DefaultMapper that is made only to parse the flags and is never registered.
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
