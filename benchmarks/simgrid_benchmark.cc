// The embedded runtime beside SimGrid (3.32): the same graphs of tasks and copies on the same
// machines. To ours a graph is an application, whose copies it finds itself from what tasks read
// and write; to SimGrid it is an actor for each processor, which receives, executes and sends. Both
// are given the same figures of processors and channels, and ours runtime costs of zero.
//
// Prints simulated times side by side, then wall time and memory for graphs of 10^3 point tasks and
// ten times as many, up to POINT_TASKS (10^5): medians of paired turns. Ends with 1 where the two
// count differently, or where simulated times that have to agree do not.
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <simgrid/s4u.hpp>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "arguments.h"
#include "base/median.h"
#include "groma/app_builder.h"
#include "groma/simulate.h"
#include "process_memory.h"
#include "simulate/links.h"

namespace {

using namespace groma;
namespace s4u = simgrid::s4u;
using Clock = std::chrono::steady_clock;

constexpr int kTurns = 5;
// How far times may differ: where no two copies want one link, and where they share some, which
// each models in its own way: in turns, in equal parts (docs/simulator.md).
constexpr double kAlone = 0.01, kShared = 0.1, kHalo = 0.2;

// ---- Graphs: in every step point i of `width` x `height` writes its own piece and reads pieces of
// the step before.

// Which piece that is, in both languages. i: the point, w: width, h: height, n: all.
struct Read {
  std::string color;
  std::function<std::int64_t(std::int64_t i)> piece;
};

struct Graph {
  std::string name;
  std::int64_t width = 1, height = 1;
  std::int64_t steps = 1;
  std::int64_t bytes = 0;  // of a piece
  std::vector<Read> reads = {};
  bool hops = false;  // a step has one point only, the next one
  std::int64_t points() const { return width * height; }
  std::int64_t tasks() const { return steps * (hops ? 1 : points()); }
};

// The piece dx to the right and dy below, round the edges.
Read at(const Graph& graph, std::int64_t dx, std::int64_t dy) {
  const std::int64_t w = graph.width, h = graph.height;
  return {"(i / w + h + " + std::to_string(dy) + ") % h * w + (i % w + w + " + std::to_string(dx) +
              ") % w",
          [=](std::int64_t i) { return (i / w + h + dy) % h * w + (i % w + w + dx) % w; }};
}

Graph with(Graph graph, const std::vector<std::pair<int, int>>& offsets) {
  for (const auto& [dx, dy] : offsets) graph.reads.push_back(at(graph, dx, dy));
  return graph;
}

Graph chain(Graph graph) {
  graph.hops = true;
  return with(std::move(graph), {{-1, 0}});
}
Graph ring(Graph graph) { return with(std::move(graph), {{0, 0}, {-1, 0}}); }
// The shifts of Cannon's algorithm: rows to the left, columns upwards.
Graph cannon(Graph graph) { return with(std::move(graph), {{0, 0}, {1, 0}, {0, 1}}); }
Graph stencil(Graph graph) {
  return with(std::move(graph), {{0, 0}, {0, -1}, {0, 1}, {-1, 0}, {1, 0}});
}
Graph broadcast(Graph graph) {
  graph.reads = {at(graph, 0, 0), {"0", [](std::int64_t) { return std::int64_t{0}; }}};
  return graph;
}
Graph all_to_all(Graph graph) {
  for (int k = 0; k < graph.width; ++k) graph.reads.push_back(at(graph, k, 0));
  return graph;
}
// ---- Machines: point i runs on processor i of this kind, its data in the memory of that kind.

struct Site {
  std::shared_ptr<const Machine> machine;
  ProcKind processor;
  MemKind memory;
  bool star = false;  // each node has one processor, and one link outwards and one inwards

  std::int64_t per_node() const { return machine->processors_per_node(processor); }
  Processor at(std::int64_t i) const { return {processor, i / per_node(), i % per_node()}; }
  const ProcessorGroup& group() const { return *machine->node(0).find(processor); }
};

constexpr double kStarBandwidth = 12.5e9;
constexpr double kStarLatency = 2e-6;

// Nodes of one CPU on a network of 100 Gbit/s.
Site star(std::int64_t nodes) {
  NodeType node;
  node.processors = {{ProcKind::kCpu, 1, 1e12}};
  node.memories = {{MemKind::kSysmem, 1, std::int64_t{1} << 40, 1e11}};
  node.affinities = {{ProcKind::kCpu, MemKind::kSysmem, 1e11, 0}};
  node.channels = {{"net", MemKind::kSysmem, MemKind::kSysmem, Channel::Scope::kNetwork, 1,
                    kStarBandwidth, kStarLatency}};
  auto machine = Machine::make("star", "", {node},
                               std::vector<std::uint32_t>(static_cast<std::size_t>(nodes)));
  return {std::make_shared<Machine>(std::move(*machine)), ProcKind::kCpu, MemKind::kSysmem, true};
}

Site preset(const std::string& spec) {
  return {std::make_shared<Machine>(*make_machine(spec)), ProcKind::kGpu, MemKind::kFbmem};
}

// ---- What both say

struct Outcome {
  double seconds = -1;      // simulated
  double mean_seconds = 0;  // when a task ended, on average
  std::int64_t tasks = 0, copies = 0;
  double wall_s = 0;     // from the description of the graph to the end of the run
  double memory_mb = 0;  // that it took at most, beyond what was there before
};

// In a process of its own: SimGrid can be used once in each, and peaks of memory stay.
template <typename Run>
Outcome apart(const Run& run) {
  int ends[2];
  if (pipe(ends) != 0) return {};
  std::fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    const double before = process_memory_mb("VmRSS:");
    Outcome outcome = run();
    outcome.memory_mb = process_memory_mb("VmHWM:") - before;
    const bool written = write(ends[1], &outcome, sizeof outcome) == sizeof outcome;
    _exit(written ? 0 : 1);
  }
  close(ends[1]);
  Outcome outcome;
  if (read(ends[0], &outcome, sizeof outcome) != sizeof outcome) outcome = {};
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  return outcome;
}

double since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// ---- Ours

constexpr std::int64_t kFlops = 1'000'000'000;

class Spread final : public Mapper {
 public:
  Spread(const Site& site, MapperSite own) : Mapper(std::move(own)), site_(site) {}
  bool selects() const override { return false; }
  bool reads_valid() const override { return false; }
  bool repeats_answers() const override { return true; }
  // SimGrid limits no launches in flight.
  void configure_context(MapperRuntime&, const TaskView&, ContextConfigOutput& answer) override {
    answer.max_window = 0;
  }
  void select_task_options(MapperRuntime&, const TaskView&, TaskOptions& answer) override {
    answer.initial = site_.at(0);
  }
  void slice_task(MapperRuntime&, const TaskView&, const Rect& part,
                  SliceTaskOutput& answer) override {
    for (std::int64_t i = 0; i < part.extents[0]; ++i) {
      Rect one = part;
      one.lower[0] += i;
      one.extents[0] = 1;
      answer.slices.push_back({one, site_.at(one.lower[0])});
    }
  }
  void map_task(MapperRuntime&, const TaskView& task,
                std::span<const std::span<const InstanceView>>, MapTaskOutput& answer) override {
    answer.processors.push_back(task.current);
    answer.variant = 1;
    answer.requirements.resize(task.requirements.size());
    for (InstanceChoice& choice : answer.requirements) {
      InstanceCandidate candidate;
      candidate.memory = site_.memory;
      choice.add(candidate);
      choice.region = InstanceChoice::Region::kRequired;
    }
  }

 private:
  const Site& site_;
};

Workload workload_of(const Graph& graph, const Site& site) {
  AppBuilder app("graph");
  app.parameter("w", graph.width, "").parameter("h", graph.height, "");
  app.define("n", "w * h").parameter("steps", graph.steps, "");
  app.region("pieces", {2, "n", graph.bytes}).field("byte", 1).partition("piece", {2, "n", 1});
  VariantBuilder variant(site.processor);
  variant.leaf().flops(kFlops);
  AppLaunch first = {.task = "first", .domain = {graph.hops ? "1" : "n"}, .index = {"i"}};
  first.data = {{"piece", {0, "i", 0}}};
  app.task("first").variant(VariantBuilder(variant).traffic(0, 0)).discards("piece");
  // A step reads the pieces that the step before has written, and writes the others.
  app.task("step");
  for (std::uint32_t r = 0; r < graph.reads.size(); ++r) {
    app.reads("piece");
    variant.traffic(r, 0);
  }
  app.discards("piece");
  app.variant(variant.traffic(static_cast<std::uint32_t>(graph.reads.size()), 0));
  const auto step = [&](const std::string& from, const std::string& to) {
    AppLaunch launch = {.task = "step", .domain = first.domain, .index = {"i"}};
    if (graph.hops) launch.lower = {"(t + 1) % n"};
    for (const Read& read : graph.reads) launch.data.push_back({"piece", {from, read.color, 0}});
    launch.data.push_back({"piece", {to, "i", 0}});
    return AppStatement{launch};
  };
  std::vector<AppStatement> body = {AppStatement{first}};
  if (graph.hops) {
    body.push_back(loop("steps - 1", {step("t % 2", "(t + 1) % 2")}, "t"));
  } else {
    const bool is_even = graph.steps % 2 == 0;  // then one step comes before the loop
    if (is_even) body.push_back(step("0", "1"));
    const std::string own = is_even ? "1" : "0", other = is_even ? "0" : "1";
    body.push_back(loop("(steps - 1) / 2", {step(own, other), step(other, own)}));
  }
  app.task("main").variant(VariantBuilder(site.processor).kernels(0)).body(body);
  return *Workload::make(app.top_level("main").done());
}

// How a graph is simulated: with a record of its events; without one, so that iterations that
// repeat others are skipped; or without one and with every event.
enum class Ours { kRecord, kSkip, kEachEvent };

Outcome in_ours(const Graph& graph, const Site& site, Ours how) {
  const auto start = Clock::now();
  const Workload workload = workload_of(graph, site);
  SimulateOptions options;
  options.costs = {0, 0, 0, 0, 0, 0};
  options.record = how == Ours::kRecord;
  if (how == Ours::kEachEvent) options.noise = 1e-18;  // a run with noise skips nothing
  const RunResult run = simulate(
      workload, site.machine,
      [&](const Processor& processor) {
        return std::make_unique<Spread>(site,
                                        MapperSite{.machine = site.machine, .local = processor});
      },
      options);
  Outcome outcome{run.ok() ? run.total_seconds : -1};
  outcome.wall_s = since(start);
  if (!run.ok()) std::fprintf(stderr, "%s: %s\n", graph.name.c_str(), run.raw.c_str());
  outcome.tasks = run.tasks - 1;  // without the one that launches
  outcome.copies = run.copies;
  if (how != Ours::kRecord) return outcome;
  for (const RunRecord::Event& event : run.record->events) {
    if (event.kind != RunRecord::Event::Kind::kTask) continue;
    outcome.mean_seconds +=
        static_cast<double>(event.end) * kPicosecond / static_cast<double>(outcome.tasks);
  }
  return outcome;
}

// ---- SimGrid

using Hosts = std::vector<s4u::Host*>;

// Every host has a link outwards and one inwards.
void make_star(s4u::NetZone& zone, const Hosts& hosts) {
  for (const s4u::Host* host : hosts) {
    const s4u::Link* out =
        zone.create_link(host->get_name() + " out", kStarBandwidth)->set_latency(kStarLatency);
    const s4u::Link* in = zone.create_link(host->get_name() + " in", kStarBandwidth);
    zone.add_route(host->get_netpoint(), nullptr, nullptr, nullptr, {s4u::LinkInRoute(out)}, false);
    zone.add_route(nullptr, host->get_netpoint(), nullptr, nullptr, {s4u::LinkInRoute(in)}, false);
  }
}

// Between the memories of any two hosts our route: its lanes, which it shares with others, and a
// link of its own with its latency and bandwidth. No lane is narrower than a route over it.
void make_routes(s4u::NetZone& zone, const Hosts& hosts, const Site& site) {
  const sim::Memories memories(*site.machine);
  sim::Links links(*site.machine, memories);
  const auto memory = [&](std::size_t i) {
    return memories.nearest(site.at(static_cast<std::int64_t>(i)), site.memory);
  };
  const auto each = [&](const auto& use) {
    for (std::size_t a = 0; a < hosts.size(); ++a) {
      for (std::size_t b = 0; b < hosts.size(); ++b) {
        if (a != b) use(a, b, *links.route(memory(a), memory(b)));
      }
    }
  };
  RunRecord record;
  each([](std::size_t, std::size_t, const sim::Route&) {});
  links.write_links_and_routes(record);
  std::vector<const s4u::Link*> lanes;
  for (const RunRecord::Link& lane : record.links) {
    double bandwidth = 0;
    for (const Channel& channel : site.machine->node(lane.node).channels) {
      if (channel.name == lane.channel) {
        bandwidth = std::max(bandwidth, channel.bandwidth_bytes_per_s);
      }
    }
    lanes.push_back(zone.create_link("lane " + std::to_string(lanes.size()), bandwidth));
  }
  each([&](std::size_t a, std::size_t b, const sim::Route& route) {
    std::vector<s4u::LinkInRoute> way;
    for (std::uint32_t lane : route.links) way.emplace_back(lanes[lane]);
    way.emplace_back(
        zone.create_link(std::to_string(a) + " " + std::to_string(b), 1 / route.seconds_per_byte)
            ->set_latency(route.latency_s)
            ->set_sharing_policy(s4u::Link::SharingPolicy::FATPIPE));
    zone.add_route(hosts[a]->get_netpoint(), hosts[b]->get_netpoint(), nullptr, nullptr, way,
                   false);
  });
}

// An actor for each processor. (Executions and communications with add_successor, without actors,
// give the same times; but 3.32 looks for each that ends in a list of all that there are.)
struct Steps {
  const Graph& graph;
  double flops;
  std::map<std::int64_t, std::vector<s4u::Mailbox*>> in = {}, out = {};  // of each processor

  // There are two pieces, as we have them: what comes for a step may come when the step before the
  // last has run, and the step after the next overwrites what is sent.
  void run(std::int64_t i, Outcome& outcome) {
    static char piece;
    static char* received;
    using Comms = std::vector<s4u::CommPtr>;
    const auto wait = [](Comms& comms) {
      for (const s4u::CommPtr& comm : comms) comm->wait();
      comms.clear();
    };
    const std::int64_t stride = graph.hops ? graph.points() : 1;
    Comms coming, next, sent, sending;
    for (std::int64_t t = graph.hops ? i : 0; t < graph.steps; t += stride) {
      if (t > 0 && coming.empty()) {
        for (s4u::Mailbox* way : in[i]) coming.push_back(way->get_async(&received));
      }
      if (t + stride < graph.steps) {
        for (s4u::Mailbox* way : in[i]) next.push_back(way->get_async(&received));
      }
      wait(coming);
      coming.swap(next);
      wait(sent);
      sent.swap(sending);
      s4u::this_actor::execute(flops);
      ++outcome.tasks;
      outcome.mean_seconds += s4u::Engine::get_clock();
      if (t + 1 == graph.steps) break;
      for (s4u::Mailbox* way : out[i]) {
        sending.push_back(way->put_async(&piece, static_cast<std::uint64_t>(graph.bytes)));
        ++outcome.copies;
      }
    }
    wait(sent);
    wait(sending);
  }
};

Outcome in_simgrid(const Graph& graph, const Site& site) {
  std::vector<std::string> words = {"groma_simgrid_benchmark",
                                    "--cfg=network/model:CM02",      // nothing of TCP:
                                    "--cfg=network/TCP-gamma:0",     // no windows,
                                    "--cfg=network/crosstraffic:0",  // no acknowledgements
                                    "--log=root.thres:critical"};
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  int count = static_cast<int>(words.size());
  s4u::Engine engine(&count, arguments.data());
  s4u::NetZone& zone = *(site.star ? s4u::create_star_zone("star") : s4u::create_full_zone("all"));
  const ProcessorGroup& group = site.group();
  const double speed = group.flops_per_s * group.sustained_fraction;
  Hosts hosts;
  for (std::int64_t i = 0; i < graph.points(); ++i) {
    hosts.push_back(zone.create_host(std::to_string(i), speed));
    hosts.back()->seal();
  }
  if (site.star) {
    make_star(zone, hosts);
  } else {
    make_routes(zone, hosts, site);
  }
  zone.seal();

  Outcome outcome;
  const auto start = Clock::now();
  // The launch latency is work, too.
  Steps steps{graph, kFlops + group.launch_latency_s * speed};
  for (std::int64_t i = 0; i < graph.points(); ++i) {
    for (const Read& read : graph.reads) {
      const std::int64_t from = read.piece(i);
      if (from == i) continue;
      s4u::Mailbox* way = s4u::Mailbox::by_name(std::to_string(from) + " " + std::to_string(i));
      steps.in[i].push_back(way);
      steps.out[from].push_back(way);
    }
  }
  for (std::int64_t i = 0; i < graph.points(); ++i) {
    s4u::Actor::create(std::to_string(i), hosts[static_cast<std::size_t>(i)],
                       [&steps, &outcome, i] { steps.run(i, outcome); });
  }
  engine.run();
  outcome.wall_s = since(start);
  outcome.seconds = s4u::Engine::get_clock();
  outcome.mean_seconds /= static_cast<double>(outcome.tasks);
  return outcome;
}

// ---- Side by side

bool wrong = false;

// The last end, and the mean of all, which have to agree within `band`.
void compare_times(const Graph& graph, const Site& site, double band) {
  const Outcome ours = apart([&] { return in_ours(graph, site, Ours::kRecord); });
  const Outcome theirs = apart([&] { return in_simgrid(graph, site); });
  const double ratio = ours.seconds / theirs.seconds;
  const double mean_ratio = ours.mean_seconds / theirs.mean_seconds;
  const bool agree = std::abs(ratio - 1) <= band && std::abs(mean_ratio - 1) <= band;
  const bool counts =
      ours.tasks == theirs.tasks && ours.copies == theirs.copies && ours.tasks == graph.tasks();
  wrong |= !counts || !agree;
  std::printf("%-34s %7ld %8ld %10.3f %10.3f %+8.2f %% %10.3f %10.3f %+8.2f %% (of %.0f)%s%s\n",
              graph.name.c_str(), static_cast<long>(ours.tasks), static_cast<long>(ours.copies),
              ours.seconds * 1e3, theirs.seconds * 1e3, (ratio - 1) * 100, ours.mean_seconds * 1e3,
              theirs.mean_seconds * 1e3, (mean_ratio - 1) * 100, band * 100,
              counts ? "" : "  COUNTS DIFFER", agree ? "" : "  HAVE TO AGREE");
}

void compare_speed(const Graph& graph, const Site& site) {
  std::vector<double> ratios, each_ratios, ours_s, each_s, theirs_s, ours_mb, theirs_mb;
  std::int64_t activities = 0;
  for (int turn = 0; turn < kTurns; ++turn) {
    const Outcome ours = apart([&] { return in_ours(graph, site, Ours::kSkip); });
    const Outcome each = apart([&] { return in_ours(graph, site, Ours::kEachEvent); });
    const Outcome theirs = apart([&] { return in_simgrid(graph, site); });
    wrong |= ours.tasks != theirs.tasks || ours.copies != theirs.copies || ours.seconds < 0;
    wrong |= ours.tasks != each.tasks || ours.copies != each.copies || ours.seconds != each.seconds;
    each_ratios.push_back(theirs.wall_s / each.wall_s);
    each_s.push_back(each.wall_s);
    activities = ours.tasks + ours.copies;
    ratios.push_back(theirs.wall_s / ours.wall_s);
    ours_s.push_back(ours.wall_s);
    theirs_s.push_back(theirs.wall_s);
    ours_mb.push_back(ours.memory_mb);
    theirs_mb.push_back(theirs.memory_mb);
  }
  const auto rate = [&](const std::vector<double>& s) {
    return static_cast<double>(activities) / groma::median(s) / 1e6;
  };
  const auto spread = [](const std::vector<double>& ratio) {
    const auto [least, most] = std::minmax_element(ratio.begin(), ratio.end());
    return fmt::format("{:.1f} ({:.1f} to {:.1f})", groma::median(ratio), *least, *most);
  };
  std::printf("%-26s %8ld %9ld %8.3f %8.3f %8.3f %20s %22s %8.0f %8.0f\n", graph.name.c_str(),
              static_cast<long>(graph.tasks()), static_cast<long>(activities - graph.tasks()),
              rate(ours_s), rate(each_s), rate(theirs_s), spread(ratios).c_str(),
              spread(each_ratios).c_str(), groma::median(ours_mb), groma::median(theirs_mb));
}

}  // namespace

int main(int argc, char** argv) {
  constexpr std::string_view kUsage =
      "groma_simgrid_benchmark [POINT_TASKS]\n"
      "  POINT_TASKS  of the largest graphs whose speed is compared; 100000 unless given\n";
  const std::vector<std::string> arguments = groma::bench::arguments_of(argc, argv, kUsage);
  if (arguments.size() > 1) groma::bench::refuse("there is one argument at most", kUsage);
  const std::int64_t most =
      arguments.empty() ? 100'000
                        : groma::bench::number_of("POINT_TASKS", arguments.front(), 1, kUsage);
  constexpr std::int64_t kMega = 1'000'000;
  std::printf("%-34s %7s %8s %10s %10s %10s %10s %10s %10s\n", "simulated ms", "tasks", "copies",
              "ours", "SimGrid", "differ", "task ends", "SimGrid", "differ");
  const Site net = star(64), gpus = preset("p100x4:nodes=4");
  compare_times(chain({"chain over 16 nodes", 16, 1, 200, kMega}), net, kAlone);
  compare_times(ring({"ring of 64 nodes", 64, 1, 50, kMega}), net, kAlone);
  compare_times(ring({"ring of 16 GPUs in 4 nodes", 16, 1, 50, 10 * kMega}), gpus, kAlone);
  std::printf("where copies share links\n");
  compare_times(broadcast({"broadcast to 64 nodes", 64, 1, 20, 10 * kMega}), net, kShared);
  compare_times(all_to_all({"all to all, 16 nodes", 16, 1, 20, 10 * kMega}), net, kShared);
  compare_times(cannon({"Cannon's shifts, 8 x 8 nodes", 8, 8, 50, 10 * kMega}), net, kShared);
  compare_times(stencil({"halo of 8 x 8 nodes", 8, 8, 50, 10 * kMega}), net, kHalo);
  compare_times(cannon({"Cannon's shifts, 16 GPUs, 4 nodes", 4, 4, 50, 10 * kMega}), gpus, kShared);
  compare_times(stencil({"halo of 16 GPUs, 4 nodes", 4, 4, 50, 10 * kMega}), gpus, kShared);

  std::printf(
      "\nspeed: million tasks and copies a second\n%-26s %8s %9s %8s %8s %8s %20s %22s %8s %8s\n",
      "", "tasks", "copies", "ours", "each", "SimGrid", "times as fast", "with each event", "MB",
      "SimGrid");
  for (std::int64_t tasks = 1000; tasks <= most; tasks *= 10) {
    const std::int64_t nodes = 100, steps = tasks / nodes;
    const Site site = star(nodes);
    compare_speed(chain({"chain", nodes, 1, tasks, kMega}), site);
    compare_speed(ring({"ring of 100", nodes, 1, steps, kMega}), site);
    compare_speed(cannon({"Cannon's shifts, 10 x 10", 10, 10, steps, kMega}), site);
    compare_speed(stencil({"halo of 10 x 10", 10, 10, steps, kMega}), site);
  }
  if (most >= 100'000) {
    compare_speed(stencil({"halo of 100 x 100", 100, 100, most / 10'000, kMega}), star(10'000));
  }
  return wrong ? 1 : 0;
}
