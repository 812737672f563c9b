// The parts of groma_tune_table: a cell is one search, made by itself; tables are printed of cells.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "experiment.h"

namespace groma::tune_table {

using bench::fail;
using bench::need;

// An application's name begins with this where everything else in it has random names.
inline constexpr std::string_view kRenamed = "renamed/";
// Before the name of a file with an application: the search begins with the mapping in the file of
// the same name that ends with `.mapper`.
inline constexpr std::string_view kPoor = "poor/";
// Returns true if the application is in a file, and not one of the nine benchmarks.
inline bool is_file(std::string_view app) { return app.find(".json") != app.npos; }
// These search for what the others are compared with: the judge itself is what is asked beside the
// one evaluation; and a family of mappings, all of them.
inline constexpr std::string_view kBest = "best", kEnumerate = "enumerate";
// No search: the time of the expert's mapping by the judge.
inline constexpr std::string_view kExpert = "expert";
// A proposer's name after one of these: it is told nothing before it proposes; what it proposes is
// passed over where a look without a run says that it would be refused, or that it was tried.
inline constexpr std::string_view kBlind = "blind/", kLooking = "looking/";
// A proposer's name after this: its estimates are rehearsals of runs instead of simulated runs, as
// in `groma tune` without a command.
inline constexpr std::string_view kRehearsed = "rehearsed/";
inline constexpr std::string_view kSameJudge = "same";    // the runtime as it is
inline constexpr std::string_view kOtherJudge = "other";  // with other constants and noise

// One search: where it ended, by its judge without noise.
struct Cell {
  std::string machine, app, proposer, judge;
  std::int64_t evaluations = 0, estimates = 0;  // that it may have
  int seed = 0;

  double seconds = 0;  // of the best mapping; 0: none was valid
  std::int64_t valid = 0;
  double cpu = 0;                             // seconds that a processor worked for it
  std::int64_t evaluated = 0, estimated = 0;  // that it had

  // Everything that it depends on.
  std::string key() const {
    return fmt::format("{} {} {} {} {} {} {}", machine, app, proposer, judge, evaluations,
                       estimates, seed);
  }
  // Of two cells with the same task and different names.
  bool equals(const Cell& other) const {
    return std::tie(seconds, valid, evaluated, estimated) ==
           std::tie(other.seconds, other.valid, other.evaluated, other.estimated);
  }
};

// In one thread; any number at once.
Cell search(Cell cell);

// Markdown, to the standard output. False: names decide something that they must not.
bool print_tables(const std::vector<Cell>& cells);

}  // namespace groma::tune_table
