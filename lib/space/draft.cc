// Drafts: turns decisions into the text of a mapping, and lists the changes of a draft.
#include "space/draft.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <tuple>

#include "app/data.h"
#include "base/random.h"
#include "explain/explain_query.h"
#include "groma/evaluate.h"
#include "groma/index_map.h"
#include "groma/program.h"
#include "space/factorisations.h"
#include "syntax/lexer.h"
#include "syntax/printer.h"

namespace groma::tuning {
namespace {

constexpr std::array kPreferred = {ProcKind::kGpu, ProcKind::kOmp, ProcKind::kCpu};
constexpr std::array kMemories = {MemKind::kFbmem, MemKind::kZcmem, MemKind::kSysmem,
                                  MemKind::kSockmem};
constexpr std::array kLimits = {0, 1, 2, 4};
constexpr std::array<std::optional<StealScope>, 3> kSteals = {std::nullopt, StealScope::kSameNode,
                                                              StealScope::kAnyNode};
constexpr std::size_t kMostFunctions = 24;   // functions that moves() tries for each task
constexpr std::size_t kMostCompared = 4096;  // points that are compared to tell functions apart
constexpr double kLeast = 0.01;              // weight of a change that the facts do not mention

// Returns the layouts that are tried: none, then every order of dimensions and fields.
std::vector<edit::LayoutWords> layouts() {
  using syntax::ConstraintWord;
  std::vector<edit::LayoutWords> all = {{}};
  for (const ConstraintWord fields : {ConstraintWord::kSoa, ConstraintWord::kAos}) {
    for (const ConstraintWord order : {ConstraintWord::kCOrder, ConstraintWord::kFOrder}) {
      all.push_back({{order}, {fields}});
    }
  }
  return all;
}

}  // namespace

// Collects the tasks that a mapping can decide: launched tasks with a writable name and a variant
// for this machine. The top-level task is only kept for ControlReplicate.
Drafts::Drafts(const Machine& machine, const Workload& workload) : machine_(machine) {
  const app::Data& app = workload.data();
  bool complete = true;
  const std::vector<TaskUses> uses = uses_by_task(app, complete);
  std::set<std::string> regions;
  for (std::size_t t = 0; t < app.tasks.size(); ++t) {
    const auto written = syntax::written_name(app.tasks[t].name);
    if (!written) continue;
    if (static_cast<int>(t) == app.top_level) {
      top_level_ = *written;
      continue;
    }
    Task task;
    task.name = app.tasks[t].name;
    task.written = *written;
    for (const ProcKind kind : kPreferred) {
      const bool runs =
          std::any_of(app.tasks[t].variants.begin(), app.tasks[t].variants.end(),
                      [&](const app::Variant& variant) { return variant.kind == kind; });
      if (runs && machine.has(kind)) task.kinds.push_back(kind);
    }
    if (task.kinds.empty() || uses[t].uses.empty()) continue;
    for (const app::Use& use : uses[t].uses) {
      if (!use.domain) {
        task.single = task.single || use.depth > 0;
      } else if (use.domain->volume() == 0) {
        continue;
      } else if (task.dimensions == 0 || use.domain->dimensions() < task.dimensions) {
        task.dimensions = use.domain->dimensions();
        task.extents.clear();
        for (int d = 0; d < task.dimensions; ++d) task.extents.push_back(use.domain->extents[d]);
      }
    }
    for (std::size_t r = 0; r < app.tasks[t].requirements.size(); ++r) {
      const app::Requirement& requirement = app.tasks[t].requirements[r];
      if (requirement.fields.empty() || requirement.privilege == Privilege::kNoAccess) continue;
      const app::Names& names = uses[t].names.front()[r];
      task.arguments.push_back({r, names, requirement.privilege == Privilege::kReadOnly});
      if (!names.empty() && regions.insert(names.front()).second) {
        regions_.push_back(names.front());
      }
    }
    tasks_.push_back(std::move(task));
  }
}

std::string Drafts::Argument::words_of(const std::string& task) const {
  const std::string data = names.empty() ? fmt::format("region {}", position) : names.front();
  return fmt::format("{} of {}", data, task);
}

// Without a usable Task statement, a task runs on the default mapper's first kind.
Draft Drafts::untaken(const std::string& text) const {
  auto base = std::make_shared<Base>();
  base->text = text;
  base->functions = edit::Mapping(text).definitions();
  Diagnostics ignored(Source("mapping", text));
  base->program = compile(ignored.source(), ignored);
  Draft draft;
  for (const Task& task : tasks_) {
    draft.tasks.emplace_back().arguments.resize(task.arguments.size());
    ProcKind kind = task.kinds.front();
    if (const auto said = base->program.task(task.name)) {
      const auto usable = std::find_first_of(said->kinds.begin(), said->kinds.end(),
                                             task.kinds.begin(), task.kinds.end());
      if (usable != said->kinds.end()) kind = *usable;
    }
    base->kinds.push_back(kind);
  }
  draft.base = std::move(base);
  return draft;
}

ProcKind Drafts::kind_of(const Draft& draft, std::size_t task) const {
  return draft.tasks[task].kind.value_or(draft.base->kinds[task]);
}

// Changes the kind of a task. Decisions for the old kind are discarded.
void Drafts::set_kind(Draft& draft, std::size_t task, ProcKind kind) const {
  Draft::Task& changed = draft.tasks[task];
  changed = {};
  changed.arguments.resize(tasks_[task].arguments.size());
  if (kind != draft.base->kinds[task]) changed.kind = kind;
}

std::vector<MemKind> Drafts::memories_of(ProcKind kind) const {
  std::vector<MemKind> memories;
  for (const MemKind memory : kMemories) {
    if (machine_.can_address(0, kind, memory)) memories.push_back(memory);
  }
  return memories;
}

// The order is: the draft's memories, the base's memories, then all others by bandwidth, fastest
// first.
std::vector<MemKind> Drafts::all_memories(const Draft& draft, std::size_t task,
                                          std::size_t argument) const {
  const Argument& of = tasks_[task].arguments[argument];
  const ProcKind kind = kind_of(draft, task);
  std::vector<MemKind> all = draft.tasks[task].arguments[argument].memories;
  const auto add = [&](MemKind memory) {
    if (std::find(all.begin(), all.end(), memory) == all.end()) all.push_back(memory);
  };
  const std::vector<std::string_view> names(of.names.begin(), of.names.end());
  const RegionNames region{static_cast<std::int64_t>(of.position), names};
  for (const auto& said : draft.base->program.memories(tasks_[task].name, region, kind)) {
    add(said.memory);
  }
  std::vector<std::pair<double, MemKind>> others;
  for (const Affinity& affinity : machine_.node(0).affinities) {
    if (affinity.processor != kind) continue;
    others.emplace_back(-affinity.bandwidth_bytes_per_s, affinity.memory);
  }
  std::stable_sort(others.begin(), others.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  for (const auto& [bandwidth, memory] : others) {
    if (machine_.can_address(0, kind, memory)) add(memory);
  }
  return all;
}

// --------------------------------------------------------------------------------------- the text

namespace {

// Returns the length of the comment lines at the beginning of a program.
std::size_t header_bytes(std::string_view text) {
  std::size_t end = 0;
  while (text.substr(end).starts_with('#') || text.substr(end).starts_with("//")) {
    const std::size_t line = text.find('\n', end);
    end = line == text.npos ? text.size() : line + 1;
  }
  return end;
}

}  // namespace

// Writes the decisions as statements, with each function once, before the statements of the base.
std::string Drafts::text_of(const Draft& draft) const {
  std::string kinds, data, limits, functions, maps;
  // The tasks that use a function, by the function's name.
  std::map<std::string, std::vector<std::string>> users;
  std::set<ProcKind> same_point;
  const auto line = [](const edit::Statement& statement) { return statement.str() + ";\n"; };
  for (std::size_t t = 0; t < tasks_.size(); ++t) {
    const Task& task = tasks_[t];
    const Draft::Task& said = draft.tasks[t];
    const ProcKind kind = kind_of(draft, t);
    if (said.kind) {
      edit::Statement statement{.tasks = {task.written}, .processors = {kind}};
      for (const ProcKind other : task.kinds) {
        if (other != kind) statement.processors.push_back(other);
      }
      kinds += line(statement);
    }
    for (std::size_t a = 0; a < said.arguments.size(); ++a) {
      const Draft::Argument& argument = said.arguments[a];
      edit::Statement statement{.tasks = {task.written},
                                .regions = {std::to_string(task.arguments[a].position)},
                                .place = kind,
                                .memories = argument.memories,
                                .layout = argument.layout};
      const auto add = [&](bool is_decided, MappingStatement of) {
        statement.kind = of;
        if (is_decided) data += line(statement);
      };
      add(!argument.memories.empty(), MappingStatement::kRegion);
      add(!argument.layout.empty(), MappingStatement::kLayout);
      statement.place = {};
      add(argument.collect, MappingStatement::kCollectMemory);
    }
    if (said.limit > 0) {
      limits += line(
          {.kind = MappingStatement::kInstanceLimit, .tasks = {task.written}, .limit = said.limit});
    }
    if (said.steal) {
      limits += line({.kind = MappingStatement::kTaskSteal,
                      .tasks = {task.written},
                      .place = kind,
                      .steal = *said.steal});
    }
    if (said.placement) {
      const std::string name = free_name(*draft.base, edit::name_for(said.placement->name, kind));
      std::vector<std::string>& names = users[name];
      if (names.empty()) functions += "\n" + edit::definition(*said.placement, kind, name);
      names.push_back(task.written);
    }
    if (said.same_point) {
      const std::string name = free_name(*draft.base, edit::name_for(edit::kSamePoint, kind));
      if (same_point.insert(kind).second) {
        functions += "\n" + edit::definition(edit::named_function(edit::kSamePoint), kind, name);
      }
      maps += line(
          {.kind = MappingStatement::kSingleTaskMap, .tasks = {task.written}, .function = name});
    }
  }
  for (const auto& [function, tasks] : users) {
    maps += line({.kind = MappingStatement::kIndexTaskMap, .tasks = tasks, .function = function});
  }
  if (!maps.empty()) maps.insert(0, "\n");
  std::string text = kinds + data + limits + functions + maps;
  if (draft.replicate) {
    text += line({.kind = MappingStatement::kControlReplicate, .tasks = {top_level_}});
  }
  if (text.starts_with('\n')) text.erase(0, 1);
  if (draft.base->text.empty() || text.empty()) return text + draft.base->text;
  // The first of two statements with the same key counts, so the new statements stand before the
  // base's statements, below its header.
  const std::string_view base = draft.base->text;
  const std::size_t header = header_bytes(base);
  std::string made(base.substr(0, header));
  if (header > 0) made += made.ends_with('\n') ? "\n" : "\n\n";
  std::string_view rest = base.substr(header);
  rest.remove_prefix(std::min(rest.find_first_not_of("\r\n"), rest.size()));
  return made + text + "\n" + edit::Mapping(rest).without(edit::Mapping(text).keys());
}

std::string Drafts::free_name(const Base& base, std::string name) {
  while (base.functions.contains(edit::key_of_definition(name))) name += '_';
  return name;
}

// -------------------------------------------------------------------------------------- functions

// Asks the evaluator, point by point.
std::optional<std::vector<std::uint32_t>> Drafts::destinations(const edit::Function& function,
                                                               const Rect& launch,
                                                               ProcKind kind) const {
  const std::string name = edit::name_for(function.name, kind);
  const Source source(name, edit::definition(function, kind, name));
  Diagnostics ignored(source);
  const auto bound = bind(compile(source, ignored), machine_, ignored);
  if (!bound) return std::nullopt;
  TaskPoint task;
  task.domain = launch;
  auto map = IndexMap::make(*bound, FunctionId{0}, task, kind, ignored);
  if (!map.ok()) return std::nullopt;
  IndexMap::Cursor cursor(std::move(map).value(), /*warns=*/false);
  std::vector<std::uint32_t> where;
  Point point = launch.lower;
  do {
    where.push_back(cursor.point(point, ignored));
    if (where.back() == kNoProcessor) return std::nullopt;
  } while (where.size() < kMostCompared && next_point(launch, &point));
  return where;
}

// Tasks with equal launches share their functions.
const std::vector<Drafts::Function>& Drafts::functions_of(std::size_t task, ProcKind kind) const {
  const auto [known, is_new] = functions_.try_emplace({tasks_[task].extents, kind});
  if (is_new) known->second = functions_for(tasks_[task].extents, kind);
  return known->second;
}

// Returns the functions that moves() tries for launches of this size: orders of the points first,
// then grids. Functions that place all points alike are listed once.
std::vector<Drafts::Function> Drafts::functions_for(const std::vector<std::int64_t>& extents,
                                                    ProcKind kind) const {
  const std::size_t dimensions = extents.size();
  const std::int64_t nodes = machine_.node_count();
  const std::int64_t processors = machine_.processors_per_node(kind);
  std::vector<Function> all;
  const auto launch = Rect::make(Point(std::span<const std::int64_t>(extents)));
  if (nodes * processors == 0 || !launch) return all;
  std::set<std::vector<std::uint32_t>> known;
  const auto add = [&](edit::Function made) {
    auto where = destinations(made, *launch, kind);
    if (where && known.insert(*std::move(where)).second) {
      all.push_back(std::make_shared<const edit::Function>(std::move(made)));
    }
  };
  const auto line = [&](const std::vector<std::int64_t>& weights, std::int64_t run) {
    for (const bool nodes_first : {false, true}) {
      add(edit::line_function({weights, nodes_first, std::max<std::int64_t>(run, 1)}));
    }
  };
  std::int64_t volume = 1;
  for (const std::int64_t extent : extents) volume *= extent;
  const std::int64_t run = (volume + nodes * processors - 1) / (nodes * processors);
  // Row-major and column-major order, each cyclic and in runs; then single coordinates and their
  // sum.
  for (const bool rows : {true, false}) {
    std::vector<std::int64_t> weights(dimensions, 1);
    std::int64_t stride = 1;
    for (std::size_t i = 0; i < dimensions; ++i) {
      const std::size_t d = rows ? dimensions - 1 - i : i;
      weights[d] = stride;
      stride *= extents[d];
    }
    line(weights, 1);
    line(weights, run);
  }
  for (std::size_t d = 0; d < dimensions && dimensions > 1; ++d) {
    std::vector<std::int64_t> weights(dimensions, 0);
    weights[d] = 1;
    line(weights, 1);
  }
  if (dimensions > 1) line(std::vector<std::int64_t>(dimensions, 1), 1);
  if (dimensions == 1) return all;
  for (const auto& outer : factorisations(nodes, static_cast<int>(dimensions), 64)) {
    for (const auto& inner : factorisations(processors, static_cast<int>(dimensions), 64)) {
      for (const bool cyclic : {false, true}) {
        if (all.size() == kMostFunctions) return all;
        add(edit::grid_function({outer, inner, std::vector<bool>(dimensions, cyclic), false}));
      }
    }
  }
  return all;
}

// Draws a grid (two of three times, if there is more than one dimension) or a line.
Drafts::Function Drafts::random_function(std::size_t task, ProcKind kind,
                                         std::uint64_t random) const {
  const Task& of = tasks_[task];
  const auto dimensions = static_cast<std::size_t>(of.dimensions);
  const std::int64_t nodes = machine_.node_count();
  const std::int64_t processors = machine_.processors_per_node(kind);
  if (nodes * processors == 0) return nullptr;
  Draws draws(random);
  const auto draw = [&](std::size_t count) { return below(draws.bits(), count); };
  if (dimensions > 1 && draw(3) > 0) {
    const auto outer = factorisations(nodes, of.dimensions, 4096);
    const auto inner = factorisations(processors, of.dimensions, 4096);
    edit::GridShape shape{outer[draw(outer.size())], inner[draw(inner.size())], {}, false};
    for (std::size_t d = 0; d < dimensions; ++d) shape.cyclic.push_back(draw(2) == 1);
    shape.interleaved = draw(2) == 1;
    return std::make_shared<const edit::Function>(edit::grid_function(shape));
  }
  edit::LineShape shape;
  for (std::size_t d = 0; d < dimensions; ++d) {
    const std::array<std::int64_t, 5> weights = {0, 1, 2, processors, of.extents[d]};
    shape.weights.push_back(weights[draw(weights.size())]);
  }
  if (std::all_of(shape.weights.begin(), shape.weights.end(), [](auto w) { return w == 0; })) {
    shape.weights[draw(dimensions)] = 1;
  }
  shape.nodes_first = nodes > 1 && draw(2) == 1;
  const std::array<std::int64_t, 4> runs = {1, 1, 2, processors};
  shape.run = runs[draw(runs.size())];
  return std::make_shared<const edit::Function>(edit::line_function(shape));
}

// ------------------------------------------------------------------------------------------ moves

// Collects the changes of one draft.
class Drafts::Collector {
 public:
  Collector(const Drafts& drafts, const Draft& from, const ProfileFacts* facts)
      : drafts_(drafts), from_(from), facts_(facts) {}

  // Collects changes of single tasks, of all tasks, of data by name, and of replication.
  std::vector<Move> moves() {
    for (std::size_t t = 0; t < drafts_.tasks_.size(); ++t) {
      change_kind(t);
      change_place(t);
      change_schedule(t);
      change_data(t);
    }
    change_all_kinds();
    change_all_places();
    for (const std::string& region : drafts_.regions_) change_region(region);
    if (!drafts_.top_level_.empty() && drafts_.machine_.node_count() > 1) {
      Draft draft = from_;
      draft.replicate = !from_.replicate;
      add(Move::What::kReplicate, std::move(draft),
          from_.replicate ? "without replication" : "with the top level replicated",
          runtime_share());
    }
    return std::move(moves_);
  }

 private:
  void add(Move::What what, Draft draft, std::string why, double weight) {
    if (draft == from_) return;
    moves_.push_back({std::move(draft), what, std::move(why), std::max(weight, kLeast)});
  }

  double task_share(std::size_t t) const {
    double share = 0;
    if (facts_ == nullptr) return share;
    for (const ProfileFacts::Cause& cause : facts_->causes) {
      if (cause.task == drafts_.tasks_[t].name) share += cause.share;
    }
    return share;
  }
  double region_share(const std::string& region) const {
    double share = 0;
    if (facts_ == nullptr) return share;
    for (const ProfileFacts::Cause& cause : facts_->causes) {
      if (cause.region == region) share += cause.share;
    }
    return share;
  }
  double runtime_share() const { return facts_ == nullptr ? 0 : facts_->runtime; }
  double copy_share() const { return facts_ == nullptr ? 0 : facts_->copies; }

  void change_kind(std::size_t t) {
    for (const ProcKind kind : drafts_.tasks_[t].kinds) {
      if (kind == drafts_.kind_of(from_, t)) continue;
      Draft draft = from_;
      drafts_.set_kind(draft, t, kind);
      add(Move::What::kKind, std::move(draft),
          fmt::format("{} on {}", drafts_.tasks_[t].name, name_of(kind)), task_share(t) / 2);
    }
  }

  void change_all_kinds() {
    for (const ProcKind kind : kPreferred) {
      Draft draft = from_;
      bool any = false;
      for (std::size_t t = 0; t < drafts_.tasks_.size(); ++t) {
        const auto& kinds = drafts_.tasks_[t].kinds;
        if (std::find(kinds.begin(), kinds.end(), kind) == kinds.end()) continue;
        if (drafts_.kind_of(from_, t) == kind) continue;
        drafts_.set_kind(draft, t, kind);
        any = true;
      }
      if (any)
        add(Move::What::kKind, std::move(draft), fmt::format("all that can on {}", name_of(kind)),
            0.1);
    }
  }

  // Adds changes of the placement of one task.
  void change_place(std::size_t t) {
    const Task& task = drafts_.tasks_[t];
    const double share = task_share(t) + copy_share() / 4;
    if (task.single) {
      Draft draft = from_;
      draft.tasks[t].same_point = !draft.tasks[t].same_point;
      add(Move::What::kWithParent, std::move(draft),
          fmt::format("{} {} its parent runs", task.name,
                      from_.tasks[t].same_point ? "not bound to where" : "where"),
          share);
    }
    if (task.dimensions > 0) {
      if (from_.tasks[t].placement) place({t}, nullptr, share);
      for (const Function& function : drafts_.functions_of(t, drafts_.kind_of(from_, t))) {
        place({t}, function, share);
      }
    }
  }

  // Adds changes of the instance limit and of stealing, which always have the least weight.
  void change_schedule(std::size_t t) {
    const Task& task = drafts_.tasks_[t];
    for (const int limit : kLimits) {
      if (limit == from_.tasks[t].limit) continue;
      Draft draft = from_;
      draft.tasks[t].limit = limit;
      add(Move::What::kSchedule, std::move(draft),
          fmt::format("{} limited to {}", task.name, limit), 0);
    }
    for (const std::optional<StealScope>& steal : kSteals) {
      if (steal == from_.tasks[t].steal) continue;
      Draft draft = from_;
      draft.tasks[t].steal = steal;
      add(Move::What::kSchedule, std::move(draft),
          fmt::format("{} stolen {}", task.name,
                      steal ? std::string(syntax::spelling(*steal)) : otherwise()),
          0);
    }
  }

  // Groups of tasks with the same number of dimensions and the same kind get the same function.
  void change_all_places() {
    std::map<std::tuple<ProcKind, int, std::vector<std::int64_t>>, std::vector<std::size_t>> alike;
    for (std::size_t t = 0; t < drafts_.tasks_.size(); ++t) {
      const Task& task = drafts_.tasks_[t];
      if (task.dimensions == 0) continue;
      alike[{drafts_.kind_of(from_, t), task.dimensions, task.extents}].push_back(t);
      alike[{drafts_.kind_of(from_, t), task.dimensions, {}}].push_back(t);
    }
    std::set<std::vector<std::size_t>> done;
    for (const auto& [key, tasks] : alike) {
      if (tasks.size() < 2 || !done.insert(tasks).second) continue;
      double share = copy_share() / 2;
      for (const std::size_t t : tasks) share = std::max(share, task_share(t));
      place(tasks, nullptr, share);
      for (const Function& function : drafts_.functions_of(tasks.front(), std::get<0>(key))) {
        place(tasks, function, share);
      }
    }
  }

  void place(const std::vector<std::size_t>& tasks, const Function& function, double share) {
    Draft draft = from_;
    bool changed = false;
    for (const std::size_t t : tasks) {
      const Function& now = from_.tasks[t].placement;
      changed = changed || (now == nullptr) != (function == nullptr) ||
                (now != nullptr && now->name != function->name);
      draft.tasks[t].placement = function;
    }
    if (!changed) return;
    const std::string who = tasks.size() == 1 ? drafts_.tasks_[tasks.front()].name
                                              : fmt::format("{} tasks", tasks.size());
    add(tasks.size() == 1 ? Move::What::kPlace : Move::What::kPlaceAlike, std::move(draft),
        fmt::format("{} placed {}", who, function ? "by " + function->name : otherwise()), share);
  }

  // Adds changes of memory, layout and early collection for each argument and for all arguments
  // together.
  void change_data(std::size_t t) {
    const Task& task = drafts_.tasks_[t];
    const ProcKind kind = drafts_.kind_of(from_, t);
    const double share = task_share(t);
    for (std::size_t a = 0; a < task.arguments.size(); ++a) {
      const std::string what = task.arguments[a].words_of(task.name);
      const double weight = region_share(task.arguments[a].region()) + share / 4;
      for (const auto& memory : memories(kind)) {
        Draft draft = from_;
        draft.tasks[t].arguments[a].memories = memory;
        add(Move::What::kMemory, std::move(draft), fmt::format("{} {}", what, in(memory)), weight);
      }
      lay_out({{t, a}}, what, weight / 2);
      if (!task.arguments[a].read_only) continue;
      Draft draft = from_;
      bool& collect = draft.tasks[t].arguments[a].collect;
      collect = !collect;
      add(Move::What::kMemory, std::move(draft),
          fmt::format("{} {} it was read", what, collect ? "let go when" : "kept after"), 0);
    }
    if (task.arguments.size() < 2) return;
    std::vector<std::pair<std::size_t, std::size_t>> all;
    for (std::size_t a = 0; a < task.arguments.size(); ++a) all.emplace_back(t, a);
    keep(all, kind, fmt::format("all data of {}", task.name), share / 2);
    lay_out(all, fmt::format("all data of {}", task.name), share / 2);
  }

  // Adds changes of all arguments with one name, separately for each processor kind.
  void change_region(const std::string& region) {
    for (const ProcKind kind : kPreferred) {
      std::vector<std::pair<std::size_t, std::size_t>> all;
      for (std::size_t t = 0; t < drafts_.tasks_.size(); ++t) {
        if (drafts_.kind_of(from_, t) != kind) continue;
        for (std::size_t a = 0; a < drafts_.tasks_[t].arguments.size(); ++a) {
          if (drafts_.tasks_[t].arguments[a].region() == region) all.emplace_back(t, a);
        }
      }
      if (all.size() < 2) continue;
      const std::string what = fmt::format("{} for {}", region, name_of(kind));
      keep(all, kind, what, region_share(region));
      lay_out(all, what, region_share(region) / 2);
    }
  }

  std::string otherwise() const { return from_.base->text.empty() ? "by default" : "as before"; }
  std::string in(const std::vector<MemKind>& memories) const {
    return memories.empty() ? "kept " + otherwise()
                            : fmt::format("in {}", name_of(memories.front()));
  }
  // None said, or one.
  std::vector<std::vector<MemKind>> memories(ProcKind kind) const {
    std::vector<std::vector<MemKind>> all = {{}};
    for (const MemKind memory : drafts_.memories_of(kind)) all.push_back({memory});
    return all;
  }

  using Arguments = std::vector<std::pair<std::size_t, std::size_t>>;
  void keep(const Arguments& arguments, ProcKind kind, const std::string& what, double weight) {
    for (const auto& memory : memories(kind)) {
      Draft draft = from_;
      for (const auto& [t, a] : arguments) draft.tasks[t].arguments[a].memories = memory;
      add(Move::What::kMemory, std::move(draft), fmt::format("{} {}", what, in(memory)), weight);
    }
  }
  void lay_out(const Arguments& arguments, const std::string& what, double weight) {
    for (const edit::LayoutWords& layout : layouts()) {
      Draft draft = from_;
      for (const auto& [t, a] : arguments) draft.tasks[t].arguments[a].layout = layout;
      add(Move::What::kLayout, std::move(draft),
          fmt::format("{} laid out {}", what, layout.empty() ? otherwise() : edit::str(layout)),
          weight);
    }
  }

  const Drafts& drafts_;
  const Draft& from_;
  const ProfileFacts* facts_;
  std::vector<Move> moves_;
};

std::vector<Move> Drafts::moves(const Draft& draft, const ProfileFacts* facts) const {
  return Collector(*this, draft, facts).moves();
}

// Half of the time the change is a random mapping function, if some task has an index launch.
Move Drafts::random_move(const Draft& draft, std::uint64_t random) const {
  std::vector<std::size_t> placed;
  for (std::size_t t = 0; t < tasks_.size(); ++t) {
    if (tasks_[t].dimensions > 0) placed.push_back(t);
  }
  const auto draw = [&](std::uint64_t place, std::size_t count) {
    return below(random_at(random, place), count);
  };
  if (!placed.empty() && draw(0, 2) == 0) {
    const std::size_t task = placed[draw(1, placed.size())];
    const Function function = random_function(task, kind_of(draft, task), random_at(random, 2));
    const bool alike = draw(3, 2) == 0;
    if (function != nullptr) {
      Move move{draft, Move::What::kPlace,
                fmt::format("{} placed by {}", tasks_[task].name, function->name)};
      for (const std::size_t t : placed) {
        const bool same =
            tasks_[t].extents == tasks_[task].extents && kind_of(draft, t) == kind_of(draft, task);
        if (t == task || (alike && same)) move.draft.tasks[t].placement = function;
      }
      return move;
    }
  }
  std::vector<Move> all = moves(draft, nullptr);
  return all.empty() ? Move{draft, Move::What::kKind, "nothing"}
                     : std::move(all[draw(4, all.size())]);
}

// Changes all arguments with the shortage's name, for tasks on the same processor kind.
std::optional<Move> Drafts::with_room(const Draft& draft, const Shortage& shortage) const {
  const auto about = std::find_if(tasks_.begin(), tasks_.end(),
                                  [&](const Task& task) { return task.name == shortage.task; });
  if (about == tasks_.end()) return std::nullopt;
  const auto argument =
      std::find_if(about->arguments.begin(), about->arguments.end(), [&](const Argument& each) {
        return static_cast<std::int64_t>(each.position) == shortage.requirement;
      });
  if (argument == about->arguments.end()) return std::nullopt;
  const ProcKind kind = kind_of(draft, static_cast<std::size_t>(about - tasks_.begin()));
  Move move{draft, Move::What::kMemory, {}, 1};
  for (std::size_t t = 0; t < tasks_.size(); ++t) {
    for (std::size_t a = 0; a < tasks_[t].arguments.size(); ++a) {
      const bool same =
          &tasks_[t].arguments[a] == &*argument ||
          (!argument->names.empty() && tasks_[t].arguments[a].region() == argument->region());
      if (!same || kind_of(draft, t) != kind) continue;
      std::vector<MemKind> all = all_memories(draft, t, a);
      if (all.size() > 1) move.draft.tasks[t].arguments[a].memories = std::move(all);
    }
  }
  if (move.draft == draft) return std::nullopt;
  move.why =
      fmt::format("{} for {} where there is room",
                  argument->names.empty() ? argument->words_of(about->name) : argument->region(),
                  name_of(kind));
  return move;
}

}  // namespace groma::tuning
