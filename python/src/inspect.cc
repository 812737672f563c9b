// check, place, explain, run, diff and guide for Python. Each releases the GIL while the library
// works. Results are values of the library with its own texts and JSON; groma/_calls.py and
// groma/_results.py give them their Python form.
#include "inspect.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "errors.h"
#include "groma/advise.h"
#include "groma/diff.h"
#include "groma/explain.h"
#include "groma/guide.h"
#include "groma/inspect.h"
#include "groma/profile.h"
#include "groma/run.h"
#include "groma/simulate.h"
#include "inputs.h"
#include "interrupt.h"

namespace groma::python {
namespace {

// A statement of a program: its text and place.
struct PyStatement {
  std::string text, file;
  std::uint32_t line = 1, column = 1;
};

PyStatement statement_of(const Program& program, DecisionOrigin origin) {
  const Range range = program.range(origin);
  const Position at = program.source().position(range.begin);
  return {std::string(program.source().text(range)), program.source().name(), at.line, at.column};
}

// ---- check

nb::list check_program(nb::handle program, nb::handle machine, nb::handle app,
                       std::int64_t max_steps) {
  std::shared_ptr<const Machine> on;
  if (nb::isinstance<PyBound>(program) && machine.is_none()) {
    on = nb::cast<const PyBound&>(program).bound.shared_machine();
  } else if (!machine.is_none()) {
    on = machine_of(machine);
  }
  std::optional<PyApplication> with;
  if (!app.is_none()) with = application_of(app);
  const Source source = source_of(program);
  Diagnostics diags(source);
  Interrupt interrupt;
  CheckOptions options;
  options.max_steps = max_steps;
  options.stop = [&] { return interrupt.should_stop(); };
  {
    const nb::gil_scoped_release released;
    check(source, on.get(), with ? &with->workload : nullptr, diags, nullptr, options);
    if (with && on) check_nodes(*on, *with->app, diags);
  }
  interrupt.rethrow();
  return to_list(diags);
}

// ---- place

// A placement: the query, for pictures, and its result.
struct PyPlacement {
  PyBound bound;
  PlaceQuery query;
  NumberedPlacement placement;
};

// Returns the point or extents in a sequence of 1 to kMaxDimensions numbers.
Point point_of(const std::vector<std::int64_t>& numbers, const char* what) {
  if (numbers.empty() || numbers.size() > kMaxDimensions) {
    raise_bad_argument(std::string(what) + " has " + std::to_string(numbers.size()) +
                       " numbers, not 1 to 9");
  }
  return Point(numbers);
}

// Returns the domain of a launch: a box, or those of its points for which `mask` is not 0.
LaunchDomain domain_of(const std::vector<std::int64_t>& extents,
                       const std::optional<std::vector<std::int64_t>>& lower) {
  const Point size = point_of(extents, "the domain");
  const Point corner = lower ? point_of(*lower, "`lower`") : Point::zeros(size.dimensions());
  const auto box = Rect::make(corner, size);
  if (!box) {
    raise_bad_argument("the domain is not a box",
                       "`domain` and `lower` have equally many numbers, and no extent is negative");
  }
  return LaunchDomain(*box);
}

std::optional<ProcKind> kind_of(const std::optional<std::string>& name) {
  if (!name) return std::nullopt;
  const auto kind = find_proc_kind(*name);
  if (!kind) raise_bad_argument("unknown processor kind `" + *name + "`");
  return kind;
}

// Returns the placement. NumPy reads its points through the buffer protocol, without a copy.
PyPlacement place_program(nb::handle program, nb::handle machine, const std::string& task,
                          const std::string& function, const std::vector<std::int64_t>& extents,
                          const std::optional<std::vector<std::int64_t>>& lower,
                          const std::optional<std::string>& kind) {
  if (task.empty() == function.empty()) {
    raise_bad_argument("name either a task or a function",
                       "place(program, machine, task=\"t\", ...)");
  }
  PyPlacement result{bound_of(program, machine), {}, {}};
  if (const auto error = set_task(task, &result.query))
    raise_bad_argument(error->message, error->help);
  result.query.function = function;
  result.query.domain = domain_of(extents, lower);
  result.query.from = kind_of(kind);
  Interrupt interrupt;
  std::optional<NumberedPlacement> placed;
  {
    const nb::gil_scoped_release released;
    placed = place_numbers(result.bound.bound, result.query, result.bound.diags,
                           [&](std::int64_t, std::int64_t) { return !interrupt.should_stop(); });
  }
  interrupt.rethrow();
  if (!placed) raise(result.bound.diags);
  result.placement = *std::move(placed);
  return result;
}

// Returns the processor of a single task whose parent is on a processor: its kind, node and index.
nb::tuple place_single_task(nb::handle program, nb::handle machine, const std::string& task,
                            std::int64_t node, std::int64_t index,
                            const std::optional<std::string>& kind) {
  PyBound bound = bound_of(program, machine);
  PlaceQuery query;
  if (const auto error = set_task(task, &query)) raise_bad_argument(error->message, error->help);
  query.parent = PlaceQuery::Parent{node, index};
  query.from = kind_of(kind);
  const auto placed = place(bound.bound, query, bound.diags);
  if (!placed) raise(bound.diags);
  const Processor& processor = placed->points.front();
  return nb::make_tuple(nb::cast(std::string(name_of(processor.kind))), processor.node,
                        processor.index);
}

// Returns the picture of a placement. The library draws a Placement, so the points are placed again
// in that form.
nb::str picture_of(const PyPlacement& of, bool svg, int columns) {
  Diagnostics diags(of.bound.diags.source());
  Interrupt interrupt;
  std::optional<Placement> placed;
  std::string text;
  {
    const nb::gil_scoped_release released;
    placed = place(of.bound.bound, of.query, diags, nullptr,
                   [&](std::int64_t, std::int64_t) { return !interrupt.should_stop(); });
    if (placed && svg) text = draw_svg(*placed, of.bound.bound);
    if (placed && !svg) text = draw(*placed, of.bound.bound, {.columns = columns});
  }
  interrupt.rethrow();
  if (!placed) raise(diags);
  return to_str(text);
}

// Implements the buffer protocol of a placement: its points, one after the other. The buffer keeps
// the placement alive, whose points never move.
int get_points(PyObject* self, Py_buffer* view, int flags) {
  std::vector<std::int32_t>& points = nb::inst_ptr<PyPlacement>(self)->placement.points;
  return PyBuffer_FillInfo(view, self, points.data(),
                           static_cast<Py_ssize_t>(points.size() * sizeof(std::int32_t)), 0, flags);
}

PyType_Slot placement_slots[] = {{Py_bf_getbuffer, reinterpret_cast<void*>(get_points)},
                                 {0, nullptr}};

void bind_place(nb::module_& module) {
  nb::class_<PyPlacement>(module, "PlacementFacts",
                          "The points of a placement and what it is about.",
                          nb::type_slots(placement_slots))
      .def_prop_ro("task", [](const PyPlacement& x) { return to_str(x.placement.task); })
      .def_prop_ro("function",
                   [](const PyPlacement& x) { return to_str(x.placement.function_name); })
      .def_prop_ro("kind", [](const PyPlacement& x) { return to_str(name_of(x.placement.kind)); })
      .def_prop_ro("has_sets", [](const PyPlacement& x) { return x.placement.has_sets; })
      .def_prop_ro("lower",
                   [](const PyPlacement& x) {
                     const auto all = x.placement.domain.box.lower.coordinates();
                     return std::vector<std::int64_t>(all.begin(), all.end());
                   })
      .def_prop_ro("extents",
                   [](const PyPlacement& x) {
                     const auto all = x.placement.domain.box.extents.coordinates();
                     return std::vector<std::int64_t>(all.begin(), all.end());
                   })
      .def_prop_ro("machine",
                   [](const PyPlacement& x) { return PyMachine{x.bound.bound.shared_machine()}; })
      .def_prop_ro("processors_per_node",
                   [](const PyPlacement& x) {
                     std::vector<std::int64_t> counts;
                     const Machine& machine = x.bound.bound.machine();
                     for (std::int64_t node = 0; node < machine.node_count(); ++node) {
                       counts.push_back(machine.processor_count(node, x.placement.kind));
                     }
                     return counts;
                   })
      .def_prop_ro("decided_by",
                   [](const PyPlacement& x) {
                     std::vector<PyStatement> statements;
                     for (const DecisionOrigin origin : x.placement.decided_by) {
                       statements.push_back(statement_of(x.bound.bound.program(), origin));
                     }
                     return statements;
                   })
      .def_prop_ro("diagnostics", [](const PyPlacement& x) { return to_list(x.bound.diags); })
      .def("picture", &picture_of, nb::arg("svg"), nb::arg("columns"));
  module.def("place", &place_program, nb::arg("program"), nb::arg("machine").none(),
             nb::arg("task"), nb::arg("function"), nb::arg("domain"), nb::arg("lower").none(),
             nb::arg("kind").none());
  module.def("place_single_task", &place_single_task, nb::arg("program"), nb::arg("machine").none(),
             nb::arg("task"), nb::arg("node"), nb::arg("index"), nb::arg("kind").none());
}

// ---- explain and diff

// Returns the JSON, the text and the diagnostics of the explanation. The text of `as_text` is the
// short one.
nb::tuple explain_program(nb::handle program, nb::handle app, nb::handle machine,
                          const std::string& task, const std::string& region) {
  const PyApplication with = application_of(app);
  PyBound bound = bound_of(program, machine);
  std::optional<Explanation> made;
  std::string json, text, summary;
  Interrupt interrupt;
  {
    const nb::gil_scoped_release released;
    made = explain(bound.bound, with.workload, {task, region}, bound.diags,
                   [&] { return interrupt.should_stop(); });
    if (made) {
      json = to_json(*made, bound.bound.program(), bound.diags);
      text = draw(*made, bound.bound.program());
      summary = draw_summary(*made);
    }
  }
  interrupt.rethrow();
  if (!made) raise(bound.diags);
  return nb::make_tuple(to_str(json), to_str(text), to_str(summary), to_list(bound.diags));
}

nb::str explain_default_mapper(nb::handle app, nb::handle machine) {
  const PyApplication with = application_of(app);
  const auto on = machine_of(machine);
  Diagnostics diags(Source(with.workload.name(), ""));
  std::optional<std::string> text;
  {
    const nb::gil_scoped_release released;
    text = default_mapping(with.workload, *on, {}, diags);
  }
  if (!text) raise(diags);
  return to_str(*text);
}

// Returns the program on the machine. None stands for the default mapper.
PyBound bound_or_default(nb::handle program, nb::handle machine) {
  if (!program.is_none()) return bound_of(program, machine);
  Diagnostics diags(Source("the default mapper", ""));
  auto bound = bind(compile(diags.source(), diags), *machine_of(machine), diags);
  GROMA_CHECK(bound.has_value());
  diags.clear();  // the warning that there are no statements
  return {*std::move(bound), std::move(diags)};
}

nb::tuple diff_programs(nb::handle a, nb::handle b, nb::handle app, nb::handle machine) {
  const PyApplication with = application_of(app);
  PyBound first = bound_or_default(a, machine), second = bound_or_default(b, machine);
  if (!(first.bound.machine() == second.bound.machine())) {
    raise_bad_argument("the programs are bound to different machines");
  }
  Interrupt interrupt;
  SimulateOptions options;
  options.stop = [&] { return interrupt.should_stop(); };
  std::string json, text;
  {
    const nb::gil_scoped_release released;
    const MappingDiff made =
        diff(first.bound, second.bound, with.workload, options, first.diags, second.diags);
    json = to_json(made, first.bound.program(), second.bound.program(), first.diags, second.diags);
    text = draw(made, first.bound.program(), second.bound.program());
  }
  interrupt.rethrow();
  return nb::make_tuple(to_str(json), to_str(text), to_list(first.diags), to_list(second.diags));
}

// ---- run and guide

// A simulated run that came to its end. Its texts are made when Python asks for them.
struct PyRun {
  PyApplication app;
  PyBound bound;
  // True if the default mapper mapped the run.
  bool is_default = false;
  RunResult result = {};
  std::optional<Profile> profile = {};
  GuideFeedback feedback = {};

  const Program* mapping() const { return is_default ? nullptr : &bound.bound.program(); }
  ProfileWords words() const {
    return profile_words_of(app.workload, bound.bound.machine(), mapping());
  }
};

// Runs the program, or the default mapper if it is None. The guide tries changes of the mapping if
// `advice` is true or the run fails.
void simulate_run(PyRun& run, const SimulateOptions& options, bool advice) {
  Diagnostics& diags = run.bound.diags;
  const auto machine = run.bound.bound.shared_machine();
  check_nodes(*machine, *run.app.app, diags);
  if (!run.is_default) check_names(*run.mapping(), run.app.workload, diags);
  run.result = run.is_default ? run_default(machine, run.app.workload, options, diags)
                              : groma::run(run.bound.bound, run.app.workload, options, diags);
  if (run.result.ok()) run.profile = make_profile(run.result.record);
  if (run.profile && !advice) {
    run.feedback = guide_profile(facts_of(*run.profile, run.words()), run.mapping());
  } else if (run.result.status != RunStatus::kStopped) {
    const GuidedRun guided{&run.app.workload,
                           machine,
                           run.is_default ? nullptr : &run.bound.bound,
                           options,
                           &diags,
                           &run.result,
                           run.profile ? &*run.profile : nullptr};
    GuideLimits limits;
    limits.tasks = std::max(limits.tasks, run.result.tasks);
    run.feedback = guide_run(guided, limits);
  }
}

PyRun run_program_simulated(nb::handle program, nb::handle app, nb::handle machine,
                            std::uint64_t seed, double noise, bool advice, std::int64_t max_bytes) {
  PyRun run{application_of(app), bound_or_default(program, machine), program.is_none()};
  Interrupt interrupt;
  SimulateOptions options;
  options.seed = seed;
  options.noise = noise;
  options.record = true;
  options.max_bytes = max_bytes;
  options.stop = [&] { return interrupt.should_stop(); };
  {
    const nb::gil_scoped_release released;
    simulate_run(run, options, advice);
  }
  interrupt.rethrow();
  if (!run.result.ok()) raise(run.bound.diags, draw_advice(run.feedback));
  return run;
}

// Returns a text about a run, which `make` makes without the GIL.
template <typename Make>
nb::str text_about(const PyRun& run, Make make) {
  std::string text;
  {
    const nb::gil_scoped_release released;
    text = make(run);
  }
  return to_str(text);
}

// Explains the output of a run. `profile` is the JSON of a run, or empty.
nb::tuple guide_output(const nb::bytes& log, nb::handle program, const std::string& profile,
                       std::optional<int> exit_code, bool timed_out, const std::string& detail) {
  GuideContext context;
  const auto level = guide_detail(detail);
  if (!level) {
    raise_bad_argument("unknown detail `" + detail + "`",
                       "use none, execution, explain, suggest or profile");
  }
  std::optional<Program> mapping;
  std::optional<Source> source;
  if (!program.is_none()) {
    source = source_of(program);
    Diagnostics ignored(*source);  // advice about a program with errors may miss its statements
    mapping = compile(*source, ignored);
    context.program = &*mapping;
  }
  std::string read(log.c_str(), log.size());
  std::optional<ProfileFacts> facts;
  if (!profile.empty()) {
    if (const auto failure = log_of_failed_run(profile)) {
      read += *failure;
      if (!exit_code) exit_code = 1;
    } else {
      facts = value_or_raise(read_profile_facts(profile));
      context.profile = &*facts;
      if (read.empty() && !timed_out && !exit_code) exit_code = 0;
    }
  }
  context.exit_code = exit_code;
  context.timed_out = timed_out;
  context.detail = *level;
  std::string json, text;
  std::optional<Error> error;
  {
    const nb::gil_scoped_release released;
    const auto rules = GuideRules::make();
    if (rules) {
      const GuideFeedback feedback = guide_log(*rules, read, context);
      json = to_json(feedback, source ? &*source : nullptr);
      text = draw(feedback);
    } else {
      error = rules.error();
    }
  }
  if (error) raise(*error);
  return nb::make_tuple(to_str(json), to_str(text));
}

void bind_run(nb::module_& module) {
  nb::class_<PyRun>(module, "RunFacts", "The result of a simulated run.")
      .def_prop_ro("seconds", [](const PyRun& x) { return x.result.seconds; })
      .def_prop_ro("total_seconds", [](const PyRun& x) { return x.result.total_seconds; })
      .def_prop_ro("throughput", [](const PyRun& x) { return x.result.throughput; })
      .def_prop_ro("unit", [](const PyRun& x) { return to_str(x.result.unit); })
      .def_prop_ro("tasks", [](const PyRun& x) { return x.result.tasks; })
      .def_prop_ro("copies", [](const PyRun& x) { return x.result.copies; })
      .def_prop_ro("moved_bytes", [](const PyRun& x) { return x.result.moved_bytes; })
      .def("json",
           [](const PyRun& x) {
             return text_about(x, [](const PyRun& run) {
               return to_json(run.result, &run.feedback, &*run.profile, nullptr, run.bound.diags,
                              run.words());
             });
           })
      .def("text",
           [](const PyRun& x) {
             return text_about(x, [](const PyRun& run) {
               return draw(run.result, &*run.profile, run.words()) + draw_advice(run.feedback);
             });
           })
      .def("page",
           [](const PyRun& x) {
             return text_about(x, [](const PyRun& run) {
               return to_html(*run.profile, run.words(),
                              summary_of(run.result, run.app.workload, run.bound.bound.machine(),
                                         run.mapping(), run.feedback));
             });
           })
      .def("trace",
           [](const PyRun& x) {
             return text_about(
                 x, [](const PyRun& run) { return to_trace(*run.profile, run.words()); });
           })
      .def_prop_ro("diagnostics", [](const PyRun& x) { return to_list(x.bound.diags); });
  module.def("run", &run_program_simulated, nb::arg("program").none(), nb::arg("app"),
             nb::arg("machine").none(), nb::arg("seed"), nb::arg("noise"), nb::arg("advice"),
             nb::arg("max_bytes"));
  module.def("guide", &guide_output, nb::arg("log"), nb::arg("program").none(), nb::arg("profile"),
             nb::arg("exit_code").none(), nb::arg("timed_out"), nb::arg("detail"));
}

}  // namespace

void bind_inspection(nb::module_& module) {
  nb::class_<PyStatement>(module, "Statement", "A statement of a mapping.")
      .def_prop_ro("text", [](const PyStatement& x) { return to_str(x.text); })
      .def_prop_ro("file", [](const PyStatement& x) { return to_str(x.file); })
      .def_ro("line", &PyStatement::line)
      .def_ro("column", &PyStatement::column)
      .def("__repr__", [](const PyStatement& x) {
        return nb::str("<groma.Statement {}:{}: {}>")
            .format(to_str(x.file), x.line, to_str(x.text));
      });
  module.def("check", &check_program, nb::arg("program"), nb::arg("machine").none(),
             nb::arg("app").none(), nb::arg("max_steps"));
  bind_place(module);
  module.def("explain", &explain_program, nb::arg("program"), nb::arg("app"),
             nb::arg("machine").none(), nb::arg("task"), nb::arg("region"));
  module.def("explain_default_mapper", &explain_default_mapper, nb::arg("app"), nb::arg("machine"));
  module.def("diff", &diff_programs, nb::arg("a").none(), nb::arg("b").none(), nb::arg("app"),
             nb::arg("machine").none());
  bind_run(module);
}

}  // namespace groma::python
