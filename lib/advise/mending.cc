// repairing_changes(): proposes changes of a mapping that the runtime refused to run, so that it
// may become possible.
#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "advise/changes.h"
#include "guide/advice.h"
#include "syntax/lexer.h"

namespace groma::inspect {
namespace {

// Limit on the regions for which changes are proposed when a memory is full.
constexpr std::size_t kLargeRegions = 2;
// Limit on the tasks that a proposed statement names one by one.
constexpr std::size_t kMaxNamedTasks = 16;
// The instance limits that are proposed when a memory is full.
constexpr std::int64_t kProposedLimits[] = {4, 1};

// A region, and the tasks that use it.
struct RegionUsers {
  std::uint32_t region = 0;
  // The bytes of the whole region, in the fields that the tasks use.
  double bytes = 0;
  // The tasks, as indices into app::Data::tasks, in ascending order.
  std::vector<std::uint32_t> tasks;
  // True if a mapping can refer to the region by its name in each of the tasks.
  bool has_name = false;
};

// Returns the regions that tasks of this processor kind use, or tasks of all kinds if it is
// nullopt, the largest region first. A region of which nothing is known is left out.
std::vector<RegionUsers> regions_used_on(const ChangeInput& subject, std::optional<ProcKind> kind) {
  struct Uses {
    std::set<std::uint32_t> tasks, fields;
    bool has_name = true;
  };
  std::map<std::uint32_t, Uses> found;
  for (std::uint32_t t = 0; t < subject.app.tasks.size(); ++t) {
    const app::Task& task = subject.app.tasks[t];
    if (kind && chosen_processor_kind(subject, task) != kind) continue;
    for (const app::DistinctLaunch& launch : subject.uses[t].launches) {
      for (std::size_t r = 0; r < task.requirements.size(); ++r) {
        const app::RequirementData& data = app::data_of_requirement(task, launch.launch, r);
        if (data.kind == app::RequirementData::Kind::kUnknown || data.fields.empty()) continue;
        Uses& uses = found[data.region];
        uses.tasks.insert(t);
        uses.fields.insert(data.fields.begin(), data.fields.end());
        uses.has_name = uses.has_name && task.requirements[r].names.empty();
      }
    }
  }
  std::vector<RegionUsers> regions;
  for (const auto& [number, uses] : found) {
    const app::Region& region = subject.app.regions[number];
    double bytes = 0;
    for (const std::uint32_t field : uses.fields) {
      bytes += static_cast<double>(region.box.volume()) *
               static_cast<double>(region.fields[field].bytes);
    }
    regions.push_back({number,
                       bytes,
                       {uses.tasks.begin(), uses.tasks.end()},
                       uses.has_name && !region.names.empty()});
  }
  std::stable_sort(regions.begin(), regions.end(),
                   [](const auto& a, const auto& b) { return a.bytes > b.bytes; });
  return regions;
}

// Proposes changes of a mapping because of one reason for which the runtime refused to run it.
class RefusalFixes {
 public:
  RefusalFixes(const ChangeInput& subject, const Refusal& refusal)
      : subject_(subject), refusal_(refusal), editor_(subject.program) {}

  // Returns the proposed changes. The id of the refusal's diagnostic decides which ones are
  // proposed. The last change removes the statement that caused the refusal.
  std::vector<ProposedChange> changes() {
    switch (refusal_.diagnostic.id) {
      case DiagId::kNoVariant:
        kinds(argument(0));
        break;
      case DiagId::kProcessorKindMismatch:
        kinds(argument(2));
        placement(argument(2));
        break;
      case DiagId::kNoMemory:
      case DiagId::kBadVirtual:
        memories();
        break;
      case DiagId::kOutOfMemory:
        collect();
        limits();
        memories();
        memories_of_large_regions();
        memories_of_all_regions();
        kinds_of_large_regions();
        kinds(argument(1));
        placement(argument(1));
        break;
      case DiagId::kLayoutRefused:
        layout();
        break;
      case DiagId::kCannotRun:
        editor_.add_removal(MappingStatement::kInstanceLimit);
        editor_.add_removal(MappingStatement::kTaskSteal);
        break;
      case DiagId::kSliceIndexOutOfBound:
        wrap();
        placement("");
        break;
      case DiagId::kInterferingPoints:
      case DiagId::kAliasedRequirements:
        // The application is wrong, not the mapping, so no change of the mapping helps.
        return {};
      default:
        if (refusal_.diagnostic.range || refusal_.diagnostic.id == DiagId::kBadShard) placement("");
    }
    if (refusal_.origin) editor_.add_removal(refusal_.origin);
    return editor_.take_changes();
  }

 private:
  // Returns argument number `i` of the refusal's diagnostic if it is a text, such as the name of a
  // task. Otherwise returns "".
  std::string argument(std::size_t i) const {
    const std::vector<DiagArg>& args = refusal_.diagnostic.args;
    const auto* text = i < args.size() ? std::get_if<std::string>(&args[i]) : nullptr;
    return text == nullptr ? "" : *text;
  }
  // Returns the position of the region requirement that the refusal's diagnostic is about, or
  // nullopt if the diagnostic has none.
  std::optional<std::uint32_t> position() const {
    const std::vector<DiagArg>& args = refusal_.diagnostic.args;
    if (args.empty()) return std::nullopt;
    if (const auto* region = std::get_if<RegionArg>(&args.front())) {
      return static_cast<std::uint32_t>(region->position);
    }
    const auto* number = std::get_if<std::int64_t>(&args.front());
    return number == nullptr ? std::nullopt : std::optional(static_cast<std::uint32_t>(*number));
  }
  // The region requirement that a refusal is about, with its task and processor kind.
  struct RefusedRequirement {
    const app::Task& task;
    // The name of the task, as mapping statements write it.
    std::string name;
    std::uint32_t position;
    ProcKind kind;
  };
  // Returns the region requirement that the refusal is about. Returns nullopt if the refusal does
  // not name a known task and a position.
  std::optional<RefusedRequirement> wanted() const {
    const app::Task* of = task(argument(1));
    const auto number = position();
    const auto written = syntax::name_as_written(argument(1));
    if (of == nullptr || !number || !written) return std::nullopt;
    const auto kind = chosen_processor_kind(subject_, *of);
    if (!kind) return std::nullopt;
    return RefusedRequirement{*of, *written, *number, *kind};
  }
  const app::Task* task(const std::string& name) const {
    const int number = subject_.app.find_task(name);
    return number < 0 ? nullptr : &subject_.app.tasks[static_cast<std::size_t>(number)];
  }

  // Proposes to add the missing processor kinds to the Task statement of a task. Also proposes
  // statements for this task alone: with all kinds on which it can run, and with each single kind.
  void kinds(const std::string& name) {
    const app::Task* of = task(name);
    if (of == nullptr) return;
    const auto decision = subject_.program.task(name);
    if (decision && decision->origin) {
      edit::StatementParts statement = editor_.statement(decision->origin);
      for (ProcKind kind : {ProcKind::kGpu, ProcKind::kOmp, ProcKind::kCpu}) {
        const bool named = std::find(decision->kinds.begin(), decision->kinds.end(), kind) !=
                           decision->kinds.end();
        if (!named && subject_.machine.has(kind)) statement.processors.push_back(kind);
      }
      editor_.add_changes({{decision->origin.statement - 1, std::move(statement)}});
    }
    const auto written = syntax::name_as_written(name);
    if (!written) return;
    const std::vector<ProcKind> can = possible_processor_kinds(subject_, *of);
    if (!can.empty()) editor_.add_statement_change({.tasks = {*written}, .processors = can});
    for (ProcKind kind : can)
      editor_.add_statement_change({.tasks = {*written}, .processors = {kind}});
  }

  // Proposes lists of memory kinds for the refused region requirement, each with another kind
  // first. The lists are proposed for the blamed Region statement, if it is about this processor
  // kind, and for a statement about this requirement alone.
  void memories() {
    const auto about = wanted();
    if (!about) return;
    const std::vector<MemKind> all = addressable_memory_kinds(subject_.machine, about->kind);
    std::vector<edit::StatementParts> places;
    if (refusal_.origin) {
      const edit::StatementParts* blamed = editor_.find_statement(refusal_.origin);
      const bool is_region = blamed != nullptr && blamed->kind == MappingStatement::kRegion;
      if (is_region && blamed->place == edit::Place(about->kind)) places.push_back(*blamed);
    }
    places.push_back({.kind = MappingStatement::kRegion,
                      .tasks = {about->name},
                      .regions = {std::to_string(about->position)},
                      .place = about->kind});
    for (edit::StatementParts& statement : places) {
      for (MemKind first : all) {
        if (first == MemKind::kRdmem) continue;
        statement.memories = {first};
        for (MemKind other : all) {
          if (other != first && other != MemKind::kRdmem) statement.memories.push_back(other);
        }
        editor_.add_statement_change(statement);
      }
    }
  }

  // Proposes CollectMemory statements, which free the instances of the task, or of all tasks, as
  // soon as they are not needed.
  void collect() {
    const auto written = syntax::name_as_written(argument(1));
    edit::StatementParts all{
        .kind = MappingStatement::kCollectMemory, .tasks = {"*"}, .regions = {"*"}};
    if (written) {
      edit::StatementParts of_task = all;
      of_task.tasks = {*written};
      editor_.add_statement_change(of_task);
    }
    editor_.add_statement_change(all);
  }

  // Returns the regions that may fill the memory which has no room: the region of the refused
  // requirement, then the largest ones. Their users are the tasks of the requirement's processor
  // kind, or of all kinds if `any_kind`.
  std::vector<RegionUsers> large_regions(bool any_kind = false) const {
    const auto about = wanted();
    if (!about) return {};
    std::vector<RegionUsers> regions =
        regions_used_on(subject_, any_kind ? std::nullopt : std::optional(about->kind));
    const int number = subject_.app.find_task(about->task.name);
    const auto refused = refused_regions(static_cast<std::uint32_t>(number), about->position);
    std::stable_partition(regions.begin(), regions.end(),
                          [&](const RegionUsers& each) { return refused.contains(each.region); });
    if (regions.size() > kLargeRegions) regions.resize(kLargeRegions);
    return regions;
  }
  // Returns the regions that launches of a task give to one of its region requirements.
  std::set<std::uint32_t> refused_regions(std::uint32_t task, std::uint32_t position) const {
    std::set<std::uint32_t> regions;
    const app::Task& of = subject_.app.tasks[task];
    if (position >= of.requirements.size()) return regions;
    for (const app::DistinctLaunch& launch : subject_.uses[task].launches) {
      const app::RequirementData& data = app::data_of_requirement(of, launch.launch, position);
      if (data.kind != app::RequirementData::Kind::kUnknown) regions.insert(data.region);
    }
    return regions;
  }
  // Returns the names of the tasks, as mapping statements write them. The list is empty if one of
  // them cannot be written, or if there are more than kMaxNamedTasks.
  std::vector<std::string> names_of(const std::vector<std::uint32_t>& tasks) const {
    std::vector<std::string> names;
    if (tasks.size() > kMaxNamedTasks) return names;
    for (const std::uint32_t task : tasks) {
      const auto written = syntax::name_as_written(subject_.app.tasks[task].name);
      if (!written) return {};
      names.push_back(*written);
    }
    return names;
  }

  // Proposes InstanceLimit statements for the tasks that use a large region, and for all tasks.
  // Fewer tasks at a time need fewer instances of their regions. Tasks of all processor kinds
  // count, because a task keeps the instance from which its own instance is copied.
  void limits() {
    std::vector<std::vector<std::string>> lists;
    for (const RegionUsers& region : large_regions(true)) lists.push_back(names_of(region.tasks));
    lists.push_back({"*"});
    for (const std::vector<std::string>& tasks : lists) {
      if (tasks.empty()) continue;
      for (const std::int64_t limit : kProposedLimits) {
        editor_.add_statement_change(
            {.kind = MappingStatement::kInstanceLimit, .tasks = tasks, .limit = limit});
      }
    }
  }

  // Proposes to put all data of the processor kind's tasks into another memory, or to use the other
  // memories where the first one has no room.
  void memories_of_all_regions() {
    if (const auto about = wanted()) add_memory_changes({"*"}, "*", about->kind);
  }
  // Proposes statements about a region, each with another memory first and then the others.
  void add_memory_changes(const std::vector<std::string>& tasks, const std::string& region,
                          ProcKind kind) {
    const std::vector<MemKind> all = addressable_memory_kinds(subject_.machine, kind);
    for (const MemKind first : all) {
      if (first == MemKind::kRdmem) continue;
      edit::StatementParts statement{.kind = MappingStatement::kRegion,
                                     .tasks = tasks,
                                     .regions = {region},
                                     .place = kind,
                                     .memories = {first}};
      for (const MemKind other : all) {
        if (other != first && other != MemKind::kRdmem) statement.memories.push_back(other);
      }
      editor_.add_statement_change(statement);
    }
  }

  // Proposes to put a large region into another memory, for all tasks of the processor kind that
  // use the region. If only one task did so, the others would still fill the memory. If the tasks
  // are too many to name, the statement is about all tasks: the region's name then selects them.
  void memories_of_large_regions() {
    const auto about = wanted();
    for (const RegionUsers& region : large_regions()) {
      const bool are_many = region.tasks.size() > kMaxNamedTasks;
      const std::vector<std::string> tasks =
          are_many ? std::vector<std::string>{"*"} : names_of(region.tasks);
      if (tasks.empty() || !region.has_name) continue;
      const auto name = syntax::name_as_written(subject_.app.regions[region.region].names.front());
      if (!name) continue;
      add_memory_changes(tasks, *name, about->kind);
    }
  }

  // Proposes to move all tasks that use a large region to another processor kind, which addresses
  // other memories. A kind is proposed only if each of these tasks can run on it.
  void kinds_of_large_regions() {
    const auto about = wanted();
    for (const RegionUsers& region : large_regions()) {
      const std::vector<std::string> tasks = names_of(region.tasks);
      if (tasks.empty()) continue;
      for (const ProcKind kind : {ProcKind::kGpu, ProcKind::kOmp, ProcKind::kCpu}) {
        const bool can =
            std::all_of(region.tasks.begin(), region.tasks.end(), [&](const std::uint32_t task) {
              const auto kinds = possible_processor_kinds(subject_, subject_.app.tasks[task]);
              return std::find(kinds.begin(), kinds.end(), kind) != kinds.end();
            });
        if (kind != about->kind && can) {
          editor_.add_statement_change({.tasks = tasks, .processors = {kind}});
        }
      }
    }
  }

  // Proposes Layout statements with the layouts that the task's variants for this processor kind
  // demand.
  void layout() {
    const auto about = wanted();
    if (!about) return;
    for (const app::Variant& variant : about->task.variants) {
      if (variant.kind != about->kind) continue;
      for (const LayoutDemand& demand : variant.demands) {
        if (demand.requirement != about->position) continue;
        // Such a demand excludes gaps between fields (variant_layouts.h). The mapping language
        // cannot express this.
        if (demand.source == DemandSource::kMapper && demand.align_op == AlignOp::kLe) continue;
        LayoutSpec layout;
        if (demand.fields) layout.fields = *demand.fields;
        if (demand.dimensions) layout.dimensions = *demand.dimensions;
        layout.exact = demand.exact;
        layout.align_op = demand.align_op;
        layout.align_bytes = demand.align_bytes;
        editor_.add_statement_change({.kind = MappingStatement::kLayout,
                                      .tasks = {about->name},
                                      .regions = {std::to_string(about->position)},
                                      .place = about->kind,
                                      .layout = edit::layout_words_of(layout)});
      }
    }
  }

  // An index of a machine view was out of bounds. Proposes to keep this index within the bounds by
  // the operator `%`.
  void wrap() {
    if (!refusal_.diagnostic.range) return;
    // The arguments of the diagnostic are the dimension of the machine view, the index that was out
    // of bounds, and the size of the view in this dimension.
    const std::vector<DiagArg>& args = refusal_.diagnostic.args;
    const auto* index = args.size() > 1 ? std::get_if<std::int64_t>(&args[1]) : nullptr;
    const auto edit = guide::edit_keeping_index_in_bounds(
        subject_.program, *refusal_.diagnostic.range, index != nullptr && *index < 0);
    if (edit) editor_.add_replacement(edit->range, edit->text);
  }

  // Proposes to remove the statements that bind the task's mapping functions, and proposes other
  // functions. If `name` is empty, does so for the first task whose function is at fault.
  void placement(const std::string& name) {
    for (std::uint32_t t = 0; t < subject_.app.tasks.size(); ++t) {
      const app::Task& of = subject_.app.tasks[t];
      const auto kind = chosen_processor_kind(subject_, of);
      if (!kind || (!name.empty() && of.name != name)) continue;
      if (name.empty() && !at_fault(of.name, *kind)) continue;
      forget(of.name, *kind);
      add_function_changes(subject_, t, *kind, editor_);
      if (name.empty()) break;
    }
  }

  // Proposes to remove the IndexTaskMap and SingleTaskMap statements of the task, so that the
  // default mapper chooses its processors.
  void forget(const std::string& name, ProcKind kind) {
    for (const auto& decision : {subject_.program.index_function(name, kind),
                                 subject_.program.single_function(name, kind)}) {
      if (decision) editor_.add_removal(decision->origin);
    }
  }

  // Returns true if the refusal names one of the task's mapping functions or the statement that
  // binds it, or if the refusal names no function at all, so that any function may be at fault.
  bool at_fault(const std::string& name, ProcKind kind) const {
    std::vector<std::string_view> running;
    for (const DiagNote& note : refusal_.diagnostic.notes) {
      running.insert(running.end(), note.running.begin(), note.running.end());
    }
    for (const auto& decision : {subject_.program.index_function(name, kind),
                                 subject_.program.single_function(name, kind)}) {
      if (!decision) continue;
      if (running.empty() || decision->origin == refusal_.origin) return true;
      const std::string_view function = subject_.program.function_name(decision->function);
      if (std::find(running.begin(), running.end(), function) != running.end()) return true;
    }
    return false;
  }

  const ChangeInput& subject_;
  const Refusal& refusal_;
  ProgramEditor editor_;
};

}  // namespace

std::vector<ProposedChange> repairing_changes(const ChangeInput& subject, const Refusal& refusal) {
  return RefusalFixes(subject, refusal).changes();
}

}  // namespace groma::inspect
