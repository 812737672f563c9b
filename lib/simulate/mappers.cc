// Makes the mappers of a run when they are first asked, and reports answers that are refused.
#include "simulate/mappers.h"

#include <string>
#include <utility>

#include "simulate/legion_words.h"

namespace groma::sim {

Mappers::Mappers(const RunInput& input, const MapperFactory& make, Outcome& outcome)
    : input_(input), make_(make), outcome_(outcome), mappers_(input.processors.size()) {}

// If the factory makes no mapper for the processor, ends the run with an error and returns a
// default mapper, so that callers need not check for null.
Mapper& Mappers::mapper_of(std::int32_t processor) {
  std::unique_ptr<Mapper>& mapper = mappers_[static_cast<std::size_t>(processor)];
  const Processor& local = input_.processors[processor];
  if (!mapper) {
    mapper = make_(local);
    if (!mapper) {
      outcome_.fail(input_.data.name, "there is no mapper for one of its processors");
      mapper =
          std::make_unique<DefaultMapper>(MapperSite{.machine = input_.machine, .local = local});
    }
    all_repeat_ = all_repeat_ && mapper->repeats_answers();
  }
  speaking_ = local;
  for_operation_ = true;
  return *mapper;
}

// Used for the hooks by which a mapper selects or steals tasks, receives a message, or is told
// about a collected instance.
Mapper& Mappers::mapper_for_scheduling(std::int32_t processor) {
  Mapper& mapper = mapper_of(processor);
  for_operation_ = false;
  return mapper;
}

// The raw output of the run is Legion's message for the refusal, or our message if Legion has none.
bool Mappers::end_run_if_refused(std::vector<Refusal> refusals, const TaskView& task,
                                 const MapTaskOutput* choice) {
  if (refusals.empty()) return true;
  std::string raw = legion_error_message(
      refusals.front(), {task, mapper_of(speaking_).name(), choice}, input_.memories);
  if (raw.empty()) raw = refusals.front().diagnostic.message;
  outcome_.refuse(RunStatus::kMapError, std::move(refusals), std::move(raw));
  return false;
}

}  // namespace groma::sim
