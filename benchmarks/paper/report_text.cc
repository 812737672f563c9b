// Writes reports as Markdown and as JSON.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "paper/report.h"

namespace groma::paper {
namespace {

std::string markdown_row(const std::vector<std::string>& words) {
  return fmt::format("| {} |\n", fmt::join(words, " | "));
}

}  // namespace

std::string to_markdown(const Report& report) {
  std::string text = fmt::format("### {}\n\n", report.title);
  for (const std::string& note : report.notes) text += fmt::format("* {}\n", note);
  for (const ReportTable& table : report.tables) {
    text += table.title.empty() ? "\n" : fmt::format("\n{}:\n\n", table.title);
    text += markdown_row(table.columns);
    for (std::size_t i = 0; i < table.columns.size(); ++i) text += "|---";
    text += "|\n";
    for (const std::vector<std::string>& row : table.rows) text += markdown_row(row);
  }
  return text;
}

std::string to_json(const Report& report, const Plan& plan, const CellsFile& cells) {
  nlohmann::ordered_json json = {{"artefact", plan.artefact.name},
                                 {"title", report.title},
                                 {"notes", report.notes},
                                 {"tables", nlohmann::ordered_json::array()},
                                 {"cells", nlohmann::ordered_json::array()}};
  for (const ReportTable& table : report.tables) {
    json["tables"].push_back(
        {{"title", table.title}, {"columns", table.columns}, {"rows", table.rows}});
  }
  for (const CellSettings& settings : plan.cells()) {
    const Cell* cell = cells.find(settings);
    if (cell != nullptr) json["cells"].push_back(nlohmann::ordered_json::parse(to_json(*cell)));
  }
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace groma::paper
