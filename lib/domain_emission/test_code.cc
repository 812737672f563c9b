#include "domain_emission/test_code.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "domain_emission/enumeration_code.h"
#include "domain_emission/test_text.h"

namespace groma::domains {
namespace {

// Limit on the cells of a box that a test looks at, and on the points of a checksum.
constexpr std::int64_t kMaxCells = std::int64_t{1} << 21, kMaxOpenclCells = 1 << 16;
constexpr std::int64_t kMaxSummed = std::int64_t{1} << 21;

std::uint64_t mix(std::uint64_t sum, std::int64_t number) {
  sum = (sum ^ static_cast<std::uint64_t>(number)) * 0x9E3779B97F4A7C15U;
  return sum ^ (sum >> 29);
}

// Adds numbers of points beside the borders of loops and parts. `before` points stand before the
// map in the domain.
void add_borders(const PointMap& map, std::int64_t before, std::set<std::int64_t>* numbers) {
  constexpr std::int64_t kBorders = 24;
  const MapDescription description = map.describe();
  if (const auto* image = std::get_if<ImageDescription>(&description.form)) {
    return add_borders(*image->inner, before, numbers);
  }
  if (const auto* parts = std::get_if<UnionDescription>(&description.form)) {
    for (const PointMapPtr& part : parts->parts) {
      numbers->insert(before);
      add_borders(*part, before, numbers);
      before += part->count();
    }
    return;
  }
  const auto* loops = std::get_if<LoopsDescription>(&description.form);
  if (loops == nullptr || map.count() == 0) return;
  const std::int64_t low = map.lower()[0], extent = map.upper()[0] - low + 1;
  for (std::int64_t i = 0; i <= kBorders; ++i) {
    // Iterations all over the loop, the last ones among them.
    const std::int64_t from_end = i < kBorders / 2 ? i : extent / kBorders * (i - kBorders / 2);
    const std::int64_t counter = low + std::max<std::int64_t>(0, extent - 1 - from_end);
    const auto value = loops->before[0].value(std::vector<std::int64_t>{counter});
    if (!value) continue;
    for (int beside = -1; beside <= 1; ++beside) {
      numbers->insert(before + static_cast<std::int64_t>(value->numerator) + beside);
    }
  }
}

// Returns true if the map, or a part of it, is known point by point.
bool has_list(const PointMap& map) {
  const MapDescription description = map.describe();
  if (const auto* image = std::get_if<ImageDescription>(&description.form)) {
    return has_list(*image->inner);
  }
  if (const auto* parts = std::get_if<UnionDescription>(&description.form)) {
    return std::any_of(parts->parts.begin(), parts->parts.end(),
                       [](const PointMapPtr& part) { return has_list(*part); });
  }
  return std::holds_alternative<ListDescription>(description.form);
}

// Returns numbers whose points the test program knows.
std::set<std::int64_t> known_numbers(const Domain& domain) {
  std::set<std::int64_t> numbers = {
      0, 1, domain.count() / 2, domain.count() / 3, domain.count() - 2, domain.count() - 1};
  for (int bits = 8; bits < 63; bits += 5) {
    for (int beside = -1; beside <= 1; ++beside) {
      numbers.insert((std::int64_t{1} << bits) + beside);
    }
  }
  add_borders(*domain.map(), 0, &numbers);
  // A list of points has no enumeration of its own, so more of its points are compared.
  constexpr std::int64_t kListed = 500;
  for (std::int64_t i = 0; has_list(*domain.map()) && i < kListed; ++i) {
    numbers.insert(domain.count() / kListed * i + i % 7);
  }
  std::erase_if(numbers, [&](std::int64_t k) { return k < 0 || k >= domain.count(); });
  return numbers;
}

std::uint64_t checksum(const Domain& domain) {
  std::uint64_t sum = 0;
  for (std::int64_t k = 0; domain.count() <= kMaxSummed && k < domain.count(); ++k) {
    std::uint64_t mixed = mix(0, k);
    const Point point = domain.point(k);
    for (const std::int64_t each : point.coordinates()) mixed = mix(mixed, each);
    sum += mixed;
  }
  return sum;
}

// Returns the test of the cells of the box, or "" if it has too many.
std::string box_test(const Domain& domain, std::string_view pattern, std::int64_t limit,
                     const Names& names, bool has_inside) {
  std::int64_t cells = domain.count() == 0 ? 0 : 1;
  for (int d = 0; d < domain.dimensions(); ++d) {
    if (__builtin_mul_overflow(cells, domain.bounds().extents[d] + 2, &cells)) return "";
  }
  if (cells == 0 || cells > limit) return "";
  std::string loops, ends;
  for (int d = domain.dimensions(); d-- > 0;) {
    const std::int64_t low = domain.bounds().lower[d];
    loops +=
        fmt::format("  for (std::int64_t {0} = {1}; {0} <= {2}; ++{0}) {{\n",
                    names[static_cast<std::size_t>(d)], low - 1, low + domain.bounds().extents[d]);
    ends += "  }\n";
  }
  const std::string inside =
      has_inside ? "    if ((k >= 0) != @N@_inside(@XY@)) return @N@_wrong(\"a cell\", k);\n" : "";
  return fill(std::string(pattern), {{"LOOPS", loops}, {"ENDS", ends}, {"INSIDE", inside}});
}

std::string opencl_each() {
  return R"(constexpr std::int64_t kMost = 1 << 16;
  @N@_each([&](@LONG_XY@) {
    if (static_cast<std::int64_t>(numbers.size()) == kMost) return false;
    numbers.push_back(static_cast<cl_long>(numbers.size()));
    expected.insert(expected.end(), {@XY@});
    return true;
  });)";
}

}  // namespace

std::string test_program(const Domain& domain, Language language, std::string_view title,
                         const EmittedDomain& files) {
  const Names names = coordinate_names(domain.dimensions());
  const bool is_opencl = language == Language::kOpencl;
  std::string known;
  const std::set<std::int64_t> numbers = known_numbers(domain);
  for (const std::int64_t k : numbers) {
    const Point point = domain.point(k);
    known += fmt::format("    {{{}, {}}},\n", k, fmt::join(point.coordinates(), ", "));
  }
  if (numbers.empty()) known = "    {},\n";

  std::string text =
      fmt::format("// Tests {} ({}). Written by `groma domain emit`.\n", files.header_name, title);
  const std::string program = files.test_name.substr(0, files.test_name.rfind('.'));
  if (is_opencl) {
    text += fmt::format(
        "//   c++ -std=c++17 {0} -lOpenCL -o {1} && ./{1} {2}\n"
        "#define CL_TARGET_OPENCL_VERSION 120\n#include <CL/cl.h>\n\n",
        files.test_name, program, files.header_name);
  } else {
    text += fmt::format("//   {0} {1} -o {2} && ./{2}\n",
                        language == Language::kCuda ? "nvcc -std=c++17" : "c++ -std=c++17 -O2",
                        files.test_name, program);
  }
  if (is_opencl) {
    text +=
        "#include <cstdint>\n#include <cstdio>\n#include <fstream>\n#include <sstream>\n"
        "#include <string>\n#include <vector>\n\n";
    text += fmt::format("#define @N@_count std::int64_t{{{}}}\n", domain.count());
  } else {
    text += fmt::format("#include \"{}\"\n\n#include <cstdint>\n#include <cstdio>\n",
                        files.header_name);
    if (language == Language::kCpp) text += "#include <initializer_list>\n";
  }
  text += kTestData;

  // A list of points has no enumeration but its own map; Groma's checksum is compared then.
  const bool has_each = domain.count() > 0 && !(is_opencl && has_list(*domain.map()));
  if (has_each) {
    text += "\n// The points in their order, without the map.\n";
    text += each_code(*domain.map(), domain.name(), names);
  } else if (!is_opencl) {
    text += "\ntemplate <typename F>\nbool @N@_each(F&&) {\n  return true;\n}\n\n";
  }
  std::optional<std::string> inside;
  if (domain.count() > 0 && !is_opencl) inside = inside_code(*domain.map(), domain.name(), names);
  const std::string box =
      box_test(domain, is_opencl ? kOpenclBoxTest : kBoxTest,
               is_opencl ? kMaxOpenclCells : kMaxCells, names, inside.has_value());
  if (inside) text += *inside;
  if (is_opencl) {
    text += "static const char* const @N@_kernels = R\"cl(" + std::string(kOpenclKernels) +
            ")cl\";\n" + std::string(kOpenclTest);
    text += R"(
#ifndef GROMA_NO_MAIN
int main(int count, char** words) {
  return @N@_test(count > 1 ? words[1] : "@HEADER@", count > 2 ? words[2] : "");
}
#endif
)";
  } else {
    text += kCppTest;
    const bool is_cuda = language == Language::kCuda;
    if (is_cuda) text += kCudaTest;
    text += fmt::format("\n#ifndef GROMA_NO_MAIN\nint main() {{ return {}; }}\n#endif\n",
                        is_cuda ? "@N@_test() != 0 ? 1 : @N@_test_gpu()" : "@N@_test()");
  }

  Names found, values, points;
  for (std::size_t d = 0; d < names.size(); ++d) {
    found.push_back(fmt::format("&found[{}]", d));
    values.push_back(fmt::format("found[{}]", d));
    points.push_back(fmt::format("points[i * @D@ + {}]", d));
  }
  return fill(std::move(text),
              {{"BOX", box},
               {"MORE", (inside ? std::string(kCellTest) : "") +
                            (language == Language::kCpp ? std::string(kForTest) : "")},
               {"EACH", has_each ? opencl_each() : ""},
               {"KNOWN", known},
               {"KNOWN_COUNT", fmt::format("{}", numbers.size())},
               {"SUM", fmt::format("{}", checksum(domain))},
               {"FOUND", joined(found)},
               {"FOUND_VALUES", joined(values)},
               {"POINTS", joined(points)},
               {"HEADER", files.header_name},
               {"N", domain.name()},
               {"XY", joined(names)},
               {"AND_XY", joined(names, "&")},
               {"LONG_XY", joined(names, "std::int64_t ")},
               {"D", fmt::format("{}", names.size())}});
}

}  // namespace groma::domains
