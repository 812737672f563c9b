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
  // The first application. nullopt if the search is for another kind of text.
  std::optional<groma::Application> app;
  // The marks between which the text may change, for TuneOptions.
  std::vector<std::pair<std::string, std::string>> marks;
  // The diagnostics of the inputs.
  std::vector<groma::Diagnostics> notes;
  // Evaluates mappings in the simulator or as a Legion program. Null for other texts.
  std::unique_ptr<groma::tuning::Evaluator> runtime;
  std::unique_ptr<groma::tuning::Evaluator>
      command;  // evaluates with the command, if any; uses `runtime`

  groma::tuning::Evaluator& evaluator() const { return command ? *command : *runtime; }
};

// Reads the inputs. `recorded_start` is the start of a resumed search. Returns nullopt, after
// reporting the reason, if that fails.
std::optional<Subject> read_subject(const TuneArguments& arguments,
                                    const std::string& recorded_start);

}  // namespace driver
