// Writes the signatures of methods for help texts.

#include "syntax/methods.h"

namespace groma::syntax {

// Returns the call as help texts show it: `split(d, f)`.
std::string signature_of(const MethodInfo& method) {
  std::string text(method.name);
  text += '(';
  for (std::size_t i = 0; i < method.parameter_count(); ++i) {
    if (i > 0) text += ", ";
    text += method.parameters[i].name;
  }
  return text + ')';
}

}  // namespace groma::syntax
