// A mapper that stands above another mapper and does not change its decisions. It has Legion
// measure the tasks and copies of the run, for a profile.
#pragma once

#include <legion.h>

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "groma/run_record.h"
#include "legion/adapter.h"
#include "legion/machine_map.h"
#include "profile/causes.h"

namespace groma::legion {

// Collects the measurements of all profilers of a process. Thread-safe. No lock is held during a
// call to Legion.
class RunMeasurements {
 public:
  // The record of the run (RunRecord) is written to `file` when the last profiler has ended
  // (profile/record_text.h).
  RunMeasurements(std::string file, std::shared_ptr<const MachineMap> machine);

  void on_mapper_start();
  void on_mapper_end();

  // Notes which statement of the mapping decided where the data of a task's region requirement
  // goes.
  void record_memory_origin(Legion::UniqueID task, std::size_t requirement, DecisionOrigin origin);

  void add_launch(const Legion::Task& task);
  // Returns true if copies can be measured, which is false if there are several processes. A
  // request to measure the copies of a task that came from another process ends the process inside
  // Legion.
  bool measures_copies() const { return machine_->machine()->node_count() == 1; }
  // Returns true if there is room for the measurements of another task (`is_task`) or operation. If
  // not, the omission is counted.
  bool has_room_for_measurements(bool is_task);

  // A task or another operation that is mapped and some of whose measurements have not come yet.
  struct MappedOperation {
    // The unique id of the task or operation.
    Legion::UniqueID task = 0;
    // The number of the task's name in the record. -1 if this is no task, or a task for which the
    // record has no room.
    std::int32_t name = -1;
    // The number of the task's point in the record. -1 if this is not a point task.
    std::int32_t point = -1;
    std::vector<std::int32_t> regions, statements;
    std::vector<profile::MeasuredEvent::InstanceUse> uses;
    // The times when the hook that mapped the operation began and ended, in nanoseconds.
    long long begin_ns = 0, end_ns = 0;
    // `own_tasks`: true if the program's own mapper requested reports about the task itself.
    // `own_copies`: true if it requested reports about copies of the task or operation.
    bool own_tasks = false, own_copies = false;
    std::uint64_t reports = 0;
  };
  void mapped(MappedOperation what);
  void operation(const Legion::Mappable& operation, std::vector<std::int32_t> regions, bool own);
  std::int32_t name_of(const Legion::Task& task);
  // Returns the number that the record gives to the task's point, or -1 for a single task.
  std::int32_t point_number(const Legion::Task& task);
  std::int32_t region_of(Legion::Mapping::MapperRuntime* runtime, MapperContext context,
                         const Legion::RegionRequirement& requirement);
  // Notes an instance. Returns true if it is seen for the first time.
  bool add_new_instance(const Legion::Mapping::PhysicalInstance& instance, std::int32_t region);
  void remove_instance(const Legion::Mapping::PhysicalInstance& instance);

  enum class MeasuredKind : std::uint8_t { kTask, kCopy, kFill };
  // Adds a measurement of a task or operation. Returns true if the program's own mapper wants the
  // report too.
  bool add_measurement(Legion::UniqueID of, MeasuredKind what, std::size_t requirement,
                       std::uint64_t total, const Legion::Mapping::ProfilingResponse& responses);

 private:
  using Responses = Legion::Mapping::ProfilingResponse;
  RunTime time_since_first_mapped(long long ns) const;
  std::int32_t memory_of(Legion::Memory memory) const;
  // Add the event of a task, or of a copy, that ended. The caller holds mutex_.
  void add_task(const MappedOperation& of, const Responses& responses);
  void add_copy(const MappedOperation& of, std::size_t requirement, const Responses& responses);
  bool has_room();
  void allocate(RunTime time, std::int32_t memory, std::int32_t region, std::int64_t bytes);
  RunRecord finished();

  const std::string file_;
  const std::shared_ptr<const MachineMap> machine_;
  std::mutex mutex_;
  int profilers_ = 0;
  // The time when the first task was mapped, in nanoseconds; -1 before that. Times in the record
  // are counted from it.
  long long begin_ns_ = -1;
  // The record of the run, without its events.
  RunRecord record_;
  std::unordered_map<Realm::ID::IDType, std::int32_t> processors_, memories_;
  std::map<Legion::TaskID, std::int32_t> names_;
  std::unordered_map<std::string, std::int32_t> points_;
  struct Tree {
    std::int32_t number;
    // The number of times that the name of the tree was looked up.
    int looked_for;
  };
  std::map<Legion::RegionTreeID, Tree> regions_;
  std::map<std::pair<Legion::UniqueID, std::size_t>, std::int32_t> heard_;
  std::unordered_map<Legion::UniqueID, MappedOperation> pending_;
  std::unordered_map<unsigned long, std::pair<std::int32_t, std::int64_t>> instances_;
  // The number of bytes that instances occupy in each memory at present.
  std::vector<std::int64_t> held_bytes_;
  std::vector<profile::MeasuredEvent> events_;
  std::vector<profile::Launch> launches_;
  std::int64_t points_launched_ = 0, points_mapped_ = 0;
  std::int64_t left_out_ = 0, left_out_copies_ = 0, fills_ = 0, unplaced_ = 0;
};

// Makes a mapper that measures the tasks that `own` maps. The new mapper owns `own`.
std::unique_ptr<Legion::Mapping::Mapper> make_profiler(Legion::Mapping::Mapper* own,
                                                       std::shared_ptr<RunMeasurements> watch);

// Returns the mapper below a mapper that make_profiler() made, or null for any other mapper.
Legion::Mapping::Mapper* mapper_below_profiler(Legion::Mapping::Mapper* mapper);

}  // namespace groma::legion
