// Links a mapping into a Legion program that knows nothing of Groma: the file that
// GROMA_TEST_MAPPING names is its mapper from the start. A program gets it by linking this file and
// groma::legion.
#include <cstdio>
#include <cstdlib>

#include "groma/legion.h"

namespace {

const bool kLinked = [] {
  const char* const file = std::getenv("GROMA_TEST_MAPPING");
  if (file == nullptr) return false;
  if (const auto error = groma::legion::use_file(file)) {
    std::fprintf(stderr, "%s\n", error->message.c_str());
    std::_Exit(1);
  }
  return true;
}();

}  // namespace
