// Diagnostics as Python objects, and the exceptions that carry them.
#include "errors.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace groma::python {
namespace {

// Parts of a diagnostic with the source to which their ranges refer. A copy of a Source shares the
// text.
struct PyDiagnostic {
  Source source;
  Diagnostic diagnostic;
};
struct PyNote {
  Source source;
  DiagNote note;
};
struct PyEdit {
  Source source;
  Edit edit;
};
struct PyFix {
  Source source;
  Fix fix;
};

using Place = std::optional<std::uint32_t>;

// Returns the line or the column (`member`) at the beginning of a range; None without a range.
Place begin_of(const Source& source, const std::optional<Range>& range,
               std::uint32_t Position::*member) {
  if (!range) return std::nullopt;
  return source.position(range->begin).*member;
}
// The same for the end of the range.
Place end_of(const Source& source, const std::optional<Range>& range,
             std::uint32_t Position::*member) {
  if (!range) return std::nullopt;
  return source.position(range->end).*member;
}

// Adds line, column, end_line and end_column to a class. `range_of` returns the range of an object.
template <typename T, typename RangeOf>
void add_place(nb::class_<T>& type, RangeOf range_of) {
  type.def_prop_ro(
      "line", [range_of](const T& x) { return begin_of(x.source, range_of(x), &Position::line); });
  type.def_prop_ro("column", [range_of](const T& x) {
    return begin_of(x.source, range_of(x), &Position::column);
  });
  type.def_prop_ro("end_line", [range_of](const T& x) {
    return end_of(x.source, range_of(x), &Position::line);
  });
  type.def_prop_ro("end_column", [range_of](const T& x) {
    return end_of(x.source, range_of(x), &Position::column);
  });
}

// Returns the parts with their source, as a list of Python objects.
template <typename To, typename From>
nb::typed<nb::list, To> with_source(const Source& source, const std::vector<From>& parts) {
  nb::typed<nb::list, To> list;
  for (const From& part : parts) list.append(nb::cast(To{source, part}));
  return list;
}

std::string name_of_code(Error::Code code) {
  switch (code) {
    case Error::Code::kUnreadable:
      return "unreadable";
    case Error::Code::kTooLarge:
      return "too-large";
    case Error::Code::kUnknown:
      return "unknown";
    case Error::Code::kMalformed:
      return "malformed";
    case Error::Code::kStopped:
      return "stopped";
  }
  return "unknown";
}

// Returns the class of groma/_errors.py with this name.
nb::object exception_class(const char* name) {
  return nb::module_::import_("groma._errors").attr(name);
}

// Returns the exception for an error that is not about a mapping.
nb::object exception_of(const Error& error) {
  nb::list more;
  for (const Error& each : error.more) more.append(exception_of(each));
  return exception_class("GromaError")(to_str(error.message), to_str(name_of_code(error.code)),
                                       to_str(error.help), more);
}

[[noreturn]] void throw_object(const nb::object& exception) {
  PyErr_SetObject(exception.type().ptr(), exception.ptr());
  throw nb::python_error();
}

}  // namespace

nb::str to_str(std::string_view text) {
  PyObject* const decoded =
      PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "replace");
  if (decoded == nullptr) throw nb::python_error();
  return nb::steal<nb::str>(decoded);
}

nb::list to_list(const Diagnostics& diags) {
  return with_source<PyDiagnostic>(diags.source(), diags.sorted());
}

void raise(const Error& error) { throw_object(exception_of(error)); }

void raise(const Diagnostics& diags, std::string_view advice) {
  throw_object(
      exception_class("MappingError")(to_str(render(diags)), to_list(diags), to_str(advice)));
}

void raise_bad_argument(std::string_view message, std::string_view help) {
  raise(Error{Error::Code::kMalformed, std::string(message), std::string(help)});
}

void bind_diagnostics(nb::module_& module) {
  nb::class_<PyEdit> edit(module, "Edit", "The replacement of a range of a text.");
  add_place(edit, [](const PyEdit& x) { return std::optional(x.edit.range); });
  edit.def_prop_ro(
      "text", [](const PyEdit& x) { return to_str(x.edit.text); },
      "The text that replaces the range.");

  nb::class_<PyFix> fix(module, "Fix", "An edit of the program that a person or a tool can apply.");
  fix.def_prop_ro("title", [](const PyFix& x) { return to_str(x.fix.title); })
      .def_prop_ro(
          "sure", [](const PyFix& x) { return x.fix.sure; },
          "True if the result is certainly what the author meant.")
      .def_prop_ro("edits",
                   [](const PyFix& x) { return with_source<PyEdit>(x.source, x.fix.edits); })
      .def(
          "apply",
          [](const PyFix& x) {
            std::size_t applied = 0;
            return to_str(apply_fixes(x.source, {x.fix}, &applied));
          },
          "Returns the whole text with this fix applied.");

  nb::class_<PyNote> note(module, "Note", "An explanation that belongs to a diagnostic.");
  note.def_prop_ro("message", [](const PyNote& x) { return to_str(x.note.message); });
  add_place(note, [](const PyNote& x) { return x.note.range; });

  nb::class_<PyDiagnostic> type(module, "Diagnostic", "One message about a mapping.");
  type.def_prop_ro(
          "id", [](const PyDiagnostic& x) { return to_str(name_of(x.diagnostic.id)); },
          "The stable id, such as \"unknown-processor\"; docs/diagnostics.md explains it.")
      .def_prop_ro(
          "severity", [](const PyDiagnostic& x) { return to_str(name_of(x.diagnostic.severity)); },
          "\"error\", \"warning\" or \"note\".")
      .def_prop_ro("message", [](const PyDiagnostic& x) { return to_str(x.diagnostic.message); })
      .def_prop_ro("file", [](const PyDiagnostic& x) { return to_str(x.source.name()); })
      .def_prop_ro(
          "notes",
          [](const PyDiagnostic& x) { return with_source<PyNote>(x.source, x.diagnostic.notes); })
      .def_prop_ro("helps",
                   [](const PyDiagnostic& x) {
                     nb::typed<nb::list, nb::str> list;
                     for (const std::string& help : x.diagnostic.helps) list.append(to_str(help));
                     return list;
                   })
      .def_prop_ro(
          "fixes",
          [](const PyDiagnostic& x) { return with_source<PyFix>(x.source, x.diagnostic.fixes); })
      .def_prop_ro(
          "text", [](const PyDiagnostic& x) { return to_str(render(x.source, x.diagnostic)); },
          "The message as the command prints it, with the source line and a caret range.")
      .def("__str__", [](const PyDiagnostic& x) { return to_str(render(x.source, x.diagnostic)); })
      .def("__repr__", [](const PyDiagnostic& x) {
        return nb::str("<groma.Diagnostic {}: {}>")
            .format(to_str(name_of(x.diagnostic.id)), to_str(x.diagnostic.message));
      });
  add_place(type, [](const PyDiagnostic& x) { return x.diagnostic.range; });
}

}  // namespace groma::python
