// The inputs of Groma as Python objects: programs, machines and applications. Functions of the
// module also take what such an object is made from.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>
#include <optional>

#include "groma/app.h"
#include "groma/diagnostics.h"
#include "groma/evaluate.h"
#include "groma/machine.h"
#include "groma/program.h"
#include "groma/source.h"
#include "groma/workload.h"

namespace groma::python {

namespace nb = nanobind;

// groma.Machine.
struct PyMachine {
  std::shared_ptr<const Machine> machine;
};

// groma.Application: an application with the values of its parameters.
struct PyApplication {
  std::shared_ptr<const Application> app;
  Workload workload;
};

// groma.Program: a program without errors, and the warnings about it.
struct PyProgram {
  Program program;
  Diagnostics diags;
};

// groma.BoundProgram: a program on a machine.
struct PyBound {
  BoundProgram bound;
  Diagnostics diags;
};

// Returns the text of a program: of a Program or BoundProgram, a string, or the path of a file
// (os.PathLike). Throws groma.GromaError for any other object or an unreadable file.
Source source_of(nb::handle program);
// Returns the machine for a Machine, a name or inline line (str), a dict, or a path. Throws
// groma.GromaError.
std::shared_ptr<const Machine> machine_of(nb::handle machine);
// Returns the application for an Application, a name or file name (str), a dict, or a path. Throws
// groma.GromaError.
PyApplication application_of(nb::handle app);
// Returns the program bound to the machine; for a BoundProgram, `machine` is None. Throws
// groma.MappingError if the program has errors. The diagnostics are of the program's source.
PyBound bound_of(nb::handle program, nb::handle machine);

// Adds the classes Program, BoundProgram, Machine and Application to the module.
void bind_inputs(nb::module_& module);

}  // namespace groma::python
