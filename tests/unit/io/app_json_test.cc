// Applications from JSON: what a file may leave out, texts that are wrong, the examples of docs/.
#include <gtest/gtest.h>

#include <sstream>
#include <string>

#include "groma/app.h"
#include "groma/io.h"
#include "support/files.h"

namespace groma {
namespace {

Application read(std::string_view text) {
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

// Of one task, whose members are `task`.
std::string task_refusal(const std::string& task) {
  return refusal(R"({"tasks": [{"name": "t", "variants": [{"kind": "CPU"}], )" + task + "}]}");
}

TEST(AppJson, WhatIsLeftOut) {
  const Application app = read(
      R"({"tasks": [{"name": "t", "variants": [{"kind": "GPU"}],
                     "requirements": [{"privilege": "read-only"}, {"privilege": "reduce", "fields": []}],
                     "launches": [{}, {"domain": [4, 2]}]}]})");
  EXPECT_EQ(app.name, "a.json");
  EXPECT_EQ(app.top_level, "");
  const AppTask& task = app.tasks.at(0);
  EXPECT_EQ(task.variants, std::vector{AppVariant{.kind = ProcKind::kGpu}});
  EXPECT_EQ(task.requirements[0].fields, std::vector{AppField{}});
  EXPECT_EQ(task.requirements[0].coherence, Coherence::kExclusive);
  EXPECT_TRUE(task.requirements[1].fields.empty());
  EXPECT_FALSE(task.launches[0].domain.has_value());
  EXPECT_EQ(task.launches[1].domain->lower, (Point{0, 0}));
  EXPECT_EQ(task.launches[1].domain->extents, (Point{4, 2}));
}

TEST(AppJson, EverythingSaid) {
  const Application app = read(
      R"({"name": "n", "description": "d", "top_level": "main", "tasks": [
        {"name": "main", "variants": [{"kind": "CPU", "inner": true, "replicable": true}]},
        {"name": "t", "variants": [{"kind": "OMP", "leaf": true, "demands": [
            {"requirement": 0, "dimension_order": "C_order", "field_order": "AOS",
             "memory": "SOCKMEM", "exact": true, "align": {"operator": ">=", "bytes": 64}}]}],
         "requirements": [{"names": ["r", "p"], "privilege": "write-discard",
                           "coherence": "atomic", "dimensions": 3,
                           "fields": [{"name": "x", "bytes": 4}]}],
         "launches": [{"domain": [3], "lower": [-1], "parent": "main"}]}]})");
  EXPECT_EQ(app.top_level, "main");
  EXPECT_TRUE(app.tasks[0].variants[0].inner && app.tasks[0].variants[0].replicable);
  const AppTask& task = *app.find("t");
  const LayoutDemand demand{
      0, DimensionOrder::kC, FieldOrder::kAos, MemKind::kSockmem, true, AlignOp::kGe, 64};
  EXPECT_EQ(task.variants[0].demands, std::vector{demand});
  const AppRequirement requirement{
      {"r", "p"}, Privilege::kWriteDiscard, Coherence::kAtomic, 3, {{"x", 4}}};
  EXPECT_EQ(task.requirements, std::vector{requirement});
  EXPECT_EQ(task.launches[0].domain->lower, Point{-1});
  EXPECT_EQ(depth_of(app, app.tasks[0], {}), 0);
  EXPECT_EQ(depth_of(app, task, task.launches[0]), 1);
  EXPECT_EQ(depth_of(app, task, {}), 1);
  EXPECT_EQ(depth_of(app, task, {std::nullopt, "t"}), 2);
  EXPECT_EQ(app.find("u"), nullptr);
}

TEST(AppJson, WrongTextsAreNamedByPlace) {
  EXPECT_EQ(refusal("{\n \"tasks\": [,]}").substr(0, 26), "line 2, column 12: no JSON");
  EXPECT_EQ(refusal("[]"), "an array stands where an object is due");
  EXPECT_EQ(refusal("{}"), "`tasks` is missing");
  EXPECT_EQ(refusal(R"({"tasks": []})"), "/tasks: an application has at least one task");
  EXPECT_EQ(refusal(R"({"task": []})"), "no such key: `task` [did you mean `tasks`?]");
  EXPECT_EQ(refusal(R"({"tasks": [{"name": "t"}]})"), "/tasks/0: `variants` is missing");
  EXPECT_EQ(refusal(R"({"tasks": [{"name": "t", "variants": []}]})"),
            "/tasks/0/variants: a task has at least one variant");
  EXPECT_EQ(refusal(R"({"tasks": [{"name": "", "variants": [{"kind": "GPU"}]}]})"),
            "/tasks/0/name: a name is empty");
  EXPECT_EQ(refusal(R"({"tasks": [{"name": "t", "variants": [{"kind": "GPUS"}]}]})"),
            "/tasks/0/variants/0/kind: `GPUS` is no processor kind [did you mean `GPU`?]");
  EXPECT_EQ(refusal(R"({"tasks": [{"name": "t", "variants": [{"kind": "GPU"}]},
                             {"name": "t", "variants": [{"kind": "GPU"}]}]})"),
            "/tasks/1/name: task 0 has this name already");
  EXPECT_EQ(refusal(R"({"top_level": "mian", "tasks": [{"name": "main", "variants":
                        [{"kind": "CPU"}]}]})"),
            "/top_level: no task has this name [did you mean `main`?]");
}

TEST(AppJson, WrongTasksAreNamedByPlace) {
  EXPECT_EQ(task_refusal(R"("launches": [{"domain": [4], "lower": [0, 0]}])"),
            "/tasks/0/launches/0/lower: it has 2 coordinates, the domain 1");
  EXPECT_EQ(task_refusal(R"("launches": [{"lower": [0]}])"),
            "/tasks/0/launches/0/lower: a launch without a `domain` is a single task");
  EXPECT_EQ(task_refusal(R"("launches": [{"domain": []}])"),
            "/tasks/0/launches/0/domain: an index launch has at least one dimension");
  EXPECT_EQ(task_refusal(R"("launches": [{"domain": [1,1,1,1,1,1,1,1,1,1]}])"),
            "/tasks/0/launches/0/domain: it has 10 items, at most 9 may be");
  EXPECT_EQ(task_refusal(R"("launches": [{"domain": [-1]}])"),
            "/tasks/0/launches/0/domain: an extent is negative, or there are more than 2^63-1 "
            "points");
  EXPECT_EQ(task_refusal(R"("launches": [{"parent": "s"}])"),
            "/tasks/0/launches/0/parent: no task has this name");
  EXPECT_EQ(task_refusal(R"("requirements": [{"names": ["r"]}])"),
            "/tasks/0/requirements/0: `privilege` is missing");
  EXPECT_EQ(task_refusal(R"("requirements": [{"privilege": "reduce", "dimensions": 10}])"),
            "/tasks/0/requirements/0/dimensions: 10 is no number of dimensions (1 to 9)");
  EXPECT_EQ(task_refusal(R"("requirements": [{"privilege": "reduce", "fields": [{"bytes": 0}]}])"),
            "/tasks/0/requirements/0/fields/0/bytes: 0 is no size of a field (1 to "
            "1099511627776)");
  EXPECT_EQ(task_refusal(R"("requirements": [{"privilege": "reduce", "names": ["r", ""]}])"),
            "/tasks/0/requirements/0/names/1: a name is empty");
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
            "/tasks/0/variants/0/demands/0/align: 3 is no power of two");
  EXPECT_EQ(variant(R"("demands": [{"requirement": 0, "memory": "VIRTUAL"}])"),
            "/tasks/0/variants/0/demands/0/memory: `VIRTUAL` is no memory");
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

TEST(AppJson, TheManualsExampleIsOne) {
  std::istringstream lines(testing::read_text(testing::in_tree("docs/applications.md")));
  std::string block;
  bool inside = false;
  int blocks = 0;
  for (std::string line; std::getline(lines, line);) {
    if (inside && line == "```") {
      read(block);
      ++blocks;
      block.clear();
    }
    if (line.starts_with("```")) {
      inside = line == "```json";
    } else if (inside) {
      block += line + "\n";
    }
  }
  EXPECT_GT(blocks, 0);
}

}  // namespace
}  // namespace groma
