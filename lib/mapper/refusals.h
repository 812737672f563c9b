// Refusals: collects the errors that validate() finds in one answer of a mapper. Each check says in
// a comment what Legion does without it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/one_diagnostic.h"
#include "evaluate/processors.h"
#include "groma/validate.h"

namespace groma::mapper {

// The reason why data cannot be in a memory. If the text is empty, the data can be in it.
struct UnusableMemoryReason {
  std::string text;
  std::optional<DiagCause> cause = {};
};

class Refusals {
 public:
  // `task` is the name that messages use. Both arguments must outlive this object.
  Refusals(std::string_view task, const Machine& machine) : task_(task), machine_(machine) {}

  const Machine& machine() const { return machine_; }
  std::string_view task() const { return task_; }
  std::vector<Refusal> take() { return std::move(refusals_); }

  void add_refusal(Diagnostic diagnostic, DecisionOrigin origin) {
    refusals_.push_back({std::move(diagnostic), origin});
  }
  // Adds a diagnostic and returns it, so that notes can be added.
  template <typename... Args>
  Diagnostic& add_refusal(DiagId id, DecisionOrigin origin, const Args&... args) {
    refusals_.push_back({diagnostic_without_source(id, args...), origin});
    return refusals_.back().diagnostic;
  }
  // Sets the field `cause` of the refusal that was added last.
  void set_cause(RefusalCause cause) { refusals_.back().cause = cause; }

  // Each of the next checks returns false after it has added a refusal. `hook` is the hook that
  // answered.
  //
  // Checks that the processor exists.
  bool check_processor(std::string_view hook, const Processor& processor, DecisionOrigin origin) {
    return processor_exists(machine_, processor) || refuse_processor(hook, processor, origin);
  }
  // Checks that all processors are of one kind on one node.
  bool check_same_node_and_kind(const std::vector<Processor>& processors, DecisionOrigin origin);
  // Checks that no processor occurs twice.
  bool check_distinct(std::string_view hook, std::vector<Processor> processors,
                      DecisionOrigin origin);

  // Adds the refusal of a requirement without a usable memory. `reasons` has one reason for each
  // candidate of the choice.
  void add_no_memory(std::size_t requirement, const InstanceChoice& choice,
                     const std::vector<UnusableMemoryReason>& reasons);

 private:
  bool refuse_processor(std::string_view hook, const Processor& processor, DecisionOrigin origin);

  std::string_view task_;
  const Machine& machine_;
  std::vector<Refusal> refusals_;
};

}  // namespace groma::mapper
