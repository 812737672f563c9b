// An application's parameters fixed.
#include "groma/workload.h"

#include <fmt/format.h>

#include "app/builder.h"

namespace groma {

Result<Workload> Workload::make(const Application& app, const std::vector<AppValue>& values) {
  auto data = std::make_shared<app::Data>();
  if (auto fault = app::build(app, values, *data)) {
    return Error{fault->code, fmt::format("{}: {}", fault->path, fault->message),
                 std::move(fault->help)};
  }
  return Workload(std::move(data));
}

const std::string& Workload::name() const { return data_->name; }
const std::vector<AppValue>& Workload::values() const { return data_->values; }

}  // namespace groma
