// Statistics over the runs of one method for one benchmark.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

#include "base/median.h"
#include "paper/cells_file.h"
#include "paper/plan.h"

namespace groma::paper {

// Returns the mean. NaN if there are no values.
inline double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

// Returns the standard deviation of a sample (divided by n - 1), as Table A1 has it. 0 for one
// value.
inline double deviation(const std::vector<double>& values) {
  if (values.size() < 2) return 0;
  double sum = 0;
  for (const double value : values) sum += (value - mean(values)) * (value - mean(values));
  return std::sqrt(sum / static_cast<double>(values.size() - 1));
}

// Returns the cells of a method for a subject, in the order of the runs. Empty if the method asks a
// model and there is none.
inline std::vector<const Cell*> cells_of(const CellsFile& cells, const Method& method,
                                         const std::string& subject) {
  std::vector<const Cell*> all;
  for (int run = 1; run <= method.runs; ++run) {
    CellSettings settings = method.settings;
    settings.subject = subject;
    settings.run = run;
    if (const Cell* cell = cells.find(settings)) all.push_back(cell);
  }
  return all;
}

// The searches of a method for a subject.
class Runs {
 public:
  Runs(const CellsFile& cells, const Method& method, const std::string& subject)
      : iterations_(method.settings.iterations) {
    for (const Cell* cell : cells_of(cells, method, subject)) {
      runs_.push_back(&std::get<SearchResult>(cell->result));
    }
  }
  bool empty() const { return runs_.empty(); }
  std::int64_t iterations() const { return iterations_; }
  const std::vector<const SearchResult*>& all() const { return runs_; }

  // Returns the throughput of each run after this many iterations, divided by the expert's. 0 if
  // nothing ran.
  std::vector<double> throughputs(std::int64_t iterations) const {
    std::vector<double> values;
    for (const SearchResult* run : runs_) values.push_back(run->throughput_after(iterations));
    return values;
  }
  std::vector<double> throughputs() const { return throughputs(iterations_); }

 private:
  std::int64_t iterations_;
  std::vector<const SearchResult*> runs_;
};

}  // namespace groma::paper
