// The proposers that come with the tuner.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "groma/result.h"
#include "groma/search.h"

namespace groma::tuning {

// A proposer that comes with the tuner.
struct ProposerInfo {
  std::string_view name;
  // One line that says what the proposer does.
  std::string_view what;
  // True if the proposer asks a language model.
  bool asks_model = false;
  // True if the proposer can search only for mappings, not for other texts such as a text with
  // marks (Segments::of_marked).
  bool mappings_only = false;
};
// Returns all proposers. The span refers to constants.
std::span<const ProposerInfo> proposers();
// Makes a proposer. Fails with kUnknown for an unknown name, for a text of a kind that the proposer
// cannot handle, and for inputs of different applications. A proposer that asks a model also fails
// as Segments::of_marked does.
Result<std::unique_ptr<Proposer>> make_proposer(std::string_view name, const SearchProblem& problem,
                                                std::uint64_t seed, const AskOptions& options = {});

}  // namespace groma::tuning
