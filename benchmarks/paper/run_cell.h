// run_cell(): makes one cell. run_cells(): makes all missing cells, several at the same time.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "groma/llm.h"
#include "groma/result.h"
#include "groma/search.h"
#include "paper/cell.h"
#include "paper/cells_file.h"

namespace groma::paper {

// The machine of the paper's experiments.
inline constexpr const char* kMachine = "p100x4";

// What the cells of one run of the program share.
struct RunContext {
  // Null if no cell asks a model. Otherwise it outlives the run.
  llm::ChatClient* model = nullptr;
  tuning::AskOptions ask = {};
  // Called from time to time, from any thread. The cells under way are dropped when it returns
  // true.
  std::function<bool()> stop = {};
};

// Makes a cell. Returns nullopt if it was stopped. Fails if the model cannot be asked.
Result<std::optional<Cell>> run_cell(const CellSettings& settings, const RunContext& context);

// Makes the cells in `jobs` threads and adds each to the file as soon as it is finished.
// `on_progress` is called from time to time in the caller's thread, with the number of finished
// cells. Returns the first error; it stops the cells under way.
std::optional<Error> run_cells(const std::vector<CellSettings>& settings, const RunContext& context,
                               int jobs, CellsFile* file,
                               const std::function<void(std::size_t done)>& on_progress);

// Returns `count` experts' mappings of other benchmarks, as examples for a benchmark. Mappings of
// its own family (Regent's programs, 2D and other multiplications) come last, because they are
// nearly the answer.
std::vector<std::string> examples_for(std::string_view benchmark, int count);

}  // namespace groma::paper
