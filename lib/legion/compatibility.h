// What differs between the releases of Legion that Groma is built with, from 25.06 on.
#pragma once

#include <legion.h>

namespace groma::legion {

// SelectMappingInput names its processor from 25.12 on.
template <typename Input>
void copy_processor(const Input& from, Input& to) {
  if constexpr (requires { from.processor; }) to.processor = from.processor;
}

}  // namespace groma::legion
