// groma diff: shows which decisions of two mappings differ, and the cost of each difference.
#include <memory>

#include "commands.h"
#include "console.h"
#include "groma/diff.h"
#include "groma/inspect.h"
#include "inputs.h"

namespace driver {
namespace {

// The values of the options of `groma diff`.
struct MappingDiffArguments {
  std::vector<std::string> files;
  std::string machine = "p100x4", app;
  groma::SimulateOptions simulate;
  groma::LayoutOverrides override_layouts;
  bool json = false;
};

// Reads both mappings, compares them and prints the differences. Returns the exit code.
int run(MappingDiffArguments options) {
  std::vector<std::string> inputs = options.files;
  inputs.insert(inputs.end(), {options.machine, options.app});
  check_standard_input(inputs);
  catch_interrupts();
  options.simulate.stop = [] { return interrupted(); };
  std::optional<groma::Diagnostics> diags_a, diags_b;
  const auto with = read_inputs(options.machine, options.app, &diags_a,
                                {options.simulate.stop, options.override_layouts});
  if (interrupted()) return kInterrupted;
  if (!with) return fail(*diags_a, options.json);
  // A single mapping is compared with the default mapper.
  const bool alone = options.files.size() == 1;
  const auto a = alone ? bind_default(*with->machine, &diags_a)
                       : read_mapping(options.files.front(), *with->machine, &diags_a);
  if (!a) return fail(*diags_a, options.json);
  const auto b = read_mapping(options.files.back(), *with->machine, &diags_b);
  if (!b) return fail(*diags_b, options.json);
  groma::check_nodes(*with->machine, *with->app, *diags_b);
  // Each difference is tried in the simulator, which may take long.
  std::optional<ProgressLine> line("comparing");
  const auto diff = groma::diff(*a, *b, *with->workload, options.simulate, *diags_a, *diags_b,
                                [&line](std::int64_t done, std::int64_t all) {
                                  line->update(done, all);
                                  return !interrupted();
                                });
  // The progress line must be gone before anything is printed.
  line.reset();
  if (interrupted()) return kInterrupted;
  if (!options.json) {
    show_diagnostics(*diags_a);
    show_diagnostics(*diags_b);
  }
  const bool printed =
      print_painted(
          options.json ? groma::to_json(diff, a->program(), b->program(), *diags_a, *diags_b)
                       : groma::draw(diff, a->program(), b->program(), color_on_stdout())) == kFine;
  return printed && diff.a.ok() && diff.b.ok() ? kFine : kWrongInput;
}

// Makes the help text call the two files `[A] B` in the line that begins with `Usage:`.
class UsageOfTwoFiles final : public HelpFormatter {
 public:
  std::string make_option_usage(const CLI::Option*) const override { return "[A] B"; }
};

}  // namespace

void add_diff(CLI::App& app, int* exit_code) {
  auto options = std::make_shared<MappingDiffArguments>();
  CLI::App* command = app.add_subcommand(
      "diff", "Show which decisions of two mappings differ, and what each difference costs");
  command
      ->add_option("FILE", options->files,
                   "Mapping programs A and B; `-` is standard input. If only one is given it is B, "
                   "and A is the default mapper")
      ->type_name(kMappingType)
      ->required()
      ->expected(1, 2);
  command->formatter(std::make_shared<UsageOfTwoFiles>());
  add_machine_option(*command, &options->machine);
  add_app_option(*command, &options->app)->required();
  add_override_layouts_flag(*command, &options->override_layouts);
  add_memory_option(*command, &options->simulate.max_bytes);
  add_json_flag(*command, &options->json);
  command->footer(
      "Examples:\n"
      "  groma diff old.mapper new.mapper --machine p100x4 --app circuit\n"
      "  groma diff my.mapper --app cannon:size=large   what it does better than the default "
      "mapper");
  command->callback([options, exit_code] { *exit_code = run(*options); });
}

}  // namespace driver
