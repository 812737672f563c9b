// The application of the toy runtime: a single task, then an index launch of four points that read
// what their neighbours wrote. A real runtime already has this data, and Groma's views point to it.
#pragma once

#include <array>

#include "groma/task_view.h"

struct Application {
  static constexpr groma::FieldView kFields[] = {{1, 8, "charge"}};
  static constexpr std::string_view kWires[] = {"rp_wires"};
  static constexpr std::string_view kGhost[] = {"rp_ghost"};

  std::array<groma::VariantView, 2> variants;
  std::array<groma::RequirementView, 2> regions;
  std::array<groma::TaskView, 2> launches;

  Application() {
    variants[0].id = 1;
    variants[1].id = 2;
    variants[1].kind = groma::ProcKind::kGpu;

    regions[0].aliases = kWires;
    regions[0].privilege = groma::Privilege::kReadWrite;
    regions[1].aliases = kGhost;
    for (groma::RequirementView& region : regions) region.fields = kFields;

    for (groma::TaskView& task : launches) {
      task.depth = 1;
      task.variants = variants;
    }
    launches[0].id = 1;
    launches[0].name = "init_pieces";
    launches[0].requirements = {regions.data(), 1};
    launches[1].id = 2;
    launches[1].name = "calculate_new_currents";
    launches[1].requirements = regions;
    launches[1].is_index = true;
    launches[1].domain = *groma::Rect::make({4});
  }
  Application(const Application&) = delete;
  Application& operator=(const Application&) = delete;
};
