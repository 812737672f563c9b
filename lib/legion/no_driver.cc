// A libcuda.so.1 for machines without a driver. A Legion that was built with CUDA names that
// library, so the loader stops where it is missing; ours lets the program start and says that there
// is no GPU. These are the functions that liblegion binds, and cuInit, which Realm looks up.
namespace {
constexpr int kNoDevice = 100;  // CUDA_ERROR_NO_DEVICE
}

extern "C" {

// NOLINTBEGIN(readability-identifier-naming): CUDA's names
int cuInit(unsigned) { return kNoDevice; }
int cuGetErrorName(int, const char** text) {
  *text = "CUDA_ERROR_NO_DEVICE";
  return 0;
}
int cuGetErrorString(int, const char** text) {
  *text = "this machine has no driver";
  return 0;
}
int cuMemFreeHost(void*) { return kNoDevice; }
int cuMemFree_v2(unsigned long long) { return kNoDevice; }
// NOLINTEND(readability-identifier-naming)

}  // extern "C"
