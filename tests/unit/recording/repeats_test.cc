#include "recording/repeats.h"

#include <gtest/gtest.h>

#include <random>

namespace groma::app {
namespace {

using Sequence = std::vector<std::uint32_t>;

std::string text(const std::vector<FoldedElement>& folded) {
  std::string words;
  for (const FoldedElement& each : folded) {
    if (!words.empty()) words += ' ';
    words += each.body.empty() ? std::string(1, static_cast<char>('a' + each.symbol))
                               : std::to_string(each.count) + "(" + text(each.body) + ")";
  }
  return words;
}

std::string folded(const std::string& letters) {
  Sequence sequence;
  for (const char letter : letters) sequence.push_back(static_cast<std::uint32_t>(letter - 'a'));
  const auto found = fold_into_loops(sequence);
  Sequence again;
  unfold(found, again);
  EXPECT_EQ(again, sequence);
  EXPECT_EQ(unfolded_size(found, 1000), sequence.size());
  return text(found);
}

TEST(Repeats, Loops) {
  EXPECT_EQ(folded(""), "");
  EXPECT_EQ(folded("abc"), "a b c");
  EXPECT_EQ(folded("aa"), "2(a)");
  EXPECT_EQ(folded("xababaay"), "x 2(a b) 2(a) y");
  EXPECT_EQ(folded("sabcabcabce"), "s 3(a b c) e");
}

TEST(Repeats, LoopsInLoops) {
  EXPECT_EQ(folded("aabaab"), "2(2(a) b)");
  EXPECT_EQ(folded("xabbbcabbbcy"), "x 2(a 3(b) c) y");
}

// Longer than any period that is looked for: what is inside is found first.
TEST(Repeats, ALongBodyIsFoundOnceItIsShort) {
  Sequence sequence;
  for (int step = 0; step < 5; ++step) {
    sequence.push_back(0);
    for (int i = 0; i < 3000; ++i) sequence.insert(sequence.end(), {1, 2});
    sequence.push_back(3);
  }
  EXPECT_EQ(text(fold_into_loops(sequence)), "5(a 3000(b c) d)");
}

TEST(Repeats, AnySequenceComesBack) {
  std::mt19937 random(7);
  for (int round = 0; round < 300; ++round) {
    const std::uint32_t kinds = 1 + static_cast<std::uint32_t>(round) % 5;
    Sequence sequence(random() % 200);
    for (auto& each : sequence) each = static_cast<std::uint32_t>(random() % kinds);
    Sequence again;
    unfold(fold_into_loops(sequence), again);
    ASSERT_EQ(again, sequence);
  }
}

TEST(Repeats, SizesAreNotCountedBeyondTheBound) {
  std::vector<FoldedElement> nested = {{0, 1, {}}};
  for (int depth = 0; depth < 12; ++depth) nested = {{0, 4'000'000'000U, nested}};
  EXPECT_EQ(unfolded_size(nested, 1'000'000), 1'000'001U);
}

}  // namespace
}  // namespace groma::app
