// Applications of a few hundred bytes whose runs have more to look at than any memory or patience
// holds, each in another part of the embedded runtime.
#pragma once

#include <string>
#include <vector>

#include "groma/app.h"

namespace groma::testing {

struct HostileApp {
  Application app;
  std::string mapping = "Task * GPU, CPU;\n";  // that it is run with
};

std::vector<HostileApp> hostile_apps();

}  // namespace groma::testing
