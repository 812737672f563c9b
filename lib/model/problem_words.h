// Describes a machine, an application and the decisions of a mapping in words, for the prompt of a
// language model.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "groma/machine.h"
#include "groma/workload.h"

namespace groma::tuning {

// Describes the nodes of a machine: "2 nodes, each with 4 GPU, 16 CPU, FBMEM 16 GB, ..."
std::string describe_machine(const Machine& machine);

// The description of an application for a prompt. `tasks` has one line for each launched task: its
// variants, its launches, and its regions, each with its privilege and the MB that one point uses.
struct AppDescription {
  std::string name;
  // The parameters of the application: "n=8000 steps=10".
  std::string values;
  std::vector<std::string> tasks;
};
AppDescription describe_application(const Workload& app, const Machine& machine);

// Describes what a mapping decides, in one line for each task: the processor kind, the memories,
// the layouts and the mapping function. Returns an empty text if the mapping has errors.
std::string describe_decisions(const std::string& mapping, const Machine& machine,
                               const Workload& app);

// Grammars that constrain the reply of a model, in GBNF and in Lark's syntax. They allow only the
// names of the application's tasks and regions.
struct ApplicationGrammar {
  std::string gbnf, lark;
};
ApplicationGrammar application_grammar(const Workload& app, const Machine& machine);

}  // namespace groma::tuning
