// The library that is loaded before StarPU (LD_PRELOAD) into a program that was not built with
// Groma. It replaces the functions with which a program starts StarPU, and registers, names and
// partitions data. Each replacement calls StarPU's own function. The library does nothing in
// programs without StarPU, or if STARPU_SCHED is not "groma".
#include "starpu/preload.h"

#include <dlfcn.h>
#include <starpu.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>

namespace {

using groma::starpu::PreloadPolicy;

// Ends the process with a message that the program is not mapped. Otherwise the run would be
// mistaken for a run with the mapping.
[[noreturn]] void refuse(const std::string& why) {
  std::fprintf(stderr, "groma: not mapped: %s\n", why.c_str());
  std::fflush(nullptr);
  _exit(1);
}

// Returns true if the environment asks for Groma's policy.
bool is_wanted() {
  static const bool wanted = [] {
    const char* const name = std::getenv(groma::starpu::kPolicyVariable);
    return name != nullptr && name == groma::starpu::kPolicyName;
  }();
  return wanted;
}

// Returns StarPU's own function with this name, which comes after this library's in the search
// order of the loader.
template <class Function>
Function* next(Function*, const char* name) {
  void* const found = dlsym(RTLD_NEXT, name);
  if (found == nullptr) refuse(std::string("this program's StarPU has no function ") + name);
  return reinterpret_cast<Function*>(found);
}

// Returns the functions of the policy library, a file in the same folder as this library; null if
// the environment does not ask for Groma's policy. The process ends if it cannot be loaded, or if
// the program's StarPU has another version than the one that Groma was built for.
const PreloadPolicy* library() {
  static const PreloadPolicy* const found = []() -> const PreloadPolicy* {
    if (!is_wanted()) return nullptr;
    int version[3] = {};
    next(&starpu_get_version, "starpu_get_version")(&version[0], &version[1], &version[2]);
    if (version[0] != STARPU_MAJOR_VERSION || version[1] != STARPU_MINOR_VERSION) {
      refuse("the program has StarPU " + std::to_string(version[0]) + "." +
             std::to_string(version[1]) + ", this library is for " +
             std::to_string(STARPU_MAJOR_VERSION) + "." + std::to_string(STARPU_MINOR_VERSION));
    }
    Dl_info info{};
    dladdr(reinterpret_cast<void*>(&refuse), &info);
    std::string path = info.dli_fname;
    path = path.substr(0, path.rfind('/') + 1) + "libgroma_starpu_preload_policy.so";
    void* const loaded = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (loaded == nullptr) refuse(std::string("cannot load what maps: ") + dlerror());
    // The policy library must use the same StarPU as the program, not another one of this computer.
    if (dlsym(loaded, "starpu_shutdown") != dlsym(RTLD_NEXT, "starpu_shutdown")) {
      refuse("the program has another build of StarPU than this library");
    }
    return static_cast<const PreloadPolicy*>(dlsym(loaded, groma::starpu::kPreloadPolicy));
  }();
  return found;
}

// Calls start(configuration) with Groma's policy in a copy of the program's configuration.
//
// STARPU_SCHED is empty meanwhile: StarPU 1.3 looks its value up in a list of its own policies and
// warns about a name that it does not find. An empty value names none, so StarPU takes the policy
// of the configuration.
template <class Start>
int start_with_policy(const starpu_conf* given, const Start& start) {
  starpu_conf configuration;
  if (given == nullptr) {
    next(&starpu_conf_init, "starpu_conf_init")(&configuration);
  } else {
    configuration = *given;
  }
  configuration.sched_policy = library()->policy();
  configuration.sched_policy_name = nullptr;
  setenv(groma::starpu::kPolicyVariable, "", 1);
  const int result = start(&configuration);
  setenv(groma::starpu::kPolicyVariable, groma::starpu::kPolicyName.data(), 1);
  return result;
}

// True while a replacement of starpu_init runs, in which StarPU calls starpu_initialize.
thread_local bool starts = false;

}  // namespace

extern "C" {

int starpu_initialize(starpu_conf* configuration, int* argc, char*** argv) {
  static auto* const own = next(&starpu_initialize, "starpu_initialize");
  if (starts || library() == nullptr) return own(configuration, argc, argv);
  return start_with_policy(configuration, [&](starpu_conf* with) { return own(with, argc, argv); });
}

int starpu_init(starpu_conf* configuration) {
  static auto* const own = next(&starpu_init, "starpu_init");
  if (library() == nullptr) return own(configuration);
  starts = true;
  const int result = start_with_policy(configuration, [&](starpu_conf* with) { return own(with); });
  starts = false;
  return result;
}

void starpu_data_register(starpu_data_handle_t* handle, int home_node, void* data,
                          starpu_data_interface_ops* operations) {
  static auto* const own = next(&starpu_data_register, "starpu_data_register");
  own(handle, home_node, data, operations);
  if (library() != nullptr) library()->forget(*handle);
}

void starpu_data_set_name(starpu_data_handle_t handle, const char* name) {
  static auto* const own = next(&starpu_data_set_name, "starpu_data_set_name");
  own(handle, name);
  if (library() != nullptr && name != nullptr) library()->set_name(handle, name);
}

void starpu_data_partition(starpu_data_handle_t handle, starpu_data_filter* filter) {
  static auto* const own = next(&starpu_data_partition, "starpu_data_partition");
  own(handle, filter);
  if (library() == nullptr) return;
  const int count = starpu_data_get_nb_children(handle);
  for (int i = 0; i < count; ++i) {
    library()->set_piece(starpu_data_get_child(handle, static_cast<unsigned>(i)), handle, i, count);
  }
}

void starpu_data_partition_plan(starpu_data_handle_t handle, starpu_data_filter* filter,
                                starpu_data_handle_t* children) {
  static auto* const own = next(&starpu_data_partition_plan, "starpu_data_partition_plan");
  own(handle, filter, children);
  if (library() == nullptr) return;
  const unsigned count =
      filter->get_nchildren == nullptr ? filter->nchildren : filter->get_nchildren(filter, handle);
  for (unsigned i = 0; i < count; ++i) {
    library()->set_piece(children[i], handle, static_cast<int>(i), static_cast<int>(count));
  }
}

}  // extern "C"
