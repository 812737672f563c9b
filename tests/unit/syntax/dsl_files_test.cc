// What lies in dsl/: the programs, whole and embedded, and the editors' files.
#include "groma/dsl_files.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "groma/benchmarks.h"
#include "groma/diagnostics.h"
#include "support/files.h"
#include "syntax/parser.h"
#include "syntax/token.h"

namespace groma {
namespace {

std::string word_at(const std::string& text, std::size_t* at) {
  const auto in_word = [](char c) {
    return c == '_' || (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
  };
  while (*at < text.size() && !in_word(text[*at])) ++*at;
  const std::size_t begin = *at;
  while (*at < text.size() && in_word(text[*at])) ++*at;
  return text.substr(begin, *at - begin);
}

// The words of a file, those that stand directly behind a `\` without its letter: `\bTask` is
// `Task`.
std::set<std::string> words_of(const std::string& path) {
  const std::string text = testing::read_text(testing::in_tree(path));
  std::set<std::string> words;
  for (std::size_t at = 0; at < text.size();) {
    const std::string word = word_at(text, &at);
    const std::size_t begin = at - word.size();
    words.insert(begin > 0 && text[begin - 1] == '\\' && !word.empty() ? word.substr(1) : word);
  }
  return words;
}

void expect_all_words(const std::string& path) {
  const std::set<std::string> words = words_of(path);
  for (const syntax::ReservedWord& word : syntax::reserved_words()) {
    EXPECT_TRUE(words.contains(std::string(word.text))) << word.text << " is not in " << path;
  }
}

TEST(Editors, VsCodeKnowsEveryReservedWord) {
  expect_all_words("dsl/editors/vscode/syntaxes/groma.tmLanguage.json");
}

TEST(Editors, VimKnowsEveryReservedWord) { expect_all_words("dsl/editors/vim/syntax/groma.vim"); }

TEST(DslFiles, ThereAreTheTenStrategies) {
  ASSERT_EQ(strategies().size(), 10U);
  for (std::size_t i = 0; i < 10; ++i) {
    EXPECT_EQ(strategies()[i].name, (i < 9 ? "strategy0" : "strategy") + std::to_string(i + 1));
  }
}

// In the paper's words.
TEST(DslFiles, EachStrategyBeginsWithItsSentence) {
  constexpr std::string_view kSentences[] = {
      "Map the tasks of calculate_new_currents, distribute_charge, update_voltages onto GPUs in "
      "this way: linearize the 2D GPU processor space into 1D, then perform 1D block mapping from "
      "launch domain to the linearized 1D processor space",
      "Place ghost/shared regions (rp_shared and rp_ghost) onto GPU zero-copy memory",
      "Use Array Of Struct (AOS) data layout for all data instead of the default SOA",
      "Use Fortran ordering of data layout for all data instead of the default C order",
      "Align all the regions to 64 bytes while using the Fortran ordering of data",
      "Place the task calculate_new_currents onto CPU",
      "Collect all the memory used by task calculate_new_currents",
      "Ensure that at most 4 tasks of calculate_new_currents can be run at the same time",
      "Map the second region argument of task distribute_charge onto GPU's Zero-Copy memory",
      "Map the tasks of calculate_new_currents,distribute_charge,update_voltages onto GPUs in a 1D "
      "cyclic manner: perform a cyclic distribution over both the node and processor dimensions"};
  for (std::size_t i = 0; i < 10; ++i) {
    EXPECT_EQ(strategies()[i].summary,
              std::string(kSentences[i]) + " (strategy " + std::to_string(i + 1) + " of A.7).");
    EXPECT_EQ(strategies()[i].sentence, kSentences[i]);
  }
}

TEST(DslFiles, ThereAreThePapersMappersAndTheBenchmarks) {
  std::string names;
  std::size_t experts = 0;
  for (const DslFile& file : mappers()) {
    EXPECT_EQ(file.sentence, "") << file.name;
    if (find_benchmark(file.name) == nullptr) {
      names += std::string(file.name) + " ";
    } else {
      ++experts;
    }
  }
  EXPECT_EQ(experts, built_in_applications().size());
  EXPECT_EQ(names,
            "block2d cholesky_box cholesky_cyclic circuit_a4 circuit_a5 figure2a solomonik_a6 "
            "solomonik_a7 ");
}

void expect_embedded(const std::string& folder, std::span<const DslFile> embedded) {
  const auto files = testing::files_below(folder, ".mapper");
  ASSERT_EQ(files.size(), embedded.size());
  for (std::size_t i = 0; i < files.size(); ++i) {
    EXPECT_EQ(embedded[i].name, files[i].stem().string());
    EXPECT_EQ(embedded[i].text, testing::read_text(files[i])) << files[i];
    EXPECT_TRUE(embedded[i].text.starts_with("# " + std::string(embedded[i].summary) + "\n"));
  }
}

TEST(DslFiles, EmbeddedTextsAreTheFiles) {
  expect_embedded("dsl/strategies", strategies());
  expect_embedded("dsl/mappers", mappers());
}

// As printed; Figure 2a has a body after a colon, which earns a warning.
TEST(DslFiles, AllParseWithoutErrors) {
  for (const auto files : {strategies(), mappers()}) {
    for (const DslFile& file : files) {
      const Source source(std::string(file.name), std::string(file.text));
      Diagnostics diags(source);
      syntax::parse(source, diags);
      EXPECT_EQ(diags.all().size(), file.name == "figure2a" ? 1U : 0U) << render(diags);
      for (const Diagnostic& diagnostic : diags.all()) {
        EXPECT_EQ(diagnostic.id, DiagId::kColonBody) << render(diags);
      }
    }
  }
}

}  // namespace
}  // namespace groma
