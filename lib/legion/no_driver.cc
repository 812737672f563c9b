// A substitute for libcuda.so.1 on machines without a CUDA driver. A Legion that was built with
// CUDA needs that library, so the loader stops if it is missing. The substitute lets the program
// start and reports that there is no GPU. It has the functions that liblegion binds, and cuInit,
// which Realm looks up.
//
// Programs in a build folder that was configured without a driver find the substitute through their
// RUNPATH, which the loader searches before the system's libraries. If a driver was installed
// since, the substitute would hide it. It then ends the program and says what to do.
#include <dlfcn.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#ifndef GROMA_LOADER_CACHE
// The loader's list of system libraries.
#define GROMA_LOADER_CACHE "/etc/ld.so.cache"
#endif

namespace {

// The CUDA error code CUDA_ERROR_NO_DEVICE.
constexpr int kNoDevice = 100;
constexpr char kName[] = "/libcuda.so.1";
constexpr std::size_t kMaxCache = std::size_t{16} << 20;

// Returns true if the file is an ELF library with the word size (32 or 64 bits) of this process.
bool is_library(const char* path) {
  unsigned char head[5] = {};
  std::FILE* file = std::fopen(path, "rb");
  if (file == nullptr) return false;
  const std::size_t read = std::fread(head, 1, sizeof head, file);
  std::fclose(file);
  return read == sizeof head && std::memcmp(head, "\177ELF", 4) == 0 &&
         head[4] == (sizeof(void*) == 8 ? 2 : 1);
}

// Copies to `path` the path of a driver found in the loader's cache, whose strings end with NUL.
// Returns false if the cache names no driver.
bool find_in_cache(char* path, std::size_t size) {
  std::FILE* file = std::fopen(GROMA_LOADER_CACHE, "rb");
  if (file == nullptr) return false;
  char* const cache = static_cast<char*>(std::malloc(kMaxCache));
  const std::size_t read = cache == nullptr ? 0 : std::fread(cache, 1, kMaxCache, file);
  std::fclose(file);
  bool found = false;
  for (std::size_t begin = 0, at = 0; at < read && !found; ++at) {
    if (cache[at] != '\0') continue;
    const std::size_t length = at - begin;
    const bool named = length >= sizeof kName && length < size && cache[begin] == '/' &&
                       std::strcmp(cache + at + 1 - sizeof kName, kName) == 0;
    if (named) std::memcpy(path, cache + begin, length + 1);
    found = named && is_library(path);
    begin = at + 1;
  }
  std::free(cache);
  return found;
}

// Returns true if LD_LIBRARY_PATH names the folder of this library, which means that the user wants
// the substitute for the CUDA driver.
bool is_wanted() {
  Dl_info self = {};
  const char* list = std::getenv("LD_LIBRARY_PATH");
  if (list == nullptr || dladdr(reinterpret_cast<void*>(&is_wanted), &self) == 0) return false;
  const char* const slash = std::strrchr(self.dli_fname, '/');
  const std::size_t folder =
      slash == nullptr ? 0 : static_cast<std::size_t>(slash - self.dli_fname);
  while (*list != '\0') {
    const std::size_t length = std::strcspn(list, ":;");
    if (length == folder && std::memcmp(list, self.dli_fname, length) == 0) return true;
    list += length + (list[length] == '\0' ? 0 : 1);
  }
  return false;
}

// Runs when this library, the substitute for the CUDA driver, is loaded. Ends the program if a
// driver is installed and the user did not ask for the substitute.
__attribute__((constructor)) void refuse_to_hide_a_driver() {
  char path[4096];
  if (is_wanted() || !find_in_cache(path, sizeof path)) return;
  const int folder = static_cast<int>(std::strrchr(path, '/') - path);
  std::fprintf(
      stderr,
      "libcuda.so.1: this program was built where there was no CUDA driver, and now there is "
      "one, `%s`: configure the build anew, or start the program with LD_LIBRARY_PATH=%.*s\n",
      path, folder, path);
  _exit(127);
}

}  // namespace

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
