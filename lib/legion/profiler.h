// A mapper above another mapper, whose decisions it does not change. It has Legion measure the
// tasks and copies of the run, for a profile.
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

// The measurements of all profilers of a process. Thread-safe. No lock is held during a call to
// Legion.
class RunWatch {
 public:
  // Writes a RunRecord to `file` when the last profiler has left (profile/record_text.h).
  RunWatch(std::string file, std::shared_ptr<const MachineMap> machine);

  void mapper_begins();
  void mapper_ends();

  // Notes which statement decided where data goes (Registration::heard).
  void heard(Legion::UniqueID task, std::size_t requirement, Origin origin);

  void launched(const Legion::Task& task);
  // Returns false if there are several processes. A request to measure the copies of a task that
  // came from another process ends the process inside Legion.
  bool measures_copies() const { return machine_->machine()->node_count() == 1; }
  // Returns true if there is room for the measurements of another task or operation. If not, the
  // omission is counted.
  bool wants_more(bool is_task);

  // A task or another operation that is mapped and whose measurements have not all come.
  struct Mapped {
    Legion::UniqueID task = 0;  // The task or operation.
    // The number of the task's name. -1: not a task, or a task for which the record has no room.
    std::int32_t name = -1;
    std::int32_t point = -1;  // -1: not a point task.
    std::vector<std::int32_t> regions, statements;
    std::vector<profile::MeasuredEvent::Use> uses;
    long long begin_ns = 0, end_ns = 0;          // The time of the hook that mapped it.
    bool own_tasks = false, own_copies = false;  // The program's mapper wants these reports.
    std::uint64_t reports = 0;
  };
  void mapped(Mapped what);
  void operation(const Legion::Mappable& operation, std::vector<std::int32_t> regions, bool own);
  std::int32_t name_of(const Legion::Task& task);
  // Returns the number of the task's point in the record, or -1 for a single task.
  std::int32_t point_number(const Legion::Task& task);
  std::int32_t region_of(Legion::Mapping::MapperRuntime* runtime, MapperContext context,
                         const Legion::RegionRequirement& requirement);
  // Returns true if the instance is seen for the first time.
  bool sees(const Legion::Mapping::PhysicalInstance& instance, std::int32_t region);
  void collected(const Legion::Mapping::PhysicalInstance& instance);

  enum class What : std::uint8_t { kTask, kCopy, kFill };
  // Adds a measurement. Returns true if the program's mapper wants the report too.
  bool reported(Legion::UniqueID of, What what, std::size_t requirement, std::uint64_t total,
                const Legion::Mapping::ProfilingResponse& responses);

 private:
  using Responses = Legion::Mapping::ProfilingResponse;
  RunTime since_begin(long long ns) const;
  std::int32_t memory_of(Legion::Memory memory) const;
  // The caller holds mutex_.
  void add_task(const Mapped& of, const Responses& responses);
  void add_copy(const Mapped& of, std::size_t requirement, const Responses& responses);
  bool has_room();
  void allocate(RunTime time, std::int32_t memory, std::int32_t region, std::int64_t bytes);
  RunRecord finished();

  const std::string file_;
  const std::shared_ptr<const MachineMap> machine_;
  std::mutex mutex_;
  int profilers_ = 0;
  long long begin_ns_ = -1;  // When the first task was mapped. Legion starts before.
  RunRecord record_;         // The record of the run, without its events.
  std::unordered_map<Realm::ID::IDType, std::int32_t> processors_, memories_;
  std::map<Legion::TaskID, std::int32_t> names_;
  std::unordered_map<std::string, std::int32_t> points_;
  struct Tree {
    std::int32_t number;
    int looked_for;  // How often the name of the tree was looked up.
  };
  std::map<Legion::RegionTreeID, Tree> regions_;
  std::map<std::pair<Legion::UniqueID, std::size_t>, std::int32_t> heard_;
  std::unordered_map<Legion::UniqueID, Mapped> pending_;
  std::unordered_map<unsigned long, std::pair<std::int32_t, std::int64_t>> instances_;
  std::vector<std::int64_t> held_bytes_;  // The bytes in each memory now.
  std::vector<profile::MeasuredEvent> events_;
  std::vector<profile::Launch> launches_;
  std::int64_t points_launched_ = 0, points_mapped_ = 0;
  std::int64_t left_out_ = 0, left_out_copies_ = 0, fills_ = 0, unplaced_ = 0;
};

// Makes a mapper that measures the tasks of `own` and owns it.
std::unique_ptr<Legion::Mapping::Mapper> make_profiler(Legion::Mapping::Mapper* own,
                                                       std::shared_ptr<RunWatch> watch);

// Returns the `own` of a mapper that make_profiler() made, or null for any other mapper.
Legion::Mapping::Mapper* own_of_profiler(Legion::Mapping::Mapper* mapper);

}  // namespace groma::legion
