// Applications from JSON: what a file may leave out, texts that are wrong, the examples of docs/.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <random>
#include <set>
#include <sstream>
#include <string>

#include "groma/app.h"
#include "groma/io.h"
#include "groma/workload.h"
#include "io/app_keys.h"
#include "support/files.h"

namespace groma {
namespace {

Application read_app(std::string_view text) {
  Result<Application> app = application_from_json(text, "a.json");
  EXPECT_TRUE(app.ok()) << text << "\n" << (app.ok() ? "" : app.error().message);
  return app.ok() ? std::move(app).value() : Application{};
}

// The message without the file's name, with its help in brackets.
std::string refusal(std::string_view text) {
  const Result<Application> app = application_from_json(text, "a.json");
  EXPECT_FALSE(app.ok()) << text;
  if (app.ok()) return "";
  std::string message = app.error().message;
  EXPECT_TRUE(message.starts_with("`a.json`: ")) << message;
  message.erase(0, 10);
  return app.error().help.empty() ? message : message + " [" + app.error().help + "]";
}

// All that is wrong, in order.
std::vector<std::string> refusals(std::string_view text) {
  const Result<Application> app = application_from_json(text, "a.json");
  EXPECT_FALSE(app.ok()) << text;
  if (app.ok()) return {};
  std::vector<std::string> messages = {app.error().message.substr(10)};
  for (const Error& error : app.error().more) {
    EXPECT_TRUE(error.message.starts_with("`a.json`: ") && error.more.empty()) << error.message;
    messages.push_back(error.message.substr(10));
  }
  return messages;
}

// Of one task, whose members are `task`.
std::string task_refusal(const std::string& task) {
  return refusal(R"({"tasks": [{"name": "t", "variants": [{"kind": "CPU"}], )" + task + "}]}");
}

// What was read, after it was written and read once more.
Application round_trip(const Application& app) {
  const std::string text = application_to_json(app);
  const Result<Application> again = application_from_json(text, "again");
  EXPECT_TRUE(again.ok()) << text << (again.ok() ? "" : again.error().message);
  if (!again.ok()) return {};
  EXPECT_EQ(*again, app) << text;
  return *again;
}

TEST(AppJson, WhatIsLeftOut) {
  const Application app = read_app(
      R"({"regions": [{"name": "r", "extents": [4, "2 + 2"],
                       "fields": [{"name": "x", "bytes": 4}, {"name": "y"}]}],
          "partitions": [{"name": "p", "of": "q", "colors": [2, 1]},
                         {"name": "q", "of": "r", "colors": [2, 1]}],
          "tasks": [{"name": "t", "variants": [{"kind": "GPU"}], "requirements": [
                       {"privilege": "read-only"}, {"privilege": "reduce", "fields": []},
                       {"privilege": "reduce", "data": "p"},
                       {"privilege": "reduce", "data": {"of": "p", "color": [0, 0, 1, 0]},
                        "fields": ["x", {"name": "y"}]}]}]})");
  EXPECT_EQ(app.name, "a.json");
  EXPECT_EQ(app.top_level, "");
  EXPECT_TRUE(app.metric.empty());
  const AppTask& task = app.tasks.at(0);
  EXPECT_EQ(task.variants, std::vector{AppVariant{.kind = ProcKind::kGpu}});
  EXPECT_EQ(task.requirements[0].fields, std::vector{AppField{}});
  EXPECT_EQ(task.requirements[0].coherence, Coherence::kExclusive);
  EXPECT_EQ(task.requirements[0].dimensions, 1);
  EXPECT_TRUE(task.requirements[1].fields.empty());
  const std::vector<AppField> all{{"x", 4}, {"y", 8}};
  for (int r : {2, 3}) {
    EXPECT_EQ(task.requirements[static_cast<std::size_t>(r)].fields, all);
    EXPECT_EQ(task.requirements[static_cast<std::size_t>(r)].dimensions, 2);
  }
  round_trip(app);
}

TEST(AppJson, EverythingSaid) {
  const Application app = read_app(
      testing::read_text(testing::in_tree("tests/fuzz/corpus/application/everything.json")));
  EXPECT_EQ(app.parameters[0], (AppParameter{"p", 3, 0, 9, "m"}));
  EXPECT_EQ(app.parameters[1], (AppParameter{.name = "q", .value = 2, .counts_nodes = true}));
  EXPECT_EQ(app.definitions[0].name, "d");
  EXPECT_EQ(app.sizes[0], (AppSize{"s", "r", {{"p", 4}, {"q", 1}}}));
  EXPECT_EQ(app.metric, (AppMetric{"u/s", "p + q", "f"}));
  EXPECT_EQ(app.runtime, (RuntimeCosts{1e-6, 12e-6, 3e-6, 2e-6, 0, 5e-6}));
  EXPECT_EQ(app.regions[0], (AppRegion{"r", {"r2"}, {"10 * p", 7}, {{"x", 4}, {"y", 8}}}));
  EXPECT_EQ(app.partitions[0],
            (AppPartition{"b", {"b2"}, "r", {"p", 2}, {}, {}, {}, {1, 0}, true}));
  EXPECT_EQ(app.partitions[1],
            (AppPartition{"c", {}, "b", {"q"}, {"i"}, {"i", 0}, {2, "7 - i"}, {}}));
  EXPECT_EQ(app.partitions[2].boxes,
            (std::vector<AppBox>{{{0}, {1, 0}, {"p", 2}}, {{}, {"3 * i", 1}, {1, 1}}}));
  EXPECT_TRUE(app.tasks[0].variants[0].inner && app.tasks[0].variants[0].replicable);
  const auto& loop = std::get<AppLoop>(app.tasks[0].body.at(0).node);
  EXPECT_EQ(loop.count, Formula("p"));
  EXPECT_EQ(loop.variable, "k");
  EXPECT_TRUE(loop.traced);
  const AppLaunch launch{
      .task = "a \"b\"\t",
      .domain = {"p", 2},
      .index = {"i", "j"},
      .arguments = {"i + k"},
      .data = {{"b", {"i", "j"}, {"y", "x"}}, {.privilege = Privilege::kReadOnly}},
      .gives = "f1",
      .takes = {"f1"}};
  EXPECT_EQ(std::get<AppLaunch>(loop.body.at(0).node), launch);
  const auto& phase = std::get<AppPhase>(loop.body.at(1).node);
  EXPECT_EQ(phase.name, "f");
  EXPECT_EQ(std::get<AppLaunch>(phase.body.at(0).node).lower, (Formulas{-1, 2}));
  EXPECT_EQ(std::get<AppWait>(phase.body.at(1).node).future, "f1");
  EXPECT_EQ(std::get<AppWait>(loop.body.at(2).node).future, "");
  const AppTask& task = *app.find("a \"b\"\t");
  const LayoutDemand demand{
      0, DimensionOrder::kC, FieldOrder::kAos, MemKind::kSockmem, true, false, AlignOp::kGe, 64};
  const AppVariant variant{.kind = ProcKind::kOmp,
                           .leaf = true,
                           .demands = {demand},
                           .flops = "n * points(0)",
                           .single = true,
                           .efficiency = 50,
                           .kernels = 2,
                           .nanoseconds = 10,
                           .traffic = {{1, "8 * extent(0, 1)", Access::kAtomic}},
                           .loops = DimensionOrder::kC};
  EXPECT_EQ(task.variants[0], variant);
  const AppRequirement requirement{
      {"r", "p"}, Privilege::kReadOnly, Coherence::kAtomic, 2, {{"y", 8}, {"x", 4}}};
  EXPECT_EQ(task.requirements[0], requirement);
  EXPECT_EQ(app.find("u"), nullptr);
  round_trip(app);
}

// Drawn from all that can be said; what Workload::make refuses is drawn again.
class DrawnApplication {
 public:
  explicit DrawnApplication(unsigned seed) : random_(seed) {}

  Application make() {
    Application app{.name = text(), .description = text()};
    for (int i = below(3); i > 0; --i) {
      app.parameters.push_back(
          {"p" + std::to_string(i), below(9), -below(3), 9 + below(9), text(), coin()});
    }
    if (coin()) app.definitions.push_back({"d", formula()});
    for (int i = below(3); i > 0 && !app.parameters.empty(); --i) {
      app.sizes.push_back({text() + std::to_string(i), text(), {{app.parameters[0].name, 5}}});
    }
    app.metric = {text(), formula(), coin() ? "phase" : ""};
    const auto cost = [&](std::int64_t unit) { return static_cast<double>(unit * below(9)) / 1e9; };
    if (coin()) app.runtime = {cost(1), cost(1'000), 0, 0, 1'000, cost(1'000'000'000)};
    for (int i = 0; i < 2; ++i) {
      AppRegion region{"r" + std::to_string(i), texts(), {}, {}};
      for (int d = 1 + below(2); d > 0; --d) region.extents.push_back(formula());
      for (int f = below(3); f > 0; --f)
        region.fields.push_back({"f" + std::to_string(f), 1 + below(9)});
      app.regions.push_back(region);
    }
    for (int i = 0; i < 2; ++i) {
      AppPartition partition{"q" + std::to_string(i), texts(), i > 0 && coin() ? "q0" : "r0", {}};
      for (std::size_t d = 0; d < app.regions[0].extents.size(); ++d) {
        partition.colors.push_back(formula());
        if (coin()) partition.halo.push_back(below(2));
      }
      if (coin()) partition.lower = partition.extents = partition.colors;
      if (below(3) == 0) {
        partition.lower = partition.extents = partition.halo = {};
        for (int b = 1 + below(3); b > 0; --b) {
          AppBox box{{}, partition.colors, partition.colors};
          if (partition.of == "r0" && coin()) box.color.assign(partition.colors.size(), 0);
          partition.boxes.push_back(box);
        }
      }
      app.partitions.push_back(partition);
    }
    for (int i = 0; i < 2; ++i) {
      AppTask task{.name = "t" + std::to_string(i), .variants = {variant()}};
      if (i > 0) task.arguments = {"a", "b"};
      for (int r = below(3); r > 0; --r) task.requirements.push_back(requirement(app));
      app.tasks.push_back(task);
    }
    app.tasks[0].body = body(app, 3);
    if (coin()) app.top_level = "t0";
    return app;
  }

 private:
  int below(int n) { return std::uniform_int_distribution<int>(0, n - 1)(random_); }
  bool coin() { return below(2) == 0; }
  std::string text() {
    constexpr const char* kTexts[] = {"", "x", "two words", "\"\\\n\t", "\xc3\xa4", "5"};
    return kTexts[below(6)];
  }
  std::vector<std::string> texts() {
    return below(3) == 0 ? std::vector<std::string>{"x", "two\nlines"} : std::vector<std::string>{};
  }
  Formula formula() {
    constexpr const char* kFormulas[] = {"1", "4", "007", " 2", "1 + 1", "3", "max(1, 2)", "-0"};
    return kFormulas[below(8)];
  }
  AppData data(const Application& app) {
    if (below(3) == 0) return {};
    if (coin()) return {app.regions[static_cast<std::size_t>(below(2))].name, {}};
    return {"q0", Formulas(app.partitions[0].colors.size(), Formula(0))};
  }
  AppVariant variant() {
    AppVariant variant{.kind = static_cast<ProcKind>(below(6))};
    variant.inner = coin();
    variant.replicable = coin();
    variant.single = coin();
    if (coin()) variant.flops = formula();
    if (coin()) variant.efficiency = formula();
    if (coin()) variant.kernels = formula();
    if (coin()) variant.nanoseconds = formula();
    if (coin()) variant.loops = static_cast<DimensionOrder>(below(2));
    if (coin()) variant.traffic.push_back({0, formula(), static_cast<Access>(below(3))});
    if (coin()) {
      LayoutDemand demand;
      if (coin()) demand.dimensions = static_cast<DimensionOrder>(below(2));
      if (coin()) demand.memory = static_cast<MemKind>(below(6));
      if (coin()) demand.align_op = static_cast<AlignOp>(1 + below(6));
      if (demand.align_op != AlignOp::kNone) demand.align_bytes = 32;
      if (coin()) demand.exact = true;
      if (coin()) demand.source = DemandSource::kMapper;
      demand.not_exact = demand.source == DemandSource::kMapper && !demand.exact && coin();
      variant.demands.push_back(demand);
    }
    return variant;
  }
  AppRequirement requirement(const Application& app) {
    AppRequirement requirement{.names = texts(),
                               .privilege = static_cast<Privilege>(below(5)),
                               .coherence = static_cast<Coherence>(below(4)),
                               .dimensions = 1 + below(2),
                               .fields = {},
                               .data = data(app)};
    if (coin()) requirement.fields = app.regions[0].fields;
    if (coin() && requirement.data.of.empty()) requirement.fields.push_back({"", 1 + below(9)});
    return requirement;
  }
  std::vector<AppStatement> body(const Application& app, int depth) {
    std::vector<AppStatement> body;
    for (int i = below(4); i > 0; --i) {
      switch (depth == 0 ? 3 : below(4)) {
        case 0:
          body.push_back(
              {AppLoop{formula(), coin() ? "k" : "", coin(), this->body(app, depth - 1)}});
          break;
        case 1:
          body.push_back({AppPhase{"phase", this->body(app, depth - 1)}});
          break;
        case 2:
          body.push_back({AppWait{}});
          break;
        default:
          body.push_back({launch(app)});
      }
    }
    return body;
  }
  AppLaunch launch(const Application& app) {
    AppLaunch launch{.task = "t1", .arguments = {formula(), formula()}};
    for (int d = below(3); d > 0; --d) launch.domain.push_back(formula());
    if (coin()) launch.lower = launch.domain;
    if (coin() && !launch.domain.empty()) {
      launch.index = std::vector<std::string>(launch.domain.size(), "i");
      if (launch.index.size() == 2) launch.index[1] = "j";
    }
    for (std::size_t r = 0; coin() && r < app.tasks[1].requirements.size(); ++r) {
      launch.data.push_back(data(app));
      if (coin()) launch.data.back().privilege = static_cast<Privilege>(below(5));
    }
    if (coin()) launch.gives = "future";
    if (coin()) launch.takes = {"future"};
    launch.same_address_space = coin();
    return launch;
  }

  std::mt19937 random_;
};

TEST(AppJson, RoundTripsAreExact) {
  for (const auto& file : testing::files_below("docs/examples", ".json")) {
    round_trip(read_app(testing::read_text(file)));
  }
  int valid = 0;
  for (unsigned seed = 0; seed < 3000 && !HasFailure(); ++seed) {
    const Application app = DrawnApplication(seed).make();
    if (!Workload::make(app).ok()) continue;
    ++valid;
    round_trip(app);
  }
  EXPECT_GT(valid, 100);
}

TEST(AppJson, WrongTextsAreNamedByPlace) {
  EXPECT_EQ(refusal("{\n \"tasks\": [,]}").substr(0, 35), "line 2, column 12: this is not JSON");
  EXPECT_EQ(refusal("[]"), "an array stands where an object is due");
  EXPECT_EQ(refusal("{}"), "`tasks` is missing [an application has at least `{\"tasks\": [...]}`]");
  EXPECT_EQ(refusal(R"({"tasks": []})"), "/tasks: an application has at least one task");
  EXPECT_EQ(refusal(R"({"task": []})"), "no such key: `task` [did you mean `tasks`?]");
  EXPECT_EQ(refusal(R"({"tasks": [{"name": "t"}]})"),
            "/tasks/0: `variants` is missing [such as `[{\"kind\": \"CPU\"}]`]");
  EXPECT_EQ(refusal(R"({"tasks": [{"name": "t", "variants": []}]})"),
            "/tasks/0/variants: a task has at least one variant");
  EXPECT_EQ(refusal(R"({"tasks": [{"name": "", "variants": [{"kind": "GPU"}]}]})"),
            "/tasks/0/name: a name is empty");
  EXPECT_EQ(refusal(R"({"tasks": [{"name": "t", "variants": [{"kind": "GPUS"}]}]})"),
            "/tasks/0/variants/0/kind: `GPUS` is not a processor kind [did you mean `GPU`?]");
  EXPECT_EQ(refusal(R"({"tasks": [{"name": "t", "variants": [{"kind": "GPU"}]},
                             {"name": "t", "variants": [{"kind": "GPU"}]}]})"),
            "/tasks/1/name: task 0 has this name already");
  EXPECT_EQ(refusal(R"({"top_level": "mian", "tasks": [{"name": "main", "variants":
                        [{"kind": "CPU"}]}]})"),
            "/top_level: no task is named `mian` [did you mean `main`?]");
}

TEST(AppJson, WrongTasksAreNamedByPlace) {
  const auto body = [](const std::string& statement) {
    return task_refusal(R"("body": [)" + statement + "]");
  };
  EXPECT_EQ(body(R"({"launch": "t", "domain": [4], "lower": [0, 0]})"),
            "/tasks/0/body/0/lower: it has 2 coordinates, the domain 1");
  EXPECT_EQ(body(R"({"launch": "t", "lower": [0]})"),
            "/tasks/0/body/0/lower: a launch without a `domain` is a single task");
  EXPECT_EQ(body(R"({"launch": "t", "domain": []})"),
            "/tasks/0/body/0/domain: an index launch has at least one dimension");
  EXPECT_EQ(body(R"({"launch": "t", "domain": [1,1,1,1,1,1,1,1,1,1]})"),
            "/tasks/0/body/0/domain: it has 10 items, at most 9 may be");
  EXPECT_EQ(body(R"({"launch": "t", "domain": [-1]})"),
            "/tasks/0/body/0/domain: an extent is negative, or there are more than 2^63-1 points");
  EXPECT_EQ(body(R"({"launch": "s"})"),
            "/tasks/0/body/0/launch: no task is named `s` [known is `t`]");
  EXPECT_EQ(body(R"({"lanch": "t"})"),
            "/tasks/0/body/0: no such key: `lanch` [did you mean `launch`?]");
  EXPECT_EQ(body("{}"),
            "/tasks/0/body/0: a statement has one of the keys `launch`, `repeat`, `phase` and "
            "`wait`");
  EXPECT_EQ(body("3"), "/tasks/0/body/0: a number stands where an object is due");
  EXPECT_EQ(body(R"({"repeat": 1, "body": [{"wait": "f"}]})"),
            "/tasks/0/body/0/body/0/wait: no launch of this task gives the future `f`");
  EXPECT_EQ(body(R"({"repeat": 1.5})"),
            "/tasks/0/body/0/repeat: 1.5 is not a whole number that can be kept");
  EXPECT_EQ(
      body(R"({"repeat": "2 +"})"),
      "/tasks/0/body/0/repeat: the formula ends too early [a formula has whole numbers, names, "
      "`+ - * / %`, comparisons, `a ? b : c`, `min(a, b)`, `max(a, b)` and parentheses]");
  EXPECT_EQ(task_refusal(R"("requirements": [{"names": ["r"]}])"),
            "/tasks/0/requirements/0: `privilege` is missing [one of `no-access`, `read-only`, "
            "`read-write`, "
            "`write-discard` and `reduce`]");
  EXPECT_EQ(task_refusal(R"("requirements": [{"privilege": "reduce", "dimensions": 10}])"),
            "/tasks/0/requirements/0/dimensions: 10 is not a number of dimensions (1 to 9)");
  EXPECT_EQ(task_refusal(R"("requirements": [{"privilege": "reduce", "fields": [{"bytes": 0}]}])"),
            "/tasks/0/requirements/0/fields/0/bytes: 0 is not a size of a field (1 to "
            "1099511627776)");
  EXPECT_EQ(task_refusal(R"("requirements": [{"privilege": "reduce", "names": ["r", ""]}])"),
            "/tasks/0/requirements/0/names/1: a name is empty");
  // What was left out has no place of its own.
  EXPECT_EQ(task_refusal(R"("requirements": [{"privilege": "reduce", "data": "r"}])"),
            "/tasks/0/requirements/0/data: no region or partition is named `r`");
}

TEST(AppJson, WrongParametersAndDataAreNamedByPlace) {
  const auto app = [](const std::string& members) {
    return refusal("{" + members + R"(, "tasks": [{"name": "t", "variants": [{"kind": "CPU"}]}]})");
  };
  EXPECT_EQ(app(R"("parameters": [{"name": "n"}])"), "/parameters/0: `value` is missing");
  EXPECT_EQ(app(R"("parameters": [{"name": "n", "value": 0}])"),
            "/parameters/0/value: `n` is 0; 1 to 9223372036854775807 may be");
  EXPECT_EQ(app(R"("sizes": [{"name": "s", "values": []}])"),
            "/sizes/0/values: an array stands where an object is due");
  EXPECT_EQ(app(R"("sizes": [{"name": "s", "values": {"a/b": 1}}])"),
            "/sizes/0/values: `a/b` is not a parameter's name");
  EXPECT_EQ(app(R"("regions": [{"name": "r", "extents": ["-2"]}])"),
            "/regions/0/extents/0: -2 is not a size");
  EXPECT_EQ(app(R"("partitions": [{"name": "p", "of": "p", "colors": [1]}])"),
            "/partitions/0/of: `p` is cut from itself [a partition cuts a region, or a partition "
            "that does in the end]");
  EXPECT_EQ(app(R"("metric": {"work": "n"})"), "/metric/work: `n` is not known here");
  EXPECT_EQ(app(R"("runtime": {"map_nanoseconds": -1})"),
            "/runtime/map_nanoseconds: it is -1, from 0 to 1000000000000 may be");
  EXPECT_EQ(app(R"("runtime": {"copy_nanoseconds": 1000000000001})"),
            "/runtime/copy_nanoseconds: it is 1000000000001, from 0 to 1000000000000 may be");
}

using Messages = std::vector<std::string>;

// Each mistake once, and nothing that only comes of one.
TEST(AppJson, AllWrongTypesAndKeysAreTold) {
  EXPECT_EQ(
      refusals(R"({"nme": "a", "parameters": [{"name": 1, "value": "2"}, 3],
                         "regions": [{"name": "r"}, {"nam": "s", "extents": [true]}]})"),
      (Messages{
          "no such key: `nme`", "/parameters/0/name: a number stands where a string is due",
          "/parameters/0/value: a string stands where a whole number is due",
          "/parameters/1: a number stands where an object is due",
          "/regions/0: `extents` is missing", "/regions/1: no such key: `nam`",
          "/regions/1/extents/0: a truth value stands where a whole number or a formula is due"}));
  EXPECT_EQ(
      refusals(R"({"parameters": {}, "tasks": [
                {"name": "a", "variants": [{"kind": 3}, {"kind": "GPUS"}], "requirements": [
                    {"privilege": 1}, {"privilege": "read", "data": {"off": "r"}}]},
                {"name": "b", "body": [{"launch": 1, "domain": 4}, {"lanch": "b"}, {}, {"repeat": []},
                    {"launch": "b", "domain": []}]}]})"),
      (Messages{"/parameters: an object stands where an array is due",
                "/tasks/0/variants/0/kind: a number stands where a string is due",
                "/tasks/0/variants/1/kind: `GPUS` is not a processor kind",
                "/tasks/0/requirements/0/privilege: a number stands where a string is due",
                "/tasks/0/requirements/1/privilege: `read` is not a privilege",
                "/tasks/0/requirements/1/data: no such key: `off`",
                "/tasks/1: `variants` is missing",
                "/tasks/1/body/0/launch: a number stands where a string is due",
                "/tasks/1/body/0/domain: a number stands where an array is due",
                "/tasks/1/body/1: no such key: `lanch`",
                "/tasks/1/body/2: a statement has one of the keys `launch`, `repeat`, `phase` "
                "and `wait`",
                "/tasks/1/body/3/repeat: an array stands where a whole number or a formula is due",
                "/tasks/1/body/4/domain: an index launch has at least one dimension"}));
}

TEST(AppJson, AllThatContradictsIsTold) {
  EXPECT_EQ(refusals(R"({"parameters": [{"name": "n", "value": 0}, {"name": "m", "value": -1}],
                         "sizes": [{"name": "", "values": {}}], "tasks": []})"),
            (Messages{"/parameters/0/value: `n` is 0; 1 to 9223372036854775807 may be",
                      "/parameters/1/value: `m` is -1; 1 to 9223372036854775807 may be"}))
      << "what is told of the rest may come of these";
  const std::string task = R"("tasks": [{"name": "t", "variants": [{"kind": "CPU"}]}]})";
  EXPECT_EQ(
      refusals(R"({"regions": [{"name": "r", "extents": ["x"]}, {"name": "s", "extents": [-1]}],
                         "partitions": [{"name": "p", "of": "r", "colors": [2]}], )" +
               task),
      (Messages{"/regions/0/extents/0: `x` is not known here",
                "/regions/1/extents/0: -1 is not a size"}));
  // What is cut of a partition that is wrong is not wrong for that.
  EXPECT_EQ(refusals(R"({"regions": [{"name": "r", "extents": [8]}], "partitions": [
                {"name": "a", "of": "b", "colors": [2]}, {"name": "b", "of": "c", "colors": [2]},
                {"name": "c", "of": "q", "colors": [2]}, {"name": "d", "of": "c", "colors": [2]},
                {"name": "e", "of": "r", "colors": [-2]}], )" +
                     task),
            (Messages{"/partitions/2/of: no region or partition is named `q`",
                      "/partitions/4/colors/0: -2 is not a size"}));
  EXPECT_EQ(
      refusals(R"({"top_level": "mian", "metric": {"work": "n", "phase": "p"}, "tasks": [
                {"name": "a", "variants": [{"kind": "CPU", "flops": "1 +"}, {"kind": "GPU", "flops": "y"}],
                 "body": [{"launch": "c"}, {"repeat": 2, "body": [{"launch": "b", "domain": [-1]},
                          {"wait": "f"}]}, {"launch": "b"}, {"repeat": "z", "body": [{"launch": "d"}]}]},
                {"name": "b", "variants": [{"kind": "CPU", "leaf": true, "inner": true}]}]})"),
      (Messages{"/tasks/0/variants/0/flops: the formula ends too early",
                "/tasks/0/variants/1/flops: `y` is not known here",
                "/tasks/0/body/0/launch: no task is named `c`",
                "/tasks/0/body/1/body/0/domain: an extent is negative, or there are more than "
                "2^63-1 points",
                "/tasks/0/body/1/body/1/wait: no launch of this task gives the future `f`",
                "/tasks/0/body/3/repeat: `z` is not known here",
                "/tasks/1/variants/0: a variant is not both `leaf` and `inner`",
                "/top_level: no task is named `mian`"}));
}

TEST(AppJson, MistakesAreBounded) {
  std::string launches, numbers;
  for (int i = 0; i < 100; ++i) {
    launches += std::string(i == 0 ? "" : ",") + R"({"launch": "s"})";
    numbers += i == 0 ? "1" : ",1";
  }
  const std::string begin = R"({"tasks": [{"name": "t", "variants": [{"kind": "CPU"}], "body": [)";
  EXPECT_EQ(refusals(begin + launches + "]}]}").size(), kMaxFileErrors);
  EXPECT_EQ(refusals(begin + numbers + "]}]}").size(), kMaxFileErrors);
  EXPECT_EQ(refusals(R"({"tasks": [)" + numbers + "]}").size(), kMaxFileErrors);
}

TEST(AppJson, NestingIsBounded) {
  const auto nested = [](int depth) {
    std::string text = R"({"tasks": [{"name": "t", "variants": [{"kind": "CPU"}], "body": [)";
    for (int i = 0; i < depth; ++i) text += R"({"repeat": 1, "body": [)";
    for (int i = 0; i < depth; ++i) text += "]}";
    return text + "]}]}";
  };
  round_trip(read_app(nested(kMaxAppDepth - 1)));
  const std::string refused = refusal(nested(kMaxAppDepth));
  EXPECT_TRUE(refused.ends_with("/body: loops and phases are nested more than 32 deep")) << refused;
  EXPECT_EQ(refusal(nested(1000)), "nested deeper than 80");
  EXPECT_EQ(refusal(nested(100'000)), "nested deeper than 80");
}

TEST(AppJson, FieldsThatAreLeftOutAreBounded) {
  std::string fields, requirements, tasks;
  for (int i = 0; i < 4096; ++i) {
    fields += (i == 0 ? "" : ",") + (R"({"name": "f)" + std::to_string(i)) + R"("})";
  }
  for (int i = 0; i < 256; ++i) {
    requirements += (i == 0 ? "" : ",") + std::string(R"({"privilege": "reduce", "data": "r"})");
  }
  for (int i = 0; i < 2; ++i) {
    tasks += (i == 0 ? "" : ",") + (R"({"name": "t)" + std::to_string(i)) +
             R"(", "variants": [{"kind": "CPU"}], "requirements": [)" + requirements + "]}";
  }
  EXPECT_EQ(refusal(R"({"regions": [{"name": "r", "extents": [1], "fields": [)" + fields +
                    R"(]}], "tasks": [)" + tasks + "]}"),
            "/tasks/1/requirements/0: more than 1048576 fields of requirements in all");
  EXPECT_EQ(refusals(R"({"regions": [{"name": "r", "extents": [1], "fields": [)" + fields +
                     R"(]}], "tasks": [)" + tasks + "]}")
                .size(),
            1U);
}

TEST(AppJson, SizesAreBounded) {
  std::string requirements, tasks;
  for (int i = 0; i < 256; ++i) {
    requirements += (i == 0 ? "" : ",") + std::string(R"({"privilege":"reduce"})");
  }
  for (int i = 0; i < 257; ++i) {
    tasks += (i == 0 ? "" : ",") + (R"({"name":"t)" + std::to_string(i)) +
             R"(","variants":[{"kind":"CPU"}],"requirements":[)" + requirements + "]}";
  }
  EXPECT_EQ(refusal(R"({"tasks": [)" + tasks + "]}"),
            "/tasks: 65792 requirements in all; at most 65536");
  EXPECT_EQ(task_refusal(R"("requirements": [)" + requirements + R"(, {"privilege": "reduce"}])"),
            "/tasks/0/requirements: it has 257 items, at most 256 may be");
}

TEST(AppJson, WrongVariantsAreNamedByPlace) {
  const auto variant = [](const std::string& members) {
    return refusal(R"({"tasks": [{"name": "t", "requirements": [{"privilege": "reduce"}],
                       "variants": [{"kind": "CPU", )" +
                   members + "}]}]}");
  };
  EXPECT_EQ(variant(R"("leaf": true, "inner": true)"),
            "/tasks/0/variants/0: a variant is not both `leaf` and `inner`");
  EXPECT_EQ(variant(R"("leaf": 1)"),
            "/tasks/0/variants/0/leaf: a number stands where `true` or `false` is due");
  EXPECT_EQ(variant(R"("demands": [{"requirement": 1}])"),
            "/tasks/0/variants/0/demands/0/requirement: the task has 1 requirement, counted from "
            "0");
  EXPECT_EQ(variant(R"("demands": [{"requirement": 0, "align": {"bytes": 3}}])"),
            "/tasks/0/variants/0/demands/0/align: 3 is not a power of two");
  EXPECT_EQ(variant(R"("demands": [{"requirement": 0, "memory": "VIRTUAL"}])"),
            "/tasks/0/variants/0/demands/0/memory: `VIRTUAL` is not a memory");
}

TEST(AppJson, FilesAndWhatIsNone) {
  const Result<Application> none = load_application("no-such-application");
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.error().code, Error::Code::kUnknown);
  EXPECT_EQ(none.error().message, "no application `no-such-application`");
  const Result<Application> missing = load_application("./none.json");
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.error().code, Error::Code::kUnreadable);
  for (const auto& file : testing::files_below("docs/examples", ".json")) {
    const Result<Application> app = load_application(file.string());
    EXPECT_TRUE(app.ok()) << (app.ok() ? "" : app.error().message);
  }
}

TEST(AppJson, TheRuntimesCostsCanBeLeftOut) {
  const std::string everything =
      testing::in_tree("tests/fuzz/corpus/application/everything.json").string();
  EXPECT_TRUE(load_application(everything)->runtime.has_value());
  const auto without = load_application(everything + ":runtime=default,p=2");
  ASSERT_TRUE(without.ok()) << without.error().message;
  EXPECT_FALSE(without->runtime.has_value());
  EXPECT_EQ(without->parameters[0].value, 2);
  EXPECT_FALSE(load_application(everything + ":runtime=other").ok());
}

TEST(AppJson, FilesWithValues) {
  const std::string circuit = testing::in_tree("docs/examples/circuit.json").string();
  const auto values = [&](const std::string& given) {
    const Result<Application> app = load_application(circuit + given);
    if (!app) return app.error().message + " [" + app.error().help + "]";
    std::string text;
    for (const AppParameter& each : app->parameters) text += " " + std::to_string(each.value);
    return text;
  };
  EXPECT_EQ(values(""), " 64 1000 4000 100 10");
  EXPECT_EQ(values(":pieces=8,loops=3"), " 8 1000 4000 100 3");
  EXPECT_EQ(values(":size=small"), " 4 5000 20000 100 10");
  EXPECT_EQ(values(":size=small,wires=7"), " 4 5000 7 100 10");
  EXPECT_EQ(values(":piecs=8"), "`circuit` has no parameter `piecs` [did you mean `pieces`?]");
  EXPECT_EQ(values(":size=smal"), "`circuit` has no size `smal` [did you mean `small`?]");
  EXPECT_EQ(values(":pieces=8x"), "`pieces` is `8x`, which is not a whole number []");
  EXPECT_EQ(values(":pieces="), "`pieces` has no value [it is written `pieces=64`]");
  EXPECT_EQ(values(":pieces=0"), "/parameters/0/value: `pieces` is 0; 1 to 1000000 may be []");
  EXPECT_EQ(values(":pieces"), "`pieces` has no value [it is written `pieces=64`]");
}

// The published schema has the keys that the reader has, and asks for those that it asks for.
TEST(AppJson, TheSchemaHasTheReadersKeys) {
  const auto schema =
      nlohmann::json::parse(testing::read_text(testing::in_tree("docs/application.schema.json")));
  EXPECT_EQ(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
  std::size_t objects = 0;
  const auto compare = [&](const nlohmann::json& object, const auto& keys) {
    ++objects;
    std::set<std::string> have;
    for (const auto& [key, value] : object["properties"].items()) have.insert(key);
    EXPECT_EQ(have, std::set<std::string>(keys.begin(), keys.end()));
    EXPECT_EQ(object["additionalProperties"], false);
  };
  const nlohmann::json& parts = schema["$defs"];
  compare(schema, keys::kAppKeys);
  compare(parts["parameter"], keys::kParameterKeys);
  compare(parts["definition"], keys::kDefinitionKeys);
  compare(parts["size"], keys::kSizeKeys);
  compare(parts["metric"], keys::kMetricKeys);
  compare(parts["runtime"], keys::kRuntimeKeys);
  compare(parts["region"], keys::kRegionKeys);
  compare(parts["partition"], keys::kPartitionKeys);
  compare(parts["box"], keys::kBoxKeys);
  compare(parts["field"], keys::kFieldKeys);
  compare(parts["data"]["anyOf"][1], keys::kDataKeys);
  compare(parts["task"], keys::kTaskKeys);
  compare(parts["variant"], keys::kVariantKeys);
  compare(parts["demand"], keys::kDemandKeys);
  compare(parts["demand"]["properties"]["align"], keys::kAlignKeys);
  compare(parts["traffic"], keys::kTrafficKeys);
  compare(parts["requirement"], keys::kRequirementKeys);
  compare(parts["launch"], keys::kLaunchKeys);
  compare(parts["loop"], keys::kLoopKeys);
  compare(parts["phase"], keys::kPhaseKeys);
  compare(parts["wait"], keys::kWaitKeys);
  EXPECT_EQ(objects, 21U);
  const auto words = [&](const nlohmann::json& place, const auto& names) {
    EXPECT_EQ(place["enum"].get<std::vector<std::string>>(),
              std::vector<std::string>(names.begin(), names.end()));
  };
  words(parts["variant"]["properties"]["kind"], kProcKindNames);
  words(parts["variant"]["properties"]["loops"], keys::kDimensionOrderNames);
  words(parts["demand"]["properties"]["dimension_order"], keys::kDimensionOrderNames);
  words(parts["demand"]["properties"]["field_order"], keys::kFieldOrderNames);
  words(parts["demand"]["properties"]["align"]["properties"]["operator"], keys::kAlignNames);
  words(parts["traffic"]["properties"]["access"], keys::kAccessNames);
  words(parts["requirement"]["properties"]["privilege"], kPrivilegeNames);
  words(parts["requirement"]["properties"]["coherence"], keys::kCoherenceNames);
  EXPECT_EQ(parts["demand"]["properties"]["memory"]["enum"].size(), kMemKindCount - 1);
}

TEST(AppJson, TheManualsExamplesAreSome) {
  std::istringstream lines(testing::read_text(testing::in_tree("docs/applications.md")));
  std::string block, last;
  bool inside = false;
  int blocks = 0;
  for (std::string line; std::getline(lines, line);) {
    if (inside && line == "```") {
      read_app(block);
      ++blocks;
      last = std::exchange(block, {});
    }
    if (line.starts_with("```")) {
      inside = line == "```json";
    } else if (inside) {
      block += line + "\n";
    }
  }
  EXPECT_EQ(blocks, 2);
  EXPECT_EQ(last, testing::read_text(testing::in_tree("docs/examples/ring.json")));
}

}  // namespace
}  // namespace groma
