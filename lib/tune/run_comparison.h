// RunComparison: compares the measured values of a text with those of the incumbent, whose runs
// alternate with the text's runs.
#pragma once

#include <vector>

namespace groma::tuning {

// The measured values of a text and of the incumbent, for one input.
struct RunComparison {
  // The measured values of the text that is evaluated, and those of the incumbent, each in the
  // order of the runs. The incumbent has no value, or one more than the text, because runs of both
  // alternate and begin and end with the incumbent.
  std::vector<double> text, incumbent;

  // Returns the text's value divided by the incumbent's: the median over all pairs of their runs
  // (Hodges and Lehmann). The quotient of the two medians would be wrong if the machine changes
  // between the runs: the change affects half of the incumbent's runs, but never half of the
  // text's.
  double text_to_incumbent_ratio() const;
  // Returns the relative noise of the comparison. With fewer than kManyRuns runs, it is half the
  // range of the values relative to the neighbouring runs of the incumbent. With more runs, one
  // disturbed run would make that range useless. The noise is then at most the distance to the
  // upper bound of the quotient (Moses). With seven runs beside eight, chance exceeds this bound
  // once in a hundred times.
  double noise() const;
};

}  // namespace groma::tuning
