// A plan: which cells a table or figure of the paper needs.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "paper/cell.h"

namespace groma::paper {

enum class Artefact : std::uint8_t {
  kTable2,
  kTableA1,
  kTableA2,
  kFigure4,
  kFigure5,
  kFigure6,
  kRandom
};

struct ArtefactInfo {
  Artefact artefact;
  // The name on the command line, and what the artefact shows in one line.
  std::string_view name, what;
};
inline constexpr std::array kArtefacts = {
    ArtefactInfo{Artefact::kTable2, "table2", "mappings from sentences: success rates"},
    ArtefactInfo{Artefact::kTableA1, "a1", "Table A1: what Trace finds in ten iterations"},
    ArtefactInfo{Artefact::kTableA2, "a2", "Table A2: what OpenTuner finds in ten iterations"},
    ArtefactInfo{Artefact::kFigure4, "fig4", "the searches side by side, iteration by iteration"},
    ArtefactInfo{Artefact::kFigure5, "fig5", "Trace beside OpenTuner with 1000 iterations"},
    ArtefactInfo{Artefact::kFigure6, "fig6", "Trace with less feedback, 0-shot and 5-shot"},
    ArtefactInfo{Artefact::kRandom, "random", "random mappings: how many run"}};

// What the user asks for. nullopt stands for the protocol of the paper.
struct PlanOptions {
  // The names of benchmarks. Empty: those of the artefact.
  std::vector<std::string> apps;
  std::string size = "middle";
  std::optional<int> runs;
  std::optional<std::int64_t> iterations;
  // The model as CellSettings::model. Empty: there is none.
  std::string model;
};

// One way to make mappings, which all subjects are tried with: a column or curve.
struct Method {
  // The name in tables and pictures: "trace", "5-shot".
  std::string title;
  // The settings of the cells, without subject and run.
  CellSettings settings;
  int runs = 1;
  bool asks_model = false;
};

struct Plan {
  ArtefactInfo artefact;
  // The names of the benchmarks or strategies, and the subjects of their cells, in the same order.
  std::vector<std::string> names, subjects;
  std::vector<Method> methods;
  bool has_model = false;
  std::string size;

  // Returns the settings of all cells that can be made. The first run of everything comes first, so
  // that an interrupted run has made the most.
  std::vector<CellSettings> cells() const;
};

// Returns the plan. The options are valid.
Plan make_plan(const ArtefactInfo& artefact, const PlanOptions& options);

}  // namespace groma::paper
