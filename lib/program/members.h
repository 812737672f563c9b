// Tells which members and methods the values of a type have, and what types the members have.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "program/data.h"

namespace groma::program {

inline bool is_unknown_type(Type type) { return type == Type::kAny; }
// Returns true for types whose values are tuples or can stand for one. A processor can stand for
// the pair of its node and index.
inline bool is_pair_like(Type type) { return type == Type::kTuple || type == Type::kProcessor; }

// Return the member or method with that name, or nullopt if there is none.
std::optional<Member> find_member(std::string_view name);
std::optional<Method> find_method(std::string_view name);

// Return true if a value of the type has the member or method. A value of unknown type may have
// any.
bool type_has_member(Type type, Member member);
bool type_has_method(Type type, Method method);
// Returns all members and methods of a type, for messages.
std::vector<std::string_view> member_and_method_names(Type type);

// Returns true for the members that only tasks have.
bool is_task_member(Member member);
// Returns the type of a member's value.
Type type_of(Member member);
// Returns the type of a value that a method takes or returns.
Type type_of(syntax::OperandType operand);

}  // namespace groma::program
