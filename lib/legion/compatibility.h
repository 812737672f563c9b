// Differences between the releases of Legion that Groma supports, from 25.06 on.
#pragma once

#include <legion.h>

namespace groma::legion {

// Copies the member `processor` of a SelectMappingInput, which exists in Legion 25.12 and later.
template <typename Input>
void copy_processor(const Input& from, Input& to) {
  if constexpr (requires { from.processor; }) to.processor = from.processor;
}

}  // namespace groma::legion
