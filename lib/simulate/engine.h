// Engine: one run. It processes events in the order of their time: tasks that launch go on, copies
// and tasks end. engine.cc has the loop and everything that runs, contexts.cc the launches of
// tasks, and launches.cc the time at which they are mapped. Mapping decides how they are mapped.
#pragma once

#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <queue>
#include <span>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <vector>

#include "simulate/heap.h"
#include "simulate/links.h"
#include "simulate/mapping.h"

namespace groma::sim {

// Limit on unfinished tasks that launch; it bounds their memory.
inline constexpr std::int64_t kMaxContexts = std::int64_t{1} << 18;

class Engine final : public Mapping {
 public:
  Engine(const app::Data& data, const Spaces& spaces, std::shared_ptr<const Machine> machine,
         const MapperFactory& make, const SimulateOptions& options);
  ~Engine() override;

  RunResult run();

  // ---- Calls for mappers (MapperRuntime)
  MapperEvent create_event() override;
  void trigger_event(MapperEvent event) override;
  bool send_message(const Processor& target, std::uint32_t kind,
                    std::span<const std::byte> message) override;
  bool broadcast(std::uint32_t kind, std::span<const std::byte> message) override;

 private:
  static constexpr int kKindBits = 3;
  struct Event {
    enum class Kind : std::uint8_t { kStep, kReady, kTaskEnd, kCopyEnd, kSelect, kSteal, kMessage };
    RunTime time;
    std::uint64_t order;  // the lowest kKindBits bits hold the kind
    union {
      void* subject;    // a Context or a TaskRun
      std::int64_t id;  // an op, a processor (kSteal: -1 for all), or a message
    };
    Kind kind() const { return static_cast<Kind>(order & ((1U << kKindBits) - 1)); }
    bool operator<(const Event& other) const {
      return time != other.time ? time < other.time : order < other.order;
    }
  };
  struct CopyRun {
    Fetch fetch;
    std::int32_t name = -1;  // the task that needs the copy
    RunTime mapped = 0, ready = 0, start = 0;
    std::int64_t cause = -1, record = -1;
    Since since;
  };
  // The tasks of one processor.
  struct Station {
    struct Waiting {
      int priority;
      std::uint64_t order;
      TaskRun* run;
      bool operator<(const Waiting& other) const {
        return priority != other.priority ? priority < other.priority : order > other.order;
      }
    };
    std::priority_queue<Waiting> ready;  // ready to run
    TaskRun* running = nullptr;
    std::int64_t load = 0;           // tasks that are mapped to it and not finished
    std::vector<TaskRun*> unmapped;  // tasks that its mapper has not selected yet
    std::int64_t last_record = -1;
  };
  // The meaning of an op.
  struct OpUse {
    enum class Kind : std::uint8_t { kNone, kTask, kCopy, kJoin } kind = Kind::kNone;
    std::uint32_t copy = 0;
    // The task. For a future: the task that launched the launch which gives it; this task may be
    // finished.
    TaskRun* run = nullptr;
  };
  struct Message {
    Processor sender, target;
    std::uint32_t kind;
    std::vector<std::byte> bytes;
  };

  std::int64_t bytes() const override;
  bool stops() override { return options_.stop && options_.stop(); }

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
  std::int32_t point_number(const Point& point);
  void end_task(TaskRun& run);
  void complete_run(TaskRun& run);
  double seconds_of(TaskRun& run);
  double layout_factor(const TaskRun& run, std::size_t requirement, const Instance& instance) const;
  double unforeseen_share(const TaskRun& run, std::size_t requirement,
                          const Instance& instance) const;
  bool loops_across(const TaskRun& run, std::size_t requirement, const Instance& instance) const;
  double with_noise(double seconds);
  // Appends to a list of the record. Ends the run if there is no memory left to grow the list.
  template <typename Entry>
  void record(std::vector<Entry>& list, const std::type_identity_t<Entry>& entry) {
    if (list.size() == list.capacity()) {
      // Both the old and the new array exist while the entries are moved.
      const std::int64_t room =
          (outcome_.max_bytes() - bytes()) / static_cast<std::int64_t>(sizeof(Entry));
      const auto size = static_cast<std::int64_t>(list.size());
      if (room <= size + size / 8)
        return static_cast<void>(outcome_.fail_of_memory(input_.data.name));
      list.reserve(static_cast<std::size_t>(std::min(room, std::max<std::int64_t>(64, 2 * size))));
    }
    list.push_back(entry);
  }
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

  // ---- The time of mapping (launches.cc)
  bool launch_top();
  void launch(Context& context, const app::Launch& launch);
  void select(std::int32_t processor);
  bool may_view(const std::vector<TaskRun*>& runs);
  std::vector<TaskView> views_of(std::span<TaskRun* const> runs,
                                 std::vector<std::vector<RequirementView>>& requirements);
  bool may_steal(ProcKind kind, const TaskRun& waits) const;
  bool is_idle(std::int32_t processor) const;
  void steal(std::int32_t thief);  // -1: all idle processors, one after the other
  void give(std::int32_t victim, std::int32_t thief);
  bool map(TaskRun& run);
  void after_mapping(TaskRun& run);
  TaskRun& new_run();
  RunTime& utility(std::int64_t node) { return utility_[static_cast<std::size_t>(node)]; }

  const SimulateOptions& options_;
  const RuntimeCosts costs_;
  Links links_;

  Heap<Event> events_;
  std::uint64_t order_ = 0;
  RunTime now_ = 0;
  std::vector<OpUse> uses_;  // by op
  std::vector<std::pair<Op, std::int64_t>> ready_;
  std::deque<TaskRun> runs_;
  std::vector<TaskRun*> free_runs_;
  std::deque<CopyRun> copies_;
  std::vector<std::uint32_t> free_copies_;
  std::vector<Station> stations_;
  std::vector<RunTime> utility_;         // for each node: when its runtime processor is free
  std::vector<std::int64_t> streaming_;  // for each memory: number of tasks that work on it
  std::map<MapperEvent, std::vector<std::int32_t>> deferred_;  // processors to ask again
  MapperEvent last_event_ = 0;
  std::map<MapperEvent, bool> events_made_;
  std::vector<Message> messages_;             // some of them are delivered
  std::vector<std::uint32_t> free_messages_;  // places of delivered messages, for reuse
  std::uint32_t launches_ = 0;                // number of launches
  std::int64_t launched_ = 0;                 // number of launched tasks
  std::int64_t live_ = 0;                     // number of unfinished tasks
  std::uint64_t statements_ = 0;
  std::vector<RunTime> phase_time_;
  std::uint64_t draws_ = 0;
  std::int64_t run_bytes_ = 0, context_bytes_ = 0;  // memory: of the vectors in runs_, of contexts
  std::int64_t asked_in_vain_ = 0;  // unmapped tasks offered to mappers since the last mapped task
  std::int64_t sent_in_vain_ = 0;   // messages since the last mapped task
  std::int64_t contexts_ = 0;       // unfinished tasks that launch
  std::int64_t stealable_ = 0;      // tasks that wait to be mapped and may be stolen
  std::shared_ptr<RunRecord> record_;
  std::unordered_map<std::string, std::int32_t> point_numbers_;  // index into record_->points

  // Members that are kept to reuse their memory.
  std::vector<RequirementView> point_views_, report_views_;
  std::vector<TaskRun*> launched_runs_;
  std::vector<app::PieceSize> piece_sizes_;
  // The load of the starting task on a memory.
  struct Load {
    std::int32_t memory;
    double bytes;
    double unforeseen;  // the part of `bytes` that no prefetcher fetches
  };
  std::vector<Load> loads_;
};

}  // namespace groma::sim
