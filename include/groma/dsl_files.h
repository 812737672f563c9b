// The mapping programs that come with Groma, part of the library: nothing is read at run time.
#pragma once

#include <span>
#include <string_view>

namespace groma {

// One file of dsl/. All views are of constants.
struct DslFile {
  std::string_view name;     // the file's, without folder and `.mapper`: "strategy01"
  std::string_view summary;  // its first line, a comment, without the `#`
  std::string_view text;     // all of it
};

// The ten mapping strategies of the paper (A.7), each a program for the circuit simulation.
std::span<const DslFile> strategies();
// The mappers printed in the paper (Figures 2a and A4 to A7).
std::span<const DslFile> mappers();

}  // namespace groma
