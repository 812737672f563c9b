// The options of `groma tune` for searches in which a command evaluates each text, and for runs
// that are measured.
#include "console.h"
#include "inputs.h"
#include "tune.h"

namespace driver {

// Adds these options in a group of their own in the help text. Most of them need --command.
void add_command_options(CLI::App& command, TuneArguments* arguments) {
  constexpr const char* kGroup = "Judged by a command";
  groma::tuning::CommandEvaluatorOptions& how = arguments->setup.command;
  auto* run = command.add_option("--command", how.command,
                                 "For sh: builds and measures `{file}`, with one of `--input` as "
                                 "`{input}`");
  run->check(not_empty)->group(kGroup);
  auto* file = command.add_option("--file", arguments->setup.file,
                                  "Instead of a mapping a text with `groma: begin NAME` and "
                                  "`groma: end` in lines around each segment that may be changed");
  file->check(not_empty)->group(kGroup)->needs(run);
  for (const char* said : {"--machine", "--start"}) file->excludes(said);
  const auto add = [&](const char* name, auto& value, const char* what) {
    return command.add_option(name, value, what)->group(kGroup)->needs(run);
  };
  add("--about", arguments->setup.about, "What the text is and must do, in words for a model")
      ->needs(file);
  add("--check-command", how.check_command, "Run first: unless it exits with 0 the text is wrong")
      ->check(not_empty);
  add("--input", how.inputs, "What `{input}` stands for; several make a vector");
  // Adds an option that is also valid with --on legion or --verify. check_options() in
  // tune_options.cc checks that.
  const auto measured = [&](const char* name, auto& value, const char* what) {
    return command.add_option(name, value, what)->group(kGroup);
  };
  auto* metric = measured(
      "--metric", how.metric_pattern,
      "A regular expression with one group, the value, in what the command, or the program of "
      "--verify, prints; without one the seconds it takes");
  metric->check(not_empty);
  measured("--metric-json", how.metric_pointer, "A JSON pointer to the value in what it prints")
      ->check(not_empty)
      ->excludes(metric);
  measured("--unit", how.unit, "Of the value")->capture_default_str();
  command.add_flag("--higher-is-better", how.higher_is_better, "Of the value")->group(kGroup);
  measured("--repeats", how.repeats, "Runs of which the median counts")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  command
      .add_option("--checks", arguments->program.checks,
                  "Whether what the program prints is compared with what it prints without the "
                  "mapping (--verify), or under the first one (--command; with --file or "
                  "--metric-json only the lines of --same)")
      ->check(CLI::IsMember({"first", "never"}))
      ->capture_default_str()
      ->group(kGroup);
  add_results_options(command, &arguments->program, "");
  add_library_option(command, &arguments->program, "With --verify: ");
  for (const char* name : {"--same", "--tolerance", "--library"}) {
    command.get_option(name)->group(kGroup);
  }
  measured("--warmup", how.warmup, "Runs before, which do not count")
      ->check(CLI::Range(0, 1000))
      ->capture_default_str();
  command
      .add_option_function<double>(
          "--timeout",
          [&how](double seconds) { how.timeout_ms = static_cast<std::int64_t>(1000 * seconds); },
          "Seconds after which a run is ended; 600 unless given")
      ->check(is_number)
      ->check(CLI::Range(0.001, 1e6))
      ->group(kGroup);
  command
      .add_option_function<std::int64_t>(
          "--memory",
          [arguments, &how](std::int64_t megabytes) {
            how.memory_bytes = arguments->simulate.max_bytes = megabytes << 20;
          },
          "MiB that each process of a run may have; without a command a simulated run, then 2048 "
          "unless given")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 30));
  measured(
      "--estimates", arguments->setup.budget.estimates,
      "Of a mapping: at most so many simulated runs that say what is worth the command; 0: none")
      ->check(is_count)
      ->excludes(file)
      ->capture_default_str();
}

}  // namespace driver
