// The application stencil, after Regent's stencil_fast.rg and the Parallel Research Kernels: a star
// of radius 2 on a grid of doubles. The grid is divided into tiles. Tiles exchange their edges
// through separate regions, one for each direction.
#include <initializer_list>
#include <string>
#include <utility>

#include "benchmarks/benchmarks.h"
#include "groma/app_builder.h"

namespace groma::app {
namespace {

// Returns the leaf variant with the layout that Regent's code asserts for these requirements: the
// first dimension is contiguous and each field is stored separately. Otherwise the program stops
// with "stride does not match expected value".
VariantBuilder regent(VariantBuilder variant,
                      std::initializer_list<std::uint32_t> two_dimensional) {
  variant.leaf();
  for (std::uint32_t requirement : two_dimensional) {
    LayoutDemand demand;
    demand.requirement = requirement;
    demand.dimensions = DimensionOrder::kFortran;
    demand.fields = FieldOrder::kSoa;
    variant.demand(demand);
  }
  return variant;
}

// Returns the variant with the work of the star: 8 products, 8 sums, and one sum with the old
// output for each inner point. The task first copies the four halos into the tile.
VariantBuilder star(VariantBuilder variant) {
  return regent(std::move(variant), {0, 2, 3, 4, 5})
      .flops("17 * points(1)")
      .kernels(5)
      .traffic(0, "24 * points(1) + 8 * (points(2) + points(3) + points(4) + points(5))");
}

// Returns the variant with the work of `increment`: the task adds 1 to the input of each point and
// copies the four edges out.
VariantBuilder increment(VariantBuilder variant) {
  variant = regent(std::move(variant), {0, 2, 3, 4, 5}).flops("points(1)").kernels(5);
  variant.traffic(0, "16 * points(1)");
  for (std::uint32_t halo = 2; halo <= 5; ++halo) {
    variant.traffic(halo, "8 * points(" + std::to_string(halo) + ")");
  }
  return variant;
}

// Adds the regions and their partitions by tiles. Point i of a launch is tile (i % ntx, i / ntx).
void add_stencil_data(AppBuilder& app) {
  const Formulas tiles = {"ntx * nty"};
  // Each tile is stored with a border of 2 points, the radius of the star, on each side.
  app.region("points", {"ntx * (edge + 4)", "nty * (edge + 4)"})
      .fields({"input", "input1", "output"}, 8)
      .pieces("private", tiles, {"i"}, {"i % ntx * (edge + 4)", "i / ntx * (edge + 4)"},
              {"edge + 4", "edge + 4"});
  for (const char* name : {"interior", "exterior"}) {
    app.pieces(name, tiles, {"i"}, {"i % ntx * (edge + 4) + 2", "i / ntx * (edge + 4) + 2"},
               {"edge", "edge"});
  }
  // A region of strips serves one direction. A tile writes its own strip (`_out`) and reads the
  // strip of one neighbour (`_in`). A tile at the edge of the grid has no neighbour there, so its
  // strip is empty.
  const auto strips = [&](const std::string& name, bool in_x, int neighbour) {
    const std::string shift = std::to_string(neighbour);
    app.region(name, in_x ? Formulas{"ntx * 2", "nty * edge"} : Formulas{"ntx * edge", "nty * 2"})
        .fields({"input", "input1", "output"}, 8);
    const Formulas extents = in_x ? Formulas{2, "edge"} : Formulas{"edge", 2};
    const auto corner = [&](const std::string& by) {
      return in_x ? Formulas{"(i % ntx + " + by + ") * 2", "i / ntx * edge"}
                  : Formulas{"i % ntx * edge", "(i / ntx + " + by + ") * 2"};
    };
    app.pieces("p" + name + "_out", tiles, {"i"}, corner("0"), extents);
    app.pieces("p" + name + "_in", tiles, {"i"}, corner(shift), extents);
  };
  strips("xm", true, -1);
  strips("xp", true, 1);
  strips("ym", false, -1);
  strips("yp", false, 1);
  app.region("times", {"ntx * nty"}).fields({"start", "stop"}, 8).partition("p_times", tiles);
}

// Adds the two tasks of a step, and the tasks that run once before or after the steps.
void add_tasks(AppBuilder& app) {
  app.task("stencil")
      .variant(star(cpu()))
      .variant(star(gpu()))
      .writes("private")
      .ignores("interior")
      .reads("pxm_in", {"input"})
      .reads("pxp_in", {"input"})
      .reads("pym_in", {"input"})
      .reads("pyp_in", {"input"})
      .writes("p_times");
  app.task("increment")
      .variant(increment(cpu()))
      .variant(increment(gpu()))
      .writes("private", {"input", "input1"})
      .ignores("exterior")
      .writes("pxm_out", {"input"})
      .writes("pxp_out", {"input"})
      .writes("pym_out", {"input"})
      .writes("pyp_out", {"input"})
      .writes("p_times");
  app.task("check")
      .variant(regent(cpu(), {0}))
      .reads("private", {"input", "output"})
      .ignores("interior");
  for (const char* name :
       {"make_private_partition", "make_interior_partition", "make_exterior_partition"}) {
    app.task(name).variant(cpu().leaf()).ignores("points");
  }
  app.task("ghost_x_partition").variant(cpu().leaf()).ignores("xm");
  app.task("ghost_y_partition").variant(cpu().leaf()).ignores("ym");
  app.task("read_config").variant(cpu().leaf());
  app.task("get_elapsed").variant(cpu().leaf()).reads("times");
  app.task("print_time").variant(cpu().leaf());
}

}  // namespace

// Returns the application: the setup, two steps that are not timed, the timed steps, and a check.
Application stencil() {
  AppBuilder app("stencil", "A star of radius 2 on a square grid (Regent).");
  app.parameter("nodes", 1, "nodes of the machine", 1, 1 << 16)
      .counts_nodes()
      .parameter("edge", 3'000, "points of a tile's edge, without its border", 2, 1 << 20)
      // The original program runs 110 steps and measures 50 of them. Here 20 measured steps
      // suffice.
      .parameter("loops", 20, "timed iterations", 1, 1 << 20);
  // Each node has 2 x 2 tiles. If the number of nodes doubles, the grid of nodes doubles in one
  // dimension, in x first.
  app.define("across",
             "nodes % 4096 == 0 ? 64 : nodes % 1024 == 0 ? 32 : nodes % 256 == 0 ? 16 : "
             "nodes % 64 == 0 ? 8 : nodes % 16 == 0 ? 4 : nodes % 4 == 0 ? 2 : 1")
      .define("ntx", "2 * nodes / across")
      .define("nty", "2 * across");
  app.size("small", {{"edge", 500}}, "20 us of work a step: what launches and copies cost")
      .size("middle", {{"edge", 3'000}}, "0.7 ms of work a step, the length of the paper's runs")
      .size("large", {{"edge", 15'000}},
            "the tile of the original scripts: 5.4 GB a GPU, limited by its memory's bandwidth");
  app.metric("points/s", "(ntx * edge + 4) * (nty * edge + 4) * loops", "timed");
  add_stencil_data(app);
  add_tasks(app);

  const std::vector<AppStatement> step = {launch("stencil").over({"ntx * nty"}),
                                          launch("increment").over({"ntx * nty"})};
  std::vector<AppStatement> body = {
      launch("read_config").gives("config"), wait("config"), launch("make_private_partition"),
      launch("make_interior_partition"), launch("make_exterior_partition")};
  for (const char* region : {"xm", "xp", "ym", "yp"}) {
    const char* task = region[0] == 'x' ? "ghost_x_partition" : "ghost_y_partition";
    // As in the original program, each region of strips gets two partitions, `_out` and `_in`, so
    // the task that makes a partition is launched twice for each region.
    body.insert(body.end(), 2, launch(task).on(region));
  }
  const std::vector<AppStatement> rest = {traced_loop(2, step),
                                          wait(),
                                          phase("timed", {traced_loop("loops", step), wait()}),
                                          launch("check").over({"ntx * nty"}),
                                          launch("get_elapsed").gives("elapsed"),
                                          wait("elapsed"),
                                          launch("print_time").over({"ntx * nty"})};
  body.insert(body.end(), rest.begin(), rest.end());
  app.task("main").variant(cpu().replicable()).body(body);
  return app.top_level("main").done();
}

}  // namespace groma::app
