// CodeletCopies: codelets that tell StarPU to which memory node the data of a task goes. StarPU
// reads the nodes from the codelet, which all of its tasks share, so a task whose mapping wants
// other nodes gets a copy of its codelet.
#pragma once

#include <starpu.h>

#include <atomic>
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

namespace groma::starpu {

// Thread-safe.
class CodeletCopies {
 public:
  // Returns a codelet that sends the data of a task to these memory nodes (-1: the memory of the
  // worker). `codelet` is the task's codelet, or a copy from an earlier run of the same task.
  // Returns the program's codelet if `nodes` is empty. Otherwise returns a copy; the same one each
  // time, which lives as long as this object. Returns null if there are kMaxCopies copies, or if
  // the program's codelet chooses nodes itself.
  starpu_codelet* codelet_for(starpu_codelet* codelet, const std::vector<int>& nodes);

  static constexpr std::size_t kMaxCopies = 4'096;

 private:
  struct Copy {
    starpu_codelet* source = nullptr;
    // The codelet as it was when it was copied.
    starpu_codelet original;
    starpu_codelet changed;
    std::vector<int> nodes;
  };
  std::mutex mutex_;
  // By the program's codelet and the nodes.
  std::map<std::pair<starpu_codelet*, std::vector<int>>, std::vector<std::unique_ptr<Copy>>>
      copies_;
  // By the address of the copied codelet.
  std::unordered_map<const starpu_codelet*, const Copy*> by_copy_;
  // The size of `by_copy_`, which needs no lock.
  std::atomic<std::size_t> count_ = 0;
};

}  // namespace groma::starpu
