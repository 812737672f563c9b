// What `groma tune` was told, and how a search's directory remembers it.
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
  std::vector<std::string> flags;          // of Legion
  ProgramArguments program;                // --verify; of --command its results alone
  std::string file, about;                 // instead of applications: a marked text
  groma::CommandEvaluatorOptions command;  // its `command` is empty: applications are simulated
  std::string proposer, start, feedback = "profile", out, resume;
  groma::SimulateOptions simulate;  // where applications are simulated
  groma::TuneOptions tune;
  groma::AskOptions ask;
  ChatArguments chat;
  std::optional<std::int64_t> evaluations, tokens;  // as given
  std::optional<double> seconds, money;
  bool trust = false, json = false, verify = false;
};

// What a search is begun with, a line each, so that --resume needs nothing else but the model.
std::string words_of(const TuneArguments& arguments);
// The inverse. Fails (kMalformed) on what the other does not write.
std::optional<groma::Error> read_words(const std::string& words, TuneArguments* arguments);

}  // namespace driver
