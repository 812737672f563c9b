// Statement: parts to text and back, and which statements decide the same.
#include "edit/statement.h"

#include <gmock/gmock.h>

#include "edit/mapping.h"
#include "edit/statement.h"

namespace groma::edit {
namespace {

// Returns the only statement of a text.
StatementParts read(std::string_view text) {
  const EditableMapping mapping(text);
  EXPECT_EQ(mapping.items().size(), 1U) << text;
  EXPECT_TRUE(mapping.items().front().statement) << text;
  return mapping.items().front().statement.value_or(StatementParts{});
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
    EXPECT_EQ(read(text).statement_text(), text);
    EXPECT_EQ(read(read(text).statement_text()), read(text));
  }
}

TEST(Statement, LosesCommentsAndSpaces) {
  EXPECT_EQ(read("Region  a ,b # the cells\n  x GPU FBMEM,ZCMEM;").statement_text(),
            "Region a, b x GPU FBMEM, ZCMEM");
}

TEST(Statement, IsMadeOfParts) {
  const StatementParts statement{.kind = MappingStatement::kLayout,
                                 .tasks = {"a"},
                                 .regions = {"*"},
                                 .place = MemKind::kFbmem,
                                 .layout = layout_words_of({.dimensions = DimensionOrder::kC,
                                                            .fields = FieldOrder::kAos,
                                                            .align_op = AlignOp::kGe,
                                                            .align_bytes = 32})};
  EXPECT_EQ(statement.statement_text(), "Layout a * FBMEM AOS C_order Align>=32");
  EXPECT_EQ(read(statement.statement_text()), statement);
}

TEST(Statement, HasAKeyOfWhatItIsAbout) {
  EXPECT_EQ(read("Region a x GPU FBMEM").statement_key(), "Region a x GPU");
  EXPECT_EQ(read("Region a 0 GPU FBMEM").statement_key(), "Region a 0 GPU");
  EXPECT_EQ(read("Region a \"0\" GPU FBMEM").statement_key(), "Region a \"0\" GPU");
  EXPECT_EQ(read("Task a GPU").statement_key(), read("Task \"a\" CPU, GPU").statement_key());
  EXPECT_NE(read("Task a GPU").statement_key(), read("Task a, b GPU").statement_key());
  EXPECT_EQ(read("InstanceLimit a 2").statement_key(),
            read("InstanceLimit a 4 Machine").statement_key());
  EXPECT_NE(read("InstanceLimit a 2").statement_key(),
            read("InstanceLimit a GPU 2").statement_key());
  EXPECT_NE(read("CollectMemory a *").statement_key(), read("CollectMemory b *").statement_key());
  EXPECT_NE(read("IndexTaskMap GPU f").statement_key(),
            read("IndexTaskMap \"GPU\" f").statement_key());
}

}  // namespace
}  // namespace groma::edit
