// What the programs of this folder share: their parameters, the registration of tasks, the timed
// part. They are plain Legion programs.
#pragma once

#include <legion.h>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <type_traits>
#include <vector>

namespace program {

// A whole number that `-name VALUE` of the command line sets.
struct Parameter {
  const char* name;
  std::int64_t* value;
  std::int64_t least, most;
};

// Legion's own flags are left to it. False, with the reason on standard error, for another one, and
// for a value that is missing, no number or out of bounds.
bool read_parameters(int argc, char** argv, std::initializer_list<Parameter> parameters);

// What a task is for Legion.
enum class Kind {
  kLeaf,        // launches nothing
  kInner,       // touches no data itself
  kPlain,       // may do both
  kReplicable,  // may also run as several shards
};

// What a variant may demand of data of two dimensions: that neighbours in the first one lie side by
// side (Fortran's order, OpenBLAS's matrices), or those in the second (C's, cuBLAS's).
enum class Order { kColumns, kRows };
Legion::LayoutConstraintID constraint(Order order);

Legion::TaskVariantRegistrar registrar(Legion::TaskID id, const char* name,
                                       Legion::Processor::Kind processor, Kind kind);

// Launchers, as every release of Legion from 25.06 on has them.
inline Legion::TaskLauncher single(Legion::TaskID task,
                                   const Legion::UntypedBuffer& argument = {}) {
  return {task, argument};
}
inline Legion::IndexTaskLauncher over(Legion::TaskID task, const Legion::Domain& domain,
                                      const Legion::UntypedBuffer& argument = {}) {
  return {task, domain, argument, Legion::ArgumentMap()};
}

// Registers `body` as the task's variant on `processor`; the requirements `ordered` demand `order`.
// Before Runtime::start.
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

// The same on GPUs.
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
// A region of `space`, all zero.
Legion::LogicalRegion make_region(Legion::Context context, Legion::Runtime* runtime,
                                  const Legion::Domain& space, const char* name,
                                  const std::vector<Field>& fields);

// As many equal pieces, of one dimension, as `parts`.
Legion::LogicalPartition cut_equal(Legion::Context context, Legion::Runtime* runtime,
                                   Legion::LogicalRegion region, Legion::coord_t parts,
                                   const char* name);

// A requirement of fields of a point's own piece of `pieces`, which are cut from `region`; with
// LEGION_NO_ACCESS the task gets no data, but may name the piece.
Legion::RegionRequirement needs(Legion::LogicalPartition pieces, Legion::LogicalRegion region,
                                Legion::PrivilegeMode privilege,
                                const std::vector<Legion::FieldID>& fields);
// Of all of a region.
Legion::RegionRequirement needs(Legion::LogicalRegion region, Legion::PrivilegeMode privilege,
                                const std::vector<Legion::FieldID>& fields);

// When the last tasks of each point began and ended: a region of one element for each.
enum : Legion::FieldID { kStart = 1, kStop };
Legion::LogicalRegion make_times(Legion::Context context, Legion::Runtime* runtime,
                                 Legion::coord_t points, const char* name);
void set_time(const Legion::PhysicalRegion& times, Legion::FieldID field);
void set_time_on_gpu(const Legion::PhysicalRegion& times, Legion::FieldID field);
// The task get_elapsed: from the first start to the last stop. Nanoseconds.
long long get_elapsed(const Legion::Task*, const std::vector<Legion::PhysicalRegion>& regions,
                      Legion::Context, Legion::Runtime*);

// ---- execution

// What tasks without work of their own do.
void nothing(const Legion::Task*, const std::vector<Legion::PhysicalRegion>&, Legion::Context,
             Legion::Runtime*);

// Waits for all that this task launched.
void wait_for_all(Legion::Context context, Legion::Runtime* runtime);

// Legion's clock, once all that was launched is done. Nanoseconds.
long long time_after_all(Legion::Context context, Legion::Runtime* runtime);

// How long all takes that `part` launches, from fence to fence. Nanoseconds.
template <typename Part>
long long timed(Legion::Context context, Legion::Runtime* runtime, const Part& part) {
  const long long start = time_after_all(context, runtime);
  part();
  return time_after_all(context, runtime) - start;
}

// Launches what `step` does so many times, as a trace: Legion remembers its analysis.
template <typename Step>
void traced(Legion::Context context, Legion::Runtime* runtime, Legion::TraceID trace,
            std::int64_t times, const Step& step) {
  for (std::int64_t i = 0; i < times; ++i) {
    runtime->begin_trace(context, trace);
    step();
    runtime->end_trace(context, trace);
  }
}

// Ends the program: `elapsed 12.34 ms`; where `wrong` results are not those of the serial
// reference, it says so on standard error and exits with 1. Of several shards one speaks.
void report(Legion::Context context, Legion::Runtime* runtime, long long nanoseconds,
            std::int64_t wrong);

}  // namespace program
