#include "architecture/statements.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "architecture/tokens.h"

namespace groma::architecture {
namespace {

namespace fs = std::filesystem;

// Returns true if a statement begins at the beginning of the text.
bool begins_statement(std::string_view text) {
  constexpr std::array<std::string_view, 10> kWords = {
      "Task ",         "Region ",        "Layout ",    "InstanceLimit ",    "CollectMemory ",
      "IndexTaskMap ", "SingleTaskMap ", "TaskSteal ", "ControlReplicate ", "def "};
  return std::any_of(kWords.begin(), kWords.end(), [&](std::string_view word) {
    if (!text.starts_with(word)) return false;
    const std::string_view rest = text.substr(word.size());
    return word == "def " || rest.empty() ||
           std::islower(static_cast<unsigned char>(rest.front())) == 0;
  });
}

// Returns true if a statement begins at the beginning of the literal, of a line of it or of a
// quotation in it. Escapes are as in the code.
bool holds_statement(std::string_view literal) {
  if (begins_statement(literal)) return true;
  for (const std::string_view before : {"\\n", "\n", "`"}) {
    for (std::size_t at = literal.find(before); at != literal.npos;
         at = literal.find(before, at + 1)) {
      if (begins_statement(literal.substr(at + before.size()))) return true;
    }
  }
  return false;
}

}  // namespace

Violations check_statements(const fs::path& root, const std::vector<HoldsStatements>& allowed) {
  Violations violations;
  std::vector<HoldsStatements> unused = allowed;
  for (const char* part : {"lib", "examples/driver"}) {
    for (const fs::path& file : files_below(root / part)) {
      if (file.extension() != ".cc" && file.extension() != ".h") continue;
      const std::string name = fs::relative(file, root).generic_string();
      if (name.starts_with("lib/edit/")) continue;
      const auto here = [&](const HoldsStatements& each) { return each.file == name; };
      for (const Token& token : tokens_of(read_text(file))) {
        if (token.kind != Token::Kind::kString || !holds_statement(token.text)) continue;
        std::erase_if(unused, here);
        if (std::any_of(allowed.begin(), allowed.end(), here)) continue;
        violations.push_back(name + " writes a statement outside of lib/edit: \"" + token.text +
                             "\"");
      }
    }
  }
  for (const HoldsStatements& each : unused) {
    violations.push_back("no code of " + std::string(each.file) + " needs its exception");
  }
  return violations;
}

}  // namespace groma::architecture
