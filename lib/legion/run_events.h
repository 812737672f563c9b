// RunEvents: what the recorders of a process observe while the program runs. The result is an
// app::Events (app/events.h).
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

#include "legion/machine_map.h"
#include "legion/task_views.h"
#include "recording/events.h"

namespace groma::legion {

// When a hook began (nanoseconds), and which part of it was spent in the program's own mapper.
class HookTimes {
 public:
  HookTimes() : begin_(now()) {}
  void begin_own() { own_begin_ = now(); }
  void end_own() { own_end_ = now(); }
  std::int64_t end() const { return own_end_; }
  // Returns the nanoseconds that Legion and the program's mapper took since `then`, without the
  // recorder's own work in this hook.
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
  // The events are written to `file` when the last recorder has left. They are written again if
  // other recorders came later.
  RunEvents(std::string file, std::shared_ptr<const MachineMap> machine)
      : file_(std::move(file)), machine_(std::move(machine)) {}

  void enter();
  void leave();

  // Notes the launch of a task or of all points of an index launch.
  void launched(Legion::Mapping::MapperRuntime* runtime, MapperContext context,
                const Legion::Task& task);
  // Notes that a task's call to launch something took this long.
  void called(std::int64_t nanoseconds);
  // Measures the cost of mapping the task. The measured time begins when the previous task was
  // mapped or when this task was launched, whichever is later. issued() notes the launch, mapped()
  // the mapping.
  void issued(const Legion::Task& task, const HookTimes& times);
  void mapped(const Legion::Task& task, const HookTimes& times);
  // Notes that a point of a launch is mapped. Only now the regions are known that a projection
  // functor gave to the point.
  void mapped(Legion::Mapping::MapperRuntime* runtime, MapperContext context,
              const Legion::Task& point);
  // Notes that the task, or each point of the launch, will be mapped unless its predicate is false.
  void expected(const Legion::Task& task);
  // Notes that one of these tasks is mapped.
  void came(const Legion::Task& task);
  // Notes that the run has traces. No mapper maps tasks that a trace replays, so it is then unknown
  // which tasks did not run.
  void may_replay();
  // Notes that a task is mapped to a variant that may launch something.
  void may_launch(Legion::Mapping::MapperRuntime* runtime, MapperContext context,
                  const Legion::Task& task);
  // Returns true if the time of another run of the task is useful.
  bool wants_time(const Legion::Task& task);
  void took(const Legion::Task& task, Legion::Processor::Kind kind, std::int64_t nanoseconds);
  // Counts an operation that application descriptions cannot express.
  void other(const char* what, std::int64_t count = 1);
  // Notes that the program's own mapper runs the task with this variant.
  void chosen(const Legion::Task& task, Legion::VariantID variant);
  // Notes that the program's own mapper requested this layout for a requirement of this variant.
  // Different demands for one requirement are all kept, up to a small limit.
  void demanded(const Legion::Task& task, Legion::VariantID variant, const LayoutDemand& demand);

  // Returns the text that is written to the file.
  std::string text();

 private:
  using Key = std::pair<Legion::UniqueID, std::uint64_t>;  // of a launch: run_of(parent) and number
  // A region or a piece of one. `colors` lead to the piece, each counted from 0.
  struct Place {
    std::uint32_t region = 0;
    std::int32_t partition = -1;
    std::vector<std::int64_t> colors;
  };
  // Returns null for an unknown variant. The caller holds mutex_.
  app::Events::Variant* variant_of(const Legion::Task& task, Legion::VariantID variant);
  struct Launched {
    app::Events::Shape shape;
    std::vector<std::int64_t> numbers;
    Rect domain;                         // the box around the points
    std::vector<Rect> boxes;             // if the domain has holes: all its boxes; otherwise empty
    std::int64_t points = 1;             // number of points
    std::vector<std::size_t> projected;  // requirements whose regions a projection functor decides
  };
  // Launches that are equal (including their arguments) except for the regions that functors gave
  // to their points. No mapper sees the points that a trace replays, so a launch with known points
  // stands for these.
  struct Alike {
    Launched launch;
    // The last launch of which all points were mapped, as numbers_of() returns it.
    std::vector<std::uint32_t> seen;
    std::uint64_t used = 0;  // when a launch of this kind was last made
  };
  struct Pending {
    std::shared_ptr<Alike> alike;
    std::int64_t unseen = 0;                 // number of points that are not mapped yet
    std::vector<std::vector<Place>> places;  // for each projected requirement, by point
  };
  struct Open {
    std::uint32_t task = 0;
    Key of{};  // launch that this context belongs to
    std::optional<Point> point;
    std::vector<std::optional<Place>> places;  // pieces of the task, by requirement
    std::vector<std::pair<std::uint64_t, std::uint32_t>> launches;
    bool idle = false;  // true: it has launched nothing yet
  };
  static constexpr std::uint32_t kUnseen = UINT32_MAX;

  // Returns a number for the run of a task. The shards of a replicated task count as one run. They
  // make the same launches and each maps some points, but in Legion each shard is a task with its
  // own id.
  Legion::UniqueID run_of(const Legion::Task& task);
  // Returns nothing if there are too many tasks.
  std::optional<std::uint32_t> task_of(Legion::Mapping::MapperRuntime* runtime,
                                       MapperContext context, const Legion::Task& task);
  std::optional<Place> place_of(Legion::Mapping::MapperRuntime* runtime, MapperContext context,
                                Legion::LogicalRegion region);
  std::optional<std::uint32_t> region_of(Legion::Mapping::MapperRuntime* runtime,
                                         MapperContext context, Legion::LogicalRegion root);
  // Returns the number of the partition inside `around`.
  std::optional<std::int32_t> partition_of(Legion::Mapping::MapperRuntime* runtime,
                                           MapperContext context,
                                           Legion::LogicalPartition partition, const Place& around);
  std::optional<app::Events::Requirement> requirement_of(Legion::Mapping::MapperRuntime* runtime,
                                                         MapperContext context,
                                                         const Legion::Task& task,
                                                         std::size_t position, Launched& launch);
  // Describes a domain with holes by its boxes, or by the box around its points if it has too many.
  void find_boxes(const Legion::Domain& domain, Launched& launch);
  // Returns the task's context with its pieces, or nothing if there are too many tasks.
  std::optional<Open> open_of(Legion::Mapping::MapperRuntime* runtime, MapperContext context,
                              const Legion::Task& task);
  // The caller holds mutex_.
  void keep(Key key, const Legion::Task& task, Launched launch);
  // These return the numbers of the launches that describe the launch: one, or one for each box of
  // a domain with holes. Launches beyond the limits are left out.
  std::vector<std::uint32_t> numbers_of(const Launched& launch);
  std::vector<std::uint32_t> numbers_of(const Pending& pending);
  std::optional<std::uint32_t> number_of(app::Events::Shape shape,
                                         std::vector<std::int64_t> numbers);
  void add_launches(const Key& key, const std::vector<std::uint32_t>& numbers);
  void add_top_level(const Legion::Task& task, std::uint32_t number);
  // finish() completes a pending launch; forget_old() drops the oldest ones. No mapper sees the
  // points of a launch that a trace replays, so such launches are dropped after a while.
  void finish(const Key& key);
  void forget_old();
  void count(const char* what, std::int64_t times = 1) { others_[what] += times; }
  // Returns the index in `done` of the shape of the launch that the run belongs to, or -1 if
  // unknown.
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
  // Variants of tasks_.
  std::map<std::pair<Legion::TaskID, Legion::VariantID>, std::size_t> variants_;
  std::map<Legion::RegionTreeID, std::uint32_t> regions_;
  std::map<std::uint32_t, std::vector<Legion::FieldID>> fields_;  // by region
  std::map<Legion::LogicalPartition, std::int32_t> partitions_;
  // Partitions of different pieces of one partition count as one if they have the same name and
  // colour. The key: region, enclosing partition, colour, name.
  std::map<std::tuple<std::uint32_t, std::int32_t, Legion::Color, std::string>, std::int32_t>
      alike_partitions_;
  std::map<Legion::LogicalRegion, Place> places_;
  std::map<std::string, std::uint32_t> shapes_;
  std::map<std::pair<std::uint32_t, std::vector<std::int64_t>>, std::uint32_t> launches_;
  std::unordered_map<Legion::UniqueID, Open> contexts_;
  std::size_t idle_ = 0;                  // number of idle entries in contexts_
  std::map<Key, std::int64_t> expected_;  // number of tasks not mapped yet, by launch
  bool may_replay_ = false;
  std::map<std::pair<std::string, std::vector<std::int64_t>>, std::shared_ptr<Alike>> alike_;
  std::map<Key, Pending> pending_;
  std::deque<Key> pending_order_;
  std::set<Legion::UniqueID> tops_;
  // The first shard seen of each replicated task. The key: run of the parent, number in that run,
  // point, task.
  std::map<std::tuple<Legion::UniqueID, std::uint64_t, std::vector<std::int64_t>, Legion::TaskID>,
           Legion::UniqueID>
      shards_;
  std::map<std::pair<std::uint32_t, ProcKind>, std::vector<std::int64_t>> times_;
  std::map<std::pair<std::uint32_t, ProcKind>, std::int64_t> measured_;
  std::map<std::string, std::int64_t> others_;
  // Measurements of the runtime's own costs.
  std::map<Key, std::int64_t> issued_at_;
  std::int64_t last_map_ = 0;
  bool has_called_ = false;
  std::vector<std::int64_t> issue_costs_, map_costs_;
  std::size_t launched_ = 0, numbers_ = 0, pieces_ = 0, boxes_ = 0;
};

}  // namespace groma::legion
