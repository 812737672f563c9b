// Joins and removes the functions and globals of mappings by their names.
#include "edit/definitions.h"

#include <algorithm>

#include "groma/diagnostics.h"
#include "syntax/lexer.h"

namespace groma::edit {
namespace {

using syntax::StatementKind;

// Returns the keys of a text's definitions of this kind: kDef for functions, kAssign for globals.
Keys keys_of_kind(const EditableMapping& text, StatementKind kind) {
  Keys keys;
  for (const EditableMapping::ProgramItem& item : text.items()) {
    if (item.kind == kind) keys.insert(item.key);
  }
  return keys;
}

// Returns the text without the items whose keys are not in `kept`.
std::string text_with_only(const EditableMapping& text, const Keys& kept) {
  Keys others = text.item_keys();
  for (const std::string& key : kept) others.erase(key);
  return text.text_without(others);
}

bool have_common_key(const Keys& a, const Keys& b) {
  return std::any_of(a.begin(), a.end(), [&](const std::string& key) { return b.contains(key); });
}

// Returns the text, with a line end behind its last line.
std::string with_line_end(std::string text) {
  if (!text.empty() && text.back() != '\n') text += '\n';
  return text;
}

}  // namespace

Keys keys_of_used_names(std::string_view text) {
  const Source source("mapping", std::string(text));
  Diagnostics ignored(source);
  syntax::Lexer lexer(source, ignored, nullptr);
  Keys keys;
  for (syntax::Token token = lexer.next_token(); token.kind != syntax::TokenKind::kEnd;
       token = lexer.next_token()) {
    if (token.kind == syntax::TokenKind::kName) {
      keys.insert(key_of_definition(source.text(token.range)));
    }
  }
  return keys;
}

// A global may use an earlier one. So the new globals come first if an old one uses them, and last
// otherwise.
std::string join_definitions(std::string_view text, std::string_view added) {
  const EditableMapping now(added);
  const EditableMapping before(EditableMapping(text).text_without(now.definition_keys()));
  const Keys new_globals = keys_of_kind(now, StatementKind::kAssign);
  const std::string old_globals =
      with_line_end(text_with_only(before, keys_of_kind(before, StatementKind::kAssign)));
  const std::string globals = with_line_end(text_with_only(now, new_globals));
  const bool first = have_common_key(keys_of_used_names(old_globals), new_globals);
  return (first ? globals + old_globals : old_globals + globals) +
         with_line_end(text_with_only(before, keys_of_kind(before, StatementKind::kDef))) +
         with_line_end(text_with_only(now, keys_of_kind(now, StatementKind::kDef)));
}

// Adds the names that the needed definitions use, until no further definition is needed.
Keys keys_of_needed_definitions(std::string_view text, const Keys& uses) {
  const EditableMapping mapping(text);
  Keys used = uses, needed;
  for (bool grows = true; grows;) {
    grows = false;
    for (const EditableMapping::ProgramItem& item : mapping.items()) {
      if (!used.contains(item.key) || !needed.insert(item.key).second) continue;
      used.merge(keys_of_used_names(mapping.item_text(item)));
      grows = true;
    }
  }
  return needed;
}

}  // namespace groma::edit
