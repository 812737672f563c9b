// What the hooks cost: a choice for a task with four regions, options, and a program from its text
// to a bound mapper. Each checks what it was answered.
#include <benchmark/benchmark.h>

#include <array>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "groma/program_mapper.h"
#include "groma/validate.h"

namespace {

using namespace groma;

Source typical() {
  auto source = Source::read(std::string(GROMA_SOURCE_DIR) + "/benchmarks/typical.mapper");
  return source ? *source : Source();
}

const Machine& machine() {
  static const Machine machine = *make_machine("p100x4:nodes=2");
  return machine;
}

// Nothing when the program has errors.
std::optional<BoundProgram> bound(const Source& source) {
  Diagnostics diags(source);
  return bind(compile(source, diags), machine(), diags);
}

// distribute_charge of circuit: a GPU variant and four regions, one of which is reduced to.
struct Task {
  std::array<VariantView, 2> variants;
  std::array<std::array<std::string_view, 3>, 4> names = {{{"rp_wires", "p_wires", "wires"},
                                                           {"rp_private", "p_private", "nodes"},
                                                           {"rp_shared", "p_shared", "nodes"},
                                                           {"rp_ghost", "p_ghost", "nodes"}}};
  std::array<FieldView, 2> fields = {{{1, 8, "charge"}, {2, 8, "voltage"}}};
  std::array<RequirementView, 4> requirements;
  TaskView view;

  explicit Task(bool keyed) {
    variants[0].id = 1;
    variants[1].id = 2;
    variants[1].kind = ProcKind::kGpu;
    for (std::size_t i = 0; i < 4; ++i) {
      requirements[i].aliases = names[i];
      requirements[i].aliases_key = keyed ? i + 1 : 0;
      requirements[i].fields = fields;
    }
    requirements[3].privilege = Privilege::kReduce;
    view.id = 3;
    view.name = "distribute_charge";
    view.variants = variants;
    view.requirements = requirements;
    view.current = {ProcKind::kGpu, 1, 2};
    view.depth = 1;
  }
};

void map_task(benchmark::State& state, Mapper& mapper, bool keyed) {
  const Task task(keyed);
  MapperRuntime runtime;
  MapTaskOutput choice;
  for (auto _ : state) {
    choice.clear();
    mapper.map_task(runtime, task.view, {}, choice);
    benchmark::DoNotOptimize(choice.requirements.data());
  }
  if (!validate(choice, task.view, mapper.machine()).empty() || choice.variant != 2) {
    state.SkipWithError("the wrong choice");
  }
}

void map_task_default(benchmark::State& state) {
  DefaultMapper mapper({std::make_shared<Machine>(machine()), {ProcKind::kGpu, 1, 2}, {}, nullptr});
  map_task(state, mapper, true);
}
BENCHMARK(map_task_default);

ProgramMapper program_mapper(const BoundProgram& program) {
  return {ProgramMapper::share(program),
          {program.shared_machine(), {ProcKind::kGpu, 1, 2}, {}, {}}};
}

// `keyed`: the runtime promises equal names by equal keys, so that they are looked up once.
void map_task_program(benchmark::State& state) {
  const auto program = bound(typical());
  if (!program) return state.SkipWithError("the program has errors");
  ProgramMapper mapper = program_mapper(*program);
  map_task(state, mapper, state.range(0) != 0);
}
BENCHMARK(map_task_program)->ArgName("keyed")->Arg(1)->Arg(0);

void select_task_options_program(benchmark::State& state) {
  const auto program = bound(typical());
  if (!program) return state.SkipWithError("the program has errors");
  ProgramMapper mapper = program_mapper(*program);
  Task task(true);
  task.view.is_index = true;
  task.view.domain = *Rect::make({64});
  MapperRuntime runtime;
  TaskOptions options;
  for (auto _ : state) {
    options.clear();
    mapper.select_task_options(runtime, task.view, options);
    benchmark::DoNotOptimize(options.initial);
  }
  if (options.failure || options.initial.kind != ProcKind::kGpu || !options.kind_origin) {
    state.SkipWithError("the wrong options");
  }
}
BENCHMARK(select_task_options_program);

// What a runtime does at its start, or a tuner for every candidate.
void text_to_mapper(benchmark::State& state) {
  const Source source = typical();
  for (auto _ : state) {
    const auto program = bound(source);
    if (!program) return state.SkipWithError("the program has errors");
    const ProgramMapper mapper = program_mapper(*program);
    if (mapper.sharding_functors().empty()) state.SkipWithError("no functions");
  }
}
BENCHMARK(text_to_mapper)->Unit(benchmark::kMicrosecond);

// The functor of `block2d`, asked for the points of some launches in turn by some threads. A shard
// on each node, or on each GPU.
void shard(benchmark::State& state) {
  static const Machine* const nodes = new Machine(*make_machine("nodes=16,gpu=8,cpu=2"));
  static ProgramMapper* mapper = nullptr;
  static ShardTable shards;
  const auto launches = static_cast<std::size_t>(state.range(0));
  if (state.thread_index() == 0) {
    auto source = Source::read(std::string(GROMA_SOURCE_DIR) + "/dsl/mappers/block2d.mapper");
    Diagnostics diags(*source);
    const auto program = bind(compile(*source, diags), *nodes, diags);
    mapper = new ProgramMapper(ProgramMapper::share(*program),
                               {program->shared_machine(), {ProcKind::kGpu, 1, 2}, {}, {}});
    std::vector<Processor> gpus;
    for (std::int64_t node = 0; node < 16; ++node) {
      for (std::int64_t i = 0; i < state.range(1); ++i) {
        gpus.push_back({ProcKind::kGpu, node, i});
      }
    }
    shards = ShardTable(gpus);
    const ShardId last =
        mapper->sharding_functors()[0]->shard({63, 63}, *Rect::make({64, 64}), shards);
    if (last + 1 != shards.size()) state.SkipWithError("not on the last shard");
  }
  std::vector<Rect> domains;
  for (std::size_t i = 0; i < launches; ++i) {
    domains.push_back(*Rect::make({64, 64 + static_cast<std::int64_t>(i)}));
  }
  Point point{0, 0};
  std::size_t next = 0;
  std::int64_t sum = 0;
  const ShardingFunctor* functor = nullptr;
  for (auto _ : state) {
    if (functor == nullptr) functor = mapper->sharding_functors()[0];
    sum += functor->shard(point, domains[next], shards);
    point[0] = (point[0] + 1) & 63;
    point[1] = (point[1] + 5) & 63;
    if (++next == launches) next = 0;
  }
  benchmark::DoNotOptimize(sum);
  if (state.thread_index() == 0) delete std::exchange(mapper, nullptr);
}
BENCHMARK(shard)
    ->ArgNames({"launches", "shards_a_node"})
    ->Args({1, 1})
    ->Args({1, 8})
    ->Args({40, 1})
    ->Args({2'000, 1})
    ->ThreadRange(1, 8);

// A launch of 4,096 points cut into 64 slices.
void validate_slices(benchmark::State& state) {
  const Rect domain = *Rect::make({state.range(0), 64});
  Task task(true);
  SliceTaskOutput answer;
  for (std::int64_t i = 0; i < 64; ++i) {
    answer.slices.push_back({{{0, i}, {state.range(0), 1}}, {ProcKind::kGpu, 0, 0}});
  }
  for (auto _ : state) {
    if (!validate(answer, task.view, domain, machine()).empty()) state.SkipWithError("refused");
  }
}
BENCHMARK(validate_slices)->ArgName("rows")->Arg(64)->Arg(1 << 20);

}  // namespace
