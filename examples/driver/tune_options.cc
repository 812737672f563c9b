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
// The default of --estimates if runs are simulated, too.
constexpr std::int64_t kRehearsals = 1000;
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
  // Options that must not be given with --resume are rejected here and not with CLI11's excludes(),
  // because --help would then repeat the exclusion at each option.
  for (const CLI::Option* option : command.get_options()) {
    const bool with = std::count(resumable.begin(), resumable.end(), option) > 0;
    if (with || resume.count() == 0 || option->count() == 0) continue;
    throw CLI::ExcludesError(resume.get_name(), option->get_name());
  }
  const bool on_legion = arguments->on == "legion";
  const bool verifies = arguments->verify;
  if (verifies && (on_legion || given("--command"))) {
    throw CLI::ValidationError(
        "--verify", "not valid with --command or --on legion, whose runs are measured already");
  }
  if (verifies && behind.empty()) {
    throw CLI::ValidationError("--verify", "put a program after `--`");
  }
  if (!behind.empty() && !on_legion && !verifies) {
    throw CLI::ValidationError(
        "--", "flags for Legion are only valid with --on legion, and a program only with --verify");
  }
  for (const char* name : {"--machine", "--command"}) {
    if (!on_legion || !given(name)) continue;
    throw CLI::ValidationError(name, "not valid with --on legion, which measures on this computer");
  }
  for (const char* name : kMeasuring) {
    if (verifies || resume.count() == 0 || !given(name)) continue;
    throw CLI::ValidationError(name,
                               "a resumed search keeps its own value; the option is only valid "
                               "with --verify, for the verification");
  }
  if (!verifies && !arguments->program.library.empty()) {
    throw CLI::ValidationError("--library", "only valid with --verify");
  }
  if (!arguments->program.override_layouts.tasks.empty() &&
      (on_legion || !arguments->setup.files.empty())) {
    throw CLI::ValidationError("--override-layouts",
                               "only valid for programs that have a mapper of their own");
  }
  for (const char* name : {"--metric", "--metric-json", "--unit", "--higher-is-better", "--checks",
                           "--same", "--tolerance"}) {
    if (verifies || !given(name)) continue;
    if (given("--command")) continue;
    throw CLI::ValidationError(name, "only valid with --command or --verify");
  }
  const bool has_metric = given("--metric") || given("--metric-json");
  // The unit of the program's number is unknown, so it is shown without a unit.
  if (verifies && has_metric && !given("--unit")) arguments->setup.command.unit.clear();
  if (!given("--estimates") && !given("--command") && !on_legion && !arguments->resumes()) {
    arguments->setup.budget.estimates = kRehearsals;
  }
  const std::string& proposer = arguments->setup.proposer;
  if (given("--estimates") && !given("--command") && !on_legion && !proposer.empty() &&
      proposer != "guided") {
    throw CLI::ValidationError(
        "--estimates", "only valid with --command, with --on legion or for the proposer `guided`");
  }
  if (given("--workers") && !given("--command") && !arguments->resumes()) {
    throw CLI::ValidationError("--workers", "only valid with --command");
  }
  for (const char* name : {"--repeats", "--warmup", "--timeout"}) {
    if (on_legion || !given(name)) continue;
    if (given("--command")) continue;
    const std::string_view which = name;
    if (verifies && (which == "--repeats" || which == "--timeout")) continue;
    throw CLI::ValidationError(name, "only valid with --command or --on legion");
  }
  arguments->has_feedback = given("--feedback");
  arguments->has_reply_tokens = given("--reply-tokens");
  // The words after `--` are a program for --verify, otherwise flags of Legion.
  arguments->setup.on_legion = on_legion;
  (verifies ? arguments->program.words : arguments->setup.flags) = behind;
}

}  // namespace

void add_tune(CLI::App& app, const std::vector<std::string>& behind, int* exit_code) {
  auto options = std::make_shared<TuneArguments>();
  CLI::App* command = app.add_subcommand(
      "tune", "Search for a faster mapping, or for a better version of another text");
  add_chat_options(*command, &options->chat);
  const auto of_model = command->get_options(
      [command](const CLI::Option* each) { return each != command->get_help_ptr(); });
  // The options that may be given with --resume. The others would contradict the stored setup.
  std::vector<CLI::Option*> resumable = of_model;
  for (CLI::Option* option : of_model) option->group(kModelGroup);
  command
      ->add_flag("--constrain", options->setup.ask.constrain,
                 "Let the endpoint force replies into the expected form, if it can")
      ->group(kModelGroup);
  command
      ->add_option("--reply-tokens", options->setup.ask.max_tokens,
                   "Limit the tokens of one reply (default: 4096; with --file more, by the size of "
                   "the text)")
      ->check(CLI::Range(16, 1 << 20))
      ->group(kModelGroup);
  command
      ->add_option("--prompt-bytes", options->setup.ask.prompt_bytes,
                   "Limit the bytes of one prompt. A longer prompt leaves out parts and says so")
      ->check(CLI::Range(groma::tuning::AskOptions::kMinPromptBytes, std::size_t{1} << 24))
      ->capture_default_str()
      ->group(kModelGroup);
  add_machine_option(*command, &options->setup.machine);
  command
      ->add_option("--on", options->on,
                   "Where to run mappings: simulator, or legion to measure on this computer as "
                   "`groma run --on legion` does, with flags for Legion after `--`")
      ->check(CLI::IsMember({"simulator", "legion"}))
      ->capture_default_str();
  command
      ->add_option("--app", options->setup.apps,
                   "The application, as for `groma run`. May be given several times with other "
                   "sizes; each size counts equally")
      ->type_name(kAppType)
      ->allow_extra_args(false)
      ->check(not_empty);
  // The help of --proposer lists all proposers.
  std::string names;
  for (const groma::tuning::ProposerInfo& info : groma::tuning::proposers()) {
    names += fmt::format("\n{}: {}", info.name, info.what);
  }
  command
      ->add_option(
          "--proposer", options->setup.proposer,
          "The method that proposes what to try next (default: guided; with --file: marks):" +
              names)
      ->type_name(kProposerType)
      ->check(not_empty);
  resumable.push_back(
      command
          ->add_option("--evaluations", options->evaluations,
                       "Limit the number of runs (default: 100; with --command: 10; 0: no limit). "
                       "Repeated proposals, and proposals refused without a run, do not count")
          ->check(is_count));
  resumable.push_back(
      command->add_option("--time", options->seconds, "Limit the time of the search, in seconds")
          ->check(is_above_0));
  resumable.push_back(command
                          ->add_option("--tokens", options->tokens,
                                       "Limit the tokens that the model reads and writes")
                          ->check(is_count)
                          ->check(is_above_0));
  resumable.push_back(command
                          ->add_option("--money", options->money,
                                       "Limit the cost of the model, in the currency of --price")
                          ->check(is_above_0)
                          ->needs("--price"));
  resumable.push_back(
      command
          ->add_option("-j,--jobs", options->jobs,
                       "Limit the number of simulated runs at the same time (default: the number "
                       "of cores), or "
                       "of --workers. The result of simulated runs does not depend on it")
          ->check(CLI::Range(1, 1024)));
  command->add_option("--seed", options->setup.seed, "The seed of the proposer's random numbers")
      ->check(is_seed)
      ->capture_default_str();
  command
      ->add_option(
          "--feedback", options->setup.feedback,
          "How much feedback about a run the proposer gets; each level includes those before it")
      ->check(CLI::IsMember({"none", "execution", "explain", "suggest", "profile"}))
      ->capture_default_str();
  command
      ->add_option("--start", options->start,
                   "The mapping to start from (default: the default mapper)")
      ->type_name(kMappingType)
      ->check(not_empty);
  resumable.push_back(command->add_flag(
      "--verify", options->verify,
      "After the search, run the Legion program after `--` under the best mappings and the "
      "starting one. The fastest is written to verified.mapper"));
  add_override_layouts_flag(*command, &options->program.override_layouts);
  command->add_flag("--compare", options->setup.compare,
                    "Make searches comparable: each proposal counts as a run, no proposal is "
                    "repaired, and the proposer gets no hints at the start");
  resumable.push_back(command->add_flag(
      "--pareto", options->setup.pareto,
      "With several inputs: also keep the mappings that no other one beats on all inputs, in the "
      "folder front/ and in a table. The search itself stays the same. --verify still runs only "
      "the mappings with the best scores"));
  command
      ->add_option("--out", options->out,
                   "The directory for best.mapper, the report and the journal; it must not contain "
                   "any yet (default: tune, tune.2, ...)")
      ->type_name(kFolderType)
      ->check(not_empty);
  CLI::Option* resume =
      command
          ->add_option("--resume", options->resume,
                       "Continue the search in this directory with its original options. Limits "
                       "may be changed; the endpoint of the model must be given again")
          ->type_name(kFolderType)
          ->check(not_empty);
  resumable.push_back(
      command
          ->add_flag("--trust", options->trust,
                     "Run the commands that are stored in the directory of --resume. Give this "
                     "only if you trust whoever made that directory")
          ->needs(resume));
  resumable.push_back(command->add_flag("--json", options->json,
                                        "Print a line of JSON for each event instead of text"));
  // The options about measured runs may be given again for the verification of a resumed search.
  add_command_options(*command, options.get());
  resumable.push_back(command->get_option("--memory"));
  resumable.push_back(command->get_option("--knowledge"));
  resumable.push_back(command->get_option("--workers"));
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
      "      --endpoint http://127.0.0.1:8080/v1        any other text\n"
      "  groma tune --file k.cu --check-command 'nvcc {file} -o {file}.out' --workers 4 \\\n"
      "      --command 'CUDA_VISIBLE_DEVICES=$GROMA_WORKER {file}.out' --metric 'ms: (\\S+)'\n"
      "                                                 four devices at once\n"
      "  groma tune ... --workers 'ssh a sh' --workers 'srun --gres=gpu:1 sh'\n"
      "                                                 other computers");
  command->callback([=, &behind] {
    check_options(*command, *resume, resumable, behind, options.get());
    *exit_code = run_tune(*options);
  });
}

}  // namespace driver
