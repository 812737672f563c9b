// Builds the sentences of the guide: inserts what the pattern of a rule matched in a log into the
// texts of the rule.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "guide/rules.h"

namespace groma::guide {

// What the named groups of a rule's pattern matched, by the name of the group. Control characters
// in the texts are escaped.
using CapturedGroups = std::map<std::string, std::string>;

// Returns the texts that the named groups of the rule's pattern match in `text`. Processor and
// memory kinds are translated to the words of the mapping language. If there is such a kind, the
// extra group `flag` is the Legion flag that provides processors or memories of the kind.
CapturedGroups captured_groups(const Rule& rule, std::string_view text);

// Returns the text that the group with this name matched, or an empty text if there is no such
// group.
std::string text_of_group(const CapturedGroups& groups, const char* name);

// Returns the template `text` with each {name} replaced by the group of that name. If there is no
// such group, {name|words} becomes `words`, and {name} becomes "?".
std::string fill_template(std::string_view text, const CapturedGroups& groups);

// Translate a word of a log to the mapping language: "GPU" for "TOC_PROC" and "1", "FBMEM" for
// "GPU_FB_MEM" and "Framebuffer". Return any other word unchanged.
std::string translate_processor_word(std::string_view word);
std::string translate_memory_word(std::string_view word);

// Returns the flag with which a Legion run gets processors or memories of this kind, such as
// "-ll:gpu N". Returns an empty text if there is no such flag.
std::string_view legion_flag_for_kind(std::string_view kind);

// Returns the text as a sentence: with a capital letter at the beginning and a full stop at the
// end.
std::string as_sentence(std::string text);
// Adds the text as a sentence to the list, unless the list already contains that sentence.
void add_sentence(std::string text, std::vector<std::string>* list);

}  // namespace groma::guide
