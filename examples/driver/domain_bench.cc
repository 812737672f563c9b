// groma domain bench: compiles and runs a program that measures the emitted code of domains.
#include <fmt/format.h>

#include <cstdlib>
#include <memory>

#include "commands.h"
#include "console.h"
#include "domain_inputs.h"
#include "groma/domain_emission.h"
#include "groma/system.h"

namespace driver {
namespace {

// The domains of the paper, in four sizes each. The work of 1,000 operations a point limits them.
constexpr const char* kUsual[] = {
    "triangle:n=128",   "triangle:n=256",   "triangle:n=512",   "triangle:n=724",
    "tetrahedron:n=32", "tetrahedron:n=64", "tetrahedron:n=96", "tetrahedron:n=112",
    "gasket:r=8",       "gasket:r=9",       "gasket:r=10",      "gasket:r=11",
    "carpet:r=3",       "carpet:r=4",       "carpet:r=5",       "carpet:r=6",
    "sierpinski3:r=6",  "sierpinski3:r=7",  "sierpinski3:r=8",  "sierpinski3:r=9",
    "menger:r=1",       "menger:r=2",       "menger:r=3",       "menger:r=4"};

// The values of the options of `groma domain bench`.
struct BenchArguments {
  std::vector<std::string> names;
  std::string file, out;
  bool quick = false;
};

// Runs a command with its output passed on. Returns true if it ended well.
bool run_passing_on(const groma::Command& command) {
  groma::Command shown = command;
  shown.stop = interrupted;
  shown.on_output = [](std::string_view bytes, bool is_error) {
    if (is_error) {
      pass_on_error(bytes);
    } else {
      pass_on(bytes);
    }
  };
  const auto outcome = groma::run_command(shown);
  if (!outcome) print_error(outcome.error().message + "\n");
  return outcome.ok() && outcome->ended_well();
}

// Writes, compiles and runs the program. Returns the exit code.
int bench(const BenchArguments& options) {
  std::vector<std::string> names = options.names;
  if (names.empty()) names.assign(std::begin(kUsual), std::end(kUsual));
  std::vector<groma::domains::TitledDomain> domains;
  for (const std::string& name : names) {
    int exit_code = kFine;
    auto named = choose_domain(name, options.file, /*json=*/false, &exit_code);
    if (!named) return exit_code;
    domains.push_back({std::move(named->domain), groma::visible(name)});
  }
  const auto program = groma::domains::emit_benchmark(domains);
  if (!program) return refuse(program.error());
  if (options.out == "-") return print(*program);
  if (!options.out.empty()) {
    const auto error = groma::write_file(options.out, *program);
    return error ? refuse(*error) : kFine;
  }
  const auto folder = groma::ScratchFolder::make();
  if (!folder) return refuse(folder.error());
  if (const auto error = groma::write_file(folder->path() + "/bench.cc", *program)) {
    return refuse(*error);
  }
  catch_interrupts();
  const char* const named = std::getenv("CXX");
  const std::string compiler = named != nullptr && *named != '\0' ? named : "c++";
  groma::Command command;
  command.folder = folder->path();
  command.words = {compiler, "-std=c++17", "-O3", "-march=native", "bench.cc", "-o", "bench"};
  if (!run_passing_on(command)) {
    return interrupted() ? int{kInterrupted}
                         : refuse(fmt::format("`{}` cannot compile the program", compiler),
                                  "name a C++ compiler in the environment variable CXX, or write "
                                  "the program with --out");
  }
  command.words = {"./bench"};
  if (options.quick) command.words.emplace_back("quick");
  if (run_passing_on(command)) return kFine;
  return interrupted() ? kInterrupted : kWrongInput;
}

}  // namespace

void add_domain_bench(CLI::App& domain, int* exit_code) {
  auto options = std::make_shared<BenchArguments>();
  CLI::App* command = domain.add_subcommand(
      "bench", "Measure the emitted code of domains on this computer, against their boxes");
  command
      ->add_option("NAME", options->names,
                   "Domains such as triangle:n=512 triangle:n=1024 (default: the paper's six, in "
                   "four sizes)")
      ->type_name(kDomainType);
  command
      ->add_option("--file", options->file,
                   "Take the domains from this file instead of those that Groma knows")
      ->type_name(kDomainFileType);
  command
      ->add_option("-o,--out", options->out,
                   "Only write the C++ program that measures; `-` is standard output")
      ->type_name(kFileType);
  command->add_flag("--quick", options->quick, "Take few and short samples");
  command->footer(
      "Compiles with $CXX (default: c++) and runs on one processor.\n\n"
      "Examples:\n"
      "  groma domain bench --quick menger:r=3\n"
      "  groma domain bench triangle:n=256 triangle:n=512 triangle:n=1024\n\n"
      "Exit codes: 0 fine, 1 wrong domain or result, or no compiler, 2 wrong usage.");
  command->callback([options, exit_code] { *exit_code = bench(*options); });
}

}  // namespace driver
