// The definitions of a mapping: its functions and globals (such as `m = Machine(GPU);`). They are
// joined and removed by name, so that a new text of some statements loses no function that is
// still used.
#pragma once

#include <string>
#include <string_view>

#include "edit/mapping.h"

namespace groma::edit {

// Returns all names in a text, other than reserved words, as the keys that definitions of these
// names would have.
Keys keys_of_used_names(std::string_view text);

// Returns the definitions of both texts, globals before functions. If both define a name, the
// definition in `added` counts.
std::string join_definitions(std::string_view text, std::string_view added);

// Returns the keys of the definitions of `text` that `uses` needs, and of those that these need.
// `uses` holds the keys of the names that statements use.
Keys keys_of_needed_definitions(std::string_view text, const Keys& uses);

}  // namespace groma::edit
