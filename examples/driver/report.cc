// groma report: writes the report of a search as an HTML page.
#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <utility>

#include "commands.h"
#include "console.h"
#include "groma/io.h"
#include "groma/search_report.h"
#include "groma/system.h"
#include "inputs.h"

namespace driver {
namespace {

namespace fs = std::filesystem;
namespace tuning = groma::tuning;

// The values of the options of `groma report`.
struct ReportArguments {
  std::string directory, output;
  bool json = false;
};

// Reads the machine and the first application of the search, and explains its best mapping. They
// are read in the folder where the search began, as `groma tune --resume` does. If they cannot be
// read or have changed, the page says so.
void add_explanation(tuning::SearchReport* report) {
  if (!report->best_text || !report->is_mapping()) return;
  report->why_not_explained =
      "The decisions of the mapping are not explained, because the machine or the application of "
      "the search cannot be read.";
  if (!report->setup || report->setup->apps.empty()) return;
  const tuning::SearchSetup& setup = *report->setup;
  if (setup.on_legion) {
    report->why_not_explained =
        "The decisions of the mapping are not explained, because they depend on the machine that "
        "Legion finds. `groma explain best.mapper` explains them.";
    return;
  }
  if (tuning::never_ending_input({report->directory, setup, "", ""})) return;
  std::error_code ignored;
  const fs::path here = fs::current_path(ignored);
  fs::current_path(setup.command.folder, ignored);
  std::optional<groma::Diagnostics> diags;
  const auto with =
      read_inputs(setup.machine, setup.apps.front(), &diags, {interrupted, setup.override_layouts});
  fs::current_path(here, ignored);
  if (!with) return;
  const bool unchanged =
      tuning::unchanged_input(*report, setup.machine, groma::machine_to_json(*with->machine)) &&
      tuning::unchanged_input(*report, setup.apps.front(), groma::application_to_json(*with->app));
  if (!unchanged) {
    report->why_not_explained =
        "The decisions of the mapping are not explained, because the machine or the application "
        "has changed since the search began.";
    return;
  }
  report->why_not_explained.clear();
  tuning::explain_best(*with->machine, *with->workload, interrupted, report);
}

// Writes the page where the options say. Returns an error with a cure if that fails.
std::optional<groma::Error> write_page(const ReportArguments& options, const std::string& html) {
  std::optional<groma::Error> error = options.output.empty()
                                          ? tuning::write_search_page(options.directory, html)
                                          : groma::write_file(options.output, html);
  if (error && error->help.empty()) error->help = "name another file";
  if (error) error->help += ": --output FILE";
  return error;
}

// Reads the search, writes the page, and says where it is. Returns the exit code.
int run(const ReportArguments& options) {
  if (options.output == "-" && options.json) {
    throw CLI::ValidationError("--json", "not valid with --output -, which prints the page");
  }
  if (const auto error = first_unwritable_file({{"--output", options.output}})) {
    return refuse(*error);
  }
  catch_interrupts();
  std::optional<ProgressLine> line("reading the search");
  tuning::SearchReportOptions limits;
  limits.stop = [&line] {
    line->update("");
    return interrupted();
  };
  auto report = tuning::read_search_report(options.directory, limits);
  if (report) add_explanation(&*report);
  line.reset();
  if (interrupted()) return kInterrupted;
  if (!report) return refuse(report.error());
  const std::string html = tuning::to_html(*report);
  for (const std::string& note : report->notes) print_error(fmt::format("note: {}\n", note));
  if (options.output == "-") return print(html);
  if (const auto error = write_page(options, html)) return refuse(*error);
  const std::string page = options.output.empty()
                               ? fmt::format("{}/{}", options.directory, tuning::kSearchPageFile)
                               : options.output;
  return print(options.json ? tuning::to_json(*report, page)
                            : fmt::format("wrote `{}`\n", visible(page)));
}

}  // namespace

void add_report(CLI::App& app, int* exit_code) {
  auto options = std::make_shared<ReportArguments>();
  CLI::App* command = app.add_subcommand(
      "report", "Write an HTML page about a search: the gain, the best mapping, every step");
  command
      ->add_option("DIR", options->directory,
                   "The directory of a search (`groma tune --out DIR`). The search may still run")
      ->type_name(kFolderType)
      ->required()
      ->check(not_empty);
  command
      ->add_option("--output", options->output,
                   "Write the page to this file; `-` is standard output (default: report.html in "
                   "DIR)")
      ->type_name(kFileType)
      ->check(not_empty);
  command->add_flag("--json", options->json,
                    "Also print a summary of the search as one JSON document");
  command->footer(
      "Examples:\n"
      "  groma report found                       writes found/report.html\n"
      "  groma report found --output found.html   writes it elsewhere\n"
      "  groma report found --json                also prints the figures as JSON");
  command->callback([options, exit_code] { *exit_code = run(*options); });
}

}  // namespace driver
