// simulate against docs/simulator.md read word by word, on random runs.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <map>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "app/data.h"
#include "simulate/rehearsal.h"
#include "support/obvious_runtime.h"
#include "support/run_generator.h"

namespace groma::testing {
namespace {

std::vector<std::string> events_of(const RunRecord& record) {
  std::vector<std::string> events;
  for (const RunRecord::Event& event : record.events) {
    events.push_back(fmt::format(
        "{:>12} to {:>12}: kind {} name {} at {} from {} region {}, {} bytes, mapped {}, ready {}",
        event.start, event.end, static_cast<int>(event.kind), event.name, event.where, event.from,
        event.region, event.bytes, event.mapped, event.ready));
  }
  std::sort(events.begin(), events.end());
  return events;
}

std::string id_of(const RunResult& result) {
  if (result.refusals.empty()) return "none";
  return std::string(name_of(result.refusals.front().diagnostic.id));
}

void compare(std::string& text, std::string_view what, const auto& a, const auto& b) {
  if (!(a == b)) text += fmt::format("{}: {} instead of {}\n", what, a, b);
}

// What differs apart from the records; "" if nothing.
std::string difference_without_record(const RunResult& found, const RunResult& expected) {
  std::string text;
  compare(text, "status", static_cast<int>(found.status), static_cast<int>(expected.status));
  compare(text, "refusal", id_of(found), id_of(expected));
  compare(text, "seconds", found.seconds, expected.seconds);
  compare(text, "total", found.total_seconds, expected.total_seconds);
  compare(text, "tasks", found.tasks, expected.tasks);
  compare(text, "copies", found.copies, expected.copies);
  return text;
}

// What differs; "" if nothing.
std::string difference(const RunResult& found, const RunResult& expected) {
  std::string text = difference_without_record(found, expected);
  compare(text, "end in ps", found.record->end, expected.record->end);
  for (std::size_t m = 0; m < expected.record->memories.size(); ++m) {
    compare(text, fmt::format("peak of memory {}", m), found.record->memories[m].peak_bytes,
            expected.record->memories[m].peak_bytes);
  }
  const std::vector<std::string> a = events_of(*found.record), b = events_of(*expected.record);
  for (std::size_t i = 0; i < std::max(a.size(), b.size()); ++i) {
    if (i < a.size() && i < b.size() && a[i] == b[i]) continue;
    text += fmt::format("events differ first in\n  {}\ninstead of\n  {}\n",
                        i < a.size() ? a[i] : "none", i < b.size() ? b[i] : "none");
    break;
  }
  return text;
}

// Returns the seeds from 1 to `count`, or those that the environment names: GROMA_RUNS seeds (1
// unless given) from GROMA_SEED on.
std::vector<std::uint64_t> seeds_to_run(std::uint64_t count) {
  const char* const one = std::getenv("GROMA_SEED");
  const char* const many = std::getenv("GROMA_RUNS");
  if (one != nullptr) count = 1;
  if (many != nullptr) count = std::strtoull(many, nullptr, 10);
  std::vector<std::uint64_t> seeds(count);
  std::iota(seeds.begin(), seeds.end(), one == nullptr ? 1 : std::strtoull(one, nullptr, 10));
  return seeds;
}

// Runs it and the second implementation, expects the same of both, and returns the result. Counts a
// difference in `failures`. `stop`: as SimulateOptions has it.
RunResult run_compared(const GeneratedRun& run, const Workload& workload, std::uint64_t seed,
                       std::function<bool()> stop, Drawn* drawn, int& failures) {
  SimulateOptions options;
  options.costs = run.costs;
  options.model = run.model;
  options.record = true;
  options.stop = std::move(stop);
  RunResult found = simulate(workload, run.machine, run.mappers(drawn), options);
  const RunResult expected = simulate_obviously(workload, run.machine, run.mappers(), options);
  const std::string differs = difference(found, expected);
  EXPECT_EQ(differs, "") << "seed " << seed << ", GROMA_SEED=" << seed << " runs it alone; "
                         << found.raw;
  failures += differs.empty() ? 0 : 1;
  return found;
}

TEST(RandomRuns, AreThoseOfTheDocument) {
  const char* const one = std::getenv("GROMA_SEED");
  const char* const many = std::getenv("GROMA_RUNS");
  const std::vector<std::uint64_t> seeds = seeds_to_run(3000);
  std::map<std::string, int> ends;
  std::int64_t tasks = 0, copies = 0, folds = 0;
  Drawn drawn;
  int failures = 0, with_holes = 0;
  for (const std::uint64_t seed : seeds) {
    const GeneratedRun run = generate_run(seed);
    const auto workload = Workload::make(run.app);
    ASSERT_TRUE(workload) << "seed " << seed << ": " << workload.error().message;
    int asked = 0;
    const RunResult found = run_compared(
        run, *workload, seed, [&] { return ++asked > 1000; }, &drawn, failures);
    if (failures == 10) break;
    ++ends[id_of(found)];
    tasks += found.tasks;
    copies += found.copies;
    const auto& regions = workload->data().regions;
    with_holes +=
        found.copies > 0 && std::any_of(regions.begin(), regions.end(),
                                        [](const auto& r) { return r.cell_points.size() > 2; });
    for (const RunRecord::Event& event : found.record->events) {
      folds += event.kind == RunRecord::Event::Kind::kReduction ? 1 : 0;
    }
    if (one != nullptr) fmt::print("{}: {}\n", id_of(found), found.raw);
  }
  for (const auto& [end, count] : ends) fmt::print("{:>20}: {}\n", end, count);
  if (one == nullptr && many == nullptr) {  // that they are worth comparing
    EXPECT_GT(ends["none"], static_cast<int>(seeds.size() / 2));
    for (const char* id : {"aliased-requirements", "cannot-run", "interfering-points", "no-route",
                           "out-of-memory", "bad-instance"}) {
      EXPECT_GT(ends[id], 10) << id;
    }
    EXPECT_GT(copies, 2000);
    EXPECT_GT(folds, 300);
    EXPECT_GT(drawn.stolen, 300);
    EXPECT_GT(drawn.named, 800);
    EXPECT_GT(with_holes, 40);
  }
  fmt::print("{} tasks, {} stolen; {} instances named; {} copies, {} of them reductions\n", tasks,
             drawn.stolen, drawn.named, copies, folds);
}

TEST(RandomLoops, AreThoseOfTheDocument) {
  int well = 0, failures = 0;
  for (const std::uint64_t seed : seeds_to_run(3000)) {
    const GeneratedRun run = generate_loops(seed);
    const auto workload = Workload::make(run.app);
    ASSERT_TRUE(workload) << "seed " << seed << ": " << workload.error().message;
    const RunResult found = run_compared(run, *workload, seed, {}, nullptr, failures);
    if (failures == 10) break;
    well += found.ok() ? 1 : 0;
  }
  if (std::getenv("GROMA_SEED") == nullptr) {
    EXPECT_GT(well, 1500);
  }
}

// Without a record, a run skips iterations of loops that repeat others.
TEST(RandomLoops, EndTheSameWithoutARecord) {
  int well = 0, failures = 0;
  for (const std::uint64_t seed : seeds_to_run(2000)) {
    const GeneratedRun run = generate_loops(seed, 9);
    const auto workload = Workload::make(run.app);
    ASSERT_TRUE(workload) << "seed " << seed << ": " << workload.error().message;
    SimulateOptions options;
    options.costs = run.costs;
    options.model = run.model;
    const RunResult found = simulate(*workload, run.machine, run.mappers(), options);
    options.record = true;
    const RunResult expected = simulate(*workload, run.machine, run.mappers(), options);
    std::string differs = difference_without_record(found, expected);
    compare(differs, "bytes", found.moved_bytes, expected.moved_bytes);
    EXPECT_EQ(differs, "") << "seed " << seed << ", GROMA_SEED=" << seed << " runs it alone; "
                           << found.raw;
    failures += differs.empty() ? 0 : 1;
    if (failures == 10) break;
    well += found.ok() ? 1 : 0;
  }
  if (std::getenv("GROMA_SEED") == nullptr) {
    EXPECT_GT(well, 1000);
  }
}

// Of mappers that make and name instances, too. What it is not sure of it says. In some beyond 3000
// tasks wait for each other's copies, in others that was once so.
TEST(RandomRehearsals, RefuseWhatTheRunRefuses) {
  std::map<std::string, int> ends;
  Drawn drawn;
  int unsure = 0;
  std::vector<std::uint64_t> seeds(3000);
  std::iota(seeds.begin(), seeds.end(), 1);
  seeds.insert(seeds.end(), {3620, 14623, 18389, 19785});
  for (const std::uint64_t seed : seeds) {
    const GeneratedRun run = generate_run(seed);
    if (run.mappers()({ProcKind::kCpu, 0, 0})->selects()) continue;  // in any order
    const auto workload = Workload::make(run.app);
    ASSERT_TRUE(workload);
    const sim::RehearsalResult found = sim::rehearse(*workload, run.machine, run.mappers(&drawn));
    const bool refused = std::any_of(
        found.findings.begin(), found.findings.end(),
        [](const Refusal& refusal) { return refusal.diagnostic.severity == Severity::kError; });
    if (!refused && (!found.findings.empty() || !found.incomplete.empty())) {
      ++unsure;
      continue;
    }
    const RunResult ran = simulate(*workload, run.machine, run.mappers(), {.costs = run.costs});
    EXPECT_EQ(ran.ok(), !refused) << "seed " << seed << ": " << ran.raw;
    ++ends[id_of(ran)];
  }
  EXPECT_GT(ends["none"], 1000);
  EXPECT_GT(ends["bad-instance"], 5);
  EXPECT_GT(ends["out-of-memory"], 20);
  EXPECT_GT(drawn.named, 800);
  EXPECT_LT(unsure, 700);
}

}  // namespace
}  // namespace groma::testing
