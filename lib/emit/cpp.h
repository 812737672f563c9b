// C++ as text: names, literals, types.
#pragma once

#include <compare>
#include <set>
#include <string>
#include <string_view>

#include "groma/kinds.h"
#include "groma/source.h"
#include "program/data.h"

namespace groma::emitting {

// What a value is in C++: `type`, or a tuple of tuples of ... `depth` deep. kTuple itself is never
// one; kAny is that of what can only fail.
struct ValueType {
  program::Type type = program::Type::kAny;
  int depth = 0;

  bool never() const { return type == program::Type::kAny; }
  bool is(program::Type other) const { return depth == 0 && type == other; }
  bool tuple() const { return depth > 0; }
  bool integers() const { return type == program::Type::kInt && depth == 1; }
  // In messages: "a tuple of integers".
  std::string text() const;
  // In C++: "Tuple".
  std::string cpp() const;
  // As a parameter: "const Tuple&".
  std::string parameter() const;
  friend auto operator<=>(const ValueType&, const ValueType&) = default;
};

std::string quoted(std::string_view text);  // as a string literal
// A part of a program's text for a comment, with its place: "4:1 Task work GPU".
std::string cited(const Source& source, Range range);
std::string_view enumerator(ProcKind kind);
std::string_view enumerator(MemKind kind);

// Names of one scope, those around it included. A word of C++ or of our own parts, and what another
// has already, gets an underscore or a number.
class Names {
 public:
  Names();
  std::string add(std::string_view wanted);

 private:
  std::set<std::string, std::less<>> taken_;
};

}  // namespace groma::emitting
