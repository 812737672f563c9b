// The paper's comparison (Wei et al., Figures 4 and 5) in the embedded runtime: on its machine each
// of the nine benchmarks in three sizes under the experts' mapping, the default mapper and mappings
// drawn at random; how many of those are valid, why the others are not, and what `check` said of
// them beforehand; and the six matrix multiplications under every mapping function of the space.
// Prints the tables of results/paper_comparison.md; ends with 1 where check and run disagree. All
// times are simulated, the same in each run.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "arguments.h"
#include "experiment.h"
#include "groma/benchmarks.h"
#include "groma/inspect.h"
#include "groma/run.h"
#include "groma/search_space.h"
#include "paper_tables.h"

namespace {

using namespace groma;
using bench::fail;
using bench::need;

constexpr std::string_view kUsage =
    "groma_paper_comparison [MAPPINGS [SIZE...]]\n"
    "  MAPPINGS  drawn from each space; 1000 unless given\n"
    "  SIZE      small, middle, large; all three unless given\n";

constexpr std::string_view kMachine = "p100x4";

// What came of one mapping.
struct Outcome {
  double seconds = 0;        // of the timed phase; 0: it did not run
  std::string_view error;    // why not: an id of the catalogue
  bool refused = false;      // by check
  bool may_not_fit = false;  // check warned so
  bool warned = false;       // of anything
  bool ran() const { return error.empty(); }
  // What check refuses does not run; what it passes without a warning does.
  bool agrees() const { return refused ? !ran() : ran() || warned; }
};

std::string_view first_error(const Diagnostics& diags) {
  for (const Diagnostic& diagnostic : diags.all()) {
    if (diagnostic.severity == Severity::kError) return name_of(diagnostic.id);
  }
  return {};
}

Outcome outcome_of(const RunResult& result, const Diagnostics& diags) {
  Outcome outcome;
  outcome.seconds = result.ok() ? result.seconds : 0;
  if (!result.ok()) outcome.error = first_error(diags);
  if (!result.ok() && outcome.error.empty()) fail("a run failed without an error");
  return outcome;
}

Outcome try_mapping(std::string text, const Machine& machine, const Workload& workload) {
  const Source source("drawn.mapper", std::move(text));
  Diagnostics said(source), diags(source);
  check(source, &machine, &workload, said);
  // Run whatever check says of the application, to see whether it is right.
  const auto bound = check(source, &machine, diags);
  if (!bound) fail("a mapping has mistakes:\n" + render(diags));
  diags.clear();
  Outcome outcome = outcome_of(run(*bound, workload, {}, diags), diags);
  outcome.refused = said.has_errors();
  for (const Diagnostic& diagnostic : said.all()) {
    outcome.may_not_fit = outcome.may_not_fit || name_of(diagnostic.id) == "may-not-fit";
    outcome.warned = outcome.warned || diagnostic.severity == Severity::kWarning;
  }
  return outcome;
}

struct Function {
  std::string name;
  std::string text;
  Outcome outcome;
};

constexpr std::array<tuning::SearchGranularity, 2> kGrains = {
    tuning::SearchGranularity::kRegions, tuning::SearchGranularity::kArguments};
constexpr std::array<std::string_view, 2> kGrainNames = {"regions", "arguments"};

// One benchmark in one size.
struct Case {
  std::string_view name, size;
  std::string_view expert_text;
  Workload workload;
  std::vector<tuning::SearchSpace> spaces;  // by grain
  Outcome expert, default_mapper;
  std::array<std::vector<Outcome>, kGrains.size()> drawn;  // by grain, then seed
  std::vector<Function> functions;
};

// The first mapping of the space but for one function, for all index launches that can have it, and
// leaves where their parents are.
std::vector<Function> functions_of(const tuning::SearchSpace& space) {
  std::vector<std::string> names;
  for (const tuning::Decision& decision : space.decisions()) {
    if (decision.statement == MappingStatement::kIndexTaskMap &&
        decision.options.size() > names.size()) {
      names = decision.options;
    }
  }
  std::vector<Function> functions;
  for (const std::string& name : names) {
    tuning::Choice choice(space.decisions().size());
    for (std::size_t d = 0; d < choice.size(); ++d) {
      const tuning::Decision& decision = space.decisions()[d];
      const bool single = decision.statement == MappingStatement::kSingleTaskMap;
      if (!single && decision.statement != MappingStatement::kIndexTaskMap) continue;
      const auto found = std::find(decision.options.begin(), decision.options.end(), name);
      if (single) {
        choice[d] = 1;
      } else if (found != decision.options.end()) {
        choice[d] = static_cast<std::uint32_t>(found - decision.options.begin());
      }
    }
    functions.push_back({name.empty() ? "the default mapper's" : name, space.text_of(choice), {}});
  }
  return functions;
}

bool is_multiplication(std::string_view name) {
  return name != "circuit" && name != "stencil" && name != "pennant";
}

Case make_case(const Benchmark& benchmark, std::string_view size, const Machine& machine) {
  const Application app = need(with_values(benchmark.make(), fmt::format("size={}", size)));
  Case made{benchmark.name,
            size,
            bench::expert_mapping(benchmark.name),
            need(Workload::make(app)),
            {},
            {},
            {},
            {},
            {}};
  for (tuning::SearchGranularity grain : kGrains)
    made.spaces.emplace_back(machine, made.workload, grain);
  if (is_multiplication(made.name)) made.functions = functions_of(made.spaces[0]);
  return made;
}

// Calls job(i) for every i below `count`, in two threads; a line on a terminal says how far it is.
template <typename Job>
void in_threads(std::size_t count, const Job& job) {
  std::atomic<std::size_t> next = 0, done = 0;
  const auto work = [&] {
    for (std::size_t i = next++; i < count; i = next++, ++done) job(i);
  };
  std::thread first(work), second(work);
  while (isatty(2) != 0 && done < count) {
    fmt::print(stderr, "\r{} of {} runs", done.load(), count);
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
  }
  first.join();
  second.join();
  if (isatty(2) != 0) fmt::print(stderr, "\r{:40}\r", "");
}

void run_all(std::vector<Case>& cases, const std::shared_ptr<const Machine>& machine,
             std::size_t mappings) {
  for (Case& each : cases) {
    for (auto& drawn : each.drawn) drawn.resize(mappings);
    Diagnostics diags(Source("default", ""));
    each.default_mapper = outcome_of(run_default(machine, each.workload, {}, diags), diags);
    each.expert = try_mapping(std::string(each.expert_text), *machine, each.workload);
    if (!each.expert.ran()) fail(fmt::format("the expert's {} fails", each.name));
    for (Function& function : each.functions) {
      function.outcome = try_mapping(function.text, *machine, each.workload);
    }
  }
  // Cases alternate, so that both threads have long and short ones to the end.
  in_threads(cases.size() * kGrains.size() * mappings, [&](std::size_t i) {
    Case& each = cases[i % cases.size()];
    const std::size_t grain = i / cases.size() % kGrains.size();
    const std::size_t seed = i / cases.size() / kGrains.size();
    each.drawn[grain][seed] =
        try_mapping(each.spaces[grain].sample_text(seed), *machine, each.workload);
  });
}

// ---- Tables

// Throughput by the expert's; 0 of what does not run.
double relative(const Case& each, const Outcome& outcome) {
  return outcome.ran() ? each.expert.seconds / outcome.seconds : 0;
}

double best_of(const Case& each, std::size_t grain, std::size_t count) {
  const std::vector<Outcome>& drawn = each.drawn[grain];
  double best = 0;
  for (std::size_t i = 0; i < std::min(count, drawn.size()); ++i) {
    best = std::max(best, relative(each, drawn[i]));
  }
  return best;
}

double mean_of_ten(const Case& each, std::size_t grain) {
  const std::size_t count = std::min<std::size_t>(10, each.drawn[grain].size());
  double sum = 0;
  for (std::size_t i = 0; i < count; ++i) sum += relative(each, each.drawn[grain][i]);
  return sum / static_cast<double>(count);
}

std::size_t valid(const Case& each, std::size_t grain) {
  return static_cast<std::size_t>(
      std::count_if(each.drawn[grain].begin(), each.drawn[grain].end(),
                    [](const Outcome& outcome) { return outcome.ran(); }));
}

std::string milliseconds(const Outcome& outcome) {
  if (!outcome.ran()) return std::string(outcome.error);
  const double milliseconds = outcome.seconds * 1e3;
  return milliseconds < 1000 ? fmt::format("{:.4g}", milliseconds)
                             : fmt::format("{:.0f}", milliseconds);
}

void print_throughputs(const std::vector<Case>& cases, std::size_t mappings) {
  fmt::print(
      "Each figure is a throughput divided by that of the expert's mapping; larger is faster. All "
      "but the\n"
      "last column are simulated. A mapping that does not run counts as 0.\n\n"
      "| benchmark | size | expert, simulated ms | default mapper | mean of 10 random | best of 10 "
      "| best of {0} | valid of {0} | valid, `arguments` | the paper's best, measured |\n"
      "|---|---|---|---|---|---|---|---|---|---|\n",
      mappings);
  for (const Case& each : cases) {
    fmt::print("| {} | {} | {} | {:.2f} | {:.2f} | {:.2f} | {:.2f} | {} | {} | {:.2f} |\n",
               each.name, each.size, milliseconds(each.expert), relative(each, each.default_mapper),
               mean_of_ten(each, 0), best_of(each, 0, 10), best_of(each, 0, mappings),
               valid(each, 0), valid(each, 1), paper_trace(each.name)->best);
  }
}

void print_search(const std::vector<Case>& cases, const std::vector<std::string>& sizes,
                  std::size_t mappings) {
  fmt::print(
      "\nThe best of the first n random mappings: throughput by the expert's, simulated, mean "
      "over\n"
      "the benchmarks:\n\n| space | size | n = 1 | 10 | 100 | 1000 |\n|---|---|---|---|---|---|\n");
  for (std::size_t grain = 0; grain < kGrains.size(); ++grain) {
    for (const std::string& size : sizes) {
      fmt::print("| {} | {} |", kGrainNames[grain], size);
      for (std::size_t count : {1U, 10U, 100U, 1000U}) {
        double sum = 0, all = 0;
        for (const Case& each : cases) {
          if (each.size != size) continue;
          sum += best_of(each, grain, count);
          ++all;
        }
        if (count <= mappings) {
          fmt::print(" {:.2f} |", sum / all);
        } else {
          fmt::print(" - |");
        }
      }
      fmt::print("\n");
    }
  }
}

void print_validity(const std::vector<Case>& cases) {
  std::array<std::size_t, kGrains.size()> ran{}, all{};
  std::map<std::string_view, std::array<std::size_t, kGrains.size()>> errors;
  for (const Case& each : cases) {
    for (std::size_t grain = 0; grain < kGrains.size(); ++grain) {
      for (const Outcome& outcome : each.drawn[grain]) {
        ++all[grain];
        ++(outcome.ran() ? ran[grain] : errors[outcome.error][grain]);
      }
    }
  }
  const auto share = [&](const std::array<std::size_t, kGrains.size()>& counts, std::size_t grain) {
    return fmt::format(
        "{:.2f} %", 100.0 * static_cast<double>(counts[grain]) / static_cast<double>(all[grain]));
  };
  fmt::print("\nThis table covers all {} mappings of each space:\n\n", all[0]);
  fmt::print("| | regions | arguments | the paper, of 90 |\n|---|---|---|---|\n");
  fmt::print("| valid | {} | {} | 17.8 % |\n", share(ran, 0), share(ran, 1));
  for (const auto& [id, counts] : errors) {
    fmt::print("| first error `{}` | {} | {} | |\n", id, share(counts, 0), share(counts, 1));
  }
}

std::size_t disagreements(const std::vector<Case>& cases) {
  std::size_t count = 0;
  const auto look_at = [&count](const Outcome& outcome) { count += outcome.agrees() ? 0U : 1U; };
  for (const Case& each : cases) {
    look_at(each.expert);
    for (const auto& drawn : each.drawn) std::for_each(drawn.begin(), drawn.end(), look_at);
    for (const Function& function : each.functions) look_at(function.outcome);
  }
  return count;
}

void print_agreement(const std::vector<Case>& cases, const std::vector<std::string>& sizes) {
  fmt::print(
      "\nWhat `check` said before the run, and what the run did:\n\n"
      "| space | size | passed, ran | refused, did not run | `may-not-fit`, did not run | "
      "`may-not-fit`, ran | passed, did not run | refused, ran |\n"
      "|---|---|---|---|---|---|---|---|\n");
  for (std::size_t grain = 0; grain < kGrains.size(); ++grain) {
    for (const std::string& size : sizes) {
      std::array<std::size_t, 6> counts{};
      for (const Case& each : cases) {
        if (each.size != size) continue;
        for (const Outcome& outcome : each.drawn[grain]) {
          const std::size_t column = outcome.refused       ? (outcome.ran() ? 5 : 1)
                                     : outcome.may_not_fit ? (outcome.ran() ? 3 : 2)
                                                           : (outcome.ran() ? 0 : 4);
          ++counts[column];
        }
      }
      fmt::print("| {} | {} |", kGrainNames[grain], size);
      for (std::size_t count : counts) fmt::print(" {} |", count);
      fmt::print("\n");
    }
  }
}

// Functions that take the same time in every size share a line.
void print_functions(const std::vector<Case>& cases, const std::vector<std::string>& sizes) {
  fmt::print(
      "\nThe matrix multiplications by the mapping function of their index launches; simulated "
      "ms,\n"
      "the fastest of the last size first:\n\n| algorithm |");
  for (const std::string& size : sizes) fmt::print(" {} |", size);
  fmt::print(" by the expert's, {} | functions |\n|---|", sizes.back());
  for (std::size_t i = 0; i < sizes.size(); ++i) fmt::print("---|");
  fmt::print("---|---|\n");
  for (const Benchmark& benchmark : benchmarks()) {
    if (!is_multiplication(benchmark.name)) continue;
    std::vector<const Case*> of_sizes;
    for (const Case& each : cases) {
      if (each.name == benchmark.name) of_sizes.push_back(&each);
    }
    struct Line {
      double seconds = 0;  // what it is sorted by
      std::string relative;
      std::string names;
    };
    std::map<std::string, Line> lines;  // by the times as printed
    const auto add = [&](const std::string& name, const auto& outcome_in) {
      std::string times;
      for (const Case* each : of_sizes) times += " " + milliseconds(outcome_in(*each)) + " |";
      Line& line = lines[times];
      const Case& last = *of_sizes.back();
      const Outcome& outcome = outcome_in(last);
      line.seconds = outcome.ran() ? outcome.seconds : 1e300;
      line.relative = outcome.ran() ? fmt::format("{:.2f}", relative(last, outcome)) : "-";
      line.names += (line.names.empty() ? "" : ", ") + name;
    };
    add("**expert**", [](const Case& each) { return each.expert; });
    for (std::size_t f = 0; f < of_sizes.front()->functions.size(); ++f) {
      const std::string& name = of_sizes.front()->functions[f].name;
      add(f == 0 ? name : "`" + name + "`",
          [&](const Case& each) { return each.functions[f].outcome; });
    }
    std::vector<std::pair<std::string, Line>> sorted(lines.begin(), lines.end());
    std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) {
      return a.second.seconds < b.second.seconds;
    });
    for (const auto& [times, line] : sorted) {
      fmt::print("| {} |{} {} | {} |\n", benchmark.name, times, line.relative, line.names);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> sizes = bench::arguments_of(argc, argv, kUsage);
  std::size_t mappings = 1000;
  if (!sizes.empty()) {
    mappings = static_cast<std::size_t>(bench::number_of("MAPPINGS", sizes.front(), 1, kUsage));
    sizes.erase(sizes.begin());
  }
  if (sizes.empty()) sizes = {"small", "middle", "large"};

  const auto started = std::chrono::steady_clock::now();
  const auto machine = std::make_shared<const Machine>(need(make_machine(kMachine)));
  std::vector<Case> cases;
  for (const Benchmark& benchmark : benchmarks()) {
    for (const std::string& size : sizes) cases.push_back(make_case(benchmark, size, *machine));
  }
  run_all(cases, machine, mappings);

  fmt::print("{}, seeds 0 to {} of each space.\n\n", kMachine, mappings - 1);
  print_throughputs(cases, mappings);
  print_search(cases, sizes, mappings);
  print_validity(cases);
  print_agreement(cases, sizes);
  print_functions(cases, sizes);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - started;
  fmt::print(stderr, "took {:.0f} s\n", took.count());
  if (const std::size_t count = disagreements(cases); count > 0) {
    fail(fmt::format("of {} mappings check said another thing than the run did", count));
  }
}
