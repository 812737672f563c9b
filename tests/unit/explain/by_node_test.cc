// Which wishes of two nodes are told as one.
#include "explain/by_node.h"

#include <gtest/gtest.h>

namespace groma {
namespace {

RequirementWish wish_of(const InstanceWish& instance) {
  RequirementWish wish;
  wish.add(instance);
  return wish;
}

TEST(ByNode, DataDiffersInMemoryLayoutAndOrigins) {
  InstanceWish instance;
  instance.memory = MemKind::kFbmem;
  const RequirementWish wish = wish_of(instance);
  EXPECT_TRUE(same_memories_and_layouts(wish, wish_of(instance)));

  InstanceWish other = instance;
  other.memory = MemKind::kZcmem;
  EXPECT_FALSE(same_memories_and_layouts(wish, wish_of(other)));
  other = instance;
  other.memory_origin = Origin{3};
  EXPECT_FALSE(same_memories_and_layouts(wish, wish_of(other)));
  other = instance;
  other.layout.exact = true;
  EXPECT_FALSE(same_memories_and_layouts(wish, wish_of(other)));
  other = instance;
  other.layout_origin = Origin{3};
  EXPECT_FALSE(same_memories_and_layouts(wish, wish_of(other)));

  RequirementWish more = wish;
  more.add(instance);
  EXPECT_FALSE(same_memories_and_layouts(wish, more));
  RequirementWish none;
  RequirementWish is_virtual;
  is_virtual.is_virtual = true;
  EXPECT_FALSE(same_memories_and_layouts(none, is_virtual));
}

}  // namespace
}  // namespace groma
