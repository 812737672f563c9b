// Workload::make: every fault with its place; pieces of partitions against their definition.
#include "groma/workload.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "app/builder.h"
#include "app/pieces.h"

namespace groma::app {
namespace {

// All kinds of things, nothing wrong.
Application good() {
  Application app{.name = "good", .top_level = "main"};
  app.parameters = {{"n", 100}, {"p", 4}};
  app.definitions = {{"half", "n / 2"}};
  app.sizes = {{"small", "", {{"n", 10}}}};
  app.metric = {"points/s", "n", "loop"};
  app.regions = {{"r", {}, {"n"}, {{"x", 8}, {"y", 4}}}, {"s", {}, {"n", 3}, {{"z", 8}}}};
  app.partitions = {{"blocks", {}, "r", {"p"}}, {"tiles", {}, "s", {"p", 1}}};
  AppTask main{.name = "main", .variants = {AppVariant{}}};
  AppLaunch launch{.task = "work",
                   .domain = {"p"},
                   .index = {"i"},
                   .arguments = {"i + k"},
                   .data = {{}, {"tiles", {"i", 0}}},
                   .gives = "dt",
                   .takes = {"dt"}};
  AppPhase phase{"loop", {{launch}, {AppWait{"dt"}}}};
  main.body = {{AppLoop{3, "k", true, {{phase}}}}};
  AppTask work{.name = "work", .arguments = {"a"}, .variants = {AppVariant{}}};
  work.variants[0].flops = "a * points(0)";
  work.variants[0].traffic = {{1, "8 * extent(1, 1)", Access::kScatter}};
  work.variants[0].demands.emplace_back().requirement = 1;
  work.requirements = {
      {.fields = {{"x", 8}}, .data = {"blocks", {}}},
      {.dimensions = 2, .fields = {{"z", 8}}},
  };
  app.tasks = {main, work};
  return app;
}

AppLoop& loop_of(Application& app) { return std::get<AppLoop>(app.tasks[0].body[0].node); }
AppPhase& phase_of(Application& app) { return std::get<AppPhase>(loop_of(app).body[0].node); }
AppLaunch& launch_of(Application& app) { return std::get<AppLaunch>(phase_of(app).body[0].node); }

// The first fault of good() with a change.
std::string fault(const std::function<void(Application&)>& change,
                  const std::vector<AppValue>& values = {}) {
  Application app = good();
  change(app);
  const Result<Workload> made = Workload::make(app, values);
  if (made) return "";
  const Error& error = made.error();
  return error.message + (error.help.empty() ? "" : " [" + error.help + "]");
}

constexpr const char* kNoName =
    " [letters, digits and `_`, no digit first; not `min`, `max`, `points` or `extent`]";

TEST(Workload, GoodOnes) {
  EXPECT_EQ(fault([](Application&) {}), "");
  const Workload workload = Workload::make(good(), {{"p", 5}, {"n", 7}}).value();
  EXPECT_EQ(workload.name(), "good");
  EXPECT_EQ(workload.values(), (std::vector<AppValue>{{"n", 7}, {"p", 5}}));
  EXPECT_EQ(workload.data().regions[0].box.volume(), 7);
}

TEST(Workload, Parameters) {
  const auto none = [](Application&) {};
  EXPECT_EQ(fault(none, {{"m", 1}}),
            "/parameters: `good` has no parameter `m` [known are `n` and `p`]");
  EXPECT_EQ(Workload::make(good(), {{"m", 1}}).error().code, Error::Code::kUnknown);
  EXPECT_EQ(fault(none, {{"p", 0}}),
            "/parameters/1/value: `p` is 0; 1 to 9223372036854775807 may be");
  EXPECT_EQ(fault([](auto& a) { a.parameters[1].most = 3; }),
            "/parameters/1/value: `p` is 4; 1 to 3 may be");
  EXPECT_EQ(fault([](auto& a) { a.parameters[1].name = "n"; }),
            "/parameters/1/name: this name is there already");
  EXPECT_EQ(fault([](auto& a) { a.parameters[0].name = "min"; }),
            std::string("/parameters/0/name: it is not a name that a formula can use") + kNoName);
  EXPECT_EQ(fault([](auto& a) { a.parameters[0].name = ""; }),
            "/parameters/0/name: a name is empty");
  EXPECT_EQ(fault([](auto& a) { a.parameters.assign(65, {"n"}); }),
            "/parameters: 65 parameters; at most 64");
  EXPECT_EQ(fault([](auto& a) { a.name = std::string(2000, 'x'); }),
            "/name: a name of 2000 bytes; at most 1024");
}

TEST(Workload, DefinitionsSizesAndMetric) {
  EXPECT_EQ(fault([](auto& a) { a.definitions[0].name = "n"; }),
            "/definitions/0/name: this name is there already");
  EXPECT_EQ(fault([](auto& a) { a.definitions[0].value = "n / (p - 4)"; }),
            "/definitions/0/value: it divides by zero");
  EXPECT_EQ(fault([](auto& a) { a.definitions[0].value = "half"; }),
            "/definitions/0/value: `half` is not known here");
  EXPECT_EQ(fault([](auto& a) { a.sizes.push_back(a.sizes[0]); }),
            "/sizes/1/name: size 0 has this name already");
  EXPECT_EQ(fault([](auto& a) { a.sizes[0].values[0].first = "m"; }),
            "/sizes/0/values: a value for a parameter that does not exist");
  EXPECT_EQ(fault([](auto& a) { a.sizes[0].values[0].second = 0; }),
            "/sizes/0/values/n: 0 is not within 1 to 9223372036854775807");
  EXPECT_EQ(fault([](auto& a) {
              a.sizes[0].values.push_back({"n", 1});
            }),
            "/sizes/0/values/n: it has a value already");
  EXPECT_EQ(fault([](auto& a) { a.metric.work = "m"; }), "/metric/work: `m` is not known here");
  EXPECT_EQ(fault([](auto& a) { a.metric.phase = "loops"; }),
            "/metric/phase: no phase has this name [did you mean `loop`?]");
}

TEST(Workload, Regions) {
  EXPECT_EQ(fault([](auto& a) { a.regions[1].name = "r"; }),
            "/regions/1/name: another region has this name already");
  EXPECT_EQ(fault([](auto& a) { a.regions[0].aliases = {""}; }),
            "/regions/0/aliases/0: a name is empty");
  EXPECT_EQ(fault([](auto& a) { a.regions[0].extents = {}; }),
            "/regions/0/extents: 0 dimensions; 1 to 9 may be");
  EXPECT_EQ(fault([](auto& a) { a.regions[0].extents = {"n - 200"}; }),
            "/regions/0/extents/0: -100 is not a size");
  EXPECT_EQ(fault([](auto& a) {
              a.regions[1].extents = {"n * 100000000000000000", 3};
            }),
            "/regions/1/extents/0: its value does not fit 64 bits");
  EXPECT_EQ(fault([](auto& a) {
              a.regions[1].extents = {"1000000000000", "1000000000000"};
            }),
            "/regions/1/extents: there are more than 2^63-1 points");
  EXPECT_EQ(fault([](auto& a) {
              a.regions[1].extents = {"9223372036854775807", 1};
            }),
            "/regions/1: it has more than 2^63-1 bytes");
  EXPECT_EQ(fault([](auto& a) { a.regions[0].fields[1].name = "x"; }),
            "/regions/0/fields/1/name: another field has this name already");
  EXPECT_EQ(fault([](auto& a) { a.regions[0].fields[1].name = ""; }),
            "/regions/0/fields/1/name: a name is empty");
  EXPECT_EQ(fault([](auto& a) { a.regions[0].fields[1].bytes = 0; }),
            "/regions/0/fields/1/bytes: 0 is not a size of a field (1 to 1099511627776)");
}

TEST(Workload, Partitions) {
  EXPECT_EQ(fault([](auto& a) { a.partitions[0].name = "r"; }),
            "/partitions/0/name: a region has this name already");
  EXPECT_EQ(fault([](auto& a) { a.partitions[1].name = "blocks"; }),
            "/partitions/1/name: another partition has this name already");
  EXPECT_EQ(
      fault([](auto& a) { a.partitions[0].of = "q"; }),
      "/partitions/0/of: no region or partition is named `q` [known are `r`, `s`, `blocks` and "
      "`tiles`]");
  EXPECT_EQ(fault([](auto& a) {
              a.partitions[0].of = "tiles";
              a.partitions[1].of = "blocks";
            }),
            "/partitions/0/of: `blocks` is cut from itself [a partition cuts a region, or a "
            "partition that does in the end]");
  EXPECT_EQ(fault([](auto& a) { a.partitions[1].colors = {"p"}; }),
            "/partitions/1/colors: equal blocks need a number for each of the 2 dimensions of `s` "
            "[or give `lower` and `extents` of a piece]");
  EXPECT_EQ(fault([](auto& a) { a.partitions[0].colors = {-1}; }),
            "/partitions/0/colors/0: -1 is not a size");
  EXPECT_EQ(fault([](auto& a) { a.partitions[0].lower = {0}; }),
            "/partitions/0/extents: 0 given, `r` has 1 dimensions");
  EXPECT_EQ(fault([](auto& a) {
              a.partitions[0].halo = {1, 1};
            }),
            "/partitions/0/halo: 2 given, `r` has 1 dimensions");
  EXPECT_EQ(fault([](auto& a) { a.partitions[0].halo = {-1}; }),
            "/partitions/0/halo/0: a halo is not negative");
  EXPECT_EQ(fault([](auto& a) {
              a.partitions[0].index = {"i", "j"};
            }),
            "/partitions/0/index: 2 names for 1 coordinates of a colour");
  EXPECT_EQ(fault([](auto& a) {
              a.partitions[0].index = {"i"};
              a.partitions[0].lower = {"i"};
              a.partitions[0].extents = {"j"};
            }),
            "/partitions/0/extents/0: `j` is not known here");
  const auto chain = [](Application& a, int length, bool upwards) {
    a.partitions.resize(2);
    for (int i = 1; i <= length; ++i) {
      a.partitions.push_back({"c" + std::to_string(i), {}, "c" + std::to_string(i - 1), {1}});
    }
    a.partitions[2].of = "r";
    if (!upwards) std::reverse(a.partitions.begin() + 2, a.partitions.end());
  };
  EXPECT_EQ(fault([&](auto& a) { chain(a, 8, true); }), "");
  EXPECT_EQ(fault([&](auto& a) { chain(a, 8, false); }), "");
  EXPECT_EQ(fault([&](auto& a) { chain(a, 9, true); }),
            "/partitions/10/of: more than 8 partitions of each other");
  EXPECT_EQ(fault([&](auto& a) { chain(a, 9, false); }),
            "/partitions/10/of: more than 8 partitions of each other");
  EXPECT_EQ(
      fault([](auto& a) {
        a.partitions.push_back({"c", {}, "tiles", {1, 1, 1, 1, 1, 1, 1, 1}, {}, {0, 0}, {1, 1}});
      }),
      "/partitions/2/colors: with those of `tiles` these are more than 9 dimensions or 2^63-1 "
      "colours");
}

// The partition of the faulty one would be faulty too if `blocks` were read as a partition of `r`.
TEST(Workload, APartitionOfAFaultyPartitionIsNotReported) {
  Application app = good();
  app.partitions[0].of = "q";
  app.partitions.push_back({.name = "parts", .of = "blocks", .colors = {2, 2}});
  Data data;
  const std::vector<AppError> faults = build(app, {}, data, {});
  ASSERT_EQ(faults.size(), 1U);
  EXPECT_EQ(faults[0].path, "/partitions/0/of");
}

TEST(Workload, NamesThatAMappingKnows) {
  Application app = good();
  app.partitions.push_back({.name = "parts", .aliases = {"cuts"}, .of = "blocks", .colors = {2}});
  const auto names = [&] { return Workload::make(app)->data().partitions.at(2).names; };
  EXPECT_EQ(names(), (Names{"parts", "cuts", "blocks", "r"}));
  app.partitions[2].unnamed = app.regions[0].unnamed = true;
  EXPECT_EQ(names(), (Names{"cuts", "blocks"}));
}

TEST(Workload, Tasks) {
  EXPECT_EQ(fault([](auto& a) { a.tasks.clear(); }),
            "/tasks: an application has at least one task");
  EXPECT_EQ(fault([](auto& a) { a.tasks[1].name = "main"; }),
            "/tasks/1/name: task 0 has this name already");
  EXPECT_EQ(fault([](auto& a) { a.top_level = "mian"; }),
            "/top_level: no task is named `mian` [did you mean `main`?]");
  EXPECT_EQ(fault([](auto& a) { a.top_level = "work"; }),
            "/top_level: nobody gives this task its arguments");
  EXPECT_EQ(fault([](auto& a) { a.tasks[1].arguments = {"1"}; }),
            std::string("/tasks/1/arguments/0: it is not a name that a formula can use") + kNoName);
  EXPECT_EQ(fault([](auto& a) { a.tasks[1].variants.clear(); }),
            "/tasks/1/variants: a task has at least one variant");
  EXPECT_EQ(fault([](auto& a) { a.tasks[0].variants[0].leaf = true; }),
            "/tasks/0/body: all variants of the task are `leaf`, which launch nothing");
  EXPECT_EQ(
      fault([](auto& a) { a.tasks[1].variants[0].leaf = a.tasks[1].variants[0].inner = true; }),
      "/tasks/1/variants/0: a variant is not both `leaf` and `inner`");
  EXPECT_EQ(fault([](auto& a) { a.tasks[1].variants[0].flops = "points(2)"; }),
            "/tasks/1/variants/0/flops: the task has no requirement 2");
  EXPECT_EQ(fault([](auto& a) { a.tasks[1].variants[0].efficiency = "b"; }),
            "/tasks/1/variants/0/efficiency: `b` is not known here");
  EXPECT_EQ(fault([](auto& a) { a.tasks[1].variants[0].kernels = "1 / 0"; }),
            "/tasks/1/variants/0/kernels: it divides by zero");
  EXPECT_EQ(fault([](auto& a) { a.tasks[1].variants[0].nanoseconds = "("; }),
            "/tasks/1/variants/0/nanoseconds: the formula ends too early [a formula has whole "
            "numbers, names, `+ - * / %`, comparisons, `a ? b : c`, `min(a, b)`, `max(a, b)` and "
            "parentheses]");
  EXPECT_EQ(fault([](auto& a) { a.tasks[1].variants[0].traffic[0].requirement = 2; }),
            "/tasks/1/variants/0/traffic/0/requirement: the task has 2 requirements, from 0");
  EXPECT_EQ(fault([](auto& a) { a.tasks[1].variants[0].traffic[0].bytes = "extent(0, 1)"; }),
            "/tasks/1/variants/0/traffic/0/bytes: requirement 0 has no dimension 1");
  EXPECT_EQ(
      fault([](auto& a) { a.tasks[1].variants[0].demands[0].requirement = 2; }),
      "/tasks/1/variants/0/demands/0/requirement: the task has 2 requirements, counted from 0");
  EXPECT_EQ(fault([](auto& a) { a.tasks[1].variants[0].demands[0].align_op = AlignOp::kEq; }),
            "/tasks/1/variants/0/demands/0/align: 0 is not a power of two");
  EXPECT_EQ(fault([](auto& a) { a.tasks[1].variants[0].demands[0].align_bytes = 8; }),
            "/tasks/1/variants/0/demands/0/align: bytes without an operator");
  EXPECT_EQ(fault([](auto& a) { a.tasks[1].variants[0].demands[0].memory = MemKind::kVirtual; }),
            "/tasks/1/variants/0/demands/0/memory: `VIRTUAL` is not a memory");
}

TEST(Workload, Requirements) {
  const auto changed = [](const auto& change) {
    return fault([&](Application& a) { change(a.tasks[1].requirements[0]); });
  };
  EXPECT_EQ(changed([](auto& r) { r.dimensions = 0; }),
            "/tasks/1/requirements/0/dimensions: 0 is not a number of dimensions (1 to 9)");
  EXPECT_EQ(changed([](auto& r) { r.dimensions = 2; }),
            "/tasks/1/requirements/0/data: `r` has 1 dimensions, the requirement 2");
  EXPECT_EQ(changed([](auto& r) {
              r.names = {"a", ""};
            }),
            "/tasks/1/requirements/0/names/1: a name is empty");
  EXPECT_EQ(
      changed([](auto& r) { r.data.of = "block"; }),
      "/tasks/1/requirements/0/data/of: no region or partition is named `block` [did you mean "
      "`blocks`?]");
  EXPECT_EQ(changed([](auto& r) {
              r.data = {"r", {0}};
            }),
            "/tasks/1/requirements/0/data/color: a whole region has no colour");
  EXPECT_EQ(changed([](auto& r) {
              r.data = {"", {0}};
            }),
            "/tasks/1/requirements/0/data/color: a colour of no partition");
  EXPECT_EQ(changed([](auto& r) {
              r.data.color = {0, 0};
            }),
            "/tasks/1/requirements/0/data/color: 2 coordinates; a colour of `blocks` has 1");
  EXPECT_EQ(changed([](auto& r) { r.data.color = {"i"}; }),
            "/tasks/1/requirements/0/data/color/0: `i` is not known here");
  EXPECT_EQ(changed([](auto& r) { r.fields[0].name = "z"; }),
            "/tasks/1/requirements/0/data: `r` has no field `z` [known are `x` and `y`]");
  EXPECT_EQ(changed([](auto& r) { r.fields[0].bytes = 4; }),
            "/tasks/1/requirements/0/data: field `x` of `r` has 8 bytes, not 4");
  EXPECT_EQ(changed([](auto& r) { r.fields.push_back(r.fields[0]); }),
            "/tasks/1/requirements/0/data: field `x` is required twice");
  EXPECT_EQ(changed([](auto& r) { r.data.fields = {"y"}; }),
            "/tasks/1/requirements/0/data: field `y` of `r` has 4 bytes, not 8");
  EXPECT_EQ(changed([](auto& r) { r.data.fields = {"z"}; }),
            "/tasks/1/requirements/0/data: `r` has no field `z` [known are `x` and `y`]");
  EXPECT_EQ(changed([](auto& r) {
              r.data.fields = {"x", "y"};
            }),
            "/tasks/1/requirements/0/data/fields: 2 fields, the requirement has 1");
  EXPECT_EQ(changed([](auto& r) {
              r.data = {"", {}, {"x"}};
            }),
            "/tasks/1/requirements/0/data/fields: fields of no region");
}

TEST(Workload, Bodies) {
  const std::string loop = "/tasks/0/body/0", launch = loop + "/body/0/body/0";
  const auto changed = [](const auto& change) {
    return fault([&](Application& a) { change(launch_of(a)); });
  };
  EXPECT_EQ(fault([](auto& a) { loop_of(a).count = "q"; }),
            loop + "/repeat: `q` is not known here");
  EXPECT_EQ(fault([](auto& a) { loop_of(a).variable = "2"; }),
            loop + "/variable: it is not a name that a formula can use" + kNoName);
  EXPECT_EQ(fault([](auto& a) { phase_of(a).name = ""; }), loop + "/body/0/phase: a name is empty");
  EXPECT_EQ(fault([](auto& a) { phase_of(a).body[1] = {AppWait{"dx"}}; }),
            loop +
                "/body/0/body/1/wait: no launch of this task gives the future `dx` [did you mean "
                "`dt`?]");
  EXPECT_EQ(changed([](auto& l) { l.task = "wrok"; }),
            launch + "/launch: no task is named `wrok` [did you mean `work`?]");
  EXPECT_EQ(changed([](auto& l) { l.domain = Formulas(10, 1); }),
            launch + "/domain: 10 dimensions; at most 9 may be");
  EXPECT_EQ(changed([](auto& l) {
              l.lower = {0, 0};
            }),
            launch + "/lower: it has 2 coordinates, the domain 1");
  EXPECT_EQ(changed([](auto& l) {
              l.domain.clear();
              l.index.clear();
              l.lower = {0};
            }),
            launch + "/lower: a launch without a `domain` is a single task");
  EXPECT_EQ(changed([](auto& l) {
              l.index = {"i", "j"};
            }),
            launch + "/index: 2 names for the 1 coordinates of a point");
  EXPECT_EQ(changed([](auto& l) { l.domain = {"i"}; }),
            launch + "/domain/0: `i` is not known here");
  EXPECT_EQ(changed([](auto& l) { l.domain = {"p - 5"}; }),
            launch + "/domain: an extent is negative, or there are more than 2^63-1 points");
  EXPECT_EQ(changed([](auto& l) { l.arguments = {}; }),
            launch + "/arguments: 0 given, `work` has 1");
  EXPECT_EQ(changed([](auto& l) { l.takes = {"dx"}; }),
            launch + "/takes/0: no launch of this task gives the future `dx` [did you mean `dt`?]");
  EXPECT_EQ(fault([](auto& a) {
              std::vector<AppStatement> body;
              for (int i = 0; i < 40; ++i) body = {{AppLoop{1, "", false, std::move(body)}}};
              a.tasks[0].body = std::move(body);
              a.metric = {};
            }).substr(0, 13),
            "/tasks/0/body");
  EXPECT_EQ(fault([](auto& a) { a.tasks[0].body.resize(65'537, {AppWait{}}); }),
            "/tasks/0/body: 65537 statements in all; at most 65536");
}

// A launch may differ from its task in the region's dimensions, in fields and in the privilege.
TEST(Workload, LaunchesDifferFromTheirTask) {
  const auto data_of_requirement = [](const std::vector<AppData>& data) {
    Application app = good();
    launch_of(app).data = data;
    const Workload workload = Workload::make(app).value();
    const auto& loop = std::get<Loop>(workload.data().tasks[0].body[0].node);
    const auto& phase = std::get<Phase>(loop.body[0].node);
    return std::get<Launch>(phase.body[0].node).data;
  };
  const std::vector<app::RequirementData> usual = data_of_requirement({{}, {"tiles", {"i", 0}}});
  EXPECT_EQ(usual[1].privilege, Privilege::kReadWrite);
  const std::vector<app::RequirementData> other = data_of_requirement(
      {{"", {}, {}, Privilege::kReadOnly}, {"blocks", {"i"}, {"y", "x"}, Privilege::kReduce}});
  EXPECT_EQ(other[0].privilege, Privilege::kReadOnly);
  EXPECT_EQ(other[0].index, usual[0].index);
  EXPECT_EQ(other[0].fields, usual[0].fields);
  EXPECT_EQ(other[1].privilege, Privilege::kReduce);
  EXPECT_EQ(other[1].fields, (std::vector<std::uint32_t>{1, 0}));
  const std::vector<app::RequirementData> unused = data_of_requirement(
      {{"", {}, {}, Privilege::kNoAccess}, {"r", {}, {}, Privilege::kNoAccess}});
  EXPECT_TRUE(unused[0].fields.empty() && unused[1].fields.empty());
  EXPECT_EQ(fault([](auto& a) { a.tasks[1].requirements[0].data.privilege = Privilege::kReduce; }),
            "/tasks/1/requirements/0/data/privilege: only the `data` of a launch has a privilege "
            "of its own [give the requirement its `privilege` beside `data`]");
}

// The mapper of a program may ask for one layout now and for another one then. A variant has one.
TEST(Workload, OnlyDemandsOfVariantsContradictEachOther) {
  const auto made = [](DemandSource first, DemandSource second) {
    return fault([&](Application& a) {
      std::vector<LayoutDemand>& demands = a.tasks[1].variants[0].demands;
      LayoutDemand demand;
      demand.requirement = 1;
      demand.dimensions = DimensionOrder::kC;
      demand.source = first;
      demands.assign(2, demand);
      demands[1].dimensions = DimensionOrder::kFortran;
      demands[1].source = second;
    });
  };
  EXPECT_EQ(made(DemandSource::kMapper, DemandSource::kMapper), "");
  EXPECT_EQ(made(DemandSource::kVariant, DemandSource::kMapper), "");
  EXPECT_EQ(made(DemandSource::kVariant, DemandSource::kVariant),
            "/tasks/1/variants/0/demands/1: no layout has this and what demand 0 wants");
}

TEST(Workload, WhatLaunchesAreOn) {
  const std::string launch = "/tasks/0/body/0/body/0/body/0";
  const auto changed = [](const auto& change) {
    return fault([&](Application& a) { change(launch_of(a)); });
  };
  EXPECT_EQ(changed([](auto& l) { l.data.pop_back(); }),
            launch + "/data: 1 given, `work` has 2 requirements");
  EXPECT_EQ(changed([](auto& l) {
              l.data[1] = {"tiles", {"k", "a"}};
            }),
            launch + "/data/1/color/1: `a` is not known here");
  EXPECT_EQ(changed([](auto& l) {
              l.data[1] = {"blocks", {"i"}};
            }),
            launch + "/data/1: `r` has no field `z` [known are `x` and `y`]");
  EXPECT_EQ(changed([](auto& l) { l.data[1].color = {}; }),
            launch +
                "/data/1: a colour of `tiles` has 2 coordinates, a point of the launch 1 [give "
                "the `color` of requirement 1]");
  EXPECT_EQ(changed([](auto& l) {
              l.data[1].color = {"p", 0};
            }),
            launch + "/data/1/color: (4, 0) is not a colour of `tiles`, which has (4, 1)");
  EXPECT_EQ(changed([](auto& l) { l.domain = {"p + 1"}; }),
            launch + ": point (4) of the launch is not a colour of `blocks`, which has (4)");
  EXPECT_EQ(changed([](auto& l) { l.lower = {-1}; }),
            launch + ": point (-1) of the launch is not a colour of `blocks`, which has (4)");
  EXPECT_EQ(
      changed([](auto& l) { l.domain = {"1000000 * 1000000"}; }),
      launch + ": point (999999999999) of the launch is not a colour of `blocks`, which has (4)");
  EXPECT_EQ(changed([](auto& l) { l.domain = {"p * 0"}; }), "");
}

TEST(Workload, LaunchesOfMuchDataAreBounded) {
  Application app{.name = "a", .top_level = "main"};
  AppTask wide{.name = "wide", .variants = {AppVariant{}}};
  wide.requirements.resize(256);
  for (AppRequirement& each : wide.requirements) each.names.assign(16, std::string(1000, 'x'));
  AppTask main{.name = "main", .variants = {AppVariant{}}};
  main.body.assign(10'000, {AppLaunch{.task = "wide"}});
  app.tasks = {main, wide};
  const Result<Workload> made = Workload::make(app);
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(made.error().code, Error::Code::kTooLarge);
  EXPECT_TRUE(made.error().message.ends_with(": the launches up to here take too much memory"));
}

// ---- Pieces

std::string piece_text(const Application& app, const std::string& name, const Point& color) {
  const Workload workload = Workload::make(app).value();
  for (const Partition& partition : workload.data().partitions) {
    if (partition.name != name) continue;
    EXPECT_TRUE(partition.colors.contains(color));
    FormulaFault fault = FormulaFault::kNone;
    const Rect rect = bounds_of_piece(workload.data(), partition, color, fault);
    if (fault != FormulaFault::kNone) return std::string(words_of(fault));
    return fmt::format("{}+{}", fmt::join(rect.lower.coordinates(), ","),
                       fmt::join(rect.extents.coordinates(), ","));
  }
  return "none";
}

Application cut(std::vector<AppPartition> partitions, Formulas extents = {10}) {
  Application app{.name = "a"};
  app.regions = {{"r", {}, std::move(extents), {{"x", 1}}}};
  app.partitions = std::move(partitions);
  app.tasks = {{.name = "t", .variants = {AppVariant{}}}};
  return app;
}

TEST(Pieces, EqualBlocks) {
  const Application app = cut({{"b", {}, "r", {4}}});
  std::string all;
  for (std::int64_t c = 0; c < 4; ++c) all += piece_text(app, "b", {c}) + " ";
  EXPECT_EQ(all, "0+2 2+3 5+2 7+3 ");
  EXPECT_EQ(piece_text(cut({{"b", {}, "r", {4, 1}}}, {3, 7}), "b", {0, 0}), "0,0+0,7");
  const Application large = cut({{"b", {}, "r", {3}}}, {"9223372036854775807"});
  EXPECT_EQ(piece_text(large, "b", {2}), "6148914691236517204+3074457345618258603");
}

TEST(Pieces, Halos) {
  const Application app = cut({{"b", {}, "r", {4}, {}, {}, {}, {2}}});
  std::string all;
  for (std::int64_t c = 0; c < 4; ++c) all += piece_text(app, "b", {c}) + " ";
  EXPECT_EQ(all, "0+4 0+7 3+6 5+5 ");
  // Nothing grows to something, and the largest halo is the whole.
  EXPECT_EQ(piece_text(cut({{"b", {}, "r", {4}, {}, {}, {}, {1}}}, {3}), "b", {0}), "0+0");
  EXPECT_EQ(piece_text(cut({{"b", {}, "r", {1}, {}, {20}, {5}, {9}}}), "b", {0}), "10+0");
  const Application large =
      cut({{"b", {}, "r", {3}, {}, {}, {}, {"9223372036854775807"}}}, {"9223372036854775807"});
  EXPECT_EQ(piece_text(large, "b", {1}), "0+9223372036854775807");
}

TEST(Pieces, ByFormulasAndClipped) {
  const Application app = cut({{"b", {}, "r", {6}, {"c"}, {"3 * c - 2"}, {"c == 5 ? -4 : 4"}}});
  std::string all;
  for (std::int64_t c = 0; c < 6; ++c) all += piece_text(app, "b", {c}) + " ";
  EXPECT_EQ(all, "0+2 1+4 4+4 7+3 10+0 10+0 ");
  const Application faulty = cut({{"b", {}, "r", {2}, {"c"}, {"1 / c"}, {4}}});
  EXPECT_EQ(piece_text(faulty, "b", {0}), "it divides by zero");
  EXPECT_EQ(piece_text(faulty, "b", {1}), "1+4");
  const Application far =
      cut({{"b", {}, "r", {1}, {}, {"9223372036854775807"}, {"9223372036854775807"}}});
  EXPECT_EQ(piece_text(far, "b", {0}), "10+0");
}

TEST(Pieces, OfPieces) {
  const Application app = cut({{"inner", {}, "outer", {3, 1}, {}, {}, {}, {1, 0}},
                               {"outer", {}, "r", {2, 2}},
                               {"row", {}, "inner", {2}, {"k"}, {"k", 0}, {1, 100}}},
                              {10, 4});
  EXPECT_EQ(piece_text(app, "outer", {1, 0}), "5,0+5,2");
  EXPECT_EQ(piece_text(app, "inner", {1, 0, 1, 0}), "5,0+4,2");  // 6+2, and 1 on both sides
  EXPECT_EQ(piece_text(app, "inner", {1, 1, 0, 0}), "5,2+2,2");  // its outer piece ends there
  EXPECT_EQ(piece_text(app, "row", {1, 0, 1, 0, 1}), "6,0+1,2");
  const Workload workload = Workload::make(app).value();
  EXPECT_EQ(workload.data().partitions[2].names, (Names{"row", "inner", "outer", "r"}));
}

// ---- Pieces that are several boxes

// "0+2 5+1": the boxes of a piece of a region of one dimension.
std::string boxes_text(const Application& app, const std::string& name, const Point& color) {
  const Workload workload = Workload::make(app).value();
  for (const Partition& partition : workload.data().partitions) {
    if (partition.name != name) continue;
    FormulaFault fault = FormulaFault::kNone;
    std::string text;
    const BoxUnion piece = boxes_of_piece(workload.data(), partition, color, fault);
    for (const Rect& box : piece.boxes()) {
      text +=
          fmt::format("{}{}+{}", text.empty() ? "" : " ", fmt::join(box.lower.coordinates(), ","),
                      fmt::join(box.extents.coordinates(), ","));
    }
    return text;
  }
  return "none";
}

TEST(Boxes, AreOfEveryColourOrOfOne) {
  const Application app =
      cut({{.name = "b",
            .of = "r",
            .colors = {3},
            .index = {"c"},
            .boxes = {{{}, {"4 * c"}, {1}}, {{1}, {9}, {1}}, {{1}, {6}, {2}}}}});
  EXPECT_EQ(boxes_text(app, "b", {0}), "0+1");
  EXPECT_EQ(boxes_text(app, "b", {1}), "4+1 6+2 9+1");
  EXPECT_EQ(boxes_text(app, "b", {2}), "8+1");
  EXPECT_EQ(piece_text(app, "b", {1}), "4+6");  // the box around it
}

TEST(Boxes, AreClippedAndJoined) {
  const Application app =
      cut({{.name = "b",
            .of = "r",
            .colors = {2},
            .boxes = {{{0}, {-3}, {4}}, {{0}, {1}, {2}}, {{0}, {2}, {3}}, {{0}, {8}, {100}}}}});
  EXPECT_EQ(boxes_text(app, "b", {0}), "0+5 8+2");
  EXPECT_EQ(boxes_text(app, "b", {1}), "");  // no box: it is empty
  EXPECT_EQ(piece_text(app, "b", {1}), "0+0");
}

// The pieces of a partition that cuts pieces with holes have the same holes.
TEST(Boxes, OfPiecesWithHoles) {
  const Application app = cut(
      {{.name = "blocks", .of = "odd", .colors = {2}},
       {.name = "odd",
        .of = "r",
        .colors = {1},
        .boxes = {{{}, {1}, {1}}, {{}, {3}, {2}}, {{}, {6}, {3}}}},
       {.name = "wide", .of = "odd", .colors = {1}, .boxes = {{{}, {1}, {5}}, {{}, {7}, {1}}}}});
  EXPECT_EQ(boxes_text(app, "blocks", {0, 0}), "1+1 3+2");  // of the box around it: 1 to 8
  EXPECT_EQ(boxes_text(app, "blocks", {0, 1}), "6+3");
  EXPECT_EQ(boxes_text(app, "wide", {0, 0}), "3+2 6+1 8+1");
}

// "0:2 1:3": the cells of a piece, with the points of each.
std::string cells_text(const Data& data, const Partition& partition, std::size_t color) {
  std::string text;
  for (const std::uint32_t cell : partition.pieces[color].cells->cells) {
    text += fmt::format("{}{}:{}", text.empty() ? "" : " ", cell,
                        data.regions[partition.region].cell_points[cell]);
  }
  return text;
}

TEST(Boxes, CellsAreThePointsOfTheSamePieces) {
  // Of 10 points 0 1 5 are in a alone, 2 6 in a and b, 3 in b alone, the others in none.
  const Application app =
      cut({{.name = "a", .of = "r", .colors = {1}, .boxes = {{{}, {0}, {3}}, {{}, {5}, {2}}}},
           {.name = "b", .of = "r", .colors = {1}, .boxes = {{{}, {2}, {2}}, {{}, {6}, {1}}}}});
  const Workload workload = Workload::make(app).value();
  const Data& data = workload.data();
  EXPECT_EQ(data.regions[0].cell_points, (std::vector<std::int64_t>{3, 2, 1, 4}));
  EXPECT_EQ(cells_text(data, data.partitions[0], 0), "0:3 1:2");
  EXPECT_EQ(cells_text(data, data.partitions[1], 0), "1:2 2:1");
  EXPECT_EQ(data.partitions[1].pieces[0].cells->points, 3);
  EXPECT_EQ(data.regions[0].all_cells->points, 10);
}

// In two dimensions, with boxes that overlap, beside a partition into blocks; a region of boxes
// alone has no cells.
TEST(Boxes, CellsOfBoxesOfTwoDimensions) {
  Application app = cut({{.name = "cross",
                          .of = "r",
                          .colors = {1},
                          .boxes = {{{}, {1, 0}, {1, 3}}, {{}, {0, 1}, {3, 1}}}},
                         {.name = "rows", .of = "r", .colors = {3, 1}}},
                        {3, 3});
  app.regions.push_back({"s", {}, {4}, {{"x", 1}}});
  app.partitions.push_back({.name = "blocks", .of = "s", .colors = {2}});
  const Workload workload = Workload::make(app).value();
  const Data& data = workload.data();
  // Corners of the first row, its middle, the second row, corners of the third, its middle.
  EXPECT_EQ(data.regions[0].cell_points, (std::vector<std::int64_t>{2, 1, 3, 2, 1}));
  EXPECT_EQ(cells_text(data, data.partitions[0], 0), "1:1 2:3 4:1");
  EXPECT_EQ(cells_text(data, data.partitions[1], 2), "3:2 4:1");
  EXPECT_TRUE(data.partitions[2].pieces.empty());
  EXPECT_EQ(data.regions[1].all_cells, nullptr);
}

TEST(Boxes, WhatIsWrongIsSaid) {
  const auto fault = [](AppPartition partition, Formulas extents = {10}) {
    const auto made = Workload::make(cut({std::move(partition)}, std::move(extents)));
    return made.ok() ? std::string("none") : made.error().message;
  };
  EXPECT_EQ(fault({.name = "b",
                   .of = "r",
                   .colors = {2},
                   .lower = {0},
                   .extents = {1},
                   .boxes = {{{}, {0}, {1}}}}),
            "/partitions/0/boxes: `boxes` stand beside `lower`, `extents` or `halo`");
  EXPECT_EQ(
      fault({.name = "b", .of = "r", .colors = {2}, .boxes = {{{}, {0}, {1}}, {{}, {0, 1}, {1}}}}),
      "/partitions/0/boxes/1/lower: 2 given, `r` has 1 dimensions");
  EXPECT_EQ(fault({.name = "b", .of = "r", .colors = {2}, .boxes = {{{2}, {0}, {1}}}}),
            "/partitions/0/boxes/0/color/0: 2 is not a colour; 0 to 1 are");
  EXPECT_EQ(fault({.name = "b", .of = "r", .colors = {2, 2}, .boxes = {{{1}, {0}, {1}}}}),
            "/partitions/0/boxes/0/color: 1 coordinates, a colour has 2");
  EXPECT_EQ(
      fault({.name = "b", .of = "r", .colors = {2}, .index = {"c"}, .boxes = {{{"c"}, {0}, {1}}}}),
      "/partitions/0/boxes/0/color/0: the colour of a box is a number");
  EXPECT_EQ(
      fault(
          {.name = "b", .of = "r", .colors = {2}, .index = {"c"}, .boxes = {{{}, {"1 / c"}, {1}}}}),
      "/partitions/0: the piece (0): it divides by zero");
  EXPECT_EQ(fault({.name = "b", .of = "r", .colors = {200'000}, .boxes = {{{}, {0}, {1}}}}),
            "/partitions/0: with the pieces of `r` there are more than 131072 boxes");
  // 60,000 pieces of everything, of a region that is cut into as many parts.
  AppPartition all{.name = "all", .of = "r", .colors = {60'000}, .boxes = {{{}, {0}, {60'000}}}};
  AppPartition points{.name = "points", .of = "r", .colors = {1}};
  for (int i = 0; i < 30'000; ++i) points.boxes.push_back({{}, {2 * i}, {1}});
  const auto made = Workload::make(cut({all, points}, {60'000}));
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(made.error().code, Error::Code::kTooLarge);
  EXPECT_EQ(made.error().message,
            "/partitions/0: with the pieces of `r` there are more than 16777216 parts to compare");
}

// 20,000 boxes that all meet, and a piece of as many that is cut from them: each of these with each
// of those would be 400 million boxes.
TEST(Boxes, ThatAllMeetEndSoon) {
  AppPartition outer{.name = "outer", .of = "r", .colors = {1}};
  AppPartition inner{.name = "inner", .of = "outer", .colors = {1}};
  for (int i = 0; i < 20'000; ++i) {
    outer.boxes.push_back({{}, {0, i}, {100'000 - i, 100'000 - i}});
    inner.boxes.push_back({{}, {0, i}, {100'000 - i, 100'000 - i}});
  }
  const auto made = Workload::make(cut({outer, inner}, {100'000, 100'000}));
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(made.error().code, Error::Code::kTooLarge);
  EXPECT_THAT(made.error().message, ::testing::HasSubstr("there are more than 131072 boxes"));
}

// Reading is stopped within the pieces, too.
TEST(Boxes, AreReadUntilToldToStop) {
  AppPartition many{.name = "many", .of = "r", .colors = {50'000}, .index = {"c"}};
  for (int i = 0; i < 100; ++i) many.boxes.push_back({{}, {"c * c % 7 * 3 + c"}, {0}});
  const auto made = Workload::make(cut({many}, {60'000}), {}, [] { return true; });
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(made.error().code, Error::Code::kStopped);
}

}  // namespace
}  // namespace groma::app
