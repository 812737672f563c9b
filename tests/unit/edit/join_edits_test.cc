// join_edits: edits one after the other are the joined ones at once.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "base/random.h"
#include "edit/mapping.h"

namespace groma::edit {
namespace {

using Edits = std::vector<Edit>;

std::string edited(const std::string& text, const Edits& edits) {
  std::size_t applied = 0;
  return apply_fixes(Source("a.mapper", text), {{"", edits, false}}, &applied);
}

TEST(JoinEdits, KeepsWhatIsFarApartApart) {
  const std::string text = "Task a GPU; # far away\nTask b GPU;\n";
  const Edits first = {{{7, 10}, "OMP,CPU"}};
  // Within what the first wrote, before it and behind it.
  const auto joined = join_edits(first, {{{11, 14}, "GPU"}, {{5, 6}, "*"}, {{34, 37}, "CPU"}});
  ASSERT_TRUE(joined.has_value());
  ASSERT_EQ(joined->size(), 3U);
  EXPECT_EQ(edited(text, *joined), "Task * OMP,GPU; # far away\nTask b CPU;\n");
}

TEST(JoinEdits, RefusesWhatCrossesABorder) {
  const Edits first = {{{5, 6}, "all"}};
  EXPECT_FALSE(join_edits(first, {{{3, 6}, "x"}}));
  EXPECT_FALSE(join_edits(first, {{{7, 9}, "x"}}));
  EXPECT_FALSE(join_edits(first, {{{5, 6}, "x"}, {{7, 8}, "y"}})) << "two within one";
  EXPECT_TRUE(join_edits(first, {{{5, 8}, "x"}}));
}

std::uint32_t size_of(const std::string& text) { return static_cast<std::uint32_t>(text.size()); }

// A few edits of disjoint ranges, short and close together so that they meet often.
Edits drawn_edits(RandomNumbers& draws, std::uint32_t size) {
  Edits edits;
  std::uint32_t at = draws.below(3);
  while (at <= size && edits.size() < 4) {
    const std::uint32_t end = std::min(at + draws.below(4), size);
    edits.push_back({{at, end}, std::string("uvwxyz").substr(draws.below(7))});
    at = std::max(end, at + 1) + draws.below(4);
  }
  return edits;
}

TEST(JoinEdits, AreTheEditsOneAfterTheOther) {
  const std::string text = "abcdefghijkl";
  int joined_count = 0;
  for (std::uint64_t seed = 0; seed < 20'000; ++seed) {
    RandomNumbers draws(seed);
    const Edits first = drawn_edits(draws, size_of(text));
    const std::string middle = edited(text, first);
    const Edits second = drawn_edits(draws, size_of(middle));
    const auto joined = join_edits(first, second);
    if (!joined) continue;
    ++joined_count;
    ASSERT_EQ(edited(text, *joined), edited(middle, second)) << "seed " << seed;
  }
  EXPECT_GT(joined_count, 2'000);
}

}  // namespace
}  // namespace groma::edit
