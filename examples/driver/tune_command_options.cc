// The options of `groma tune` for searches in which a command evaluates each text, and for runs
// that are measured.
#include "console.h"
#include "inputs.h"
#include "tune.h"
#include "value_types.h"

namespace driver {

// Adds these options in a group of their own in the help text. Most of them need --command.
void add_command_options(CLI::App& command, TuneArguments* arguments) {
  constexpr const char* kGroup = "Evaluation by a command";
  groma::tuning::CommandEvaluatorOptions& how = arguments->setup.command;
  auto* run = command.add_option("--command", how.command,
                                 "A shell command that builds and measures the text in `{file}`; "
                                 "`{input}` is one of the --input values");
  run->check(not_empty)->group(kGroup);
  auto* file =
      command
          .add_option(
              "--file", arguments->setup.files,
              "Search for a better version of this text instead of a mapping. May be given several "
              "times "
              "for a program of several files; `{file}` is the first of them. A model may change "
              "all of "
              "it, "
              "or, if lines with `groma: begin NAME` and `groma: end` enclose segments, only these")
          ->type_name(kFileType);
  file->check(not_empty)->group(kGroup)->needs(run);
  for (const char* said : {"--machine", "--start"}) file->excludes(said);
  const auto add = [&](const char* name, auto& value, const char* what) {
    return command.add_option(name, value, what)->group(kGroup)->needs(run);
  };
  add("--about", arguments->setup.about,
      "A description for the model: what the text is and what it must do")
      ->needs(file);
  // A resumed search is given its documents again.
  command
      .add_option(
          "--knowledge", arguments->knowledge,
          "A document on the hardware or on techniques, as text or Markdown. The model sees "
          "the passages that fit its question. May be given several times")
      ->type_name(kFileType)
      ->check(not_empty)
      ->group(kGroup);
  add("--probe", arguments->probe,
      "A shell command that prints facts about the machine for the model, such as `lscpu`")
      ->check(not_empty)
      ->needs(file);
  add("--check-command", how.check_command,
      "A command that runs first; the text is wrong unless it exits with 0")
      ->check(not_empty);
  add("--input", how.inputs,
      "A value of `{input}`. May be given several times; the command then runs with each");
  command
      .add_option("--workers", how.workers,
                  "Evaluate several texts at once: a number N of workers on this computer, or a "
                  "command that starts a shell on another one, such as 'ssh host sh' (may be given "
                  "several times). The commands have the worker's number in $GROMA_WORKER")
      ->check(not_empty)
      ->allow_extra_args(false)
      ->group(kGroup);
  // Adds an option that may also be given without --command, with --on legion or --verify.
  // check_options() in tune_options.cc checks this.
  const auto measured = [&](const char* name, auto& value, const char* what) {
    return command.add_option(name, value, what)->group(kGroup);
  };
  auto* metric = measured(
      "--metric", how.metric_pattern,
      "A regular expression that finds the result in the output of the command, or of the program "
      "with --verify: its only group is the value (default: the run time, in seconds)");
  metric->check(not_empty);
  measured("--metric-json", how.metric_pointer, "A JSON pointer to the value in the output")
      ->check(not_empty)
      ->excludes(metric);
  measured("--unit", how.unit, "The unit of the value")->capture_default_str();
  command
      .add_flag("--higher-is-better", how.higher_is_better,
                "Larger values are better (default: smaller)")
      ->group(kGroup);
  measured("--repeats", how.repeats, "The number of runs of each text; their median counts")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  command
      .add_option("--checks", arguments->program.checks,
                  "Whether to compare the program's output with its output without a mapping "
                  "(--verify) or under the first mapping (--command). With --file or --metric-json "
                  "only the lines of --same are compared")
      ->check(CLI::IsMember({"first", "never"}))
      ->capture_default_str()
      ->group(kGroup);
  add_results_options(command, &arguments->program, "");
  add_library_option(command, &arguments->program, "With --verify: ");
  for (const char* name : {"--same", "--tolerance", "--library"}) {
    command.get_option(name)->group(kGroup);
  }
  measured("--warmup", how.warmup, "The number of warm-up runs before, which do not count")
      ->check(CLI::Range(0, 1000))
      ->capture_default_str();
  command
      .add_option_function<double>(
          "--timeout",
          [&how](double seconds) { how.timeout_ms = static_cast<std::int64_t>(1000 * seconds); },
          "End a run after this many seconds (default: 600)")
      ->check(is_number)
      ->check(CLI::Range(0.001, 1e6))
      ->group(kGroup);
  command
      .add_option_function<std::int64_t>(
          "--memory",
          [arguments, &how](std::int64_t megabytes) {
            how.memory_bytes = arguments->simulate.max_bytes = megabytes << 20;
          },
          "Limit the memory of each process of a run, in MiB; without --command, the memory of a "
          "simulated run (then default: 2048)")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 30));
  measured(
      "--estimates", arguments->setup.budget.estimates,
      "For a mapping: limit the number of estimates that choose what is worth running; 0: none. "
      "With a command an estimate is a simulated run (default: 10000), otherwise a rehearsal "
      "of one, for `guided` (default: 1000)")
      ->check(is_count)
      ->excludes(file);
}

}  // namespace driver
