// The command line of `groma tune`.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>

#include "commands.h"
#include "groma/proposers.h"
#include "inputs.h"
#include "tune.h"

namespace driver {
namespace {

constexpr const char* kModelGroup = "A language model";
// Options about measured runs. They need --command or --verify and may be given with --resume.
constexpr std::array kMeasuring = {
    "--metric",          "--metric-json", "--unit", "--higher-is-better", "--repeats",
    "--timeout",         "--checks",      "--same", "--tolerance",        "--library",
    "--override-layouts"};

// Fails with wrong usage if options contradict each other or the words after `--`. Completes the
// arguments. `resume` is the option --resume, and `resumable` lists the options that may be given
// with it.
void check_options(const CLI::App& command, const CLI::Option& resume,
                   const std::vector<CLI::Option*>& resumable,
                   const std::vector<std::string>& behind, TuneArguments* arguments) {
  const auto given = [&command](const char* name) { return command.get_option(name)->count() > 0; };
  // Checked here instead of with excludes(), which --help would repeat at each option.
  for (const CLI::Option* option : command.get_options()) {
    const bool with = std::count(resumable.begin(), resumable.end(), option) > 0;
    if (with || resume.count() == 0 || option->count() == 0) continue;
    throw CLI::ExcludesError(resume.get_name(), option->get_name());
  }
  const bool on_legion = arguments->on == "legion";
  const bool verifies = arguments->verify;
  if (verifies && (on_legion || given("--command"))) {
    throw CLI::ValidationError("--verify", "what was searched for was measured already");
  }
  if (verifies && behind.empty()) {
    throw CLI::ValidationError("--verify", "it takes a program, behind `--`");
  }
  if (!behind.empty() && !on_legion && !verifies) {
    throw CLI::ValidationError("--", "flags of Legion are for --on legion, a program for --verify");
  }
  for (const char* name : {"--machine", "--command"}) {
    if (!on_legion || !given(name)) continue;
    throw CLI::ValidationError(name, "--on legion measures on this computer by itself");
  }
  for (const char* name : kMeasuring) {
    if (verifies || resume.count() == 0 || !given(name)) continue;
    throw CLI::ValidationError(
        name, "a resumed search keeps its own; with --verify the option is for the verification");
  }
  if (!verifies && !arguments->program.library.empty()) {
    throw CLI::ValidationError("--library", "it is of --verify");
  }
  if (!arguments->program.override_layouts.tasks.empty() &&
      (on_legion || !arguments->setup.file.empty())) {
    throw CLI::ValidationError("--override-layouts",
                               "it is for programs that have a mapper of their own");
  }
  for (const char* name : {"--metric", "--metric-json", "--unit", "--higher-is-better", "--checks",
                           "--same", "--tolerance"}) {
    if (verifies || !given(name)) continue;
    if (given("--command")) continue;
    throw CLI::ValidationError(name, "it is of --command or --verify");
  }
  const bool has_metric = given("--metric") || given("--metric-json");
  // The unit of the program's number is unknown, so it is shown without a unit.
  if (verifies && has_metric && !given("--unit")) arguments->setup.command.unit.clear();
  for (const char* name : {"--repeats", "--warmup", "--timeout", "--estimates"}) {
    if (on_legion || !given(name)) continue;
    if (given("--command")) continue;
    const std::string_view which = name;
    if (verifies && (which == "--repeats" || which == "--timeout")) continue;
    throw CLI::ValidationError(name, "it is of --command or --on legion");
  }
  // The words after `--` are a program for --verify, otherwise flags of Legion.
  arguments->setup.on_legion = on_legion;
  (verifies ? arguments->program.words : arguments->setup.flags) = behind;
}

}  // namespace

void add_tune(CLI::App& app, const std::vector<std::string>& behind, int* exit_code) {
  auto options = std::make_shared<TuneArguments>();
  CLI::App* command = app.add_subcommand(
      "tune", "Searches for a faster mapping, or for a better text of another kind");
  add_chat_options(*command, &options->chat);
  const auto of_model = command->get_options(
      [command](const CLI::Option* each) { return each != command->get_help_ptr(); });
  // The options that may be given with --resume. The others would contradict the stored setup.
  std::vector<CLI::Option*> resumable = of_model;
  for (CLI::Option* option : of_model) option->group(kModelGroup);
  command
      ->add_flag("--constrain", options->setup.ask.constrain,
                 "Has the endpoint keep replies to their form, where it can")
      ->group(kModelGroup);
  command
      ->add_option("--reply-tokens", options->setup.ask.max_tokens,
                   "At most so many tokens of a reply")
      ->check(CLI::Range(16, 1 << 20))
      ->capture_default_str()
      ->group(kModelGroup);
  add_machine_option(*command, &options->setup.machine);
  command
      ->add_option(
          "--on", options->on,
          "Where mappings run: simulated, or measured on this computer as Legion programs, "
          "as `groma run --on legion`, with Legion's flags behind `--`")
      ->check(CLI::IsMember({"simulator", "legion"}))
      ->capture_default_str();
  command
      ->add_option("--app", options->setup.apps,
                   "The application, as of `groma run`; several make a vector of inputs, which "
                   "count alike")
      ->allow_extra_args(false)
      ->check(not_empty);
  // The help of --proposer lists all proposers.
  std::string names;
  for (const groma::tuning::ProposerInfo& info : groma::tuning::proposers()) {
    names += fmt::format("\n{}: {}", info.name, info.what);
  }
  command
      ->add_option("--proposer", options->setup.proposer,
                   "Who proposes what to try; guided unless given, marks of a --file:" + names)
      ->check(not_empty);
  resumable.push_back(
      command
          ->add_option("--evaluations", options->evaluations,
                       "At most so many runs; what was tried before and what is refused without a "
                       "run are further steps, and free; 0: no bound. 100 unless given, 10 of a "
                       "command")
          ->check(is_count));
  resumable.push_back(command->add_option("--time", options->seconds, "At most so many seconds")
                          ->check(is_above_0));
  resumable.push_back(
      command->add_option("--tokens", options->tokens, "At most so many of the model")
          ->check(is_count)
          ->check(is_above_0));
  resumable.push_back(
      command->add_option("--money", options->money, "At most so much for the model; needs --price")
          ->check(is_above_0)
          ->needs("--price"));
  command->add_option("--seed", options->setup.seed, "Of the proposer")
      ->check(is_seed)
      ->capture_default_str();
  command
      ->add_option("--feedback", options->setup.feedback,
                   "How much the proposer sees of a run's feedback")
      ->check(CLI::IsMember({"none", "execution", "explain", "suggest", "profile"}))
      ->capture_default_str();
  command
      ->add_option("--start", options->start,
                   "A mapping to begin with; without one the default mapper")
      ->check(not_empty);
  resumable.push_back(command->add_flag("--verify", options->verify,
                                        "Then run the Legion program behind `--` under the "
                                        "best mappings and the start; the fastest "
                                        "becomes verified.mapper"));
  add_override_layouts_flag(*command, &options->program.override_layouts);
  command->add_flag("--compare", options->setup.compare,
                    "Every proposal counts, none is repaired, and nothing is known at first");
  command
      ->add_option("--out", options->out,
                   "A directory for best.mapper, report and journal that has none of them yet; "
                   "tune, tune.2, ... unless given")
      ->check(not_empty);
  CLI::Option* resume = command
                            ->add_option("--resume", options->resume,
                                         "Goes on with the search in this directory, as it was "
                                         "begun; budgets may be others, the model's endpoint is "
                                         "given again")
                            ->check(not_empty);
  resumable.push_back(
      command
          ->add_flag("--trust", options->trust,
                     "Run the commands that stand in the directory of --resume, in the folder that "
                     "stands there: it is as trustworthy as who made it")
          ->needs(resume));
  resumable.push_back(
      command->add_flag("--json", options->json, "A line of JSON for each event instead of text"));
  // The options about measured runs may be given again for the verification of a resumed search.
  add_command_options(*command, options.get());
  resumable.push_back(command->get_option("--memory"));
  for (const char* name : kMeasuring) resumable.push_back(command->get_option(name));
  resumable.push_back(resume);
  add_behind(*command, "[-- FLAGS | --verify -- PROGRAM ARGS]");
  command->footer(
      "Examples:\n"
      "  groma tune --app solomonik                     a hundred simulated runs, no model\n"
      "  groma tune --app circuit --machine lassen:nodes=4 --evaluations 400 --out circuit\n"
      "  groma tune --resume circuit --evaluations 900  goes on\n"
      "  groma tune --app pennant --proposer trace --endpoint http://127.0.0.1:8080/v1\n"
      "  groma tune --app recorded.json --verify \\\n"
      "      --machine nodes=1,gpu=0,cpu=4,omp=0,sysmem=512,sockmem=0,rdmem=0 \\\n"
      "      -- ./my_program -ll:cpu 4\n"
      "                                                 simulated, then for real (groma record)\n"
      "  groma tune --on legion --app cannon -- -ll:cpu 2\n"
      "                                                 measured on this computer\n"
      "  groma tune --app my.json --command './my_program --mapping {file}' \\\n"
      "      --metric 'time: (\\S+) s'                   of a real program\n"
      "  groma tune --file kernel.cc --command 'g++ -O2 {file} -o {file}.out && {file}.out' \\\n"
      "      --metric '([0-9.]+) GFLOPS' --higher-is-better --proposer evolve \\\n"
      "      --endpoint http://127.0.0.1:8080/v1        any other text");
  command->callback([=, &behind] {
    check_options(*command, *resume, resumable, behind, options.get());
    *exit_code = run_tune(*options);
  });
}

}  // namespace driver
