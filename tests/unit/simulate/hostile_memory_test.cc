// Alone, since it counts what the whole program allocates: applications that are too much for any
// run take no more memory than a run may have.
#include <gtest/gtest.h>
#include <malloc.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <ctime>
#include <new>

#include "base/quantities.h"
#include "groma/app_builder.h"
#include "groma/evaluate.h"
#include "groma/mapper.h"
#include "groma/program_mapper.h"
#include "groma/simulate.h"
#include "simulate/machine_index.h"
#include "simulate/rehearsal.h"
#include "support/hostile_apps.h"

namespace {

std::atomic<std::int64_t> allocated = 0, most = 0;

void* taken(void* memory) {
  if (memory == nullptr) throw std::bad_alloc();  // of a nothrow new, too: then the test ends
  const auto bytes = static_cast<std::int64_t>(malloc_usable_size(memory));
  const std::int64_t now = allocated += bytes;
  std::int64_t known = most;
  while (now > known && !most.compare_exchange_weak(known, now)) {
  }
  return memory;
}
void give_back(void* memory) {
  allocated -= static_cast<std::int64_t>(malloc_usable_size(memory));
  std::free(memory);
}

}  // namespace

[[gnu::noinline]] void* operator new(std::size_t size) {
  return taken(std::malloc(size == 0 ? 1 : size));
}
[[gnu::noinline]] void* operator new(std::size_t size, std::align_val_t alignment) {
  const auto to = static_cast<std::size_t>(alignment);
  return taken(std::aligned_alloc(to, (size + to - 1) / to * to));
}
[[gnu::noinline]] void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  return taken(std::malloc(size == 0 ? 1 : size));
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { give_back(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { give_back(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::align_val_t) noexcept {
  give_back(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
  give_back(memory);
}

namespace groma::testing {
namespace {

constexpr std::int64_t kMaxBytes = std::int64_t{128} << 20;
// A vector that grows is there twice for a moment; mappers' own memory is not counted.
constexpr std::int64_t kMostBytes = kMaxBytes * 3 / 2 + (std::int64_t{32} << 20);
constexpr double kMostSeconds = 1;  // of CPU time

// Ends it: some runs never come to the limit.
std::function<bool()> after_a_while() {
  const std::clock_t end = std::clock() + static_cast<std::clock_t>(kMostSeconds * CLOCKS_PER_SEC);
  return [end] { return std::clock() > end; };
}

template <typename Work>
std::int64_t peak_of(const Work& work) {
  const std::int64_t before = allocated;
  most = before;
  work();
  return most - before;
}

TEST(HostileApplications, TakeNoMoreMemoryThanARunMayHave) {
  const auto machine = std::make_shared<const Machine>(*make_machine("p100x4:nodes=2"));
  int too_large = 0;
  for (const HostileApp& each : hostile_apps()) {
    SCOPED_TRACE(each.app.name);
    const auto workload = Workload::make(each.app);
    ASSERT_TRUE(workload);
    const Source source("hostile.mapper", each.mapping);
    Diagnostics diags(source);
    const auto bound = bind(compile(source, diags), *machine, diags);
    ASSERT_TRUE(bound) << render(diags);
    const auto shared = ProgramMapper::share(*bound);
    const MapperFactory mappers = [&](const Processor& local) {
      return std::make_unique<ProgramMapper>(shared, MapperSite{bound->shared_machine(), local});
    };
    const std::int64_t run = peak_of([&] {
      const RunResult result =
          simulate(*workload, bound->shared_machine(), mappers,
                   {.record = true, .max_bytes = kMaxBytes, .stop = after_a_while()});
      EXPECT_FALSE(result.ok());
      if (result.status != RunStatus::kTooLarge) return;
      ++too_large;
      const Diagnostic& diagnostic = result.refusals.front().diagnostic;
      EXPECT_EQ(diagnostic.id, DiagId::kCannotRun);
      EXPECT_NE(diagnostic.message.find("more than 128 MiB of memory is needed"), std::string::npos)
          << diagnostic.message;
      EXPECT_EQ(diagnostic.helps.size(), 1U);
    });
    EXPECT_LT(run, kMostBytes);
    const std::int64_t check = peak_of([&] {
      sim::rehearse(*workload, bound->shared_machine(), mappers,
                    {.max_bytes = kMaxBytes, .stop = after_a_while()});
    });
    EXPECT_LT(check, kMostBytes);
  }
  EXPECT_GT(too_large, 5);
}

// A million processors take the memory that is counted for them. If that is more than allowed,
// nothing is made for them.
TEST(LargeMachines, TakeNoMoreMemoryThanIsCounted) {
  const auto machine = std::make_shared<const Machine>(*make_machine("nodes=16384,gpu=32,cpu=32"));
  AppBuilder app("small");
  app.task("t").variant(cpu().leaf());
  app.task("main").variant(cpu().inner()).body({launch("t")});
  const auto workload = Workload::make(app.top_level("main").done());
  ASSERT_TRUE(workload);
  const MapperFactory mappers = [&](const Processor& local) {
    return std::make_unique<DefaultMapper>(MapperSite{.machine = machine, .local = local});
  };
  RunResult result;
  sim::RehearsalResult check;
  const auto run_within = [&](std::int64_t bytes) {
    result = RunResult();
    return peak_of([&] {
      result = simulate(*workload, machine, mappers, {.record = true, .max_bytes = bytes});
    });
  };
  const auto check_within = [&](std::int64_t bytes) {
    return peak_of(
        [&] { check = sim::rehearse(*workload, machine, mappers, {.max_bytes = bytes}); });
  };
  const std::int64_t counted = sim::machine_bytes(*machine);
  const std::int64_t enough = counted + (1 << 20);
  const std::int64_t taken = run_within(enough);
  EXPECT_TRUE(result.ok()) << result.raw;
  EXPECT_LT(taken, enough);
  EXPECT_GT(taken, counted / 2);
  EXPECT_LT(check_within(enough), enough);
  EXPECT_EQ(check.incomplete, "");

  constexpr std::int64_t kNothing = 1 << 20;
  const std::string why =
      format_bytes(counted) +
      " of memory is needed to simulate it on 16384 nodes, and 128 MiB is allowed";
  EXPECT_LT(run_within(kMaxBytes), kNothing);
  EXPECT_EQ(result.status, RunStatus::kTooLarge);
  EXPECT_EQ(result.raw, why);
  EXPECT_LT(check_within(kMaxBytes), kNothing);
  EXPECT_EQ(check.incomplete, why);
}

TEST(LargeMachines, HaveNoMoreProcessorsThanCanBeNumbered) {
  const Machine machine = *make_machine("nodes=1048576,cpu=2048");
  EXPECT_EQ(sim::why_machine_too_large(machine, 0, INT64_MAX),
            "its machine has more than 2147483647 processors or memories");
}

}  // namespace
}  // namespace groma::testing
