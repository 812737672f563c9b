// AppDefaults: values that an application's JSON may leave out of a requirement because the region
// gives them.
#pragma once

#include <string_view>
#include <unordered_map>
#include <vector>

#include "groma/app.h"

namespace groma {

class AppDefaults {
 public:
  // Takes the regions and partitions of the application, which must not change afterwards.
  explicit AppDefaults(const Application& app);

  // Returns the region with this name. If `of` names a partition, returns the region that the
  // partition cuts. Returns null if there is neither.
  const AppRegion* region(std::string_view of) const;
  // Returns the number of dimensions of the region, or 1 if the region is unknown.
  int dimensions(std::string_view of) const;
  // Returns all fields of the region. Returns one field of 8 bytes if the data is not described.
  const std::vector<AppField>& fields(std::string_view of) const;
  // Returns the bytes of one element of that field.
  std::int64_t bytes(std::string_view of, std::string_view field) const;

 private:
  std::unordered_map<std::string_view, const AppRegion*> regions_;
  std::unordered_map<const AppRegion*, std::unordered_map<std::string_view, std::int64_t>> bytes_;
  const std::vector<AppField> one_{AppField{}};
};

}  // namespace groma
