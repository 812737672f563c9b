// A Legion program that says where its tasks and data were: `spread` has 8 points, each with a
// variant for CPUs and one for OpenMP, and a piece of a region of 64 numbers.
//
//   spread [FLAGS]
//
// It prints a line for each point, `point 3: node 1 OMP 0, SYSMEM of node 1`, and the sum of what
// the points computed. It exits with 1 where a number is wrong.
#include <legion.h>

#include <algorithm>
#include <cstdio>
#include <set>
#include <vector>

namespace {

using Legion::Context;
using Legion::PhysicalRegion;
using Legion::Processor;
using Legion::Rect;
using Legion::Runtime;

enum : Legion::TaskID { kTop = 1, kSpread, kSum };
constexpr Legion::FieldID kNumber = 10;
constexpr Legion::coord_t kPoints = 8, kNumbers = 64, kSteps = 3;

struct Place {
  unsigned node = 0, memory_node = 0;
  int index = 0;  // among the node's processors of that kind
  bool is_omp = false, is_sysmem = false;
};

template <Legion::PrivilegeMode mode>
using Numbers = Legion::FieldAccessor<mode, long long, 1, Legion::coord_t,
                                      Realm::AffineAccessor<long long, 1, Legion::coord_t>>;

// Adds one to each number of its piece.
Place spread(const Legion::Task*, const std::vector<PhysicalRegion>& regions, Context context,
             Runtime* runtime) {
  const Numbers<LEGION_READ_WRITE> numbers(regions[0], kNumber);
  const Rect<1> piece = regions[0].get_bounds<1, Legion::coord_t>().bounds;
  for (Legion::coord_t i = piece.lo[0]; i <= piece.hi[0]; ++i) numbers[i] += 1;

  const Processor here = runtime->get_executing_processor(context);
  Legion::Machine::ProcessorQuery query(Legion::Machine::get_machine());
  query.local_address_space().only_kind(here.kind());
  std::vector<Processor> all(query.begin(), query.end());
  std::sort(all.begin(), all.end());
  std::set<Legion::Memory> memories;
  regions[0].get_memories(memories);
  Place place;
  place.node = here.address_space();
  place.index = static_cast<int>(std::find(all.begin(), all.end(), here) - all.begin());
  place.is_omp = here.kind() == Processor::OMP_PROC;
  place.memory_node = memories.begin()->address_space();
  place.is_sysmem = memories.begin()->kind() == Legion::Memory::SYSTEM_MEM;
  return place;
}

long long sum(const Legion::Task*, const std::vector<PhysicalRegion>& regions, Context, Runtime*) {
  const Numbers<LEGION_READ_ONLY> numbers(regions[0], kNumber);
  long long sum = 0;
  for (Legion::coord_t i = 0; i < kNumbers; ++i) sum += numbers[i];
  return sum;
}

void top(const Legion::Task*, const std::vector<PhysicalRegion>&, Context context,
         Runtime* runtime) {
  const auto space = runtime->create_index_space(context, Rect<1>(0, kNumbers - 1));
  const auto fields = runtime->create_field_space(context);
  runtime->create_field_allocator(context, fields).allocate_field(sizeof(long long), kNumber);
  const auto region = runtime->create_logical_region(context, space, fields);
  runtime->attach_name(region, "numbers");
  runtime->fill_field<long long>(context, region, region, kNumber, 0);
  const auto colors = runtime->create_index_space(context, Rect<1>(0, kPoints - 1));
  const auto pieces = runtime->get_logical_partition(
      context, region, runtime->create_equal_partition(context, space, colors));
  Legion::FutureMap places;
  for (int step = 0; step < kSteps; ++step) {
    Legion::IndexTaskLauncher launcher(kSpread, Legion::Domain(Rect<1>(0, kPoints - 1)),
                                       Legion::UntypedBuffer(), Legion::ArgumentMap());
    launcher.add_region_requirement(
        Legion::RegionRequirement(pieces, 0, LEGION_READ_WRITE, LEGION_EXCLUSIVE, region)
            .add_field(kNumber));
    places = runtime->execute_index_space(context, launcher);
  }
  for (Legion::coord_t point = 0; point < kPoints; ++point) {
    const auto place = places.get_result<Place>(Legion::DomainPoint(point));
    std::printf("point %d: node %u %s %d, %s of node %u\n", static_cast<int>(point), place.node,
                place.is_omp ? "OMP" : "CPU", place.index,
                place.is_sysmem ? "SYSMEM" : "another memory", place.memory_node);
  }
  Legion::TaskLauncher launcher(kSum, Legion::UntypedBuffer());
  launcher.add_region_requirement(
      Legion::RegionRequirement(region, LEGION_READ_ONLY, LEGION_EXCLUSIVE, region)
          .add_field(kNumber));
  const auto total = runtime->execute_task(context, launcher).get_result<long long>();
  std::printf("sum %lld\n", total);
  if (total != kNumbers * kSteps) Runtime::set_return_code(1);
}

}  // namespace

int main(int argc, char** argv) {
  const auto add = [](Legion::TaskID id, const char* name, Processor::Kind kind, auto preregister) {
    Legion::TaskVariantRegistrar registrar(id, name);
    registrar.add_constraint(Legion::ProcessorConstraint(kind));
    registrar.set_leaf(id != kTop);
    preregister(registrar, name);
  };
  add(kTop, "top", Processor::LOC_PROC, [](auto& registrar, const char* name) {
    Runtime::preregister_task_variant<top>(registrar, name);
  });
  for (const Processor::Kind kind : {Processor::LOC_PROC, Processor::OMP_PROC}) {
    add(kSpread, "spread", kind, [](auto& registrar, const char* name) {
      Runtime::preregister_task_variant<Place, spread>(registrar, name);
    });
  }
  add(kSum, "sum", Processor::LOC_PROC, [](auto& registrar, const char* name) {
    Runtime::preregister_task_variant<long long, sum>(registrar, name);
  });
  Runtime::set_top_level_task_id(kTop);
  return Runtime::start(argc, argv);
}
