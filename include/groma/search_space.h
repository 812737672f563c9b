// SearchSpace: the mappings that a search can choose from, for an application on a machine. It is a
// list of decisions, each with its options, and can draw mappings at random. docs/search_space.md
// lists every decision with its options and their sources.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "groma/machine.h"
#include "groma/program.h"
#include "groma/workload.h"

namespace groma::tuning {

// The granularity of a Region or Layout decision.
enum class SearchGranularity : std::uint8_t {
  // The search decides once for each region, for all tasks. It chooses one layout for all data.
  kRegions,
  // The search decides for each region requirement of each task.
  kArguments,
};

// One decision of the space: the beginning of a statement, and the ways to complete it.
struct Decision {
  MappingStatement statement;
  // The beginning of the statement: "Region * rp_shared GPU".
  std::string head;
  // The possible endings, at least one. "" leaves the statement out. For IndexTaskMap and
  // SingleTaskMap an option is a function, written for the processor kind on which the task runs.
  std::vector<std::string> options;
  // What the decision is about, where it has such a part: the task's number in the workload, the
  // region's name in the application, and the processor kind.
  std::int32_t task = -1;
  std::string region = {};
  std::optional<ProcKind> kind = {};
};

// A mapping: the number of one option for each decision, in the order of the decisions.
using Choice = std::vector<std::uint32_t>;

// Immutable, and safe to read from any thread. A space is determined by the arguments of its
// constructor.
class SearchSpace {
 public:
  // Makes the space for the tasks that the workload launches and the regions that it maps. If the
  // workload does not describe its launches, uses all tasks except the top-level one.
  SearchSpace(const Machine& machine, const Workload& workload,
              SearchGranularity grain = SearchGranularity::kRegions);

  // Returns the decisions. Consecutive decisions with the same head form one statement. Option 0
  // for every decision is a valid mapping: the statements with which every mapping of the space
  // begins, and SOA C_order.
  const std::vector<Decision>& decisions() const { return decisions_; }

  // Returns the mapping as a formatted program. `choice` must belong to this space.
  std::string text_of(const Choice& choice) const;

  // Draws a mapping. Every option of a decision has the same probability, independently of the
  // other decisions. A seed gives the same choice on every platform.
  Choice sample(std::uint64_t seed) const;
  // Returns the text of the mapping that sample() draws with this seed, after a comment with the
  // seed.
  std::string sample_text(std::uint64_t seed) const;

 private:
  // The statements that the options of each decision stand for.
  struct Parts;
  class Maker;

  std::vector<Decision> decisions_;
  std::shared_ptr<const Parts> parts_;
};

// Replaces each Layout statement that contradicts a demand of the program's own mapper by a
// comment, because a program never runs under such a mapping. Returns the text as it is if the
// application has no such demands. Each check of the text rehearses a run of the application.
std::string without_contradicted_layouts(std::string text, const Machine& machine,
                                         const Workload& workload);

}  // namespace groma::tuning
