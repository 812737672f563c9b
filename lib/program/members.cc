// Looks up members and methods by name and by type.
#include "program/members.h"

namespace groma::program {

std::optional<Method> find_method(std::string_view name) {
  for (const syntax::MethodInfo& info : syntax::kMethods) {
    if (info.name == name) return info.method;
  }
  return std::nullopt;
}

std::optional<Member> find_member(std::string_view name) {
  for (std::size_t i = 0; i < kMemberCount; ++i) {
    if (name_of(static_cast<Member>(i)) == name) return static_cast<Member>(i);
  }
  return std::nullopt;
}

Type type_of(syntax::OperandType operand) {
  switch (operand) {
    case syntax::OperandType::kNone:
      break;
    case syntax::OperandType::kMachine:
      return Type::kMachine;
    case syntax::OperandType::kProcessor:
      return Type::kProcessor;
    case syntax::OperandType::kTask:
      return Type::kTask;
    case syntax::OperandType::kMemory:
      return Type::kMemKind;
    case syntax::OperandType::kDimension:
    case syntax::OperandType::kInteger:
      return Type::kInt;
    case syntax::OperandType::kIntegers:
      return Type::kTuple;
    case syntax::OperandType::kTruth:
      return Type::kBool;
  }
  return Type::kAny;
}

// Returns true for members that only tasks have. These are kIpoint and all enumerators after it.
bool is_task_member(Member member) { return member >= Member::kIpoint; }

bool type_has_member(Type type, Member member) {
  if (is_unknown_type(type)) return true;
  if (type == Type::kTask) return is_task_member(member);
  // A parent task has no member but its name.
  if (type == Type::kParent) return member == Member::kName;
  return (type == Type::kMachine || is_pair_like(type)) && !is_task_member(member);
}

bool type_has_method(Type type, Method method) {
  if (is_unknown_type(type)) return true;
  const Type receiver = type_of(syntax::info_of(method).receiver);
  return type == receiver || (receiver == Type::kTask && type == Type::kParent);
}

// Returns the members of a type, followed by its methods in the order of their table.
std::vector<std::string_view> member_and_method_names(Type type) {
  std::vector<std::string_view> names;
  for (std::size_t i = 0; i < kMemberCount; ++i) {
    const auto member = static_cast<Member>(i);
    if (type_has_member(type, member)) names.push_back(name_of(member));
  }
  for (const syntax::MethodInfo& info : syntax::kMethods) {
    if (type_has_method(type, info.method)) names.push_back(info.name);
  }
  return names;
}

// The members that the switch does not name (extents, points and corners) are tuples.
Type type_of(Member member) {
  switch (member) {
    case Member::kVolume:
    case Member::kLen:
    case Member::kIrank:
    case Member::kIvolume:
      return Type::kInt;
    case Member::kParent:
      return Type::kParent;
    case Member::kName:
      return Type::kString;
    default:
      return Type::kTuple;
  }
}

}  // namespace groma::program
