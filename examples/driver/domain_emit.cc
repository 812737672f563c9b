// groma domain emit: writes the map of a domain as C++, CUDA or OpenCL C.
#include <fmt/format.h>

#include <filesystem>
#include <map>
#include <memory>

#include "commands.h"
#include "console.h"
#include "domain_inputs.h"
#include "groma/domain_emission.h"
#include "groma/system.h"

namespace driver {
namespace {

namespace fs = std::filesystem;

using groma::domains::Language;

// The values of the options of `groma domain emit`.
struct EmitDomainArguments {
  std::string name, file, out;
  Language language = Language::kCpp;
  bool test = false;
};

// Returns true if the path names a folder: one that exists, or one with a `/` at its end.
bool is_folder(const std::string& path) {
  std::error_code code;
  return path.ends_with('/') || fs::is_directory(path, code);
}

// Writes the header, and the test program if it is asked for. Returns the exit code.
int emit(const EmitDomainArguments& options) {
  const bool to_output = options.out.empty() || options.out == "-";
  if (options.test && to_output) {
    throw CLI::ValidationError("--test", "the test is a second file: name a folder with --out");
  }
  check_written({{"--out", options.out}}, {options.file});
  int exit_code = kFine;
  const auto named = choose_domain(options.name, options.file, /*json=*/false, &exit_code);
  if (!named) return exit_code;
  groma::domains::EmissionOptions emission;
  emission.language = options.language;
  emission.title = groma::visible(options.name);
  emission.declaration = named->declaration.text();
  const bool in_folder = !to_output && is_folder(options.out);
  if (!to_output && !in_folder) {
    emission.header_name = groma::visible(fs::path(options.out).filename().string());
  }
  const auto emitted = groma::domains::emit_domain(named->domain, emission);
  if (!emitted) return refuse(emitted.error());
  if (to_output) return print(emitted->header);

  const fs::path folder = in_folder ? fs::path(options.out) : fs::path(options.out).parent_path();
  // A folder that is named as such is made, but not the folders around it, nor that of a file.
  std::error_code code;
  if (in_folder) fs::create_directory(folder, code);
  const std::string header = in_folder ? (folder / emitted->header_name).string() : options.out;
  if (const auto error = groma::write_file(header, emitted->header)) return refuse(*error);
  if (!options.test) return kFine;
  const auto error = groma::write_file((folder / emitted->test_name).string(), emitted->test);
  return error ? refuse(*error) : kFine;
}

}  // namespace

void add_domain_emit(CLI::App& domain, int* exit_code) {
  static const std::map<std::string, Language> kLanguages = {
      {"c++", Language::kCpp}, {"cuda", Language::kCuda}, {"opencl", Language::kOpencl}};
  auto options = std::make_shared<EmitDomainArguments>();
  CLI::App* command = domain.add_subcommand(
      "emit", "Write the map of a domain and its inverse as a header for a kernel");
  command
      ->add_option("NAME", options->name,
                   "The domain, with values for its parameters such as triangle:n=4096")
      ->type_name(kDomainType)
      ->required();
  command
      ->add_option("--file", options->file,
                   "Take the domain from this file instead of those that Groma knows; `-` is "
                   "standard input")
      ->type_name(kDomainFileType);
  command->add_option("--language", options->language, "The language of the header")
      ->transform(CLI::CheckedTransformer(kLanguages).description("{c++,cuda,opencl}"))
      ->default_str("c++");
  command
      ->add_option("-o,--out", options->out,
                   "The header to write, or a folder for it (default: standard output)")
      ->type_name(kFileType);
  command->add_flag("--test", options->test,
                    "Also write a program that tests the header, beside it");
  command->footer(
      "Examples:\n"
      "  groma domain emit triangle:n=4096                          prints triangle.h\n"
      "  groma domain emit menger:r=6 --language cuda --out kernels/ --test\n"
      "  groma domain emit tiles --file my.domain --language opencl -o tiles.cl\n\n"
      "Exit codes: 0 fine, 1 the domain is wrong or has no short code, 2 wrong usage.");
  command->callback([options, exit_code] { *exit_code = emit(*options); });
}

}  // namespace driver
