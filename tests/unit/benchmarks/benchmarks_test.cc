// The nine benchmarks against what is known of the originals: tables of requirements, closed
// formulas of what the matrix multiplications communicate, sizes of the data.
#include "groma/benchmarks.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <map>
#include <numeric>
#include <set>

#include "app/data.h"
#include "groma/app_builder.h"
#include "groma/workload.h"
#include "support/app_walk.h"

namespace groma {
namespace {

using app::Data;
using test::Visit;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

const app::Data& data_of(std::string_view name, const std::vector<AppValue>& values = {}) {
  static std::vector<Workload> kept;
  const auto workload = Workload::make(find_benchmark(name)->make(), values);
  EXPECT_TRUE(workload.ok()) << workload.error().message;
  kept.push_back(*workload);
  return kept.back().data();
}

std::vector<Visit> visits_of(const Data& data, std::string_view task) {
  std::vector<Visit> visits;
  test::walk(data, [&](const Visit& visit) {
    if (visit.task->name == task) visits.push_back(visit);
  });
  return visits;
}

std::int64_t value_of(const Data& data, const app::CompiledFormula& code, const Visit& visit) {
  app::FormulaFault fault = app::FormulaFault::kNone;
  const std::vector<std::int64_t> frame(static_cast<std::size_t>(visit.task->frame_size));
  std::vector<app::PieceSize> pieces;
  for (const Rect& piece : visit.pieces) pieces.push_back({&piece, piece.volume()});
  const std::int64_t value = code.value(frame, fault, pieces);
  EXPECT_EQ(fault, app::FormulaFault::kNone) << data.name;
  return value;
}

std::int64_t bytes_of(const app::Requirement& requirement) {
  std::int64_t bytes = 0;
  for (const AppField& field : requirement.fields) bytes += field.bytes;
  return bytes;
}

std::int64_t common(const Rect& a, const Rect& b) {
  std::int64_t volume = 1;
  for (int d = 0; d < a.dimensions(); ++d) {
    const std::int64_t lower = std::max(a.lower[d], b.lower[d]);
    const std::int64_t upper = std::min(a.lower[d] + a.extents[d], b.lower[d] + b.extents[d]);
    volume *= std::max<std::int64_t>(upper - lower, 0);
  }
  return volume;
}

// "0+4 x 8+4": from where and how far, by dimension.
std::string text_of(const Rect& rect) {
  std::string text;
  for (int d = 0; d < rect.dimensions(); ++d) {
    text += fmt::format("{}{}+{}", d == 0 ? "" : " x ", rect.lower[d], rect.extents[d]);
  }
  return text;
}

// "RO rp_private{node_voltage}"
std::vector<std::string> requirements_of(const Application& app, std::string_view task) {
  std::vector<std::string> texts;
  for (const AppRequirement& requirement : app.find(task)->requirements) {
    constexpr std::string_view kShort[] = {"NA", "RO", "RW", "WO", "RED"};
    std::string text =
        fmt::format("{} {}", kShort[static_cast<int>(requirement.privilege)], requirement.data.of);
    if (!requirement.fields.empty()) {
      std::string fields;
      for (const AppField& field : requirement.fields) {
        fields += (fields.empty() ? "" : ",") + field.name;
      }
      text += requirement.fields.size() > 6
                  ? fmt::format("{{{} fields, {} B}}", requirement.fields.size(),
                                std::accumulate(requirement.fields.begin(),
                                                requirement.fields.end(), std::int64_t{0},
                                                [](std::int64_t sum, const AppField& field) {
                                                  return sum + field.bytes;
                                                }))
                  : "{" + fields + "}";
    }
    texts.push_back(text);
  }
  return texts;
}

// ---- All nine

TEST(Benchmarks, EachHasThreeSizesAndRunsOnOneNodeAndFour) {
  ASSERT_EQ(benchmarks().size(), 9u);
  for (const Benchmark& benchmark : benchmarks()) {
    SCOPED_TRACE(benchmark.name);
    const Application app = benchmark.make();
    EXPECT_EQ(app.name, benchmark.name);
    EXPECT_FALSE(benchmark.summary.empty() || app.description.empty());
    ASSERT_EQ(app.sizes.size(), 3u);
    for (const AppSize& size : app.sizes) {
      EXPECT_FALSE(size.reason.empty());
      for (std::int64_t nodes : {1, 4}) {
        std::vector<AppValue> values = size.values;
        values.emplace_back("nodes", nodes);
        const auto workload = Workload::make(app, values);
        ASSERT_TRUE(workload.ok()) << workload.error().message;
        // Every colour is one of its partition's (walk), and what is timed launches.
        std::int64_t points = 0;
        test::walk(workload->data(), [&](const Visit& visit) { points += visit.in_phase ? 1 : 0; });
        EXPECT_GE(points, 4 * nodes);
      }
    }
    // Without a size, the middle one.
    for (const auto& [name, value] : app.sizes[1].values) {
      for (const AppParameter& parameter : app.parameters) {
        if (parameter.name == name) {
          EXPECT_EQ(parameter.value, value) << name;
        }
      }
    }
    EXPECT_EQ(app.sizes[0].name + app.sizes[1].name + app.sizes[2].name, "smallmiddlelarge");
  }
  EXPECT_EQ(find_benchmark("canon"), nullptr);
}

// Whether a requirement of `of` covers that of its child: the data, all fields, the privilege.
bool covers(const Visit& of, std::size_t own, const Visit& child, std::size_t childs) {
  const app::Requirement& has = of.task->requirements[own];
  const app::Requirement& wants = child.task->requirements[childs];
  if (of.launch->data[own].region != child.launch->data[childs].region) return false;
  const std::int64_t volume = child.pieces[childs].volume();
  const bool all =
      std::all_of(wants.fields.begin(), wants.fields.end(), [&](const AppField& field) {
        return std::find(has.fields.begin(), has.fields.end(), field) != has.fields.end();
      });
  return all && common(of.pieces[own], child.pieces[childs]) == volume &&
         (has.privilege == wants.privilege || has.privilege == Privilege::kReadWrite);
}

// What a task launches works on what the task itself has.
TEST(Benchmarks, ChildrenStayWithinTheirParents) {
  std::set<std::string> nested;
  for (const Benchmark& benchmark : benchmarks()) {
    for (std::int64_t nodes : {1, 2, 4}) {
      test::walk(data_of(benchmark.name, {{"nodes", nodes}}), [&](const Visit& visit) {
        if (visit.parent == nullptr) return;
        nested.insert(visit.task->name);
        for (std::size_t r = 0; r < visit.pieces.size(); ++r) {
          bool covered = false;
          for (std::size_t own = 0; own < visit.parent->pieces.size(); ++own) {
            covered = covered || covers(*visit.parent, own, visit, r);
          }
          EXPECT_TRUE(covered) << benchmark.name << ", requirement " << r << " of "
                               << visit.task->name;
        }
      });
    }
  }
  EXPECT_THAT(nested, ElementsAre("init_nodes", "init_wires", "task_4", "task_5", "task_6"));
}

// Partitions that are written by one launch: their pieces do not meet and leave nothing out.
TEST(Benchmarks, DisjointPartitionsCoverTheirRegions) {
  const std::map<std::string, std::vector<std::string>> disjoint = {
      {"circuit", {"rp_private", "rp_shared", "rp_wires", "rp_times", "rp_ghost_ranges"}},
      {"stencil", {"private", "pxm_out", "pxp_out", "pym_out", "pyp_out", "p_times"}},
      {"pennant", {"rz_all_p", "rp_all_private_p", "rp_all_shared_p", "rs_all_p"}},
      {"cannon", {"A_tiles", "B_tiles", "C_tiles", "A_nodes", "B_quarters"}},
      {"summa", {"A_tiles", "B_tiles", "C_tiles", "B_blocks"}},
      {"pumma", {"A_tiles", "B_tiles", "C_tiles", "C_blocks"}},
      {"johnson", {"A_tiles", "B_tiles", "C_tiles"}},
      {"solomonik", {"A_tiles", "B_tiles", "C_tiles", "B_steps", "C_steps"}},
      {"cosma", {"A_tiles", "B_tiles", "C_tiles"}}};
  for (const Benchmark& benchmark : benchmarks()) {
    for (std::int64_t nodes : {1, 2, 3, 4, 8}) {
      const Data& data = data_of(benchmark.name, {{"nodes", nodes}});
      for (const std::string& name : disjoint.at(std::string(benchmark.name))) {
        SCOPED_TRACE(fmt::format("{} of {} on {} nodes", name, benchmark.name, nodes));
        const auto found =
            std::find_if(data.partitions.begin(), data.partitions.end(),
                         [&](const app::Partition& each) { return each.name == name; });
        ASSERT_NE(found, data.partitions.end());
        std::vector<Rect> pieces;
        Point color = found->colors.lower;
        do {
          app::FormulaFault fault = app::FormulaFault::kNone;
          pieces.push_back(app::bounds_of_piece(data, *found, color, fault));
        } while (next_point(found->colors, &color));
        std::int64_t volume = 0;
        for (std::size_t i = 0; i < pieces.size(); ++i) {
          volume += pieces[i].volume();
          for (std::size_t j = 0; j < i; ++j) EXPECT_EQ(common(pieces[i], pieces[j]), 0);
        }
        EXPECT_EQ(volume, data.regions[found->region].box.volume());
      }
    }
  }
}

// ---- Circuit, stencil, pennant: requirements in order

TEST(Benchmarks, CircuitsRequirements) {
  const Application app = find_benchmark("circuit")->make();
  EXPECT_THAT(requirements_of(app, "calculate_new_currents"),
              ElementsAre("RO rp_private{node_voltage}", "RO rp_shared{node_voltage}",
                          "RO rp_ghost{node_voltage}",
                          "RO rp_wires{in_ptr,out_ptr,inductance,resistance,wire_cap}",
                          "RW rp_wires{19 fields, 76 B}", "RW rp_times{start,stop}"));
  EXPECT_THAT(requirements_of(app, "distribute_charge"),
              ElementsAre("RW rp_private{charge}", "RED rp_shared{charge}", "RED rp_ghost{charge}",
                          "RO rp_wires{in_ptr,out_ptr,current._0,current._9}"));
  EXPECT_THAT(requirements_of(app, "update_voltages"),
              ElementsAre("RO rp_private{node_cap,leakage}", "RW rp_private{charge,node_voltage}",
                          "RO rp_shared{node_cap,leakage}", "RW rp_shared{charge,node_voltage}",
                          "RW rp_times{start,stop}"));
  EXPECT_THAT(
      requirements_of(app, "init_piece"),
      ElementsAre("RW rp_ghost_ranges{rect}", "RW rp_private{node_cap,leakage,charge,node_voltage}",
                  "RW rp_shared{node_cap,leakage,charge,node_voltage}", "NA all_shared",
                  "RW rp_wires{24 fields, 106 B}"));
}

// The sizes that the original logs with 5,000 nodes and 20,000 wires a piece.
TEST(Benchmarks, CircuitsPieces) {
  const Data& data = data_of("circuit", {{"loops", 1}});
  std::vector<std::int64_t> ghosts;
  for (const Visit& visit : visits_of(data, "calculate_new_currents")) {
    if (!visit.in_phase) continue;
    EXPECT_EQ(visit.pieces[0].volume(), 49'500);
    EXPECT_EQ(visit.pieces[1].volume(), 500);
    EXPECT_EQ(visit.pieces[3].volume(), 200'000);
    ghosts.push_back(visit.pieces[2].volume());
    const app::Variant& gpu = visit.task->variants[1];
    EXPECT_EQ(value_of(data, gpu.flops, visit), 200'000 * 100 * 96);
    // Both ends of each wire, a sector each.
    std::int64_t scattered = 0;
    for (const app::Traffic& traffic : gpu.traffic)
      scattered += value_of(data, traffic.bytes, visit);
    EXPECT_EQ(scattered, 2 * 200'000 * 32);
  }
  EXPECT_THAT(ghosts, ElementsAre(650, 800, 800, 650));
}

TEST(Benchmarks, StencilsRequirements) {
  const Application app = find_benchmark("stencil")->make();
  EXPECT_THAT(requirements_of(app, "stencil"),
              ElementsAre("RW private{input,input1,output}", "NA interior", "RO pxm_in{input}",
                          "RO pxp_in{input}", "RO pym_in{input}", "RO pyp_in{input}",
                          "RW p_times{start,stop}"));
  EXPECT_THAT(requirements_of(app, "increment"),
              ElementsAre("RW private{input,input1}", "NA exterior", "RW pxm_out{input}",
                          "RW pxp_out{input}", "RW pym_out{input}", "RW pyp_out{input}",
                          "RW p_times{start,stop}"));
}

// What a tile reads as halo is what its neighbours write, 32 (tx + ty) bytes of an inner tile.
TEST(Benchmarks, StencilsHalos) {
  const Data& data = data_of("stencil", {{"nodes", 4}, {"edge", 100}, {"loops", 1}});
  std::map<std::int64_t, Visit> stencils, increments;
  for (const Visit& visit : visits_of(data, "stencil")) stencils[visit.point[0]] = visit;
  for (const Visit& visit : visits_of(data, "increment")) increments[visit.point[0]] = visit;
  ASSERT_EQ(stencils.size(), 16u);
  const auto halo_bytes = [](const Visit& visit) {
    std::int64_t bytes = 0;
    for (std::size_t r = 2; r <= 5; ++r) bytes += 8 * visit.pieces[r].volume();
    return bytes;
  };
  EXPECT_EQ(halo_bytes(stencils[5]), 32 * (100 + 100));  // of tile (1, 1) of 4 x 4
  EXPECT_EQ(halo_bytes(stencils[0]), 16 * (100 + 100));
  // `increment` writes the edges that its neighbours read, and reads and writes its points.
  const Visit& increment = increments[5];
  for (const app::Variant& variant : increment.task->variants) {
    std::int64_t bytes = 0;
    for (const app::Traffic& traffic : variant.traffic) {
      bytes += value_of(data, traffic.bytes, increment);
    }
    EXPECT_EQ(bytes, 16 * increment.pieces[1].volume() + halo_bytes(increment));
  }
  for (auto& [i, visit] : stencils) {
    const std::int64_t x = i % 4, y = i / 4;
    if (x > 0) {
      EXPECT_EQ(text_of(visit.pieces[2]), text_of(increments[i - 1].pieces[2]));
    }
    if (x < 3) {
      EXPECT_EQ(text_of(visit.pieces[3]), text_of(increments[i + 1].pieces[3]));
    }
    if (y > 0) {
      EXPECT_EQ(text_of(visit.pieces[4]), text_of(increments[i - 4].pieces[4]));
    }
    if (y < 3) {
      EXPECT_EQ(text_of(visit.pieces[5]), text_of(increments[i + 4].pieces[5]));
    }
  }
}

TEST(Benchmarks, PennantsTasks) {
  struct Row {
    const char* name;
    std::int64_t bytes[8];  // read and changed of a zone, a side, a private point, a ghost
    std::int64_t traffic, flops, kernels;
  };
  const Row rows[] = {
      {"init_step_points", {0, 0, 0, 0, 0, 24, 0, 0}, 48, 0, 3},
      {"init_step_zones", {8, 8, 0, 0, 0, 0, 0, 0}, 24, 0, 1},
      {"adv_pos_half", {0, 0, 0, 0, 32, 48, 0, 0}, 128, 4, 2},
      {"calc_centers", {1, 16, 26, 16, 16, 0, 16, 0}, 281, 36, 2},
      {"calc_volumes", {17, 16, 26, 16, 16, 0, 16, 0}, 297, 84, 2},
      {"calc_char_len", {1, 8, 24, 0, 0, 0, 0, 0}, 113, 12, 2},
      {"calc_rho_half", {16, 8, 0, 0, 0, 0, 0, 0}, 32, 1, 1},
      {"sum_point_mass", {16, 0, 33, 0, 0, 8, 0, 8}, 164, 20, 1},
      {"calc_state_at_half", {48, 16, 0, 0, 0, 0, 0, 0}, 80, 27, 1},
      {"calc_force_pgas_tts", {48, 0, 40, 32, 0, 0, 0, 0}, 464, 76, 1},
      {"qcs_zone_center_velocity", {1, 16, 17, 0, 16, 0, 16, 0}, 117, 20, 2},
      {"qcs_corner_divergence", {32, 0, 58, 40, 32, 0, 32, 0}, 616, 460, 1},
      {"qcs_qcn_force", {16, 0, 66, 32, 16, 0, 16, 0}, 552, 88, 1},
      {"qcs_force", {0, 0, 64, 16, 0, 0, 0, 0}, 384, 92, 1},
      {"qcs_vel_diff", {8, 16, 34, 0, 32, 0, 32, 0}, 208, 44, 3},
      {"sum_point_force", {1, 0, 57, 0, 0, 16, 0, 16}, 261, 32, 1},
      {"apply_boundary_conditions", {0, 0, 0, 0, 2, 32, 0, 0}, 66, 8, 1},
      {"adv_pos_full", {0, 0, 0, 0, 56, 32, 0, 0}, 120, 14, 1},
      {"calc_centers_full", {1, 16, 26, 16, 16, 0, 16, 0}, 281, 36, 2},
      {"calc_volumes_full", {17, 16, 26, 8, 16, 0, 16, 0}, 233, 60, 2},
      {"calc_work", {1, 16, 58, 0, 48, 0, 48, 0}, 313, 88, 2},
      {"calc_work_rate_energy_rho_full", {48, 24, 0, 0, 0, 0, 0, 0}, 96, 7, 1},
      {"calc_dt_hydro", {40, 0, 0, 0, 0, 0, 0, 0}, 40, 8, 2},
  };
  const Data& data = data_of("pennant", {{"zx", 10}, {"zy", 20}, {"loops", 1}});
  const Application app = find_benchmark("pennant")->make();
  EXPECT_EQ(std::size(rows), 23u);
  std::int64_t traffic = 0, kernels = 0;
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    const Visit visit = visits_of(data, row.name).at(1);  // an inner strip
    std::int64_t bytes[8] = {}, moved = 0;
    for (const app::Requirement& requirement : visit.task->requirements) {
      const bool reads = requirement.privilege == Privilege::kReadOnly;
      const std::string& of = data.partitions[requirement.data.index].name;
      const bool of_side = of[1] == 's', of_zone = of[1] == 'z';
      const std::size_t what = of_zone ? 0 : of_side ? 2 : of == "rp_all_private_p" ? 4 : 6;
      bytes[what + (reads ? 0 : 1)] += bytes_of(requirement);
      if (what < 6) moved += bytes_of(requirement) * (of_side ? 4 : 1) * (reads ? 1 : 2);
    }
    EXPECT_THAT(bytes, ::testing::ElementsAreArray(row.bytes));
    EXPECT_EQ(moved, row.traffic);
    for (const app::Variant& variant : visit.task->variants) {
      EXPECT_EQ(value_of(data, variant.flops, visit), row.flops * visit.pieces[0].volume());
      EXPECT_EQ(variant.kernels.constant(), row.kernels);
      EXPECT_THAT(variant.traffic, IsEmpty());  // that of the pieces
    }
    traffic += row.traffic;
    kernels += row.kernels;
  }
  EXPECT_EQ(traffic, 4'918);
  EXPECT_EQ(kernels, 36);
  // A cycle: 27 index launches, which include those on shared points, and ten small tasks for the
  // time step. Eight of the small tasks compute with futures.
  std::map<const app::Launch*, int> launches;
  std::map<std::string, int> single_tasks;
  test::walk(data, [&](const Visit& visit) {
    if (!visit.in_phase) return;
    if (visit.launch->is_index) {
      ++launches[visit.launch];
    } else {
      ++single_tasks[visit.task->name];
    }
  });
  EXPECT_EQ(launches.size(), 27u);
  for (const auto& [launch, points] : launches) EXPECT_EQ(points, 4);
  EXPECT_THAT(single_tasks,
              UnorderedElementsAre(Pair("calc_global_dt", 1), Pair("__binary_double", 7),
                                   Pair("__unary_double", 1), Pair("continue_simulation", 1)));
}

TEST(Benchmarks, PennantsGhosts) {
  const Data& data = data_of("pennant", {{"loops", 1}});
  std::vector<std::int64_t> ghosts, points;
  for (const Visit& visit : visits_of(data, "sum_point_mass")) {
    if (!visit.in_phase) continue;
    ghosts.push_back(visit.pieces[2].volume());
    points.push_back(visit.pieces[1].volume());
  }
  EXPECT_THAT(ghosts, ElementsAre(321, 642, 642, 321));
  EXPECT_EQ(std::accumulate(points.begin(), points.end(), std::int64_t{3 * 321}),
            321 * (4 * 1'440 + 1));
}

// ---- The six multiplications

const std::vector<std::string>& multiplications() {
  static const std::vector<std::string> names = {"cannon",  "summa",     "pumma",
                                                 "johnson", "solomonik", "cosma"};
  return names;
}

TEST(Multiplications, DoTwoNCubedOperations) {
  for (const std::string& name : multiplications()) {
    for (std::int64_t nodes : {1, 2, 3, 4, 16}) {
      for (std::int64_t n : {240, 250}) {
        const Data& data = data_of(name, {{"nodes", nodes}, {"n", n}, {"repeats", 3}});
        std::int64_t flops = 0;
        for (const Visit& visit : visits_of(data, "task_4")) {
          if (visit.in_phase) flops += value_of(data, visit.task->variants[0].flops, visit);
        }
        EXPECT_EQ(flops, 3 * 2 * n * n * n) << name << " on " << nodes << " nodes";
      }
    }
  }
}

// What a multiplication moves, with the owners of tiles where tasks 1 to 3 put them and the leaves
// on the processors given.
struct Moved {
  std::int64_t fetched = 0;  // bytes of B and C from other processors
  std::int64_t reduced = 0;  // bytes of A to other processors
  std::map<std::int64_t, std::int64_t> fetched_by;
  std::int64_t readers_b = 0, readers_c = 0;  // the most that fetch one tile in one step
};

using PlaceOf = std::function<std::int64_t(const Visit&)>;

Moved moved(const Data& data, const PlaceOf& owner_of, const PlaceOf& leaf_of) {
  std::map<std::string, std::vector<std::pair<Rect, std::int64_t>>> owners;
  std::set<std::string> placed;  // task_1 comes again after each multiplication
  for (const auto& [task, matrix] :
       {std::pair<std::string, const char*>{"task_1", "A"}, {"task_2", "B"}, {"task_3", "C"}}) {
    for (const Visit& visit : visits_of(data, task)) {
      if (!visit.in_phase && placed.insert(task + text_of(visit.pieces[0])).second) {
        owners[matrix].emplace_back(visit.pieces[0], owner_of(visit));
      }
    }
  }
  Moved moved;
  std::map<std::int64_t, std::int64_t> step;  // of each processor
  std::map<std::tuple<std::string, std::int64_t, std::vector<std::int64_t>>, std::int64_t> readers;
  for (const Visit& visit : visits_of(data, "task_4")) {
    if (!visit.in_phase) continue;
    const std::int64_t here = leaf_of(visit), now = step[here]++;
    const char* const names[] = {"A", "B", "C"};
    for (std::size_t r = 0; r < 3; ++r) {
      std::int64_t remote = 0;
      for (const auto& [box, owner] : owners[names[r]]) {
        if (owner != here) remote += 8 * common(box, visit.pieces[r]);
      }
      const bool reduces = visit.task->requirements[r].privilege == Privilege::kReduce;
      if (r == 0) {
        moved.reduced += reduces ? remote : 0;
        EXPECT_TRUE(reduces || remote == 0);
        continue;
      }
      moved.fetched += remote;
      moved.fetched_by[here] += remote;
      if (remote == 0) continue;
      const auto corner = visit.pieces[r].lower.coordinates();
      auto& count = readers[{names[r], now, {corner.begin(), corner.end()}}];
      auto& most = r == 1 ? moved.readers_b : moved.readers_c;
      most = std::max(most, ++count);
    }
  }
  return moved;
}

// A 2-D grid of g x g processors: tile (i, j) of any matrix is on processor (i, j).
Moved moved_2d(const std::string& name, std::int64_t nodes, std::int64_t n) {
  const Data& data = data_of(name, {{"nodes", nodes}, {"n", n}, {"repeats", 1}});
  const auto by_tile = [](const Visit& visit) {
    const Rect& tile = visit.pieces[0];
    return tile.lower[0] / tile.extents[0] * 1'000 + tile.lower[1] / tile.extents[1];
  };
  return moved(data, by_tile, by_tile);
}

// Cannon (1969), van de Geijn and Watts (SUMMA, 1997), Choi et al. (PUMMA, 1994): on g x g
// processors each one fetches g - 1 tiles of B and of C, n^2 / g^2 words each.
TEST(Multiplications, TwoDimensionalFetch) {
  constexpr std::int64_t n = 480;
  for (const auto& [nodes, g] : {std::pair<std::int64_t, std::int64_t>{1, 2}, {4, 4}, {9, 6}}) {
    for (const char* name : {"cannon", "summa", "pumma"}) {
      SCOPED_TRACE(fmt::format("{} on {} nodes", name, nodes));
      const Moved moved = moved_2d(name, nodes, n);
      EXPECT_EQ(moved.fetched, 16 * n * n * (g - 1));
      EXPECT_EQ(std::ssize(moved.fetched_by), g * g);
      for (const auto& [processor, bytes] : moved.fetched_by) {
        EXPECT_EQ(bytes, 16 * n * n * (g - 1) / (g * g));
      }
    }
  }
}

// Which distinguishes them: how many fetch the same tile at once.
TEST(Multiplications, TwoDimensionalHotSpots) {
  for (const auto& [nodes, g] : {std::pair<std::int64_t, std::int64_t>{4, 4}, {9, 6}}) {
    const Moved cannon = moved_2d("cannon", nodes, 480), summa = moved_2d("summa", nodes, 480),
                pumma = moved_2d("pumma", nodes, 480);
    EXPECT_EQ(std::pair(summa.readers_b, summa.readers_c), std::pair(g - 1, g - 1));
    EXPECT_EQ(std::pair(pumma.readers_b, pumma.readers_c),
              std::pair(g - 1, std::int64_t{2}));  // two GPUs of a node
    EXPECT_EQ(std::pair(cannon.readers_b, cannon.readers_c), std::pair(1L, 1L));
  }
  // On one node SUMMA and PUMMA are the same program.
  const auto order = [](const char* name) {
    std::vector<std::string> fetched;
    for (const Visit& visit : visits_of(data_of(name, {{"n", 480}}), "task_4")) {
      for (const Rect& piece : visit.pieces) fetched.push_back(text_of(piece));
    }
    return fetched;
  };
  EXPECT_EQ(order("summa"), order("pumma"));
  EXPECT_NE(order("summa"), order("cannon"));
}

// Agarwal et al. (1995), "A three-dimensional approach": g^3 processors, each with one tile of each
// matrix; all but the owner's slice fetch B and C and send A, 3 n^2 / P^(2/3) words less that.
TEST(Multiplications, Johnson) {
  constexpr std::int64_t n = 480, g = 2;
  const Data& data = data_of("johnson", {{"nodes", 2}, {"n", n}, {"repeats", 1}});
  const auto linear = [](const Visit& visit) {
    return visit.point[0] + g * visit.point[1] + g * g * visit.point[2];
  };
  const Moved moved = groma::moved(data, linear, linear);
  EXPECT_EQ(moved.fetched, 2 * 8 * n * n * (g - 1));
  EXPECT_EQ(moved.reduced, 8 * n * n * (g - 1));
}

// Solomonik and Demmel (2011): with c layers a processor reads 2 n^2 / sqrt(c P) words of B and C
// and makes n^2 / rpoc^2 of A.
TEST(Multiplications, Solomonik) {
  constexpr std::int64_t n = 480;
  for (const auto& [nodes, rpoc, c] :
       {std::tuple<std::int64_t, std::int64_t, std::int64_t>{1, 2, 1}, {2, 2, 2}, {8, 4, 2}}) {
    const Data& data = data_of("solomonik", {{"nodes", nodes}, {"n", n}, {"repeats", 1}});
    std::int64_t layers = 0, read = 0, leaves = 0, sums = 0;
    for (const Visit& visit : visits_of(data, "task_5")) {
      if (!visit.in_phase) continue;
      ++layers;
      sums += 8 * visit.pieces[0].volume();
    }
    for (const Visit& visit : visits_of(data, "task_4")) {
      if (!visit.in_phase) continue;
      ++leaves;
      read += 8 * (visit.pieces[1].volume() + visit.pieces[2].volume());
    }
    EXPECT_EQ(layers, 4 * nodes);
    EXPECT_EQ(leaves, layers * rpoc);
    EXPECT_EQ(read / layers, 8 * 2 * n * n / (rpoc * c));
    EXPECT_EQ(sums, 8 * c * n * n);
  }
}

// Kwasniewski et al. (2019): a point reads n^2 / (gx gz) words of B and n^2 / (gz gy) of C and adds
// n^2 / (gx gy) to A.
TEST(Multiplications, Cosma) {
  constexpr std::int64_t n = 480;
  struct Grid {
    std::int64_t nodes, x, y, z;
  };
  for (const Grid& g : {Grid{1, 1, 2, 2},
                        {2, 2, 2, 2},
                        {4, 2, 2, 4},
                        {8, 2, 4, 4},
                        {16, 4, 4, 4},
                        {32, 4, 4, 8},
                        {64, 4, 8, 8},
                        {128, 8, 8, 8}}) {
    const Data& data = data_of("cosma", {{"nodes", g.nodes}, {"n", n}, {"repeats", 1}});
    std::int64_t points = 0;
    for (const Visit& visit : visits_of(data, "task_4")) {
      if (!visit.in_phase) continue;
      ++points;
      EXPECT_EQ(visit.pieces[0].volume(), n * n / (g.x * g.y));
      EXPECT_EQ(visit.pieces[1].volume(), n * n / (g.x * g.z));
      EXPECT_EQ(visit.pieces[2].volume(), n * n / (g.z * g.y));
    }
    EXPECT_EQ(points, 4 * g.nodes);
  }
  // On 4 GPUs, owners and points numbered along i, then j, then k: half of B and of A moves.
  const Data& data = data_of("cosma", {{"n", n}, {"repeats", 1}});
  const auto linear = [](const Visit& visit) { return visit.point[1] + 2 * visit.point[2]; };
  const Moved moved = groma::moved(data, linear, linear);
  EXPECT_EQ(moved.fetched, 8 * n * n);
  EXPECT_EQ(moved.reduced, 8 * n * n);
}

TEST(Multiplications, Launches) {
  const auto domains = [](const char* name, std::int64_t nodes) {
    std::map<std::string, std::string> texts;
    const Data& data = data_of(name, {{"nodes", nodes}});
    bool complete = false;
    for (const app::DistinctLaunch& use : app::list_launches(data, 1'000, complete)) {
      std::string text;
      for (int d = 0; use.domain && d < use.domain->box.dimensions(); ++d) {
        text += fmt::format("{}{}", d == 0 ? "" : "x", use.domain->box.extents[d]);
      }
      texts[data.tasks[use.task].name] = text;
    }
    EXPECT_TRUE(complete);
    return texts;
  };
  using Domains = std::map<std::string, std::string>;
  for (const char* name : {"cannon", "summa", "pumma"}) {
    EXPECT_EQ(domains(name, 1), (Domains{{"top_level", ""},
                                         {"init_cublas", "4"},
                                         {"taco_fill", "2x2"},
                                         {"taco_validate", "2x2"},
                                         {"task_1", "2x2"},
                                         {"task_2", "2x2"},
                                         {"task_3", "2x2"},
                                         {"task_4", ""},
                                         {"task_5", "2x2"},
                                         {"task_6", ""},
                                         {"task_7", "1x1"}}));
  }
  EXPECT_EQ(domains("cannon", 2).at("task_7"), "2x1");
  EXPECT_EQ(domains("summa", 2).at("task_7"), "1x2");
  EXPECT_EQ(domains("johnson", 1), (Domains{{"top_level", ""},
                                            {"init_cublas", "4"},
                                            {"task_1", "2x2x1"},
                                            {"task_2", "2x1x2"},
                                            {"task_3", "1x2x2"},
                                            {"task_4", "2x2x2"}}));
  EXPECT_EQ(domains("johnson", 4).at("task_4"), "4x4x4");
  EXPECT_EQ(domains("solomonik", 1), (Domains{{"top_level", ""},
                                              {"init_cublas", "4"},
                                              {"task_1", "2x2x1"},
                                              {"task_2", "2x2x1"},
                                              {"task_3", "2x2x1"},
                                              {"task_4", ""},
                                              {"task_5", "2x2x1"}}));
  EXPECT_EQ(domains("cosma", 1).at("task_1"), "1x2x1");
  EXPECT_EQ(domains("cosma", 1).at("task_2"), "1x1x2");
  EXPECT_EQ(domains("cosma", 1).at("task_3"), "1x2x2");
  EXPECT_EQ(domains("cosma", 1).at("task_4"), "1x2x2");
}

// ---- Memory

TEST(Benchmarks, Footprints) {
  const auto largest = [](const char* name, const char* task) {
    const Application app = find_benchmark(name)->make();
    const Data& data = data_of(name, app.sizes[2].values);
    std::int64_t most = 0;
    for (const Visit& visit : visits_of(data, task)) {
      std::int64_t bytes = 0;
      for (std::size_t r = 0; r < visit.pieces.size(); ++r) {
        bytes += visit.pieces[r].volume() * bytes_of(visit.task->requirements[r]);
      }
      most = std::max(most, bytes);
    }
    return most;
  };
  // n x n/2 of A and of B, n/2 x n/2 of C.
  EXPECT_EQ(largest("cosma", "task_4"), (1'600 + 1'600 + 800) * 1'000'000LL);
  EXPECT_EQ(largest("cannon", "task_4"), 3 * 800'000'000LL);
  EXPECT_EQ(largest("johnson", "task_4"), 3 * 800'000'000LL);
  EXPECT_EQ(largest("solomonik", "task_4"), 3 * 800'000'000LL);
  EXPECT_EQ(largest("stencil", "stencil"), 24 * 15'004LL * 15'004 + 2 * 2 * 15'000 * 8 + 16);

  // All fields of a piece: 1,195 bytes a zone of pennant, 106 a wire of circuit.
  const auto whole = [](const char* name) {
    const Data& data = data_of(name, find_benchmark(name)->make().sizes[2].values);
    std::int64_t bytes = 0;
    for (const app::Region& region : data.regions) {
      for (const AppField& field : region.fields) bytes += field.bytes * region.box.volume();
    }
    return static_cast<double>(bytes) / 4;
  };
  EXPECT_NEAR(whole("pennant"), 8.8e9, 0.05e9);
  EXPECT_NEAR(whole("circuit"), 106e8 + 16 * 2.5e7, 1e6);
}

// ---- The builder

// The example of groma/app_builder.h.
TEST(AppBuilder, Example) {
  AppBuilder app("axpy", "y += a x");
  app.parameter("n", 1 << 20, "elements of a vector").parameter("pieces", 4, "points of a launch");
  app.metric("elements/s", "n * 10", "compute");
  app.region("x", {"n"}).field("value", 8).partition("x_parts", {"pieces"});
  app.region("y", {"n"}).field("value", 8).partition("y_parts", {"pieces"});
  app.task("fill").variant(cpu().leaf()).discards("x_parts").discards("y_parts");
  app.task("axpy").variant(gpu().leaf().flops("2 * points(1)"));
  app.reads("x_parts", {"value"}).writes("y_parts", {"value"});
  app.task("main").variant(cpu());
  app.body({launch("fill").over({"pieces"}), wait(),
            phase("compute", {loop(10, {launch("axpy").over({"pieces"})}), wait()})});
  const Application axpy = app.top_level("main").done();

  Application by_hand;
  by_hand.name = "axpy";
  by_hand.description = "y += a x";
  by_hand.parameters = {{"n", 1 << 20, 1, INT64_MAX, "elements of a vector"},
                        {"pieces", 4, 1, INT64_MAX, "points of a launch"}};
  by_hand.metric = {"elements/s", "n * 10", "compute"};
  by_hand.regions = {{"x", {}, {"n"}, {{"value", 8}}}, {"y", {}, {"n"}, {{"value", 8}}}};
  for (const char* name : {"x", "y"}) {
    AppPartition& partition = by_hand.partitions.emplace_back();
    partition.name = std::string(name) + "_parts";
    partition.of = name;
    partition.colors = {"pieces"};
  }
  const auto requirement = [](const char* of, Privilege privilege) {
    AppRequirement made;
    made.privilege = privilege;
    made.fields = {{"value", 8}};
    made.data.of = of;
    return made;
  };
  AppVariant on_cpu, on_gpu;
  on_cpu.leaf = on_gpu.leaf = true;
  on_gpu.kind = ProcKind::kGpu;
  on_gpu.flops = "2 * points(1)";
  AppLaunch filling, adding;
  filling.task = "fill";
  adding.task = "axpy";
  filling.domain = adding.domain = {"pieces"};
  by_hand.tasks = {{"fill",
                    {},
                    {on_cpu},
                    {requirement("x_parts", Privilege::kWriteDiscard),
                     requirement("y_parts", Privilege::kWriteDiscard)},
                    {}},
                   {"axpy",
                    {},
                    {on_gpu},
                    {requirement("x_parts", Privilege::kReadOnly),
                     requirement("y_parts", Privilege::kReadWrite)},
                    {}},
                   {"main",
                    {},
                    {AppVariant{}},
                    {},
                    {{filling},
                     {AppWait{}},
                     {AppPhase{"compute", {{AppLoop{10, "", false, {{adding}}}}, {AppWait{}}}}}}}};
  by_hand.top_level = "main";
  EXPECT_EQ(axpy, by_hand);
  EXPECT_TRUE(Workload::make(axpy).ok());
}

// A future may be taken above the launch that gives it: the next round of a loop has it.
TEST(AppBuilder, FuturesOfTheRoundBefore) {
  AppBuilder app("rounds");
  app.task("step").variant(cpu().leaf());
  app.task("main").variant(cpu());
  app.body({loop(3, {launch("step").takes("dt"), launch("step").gives("dt")}), wait("dt")});
  EXPECT_TRUE(Workload::make(app.top_level("main").done()).ok());
  // Many, each of which is looked up.
  std::vector<AppStatement> many;
  for (int i = 0; i < 30'000; ++i) {
    many.emplace_back(launch("step").gives(fmt::format("future {}", i)));
  }
  AppBuilder crowd("crowd");
  crowd.task("step").variant(cpu().leaf());
  crowd.task("main").variant(cpu()).body(std::move(many));
  const auto made = Workload::make(crowd.top_level("main").done());
  ASSERT_TRUE(made.ok());
  EXPECT_EQ(made->data().tasks[1].futures, 30'000u);
  AppBuilder unknown("unknown");
  unknown.task("main").variant(cpu()).body({wait("dt")});
  const auto refused = Workload::make(unknown.top_level("main").done());
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().message,
            "/tasks/0/body/0/wait: no launch of this task gives the future `dt`");
}

// Nodes stand in the squarest grid that they can fill.
TEST(Cannon, NodesStandInTheSquarestGrid) {
  const Application app = find_benchmark("cannon")->make();
  for (std::int64_t nodes = 1; nodes <= 1024; ++nodes) {
    const auto workload = Workload::make(app, {{"nodes", nodes}, {"n", 4096}});
    ASSERT_TRUE(workload) << workload.error().message;
    std::int64_t squarest = 1;
    for (std::int64_t d = 1; d * d <= nodes; ++d) squarest = nodes % d == 0 ? d : squarest;
    const Point grid = workload->data().partitions[0].colors.extents;
    EXPECT_EQ(std::min(grid[0], grid[1]), squarest) << nodes;
    EXPECT_EQ(grid[0] * grid[1], nodes);
  }
}

TEST(Demands, ThatNoLayoutHasAreRefused) {
  Application app = find_benchmark("cannon")->make();
  for (AppTask& task : app.tasks) {
    if (task.name != "task_4") continue;
    LayoutDemand other;
    other.dimensions = DimensionOrder::kFortran;
    task.variants[0].demands.push_back(other);
  }
  const auto workload = Workload::make(app);
  ASSERT_FALSE(workload);
  EXPECT_NE(workload.error().message.find("no layout has this and what demand 0 wants"),
            std::string::npos)
      << workload.error().message;
}

Application on_cpus(const Application& app) {
  return as_legion_program(app, ProgramVariants::kCpus);
}

// What examples/legion is written for.
TEST(OnCpus, EveryTaskHasOneVariantWithTheWorkOfItsOwn) {
  for (const Benchmark& benchmark : benchmarks()) {
    const Application before = benchmark.make(), after = on_cpus(before);
    EXPECT_TRUE(Workload::make(after)) << benchmark.name;
    ASSERT_EQ(after.tasks.size(), before.tasks.size());
    for (std::size_t t = 0; t < after.tasks.size(); ++t) {
      const AppTask& task = after.tasks[t];
      ASSERT_EQ(task.variants.size(), 1u) << task.name;
      EXPECT_EQ(task.variants[0].kind, ProcKind::kCpu) << task.name;
      const bool same_work = std::any_of(
          before.tasks[t].variants.begin(), before.tasks[t].variants.end(),
          [&](const AppVariant& variant) { return variant.flops == task.variants[0].flops; });
      EXPECT_TRUE(same_work) << task.name;
      EXPECT_EQ(task.requirements, before.tasks[t].requirements);
      EXPECT_EQ(task.body, before.tasks[t].body);
    }
  }
}

TEST(OnCpus, MatricesAreInFortranOrder) {
  const auto demands = [](std::string_view app) {
    std::vector<std::uint32_t> requirements;
    for (const AppTask& task : on_cpus(find_benchmark(app)->make()).tasks) {
      if (task.name != "task_4") continue;
      for (const LayoutDemand& demand : task.variants[0].demands) {
        EXPECT_EQ(demand.dimensions, DimensionOrder::kFortran);
        requirements.push_back(demand.requirement);
      }
    }
    return requirements;
  };
  EXPECT_THAT(demands("cannon"), ElementsAre(0, 1, 2));
  EXPECT_THAT(demands("johnson"), ElementsAre(1, 2));  // it reduces to A
}

// What the programs of examples/legion register for GPUs (add_gpu_tasks).
TEST(OnGpus, TheProgramsHaveTheseVariants) {
  const auto on_gpus = [](std::string_view app) {
    std::vector<std::string> tasks;
    for (const AppTask& task :
         as_legion_program(find_benchmark(app)->make(), ProgramVariants::kCpusAndGpus).tasks) {
      EXPECT_EQ(task.variants.front().kind, ProcKind::kCpu) << task.name;
      for (std::size_t v = 1; v < task.variants.size(); ++v) {
        EXPECT_EQ(task.variants[v].kind, ProcKind::kGpu) << task.name;
        tasks.push_back(task.name);
      }
    }
    return tasks;
  };
  EXPECT_THAT(on_gpus("circuit"), UnorderedElementsAre("calculate_new_currents",
                                                       "distribute_charge", "update_voltages"));
  EXPECT_THAT(on_gpus("stencil"), UnorderedElementsAre("stencil", "increment"));
  EXPECT_THAT(on_gpus("cannon"), UnorderedElementsAre("init_cublas", "taco_fill", "task_1",
                                                      "task_2", "task_3", "task_4", "task_5"));
  EXPECT_THAT(on_gpus("johnson"),
              UnorderedElementsAre("init_cublas", "task_1", "task_2", "task_3", "task_4"));
}

TEST(OnGpus, MatricesAreInCOrderExceptWhereTheyAreReducedTo) {
  for (const AppTask& task :
       as_legion_program(find_benchmark("johnson")->make(), ProgramVariants::kCpusAndGpus).tasks) {
    if (task.name != "task_4") continue;
    ASSERT_EQ(task.variants.size(), 2u);
    std::vector<std::uint32_t> requirements;
    for (const LayoutDemand& demand : task.variants[1].demands) {
      EXPECT_EQ(demand.dimensions, DimensionOrder::kC);
      requirements.push_back(demand.requirement);
    }
    EXPECT_THAT(requirements, ElementsAre(1, 2));
  }
}

}  // namespace
}  // namespace groma
