// The nine applications that come with Groma: the benchmarks of the paper (circuit, stencil,
// pennant in Regent; six matrix multiplications in DISTAL), as docs/benchmarks.md says.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "groma/app.h"
#include "groma/result.h"
#include "groma/workload.h"

namespace groma {

struct Benchmark {
  std::string_view name;
  std::string_view summary;  // one line
  Application (*make)();
};

std::span<const Benchmark> benchmarks();
// Null: none has this name.
const Benchmark* find_benchmark(std::string_view name);

// How `--app` names an application: "cannon", "cannon:size=large,nodes=4", "my.json:n=100".
struct AppSpec {
  std::string name;  // a benchmark or a file
  std::string size;  // empty: the parameters' own values
  std::vector<AppValue> values;
};
// What follows the last `:` is parameters where it has a `=`. kMalformed: they are none.
Result<AppSpec> parse_app_spec(std::string_view text);
// The values of `spec`: those of its size, then its own. kUnknown: the application has no such
// size.
Result<std::vector<AppValue>> values_of(const AppSpec& spec, const Application& app);

}  // namespace groma
