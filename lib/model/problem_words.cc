// Describes machines, applications and decisions in words, for the prompts of a language model.
#include "model/problem_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "app/data.h"
#include "base/saturating.h"
#include "explain/explain_query.h"
#include "explain/words.h"
#include "groma/explain.h"
#include "groma/inspect.h"
#include "groma/syntax.h"
#include "syntax/lexer.h"

namespace groma::tuning {
namespace {

// Limits on the tasks of an application, on the regions of a task, and on the different launches of
// a task that a prompt describes.
constexpr std::size_t kMaxTasks = 256, kMaxParts = 16, kMaxLaunches = 4;
constexpr std::size_t kMaxNodeTypes = 4;
// Limit on the bytes that describe the decisions of a mapping, since they are only a part of a
// prompt.
constexpr std::size_t kMaxDecisions = 16'000;

// Returns a number of bytes in words: "16 GiB", "512 MiB".
std::string size_words(double bytes) {
  constexpr double kMebi = 1 << 20, kGibi = 1 << 30;
  return bytes >= kGibi ? fmt::format("{:.4g} GiB", bytes / kGibi)
                        : fmt::format("{:.4g} MiB", bytes / kMebi);
}

// Describes the processors and memories of one node: "4 GPU, 16 CPU, FBMEM 16 GiB". Memories
// without capacity are left out.
std::string node_words(const NodeType& node) {
  std::string words;
  const auto add = [&](const std::string& part) { words += (words.empty() ? "" : ", ") + part; };
  for (const ProcessorGroup& group : node.processors) {
    add(fmt::format("{} {}", group.count, name_of(group.kind)));
  }
  for (const MemoryGroup& group : node.memories) {
    if (group.capacity_bytes <= 0) continue;
    const std::string size = size_words(static_cast<double>(group.capacity_bytes));
    add(group.count == 1 ? fmt::format("{} {}", name_of(group.kind), size)
                         : fmt::format("{} {} of {} each", group.count, name_of(group.kind), size));
  }
  return words;
}

// Returns true if mappings often choose this kind of memory for data.
bool is_common(MemKind memory) {
  return memory == MemKind::kSysmem || memory == MemKind::kSockmem || memory == MemKind::kZcmem ||
         memory == MemKind::kFbmem;
}

// Describes how fast the processors of a node reach its memories, and how fast data moves between
// memories: "GPU-FBMEM 732, GPU-ZCMEM 16; copies: FBMEM-SYSMEM 16, ..., between nodes 12". The
// numbers are GB/s. Channels of the same kind with the same rate stand together.
std::string bandwidth_words(const NodeType& node) {
  std::vector<std::string> access, links;
  for (const Affinity& affinity : node.affinities) {
    if (!is_common(affinity.memory)) continue;
    access.push_back(fmt::format("{}-{} {:.3g}", name_of(affinity.processor),
                                 name_of(affinity.memory), affinity.bandwidth_bytes_per_s / 1e9));
  }
  std::map<std::pair<Channel::Scope, double>, std::vector<std::string>> pairs;
  std::map<Channel::Scope, std::size_t> rates;
  for (const Channel& channel : node.channels) {
    if (!is_common(channel.from) || !is_common(channel.to)) continue;
    const auto [at, is_new] =
        pairs.try_emplace({channel.scope, channel.bandwidth_bytes_per_s / 1e9});
    at->second.push_back(fmt::format("{}-{}", name_of(channel.from), name_of(channel.to)));
    if (is_new) ++rates[channel.scope];
  }
  for (const auto& [key, of] : pairs) {
    constexpr std::string_view kWhere[] = {"", " of two processors", " between nodes"};
    const bool is_only = rates[key.first] == 1 && of.size() > 1;
    links.push_back(fmt::format("{}{} {:.3g}",
                                is_only ? "any memories" : fmt::format("{}", fmt::join(of, " ")),
                                kWhere[static_cast<std::size_t>(key.first)], key.second));
  }
  return fmt::format("processors reach {}; copies: {}", fmt::join(access, ", "),
                     fmt::join(links, ", "));
}

// Returns how many MB one point of a launch accesses through a region requirement. Returns nullopt
// if the application does not describe the data.
std::optional<double> megabytes(const app::Data& data, const app::RequirementData& where,
                                const app::Requirement& requirement) {
  if (where.kind == app::RequirementData::Kind::kUnknown) return std::nullopt;
  double bytes = 0;
  for (const AppField& field : requirement.fields) bytes += static_cast<double>(field.bytes);
  if (where.kind == app::RequirementData::Kind::kRegion) {
    return bytes * static_cast<double>(data.regions[where.index].box.volume()) / 1e6;
  }
  // The subregion in the middle of a partition is typical, because it has neighbours on all sides.
  const app::Partition& partition = data.partitions[where.index];
  Point color = Point::zeros(partition.colors.dimensions());
  for (int d = 0; d < color.dimensions(); ++d) color[d] = partition.colors.extents[d] / 2;
  app::FormulaFault fault = app::FormulaFault::kNone;
  const std::int64_t points = app::points_of(data, partition, color, fault);
  if (fault != app::FormulaFault::kNone) return std::nullopt;
  return bytes * static_cast<double>(points) / 1e6;
}

// Returns the form of a launch: "of a single task", "of 8x8 points".
std::string form_words(const app::DistinctLaunch& use) {
  if (!use.domain) return "of a single task";
  std::string form = use.domain->points ? fmt::format("of {} of ", use.domain->count()) : "of ";
  for (int d = 0; d < use.domain->box.dimensions(); ++d) {
    form += fmt::format("{}{}", d == 0 ? "" : "x", use.domain->box.extents[d]);
  }
  return form + " points";
}

// Lists the different launches of a task, with their number and with the launching task if it is
// not the top-level task: "1 launch of a single task, 50 launches of 8x8 points". The number is
// left out if it is unknown.
std::string launches_words(const app::Data& data, const TaskLaunches& uses) {
  std::vector<std::pair<std::string, std::int64_t>> forms;
  for (const app::DistinctLaunch& use : uses.launches) {
    std::string form = form_words(use);
    if (use.parent >= 0 && use.parent != data.top_level) {
      form += fmt::format(" by `{}`", data.tasks[static_cast<std::size_t>(use.parent)].name);
    }
    const auto same = std::find_if(forms.begin(), forms.end(),
                                   [&](const auto& other) { return other.first == form; });
    if (same != forms.end()) {
      same->second = saturating_add(same->second, use.times);
    } else {
      forms.emplace_back(std::move(form), use.times);
    }
  }
  std::vector<std::string> words;
  for (std::size_t i = 0; i < std::min(forms.size(), kMaxLaunches); ++i) {
    const std::int64_t times = forms[i].second;
    words.push_back(fmt::format("{}{} {}", times > 0 ? fmt::format("{} ", times) : "",
                                times == 1 ? "launch" : "launches", forms[i].first));
  }
  if (forms.size() > kMaxLaunches) {
    words.push_back(fmt::format("{} other forms", forms.size() - kMaxLaunches));
  }
  return fmt::format("{}", fmt::join(words, ", "));
}

// Returns the layouts that variants demand for a region requirement: "GPU demands C_order". Returns
// an empty text if none of the machine's kinds demands one.
std::string demand_words(const app::Task& task, std::size_t position, const Machine& machine) {
  // The kinds of processors by what their variants demand.
  std::map<std::string, std::vector<std::string_view>> kinds;
  for (const app::Variant& variant : task.variants) {
    if (!machine.has(variant.kind)) continue;
    for (const LayoutDemand& demand : variant.demands) {
      if (demand.requirement != position) continue;
      std::vector<std::string> words;
      if (demand.fields) words.emplace_back(*demand.fields == FieldOrder::kSoa ? "SOA" : "AOS");
      if (demand.dimensions) {
        words.emplace_back(*demand.dimensions == DimensionOrder::kC ? "C_order" : "F_order");
      }
      if (demand.align_op != AlignOp::kNone) {
        words.push_back(fmt::format("an alignment of {} bytes", demand.align_bytes));
      }
      if (demand.memory) words.emplace_back(name_of(*demand.memory));
      if (demand.exact) words.emplace_back("Exact");
      if (!words.empty()) {
        kinds[fmt::format("{}", fmt::join(words, " "))].push_back(name_of(variant.kind));
      }
    }
  }
  std::vector<std::string> demands;
  for (const auto& [words, of] : kinds) {
    demands.push_back(
        fmt::format("{} demand{} {}", fmt::join(of, " and "), of.size() == 1 ? "s" : "", words));
  }
  return fmt::format("{}", fmt::join(demands, ", "));
}

// Returns the names by which a mapping statement may refer to the data of region requirement `r`,
// and adds the text `coordinates` after them. If the data has no names, returns the position of the
// requirement, which a statement may use too.
std::string region_words(const TaskLaunches& uses, std::size_t r,
                         std::string_view coordinates = "") {
  std::vector<std::string> names;
  for (const app::LaunchNames& launch : uses.name_lists) {
    if (launch[r].empty() || names.size() == kMaxLaunches) continue;
    const std::string name = syntax::name_as_written(launch[r].front()).value_or("");
    const bool known = std::find(names.begin(), names.end(), name) != names.end();
    if (!name.empty() && !known) names.push_back(name);
  }
  if (names.empty()) return fmt::format("position {}", r);
  std::string words = fmt::format("{}{}", fmt::join(names, " or "), coordinates);
  // Feedback about copies names the whole region, which is the last name.
  const app::LaunchNames& launch = uses.name_lists.front();
  if (launch[r].size() > 1) words += fmt::format(" (part of {})", harmless(launch[r].back()));
  return words;
}

// Returns the colour of the piece that a requirement of a task uses at one point of its launch,
// with the loop variables of the launching task at 0. Returns nullopt if a formula has no value
// there.
std::optional<Point> color_at(const app::Data& data, const app::DistinctLaunch& use,
                              const app::RequirementData& where, const Point& point) {
  if (where.from == app::RequirementData::Color::kPoint) return point;
  const auto parent = static_cast<std::size_t>(use.parent);
  std::vector<std::int64_t> frame(static_cast<std::size_t>(data.tasks[parent].frame_size));
  for (int d = 0; d < point.dimensions(); ++d) {
    frame[static_cast<std::size_t>(use.launch->point_slot) + static_cast<std::size_t>(d)] =
        point[d];
  }
  app::FormulaFault fault = app::FormulaFault::kNone;
  std::vector<std::int64_t> arguments;
  for (const app::CompiledFormula& code : use.launch->arguments) {
    arguments.push_back(code.value(frame, fault));
  }
  const std::vector<std::int64_t>& variables =
      where.from == app::RequirementData::Color::kFrame ? frame : arguments;
  Point color = Point::zeros(static_cast<int>(where.color.size()));
  for (std::size_t d = 0; d < where.color.size(); ++d) {
    color[static_cast<int>(d)] = where.color[d].value(variables, fault);
  }
  return fault == app::FormulaFault::kNone ? std::optional(color) : std::nullopt;
}

// Returns which coordinates of a point select the piece of a partition that a requirement uses:
// "[x,z]". Points that differ only in the others share the piece. Returns an empty text if all
// coordinates do, or if this is unknown.
std::string selecting_coordinates(const app::Data& data, const app::DistinctLaunch& use,
                                  const app::RequirementData& where) {
  constexpr std::string_view kNames[] = {"x", "y", "z", "w"};
  if (!use.domain || use.domain->points || use.launch == nullptr || use.parent < 0 ||
      where.kind != app::RequirementData::Kind::kPartition || use.domain->count() == 0 ||
      use.domain->box.dimensions() > static_cast<int>(std::size(kNames))) {
    return "";
  }
  const auto first = color_at(data, use, where, use.domain->box.lower);
  if (!first) return "";
  std::vector<std::string_view> selecting;
  bool all = true;
  for (int d = 0; d < use.domain->box.dimensions(); ++d) {
    if (use.domain->box.extents[d] < 2) continue;
    Point next = use.domain->box.lower;
    ++next[d];
    const auto color = color_at(data, use, where, next);
    if (!color) return "";
    if (*color == *first) {
      all = false;
    } else {
      selecting.push_back(kNames[d]);
    }
  }
  return all ? "" : fmt::format("[{}]", fmt::join(selecting, ","));
}

// Returns the names of the fields that a requirement uses: " {vx vy}". Returns an empty text if its
// region has only one field or is unknown.
std::string field_words(const app::Data& data, const app::RequirementData& where) {
  constexpr std::size_t kFields = 6;
  if (where.kind == app::RequirementData::Kind::kUnknown) return "";
  const std::vector<AppField>& all = data.regions[where.region].fields;
  if (all.size() < 2) return "";
  std::vector<std::string> names;
  for (std::uint32_t field : where.fields) {
    if (names.size() == kFields) {
      names.push_back(fmt::format("and {} more", where.fields.size() - kFields));
      break;
    }
    names.push_back(harmless(all[field].name));
  }
  return fmt::format(" {{{}}}", fmt::join(names, " "));
}

// Describes a task in one line: its name, the processor kinds of its variants, its launches, and
// its regions with privileges and MB.
std::string task_words(const app::Data& data, const app::Task& task, const TaskLaunches& uses,
                       const Machine& machine, const std::string& name) {
  std::string kinds;
  for (const app::Variant& variant : task.variants) {
    if (!machine.has(variant.kind)) continue;
    kinds += fmt::format("{}{}{}", kinds.empty() ? "" : " ", name_of(variant.kind),
                         variant.inner ? " (inner)" : "");
  }
  std::string line = fmt::format("{} | {} | {} |", name, kinds, launches_words(data, uses));
  // A requirement without fields or access gets no instance, so a mapping decides nothing about it.
  const auto is_decided = [](const app::Requirement& requirement) {
    return !requirement.fields.empty() && requirement.privilege != Privilege::kNoAccess;
  };
  std::set<std::string> demands;
  for (std::size_t r = 0; r < std::min(task.requirements.size(), kMaxParts); ++r) {
    if (is_decided(task.requirements[r])) demands.insert(demand_words(task, r, machine));
  }
  for (std::size_t r = 0; r < task.requirements.size(); ++r) {
    const app::Requirement& requirement = task.requirements[r];
    if (!is_decided(requirement)) continue;
    if (r == kMaxParts) {
      line += fmt::format(" and {} more", task.requirements.size() - r);
      break;
    }
    const app::DistinctLaunch& use = uses.launches.front();
    const app::RequirementData& where = app::data_of_requirement(task, use.launch, r);
    line += fmt::format("{} {}{} {}", line.ends_with('|') ? "" : ",",
                        region_words(uses, r, selecting_coordinates(data, use, where)),
                        field_words(data, where), name_of(requirement.privilege));
    if (const auto size = megabytes(data, where, requirement)) {
      line += fmt::format(" {:.3g}", *size);
    }
    const std::string demand = demand_words(task, r, machine);
    if (demands.size() > 1 && !demand.empty()) line += fmt::format(" ({})", demand);
  }
  // If all regions have the same demands, these stand once, at the end.
  const bool has_common_demand = demands.size() == 1 && !demands.begin()->empty();
  return has_common_demand ? line + " | " + *demands.begin() : line;
}

// Describes the memory and the layout that the mapping chooses for one region requirement.
std::string requirement_words(const ExplainedRequirement& requirement) {
  const std::string name = requirement.names.empty() ? fmt::format("{}", requirement.position)
                                                     : requirement.names.front();
  if (requirement.is_virtual) return name + " virtual";
  const auto taken = std::find_if(
      requirement.memories.begin(), requirement.memories.end(),
      [](const auto& memory) { return memory.state == ExplainedMemory::State::kTaken; });
  if (taken == requirement.memories.end()) return name + " nowhere";
  return fmt::format("{} {} {}", name, name_of(taken->memory), layout_words(taken->layout));
}

// Describes where the points of a launch, or a single task, go, and how evenly. `by_replicated` is
// true if the launching task is replicated.
std::string launch_words(const ExplainedLaunch& launch, ProcKind kind, const Machine& machine,
                         bool by_replicated) {
  std::string words = launch.is_index ? "points " : "a single task ";
  if (launch.function.empty()) {
    const bool has_nodes = launch.is_index && machine.node_count() > 1 && !launch.stays_on_node;
    const char* const nodes = !has_nodes      ? ""
                              : by_replicated ? ", the points dealt to the nodes in turn"
                                              : ", node by node";
    words += fmt::format("by the default mapper ({}{})", placement_words(launch, kind), nodes);
  } else {
    words += fmt::format("by `{}`", launch.function);
  }
  if (launch.example) {
    words += fmt::format(", for example to node {}, {} {}", launch.example->node,
                         name_of(launch.example->kind), launch.example->index);
  }
  if (!launch.loads) return words;
  const ExplainedLoads& loads = *launch.loads;
  words += fmt::format(", {} of {} processors", loads.used, loads.processors);
  if (machine.node_count() > 1) {
    words += fmt::format(" on {} of {} nodes", loads.nodes_used, machine.node_count());
  }
  words += " used";
  // The mean over all processors shows how much longer the busiest one works.
  const double mean = static_cast<double>(loads.points) / static_cast<double>(loads.processors);
  if (static_cast<double>(loads.max) >= 1.5 * mean && loads.max > 1) {
    words += fmt::format(", one of them with {} points (mean {:.2g})", loads.max, mean);
  }
  return words;
}

// Describes the decisions about a task, without its name. `replicated` has the names of the tasks
// that are replicated.
std::string decision_words(const ExplainedTask& task, const Machine& machine,
                           const std::set<std::string>& replicated) {
  if (!task.kind.kind) return "runs nowhere";
  std::string words(name_of(*task.kind.kind));
  std::set<std::string> said;
  for (const ExplainedRequirement& requirement : task.requirements) {
    if (!requirement.is_mapped || said.size() == kMaxParts) continue;
    const std::string what = requirement_words(requirement);
    if (said.insert(what).second) words += "; " + what;
  }
  said.clear();
  for (const ExplainedLaunch& launch : task.launches) {
    if (said.size() == kMaxLaunches) break;
    const std::string where =
        launch_words(launch, *task.kind.kind, machine, replicated.contains(launch.parent));
    if (said.insert(where).second) words += "; " + where;
  }
  if (task.limit > 0) words += "; " + instance_limit_words(task.limit, task.limit_scope);
  if (task.replicated) words += "; replicated";
  if (!task.why_not_replicated.empty()) words += "; not replicated: " + task.why_not_replicated;
  if (task.steal) words += "; " + steal_words(task.steal);
  return words;
}

// Returns true if a loop of this body, or of an inner body, is traced.
bool has_traced_loop(const app::Body& body) {
  return std::any_of(body.begin(), body.end(), [](const app::Statement& statement) {
    if (const auto* loop = std::get_if<app::Loop>(&statement.node)) {
      return loop->traced || has_traced_loop(loop->body);
    }
    const auto* phase = std::get_if<app::Phase>(&statement.node);
    return phase != nullptr && has_traced_loop(phase->body);
  });
}
bool has_traced_loop(const app::Data& data) {
  return std::any_of(data.tasks.begin(), data.tasks.end(),
                     [](const app::Task& task) { return has_traced_loop(task.body); });
}

}  // namespace

// Nodes of the same type are counted together. At most kMaxNodeTypes types are described.
std::string describe_machine(const Machine& machine) {
  const std::int64_t nodes = machine.node_count();
  std::string words = fmt::format("{} node{}", nodes, nodes == 1 ? "" : "s");
  // Most machines have equal nodes, which one sentence describes.
  if (machine.node_types().size() == 1) {
    return fmt::format("{}{} with {}", words, nodes == 1 ? "" : ", each",
                       node_words(machine.node_types().front()));
  }
  for (std::size_t type = 0; type < std::min(machine.node_types().size(), kMaxNodeTypes); ++type) {
    const auto of_type = std::count(machine.nodes().begin(), machine.nodes().end(), type);
    words += fmt::format("; {} with {}", of_type, node_words(machine.node_types()[type]));
  }
  return words;
}

std::string describe_bandwidths(const Machine& machine) {
  std::string words;
  for (std::size_t type = 0; type < std::min(machine.node_types().size(), kMaxNodeTypes); ++type) {
    words += fmt::format("BANDWIDTHS in GB/s: {}\n", bandwidth_words(machine.node_types()[type]));
  }
  return words;
}

// Leaves out tasks that the application does not launch, and tasks whose names a mapping statement
// cannot write.
AppDescription describe_application(const Workload& app, const Machine& machine) {
  AppDescription words;
  words.name = app.name();
  for (const auto& [name, value] : app.values()) {
    words.values += fmt::format("{}{}={}", words.values.empty() ? "" : " ", name, value);
  }
  const app::Data& data = app.data();
  const RuntimeCosts costs = data.runtime.value_or(RuntimeCosts{});
  words.runtime_costs = fmt::format(
      "mapping a task costs {}{}; each node maps one task after the other",
      seconds_words(costs.map_s),
      has_traced_loop(data)
          ? fmt::format(", but {} from the second iteration of a traced loop on, which this "
                        "application has",
                        seconds_words(costs.replay_s))
          : "");
  bool complete = true;
  const std::vector<TaskLaunches> uses = launches_by_task(data, complete);
  for (std::size_t t = 0; t < data.tasks.size() && words.tasks.size() < kMaxTasks; ++t) {
    if (uses[t].launches.empty()) continue;
    const std::optional<std::string> name = syntax::name_as_written(data.tasks[t].name);
    if (!name) continue;
    if (static_cast<int>(t) == data.top_level) {
      words.tasks.push_back(
          fmt::format("{} | | the top-level task, which launches the others", *name));
      words.task_names.push_back(*name);
      continue;
    }
    words.tasks.push_back(task_words(data, data.tasks[t], uses[t], machine, *name));
    std::vector<std::string> regions;
    for (std::size_t r = 0; r < data.tasks[t].requirements.size(); ++r) {
      regions.push_back(region_words(uses[t], r));
    }
    words.task_names.push_back(fmt::format("{} | {}", *name, fmt::join(regions, ", ")));
  }
  return words;
}

// Explains the mapping for the application, without running it. Tasks with the same decisions share
// a line.
std::string describe_decisions(const std::string& mapping, const Machine& machine,
                               const Workload& app) {
  Diagnostics diags(Source("mapping", mapping));
  const Program program = compile(diags.source(), diags);
  if (diags.has_errors()) return "";
  const std::optional<BoundProgram> bound = bind(program, machine, diags);
  if (!bound) return "";
  const std::optional<Explanation> explanation = explain(*bound, app, {}, diags);
  if (!explanation) return "";
  // The decisions in the order of the first task that has them, and the tasks of each.
  std::vector<std::pair<std::string, std::string>> decisions;
  std::set<std::string> replicated;
  for (const ExplainedTask& task : explanation->tasks) {
    if (task.replicated) replicated.insert(task.name);
  }
  for (const ExplainedTask& task : explanation->tasks) {
    if (task.launches.empty()) continue;
    const std::string of_task = decision_words(task, machine, replicated);
    const auto same = std::find_if(decisions.begin(), decisions.end(),
                                   [&](const auto& other) { return other.first == of_task; });
    if (same == decisions.end()) {
      decisions.emplace_back(of_task, task.name);
    } else {
      same->second += ", " + task.name;
    }
  }
  std::string words;
  for (const auto& [of_tasks, names] : decisions) {
    if (words.size() > kMaxDecisions) {
      words += "(further tasks are left out)\n";
      break;
    }
    words += fmt::format("{}: {}\n", names, of_tasks);
  }
  for (const DecisionOrigin origin : explanation->unmatched) {
    words += fmt::format("`{}` decides nothing: no task or region of the application matches it\n",
                         statement_text(program, origin));
  }
  for (const DecisionOrigin origin : explanation->never_decide) {
    words += fmt::format("`{}` decides nothing: other statements come first\n",
                         statement_text(program, origin));
  }
  for (const DecisionOrigin origin : explanation->inactive) {
    words += fmt::format("`{}` decides nothing on this machine: `{}` does not hold\n",
                         statement_text(program, origin), condition_text(program, origin));
  }
  return words;
}

ApplicationGrammar application_grammar(const Workload& app, const Machine& machine) {
  const GrammarNames names = grammar_names(&app, &machine);
  return {grammar(GrammarFormat::kGbnf, names), grammar(GrammarFormat::kLark, names)};
}

}  // namespace groma::tuning
