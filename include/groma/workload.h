// Workload: an application with its parameters fixed: what is checked, explained and run.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "groma/app.h"
#include "groma/result.h"

namespace groma {

namespace app {
struct Data;
}

// A parameter's name and value.
using AppValue = std::pair<std::string, std::int64_t>;

// Immutable once made; cheap to copy; safe to read from any thread.
class Workload {
 public:
  // Checks the application: names there, none twice, known where they are used and not too long;
  // formulas that can be read, with values for these parameters; partitions of something, in no
  // circle; demands and traffic of requirements that there are; sizes within the bounds of app.h.
  // Parameters that `values` leaves out have their own. Fails with each place (Error::more), a JSON
  // pointer into the application: kUnknown for a parameter that does not exist, kMalformed,
  // kTooLarge. `stop` is asked about every millisecond (null: never); kStopped once it says true.
  static Result<Workload> make(const Application& app, const std::vector<AppValue>& values = {},
                               const std::function<bool()>& stop = {});

  const std::string& name() const;
  // Every parameter, as it is here.
  const std::vector<AppValue>& values() const;

  const app::Data& data() const { return *data_; }

 private:
  explicit Workload(std::shared_ptr<const app::Data> data) : data_(std::move(data)) {}
  std::shared_ptr<const app::Data> data_;
};

// `app` with the values of its parameters as `given` says: "n=4096,steps=10", and "size=small" for
// those of an AppSize that no other item says; "runtime=default" takes its runtime costs away.
// Fails (kUnknown, kMalformed) on what `app` does not have, what is no number and what stands there
// twice; whether a value is in its range, make() says.
Result<Application> with_values(Application app, std::string_view given);

}  // namespace groma
