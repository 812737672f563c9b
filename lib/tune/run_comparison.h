// RunComparison: the values of a text's runs, and of the incumbent's runs between which they were
// made.
#pragma once

#include <vector>

namespace groma::tuning {

struct RunComparison {
  std::vector<double> text, incumbent;  // the incumbent has one run more, or none

  // Returns the text's value divided by the incumbent's: the median over all pairs of their runs
  // (Hodges and Lehmann). The quotient of the two medians is wrong if the machine changes between
  // the runs: half of the incumbent's runs are then affected, but never half of the text's.
  double quotient() const;
  // Returns the noise. With fewer than kManyRuns runs it is half the range of the comparisons with
  // the neighbouring runs. With more runs, where one disturbed run would make that useless, it is
  // at most the distance to the upper bound of the quotient (Moses). With seven runs beside eight,
  // the bound is exceeded by chance once in a hundred times.
  double noise() const;
};

}  // namespace groma::tuning
