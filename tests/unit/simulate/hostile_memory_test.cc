// Alone, since it counts what the whole program allocates: applications that are too much for any
// run take no more memory than a run may have.
#include <gtest/gtest.h>
#include <malloc.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <ctime>
#include <new>

#include "groma/evaluate.h"
#include "groma/program_mapper.h"
#include "groma/simulate.h"
#include "simulate/rehearsal.h"
#include "support/hostile_apps.h"

namespace {

std::atomic<std::int64_t> allocated = 0, most = 0;

void* taken(void* memory) {
  if (memory == nullptr) throw std::bad_alloc();
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

}  // namespace
}  // namespace groma::testing
