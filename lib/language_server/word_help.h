// Short descriptions of the words of the language: reserved words, machine operations and members.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "syntax/token.h"

namespace groma::language_server {

// What an editor shows about a word.
struct WordHelp {
  std::string_view word;
  // The form in which the word is used, such as `Task NAMES KIND, ...`.
  std::string form;
  std::string description;
};

// Returns the help for a reserved word, or nullopt if the word is not reserved.
std::optional<WordHelp> help_for_reserved(const syntax::ReservedWord& word);
// Returns the help for `when`, which begins a statement but is not reserved.
WordHelp help_for_when();

// The kind of value that has a member.
enum class MemberOf { kMachine, kTask, kOther };
struct MemberHelp : WordHelp {
  MemberOf of = MemberOf::kOther;
  bool is_operation = false;
};
// Returns all members and machine operations, which a program writes behind `.`.
const std::vector<MemberHelp>& member_help();
// Returns the help for a member, or null.
const MemberHelp* find_member_help(std::string_view name);

}  // namespace groma::language_server
