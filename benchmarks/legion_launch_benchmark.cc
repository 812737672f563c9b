// What mapping costs in a real Legion: empty tasks, launched by 10^3 to 10^5 points, under Legion's
// DefaultMapper as it comes, DefaultMapper that schedules all ready tasks at once (-dm:sched), and
// a program of ours, turn by turn in one process.
//
//   groma_legion_launch_benchmark [--most POINTS] -ll:cpu 2 -logfile stderr
//
// Launches of 10^3 points and ten times as many, up to --most (10^5). Prints microseconds of wall
// time a point, from the launch to an execution fence (medians), and what of it passes inside our
// own hooks.
#include <legion.h>
#include <mappers/default_mapper.h>
#include <mappers/forwarding_mapper.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <string_view>
#include <vector>

#include "legion/adapter.h"

namespace {

using Clock = std::chrono::steady_clock;
using Legion::Mapping::MapperContext;

constexpr Legion::TaskID kTop = 1;
constexpr Legion::TaskID kEmpty = 2;
constexpr Legion::MapperID kAllAtOnce = 1;
constexpr Legion::MapperID kOurs = 2;
constexpr int kRepeats = 5;
std::int64_t most_points = 100'000;

constexpr const char* kProgram = R"(
m = Machine(CPU);
def block(Task t) { return m[0, t.ipoint[0] * m.size[1] / t.ispace[0]]; }
Task * CPU;
IndexTaskMap * block;
)";

class AllAtOnce final : public Legion::Mapping::DefaultMapper {
 public:
  AllAtOnce(Legion::Mapping::MapperRuntime* rt, Legion::Machine m, Legion::Processor p)
      : DefaultMapper(rt, m, p, "all at once") {
    max_schedule_count = 1'000'000;
  }
};

// A counter for each mapper object, whose calls come one after the other.
struct HookTimes {
  std::int64_t slice = 0, select = 0, map = 0;  // ns
};
std::deque<HookTimes> hook_times;

// Adds up what passes in the hooks of a launch.
class Timed final : public Legion::Mapping::ForwardingMapper {
 public:
  Timed(Legion::Mapping::Mapper* timed, HookTimes* times)
      : ForwardingMapper(timed), times_(times) {}

  void slice_task(MapperContext context, const Legion::Task& task, const SliceTaskInput& input,
                  SliceTaskOutput& output) override {
    const Span span{&times_->slice};
    ForwardingMapper::slice_task(context, task, input, output);
  }
  void select_tasks_to_map(MapperContext context, const SelectMappingInput& input,
                           SelectMappingOutput& output) override {
    const Span span{&times_->select};
    ForwardingMapper::select_tasks_to_map(context, input, output);
  }
  void map_task(MapperContext context, const Legion::Task& task, const MapTaskInput& input,
                MapTaskOutput& output) override {
    const Span span{&times_->map};
    ForwardingMapper::map_task(context, task, input, output);
  }

 private:
  struct Span {
    std::int64_t* ns;
    Clock::time_point begin = Clock::now();
    ~Span() {
      *ns += std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - begin).count();
    }
  };
  HookTimes* times_;
};

std::atomic<std::int64_t> runs{0};
void empty(const Legion::Task*, const std::vector<Legion::PhysicalRegion>&, Legion::Context,
           Legion::Runtime*) {
  runs.fetch_add(1, std::memory_order_relaxed);
}

double us_a_point(Legion::Context context, Legion::Runtime* runtime, std::int64_t points,
                  Legion::MapperID mapper) {
  const Legion::Domain domain(Legion::Rect<1>(0, points - 1));
  Legion::IndexTaskLauncher launcher(kEmpty, domain, Legion::UntypedBuffer(), Legion::ArgumentMap(),
                                     Legion::Predicate::TRUE_PRED, false, mapper);
  runs = 0;
  const auto begin = Clock::now();
  runtime->execute_index_space(context, launcher);
  runtime->issue_execution_fence(context).wait();
  const std::chrono::duration<double, std::micro> passed = Clock::now() - begin;
  if (runs != points) {
    std::fprintf(stderr, "%lld of %lld points ran\n", static_cast<long long>(runs.load()),
                 static_cast<long long>(points));
    std::exit(1);
  }
  return passed.count() / static_cast<double>(points);
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

void top(const Legion::Task*, const std::vector<Legion::PhysicalRegion>&, Legion::Context context,
         Legion::Runtime* runtime) {
  // DefaultMapper as it comes looks at all ready tasks for every eight that it maps, so its time
  // grows with the square: 10^5 points would take minutes.
  constexpr std::int64_t kMostAsItComes = 10'000;
  std::printf("%8s %14s %14s %14s %10s %10s %10s\n", "points", "default", "default, all", "groma",
              "slice", "select", "map");
  for (std::int64_t points = std::min<std::int64_t>(1'000, most_points); points <= most_points;
       points *= 10) {
    std::array<std::vector<double>, 3> times;
    std::array<std::vector<double>, 3> hooks;  // slice, select, map
    for (int repeat = -1; repeat < kRepeats; ++repeat) {
      for (Legion::MapperID mapper : {0U, kAllAtOnce, kOurs}) {
        if (mapper == 0 && points > kMostAsItComes) continue;
        std::fill(hook_times.begin(), hook_times.end(), HookTimes());
        const double passed = us_a_point(context, runtime, points, mapper);
        if (repeat < 0) continue;  // the first launch is slower
        times[mapper].push_back(passed);
        if (mapper == kOurs) {
          HookTimes all;
          for (const HookTimes& one : hook_times) {
            all.slice += one.slice;
            all.select += one.select;
            all.map += one.map;
          }
          const double us = 1e-3 / static_cast<double>(points);
          hooks[0].push_back(us * static_cast<double>(all.slice));
          hooks[1].push_back(us * static_cast<double>(all.select));
          hooks[2].push_back(us * static_cast<double>(all.map));
        }
      }
    }
    const std::string first =
        times[0].empty() ? "-" : std::to_string(median(times[0])).substr(0, 6);
    std::printf("%8lld %11s us %11.2f us %11.2f us %7.3f us %7.3f us %7.3f us\n",
                static_cast<long long>(points), first.c_str(), median(times[1]), median(times[2]),
                median(hooks[0]), median(hooks[1]), median(hooks[2]));
  }
  std::fflush(stdout);
}

void register_mappers(Legion::Machine machine, Legion::Runtime* runtime,
                      const std::set<Legion::Processor>& local) {
  static const auto registration = [] {
    const groma::Source source("blocks", kProgram);
    groma::Diagnostics diags(source);
    auto made = std::make_shared<groma::legion::Registration>();
    made->factory = groma::legion::factory_of(groma::compile(source, diags), nullptr);
    return made;
  }();
  for (Legion::Processor p : local) {
    runtime->add_mapper(kAllAtOnce, new AllAtOnce(runtime->get_mapper_runtime(), machine, p), p);
    auto* ours = groma::legion::make_adapter(registration, runtime, machine, p);
    if (ours == nullptr) continue;
    hook_times.emplace_back();
    runtime->add_mapper(kOurs, new Timed(ours, &hook_times.back()), p);
  }
}

}  // namespace

int main(int argc, char** argv) {
  using Legion::Runtime;
  for (int i = 1; i + 1 < argc; ++i) {
    if (std::string_view(argv[i]) == "--most") most_points = std::atoll(argv[i + 1]);
  }
  const auto add = [](Legion::TaskID id, const char* name, auto preregister) {
    Legion::TaskVariantRegistrar registrar(id, name);
    registrar.add_constraint(Legion::ProcessorConstraint(Legion::Processor::LOC_PROC));
    registrar.set_leaf(id == kEmpty);
    preregister(registrar, name);
  };
  add(kTop, "top", [](auto& registrar, const char* name) {
    Runtime::preregister_task_variant<top>(registrar, name);
  });
  add(kEmpty, "empty", [](auto& registrar, const char* name) {
    Runtime::preregister_task_variant<empty>(registrar, name);
  });
  Runtime::set_top_level_task_id(kTop);
  Runtime::add_registration_callback(register_mappers);
  return Runtime::start(argc, argv);
}
