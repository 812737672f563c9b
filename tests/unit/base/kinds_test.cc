#include "groma/kinds.h"

#include <gtest/gtest.h>

namespace groma {
namespace {

TEST(Kinds, EveryProcessorKindIsFoundByItsName) {
  for (std::size_t i = 0; i < kProcKindCount; ++i) {
    const auto kind = static_cast<ProcKind>(i);
    EXPECT_EQ(find_proc_kind(name_of(kind)), kind) << name_of(kind);
  }
}

TEST(Kinds, EveryMemoryKindIsFoundByItsName) {
  for (std::size_t i = 0; i < kMemKindCount; ++i) {
    const auto kind = static_cast<MemKind>(i);
    EXPECT_EQ(find_mem_kind(name_of(kind)), kind) << name_of(kind);
  }
}

TEST(Kinds, NamesAreTheLanguagesWords) {
  EXPECT_EQ(name_of(ProcKind::kGpu), "GPU");
  EXPECT_EQ(name_of(MemKind::kFbmem), "FBMEM");
  EXPECT_EQ(name_of(MemKind::kVirtual), "VIRTUAL");
}

TEST(Kinds, OtherWordsAreNoKinds) {
  EXPECT_EQ(find_proc_kind("GPUS"), std::nullopt);
  EXPECT_EQ(find_proc_kind("gpu"), std::nullopt);
  EXPECT_EQ(find_proc_kind(""), std::nullopt);
  EXPECT_EQ(find_proc_kind("FBMEM"), std::nullopt);
  EXPECT_EQ(find_mem_kind("GPU"), std::nullopt);
}

TEST(LayoutSpec, LeftAloneIsSoaInFortranOrderUnaligned) {
  const LayoutSpec layout;
  EXPECT_EQ(layout.fields, FieldOrder::kSoa);
  EXPECT_EQ(layout.dimensions, DimensionOrder::kFortran);
  EXPECT_EQ(layout.align_op, AlignOp::kNone);
  EXPECT_FALSE(layout.compact);
  EXPECT_FALSE(layout.exact);
  EXPECT_NE(layout, (LayoutSpec{.exact = true}));
}

}  // namespace
}  // namespace groma
