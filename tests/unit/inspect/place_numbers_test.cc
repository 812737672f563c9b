// place_numbers() beside place(): the same processors, decisions and errors for boxes, parts of
// boxes and functions of every kind.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "groma/inspect.h"

namespace groma {
namespace {

constexpr const char* kProgram = R"(
m = Machine(GPU);
c = Machine(CPU);
def block(Task task) { flat = m.merge(0, 1); return flat[task.ipoint[0] * flat.size[0] / task.ispace[0]]; }
def cyclic(Task task) { return m[task.ipoint[0] % m.size[0], task.ipoint[1] % m.size[1]]; }
def ranked(Task task) { flat = m.merge(0, 1); return flat[task.irank * flat.size[0] / task.ivolume]; }
def sets(Task task) { return m[task.ipoint[0] % m.size[0], *]; }
def fails(Task task) { return m[task.ipoint[0], 0]; }
def mixed(Task task) { return task.ipoint[0] == 0 ? m[0, 0] : c[0, 0]; }
Task work GPU;
IndexTaskMap work block;
)";

// The number of a processor among all processors of its kind.
std::int32_t number_of(const Machine& machine, const Processor& processor) {
  std::int64_t number = processor.index;
  for (std::int64_t node = 0; node < processor.node; ++node) {
    number += machine.processor_count(node, processor.kind);
  }
  return static_cast<std::int32_t>(number);
}

struct PlaceNumbers : ::testing::Test {
  Source source{"a.mapper", kProgram};

  BoundProgram bound(const char* machine) {
    Diagnostics diags(source);
    auto made = bind(compile(source, diags), make_machine(machine).value(), diags);
    EXPECT_TRUE(made.has_value()) << render(diags);
    return *made;
  }

  // Expects that both functions answer alike.
  void compare(const BoundProgram& program, const PlaceQuery& query) {
    Diagnostics plain_diags(source), diags(source);
    const auto plain = place(program, query, plain_diags);
    const auto numbered = place_numbers(program, query, diags);
    ASSERT_EQ(plain.has_value(), numbered.has_value()) << render(plain_diags) << render(diags);
    EXPECT_EQ(render(plain_diags), render(diags));
    if (!plain) return;
    std::vector<std::int32_t> expected;
    for (const Processor& each : plain->points) {
      expected.push_back(number_of(program.machine(), each));
    }
    EXPECT_EQ(numbered->points, expected);
    EXPECT_EQ(numbered->kind, plain->kind);
    EXPECT_EQ(numbered->function_name, plain->function_name);
    EXPECT_EQ(numbered->decided_by, plain->decided_by);
    EXPECT_EQ(numbered->has_sets, !plain->sets.empty());
  }
};

PlaceQuery query_of(const std::string& function, const LaunchDomain& domain) {
  PlaceQuery query;
  query.function = function;
  query.domain = domain;
  return query;
}

TEST_F(PlaceNumbers, AgreesWithPlaceOnBoxes) {
  const BoundProgram program = bound("nodes=3,gpu=2,cpu=2");
  for (const Rect& box : {Rect{{0, 0}, {7, 5}}, Rect{{2, 1}, {6, 3}}, Rect{{0, 0}, {1, 1}}}) {
    for (const char* function : {"block", "cyclic", "ranked", "sets", "fails", "missing"}) {
      SCOPED_TRACE(function);
      compare(program, query_of(function, box));
    }
  }
  PlaceQuery query;
  query.task = "work";
  query.domain = Rect{{0}, {12}};
  compare(program, query);
  query.task = "other";
  compare(program, query);
  compare(program, query_of("block", Rect{{0}, {0}}));
}

TEST_F(PlaceNumbers, AgreesWithPlaceOnPartsOfBoxes) {
  const Rect box{{0, 0}, {8, 8}};
  const auto triangle =
      PointSet::from_predicate(box, [](const Point& p) { return p[0] >= p[1] && p[1] != 3; });
  ASSERT_TRUE(triangle.ok());
  const BoundProgram program = bound("nodes=2,gpu=3");
  for (const char* function : {"block", "cyclic", "ranked", "sets"}) {
    SCOPED_TRACE(function);
    compare(program, query_of(function, LaunchDomain(box, *triangle)));
  }
}

// More points than place() accepts, and more than are computed at once.
TEST_F(PlaceNumbers, PlacesLargeLaunches) {
  const BoundProgram program = bound("nodes=2,gpu=2");
  Diagnostics diags(source);
  const std::int64_t rows = 3000, columns = 1000;
  const auto placed =
      place_numbers(program, query_of("block", Rect{{0, 0}, {rows, columns}}), diags);
  ASSERT_TRUE(placed.has_value()) << render(diags);
  ASSERT_EQ(placed->points.size(), static_cast<std::size_t>(rows * columns));
  for (std::int64_t row = 0; row < rows; row += 7) {
    EXPECT_EQ(placed->points[static_cast<std::size_t>(row * columns + 999)], row * 4 / rows);
  }
}

TEST_F(PlaceNumbers, RefusesLaunchesThatAreTooLarge) {
  Diagnostics diags(source);
  const Rect box{{0}, {kMaxNumberedPoints + 1}};
  EXPECT_FALSE(place_numbers(bound("nodes=1,gpu=1"), query_of("block", box), diags));
  EXPECT_EQ(diags.all().front().id, DiagId::kDomainTooLarge);
}

// A number would not say of which kind its processor is.
TEST_F(PlaceNumbers, RefusesProcessorsOfSeveralKinds) {
  Diagnostics diags(source);
  EXPECT_FALSE(
      place_numbers(bound("nodes=1,gpu=1,cpu=1"), query_of("mixed", Rect{{0}, {3}}), diags));
  EXPECT_EQ(diags.all().front().id, DiagId::kProcessorKindMismatch);
}

TEST_F(PlaceNumbers, StopsWhenItsCallerSaysSo) {
  Diagnostics diags(source);
  int calls = 0;
  const auto stop = [&](std::int64_t, std::int64_t) { return ++calls < 2; };
  EXPECT_FALSE(
      place_numbers(bound("nodes=1,gpu=1"), query_of("block", Rect{{0}, {1 << 24}}), diags, stop));
  EXPECT_EQ(calls, 2);
  EXPECT_TRUE(diags.all().empty());
}

}  // namespace
}  // namespace groma
