// groma domain derive --table: the table of arXiv 2604.10387 with Groma's methods beside it.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "console.h"
#include "domain_derive.h"
#include "inputs.h"

namespace driver {
namespace {

using groma::domains::Grade;
using groma::domains::Samples;
using Json = nlohmann::ordered_json;

constexpr std::array kStages = {20, 50, 100};

// A domain of the paper, and the best results of its eleven models at the three stages.
struct PaperDomain {
  const char* name;
  std::array<const char*, kStages.size()> best;
};
constexpr PaperDomain kPaperDomains[] = {
    {"triangle", {"100 / 100", "100 / 100", "100 / 100"}},
    {"tetrahedron", {"100 / 100", "100 / 100", "100 / 100"}},
    {"gasket", {"not known", "100 / 100", "100 / 100"}},
    {"carpet", {"100 / 100", "100 / 100", "100 / 100"}},
    {"sierpinski3", {"100 / 100", "below 100", "100 / 100"}},
    {"menger", {"0 / 0.36", "0 / 0.36", "0 / 0.36"}},
};

// A cell: the grade, and the seconds that the answer took.
struct TableCell {
  Grade grade;
  double seconds = 0;
  std::string remark;
};
struct TableRow {
  std::string domain;
  std::size_t samples = 0;
  std::optional<TableCell> ours, genetic, gplearn, model;
  std::string paper;
};

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

std::string time_words(double seconds) {
  if (seconds < 0.1) return fmt::format("{:.2g} ms", 1000 * seconds);
  return seconds < 10 ? fmt::format("{:.2g} s", seconds) : fmt::format("{:.0f} s", seconds);
}

// Returns a part in percent. Only all points are 100, and only none are 0.
std::string percent(std::int64_t part, std::int64_t all) {
  if (part == all) return "100";
  if (part == 0) return "0";
  return fmt::format("{:.3g}",
                     std::min(99.9, 100.0 * static_cast<double>(part) / static_cast<double>(all)));
}

std::string cell_words(const std::optional<TableCell>& cell) {
  if (!cell) return "-";
  return fmt::format("{} / {} ({}{}{})", percent(cell->grade.in_order, cell->grade.points),
                     percent(cell->grade.in_any_order, cell->grade.points),
                     time_words(cell->seconds), cell->remark.empty() ? "" : ", ", cell->remark);
}

Json cell_json(const std::optional<TableCell>& cell) {
  if (!cell) return nullptr;
  return {{"points", cell->grade.points},
          {"in_order", cell->grade.in_order},
          {"in_any_order", cell->grade.in_any_order},
          {"seconds", cell->seconds},
          {"remark", cell->remark}};
}

// Returns the result of the peer for a row. Anything unexpected in the file counts as no result.
std::optional<TableCell> find_peer(const Json& results, const TableRow& row) {
  if (!results.is_array()) return std::nullopt;
  for (const Json& each : results) {
    if (!each.is_object() || each.value("domain", Json()) != row.domain ||
        each.value("samples", Json()) != row.samples) {
      continue;
    }
    TableCell cell;
    for (const auto& [key, number] :
         {std::pair("points", &cell.grade.points), std::pair("in_order", &cell.grade.in_order),
          std::pair("in_any_order", &cell.grade.in_any_order)}) {
      const Json value = each.value(key, Json());
      if (!value.is_number_integer()) return std::nullopt;
      *number = value.get<std::int64_t>();
    }
    const Json seconds = each.value("seconds", Json());
    if (!seconds.is_number() || cell.grade.points < 1) return std::nullopt;
    cell.seconds = seconds.get<double>();
    return cell;
  }
  return std::nullopt;
}

class DerivationTable {
 public:
  DerivationTable(const DeriveArguments& arguments, Json gplearn,
                  std::optional<groma::llm::ChatClient> client)
      : arguments_(arguments), gplearn_(std::move(gplearn)), client_(std::move(client)) {}

  int run() {
    ProgressLine line("comparing");
    const auto cells = static_cast<std::int64_t>(std::size(kPaperDomains) * kStages.size());
    for (const PaperDomain& paper : kPaperDomains) {
      for (std::size_t stage = 0; stage < kStages.size(); ++stage) {
        line.update(static_cast<std::int64_t>(rows_.size()), cells);
        rows_.push_back(row(paper, stage));
        if (interrupted()) return kInterrupted;
      }
    }
    return kFine;
  }

  std::string text() const {
    std::string text = fmt::format(
        "Right points of the first {}, in percent: in order / in any order.\n\n"
        "| domain | samples | derived | genetic programme | gplearn | model | best of the paper |\n"
        "|---|---|---|---|---|---|---|\n",
        arguments_.points);
    for (const TableRow& row : rows_) {
      text += fmt::format("| {} | {} | {} | {} | {} | {} | {} |\n", row.domain, row.samples,
                          cell_words(row.ours), cell_words(row.genetic), cell_words(row.gplearn),
                          cell_words(row.model), row.paper);
    }
    return text;
  }

  std::string json() const {
    Json rows = Json::array();
    for (const TableRow& row : rows_) {
      rows.push_back({{"domain", row.domain},
                      {"samples", row.samples},
                      {"derived", cell_json(row.ours)},
                      {"genetic", cell_json(row.genetic)},
                      {"gplearn", cell_json(row.gplearn)},
                      {"model", cell_json(row.model)},
                      {"paper", row.paper}});
    }
    return Json{{"points", arguments_.points}, {"rows", std::move(rows)}}.dump() + "\n";
  }

 private:
  TableRow row(const PaperDomain& paper, std::size_t stage) {
    TableRow row;
    row.domain = paper.name;
    row.samples = static_cast<std::size_t>(kStages[stage]);
    row.paper = paper.best[stage];
    const auto domain = make_known(row.domain, arguments_.points);
    GROMA_CHECK(domain && domain->count() >= arguments_.points);
    truth_ = groma::domains::point_function(*domain);
    const Samples samples = first_samples(*domain, row.samples);
    row.ours = derived(samples);
    row.genetic = genetic(samples);
    row.gplearn = find_peer(gplearn_, row);
    if (client_) row.model = model(samples);
    return row;
  }

  Grade grade(const groma::domains::PointFunction& answer) const {
    return groma::domains::grade_answer(answer, truth_, arguments_.points,
                                        [] { return interrupted(); });
  }

  TableCell derived(const Samples& samples) const {
    TableCell cell;
    // The median of several searches, because a search takes less than a switch to another process.
    std::array<double, 5> seconds{};
    std::vector<groma::domains::Derivation> found;
    for (double& each : seconds) {
      const auto begin = std::chrono::steady_clock::now();
      found = groma::domains::derive_domain(samples);
      each = seconds_since(begin);
    }
    std::nth_element(seconds.begin(), seconds.begin() + 2, seconds.end());
    cell.seconds = seconds[2];
    cell.grade.points = arguments_.points;
    if (found.empty()) {
      cell.remark = "nothing found";
      return cell;
    }
    if (found.front().support != groma::domains::Support::kGood) {
      cell.remark = name_of(found.front().support);
    }
    const auto domain = groma::domains::make_domain(found.front(), arguments_.points);
    if (domain) cell.grade = grade(groma::domains::point_function(*domain));
    return cell;
  }

  TableCell genetic(const Samples& samples) const {
    TableCell cell;
    const auto begin = std::chrono::steady_clock::now();
    const std::string text = groma::domains::evolve_formula(samples, arguments_.evolution);
    cell.seconds = seconds_since(begin);
    groma::Diagnostics diags(groma::Source("formula", text));
    auto formula = groma::domains::Formula::read(diags, samples.dimensions());
    GROMA_CHECK(formula.has_value());
    cell.grade = grade([&](std::int64_t k) { return formula->point(k); });
    return cell;
  }

  TableCell model(const Samples& samples) {
    TableCell cell;
    groma::domains::ModelOptions options = arguments_.model;
    options.temperature = arguments_.chat.temperature.value_or(options.temperature);
    const auto begin = std::chrono::steady_clock::now();
    const auto answer = groma::domains::ask_for_map(*client_, samples, options, chat_watch());
    cell.seconds = seconds_since(begin);
    cell.grade.points = arguments_.points;
    if (answer.point) cell.grade = grade(answer.point);
    if (answer.error) {
      cell.remark = "the call failed";
    } else if (!answer.point) {
      cell.remark = "no usable answer";
    } else if (cell.grade.is_cut_off) {
      cell.remark = "cut off";
    }
    return cell;
  }

  const DeriveArguments& arguments_;
  const Json gplearn_;
  std::optional<groma::llm::ChatClient> client_;
  groma::domains::PointFunction truth_;
  std::vector<TableRow> rows_;
};

// Reads the list `results` of the peer's file.
groma::Result<Json> read_peer(const std::string& path) {
  if (path.empty()) return Json();
  constexpr std::size_t kMaxBytes = std::size_t{1} << 20;
  auto text = groma::read_file(path, kMaxBytes);
  if (!text) return text.error();
  const Json json = Json::parse(*text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object() || !json.contains("results") || !json["results"].is_array()) {
    return groma::Error{groma::Error::Code::kMalformed,
                        fmt::format("`{}` has no list `results`", path),
                        "benchmarks/peers/run_gplearn.py writes such a file"};
  }
  return json["results"];
}

}  // namespace

int print_derivation_table(const DeriveArguments& arguments) {
  auto gplearn = read_peer(arguments.gplearn);
  if (!gplearn) return refuse(gplearn.error());
  std::optional<groma::llm::ChatClient> client;
  if (arguments.asks_model()) {
    auto made = make_chat_client(arguments.chat);
    if (!made) return refuse(made.error());
    client = std::move(made).value();
  }
  DerivationTable table(arguments, std::move(gplearn).value(), std::move(client));
  if (const int exit_code = table.run(); exit_code != kFine) return exit_code;
  return print(arguments.json ? table.json() : table.text());
}

}  // namespace driver
