// Makes a Workload: checks an application and fixes its parameters.
#include "groma/workload.h"

#include <fmt/format.h>

#include "app/builder.h"

namespace groma {

// Builds the data of the workload. If there are errors, returns the first one with the others in
// Error::more. The message of each error begins with its JSON pointer.
Result<Workload> Workload::make(const Application& app, const std::vector<AppValue>& values,
                                const std::function<bool()>& stop) {
  auto data = std::make_shared<app::Data>();
  std::vector<Error> errors;
  for (app::AppError& fault : app::build(app, values, *data, stop)) {
    const std::string at = fault.path.empty() ? "" : fault.path + ": ";
    errors.push_back({fault.code, at + fault.message, std::move(fault.help)});
  }
  if (errors.empty()) return Workload(std::move(data));
  Error first = std::move(errors.front());
  first.more.assign(errors.begin() + 1, errors.end());
  return first;
}

const std::string& Workload::name() const { return data_->name; }
const std::vector<AppValue>& Workload::values() const { return data_->values; }

}  // namespace groma
