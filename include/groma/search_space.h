// SearchSpace: the mappings of an application on a machine among which one can search, as a list of
// decisions with their options; and mappings drawn from it at random. docs/search_space.md has
// every decision, its options and where they come from.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "groma/machine.h"
#include "groma/program.h"
#include "groma/workload.h"

namespace groma {

// What one Region or Layout decision is about.
enum class SpaceGrain : std::uint8_t {
  kRegions,    // a region, for all tasks; one layout for everything
  kArguments,  // a region requirement of a task
};

struct Decision {
  MappingStatement statement;
  std::string head;  // how the statement begins: "Region * rp_shared GPU"
  // What may follow, at least one; "" says nothing. Of an IndexTaskMap or SingleTaskMap a function,
  // written for the kind of processor that the task runs on.
  std::vector<std::string> options;
  // What it is about, where it is about one.
  std::int32_t task = -1;             // its number in the workload
  std::string region = {};            // a name, as the application has it
  std::optional<ProcKind> kind = {};  // of processors
};

// A mapping: of each decision, in their order, the number of an option.
using Choice = std::vector<std::uint32_t>;

// Immutable; safe to read from any thread. Depends on nothing but what it is made of.
class SearchSpace {
 public:
  // Tasks and regions are those that the workload launches and maps; all tasks but the top-level
  // one where it does not say what is launched.
  SearchSpace(const Machine& machine, const Workload& workload,
              SpaceGrain grain = SpaceGrain::kRegions);

  // Decisions with one head stand side by side and make one statement. All options 0 are a mapping
  // too: the statements that every mapping of the space begins with, and SOA C_order.
  const std::vector<Decision>& decisions() const { return decisions_; }

  // The mapping as a program, formatted. `choice` must be of this space.
  std::string text_of(const Choice& choice) const;

  // Every option of every decision with the same probability, each by itself. One seed gives the
  // same choice on every platform.
  Choice sample(std::uint64_t seed) const;
  // The text of that choice below a comment with the seed.
  std::string sample_text(std::uint64_t seed) const;

 private:
  struct Task {
    std::string name;            // as statements write it
    std::uint32_t decision = 0;  // its Task statement
    std::vector<ProcKind> variants;
  };
  class Maker;
  ProcKind kind_of(const Task& task, const Choice& choice) const;

  std::vector<Decision> decisions_;
  std::vector<std::uint32_t> task_of_;  // by decision: whose it is, where it is a task's
  std::vector<Task> tasks_;
  std::vector<std::vector<ProcKind>> kind_lists_;  // by option of a Task decision
};

}  // namespace groma
