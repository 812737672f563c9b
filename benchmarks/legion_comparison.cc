// The embedded runtime against a real Legion on this computer: does it put mappings into the right
// order? The programs of examples/legion are recorded (`groma record`), then run under mappings
// drawn by seed from the space of search_space.h, as this computer has it: processors for points,
// memories and layouts that force copies, limits, one CPU or two. With gpus=N all mappings have two
// CPUs and N GPUs. Prints the table of results/legion_comparison.md.
//
// Needs the programs and the command, built with Legion, and a quiet computer. FOLDER keeps what
// was recorded and measured, so a run that was broken off goes on. The benchmark refuses a FOLDER
// that another build made. It also refuses one that was made with other arguments; only the number
// of rounds may be larger, and the machine may be another one. compared.txt has a line for each
// mapping. The runtime's own costs are once those of the defaults, once those that were recorded
// with the program, which no measured run has a say in. Where a program is timed, it is from its
// second iteration on, in both.
#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "arguments.h"
#include "base/median.h"
#include "groma/inspect.h"
#include "groma/io.h"
#include "groma/run.h"
#include "groma/search_space.h"
#include "groma/system.h"

namespace {

using namespace groma;

constexpr std::string_view kUsage =
    "groma_legion_comparison FOLDER [programs=cannon;johnson;circuit;stencil] [mappings=30]\n"
    "                        [rounds=5] [first=1] [gpus=0] [machine=local]\n"
    "  FOLDER    keeps what was recorded and measured\n"
    "  mappings  of each program, the first that `check` lets pass from seed `first` on\n"
    "  rounds    runs of each mapping, in turn; their median counts\n"
    "  gpus      the GPUs that mappings may use; the programs must be built for them\n"
    "  machine   the simulated computer: `local`, or the file of one (groma machines calibrate)\n";

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
const std::map<std::string, std::string> kGpuArguments = {
    {"cannon", "-n 1000 -repeats 3"},
    {"johnson", "-n 1000 -repeats 3"},
    {"circuit", "-nodes 1 -gpus 2 -superpiece 4 -npp 5000 -wpp 20000 -steps 20 -loops 10"},
    {"stencil", "-edge 1000 -loops 10"}};
constexpr const char* kMemories = "-ll:csize 3000 -ll:rsize 512 -ll:nsize 1000";
constexpr const char* kGpuMemories = " -ll:fsize 4000 -ll:zsize 1000";

struct Recorded {
  std::string name;
  std::shared_ptr<const Machine> machine;  // with all processors of this computer
  std::int64_t gpus = 0;                   // how many of them a run gets
  std::vector<std::string> words;          // with its arguments
  std::unique_ptr<Workload> workload;
  std::optional<RuntimeCosts> runtime;  // as it was recorded
};

// The program with its arguments on so many processors. A Legion without CUDA knows no flags for
// GPUs.
void add_program(const Recorded& program, std::int64_t cpus, std::int64_t gpus, Command* command) {
  std::vector<std::string>& words = command->words;
  words.insert(words.end(), program.words.begin(), program.words.end());
  words.insert(words.end(), {"-ll:cpu", std::to_string(cpus)});
  if (gpus > 0) words.insert(words.end(), {"-ll:gpu", std::to_string(gpus)});
}

// This computer with so many CPUs and GPUs, and nothing that the Legion at hand has not.
std::shared_ptr<const Machine> machine_of(const Machine& computer, std::int64_t cpus,
                                          std::int64_t gpus) {
  std::vector<NodeType> types = computer.node_types();
  const auto count_of = [&](ProcKind kind) {
    return kind == ProcKind::kCpu ? cpus : kind == ProcKind::kGpu ? gpus : 0;
  };
  for (NodeType& type : types) {
    std::erase_if(type.processors, [&](const ProcessorGroup& p) { return count_of(p.kind) == 0; });
    std::erase_if(type.affinities, [&](const Affinity& a) { return count_of(a.processor) == 0; });
    for (ProcessorGroup& group : type.processors) group.count = count_of(group.kind);
    if (gpus > 0 && type.find(ProcKind::kGpu) == nullptr) fail("the machine has no GPUs");
  }
  return std::make_shared<const Machine>(need(Machine::make("this computer", "", types, {0})));
}

struct Mapping {
  std::uint64_t seed = 0;  // 0: the default mapper
  std::int64_t cpus = 2;
  std::string text;
};

// Seconds from the second iteration on; 0 where it does not run. Without costs those recorded.
double simulated(const Recorded& program, const Mapping& mapping,
                 const std::optional<RuntimeCosts>& costs = std::nullopt) {
  const Source source("drawn.mapper", mapping.text);
  Diagnostics diags(source);
  const auto bound =
      check(source, machine_of(*program.machine, mapping.cpus, program.gpus).get(), diags);
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

// What `groma run --map` makes of the program: seconds of its timed part; nothing where it fails.
std::optional<double> measured(const Recorded& program, const Mapping& mapping,
                               const std::string& folder) {
  const std::string path = fmt::format("{}/{}.{}.mapper", folder, program.name, mapping.seed);
  std::ofstream(path) << mapping.text;
  Command command;
  command.words = {GROMA_COMMAND, "run",       "--map", path, "--checks",
                   "never",       "--timeout", "120",   "--"};
  add_program(program, mapping.cpus, program.gpus, &command);
  const CommandOutcome outcome = need(run_command(command));
  double milliseconds = 0;
  const bool said = RE2::PartialMatch(outcome.out.text, R"(elapsed ([0-9.]+) ms)", &milliseconds);
  const bool fine = outcome.end == CommandOutcome::End::kExited && outcome.code == 0;
  return fine && said && milliseconds > 0 ? std::optional(1e-3 * milliseconds) : std::nullopt;
}

Recorded program_of(const std::string& name, std::shared_ptr<const Machine> machine,
                    std::int64_t gpus) {
  const auto& known = gpus > 0 ? kGpuArguments : kArguments;
  const auto arguments = known.find(name);
  if (arguments == known.end()) fail("no program " + name);
  Recorded program{
      name, std::move(machine), gpus, {std::string(GROMA_PROGRAMS) + "/" + name}, nullptr, {}};
  const std::string memories = std::string(kMemories) + (gpus > 0 ? kGpuMemories : "");
  for (const std::string& word : items(arguments->second + " " + memories, ' ')) {
    program.words.push_back(word);
  }
  return program;
}

// What `groma record` makes of a run on one CPU and so many GPUs. The file at `path` keeps it.
Application recording_of(const Recorded& program, const std::string& path, std::int64_t gpus) {
  if (!std::filesystem::exists(path)) {
    Command command;
    command.words = {GROMA_COMMAND, "record", "--out", path, "--"};
    add_program(program, 1, gpus, &command);
    const CommandOutcome outcome = need(run_command(command));
    if (outcome.code != 0) fail(program.name + " cannot be recorded: " + outcome.err.text);
  }
  return need(load_application(path));
}

// Records the program on a CPU. With GPUs it is recorded once more, because all tasks with a
// variant for GPUs run on GPUs then: this recording has the times of these variants.
void record(Recorded& program, const std::string& folder) {
  Application app = recording_of(program, folder + "/" + program.name + ".json", 0);
  if (program.gpus > 0) {
    const Application on_gpus =
        recording_of(program, folder + "/" + program.name + ".gpu.json", program.gpus);
    for (AppTask& task : app.tasks) {
      const auto same = std::find_if(on_gpus.tasks.begin(), on_gpus.tasks.end(),
                                     [&](const AppTask& other) { return other.name == task.name; });
      if (same == on_gpus.tasks.end()) continue;
      const auto is_for_gpus = [](const AppVariant& v) { return v.kind == ProcKind::kGpu; };
      std::erase_if(task.variants, is_for_gpus);
      std::copy_if(same->variants.begin(), same->variants.end(), std::back_inserter(task.variants),
                   is_for_gpus);
    }
  }
  program.runtime = app.runtime;
  program.workload = std::make_unique<Workload>(need(Workload::make(app)));
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
    const std::int64_t cpus = program.gpus > 0 ? 2 : 1 + static_cast<std::int64_t>(seed % 2);
    Mapping mapping{seed, cpus, ""};
    const tuning::SearchSpace space(*machine_of(*program.machine, mapping.cpus, program.gpus),
                                    *program.workload);
    mapping.text = without_replication(space.sample_text(seed));
    if (simulated(program, mapping) > 0) mappings.push_back(mapping);
  }
  return mappings;
}

// ---- What was measured, in a file

using Key = std::pair<std::string, std::uint64_t>;  // program, seed
using Runs = std::vector<std::optional<double>>;    // nothing: it failed
using Times = std::map<Key, Runs>;

constexpr const char* kFailed = "failed";

Times read_times(const std::string& path) {
  Times times;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    Key key;
    std::string value;
    if (!(words >> key.first >> key.second >> value)) continue;
    times[key].push_back(value == kFailed ? std::nullopt : std::optional(std::stod(value)));
  }
  return times;
}

bool failed(const Runs& runs) {
  return runs.empty() ||
         std::any_of(runs.begin(), runs.end(), [](const auto& run) { return !run; });
}

// What the figures in a folder are of.
std::string stamp_of(const std::vector<Recorded>& programs,
                     const std::map<std::string, std::string>& given) {
  std::string stamp;
  for (const auto& [key, value] : given) {
    if (key != "rounds" && key != "machine") stamp += fmt::format("{}={}\n", key, value);
  }
  std::vector<std::string> files = {
      GROMA_COMMAND, (std::filesystem::path(GROMA_PROGRAMS).parent_path() / "libgroma_preload.so"),
      (std::filesystem::path(GROMA_PROGRAMS).parent_path() / "libgroma_preload_mapper.so")};
  for (const Recorded& program : programs) files.push_back(program.words.front());
  for (const Recorded& program : programs) {
    stamp += fmt::format("{}\n", fmt::join(program.words, " "));
  }
  for (const std::string& path : files) {
    std::uint64_t hash = 0xCBF29CE484222325U;  // FNV-1a
    std::ifstream file(path, std::ios::binary);
    if (!file) fail("cannot read " + path);
    for (std::istreambuf_iterator<char> c(file), end; c != end; ++c) {
      hash = (hash ^ static_cast<unsigned char>(*c)) * 0x100000001B3U;
    }
    stamp += fmt::format("{} {:016x}\n", path, hash);
  }
  return stamp;
}

// Refuses a folder of another build or of other arguments.
void check_stamp(const std::string& folder, const std::string& stamp) {
  const std::string path = folder + "/stamp.txt";
  if (!std::filesystem::exists(path)) {
    if (!std::filesystem::is_empty(folder)) fail(folder + " has files and no stamp.txt of ours");
    if (const auto error = write_file(path, stamp)) fail(error->message);
    return;
  }
  if (need(read_file(path, std::size_t{1} << 20)) != stamp) {
    fail(folder + " is of another build or of other arguments: name another folder");
  }
}

// ---- Order

struct Pair {
  std::size_t a = 0, b = 0;
  int agrees = 0;  // 1, -1; 0 where the embedded runtime sees no difference
};
struct Judged {
  std::vector<double> usual, recorded;    // simulated, by whose costs of the runtime
  std::vector<std::vector<double>> runs;  // measured
  std::vector<std::int64_t> cpus;
  std::vector<std::uint64_t> seeds;
};

// Pairs whose middle halves of runs do not overlap; `alike`: of mappings on as many CPUs.
std::vector<Pair> decidable(const Judged& judged, const std::vector<double>& seconds, bool alike) {
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
      if (alike && judged.cpus[a] != judged.cpus[b]) continue;
      const double difference = seconds[b] - seconds[a];
      const bool same = std::abs(difference) <= 1e-9 * seconds[a];
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

// Kendall's tau and the interval of 95 % by a bootstrap over mappings, seed 1.
std::string tau_words(const std::vector<Pair>& pairs, std::size_t count) {
  if (pairs.empty()) return "-";
  std::mt19937_64 draws(1);
  std::vector<double> taus;
  for (int i = 0; i < 2000; ++i) {
    std::vector<int> weights(count);
    for (std::size_t k = 0; k < count; ++k) ++weights[draws() % count];
    taus.push_back(tau(pairs, weights));
  }
  std::sort(taus.begin(), taus.end());
  return fmt::format("{:.2f} ({:.2f} to {:.2f})", tau(pairs, std::vector<int>(count, 1)),
                     taus[taus.size() / 40], taus[taus.size() - 1 - taus.size() / 40]);
}

// A line for each mapping: what to look at where the order is wrong.
std::string lines_of(const std::string& name, const Judged& judged) {
  std::string lines;
  for (std::size_t k = 0; k < judged.runs.size(); ++k) {
    lines += fmt::format("{} {} {} {:.6f} {:.6f}\n", name, judged.seeds[k], judged.cpus[k],
                         median(judged.runs[k]), judged.recorded[k]);
  }
  return lines;
}

void print_row(const std::string& name, const Judged& judged, std::size_t failed) {
  const std::size_t count = judged.runs.size();
  if (count < 2) {
    fmt::print("| {} | {} | {} | - | - | - | - | - | - | - |\n", name, count, failed);
    return;
  }
  std::size_t same_cpus = 0;
  std::vector<double> ratios;
  for (std::size_t k = 0; k < count; ++k) {
    ratios.push_back(judged.recorded[k] / median(judged.runs[k]));
    for (std::size_t l = 0; l < k; ++l) same_cpus += judged.cpus[k] == judged.cpus[l] ? 1U : 0U;
  }
  std::sort(ratios.begin(), ratios.end());
  const auto words = [&](const std::vector<double>& seconds, bool alike) {
    return tau_words(decidable(judged, seconds, alike), count);
  };
  fmt::print("| {} | {} | {} | {} of {} | {} | {} | {} of {} | {} | {} | {:.2f} to {:.2f} |\n",
             name, count, failed, decidable(judged, judged.usual, false).size(),
             count * (count - 1) / 2, words(judged.usual, false), words(judged.recorded, false),
             decidable(judged, judged.usual, true).size(), same_cpus, words(judged.usual, true),
             words(judged.recorded, true), ratios[ratios.size() / 10],
             ratios[ratios.size() - 1 - ratios.size() / 10]);
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> arguments = bench::arguments_of(argc, argv, kUsage);
  if (arguments.empty()) bench::refuse("a FOLDER is missing", kUsage);
  const std::string& folder = arguments.front();
  if (folder.find('=') != folder.npos) bench::refuse("FOLDER comes first", kUsage);
  std::map<std::string, std::string> given = {{"programs", "cannon;johnson;circuit;stencil"},
                                              {"mappings", "30"},
                                              {"rounds", "5"},
                                              {"first", "1"},
                                              {"gpus", "0"},
                                              {"machine", "local"}};
  for (std::size_t i = 1; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    const std::size_t equals = argument.find('=');
    if (equals == argument.npos || !given.contains(argument.substr(0, equals))) {
      bench::refuse("there is no argument `" + argument + "`", kUsage);
    }
    given[argument.substr(0, equals)] = argument.substr(equals + 1);
  }
  const auto number = [&given](const char* key, std::int64_t least = 1) {
    return static_cast<std::size_t>(bench::number_of(key, given[key], least, kUsage));
  };
  const std::size_t count = number("mappings"), rounds = number("rounds"), first = number("first");
  const auto gpus = static_cast<std::int64_t>(number("gpus", 0));
  // Loads all GPU code at the start of a program, not in the timed part.
  if (gpus > 0) setenv("CUDA_MODULE_LOADING", "EAGER", /*overwrite=*/0);
  std::filesystem::create_directories(folder);
  const auto computer = std::make_shared<const Machine>(need(load_machine(given["machine"])));
  std::vector<Recorded> programs;
  for (const std::string& name : items(given["programs"], ';')) {
    programs.push_back(program_of(name, computer, gpus));
  }
  check_stamp(folder, stamp_of(programs, given));
  for (Recorded& program : programs) record(program, folder);
  std::vector<std::vector<Mapping>> mappings;
  for (const Recorded& program : programs) {
    mappings.push_back(drawn(program, count, first));
  }

  // Interleaved, so that a computer that becomes slower does so for all.
  const std::string path = folder + "/runs.txt";
  Times times = read_times(path);
  for (std::size_t round = 0; round < rounds; ++round) {
    for (std::size_t p = 0; p < programs.size(); ++p) {
      for (const Mapping& mapping : mappings[p]) {
        Runs& known = times[{programs[p].name, mapping.seed}];
        if (known.size() > round) continue;
        known.push_back(measured(programs[p], mapping, folder));
        const std::string value = known.back() ? fmt::format("{}", *known.back()) : kFailed;
        std::ofstream(path, std::ios::app)
            << fmt::format("{} {} {}\n", programs[p].name, mapping.seed, value);
        fmt::print(stderr, "round {}: {} {} on {} CPUs: {}\n", round + 1, programs[p].name,
                   mapping.seed, mapping.cpus, value);
      }
    }
  }

  fmt::print("machine: {}\n", computer->description());
  for (const Recorded& program : programs) {
    const std::optional<RuntimeCosts>& costs = program.runtime;
    if (!costs) fmt::print("{}: no costs of the runtime were recorded.\n", program.name);
    if (costs) {
      fmt::print("{}: the runtime takes {:.1f} us to map a task, {:.1f} us to launch something.\n",
                 program.name, 1e6 * costs->map_s, 1e6 * costs->issue_s);
    }
  }
  fmt::print(
      "\n| program | mappings | failed in Legion | pairs that can be told apart | tau, default "
      "costs "
      "| tau, recorded costs | of these on as many CPUs | tau, default costs | tau, recorded costs "
      "| simulated by measured |\n|---|---|---|---|---|---|---|---|---|---|\n");
  std::string compared = "program mapping CPUs measured_s simulated_s\n";
  for (std::size_t p = 0; p < programs.size(); ++p) {
    Judged judged;
    std::vector<std::uint64_t> failures;
    for (std::size_t m = 0; m < mappings[p].size(); ++m) {
      const Mapping& mapping = mappings[p][m];
      const Runs& runs = times[{programs[p].name, mapping.seed}];
      if (failed(runs)) failures.push_back(mapping.seed);
      if (failed(runs) || mapping.seed == 0) continue;
      std::vector<double>& values = judged.runs.emplace_back();
      for (const std::optional<double>& run : runs) values.push_back(*run);
      judged.cpus.push_back(mapping.cpus);
      judged.seeds.push_back(mapping.seed);
      judged.recorded.push_back(simulated(programs[p], mapping));
      judged.usual.push_back(simulated(programs[p], mapping, RuntimeCosts{}));
    }
    for (const std::uint64_t seed : failures) {
      fmt::print(stderr, "{}: a run of {} failed; it is left out\n", programs[p].name,
                 seed == 0 ? "the default mapper" : fmt::format("{}.mapper", seed));
    }
    const auto drawn_failed = std::count_if(failures.begin(), failures.end(),
                                            [](std::uint64_t seed) { return seed != 0; });
    print_row(programs[p].name, judged, static_cast<std::size_t>(drawn_failed));
    compared += lines_of(programs[p].name, judged);
  }
  if (const auto error = write_file(folder + "/compared.txt", compared)) fail(error->message);
  return 0;
}
