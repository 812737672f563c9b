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
#include "mapper/processors.h"
#include "simulate/mapping.h"

namespace groma::sim {
namespace {

constexpr std::int64_t kStepWork = 64;  // units of work of a statement or point by itself
constexpr std::size_t kMaxFindings = kMaxErrors;
constexpr std::size_t kShownInstances = 4;

std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
  a = (a ^ b) * 0x9E3779B97F4A7C15;
  return a ^ a >> 29;
}

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

// Of one that a wish names.
std::uint64_t key_of_named(InstanceNumber number) { return mix(2, number); }

class Rehearsal final : public Mapping {
 public:
  Rehearsal(const app::Data& data, const Spaces& spaces, std::shared_ptr<const Machine> machine,
            const MapperFactory& make, const RehearsalOptions& options, bool notes_wants)
      : Mapping(data, spaces, std::move(machine), make, options.max_bytes),
        options_(options),
        links_(*machine_, memories_),
        notes_wants_(notes_wants) {}

  // Nothing: it came to where it matters what all others want, and did not note it.
  std::optional<RehearsalResult> run() {
    TaskRun top;
    if (!place_top(top)) {
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
  // A task while it launches, and where it may run.
  struct Level {
    Context context;
    std::vector<Processor> may;
  };
  // An instance that a requirement may be given: by the candidates of its wish in their order, of
  // one candidate by where the task may run.
  struct Choice {
    std::uint64_t key;
    std::int32_t memory, stage;
    std::int64_t bytes;
    std::uint32_t region;
    Origin origin;
  };
  struct Want {
    std::vector<Choice> choices;
    bool may_be_virtual = false;  // in the end
    std::uint32_t task = 0, position = 0;
  };

  bool launches(const TaskRun& run) const {
    return !run.variant->leaf && !data_.tasks[run.task].body.empty();
  }

  // ---- Bodies

  void body_of(TaskRun& run, std::vector<Processor> may) {
    Level level;
    level.may = std::move(may);
    if (open(level.context, run)) {
      body(level, data_.tasks[run.task].body);
    } else {
      collect(nullptr, &run);
    }
  }

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

  // Everything is over when all is that the top-level task launched.
  void wait_for_all(const Level& level) {
    if (level.context.run->parent != nullptr) return;
    store_.all_over();
    live_ = 1;
  }

  // Where a loop has no variable, a time that takes the same instances and makes the same copies as
  // the time before leaves what that one left, so all others do too. The instances are all there,
  // since the second found them. Of each cell, the copies say which of the loop's instances were
  // valid, and what was to be folded, whenever one was used. What comes after the last use that
  // writes or folds follows from the uses alone. Without such a use, who reads is valid from then
  // on; untracked ones are only where no other is, which the next copy's source says. Where the
  // store is not certain anyway, a time after which nothing more is wanted and nothing more was
  // found is one of many: where processors are not, all that come into question were asked about.
  void loop(Level& level, const app::Loop& loop) {
    std::int64_t count = 0;
    if (!this->count(level.context, loop, count)) return collect(nullptr, level.context.run);
    if (loop.body.empty()) return;
    const std::uint64_t around = signature_;
    std::uint64_t all = around, last = 0;
    int same = 0;
    for (std::int64_t i = 0; i < count && !ended_; ++i) {
      if (loop.slot >= 0) level.context.frame[static_cast<std::size_t>(loop.slot)] = i;
      const std::int64_t tasks = launched_, statements = statements_, live = live_;
      const std::int64_t turns = turns_, changes = changes_;
      signature_ = 1;
      body(level, loop.body);
      signature_ = mix(signature_, wants_.size() + findings_.size());
      same = i > 0 && signature_ == last && changes_ == changes ? same + 1 : 0;
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
      if (launched_ > options_.max_tasks) too_many_tasks(data_.tasks[level.context.run->task].name);
      if (statements_ > static_cast<std::int64_t>(kMaxStatements)) too_many_statements();
      break;
    }
    signature_ = all;
  }

  void sign(std::uint64_t what) {
    if (certain_) signature_ = mix(signature_, what);
  }

  // Whether there is time for so many more.
  bool step(std::int64_t steps) {
    if (ended_ || !(certain_ || notes_wants_)) return false;
    steps_ += steps;
    if (steps_ > options_.max_steps) {
      return end(fmt::format("it takes more than {} steps, statements and points of launches",
                             options_.max_steps));
    }
    if (spend(kStepWork * steps)) return true;
    collect(nullptr, nullptr);
    return false;
  }
  bool stops() override {
    return budget_.spent() > options_.max_work || (options_.stop && options_.stop());
  }
  std::int64_t bytes() const override { return Mapping::bytes() + want_bytes_; }

  bool end(std::string why) {
    ended_ = true;
    if (incomplete_.empty()) incomplete_ = std::move(why);
    return false;
  }

  void note_live() {
    if (live_ <= kMaxLive || !incomplete_.empty()) return;
    incomplete_ = fmt::format("more than {} tasks may be under way at once", kMaxLive);
  }

  void too_many_tasks(std::string_view task) {
    fail(task, fmt::format("more than {} tasks are launched", options_.max_tasks));
    collect(nullptr, nullptr);
    ended_ = true;
  }
  void too_many_statements() {
    fail(data_.name, fmt::format("more than {} statements", kMaxStatements));
    collect(nullptr, nullptr);
    ended_ = true;
  }

  // ---- Launches

  void launch(Level& level, const app::Launch& launch) {
    Context& context = level.context;
    const std::string& name = data_.tasks[launch.task].name;
    Rect domain;
    if (!domain_of(context, launch, domain)) return collect(&launch, nullptr);
    const std::int64_t points = domain.volume();
    if (points > options_.max_tasks - launched_) return too_many_tasks(name);
    if (points >= kMaxLive) {
      fail(name, fmt::format("more than {} tasks are under way", kMaxLive));
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
    if (!start_launch(context, launch, domain)) return collect(&launch, nullptr);
    const auto of = std::make_shared<const LaunchRun>(
        LaunchRun{launches_, domain, 0, task_options_.valid_instances});
    const bool turn = !launch.is_index && !task_options_.processor_origin;
    turns_ += turn ? 1 : 0;
    std::vector<Processor> may;
    if (!launch.is_index) may = places_of(level, launch);
    TaskSlices slices;
    std::swap(slices, slices_);
    std::vector<std::pair<TaskRun, std::vector<Processor>>> inner;  // that launch in turn
    for (const TaskSlice& slice : slices) {
      if (ended_) break;
      Point point = slice.box.lower;
      do {
        TaskRun& run = run_;
        run.clear();
        run.op = ops_.add();
        if (!place(run, context, launch, of, slice, point)) {
          collect(&launch, &run);
          continue;
        }
        check_privileges(run);
        const bool waits = mapper_of(run.processor).selects();
        if (waits) certain_ = false;  // in another order
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
    std::swap(slices, slices_);
    if (!inner.empty()) certain_ = ordered_ = false;
    for (auto& [run, where] : inner) {
      body_of(run, std::move(where));
      leave(run);
    }
  }

  // Whether it makes a difference which processor of its kind it runs on.
  bool matters(const TaskRun& run) const {
    if (launches(run) || machine_->node_count() > 1) return true;
    return std::any_of(run.instances.begin(), run.instances.end(), [this](InstanceNumber number) {
      return number != kVirtual && memories_.group(store_.instance(number).memory).count > 1;
    });
  }

  // It may be over at once, or at any time before the next wait for everything.
  void leave(TaskRun& run) {
    for (InstanceNumber instance : run.instances) {
      if (instance != kVirtual) store_.leave(instance);
    }
    ops_.complete(run.op, [](Op) {});
  }

  // Returns the processors where a single task may start, if that depends on timing; else nothing.
  // It does where a function looks at where the launching task runs, and where the default mapper
  // takes processors in turn: its next one depends on which tasks it placed before.
  std::vector<Processor> places_of(Level& level, const app::Launch& launch) {
    Context& context = level.context;
    const Processor at = context.run->processor, initial = task_options_.initial;
    if (task_options_.processor_origin) {
      if (level.may.size() < 2) return {};
      const TaskOptions answer = task_options_;
      const TaskSlices slices = slices_;
      std::vector<Processor> places = {initial};
      for (const Processor& other : level.may) {
        if (other == at) continue;
        stand(context, other);
        if (start_launch(context, launch, {})) {
          places.push_back(task_options_.initial);
        } else {
          collect(&launch, nullptr, false);
        }
      }
      stand(context, at);
      task_options_ = answer;
      slices_ = slices;
      return places;
    }
    const bool in_node = initial.node == at.node;
    const bool top = context.run->parent == nullptr;
    if (!turned_ && (ordered_ || (top && in_node))) return {};
    std::vector<Processor> places = {initial};
    for (const Processor& other : processors_) {
      if (other.kind != initial.kind || (in_node && other.node != at.node)) continue;
      if (!(other == initial)) places.push_back(other);
    }
    return places;
  }

  // Where one may come to run that can be stolen: where it may start, and whoever it may be given
  // to. A program answers for a thief by its kind and node, and who stole it gives it to no others.
  void with_thieves(TaskRun& run, const std::vector<Processor>& may,
                    std::vector<Processor>& places) {
    places = may;
    if (places.empty()) places.push_back(run.processor);
    const std::vector<Processor> starts = places;
    const TaskView view = view_of(run, views_kept_);
    std::vector<std::uint32_t> given;
    bool gives = false;
    for (const Processor& thief : processors_) {
      if (thief.index == 0) {
        gives = has_variant(run.task, thief.kind) &&
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

  void stand(Context& context, const Processor& at) {
    context.run->processor = context.view.current = at;
    context.run->number = number_of(at);
  }

  // ---- One task

  // Who maps a task there. A program and the default mapper answer map_task by where the task
  // stands, not by whose mapper object it is, so one for the processors of a kind and node has its
  // plans.
  Mapper& mapper_of(const Processor& at) { return mapper(number_of({at.kind, at.node, 0})); }

  // Asks about it wherever it may start (nowhere else than it stands, if `may` is empty) and takes
  // instances on the first of its processors; all of them go to `places`. False, and nothing is
  // taken: it is refused.
  bool map(TaskRun& run, const std::vector<Processor>& may, std::vector<Processor>& places) {
    places.clear();
    const bool mapped = take_instances(run, may, places);
    tell_collected();
    return mapped;
  }

  bool take_instances(TaskRun& run, const std::vector<Processor>& may,
                      std::vector<Processor>& places) {
    asking_ = run.task;
    const Holding holding(*this);
    const Processor first = run.processor;
    const std::int64_t changes = changes_;
    for (const Processor& other : may) {
      if (other == first || std::find(places.begin(), places.end(), other) != places.end())
        continue;
      run.processor = other;
      run.number = number_of(other);
      const bool well = ask(run, view_of(run, views_kept_), mapper_of(other));
      if (changes_ > changes) certain_ = false;  // by an answer that may not be carried out
      if (!well) {
        collect(run.launch, &run, other.node == first.node && knows_instances());
        continue;
      }
      places.insert(places.end(), wish_.processors.begin(), wish_.processors.end());
    }
    run.processor = first;
    run.number = number_of(first);
    const TaskView view = view_of(run, views_kept_);
    if (!ask(run, view, mapper_of(first))) {
      // Not certain only where it may start on other nodes.
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

  // Whether what was refused last does not depend on an instance that may or may not be there.
  bool knows_instances() const {
    if (budget_.exceeded()) return false;
    return result_.refusals.front().diagnostic.id != DiagId::kBadInstance ||
           (certain_ && !store_.guessed() && !store_.keeps_eager());
  }

  // A task that launches others without holding what they use does not keep back what uses it too,
  // so that what it launched may wait for what waits for it.
  void check_privileges(const TaskRun& run) {
    const TaskRun& by = *run.parent->run;
    if (by.parent == nullptr || !incomplete_.empty()) return;
    const app::Task &task = data_.tasks[run.task], &holder = data_.tasks[by.task];
    for (std::uint32_t u = 0; u < task.requirements.size(); ++u) {
      const app::Where& used = where_of(run, u);
      const bool unused = used.privilege == Privilege::kNoAccess || used.fields.empty();
      if (unused || run.pieces[u] == nullptr) continue;
      const std::uint32_t region = used.region;
      std::uint64_t missing = groups_of(run, u);
      for (std::uint32_t h = 0; h < holder.requirements.size() && missing != 0; ++h) {
        const bool holds = by.pieces[h] != nullptr && where_of(by, h).region == region &&
                           allows(where_of(by, h).privilege, used.privilege) &&
                           within(*run.pieces[u], *by.pieces[h]);
        if (holds) missing &= ~groups_of(by, h);
      }
      if (missing == 0) continue;
      incomplete_ = fmt::format(
          "`{}` launches `{}` on data of `{}` that it does not hold itself, so they may come to "
          "wait "
          "for each other",
          holder.name, task.name, data_.regions[region].name);
      return;
    }
  }
  static bool allows(Privilege held, Privilege used) {
    const bool all = held == Privilege::kReadWrite || held == Privilege::kWriteDiscard;
    return all || held == used;
  }

  bool map_requirement(TaskRun& run, const TaskView& view, const std::vector<Processor>& places,
                       std::uint32_t r) {
    const RequirementWish& wish = wish_.requirements[r];
    if (!view.requirements[r].empty() && run.pieces[r] == nullptr) {
      // The run refuses that, whatever the mapping; all else can be looked at.
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
      if (budget_.exceeded()) {
        collect(run.launch, &run);
        return false;
      }
      const bool no_room = result_.refusals.front().diagnostic.id == DiagId::kOutOfMemory;
      if (no_room && !(certain_ && !store_.guessed()) && !exceeds(run, view, places, r)) {
        over_ = false;  // judge_memories says what may be
        run.instances.push_back(kVirtual);
        certain_ = false;
        return true;
      }
      collect(run.launch, &run);
      leave_all(run);
      return false;
    }
    if (store_.forked()) certain_ = false;
    const bool launches = !data_.tasks[run.task].body.empty();
    if (wish.untracked && launches && run.instances.back() != kVirtual && incomplete_.empty()) {
      incomplete_ = fmt::format(
          "region {} of `{}` is not kept, and another task may have it copied again while the "
          "tasks that `{}` launches read it",
          r, view.name, view.name);
    }
    sign(run.instances.back());
    return true;
  }

  void leave_all(TaskRun& run) {
    for (const Fetch& fetch : fetches_) leave(fetch);
    fetches_.clear();
    leave(run);
  }
  void leave(const Fetch& fetch) {
    store_.leave(fetch.from);
    store_.leave(fetch.to);
    ops_.complete(fetch.op, [](Op) {});
  }

  void check_copy(TaskRun& run, const Fetch& fetch) {
    const Instance &from = store_.instance(fetch.from), &to = store_.instance(fetch.to);
    sign(std::uint64_t{fetch.from} << 32 | fetch.to);
    sign(static_cast<std::uint64_t>(fetch.bytes) * 2 + (fetch.reduction ? 1 : 0));
    if (links_.route(from.memory, to.memory) == nullptr) {
      refuse(RunStatus::kExecuteError, {no_route(from, to)}, "");
      collect(run.launch, &run, certain_);
    }
    leave(fetch);
  }

  // As the run has them when the task starts.
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
    fail_formula(run, fault);
    collect(run.launch, &run);
  }

  // ---- Memories

  // Notes what the requirement may be given, wherever the task runs. Wherever that is another
  // memory, the run's load decides.
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
      auto query = this->query(run, requirement, wish, candidate, position);
      if (!query) continue;
      const std::int64_t bytes = store_.bytes_of(*query);
      seen_.clear();
      for (const Processor& place : places) {
        query->memory = memories_.nearest(place, candidate.memory);
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

  // Takes room whoever names it.
  void made_by_mapper(const InstanceQuery& query, std::optional<InstanceNumber> made) override {
    if (!notes_wants_) return;
    const std::uint64_t key = made ? key_of_named(*made) : key_of(query);
    const std::int64_t bytes = store_.bytes_of(query);
    wants_.push_back({{{key, query.memory, 0, bytes, query.region, {}}}, true, asking_, 0});
    note_want_bytes();
  }

  void note_want_bytes() {
    constexpr std::int64_t kKnown = 64;  // its place in known_wants_
    want_bytes_ +=
        static_cast<std::int64_t>(2 * sizeof(Want)) + kKnown + heap_bytes(wants_.back().choices);
  }

  // Whether the task's own data alone is more than the only memory for the requirement holds: what
  // can only lie there, each kind of instance counted once.
  bool exceeds(const TaskRun& run, const TaskView& view, const std::vector<Processor>& places,
               std::uint32_t position) {
    const auto only = [&](std::uint32_t r) -> std::optional<InstanceQuery> {
      const RequirementWish& wish = wish_.requirements[r];
      if (view.requirements[r].empty() || wish.is_virtual || run.pieces[r] == nullptr) return {};
      if (wish.instance != 0) return {};
      std::optional<InstanceQuery> found;
      for (const InstanceWish& candidate : wish.candidates()) {
        if (candidate.memory == MemKind::kVirtual) return {};
        const auto query = this->query(run, view.requirements[r], wish, candidate, r);
        if (!query) continue;
        if (found) return {};
        found = query;
      }
      return found;
    };
    const auto mine = only(position);
    if (!mine || wish_.processors.size() > 1) return false;
    std::map<std::uint64_t, std::int64_t> least;  // of what may share an instance, the largest
    for (std::uint32_t r = 0; r <= position; ++r) {
      auto query = only(r);
      if (!query || query->memory != mine->memory) continue;
      const std::int64_t bytes = spaces_.region(query->region)
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
      const std::int32_t memory = memories_.nearest(place, memories_[mine->memory].kind);
      return memory < 0 || sum > memories_.group(memory).capacity_bytes;
    });
  }

  // Which memories may be too small where the order is not known: those for which all instances
  // that may be made there, each once, are too much. What comes after a candidate is made only
  // where that one may have no room.
  void judge_memories() {
    std::vector<bool> full(memories_.size());
    std::vector<std::int64_t> wanted;
    const auto work = static_cast<std::int64_t>(memories_.size() + 16 * wants_.size());
    for (bool more = true; more;) {
      if (!spend(work)) return collect(nullptr, nullptr);
      wanted.assign(memories_.size(), 0);
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
        if (full[m] || wanted[m] <= memories_.group(static_cast<std::int32_t>(m)).capacity_bytes) {
          continue;
        }
        full[m] = more = true;
      }
    }
    // Once for each kind and statement: the memories of a kind are often full together.
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
      const MemKind kind = memories_[last->memory].kind;
      if (findings_.size() >= kMaxFindings || !told.emplace(kind, last->origin.statement).second) {
        continue;
      }
      const std::int64_t bytes = wanted[static_cast<std::size_t>(last->memory)];
      findings_.push_back({may_not_fit(last->memory, bytes, full), last->origin});
    }
  }

  // Where no channel leads between two memories that may both hold some of a region, a copy may be
  // asked for. Memories of one kind on nodes of one type are alike: two of a node and one of
  // another stand for all.
  void judge_routes() {
    struct Place {
      std::int32_t memory;
      Origin origin;
    };
    std::map<std::uint32_t, std::vector<Place>> places;  // by region
    std::map<std::tuple<std::uint32_t, const NodeType*, MemKind>, std::array<std::int64_t, 3>>
        known;
    for (const Want& want : wants_) {
      if (!spend(8 * static_cast<std::int64_t>(want.choices.size()))) {
        return collect(nullptr, nullptr);
      }
      for (const Choice& choice : want.choices) {
        const Memory& memory = memories_[choice.memory];
        std::vector<Place>& here = places[choice.region];
        const bool is_there = std::any_of(here.begin(), here.end(), [&](const Place& place) {
          return place.memory == choice.memory;
        });
        if (is_there) continue;
        auto& [node, in_node, elsewhere] =
            known
                .try_emplace({choice.region, &machine_->node(memory.node), memory.kind},
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
          refuse(RunStatus::kExecuteError, {no_route(a, b)}, "");
          return collect(nullptr, nullptr, false);
        }
      }
    }
  }

  // Those that a want may come to: of each candidate, as long as those before may have no room.
  // True where one surely has.
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

  Diagnostic may_not_fit(std::int32_t memory, std::int64_t wanted, const std::vector<bool>& full) {
    const std::int64_t capacity = memories_.group(memory).capacity_bytes;
    Diagnostic diagnostic = one_diagnostic(DiagId::kMayNotFit, mapper::text_of(memories_[memory]),
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
                                  data_.regions[region].name, bytes_words(part.bytes),
                                  part.position, data_.tasks[part.task].name));
    }
    return diagnostic;
  }

  // ---- What was found

  // What refuse() was told last, with where. The run's store is not known after it.
  void collect(const app::Launch* launch, const TaskRun* run, bool certain = true) {
    const bool too_large = over_ && result_.status == RunStatus::kTooLarge;
    over_ = false;
    if (too_large || budget_.exceeded()) {
      result_.refusals.clear();  // of what was cut off
      end(too_large ? too_little_memory(max_bytes_)
          : budget_.spent() > options_.max_work
              ? "its tasks use more parts of its regions than are looked at"
              : "it was stopped");
      return;
    }
    noted(launch, run);
    for (Refusal& refusal : result_.refusals) {
      if (findings_.size() >= kMaxFindings) break;
      Diagnostic& diagnostic = refusal.diagnostic;
      // Of a memory without room once for each task: how much is free differs each time.
      const std::string what = diagnostic.id == DiagId::kOutOfMemory && run != nullptr
                                   ? data_.tasks[run->task].name
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
    result_.refusals.clear();
    certain_ = false;
    signature_ = mix(signature_, findings_.size());
  }

  RehearsalResult finish() {
    const bool refused = std::any_of(findings_.begin(), findings_.end(), [](const Refusal& each) {
      return each.diagnostic.severity == Severity::kError;
    });
    const bool unsure = !refused && (!certain_ || store_.guessed() || store_.keeps_eager());
    if (asked_instances_ && unsure && incomplete_.empty()) {
      incomplete_ =
          "its mapper looks at instances, and which of them are there depends on the order in "
          "which "
          "tasks run";
    }
    // One that waits has its place in the limit, which what it waits for may need.
    if (limited_inside_ && incomplete_.empty()) {
      incomplete_ =
          "tasks that tasks launch have an `InstanceLimit`, so they may come to wait for each "
          "other";
    }
    return {std::move(findings_), std::move(incomplete_)};
  }

  const RehearsalOptions& options_;
  Links links_;
  // What of it is the run's own so far: the store; the order in which mappers are asked.
  bool certain_ = true, ordered_ = true;
  bool limited_ = false, limited_inside_ = false;
  std::int64_t turns_ = 0;  // single tasks that went to whose turn it was
  bool turned_ = false;     // some were not counted
  bool ended_ = false, found_enough_ = false;
  std::string incomplete_;
  std::int64_t steps_ = 0, statements_ = 0;
  std::int64_t launched_ = 0, live_ = 1;
  std::uint64_t signature_ = 1;  // of the instances taken, in their order
  bool notes_wants_;
  std::vector<Want> wants_;
  std::int64_t want_bytes_ = 0;  // of memory, for them and known_wants_
  std::unordered_set<std::uint64_t> known_wants_;
  std::uint64_t fresh_ = 0;   // instances that are not to be shared
  std::uint32_t asking_ = 0;  // the task whose mapper is asked
  std::vector<Refusal> findings_;
  std::set<std::tuple<DiagId, std::uint32_t, std::string>> known_;

  // Kept for their memory.
  TaskRun run_;
  std::vector<Processor> places_, thieves_;
  std::vector<Choice> choices_;
  std::vector<std::int32_t> seen_;
  std::vector<RequirementView> views_kept_;
  std::vector<app::PieceSize> sizes_;
};

}  // namespace

RehearsalResult rehearse(const Workload& workload, const std::shared_ptr<const Machine>& machine,
                         const MapperFactory& make, const RehearsalOptions& options) {
  // The work of the rehearsal itself begins after this.
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
  // Where only one task launches, mostly everything is certain, and what others want does not
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
