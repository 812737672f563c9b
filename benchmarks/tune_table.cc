// The tuner's proposers side by side in the embedded runtime, on the nine benchmarks: how far from
// the best mapping that anybody found each ends (regret), within ten evaluations and with more.
// Everything is simulated. Cells are kept in a file as they are finished, so that a run that was
// broken off goes on; the tables are printed of all that stands there.
//
//   groma_tune_table FILE [KEY=VALUE...]
//     machines=p100x4,lassen:nodes=4  apps=all  size=middle  proposers=guided,random,...
//     evaluations=10  seeds=5  estimates=0  names=own
//   With estimates=N the proposer may ask the embedded runtime N times beside its evaluations, and
//   the judge is a runtime with other constants and noise; proposers=best searches with the judge
//   itself, without noise, for the best that the others are compared with.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "groma/benchmarks.h"
#include "groma/evaluators.h"
#include "groma/tune.h"

namespace {

using namespace groma;

[[noreturn]] void fail(const std::string& why) {
  fmt::print(stderr, "tune_table: {}\n", why);
  std::exit(1);
}

template <typename T>
T need(Result<T> result) {
  if (!result.ok()) fail(result.error().message);
  return std::move(result).value();
}

std::vector<std::string> items(const std::string& list) {
  std::vector<std::string> all;
  std::istringstream stream(list);
  for (std::string item; std::getline(stream, item, ';');) all.push_back(item);
  return all;
}

// One search: where it ended, by its judge without noise. Its key names everything it depends on.
struct Cell {
  std::string machine, app, proposer, judge;
  std::int64_t evaluations = 0, estimates = 0;
  int seed = 0;
  double seconds = 0;  // of the best mapping; 0: none was valid
  std::int64_t valid = 0;
  double wall = 0;

  std::string key() const {
    return fmt::format("{} {} {} {} {} {} {}", machine, app, proposer, judge, evaluations,
                       estimates, seed);
  }
};

std::vector<Cell> read_cells(const std::string& path) {
  std::vector<Cell> cells;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    Cell cell;
    if (words >> cell.machine >> cell.app >> cell.proposer >> cell.judge >> cell.evaluations >>
        cell.estimates >> cell.seed >> cell.seconds >> cell.valid >> cell.wall) {
      cells.push_back(cell);
    }
  }
  return cells;
}

// The machine with every bandwidth, latency and rate another one, each by itself up to a third more
// or less; always the same.
Machine changed(const Machine& machine) {
  std::uint64_t state = 12345;
  const auto change = [&state](double* figure) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    const double drawn = static_cast<double>(state >> 11) * 0x1p-53;
    *figure *= std::pow(4.0 / 3, 2 * drawn - 1);
  };
  std::vector<NodeType> types = machine.node_types();
  for (NodeType& type : types) {
    for (ProcessorGroup& group : type.processors) {
      change(&group.flops_per_s);
      change(&group.launch_latency_s);
    }
    for (Affinity& affinity : type.affinities) {
      change(&affinity.bandwidth_bytes_per_s);
      change(&affinity.latency_s);
    }
    std::map<std::string, double> factors;  // one piece of hardware has one
    for (Channel& channel : type.channels) {
      const auto [found, fresh] = factors.emplace(channel.name, 1);
      if (fresh) change(&found->second);
      channel.bandwidth_bytes_per_s *= found->second;
      channel.latency_s /= found->second;
    }
  }
  return need(Machine::make("other", "", std::move(types), machine.nodes()));
}

Cell search(Cell cell) {
  Problem problem;
  problem.machine = std::make_shared<const Machine>(need(make_machine(cell.machine)));
  const std::string app = cell.app.substr(0, cell.app.find(':'));
  const auto* benchmark = find_benchmark(app);
  if (benchmark == nullptr) fail("no benchmark " + app);
  Application application = benchmark->make();
  if (app.size() < cell.app.size()) {
    application = need(with_values(application, cell.app.substr(app.size() + 1)));
  }
  problem.inputs.push_back(need(Workload::make(application)));
  const bool other = cell.judge == "other";
  SimulateOptions quiet, noisy;
  if (other) {
    quiet.costs = {8e-6, 450e-6, 15e-6, 3e-6, 30e-6, 8e-6};
    noisy = quiet;
    noisy.noise = 0.05;
    noisy.seed = static_cast<std::uint64_t>(cell.seed);
  }
  const auto judged_on =
      other ? std::make_shared<const Machine>(changed(*problem.machine)) : problem.machine;
  auto judge = make_simulated_evaluator(judged_on, problem.inputs, quiet);
  auto evaluator = make_simulated_evaluator(judged_on, problem.inputs, noisy);
  auto cheap = make_simulated_evaluator(problem.machine, problem.inputs);
  const bool best = cell.proposer == "best";
  auto proposer = need(make_proposer(best ? "guided" : cell.proposer, problem,
                                     static_cast<std::uint64_t>(cell.seed)));
  TuneOptions options;
  options.seed = static_cast<std::uint64_t>(cell.seed);
  options.compare = true;
  options.evaluate_start = false;
  options.budget.evaluations = best ? 1 : cell.evaluations;
  options.budget.estimates = best ? cell.evaluations : cell.estimates;
  options.on_event = [&](const TuneEvent& event) {
    if (event.kind == TuneEvent::Kind::kEvaluated && event.step->evaluation.ok()) ++cell.valid;
  };
  Evaluator* estimator = best ? judge.get() : cell.estimates > 0 ? cheap.get() : nullptr;
  const TuneOutcome outcome =
      need(tune(problem, best ? *judge : *evaluator, *proposer, nullptr, estimator, options));
  if (outcome.best) cell.seconds = judge->evaluate({outcome.best->proposal.text}).score;
  cell.wall = outcome.spent.seconds;
  if (std::getenv("GROMA_TUNE_SHOW") != nullptr && outcome.best) {
    fmt::print("{}\n", outcome.best->proposal.text);
  }
  return cell;
}

std::string percent(double regret) {
  return std::isfinite(regret) ? fmt::format("{:.1f}", 100 * regret) : "none";
}

void print_tables(const std::vector<Cell>& cells) {
  std::map<std::string, double> best;  // by machine, application, judge
  const auto where = [](const Cell& cell) {
    return fmt::format("{} {} {}", cell.machine, cell.app, cell.judge);
  };
  for (const Cell& cell : cells) {
    if (cell.seconds <= 0) continue;
    const auto [found, fresh] = best.emplace(where(cell), cell.seconds);
    if (!fresh) found->second = std::min(found->second, cell.seconds);
  }
  std::map<std::string, std::map<std::string, std::vector<double>>> regrets;  // column, row
  std::map<std::string, std::int64_t> invalid, all;
  for (const Cell& cell : cells) {
    const std::string column =
        cell.estimates > 0
            ? fmt::format("{} {} +{}", cell.proposer, cell.evaluations, cell.estimates)
            : fmt::format("{} {} {}", cell.proposer, cell.evaluations, cell.judge);
    const double regret = cell.seconds > 0 ? cell.seconds / best[where(cell)] - 1 : HUGE_VAL;
    regrets[column][where(cell)].push_back(regret);
    invalid[column] += cell.proposer == "best" ? 0 : cell.evaluations - cell.valid;
    all[column] += cell.evaluations;
  }
  for (auto& [column, rows] : regrets) {
    fmt::print("\n## {}\n\n", column);
    std::vector<double> medians;
    for (auto& [row, values] : rows) {
      std::sort(values.begin(), values.end());
      const double median = values[values.size() / 2];
      medians.push_back(median);
      fmt::print("{:<40} {:>10.6g} s  median {:>7} %  worst {:>7} %  of {}\n", row, best[row],
                 percent(median), percent(values.back()), values.size());
    }
    std::sort(medians.begin(), medians.end());
    fmt::print("{:<40} {:>12}  median {:>7} %  worst {:>7} %  invalid {} of {}\n", "all", "",
               percent(medians[medians.size() / 2]), percent(medians.back()), invalid[column],
               all[column]);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) fail("usage: groma_tune_table FILE [KEY=VALUE...]");
  std::map<std::string, std::string> given = {
      {"machines", "p100x4;lassen:nodes=4"},
      {"apps", "circuit;stencil;pennant;cannon;summa;pumma;johnson;solomonik;cosma"},
      {"proposers", "guided;random"},
      {"evaluations", "10"},
      {"seeds", "5"},
      {"estimates", "0"}};
  for (int i = 2; i < argc; ++i) {
    const std::string argument = argv[i];
    const std::size_t equals = argument.find('=');
    if (equals == argument.npos || !given.contains(argument.substr(0, equals))) {
      fail("what is " + argument);
    }
    given[argument.substr(0, equals)] = argument.substr(equals + 1);
  }
  const std::string path = argv[1];
  std::set<std::string> done;
  for (const Cell& cell : read_cells(path)) done.insert(cell.key());
  for (const std::string& machine : items(given["machines"])) {
    for (const std::string& app : items(given["apps"])) {
      for (const std::string& proposer : items(given["proposers"])) {
        for (int seed = 1; seed <= std::atoi(given["seeds"].c_str()); ++seed) {
          Cell cell{machine, app, proposer, "same"};
          cell.evaluations = std::atoll(given["evaluations"].c_str());
          cell.estimates = std::atoll(given["estimates"].c_str());
          if (cell.estimates > 0) cell.judge = "other";
          cell.seed = seed;
          if (!done.insert(cell.key()).second) continue;
          cell = search(cell);
          std::ofstream(path, std::ios::app)
              << cell.key() << fmt::format(" {} {} {:.2f}\n", cell.seconds, cell.valid, cell.wall);
          fmt::print(stderr, "{} {:.6g} s, valid {}, {:.1f} s\n", cell.key(), cell.seconds,
                     cell.valid, cell.wall);
        }
      }
    }
  }
  print_tables(read_cells(path));
  return 0;
}
