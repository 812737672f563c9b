// Writes the error messages of tasks, with what a reader needs to know about memories and launches.
#include "simulate/refusals.h"

#include <fmt/format.h>

#include <string_view>
#include <utility>

#include "base/one_diagnostic.h"
#include "base/point_text.h"
#include "base/quantities.h"
#include "base/saturating.h"
#include "evaluate/processors.h"
#include "simulate/legion_words.h"

namespace groma::sim {
namespace {

// Returns " from (1, 1)" for a launch domain whose lower corner is (1, 1), and an empty text if the
// corner is at 0.
std::string corner_text(const Point& lower) {
  const bool at_zero = lower == Point::zeros(lower.dimensions());
  return at_zero ? std::string() : " from " + text_of(lower);
}

// Adds notes to an error about a full memory: what the memory of the last candidate holds. If the
// instance would need at most half of the bytes without its alignment, adds a help line with that
// number of bytes.
void explain_full_memory(const RunInput& input, const InstanceStore& store,
                         const InstanceQuery& full, Diagnostic& diagnostic) {
  const Memory memory = input.memories[full.memory];
  const std::int64_t wanted = store.bytes_of(full);
  const std::int64_t capacity = input.memories.group(full.memory).capacity_bytes;
  const std::int64_t in_all = saturating_add(capacity - store.free_bytes(full.memory), wanted);
  diagnostic.note(fmt::format("{} needs {} in all, with what lies there, and has {}",
                              mapper::text_of(memory), format_bytes(in_all),
                              format_bytes(capacity)));
  for (const InstanceStore::RegionUsage& held : store.contents(full.memory, kShownRegions)) {
    const std::string used = held.used == held.count ? ", in use"
                             : held.used > 0         ? fmt::format(", {} of them in use", held.used)
                                                     : "";
    diagnostic.note(fmt::format("{} holds {} instance{} of `{}`, {}{}", mapper::text_of(memory),
                                held.count, held.count == 1 ? "" : "s",
                                input.data.regions[held.region].name, format_bytes(held.bytes),
                                used));
  }
  InstanceQuery unaligned = full;
  unaligned.layout.align_op = AlignOp::kNone;
  const std::int64_t least = store.bytes_of(unaligned);
  if (wanted / 2 >= least) {
    const bool together = full.layout.fields == FieldOrder::kAos;
    diagnostic.help(fmt::format("unaligned it takes {}{}", format_bytes(least),
                                together ? ": in AOS each field of each point is aligned" : ""));
  }
}

}  // namespace

// The note names the requirement in the application that has no `data`, since changing the mapping
// cannot remove this error.
RefusedTask missing_data(const TaskRun& run, const TaskView& view, std::uint32_t position) {
  const std::string why = fmt::format("its requirement {} has no `data`", position);
  Diagnostic diagnostic = diagnostic_without_source(DiagId::kCannotRun, view.name, why);
  diagnostic.note(fmt::format("/tasks/{}/requirements/{} of the application", run.task, position));
  diagnostic.help("`data` names the region or partition that it is on; explain does without");
  return {{std::move(diagnostic), {}}, why};
}

// Appends a candidate that has no room to the text `tried`, and stores its query in `last`.
void CandidatesWithoutRoom::add(const InstanceStore& store, const InstanceCandidate& candidate,
                                const InstanceQuery& query) {
  const std::int64_t needs = store.bytes_of(query);
  const std::int64_t free = store.free_bytes(query.memory);
  tried += fmt::format("{}{} (needs {}, has {} free, {} too little)", tried.empty() ? "" : ", ",
                       name_of(candidate.memory), format_bytes(needs), format_bytes(free),
                       format_bytes(needs - free));
  if (!origin) origin = candidate.memory_origin;
  last = query;
}

// The second part of the result, the raw output, is the message that Legion's default mapper prints
// in this case.
RefusedTask out_of_memory(const RunInput& input, const InstanceStore& store, const TaskRun& run,
                          const TaskView& view, std::uint32_t position,
                          const CandidatesWithoutRoom& full) {
  const RequirementView& requirement = view.requirements[position];
  const std::string region(requirement.aliases.empty() ? std::string_view("?")
                                                       : requirement.aliases.front());
  Diagnostic diagnostic = diagnostic_without_source(
      DiagId::kOutOfMemory, RegionArg{position, region}, view.name,
      full.last ? full.tried : "its processor reaches none of the memories");
  if (!full.last) {
    std::string raw = diagnostic.message;
    return {{std::move(diagnostic), full.origin}, std::move(raw)};
  }
  explain_full_memory(input, store, *full.last, diagnostic);
  std::string raw = fmt::format(
      "Default mapper failed allocation of size {} bytes for region requirement {} of task {} "
      "(UID {}) in memory {:x} ({}) for processor {:x} ({}). This means the working set of your "
      "application is too big for the allotted capacity of the given memory under the default "
      "mapper's mapping scheme.",
      store.bytes_of(*full.last), position, view.name, run.op, memory_id(full.last->memory),
      name_of(input.memories[full.last->memory].kind), processor_id(run.number),
      name_of(run.processor->kind));
  return {{std::move(diagnostic), full.origin}, std::move(raw)};
}

// The refusal points to a statement of the mapping as its origin: the statement that placed the
// target instance of the copy in its memory.
Refusal no_route(const Memories& memories, const Instance& from, const Instance& to) {
  const Memory &a = memories[from.memory], &b = memories[to.memory];
  return {diagnostic_without_source(DiagId::kNoRoute,
                                    fmt::format("{} of node {}", name_of(a.kind), a.node),
                                    fmt::format("{} of node {}", name_of(b.kind), b.node)),
          DecisionOrigin{static_cast<std::uint32_t>(to.statement)}};
}

// The error names the variant by its kind of processor, and says where in the application the
// variant is described.
void fail_formula(Outcome& outcome, const app::Data& data, const TaskRun& run,
                  app::FormulaFault fault) {
  if (fault == app::FormulaFault::kNone) return;
  outcome.fail(data.tasks[run.task].name,
               fmt::format("a formula of its variant for {}: {}", name_of(run.variant->kind),
                           app::words_of(fault)),
               run.variant->place);
}

// For a point of an index launch, the note names the point and the launch domain; for a single
// task, only the task.
void note_launch(const app::Data& data, const app::Launch* launch, const TaskRun* run,
                 std::vector<Refusal>& refusals) {
  std::string note;
  if (run != nullptr && run->launch != nullptr) {
    const std::string on = mapper::text_of(*run->processor);
    const std::string& name = data.tasks[run->task].name;
    note =
        !run->launch->is_index
            ? fmt::format("`{}` on {}", name, on)
            : fmt::format("point {} of a launch of `{}` over {}{}, on {}", text_of(point_of(*run)),
                          name, fmt::join(run->of->domain.box.extents.coordinates(), " x "),
                          corner_text(run->of->domain.box.lower), on);
  } else if (launch != nullptr) {
    note = fmt::format("in a launch of `{}`", data.tasks[launch->task].name);
  }
  if (note.empty()) return;
  for (Refusal& refusal : refusals) refusal.diagnostic.note(note);
}

}  // namespace groma::sim
