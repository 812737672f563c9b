// Implements the calls about instances that mappers may make during a hook, and checks the
// instances that their answers name.
#include "simulate/mapper_instances.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/one_diagnostic.h"
#include "evaluate/processors.h"
#include "simulate/bytes.h"
#include "simulate/legion_words.h"

namespace groma::sim {

// Makes the store report each removed instance. report_collected_instances() then tells those
// mappers that had found or made the instance.
MapperInstances::MapperInstances(const RunInput& input, InstanceStore& store, const Views& views,
                                 Mappers& mappers, Outcome& outcome, MapperRuntime& runtime)
    : input_(input),
      store_(store),
      views_(views),
      mappers_(mappers),
      outcome_(outcome),
      runtime_(runtime) {
  store.on_removal = [this](InstanceNumber number) {
    const auto given = given_.find(number);
    if (given == given_.end()) return;
    for (std::int32_t processor : given->second) collected_.emplace_back(processor, number);
    given_.erase(given);
  };
}

std::int64_t MapperInstances::free_bytes(const Memory& memory) {
  asked_ = true;
  const std::int32_t number = input_.memories.number_of(memory);
  return number < 0 ? -1 : store_.free_bytes(number);
}

// Mappers see the numbers of instances from 1; the store counts them from 0.
InstanceView MapperInstances::view_of(InstanceNumber number) {
  const Instance& instance = store_.instance(number);
  InstanceView view;
  view.id = InstanceId{number} + 1;
  view.memory = input_.memories[instance.memory];
  view.region = instance.region + 1;
  view.layout = instance.layout;
  const auto [fields, is_new] = fields_.try_emplace({instance.region, instance.groups});
  if (is_new) fields->second = input_.spaces.region(instance.region).fields_of(instance.groups);
  view.fields = fields->second;
  view.reduction = instance.reduction ? 1 : 0;
  view.bytes = instance.bytes;
  return view;
}

// Translates a mapper's request into a query of the store. The instance has to cover all regions of
// the request. Returns nullopt if a memory, region, field or reduction operator is unknown, or if
// the regions belong to different trees.
std::optional<InstanceQuery> MapperInstances::query(const InstanceRequest& request) {
  asked_ = true;
  InstanceQuery query;
  query.memory = input_.memories.number_of(request.memory);
  const bool no_such_reduction = request.reduction != 0 && request.reduction != 1;
  if (query.memory < 0 || request.regions.empty() || request.fields.empty() || no_such_reduction) {
    return std::nullopt;
  }
  for (RegionId id : request.regions) {
    std::uint32_t region = 0;
    const Piece* piece = views_.piece_of(id, region);
    if (piece == nullptr || (query.piece != nullptr && region != query.region)) return std::nullopt;
    query.region = region;
    if (query.piece == nullptr || (query.piece->box.volume() == 0 && piece->box.volume() > 0)) {
      query.piece = piece;
    } else if (!is_covered_by(*piece, *query.piece)) {
      shape_ = piece_covering_both(input_.spaces.region(region), *query.piece, *piece);
      if (shape_.set != nullptr) outcome_.spend(std::ssize(shape_.set->cells));
      query.piece = &shape_;
    }
  }
  query.shape = query.piece;
  for (FieldId field : request.fields) {
    const std::uint64_t group = input_.spaces.region(query.region).group_of(field);
    if (group == 0) return std::nullopt;
    query.groups |= group;
  }
  query.new_groups = query.groups;
  query.layout = input_.spaces.region(query.region).layout(request.layout, query.new_groups);
  query.reduction = request.reduction != 0;
  query.priority = request.priority;
  return query;
}

// Gives an instance to the mapper that asks for it. While a task is mapped, the instance is also
// held. The mapper is noted, so that report_collected_instances() can tell it when the instance is
// gone.
std::optional<FoundInstance> MapperInstances::give_to_mapper(std::optional<InstanceNumber> number,
                                                             bool created) {
  if (!number) return std::nullopt;
  if (holds_) hold(*number);
  std::vector<std::int32_t>& given = given_[*number];
  const std::int32_t to = input_.processors.number_of(mappers_.last_asked_processor());
  if (std::find(given.begin(), given.end(), to) == given.end()) given.push_back(to);
  return FoundInstance{InstanceId{*number} + 1, created, store_.instance(*number).bytes};
}

std::optional<FoundInstance> MapperInstances::find_instance(const InstanceRequest& request) {
  const auto query = this->query(request);
  return query ? give_to_mapper(store_.find(*query), false) : std::nullopt;
}

// Makes an instance, for which idle instances may be evicted. Returns nullopt if there is no room.
// The shape of an instance for several regions is kept in `shapes_`, since the store refers to it.
std::optional<FoundInstance> MapperInstances::create_instance(const InstanceRequest& request) {
  auto query = mappers_.asked_for_operation() ? this->query(request) : std::nullopt;
  if (!query) return std::nullopt;
  // Count this call as a change even if there was no room for the new instance, since other
  // instances may have been evicted.
  ++changes_;
  const bool joined = query->piece == &shape_;
  if (joined) query->piece = query->shape = &shapes_.emplace_back(shape_);
  const auto made = store_.make(*query);
  if (on_made) on_made(*query, made);
  if (!made && joined) shapes_.pop_back();
  if (made && joined) {
    shape_bytes_ += static_cast<std::int64_t>(sizeof(Piece));
    if (shape_.set != nullptr) shape_bytes_ += heap_bytes(shape_.set->cells);
  }
  return give_to_mapper(made, true);
}

// Returns whether the instance exists now. Notes that the mapper's answers may depend on instances.
bool MapperInstances::is_alive(InstanceId instance) {
  asked_ = true;
  return instance != 0 && store_.knows(instance - 1) &&
         store_.instance(static_cast<InstanceNumber>(instance - 1)).alive;
}

// Keeps the instance from being evicted until release_held_instances(). Has no effect if the
// instance is held already.
void MapperInstances::hold(InstanceNumber number) {
  if (std::find(held_.begin(), held_.end(), number) != held_.end()) return;
  held_.push_back(number);
  store_.acquire(number);
}

void MapperInstances::release_held_instances() {
  for (InstanceNumber number : held_) store_.release(number);
  held_.clear();
}

// Holds an instance for the task being mapped. Returns false if no task is being mapped, or if the
// instance does not exist any more.
bool MapperInstances::acquire_instance(InstanceId instance) {
  return holds_ && is_alive(instance) &&
         give_to_mapper(static_cast<InstanceNumber>(instance - 1), false).has_value();
}

// Ends the hold of an instance. Does nothing if the instance is not held.
void MapperInstances::release_instance(InstanceId instance) {
  const auto held = std::find_if(held_.begin(), held_.end(), [&](InstanceNumber number) {
    return InstanceId{number} + 1 == instance;
  });
  if (held == held_.end()) return;
  const InstanceNumber number = *held;
  held_.erase(held);
  store_.release(number);
}

// Returns true if the instance does not exist any more, because this call has collected it or
// because it was removed before. Returns false if the instance still exists, or if no instance ever
// had this number.
bool MapperInstances::collect_instance(InstanceId instance) {
  if (!is_alive(instance)) return instance != 0 && store_.knows(instance - 1);
  ++changes_;
  return store_.collect(static_cast<InstanceNumber>(instance - 1));
}

void MapperInstances::set_collect_priority(InstanceId instance, CollectPriority priority) {
  if (!is_alive(instance)) return;
  ++changes_;
  store_.set_priority(static_cast<InstanceNumber>(instance - 1), priority);
}

void MapperInstances::report_collected_instances() {
  for (std::size_t i = 0; i < collected_.size() && !outcome_.over(); ++i) {
    const auto [processor, number] = collected_[i];
    mappers_.mapper_for_scheduling(processor).handle_instance_collection(runtime_,
                                                                         InstanceId{number} + 1);
  }
  collected_.clear();
}

// For each requirement for which the answer names an instance, checks that instance. Then checks
// the layouts of all named instances against the demands of the variant.
bool MapperInstances::check_named(const TaskRun& run, const TaskView& view,
                                  const MapTaskOutput& choice) {
  bool any = false;
  for (std::uint32_t r = 0; r < view.requirements.size(); ++r) {
    if (choice.requirements[r].instance == 0 || run.pieces[r] == nullptr) continue;
    if (view.requirements[r].empty()) continue;
    if (!check_named(run, view, choice, r)) return false;
    any = true;
  }
  if (!any) return true;
  // Check the layouts against the demands of the variant, as if the mapper had asked for these
  // layouts.
  named_ = choice;
  for (InstanceChoice& each : named_.requirements) {
    if (each.instance == 0 || !is_alive(each.instance)) continue;
    const Instance& instance = store_.instance(static_cast<InstanceNumber>(each.instance - 1));
    each.candidate_count = 0;
    each.add({input_.memories[instance.memory].kind, each.instance_origin, instance.layout,
              each.instance_origin});
    each.instance = 0;
  }
  return mappers_.end_run_if_refused(validate(named_, view, *input_.machine), view, &named_);
}

// Checks the instance that `answer` names for one requirement, and holds it. The checks have
// Legion's order, so that an instance with several faults gets Legion's message.
bool MapperInstances::check_named(const TaskRun& run, const TaskView& view,
                                  const MapTaskOutput& answer, std::uint32_t position) {
  const InstanceChoice& choice = answer.requirements[position];
  const auto refuse = [&](std::string_view why, std::string raw) {
    Diagnostic diagnostic =
        diagnostic_without_source(DiagId::kBadInstance, position, view.name, choice.instance, why);
    if (raw.empty()) raw = diagnostic.message;
    outcome_.refuse(RunStatus::kMapError, {{std::move(diagnostic), choice.instance_origin}},
                    std::move(raw));
    return false;
  };
  const NamedInstance words{
      {view, mappers_.mapper_of(mappers_.last_asked_processor()).name(), &answer}, position};
  if (!store_.knows(choice.instance - 1)) return refuse("there was never one of that number", {});
  const auto number = static_cast<InstanceNumber>(choice.instance - 1);
  const Instance& instance = store_.instance(number);
  const std::uint32_t region = data_of_requirement(input_.data, run, position).region;
  if (instance.region != region) {
    return refuse(
        fmt::format("it is of `{}`, not of `{}`", input_.data.regions[instance.region].name,
                    input_.data.regions[region].name),
        words.wrong_region_message(instance.region + 1, region + 1));
  }
  const std::uint64_t missing = field_groups_of(input_.spaces, run, position) & ~instance.groups;
  if (missing != 0) {
    const std::vector<FieldId> fields = input_.spaces.region(region).fields_of(missing);
    return refuse(
        fmt::format("it lacks field `{}`", input_.data.regions[region].fields[fields[0]].name),
        words.missing_fields(fields.size()));
  }
  if (!instance.alive) return refuse("it has been collected", words.collected());
  const Memory& memory = input_.memories[instance.memory];
  for (const Processor& p : answer.processors) {
    if (input_.memories.nearest(p, memory.kind) == instance.memory) continue;
    return refuse(
        fmt::format("{} does not work in {}", mapper::text_of(p), mapper::text_of(memory)),
        words.not_visible(instance.memory));
  }
  if (!is_covered_by(*run.pieces[position], *instance.shape)) {
    return refuse("it does not cover the region", words.too_small());
  }
  const bool reduces = view.requirements[position].privilege == Privilege::kReduce;
  if (instance.reduction != reduces) {
    return refuse(reduces ? "it is none to reduce to" : "it is one to reduce to",
                  words.reduction_mismatch_message(reduces));
  }
  hold(number);
  return true;
}

}  // namespace groma::sim
