// Describes machines, applications and decisions in words, for the prompts of a language model.
#include "model/problem_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "app/data.h"
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

// Returns a number of bytes in words: "16 GB", "0.5 MB".
std::string size_words(double bytes) {
  constexpr double kMega = 1e6, kGiga = 1e9;
  return bytes >= kGiga ? fmt::format("{:.3g} GB", bytes / kGiga)
                        : fmt::format("{:.3g} MB", bytes / kMega);
}

// Describes the processors and memories of one node: "4 GPU, 16 CPU, FBMEM 16 GB". Memories without
// capacity are left out.
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

// Lists the different launches of a task, without duplicates: "single, index 8x8".
std::string launches_words(const TaskLaunches& uses) {
  std::vector<std::string> words;
  for (const app::DistinctLaunch& use : uses.launches) {
    std::string launch = "single";
    if (use.domain) {
      launch = "index";
      for (int d = 0; d < use.domain->dimensions(); ++d) {
        launch += fmt::format("{}{}", d == 0 ? " " : "x", use.domain->extents[d]);
      }
    }
    if (std::find(words.begin(), words.end(), launch) == words.end()) words.push_back(launch);
    if (words.size() == kMaxLaunches) break;
  }
  return fmt::format("{}", fmt::join(words, ", "));
}

// Returns the region names that launches use for the region requirement `r`, as a mapping statement
// writes them. If there are none, returns the position of the requirement, which a statement may
// use too.
std::string region_words(const TaskLaunches& uses, std::size_t r) {
  std::vector<std::string> names;
  for (const app::LaunchNames& launch : uses.name_lists) {
    if (launch[r].empty() || names.size() == kMaxLaunches) continue;
    const std::string name = syntax::name_as_written(launch[r].front()).value_or("");
    const bool known = std::find(names.begin(), names.end(), name) != names.end();
    if (!name.empty() && !known) names.push_back(name);
  }
  return names.empty() ? fmt::format("position {}", r) : fmt::format("{}", fmt::join(names, "/"));
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
  std::string line = fmt::format("{} | {} | {} |", name, kinds, launches_words(uses));
  for (std::size_t r = 0; r < task.requirements.size(); ++r) {
    const app::Requirement& requirement = task.requirements[r];
    // A requirement without fields or access gets no instance, so a mapping decides nothing about
    // it.
    if (requirement.fields.empty() || requirement.privilege == Privilege::kNoAccess) continue;
    if (r == kMaxParts) {
      line += fmt::format(" and {} more", task.requirements.size() - r);
      break;
    }
    line += fmt::format("{} {} {}", line.ends_with('|') ? "" : ",", region_words(uses, r),
                        name_of(requirement.privilege));
    const app::RequirementData& where =
        app::data_of_requirement(task, uses.launches.front().launch, r);
    if (const auto size = megabytes(data, where, requirement))
      line += fmt::format(" {:.3g}", *size);
  }
  return line;
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

}  // namespace

// Nodes of the same type are counted together. At most four node types are described.
std::string describe_machine(const Machine& machine) {
  const std::int64_t nodes = machine.node_count();
  std::string words = fmt::format("{} node{}", nodes, nodes == 1 ? "" : "s");
  // Most machines have equal nodes, which one sentence describes.
  if (machine.node_types().size() == 1) {
    return fmt::format("{}{} with {}", words, nodes == 1 ? "" : ", each",
                       node_words(machine.node_types().front()));
  }
  for (std::size_t type = 0; type < std::min<std::size_t>(machine.node_types().size(), 4); ++type) {
    const auto of_type = std::count(machine.nodes().begin(), machine.nodes().end(), type);
    words += fmt::format("; {} with {}", of_type, node_words(machine.node_types()[type]));
  }
  return words;
}

// Leaves out the top-level task, tasks that the application does not launch, and tasks whose names
// a mapping statement cannot write.
AppDescription describe_application(const Workload& app, const Machine& machine) {
  AppDescription words;
  words.name = app.name();
  for (const auto& [name, value] : app.values()) {
    words.values += fmt::format("{}{}={}", words.values.empty() ? "" : " ", name, value);
  }
  const app::Data& data = app.data();
  bool complete = true;
  const std::vector<TaskLaunches> uses = launches_by_task(data, complete);
  for (std::size_t t = 0; t < data.tasks.size() && words.tasks.size() < kMaxTasks; ++t) {
    if (static_cast<int>(t) == data.top_level || uses[t].launches.empty()) continue;
    const std::optional<std::string> name = syntax::name_as_written(data.tasks[t].name);
    if (name) words.tasks.push_back(task_words(data, data.tasks[t], uses[t], machine, *name));
  }
  return words;
}

// Explains the mapping for the application, without running it, and writes the decisions about each
// task on one line.
std::string describe_decisions(const std::string& mapping, const Machine& machine,
                               const Workload& app) {
  Diagnostics diags(Source("mapping", mapping));
  const Program program = compile(diags.source(), diags);
  if (diags.has_errors()) return "";
  const std::optional<BoundProgram> bound = bind(program, machine, diags);
  if (!bound) return "";
  const std::optional<Explanation> explanation = explain(*bound, app, {}, diags);
  if (!explanation) return "";
  std::string words;
  for (const ExplainedTask& task : explanation->tasks) {
    // The description ends after about 4,000 bytes, because it is only a part of a prompt.
    if (task.launches.empty() || words.size() > 4'000) continue;
    if (!task.kind.kind) {
      words += fmt::format("{}: runs nowhere\n", task.name);
      continue;
    }
    words += fmt::format("{}: {}", task.name, name_of(*task.kind.kind));
    std::set<std::string> said;
    for (const ExplainedRequirement& requirement : task.requirements) {
      if (!requirement.is_mapped || said.size() == kMaxParts) continue;
      const std::string what = requirement_words(requirement);
      if (said.insert(what).second) words += "; " + what;
    }
    const ExplainedLaunch& launch = task.launches.front();
    if (launch.is_index) {
      words += launch.function.empty() ? "; points by the default mapper"
                                       : fmt::format("; points by `{}`", launch.function);
    }
    if (launch.loads) {
      words +=
          fmt::format(", {} of {} processors used", launch.loads->used, launch.loads->processors);
    }
    words += "\n";
  }
  return words;
}

ApplicationGrammar application_grammar(const Workload& app, const Machine& machine) {
  const GrammarNames names = grammar_names(&app, &machine);
  return {grammar(GrammarFormat::kGbnf, names), grammar(GrammarFormat::kLark, names)};
}

}  // namespace groma::tuning
