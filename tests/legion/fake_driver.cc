// A libcuda.so.1 that says that it is a driver.
extern "C" int cuInit(unsigned) { return 0; }
