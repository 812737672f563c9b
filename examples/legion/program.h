// Functions that the programs in this folder share: they read parameters, register tasks and
// measure times. The programs are plain Legion programs.
#pragma once

#include <legion.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <type_traits>
#include <vector>

namespace program {

// An integer that `-name VALUE` on the command line sets.
struct Parameter {
  const char* name;
  std::int64_t* value;
  std::int64_t least, most;
};

// Reads the parameters from the command line, and ignores Legion's own flags. Returns false, with
// the reason on standard error, if a flag is unknown, or if a value is missing, not a number or out
// of bounds.
bool read_parameters(int argc, char** argv, std::initializer_list<Parameter> parameters);

// The kinds of tasks that Legion distinguishes.
enum class Kind {
  // The task launches nothing.
  kLeaf,
  // The task does not touch data itself.
  kInner,
  // The task may launch tasks and touch data.
  kPlain,
  // The task may also run as several shards.
  kReplicable,
};

// The orders of two-dimensional data that a variant may demand. kColumns: neighbours in the first
// dimension are adjacent in memory, as in Fortran and OpenBLAS. kRows: neighbours in the second
// dimension are, as in C.
enum class Order { kColumns, kRows };
// Returns Legion's id of the layout constraint for the order.
Legion::LayoutConstraintID constraint(Order order);

// Returns the registrar of a task's variant for a processor kind.
Legion::TaskVariantRegistrar registrar(Legion::TaskID id, const char* name,
                                       Legion::Processor::Kind processor, Kind kind);

// Return launchers for a single task and for an index launch, with constructors that every release
// of Legion since 25.06 has.
inline Legion::TaskLauncher single(Legion::TaskID task,
                                   const Legion::UntypedBuffer& argument = {}) {
  return {task, argument};
}
inline Legion::IndexTaskLauncher over(Legion::TaskID task, const Legion::Domain& domain,
                                      const Legion::UntypedBuffer& argument = {}) {
  return {task, domain, argument, Legion::ArgumentMap()};
}

// Registers `body` as the task's variant for `processor`. The requirements listed in `ordered`
// demand `order`. Call this before Runtime::start.
template <auto body>
void add_task(Legion::TaskID id, const char* name, Kind kind = Kind::kLeaf,
              std::initializer_list<unsigned> ordered = {}, Order order = Order::kColumns,
              Legion::Processor::Kind processor = Legion::Processor::LOC_PROC) {
  Legion::TaskVariantRegistrar variant = registrar(id, name, processor, kind);
  for (const unsigned requirement : ordered) {
    variant.add_layout_constraint_set(requirement, constraint(order));
  }
  using Result = std::invoke_result_t<decltype(body), const Legion::Task*,
                                      const std::vector<Legion::PhysicalRegion>&, Legion::Context,
                                      Legion::Runtime*>;
  if constexpr (std::is_void_v<Result>) {
    Legion::Runtime::preregister_task_variant<body>(variant, name);
  } else {
    Legion::Runtime::preregister_task_variant<Result, body>(variant, name);
  }
}

// Registers `body` as the task's variant for GPUs.
template <auto body>
void add_gpu_task(Legion::TaskID id, const char* name, Kind kind = Kind::kLeaf,
                  std::initializer_list<unsigned> ordered = {}, Order order = Order::kColumns) {
  add_task<body>(id, name, kind, ordered, order, Legion::Processor::TOC_PROC);
}

// ---- regions

// A field's number, name and size.
struct Field {
  Legion::FieldID id;
  const char* name;
  std::size_t bytes;
};
// Makes a region over `space`. All values are zero.
Legion::LogicalRegion make_region(Legion::Context context, Legion::Runtime* runtime,
                                  const Legion::Domain& space, const char* name,
                                  const std::vector<Field>& fields);

// Cuts a region of one dimension into `parts` equal pieces.
Legion::LogicalPartition cut_equal(Legion::Context context, Legion::Runtime* runtime,
                                   Legion::LogicalRegion region, Legion::coord_t parts,
                                   const char* name);

// Returns piece `part` of `size` points that are cut into `parts` blocks of nearly the same size.
Legion::Rect<1> block(Legion::coord_t size, Legion::coord_t parts, Legion::coord_t part);

// Cuts a region into `parts` pieces. Piece i is the part of piece(i) that lies in the region.
// Legion does not check `kind`.
Legion::LogicalPartition cut(Legion::Context context, Legion::Runtime* runtime,
                             Legion::LogicalRegion region, Legion::coord_t parts, const char* name,
                             const std::function<Legion::Domain(Legion::coord_t)>& piece,
                             Legion::PartitionKind kind = LEGION_DISJOINT_COMPLETE_KIND);

// Returns the requirement of an index launch in which each point accesses fields of its own piece.
// The pieces are cut from `region`. With LEGION_NO_ACCESS the task gets no data but may name its
// piece.
Legion::RegionRequirement needs(Legion::LogicalPartition pieces, Legion::LogicalRegion region,
                                Legion::PrivilegeMode privilege,
                                const std::vector<Legion::FieldID>& fields);
// Returns a requirement for a whole region.
Legion::RegionRequirement needs(Legion::LogicalRegion region, Legion::PrivilegeMode privilege,
                                const std::vector<Legion::FieldID>& fields);

// The times at which the last tasks of each point began and ended, in a region with one element for
// each point.
enum : Legion::FieldID { kStart = 1, kStop };
Legion::LogicalRegion make_times(Legion::Context context, Legion::Runtime* runtime,
                                 Legion::coord_t points, const char* name);
// Writes the current time to the field of the single point in `times`.
void set_time(const Legion::PhysicalRegion& times, Legion::FieldID field);
void set_time_on_gpu(const Legion::PhysicalRegion& times, Legion::FieldID field);
// The task get_elapsed. Returns the nanoseconds from the first start to the last stop.
long long get_elapsed(const Legion::Task*, const std::vector<Legion::PhysicalRegion>& regions,
                      Legion::Context, Legion::Runtime*);

// ---- execution

// The body of tasks that do nothing.
void nothing(const Legion::Task*, const std::vector<Legion::PhysicalRegion>&, Legion::Context,
             Legion::Runtime*);

// Waits until all operations that this task launched are done.
void wait_for_all(Legion::Context context, Legion::Runtime* runtime);

// Waits until all launched operations are done. Returns Legion's clock, in nanoseconds.
long long time_after_all(Legion::Context context, Legion::Runtime* runtime);

// Returns how many nanoseconds the operations take that `part` launches. A fence stands before and
// after them.
template <typename Part>
long long timed(Legion::Context context, Legion::Runtime* runtime, const Part& part) {
  const long long start = time_after_all(context, runtime);
  part();
  return time_after_all(context, runtime) - start;
}

// Calls `step` `times` times as a Legion trace, so that Legion can reuse its analysis of the
// launches.
template <typename Step>
void traced(Legion::Context context, Legion::Runtime* runtime, Legion::TraceID trace,
            std::int64_t times, const Step& step) {
  for (std::int64_t i = 0; i < times; ++i) {
    runtime->begin_trace(context, trace);
    step();
    runtime->end_trace(context, trace);
  }
}

// Prints the time: `elapsed 12.34 ms`. If `wrong` results differ from the serial reference, prints
// an error on standard error, and the program exits with 1. Of several shards, only one prints.
void report(Legion::Context context, Legion::Runtime* runtime, long long nanoseconds,
            std::int64_t wrong);

}  // namespace program
