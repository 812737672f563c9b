// Writes the decisions of the default mapper as a mapping program. It calls the hooks of a
// DefaultMapper one after the other. The answers become statements. How the default mapper cuts
// launches becomes functions, which cut as lib/index_map/blocks.cc does.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "edit/functions.h"
#include "edit/statement.h"
#include "evaluate/processors.h"
#include "explain/by_node.h"
#include "explain/explain_query.h"
#include "explain/words.h"
#include "groma/explain.h"
#include "groma/mapper.h"
#include "mapper/default_policy.h"
#include "syntax/lexer.h"

namespace groma {
namespace {

// The largest extent of a launch for which the product (x + 1) * blocks in a block function cannot
// overflow: both factors are at most the extent.
constexpr std::int64_t kMaxExtent = std::int64_t{1} << 31;

// Returns true if the default mapper lets a point task run on any processor of this kind in its
// node.
bool runs_anywhere_in_node(ProcKind kind) {
  return kind == ProcKind::kCpu || kind == ProcKind::kIo || kind == ProcKind::kPy;
}

// Writes the program for one application and one machine.
class DefaultProgram {
 public:
  DefaultProgram(const app::Data& app, const std::vector<TaskLaunches>& uses,
                 const Machine& machine, const ExplainQuery& query)
      : app_(app),
        uses_(uses),
        machine_(std::make_shared<Machine>(machine)),
        query_(query),
        processors_(first_of_each_node_type(machine)) {}

  // Returns the text of the program. Comments in the text say which decisions no statement can
  // express.
  std::string write() {
    const TaskFilter filter(query_.task);
    for (std::size_t i = 0; i < app_.tasks.size(); ++i) {
      if (filter.may_ask_about(app_.tasks[i].name)) add_task(static_cast<std::uint32_t>(i));
    }
    std::string text = fmt::format("# What the default mapper does with `{}` on `{}`.\n",
                                   harmless(app_.name), harmless(machine_->name()));
    if (round_robin_) {
      text +=
          "# Single tasks go round the processors of their kind, each to the next, which no "
          "function "
          "can say;\n# without a SingleTaskMap statement the default mapper does it.\n";
    }
    if (replicates_) {
      text +=
          "# Of a launch by replicated tasks it cuts each shard's part by itself; where a function "
          "is bound,\n# a point goes where it goes in the whole launch.\n";
    }
    for (const std::string* part : {&tasks_, &regions_, &layouts_, &rest_}) {
      if (!part->empty()) text += "\n" + *part;
    }
    text += functions();
    if (!maps_.empty()) text += "\n" + maps_;
    return text;
  }

 private:
  static std::string line(const edit::StatementParts& statement) {
    return statement.statement_text() + ";\n";
  }

  // Writes the statements about one task: its kinds of processors, its data, its launches and its
  // replication. A comment replaces them if no statement can name the task or if no processor can
  // run it.
  void add_task(std::uint32_t number) {
    const app::Task& task = app_.tasks[number];
    const TaskLaunches& uses = uses_[number];
    const std::optional<std::string> name = syntax::name_as_written(task.name);
    const app::AppView views(app_, number, uses.name_lists.front());
    const app::DistinctLaunch first =
        uses.launches.empty() ? app::DistinctLaunch{.task = number} : uses.launches.front();
    if (!name) {
      tasks_ += fmt::format("# No statement can name `{}`.\n", harmless(task.name));
      return;
    }
    const auto options = start(views.view(first));
    if (!options) {
      tasks_ += fmt::format("# `{}` has no variant for a processor of the machine.\n",
                            harmless(task.name));
      return;
    }
    const ProcKind kind = options->initial.kind;
    edit::StatementParts kinds{.tasks = {*name}};
    for (ProcKind each : mapper::kinds_by_preference(0)) {
      if (mapper::best_variant(views.view(first), each) != nullptr) {
        kinds.processors.push_back(each);
      }
    }
    tasks_ += line(kinds);
    add_requirements(number, *name, kind);
    add_launches(task, uses, *name, kind);
    if (static_cast<int>(number) == app_.top_level) add_replication(task, *name, views, kind);
  }

  // Returns the default mapper's answer of the hook select_task_options. Returns nullopt if the
  // machine has no processor of a kind that can run the task.
  std::optional<TaskOptions> start(const TaskView& view) const {
    for (ProcKind kind : mapper::kinds_by_preference(view.tag)) {
      const auto local = mapper::first_processor_from(*machine_, kind, 0);
      if (!local) continue;
      DefaultMapper mapper(MapperSite{machine_, *local});
      MapperRuntime runtime;
      TaskOptions options;
      mapper.select_task_options(runtime, view, options);
      if (options.failure) return std::nullopt;
      return options;
    }
    return std::nullopt;
  }

  // ---- Data

  // Writes statements about the region requirements of a task. Launches may give the requirements
  // different names, so the statements are written once for each distinct list of names.
  void add_requirements(std::uint32_t number, const std::string& name, ProcKind kind) {
    const TaskLaunches& uses = uses_[number];
    for (std::size_t n = 0; n < uses.name_lists.size(); ++n) {
      const auto use =
          std::find(uses.name_list_of_launch.begin(), uses.name_list_of_launch.end(), n) -
          uses.name_list_of_launch.begin();
      const app::AppView views(app_, number, uses.name_lists[n]);
      add_requirements(app_.tasks[number], name, views,
                       uses.launches.empty() ? app::DistinctLaunch{.task = number}
                                             : uses.launches[static_cast<std::size_t>(use)],
                       kind, uses.name_lists, n);
    }
  }

  // Calls map_task on the first processor of each type of node, and writes statements about those
  // region requirements that the query asks about. If the answers about a requirement differ
  // between types of nodes, no statement can express them, and a comment says so.
  void add_requirements(const app::Task& task, const std::string& name, const app::AppView& views,
                        const app::DistinctLaunch& launch, ProcKind kind,
                        const std::vector<app::LaunchNames>& names, std::size_t number) {
    std::vector<MapTaskOutput> choices;
    for (const Processor& processor : processors_[static_cast<std::size_t>(kind)]) {
      DefaultMapper mapper(MapperSite{machine_, processor});
      MapperRuntime runtime;
      mapper.map_task(runtime, views.view(launch, processor), {}, choices.emplace_back());
    }
    for (std::size_t i = 0; i < task.requirements.size(); ++i) {
      if (!asks_about(query_, names[number], i)) continue;
      const InstanceChoice& choice = choices.front().requirements[i];
      const bool equal =
          std::all_of(choices.begin(), choices.end(), [&](const MapTaskOutput& other) {
            return same_memories_and_layouts(other.requirements[i], choice);
          });
      add_requirement(task, name, region_of(names, number, i), i, kind, equal ? &choice : nullptr);
    }
  }

  // Writes the Region and Layout statements for a requirement, or a comment that says why there are
  // none. `choice`, the default mapper's answer, is null if the mapper decides differently on
  // different types of nodes.
  void add_requirement(const app::Task& task, const std::string& name, const std::string& region,
                       std::size_t position, ProcKind kind, const InstanceChoice* choice) {
    if (!regions_of_task_.insert({name, region}).second) return;
    const auto comment = [&](std::string_view words) {
      regions_ += fmt::format("# {} {}: {}\n", harmless(task.name), harmless(region), words);
    };
    const app::Requirement& requirement = task.requirements[position];
    if (choice == nullptr) return comment("nodes differ, so the default mapper decides on each.");
    if (choice->is_virtual) {
      return comment(requirement.privilege == Privilege::kReduce
                         ? "virtual, since its variant reduces and is not a leaf."
                         : "virtual, since its variant is inner.");
    }
    const bool mapped =
        requirement.privilege != Privilege::kNoAccess && !requirement.fields.empty();
    if (!mapped) return comment("nothing is mapped.");
    if (choice->candidate_count == 0) return comment("no memory that its processor can address.");
    const InstanceCandidate& only = choice->candidates().front();
    edit::StatementParts statement{.kind = MappingStatement::kRegion,
                                   .tasks = {name},
                                   .regions = {region},
                                   .place = kind,
                                   .memories = {only.memory},
                                   .layout = edit::layout_words_of(only.layout)};
    regions_ += line(statement);
    // A variant may demand an instance with exactly the points of its region. `Exact` in a Layout
    // statement would demand more, as it also excludes neighbouring points, so the program gets a
    // comment instead of the statement.
    if (only.layout.exact) {
      layouts_ += fmt::format("# {} {}: {}, which its variant demands.\n", harmless(task.name),
                              harmless(region), layout_words(only.layout));
      return;
    }
    statement.kind = MappingStatement::kLayout;
    layouts_ += line(statement);
  }

  // Returns the name by which statements refer to the requirement. This is its first name, unless
  // another requirement of the task has the same name in some launch. Otherwise it is the position
  // of the requirement.
  static std::string region_of(const std::vector<app::LaunchNames>& all, std::size_t number,
                               std::size_t position) {
    const app::Names& names = all[number][position];
    const std::optional<std::string> name =
        names.empty() ? std::nullopt : syntax::name_as_written(names.front());
    if (!name) return std::to_string(position);
    for (const app::LaunchNames& launch : all) {
      for (std::size_t i = 0; i < launch.size(); ++i) {
        if (i == position) continue;
        if (std::find(launch[i].begin(), launch[i].end(), names.front()) == launch[i].end()) {
          continue;
        }
        return std::to_string(position);
      }
    }
    return *name;
  }

  // ---- Launches

  // Notes for which numbers of dimensions the launches of a task need a block function, which is a
  // mapping function that cuts a launch into blocks as the default mapper does. Writes a comment if
  // no function can express how the default mapper cuts a launch.
  void add_launches(const app::Task& task, const TaskLaunches& uses, const std::string& name,
                    ProcKind kind) {
    std::set<int> dimensions;
    bool large = false;
    for (const app::DistinctLaunch& use : uses.launches) {
      round_robin_ = round_robin_ || (!use.domain && use.depth > 0);
      if (!use.domain) continue;
      dimensions.insert(use.domain->box.dimensions());
      for (std::int64_t extent : use.domain->box.extents.coordinates()) {
        large = large || extent > kMaxExtent;
      }
    }
    if (dimensions.empty()) return;
    if (!machine_->uniform(kind)) {
      maps_ += fmt::format("# {}: nodes have unequal numbers of {}, so the default mapper cuts.\n",
                           harmless(task.name), name_of(kind));
    } else if (large) {
      maps_ += fmt::format("# {}: its launch is so large that the default mapper cuts.\n",
                           harmless(task.name));
    } else {
      blocks_[kind].insert(dimensions.begin(), dimensions.end());
      bound_.push_back({name, kind, dimensions});
    }
  }

  // Writes a ControlReplicate statement if the default mapper replicates the task and the task has
  // a replicable variant for the kind.
  void add_replication(const app::Task& task, const std::string& name, const app::AppView& views,
                       ProcKind kind) {
    const auto options = start(views.view({}));
    const bool can = std::any_of(
        task.variants.begin(), task.variants.end(),
        [kind](const app::Variant& variant) { return variant.replicable && variant.kind == kind; });
    if (!options || !options->replicate || !can) return;
    rest_ += line({.kind = MappingStatement::kControlReplicate, .tasks = {name}});
    replicates_ = true;
  }

  static std::string function_name(ProcKind kind, int dimensions) {
    return fmt::format("blocks_{}_{}d", name_of(kind), dimensions);
  }

  // Returns the text of a function that places a point of a launch with `dimensions` dimensions.
  // The launch is cut into blocks. In a dimension of e points, block b of n is from e * b / n to e
  // * (b + 1) / n. So x is in the last block with e * b < (x + 1) * n.
  static std::string block_function(ProcKind kind, int dimensions) {
    std::string text = fmt::format(
        "  e = task.ispace;\n"
        "  parts = all_{}.greedy_split(0, e).size;\n",
        name_of(kind));
    std::string number;
    for (int d = dimensions - 1; d >= 0; --d) {
      text += fmt::format(
          "  n{0} = parts[{0}] < e[{0}] ? parts[{0}] : e[{0}];\n"
          "  b{0} = ((task.ipoint[{0}] + 1) * n{0} - 1) / e[{0}];\n",
          d);
      number = number.empty()        ? fmt::format("b{}", d)
               : d + 2 == dimensions ? fmt::format("b{0} + n{0} * {1}", d, number)
                                     : fmt::format("b{0} + n{0} * ({1})", d, number);
    }
    text += fmt::format("  return all_{}[{}];\n", name_of(kind), number);
    return "\n" + edit::function_definition(function_name(kind, dimensions), text);
  }

  // Returns the text of all block functions, and writes a statement that binds a function to each
  // task.
  std::string functions() {
    std::string text;
    for (const auto& [kind, dimensions] : blocks_) {
      text += fmt::format(
          "\n# All {0} in a row, node by node. A launch is cut into blocks, one for each where it "
          "has "
          "so many\n# points; the first dimension runs fastest.{1}\nall_{0} = "
          "Machine({0}).merge(0, 1);\n",
          name_of(kind),
          runs_anywhere_in_node(kind)
              ? " The default mapper lets a point run on any " + std::string(name_of(kind)) +
                    "\n# of the node that its block got, a function names one."
              : "");
      for (int d : dimensions) text += block_function(kind, d);
    }
    for (const auto& [name, kind, dimensions] : bound_) {
      std::string function = function_name(kind, *dimensions.begin());
      if (dimensions.size() > 1) {
        function = fmt::format("blocks_{}_all", name_of(kind));
        if (choosers_.insert(kind).second) text += chooser(kind, function);
      }
      maps_ +=
          line({.kind = MappingStatement::kIndexTaskMap, .tasks = {name}, .function = function});
    }
    return text;
  }

  // Returns the text of a function that calls the block function for the launch's number of
  // dimensions. It serves tasks that are launched with different numbers of dimensions.
  std::string chooser(ProcKind kind, const std::string& function) const {
    const std::set<int>& all = blocks_.at(kind);
    std::string value;
    for (int d : all) {
      const bool last = d == *all.rbegin();
      value += last ? fmt::format("{}(task)", function_name(kind, d))
                    : fmt::format("task.ispace.len == {} ? {}(task) : ", d, function_name(kind, d));
    }
    return "\n" + edit::function_definition(function, fmt::format("  return {};\n", value));
  }

  // A task whose launches a block function places, so that a statement must bind it to the
  // function.
  struct Bound {
    std::string name;
    ProcKind kind;
    std::set<int> dimensions;
  };
  const app::Data& app_;
  const std::vector<TaskLaunches>& uses_;
  std::shared_ptr<const Machine> machine_;
  const ExplainQuery& query_;
  FirstProcessors processors_;
  std::string tasks_, regions_, layouts_, rest_, maps_;
  std::map<ProcKind, std::set<int>> blocks_;
  std::vector<Bound> bound_;
  // The pairs of a task and a region for which the Region and Layout statements, or a comment in
  // their place, were written already.
  std::set<std::pair<std::string, std::string>> regions_of_task_;
  std::set<ProcKind> choosers_;
  bool round_robin_ = false, replicates_ = false;
};

}  // namespace

// Returns the text of the program, or nullopt if the query names something that the application
// does not have.
std::optional<std::string> default_mapping(const Workload& app, const Machine& machine,
                                           const ExplainQuery& query, Diagnostics& diags) {
  bool complete = true;
  const std::vector<TaskLaunches> uses = launches_by_task(app.data(), complete);
  if (!check_query(query, app.data(), uses, diags)) return std::nullopt;
  return DefaultProgram(app.data(), uses, machine, query).write();
}

}  // namespace groma
