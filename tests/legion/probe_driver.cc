// Prints which libcuda.so.1 the loader found: what cuInit returns, 0 for a driver.
#include <cstdio>

extern "C" int cuInit(unsigned);

int main() {
  std::printf("cuInit: %d\n", cuInit(0));
  return 0;
}
