#include "architecture/prose.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <set>

#include "architecture/tokens.h"

namespace groma::architecture {
namespace {

namespace fs = std::filesystem;

// Returns true for the name of a constant: `kMapped`.
bool is_constant(const Token& token) {
  const std::string& text = token.text;
  return token.kind == Token::Kind::kWord && text.size() > 1 && text[0] == 'k' &&
         std::isupper(static_cast<unsigned char>(text[1])) != 0;
}

bool looks_like_prose(std::string_view text) {
  bool letter = false, capital = false;
  for (const char c : text) {
    const bool lower = std::islower(static_cast<unsigned char>(c)) != 0;
    if (c == ' ' || (capital && lower)) return true;
    capital = std::isupper(static_cast<unsigned char>(c)) != 0;
    letter = letter || capital || lower;
  }
  return letter && text.ends_with('.');
}

// Returns the literals that a file compares with or searches for.
std::vector<std::string> literals_sought(std::string_view code) {
  using Kind = Token::Kind;
  static const std::set<std::string, std::less<>> kSearches = {"starts_with", "ends_with", "find",
                                                               "rfind", "contains"};
  const std::vector<Token> all = tokens_of(code);
  std::map<std::string, std::string> constants;
  for (std::size_t i = 0; i + 2 < all.size(); ++i) {
    const bool defines = is_constant(all[i]) && all[i + 1].text == "=";
    if (defines && all[i + 2].kind == Kind::kString) constants[all[i].text] = all[i + 2].text;
  }
  std::vector<std::string> found;
  const auto take = [&](std::size_t i) {
    if (i >= all.size()) return;
    const auto constant = constants.find(all[i].text);
    if (all[i].kind == Kind::kString) {
      found.push_back(all[i].text);
    } else if (is_constant(all[i]) && constant != constants.end()) {
      found.push_back(constant->second);
    }
  };
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto is = [&](std::size_t k, std::string_view sign) {
      return k < all.size() && all[k].kind == Kind::kSign && all[k].text == sign;
    };
    if (is(i, "==") || is(i, "!=")) {
      if (i > 0) take(i - 1);
      take(i + 1);
    } else if (all[i].kind != Kind::kWord) {
      continue;
    } else if (kSearches.contains(all[i].text) && is(i + 1, "(")) {
      take(i + 2);
    } else if (all[i].text == "RE2") {
      // `RE2 name("...")` or `RE2("...")`
      const std::size_t open = is(i + 1, "(") ? i + 1 : i + 2;
      if (is(open, "(")) take(open + 1);
    }
  }
  return found;
}

}  // namespace

Violations check_prose(const fs::path& root, const std::vector<ForeignText>& allowed) {
  Violations violations;
  std::vector<ForeignText> unused = allowed;
  const auto is_about = [](const ForeignText& text, std::string_view file,
                           std::string_view literal) {
    return text.file == file && (text.literal.empty() || text.literal == literal);
  };
  for (const char* part : {"lib", "examples"}) {
    for (const fs::path& file : files_below(root / part)) {
      if (file.extension() != ".cc" && file.extension() != ".h") continue;
      const std::string name = fs::relative(file, root).generic_string();
      for (const std::string& literal : literals_sought(read_text(file))) {
        if (!looks_like_prose(literal)) continue;
        const auto here = [&](const ForeignText& text) { return is_about(text, name, literal); };
        std::erase_if(unused, here);
        if (std::any_of(allowed.begin(), allowed.end(), here)) continue;
        violations.push_back(name + " searches for or compares with \"" + literal + "\"");
      }
    }
  }
  for (const ForeignText& text : unused) {
    violations.push_back("no code of " + std::string(text.file) + " needs the exception \"" +
                         std::string(text.literal) + "\"");
  }
  return violations;
}

}  // namespace groma::architecture
