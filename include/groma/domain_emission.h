// emit_domain: writes the map of a domain as source code that needs nothing of Groma, for a kernel
// in C++, CUDA or OpenCL C.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "groma/domain.h"
#include "groma/result.h"

namespace groma::domains {

enum class Language : std::uint8_t {
  kCpp,     // C++17
  kCuda,    // C++17 for nvcc; the functions are for the host and the GPU
  kOpencl,  // OpenCL C 1.2
};

// The code of a domain NAME, and a program that tests it.
struct EmittedDomain {
  // A header, with the suffix .h (C++), .cuh (CUDA) or .cl (OpenCL). It defines:
  //   NAME_count                 the number of points
  //   NAME_point(k, &x, &y ...)  sets the coordinates of point k; 0 <= k < NAME_count
  //   NAME_rank(x, y ...)        returns k of a point, or -1 if it is not in the domain. The
  //                              coordinates are any integers of 64 bits
  //   NAME_for(begin, end, f)    C++: calls f(k, x, y ...) for begin <= k < end. The map is used
  //                              once for a row or block of points
  //   NAME_launch(f)             C++: NAME_for for all points, with OpenMP if it is on. CUDA: a
  //                              kernel that calls f(k, x, y ...) for all points
  //   NAME_for_each(k, x, y ...) OpenCL: a macro; the loop of one work-item over its points
  std::string header_name, header;
  // A program that compares the map with an enumeration of its own, and checks both directions for
  // the ends, the borders of loops and random k. It has a function NAME_test(), which returns 0 if
  // all is right, and main() unless GROMA_NO_MAIN is defined.
  std::string test_name, test;
};

struct EmissionOptions {
  Language language = Language::kCpp;
  // Shown in comments: the name with the values of the parameters, such as "triangle:n=4096", and
  // the text of the declaration. Their control characters, except line ends of the declaration,
  // must be visible.
  std::string title, declaration;
  // The file name of the header, which the test program includes. Empty: NAME with the suffix of
  // the language.
  std::string header_name;
};

// Writes the code of a domain. The values of its parameters become constants.
// Fails with kTooLarge if the domain is known point by point only and its table is larger than 1
// MiB, or if it needs integers of 128 bits and the language is OpenCL C.
Result<EmittedDomain> emit_domain(const Domain& domain, const EmissionOptions& options);

// A domain and the words that name it, such as "triangle:n=4096".
struct TitledDomain {
  Domain domain;
  std::string title;
};
// Limit on the cells of a box that is measured.
inline constexpr std::int64_t kMaxMeasuredCells = std::int64_t{1} << 32;

// Writes a C++17 program that measures four ways to go through each domain: tests in the loops over
// its box, the map for each point, the map for each block of points, and loops without tests. It
// compares their results, prints tables in Markdown, and exits with 0 if the results are the same.
// The costs of the model are fitted to each domain.
// Fails with kTooLarge for a domain without points, with a larger box, or known point by point
// only.
Result<std::string> emit_benchmark(const std::vector<TitledDomain>& domains);

}  // namespace groma::domains
