// The arguments of `groma tune`, and how the directory of a search stores them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "groma/evaluators.h"
#include "groma/result.h"
#include "groma/simulate.h"
#include "groma/tune.h"
#include "llm.h"
#include "run_map.h"

namespace driver {

struct TuneArguments {
  std::string machine = "p100x4";
  std::vector<std::string> apps;
  std::string on = "simulator";
  std::vector<std::string> flags;          // Legion's flags
  ProgramArguments program;                // for --verify; with --command only its result options
  std::string file, about;                 // a marked text, instead of applications
  groma::CommandEvaluatorOptions command;  // empty `command` in it: applications are simulated
  std::string proposer, start, feedback = "profile", out, resume;
  groma::SimulateOptions simulate;  // for simulated applications
  groma::TuneOptions tune;
  groma::AskOptions ask;
  ChatArguments chat;
  std::optional<std::int64_t> evaluations, tokens;  // the limits, as given on the command line
  std::optional<double> seconds, money;
  bool trust = false, json = false, verify = false;
};

// Writes the arguments that start a search, one a line, so that --resume needs no other argument
// except the model.
std::string words_of(const TuneArguments& arguments);
// Reads what words_of() wrote. Fails (kMalformed) on any other text.
std::optional<groma::Error> read_words(const std::string& words, TuneArguments* arguments);

}  // namespace driver
