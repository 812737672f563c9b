// Figures that the paper prints (Wei et al., "Improving Parallel Program Performance with LLM
// Optimizers via Agent-System Interfaces"), each with its place in the paper. Throughputs are
// divided by the throughput of the expert's mapping. The paper measured them on one node with four
// P100 GPUs.
#pragma once

#include <span>
#include <string_view>

namespace groma {

// A row of Table A1 or A2: the results of ten iterations, over five runs.
struct PaperRow {
  std::string_view app;
  double mean, deviation, worst, median, best;
};

// Table A1: Trace.
inline constexpr PaperRow kPaperTrace[] = {
    {"circuit", 1.33, 0.01, 1.31, 1.33, 1.34}, {"stencil", 1.01, 0.01, 1.00, 1.01, 1.02},
    {"pennant", 1.03, 0.02, 1.00, 1.03, 1.04}, {"cannon", 1.09, 0.00, 1.08, 1.09, 1.09},
    {"summa", 0.86, 0.48, 0.00, 1.07, 1.09},   {"pumma", 0.57, 0.55, 0.00, 0.66, 1.09},
    {"johnson", 0.98, 0.17, 0.68, 1.06, 1.07}, {"solomonik", 0.52, 0.41, 0.00, 0.61, 1.09},
    {"cosma", 1.25, 0.03, 1.23, 1.23, 1.31}};
// Table A2: OpenTuner. It found no valid mapping for the benchmarks with zeros.
inline constexpr PaperRow kPaperOpenTuner[] = {{"circuit", 0.97, 0.16, 0.81, 0.99, 1.20},
                                               {"stencil", 0, 0, 0, 0, 0},
                                               {"pennant", 0, 0, 0, 0, 0},
                                               {"cannon", 0, 0, 0, 0, 0},
                                               {"summa", 0, 0, 0, 0, 0},
                                               {"pumma", 0, 0, 0, 0, 0},
                                               {"johnson", 0, 0, 0, 0, 0},
                                               {"solomonik", 0, 0, 0, 0, 0},
                                               {"cosma", 0, 0, 0, 0, 0}};

// Returns the row of an application. Null if the paper has no such benchmark.
inline const PaperRow* paper_row(std::span<const PaperRow> rows, std::string_view app) {
  for (const PaperRow& row : rows) {
    if (row.app == app) return &row;
  }
  return nullptr;
}
inline const PaperRow* paper_trace(std::string_view app) { return paper_row(kPaperTrace, app); }

// Section 5.1: of 90 random mappings, 74 raised a runtime error.
inline constexpr int kPaperRandomMappings = 90, kPaperRandomFailures = 74;
// Section 5.1, with Figure 5: the throughput of Trace divided by that of OpenTuner, averaged over
// the nine benchmarks, if both have 10 iterations, and if OpenTuner has 1000.
inline constexpr double kPaperTraceByOpenTuner10 = 11, kPaperTraceByOpenTuner1000 = 3.8;
// Table 2: success rates over the ten strategies, in percent. The strategies that pass are known
// only for a rate of 100.
inline constexpr int kPaperCppSingle = 0, kPaperDslSingle = 80, kPaperCppRefined = 0,
                     kPaperDslRefined = 100;

}  // namespace groma
