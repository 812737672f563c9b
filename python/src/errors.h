// How messages of Groma reach Python: diagnostics as objects, and failures as the exceptions of
// groma/_errors.py.
#pragma once

#include <nanobind/nanobind.h>

#include <string_view>
#include <utility>

#include "groma/diagnostics.h"
#include "groma/result.h"
#include "groma/source.h"

namespace groma::python {

namespace nb = nanobind;

// Returns the text as a Python string. Bytes that are not UTF-8 become replacement characters.
nb::str to_str(std::string_view text);

// Returns the diagnostics as a list of Python objects, in the order of the text.
nb::list to_list(const Diagnostics& diags);

// Throws groma.GromaError. The caller holds the GIL.
[[noreturn]] void raise(const Error& error);
// Throws groma.MappingError with these diagnostics, which have at least one error. `advice` is a
// text of the guide, or empty. The caller holds the GIL.
[[noreturn]] void raise(const Diagnostics& diags, std::string_view advice = {});
// Throws groma.GromaError with a message and a cure about a wrong argument.
[[noreturn]] void raise_bad_argument(std::string_view message, std::string_view help = {});

// Returns the value, or throws groma.GromaError.
template <typename T>
T value_or_raise(Result<T> result) {
  if (!result) raise(result.error());
  return std::move(result).value();
}

// Adds the classes Diagnostic, Note, Fix and Edit to the module.
void bind_diagnostics(nb::module_& module);

}  // namespace groma::python
