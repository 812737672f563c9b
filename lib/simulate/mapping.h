// Mapping: the part of a runtime that maps tasks. It calls the hooks, checks the answers, chooses
// memories and takes instances. It does not depend on time. Engine runs it in simulated time,
// Rehearsal without time.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/budget.h"
#include "groma/sharding.h"
#include "groma/simulate.h"
#include "simulate/links.h"
#include "simulate/ops.h"
#include "simulate/spaces.h"
#include "simulate/store.h"
#include "simulate/valid_data.h"
#include "simulate/views.h"

namespace groma::sim {

// Limit on the statements of a run that launch nothing, so that long empty loops end.
inline constexpr std::uint64_t kMaxStatements = std::uint64_t{1} << 26;
inline constexpr int kMaxTaskDepth = 64;  // nesting of tasks that launch tasks
// Limit on unfinished tasks; it bounds their memory.
inline constexpr std::int64_t kMaxLive = std::int64_t{1} << 23;
// Unfinished tasks that launch; bounds their memory.
inline constexpr std::int64_t kMaxContexts = std::int64_t{1} << 18;

// Returns about how many bytes a run needs for its machine, whatever is run there: for each node,
// processor and memory, with their places in the record of the run.
std::int64_t machine_bytes(const Machine& machine);

// Returns why a run that needs `bytes` for its application cannot have this machine, or an empty
// string: the run would need more than `max_bytes`, or the machine has too many processors or
// memories to number them. Ask before a Mapping is made, which takes the memory.
std::string why_too_large(const Machine& machine, std::int64_t bytes, std::int64_t max_bytes);

struct Context;

// The moment since when only the runtime delayed a launching task: the end (or start) of an event.
struct Since {
  std::int64_t event = -1;
  bool start = false;
};

// The common data of the tasks of one launch.
struct LaunchRun {
  std::uint32_t number = 0;  // number within the run, from 1
  Rect domain;               // for an index launch
  RunTime created = 0;
  bool valid_instances = false;
};

// A task, or a point of a launch, from its launch to its end. It is kept small, since millions of
// them may wait.
struct TaskRun {
  const app::Launch* launch = nullptr;  // null: the top-level task, which has no LaunchRun
  std::shared_ptr<const LaunchRun> of;
  Context* parent = nullptr;  // the task that launched it
  Point point;
  std::vector<std::int64_t> arguments;
  std::vector<const Piece*> pieces;       // for each requirement; null: not described
  std::vector<InstanceNumber> instances;  // for each requirement
  Processor processor;                    // where the task is held, and later where it runs
  const app::Variant* variant = nullptr;
  std::unique_ptr<Context> context;  // set while it launches tasks or waits for them
  RunTime mapping = 0;               // start of its mapping; a lower bound until that is known
  RunTime mapped = 0, ready = 0, start = 0;
  std::int64_t cause = -1, record = -1;
  std::int32_t number = -1;  // number of the processor
  std::uint32_t task = 0;
  VariantId shard_variant = 0;  // the task is replicated with this variant; 0: not replicated
  Op op = kBeginning;
  int priority = 0;
  // One bit for each kind of memory near its processor on which it works.
  std::uint16_t streams = 0;
  ProfilingWish profiling;
  bool stealable = false;  // while it waits to be mapped
  bool ended = false;      // the task itself has ended; tasks that it launched may still run

  void clear();  // prepares it for another task; keeps its buffers
};

// A task while it launches other tasks.
struct Context {
  TaskRun* run = nullptr;
  TaskView view;  // the view of `run`, for its launches
  std::vector<RequirementView> requirements;
  std::vector<std::int64_t> frame;
  ShardTable shards;          // more than one: the task is replicated
  std::vector<Op> ancestors;  // ops of the task and of its ancestors

  // The current position: bodies within bodies.
  struct Place {
    const app::Body* body = nullptr;
    std::size_t next = 0;
    const app::Loop* loop = nullptr;
    std::int64_t iteration = 0, count = 0;
    int phase = -1;
    RunTime phase_start = 0;
  };
  std::vector<Place> places;
  int replaying = 0;  // enclosing traced loops that are past their first iteration
  std::vector<Op> futures;

  std::int64_t bytes = 0;        // memory of the context, with what it refers to, at its beginning
  std::int64_t outstanding = 0;  // launched tasks that are not finished
  // Launched tasks that are not mapped together with everything that they launch.
  std::int64_t unmapped = 0;
  bool issued = false;  // all launches were issued
  bool told = false;    // the parent was told that everything is mapped
  // Launches of tasks that launch tasks themselves and are not completely mapped.
  std::vector<std::pair<const app::Launch*, std::int64_t>> inner;
  std::int64_t mapping = 0;  // tasks of the current launch that are not mapped yet
  RunTime stage_end = 0;
  Since since;
  // Record of the last event that ended: the task itself or a task that it launched.
  std::int64_t last_over = -1;
  enum class Blocked : std::uint8_t {
    kNo,
    kAll,
    kFuture,
    kConflict,
    kMapping
  } blocked = Blocked::kNo;
  Op awaited = kBeginning;
};

// The common base of Engine and Rehearsal.
class Mapping : public MapperRuntime {
 public:
  // ---- Calls for mappers (MapperRuntime)
  std::optional<FoundInstance> find_instance(const InstanceRequest& request) override;
  std::optional<FoundInstance> create_instance(const InstanceRequest& request) override;
  bool acquire_instance(InstanceId instance) override;
  void release_instance(InstanceId instance) override;
  bool collect_instance(InstanceId instance) override;
  void set_collect_priority(InstanceId instance, CollectPriority priority) override;
  std::int64_t free_bytes(const Memory& memory) override;
  std::span<const VariantView> variants(TaskId task) override;
  std::string_view task_name(TaskId task) override;

 protected:
  Mapping(const app::Data& data, const Spaces& spaces, std::shared_ptr<const Machine> machine,
          const MapperFactory& make, std::int64_t max_bytes);
  ~Mapping() override;

  // The following functions return true on success. On failure they have called refuse().

  // Decides where the top-level task starts.
  bool place_top(TaskRun& run);
  // Opens `context` for a task that is about to launch.
  bool open(Context& context, TaskRun& run);
  // Computes the number of iterations of a loop.
  bool count(const Context& context, const app::Loop& loop, std::int64_t& count);
  // Computes the domain of a launch; an empty one for a single task.
  bool domain_of(const Context& context, const app::Launch& launch, Rect& domain);
  // Asks how the launch starts and how it is sliced. Sets task_options_ and slices_. Not for a
  // launch without points.
  bool start_launch(Context& context, const app::Launch& launch, const Rect& domain);
  // Makes one point of the launch, which lies in `slice`. Sets everything that `run` has before it
  // is mapped, except its op.
  bool place(TaskRun& run, Context& context, const app::Launch& launch,
             const std::shared_ptr<const LaunchRun>& of, const TaskSlice& slice,
             const Point& point);
  TaskView view_of(TaskRun& run, std::vector<RequirementView>& requirements);
  // While this object lives, a task is being mapped: instances that the hooks find, make or acquire
  // stay.
  class Holding {
   public:
    explicit Holding(Mapping& mapping) : mapping_(mapping) { mapping_.holds_ = true; }
    ~Holding() {
      mapping_.let_go();
      mapping_.holds_ = false;
    }
    Holding(const Holding&) = delete;
    Holding& operator=(const Holding&) = delete;

   private:
    Mapping& mapping_;
  };
  // Calls map_task of that mapper. Sets wish_ to an answer that can be carried out. Instances that
  // were held before are released.
  bool ask(TaskRun& run, const TaskView& view, Mapper& mapper);
  // Sets the members of `run` according to wish_, for that one of its processors.
  void take(TaskRun& run, const Processor& processor);
  // Returns the query for the instance that a candidate of a wish describes, or nullopt if it is
  // impossible.
  std::optional<InstanceQuery> query(const TaskRun& run, const RequirementView& requirement,
                                     const RequirementWish& wish, const InstanceWish& candidate,
                                     std::uint32_t position) const;
  // Takes an instance for a requirement. Sets run.instances, and adds the necessary copies to
  // fetches_.
  bool map_requirement(TaskRun& run, const TaskView& view, const RequirementWish& wish,
                       std::uint32_t position);
  std::uint64_t groups_of(const TaskRun& run, std::uint32_t position) const;
  // Tells the mappers about collected instances. Must not be called within a hook.
  void tell_collected();
  Refusal no_route(const Instance& from, const Instance& to) const;
  // Ends the run because of a fault in the task's variant. Does nothing for kNone.
  void fail_formula(const TaskRun& run, app::FormulaFault fault);

  Mapper& mapper(std::int32_t processor);
  // Returns the mapper for hooks that are not about an operation, in which no instance can be made.
  Mapper& scheduler(std::int32_t processor);
  bool has_variant(std::uint32_t task, ProcKind kind) const;
  std::int32_t number_of(const Processor& processor) const;
  std::int32_t number_of(const Memory& memory) const;  // -1: none, or an empty one
  const app::Where& where_of(const TaskRun& run, std::size_t requirement) const {
    return app::where_of(data_.tasks[run.task], run.launch, requirement);
  }
  // Checks an answer about that task from the mapper that was asked last. Returns false if the run
  // is over.
  bool accepts(std::vector<Refusal> refusals, const TaskView& task, const TaskWish* wish = nullptr);
  // Called when a mapper has asked for an instance; nullopt: there was no room.
  virtual void made_by_mapper(const InstanceQuery&, std::optional<InstanceNumber>) {}
  // Returns the approximate memory of the run.
  virtual std::int64_t bytes() const;
  // Returns true if the run must end for a reason other than memory.
  virtual bool stops() = 0;
  // Returns true if the run may go on with `more` additional bytes: the memory is within the limit,
  // and nothing ends the run. `task` is used in the message.
  bool within_limits(std::uint32_t task, std::int64_t more = 0);
  // Ends the run because it needs more memory than allowed. Returns false.
  bool fail_of_memory(std::string_view task);
  // Counts work. Returns false if a limit has ended the run.
  bool spend(std::int64_t units);
  // Ends the run with these refusals, or, if the budget is exceeded, for that reason. Returns true
  // if the refusals are now those of the run.
  bool refuse(RunStatus status, std::vector<Refusal> refusals, std::string raw);
  // Ends the run with an error. Returns false. `place`: the faulty part of the application.
  bool fail(std::string_view task, const std::string& why, std::string_view place = {},
            RunStatus status = RunStatus::kExecuteError);
  // Adds the launch to the refusals, and the point too unless `run` is null. Returns false.
  bool noted(const app::Launch* launch, const TaskRun* run);

  const app::Data& data_;
  const Spaces& spaces_;
  std::shared_ptr<const Machine> machine_;
  const MapperFactory& make_;
  std::int64_t max_bytes_, given_bytes_;  // given_bytes_: of the application and the machine
  Memories memories_;
  Ops ops_;
  Budget budget_;
  Store store_;
  ValidData valid_data_;
  Views views_;
  std::vector<Processor> processors_;
  Processor speaking_;          // the processor whose mapper is being asked
  std::uint32_t launches_ = 0;  // number of launches in the run
  RunResult result_;
  bool over_ = false;
  std::int64_t changes_ = 0;  // instances that mappers' calls made, collected or gave a priority
  // Mappers asked for instances, so that answers may depend on the existing instances.
  bool asked_instances_ = false;

  // Members that hold the last answers, kept to reuse their memory.
  TaskWish wish_;
  TaskOptions task_options_;
  TaskSlices slices_;
  std::vector<Fetch> fetches_;

 private:
  void end_by_budget();
  bool find_pieces(TaskRun& run);
  bool keeps_apart(const TaskRun& run);
  bool cut(const Context& context, const TaskView& view, const Rect& domain, TaskSlices& slices);
  const Piece* shape_of(const RequirementWish& wish, const InstanceWish& candidate,
                        const TaskRun& run, std::uint32_t position) const;
  void refuse_point(TaskRun& run, const TaskView& view, std::uint32_t position);
  void refuse_memory(const TaskRun& run, const TaskView& view, std::uint32_t position,
                     const std::string& tried, const std::optional<InstanceQuery>& full,
                     Origin origin);
  InstanceView instance_view(InstanceNumber number);
  std::optional<InstanceQuery> query(const InstanceRequest& request);
  std::optional<FoundInstance> hand_out(std::optional<InstanceNumber> number, bool created);
  bool is_alive(InstanceId instance);
  void hold(InstanceNumber number);
  void let_go();
  bool check_named(const TaskRun& run, const TaskView& view);
  bool check_named(const TaskRun& run, const TaskView& view, std::uint32_t position);
  Use use_of(const TaskRun& run, const TaskView& view, std::uint32_t position) const;
  bool hand_on(TaskRun& run, const TaskView& view, std::uint32_t position);
  bool use_instance(TaskRun& run, const TaskView& view, const RequirementWish& wish,
                    std::uint32_t position, InstanceNumber number);
  void rank(const TaskView& view, InstanceNumber target, std::vector<InstanceNumber>& sources);

  std::vector<std::unique_ptr<Mapper>> mappers_;                           // by processor
  std::vector<std::array<std::int32_t, kProcKindCount>> first_processor_;  // by node, by kind
  ShardTable top_shards_;  // shards of the top-level task, if it is replicated
  std::int64_t pieces_to_look_at_ = std::int64_t{1} << 16;  // limit for finding conflicting points
  std::vector<RequirementView> launch_views_;
  std::vector<std::span<const InstanceView>> valid_;
  std::vector<std::vector<InstanceView>> valid_kept_;
  std::vector<InstanceView> source_views_;
  std::vector<std::uint32_t> source_ranks_;
  std::vector<InstanceNumber> ranked_;

  // Instances that mappers request themselves.
  bool holds_ = false;          // a task is being mapped
  bool for_operation_ = false;  // the hook is about an operation
  std::vector<InstanceNumber> held_;
  std::deque<Piece> shapes_;  // shapes of instances of several regions
  std::int64_t shape_bytes_ = 0;
  Piece shape_;  // shape of the current request
  // Processors whose mappers know the instance.
  std::unordered_map<InstanceNumber, std::vector<std::int32_t>> given_;
  // The processor to tell, and the instance.
  std::vector<std::pair<std::int32_t, InstanceNumber>> collected_;
  // Fields of groups.
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::vector<FieldId>> fields_;
  TaskWish named_;  // wish_ with named instances as if they were requested
};

}  // namespace groma::sim
