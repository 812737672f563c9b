// The presets: that they build, that their figures are whole and positive, what can address what.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <regex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "groma/machine.h"

namespace groma {
namespace {

Machine machine_of(std::string_view spec) {
  Result<Machine> machine = make_machine(spec);
  EXPECT_TRUE(machine.ok()) << spec << ": " << (machine.ok() ? "" : machine.error().message);
  return std::move(machine).value();
}

const PresetFigure& figure(const Preset& preset, std::string_view what) {
  const auto at = std::find_if(preset.figures.begin(), preset.figures.end(),
                               [what](const PresetFigure& f) { return f.what == what; });
  EXPECT_NE(at, preset.figures.end()) << what;
  return *at;
}

TEST(Presets, TheDefaultComesFirst) {
  std::vector<std::string_view> names;
  for (const Preset& preset : machine_presets()) names.push_back(preset.name);
  EXPECT_EQ(names, (std::vector<std::string_view>{"p100x4", "p100x4-nvlink", "lassen", "summit",
                                                  "a100x8", "h200x8"}));
}

TEST(Presets, EveryFigureIsPositiveAndSaysWhatItStandsOn) {
  constexpr std::array<std::string_view, 5> kEvidence = {
      "published: ", "measured: ", "recalled: ", "arithmetic: ", "chosen: "};
  for (const Preset& preset : machine_presets()) {
    EXPECT_FALSE(preset.summary.empty());
    std::set<std::string_view> seen;
    for (const PresetFigure& f : preset.figures) {
      EXPECT_TRUE(seen.insert(f.what).second) << f.what;
      EXPECT_GT(std::stod(std::string(f.value)), 0) << preset.name << ": " << f.what;
      EXPECT_TRUE(std::any_of(kEvidence.begin(), kEvidence.end(), [&](std::string_view kind) {
        return f.source.starts_with(kind);
      })) << f.source;
    }
  }
}

// What the words behind `arithmetic: ` give, in the figure's unit, and how far the figure may be
// rounded. Returns NaN for words that stand for no arithmetic.
std::pair<double, double> arithmetic(const Preset& preset, const std::string& source) {
  const auto value_of = [&](std::string_view what) {
    return std::stod(std::string(figure(preset, what).value));
  };
  std::smatch parts;
  const auto is = [&](const char* pattern) {
    return std::regex_search(source, parts, std::regex(std::string("^arithmetic: ") + pattern));
  };
  const auto number = [&](std::size_t i) { return std::stod(parts[i].str()); };
  if (is("([0-9.]+) GHz base clock x ([0-9]+) FP64 operations a cycle")) {
    return {number(1) * number(2), 1e-9};
  }
  if (is("([0-9.]+) of the host link$")) {
    return {number(1) * value_of("host to GPU bandwidth"), 0.5};
  }
  if (is("([0-9.]+) of [^0-9]*[^,]*'s ([0-9.]+) GB/s")) return {number(1) * number(2), 0.5};
  if (is("over the X bus, as between the sockets$")) {
    return {value_of("socket to socket bandwidth"), 1e-9};
  }
  return {std::nan(""), 0};
}

TEST(Presets, ArithmeticGivesTheFigures) {
  std::size_t checked = 0;
  for (const Preset& preset : machine_presets()) {
    for (const PresetFigure& each : preset.figures) {
      if (!each.source.starts_with("arithmetic: ")) continue;
      const auto [expected, rounding] = arithmetic(preset, std::string(each.source));
      EXPECT_NEAR(std::stod(std::string(each.value)), expected, rounding)
          << preset.name << ": " << each.what << ", " << each.source;
      ++checked;
    }
  }
  EXPECT_GE(checked, 10U);
}

// A size of 1024 units or more is in the next unit, up to the largest, which is TiB.
TEST(Presets, SizesAreInTheLargestUnitThatFits) {
  const auto sizes = [](std::string_view what) {
    std::vector<std::string> all;
    for (const Preset& preset : machine_presets()) {
      all.emplace_back(figure(preset, what).value);
    }
    return all;
  };
  EXPECT_EQ(sizes("host memory"), (std::vector<std::string>{"256 GiB", "256 GiB", "256 GiB",
                                                            "512 GiB", "1 TiB", "2 TiB"}));
  EXPECT_EQ(sizes("GPU memory"), (std::vector<std::string>{"16 GiB", "16 GiB", "16 GiB", "16 GiB",
                                                           "40 GiB", "139 GiB"}));
  EXPECT_EQ(sizes("RDMEM"), std::vector<std::string>(6, "512 MiB"));
  EXPECT_EQ(sizes("ZCMEM"), std::vector<std::string>(6, "2 GiB"));
}

TEST(Presets, DefaultsOfParametersAreWhatTheMachineHas) {
  for (const Preset& preset : machine_presets()) {
    const Machine machine = machine_of(preset.name);
    std::string all(preset.name);
    for (const PresetParameter& parameter : preset.parameters) {
      all += (all.size() == preset.name.size() ? ":" : ",") + std::string(parameter.name) + "=" +
             std::to_string(parameter.default_value);
    }
    EXPECT_EQ(machine.node(0), machine_of(all).node(0)) << all;
    EXPECT_EQ(machine.nodes(), machine_of(all).nodes()) << all;
    EXPECT_EQ(machine.name(), preset.name);
    EXPECT_EQ(machine.description(), preset.summary);
  }
}

TEST(Presets, TheListedFiguresAreTheMachines) {
  for (const Preset& preset : machine_presets()) {
    const Machine machine = machine_of(preset.name);
    const NodeType& node = machine.node(0);
    const auto listed = [&](std::string_view what) {
      return std::stod(std::string(figure(preset, what).value));
    };
    EXPECT_NEAR(node.find(ProcKind::kGpu)->flops_per_s / 1e12, listed("GPU peak FP64"), 1e-9);
    EXPECT_NEAR(node.find(ProcKind::kCpu)->flops_per_s / 1e9, listed("core peak FP64"), 1e-9);
    EXPECT_NEAR(node.find(MemKind::kFbmem)->bandwidth_bytes_per_s / 1e9,
                listed("GPU memory bandwidth"), 1e-9);
    EXPECT_NEAR(node.find(ProcKind::kGpu, MemKind::kZcmem)->bandwidth_bytes_per_s / 1e9,
                listed("zero-copy bandwidth of a GPU"), 1e-9);
    EXPECT_EQ(node.find(ProcKind::kGpu)->count, static_cast<std::int64_t>(listed("GPUs")));
    EXPECT_EQ(node.find(ProcKind::kCpu)->count,
              static_cast<std::int64_t>(listed("sockets") * listed("cores of a socket")) - 4);
  }
}

TEST(Presets, EveryFigureOfEveryMachineIsFiniteAndPositive) {
  for (const Preset& preset : machine_presets()) {
    const Machine machine = machine_of(preset.name);
    const NodeType& node = machine.node(0);
    for (const ProcessorGroup& group : node.processors) {
      EXPECT_GT(group.flops_per_s, 0);
      EXPECT_GT(group.launch_latency_s, 0);
      EXPECT_LE(group.sustained_fraction, 1);
    }
    for (const MemoryGroup& group : node.memories) {
      EXPECT_GT(group.capacity_bytes, 0);
      EXPECT_GT(group.bandwidth_bytes_per_s, 0);
    }
    for (const Affinity& affinity : node.affinities) {
      EXPECT_GT(affinity.bandwidth_bytes_per_s, 0);
      EXPECT_GT(affinity.latency_s, 0);
      EXPECT_LE(affinity.bandwidth_bytes_per_s, node.find(affinity.memory)->bandwidth_bytes_per_s);
    }
    for (const Channel& channel : node.channels) {
      EXPECT_GT(channel.bandwidth_bytes_per_s, 0);
      EXPECT_GE(channel.links, 1);
    }
  }
}

TEST(Presets, EveryTwoMemoriesAreJoined) {
  for (const Preset& preset : machine_presets()) {
    const Machine machine = machine_of(preset.name);
    const NodeType& node = machine.node(0);
    const auto joined = [&](MemKind a, MemKind b, Channel::Scope scope) {
      return std::any_of(node.channels.begin(), node.channels.end(), [&](const Channel& c) {
        return c.scope == scope && ((c.from == a && c.to == b) || (c.from == b && c.to == a));
      });
    };
    for (const MemoryGroup& a : node.memories) {
      for (const MemoryGroup& b : node.memories) {
        EXPECT_TRUE(joined(a.kind, b.kind, Channel::Scope::kNetwork));
        EXPECT_EQ(joined(a.kind, b.kind, Channel::Scope::kLocal), a.kind != b.kind);
      }
      EXPECT_EQ(joined(a.kind, a.kind, Channel::Scope::kPeer), a.count > 1);
    }
  }
}

TEST(Presets, WhatAddressesWhat) {
  const Machine machine = machine_of("p100x4:io=1,py=1");
  for (const ProcKind kind : {ProcKind::kCpu, ProcKind::kOmp, ProcKind::kIo, ProcKind::kPy}) {
    EXPECT_TRUE(machine.can_address(0, kind, MemKind::kSysmem));
    EXPECT_TRUE(machine.can_address(0, kind, MemKind::kSockmem));
    EXPECT_TRUE(machine.can_address(0, kind, MemKind::kZcmem));
    EXPECT_TRUE(machine.can_address(0, kind, MemKind::kRdmem));
    EXPECT_FALSE(machine.can_address(0, kind, MemKind::kFbmem));
  }
  EXPECT_TRUE(machine.can_address(0, ProcKind::kGpu, MemKind::kFbmem));
  EXPECT_TRUE(machine.can_address(0, ProcKind::kGpu, MemKind::kZcmem));
  EXPECT_FALSE(machine.can_address(0, ProcKind::kGpu, MemKind::kSysmem));
  EXPECT_FALSE(machine.can_address(0, ProcKind::kGpu, MemKind::kSockmem));
  EXPECT_FALSE(machine.can_address(0, ProcKind::kGpu, MemKind::kRdmem));
  EXPECT_FALSE(machine.can_address(0, ProcKind::kProc, MemKind::kSysmem));  // it has none
}

TEST(Presets, ThePapersNode) {
  const Machine machine = machine_of("p100x4");
  EXPECT_EQ(machine.node_count(), 1);
  EXPECT_EQ(machine.processors_per_node(ProcKind::kCpu), 16);
  EXPECT_EQ(machine.processors_per_node(ProcKind::kOmp), 2);
  EXPECT_EQ(machine.processors_per_node(ProcKind::kGpu), 4);
  const NodeType& node = machine.node(0);
  EXPECT_EQ(node.find(MemKind::kSysmem)->capacity_bytes, std::int64_t{256} << 30);
  EXPECT_EQ(node.find(MemKind::kZcmem)->capacity_bytes, std::int64_t{2} << 30);
  EXPECT_EQ(node.find(MemKind::kFbmem)->count, 4);
  EXPECT_EQ(node.find(MemKind::kFbmem)->capacity_bytes, std::int64_t{16} << 30);
  EXPECT_EQ(node.find(MemKind::kSockmem)->count, 2);
}

}  // namespace
}  // namespace groma
