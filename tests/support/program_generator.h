// Random mapping programs from a seed: right ones, of all statements, expressions and machine
// operations, with launches that their functions are made for; and broken ones. For comparing two
// ways to one answer on programs that nobody wrote. The same seed gives the same programs
// everywhere.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "groma/geometry.h"

namespace groma::testing {

// A mapping function of a generated program.
struct GeneratedFunction {
  std::string name;
  bool single = false;  // maps single tasks: reads the parent; else points of launches
  int dimensions = 1;   // of the launches that it expects
};

struct GeneratedProgram {
  std::string text;
  std::vector<GeneratedFunction> functions;
  std::string machine;         // of a few nodes, for make_machine
  std::vector<Rect> launches;  // small; of every number of dimensions that a function expects
};

// A program without errors of syntax, names or types. Most of its points get a processor; some end
// in an error of evaluation, such as a division by zero.
GeneratedProgram generate_program(std::uint64_t seed);

// A generated program in which a few tokens were left out, doubled, exchanged, replaced or put in,
// or a few bytes changed. It may still be right.
std::string generate_broken_program(std::uint64_t seed);

}  // namespace groma::testing
