// Grades mappings that were written for the ten strategies of the paper (dsl/strategies): a mapping
// passes if it decides as the reference mapping of its strategy does. The texts are not compared.
#pragma once

#include <list>
#include <string>

#include "groma/diff.h"
#include "groma/dsl_files.h"

namespace groma::testing {

// The result of grading one mapping.
struct StrategyGrade {
  bool passed = false;
  // If the mapping did not pass: the machine and the circuit, and the first difference or error.
  std::string difference = {};
};

// The reference mapping of one strategy, with its decisions about the circuit on a dozen machines.
class StrategyGrader {
 public:
  // `strategy` is one of strategies().
  explicit StrategyGrader(const DslFile& strategy);

  // Compares a mapping with the reference mapping, on one machine after the other. The mapping
  // passes if every decision is the same on every machine: processors, places of points, memories,
  // layouts, limits and the other options.
  StrategyGrade grade(const std::string& mapping) const;

 private:
  // A machine, an application, and the decisions of the reference mapping about them.
  struct GradingCase {
    GradingCase(const DslFile& strategy, std::string machine_of_case, std::string values_of_case);

    // The machine, and the values of the circuit's parameters.
    std::string machine_name, values;
    Machine machine;
    Workload workload;
    MappingDecisions reference;
  };
  // A list, because the decisions refer to the workload beside them.
  std::list<GradingCase> cases_;
};

// Returns the statements with which the mapping of a strategy begins in the paper, above the line
// "Above is fixed". A model gets them as the mapping to change, as the models of the paper did.
std::string fixed_statements_of(const DslFile& strategy);

}  // namespace groma::testing
