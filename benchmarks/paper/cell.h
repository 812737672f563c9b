// A cell: one search, or one mapping that a model writes for a strategy, with its settings and its
// result. All tables and pictures of groma_paper are made of cells. A cell is one line of JSON.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "groma/result.h"

namespace groma::paper {

// Everything that decides the result of a cell, except the sources of Groma.
struct CellSettings {
  // The benchmark with its size, "circuit:size=middle", or the name of a strategy.
  std::string subject;
  // The name of a proposer of the tuner, kRandomMapping, kDefaultMapper, kWriting or kReference.
  std::string method;
  // The level of feedback, as guide_detail() takes it.
  std::string feedback = "none";
  // The number of mappings of other applications that a prompt shows.
  int examples = 0;
  // The iterations of a search, or the questions for one strategy.
  std::int64_t iterations = 1;
  // The number of the run, from 1. It is the seed of the search.
  int run = 1;
  // The model with the options that change its replies. Empty if no model is asked.
  std::string model = {};

  auto operator<=>(const CellSettings&) const = default;
};

// Methods that do not search. kRandomMapping, which is also the name of a proposer, draws one
// mapping from the search space; kDefaultMapper runs the default mapper; kWriting asks the model
// for the mapping of a strategy; kReference grades the mapping in dsl/strategies.
inline constexpr std::string_view kRandomMapping = "random", kDefaultMapper = "default mapper",
                                  kWriting = "write", kReference = "reference";

// An iteration that found a better mapping than all iterations before it.
struct Improvement {
  std::int64_t iteration = 0;
  // The simulated time of the mapping.
  double seconds = 0;
};

// The result of a search.
struct SearchResult {
  // The simulated time of the expert's mapping.
  double expert_seconds = 0;
  std::vector<Improvement> improvements;
  // The numbers of iterations whose mapping ran, whose mapping was refused or failed, and whose
  // reply could not be read.
  std::int64_t ran = 0, failed = 0, unusable = 0;

  // Returns the best throughput of the first `iterations` iterations, divided by the throughput of
  // the expert's mapping. 0 if no mapping ran.
  double throughput_after(std::int64_t iterations) const;
};

// The result of writing a mapping for a strategy.
struct WritingResult {
  enum class Verdict : std::uint8_t { kPassed, kFailed, kNotCompiled } verdict;
  // The number of questions that the model answered.
  int questions = 0;
};

struct Cell {
  CellSettings settings;
  std::variant<SearchResult, WritingResult> result;
};

// Returns the cell as a line of JSON without a line end.
std::string to_json(const Cell& cell);
// Reads a line that to_json() wrote. Fails (kMalformed) on any other text.
Result<Cell> read_cell(const std::string& line);

}  // namespace groma::paper
