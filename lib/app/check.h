// What an Application must fulfil, with the place of the first thing that it does not.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "groma/app.h"

namespace groma {

struct AppFault {
  std::string path;     // within the application, as a JSON pointer: "/tasks/3/launches/0/parent"
  std::string message;  // "no task is named `mian`"
  std::string help = {};
};

// The first fault of `app`, or nothing: names there, none twice and not too long, parents and the
// top-level task among the tasks, demands of requirements that there are, sizes within the bounds
// of app.h.
std::optional<AppFault> find_fault(const Application& app);

}  // namespace groma
