// Makes the suggestions from the facts about a run's time. Each kind of cost has one function,
// which finds the change that may save most of it.
#include "guide/profile_advice.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "groma/harmless.h"
#include "guide/copy_advice.h"
#include "guide/fact_query.h"
#include "guide/suggestion_writer.h"
#include "syntax/lexer.h"

namespace groma::guide {
namespace {

using Cause = ProfileFacts::Cause;
using Spread = ProfileFacts::Spread;
using Stream = ProfileFacts::Stream;
using User = FactQuery::User;

// The smallest share of the time that a suggestion must be able to save.
constexpr double kWorthSaving = 0.02;
// Limit on the suggestions.
constexpr std::size_t kMaxSuggestions = 5;
// Limit on the tasks that one statement names.
constexpr std::size_t kMaxTasks = 4;

std::string share_text(double share) { return fmt::format("{:.0f} %", share * 100); }

// Makes the suggestions about one run.
class ProfileAdviser {
 public:
  ProfileAdviser(const ProfileFacts& facts, const Program* program)
      : facts_(facts), program_(program), query_(facts), writer_(program) {}

  std::vector<ProfileSuggestion> suggestions() {
    for (const Stream& stream : facts_.streams) move_stream(stream);
    move_tasks_to_gpus();
    for (const Cause& cause : facts_.causes) {
      if (cause.doing == "copy" || cause.doing == "reduction") avoid_copies(cause);
    }
    spread_evenly();
    replicate();
    std::stable_sort(made_.begin(), made_.end(),
                     [](const auto& a, const auto& b) { return a.saves > b.saves; });
    // Two suggestions that have a subject in common may contradict each other.
    std::set<std::string> subjects;
    std::vector<ProfileSuggestion> kept;
    for (ProfileSuggestion& each : made_) {
      if (kept.size() == kMaxSuggestions) break;
      if (std::any_of(each.subjects.begin(), each.subjects.end(),
                      [&](const std::string& subject) { return subjects.contains(subject); })) {
        continue;
      }
      subjects.insert(each.subjects.begin(), each.subjects.end());
      kept.push_back(std::move(each));
    }
    return kept;
  }

 private:
  // Adds a suggestion if it may save enough time. Does nothing without a change.
  void add(double saves, std::vector<std::string> subjects, std::string reason, std::string aim,
           std::optional<ProposedChange> change) {
    if (!change || saves < kWorthSaving) return;
    change->reason = std::move(reason);
    change->aim = std::move(aim);
    made_.push_back({saves, std::move(subjects), *std::move(change)});
  }

  // ---- Data in slow memories

  // Suggests the memory with room in which the tasks that stream the data take least time.
  void move_stream(const Stream& stream) {
    const auto kind = find_proc_kind(stream.kind);
    if (!kind || stream.share < kWorthSaving) return;
    const Stream::Elsewhere* best = nullptr;
    for (const Stream::Elsewhere& each : stream.elsewhere) {
      const bool is_offered = each.has_room && each.memory != "RDMEM";
      if (is_offered && (best == nullptr || each.saves > best->saves)) best = &each;
    }
    const auto memory = best == nullptr ? std::nullopt : find_mem_kind(best->memory);
    if (!memory || best->saves < kWorthSaving) return;
    // The same data in the same memory is moved for all tasks of the kind together.
    double saves = best->saves;
    bool all_tasks = false;
    Stream together = stream;
    for (const Stream& other : facts_.streams) {
      if (other.task == stream.task || other.names != stream.names || other.kind != stream.kind ||
          other.memory != stream.memory) {
        continue;
      }
      all_tasks = true;
      for (const Stream::Elsewhere& each : other.elsewhere) {
        if (each.memory != best->memory || each.saves < kWorthSaving) continue;
        saves += each.saves;
        together.share += other.share;
        together.task += "`, `" + other.task;
      }
    }
    const std::string data = written_data(stream.names, stream.requirement);
    std::string aim = "put it in " + best->memory;
    const std::string elsewhere = query_.users_elsewhere(stream, best->memory);
    if (!elsewhere.empty()) aim += ", at the price of copies for " + elsewhere;
    add(saves, {"data of " + data, fmt::format("data of {} on {}", stream.task, stream.kind)},
        describe_stream(together), std::move(aim),
        writer_.put_data(stream, *memory, *kind, all_tasks));
  }

  // ---- Tasks on slow processors

  // Returns true if the task has a variant for GPUs and no mapping function binds it to its present
  // kind of processors.
  bool can_move_to_gpus(const Spread& spread) const {
    if (!contains(spread.kinds, "GPU")) return false;
    const auto kind = find_proc_kind(spread.kind);
    if (program_ == nullptr || !kind) return true;
    const auto is_bound = [](const auto& now, const auto& then) {
      return now && then && now->function == then->function;
    };
    return !is_bound(program_->index_function(spread.task, *kind),
                     program_->index_function(spread.task, ProcKind::kGpu)) &&
           !is_bound(program_->single_function(spread.task, *kind),
                     program_->single_function(spread.task, ProcKind::kGpu));
  }

  // Suggests to move tasks that have variants for GPUs there, all together in one statement.
  void move_tasks_to_gpus() {
    std::vector<const Spread*> moved;
    double share = 0;
    for (const Spread& spread : facts_.spreads) {
      const double own = query_.share_of_task(spread.task);
      const bool may_move = spread.kind != "GPU" && can_move_to_gpus(spread);
      if (may_move && own >= kWorthSaving) {
        moved.push_back(&spread);
        share += own;
      }
    }
    std::stable_sort(moved.begin(), moved.end(), [&](const Spread* a, const Spread* b) {
      return query_.share_of_task(a->task) > query_.share_of_task(b->task);
    });
    moved.resize(std::min(moved.size(), kMaxTasks));
    let_run_on_gpus(moved, share + query_.share_of_copies_to_gpus(moved),
                    fmt::format("{} of the time is", share_text(share)));
  }

  // Suggests a Task statement that moves the tasks to GPUs. `reason` begins the sentence and is
  // followed by the tasks.
  void let_run_on_gpus(const std::vector<const Spread*>& tasks, double saves,
                       const std::string& reason) {
    edit::StatementParts statement{.processors = {ProcKind::kGpu}};
    std::string said;
    std::vector<std::string> subjects;
    for (const Spread* spread : tasks) {
      const auto name = syntax::name_as_written(spread->task);
      const auto kind = find_proc_kind(spread->kind);
      if (!name || !kind || contains(statement.tasks, *name)) continue;
      statement.tasks.push_back(*name);
      if (std::find(statement.processors.begin(), statement.processors.end(), *kind) ==
          statement.processors.end()) {
        statement.processors.push_back(*kind);
      }
      said += fmt::format("{}`{}` on {}", said.empty() ? "" : ", ", spread->task, spread->kind);
      subjects.push_back("kind of " + spread->task);
      subjects.push_back(fmt::format("data of {} on {}", spread->task, spread->kind));
    }
    if (statement.tasks.empty()) return;
    const bool many = statement.tasks.size() > 1;
    add(saves, std::move(subjects),
        fmt::format("{} task{} {}, which {} a GPU variant", reason, many ? "s" : "", said,
                    many ? "have" : "has"),
        fmt::format("move {} to GPUs", many ? "them" : "it"), writer_.write(statement));
  }

  // ---- Copies

  static std::string describe_copies(const Cause& cause) {
    return fmt::format("{} of the time is {} of `{}` {}{}", share_text(cause.share),
                       cause.doing == "copy" ? "copies" : "reductions", cause.region,
                       copy_direction_text(cause), size_of_copies(cause));
  }

  void avoid_copies(const Cause& cause) {
    const std::vector<User> users = query_.users_of(cause.region);
    if (users.empty() || cause.share < kWorthSaving) return;
    if (cause.same_memory) {
      unite_layouts(cause, users);
    } else if (cause.other_node || cause.from == cause.to) {
      keep_neighbours_together(cause, users);
    } else {
      unite_memories(cause, users);
    }
  }

  // The data moves between memories of two kinds. Suggests to run all its tasks on GPUs, or to keep
  // it in one memory that all its tasks reach.
  void unite_memories(const Cause& cause, const std::vector<User>& users) {
    std::vector<const Spread*> movable;
    bool stays = false;
    for (const User& user : users) {
      if (user.spread->kind == "GPU") continue;
      if (!can_move_to_gpus(*user.spread)) {
        stays = stays || FactQuery::touches(user, cause);
      } else if (std::find(movable.begin(), movable.end(), user.spread) == movable.end()) {
        movable.push_back(user.spread);
      }
    }
    const bool uses_framebuffer = cause.from == "FBMEM" || cause.to == "FBMEM";
    if (uses_framebuffer && !stays && !movable.empty()) {
      movable.resize(std::min(movable.size(), kMaxTasks));
      let_run_on_gpus(movable, cause.share, describe_copies(cause) + " for");
      return;
    }
    // Data that some task uses in FBMEM and another in ZCMEM, both on GPUs, can stay in FBMEM.
    const bool all_on_gpus = std::all_of(
        users.begin(), users.end(), [](const User& user) { return user.spread->kind == "GPU"; });
    if (is_copy_between(cause, "ZCMEM", "FBMEM") && all_on_gpus) {
      keep_in(cause, users, "FBMEM", 0);
    } else if (uses_framebuffer) {
      keep_in(cause, users, "ZCMEM", query_.extra_time(users, "ZCMEM"));
    }
  }

  // Suggests to keep the data of the copies in one memory, for the users on the kinds of processors
  // that have it in another memory now.
  void keep_in(const Cause& cause, const std::vector<User>& users, const std::string& memory,
               double extra) {
    const auto target = find_mem_kind(memory);
    for (const User& user : users) {
      const bool is_elsewhere =
          !user.data->memories.empty() && !contains(user.data->memories, memory);
      const auto kind = find_proc_kind(user.spread->kind);
      if (!is_elsewhere || !kind || !target || !query_.may_hold(user, memory)) continue;
      Stream stream;
      stream.task = user.spread->task;
      stream.kind = user.spread->kind;
      stream.requirement = user.requirement;
      stream.names = user.data->names;
      const std::string data = written_data(stream.names, stream.requirement);
      const bool others = users.size() > 1;
      add(cause.share - extra, {"data of " + data, "copies of " + cause.region},
          describe_copies(cause), fmt::format("keep it in {} for all its tasks", memory),
          writer_.put_data(stream, *target, *kind, others));
      return;
    }
  }

  // The data moves between instances in one memory. If its tasks have different layouts because of
  // the mapping, suggests to give the others the layout of the first one.
  void unite_layouts(const Cause& cause, const std::vector<User>& users) {
    if (program_ == nullptr) return;
    std::optional<LayoutSpec> first;
    const auto memory = find_mem_kind(cause.to);
    for (const User& user : users) {
      const auto kind = find_proc_kind(user.spread->kind);
      const auto task = syntax::name_as_written(user.spread->task);
      if (!kind || !memory || !task) continue;
      const std::vector<std::string_view> names(user.data->names.begin(), user.data->names.end());
      const auto decision =
          program_->layout(user.spread->task, {user.requirement, names}, *kind, *memory);
      const LayoutSpec layout = decision ? decision->layout : LayoutSpec{};
      if (!first) first = layout;
      const edit::LayoutWords words = edit::layout_words_of(*first);
      if (words == edit::layout_words_of(layout)) continue;
      const std::string data = written_data(user.data->names, user.requirement);
      add(cause.share, {"layout of " + cause.region},
          describe_copies(cause) + ", from one layout to another",
          fmt::format("give `{}` the layout that its other tasks use", user.spread->task),
          writer_.write({.kind = MappingStatement::kLayout,
                         .tasks = {*task},
                         .regions = {data},
                         .place = *kind,
                         .layout = words}));
      return;
    }
  }

  // ---- Places

  // Returns the function that puts neighbouring points of a launch on one processor or node. For
  // nested single tasks, returns the one that runs each task where its parent runs.
  edit::MappingFunction function_for(const Spread& spread) const {
    edit::MappingFunction function =
        edit::named_function(spread.nested_runs > 0  ? std::string(edit::kSamePoint)
                             : spread.dimensions > 1 ? "grid"
                                                     : "first_block");
    // Only words can say what the function does if there is no mapping to edit.
    if (program_ == nullptr) {
      function.description = spread.nested_runs > 0 ? "each task runs where its parent runs"
                                                    : "each processor gets a block of neighbouring "
                                                      "points, each node a block of processors";
    }
    return function;
  }

  // Returns the change that binds this function to the tasks, which are all index tasks or all
  // single tasks of one kind. Returns nullopt if the mapping has it already.
  std::optional<ProposedChange> place(const std::vector<const Spread*>& spreads) const {
    const Spread& first = *spreads.front();
    edit::StatementParts statement{.kind = first.nested_runs > 0 ? MappingStatement::kSingleTaskMap
                                                                 : MappingStatement::kIndexTaskMap};
    for (const Spread* spread : spreads) {
      const auto task = syntax::name_as_written(spread->task);
      if (task && !contains(statement.tasks, *task)) statement.tasks.push_back(*task);
    }
    const auto kind = find_proc_kind(first.kind);
    if (statement.tasks.empty() || !kind || (first.dimensions < 1 && first.nested_runs == 0)) {
      return std::nullopt;
    }
    const edit::MappingFunction function = function_for(first);
    return writer_.write(statement, &function, *kind);
  }

  // Returns the function of the statement that places the task; nullopt if the default mapper does.
  std::optional<FunctionId> placed_by(const Spread& spread) const {
    if (program_ == nullptr) return std::nullopt;
    const auto kind = find_proc_kind(spread.kind);
    const auto decision = spread.nested_runs > 0 ? program_->single_function(spread.task, kind)
                                                 : program_->index_function(spread.task, kind);
    return decision ? std::optional(decision->function) : std::nullopt;
  }

  // The data moves between processors or nodes. For single tasks that points launch, suggests to
  // run each one where its parent runs, unless a statement places them. If a statement places the
  // points of a task that uses it, suggests blocks of neighbouring points. The default mapper makes
  // blocks anyhow.
  void keep_neighbours_together(const Cause& cause, const std::vector<User>& users) {
    for (const User& user : users) {
      const Spread& spread = *user.spread;
      if (spread.nested_runs > 0 && !placed_by(spread)) {
        add(query_.share_of_copies(spread), {"place of " + spread.task}, describe_copies(cause),
            fmt::format("let each `{}` run where its parent runs", spread.task), place({&spread}));
        return;
      }
    }
    // Data that comes from a memory of another kind was made by a task of another launch, not by a
    // neighbouring point.
    if (cause.from != cause.to) return;
    for (const User& user : users) {
      // Blocks of equally many points would not be even if some points take longer.
      const bool is_weighed = !user.spread->heavy_points.empty();
      if (!placed_by(*user.spread) || user.spread->points < 2 || is_weighed) continue;
      const std::vector<const Spread*> together = placed_with(*user.spread);
      std::vector<std::string> subjects;
      for (const Spread* spread : together) subjects.push_back("place of " + spread->task);
      add(cause.share, std::move(subjects), describe_copies(cause),
          fmt::format("let neighbouring points of {} run on one {}", names_of(together),
                      cause.other_node ? "node" : "processor"),
          place(together));
      return;
    }
  }

  // Returns the tasks that the same function places on the same kind of processors in launches of
  // as many dimensions, `spread` first.
  std::vector<const Spread*> placed_with(const Spread& spread) const {
    std::vector<const Spread*> together = {&spread};
    for (const Spread& other : facts_.spreads) {
      if (&other != &spread && other.kind == spread.kind && together.size() < kMaxTasks &&
          other.dimensions == spread.dimensions && placed_by(other) == placed_by(spread)) {
        together.push_back(&other);
      }
    }
    return together;
  }

  // Returns the names of the tasks as a list in words.
  static std::string names_of(const std::vector<const Spread*>& spreads) {
    std::string names;
    for (std::size_t i = 0; i < spreads.size(); ++i) {
      names += fmt::format("{}`{}`",
                           i == 0                    ? ""
                           : i + 1 == spreads.size() ? " and "
                                                     : ", ",
                           spreads[i]->task);
    }
    return names;
  }

  // Suggests to spread the points of tasks evenly, if they have enough points. Tasks that the same
  // function places now are moved together, because they may share data.
  void spread_evenly() {
    std::vector<bool> done(facts_.spreads.size());
    for (std::size_t i = 0; i < facts_.spreads.size(); ++i) {
      const Spread& first = facts_.spreads[i];
      if (done[i] || first.lost < kWorthSaving) continue;
      std::vector<const Spread*> together;
      double saves = 0;
      std::vector<std::string> subjects;
      for (std::size_t k = i; k < facts_.spreads.size(); ++k) {
        const Spread& other = facts_.spreads[k];
        if (other.kind != first.kind || other.dimensions != first.dimensions ||
            (other.nested_runs > 0) != (first.nested_runs > 0) || other.lost < kWorthSaving ||
            placed_by(other) != placed_by(first) || together.size() == kMaxTasks) {
          continue;
        }
        done[k] = true;
        together.push_back(&other);
        saves += other.lost;
        subjects.push_back("place of " + other.task);
      }
      const std::string tasks = names_of(together);
      std::string reason =
          first.used < first.processors
              ? fmt::format("{} of {} {} processors run{} all of {}", first.used, first.processors,
                            first.kind, first.used == 1 ? "s" : "", tasks)
              : fmt::format("{} works longer on {} than the others", first.busiest, tasks);
      std::string aim =
          first.nested_runs > 0
              ? "let each one run where its parent runs"
              : fmt::format("spread the {} points{} over all {} {} processors", first.points,
                            first.counts_all_launches ? " of all launches" : "", first.processors,
                            first.kind);
      add(saves, std::move(subjects), std::move(reason), std::move(aim), place(together));
    }
  }

  // ---- The runtime

  // Suggests to replicate the top-level task, so that each node launches and maps its own points.
  void replicate() {
    if (facts_.nodes < 2 || facts_.could_replicate.empty()) return;
    if (program_ != nullptr && program_->replicates_any()) return;
    const auto task = syntax::name_as_written(facts_.could_replicate);
    if (!task) return;
    const double share = facts_.runtime * (1 - 1 / static_cast<double>(facts_.nodes));
    add(share, {"replication"},
        fmt::format(
            "{} of the time the run waits for the runtime, where one node launches all tasks",
            share_text(facts_.runtime)),
        "let each node launch its part",
        writer_.write({.kind = MappingStatement::kControlReplicate, .tasks = {*task}}));
  }

  const ProfileFacts& facts_;
  const Program* const program_;
  const FactQuery query_;
  const SuggestionWriter writer_;
  std::vector<ProfileSuggestion> made_;
};

}  // namespace

bool are_detailed(const ProfileFacts& facts) { return !facts.spreads.empty(); }

std::vector<ProfileSuggestion> profile_suggestions(const ProfileFacts& facts,
                                                   const Program* program) {
  return ProfileAdviser(facts, program).suggestions();
}

std::string sentence_of(const ProfileSuggestion& suggestion) {
  const ProposedChange& change = suggestion.change;
  return fmt::format("{}: {} ({}); this saves at most {} of the time", change.reason, change.aim,
                     change.fix.title, share_text(std::min(1.0, suggestion.saves)));
}

std::string describe_stream(const ProfileFacts::Stream& stream) {
  return fmt::format("{} of the time tasks of `{}` stream `{}` from {} at {:.3g} GB/s",
                     share_text(stream.share), stream.task,
                     written_data(stream.names, stream.requirement), stream.memory,
                     stream.bytes_per_s * 1e-9);
}

}  // namespace groma::guide
