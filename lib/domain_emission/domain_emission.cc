// Puts the header of a domain together.
#include "groma/domain_emission.h"

#include <fmt/format.h>

#include <algorithm>

#include "domain_emission/enumeration_code.h"
#include "domain_emission/map_code.h"
#include "domain_emission/test_code.h"

namespace groma::domains {
namespace {

constexpr std::string_view kCppLaunch =
    R"(// Calls f(k, @XY@) for all points, in chunks, with OpenMP if it is on.
template <typename F>
inline void @N@_launch(F f, std::int64_t chunk = 16384) {
  const std::int64_t chunks = @N@_count / chunk + (@N@_count % chunk != 0 ? 1 : 0);
#ifdef _OPENMP
#pragma omp parallel for schedule(static)
#endif
  for (std::int64_t c = 0; c < chunks; ++c) {
    const std::int64_t begin = c * chunk, left = @N@_count - begin;
    @N@_for(begin, begin + (left < chunk ? left : chunk), f);
  }
}
)";

constexpr std::string_view kCudaLaunch =
    R"(// Calls f(k, @XY@) for all points. Each thread takes every (number of threads)-th point.
template <typename F>
__global__ void @N@_kernel(F f) {
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t k = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
       k < @N@_count; k += step) {
    std::int64_t @XY@;
    @N@_point(k, @AND_XY@);
    f(k, @XY@);
  }
}

// Starts the kernel. `f` is an object with a __device__ operator(), such as a __device__ lambda.
template <typename F>
inline cudaError_t @N@_launch(F f, cudaStream_t stream = nullptr, int threads = 256) {
  const std::int64_t wanted = (@N@_count + threads - 1) / threads, most = 1 << 20;
  if (wanted == 0) return cudaSuccess;
  @N@_kernel<<<static_cast<unsigned>(wanted < most ? wanted : most), threads, 0, stream>>>(f);
  return cudaGetLastError();
}
)";

constexpr std::string_view kOpenclLaunch =
    R"(// The loop of one work-item over its points:
//   kernel void work(global float* out) { @N@_for_each(k, @XY@) out[k] = value(@XY@); }
#define @N@_for_each(k, @XY@) \
  for (long k = (long)get_global_id(0), @XY@; \
       k < @N@_count && (@N@_point(k, @AND_XY@), 1); k += (long)get_global_size(0))
)";

// Returns what stands before the functions of the map.
std::string head(const Dialect& dialect, const MapCode& code) {
  std::string text;
  if (!dialect.is_opencl()) {
    text += std::string(code.needs_real() ? "#include <cmath>\n" : "") + "#include <cstdint>\n\n";
  }
  if (code.needs_wide()) {
    text += fmt::format("__extension__ typedef __int128 {}_int128;\n\n", dialect.name());
  }
  if (code.needs_real() && dialect.is_opencl()) {
    text += fill(
        "// The type of first guesses at roots. GROMA_NO_FP64 does without double.\n"
        "#if (defined(cl_khr_fp64) || defined(__opencl_c_fp64)) && !defined(GROMA_NO_FP64)\n"
        "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n"
        "typedef double @N@_real;\n#else\ntypedef float @N@_real;\n#endif\n\n",
        {{"N", dialect.name()}});
  }
  return text;
}

// Returns the functions of a domain without points.
std::string empty_map(const Dialect& dialect, const Names& names) {
  const std::string type = dialect.integer(Width::k64);
  std::string text = fmt::format("{}void {}_point({} k, {}) {{\n  (void)k;\n", dialect.function(),
                                 dialect.name(), type, joined(names, type + "* to_"));
  for (const std::string& name : names) text += fmt::format("  *to_{} = 0;\n", name);
  text += fmt::format("}}\n\n{}{} {}_rank({}) {{\n", dialect.function(), type, dialect.name(),
                      joined(names, type + " "));
  for (const std::string& name : names) text += fmt::format("  (void){};\n", name);
  text += "  return -1;\n}\n\n";
  if (dialect.is_cpp()) {
    text += fmt::format(
        "template <typename F>\ninline void {}_for(std::int64_t, std::int64_t, F&&) {{}}\n\n",
        dialect.name());
  }
  return text;
}

// Returns the lines of a text as comments.
std::string comment_of(std::string_view text) {
  std::string comment;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    // A backslash at the end of a line would make the next line part of the comment.
    comment += fmt::format("//   {}{}\n", text.substr(0, end),
                           end > 0 && text[end - 1] == '\\' ? "." : "");
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return comment;
}

std::string upper(std::string text) {
  for (char& c : text) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  return text;
}

}  // namespace

Result<EmittedDomain> emit_domain(const Domain& domain, const EmissionOptions& options) {
  const Language language = options.language;
  const std::string title = options.title.empty() ? domain.name() : options.title;
  const Dialect dialect(language, domain.name());
  const Names names = coordinate_names(domain.dimensions());
  MapCode code(dialect);
  if (domain.count() > 0) {
    if (auto error = code.write(*domain.map(), domain.name(), names)) return *error;
  }
  if (code.needs_wide() && dialect.is_opencl()) {
    return Error{Error::Code::kTooLarge,
                 fmt::format("{} needs integers of 128 bits, which OpenCL C does not have", title),
                 "give its parameters smaller values, or use --language cuda"};
  }
  static constexpr const char* kSuffixes[] = {".h", ".cuh", ".cl"};
  static constexpr const char* kTestSuffixes[] = {"_test.cc", "_test.cu", "_cl_test.cc"};
  const auto number = static_cast<std::size_t>(language);

  EmittedDomain emitted;
  emitted.header_name =
      options.header_name.empty() ? domain.name() + kSuffixes[number] : options.header_name;
  emitted.test_name =
      emitted.header_name.substr(0, emitted.header_name.rfind('.')) + kTestSuffixes[number];
  std::string text = fmt::format(
      "// {}: a domain of {} points. Written by `groma domain emit`.\n{}//\n"
      "//   @N@_point(k, @AND_XY@) sets the coordinates of point k; 0 <= k < @N@_count.\n"
      "//   @N@_rank(@XY@) returns k of a point, or -1 if it is not in the domain.\n",
      title, domain.count(), comment_of(options.declaration));
  if (dialect.is_cpp()) {
    text +=
        "//   @N@_for(begin, end, f) calls f(k, @XY@) for a range; the map is used once a row.\n"
        "//   @N@_launch(f) calls f(k, @XY@) for all points.\n";
  } else if (dialect.is_cuda()) {
    text += "//   @N@_launch(f) calls f(k, @XY@) on the GPU for all points.\n";
  } else {
    text += "//   @N@_for_each(k, @XY@) is the loop of a work-item over its points.\n";
  }
  const std::string guard = fmt::format("GROMA_DOMAIN_{}", upper(domain.name()));
  text += fmt::format("#ifndef {0}\n#define {0}\n\n", guard) + head(dialect, code);
  text += dialect.is_opencl()
              ? fmt::format("#define {}_count {}L\n\n", domain.name(), domain.count())
              : fmt::format("inline constexpr std::int64_t {}_count = {};\n\n", domain.name(),
                            domain.count());
  text += domain.count() > 0 ? code.text() : empty_map(dialect, names);
  text += language == Language::kCpp    ? kCppLaunch
          : language == Language::kCuda ? kCudaLaunch
                                        : kOpenclLaunch;
  text += fmt::format("\n#endif  // {}\n", guard);
  emitted.header =
      fill(std::move(text),
           {{"N", domain.name()}, {"XY", joined(names)}, {"AND_XY", joined(names, "&")}});
  emitted.test = test_program(domain, language, title, emitted);
  return emitted;
}

}  // namespace groma::domains
