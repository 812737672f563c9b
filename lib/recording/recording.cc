// recorded_application: turns the recorded events of a run into an application. This file makes the
// tasks, their variants and requirements; recorded_*.cc make the data and the bodies.
#include "groma/recording.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "groma/workload.h"
#include "recording/events.h"
#include "recording/recorded_bodies.h"
#include "recording/recorded_data.h"
#include "recording/recorded_holes.h"
#include "recording/recorded_uses.h"
#include "recording/sparse_launches.h"

namespace groma {
namespace {

using app::Events;

// Limit on the number of tasks that one note names.
constexpr std::size_t kMostNamed = 8;

// Returns a privilege that allows everything that privilege `a` or privilege `b` allows: read-write
// if the two differ and neither of them is no access.
Privilege both(Privilege a, Privilege b) {
  if (a == b || b == Privilege::kNoAccess) return a;
  return a == Privilege::kNoAccess ? b : Privilege::kReadWrite;
}

// Makes one application from the events of a run.
class Maker {
 public:
  Maker(const Events& events, const std::string& name) : events_(events) {
    for (const Events::TaskRunGroup& context : events.contexts) launching_.insert(context.task);
    made_.app.name = name;
    made_.app.description = fmt::format("Recorded under {}.", events.runtime);
  }

  // Makes the application: first its data, then its tasks, their bodies, the runtime costs and the
  // notes. Fails if the result is not a valid application, for example if it exceeds a limit. If no
  // condition describes some sparse domains, sets `undescribed` to them, and the result is of no
  // use.
  Result<Recording> make(std::set<std::int32_t>& undescribed) {
    const app::RecordedData data(events_, made_.app, made_.notes);
    for (std::size_t i = 0; i < events_.tasks.size(); ++i) add_task(static_cast<std::uint32_t>(i));
    made_.app.top_level = made_.app.tasks[events_.top_level].name;
    app::RecordedBodies bodies(events_, made_.app, made_.notes);
    for (std::size_t i = 0; i < events_.tasks.size(); ++i) {
      bodies.add_body(static_cast<std::uint32_t>(i));
    }
    undescribed = bodies.undescribed_domains();
    if (!undescribed.empty()) return std::move(made_);
    bodies.add_arguments();
    for (const Events::CountedOperations& other : events_.undescribed_operations) {
      made_.notes.push_back(fmt::format("not described: {} ({})", other.what, other.count));
    }
    add_costs();
    note_unmeasured();
    count_notes();
    const auto workload = Workload::make(made_.app);
    if (!workload) {
      Error error = workload.error();
      error.message = "what was recorded makes no application: " + error.message;
      return error;
    }
    return std::move(made_);
  }

 private:
  // Sets the measured costs of the runtime. Without a measurement the application has no costs of
  // its own, so that the defaults apply, and a note says so.
  void add_costs() {
    const auto seconds = [](std::int64_t nanoseconds) {
      return std::clamp(static_cast<double>(nanoseconds) / 1e9, 0.0, kMaxRuntimeCost);
    };
    if (events_.map.count <= 0) {
      made_.notes.emplace_back(
          "no task that the runtime mapped was measured: its own costs are the usual ones");
      return;
    }
    RuntimeCosts costs;
    costs.map_s = seconds(events_.map.nanoseconds);
    if (events_.issue.count > 0) costs.issue_s = seconds(events_.issue.nanoseconds);
    // The recorder cannot observe the cost of a replayed task. It is at most the cost of mapping
    // the task anew.
    costs.replay_s = std::min(costs.replay_s, costs.map_s);
    made_.app.runtime = costs;
  }

  // Adds notes about tasks that did not run on some kind of processor for which they have a
  // variant. Tasks with the same missing kinds share a note.
  void note_unmeasured() {
    for (const auto& [kinds, tasks] : not_measured_) {
      const std::size_t shown = std::min(tasks.size(), kMostNamed);
      std::string names;
      for (std::size_t i = 0; i < shown; ++i) {
        names += fmt::format("{}`{}`", i == 0 ? "" : ", ", tasks[i]);
      }
      if (shown < tasks.size()) names += fmt::format(" and {} more", tasks.size() - shown);
      made_.notes.push_back(fmt::format("{} did not run on {}: {} time there is that on {}", names,
                                        kinds.first, tasks.size() == 1 ? "its" : "their",
                                        name_of(kinds.second)));
    }
  }

  // Removes repeated notes, and appends to a note how often it occurred. The order of the first
  // occurrences stays.
  void count_notes() {
    std::map<std::string, std::size_t> places;
    std::vector<std::string> once;
    std::vector<std::size_t> times;
    for (std::string& each : made_.notes) {
      const auto [place, is_new] = places.try_emplace(each, once.size());
      if (is_new) {
        once.push_back(std::move(each));
        times.push_back(0);
      }
      ++times[place->second];
    }
    for (std::size_t i = 0; i < once.size(); ++i) {
      if (times[i] > 1) once[i] += fmt::format(" ({} times)", times[i]);
    }
    made_.notes = std::move(once);
  }

  // Adds a task with its variants and requirements, without its body. Two recorded tasks with the
  // same name get different names.
  void add_task(std::uint32_t number) {
    const Events::Task& from = events_.tasks[number];
    AppTask task;
    const std::string base = from.name.empty() ? fmt::format("task_{}", number)
                                               : from.name.substr(0, kMaxAppNameBytes / 2);
    task.name = base;
    for (int next = 2; !names_.insert(task.name).second; ++next) {
      task.name = fmt::format("{}_{}", base, next);
    }
    if (task.name != from.name) {
      made_.notes.push_back(fmt::format("a second task `{}` is called `{}`", base, task.name));
    }
    add_requirements(number, task);
    add_variants(number, task);
    made_.app.tasks.push_back(std::move(task));
  }

  // ---- Variants

  // Returns true if two variants are for the same kind of processor, so that a mapper has to choose
  // between them.
  static bool has_two_of_a_kind(const std::vector<Events::Variant>& variants) {
    std::set<ProcKind> kinds;
    for (const Events::Variant& variant : variants) kinds.insert(variant.kind);
    return kinds.size() < variants.size();
  }

  // Adds the variants of a task. The time of a variant is the measured median on its kind of
  // processor. If the task did not run on that kind, the time on the kind with the most
  // measurements is taken instead.
  void add_variants(std::uint32_t number, AppTask& task) {
    const Events::Task& from = events_.tasks[number];
    const bool launches = launching_.contains(number);
    const Events::TaskTime* longest = nullptr;
    for (const Events::TaskTime& time : events_.times) {
      if (time.task != number) continue;
      if (longest == nullptr || time.count > longest->count) longest = &time;
    }
    std::string unmeasured;
    const bool ambiguous = has_two_of_a_kind(from.variants);
    for (const Events::Variant& each : from.variants) {
      if (task.variants.size() == kMaxAppVariants) break;
      AppVariant variant;
      variant.kind = each.kind;
      variant.leaf = each.leaf && !launches;
      variant.inner = each.inner && !variant.leaf;
      variant.replicable = each.replicable;
      variant.chosen_by_mapper = ambiguous && each.chosen_by_mapper;
      for (const LayoutDemand& demand : each.demands) {
        if (demand.requirement < task.requirements.size()) variant.demands.push_back(demand);
      }
      const auto measured = std::find_if(events_.times.begin(), events_.times.end(),
                                         [&](const Events::TaskTime& time) {
                                           return time.task == number && time.kind == each.kind;
                                         });
      if (measured != events_.times.end()) {
        variant.nanoseconds = std::max<std::int64_t>(0, measured->nanoseconds);
      } else if (longest != nullptr) {
        variant.nanoseconds = std::max<std::int64_t>(0, longest->nanoseconds);
        if (unmeasured.find(name_of(each.kind)) == unmeasured.npos) {
          unmeasured += fmt::format("{}{}", unmeasured.empty() ? "" : ", ", name_of(each.kind));
        }
      }
      task.variants.push_back(std::move(variant));
    }
    if (!unmeasured.empty()) {
      not_measured_[{unmeasured, longest->kind}].push_back(task.name);
    }
    if (longest == nullptr)
      made_.notes.push_back(fmt::format("no run of `{}` was measured", task.name));
    if (task.variants.empty()) task.variants.emplace_back();
  }

  // ---- Requirements

  // Returns the default data of a requirement: the partition whose colour is the launch's point, if
  // the launch uses one so, otherwise the whole region.
  AppData usual(const Events::LaunchShape& shape, const Events::Requirement& requirement) const {
    const auto at = static_cast<std::size_t>(std::max(0, requirement.partition));
    if (requirement.color_rule == Events::ColorRule::kPoint &&
        events_.color_dimensions(events_.partitions[at]) == static_cast<int>(shape.dimensions) &&
        events_.partitions[at].colors.lower == Point::zeros(static_cast<int>(shape.dimensions))) {
      return {made_.app.partitions[at].name, {}};
    }
    return {made_.app.regions[requirement.region].name, {}};
  }

  // Describes each requirement of a task by the first launch that has this requirement with fields.
  // Launches that use other data state their own. The privilege covers all launches.
  void add_requirements(std::uint32_t number, AppTask& task) {
    for (const Events::LaunchShape& shape : events_.shapes) {
      if (shape.task != number) continue;
      for (std::size_t r = 0; r < shape.requirements.size(); ++r) {
        const Events::Requirement& from = shape.requirements[r];
        const AppRegion& region = made_.app.regions[from.region];
        if (r == task.requirements.size()) {
          task.requirements.emplace_back();
          task.requirements[r].privilege = from.privilege;
          task.requirements[r].coherence = from.coherence;
        }
        AppRequirement& to = task.requirements[r];
        to.privilege = both(to.privilege, from.privilege);
        if (!to.fields.empty()) continue;
        to.dimensions = static_cast<int>(region.extents.size());
        to.data = usual(shape, from);
        to.fields = app::fields_of(region, from);
      }
    }
  }

  const Events& events_;
  Recording made_;
  std::set<std::string> names_;
  // The numbers of the tasks that launch other tasks.
  std::set<std::uint32_t> launching_;
  // The names of tasks that were not measured on some kinds of processor. The key consists of the
  // names of these kinds and the kind whose time was taken instead.
  std::map<std::pair<std::string, ProcKind>, std::vector<std::string>> not_measured_;
};

}  // namespace

// Makes the application. If the pieces have more boxes than an application may have, the points of
// regions are renumbered. If this does not suffice, the holes of pieces are dropped.
Result<Recording> recorded_application(std::string_view recorded, const std::string& name) {
  if (recorded.size() > kMaxRecordedBytes) {
    return Error{Error::Code::kTooLarge,
                 fmt::format("what was recorded has {} bytes; at most {} are read", recorded.size(),
                             kMaxRecordedBytes)};
  }
  auto events = app::parse_events(recorded);
  if (!events) return events.error();
  app::drop_unused_pieces(*events);
  std::vector<std::string> notes, notes_on_launches;
  // Makes the application from the events as they are now. Launches over domains that no condition
  // describes become several launches. Fails if pieces with holes take more boxes than an
  // application may have.
  const auto made = [&]() -> Result<Recording> {
    if (app::count_boxes_of_pieces_with_holes(*events) > kMaxAppBoxes) {
      return Error{Error::Code::kTooLarge, "the pieces have too many holes"};
    }
    while (true) {
      std::set<std::int32_t> undescribed;
      auto recording = Maker(*events, name).make(undescribed);
      if (undescribed.empty()) return recording;
      auto error = app::split_sparse_launches(*events, undescribed, notes_on_launches);
      if (error) return *std::move(error);
    }
  };
  Result<Recording> recording = made();
  const auto is_too_large = [&] {
    return !recording && recording.error().code == Error::Code::kTooLarge &&
           app::count_boxes_of_pieces_with_holes(*events) > 0;
  };
  if (is_too_large()) {
    app::renumber_points(*events, notes);
    recording = made();
  }
  if (is_too_large()) {
    notes.clear();
    app::drop_boxes_of_pieces_with_holes(*events);
    recording = made();
  }
  if (recording) {
    for (const auto* list : {&notes_on_launches, &notes}) {
      recording->notes.insert(recording->notes.begin(), list->begin(), list->end());
    }
  }
  return recording;
}

}  // namespace groma
