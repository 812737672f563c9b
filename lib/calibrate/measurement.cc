// Chooses the loops for a computer and the sizes of their data.
#include "calibrate/measurement.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <utility>

#include "calibrate/kernels.h"

namespace groma::calibration {
namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;
// The size of the data of a stream, as a multiple of the size of all caches of the last level.
constexpr std::size_t kTimesCache = 4;
constexpr std::size_t kLeastBuffer = 96 * kMiB, kMostBuffer = 1024 * kMiB;
// The number of bytes that one repeat of a measurement moves at least, which takes some ten
// milliseconds.
constexpr double kBytesOfRepeat = 256e6;
// The work of one repeat: the loads of a chain (kLoads), the rounds of floating-point operations
// (kRounds), and the bytes of memory that are touched first (kTouched).
constexpr std::int64_t kLoads = 100'000, kRounds = 4'000'000;
constexpr std::size_t kTouched = 64 * kMiB;
// The length of a row in elements, as in docs/simulator.md, "Rows with gaps": 4 KiB of each array,
// with gaps of the same length.
constexpr std::size_t kRow = 4096 / sizeof(double);

// Returns how often a loop over data of this size runs in one repeat of a measurement.
std::int64_t times_for(std::size_t bytes) {
  return std::max<std::int64_t>(
      1, static_cast<std::int64_t>(kBytesOfRepeat / static_cast<double>(bytes)));
}

std::string mebibytes(std::size_t bytes) {
  return bytes >= kMiB ? fmt::format("{} MiB", bytes / kMiB) : fmt::format("{} KiB", bytes / 1024);
}

}  // namespace

Measurement::Measurement(hwloc_topology_t topology)
    : topology_(topology), places_(find_numa_nodes(topology)) {}

// Returns the size of one buffer. The buffer exceeds all caches of a NUMA node, unless that would
// take more than an eighth of the memory for all buffers together.
std::size_t Measurement::buffer_bytes() const {
  const std::size_t wanted =
      std::clamp(kTimesCache * places_.front().last_level_bytes, kLeastBuffer, kMostBuffer);
  const auto memory = static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) *
                      static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const std::size_t buffers = 2 * std::min<std::size_t>(places_.size(), 2);
  return std::min(wanted, memory / 8 / buffers) / 4096 * 4096;
}

std::optional<Error> Measurement::prepare() {
  const std::size_t bytes = buffer_bytes();
  for (std::size_t i = 0; i < std::min<std::size_t>(places_.size(), 2); ++i) {
    memories_.emplace_back(topology_, places_[i], bytes);
    chained_memories_.emplace_back(topology_, places_[i], bytes);
    if (memories_.back().data().empty() || chained_memories_.back().data().empty()) {
      return Error{Error::Code::kUnreadable,
                   fmt::format("there are no {} of free memory to measure with",
                               mebibytes(2 * memories_.size() * bytes)),
                   "end other programs and measure again"};
    }
  }
  add_memory_probes();
  if (places_.size() > 1) add_remote_memory_probes();
  add_cache_probes();
  add_core_probes();
  return std::nullopt;
}

void Measurement::add_single_core_probe(TimedLoop probe) {
  probe.run = [this, run = std::move(probe.run)](int round) {
    std::optional<double> value;
    run_on_cores_and_add_time(1, [&](std::size_t) { value = run(round); });
    return value;
  };
  probes_.push_back(std::move(probe));
}

void Measurement::run_on_cores_and_add_time(std::size_t count,
                                            const std::function<void(std::size_t)>& work) {
  const WorkTime time = run_on_cores(topology_, places_.front(), count, work);
  time_.passed_s += time.passed_s;
  time_.processor_s += time.processor_s;
}

std::optional<double> Measurement::sum_of_stream_rates(std::span<double> buffer,
                                                       std::int64_t times) {
  const std::size_t cores = places_.front().cores.size();
  const std::size_t part = buffer.size() / cores;
  std::vector<std::optional<double>> rates(cores);
  run_on_cores_and_add_time(cores, [&](std::size_t i) {
    rates[i] = stream_rate(stream_arrays_in(buffer.subspan(i * part, part)), times);
  });
  double sum = 0;
  for (const std::optional<double>& rate : rates) {
    if (!rate) return std::nullopt;
    sum += *rate;
  }
  return sum;
}

// Adds the probes of the memory of the first NUMA node: streams of one core and of all cores, rows
// with gaps, copies, and the latency.
void Measurement::add_memory_probes() {
  const std::span<double> buffer = memories_.front().data();
  const std::string size = mebibytes(buffer.size_bytes());
  const std::int64_t times = times_for(buffer.size_bytes());
  add_single_core_probe(
      {"core memory bandwidth", FigureUnit::kBytesPerSecond,
       fmt::format("measured: a[i] = b[i] + 3 c[i] over {}, 24 bytes for each i", size),
       &NodeFigures::core_bandwidth, nullptr,
       [=](int) { return stream_rate(stream_arrays_in(buffer), times); }});
  const std::size_t cores = places_.front().cores.size();
  probes_.push_back(
      {"socket memory bandwidth", FigureUnit::kBytesPerSecond,
       fmt::format("measured: the same on {} cores of a NUMA node at once, sum of their rates",
                   cores),
       &NodeFigures::socket_bandwidth, nullptr,
       [=, this](int) { return sum_of_stream_rates(buffer, times); }});
  add_single_core_probe(
      {"core memory bandwidth, rows of 4 KiB with gaps", FigureUnit::kBytesPerSecond,
       fmt::format("measured: the same in rows of 4 KiB that begin 8 KiB apart, over {}", size),
       nullptr, &HostRates::gap_bytes_per_s,
       [=](int) { return stream_rate(stream_arrays_with_gaps(buffer, kRow, 1), 2 * times); }});
  add_single_core_probe({"core copy bandwidth", FigureUnit::kBytesPerSecond,
                         fmt::format("measured: memcpy of {}, each byte counted once",
                                     mebibytes(buffer.size_bytes() / 2)),
                         nullptr, &HostRates::copy_bytes_per_s,
                         [=](int) { return copy_rate(buffer); }});
  const auto chain =
      std::make_shared<LoadChain>(chained_memories_.front().data(), std::uint64_t{1});
  add_single_core_probe({"host memory latency, own socket", FigureUnit::kSeconds,
                         fmt::format("measured: a chain of loads in random order over {}", size),
                         &NodeFigures::local_latency, nullptr, [=](int) -> std::optional<double> {
                           return chain->seconds_of_a_load(kLoads);
                         }});
  add_single_core_probe(
      {"first-touch bandwidth of a core", FigureUnit::kBytesPerSecond,
       fmt::format("measured: the first write to each page of {}", mebibytes(kTouched)), nullptr,
       nullptr, [](int) { return first_touch_rate(kTouched); }});
}

// Adds the probes of the memory of the second NUMA node, which the cores of the first NUMA node
// access.
void Measurement::add_remote_memory_probes() {
  const std::span<double> far = memories_[1].data(), near = memories_.front().data();
  const std::int64_t times = times_for(far.size_bytes());
  const std::size_t cores = places_.front().cores.size();
  probes_.push_back(
      {"socket to socket bandwidth", FigureUnit::kBytesPerSecond,
       fmt::format("measured: a[i] = b[i] + 3 c[i] on {} cores in the memory of another NUMA node",
                   cores),
       &NodeFigures::intersocket_bandwidth, nullptr,
       [=, this](int) { return sum_of_stream_rates(far, times); }});
  add_single_core_probe(
      {"copy bandwidth to another socket", FigureUnit::kBytesPerSecond,
       "measured: memcpy by one core to another NUMA node, each byte counted once", nullptr,
       &HostRates::far_copy_bytes_per_s, [=](int) { return copy_rate(near, far); }});
  const auto chain = std::make_shared<LoadChain>(chained_memories_[1].data(), std::uint64_t{2});
  add_single_core_probe({"host memory latency, other socket", FigureUnit::kSeconds,
                         "measured: a chain of loads in random order in another NUMA node",
                         &NodeFigures::remote_latency, nullptr, [=](int) -> std::optional<double> {
                           return chain->seconds_of_a_load(kLoads);
                         }});
}

// Adds the probes of each level of caches, with data of half the size of the cache. The figures of
// these probes stand only in the record.
void Measurement::add_cache_probes() {
  for (const DataCache& cache : places_.front().caches) {
    const std::size_t elements =
        std::min(cache.bytes / 2 / sizeof(double), memories_.front().data().size());
    if (elements < 64) continue;
    const std::span<double> part = memories_.front().data().subspan(0, elements);
    const std::string size = mebibytes(part.size_bytes());
    const std::int64_t times = times_for(part.size_bytes());
    add_single_core_probe(
        {fmt::format("L{} cache bandwidth of a core", cache.level), FigureUnit::kBytesPerSecond,
         fmt::format("measured: a[i] = b[i] + 3 c[i] over {}", size), nullptr, nullptr,
         [=](int) { return stream_rate(stream_arrays_in(part), times); }});
    add_single_core_probe({fmt::format("L{} cache latency", cache.level), FigureUnit::kSeconds,
                           fmt::format("measured: a chain of loads in random order over {}", size),
                           nullptr, nullptr, [=](int) -> std::optional<double> {
                             LoadChain chain(part, 3);
                             // The first pass through the whole chain brings its lines into the
                             // cache.
                             chain.seconds_of_a_load(static_cast<std::int64_t>(chain.lines()));
                             const double seconds = chain.seconds_of_a_load(kLoads);
                             std::fill(part.begin(), part.end(), 1.0);
                             return seconds;
                           }});
  }
}

void Measurement::add_core_probes() {
  add_single_core_probe(
      {"core peak FP64", FigureUnit::kFlopsPerSecond,
       fmt::format("measured: 12 independent chains x = x m + a in vectors ({})", vectors_name()),
       &NodeFigures::core_flops, nullptr, [](int) { return flops_rate(kRounds); }});
}

std::optional<Error> Measurement::run_round(int round) {
  for (TimedLoop& probe : probes_) {
    const std::optional<double> value = probe.run(round);
    if (!value || !(*value > 0)) {
      return Error{Error::Code::kMalformed,
                   fmt::format("measuring the {} gave a wrong result", probe.what),
                   "the memory or the processor of this computer may be faulty"};
    }
    probe.repeats.push_back(*value);
  }
  return std::nullopt;
}

}  // namespace groma::calibration
