// Which choices of two nodes are told as one.
#include "explain/by_node.h"

#include <gtest/gtest.h>

namespace groma {
namespace {

InstanceChoice choice_of(const InstanceCandidate& instance) {
  InstanceChoice choice;
  choice.add(instance);
  return choice;
}

TEST(ByNode, DataDiffersInMemoryLayoutAndOrigins) {
  InstanceCandidate instance;
  instance.memory = MemKind::kFbmem;
  const InstanceChoice choice = choice_of(instance);
  EXPECT_TRUE(same_memories_and_layouts(choice, choice_of(instance)));

  InstanceCandidate other = instance;
  other.memory = MemKind::kZcmem;
  EXPECT_FALSE(same_memories_and_layouts(choice, choice_of(other)));
  other = instance;
  other.memory_origin = DecisionOrigin{3};
  EXPECT_FALSE(same_memories_and_layouts(choice, choice_of(other)));
  other = instance;
  other.layout.exact = true;
  EXPECT_FALSE(same_memories_and_layouts(choice, choice_of(other)));
  other = instance;
  other.layout_origin = DecisionOrigin{3};
  EXPECT_FALSE(same_memories_and_layouts(choice, choice_of(other)));

  InstanceChoice more = choice;
  more.add(instance);
  EXPECT_FALSE(same_memories_and_layouts(choice, more));
  InstanceChoice none;
  InstanceChoice is_virtual;
  is_virtual.is_virtual = true;
  EXPECT_FALSE(same_memories_and_layouts(none, is_virtual));
}

}  // namespace
}  // namespace groma
