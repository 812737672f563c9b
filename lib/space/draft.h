// MappingDraft: a mapping as a list of decisions that can be changed one by one. The proposer
// `guided` searches for the best draft. Drafts can use the whole language: their mapping functions
// are built from machine operations and not taken from a list.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "edit/mapping.h"
#include "groma/geometry.h"
#include "groma/guide.h"
#include "groma/kinds.h"
#include "groma/machine.h"
#include "groma/program.h"
#include "groma/workload.h"
#include "space/placements.h"

namespace groma::tuning {

// The mapping that a draft changes. The draft's decisions are written in front of the statements of
// this mapping.
struct BaseMapping {
  std::string text;
  // The processor kind on which this mapping runs each task.
  std::vector<ProcKind> kinds;
  // The names of the functions and global variables of this mapping.
  edit::Keys functions = {};
  // The selectors (`main > step`) in the statements of a kind that may stand for a task, by the
  // kind and the task as statements write it.
  std::map<std::pair<MappingStatement, std::string>, std::set<std::string>> selectors = {};
  // The mapping bound to the machine, and as text that can be edited.
  Program program;
  edit::EditableMapping editable;
};

// A base mapping and the decisions that take precedence over its statements. A draft without any
// decision is the base mapping itself.
struct MappingDraft {
  // The decisions about one argument of a task.
  struct ArgumentDecisions {
    // The kinds of memory for the argument, in the order of preference. Empty if the draft does not
    // decide them.
    std::vector<MemKind> memories;
    // The words of the Layout statement. Empty if the draft does not decide the layout.
    edit::LayoutWords layout;
    bool collects_early = false;
    friend bool operator==(const ArgumentDecisions&, const ArgumentDecisions&) = default;
  };
  // The decisions about one task. They apply to the processor kind on which the task runs.
  struct TaskDecisions {
    std::optional<ProcKind> kind;
    // The mapping function for the task's index launches. Null if the draft does not decide it.
    PlacementFunction placement;
    // The mapping function for the task's single launches. Null if the draft does not decide it.
    PlacementFunction single_placement;
    int instance_limit = 0;
    // The processors that may steal the task. nullopt if the draft does not decide that.
    std::optional<StealScope> steal_scope;
    std::vector<ArgumentDecisions> arguments;
    friend bool operator==(const TaskDecisions&, const TaskDecisions&) = default;
  };
  // The decisions about all tasks. Copies of the list share the decisions about a task until one of
  // the copies changes them: a search makes hundreds of drafts that differ in one task.
  class TaskList {
   public:
    std::size_t size() const { return tasks_.size(); }
    const TaskDecisions& operator[](std::size_t task) const { return *tasks_[task]; }
    TaskDecisions& operator[](std::size_t task) {
      std::shared_ptr<TaskDecisions>& of = tasks_[task];
      if (of.use_count() > 1) of = std::make_shared<TaskDecisions>(*of);
      return *of;
    }
    TaskDecisions& emplace_back() {
      return *tasks_.emplace_back(std::make_shared<TaskDecisions>());
    }
    friend bool operator==(const TaskList& a, const TaskList& b) {
      return std::equal(
          a.tasks_.begin(), a.tasks_.end(), b.tasks_.begin(), b.tasks_.end(),
          [](const auto& one, const auto& other) { return one == other || *one == *other; });
    }

   private:
    std::vector<std::shared_ptr<TaskDecisions>> tasks_;
  };
  // The mapping that the draft changes; never null.
  std::shared_ptr<const BaseMapping> base;
  TaskList tasks;
  bool replicates_top_level = false;
  friend bool operator==(const MappingDraft&, const MappingDraft&) = default;
};

// A change of a draft: the new draft, which differs in one decision, and its description for
// people.
struct DraftChange {
  enum class Aspect : std::uint8_t {
    kKind,
    kPlace,
    kPlaceAlike,
    // A change of where single tasks run.
    kSinglePlace,
    // A change that runs all tasks on the first processor, or on the first node.
    kTogether,
    kMemory,
    kLayout,
    // A change of the task's instance limit, or of which processors may steal the task.
    kSchedule,
    kReplicate
  };
  static constexpr std::size_t kAspectCount = 9;
  MappingDraft draft;
  Aspect aspect = Aspect::kKind;
  std::string description;
  // The share of the run time that the change affects, from 0 to 1.
  double weight = 0;
};

// Names one decision of a draft.
struct DraftDecision {
  enum class What : std::uint8_t {
    kKind,
    kPlacement,
    kSinglePlacement,
    kInstanceLimit,
    kSteal,
    kMemories,
    kLayout,
    kCollect,
    kReplicate
  } what = What::kKind;
  // The positions of the task in MappingDraft::tasks and of the argument in
  // TaskDecisions::arguments, where the decision is about one.
  std::size_t task = 0, argument = 0;
};
// Returns the decisions that a draft makes.
std::vector<DraftDecision> decisions_of(const MappingDraft& draft);
// Removes a decision from a draft, so that its base mapping decides again.
void remove_decision(MappingDraft& draft, const DraftDecision& decision);

// Makes drafts for one workload on one machine. The results depend only on the arguments. Only one
// thread at a time may use the object.
class DraftMaker {
 public:
  DraftMaker(const Machine& machine, const Workload& workload);

  // Returns a draft without decisions, whose base is the mapping `text`; "" is the default mapper.
  MappingDraft draft_without_decisions(const std::string& text = "") const;
  // Returns the draft as the text of a mapping.
  std::string text_of(const MappingDraft& draft) const;

  // Returns the single changes of a draft that are worth a trial: of one task, of all data with one
  // name, or of all similar tasks. The profile `facts` decides their weights, the share of the time
  // that each change affects; it may be null.
  std::vector<DraftChange> single_changes(const MappingDraft& draft,
                                          const ProfileFacts* facts) const;
  // Returns a random change. It may use a mapping function that single_changes() leaves out because
  // there are too many. `random` is any number, which decides the change.
  DraftChange random_change(const MappingDraft& draft, std::uint64_t random) const;
  // Returns a change that adds memories for the data that did not fit. Every task on the same kind
  // of processor that uses this data may then place it in any memory that the kind can address. The
  // memories that were already chosen come first, then the fastest ones. Returns nullopt if nothing
  // changes.
  std::optional<DraftChange> change_for_memory_shortage(const MappingDraft& draft,
                                                        const MemoryShortage& shortage) const;

 private:
  struct Argument {
    std::size_t position = 0;
    std::vector<std::string> names;
    bool read_only = false;
    std::string region_name() const { return names.empty() ? "" : names.front(); }
    // Returns the argument in words: "tiles of step" or "region 1 of step".
    std::string description_in(const std::string& task) const;
  };
  struct Task {
    std::string name, statement_name;
    // The processor kinds for which the task has a variant, the default mapper's choice first.
    std::vector<ProcKind> kinds;
    // The extents of the task's index launch with the fewest dimensions; empty if it has no index
    // launch with points.
    std::vector<std::int64_t> extents;
    // The smallest number of dimensions among the task's index launches; 0 if there is none.
    int dimensions = 0;
    bool has_single_launches = false;
    std::vector<Argument> arguments;
  };
  class ChangeCollector;
  // The processor kinds in the order in which the default mapper prefers them.
  static constexpr std::array kPreferredKinds = {ProcKind::kGpu, ProcKind::kOmp, ProcKind::kCpu};

  ProcKind processor_kind_of(const MappingDraft& draft, std::size_t task) const;
  void set_processor_kind(MappingDraft& draft, std::size_t task, ProcKind kind) const;
  std::vector<MemKind> addressable_memories(ProcKind kind) const;
  // Returns the memory kinds for an argument in the order of preference. Those that the draft
  // decides come first.
  std::vector<MemKind> memories_by_preference(const MappingDraft& draft, std::size_t task,
                                              std::size_t argument) const;
  // Appends `_` to a name until no function or global variable of the base mapping has that name.
  static std::string unused_name(const BaseMapping& base, std::string name);

  const Machine& machine_;
  std::vector<Task> tasks_;
  // The names of the data that tasks take as arguments, each name once.
  std::vector<std::string> regions_;
  // The top-level task as a mapping writes its name; empty if there is none.
  std::string top_level_;
  PlacementFunctionCache placements_;
};

}  // namespace groma::tuning
