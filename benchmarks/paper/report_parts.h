// What the makers of reports share. report.h is the way in.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <vector>

#include "paper/report.h"
#include "paper/statistics.h"

namespace groma::paper {

// The text for a value that does not exist.
inline constexpr const char* kNone = "-";

inline std::string two_digits(double value) { return fmt::format("{:.2f}", value); }

// Returns the method with this title, or null.
const Method* find_method(const Plan& plan, std::string_view title);

// Each adds the tables and the picture of its artefacts to the report.
void add_strategies(const Plan& plan, const CellsFile& cells, Report* report);
void add_statistics(const Plan& plan, const CellsFile& cells, Report* report);
void add_random_mappings(const Plan& plan, const CellsFile& cells, Report* report);
void add_trajectories(const Plan& plan, const CellsFile& cells, Report* report);
void add_long_searches(const Plan& plan, const CellsFile& cells, Report* report);
void add_feedback_levels(const Plan& plan, const CellsFile& cells, Report* report);

}  // namespace groma::paper
