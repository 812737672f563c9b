// groma emit: writes a mapping as a C++ mapper.
#include "groma/emit.h"

#include <fmt/format.h>

#include <memory>

#include "commands.h"
#include "console.h"
#include "groma/system.h"
#include "inputs.h"

namespace driver {
namespace {

// The values of the options of `groma emit`.
struct EmitArguments {
  std::string file;
  std::string out;
  groma::EmitOptions emit;
  bool decisions_only = false;
};

// Compiles the mapping and writes the C++ file. Returns the exit code.
int run(const EmitArguments& options) {
  check_written({{"--out", options.out}}, {options.file});
  std::optional<groma::Diagnostics> diags;
  std::optional<std::string> text;
  if (read_source(options.file, &diags)) {
    // A mapping with errors has no C++ form. emit() then returns nothing.
    const groma::Program program = groma::compile(diags->source(), *diags);
    groma::EmitOptions emit = options.emit;
    emit.legion = !options.decisions_only;
    text = groma::emit(program, emit, *diags);
  }
  if (!diags->all().empty()) show_diagnostics(*diags);
  if (!text) return kWrongInput;
  if (options.out.empty() || options.out == "-") return print(*text);
  const auto error = groma::write_file(options.out, *text);
  return error ? refuse(*error) : kFine;
}

}  // namespace

void add_emit(CLI::App& app, int* exit_code) {
  auto options = std::make_shared<EmitArguments>();
  CLI::App* command = app.add_subcommand(
      "emit", "Write the mapping as a C++ mapper for Legion that does not need Groma");
  command->add_option("FILE", options->file, "A mapping program; `-` is standard input")
      ->type_name(kMappingType)
      ->required();
  command->add_option("-o,--out", options->out, "The C++ file to write (default: standard output)")
      ->type_name(kFileType);
  command
      ->add_option("--class", options->emit.class_name,
                   "The class name of the mapper (default: from the file name, CannonMapper for "
                   "cannon.mapper)")
      ->check([](const std::string& name) {
        return groma::is_class_name(name) ? std::string() : "`" + name + "` is not a class name";
      });
  command->add_flag(
      "--decisions-only", options->decisions_only,
      "Write only the decisions, without the mapper class; this compiles without Legion");
  command->footer(
      "Examples:\n"
      "  groma emit my.mapper -o my_mapper.cc     compile it with the program and call "
      "use_my_mapper(0)\n"
      "  groma emit my.mapper --class Placement\n\n"
      "Exit codes: 0 fine, 1 the mapping is wrong or has no C++, 2 wrong usage.");
  command->callback([options, exit_code] { *exit_code = run(*options); });
}

}  // namespace driver
