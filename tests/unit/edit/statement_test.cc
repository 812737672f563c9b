// Statement: parts to text and back, and which statements decide the same.
#include "edit/statement.h"

#include <gmock/gmock.h>

#include "edit/mapping.h"
#include "edit/statement.h"

namespace groma::edit {
namespace {

// Returns the only statement of a text.
Statement read(std::string_view text) {
  const Mapping mapping(text);
  EXPECT_EQ(mapping.items().size(), 1U) << text;
  EXPECT_TRUE(mapping.items().front().statement) << text;
  return mapping.items().front().statement.value_or(Statement{});
}

TEST(Statement, IsWrittenAsItWasRead) {
  for (const std::string text : {
           "Task * GPU, OMP, CPU",
           "Task a, \"GPU\", b GPU",
           "Region a, b x, 0 GPU FBMEM, ZCMEM",
           "Region * * * SYSMEM",
           "Layout * F_orders SYSMEM SOA C_order Compact Exact Align==64",
           "Layout a 0 GPU AOS No_Align",
           "InstanceLimit a 4",
           "InstanceLimit a GPU 4 SAME_NODE",
           "InstanceLimit * 4 Machine",
           "CollectMemory a, b x, 1",
           "IndexTaskMap a, b f",
           "IndexTaskMap GPU f",
           "SingleTaskMap * f",
           "ControlReplicate top_level",
           "TaskSteal * CPU ANY_NODE",
       }) {
    EXPECT_EQ(read(text).str(), text);
    EXPECT_EQ(read(read(text).str()), read(text));
  }
}

TEST(Statement, LosesCommentsAndSpaces) {
  EXPECT_EQ(read("Region  a ,b # the cells\n  x GPU FBMEM,ZCMEM;").str(),
            "Region a, b x GPU FBMEM, ZCMEM");
}

TEST(Statement, IsMadeOfParts) {
  const Statement statement{.kind = MappingStatement::kLayout,
                            .tasks = {"a"},
                            .regions = {"*"},
                            .place = MemKind::kFbmem,
                            .layout = words_of({.dimensions = DimensionOrder::kC,
                                                .fields = FieldOrder::kAos,
                                                .align_op = AlignOp::kGe,
                                                .align_bytes = 32})};
  EXPECT_EQ(statement.str(), "Layout a * FBMEM AOS C_order Align>=32");
  EXPECT_EQ(read(statement.str()), statement);
}

TEST(Statement, HasAKeyOfWhatItIsAbout) {
  EXPECT_EQ(read("Region a x GPU FBMEM").key(), "Region a x GPU");
  EXPECT_EQ(read("Region a 0 GPU FBMEM").key(), "Region a 0 GPU");
  EXPECT_EQ(read("Region a \"0\" GPU FBMEM").key(), "Region a \"0\" GPU");
  EXPECT_EQ(read("Task a GPU").key(), read("Task \"a\" CPU, GPU").key());
  EXPECT_NE(read("Task a GPU").key(), read("Task a, b GPU").key());
  EXPECT_EQ(read("InstanceLimit a 2").key(), read("InstanceLimit a 4 Machine").key());
  EXPECT_NE(read("InstanceLimit a 2").key(), read("InstanceLimit a GPU 2").key());
  EXPECT_NE(read("CollectMemory a *").key(), read("CollectMemory b *").key());
  EXPECT_NE(read("IndexTaskMap GPU f").key(), read("IndexTaskMap \"GPU\" f").key());
}

}  // namespace
}  // namespace groma::edit
