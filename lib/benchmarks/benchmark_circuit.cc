// The application circuit, after Regent's circuit_sparse.rg. It is a graph of nodes and wires that
// is divided into pieces. A node at the end of a wire that leaves its piece is called shared. A
// piece sees the shared nodes of its neighbours as ghosts.
#include <string>

#include "benchmarks/benchmarks.h"
#include "groma/app_builder.h"

namespace groma::app {
namespace {

// The number of wire ends of a piece that lie in each region. Requirement 3 of a task holds the
// wires, so points(3) is the number of wires. Of the 2,000 ends of 1,000 wires, 990 + 792 lie at
// private nodes of the piece, 10 + 8 at its shared nodes, and 200 at ghosts. In other words, 80 %
// of the wires stay in the piece, and 1 % of the nodes are shared.
constexpr const char* kPrivateEnds = "1782 * points(3) / 1000";
constexpr const char* kSharedEnds = "18 * points(3) / 1000";
constexpr const char* kGhostEnds = "200 * points(3) / 1000";

// Returns the formula for the bytes of `count` accesses of `bytes` bytes each.
std::string times(int bytes, const char* count) {
  return std::to_string(bytes) + " * (" + count + ")";
}

// Returns the names that Regent gives to the elements of an array field: name._0, name._1 and so
// on.
std::vector<std::string> numbered(const std::string& name, int count) {
  std::vector<std::string> names;
  for (int i = 0; i < count; ++i) names.push_back(name + "._" + std::to_string(i));
  return names;
}

// Returns the variant with the work of calculate_new_currents. The task reads the voltage at both
// ends of each wire, in whole sectors of `sector` bytes. In each of `steps` time steps, it computes
// 10 currents with 6 operations each and 9 inner voltages with 4 operations each.
VariantBuilder new_currents(VariantBuilder variant, int sector) {
  return variant.leaf()
      .flops("points(3) * steps * 96")
      .single_precision()
      .traffic(0, times(sector, kPrivateEnds), Access::kScatter)
      .traffic(1, times(sector, kSharedEnds), Access::kScatter)
      .traffic(2, times(sector, kGhostEnds), Access::kScatter);
}

// Returns the variant with the work of distribute_charge. The task adds a charge at both ends of
// each wire, which needs one atomic access to a sector of `sector` bytes for each end.
VariantBuilder charges(VariantBuilder variant, int sector) {
  return variant.leaf()
      .flops("4 * points(3)")
      .single_precision()
      .traffic(0, times(sector, kPrivateEnds), Access::kAtomic)
      .traffic(1, times(sector, kSharedEnds), Access::kAtomic)
      .traffic(2, times(sector, kGhostEnds), Access::kAtomic);
}

// Returns the variant with the work of update_voltages: 4 operations for each private and each
// shared node.
VariantBuilder voltages(VariantBuilder variant) {
  return variant.leaf().flops("4 * (points(0) + points(2))").single_precision().kernels(2);
}

// Adds the regions for nodes, wires, times and ghost ranges, with their partitions by pieces.
void add_circuit_data(AppBuilder& app) {
  const std::vector<std::string> node = {"node_cap", "leakage", "charge", "node_voltage"};
  app.region("all_private", {"total * private_each"}, {"rp_all_nodes", "all_nodes"})
      .fields(node, 4)
      .partition("rp_private", {"total"});
  app.region("all_shared", {"total * shared_each"}, {"rp_all_nodes", "all_nodes"})
      .fields(node, 4)
      .partition("rp_shared", {"total"})
      .partition("rp_ghost", {"total"})
      .halo({"reach"});
  // In Regent, a pointer has 8 bytes. A pointer that may point into several regions has one byte
  // more, which selects the region.
  app.region("all_wires", {"total * superpiece * wpp"})
      .fields({"in_ptr", "out_ptr"}, 9)
      .fields({"inductance", "resistance", "wire_cap"}, 4)
      .fields(numbered("current", 10), 4)
      .fields(numbered("voltage", 9), 4)
      .partition("rp_wires", {"total"});
  app.region("all_times", {"total"}).fields({"start", "stop"}, 8).partition("rp_times", {"total"});
  app.region("ghost_ranges", {"total"}).field("rect", 16).partition("rp_ghost_ranges", {"total"});
}

// Adds the three tasks of a time loop.
void add_steps(AppBuilder& app) {
  std::vector<std::string> solved = numbered("current", 10);
  for (const std::string& voltage : numbered("voltage", 9)) solved.push_back(voltage);
  app.task("calculate_new_currents")
      .variant(new_currents(cpu(), 64))
      .variant(new_currents(gpu(), 32))
      .reads("rp_private", {"node_voltage"})
      .reads("rp_shared", {"node_voltage"})
      .reads("rp_ghost", {"node_voltage"})
      .reads("rp_wires", {"in_ptr", "out_ptr", "inductance", "resistance", "wire_cap"})
      .writes("rp_wires", solved)
      .writes("rp_times");
  app.task("distribute_charge")
      .variant(charges(cpu(), 64))
      .variant(charges(gpu(), 32))
      .writes("rp_private", {"charge"})
      .reduces("rp_shared", {"charge"})
      .reduces("rp_ghost", {"charge"})
      .reads("rp_wires", {"in_ptr", "out_ptr", "current._0", "current._9"});
  app.task("update_voltages")
      .variant(voltages(cpu()))
      .variant(voltages(gpu()))
      .reads("rp_private", {"node_cap", "leakage"})
      .writes("rp_private", {"charge", "node_voltage"})
      .reads("rp_shared", {"node_cap", "leakage"})
      .writes("rp_shared", {"charge", "node_voltage"})
      .writes("rp_times");
}

// Adds the tasks that build the circuit before the time loop, and those that report at the end.
void add_circuit_setup(AppBuilder& app) {
  app.task("init_nodes", {"c"}).variant(cpu().leaf()).writes("rp_private", {}, {"c"});
  app.task("init_wires", {"c"}).variant(cpu().leaf()).writes("rp_wires", {}, {"c"});
  app.task("init_piece", {"c"})
      .variant(cpu().inner())
      .writes("rp_ghost_ranges")
      .writes("rp_private")
      .writes("rp_shared")
      .ignores("all_shared")
      .writes("rp_wires")
      .body({launch("init_nodes").with({"c"}),
             launch("init_nodes").with({"c"}).on("rp_shared", {"c"}),
             launch("init_wires").with({"c"})});
  app.task("init_pointers")
      .variant(cpu().leaf())
      .ignores("rp_private")
      .ignores("rp_shared")
      .ignores("rp_ghost")
      .writes("rp_wires", {"in_ptr", "out_ptr"});
  app.task("parse_input").variant(cpu().leaf());
  app.task("create_ghost_partition")
      .variant(cpu().leaf())
      .ignores("all_shared")
      .reads("ghost_ranges");
  app.task("get_elapsed").variant(cpu().leaf()).reads("all_times");
  app.task("print_summary").variant(cpu().leaf());
}

}  // namespace

// Returns the application. Each node of the machine has `gpus` points, and each point has
// `superpiece` pieces.
Application circuit() {
  AppBuilder app("circuit", "Currents and voltages of an electric circuit (Regent).");
  app.parameter("nodes", 1, "nodes of the machine", 1, 1 << 16)
      .counts_nodes()
      .parameter("gpus", 4, "points of a launch for each node", 1, 1 << 10)
      .parameter("superpiece", 10, "pieces of a point", 1, 1 << 10)
      .parameter("npp", 5'000, "circuit nodes of a piece", 100, 1 << 28)
      .parameter("wpp", 20'000, "wires of a piece", 1, 1 << 28)
      .parameter("steps", 100, "time steps of one calculation of currents", 1, 1 << 20)
      // The original program runs 110 time loops and measures 50 of them. Here 20 measured loops
      // suffice, because the time of a loop is steady after a few loops.
      .parameter("loops", 20, "timed iterations", 1, 1 << 20);
  app.define("total", "nodes * gpus")
      .define("shared_each", "superpiece * ((npp + 99) / 100)")
      .define("private_each", "superpiece * npp - shared_each")
      // A wire ends at most 3 pieces away from the piece that it belongs to.
      .define("reach", "3 * ((npp + 99) / 100)");
  app.size("small", {{"npp", 500}, {"wpp", 2'000}, {"steps", 10}},
           "20,000 wires a GPU: some 10 us of work a launch: what launches and copies cost")
      .size("middle", {{"npp", 5'000}, {"wpp", 20'000}, {"steps", 100}},
            "the graph of the paper's scripts, 200,000 wires a GPU; with few steps the ghosts' "
            "place weighs as much as the arithmetic")
      .size("large", {{"npp", 2'500'000}, {"wpp", 10'000'000}, {"steps", 100}},
            "100 million wires, 11 GB a GPU: near the memory of one of 16 GB");
  app.metric("wires/s", "total * superpiece * wpp * loops", "timed");
  add_circuit_data(app);
  add_steps(app);
  add_circuit_setup(app);

  const std::vector<AppStatement> step = {launch("calculate_new_currents").over({"total"}),
                                          launch("distribute_charge").over({"total"}),
                                          launch("update_voltages").over({"total"})};
  app.task("toplevel")
      .variant(cpu().replicable())
      .body({launch("parse_input").gives("config"), wait("config"),
             launch("init_piece").over({"total"}, {"c"}).with({"c"}),
             launch("create_ghost_partition"), launch("init_pointers").over({"total"}),
             traced_loop(2, step), wait(), phase("timed", {traced_loop("loops", step), wait()}),
             launch("get_elapsed").gives("elapsed"), wait("elapsed"),
             launch("print_summary").over({"total"})});
  return app.top_level("toplevel").done();
}

}  // namespace groma::app
