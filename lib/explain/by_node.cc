// Finds the processors on which a mapper has to be asked if a machine has several types of nodes,
// and compares the mapper's answers.
#include "explain/by_node.h"

#include <algorithm>

namespace groma {

// Returns the first processor of each kind on the first node of each type. On nodes of the same
// type, a mapper decides alike.
FirstProcessors first_of_each_node_type(const Machine& machine) {
  FirstProcessors found;
  std::vector<bool> seen(machine.node_types().size());
  for (std::int64_t node = 0; node < machine.node_count(); ++node) {
    const std::uint32_t type = machine.nodes()[static_cast<std::size_t>(node)];
    if (seen[type]) continue;
    seen[type] = true;
    for (std::size_t k = 0; k < kProcKindCount; ++k) {
      const auto kind = static_cast<ProcKind>(k);
      if (machine.processor_count(node, kind) > 0) found[k].push_back({kind, node, 0});
    }
  }
  return found;
}

// Returns true if both answers have the same candidates in the same order, chosen by the same
// statements.
bool same_memories_and_layouts(const InstanceChoice& a, const InstanceChoice& b) {
  const auto same_instance = [](const InstanceCandidate& x, const InstanceCandidate& y) {
    return x.memory == y.memory && x.memory_origin == y.memory_origin && x.layout == y.layout &&
           x.layout_origin == y.layout_origin;
  };
  return a.is_virtual == b.is_virtual &&
         std::equal(a.candidates().begin(), a.candidates().end(), b.candidates().begin(),
                    b.candidates().end(), same_instance);
}

}  // namespace groma
