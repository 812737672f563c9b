// groma guide: explains the output of a run and names the statement to change.
#include "groma/guide.h"

#include <fmt/format.h>

#include <memory>

#include "commands.h"
#include "console.h"
#include "groma/run.h"
#include "inputs.h"

namespace driver {
namespace {

// The values of the options of `groma guide`.
struct GuideArguments {
  std::vector<std::string> logs;
  std::string detail = "profile", program, machine, profile;
  std::vector<std::string> rules;
  std::optional<int> exit_code;
  bool timed_out = false, strict = false, json = false;
};

// What `groma guide` reads about a run in addition to the logs of the run: the mapping program, and
// the profile or the output of the failed run.
struct Known {
  std::optional<groma::Diagnostics> diags;
  std::optional<groma::Program> program;
  std::optional<groma::Machine> machine;
  std::optional<groma::ProfileFacts> profile;
  // The output of the failed run, if the file of --profile describes a failed run. Such a run has
  // no profile.
  std::optional<std::string> failure;
};

// Reads the program of the run. A program with errors is kept, with a warning.
std::optional<groma::Error> read_program(const GuideArguments& options, Known* known) {
  if (!read_source(options.program, &known->diags)) {
    return groma::Error{groma::Error::Code::kUnreadable, known->diags->all().front().message};
  }
  known->program = groma::compile(known->diags->source(), *known->diags);
  if (known->diags->has_errors()) {
    print_error(
        fmt::format("groma: `{}` has errors, so advice may miss statements of it\n"
                    "help: `groma check` shows them\n",
                    options.program));
  } else if (known->machine) {
    const auto bound = groma::bind(*known->program, *known->machine, *known->diags);
    if (bound) known->program = bound->program();
  } else if (known->program->has_conditions()) {
    print_error(fmt::format(
        "groma: `{}` has `when` blocks, so advice may name statements that do not act on "
        "the machine of the run\n"
        "help: name the machine with --machine\n",
        options.program));
  }
  return std::nullopt;
}

// Reads what the options --machine, --program and --profile name.
std::optional<groma::Error> read_known(const GuideArguments& options, Known* known) {
  if (!options.machine.empty()) {
    std::optional<groma::Diagnostics> diags;
    auto inputs = read_inputs(options.machine, "", &diags);
    if (!inputs) return groma::Error{groma::Error::Code::kUnreadable, diags->all().front().message};
    known->machine = std::move(inputs->machine);
  }
  if (!options.program.empty()) {
    if (auto error = read_program(options, known)) return error;
  }
  if (options.profile.empty()) return std::nullopt;
  const auto text = groma::read_file(options.profile, groma::kMaxSourceBytes);
  if (!text) return text.error();
  known->failure = groma::log_of_failed_run(*text);
  if (known->failure) return std::nullopt;
  auto facts = groma::read_profile_facts(*text);
  if (!facts) {
    groma::Error error = facts.error();
    error.message = fmt::format("`{}`: {}", options.profile, error.message);
    return error;
  }
  known->profile = std::move(facts).value();
  return std::nullopt;
}

// Reads the logs and prints the feedback. Returns the exit code.
int run(const GuideArguments& options) {
  std::vector<std::string> inputs = options.logs;
  inputs.push_back(options.program);
  inputs.push_back(options.profile);
  inputs.insert(inputs.end(), options.rules.begin(), options.rules.end());
  check_standard_input(inputs);
  if (options.logs.empty() && !options.exit_code && !options.timed_out && options.profile.empty()) {
    throw CLI::ValidationError("LOG", "no input: name a log file (`-` is standard input)");
  }
  // The user's own rules come before the built-in ones.
  catch_interrupts();
  std::vector<groma::Source> own;
  for (const std::string& path : options.rules) {
    auto source = groma::Source::read(path);
    if (!source) return refuse(source.error());
    own.push_back(std::move(source).value());
  }
  const auto rules = groma::GuideRules::make(own);
  if (!rules) return refuse(rules.error());
  Known known;
  if (const auto error = read_known(options, &known)) return refuse(*error);

  // Read the logs block by block. The output of a running program may be piped in.
  groma::GuideReader reader(*rules);
  bool readable = true;
  for (const std::string& path : options.logs) {
    if (options.logs.size() > 1) reader.begin(path);
    const bool read = read_pieces(path, [&](std::string_view piece) {
      reader.read(piece);
      return true;
    });
    readable = read && readable;
  }
  // If a log cannot be read, there is no feedback, because feedback on a part of the logs may be
  // wrong.
  if (!readable) return kWrongInput;
  groma::GuideContext context;
  context.exit_code = options.exit_code;
  // The output of a failed simulated run counts as another log.
  if (known.failure) {
    if (options.logs.size() > 1) reader.begin(options.profile);
    reader.read(*known.failure);
    if (!context.exit_code) context.exit_code = kWrongInput;
  }
  context.timed_out = options.timed_out;
  // Only a run that reached its end has a profile.
  const bool ended = known.profile && options.logs.empty() && !context.timed_out;
  if (ended && !context.exit_code) context.exit_code = kFine;
  context.program = known.program ? &*known.program : nullptr;
  context.profile = known.profile ? &*known.profile : nullptr;
  if (known.machine) context.lacking = groma::missing_machine_kinds(*known.machine);
  // The option parser accepts only the words that guide_detail() knows, so the optional result has
  // a value.
  context.detail = *groma::guide_detail(options.detail);
  const groma::GuideFeedback feedback = reader.feedback(context);
  const groma::Source* source = known.diags ? &known.diags->source() : nullptr;
  const int printed = print_painted(options.json ? groma::to_json(feedback, source)
                                                 : groma::draw(feedback, color_on_stdout()));
  if (interrupted()) return kInterrupted;
  const bool nothing = !feedback.known;
  if (printed != kFine || (options.strict && nothing)) return kWrongInput;
  return kFine;
}

}  // namespace

void add_guide(CLI::App& app, int* exit_code) {
  auto options = std::make_shared<GuideArguments>();
  CLI::App* command =
      app.add_subcommand("guide", "Explain the output of a run, and say which statement to change");
  command
      ->add_option("LOG", options->logs,
                   "Files with the output of the run; `-` is standard input, which may be a "
                   "pipe from a program that still runs")
      ->type_name(kFileType);
  command
      ->add_option("--detail", options->detail,
                   "How much to say; each level includes those before it")
      ->check(CLI::IsMember({"none", "execution", "explain", "suggest", "profile"}))
      ->capture_default_str();
  command
      ->add_option("--program", options->program,
                   "The mapping program of the run; the advice then names its statements")
      ->type_name(kMappingType);
  add_machine_option(
      *command, &options->machine,
      "The machine of the run; the guide then advises nothing that the machine lacks, "
      "and knows which `when` blocks acted");
  command
      ->add_option("--profile", options->profile,
                   "The profile of the run, as `groma run --json` prints it")
      ->type_name(kFileType);
  command
      ->add_option("--rules", options->rules,
                   "A file with rules of your own, which are tried before the built-in ones")
      ->type_name(kFileType)
      ->allow_extra_args(false);
  command->add_option("--exit-code", options->exit_code, "The exit code of the run");
  command->add_flag("--timed-out", options->timed_out,
                    "Say that the run was stopped at its time limit");
  command->add_flag("--strict", options->strict, "Exit with 1 if no rule matches the output");
  command->add_flag("--json", options->json, "Print one JSON document instead of text");
  command->footer(
      "Examples:\n"
      "  groma guide run.log\n"
      "  groma guide run_0.log run_1.log --program my.mapper --exit-code 134\n"
      "  ./app -lg:safe_mapper -logfile stderr 2>&1 | groma guide -\n"
      "  groma run my.mapper --app circuit --json > run.json\n"
      "  groma guide run.json --profile run.json --program my.mapper");
  command->callback([options, exit_code] { *exit_code = run(*options); });
}

}  // namespace driver
