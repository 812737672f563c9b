// The second part of build(): reads the tasks, their variants and the launches in their bodies,
// then the metric and the runtime costs.
#include <fmt/format.h>

#include <algorithm>

#include "app/builder.h"
#include "base/point_text.h"
#include "groma/spelling.h"
#include "machine/quote.h"

namespace groma::app {
namespace {

// Limit on the memory for the requirements of all launches. Many launches of tasks with many long
// names would otherwise need far more memory than the application's text.
constexpr std::size_t kMaxDataBytes = std::size_t{1} << 28;

bool power_of_two(std::int64_t n) { return n > 0 && (n & (n - 1)) == 0; }

}  // namespace

// Reads all tasks in three passes: first their names, then their requirements, then their variants
// and bodies. A body can refer to a task that stands later in the application.
void Builder::read_tasks() {
  check_count("/tasks", app_.tasks.size(), kMaxAppTasks, "tasks");
  if (app_.tasks.empty()) fail("/tasks", "an application has at least one task");
  for (std::size_t i = 0; i < app_.tasks.size() && !enough_; ++i) {
    read_independently([&] {
      const std::string path = fmt::format("/tasks/{}/name", i);
      check_name(path, app_.tasks[i].name);
      const auto [known, is_new] = task_numbers_.emplace(app_.tasks[i].name, i);
      if (ok() && !is_new) fail(path, fmt::format("task {} has this name already", known->second));
    });
  }
  std::size_t requirements = 0, fields = 0;
  for (const AppTask& task : app_.tasks) {
    requirements += task.requirements.size();
    for (const AppRequirement& each : task.requirements) fields += each.fields.size();
  }
  check_count("/tasks", requirements, kMaxAppParts, "requirements in all");
  check_count("/tasks", fields, kMaxAppAllFields, "fields of requirements in all");
  if (!ok()) return;
  // A launch refers to the requirements of the launched task, so all requirements are read before
  // any body.
  data_.tasks.resize(app_.tasks.size());
  for (std::size_t i = 0; i < app_.tasks.size() && !enough_; ++i) {
    read_independently([&] {
      read_arguments_and_requirements(fmt::format("/tasks/{}", i), app_.tasks[i], data_.tasks[i]);
    });
  }
  if (!ok()) return;
  for (std::size_t i = 0; i < app_.tasks.size() && !enough_; ++i) {
    read_independently(
        [&] { read_task(fmt::format("/tasks/{}", i), app_.tasks[i], data_.tasks[i]); });
  }
  read_independently([&] { read_top_level(); });
}

// Reads the arguments and the requirements of a task, but not its variants and body. The formulas
// of a requirement may use the arguments.
void Builder::read_arguments_and_requirements(const std::string& path, const AppTask& from,
                                              Task& to) {
  to.name = from.name;
  to.arguments = static_cast<int>(from.arguments.size());
  check_count(path + "/requirements", from.requirements.size(), kMaxAppRequirements,
              "requirements");
  if (!check_variable_names(path + "/arguments", from.arguments)) return;
  const Scope::ScopeMark mark = scope_.mark();
  for (const std::string& name : from.arguments) scope_.add_variable(name);
  for (std::size_t r = 0; r < from.requirements.size() && !enough_; ++r) {
    read_independently([&] {
      read_requirement(fmt::format("{}/requirements/{}", path, r), from.requirements[r],
                       to.requirements.emplace_back());
    });
  }
  scope_.remove_names_since(mark);
}

// Finds the task that the runtime starts, if the application names one. This task must not have
// arguments, because no launch gives them values.
void Builder::read_top_level() {
  if (app_.top_level.empty()) return;
  data_.top_level = number_of_task("/top_level", app_.top_level);
  if (ok() && !app_.tasks[static_cast<std::size_t>(data_.top_level)].arguments.empty()) {
    fail("/top_level", "nobody gives this task its arguments");
  }
}

// Returns the number of a task. Reports an error and returns -1 if no task has the name.
int Builder::number_of_task(const std::string& path, std::string_view name) {
  const auto found = task_numbers_.find(name);
  if (found != task_numbers_.end()) return static_cast<int>(found->second);
  std::vector<std::string_view> names;
  for (const AppTask& task : app_.tasks) names.push_back(task.name);
  fail_unknown(path, fmt::format("no task is named {}", in_quotes(name)), name, names);
  return -1;
}

// Numbers the futures that the launches of a body give, before the body is read. A launch may take
// a future that a later launch of the same loop gave in the previous iteration.
void Builder::find_futures(const std::vector<AppStatement>& body, int depth) {
  // Skips a body that is nested too deeply, without an error, because read_body() reports it.
  if (depth > kMaxAppDepth) return;
  for (const AppStatement& statement : body) {
    if (const auto* launch = std::get_if<AppLaunch>(&statement.node)) {
      const auto number = static_cast<std::uint32_t>(futures_.size());
      if (launch->gives.empty() || !future_numbers_.emplace(launch->gives, number).second) continue;
      futures_.emplace_back(launch->gives);
    } else if (const auto* loop = std::get_if<AppLoop>(&statement.node)) {
      find_futures(loop->body, depth + 1);
    } else if (const auto* phase = std::get_if<AppPhase>(&statement.node)) {
      find_futures(phase->body, depth + 1);
    }
  }
}

// Returns the number of a future. Reports an error and returns -1 if no launch of the task gives
// the future.
int Builder::number_of_future(const std::string& path, std::string_view name) {
  const auto found = future_numbers_.find(name);
  if (found != future_numbers_.end()) return static_cast<int>(found->second);
  fail_unknown(path, fmt::format("no launch of this task gives the future {}", in_quotes(name)),
               name, futures_);
  return -1;
}

// ---- Requirements

// Reads a requirement of a task and its default data: the data that a launch uses if the launch
// names none. The colour of the default data may use the arguments of the task.
void Builder::read_requirement(const std::string& path, const AppRequirement& from,
                               Requirement& to) {
  to.names = from.names;
  to.privilege = from.privilege;
  to.coherence = from.coherence;
  to.dimensions = from.dimensions;
  to.fields = from.fields;
  check_aliases(path + "/names", from.names);
  if (from.dimensions < 1 || from.dimensions > kMaxDimensions) {
    fail(path + "/dimensions", fmt::format("{} is not a number of dimensions (1 to {})",
                                           from.dimensions, kMaxDimensions));
  }
  check_fields(path + "/fields", from.fields, false);
  if (ok())
    to.data =
        read_requirement_data(path + "/data", from.data, to, RequirementData::Color::kArguments);
}

// Reads the data of a requirement, in a task or in a launch: the region or partition, the colour
// and the fields. `color` is kFrame for the data of a launch and kArguments for the default data of
// a requirement. A launch without a region or partition uses the default data of the requirement,
// but may state its own privilege.
RequirementData Builder::read_requirement_data(const std::string& path, const AppData& from,
                                               const Requirement& requirement,
                                               RequirementData::Color color) {
  RequirementData where;
  const bool is_of_launch = color == RequirementData::Color::kFrame;
  if (!is_of_launch && from.privilege) {
    fail(path + "/privilege", "only the `data` of a launch has a privilege of its own",
         "give the requirement its `privilege` beside `data`");
  }
  where.names = requirement.names;
  where.privilege = from.privilege.value_or(requirement.privilege);
  if (from.of.empty()) {
    if (!from.color.empty()) fail(path + "/color", "a colour of no partition");
    if (!from.fields.empty()) fail(path + "/fields", "fields of no region");
    if (!is_of_launch) return where;
    // The launch names no region or partition, so only the privilege may be its own. Everything
    // else is the default data of the requirement.
    const Privilege privilege = where.privilege;
    where = requirement.data;
    where.privilege = privilege;
    if (privilege == Privilege::kNoAccess) where.fields.clear();
    return where;
  }
  const Names* names = nullptr;
  if (const auto region = region_numbers_.find(from.of); region != region_numbers_.end()) {
    where.kind = RequirementData::Kind::kRegion;
    where.index = where.region = region->second;
    names = &data_.regions[where.index].names;
    if (!from.color.empty()) fail(path + "/color", "a whole region has no colour");
  } else if (const auto partition = partition_numbers_.find(from.of);
             partition != partition_numbers_.end()) {
    where.kind = RequirementData::Kind::kPartition;
    where.index = partition->second;
    where.region = data_.partitions[where.index].region;
    names = &data_.partitions[where.index].names;
    where.color = compile_all(path + "/color", from.color);
    where.from = from.color.empty() ? RequirementData::Color::kPoint : color;
    const int dimensions = data_.partitions[where.index].colors.dimensions();
    if (!from.color.empty() && from.color.size() != static_cast<std::size_t>(dimensions)) {
      fail(path + "/color", fmt::format("{} coordinates; a colour of `{}` has {}",
                                        from.color.size(), from.of, dimensions));
    }
  } else {
    fail_unknown_data(path + "/of", from.of);
    return where;
  }
  // Without names of its own, a requirement has the names of its region or partition.
  if (requirement.names.empty()) where.names = *names;
  if (is_of_launch && where.privilege == Privilege::kNoAccess) return where;
  if (!is_of_launch && ok()) check_requirement_fields(path, from, requirement, where);
  // A launch that lists fields may choose fields of other sizes than those of the requirement.
  const bool as_large = !is_of_launch || from.fields.empty();
  if (ok()) find_fields(path, from.fields, requirement, as_large, where);
  return where;
}

// Checks that a requirement and its default data have the same number of dimensions and of fields.
// The data of a launch may differ from the requirement in both.
void Builder::check_requirement_fields(const std::string& path, const AppData& from,
                                       const Requirement& requirement,
                                       const RequirementData& where) {
  const Region& region = data_.regions[where.region];
  if (requirement.dimensions != region.box.dimensions()) {
    return fail(path, fmt::format("`{}` has {} dimensions, the requirement {}", region.name,
                                  region.box.dimensions(), requirement.dimensions));
  }
  if (!from.fields.empty() && from.fields.size() != requirement.fields.size()) {
    fail(path + "/fields", fmt::format("{} fields, the requirement has {}", from.fields.size(),
                                       requirement.fields.size()));
  }
}

// Looks up field names in the region of `where` and stores their numbers there. Without names,
// looks up the fields of the requirement. Reports an unknown field, a field that occurs twice and,
// with `as_large`, a field whose size differs from that of the requirement's field.
void Builder::find_fields(const std::string& path, const std::vector<std::string>& names,
                          const Requirement& requirement, bool as_large, RequirementData& where) {
  const auto& numbers = field_numbers_[where.region];
  std::vector<bool> seen(numbers.size());
  const Region& region = data_.regions[where.region];
  const std::size_t count = names.empty() ? requirement.fields.size() : names.size();
  for (std::size_t i = 0; i < count; ++i) {
    const std::string& name = names.empty() ? requirement.fields[i].name : names[i];
    const auto known = numbers.find(name);
    if (known == numbers.end()) {
      std::vector<std::string_view> all;
      for (const AppField& each : region.fields) all.push_back(each.name);
      return fail_unknown(path, fmt::format("`{}` has no field `{}`", region.name, name), name,
                          all);
    }
    const std::int64_t bytes = region.fields[known->second].bytes;
    if (as_large && bytes != requirement.fields[i].bytes) {
      return fail(path, fmt::format("field `{}` of `{}` has {} bytes, not {}", name, region.name,
                                    bytes, requirement.fields[i].bytes));
    }
    if (seen[known->second]) {
      return fail(path, fmt::format("field `{}` is required twice", name));
    }
    seen[known->second] = true;
    where.fields.push_back(known->second);
  }
}

// ---- Variants

// Reads the variants and the body of a task, whose requirements have been read before. Reports a
// task that launches tasks although all its variants are leaf variants.
void Builder::read_task(const std::string& path, const AppTask& from, Task& to) {
  if (from.variants.empty()) fail(path + "/variants", "a task has at least one variant");
  check_count(path + "/variants", from.variants.size(), kMaxAppVariants, "variants");
  if (!ok()) return;
  const Scope::ScopeMark mark = scope_.mark();
  for (const std::string& name : from.arguments) scope_.add_variable(name);
  frame_size_ = scope_.variables();
  futures_.clear();
  future_numbers_.clear();
  find_futures(from.body, 1);
  // The formulas of a variant may call points(r) and extent(r, d), so the compiler needs the number
  // of dimensions of each requirement.
  std::vector<int> shapes;
  for (const Requirement& requirement : to.requirements) shapes.push_back(requirement.dimensions);
  for (std::size_t i = 0; i < from.variants.size() && !enough_; ++i) {
    read_independently([&] {
      read_variant(fmt::format("{}/variants/{}", path, i), from, from.variants[i], shapes,
                   to.variants.emplace_back());
    });
  }
  read_independently([&] { read_body(path + "/body", from.body, 1, to.body); });
  to.frame_size = frame_size_;
  to.futures = static_cast<std::uint32_t>(futures_.size());
  scope_.remove_names_since(mark);
  const bool leaf = std::all_of(to.variants.begin(), to.variants.end(),
                                [](const Variant& variant) { return variant.leaf; });
  if (ok() && leaf && !from.body.empty()) {
    fail(path + "/body", "all variants of the task are `leaf`, which launch nothing");
  }
}

// Reads a variant: its kind of processor, its demands, and the formulas of its work and traffic.
void Builder::read_variant(const std::string& path, const AppTask& of, const AppVariant& from,
                           PieceShapes shapes, Variant& to) {
  if (from.leaf && from.inner) fail(path, "a variant is not both `leaf` and `inner`");
  to.place = path;
  read_demands(path + "/demands", of, from);
  to.kind = from.kind;
  to.leaf = from.leaf;
  to.inner = from.inner;
  to.replicable = from.replicable;
  to.single = from.single;
  to.demands = from.demands;
  to.chosen_by_mapper =
      from.chosen_by_mapper || std::ranges::any_of(from.demands, is_mapper_demand);
  to.loops = from.loops;
  if (ok()) to.flops = compile(path + "/flops", from.flops, shapes);
  if (ok()) to.efficiency = compile(path + "/efficiency", from.efficiency, shapes);
  if (ok()) to.kernels = compile(path + "/kernels", from.kernels, shapes);
  if (ok()) to.nanoseconds = compile(path + "/nanoseconds", from.nanoseconds, shapes);
  check_count(path + "/traffic", from.traffic.size(), 4 * kMaxAppRequirements, "items");
  for (std::size_t i = 0; i < from.traffic.size() && ok(); ++i) {
    const AppTraffic& traffic = from.traffic[i];
    const std::string place = fmt::format("{}/traffic/{}", path, i);
    if (traffic.requirement >= of.requirements.size()) {
      return fail(place + "/requirement",
                  fmt::format("the task has {} requirements, from 0", of.requirements.size()));
    }
    to.traffic.push_back(
        {traffic.requirement, compile(place + "/bytes", traffic.bytes, shapes), traffic.access});
  }
}

// Checks the layout demands of a variant. Reports a demand with wrong numbers, and two demands of
// the variant for the same requirement that no layout can fulfil together.
void Builder::read_demands(const std::string& path, const AppTask& of, const AppVariant& from) {
  check_count(path, from.demands.size(), kMaxAppRequirements, "demands");
  for (std::size_t i = 0; i < from.demands.size() && ok(); ++i) {
    const LayoutDemand& demand = from.demands[i];
    const std::string place = fmt::format("{}/{}", path, i);
    if (demand.requirement >= of.requirements.size()) {
      fail(place + "/requirement",
           fmt::format("the task has {} requirement{}, counted from 0", of.requirements.size(),
                       of.requirements.size() == 1 ? "" : "s"));
    }
    if (demand.align_op != AlignOp::kNone && !power_of_two(demand.align_bytes)) {
      fail(place + "/align", fmt::format("{} is not a power of two", demand.align_bytes));
    }
    if (demand.align_op == AlignOp::kNone && demand.align_bytes != 0) {
      fail(place + "/align", "bytes without an operator");
    }
    if (demand.memory == MemKind::kVirtual) fail(place + "/memory", "`VIRTUAL` is not a memory");
    const auto differ = [](const auto& a, const auto& b) { return a && b && a != b; };
    for (std::size_t other = 0; other < i; ++other) {
      const LayoutDemand& before = from.demands[other];
      // Demands of the program's own mapper are not compared, because that mapper may request
      // different layouts at different times.
      const bool both = before.source == DemandSource::kVariant && before.source == demand.source;
      if (before.requirement != demand.requirement || !both) continue;
      if (differ(before.fields, demand.fields) || differ(before.dimensions, demand.dimensions) ||
          differ(before.memory, demand.memory)) {
        fail(place, fmt::format("no layout has this and what demand {} wants", other));
      }
    }
  }
}

// ---- What a task launches

// Reads the statements of a body. `depth` is the nesting of the body: 1 for the body of a task, one
// more for each loop and phase around it.
void Builder::read_body(const std::string& path, const std::vector<AppStatement>& from, int depth,
                        Body& to) {
  statements_ += from.size();
  check_count(path, statements_, kMaxAppParts, "statements in all");
  if (depth > kMaxAppDepth) {
    fail(path, fmt::format("loops and phases are nested more than {} deep", kMaxAppDepth));
  }
  if (!ok()) return;
  for (std::size_t i = 0; i < from.size() && !enough_; ++i) {
    read_independently([&] { read_statement(fmt::format("{}/{}", path, i), from[i], depth, to); });
  }
}

// Reads one statement (a launch, a loop, a phase or a wait) and appends it to `to`. The body of a
// loop can use the loop's variable.
void Builder::read_statement(const std::string& path, const AppStatement& from, int depth,
                             Body& to) {
  if (const auto* launch = std::get_if<AppLaunch>(&from.node)) {
    to.push_back({read_launch(path, *launch)});
  } else if (const auto* loop = std::get_if<AppLoop>(&from.node)) {
    Loop read;
    read.place = path;
    read.traced = loop->traced;
    read.count = compile(path + "/repeat", loop->count);
    if (!loop->variable.empty()) check_formula_name(path + "/variable", loop->variable);
    if (!ok()) return;
    const Scope::ScopeMark mark = scope_.mark();
    if (!loop->variable.empty()) read.slot = scope_.add_variable(loop->variable);
    frame_size_ = std::max(frame_size_, scope_.variables());
    read_body(path + "/body", loop->body, depth + 1, read.body);
    scope_.remove_names_since(mark);
    to.push_back({std::move(read)});
  } else if (const auto* phase = std::get_if<AppPhase>(&from.node)) {
    if (!check_name(path + "/phase", phase->name)) return;
    const auto [known, is_new] =
        phase_numbers_.emplace(phase->name, static_cast<std::uint32_t>(data_.phases.size()));
    if (is_new) data_.phases.push_back(phase->name);
    Phase read{known->second, {}};
    read_body(path + "/body", phase->body, depth + 1, read.body);
    to.push_back({std::move(read)});
  } else {
    const std::string& future = std::get<AppWait>(from.node).future;
    to.push_back({Wait{future.empty() ? -1 : number_of_future(path + "/wait", future)}});
  }
}

// Reads a launch: its task, domain, arguments, futures and data. After an error, returns the part
// that has been read.
Launch Builder::read_launch(const std::string& path, const AppLaunch& from) {
  Launch launch;
  launch.place = path;
  launch.number = data_.launches++;
  const int task = number_of_task(path + "/launch", from.task);
  if (!ok()) return launch;
  launch.task = static_cast<std::uint32_t>(task);
  launch.is_index = !from.domain.empty();
  launch.same_address_space = from.same_address_space;
  if (from.domain.size() > kMaxDimensions) {
    fail(path + "/domain",
         fmt::format("{} dimensions; at most {} may be", from.domain.size(), kMaxDimensions));
  }
  if (!launch.is_index && !from.lower.empty()) {
    fail(path + "/lower", "a launch without a `domain` is a single task");
  } else if (!from.lower.empty() && from.lower.size() != from.domain.size()) {
    fail(path + "/lower", fmt::format("it has {} coordinates, the domain {}", from.lower.size(),
                                      from.domain.size()));
  }
  if (!from.index.empty() && from.index.size() != from.domain.size()) {
    fail(path + "/index", fmt::format("{} names for the {} coordinates of a point",
                                      from.index.size(), from.domain.size()));
  }
  launch.domain = compile_all(path + "/domain", from.domain);
  launch.lower = compile_all(path + "/lower", from.lower);
  // A missing lower corner is the origin: constants with the value 0.
  if (from.lower.empty()) launch.lower.resize(from.domain.size());
  check_variable_names(path + "/index", from.index);
  if (!ok()) return launch;
  const Task& to = data_.tasks[launch.task];
  if (from.arguments.size() != static_cast<std::size_t>(to.arguments)) {
    fail(path + "/arguments",
         fmt::format("{} given, `{}` has {}", from.arguments.size(), to.name, to.arguments));
  }
  const Scope::ScopeMark mark = scope_.mark();
  // The coordinates of the point get slots even without names, because the runtime stores the point
  // there.
  launch.point_slot = scope_.variables();
  for (std::size_t d = 0; d < from.domain.size(); ++d) {
    scope_.add_variable(from.index.empty() ? std::string_view() : from.index[d]);
  }
  frame_size_ = std::max(frame_size_, scope_.variables());
  launch.where = compile(path + "/where", from.where);
  if (!launch.is_index && !(from.where == Formula(1))) {
    fail(path + "/where", "a launch without a `domain` is a single task, which has no points");
  }
  launch.arguments = compile_all(path + "/arguments", from.arguments);
  if (ok()) read_launch_data(path, from, launch);
  scope_.remove_names_since(mark);
  if (!from.gives.empty() && check_name(path + "/gives", from.gives)) {
    launch.gives = number_of_future(path + "/gives", from.gives);
  }
  check_count(path + "/takes", from.takes.size(), kMaxAppNames, "futures");
  for (std::size_t i = 0; i < from.takes.size() && ok(); ++i) {
    launch.takes.push_back(static_cast<std::uint32_t>(
        number_of_future(fmt::format("{}/takes/{}", path, i), from.takes[i])));
  }
  return launch;
}

// Reads the data of a launch, one entry for each requirement of the launched task. A launch without
// data uses the default data of each requirement.
void Builder::read_launch_data(const std::string& path, const AppLaunch& from, Launch& to) {
  const Task& task = data_.tasks[to.task];
  if (!from.data.empty() && from.data.size() != task.requirements.size()) {
    return fail(path + "/data", fmt::format("{} given, `{}` has {} requirements", from.data.size(),
                                            task.name, task.requirements.size()));
  }
  const std::optional<Rect> domain = known_domain(path, to);
  for (std::size_t r = 0; r < task.requirements.size() && ok(); ++r) {
    const Requirement& requirement = task.requirements[r];
    const bool own = from.data.empty() || from.data[r] == AppData{};
    const std::string place = own ? path : fmt::format("{}/data/{}", path, r);
    RequirementData where = own ? requirement.data
                                : read_requirement_data(place, from.data[r], requirement,
                                                        RequirementData::Color::kFrame);
    data_bytes_ += sizeof(RequirementData) + where.fields.size() * sizeof(std::uint32_t);
    for (const std::string& name : where.names) data_bytes_ += sizeof(std::string) + name.size();
    if (data_bytes_ > kMaxDataBytes) {
      return fail(path, "the launches up to here take too much memory", {}, Error::Code::kTooLarge);
    }
    // A requirement without a colour uses the launch's point as the colour.
    if (where.kind == RequirementData::Kind::kPartition &&
        where.from == RequirementData::Color::kPoint && ok()) {
      const Partition& partition = data_.partitions[where.index];
      if (from.domain.size() != static_cast<std::size_t>(partition.colors.dimensions())) {
        return fail(place,
                    fmt::format("a colour of `{}` has {} coordinates, a point of the launch {}",
                                partition.name, partition.colors.dimensions(), from.domain.size()),
                    fmt::format("give the `color` of requirement {}", r));
      }
    }
    if (ok()) check_color(place, where, domain);
    to.data.push_back(std::move(where));
  }
}

// Returns the domain of a launch if all its formulas are constant and it has every point of its
// box. Returns nullopt if the domain is known only in a run, if the launch is a single task, or
// after reporting that the box is invalid.
std::optional<Rect> Builder::known_domain(const std::string& path, const Launch& launch) {
  const auto known = [](const Codes& codes) {
    return std::all_of(codes.begin(), codes.end(),
                       [](const CompiledFormula& code) { return code.is_constant(); });
  };
  if (!launch.is_index || !known(launch.domain) || !known(launch.lower)) return std::nullopt;
  FormulaFault fault = FormulaFault::kNone;
  const std::optional<Rect> domain = box_of(launch, {}, fault);
  if (!domain) fail(path + "/domain", std::string(app::words_of(fault)));
  return launch.has_condition() ? std::nullopt : domain;
}

// Checks that the colours of a requirement exist in its partition, as far as they are known before
// a run. If the colour is the point of the launch, the two opposite corners of the domain are
// checked.
void Builder::check_color(const std::string& path, const RequirementData& where,
                          const std::optional<Rect>& domain) {
  if (where.kind != RequirementData::Kind::kPartition) return;
  const Partition& partition = data_.partitions[where.index];
  if (where.from == RequirementData::Color::kPoint) {
    if (!domain || domain->volume() == 0) return;
    Point last = domain->lower;
    for (int d = 0; d < last.dimensions(); ++d) last[d] += domain->extents[d] - 1;
    for (const Point* corner : {&domain->lower, static_cast<const Point*>(&last)}) {
      if (partition.colors.contains(*corner)) continue;
      return fail(path,
                  fmt::format("point {} of the launch is not a colour of `{}`, which has {}",
                              text_of(*corner), partition.name, text_of(partition.colors.extents)));
    }
    return;
  }
  Point color = Point::zeros(static_cast<int>(where.color.size()));
  for (std::size_t d = 0; d < where.color.size(); ++d) {
    if (!where.color[d].is_constant()) return;
    color[static_cast<int>(d)] = where.color[d].constant();
  }
  if (partition.colors.contains(color)) return;
  fail(path + "/color", fmt::format("{} is not a colour of `{}`, which has {}", text_of(color),
                                    partition.name, text_of(partition.colors.extents)));
}

// Reads the metric: its unit, the formula of its work, and the phase whose time counts. Reports an
// unknown phase, so all bodies must have been read.
void Builder::read_metric() {
  data_.unit = app_.metric.unit;
  if (data_.unit.size() > kMaxAppNameBytes) check_name("/metric/unit", data_.unit);
  data_.work = compile("/metric/work", app_.metric.work);
  if (!ok() || app_.metric.phase.empty()) return;
  const auto phase = phase_numbers_.find(app_.metric.phase);
  if (phase != phase_numbers_.end()) {
    data_.metric_phase = static_cast<int>(phase->second);
    return;
  }
  fail_unknown("/metric/phase", "no phase has this name", app_.metric.phase,
               {data_.phases.begin(), data_.phases.end()});
}

// Reads the runtime costs and checks that each is in range.
void Builder::read_runtime() {
  data_.runtime = app_.runtime;
  if (!app_.runtime) return;
  const RuntimeCosts& costs = *app_.runtime;
  for (const double cost :
       {costs.issue_s, costs.map_s, costs.replay_s, costs.remote_s, costs.future_s, costs.copy_s}) {
    if (cost >= 0 && cost <= kMaxRuntimeCost) continue;
    return fail("/runtime", fmt::format("a cost is from 0 to {} seconds", kMaxRuntimeCost));
  }
}

}  // namespace groma::app
