// One cell of groma_tune_table: a search on an application, under its own names or random ones, by
// the embedded runtime as it is or by one with other constants and noise.
#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <sstream>
#include <variant>

#include "edit/functions.h"
#include "edit/statement.h"
#include "groma/benchmarks.h"
#include "groma/evaluators.h"
#include "groma/io.h"
#include "groma/proposers.h"
#include "groma/tune.h"
#include "tune_table.h"

namespace groma::tune_table {
namespace {

// Another name for each, drawn at random, the same wherever it stands.
class Names {
 public:
  explicit Names(std::uint64_t seed) : draws_(seed) {}

  void replace(std::string& name) {
    if (name.empty()) return;
    const auto [found, fresh] = new_.emplace(name, "");
    while (fresh && (found->second.empty() || !used_.insert(found->second).second)) {
      found->second.clear();
      for (int i = 0; i < 9; ++i) found->second += static_cast<char>('a' + draws_() % 26);
    }
    name = found->second;
  }
  void replace(std::vector<std::string>& names) {
    for (std::string& name : names) replace(name);
  }
  void replace(std::vector<AppField>& fields) {
    for (AppField& field : fields) replace(field.name);
  }
  void replace(std::vector<AppStatement>& body) {
    for (AppStatement& statement : body) {
      if (auto* launch = std::get_if<AppLaunch>(&statement.node)) {
        replace(launch->task);
        for (AppData& data : launch->data) replace(data.of);
      } else if (auto* loop = std::get_if<AppLoop>(&statement.node)) {
        replace(loop->body);
      } else if (auto* phase = std::get_if<AppPhase>(&statement.node)) {
        replace(phase->body);
      }
    }
  }

 private:
  std::mt19937_64 draws_;
  std::map<std::string, std::string> new_;
  std::set<std::string> used_;
};

// Names of tasks, regions, partitions and fields; formulas have none of these.
Application renamed(Application app, std::uint64_t seed) {
  Names names(seed);
  names.replace(app.name);
  app.description.clear();
  for (AppRegion& region : app.regions) {
    names.replace(region.name);
    names.replace(region.aliases);
    names.replace(region.fields);
  }
  for (AppPartition& partition : app.partitions) {
    names.replace(partition.name);
    names.replace(partition.aliases);
    names.replace(partition.of);
  }
  names.replace(app.top_level);
  for (AppTask& task : app.tasks) {
    names.replace(task.name);
    for (AppRequirement& requirement : task.requirements) {
      names.replace(requirement.names);
      names.replace(requirement.fields);
      names.replace(requirement.data.of);
    }
    names.replace(task.body);
  }
  return app;
}

// "circuit", "circuit:size=small", "renamed/circuit", "folder/fft3d.json:nodes=2".
Application application_of(std::string_view spec, std::uint64_t seed) {
  const bool renames = spec.starts_with(kRenamed);
  if (renames) spec.remove_prefix(kRenamed.size());
  const std::string_view name = spec.substr(0, spec.find(':'));
  const auto* benchmark = is_file(name) ? nullptr : find_benchmark(name);
  if (benchmark == nullptr && !is_file(name)) fail(fmt::format("no benchmark {}", name));
  Application app =
      benchmark != nullptr ? benchmark->make() : need(load_application(std::string(name)));
  if (name.size() < spec.size()) app = need(with_values(app, spec.substr(name.size() + 1)));
  return renames ? renamed(app, seed) : app;
}

std::string text_of_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  if (!(text << file.rdbuf())) fail("cannot read " + path);
  return text.str();
}

// The machine with every bandwidth, latency and rate another one, each by itself up to a third more
// or less; always the same. How large memories are is known of a machine, and stays.
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
    const auto change_each = [&](double Channel::*figure) {
      std::map<std::string, double> factors;  // one piece of hardware has one
      for (Channel& channel : type.channels) {
        const auto [found, fresh] = factors.emplace(channel.name, 1);
        if (fresh) change(&found->second);
        channel.*figure *= found->second;
      }
    };
    change_each(&Channel::bandwidth_bytes_per_s);
    change_each(&Channel::latency_s);
    for (MemoryGroup& memory : type.memories) change(&memory.bandwidth_bytes_per_s);
  }
  return need(Machine::make("other", "", std::move(types), machine.nodes()));
}

tuning::SearchProblem problem_of(const std::string& machine, std::string app,
                                 std::uint64_t seed = 0) {
  tuning::SearchProblem problem;
  if (app.starts_with(kPoor)) {
    app.erase(0, kPoor.size());
    problem.start = text_of_file(app.substr(0, app.find(".json")) + ".mapper");
  }
  problem.machine = std::make_shared<const Machine>(need(make_machine(machine)));
  problem.inputs.push_back(need(Workload::make(application_of(app, seed))));
  return problem;
}

std::unique_ptr<tuning::Evaluator> judge_of(const tuning::SearchProblem& problem,
                                            std::string_view judge, double noise = 0,
                                            std::uint64_t seed = 0) {
  if (judge == kSameJudge) return tuning::make_simulated_evaluator(problem.machine, problem.inputs);
  SimulateOptions options;
  options.costs = {8e-6, 450e-6, 15e-6, 3e-6, 30e-6, 8e-6};
  options.noise = noise;
  options.seed = seed;
  return tuning::make_simulated_evaluator(
      std::make_shared<const Machine>(changed(*problem.machine)), problem.inputs, options);
}

// ------------------------------------------------------------------------------------- who looks

// Says nothing of a text but by a run.
class Blind : public tuning::Evaluator {
 public:
  explicit Blind(std::unique_ptr<tuning::Evaluator> judge) : judge_(std::move(judge)) {}
  std::vector<std::string> inputs() const override { return judge_->inputs(); }
  std::string unit() const override { return judge_->unit(); }
  bool simulated() const override { return true; }
  std::string canonical(const std::string& text) const override { return judge_->canonical(text); }
  tuning::Evaluation evaluate(const tuning::EvaluationRequest& request) override {
    return judge_->evaluate(request);
  }

 private:
  std::unique_ptr<tuning::Evaluator> judge_;
};

// Has another propose until that is worth a run, as far as is known without one: it is not refused,
// was not tried and does not do what the best does. As `guided` looks by itself.
class Looking : public tuning::Proposer {
 public:
  explicit Looking(std::unique_ptr<tuning::Proposer> other) : other_(std::move(other)) {}
  std::string_view name() const override { return other_->name(); }

  std::vector<tuning::Proposal> propose(tuning::SearchRound& round) override {
    std::vector<tuning::Proposal> worth_it;
    for (int tries = 0; tries < kMostTries && worth_it.empty(); ++tries) {
      std::vector<tuning::Proposal> proposals = other_->propose(round);
      if (proposals.empty()) break;
      for (tuning::Proposal& proposal : proposals) {
        std::optional<tuning::Evaluation> known = look(round, proposal.text);
        if (known) {
          other_->learn({0, std::move(proposal), *std::move(known)});
        } else {
          worth_it.push_back(std::move(proposal));
        }
      }
    }
    return worth_it;
  }
  void learn(const tuning::Step& step) override {
    tried_.emplace(step.proposal.text, step.evaluation);
    other_->learn(step);
  }

 private:
  static constexpr int kMostTries = 10'000;

  std::optional<tuning::Evaluation> look(const tuning::SearchRound& round,
                                         const std::string& text) const {
    const auto tried = tried_.find(text);
    if (tried != tried_.end()) return tried->second;
    if (auto refused = round.evaluator().check(text, GuideDetail::kNone)) return refused;
    const tuning::Step* best = round.history().best();
    const bool same = best != nullptr && round.evaluator().acts_alike(best->proposal.text, text);
    return same ? std::optional(best->evaluation) : std::nullopt;
  }

  std::unique_ptr<tuning::Proposer> other_;
  std::map<std::string, tuning::Evaluation> tried_;
};

// -------------------------------------------------------------------------------- the enumeration

// What is decided: by task its kind of processor, by what the timed part's data are called their
// memory, and how all of them lie. The order of dimensions says nothing of data that have one.
struct Freedom {
  std::vector<std::string> tasks;
  std::vector<ProcKind> kinds;
  std::vector<std::string> regions;
  std::vector<edit::LayoutWords> layouts;
};
using Word = syntax::ConstraintWord;
const std::map<std::string, Freedom> kFreedoms = {
    {"circuit",
     {{"calculate_new_currents", "distribute_charge", "update_voltages"},
      {ProcKind::kGpu, ProcKind::kCpu},
      {"rp_private", "rp_shared", "rp_ghost", "rp_wires", "rp_times"},
      {edit::LayoutWords{{Word::kSoa}}, edit::LayoutWords{{Word::kAos}}}}},
    {"cosma",
     {{"task_4"},
      {ProcKind::kGpu},
      {"A_tiles", "B_tiles", "C_tiles"},
      {edit::LayoutWords{{Word::kSoa}, {Word::kCOrder}},
       edit::LayoutWords{{Word::kSoa}, {Word::kFOrder}},
       edit::LayoutWords{{Word::kAos}, {Word::kCOrder}},
       edit::LayoutWords{{Word::kAos}, {Word::kFOrder}}}}}};

// What `m`, the processors of the task's kind, `flat`, all of them in a line, and `i`, the point's
// number in the order of rows, make of a point.
constexpr std::pair<std::string_view, std::string_view> kMaps[] = {
    {"block",
     "  grid = flat.auto_split(0, task.ispace);\n"
     "  return grid[*task.ipoint * grid.size / task.ispace];\n"},
    {"cyclic", "  return m[i % m.size[0], i / m.size[0] % m.size[1]];\n"},
    {"linear_block", "  return flat[i * flat.volume / task.ispace.volume];\n"},
    {"block_cyclic", "  return flat[i / 2 % flat.volume];\n"},
    {"hierarchical_block",
     "  k = task.ispace.len;\n"
     "  nodes = m.decompose(0, task.ispace);\n"
     "  grid = nodes.decompose(k, (task.ispace + nodes.size[:k] - 1) / nodes.size[:k]);\n"
     "  outer = (task.ispace + grid.size[:k] - 1) / grid.size[:k];\n"
     "  inner = (outer + grid.size[k:] - 1) / grid.size[k:];\n"
     "  return grid[*task.ipoint / outer, *task.ipoint % outer / inner];\n"},
    {"reversed", "  return flat[flat.volume - 1 - i * flat.volume / task.ispace.volume];\n"},
    {"transposed",
     "  t = number(tuple(task.ipoint[-1 - d] for d in (0, 1, 2)[:task.ipoint.len]),\n"
     "             tuple(task.ispace[-1 - d] for d in (0, 1, 2)[:task.ipoint.len]));\n"
     "  return flat[t * flat.volume / task.ispace.volume];\n"},
    {"on_node_0", "  return m[0, i % m.size[1]];\n"},
};

constexpr std::string_view kNumber =
    "def number(IPoint p, ISpace s) {\n"
    "  return p.len == 1 ? p[0] : p.len == 2 ? p[0] * s[1] + p[1]\n"
    "                           : (p[0] * s[1] + p[1]) * s[2] + p[2];\n"
    "}\n";

std::string line(const edit::StatementParts& statement) {
  return statement.statement_text() + ";\n";
}

std::string map_statements(std::string_view body) {
  std::string text(kNumber);
  for (const ProcKind kind : {ProcKind::kGpu, ProcKind::kCpu}) {
    const std::string name = fmt::format("on_{}", name_of(kind));
    const edit::MappingFunction function{
        "",
        fmt::format("  flat = m.merge(0, 1);\n  i = number(task.ipoint, task.ispace);\n{}", body),
        ""};
    const edit::StatementParts map{
        .kind = MappingStatement::kIndexTaskMap, .place = kind, .function = name};
    text += edit::function_definition(function, kind, name) + line(map);
  }
  return text;
}

// Every way to take one of `options` for each of `count` things.
template <typename Option>
std::vector<std::vector<Option>> choices(std::size_t count, const std::vector<Option>& options) {
  std::vector<std::vector<Option>> all = {{}};
  for (; count > 0; --count) {
    std::vector<std::vector<Option>> longer;
    for (const auto& choice : all) {
      for (const Option& option : options) {
        longer.push_back(choice);
        longer.back().push_back(option);
      }
    }
    all = std::move(longer);
  }
  return all;
}

// Those that a processor of these kinds can address.
std::vector<MemKind> memories_of(const Machine& machine, const std::vector<ProcKind>& kinds) {
  std::vector<MemKind> memories = {MemKind::kFbmem, MemKind::kZcmem, MemKind::kSysmem,
                                   MemKind::kSockmem};
  std::erase_if(memories, [&](MemKind memory) {
    return std::none_of(kinds.begin(), kinds.end(),
                        [&](ProcKind kind) { return machine.can_address(0, kind, memory); });
  });
  return memories;
}

// Calls visit(text) for every mapping of the family.
template <typename Visit>
void for_each_mapping(const Machine& machine, const std::string& app, const Visit& visit) {
  const auto found = kFreedoms.find(app.substr(0, app.find(':')));
  if (found == kFreedoms.end()) fail("circuit and cosma can be enumerated, not " + app);
  const Freedom& free = found->second;
  for (const auto& kinds : choices(free.tasks.size(), free.kinds)) {
    std::string tasks =
        line({.tasks = {"*"}, .processors = {ProcKind::kGpu, ProcKind::kOmp, ProcKind::kCpu}});
    for (std::size_t t = 0; t < kinds.size(); ++t) {
      tasks += line({.tasks = {free.tasks[t]}, .processors = {kinds[t]}});
    }
    const auto region = [](const std::string& name, edit::Place place, MemKind memory) {
      return line({.kind = MappingStatement::kRegion,
                   .tasks = {"*"},
                   .regions = {name},
                   .place = place,
                   .memories = {memory}});
    };
    for (const auto& memories : choices(free.regions.size(), memories_of(machine, kinds))) {
      std::string regions = region("*", ProcKind::kGpu, MemKind::kFbmem) +
                            region("*", ProcKind::kCpu, MemKind::kSysmem);
      for (std::size_t r = 0; r < memories.size(); ++r) {
        regions += region(free.regions[r], {}, memories[r]);
      }
      for (const edit::LayoutWords& words : free.layouts) {
        const edit::StatementParts layout{
            .kind = MappingStatement::kLayout, .tasks = {"*"}, .regions = {"*"}, .layout = words};
        for (const auto& [name, body] : kMaps) {
          visit(fmt::format("# {}\n{}{}{}{}", name, tasks, regions, line(layout),
                            map_statements(body)));
        }
      }
    }
  }
}

void enumerate(const tuning::SearchProblem& problem, Cell* cell) {
  const auto judge = judge_of(problem, cell->judge);
  double best = HUGE_VAL;
  for_each_mapping(*problem.machine, cell->app, [&](const std::string& text) {
    const tuning::Evaluation evaluation = judge->evaluate({text});
    ++cell->evaluated;
    cell->valid += evaluation.ok() ? 1 : 0;
    best = std::min(best, evaluation.score);
  });
  if (cell->valid > 0) cell->seconds = best;
}

// Runs the mapping that experts wrote for the application.
void run_expert(const tuning::SearchProblem& problem, Cell* cell) {
  const std::string name = cell->app.substr(0, cell->app.find(':'));
  const tuning::Evaluation evaluation =
      judge_of(problem, cell->judge)->evaluate({std::string(bench::expert_mapping(name))});
  cell->seconds = evaluation.ok() ? evaluation.score : 0;
  cell->valid = evaluation.ok() ? 1 : 0;
  cell->evaluated = 1;
}

}  // namespace

Cell search(Cell cell) {
  const auto seed = static_cast<std::uint64_t>(cell.seed);
  const tuning::SearchProblem problem = problem_of(cell.machine, cell.app, seed);
  if (cell.proposer == kEnumerate) {
    enumerate(problem, &cell);
    return cell;
  }
  if (cell.proposer == kExpert) {
    run_expert(problem, &cell);
    return cell;
  }
  const bool best = cell.proposer == kBest;
  const auto judge = judge_of(problem, cell.judge);
  // Who searches for what the others are compared with hears no noise.
  auto evaluator = judge_of(problem, cell.judge, cell.estimates > 0 ? 0.05 : 0, seed);
  const auto cheap = cell.proposer.starts_with(kRehearsed)
                         ? tuning::make_rehearsed_estimator(problem.machine, problem.inputs)
                         : judge_of(problem, kSameJudge);
  const bool blind = cell.proposer.starts_with(kBlind);
  const bool looking = cell.proposer.starts_with(kLooking);
  const bool rehearsed = cell.proposer.starts_with(kRehearsed);
  const std::string name = best        ? "guided"
                           : blind     ? cell.proposer.substr(kBlind.size())
                           : looking   ? cell.proposer.substr(kLooking.size())
                           : rehearsed ? cell.proposer.substr(kRehearsed.size())
                                       : cell.proposer;
  auto proposer = need(tuning::make_proposer(name, problem, seed));
  if (blind) evaluator = std::make_unique<Blind>(std::move(evaluator));
  if (looking) proposer = std::make_unique<Looking>(std::move(proposer));
  tuning::TuneOptions options;
  options.seed = seed;
  options.compare = true;
  options.evaluate_start = false;
  options.threads = 1;
  // The first evaluation is that of the start.
  options.budget.evaluations = best ? 2 : cell.evaluations;
  options.budget.estimates = best ? cell.evaluations : cell.estimates;
  options.on_event = [&](const tuning::TuneEvent& event) {
    if (event.kind != tuning::TuneEvent::Kind::kEvaluated) return;
    ++cell.evaluated;
    cell.valid += event.step->evaluation.ok() ? 1 : 0;
  };
  tuning::Evaluator* estimator = best ? judge.get() : cell.estimates > 0 ? cheap.get() : nullptr;
  const tuning::TuneOutcome outcome =
      need(tuning::tune(problem, *evaluator, *proposer, nullptr, estimator, options));
  if (outcome.best) cell.seconds = judge->evaluate({outcome.best->proposal.text}).score;
  cell.estimated = outcome.spent.estimates;
  if (options.budget.estimates > 0 && cell.estimated == 0 && name == "guided") {
    fail("no estimate was made for " + cell.key());
  }
  return cell;
}

}  // namespace groma::tune_table
