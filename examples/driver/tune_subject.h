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
  groma::tuning::SearchProblem problem;
  // The first application. nullopt if the search is for another kind of text.
  std::optional<groma::Application> app;
  // The names and contents of the machine and the applications (TuneOptions::marks).
  std::vector<std::pair<std::string, std::string>> marks;
  // Warnings and notes about the inputs, which are shown when the search begins.
  std::vector<groma::Diagnostics> notes;
  // Evaluates mappings in the simulator. Null for any other text.
  std::unique_ptr<groma::tuning::Evaluator> runtime;
  // Estimates what `runtime` would measure. Null for any other text.
  std::unique_ptr<groma::tuning::Evaluator> rehearsed;
  // Evaluates texts with the command of the search. It asks `runtime` what needs no run. Null if
  // the search has no command.
  std::unique_ptr<groma::tuning::Evaluator> command;

  groma::tuning::Evaluator& evaluator() const { return command ? *command : *runtime; }
};

// Reads the inputs. `recorded_start` is the start of a resumed search. Returns nullopt, after
// reporting the reason, if that fails.
std::optional<Subject> read_subject(const TuneArguments& arguments,
                                    const std::string& recorded_start);

}  // namespace driver
