// Builds the sentences of the guide: a rule's texts, filled with what its pattern matched in the
// log.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "guide/rules.h"

namespace groma::guide {

using Groups = std::map<std::string, std::string>;  // texts of groups by name; safe to show

// Returns what the groups of the rule's pattern hold in `text`. Kinds of processors and memories
// are renamed as in the mapping language. The extra group `flag` is the Legion flag that provides
// them.
Groups groups_of(const Rule& rule, std::string_view text);

// Returns the template `text` with each {name} replaced by the group. {name|words} is replaced by
// `words` if there is no such group.
std::string filled(std::string_view text, const Groups& groups);

// Returns "GPU" for "TOC_PROC" and "1", "FBMEM" for "GPU_FB_MEM" and "Framebuffer". Any other word
// is returned unchanged.
std::string processor_word(std::string_view word);
std::string memory_word(std::string_view word);

// Returns the flag with which a Legion run gets processors or memories of this kind, such as
// "-ll:gpu N". Returns an empty string if there is no such flag.
std::string_view legion_flag(std::string_view kind);

// Returns the text with a capital letter at the beginning and a full stop at the end.
std::string sentence(std::string text);
// Adds the text as a sentence, unless the list already contains that sentence.
void add_sentence(std::string text, std::vector<std::string>* list);

}  // namespace groma::guide
