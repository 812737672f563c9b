// Reads the output of benchmarks/gpu_figures.cu and assigns its figures to those of a node.
#include "calibrate/gpu_figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "io/json.h"

namespace groma {
namespace {

// A figure that the program benchmarks/gpu_figures.cu prints.
struct KnownFigure {
  // The word that the program prints for the figure.
  std::string_view key;
  // The name of the figure in the record of measurements. If the program measures the figure for
  // several sizes of data, the size is appended to the name.
  std::string_view what;
  FigureUnit unit;
  // The figure of the node that gets the value. Null: no figure of the node gets it.
  SourcedNumber NodeFigures::*figure;
  // True if a machine cannot be made without this figure.
  bool is_required;
};

using Unit = FigureUnit;
constexpr KnownFigure kFigures[] = {
    {"matrix_multiply", "GPU matrix multiplication FP64 (cuBLAS), edge", Unit::kFlopsPerSecond,
     nullptr, true},
    {"launch", "GPU task start", Unit::kSeconds, &NodeFigures::gpu_start, true},
    {"launch_in_row", "GPU task start, many in a row", Unit::kSeconds, nullptr, false},
    {"fbmem_copy", "GPU memory bandwidth", Unit::kBytesPerSecond, &NodeFigures::gpu_bandwidth,
     true},
    {"fbmem_read", "GPU memory bandwidth, reads", Unit::kBytesPerSecond, nullptr, false},
    {"fbmem_write", "GPU memory bandwidth, writes", Unit::kBytesPerSecond, nullptr, false},
    {"fbmem_atomic", "GPU memory bandwidth, atomic additions", Unit::kBytesPerSecond, nullptr,
     false},
    {"fbmem_latency", "GPU memory latency", Unit::kSeconds, &NodeFigures::gpu_latency, true},
    {"zcmem_read", "zero-copy bandwidth of a GPU", Unit::kBytesPerSecond,
     &NodeFigures::zero_copy_bandwidth, true},
    {"zcmem_write", "zero-copy bandwidth of a GPU, writes", Unit::kBytesPerSecond, nullptr, false},
    {"zcmem_atomic", "zero-copy bandwidth of a GPU, atomic additions", Unit::kBytesPerSecond,
     nullptr, false},
    {"zcmem_latency", "zero-copy latency of a GPU", Unit::kSeconds, &NodeFigures::zero_copy_latency,
     true},
    {"host_to_device", "host to GPU bandwidth", Unit::kBytesPerSecond,
     &NodeFigures::host_link_bandwidth, true},
    {"device_to_host", "GPU to host bandwidth", Unit::kBytesPerSecond, nullptr, false},
    {"copy_latency", "GPU copy latency", Unit::kSeconds, &NodeFigures::gpu_copy_latency, true},
    {"peer_copy", "GPU to GPU bandwidth, one socket", Unit::kBytesPerSecond,
     &NodeFigures::peer_near_bandwidth, false},
    {"aos_read", "GPU memory bandwidth, one field of structures of bytes", Unit::kBytesPerSecond,
     nullptr, false},
    {"fbmem_scatter_read", "GPU memory bandwidth, floats at scattered places, table of bytes",
     Unit::kBytesPerSecond, nullptr, false},
    {"fbmem_scatter_atomic",
     "GPU memory bandwidth, atomic additions of floats at scattered places, table of bytes",
     Unit::kBytesPerSecond, nullptr, false},
    {"zcmem_scatter_read",
     "zero-copy bandwidth of a GPU, floats at scattered places, table of bytes",
     Unit::kBytesPerSecond, nullptr, false},
    {"zcmem_scatter_atomic",
     "zero-copy bandwidth of a GPU, atomic additions of floats at scattered places, table of bytes",
     Unit::kBytesPerSecond, nullptr, false},
    {"offset_read", "GPU memory bandwidth, reads that begin after bytes", Unit::kBytesPerSecond,
     nullptr, false},
};

constexpr std::string_view kGpu = "gpu", kList = "figures", kModel = "model", kCount = "count",
                           kMemory = "memory_bytes", kKey = "figure", kSize = "size",
                           kUnitKey = "unit", kValues = "values";
constexpr std::array kRootKeys = {kGpu, kList};
constexpr std::array kGpuKeys = {kModel, kCount, kMemory};
constexpr std::array kEntryKeys = {kKey, kSize, kUnitKey, kValues};

// Returns the keys of all known figures, in the order of kFigures.
std::vector<std::string_view> figure_keys() {
  std::vector<std::string_view> keys;
  for (const KnownFigure& known : kFigures) keys.push_back(known.key);
  return keys;
}

const KnownFigure& known_figure(std::string_view key) {
  return *std::find_if(std::begin(kFigures), std::end(kFigures),
                       [key](const KnownFigure& known) { return known.key == key; });
}

// Reads a whole number from `least` to `most`. After reporting an error, returns the nearest number
// in this range.
std::int64_t count_at(JsonReader& json, const JsonPlace& place, std::int64_t least,
                      std::int64_t most) {
  const std::size_t before = json.error_count();
  const std::int64_t count = json.integer(place);
  if (!json.failed_since(before) && (count < least || count > most))
    json.fail(place, fmt::format("{} is not a number from {} to {}", count, least, most));
  return std::clamp(count, least, most);
}

// Reads the values of a figure, one for each repeat of its measurement.
std::vector<double> values_at(JsonReader& json, const JsonPlace& place) {
  std::vector<double> values;
  const JsonValue::Array& list = json.array(place);
  if (list.empty() && place.value->array() != nullptr)
    json.fail(place, "a figure has at least one value");
  for (std::size_t i = 0; i < list.size() && !json.has_max_errors(); ++i) {
    const JsonPlace at{&list[i], &place, {}, i};
    const std::size_t before = json.error_count();
    const double value = json.number(at);
    if (!json.failed_since(before) && !(value > 0))
      json.fail(at, fmt::format("{} is not a number above 0", value));
    values.push_back(value);
  }
  return values;
}

// Reads one figure. The text states the unit for people and programs. An error is reported if it is
// not the unit of the figure.
std::optional<GpuFigures::CalibrationFigure> figure_at(JsonReader& json, const JsonPlace& place) {
  const std::size_t before = json.error_count();
  if (!json.is_object(place, kEntryKeys)) return std::nullopt;
  const std::vector<std::string_view> keys = figure_keys();
  const auto key = json.required(place, kKey);
  const auto unit = json.required(place, kUnitKey);
  const auto values = json.required(place, kValues);
  if (json.failed_since(before)) return std::nullopt;
  const std::size_t word = json.index_of_word(*key, keys, "figure of a GPU");
  if (json.failed_since(before)) return std::nullopt;
  const KnownFigure& known = kFigures[word];
  if (const std::string given = json.text(*unit);
      !json.failed_since(before) && given != unit_name(known.unit)) {
    json.fail(*unit, fmt::format("`{}` is given in `{}`", known.key, unit_name(known.unit)));
  }
  GpuFigures::CalibrationFigure figure{std::string(known.key), 0, values_at(json, *values)};
  if (const auto size = JsonReader::member(place, kSize))
    figure.size = count_at(json, *size, 0, std::int64_t{1} << 40);
  return figure;
}

}  // namespace

Result<GpuFigures> gpu_figures_from_json(std::string_view text, std::string_view name) {
  if (text.size() > kMaxGpuFileBytes) {
    return Error{Error::Code::kTooLarge,
                 fmt::format("`{}` has {} bytes; figures of GPUs at most {}", name, text.size(),
                             kMaxGpuFileBytes)};
  }
  const Result<JsonValue> root = parse_json(text, name);
  if (!root) return root.error();
  JsonReader json{std::string(name)};
  GpuFigures gpu;
  const JsonPlace place{&*root};
  if (!json.is_object(place, kRootKeys)) return json.error();
  const auto about = json.required(place, kGpu);
  const auto list = json.required(place, kList);
  if (about && json.is_object(*about, kGpuKeys)) {
    if (const auto model = json.required(*about, kModel)) gpu.model = json.text(*model);
    if (const auto count = json.required(*about, kCount))
      gpu.count = count_at(json, *count, 1, kMaxProcessorsPerNode / 4);
    if (const auto memory = json.required(*about, kMemory))
      gpu.memory_bytes = count_at(json, *memory, 1, std::int64_t{1} << 44);
  }
  if (list) {
    const JsonValue::Array& entries = json.array(*list);
    if (entries.size() > kMaxMeasuredFigures / 2) {
      json.fail(*list,
                fmt::format("{} figures; at most {}", entries.size(), kMaxMeasuredFigures / 2));
      return json.error();
    }
    for (std::size_t i = 0; i < entries.size() && !json.has_max_errors(); ++i) {
      if (auto figure = figure_at(json, {&entries[i], &*list, {}, i}))
        gpu.figures.push_back(*std::move(figure));
    }
  }
  // Missing figures are reported only if there is no other error.
  for (const KnownFigure& known : kFigures) {
    if (!json.ok() || !known.is_required) continue;
    const bool is_there = std::any_of(
        gpu.figures.begin(), gpu.figures.end(),
        [&](const GpuFigures::CalibrationFigure& figure) { return figure.key == known.key; });
    if (!is_there) json.fail(*list, fmt::format("the figure `{}` is missing", known.key));
  }
  if (!json.ok()) return json.error();
  return gpu;
}

// The peak rate of a GPU is set to the rate of its fastest matrix multiplication. Since that rate
// was really reached, the sustained fraction of the peak is 1.
void calibration::for_each_gpu_figure(
    const GpuFigures& gpu,
    const std::function<void(const MeasuredFigure&, SourcedNumber NodeFigures::*)>& use) {
  const std::string source = fmt::format("measured: gpu_figures on {}", gpu.model);
  const auto use_number = [&](std::string what, FigureUnit unit, double value,
                              SourcedNumber NodeFigures::*figure, const std::string& from) {
    use({std::move(what), std::string(unit_name(unit)), value, value, value, 1, from}, figure);
  };
  use_number("GPUs", Unit::kRatio, static_cast<double>(gpu.count), &NodeFigures::gpus, source);
  use_number("GPU memory", Unit::kBytes, static_cast<double>(gpu.memory_bytes),
             &NodeFigures::gpu_bytes, source);
  MeasuredFigure fastest;
  for (const GpuFigures::CalibrationFigure& figure : gpu.figures) {
    const KnownFigure& known = known_figure(figure.key);
    const std::string what =
        figure.size > 0 ? fmt::format("{} {}", known.what, figure.size) : std::string(known.what);
    MeasuredFigure measured =
        measured_figure(what, std::string(unit_name(known.unit)), figure.values, source);
    use(measured, known.figure);
    // The program does not know which GPUs share a socket.
    if (known.figure == &NodeFigures::peer_near_bandwidth) {
      measured.what = "GPU to GPU bandwidth, two sockets";
      use(measured, &NodeFigures::peer_far_bandwidth);
    }
    if (figure.key == kFigures[0].key && measured.value > fastest.value)
      fastest = std::move(measured);
  }
  fastest.source = fmt::format("measured: the fastest {}", fastest.what);
  fastest.what = "GPU peak FP64";
  use(fastest, &NodeFigures::gpu_flops);
  use_number("GPU sustained fraction of peak", Unit::kRatio, 1, &NodeFigures::gpu_sustained,
             "chosen: the peak is what a matrix multiplication reaches");
}

}  // namespace groma
