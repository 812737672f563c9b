// What a check of a mapping costs beside a run of it: the nine benchmarks at middle size on one
// node, by their experts' mappings.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <memory>
#include <string>

#include "groma/benchmarks.h"
#include "groma/dsl_files.h"
#include "groma/inspect.h"
#include "groma/run.h"

namespace {

using namespace groma;

struct Case {
  Workload workload;
  BoundProgram bound;

  static Case of(const Benchmark& app) {
    const auto file = std::find_if(mappers().begin(), mappers().end(),
                                   [&](const DslFile& each) { return each.name == app.name; });
    const Source source(std::string(file->name) + ".mapper", std::string(file->text));
    Diagnostics diags(source);
    auto with = with_values(app.make(), "size=middle");
    return {*Workload::make(*with), *bind(compile(source, diags), *make_machine("p100x4"), diags)};
  }
};

void simulates(benchmark::State& state, const Benchmark& app) {
  const Case given = Case::of(app);
  for (auto _ : state) {
    Diagnostics diags(given.bound.program().source());
    const RunResult result = run(given.bound, given.workload, {}, diags);
    if (!result.ok()) state.SkipWithError("it does not run");
    state.counters["tasks"] = static_cast<double>(result.tasks);
  }
}

void checks(benchmark::State& state, const Benchmark& app) {
  const Case given = Case::of(app);
  for (auto _ : state) {
    Diagnostics diags(given.bound.program().source());
    check_run(given.bound, given.workload, diags);
    if (!diags.all().empty()) state.SkipWithError("it finds something");
  }
}

const bool registered = [] {
  for (const Benchmark& app : benchmarks()) {
    const std::string name(app.name);
    benchmark::RegisterBenchmark((name + "/simulate").c_str(), simulates, app)
        ->Unit(benchmark::kMicrosecond);
    benchmark::RegisterBenchmark((name + "/check").c_str(), checks, app)
        ->Unit(benchmark::kMicrosecond);
  }
  return true;
}();

}  // namespace
