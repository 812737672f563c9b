// A library that passes for a Legion of another version: what such a one exports, and nothing
// behind it.
#include <cstdio>

namespace Legion {

class Runtime {
 public:
  static int start(int argc, char** argv, bool, bool, bool, bool, bool);
  static const char* get_legion_version();
};

int Runtime::start(int, char**, bool, bool, bool, bool, bool) {
  std::puts("it ran");
  return 0;
}
const char* Runtime::get_legion_version() { return "legion-24.03.0"; }

}  // namespace Legion

extern "C" int legion_runtime_start(int argc, char** argv, bool) {
  return Legion::Runtime::start(argc, argv, false, true, false, true, true);
}
