// Workload: an application with fixed parameters. It is what Groma checks, explains and runs.
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

// The name and the value of a parameter.
using AppValue = std::pair<std::string, std::int64_t>;

// An application with fixed parameters. Immutable, cheap to copy, and safe to read from any thread.
class Workload {
 public:
  // Checks the application and fixes its parameters. A parameter that `values` leaves out keeps its
  // default. The checks are:
  // * names exist, are not repeated, are known where they are used, and are not too long
  // * formulas can be read and have values for these parameters
  // * partitions cut something that exists, without cycles
  // * demands and traffic refer to existing requirements
  // * sizes are within the limits of app.h
  // Fails with kUnknown for a parameter that does not exist, otherwise with kMalformed or
  // kTooLarge. Each error has its place, a JSON pointer into the application (Error::more). `stop`
  // (null: never) is asked about every millisecond; kStopped once it returns true.
  static Result<Workload> make(const Application& app, const std::vector<AppValue>& values = {},
                               const std::function<bool()>& stop = {});

  const std::string& name() const;
  // Returns every parameter with its value in this workload.
  const std::vector<AppValue>& values() const;

  const app::Data& data() const { return *data_; }

 private:
  explicit Workload(std::shared_ptr<const app::Data> data) : data_(std::move(data)) {}
  std::shared_ptr<const app::Data> data_;
};

// Returns `app` with the parameter values in `given`: "n=4096,steps=10". "size=small" sets the
// values of that AppSize, except those that another item sets. "runtime=default" removes the
// application's runtime costs. Fails with kUnknown or kMalformed on names that `app` does not have,
// on values that are not numbers, and on repeated names. Workload::make checks the ranges.
Result<Application> with_values(Application app, std::string_view given);

}  // namespace groma
