// Variants with layout constraints of their own, in a real Legion: what Layout leaves open they
// get, what no Layout can say they get too, and what contradicts ends with our message
// (refused.cc).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "groma/legion.h"
#include "groma/program.h"
#include "legion/layouts.h"
#include "legion/map_by.h"
#include "legion/start.h"

namespace groma::legion_test {
namespace {

using Legion::Context;
using Legion::LogicalRegion;
using Legion::PhysicalRegion;
using Legion::RegionRequirement;

constexpr Legion::FieldID kFirst = 10;
constexpr Legion::FieldID kSecond = 11;
constexpr Legion::MapperID kProgram = 1;

constexpr Legion::coord_t kWidth = 8, kHeight = 16;

// Bytes from the first element: to the next in x, in y, to the other field. And its address.
struct Seen {
  std::int64_t x = 0, y = 0, field = 0, address = 0;
  std::size_t instances = 0;
  std::int64_t scratch = 0;  // elements of padding around
};

Seen look(const Legion::Task*, const std::vector<PhysicalRegion>& regions, Context,
          Legion::Runtime*) {
  using Accessor = Legion::FieldAccessor<LEGION_READ_ONLY, double, 2, Legion::coord_t,
                                         Realm::AffineAccessor<double, 2, Legion::coord_t>>;
  const Accessor first(regions[0], kFirst);
  const Accessor second(regions[0], kSecond);
  const auto at = [](const double* p) {
    return static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(p));
  };
  Seen seen;
  seen.address = at(first.ptr({0, 0}));
  seen.x = at(first.ptr({1, 0})) - seen.address;
  seen.y = at(first.ptr({0, 1})) - seen.address;
  seen.field = at(second.ptr({0, 0})) - seen.address;
  return seen;
}

using Set = Legion::LayoutConstraintSet;

struct Case {
  Legion::TaskID id;
  const char* name;
  std::vector<Set> demands;
};

Set with_order(std::vector<Legion::DimensionKind> order) {
  Set set;
  set.add_constraint(Legion::OrderingConstraint(std::move(order), false));
  return set;
}

std::vector<Case> cases() {
  std::vector<Case> all = {{1, "free", {}},
                           {2, "aligned_by_statement", {}},
                           {3, "never", {}},
                           {4, "aligned", {Set()}},
                           {5, "exact", {Set()}},
                           {6, "hybrid", {with_order({LEGION_DIM_X, LEGION_DIM_F, LEGION_DIM_Y})}},
                           {7, "partial", {with_order({LEGION_DIM_Y, LEGION_DIM_X})}},
                           {8, "each_field", {Set(), Set()}},
                           {9, "offset", {Set()}}};
  for (Legion::FieldID field : {kFirst, kSecond}) {
    all[3].demands[0].add_constraint(Legion::AlignmentConstraint(field, LEGION_EQ_EK, 256));
  }
  all[4].demands[0].add_constraint(
      Legion::SpecializedConstraint(LEGION_AFFINE_SPECIALIZE, 0, false, true));
  const auto x_first = Legion::OrderingConstraint({LEGION_DIM_X, LEGION_DIM_Y}, false);
  all[7]
      .demands[0]
      .add_constraint(Legion::FieldConstraint(std::vector{kFirst}, false))
      .add_constraint(x_first);
  all[7]
      .demands[1]
      .add_constraint(Legion::FieldConstraint(std::vector{kSecond}, false))
      .add_constraint(x_first);
  all[8].demands[0].add_constraint(Legion::OffsetConstraint(kSecond, 4096));
  return all;
}

// Bytes from the first element of its first region to that of its second one.
std::int64_t look_at_two(const Legion::Task*, const std::vector<PhysicalRegion>& regions, Context,
                         Legion::Runtime*) {
  using Accessor = Legion::FieldAccessor<LEGION_READ_ONLY, double, 2, Legion::coord_t,
                                         Realm::AffineAccessor<double, 2, Legion::coord_t>>;
  const Accessor first(regions[0], kFirst), second(regions[1], kFirst);
  return reinterpret_cast<const char*>(second.ptr({kWidth / 2, 0})) -
         reinterpret_cast<const char*>(first.ptr({0, 0}));
}

constexpr Legion::TaskID kTogether = 20;

const BeforeStart kSetUp([] {
  Legion::TaskVariantRegistrar together(kTogether, "together");
  together.add_constraint(Legion::ProcessorConstraint(Legion::Processor::LOC_PROC));
  together.set_leaf(true);
  together.execution_constraints.add_constraint(Legion::ColocationConstraint(0, 1));
  Legion::Runtime::preregister_task_variant<std::int64_t, look_at_two>(together, "together");
  for (Case& one : *new std::vector<Case>(cases())) {
    Legion::TaskVariantRegistrar registrar(one.id, one.name);
    registrar.add_constraint(Legion::ProcessorConstraint(Legion::Processor::LOC_PROC));
    registrar.set_leaf(true);
    for (const Set& set : one.demands) {
      Legion::LayoutConstraintRegistrar layout;
      layout.layout_constraints = set;
      registrar.add_layout_constraint_set(0, Legion::Runtime::preregister_layout(layout));
    }
    Legion::Runtime::preregister_task_variant<Seen, look>(registrar, one.name);
  }
  map_by(GROMA_SOURCE_DIR "/tests/legion/demands.mapper", kProgram);
});

// A new region, so that no earlier instance fits.
LogicalRegion make_whole() {
  const auto space =
      runtime()->create_index_space(context(), Legion::Rect<2>({0, 0}, {kWidth - 1, kHeight - 1}));
  const auto fields = runtime()->create_field_space(context());
  auto allocator = runtime()->create_field_allocator(context(), fields);
  for (Legion::FieldID field : {kFirst, kSecond}) allocator.allocate_field(sizeof(double), field);
  const auto whole = runtime()->create_logical_region(context(), space, fields);
  for (Legion::FieldID field : {kFirst, kSecond}) {
    runtime()->fill_field<double>(context(), whole, whole, field, 1.0);
  }
  return whole;
}

// The two halves of a region, cut in x.
Legion::LogicalPartition halves_of(LogicalRegion whole) {
  const auto colors = runtime()->create_index_space(context(), Legion::Rect<1>(0, 1));
  Legion::Transform<2, 1> transform;
  transform[0][0] = kWidth / 2;
  transform[1][0] = 0;
  const auto parts = runtime()->create_partition_by_restriction(
      context(), Legion::IndexSpaceT<2>(whole.get_index_space()), Legion::IndexSpaceT<1>(colors),
      transform, Legion::Rect<2>({0, 0}, {kWidth / 2 - 1, kHeight - 1}));
  return runtime()->get_logical_partition(context(), whole, parts);
}

LogicalRegion seen_region;  // the last one

// What the task sees of a region of its own, or of the lower half of one.
Seen seen_by(const char* name, bool half = false) {
  Legion::TaskID id = 0;
  for (const Case& one : cases()) id = one.name == std::string(name) ? one.id : id;
  const LogicalRegion whole = seen_region = make_whole();
  LogicalRegion region = whole;
  if (half) region = runtime()->get_logical_subregion_by_color(context(), halves_of(whole), 0);
  Legion::TaskLauncher launcher(id, Legion::UntypedBuffer(), Legion::Predicate::TRUE_PRED,
                                kProgram);
  RegionRequirement requirement(region, LEGION_READ_ONLY, LEGION_EXCLUSIVE, whole);
  requirement.add_field(kFirst).add_field(kSecond);
  launcher.add_region_requirement(requirement);
  return runtime()->execute_task(context(), launcher).get_result<Seen>();
}

constexpr std::int64_t kElement = sizeof(double);

TEST(Demands, NothingIsFOrderSoa) {
  const Seen seen = seen_by("free");
  EXPECT_EQ(seen.x, kElement);
  EXPECT_EQ(seen.y, kWidth * kElement);
  EXPECT_GE(seen.field, kWidth * kHeight * kElement);
}

TEST(Demands, AnInequalityIsMet) {
  EXPECT_EQ(seen_by("aligned_by_statement").address % 64, 0);
  seen_by("never");  // no alignment at all is not 128
}

TEST(Demands, AStatementLeavesAlignmentAndExactness) {
  const Seen aligned = seen_by("aligned");
  EXPECT_EQ(aligned.address % 256, 0);
  EXPECT_EQ((aligned.address + aligned.field) % 256, 0);
  EXPECT_EQ(aligned.y, kElement);  // C_order, as the statement says
  const Seen exact = seen_by("exact", true);
  EXPECT_EQ(exact.y, kElement);
  EXPECT_EQ(exact.x, kHeight * kElement);
  EXPECT_EQ(seen_by("free", true).y, kWidth * kElement);
}

TEST(Demands, WhatNoStatementCanSay) {
  const Seen hybrid = seen_by("hybrid");  // x, then the fields, then y
  EXPECT_EQ(hybrid.x, kElement);
  EXPECT_EQ(hybrid.field, kWidth * kElement);
  EXPECT_EQ(hybrid.y, 2 * kWidth * kElement);
  const Seen partial = seen_by("partial");
  EXPECT_EQ(partial.y, kElement);
  EXPECT_EQ(partial.x, kHeight * kElement);
}

TEST(Demands, FieldsApart) {
  const Seen seen = seen_by("each_field");
  EXPECT_EQ(seen.x, kElement);
  EXPECT_EQ(seen.y, kWidth * kElement);
}

// What no memory here can hold: the constraints alone.
TEST(Demands, MemoriesOfOtherMachines) {
  seen_by("free");
  Legion::RegionRequirement requirement;
  requirement.region = seen_region;
  requirement.privilege = LEGION_READ_WRITE;
  requirement.privilege_fields = {kFirst, kSecond};
  InstanceCandidate choice;
  choice.layout.fields = FieldOrder::kAos;
  choice.layout.align_op = AlignOp::kGt;
  choice.layout.align_bytes = 64;
  for (const auto& [kind, realm] : {std::pair(MemKind::kFbmem, Legion::Memory::GPU_FB_MEM),
                                    std::pair(MemKind::kZcmem, Legion::Memory::Z_COPY_MEM),
                                    std::pair(MemKind::kSockmem, Legion::Memory::SOCKET_MEM)}) {
    choice.memory = kind;
    const Set set = legion::constraints_of(requirement, choice, {{kFirst, kSecond}, {}});
    EXPECT_EQ(set.memory_constraint.kind, realm);
    EXPECT_EQ(set.ordering_constraint.ordering,
              (std::vector<Legion::DimensionKind>{LEGION_DIM_F, LEGION_DIM_X, LEGION_DIM_Y}));
    EXPECT_EQ(set.specialized_constraint.kind, LEGION_AFFINE_SPECIALIZE);
    ASSERT_EQ(set.alignment_constraints.size(), 2U);
    EXPECT_EQ(set.alignment_constraints[1].alignment, 128U);
  }
  requirement.privilege = LEGION_REDUCE;
  requirement.redop = 3;
  choice.layout.compact = true;
  const Set reduces = legion::constraints_of(requirement, choice, {{kFirst}, {}});
  EXPECT_EQ(reduces.specialized_constraint.kind, LEGION_AFFINE_REDUCTION_SPECIALIZE);
  EXPECT_EQ(reduces.specialized_constraint.redop, 3);
}

// The statement asks for exact instances, of which each region would have its own.
TEST(Demands, OneInstanceForTwoRegions) {
  const LogicalRegion whole = make_whole();
  const auto halves = halves_of(whole);
  Legion::TaskLauncher launcher(kTogether, Legion::UntypedBuffer(), Legion::Predicate::TRUE_PRED,
                                kProgram);
  for (const Legion::Color half : {0U, 1U}) {
    launcher.add_region_requirement(
        RegionRequirement(runtime()->get_logical_subregion_by_color(context(), halves, half),
                          LEGION_READ_ONLY, LEGION_EXCLUSIVE, whole)
            .add_field(kFirst));
  }
  const auto bytes = runtime()->execute_task(context(), launcher).get_result<std::int64_t>();
  EXPECT_EQ(bytes, kWidth / 2 * kElement);
}

TEST(Demands, Offset) { EXPECT_GE(seen_by("offset").field, 4096); }

}  // namespace
}  // namespace groma::legion_test
