// The tables of groma_tune_table. The mappings of experts stand here alone, where all searches are
// over.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "groma/benchmarks.h"
#include "groma/proposers.h"
#include "paper_tables.h"
#include "tune_table.h"

namespace groma::tune_table {
namespace {

constexpr std::string_view kPaperMachine = "p100x4";
constexpr std::string_view kProposers[] = {
    "guided",      "rehearsed/guided", "blind/guided",   "random",    "looking/random",    "ccd",
    "looking/ccd", "anneal",           "looking/anneal", "opentuner", "looking/opentuner", kBest};
bool is_of_looks(std::string_view proposer) {
  return proposer.starts_with(kBlind) || proposer.starts_with(kLooking);
}

// In the order of the tables: the paper's machine and its applications as it has them first.
struct Row {
  bool other_machine = false;
  std::string machine;
  std::ptrdiff_t place = 0;
  std::string app;
  auto operator<=>(const Row&) const = default;
};
Row row_of(const Cell& cell) {
  if (is_file(cell.app)) {
    return {cell.machine != kPaperMachine, cell.machine, std::ssize(benchmarks()), cell.app};
  }
  const auto* benchmark = find_benchmark(cell.app.substr(0, cell.app.find(':')));
  if (benchmark == nullptr) fail("no benchmark " + cell.app);
  return {cell.machine != kPaperMachine, cell.machine, benchmark - benchmarks().data(), cell.app};
}

// The row of what a search is compared with: wherever it begins, the best is the best of all.
Row without_start(Row row) {
  if (row.app.starts_with(kPoor)) row.app.erase(0, kPoor.size());
  return row;
}

bool is_renamed(const Cell& cell) { return cell.app.starts_with(kRenamed); }

// What is compared in one table.
struct Budget {
  std::int64_t evaluations = 0, estimates = 0;
  std::string judge;
  bool of_looks = false;  // what proposers that look before they propose gain by it
  auto operator<=>(const Budget&) const = default;
};

// The searches of one proposer on one row, the best first.
using Results = std::vector<double>;  // seconds; infinite: none was valid
double median(const Results& sorted) { return sorted[sorted.size() / 2]; }

using Column = std::map<Row, Results>;
struct Table {
  std::map<std::string_view, Column> columns;                                 // by proposer
  std::map<std::string_view, std::pair<std::int64_t, std::int64_t>> invalid;  // of all evaluated
  std::int64_t estimated = 0;  // the most in one search

  std::vector<std::string_view> proposers() const {
    std::vector<std::string_view> names;
    std::copy_if(std::begin(kProposers), std::end(kProposers), std::back_inserter(names),
                 [&](std::string_view name) { return columns.contains(name); });
    return names;
  }
  std::set<Row> rows() const {
    std::set<Row> all;
    for (const auto& [proposer, column] : columns) {
      for (const auto& [row, results] : column) all.insert(row);
    }
    return all;
  }
};

struct Tables {
  std::map<Budget, Table> tables;
  std::map<std::pair<std::string, Row>, double> best;  // by judge; seconds
  std::map<Row, Cell> enumerated;
  std::map<Row, double> experts;  // seconds; 0: the mapping is not valid
};

Tables tables_of(const std::vector<Cell>& cells) {
  Tables all;
  for (const Cell& cell : cells) {
    if (is_renamed(cell)) continue;
    const Row row = row_of(cell);
    if (cell.proposer == kExpert) {
      all.experts.emplace(row, cell.seconds);
      continue;
    }
    if (cell.proposer == kEnumerate) all.enumerated.emplace(row, cell);
    if (cell.seconds > 0) {
      double& best =
          all.best.try_emplace({cell.judge, without_start(row)}, cell.seconds).first->second;
      best = std::min(best, cell.seconds);
    }
    const auto* const known =
        std::find(std::begin(kProposers), std::end(kProposers), cell.proposer);
    if (known == std::end(kProposers)) continue;
    Table& table = all.tables[{cell.evaluations, cell.estimates, cell.judge, is_of_looks(*known)}];
    Results& results = table.columns[*known][row];
    const double seconds = cell.seconds > 0 ? cell.seconds : HUGE_VAL;
    results.insert(std::upper_bound(results.begin(), results.end(), seconds), seconds);
    auto& [invalid, evaluated] = table.invalid[*known];
    invalid += cell.evaluated - cell.valid;
    evaluated += cell.evaluated;
    table.estimated = std::max(table.estimated, cell.estimated);
  }
  for (auto& [budget, table] : all.tables) {
    if (!budget.of_looks) continue;
    const auto own = all.tables.find({budget.evaluations, budget.estimates, budget.judge, false});
    if (own == all.tables.end()) continue;
    table.columns.insert(own->second.columns.begin(), own->second.columns.end());
    table.invalid.insert(own->second.invalid.begin(), own->second.invalid.end());
  }
  return all;
}

std::string percent(double regret) {
  return std::isfinite(regret) ? fmt::format("{:.1f}", 100 * regret) : "none";
}
std::string milliseconds(double seconds) { return fmt::format("{:.4g}", 1e3 * seconds); }

// "| a | b |", and below it what Markdown wants of a head.
void print_head(const std::vector<std::string>& names) {
  std::string head = "|", rule = "|";
  for (const std::string& name : names) {
    head += fmt::format(" {} |", name);
    rule += "---|";
  }
  fmt::print("{}\n{}\n", head, rule);
}

void print_regrets(const Tables& all, const Budget& budget, const Table& table) {
  fmt::print("\n**{} evaluations", budget.evaluations);
  if (budget.estimates > 0) fmt::print(" after {} runs of the cheap layer", table.estimated);
  fmt::print("**{}{}: above the best known, %, median and (worst) of the seeds\n\n",
             budget.of_looks ? ", with a look at what is about to be proposed and without" : "",
             budget.judge != kOtherJudge ? ""
             : budget.estimates > 0      ? ", judged by other constants and noise"
                                         : ", judged by other constants");
  const std::vector<std::string_view> proposers = table.proposers();
  std::vector<std::string> head = {"machine", "application", "best known, ms"};
  for (const std::string_view proposer : proposers) {
    head.emplace_back(proposer == kBest ? "guided, asking the judge" : proposer);
  }
  print_head(head);
  std::map<std::string_view, Results> medians, worsts;
  for (const Row& row : table.rows()) {
    const auto best = all.best.find({budget.judge, without_start(row)});
    const bool known = best != all.best.end();
    fmt::print("| {} | {} | {} |", row.machine, row.app,
               known ? milliseconds(best->second) : "none");
    for (const std::string_view proposer : proposers) {
      const Column& column = table.columns.at(proposer);
      const auto results = column.find(row);
      if (results == column.end()) {
        fmt::print(" |");
        continue;
      }
      const auto regret = [&](double seconds) {
        return known ? seconds / best->second - 1 : HUGE_VAL;
      };
      medians[proposer].push_back(regret(median(results->second)));
      worsts[proposer].push_back(regret(results->second.back()));
      fmt::print(" {} ({}) |", percent(medians[proposer].back()), percent(worsts[proposer].back()));
    }
    fmt::print("\n");
  }
  const auto print_last = [&](const char* what, const auto& text_of) {
    fmt::print("| **{}** | | |", what);
    for (const std::string_view proposer : proposers) fmt::print(" {} |", text_of(proposer));
    fmt::print("\n");
  };
  for (auto& [proposer, values] : medians) std::sort(values.begin(), values.end());
  for (auto& [proposer, values] : worsts) std::sort(values.begin(), values.end());
  print_last("median row", [&](auto proposer) { return percent(median(medians[proposer])); });
  print_last("worst row (worst search)", [&](auto proposer) {
    return fmt::format("{} ({})", percent(medians[proposer].back()),
                       percent(worsts[proposer].back()));
  });
  print_last("invalid", [&](auto proposer) {
    const auto& [invalid, evaluated] = table.invalid.at(proposer);
    return fmt::format("{} of {}", invalid, evaluated);
  });
}

void print_experts(const Tables& all, const Budget& budget, const Table& table) {
  fmt::print(
      "\n**By the expert's mapping**: throughput after {} evaluations, larger is faster, median "
      "and\n(best) of the seeds; the paper's figures are measured, of ten evaluations\n\n",
      budget.evaluations);
  std::vector<std::string> head = {"machine", "application", "expert, ms", "best known"};
  const std::vector<std::string_view> proposers = table.proposers();
  head.insert(head.end(), proposers.begin(), proposers.end());
  head.insert(head.end(), {"the paper's Trace", "the paper's OpenTuner"});
  print_head(head);
  for (const Row& row : table.rows()) {
    const auto run = all.experts.find(row);
    const double expert = run == all.experts.end() ? 0 : run->second;
    const auto best = all.best.find({std::string(kSameJudge), row});
    fmt::print("| {} | {} | {} | {:.2f} |", row.machine, row.app,
               expert > 0 ? milliseconds(expert) : "fails",
               best == all.best.end() ? 0 : expert / best->second);
    for (const std::string_view proposer : proposers) {
      const Column& column = table.columns.at(proposer);
      const auto results = column.find(row);
      if (results == column.end()) {
        fmt::print(" |");
      } else {
        fmt::print(" {:.2f} ({:.2f}) |", expert / median(results->second),
                   expert / results->second.front());
      }
    }
    const PaperRow* trace = row.other_machine ? nullptr : paper_trace(row.app);
    if (trace == nullptr) {
      fmt::print(" | |\n");
      continue;
    }
    const PaperRow& tuner = *paper_row(kPaperOpenTuner, row.app);
    fmt::print(" {:.2f} ({:.2f}) | {:.2f} ({:.2f}) |\n", trace->median, trace->best, tuner.median,
               tuner.best);
  }
}

void print_enumerated(const Tables& all) {
  fmt::print("\n**All mappings of a family**\n\n");
  print_head({"machine", "application", "mappings", "valid", "optimum, ms",
              "above the best known, %", "guided, 10 evaluations, above it, %"});
  for (const auto& [row, cell] : all.enumerated) {
    const auto best = all.best.find({cell.judge, row});
    const auto ten = all.tables.find({10, 0, cell.judge});
    std::string guided;
    if (ten != all.tables.end() && ten->second.columns.contains("guided") &&
        ten->second.columns.at("guided").contains(row)) {
      const Results& results = ten->second.columns.at("guided").at(row);
      guided = fmt::format("{:+.1f}", 100 * (median(results) / cell.seconds - 1));
    }
    fmt::print("| {} | {} | {} | {} | {} | {} | {} |\n", row.machine, row.app, cell.evaluated,
               cell.valid, milliseconds(cell.seconds), percent(cell.seconds / best->second - 1),
               guided);
  }
}

// Whether a search on an application with other names ends as on that application.
bool print_names(const std::vector<Cell>& cells) {
  std::map<std::string, const Cell*> own;
  for (const Cell& cell : cells) own.emplace(cell.key(), &cell);
  std::size_t all = 0, compared = 0, equal = 0;
  for (const Cell& cell : cells) {
    if (!is_renamed(cell)) continue;
    ++all;
    Cell twin = cell;
    twin.app.erase(0, kRenamed.size());
    const auto found = own.find(twin.key());
    if (found == own.end()) continue;
    ++compared;
    if (cell.equals(*found->second)) {
      ++equal;
    } else {
      fmt::print("\nDiffers with its names: {}: {} s, {} of {} valid; {} s, {} of {} valid\n",
                 twin.key(), found->second->seconds, found->second->valid, found->second->evaluated,
                 cell.seconds, cell.valid, cell.evaluated);
    }
  }
  if (compared > 0) {
    fmt::print(
        "\nWith random names of tasks, regions and fields {} of {} searches gave the same "
        "figures.\n",
        equal, compared);
  }
  if (compared < all) {
    fmt::print("\n{} searches with random names have none with their own to be compared with.\n",
               all - compared);
  }
  return equal == all;
}

}  // namespace

bool print_tables(const std::vector<Cell>& cells) {
  const Tables all = tables_of(cells);
  for (const auto& [budget, table] : all.tables) print_regrets(all, budget, table);
  // As the paper: of the fewest evaluations.
  const auto fewest = std::find_if(all.tables.begin(), all.tables.end(), [](const auto& table) {
    return table.first.judge == kSameJudge;
  });
  if (!all.experts.empty() && fewest != all.tables.end())
    print_experts(all, fewest->first, fewest->second);
  if (!all.enumerated.empty()) print_enumerated(all);
  return print_names(cells);
}

}  // namespace groma::tune_table
