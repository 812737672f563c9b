// What an application's JSON may leave out of a requirement, since its region says it.
#pragma once

#include <string_view>
#include <unordered_map>
#include <vector>

#include "groma/app.h"

namespace groma {

class AppDefaults {
 public:
  // Of the application's regions and partitions, which must stay as they are.
  explicit AppDefaults(const Application& app);

  // The region that a region or partition of this name is or cuts; null: none.
  const AppRegion* region(std::string_view of) const;
  int dimensions(std::string_view of) const;
  // All of the region; of what is not described one of 8 bytes.
  const std::vector<AppField>& fields(std::string_view of) const;
  // Of an element of that field.
  std::int64_t bytes(std::string_view of, std::string_view field) const;

 private:
  std::unordered_map<std::string_view, const AppRegion*> regions_;
  std::unordered_map<const AppRegion*, std::unordered_map<std::string_view, std::int64_t>> bytes_;
  const std::vector<AppField> one_{AppField{}};
};

}  // namespace groma
