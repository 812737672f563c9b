// Interface between the two libraries with which Groma becomes a policy of StarPU in a program that
// was built without Groma. preload.cc is in LD_PRELOAD of every process that the program starts, so
// it depends on nothing else. It loads preload_policy.cc, which needs StarPU and Groma, when StarPU
// starts with STARPU_SCHED=groma.
#pragma once

#include <starpu.h>

#include <string_view>

namespace groma::starpu {

// The environment variable of StarPU that names the policy, and the value for Groma's.
inline constexpr const char* kPolicyVariable = "STARPU_SCHED";
inline constexpr std::string_view kPolicyName = "groma";
// The environment variable that names the mapping. Its value is the path of a file; or it is a name
// for messages, a line end, and the text of the mapping program.
inline constexpr const char* kMappingVariable = "GROMA_MAPPING";
// The environment variable with the path of the log file: one line for each task that ran.
inline constexpr const char* kLogVariable = "GROMA_LOG";
// The environment variable that tells which tasks are the points of index launches
// (starpu/launch_rules.h).
inline constexpr const char* kLaunchesVariable = "GROMA_STARPU_LAUNCHES";

// The functions of the policy library (preload_policy.cc), which it exports as the symbol
// kPreloadPolicy.
struct PreloadPolicy {
  starpu_sched_policy* (*policy)() = nullptr;
  // Report facts about data handles (starpu/data_facts.h).
  void (*forget)(starpu_data_handle_t handle) = nullptr;
  void (*set_name)(starpu_data_handle_t handle, const char* name) = nullptr;
  void (*set_piece)(starpu_data_handle_t child, starpu_data_handle_t parent, int index,
                    int count) = nullptr;
};
inline constexpr const char* kPreloadPolicy = "groma_preload_policy";

}  // namespace groma::starpu
