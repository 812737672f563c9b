// What the embedded runtime costs: an evaluation of each of the nine applications (text to
// simulated time) under its expert's mapping and the default mapper; stencil and circuit on more
// and more GPUs, and more and more points for each of four, to ten million point tasks, with the
// memory that takes; a memory that is full. And, of this computer, what the runtime takes for true
// of a core that streams rows with gaps.
#include <benchmark/benchmark.h>
#include <malloc.h>

#include <fstream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "groma/app_builder.h"
#include "groma/benchmarks.h"
#include "groma/program_mapper.h"
#include "groma/simulate.h"
#include "groma/workload.h"
#include "process_memory.h"

namespace {

using namespace groma;

Workload workload_of(const std::string& name, const std::string& values) {
  return *Workload::make(*with_values(find_benchmark(name)->make(), values));
}

Source expert(const std::string& name) {
  auto source = Source::read(std::string(GROMA_SOURCE_DIR) + "/dsl/mappers/" + name + ".mapper");
  return source ? *source : Source();
}

// Runs the workload under the mapping program, or under the default mapper if the program is empty.
// The limit on memory allows the largest runs here.
RunResult run(const Workload& workload, const std::shared_ptr<const Machine>& machine,
              const Source& source) {
  SimulateOptions options;
  options.max_bytes = std::int64_t{20} << 30;
  if (source.text().empty()) {
    return simulate(
        workload, machine,
        [&](const Processor& local) {
          return std::make_unique<DefaultMapper>(MapperSite{machine, local});
        },
        options);
  }
  Diagnostics diags(source);
  auto bound = bind(compile(source, diags), *machine, diags);
  if (!bound) {
    RunResult failed;
    failed.status = RunStatus::kMapError;
    return failed;
  }
  const auto shared = ProgramMapper::share(*std::move(bound));
  const auto own = ProgramMapper::machine_of(*shared);
  return simulate(
      workload, own,
      [&](const Processor& local) {
        return std::make_unique<ProgramMapper>(shared, MapperSite{own, local});
      },
      options);
}

void count(benchmark::State& state, const RunResult& result) {
  if (!result.ok()) return state.SkipWithError(result.raw.c_str());
  state.counters["tasks"] = static_cast<double>(result.tasks);
  state.counters["copies"] = static_cast<double>(result.copies);
  state.counters["each"] = benchmark::Counter(
      static_cast<double>(result.tasks),
      benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

void evaluation(benchmark::State& state, const std::string& name, const Source& source) {
  const auto machine = std::make_shared<const Machine>(*make_machine("p100x4"));
  const Workload workload = workload_of(name, "");
  RunResult result;
  for (auto _ : state) {
    result = run(workload, machine, source);
    benchmark::DoNotOptimize(result.seconds);
  }
  count(state, result);
}

void with_memory(benchmark::State& state, const Workload& workload,
                 const std::shared_ptr<const Machine>& machine, const Source& source) {
  RunResult result;
  malloc_trim(0);
  std::ofstream("/proc/self/clear_refs") << 5;  // VmHWM begins anew
  const double before = process_memory_mb("VmRSS:");
  for (auto _ : state) {
    result = run(workload, machine, source);
    benchmark::DoNotOptimize(result.seconds);
  }
  count(state, result);
  state.counters["MB"] = process_memory_mb("VmHWM:") - before;
}

// `loops` timed iterations on so many nodes of 4 GPUs.
void scaling(benchmark::State& state, const std::string& name) {
  const auto nodes = std::to_string(state.range(0)), loops = std::to_string(state.range(1));
  const auto machine = std::make_shared<const Machine>(*make_machine("p100x4:nodes=" + nodes));
  with_memory(state, workload_of(name, "nodes=" + nodes + ",loops=" + loops), machine,
              expert(name));
}

// Two launches of so many points: each writes its piece, then reads it with what is beside it.
void points(benchmark::State& state) {
  AppBuilder app("points");
  app.parameter("n", state.range(0), "");
  app.region("line", {"n * 10"}).field("value", 8);
  app.partition("pieces", {"n"}).partition("wider", {"n"}).halo({2});
  app.task("write").variant(gpu().leaf()).writes("pieces");
  app.task("read").variant(gpu().leaf()).reads("wider");
  app.task("main").variant(cpu()).body({launch("write").over({"n"}), launch("read").over({"n"})});
  with_memory(state, *Workload::make(app.top_level("main").done()),
              std::make_shared<const Machine>(*make_machine("p100x4")), Source());
}
BENCHMARK(points)
    ->ArgName("points")
    ->RangeMultiplier(10)
    ->Range(500, 1'000'000)
    ->Unit(benchmark::kMillisecond);

// So many pieces come to a GPU one after the other, twice, whose memory holds half of them; half of
// it has data that is nowhere else.
void full_memory(benchmark::State& state) {
  AppBuilder app("full");
  app.parameter("n", state.range(0), "");
  app.region("kept", {1 << 30}).field("value", 8).partition("kept_pieces", {"n / 4"});  // 8 GiB
  app.region("line", {std::int64_t{1} << 31}).field("value", 8).partition("pieces", {"n"});
  app.task("keep").variant(gpu().leaf()).writes("kept_pieces");
  app.task("write").variant(cpu().leaf()).writes("pieces");
  app.task("read").variant(gpu().leaf()).reads("pieces");
  const AppStatement reads = loop("n", {launch("read").on("pieces", {"i"}), wait()}, "i");
  app.task("main").variant(cpu()).body(
      {launch("keep").over({"n / 4"}), launch("write").over({"n"}), wait(), loop(2, {reads})});
  with_memory(state, *Workload::make(app.top_level("main").done()),
              std::make_shared<const Machine>(*make_machine("p100x4:gpu=1")), Source());
}
BENCHMARK(full_memory)
    ->ArgName("pieces")
    ->Arg(1'000)
    ->Arg(4'000)
    ->Arg(16'000)
    ->Unit(benchmark::kMillisecond);

// A core reads and writes 64 MiB, in rows of so many bytes that begin `stride` times as far apart.
void rows(benchmark::State& state) {
  const std::size_t row = static_cast<std::size_t>(state.range(0)) / sizeof(double);
  const std::size_t stride = static_cast<std::size_t>(state.range(1)) * row;
  const std::size_t count = (std::size_t{64} << 20) / sizeof(double) / row;
  std::vector<double> all(count * stride, 1.0);
  for (auto _ : state) {
    for (std::size_t r = 0; r < count; ++r) {
      double* const first = all.data() + r * stride;
      for (std::size_t i = 0; i < row; ++i) first[i] += 1;
    }
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * (std::int64_t{128} << 20));
}
BENCHMARK(rows)
    ->ArgNames({"bytes", "stride"})
    ->ArgsProduct({{512, 4096, 8192, 65536}, {1, 2}})
    ->Unit(benchmark::kMillisecond);

const bool registered = [] {
  for (const Benchmark& each : benchmarks()) {
    const std::string name(each.name);
    benchmark::RegisterBenchmark(("evaluation/" + name + "/expert").c_str(), evaluation, name,
                                 expert(name))
        ->Unit(benchmark::kMillisecond);
    benchmark::RegisterBenchmark(("evaluation/" + name + "/default").c_str(), evaluation, name,
                                 Source())
        ->Unit(benchmark::kMillisecond);
  }
  for (const std::string name : {"stencil", "circuit"}) {
    auto* each = benchmark::RegisterBenchmark(("scaling/" + name).c_str(), scaling, name);
    each->ArgNames({"nodes", "loops"})->Unit(benchmark::kMillisecond);
    for (const auto& [nodes, loops] :
         {std::pair{1, 46}, {25, 46}, {25, 496}, {25, 4996}, {25, 49996}, {250, 46}, {2500, 46}}) {
      each->Args({nodes, loops});
    }
  }
  return true;
}();

}  // namespace
