// Whether a table of productions describes a text: the plainest answer there is, for tests.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "syntax/grammar.h"

namespace groma::testing {

// Tries every way, remembering for each production and place where it can end. The table must not
// be left-recursive (see left_recursive) and must define what it uses (see undefined).
class Recogniser {
 public:
  explicit Recogniser(std::vector<syntax::Production> table);

  // Whether the production named `start` (the first when empty) describes all of `text`, UTF-8.
  bool accepts(std::string_view text, std::string_view start = "");

  // After accepts: the bytes of the text before the first character at which no way went on.
  std::string understood() const;

 private:
  using Ends = std::vector<std::size_t>;  // ascending

  Ends ends(const syntax::GrammarItem& item, std::size_t at);
  Ends rule_ends(std::size_t production, std::size_t at);
  Ends sequence_ends(const syntax::GrammarItem& item, std::size_t at);
  Ends repeated_ends(const syntax::GrammarItem& item, std::size_t at, int least, int most);
  Ends character_ends(bool matches, std::size_t at);

  std::vector<syntax::Production> table_;
  std::map<std::string, std::size_t, std::less<>> index_;
  std::u32string text_;
  std::size_t furthest_ = 0;
  std::vector<std::optional<Ends>> known_;  // by production and place
};

// Names that are used without a production, or have two.
std::vector<std::string> undefined(const std::vector<syntax::Production>& table);
// Names of productions that can begin with themselves, and of those that can be empty.
std::vector<std::string> left_recursive(const std::vector<syntax::Production>& table);
std::vector<std::string> nullable(const std::vector<syntax::Production>& table);

std::u32string decode_utf8(std::string_view text);
std::string encode_utf8(std::u32string_view text);

}  // namespace groma::testing
