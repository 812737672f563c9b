#include "legion/drawn_launches.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <random>

namespace groma::legion_test {
namespace {

// Only the engine, since the standard's distributions differ between libraries.
class Dice {
 public:
  int below(int n) { return static_cast<int>(engine_() % static_cast<unsigned>(n)); }
  int between(int low, int high) { return low + below(high - low + 1); }
  bool one_in(int n) { return below(n) == 0; }
  template <std::size_t N>
  std::string any(const std::array<const char*, N>& names) {
    return names[static_cast<std::size_t>(below(N))];
  }

 private:
  std::mt19937_64 engine_{1};
};

// 1 to 3 dimensions; the longest side that each number of them may have.
DrawnBox draw_box(Dice& dice, const std::array<int, 3>& longest) {
  DrawnBox box;
  const int dimensions = dice.between(1, 3);
  const bool from_zero = !dice.one_in(4);
  for (int i = 0; i < dimensions; ++i) {
    const int low = from_zero ? 0 : dice.between(-3, 5);
    box.lo.push_back(low);
    box.hi.push_back(low + dice.below(longest[static_cast<std::size_t>(dimensions - 1)]));
  }
  return box;
}

bool is_one_point(const DrawnBox& box) { return box.lo == box.hi; }

// Points of one launch must not interfere, so those that write get a part each.
std::string draw_projection(Dice& dice, const DrawnLaunch& launch, const std::string& privilege) {
  const bool whole = dice.one_in(2);
  if (!launch.is_index) return whole ? "whole" : "piece";
  const bool writes = privilege == "READ_WRITE" || privilege == "WRITE_DISCARD";
  return whole && (!writes || is_one_point(launch.domain)) ? "whole" : "partition";
}

unsigned draw_tag(Dice& dice, const DrawnLaunch& launch) {
  if (dice.one_in(5)) return 2;
  // A leaf must have instances.
  return launch.task == "plain" && dice.one_in(4) ? 1 : 0;
}

DrawnRequirement draw_requirement(Dice& dice, const DrawnLaunch& launch) {
  static constexpr std::array kPrivileges = {"READ_ONLY", "READ_WRITE", "WRITE_DISCARD", "REDUCE",
                                             "NO_ACCESS"};
  DrawnRequirement requirement;
  requirement.privilege = dice.any(kPrivileges);
  requirement.projection = draw_projection(dice, launch, requirement.privilege);
  requirement.bounds = draw_box(dice, {500, 24, 8});
  requirement.fields = dice.between(1, 4);
  for (int field = 0; field < requirement.fields; ++field) {
    if (!dice.one_in(3)) requirement.used.push_back(field);
  }
  if (requirement.used.empty()) requirement.used.push_back(0);
  if (requirement.projection == "piece") requirement.pieces = dice.between(2, 4);
  requirement.tag = draw_tag(dice, launch);
  return requirement;
}

DrawnLaunch draw_launch(Dice& dice, int id) {
  static constexpr std::array kTasks = {"leaf", "leaf", "leaf", "twin", "plain", "inner"};
  DrawnLaunch launch;
  launch.id = id;
  launch.task = dice.any(kTasks);
  launch.is_index = !dice.one_in(4);
  if (launch.is_index) launch.domain = draw_box(dice, {32, 7, 4});
  const int requirements = dice.between(0, 4);
  for (int i = 0; i < requirements; ++i) {
    launch.requirements.push_back(draw_requirement(dice, launch));
  }
  return launch;
}

std::string to_json(const DrawnBox& box) {
  return fmt::format("[[{}],[{}]]", fmt::join(box.lo, ","), fmt::join(box.hi, ","));
}

std::string to_json(const DrawnRequirement& requirement) {
  return fmt::format(
      R"({{"privilege":"{}","projection":"{}","bounds":{},"fields":{},"used":[{}],"pieces":{},"tag":{}}})",
      requirement.privilege, requirement.projection, to_json(requirement.bounds),
      requirement.fields, fmt::join(requirement.used, ","), requirement.pieces, requirement.tag);
}

}  // namespace

std::vector<DrawnLaunch> draw_launches(int count) {
  Dice dice;
  std::vector<DrawnLaunch> launches;
  for (int id = 0; id < count; ++id) launches.push_back(draw_launch(dice, id));
  return launches;
}

std::string to_json(const DrawnLaunch& launch) {
  std::vector<std::string> requirements;
  for (const DrawnRequirement& requirement : launch.requirements) {
    requirements.push_back(to_json(requirement));
  }
  return fmt::format(R"({{"launch":{},"task":"{}","domain":{},"requirements":[{}]}})", launch.id,
                     launch.task, launch.is_index ? to_json(launch.domain) : "null",
                     fmt::join(requirements, ","));
}

}  // namespace groma::legion_test
