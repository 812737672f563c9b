// Every refusal of validate, with its words; and its check of slices against brute force.
#include "groma/validate.h"

#include <gmock/gmock.h>

#include <array>
#include <map>
#include <random>

#include "mapper/default_policy.h"
#include "unit/mapper/hooks.h"

namespace groma::test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

const Machine& two_nodes() {
  static const Machine machine = machine_of("nodes=2,gpu=2,cpu=4,omp=1");
  return machine;
}

// A choice that is fine for a task on GPU (0, 0) with variant 1.
MapTaskOutput good_choice(const FakeTask& task) {
  MapTaskOutput choice;
  choice.processors = {gpu(0, 0)};
  choice.variant = 1;
  choice.requirements.resize(task.requirements.size());
  for (InstanceChoice& requirement : choice.requirements) {
    requirement.add({MemKind::kFbmem, {}, {}, {}});
  }
  return choice;
}

TEST(Validate, AGoodChoiceIsFine) {
  FakeTask task("t", {ProcKind::kGpu});
  task.region({"r"});
  EXPECT_THAT(text_of(validate(good_choice(task), task.view(), two_nodes())), IsEmpty());
}

TEST(Validate, ProcessorsThatAreNot) {
  FakeTask task("t", {ProcKind::kGpu});
  const auto refusals = [&](std::vector<Processor> processors) {
    MapTaskOutput choice = good_choice(task);
    choice.processors = std::move(processors);
    return validate(choice, task.view(), two_nodes());
  };
  const auto index = refusals({gpu(1, 0), gpu(1, 2)});
  EXPECT_THAT(text_of(index), ElementsAre("map_task of `t` names GPU (1, 2), which the machine "
                                          "does not have [bad-processor]"));
  EXPECT_EQ(index[0].diagnostic.notes[0].message, "node 1 has 2 GPU");
  const auto node = refusals({gpu(2, 0)});
  ASSERT_EQ(node.size(), 1U);
  EXPECT_EQ(node[0].diagnostic.notes[0].message, "there are 2 nodes");
  EXPECT_EQ(refusals({gpu(0, -1)}).size(), 1U);
  EXPECT_EQ(refusals({gpu(-1, 0)}).size(), 1U);
  EXPECT_THAT(text_of(refusals({})), ElementsAre("map_task of `t` names no processor, which the "
                                                 "machine does not have [bad-processor]"));
  EXPECT_THAT(text_of(refusals({gpu(0, 0), gpu(1, 0)})),
              ElementsAre("map_task of `t` names GPU (0, 0) and GPU (1, 0); all must be of one "
                          "kind and node [mixed-processors]"));
  EXPECT_EQ(refusals({gpu(0, 0), cpu(0, 0)}).size(), 1U);
}

TEST(Validate, VariantsThatDoNotFit) {
  FakeTask task("t", {ProcKind::kGpu, ProcKind::kCpu});
  MapTaskOutput choice = good_choice(task);
  choice.variant = 3;
  EXPECT_THAT(text_of(validate(choice, task.view(), two_nodes())),
              ElementsAre("map_task of `t` chose variant 3, which the task does not have "
                          "[bad-variant]"));
  choice.variant = 2;
  EXPECT_THAT(text_of(validate(choice, task.view(), two_nodes())),
              ElementsAre("map_task of `t` chose variant 2, which is for CPU, on GPU "
                          "[bad-variant]"));
}

TEST(Validate, TheAnswersOwnFailureComesFirst) {
  FakeTask task("t", {ProcKind::kGpu});
  Diagnostic failure;
  failure.message = "because";
  MapTaskOutput choice;
  choice.failure = failure;
  EXPECT_EQ(validate(choice, task.view(), two_nodes())[0].diagnostic.message, "because");
  SliceTaskOutput slices;
  slices.failure = failure;
  EXPECT_EQ(validate(slices, task.view(), rect({4}), two_nodes()).size(), 1U);
  TaskOptions options;
  options.failure = failure;
  EXPECT_EQ(validate(options, task.view(), two_nodes()).size(), 1U);
  MapTaskOutput aborted;
  aborted.abort_mapping = true;
  EXPECT_THAT(validate(aborted, task.view(), two_nodes()), IsEmpty());
}

TEST(Validate, RequirementsWithoutAPlace) {
  FakeTask task("t", {ProcKind::kGpu});
  task.region({"r"});
  task.region({"s"}, Privilege::kNoAccess);  // needs none
  MapTaskOutput choice = good_choice(task);
  choice.requirements[1] = {};
  EXPECT_THAT(validate(choice, task.view(), two_nodes()), IsEmpty());
  choice.requirements[0] = {};
  EXPECT_THAT(text_of(validate(choice, task.view(), two_nodes())),
              ElementsAre("region 0 of `t` has no possible memory: the answer names no memory "
                          "[no-memory]"));
  choice.requirements[0].add({MemKind::kSockmem, {5}, {}, {}});
  choice.requirements[0].add({MemKind::kRegsockmem, {6}, {}, {}});
  const auto refusals = validate(choice, task.view(), two_nodes());
  EXPECT_THAT(
      text_of(refusals),
      ElementsAre("region 0 of `t` has no possible memory: SOCKMEM (GPU cannot address it), "
                  "REGSOCKMEM (node 0 has none) [no-memory]"));
  EXPECT_EQ(refusals[0].origin, DecisionOrigin{5});
  choice.requirements[0].add({MemKind::kZcmem, {}, {}, {}});
  EXPECT_THAT(validate(choice, task.view(), two_nodes()), IsEmpty());
  choice.requirements.pop_back();
  EXPECT_THAT(
      text_of(validate(choice, task.view(), two_nodes())),
      ElementsAre(
          "map_task of `t`: the answer has 1 region requirements instead of 2 [missing-choice]"));
}

TEST(Validate, VirtualWhereItCannotBe) {
  FakeTask task("t", {ProcKind::kGpu});
  task.variants[0].leaf = true;
  RequirementView& region = task.region({"r"}, Privilege::kReduce);
  MapTaskOutput choice = good_choice(task);
  choice.requirements[0].is_virtual = true;
  EXPECT_THAT(text_of(validate(choice, task.view(), two_nodes())),
              ElementsAre("region 0 of `t` cannot be virtual: a leaf reduces to it [bad-virtual]"));
  region.privilege = Privilege::kReadOnly;
  region.coherence = Coherence::kSimultaneous;
  EXPECT_THAT(text_of(validate(choice, task.view(), two_nodes())),
              ElementsAre("region 0 of `t` cannot be virtual: it is shared while in use "
                          "[bad-virtual]"));
  region.coherence = Coherence::kExclusive;
  EXPECT_THAT(text_of(validate(choice, task.view(), two_nodes())),
              ElementsAre("region 0 of `t` cannot be virtual: the variant is a leaf, so nobody "
                          "else maps it [bad-virtual]"));
  region.tag = kTagVirtualMap;  // the application knows that it is not touched
  EXPECT_THAT(validate(choice, task.view(), two_nodes()), IsEmpty());
  region.tag = 0;
  region.privilege = Privilege::kNoAccess;
  EXPECT_THAT(validate(choice, task.view(), two_nodes()), IsEmpty());
  region.privilege = Privilege::kReduce;
  task.variants[0].leaf = false;  // its children may reduce to it
  EXPECT_THAT(validate(choice, task.view(), two_nodes()), IsEmpty());
}

TEST(Validate, NamedInstances) {
  FakeTask task("t", {ProcKind::kGpu});
  RequirementView& region = task.region({"r"}, Privilege::kReadOnly);
  MapTaskOutput choice = good_choice(task);
  InstanceChoice& named = choice.requirements[0];
  named.instance = 3;
  named.instance_origin = DecisionOrigin{5};
  named.candidate_count = 0;  // the runtime knows where it is
  EXPECT_THAT(validate(choice, task.view(), two_nodes()), IsEmpty());
  region.output = true;
  const auto refusals = validate(choice, task.view(), two_nodes());
  EXPECT_THAT(text_of(refusals), ElementsAre("region 0 of `t` cannot have instance 3: the task "
                                             "makes it itself [bad-instance]"));
  EXPECT_EQ(refusals[0].origin, DecisionOrigin{5});
  region.output = false;
  named.is_virtual = true;
  EXPECT_THAT(text_of(validate(choice, task.view(), two_nodes())),
              ElementsAre("region 0 of `t` cannot have instance 3: it is virtual at the same time "
                          "[bad-instance]"));
}

TEST(Validate, VirtualAsTheLastResort) {
  FakeTask task("t", {ProcKind::kGpu});
  task.variants[0].leaf = true;
  task.region({"r"}, Privilege::kReduce);
  MapTaskOutput choice = good_choice(task);
  choice.requirements[0].add({MemKind::kVirtual, {}, {}, {}});
  EXPECT_THAT(validate(choice, task.view(), two_nodes()), IsEmpty());  // FBMEM comes first
  choice.requirements[0] = {};
  choice.requirements[0].add({MemKind::kSysmem, {}, {}, {}});
  choice.requirements[0].add({MemKind::kVirtual, {}, {}, {}});
  EXPECT_THAT(
      text_of(validate(choice, task.view(), two_nodes())),
      ElementsAre("region 0 of `t` has no possible memory: SYSMEM (GPU cannot address it), VIRTUAL "
                  "(a leaf reduces to it) [no-memory]"));
  task.requirements[0].privilege = Privilege::kReadOnly;
  EXPECT_EQ(validate(choice, task.view(), two_nodes()).size(), 1U);
  task.variants[0].leaf = false;
  EXPECT_THAT(validate(choice, task.view(), two_nodes()), IsEmpty());
}

// What validate says of a layout where the variant demands another.
std::vector<std::string> layout_refusals(const LayoutDemand& demand, const LayoutSpec& layout,
                                         int dimensions = 2) {
  FakeTask task("t", {ProcKind::kGpu});
  task.region({"r"}).region_dimensions = dimensions;
  task.variants[0].demands = {&demand, 1};
  MapTaskOutput choice = good_choice(task);
  choice.requirements[0].candidates_in_order[0].layout = layout;
  return text_of(validate(choice, task.view(), two_nodes()));
}

TEST(Validate, LayoutsThatTheVariantRefuses) {
  LayoutDemand demand;
  demand.dimensions = DimensionOrder::kC;
  EXPECT_THAT(layout_refusals(demand, {}),
              ElementsAre("region 0 of `t`: its variant wants C_order, the mapping says F_order "
                          "[layout-refused]"));
  EXPECT_THAT(layout_refusals(demand, {}, 1), IsEmpty());
  demand.requirement = 1;
  EXPECT_THAT(layout_refusals(demand, {}), IsEmpty());
  LayoutDemand fields;
  fields.fields = FieldOrder::kAos;
  EXPECT_EQ(layout_refusals(fields, {}).size(), 1U);
  LayoutDemand memory;
  memory.memory = MemKind::kZcmem;
  EXPECT_THAT(layout_refusals(memory, {}), ElementsAre("region 0 of `t`: its variant wants ZCMEM, "
                                                       "the mapping says FBMEM [layout-refused]"));
}

// A statement contradicts only what it names, and a mapper may ask for several layouts.
TEST(Validate, LayoutsThatTheProgramsMapperAsksFor) {
  const auto refused = [](const LayoutSpec& layout, const LayoutAspects& named) {
    FakeTask task("t", {ProcKind::kGpu});
    task.region({"r"}).region_dimensions = 2;
    std::vector<LayoutDemand> demands(2);
    for (LayoutDemand& demand : demands) demand.source = DemandSource::kMapper;
    demands[0].dimensions = DimensionOrder::kFortran;
    demands[0].not_exact = true;
    demands[1].dimensions = DimensionOrder::kC;
    demands[1].align_op = AlignOp::kEq;
    demands[1].align_bytes = 64;
    task.variants[0].demands = demands;
    MapTaskOutput choice = good_choice(task);
    InstanceCandidate& candidate = choice.requirements[0].candidates_in_order[0];
    candidate.layout = layout;
    candidate.layout_origin = DecisionOrigin{1};
    candidate.layout_named = named;
    return text_of(validate(choice, task.view(), two_nodes()));
  };
  const LayoutSpec all{
      .dimensions = DimensionOrder::kC, .exact = true, .align_op = AlignOp::kEq, .align_bytes = 32};
  EXPECT_THAT(refused(all, {}), IsEmpty());
  EXPECT_THAT(refused(all, {.dimensions = true}),
              ElementsAre("region 0 of `t`: the program's own mapper asks for F_order, the mapping "
                          "says C_order [layout-demanded]"));
  EXPECT_THAT(
      refused(all, {.exact = true}),
      ElementsAre(
          "region 0 of `t`: the program's own mapper asks for an instance that "
          "also covers points outside the region, the mapping says Exact [layout-demanded]"));
  EXPECT_THAT(refused(all, {.alignment = true}),
              ElementsAre("region 0 of `t`: the program's own mapper asks for Align==64, the "
                          "mapping says Align==32 [layout-demanded]"));
  LayoutSpec multiple = all;
  multiple.align_bytes = 128;
  EXPECT_THAT(refused(multiple, {.alignment = true}), IsEmpty());
}

// An upper bound of the alignment stands for fields without gaps between them.
TEST(Validate, GapsBetweenTheFieldsOfAMapperThatAsksForNone) {
  LayoutDemand demand;
  demand.source = DemandSource::kMapper;
  demand.align_op = AlignOp::kLe;
  demand.align_bytes = 1;
  FakeTask task("t", {ProcKind::kGpu});
  task.region({"r"}).region_dimensions = 2;
  task.variants[0].demands = {&demand, 1};
  MapTaskOutput choice = good_choice(task);
  InstanceCandidate& candidate = choice.requirements[0].candidates_in_order[0];
  candidate.layout = {.align_op = AlignOp::kEq, .align_bytes = 64};
  candidate.layout_origin = DecisionOrigin{1};
  candidate.layout_named = {.alignment = true};
  EXPECT_THAT(text_of(validate(choice, task.view(), two_nodes())),
              ElementsAre("region 0 of `t`: the program's own mapper asks for fields without gaps "
                          "between them, the mapping says Align==64 [layout-demanded]"));
  candidate.layout = {};
  EXPECT_THAT(text_of(validate(choice, task.view(), two_nodes())), IsEmpty());
}

// Layouts of a task with two variants of a kind, which demand C order and Fortran order.
std::vector<std::string> refused_by_two(DimensionOrder says, bool first_chosen, bool second_chosen,
                                        bool other_kind_chosen = false) {
  FakeTask task("t", {ProcKind::kGpu, ProcKind::kGpu, ProcKind::kCpu});
  task.region({"r"}).region_dimensions = 2;
  std::array<LayoutDemand, 2> demands;
  demands[0].dimensions = DimensionOrder::kC;
  demands[1].dimensions = DimensionOrder::kFortran;
  for (std::size_t v = 0; v < 2; ++v) task.variants[v].demands = {&demands[v], 1};
  task.variants[0].chosen_by_mapper = first_chosen;
  task.variants[1].chosen_by_mapper = second_chosen;
  task.variants[2].chosen_by_mapper = other_kind_chosen;
  MapTaskOutput choice = good_choice(task);
  choice.variant = mapper::best_variant(task.view(), ProcKind::kGpu)->id;
  InstanceCandidate& candidate = choice.requirements[0].candidates_in_order[0];
  candidate.layout.dimensions = says;
  candidate.layout_origin = DecisionOrigin{1};
  candidate.layout_named.dimensions = true;
  return text_of(validate(choice, task.view(), two_nodes()));
}

TEST(Validate, LayoutsOfSeveralVariantsOfOneKind) {
  using enum DimensionOrder;
  const auto wants_c = ElementsAre(
      "region 0 of `t`: its variant wants C_order, the mapping says F_order [layout-refused]");
  const auto wants_fortran = ElementsAre(
      "region 0 of `t`: its variant wants F_order, the mapping says C_order [layout-refused]");
  // Without a mapper of the program's own the last one runs.
  EXPECT_THAT(refused_by_two(kFortran, false, false), IsEmpty());
  EXPECT_THAT(refused_by_two(kC, false, false), wants_fortran);
  // The one that the program's mapper chose counts, and of both each.
  EXPECT_THAT(refused_by_two(kC, true, false), IsEmpty());
  EXPECT_THAT(refused_by_two(kFortran, true, false), wants_c);
  EXPECT_THAT(refused_by_two(kFortran, false, true), IsEmpty());
  // No order is right for both.
  EXPECT_THAT(refused_by_two(kC, true, true),
              ElementsAre("region 0 of `t`: its variant wants F_order (and another of its variants "
                          "the opposite), the mapping says C_order [layout-refused]"));
  EXPECT_THAT(refused_by_two(kFortran, true, true),
              ElementsAre("region 0 of `t`: its variant wants C_order (and another of its variants "
                          "the opposite), the mapping says F_order [layout-refused]"));
  // It is not known which one it will choose.
  EXPECT_THAT(refused_by_two(kC, false, false, true), IsEmpty());
  EXPECT_THAT(refused_by_two(kFortran, false, false, true), IsEmpty());
}

TEST(Validate, AlignmentsThatNoneCanHave) {
  const auto refused = [](AlignOp wants, std::int64_t to, AlignOp says, std::int64_t bytes) {
    LayoutDemand demand;
    demand.align_op = wants;
    demand.align_bytes = to;
    LayoutSpec layout;
    layout.align_op = says;
    layout.align_bytes = bytes;
    return layout_refusals(demand, layout);
  };
  using enum AlignOp;
  EXPECT_THAT(refused(kEq, 128, kEq, 64),
              ElementsAre("region 0 of `t`: its variant wants Align==128, the mapping says "
                          "Align==64 [layout-refused]"));
  EXPECT_THAT(refused(kGe, 128, kEq, 64),
              ElementsAre("region 0 of `t`: its variant wants Align>=128, the mapping says "
                          "Align==64 [layout-refused]"));
  EXPECT_THAT(refused(kLt, 64, kGt, 32), ::testing::SizeIs(1));  // nothing between
  EXPECT_THAT(refused(kLt, 128, kGt, 32), IsEmpty());
  EXPECT_THAT(refused(kNe, 64, kEq, 64), ::testing::SizeIs(1));
  EXPECT_THAT(refused(kEq, 128, kNone, 0), IsEmpty());  // the runtime may align it
  EXPECT_THAT(refused(kNone, 0, kEq, 128), IsEmpty());
  EXPECT_THAT(refused(kLe, 64, kGe, 64), IsEmpty());
}

TEST(Validate, Options) {
  FakeTask task("t", {ProcKind::kGpu});
  TaskOptions options;
  options.initial = gpu(0, 1);
  EXPECT_THAT(validate(options, task.view(), two_nodes()), IsEmpty());
  options.initial = gpu(0, 2);
  EXPECT_THAT(text_of(validate(options, task.view(), two_nodes())),
              ElementsAre("select_task_options of `t` names GPU (0, 2), which the machine does not "
                          "have [bad-processor]"));
  options.initial = gpu(0, 1);
  options.replicate = options.map_locally = true;
  EXPECT_THAT(text_of(validate(options, task.view(), two_nodes())),
              ElementsAre("replicate_task of `t`: a task that is mapped locally runs once "
                          "[bad-replication]"));
  options.map_locally = false;
  EXPECT_THAT(validate(options, task.view(), two_nodes()), IsEmpty());
  for (bool TaskView::*once : {&TaskView::concurrent, &TaskView::must_epoch}) {
    TaskView view = task.view();
    view.*once = true;
    EXPECT_EQ(validate(options, view, two_nodes()).size(), 1U);
  }
  task.region({"r"}, Privilege::kReduce);
  EXPECT_EQ(validate(options, task.view(), two_nodes()).size(), 1U);
  task.requirements[0].privilege = Privilege::kReadWrite;
  task.requirements[0].output = true;
  EXPECT_EQ(validate(options, task.view(), two_nodes()).size(), 1U);
}

TEST(Validate, OptionsWithoutAVariant) {
  FakeTask task("t", {ProcKind::kGpu});
  TaskOptions options;
  options.initial = cpu(0, 1);
  options.processor_origin = {4};
  const auto refusals = validate(options, task.view(), two_nodes());
  EXPECT_THAT(text_of(refusals),
              ElementsAre("`t` can run on none of its kinds: `GPU` [no-variant]"));
  EXPECT_EQ(refusals[0].diagnostic.notes[0].message, "it was to run on `CPU`");
  EXPECT_EQ(refusals[0].origin, DecisionOrigin{4});
  task.launch(rect({4}));  // slice_task decides again
  EXPECT_THAT(validate(options, task.view(), two_nodes()), IsEmpty());
}

TEST(Validate, CollectiveRequirementsThatAreNot) {
  FakeTask task("t", {ProcKind::kGpu});
  task.region({"r"});
  task.region({"s"});
  TaskOptions options;
  options.initial = gpu(0, 1);
  options.collective = {0, 1};
  EXPECT_THAT(validate(options, task.view(), two_nodes()), IsEmpty());
  options.collective = {0, 2};
  EXPECT_THAT(text_of(validate(options, task.view(), two_nodes())),
              ElementsAre("select_task_options of `t` names requirement 2 of 2 as collective "
                          "[bad-collective]"));
}

// An operation of the top-level task, which stands on GPU (0, 0).
class FakeOperation {
 public:
  FakeTask regions{"", {}};
  MapOperationOutput choice;

  explicit FakeOperation(OperationKind kind) : kind_(kind) { parent_.current = gpu(0, 0); }
  std::vector<std::string> refusals() const {
    TaskView view = regions.view();
    view.operation = kind_;
    view.parent = &parent_;
    return text_of(validate(choice, view, two_nodes()));
  }
  // What is said of a requirement that choices for these memories.
  std::vector<std::string> refusals(Privilege privilege, const std::vector<MemKind>& memories) {
    regions.requirements.clear();
    regions.region({"r"}, privilege);
    choice.requirements.assign(1, {});
    for (MemKind memory : memories) choice.requirements[0].add({memory, {}, {}, {}});
    return refusals();
  }

 private:
  OperationKind kind_;
  TaskView parent_;
};

TEST(Validate, NamedInstancesOfOperations) {
  FakeOperation copy(OperationKind::kCopy);
  copy.regions.region({"r"}, Privilege::kReadWrite);
  InstanceChoice named;
  named.instance = 3;
  named.is_virtual = true;
  copy.choice.requirements.assign(1, named);
  EXPECT_THAT(copy.refusals(), ElementsAre("region 0 of `copy` cannot have instance 3: it is "
                                           "virtual at the same time [bad-instance]"));
  copy.choice.requirements[0].is_virtual = false;
  EXPECT_THAT(copy.refusals(), IsEmpty());
}

TEST(Validate, InlineMappings) {
  using enum MemKind;
  FakeOperation mapping(OperationKind::kInline);
  EXPECT_THAT(mapping.refusals(Privilege::kReadWrite, {kSysmem, kZcmem}), IsEmpty());
  EXPECT_THAT(
      mapping.refusals(Privilege::kReadWrite, {kSysmem, kRegsockmem, kVirtual}),
      ElementsAre("region 0 of `inline mapping` has no possible memory: SYSMEM (GPU cannot address "
                  "it), REGSOCKMEM (node 0 has none), VIRTUAL (only what a task hands on, "
                  "or a copy reads, is virtual) [no-memory]"));
  EXPECT_THAT(
      mapping.refusals(Privilege::kReadOnly, {}),
      ElementsAre("region 0 of `inline mapping` has no possible memory: the answer names no memory "
                  "[no-memory]"));
  EXPECT_THAT(mapping.refusals(Privilege::kNoAccess, {}), IsEmpty());
  mapping.choice.requirements.clear();
  EXPECT_THAT(mapping.refusals(), ElementsAre("map_operation of `inline mapping`: the answer has 0 "
                                              "region requirements instead of 1 [missing-choice]"));
}

TEST(Validate, CopiesAndPartitions) {
  using enum MemKind;
  FakeOperation copy(OperationKind::kCopy);
  EXPECT_THAT(copy.refusals(Privilege::kWriteDiscard, {kSysmem}), IsEmpty());  // no processor
  EXPECT_THAT(copy.refusals(Privilege::kReadOnly, {kVirtual}), IsEmpty());
  copy.regions.requirements[0].privilege = Privilege::kReadWrite;
  copy.choice.requirements[0].is_virtual = true;
  EXPECT_THAT(copy.refusals(),
              ElementsAre("region 0 of `copy` cannot be virtual: only what a task hands on, or a "
                          "copy reads, is virtual [bad-virtual]"));
  FakeOperation partition(OperationKind::kPartition);
  EXPECT_THAT(partition.refusals(Privilege::kReadOnly, {kFbmem, kSysmem}), IsEmpty());
  EXPECT_THAT(
      partition.refusals(Privilege::kReadOnly, {kFbmem}),
      ElementsAre("region 0 of `partition` has no possible memory: FBMEM (partitions are made from "
                  "host memory) [no-memory]"));
}

TEST(Validate, Stealing) {
  const auto targets = [](const std::vector<Processor>& answer) {
    return text_of(validate_steal_targets(answer, cpu(0, 1), two_nodes()));
  };
  EXPECT_THAT(targets({}), IsEmpty());
  EXPECT_THAT(targets({cpu(0, 2), cpu(1, 0)}), IsEmpty());
  EXPECT_THAT(
      targets({cpu(0, 4)}),
      ElementsAre("select_steal_targets of `CPU (0, 1)` names CPU (0, 4), which the machine "
                  "does not have [bad-processor]"));
  EXPECT_THAT(
      targets({cpu(0, 2), cpu(0, 1)}),
      ElementsAre(
          "wrong answer of select_steal_targets: CPU (0, 1) would steal from itself [bad-steal]"));
  FakeTask one("a", {ProcKind::kCpu}), two("b", {ProcKind::kCpu});
  const std::vector<TaskView> stealable = {one.view(), two.view()};
  const auto stolen = [&](const std::vector<std::uint32_t>& answer) {
    return text_of(validate_stolen(answer, stealable));
  };
  EXPECT_THAT(stolen({1, 0}), IsEmpty());
  EXPECT_THAT(stolen({2}),
              ElementsAre("wrong answer of permit_steal_request: a task is named twice or is not "
                          "stealable [bad-steal]"));
  EXPECT_THAT(stolen({0, 0}), ::testing::SizeIs(1));
}

TEST(Validate, Replication) {
  FakeTask task("t", {ProcKind::kGpu});
  task.variants[0].replicable = true;
  const auto refusals = [&](VariantId variant, std::vector<Processor> processors) {
    ReplicateTaskOutput answer;
    answer.variant = variant;
    answer.processors = std::move(processors);
    return text_of(validate(answer, task.at(gpu(0, 0)), two_nodes()));
  };
  EXPECT_THAT(refusals(1, {gpu(0, 0), gpu(1, 0)}), IsEmpty());
  EXPECT_THAT(refusals(1, {}),
              ElementsAre("replicate_task of `t`: it names no processor [bad-replication]"));
  EXPECT_THAT(refusals(1, {gpu(1, 0), gpu(1, 1)}),
              ElementsAre("replicate_task of `t`: no shard is on the node that maps the task "
                          "[bad-replication]"));
  EXPECT_THAT(refusals(1, {gpu(0, 1), gpu(1, 1), gpu(0, 1)}),
              ElementsAre("replicate_task of `t` names GPU (0, 1) twice [repeated-processor]"));
  EXPECT_THAT(refusals(1, {gpu(0, 0), cpu(1, 0)}),
              ElementsAre("replicate_task of `t`: its shards are on GPU (0, 0) and CPU (1, 0) "
                          "[bad-replication]"));
  EXPECT_THAT(refusals(1, {gpu(0, 7)}), ::testing::SizeIs(1));
  EXPECT_THAT(refusals(2, {gpu(0, 0)}), ::testing::SizeIs(1));
  task.variants[0].replicable = false;
  EXPECT_THAT(refusals(1, {gpu(0, 0)}),
              ElementsAre("replicate_task of `t`: its variant is not replicable "
                          "[bad-replication]"));
}

TEST(Validate, AShardStaysWhereItWasPut) {
  FakeTask task("t", {ProcKind::kGpu, ProcKind::kGpu});
  TaskView view = task.at(gpu(0, 0));
  view.shard_variant = 1;
  MapTaskOutput choice = good_choice(task);
  EXPECT_THAT(validate(choice, view, two_nodes()), IsEmpty());
  choice.variant = 2;
  EXPECT_EQ(validate(choice, view, two_nodes()).size(), 1U);
  choice.variant = 1;
  choice.processors.push_back(gpu(0, 1));
  EXPECT_THAT(text_of(validate(choice, view, two_nodes())),
              ElementsAre("replicate_task of `t`: a shard runs where replicate_task put it, by the "
                          "variant that it chose [bad-replication]"));
}

TEST(Validate, Schedules) {
  FakeTask one("a", {ProcKind::kCpu}), two("b", {ProcKind::kCpu});
  const std::vector<TaskView> ready = {one.view(), two.view()};
  const auto refusals = [&](const SelectMappingOutput& answer) {
    return text_of(validate(answer, ready, two_nodes()));
  };
  EXPECT_THAT(refusals({{0, 1}, {}, 0}), IsEmpty());
  EXPECT_THAT(refusals({{1}, {{0, cpu(1, 3)}}, 0}), IsEmpty());
  EXPECT_THAT(refusals({{}, {}, 4}), IsEmpty());
  EXPECT_THAT(
      refusals({{}, {}, 0}),
      ElementsAre(
          "wrong answer of select_tasks_to_map: it maps nothing and names no event to wait for "
          "[bad-schedule]"));
  EXPECT_THAT(
      refusals({{0, 0}, {}, 0}),
      ElementsAre("wrong answer of select_tasks_to_map: a task is named twice or is not ready "
                  "[bad-schedule]"));
  EXPECT_THAT(refusals({{2}, {}, 0}), ::testing::SizeIs(1));
  EXPECT_THAT(
      refusals({{0}, {{0, cpu(1, 3)}}, 0}),
      ElementsAre(
          "wrong answer of select_tasks_to_map: a task is mapped and moved, moved twice, or is not "
          "ready [bad-schedule]"));
  EXPECT_THAT(refusals({{0}, {{1, cpu(1, 4)}}, 0}),
              ElementsAre("select_tasks_to_map of `b` names CPU (1, 4), which the machine does not "
                          "have [bad-processor]"));
  EXPECT_THAT(validate(SelectMappingOutput{}, {}, two_nodes()), IsEmpty());  // nothing was ready
}

TEST(Validate, MustEpochs) {
  FakeTask one("a", {ProcKind::kCpu}), two("b", {ProcKind::kCpu});
  const std::vector<TaskView> tasks = {one.view(), two.view()};
  EXPECT_THAT(validate(MapMustEpochOutput{{cpu(0, 0), cpu(1, 0)}, {}}, tasks, two_nodes()),
              IsEmpty());
  EXPECT_THAT(text_of(validate(MapMustEpochOutput{{cpu(0, 1), cpu(0, 1)}, {}}, tasks, two_nodes())),
              ElementsAre("map_must_epoch of `a` names CPU (0, 1) twice [repeated-processor]"));
  EXPECT_EQ(validate(MapMustEpochOutput{{cpu(0, 0)}, {}}, tasks, two_nodes()).size(), 1U);
  EXPECT_EQ(validate(MapMustEpochOutput{{cpu(0, 0), cpu(3, 0)}, {}}, tasks, two_nodes()).size(),
            1U);
}

TEST(Validate, Shards) {
  FakeTask task("t", {ProcKind::kCpu});
  const ShardTable shards({cpu(0, 0), cpu(1, 0)});
  EXPECT_THAT(validate(ShardId{1}, Point{3}, task.view(), shards), IsEmpty());
  EXPECT_THAT(
      text_of(validate(ShardId{2}, Point{3, 4}, task.view(), shards)),
      ElementsAre("`t`: point (3, 4) is sent to shard 2, but there are 2 shards [bad-shard]"));
}

TEST(Validate, ShardingFunctors) {
  FakeTask task("t", {ProcKind::kCpu});
  for (ShardingId id : {0U, 1U, 2U}) EXPECT_THAT(validate_sharding(id, task.view(), 2), IsEmpty());
  EXPECT_THAT(text_of(validate_sharding(3, task.view(), 2)),
              ElementsAre("select_sharding_functor of `t` chose sharding functor 3, but the mapper "
                          "has 2 [bad-sharding]"));
}

// ---- Slices

std::vector<std::string> slice_refusals(const Rect& part, const std::vector<Rect>& boxes) {
  FakeTask task("t", {ProcKind::kGpu});
  SliceTaskOutput answer;
  for (const Rect& box : boxes) answer.slices.push_back({box, gpu(0, 0), false, false});
  return text_of(validate(answer, task.view(), part, two_nodes()));
}

TEST(Validate, Slices) {
  const Rect part{{-2, 5}, {4, 3}};
  const Rect left{{-2, 5}, {2, 3}}, right{{0, 5}, {2, 3}};
  EXPECT_THAT(slice_refusals(part, {left, right}), IsEmpty());
  EXPECT_THAT(slice_refusals(part, {right, left}), IsEmpty());
  EXPECT_THAT(slice_refusals(part, {left}),
              ElementsAre("slice_task of `t`: at least 6 of 12 points are in no slice "
                          "[bad-slices]"));
  EXPECT_THAT(slice_refusals(part, {}), ::testing::SizeIs(1));
  EXPECT_THAT(slice_refusals(part, {left, left}),
              ElementsAre("slice_task of `t`: two slices hold the same point, another is in none "
                          "[bad-slices]"));
  EXPECT_THAT(slice_refusals(part, {left, right, {{0, 5}, {1, 1}}}),
              ElementsAre("slice_task of `t`: two slices hold the same point [bad-slices]"));
  const auto leaves = ElementsAre(
      ::testing::StartsWith("slice_task of `t`: the slice at (0, 5) is empty or leaves what was"));
  EXPECT_THAT(slice_refusals(part, {left, {{0, 5}, {3, 3}}}), leaves);
  EXPECT_THAT(slice_refusals(part, {left, {{0, 5}, {0, 3}}}), leaves);
  EXPECT_THAT(slice_refusals(part, {{{0}, {1}}}), ::testing::SizeIs(1));
  EXPECT_THAT(slice_refusals(rect({0}), {}), IsEmpty());
  EXPECT_THAT(slice_refusals(Rect{}, {Rect{}}), IsEmpty());
  EXPECT_THAT(slice_refusals(Rect{}, {Rect{}, Rect{}}), ::testing::SizeIs(1));
}

TEST(Validate, PointsOfAConcurrentLaunch) {
  FakeTask task("t", {ProcKind::kGpu});
  TaskView view = task.view();
  view.concurrent = true;
  SliceTaskOutput answer;
  answer.slices = {{{{0}, {1}}, gpu(0, 0), false, false}, {{{1}, {1}}, gpu(1, 0), false, false}};
  EXPECT_THAT(validate(answer, view, rect({2}), two_nodes()), IsEmpty());
  const auto shared = ElementsAre(
      "slice_task of `t`: two points of a concurrent launch go to "
      "GPU (0, 0) [bad-slices]");
  answer.slices = {{{{0}, {1}}, gpu(0, 0), false, false}, {{{1}, {1}}, gpu(0, 0), false, false}};
  EXPECT_THAT(text_of(validate(answer, view, rect({2}), two_nodes())), shared);
  answer.slices = {{rect({2}), gpu(0, 0), false, false}};
  EXPECT_THAT(text_of(validate(answer, view, rect({2}), two_nodes())), shared);
  view.must_epoch = true;  // map_must_epoch decides
  EXPECT_THAT(validate(answer, view, rect({2}), two_nodes()), IsEmpty());
}

TEST(Validate, ASlicesProcessor) {
  FakeTask task("t", {ProcKind::kGpu});
  SliceTaskOutput answer;
  answer.slices = {{rect({4}), gpu(5, 0), false, false}};
  answer.origin = {3};
  const auto refusals = validate(answer, task.view(), rect({4}), two_nodes());
  EXPECT_THAT(text_of(refusals),
              ElementsAre("slice_task of `t` names GPU (5, 0), which the machine "
                          "does not have [bad-processor]"));
  EXPECT_EQ(refusals[0].origin, DecisionOrigin{3});
}

TEST(Validate, SlicesOfLaunchesWithoutEnd) {
  constexpr std::int64_t kFar = std::int64_t{1} << 62;
  const Rect part{{-kFar, 0}, {2 * (kFar - 1), 1}};
  const Rect lower{{-kFar, 0}, {kFar, 1}}, upper{{0, 0}, {kFar - 2, 1}};
  EXPECT_THAT(slice_refusals(part, {lower, upper}), IsEmpty());
  EXPECT_THAT(slice_refusals(part, {lower, {{1, 0}, {kFar - 3, 1}}}), ::testing::SizeIs(1));
  EXPECT_THAT(slice_refusals(part, {lower, lower}), ::testing::SizeIs(1));
  EXPECT_THAT(slice_refusals(part, {part, part, part}), ::testing::SizeIs(1));
  EXPECT_THAT(slice_refusals(part, {{{kFar, 0}, {1, 1}}}), ::testing::SizeIs(1));
  // Rows of a launch above any bitmap, each a slice; then one moved by one.
  const Rect tall = rect({1000, 1 << 20});
  std::vector<Rect> rows;
  for (std::int64_t i = 0; i < 1000; ++i) rows.push_back({{i, 0}, {1, 1 << 20}});
  EXPECT_THAT(slice_refusals(tall, rows), IsEmpty());
  rows[500].lower[0] = 499;
  EXPECT_THAT(slice_refusals(tall, rows), ::testing::SizeIs(1));
}

// Cuts of small domains, sound and broken, in 1 to 4 dimensions, against counting every point.
class RandomCuts {
 public:
  explicit RandomCuts(unsigned seed) : random_(seed) {}

  std::int64_t pick(std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random_);
  }
  Rect domain() {
    const int dimensions = static_cast<int>(pick(1, 4));
    Rect made{Point::zeros(dimensions), Point::zeros(dimensions)};
    for (int d = 0; d < dimensions; ++d) {
      made.lower[d] = pick(-5, 5);
      made.extents[d] = pick(1, 5);
    }
    return made;
  }
  void cut(const Rect& box, std::vector<Rect>* into) {
    const int d = static_cast<int>(pick(0, box.dimensions() - 1));
    if (box.extents[d] == 1 || pick(0, 3) == 0) {
      into->push_back(box);
      return;
    }
    const std::int64_t at = pick(1, box.extents[d] - 1);
    Rect low = box, high = box;
    low.extents[d] = at;
    high.lower[d] += at;
    high.extents[d] -= at;
    cut(low, into);
    cut(high, into);
  }
  // Moves, grows, drops or doubles a box.
  void spoil(std::vector<Rect>* boxes) {
    Rect& box = (*boxes)[static_cast<std::size_t>(pick(0, std::ssize(*boxes) - 1))];
    const int d = static_cast<int>(pick(0, box.dimensions() - 1));
    switch (pick(0, 3)) {
      case 0:
        box.lower[d] += pick(-1, 1);
        break;
      case 1:
        box.extents[d] += pick(-1, 1);
        break;
      case 2:
        box = boxes->back();
        boxes->pop_back();
        break;
      default:
        boxes->push_back(box);
    }
  }

 private:
  std::mt19937 random_;
};

bool covers_exactly(const Rect& part, const std::vector<Rect>& boxes) {
  std::map<std::vector<std::int64_t>, int> held;
  for (const Rect& box : boxes) {
    for (std::int64_t extent : box.extents.coordinates()) {
      if (extent <= 0) return false;
    }
    Point at = box.lower;
    do {
      const auto coordinates = at.coordinates();
      if (++held[{coordinates.begin(), coordinates.end()}] > 1 || !part.contains(at)) return false;
    } while (next_point(box, &at));
  }
  return static_cast<std::int64_t>(held.size()) == part.volume();
}

TEST(Validate, SlicesAgreeWithBruteForce) {
  RandomCuts random(20261121);
  int sound = 0, broken = 0;
  for (int round = 0; round < 4000; ++round) {
    const Rect part = random.domain();
    std::vector<Rect> boxes;
    random.cut(part, &boxes);
    for (std::int64_t n = random.pick(0, 3); n > 0 && !boxes.empty(); --n) random.spoil(&boxes);
    const bool expected = covers_exactly(part, boxes);
    ++(expected ? sound : broken);
    ASSERT_EQ(slice_refusals(part, boxes).empty(), expected) << "round " << round;
  }
  EXPECT_GT(sound, 500);
  EXPECT_GT(broken, 500);
}

}  // namespace
}  // namespace groma::test
