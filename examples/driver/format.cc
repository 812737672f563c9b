// groma format: writes mapping programs in the standard style.
#include <fmt/format.h>

#include <memory>

#include "commands.h"
#include "console.h"
#include "diff.h"
#include "groma/syntax.h"
#include "groma/system.h"
#include "inputs.h"

namespace driver {
namespace {

// The values of the options of `groma format`.
struct FormatArguments {
  std::vector<std::string> files;
  bool check = false;
  bool diff = false;
  bool in_place = false;
};

// Formats one file. Prints the formatted text, the difference or the name of the file, or rewrites
// the file, as the options say. Returns kWrongInput for a file with errors, and with --check also
// for a file that is not formatted.
int format_one(const std::string& path, const FormatArguments& options) {
  std::optional<groma::Diagnostics> diags;
  std::optional<std::string> text;
  if (read_source(path, &diags)) text = groma::format(diags->source(), *diags);
  if (!text) {
    show_diagnostics(*diags);
    return kWrongInput;
  }
  const groma::Source& source = diags->source();
  // --diff may be combined with --check or --in-place, so it does not end the function.
  const bool same = *text == source.text();
  if (options.diff && !same) {
    if (print(unified_diff(source.name(), source.text(), *text)) != kFine) return kWrongInput;
  }
  if (options.check) {
    if (!same) print_error(fmt::format("{}: not formatted\n", source.name()));
    return same ? kFine : kWrongInput;
  }
  if (options.in_place && path != "-") {
    if (same) return kFine;
    const auto error = groma::write_file(path, *text);
    if (error) print_error(fmt::format("groma: {}\n", error->message));
    return error ? kWrongInput : kFine;
  }
  return options.diff ? kFine : print(*text);
}

// Formats all files, also after one has failed. Returns the worst exit code.
int run(const FormatArguments& options) {
  int worst = kFine;
  for (const std::string& path : options.files) worst = std::max(worst, format_one(path, options));
  return worst;
}

}  // namespace

void add_format(CLI::App& app, int* exit_code) {
  auto options = std::make_shared<FormatArguments>();
  CLI::App* command = app.add_subcommand("format", "Format mapping programs; comments are kept");
  command->add_option("FILE", options->files, "Mapping programs; `-` is standard input")
      ->type_name(kMappingType)
      ->required();
  auto* check = command->add_flag("--check", options->check,
                                  "Print nothing and exit with 1 if a file is not formatted");
  command->add_flag("--diff", options->diff,
                    "Print the changes as a diff instead of the whole text");
  command->add_flag("--in-place", options->in_place, "Rewrite the files with the formatted text")
      ->excludes(check);
  command->footer(
      "Examples:\n"
      "  groma format my.mapper                  prints the formatted text\n"
      "  groma format --in-place *.mapper\n"
      "  groma format --check --diff my.mapper   for continuous integration");
  command->callback([options, exit_code] { *exit_code = run(*options); });
}

}  // namespace driver
