// What mappers need that stand above the program's own one.
#pragma once

#include <legion.h>
#include <mappers/forwarding_mapper.h>

namespace groma::legion {

// Owns the program's mapper and hands every hook on to it. Hooks come as that mapper's model says,
// so those of a concurrent one may come at once.
class Above : public Legion::Mapping::ForwardingMapper {
 public:
  using ForwardingMapper::ForwardingMapper;

  Legion::Mapping::Mapper* own() const { return mapper; }

  // ---- What ForwardingMapper does not forward.
  void map_future_map_reduction(Legion::Mapping::MapperContext context,
                                const FutureMapReductionInput& input,
                                FutureMapReductionOutput& output) override {
    mapper->map_future_map_reduction(context, input, output);
  }
  void handle_instance_collection(Legion::Mapping::MapperContext context,
                                  const Legion::Mapping::PhysicalInstance& instance) override {
    mapper->handle_instance_collection(context, instance);
  }
};

}  // namespace groma::legion
