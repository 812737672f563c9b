#include "unit/profile/records.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>

#include "groma/program_mapper.h"
#include "groma/simulate.h"

namespace groma::test {

const char* const kHostileNames[6] = {
    "</script><script>document.documentElement.dataset.hacked=1</script>",
    "<img src=x onerror=\"document.documentElement.dataset.hacked=1\">",
    "\"},{\"ph\":\"X\", \\ \\u003c",
    "'\" onmouseover='alert(1)' x=\"&lt;&amp;",
    "\x1b[31mred\r\n\t\x01 \xff\xfe \xe2\x80\xae turned",
    "<!--<script>{{constructor}}</script>${1}`"};

namespace {

constexpr std::int64_t kNodes = 2, kProcessors = 3, kLinks = 2;

void add_machine(RunRecord& record) {
  record.tasks = {"alpha", "beta", "gamma"};
  record.regions = {"grid", "wires"};
  for (std::int64_t node = 0; node < kNodes; ++node) {
    for (std::int64_t i = 0; i < kProcessors; ++i) {
      record.processors.push_back({i == 0 ? "CPU" : "GPU", node, i == 0 ? 0 : i - 1});
    }
    record.memories.push_back({"SYSMEM", node, 0, 1 << 30, 0});
    record.memories.push_back({"FBMEM", node, 0, 1 << 20, 0});
    for (std::int64_t i = 0; i < kLinks; ++i) record.links.push_back({"pcie", node, i, true});
  }
  const auto links = static_cast<std::int32_t>(record.links.size());
  record.routes.emplace_back();  // inside a memory
  for (std::int32_t a = 0; a < links; ++a) {
    record.routes.push_back({a});
    for (std::int32_t b = a + 1; b < links; ++b) record.routes.push_back({a, b});
  }
}

AppStatement launch(const std::string& task, const std::string& gives = "") {
  AppLaunch one;
  one.task = task;
  one.domain = {"p", "1"};
  one.gives = gives;
  return {one};
}

AppTask leaf(const std::string& name, const std::string& flops) {
  AppTask task;
  task.name = name;
  task.variants = {{ProcKind::kGpu, true}, {ProcKind::kCpu, true}};
  for (AppVariant& variant : task.variants) variant.flops = flops;
  return task;
}

AppRequirement on(Privilege privilege, const std::string& field, const std::string& part) {
  AppRequirement requirement;
  requirement.privilege = privilege;
  requirement.fields = {{field, 8}};
  requirement.dimensions = 2;
  requirement.data.of = part;
  return requirement;
}

Application stencil(bool nested) {
  Application app;
  app.name = "stencil";
  app.parameters = {{"n", 8192}, {"steps", 4}, {"p", 4}};
  app.regions = {{"grid", {}, {"n", "n"}, {{"u", 8}, {"v", 8}}}};
  app.partitions = {{"tiles", {}, "grid", {"p", "1"}},
                    {"ghost", {}, "grid", {"p", "1"}, {}, {}, {}, {"2", "0"}}};
  app.metric = {"point/s", "n*n*steps", "loop"};
  AppTask init = leaf("init", "0"), step = leaf("step", "10*points(0)"), sum = leaf("sum", "0");
  init.requirements = {on(Privilege::kWriteDiscard, "u", "tiles"),
                       on(Privilege::kWriteDiscard, "v", "tiles")};
  step.requirements = {on(Privilege::kReadWrite, "v", "tiles"),
                       on(Privilege::kReadOnly, "u", "ghost")};
  sum.requirements = {on(Privilege::kReadWrite, "u", "tiles"),
                      on(Privilege::kReadOnly, "v", "ghost")};
  AppLoop loop;
  loop.count = "steps";
  loop.traced = !nested;
  loop.body = {launch("step"), launch("sum", nested ? "total" : "")};
  if (nested) loop.body.push_back({AppWait{"total"}});
  AppTask main;
  main.name = "main";
  main.variants = {{ProcKind::kCpu, false, true, true}};
  app.top_level = "main";
  if (!nested) {
    main.body = {launch("init"), {AppPhase{"loop", {{loop}}}}};
    app.tasks = {main, init, step, sum};
    return app;
  }
  AppTask solve;
  solve.name = "solve";
  solve.variants = {{ProcKind::kCpu, false, true, true}};
  solve.requirements = {on(Privilege::kReadWrite, "u", "grid"),
                        on(Privilege::kReadWrite, "v", "grid")};
  solve.body = {{loop}};
  AppLaunch single;
  single.task = "solve";
  main.body = {launch("init"), {AppPhase{"loop", {{single}, launch("step"), {single}}}}};
  app.tasks = {main, solve, init, step, sum};
  return app;
}

}  // namespace

std::shared_ptr<RunRecord> random_run(std::uint64_t seed, std::int64_t events) {
  std::mt19937_64 random(seed);
  const auto draw = [&](std::int64_t below) {
    return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(below));
  };
  auto record = std::make_shared<RunRecord>();
  add_machine(*record);
  struct Busy {
    RunTime free = 0;
    std::int64_t user = -1;
  };
  std::vector<Busy> processors(record->processors.size()), links(record->links.size());
  std::vector<RunTime> runtime(kNodes);
  for (std::int64_t i = 0; i < events; ++i) {
    RunRecord::Event event;
    const auto& before = record->events;
    const std::int64_t recent = std::min<std::int64_t>(i, 1 + draw(20));
    if (recent > 0 && draw(3) == 0) {
      event.after = i - recent;
      event.after_start = draw(2) == 0;
    }
    RunTime base = 0;
    if (event.after >= 0) {
      const auto& after = before[static_cast<std::size_t>(event.after)];
      base = event.after_start ? after.start : after.end;
    }
    const bool task = draw(2) == 0;
    event.name = static_cast<std::int32_t>(draw(3));
    if (task) {
      event.where = static_cast<std::int32_t>(draw(kNodes * kProcessors));
      RunTime& free = runtime[static_cast<std::size_t>(
          record->processors[static_cast<std::size_t>(event.where)].node)];
      event.mapping = std::max(base, free);
      free = event.mapped = event.mapping + draw(4);
    } else {
      event.kind =
          draw(4) == 0 ? RunRecord::Event::Kind::kReduction : RunRecord::Event::Kind::kCopy;
      event.where = static_cast<std::int32_t>(draw(2 * kNodes));
      event.from = static_cast<std::int32_t>(draw(2 * kNodes));
      event.region = static_cast<std::int32_t>(draw(2));
      event.statement = static_cast<std::int32_t>(draw(4));
      event.bytes = draw(1 << 20);
      event.route = static_cast<std::int32_t>(
          event.where == event.from
              ? 0
              : draw(static_cast<std::int64_t>(record->routes.size()) - 1) + 1);
      event.mapped = base + draw(30);
    }
    event.ready = event.mapped;
    for (int d = 0; d < 3 && i > 0; ++d) {
      const std::int64_t on = i - 1 - draw(std::min<std::int64_t>(i, 30));
      const RunTime end = before[static_cast<std::size_t>(on)].end;
      if (end <= event.ready) continue;
      event.ready = end;
      event.cause = on;
    }
    std::vector<Busy*> wanted;
    if (task) {
      wanted = {&processors[static_cast<std::size_t>(event.where)]};
    } else {
      for (std::int32_t link : record->routes[static_cast<std::size_t>(event.route)]) {
        wanted.push_back(&links[static_cast<std::size_t>(link)]);
      }
    }
    event.start = event.ready;
    for (const Busy* each : wanted) {
      if (each->free <= event.start) continue;
      event.start = each->free;
      event.cause = each->user;
    }
    event.end = event.start + draw(100);
    for (Busy* each : wanted) *each = {event.end, i};
    record->end = std::max(record->end, event.end);
    record->events.push_back(event);
    const auto memory = static_cast<std::int32_t>(draw(2 * kNodes));
    record->allocations.push_back({event.mapped, memory, 0, draw(1000)});
  }
  std::sort(record->allocations.begin(), record->allocations.end(),
            [](const auto& a, const auto& b) { return a.time < b.time; });
  for (std::size_t a = 0; a < record->allocations.size(); ++a) {
    auto& memory = record->memories[static_cast<std::size_t>(record->allocations[a].memory)];
    memory.peak_bytes += record->allocations[a].bytes;
  }
  record->phase_names = {"loop"};
  record->phases = {{0, 0, record->end / 2}, {0, record->end / 2, record->end}};
  return record;
}

std::shared_ptr<RunRecord> nonsense(std::uint64_t seed, std::int64_t events) {
  std::mt19937_64 random(seed);
  auto record = std::make_shared<RunRecord>();
  if (seed % 3 != 0) add_machine(*record);
  for (const char* name : kHostileNames) {
    record->tasks.emplace_back(name);
    record->regions.emplace_back(name);
  }
  const auto draw = [&]() -> std::int64_t {
    switch (random() % 5) {
      case 0:
        return static_cast<std::int64_t>(random());
      case 1:
        return random() % 2 == 0 ? std::numeric_limits<std::int64_t>::max()
                                 : std::numeric_limits<std::int64_t>::min();
      default:
        return static_cast<std::int64_t>(random() % 40) - 5;
    }
  };
  const auto small = [&] { return static_cast<std::int32_t>(draw()); };
  for (std::int64_t i = 0; i < events; ++i) {
    RunRecord::Event event;
    event.kind = static_cast<RunRecord::Event::Kind>(random() % 3);
    event.name = small();
    event.where = small();
    event.from = small();
    event.region = small();
    event.statement = small();
    event.route = small();
    event.bytes = draw();
    event.mapping = draw();
    event.mapped = draw();
    event.ready = draw();
    event.start = draw();
    event.end = draw();
    event.cause = draw();
    event.after = draw();
    event.after_start = random() % 2 == 0;
    record->events.push_back(event);
    record->allocations.push_back({draw(), small(), small(), draw()});
    record->phases.push_back({small(), draw(), draw()});
  }
  record->phase_names.assign(kHostileNames, kHostileNames + 6);
  record->routes.push_back({-1, 0, 99});
  record->end = draw();
  return record;
}

std::shared_ptr<const RunRecord> simulated(const std::string& machine, int pieces, int steps,
                                           bool nested) {
  const auto made = make_machine(machine);
  if (!made) {
    ADD_FAILURE() << made.error().message;
    return nullptr;
  }
  const auto shared = std::make_shared<const Machine>(made.value());
  const auto workload = Workload::make(stencil(nested), {{"p", pieces}, {"steps", steps}});
  if (!workload) {
    ADD_FAILURE() << workload.error().message;
    return nullptr;
  }
  SimulateOptions options;
  options.record = true;
  options.noise = 0.1;
  const RunResult result = simulate(
      *workload, shared,
      [&](const Processor& processor) {
        MapperSite site;
        site.machine = shared;
        site.local = processor;
        return std::make_unique<DefaultMapper>(site);
      },
      options);
  EXPECT_TRUE(result.ok()) << result.raw;
  return result.record;
}

}  // namespace groma::test
