// A test program that is a Legion program: link groma_legion_main, which has the main, and write
// tests with GoogleTest. They run inside the top-level task of one run of Legion, one after the
// other.
#ifndef TESTS_LEGION_START_H_
#define TESTS_LEGION_START_H_

#include "legion.h"

namespace groma::legion_test {

// Runs f before Legion starts, to register tasks and mappers there. At namespace scope.
struct BeforeStart {
  explicit BeforeStart(void (*f)());
};

// Those of the top-level task; in a test only.
Legion::Context context();
Legion::Runtime* runtime();

}  // namespace groma::legion_test

#endif  // TESTS_LEGION_START_H_
