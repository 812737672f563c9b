// Describes a machine, an application and the decisions of a mapping in words, for the prompt of a
// language model.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "groma/machine.h"
#include "groma/workload.h"

namespace groma::tuning {

// Describes the nodes of a machine: "2 nodes, each with 4 GPU, 16 CPU, FBMEM 16 GiB, ..."
std::string describe_machine(const Machine& machine);
// Describes in one line for each type of node how fast its processors reach their memories and how
// fast data moves.
std::string describe_bandwidths(const Machine& machine);

// The description of an application for a prompt.
struct AppDescription {
  std::string name;
  // The parameters of the application: "n=8000 steps=10".
  std::string values;
  // What the runtime spends on each task: "mapping a task costs 300 us, ...".
  std::string runtime_costs;
  // One line for each launched task: its variants, its launches, and its regions, each with its
  // privilege, the MB that one point uses, and the layouts that variants demand.
  std::vector<std::string> tasks;
  // For each task: only its name and the names of its regions, for a prompt that is too long.
  std::vector<std::string> task_names;
};
AppDescription describe_application(const Workload& app, const Machine& machine);

// Describes what a mapping decides, in one line for each task: the processor kind, the memories,
// the layouts, where its points go, limits, replication and stealing. The last lines name the
// statements that decide nothing. Returns an empty text if the mapping has errors.
std::string describe_decisions(const std::string& mapping, const Machine& machine,
                               const Workload& app);

// Grammars that constrain the reply of a model, in GBNF and in Lark's syntax. They allow only the
// names of the application's tasks and regions.
struct ApplicationGrammar {
  std::string gbnf, lark;
};
ApplicationGrammar application_grammar(const Workload& app, const Machine& machine);

}  // namespace groma::tuning
