// The default mapper's decisions as a program: bound again, it decides as the default mapper does,
// hook by hook, for the examples of docs/ and for random applications on unlike machines.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <tuple>

#include "app/view.h"
#include "groma/explain.h"
#include "groma/inspect.h"
#include "groma/io.h"
#include "groma/program_mapper.h"
#include "groma/syntax.h"
#include "support/files.h"

namespace groma {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string printed(const Application& app, const Machine& machine) {
  Diagnostics diags{Source("app", "")};
  const auto text = default_mapping(Workload::make(app).value(), machine, {}, diags);
  EXPECT_TRUE(text.has_value());
  return text.value_or("");
}

using Placing = std::map<std::vector<std::int64_t>, Processor>;

// Where slice_task sends every point.
Placing points(Mapper& mapper, const TaskView& task) {
  MapperRuntime runtime;
  SliceTaskOutput answer;
  mapper.slice_task(runtime, task, task.domain, answer);
  EXPECT_FALSE(answer.failure.has_value()) << answer.failure->message;
  Placing placing;
  for (const TaskSlice& slice : answer.slices) {
    Point at = slice.box.lower;
    do {
      const auto coordinates = at.coordinates();
      placing[{coordinates.begin(), coordinates.end()}] = slice.processor;
    } while (next_point(slice.box, &at));
  }
  return placing;
}

void expect_same_data(const MapTaskOutput& a, const MapTaskOutput& b) {
  ASSERT_EQ(a.requirements.size(), b.requirements.size());
  EXPECT_EQ(a.variant, b.variant);
  for (std::size_t i = 0; i < a.requirements.size(); ++i) {
    const InstanceChoice& x = a.requirements[i];
    const InstanceChoice& y = b.requirements[i];
    EXPECT_EQ(x.is_virtual, y.is_virtual);
    EXPECT_EQ(x.region, y.region);
    EXPECT_EQ(x.fields, y.fields);
    EXPECT_EQ(x.collect_priority, y.collect_priority);
    EXPECT_EQ(x.untracked, y.untracked);
    ASSERT_EQ(x.candidate_count, y.candidate_count);
    for (std::size_t c = 0; c < x.candidate_count; ++c) {
      EXPECT_EQ(x.candidates()[c].memory, y.candidates()[c].memory);
      EXPECT_EQ(x.candidates()[c].layout, y.candidates()[c].layout);
    }
  }
}

class Pair {
 public:
  Pair(const BoundProgram& bound, const Processor& local)
      : ours_(ProgramMapper::share(bound), MapperSite{bound.shared_machine(), local}),
        theirs_(MapperSite{bound.shared_machine(), local}) {}

  void compare_launch(const app::AppView& views, const app::DistinctLaunch& launch) {
    TaskOptions a, b;
    ours_.select_task_options(runtime_, views.view(launch), a);
    theirs_.select_task_options(runtime_, views.view(launch), b);
    EXPECT_EQ(a.failure.has_value(), b.failure.has_value());
    if (a.failure || b.failure) return;
    EXPECT_EQ(a.initial, b.initial);
    EXPECT_EQ(a.stealable, b.stealable);
    EXPECT_EQ(a.replicate, b.replicate);
    TaskView view = views.view(launch, b.initial);
    if (b.replicate) {
      ReplicateTaskOutput x, y;
      ours_.replicate_task(runtime_, view, x);
      theirs_.replicate_task(runtime_, view, y);
      EXPECT_EQ(x.variant, y.variant);
      EXPECT_EQ(x.processors, y.processors);
    }
    if (!launch.domain) return compare_task(view);
    const Placing placing = points(theirs_, view);
    EXPECT_EQ(points(ours_, view), placing);
    for (const auto& [point, processor] : placing) {
      view.point = Point(point);
      view.current = processor;
      compare_task(view);
    }
  }

 private:
  void compare_task(const TaskView& view) {
    MapTaskOutput a, b;
    ours_.map_task(runtime_, view, {}, a);
    theirs_.map_task(runtime_, view, {}, b);
    expect_same_data(a, b);
    // Of CPUs a function names one, the default mapper any: the printed comment says so.
    ASSERT_FALSE(a.processors.empty());
    for (const Processor& processor : a.processors) {
      EXPECT_EQ(std::count(b.processors.begin(), b.processors.end(), processor), 1);
    }
    if (view.current.kind == ProcKind::kCpu) return;
    EXPECT_EQ(a.processors, b.processors);
  }

  MapperRuntime runtime_;
  ProgramMapper ours_;
  DefaultMapper theirs_;
};

void expect_same_decisions(const Application& app, const Machine& machine) {
  const std::string text = printed(app, machine);
  SCOPED_TRACE(machine.name() + "\n" + text);
  Diagnostics diags{Source("printed.mapper", text)};
  const auto bound = check(diags.source(), &machine, diags);
  ASSERT_TRUE(bound.has_value()) << render(diags);
  for (const Diagnostic& diagnostic : diags.all()) {  // a variant may demand such a memory
    EXPECT_TRUE(diagnostic.severity == Severity::kNote ||
                diagnostic.id == DiagId::kUnaddressableMemory)
        << render(diags);
  }
  Processor local{ProcKind::kCpu, 0, 0};
  if (!machine.has(ProcKind::kCpu)) local.kind = ProcKind::kGpu;
  const Workload workload = Workload::make(app).value();
  bool complete = false;
  std::vector<app::DistinctLaunch> uses = app::list_launches(workload.data(), 1000, complete);
  EXPECT_TRUE(complete);
  for (std::uint32_t i = 0; i < app.tasks.size(); ++i) {
    const auto of_task = [i](const app::DistinctLaunch& use) { return use.task == i; };
    if (std::none_of(uses.begin(), uses.end(), of_task)) uses.push_back({.task = i, .depth = 1});
    Pair pair(*bound, local);
    for (const app::DistinctLaunch& use : uses) {
      if (use.task != i) continue;
      const app::LaunchNames names = app::names_of(workload.data(), use);
      pair.compare_launch(app::AppView(workload.data(), i, names), use);
    }
    if (::testing::Test::HasFailure()) return;
  }
}

std::vector<Machine> machines() {
  std::vector<Machine> all;
  for (const char* spec : {"p100x4", "p100x4:nodes=3", "nodes=2,gpu=3,cpu=5,omp=2",
                           "nodes=1,gpu=0,cpu=7", "nodes=5,gpu=0,cpu=2,omp=1", "nodes=4,gpu=6"}) {
    all.push_back(make_machine(spec).value());
  }
  all.push_back(
      load_machine(testing::in_tree("tests/language/machines/uneven.json").string()).value());
  return all;
}

TEST(AsMapping, TheExamplesDecideTheSame) {
  for (const auto& file : testing::files_below("docs/examples", ".json")) {
    const auto app = load_application(file.string());
    ASSERT_TRUE(app.ok()) << app.error().message;
    for (const Machine& machine : machines()) expect_same_decisions(*app, machine);
  }
}

class RandomApplication {
 public:
  explicit RandomApplication(unsigned seed) : random_(seed) {}

  Application make() {
    Application app;
    app.name = "random";
    app.top_level = "t0";
    for (int i = 0; i < 4; ++i) app.tasks.push_back(task(i));
    for (int i = 1; i < 4; ++i) {  // by the top-level task or `ns::work`
      for (int launches = below(4); launches > 0; --launches) {
        app.tasks[coin() ? 0 : 1].body.push_back(
            {launch(app.tasks[static_cast<std::size_t>(i)].name)});
      }
    }
    return app;
  }

 private:
  int below(int n) { return std::uniform_int_distribution<int>(0, n - 1)(random_); }
  bool coin() { return below(2) == 0; }

  AppTask task(int number) {
    AppTask task;
    constexpr const char* kNames[] = {"t0", "ns::work", "GPU", "a \"b\" \\c"};
    task.name = kNames[number];
    for (ProcKind kind : {ProcKind::kCpu, ProcKind::kGpu, ProcKind::kOmp}) {
      if (coin()) task.variants.push_back(variant(kind));
    }
    if (task.variants.empty()) task.variants.push_back(variant(ProcKind::kCpu));
    const int count = below(4);
    for (int i = 0; i < count; ++i) task.requirements.push_back(requirement());
    for (AppVariant& each : task.variants) {
      for (int i = 0; i < count; ++i) {
        if (below(3) == 0) each.demands.push_back(demand(static_cast<std::uint32_t>(i)));
      }
    }
    return task;
  }
  AppVariant variant(ProcKind kind) {
    AppVariant variant;
    variant.kind = kind;
    variant.inner = below(4) == 0;
    variant.replicable = coin();
    return variant;
  }
  LayoutDemand demand(std::uint32_t position) {
    LayoutDemand demand;
    demand.requirement = position;
    if (coin()) demand.dimensions = DimensionOrder::kC;
    if (coin()) demand.fields = FieldOrder::kAos;
    if (below(4) == 0) demand.memory = MemKind::kZcmem;
    demand.exact = below(4) == 0;
    if (coin()) {
      demand.align_op = static_cast<AlignOp>(1 + below(6));
      demand.align_bytes = 1 << below(8);
    }
    return demand;
  }
  AppRequirement requirement() {
    constexpr const char* kNames[] = {"a", "b.c", "GPU", "two words"};
    AppRequirement requirement;
    for (int i = below(3); i > 0; --i) requirement.names.emplace_back(kNames[below(4)]);
    requirement.privilege = static_cast<Privilege>(below(static_cast<int>(kPrivilegeCount)));
    requirement.coherence = static_cast<Coherence>(below(4) == 0 ? 1 : 0);
    if (below(5) != 0) requirement.fields.push_back({"f", 8});
    return requirement;
  }
  AppLaunch launch(const std::string& task) {
    AppLaunch launch{task};
    if (below(3) == 0) return launch;
    const int dimensions = 1 + below(4);
    for (int d = 0; d < dimensions; ++d) {
      launch.lower.push_back(below(5) - 2);
      launch.domain.push_back(1 + below(dimensions < 3 ? 20 : 5));
    }
    return launch;
  }

  std::mt19937 random_;
};

TEST(AsMapping, RandomApplicationsDecideTheSame) {
  const std::vector<Machine> all = machines();
  for (unsigned seed = 0; seed < 60 && !HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    const Application app = RandomApplication(seed).make();
    expect_same_decisions(app, all[seed % all.size()]);
  }
}

// The task, launched so by another that runs on a CPU.
Application one_task(AppTask task, const std::vector<Formulas>& domains) {
  Application app;
  app.name = "one";
  app.top_level = "main";
  AppTask main{.name = "main", .variants = {AppVariant{.kind = ProcKind::kCpu}}};
  for (const Formulas& domain : domains) {
    main.body.push_back({AppLaunch{.task = task.name, .domain = domain}});
  }
  app.tasks.push_back(std::move(task));
  app.tasks.push_back(std::move(main));
  return app;
}

TEST(AsMapping, SaysWhatItCannot) {
  AppTask task;
  task.name = "t";
  task.variants = {AppVariant{.kind = ProcKind::kCpu}};
  std::vector<Formulas> domains = {{4}, {}};
  const std::string text = printed(one_task(task, domains), make_machine("nodes=2,cpu=2").value());
  EXPECT_THAT(text, HasSubstr("# Single tasks go round the processors of their kind"));
  EXPECT_THAT(text, HasSubstr("The default mapper lets a point run on any CPU"));
  const Machine uneven =
      load_machine(testing::in_tree("tests/language/machines/uneven.json").string()).value();
  task.variants[0].kind = uneven.uniform(ProcKind::kGpu) ? ProcKind::kCpu : ProcKind::kGpu;
  EXPECT_THAT(printed(one_task(task, domains), uneven), HasSubstr("nodes have unequal numbers of"));
  task.name = "two\nlines";
  EXPECT_THAT(printed(one_task(task, domains), uneven),
              HasSubstr("# No statement can name `two lines`."));
  task.name = "t";
  task.variants[0].kind = ProcKind::kPy;
  EXPECT_THAT(printed(one_task(task, domains), uneven),
              HasSubstr("# `t` has no variant for a processor of the machine."));
  task.variants[0].kind = ProcKind::kCpu;
  domains = {{std::int64_t{1} << 40}};
  EXPECT_THAT(printed(one_task(task, domains), make_machine("cpu=2").value()),
              HasSubstr("# t: its launch is so large that the default mapper cuts."));
}

TEST(AsMapping, IsInTheOneStyle) {
  for (const auto& file : testing::files_below("docs/examples", ".json")) {
    const std::string text =
        printed(load_application(file.string()).value(), make_machine("p100x4:nodes=2").value());
    Diagnostics diags{Source("printed.mapper", text)};
    EXPECT_EQ(format(diags.source(), diags), text);
  }
}

// Blocks are numbered with the first dimension running fastest, without needless parentheses.
TEST(AsMapping, NumbersBlocks) {
  AppTask task;
  task.name = "t";
  task.variants = {AppVariant{.kind = ProcKind::kGpu}};
  const std::vector<Formulas> domains = {{8}, {4, 4}, {2, 2, 2}};
  const std::string text = printed(one_task(task, domains), make_machine("p100x4").value());
  EXPECT_THAT(text, HasSubstr("[b0];"));
  EXPECT_THAT(text, HasSubstr("[b0 + n0 * b1];"));
  EXPECT_THAT(text, HasSubstr("[b0 + n0 * (b1 + n1 * b2)];"));
}

TEST(AsMapping, OfOneTask) {
  const auto app = Workload::make(
      load_application(testing::in_tree("docs/examples/circuit.json").string()).value());
  Diagnostics diags{Source("app", "")};
  const Machine machine = make_machine("p100x4").value();
  const auto text =
      default_mapping(*app, machine, {.task = "init_piece", .region = "rp_wires"}, diags);
  ASSERT_TRUE(text.has_value());
  EXPECT_THAT(*text, HasSubstr("Region init_piece rp_wires CPU SYSMEM;"));
  EXPECT_THAT(*text, Not(HasSubstr("rp_private")));
  EXPECT_THAT(*text, Not(HasSubstr("distribute_charge")));
  EXPECT_FALSE(default_mapping(*app, machine, {.task = "init_pieces", .region = ""}, diags));
  EXPECT_THAT(render(diags), HasSubstr("did you mean `init_piece`?"));
}

}  // namespace
}  // namespace groma
