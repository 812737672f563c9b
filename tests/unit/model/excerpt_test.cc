// Excerpts of sources and quotations of documents: what is chosen, what is said about the rest.
#include "model/excerpt.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "groma/line_edits.h"
#include "support/files.h"

namespace groma::tuning {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

QueryWords words(const std::string& text) {
  QueryWords query;
  add_query_words(text, 1, &query);
  return query;
}

std::string decoder() {
  return testing::read_text(testing::in_tree("tests/data/kernels/decoder.cl"));
}

std::string joined(const std::vector<Passage>& passages) {
  std::string text;
  for (const Passage& passage : passages) text += passage.text;
  return text;
}

TEST(QueryWords, AreNamesAndTheirParts) {
  const QueryWords query = words("The tileRows of load_tile, 32 x 8 and a b");
  std::vector<std::string> names;
  for (const auto& [word, weight] : query) names.push_back(word);
  EXPECT_THAT(names, ::testing::ElementsAre("load", "load_tile", "rows", "tile", "tilerows"));
}

TEST(Passages, AreTheWholeText) {
  const std::string source = decoder();
  const std::vector<Passage> passages = passages_of_source(source);
  EXPECT_EQ(joined(passages), source);
  EXPECT_GT(passages.size(), 15U);
  std::size_t line = 1;
  for (const Passage& passage : passages) {
    EXPECT_EQ(passage.first_line, line);
    EXPECT_EQ(lines_of(passage.text).size(), passage.lines);
    EXPECT_LE(passage.lines, 60U);
    line += passage.lines;
  }
  const std::string document =
      testing::read_text(testing::in_tree("tests/data/kernels/techniques.md"));
  EXPECT_EQ(joined(passages_of_document(document)), document);
  EXPECT_TRUE(passages_of_source("").empty());
  EXPECT_EQ(joined(passages_of_source("no line end")), "no line end");
}

TEST(Excerpt, IsTheTextIfItFits) {
  EXPECT_EQ(excerpt_of_source("int a;\n", 7, words("b")), "int a;\n");
}

TEST(Excerpt, HasWhatIsAskedForAndNamesTheRest) {
  const std::string excerpt =
      excerpt_of_source(decoder(), 4'000, words("softmax_f32 and max_of_group_f32"));
  EXPECT_LE(excerpt.size(), 4'000U);
  EXPECT_THAT(excerpt,
              AllOf(HasSubstr("__kernel void softmax_f32("), HasSubstr("float max_of_group_f32("),
                    HasSubstr(" are left out: "), Not(HasSubstr("__kernel void draw_token_f32("))));
  // The lines of the gaps and the passages together are all lines of the text.
  std::size_t lines = 0;
  for (const std::string_view line : lines_of(excerpt)) {
    std::size_t first = 0, last = 0;
    if (std::sscanf(std::string(line).c_str(), "[lines %zu to %zu are", &first, &last) == 2) {
      EXPECT_EQ(first, lines + 1);
      lines = last;
    } else {
      ++lines;
    }
  }
  EXPECT_EQ(lines, lines_of(decoder()).size());
}

TEST(Excerpt, StaysSmallWhateverTheText) {
  const std::string one_line(300'000, 'x');
  EXPECT_LE(excerpt_of_source(one_line, 1'000, words("y")).size(), 1'000U);
  std::string many;
  for (int i = 0; i < 50'000; ++i) many += "x;\n\ny(\n}\n";
  EXPECT_LE(excerpt_of_source(many, 5'000, words("y")).size(), 5'000U);
}

TEST(Documents, AreQuotedWhereTheyFit) {
  const std::vector<NamedText> documents = {
      {"techniques.md", testing::read_text(testing::in_tree("tests/data/kernels/techniques.md"))},
      {"other.txt", "Nothing of use.\n"}};
  const std::string quoted =
      quote_documents(documents, 900, words("softmax over the cache of keys"));
  EXPECT_THAT(quoted, ::testing::StartsWith("From techniques.md:\n## Attention over a cache\n"));
  EXPECT_LE(quoted.size(), 900U);
  EXPECT_THAT(quoted, Not(HasSubstr("other.txt")));
  EXPECT_EQ(quote_documents(documents, 900, words("zebra")), "");
  // Short documents are quoted as a whole, whatever is asked.
  const std::vector<NamedText> note = {{"note.txt", "Two ports for sums.\n"}};
  EXPECT_EQ(quote_documents(note, 900, words("zebra")), "From note.txt:\nTwo ports for sums.\n\n");
  EXPECT_EQ(quote_documents({}, 900, words("zebra")), "");
}

}  // namespace
}  // namespace groma::tuning
