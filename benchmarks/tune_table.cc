// The tuner's proposers side by side in the embedded runtime, on the nine benchmarks: how far from
// the best mapping that anybody found each ends (regret). Everything is simulated: the same in each
// run. Prints the tables of results/tune_table.md, of all cells in FILE; ends with 1 where names
// count.
//
// Cells depend on the code: begin a new FILE where lib/ has changed. tune_table.h says what `best`
// and `enumerate` search for.
#include "tune_table.h"

#include <time.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <map>
#include <mutex>
#include <set>
#include <sstream>
#include <thread>

#include "arguments.h"
#include "groma/machine.h"

namespace {

using groma::bench::arguments_of;
using groma::bench::number_of;
using groma::bench::refuse;

using namespace groma::tune_table;

constexpr std::string_view kUsage =
    R"(groma_tune_table FILE [all] [KEY=VALUE...]
  machines=p100x4;lassen:nodes=4  apps=circuit;...  proposers=guided;random;...
  evaluations=10  seeds=5  estimates=0  judge=same  names=own  nodes=machine

  FILE          gets a line for each cell as soon as the cell is finished, so that a run that was
                broken off goes on; `-` keeps nothing
  all           all cells of results/tune_table.md, the most needed first; a KEY then holds for all
  estimates=N   the proposer may ask the embedded runtime N times beside its evaluations
  judge=other   the evaluations have other constants, and with estimates noise
  names=random  every name of a task, region or field is another one
  nodes=own     applications are set up for one node, not for as many as the machine has
  proposers=best;enumerate;expert  what the others are compared with
  proposers=blind/guided;looking/random  do not look, or look, before they propose
  apps=DIR/fft3d.json;poor/DIR/fft3d.json  applications in files; poor/: begins with DIR/fft3d.mapper
  proposers=rehearsed/guided estimates=1000  is given rehearsals instead of simulated runs
)";

// In this order, so that a run that is broken off has the most.
constexpr const char* kAll[] = {
    "proposers=guided;random;ccd;anneal;opentuner",
    "proposers=expert evaluations=1 seeds=1",
    "proposers=guided;random;ccd;anneal;opentuner names=random",
    "proposers=guided estimates=1000 judge=other",
    "proposers=enumerate apps=circuit;cosma evaluations=0 seeds=1",
    "proposers=best;anneal evaluations=10000 seeds=1",
    "proposers=best;anneal evaluations=10000 seeds=1 judge=other",
    "proposers=opentuner evaluations=1000",
    "proposers=blind/guided;looking/random;looking/ccd;looking/anneal;looking/opentuner",
    "proposers=opentuner;ccd;random evaluations=10000 seeds=1",
    "proposers=opentuner;ccd;random evaluations=10000 seeds=1 judge=other",
    "proposers=guided estimates=1000 judge=other names=random seeds=2",
    "proposers=anneal apps=cannon evaluations=100000 seeds=1",
    "proposers=opentuner evaluations=1000 names=random seeds=2",
};

std::vector<std::string> items(const std::string& list, char separator) {
  std::vector<std::string> all;
  std::istringstream stream(list);
  for (std::string item; std::getline(stream, item, separator);) all.push_back(item);
  return all;
}

// The application, set up for the machine's nodes.
std::string on_its_nodes(const std::string& app, const std::string& machine) {
  const std::int64_t nodes = need(groma::make_machine(machine)).node_count();
  if (nodes == 1) return app;
  return fmt::format("{}{}nodes={}", app, app.find(':') == app.npos ? ':' : ',', nodes);
}

std::vector<Cell> cells_of(const std::vector<std::string>& arguments) {
  std::map<std::string, std::string> given = {
      {"machines", "p100x4;lassen:nodes=4"},
      {"apps", "circuit;stencil;pennant;cannon;summa;pumma;johnson;solomonik;cosma"},
      {"proposers", "guided;random"},
      {"evaluations", "10"},
      {"seeds", "5"},
      {"estimates", "0"},
      {"names", "own"},
      {"judge", "same"},
      {"nodes", "machine"}};
  for (const std::string& argument : arguments) {
    const std::size_t equals = argument.find('=');
    if (equals == argument.npos || !given.contains(argument.substr(0, equals))) {
      refuse("there is no argument `" + argument + "`", kUsage);
    }
    given[argument.substr(0, equals)] = argument.substr(equals + 1);
  }
  const auto number = [&given](const char* key) { return number_of(key, given[key], 0, kUsage); };
  const std::int64_t seeds = number("seeds");
  std::vector<Cell> cells;
  for (const std::string& machine : items(given["machines"], ';')) {
    for (std::string app : items(given["apps"], ';')) {
      if (given["nodes"] == "machine") app = on_its_nodes(app, machine);
      for (const std::string& proposer : items(given["proposers"], ';')) {
        for (int seed = 1; seed <= seeds; ++seed) {
          for (const std::string& names : items(given["names"], ';')) {
            Cell& cell = cells.emplace_back();
            cell.machine = machine;
            cell.app = (names == "random" ? std::string(kRenamed) : "") + app;
            cell.proposer = proposer;
            cell.judge = given["judge"];
            cell.evaluations = number("evaluations");
            cell.estimates = number("estimates");
            cell.seed = seed;
          }
        }
      }
    }
  }
  return cells;
}

std::string line_of(const Cell& cell) {
  return fmt::format("{} {} {} {:.2f} {} {}\n", cell.key(), cell.seconds, cell.valid, cell.cpu,
                     cell.evaluated, cell.estimated);
}

// A line that has more or less is no cell: a comment, or what was broken off.
std::map<std::string, Cell> read_cells(const std::string& path) {
  std::map<std::string, Cell> cells;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string more;
    Cell cell;
    if (words >> cell.machine >> cell.app >> cell.proposer >> cell.judge >> cell.evaluations >>
            cell.estimates >> cell.seed >> cell.seconds >> cell.valid >> cell.cpu >>
            cell.evaluated >> cell.estimated &&
        !(words >> more)) {
      cells[cell.key()] = cell;
    }
  }
  return cells;
}

// Seconds that a processor has worked for this thread.
double worked() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

// Those that are not there yet, in as many threads as there are processors.
void search_all(const std::vector<Cell>& wanted, const std::string& path,
                std::map<std::string, Cell>* cells) {
  std::vector<Cell> open;
  std::set<std::string> all;
  for (const Cell& cell : wanted) {
    if (all.insert(cell.key()).second && !cells->contains(cell.key())) open.push_back(cell);
  }
  std::atomic<std::size_t> next = 0, done = all.size() - open.size();
  std::mutex mutex;
  const auto work = [&] {
    for (std::size_t i = next++; i < open.size(); i = next++) {
      const double began = worked();
      Cell cell = search(open[i]);
      cell.cpu = worked() - began;
      const std::lock_guard<std::mutex> lock(mutex);
      cells->emplace(cell.key(), cell);
      if (path != "-" && !(std::ofstream(path, std::ios::app) << line_of(cell) << std::flush)) {
        fail("cannot write " + path);
      }
      fmt::print(stderr, "{} of {}: {}", ++done, all.size(), line_of(cell));
    }
  };
  std::vector<std::thread> threads(std::max(1U, std::thread::hardware_concurrency()));
  for (std::thread& thread : threads) thread = std::thread(work);
  for (std::thread& thread : threads) thread.join();
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> arguments = arguments_of(argc, argv, kUsage);
  if (arguments.empty()) refuse("a FILE is missing", kUsage);
  const std::string path = arguments.front();
  if (path.find('=') != path.npos || path == "all") refuse("FILE comes first", kUsage);
  arguments.erase(arguments.begin());
  std::vector<Cell> wanted;
  if (!arguments.empty() && arguments.front() == "all") {
    arguments.erase(arguments.begin());
    for (const char* part : kAll) {
      std::vector<std::string> words = items(part, ' ');
      words.insert(words.end(), arguments.begin(), arguments.end());
      for (const Cell& cell : cells_of(words)) wanted.push_back(cell);
    }
  } else {
    wanted = cells_of(arguments);
  }
  std::map<std::string, Cell> cells = read_cells(path);
  // Where the last line was broken off it goes on like this, and is no cell.
  if (path != "-") std::ofstream(path, std::ios::app) << "# begun\n";
  search_all(wanted, path, &cells);

  double cpu = 0;
  std::vector<Cell> all;
  for (const auto& [key, cell] : cells) {
    all.push_back(cell);
    cpu += cell.cpu;
  }
  fmt::print(stderr, "{} cells, {:.2f} hours of one processor\n", all.size(), cpu / 3600);
  return print_tables(all) ? 0 : 1;
}
