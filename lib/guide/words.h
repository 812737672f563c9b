// The guide's sentences: a rule's texts with what its pattern found in the log.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "guide/rules.h"

namespace groma::guide {

using Groups = std::map<std::string, std::string>;  // by name; fit to be shown

// What the pattern's groups hold in the text that it matched. Kinds of processors and memories get
// the names of the mapping language, and `flag` is what gives Legion some.
Groups groups_of(const Rule& rule, std::string_view text);

// The template with {name} replaced by a group, {name|words} by words where there is none.
std::string filled(std::string_view text, const Groups& groups);

// "GPU" for "TOC_PROC" and "1", "FBMEM" for "GPU_FB_MEM" and "Framebuffer"; else the word itself.
std::string processor_word(std::string_view word);
std::string memory_word(std::string_view word);

// The flag that gives a run of Legion processors or memories of a kind: "-ll:gpu N"; empty: none.
std::string_view legion_flag(std::string_view kind);

// With a capital letter and a full stop.
std::string sentence(std::string text);
// Adds it as a sentence, unless it is there.
void add_sentence(std::string text, std::vector<std::string>* list);

}  // namespace groma::guide
