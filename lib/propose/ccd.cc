// ccd: AutoMap's constrained coordinate-wise descent (Teixeira et al., SC'23) over the search
// space. The proposer varies one task after the other, the one with the longest run time first:
// each processor kind, then each argument on that kind (largest first) in each memory. A faster
// choice is kept. Arguments that share data are constrained to one memory: moving one moves the
// others, and moves tasks that cannot address that memory. After each of five rotations through all
// tasks, the constraints with the smallest overlaps are dropped, until no constraint is left.
//
// Differences from AutoMap: the memory of an argument is the memory of its collection on a
// processor kind, as in the search space. The memories of one argument are tried together. Layouts,
// limits, index maps and the other decisions follow, one at a time. The index maps also decide
// whether a task is distributed.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <tuple>

#include "app/data.h"
#include "groma/search_space.h"
#include "propose/beginnings.h"
#include "propose/proposers.h"
#include "propose/score_memory.h"
#include "space/collections.h"

namespace groma::tuning {
namespace {

constexpr int kRotations = 5;
constexpr ProcKind kUsualKinds[] = {ProcKind::kGpu, ProcKind::kOmp, ProcKind::kCpu};

class Ccd : public Proposer {
 public:
  explicit Ccd(const SearchProblem& problem);

  std::string_view name() const override { return "ccd"; }
  GuideDetail reads() const override { return GuideDetail::kProfile; }
  std::vector<Proposal> propose(SearchRound& round) override;
  void learn(const Step& step) override;

 private:
  // A processor kind on which a task can run.
  struct Kind {
    ProcKind kind;
    // The option of the Task decision that lists only this processor kind.
    std::uint32_t option;
  };
  // A task whose processor kind the search space can decide.
  struct Task {
    // The index of the task in the workload.
    std::uint32_t number = 0;
    std::string name;
    std::size_t decision = 0;
    // The processor kinds for which the task has a variant.
    std::vector<Kind> kinds;
  };
  // One axis of the coordinate descent: the decisions that are varied while all others stay the
  // same.
  struct Axis {
    // The index of the task whose processor kind varies together with the memory of its argument.
    std::size_t task = 0;
    std::size_t kind = 0;
    // The index of the collection whose memory varies; -1 if no memory varies.
    int argument = -1;
    // The index of the decision that varies. It counts only if `plain` is true.
    std::size_t decision = 0;
    bool plain = false;
  };
  struct TriedMapping {
    std::int64_t tag = 0;
    Choice choice;
  };

  void make_tasks(const SearchProblem& problem);
  void make_axes(const ProfileFacts* profile);
  std::vector<Choice> candidates(const Axis& axis) const;
  std::string words(const Axis& axis) const;
  // Returns the best mapping, changed so that one task runs on another processor kind and one
  // collection lies in another memory.
  Choice moved(std::size_t task, std::size_t kind, std::uint32_t collection, MemKind memory) const;
  ProcKind kind_of(const Task& task, const Choice& choice) const;
  void run_on(const Task& task, const Kind& kind, Choice& choice) const;
  // Returns true if the task can address the memory from its present processor kind or from another
  // kind on which it can run. In the second case moves the task to that kind, to `first` if
  // possible.
  bool reach(const Task& task, MemKind memory, ProcKind first, Choice& choice) const;
  void place(std::uint32_t collection, ProcKind kind, MemKind memory, Choice& choice) const;
  bool addresses(ProcKind kind, MemKind memory) const {
    return addresses_[static_cast<std::size_t>(kind)][static_cast<std::size_t>(memory)];
  }
  const std::size_t* region_decision(const std::string& region, ProcKind kind) const;

  SearchSpace space_;
  Collections collections_;
  std::array<std::array<bool, kMemKindCount>, kProcKindCount> addresses_{};
  std::vector<Task> tasks_;
  // The index of the Region decision for each region and processor kind.
  std::map<std::pair<std::string, ProcKind>, std::size_t> regions_;
  // The index of the first overlap that still constrains two collections to one memory. The
  // overlaps are sorted by size, and the smaller ones before this index no longer count.
  std::size_t loosest_ = 0;

  std::vector<Choice> beginnings_;
  std::size_t next_beginning_ = 0;
  // True if some mapping has run, so that its profile could order the tasks.
  bool profiled_ = false;

  Choice best_;
  double best_score_ = std::numeric_limits<double>::infinity();
  // The number of the step that tried the best mapping; none before a mapping has run.
  std::vector<std::int64_t> best_step_;
  std::vector<Axis> axes_;
  std::size_t next_axis_ = 0;
  int rotation_ = 0;
  std::vector<TriedMapping> pending_;
  std::int64_t tags_ = 0;
  ScoreMemory tried_;
};

// Works out which memories each processor kind can address on some node of the machine.
Ccd::Ccd(const SearchProblem& problem)
    : space_(*problem.machine, problem.inputs.front()),
      collections_(collections_of(problem.inputs.front())),
      beginnings_(starting_points(space_)),
      best_(beginnings_.front()) {
  for (const NodeType& node : problem.machine->node_types()) {
    for (std::size_t p = 0; p < kProcKindCount; ++p) {
      for (std::size_t m = 0; m < kMemKindCount; ++m) {
        const auto kind = static_cast<ProcKind>(p);
        const auto memory = static_cast<MemKind>(m);
        if (node.find(kind) != nullptr && node.find(memory) != nullptr &&
            node.find(kind, memory) != nullptr) {
          addresses_[p][m] = true;
        }
      }
    }
  }
  make_tasks(problem);
}

// Collects the tasks that have a Task decision, with the kinds on which they can run, and the
// Region decisions of the search space.
void Ccd::make_tasks(const SearchProblem& problem) {
  const app::Data& data = problem.inputs.front().data();
  const std::vector<Decision>& decisions = space_.decisions();
  for (std::size_t d = 0; d < decisions.size(); ++d) {
    const Decision& decision = decisions[d];
    if (decision.statement == MappingStatement::kRegion && decision.kind) {
      regions_.emplace(std::pair(decision.region, *decision.kind), d);
    }
    if (decision.statement != MappingStatement::kTask) continue;
    Task& task = tasks_.emplace_back();
    task.number = static_cast<std::uint32_t>(decision.task);
    task.name = data.tasks[task.number].name;
    task.decision = d;
    for (const app::Variant& variant : data.tasks[task.number].variants) {
      const auto option =
          std::find(decision.options.begin(), decision.options.end(), name_of(variant.kind));
      const bool listed = std::any_of(task.kinds.begin(), task.kinds.end(),
                                      [&](const Kind& kind) { return kind.kind == variant.kind; });
      if (option == decision.options.end() || listed) continue;
      task.kinds.push_back(
          {variant.kind, static_cast<std::uint32_t>(option - decision.options.begin())});
    }
  }
}

// Makes the axes of one rotation of the coordinate descent: first those of tasks, the task with the
// longest run time first, then all other decisions. `profile` gives the run times and may be null.
void Ccd::make_axes(const ProfileFacts* profile) {
  std::vector<double> shares(tasks_.size(), 0);
  if (profile != nullptr) {
    for (const ProfileFacts::Task& timed : profile->by_task) {
      for (std::size_t t = 0; t < tasks_.size(); ++t) {
        if (tasks_[t].name == timed.task) shares[t] += timed.share;
      }
    }
  }
  std::vector<std::size_t> order;
  for (std::size_t t = 0; t < tasks_.size(); ++t) order.push_back(t);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return shares[a] > shares[b]; });

  for (std::size_t t : order) {
    const std::vector<std::uint32_t>& arguments = collections_.arguments_of_task[tasks_[t].number];
    for (std::size_t k = 0; k < tasks_[t].kinds.size(); ++k) {
      for (std::uint32_t argument : arguments) axes_.push_back({t, k, static_cast<int>(argument)});
      if (arguments.empty()) axes_.push_back({t, k});
    }
  }

  // The other decisions are varied in this order: layouts, instance limits, mapping functions, then
  // the rest. Within a stage they follow the order of the tasks.
  const std::vector<Decision>& decisions = space_.decisions();
  const auto stage = [](MappingStatement statement) {
    switch (statement) {
      case MappingStatement::kLayout:
        return 0;
      case MappingStatement::kInstanceLimit:
        return 1;
      case MappingStatement::kIndexTaskMap:
      case MappingStatement::kSingleTaskMap:
        return 2;
      default:
        return 3;
    }
  };
  // The position of each task in `order`, by the index of the task in the workload.
  std::map<std::int32_t, std::size_t> places;
  for (std::size_t i = 0; i < order.size(); ++i) {
    places[static_cast<std::int32_t>(tasks_[order[i]].number)] = i;
  }
  std::vector<std::tuple<int, std::size_t, std::size_t>> plain;
  for (std::size_t d = 0; d < decisions.size(); ++d) {
    const Decision& decision = decisions[d];
    if (decision.statement == MappingStatement::kTask ||
        decision.statement == MappingStatement::kRegion) {
      continue;
    }
    const auto place = places.find(decision.task);
    plain.emplace_back(stage(decision.statement), place == places.end() ? 0 : place->second, d);
  }
  std::sort(plain.begin(), plain.end());
  for (const auto& [stage_of, place, d] : plain) axes_.push_back({0, 0, -1, d, true});
}

// Proposes the mappings along the next axis that were not tried before, at most round.most().
// Before any mapping has run, proposes a starting point. After the last rotation proposes nothing,
// which ends the search.
std::vector<Proposal> Ccd::propose(SearchRound& round) {
  std::vector<Choice> fresh;
  std::string why = "to begin with";
  if (!std::isfinite(best_score_) && next_beginning_ < beginnings_.size()) {
    fresh.push_back(beginnings_[next_beginning_++]);
  }
  while (fresh.empty() && rotation_ < kRotations) {
    if (axes_.empty()) make_axes(nullptr);
    if (next_axis_ == axes_.size()) {
      next_axis_ = 0;
      ++rotation_;
      // The overlaps are sorted by size, the smallest first. After each rotation another quarter of
      // them is dropped, so the last rotation has no constraints.
      loosest_ =
          collections_.overlaps.size() * static_cast<std::size_t>(rotation_) / (kRotations - 1);
      continue;
    }
    const Axis& axis = axes_[next_axis_++];
    for (Choice& choice : candidates(axis)) {
      const bool listed = std::find(fresh.begin(), fresh.end(), choice) != fresh.end();
      if (!listed && tried_.find(hash_of(choice)) == nullptr) fresh.push_back(std::move(choice));
    }
    // If this round does not allow all mappings of the axis, the axis comes again in the next
    // round, because the search may be resumed with a larger budget.
    if (fresh.size() > round.max_proposals()) --next_axis_;
    why = fmt::format("rotation {}: {}", rotation_ + 1, words(axis));
  }
  std::vector<Proposal> proposals;
  pending_.clear();
  for (Choice& choice : fresh) {
    if (proposals.size() == round.max_proposals()) break;
    tried_.add(hash_of(choice), {});
    proposals.push_back({space_.text_of(choice), why, ++tags_, best_step_});
    pending_.push_back({tags_, std::move(choice)});
  }
  return proposals;
}

// Makes a mapping the best one if it is better than the best by more than the noise. The first
// mapping that runs supplies the profile, which decides the order of the tasks unless the descent
// has begun already.
void Ccd::learn(const Step& step) {
  for (const TriedMapping& tried : pending_) {
    if (tried.tag != step.proposal.tag) continue;
    if (step.evaluation.ok() && step.evaluation.score < best_score_ * (1 - step.evaluation.noise)) {
      best_ = tried.choice;
      best_score_ = step.evaluation.score;
      best_step_ = {step.number};
    }
    if (step.evaluation.ok() && !profiled_) {
      profiled_ = true;
      const auto& profile = step.evaluation.feedback.profile;
      if (profile && axes_.empty()) make_axes(&*profile);
    }
  }
}

// Returns the mappings that differ from the best one only along this axis: each option of a plain
// decision, or the argument in each memory that the processor kind can address.
std::vector<Choice> Ccd::candidates(const Axis& axis) const {
  std::vector<Choice> made;
  if (axis.plain) {
    const std::size_t options = space_.decisions()[axis.decision].options.size();
    for (std::uint32_t option = 0; option < options; ++option) {
      made.push_back(best_);
      made.back()[axis.decision] = option;
    }
    return made;
  }
  const Kind& kind = tasks_[axis.task].kinds[axis.kind];
  if (axis.argument < 0) {
    made.push_back(best_);
    run_on(tasks_[axis.task], kind, made.back());
    return made;
  }
  for (std::size_t m = 0; m < kMemKindCount; ++m) {
    const auto memory = static_cast<MemKind>(m);
    if (!addresses(kind.kind, memory)) continue;
    made.push_back(moved(axis.task, axis.kind, static_cast<std::uint32_t>(axis.argument), memory));
  }
  return made;
}

// Returns a description of an axis for people: "step on GPU, tiles elsewhere".
std::string Ccd::words(const Axis& axis) const {
  if (axis.plain) return space_.decisions()[axis.decision].head;
  const Task& task = tasks_[axis.task];
  std::string on = fmt::format("{} on {}", task.name, name_of(task.kinds[axis.kind].kind));
  if (axis.argument < 0) return on;
  return fmt::format("{}, {} elsewhere", on,
                     collections_.all[static_cast<std::size_t>(axis.argument)].names.front());
}

// Returns the best mapping, changed so that the task runs on this processor kind and the collection
// lies in this memory. Collections that are constrained to lie with that collection, directly or
// through others, move to the same memory.
Choice Ccd::moved(std::size_t task, std::size_t kind, std::uint32_t collection,
                  MemKind memory) const {
  Choice choice = best_;
  const ProcKind on = tasks_[task].kinds[kind].kind;
  run_on(tasks_[task], tasks_[task].kinds[kind], choice);
  place(collection, on, memory, choice);
  std::vector<bool> follows(collections_.all.size(), false);
  std::vector<std::uint32_t> queue = {collection};
  while (!queue.empty()) {
    const std::uint32_t from = queue.back();
    queue.pop_back();
    for (std::size_t o = loosest_; o < collections_.overlaps.size(); ++o) {
      const CollectionOverlap& overlap = collections_.overlaps[o];
      if (overlap.a != from && overlap.b != from) continue;
      const std::uint32_t other = overlap.a == from ? overlap.b : overlap.a;
      if (follows[other]) continue;
      follows[other] = true;
      queue.push_back(other);
      for (const Task& user : tasks_) {
        const std::vector<std::uint32_t>& arguments = collections_.arguments_of_task[user.number];
        if (std::find(arguments.begin(), arguments.end(), other) == arguments.end()) continue;
        if (reach(user, memory, on, choice)) {
          place(other, kind_of(user, choice), memory, choice);
        }
      }
    }
  }
  return choice;
}

// Returns the processor kind on which a task runs under a choice of options. If the task's decision
// does not name exactly one kind, the first kind in the default order counts.
ProcKind Ccd::kind_of(const Task& task, const Choice& choice) const {
  for (const Kind& kind : task.kinds) {
    if (kind.option == choice[task.decision]) return kind.kind;
  }
  for (ProcKind usual : kUsualKinds) {
    for (const Kind& kind : task.kinds) {
      if (kind.kind == usual) return usual;
    }
  }
  return ProcKind::kCpu;
}

// Makes a task run on a processor kind. Changes the Task decision only if the task does not run on
// this kind already.
void Ccd::run_on(const Task& task, const Kind& kind, Choice& choice) const {
  if (kind_of(task, choice) != kind.kind) choice[task.decision] = kind.option;
}

// If the task must move to another processor kind, prefers the kind `first`, and otherwise takes
// the first kind of the task that can address the memory.
bool Ccd::reach(const Task& task, MemKind memory, ProcKind first, Choice& choice) const {
  if (addresses(kind_of(task, choice), memory)) return true;
  const Kind* other = nullptr;
  for (const Kind& kind : task.kinds) {
    if (!addresses(kind.kind, memory)) continue;
    if (other == nullptr || kind.kind == first) other = &kind;
  }
  if (other == nullptr) return false;
  run_on(task, *other, choice);
  return true;
}

// Places a collection in a memory for the tasks on one processor kind. Does nothing if the present
// decisions, or the statements with which every mapping begins, already place the collection there.
void Ccd::place(std::uint32_t collection, ProcKind kind, MemKind memory, Choice& choice) const {
  const std::vector<std::string>& names = collections_.all[collection].names;
  const std::size_t* own = region_decision(names.front(), kind);
  if (own == nullptr) return;
  const auto option_of = [&](std::size_t d) -> const std::string& {
    return space_.decisions()[d].options[choice[d]];
  };
  std::string_view now = kind == ProcKind::kGpu               ? name_of(MemKind::kFbmem)
                         : addresses(kind, MemKind::kSockmem) ? name_of(MemKind::kSockmem)
                                                              : name_of(MemKind::kSysmem);
  for (const std::string& name : names) {
    const std::size_t* decision = region_decision(name, kind);
    if (decision == nullptr || option_of(*decision).empty()) continue;
    now = option_of(*decision);
    break;
  }
  if (now == name_of(memory)) return;
  const std::vector<std::string>& options = space_.decisions()[*own].options;
  const auto option = std::find(options.begin(), options.end(), name_of(memory));
  if (option != options.end()) {
    choice[*own] = static_cast<std::uint32_t>(option - options.begin());
  }
}

// Returns the index of the decision about a region on a kind of processor. Returns null if the
// search space has no such decision.
const std::size_t* Ccd::region_decision(const std::string& region, ProcKind kind) const {
  const auto found = regions_.find({region, kind});
  return found == regions_.end() ? nullptr : &found->second;
}

}  // namespace

std::unique_ptr<Proposer> make_ccd_proposer(const SearchProblem& problem, std::uint64_t /*seed*/) {
  return std::make_unique<Ccd>(problem);
}

}  // namespace groma::tuning
