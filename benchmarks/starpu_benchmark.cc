// What a task costs under the policy "groma", beside StarPU's own policies: a table of the time in
// which the policy places a task (its push_task), and of the time of a whole task that does
// nothing. The policies take turns in one process, and each run checks that all tasks ran.
//   groma_starpu_benchmark [TASKS [ROUNDS [WORKERS]]]
#include <fmt/format.h>
#include <starpu.h>
#include <starpu_scheduler.h>
#include <time.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "groma/starpu.h"
#include "starpu/data_facts.h"

namespace {

using Clock = std::chrono::steady_clock;

double microseconds(Clock::duration time) {
  return std::chrono::duration<double, std::micro>(time).count();
}

// ---- A policy whose push_task is timed

int (*own_push)(starpu_task*) = nullptr;
std::atomic<std::int64_t> push_ns = 0;

// Returns the CPU time of this thread.
std::int64_t thread_ns() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

// Returns the CPU time that a measurement itself takes: the smallest of many.
std::int64_t measurement_ns() {
  std::int64_t least = 1'000'000;
  for (int i = 0; i < 1'000; ++i) {
    const std::int64_t begin = thread_ns();
    least = std::min(least, thread_ns() - begin);
  }
  return least;
}

int timed_push(starpu_task* task) {
  const std::int64_t begin = thread_ns();
  const int result = own_push(task);
  push_ns.fetch_add(thread_ns() - begin, std::memory_order_relaxed);
  return result;
}

// Returns StarPU's policy with this name, or Groma's.
starpu_sched_policy policy_named(std::string_view name) {
  if (name == "groma") return *groma_starpu_policy();
  for (auto** policy = starpu_sched_get_predefined_policies(); *policy != nullptr; ++policy) {
    if ((*policy)->policy_name == name) return **policy;
  }
  fmt::print(stderr, "StarPU has no policy `{}`\n", name);
  std::exit(1);
}

// ---- The tasks

std::atomic<int> ran = 0;
void count_run(void**, void*) { ran.fetch_add(1, std::memory_order_relaxed); }

// The data of a task.
enum class Data { kNone, kTwoHandles, kPiece };

struct Case {
  const char* policy;
  // The mapping under Groma; null for the default mapper.
  const char* mapping;
  const char* words;
};
constexpr const char* kCyclic =
    "cyclic.mapper\n"
    "m = Machine(CPU);\n"
    "def cyclic(Task task) { return m[0, task.ipoint[0] % m.size[1]]; }\n"
    "Task * CPU;\n"
    "Region * * CPU SYSMEM;\n"
    "IndexTaskMap empty cyclic;\n";
constexpr const char* kOne =
    "one.mapper\n"
    "m = Machine(CPU);\n"
    "def one(Task task) { return m[0, 1 % m.size[1]]; }\n"
    "Task * CPU;\n"
    "Region * * CPU SYSMEM;\n"
    "SingleTaskMap empty one;\n";
constexpr Case kCases[] = {
    {"eager", nullptr, "`eager`"},
    {"ws", nullptr, "`ws`"},
    {"dmda", nullptr, "`dmda`"},
    {"groma", nullptr, "`groma`, no mapping"},
    {"groma", kOne, "`groma`, a mapping with `SingleTaskMap`"},
    {"groma", kCyclic, "`groma`, a mapping with `IndexTaskMap`"},
};

struct Times {
  std::vector<double> push_us, task_us;
};

constexpr unsigned kPieces = 64;

// Runs empty tasks under one policy.
void run(const Case& one, Data data, int tasks, int workers, Times& times) {
  if (one.mapping == nullptr) {
    unsetenv("GROMA_MAPPING");
  } else {
    setenv("GROMA_MAPPING", one.mapping, 1);
  }
  static starpu_sched_policy policy;
  policy = policy_named(one.policy);
  own_push = policy.push_task;
  policy.push_task = timed_push;
  starpu_conf configuration;
  starpu_conf_init(&configuration);
  configuration.sched_policy = &policy;
  configuration.ncpus = workers;
  configuration.nopencl = 0;
  if (starpu_init(&configuration) != 0) std::exit(77);

  static starpu_perfmodel model;
  model.type = STARPU_HISTORY_BASED;
  model.symbol = "groma_empty";
  static starpu_codelet codelet;
  codelet = {};
  codelet.cpu_funcs[0] = count_run;
  codelet.name = "empty";
  codelet.model = &model;
  codelet.nbuffers = data == Data::kNone ? 0 : data == Data::kPiece ? 1 : 2;
  codelet.modes[0] = STARPU_RW;
  codelet.modes[1] = STARPU_R;

  // Tasks on the same data wait for each other, so the tasks of several handles alternate.
  static float values[kPieces];
  starpu_data_handle_t handles[kPieces] = {};
  for (unsigned i = 0; i < kPieces && data != Data::kNone; ++i) {
    starpu_vector_data_register(&handles[i], STARPU_MAIN_RAM,
                                reinterpret_cast<std::uintptr_t>(&values[i]), 1, sizeof(float));
    // What the preloaded library reports when a program partitions data.
    if (data == Data::kPiece) {
      groma::starpu::data_facts().set_piece(handles[i], nullptr, static_cast<int>(i), kPieces);
    }
  }
  ran = 0;
  push_ns = 0;
  const auto begin = Clock::now();
  for (int i = 0; i < tasks; ++i) {
    starpu_task* const task = starpu_task_create();
    task->cl = &codelet;
    const unsigned first = static_cast<unsigned>(i) % kPieces;
    task->handles[0] = handles[first];
    task->handles[1] = handles[(first + kPieces / 2) % kPieces];
    if (starpu_task_submit(task) != 0) std::exit(1);
  }
  starpu_task_wait_for_all();
  const double all_us = microseconds(Clock::now() - begin);
  for (unsigned i = 0; i < kPieces && data != Data::kNone; ++i) {
    groma::starpu::data_facts().forget(handles[i]);
    starpu_data_unregister(handles[i]);
  }
  starpu_shutdown();
  if (ran != tasks) {
    fmt::print(stderr, "{} of {} tasks ran under {}\n", ran.load(), tasks, one.words);
    std::exit(1);
  }
  times.push_us.push_back(
      1e-3 * (static_cast<double>(push_ns.load()) / tasks - static_cast<double>(measurement_ns())));
  times.task_us.push_back(all_us / tasks);
}

std::string median_and_spread(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return fmt::format("{:.2f} ({:.2f} to {:.2f})", values[values.size() / 2], values.front(),
                     values.back());
}

int count_of(int argc, char** argv, int at, int otherwise) {
  if (at >= argc) return otherwise;
  char* end = nullptr;
  const long read = std::strtol(argv[at], &end, 10);
  if (*end == 0 && read >= 1 && read <= 10'000'000) return static_cast<int>(read);
  fmt::print(stderr, "usage: groma_starpu_benchmark [TASKS [ROUNDS [WORKERS]]]\n");
  std::exit(2);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && (std::string_view(argv[1]) == "--help" || std::string_view(argv[1]) == "-h")) {
    fmt::print(
        "usage: groma_starpu_benchmark [TASKS [ROUNDS [WORKERS]]]\n"
        "Prints what a task costs under groma, eager, ws and dmda.\n");
    return 0;
  }
  const int tasks = count_of(argc, argv, 1, 20'000);
  const int rounds = count_of(argc, argv, 2, 5);
  const int workers = count_of(argc, argv, 3, 2);
  setenv("STARPU_SILENT", "1", 1);
  setenv("STARPU_CALIBRATE", "0", 1);
  unsetenv("STARPU_SCHED");
  constexpr std::pair<Data, const char*> kData[] = {{Data::kNone, "no data"},
                                                    {Data::kTwoHandles, "two data"},
                                                    {Data::kPiece, "one of 64 pieces"}};
  fmt::print("{} tasks in each run, {} rounds, {} workers\n", tasks, rounds, workers);
  for (const auto& [data, words] : kData) {
    std::vector<Times> times(std::size(kCases));
    for (int round = 0; round < rounds; ++round) {
      for (std::size_t i = 0; i < std::size(kCases); ++i) {
        run(kCases[i], data, tasks, workers, times[i]);
      }
    }
    fmt::print("\n| tasks with {} | placing a task, CPU us | a whole task, us |\n|---|---|---|\n",
               words);
    for (std::size_t i = 0; i < std::size(kCases); ++i) {
      fmt::print("| {} | {} | {} |\n", kCases[i].words, median_and_spread(times[i].push_us),
                 median_and_spread(times[i].task_us));
    }
  }
  return 0;
}
