// A machine, an application and what a mapping decides about them, in a model's prompt.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "groma/machine.h"
#include "groma/workload.h"

namespace groma::tuning {

// "2 nodes, each with 4 GPU (16 GB FBMEM each), ..."
std::string machine_words(const Machine& machine);

// The tasks that are launched, a line each: variants, launches, regions with access and MB.
struct AppWords {
  std::string name;
  std::string values;  // "n=8000 steps=10"
  std::vector<std::string> tasks;
};
AppWords app_words(const Workload& app, const Machine& machine);

// What the mapping decides, a line a task: kind, memories, layout, function. Empty where it has
// mistakes.
std::string decision_words(const std::string& mapping, const Machine& machine, const Workload& app);

// What a model may write under, narrowed to the names that there are: GBNF and Lark's.
struct NarrowGrammar {
  std::string gbnf, lark;
};
NarrowGrammar narrow_grammar(const Workload& app, const Machine& machine);

}  // namespace groma::tuning
