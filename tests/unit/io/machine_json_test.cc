// Machines to JSON and back: round trips, what a file may leave out, and texts that are wrong.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>

#include "groma/io.h"
#include "groma/machine.h"

namespace groma {
namespace {

Machine read_machine(std::string_view text) {
  Result<Machine> machine = machine_from_json(text, "m.json");
  EXPECT_TRUE(machine.ok()) << text << "\n" << (machine.ok() ? "" : machine.error().message);
  return std::move(machine).value();
}

Error refused(std::string_view text) {
  const Result<Machine> machine = machine_from_json(text, "m.json");
  EXPECT_FALSE(machine.ok()) << text;
  return machine.ok() ? Error{Error::Code::kUnreadable, ""} : machine.error();
}

// The message for one node, whose members are `node`, without the file's name.
std::string node_refusal(const std::string& node) {
  const std::string message = refused(R"({"nodes": [{)" + node + "}]}").message;
  constexpr std::string_view kFile = "`m.json`: ";
  EXPECT_TRUE(message.starts_with(kFile)) << message;
  return message.substr(std::min(kFile.size(), message.size()));
}

constexpr std::string_view kGpus = R"("processors": [{"kind": "GPU", "count": 4}])";

TEST(MachineJson, RoundTripOfEveryPreset) {
  for (const Preset& preset : machine_presets()) {
    const Machine machine = make_machine(std::string(preset.name) + ":nodes=3,io=1").value();
    EXPECT_EQ(read_machine(machine_to_json(machine)), machine);
  }
}

TEST(MachineJson, RoundTripOfOddNumbersAndNames) {
  NodeType node = make_machine("gpu=1").value().node(0);
  node.processors[0].flops_per_s = 0.1 + 0.2;
  node.processors[0].sustained_fraction = 5e-324;
  node.memories[0].bandwidth_bytes_per_s = 1.7976931348623157e308;
  node.memories[0].capacity_bytes = (std::int64_t{1} << 53) - 1;
  node.affinities[0].bandwidth_bytes_per_s = 9007199254740993e3;
  node.affinities[0].latency_s = 0;
  node.channels[0].name = "a \"b\"\\\n\t\x01 \xc3\xa9";
  const Machine machine =
      Machine::make("\xe2\x82\xac", std::string("a\0b", 3), {node}, {0, 0}).value();
  EXPECT_EQ(read_machine(machine_to_json(machine)), machine);
}

TEST(MachineJson, RoundTripOfUnequalNodes) {
  const NodeType a = make_machine("gpu=1").value().node(0);
  const NodeType b = make_machine("gpu=0").value().node(0);
  for (const std::vector<std::uint32_t>& nodes :
       {std::vector<std::uint32_t>{0, 0, 1}, {0, 1, 0}, {1, 0}, {1}, {1, 1, 1}}) {
    const Machine machine = Machine::make("m", "", {a, b}, nodes).value();
    EXPECT_EQ(read_machine(machine_to_json(machine)), machine);
  }
}

TEST(MachineJson, RoundTripOfTheLargest) {
  const Machine machine =
      Machine::make("m", "", {make_machine("gpu=1").value().node(0)},
                    std::vector<std::uint32_t>(static_cast<std::size_t>(kMaxNodes), 0))
          .value();
  EXPECT_EQ(read_machine(machine_to_json(machine)), machine);
  std::vector<std::uint32_t> order(static_cast<std::size_t>(kMaxNodes));
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i % 2;
  const NodeType& node = machine.node(0);
  const Machine mixed = Machine::make("m", "", {node, node}, order).value();
  EXPECT_EQ(read_machine(machine_to_json(mixed)), mixed);
}

TEST(MachineJson, NamesThatAreNotUtf8AreReplaced) {
  const NodeType node = make_machine("gpu=1").value().node(0);
  const Machine machine = Machine::make("a\xff", "", {node}, {0}).value();
  EXPECT_EQ(read_machine(machine_to_json(machine)).name(), "a\xef\xbf\xbd");
}

TEST(MachineJson, AMinimalFileIsTheDefaultPreset) {
  const Machine preset = make_machine("p100x4").value();
  const Machine machine = read_machine(R"({"nodes": [{"processors": [{"kind": "CPU", "count": 16},
      {"kind": "GPU", "count": 4}, {"kind": "OMP", "count": 2}]}]})");
  EXPECT_EQ(machine.name(), "m.json");
  EXPECT_EQ(machine.node_count(), 1);
  EXPECT_EQ(machine.node(0), preset.node(0));
}

TEST(MachineJson, WhatIsGivenReplacesTheDefault) {
  const Machine machine = read_machine(R"({"name": "mine", "nodes": [{"count": 2,
      "processors": [{"kind": "GPU", "count": 2, "flops_per_s": 1e13}],
      "memories": [{"kind": "FBMEM", "capacity_bytes": 8e10}, {"kind": "SYSMEM"}],
      "affinities": [{"processor": "GPU", "memory": "FBMEM"},
                     {"processor": "GPU", "memory": "SYSMEM", "bandwidth_bytes_per_s": 4e11}],
      "channels": [{"from": "FBMEM", "to": "SYSMEM", "scope": "local", "links": 1}]}]})");
  const Machine preset = make_machine("gpu=2").value();
  const NodeType& node = machine.node(1);
  EXPECT_EQ(machine.name(), "mine");
  EXPECT_EQ(node.find(ProcKind::kGpu)->flops_per_s, 1e13);
  EXPECT_EQ(node.find(ProcKind::kGpu)->sustained_fraction,
            preset.node(0).find(ProcKind::kGpu)->sustained_fraction);
  EXPECT_EQ(node.find(MemKind::kFbmem)->count, 2);
  EXPECT_EQ(node.find(MemKind::kFbmem)->capacity_bytes, 80'000'000'000);
  EXPECT_TRUE(machine.can_address(1, ProcKind::kGpu, MemKind::kSysmem));
  ASSERT_EQ(node.channels.size(), 1U);
  EXPECT_EQ(node.channels[0].name, "pcie");
  EXPECT_EQ(node.channels[0].from, MemKind::kFbmem);
  EXPECT_EQ(node.channels[0].links, 1);
  EXPECT_GT(node.channels[0].bandwidth_bytes_per_s, 0);
}

// The figures of a preset's channel are those of a path between its two memories only.
TEST(MachineJson, AChannelBetweenOtherMemoriesHasNoDefault) {
  EXPECT_EQ(node_refusal(R"("processors": [{"kind": "GPU", "count": 2}],
                "channels": [{"from": "SYSMEM", "to": "SYSMEM", "scope": "local"}])"),
            "/nodes/0/channels/0: `bandwidth_bytes_per_s` is missing");
}

TEST(MachineJson, ANodeWithoutGpusHasNoGpuMemories) {
  const Machine machine =
      read_machine(R"({"nodes": [{"processors": [{"kind": "CPU", "count": 2}]}]})");
  EXPECT_EQ(machine.node(0).find(MemKind::kFbmem), nullptr);
  EXPECT_EQ(machine.node(0).find(MemKind::kZcmem), nullptr);
}

TEST(MachineJson, NoJsonFailsWithLineAndColumn) {
  EXPECT_EQ(refused("").message,
            "`m.json`: line 1, column 1: this is not JSON: unexpected end of input; expected '[', "
            "'{', or a "
            "literal");
  EXPECT_EQ(refused("{\"name\": \"\xc3\xa9\xc3\xa9\",\n \"n\xc3\xa9\": }").message,
            "`m.json`: line 2, column 8: this is not JSON: unexpected '}'; expected '[', '{', or a "
            "literal");
  EXPECT_EQ(refused("{} x").message,
            "`m.json`: line 1, column 4: this is not JSON: invalid literal; expected end of input");
  EXPECT_EQ(refused(R"({"nodes": 1e999})").message,
            "`m.json`: line 1, column 15: this is not JSON: number overflow parsing '1e999'");
  for (const char* text :
       {"nul", "{\"a\": NaN}", "{'a': 1}", "[1,]", "{\"a\": \"\xff\"}", "\"\\u12\"", "{\"a\": 01}",
        "// c\n{}", "\"a\nb\"", "{\"a\": Infinity}"}) {
    EXPECT_NE(refused(text).message.find("this is not JSON: "), std::string::npos) << text;
  }
}

TEST(MachineJson, MessagesStayShort) {
  const std::string long_text(1 << 20, 'x');
  for (const std::string& text :
       {"\"" + long_text, "{\"" + long_text + "\": 1}",
        R"({"nodes": [{"processors": [{"kind": ")" + long_text + "\"}]}]}",
        "{\"a\": " + std::string(1 << 20, '9') + "e}",
        "{\"name\": \"" + long_text + "\", \"nodes\": [{" + std::string(kGpus) + "}]}",
        "[" + std::string(1 << 20, '9') + "]"}) {
    const Error error = refused(text);
    EXPECT_LT(error.message.size(), 300U);
    EXPECT_LT(error.help.size(), 300U);
  }
}

TEST(MachineJson, WrongTypes) {
  EXPECT_EQ(refused("[]").message, "`m.json`: an array stands where an object is due");
  EXPECT_EQ(refused("{}").message, "`m.json`: `nodes` is missing");
  EXPECT_EQ(refused(R"({"nodes": {}})").message,
            "`m.json`: /nodes: an object stands where an array is due");
  EXPECT_EQ(refused(R"({"nodes": []})").message,
            "`m.json`: /nodes: a machine has at least one node");
  EXPECT_EQ(refused(R"({"nodes": [7]})").message,
            "`m.json`: /nodes/0: a number stands where an object is due");
  EXPECT_EQ(node_refusal(""), "/nodes/0: `processors` is missing");
  EXPECT_EQ(node_refusal(R"("processors": [{"kind": "GPU", "count": "4"}])"),
            "/nodes/0/processors/0/count: a string stands where a whole number is due");
  EXPECT_EQ(node_refusal(R"("processors": [{"kind": 3, "count": 4}])"),
            "/nodes/0/processors/0/kind: a number stands where a string is due");
  EXPECT_EQ(node_refusal(R"("processors": [{"kind": "GPU", "count": 4, "flops_per_s": null}])"),
            "/nodes/0/processors/0/flops_per_s: null stands where a number is due");
  EXPECT_EQ(node_refusal(std::string(kGpus) + R"(, "memories": true)"),
            "/nodes/0/memories: a truth value stands where an array is due");
  EXPECT_EQ(refused(R"({"name": 1, "nodes": [{)" + std::string(kGpus) + "}]}").message,
            "`m.json`: /name: a number stands where a string is due");
}

TEST(MachineJson, WrongNumbers) {
  const auto count = [](const std::string& value) {
    return node_refusal(R"("processors": [{"kind": "GPU", "count": )" + value + "}]");
  };
  EXPECT_EQ(count("0"), "/nodes/0/processors/0/count: 0 is not a count (1 to 65536)");
  EXPECT_EQ(count("-1"), "/nodes/0/processors/0/count: -1 is not a count (1 to 65536)");
  EXPECT_EQ(count("65537"), "/nodes/0/processors/0/count: 65537 is not a count (1 to 65536)");
  EXPECT_EQ(count("1.5"),
            "/nodes/0/processors/0/count: 1.5 is not a whole number that can be kept");
  EXPECT_EQ(count("1e300"),
            "/nodes/0/processors/0/count: 1e+300 is not a whole number that can be kept");
  EXPECT_EQ(count("99999999999999999999"),
            "/nodes/0/processors/0/count: 1e+20 is not a whole number that can be kept");
  const std::string nodes = std::string(kGpus) + R"(, "count": )";
  EXPECT_EQ(node_refusal(nodes + "0"), "/nodes/0/count: 0 is not a count of nodes (1 to 1048576)");
  EXPECT_EQ(node_refusal(nodes + "1048577"),
            "/nodes/0/count: 1048577 is not a count of nodes (1 to 1048576)");
  EXPECT_EQ(node_refusal(std::string(kGpus) + R"(, "memories": [{"kind": "SYSMEM", "count": 2,
                "capacity_bytes": 9007199254740992}])"),
            "/nodes/0/memories/0/capacity_bytes: 9007199254740992 is not a capacity (0 to "
            "9007199254740992 bytes, divided by the count)");
  EXPECT_EQ(node_refusal(std::string(kGpus) + R"(, "memories": [{"kind": "SYSMEM"}],
                "affinities": [{"processor": "GPU", "memory": "SYSMEM"}])"),
            "/nodes/0/affinities/0: `bandwidth_bytes_per_s` is missing");
}

TEST(MachineJson, UnknownWords) {
  const Error key = refused(R"({"nodes": [{"procesors": []}]})");
  EXPECT_EQ(key.message, "`m.json`: /nodes/0: no such key: `procesors`");
  EXPECT_EQ(key.help, "did you mean `processors`?");
  EXPECT_EQ(refused(R"({"zebra": 1})").help,
            "known are `name`, `description`, `nodes`, `order` and `measured`");
  const Error kind = refused(R"({"nodes": [{"processors": [{"kind": "GPUS", "count": 1}]}]})");
  EXPECT_EQ(kind.message, "`m.json`: /nodes/0/processors/0/kind: `GPUS` is not a processor kind");
  EXPECT_EQ(kind.help, "did you mean `GPU`?");
  EXPECT_EQ(node_refusal(std::string(kGpus) + R"(, "memories": [{"kind": "VIRTUAL"}])"),
            "/nodes/0/memories/0/kind: VIRTUAL is not a memory that a node has");
  EXPECT_EQ(node_refusal(std::string(kGpus) + R"(, "channels": [{"from": "FBMEM", "to": "FBMEM",
                "scope": "far"}])"),
            "/nodes/0/channels/0/scope: `far` is not a scope");
}

// Each mistake once, and nothing that only comes of one.
TEST(MachineJson, AllMistakesAreTold) {
  const Error error = refused(R"({"name": 1, "order": [0, 7], "nodes": [
      {"processors": [{"kind": "GPUS", "count": 1}, {"kind": "CPU", "count": "2"}], "memories": 3,
       "affinities": [{"processor": "GPU", "memory": "RAM"}]},
      {"procesors": []}, {"processors": [{"kind": "GPU", "count": 0}]},
      {"processors": [{"kind": "CPU", "count": 1}], "affinities": [{"processor": "GPUS", "memory":
       "SYSMEM"}], "channels": [{"from": "FBMEM", "to": "SYSMEM", "scope": "far"}]}]})");
  std::vector<std::string> messages = {error.message};
  for (const Error& more : error.more) messages.push_back(more.message);
  EXPECT_EQ(
      messages,
      (std::vector<std::string>{
          "`m.json`: /nodes/0/processors/0/kind: `GPUS` is not a processor kind",
          "`m.json`: /nodes/0/processors/1/count: a string stands where a whole number is due",
          "`m.json`: /nodes/0/memories: a number stands where an array is due",
          "`m.json`: /nodes/1: no such key: `procesors`",
          "`m.json`: /nodes/2/processors/0/count: 0 is not a count (1 to 65536)",
          "`m.json`: /nodes/3/affinities/0/processor: `GPUS` is not a processor kind",
          "`m.json`: /nodes/3/channels/0/scope: `far` is not a scope",
          "`m.json`: /name: a number stands where a string is due"}));
  std::string nodes;
  for (int i = 0; i < 100; ++i) nodes += i == 0 ? "1" : ",1";
  EXPECT_EQ(refused(R"({"nodes": [)" + nodes + "]}").more.size() + 1, kMaxFileErrors);
}

TEST(MachineJson, Twice) {
  EXPECT_EQ(node_refusal(R"("processors": [{"kind": "GPU", "count": 4, "count": 5}])"),
            "/nodes/0/processors/0: the key `count` stands there twice");
  EXPECT_EQ(node_refusal(R"("processors": [{"kind": "GPU", "count": 4}, {"kind": "GPU",
                "count": 4}])"),
            "/nodes/0/processors/1: GPU stands there twice, also at /processors/0");
}

TEST(MachineJson, Order) {
  const std::string nodes = R"("nodes": [{)" + std::string(kGpus) + "}]";
  EXPECT_EQ(read_machine("{" + nodes + R"(, "order": [0, 0, 0]})").node_count(), 3);
  EXPECT_EQ(refused("{" + nodes + R"(, "order": [0, 1]})").message,
            "`m.json`: /order/1: 1 is not an index of `nodes` (0 to 0)");
  EXPECT_EQ(refused("{" + nodes + R"(, "order": []})").message,
            "`m.json`: /order: 0 is not a count of nodes (1 to 1048576)");
  EXPECT_EQ(
      refused(R"({"nodes": [{"count": 1, )" + std::string(kGpus) + R"(}], "order": [0]})").message,
      "`m.json`: /nodes/0/count: `order` says how many nodes of each kind there are");
}

// A machine with a record of two measured figures.
Machine measured_machine() {
  NodeType node = make_machine("gpu=0").value().node(0);
  node.affinities[0].gap_bandwidth_bytes_per_s = 7.5e9;
  return Machine::make("m", "", {node}, {0})
      .value()
      .with_measurement(
          {{"Some CPU \"9\"", 8, 2},
           {{"core memory bandwidth", "bytes/s", 1.25e10, 1.2e10, 1.3e10, 9, "measured"},
            {"host copy latency", "s", 1e-6, 1e-6, 1e-6, 0, "kept: as p100x4"}}})
      .value();
}

TEST(MachineJson, RoundTripOfMeasurements) {
  const Machine machine = measured_machine();
  EXPECT_EQ(read_machine(machine_to_json(machine)), machine);
  const MachineMeasurement none{{"", 1, 1}, {}};
  const Machine bare = machine.with_measurement(none).value();
  EXPECT_EQ(read_machine(machine_to_json(bare)), bare);
}

TEST(MachineJson, TheSpreadOfAFigureMayBeLeftOut) {
  const Machine machine = read_machine("{\"nodes\": [{" + std::string(kGpus) + R"(}], "measured":
      {"computer": {"cores": 4}, "figures": [{"figure": "a", "unit": "s", "value": 2,
       "source": "b"}]}})");
  EXPECT_EQ(*machine.measurement(),
            (MachineMeasurement{{"", 4, 1}, {{"a", "s", 2, 2, 2, 0, "b"}}}));
}

TEST(MachineJson, WrongMeasurements) {
  const auto refusal = [](const std::string& measured) {
    return refused("{\"nodes\": [{" + std::string(kGpus) + "}], \"measured\": " + measured + "}")
        .message;
  };
  const auto figure = [&](const std::string& members) {
    return refusal(R"({"computer": {"cores": 1}, "figures": [{"figure": "a", "unit": "s", )" +
                   members + "}]}");
  };
  EXPECT_EQ(refusal("{}"), "`m.json`: /measured: `computer` is missing");
  EXPECT_EQ(refusal(R"({"computer": {"cores": 0}})"),
            "`m.json`: /measured/computer/cores: 0 is not a count (1 to 65536)");
  EXPECT_EQ(figure(R"("value": 1)"), "`m.json`: /measured/figures/0: `source` is missing");
  EXPECT_EQ(figure(R"("value": 1, "source": "")"),
            "`m.json`: /measured/figures/0/source: the text is empty");
  EXPECT_EQ(figure(R"("value": -1, "source": "b")"),
            "`m.json`: /measured/figures/0/value: -1 is not a figure (a number of 0 or more)");
  EXPECT_EQ(figure(R"("value": 1, "low": 2, "source": "b")"),
            "`m.json`: /measured/figures/0/low: 2 is not a number from 0 to `value`, which is 1");
  EXPECT_EQ(figure(R"("value": 1, "high": 0.5, "source": "b")"),
            "`m.json`: /measured/figures/0/high: 0.5 is not a number of at least `value`, which "
            "is 1");
  EXPECT_EQ(figure(R"("value": 1, "repeats": -1, "source": "b")"),
            "`m.json`: /measured/figures/0/repeats: -1 is not a count (0 or more)");
  EXPECT_EQ(node_refusal(std::string(kGpus) + R"(, "memories": [{"kind": "FBMEM"}], "affinities":
                [{"processor": "GPU", "memory": "FBMEM", "gap_bandwidth_bytes_per_s": -1}])"),
            "/nodes/0/affinities/0/gap_bandwidth_bytes_per_s: -1 is not a rate (a number above 0)");
}

TEST(MachineJson, TextsBeyondTheBounds) {
  EXPECT_EQ(refused(std::string(200'000, '[')).message, "`m.json`: nested deeper than 16");
  std::string objects;
  for (int i = 0; i < 200'000; ++i) objects += "{\"a\":";
  EXPECT_EQ(refused(objects).code, Error::Code::kTooLarge);
  EXPECT_EQ(refused(std::string(kMaxMachineFileBytes + 1, ' ')).code, Error::Code::kTooLarge);
  std::string many = "[0";
  while (many.size() < kMaxMachineFileBytes - 3) many += ",0";
  EXPECT_EQ(refused(many + "]").code, Error::Code::kTooLarge);
  std::string keys = "{\"k\": 1";
  for (int i = 0; i < 100'000; ++i) keys += ", \"k" + std::to_string(i) + "\": 1";
  EXPECT_EQ(refused(keys + "}").message, "`m.json`: more than 64 keys in one object");
  std::string types = "{\"nodes\": [{}";
  for (int i = 0; i < 100'000; ++i) types += ",{}";
  EXPECT_EQ(refused(types + "]}").message, "`m.json`: /nodes: 100001 kinds of nodes; at most 4096");
}

TEST(MachineJson, NoPrefixOfAFileIsAMachine) {
  NodeType node = make_machine("gpu=1").value().node(0);
  node.channels.resize(2);
  const std::string text = machine_to_json(Machine::make("m", "", {node}, {0, 0}).value());
  for (std::size_t size = 0; size + 2 < text.size(); ++size) {
    refused(std::string_view(text).substr(0, size));
  }
}

TEST(MachineJson, NoPrefixOfAMeasuredMachineIsAMachine) {
  const std::string text = machine_to_json(measured_machine());
  for (std::size_t size = text.find("measured"); size + 2 < text.size(); ++size) {
    refused(std::string_view(text).substr(0, size));
  }
}

TEST(MachineJson, MutationsNeverCrash) {
  const std::string text = machine_to_json(make_machine("gpu=2,omp=1").value());
  std::mt19937 random(20240607);
  const auto below = [&random](std::size_t n) { return random() % n; };
  constexpr std::string_view kBytes = "{}[]\",:-+.0123456789eE\\ \n\xff\xc3truefalsn\0";
  for (int round = 0; round < 2000; ++round) {
    std::string mutant = text;
    for (std::size_t i = below(4) + 1; i > 0; --i) {
      const std::size_t at = below(mutant.size());
      switch (below(4)) {
        case 0:
          mutant[at] = kBytes[below(kBytes.size())];
          break;
        case 1:
          mutant.erase(at, below(40));
          break;
        case 2:
          mutant.insert(at, 1, kBytes[below(kBytes.size())]);
          break;
        case 3:
          mutant.insert(at, mutant.substr(below(mutant.size()), below(80)));
          break;
      }
    }
    const Result<Machine> machine = machine_from_json(mutant, "m.json");
    if (machine) {
      EXPECT_EQ(read_machine(machine_to_json(*machine)), *machine);
    } else {
      EXPECT_FALSE(machine.error().message.empty());
      EXPECT_LT(machine.error().message.size(), 600U);
    }
  }
}

}  // namespace
}  // namespace groma
