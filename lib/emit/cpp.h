// Makes C++ text: names, literals and types.
#pragma once

#include <compare>
#include <set>
#include <string>
#include <string_view>

#include "groma/kinds.h"
#include "groma/source.h"
#include "program/data.h"

namespace groma::emitting {

// The C++ type of a value of the mapping language: `type`, or tuples nested `depth` deep. `type` is
// never kTuple. kAny is the type of an expression that can only fail.
struct CppValueType {
  program::Type type = program::Type::kAny;
  int depth = 0;

  bool can_only_fail() const { return type == program::Type::kAny; }
  bool is_type(program::Type other) const { return depth == 0 && type == other; }
  bool is_tuple() const { return depth > 0; }
  bool is_integer_tuple() const { return type == program::Type::kInt && depth == 1; }
  // Returns the type as text for messages: "a tuple of integers".
  std::string type_text() const;
  // Returns the name of the C++ type: "Tuple".
  std::string cpp_type() const;
  // Returns the C++ type of a function parameter: "const Tuple&".
  std::string cpp_parameter_type() const;
  friend auto operator<=>(const CppValueType&, const CppValueType&) = default;
};

inline constexpr CppValueType kInt{program::Type::kInt};
inline constexpr CppValueType kBool{program::Type::kBool};
// The type of a tuple of integers.
inline constexpr CppValueType kTuple{program::Type::kInt, 1};
inline constexpr CppValueType kMachine{program::Type::kMachine};

// Returns the text as a C++ string literal.
std::string string_literal(std::string_view text);
// Returns a part of a mapping program's text for a comment, with its line and column: "4:1 Task
// work GPU".
std::string cite_source(const Source& source, Range range);
std::string_view enumerator_of(ProcKind kind);
std::string_view enumerator_of(MemKind kind);

// The names that are taken in one scope of the emitted C++ and its enclosing scopes. A wanted name
// that is a C++ keyword, a name of Groma's emitted code, or in use gets an underscore or a number.
class ScopeNames {
 public:
  ScopeNames();
  std::string add_name(std::string_view wanted);

 private:
  std::set<std::string, std::less<>> taken_;
};

}  // namespace groma::emitting
