// LocalScope: the local variables that are visible at a place of a function, and their slots.
#pragma once

#include <cstdint>
#include <vector>

#include "program/data.h"

namespace groma::program {

// A local variable: its name, its slot, and the type of its value as far as it is known.
struct LocalVariable {
  NameId name;
  std::uint32_t slot;
  Type type;
  // The position of the variable of the same name that this one hides, or kNone.
  std::uint32_t hidden_local;
  static constexpr std::uint32_t kNone = 0xFFFFFFFF;
};

class LocalScope {
 public:
  // `names` is the number of names in the program.
  explicit LocalScope(std::size_t names) : names_(names) {}

  // Restarts the numbering of slots at 0, for a function or a top-level statement.
  void restart_slots() { slots_ = 0; }
  // Removes all local variables.
  void clear() {
    while (!locals_.empty()) remove_last_local();
  }
  // Returns the number of slots that were assigned since restart_slots().
  std::uint32_t slot_count() const { return slots_; }

  // Declares a variable with a new slot, which it returns. The variable hides an earlier one of the
  // same name until remove_last_local() removes it.
  std::uint32_t declare_local(NameId name, Type type);
  // Removes the variable that was declared last. Its slot is not used again.
  void remove_last_local();
  // Returns the innermost variable with this name, or null.
  const LocalVariable* find_local(NameId name) const;
  const std::vector<LocalVariable>& all_locals() const { return locals_; }

 private:
  std::size_t names_;
  std::uint32_t slots_ = 0;
  // The variables in the order of their declaration. The last one of a name is visible.
  std::vector<LocalVariable> locals_;
  // For each NameId: the position in locals_ of the visible variable, or LocalVariable::kNone.
  std::vector<std::uint32_t> last_local_;
};

}  // namespace groma::program
