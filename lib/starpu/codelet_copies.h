// CodeletCopies: codelets that tell StarPU to which memory node the data of a task goes. StarPU
// reads the nodes from the codelet, which all of its tasks share, so a task whose mapping wants
// other nodes gets a copy of its codelet.
#pragma once

#include <starpu.h>

#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace groma::starpu {

// Thread-safe.
class CodeletCopies {
 public:
  // Returns a copy of the codelet that sends the data of a task to these memory nodes (-1: the
  // memory of the worker). The same copy is returned each time, and lives as long as this object.
  // Returns null if there are kMaxCopies copies, or if the codelet chooses nodes itself.
  starpu_codelet* copy_for(starpu_codelet* codelet, const std::vector<int>& nodes);

  static constexpr std::size_t kMaxCopies = 4'096;

 private:
  struct Copy {
    // The codelet as it was when it was copied.
    starpu_codelet original;
    starpu_codelet changed;
    std::vector<int> nodes;
  };
  std::mutex mutex_;
  std::map<std::pair<starpu_codelet*, std::vector<int>>, std::vector<std::unique_ptr<Copy>>>
      copies_;
  std::size_t count_ = 0;
};

}  // namespace groma::starpu
