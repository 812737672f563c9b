// The part of `groma tune` that resumes a search.
#include <fmt/format.h>

#include <utility>

#include "console.h"
#include "tune.h"

namespace driver {
namespace {

// Returns an error if the command line contradicts the search in the directory.
std::optional<groma::Error> contradiction(const TuneArguments& arguments,
                                          const groma::tuning::StoredSearch& search) {
  const auto& temperature = arguments.chat.temperature;
  if (temperature && temperature != search.setup.ask.temperature) {
    return groma::tuning::unusable_search_error(
        search.directory, "was started with another temperature", "leave out `--temperature`");
  }
  if (arguments.setup.pareto && search.setup.input_count() < 2) {
    return groma::tuning::unusable_search_error(search.directory, "has only one input",
                                                "leave out `--pareto`, which needs several");
  }
  // The option --override-layouts decides which mappings exist, so it must not change while a
  // search goes on.
  const auto& given = arguments.program.override_layouts.tasks;
  const auto& recorded = search.setup.override_layouts.tasks;
  if (given == recorded) return std::nullopt;
  if (!given.empty()) {
    return groma::tuning::unusable_search_error(
        search.directory, "was started with another `--override-layouts`", "leave it out");
  }
  if (!arguments.verify || arguments.trust) return std::nullopt;
  // The directory is untrusted, so it must not decide how the user's program runs.
  const std::string tasks = fmt::format("{}", fmt::join(recorded, " --override-layouts="));
  return groma::tuning::unusable_search_error(
      search.directory, fmt::format("was started with `--override-layouts={}`", visible(tasks)),
      "its mappings may change the results of the program: give the option again if the tasks work "
      "with any layout");
}

}  // namespace

// Budgets on the command line are not handled here. complete() in tune.cc lets them replace the
// stored ones.
std::optional<groma::Error> read_search(TuneArguments* arguments, std::string* start) {
  if (auto error = no_directory("--resume", arguments->resume)) return error;
  auto search = groma::tuning::stored_search(arguments->resume);
  if (!search) return search.error();
  *start = search->start;
  arguments->fingerprint = search->fingerprint;
  groma::tuning::SearchSetup& setup = search->setup;
  if (setup.on_legion) measure_on_legion(&setup);
  if (auto error = contradiction(*arguments, *search)) return error;
  if (auto error = groma::tuning::never_ending_input(*search)) return error;
  // A directory of somebody else may contain any command, so commands run only with --trust, and
  // they are printed.
  const bool runs_commands = !setup.command.command.empty();
  if (runs_commands && arguments->verify) {
    return groma::tuning::unusable_search_error(search->directory, "measured its mappings already",
                                                "leave out `--verify`");
  }
  if (auto error = arguments->trust ? std::nullopt : groma::tuning::needs_trust(*search))
    return error;
  groma::tuning::CommandEvaluatorOptions& given = arguments->setup.command;
  if (runs_commands && given.memory_bytes > 0) {
    return groma::tuning::unusable_search_error(
        search->directory, "has its own memory limit for a run", "leave out `--memory`");
  }
  if (!given.workers.empty()) {
    if (!runs_commands) {
      return groma::tuning::unusable_search_error(search->directory, "runs no command",
                                                  "leave out `--workers`");
    }
    // Only the number of workers decides which texts are tried.
    const int count = groma::tuning::worker_count(setup.command.workers);
    if (groma::tuning::worker_count(given.workers) != count) {
      return groma::tuning::unusable_search_error(
          search->directory, fmt::format("has {} worker{}", count, count == 1 ? "" : "s"),
          "give as many with `--workers`, or leave it out");
    }
    setup.command.workers = given.workers;
  }
  if (runs_commands)
    print_error(fmt::format("groma: runs {}\n", groma::tuning::commands_of(setup)));
  if (arguments->verify) {
    // The verification needs the folder of the files of the machine and the applications.
    given.folder = setup.command.folder;
    setup.command = std::move(given);
  }
  // The front only observes the steps of the search, so it may be asked for later.
  setup.pareto = setup.pareto || arguments->setup.pareto;
  arguments->setup = std::move(setup);
  return std::nullopt;
}

bool names_model(const TuneArguments& arguments) {
  const ChatArguments& chat = arguments.chat;
  return arguments.trust || !chat.endpoint.empty() || !chat.model.empty() ||
         !chat.key_file.empty() || !chat.replay.empty();
}

}  // namespace driver
