// A mapper above another one, which decides as before: it has Legion measure what the tasks and
// copies of the run do, for a profile.
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

// What the profilers of a process measured. Thread-safe; no lock is held while Legion is asked.
class RunWatch {
 public:
  // A RunRecord is written to that file (profile/record_text.h) when the last profiler has left.
  RunWatch(std::string file, std::shared_ptr<const MachineMap> machine);

  void enter();
  void leave();

  // What decided where data goes (Registration::heard).
  void heard(Legion::UniqueID task, std::size_t requirement, Origin origin);

  void launched(const Legion::Task& task);
  // False where there are several processes: a request to measure the copies of a task that came
  // from another one ends the process inside Legion.
  bool measures_copies() const { return machine_->machine()->node_count() == 1; }
  // Whether there is room for what is measured of another task or operation; if not, that is
  // noted.
  bool wants_more(bool is_task);

  struct Mapped {
    Legion::UniqueID task = 0;  // or operation
    std::int32_t name = -1;     // of a task
    std::int32_t point = -1;    // of a task of an index launch
    std::vector<std::int32_t> regions, statements;
    std::vector<profile::MeasuredEvent::Use> uses;
    long long begin_ns = 0, end_ns = 0;          // of the hook
    bool own_tasks = false, own_copies = false;  // that the own mapper wants to hear of
    std::uint64_t reports = 0;
  };
  void mapped(Mapped what);
  void operation(const Legion::Mappable& operation, std::vector<std::int32_t> regions, bool own);
  std::int32_t name_of(const Legion::Task& task);
  // The number of its point in the record; -1: it is a single task.
  std::int32_t point_number(const Legion::Task& task);
  std::int32_t region_of(Legion::Mapping::MapperRuntime* runtime, MapperContext context,
                         const Legion::RegionRequirement& requirement);
  // Whether the instance is seen for the first time.
  bool sees(const Legion::Mapping::PhysicalInstance& instance, std::int32_t region);
  void collected(const Legion::Mapping::PhysicalInstance& instance);

  enum class What : std::uint8_t { kTask, kCopy, kFill };
  // Whether the own mapper wants to hear of it.
  bool reported(Legion::UniqueID of, What what, std::size_t requirement, std::uint64_t total,
                const Legion::Mapping::ProfilingResponse& responses);

 private:
  using Responses = Legion::Mapping::ProfilingResponse;
  RunTime since_begin(long long ns) const;
  std::int32_t memory_of(Legion::Memory memory) const;
  // With the lock.
  void add_task(const Mapped& of, const Responses& responses);
  void add_copy(const Mapped& of, std::size_t requirement, const Responses& responses);
  bool has_room();
  void allocate(RunTime time, std::int32_t memory, std::int32_t region, std::int64_t bytes);
  RunRecord finished();

  const std::string file_;
  const std::shared_ptr<const MachineMap> machine_;
  std::mutex mutex_;
  int profilers_ = 0;
  long long begin_ns_ = -1;  // the first task is mapped: before that Legion starts
  RunRecord record_;         // but for its events
  std::unordered_map<Realm::ID::IDType, std::int32_t> processors_, memories_;
  std::map<Legion::TaskID, std::int32_t> names_;
  std::unordered_map<std::string, std::int32_t> points_;
  struct Tree {
    std::int32_t number;
    int looked_for;  // for its name
  };
  std::map<Legion::RegionTreeID, Tree> regions_;
  std::map<std::pair<Legion::UniqueID, std::size_t>, std::int32_t> heard_;
  std::unordered_map<Legion::UniqueID, Mapped> pending_;
  std::unordered_map<unsigned long, std::pair<std::int32_t, std::int64_t>> instances_;
  std::vector<std::int64_t> held_bytes_;  // by memory
  std::vector<profile::MeasuredEvent> events_;
  std::vector<profile::Launch> launches_;
  std::int64_t points_launched_ = 0, points_mapped_ = 0;
  std::int64_t left_out_ = 0, left_out_copies_ = 0, fills_ = 0, unplaced_ = 0;
};

// `own` ends with what is returned.
std::unique_ptr<Legion::Mapping::Mapper> make_profiler(Legion::Mapping::Mapper* own,
                                                       std::shared_ptr<RunWatch> watch);

// The `own` of such a mapper; null for any other.
Legion::Mapping::Mapper* profiled_by(Legion::Mapping::Mapper* mapper);

}  // namespace groma::legion
