// The checks of processors that several hooks share, and the refusal of a requirement for which no
// memory is usable.
#include "mapper/refusals.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

namespace groma::mapper {

// Adds the refusal of a processor that does not exist and returns false. Without the check, Legion
// would crash without a message.
bool Refusals::refuse_processor(std::string_view hook, const Processor& processor,
                                DecisionOrigin origin) {
  const bool has_node = processor.node >= 0 && processor.node < machine_.node_count();
  add_refusal(DiagId::kBadProcessor, origin, hook, task_, text_of(processor))
      .note(has_node ? fmt::format("node {} has {} {}", processor.node,
                                   machine_.processor_count(processor.node, processor.kind),
                                   name_of(processor.kind))
                     : fmt::format("there are {} nodes", machine_.node_count()));
  return false;
}

// Checks that the processors have one kind and node. Otherwise Legion crashes, or reports an
// instance that is not visible.
bool Refusals::check_same_node_and_kind(const std::vector<Processor>& processors,
                                        DecisionOrigin origin) {
  for (const Processor& p : processors) {
    const Processor& first = processors.front();
    if (p.kind == first.kind && p.node == first.node) continue;
    add_refusal(DiagId::kMixedProcessors, origin, "map_task", task_, text_of(first), text_of(p));
    return false;
  }
  return true;
}

// Checks that no processor occurs twice. It sorts the processors, so that equal ones are
// neighbours.
bool Refusals::check_distinct(std::string_view hook, std::vector<Processor> processors,
                              DecisionOrigin origin) {
  const auto place = [](const Processor& p) { return std::tuple(p.node, p.kind, p.index); };
  std::sort(processors.begin(), processors.end(),
            [&](const Processor& a, const Processor& b) { return place(a) < place(b); });
  const auto twice = std::adjacent_find(processors.begin(), processors.end());
  if (twice == processors.end()) return true;
  std::int64_t available = 0;
  for (std::int64_t node = 0; node < machine_.node_count(); ++node) {
    available += machine_.processor_count(node, twice->kind);
  }
  add_refusal(DiagId::kRepeatedProcessor, origin, hook, task_, text_of(*twice))
      .note(fmt::format("{} at once, and `{}` has {} {}", processors.size(), machine_.name(),
                        available, name_of(twice->kind)));
  return false;
}

// Refuses a requirement that no memory can hold. Lists the reasons in the order of the candidates.
// The origin is that of the first candidate.
void Refusals::add_no_memory(std::size_t requirement, const InstanceChoice& choice,
                             const std::vector<UnusableMemoryReason>& reasons) {
  const DecisionOrigin origin =
      choice.candidate_count > 0 ? choice.candidates().front().memory_origin : DecisionOrigin{};
  std::string text;
  for (std::size_t k = 0; k < reasons.size(); ++k) {
    text += fmt::format("{}{} ({})", k == 0 ? "" : ", ", name_of(choice.candidates()[k].memory),
                        reasons[k].text);
  }
  Diagnostic& diagnostic = add_refusal(DiagId::kNoMemory, origin, requirement, task_,
                                       reasons.empty() ? "the answer names no memory" : text);
  for (const UnusableMemoryReason& reason : reasons) {
    if (reason.cause) diagnostic.causes.push_back(*reason.cause);
  }
  if (!reasons.empty() && choice.candidates().front().memory == MemKind::kVirtual) {
    diagnostic.causes.push_back(DiagCause::kVirtualFirst);
  }
}

}  // namespace groma::mapper
