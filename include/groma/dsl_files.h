// The mapping programs that come with Groma. They are part of the library: no file is read at run
// time.
#pragma once

#include <span>
#include <string_view>

namespace groma {

// One of the mapping programs in the folder dsl/. All views refer to constants.
struct DslFile {
  // The name of the file without folder and `.mapper`: "strategy01".
  std::string_view name;
  // The first line of the text, a comment, without its `#`.
  std::string_view summary;
  // The whole text of the mapping program.
  std::string_view text;
  // For a strategy: the sentence of the paper that the mapping carries out. Otherwise empty.
  std::string_view sentence;
};

// Returns the ten mapping strategies of the paper (A.7). Each is a program for the circuit
// simulation.
std::span<const DslFile> strategies();
// Returns the mappers that the paper prints (Figures 2a and A4 to A7).
std::span<const DslFile> mappers();

}  // namespace groma
