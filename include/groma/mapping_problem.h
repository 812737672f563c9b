// Makes the problem of a search for mappings from applications. Before the search, it reports why a
// search cannot begin, and what the user should know about the inputs.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "groma/app.h"
#include "groma/diagnostics.h"
#include "groma/inspect.h"
#include "groma/machine.h"
#include "groma/search.h"
#include "groma/source.h"
#include "groma/workload.h"

namespace groma::tuning {

// Collects the applications of a search. Their machine is the same.
class MappingProblem {
 public:
  // `start` is the mapping to begin with; nullopt: there is none to check. It is checked with each
  // application, within the limits of `check`. `check_names`: also note names of the start that an
  // application does not have. Pass false if there are several applications, since the name may
  // belong to another one.
  MappingProblem(std::optional<Source> start, CheckOptions check, bool check_names);

  // Adds an application, with its parameters set in `workload`. `name` is the one that messages
  // use. Returns why no search can begin: a task can run on no processor of the machine under any
  // mapping, or the start has an error. A start that only lacks memory is no reason, since the
  // search may cure that; it is a note then.
  [[nodiscard]] std::optional<Diagnostics> add(const std::string& name, const Machine& machine,
                                               const Application& app, const Workload& workload);

  // add() sets the machine, the workloads and the start of the problem. The caller sets its other
  // members.
  SearchProblem problem;
  // Notes and warnings about the inputs, in the order of the applications.
  std::vector<Diagnostics> notes;

 private:
  [[nodiscard]] std::optional<Diagnostics> check_start(const Machine& machine,
                                                       const Workload& workload);

  std::optional<Source> start_;
  CheckOptions check_;
  bool check_names_;
};

}  // namespace groma::tuning
