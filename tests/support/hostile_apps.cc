#include "support/hostile_apps.h"

#include <utility>

#include "groma/app_builder.h"

namespace groma::testing {
namespace {

AppBuilder named(const char* name) { return AppBuilder(name); }

Application finished(AppBuilder app, std::vector<AppStatement> body) {
  app.task("main").variant(cpu().inner());
  app.body(std::move(body));
  return app.top_level("main").done();
}

// Every task reads half of each region, and a region has thousands of parts.
Application wide_halos() {
  AppBuilder app = named("wide_halos");
  for (const std::string r : {"a", "b", "c", "d"}) {
    app.region(r, {409'600}).field("v", 8).partition(r + "_tiles", {4'096});
    app.partition(r + "_ghosts", {4'096}).halo({100'000});
  }
  app.task("write").variant(cpu().leaf()).variant(gpu().leaf());
  for (const std::string r : {"a", "b", "c", "d"}) app.discards(r + "_tiles");
  app.task("read").variant(cpu().leaf()).variant(gpu().leaf());
  for (const std::string r : {"a", "b", "c", "d"}) app.reads(r + "_ghosts");
  return finished(app, {loop(100, {launch("write").over({4'096}), launch("read").over({4'096})})});
}

Application halos_in_two_dimensions() {
  AppBuilder app = named("halos_in_two_dimensions");
  app.region("r", {2'048, 2'048}).field("v", 8).partition("tiles", {64, 64});
  app.partition("ghosts", {64, 64}).halo({900, 900});
  app.task("write").variant(cpu().leaf()).variant(gpu().leaf()).discards("tiles");
  app.task("read").variant(cpu().leaf()).variant(gpu().leaf()).reads("ghosts");
  return finished(app,
                  {loop(100, {launch("write").over({64, 64}), launch("read").over({64, 64})})});
}

// Each cell of the middle gets as many instances as there are pieces.
Application nested_pieces() {
  AppBuilder app = named("nested_pieces");
  app.region("r", {1'000'000}).field("v", 8);
  app.pieces("p", {65'536}, {"i"}, {"i"}, {"1000000 - 2 * i"});
  app.task("add").variant(cpu().leaf()).variant(gpu().leaf()).reduces("p");
  app.task("read").variant(cpu().leaf()).variant(gpu().leaf()).reads("p");
  return finished(app, {launch("add").over({65'536}), launch("read").over({65'536})});
}

Application partitions_of_partitions() {
  AppBuilder app = named("partitions_of_partitions");
  app.region("r", {10'000'000}).field("v", 8).partition("p0", {8});
  Application made = app.done();
  AppPartition inner = made.partitions.back();
  for (int i = 1; i < 7; ++i) {
    inner.of = inner.name;
    inner.name = "p" + std::to_string(i);
    inner.halo = {10'000};
    made.partitions.push_back(inner);
  }
  AppTask read;
  read.name = "read";
  read.variants = {cpu().leaf(), gpu().leaf()};
  read.requirements = {
      {.privilege = Privilege::kReadOnly, .fields = {{"v", 8}}, .data = {.of = "p6"}}};
  AppTask main;
  main.name = "main";
  main.variants = {cpu().inner()};
  main.body = {launch("read").over({8, 8, 8, 8, 8, 8, 8})};
  made.tasks = {main, read};
  made.top_level = "main";
  return made;
}

// Fields that are used one by one, of a region in many parts.
Application many_fields() {
  AppBuilder app = named("many_fields");
  std::vector<std::string> fields;
  for (int i = 0; i < 63; ++i) fields.push_back("f" + std::to_string(i));
  app.region("r", {1 << 20}).fields(fields, 8).partition("p", {1 << 17});
  std::vector<AppStatement> body;
  for (const std::string& field : fields) {
    app.task("read_" + field).variant(cpu().leaf()).variant(gpu().leaf()).reads("r", {field});
    body.push_back(launch("read_" + field));
  }
  app.task("write").variant(cpu().leaf()).variant(gpu().leaf()).discards("p");
  body.push_back(launch("write").over({1 << 17}));
  return finished(app, {loop(10, body)});
}

Application loops_in_loops() {
  AppBuilder app = named("loops_in_loops");
  app.task("t").variant(cpu().leaf());
  std::vector<AppStatement> body = {launch("t"), launch("t").over({0})};
  for (int i = 0; i < 20; ++i) body = {loop(1'000, body, "i" + std::to_string(i))};
  return finished(app, body);
}

Application one_large_launch() {
  AppBuilder app = named("one_large_launch");
  app.region("r", {1'000'000}).field("v", 8).partition("p", {1'000'000});
  app.task("t").variant(cpu().leaf()).variant(gpu().leaf()).writes("p");
  return finished(app, {loop(1'000, {launch("t").over({1'000'000})})});
}

// All points wait for a limit, and are shown to the mapper each time that one may go on.
HostileApp limited_launch() {
  AppBuilder app = named("limited_launch");
  app.region("r", {100}).field("v", 8);
  app.task("t").variant(cpu().leaf()).variant(gpu().leaf());
  for (int i = 0; i < 20; ++i) app.reads("r");
  return {finished(app, {launch("t").over({500'000})}), "Task * GPU, CPU;\nInstanceLimit t 1;\n"};
}

HostileApp stealable_launch() {
  AppBuilder app = named("stealable_launch");
  app.task("t").variant(cpu().leaf()).variant(gpu().leaf());
  return {finished(app, {launch("t").over({500'000})}),
          "Task * CPU;\nInstanceLimit t 1;\nTaskSteal t CPU ANY_NODE;\n"};
}

// One writer that waits for all that read before it, again and again.
Application readers_and_a_writer() {
  AppBuilder app = named("readers_and_a_writer");
  app.region("r", {100'000}).field("v", 8).partition("p", {1'000});
  app.task("read").variant(cpu().leaf()).variant(gpu().leaf()).reads("r");
  app.task("write").variant(cpu().leaf()).variant(gpu().leaf()).writes("r");
  return finished(app, {loop(10'000, {launch("read").over({100'000}), launch("write")})});
}

Application millions_of_parts() {
  AppBuilder app = named("millions_of_parts");
  app.region("r", {16'000'000}).field("v", 8).partition("p", {3'000'000});
  app.task("read").variant(cpu().leaf()).variant(gpu().leaf()).reads("r");
  app.task("write").variant(cpu().leaf()).variant(gpu().leaf()).writes("r");
  return finished(app, {loop(1'000, {launch("read").over({1'000}), launch("write")})});
}

// Rows and columns: as many parts as one has times as many as the other.
Application rows_and_columns() {
  AppBuilder app = named("rows_and_columns");
  app.region("r", {100'000, 100'000}).field("v", 1).partition("rows", {4'000, 1});
  app.partition("columns", {1, 4'000});
  app.task("by_row").variant(cpu().leaf()).variant(gpu().leaf()).writes("rows");
  app.task("by_column").variant(cpu().leaf()).variant(gpu().leaf()).writes("columns");
  return finished(
      app,
      {loop(1'000, {launch("by_row").over({4'000, 1}), launch("by_column").over({1, 4'000})})});
}

Application many_requirements() {
  AppBuilder app = named("many_requirements");
  app.region("r", {100'000}).field("v", 8).partition("p", {1'000}).halo({50'000});
  app.task("t").variant(cpu().leaf()).variant(gpu().leaf());
  for (int i = 0; i < 250; ++i) app.reads("p");
  return finished(app, {loop(100, {launch("t").over({1'000})})});
}

// Each launch has pairs of requirements that might be in each other's way.
Application many_pairs() {
  AppBuilder app = named("many_pairs");
  app.region("r", {100'000}).field("v", 8);
  app.pieces("p", {100'000}, {"i"}, {"i"}, {"i == 0 ? 1 : 0"});
  app.task("t").variant(cpu().leaf()).variant(gpu().leaf());
  for (int i = 0; i < 250; ++i) app.writes("p");
  AppLaunch behind;  // of points whose pieces are empty
  behind.task = "t";
  behind.domain = {99'999};
  behind.lower = {1};
  std::vector<AppStatement> body(1'000, AppStatement{behind});
  return finished(app, {loop(100, body)});
}

Application pieces_by_long_formulas() {
  std::string sum = "i";
  while (sum.size() < 4'000) sum += " + i * i % 7";
  AppBuilder app = named("pieces_by_long_formulas");
  app.region("r", {4'000'000}).field("v", 8);
  app.pieces("p", {2'000'000}, {"i"}, {sum}, {1});
  app.task("t").variant(cpu().leaf()).variant(gpu().leaf()).reads("p");
  return finished(app, {launch("t").over({2})});
}

Application tasks_that_launch() {
  AppBuilder app = named("tasks_that_launch");
  app.task("t", {"depth"}).variant(cpu()).variant(gpu());
  app.body({loop("depth > 0 ? 1 : 0", {launch("t").over({64}).with({"depth - 1"})})});
  return finished(app, {launch("t").with({20})});
}

// A launch that waits for many futures, point by point.
Application many_futures() {
  AppBuilder app = named("many_futures");
  app.task("t").variant(cpu().leaf()).variant(gpu().leaf());
  std::vector<AppStatement> body;
  LaunchBuilder last = launch("t").over({100'000});
  for (int i = 0; i < 200; ++i) {
    const std::string future = "f" + std::to_string(i);
    body.push_back(launch("t").over({1'000}).gives(future));
    last.takes(future);
  }
  body.push_back(last);
  return finished(app, {loop(1'000, body)});
}

// Points of a launch write the same data, in so many parts that a check ends within one point.
Application points_in_conflict() {
  AppBuilder app = named("points_in_conflict");
  app.region("r", {4'000, 4'000}).field("v", 8);
  app.pieces("p", {1'000}, {"i"}, {"i * i % 2003", "i * i * i % 2003"},
             {"i % 1999 + 1", "i * 31 % 1999 + 1"});
  app.task("w").variant(cpu().leaf()).writes("p");
  return finished(app, {launch("w").over({1'000})});
}

// Phases that are over at once, of a long name.
Application many_phases() {
  AppBuilder app = named("many_phases");
  app.task("t").variant(cpu().leaf());
  const AppStatement empty = phase(std::string(1'000, 'x'), {});
  return finished(app, {loop(1'000, {loop(1'000'000, {empty})}), launch("t").over({500'000})});
}

// Launches over boxes of a million points, of which a condition selects none.
Application conditions_that_never_hold() {
  AppBuilder app = named("conditions_that_never_hold");
  app.task("t").variant(cpu().leaf());
  const AppStatement work = launch("t").over({1'024, 1'024}, {"i", "j"}).where("i + j + k < 0");
  return finished(app, {loop(std::int64_t{1} << 40, {work}, "k")});
}

// Conditions that take long for each point of a launch.
Application conditions_by_long_formulas() {
  AppBuilder app = named("conditions_by_long_formulas");
  app.task("t").variant(cpu().leaf());
  std::string sum = "k";
  while (sum.size() < 4'000) sum += " + i * j";
  const AppStatement work = launch("t").over({1'024, 1'024}, {"i", "j"}).where(sum + " == 7");
  return finished(app, {loop(1'000'000, {work}, "k")});
}

// A condition that divides by zero at the last point.
Application condition_without_a_value() {
  AppBuilder app = named("condition_without_a_value");
  app.task("t").variant(cpu().leaf());
  return finished(app, {launch("t").over({1'024, 1'024}, {"i", "j"}).where("1 / (2046 - i - j)")});
}

}  // namespace

std::vector<HostileApp> hostile_apps() {
  return {{wide_halos()},
          {halos_in_two_dimensions()},
          {nested_pieces()},
          {partitions_of_partitions()},
          {many_fields()},
          {loops_in_loops()},
          {one_large_launch()},
          limited_launch(),
          stealable_launch(),
          {readers_and_a_writer()},
          {millions_of_parts()},
          {rows_and_columns()},
          {many_requirements()},
          {many_pairs()},
          {pieces_by_long_formulas()},
          {tasks_that_launch()},
          {many_futures()},
          {points_in_conflict()},
          {many_phases()},
          {conditions_that_never_hold()},
          {conditions_by_long_formulas()},
          {condition_without_a_value()}};
}

}  // namespace groma::testing
