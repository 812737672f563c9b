// The parts of lib/starpu that need no running StarPU: launch rules, facts about data, queues.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "starpu/codelet_copies.h"
#include "starpu/data_facts.h"
#include "starpu/launch_rules.h"
#include "starpu/ready_queue.h"

namespace groma::starpu {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// ---- Launch rules

TEST(LaunchRules, ReadsEachForm) {
  const auto rules =
      LaunchRules::parse(" a=4@tag; b = 2x3@tag:8,4;\nc=5x5@data ;d=none;; a=b=1@tag");
  ASSERT_TRUE(rules);
  EXPECT_EQ(rules->find("a")->source, LaunchRule::Source::kTag);
  EXPECT_EQ(rules->find("a")->extents, Point({4}));
  EXPECT_THAT(rules->find("b")->tag_bits, ElementsAre(8, 4));
  EXPECT_EQ(rules->find("c")->source, LaunchRule::Source::kData);
  EXPECT_EQ(rules->find("d")->source, LaunchRule::Source::kNone);
  EXPECT_NE(rules->find("a=b"), nullptr);
  EXPECT_EQ(rules->find("e"), nullptr);
}

TEST(LaunchRules, RefusesWhatIsMalformed) {
  for (const std::string text :
       {"a", "=4@tag", "a=", "a=4", "a=@tag", "a=4x@tag", "a=0@tag", "a=-1@tag", "a=4@", "a=4@tags",
        "a=4@tag:", "a=4@tag:0", "a=4@tag:64", "a=2x2@tag:8", "a=2x2@tag:63,63", "a=4@data:1",
        "a=1x1x1x1x1x1x1x1x1x1@tag", "a=99999999999999999999@tag", "a=4294967296x4294967296@tag"}) {
    const auto rules = LaunchRules::parse("ok=1@tag; " + text);
    ASSERT_FALSE(rules) << text;
    EXPECT_THAT(rules.error().message, HasSubstr("`" + text + "` is not a launch"));
  }
}

TEST(LaunchRules, TagsAreNumbersOrFields) {
  const auto rules = LaunchRules::parse("plain=2x3@tag; fields=2x3@tag:8,4; whole=1x2@tag:1,63");
  const LaunchRule& plain = *rules->find("plain");
  EXPECT_EQ(plain.point_of_tag(5), Point({1, 2}));
  EXPECT_EQ(plain.point_of_tag(6), std::nullopt);
  const LaunchRule& fields = *rules->find("fields");
  EXPECT_EQ(fields.point_of_tag(0x12), Point({1, 2}));
  EXPECT_EQ(fields.point_of_tag(0xF012), Point({1, 2}));  // bits above the fields
  EXPECT_EQ(fields.point_of_tag(0x13), std::nullopt);
  EXPECT_EQ(rules->find("whole")->point_of_tag(1), Point({0, 1}));
}

TEST(LaunchRules, CoordinatesLieInTheDomain) {
  const auto rules = LaunchRules::parse("a=2x3@data");
  const int at[] = {1, 2, 0}, outside[] = {1, -1};
  EXPECT_EQ(rules->find("a")->point_of_coordinates(at, 2), Point({1, 2}));
  EXPECT_EQ(rules->find("a")->point_of_coordinates(at, 3), std::nullopt);
  EXPECT_EQ(rules->find("a")->point_of_coordinates(outside, 2), std::nullopt);
}

// ---- Facts about data

// Returns a handle that is only compared.
starpu_data_handle_t handle(std::uintptr_t number) {
  return reinterpret_cast<starpu_data_handle_t>(number * 64);
}

struct Seen {
  std::vector<std::string> names;
  std::uint64_t key = 0;
  Point piece, pieces;
};
Seen look_up(const DataFacts& facts, starpu_data_handle_t of) {
  Seen seen;
  facts.look_up(&of, 1, [&](std::size_t, const DataFact* fact) {
    if (fact == nullptr) return;
    if (fact->names != nullptr) seen.names = fact->names->texts;
    if (fact->names != nullptr) seen.key = fact->names->key;
    seen.piece = fact->piece;
    seen.pieces = fact->pieces;
  });
  return seen;
}

TEST(DataFacts, PiecesHaveTheNamesAndThePlaceOfTheirParents) {
  DataFacts facts;
  EXPECT_TRUE(facts.empty());
  facts.set_name(handle(1), "matrix");
  facts.set_piece(handle(2), handle(1), 3, 4);
  facts.set_piece(handle(3), handle(2), 1, 2);
  facts.set_name(handle(3), "tile");
  EXPECT_THAT(look_up(facts, handle(3)).names, ElementsAre("tile", "matrix"));
  EXPECT_EQ(look_up(facts, handle(3)).piece, Point({3, 1}));
  EXPECT_EQ(look_up(facts, handle(3)).pieces, Point({4, 2}));
  EXPECT_THAT(look_up(facts, handle(2)).names, ElementsAre("matrix"));
  EXPECT_EQ(look_up(facts, handle(1)).key, look_up(facts, handle(2)).key);
  EXPECT_NE(look_up(facts, handle(3)).key, look_up(facts, handle(2)).key);
  // A second name replaces the first one.
  facts.set_name(handle(3), "corner");
  EXPECT_THAT(look_up(facts, handle(3)).names, ElementsAre("corner", "matrix"));
  facts.forget(handle(3));
  EXPECT_EQ(look_up(facts, handle(3)).pieces.dimensions(), 0);
}

TEST(DataFacts, PiecesOfPiecesEndAtTheMostDimensions) {
  DataFacts facts;
  for (std::uintptr_t i = 0; i < 12; ++i) facts.set_piece(handle(i + 2), handle(i + 1), 1, 2);
  EXPECT_EQ(look_up(facts, handle(13)).pieces.dimensions(), kMaxDimensions);
}

// ---- Memory nodes

TEST(CodeletCopies, SameCodeletAndNodesHaveOneCopy) {
  CodeletCopies copies;
  starpu_codelet codelet{};
  codelet.nbuffers = 2;
  starpu_codelet* const copy = copies.codelet_for(&codelet, {0, -1});
  ASSERT_NE(copy, nullptr);
  EXPECT_EQ(copy->specific_nodes, 1U);
  EXPECT_EQ(STARPU_CODELET_GET_NODE(copy, 0), 0);
  EXPECT_EQ(STARPU_CODELET_GET_NODE(copy, 1), -1);
  EXPECT_EQ(copies.codelet_for(&codelet, {0, -1}), copy);
  EXPECT_NE(copies.codelet_for(&codelet, {0, 0}), copy);
  // A task that runs again comes with its copy.
  EXPECT_EQ(copies.codelet_for(copy, {0, -1}), copy);
  EXPECT_EQ(copies.codelet_for(copy, {}), &codelet);
  EXPECT_EQ(copies.codelet_for(&codelet, {}), &codelet);
  // Statistics do not make another codelet, other members do.
  codelet.per_worker_stats[0] = 7;
  EXPECT_EQ(copies.codelet_for(&codelet, {0, -1}), copy);
  codelet.nbuffers = 1;
  EXPECT_NE(copies.codelet_for(&codelet, {0, -1}), copy);
  codelet.specific_nodes = 1;
  EXPECT_EQ(copies.codelet_for(&codelet, {0, -1}), nullptr);
}

// ---- Queues

TEST(ReadyQueue, HighestPriorityFirstThenOldest) {
  ReadyQueue queue;
  std::vector<starpu_task> tasks(8);
  constexpr int kPriorities[] = {-1, 0, 2, 0, 2, -1, -7, 0};
  for (std::size_t i = 0; i < tasks.size(); ++i) queue.push(&tasks[i], kPriorities[i]);
  std::vector<std::ptrdiff_t> order;
  EXPECT_EQ(queue.top(), 2);
  while (starpu_task* const task = queue.pop()) order.push_back(task - tasks.data());
  EXPECT_THAT(order, ElementsAre(2, 4, 1, 3, 7, 0, 5, 6));
  EXPECT_EQ(queue.top(), kNoPriority);
  queue.push(&tasks[3], -4);
  EXPECT_EQ(queue.top(), -4);
  EXPECT_EQ(queue.pop(), &tasks[3]);
  EXPECT_EQ(queue.pop(), nullptr);
}

}  // namespace
}  // namespace groma::starpu
