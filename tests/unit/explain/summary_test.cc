// draw_summary(): the decisions of a mapping in a few lines.
#include <gtest/gtest.h>

#include <string>

#include "groma/benchmarks.h"
#include "groma/explain.h"

namespace groma {
namespace {

std::string summary_of(const std::string& mapping, const std::string& machine = "p100x4",
                       const std::string& values = "size=small") {
  const Workload circuit =
      Workload::make(with_values(find_benchmark("circuit")->make(), values).value()).value();
  Diagnostics diags(Source("a.mapper", mapping));
  const auto bound = bind(compile(diags.source(), diags), make_machine(machine).value(), diags);
  return draw_summary(explain(*bound, circuit, {}, diags).value());
}

TEST(Summary, NamesTasksPointsDataAndLimits) {
  EXPECT_EQ(summary_of(R"(
    Task * GPU, CPU;
    Task init_piece CPU;
    Region * rp_ghost GPU ZCMEM, FBMEM;
    Layout distribute_charge rp_ghost * AOS C_order;
    InstanceLimit update_voltages 2 SAME_NODE;
    CollectMemory calculate_new_currents rp_private;
    m = Machine(GPU);
    def first(Task task) { return m[0, 0]; }
    IndexTaskMap calculate_new_currents, distribute_charge first;
    )"),
            R"(Tasks
  on GPU: calculate_new_currents, distribute_charge, update_voltages
  on CPU: init_nodes, init_wires, init_piece, init_pointers, parse_input, create_ghost_partition,
    get_elapsed, print_summary, toplevel
Points of launches
  `first`; 1 of 4 GPU used, at most 4 points on one: calculate_new_currents, distribute_charge
  default mapper, blocks over all GPU; 1 point on each of 4 GPU: update_voltages
  default mapper, blocks over all CPU, of its node any may run a point; 4 of 16 CPU used, at most 1
    point on one: init_piece, init_pointers, print_summary
Data of tasks on CPU
  SYSMEM, SOA F_order: rp_private, rp_shared, rp_wires, ghost_ranges, all_times
Data of tasks on GPU
  FBMEM, SOA F_order: rp_private, rp_shared, rp_wires, rp_times
  ZCMEM, else FBMEM, SOA F_order: rp_ghost (calculate_new_currents)
  ZCMEM, else FBMEM, AOS C_order: rp_ghost (distribute_charge)
Limits and other options
  collected as soon as the task is done: rp_private of calculate_new_currents
  at most 2 instances at a time on all processors of a node: update_voltages
)");
}

TEST(Summary, IsShortForManyTasks) {
  EXPECT_EQ(summary_of("Task * CPU;", "p100x4:nodes=2", "size=small,nodes=2,gpus=3"), R"(Tasks
  on CPU: calculate_new_currents, distribute_charge, update_voltages, init_nodes, init_wires,
    init_piece, init_pointers, parse_input, create_ghost_partition, get_elapsed, print_summary,
    toplevel
Points of launches
  default mapper, blocks over all CPU, of its node any may run a point; 6 of 32 CPU used, at most 1
    point on one: calculate_new_currents, distribute_charge, update_voltages, init_piece,
    init_pointers, print_summary
Data of tasks on CPU
  SYSMEM, SOA F_order: rp_private, rp_shared, rp_ghost, rp_wires, rp_times, ghost_ranges, all_times
Limits and other options
  replicated: toplevel
)");
}

}  // namespace
}  // namespace groma
