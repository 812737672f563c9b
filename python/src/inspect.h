// The functions that examine or run one mapping: check, place, explain, run, diff and guide.
#pragma once

#include <nanobind/nanobind.h>

namespace groma::python {

// Adds the functions, and the classes of their results, to the module. groma/_calls.py wraps them.
void bind_inspection(nanobind::module_& module);

}  // namespace groma::python
