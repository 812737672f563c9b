// Keeps the local variables as a stack, in which variables of one name are chained.
#include "program/scope.h"

namespace groma::program {

// Declares a variable with a new slot. It hides an earlier variable of the same name.
std::uint32_t LocalScope::declare_local(NameId name, Type type) {
  if (last_local_.empty()) last_local_.assign(names_, LocalVariable::kNone);
  const std::uint32_t slot = slots_++;
  locals_.push_back({name, slot, type, last_local_[name]});
  last_local_[name] = static_cast<std::uint32_t>(locals_.size() - 1);
  return slot;
}

void LocalScope::remove_last_local() {
  last_local_[locals_.back().name] = locals_.back().hidden_local;
  locals_.pop_back();
}

const LocalVariable* LocalScope::find_local(NameId name) const {
  const std::uint32_t at = name < last_local_.size() ? last_local_[name] : LocalVariable::kNone;
  return at == LocalVariable::kNone ? nullptr : &locals_[at];
}

}  // namespace groma::program
