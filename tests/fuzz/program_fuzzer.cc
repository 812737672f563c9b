// Any bytes as a program: parsed, formatted and parsed again, compiled, bound to small machines,
// every mapping function asked for small launches, every message rendered and written as JSON.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "support/program_checks.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

using groma::Machine;
using groma::Point;
using groma::ProcKind;
using groma::Rect;
using groma::testing::LaunchCheck;

std::vector<Machine> make_machines() {
  std::vector<Machine> machines = {groma::make_machine("nodes=2,gpu=4,cpu=3,omp=2").value()};
  // Nodes of two kinds, one of them without GPUs.
  const groma::NodeType full = machines[0].node(0);
  const groma::NodeType bare = groma::make_machine("nodes=1,cpu=2").value().node(0);
  machines.push_back(Machine::make("uneven", "", {full, bare}, {0, 1, 0}).value());
  return machines;
}

std::vector<LaunchCheck> make_launches() {
  const auto rect = [](const Point& lower, const Point& extents) {
    LaunchCheck launch;
    launch.domain = *Rect::make(lower, extents);
    launch.max_steps = 20'000;
    return launch;
  };
  std::vector<LaunchCheck> launches = {rect({0}, {5}), rect({1, -2}, {2, 3}),
                                       rect({0, 5, 0}, {2, 1, 2}), rect({}, {})};
  launches.back().parent = {ProcKind::kGpu, 1, 0};
  launches[1].output = launches[3].output = true;
  return launches;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::vector<Machine> machines = make_machines();
  static const std::vector<LaunchCheck> launches = make_launches();
  const std::string wrong =
      groma::testing::check_text(std::string(data, data + size), machines, launches);
  if (wrong.empty()) return 0;
  std::fprintf(stderr, "%s\n", wrong.c_str());
  std::abort();
}
