// RunEvents: what the recorders of a process saw of a run, while it runs (app/events.h is what
// comes of it).
#pragma once

#include <legion.h>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "app/events.h"
#include "legion/machine_map.h"
#include "legion/task_views.h"

namespace groma::legion {

// When a hook began, in nanoseconds, and what of it was the program's own mapper.
class HookTimes {
 public:
  HookTimes() : begin_(now()) {}
  void begin_own() { own_begin_ = now(); }
  void end_own() { own_end_ = now(); }
  std::int64_t end() const { return own_end_; }
  // What Legion and that mapper took since then, without what the recorder did in this hook.
  std::int64_t since(std::int64_t then) const {
    return std::max<std::int64_t>(0, begin_ - then) +
           std::max<std::int64_t>(0, own_end_ - std::max(own_begin_, then));
  }
  static std::int64_t now();

 private:
  std::int64_t begin_, own_begin_ = 0, own_end_ = 0;
};

// Thread-safe. No lock is held while Legion is asked.
class RunEvents {
 public:
  // Written to that file when the last recorder has left; again where others came afterwards.
  RunEvents(std::string file, std::shared_ptr<const MachineMap> machine)
      : file_(std::move(file)), machine_(std::move(machine)) {}

  void enter();
  void leave();

  // The task, or all points of an index launch, was launched.
  void launched(Legion::Mapping::MapperRuntime* runtime, MapperContext context,
                const Legion::Task& task);
  // A task launched something by a call that took so long.
  void called(std::int64_t nanoseconds);
  // What it cost to map the task: from when the one before was mapped, or this one was launched,
  // whichever came later.
  void issued(const Legion::Task& task, const HookTimes& times);
  void mapped(const Legion::Task& task, const HookTimes& times);
  // A point of a launch is mapped: only then it is known what a projection functor gave it.
  void mapped(Legion::Mapping::MapperRuntime* runtime, MapperContext context,
              const Legion::Task& point);
  // The task, or each point of the launch, will be mapped unless its predicate is false.
  void expected(const Legion::Task& task);
  // One of these tasks is mapped.
  void came(const Legion::Task& task);
  // The run has traces. Nobody maps the tasks that a trace replays, so it is not known which tasks
  // did not run.
  void may_replay();
  // A task is mapped to a variant that may launch something.
  void may_launch(Legion::Mapping::MapperRuntime* runtime, MapperContext context,
                  const Legion::Task& task);
  // Whether the time of another run of the task is of use.
  bool wants_time(const Legion::Task& task);
  void took(const Legion::Task& task, Legion::Processor::Kind kind, std::int64_t nanoseconds);
  // What no description has.
  void other(const char* what, std::int64_t count = 1);
  // The program's own mapper runs the task by that variant.
  void chosen(const Legion::Task& task, Legion::VariantID variant);
  // The program's own mapper asked for this layout of a requirement's data, for that variant.
  // Different demands of one requirement are all kept, up to a few.
  void demanded(const Legion::Task& task, Legion::VariantID variant, const LayoutDemand& demand);

  // The text that is written.
  std::string text();

 private:
  using Key = std::pair<Legion::UniqueID, std::uint64_t>;  // of a launch: run_of(parent), number
  // A region or a piece: the colours on the way to it, from 0.
  struct Place {
    std::uint32_t region = 0;
    std::int32_t partition = -1;
    std::vector<std::int64_t> colors;
  };
  // Null for one that is not known. `mutex_` is held.
  app::Events::Variant* variant_of(const Legion::Task& task, Legion::VariantID variant);
  struct Launched {
    app::Events::Shape shape;
    std::vector<std::int64_t> numbers;
    Rect domain;
    std::vector<std::size_t> projected;  // requirements that a projection functor decides about
  };
  // Launches that are alike but for what functors gave their points, the launch's arguments
  // included: one of them speaks for those whose points a trace replays, which nobody maps.
  struct Alike {
    Launched launch;
    std::optional<std::uint32_t> seen;  // the last whose points all were mapped
    std::uint64_t used = 0;             // when it was last launched
  };
  struct Pending {
    std::shared_ptr<Alike> alike;
    std::int64_t unseen = 0;                 // points that are not mapped yet
    std::vector<std::vector<Place>> places;  // of each that is projected, by point
  };
  struct Open {
    std::uint32_t task = 0;
    Key of{};  // the launch that the context is of
    std::optional<Point> point;
    std::vector<std::optional<Place>> places;  // of its pieces, by requirement
    std::vector<std::pair<std::uint64_t, std::uint32_t>> launches;
    bool idle = false;  // it has launched nothing yet
  };
  static constexpr std::uint32_t kUnseen = UINT32_MAX;

  // A number for the run of a task. The shards of a replicated task are one run: they launch the
  // same, each maps some of the points, and to Legion each is a task with an id of its own.
  Legion::UniqueID run_of(const Legion::Task& task);
  // Nothing where there are too many.
  std::optional<std::uint32_t> task_of(Legion::Mapping::MapperRuntime* runtime,
                                       MapperContext context, const Legion::Task& task);
  std::optional<Place> place_of(Legion::Mapping::MapperRuntime* runtime, MapperContext context,
                                Legion::LogicalRegion region);
  std::optional<std::uint32_t> region_of(Legion::Mapping::MapperRuntime* runtime,
                                         MapperContext context, Legion::LogicalRegion root);
  // The partition of that place.
  std::optional<std::int32_t> partition_of(Legion::Mapping::MapperRuntime* runtime,
                                           MapperContext context,
                                           Legion::LogicalPartition partition, const Place& around);
  std::optional<app::Events::Requirement> requirement_of(Legion::Mapping::MapperRuntime* runtime,
                                                         MapperContext context,
                                                         const Legion::Task& task,
                                                         std::size_t position, Launched& launch);
  // What the task was given. Nothing where there are too many tasks.
  std::optional<Open> open_of(Legion::Mapping::MapperRuntime* runtime, MapperContext context,
                              const Legion::Task& task);
  // With the lock.
  void keep(Key key, const Legion::Task& task, Launched launch);
  std::optional<std::uint32_t> number_of(Launched launch);
  std::optional<std::uint32_t> number_of(const Pending& pending);
  void add_launch(const Key& key, std::optional<std::uint32_t> number);
  void add_top_level(const Legion::Task& task, std::uint32_t number);
  // Of those that a trace replays nobody maps the points: they are given up after a while.
  void finish(const Key& key);
  void forget_old();
  void count(const char* what, std::int64_t times = 1) { others_[what] += times; }
  // The shape of the launch that the run is of, in `done`; -1: it is not known.
  std::int32_t shape_of(const Open& run, const app::Events& done) const;
  static app::Events::Cost quantile(std::vector<std::int64_t>& costs, std::size_t percent);
  app::Events finished();

  void count_programs_before();

  const std::string file_;
  const std::shared_ptr<const MachineMap> machine_;
  std::mutex mutex_;
  bool has_written_ = false;
  int recorders_ = 0;
  app::Events events_;
  std::map<Legion::TaskID, std::uint32_t> tasks_;
  std::map<std::pair<Legion::TaskID, Legion::VariantID>, std::size_t> variants_;  // of those tasks
  std::map<Legion::RegionTreeID, std::uint32_t> regions_;
  std::map<std::uint32_t, std::vector<Legion::FieldID>> fields_;  // by region
  std::map<Legion::LogicalPartition, std::int32_t> partitions_;
  // Partitions of pieces of one partition are one, if they have the same name and colour there. The
  // key: the region, the partition around them, the colour, the name.
  std::map<std::tuple<std::uint32_t, std::int32_t, Legion::Color, std::string>, std::int32_t>
      alike_partitions_;
  std::map<Legion::LogicalRegion, Place> places_;
  std::map<std::string, std::uint32_t> shapes_;
  std::map<std::pair<std::uint32_t, std::vector<std::int64_t>>, std::uint32_t> launches_;
  std::unordered_map<Legion::UniqueID, Open> contexts_;
  std::size_t idle_ = 0;                  // of these
  std::map<Key, std::int64_t> expected_;  // tasks that are not mapped yet, by their launch
  bool may_replay_ = false;
  std::map<std::pair<std::string, std::vector<std::int64_t>>, std::shared_ptr<Alike>> alike_;
  std::map<Key, Pending> pending_;
  std::deque<Key> pending_order_;
  std::set<Legion::UniqueID> tops_;
  // The first shard that was seen of each replicated task: by its parent's run, its number in that,
  // its point and its task.
  std::map<std::tuple<Legion::UniqueID, std::uint64_t, std::vector<std::int64_t>, Legion::TaskID>,
           Legion::UniqueID>
      shards_;
  std::map<std::pair<std::uint32_t, ProcKind>, std::vector<std::int64_t>> times_;
  std::map<std::pair<std::uint32_t, ProcKind>, std::int64_t> measured_;
  std::map<std::string, std::int64_t> others_;
  // Of the runtime's own costs.
  std::map<Key, std::int64_t> issued_at_;
  std::int64_t last_map_ = 0;
  bool has_called_ = false;
  std::vector<std::int64_t> issue_costs_, map_costs_;
  std::size_t launched_ = 0, numbers_ = 0, pieces_ = 0, boxes_ = 0;
};

}  // namespace groma::legion
