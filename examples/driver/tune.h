// The arguments and the steps of `groma tune`.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <string>

#include "groma/search_setup.h"
#include "groma/simulate.h"
#include "llm.h"
#include "run_map.h"

namespace driver {

struct TuneArguments {
  // The options with which the search begins. A resumed search has the setup that its directory
  // stores, except for budgets that the command line gives.
  groma::tuning::SearchSetup setup;
  std::string on = "simulator";
  // The program of --verify. Its options about results and layouts are also used without --verify.
  ProgramArguments program;
  std::string start, out, resume;  // files and directories
  std::string fingerprint;         // the fingerprint of a resumed search (TuneOptions)
  groma::SimulateOptions simulate;
  ChatArguments chat;
  std::optional<std::int64_t> evaluations, tokens;  // the limits, as given on the command line
  std::optional<double> seconds, money;
  bool trust = false, json = false, verify = false;

  bool resumes() const { return !resume.empty(); }
};

// Adds the options for searches that a command judges, and for runs that are measured.
void add_command_options(CLI::App& command, TuneArguments* arguments);

// Starts or resumes a search and shows its progress. Returns the exit code. Fails with wrong usage
// if the arguments contradict the inputs.
int run_tune(TuneArguments arguments);

// Sets the setup to that of the search in the directory of --resume, and *start to the text of its
// start. Fails if the search cannot be resumed, or if it runs commands and --trust is missing.
std::optional<groma::Error> read_search(TuneArguments* arguments, std::string* start);
// Returns the path of the benchmark's Legion program. The error says how to tune any other program.
groma::Result<std::string> benchmark_program(const std::string& app);
// For a new search with --on legion: sets sizes and the machine to what this computer can run.
std::optional<groma::Error> begin_on_legion(groma::tuning::SearchSetup* setup);
// Sets the commands with which `groma run` measures a mapping as a Legion program.
void measure_on_legion(groma::tuning::SearchSetup* setup);
// Returns true if a resumed search may ask a model: the command line names the model or trusts the
// directory. A key in the environment is not a reason to spend money.
bool names_model(const TuneArguments& arguments);
// Returns an error if the directory that the option names is not a directory.
std::optional<groma::Error> no_directory(const char* option, const std::string& name);

}  // namespace driver
