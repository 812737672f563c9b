// emit: writes a mapping as C++, as a Legion mapper that does not need Groma. It is for people who
// want to read or own the mapper.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "groma/diagnostics.h"
#include "groma/program.h"

namespace groma {

// Options of emit(), which writes a mapping as C++.
struct EmitOptions {
  // Name of the mapper's class. Everything else is in a namespace of the same name in lower case.
  // Empty: made from the file's name, such as `CannonMapper` for cannon.mapper. Must satisfy
  // is_class_name.
  std::string class_name = {};
  // If false, only the decisions (`Mapping`) are written, which compile without Legion.
  bool legion = true;
};

// Returns true if `name` can be the name of a mapper. It must not be a C++ keyword, a name of the
// surrounding code, a reserved name or a likely macro.
bool is_class_name(std::string_view name);

// Returns the text of one C++20 source file. The file includes only Legion's headers and the
// standard library. Text of the program appears only in its comments. docs/emit.md describes the
// file. Returns nullopt if the program has errors, or has an expression whose type is known only at
// run time. `diags` (of program.source()) then has the reason (`not-emitted`).
std::optional<std::string> emit(const Program& program, const EmitOptions& options,
                                Diagnostics& diags);

}  // namespace groma
