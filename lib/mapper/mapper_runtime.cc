// The default answers of MapperRuntime: a runtime that overrides nothing offers nothing to mappers.
#include "groma/mapper_runtime.h"

#include <array>

namespace groma {

// Returns the name of a kind of operation. The names are in the order of OperationKind.
std::string_view name_of(OperationKind kind) {
  constexpr std::array<std::string_view, 10> kNames = {
      "task",    "inline mapping", "copy",      "fill",       "close",
      "acquire", "release",        "partition", "must epoch", "future map reduction"};
  return kNames[static_cast<std::size_t>(kind)];
}

// These defaults of MapperRuntime do nothing. Their results mean: no instance, an unknown number of
// free bytes, no variants, no event, a message that was not sent.
std::optional<FoundInstance> MapperRuntime::find_instance(const InstanceRequest&) {
  return std::nullopt;
}
std::optional<FoundInstance> MapperRuntime::create_instance(const InstanceRequest&) {
  return std::nullopt;
}
// Returns an existing instance or creates one. A runtime may override this function to do both at
// once, without another mapper in between.
std::optional<FoundInstance> MapperRuntime::find_or_create_instance(
    const InstanceRequest& request) {
  if (auto found = find_instance(request)) return found;
  return create_instance(request);
}
bool MapperRuntime::acquire_instance(InstanceId) { return false; }
void MapperRuntime::release_instance(InstanceId) {}
bool MapperRuntime::collect_instance(InstanceId) { return false; }
void MapperRuntime::set_collect_priority(InstanceId, CollectPriority) {}
std::int64_t MapperRuntime::free_bytes(const Memory&) { return -1; }
std::span<const VariantView> MapperRuntime::variants(TaskId) { return {}; }
std::string_view MapperRuntime::task_name(TaskId) { return {}; }
MapperEvent MapperRuntime::create_event() { return 0; }
void MapperRuntime::trigger_event(MapperEvent) {}
bool MapperRuntime::send_message(const Processor&, std::uint32_t, std::span<const std::byte>) {
  return false;
}
bool MapperRuntime::broadcast(std::uint32_t, std::span<const std::byte>) { return false; }

}  // namespace groma
