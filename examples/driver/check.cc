// groma check: shows all diagnostics of mapping programs. With --fix, it corrects the certain
// mistakes.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>

#include "commands.h"
#include "console.h"
#include "groma/advise.h"
#include "groma/evaluate.h"
#include "groma/inspect.h"
#include "groma/system.h"
#include "inputs.h"

namespace driver {
namespace {

// The values of the options of `groma check`.
struct CheckArguments {
  std::vector<std::string> files;
  std::string machine, app;
  groma::CheckOptions check;
  groma::LayoutOverrides override_layouts;
  std::optional<double> time;
  bool fix = false;
  bool json = false;
};

// Makes the fixes that are certain, and creates *diags anew for the corrected text. For standard
// input, prints the corrected text instead of writing a file. Returns false if the text could not
// be written.
bool fix_file(const std::string& path, std::optional<groma::Diagnostics>* diags) {
  std::size_t made = 0;
  const groma::Source mended = groma::apply_certain_fixes((*diags)->source(), &made);
  if (path == "-") {
    if (print(mended.text()) != kFine) return false;
  } else if (made > 0) {
    if (const auto error = groma::write_file(path, mended.text())) {
      (*diags)->report(groma::DiagId::kUnreadableFile, std::nullopt, error->message);
      return false;
    }
    print_error(fmt::format("{}: {} fix{} made\n", path, made, made == 1 ? "" : "es"));
  }
  diags->emplace(mended);
  return true;
}

// Returns the number of errors and warnings in all files.
std::string summary(const std::vector<std::optional<groma::Diagnostics>>& all) {
  std::size_t errors = 0, warnings = 0;
  for (const auto& diags : all) {
    for (const groma::Diagnostic& diagnostic : diags->all()) {
      errors += diagnostic.severity == groma::Severity::kError;
      warnings += diagnostic.severity == groma::Severity::kWarning;
    }
  }
  // Returns "no errors", "1 error" or "2 errors".
  const auto count = [](std::size_t n, std::string_view what) {
    return n == 0 ? fmt::format("no {}s", what)
                  : fmt::format("{} {}{}", n, what, n == 1 ? "" : "s");
  };
  return fmt::format("{}, {} in {}\n", count(errors, "error"), count(warnings, "warning"),
                     count(all.size(), "file"));
}

// Checks all files together with the machine and the application. Returns the exit code.
int run(CheckArguments options) {
  // --time limits the reading of the application and the check together.
  const Deadline deadline(options.time.value_or(HUGE_VAL));
  options.check.stop = [&] { return deadline.over(); };
  std::vector<std::string> inputs = options.files;
  inputs.insert(inputs.end(), {options.machine, options.app});
  check_standard_input(inputs);
  // The machine and the application are read once for all files.
  std::vector<std::optional<groma::Diagnostics>> all(options.files.size());
  std::optional<groma::Diagnostics> unread;
  const auto with = read_inputs(options.machine, options.app, &unread,
                                {options.check.stop, options.override_layouts});
  if (!with) {
    print_painted(options.json ? groma::to_json({&*unread}) : render(*unread, color_on_stdout()));
    return kWrongInput;
  }
  const groma::Machine* machine = with->machine ? &*with->machine : nullptr;
  const groma::Workload* app = with->workload ? &*with->workload : nullptr;
  bool failed = false;
  std::string text;
  // If --fix reads standard input, standard output has the corrected text, so the report must not
  // go there.
  const bool to_stderr =
      options.fix && std::count(options.files.begin(), options.files.end(), "-") > 0;
  for (std::size_t i = 0; i < options.files.size(); ++i) {
    // A file that cannot be read gives a diagnostic, and the other files are still checked.
    bool readable = read_source(options.files[i], &all[i]);
    if (readable && options.fix) readable = fix_file(options.files[i], &all[i]);
    if (readable) {
      groma::check(all[i]->source(), machine, app, *all[i], &log(), options.check);
      if (machine != nullptr && app != nullptr) {
        groma::check_nodes(*machine, *with->app, *all[i]);
      }
    }
    text += render(*all[i], to_stderr ? color_on_stderr() : color_on_stdout());
    failed = failed || all[i]->has_errors();
  }
  text += summary(all);
  if (options.json) {
    std::vector<const groma::Diagnostics*> list;
    for (const auto& diags : all) list.push_back(&*diags);
    text = groma::to_json(list);
  }
  if (to_stderr) {
    print_painted_error(text);
  } else if (print_painted(text) != kFine) {
    return kWrongInput;
  }
  return failed ? kWrongInput : kFine;
}

}  // namespace

void add_check(CLI::App& app, int* exit_code) {
  auto options = std::make_shared<CheckArguments>();
  CLI::App* command = app.add_subcommand("check", "Print all diagnostics of mapping programs");
  command->add_option("FILE", options->files, "Mapping programs; `-` is standard input")
      ->type_name(kMappingType)
      ->required();
  add_machine_option(*command, &options->machine,
                     "Also check against this machine: evaluates globals and reports processors "
                     "and memories that the machine lacks. A preset, `local`, a list of counts "
                     "such as nodes=4,gpu=4, or a JSON file");
  add_app_option(*command, &options->app,
                 "Also check that the tasks, regions and fields which the mappings name exist in "
                 "this application: its name or a JSON file, with values for its parameters such "
                 "as a.json:n=4096. With --machine, also report what would fail at run time");
  add_memory_option(*command, &options->check.max_bytes,
                    "Limit the memory of the check for run-time failures, in MiB");
  command
      ->add_option("--time", options->time,
                   "Stop after this many seconds and print what is known by then")
      ->check(is_above_0);
  command->add_flag("--fix", options->fix,
                    "Apply the fixes that are certain, in the files themselves");
  add_override_layouts_flag(*command, &options->override_layouts);
  add_json_flag(*command, &options->json);
  command->footer(
      "Examples:\n"
      "  groma check my.mapper\n"
      "  groma check my.mapper --machine lassen:nodes=16\n"
      "  groma check my.mapper --machine p100x4 --app my.json\n"
      "  groma check --fix my.mapper other.mapper\n"
      "  groma check - --json < my.mapper");
  command->callback([options, exit_code] { *exit_code = run(*options); });
}

}  // namespace driver
