// Keeps the local variables as a stack, in which variables of one name are chained.
#include "program/scope.h"

namespace groma::program {

// Declares a variable with a new slot. It hides an earlier variable of the same name.
std::uint32_t Scope::push(NameId name, Type type) {
  if (last_local_.empty()) last_local_.assign(names_, Local::kNone);
  const std::uint32_t slot = slots_++;
  locals_.push_back({name, slot, type, last_local_[name]});
  last_local_[name] = static_cast<std::uint32_t>(locals_.size() - 1);
  return slot;
}

void Scope::pop() {
  last_local_[locals_.back().name] = locals_.back().hidden;
  locals_.pop_back();
}

const Local* Scope::find(NameId name) const {
  const std::uint32_t at = name < last_local_.size() ? last_local_[name] : Local::kNone;
  return at == Local::kNone ? nullptr : &locals_[at];
}

}  // namespace groma::program
