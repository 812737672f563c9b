// An application of the component app: a benchmark with its parameters.
#include <groma/benchmarks.h>
#include <groma/workload.h>

#include <cstdio>

int main() {
  const auto workload = groma::Workload::make(groma::find_benchmark("solomonik")->make());
  if (!workload.ok()) return 1;
  std::printf("%s\n", workload->name().c_str());
  return 0;
}
