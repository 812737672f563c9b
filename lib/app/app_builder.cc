// Builds applications from C++ calls. Each call adds one value of app.h to the application, and
// checks nothing: Workload::make checks the finished application.
#include "groma/app_builder.h"

#include <algorithm>

namespace groma {

// ---- Variants. Each function sets one member of AppVariant.

VariantBuilder& VariantBuilder::leaf() {
  variant_.leaf = true;
  return *this;
}
VariantBuilder& VariantBuilder::inner() {
  variant_.inner = true;
  return *this;
}
VariantBuilder& VariantBuilder::replicable() {
  variant_.replicable = true;
  return *this;
}
VariantBuilder& VariantBuilder::flops(Formula count) {
  variant_.flops = std::move(count);
  return *this;
}
VariantBuilder& VariantBuilder::single_precision() {
  variant_.single = true;
  return *this;
}
VariantBuilder& VariantBuilder::efficiency(Formula percent) {
  variant_.efficiency = std::move(percent);
  return *this;
}
VariantBuilder& VariantBuilder::kernels(Formula count) {
  variant_.kernels = std::move(count);
  return *this;
}
VariantBuilder& VariantBuilder::nanoseconds(Formula time) {
  variant_.nanoseconds = std::move(time);
  return *this;
}
VariantBuilder& VariantBuilder::traffic(std::uint32_t requirement, Formula bytes, Access access) {
  variant_.traffic.push_back({requirement, std::move(bytes), access});
  return *this;
}
VariantBuilder& VariantBuilder::demand(LayoutDemand what) {
  variant_.demands.push_back(what);
  return *this;
}

VariantBuilder cpu() { return VariantBuilder(ProcKind::kCpu); }
VariantBuilder gpu() { return VariantBuilder(ProcKind::kGpu); }
VariantBuilder omp() { return VariantBuilder(ProcKind::kOmp); }

// ---- Statements. Each function of LaunchBuilder sets one member of AppLaunch.

LaunchBuilder& LaunchBuilder::over(Formulas domain, std::vector<std::string> index) {
  launch_.domain = std::move(domain);
  launch_.index = std::move(index);
  return *this;
}
LaunchBuilder& LaunchBuilder::from(Formulas lower) {
  launch_.lower = std::move(lower);
  return *this;
}
LaunchBuilder& LaunchBuilder::where(Formula condition) {
  launch_.where = std::move(condition);
  return *this;
}
LaunchBuilder& LaunchBuilder::with(Formulas arguments) {
  launch_.arguments = std::move(arguments);
  return *this;
}
LaunchBuilder& LaunchBuilder::on(std::string of, Formulas color, std::vector<std::string> fields) {
  launch_.data.push_back({std::move(of), std::move(color), std::move(fields)});
  return *this;
}
LaunchBuilder& LaunchBuilder::gives(std::string future) {
  launch_.gives = std::move(future);
  return *this;
}
LaunchBuilder& LaunchBuilder::takes(std::string future) {
  launch_.takes.push_back(std::move(future));
  return *this;
}
LaunchBuilder& LaunchBuilder::same_address_space() {
  launch_.same_address_space = true;
  return *this;
}

LaunchBuilder launch(std::string task) { return LaunchBuilder(std::move(task)); }

AppStatement loop(Formula count, std::vector<AppStatement> body, std::string variable) {
  return {AppLoop{std::move(count), std::move(variable), false, std::move(body)}};
}
AppStatement traced_loop(Formula count, std::vector<AppStatement> body, std::string variable) {
  return {AppLoop{std::move(count), std::move(variable), true, std::move(body)}};
}
AppStatement phase(std::string name, std::vector<AppStatement> body) {
  return {AppPhase{std::move(name), std::move(body)}};
}
AppStatement wait(std::string future) { return {AppWait{std::move(future)}}; }

// ---- Applications

AppBuilder::AppBuilder(std::string name, std::string description) {
  app_.name = std::move(name);
  app_.description = std::move(description);
}

AppBuilder& AppBuilder::parameter(std::string name, std::int64_t value, std::string meaning,
                                  std::int64_t least, std::int64_t most) {
  app_.parameters.push_back({std::move(name), value, least, most, std::move(meaning)});
  return *this;
}
// Marks the parameter that was added last as the number of nodes of the machine.
AppBuilder& AppBuilder::counts_nodes() {
  GROMA_REQUIRE(!app_.parameters.empty(), "counts_nodes() must follow parameter()");
  app_.parameters.back().counts_nodes = true;
  return *this;
}
AppBuilder& AppBuilder::define(std::string name, Formula value) {
  app_.definitions.push_back({std::move(name), std::move(value)});
  return *this;
}
AppBuilder& AppBuilder::size(std::string name, std::vector<AppValue> values, std::string reason) {
  app_.sizes.push_back({std::move(name), std::move(reason), std::move(values)});
  return *this;
}
AppBuilder& AppBuilder::metric(std::string unit, Formula work, std::string phase) {
  app_.metric = {std::move(unit), std::move(work), std::move(phase)};
  return *this;
}

// Adds a region. Later calls of field(), partition() and pieces() refer to this region until the
// next call of region().
AppBuilder& AppBuilder::region(std::string name, Formulas extents,
                               std::vector<std::string> aliases) {
  app_.regions.push_back({std::move(name), std::move(aliases), std::move(extents), {}});
  return *this;
}
AppBuilder& AppBuilder::field(std::string name, std::int64_t bytes) {
  app_.regions.back().fields.push_back({std::move(name), bytes});
  return *this;
}
AppBuilder& AppBuilder::fields(const std::vector<std::string>& names, std::int64_t bytes) {
  for (const std::string& name : names) field(name, bytes);
  return *this;
}
AppBuilder& AppBuilder::partition(std::string name, Formulas colors) {
  return pieces(std::move(name), std::move(colors), {}, {}, {});
}
// Adds a partition of the region that was added last. The pieces are formulas of the colour. If
// `lower` and `extents` are empty, the pieces are equal blocks.
AppBuilder& AppBuilder::pieces(std::string name, Formulas colors, std::vector<std::string> index,
                               Formulas lower, Formulas extents) {
  AppPartition& partition = app_.partitions.emplace_back();
  partition.name = std::move(name);
  partition.of = app_.regions.back().name;
  partition.colors = std::move(colors);
  partition.index = std::move(index);
  partition.lower = std::move(lower);
  partition.extents = std::move(extents);
  return *this;
}
AppBuilder& AppBuilder::halo(Formulas points) {
  app_.partitions.back().halo = std::move(points);
  return *this;
}

// Adds a task. Later calls of variant(), reads() and so on describe this task until the next call
// of task().
AppBuilder& AppBuilder::task(std::string name, std::vector<std::string> arguments) {
  AppTask& task = app_.tasks.emplace_back();
  task.name = std::move(name);
  task.arguments = std::move(arguments);
  return *this;
}
AppBuilder& AppBuilder::variant(const AppVariant& variant) {
  app_.tasks.back().variants.push_back(variant);
  return *this;
}
// reads(), writes(), discards(), reduces() and ignores() add a requirement with the privilege that
// their names say. `writes` means read-write, and `discards` means that the task overwrites the
// data without reading the old values.
AppBuilder& AppBuilder::reads(std::string of, const std::vector<std::string>& fields,
                              Formulas color) {
  return require(Privilege::kReadOnly, std::move(of), fields, std::move(color));
}
AppBuilder& AppBuilder::writes(std::string of, const std::vector<std::string>& fields,
                               Formulas color) {
  return require(Privilege::kReadWrite, std::move(of), fields, std::move(color));
}
AppBuilder& AppBuilder::discards(std::string of, const std::vector<std::string>& fields,
                                 Formulas color) {
  return require(Privilege::kWriteDiscard, std::move(of), fields, std::move(color));
}
AppBuilder& AppBuilder::reduces(std::string of, const std::vector<std::string>& fields,
                                Formulas color) {
  return require(Privilege::kReduce, std::move(of), fields, std::move(color));
}
AppBuilder& AppBuilder::ignores(std::string of, Formulas color) {
  return require(Privilege::kNoAccess, std::move(of), {}, std::move(color));
}
AppBuilder& AppBuilder::simultaneous() {
  app_.tasks.back().requirements.back().coherence = Coherence::kSimultaneous;
  return *this;
}
AppBuilder& AppBuilder::body(std::vector<AppStatement> body) {
  app_.tasks.back().body = std::move(body);
  return *this;
}
AppBuilder& AppBuilder::top_level(std::string task) {
  app_.top_level = std::move(task);
  return *this;
}

// Returns the region named `of`, or the region that the partition `of` divides directly or through
// other partitions. Returns null if there is no such region or if the partitions form a cycle.
// Workload::make reports the error.
const AppRegion* AppBuilder::region_of(std::string of) const {
  for (int depth = 0; depth <= kMaxAppPartitionDepth; ++depth) {
    for (const AppRegion& region : app_.regions) {
      if (region.name == of) return &region;
    }
    const auto cut = std::find_if(app_.partitions.begin(), app_.partitions.end(),
                                  [&of](const AppPartition& each) { return each.name == of; });
    if (cut == app_.partitions.end()) return nullptr;
    of = cut->of;
  }
  return nullptr;
}

// Adds a requirement to the task that was added last. The dimensions and the sizes of the fields
// come from the region. Without `fields`, the requirement has all fields of the region. A field
// that the region does not have keeps the default size, and Workload::make reports the field.
AppBuilder& AppBuilder::require(Privilege privilege, std::string of,
                                const std::vector<std::string>& fields, Formulas color) {
  AppRequirement& requirement = app_.tasks.back().requirements.emplace_back();
  requirement.privilege = privilege;
  const AppRegion* region = region_of(of);
  if (region != nullptr) requirement.dimensions = static_cast<int>(region->extents.size());
  if (region != nullptr && fields.empty() && privilege != Privilege::kNoAccess) {
    requirement.fields = region->fields;
  }
  for (const std::string& name : fields) {
    AppField& field = requirement.fields.emplace_back();
    field.name = name;
    if (region == nullptr) continue;
    const auto known = std::find_if(region->fields.begin(), region->fields.end(),
                                    [&name](const AppField& each) { return each.name == name; });
    if (known != region->fields.end()) field.bytes = known->bytes;
  }
  requirement.data = {std::move(of), std::move(color)};
  return *this;
}

}  // namespace groma
