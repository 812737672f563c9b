// The policy "groma": the functions that StarPU calls. For each ready task, a chooser asks the
// mapper; the task then waits in the queue of a worker, or of all workers of a kind.
#include <fmt/format.h>
#include <starpu.h>
#include <starpu_scheduler.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <climits>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "groma/program_mapper.h"
#include "groma/starpu.h"
#include "mapper/unhonoured.h"
#include "starpu/codelet_copies.h"
#include "starpu/messages.h"
#include "starpu/preload.h"
#include "starpu/ready_queue.h"
#include "starpu/run_log.h"
#include "starpu/task_chooser.h"

namespace groma::starpu {
namespace {

// ---- The mapping of this process

// Returns the text of the mapping: the value of the environment variable if it has a line end,
// otherwise the contents of the file that the variable names.
Source mapping_source(const std::string& value) {
  const std::size_t line_end = value.find('\n');
  if (line_end != value.npos) return Source(value.substr(0, line_end), value.substr(line_end + 1));
  auto read = Source::read(value);
  if (!read) refuse(read.error().message);
  return std::move(read).value();
}

LaunchRules launch_rules() {
  const char* const text = std::getenv(kLaunchesVariable);
  auto rules = LaunchRules::parse(text == nullptr ? "" : text);
  if (!rules) refuse(fmt::format("{}: {}", kLaunchesVariable, rules.error().message));
  return std::move(rules).value();
}

std::shared_ptr<const Workers> workers_here() {
  auto made = Workers::make();
  if (!made) refuse("the workers of StarPU: " + made.error().message);
  return std::move(made).value();
}

// What all scheduling contexts share: the mapping, and a chooser for each thread that pushes tasks.
class Mapping {
 public:
  Mapping() : workers(workers_here()), rules_(launch_rules()) {
    const char* const value = std::getenv(kMappingVariable);
    if (value != nullptr) compile_program(value);
    const auto& machine = workers->machine();
    for (std::size_t i = 0; i <= workers->count(); ++i) {
      MapperSite site{machine, machine->processors().front(), {}, &messages};
      if (i < workers->count() && workers->processor(static_cast<WorkerId>(i))) {
        site.local = *workers->processor(static_cast<WorkerId>(i));
      }
      std::unique_ptr<Mapper> mapper;
      if (shared_ != nullptr) {
        mapper = std::make_unique<ProgramMapper>(shared_, std::move(site));
      } else {
        mapper = std::make_unique<DefaultMapper>(std::move(site));
      }
      choosers_.push_back(std::make_unique<TaskChooser>(std::move(mapper), workers, rules_,
                                                        data_facts(), messages));
    }
    if (const char* const path = std::getenv(kLogVariable)) {
      auto opened = RunLog::open(path, shared_ == nullptr ? "" : name_, workers);
      if (!opened) refuse(opened.error().message);
      log = std::move(opened).value();
    }
  }

  // Reports the names in the mapping that the run did not have.
  ~Mapping() {
    if (shared_ == nullptr) return;
    mapper::NamesOfRun names;
    for (const auto& chooser : choosers_) chooser->add_names(names);
    if (names.tasks.empty()) return;
    names.regions = data_facts().all_names();
    const auto& mapper = static_cast<const ProgramMapper&>(choosers_.front()->mapper());
    mapper::log_unknown_names(mapper.program(), names, messages);
  }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;

  // Calls use(chooser) with the chooser of this thread. All threads that are not workers share one.
  template <typename Use>
  void with_chooser(const Use& use) {
    const int worker = starpu_worker_get_id();
    if (worker >= 0 && worker < static_cast<int>(workers->count())) {
      use(*choosers_[static_cast<std::size_t>(worker)]);
      return;
    }
    const std::lock_guard lock(mutex_);
    use(*choosers_.back());
  }

  Messages messages;
  const std::shared_ptr<const Workers> workers;
  // Null if no log is wanted.
  std::unique_ptr<RunLog> log;
  CodeletCopies copies;

 private:
  // Compiles and binds the mapping. Prints its warnings, and ends the process if it has errors.
  void compile_program(const std::string& value) {
    Diagnostics diags(mapping_source(value));
    name_ = diags.source().name();
    const Program program = compile(diags.source(), diags);
    std::optional<BoundProgram> bound;
    if (!diags.has_errors()) bound = bind(program, *workers->machine(), diags, &messages);
    for (const Diagnostic& each : diags.sorted()) {
      // Notes are printed only by `groma check`.
      if (each.severity == Severity::kNote) continue;
      messages.log(LogLevel::kWarning, render(diags.source(), each));
    }
    if (!bound) refuse("`" + name_ + "` has errors");
    shared_ = ProgramMapper::share(*std::move(bound), &messages);
  }

  LaunchRules rules_;
  std::string name_;
  std::shared_ptr<ProgramMapper::Shared> shared_;
  // One for each worker, then one for all other threads, with its mutex.
  std::vector<std::unique_ptr<TaskChooser>> choosers_;
  std::mutex mutex_;
};

// ---- A scheduling context

// The queues of a scheduling context of StarPU.
struct Context {
  // Keeps the mapping as long as a context uses it.
  std::shared_ptr<Mapping> mapping;
  Members members{};
  std::atomic<std::size_t> member_count = 0;
  // Tasks for one worker.
  std::array<ReadyQueue, STARPU_NMAXWORKERS> own;
  // Tasks that any worker of a kind may run.
  std::array<ReadyQueue, kProcKindCount> common;
  // The tasks of each worker's queue, with the one that runs.
  std::array<std::atomic<int>, STARPU_NMAXWORKERS> load{};
};

Context& context_of(unsigned id) {
  return *static_cast<Context*>(starpu_sched_ctx_get_policy_data(id));
}

// Returns the mapping of this process, which is made when its first context is.
std::shared_ptr<Mapping> mapping_of_process() {
  static std::mutex mutex;
  static std::weak_ptr<Mapping> known;
  const std::lock_guard lock(mutex);
  auto mapping = known.lock();
  if (mapping == nullptr) known = mapping = std::make_shared<Mapping>();
  return mapping;
}

void init_context(unsigned id) {
  auto context = std::make_unique<Context>();
  context->mapping = mapping_of_process();
  // A program may use any priority.
  if (starpu_sched_ctx_min_priority_is_set(id) == 0) starpu_sched_ctx_set_min_priority(id, INT_MIN);
  if (starpu_sched_ctx_max_priority_is_set(id) == 0) starpu_sched_ctx_set_max_priority(id, INT_MAX);
  starpu_sched_ctx_set_policy_data(id, context.release());
}

void deinit_context(unsigned id) {
  delete &context_of(id);
  starpu_sched_ctx_set_policy_data(id, nullptr);
}

// ---- Tasks

// Returns the worker with the fewest tasks.
WorkerId least_loaded(const Context& context, const std::vector<WorkerId>& workers) {
  return *std::min_element(workers.begin(), workers.end(), [&](WorkerId a, WorkerId b) {
    return context.load[static_cast<std::size_t>(a)].load(std::memory_order_relaxed) <
           context.load[static_cast<std::size_t>(b)].load(std::memory_order_relaxed);
  });
}

// Wakes a worker for a task. Returns true if no other worker has to be woken. Workers of a StarPU
// with non-blocking drivers do not sleep but look for tasks all the time, so none is woken.
bool wake(WorkerId worker) {
#if !defined(STARPU_NON_BLOCKING_DRIVERS) || defined(STARPU_SIMGRID)
  return starpu_wake_worker_relax_light(worker) != 0;
#else
  static_cast<void>(worker);
  return true;
#endif
}

void push_to_worker(Context& context, starpu_task* task, WorkerId worker, std::int64_t priority) {
  if (starpu_get_prefetch_flag() != 0 && starpu_memory_nodes_get_count() > 1) {
    starpu_prefetch_task_input_for(task, static_cast<unsigned>(worker));
  }
  context.load[static_cast<std::size_t>(worker)].fetch_add(1, std::memory_order_relaxed);
  // From here on a worker may run and destroy the task.
  context.own[static_cast<std::size_t>(worker)].push(task, priority);
  wake(worker);
}

void push_to_kind(Context& context, starpu_task* task, ProcKind kind, std::int64_t priority) {
  context.common[static_cast<std::size_t>(kind)].push(task, priority);
  for (WorkerId worker : context.mapping->workers->workers_of(kind)) {
    if (wake(worker)) return;
  }
}

int push_task(starpu_task* task) {
  Context& context = context_of(task->sched_ctx);
  Mapping& mapping = *context.mapping;
  WorkerId worker = -1;
  ProcKind kind = ProcKind::kCpu;
  std::int64_t priority = task->priority;
  mapping.with_chooser([&](TaskChooser& chooser) {
    const Choice& choice = chooser.choose(task, context.members,
                                          context.member_count.load() == mapping.workers->count());
    if (choice.workers.empty()) {
      refuse(fmt::format("no worker of the scheduling context can run `{}`", choice.name));
    }
    priority += choice.priority;
    if (choice.whole_kind) {
      kind = mapping.workers->processor(choice.workers.front())->kind;
    } else {
      worker = least_loaded(context, choice.workers);
    }
    if (starpu_codelet* const codelet = mapping.copies.codelet_for(task->cl, choice.nodes)) {
      task->cl = codelet;
    } else {
      mapping.messages.warn(fmt::format(
          "`{}` keeps the memory nodes of its codelet, against its Region statement", choice.name));
    }
    if (mapping.log != nullptr) mapping.log->note_choice(task, choice, chooser.mapper());
  });
  if (worker >= 0) {
    push_to_worker(context, task, worker, priority);
  } else {
    push_to_kind(context, task, kind, priority);
  }
  return 0;
}

// Gives a worker its next task: the first of the highest priority in its own queue and in the one
// of its kind.
starpu_task* pop_task(unsigned id) {
  const int worker = starpu_worker_get_id();
  Context& context = context_of(id);
  ReadyQueue& own = context.own[static_cast<std::size_t>(worker)];
  const auto& processor = context.mapping->workers->processor(worker);
  starpu_task* task = nullptr;
  if (processor) {
    ReadyQueue& common = context.common[static_cast<std::size_t>(processor->kind)];
    if (common.top() > own.top() && (task = common.pop()) != nullptr) {
      context.load[static_cast<std::size_t>(worker)].fetch_add(1, std::memory_order_relaxed);
    }
  }
  if (task == nullptr) task = own.pop();
  if (task == nullptr) return nullptr;
  unsigned implementation = 0;
  starpu_worker_can_execute_task_first_impl(static_cast<unsigned>(worker), task, &implementation);
  starpu_task_set_implementation(task, implementation);
  return task;
}

void before_task(starpu_task* task, unsigned id) {
  RunLog* const log = context_of(id).mapping->log.get();
  if (log != nullptr) log->note_start(task, starpu_worker_get_id());
}

void after_task(starpu_task* task, unsigned id) {
  // A task that the program put on a worker itself never was in a queue.
  if (task->execute_on_a_specific_worker != 0) return;
  const int worker = starpu_worker_get_id();
  context_of(id).load[static_cast<std::size_t>(worker)].fetch_sub(1, std::memory_order_relaxed);
}

// ---- Workers

void add_workers(unsigned id, int* workers, unsigned count) {
  Context& context = context_of(id);
  for (unsigned i = 0; i < count; ++i) {
    if (context.members[static_cast<std::size_t>(workers[i])].exchange(true)) continue;
    context.member_count.fetch_add(1);
    starpu_sched_ctx_worker_shares_tasks_lists(workers[i], static_cast<int>(id));
  }
}

// Takes workers out of a context. The tasks that waited for them are pushed again, to the other
// workers.
void remove_workers(unsigned id, int* workers, unsigned count) {
  Context& context = context_of(id);
  for (unsigned i = 0; i < count; ++i) {
    if (context.members[static_cast<std::size_t>(workers[i])].exchange(false)) {
      context.member_count.fetch_sub(1);
    }
  }
  if (context.member_count.load() == 0) return;
  for (unsigned i = 0; i < count; ++i) {
    const auto worker = static_cast<std::size_t>(workers[i]);
    while (starpu_task* const task = context.own[worker].pop()) {
      context.load[worker].fetch_sub(1, std::memory_order_relaxed);
      push_task(task);
    }
  }
  // If no worker of a kind is left, none looks at the queue of the kind any more.
  for (std::size_t kind = 0; kind < context.common.size(); ++kind) {
    const auto& of_kind = context.mapping->workers->workers_of(static_cast<ProcKind>(kind));
    const bool any = std::any_of(of_kind.begin(), of_kind.end(), [&](WorkerId worker) {
      return context.members[static_cast<std::size_t>(worker)].load();
    });
    if (any) continue;
    while (starpu_task* const task = context.common[kind].pop()) push_task(task);
  }
}

}  // namespace
}  // namespace groma::starpu

extern "C" starpu_sched_policy* groma_starpu_policy(void) {
  static starpu_sched_policy policy = [] {
    starpu_sched_policy made{};
    made.init_sched = groma::starpu::init_context;
    made.deinit_sched = groma::starpu::deinit_context;
    made.push_task = groma::starpu::push_task;
    made.pop_task = groma::starpu::pop_task;
    made.pre_exec_hook = groma::starpu::before_task;
    made.post_exec_hook = groma::starpu::after_task;
    made.add_workers = groma::starpu::add_workers;
    made.remove_workers = groma::starpu::remove_workers;
    made.policy_name = groma::starpu::kPolicyName.data();
    made.policy_description = "tasks and data go where a mapping of Groma says";
    made.worker_type = STARPU_WORKER_LIST;
    return made;
  }();
  return &policy;
}
