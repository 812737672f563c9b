// RunInput: the application and the machine of a run, which do not change during the run.
#pragma once

#include <algorithm>
#include <memory>
#include <utility>

#include "app/data.h"
#include "groma/machine.h"
#include "simulate/machine_index.h"
#include "simulate/spaces.h"

namespace groma::sim {

// An application with its spaces, and a machine with its numbered processors and memories. `data`
// and `spaces` must outlive the object.
struct RunInput {
  RunInput(const app::Data& application, const DataSpaces& its_spaces,
           std::shared_ptr<const Machine> its_machine)
      : data(application),
        spaces(its_spaces),
        machine(std::move(its_machine)),
        processors(*machine),
        memories(*machine) {}

  // Returns whether a task has a variant for a kind of processor.
  bool has_variant(std::uint32_t task, ProcKind kind) const {
    const std::vector<app::Variant>& variants = data.tasks[task].variants;
    return std::any_of(variants.begin(), variants.end(),
                       [kind](const app::Variant& v) { return v.kind == kind; });
  }

  const app::Data& data;
  const DataSpaces& spaces;
  const std::shared_ptr<const Machine> machine;
  const Processors processors;
  const Memories memories;
};

}  // namespace groma::sim
