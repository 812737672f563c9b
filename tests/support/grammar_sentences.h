// Sentences of a table of productions, by chance but always the same for one seed.
#pragma once

#include <cstdint>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "syntax/grammar.h"

namespace groma::testing {

class SentenceGenerator {
 public:
  SentenceGenerator(std::vector<syntax::Production> table, std::uint64_t seed);

  // A sentence of the first production. Once it is some hundred characters long or deeply nested,
  // the shortest way is taken everywhere.
  std::string sentence();

  // The names of the productions that all sentences so far are made of.
  const std::set<std::string>& used() const { return used_; }

 private:
  void write(const syntax::GrammarItem& item, int depth);
  void write_repeated(const syntax::GrammarItem& item, int depth);
  const syntax::GrammarItem& choose(const syntax::GrammarItem& choice, int depth);
  int height(const syntax::GrammarItem& item) const;
  void find_heights();
  bool hurry(int depth) const;
  std::size_t below(std::size_t bound) { return static_cast<std::size_t>(random_() % bound); }

  std::vector<syntax::Production> table_;
  std::map<std::string, const syntax::Production*> by_name_;
  std::map<std::string, int> heights_;  // of the lowest tree of each production
  std::mt19937_64 random_;
  std::u32string text_;
  std::set<std::string> used_;
};

}  // namespace groma::testing
