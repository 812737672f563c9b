// check_run(): finds the answers of a mapping that the embedded runtime would refuse, by rehearsing
// the application: the runtime calls the hooks but simulates no time.
#include <algorithm>
#include <atomic>

#include "app/view.h"
#include "base/one_diagnostic.h"
#include "evaluate/processors.h"
#include "explain/explain_query.h"
#include "explain/locate.h"
#include "explain/task_contexts.h"
#include "groma/index_map.h"
#include "groma/inspect.h"
#include "groma/program_mapper.h"
#include "mapper/decisions.h"
#include "mapper/default_policy.h"
#include "mapper/variant_layouts.h"
#include "simulate/rehearsal.h"

namespace groma {
namespace {

// Limit on the steps of mapping functions, counted in calls of the stop function (one for 2^16
// steps). It allows as many steps as two launches at the limit kMaxQuestionSteps, which take about
// twenty seconds.
constexpr int kMostAsked = static_cast<int>(2 * kMaxQuestionSteps >> 16);

// Warns, once for each task, if a recording does not tell whether a run accepts a layout. This is
// so if the task has several variants for one kind of processor, the recording does not say which
// of them runs, and only some of them accept the layout.
class VariantCheck {
 public:
  VariantCheck(const BoundProgram& bound, const Workload& app, Diagnostics& diags)
      : program_(bound.program()), machine_(bound.machine()), app_(app.data()), diags_(diags) {}

  // Launches may give the region requirements of a task different names. Checks each task once for
  // each distinct list of these names, until the first warning about the task.
  void check() {
    if (std::none_of(app_.tasks.begin(), app_.tasks.end(), is_partly_chosen)) return;
    bool complete = true;
    const std::vector<TaskLaunches> uses = launches_by_task(app_, complete);
    for (std::uint32_t t = 0; t < uses.size(); ++t) {
      for (const TaskContext& context : contexts_of(app_, uses, t, {program_})) {
        if (check_context(t, context)) break;
      }
    }
  }

 private:
  // Returns true if the mapper of the recorded Legion program chose some variants of the task but
  // not all of them. For a processor kind of which it chose no variant, the recording does not tell
  // which variant runs.
  static bool is_partly_chosen(const app::Task& task) {
    const auto is_chosen = [](const app::Variant& one) { return one.chosen_by_mapper; };
    const auto begin = task.variants.begin(), end = task.variants.end();
    return std::any_of(begin, end, is_chosen) && !std::all_of(begin, end, is_chosen);
  }

  // Checks some launches of a task. Returns true if there was a warning.
  bool check_context(std::uint32_t number, const TaskContext& context) {
    const auto& launches = context.launches.launches;
    const app::DistinctLaunch launch =
        launches.empty() ? app::DistinctLaunch{.task = number} : launches.front();
    const ViewsAbove above(app_, context.above);
    const auto& lists = context.launches.name_lists;
    return std::any_of(lists.begin(), lists.end(), [&](const app::LaunchNames& names) {
      const app::AppView views(app_, number, names);
      TaskView view = views.view(launch);
      view.parent = above.parent();
      return check_task(view);
    });
  }

  // Checks the layouts that statements decide for one task. Returns true if there was a warning.
  bool check_task(const TaskView& task) {
    const auto kind = mapper::decide_kind(program_, task, machine_);
    if (!kind) return false;
    const auto processor = mapper::first_processor_from(machine_, kind->kind, 0);
    const VariantView* variant = mapper::best_variant(task, kind->kind);
    if (!processor || variant == nullptr) return false;
    const mapper::OtherVariants others = mapper::other_variants(task, *variant);
    if (others.all_run) return false;
    for (std::uint32_t i = 0; i < task.requirements.size(); ++i) {
      const InstanceChoice choice =
          mapper::decide_requirement(program_, task, i, *variant, *processor, machine_, {});
      for (const InstanceCandidate& candidate : choice.candidates()) {
        if (!candidate.layout_origin || !is_doubtful(task, i, *variant, others, candidate))
          continue;
        add_refusal_at_statement(
            program_,
            {diagnostic_without_source(DiagId::kVariantUnknown, i, task.name, name_of(kind->kind)),
             candidate.layout_origin},
            diags_);
        return true;
      }
    }
    return false;
  }

  // Returns true if some of the variants accept the layout and others do not.
  static bool is_doubtful(const TaskView& task, std::uint32_t i, const VariantView& variant,
                          const mapper::OtherVariants& others, const InstanceCandidate& candidate) {
    const auto accepts = [&](const VariantView* one) {
      return mapper::refused_layouts(task, i, *one, candidate, true).empty();
    };
    const bool first = accepts(&variant);
    return std::any_of(others.variants.begin(), others.variants.end(),
                       [&](const VariantView* one) { return accepts(one) != first; });
  }

  const Program& program_;
  const Machine& machine_;
  const app::Data& app_;
  Diagnostics& diags_;
};

}  // namespace

// Rehearses the application and reports the refusals at the statements that caused them. If the
// mapping functions take too long, reports that the check is incomplete.
std::optional<double> check_run(const BoundProgram& bound, const Workload& app, Diagnostics& diags,
                                const CheckOptions& options) {
  // Mapping functions call the stop function once for 2^16 steps. `asked` counts these calls, from
  // any thread.
  std::atomic<int> asked = 0;
  const auto stops = [&] { return asked > kMostAsked || (options.stop && options.stop()); };
  const auto shared = ProgramMapper::share(bound, nullptr, [&] {
    ++asked;
    return stops();
  });
  const auto machine = bound.shared_machine();
  sim::RehearsalOptions rehearsal;
  rehearsal.max_steps = options.max_steps;
  rehearsal.max_bytes = options.max_bytes;
  rehearsal.stop = stops;
  rehearsal.first_error = options.first_error;
  rehearsal.estimate = options.estimate;
  sim::RehearsalResult result = sim::rehearse(
      app, machine,
      [&](const Processor& local) {
        return std::make_unique<ProgramMapper>(shared, MapperSite{machine, local});
      },
      rehearsal);
  for (const Refusal& refusal : result.findings)
    add_refusal_at_statement(bound.program(), refusal, diags);
  VariantCheck(bound, app, diags).check();
  if (asked > kMostAsked) result.incomplete = "its mapping functions take too long";
  if (!result.incomplete.empty()) {
    diags.report(DiagId::kCheckIncomplete, std::nullopt, app.name(), result.incomplete);
  }
  return result.rough_seconds;
}

}  // namespace groma
