// Mappers: the mapper objects of a run, one for each processor, and which of them is being asked.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "groma/mapper.h"
#include "groma/simulate.h"
#include "groma/validate.h"
#include "simulate/outcome.h"
#include "simulate/run_input.h"

namespace groma::sim {

class Mappers {
 public:
  // Refers to all arguments, so they must outlive it. A mapper is made when it is first asked.
  Mappers(const RunInput& input, const MapperFactory& make, Outcome& outcome);

  // Returns the mapper of a processor, for a hook about an operation. This processor speaks from
  // now on.
  Mapper& of(std::int32_t processor);
  Mapper& of(const Processor& processor) { return of(input_.processors.number_of(processor)); }
  // Does the same for a hook that is not about an operation, in which no instance can be made.
  Mapper& scheduler(std::int32_t processor);
  // Returns the processor whose mapper was asked last.
  const Processor& speaking() const { return speaking_; }
  // Returns whether it was asked about an operation.
  bool asked_for_operation() const { return for_operation_; }
  // Returns true if all mappers that were asked so far repeat their answers.
  bool all_repeat() const { return all_repeat_; }
  // Ends the run if the answer of the mapper that was asked last was refused. The answer is about
  // `task`; `wish` is set for map_task. Returns true if there are no refusals.
  bool accepts(std::vector<Refusal> refusals, const TaskView& task,
               const MapTaskOutput* wish = nullptr);

 private:
  const RunInput& input_;
  const MapperFactory& make_;
  Outcome& outcome_;
  std::vector<std::unique_ptr<Mapper>> mappers_;  // by processor
  Processor speaking_;
  bool for_operation_ = false;
  bool all_repeat_ = true;
};

}  // namespace groma::sim
