// The rehearsal maps all tasks in the order of the program, without events and without time.
// rehearsal.h says what this proves about a run.
#include "simulate/rehearsal.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

#include "base/one_diagnostic.h"
#include "base/quantities.h"
#include "base/saturating.h"
#include "evaluate/processors.h"
#include "simulate/candidates.h"
#include "simulate/links.h"
#include "simulate/mapping.h"

namespace groma::sim {
namespace {

constexpr std::int64_t kStepWork = 64;  // budget units of one statement or point
constexpr std::size_t kMaxFindings = kMaxErrors;
constexpr std::size_t kShownInstances = 4;

// Returns the hash `a` continued with the value `b`.
std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
  a = (a ^ b) * 0x9E3779B97F4A7C15;
  return a ^ a >> 29;
}

// Returns a hash of the instance that a query would make. Queries with equal keys may share an
// instance.
std::uint64_t key_of(const InstanceQuery& query) {
  std::uint64_t key = mix(mix(1, query.region), static_cast<std::uint64_t>(query.memory));
  for (const Point* point : {&query.shape->box.lower, &query.shape->box.extents}) {
    for (std::int64_t x : point->coordinates()) key = mix(key, static_cast<std::uint64_t>(x));
  }
  if (query.shape->set != nullptr) key = mix(key, query.shape->set->key);
  const LayoutSpec& layout = query.layout;
  key = mix(key, query.new_groups);
  key = mix(key, static_cast<std::uint64_t>(layout.align_bytes));
  return mix(key, static_cast<std::uint64_t>(layout.dimensions) << 16 |
                      static_cast<std::uint64_t>(layout.fields) << 12 |
                      static_cast<std::uint64_t>(layout.align_op) << 4 |
                      (layout.compact ? 2U : 0U) | (query.reduction ? 1U : 0U));
}

// Returns the hash of an instance that a wish names by its number.
std::uint64_t key_of_named(InstanceNumber number) { return mix(2, number); }

class Rehearsal final : public Mapping {
 public:
  Rehearsal(const app::Data& data, const Spaces& spaces, std::shared_ptr<const Machine> machine,
            const MapperFactory& make, const RehearsalOptions& options, bool notes_wants)
      : Mapping(data, spaces, std::move(machine), make, options.max_bytes),
        options_(options),
        links_(*input_.machine, input_.memories),
        notes_wants_(notes_wants) {
    instances_.on_made = [this](const InstanceQuery& query, std::optional<InstanceNumber> made) {
      made_by_mapper(query, made);
    };
  }

  // Rehearses the whole program. Returns nothing if the result depends on what all tasks want and
  // `notes_wants_` is false. The caller then runs a second rehearsal that notes the wants.
  std::optional<RehearsalResult> run() {
    TaskRun top;
    if (!launcher_.place_top(top)) {
      collect(nullptr, nullptr);
      return finish();
    }
    std::vector<Processor> places;
    top.op = ops_.add();
    const bool mapped = map(top, {}, places);
    if (mapped && launches(top)) body_of(top, {top.processor});
    if (certain_ || found_enough_) return finish();
    if (!notes_wants_) return std::nullopt;
    judge_memories();
    judge_routes();
    return finish();
  }

 private:
  // A task that launches, and the processors where it may run.
  struct Level {
    Context context;
    std::vector<Processor> may;
  };
  // An instance that a requirement may get. A requirement has choices for each candidate of its
  // wish, in their order (`stage`). A candidate has a choice for each memory that it may mean,
  // which depends on where the task runs.
  struct Choice {
    std::uint64_t key;
    std::int32_t memory, stage;
    std::int64_t bytes;
    std::uint32_t region;
    Origin origin;
  };
  struct Want {
    std::vector<Choice> choices;
    bool may_be_virtual = false;  // if no choice has room
    std::uint32_t task = 0, position = 0;
  };

  bool launches(const TaskRun& run) const { return launches_tasks(input_.data, run); }

  // ---- Bodies

  // Rehearses the body of a task that launches. `may` holds the processors where the task may run.
  void body_of(TaskRun& run, std::vector<Processor> may) {
    Level level;
    level.may = std::move(may);
    if (launcher_.open(level.context, run)) {
      body(level, input_.data.tasks[run.task].body);
    } else {
      collect(nullptr, &run);
    }
  }

  // Rehearses the statements of a body in order. A wait for a future does not make all tasks end,
  // so it is ignored.
  void body(Level& level, const app::Body& body) {
    for (const app::Statement& statement : body) {
      if (!step(1)) return;
      if (++statements_ > static_cast<std::int64_t>(kMaxStatements)) return too_many_statements();
      if (const auto* launch = std::get_if<app::Launch>(&statement.node)) {
        this->launch(level, *launch);
      } else if (const auto* loop = std::get_if<app::Loop>(&statement.node)) {
        this->loop(level, *loop);
      } else if (const auto* phase = std::get_if<app::Phase>(&statement.node)) {
        wait_for_all(level);
        this->body(level, phase->body);
        wait_for_all(level);
      } else if (std::get<app::Wait>(statement.node).future < 0) {
        wait_for_all(level);
      }
    }
  }

  // Notes that all tasks are over. This is certain only when the top-level task waits for
  // everything that it launched.
  void wait_for_all(const Level& level) {
    if (level.context.run->parent != nullptr) return;
    store_.all_over();
    live_ = 1;
  }

  // Rehearses a loop. If the loop has no variable, the rest is skipped once an iteration repeats
  // the iteration before. Such an iteration takes the same instances and makes the same copies
  // (`signature_`). All later iterations then do the same, so only their counts are added.
  //
  // The skip is exact for these reasons:
  // * The second of the two iterations found its instances, so all of them exist.
  // * For each cell, the copies show which instances were valid and which reductions were pending
  //   at each use.
  // * The state after the last use that writes or folds follows from the uses alone.
  // * If no use writes or folds, every reader stays valid. An untracked reader stays valid only if
  //   no other instance is valid, which the source of the next copy shows.
  //
  // If the store is not certain anyway, an iteration that wants and finds nothing new stands for
  // all later iterations. If processors are not certain, all possible processors were asked about.
  void loop(Level& level, const app::Loop& loop) {
    std::int64_t count = 0;
    if (!launcher_.count(level.context, loop, count)) return collect(nullptr, level.context.run);
    if (loop.body.empty()) return;
    const std::uint64_t around = signature_;
    std::uint64_t all = around, last = 0;
    int same = 0;
    for (std::int64_t i = 0; i < count && !ended_; ++i) {
      if (loop.slot >= 0) level.context.frame[static_cast<std::size_t>(loop.slot)] = i;
      const std::int64_t tasks = launched_, statements = statements_, live = live_;
      const std::int64_t turns = turns_, changes = instances_.changes();
      signature_ = 1;
      body(level, loop.body);
      signature_ = mix(signature_, wants_.size() + findings_.size());
      same = i > 0 && signature_ == last && instances_.changes() == changes ? same + 1 : 0;
      last = signature_;
      all = mix(all, signature_);
      if (loop.slot >= 0 || same == 0) continue;
      const std::int64_t left = count - 1 - i;
      turned_ |= turns_ > turns;
      launched_ = saturating_add(launched_, saturating_multiply(left, launched_ - tasks));
      statements_ =
          saturating_add(statements_, saturating_multiply(left, statements_ - statements));
      live_ =
          saturating_add(live_, saturating_multiply(left, std::max<std::int64_t>(0, live_ - live)));
      note_live();
      if (launched_ > options_.max_tasks)
        too_many_tasks(input_.data.tasks[level.context.run->task].name);
      if (statements_ > static_cast<std::int64_t>(kMaxStatements)) too_many_statements();
      break;
    }
    signature_ = all;
  }

  // Adds an instance or a copy to the signature of the iteration, while the store is certain.
  void sign(std::uint64_t what) {
    if (certain_) signature_ = mix(signature_, what);
  }

  // Counts steps. Returns false if the rehearsal is over: a limit is exceeded, enough was found, or
  // the store is uncertain and wants are not noted.
  bool step(std::int64_t steps) {
    if (ended_ || !(certain_ || notes_wants_)) return false;
    steps_ += steps;
    if (steps_ > options_.max_steps) {
      return end(fmt::format("it takes more than {} steps, statements and points of launches",
                             options_.max_steps));
    }
    if (outcome_.spend(kStepWork * steps)) return true;
    collect(nullptr, nullptr);
    return false;
  }
  bool stops() override {
    return outcome_.budget().spent() > options_.max_work || (options_.stop && options_.stop());
  }
  std::int64_t bytes() const override { return Mapping::bytes() + want_bytes_; }

  // Ends the rehearsal as incomplete. The first reason is kept. Always returns false.
  bool end(std::string why) {
    ended_ = true;
    if (incomplete_.empty()) incomplete_ = std::move(why);
    return false;
  }

  // Notes that the limit of live tasks may be exceeded.
  void note_live() {
    if (live_ <= kMaxLive || !incomplete_.empty()) return;
    incomplete_ = fmt::format("more than {} tasks may be under way at once", kMaxLive);
  }

  // Ends the rehearsal with the run's own error: too many tasks are launched.
  void too_many_tasks(std::string_view task) {
    outcome_.fail(task, fmt::format("more than {} tasks are launched", options_.max_tasks));
    collect(nullptr, nullptr);
    ended_ = true;
  }
  // Ends the rehearsal with the run's own error: too many statements are executed.
  void too_many_statements() {
    outcome_.fail(input_.data.name, fmt::format("more than {} statements", kMaxStatements));
    collect(nullptr, nullptr);
    ended_ = true;
  }

  // ---- Launches

  // Rehearses a launch: maps its points in order, then rehearses the bodies of those that launch
  // tasks. From such bodies on, neither the store nor the order of mapping is certain.
  void launch(Level& level, const app::Launch& launch) {
    Context& context = level.context;
    const std::string& name = input_.data.tasks[launch.task].name;
    Rect domain;
    if (!launcher_.domain_of(context, launch, domain)) return collect(&launch, nullptr);
    const std::int64_t points = domain.volume();
    if (points > options_.max_tasks - launched_) return too_many_tasks(name);
    if (points >= kMaxLive) {
      outcome_.fail(name, fmt::format("more than {} tasks are under way", kMaxLive));
      collect(&launch, nullptr);
      ended_ = true;
      return;
    }
    launched_ += points;
    live_ += points;
    note_live();
    ++launches_;
    signature_ = mix(signature_, launch.number);
    if (points == 0 || !step(points)) return;
    if (!launcher_.start_launch(context, launch, domain)) return collect(&launch, nullptr);
    const auto of = std::make_shared<const LaunchRun>(
        LaunchRun{launches_, domain, 0, launcher_.start().options.valid_instances});
    const bool turn = !launch.is_index && !launcher_.start().options.processor_origin;
    turns_ += turn ? 1 : 0;
    std::vector<Processor> may;
    if (!launch.is_index) may = places_of(level, launch);
    TaskSlices slices;
    std::swap(slices, launcher_.start().slices);
    // Points that launch tasks themselves.
    std::vector<std::pair<TaskRun, std::vector<Processor>>> inner;
    for (const TaskSlice& slice : slices) {
      if (ended_) break;
      Point point = slice.box.lower;
      do {
        TaskRun& run = run_;
        run.clear();
        run.op = ops_.add();
        if (!launcher_.place(run, context, launch, of, slice, point)) {
          collect(&launch, &run);
          continue;
        }
        check_privileges(run);
        const bool waits = mapper_of(run.processor).selects();
        if (waits) certain_ = false;  // a run may map in another order
        const bool moves = waits && run.stealable;
        if (moves) {
          ordered_ = false;
          with_thieves(run, may, thieves_);
          if (!step(static_cast<std::int64_t>(thieves_.size()) - 1)) break;
        }
        if (!map(run, moves ? thieves_ : may, places_)) continue;
        if (turn && may.empty() && matters(run)) {
          signature_ = mix(signature_, static_cast<std::uint64_t>(run.number));
        }
        if (launches(run)) {
          inner.emplace_back(std::move(run), places_);
          run = TaskRun();
        } else {
          leave(run);
        }
      } while (launch.is_index && next_point(slice.box, &point) && !ended_);
    }
    std::swap(slices, launcher_.start().slices);
    if (!inner.empty()) certain_ = ordered_ = false;
    for (auto& [run, where] : inner) {
      body_of(run, std::move(where));
      leave(run);
    }
  }

  // Returns whether it makes a difference which processor of its kind the task runs on.
  bool matters(const TaskRun& run) const {
    if (launches(run) || input_.machine->node_count() > 1) return true;
    return std::any_of(run.instances.begin(), run.instances.end(), [this](InstanceNumber number) {
      return number != kVirtual && input_.memories.group(store_.instance(number).memory).count > 1;
    });
  }

  // Notes that the task may end at once, or at any time before the next wait for everything.
  void leave(TaskRun& run) {
    for (InstanceNumber instance : run.instances) {
      if (instance != kVirtual) store_.leave(instance);
    }
    ops_.complete(run.op, [](Op) {});
  }

  // Returns the processors where a single task may start, if that depends on timing; else nothing.
  // There are two cases:
  // * a function looks at the processor of the launching task;
  // * the default mapper takes processors in turn, so the next one depends on earlier tasks.
  std::vector<Processor> places_of(Level& level, const app::Launch& launch) {
    Context& context = level.context;
    const Processor at = context.run->processor, initial = launcher_.start().options.initial;
    if (launcher_.start().options.processor_origin) {
      if (level.may.size() < 2) return {};
      const TaskOptions answer = launcher_.start().options;
      const TaskSlices slices = launcher_.start().slices;
      std::vector<Processor> places = {initial};
      for (const Processor& other : level.may) {
        if (other == at) continue;
        stand(context, other);
        if (launcher_.start_launch(context, launch, {})) {
          places.push_back(launcher_.start().options.initial);
        } else {
          collect(&launch, nullptr, false);
        }
      }
      stand(context, at);
      launcher_.start().options = answer;
      launcher_.start().slices = slices;
      return places;
    }
    const bool in_node = initial.node == at.node;
    const bool top = context.run->parent == nullptr;
    if (!turned_ && (ordered_ || (top && in_node))) return {};
    std::vector<Processor> places = {initial};
    for (const Processor& other : input_.processors) {
      if (other.kind != initial.kind || (in_node && other.node != at.node)) continue;
      if (!(other == initial)) places.push_back(other);
    }
    return places;
  }

  // Sets `places` to the processors where a stealable task may run: where it may start, and every
  // thief that may get it. A program answers for a thief by its kind and node, so one thief of each
  // is asked. A thief does not give the task on.
  void with_thieves(TaskRun& run, const std::vector<Processor>& may,
                    std::vector<Processor>& places) {
    places = may;
    if (places.empty()) places.push_back(run.processor);
    const std::vector<Processor> starts = places;
    const TaskView view = views_.view_of(run, views_kept_);
    std::vector<std::uint32_t> given;
    bool gives = false;
    for (const Processor& thief : input_.processors) {
      if (thief.index == 0) {
        gives = input_.has_variant(run.task, thief.kind) &&
                std::any_of(starts.begin(), starts.end(), [&](const Processor& start) {
                  given.clear();
                  mapper_of(start).permit_steal_request(*this, thief, {&view, 1}, given);
                  return !given.empty();
                });
      }
      if (gives && std::find(starts.begin(), starts.end(), thief) == starts.end()) {
        places.push_back(thief);
      }
    }
  }

  // Moves the launching task to another processor, so that the mapper can be asked about it.
  void stand(Context& context, const Processor& at) {
    context.run->processor = context.view.current = at;
    context.run->number = input_.processors.number_of(at);
  }

  // ---- One task

  // Returns the mapper that maps a task on this processor. A program and the default mapper answer
  // map_task by the processor of the task alone. One mapper object for each kind and node therefore
  // does, and keeps its plans.
  Mapper& mapper_of(const Processor& at) {
    return mappers_.of(input_.processors.number_of({at.kind, at.node, 0}));
  }

  // Maps a task. Asks about it on each processor in `may`, or only on its own if `may` is empty.
  // Takes instances on the first processor of the answer. All processors of the answers go to
  // `places`. Returns false, with nothing taken, if the task is refused.
  bool map(TaskRun& run, const std::vector<Processor>& may, std::vector<Processor>& places) {
    places.clear();
    const bool mapped = take_instances(run, may, places);
    instances_.tell_collected();
    return mapped;
  }

  // Does the work of map(), which then tells mappers about collected instances.
  bool take_instances(TaskRun& run, const std::vector<Processor>& may,
                      std::vector<Processor>& places) {
    asking_ = run.task;
    const MapperInstances::Holding holding(instances_);
    const Processor first = run.processor;
    const std::int64_t changes = instances_.changes();
    for (const Processor& other : may) {
      if (other == first || std::find(places.begin(), places.end(), other) != places.end())
        continue;
      run.processor = other;
      run.number = input_.processors.number_of(other);
      const bool well = ask(run, views_.view_of(run, views_kept_), mapper_of(other));
      if (instances_.changes() > changes) certain_ = false;  // the answer may never be carried out
      if (!well) {
        collect(run.launch, &run, other.node == first.node && knows_instances());
        continue;
      }
      places.insert(places.end(), wish_.processors.begin(), wish_.processors.end());
    }
    run.processor = first;
    run.number = input_.processors.number_of(first);
    const TaskView view = views_.view_of(run, views_kept_);
    if (!ask(run, view, mapper_of(first))) {
      // The refusal is certain unless the task may start on another node.
      const bool here = std::all_of(may.begin(), may.end(),
                                    [&](const Processor& p) { return p.node == first.node; });
      collect(run.launch, &run, here && knows_instances());
      return false;
    }
    places.insert(places.begin(), wish_.processors.begin(), wish_.processors.end());
    if (wish_.task_profiling.any()) {
      limited_ = true;
      limited_inside_ |= run.parent != nullptr && run.parent->run->parent != nullptr;
    }
    if (limited_) certain_ = ordered_ = false;
    take(run, wish_.processors.front());
    check_formulas(run);
    fetches_.clear();
    for (std::uint32_t r = 0; r < view.requirements.size(); ++r) {
      if (!map_requirement(run, view, places, r)) return false;
    }
    for (const Fetch& fetch : fetches_) check_copy(run, fetch);
    return true;
  }

  // Returns whether the last refusal is independent of instances that may or may not exist.
  bool knows_instances() const {
    if (outcome_.budget().exceeded()) return false;
    return !refused_for(DiagId::kBadInstance) ||
           (certain_ && !store_.doubts().guessed && !store_.doubts().keeps_eager);
  }
  // Returns whether this is the reason of the last refusal.
  bool refused_for(DiagId id) const {
    return !outcome_.result().refusals.empty() &&
           outcome_.result().refusals.front().diagnostic.id == id;
  }

  // Notes the rehearsal as incomplete if a task launches another on data that it does not hold
  // itself. Such a task does not keep back other users of the data, so tasks may wait for each
  // other.
  void check_privileges(const TaskRun& run) {
    const TaskRun& by = *run.parent->run;
    if (by.parent == nullptr || !incomplete_.empty()) return;
    const app::Task &task = input_.data.tasks[run.task], &holder = input_.data.tasks[by.task];
    for (std::uint32_t u = 0; u < task.requirements.size(); ++u) {
      const app::Where& used = where_of(input_.data, run, u);
      const bool unused = used.privilege == Privilege::kNoAccess || used.fields.empty();
      if (unused || run.pieces[u] == nullptr) continue;
      const std::uint32_t region = used.region;
      std::uint64_t missing = groups_of(input_.spaces, run, u);
      for (std::uint32_t h = 0; h < holder.requirements.size() && missing != 0; ++h) {
        const bool holds = by.pieces[h] != nullptr &&
                           where_of(input_.data, by, h).region == region &&
                           allows(where_of(input_.data, by, h).privilege, used.privilege) &&
                           within(*run.pieces[u], *by.pieces[h]);
        if (holds) missing &= ~groups_of(input_.spaces, by, h);
      }
      if (missing == 0) continue;
      incomplete_ = fmt::format(
          "`{}` launches `{}` on data of `{}` that it does not hold itself, so they may come to "
          "wait "
          "for each other",
          holder.name, task.name, input_.data.regions[region].name);
      return;
    }
  }
  // Returns whether a task with privilege `held` may launch one with privilege `used`.
  static bool allows(Privilege held, Privilege used) {
    const bool all = held == Privilege::kReadWrite || held == Privilege::kWriteDiscard;
    return all || held == used;
  }

  // Notes what the requirement wants and takes an instance as the run would. Returns false if the
  // task is refused. If a memory is full and the store is uncertain, judge_memories() decides
  // later.
  bool map_requirement(TaskRun& run, const TaskView& view, const std::vector<Processor>& places,
                       std::uint32_t r) {
    const RequirementWish& wish = wish_.requirements[r];
    if (!view.requirements[r].empty() && run.pieces[r] == nullptr) {
      // The run refuses this with any mapping. The rehearsal goes on to check the rest.
      if (incomplete_.empty()) {
        incomplete_ = fmt::format(
            "requirement {} of `{}` (/tasks/{}/requirements/{}) has no `data`, without which it "
            "cannot be run",
            r, view.name, run.task, r);
      }
      run.instances.push_back(kVirtual);
      return true;
    }
    const bool real = !view.requirements[r].empty() && !wish.is_virtual;
    if (real) want(run, view.requirements[r], wish, places, r);
    if (!Mapping::map_requirement(run, view, wish, r)) {
      if (outcome_.budget().exceeded()) {
        collect(run.launch, &run);
        return false;
      }
      const bool no_room = refused_for(DiagId::kOutOfMemory);
      if (no_room && !(certain_ && !store_.doubts().guessed) && !exceeds(run, view, places, r)) {
        outcome_.resume();  // judge_memories() decides later
        run.instances.push_back(kVirtual);
        certain_ = false;
        return true;
      }
      collect(run.launch, &run);
      leave_all(run);
      return false;
    }
    if (store_.doubts().guessed || store_.doubts().forked) certain_ = false;
    const bool launches = !input_.data.tasks[run.task].body.empty();
    if (wish.untracked && launches && run.instances.back() != kVirtual && incomplete_.empty()) {
      incomplete_ = fmt::format(
          "region {} of `{}` is not kept, and another task may have it copied again while the "
          "tasks that `{}` launches read it",
          r, view.name, view.name);
    }
    sign(run.instances.back());
    return true;
  }

  // Ends the task and its copies after a refusal.
  void leave_all(TaskRun& run) {
    for (const Fetch& fetch : fetches_) leave(fetch);
    fetches_.clear();
    leave(run);
  }
  // Ends a copy: both instances may be free from now on.
  void leave(const Fetch& fetch) {
    store_.leave(fetch.from);
    store_.leave(fetch.to);
    ops_.complete(fetch.op, [](Op) {});
  }

  // Adds a copy to the signature, checks that a route exists, and ends the copy.
  void check_copy(TaskRun& run, const Fetch& fetch) {
    const Instance &from = store_.instance(fetch.from), &to = store_.instance(fetch.to);
    sign(std::uint64_t{fetch.from} << 32 | fetch.to);
    sign(static_cast<std::uint64_t>(fetch.bytes) * 2 + (fetch.reduction ? 1 : 0));
    if (links_.route(from.memory, to.memory) == nullptr) {
      outcome_.refuse(RunStatus::kExecuteError, {no_route(input_.memories, from, to)}, "");
      collect(run.launch, &run, certain_);
    }
    leave(fetch);
  }

  // Checks the formulas of the task's variant with the values that a run computes at its start.
  void check_formulas(TaskRun& run) {
    sizes_.clear();
    for (const Piece* piece : run.pieces) sizes_.push_back(size_of(piece));
    app::FormulaFault fault = app::FormulaFault::kNone;
    const app::Variant& variant = *run.variant;
    for (const app::Code* code :
         {&variant.flops, &variant.efficiency, &variant.kernels, &variant.nanoseconds}) {
      code->value(run.arguments, fault, sizes_);
    }
    for (const app::Traffic& traffic : variant.traffic) {
      traffic.bytes.value(run.arguments, fault, sizes_);
    }
    if (fault == app::FormulaFault::kNone) return;
    fail_formula(outcome_, input_.data, run, fault);
    collect(run.launch, &run);
  }

  // ---- Memories

  // Notes what the requirement may get on each processor where the task may run. If the processors
  // reach different memories, the load in the run decides, so the store is not certain.
  void want(const TaskRun& run, const RequirementView& requirement, const RequirementWish& wish,
            const std::vector<Processor>& places, std::uint32_t position) {
    if (!notes_wants_ && places.size() == 1) return;
    std::uint64_t hash = 1;
    choices_.clear();
    bool may_be_virtual = false;
    std::int32_t stage = 0;
    if (wish.instance != 0) {
      const auto number = static_cast<InstanceNumber>(wish.instance - 1);
      const Instance& instance = store_.instance(number);
      hash = key_of_named(number);
      choices_.push_back(
          {hash, instance.memory, 0, instance.bytes, instance.region, wish.instance_origin});
    }
    for (const InstanceWish& candidate : wish.candidates()) {
      if (wish.instance != 0) break;
      if (candidate.memory == MemKind::kVirtual) {
        may_be_virtual = true;
        break;
      }
      auto query = query_for(input_, run, requirement, wish, candidate, position);
      if (!query) continue;
      const std::int64_t bytes = store_.bytes_of(*query);
      seen_.clear();
      for (const Processor& place : places) {
        query->memory = input_.memories.nearest(place, candidate.memory);
        if (query->memory < 0 ||
            std::find(seen_.begin(), seen_.end(), query->memory) != seen_.end()) {
          continue;
        }
        seen_.push_back(query->memory);
        const std::uint64_t key = key_of(*query) + (wish.fresh ? ++fresh_ : 0);
        choices_.push_back(
            {key, query->memory, stage, bytes, query->region, candidate.memory_origin});
        hash = mix(hash, choices_.back().key + static_cast<std::uint64_t>(stage));
      }
      if (seen_.size() > 1) certain_ = false;
      ++stage;
    }
    if (choices_.empty() || !known_wants_.insert(hash).second) return;
    wants_.push_back({choices_, may_be_virtual, run.task, position});
    note_want_bytes();
  }

  // An instance that a mapper made takes room, whoever uses it.
  void made_by_mapper(const InstanceQuery& query, std::optional<InstanceNumber> made) {
    if (!notes_wants_) return;
    const std::uint64_t key = made ? key_of_named(*made) : key_of(query);
    const std::int64_t bytes = store_.bytes_of(query);
    wants_.push_back({{{key, query.memory, 0, bytes, query.region, {}}}, true, asking_, 0});
    note_want_bytes();
  }

  // Counts the memory of the newest want.
  void note_want_bytes() {
    constexpr std::int64_t kKnown = 64;  // bytes of its entry in known_wants_
    want_bytes_ +=
        static_cast<std::int64_t>(2 * sizeof(Want)) + kKnown + heap_bytes(wants_.back().choices);
  }

  // Returns whether the data of this task alone exceeds the memory that it needs. Only requirements
  // with a single possible memory count. Each kind of instance counts once.
  bool exceeds(const TaskRun& run, const TaskView& view, const std::vector<Processor>& places,
               std::uint32_t position) {
    const auto only = [&](std::uint32_t r) -> std::optional<InstanceQuery> {
      const RequirementWish& wish = wish_.requirements[r];
      if (view.requirements[r].empty() || wish.is_virtual || run.pieces[r] == nullptr) return {};
      if (wish.instance != 0) return {};
      std::optional<InstanceQuery> found;
      for (const InstanceWish& candidate : wish.candidates()) {
        if (candidate.memory == MemKind::kVirtual) return {};
        const auto query = query_for(input_, run, view.requirements[r], wish, candidate, r);
        if (!query) continue;
        if (found) return {};
        found = query;
      }
      return found;
    };
    const auto mine = only(position);
    if (!mine || wish_.processors.size() > 1) return false;
    // By instance key: the largest of the requirements that may share the instance, in bytes.
    std::map<std::uint64_t, std::int64_t> least;
    for (std::uint32_t r = 0; r <= position; ++r) {
      auto query = only(r);
      if (!query || query->memory != mine->memory) continue;
      const std::int64_t bytes = input_.spaces.region(query->region)
                                     .instance_bytes(query->groups, query->layout,
                                                     query->piece->points_held(query->layout));
      static const Piece kNone;
      query->shape = &kNone;
      query->new_groups = 0;
      std::int64_t& known = least[key_of(*query)];
      known = std::max(known, bytes);
    }
    std::int64_t sum = 0;
    for (const auto& [key, bytes] : least) sum = saturating_add(sum, bytes);
    return std::all_of(places.begin(), places.end(), [&](const Processor& place) {
      const std::int32_t memory =
          input_.memories.nearest(place, input_.memories[mine->memory].kind);
      return memory < 0 || sum > input_.memories.group(memory).capacity_bytes;
    });
  }

  // Warns about memories that may be too small when the order of tasks is not certain. A memory may
  // be too small if all instances that may be made there, each counted once, exceed its capacity. A
  // later candidate counts only if an earlier one may have no room.
  void judge_memories() {
    std::vector<bool> full(input_.memories.size());
    std::vector<std::int64_t> wanted;
    const auto work = static_cast<std::int64_t>(input_.memories.size() + 16 * wants_.size());
    for (bool more = true; more;) {
      if (!outcome_.spend(work)) return collect(nullptr, nullptr);
      wanted.assign(input_.memories.size(), 0);
      std::unordered_set<std::uint64_t> counted;
      for (const Want& want : wants_) {
        for_choices(want, full, [&](const Choice& choice) {
          if (!counted.insert(choice.key).second) return;
          std::int64_t& sum = wanted[static_cast<std::size_t>(choice.memory)];
          sum = saturating_add(sum, choice.bytes);
        });
      }
      more = false;
      for (std::size_t m = 0; m < full.size(); ++m) {
        if (full[m] ||
            wanted[m] <= input_.memories.group(static_cast<std::int32_t>(m)).capacity_bytes) {
          continue;
        }
        full[m] = more = true;
      }
    }
    // Warn once for each kind and statement, since the memories of a kind are often full together.
    std::set<std::pair<MemKind, std::uint32_t>> told;
    for (const Refusal& refusal : findings_) {
      if (refusal.diagnostic.id != DiagId::kOutOfMemory) continue;
      for (std::size_t k = 0; k < kMemKindCount; ++k) {
        told.emplace(static_cast<MemKind>(k), refusal.origin.statement);
      }
    }
    for (const Want& want : wants_) {
      const Choice* last = nullptr;
      const bool fits = for_choices(want, full, [&](const Choice& choice) {
        if (full[static_cast<std::size_t>(choice.memory)]) last = &choice;
      });
      if (fits || want.may_be_virtual || last == nullptr) continue;
      const MemKind kind = input_.memories[last->memory].kind;
      if (findings_.size() >= kMaxFindings || !told.emplace(kind, last->origin.statement).second) {
        continue;
      }
      const std::int64_t bytes = wanted[static_cast<std::size_t>(last->memory)];
      findings_.push_back({may_not_fit(last->memory, bytes, full), last->origin});
    }
  }

  // Warns if a copy may be needed between two memories that no channel connects. Memories of one
  // kind on nodes of one type are alike, so two memories of one node and one memory of another node
  // stand for all.
  void judge_routes() {
    struct Place {
      std::int32_t memory;
      Origin origin;
    };
    std::map<std::uint32_t, std::vector<Place>> places;  // by region
    std::map<std::tuple<std::uint32_t, const NodeType*, MemKind>, std::array<std::int64_t, 3>>
        known;
    for (const Want& want : wants_) {
      if (!outcome_.spend(8 * static_cast<std::int64_t>(want.choices.size()))) {
        return collect(nullptr, nullptr);
      }
      for (const Choice& choice : want.choices) {
        const Memory& memory = input_.memories[choice.memory];
        std::vector<Place>& here = places[choice.region];
        const bool is_there = std::any_of(here.begin(), here.end(), [&](const Place& place) {
          return place.memory == choice.memory;
        });
        if (is_there) continue;
        auto& [node, in_node, elsewhere] =
            known
                .try_emplace({choice.region, &input_.machine->node(memory.node), memory.kind},
                             std::array<std::int64_t, 3>{memory.node, 0, 0})
                .first->second;
        std::int64_t& count = memory.node == node ? in_node : elsewhere;
        if (++count <= (memory.node == node ? 2 : 1))
          here.push_back({choice.memory, choice.origin});
      }
    }
    for (const auto& [region, here] : places) {
      for (const Place& from : here) {
        for (const Place& to : here) {
          if (from.memory == to.memory || links_.route(from.memory, to.memory) != nullptr) continue;
          Instance a, b;
          a.memory = from.memory;
          b.memory = to.memory;
          b.statement = static_cast<std::int32_t>(to.origin.statement);
          outcome_.refuse(RunStatus::kExecuteError, {no_route(input_.memories, a, b)}, "");
          return collect(nullptr, nullptr, false);
        }
      }
    }
  }

  // Calls use(choice) for the choices that a want may come to. A later stage is visited only if all
  // memories of a choice in the stage before may be full. Returns true if a stage surely has room.
  template <typename Use>
  static bool for_choices(const Want& want, const std::vector<bool>& full, const Use& use) {
    bool room = true;
    for (std::size_t i = 0; i < want.choices.size(); ++i) {
      const Choice& choice = want.choices[i];
      if (i > 0 && choice.stage != want.choices[i - 1].stage) {
        if (room) return true;
        room = true;
      }
      use(choice);
      room = room && !full[static_cast<std::size_t>(choice.memory)];
    }
    return room;
  }

  // Returns the warning for a memory that may be too small. Notes list the regions with the most
  // bytes.
  Diagnostic may_not_fit(std::int32_t memory, std::int64_t wanted, const std::vector<bool>& full) {
    const std::int64_t capacity = input_.memories.group(memory).capacity_bytes;
    Diagnostic diagnostic =
        one_diagnostic(DiagId::kMayNotFit, mapper::text_of(input_.memories[memory]),
                       bytes_words(wanted), bytes_words(capacity));
    struct Part {
      std::int64_t bytes = 0, count = 0;
      std::uint32_t task = 0, position = 0;
    };
    std::map<std::uint32_t, Part> parts;  // by region
    std::unordered_set<std::uint64_t> counted;
    for (const Want& want : wants_) {
      for_choices(want, full, [&](const Choice& choice) {
        if (choice.memory != memory || !counted.insert(choice.key).second) return;
        Part& part = parts[choice.region];
        if (part.count++ == 0) part = {0, 1, want.task, want.position};
        part.bytes = saturating_add(part.bytes, choice.bytes);
      });
    }
    std::vector<std::pair<std::uint32_t, Part>> largest(parts.begin(), parts.end());
    std::stable_sort(largest.begin(), largest.end(),
                     [](const auto& a, const auto& b) { return a.second.bytes > b.second.bytes; });
    if (largest.size() > kShownInstances) largest.resize(kShownInstances);
    diagnostic.note(
        fmt::format("{} too little, if no instance is given up before another is needed",
                    bytes_words(wanted - capacity)));
    for (const auto& [region, part] : largest) {
      diagnostic.note(fmt::format("{} instance{} of `{}`, {}, first for region {} of `{}`",
                                  part.count, part.count == 1 ? "" : "s",
                                  input_.data.regions[region].name, bytes_words(part.bytes),
                                  part.position, input_.data.tasks[part.task].name));
    }
    return diagnostic;
  }

  // ---- What was found

  // Moves the refusals of the last outcome_.refuse() to the findings. With `certain` false they
  // become warnings. Afterwards the store is not certain, since the run would be over.
  void collect(const app::Launch* launch, const TaskRun* run, bool certain = true) {
    const bool too_large = outcome_.over() && outcome_.result().status == RunStatus::kTooLarge;
    std::vector<Refusal> refusals = std::move(outcome_.result().refusals);
    outcome_.resume();
    if (too_large ||
        outcome_.budget().exceeded()) {  // ignore the refusals of work that was cut off
      end(too_large ? too_little_memory(outcome_.max_bytes())
          : outcome_.budget().spent() > options_.max_work
              ? "its tasks use more parts of its regions than are looked at"
              : "it was stopped");
      return;
    }
    note_launch(input_.data, launch, run, refusals);
    for (Refusal& refusal : refusals) {
      if (findings_.size() >= kMaxFindings) break;
      Diagnostic& diagnostic = refusal.diagnostic;
      // Report a full memory once for each task, since the free bytes in the message always differ.
      const std::string what = diagnostic.id == DiagId::kOutOfMemory && run != nullptr
                                   ? input_.data.tasks[run->task].name
                                   : diagnostic.message;
      if (!known_.emplace(diagnostic.id, refusal.origin.statement, what).second) continue;
      if (!certain) {
        diagnostic.lower_to(Severity::kWarning);
        diagnostic.note("whether it comes to that, the order in which tasks run decides");
      }
      found_enough_ |= options_.first_error && diagnostic.severity == Severity::kError;
      findings_.push_back(std::move(refusal));
    }
    ended_ |= found_enough_;
    certain_ = false;
    signature_ = mix(signature_, findings_.size());
  }

  // Returns the findings, and the reason why the rehearsal is incomplete, if there is one.
  RehearsalResult finish() {
    const bool refused = std::any_of(findings_.begin(), findings_.end(), [](const Refusal& each) {
      return each.diagnostic.severity == Severity::kError;
    });
    const bool unsure =
        !refused && (!certain_ || store_.doubts().guessed || store_.doubts().keeps_eager);
    if (instances_.were_asked_for() && unsure && incomplete_.empty()) {
      incomplete_ =
          "its mapper looks at instances, and which of them are there depends on the order in "
          "which "
          "tasks run";
    }
    // A waiting task occupies a place in its limit, which the tasks that it waits for may need.
    if (limited_inside_ && incomplete_.empty()) {
      incomplete_ =
          "tasks that tasks launch have an `InstanceLimit`, so they may come to wait for each "
          "other";
    }
    return {std::move(findings_), std::move(incomplete_)};
  }

  const RehearsalOptions& options_;
  Links links_;
  // Whether the store, and the order in which mappers are asked, are still those of the run.
  bool certain_ = true, ordered_ = true;
  bool limited_ = false, limited_inside_ = false;
  std::int64_t turns_ = 0;  // single tasks that were placed in turn
  bool turned_ = false;     // some tasks placed in turn were not counted
  bool ended_ = false, found_enough_ = false;
  std::string incomplete_;
  std::uint32_t launches_ = 0;  // number of launches
  std::int64_t steps_ = 0, statements_ = 0;
  std::int64_t launched_ = 0, live_ = 1;
  std::uint64_t signature_ = 1;  // hash of the taken instances, in order
  bool notes_wants_;
  std::vector<Want> wants_;
  std::int64_t want_bytes_ = 0;  // memory of wants_ and known_wants_
  std::unordered_set<std::uint64_t> known_wants_;
  std::uint64_t fresh_ = 0;   // number of instances that must not be shared
  std::uint32_t asking_ = 0;  // the task whose mapper is asked
  std::vector<Refusal> findings_;
  std::set<std::tuple<DiagId, std::uint32_t, std::string>> known_;

  // Buffers, kept so that their memory is reused.
  TaskRun run_;
  std::vector<Processor> places_, thieves_;
  std::vector<Choice> choices_;
  std::vector<std::int32_t> seen_;
  std::vector<RequirementView> views_kept_;
  std::vector<app::PieceSize> sizes_;
};

}  // namespace

// Prepares the cells of the application and rehearses it, a second time if the first rehearsal did
// not note the wants that it needs.
RehearsalResult rehearse(const Workload& workload, const std::shared_ptr<const Machine>& machine,
                         const MapperFactory& make, const RehearsalOptions& options) {
  // This budget counts the preparation only. The rehearsal has a budget of its own.
  Budget budget([&budget, &options] {
    return budget.spent() > options.max_work || (options.stop && options.stop());
  });
  SpacesFailure failure;
  const auto spaces = Spaces::make(workload.data(), options.max_bytes, budget, failure);
  if (!spaces) {
    if (failure.status == RunStatus::kStopped) {
      return {{},
              budget.spent() > options.max_work ? "its partitions have too many pieces"
                                                : "it was stopped"};
    }
    if (failure.status == RunStatus::kTooLarge) return {{}, failure.why};
    return {{{one_diagnostic(DiagId::kCannotRun, workload.name(), failure.why), {}}}, {}};
  }
  if (workload.data().top_level < 0) return {{}, "it has no top-level task, so it cannot be run"};
  std::string too_large = why_too_large(*machine, spaces->bytes(), options.max_bytes);
  if (!too_large.empty()) return {{}, std::move(too_large)};
  // If only the top-level task launches tasks, usually everything is certain, and the wants do not
  // matter.
  const app::Data& data = workload.data();
  const bool nested = std::any_of(data.tasks.begin(), data.tasks.end(), [&](const app::Task& task) {
    return !task.body.empty() && &task - data.tasks.data() != data.top_level;
  });
  auto result = Rehearsal(data, *spaces, machine, make, options, nested).run();
  if (!result) result = Rehearsal(data, *spaces, machine, make, options, true).run();
  return std::move(*result);
}

}  // namespace groma::sim
