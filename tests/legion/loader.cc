// Loads a program for itself alone, as Python does, and becomes it: its Legion is in nobody's
// reach.
//
//   loader LIBRARY ARGS...
#include <dlfcn.h>

#include <cstdio>

int main(int argc, char** argv) {
  void* const library = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : nullptr;
  if (library == nullptr) {
    std::puts(dlerror());
    return 1;
  }
  using Main = int(int, char**);
  return reinterpret_cast<Main*>(dlsym(library, "main"))(argc - 1, argv + 1);
}
