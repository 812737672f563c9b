#include "legion/drawn_mappings.h"

#include <array>
#include <initializer_list>
#include <string_view>

namespace groma::legion_test {
namespace {

constexpr std::string_view kFunctions = R"(
cpus = Machine(CPU);
ios = Machine(IO);
def block(Task t) { return cpus[0, t.ipoint[0] * cpus.size[1] / t.ispace[0]]; }
def block_back(Task t) { return cpus[0, cpus.size[1] - 1 - t.ipoint[0] * cpus.size[1] / t.ispace[0]]; }
def cyclic(Task t) { return cpus[0, (t.ipoint[0] + 3 * t.ipoint[-1]) % cpus.size[1]]; }
def last(Task t) { return cpus[0, cpus.size[1] - 1]; }
def io_cyclic(Task t) { return ios[0, t.ipoint[0] % ios.size[1]]; }
def io_first(Task t) { return ios[0, 0]; }
)";

class Dice {
 public:
  explicit Dice(std::uint64_t seed) : state_(seed * 0x9E3779B97F4A7C15U + 1) {}
  std::size_t below(std::size_t n) {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    state_ ^= state_ << 17;
    return static_cast<std::size_t>((state_ >> 33) % n);
  }
  bool in(std::size_t n) { return below(n) == 0; }
  std::string one(std::initializer_list<std::string_view> of) {
    return std::string(of.begin()[below(of.size())]);
  }

 private:
  std::uint64_t state_;
};

std::string task(Dice& dice) { return dice.one({"*", "lines", "planes", "cubes", "alone"}); }
std::string region(Dice& dice) {
  return dice.one({"*", "*", "line", "plane", "other", "cube", "0", "1"});
}

std::string layout(Dice& dice) {
  std::string text = "Layout " + task(dice) + " " + region(dice) + " " +
                     dice.one({"*", "CPU", "IO", "SYSMEM", "RDMEM"});
  text += dice.one({" SOA", " AOS", ""}) + dice.one({" C_order", " F_order", ""});
  if (dice.in(3)) text += " Exact";
  if (dice.in(2)) {
    text += dice.one({" Align==", " Align>=", " Align>"}) + dice.one({"16", "32", "64", "128"});
  }
  return text + ";\n";
}

std::string memories(Dice& dice) {
  std::string text =
      "Region " + task(dice) + " " + region(dice) + " " + dice.one({"*", "CPU", "IO"}) + " ";
  for (std::size_t n = dice.below(3); n > 0; --n) {
    text += dice.one({"RDMEM", "FBMEM", "ZCMEM", "SOCKMEM", "SYSMEM"}) + ", ";
  }
  return text + "SYSMEM;\n";
}

}  // namespace

std::string draw_mapping(std::uint64_t seed) {
  Dice dice(seed);
  std::string text(kFunctions);
  text += "Task * " + dice.one({"CPU", "GPU, CPU", "IO, CPU", "OMP, IO, CPU"}) + ";\n";
  if (dice.in(2)) text += "Task planes " + dice.one({"CPU", "IO"}) + ";\n";
  for (std::size_t n = dice.below(4); n > 0; --n) text += memories(dice);
  for (std::size_t n = dice.below(5); n > 0; --n) text += layout(dice);
  if (!dice.in(4))
    text += "IndexTaskMap CPU " + dice.one({"block", "block_back", "cyclic"}) + ";\n";
  if (dice.in(2)) text += "IndexTaskMap IO io_cyclic;\n";
  if (dice.in(3)) text += "IndexTaskMap cubes cyclic;\nTask cubes CPU;\n";
  if (!dice.in(3)) text += "SingleTaskMap CPU last;\nSingleTaskMap IO io_first;\n";
  if (dice.in(2)) text += "ControlReplicate driver;\n";
  if (dice.in(3)) {
    text += "InstanceLimit " + dice.one({"*", "lines", "cubes"}) + " 1" +
            dice.one({"", " SAME_NODE", " Machine"}) + ";\n";
  }
  if (dice.in(3)) text += "CollectMemory " + task(dice) + " " + region(dice) + ";\n";
  if (dice.in(4)) text += "TaskSteal planes CPU ANY_NODE;\n";
  return text;
}

namespace {

std::string task_of_demanding(Dice& dice) {
  return dice.one({"*", "rows", "columns", "between", "aligned", "spread", "packed", "pair",
                   "either", "pooled", "meet", "branch", "grow", "total", "read", "whole", "peek",
                   "again"});
}
std::string region_of_demanding(Dice& dice) {
  return dice.one({"*", "*", "grid", "line", "grid_pieces", "line_pieces", "0", "1"});
}

}  // namespace

std::string draw_mapping_of_demanding(std::uint64_t seed) {
  Dice dice(seed);
  const auto task = [&dice] { return task_of_demanding(dice); };
  const auto task_and_region = [&dice] {
    std::string names = task_of_demanding(dice) + " ";
    return names += region_of_demanding(dice);
  };
  std::string text(kFunctions);
  std::size_t statements = 1 + dice.below(4);
  while (statements-- > 0) {
    switch (dice.below(10)) {
      case 0:
        text += "Task " + task() + " " + dice.one({"CPU", "GPU, CPU", "IO, CPU", "OMP, CPU"});
        break;
      case 1:
      case 2:
        text += "Region " + task_and_region() + " " + dice.one({"*", "CPU", "GPU"}) + " " +
                dice.one({"SYSMEM", "RDMEM", "SOCKMEM", "RDMEM, SYSMEM", "FBMEM, SYSMEM", "VIRTUAL",
                          "VIRTUAL, SYSMEM"});
        break;
      case 3:
      case 4:
        text += "Layout " + task_and_region() + " " + dice.one({"*", "CPU", "SYSMEM"}) +
                dice.one({" SOA", " AOS", " C_order", " F_order", " SOA C_order", " AOS F_order",
                          " Exact", " Compact", " Align==128", " Align==16", " No_Align",
                          " C_order Align>=64"});
        break;
      case 5:
        text += "InstanceLimit " + task() + " " + dice.one({"1", "2", "CPU 1"});
        break;
      case 6:
        text += "CollectMemory " + task_and_region();
        break;
      case 7:
        text += "IndexTaskMap " + dice.one({"CPU", "*", "rows", "columns", "packed", "meet",
                                            "either", "pooled", "branch"});
        text += " " + dice.one({"block", "block_back", "cyclic", "last"});
        break;
      case 8:
        text += "SingleTaskMap " + dice.one({"CPU", "*", "grow", "read"}) + " last";
        break;
      default:
        text += dice.in(2) ? "ControlReplicate " + dice.one({"*", "top", "branch"})
                           : "TaskSteal " + task() + " CPU " + dice.one({"SAME_NODE", "ANY_NODE"});
    }
    text += ";\n";
  }
  return text;
}

}  // namespace groma::legion_test
