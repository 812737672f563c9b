// The base class of the mappers that Groma puts above the program's own mapper.
#pragma once

#include <legion.h>
#include <mappers/forwarding_mapper.h>

namespace groma::legion {

// A mapper that owns the program's mapper and forwards every hook to it. Its threading model is
// that of the program's mapper: hooks of a concurrent mapper may run at the same time.
class OwningForwardingMapper : public Legion::Mapping::ForwardingMapper {
 public:
  using ForwardingMapper::ForwardingMapper;

  Legion::Mapping::Mapper* wrapped_mapper() const { return mapper; }

  // ---- Mapper hooks that Legion's ForwardingMapper does not forward
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
