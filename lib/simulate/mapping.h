// Mapping: what a runtime does to map tasks, whatever the time: it asks the hooks, looks at their
// answers, chooses memories and takes instances. Engine runs it in simulated time, Rehearsal
// without.
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
#include "simulate/views.h"

namespace groma::sim {

// Statements of a run that launch nothing, so that empty loops end.
inline constexpr std::uint64_t kMaxStatements = std::uint64_t{1} << 26;
inline constexpr int kMaxTaskDepth = 64;                             // of tasks in tasks
inline constexpr std::int64_t kMaxLive = std::int64_t{1} << 23;      // tasks, for their memory
inline constexpr std::int64_t kMaxContexts = std::int64_t{1} << 18;  // the same

struct Context;

// From when on only the runtime kept a task back that launches: the end (or start) of an event.
struct Since {
  std::int64_t event = -1;
  bool start = false;
};

// What the tasks of one launch have in common.
struct LaunchRun {
  std::uint32_t number = 0;  // of the run, from 1
  Rect domain;               // of an index launch
  RunTime created = 0;
  bool valid_instances = false;
};

// A task, or a point of a launch, from its launch to its end. Millions may wait: kept small.
struct TaskRun {
  const app::Launch* launch = nullptr;  // null: the top-level task, which is of no LaunchRun
  std::shared_ptr<const LaunchRun> of;
  Context* parent = nullptr;  // that launched it
  Point point;
  std::vector<std::int64_t> arguments;
  std::vector<const Piece*> pieces;       // of each requirement; null: not described
  std::vector<InstanceNumber> instances;  // of each requirement
  Processor processor;                    // where it stands, then where it runs
  const app::Variant* variant = nullptr;
  std::unique_ptr<Context> context;  // while it launches and waits for what it launched
  RunTime mapping = 0;               // begins then; until it is known, not before
  RunTime mapped = 0, ready = 0, start = 0;
  std::int64_t cause = -1, record = -1;
  std::int32_t number = -1;  // of the processor
  std::uint32_t task = 0;
  VariantId shard_variant = 0;  // replicated as it; 0: not
  Op op = kBeginning;
  int priority = 0;
  std::uint16_t streams = 0;  // a bit for each kind of memory near its processor that it works on
  ProfilingWish profiling;
  bool stealable = false;  // while it waits to be mapped
  bool ended = false;      // itself; not what it launched

  void clear();  // for another task, its buffers kept
};

// A task while it launches.
struct Context {
  TaskRun* run = nullptr;
  TaskView view;  // of `run`, for what it launches
  std::vector<RequirementView> requirements;
  std::vector<std::int64_t> frame;
  ShardTable shards;          // more than one: replicated
  std::vector<Op> ancestors;  // its own and its parents'

  // Where it is: bodies within bodies.
  struct Place {
    const app::Body* body = nullptr;
    std::size_t next = 0;
    const app::Loop* loop = nullptr;
    std::int64_t iteration = 0, count = 0;
    int phase = -1;
    RunTime phase_start = 0;
  };
  std::vector<Place> places;
  int replaying = 0;  // traced loops around, past their first iteration
  std::vector<Op> futures;

  std::int64_t bytes = 0;        // of memory, with what it refers to, when it began
  std::int64_t outstanding = 0;  // launched, not over
  std::int64_t unmapped = 0;     // launched, not mapped with all that they launch
  bool issued = false;           // all
  bool told = false;             // its parent, that it is mapped to the end
  // Launches not mapped to the end, since they launch themselves.
  std::vector<std::pair<const app::Launch*, std::int64_t>> inner;
  std::int64_t mapping = 0;  // tasks of the launch at hand that are not mapped yet
  RunTime stage_end = 0;
  Since since;
  std::int64_t last_over = -1;  // record of what ended last: itself, or of what it launched
  enum class Blocked : std::uint8_t {
    kNo,
    kAll,
    kFuture,
    kConflict,
    kMapping
  } blocked = Blocked::kNo;
  Op awaited = kBeginning;
};

class Mapping : public MapperRuntime {
 public:
  // ---- What mappers are offered
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

  // All of these say whether it went well. Where not, refuse() was told.

  // Where the top-level task starts.
  bool place_top(TaskRun& run);
  // `context`, of a task that is about to launch.
  bool open(Context& context, TaskRun& run);
  // How often a loop goes round.
  bool count(const Context& context, const app::Loop& loop, std::int64_t& count);
  // The domain of a launch; none of a single task.
  bool domain_of(const Context& context, const app::Launch& launch, Rect& domain);
  // Asks how it starts and how it is cut: task_options_, slices_. Not of a launch without points.
  bool start_launch(Context& context, const app::Launch& launch, const Rect& domain);
  // One point of it, in that slice: all of `run` until it is mapped but its op.
  bool place(TaskRun& run, Context& context, const app::Launch& launch,
             const std::shared_ptr<const LaunchRun>& of, const TaskSlice& slice,
             const Point& point);
  TaskView view_of(TaskRun& run, std::vector<RequirementView>& requirements);
  // While a task is mapped: what the hooks find, make or acquire stays as long as this lives.
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
  // map_task, of that mapper: wish_, which can be carried out. What it held before is let go.
  bool ask(TaskRun& run, const TaskView& view, Mapper& mapper);
  // What the run is by wish_ on that of its processors.
  void take(TaskRun& run, const Processor& processor);
  // The instance that a candidate of a wish comes to; nothing where it cannot be had.
  std::optional<InstanceQuery> query(const TaskRun& run, const RequirementView& requirement,
                                     const RequirementWish& wish, const InstanceWish& candidate,
                                     std::uint32_t position) const;
  // Takes an instance for it: run.instances, and fetches_ for what has to be copied before.
  bool map_requirement(TaskRun& run, const TaskView& view, const RequirementWish& wish,
                       std::uint32_t position);
  std::uint64_t groups_of(const TaskRun& run, std::uint32_t position) const;
  // Tells the mappers of instances that are gone. Not within a hook.
  void tell_collected();
  Refusal no_route(const Instance& from, const Instance& to) const;
  void fail_formula(const TaskRun& run, app::FormulaFault fault);  // of its variant; kNone: nothing

  Mapper& mapper(std::int32_t processor);
  // For hooks that are about no operation, in which no instance can be made.
  Mapper& scheduler(std::int32_t processor);
  bool has_variant(std::uint32_t task, ProcKind kind) const;
  std::int32_t number_of(const Processor& processor) const;
  std::int32_t number_of(const Memory& memory) const;  // -1: none, or an empty one
  const app::Where& where_of(const TaskRun& run, std::size_t requirement) const {
    return app::where_of(data_.tasks[run.task], run.launch, requirement);
  }
  // An answer about that task, of the mapper that was asked last. False: the run is over.
  bool accepts(std::vector<Refusal> refusals, const TaskView& task, const TaskWish* wish = nullptr);
  // A mapper asked for an instance; nothing: there was no room.
  virtual void made_by_mapper(const InstanceQuery&, std::optional<InstanceNumber>) {}
  // Of the run's memory, about.
  virtual std::int64_t bytes() const;
  // Whether the run is to be ended, beside what its memory says.
  virtual bool stops() = 0;
  // Whether that task may go on: the run's memory, with so many more bytes, is not too much, and
  // nothing ends it.
  bool within_limits(std::uint32_t task, std::int64_t more = 0);
  // Ends the run because it needs more memory than it may have. Returns false.
  bool fail_of_memory(std::string_view task);
  // Counts work. False: the run is over, as its limits have it.
  bool spend(std::int64_t units);
  // Ends the run with these refusals; where the budget is exceeded, for that.
  void refuse(RunStatus status, std::vector<Refusal> refusals, std::string raw);
  // False. `place`: of the application that says what is at fault.
  bool fail(std::string_view task, const std::string& why, std::string_view place = {},
            RunStatus status = RunStatus::kExecuteError);
  // Adds to what was refused which launch it was, and which point of it unless `run` is null;
  // false.
  bool noted(const app::Launch* launch, const TaskRun* run);

  const app::Data& data_;
  const Spaces& spaces_;
  std::shared_ptr<const Machine> machine_;
  const MapperFactory& make_;
  std::int64_t max_bytes_, space_bytes_;
  Memories memories_;
  Ops ops_;
  Budget budget_;
  Store store_;
  Views views_;
  std::vector<Processor> processors_;
  Processor speaking_;          // whose mapper is being asked
  std::uint32_t launches_ = 0;  // of the run
  RunResult result_;
  bool over_ = false;
  std::int64_t changes_ = 0;  // by mappers' calls: instances made, collected or given a priority
  bool asked_instances_ = false;  // mappers did, so that answers may depend on what is there

  // Kept for their memory, as what was answered last.
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
  ShardTable top_shards_;  // of the top-level task, where it is replicated
  std::int64_t pieces_to_look_at_ = std::int64_t{1} << 16;  // for points in each other's way
  std::vector<RequirementView> launch_views_;
  std::vector<std::span<const InstanceView>> valid_;
  std::vector<std::vector<InstanceView>> valid_kept_;
  std::vector<InstanceView> source_views_;
  std::vector<std::uint32_t> source_ranks_;
  std::vector<InstanceNumber> ranked_;

  // Instances that mappers ask for by themselves.
  bool holds_ = false;          // a task is being mapped
  bool for_operation_ = false;  // the hook is about one
  std::vector<InstanceNumber> held_;
  std::deque<Piece> shapes_;  // of instances of several regions
  std::int64_t shape_bytes_ = 0;
  Piece shape_;                                                          // that is asked for
  std::unordered_map<InstanceNumber, std::vector<std::int32_t>> given_;  // to whose mappers
  std::vector<std::pair<std::int32_t, InstanceNumber>> collected_;       // whom to tell of what
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::vector<FieldId>> fields_;  // of groups
  TaskWish named_;  // wish_ with named instances as if they were wished for
};

}  // namespace groma::sim
