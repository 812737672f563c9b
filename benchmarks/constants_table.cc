// How far the verdicts of the embedded runtime depend on doubtful constants. Every constant of
// groma/model_constants.h is set to its lowest and its highest plausible value, and all constants
// together to drawn values. The nine benchmarks run in three sizes on `p100x4`: the expert's
// mapping, the default mapper, the paper's mappings A4 to A7, and mappings drawn at random. Prints
// the tables of results/constants.md: which comparisons of two mappings change their winner, and at
// which value. All times are simulated, the same in each run.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "arguments.h"
#include "experiment.h"
#include "groma/benchmarks.h"
#include "groma/dsl_files.h"
#include "groma/inspect.h"
#include "groma/model_constants.h"
#include "groma/run.h"
#include "groma/search_space.h"

namespace {

using namespace groma;
using bench::fail;
using bench::need;

constexpr std::string_view kUsage =
    "groma_constants_table [SETTINGS [SEED [SIZE...]]]\n"
    "  SETTINGS  in which all constants are drawn from their ranges; 100 unless given\n"
    "  SEED      of these draws; 1 unless given\n"
    "  SIZE      small, middle, large; all three unless given\n";

// Random mappings drawn for each benchmark.
constexpr std::uint64_t kRandomMappings = 50;
// Two mappings are equally fast if their times differ by at most this fraction.
constexpr double kMargin = 0.02;
// The value at which a verdict changes is found to this fraction.
constexpr double kPrecision = 0.02;

// The mappings of one benchmark by name: the text, or none for the default mapper.
using Mappings = std::map<std::string, std::string>;
constexpr const char* kDefaultMapper = "default mapper";

// A comparison of two mappings, or of the best of several with one.
struct Contest {
  std::string kind;  // "expert by default mapper"
  std::vector<std::string> left;
  std::string right;
};

// One benchmark in one size.
struct Case {
  std::string_view name, size;
  Workload workload;
  Mappings mappings;
  std::vector<Contest> contests;
};

// The simulated time of each mapping in one setting; infinite if it does not run.
using Times = std::map<std::string, double>;

double seconds_of(const Case& each, const std::string& mapping, const ModelSetting& setting) {
  SimulateOptions options;
  options.costs = setting.costs;
  options.model = setting.model;
  const std::string& text = each.mappings.at(mapping);
  const Source source(mapping, text);
  Diagnostics diags(source);
  RunResult result;
  if (mapping == kDefaultMapper) {
    result = run_default(setting.machine, each.workload, options, diags);
  } else {
    const auto bound = check(source, setting.machine.get(), diags);
    if (!bound) fail("a mapping has mistakes:\n" + render(diags));
    result = run(*bound, each.workload, options, diags);
  }
  return result.ok() ? result.seconds : std::numeric_limits<double>::infinity();
}

Times times_of(const Case& each, const ModelSetting& setting) {
  Times times;
  for (const auto& [mapping, text] : each.mappings) {
    times[mapping] = seconds_of(each, mapping, setting);
  }
  return times;
}

// Returns the throughput of the left side divided by that of the right side: 0 or infinity if one
// of them does not run, not a number if neither runs.
double factor_of(const Contest& contest, const Times& times) {
  double left = std::numeric_limits<double>::infinity();
  for (const std::string& mapping : contest.left) left = std::min(left, times.at(mapping));
  return times.at(contest.right) / left;
}

// Returns who wins: 1 the left side, -1 the right side, 0 nobody.
int verdict(double factor) { return factor > 1 + kMargin ? 1 : factor < 1 - kMargin ? -1 : 0; }

const std::string& text_of(std::string_view name) {
  static std::map<std::string, std::string, std::less<>> texts;
  if (texts.empty()) {
    for (const DslFile& file : mappers()) texts.emplace(file.name, file.text);
  }
  const auto found = texts.find(name);
  if (found == texts.end()) fail(fmt::format("there is no mapping {}", name));
  return found->second;
}

// Adds the random mappings that run on the machine as it is, and their contest with the expert.
void add_random(Case& each, const ModelSetting& usual) {
  const tuning::SearchSpace space(*usual.machine, each.workload,
                                  tuning::SearchGranularity::kRegions);
  Contest contest{fmt::format("best of {} random by expert", kRandomMappings), {}, "expert"};
  for (std::uint64_t seed = 0; seed < kRandomMappings; ++seed) {
    const std::string name = fmt::format("random {}", seed);
    each.mappings[name] = space.sample_text(seed);
    if (std::isfinite(seconds_of(each, name, usual))) {
      contest.left.push_back(name);
    } else {
      each.mappings.erase(name);
    }
  }
  if (!contest.left.empty()) each.contests.push_back(std::move(contest));
}

Case make_case(const Benchmark& benchmark, std::string_view size, const ModelSetting& usual) {
  const Application app = need(with_values(benchmark.make(), fmt::format("size={}", size)));
  Case made{benchmark.name, size, need(Workload::make(app)), {}, {}};
  std::string expert = text_of(benchmark.name);
  made.mappings["expert"] = expert;
  made.mappings[kDefaultMapper] = "";
  made.contests.push_back({"expert by default mapper", {"expert"}, kDefaultMapper});
  constexpr std::string_view kCollect = "CollectMemory task_4 *;\n";
  if (const std::size_t at = expert.find(kCollect); at != std::string::npos) {
    made.mappings["keeps data"] = expert.erase(at, kCollect.size());
    made.contests.push_back(
        {"expert without `CollectMemory` by default mapper", {"keeps data"}, kDefaultMapper});
  }
  if (made.name == "circuit") {
    made.mappings["A4"] = text_of("circuit_a4");
    made.mappings["A5"] = text_of("circuit_a5");
    made.contests.push_back({"A5 by A4", {"A5"}, "A4"});
    made.contests.push_back({"A5 by expert", {"A5"}, "expert"});
  }
  if (made.name == "solomonik") {
    made.mappings["A6"] = text_of("solomonik_a6");
    made.mappings["A7"] = text_of("solomonik_a7");
    made.contests.push_back({"A7 by A6", {"A7"}, "A6"});
    made.contests.push_back({"A7 by expert", {"A7"}, "expert"});
  }
  add_random(made, usual);
  return made;
}

// A contest of a case, and what came of it.
struct Line {
  const Case* of;
  const Contest* contest;
  double usual = 0;           // the factor with all constants at their values
  std::vector<double> drawn;  // with all constants drawn
  std::vector<std::string> changed_by;
};

// A change of a verdict by one constant.
struct Flip {
  std::size_t constant;
  const Line* line;
  double end;         // the value of the constant
  double factor;      // at this value
  double changes_at;  // the value nearest to the usual one at which the verdict is another
};

void show_progress(const std::string& what) {
  if (isatty(2) != 0) fmt::print(stderr, "\r{:60}", what);
}

ModelSetting setting_with(std::size_t constant, double value) {
  const ConstantChange change{constant, value};
  return need(model_setting({&change, 1}));
}

// Returns the value between the usual one and `end` at which the verdict changes. If it changes
// several times, the result is one of these values.
double find_change(const Line& line, std::size_t constant, double end) {
  double same = model_constants()[constant].value, other = end;
  while (std::abs(other / same - 1) > kPrecision) {
    const double middle = std::sqrt(same * other);
    const ModelSetting setting = setting_with(constant, middle);
    Times times;
    for (const std::string& mapping : line.contest->left) {
      times[mapping] = seconds_of(*line.of, mapping, setting);
    }
    times[line.contest->right] = seconds_of(*line.of, line.contest->right, setting);
    const bool is_same = verdict(factor_of(*line.contest, times)) == verdict(line.usual);
    (is_same ? same : other) = middle;
  }
  return other;
}

// Calls use(line) for every line, with the times of its case in the setting.
template <typename Use>
void in_setting(std::vector<Line>& lines, const ModelSetting& setting, const Use& use) {
  const Case* timed = nullptr;
  Times times;
  for (Line& line : lines) {
    if (line.of != timed) times = times_of(*line.of, setting);
    timed = line.of;
    use(line, factor_of(*line.contest, times));
  }
}

std::vector<Flip> find_flips(std::vector<Line>& lines) {
  std::vector<Flip> flips;
  for (std::size_t i = 0; i < model_constants().size(); ++i) {
    const ModelConstant& constant = model_constants()[i];
    show_progress(fmt::format("{} of {} constants", i, model_constants().size()));
    for (const double end : {constant.lowest, constant.highest}) {
      if (std::abs(end / constant.value - 1) < 1e-9) continue;
      in_setting(lines, setting_with(i, end), [&](Line& line, double factor) {
        if (verdict(factor) == verdict(line.usual)) return;
        flips.push_back({i, &line, end, factor, find_change(line, i, end)});
        const std::string name(constant.name);
        if (line.changed_by.empty() || line.changed_by.back() != name) {
          line.changed_by.push_back(name);
        }
      });
    }
  }
  return flips;
}

// Draws all constants, each uniformly on a logarithmic scale, and runs every case.
void run_drawn(std::vector<Line>& lines, std::int64_t settings, std::int64_t seed) {
  std::mt19937_64 generator(static_cast<std::uint64_t>(seed));
  for (std::int64_t s = 0; s < settings; ++s) {
    show_progress(fmt::format("{} of {} drawn settings", s, settings));
    std::vector<ConstantChange> changes;
    for (std::size_t i = 0; i < model_constants().size(); ++i) {
      const ModelConstant& constant = model_constants()[i];
      const double share = static_cast<double>(generator() >> 11) * 0x1p-53;
      changes.push_back({i, constant.lowest * std::pow(constant.highest / constant.lowest, share)});
    }
    in_setting(lines, need(model_setting(changes)),
               [](Line& line, double factor) { line.drawn.push_back(factor); });
  }
}

// ---- Tables

std::string number(double value) {
  return value >= 1000 ? fmt::format("{:.0f}", value) : fmt::format("{:.3g}", value);
}

void print_constants() {
  fmt::print(
      "| constant | value | plausible | confidence | source | why this range |\n"
      "|---|---|---|---|---|---|\n");
  for (const ModelConstant& constant : model_constants()) {
    const std::string unit = constant.unit.empty() ? "" : fmt::format(" {}", constant.unit);
    fmt::print("| {} | {}{} | {} to {} | {} | {} | {} |\n",
               constant.group == ConstantGroup::kMachine ? std::string(constant.name)
                                                         : fmt::format("`{}`", constant.name),
               number(constant.value), unit, number(constant.lowest), number(constant.highest),
               name_of(constant.confidence), constant.source, constant.range_source);
  }
}

std::string factor_text(double factor) {
  if (std::isnan(factor)) return "neither runs";
  if (std::isinf(factor)) return "the second does not run";
  return factor == 0 ? "the first does not run" : fmt::format("{:.2f}", factor);
}

// Returns the smallest and the largest factor.
std::string range_text(const std::vector<double>& factors) {
  const auto [least, most] = std::minmax_element(factors.begin(), factors.end());
  const std::string from = factor_text(*least), to = factor_text(*most);
  return from == to ? from : fmt::format("{} to {}", from, to);
}

// Returns the kinds of comparisons, each once, in the order of the lines.
std::vector<std::string> kinds_of(const std::vector<Line>& lines) {
  std::vector<std::string> kinds;
  for (const Line& line : lines) {
    if (std::find(kinds.begin(), kinds.end(), line.contest->kind) == kinds.end()) {
      kinds.push_back(line.contest->kind);
    }
  }
  return kinds;
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : "; ") + word;
  return text;
}

void print_contests(const std::vector<Line>& lines, std::int64_t settings, std::int64_t seed) {
  fmt::print(
      "\nA factor is the throughput of the first side divided by that of the second. A verdict "
      "says "
      "which side is\n"
      "faster by more than 2 %, or that neither is. In {} settings all constants are drawn (seed "
      "{}).\n\n"
      "| comparison | benchmark | size | factor | smallest and largest factor drawn | settings "
      "with "
      "the same verdict | constants that alone change the verdict |\n"
      "|---|---|---|---|---|---|---|\n",
      settings, seed);
  for (const std::string& kind : kinds_of(lines)) {
    for (const Line& line : lines) {
      if (line.contest->kind != kind) continue;
      const auto same = std::count_if(line.drawn.begin(), line.drawn.end(), [&](double factor) {
        return verdict(factor) == verdict(line.usual);
      });
      fmt::print("| {} | {} | {} | {} | {} | {} of {} | {} |\n", kind, line.of->name, line.of->size,
                 factor_text(line.usual), range_text(line.drawn), same, line.drawn.size(),
                 joined(line.changed_by));
    }
  }
}

void print_flips(const std::vector<Flip>& flips, std::size_t lines) {
  fmt::print(
      "\nEvery change of a verdict by one constant alone:\n\n"
      "| constant | value | end of the range | comparison | benchmark | size | factor | factor at "
      "the end | the verdict changes at |\n"
      "|---|---|---|---|---|---|---|---|---|\n");
  std::map<std::size_t, std::size_t> counts;
  for (const Flip& flip : flips) {
    const ModelConstant& constant = model_constants()[flip.constant];
    ++counts[flip.constant];
    fmt::print("| {} | {} | {} | {} | {} | {} | {} | {} | {} |\n", constant.name,
               number(constant.value), number(flip.end), flip.line->contest->kind,
               flip.line->of->name, flip.line->of->size, factor_text(flip.line->usual),
               factor_text(flip.factor), number(flip.changes_at));
  }
  std::vector<std::string> idle;
  for (std::size_t i = 0; i < model_constants().size(); ++i) {
    if (!counts.contains(i)) idle.emplace_back(model_constants()[i].name);
  }
  fmt::print("\nConstants that alone change none of the {} verdicts: {}.\n", lines, joined(idle));
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> arguments = bench::arguments_of(argc, argv, kUsage);
  std::int64_t settings = 100, seed = 1;
  if (!arguments.empty()) settings = bench::number_of("SETTINGS", arguments[0], 1, kUsage);
  if (arguments.size() > 1) seed = bench::number_of("SEED", arguments[1], 0, kUsage);
  std::vector<std::string> sizes(
      arguments.begin() + static_cast<std::ptrdiff_t>(std::min<std::size_t>(2, arguments.size())),
      arguments.end());
  if (sizes.empty()) sizes = {"small", "middle", "large"};

  const auto started = std::chrono::steady_clock::now();
  const ModelSetting usual = need(model_setting());
  std::vector<Case> cases;
  for (const Benchmark& benchmark : benchmarks()) {
    for (const std::string& size : sizes) cases.push_back(make_case(benchmark, size, usual));
  }
  std::vector<Line> lines;
  for (const Case& each : cases) {
    for (const Contest& contest : each.contests) lines.push_back({&each, &contest, 0, {}, {}});
  }
  in_setting(lines, usual, [](Line& line, double factor) { line.usual = factor; });
  const std::vector<Flip> flips = find_flips(lines);
  run_drawn(lines, settings, seed);
  show_progress("");

  print_constants();
  print_contests(lines, settings, seed);
  print_flips(flips, lines.size());
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - started;
  fmt::print(stderr, "\ntook {:.0f} s\n", took.count());
}
