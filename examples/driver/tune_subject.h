// Reads the inputs of `groma tune`: the problem of the search and its evaluators.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "groma/app.h"
#include "groma/diagnostics.h"
#include "groma/search.h"
#include "tune.h"

namespace driver {

// The problem of a search, and what evaluates its texts.
struct Subject {
  groma::tuning::Problem problem;
  std::optional<groma::Application> app;                   // the first application, if there is one
  std::vector<std::pair<std::string, std::string>> marks;  // for TuneOptions
  std::vector<groma::Diagnostics> notes;                   // diagnostics of the inputs
  std::unique_ptr<groma::tuning::Evaluator> runtime;       // evaluates mappings
  std::unique_ptr<groma::tuning::Evaluator>
      command;  // evaluates with the command, if any; uses `runtime`

  groma::tuning::Evaluator& evaluator() const { return command ? *command : *runtime; }
};

// Reads the inputs. `recorded_start` is the start of a resumed search. Returns nullopt, after
// reporting the reason, if that fails.
std::optional<Subject> read_subject(const TuneArguments& arguments,
                                    const std::string& recorded_start);

}  // namespace driver
