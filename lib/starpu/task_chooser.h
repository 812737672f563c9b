// TaskChooser: asks a mapper about one task of StarPU and turns its answers into workers, memory
// nodes and a priority.
#pragma once

#include <starpu.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "groma/mapper.h"
#include "groma/validate.h"
#include "mapper/unhonoured.h"
#include "starpu/data_facts.h"
#include "starpu/launch_rules.h"
#include "starpu/messages.h"
#include "starpu/workers.h"

namespace groma::starpu {

// The workers of a scheduling context. A context may lose workers while it runs.
using Members = std::array<std::atomic<bool>, STARPU_NMAXWORKERS>;

// Returns the name by which a mapping knows the task: that of its codelet, otherwise that of the
// codelet's performance model, otherwise the task's own.
std::string_view task_name_of(const starpu_task& task);

// Where a task may run. Valid until the chooser is asked again.
struct Choice {
  // The workers of which any may run the task. Each of them has an implementation of it.
  std::vector<WorkerId> workers;
  // True if the workers are all workers of the kind on the machine.
  bool whole_kind = false;
  // The priority that the mapper adds to the task's own.
  int priority = 0;
  // StarPU's memory node for each data of the task; -1 for the memory of the worker. Empty if all
  // are -1.
  std::vector<int> nodes;
  // The kind of memory for each data of the task.
  std::vector<MemKind> memories;
  DecisionOrigin origin;
  // The name of the task. For a point of an index launch, its domain and the point; otherwise null.
  std::string_view name;
  const Rect* domain = nullptr;
  const Point* point = nullptr;
};

// One for each thread that pushes tasks, because it keeps buffers and a mapper object. Not
// thread-safe.
class TaskChooser {
 public:
  // `rules`, `facts` and `messages` must outlive the chooser.
  TaskChooser(std::unique_ptr<Mapper> mapper, std::shared_ptr<const Workers> workers,
              const LaunchRules& rules, const DataFacts& facts, Messages& messages);

  // Decides about a task that is ready. Ends the process with a diagnostic if the mapping cannot be
  // carried out. Returns a choice without workers if no worker of the context can run the task.
  const Choice& choose(starpu_task* task, const Members& members, bool all_are_members);

  const Mapper& mapper() const { return *mapper_; }
  // Adds the names of the tasks that the chooser was asked about, except those that it has
  // forgotten because there were too many.
  void add_names(mapper::NamesOfRun& names) const;

 private:
  // The implementations of tasks with one name, for one set of kinds.
  struct TaskForm {
    TaskId id = 0;
    std::vector<VariantView> variants;
  };
  // A launch domain, and the processor of each of its points in row-major order.
  struct LaunchTable {
    TaskId task = 0;
    Point extents;
    // The number of the first point. No two points of any tables have the same number.
    std::uint64_t first_number = 0;
    std::vector<Processor> processors;
  };
  // What is known about the tasks of one name.
  struct NamedTasks {
    std::string name;
    const LaunchRule* rule = nullptr;
    // The largest number of data of a task.
    std::size_t most_data = 0;
    // By the set of kinds on which a task can run: bit 0 for CPU, bit 1 for GPU.
    std::array<TaskForm, 4> forms;
    std::vector<LaunchTable> tables;
  };
  // A choice that is made again for each task with this subject and these data. The key is the
  // subject: the number of a point, or kSingleTask and the id of the task's form.
  struct CachedChoice {
    // The names and the privilege of each data.
    std::vector<std::uint64_t> data;
    Choice choice;
  };
  static constexpr std::uint64_t kSingleTask = std::uint64_t{1} << 63;
  struct NameHash {
    using is_transparent = void;  // NOLINT(readability-identifier-naming): the standard's
    std::size_t operator()(std::string_view name) const {
      return std::hash<std::string_view>()(name);
    }
  };

  NamedTasks& tasks_named(std::string_view name);
  unsigned kinds_of(starpu_task* task, const Members& members, bool all_are_members) const;
  bool can_run(WorkerId worker, starpu_task* task, const Members& members) const;
  void view_data(starpu_task* task);
  bool find_point(const NamedTasks& named, starpu_task* task);
  const LaunchTable& table_of_launch(NamedTasks& named);
  void decide(starpu_task* task, const Members& members, bool is_restricted);
  void choose_memories();
  void choose_workers(starpu_task* task, const Members& members, bool is_restricted);
  void fall_back(starpu_task* task, const Members& members);
  Choice& named_choice(Choice& choice, std::string_view name) const;
  void refuse_if(const std::vector<Refusal>& refusals) const;

  std::unique_ptr<Mapper> mapper_;
  std::shared_ptr<const Workers> workers_;
  const LaunchRules& rules_;
  const DataFacts& facts_;
  Messages& messages_;
  std::unique_ptr<MapperRuntime> runtime_;
  // True if some GPU workers run CUDA and others OpenCL, so that a GPU task may not run on each.
  bool has_mixed_gpus_ = false;

  std::unordered_map<std::string, NamedTasks, NameHash, std::equal_to<>> known_;
  TaskId next_id_ = 1;
  // The points of all launch tables.
  std::int64_t table_points_ = 0;
  std::uint64_t next_number_ = 0;
  std::unordered_map<std::uint64_t, CachedChoice> cache_;

  // Buffers of the last question and its answers.
  TaskView main_;
  TaskView view_;
  std::vector<RequirementView> requirements_;
  // The place of the first written piece.
  Point piece_, pieces_;
  std::optional<std::size_t> written_;
  // CachedChoice::data of the task.
  std::vector<std::uint64_t> data_keys_;
  TaskOptions options_;
  SliceTaskOutput slices_;
  MapTaskOutput output_;
  Choice choice_;
};

}  // namespace groma::starpu
