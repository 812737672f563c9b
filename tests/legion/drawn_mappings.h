// Mapping programs drawn from a seed, for the tasks and regions of conformance_test.cc: every
// statement that a machine of CPUs and IO processors can carry out.
#ifndef TESTS_LEGION_DRAWN_MAPPINGS_H_
#define TESTS_LEGION_DRAWN_MAPPINGS_H_

#include <cstdint>
#include <string>

namespace groma::legion_test {

// Tasks `lines`, `planes`, `cubes` and `alone`, launched by `driver`; regions `line`, `plane`,
// `other` and `cube`. The program compiles without errors, and every region has a memory to go to.
std::string draw_mapping(std::uint64_t seed);

// For the tasks and regions of demanding.cc, which has a mapper of its own: every kind of
// statement, also such as that program cannot run under.
std::string draw_mapping_of_demanding(std::uint64_t seed);

}  // namespace groma::legion_test

#endif  // TESTS_LEGION_DRAWN_MAPPINGS_H_
