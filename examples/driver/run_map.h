// groma run --map FILE -- PROGRAM ARGS...: a Legion program under a mapping; what other commands
// share that run one.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "groma/run_program.h"

namespace driver {

// A Legion program and how it is run.
struct ProgramArguments {
  std::vector<std::string> words;  // it and its arguments
  std::string library;             // empty: the one that belongs to this command
  std::string checks = "first";
  double timeout_s = 600;
};
// --timeout, --checks and --library; with `map` (may be null) the first and last need it, unless
// the command runs programs without a mapping, too: then only --checks does.
void add_program_options(CLI::App& command, ProgramArguments* arguments, CLI::Option* map,
                         bool always = true);
// Fails where this build has no library for Legion programs. Ctrl-C is caught from now on.
groma::Result<groma::ProgramRun> program_run(const ProgramArguments& arguments);

// Passes a run's output on while it lives, all of it to standard error where `quiet`; the run ends
// on Ctrl-C and where nobody hears it.
class Hearing {
 public:
  Hearing(groma::ProgramRun& run, bool quiet);
  bool unheard() const { return unheard_; }
  Hearing(const Hearing&) = delete;
  Hearing& operator=(const Hearing&) = delete;

 private:
  bool unheard_ = false;
};

struct MapArguments {
  std::string file;  // the mapping
  ProgramArguments program;
  bool json = false;
};

// The exit code.
int run_under_mapping(const MapArguments& arguments);

}  // namespace driver
