// place(): finds the function that places the points of a task, then calls the function for every
// point of a launch.
#include <fmt/format.h>

#include <algorithm>

#include "explain/explain_query.h"
#include "groma/harmless.h"
#include "groma/inspect.h"
#include "groma/spelling.h"
#include "inspect/placing_function.h"
#include "program/data.h"

namespace groma {
namespace {

using inspect::PlacingFunction;

// Finds the processor kind and the mapping function for the task of a query.
class Decider {
 public:
  Decider(const BoundProgram& bound, const PlaceQuery& query, Diagnostics& diags)
      : program_(bound.program()),
        machine_(bound.machine()),
        query_(query),
        diags_(diags),
        parents_(query.parents.begin(), query.parents.end()),
        task_(query.task, parents_, query.parent ? 0 : query.domain.box.dimensions()) {}

  // Returns the function and the statements that chose it. Returns nullopt, after a diagnostic, if
  // no statement decides or a name is unknown.
  std::optional<PlacingFunction> decide() {
    PlacingFunction decision;
    decision.kind = query_.from;
    if (!query_.function.empty()) {
      const auto function = named_function();
      if (!function) return std::nullopt;
      decision.function = *function;
      return decision;
    }
    if (const auto task = program_.task(task_)) {
      decision.kind = first_present(*task);
      if (!decision.kind) return std::nullopt;
      decision.origins.push_back(task->origin);
    }
    const auto mapped = bound_function(decision.kind);
    if (!mapped) return std::nullopt;
    decision.function = mapped->function;
    decision.origins.push_back(mapped->origin);
    return decision;
  }

 private:
  // Returns the function that the query names. Suggests similar names if there is none.
  std::optional<FunctionId> named_function() {
    const auto function = program_.find_function(query_.function);
    if (!function) {
      Diagnostic& diagnostic =
          diags_.report(DiagId::kUnknownFunction, std::nullopt, query_.function);
      std::vector<std::string_view> names;
      for (FunctionId f = 0; f < program_.function_count(); ++f) {
        names.push_back(program_.function_name(f));
      }
      suggest(diagnostic, query_.function, names);
      return std::nullopt;
    }
    if (program_.is_mapping_function(*function)) return function;
    diags_.report(DiagId::kMappingSignature, program_.function_source_range(*function),
                  query_.function, "something else");
    return std::nullopt;
  }

  // Returns the first kind of the Task statement that the machine has. No application is given, so
  // the task is assumed to have a variant for each kind. Reports an error if the machine has none
  // of the kinds.
  std::optional<ProcKind> first_present(const TaskDecision& task) {
    for (ProcKind kind : task.kinds) {
      if (machine_.has(kind)) return kind;
    }
    std::vector<std::string_view> names;
    for (ProcKind kind : task.kinds) names.push_back(name_of(kind));
    diags_
        .report(DiagId::kNoVariant, program_.range(task.origin), query_.task,
                join_names(names, "and"))
        .note(fmt::format("`{}` has {}", machine_.name(), kinds_of_machine()));
    return std::nullopt;
  }

  // Returns the kinds of processors that the machine has, for a message.
  std::string kinds_of_machine() const {
    std::vector<std::string_view> names;
    for (std::size_t k = 0; k < kProcKindCount; ++k) {
      if (machine_.has(static_cast<ProcKind>(k))) names.push_back(kProcKindNames[k]);
    }
    return names.empty() ? "no processors" : join_names(names, "and");
  }

  // Returns the function for a single task if the query gives a parent, otherwise that for an index
  // launch.
  std::optional<MappingFunctionDecision> lookup(std::optional<ProcKind> kind) const {
    return query_.parent ? program_.single_function(task_, kind)
                         : program_.index_function(task_, kind);
  }

  // Returns the function for the task. Without a kind, the function must be the same for all kinds.
  // If there is no function or if there are several, reports an error that says what the user can
  // ask instead.
  std::optional<MappingFunctionDecision> bound_function(std::optional<ProcKind> kind) {
    std::optional<MappingFunctionDecision> found = lookup(kind);
    bool several = false;
    for (std::size_t k = 0; k < kProcKindCount && !kind; ++k) {
      if (!machine_.has(static_cast<ProcKind>(k))) continue;
      const auto other = lookup(static_cast<ProcKind>(k));
      if (other && found && other->origin != found->origin) several = true;
      if (other && !found) found = other;
    }
    if (found && !several) return found;
    const std::string_view statement = query_.parent ? "SingleTaskMap" : "IndexTaskMap";
    Diagnostic& diagnostic =
        diags_.report(DiagId::kNoMappingFunction, std::nullopt, statement, query_.task);
    if (several) {
      diagnostic.note("it depends on the kind of processor that the task runs on")
          .help("say which: `--from GPU`, or write a Task statement");
    } else {
      if (!query_.parent && program_.single_function(task_, kind)) {
        diagnostic.note("a SingleTaskMap statement does, for single tasks")
            .help("give a parent instead of a launch: `--parent NODE,PROCESSOR`");
        return std::nullopt;
      }
      std::vector<std::string_view> tasks;
      for (const program::StatementRow& row : program_.data().rows) {
        const NameTable& names = program_.data().names;
        if (!names.is_name(row.key.task)) continue;
        tasks.push_back(names.text(row.key.task));
      }
      std::sort(tasks.begin(), tasks.end());
      tasks.erase(std::unique(tasks.begin(), tasks.end()), tasks.end());
      diagnostic.note("the default mapper decides then");
      const bool is_known = std::binary_search(tasks.begin(), tasks.end(), query_.task);
      if (!is_known && suggest(diagnostic, query_.task, tasks)) return std::nullopt;
      diagnostic.help(fmt::format("write `{} {} f;`, or ask for a function: `--function f`",
                                  statement, query_.task));
    }
    return std::nullopt;
  }

  const Program& program_;
  const Machine& machine_;
  const PlaceQuery& query_;
  Diagnostics& diags_;
  const std::vector<std::string_view> parents_;
  const LaunchedTask task_;
};

// Returns the extents of a box: "4x4".
std::string extents_text(const Rect& domain) {
  std::string text;
  for (int i = 0; i < domain.dimensions(); ++i) {
    text += fmt::format("{}{}", i == 0 ? "" : "x", domain.extents[i]);
  }
  return text;
}

// Returns the processor of the parent that the query names. Reports an error if the machine does
// not have it.
std::optional<Processor> parent_processor(const BoundProgram& bound, const PlaceQuery& query,
                                          std::optional<ProcKind> kind, Diagnostics& diags) {
  const Machine& machine = bound.machine();
  const auto [node, index] = *query.parent;
  std::int64_t most = 0;
  for (std::size_t k = 0; k < kProcKindCount && node >= 0 && node < machine.node_count(); ++k) {
    const auto each = static_cast<ProcKind>(k);
    if (!kind || *kind == each) most = std::max(most, machine.processor_count(node, each));
  }
  if (node >= 0 && node < machine.node_count() && index >= 0 && index < most) {
    return Processor{kind.value_or(ProcKind::kGpu), node, index};
  }
  const bool node_wrong = node < 0 || node >= machine.node_count();
  diags
      .report(DiagId::kSliceIndexOutOfBound, std::nullopt, node_wrong ? 0 : 1,
              node_wrong ? node : index, node_wrong ? machine.node_count() : most)
      .note(
          fmt::format("`--parent {},{}` names no processor of `{}`", node, index, machine.name()));
  return std::nullopt;
}

// Sets `placement.loads`, the number of points on each processor.
void count_loads(const Machine& machine, Placement& placement) {
  for (std::int64_t node = 0; node < machine.node_count(); ++node) {
    const std::int64_t count = machine.processor_count(node, placement.kind);
    placement.loads.emplace_back(static_cast<std::size_t>(count), 0);
  }
  for (const Processor& p : placement.points) {
    ++placement.loads[static_cast<std::size_t>(p.node)][static_cast<std::size_t>(p.index)];
  }
}

}  // namespace

namespace inspect {

std::optional<PlacingFunction> placing_function(const BoundProgram& bound, const PlaceQuery& query,
                                                Diagnostics& diags) {
  return Decider(bound, query, diags).decide();
}

bool check_domain(const PlaceQuery& query, std::int64_t max_points, Diagnostics& diags) {
  if (query.parent) return true;
  const std::int64_t volume = query.domain.count();
  if (volume == 0) {
    diags.report(DiagId::kEmptyDomain, std::nullopt, extents_text(query.domain.box));
  } else if (volume > max_points) {
    diags.report(DiagId::kDomainTooLarge, std::nullopt, extents_text(query.domain.box), max_points)
        .help("ask for a part of it: smaller extents, with `--lower` where it begins elsewhere");
  } else {
    return true;
  }
  return false;
}

}  // namespace inspect

std::optional<Error> set_task(const std::string& path, PlaceQuery* query) {
  query->task = path;
  query->parents.clear();
  const TaskFilter filter(path);
  if (!filter.selecting()) return std::nullopt;
  const NameTable& names = filter.selecting()->data().names;
  const TaskSelector& selector = names.selectors().begin()->second;
  const bool is_named = std::all_of(selector.path.begin(), selector.path.end(),
                                    [&](NameId word) { return names.is_name(word); });
  if (names.selectors().size() > 1 || !is_named || selector.dimensions >= 0) {
    return Error{
        Error::Code::kMalformed, fmt::format("`{}` does not name one task", harmless(path)),
        "write the names of the tasks above it and its own, such as 'main > step > update'"};
  }
  for (const NameId word : selector.path) query->parents.emplace_back(names.text(word));
  query->task = query->parents.back();
  query->parents.pop_back();
  std::reverse(query->parents.begin(), query->parents.end());
  return std::nullopt;
}

// Returns the number of all processors of the kind, with and without points.
std::int64_t Placement::processor_count() const {
  std::size_t count = 0;
  for (const auto& node : loads) count += node.size();
  return static_cast<std::int64_t>(count);
}

// Returns the largest number of points on a processor.
std::int64_t Placement::max_load() const {
  std::int64_t most = 0;
  for (const auto& node : loads) {
    for (std::int64_t load : node) most = std::max(most, load);
  }
  return most;
}

// Returns the smallest number of points on a processor, which is 0 if a processor has none.
std::int64_t Placement::min_load() const {
  std::int64_t least = static_cast<std::int64_t>(points.size());
  for (const auto& node : loads) {
    for (std::int64_t load : node) least = std::min(least, load);
  }
  return least;
}

// Evaluates the function for each point of the launch. Calls `progress` after every 1024 points,
// and returns nullopt if `progress` returns false. Also returns nullopt, after a diagnostic, if the
// function fails or a limit is exceeded.
std::optional<Placement> place(const BoundProgram& bound, const PlaceQuery& query,
                               Diagnostics& diags, LogSink* log, const Progress& progress) {
  const auto decision = inspect::placing_function(bound, query, diags);
  if (!decision || !inspect::check_domain(query, kMaxPlacePoints, diags)) return std::nullopt;
  Placement placement;
  placement.task = query.task;
  placement.function = decision->function;
  placement.function_name = bound.program().function_name(decision->function);
  placement.decided_by = decision->origins;
  TaskPoint task;
  task.name = query.task;
  if (query.parent) {
    task.parent = task.processor = parent_processor(bound, query, decision->kind, diags);
    if (!task.parent) return std::nullopt;
  } else {
    placement.domain = query.domain;
    task.domain = query.domain.box;
    task.points = query.domain.some_points();
    task.point = query.domain.first_point();
  }
  const std::int64_t all = placement.domain.count();
  FunctionEvaluator evaluator(bound, log);
  bool any_set = false;
  std::int64_t set_items = 0;
  do {
    auto placed = evaluator.place(decision->function, task, decision->kind, diags);
    if (!placed) return std::nullopt;
    if (evaluator.steps() > kMaxPlaceSteps) {
      diags
          .report(DiagId::kStepLimit, bound.program().function_source_range(decision->function),
                  kMaxPlaceSteps)
          .note(fmt::format("for the first {} of {} points", placement.points.size(), all));
      return std::nullopt;
    }
    set_items += static_cast<std::int64_t>(placed->processors.size());
    if (placed->is_set && set_items > kMaxPlaceSetItems) {
      diags
          .report(DiagId::kDomainTooLarge, std::nullopt, extents_text(query.domain.box),
                  placement.points.size())
          .note(fmt::format("the sets of so many have {} processors in all", kMaxPlaceSetItems))
          .help("ask for a part of it: smaller extents, with `--lower` where it begins elsewhere");
      return std::nullopt;
    }
    // `sets` stays empty until a function first returns a set. Then the earlier points get sets of
    // one processor.
    placement.points.push_back(placed->processors.front());
    if (placed->is_set && !any_set) {
      any_set = true;
      for (const Processor& point : placement.points) placement.sets.push_back({point});
      placement.sets.pop_back();
    }
    if (any_set) placement.sets.push_back(std::move(placed->processors));
    const auto done = static_cast<std::int64_t>(placement.points.size());
    if (progress && done % 1024 == 0 && !progress(done, all)) return std::nullopt;
  } while (!query.parent && next_point(placement.domain, &task.point));
  placement.kind = decision->kind.value_or(placement.points.front().kind);
  count_loads(bound.machine(), placement);
  return placement;
}

}  // namespace groma
