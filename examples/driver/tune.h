// The arguments and the steps of `groma tune`.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "groma/search_setup.h"
#include "groma/simulate.h"
#include "llm.h"
#include "run_map.h"

namespace driver {

// The values of the options of `groma tune`.
struct TuneArguments {
  // The options with which the search begins. A resumed search has the setup that its directory
  // stores, except for budgets that the command line gives.
  groma::tuning::SearchSetup setup;
  // The runtime that evaluates mappings: "simulator" or "legion".
  std::string on = "simulator";
  // The program of --verify. Its options about results and layouts are also used without --verify.
  ProgramArguments program;
  // The file of the text to start from, the directory for the results, and the directory of the
  // search to resume.
  std::string start, out, resume;
  // For a resumed search: the fingerprint that its directory stores (TuneOptions).
  std::string fingerprint;
  groma::SimulateOptions simulate;
  ChatArguments chat;
  // The limits as given on the command line. nullopt if the option is not given.
  std::optional<std::int64_t> evaluations, tokens;
  // The number of threads that evaluate texts. 0 stands for as many as the evaluator allows.
  int jobs = 0;
  std::optional<double> seconds, money;
  // The files of the documents that the model is shown. A resumed search must be given them again,
  // since its directory must not decide which files a model sees.
  std::vector<std::string> knowledge;
  // The command that prints facts about the machine.
  std::string probe;
  // True if the option is given.
  bool has_feedback = false, has_reply_tokens = false;
  bool trust = false, json = false, verify = false;

  bool resumes() const { return !resume.empty(); }
};

// Adds the options for a search in which a command evaluates each text, and for runs that are
// measured.
void add_command_options(CLI::App& command, TuneArguments* arguments);

// Starts or resumes a search and shows its progress. Returns the exit code. Fails with wrong usage
// if the arguments contradict the inputs.
int run_tune(TuneArguments arguments);

// Replaces the setup by the one that the directory of --resume stores, and sets *start to the text
// from which that search started. Fails if the search cannot be resumed, or if it runs commands and
// --trust is missing.
std::optional<groma::Error> read_search(TuneArguments* arguments, std::string* start);
// Returns the path of the benchmark's Legion program. The error says how to tune any other program.
groma::Result<std::string> benchmark_program(const std::string& app);
// Prepares a new search with --on legion: sets the sizes of the applications and the machine to
// what this computer can run.
std::optional<groma::Error> begin_on_legion(groma::tuning::SearchSetup* setup);
// Sets the commands with which `groma run` measures a mapping as a Legion program.
void measure_on_legion(groma::tuning::SearchSetup* setup);
// Returns true if a resumed search may ask a model: the command line names the model or trusts the
// directory. A key in the environment is not a reason to spend money.
bool names_model(const TuneArguments& arguments);
// Returns an error if the directory that the option names is not a directory.
std::optional<groma::Error> no_directory(const char* option, const std::string& name);

}  // namespace driver
