// Implements the rehearsal, which maps all tasks in the order of the program, without events and
// without time. rehearsal.h says what this proves about a run. TaskRehearsal maps the single tasks.
#include "simulate/rehearsal.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "base/one_diagnostic.h"
#include "base/saturating.h"
#include "simulate/hash.h"
#include "simulate/held_data.h"
#include "simulate/task_rehearsal.h"

namespace groma::sim {
namespace {

// The number of iterations that repeat the one before, after which the clock counts all others like
// the last one. The first of them may still be delayed by what was before the loop.
constexpr std::int64_t kTimedIterations = 2;

// The numbers that a rehearsal counts while it goes through the program.
struct RehearsalCounts {
  std::int64_t tasks = 0, statements = 0;
  // The largest possible number of tasks that are unfinished at the same time.
  std::int64_t live = 1;
  // The number of single tasks (not of index launches) that the default mapper placed by taking its
  // processors in turn.
  std::int64_t turns = 0;

  // For iterations of a loop that are not examined. `before` holds the counts before the last
  // examined iteration. Adds to each count `times` times what that iteration added.
  void repeat(const RehearsalCounts& before, std::int64_t times) {
    const auto more = [times](std::int64_t& count, std::int64_t then) {
      count = saturating_add(count,
                             saturating_multiply(times, std::max<std::int64_t>(0, count - then)));
    };
    more(tasks, before.tasks);
    more(statements, before.statements);
    more(live, before.live);
  }
};

class Rehearsal {
 public:
  Rehearsal(const app::Data& data, const DataSpaces& spaces, std::shared_ptr<const Machine> machine,
            const MapperFactory& make, const RehearsalOptions& options, bool notes_wants)
      : state_(data, spaces, std::move(machine), make, options, notes_wants) {}

  // Rehearses the whole program. Returns nullopt if the result depends on what all tasks want and
  // `notes_wants` is false. The caller then runs a second rehearsal that notes the wants.
  std::optional<RehearsalResult> run() {
    TaskRun top;
    if (!parts_.launcher.place_top_level_task(top)) {
      state_.collect_refusals(nullptr, nullptr);
      return state_.finish();
    }
    std::vector<Processor> places;
    top.op = parts_.ops.add();
    const bool mapped = tasks_.map(top, nullptr, {}, places);
    if (mapped && launches_tasks(parts_.input.data, top)) body_of(top, nullptr, {*top.processor});
    if (state_.certain || state_.findings.found_enough()) return state_.finish();
    if (!state_.notes_wants) return std::nullopt;
    state_.warn_about_wants();
    return state_.finish();
  }

 private:
  // A task that launches other tasks, and the processors where it may run.
  struct Level {
    LaunchingTask context;
    std::vector<Processor> may;
    // The times of the task, for the clock.
    RoughClock::LaunchingBody times;
  };

  // ---- Bodies

  // Rehearses the body of a task that launches other tasks. `outer` is the level of the task that
  // launched it; null for the top-level task. `may` holds the processors where the task may run.
  void body_of(TaskRun& run, Level* outer, std::vector<Processor> may) {
    Level level;
    level.may = std::move(may);
    if (parts_.launcher.fill_context(level.context, run)) {
      if (clock_) level.times = clock_->begin_body(run);
      body(level, parts_.input.data.tasks[run.task].body);
      if (clock_) clock_->end_body(run, level.times, outer == nullptr ? nullptr : &outer->times);
    } else {
      state_.collect_refusals(nullptr, &run);
    }
  }

  // Rehearses the statements of a body in order. A wait for a future matters only for the clock,
  // since it does not mean that all launched tasks are over.
  void body(Level& level, const app::Body& body) {
    for (const app::Statement& statement : body) {
      if (!step(1)) return;
      if (++counts_.statements > static_cast<std::int64_t>(kMaxStatements)) {
        return too_many_statements();
      }
      if (const auto* launch = std::get_if<app::Launch>(&statement.node)) {
        this->launch(level, *launch);
      } else if (const auto* loop = std::get_if<app::Loop>(&statement.node)) {
        this->loop(level, *loop);
      } else if (const auto* phase = std::get_if<app::Phase>(&statement.node)) {
        this->phase(level, *phase);
      } else if (const int future = std::get<app::Wait>(statement.node).future; future < 0) {
        wait_for_all(level);
      } else if (clock_) {
        clock_->wait_for_future(level.times, future);
      }
    }
  }

  // Rehearses a phase, which begins and ends with a wait for all tasks.
  void phase(Level& level, const app::Phase& phase) {
    wait_for_all(level);
    const RoughClock::Mark begin = clock_ ? clock_->mark(level.times) : RoughClock::Mark();
    body(level, phase.body);
    wait_for_all(level);
    if (clock_ && static_cast<int>(phase.phase) == parts_.input.data.metric_phase) {
      clock_->end_measured_phase(level.times, begin);
    }
  }

  // Handles a wait for all tasks that a task launched. All tasks of the run are surely over only if
  // the top-level task waits; a wait of another task is ignored.
  void wait_for_all(Level& level) {
    if (clock_) clock_->wait_for_all(level.times);
    if (level.context.run->parent != nullptr) return;
    tasks_.all_over();
    counts_.live = 1;
  }

  // Rehearses a loop. If the loop has no variable, the rest of the loop is skipped as soon as an
  // iteration takes the same instances and makes the same copies as the iteration before
  // (`signature`). All later iterations then do the same, so only their counts are added.
  //
  // The skip is exact for these reasons:
  // * The second of the two iterations found its instances, so all of them exist.
  // * For each cell, the copies show which instances were valid and which reductions were pending
  //   at each use.
  // * The state of the cell after the last task that writes or reduces to it depends only on the
  //   tasks from then on, which are the same in each iteration.
  // * If no task writes or reduces to the cell, the instance of every reader stays valid. If the
  //   choice of a reader is untracked, its instance stays valid only if no other instance is valid,
  //   which the source of the next copy shows.
  //
  // If the state of the store is uncertain in any case, an iteration that adds no want and no
  // finding stands for all later iterations. If it is uncertain where tasks run, mappers were asked
  // about all possible processors.
  void loop(Level& level, const app::Loop& loop) {
    std::int64_t count = 0;
    if (!parts_.launcher.count_iterations(level.context, loop, count))
      return state_.collect_refusals(nullptr, level.context.run);
    if (loop.body.empty()) return;
    const std::uint64_t around = state_.signature;
    std::uint64_t all = around, last = 0;
    std::int64_t equal = 0;
    RoughClock::Mark before_last, this_end;
    const RunTime around_end = level.times.iteration_end;
    for (std::int64_t i = 0; i < count && !state_.findings.ended(); ++i) {
      if (loop.slot >= 0) level.context.frame[static_cast<std::size_t>(loop.slot)] = i;
      const RehearsalCounts before = counts_;
      const std::int64_t changes = parts_.instances.changes();
      if (loop.traced && i == 1) ++level.times.replaying;
      level.times.iteration_end = 0;
      state_.signature = 1;
      body(level, loop.body);
      state_.add_to_signature(state_.wants.size() + state_.findings.all().size());
      const bool repeats =
          i > 0 && state_.signature == last && parts_.instances.changes() == changes;
      last = state_.signature;
      all = combine_hash(all, state_.signature);
      equal = repeats ? equal + 1 : 0;
      before_last = this_end;
      if (clock_) this_end = clock_->mark_of_iteration(level.times);
      if (loop.slot >= 0 || equal < (clock_ ? kTimedIterations : 1)) continue;
      turned_ |= counts_.turns > before.turns;
      counts_.repeat(before, count - 1 - i);
      if (clock_) clock_->repeat_iteration(level.times, before_last, this_end, count - 1 - i);
      note_live();
      if (counts_.tasks > state_.options.max_tasks) {
        too_many_tasks(parts_.input.data.tasks[level.context.run->task].name);
      }
      if (counts_.statements > static_cast<std::int64_t>(kMaxStatements)) too_many_statements();
      break;
    }
    if (loop.traced && count > 1) --level.times.replaying;
    level.times.iteration_end = std::max(around_end, level.times.iteration_end);
    state_.signature = all;
  }

  // Counts steps of the rehearsal (statements and points of launches). Returns false if the
  // rehearsal has to end: a limit is exceeded, the first error was found and no more is wanted, or
  // the state of the store is uncertain and wants are not noted.
  bool step(std::int64_t steps) {
    if (state_.findings.ended() || !(state_.certain || state_.notes_wants)) return false;
    steps_ += steps;
    if (steps_ > state_.options.max_steps) {
      state_.findings.end(
          fmt::format("it takes more than {} steps, statements and points of launches",
                      state_.options.max_steps));
      return false;
    }
    if (parts_.outcome.spend(kStepWork * steps)) return true;
    state_.collect_refusals(nullptr, nullptr);
    return false;
  }

  // Marks the rehearsal as incomplete if more than kMaxLive tasks may be unfinished at once.
  void note_live() {
    if (counts_.live <= kMaxLive || !state_.findings.complete()) return;
    state_.findings.mark_incomplete(
        fmt::format("more than {} tasks may be under way at once", kMaxLive));
  }

  // Ends the rehearsal with the same error that the run would have.
  void end_with(std::string_view task, const std::string& why,
                const app::Launch* launch = nullptr) {
    parts_.outcome.fail(task, why);
    state_.collect_refusals(launch, nullptr);
    state_.findings.end();
  }
  void too_many_tasks(std::string_view task) {
    end_with(task, fmt::format("more than {} tasks are launched", state_.options.max_tasks));
  }
  void too_many_statements() {
    end_with(parts_.input.data.name, fmt::format("more than {} statements", kMaxStatements));
  }

  // ---- Launches

  // A launch whose points are being mapped.
  struct Launching {
    LaunchingTask& context;
    RoughClock::LaunchingBody& times;
    const app::Launch& launch;
    LaunchRun of;
    // True for a single task for which the default mapper takes the next processor in turn.
    bool in_turn = false;
    // The processors where a single task may start, if that depends on timing; else empty.
    std::vector<Processor> may;
    // The points whose tasks launch tasks themselves, with the processors where they may run.
    std::vector<std::pair<TaskRun, std::vector<Processor>>> inner;
  };

  // Rehearses a launch: maps its points in order, then rehearses the bodies of those that launch
  // tasks. From such bodies on, neither the store nor the order of mapping is certain.
  void launch(Level& level, const app::Launch& launch) {
    LaunchingTask& context = level.context;
    const std::string& name = parts_.input.data.tasks[launch.task].name;
    LaunchDomain domain;
    if (!parts_.launcher.domain_of(context, launch, domain))
      return state_.collect_refusals(&launch, nullptr);
    const std::int64_t points = domain.count();
    if (points > state_.options.max_tasks - counts_.tasks) return too_many_tasks(name);
    if (points >= kMaxLive) {
      return end_with(name, fmt::format("more than {} tasks are under way", kMaxLive), &launch);
    }
    counts_.tasks += points;
    counts_.live += points;
    note_live();
    ++launches_;
    state_.add_to_signature(launch.number);
    if (points == 0 || !step(points)) return;
    if (!parts_.launcher.start_launch(context, launch, domain))
      return state_.collect_refusals(&launch, nullptr);
    const TaskOptions& options = parts_.launcher.launch_answers().options;
    Launching launching{
        context, level.times, launch, {}, !launch.is_index && !options.processor_origin, {}, {}};
    launching.of = {launches_, domain, 0, options.valid_instances, points};
    counts_.turns += launching.in_turn ? 1 : 0;
    if (!launch.is_index) launching.may = places_of(level, launch);
    if (clock_) clock_->begin_launch(level.times, launch);
    // The slices are moved out of the launcher, which needs its own list if the tasks of this
    // launch launch tasks, too.
    TaskSlices slices;
    std::swap(slices, parts_.launcher.launch_answers().slices);
    for (const TaskSlice& slice : slices) {
      if (state_.findings.ended()) break;
      Point point = slice.box.lower;
      while (map_point(launching, slice, point) && launch.is_index &&
             next_point(slice.box, &point) && !state_.findings.ended()) {
      }
    }
    std::swap(slices, parts_.launcher.launch_answers().slices);
    if (!launching.inner.empty()) state_.certain = state_.ordered = false;
    for (auto& [run, where] : launching.inner) {
      body_of(run, &level, std::move(where));
      tasks_.leave(run);
      tasks_.release_lists(run);
    }
    if (clock_) clock_->end_launch(level.times, launch);
  }

  // Maps one point of a launch. Returns false if the rehearsal is over.
  bool map_point(Launching& launching, const TaskSlice& slice, const Point& point) {
    const app::Launch& launch = launching.launch;
    TaskRun& run = run_;
    run.clear();
    run.op = parts_.ops.add();
    if (!parts_.launcher.make_task_of_point(run, launching.context, launch, &launching.of, slice,
                                            point)) {
      state_.collect_refusals(&launch, &run);
      return true;
    }
    if (state_.findings.complete())
      state_.findings.mark_incomplete(why_parent_lacks_data(parts_.input, run));
    const bool waits = tasks_.mapper_of(*run.processor).selects();
    // If the mapper selects when to map the waiting tasks, a run may map them in another order than
    // this rehearsal.
    if (waits) state_.certain = false;
    const bool moves = waits && run.stealable;
    if (moves) {
      state_.ordered = false;
      with_thieves(run, launching.may, thieves_);
      if (!step(static_cast<std::int64_t>(thieves_.size()) - 1)) return false;
    }
    if (!tasks_.map(run, &launching.times, moves ? thieves_ : launching.may, places_)) return true;
    if (launching.in_turn && launching.may.empty() && matters(run)) {
      state_.add_to_signature(static_cast<std::uint64_t>(run.number));
    }
    if (launches_tasks(parts_.input.data, run)) {
      launching.inner.emplace_back(std::move(run), places_);
      run = TaskRun();
    } else {
      tasks_.leave(run);
    }
    return true;
  }

  // Returns true if it may make a difference on which of the processors of one kind the task runs.
  bool matters(const TaskRun& run) const {
    if (launches_tasks(parts_.input.data, run) || parts_.input.machine->node_count() > 1)
      return true;
    return std::any_of(run.instances.begin(), run.instances.end(), [this](InstanceNumber number) {
      return number != kVirtual &&
             parts_.input.memories.group(parts_.store.instance(number).memory).count > 1;
    });
  }

  // Returns the processors where a single task may start, if that depends on timing; else an empty
  // list. There are two cases:
  // * A mapping function looks at the processor of the launching task.
  // * The default mapper takes processors in turn, so the next one depends on earlier tasks.
  std::vector<Processor> places_of(Level& level, const app::Launch& launch) {
    const Processor at = *level.context.run->processor;
    const Processor initial = parts_.launcher.launch_answers().options.initial;
    if (parts_.launcher.launch_answers().options.processor_origin) {
      return level.may.size() < 2 ? std::vector<Processor>() : starts_from(level, launch);
    }
    const bool in_node = initial.node == at.node;
    const bool top = level.context.run->parent == nullptr;
    if (!turned_ && (state_.ordered || (top && in_node))) return {};
    std::vector<Processor> places = {initial};
    for (const Processor& other : parts_.input.processors) {
      if (other.kind != initial.kind || (in_node && other.node != at.node)) continue;
      if (!(other == initial)) places.push_back(other);
    }
    return places;
  }

  // Returns the processors where a single task starts if it is launched from each processor where
  // the launching task may run. Afterwards the launcher again has the answers for the present
  // processor.
  std::vector<Processor> starts_from(Level& level, const app::Launch& launch) {
    LaunchingTask& context = level.context;
    const Processor at = *context.run->processor;
    LaunchAnswers answer = parts_.launcher.launch_answers();
    std::vector<Processor> places = {answer.options.initial};
    for (const Processor& other : level.may) {
      if (other == at) continue;
      stand(context, other);
      if (parts_.launcher.start_launch(context, launch, {})) {
        places.push_back(parts_.launcher.launch_answers().options.initial);
      } else {
        state_.collect_refusals(&launch, nullptr, false);
      }
    }
    stand(context, at);
    parts_.launcher.launch_answers() = std::move(answer);
    return places;
  }

  // Sets `places` to the processors where a stealable task may run: where it may start, and every
  // other processor (a thief) to which a mapper may give it. The answers of a mapper about a thief
  // depend only on the thief's kind and node, so mappers are asked about one thief of each kind and
  // node. A stolen task is not stolen again.
  void with_thieves(TaskRun& run, const std::vector<Processor>& may,
                    std::vector<Processor>& places) {
    places = may;
    if (places.empty()) places.push_back(*run.processor);
    const std::vector<Processor> starts = places;
    const TaskView view = parts_.views.view_of(run, views_);
    std::vector<std::uint32_t> given;
    bool gives = false;
    for (const Processor& thief : parts_.input.processors) {
      if (thief.index == 0) {
        gives =
            parts_.input.has_variant(run.task, thief.kind) &&
            std::any_of(starts.begin(), starts.end(), [&](const Processor& start) {
              given.clear();
              tasks_.mapper_of(start).permit_steal_request(parts_.calls, thief, {&view, 1}, given);
              return !given.empty();
            });
      }
      if (gives && std::find(starts.begin(), starts.end(), thief) == starts.end()) {
        places.push_back(thief);
      }
    }
  }

  // Moves the launching task to another processor, so that the mapper can be asked where the task
  // starts from there.
  void stand(LaunchingTask& context, const Processor& at) {
    context.run->hold_on(parts_.input.processors, at);
    context.view.current = at;
  }

  RehearsalState state_;
  RunParts& parts_ = state_.parts;
  std::optional<RoughClock>& clock_ = state_.clock;
  TaskRehearsal tasks_{state_};
  RehearsalCounts counts_;
  // True if the loop iterations that were skipped contain tasks that the default mapper places in
  // turn. The next processor in turn is then unknown.
  bool turned_ = false;
  // The number of launch statements that were examined so far.
  std::uint32_t launches_ = 0;
  // The number of statements and points that were examined so far.
  std::int64_t steps_ = 0;
  // Buffers that are members only so that their memory is used again by later calls.
  TaskRun run_;
  std::vector<Processor> places_, thieves_;
  std::vector<RequirementView> views_;
};

}  // namespace

// Cuts the regions of the application into cells and rehearses the application. Rehearses it a
// second time if the first rehearsal did not note the wants that the result needs.
RehearsalResult rehearse(const Workload& workload, const std::shared_ptr<const Machine>& machine,
                         const MapperFactory& make, const RehearsalOptions& options) {
  // This budget counts only the work of cutting regions into cells. The rehearsal has a budget of
  // its own.
  Budget budget([&budget, &options] {
    return budget.spent() > options.max_work || (options.stop && options.stop());
  });
  SpacesFailure failure;
  const auto spaces = DataSpaces::make(workload.data(), options.max_bytes, budget, failure);
  if (!spaces) {
    if (failure.status == RunStatus::kStopped) {
      return {{},
              budget.spent() > options.max_work ? "its partitions have too many pieces"
                                                : "it was stopped"};
    }
    if (failure.status == RunStatus::kTooLarge) return {{}, failure.why};
    return {{{diagnostic_without_source(DiagId::kCannotRun, workload.name(), failure.why), {}}},
            {}};
  }
  if (workload.data().top_level < 0) return {{}, "it has no top-level task, so it cannot be run"};
  std::string too_large = why_machine_too_large(*machine, spaces->bytes(), options.max_bytes);
  if (!too_large.empty()) return {{}, std::move(too_large)};
  // If only the top-level task launches tasks, the result is usually certain without knowing which
  // instances all tasks may want. So these wants are noted from the start only if other tasks
  // launch tasks, too.
  const app::Data& data = workload.data();
  const bool nested = std::any_of(data.tasks.begin(), data.tasks.end(), [&](const app::Task& task) {
    return !task.body.empty() && &task - data.tasks.data() != data.top_level;
  });
  auto result = Rehearsal(data, *spaces, machine, make, options, nested).run();
  if (!result) result = Rehearsal(data, *spaces, machine, make, options, true).run();
  return std::move(*result);
}

}  // namespace groma::sim
