// The experiments of the proposer `scientist`: what its designer plans, and which of the plans are
// carried out (Andrews and Witteveen, "GPU Kernel Scientist", 2025).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "llm/json.h"

namespace groma::tuning {

// An experiment that the designer planned on a base text.
struct Experiment {
  std::string description, rubric;
  // The least and the greatest gain that the model expects, in percent.
  double least = 0, most = 0;
  // How innovative the experiment is by the model's own rating, from 0 to 100.
  double innovation = 0;
  // The ids of the base and the reference of the proposal that carries out the experiment; 0 if
  // there is none.
  std::int64_t base = 0, reference = 0;
  double base_score = 0;
  // True if its text failed once, and the model was asked to repair it.
  bool repaired = false;
};

// The numbers of avenues and of experiments that the designer is asked for.
inline constexpr std::size_t kAvenues = 10, kExperiments = 5;

// The JSON schema of the reply of the designer.
extern const std::string_view kDesignerSchema;

// A reply of the designer.
struct Design {
  // At most kAvenues; a reply may have had fewer.
  std::vector<std::string> avenues;
  // Those that have a description and a gain, at most eight.
  std::vector<Experiment> experiments;
};
// Reads a reply of the designer. Each text becomes one line of limited length.
Design design_in(const llm::json& reply);

// Returns at most three distinct experiments: the most innovative one, the one with the highest
// maximum gain, and the one with the highest minimum gain.
std::vector<Experiment> picked(const std::vector<Experiment>& all);

}  // namespace groma::tuning
