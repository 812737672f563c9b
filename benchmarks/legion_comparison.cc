// The embedded runtime against a real Legion on this computer: does it put mappings into the right
// order? The programs of examples/legion are recorded (`groma record`), then run under mappings
// drawn by seed from the space of search_space.h, as this computer has it: processors for points,
// memories and layouts that force copies, limits, one CPU or two. Prints the table of
// docs/simulator.md.
//
//   groma_legion_comparison FOLDER [programs=cannon;johnson;circuit;stencil] [mappings=30]
//                           [rounds=5] [first=1]
//
//   mappings   of each program, the first that `check` lets pass from seed `first` on
//   rounds     runs of each, the mappings in turn; their median counts
//
// Needs the programs and the command, built with Legion, and a quiet computer. FOLDER keeps what
// was recorded, drawn and measured, so a run that was broken off goes on. The embedded runtime's
// own costs are those of its defaults times a factor, which makes the programs' times under the
// default mapper right in the geometric mean; no other run has a say in them. Where a program is
// timed, it is from its second iteration on, in both.
#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "groma/inspect.h"
#include "groma/io.h"
#include "groma/run.h"
#include "groma/search_space.h"
#include "groma/system.h"

namespace {

using namespace groma;

[[noreturn]] void fail(const std::string& why) {
  fmt::print(stderr, "legion_comparison: {}\n", why);
  std::exit(1);
}

template <typename T>
T need(Result<T> result) {
  if (!result.ok()) fail(result.error().message);
  return *std::move(result);
}

std::vector<std::string> items(const std::string& list, char separator) {
  std::vector<std::string> all;
  std::istringstream stream(list);
  for (std::string item; std::getline(stream, item, separator);) all.push_back(item);
  return all;
}

// Large enough that tasks count, small enough that hundreds of runs take minutes.
const std::map<std::string, std::string> kArguments = {
    {"cannon", "-n 500 -repeats 6"},
    {"johnson", "-n 500 -repeats 6"},
    {"circuit", "-nodes 1 -gpus 2 -superpiece 4 -npp 1000 -wpp 4000 -steps 20 -loops 10"},
    {"stencil", "-edge 1000 -loops 10"}};
constexpr const char* kMemories = "-ll:csize 3000 -ll:rsize 512 -ll:nsize 1000";

struct Recorded {
  std::string name;
  std::vector<std::string> words;  // with its arguments
  std::unique_ptr<Workload> workload;
};

// This computer with so many CPUs, and nothing that the Legion at hand has not.
std::shared_ptr<const Machine> machine_of(std::int64_t cpus) {
  std::vector<NodeType> types = need(local_machine()).node_types();
  for (NodeType& type : types) {
    const auto other = [](ProcKind kind) { return kind != ProcKind::kCpu; };
    std::erase_if(type.processors, [&](const ProcessorGroup& p) { return other(p.kind); });
    std::erase_if(type.affinities, [&](const Affinity& a) { return other(a.processor); });
    type.processors.front().count = cpus;
  }
  return std::make_shared<const Machine>(need(Machine::make("this computer", "", types, {0})));
}

struct Mapping {
  std::uint64_t seed = 0;  // 0: the default mapper
  std::int64_t cpus = 2;
  std::string text;
};

// Seconds from the second iteration on; 0 where it does not run.
double simulated(const Recorded& program, const Mapping& mapping, const RuntimeCosts& costs) {
  const Source source("drawn.mapper", mapping.text);
  Diagnostics diags(source);
  const auto bound = check(source, machine_of(mapping.cpus).get(), diags);
  if (!bound) return 0;
  const auto seconds = [&](std::int64_t iterations) {
    SimulateOptions options;
    options.costs = costs;
    options.max_iterations = iterations;
    const RunResult result = run(*bound, *program.workload, options, diags);
    return result.ok() ? result.total_seconds : 0;
  };
  const double all = seconds(INT64_MAX), one = seconds(1);
  return all > 0 && one > 0 ? all - one : 0;
}

RuntimeCosts scaled(double factor) {
  const RuntimeCosts costs;
  return {factor * costs.issue_s,  factor * costs.map_s,    factor * costs.replay_s,
          factor * costs.remote_s, factor * costs.future_s, factor * costs.copy_s};
}

// What `groma run --map` makes of the program: seconds of its timed part; 0 where it fails.
double measured(const Recorded& program, const Mapping& mapping, const std::string& folder) {
  const std::string path = fmt::format("{}/{}.{}.mapper", folder, program.name, mapping.seed);
  std::ofstream(path) << mapping.text;
  Command command;
  command.words = {GROMA_COMMAND, "run",       "--map", path, "--checks",
                   "never",       "--timeout", "120",   "--"};
  command.words.insert(command.words.end(), program.words.begin(), program.words.end());
  command.words.insert(command.words.end(), {"-ll:cpu", std::to_string(mapping.cpus)});
  const CommandOutcome outcome = need(run_command(command));
  double milliseconds = 0;
  const bool said = RE2::PartialMatch(outcome.out.text, R"(elapsed ([0-9.]+) ms)", &milliseconds);
  return outcome.end == CommandOutcome::End::kExited && outcome.code == 0 && said
             ? 1e-3 * milliseconds
             : 0;
}

Recorded recorded(const std::string& name, const std::string& folder) {
  const auto arguments = kArguments.find(name);
  if (arguments == kArguments.end()) fail("no program " + name);
  Recorded program{name, {std::string(GROMA_PROGRAMS) + "/" + name}, nullptr};
  for (const std::string& word : items(arguments->second + " " + kMemories, ' ')) {
    program.words.push_back(word);
  }
  const std::string path = folder + "/" + name + ".json";
  if (!std::filesystem::exists(path)) {
    Command command;
    command.words = {GROMA_COMMAND, "record", "--out", path, "--"};
    command.words.insert(command.words.end(), program.words.begin(), program.words.end());
    command.words.insert(command.words.end(), {"-ll:cpu", "1"});
    const CommandOutcome outcome = need(run_command(command));
    if (outcome.code != 0) fail(name + " cannot be recorded: " + outcome.err.text);
  }
  program.workload = std::make_unique<Workload>(need(Workload::make(need(load_application(path)))));
  return program;
}

// One process is no place for shards: this Legion then waits for ever (docs/legion.md).
std::string without_replication(const std::string& text) {
  std::string kept;
  for (const std::string& line : items(text, '\n')) {
    if (!line.starts_with("ControlReplicate")) kept += line + "\n";
  }
  return kept;
}

std::vector<Mapping> drawn(const Recorded& program, std::size_t count, std::uint64_t seed) {
  std::vector<Mapping> mappings = {{}};
  for (const std::uint64_t end = seed + 100'000; mappings.size() <= count && seed < end; ++seed) {
    Mapping mapping{seed, 1 + static_cast<std::int64_t>(seed % 2), ""};
    const SearchSpace space(*machine_of(mapping.cpus), *program.workload);
    mapping.text = without_replication(space.sample_text(seed));
    if (simulated(program, mapping, {}) > 0) mappings.push_back(mapping);
  }
  return mappings;
}

// ---- What was measured, in a file

using Key = std::pair<std::string, std::uint64_t>;  // program, seed
using Times = std::map<Key, std::vector<double>>;

Times read_times(const std::string& path) {
  Times times;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    Key key;
    double seconds = 0;
    if (words >> key.first >> key.second >> seconds) times[key].push_back(seconds);
  }
  return times;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

// ---- Order

struct Pair {
  std::size_t a = 0, b = 0;
  int agrees = 0;  // 1, -1; 0 where the embedded runtime sees no difference
};
struct Judged {
  std::vector<double> seconds;            // simulated
  std::vector<std::vector<double>> runs;  // measured
};

// Pairs whose middle halves of runs do not overlap.
std::vector<Pair> decidable(const Judged& judged) {
  std::vector<std::pair<double, double>> middle;
  for (std::vector<double> runs : judged.runs) {
    std::sort(runs.begin(), runs.end());
    middle.emplace_back(runs[runs.size() / 4], runs[runs.size() - 1 - runs.size() / 4]);
  }
  std::vector<Pair> pairs;
  for (std::size_t a = 0; a < middle.size(); ++a) {
    for (std::size_t b = a + 1; b < middle.size(); ++b) {
      const bool a_faster = middle[a].second < middle[b].first;
      const bool b_faster = middle[b].second < middle[a].first;
      if (!a_faster && !b_faster) continue;
      const double difference = judged.seconds[b] - judged.seconds[a];
      const bool same = std::abs(difference) <= 1e-9 * judged.seconds[a];
      pairs.push_back({a, b, same ? 0 : (difference > 0) == a_faster ? 1 : -1});
    }
  }
  return pairs;
}

double tau(const std::vector<Pair>& pairs, const std::vector<int>& weights) {
  double agreed = 0, all = 0;
  for (const Pair& pair : pairs) {
    const int weight = weights[pair.a] * weights[pair.b];
    agreed += weight * pair.agrees;
    all += weight;
  }
  return all > 0 ? agreed / all : 0;
}

void print_row(const std::string& name, const Judged& judged, std::size_t failed) {
  const std::size_t count = judged.seconds.size();
  const std::vector<Pair> pairs = decidable(judged);
  // Bootstrap over mappings: seed 1.
  std::mt19937_64 draws(1);
  std::vector<double> taus;
  for (int i = 0; i < 2000; ++i) {
    std::vector<int> weights(count);
    for (std::size_t k = 0; k < count; ++k) ++weights[draws() % count];
    taus.push_back(tau(pairs, weights));
  }
  std::sort(taus.begin(), taus.end());
  std::vector<double> ratios;
  for (std::size_t k = 0; k < count; ++k) {
    ratios.push_back(judged.seconds[k] / median(judged.runs[k]));
  }
  std::sort(ratios.begin(), ratios.end());
  const std::size_t all = count * (count - 1) / 2;
  fmt::print("| {} | {} | {} | {} of {} | {:.2f} | {:.2f} to {:.2f} | {:.2f} to {:.2f} |\n", name,
             count, failed, pairs.size(), all, tau(pairs, std::vector<int>(count, 1)),
             taus[taus.size() / 40], taus[taus.size() - 1 - taus.size() / 40],
             ratios[ratios.size() / 10], ratios[ratios.size() - 1 - ratios.size() / 10]);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) fail("usage: groma_legion_comparison FOLDER [KEY=VALUE...]");
  const std::string folder = argv[1];
  std::map<std::string, std::string> given = {{"programs", "cannon;johnson;circuit;stencil"},
                                              {"mappings", "30"},
                                              {"rounds", "5"},
                                              {"first", "1"}};
  for (int i = 2; i < argc; ++i) {
    const std::string argument = argv[i];
    const std::size_t equals = argument.find('=');
    if (equals == argument.npos || !given.contains(argument.substr(0, equals))) {
      fail("what is " + argument);
    }
    given[argument.substr(0, equals)] = argument.substr(equals + 1);
  }
  std::filesystem::create_directories(folder);
  std::vector<Recorded> programs;
  for (const std::string& name : items(given["programs"], ';')) {
    programs.push_back(recorded(name, folder));
  }
  std::vector<std::vector<Mapping>> mappings;
  for (const Recorded& program : programs) {
    mappings.push_back(drawn(program, static_cast<std::size_t>(std::stoul(given["mappings"])),
                             std::stoull(given["first"])));
  }

  // Interleaved, so that a computer that becomes slower does so for all.
  const std::string path = folder + "/runs.txt";
  Times times = read_times(path);
  const std::size_t rounds = std::stoul(given["rounds"]);
  for (std::size_t round = 0; round < rounds; ++round) {
    for (std::size_t p = 0; p < programs.size(); ++p) {
      for (const Mapping& mapping : mappings[p]) {
        std::vector<double>& known = times[{programs[p].name, mapping.seed}];
        if (known.size() > round) continue;
        known.push_back(measured(programs[p], mapping, folder));
        std::ofstream(path, std::ios::app)
            << fmt::format("{} {} {}\n", programs[p].name, mapping.seed, known.back());
        fmt::print(stderr, "round {}: {} {} on {} CPUs: {:.1f} ms\n", round + 1, programs[p].name,
                   mapping.seed, mapping.cpus, 1e3 * known.back());
      }
    }
  }

  // The factor between 1e-3 and 10 under which the default mapper's times are right.
  double low = std::log(1e-3), high = std::log(10.0);
  for (int step = 0; step < 40; ++step) {
    const double middle = (low + high) / 2;
    double off = 0;
    for (std::size_t p = 0; p < programs.size(); ++p) {
      off += std::log(simulated(programs[p], mappings[p][0], scaled(std::exp(middle))) /
                      median(times[{programs[p].name, 0}]));
    }
    (off > 0 ? high : low) = middle;
  }
  const RuntimeCosts costs = scaled(std::exp(low));
  fmt::print("The runtime's own costs: the default ones times {:.3f}.\n\n", std::exp(low));
  fmt::print(
      "| program | mappings | failed in Legion | pairs that can be told apart | tau | 95 % | "
      "simulated by measured |\n|---|---|---|---|---|---|---|\n");
  for (std::size_t p = 0; p < programs.size(); ++p) {
    Judged judged;
    std::size_t failed = 0;
    for (std::size_t m = 1; m < mappings[p].size(); ++m) {
      const std::vector<double>& runs = times[{programs[p].name, mappings[p][m].seed}];
      if (median(runs) <= 0) {
        ++failed;
        continue;
      }
      judged.runs.push_back(runs);
      judged.seconds.push_back(simulated(programs[p], mappings[p][m], costs));
    }
    if (judged.seconds.size() < 2) {
      fmt::print("| {} | {} | {} | - | - | - | - |\n", programs[p].name, judged.seconds.size(),
                 failed);
      continue;
    }
    print_row(programs[p].name, judged, failed);
  }
  return 0;
}
