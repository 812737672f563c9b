// faster_changes(): proposes changes for the tasks and regions that take the most time.
#include "advise/changes.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include "evaluate/processors.h"
#include "explain/words.h"
#include "program/data.h"
#include "syntax/lexer.h"

namespace groma::inspect {
namespace {

// Limit on the tasks for which changes are proposed. The tasks with the most time come first.
constexpr std::size_t kTasks = 4;
// Limit on the regions for which changes are proposed. The regions with the most copy time come
// first.
constexpr std::size_t kRegions = 3;
// No change is proposed for a task or region with a smaller share of the measured time.
constexpr double kWorthTrying = 0.02;

}  // namespace

// ----------------------------------------------------------------------------- kinds and memories

// A processor kind is listed if the machine has it and the task has a variant for it.
std::vector<ProcKind> possible_processor_kinds(const ChangeInput& subject, const app::Task& task) {
  std::vector<ProcKind> kinds;
  for (ProcKind kind :
       {ProcKind::kGpu, ProcKind::kOmp, ProcKind::kCpu, ProcKind::kIo, ProcKind::kPy}) {
    if (!subject.machine.has(kind)) continue;
    const bool runs =
        std::any_of(task.variants.begin(), task.variants.end(),
                    [&](const app::Variant& variant) { return variant.kind == kind; });
    if (runs) kinds.push_back(kind);
  }
  return kinds;
}

// Returns the processor kind on which the task runs under the mapping. Without a Task statement,
// the default mapper's order of preference decides.
std::optional<ProcKind> chosen_processor_kind(const ChangeInput& subject, const app::Task& task) {
  const std::vector<ProcKind> kinds = possible_processor_kinds(subject, task);
  const auto decision = subject.program.task(task.name);
  if (!decision) return kinds.empty() ? std::nullopt : std::optional(kinds.front());
  for (ProcKind kind : decision->kinds) {
    if (std::find(kinds.begin(), kinds.end(), kind) != kinds.end()) return kind;
  }
  return std::nullopt;
}

// The processors of node 0 stand for those of all nodes. This is precise enough, because each
// change is simulated later.
std::vector<MemKind> addressable_memory_kinds(const Machine& machine, ProcKind kind) {
  std::vector<MemKind> memories;
  for (MemKind memory :
       {MemKind::kFbmem, MemKind::kSockmem, MemKind::kSysmem, MemKind::kZcmem, MemKind::kRdmem}) {
    if (machine.can_address(0, kind, memory)) memories.push_back(memory);
  }
  return memories;
}

// Proposes the common mapping functions for the task's launches. If the launch domains differ in
// their number of dimensions, the functions suit the smallest number.
void add_function_changes(const ChangeInput& subject, std::uint32_t task, ProcKind kind,
                          ProgramEditor& editor) {
  const app::Task& of = subject.app.tasks[task];
  const auto name = syntax::name_as_written(of.name);
  if (!name) return;
  const TaskLaunches& uses = subject.uses[task];
  const int dimensions = uses.least_dimensions();
  const bool single =
      std::any_of(uses.launches.begin(), uses.launches.end(),
                  [](const app::DistinctLaunch& use) { return !use.domain && use.depth > 0; });
  const auto set = [&](MappingStatement statement, std::string_view name_of_function) {
    const edit::MappingFunction function = edit::named_function(name_of_function);
    editor.add_statement_change({.kind = statement, .tasks = {*name}}, &function, kind);
  };
  if (single) set(MappingStatement::kSingleTaskMap, edit::kSamePoint);
  if (dimensions == 0) return;
  for (const std::string& function : edit::common_index_functions(dimensions, uses.has_holes())) {
    set(MappingStatement::kIndexTaskMap, function);
  }
}

// ------------------------------------------------------------------------------------------ faster

namespace {

// The time of each task and region on the run's critical path, within the measured phase. If the
// path has no time in this phase, the times of the whole run are used.
class CriticalPathTimes {
 public:
  // Adds up the times on the critical path within all occurrences of the phase `measured`.
  CriticalPathTimes(const Profile& profile, const std::string& measured) {
    const RunRecord& record = *profile.record;
    for (const RunRecord::Phase& phase : record.phases) {
      if (record.has_name(phase, measured)) add(profile, phase.begin, phase.end);
    }
    if (total_ == 0) add(profile, 0, profile.total);
  }

  template <typename Key>
  using Ranked = std::vector<std::pair<Key, RunTime>>;
  Ranked<std::int32_t> tasks() const { return ranked(tasks_, kTasks); }
  Ranked<std::int32_t> regions() const { return ranked(regions_, kRegions); }
  RunTime runtime() const { return runtime_; }

 private:
  // Adds the time of the critical path between `begin` and `end` to the tasks and regions to which
  // the segments of the path belong.
  void add(const Profile& profile, RunTime begin, RunTime end) {
    const RunRecord& record = *profile.record;
    auto segment = std::partition_point(profile.path.begin(), profile.path.end(),
                                        [&](const auto& each) { return each.end <= begin; });
    for (; segment != profile.path.end() && segment->begin < end; ++segment) {
      const RunTime time = std::min(segment->end, end) - std::max(segment->begin, begin);
      total_ += time;
      if (segment->doing == Profile::Doing::kRuntime) runtime_ += time;
      if (segment->event < 0) continue;
      const auto& event = record.events[static_cast<std::size_t>(segment->event)];
      tasks_[event.name] += time;
      const bool moves =
          segment->doing == Profile::Doing::kCopy || segment->doing == Profile::Doing::kReduction;
      if (moves) regions_[event.region] += time;
    }
  }

  // Sorts tasks or regions by their times, the longest first. Returns at most `most` of them,
  // without those whose share of the time is below kWorthTrying.
  Ranked<std::int32_t> ranked(const std::map<std::int32_t, RunTime>& times,
                              std::size_t most) const {
    Ranked<std::int32_t> all;
    for (const auto& [key, time] : times) {
      if (key >= 0 && static_cast<double>(time) >= kWorthTrying * static_cast<double>(total_)) {
        all.emplace_back(key, time);
      }
    }
    std::stable_sort(all.begin(), all.end(),
                     [](const auto& a, const auto& b) { return a.second > b.second; });
    all.resize(std::min(all.size(), most));
    return all;
  }

  RunTime total_ = 0, runtime_ = 0;
  // The time of each task, including the copies that the task needed, and the time of the copies of
  // each region.
  std::map<std::int32_t, RunTime> tasks_, regions_;
};

// Proposes changes of the mapping that may make a run faster.
class FasterMappings {
 public:
  FasterMappings(const ChangeInput& subject, const Profile& profile, const std::string& measured)
      : subject_(subject),
        record_(*profile.record),
        weights_(profile, measured),
        editor_(subject.program) {}

  // Returns the proposed changes. Changes of many statements come first. Changes for single tasks
  // and regions and for control replication follow in the order of the time that they concern. Then
  // come removals of InstanceLimit, CollectMemory and TaskSteal statements, and last other layouts.
  std::vector<ProposedChange> changes() {
    const auto tasks = weights_.tasks();
    let_all_run_elsewhere();
    forget_shared_placements();
    leave_out_selectors();
    std::vector<std::pair<RunTime, std::function<void()>>> by_time;
    for (const auto& [name, time] : tasks) {
      by_time.emplace_back(time, [this, name = name] { map_otherwise(name); });
    }
    for (const auto& [region, time] : weights_.regions()) {
      by_time.emplace_back(time, [this, region = region] { keep_elsewhere(region); });
    }
    by_time.emplace_back(weights_.runtime(), [this] { replicate(); });
    std::stable_sort(by_time.begin(), by_time.end(),
                     [](const auto& a, const auto& b) { return a.first > b.first; });
    for (const auto& [time, change] : by_time) change();
    for (MappingStatement statement :
         {MappingStatement::kInstanceLimit, MappingStatement::kCollectMemory,
          MappingStatement::kTaskSteal}) {
      editor_.add_removal(statement);
    }
    for (std::size_t i = 0; i < std::min<std::size_t>(tasks.size(), 2); ++i) {
      const int task = task_of(tasks[i].first);
      if (task >= 0) lay_out(static_cast<std::uint32_t>(task));
    }
    return editor_.take_changes();
  }

 private:
  // Returns the index in the application of a task in the record of the run, or -1 if the
  // application does not have the task.
  int task_of(std::int32_t name) const {
    return name < 0 ? -1 : subject_.app.find_task(record_.tasks[static_cast<std::size_t>(name)]);
  }

  // Proposes another memory, another mapping function and another processor kind for a task.
  void map_otherwise(std::int32_t name) {
    const int task = task_of(name);
    if (task < 0) return;
    const auto number = static_cast<std::uint32_t>(task);
    if (const auto kind = chosen_processor_kind(subject_, subject_.app.tasks[number])) {
      keep_in_fastest(number, *kind);
      add_function_changes(subject_, number, *kind, editor_);
      forget_placement(number, *kind);
    }
    let_run_elsewhere(number);
  }

  // Proposes Task statements that move a task to each other processor kind on which it can run,
  // with the present kind as the second choice.
  void let_run_elsewhere(std::uint32_t number) {
    const app::Task& task = subject_.app.tasks[number];
    const auto name = syntax::name_as_written(task.name);
    const auto now = chosen_processor_kind(subject_, task);
    if (!name || !now) return;
    for (ProcKind kind : possible_processor_kinds(subject_, task)) {
      if (kind != *now) {
        editor_.add_statement_change({.tasks = {*name}, .processors = {kind, *now}});
      }
    }
  }

  // Proposes to change the Task statements of the tasks with the most time, so that another
  // processor kind comes first. There is one change for each statement, and one for all statements
  // together.
  void let_all_run_elsewhere() {
    for (ProcKind kind : {ProcKind::kGpu, ProcKind::kOmp, ProcKind::kCpu}) {
      if (!subject_.machine.has(kind)) continue;
      edit::EditableMapping::Changes changes;
      for (const auto& [name, time] : weights_.tasks()) {
        const auto decision = subject_.program.task(record_.tasks[static_cast<std::size_t>(name)]);
        if (!decision || !decision->origin || decision->kinds.front() == kind) continue;
        edit::StatementParts statement = editor_.statement(decision->origin);
        statement.processors = {kind};
        for (ProcKind other : decision->kinds) {
          if (other != kind) statement.processors.push_back(other);
        }
        changes[decision->origin.statement - 1] = std::move(statement);
      }
      editor_.add_changes(changes);
    }
  }

  // Proposes to remove statements with selectors (`main > step`). The other changes are about the
  // names of tasks, so they do not change what selectors decide.
  void leave_out_selectors() {
    constexpr std::size_t kMost = 4;
    const program::ProgramData& data = subject_.program.data();
    std::set<std::uint32_t> done;
    for (const program::StatementRow& row : data.rows) {
      if (data.names.selector(row.key.task) == nullptr) continue;
      if (done.insert(row.statement).second) editor_.add_removal(DecisionOrigin{row.statement});
      if (done.size() == kMost) return;
    }
  }

  // Proposes to remove the IndexTaskMap and SingleTaskMap statements of a task, so that the default
  // mapper chooses its processors.
  void forget_placement(std::uint32_t number, ProcKind kind) {
    const std::string& name = subject_.app.tasks[number].name;
    for (const auto& decision : {subject_.program.index_function(name, kind),
                                 subject_.program.single_function(name, kind)}) {
      if (decision) editor_.add_removal(decision->origin);
    }
  }

  // Proposes to remove together all statements that bind a mapping function which several tasks
  // share. If only one of these tasks moved to other processors, its data would have to be copied.
  void forget_shared_placements() {
    std::set<FunctionId> done;
    for (const auto& [name, time] : weights_.tasks()) {
      const int task = task_of(name);
      if (task < 0) continue;
      const app::Task& of = subject_.app.tasks[static_cast<std::size_t>(task)];
      const auto kind = chosen_processor_kind(subject_, of);
      const auto decision = kind ? subject_.program.index_function(of.name, *kind) : std::nullopt;
      if (!decision || !done.insert(decision->function).second) continue;
      edit::EditableMapping::Changes changes;
      for (const program::StatementRow& row : subject_.program.data().rows) {
        const bool places = row.key.table == program::TableId::kIndexMap ||
                            row.key.table == program::TableId::kSingleMap;
        if (places && row.value == static_cast<std::int64_t>(decision->function)) {
          changes[row.statement - 1] = std::nullopt;
        }
      }
      if (changes.size() > 1) editor_.add_changes(changes);
    }
  }

  // Proposes to keep the task's data in the memory with the most bandwidth for its processor. There
  // is one change for each Region statement, and one for all statements together.
  void keep_in_fastest(std::uint32_t number, ProcKind kind) {
    const auto fastest = mapper::best_memory_kind(subject_.machine, 0, kind);
    if (!fastest) return;
    const app::Task& task = subject_.app.tasks[number];
    edit::EditableMapping::Changes changes;
    for (std::size_t r = 0; r < task.requirements.size(); ++r) {
      const app::Names& given = subject_.uses[number].name_lists.front()[r];
      const std::vector<std::string_view> names(given.begin(), given.end());
      const auto memories =
          subject_.program.memories(task.name, {static_cast<std::int64_t>(r), names}, kind);
      if (memories.empty() || memories.front().memory == *fastest) continue;
      const DecisionOrigin origin = memories.front().origin;
      edit::StatementParts statement = editor_.statement(origin);
      statement.memories = {*fastest};
      changes[origin.statement - 1] = std::move(statement);
    }
    editor_.add_changes(changes);
  }

  // Proposes other memory kinds for a region, and other processor kinds for the tasks that use it
  // but do not run on GPUs.
  void keep_elsewhere(std::int32_t region) {
    const std::string& name = record_.regions[static_cast<std::size_t>(region)];
    const auto written = syntax::name_as_written(name);
    if (!written) return;
    std::vector<ProcKind> kinds;
    std::size_t moved = 0;
    for (std::uint32_t t = 0; t < subject_.app.tasks.size(); ++t) {
      const app::Task& task = subject_.app.tasks[t];
      const bool uses = std::any_of(
          task.requirements.begin(), task.requirements.end(), [&](const auto& requirement) {
            const auto& names =
                requirement.names.empty() ? requirement.data.names : requirement.names;
            return std::find(names.begin(), names.end(), name) != names.end();
          });
      const auto kind = uses ? chosen_processor_kind(subject_, task) : std::nullopt;
      if (!kind) continue;
      if (std::find(kinds.begin(), kinds.end(), *kind) == kinds.end()) kinds.push_back(*kind);
      if (*kind != ProcKind::kGpu && moved++ < kTasks) let_run_elsewhere(t);
    }
    if (kinds.empty()) kinds.push_back(ProcKind::kGpu);
    for (ProcKind kind : kinds) {
      for (MemKind memory : addressable_memory_kinds(subject_.machine, kind)) {
        if (memory == MemKind::kRdmem) continue;
        editor_.add_statement_change({.kind = MappingStatement::kRegion,
                                      .tasks = {"*"},
                                      .regions = {*written},
                                      .place = kind,
                                      .memories = {memory}});
      }
    }
  }

  // Proposes control replication of the top-level task, unless the machine has only one node or the
  // mapping already replicates a task.
  void replicate() {
    const int top = subject_.app.top_level;
    if (top < 0 || subject_.machine.node_count() < 2 || subject_.program.replicates_any()) return;
    const auto name =
        syntax::name_as_written(subject_.app.tasks[static_cast<std::size_t>(top)].name);
    if (name)
      editor_.add_statement_change({.kind = MappingStatement::kControlReplicate, .tasks = {*name}});
  }

  // Proposes three common layouts, each for all regions of a task.
  void lay_out(std::uint32_t number) {
    const app::Task& task = subject_.app.tasks[number];
    const auto name = syntax::name_as_written(task.name);
    const auto kind = chosen_processor_kind(subject_, task);
    if (!name || !kind) return;
    constexpr auto kSoa = FieldOrder::kSoa, kAos = FieldOrder::kAos;
    constexpr auto kFortran = DimensionOrder::kFortran, kC = DimensionOrder::kC;
    for (const LayoutSpec& layout :
         {LayoutSpec{kFortran, kSoa}, LayoutSpec{kC, kSoa}, LayoutSpec{kC, kAos}}) {
      editor_.add_statement_change({.kind = MappingStatement::kLayout,
                                    .tasks = {*name},
                                    .regions = {"*"},
                                    .place = *kind,
                                    .layout = edit::layout_words_of(layout)});
    }
  }

  const ChangeInput& subject_;
  const RunRecord& record_;
  CriticalPathTimes weights_;
  ProgramEditor editor_;
};

}  // namespace

std::vector<ProposedChange> faster_changes(const ChangeInput& subject, const Profile& profile,
                                           const std::string& measured) {
  return FasterMappings(subject, profile, measured).changes();
}

}  // namespace groma::inspect
