// Describes a machine, an application and the decisions of a mapping in words, for the prompt of a
// language model.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "groma/machine.h"
#include "groma/workload.h"

namespace groma::tuning {

// Describes a machine: "2 nodes, each with 4 GPU (16 GB FBMEM each), ..."
std::string machine_words(const Machine& machine);

// An application in words. `tasks` has one line for each launched task: its variants, its launches,
// and its regions with privileges and MB.
struct AppWords {
  std::string name;
  std::string values;  // "n=8000 steps=10"
  std::vector<std::string> tasks;
};
AppWords app_words(const Workload& app, const Machine& machine);

// Describes what the mapping decides, one line for each task: kind, memories, layout, function.
// Returns "" if the mapping has errors.
std::string decision_words(const std::string& mapping, const Machine& machine, const Workload& app);

// Grammars that constrain a model's reply, in GBNF and in Lark's syntax. They allow only the task
// and region names of the application.
struct NarrowGrammar {
  std::string gbnf, lark;
};
NarrowGrammar narrow_grammar(const Workload& app, const Machine& machine);

}  // namespace groma::tuning
