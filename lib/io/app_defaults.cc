// Default values for an application that is being read, taken from its regions.
#include "io/app_defaults.h"

namespace groma {

// Finds the region under every partition, at most kMaxAppPartitionDepth levels down.
AppDefaults::AppDefaults(const Application& app) {
  std::unordered_map<std::string_view, std::string_view> outer;
  for (const AppRegion& region : app.regions) {
    regions_.emplace(region.name, &region);
    for (const AppField& field : region.fields) bytes_[&region].emplace(field.name, field.bytes);
  }
  for (const AppPartition& partition : app.partitions) outer.emplace(partition.name, partition.of);
  for (const AppPartition& partition : app.partitions) {
    std::string_view of = partition.of;
    // A partition may be cut from a partition. Cycles are reported later.
    for (int level = 0; level < kMaxAppPartitionDepth; ++level) {
      const auto above = outer.find(of);
      if (above == outer.end()) break;
      of = above->second;
    }
    if (const AppRegion* found = region(of)) regions_.emplace(partition.name, found);
  }
}

const AppRegion* AppDefaults::region(std::string_view of) const {
  const auto found = regions_.find(of);
  return found == regions_.end() ? nullptr : found->second;
}

int AppDefaults::dimensions(std::string_view of) const {
  const AppRegion* found = region(of);
  return found == nullptr ? 1 : static_cast<int>(found->extents.size());
}

const std::vector<AppField>& AppDefaults::fields(std::string_view of) const {
  const AppRegion* found = region(of);
  return found == nullptr ? one_ : found->fields;
}

// Returns the size of a field in bytes, or the default size of a field if it is unknown.
std::int64_t AppDefaults::bytes(std::string_view of, std::string_view field) const {
  const auto fields = bytes_.find(region(of));
  if (fields == bytes_.end()) return AppField{}.bytes;
  const auto found = fields->second.find(field);
  return found == fields->second.end() ? AppField{}.bytes : found->second;
}

}  // namespace groma
