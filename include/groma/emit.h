// A mapping as C++: a Legion mapper that needs no Groma, for people who want to read or own it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "groma/diagnostics.h"
#include "groma/program.h"

namespace groma {

struct EmitOptions {
  // Of the mapper; all else is in a namespace of that name in small letters. Empty: made of the
  // file's name, `CannonMapper` for cannon.mapper. Must be is_class_name.
  std::string class_name = {};
  // False: the decisions alone (`Mapping`), which compile without Legion.
  bool legion = true;
};

// Whether a mapper can be named so: no word of C++, no name of what stands beside it, nothing that
// is reserved or may be a macro.
bool is_class_name(std::string_view name);

// The text of one C++20 source file (Legion's headers and the standard library are all it
// includes), with text of the program in comments alone. docs/emit.md says what is in it. Nothing
// when the program has errors or says what has no type before it runs, which `diags` (of
// program.source()) then says (`not-emitted`).
std::optional<std::string> emit(const Program& program, const EmitOptions& options,
                                Diagnostics& diags);

}  // namespace groma
