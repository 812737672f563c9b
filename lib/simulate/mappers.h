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
  // The object keeps references to all arguments, so they must outlive it. The mapper of a
  // processor is made when it is first asked.
  Mappers(const RunInput& input, const MapperFactory& make, Outcome& outcome);

  // Returns the mapper of a processor, to call one of its hooks that is about an operation (such as
  // a task). From now on last_asked_processor() returns this processor.
  Mapper& mapper_of(std::int32_t processor);
  Mapper& mapper_of(const Processor& processor) {
    return mapper_of(input_.processors.number_of(processor));
  }
  // Returns the mapper of a processor, to call one of its hooks that is not about an operation. No
  // instance can be made in such a hook. From now on last_asked_processor() returns this processor.
  Mapper& mapper_for_scheduling(std::int32_t processor);
  // Returns the processor whose mapper was asked last.
  const Processor& last_asked_processor() const { return speaking_; }
  // Returns whether the mapper that was asked last was asked about an operation.
  bool asked_for_operation() const { return for_operation_; }
  // Returns true if all mappers that were asked so far repeat their answers
  // (Mapper::repeats_answers).
  bool all_repeat() const { return all_repeat_; }
  // If `refusals` is not empty, ends the run: the refusals say why the answer of the mapper that
  // was asked last is not accepted. The answer is about `task`; `choice` is the answer if the hook
  // was map_task, else null. Returns true if there are no refusals.
  bool end_run_if_refused(std::vector<Refusal> refusals, const TaskView& task,
                          const MapTaskOutput* choice = nullptr);

 private:
  const RunInput& input_;
  const MapperFactory& make_;
  Outcome& outcome_;
  // The mappers by the number of their processor. Null: the mapper was not asked yet.
  std::vector<std::unique_ptr<Mapper>> mappers_;
  Processor speaking_;
  bool for_operation_ = false;
  bool all_repeat_ = true;
};

}  // namespace groma::sim
