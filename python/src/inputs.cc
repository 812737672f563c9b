// Programs, machines and applications from Python objects.
#include "inputs.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "errors.h"
#include "groma/advise.h"
#include "groma/inspect.h"
#include "groma/io.h"
#include "groma/kinds.h"
#include "groma/syntax.h"
#include "interrupt.h"

namespace groma::python {
namespace {

bool is_path(nb::handle object) { return nb::hasattr(object, "__fspath__"); }

// Returns the path of an os.PathLike object.
std::string path_of(nb::handle object) {
  return nb::cast<std::string>(nb::module_::import_("os").attr("fsdecode")(object));
}

// Returns a dict or list as JSON. Throws groma.GromaError if it holds something else than JSON
// does.
std::string json_of(nb::handle object) {
  try {
    return nb::cast<std::string>(nb::module_::import_("json").attr("dumps")(object));
  } catch (nb::python_error& error) {
    if (!error.matches(PyExc_TypeError) && !error.matches(PyExc_ValueError)) throw;
    raise_bad_argument(
        "a dict cannot be written as JSON: " + nb::cast<std::string>(nb::str(error.value())),
        "pass a dict of numbers, strings, lists and dicts");
  }
}

// Returns the name of the object's type, for messages.
std::string class_name(nb::handle object) {
  return nb::cast<std::string>(object.type().attr("__name__"));
}

// Returns the parsed JSON text as Python objects.
nb::object parsed(const std::string& json) {
  return nb::module_::import_("json").attr("loads")(to_str(json));
}

// Reads an application, and sets parameters.
PyApplication read_application(nb::handle from, const std::vector<AppValue>& values) {
  const bool is_text = nb::isinstance<nb::str>(from);
  if (!is_text && !is_path(from) && !nb::isinstance<nb::dict>(from)) {
    raise_bad_argument("an application is a name, a path or a dict, not " + class_name(from));
  }
  const bool is_dict = nb::isinstance<nb::dict>(from), is_file = is_path(from);
  const std::string text = is_dict   ? json_of(from)
                           : is_file ? path_of(from)
                                     : nb::cast<std::string>(from);
  Interrupt interrupt;
  const auto stop = [&] { return interrupt.should_stop(); };
  // `text` is JSON, the path of a file, or a name with values.
  const auto read = [&]() -> Result<Application> {
    if (is_dict) return application_from_json(text, "application", stop);
    if (!is_file) return load_application(text, stop);
    const auto json = read_file(text, kMaxApplicationFileBytes);
    if (!json) return json.error();
    return application_from_json(*json, text, stop);
  };
  Result<Application> app = Error{Error::Code::kStopped, "stopped"};
  Result<Workload> workload = Error{Error::Code::kStopped, "stopped"};
  {
    const nb::gil_scoped_release released;
    app = read();
    if (app) workload = Workload::make(*app, values, stop);
  }
  interrupt.rethrow();
  if (!app) raise(app.error());
  if (!workload) raise(workload.error());
  return {std::make_shared<const Application>(*std::move(app)), *std::move(workload)};
}

std::vector<AppValue> values_of(const nb::kwargs& parameters) {
  std::vector<AppValue> values;
  for (const auto& [name, value] : parameters) {
    const std::string parameter = nb::cast<std::string>(name);
    std::int64_t number = 0;
    if (!nb::try_cast(value, number)) {
      raise_bad_argument("the value of `" + parameter + "` is not a whole number of 64 bits");
    }
    values.emplace_back(parameter, number);
  }
  return values;
}

ProcKind kind_of(const std::string& name) {
  if (const auto kind = find_proc_kind(name)) return *kind;
  raise_bad_argument("unknown processor kind `" + name + "`", "use CPU, GPU, OMP, IO, PY or PROC");
}

std::shared_ptr<const Machine> read_machine(nb::handle from) {
  const auto share = [](Result<Machine> made) {
    return std::make_shared<const Machine>(value_or_raise(std::move(made)));
  };
  if (nb::isinstance<nb::dict>(from)) return share(machine_from_json(json_of(from), "machine"));
  if (is_path(from)) {
    const std::string path = path_of(from);
    const std::string text = value_or_raise(read_file(path, kMaxMachineFileBytes));
    return share(machine_from_json(text, path));
  }
  if (nb::isinstance<nb::str>(from)) return share(load_machine(nb::cast<std::string>(from)));
  raise_bad_argument("a machine is a name, a line of counts, a path or a dict, not " +
                     class_name(from));
}

void bind_programs(nb::module_& module) {
  nb::class_<PyProgram>(module, "Program", "A mapping without errors, independent of any machine.")
      .def(
          "__init__",
          [](PyProgram* self, nb::handle program, const std::optional<std::string>& name) {
            Source source = source_of(program);
            if (name) source = Source(*name, std::string(source.text()));
            Diagnostics diags(source);
            Program compiled = compile(source, diags);
            if (diags.has_errors()) raise(diags);
            new (self) PyProgram{std::move(compiled), std::move(diags)};
          },
          nb::arg("program"), nb::arg("name") = nb::none(),
          nb::sig("def __init__(self, program: str | os.PathLike[str] | Program, "
                  "name: str | None = None) -> None"),
          "Reads a program: its text (str), or a file (os.PathLike). Raises MappingError.")
      .def_prop_ro("text", [](const PyProgram& x) { return to_str(x.program.source().text()); })
      .def_prop_ro("name", [](const PyProgram& x) { return to_str(x.program.source().name()); })
      .def_prop_ro(
          "diagnostics", [](const PyProgram& x) { return to_list(x.diags); },
          "The warnings about the text.")
      .def_prop_ro(
          "functions",
          [](const PyProgram& x) {
            nb::list names;
            for (FunctionId f = 0; f < x.program.function_count(); ++f) {
              names.append(to_str(x.program.function_name(f)));
            }
            return names;
          },
          "The names of the functions, in the order of the text.")
      .def_prop_ro(
          "mark", [](const PyProgram& x) { return mapping_mark(x.program); },
          "A short hash of the program that ignores comments and spaces.")
      .def(
          "format",
          [](const PyProgram& x) {
            Diagnostics diags(x.program.source());
            const auto text = format(x.program.source(), diags);
            if (!text) raise(diags);
            return to_str(*text);
          },
          "Returns the text in the standard style.")
      .def(
          "bind",
          [](const nb::object& self, nb::handle machine) { return bound_of(self, machine); },
          nb::arg("machine"),
          nb::sig("def bind(self, machine: Machine | str | dict[str, typing.Any] | "
                  "os.PathLike[str]) -> BoundProgram"),
          "Gives the program's variables their values on a machine. Raises MappingError.")
      .def("__repr__", [](const PyProgram& x) {
        return nb::str("<groma.Program {}>").format(to_str(x.program.source().name()));
      });

  nb::class_<PyBound>(module, "BoundProgram", "A program on a machine, made by Program.bind().")
      .def_prop_ro("program",
                   [](const PyBound& x) {
                     return PyProgram{x.bound.program(), Diagnostics(x.bound.program().source())};
                   })
      .def_prop_ro("machine", [](const PyBound& x) { return PyMachine{x.bound.shared_machine()}; })
      .def_prop_ro("diagnostics", [](const PyBound& x) { return to_list(x.diags); });
}

void bind_machine(nb::module_& module) {
  nb::class_<PyMachine>(module, "Machine", "A machine for which a mapping decides.")
      .def(
          "__init__",
          [](PyMachine* self, nb::handle from) { new (self) PyMachine{machine_of(from)}; },
          nb::arg("machine"),
          nb::sig("def __init__(self, machine: str | dict[str, typing.Any] | os.PathLike[str] | "
                  "Machine) -> None"),
          "Makes a machine from a preset (\"p100x4:nodes=2\"), a line of counts "
          "(\"nodes=4,gpu=4\"), \"local\", a dict (docs/machines.md) or a JSON file.")
      .def_prop_ro("name", [](const PyMachine& x) { return to_str(x.machine->name()); })
      .def_prop_ro("description",
                   [](const PyMachine& x) { return to_str(x.machine->description()); })
      .def_prop_ro("node_count", [](const PyMachine& x) { return x.machine->node_count(); })
      .def(
          "processor_count",
          [](const PyMachine& x, const std::string& kind, const std::optional<std::int64_t>& node) {
            const ProcKind of = kind_of(kind);
            std::int64_t count = 0;
            if (node && (*node < 0 || *node >= x.machine->node_count())) {
              throw nb::index_error("the machine has no such node");
            }
            const std::int64_t end = node ? *node + 1 : x.machine->node_count();
            for (std::int64_t n = node.value_or(0); n < end; ++n) {
              count += x.machine->processor_count(n, of);
            }
            return count;
          },
          nb::arg("kind"), nb::arg("node") = nb::none(),
          "Returns the number of processors of a kind on one node, or on the whole machine.")
      .def(
          "to_dict", [](const PyMachine& x) { return parsed(machine_to_json(*x.machine)); },
          nb::sig("def to_dict(self) -> dict[str, typing.Any]"),
          "Returns the machine with every figure, as docs/machines.md describes it.")
      .def("__eq__",
           [](const PyMachine& x, nb::handle other) {
             return nb::isinstance<PyMachine>(other) &&
                    *x.machine == *nb::cast<const PyMachine&>(other).machine;
           })
      .def("__repr__", [](const PyMachine& x) {
        return nb::str("<groma.Machine {}>").format(to_str(machine_line(*x.machine)));
      });
}

void bind_application(nb::module_& module) {
  nb::class_<PyApplication>(module, "Application", "An application with fixed parameters.")
      .def(
          "__init__",
          [](PyApplication* self, nb::handle from, const nb::kwargs& parameters) {
            new (self) PyApplication(parameters.size() == 0
                                         ? application_of(from)
                                         : read_application(from, values_of(parameters)));
          },
          nb::arg("application"), nb::arg("parameters"),
          nb::sig("def __init__(self, application: str | dict[str, typing.Any] | os.PathLike[str] "
                  "| Application, /, **parameters: int) -> None"),
          "Makes an application from the name of a benchmark (\"circuit\"), a JSON file, or a dict "
          "(docs/applications.md). Keywords set parameters.")
      .def_prop_ro("name", [](const PyApplication& x) { return to_str(x.workload.name()); })
      .def_prop_ro("description", [](const PyApplication& x) { return to_str(x.app->description); })
      .def_prop_ro(
          "parameters",
          [](const PyApplication& x) {
            nb::dict values;
            for (const auto& [name, value] : x.workload.values()) values[to_str(name)] = value;
            return values;
          },
          nb::sig("def parameters(self) -> dict[str, int]"), "The parameters with their values.")
      .def_prop_ro(
          "tasks",
          [](const PyApplication& x) {
            nb::list names;
            for (const AppTask& task : x.app->tasks) names.append(to_str(task.name));
            return names;
          },
          nb::sig("def tasks(self) -> list[str]"), "The names of the tasks.")
      .def(
          "with_parameters",
          [](const PyApplication& x, const nb::kwargs& parameters) {
            std::vector<AppValue> values = x.workload.values();
            for (const AppValue& given : values_of(parameters)) {
              std::erase_if(values, [&](const AppValue& v) { return v.first == given.first; });
              values.push_back(given);
            }
            return PyApplication{x.app, value_or_raise(Workload::make(*x.app, values))};
          },
          nb::sig("def with_parameters(self, **parameters: int) -> Application"),
          "Returns this application with other values of its parameters.")
      .def(
          "to_dict",
          [](const PyApplication& x) {
            Application app = *x.app;
            for (const auto& [name, value] : x.workload.values()) {
              for (AppParameter& parameter : app.parameters) {
                if (parameter.name == name) parameter.value = value;
              }
            }
            return parsed(application_to_json(app));
          },
          nb::sig("def to_dict(self) -> dict[str, typing.Any]"),
          "Returns the description, as docs/applications.md describes it, with these values.")
      .def("__str__", [](const PyApplication& x) { return to_str(draw(*x.app, x.app->name)); })
      .def("__repr__", [](const PyApplication& x) {
        return nb::str("<groma.Application {}>").format(to_str(x.workload.name()));
      });
}

}  // namespace

Source source_of(nb::handle program) {
  if (nb::isinstance<PyProgram>(program)) {
    return nb::cast<const PyProgram&>(program).program.source();
  }
  if (nb::isinstance<PyBound>(program)) {
    return nb::cast<const PyBound&>(program).bound.program().source();
  }
  if (is_path(program)) {
    const nb::object path = nb::borrow(program);
    return value_or_raise(Source::read(path_of(path)));
  }
  if (!nb::isinstance<nb::str>(program)) {
    raise_bad_argument("a program is a Program, a text or a path, not " + class_name(program));
  }
  std::string text;
  if (!nb::try_cast(program, text)) {
    raise_bad_argument("the text of the program is not valid Unicode (it has a lone surrogate)");
  }
  if (text.ends_with(".mapper") && text.find_first_of("\n;") == text.npos) {
    raise_bad_argument("`" + text + "` is the name of a file, not the text of a program",
                       "pass pathlib.Path(\"" + text + "\")");
  }
  return Source("<text>", std::move(text));
}

std::shared_ptr<const Machine> machine_of(nb::handle machine) {
  if (nb::isinstance<PyMachine>(machine)) return nb::cast<const PyMachine&>(machine).machine;
  return read_machine(machine);
}

PyApplication application_of(nb::handle app) {
  if (nb::isinstance<PyApplication>(app)) return nb::cast<const PyApplication&>(app);
  return read_application(app, {});
}

PyBound bound_of(nb::handle program, nb::handle machine) {
  if (nb::isinstance<PyBound>(program)) {
    const PyBound& bound = nb::cast<const PyBound&>(program);
    if (machine.is_none() || *machine_of(machine) == bound.bound.machine()) return bound;
    raise_bad_argument("the program is bound to a machine already",
                       "leave out the machine, or pass the Program");
  }
  if (machine.is_none()) {
    raise_bad_argument("no machine is given", "pass one, such as machine=\"p100x4\"");
  }
  const auto on = machine_of(machine);
  const Source source = source_of(program);
  std::optional<PyProgram> compiled;
  if (nb::isinstance<PyProgram>(program)) compiled = nb::cast<const PyProgram&>(program);
  Diagnostics diags = compiled ? compiled->diags : Diagnostics(source);
  std::optional<BoundProgram> bound;
  {
    const nb::gil_scoped_release released;
    bound = bind(compiled ? compiled->program : compile(source, diags), *on, diags);
  }
  if (!bound) raise(diags);
  return {*std::move(bound), std::move(diags)};
}

void bind_inputs(nb::module_& module) {
  bind_programs(module);
  bind_machine(module);
  bind_application(module);
  module.def(
      "fix",
      [](nb::handle program) {
        std::size_t made = 0;
        return to_str(apply_certain_fixes(source_of(program), &made).text());
      },
      nb::arg("program"), nb::sig("def fix(program: str | os.PathLike[str] | Program) -> str"),
      "Returns the program's text with every certain fix applied.");
}

}  // namespace groma::python
