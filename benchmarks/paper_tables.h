// What the paper measured (Wei et al., Tables A1 and A2): throughput of what is found in ten
// evaluations by that of the expert's mapping, over five runs.
#pragma once

#include <string_view>

namespace groma {

struct PaperRow {
  std::string_view app;
  double worst, median, best;
};

inline constexpr PaperRow kPaperTrace[] = {
    {"circuit", 1.31, 1.33, 1.34}, {"stencil", 1.00, 1.01, 1.02},   {"pennant", 1.00, 1.03, 1.04},
    {"cannon", 1.08, 1.09, 1.09},  {"summa", 0.00, 1.07, 1.09},     {"pumma", 0.00, 0.66, 1.09},
    {"johnson", 0.68, 1.06, 1.07}, {"solomonik", 0.00, 0.61, 1.09}, {"cosma", 1.23, 1.23, 1.31}};
// Null: it has no such benchmark.
inline const PaperRow* paper_trace(std::string_view app) {
  for (const PaperRow& row : kPaperTrace) {
    if (row.app == app) return &row;
  }
  return nullptr;
}

// Of the eight others none was valid.
inline constexpr PaperRow kPaperOpenTuner = {"circuit", 0.81, 0.99, 1.20};

}  // namespace groma
