// The library that preload.cc loads into a program of StarPU. StarPU 1.4 and newer can also load it
// itself, if STARPU_SCHED_LIB names this file.
#include <starpu.h>
#include <starpu_scheduler.h>

#include "groma/starpu.h"
#include "starpu/data_facts.h"
#include "starpu/preload.h"

namespace groma::starpu {
namespace {

void forget(starpu_data_handle_t handle) { data_facts().forget(handle); }

void set_name(starpu_data_handle_t handle, const char* name) {
  data_facts().set_name(handle, name);
}

void set_piece(starpu_data_handle_t child, starpu_data_handle_t parent, int index, int count) {
  data_facts().set_piece(child, parent, index, count);
}

}  // namespace
}  // namespace groma::starpu

extern "C" {

// The symbol that preload.cc looks for.
// NOLINTBEGIN(readability-identifier-naming): the name of an exported symbol
extern const groma::starpu::PreloadPolicy groma_preload_policy;
const groma::starpu::PreloadPolicy groma_preload_policy = {
    groma_starpu_policy, groma::starpu::forget, groma::starpu::set_name, groma::starpu::set_piece};
// NOLINTEND(readability-identifier-naming)

// What StarPU 1.4 looks for in the library that STARPU_SCHED_LIB names.
starpu_sched_policy* starpu_get_sched_lib_policy(const char* name);
starpu_sched_policy* starpu_get_sched_lib_policy(const char* name) {
  return name != nullptr && name == groma::starpu::kPolicyName ? groma_starpu_policy() : nullptr;
}
starpu_sched_policy** starpu_get_sched_lib_policies();
starpu_sched_policy** starpu_get_sched_lib_policies() {
  static starpu_sched_policy* policies[] = {groma_starpu_policy(), nullptr};
  return policies;
}

}  // extern "C"
