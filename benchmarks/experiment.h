// Small parts that the benchmark programs share: how they end on an error, and the experts'
// mappings.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>

#include "groma/dsl_files.h"
#include "groma/result.h"

namespace groma::bench {

// Prints why the program cannot go on, and ends it with exit code 1.
[[noreturn]] inline void fail(const std::string& why) {
  fmt::print(stderr, "error: {}\n", why);
  std::exit(1);
}

// Returns the value of the result, or ends the program as fail() does.
template <typename T>
T need(Result<T> result) {
  if (!result.ok()) fail(result.error().message);
  return std::move(result).value();
}

// Returns the text of the expert's mapping for a benchmark. Ends the program if there is none.
inline std::string_view expert_mapping(std::string_view benchmark) {
  const auto expert = std::find_if(mappers().begin(), mappers().end(),
                                   [&](const DslFile& file) { return file.name == benchmark; });
  if (expert == mappers().end()) fail(fmt::format("{} has no expert's mapping", benchmark));
  return expert->text;
}

}  // namespace groma::bench
