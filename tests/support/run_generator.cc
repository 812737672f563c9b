#include "support/run_generator.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "groma/validate.h"

namespace groma::testing {
namespace {

std::uint64_t mix(std::uint64_t x) { return random_at(x, 0); }

// Returns true if the mappers of the run with that seed repeat their answers. Its loops are longer,
// so that the runtime makes use of it.
bool repeats(std::uint64_t seed) { return mix(seed + 8) % 2 == 0; }
bool selects(std::uint64_t seed) { return mix(seed + 5) % 3 == 0; }

class Draw {
 public:
  explicit Draw(std::uint64_t seed) : state_(mix(seed)) {}
  std::int64_t below(std::int64_t n) {
    state_ = mix(state_);
    return static_cast<std::int64_t>(state_ % static_cast<std::uint64_t>(n));
  }
  std::int64_t between(std::int64_t least, std::int64_t most) {
    return least + below(most - least + 1);
  }
  bool percent(int chance) { return below(100) < chance; }
  template <typename T>
  T of(const std::vector<T>& all) {
    return all[static_cast<std::size_t>(below(static_cast<std::int64_t>(all.size())))];
  }

 private:
  std::uint64_t state_;
};

// ---- The machine

NodeType node_type(Draw& draw) {
  NodeType node;
  const auto processors = [&](ProcKind kind, std::int64_t count, double flops) {
    ProcessorGroup group{kind, count, flops};
    group.sustained_fraction = draw.percent(50) ? 1 : 0.7;
    group.launch_latency_s = draw.percent(50) ? 1e-6 : 3.3e-6;
    node.processors.push_back(group);
  };
  const std::int64_t gpus = draw.percent(60) ? draw.between(1, 3) : 0;
  processors(ProcKind::kCpu, draw.between(1, 3), 1e9);
  if (gpus > 0) processors(ProcKind::kGpu, gpus, 3e10);
  const bool omp = draw.percent(40);
  if (omp) processors(ProcKind::kOmp, draw.between(1, 2), 7e9);
  const auto memory = [&](MemKind kind, std::int64_t count, double bandwidth) {
    const std::int64_t bytes = draw.percent(50) ? 1 << 20 : draw.between(100, 4000);
    node.memories.push_back({kind, count, bytes, bandwidth});
  };
  memory(MemKind::kSysmem, 1, draw.percent(50) ? 1e9 : 7e9);
  const std::int64_t sockets = draw.percent(40) ? draw.between(1, 2) : 0;
  if (sockets > 0) memory(MemKind::kSockmem, sockets, 3e9);
  if (gpus > 0) memory(MemKind::kFbmem, gpus, 9e10);
  if (gpus > 0) memory(MemKind::kZcmem, 1, 1.3e9);
  for (const ProcessorGroup& group : node.processors) {
    for (const MemoryGroup& each : node.memories) {
      const bool gpu = group.kind == ProcKind::kGpu;
      const bool device = each.kind == MemKind::kFbmem;
      if (each.kind != MemKind::kZcmem && gpu != device) continue;
      node.affinities.push_back({group.kind, each.kind,
                                 device ? 5e10 : draw.of<double>({6e8, 7e8, 1e9}),
                                 draw.percent(50) ? 0 : 3e-6});
      // Some affinities give the rate of rows with gaps. It does not take part in the draw, so
      // that the other values of each seed stay as they are.
      if (node.affinities.size() % 3 == 0) node.affinities.back().gap_bandwidth_bytes_per_s = 4e8;
    }
  }
  const auto channel = [&](const char* name, MemKind a, MemKind b, Channel::Scope scope) {
    if (node.find(a) == nullptr || node.find(b) == nullptr || draw.percent(5)) return;
    node.channels.push_back({name, a, b, scope, draw.between(1, 3),
                             draw.of<double>({1e8, 3e8, 1e9, 1.6e10}),
                             draw.of<double>({0, 1e-6, 3e-6})});
  };
  using Scope = Channel::Scope;
  channel("pcie", MemKind::kSysmem, MemKind::kFbmem, Scope::kLocal);
  channel("pcie", MemKind::kFbmem, MemKind::kZcmem, Scope::kLocal);
  channel("host", MemKind::kSysmem, MemKind::kZcmem, Scope::kLocal);
  channel("host", MemKind::kSysmem, MemKind::kSockmem, Scope::kLocal);
  channel("host", MemKind::kSockmem, MemKind::kSockmem, Scope::kPeer);
  if (draw.percent(60)) channel("nvlink", MemKind::kFbmem, MemKind::kFbmem, Scope::kPeer);
  channel("net", MemKind::kSysmem, MemKind::kSysmem, Scope::kNetwork);
  if (draw.percent(50)) channel("net", MemKind::kFbmem, MemKind::kFbmem, Scope::kNetwork);
  if (draw.percent(30)) channel("slow", MemKind::kSysmem, MemKind::kSysmem, Scope::kNetwork);
  return node;
}

std::shared_ptr<const Machine> machine(Draw& draw) {
  std::vector<NodeType> types = {node_type(draw)};
  if (draw.percent(30)) types.push_back(node_type(draw));
  std::vector<std::uint32_t> nodes;
  for (std::int64_t n = draw.between(1, 3); n > 0; --n) {
    nodes.push_back(
        static_cast<std::uint32_t>(draw.below(static_cast<std::int64_t>(types.size()))));
  }
  for (std::uint32_t t = 0; t < types.size(); ++t) {  // each is used
    if (std::find(nodes.begin(), nodes.end(), t) == nodes.end()) nodes.push_back(t);
  }
  auto made = Machine::make("random", "", std::move(types), std::move(nodes));
  GROMA_CHECK(static_cast<bool>(made));
  return std::make_shared<Machine>(std::move(*made));
}

// ---- The application

const std::vector<std::string> kCoordinates = {"i", "j", "k", "l", "m", "n"};

struct Cut {  // a partition, and what launches have to know of it
  std::string name;
  std::size_t region;
  std::vector<std::int64_t> colors;
  bool disjoint;
};

class AppGenerator {
 public:
  // `holes`: whether there are partitions by boxes. They are drawn apart from all else, so that the
  // other seeds mean what they meant before there were any.
  // `loops`: if not 0, the top-level task has loops of 4 to 10 times as many iterations, and is the
  // only one that launches.
  AppGenerator(Draw& draw, std::uint64_t seed, bool holes, std::int64_t loops)
      : draw_(draw),
        boxes_(mix(seed + 1234)),
        holes_(holes),
        loops_(loops),
        waits_(loops > 1 && seed % 2 == 0),
        repeats_(repeats(seed)) {}

  Application make() {
    app_.name = "random";
    app_.top_level = "t0";
    const std::int64_t regions = draw_.between(1, 3);
    for (std::int64_t r = 0; r < regions; ++r) region();
    const auto count = static_cast<std::size_t>(draw_.between(2, 5));
    for (std::size_t t = 0; t < count; ++t) task(t);
    // A task launches only later ones.
    for (std::size_t t = 0; t < count; ++t) {
      const bool launches = t == 0 || (loops_ == 0 && t + 1 < count && draw_.percent(30));
      if (t == 0 && loops_ > 0) {
        app_.tasks[t].body = loops();
      } else if (launches) {
        app_.tasks[t].body = this->body(t, 0, t == 0 ? draw_.between(2, 6) : 2, {});
      }
      for (AppVariant& variant : app_.tasks[t].variants) {
        variant.leaf =
            !launches || (&variant != app_.tasks[t].variants.data() && draw_.percent(30));
        variant.inner = launches && !variant.leaf && draw_.percent(30);
      }
    }
    if (draw_.percent(50)) app_.metric.phase = phase_;
    return std::move(app_);
  }

 private:
  void region() {
    AppRegion region;
    region.name = "r" + std::to_string(app_.regions.size());
    const std::int64_t dimensions = draw_.between(1, 3);
    for (std::int64_t d = 0; d < dimensions; ++d) {
      region.extents.emplace_back(draw_.percent(3) ? 0
                                                   : draw_.between(1, dimensions == 1   ? 16
                                                                      : dimensions == 2 ? 6
                                                                                        : 4));
    }
    for (std::int64_t f = draw_.between(1, 3); f > 0; --f) {
      region.fields.push_back({"f" + std::to_string(f), draw_.of<std::int64_t>({1, 4, 8, 16, 40})});
    }
    const std::size_t number = app_.regions.size();
    app_.regions.push_back(region);
    for (std::int64_t p = draw_.between(0, 3); p > 0; --p) partition(number);
  }

  void partition(std::size_t region) {
    const auto dimensions = app_.regions[region].extents.size();
    AppPartition partition;
    partition.name = "p" + std::to_string(app_.partitions.size());
    Cut cut{partition.name, region, {}, true};
    partition.of = app_.regions[region].name;
    for (const Cut& other : cuts_) {
      if (other.region != region || other.colors.size() + dimensions > 6 || !draw_.percent(30)) {
        continue;
      }
      partition.of = other.name;
      cut.colors = other.colors;
      cut.disjoint = other.disjoint;
      break;
    }
    const bool formula = draw_.percent(30);
    const std::size_t own = formula ? 1 : dimensions;
    for (std::size_t d = 0; d < own; ++d) {
      const std::int64_t colors = draw_.percent(2) ? 0 : draw_.between(1, dimensions == 1 ? 4 : 2);
      partition.colors.emplace_back(colors);
      cut.colors.push_back(colors);
    }
    if (formula) {
      partition.index = {"c"};
      cut.disjoint = false;
      for (std::size_t d = 0; d < dimensions; ++d) {
        partition.lower.emplace_back("c * " + std::to_string(draw_.between(0, 3)) + " - 1");
        partition.extents.emplace_back(draw_.between(0, 5));
      }
    } else if (draw_.percent(25)) {
      cut.disjoint = false;
      for (std::size_t d = 0; d < dimensions; ++d) partition.halo.emplace_back(draw_.between(0, 2));
    }
    if (holes_ && boxes_.percent(70)) {
      cut.disjoint = false;
      cut_by_boxes(dimensions, cut.colors, partition);
    }
    app_.partitions.push_back(partition);
    cuts_.push_back(cut);
  }

  // `all_colors` are those of what is cut, too.
  void cut_by_boxes(std::size_t dimensions, const std::vector<std::int64_t>& all_colors,
                    AppPartition& partition) {
    partition.lower = partition.extents = partition.halo = {};
    partition.index.clear();
    while (partition.index.size() < partition.colors.size()) {
      partition.index.push_back("c" + std::to_string(partition.index.size()));
    }
    const bool any = std::find(all_colors.begin(), all_colors.end(), 0) == all_colors.end();
    for (std::int64_t left = boxes_.between(1, 5); left > 0; --left) {
      AppBox box;
      for (const std::int64_t colors : all_colors) {
        if (!any || partition.boxes.size() % 2 == 0) break;
        box.color.emplace_back(boxes_.below(colors));
      }
      for (std::size_t d = 0; d < dimensions; ++d) {
        const std::string& index = partition.index[d % partition.index.size()];
        box.lower.emplace_back(index + " * " + std::to_string(boxes_.between(0, 3)) + " + " +
                               std::to_string(boxes_.between(-1, dimensions == 1 ? 9 : 3)));
        box.extents.emplace_back(boxes_.between(0, 3));
      }
      partition.boxes.push_back(std::move(box));
    }
  }

  void task(std::size_t number) {
    AppTask task;
    task.name = "t" + std::to_string(number);
    if (number > 0 && draw_.percent(40)) task.arguments = {"x"};
    std::vector<bool> used(app_.regions.size());
    for (std::int64_t r = number == 0 ? draw_.below(2) : draw_.between(0, 3); r > 0; --r) {
      const auto region =
          static_cast<std::size_t>(draw_.below(static_cast<std::int64_t>(app_.regions.size())));
      if (used[region] && draw_.percent(80)) continue;  // else often in its own way
      used[region] = true;
      AppRequirement requirement;
      requirement.privilege = draw_.of<Privilege>(
          {Privilege::kReadOnly, Privilege::kReadOnly, Privilege::kReadWrite, Privilege::kReadWrite,
           Privilege::kWriteDiscard, Privilege::kReduce, Privilege::kReduce, Privilege::kNoAccess});
      if (draw_.percent(10)) {
        requirement.coherence = draw_.of<Coherence>(
            {Coherence::kAtomic, Coherence::kSimultaneous, Coherence::kRelaxed});
      }
      requirement.dimensions = static_cast<int>(app_.regions[region].extents.size());
      for (const AppField& field : app_.regions[region].fields) {
        if (draw_.percent(60)) requirement.fields.push_back(field);
      }
      if (requirement.fields.empty() && draw_.percent(90)) {
        requirement.fields = {app_.regions[region].fields.front()};
      }
      requirement.data.of = app_.regions[region].name;
      task.requirements.push_back(requirement);
    }
    std::vector<ProcKind> kinds = {ProcKind::kCpu};
    if (number > 0 && draw_.percent(60)) kinds.push_back(ProcKind::kGpu);
    if (number > 0 && draw_.percent(30)) kinds.push_back(ProcKind::kOmp);
    for (ProcKind kind : kinds) task.variants.push_back(variant(kind, task));
    app_.tasks.push_back(task);
  }

  AppVariant variant(ProcKind kind, const AppTask& task) {
    AppVariant variant;
    variant.kind = kind;
    variant.replicable = draw_.percent(50);
    variant.flops = draw_.of<std::int64_t>({0, 100, 12345, 10000000});
    variant.single = draw_.percent(30);
    if (draw_.percent(30)) variant.efficiency = draw_.between(0, 120);
    variant.kernels = draw_.between(0, 3);
    variant.nanoseconds = draw_.of<std::int64_t>({0, 0, 1, 777, 50000});
    if (!task.arguments.empty()) variant.nanoseconds = "100 * x";
    for (std::size_t r = 0; r < task.requirements.size(); ++r) {
      const std::string points = "points(" + std::to_string(r) + ")";
      if (draw_.percent(30)) {
        variant.flops = variant.flops.text() + " + 1000 * " + points + " + extent(" +
                        std::to_string(r) + ", 0)";
      }
      for (int times = 0; times < 2 && draw_.percent(30); ++times) {
        variant.traffic.push_back(
            {static_cast<std::uint32_t>(r), points + " * 24",
             draw_.of<Access>({Access::kStream, Access::kScatter, Access::kAtomic})});
      }
    }
    if (draw_.percent(40)) {
      variant.loops = draw_.percent(50) ? DimensionOrder::kC : DimensionOrder::kFortran;
    }
    return variant;
  }

  // Returns a body with launches between long loops, which wait for nothing: a run maps far ahead
  // of what it executes.
  std::vector<AppStatement> loops() {
    std::vector<AppStatement> body;
    const auto add_launches = [&](std::vector<AppStatement>& to, std::int64_t count,
                                  const std::vector<std::string>& variables) {
      for (; count > 0; --count) {
        if (auto made = launch(0, variables)) to.push_back({*made});
      }
    };
    for (std::int64_t round = draw_.between(1, 3); round > 0; --round) {
      add_launches(body, draw_.between(0, 2), {});
      AppLoop loop;
      loop.count = loops_ * draw_.between(4, 10);
      loop.traced = draw_.percent(50);
      std::vector<std::string> variables;
      if (draw_.percent(20)) variables.push_back(loop.variable = "v");
      add_launches(loop.body, draw_.between(1, 4), variables);
      if (draw_.percent(20)) {
        AppLoop inner;
        inner.count = draw_.between(1, 3);
        add_launches(inner.body, 1, variables);
        loop.body.push_back({inner});
      }
      if (draw_.percent(20)) loop.body.push_back({AppWait{}});
      body.push_back({loop});
      if (waits_) body.push_back({AppWait{}});
      add_launches(body, draw_.between(0, 2), {});
    }
    return body;
  }

  std::vector<AppStatement> body(std::size_t task, int depth, std::int64_t statements,
                                 const std::vector<std::string>& variables) {
    std::vector<AppStatement> body;
    for (; statements > 0; --statements) {
      const std::int64_t kind = draw_.below(100);
      if (kind < 62 || depth > 2) {
        if (auto made = launch(task, variables)) body.push_back({*made});
      } else if (kind < 80) {
        AppLoop loop;
        loop.count = draw_.between(0, repeats_ && depth == 0 ? 9 : 3);
        auto inner = variables;
        if (draw_.percent(60)) {
          loop.variable = "v" + std::to_string(depth);
          inner.push_back(loop.variable);
        }
        loop.traced = draw_.percent(50);
        loop.body = this->body(task, depth + 1, draw_.between(0, 2), inner);
        body.push_back({loop});
      } else if (kind < 88) {
        AppPhase phase;
        phase.name = draw_.percent(50) ? "solve" : "setup";
        phase.body = this->body(task, depth + 1, draw_.between(0, 2), variables);
        phase_ = phase.name;
        body.push_back({phase});
      } else if (!given_.empty() && given_.front().first == task && draw_.percent(70)) {
        body.push_back({AppWait{given_.front().second}});
      } else {
        body.push_back({AppWait{}});
      }
    }
    return body;
  }

  // Of the region, as large as those of the requirement.
  std::vector<std::string> other_fields(const AppRequirement& requirement) {
    const auto region =
        std::find_if(app_.regions.begin(), app_.regions.end(),
                     [&](const AppRegion& one) { return one.name == requirement.data.of; });
    std::vector<AppField> left = region->fields;
    std::vector<std::string> names;
    for (const AppField& field : requirement.fields) {
      std::vector<AppField> may;
      for (const AppField& one : left) {
        if (one.bytes == field.bytes) may.push_back(one);
      }
      const AppField chosen = draw_.of(may);
      std::erase(left, chosen);
      names.push_back(chosen.name);
    }
    return names;
  }

  // Returns a condition that selects some of the points of a launch.
  Formula condition(std::size_t dimensions, const std::vector<std::string>& variables) {
    const std::string right = dimensions > 1      ? kCoordinates[1]
                              : variables.empty() ? std::to_string(draw_.below(4))
                                                  : variables.back();
    return kCoordinates[0] + draw_.of<std::string>({" <= ", " != ", " % 2 == "}) + right;
  }
  std::optional<AppLaunch> launch(std::size_t parent, const std::vector<std::string>& variables) {
    const auto tasks = static_cast<std::int64_t>(app_.tasks.size());
    if (static_cast<std::int64_t>(parent) + 1 >= tasks) return std::nullopt;
    const AppTask& task = app_.tasks[static_cast<std::size_t>(
        draw_.between(static_cast<std::int64_t>(parent) + 1, tasks - 1))];
    AppLaunch launch;
    launch.task = task.name;
    std::vector<std::int64_t> domain;
    bool index = draw_.percent(75);
    // The domain is the colours of a partition that a requirement writes by, so that points are
    // seldom in each other's way.
    if (index) {
      domain = {draw_.percent(4) ? 0 : draw_.between(1, 4)};
      for (const AppRequirement& requirement : task.requirements) {
        for (const Cut& cut : cuts_) {
          if (app_.regions[cut.region].name == requirement.data.of && cut.colors.size() <= 4 &&
              draw_.percent(60)) {
            domain = cut.colors;
          }
        }
      }
    }
    std::vector<AppData> data;
    for (const AppRequirement& requirement : task.requirements) {
      const bool writes = requirement.privilege == Privilege::kReadWrite ||
                          requirement.privilege == Privilege::kWriteDiscard;
      std::vector<AppData> may;
      for (const Cut& cut : cuts_) {
        if (app_.regions[cut.region].name != requirement.data.of) continue;
        if (index && cut.colors == domain) may.push_back({cut.name, {}});
        const bool some = std::none_of(cut.colors.begin(), cut.colors.end(),
                                       [](std::int64_t n) { return n == 0; });
        if ((index && writes) || !some) continue;
        AppData given{cut.name, {}};
        for (std::int64_t colors : cut.colors) {
          std::string of = std::to_string(draw_.below(4));
          if (index) of += " + " + kCoordinates[0];
          if (!variables.empty() && draw_.percent(50)) of += " + " + variables.back();
          given.color.emplace_back("(" + of + ") % " + std::to_string(colors));
        }
        if (draw_.percent(2) && index) given.color.front() = "i + 90";
        may.push_back(given);
      }
      if (may.empty() || draw_.percent(index && writes ? 3 : 20)) {
        if (index && writes && draw_.percent(90)) index = false;
        may = {{requirement.data.of, {}}};
      }
      data.push_back(draw_.of(may));
      if (draw_.percent(20)) data.back().fields = other_fields(requirement);
      if (draw_.percent(15)) {
        data.back().privilege =
            draw_.of<Privilege>({Privilege::kReadOnly, Privilege::kReduce, Privilege::kNoAccess});
      }
    }
    if (!index) {
      for (std::size_t r = 0; r < data.size(); ++r) {
        if (data[r].of != task.requirements[r].data.of && data[r].color.empty()) {
          data[r] = task.requirements[r].data;
        }
        for (Formula& color : data[r].color) {
          std::string text = color.text() == "i + 90" ? "0" : color.text();
          if (const auto at = text.find(" + i"); at != std::string::npos) text.erase(at, 4);
          color = text;
        }
      }
    }
    if (index) {
      for (std::size_t d = 0; d < domain.size(); ++d) {
        launch.domain.emplace_back(domain[d]);
        launch.index.push_back(kCoordinates[d]);
      }
      if (draw_.percent(20)) launch.where = condition(domain.size(), variables);
    }
    launch.data = data;
    if (!task.arguments.empty()) {
      launch.arguments.emplace_back(index ? "i + 1" : variables.empty() ? "3" : variables.back());
    }
    if (draw_.percent(30)) {
      launch.gives = "g" + std::to_string(parent);
      if (given_.empty() || given_.front().first != parent)
        given_.insert(given_.begin(), {parent, launch.gives});
    }
    if (!given_.empty() && given_.front().first == parent && draw_.percent(30)) {
      launch.takes = {given_.front().second};
    }
    return launch;
  }

  Draw& draw_;
  Draw boxes_;
  const bool holes_;
  const std::int64_t loops_;
  // Whether the task waits for everything after each of these loops.
  const bool waits_;
  const bool repeats_;
  Application app_;
  std::vector<Cut> cuts_;
  std::vector<std::pair<std::size_t, std::string>> given_;  // futures, by task, the last first
  std::string phase_;
};

// ---- The mapper

struct Shared {  // of all mappers of a run
  int running = 0;
  MapperEvent event = 0;
  Drawn own, *drawn = &own;
};

class RandomMapper final : public Mapper {
 public:
  // `keeps`: whether instances are used again and stay.
  RandomMapper(MapperSite site, std::uint64_t seed, bool keeps, std::shared_ptr<Shared> shared)
      : Mapper(std::move(site)), seed_(seed), keeps_(keeps), shared_(std::move(shared)) {}

  void select_task_options(MapperRuntime&, const TaskView& task, TaskOptions& answer) override {
    Draw draw = draws(1, task);
    answer.initial = somewhere(draw, task);
    answer.valid_instances = draw.percent(50);
    answer.stealable = draw.percent(50);
    if (task.depth == 0 && machine().node_count() > 1 && draw.percent(50)) {
      answer.replicate =
          std::any_of(task.variants.begin(), task.variants.end(),
                      [&](const auto& v) { return v.kind == answer.initial.kind && v.replicable; });
      if (!validate(answer, task, machine()).empty()) answer.replicate = false;
    }
  }

  void replicate_task(MapperRuntime&, const TaskView& task, ReplicateTaskOutput& answer) override {
    Draw draw = draws(6, task);
    for (const VariantView& variant : task.variants) {
      if (variant.kind == task.current.kind && variant.replicable) answer.variant = variant.id;
    }
    answer.processors = {task.current};
    for (std::int64_t node = 0; node < machine().node_count(); ++node) {
      const std::int64_t count = machine().processor_count(node, task.current.kind);
      for (std::int64_t i = 0; i < count; ++i) {
        const Processor shard{task.current.kind, node, i};
        if (!(shard == task.current) && draw.percent(60)) answer.processors.push_back(shard);
      }
    }
  }

  ShardingId select_sharding_functor(MapperRuntime&, const TaskView&, const ShardTable&) override {
    return kCyclicSharding;
  }

  void slice_task(MapperRuntime&, const TaskView& task, const Rect& part,
                  SliceTaskOutput& answer) override {
    Draw draw = draws(2, task);
    const bool whole = draw.percent(25);
    Point point = part.lower;
    if (part.volume() == 0) return;
    if (whole) {
      answer.slices.push_back({part, somewhere(draw, task)});
    } else if (part.extents[0] > 1 && draw.percent(40)) {
      Rect left = part, right = part;
      left.extents[0] = 1;
      right.lower[0] += 1;
      right.extents[0] -= 1;
      answer.slices.push_back({right, somewhere(draw, task), draw.percent(50)});
      answer.slices.push_back({left, somewhere(draw, task)});
    } else {
      do {
        Rect one{point, part.extents};
        for (int d = 0; d < one.dimensions(); ++d) one.extents[d] = 1;
        answer.slices.push_back({one, somewhere(draw, task)});
      } while (next_point(part, &point));
    }
    for (TaskSlice slice : std::exchange(answer.slices, {})) {
      slice.stealable = draw.percent(60);
      answer.slices.push_back(slice);
    }
  }

  // Mostly one that may have something, now and then several or one that has nothing.
  void select_steal_targets(MapperRuntime&, std::span<const Processor> blacklist,
                            std::vector<Processor>& answer) override {
    Draw draw(seed_ + 177 + asked_++);
    if (draw.percent(20)) return;
    for (std::int64_t node = 0; node < machine().node_count(); ++node) {
      for (const ProcessorGroup& group : machine().node(node).processors) {
        for (std::int64_t i = 0; i < group.count; ++i) {
          const Processor victim{group.kind, node, i};
          if (victim == site().local || draw.percent(40)) continue;
          const bool refused =
              std::find(blacklist.begin(), blacklist.end(), victim) != blacklist.end();
          if (!refused || draw.percent(10)) answer.push_back(victim);
        }
      }
    }
  }
  void permit_steal_request(MapperRuntime&, const Processor&, std::span<const TaskView> stealable,
                            std::vector<std::uint32_t>& answer) override {
    Draw draw(seed_ + 277 + asked_++);
    for (std::uint32_t i = 0; i < stealable.size(); ++i) {
      if (draw.percent(50)) answer.push_back(i);
    }
    shared_->drawn->stolen += std::ssize(answer);
  }

  void map_task(MapperRuntime& runtime, const TaskView& task,
                std::span<const std::span<const InstanceView>> valid,
                MapTaskOutput& answer) override {
    Draw draw = draws(3, task);
    Processor where = task.current;
    if (task.shard_variant == 0 && draw.percent(15)) where = somewhere(draw, task);
    answer.processors = {where};
    if (task.shard_variant == 0 && draw.percent(40)) {
      answer.processors.clear();
      for (std::int64_t i = 0; i < machine().processor_count(where.node, where.kind); ++i) {
        answer.processors.push_back({where.kind, where.node, i});
      }
    }
    const VariantView* variant = nullptr;
    for (const VariantView& each : task.variants) {
      if (each.kind == where.kind) variant = &each;
    }
    answer.variant = task.shard_variant != 0 ? task.shard_variant : variant->id;
    answer.task_priority = static_cast<int>(draw.below(3));
    answer.task_profiling.timeline = limited(task);
    if (limited(task)) ++shared_->running;
    answer.requirements.resize(task.requirements.size());
    for (std::size_t r = 0; r < task.requirements.size(); ++r) {
      Draw own = draws(10 + r * 2 + (reads_valid() && valid[r].size() > 2 ? 1 : 0), task);
      choice(own, task, task.requirements[r], where, variant->leaf, answer.requirements[r]);
    }
    Draw own = draws(100, task);
    if (own.percent(25) && !repeats_answers())
      name_instances(runtime, own, task, valid, where, answer);
  }

  // Makes instances, or takes what it sees; mostly such as can be had.
  void name_instances(MapperRuntime& runtime, Draw& draw, const TaskView& task,
                      std::span<const std::span<const InstanceView>> valid, const Processor& where,
                      MapTaskOutput& answer) const {
    for (std::size_t r = 0; r < task.requirements.size(); ++r) {
      const RequirementView& requirement = task.requirements[r];
      InstanceChoice& choice = answer.requirements[r];
      if (requirement.empty() || choice.is_virtual || draw.percent(30)) continue;
      answer.processors = {where};
      for (const InstanceView& seen : valid[r]) {
        if (draw.percent(20)) runtime.collect_instance(seen.id);
        if (draw.percent(20)) runtime.set_collect_priority(seen.id, priority(draw));
        const bool near = (machine().node(where.node).find(seen.memory.kind) != nullptr &&
                           seen.memory == near_memory(where, seen.memory.kind)) ||
                          draw.percent(2);
        if (near && runtime.acquire_instance(seen.id) && draw.percent(50))
          choice.instance = seen.id;
        if (draw.percent(20)) runtime.release_instance(seen.id);
      }
      if (draw.percent(40)) continue;
      std::vector<RegionId> regions = {requirement.region};
      std::vector<FieldId> fields;
      for (const FieldView& field : requirement.fields) fields.push_back(field.id);
      for (const RequirementView& other : task.requirements) {  // for both
        if (other.parent != requirement.parent || other.empty() || draw.percent(40)) continue;
        regions.push_back(other.region);
        for (const FieldView& field : other.fields) fields.push_back(field.id);
      }
      InstanceRequest request;
      const InstanceCandidate& candidate = choice.candidates().front();
      request.memory = near_memory(where, candidate.memory);
      if (draw.percent(2)) request.memory.node = machine().node_count() - 1;
      request.layout = candidate.layout;
      request.regions = regions;
      request.fields = fields;
      request.reduction = draw.percent(99) ? requirement.reduction : 1 - requirement.reduction;
      request.priority = priority(draw);
      const auto found = draw.percent(70) ? runtime.find_or_create_instance(request)
                                          : runtime.create_instance(request);
      if (!found) continue;
      if (draw.percent(85)) choice.instance = found->id;
      shared_->drawn->named += choice.instance == found->id ? 1 : 0;
      if (draw.percent(10)) runtime.release_instance(found->id);
    }
  }
  Memory near_memory(const Processor& p, MemKind kind) const {
    const NodeType& node = machine().node(p.node);
    return {kind, p.node, p.index * node.find(kind)->count / node.find(p.kind)->count};
  }
  static CollectPriority priority(Draw& draw) {
    return draw.of<CollectPriority>(
        {kCollectNever, kCollectLast, kCollectDefault, kCollectDefault, 5, kCollectEager});
  }

  void select_sources(MapperRuntime& runtime, const TaskView& task, const InstanceView& target,
                      std::span<const InstanceView> sources,
                      std::vector<std::uint32_t>& answer) override {
    Draw draw = draws(4 + static_cast<std::uint64_t>(target.memory.kind), task);
    for (std::int64_t n = draw.between(0, 4); n > 0; --n) {
      answer.push_back(
          static_cast<std::uint32_t>(draw.below(static_cast<std::int64_t>(sources.size()) + 1)));
    }
    if (!draw.percent(15) || repeats_answers()) return;
    const std::vector<RegionId> regions = {target.region};
    runtime.create_instance({target.memory, target.layout, regions, target.fields});
  }

  // Windows so small that most tasks which launch have to wait, and some answers that Legion would
  // not take.
  void configure_context(MapperRuntime&, const TaskView& task,
                         ContextConfigOutput& answer) override {
    Draw draw = draws(6, task);
    if (!draw.percent(40)) return;
    answer.max_window = static_cast<int>(draw.between(-1, 6));
    answer.hysteresis_percent = static_cast<int>(draw.between(-10, 110));
  }

  bool selects() const override { return testing::selects(seed_); }
  bool repeats_answers() const override { return repeats(seed_); }
  bool reads_valid() const override { return !repeats_answers(); }
  void select_tasks_to_map(MapperRuntime& runtime, std::span<const TaskView> ready,
                           SelectMappingOutput& answer) override {
    Draw draw(seed_ + 77 + asked_++);
    int running = shared_->running;
    for (std::uint32_t i = 0; i < ready.size(); ++i) {
      if (limited(ready[i]) && running >= 2) continue;
      if (draw.percent(20) && asked_ < 50 && ready[i].shard_variant == 0) {
        answer.relocate.push_back({i, somewhere(draw, ready[i])});
        continue;
      }
      if (!answer.map.empty() && draw.percent(20)) continue;
      if (limited(ready[i])) ++running;
      answer.map.push_back(i);
    }
    if (!answer.map.empty() || !answer.relocate.empty()) return;
    if (shared_->event == 0) shared_->event = runtime.create_event();
    answer.deferral = shared_->event;
  }
  void report_profiling(MapperRuntime& runtime, const TaskView&, const ProfilingReport&) override {
    --shared_->running;
    if (shared_->event != 0) runtime.trigger_event(std::exchange(shared_->event, 0));
  }

 private:
  Draw draws(std::uint64_t hook, const TaskView& task) const {
    std::uint64_t seed = mix(seed_ * 31 + hook);
    for (char c : task.name) seed = mix(seed + static_cast<unsigned char>(c));
    for (std::int64_t x : task.point.coordinates()) {
      seed = mix(seed + static_cast<std::uint64_t>(x));
    }
    return Draw(seed);
  }
  bool limited(const TaskView& task) const {
    return selects() && !repeats_answers() && task.depth > 0 && task.variants.front().leaf &&
           mix(seed_ + task.id) % 2 == 0;
  }

  Processor somewhere(Draw& draw, const TaskView& task) const {
    std::vector<Processor> all;
    for (std::int64_t node = 0; node < machine().node_count(); ++node) {
      for (const VariantView& variant : task.variants) {
        for (std::int64_t i = 0; i < machine().processor_count(node, variant.kind); ++i) {
          all.push_back({variant.kind, node, i});
        }
      }
    }
    return draw.of(all);
  }

  void choice(Draw& draw, const TaskView&, const RequirementView& requirement,
              const Processor& where, bool leaf, InstanceChoice& choice) const {
    const bool may_be_virtual = requirement.coherence == Coherence::kExclusive && !leaf;
    choice.is_virtual = may_be_virtual && draw.percent(60);
    std::vector<MemKind> kinds;
    for (std::size_t k = 0; k + 1 < kMemKindCount; ++k) {
      const auto kind = static_cast<MemKind>(k);
      if (machine().can_address(where.node, where.kind, kind)) kinds.push_back(kind);
    }
    const bool small = draw.percent(30);
    const std::uint64_t layout = mix(seed_ + 99);
    for (std::int64_t n = draw.between(1, 3); n > 0; --n) {
      InstanceCandidate candidate;
      candidate.memory = draw.percent(5) ? MemKind::kRegsockmem : draw.of(kinds);
      if (draw.percent(30 + static_cast<int>(layout % 60))) {
        candidate.layout.dimensions =
            draw.percent(50) ? DimensionOrder::kC : DimensionOrder::kFortran;
        candidate.layout.fields = draw.percent(50) ? FieldOrder::kAos : FieldOrder::kSoa;
        candidate.layout.compact = draw.percent(10);
        if (draw.percent(10)) {
          candidate.layout.align_op = static_cast<AlignOp>(draw.between(1, 6));
          candidate.layout.align_bytes = std::int64_t{1} << draw.between(0, 7);
        }
      }
      candidate.layout.exact = small || draw.percent(20);
      choice.add(candidate);
    }
    if (choice.candidates().front().memory == MemKind::kRegsockmem) {
      choice.candidates_in_order.front().memory = draw.of(kinds);
    }
    if (may_be_virtual && draw.percent(20)) choice.add({MemKind::kVirtual, {}, {}, {}});
    choice.fresh = draw.percent(5) && !keeps_;
    choice.region =
        draw.percent(50) ? InstanceChoice::Region::kRequired : InstanceChoice::Region::kShared;
    choice.fields =
        draw.percent(50) ? InstanceChoice::Fields::kRequired : InstanceChoice::Fields::kAll;
    choice.collect_priority = priority(draw);
    if (keeps_ && choice.collect_priority == kCollectEager) choice.collect_priority = kCollectLast;
    choice.untracked = requirement.privilege == Privilege::kReadOnly && draw.percent(20);
  }

  std::uint64_t seed_;
  const bool keeps_;
  std::shared_ptr<Shared> shared_;
  std::uint64_t asked_ = 0;
};

}  // namespace

MapperFactory GeneratedRun::mappers(Drawn* drawn) const {
  const auto shared = std::make_shared<Shared>();
  if (drawn != nullptr) shared->drawn = drawn;
  return [seed = this->seed, loops = this->loops, machine = machine,
          shared](const Processor& local) -> std::unique_ptr<Mapper> {
    MapperSite site;
    site.machine = machine;
    site.local = local;
    if (mix(seed + 3) % 10 == 0) return std::make_unique<DefaultMapper>(std::move(site));
    return std::make_unique<RandomMapper>(std::move(site), seed, loops, shared);
  };
}

GeneratedRun generate_run(std::uint64_t seed) {
  Draw draw(seed);
  GeneratedRun run;
  run.seed = seed;
  run.machine = machine(draw);
  run.app = AppGenerator(draw, seed, seed % 5 == 2, 0).make();
  if (draw.percent(30)) run.costs = {1e-6, 1e-6, 5e-7, 3e-6, 1e-6, 2e-7};
  if (draw.percent(10)) run.costs = {0, 0, 0, 0, 0, 0};
  if (draw.percent(20)) run.model = {64, 128, 2.5, 3, 1024, 12, 1.5, 4096, 3};
  return run;
}

GeneratedRun generate_loops(std::uint64_t seed, std::int64_t times) {
  while (!repeats(seed) || selects(seed)) seed = mix(seed);
  Draw draw(seed);
  GeneratedRun run;
  run.seed = seed;
  run.loops = true;
  run.machine = machine(draw);
  run.app = AppGenerator(draw, seed, seed % 5 == 2, times).make();
  run.costs = {0, 0, 0, 0, 0, 0};
  if (draw.percent(30)) run.costs = {1e-7, 1e-7, 5e-8, 3e-7, 1e-7, 2e-8};
  if (draw.percent(20)) run.model = {64, 128, 2.5, 3, 1024, 12, 1.5, 4096, 3};
  return run;
}

}  // namespace groma::testing
