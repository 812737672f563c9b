// Reads the machine, the applications and the start of a search, and makes its evaluators.

#include "tune_subject.h"

#include <filesystem>

#include "groma/benchmarks.h"
#include "groma/evaluators.h"
#include "groma/io.h"
#include "groma/mapping_problem.h"
#include "groma/text_files.h"
#include "inputs.h"
#include "legion_app.h"
#include "tune_display.h"
#include "tune_text.h"

namespace driver {
namespace {

namespace fs = std::filesystem;

// Replaces the machine by the one that Legion has on this computer, and the application by what
// its Legion program does. Fails if a flag is wrong.
std::optional<groma::Error> set_on_legion(const std::string& app,
                                          const std::vector<std::string>& flags, Inputs* inputs) {
  check_flags(app, *inputs->workload, flags);
  auto machine = machine_of(flags);
  if (!machine) return machine.error();
  inputs->machine = std::move(machine).value();
  inputs->app = groma::as_legion_program(*std::move(inputs->app), program_variants(flags));
  inputs->workload = groma::Workload::make(*inputs->app).value();
  return std::nullopt;
}

// Reads the machine and the applications. Returns false after reporting the reason if that fails.
bool read_applications(const TuneArguments& arguments, std::optional<groma::Source> start,
                       Subject* subject) {
  const groma::tuning::SearchSetup& setup = arguments.setup;
  // The start is checked with each application, within the limits on time and memory of the search.
  groma::CheckOptions check;
  check.max_bytes = arguments.simulate.max_bytes;
  check.stop = arguments.simulate.stop;
  // With several applications, a name that this application lacks may belong to another one.
  groma::tuning::MappingProblem made(std::move(start), check, setup.apps.size() == 1);
  for (const std::string& app : setup.apps) {
    if (arguments.simulate.stop()) {
      refuse_search(
          {groma::Error::Code::kStopped,
           "the time limit was reached before all applications were read", "increase `--time`"},
          arguments.json);
      return false;
    }
    std::optional<groma::Diagnostics> diags;
    auto with =
        read_inputs(setup.machine, app, &diags, {arguments.simulate.stop, setup.override_layouts});
    if (!with) {
      refuse_search(*diags, arguments.json);
      return false;
    }
    if (setup.on_legion) {
      if (const auto error = set_on_legion(app, setup.flags, &*with)) {
        refuse_search(*error, arguments.json);
        return false;
      }
    }
    if (subject->marks.empty()) {
      subject->marks.emplace_back(setup.machine.empty() ? "legion" : setup.machine,
                                  groma::machine_to_json(*with->machine));
    }
    subject->marks.emplace_back(app, groma::application_to_json(*with->app));
    if (!subject->app) subject->app = with->app;
    if (const auto why = made.add(shown_name(app), *with->machine, *with->app, *with->workload)) {
      refuse_search(*why, arguments.json);
      return false;
    }
  }
  subject->notes = std::move(made.notes);
  subject->problem.machine = std::move(made.problem.machine);
  subject->problem.inputs = std::move(made.problem.inputs);
  return true;
}

// Returns the name that the file of a text has for the commands: its own, if that is a plain name;
// else "text" with its extension. A mapping is "text.mapper".
std::string name_in_commands(const std::vector<std::string>& files) {
  if (files.empty()) return "text.mapper";
  const fs::path path(files.front());
  for (const std::string& name : {path.filename().string(), "text" + path.extension().string()}) {
    if (groma::is_text_file_name(name)) return name;
  }
  return "text";
}

// Makes the evaluator of the command. Fails if the options contradict each other.
groma::Result<std::unique_ptr<groma::tuning::Evaluator>> read_command(
    const TuneArguments& arguments) {
  const groma::tuning::SearchSetup& setup = arguments.setup;
  groma::tuning::CommandEvaluatorOptions options = setup.command;
  options.file_name = name_in_commands(setup.files);
  options.keeps_output = !setup.files.empty() && setup.feedback == "profile";
  // Outputs are not compared if the text is not a mapping, or if the output is JSON, because it is
  // unknown which of their lines are results.
  const bool has_lines = setup.files.empty() && options.metric_pointer.empty();
  // The programs of --on legion check their results themselves.
  if (setup.compare_results && !setup.on_legion && (has_lines || !setup.results.same.empty())) {
    options.results = setup.results;
  }
  auto command = groma::tuning::make_command_evaluator(std::move(options));
  // Options of --command that contradict each other are wrong usage. They are an ordinary error if
  // they come from the stored setup of a resumed search.
  const bool meant = command || command.error().code != groma::Error::Code::kMalformed;
  if (meant || arguments.resumes()) return command;
  const groma::Error& error = command.error();
  throw CLI::ValidationError("--command",
                             error.message + (error.help.empty() ? "" : "; " + error.help));
}

}  // namespace

// Reads a mapping problem with its applications, or the marked text of --file.
std::optional<Subject> read_subject(const TuneArguments& arguments,
                                    const std::string& recorded_start) {
  const groma::tuning::SearchSetup& setup = arguments.setup;
  Subject subject;
  if (!setup.command.command.empty()) {
    auto command = read_command(arguments);
    if (!command) {
      refuse_search(command.error(), arguments.json);
      return std::nullopt;
    }
    subject.command = std::move(command).value();
  }
  // The text to start from is the one that a resumed search stores, or a file.
  std::optional<groma::Source> start;
  if (arguments.resumes()) {
    subject.problem.start = recorded_start;
  } else if (!arguments.start.empty()) {
    std::optional<groma::Diagnostics> diags;
    if (!read_source(arguments.start, &diags)) {
      refuse_search(*diags, arguments.json);
      return std::nullopt;
    }
    start = diags->source();
    subject.problem.start = std::string(start->text());
  }
  if (!setup.files.empty()) {
    if (const auto error = read_text(arguments, &subject.problem)) {
      refuse_search(*error, arguments.json);
      return std::nullopt;
    }
    for (const groma::NamedText& document : subject.problem.knowledge) {
      subject.marks.emplace_back(document.name, document.text);
    }
  }
  if (!read_applications(arguments, std::move(start), &subject)) return std::nullopt;
  // A mapping is always simulated. With a command, the simulator gives estimates and feedback;
  // without one, rehearsals give estimates.
  if (subject.problem.is_mapping()) {
    groma::SimulateOptions simulate = arguments.simulate;
    if (subject.command) simulate.max_bytes = groma::SimulateOptions().max_bytes;
    subject.runtime = groma::tuning::make_simulated_evaluator(subject.problem.machine,
                                                              subject.problem.inputs, simulate);
    subject.rehearsed = groma::tuning::make_rehearsed_estimator(subject.problem.machine,
                                                                subject.problem.inputs, simulate);
  }
  if (subject.command && subject.runtime) {
    subject.command = groma::tuning::make_measured_mappings_evaluator(std::move(subject.command),
                                                                      *subject.runtime);
  }
  return subject;
}

}  // namespace driver
