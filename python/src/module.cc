// The extension module groma._core, which binds the C++ library for the package groma.
#include <nanobind/nanobind.h>

#include <span>
#include <string>

#include "errors.h"
#include "groma/benchmarks.h"
#include "groma/dsl_files.h"
#include "groma/machine.h"
#include "groma/version.h"
#include "inputs.h"
#include "inspect.h"
#include "tune.h"

NB_MODULE(_core, module) {
  namespace nb = nanobind;
  using groma::python::to_str;
  module.attr("__version__") = to_str(groma::kVersion);
  module.def(
      "machines",
      [] {
        nb::list list;
        for (const groma::Preset& preset : groma::machine_presets()) {
          list.append(nb::make_tuple(to_str(preset.name), to_str(preset.summary)));
        }
        return list;
      },
      nb::sig("def machines() -> list[tuple[str, str]]"),
      "Returns the names and summaries of the machines that come with Groma.");
  module.def(
      "applications",
      [] {
        nb::list list;
        for (const groma::Benchmark& app : groma::built_in_applications()) {
          list.append(nb::make_tuple(to_str(app.name), to_str(app.summary)));
        }
        return list;
      },
      nb::sig("def applications() -> list[tuple[str, str]]"),
      "Returns the names and summaries of the applications that come with Groma.");
  groma::python::bind_diagnostics(module);
  groma::python::bind_inputs(module);
  groma::python::bind_inspection(module);
  groma::python::bind_tune(module);
}
