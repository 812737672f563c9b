// The application pennant, after Regent's pennant.rg: Lagrangian hydrodynamics on a mesh of
// quadrilaterals. The mesh is a rectangle that is cut into strips along y, one for each piece. A
// zone of the mesh has four sides. The points on a cut belong to the strip below the cut and are
// ghosts of both strips.
#include <string>

#include "benchmarks/benchmarks.h"
#include "groma/app_builder.h"

namespace groma::app {
namespace {

constexpr const char* kZones = "rz_all_p";
constexpr const char* kPrivate = "rp_all_private_p";
constexpr const char* kShared = "rp_all_shared_p";
constexpr const char* kGhost = "rp_all_ghost_p";
constexpr const char* kSides = "rs_all_p";

// Adds the regions for zones, sides and points, with their partitions by strips.
void add_pennant_data(AppBuilder& app) {
  app.region("rz_all", {"pieces * zx * zy"})
      .fields({"zvol", "zvol0", "zareap", "zvolp", "zdl", "zm", "zrp", "zr", "ze", "zwrate", "zp",
               "zss", "zdu", "zarea", "zetot", "zw", "z0tmp"},
              8)
      .fields({"zxp", "zx", "zuc"}, 16)
      .field("znump", 1)
      .partition(kZones, {"pieces"});
  // In Regent, a pointer has 8 bytes. A pointer that may point into several regions has one byte
  // more.
  app.region("rs_all", {"pieces * 4 * zx * zy"})
      .fields({"mapsz", "mapss3", "mapss4"}, 8)
      .fields({"mapsp1", "mapsp2"}, 9)
      .fields({"sareap", "elen", "smf", "carea", "cevol", "cdu", "cdiv", "ccos", "sarea"}, 8)
      .fields({"exp", "ex", "sfp", "sft", "sfq", "cqe1", "cqe2"}, 16)
      .partition(kSides, {"pieces"});
  // Adds a region of mesh points: private, shared and ghost points have the same fields.
  const auto points = [&](const char* name, const Formula& count) {
    app.region(name, {count}, {"rp_all"})
        .fields({"pf", "px", "pu", "px0", "pxp", "pu0"}, 16)
        .field("pmaswt", 8)
        .fields({"has_bcx", "has_bcy"}, 1);
  };
  // There are pieces * zy + 1 rows of points; pieces - 1 of these rows lie on cuts.
  points("rp_all_private", "(pieces * (zy - 1) + 2) * row");
  app.pieces(kPrivate, {"pieces"}, {"i"}, {"(i * (zy - 1) + (i > 0)) * row"},
             {"(zy - 1 + (i == 0) + (i == pieces - 1)) * row"});
  points("rp_all_shared", "(pieces - 1) * row");
  // The last strip has no shared points, because no cut lies above it.
  app.pieces(kShared, {"pieces"}, {"i"}, {"i * row"}, {"row"});
  app.pieces(kGhost, {"pieces"}, {"i"}, {"max(i - 1, 0) * row"}, {"(1 + (i > 0)) * row"});
}

// Returns a variant with `flops` operations for each zone (or point) and with `kernels` kernels.
// The numbers of operations are counted in the source. Each loop of the source is a kernel. A loop
// passes once over the data of its requirements, so the traffic is the size of their pieces, which
// is the default.
VariantBuilder hydro(VariantBuilder variant, int flops, int kernels) {
  return variant.leaf().flops(std::to_string(flops) + " * points(0)").kernels(kernels);
}

// Adds the 23 tasks of a cycle, in the order in which a cycle launches them.
void add_cycle(AppBuilder& app) {
  const auto task = [&app](const char* name, int flops, int kernels) -> AppBuilder& {
    return app.task(name)
        .variant(hydro(cpu(), flops, kernels))
        .variant(hydro(gpu(), flops, kernels));
  };
  task("init_step_points", 0, 3).writes(kPrivate, {"pf", "pmaswt"});
  task("init_step_zones", 0, 1).reads(kZones, {"zvol"}).writes(kZones, {"zvol0"});
  task("adv_pos_half", 4, 2).reads(kPrivate, {"px", "pu"}).writes(kPrivate, {"px0", "pxp", "pu0"});
  task("calc_centers", 36, 2)
      .reads(kZones, {"znump"})
      .writes(kZones, {"zxp"})
      .reads(kPrivate, {"pxp"})
      .reads(kGhost, {"pxp"})
      .reads(kSides, {"mapsz", "mapsp1", "mapsp2"})
      .writes(kSides, {"exp"});
  task("calc_volumes", 84, 2)
      .reads(kZones, {"zxp", "znump"})
      .writes(kZones, {"zareap", "zvolp"})
      .reads(kPrivate, {"pxp"})
      .reads(kGhost, {"pxp"})
      .reads(kSides, {"mapsz", "mapsp1", "mapsp2"})
      .writes(kSides, {"sareap", "elen"});
  task("calc_char_len", 12, 2)
      .reads(kZones, {"znump"})
      .writes(kZones, {"zdl"})
      .ignores(kPrivate)
      .ignores(kGhost)
      .reads(kSides, {"mapsz", "sareap", "elen"});
  task("calc_rho_half", 1, 1).reads(kZones, {"zvolp", "zm"}).writes(kZones, {"zrp"});
  task("sum_point_mass", 20, 1)
      .reads(kZones, {"zareap", "zrp"})
      .writes(kPrivate, {"pmaswt"})
      .reduces(kGhost, {"pmaswt"})
      .reads(kSides, {"mapsz", "mapsp1", "mapss3", "smf"});
  task("calc_state_at_half", 27, 1)
      .reads(kZones, {"zvol0", "zvolp", "zm", "zr", "ze", "zwrate"})
      .writes(kZones, {"zp", "zss"});
  task("calc_force_pgas_tts", 76, 1)
      .reads(kZones, {"zxp", "zareap", "zrp", "zp", "zss"})
      .ignores(kPrivate)
      .ignores(kGhost)
      .reads(kSides, {"mapsz", "sareap", "smf", "exp"})
      .writes(kSides, {"sfp", "sft"});
  task("qcs_zone_center_velocity", 20, 2)
      .reads(kZones, {"znump"})
      .writes(kZones, {"zuc"})
      .reads(kPrivate, {"pu"})
      .reads(kGhost, {"pu"})
      .reads(kSides, {"mapsz", "mapsp1"});
  task("qcs_corner_divergence", 460, 1)
      .reads(kZones, {"zxp", "zuc"})
      .reads(kPrivate, {"pxp", "pu"})
      .reads(kGhost, {"pxp", "pu"})
      .reads(kSides, {"mapsz", "mapsp1", "mapsp2", "mapss3", "exp", "elen"})
      .writes(kSides, {"carea", "cevol", "cdu", "cdiv", "ccos"});
  task("qcs_qcn_force", 88, 1)
      .reads(kZones, {"zrp", "zss"})
      .reads(kPrivate, {"pu"})
      .reads(kGhost, {"pu"})
      .reads(kSides, {"mapsz", "mapsp1", "mapsp2", "mapss3", "elen", "cevol", "cdu", "cdiv"})
      .writes(kSides, {"cqe1", "cqe2"});
  task("qcs_force", 92, 1)
      .ignores(kZones)
      .ignores(kPrivate)
      .ignores(kGhost)
      .reads(kSides, {"mapss4", "elen", "carea", "ccos", "cqe1", "cqe2"})
      .writes(kSides, {"sfq"});
  task("qcs_vel_diff", 44, 3)
      .reads(kZones, {"zss"})
      .writes(kZones, {"zdu", "z0tmp"})
      .reads(kPrivate, {"pxp", "pu"})
      .reads(kGhost, {"pxp", "pu"})
      .reads(kSides, {"mapsz", "mapsp1", "mapsp2", "elen"});
  task("sum_point_force", 32, 1)
      .reads(kZones, {"znump"})
      .writes(kPrivate, {"pf"})
      .reduces(kGhost, {"pf"})
      .reads(kSides, {"mapsz", "mapsp1", "mapss3", "sft", "sfq"});
  task("apply_boundary_conditions", 8, 1)
      .reads(kPrivate, {"has_bcx", "has_bcy"})
      .writes(kPrivate, {"pu0", "pf"});
  task("adv_pos_full", 14, 1)
      .reads(kPrivate, {"px0", "pu0", "pf", "pmaswt"})
      .writes(kPrivate, {"px", "pu"});
  task("calc_centers_full", 36, 2)
      .reads(kZones, {"znump"})
      .writes(kZones, {"zx"})
      .reads(kPrivate, {"px"})
      .reads(kGhost, {"px"})
      .reads(kSides, {"mapsz", "mapsp1", "mapsp2"})
      .writes(kSides, {"ex"});
  task("calc_volumes_full", 60, 2)
      .reads(kZones, {"zx", "znump"})
      .writes(kZones, {"zarea", "zvol"})
      .reads(kPrivate, {"px"})
      .reads(kGhost, {"px"})
      .reads(kSides, {"mapsz", "mapsp1", "mapsp2"})
      .writes(kSides, {"sarea"});
  task("calc_work", 88, 2)
      .reads(kZones, {"znump"})
      .writes(kZones, {"zetot", "zw"})
      .reads(kPrivate, {"pxp", "pu0", "pu"})
      .reads(kGhost, {"pxp", "pu0", "pu"})
      .reads(kSides, {"mapsz", "mapsp1", "mapsp2", "sfp", "sfq"});
  task("calc_work_rate_energy_rho_full", 7, 1)
      .reads(kZones, {"zvol0", "zvol", "zm", "zetot", "zw", "zp"})
      .writes(kZones, {"zr", "ze", "zwrate"});
  task("calc_dt_hydro", 8, 2).reads(kZones, {"zvol0", "zvol", "zdl", "zss", "zdu"});
}

// Adds the tasks that run only once, and the small tasks on one processor. Which data they access
// is estimated.
void add_pennant_setup(AppBuilder& app) {
  const auto both = [&app](const char* name) -> AppBuilder& {
    return app.task(name).variant(hydro(cpu(), 10, 1)).variant(hydro(gpu(), 10, 1));
  };
  app.task("read_partitions").variant(cpu().leaf());
  app.task("initialize_topology")
      .variant(cpu().leaf())
      .writes(kZones, {"znump"})
      .writes(kPrivate, {"px", "has_bcx", "has_bcy"})
      .writes(kShared, {"px", "has_bcx", "has_bcy"})
      .ignores(kGhost)
      .writes(kSides, {"mapsz", "mapsp1", "mapsp2", "mapss3", "mapss4"});
  app.task("init_pointers")
      .variant(cpu().leaf())
      .ignores(kZones)
      .ignores(kPrivate)
      .ignores(kGhost)
      .writes(kSides, {"mapsp1", "mapsp2"});
  both("init_mesh_zones").writes(kZones, {"zx", "zarea", "zvol"});
  both("init_side_fracs")
      .reads(kZones, {"zarea"})
      .reads(kSides, {"mapsz", "sarea"})
      .writes(kSides, {"smf"});
  both("init_hydro")
      .reads(kZones, {"zx", "zvol"})
      .writes(kZones, {"zm", "zr", "ze", "zwrate", "zetot"});
  both("init_radial_velocity").reads(kPrivate, {"px"}).writes(kPrivate, {"pu"});
  for (const char* name :
       {"calc_global_dt", "continue_simulation", "__binary_double", "__unary_double"}) {
    app.task(name).variant(cpu().leaf());
  }
}

LaunchBuilder everywhere(const char* task) { return launch(task).over({"pieces"}); }
LaunchBuilder on_shared(const char* task) { return everywhere(task).on(kShared).on(kShared); }

// Returns the statements of one cycle: its launches, and the futures of the time step that connect
// them.
std::vector<AppStatement> cycle() {
  std::vector<AppStatement> body = {
      everywhere("init_step_points"),
      everywhere("init_step_points").on(kShared),
      everywhere("init_step_zones"),
      launch("calc_global_dt").takes("dthydro").takes("dt").gives("dt"),
      launch("__binary_double").takes("dt").gives("half_dt"),
      everywhere("adv_pos_half").takes("half_dt"),
      on_shared("adv_pos_half").takes("half_dt")};
  for (const char* task :
       {"calc_centers", "calc_volumes", "calc_char_len", "calc_rho_half", "sum_point_mass",
        "calc_state_at_half", "calc_force_pgas_tts", "qcs_zone_center_velocity",
        "qcs_corner_divergence", "qcs_qcn_force", "qcs_force", "qcs_vel_diff", "sum_point_force",
        "apply_boundary_conditions"}) {
    body.emplace_back(everywhere(task));
  }
  body.emplace_back(on_shared("apply_boundary_conditions"));
  body.emplace_back(everywhere("adv_pos_full"));
  body.emplace_back(on_shared("adv_pos_full"));
  for (const char* task :
       {"calc_centers_full", "calc_volumes_full", "calc_work", "calc_work_rate_energy_rho_full"}) {
    body.emplace_back(everywhere(task));
  }
  // The launch of calc_dt_hydro gives a future: the minimum of the possible time steps of all
  // pieces. Nothing else makes all pieces wait for each other.
  body.emplace_back(everywhere("calc_dt_hydro").gives("dthydro"));
  // In each cycle, the original program launches about 8 small tasks that compute with futures
  // (sums, products, comparisons). The first of these launches is near the beginning of this
  // function; the others follow here.
  for (int i = 0; i < 6; ++i) {
    body.emplace_back(launch("__binary_double").takes("dt").gives("time"));
  }
  body.emplace_back(launch("__unary_double").takes("time").gives("time"));
  body.emplace_back(launch("continue_simulation").takes("time").gives("more"));
  body.push_back(wait("more"));
  return body;
}

}  // namespace

// Returns the application: the setup, two cycles that are not timed, and the timed cycles.
Application pennant() {
  AppBuilder app("pennant", "Lagrangian hydrodynamics on an unstructured mesh (Regent).");
  app.parameter("nodes", 1, "nodes of the machine", 1, 1 << 16)
      .counts_nodes()
      .parameter("gpus", 4, "points of a launch for each node", 1, 1 << 10)
      .parameter("zx", 320, "zones of the mesh in x", 1, 1 << 20)
      .parameter("zy", 1'440, "zones of a piece in y", 1, 1 << 20)
      // The original program runs 90 cycles and measures 30 of them.
      .parameter("loops", 10, "timed cycles", 1, 1 << 20);
  app.define("pieces", "nodes * gpus").define("row", "zx + 1");
  app.size("small", {{"zx", 320}, {"zy", 360}},
           "115,200 zones a GPU, a cycle of 1 ms: the launches of 43 kernels weigh as much")
      .size("middle", {{"zx", 320}, {"zy", 1'440}},
            "the input leblanc_long1x30 over 4 GPUs: 4.5 ms a cycle")
      .size("large", {{"zx", 320}, {"zy", 23'040}},
            "the mesh of the paper's scripts, leblanc_long16x30 over 4 GPUs: 8.8 GB a GPU");
  app.metric("zones/s", "pieces * zx * zy * loops", "timed");
  add_pennant_data(app);
  add_cycle(app);
  add_pennant_setup(app);
  app.task("toplevel")
      .variant(cpu().replicable())
      .body({launch("read_partitions").gives("config"), wait("config"),
             everywhere("initialize_topology"), everywhere("init_pointers"),
             everywhere("init_mesh_zones"), everywhere("calc_centers_full"),
             everywhere("calc_volumes_full"), everywhere("init_side_fracs"),
             everywhere("init_hydro"), everywhere("init_radial_velocity"),
             on_shared("init_radial_velocity"), traced_loop(2, cycle()), wait(),
             phase("timed", {traced_loop("loops", cycle()), wait()})});
  Application pennant = app.top_level("toplevel").done();
  // Regent's code asserts that the stride between elements is the size of the field. So each field
  // must be stored separately.
  for (AppTask& task : pennant.tasks) {
    for (std::uint32_t r = 0; r < task.requirements.size(); ++r) {
      if (task.requirements[r].privilege == Privilege::kNoAccess) continue;
      LayoutDemand demand;
      demand.requirement = r;
      demand.fields = FieldOrder::kSoa;
      for (AppVariant& variant : task.variants) variant.demands.push_back(demand);
    }
  }
  return pennant;
}

}  // namespace groma::app
