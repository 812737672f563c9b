// Engine: one run. Events in the order of their time drive it: tasks that launch go on, copies and
// tasks end. engine.cc has the loop and what runs, contexts.cc what tasks launch, mapping.cc how it
// gets mapped.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <queue>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "groma/sharding.h"
#include "groma/simulate.h"
#include "simulate/links.h"
#include "simulate/ops.h"
#include "simulate/spaces.h"
#include "simulate/store.h"
#include "simulate/views.h"

namespace groma::sim {

struct Context;

// From when on only the runtime kept a task back that launches: the end (or start) of an event.
struct Since {
  std::int64_t event = -1;
  bool start = false;
};

// A task, or a point of a launch, from its launch to its end.
struct TaskRun {
  const app::Launch* launch = nullptr;  // null: the top-level task
  std::uint32_t launch_number = 0;      // of the run
  std::uint32_t task = 0;
  Context* parent = nullptr;  // that launched it
  Point point;
  Rect domain;  // of its index launch
  std::vector<std::int64_t> arguments;
  std::vector<std::int64_t> colors;  // of each requirement on a partition
  std::vector<const Piece*> pieces;  // of each requirement; null: not described
  Processor processor;               // where it stands, then where it runs
  std::int32_t number = -1;          // of that
  const app::Variant* variant = nullptr;
  VariantId shard_variant = 0;            // replicated as it; 0: not
  std::vector<InstanceNumber> instances;  // of each requirement
  Op op = kBeginning;
  int priority = 0;
  ProfilingWish profiling;
  bool valid_instances = false;
  std::unique_ptr<Context> context;  // while it launches and waits for what it launched
  bool ended = false;                // itself; not what it launched
  RunTime created = 0, mapping = 0, mapped = 0, ready = 0, start = 0;
  std::int64_t cause = -1, record = -1;
  std::vector<std::int32_t> streams;  // memories that it works on
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

class Engine final : public MapperRuntime {
 public:
  Engine(const app::Data& data, const Spaces& spaces, std::shared_ptr<const Machine> machine,
         const MapperFactory& make, const SimulateOptions& options);
  ~Engine() override;

  RunResult run();

  // ---- What mappers are offered
  Capabilities capabilities() const override;
  std::int64_t free_bytes(const Memory& memory) override;
  std::span<const VariantView> variants(TaskId task) override;
  std::string_view task_name(TaskId task) override;
  MapperEvent create_event() override;
  void trigger_event(MapperEvent event) override;
  bool send_message(const Processor& target, std::uint32_t kind,
                    std::span<const std::byte> message) override;
  bool broadcast(std::uint32_t kind, std::span<const std::byte> message) override;

 private:
  struct Event {
    enum class Kind : std::uint8_t { kStep, kReady, kTaskEnd, kCopyEnd, kSelect, kMessage };
    RunTime time;
    std::uint64_t order;
    Kind kind;
    void* subject;    // a Context, TaskRun
    std::int64_t id;  // an op, a processor, a message
    bool operator<(const Event& other) const {
      return time != other.time ? time > other.time : order > other.order;
    }
  };
  struct CopyRun {
    Fetch fetch;
    std::int32_t name = -1;  // the task that wants it
    RunTime mapped = 0, ready = 0, start = 0;
    std::int64_t cause = -1, record = -1;
    Since since;
  };
  struct Station {  // of a processor
    std::unique_ptr<Mapper> mapper;
    struct Waiting {
      int priority;
      std::uint64_t order;
      TaskRun* run;
      bool operator<(const Waiting& other) const {
        return priority != other.priority ? priority < other.priority : order > other.order;
      }
    };
    std::priority_queue<Waiting> ready;  // to run
    TaskRun* running = nullptr;
    std::int64_t load = 0;           // mapped to it, not over
    std::vector<TaskRun*> unmapped;  // that its mapper did not select yet
    std::int64_t last_record = -1;
  };
  struct OpUse {  // what an op is
    enum class Kind : std::uint8_t { kNone, kTask, kCopy, kJoin } kind = Kind::kNone;
    std::uint32_t copy = 0;
    TaskRun* run = nullptr;  // the task; of a future, who launched what gives it, and may be over
  };
  struct Message {
    Processor sender, target;
    std::uint32_t kind;
    std::vector<std::byte> bytes;
  };

  // ---- The loop (engine.cc)
  void push(RunTime time, Event::Kind kind, void* subject, std::int64_t id);
  void handle(const Event& event);
  void future_there(Op op, std::int64_t cause);
  void op_ready(Op op, std::int64_t cause);
  void drain();
  void complete(Op op, std::int64_t record);
  void start_copy(CopyRun& copy);
  void start_next(std::int32_t processor);
  void start(TaskRun& run);
  void end_task(TaskRun& run);
  void complete_run(TaskRun& run);
  double seconds_of(TaskRun& run);
  double layout_factor(const TaskRun& run, std::size_t requirement, const Instance& instance) const;
  double with_noise(double seconds);
  bool stopped();  // asked once for every event, statement and mapped task
  RunResult finish();

  // ---- Tasks that launch (contexts.cc)
  void begin_context(TaskRun& run);
  void step(Context& context);
  void wake(Context& context, RunTime time);
  bool enter(Context& context, const app::Statement& statement);
  bool leave(Context& context);
  bool all_over(Context& context);
  bool conflicts(const Context& context, const app::Launch& launch) const;
  void subtree_mapped(TaskRun& run, Since since);
  void tell_if_mapped(Context& context, Since since);
  void check_end(Context& context);

  // ---- Mapping (mapping.cc)
  bool launch_top();
  void launch(Context& context, const app::Launch& launch);
  bool cut(const Context& context, const TaskView& view, const Rect& domain,
           std::vector<TaskSlice>& slices);
  bool cut_part(const Processor& by, const TaskView& view, const Rect& part, int depth,
                std::vector<TaskSlice>& slices);
  bool place(TaskRun& run);
  TaskView view_of(TaskRun& run, std::vector<RequirementView>& requirements);
  void select(std::int32_t processor);
  bool map(TaskRun& run);
  bool map_requirement(TaskRun& run, const TaskView& view, const RequirementWish& wish,
                       std::uint32_t position);
  const Piece* shape_of(const RequirementWish& wish, const InstanceWish& candidate,
                        const TaskRun& run, std::uint32_t position) const;
  void after_mapping(TaskRun& run);
  TaskRun& new_run();
  void refuse_memory(const TaskRun& run, const TaskView& view, std::uint32_t position,
                     const std::string& tried, Origin origin);
  InstanceView instance_view(InstanceNumber number) const;
  void rank(const TaskView& view, InstanceNumber target, std::vector<InstanceNumber>& sources);

  Mapper& mapper(std::int32_t processor);
  std::int32_t number_of(const Processor& processor) const;
  RunTime& utility(std::int64_t node) { return utility_[static_cast<std::size_t>(node)]; }
  const app::Where& where_of(const TaskRun& run, std::size_t requirement) const {
    return app::where_of(data_.tasks[run.task], run.launch, requirement);
  }
  bool accepts(std::vector<Refusal> refusals);  // an answer; false: the run is over
  void refuse(RunStatus status, std::vector<Refusal> refusals, std::string raw);
  void fail(std::string_view task, const std::string& why);

  const app::Data& data_;
  const Spaces& spaces_;
  std::shared_ptr<const Machine> machine_;
  const MapperFactory& make_;
  const SimulateOptions& options_;
  Memories memories_;
  Links links_;
  Ops ops_;
  Store store_;
  Views views_;

  std::priority_queue<Event> events_;
  std::uint64_t order_ = 0;
  RunTime now_ = 0;
  std::vector<OpUse> uses_;  // by op
  std::vector<std::pair<Op, std::int64_t>> ready_;
  std::deque<TaskRun> runs_;
  std::vector<TaskRun*> free_runs_;
  std::deque<CopyRun> copies_;
  std::vector<std::uint32_t> free_copies_;
  std::vector<std::array<std::int32_t, kProcKindCount>> first_station_;  // by node, by kind
  std::vector<Station> stations_;
  std::vector<Processor> processors_;
  std::vector<RunTime> utility_;         // by node: when its runtime processor is free
  std::vector<std::int64_t> streaming_;  // by memory: tasks that work on it
  std::map<MapperEvent, std::vector<std::int32_t>> deferred_;  // processors to ask again
  MapperEvent last_event_ = 0;
  std::map<MapperEvent, bool> events_made_;
  std::vector<Message> messages_;
  Processor speaking_;          // whose mapper is being asked
  std::uint32_t launches_ = 0;  // of the run
  std::int64_t launched_ = 0;   // tasks
  std::int64_t live_ = 0;       // not over
  std::uint64_t statements_ = 0;
  ShardTable top_shards_;         // of the top-level task, where it is replicated
  std::int32_t full_memory_ = 0;  // that had no room last, for so many
  std::int64_t wanted_bytes_ = 0;
  std::vector<RunTime> phase_time_;
  RunResult result_;
  bool over_ = false;
  std::uint64_t draws_ = 0;
  std::uint64_t steps_ = 0;
  std::int64_t asked_in_vain_ = 0;  // about tasks that were not mapped, since one was
  std::int64_t contexts_ = 0;       // tasks that launch, not over
  std::shared_ptr<RunRecord> record_;

  // Kept for their memory.
  TaskWish wish_;
  TaskOptions task_options_;
  std::vector<TaskSlice> slices_;
  std::vector<Fetch> fetches_;
  std::vector<RequirementView> launch_views_, point_views_, report_views_;
  std::vector<TaskRun*> launched_runs_;
  std::vector<Rect> piece_boxes_;
  struct Load {  // on a memory, of the task that starts
    std::int32_t memory;
    double bytes;
  };
  std::vector<Load> loads_;
  std::vector<InstanceView> source_views_;
  std::vector<std::uint32_t> source_ranks_;
  std::vector<InstanceNumber> ranked_;
};

}  // namespace groma::sim
