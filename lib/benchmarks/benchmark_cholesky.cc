// The application cholesky: a right-looking Cholesky factorisation by tiles. Only the tiles at and
// below the diagonal exist, so its launches over tiles are triangles, not boxes.
#include <string>

#include "benchmarks/benchmarks.h"
#include "groma/app_builder.h"

namespace groma::app {
namespace {

// Returns a leaf variant with this work. OpenBLAS and cuBLAS want Fortran order and separate
// fields.
VariantBuilder blas(VariantBuilder variant, const Formula& flops, std::uint32_t requirements) {
  variant.leaf().flops(flops);
  for (std::uint32_t requirement = 0; requirement < requirements; ++requirement) {
    LayoutDemand demand;
    demand.requirement = requirement;
    demand.dimensions = DimensionOrder::kFortran;
    demand.fields = FieldOrder::kSoa;
    variant.demand(demand);
  }
  return variant;
}

}  // namespace

// Returns the application: the lower triangle of tiles is made, then factored column by column.
// Step k factors the tile (k, k), solves for the tiles below it, and updates the triangle of tiles
// to the right.
Application cholesky() {
  AppBuilder app("cholesky",
                 "Cholesky factorisation of a symmetric matrix by tiles. The launches over tiles "
                 "are triangles.");
  app.parameter("nodes", 1, "nodes of the machine", 1, 1 << 16)
      .counts_nodes()
      .parameter("edge", 2'048, "rows of a tile", 1, 1 << 16)
      .parameter("tiles", 20, "tiles in a row of the matrix", 1, 1 << 11);
  app.define("n", "edge * tiles");
  app.size("small", {{"edge", 512}, {"tiles", 12}}, "tasks shorter than their mapping")
      .size("middle", {{"edge", 2'048}, {"tiles", 20}}, "updates of 4 ms on a GPU, 7 GB of tiles")
      .size("large", {{"edge", 2'048}, {"tiles", 32}}, "17 GB of tiles, more than one GPU has");
  app.metric("FLOP/s", "n * n / 3 * n", "factor");
  app.region("A", {"n", "n"}).fields({"v"}, 8).partition("tile", {"tiles", "tiles"});

  // The share of a processor's speed that a factorisation reaches is small on a GPU, because its
  // columns depend on each other.
  const auto task = [&](const std::string& name, const Formula& flops, std::uint32_t requirements,
                        int percent_on_gpu) -> AppBuilder& {
    return app.task(name)
        .variant(blas(cpu(), flops, requirements))
        .variant(blas(gpu(), flops, requirements).efficiency(percent_on_gpu));
  };
  task("fill_tile", "4 * points(0)", 1, 100).discards("tile");
  task("potrf", "points(0) * extent(0, 0) / 3", 1, 12).writes("tile");
  task("trsm", "points(1) * extent(0, 0)", 2, 60).reads("tile").writes("tile");
  // On the diagonal only half of the tile is updated (DSYRK).
  app.task("update", {"diagonal"})
      .variant(blas(cpu(), "2 * points(2) * extent(0, 1) / (1 + diagonal)", 3))
      .variant(blas(gpu(), "2 * points(2) * extent(0, 1) / (1 + diagonal)", 3).efficiency(95))
      .reads("tile")
      .reads("tile")
      .writes("tile");

  const Formulas left = {"tiles - 1 - k", "tiles - 1 - k"}, corner = {"k + 1", "k + 1"};
  const AppStatement factor = loop("tiles",
                                   {launch("potrf").on("tile", {"k", "k"}),
                                    launch("trsm")
                                        .over({left[0]}, {"i"})
                                        .from({corner[0]})
                                        .on("tile", {"k", "k"})
                                        .on("tile", {"i", "k"}),
                                    launch("update")
                                        .over(left, {"i", "j"})
                                        .from(corner)
                                        .where("j <= i")
                                        .with({"i == j"})
                                        .on("tile", {"i", "k"})
                                        .on("tile", {"j", "k"})
                                        .on("tile", {"i", "j"})},
                                   "k");
  app.task("main")
      .variant(cpu().replicable())
      .body({launch("fill_tile").over({"tiles", "tiles"}, {"i", "j"}).where("j <= i"), wait(),
             phase("factor", {factor, wait()})});
  return app.top_level("main").done();
}

}  // namespace groma::app
