// A report: the tables and the picture of one artefact, made from its cells, beside the figures
// that the paper prints. It is written as Markdown, as JSON and as SVG.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "paper/cells_file.h"
#include "paper/plan.h"

namespace groma::paper {

struct ReportTable {
  std::string title;
  std::vector<std::string> columns;
  std::vector<std::vector<std::string>> rows;
};

// A curve or a set of marks in a picture.
struct ChartSeries {
  enum class Kind : std::uint8_t {
    // Points that a line joins. Only kLine may have a logarithmic x axis.
    kLine,
    // A horizontal line at the height of the only point.
    kLevel,
    // Points that no line joins.
    kMarks,
    // Vertical bars: three points for each, with the same x: lowest, middle, highest.
    kRanges,
  } kind = Kind::kLine;
  std::string name;
  std::vector<std::array<double, 2>> points;
};

// One coordinate system of a picture.
struct ChartPanel {
  std::string title;
  // The names of x = 0, 1, ... Empty: x is a number.
  std::vector<std::string> categories;
  bool log_x = false;
  std::vector<ChartSeries> series;
};

struct Chart {
  std::string x_label, y_label;
  std::vector<ChartPanel> panels;
  // The words that the title of the report gets in the picture.
  std::string title_end = {};
};

struct Report {
  std::string title;
  // Sentences that stand above the tables.
  std::vector<std::string> notes;
  std::vector<ReportTable> tables;
  Chart chart;
};

// Makes the report. A method without cells has dashes.
Report make_report(const Plan& plan, const CellsFile& cells);

// Returns the report as Markdown.
std::string to_markdown(const Report& report);
// Returns the report and the cells of the plan as one JSON document with its line end.
std::string to_json(const Report& report, const Plan& plan, const CellsFile& cells);
// Returns the picture as an SVG document.
std::string to_svg(const Report& report);

}  // namespace groma::paper
