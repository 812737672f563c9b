// The possible changes of a draft: all single changes, one random change, and a change that makes
// room after a shortage of memory.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <tuple>

#include "base/random.h"
#include "space/draft.h"
#include "syntax/printer.h"

namespace groma::tuning {
namespace {

constexpr std::array kMemories = {MemKind::kFbmem, MemKind::kZcmem, MemKind::kSysmem,
                                  MemKind::kSockmem};
constexpr std::array kLimits = {0, 1, 2, 4};
constexpr std::array<std::optional<StealScope>, 3> kSteals = {std::nullopt, StealScope::kSameNode,
                                                              StealScope::kAnyNode};
// The least weight of a change. A change has this weight if the profile does not mention what it
// affects.
constexpr double kLeast = 0.01;

// Returns the layouts that are tried: none (no Layout statement), then every combination of an
// order of dimensions with an order of fields.
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

// Returns the memories that a processor of this kind can address, those of the GPU first.
std::vector<MemKind> DraftMaker::addressable_memories(ProcKind kind) const {
  std::vector<MemKind> memories;
  for (const MemKind memory : kMemories) {
    if (machine_.can_address(0, kind, memory)) memories.push_back(memory);
  }
  return memories;
}

// Puts the draft's memories first, then those of the base mapping, then all others from the fastest
// to the slowest.
std::vector<MemKind> DraftMaker::memories_by_preference(const MappingDraft& draft, std::size_t task,
                                                        std::size_t argument) const {
  const Argument& of = tasks_[task].arguments[argument];
  const ProcKind kind = processor_kind_of(draft, task);
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

// Collects the single changes of one draft.
class DraftMaker::ChangeCollector {
 public:
  ChangeCollector(const DraftMaker& drafts, const MappingDraft& from, const ProfileFacts* facts)
      : drafts_(drafts), from_(from), facts_(facts) {}

  // Returns changes of single tasks, of groups of tasks, of all data with one name, and of
  // replication.
  std::vector<DraftChange> moves() {
    for (std::size_t t = 0; t < drafts_.tasks_.size(); ++t) {
      change_kind(t);
      change_place(t);
      change_schedule(t);
      change_data(t);
    }
    change_all_kinds();
    change_all_places();
    gather();
    for (const std::string& region : drafts_.regions_) change_region(region);
    if (!drafts_.top_level_.empty() && drafts_.machine_.node_count() > 1) {
      MappingDraft draft = from_;
      draft.replicates_top_level = !from_.replicates_top_level;
      add(DraftChange::Aspect::kReplicate, std::move(draft),
          from_.replicates_top_level ? "without replication" : "with the top level replicated",
          runtime_share());
    }
    return std::move(moves_);
  }

 private:
  // Adds a change, unless it changes nothing.
  void add(DraftChange::Aspect what, MappingDraft draft, std::string why, double weight) {
    if (draft == from_) return;
    moves_.push_back({std::move(draft), what, std::move(why), std::max(weight, kLeast)});
  }

  // Return the share of the run's time that a task or a region causes, and the task's share of the
  // time of all tasks, according to the profile; 0 without a profile.
  double task_share(std::size_t t) const {
    double share = 0;
    if (facts_ == nullptr) return share;
    for (const ProfileFacts::Cause& cause : facts_->causes) {
      if (cause.task == drafts_.tasks_[t].name) share += cause.share;
    }
    return share;
  }
  double run_share(std::size_t t) const {
    double share = 0;
    if (facts_ == nullptr) return share;
    for (const ProfileFacts::Task& task : facts_->by_task) {
      if (task.task == drafts_.tasks_[t].name) share += task.share;
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

  // Adds changes of the processor kind of one task.
  void change_kind(std::size_t t) {
    for (const ProcKind kind : drafts_.tasks_[t].kinds) {
      if (kind == drafts_.processor_kind_of(from_, t)) continue;
      MappingDraft draft = from_;
      drafts_.set_processor_kind(draft, t, kind);
      add(DraftChange::Aspect::kKind, std::move(draft),
          fmt::format("{} on {}", drafts_.tasks_[t].name, name_of(kind)), task_share(t) / 2);
    }
  }

  // Adds changes that move every task which can run on a kind of processor to that kind.
  void change_all_kinds() {
    for (const ProcKind kind : kPreferredKinds) {
      MappingDraft draft = from_;
      bool any = false;
      for (std::size_t t = 0; t < drafts_.tasks_.size(); ++t) {
        const auto& kinds = drafts_.tasks_[t].kinds;
        if (std::find(kinds.begin(), kinds.end(), kind) == kinds.end()) continue;
        if (drafts_.processor_kind_of(from_, t) == kind) continue;
        drafts_.set_processor_kind(draft, t, kind);
        any = true;
      }
      if (any)
        add(DraftChange::Aspect::kKind, std::move(draft),
            fmt::format("all that can on {}", name_of(kind)), 0.1);
    }
  }

  // Adds changes of where one task runs: its single launches, and the points of its index launches.
  void change_place(std::size_t t) {
    const Task& task = drafts_.tasks_[t];
    const double share = task_share(t) + copy_share() / 4;
    if (task.has_single_launches) {
      place_single({t}, nullptr, share);
      for (const PlacementFunction& function : drafts_.placements_.single_functions()) {
        place_single({t}, function, share);
      }
    }
    if (task.dimensions > 0) {
      if (from_.tasks[t].placement) place({t}, nullptr, share);
      for (const PlacementFunction& function :
           drafts_.placements_.functions_for(task.extents, drafts_.processor_kind_of(from_, t))) {
        place({t}, function, share);
      }
    }
  }

  // Adds a change that gives the single launches of these tasks the mapping function. If it is
  // null, the base mapping decides again.
  void place_single(const std::vector<std::size_t>& tasks, const PlacementFunction& function,
                    double share) {
    MappingDraft draft = from_;
    for (const std::size_t t : tasks) draft.tasks[t].single_placement = function;
    const std::string where = function == nullptr ? "placed " + otherwise()
                              : function->name == edit::kSamePoint
                                  ? "where the parent runs"
                                  : "on the first processor of its kind";
    add(DraftChange::Aspect::kSinglePlace, std::move(draft),
        fmt::format("{} {}", names(tasks), where), share);
  }

  // Adds changes that run everything on the first processor of each kind, or the points of all
  // launches on the first node: tasks that share much data may lose less time there than copies
  // take.
  void gather() {
    const PlacementFunction& first = drafts_.placements_.single_functions().back();
    MappingDraft one = from_, node = from_;
    for (std::size_t t = 0; t < drafts_.tasks_.size(); ++t) {
      const Task& task = drafts_.tasks_[t];
      if (task.has_single_launches) one.tasks[t].single_placement = first;
      if (task.dimensions == 0) continue;
      one.tasks[t].placement = first;
      node.tasks[t].placement = drafts_.placements_.on_first_node(task.dimensions);
    }
    add(DraftChange::Aspect::kTogether, std::move(one),
        "everything on the first processor of its kind", copy_share());
    if (drafts_.machine_.node_count() > 1) {
      add(DraftChange::Aspect::kTogether, std::move(node), "all launches on the first node",
          copy_share());
    }
  }

  // Returns the name of the only task, or the number of the tasks.
  std::string names(const std::vector<std::size_t>& tasks) const {
    return tasks.size() == 1 ? drafts_.tasks_[tasks.front()].name
                             : fmt::format("{} tasks", tasks.size());
  }

  // Adds changes of the instance limit and of stealing. The profile does not tell what they bring;
  // those of tasks that run long come first, the lowest limits first.
  void change_schedule(std::size_t t) {
    const Task& task = drafts_.tasks_[t];
    for (const int limit : kLimits) {
      if (limit == from_.tasks[t].instance_limit) continue;
      MappingDraft draft = from_;
      draft.tasks[t].instance_limit = limit;
      add(DraftChange::Aspect::kSchedule, std::move(draft),
          fmt::format("{} limited to {}", task.name, limit), run_share(t) / 8 / (limit + 1));
    }
    for (const std::optional<StealScope>& steal : kSteals) {
      if (steal == from_.tasks[t].steal_scope) continue;
      MappingDraft draft = from_;
      draft.tasks[t].steal_scope = steal;
      add(DraftChange::Aspect::kSchedule, std::move(draft),
          fmt::format("{} stolen {}", task.name,
                      steal ? std::string(syntax::spelling_of(*steal)) : otherwise()),
          0);
    }
  }

  // Adds changes that give the same mapping function to similar tasks: all tasks with the same
  // number of dimensions on the same kind of processor, and those of them that also have the same
  // extents.
  void change_all_places() {
    std::map<std::tuple<ProcKind, int, std::vector<std::int64_t>>, std::vector<std::size_t>> alike;
    for (std::size_t t = 0; t < drafts_.tasks_.size(); ++t) {
      const Task& task = drafts_.tasks_[t];
      if (task.dimensions == 0) continue;
      alike[{drafts_.processor_kind_of(from_, t), task.dimensions, task.extents}].push_back(t);
      alike[{drafts_.processor_kind_of(from_, t), task.dimensions, {}}].push_back(t);
    }
    std::vector<std::size_t> single;
    for (std::size_t t = 0; t < drafts_.tasks_.size(); ++t) {
      if (drafts_.tasks_[t].has_single_launches) single.push_back(t);
    }
    if (single.size() > 1) {
      for (const PlacementFunction& function : drafts_.placements_.single_functions()) {
        place_single(single, function, copy_share() / 2);
      }
    }
    // The grouping by extents and the grouping without extents may give the same tasks, which are
    // then handled once.
    std::set<std::vector<std::size_t>> done;
    for (const auto& [key, tasks] : alike) {
      if (tasks.size() < 2 || !done.insert(tasks).second) continue;
      double share = copy_share() / 2;
      for (const std::size_t t : tasks) share = std::max(share, task_share(t));
      place(tasks, nullptr, share);
      for (const PlacementFunction& function : drafts_.placements_.functions_for(
               drafts_.tasks_[tasks.front()].extents, std::get<0>(key))) {
        place(tasks, function, share);
      }
    }
  }

  // Adds a change that gives these tasks the mapping function. If `function` is null, the base
  // mapping decides the placement of these tasks again.
  void place(const std::vector<std::size_t>& tasks, const PlacementFunction& function,
             double share) {
    MappingDraft draft = from_;
    bool changed = false;
    for (const std::size_t t : tasks) {
      const PlacementFunction& now = from_.tasks[t].placement;
      changed = changed || (now == nullptr) != (function == nullptr) ||
                (now != nullptr && now->name != function->name);
      draft.tasks[t].placement = function;
    }
    if (!changed) return;
    add(tasks.size() == 1 ? DraftChange::Aspect::kPlace : DraftChange::Aspect::kPlaceAlike,
        std::move(draft),
        fmt::format("{} placed {}", names(tasks), function ? "by " + function->name : otherwise()),
        share);
  }

  // Adds changes of the memory and the layout of each argument, of the early collection of
  // arguments that are only read, and of all arguments together.
  void change_data(std::size_t t) {
    const Task& task = drafts_.tasks_[t];
    const ProcKind kind = drafts_.processor_kind_of(from_, t);
    const double share = task_share(t);
    for (std::size_t a = 0; a < task.arguments.size(); ++a) {
      const std::string what = task.arguments[a].description_in(task.name);
      const double weight = region_share(task.arguments[a].region_name()) + share / 4;
      for (const auto& memory : memories(kind)) {
        MappingDraft draft = from_;
        draft.tasks[t].arguments[a].memories = memory;
        add(DraftChange::Aspect::kMemory, std::move(draft), fmt::format("{} {}", what, in(memory)),
            weight);
      }
      lay_out({{t, a}}, what, weight / 2);
      if (!task.arguments[a].read_only) continue;
      MappingDraft draft = from_;
      bool& collect = draft.tasks[t].arguments[a].collects_early;
      collect = !collect;
      add(DraftChange::Aspect::kMemory, std::move(draft),
          fmt::format("{} {} it was read", what, collect ? "let go when" : "kept after"), 0);
    }
    if (task.arguments.size() < 2) return;
    std::vector<std::pair<std::size_t, std::size_t>> all;
    for (std::size_t a = 0; a < task.arguments.size(); ++a) all.emplace_back(t, a);
    keep(all, kind, fmt::format("all data of {}", task.name), share / 2);
    lay_out(all, fmt::format("all data of {}", task.name), share / 2);
  }

  // Adds changes of all arguments with one name together, separately for each kind of processor.
  void change_region(const std::string& region) {
    for (const ProcKind kind : kPreferredKinds) {
      std::vector<std::pair<std::size_t, std::size_t>> all;
      for (std::size_t t = 0; t < drafts_.tasks_.size(); ++t) {
        if (drafts_.processor_kind_of(from_, t) != kind) continue;
        for (std::size_t a = 0; a < drafts_.tasks_[t].arguments.size(); ++a) {
          if (drafts_.tasks_[t].arguments[a].region_name() == region) all.emplace_back(t, a);
        }
      }
      // If only one argument has the name, change_data() has added the changes already.
      if (all.size() < 2) continue;
      const std::string what = fmt::format("{} for {}", region, name_of(kind));
      keep(all, kind, what, region_share(region));
      lay_out(all, what, region_share(region) / 2);
    }
  }

  // Returns the words for a decision that the draft leaves open: "by default" or "as before".
  std::string otherwise() const { return from_.base->text.empty() ? "by default" : "as before"; }
  std::string in(const std::vector<MemKind>& memories) const {
    return memories.empty() ? "kept " + otherwise()
                            : fmt::format("in {}", name_of(memories.front()));
  }
  // Returns the lists of memories that are tried: none (no Region statement), then each memory
  // alone.
  std::vector<std::vector<MemKind>> memories(ProcKind kind) const {
    std::vector<std::vector<MemKind>> all = {{}};
    for (const MemKind memory : drafts_.addressable_memories(kind)) all.push_back({memory});
    return all;
  }

  using Arguments = std::vector<std::pair<std::size_t, std::size_t>>;
  // Adds changes of the memory of all these arguments together.
  void keep(const Arguments& arguments, ProcKind kind, const std::string& what, double weight) {
    for (const auto& memory : memories(kind)) {
      MappingDraft draft = from_;
      for (const auto& [t, a] : arguments) draft.tasks[t].arguments[a].memories = memory;
      add(DraftChange::Aspect::kMemory, std::move(draft), fmt::format("{} {}", what, in(memory)),
          weight);
    }
  }
  // Adds changes of the layout of all these arguments together.
  void lay_out(const Arguments& arguments, const std::string& what, double weight) {
    for (const edit::LayoutWords& layout : layouts()) {
      MappingDraft draft = from_;
      for (const auto& [t, a] : arguments) draft.tasks[t].arguments[a].layout = layout;
      add(DraftChange::Aspect::kLayout, std::move(draft),
          fmt::format("{} laid out {}", what, layout.empty() ? otherwise() : edit::text_of(layout)),
          weight);
    }
  }

  const DraftMaker& drafts_;
  const MappingDraft& from_;
  const ProfileFacts* facts_;
  std::vector<DraftChange> moves_;
};

std::vector<DraftChange> DraftMaker::single_changes(const MappingDraft& draft,
                                                    const ProfileFacts* facts) const {
  return ChangeCollector(*this, draft, facts).moves();
}

// With probability one half changes the mapping function of a task that has an index launch, in
// half of these cases for all tasks with equal extents. Otherwise returns one of the single
// changes.
DraftChange DraftMaker::random_change(const MappingDraft& draft, std::uint64_t random) const {
  std::vector<std::size_t> placed;
  for (std::size_t t = 0; t < tasks_.size(); ++t) {
    if (tasks_[t].dimensions > 0) placed.push_back(t);
  }
  const auto draw = [&](std::uint64_t place, std::size_t count) {
    return random_below(random_at(random, place), count);
  };
  if (!placed.empty() && draw(0, 2) == 0) {
    const std::size_t task = placed[draw(1, placed.size())];
    const PlacementFunction function = placements_.random_function(
        tasks_[task].extents, processor_kind_of(draft, task), random_at(random, 2));
    const bool alike = draw(3, 2) == 0;
    if (function != nullptr) {
      DraftChange move{draft, DraftChange::Aspect::kPlace,
                       fmt::format("{} placed by {}", tasks_[task].name, function->name)};
      for (const std::size_t t : placed) {
        const bool same = tasks_[t].extents == tasks_[task].extents &&
                          processor_kind_of(draft, t) == processor_kind_of(draft, task);
        if (t == task || (alike && same)) move.draft.tasks[t].placement = function;
      }
      return move;
    }
  }
  std::vector<DraftChange> all = single_changes(draft, nullptr);
  return all.empty() ? DraftChange{draft, DraftChange::Aspect::kKind, "nothing"}
                     : std::move(all[draw(4, all.size())]);
}

// Finds the argument that did not fit, and changes all arguments with the same name in tasks on the
// same kind of processor.
std::optional<DraftChange> DraftMaker::change_for_memory_shortage(
    const MappingDraft& draft, const MemoryShortage& shortage) const {
  const auto about = std::find_if(tasks_.begin(), tasks_.end(),
                                  [&](const Task& task) { return task.name == shortage.task; });
  if (about == tasks_.end()) return std::nullopt;
  const auto argument =
      std::find_if(about->arguments.begin(), about->arguments.end(), [&](const Argument& each) {
        return static_cast<std::int64_t>(each.position) == shortage.requirement;
      });
  if (argument == about->arguments.end()) return std::nullopt;
  const ProcKind kind = processor_kind_of(draft, static_cast<std::size_t>(about - tasks_.begin()));
  DraftChange move{draft, DraftChange::Aspect::kMemory, {}, 1};
  for (std::size_t t = 0; t < tasks_.size(); ++t) {
    for (std::size_t a = 0; a < tasks_[t].arguments.size(); ++a) {
      const bool same = &tasks_[t].arguments[a] == &*argument ||
                        (!argument->names.empty() &&
                         tasks_[t].arguments[a].region_name() == argument->region_name());
      if (!same || processor_kind_of(draft, t) != kind) continue;
      std::vector<MemKind> all = memories_by_preference(draft, t, a);
      if (all.size() > 1) move.draft.tasks[t].arguments[a].memories = std::move(all);
    }
  }
  if (move.draft == draft) return std::nullopt;
  move.description = fmt::format(
      "{} for {} where there is room",
      argument->names.empty() ? argument->description_in(about->name) : argument->region_name(),
      name_of(kind));
  return move;
}

}  // namespace groma::tuning
