// tune(): a search in a thread of its own, whose events Python reads one after another.
#pragma once

#include <nanobind/nanobind.h>

namespace groma::python {

// Adds the class Search to the module. groma/_tune.py makes its iterator.
void bind_tune(nanobind::module_& module);

}  // namespace groma::python
